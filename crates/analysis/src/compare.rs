//! Compares two samples: a test, its correction over a family, and a verdict.
//!
//! ```text
//! interval of the ratio excludes 1                       different
//! else two one-sided tests at the margin both reject     equivalent
//! else                                                   undecided, with the runs that would decide
//! ```
//! Tests and intervals use the same correction (Bonferroni), so that the interval excludes 1 exactly if the verdict is
//! "different". A family consists of named primary figures (rates). Percentiles of latency are a separate family, so
//! that they do not affect the tests of the rates.

use crate::estimate::{estimate, finite, published, stated_moments};
use crate::stats::{self, Design, SampleMoments};
use hakaru_model::finding::{
    Comparison, Estimate, HeadlineRate, IntervalCaveat, PhaseSummary, Summary, Verdict,
};
use std::sync::Arc;

/// Significance level of a family of tests: one family in twenty without real differences contains a false alarm.
pub(crate) const ALPHA: f64 = 0.05;

/// The smallest relevant difference, as a fraction of the mean: cards of one model differ as much.
/// Two means are equivalent if the larger one is proven to be less than this above the smaller.
pub(crate) const RELEVANT: f64 = 0.05;

/// Power used for the number of runs needed (Cohen 1988).
pub(crate) const POWER: f64 = 0.8;

/// Differences below this fraction are rounding: rates have about seven digits.
pub(crate) const RESOLUTION: f64 = 1e-6;

/// Percentiles are upper edges of buckets of width 1/128: adjacent edges may be one value.
pub(crate) const QUANTILE_RESOLUTION: f64 = 1.0 / 64.0;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum ComparedSample<'a> {
    /// One value per run.
    Values(&'a [f64]),
    /// Published mean and deviation without values.
    Published(SampleMoments),
}

/// Two samples of one quantity.
#[derive(Clone, Debug)]
pub struct SamplePair<'a> {
    /// Name of the quantity.
    pub quantity: String,
    /// Unit of the quantity.
    pub unit: &'a str,
    /// First sample (the baseline).
    pub a: ComparedSample<'a>,
    /// Second sample.
    pub b: ComparedSample<'a>,
    /// Differences up to this fraction of the mean are rounding.
    pub resolution: f64,
    /// Whether it is a primary figure: primary figures are one family, all others another.
    pub primary: bool,
}

impl<'a> SamplePair<'a> {
    /// Creates a pair of samples with high resolution.
    pub fn new(
        quantity: impl Into<String>,
        unit: &'a str,
        a: ComparedSample<'a>,
        b: ComparedSample<'a>,
    ) -> SamplePair<'a> {
        SamplePair {
            quantity: quantity.into(),
            unit,
            a,
            b,
            resolution: RESOLUTION,
            primary: true,
        }
    }
}

/// Compares two samples with one value per run. `None` if one is empty.
pub fn compare(quantity: &str, unit: &str, a: &[f64], b: &[f64]) -> Option<Comparison> {
    compare_family(&[SamplePair::new(
        quantity,
        unit,
        ComparedSample::Values(a),
        ComparedSample::Values(b),
    )])
    .pop()
}

/// Compares each pair, primary figures as one family and the others as another: the probability of
/// a false "different" in a family is at most 5%. Pairs with an empty side are skipped.
pub fn compare_family(pairs: &[SamplePair<'_>]) -> Vec<Comparison> {
    let families = TestFamilies::of(pairs.iter().cloned());
    pairs
        .iter()
        .filter_map(|pair| families.compare(pair))
        .collect()
}

/// Sizes of the families of tests: of primary figures, and of all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestFamilies([usize; 2]);

impl TestFamilies {
    /// Counts the pairs that are tested.
    pub(crate) fn of<'a>(pairs: impl Iterator<Item = SamplePair<'a>>) -> TestFamilies {
        let mut families = [0; 2];
        for pair in pairs {
            let is_tested = [&pair.a, &pair.b].map(|side| moments(side).is_some());
            families[usize::from(pair.primary)] += usize::from(is_tested == [true; 2]);
        }
        TestFamilies(families)
    }

    /// Both families with at least this many tests, for those that others on the same page have.
    pub(crate) fn at_least(self, tests: usize) -> TestFamilies {
        TestFamilies(self.0.map(|family| family.max(tests)))
    }

    /// Compares a pair; `None` if a side is empty.
    pub(crate) fn compare(self, pair: &SamplePair<'_>) -> Option<Comparison> {
        Some(TestedComparison::of(pair)?.judged(self.0))
    }
}

