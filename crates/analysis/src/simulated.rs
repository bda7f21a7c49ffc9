//! Tests of the statistics with thousands of simulated campaigns.
//!
//! Seeds are fixed, so that a failure is caused by a change of the code, not by chance. Requirements: 95% intervals
//! cover the true value in 93 to 97% of campaigns, or have a caveat. A card compared with itself is called different in
//! at most 5% of campaigns, for any number of figures. Ten runs detect a true difference of 5% at 2% spread in at least
//! 95%. `HAKARU_LONG_TESTS=1` uses ten times as many campaigns.

use crate::compare::{ComparedSample, SamplePair};
use crate::stats::{self, SampleMoments};
use crate::testing::{Fake, normal, run_of, runs};
use crate::{compare_family, compare_summaries, summarize};
use hakaru_model::finding::{Comparison, Summary, Verdict};
use hakaru_model::job::Op;
use hakaru_model::rng::Rng;

/// Returns the fraction of campaigns whose interval covers the true value.
fn coverage(
    campaigns: u32,
    seed: u64,
    truth: f64,
    interval: impl Fn(&mut Rng) -> (f64, f64),
) -> f64 {
    let mut rng = Rng::new(seed);
    let covers = |_: &u32| {
        let (low, high) = interval(&mut rng);
        low <= truth && truth <= high
    };
    (0..campaigns).filter(covers).count() as f64 / f64::from(campaigns)
}

#[track_caller]
fn assert_covers(share: f64) {
    assert!((0.93..=0.97).contains(&share), "covers {share}");
}

/// Draws runs with realistic skew: mostly near the best, sometimes a slow one. Mean 100, spread about 3%.
fn skewed(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n)
        .map(|_| 100.0 + 3.0 * (1.0 + (1.0 - rng.unit()).ln()).max(-4.0))
        .collect()
}

#[test]
fn intervals_of_the_mean_cover_it() {
    for (n, seed) in [(2, 1), (3, 2), (5, 3), (10, 4), (30, 5)] {
        assert_covers(coverage(8_000, seed, 100.0, |rng| {
            stats::mean_interval(
                &SampleMoments::of(&runs(rng, n, 100.0, 0.02)).unwrap(),
                0.95,
            )
            .unwrap()
        }));
    }
}

/// Repeats runs until the half-width of the interval is within 2% of the mean, and returns its ends.
fn until_known(rng: &mut Rng, at_least: usize, spread: f64) -> (f64, f64) {
    let mut values = runs(rng, at_least, 100.0, spread);
    loop {
        let moments = SampleMoments::of(&values).unwrap();
        if values.len() == 20
            || stats::relative_error(&moments, 0.95).is_some_and(|error| error <= 0.02)
        {
            return stats::mean_interval(&moments, 0.95).unwrap();
        }
        values.extend(runs(rng, 1, 100.0, spread));
    }
}

#[test]
fn stopping_once_an_interval_is_narrow_costs_a_few_percent_of_coverage() {
    for (at_least, least, seed) in [(3, 0.89, 50), (5, 0.91, 51)] {
        for spread in [0.01, 0.02, 0.03, 0.05] {
            let share = coverage(4_000, seed, 100.0, |rng| until_known(rng, at_least, spread));
            assert!(
                (least..0.97).contains(&share),
                "at least {at_least}, spread {spread}: covers {share}"
            );
        }
    }
}

#[test]
fn intervals_of_the_mean_cover_it_when_noise_is_even() {
    // Uniform noise, as in the simulated card.
    let draw = |rng: &mut Rng| (0..10).map(|_| 98.0 + 4.0 * rng.unit()).collect::<Vec<_>>();
    assert_covers(coverage(8_000, 6, 100.0, |rng| {
        stats::mean_interval(&SampleMoments::of(&draw(rng)).unwrap(), 0.95).unwrap()
    }));
}

