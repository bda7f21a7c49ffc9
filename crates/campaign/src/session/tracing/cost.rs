//! Cost of tracing: latencies in short segments of a phase, with and without recording in turn.

use hakaru_analysis::stats::{self, SampleMoments};
use hakaru_model::io_path::{NoTraceCost, TraceCost, TracedOperation};
use hakaru_model::units::Nanos;

/// Fewest pairs that give an interval worth printing.
const FEWEST_PAIRS: u64 = 4;
/// Most pairs.
const MOST_PAIRS: u64 = 200;
/// Shortest segment in nanoseconds: switching the recording takes up to 4 ms.
const SHORTEST: u64 = 20_000_000;
/// Length of a segment in nanoseconds where there is enough time.
const USUAL: u64 = 50_000_000;
/// Fewest I/Os of a segment.
const FEWEST_IOS: u64 = 5;
/// Number of pairs for which segments are shortened.
const WANTED_PAIRS: u64 = 12;
/// Most latencies kept of a segment.
const MOST_LATENCIES: usize = 1 << 12;
/// Percentile of the latencies of a pair above which they count as that: a few I/Os during which the host did something
/// else would decide the mean.
const HIGHEST_PERCENT: usize = 95;
/// Fraction (1/N) of the remaining time that the segments may take.
const PART: u64 = 3;
/// Fraction (1/N) of the remaining time after which no more segments begin, where switching takes long.
const LONGEST_PART: u64 = 2;

/// Number and length of the segments of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CostPlan {
    pairs: u64,
    /// Nanoseconds.
    pub(super) segment: u64,
    /// Longest time in nanoseconds, with the time that switching takes.
    budget: u64,
}

impl CostPlan {
    /// Whether so many completed I/Os show how many complete per second.
    pub(super) fn can_count(ios: u64) -> bool {
        ios >= FEWEST_IOS
    }

    /// Plans the segments of a phase with this expected remaining time in nanoseconds and I/Os per second: each segment
    /// has a mean latency if it is long enough for some I/Os.
    ///
    /// # Errors
    /// The reason why the cost cannot be measured.
    pub(super) fn new(remaining: Option<u64>, iops: u64) -> Result<CostPlan, NoTraceCost> {
        let remaining = remaining.ok_or(NoTraceCost::UnknownLength)?;
        let of_ios = (FEWEST_IOS * 1_000_000_000)
            .checked_div(iops)
            .ok_or(NoTraceCost::FewIos)?;
        let least = SHORTEST.max(of_ios);
        let available = remaining / PART;
        let segment = (available / (2 * WANTED_PAIRS)).clamp(least, USUAL.max(least));
        // An even number ends with a recorded segment, whose requests in flight are known when the traced part begins.
        let pairs = (available / (2 * segment)).min(MOST_PAIRS) / 2 * 2;
        if pairs < FEWEST_PAIRS {
            return Err(NoTraceCost::Short {
                expected: Nanos(remaining),
                needed: Nanos(PART * 2 * FEWEST_PAIRS * least),
            });
        }
        Ok(CostPlan {
            pairs,
            segment,
            budget: remaining / LONGEST_PART,
        })
    }
}

/// Segments with and without recording, and the latencies of the operations within them.
#[derive(Debug)]
pub(super) struct CostMeter {
    segments: Vec<CostSegment>,
    plan: CostPlan,
}

/// Time in which events were recorded, or not.
#[derive(Clone, Debug)]
pub(super) struct CostSegment {
    pub(super) recorded: bool,
    pub(super) begin: u64,
    /// `u64::MAX` until it has ended.
    pub(super) end: u64,
    /// Latencies of the first operations that ran entirely within it, in nanoseconds.
    latencies: Vec<u64>,
}

impl CostSegment {
    /// Whether an operation ran entirely within it.
    pub(super) fn contains(&self, operation: &TracedOperation) -> bool {
        self.begin <= operation.begin && operation.end <= self.end
    }
}

impl CostMeter {
    /// Creates the meter of a phase.
    pub(super) fn new(plan: CostPlan) -> CostMeter {
        CostMeter {
            segments: Vec::new(),
            plan,
        }
    }

