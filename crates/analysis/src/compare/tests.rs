//! Tests of `compare`.

use super::*;
use crate::testing::runs;
use hakaru_model::rng::Rng;

fn verdict(a: &[f64], b: &[f64]) -> Verdict {
    compare("x", "1/s", a, b).unwrap().verdict
}

#[test]
fn clear_differences_are_different_and_carry_their_ratio() {
    let mut rng = Rng::new(3);
    let (a, b) = (
        runs(&mut rng, 10, 100.0, 0.02),
        runs(&mut rng, 10, 200.0, 0.02),
    );
    let found = compare("seq write bandwidth", "B/s", &a, &b).unwrap();
    assert_eq!(found.verdict, Verdict::Different);
    let (low, high) = found.ratio_ci95.unwrap();
    assert!(low < 2.0 && 2.0 < high && high - low < 0.1, "{low} {high}");
    assert!(
        found.p_adjusted == found.p_value
            && found.effect.unwrap() > 10.0
            && found.delta == Some(1.0)
    );
}

#[test]
fn equal_things_with_runs_enough_are_not_distinguished() {
    let mut rng = Rng::new(5);
    let (a, b) = (
        runs(&mut rng, 10, 100.0, 0.02),
        runs(&mut rng, 10, 100.0, 0.02),
    );
    assert_eq!(verdict(&a, &b), Verdict::Equivalent);
}

