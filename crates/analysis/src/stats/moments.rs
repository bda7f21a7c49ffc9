//! Size, mean and standard deviation of a sample.

use super::NOISE_FLOOR;
use super::describe::mean;
use super::order::effective_runs;

/// Size, mean and standard deviation of a sample, as needed by tests with Student's t.
///
/// Published tables contain only these numbers, so functions that need no more accept them instead of the values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleMoments {
    /// Number of values; at least two.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation of the sample (divisor n - 1).
    pub deviation: f64,
    /// Effective number of independent values; equal to `n` unless consecutive values are correlated.
    pub effective: f64,
    /// Half of the last printed digit of a published mean, otherwise 0.
    pub rounding: f64,
}

impl SampleMoments {
    /// Computes the moments of a sample; `None` for fewer than two values, or if one is not finite.
    ///
    /// The order of the values matters: if consecutive values are correlated, `effective` is less than their number
    /// (see `effective_runs`).
    pub fn of(values: &[f64]) -> Option<SampleMoments> {
        let moments = SampleMoments::independent(values)?;
        Some(SampleMoments {
            effective: effective_runs(values),
            ..moments
        })
    }

    /// Computes the moments of a sample of independent values, in any order.
    ///
    /// The deviation is computed in two passes to avoid cancellation; rounding errors of equal values count as 0.
    pub fn independent(values: &[f64]) -> Option<SampleMoments> {
        let mean = mean(values)?;
        if values.len() < 2 {
            return None;
        }
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        SampleMoments::new(
            values.len(),
            mean,
            (squares / (values.len() - 1) as f64).sqrt(),
        )
    }

    /// Creates the moments of published figures; `None` for fewer than two values, a negative deviation, or values that
    /// are not finite.
    pub fn new(n: usize, mean: f64, deviation: f64) -> Option<SampleMoments> {
        let sound = n >= 2 && mean.is_finite() && deviation.is_finite() && deviation >= 0.0;
        let deviation = if deviation <= mean.abs() * NOISE_FLOOR {
            0.0
        } else {
            deviation
        };
        sound.then_some(SampleMoments {
            n,
            mean,
            deviation,
            effective: n as f64,
            rounding: 0.0,
        })
    }

    /// Adds the rounding of printed figures: `mean` and `deviation` are half of their last digits.
    ///
    /// A deviation printed as 0 may be up to half of its last digit, and that value is used.
    pub fn rounded(self, mean: f64, deviation: f64) -> SampleMoments {
        SampleMoments {
            rounding: mean,
            deviation: self.deviation.max(deviation),
            ..self
        }
    }

    /// Returns the variance of the mean, including rounding, which is uniform over the last digit.
    ///
    /// With correlated consecutive values, the variance of the sample is too small by (n - n/n') / (n - 1), where n' is
    /// the effective number. Source: Bayley and Hammersley (1946).
    pub(crate) fn variance_of_mean(&self) -> f64 {
        let n = self.n as f64;
        let missed = (n - 1.0) / (n - n / self.effective).max(1.0);
        self.deviation.powi(2) * missed / self.effective + self.rounding.powi(2) / 3.0
    }

    /// Returns the degrees of freedom of the deviation.
    pub fn df(&self) -> f64 {
        (self.n - 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, close};
    use super::*;

    #[test]
    fn moments_of_the_plant_data_are_those_of_r() {
        // R: mean(ctl); sd(ctl)
        let m = SampleMoments::of(&PLANT_CONTROL).unwrap();
        close(m.mean, 5.032, 1e-12);
        close(m.deviation, 0.583_091_378_392_405_7, 1e-12);
    }

    #[test]
    fn too_few_or_infinite_values_have_no_moments() {
        assert_eq!(SampleMoments::of(&[1.0]), None);
        assert_eq!(SampleMoments::of(&[1.0, f64::INFINITY]), None);
        assert_eq!(SampleMoments::new(5, 1.0, -1.0), None);
    }

    #[test]
    fn equal_values_have_no_deviation_whatever_rounding_leaves() {
        assert_eq!(SampleMoments::of(&[0.1; 7]).unwrap().deviation, 0.0);
        assert_eq!(
            SampleMoments::of(&[33.6e6 / 3.0; 9]).unwrap().deviation,
            0.0
        );
    }
}