/// Returns the number of campaigns; ten times as many in long tests.
fn campaigns(short: u32) -> u32 {
    if std::env::var_os("HAKARU_LONG_TESTS").is_some() {
        short * 10
    } else {
        short
    }
}

/// Distribution of runs around 100.
#[derive(Clone, Copy, Debug, PartialEq)]
enum NoiseShape {
    Normal,
    Skewed,
    TwoModes,
    Dependent,
}

impl NoiseShape {
    const ALL: [NoiseShape; 4] = [
        NoiseShape::Normal,
        NoiseShape::Skewed,
        NoiseShape::TwoModes,
        NoiseShape::Dependent,
    ];

    fn draw(self, rng: &mut Rng, n: usize) -> Vec<f64> {
        match self {
            NoiseShape::Normal => runs(rng, n, 100.0, 0.02),
            NoiseShape::Skewed => skewed(rng, n),
            // Two of three runs at one level, the third 10% below.
            NoiseShape::TwoModes => {
                let level = |rng: &mut Rng| {
                    if rng.unit() < 2.0 / 3.0 {
                        310.0 / 3.0
                    } else {
                        280.0 / 3.0
                    }
                };
                (0..n).map(|_| level(rng) + 0.5 * normal(rng)).collect()
            }
            // Each run inherits 0.4 of the previous run's deviation.
            NoiseShape::Dependent => {
                let mut off = normal(rng);
                let next = |off: &mut f64, rng: &mut Rng| {
                    *off = 0.4 * *off + (1.0 - 0.16_f64).sqrt() * normal(rng)
                };
                (0..n)
                    .map(|_| {
                        next(&mut off, rng);
                        100.0 + 2.0 * off
                    })
                    .collect()
            }
        }
    }
}

/// Interval, and whether it has a caveat.
type Printed = ((f64, f64), bool);

/// Checks an interval at each number of runs for which it is printed, and for each kind of noise.
#[track_caller]
fn check_every_shape(
    seed: u64,
    of: u32,
    fewest: usize,
    truth: f64,
    interval: impl Fn(&mut Rng, NoiseShape, usize) -> Printed,
) {
    for (n, noise) in [2, 3, 5, 10, 20]
        .into_iter()
        .flat_map(|n| NoiseShape::ALL.map(|noise| (n, noise)))
    {
        if n < fewest {
            continue;
        }
        let mut rng = Rng::new(seed + n as u64);
        let all = campaigns(of);
        let (mut covered, mut warned, mut either) = (0, 0, 0);
        for _ in 0..all {
            let ((low, high), caveat) = interval(&mut rng, noise, n);
            let covers = low <= truth && truth <= high;
            covered += u32::from(covers);
            warned += u32::from(caveat);
            either += u32::from(covers || caveat);
        }
        let share = |count: u32| f64::from(count) / f64::from(all);
        let counts = format!(
            "n = {n}, {noise:?}: covers {}, caveat on {}",
            share(covered),
            share(warned)
        );
        if noise == NoiseShape::Normal {
            // With a caveat on the line, an interval may be slightly wide.
            let most = if n < stats::FEW_VALUES { 0.985 } else { 0.97 };
            assert!((0.93..=most).contains(&share(covered)), "{counts}");
        }
        assert!(
            share(either) >= 0.93,
            "{counts}: covers or says why not {}",
            share(either)
        );
    }
}

#[test]
fn intervals_of_means_cover_or_say_why_not() {
    check_every_shape(100, 4_000, 2, 100.0, |rng, noise, n| {
        let found = crate::estimate(&noise.draw(rng, n)).unwrap();
        (found.ci95.unwrap(), !found.interval_caveats.is_empty())
    });
}

