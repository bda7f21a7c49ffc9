//! Limits of a job (minimum rate, maximum latency), and the search for the greatest queue depth
//! that meets a latency target.

use hakaru_model::job::rules::{LatencyTarget, MinimumRate};
use hakaru_model::job::{Op, PerOp};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::FailureKind;
use hakaru_model::units::Nanos;

/// Limits of a worker.
#[derive(Debug)]
pub(super) struct WorkerLimits {
    pub(super) least: Option<MinRateCheck>,
    pub(super) search: Option<Search>,
    pub(super) max_latency: PerOp<Option<Nanos>>,
    /// Time of the next evaluation, in ticks.
    pub(super) due: u64,
}

/// Time in ns before the minimum rate is evaluated, as in fio.
const SETTLES: u64 = 2_000_000_000;

/// The minimum rate, and the counters of the last evaluation.
///
/// It is evaluated only when an I/O has just completed: a job with one I/O every three seconds is not slow in
/// between.
#[derive(Debug)]
pub(super) struct MinRateCheck {
    pub(super) rate: MinimumRate,
    /// Time at which evaluation begins.
    settled: u64,
    /// Last evaluation of each operation; `None` before the first counted I/O.
    since: PerOp<Option<u64>>,
    /// Counters at that time.
    done: PerOp<(u64, u64)>,
    /// Counters at the last check.
    seen: PerOp<(u64, u64)>,
}

/// Binary search for the queue depth, between a depth that met the latency target and one that did
/// not.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) target: LatencyTarget,
    pub(super) depth: u32,
    /// Greatest depth that met the target; 0 if none did yet.
    pub(super) low: u32,
    /// Greatest depth that is still a candidate.
    pub(super) high: u32,
    pub(super) within: u64,
    pub(super) beyond: u64,
    pub(super) window_ends: u64,
    window: u64,
}

/// Result of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchStep {
    /// Continue with this depth.
    Try(u32),
    /// The search has ended with this depth.
    Depth(u32),
}

impl WorkerLimits {
    /// Returns `None` for a job without limits.
    pub(super) fn new(plan: &WorkerPlan) -> Option<Box<WorkerLimits>> {
        let MinimumRate {
            bytes_per_s, iops, ..
        } = &plan.termination.minimum_rate;
        let has_rate = |&op: &Op| bytes_per_s[op].is_some() || iops[op].is_some();
        let least = Op::ALL.iter().any(has_rate);
        let least = least.then(|| MinRateCheck::new(plan.termination.minimum_rate.clone()));
        let search = plan.rate.latency_target.map(|target| Search {
            target,
            depth: plan.queue.iodepth,
            low: 0,
            high: plan.queue.iodepth,
            within: 0,
            beyond: 0,
            window_ends: 0,
            window: 1,
        });
        let max_latency = plan.termination.max_latency;
        let any = least.is_some()
            || search.is_some()
            || Op::ALL.iter().any(|&op| max_latency[op].is_some());
        any.then(|| {
            Box::new(WorkerLimits {
                least,
                search,
                max_latency,
                due: u64::MAX,
            })
        })
    }

    /// Starts the measurement.
    pub(super) fn begin(&mut self, now: u64, ticks: impl Fn(u64) -> u64) {
        self.due = u64::MAX;
        if let Some(least) = &mut self.least {
            *least = MinRateCheck::new(least.rate.clone());
            least.settled = now + ticks(SETTLES);
            self.due = least.settled;
        }
        if let Some(search) = &mut self.search {
            search.window = ticks(search.target.window.0).max(1);
            search.restart(now);
            self.due = self.due.min(search.window_ends);
        }
    }

    /// Returns the depth found by the search.
    pub(super) fn depth(&self) -> Option<u32> {
        self.search.as_ref().map(|search| search.depth)
    }

    /// Restarts the window of the minimum rate after an intended pause.
    pub(super) fn rest_is_over(&mut self, now: u64, totals: PerOp<(u64, u64)>) {
        if let Some(least) = &mut self.least {
            (least.since, least.done, least.seen) = (PerOp::all(Some(now)), totals, totals);
        }
    }

    /// Whether each I/O must be inspected on completion.
    pub(super) fn inspects_each(&self) -> bool {
        self.search.is_some() || Op::ALL.iter().any(|&op| self.max_latency[op].is_some())
    }
}

impl Search {
    pub(super) fn restart(&mut self, now: u64) {
        (self.within, self.beyond) = (0, 0);
        self.window_ends = now + self.window;
    }

    /// Evaluates the I/Os of a window; `None` if there were none.
    pub(super) fn judge(&mut self) -> Option<SearchStep> {
        let all = self.within + self.beyond;
        if all == 0 {
            return None;
        }
        let keeps = self.within as f64 * 100.0 >= self.target.percentile * all as f64;
        if keeps {
            self.low = self.depth;
            if self.depth >= self.high {
                return Some(SearchStep::Depth(self.depth));
            }
        } else {
            self.high = self.depth.saturating_sub(1).max(1);
        }
        let next = (self.low + self.high).div_ceil(2).max(1);
        Some(if next == self.low {
            SearchStep::Depth(next)
        } else {
            SearchStep::Try(next)
        })
    }
}

