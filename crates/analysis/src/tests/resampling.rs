//! Bootstrap intervals of discrete statistics, whose draws are known exactly or all on one side.

use crate::stats::Bootstrap;
use crate::stats::samples::SKEWED;

fn mean_of(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn plain(level: f64) -> Bootstrap {
    Bootstrap {
        resamples: 2_000,
        level,
        expand: false,
        ..Bootstrap::default()
    }
}

/// Half of the draws of a symmetric sample are below its center, and ties count half: there is no bias to correct.
#[test]
fn ties_with_the_estimate_do_not_bias_symmetric_samples() {
    // The mean of two draws from {0, 1} is 0, 0.5 or 1 with probabilities 1/4, 1/2 and 1/4.
    for (level, interval) in [(0.2, (0.5, 0.5)), (0.4, (0.5, 0.5)), (0.8, (0.0, 1.0))] {
        let bootstrap = plain(level);
        assert_eq!(bootstrap.bca(&[0.0, 1.0], mean_of), Some(interval));
        assert_eq!(bootstrap.percentile(&[0.0, 1.0], mean_of), Some(interval));
    }
}

#[test]
fn two_values_are_enough_for_a_bootstrap_and_one_is_not() {
    for expand in [false, true] {
        let bootstrap = Bootstrap {
            expand,
            ..plain(0.95)
        };
        assert_eq!(bootstrap.percentile(&[3.0, 5.0], mean_of), Some((3.0, 5.0)));
        for values in [&[][..], &[3.0]] {
            assert_eq!(bootstrap.percentile(values, mean_of), None);
            assert_eq!(bootstrap.bca(values, mean_of), None);
        }
    }
}

/// Returns how many of the values differ.
fn distinct(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    sorted.len() as f64
}

/// A resample repeats values, so its number of distinct values is practically never that of the sample. A bias of
/// infinite size cannot be corrected.
#[test]
fn draws_on_one_side_have_the_percentile_interval() {
    let bootstrap = Bootstrap {
        resamples: 500,
        ..plain(0.95)
    };
    let statistics: [fn(&[f64]) -> f64; 2] = [distinct, |values| -distinct(values)];
    for statistic in statistics {
        let (low, high) = bootstrap.bca(&SKEWED, statistic).unwrap();
        assert!(low < high, "{low} {high}");
        assert!(low.abs().max(high.abs()) < 12.0, "{low} {high}");
        assert_eq!(bootstrap.percentile(&SKEWED, statistic), Some((low, high)));
    }
}
