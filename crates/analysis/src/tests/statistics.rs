//! Statistics at their limits, compared with formulas and independent computations.

use crate::stats::samples::{SKEWED, close};
use crate::stats::{
    Bootstrap, Design, LEVEL, SampleMoments, StoppingRule, difference_interval, hedges_g,
    mean_interval, relative_error, runs_needed, shape, stopping_coverage,
};
use crate::testing::normal;
use hakaru_model::rng::Rng;

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Hesterberg (2015): the tails are those of a normal variable at √(n/(n-1)) · t with n - 1 degrees of freedom.
#[test]
fn expanded_intervals_have_the_tails_of_student() {
    // erf(√(n/(n-1)) · t / √2) with t from the tables, for 95%.
    let table = [
        (5, 0.998_091_798_896_236_6),
        (8, 0.988_524_958_965_940_3),
        (12, 0.978_486_770_166_895_1),
    ];
    for (n, level) in table {
        let values = &SKEWED[..n];
        let expanded = Bootstrap {
            resamples: 4_000,
            ..Bootstrap::default()
        };
        let plain = Bootstrap {
            level,
            expand: false,
            ..expanded
        };
        let pairs = [
            (
                expanded.percentile(values, mean_of),
                plain.percentile(values, mean_of),
            ),
            (expanded.bca(values, mean_of), plain.bca(values, mean_of)),
        ];
        for (found, expected) in pairs {
            let (found, expected) = (found.unwrap(), expected.unwrap());
            close(found.0, expected.0, 1e-6);
            close(found.1, expected.1, 1e-6);
        }
    }
}

/// Steiger and Fouladi (1997): the non-centralities for which t is the quantile 0.975 and 0.025.
#[test]
fn intervals_of_large_effects_invert_the_noncentral_t() {
    // mpmath: quadrature of Φ(t·s - δ) over s = χ/√df, solved for δ by bisection.
    let table = [
        (2, 30.0, 4.672_852_727, 57.674_675_177),
        (2, 60.0, 9.497_076_739, 115.266_402_364),
        (3, 50.0, 17.327_825_366, 83.502_667_951),
    ];
    for (n, t, low, high) in table {
        let scale = (2.0 / n as f64).sqrt();
        let at = |mean: f64| SampleMoments::new(n, mean, 1.0).unwrap();
        let (a, b) = (at(1000.0), at(1000.0 + t * scale));
        let up = hedges_g(&a, &b, 0.95).unwrap().interval;
        close(up.0 / scale, low, 0.05);
        close(up.1 / scale, high, 0.05);
        let down = hedges_g(&b, &a, 0.95).unwrap().interval;
        close(down.0 / scale, -high, 0.05);
        close(down.1 / scale, -low, 0.05);
    }
}

/// With many degrees of freedom, t is about normal with a variance of 1 + t²/(2 df).
#[test]
fn intervals_of_effects_with_many_runs_are_about_normal() {
    for (n, t) in [(501, 40.0), (5_001, 60.0), (50_001, 100.0)] {
        let scale = (2.0 / n as f64).sqrt();
        let at = |mean: f64| SampleMoments::new(n, mean, 1.0).unwrap();
        let found = hedges_g(&at(0.0), &at(t * scale), 0.95).unwrap();
        let df = (2 * n - 2) as f64;
        let half = 1.959_963_985 * (1.0 + t * t / (2.0 * df)).sqrt();
        close(found.interval.0 / scale, t - half, 0.05);
        close(found.interval.1 / scale, t + half, 0.05);
    }
}

#[test]
fn designs_that_are_not_finite_have_no_number_of_runs() {
    let sound = Design {
        difference: 1.0,
        deviation_a: 1.0,
        deviation_b: 1.0,
        alpha: 0.05,
    };
    assert!(runs_needed(&sound, 0.8).is_some());
    for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let designs = [
            Design {
                difference: bad,
                ..sound
            },
            Design {
                deviation_a: bad,
                ..sound
            },
            Design {
                deviation_b: bad,
                ..sound
            },
        ];
        for design in designs {
            assert_eq!(runs_needed(&design, 0.8), None, "{design:?}");
        }
    }
}

