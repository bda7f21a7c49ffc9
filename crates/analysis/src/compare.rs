//! Whether two things differ, and by how much: a test, its correction over a family, and a verdict.
//!
//! ```text
//! interval of the ratio excludes 1                       different
//! else two one-sided tests at the margin both reject     equivalent
//! else                                                   undecided, with the runs that would decide
//! ```
//! Tests and intervals carry one correction (Bonferroni), so that the interval excludes 1 exactly when the verdict is
//! "different". A family is made of named primary figures (rates); percentiles of latency are a family of their own, so
//! that looking at them costs the rates nothing.

use crate::estimate::{estimate, published, stated_moments};
use crate::stats::power::Design;
use crate::stats::{self, Moments};
use hakaru_model::finding::{Comparison, Estimate, IntervalCaveat, PhaseSummary, Summary, Verdict};

/// Level of a family of tests: one family in twenty of equal things holds a false alarm.
pub const ALPHA: f64 = 0.05;

/// The smallest difference that a reader would act upon, as a share of the mean: cards of one model differ as much. Two
/// means are equivalent when the larger one is proven to be less than this above the smaller.
pub const RELEVANT: f64 = 0.05;

/// With which probability the runs that are said to be needed decide (Cohen 1988).
pub const POWER: f64 = 0.8;

/// Differences below this share are rounding: counts per time have about seven digits.
const RESOLUTION: f64 = 1e-6;

/// Percentiles are upper edges of buckets 1/128 wide: two edges apart may be one value and the next.
const QUANTILE_RESOLUTION: f64 = 1.0 / 64.0;

/// One side of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Sample<'a> {
    /// One value a run.
    Values(&'a [f64]),
    /// Mean and deviation, of which the values are not known.
    Published(Moments),
}

/// Two samples of one quantity.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// What is compared.
    pub quantity: String,
    /// Its unit.
    pub unit: &'a str,
    /// The first.
    pub a: Sample<'a>,
    /// The second.
    pub b: Sample<'a>,
    /// Differences up to this share of the mean cannot be told from rounding.
    pub resolution: f64,
    /// Whether it is a primary figure: these are judged as one family, and all others as another.
    pub primary: bool,
}