/// A comparison before its verdict.
struct TestedComparison {
    quantity: String,
    unit: String,
    primary: bool,
    resolution: f64,
    a: (Estimate, Option<SampleMoments>),
    b: (Estimate, Option<SampleMoments>),
    p_value: Option<f64>,
    p_value_ranks: Option<f64>,
    delta: Option<f64>,
}

impl TestedComparison {
    fn of(pair: &SamplePair<'_>) -> Option<TestedComparison> {
        let (a, b) = (side(&pair.a)?, side(&pair.b)?);
        let both = a.1.zip(b.1);
        let p_value = both.map(|(a, b)| stats::welch_at(&a, &b, 1.0, pair.resolution).p);
        let values = values_of(&pair.a)
            .zip(values_of(&pair.b))
            .filter(|_| both.is_some());
        Some(TestedComparison {
            quantity: pair.quantity.clone(),
            unit: pair.unit.to_owned(),
            primary: pair.primary,
            resolution: pair.resolution,
            p_value,
            p_value_ranks: values
                .and_then(|(a, b)| stats::mann_whitney(a, b))
                .map(|found| found.p),
            delta: values.and_then(|(a, b)| stats::cliffs_delta(a, b)),
            a,
            b,
        })
    }

    fn judged(self, families: [usize; 2]) -> Comparison {
        let TestedComparison {
            quantity,
            unit,
            primary,
            resolution,
            a,
            b,
            p_value,
            p_value_ranks,
            delta,
        } = self;
        let ((a, moments_a), (b, moments_b)) = (a, b);
        let both = moments_a.zip(moments_b);
        let family = families[usize::from(primary)].max(1);
        let level = stats::simultaneous_level(1.0 - ALPHA, family);
        let ratio = match a.mean == b.mean {
            true => 1.0,
            false => b.mean / a.mean,
        };
        let corrected = |p: f64| stats::bonferroni(p, family);
        let ratio_ci95 = both.and_then(|(a, b)| stats::ratio_interval(&a, &b, level, resolution));
        let effect = both.and_then(|(a, b)| stats::hedges_g(&a, &b, level));
        let p_equivalence = both.map(|(a, b)| corrected(not_equivalent(&a, &b)));
        let p_adjusted = p_value.map(corrected);
        let differs = match ratio_ci95 {
            Some((low, high)) => !(low <= 1.0 && 1.0 <= high),
            // Without a bound, no interval contradicts the test.
            None => p_adjusted.is_some_and(|p| p <= ALPHA),
        };
        let verdict = match (both, p_equivalence) {
            _ if differs => Verdict::Different,
            (Some(_), Some(p)) if p <= ALPHA => Verdict::Equivalent,
            (Some((a, b)), _) => Verdict::Undecided {
                needed: needed(&a, &b, family),
            },
            (None, _) => Verdict::Undecided {
                needed: guess((a.mean, b.mean), moments_a.or(moments_b), family),
            },
        };
        let interval_caveats = match both {
            Some(_) => caveats_of_both(&a, &b),
            None => Vec::new(),
        };
        Comparison {
            quantity: quantity.into(),
            unit: unit.into(),
            a: Arc::new(a),
            b: Arc::new(b),
            ratio,
            ratio_ci95,
            p_value,
            p_value_ranks,
            p_adjusted,
            p_equivalence,
            family: p_value.map_or(0, |_| u32::try_from(family).unwrap_or(u32::MAX)),
            primary,
            interval_caveats,
            effect: effect.map(|e| e.g),
            effect_ci95: effect.map(|e| e.interval),
            delta,
            verdict,
        }
    }
}

/// Returns the caveats of the intervals of two estimates, each once.
fn caveats_of_both(a: &Estimate, b: &Estimate) -> Vec<IntervalCaveat> {
    let mut all = [&a.interval_caveats[..], &b.interval_caveats[..]].concat();
    all.sort_unstable();
    all.dedup();
    all
}

