//! Power of the test of two means, and the number of runs needed.

use super::distributions::{MAX_NONCENTRALITY, noncentral_t_cdf, t_quantile};
use super::student::satterthwaite;

/// Maximum number of runs per side: more are not practical.
const MOST: u32 = 10_000;

/// Known or assumed properties of two samples to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Design {
    /// Difference of the means.
    pub difference: f64,
    /// Standard deviation of the first sample.
    pub deviation_a: f64,
    /// Standard deviation of the second sample.
    pub deviation_b: f64,
    /// Significance level of the test, such as 0.05.
    pub alpha: f64,
}

/// Returns the probability that Welch's test with `n` runs per side detects the difference.
///
/// t is then non-central with `difference / √((s²a + s²b) / n)` and `(n-1)(s²a + s²b)² / (s⁴a + s⁴b)` degrees of freedom.
/// Source: Cohen (1988), section 2.2, with Satterthwaite's degrees of freedom. With equal deviations it is
/// `power.t.test` of R in its strict form. `None` for fewer than two runs, or values that are not finite.
pub(crate) fn power(design: &Design, n: u32) -> Option<f64> {
    let Design {
        difference,
        deviation_a,
        deviation_b,
        alpha,
    } = *design;
    let (va, vb) = (deviation_a.powi(2), deviation_b.powi(2));
    if n < 2 || !(difference.is_finite() && (va + vb).is_finite()) {
        return None;
    }
    if va + vb == 0.0 {
        return Some(if difference == 0.0 { alpha } else { 1.0 });
    }
    let n = f64::from(n);
    let df = satterthwaite((va, n - 1.0), (vb, n - 1.0));
    let critical = t_quantile(1.0 - alpha / 2.0, df)?;
    let delta = difference.abs() / ((va + vb) / n).sqrt();
    if delta > MAX_NONCENTRALITY {
        // With one degree of freedom, the test may miss even such differences, so return the part that is certain.
        return noncentral_t_cdf(critical, df, MAX_NONCENTRALITY).map(|miss| 1.0 - miss);
    }
    let miss = noncentral_t_cdf(critical, df, delta)? - noncentral_t_cdf(-critical, df, delta)?;
    Some((1.0 - miss).clamp(0.0, 1.0))
}

/// Returns the minimum number of runs per side with which the test detects the difference with probability `wanted`.
///
/// `None` if there is no difference, or 10,000 runs are not enough.
pub(crate) fn runs_needed(design: &Design, wanted: f64) -> Option<u32> {
    let enough = |n: u32| power(design, n).is_some_and(|p| p >= wanted);
    if design.difference == 0.0 || !enough(MOST) {
        return None;
    }
    // Power increases with n, so bisect.
    let (mut short, mut long) = (1, MOST);
    while long - short > 1 {
        let middle = (short + long) / 2;
        if enough(middle) {
            long = middle
        } else {
            short = middle
        }
    }
    Some(long)
}

#[cfg(test)]
mod tests {
    use super::super::samples::close;
    use super::*;

    fn design(difference: f64) -> Design {
        Design {
            difference,
            deviation_a: 1.0,
            deviation_b: 1.0,
            alpha: 0.05,
        }
    }

    #[test]
    fn power_is_that_of_r() {
        // R: power.t.test(n = 20, delta = 1, sd = 1): power = 0.8689528; the others with strict = TRUE, and SciPy.
        let table = [
            (20, 1.0, 0.868_953_027_7),
            (10, 2.5, 0.999_538_534_7),
            (2, 2.0, 0.218_307_074_8),
            (5, 1.0, 0.286_295_493_4),
            (64, 0.5, 0.801_459_557_9),
        ];
        for (n, difference, want) in table {
            close(power(&design(difference), n).unwrap(), want, 1e-7);
        }
        assert_eq!(power(&design(1.0), 1), None);
    }

    #[test]
    fn runs_needed_are_those_of_r_and_of_cohen() {
        // R: power.t.test(power = .90, delta = 1): n = 22.02110. Cohen (1988), table 2.4.1: d = 0.5, power .80: 64.
        assert_eq!(runs_needed(&design(1.0), 0.9), Some(23));
        assert_eq!(runs_needed(&design(0.5), 0.8), Some(64));
        assert_eq!(runs_needed(&design(0.0), 0.8), None);
        // A difference of 5% at 2% spread.
        let five = Design {
            difference: 0.05,
            deviation_a: 0.02,
            deviation_b: 0.02,
            alpha: 0.05,
        };
        assert_eq!(runs_needed(&five, 0.8), Some(4));
    }

    #[test]
    fn extremes_have_an_answer() {
        let sharp = Design {
            difference: 1.0,
            deviation_a: 1e-6,
            deviation_b: 0.0,
            alpha: 0.05,
        };
        assert!(runs_needed(&sharp, 0.8).is_some_and(|n| n <= 4));
        let exact = Design {
            difference: 1.0,
            deviation_a: 0.0,
            deviation_b: 0.0,
            alpha: 0.05,
        };
        assert_eq!(runs_needed(&exact, 0.8), Some(2));
        assert_eq!(runs_needed(&design(1e-9), 0.8), None);
    }
}
