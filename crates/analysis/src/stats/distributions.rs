//! The normal distribution, and Student's t: central and non-central.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::ln_gamma;

/// Returns the probability that a standard normal variable is at most `z`.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// Returns the standard normal quantile of `p`; infinite at 0 and 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p.clamp(0.0, 1.0))
}

/// Returns the probability that |T| is at least |t|, for Student's T with `df` degrees of freedom; 1 if `t` or `df` is
/// NaN, or `df` is not positive.
pub(crate) fn two_sided_p(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return 1.0;
    }
    if t.is_infinite() {
        return 0.0;
    }
    // I_x(df/2, 1/2) with x = df / (df + t²) is the two-sided tail (Abramowitz and Stegun 26.7.1). x loses the digits
    // of a small t, but p is then 1 within rounding.
    beta_reg(df / 2.0, 0.5, (df / (df + t * t)).clamp(0.0, 1.0))
}

/// Returns the quantile of Student's T for `p`, `0 < p < 1`; `None` for other `p`, or `df <= 0`.
pub(crate) fn t_quantile(p: f64, df: f64) -> Option<f64> {
    let distribution = StudentsT::new(0.0, 1.0, df).ok()?;
    let t = (0.0 < p && p < 1.0).then(|| distribution.inverse_cdf(p))?;
    t.is_finite().then_some(t)
}

/// Maximum number of terms of the series in [`noncentral_t_cdf`]; its largest term is near δ²/2, which is under 650.
const MAX_TERMS: usize = 2_000;

/// Maximum non-centrality of the series: above it, e^(-δ²/2) underflows.
pub(crate) const MAX_NONCENTRALITY: f64 = 36.0;

/// Returns the probability that a non-central T with `df` degrees of freedom and non-centrality `delta` is at most `t`.
///
/// `None` if |delta| is over 36. Source: Lenth (1989), algorithm AS 243: a Poisson-weighted sum of incomplete beta
/// functions, computed by recurrence.
pub(crate) fn noncentral_t_cdf(t: f64, df: f64, delta: f64) -> Option<f64> {
    if !(t.is_finite() && df > 0.0 && delta.abs() <= MAX_NONCENTRALITY) {
        return None;
    }
    if t < 0.0 {
        return noncentral_t_cdf(-t, df, -delta).map(|p| 1.0 - p);
    }
    let x = t * t / (df + t * t);
    let half = delta * delta / 2.0;
    let (mut odd, mut even) = (BetaTerms::odd(x, df / 2.0), BetaTerms::even(x, df / 2.0));
    // The Poisson weights of the odd and the even terms.
    let mut p = 0.5 * (-half).exp();
    let mut q = std::f64::consts::FRAC_2_SQRT_PI / std::f64::consts::SQRT_2 * p * delta;
    let mut rest = 0.5 - p;
    let mut sum = p * odd.value + q * even.value;
    for j in 1..MAX_TERMS {
        let n = j as f64;
        odd.advance(n + 0.5);
        even.advance(n + 1.0);
        p *= half / n;
        q *= half / (n + 0.5);
        sum += p * odd.value + q * even.value;
        rest -= p;
        // The remainder is at most twice the remaining weight times the last beta function; valid only after the
        // largest weight.
        if n > half && 2.0 * rest * odd.value < 1e-13 {
            break;
        }
    }
    Some((sum + normal_cdf(-delta)).clamp(0.0, 1.0))
}

/// Incomplete beta functions I_x(a, b) for a rising by 1 each time, by recurrence.
struct BetaTerms {
    x: f64,
    b: f64,
    value: f64,
    /// Decrement to the next value.
    step: f64,
}

impl BetaTerms {
    /// Begins at a = 1/2.
    fn odd(x: f64, b: f64) -> BetaTerms {
        let ln_tail = b * (1.0 - x).ln();
        let ln_step = 0.5 * x.ln() + ln_tail + ln_gamma(0.5 + b) - ln_gamma(1.5) - ln_gamma(b);
        BetaTerms {
            x,
            b,
            value: beta_reg(0.5, b, x),
            step: ln_step.exp(),
        }
    }

    /// Begins at a = 1.
    fn even(x: f64, b: f64) -> BetaTerms {
        let ln_tail = b * (1.0 - x).ln();
        BetaTerms {
            x,
            b,
            value: beta_reg(1.0, b, x),
            step: (x.ln() + ln_tail + b.ln()).exp(),
        }
    }

    /// Advances to `a`, one more than before.
    fn advance(&mut self, a: f64) {
        self.value -= self.step;
        self.step *= self.x * (a - 1.0 + self.b) / a;
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::close;
    use super::*;

    #[test]
    fn quantiles_of_t_are_those_of_the_tables() {
        // scipy.stats.t.ppf(.975, df)
        let table = [
            (1.0, 12.706_204_736_175),
            (2.0, 4.302_652_729_749),
            (4.0, 2.776_445_105_198),
            (9.0, 2.262_157_162_798),
            (17.776, 2.102_821_310_38),
            (29.0, 2.045_229_642_133),
        ];
        for (df, want) in table {
            close(t_quantile(0.975, df).unwrap(), want, 1e-8);
            close(t_quantile(0.025, df).unwrap(), -want, 1e-8);
            close(two_sided_p(want, df), 0.05, 1e-10);
        }
        assert_eq!(t_quantile(1.0, 5.0), None);
        assert_eq!(t_quantile(0.5, 0.0), None);
    }

    #[test]
    fn the_noncentral_distribution_is_that_of_scipy() {
        // scipy.stats.nct.cdf(t, df, nc)
        let table = [
            (2.0, 10.0, 1.0, 0.807_611_562_530_375_2),
            (-1.0, 5.0, 0.5, 0.082_444_091_056_723_37),
            (3.0, 3.0, 4.0, 0.207_473_071_787_810_85),
            (0.0, 7.0, 2.0, 0.022_750_131_948_179_12),
            (20.0, 18.0, 15.0, 0.917_603_686_725_078_5),
        ];
        for (t, df, delta, want) in table {
            close(noncentral_t_cdf(t, df, delta).unwrap(), want, 1e-9);
        }
        // Without non-centrality, it is Student's distribution.
        close(
            noncentral_t_cdf(2.262_157_162_798, 9.0, 0.0).unwrap(),
            0.975,
            1e-9,
        );
        assert_eq!(noncentral_t_cdf(1.0, 5.0, 40.0), None);
    }

    #[test]
    fn the_normal_distribution_is_its_own_inverse() {
        close(normal_quantile(0.975), 1.959_963_984_540_054, 1e-9);
        for z in [-3.0, -1.0, 0.0, 0.5, 2.5] {
            close(normal_quantile(normal_cdf(z)), z, 1e-9);
        }
    }
}
