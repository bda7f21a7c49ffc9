//! Checks of samples at their limits: correlation, shape, outliers, and coverage after optional stopping.

use crate::stats::samples::close;
use crate::stats::{
    SampleMoments, Shape, StoppingRule, effective_runs, lag1, outliers, shape, stopping_coverage,
};

/// Returns `blocks` blocks of `length` equal values, alternately one below and one above 10.
fn blocks(length: usize, blocks: usize) -> Vec<f64> {
    (0..length * blocks)
        .map(|i| {
            if (i / length).is_multiple_of(2) {
                9.0
            } else {
                11.0
            }
        })
        .collect()
}

/// Of n - 1 neighbors, one pair less than there are blocks differ: r₁ = (n - 2 blocks + 1) / n.
#[test]
fn effective_runs_follow_the_correlation_of_blocks() {
    let table = [
        // Below 20 values, ρ is r₁ · (1 - 5/2n).
        (3, 2, 0.5 * (1.0 - 2.5 / 6.0)),
        (5, 2, 0.7 * 0.75),
        (4, 4, 9.0 / 16.0 * (1.0 - 2.5 / 16.0)),
        (9, 2, 15.0 / 18.0 * (1.0 - 2.5 / 18.0)),
        (3, 6, 7.0 / 18.0 * (1.0 - 2.5 / 18.0)),
        // From 20 values on, it is r₁ + 1.2/n, slightly more than the bias of about 1/n.
        (5, 4, 13.0 / 20.0 + 1.2 / 20.0),
        (4, 6, 13.0 / 24.0 + 1.2 / 24.0),
        (10, 4, 33.0 / 40.0 + 1.2 / 40.0),
        (2, 50, 1.0 / 100.0 + 1.2 / 100.0),
        // It is at least 0 and at most 0.9.
        (1, 12, 0.0),
        (1, 40, 0.0),
        (50, 2, 0.9),
    ];
    for (length, count, rho) in table {
        let values = blocks(length, count);
        let n = values.len() as f64;
        let expected = (n * (1.0 - rho) / (1.0 + rho)).max(1.5);
        let pairs = n - 2.0 * count as f64 + 1.0;
        close(lag1(&values).unwrap(), pairs / n, 1e-12);
        close(effective_runs(&values), expected, 1e-9);
        close(
            SampleMoments::of(&values).unwrap().effective,
            expected,
            1e-9,
        );
    }
    // At least 1.5: ten values below and ten above.
    assert_eq!(effective_runs(&blocks(10, 2)), 1.5);
    // Nine below, one in the middle and nine above: r₁ = 16/18.
    let mut values = blocks(9, 2);
    values.insert(9, 10.0);
    let rho = 16.0 / 18.0 * (1.0 - 2.5 / 19.0);
    close(
        effective_runs(&values),
        19.0 * (1.0 - rho) / (1.0 + rho),
        1e-9,
    );
}

#[test]
fn values_that_do_not_vary_have_no_correlation() {
    for value in [0.0, -0.0, 1.0, -7.5, 1e15, 1e-320] {
        for n in [3, 5, 8, 30] {
            let values = vec![value; n];
            assert_eq!(lag1(&values), None, "{value}");
            close(effective_runs(&values), n as f64, 1e-12);
            assert!(!shape(&values).dependent, "{value}");
        }
    }
}

/// Deviations of 64 values with a mean of 0, squares of 320 and products of neighbors of 41: the correlation is 41/320 =
/// 0.128125, which is 1.15/√64 - 1/64.
#[rustfmt::skip]
const AT_LIMIT: [i8; 64] = [
    -1, 1, 3, 1, 1, -1, 3, 1, -1, -1, 3, -3, 1, 1, 1, 1, 1, 1, 3, -3, -3, -1, 3, 3, 1, 1, -1, 1, -3, -3, -3, -1,
    -3, 1, -1, -3, 3, -1, -1, -1, 1, 3, -1, -1, 3, 3, -1, -1, -3, -3, -3, 3, -3, 3, 3, 3, -1, -3, -3, -3, 3, 3, -3, 1,
];

#[test]
fn values_are_dependent_only_over_the_limit() {
    let values = AT_LIMIT.map(f64::from);
    assert_eq!(lag1(&values), Some(41.0 / 320.0));
    assert!(!shape(&values).dependent);
    // With the last two values in the other order, the products of neighbors add up to 53.
    let mut swapped = values;
    swapped.swap(62, 63);
    assert!(lag1(&swapped).unwrap() > 41.0 / 320.0 && shape(&swapped).dependent);
}

/// 17 deviations with a mean of 0, a standard deviation of 30 and a skewness of 26460 / 30³ = 0.98. The standard error
/// of the skewness is then √(6 · 15 / (18 · 20)) = 0.5, and 0.98 = 1.96 · 0.5.
const SKEW_AT_LIMIT: [f64; 17] = [
    -25.0, -33.0, -17.0, -31.0, -11.0, -12.0, -21.0, -19.0, -25.0, 2.0, 15.0, 16.0, -17.0, 61.0,
    60.0, 50.0, 7.0,
];