    /// Ends the current segment, if there is one.
    pub(super) fn end(&mut self, now: u64) {
        if let Some(last) = self.segments.last_mut() {
            last.end = last.end.min(now);
        }
    }

    /// Returns whether the next segment is recorded; `None` after the last one, or after the budget of time. Both ends
    /// follow a recorded segment, whose requests in flight are known.
    ///
    /// The order within a pair alternates, so that a steady change of speed does not look like a cost.
    pub(super) fn next(&self, now: u64) -> Option<bool> {
        let number = self.segments.len();
        if (number as u64) >= 2 * self.plan.pairs
            || number.is_multiple_of(4) && self.is_over_budget(now)
        {
            return None;
        }
        Some(matches!(number % 4, 0 | 3))
    }

    /// Whether the segments have taken all the time that they may.
    pub(super) fn is_over_budget(&self, now: u64) -> bool {
        let first = self.segments.first();
        first.is_some_and(|first| now.saturating_sub(first.begin) >= self.plan.budget)
    }

    /// Begins a segment.
    pub(super) fn begin(&mut self, recorded: bool, now: u64) {
        self.segments.push(CostSegment {
            recorded,
            begin: now,
            end: u64::MAX,
            latencies: Vec::new(),
        });
    }

    /// Returns the last two segments in which events were recorded, the last one first.
    pub(super) fn last_recorded(&self) -> impl Iterator<Item = &CostSegment> {
        let segments = self.segments.iter().rev();
        segments.filter(|segment| segment.recorded).take(2)
    }

    /// Counts an operation, if it ran entirely within a segment.
    pub(super) fn note(&mut self, operation: &TracedOperation) {
        let after = self
            .segments
            .partition_point(|s| s.begin <= operation.begin);
        let segment = after
            .checked_sub(1)
            .and_then(|at| self.segments.get_mut(at));
        if let Some(segment) = segment.filter(|segment| segment.contains(operation))
            && segment.latencies.len() < MOST_LATENCIES
        {
            let latency = operation.end.saturating_sub(operation.begin);
            segment.latencies.push(latency);
        }
    }

    /// Returns the mean relative increase of the latency; `None` if too few pairs have operations in both segments.
    pub(super) fn cost(&self) -> Option<TraceCost> {
        let increases: Vec<f64> = self.segments.chunks_exact(2).filter_map(increase).collect();
        let enough = increases.len() as u64 >= FEWEST_PAIRS;
        let moments = SampleMoments::of(&increases).filter(|_| enough)?;
        let (low, high) = stats::mean_interval(&moments, stats::LEVEL)?;
        Some(TraceCost {
            mean: moments.mean,
            margin: (high - low) / 2.0,
            pairs: increases.len() as u32,
        })
    }
}

