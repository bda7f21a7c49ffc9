//! Ratio of two means with its interval: "how many times faster".

use super::moments::SampleMoments;
use super::student::welch_at;

/// Maximum number of doublings of the step before an interval counts as unbounded.
const MOST_DOUBLINGS: u32 = 60;

/// Returns the confidence interval of `mean(b) / mean(a)` for two independent samples of nonnegative quantities: the
/// ratios around the observed one that Welch's test does not reject at this level ([`welch_at`]). Others far away, which
/// two or three runs may not reject either, are not in it. It excludes 1 exactly if the test finds a difference at the
/// level. Differences up to the fraction `resolution` are rounding.
///
/// `None` if the mean of `a` does not differ from 0, so that the interval has no bound. Source: Fieller (1954), with
/// the degrees of freedom of unequal variances at each ratio instead of the estimated one.
pub(crate) fn ratio_interval(
    a: &SampleMoments,
    b: &SampleMoments,
    level: f64,
    resolution: f64,
) -> Option<(f64, f64)> {
    if a.mean == 0.0 {
        return None;
    }
    let (ratio, alpha) = (b.mean / a.mean, 1.0 - level);
    let rejects = |ratio: f64| welch_at(a, b, ratio, resolution).p <= alpha;
    if !ratio.is_finite() || rejects(ratio) {
        return None;
    }
    let error = (b.variance_of_mean() + ratio * ratio * a.variance_of_mean()).sqrt() / a.mean.abs();
    let step = error
        .max(ratio.abs() * resolution)
        .max(ratio.abs() * super::NOISE_FLOOR)
        .max(f64::MIN_POSITIVE);
    let high = first_rejected(ratio, step, &rejects)?;
    let low = first_rejected(ratio, -step, &rejects);
    // Nonnegative quantities have no negative ratio; without a lower bound, it is 0.
    let low = match a.mean > 0.0 && b.mean >= 0.0 {
        true => low.unwrap_or(0.0).max(0.0),
        false => low?,
    };
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    Some(consistent(ratio, (low, high), &rejects))
}

/// Adjusts the ends, which enclose the ratios that are not rejected, so that 1 is inside exactly if it is not rejected.
fn consistent(ratio: f64, (low, high): (f64, f64), rejects: &impl Fn(f64) -> bool) -> (f64, f64) {
    match (rejects(1.0), low <= 1.0 && 1.0 <= high) {
        (true, true) if ratio < 1.0 => (low, border(ratio, 1.0, rejects)),
        (true, true) => (border(ratio, 1.0, rejects), high),
        (false, false) => (low.min(1.0), high.max(1.0)),
        _ => (low, high),
    }
}

/// Returns the end of the ratios that are not rejected, in the direction of `step`; `None` if it is too far.
fn first_rejected(ratio: f64, mut step: f64, rejects: &impl Fn(f64) -> bool) -> Option<f64> {
    for _ in 0..MOST_DOUBLINGS {
        if rejects(ratio + step) {
            return Some(border(ratio, ratio + step, rejects));
        }
        step *= 2.0;
    }
    None
}

/// Returns the last ratio from `inside` to `outside` that is not rejected, by bisection.
fn border(mut inside: f64, mut outside: f64, rejects: &impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = inside + (outside - inside) / 2.0;
        if rejects(middle) {
            outside = middle
        } else {
            inside = middle
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, PLANT_TREATED, close};
    use super::*;

    #[test]
    fn the_interval_holds_what_welch_does_not_reject() {
        // scipy: brentq over r of the p-value of Welch's test of trt1 against r * ctl, p = 0.05.
        let of = |v: &[f64]| SampleMoments::independent(v).unwrap();
        let (a, b) = (of(&PLANT_CONTROL), of(&PLANT_TREATED));
        let (low, high) = ratio_interval(&a, &b, 0.95, 0.0).unwrap();
        close(low, 0.802_549_602_690_381_2, 1e-8);
        close(high, 1.059_645_000_160_886_8, 1e-8);
        for end in [low, high] {
            close(welch_at(&a, &b, end, 0.0).p, 0.05, 1e-9);
        }
    }

    #[test]
    fn it_excludes_one_exactly_when_welch_finds_a_difference() {
        let mut rng = hakaru_model::rng::Rng::new(5);
        let mut excluded = 0;
        for trial in 0..2_000 {
            let n = [2, 3, 5, 10][trial % 4];
            let far = 100.0 + (trial % 25) as f64;
            let (a, b) = (
                crate::testing::runs(&mut rng, n, 100.0, 0.04),
                crate::testing::runs(&mut rng, n, far, 0.02),
            );
            let (a, b) = (
                SampleMoments::of(&a).unwrap(),
                SampleMoments::of(&b).unwrap(),
            );
            let level = [0.95, 0.999][trial / 4 % 2];
            let Some((low, high)) = ratio_interval(&a, &b, level, 0.0) else {
                continue;
            };
            let outside = !(low <= 1.0 && 1.0 <= high);
            excluded += u32::from(outside);
            assert_eq!(
                outside,
                welch_at(&a, &b, 1.0, 0.0).p <= 1.0 - level,
                "{a:?} {b:?}"
            );
        }
        assert!((300..1_700).contains(&excluded), "{excluded}");
    }

    #[test]
    fn constant_samples_have_an_exact_ratio() {
        let of = |v: f64| SampleMoments::of(&[v; 4]).unwrap();
        let (low, high) = ratio_interval(&of(2.0), &of(5.0), 0.95, 0.0).unwrap();
        close(low, 2.5, 1e-9);
        close(high, 2.5, 1e-9);
        assert_eq!(ratio_interval(&of(0.0), &of(5.0), 0.95, 0.0), None);
    }

    /// Regression: ratios of rates were printed as `[-0.4, 2.1]`.
    #[test]
    fn ratios_are_never_negative_and_have_no_interval_without_a_bound() {
        let of = |v: &[f64]| SampleMoments::of(v).unwrap();
        let (low, high) =
            ratio_interval(&of(&[100.0, 101.0]), &of(&[3.0, 9.0]), 0.95, 0.0).unwrap();
        assert!(low == 0.0 && high > 0.06, "{low} {high}");
        assert_eq!(
            ratio_interval(&of(&[0.1, 4.0, 0.2]), &of(&[1.0, 1.1, 0.9]), 0.95, 0.0),
            None
        );
    }

    /// Regression: a mean printed as 0.0 MB/s had the ratio `0x [0, 0]`.
    #[test]
    fn the_rounding_of_a_printed_figure_is_in_its_interval() {
        let printed = |mean: f64| {
            SampleMoments::new(3, mean, 0.0)
                .unwrap()
                .rounded(0.05, 0.05)
        };
        let (low, high) = ratio_interval(&printed(10.0), &printed(0.0), 0.95, 0.0).unwrap();
        assert!(low == 0.0 && high > 0.005, "{low} {high}");
    }
}