/// Regression: too few runs "showed no difference".
#[test]
fn equivalence_is_shown_by_two_one_sided_tests() {
    // scipy: max of ttest_ind(b, a / 1.05, equal_var=False, alternative="greater") and (b, a * 1.05, "less").
    let (a, b) = (
        [100.0, 101.0, 99.0, 100.5, 98.5],
        [101.0, 100.0, 102.0, 99.5, 100.5],
    );
    let found = compare("x", "1/s", &a, &b).unwrap();
    assert!(
        (found.p_equivalence.unwrap() - 0.000_105_880_159_684_813_18).abs() < 1e-9,
        "{found:?}"
    );
    assert_eq!(found.verdict, Verdict::Equivalent);
    let (a, b) = (
        crate::stats::samples::PLANT_CONTROL,
        crate::stats::samples::PLANT_TREATED,
    );
    let found = compare("x", "1/s", &a, &b).unwrap();
    assert!(
        (found.p_equivalence.unwrap() - 0.663_162_975_534_156_4).abs() < 0.02,
        "{found:?}"
    );
    assert!(
        matches!(found.verdict, Verdict::Undecided { needed: Some(11..) }),
        "{found:?}"
    );
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
        let pairs: Vec<SamplePair<'_>> = sides
            .iter()
            .map(|(a, b)| {
                SamplePair::new(
                    "x",
                    "1/s",
                    ComparedSample::Values(a),
                    ComparedSample::Values(b),
                )
            })
            .collect();
        for found in compare_family(&pairs) {
            assert_eq!(found.family, 6);
            let Some((low, high)) = found.ratio_ci95 else {
                continue;
            };
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

/// Regression: latency percentiles in the family of the rates turned "1.95x" into "inconclusive".
#[test]
fn secondary_figures_cost_the_primary_ones_nothing() {
    let (a, b) = ([337.0, 348.0], [695.0, 644.0]);
    let pair = |primary| SamplePair {
        primary,
        ..SamplePair::new(
            "x",
            "1/s",
            ComparedSample::Values(&a),
            ComparedSample::Values(&b),
        )
    };
    let found = compare_family(&[pair(true), pair(false), pair(false), pair(false)]);
    assert_eq!((found[0].verdict, found[0].family), (Verdict::Different, 1));
    assert!(
        found[1..]
            .iter()
            .all(|c| c.verdict != Verdict::Different && c.family == 3)
    );
}

#[test]
fn too_few_runs_say_how_many_would_do() {
    // A difference of 10% at 6% variation: two runs each are inconclusive.
    let found = verdict(&[100.0, 109.0], &[110.0, 118.0]);
    let Verdict::Undecided {
        needed: Some(needed),
    } = found
    else {
        panic!("{found:?}")
    };
    assert!((5..15).contains(&needed), "{needed}");
    assert_eq!(
        verdict(&[100.0], &[110.0]),
        Verdict::Undecided { needed: None }
    );
    // A single run uses the deviation of the other side.
    assert!(matches!(
        verdict(&[100.0], &[110.0, 112.0, 108.0]),
        Verdict::Undecided { needed: Some(_) }
    ));
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
    // A single test with p = 0.04 is different; as one of three it is not.
    let a = [337.0, 348.0];
    let b = [695.0, 644.0];
    let pair = |q: &str| {
        SamplePair::new(
            q,
            "1/s",
            ComparedSample::Values(&a),
            ComparedSample::Values(&b),
        )
    };
    let three = compare_family(&[pair("x"), pair("y"), pair("z")]);
    assert!(
        three
            .iter()
            .all(|c| c.verdict != Verdict::Different && c.p_adjusted > c.p_value)
    );
}

#[test]
fn published_means_and_deviations_can_be_compared() {
    // Two cards of a published table: 18.6 ± 0.6 and 18.1 ± 0.1 MB/s, ten runs each.
    let side = |mean, deviation| {
        ComparedSample::Published(SampleMoments::new(10, mean, deviation).unwrap())
    };
    let found = compare_family(&[SamplePair::new(
        "seq write",
        "MB/s",
        side(18.6, 0.6),
        side(18.1, 0.1),
    )])
    .pop()
    .unwrap();
    assert_eq!(found.verdict, Verdict::Different);
    // scipy.stats.ttest_ind_from_stats(18.6, .6, 10, 18.1, .1, 10, equal_var=False).pvalue
    assert!(
        (found.p_value.unwrap() - 0.027_578_869_4).abs() < 1e-9,
        "{:?}",
        found.p_value
    );
    assert_eq!(found.p_value_ranks, None);
}

/// Regression: such published values caused a panic.
#[test]
fn published_deviations_of_any_size_are_judged() {
    let sizes = [0.0, 1e-300, 1e-90, 1.0, 1e78, 1e155, 1e200, 1e308];
    for (a, b) in sizes.iter().flat_map(|&a| sizes.map(|b| (a, b))) {
        for (x, y) in [(18.6, 18.1), (0.0, 0.0), (1e-200, 1e200)] {
            let side = |mean, deviation| {
                ComparedSample::Published(SampleMoments::new(10, mean, deviation).unwrap())
            };
            let found =
                compare_family(&[SamplePair::new("seq write", "MB/s", side(x, a), side(y, b))])
                    .pop()
                    .unwrap();
            let p = found.p_value.unwrap();
            assert!((0.0..=1.0).contains(&p), "{x} ± {a} against {y} ± {b}: {p}");
            serde_json::to_string(&found).unwrap();
        }
    }
    let wild = |mean| ComparedSample::Published(SampleMoments::new(10, mean, 1e200).unwrap());
    let found = compare_family(&[SamplePair::new("seq write", "MB/s", wild(18.6), wild(18.1))])
        .pop()
        .unwrap();
    assert_eq!(found.verdict, Verdict::Undecided { needed: None });
}

#[test]
fn what_does_not_vary_is_judged_by_its_digits() {
    assert_eq!(verdict(&[5.0; 3], &[5.000_000_1; 3]), Verdict::Equivalent);
    assert_eq!(verdict(&[5.0; 3], &[5.1; 3]), Verdict::Different);
    assert_eq!(verdict(&[0.0; 3], &[0.0; 3]), Verdict::Equivalent);
    assert_eq!(compare("x", "1/s", &[], &[1.0]), None);
}

/// The figure is the upper edge of a bucket, which is up to 1/128 above the true percentile.
#[test]
fn percentiles_in_adjacent_buckets_are_not_different() {
    let verdict = |b: f64| {
        let [a, b] = [[8e6; 5], [b; 5]];
        let [a, b] = [&a, &b].map(|values| ComparedSample::Values(values));
        let pair = SamplePair {
            resolution: QUANTILE_RESOLUTION,
            ..SamplePair::new("read latency P99", "ns", a, b)
        };
        compare_family(&[pair]).pop().unwrap().verdict
    };
    for adjacent in [8e6 * (1.0 + 1.0 / 128.0), 8e6 / (1.0 + 1.0 / 128.0)] {
        assert_ne!(verdict(adjacent), Verdict::Different, "{adjacent}");
    }
    for apart in [8e6 * (1.0 + 3.0 / 128.0), 8e6 / (1.0 + 3.0 / 128.0)] {
        assert_eq!(verdict(apart), Verdict::Different, "{apart}");
    }
}

/// The deviation of the side with several runs is that of both, as a fraction of the mean; the difference is at least the
/// margin of 5% of the larger mean.
#[test]
fn a_single_run_is_planned_with_the_deviation_of_the_other_side() {
    // The mean of the known side is 200, with a deviation of 16: 8%.
    let known = [184.0, 200.0, 216.0];
    let others = [20.0, 30.0, 45.0];
    for (single, difference) in [
        (240.0, 40.0),
        (150.0, 50.0),
        (212.0, 12.0),
        // Less than 5% of the larger one.
        (200.0, 10.0),
        (205.0, 10.25),
        (195.0, 10.0),
    ] {
        let design = |deviation_a, deviation_b, family: f64| Design {
            difference,
            deviation_a,
            deviation_b,
            alpha: 0.05 / family,
        };
        let needed = stats::runs_needed(&design(0.08 * single, 16.0, 1.0), 0.8);
        assert!(
            needed.is_some_and(|runs| runs < 200),
            "{single}: {needed:?}"
        );
        let needed = Verdict::Undecided { needed };
        assert_eq!(verdict(&[single], &known), needed, "{single}");
        assert_eq!(verdict(&known, &[single]), needed, "{single}");
        // In a family with tests of two other figures.
        let [a, b, one] =
            [&known[..], &others, std::slice::from_ref(&single)].map(ComparedSample::Values);
        let tested = SamplePair::new("x", "1/s", a, b);
        let pairs = [tested.clone(), SamplePair::new("y", "1/s", one, a), tested];
        let needed = stats::runs_needed(&design(0.08 * single, 16.0, 2.0), 0.8);
        let found = compare_family(&pairs);
        assert_eq!(found[1].verdict, Verdict::Undecided { needed }, "{single}");
        assert_eq!((found[1].family, found[0].family), (0, 2));
    }
}

/// Runs per side are those for the observed difference, or for equivalence if that is closer.
#[test]
fn runs_needed_are_the_fewer_of_both_proofs() {
    let side = |mean, deviation| SampleMoments::new(2, mean, deviation).unwrap();
    let runs = |difference, alpha, power| {
        let design = Design {
            difference,
            deviation_a: 3.0,
            deviation_b: 4.0,
            alpha,
        };
        stats::runs_needed(&design, power).unwrap()
    };
    // The margin is 5% of the larger mean: 5. Near the middle, both one-sided tests need half of the error.
    for (b, family, expected) in [
        (80.0, 1, runs(20.0, 0.05, 0.8)),
        (92.0, 1, runs(8.0, 0.05, 0.8)),
        (92.0, 5, runs(8.0, 0.01, 0.8)),
        (96.0, 1, runs(4.0, 0.05, 0.8)),
        (98.0, 1, runs(3.0, 0.1, 0.8)),
        (98.0, 2, runs(3.0, 0.05, 0.8)),
        (98.5, 1, runs(3.5, 0.1, 0.8)),
        // A quarter of the margin is not near the middle any more.
        (98.75, 1, runs(3.75, 0.1, 0.8)),
        (99.0, 1, runs(4.0, 0.1, 0.9)),
        (100.0, 1, runs(5.0, 0.1, 0.9)),
    ] {
        let (a, b) = (side(100.0, 3.0), side(b, 4.0));
        assert_eq!(needed(&a, &b, family), Some(expected.max(3)), "{b:?}");
    }
}

/// Equal means are certainly equal only if neither side varies.
#[test]
fn equal_means_of_varying_runs_are_not_proven_equal() {
    // By hand: t is the difference from the margin, 100 − 100 / 1.05, divided by √(10²) (one side varies), or by
    // √(10² + 10² / 1.05²) with 1.995 degrees of freedom (both do).
    for (a, b, p) in [
        ([90.0, 110.0], [110.0, 90.0], 0.3816),
        ([100.0, 100.0], [90.0, 110.0], 0.3585),
        ([90.0, 110.0], [100.0, 100.0], 0.3585),
        ([100.0, 100.0], [100.0, 100.0], 0.0),
        ([0.0, 0.0], [0.0, 0.0], 0.0),
        // Without variation, 4% apart is certainly within the margin, and 20% apart is not.
        ([100.0, 100.0], [104.0, 104.0], 0.0),
        ([100.0, 100.0], [120.0, 120.0], 1.0),
        ([120.0, 120.0], [100.0, 100.0], 1.0),
    ] {
        let found = compare("x", "1/s", &a, &b).unwrap();
        let p_equivalence = found.p_equivalence.unwrap();
        assert!((p_equivalence - p).abs() < 1e-3, "{a:?} {b:?}: {found:?}");
        assert_eq!(found.is_little(), p < 0.05, "{a:?} {b:?}");
        let verdict = match found.verdict {
            Verdict::Undecided { .. } => p > 0.05,
            Verdict::Equivalent => p == 0.0 && a == b,
            Verdict::Different => a[0] == a[1] && b[0] == b[1] && a != b,
        };
        assert!(verdict, "{a:?} {b:?}: {found:?}");
    }
}

/// Both rates must be known: by run, or as a published mean with its deviation.
#[test]
fn a_phase_has_a_rate_if_both_rates_are_known() {
    let base = crate::testing::read_series(1, 30e6, 0.01).phases.remove(0);
    for (bandwidth, iops, stated, expected) in [
        (true, true, None, true),
        (true, false, None, false),
        (false, true, None, false),
        (false, false, None, false),
        (true, false, Some(5), true),
        (false, true, Some(5), true),
        (false, false, Some(5), true),
        // One published run has no deviation.
        (false, true, Some(1), false),
        (true, true, Some(1), true),
    ] {
        let mut phase = base.clone();
        phase.detail.stated_runs = stated;
        if !bandwidth {
            phase.bandwidth.values.clear();
        }
        if !iops {
            phase.iops.values.clear();
        }
        assert_eq!(has_rate(&phase), expected, "{bandwidth} {iops} {stated:?}");
    }
}