/// Cohen (1988), with the degrees of freedom of Satterthwaite.
#[test]
fn runs_needed_follow_from_both_deviations() {
    // mpmath: the first n at which the non-central t, by quadrature, reaches the power.
    let table = [
        (1.0, 1.0, 2.0, 0.05, 0.8, 41),
        (1.0, 2.0, 1.0, 0.05, 0.8, 41),
        (-1.0, 2.0, 1.0, 0.05, 0.8, 41),
        (1.0, 0.5, 0.0, 0.05, 0.9, 5),
        (2.0, 1.0, 1.0, 0.01, 0.8, 8),
        (1.0, 1.0, 1.0, 0.001, 0.9, 45),
        (0.2, 0.1, 0.3, 0.05, 0.5, 12),
    ];
    for (difference, deviation_a, deviation_b, alpha, wanted, runs) in table {
        let design = Design {
            difference,
            deviation_a,
            deviation_b,
            alpha,
        };
        assert_eq!(runs_needed(&design, wanted), Some(runs), "{design:?}");
    }
}

/// Fisher (1930): the standard error of the skewness. The moments are computed here by their definition.
fn is_skewed(values: &[f64]) -> bool {
    let n = values.len() as f64;
    let middle = mean_of(values);
    let moment = |k: i32| values.iter().map(|v| (v - middle).powi(k)).sum::<f64>() / n;
    let skewness = moment(3) / moment(2).powf(1.5);
    let error = (6.0 * (n - 2.0) / ((n + 1.0) * (n + 3.0))).sqrt();
    skewness.abs() > 1.96 * error
}

/// Cox (1957): the variance that the best split into two groups explains.
fn has_two_modes(values: &[f64]) -> bool {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let squares = |part: &[f64]| {
        let middle = mean_of(part);
        part.iter().map(|v| (v - middle).powi(2)).sum::<f64>()
    };
    let whole = squares(&sorted);
    let explained = |split: usize| {
        let (low, high) = sorted.split_at(split);
        1.0 - (squares(low) + squares(high)) / whole
    };
    let n = sorted.len();
    let best = (2..=n - 2).map(explained).fold(0.0, f64::max);
    best > 0.64 + 0.86 / (n as f64).sqrt()
}

#[test]
fn skew_and_two_modes_are_those_of_their_definitions() {
    let mut rng = Rng::new(3);
    let mut flagged = (0, 0);
    for trial in 0..600 {
        let n = [8, 9, 12, 19, 20, 40][trial % 6];
        let kind = trial / 6 % 3;
        let draw = |_| match kind {
            0 => normal(&mut rng),
            1 => -(1.0 - rng.unit()).ln(),
            _ => 3.0 * f64::from(rng.unit() < 0.5) + 0.5 * normal(&mut rng),
        };
        let values: Vec<f64> = (0..n).map(draw).collect();
        let found = shape(&values);
        assert_eq!(found.skewed, is_skewed(&values), "{values:?}");
        assert_eq!(found.two_modes, has_two_modes(&values), "{values:?}");
        assert_eq!(found.few, n < 20);
        flagged.0 += u32::from(found.skewed);
        flagged.1 += u32::from(found.two_modes);
    }
    assert!(flagged.0 > 50 && flagged.1 > 50, "{flagged:?}");
}

#[test]
fn shapes_are_checked_from_their_minimum_number_of_values() {
    let skewed = [1.0, 1.01, 1.02, 1.03, 1.01, 1.0, 1.02, 10.0];
    assert!(shape(&skewed).skewed && !shape(&skewed[1..]).skewed);
    let two = [1.0, 2.01, 1.02, 2.03, 1.01, 2.0, 1.03, 2.02];
    assert!(shape(&two).two_modes && !shape(&two[1..]).two_modes);
    let rising = [1.0, 2.0, 3.0, 4.0, 5.0];
    assert!(shape(&rising).dependent && !shape(&rising[1..]).dependent);
    let many: Vec<f64> = (0..20).map(f64::from).collect();
    assert!(shape(&many[1..]).few && !shape(&many).few);
}

