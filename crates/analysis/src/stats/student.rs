//! Student's interval of a mean, and Welch's test of two means.

use super::distributions::{t_quantile, two_sided_p};
use super::moments::SampleMoments;

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

/// Returns the confidence interval of the difference of the means, `b - a`, without assuming equal variances; `None` if
/// it overflows. Source: Welch (1947).
pub(crate) fn difference_interval(
    a: &SampleMoments,
    b: &SampleMoments,
    level: f64,
) -> Option<(f64, f64)> {
    let (va, vb) = (a.variance_of_mean(), b.variance_of_mean());
    let apart = b.mean - a.mean;
    if va + vb == 0.0 {
        return Some((apart, apart));
    }
    let df = satterthwaite((va, a.df()), (vb, b.df()));
    let half = t_quantile(0.5 + level / 2.0, df)? * (va + vb).sqrt();
    half.is_finite().then_some((apart - half, apart + half))
}

/// Result of [`welch_at`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Welch {
    /// Difference of the means, `b - a`, in standard errors; infinite if neither sample varies and they differ.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Probability of a |t| this large if the means are equal.
    pub p: f64,
}

/// Tests whether the mean of `b` is `ratio` times that of `a`, without assuming equal variances; differences up to the
/// fraction `resolution` are rounding.
///
/// Samples without variation are certainly different if their means differ, and not different otherwise. This is Welch's
/// test of `b` against the scaled sample `ratio · a`; [`super::ratio::ratio_interval`] contains the ratios that it does
/// not reject. Source: Welch (1947), degrees of freedom by Satterthwaite (1946).
pub(crate) fn welch_at(a: &SampleMoments, b: &SampleMoments, ratio: f64, resolution: f64) -> Welch {
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
pub(crate) fn welch_above(a: &SampleMoments, b: &SampleMoments, ratio: f64) -> f64 {
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

    fn welch(a: &SampleMoments, b: &SampleMoments) -> Welch {
        welch_at(a, b, 1.0, 0.0)
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
    fn interval_of_the_sleep_data_is_that_of_r() {
        // R, ?t.test: t.test(extra ~ group, data = sleep): 95 percent confidence interval -3.3654832 0.2054832
        let (low, high) = difference_interval(
            &SampleMoments::independent(&SLEEP_1).unwrap(),
            &SampleMoments::independent(&SLEEP_2).unwrap(),
            0.95,
        )
        .unwrap();
        close(low, -0.205_483_2, 1e-6);
        close(high, 3.365_483_2, 1e-6);
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

    #[test]
    fn each_sample_counts_by_its_own_size() {
        // scipy.stats.ttest_ind(ctl, trt1[:4], equal_var=False); the degrees of freedom follow from the formula.
        let found = welch(
            &SampleMoments::independent(&PLANT_CONTROL).unwrap(),
            &SampleMoments::independent(&PLANT_TREATED[..4]).unwrap(),
        );
        close(found.t, -2.500_098_616_499_69, 1e-10);
        close(found.df, 6.372_918_300_632_079, 1e-9);
        close(found.p, 0.044_237_359_648_454_33, 1e-9);
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
            "values that vary without bounds decide nothing"
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
}
