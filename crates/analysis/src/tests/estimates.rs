//! Estimates from published means and deviations.

use crate::estimate::{estimate, published, stated_moments};
use crate::stats::{self, SampleMoments};
use hakaru_model::finding::IntervalCaveat;

/// The last digit of a mean is uniform, with a variance of a third of the square of its half. A deviation that is
/// printed as 0 is half of its last digit.
#[test]
fn rounding_widens_the_interval_of_published_figures() {
    for (n, deviation, rounding, variance) in [
        (10, 3.2, 0.0, 3.2 * 3.2 / 10.0),
        (10, 3.2, 0.5, 3.2 * 3.2 / 10.0 + 0.25 / 3.0),
        (4, 0.1, 0.5, 0.1 * 0.1 / 4.0 + 0.25 / 3.0),
        (4, 0.0, 0.5, 0.25 / 4.0 + 0.25 / 3.0),
        (3, 0.0, 0.0, 0.0),
    ] {
        let found = published(&SampleMoments::new(n, 26.3, deviation).unwrap(), rounding);
        let half = stats::t_quantile(0.975, (n - 1) as f64).unwrap() * f64::sqrt(variance);
        let (low, high) = found.ci95.unwrap();
        assert!(
            (low - (26.3 - half)).abs() < 1e-9,
            "{deviation} {rounding}: {low}"
        );
        assert!(
            (high - (26.3 + half)).abs() < 1e-9,
            "{deviation} {rounding}: {high}"
        );
        // What is shown are the figures as printed.
        assert_eq!((found.mean, found.deviation), (26.3, Some(deviation)));
        assert_eq!((found.median, found.min, found.max), (26.3, 26.3, 26.3));
        assert_eq!((found.rounding, found.values.len()), (rounding, 0));
        assert!((found.mad - 0.6745 * deviation).abs() < 1e-12);
        let moments = stated_moments(&found, n as u32).unwrap();
        let known = if deviation == 0.0 {
            rounding
        } else {
            deviation
        };
        assert_eq!((moments.deviation, moments.rounding), (known, rounding));
        assert_eq!(moments.n, n);
    }
}

#[test]
fn few_published_runs_are_a_caveat() {
    for n in 2..=25 {
        let found = published(&SampleMoments::new(n, 26.3, 3.2).unwrap(), 0.0);
        let is_few = found.interval_caveats == [IntervalCaveat::FewRuns];
        assert_eq!(is_few, n < 20, "{n}");
    }
}

/// An interval is cut at 0 only if no value is negative.
#[test]
fn intervals_are_cut_at_zero_for_values_that_cannot_be_negative() {
    let low = |values: &[f64]| estimate(values).unwrap().ci95.unwrap().0;
    assert_eq!(low(&[0.0, 10.0]), 0.0);
    assert!(low(&[-0.1, 10.0]) < -1.0);
    assert_eq!(low(&[9.0, 1.0, 30.0]), 0.0);
}
