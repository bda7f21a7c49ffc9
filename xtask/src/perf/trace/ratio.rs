//! Ratios of latencies with their intervals, and what they say about a bound.

use crate::perf::contest::median;
use serde_json::Value;

/// Highest relative increase of the latency.
pub(super) const HIGHEST: f64 = 0.03;
/// Part of the latencies that is averaged: the rest is what the host did meanwhile.
const MIDDLE: (f64, f64) = (0.05, 0.95);

/// Whether a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BoundVerdict {
    Holds,
    Missed,
    /// The interval contains the bound.
    Undecided,
    /// The host is too slow for the condition of the bound.
    NotReached,
}

impl std::fmt::Display for BoundVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            BoundVerdict::Holds => "holds",
            BoundVerdict::Missed => "MISSED",
            BoundVerdict::Undecided => "UNDECIDED: more runs or a quieter host may decide it",
            BoundVerdict::NotReached => "not reached by this host",
        })
    }
}

/// Latency with tracing over latency without.
pub(super) struct CostRatio {
    /// Median over the pairs.
    middle: f64,
    /// Its 95% interval.
    interval: (f64, f64),
    pairs: usize,
    /// Median over the untraced runs, in nanoseconds.
    pub(super) untraced: f64,
}

impl CostRatio {
    /// `pairs` are mean latencies in nanoseconds: untraced, traced.
    pub(super) fn of(pairs: &[(f64, f64)]) -> CostRatio {
        let ratios = sorted(pairs.iter().map(|(without, with)| with / without));
        let (low, high) = ranks(ratios.len());
        CostRatio {
            middle: median(&ratios),
            interval: (ratios[low], ratios[high]),
            pairs: pairs.len(),
            untraced: median(&sorted(pairs.iter().map(|(without, _)| *without))),
        }
    }
}

impl std::fmt::Display for CostRatio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (low, high) = self.interval;
        write!(
            f,
            "median ratio {:.4} [{low:.4}, {high:.4}] of {} pairs",
            self.middle, self.pairs
        )
    }
}

/// Relative increase of the latency by tracing, which traced runs measured themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredCost {
    mean: f64,
    /// Half width of the 95% interval.
    margin: f64,
    runs: usize,
}

impl MeasuredCost {
    /// Returns the mean of the runs, each (mean, half width of its 95% interval), weighted by the inverse of its
    /// variance; `None` without a run.
    pub(super) fn of(runs: &[(f64, f64)]) -> Option<MeasuredCost> {
        let weight = |margin: f64| margin.max(f64::MIN_POSITIVE.sqrt()).powi(-2);
        let all: f64 = runs.iter().map(|(_, margin)| weight(*margin)).sum();
        let sum: f64 = runs
            .iter()
            .map(|(mean, margin)| mean * weight(*margin))
            .sum();
        (all > 0.0).then(|| MeasuredCost {
            mean: sum / all,
            margin: all.powf(-0.5),
            runs: runs.len(),
        })
    }

    pub(super) fn verdict(&self) -> BoundVerdict {
        match (self.mean - self.margin, self.mean + self.margin) {
            (_, high) if high <= HIGHEST => BoundVerdict::Holds,
            (low, _) if low > HIGHEST => BoundVerdict::Missed,
            _ => BoundVerdict::Undecided,
        }
    }
}

impl std::fmt::Display for MeasuredCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let percent = |part: f64| part * 100.0;
        let (mean, margin) = (percent(self.mean), percent(self.margin));
        write!(f, "{mean:.2} ± {margin:.2}% in {} runs", self.runs)
    }
}

/// Returns the ranks (from 0) of the 95% interval of a median, by the binomial distribution.
fn ranks(count: usize) -> (usize, usize) {
    let mut probability = 0.5f64.powi(count as i32);
    let (mut below, mut rank) = (probability, 0);
    while below <= 0.025 && rank + 1 < count / 2 {
        rank += 1;
        probability *= (count - rank + 1) as f64 / rank as f64;
        below += probability;
    }
    // `below` now includes the rank that is one too many, unless it never came so far.
    let low = if below > 0.025 {
        rank.saturating_sub(1)
    } else {
        rank
    };
    (low, count - 1 - low)
}

pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the mean of the latencies in [`MIDDLE`], from fio's bins (nanoseconds: count).
pub(super) fn middle_mean(bins: &Value) -> Option<f64> {
    let bins = bins.as_object()?.iter();
    let mut bins: Vec<(u64, u64)> = bins
        .filter_map(|(latency, count)| Some((latency.parse().ok()?, count.as_u64()?)))
        .collect();
    bins.sort_unstable();
    let all = bins.iter().map(|(_, count)| *count).sum::<u64>() as f64;
    let (first, last) = (MIDDLE.0 * all, MIDDLE.1 * all);
    let (mut before, mut sum, mut ios) = (0.0, 0.0, 0.0);
    for (latency, count) in bins {
        let until = before + count as f64;
        let counts = (until.min(last) - f64::max(before, first)).max(0.0);
        sum += counts * latency as f64;
        ios += counts;
        before = until;
    }
    (ios > 0.0).then(|| sum / ios)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_median_has_the_tabulated_ranks() {
        // Conover, table A3: ranks from 1.
        for (count, low) in [(6, 1), (10, 2), (20, 6), (30, 10), (40, 14)] {
            assert_eq!(ranks(count), (low - 1, count - low), "{count}");
        }
        assert_eq!(ranks(4), (0, 3));
    }

    #[test]
    fn a_cost_is_judged_by_its_interval() {
        let verdict = |runs: &[(f64, f64)]| MeasuredCost::of(runs).map(|cost| cost.verdict());
        assert_eq!(verdict(&[(0.02, 0.005)]), Some(BoundVerdict::Holds));
        assert_eq!(verdict(&[(0.04, 0.005)]), Some(BoundVerdict::Missed));
        assert_eq!(verdict(&[(0.02, 0.02)]), Some(BoundVerdict::Undecided));
        assert_eq!(verdict(&[(0.02, 0.02); 5]), Some(BoundVerdict::Holds));
        assert_eq!(verdict(&[]), None);
    }

    #[test]
    fn a_noisy_run_counts_less() {
        let cost = MeasuredCost::of(&[(0.01, 0.01), (0.05, 0.02)]).expect("a cost");
        assert!((cost.mean - 0.018).abs() < 1e-12, "{cost}");
        assert!((cost.margin - 0.02 / 5f64.sqrt()).abs() < 1e-12, "{cost}");
    }

    #[test]
    fn the_middle_of_the_latencies_is_averaged() {
        let bins = serde_json::json!({"1000": 90, "2000": 5, "9000000": 5});
        assert_eq!(
            middle_mean(&bins),
            Some((85.0 * 1000.0 + 5.0 * 2000.0) / 90.0)
        );
        assert_eq!(middle_mean(&serde_json::json!({})), None);
    }
}
