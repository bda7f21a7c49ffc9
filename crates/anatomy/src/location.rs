//! Location of samples with heavy tails: M-estimates, their standard errors, and findings from them.

use hakaru_analysis::stats::{mad, median};
use hakaru_model::anatomy::{CardFinding, DeclineReason, PropertyValue};

/// Standard errors in half of a 99% interval.
const Z: f64 = 2.6;

/// Largest half width of an interval that is reported as a value, as a fraction of it.
pub(crate) const WIDEST: f64 = 0.055;

/// Spreads beyond which a value has no more influence: 95% as efficient as the mean of a normal distribution.
const HUBER: f64 = 1.345;

/// Steps towards the M-estimate; it converges within a few.
const STEPS: u32 = 8;

/// Half width at which an experiment stops, as a fraction of the value.
const NARROW: f64 = 0.035;

/// A location and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SampleLocation {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl SampleLocation {
    /// Returns the location of latencies, which are log-normal with rare stalls: Huber's M-estimate of their logarithms.
    /// It is as little disturbed by stalls as the median and needs two thirds of its samples. The spread is at least
    /// 0.85·σ: otherwise a sample that happens to be narrow ends an experiment too early.
    pub(crate) fn of(values: &[f64], sigma: f64) -> Option<SampleLocation> {
        if values.iter().any(|value| *value <= 0.0) {
            return SampleLocation::with_spread(values, 0.85 * sigma * median(values)?.abs());
        }
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        let found = SampleLocation::with_spread(&logs, 0.85 * sigma)?;
        let value = found.value.exp();
        Some(SampleLocation {
            value,
            error: value * found.error,
        })
    }

    /// Returns Huber's M-estimate (Huber 1964), with the standard error of a spread that is at least `least`.
    pub(crate) fn with_spread(values: &[f64], least: f64) -> Option<SampleLocation> {
        let mut middle = median(values)?;
        let spread = (1.4826 * mad(values)?).max(least);
        let n = values.len() as f64;
        if spread <= 0.0 {
            return Some(SampleLocation::exact(middle));
        }
        let influence = |value: f64, middle: f64| ((value - middle) / spread).clamp(-HUBER, HUBER);
        for _ in 0..STEPS {
            let sum: f64 = values.iter().map(|value| influence(*value, middle)).sum();
            let inside = values
                .iter()
                .filter(|value| (**value - middle).abs() < HUBER * spread);
            middle += spread * sum / inside.count().max(1) as f64;
        }
        let squares: f64 = values
            .iter()
            .map(|value| influence(*value, middle).powi(2))
            .sum();
        let inside = values
            .iter()
            .filter(|value| (**value - middle).abs() < HUBER * spread);
        let share = (inside.count() as f64 / n).max(0.5);
        // Of a normal distribution, this is the error of the mean divided by √0.95.
        let by_sample = spread * (squares / n).sqrt() / share;
        Some(SampleLocation {
            value: middle,
            error: by_sample.max(1.026 * least) / n.sqrt(),
        })
    }

    pub(crate) fn exact(value: f64) -> SampleLocation {
        SampleLocation { value, error: 0.0 }
    }

    pub(crate) fn minus(self, other: SampleLocation) -> SampleLocation {
        SampleLocation {
            value: self.value - other.value,
            error: self.error.hypot(other.error),
        }
    }

    pub(crate) fn times(self, factor: f64) -> SampleLocation {
        SampleLocation {
            value: self.value * factor,
            error: self.error * factor.abs(),
        }
    }

    /// Returns `numerator / self`; the relative error stays.
    pub(crate) fn divide(self, numerator: f64) -> SampleLocation {
        let value = numerator / self.value;
        SampleLocation {
            value,
            error: value.abs() * (self.error / self.value.abs()),
        }
    }

    /// Returns whether more samples would not change the finding: the interval is narrow, or the value is certainly
    /// below the floor.
    pub(crate) fn is_certain(self, floor: f64) -> bool {
        self.is_absent(floor) || Z * self.error < NARROW * self.value.abs()
    }

    fn is_absent(self, floor: f64) -> bool {
        self.value.abs() + 3.0 * self.error < floor
    }

    /// Returns the finding: a value, its absence up to a bound, or the width of the interval as the reason for neither.
    pub(crate) fn finding(self, floor: f64) -> CardFinding {
        if self.is_absent(floor) {
            return CardFinding::Absent { up_to: floor };
        }
        let half = Z * self.error;
        if self.value > 0.0 && half <= WIDEST * self.value {
            CardFinding::Known(PropertyValue {
                value: self.value,
                low: self.value - half,
                high: self.value + half,
            })
        } else {
            CardFinding::Unknown(DeclineReason::Noisy {
                value: self.value,
                relative_error: half / self.value.abs().max(1.0),
            })
        }
    }
}

/// Returns the difference of two medians.
pub(crate) fn difference(a: &[f64], b: &[f64], sigma: f64) -> Option<SampleLocation> {
    Some(SampleLocation::of(a, sigma)?.minus(SampleLocation::of(b, sigma)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::rng::Rng;

    /// Log-normal latencies with a median, and a stall in a hundred.
    pub(crate) fn noisy(rng: &mut Rng, n: usize, middle: f64, sigma: f64) -> Vec<f64> {
        let normal = |rng: &mut Rng| (0..12).map(|_| rng.unit()).sum::<f64>() - 6.0;
        let one = |rng: &mut Rng| {
            let stall = if rng.unit() < 0.01 { 50e6 } else { 0.0 };
            middle * (sigma * normal(rng)).exp() + stall
        };
        (0..n).map(|_| one(rng)).collect()
    }

    #[test]
    fn intervals_of_differences_cover_the_truth_despite_stalls() {
        let mut rng = Rng::new(3);
        let covered = (0..500).filter(|_| {
            let (a, b) = (
                noisy(&mut rng, 200, 420e3, 0.05),
                noisy(&mut rng, 200, 400e3, 0.05),
            );
            let found = difference(&a, &b, 0.05).unwrap();
            (found.value - 20e3).abs() <= Z * found.error
        });
        let covered = covered.count();
        assert!(covered >= 490, "{covered} of 500");
    }

    #[test]
    fn findings_are_values_absences_or_reasons() {
        let of = |value, error| SampleLocation { value, error }.finding(10.0);
        assert!(of(100.0, 1.0).known().is_some());
        assert_eq!(of(2.0, 1.0), CardFinding::Absent { up_to: 10.0 });
        assert!(matches!(
            of(30.0, 5.0),
            CardFinding::Unknown(DeclineReason::Noisy { .. })
        ));
        assert!(matches!(of(-30.0, 0.1), CardFinding::Unknown(_)));
    }
}
