//! Shares of a whole: latencies by size, queue depths, batch sizes.

use super::merge::Report;
use hakaru_model::histogram::Histogram;
use hakaru_model::job::Op;
use hakaru_model::record::DepthSteps;
use hakaru_model::units::Nanos;

/// Names of the latency steps below a unit's thousand; each is the first whole number that does not belong to its step.
pub(super) const STEPS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Names of the steps of queue depth.
pub(super) const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

/// Names of the steps of batch size.
pub(super) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Shares of completion latencies in hundredths, by size. What is not nothing is shown as 0.01 at least.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LatencyShares {
    /// Under 1 µs, steps in nanoseconds.
    pub(super) ns: [f64; 10],
    /// Under 1 ms, steps in microseconds.
    pub(super) us: [f64; 10],
    /// From 1 ms, steps in milliseconds; then 2000, and what is above.
    pub(super) ms: [f64; 12],
}

impl LatencyShares {
    pub(super) fn of(report: &Report<'_>) -> LatencyShares {
        let histograms: Vec<&Histogram> =
            Op::ALL.iter().filter_map(|&op| report.ops[op].clat.histogram.as_ref()).collect();
        let total: u64 = report.ops.iter().map(|(_, op)| op.ios).sum();
        let under = |limit: u64| histograms.iter().map(|h| h.count_up_to(Nanos(limit - 1))).sum::<u64>();
        let all = histograms.iter().map(|h| h.count()).sum::<u64>();
        let mut seen = 0;
        let mut step = |upto: u64| {
            let here = upto.saturating_sub(seen);
            seen = upto.max(seen);
            share(here, total, 0.01)
        };
        let mut shares = LatencyShares::default();
        for (share, limit) in shares.ns.iter_mut().zip(STEPS) {
            *share = step(under(limit));
        }
        for (share, limit) in shares.us.iter_mut().zip(STEPS) {
            *share = step(under(limit * 1_000));
        }
        for (share, limit) in shares.ms.iter_mut().zip(STEPS.into_iter().chain([2000])) {
            *share = step(under(limit * 1_000_000));
        }
        shares.ms[11] = step(all);
        shares
    }

    /// The microsecond steps with everything below them in the first, as the terse output has them.
    pub(super) fn us_with_ns(&self) -> [f64; 10] {
        let mut us = self.us;
        us[0] += self.ns.iter().sum::<f64>();
        us
    }
}

/// Shares of a depth distribution in hundredths of `total`. What is not nothing is shown as 0.1 at least.
pub(super) fn depth_shares(steps: &DepthSteps, total: u64) -> [f64; 7] {
    steps.map(|count| share(count, total, 0.1))
}

fn share(count: u64, total: u64, least: f64) -> f64 {
    match (count, total) {
        (0, _) | (_, 0) => 0.0,
        _ => (count as f64 * 100.0 / total as f64).max(least),
    }
}
