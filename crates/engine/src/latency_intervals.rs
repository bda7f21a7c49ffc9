//! Latencies over time of one worker: coarse histograms of each interval.
//!
//! They cost nothing at an I/O: each interval is the difference of two readings of the histogram that counts all I/Os.

use hakaru_model::histogram::Histogram;
use hakaru_model::record::{
    LATENCY_STEPS, LatencyInterval, LatencyIntervals, LatencyStepCounts, latency_step_counts,
};
use hakaru_model::units::Nanos;

/// Reads a histogram at the end of each interval.
#[derive(Clone, Debug)]
pub(crate) struct LatencyRecorder {
    /// Counts at the end of the last interval.
    before: [u64; LATENCY_STEPS],
    intervals: LatencyIntervals,
}

impl Default for LatencyRecorder {
    fn default() -> Self {
        LatencyRecorder {
            before: [0; LATENCY_STEPS],
            intervals: LatencyIntervals::default(),
        }
    }
}

impl LatencyRecorder {
    /// Ends an interval, and returns its counts; does nothing without a histogram.
    pub(crate) fn close(
        &mut self,
        at: Nanos,
        length: Nanos,
        histogram: Option<&Histogram>,
    ) -> Option<LatencyStepCounts> {
        let histogram = histogram?;
        let now = latency_step_counts(histogram);
        let new = now
            .iter()
            .zip(&self.before)
            .map(|(now, before)| now - before);
        let counts = LatencyStepCounts::of(new.enumerate());
        self.intervals.push(LatencyInterval {
            at,
            length,
            counts: counts.clone(),
        });
        self.before = now;
        Some(counts)
    }

    /// Returns the intervals in which something was counted.
    pub(crate) fn into_intervals(self) -> Vec<LatencyInterval> {
        self.intervals.into_intervals()
    }
}
