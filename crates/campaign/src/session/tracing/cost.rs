//! Cost of tracing: latencies in short segments of a run, with and without recording in turn.

use hakaru_analysis::stats::{self, SampleMoments};
use hakaru_model::io_path::{TraceCost, TracedOperation};

/// Fewest pairs that give an interval worth printing.
const FEWEST_PAIRS: usize = 4;
/// Most pairs.
const MOST_PAIRS: usize = 20;
/// Length of a segment in nanoseconds: the time between two progress reports of the engine.
const SEGMENT: u64 = 100_000_000;
/// Fraction (1/N) of the measured time that the segments may take.
const PART: u64 = 3;

/// Segments with and without recording, and the latencies of the operations within them.
#[derive(Debug, Default)]
pub(super) struct CostMeter {
    segments: Vec<CostSegment>,
    /// Pairs to measure.
    pairs: usize,
}

/// Time in which events were recorded, or not.
#[derive(Clone, Copy, Debug)]
struct CostSegment {
    recorded: bool,
    begin: u64,
    /// `u64::MAX` until it has ended.
    end: u64,
    /// Operations that ran entirely within it.
    count: u64,
    /// Sum of their latencies in nanoseconds.
    total: u64,
}

impl CostMeter {
    /// Creates the meter of a phase that measures for `runtime` nanoseconds; `None` if that is too short.
    pub(super) fn new(runtime: u64) -> Option<CostMeter> {
        let pairs = usize::try_from(runtime / PART / (2 * SEGMENT)).unwrap_or(usize::MAX);
        // An even number ends with a recorded segment, whose requests in flight are known when the traced part begins.
        let pairs = pairs.min(MOST_PAIRS) / 2 * 2;
        (pairs >= FEWEST_PAIRS).then(|| CostMeter {
            segments: Vec::new(),
            pairs,
        })
    }

    /// Ends the current segment at `now`, and returns whether the next one is recorded; `None` after the last one.
    ///
    /// The order within a pair alternates, so that a steady change of speed does not look like a cost.
    pub(super) fn next(&mut self, now: u64) -> Option<bool> {
        if let Some(last) = self.segments.last_mut() {
            last.end = now;
        }
        let number = self.segments.len();
        (number < 2 * self.pairs).then_some(matches!(number % 4, 0 | 3))
    }

    /// Begins a segment.
    pub(super) fn begin(&mut self, recorded: bool, now: u64) {
        self.segments.push(CostSegment {
            recorded,
            begin: now,
            end: u64::MAX,
            count: 0,
            total: 0,
        });
    }

    /// Counts an operation, if it ran entirely within a segment.
    pub(super) fn note(&mut self, operation: &TracedOperation) {
        let after = self
            .segments
            .partition_point(|s| s.begin <= operation.begin);
        let segment = after
            .checked_sub(1)
            .and_then(|at| self.segments.get_mut(at));
        if let Some(segment) = segment.filter(|segment| operation.end <= segment.end) {
            segment.count += 1;
            segment.total += operation.end.saturating_sub(operation.begin);
        }
    }

    /// Returns the mean relative increase of the latency; `None` if too few pairs have operations in both segments.
    pub(super) fn cost(&self) -> Option<TraceCost> {
        let increases: Vec<f64> = self.segments.chunks_exact(2).filter_map(increase).collect();
        let moments = SampleMoments::of(&increases).filter(|_| increases.len() >= FEWEST_PAIRS)?;
        let (low, high) = stats::mean_interval(&moments, stats::LEVEL)?;
        Some(TraceCost {
            mean: moments.mean,
            margin: (high - low) / 2.0,
            pairs: increases.len() as u32,
        })
    }
}

/// Returns the relative increase of the mean latency by recording.
fn increase(pair: &[CostSegment]) -> Option<f64> {
    let mean = |recorded: bool| {
        let segment = pair.iter().find(|segment| segment.recorded == recorded)?;
        (segment.count > 0).then(|| segment.total as f64 / segment.count as f64)
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

    /// Runs operations of 100 ns without and 110 ns with recording, whose latency grows by 1 ns per segment.
    fn measured(pairs: u64) -> CostMeter {
        let mut meter = CostMeter::new(PART * 2 * SEGMENT * pairs).unwrap();
        let mut now = 0;
        while let Some(recorded) = meter.next(now) {
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
    fn short_phases_are_not_divided() {
        assert!(CostMeter::new(3 * PART * 2 * SEGMENT).is_none());
        assert_eq!(CostMeter::new(u64::MAX).unwrap().pairs, MOST_PAIRS);
    }

    #[test]
    fn empty_segments_give_no_cost() {
        let mut meter = CostMeter::new(PART * 2 * SEGMENT * 5).unwrap();
        assert_eq!(meter.pairs, 4);
        let mut now = 0;
        while let Some(recorded) = meter.next(now) {
            meter.begin(recorded, now);
            now += 1000;
        }
        assert_eq!(meter.cost(), None);
    }
}