impl<'a> Pair<'a> {
    /// Two samples of a quantity that is known to many digits.
    pub fn new(quantity: impl Into<String>, unit: &'a str, a: Sample<'a>, b: Sample<'a>) -> Pair<'a> {
        Pair { quantity: quantity.into(), unit, a, b, resolution: RESOLUTION, primary: true }
    }
}

/// Compares two samples, one value a run. `None` when one of them is empty.
pub fn compare(quantity: &str, unit: &str, a: &[f64], b: &[f64]) -> Option<Comparison> {
    compare_family(&[Pair::new(quantity, unit, Sample::Values(a), Sample::Values(b))]).pop()
}

/// Compares each pair, and judges the primary ones as one family, the others as another: however many pairs of equals
/// there are, a false "different" comes up in a family with probability [`ALPHA`] at most. Pairs with an empty side are
/// left out.
pub fn compare_family(pairs: &[Pair<'_>]) -> Vec<Comparison> {
    let tested: Vec<Tested> = pairs.iter().filter_map(Tested::of).collect();
    let family_of = |primary: bool| tested.iter().filter(|t| t.primary == primary && t.p_value.is_some()).count();
    let families = [family_of(false), family_of(true)];
    tested.into_iter().map(|t| t.judged(families)).collect()
}

/// A comparison on its way to a verdict.
struct Tested {
    quantity: String,
    unit: String,
    primary: bool,
    resolution: f64,
    a: (Estimate, Option<Moments>),
    b: (Estimate, Option<Moments>),
    p_value: Option<f64>,
    p_value_ranks: Option<f64>,
    delta: Option<f64>,
}

impl Tested {
    fn of(pair: &Pair<'_>) -> Option<Tested> {
        let (a, b) = (side(&pair.a)?, side(&pair.b)?);
        let both = a.1.zip(b.1);
        let p_value = both.map(|(a, b)| stats::welch_at(&a, &b, 1.0, pair.resolution).p);
        let values = values_of(&pair.a).zip(values_of(&pair.b)).filter(|_| both.is_some());
        Some(Tested {
            quantity: pair.quantity.clone(),
            unit: pair.unit.to_owned(),
            primary: pair.primary,
            resolution: pair.resolution,
            p_value,
            p_value_ranks: values.and_then(|(a, b)| stats::mann_whitney(a, b)).map(|found| found.p),
            delta: values.and_then(|(a, b)| stats::cliffs_delta(a, b)),
            a,
            b,
        })
    }

    fn judged(self, families: [usize; 2]) -> Comparison {
        let Tested { quantity, unit, primary, resolution, a, b, p_value, p_value_ranks, delta } = self;
        let ((a, moments_a), (b, moments_b)) = (a, b);
        let both = moments_a.zip(moments_b);
        let family = families[usize::from(primary)].max(1);
        let level = stats::simultaneous_level(1.0 - ALPHA, family);
        let ratio = if a.mean == b.mean { 1.0 } else { b.mean / a.mean };
        let corrected = |p: f64| (p * family as f64).min(1.0);
        let ratio_ci95 = both.and_then(|(a, b)| stats::ratio_interval(&a, &b, level, resolution));
        let effect = both.and_then(|(a, b)| stats::hedges_g(&a, &b, level));
        let p_equivalence = both.map(|(a, b)| corrected(not_equivalent(&a, &b)));
        let p_adjusted = p_value.map(corrected);
        let differs = match ratio_ci95 {
            Some((low, high)) => !(low <= 1.0 && 1.0 <= high),
            // Without a bound there is no interval to contradict the test.
            None => p_adjusted.is_some_and(|p| p <= ALPHA),
        };
        let verdict = match (both, p_equivalence) {
            _ if differs => Verdict::Different,
            (Some(_), Some(p)) if p <= ALPHA => Verdict::Equivalent,
            (Some((a, b)), _) => Verdict::Undecided { needed: needed(&a, &b, family) },
            (None, _) => Verdict::Undecided { needed: guess((a.mean, b.mean), moments_a.or(moments_b), family) },
        };
        let mut interval_caveats: Vec<IntervalCaveat> = Vec::new();
        if both.is_some() {
            interval_caveats.extend(a.interval_caveats.iter().chain(&b.interval_caveats));
            interval_caveats.sort_unstable();
            interval_caveats.dedup();
        }
        Comparison {
            quantity,
            unit,
            a,
            b,
            ratio,
            ratio_ci95,
            p_value,
            p_value_ranks,
            p_adjusted,
            p_equivalence,
            family: if p_value.is_some() { u32::try_from(family).unwrap_or(u32::MAX) } else { 0 },
            primary,
            interval_caveats,
            effect: effect.map(|e| e.g),
            effect_ci95: effect.map(|e| e.interval),
            delta,
            verdict,
        }
    }
}

fn values_of<'a>(sample: &Sample<'a>) -> Option<&'a [f64]> {
    match sample {
        Sample::Values(values) => Some(values),
        Sample::Published(_) => None,
    }
}

fn side(sample: &Sample<'_>) -> Option<(Estimate, Option<Moments>)> {
    match sample {
        Sample::Values(values) => {
            let estimate = estimate(values)?;
            let moments = Moments::of(&estimate.values);
            Some((estimate, moments))
        }
        Sample::Published(moments) => Some((published(moments, moments.rounding), Some(*moments))),
    }
}

/// Probability of means this close when they differ by [`RELEVANT`] or more: the larger p of two one-sided tests, of the
/// ratio against either margin. Source: Schuirmann (1987); for ratios with unequal variances, Hauschke and others (1999).
fn not_equivalent(a: &Moments, b: &Moments) -> f64 {
    if a.mean == b.mean && a.variance_of_mean() + b.variance_of_mean() == 0.0 {
        return 0.0;
    }
    let above = stats::welch_above(a, b, 1.0 / (1.0 + RELEVANT));
    let below = stats::welch_above(b, a, 1.0 / (1.0 + RELEVANT));
    above.max(below)
}

