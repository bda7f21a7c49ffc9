//! Limits of a job (minimum rate, maximum latency), and the search for the greatest queue depth
//! that meets a latency target.

use super::drive::Drive;
use super::{InFlight, InflightIo, Worker};
use crate::clock::Clock;
use crate::shared::Message;
use crate::worker_setup;
use hakaru_model::job::rules::{ExitScope, LatencyTarget, MinimumRate};
use hakaru_model::job::{Op, PerOp};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{FailureKind, IoError, StopReason};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::Errno;
use std::sync::atomic::Ordering::Relaxed;

/// Limits of a worker.
#[derive(Debug)]
pub(super) struct WorkerLimits {
    least: Option<MinRateCheck>,
    search: Option<Search>,
    max_latency: PerOp<Option<Nanos>>,
    /// Time of the next evaluation, in ticks.
    pub(super) due: u64,
}

/// The shell could not be started, or its output file could not be written.
pub(super) fn command_failed(when: &str, errno: Errno) -> IoError {
    let (action, file) = (format!("exec_{when}"), "sh".to_owned());
    IoError {
        action,
        op: None,
        kind: FailureKind::Command,
        file,
        offset: Bytes(0),
        len: Bytes(0),
        errno: errno.raw_os_error(),
        at: Nanos(0),
        mismatches: Vec::new(),
    }
}

/// Time in ns before the minimum rate is evaluated, as in fio.
const SETTLES: u64 = 2_000_000_000;

/// The minimum rate, and the counters of the last evaluation.
///
/// It is evaluated only when an I/O has just completed: a job with one I/O every three seconds is not slow in
/// between.
#[derive(Debug)]
struct MinRateCheck {
    rate: MinimumRate,
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
struct Search {
    target: LatencyTarget,
    depth: u32,
    /// Greatest depth that met the target; 0 if none did yet.
    low: u32,
    /// Greatest depth that is still a candidate.
    high: u32,
    within: u64,
    beyond: u64,
    window_ends: u64,
    window: u64,
}

/// Result of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SearchStep {
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
        let least = Op::ALL
            .iter()
            .any(|&op| bytes_per_s[op].is_some() || iops[op].is_some());
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
    fn restart(&mut self, now: u64) {
        (self.within, self.beyond) = (0, 0);
        self.window_ends = now + self.window;
    }

