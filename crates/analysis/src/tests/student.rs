//! Student's t: its quantiles, Welch's test, the interval of correlated values, and runs needed.

use crate::stats::samples::close;
use crate::stats::{
    Design, SampleMoments, mean_interval, runs_needed, t_quantile, welch_above, welch_at,
};

fn moments(n: usize, mean: f64, deviation: f64) -> SampleMoments {
    SampleMoments::new(n, mean, deviation).unwrap()
}

#[test]
fn only_probabilities_between_zero_and_one_have_a_quantile() {
    for df in [1.0, 2.5, 40.0] {
        for p in [
            f64::NEG_INFINITY,
            -1.0,
            -1e-300,
            0.0,
            1.0,
            1.0 + f64::EPSILON,
            2.0,
            f64::INFINITY,
            f64::NAN,
        ] {
            assert_eq!(t_quantile(p, df), None, "{p} {df}");
        }
        close(t_quantile(0.5, df).unwrap(), 0.0, 1e-7);
    }
    for df in [0.0, -1.0, f64::NAN] {
        assert_eq!(t_quantile(0.9, df), None, "{df}");
    }
    // Closed forms: Cauchy's distribution, and two degrees of freedom.
    for p in [0.001, 0.2, 0.75, 0.999] {
        let cauchy = (std::f64::consts::PI * (p - 0.5)).tan();
        close(t_quantile(p, 1.0).unwrap() / cauchy, 1.0, 1e-8);
        let two = (2.0 * p - 1.0) * (0.5 / (p * (1.0 - p))).sqrt();
        close(t_quantile(p, 2.0).unwrap() / two, 1.0, 1e-8);
    }
}

/// Welch (1947), with samples whose means have the same standard error.
#[test]
fn samples_of_equal_spread_are_tested_by_their_spread() {
    // mpmath: I_x(df/2, 1/2) with x = df / (df + t²).
    let table = [
        // t = 3 / √(9/10 + 9/10), 18 degrees of freedom.
        (
            (10, 100.0, 3.0),
            (10, 103.0, 3.0),
            5.0,
            18.0,
            0.038_249_614_516_113_9,
        ),
        // t = 3 / √(4/4 + 9/9), 2² / (1/3 + 1/8) degrees of freedom.
        (
            (4, 10.0, 2.0),
            (9, 13.0, 3.0),
            4.5,
            96.0 / 11.0,
            0.063_846_914_456_818_2,
        ),
    ];
    for (a, b, square, df, p) in table {
        let (a, b) = (moments(a.0, a.1, a.2), moments(b.0, b.1, b.2));
        for (a, b, sign) in [(a, b, 1.0), (b, a, -1.0)] {
            let found = welch_at(&a, &b, 1.0, 0.0);
            close(found.t, sign * f64::sqrt(square), 1e-12);
            close(found.df, df, 1e-12);
            close(found.p, p, 1e-12);
            close(
                welch_above(&a, &b, 1.0),
                0.5 - sign * (0.5 - p / 2.0),
                1e-12,
            );
        }
        // Half of `a` against half of it: the same test in another unit.
        let half = moments(b.n, b.mean / 2.0, b.deviation / 2.0);
        close(welch_at(&a, &half, 0.5, 0.0).p, p, 1e-12);
        close(welch_above(&a, &half, 0.5), p / 2.0, 1e-12);
    }
}

#[test]
fn samples_without_spread_have_the_degrees_of_freedom_of_both() {
    for (na, nb, df) in [(2, 2, 2.0), (3, 7, 8.0), (10, 4, 12.0)] {
        for (mean, t, p, above) in [
            (5.0, 0.0, 1.0, 0.5),
            (6.0, f64::INFINITY, 0.0, 0.0),
            (4.0, f64::NEG_INFINITY, 0.0, 1.0),
        ] {
            let (a, b) = (moments(na, 5.0, 0.0), moments(nb, mean, 0.0));
            let found = welch_at(&a, &b, 1.0, 0.0);
            assert_eq!((found.t, found.df, found.p), (t, df, p));
            assert_eq!(welch_above(&a, &b, 1.0), above);
        }
    }
}

#[test]
fn differences_within_the_resolution_are_rounding() {
    // The larger of both means is 100.5, and a hundredth of it is 1.005.
    for deviation in [0.0, 1e-6, 0.01] {
        let (a, b) = (moments(5, 99.5, deviation), moments(5, 100.5, deviation));
        for (a, b) in [(&a, &b), (&b, &a)] {
            let found = welch_at(a, b, 1.0, 0.01);
            assert_eq!((found.t, found.p), (0.0, 1.0), "{deviation}");
            assert!(welch_at(a, b, 1.0, 0.009).p < 1e-6, "{deviation}");
            assert!(welch_at(a, b, 1.0, 0.0).p < 1e-6, "{deviation}");
        }
    }
}

/// Bayley and Hammersley (1946): with n' of n values independent, the variance of the sample is too small by
/// (n - n/n') / (n - 1).
#[test]
fn correlated_values_have_a_wider_interval() {
    for (n, effective, variance) in [
        // 4 · (19 / 16) / 5, 4 · (9 / 8) / 5 and 4 · (5 / 2) / 1.5.
        (20, 5.0, 0.95),
        (10, 5.0, 0.9),
        (6, 1.5, 20.0 / 3.0),
        (20, 20.0, 0.2),
    ] {
        let sample = SampleMoments {
            effective,
            ..moments(n, 50.0, 2.0)
        };
        let half = t_quantile(0.975, (n - 1) as f64).unwrap() * f64::sqrt(variance);
        let (low, high) = mean_interval(&sample, 0.95).unwrap();
        close(low, 50.0 - half, 1e-9);
        close(high, 50.0 + half, 1e-9);
    }
}

/// With one degree of freedom, the test misses about half of the differences of 40 standard errors.
#[test]
fn two_runs_are_too_few_for_a_strict_test_of_a_sharp_difference() {
    // mpmath, by quadrature: power 0.470 for two runs, 1 - 4e-11 for three.
    let design = Design {
        difference: 1.0,
        deviation_a: f64::sqrt(2.0) / 40.0,
        deviation_b: 0.0,
        alpha: 0.01,
    };
    assert_eq!(runs_needed(&design, 0.8), Some(3));
    assert_eq!(runs_needed(&design, 0.999), Some(3));
    assert_eq!(runs_needed(&design, 0.3), Some(2));
}

fn design(difference: f64, deviation: f64) -> Design {
    Design {
        difference,
        deviation_a: deviation,
        deviation_b: deviation,
        alpha: 0.05,
    }
}

/// Cohen (1988), table 2.4.1: 64 runs for half of a deviation. It does not depend on the unit.
#[test]
fn runs_needed_do_not_depend_on_the_unit() {
    for unit in [1e-120, 1e-9, 1.0, 1e9, 1e120, 1e150] {
        assert_eq!(runs_needed(&design(0.5 * unit, unit), 0.8), Some(64));
    }
}

#[test]
fn variances_beyond_the_largest_number_have_no_number_of_runs() {
    // The largest number is 1.8e308: each variance is below it, but not their sum.
    for wanted in [0.01, 0.04, 0.8] {
        assert_eq!(runs_needed(&design(1e154, 1e154), wanted), None, "{wanted}");
    }
}
