//! Precision of a point's mean by two methods with different assumptions, and its steady state.

use crate::estimate::stated_moments;
use crate::stats::{self, Bootstrap, SampleMoments};
use crate::steady::steady_windows;
use hakaru_model::finding::{PhaseSummary, Repeated};

/// Maximum number of draws of single runs per point, so that thousands of runs cost no more than a hundred.
const DRAWS: usize = 200_000;

/// Minimum and maximum number of resamples. Source: Efron and Tibshirani (1993), section 19.3: 1,000 or more for
/// intervals. With so many runs that fewer are drawn, a bootstrap is not necessary.
const RESAMPLES: (usize, usize) = (200, 2_000);

/// Minimum number of runs for resampling.
pub(crate) const FEWEST_RESAMPLED: usize = 8;

/// Evaluates the runs of a phase in order of measurement; `None` for fewer than two runs.
///
/// The interval is bias-corrected and accelerated, with tails widened for few runs. Source: Efron (1987), Hesterberg
/// (2015). For published figures with only a mean, deviation and count, only the relative error is computed.
pub fn repeated(phase: &PhaseSummary) -> Option<Repeated> {
    let values = &phase.bandwidth.values;
    if values.is_empty() {
        let runs = phase.detail.stated_runs?;
        let moments = stated_moments(&phase.bandwidth, runs)?;
        let relative_error = stats::relative_error(&moments, stats::LEVEL);
        return Some(Repeated {
            relative_error,
            ..Repeated::default()
        });
    }
    let moments = SampleMoments::of(values)?;
    let interval = resampled(values);
    let windows = steady_windows(values);
    Some(Repeated {
        relative_error: stats::relative_error(&moments, stats::LEVEL),
        bootstrap_ci95: interval.map(|ends| widened(ends, values, &moments)),
        steady: windows.first().copied(),
        steady_windows: windows,
    })
}

/// Returns the bootstrap interval of the mean; `None` for too few runs.
fn resampled(values: &[f64]) -> Option<(f64, f64)> {
    let resamples = (DRAWS / values.len()).clamp(RESAMPLES.0, RESAMPLES.1) as u32;
    let bootstrap = Bootstrap {
        resamples,
        ..Bootstrap::default()
    };
    let mean = |sample: &[f64]| sample.iter().sum::<f64>() / sample.len() as f64;
    match values.len() {
        // The bootstrap covers 76% at n = 3 and 90% at n = 5.
        ..FEWEST_RESAMPLED => None,
        // With more runs, the jackknife costs more time than it improves the interval.
        FEWEST_RESAMPLED..=100 => bootstrap.bca(values, mean),
        _ => bootstrap.percentile(values, mean),
    }
}

/// Widens an interval for correlated runs. Resampling assumes independent runs; if consecutive runs are correlated,
/// both ends move away from the mean as in Student's interval.
fn widened((low, high): (f64, f64), values: &[f64], moments: &SampleMoments) -> (f64, f64) {
    let half =
        |of: &SampleMoments| stats::mean_interval(of, stats::LEVEL).map(|(low, high)| high - low);
    let plain = SampleMoments::independent(values).and_then(|plain| half(&plain));
    let factor = half(moments)
        .zip(plain)
        .filter(|(_, plain)| *plain > 0.0)
        .map_or(1.0, |(wide, plain)| wide / plain);
    (
        moments.mean - (moments.mean - low) * factor,
        moments.mean + (high - moments.mean) * factor,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_series, suite};

    #[test]
    fn two_ways_to_an_interval_agree_where_the_spread_is_even() {
        let mut phase = read_series(3, 40e6, 0.01).phases[0].clone();
        assert_eq!(
            repeated(&phase).unwrap().bootstrap_ci95,
            None,
            "five runs are too few to resample"
        );
        let mut rng = hakaru_model::rng::Rng::new(2);
        phase.bandwidth = crate::estimate(&crate::testing::runs(&mut rng, 12, 40e6, 0.01)).unwrap();
        let phase = &phase;
        let found = repeated(phase).unwrap();
        let (low, high) = found.bootstrap_ci95.unwrap();
        let (by_t_low, by_t_high) = phase.bandwidth.ci95.unwrap();
        let half = (by_t_high - by_t_low) / 2.0;
        assert!(
            (low - by_t_low).abs() < half / 2.0 && (high - by_t_high).abs() < half / 2.0,
            "{found:?}"
        );
        assert!((found.relative_error.unwrap() - half / phase.bandwidth.mean).abs() < 1e-12);
        assert_eq!(found.steady.unwrap().first_round, 0);
    }

    #[test]
    fn runs_that_fall_all_the_way_are_not_settled() {
        let mut phase = suite(8).phases[0].clone();
        phase.bandwidth =
            crate::estimate(&[90.0, 70.0, 55.0, 42.0, 33.0, 25.0, 19.0, 14.0]).unwrap();
        assert_eq!(repeated(&phase).unwrap().steady, None);
        phase.bandwidth = crate::estimate(&[90.0]).unwrap();
        assert_eq!(repeated(&phase), None);
    }

    #[test]
    fn of_published_figures_the_error_is_known_and_the_rest_is_not() {
        let mut phase = suite(2).phases[0].clone();
        phase.bandwidth =
            crate::estimate::published(&SampleMoments::new(10, 20.0, 1.0).unwrap(), 0.0);
        phase.detail.stated_runs = Some(10);
        let found = repeated(&phase).unwrap();
        // t with 9 degrees of freedom is 2.262.
        assert!(
            (found.relative_error.unwrap() - 2.262 / 10f64.sqrt() / 20.0).abs() < 1e-4,
            "{found:?}"
        );
        assert_eq!((found.bootstrap_ci95, found.steady), (None, None));
    }

    #[test]
    fn thousands_of_runs_are_no_burden() {
        let mut phase = suite(2).phases[0].clone();
        let values: Vec<f64> = (0..5_000).map(|i| 100.0 + f64::from(i % 7)).collect();
        phase.bandwidth = crate::estimate(&values).unwrap();
        let (low, high) = repeated(&phase).unwrap().bootstrap_ci95.unwrap();
        assert!(
            low < 103.0 && 103.0 < high && high - low < 0.2,
            "{low} {high}"
        );
    }
}