    /// Evaluates the I/Os of a window; `None` if there were none.
    fn judge(&mut self) -> Option<SearchStep> {
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

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Returns the stop reason if the run or another worker ended this worker.
    pub(super) fn told_to_stop(&self) -> Option<StopReason> {
        if self.context.shared.stop.load(Relaxed) {
            return Some(StopReason::Stopped);
        }
        self.context.shared.progress[self.context.index]
            .ended
            .load(Relaxed)
            .then_some(StopReason::Ended)
    }

    /// Ends the workers that must end with this one.
    pub(super) fn end_others(&self, stop: StopReason) {
        let exit = &self.plan.termination.exit;
        let scope = if stop == StopReason::Error && exit.on_error {
            Some(ExitScope::All)
        } else {
            exit.ends
        };
        match scope.filter(|_| stop != StopReason::Stopped) {
            None => {}
            Some(ExitScope::Group) => self.context.shared.end(Some(self.plan.group)),
            Some(ExitScope::Phase | ExitScope::All) => self.context.shared.end(None),
        }
    }

    /// Waits for the workers that must finish before this one starts.
    pub(super) fn wait_for_others(&self) {
        if self.context.waits_for.is_empty() {
            return;
        }
        self.clock.step_aside();
        let give_up = || self.told_to_stop().is_some();
        self.context
            .shared
            .done
            .wait_for(&self.context.waits_for, give_up);
        self.clock.step_in();
    }

    /// Runs a command of the job. Returns whether it succeeded, because the job may depend on it.
    pub(super) fn run_command(&mut self, when: &str, command: Option<&str>) -> bool {
        let Some(command) = command else { return true };
        match worker_setup::run_command(&self.plan.name, when, command) {
            Ok(status) if status.success() => true,
            Ok(status) => {
                let name = &self.plan.name;
                let action =
                    format!("exec_{when} ({status}; what it printed is in {name}.{when}.txt)");
                let failed = command_failed(when, Errno::CANCELED);
                self.account.errors.push(IoError { action, ..failed });
                false
            }
            Err(errno) => {
                self.account.errors.push(command_failed(when, errno));
                false
            }
        }
    }

    /// Sends partial results if requested.
    pub(super) fn answer_if_asked(&self, now: u64) {
        if self.context.shared.progress[self.context.index]
            .asked
            .swap(false, Relaxed)
        {
            let (worker, record) = (self.context.index, Box::new(self.so_far(now)));
            // The receiver is gone only when the run is being torn down.
            let _ = self
                .context
                .messages
                .send(Message::SoFar { worker, record });
        }
    }

    /// Whether this error means that the device is full, which ends a job with `fill_device`.
    pub(super) fn is_full(&self, op: Op, errno: Errno) -> bool {
        self.plan.files.fill_device
            && op == Op::Write
            && matches!(errno, Errno::NOSPC | Errno::DQUOT)
    }

    /// Checks the latency of one I/O against the maximum.
    pub(super) fn judge_latency(
        &mut self,
        flight: &InflightIo,
        lat: Nanos,
        done: u64,
    ) -> Option<StopReason> {
        let limits = self.account.limits.as_mut()?;
        let request = flight.request;
        if let Some(search) = &mut limits.search
            && !self.time.in_ramp
        {
            *(if lat <= search.target.target {
                &mut search.within
            } else {
                &mut search.beyond
            }) += 1;
        }
        let max = limits.max_latency[request.op].filter(|max| lat > *max)?;
        let kind = FailureKind::TooSlow { latency: lat, max };
        let error = self.error(
            request.op.name(),
            kind,
            request.region,
            request.offset,
            request.len,
            Errno::TIMEDOUT,
            done,
        );
        self.account.errors.push_last(IoError {
            op: Some(request.op),
            ..error
        });
        Some(StopReason::Error)
    }

    /// Evaluates the limits that are due.
    pub(super) fn check_limits(&mut self, now: u64) -> Option<StopReason> {
        let limits = self.account.limits.as_mut()?;
        if self.time.in_ramp {
            // Restarted after the ramp time.
            limits.due = u64::MAX;
            return None;
        }
        if now < limits.due {
            return None;
        }
        limits.due = u64::MAX;
        let mut missed = None;
        if let Some(least) = &mut limits.least {
            let cycle = self.clock.ticks(least.rate.cycle.0).max(1);
            let works = |op| !self.account.stats.rests(op);
            missed = least.missed(self.account.stats.totals(), now, cycle, works, |ticks| {
                self.clock.nanos(ticks)
            });
            limits.due = now
                + self
                    .clock
                    .ticks(self.time.glance.min(least.rate.cycle.0))
                    .max(1);
        }
        let mut found = None;
        if let Some(search) = &mut limits.search {
            // The window of a queue is evaluated in [`Worker::adapt_depth`], which has access to
            // the queue.
            if !D::QUEUED && now >= search.window_ends {
                found = search
                    .judge()
                    .filter(|found| *found == SearchStep::Depth(1) && !search.target.keep_running);
                search.restart(now);
            }
            limits.due = limits.due.min(search.window_ends.max(now + 1));
        }
        let Some((op, kind)) = missed else {
            return found.map(|_| StopReason::Done);
        };
        let error = self.error(op.name(), kind, 0, 0, 0, Errno::IO, now);
        self.account.errors.push_last(IoError {
            op: Some(op),
            ..error
        });
        Some(StopReason::Error)
    }

    /// Ends a window of the depth search, and sets the queue depth.
    pub(super) fn adapt_depth(&mut self, q: &mut InFlight, now: u64) -> Option<StopReason> {
        let search = self.account.limits.as_mut()?.search.as_mut()?;
        if self.time.in_ramp || now < search.window_ends {
            return None;
        }
        let found = search.judge();
        search.restart(now);
        let keep_running = search.target.keep_running;
        let depth = match found? {
            SearchStep::Depth(depth) if keep_running => {
                // Continues the search from the current depth.
                (search.low, search.high) = (0, self.plan.queue.iodepth);
                depth
            }
            SearchStep::Depth(depth) => {
                search.depth = depth;
                return Some(StopReason::Done);
            }
            SearchStep::Try(depth) => depth,
        };
        search.depth = depth;
        q.set_depth(depth as usize);
        None
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
    fn missed(
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
            let per_s =
                |n: u64| (u128::from(n) * 1_000_000_000 / u128::from(span_ns.max(1))) as u64;
            if let Some(wanted) = self.rate.bytes_per_s[op].filter(|wanted| per_s(bytes) < *wanted)
            {
                missed = missed.or(Some((
                    op,
                    FailureKind::RateMissed {
                        wanted,
                        got: per_s(bytes),
                    },
                )));
            }
            if let Some(wanted) = self.rate.iops[op].filter(|wanted| per_s(ios) < *wanted) {
                missed = missed.or(Some((
                    op,
                    FailureKind::IopsMissed {
                        wanted,
                        got: per_s(ios),
                    },
                )));
            }
            (self.since[op], self.done[op]) = (Some(now), totals[op]);
        }
        missed
    }
}

impl InFlight {
    /// Sets the queue depth; excess I/Os complete first.
    fn set_depth(&mut self, depth: usize) {
        let depth = depth.clamp(1, self.flights.len());
        while self.usable < depth
            && let Some(slot) = self.parked.pop()
        {
            self.free.push(slot);
            self.usable += 1;
        }
        while self.usable > depth
            && let Some(slot) = self.free.pop()
        {
            self.parked.push(slot);
            self.usable -= 1;
        }
        self.wanted = depth;
    }

    /// Parks slots that were still busy when the depth was lowered.
    pub(super) fn keep_depth(&mut self) {
        if self.usable > self.wanted {
            self.set_depth(self.wanted);
        }
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
            least.missed(
                done,
                at,
                SECOND,
                |op| op != Op::Read || reads,
                |ticks| ticks,
            )
        };
        assert_eq!(look(SECOND, 10, true), None, "it has not settled");
        assert_eq!(look(3 * SECOND, 1000, true), None, "from here on it counts");
        assert_eq!(look(6 * SECOND, 1000, true), None, "none has landed");
        assert_eq!(look(7 * SECOND, 5000, true), None, "4000 bytes in 4 s");
        let missed = look(9 * SECOND, 6000, true);
        assert_eq!(
            missed,
            Some((
                Op::Read,
                FailureKind::RateMissed {
                    wanted: 1000,
                    got: 500
                }
            ))
        );
        assert_eq!(look(11 * SECOND, 6001, false), None, "it rests");
    }
}
