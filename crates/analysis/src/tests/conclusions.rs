//! Conclusions of comparisons whose ratios and verdicts are set.

use crate::compare::common_phases;
use crate::testing::{Fake, run_of};
use crate::{compare_summaries, conclude_pair, summarize};
use hakaru_model::conclusion::{ConcludedRate, PairConclusion};
use hakaru_model::finding::{Comparison, Summary, Verdict};
use hakaru_model::job::Op;
use hakaru_model::units::Nanos;

/// Phases of a side: name, operation, random, block, and I/Os per second.
type Phases<'a> = &'a [(&'static str, Op, bool, u64, f64)];

/// A series of runs that differ by some thousandths.
fn series(phases: Phases<'_>, runs: u32) -> Summary {
    let run = |repeat: u32| {
        let off = 1.0 + 0.002 * (f64::from(repeat * 3 % 5) - 2.0);
        let fake = |&(name, op, random, block, iops): &(&'static str, Op, bool, u64, f64)| Fake {
            name,
            op,
            random,
            block,
            iops: iops * off,
            seconds: 2,
            sync_ms: None,
        };
        run_of(repeat, &phases.iter().map(fake).collect::<Vec<_>>())
    };
    summarize(&(0..runs).map(run).collect::<Vec<_>>())
}

const SMALL: u64 = 4096;

/// Three rates of one kind each.
const THREE: Phases<'static> = &[
    ("x", Op::Read, true, SMALL, 1000.0),
    ("y", Op::Write, true, SMALL, 300.0),
    ("z", Op::Write, false, 1 << 20, 30.0),
];

/// Concludes two sides after the comparison of each rate is changed, in the order of the phases.
fn conclude(a: &Summary, b: &Summary, changes: &[(f64, Verdict)]) -> Option<PairConclusion> {
    let mut comparisons = compare_summaries(a, b);
    let rates: Vec<&mut Comparison> = comparisons.iter_mut().filter(|c| c.primary).collect();
    assert_eq!(rates.len(), changes.len());
    for (comparison, &(ratio, verdict)) in rates.into_iter().zip(changes) {
        (comparison.ratio, comparison.verdict) = (ratio, verdict);
    }
    conclude_pair(&common_phases(a, b), &comparisons)
}

const OPEN: Verdict = Verdict::Undecided { needed: Some(7) };

/// Ends of the range, of the rates with a positive ratio.
#[test]
fn single_runs_have_the_range_of_the_positive_ratios() {
    let side = series(THREE, 1);
    for (ratios, ends, higher) in [
        ([2.0, 0.5, 1.0], Some(["y", "x"]), 1),
        ([1.5, 3.0, 1.0], Some(["z", "y"]), 2),
        ([0.0, 0.5, 2.0], Some(["y", "z"]), 1),
        ([0.0, 0.0, 0.5], Some(["z", "z"]), 0),
        ([0.0, 0.0, 0.0], None, 0),
    ] {
        let found = conclude(&side, &side, &ratios.map(|ratio| (ratio, OPEN)));
        let Some(ends) = ends else {
            assert_eq!(found, None);
            continue;
        };
        let Some(PairConclusion::Single(found)) = found else {
            panic!("{found:?}");
        };
        assert_eq!([&found.lowest.phase, &found.highest.phase], ends);
        assert_eq!((found.higher, found.of), (higher, 3), "{ratios:?}");
    }
}

/// Two random reads of 4 KiB are of one kind, also at different sizes; writes and sequential reads are of others.
#[test]
fn rates_of_one_kind_are_ambiguous() {
    let two = [THREE, &[("w", Op::Read, true, 16_384, 500.0)]].concat();
    for (phases, ambiguous) in [(THREE.to_vec(), ["", ""]), (two, ["x", "w"])] {
        let side = series(&phases, 3);
        for (place, (name, ..)) in phases.iter().enumerate() {
            let change = |i| (if i == place { 2.0 } else { 1.5 }, Verdict::Different);
            let changes: Vec<_> = (0..phases.len()).map(change).collect();
            let Some(PairConclusion::Faster(found)) = conclude(&side, &side, &changes) else {
                panic!("{name} differs");
            };
            assert_eq!(found.rate.phase, *name);
            assert_eq!(found.rate.ambiguous, ambiguous.contains(name), "{name}");
        }
    }
}

/// Small blocks are rated by IOPS, large ones by bandwidth.
#[test]
fn the_unit_and_the_shape_of_the_rate_are_those_of_its_phase() {
    let side = series(THREE, 3);
    for (place, (by_iops, op, random, mean)) in [
        (true, Op::Read, true, 1000.0),
        (true, Op::Write, true, 300.0),
        (false, Op::Write, false, 30.0 * 1_048_576.0),
    ]
    .into_iter()
    .enumerate()
    {
        let change = |i| (if i == place { 2.0 } else { 1.0 }, OPEN);
        let changes: Vec<_> = (0..3).map(change).collect();
        let Some(PairConclusion::Open { rate, needed, .. }) = conclude(&side, &side, &changes)
        else {
            panic!("nothing is proven");
        };
        let shape = rate.shape.map(|shape| shape.random);
        assert_eq!((rate.by_iops, rate.op, shape), (by_iops, op, Some(random)));
        assert!((rate.means[0] / mean - 1.0).abs() < 0.01, "{rate:?}");
        assert_eq!((needed, rate.runs), (Some(7), [3, 3]));
    }
}

/// Divisor first: the slower side, then the faster one.
#[test]
fn the_rate_of_the_faster_side_has_means_and_runs_in_order() {
    let fast: Vec<_> = THREE
        .iter()
        .map(|&(name, op, random, block, iops)| (name, op, random, block, iops * 2.0))
        .collect();
    let (slow, fast) = (series(THREE, 3), series(&fast, 4));
    let conclude = |a: &Summary, b: &Summary| match conclude_pair(
        &common_phases(a, b),
        &compare_summaries(a, b),
    ) {
        Some(PairConclusion::Faster(found)) => found,
        other => panic!("{other:?}"),
    };
    let (forward, back) = (conclude(&slow, &fast), conclude(&fast, &slow));
    assert!(forward.second && !back.second);
    for found in [&forward, &back] {
        let ConcludedRate {
            means: [low, high],
            ratio,
            ..
        } = found.rate;
        assert!((ratio - 2.0).abs() < 0.02 && (high / low - ratio).abs() < 1e-9);
        assert_eq!(found.rate.runs, [3, 4]);
        assert_eq!((found.faster, found.slower, found.of), (3, 0, 3));
        let (low, high) = found.rate.ratio_ci95.unwrap();
        assert!(1.95 < low && low < ratio && ratio < high && high < 2.05);
        // Both sides vary by some thousandths, and the ratio by the root of the sum of squares.
        let deviation = found.deviation.unwrap();
        assert!((0.004..0.015).contains(&deviation), "{deviation}");
    }
    let deviations = [forward, back].map(|found| found.deviation.unwrap());
    assert!((deviations[0] / deviations[1] - 1.0).abs() < 0.01);
}

/// Proven differences come first, then equivalence of all, then the open rate with the largest ratio.
#[test]
fn the_conclusion_follows_the_verdicts() {
    let side = series(THREE, 3);
    let (different, same) = (Verdict::Different, Verdict::Equivalent);
    let conclude = |changes: [(f64, Verdict); 3]| conclude(&side, &side, &changes).unwrap();
    for (changes, phase, second, counts) in [
        (
            [(2.0, different), (9.0, OPEN), (1.0, same)],
            "x",
            true,
            (1, 0),
        ),
        (
            [(2.0, different), (0.4, different), (1.0, same)],
            "y",
            false,
            (1, 1),
        ),
        (
            [(2.0, different), (3.0, different), (0.5, different)],
            "y",
            true,
            (2, 1),
        ),
        (
            [(0.0, different), (1.1, different), (1.0, same)],
            "y",
            true,
            (1, 1),
        ),
    ] {
        let PairConclusion::Faster(found) = conclude(changes) else {
            panic!("{changes:?}");
        };
        assert_eq!((found.rate.phase.as_str(), found.second), (phase, second));
        assert_eq!((found.faster, found.slower), counts, "{changes:?}");
    }
    let all = PairConclusion::Equivalent { of: 3 };
    assert_eq!(conclude([(1.01, same), (1.0, same), (0.99, same)]), all);
    for (changes, wanted, equivalent) in [
        ([(1.3, OPEN), (0.5, OPEN), (1.0, same)], "y", 1),
        ([(1.3, OPEN), (9.0, same), (1.0, same)], "x", 2),
        ([(1.3, OPEN), (1.2, OPEN), (1.4, OPEN)], "z", 0),
    ] {
        let PairConclusion::Open {
            rate, level, of, ..
        } = conclude(changes)
        else {
            panic!("{changes:?}");
        };
        assert_eq!((rate.phase.as_str(), level, of), (wanted, equivalent, 3));
    }
}

/// Ten seconds on both sides are long enough; an unknown time is not held against a rate.
#[test]
fn rates_brief_on_one_side_are_not_at_an_end() {
    let mut side = series(THREE, 1);
    for phase in &mut side.phases {
        phase.detail.measured = Nanos::from_secs(10);
    }
    let changes = [(9.0, OPEN), (0.5, OPEN), (2.0, OPEN)];
    for (on_a, on_b, highest) in [
        (10_000, 10_000, "x"),
        (9_999, 10_000, "z"),
        (10_000, 9_999, "z"),
        (1, 1, "z"),
        (0, 10_000, "x"),
        (10_000, 0, "x"),
        (0, 0, "x"),
        (0, 9_999, "z"),
    ] {
        let [a, b] = [on_a, on_b].map(|millis| {
            let mut side = side.clone();
            side.phases[0].detail.measured = Nanos::from_millis(millis);
            side
        });
        assert_eq!(a.phases[0].phase, "x");
        let Some(PairConclusion::Single(found)) = conclude(&a, &b, &changes) else {
            panic!("one run proves nothing");
        };
        let ends = [&found.lowest.phase, &found.highest.phase];
        assert_eq!(ends, ["y", highest], "{on_a} {on_b}");
        // All rates count for the direction.
        assert_eq!((found.higher, found.of), (2, 3));
    }
}

/// Writes with syncs are of another kind than those without, however they sync.
#[test]
fn durable_writes_are_told_apart_from_others() {
    let phases = [
        ("v", Op::Write, true, SMALL, 300.0),
        ("w", Op::Write, true, SMALL, 200.0),
    ];
    let base = series(&phases, 3);
    let changes = [(2.0, Verdict::Different), (1.5, Verdict::Different)];
    let (none, open) = ((0, false), (0, true));
    for (v, w, ambiguous) in [
        (none, none, true),
        (none, (1, false), false),
        ((8, false), none, false),
        (none, open, false),
        (open, none, false),
        ((1, false), (8, false), true),
        ((1, false), open, true),
        ((1, true), open, true),
        ((1, true), none, false),
    ] {
        let mut side = base.clone();
        for (phase, (every, open)) in side.phases.iter_mut().zip([v, w]) {
            let shape = phase.detail.shape.as_mut().unwrap();
            (shape.sync_every, shape.sync_open) = (every, open);
        }
        let Some(PairConclusion::Faster(found)) = conclude(&side, &side, &changes) else {
            panic!("both rates differ");
        };
        assert_eq!(found.rate.phase, "v");
        assert_eq!(found.rate.ambiguous, ambiguous, "{v:?} {w:?}");
    }
}

/// The inverse of an interval from 0 has no upper end, so there is none.
#[test]
fn the_interval_of_the_inverse_ratio_is_inverse() {
    let side = series(THREE, 3);
    let phases = common_phases(&side, &side);
    for (ratio, interval, second, expected) in [
        (0.25, Some((0.2, 0.5)), false, Some((2.0, 5.0))),
        (0.25, Some((0.0, 0.5)), false, None),
        (0.25, None, false, None),
        (4.0, Some((2.0, 5.0)), true, Some((2.0, 5.0))),
        (4.0, None, true, None),
    ] {
        let mut comparisons = compare_summaries(&side, &side);
        let first = comparisons.iter_mut().find(|c| c.primary).unwrap();
        (first.ratio, first.verdict) = (ratio, Verdict::Different);
        first.ratio_ci95 = interval;
        let Some(PairConclusion::Faster(found)) = conclude_pair(&phases, &comparisons) else {
            panic!("one rate differs");
        };
        assert_eq!((found.second, found.rate.ratio), (second, 4.0));
        assert_eq!(found.rate.ratio_ci95, expected, "{interval:?}");
    }
}