#[test]
fn intervals_of_ratios_cover_or_say_why_not() {
    check_every_shape(200, 1_500, 2, 1.5, |rng, noise, n| {
        let b: Vec<f64> = noise.draw(rng, n).into_iter().map(|v| 1.5 * v).collect();
        let (a, b) = (
            crate::estimate(&noise.draw(rng, n)).unwrap(),
            crate::estimate(&b).unwrap(),
        );
        let of = |e: &hakaru_model::finding::Estimate| SampleMoments::of(&e.values).unwrap();
        let found = stats::ratio_interval(&of(&a), &of(&b), 0.95, 0.0).unwrap();
        (
            found,
            !(a.interval_caveats.is_empty() && b.interval_caveats.is_empty()),
        )
    });
}

#[test]
fn intervals_of_effects_cover_or_say_why_not() {
    // The deviation is that of the noise, so that the true effect is 1.5 in all cases.
    let deviation = |noise: NoiseShape| match noise {
        NoiseShape::Normal | NoiseShape::Dependent => 2.0,
        NoiseShape::Skewed => 2.93,
        NoiseShape::TwoModes => (10.0_f64.powi(2) * 2.0 / 9.0 + 0.25).sqrt(),
    };
    check_every_shape(300, 1_200, 2, 1.5, |rng, noise, n| {
        let b: Vec<f64> = noise
            .draw(rng, n)
            .into_iter()
            .map(|v| v + 1.5 * deviation(noise))
            .collect();
        let found = crate::compare::compare("x", "1/s", &noise.draw(rng, n), &b).unwrap();
        (
            found.effect_ci95.unwrap(),
            !found.interval_caveats.is_empty(),
        )
    });
}

/// Regression: the interval was multiplied by the correction of g, and covered 67 to 72% at n = 2.
#[test]
fn intervals_of_large_effects_cover_them_at_two_runs() {
    for (n, effect) in [(2, 0.5), (2, 3.0), (2, 10.0), (3, 5.0), (10, 2.5)] {
        assert_covers(coverage(campaigns(2_000), 13, effect, |rng| {
            let a: Vec<f64> = (0..n).map(|_| 100.0 + normal(rng)).collect();
            let b: Vec<f64> = (0..n).map(|_| 100.0 + effect + normal(rng)).collect();
            stats::hedges_g(
                &SampleMoments::of(&a).unwrap(),
                &SampleMoments::of(&b).unwrap(),
                0.95,
            )
            .unwrap()
            .interval
        }));
    }
}

/// The bootstrap covers 76% at n = 3 and 90% at n = 5, and is not shown there.
#[test]
fn bootstrap_intervals_cover_or_say_why_not() {
    let mut phase = crate::testing::read_series(1, 30e6, 0.01).phases[0].clone();
    for n in 2..crate::repeated::FEWEST_RESAMPLED {
        phase.bandwidth = crate::estimate(&runs(&mut Rng::new(1), n, 100.0, 0.02)).unwrap();
        assert_eq!(
            crate::repeated(&phase).unwrap().bootstrap_ci95,
            None,
            "n = {n}"
        );
    }
    let phase = std::cell::RefCell::new(phase);
    check_every_shape(
        400,
        1_200,
        crate::repeated::FEWEST_RESAMPLED,
        100.0,
        |rng, noise, n| {
            let mut phase = phase.borrow_mut();
            phase.bandwidth = crate::estimate(&noise.draw(rng, n)).unwrap();
            let found = crate::repeated(&phase).unwrap().bootstrap_ci95.unwrap();
            (found, !phase.bandwidth.interval_caveats.is_empty())
        },
    );
}

/// Regression: runs that inherit 0.6 of the previous run's deviation gave 33% false "different".
#[test]
fn dependent_runs_raise_few_false_alarms() {
    let mut rng = Rng::new(60);
    let draw = |rng: &mut Rng, n: usize| {
        let mut off = normal(rng);
        (0..n)
            .map(|_| {
                off = 0.6 * off + 0.8 * normal(rng);
                100.0 + 2.0 * off
            })
            .collect::<Vec<_>>()
    };
    for n in [5, 10, 20] {
        let all = campaigns(1_000);
        let (mut alarms, mut silent) = (0, 0);
        for _ in 0..all {
            let found = crate::compare::compare("x", "1/s", &draw(&mut rng, n), &draw(&mut rng, n))
                .unwrap();
            let different = found.verdict == Verdict::Different;
            alarms += u32::from(different);
            silent += u32::from(different && found.interval_caveats.is_empty());
        }
        let share = |count: u32| f64::from(count) / f64::from(all);
        assert!(
            share(alarms) <= [0.27, 0.21, 0.11][n / 8] && share(silent) <= 0.07,
            "n = {n}: {} {}",
            share(alarms),
            share(silent)
        );
    }
}

