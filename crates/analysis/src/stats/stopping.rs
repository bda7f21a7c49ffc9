//! Effect of optional stopping: coverage of intervals if runs are repeated until the mean is precise enough.

use super::LEVEL;
use super::moments::SampleMoments;
use super::student::{mean_interval, relative_error};
use hakaru_model::rng::Rng;

/// Rule that stops the repetition of runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoppingRule {
    /// Minimum number of runs.
    pub at_least: usize,
    /// Maximum number of runs.
    pub at_most: usize,
    /// Stops when the half-width of the 95% interval is at most this fraction of the mean.
    pub within: f64,
}

/// Minimum number of residuals to know the shape of the distribution.
const FEWEST_RESIDUALS: usize = 20;

/// Number of simulated campaigns.
const CAMPAIGNS: usize = 4_000;

/// Estimates the fraction of 95% intervals that cover the true mean after optional stopping, for data of this spread
/// and shape.
///
/// Campaigns are drawn by a bootstrap from the relative residuals of all samples together, so that a few runs per
/// sample are enough to know the shape. If samples differ in spread, this makes the tails heavier and the estimate
/// conservative. The true mean of a simulated campaign is known, and the rule is applied to each. The seed is fixed:
/// the same data give the same estimate. Residuals of n runs underestimate the skew, by about 20% at n = 8 and 8% at n
/// = 20.
///
/// `None` for fewer than 20 residuals from samples of three or more values that differ. Source: Efron and Tibshirani
/// (1993), sections 6.2 and 9.4, for the bootstrap of residuals; Anscombe (1953) for sequential estimation.
pub fn stopping_coverage(samples: &[&[f64]], rule: StoppingRule) -> Option<f64> {
    let mut residuals = Vec::new();
    for sample in samples.iter().filter(|sample| sample.len() >= 3) {
        let SampleMoments {
            n, mean, deviation, ..
        } = SampleMoments::of(sample)?;
        if mean > 0.0 && deviation > mean * super::NOISE_FLOOR {
            // Residuals about the mean of n values are smaller than errors about the true mean by this factor.
            let inflation = (n as f64 / (n as f64 - 1.0)).sqrt() / mean;
            residuals.extend(sample.iter().map(|value| (value - mean) * inflation));
        }
    }
    if residuals.len() < FEWEST_RESIDUALS {
        return None;
    }
    let mut rng = Rng::new(0x5709);
    let covered = (0..CAMPAIGNS)
        .filter(|_| covers(&mut rng, &residuals, rule))
        .count();
    Some(covered as f64 / CAMPAIGNS as f64)
}

/// Whether the interval of one simulated campaign covers its true mean of 1.
fn covers(rng: &mut Rng, residuals: &[f64], rule: StoppingRule) -> bool {
    let mut values = Vec::with_capacity(rule.at_most);
    loop {
        let drawn = residuals[rng.below(residuals.len() as u64) as usize];
        values.push(1.0 + drawn);
        if values.len() < rule.at_least.max(2) {
            continue;
        }
        let Some(moments) = SampleMoments::of(&values) else {
            return false;
        };
        let known = relative_error(&moments, LEVEL).is_some_and(|error| error <= rule.within);
        if known || values.len() >= rule.at_most {
            return mean_interval(&moments, LEVEL)
                .is_some_and(|(low, high)| low <= 1.0 && 1.0 <= high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::runs;

    const RULE: StoppingRule = StoppingRule {
        at_least: 3,
        at_most: 20,
        within: 0.02,
    };

    /// Returns the true coverage, from campaigns drawn from the distribution itself.
    fn simulated(rng: &mut Rng, draw: impl Fn(&mut Rng) -> f64, truth: f64) -> f64 {
        let covers = |_: &u32| {
            let mut values = vec![draw(rng), draw(rng), draw(rng)];
            loop {
                let moments = SampleMoments::of(&values).unwrap();
                let known = relative_error(&moments, LEVEL).unwrap() <= RULE.within;
                if known || values.len() == RULE.at_most {
                    let (low, high) = mean_interval(&moments, LEVEL).unwrap();
                    return low <= truth && truth <= high;
                }
                values.push(draw(rng));
            }
        };
        f64::from((0..4_000).filter(covers).count() as u32) / 4_000.0
    }

    fn skewed(rng: &mut Rng) -> f64 {
        100.0 + 4.0 * (1.0 + (1.0 - rng.unit()).ln()).max(-6.0)
    }

    #[test]
    fn coverage_after_stopping_follows_the_shape_of_the_data() {
        let mut rng = Rng::new(11);
        let normal: Vec<Vec<f64>> = (0..40).map(|_| runs(&mut rng, 20, 100.0, 0.03)).collect();
        let slow: Vec<Vec<f64>> = (0..40)
            .map(|_| (0..20).map(|_| skewed(&mut rng)).collect())
            .collect();
        let estimate = |samples: &[Vec<f64>]| {
            let samples: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
            stopping_coverage(&samples, RULE).unwrap()
        };
        let of_normal = simulated(&mut rng, |rng| runs(rng, 1, 100.0, 0.03)[0], 100.0);
        let of_skewed = simulated(&mut rng, skewed, 100.0);
        assert!(of_skewed < of_normal - 0.01, "{of_skewed} {of_normal}");
        for (estimate, truth) in [(estimate(&normal), of_normal), (estimate(&slow), of_skewed)] {
            assert!(
                (estimate - truth).abs() < 0.03,
                "{estimate} where {truth} is true"
            );
        }
    }

    #[test]
    fn few_or_equal_runs_have_no_shape() {
        assert_eq!(stopping_coverage(&[], RULE), None);
        assert_eq!(stopping_coverage(&[&[1.0, 2.0, 3.0]], RULE), None);
        assert_eq!(stopping_coverage(&[&[5.0; 30]], RULE), None);
    }
}
