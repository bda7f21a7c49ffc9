//! Intervals of Hedges' g where they have a closed form, and at the limits of numbers.

use crate::stats::samples::close;
use crate::stats::{SampleMoments, hedges_g};

/// Returns the ends of the interval of a difference of `d` pooled deviations, for two samples of `n` values.
///
/// Only the first sample varies, so the pooled deviation is 1/√2 of its own.
fn interval(n: usize, d: f64, level: f64) -> Option<(f64, f64)> {
    let pooled = 1e-8;
    let a = SampleMoments::new(n, 0.0, pooled * f64::sqrt(2.0)).unwrap();
    let b = SampleMoments::new(n, d * pooled, 0.0).unwrap();
    hedges_g(&a, &b, level).map(|found| found.interval)
}

/// At t = 0, the probability of a non-central T is Φ(-δ), for any degrees of freedom.
#[test]
fn equal_means_have_the_normal_interval_around_zero() {
    for n in [2, 3, 10, 200] {
        let scale = f64::sqrt(2.0 / n as f64);
        for (level, z) in [
            (0.5, 0.674_489_750_196_082),
            (0.95, 1.959_963_984_540_054),
            (0.999, 3.290_526_731_491_895),
        ] {
            let (low, high) = interval(n, 0.0, level).unwrap();
            close(low / scale, -z, 1e-8);
            close(high / scale, z, 1e-8);
        }
    }
}

/// For large effects, the interval is the difference times quantiles of s = χ/√df. With two degrees of freedom, the
/// probability that s exceeds x is exp(-x²).
#[test]
fn large_effects_of_two_runs_have_a_closed_form() {
    for level in [0.5, 0.8, 0.95, 0.99, 0.999, 0.9999] {
        let tail = (1.0 - level) / 2.0;
        let quantile = |p: f64| (-p.ln()).sqrt();
        for d in [1e4, 1e9, 1e50] {
            let (low, high) = interval(2, d, level).unwrap();
            close(low / d, quantile(1.0 - tail), 0.02);
            close(high / d, quantile(tail), 0.02);
        }
    }
}

/// Swapping the samples mirrors the interval, also at the strict levels of large families.
#[test]
fn reversed_effects_have_the_mirrored_interval() {
    for n in [2, 3, 10, 100] {
        for d in [0.1, 1.0, 2.5, 4.0, 7.0, 40.0, 1e4] {
            for level in [0.95, 0.999, 0.9999, 0.99999] {
                let (low, high) = interval(n, d, level).unwrap();
                let (least, most) = interval(n, -d, level).unwrap();
                close(least, -high, 1e-4 * high.abs());
                close(most, -low, 1e-4 * low.abs().max(0.1));
            }
        }
    }
}

/// mpmath: quantiles 0.025 and 0.975 of χ/√df with 18 degrees of freedom.
#[test]
fn effects_of_any_size_have_an_interval() {
    for d in [1e3, 1e8, 1e16, 1e100, 1e200, 1e300, 2.77e307] {
        let (low, high) = interval(10, d, 0.95).unwrap();
        close(low / d, 0.676_212_745_7, 0.01);
        close(high / d, 1.323_429_434_8, 0.01);
    }
}

/// The largest number is 1.8e308.
#[test]
fn effects_beyond_the_largest_number_have_no_interval() {
    for d in [5.8e307, 1e308, -5.8e307] {
        assert_eq!(interval(10, d, 0.95), None, "{d}");
    }
}

/// The search for the ends must not run forever, whatever it finds.
#[test]
fn the_search_for_an_interval_ends_for_the_largest_effects() {
    for d in [3e307, 3.3e307, 3.6e307, 3.9e307] {
        if let Some((low, high)) = interval(10, d, 0.95) {
            assert!(low < d && d < high, "{low} {d} {high}");
        }
    }
}

/// The midpoint rule with 160 steps over ±8 standard deviations of s finds each quantile within half a step, a
/// twentieth of that deviation.
#[test]
fn quantiles_of_effects_are_within_a_twentieth_of_a_deviation() {
    // mpmath: quantiles of χ/√df with 1000 degrees of freedom, for both tails of each level.
    let table = [
        (0.5, 0.984_623_56, 1.014_785_6),
        (0.6, 0.980_907_900_5, 1.018_543_512),
        (0.7, 0.976_582_836_8, 1.022_929_586),
        (0.8, 0.971_150_125_3, 1.028_457_049),
        (0.9, 0.963_117_003_8, 1.036_667_473),
        (0.95, 0.956_167_952_7, 1.043_805_975),
        (0.98, 0.948_109_934, 1.052_125_94),
        (0.99, 0.942_636_474_6, 1.057_803_416),
    ];
    let half_step = 0.051 / f64::sqrt(2_000.0);
    for (level, low, high) in table {
        let d = 1e6;
        let found = interval(501, d, level).unwrap();
        close(found.0 / d, low, half_step);
        close(found.1 / d, high, half_step);
    }
}