#[test]
fn samples_are_skewed_only_over_the_limit() {
    let sum = |k: i32| SKEW_AT_LIMIT.iter().map(|v| v.powi(k)).sum::<f64>();
    assert_eq!((sum(1), sum(2), sum(3)), (0.0, 15_300.0, 449_820.0));
    let reversed = SKEW_AT_LIMIT.map(|v| -v);
    assert!(!shape(&SKEW_AT_LIMIT).skewed && !shape(&reversed).skewed);
    let mut longer = SKEW_AT_LIMIT;
    longer[13] = 63.0;
    assert!(shape(&longer).skewed);
}

/// Eight values above 0 with a sum of 57 and squares of 475, and their reverses: the split at 0 explains 57² / 4 = 812.25
/// of 950, which is 0.855 = 0.64 + 0.86/√16.
#[test]
fn samples_have_two_modes_only_over_the_limit() {
    let at_limit = [1.0, 4.0, 8.0, 8.0, 8.0, 8.0, 9.0, 11.0];
    let both = |side: [f64; 8]| side.iter().flat_map(|&v| [v, -v]).collect::<Vec<f64>>();
    assert!(!shape(&both(at_limit)).two_modes);
    let mut closer = at_limit;
    closer[7] = 10.9;
    assert!(shape(&both(closer)).two_modes);
}

#[test]
fn groups_apart_by_rounding_have_no_shape() {
    // The units in the last place of 1e15 are 0.125.
    for n in [20, 24, 40] {
        let two: Vec<f64> = (0..n)
            .map(|i| 1e15 + if i < n / 2 { 0.0 } else { 1.0 })
            .collect();
        let tail: Vec<f64> = (0..n)
            .map(|i| 1e15 + if i < n - 1 { 0.0 } else { 5.0 })
            .collect();
        for values in [two, tail] {
            assert_eq!(shape(&values), Shape::default(), "{values:?}");
            assert_eq!(SampleMoments::of(&values).unwrap().deviation, 0.0);
        }
    }
}

/// At 1e-12 of the mean, a deviation still counts as 0, as in the moments of a sample.
#[test]
fn deviations_at_the_noise_floor_have_no_skew() {
    // Their squares are 16, so the standard deviation is 1, and their cubes are 24, so the skewness would be 1.5.
    let mut offsets = [0.0; 16];
    offsets[0] = 3.0;
    offsets[1..6].fill(-1.0);
    offsets[6..8].fill(1.0);
    let around = |mean: f64| shape(&offsets.map(|offset| mean + offset)).skewed;
    assert_eq!(SampleMoments::new(16, 1e12, 1.0).unwrap().deviation, 0.0);
    assert!(around(1e11) && !around(1e12) && !around(1e13));
}

/// Tukey (1977): a value on a fence is inside.
#[test]
fn values_on_a_fence_are_inside_on_both_sides() {
    // Quartiles 2 and 4: inner fences -1 and 7, outer fences -4 and 10.
    let table = [
        (-1.0, None),
        (-1.001, Some(false)),
        (-4.0, Some(false)),
        (-4.001, Some(true)),
    ];
    for (value, far) in table {
        let low = [5.0, 2.0, value, 3.0, 4.0];
        let high = low.map(|v| 6.0 - v);
        for values in [low, high] {
            let found: Vec<_> = outliers(&values).iter().map(|o| (o.index, o.far)).collect();
            assert_eq!(
                found,
                far.map(|far| (2, far)).into_iter().collect::<Vec<_>>()
            );
        }
    }
}

fn rule(within: f64) -> StoppingRule {
    StoppingRule {
        at_least: 3,
        at_most: 6,
        within,
    }
}

/// Residuals about the mean of n values are too small by √((n - 1) / n): seven samples of three values and one sample of
/// 21 have the same residuals if their spreads differ by that factor.
#[test]
fn coverage_after_stopping_corrects_the_residuals_for_their_number() {
    let spread = 0.01;
    let wider = spread * f64::sqrt((3.0 / 2.0) / (21.0 / 20.0));
    let three = [1.0 - spread, 1.0, 1.0 + spread];
    let many: Vec<f64> = (0..21)
        .map(|i| 1.0 + wider * f64::from(i % 3 - 1))
        .collect();
    let found = [0.008, 0.014].map(|within| {
        let of_three = stopping_coverage(&[&three[..]; 7], rule(within)).unwrap();
        let of_many = stopping_coverage(&[&many], rule(within)).unwrap();
        close(of_three, of_many, 0.002);
        of_three
    });
    assert!(found[0] + 0.02 < found[1], "{found:?}");
}

/// Relative residuals need a mean over 0 and values that differ.
#[test]
fn samples_without_relative_residuals_show_no_shape() {
    let most: Vec<f64> = (0..17).map(|i| 1.0 + 0.01 * f64::from(i % 5)).collect();
    let found = |sample: &[f64]| stopping_coverage(&[&most, sample], rule(0.02)).is_some();
    assert!(found(&[1.0, 1.1, 0.9]) && found(&[100.0, 110.0, 90.0]));
    for sample in [
        [-1.0, 0.0, 1.0],
        [-1.0, -1.1, -0.9],
        [0.0; 3],
        [5.0; 3],
        [1e-320; 3],
    ] {
        assert!(!found(&sample), "{sample:?}");
    }
}