/// Means that are 5% apart are called equivalent in at most 5% of campaigns, and equal means in most.
#[test]
fn equivalence_is_seldom_claimed_falsely() {
    let mut rng = Rng::new(70);
    let mut equivalent = |n: usize, apart: f64| {
        let all = campaigns(2_000);
        let claimed = (0..all)
            .filter(|_| {
                let (a, b) = (
                    runs(&mut rng, n, 100.0, 0.02),
                    runs(&mut rng, n, 100.0 * apart, 0.02),
                );
                crate::compare::compare("x", "1/s", &a, &b).unwrap().verdict == Verdict::Equivalent
            })
            .count();
        claimed as f64 / f64::from(all)
    };
    for n in [3, 5, 10, 20] {
        let share = equivalent(n, 1.05);
        assert!(share <= 0.06, "n = {n}: {share}");
    }
    assert!(equivalent(10, 1.0) >= 0.9 && equivalent(3, 1.0) < 0.7);
}

/// Compares eight figures of two campaigns of `n` runs each, as one family.
fn family(
    rng: &mut Rng,
    n: usize,
    draw: impl Fn(&mut Rng, usize, usize) -> (Vec<f64>, Vec<f64>),
) -> Vec<Comparison> {
    let sides: Vec<_> = (0..8).map(|i| draw(rng, n, i)).collect();
    let pair = |(i, (a, b)): (usize, &'_ (Vec<f64>, Vec<f64>))| {
        (format!("figure {i}"), a.clone(), b.clone())
    };
    let named: Vec<_> = sides.iter().enumerate().map(pair).collect();
    let pairs: Vec<SamplePair<'_>> = named
        .iter()
        .map(|(name, a, b)| {
            SamplePair::new(
                name.clone(),
                "1/s",
                ComparedSample::Values(a),
                ComparedSample::Values(b),
            )
        })
        .collect();
    compare_family(&pairs)
}

fn cries(found: &[Comparison]) -> bool {
    found.iter().any(|c| c.verdict == Verdict::Different)
}

/// Returns the fraction of campaigns in which a card compared with itself is called different.
fn false_alarms(
    campaigns: u32,
    seed: u64,
    n: usize,
    draw: impl Fn(&mut Rng, usize) -> Vec<f64> + Copy,
) -> f64 {
    let mut rng = Rng::new(seed);
    let both = |rng: &mut Rng, n: usize, _: usize| (draw(rng, n), draw(rng, n));
    let alarms = (0..campaigns)
        .filter(|_| cries(&family(&mut rng, n, both)))
        .count();
    alarms as f64 / f64::from(campaigns)
}

#[test]
fn a_card_compared_with_itself_is_called_different_in_at_most_5_percent() {
    for (n, seed, campaigns) in [(2, 20, 1_000), (5, 21, 1_000), (10, 22, 2_000)] {
        let share = false_alarms(campaigns, seed, n, |rng, n| runs(rng, n, 100.0, 0.02));
        assert!(share <= 0.05, "n = {n}: {share}");
    }
    let share = false_alarms(1_000, 23, 10, skewed);
    assert!(share <= 0.05, "skewed: {share}");
}