fn values_of<'a>(sample: &ComparedSample<'a>) -> Option<&'a [f64]> {
    match sample {
        ComparedSample::Values(values) => Some(values),
        ComparedSample::Published(_) => None,
    }
}

/// Returns the moments of a side, if it can be tested.
fn moments(sample: &ComparedSample<'_>) -> Option<SampleMoments> {
    match sample {
        ComparedSample::Values(values) => SampleMoments::of(&finite(values)),
        ComparedSample::Published(moments) => Some(*moments),
    }
}

fn side(sample: &ComparedSample<'_>) -> Option<(Estimate, Option<SampleMoments>)> {
    match sample {
        ComparedSample::Values(values) => {
            let estimate = estimate(values)?;
            let moments = SampleMoments::of(&estimate.values);
            Some((estimate, moments))
        }
        ComparedSample::Published(moments) => {
            Some((published(moments, moments.rounding), Some(*moments)))
        }
    }
}

/// Probability of means this close if they differ by [`RELEVANT`] or more: the larger p of two
/// one-sided tests of the ratio against either margin. Source: Schuirmann (1987); for ratios with
/// unequal variances, Hauschke and others (1999).
fn not_equivalent(a: &SampleMoments, b: &SampleMoments) -> f64 {
    if a.mean == b.mean && a.variance_of_mean() + b.variance_of_mean() == 0.0 {
        return 0.0;
    }
    let above = stats::welch_above(a, b, 1.0 / (1.0 + RELEVANT));
    let below = stats::welch_above(b, a, 1.0 / (1.0 + RELEVANT));
    above.max(below)
}

/// Returns the runs per side that would decide at these means and deviations: by showing a
/// difference or, if it is smaller than [`RELEVANT`], equivalence, whichever needs fewer.
fn needed(a: &SampleMoments, b: &SampleMoments, family: usize) -> Option<u32> {
    let runs = a.n.min(b.n).min(u32::MAX as usize) as u32;
    let relevant = RELEVANT * a.mean.abs().max(b.mean.abs());
    let observed = (a.mean - b.mean).abs();
    let alpha = ALPHA / family as f64;
    let design = |difference, alpha| Design {
        difference,
        deviation_a: a.deviation,
        deviation_b: b.deviation,
        alpha,
    };
    let different = stats::runs_needed(&design(observed, alpha), POWER);
    // One-sided tests against the nearer margin; close to the middle both must reject, each with
    // half of the error.
    let power = if observed < relevant / 4.0 {
        (1.0 + POWER) / 2.0
    } else {
        POWER
    };
    let equivalent = (observed < relevant)
        .then(|| {
            stats::runs_needed(
                &design(relevant - observed, (2.0 * alpha).min(0.999)),
                power,
            )
        })
        .flatten();
    let fewest = different.into_iter().chain(equivalent).min()?;
    Some(fewest.max(runs.saturating_add(1)))
}

/// With a single run on one side, the deviation of the other is used for both; without any, no
/// estimate is possible.
fn guess((a, b): (f64, f64), known: Option<SampleMoments>, family: usize) -> Option<u32> {
    let known = known?;
    let spread = known.deviation / known.mean.abs();
    let design = Design {
        difference: (a - b).abs().max(RELEVANT * a.abs().max(b.abs())),
        deviation_a: spread * a.abs(),
        deviation_b: spread * b.abs(),
        alpha: ALPHA / family as f64,
    };
    stats::runs_needed(&design, POWER)
}

/// Compares all phases and operations that two series have in common. The rate (bandwidth of large blocks, IOPS of
/// small ones) is the primary figure. The 99th percentile of its latency, and the 99th and 99.9th of its `fsync`, are a
/// separate family.
///
/// Phases are matched by name and operation; if no name matches, by workload.
pub fn compare_summaries(a: &Summary, b: &Summary) -> Vec<Comparison> {
    let phases: Vec<(&PhaseSummary, &PhaseSummary)> = common_phases(a, b);
    let pairs: Vec<SamplePair<'_>> = phases.iter().flat_map(|(a, b)| phase_pairs(a, b)).collect();
    compare_family(&pairs)
}