/// Runs of each side that would decide at the means and deviations seen: by showing the difference, or, where that is
/// smaller than [`RELEVANT`], by showing equivalence, whichever takes fewer.
fn needed(a: &Moments, b: &Moments, family: usize) -> Option<u32> {
    let runs = a.n.min(b.n).min(u32::MAX as usize) as u32;
    let relevant = RELEVANT * a.mean.abs().max(b.mean.abs());
    let observed = (a.mean - b.mean).abs();
    let alpha = ALPHA / family as f64;
    let design = |difference, alpha| Design { difference, deviation_a: a.deviation, deviation_b: b.deviation, alpha };
    let different = stats::runs_needed(&design(observed, alpha), POWER);
    // One-sided tests against the nearer margin; next to the middle both have to reject, each with half of the misses.
    let power = if observed < relevant / 4.0 { (1.0 + POWER) / 2.0 } else { POWER };
    let equivalent = (observed < relevant)
        .then(|| stats::runs_needed(&design(relevant - observed, (2.0 * alpha).min(0.999)), power))
        .flatten();
    let fewest = different.into_iter().chain(equivalent).min()?;
    Some(fewest.max(runs.saturating_add(1)))
}

/// With a single run on one side, the spread of the other has to do for both; without any, nothing can be said.
fn guess((a, b): (f64, f64), known: Option<Moments>, family: usize) -> Option<u32> {
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

/// I/Os from this size on are judged by bandwidth, smaller ones by their number: with one block size, the two figures
/// are one, and testing both would only make the family larger.
const LARGE_BLOCK: f64 = 65_536.0;

/// Compares all that two series have in common: of each phase and operation the rate (bandwidth of large blocks, IOPS of
/// small ones), which is the primary figure; and as a family of their own the 99th percentile of its latency, and the
/// 99th and 99.9th of its `fsync`.
///
/// Phases belong together by name and operation; where no name of one occurs in the other, by what they do.
pub fn compare_summaries(a: &Summary, b: &Summary) -> Vec<Comparison> {
    let phases: Vec<(&PhaseSummary, &PhaseSummary)> = common_phases(a, b);
    let pairs: Vec<Pair<'_>> = phases.iter().flat_map(|(a, b)| phase_pairs(a, b)).collect();
    compare_family(&pairs)
}

/// Two of several things, by their places in the list, and how they differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Between {
    /// Place of the first.
    pub a: usize,
    /// Place of the second.
    pub b: usize,
    /// The comparison.
    pub comparison: Comparison,
}

/// Compares the rates of all cards, or whatever the series are of, each with each: one family, so that the number of
/// cards makes no false alarms.
pub fn compare_all(cards: &[&Summary]) -> Vec<Between> {
    let places = (0..cards.len()).flat_map(|a| (a + 1..cards.len()).map(move |b| (a, b)));
    let mut pairs = Vec::new();
    let mut who = Vec::new();
    for (a, b) in places {
        let phases = common_phases(cards[a], cards[b]);
        for (x, y) in phases.into_iter().filter(|(x, y)| has_rate(x) && has_rate(y)) {
            pairs.push(rate_pair(x, y));
            who.push((a, b));
        }
    }
    let between = |((a, b), comparison)| Between { a, b, comparison };
    who.into_iter().zip(compare_family(&pairs)).map(between).collect()
}

/// Phases of two series that belong together, in the order of the first.
pub fn common_phases<'a>(a: &'a Summary, b: &'a Summary) -> Vec<(&'a PhaseSummary, &'a PhaseSummary)> {
    let by_name = pair_up(a, b, |x, y| x.phase == y.phase && x.op == y.op);
    if !by_name.is_empty() {
        return by_name;
    }
    let work = |p: &PhaseSummary| p.detail.shape.map(|s| (s.random, s.read_percent, s.block, s.iodepth, s.sync_every));
    pair_up(a, b, |x, y| x.op == y.op && work(x).is_some() && work(x) == work(y))
}

fn pair_up<'a>(
    a: &'a Summary,
    b: &'a Summary,
    same: impl Fn(&PhaseSummary, &PhaseSummary) -> bool,
) -> Vec<(&'a PhaseSummary, &'a PhaseSummary)> {
    let partner = |x: &'a PhaseSummary| b.phases.iter().find(|y| same(x, y)).map(|y| (x, y));
    a.phases.iter().filter_map(partner).collect()
}