/// A skewed sample with a mean of 1: runs that are usually slow and sometimes much faster.
const MOSTLY_SLOW: [f64; 20] = [
    0.4, 0.5, 0.6, 0.4, 0.5, 0.6, 0.4, 0.5, 0.6, 0.4, 0.5, 0.6, 0.4, 0.5, 0.6, 2.3, 2.4, 2.5, 2.6,
    2.7,
];

/// Returns the coverage after stopping, for values drawn from a population with a mean of 1.
fn simulated(population: &[f64], rule: StoppingRule) -> f64 {
    let mut rng = Rng::new(77);
    let campaigns = 2_000;
    let covers = |_: &u32| {
        let mut values = Vec::new();
        loop {
            values.push(population[rng.below(population.len() as u64) as usize]);
            if values.len() < rule.at_least {
                continue;
            }
            let moments = SampleMoments::of(&values).unwrap();
            let is_precise = relative_error(&moments, LEVEL).is_some_and(|e| e <= rule.within);
            if is_precise || values.len() == rule.at_most {
                let (low, high) = mean_interval(&moments, LEVEL).unwrap();
                return low <= 1.0 && 1.0 <= high;
            }
        }
    };
    (0..campaigns).filter(covers).count() as f64 / f64::from(campaigns)
}

#[test]
fn coverage_after_stopping_depends_on_the_direction_of_skew() {
    let rule = StoppingRule {
        at_least: 3,
        at_most: 10,
        within: 0.2,
    };
    let inflation = (20.0_f64 / 19.0).sqrt();
    let population = |values: &[f64]| -> Vec<f64> {
        let spread = values.iter().map(|value| (value - 1.0) * inflation);
        spread.map(|error| 1.0 + error).collect()
    };
    let mostly_fast = MOSTLY_SLOW.map(|value| 2.0 - value);
    let estimates = [MOSTLY_SLOW, mostly_fast].map(|values| {
        let estimate = stopping_coverage(&[&values], rule).unwrap();
        close(estimate, simulated(&population(&values), rule), 0.05);
        estimate
    });
    assert!(estimates[0] > estimates[1] + 0.1, "{estimates:?}");
}

#[test]
fn coverage_after_stopping_needs_twenty_residuals() {
    let rule = StoppingRule {
        at_least: 3,
        at_most: 4,
        within: 0.2,
    };
    let found = |samples: &[&[f64]]| stopping_coverage(samples, rule).is_some();
    let (most, pair) = (&MOSTLY_SLOW[..17], &MOSTLY_SLOW[17..19]);
    assert!(!found(&[&MOSTLY_SLOW[..19]]) && found(&[&MOSTLY_SLOW]));
    assert!(found(&[most, &MOSTLY_SLOW[17..]]));
    // Pairs and samples that do not vary show no shape.
    assert!(!found(&[most, pair, pair]));
    assert!(!found(&[most, &[3.0; 3]]));
}

type Values = &'static [f64];

/// Welch (1947): the interval of the difference of two means.
#[test]
fn differences_have_the_interval_of_welch() {
    // Quantiles of Student's t at 0.975, from the tables.
    let (t2, t4) = (4.302_652_729_749, 2.776_445_105_198);
    let cases: [(Values, Values, f64, f64); 5] = [
        (
            &[1.0, 2.0, 3.0],
            &[4.0, 5.0, 6.0],
            3.0,
            t4 * (2.0_f64 / 3.0).sqrt(),
        ),
        (
            &[4.0, 5.0, 6.0],
            &[1.0, 2.0, 3.0],
            -3.0,
            t4 * (2.0_f64 / 3.0).sqrt(),
        ),
        (
            &[5.0, 5.0, 5.0],
            &[1.0, 2.0, 3.0],
            -3.0,
            t2 / 3.0_f64.sqrt(),
        ),
        (&[1.0, 2.0, 3.0], &[5.0; 4], 3.0, t2 / 3.0_f64.sqrt()),
        (&[5.0; 3], &[7.0; 3], 2.0, 0.0),
    ];
    for (a, b, apart, half) in cases {
        let of = |values| SampleMoments::independent(values).unwrap();
        let (low, high) = difference_interval(&of(a), &of(b), 0.95).unwrap();
        close(low, apart - half, 1e-8);
        close(high, apart + half, 1e-8);
    }
}