#[test]
fn a_difference_of_5_percent_at_2_percent_spread_is_found_by_ten_runs() {
    let mut rng = Rng::new(30);
    // One of eight figures differs, then all differ.
    for only_one in [true, false] {
        let (mut found, mut looked_for) = (0, 0);
        for _ in 0..1_000 {
            let draw = |rng: &mut Rng, n: usize, i: usize| {
                let differs = i == 0 || !only_one;
                (
                    runs(rng, n, 100.0, 0.02),
                    runs(rng, n, if differs { 105.0 } else { 100.0 }, 0.02),
                )
            };
            let compared = family(&mut rng, 10, draw);
            let relevant = &compared[..if only_one { 1 } else { 8 }];
            found += relevant
                .iter()
                .filter(|c| c.verdict == Verdict::Different)
                .count();
            looked_for += relevant.len();
        }
        let share = found as f64 / looked_for as f64;
        assert!(share >= 0.95, "only one: {only_one}, found {share}");
    }
}

#[test]
fn the_runs_said_to_be_needed_do_find_the_difference() {
    // After two campaigns that are too short, measure again with the number of runs that the verdict recommends.
    let mut rng = Rng::new(31);
    let (mut asked, mut found) = (0, 0);
    while asked < 300 {
        let first = crate::compare::compare(
            "x",
            "1/s",
            &runs(&mut rng, 4, 100.0, 0.06),
            &runs(&mut rng, 4, 110.0, 0.06),
        );
        let Some(Verdict::Undecided {
            needed: Some(needed),
        }) = first.map(|c| c.verdict)
        else {
            continue;
        };
        asked += 1;
        let n = needed.min(100) as usize;
        let again = crate::compare::compare(
            "x",
            "1/s",
            &runs(&mut rng, n, 100.0, 0.06),
            &runs(&mut rng, n, 110.0, 0.06),
        );
        found += u32::from(again.is_some_and(|c| c.verdict == Verdict::Different));
    }
    // The power of 80% applies to the observed difference, which is smaller or larger than the true one by chance.
    assert!(found >= 240, "{found} of {asked}");
}

/// Returns a series of `n` runs of four phases on a card with `speed` times the usual figures and 2% spread between
/// runs.
fn series(rng: &mut Rng, n: u32, speed: f64) -> Summary {
    let mib = 1 << 20;
    let mut run = |repeat: u32| {
        let mut fake = |name, op, random, block: u64, iops: f64| {
            let iops = iops * speed * (1.0 + 0.02 * normal(rng));
            Fake {
                name,
                op,
                random,
                block,
                iops,
                seconds: 10,
                sync_ms: None,
            }
        };
        let phases = [
            fake("seq-write", Op::Write, false, mib, 30.0),
            fake("seq-read", Op::Read, false, mib, 40.0),
            fake("rand-write", Op::Write, true, 4096, 60.0),
            fake("rand-read", Op::Read, true, 4096, 90.0),
        ];
        run_of(repeat, &phases)
    };
    summarize(&(0..n).map(&mut run).collect::<Vec<_>>())
}

#[test]
fn the_promises_hold_from_record_to_verdict() {
    let mut rng = Rng::new(40);
    let campaigns = 150;
    let (mut alarms, mut found, mut pairs) = (0, 0, 0);
    for _ in 0..campaigns {
        let (a, again, faster) = (
            series(&mut rng, 10, 1.0),
            series(&mut rng, 10, 1.0),
            series(&mut rng, 10, 1.05),
        );
        alarms += u32::from(cries(&compare_summaries(&a, &again)));
        let compared = compare_summaries(&a, &faster);
        let rates: Vec<_> = compared.iter().filter(|c| *c.unit != *"ns").collect();
        assert_eq!(rates.len(), 4);
        pairs += rates.len();
        found += rates
            .iter()
            .filter(|c| c.verdict == Verdict::Different)
            .count();
    }
    // 150 campaigns with a true rate of 4.5% give up to 13 alarms, except once in fifty times.
    assert!(alarms <= 13, "{alarms} false alarms in {campaigns}");
    assert!(found as f64 >= 0.95 * pairs as f64, "{found} of {pairs}");
}
