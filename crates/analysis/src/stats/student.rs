//! Student's t: central and non-central distribution, interval of a mean, and Welch's test of two means.

use super::SampleMoments;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::ln_gamma;

/// Returns the probability that a standard normal variable is at most `z`.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

/// Returns the standard normal quantile of `p`; infinite at 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erfc_inv(2.0 * p.clamp(0.0, 1.0))
}

/// Returns the probability that |T| is at least |t|, for Student's T with `df` degrees of freedom; 1 if `t` or `df` is
/// NaN, or `df` is not positive.
pub fn two_sided_p(t: f64, df: f64) -> f64 {
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
pub fn t_quantile(p: f64, df: f64) -> Option<f64> {
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
pub fn noncentral_t_cdf(t: f64, df: f64, delta: f64) -> Option<f64> {
    if !(t.is_finite() && df > 0.0 && delta.abs() <= MAX_NONCENTRALITY) {
        return None;
    }
    if t < 0.0 {
        return noncentral_t_cdf(-t, df, -delta).map(|p| 1.0 - p);
    }
    let x = t * t / (df + t * t);
    let half = delta * delta / 2.0;
    let b = df / 2.0;
    // Weights p_j and q_j, and their incomplete beta functions with the decrements of these.
    let mut p = 0.5 * (-half).exp();
    let mut q = std::f64::consts::FRAC_2_SQRT_PI / std::f64::consts::SQRT_2 * p * delta;
    let mut rest = 0.5 - p;
    let mut odd = beta_reg(0.5, b, x);
    let mut even = beta_reg(1.0, b, x);
    let ln_tail = b * (1.0 - x).ln();
    let mut odd_step =
        (0.5 * x.ln() + ln_tail + ln_gamma(0.5 + b) - ln_gamma(1.5) - ln_gamma(b)).exp();
    let mut even_step = (x.ln() + ln_tail + b.ln()).exp();
    let mut sum = p * odd + q * even;
    for j in 1..MAX_TERMS {
        let n = j as f64;
        odd -= odd_step;
        even -= even_step;
        odd_step *= x * (n - 0.5 + b) / (n + 0.5);
        even_step *= x * (n + b) / (n + 1.0);
        p *= half / n;
        q *= half / (n + 0.5);
        sum += p * odd + q * even;
        rest -= p;
        // The remainder is at most twice the remaining weight times the last beta function; valid only after the
        // largest weight.
        if n > half && 2.0 * rest * odd < 1e-13 {
            break;
        }
    }
    Some((sum + normal_cdf(-delta)).clamp(0.0, 1.0))
}

/// Returns the confidence interval of the mean: mean ± t · deviation / √n; `None` if it overflows. Source: Student
/// (1908).
pub fn mean_interval(sample: &SampleMoments, level: f64) -> Option<(f64, f64)> {
    let t = t_quantile(0.5 + level / 2.0, sample.df())?;
    let half = t * sample.variance_of_mean().sqrt();
    half.is_finite()
        .then_some((sample.mean - half, sample.mean + half))
}

/// Returns the half-width of the confidence interval as a fraction of the mean; `None` if the mean is 0.
pub fn relative_error(sample: &SampleMoments, level: f64) -> Option<f64> {
    let (low, high) = mean_interval(sample, level)?;
    (sample.mean != 0.0).then(|| (high - low) / 2.0 / sample.mean.abs())
}

/// Result of [`welch`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// Difference of the means, `b - a`, in standard errors; infinite if neither sample varies and they differ.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Probability of a |t| this large if the means are equal.
    pub p: f64,
}

/// Tests whether two means differ, without assuming equal variances.
///
/// Samples without variation are certainly different if their means differ, and not different otherwise. Source: Welch
/// (1947), degrees of freedom by Satterthwaite (1946).
pub fn welch(a: &SampleMoments, b: &SampleMoments) -> Welch {
    welch_at(a, b, 1.0, 0.0)
}

/// Tests whether the mean of `b` is `ratio` times that of `a`; differences up to the fraction `resolution` are
/// rounding.
///
/// This is Welch's test of `b` against the scaled sample `ratio · a`; [`super::ratio::ratio_interval`] contains the
/// ratios that it does not reject.
pub fn welch_at(a: &SampleMoments, b: &SampleMoments, ratio: f64, resolution: f64) -> Welch {
    let (t, df) = scaled_t(a, b, ratio);
    let scaled = (ratio * a.mean).abs();
    let rounding = resolution.max(super::NOISE_FLOOR) * scaled.max(b.mean.abs());
    let apart = (b.mean - ratio * a.mean).abs();
    if t.is_infinite() || apart <= rounding {
        return if apart <= rounding {
            Welch { t: 0.0, df, p: 1.0 }
        } else {
            Welch { t, df, p: 0.0 }
        };
    }
    Welch {
        t,
        df,
        p: two_sided_p(t, df),
    }
}

/// Returns the probability that the mean of `b` is this far above `ratio` times that of `a` if the true mean does not
/// exceed it.
pub fn welch_above(a: &SampleMoments, b: &SampleMoments, ratio: f64) -> f64 {
    let (t, df) = scaled_t(a, b, ratio);
    let half = if t.is_infinite() {
        0.0
    } else {
        two_sided_p(t, df) / 2.0
    };
    if t > 0.0 { half } else { 1.0 - half }
}

/// Returns the difference of `b` and `ratio · a` in standard errors, and its degrees of freedom.
fn scaled_t(a: &SampleMoments, b: &SampleMoments, ratio: f64) -> (f64, f64) {
    let (va, vb) = (a.variance_of_mean() * ratio * ratio, b.variance_of_mean());
    let apart = b.mean - ratio * a.mean;
    if va + vb == 0.0 {
        let t = if apart == 0.0 {
            0.0
        } else {
            apart.signum() * f64::INFINITY
        };
        return (t, a.df() + b.df());
    }
    (
        apart / (va + vb).sqrt(),
        satterthwaite((va, a.df()), (vb, b.df())),
    )
}

/// Returns the degrees of freedom of the sum of two variances; at least one of them is over 0.
///
/// `(va + vb)² / (va² / na + vb² / nb)`, computed from the fractions of the two, because squares of variances may
/// overflow or underflow for values in real tables. NaN if the sum is infinite. Source: Satterthwaite (1946).
pub(crate) fn satterthwaite((va, na): (f64, f64), (vb, nb): (f64, f64)) -> f64 {
    let share = va / (va + vb);
    1.0 / (share * share / na + (1.0 - share) * (1.0 - share) / nb)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, PLANT_TREATED, SLEEP_1, SLEEP_2, close};
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
    fn interval_of_the_plant_data_is_that_of_r() {
        // R: t.test(ctl)$conf.int
        let m = SampleMoments::independent(&PLANT_CONTROL).unwrap();
        let (low, high) = mean_interval(&m, 0.95).unwrap();
        close(low, 4.614_881_555_655_038, 1e-8);
        close(high, 5.449_118_444_344_96, 1e-8);
        close(
            relative_error(&m, 0.95).unwrap(),
            0.417_118_444 / 5.032,
            1e-8,
        );
    }

    #[test]
    fn welch_gives_what_the_manual_of_r_gives() {
        // R, ?t.test: t.test(extra ~ group, data = sleep): t = -1.8608, df = 17.776, p-value = 0.07939
        let sleep = welch(
            &SampleMoments::independent(&SLEEP_1).unwrap(),
            &SampleMoments::independent(&SLEEP_2).unwrap(),
        );
        close(sleep.t, 1.860_813_467_486_852_6, 1e-10);
        close(sleep.df, 17.776_473_516_178_488, 1e-9);
        close(sleep.p, 0.079_394_140_187_358_3, 1e-10);
        // scipy.stats.ttest_ind(ctl, trt1, equal_var=False)
        let plant = welch(
            &SampleMoments::independent(&PLANT_CONTROL).unwrap(),
            &SampleMoments::independent(&PLANT_TREATED).unwrap(),
        );
        close(plant.p, 0.250_382_508_587_648_9, 1e-10);
        // Two against two: ttest_ind([337, 348], [695, 644], equal_var=False)
        let cards = welch(
            &SampleMoments::independent(&[337.0, 348.0]).unwrap(),
            &SampleMoments::independent(&[695.0, 644.0]).unwrap(),
        );
        close(cards.p, 0.040_897_725_409_921_86, 1e-9);
        close(cards.df, 1.092_840_216_630_417, 1e-9);
    }

    /// Regression: squares of variances overflowed or underflowed at such deviations, the degrees of freedom were NaN,
    /// and the distribution panicked.
    #[test]
    fn deviations_of_any_size_have_degrees_of_freedom() {
        let sleep = welch(
            &SampleMoments::independent(&SLEEP_1).unwrap(),
            &SampleMoments::independent(&SLEEP_2).unwrap(),
        );
        for scale in [1e-90, 1e-78, 1e78, 1e150] {
            let scaled = |values: &[f64]| {
                SampleMoments::independent(&values.iter().map(|v| v * scale).collect::<Vec<_>>())
                    .unwrap()
            };
            let found = welch(&scaled(&SLEEP_1), &scaled(&SLEEP_2));
            close(found.df, sleep.df, 1e-9);
            close(found.p, sleep.p, 1e-9);
        }
        let (a, b) = (
            SampleMoments::new(10, 1.0, 1e200).unwrap(),
            SampleMoments::new(10, 2.0, 1e200).unwrap(),
        );
        assert_eq!(
            welch(&a, &b).p,
            1.0,
            "nothing can be told of what varies without bounds"
        );
        assert_eq!(
            (
                two_sided_p(f64::NAN, 5.0),
                two_sided_p(1.0, f64::NAN),
                two_sided_p(1.0, 0.0)
            ),
            (1.0, 1.0, 1.0)
        );
    }

    #[test]
    fn samples_that_do_not_vary_are_equal_or_different_for_certain() {
        let of = |v: f64| SampleMoments::independent(&[v; 3]).unwrap();
        assert_eq!(welch(&of(5.0), &of(5.0)).p, 1.0);
        assert_eq!(welch(&of(5.0), &of(5.1)).p, 0.0);
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