impl MinRateCheck {
    fn new(rate: MinimumRate) -> MinRateCheck {
        let none = PerOp::default();
        MinRateCheck {
            rate,
            settled: 0,
            since: PerOp::default(),
            done: none,
            seen: PerOp::default(),
        }
    }

    /// Returns an operation that missed its minimum rate since its last evaluation, with the failure. An operation is
    /// evaluated when one of its I/Os has completed since the last check, and a cycle has ended.
    pub(super) fn missed(
        &mut self,
        totals: PerOp<(u64, u64)>,
        now: u64,
        cycle: u64,
        works: impl Fn(Op) -> bool,
        nanos: impl Fn(u64) -> u64,
    ) -> Option<(Op, FailureKind)> {
        let mut missed = None;
        for op in Op::ALL {
            let landed = std::mem::replace(&mut self.seen[op], totals[op]) != totals[op];
            if !landed || !works(op) || now < self.settled {
                continue;
            }
            let Some(since) = self.since[op] else {
                (self.since[op], self.done[op]) = (Some(now), totals[op]);
                continue;
            };
            if now < since + cycle {
                continue;
            }
            let span_ns = nanos(now - since);
            let (ios, bytes) = (
                totals[op].0 - self.done[op].0,
                totals[op].1 - self.done[op].1,
            );
            missed = missed.or_else(|| Some((op, self.judge(op, ios, bytes, span_ns)?)));
            (self.since[op], self.done[op]) = (Some(now), totals[op]);
        }
        missed
    }

    /// Compares I/Os and bytes within a time with the minimum rates of an operation.
    fn judge(&self, op: Op, ios: u64, bytes: u64, span_ns: u64) -> Option<FailureKind> {
        let per_s = |n: u64| (u128::from(n) * 1_000_000_000 / u128::from(span_ns.max(1))) as u64;
        let (bytes_per_s, iops) = (per_s(bytes), per_s(ios));
        let slow = self.rate.bytes_per_s[op].filter(|&wanted| bytes_per_s < wanted);
        let few = self.rate.iops[op].filter(|&wanted| iops < wanted);
        let slow = slow.map(|wanted| FailureKind::RateMissed {
            wanted,
            got: bytes_per_s,
        });
        slow.or_else(|| few.map(|wanted| FailureKind::IopsMissed { wanted, got: iops }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(depth: u32, good_up_to: u32) -> (u32, u32) {
        let target = LatencyTarget {
            target: Nanos(10),
            window: Nanos(1),
            percentile: 90.0,
            keep_running: false,
        };
        let mut search = Search {
            target,
            depth,
            low: 0,
            high: depth,
            within: 0,
            beyond: 0,
            window_ends: 0,
            window: 1,
        };
        for windows in 1..100 {
            (search.within, search.beyond) = if search.depth <= good_up_to {
                (95, 5)
            } else {
                (50, 50)
            };
            match search.judge() {
                Some(SearchStep::Depth(depth)) => return (depth, windows),
                Some(SearchStep::Try(depth)) => search.depth = depth,
                None => break,
            }
        }
        (0, 0)
    }

    #[test]
    fn the_deepest_queue_that_keeps_to_the_latency_is_found() {
        for good in 1..=32 {
            let (depth, windows) = search(32, good);
            assert_eq!(depth, good);
            assert!(windows <= 8, "{windows} windows");
        }
        assert_eq!(search(1, 1), (1, 1));
    }

    #[test]
    fn a_rate_is_judged_when_an_io_lands() {
        const SECOND: u64 = 1_000_000_000;
        let mut rate = MinimumRate::default();
        rate.bytes_per_s.read = Some(1000);
        let mut least = MinRateCheck::new(rate);
        least.settled = 2 * SECOND;
        let mut look = |at: u64, bytes, reads: bool| {
            let done = PerOp {
                read: (1, bytes),
                ..PerOp::default()
            };
            let works = |op| op != Op::Read || reads;
            least.missed(done, at, SECOND, works, |ticks| ticks)
        };
        assert_eq!(look(SECOND, 10, true), None, "it has not settled");
        assert_eq!(look(3 * SECOND, 1000, true), None, "from here on it counts");
        assert_eq!(look(6 * SECOND, 1000, true), None, "none has landed");
        assert_eq!(look(7 * SECOND, 5000, true), None, "4000 bytes in 4 s");
        let (wanted, got) = (1000, 500);
        let kind = FailureKind::RateMissed { wanted, got };
        assert_eq!(look(9 * SECOND, 6000, true), Some((Op::Read, kind)));
        assert_eq!(look(11 * SECOND, 6001, false), None, "it rests");
    }
}