/// The rate by which a phase is judged: its figure, its unit, its estimate.
pub(crate) fn rate(a: &PhaseSummary, b: &PhaseSummary) -> Rate {
    let large = |p: &PhaseSummary| p.bandwidth.mean >= LARGE_BLOCK * p.iops.mean;
    if large(a) && large(b) { Rate::Bandwidth } else { Rate::Iops }
}

/// Which rate is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rate {
    Bandwidth,
    Iops,
}

impl Rate {
    pub(crate) fn of(self, phase: &PhaseSummary) -> &Estimate {
        match self {
            Rate::Bandwidth => &phase.bandwidth,
            Rate::Iops => &phase.iops,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Rate::Bandwidth => "bandwidth",
            Rate::Iops => "IOPS",
        }
    }

    pub(crate) fn unit(self) -> &'static str {
        match self {
            Rate::Bandwidth => "B/s",
            Rate::Iops => "1/s",
        }
    }
}

/// Whether both rates of a phase are known, run by run or as they were published.
pub(crate) fn has_rate(phase: &PhaseSummary) -> bool {
    let known = |estimate: &Estimate| !estimate.values.is_empty() || stated(phase, estimate).is_some();
    known(&phase.bandwidth) && known(&phase.iops)
}

/// Mean and deviation where nothing else is known.
fn stated(phase: &PhaseSummary, estimate: &Estimate) -> Option<Moments> {
    let runs = phase.detail.stated_runs.filter(|_| estimate.values.is_empty())?;
    stated_moments(estimate, runs)
}

/// The rate of two phases, ready to be compared.
pub(crate) fn rate_pair<'a>(a: &'a PhaseSummary, b: &'a PhaseSummary) -> Pair<'a> {
    let rate = rate(a, b);
    let sample = |p: &'a PhaseSummary| {
        let estimate = rate.of(p);
        stated(p, estimate).map_or(Sample::Values(&estimate.values), Sample::Published)
    };
    Pair::new(format!("{} {}", called(a), rate.name()), rate.unit(), sample(a), sample(b))
}

/// `seq-write write`; of a phase that is called as what it does, that once.
fn called(phase: &PhaseSummary) -> String {
    if phase.phase == phase.op.name() { phase.phase.clone() } else { format!("{} {}", phase.phase, phase.op.name()) }
}