/// Returns the relative increase of the mean latency by recording, with the highest latencies of the pair limited
/// (Winsorized).
fn increase(pair: &[CostSegment]) -> Option<f64> {
    let mut all: Vec<u64> = pair.iter().flat_map(|of| &of.latencies).copied().collect();
    let last = all.len().checked_sub(1)?;
    let at = (all.len() * HIGHEST_PERCENT / 100).min(last);
    let highest = *all.select_nth_unstable(at).1;
    let mean = |recorded: bool| {
        let segment = pair.iter().find(|segment| segment.recorded == recorded)?;
        let latencies = segment
            .latencies
            .iter()
            .map(|&latency| latency.min(highest));
        let count = segment.latencies.len();
        (count > 0).then(|| latencies.sum::<u64>() as f64 / count as f64)
    };
    let (with, without) = (mean(true)?, mean(false)?);
    (without > 0.0).then(|| with / without - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(begin: u64, end: u64) -> TracedOperation {
        TracedOperation {
            op: None,
            tid: 1,
            file: 0,
            offset: 0,
            len: 0,
            begin,
            end,
        }
    }

    fn meter(pairs: u64) -> CostMeter {
        CostMeter::new(CostPlan {
            pairs,
            segment: 1,
            budget: u64::MAX,
        })
    }

    /// Runs operations of 100 ns without and 110 ns with recording, whose latency grows by 1 ns per segment.
    fn measured(pairs: u64) -> CostMeter {
        let mut meter = meter(pairs);
        let mut now = 0;
        while let Some(recorded) = meter.next(now) {
            meter.end(now);
            meter.begin(recorded, now);
            if now > 0 {
                // It began in one segment and ended in the next.
                meter.note(&operation(now - 10, now + 5_000));
            }
            let latency = if recorded { 110 } else { 100 } + now / 10_000;
            for start in 0..10 {
                let begin = now + start * 1000;
                meter.note(&operation(begin, begin + latency));
            }
            now += 10_000;
        }
        meter
    }

    #[test]
    fn a_drift_of_the_latency_is_not_a_cost() {
        let cost = measured(10).cost().unwrap();
        assert_eq!(cost.pairs, 10);
        assert!((cost.mean - 0.091).abs() < 0.01, "{cost:?}");
        assert!(cost.margin < 0.01, "{cost:?}");
    }

    #[test]
    fn segments_become_shorter_in_short_phases() {
        let plan = |remaining: u64, iops| {
            let plan = CostPlan::new(Some(remaining * 1_000_000), iops)?;
            assert_eq!(plan.budget, remaining * 500_000);
            Ok((plan.pairs, plan.segment))
        };
        let plan = |remaining, iops| -> Result<(u64, u64), NoTraceCost> { plan(remaining, iops) };
        let (ms, usual) = (1_000_000, USUAL);
        assert_eq!(plan(60_000, 10_000), Ok((MOST_PAIRS, usual)));
        assert_eq!(plan(3_600, 10_000), Ok((12, usual)));
        assert_eq!(plan(1_500, 10_000), Ok((12, 20 * ms + 833_333)));
        assert_eq!(plan(600, 10_000), Ok((4, 20 * ms)));
        // 100 I/Os per second: five take 50 ms; 20 per second: 250 ms.
        assert_eq!(plan(1_200, 100).map(|plan| plan.1), Ok(usual));
        assert_eq!(plan(6_000, 20), Ok((4, 250 * ms)));
    }

    #[test]
    fn says_why_the_cost_is_not_measured() {
        let short = |expected, needed| {
            Err(NoTraceCost::Short {
                expected: Nanos::from_millis(expected),
                needed: Nanos::from_millis(needed),
            })
        };
        assert_eq!(CostPlan::new(Some(400_000_000), 10_000), short(400, 480));
        assert_eq!(CostPlan::new(Some(5_000_000_000), 20), short(5_000, 6_000));
        assert_eq!(CostPlan::new(Some(u64::MAX), 0), Err(NoTraceCost::FewIos));
        assert_eq!(CostPlan::new(None, 100), Err(NoTraceCost::UnknownLength));
        assert!(CostPlan::can_count(5) && !CostPlan::can_count(4));
    }

    #[test]
    fn a_few_long_operations_do_not_decide_the_cost() {
        let mut meter = meter(4);
        let mut now = 0;
        while let Some(recorded) = meter.next(now) {
            meter.end(now);
            meter.begin(recorded, now);
            for start in 0..100 {
                let latency = match (recorded, start) {
                    (false, 7) => 1_000_000,
                    (false, _) => 100_000,
                    (true, _) => 103_000,
                };
                meter.note(&operation(now + start, now + start + latency));
            }
            now += 10_000_000;
        }
        let cost = meter.cost().unwrap();
        assert!((cost.mean - 0.03).abs() < 0.001, "{cost:?}");
    }

    #[test]
    fn slow_switching_ends_after_its_budget_with_a_recorded_segment() {
        let mut meter = CostMeter::new(CostPlan {
            pairs: 40,
            segment: 1,
            budget: 1_000,
        });
        let mut now = 7;
        while let Some(recorded) = meter.next(now) {
            meter.begin(recorded, now);
            now += 200;
            meter.end(now);
        }
        assert_eq!(meter.segments.len(), 8);
        assert!(meter.segments[7].recorded && meter.is_over_budget(now));
    }

    #[test]
    fn empty_segments_give_no_cost() {
        let mut meter = meter(4);
        let mut now = 0;
        while let Some(recorded) = meter.next(now) {
            meter.end(now);
            meter.begin(recorded, now);
            now += 1000;
        }
        assert_eq!(meter.cost(), None);
        assert!(
            meter
                .last_recorded()
                .next()
                .is_some_and(|last| last.begin == now - 1000)
        );
    }
}
