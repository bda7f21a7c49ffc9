//! From numbers to [`Estimate`]: what repeated measurements of one quantity say together.

use crate::stats::{self, Moments, describe};
use hakaru_model::finding::Estimate;

/// Sums up repeated measurements. What is not finite is left out; `None` when nothing is left.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    let values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let sorted = describe::sorted(&values)?;
    let moments = Moments::of(&values);
    Some(Estimate {
        mean: stats::mean(&values)?,
        deviation: moments.map(|m| m.deviation),
        median: stats::median(&values)?,
        mad: stats::mad(&values)?,
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        ci95: moments.and_then(|m| stats::mean_interval(&m, stats::LEVEL)),
        values,
    })
}

/// An estimate of which only mean, deviation and number are published.
///
/// It has no values. Median and extremes are set to the mean, and the median absolute deviation to that of a normal
/// distribution, for want of anything better: show only mean, deviation and interval of an estimate without values.
pub fn published(moments: &Moments) -> Estimate {
    let Moments { mean, deviation, .. } = *moments;
    Estimate {
        values: Vec::new(),
        mean,
        deviation: Some(deviation),
        median: mean,
        mad: deviation * 0.6745,
        min: mean,
        max: mean,
        ci95: stats::mean_interval(moments, stats::LEVEL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_has_no_spread_and_none_no_estimate() {
        let one = estimate(&[5.0]).unwrap();
        assert_eq!((one.mean, one.median, one.deviation, one.ci95), (5.0, 5.0, None, None));
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[f64::NAN, 2.0]).unwrap().values, [2.0]);
    }

    #[test]
    fn values_keep_the_order_of_the_runs() {
        let e = estimate(&[3.0, 1.0, 2.0]).unwrap();
        assert_eq!((e.values.as_slice(), e.min, e.max, e.median), (&[3.0, 1.0, 2.0][..], 1.0, 3.0, 2.0));
    }

    #[test]
    fn published_figures_have_an_interval() {
        // Ten runs of 26.3 ± 3.2: 26.3 ± 2.262 · 3.2 / √10.
        let (low, high) = published(&Moments::new(10, 26.3, 3.2).unwrap()).ci95.unwrap();
        assert!((low - 24.0109).abs() < 1e-3 && (high - 28.5891).abs() < 1e-3, "{low} {high}");
    }
}