fn phase_pairs<'a>(a: &'a PhaseSummary, b: &'a PhaseSummary) -> Vec<Pair<'a>> {
    let mut pairs = vec![rate_pair(a, b)];
    let mut percentile = |what: &str, share: f64, x: &'a [_], y: &'a [_]| {
        let find = |list: &'a [(hakaru_model::units::Quantile, Estimate)]| {
            list.iter().find(|(q, _)| q.share() == share).map(|(_, estimate)| Sample::Values(&estimate.values))
        };
        if let Some((x, y)) = find(x).zip(find(y)) {
            let quantity = format!("{} {what} P{}", called(a), share * 100.0);
            pairs.push(Pair { resolution: QUANTILE_RESOLUTION, primary: false, ..Pair::new(quantity, "ns", x, y) });
        }
    };
    percentile("latency", 0.99, &a.detail.latency_by_run, &b.detail.latency_by_run);
    for share in [0.99, 0.999] {
        percentile("sync", share, &a.detail.sync_by_run, &b.detail.sync_by_run);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::runs;
    use hakaru_model::rng::Rng;

    fn verdict(a: &[f64], b: &[f64]) -> Verdict {
        compare("x", "1/s", a, b).unwrap().verdict
    }

    #[test]
    fn clear_differences_are_different_and_carry_their_ratio() {
        let mut rng = Rng::new(3);
        let (a, b) = (runs(&mut rng, 10, 100.0, 0.02), runs(&mut rng, 10, 200.0, 0.02));
        let found = compare("seq write bandwidth", "B/s", &a, &b).unwrap();
        assert_eq!(found.verdict, Verdict::Different);
        let (low, high) = found.ratio_ci95.unwrap();
        assert!(low < 2.0 && 2.0 < high && high - low < 0.1, "{low} {high}");
        assert!(found.p_adjusted == found.p_value && found.effect.unwrap() > 10.0 && found.delta == Some(1.0));
    }

    #[test]
    fn equal_things_with_runs_enough_are_not_distinguished() {
        let mut rng = Rng::new(5);
        let (a, b) = (runs(&mut rng, 10, 100.0, 0.02), runs(&mut rng, 10, 100.0, 0.02));
        assert_eq!(verdict(&a, &b), Verdict::Equivalent);
    }

    /// Runs that could not have shown anything "showed no difference".
    #[test]
    fn equivalence_is_shown_by_two_one_sided_tests() {
        // scipy: max of ttest_ind(b, a / 1.05, equal_var=False, alternative="greater") and (b, a * 1.05, "less").
        let (a, b) = ([100.0, 101.0, 99.0, 100.5, 98.5], [101.0, 100.0, 102.0, 99.5, 100.5]);
        let found = compare("x", "1/s", &a, &b).unwrap();
        assert!((found.p_equivalence.unwrap() - 0.000_105_880_159_684_813_18).abs() < 1e-9, "{found:?}");
        assert_eq!(found.verdict, Verdict::Equivalent);
        let (a, b) = (crate::stats::samples::PLANT_CONTROL, crate::stats::samples::PLANT_TREATED);
        let found = compare("x", "1/s", &a, &b).unwrap();
        assert!((found.p_equivalence.unwrap() - 0.663_162_975_534_156_4).abs() < 0.02, "{found:?}");
        assert!(matches!(found.verdict, Verdict::Undecided { needed: Some(11..) }), "{found:?}");
    }

    #[test]
    fn intervals_exclude_one_exactly_when_the_verdict_is_different() {
        let mut rng = Rng::new(77);
        let mut seen = [0; 3];
        for trial in 0..300 {
            let n = [2, 3, 5, 10][trial % 4];
            let sides: Vec<(Vec<f64>, Vec<f64>)> = (0..6)
                .map(|i| {
                    let far = 100.0 + f64::from(i) * 3.0;
                    (runs(&mut rng, n, 100.0, 0.02), runs(&mut rng, n, far, 0.03))
                })
                .collect();
            let pairs: Vec<Pair<'_>> =
                sides.iter().map(|(a, b)| Pair::new("x", "1/s", Sample::Values(a), Sample::Values(b))).collect();
            for found in compare_family(&pairs) {
                assert_eq!(found.family, 6);
                let Some((low, high)) = found.ratio_ci95 else { continue };
                let outside = !(low <= 1.0 && 1.0 <= high);
                assert_eq!(outside, found.verdict == Verdict::Different, "{found:?}");
                assert_eq!(outside, found.p_adjusted.unwrap() <= ALPHA, "{found:?}");
                seen[match found.verdict {
                    Verdict::Different => 0,
                    Verdict::Equivalent => 1,
                    Verdict::Undecided { .. } => 2,
                }] += 1;
            }
        }
        assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
    }

    /// Percentiles of latency in the family of the rates turned "1.95x" into "cannot tell".
    #[test]
    fn secondary_figures_cost_the_primary_ones_nothing() {
        let (a, b) = ([337.0, 348.0], [695.0, 644.0]);
        let pair = |primary| Pair { primary, ..Pair::new("x", "1/s", Sample::Values(&a), Sample::Values(&b)) };
        let found = compare_family(&[pair(true), pair(false), pair(false), pair(false)]);
        assert_eq!((found[0].verdict, found[0].family), (Verdict::Different, 1));
        assert!(found[1..].iter().all(|c| c.verdict != Verdict::Different && c.family == 3));
    }

    #[test]
    fn too_few_runs_say_how_many_would_do() {
        // 10 % apart at about 6 % spread: two runs of each cannot tell.
        let found = verdict(&[100.0, 109.0], &[110.0, 118.0]);
        let Verdict::Undecided { needed: Some(needed) } = found else { panic!("{found:?}") };
        assert!((5..15).contains(&needed), "{needed}");
        assert_eq!(verdict(&[100.0], &[110.0]), Verdict::Undecided { needed: None });
        // A single run borrows the spread of the other side.
        assert!(matches!(verdict(&[100.0], &[110.0, 112.0, 108.0]), Verdict::Undecided { needed: Some(_) }));
    }

    #[test]
    fn two_against_two_of_the_f2fs_article() {
        // ext4 337 and 348 IOPS, F2FS 695 and 644: the difference is large enough even for n = 2.
        let found = compare("randwrite", "1/s", &[337.0, 348.0], &[695.0, 644.0]).unwrap();
        assert_eq!(found.verdict, Verdict::Different);
        assert!((found.ratio - 1.9547).abs() < 1e-3);
        assert_eq!(found.p_value_ranks, Some(1.0 / 3.0));
    }

    #[test]
    fn a_family_is_judged_together() {
        // Alone, p = 0.04 is different; as one of three it is not.
        let a = [337.0, 348.0];
        let b = [695.0, 644.0];
        let pair = |q: &str| Pair::new(q, "1/s", Sample::Values(&a), Sample::Values(&b));
        let three = compare_family(&[pair("x"), pair("y"), pair("z")]);
        assert!(three.iter().all(|c| c.verdict != Verdict::Different && c.p_adjusted > c.p_value));
    }

    #[test]
    fn all_cards_are_compared_with_each_other_as_one_family() {
        let card = |i, speed| crate::testing::read_series(i, speed, 0.01);
        let cards = [card(1, 40e6), card(2, 40e6), card(3, 30e6)];
        let found = compare_all(&cards.iter().collect::<Vec<_>>());
        let verdict = |a, b| found.iter().find(|f| (f.a, f.b) == (a, b)).unwrap().comparison.verdict;
        assert_eq!(found.len(), 3);
        assert_eq!((verdict(0, 2), verdict(1, 2)), (Verdict::Different, Verdict::Different));
        assert_ne!(verdict(0, 1), Verdict::Different);
    }

    #[test]
    fn published_means_and_deviations_can_be_compared() {
        // Two cards of a published table: 18.6 ± 0.6 and 18.1 ± 0.1 MB/s, ten runs each.
        let side = |mean, deviation| Sample::Published(Moments::new(10, mean, deviation).unwrap());
        let found = compare_family(&[Pair::new("seq write", "MB/s", side(18.6, 0.6), side(18.1, 0.1))]).pop().unwrap();
        assert_eq!(found.verdict, Verdict::Different);
        // scipy.stats.ttest_ind_from_stats(18.6, .6, 10, 18.1, .1, 10, equal_var=False).pvalue
        assert!((found.p_value.unwrap() - 0.027_578_869_4).abs() < 1e-9, "{:?}", found.p_value);
        assert_eq!(found.p_value_ranks, None);
    }

    /// Anybody may write such a table: judging it panicked.
    #[test]
    fn published_deviations_of_any_size_are_judged() {
        let sizes = [0.0, 1e-300, 1e-90, 1.0, 1e78, 1e155, 1e200, 1e308];
        for (a, b) in sizes.iter().flat_map(|&a| sizes.map(|b| (a, b))) {
            for (x, y) in [(18.6, 18.1), (0.0, 0.0), (1e-200, 1e200)] {
                let side = |mean, deviation| Sample::Published(Moments::new(10, mean, deviation).unwrap());
                let found = compare_family(&[Pair::new("seq write", "MB/s", side(x, a), side(y, b))]).pop().unwrap();
                let p = found.p_value.unwrap();
                assert!((0.0..=1.0).contains(&p), "{x} ± {a} against {y} ± {b}: {p}");
                serde_json::to_string(&found).unwrap();
            }
        }
        let wild = |mean| Sample::Published(Moments::new(10, mean, 1e200).unwrap());
        let found = compare_family(&[Pair::new("seq write", "MB/s", wild(18.6), wild(18.1))]).pop().unwrap();
        assert_eq!(found.verdict, Verdict::Undecided { needed: None });
    }

    #[test]
    fn what_does_not_vary_is_judged_by_its_digits() {
        assert_eq!(verdict(&[5.0; 3], &[5.000_000_1; 3]), Verdict::Equivalent);
        assert_eq!(verdict(&[5.0; 3], &[5.1; 3]), Verdict::Different);
        assert_eq!(verdict(&[0.0; 3], &[0.0; 3]), Verdict::Equivalent);
        assert_eq!(compare("x", "1/s", &[], &[1.0]), None);
    }
}
