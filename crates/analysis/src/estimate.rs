//! Computes an [`Estimate`] from repeated measurements of one quantity.

use crate::stats::{self, SampleMoments, Shape, describe};
use hakaru_model::finding::{Estimate, IntervalCaveat};

/// Summarizes repeated measurements. Non-finite values are ignored; `None` if nothing is left.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let values = finite(values);
    let sorted = describe::sorted(&values)?;
    let moments = SampleMoments::of(&values);
    Some(Estimate {
        mean: stats::mean(&values)?,
        deviation: moments.map(|m| m.deviation),
        median: stats::median(&values)?,
        mad: stats::mad(&values)?,
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        ci95: moments.and_then(|m| interval(&m, sorted[0])),
        rounding: 0.0,
        interval_caveats: if moments.is_some() {
            interval_caveats(&values)
        } else {
            Vec::new()
        },
        values,
    })
}

/// Returns the interval of the mean. If no value is negative, as of a rate or a time, the interval is cut at 0.
fn interval(moments: &SampleMoments, least: f64) -> Option<(f64, f64)> {
    let (low, high) = stats::mean_interval(moments, stats::LEVEL)?;
    match least < 0.0 {
        true => Some((low, high)),
        false => Some((low.max(0.0), high)),
    }
}

/// Returns the values that are numbers.
pub(crate) fn finite(values: &[f64]) -> Vec<f64> {
    values.iter().copied().filter(|v| v.is_finite()).collect()
}

/// Reasons why an interval from these runs, in order, may be too narrow.
pub fn interval_caveats(values: &[f64]) -> Vec<IntervalCaveat> {
    let Shape {
        few,
        dependent,
        skewed,
        two_modes,
    } = stats::shape(values);
    let named = [
        (few, IntervalCaveat::FewRuns),
        (dependent, IntervalCaveat::Dependent),
        (skewed, IntervalCaveat::Skewed),
        (two_modes, IntervalCaveat::TwoModes),
    ];
    named
        .into_iter()
        .filter(|(is, _)| *is)
        .map(|(_, caveat)| caveat)
        .collect()
}

/// Returns the moments of an estimate with known mean and deviation.
pub(crate) fn stated_moments(estimate: &Estimate, runs: u32) -> Option<SampleMoments> {
    let moments = SampleMoments::new(runs as usize, estimate.mean, estimate.deviation?)?;
    // A printed deviation of 0 means anything below half of its last digit, which is the last digit of the mean.
    Some(moments.rounded(
        estimate.rounding,
        if moments.deviation == 0.0 {
            estimate.rounding
        } else {
            0.0
        },
    ))
}

/// Creates an estimate from published mean, deviation and number of runs.
///
/// It has no values. Median and extremes are set to the mean, and the median absolute deviation to
/// that of a normal distribution: show only mean, deviation and interval. `rounding` is half of the
/// last printed digit of the mean; it is part of the interval.
pub fn published(moments: &SampleMoments, rounding: f64) -> Estimate {
    let SampleMoments {
        mean, deviation, n, ..
    } = *moments;
    let known = moments.rounded(rounding, if deviation == 0.0 { rounding } else { 0.0 });
    let few = n < stats::FEW_VALUES;
    Estimate {
        values: Vec::new(),
        mean,
        deviation: Some(deviation),
        median: mean,
        mad: deviation * 0.6745,
        min: mean,
        max: mean,
        ci95: interval(&known, mean),
        rounding,
        interval_caveats: if few {
            vec![IntervalCaveat::FewRuns]
        } else {
            Vec::new()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_no_spread_and_none_no_estimate() {
        let one = estimate(&[5.0]).unwrap();
        assert_eq!(
            (one.mean, one.median, one.deviation, one.ci95),
            (5.0, 5.0, None, None)
        );
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[f64::NAN, 2.0]).unwrap().values, [2.0]);
    }

    /// Regression: three runs that differed twofold had an interval from −1,803 to 15,702 IOPS.
    #[test]
    fn an_interval_of_rates_is_not_below_zero() {
        let of = |values: &[f64]| estimate(values).unwrap().ci95.unwrap();
        let (low, high) = of(&[10_570.0, 3_533.0, 6_745.0]);
        assert_eq!(low, 0.0);
        assert!((15_500.0..16_000.0).contains(&high), "{high}");
        assert!(of(&[1.0, -3.0, 6.0]).0 < 0.0);
        assert!(of(&[100.0, 101.0, 102.0]).0 > 97.0);
        let stated = SampleMoments::new(3, 28.0, 14.0).unwrap();
        assert_eq!(published(&stated, 0.5).ci95.unwrap().0, 0.0);
    }

    #[test]
    fn values_keep_the_order_of_the_runs() {
        let e = estimate(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(
            (e.values.as_slice(), e.min, e.max, e.median),
            (&[3.0, 1.0, 2.0][..], 1.0, 3.0, 2.0)
        );
    }

    /// Regression: three runs of `120 ± 0` MB/s were treated as exact.
    #[test]
    fn a_printed_figure_is_known_to_its_last_digit() {
        let exact = published(&SampleMoments::new(3, 120.0, 0.0).unwrap(), 0.5);
        let (low, high) = exact.ci95.unwrap();
        assert!(low < 119.0 && high > 121.0, "{low} {high}");
        assert_eq!(stated_moments(&exact, 3).unwrap().deviation, 0.5);
        assert_eq!(exact.interval_caveats, [IntervalCaveat::FewRuns]);
    }

    #[test]
    fn published_figures_have_an_interval() {
        // Ten runs of 26.3 ± 3.2: 26.3 ± 2.262 · 3.2 / √10.
        let (low, high) = published(&SampleMoments::new(10, 26.3, 3.2).unwrap(), 0.0)
            .ci95
            .unwrap();
        assert!(
            (low - 24.0109).abs() < 1e-3 && (high - 28.5891).abs() < 1e-3,
            "{low} {high}"
        );
    }
}