/// Returns matching phases of two series, in the order of the first.
pub fn common_phases<'a>(
    a: &'a Summary,
    b: &'a Summary,
) -> Vec<(&'a PhaseSummary, &'a PhaseSummary)> {
    let by_name = pair_up(a, b, |x, y| x.phase == y.phase && x.op == y.op);
    if !by_name.is_empty() {
        return by_name;
    }
    let work = |p: &PhaseSummary| {
        p.detail
            .shape
            .map(|s| (s.random, s.read_percent, s.block, s.iodepth, s.sync_every))
    };
    pair_up(a, b, |x, y| {
        x.op == y.op && work(x).is_some() && work(x) == work(y)
    })
}

fn pair_up<'a>(
    a: &'a Summary,
    b: &'a Summary,
    same: impl Fn(&PhaseSummary, &PhaseSummary) -> bool,
) -> Vec<(&'a PhaseSummary, &'a PhaseSummary)> {
    let partner = |x: &'a PhaseSummary| b.phases.iter().find(|y| same(x, y)).map(|y| (x, y));
    a.phases.iter().filter_map(partner).collect()
}

/// Returns the rate by which two phases are compared: bandwidth if it represents both.
fn rate(a: &PhaseSummary, b: &PhaseSummary) -> HeadlineRate {
    match a.detail.headline {
        HeadlineRate::Bandwidth => b.detail.headline,
        HeadlineRate::Iops => HeadlineRate::Iops,
    }
}

/// Name and unit of a rate.
pub(crate) fn name_and_unit(rate: HeadlineRate) -> (&'static str, &'static str) {
    match rate {
        HeadlineRate::Bandwidth => ("bandwidth", "B/s"),
        HeadlineRate::Iops => ("IOPS", "1/s"),
    }
}

/// Whether both rates of a phase are known, per run or published.
pub(crate) fn has_rate(phase: &PhaseSummary) -> bool {
    let known =
        |estimate: &Estimate| !estimate.values.is_empty() || stated(phase, estimate).is_some();
    known(&phase.bandwidth) && known(&phase.iops)
}

/// Returns mean and deviation if only these are known.
pub(crate) fn stated(phase: &PhaseSummary, estimate: &Estimate) -> Option<SampleMoments> {
    let runs = phase
        .detail
        .stated_runs
        .filter(|_| estimate.values.is_empty())?;
    stated_moments(estimate, runs)
}

/// Returns the rates of two phases for comparison.
pub(crate) fn rate_pair<'a>(a: &'a PhaseSummary, b: &'a PhaseSummary) -> SamplePair<'a> {
    let rate = rate(a, b);
    let (name, unit) = name_and_unit(rate);
    let sample = |p: &'a PhaseSummary| {
        let estimate = rate.of(p);
        stated(p, estimate).map_or(
            ComparedSample::Values(&estimate.values),
            ComparedSample::Published,
        )
    };
    SamplePair::new(format!("{} {name}", called(a)), unit, sample(a), sample(b))
}

/// Returns `seq-write write`, or only the operation if the phase is named after it.
fn called(phase: &PhaseSummary) -> String {
    if phase.phase == phase.op.name() {
        phase.phase.clone()
    } else {
        format!("{} {}", phase.phase, phase.op.name())
    }
}

fn phase_pairs<'a>(a: &'a PhaseSummary, b: &'a PhaseSummary) -> Vec<SamplePair<'a>> {
    let mut pairs = vec![rate_pair(a, b)];
    let mut percentile = |what: &str, share: f64, x: &'a [_], y: &'a [_]| {
        let find = |list: &'a [(hakaru_model::units::Quantile, Estimate)]| {
            list.iter()
                .find(|(q, _)| q.share() == share)
                .map(|(_, estimate)| ComparedSample::Values(&estimate.values))
        };
        if let Some((x, y)) = find(x).zip(find(y)) {
            let quantity = format!("{} {what} P{}", called(a), share * 100.0);
            pairs.push(SamplePair {
                resolution: QUANTILE_RESOLUTION,
                primary: false,
                ..SamplePair::new(quantity, "ns", x, y)
            });
        }
    };
    percentile(
        "latency",
        0.99,
        &a.detail.latency_by_run,
        &b.detail.latency_by_run,
    );
    for share in [0.99, 0.999] {
        percentile("sync", share, &a.detail.sync_by_run, &b.detail.sync_by_run);
    }
    pairs
}

#[cfg(test)]
mod tests;
