//! Intervals of ratios: scales, signs, bounds, and samples whose accepted ratios have gaps.

use crate::stats::samples::close;
use crate::stats::{SampleMoments, ratio_interval, welch_at};

fn moments(n: usize, mean: f64, deviation: f64) -> SampleMoments {
    SampleMoments::new(n, mean, deviation).unwrap()
}

#[track_caller]
fn near(found: Option<(f64, f64)>, (low, high): (f64, f64)) {
    let found = found.unwrap();
    close(found.0 / low, 1.0, 1e-9);
    close(found.1 / high, 1.0, 1e-9);
}

/// A ratio has no unit: the interval does not depend on the unit of both samples, and follows that of one.
#[test]
fn the_interval_of_a_ratio_scales_with_the_samples() {
    for resolution in [0.0, 1e-3] {
        let of = |a: f64, b: f64| {
            let (a, b) = (
                moments(5, 100.0 * a, 4.0 * a),
                moments(7, 160.0 * b, 9.0 * b),
            );
            ratio_interval(&a, &b, 0.95, resolution)
        };
        let (low, high) = of(1.0, 1.0).unwrap();
        assert!(1.4 < low && low < 1.6 && 1.6 < high && high < 1.8);
        for scale in [1e-90, 1e-60, 1e-9, 1e9, 1e60, 1e90] {
            near(of(scale, scale), (low, high));
            near(of(1.0, scale), (low * scale, high * scale));
            near(of(scale, 1.0), (low / scale, high / scale));
        }
    }
}

/// Fieller (1954): if only `a` varies, the ends are b / (a ± t·e), where e is the standard error of `a`. The upper end
/// grows without limit as `a` approaches t·e.
#[test]
fn the_interval_is_wide_if_the_first_mean_is_barely_above_zero() {
    // The quantile 0.975 of Student's t with two degrees of freedom.
    let t = 0.95 * (2.0 / 0.0975_f64).sqrt();
    for excess in [1.0, 1e-2, 1e-4, 1e-6, 1e-8] {
        let a = moments(3, t * (1.0 + excess), f64::sqrt(3.0));
        let (low, high) = ratio_interval(&a, &moments(3, 1.0, 0.0), 0.95, 0.0).unwrap();
        close(low * t * (2.0 + excess), 1.0, 1e-6);
        close(high * t * excess, 1.0, 1e-3);
    }
    let a = moments(3, t * (1.0 - 1e-6), f64::sqrt(3.0));
    assert_eq!(
        ratio_interval(&a, &moments(3, 1.0, 0.0), 0.95, 0.0),
        None,
        "not different from 0"
    );
}

/// Only quantities that are not negative have no negative ratio.
#[test]
fn negative_means_mirror_the_interval() {
    let of = |a: f64, b: f64| {
        ratio_interval(&moments(10, a, 5.0), &moments(8, b, 4.0), 0.95, 0.0).unwrap()
    };
    let (low, high) = of(100.0, 50.0);
    assert!(0.4 < low && low < 0.5 && 0.5 < high && high < 0.6);
    for (a, b, want) in [
        (-100.0, -50.0, (low, high)),
        (100.0, -50.0, (-high, -low)),
        (-100.0, 50.0, (-high, -low)),
    ] {
        near(Some(of(a, b)), want);
    }
}

/// At level 0, the test rejects every ratio, the observed one too.
#[test]
fn no_ratio_is_left_at_level_zero() {
    let (a, b) = (moments(5, 100.0, 4.0), moments(7, 160.0, 9.0));
    assert_eq!(ratio_interval(&a, &b, 0.0, 0.0), None);
    assert!(ratio_interval(&a, &b, 0.01, 0.0).is_some());
}

/// Samples of two and ten runs, with a ratio of `1 / place` and relative errors of `error` and `wider · error`. The
/// sample of two runs is the first one if `place` is over 1.
fn unequal(place: f64, error: f64, wider: f64) -> (SampleMoments, SampleMoments) {
    let sample =
        |n: usize, mean: f64, error: f64| moments(n, mean, mean * error * (n as f64).sqrt());
    match place > 1.0 {
        true => (
            sample(2, 1.0, error),
            sample(10, 1.0 / place, wider * error),
        ),
        false => (
            sample(10, 1.0, wider * error),
            sample(2, 1.0 / place, error),
        ),
    }
}

/// Two runs have one degree of freedom, and need a far larger t than ten: as the ratio departs from the observed one,
/// their share of the variance grows, so that Welch's test rejects a ratio and accepts one beyond it.
#[test]
fn the_interval_agrees_with_welch_about_one_across_gaps() {
    let (mut excluded, mut reaccepted) = (0, 0);
    for (t, wider) in [
        (12.75, 1.0),
        (12.8, 1.0),
        (13.0, 1.0),
        (13.0, 1.2),
        (13.3, 1.1),
    ] {
        for side in [-1.0, 1.0] {
            let mut was_rejected = false;
            for step in 1..=100 {
                let place = f64::exp(side * 0.04 * f64::from(step));
                let (a, b) = unequal(place, 1.0 / t, wider);
                let p = |ratio: f64| welch_at(&a, &b, ratio, 0.0).p;
                let (low, high) = ratio_interval(&a, &b, 0.95, 0.0).unwrap();
                let context = format!("{t} {wider} {place}: {low} {high}");
                let is_rejected = p(1.0) <= 1.0 - 0.95;
                let is_outside = 1.0 < low || high < 1.0;
                assert_eq!(is_outside, is_rejected, "{context}");
                assert!(low < 1.0 / place && 1.0 / place < high, "{context}");
                // An end is where the test begins to reject, or 1.
                for end in [low, high] {
                    assert!(end == 1.0 || (p(end) - 0.05).abs() < 1e-6, "{context}");
                }
                excluded += u32::from(is_rejected);
                reaccepted += u32::from(was_rejected && !is_rejected);
                was_rejected = is_rejected;
            }
        }
    }
    assert!(excluded > 100 && reaccepted >= 8, "{excluded} {reaccepted}");
}
