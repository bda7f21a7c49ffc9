//! The ratio of two means with its interval: what readers want when they ask "how many times faster".

use super::student::{satterthwaite, t_quantile};
use super::{Bootstrap, Moments};

/// Confidence interval of `mean(b) / mean(a)` for two independent samples.
///
/// `None` when the mean of `a` is not told from 0, so that the interval would be unbounded.
/// Source: Fieller (1954), with the degrees of freedom of unequal variances at the estimated ratio (Hasler, Vonk and
/// Hothorn 2008).
pub fn fieller(a: &Moments, b: &Moments, level: f64) -> Option<(f64, f64)> {
    if a.mean == 0.0 {
        return None;
    }
    let ratio = b.mean / a.mean;
    let (va, vb) = (a.variance_of_mean() * ratio * ratio, b.variance_of_mean());
    if va + vb == 0.0 && a.deviation == 0.0 {
        return Some((ratio, ratio));
    }
    let (na, nb) = ((a.n - 1) as f64, (b.n - 1) as f64);
    let df = if va + vb == 0.0 { na } else { satterthwaite((va, na), (vb, nb)) };
    let t = t_quantile(0.5 + level / 2.0, df)?;
    // How far the mean of `a` is from 0: from 1 on, a share of the interval's samples has a denominator of 0.
    let blur = t * t * a.variance_of_mean() / a.mean.powi(2);
    if blur >= 1.0 {
        return None;
    }
    let half = t / a.mean.abs() * (vb * (1.0 - blur) + va).sqrt();
    Some(((ratio - half) / (1.0 - blur), (ratio + half) / (1.0 - blur)))
}

/// [`fieller`], or where that is unbounded the bootstrap interval of the ratio.
///
/// `None` when a sample has fewer than two values, or the mean of `a` may be 0.
pub fn ratio_of_means(a: &[f64], b: &[f64], level: f64) -> Option<(f64, f64)> {
    let interval = fieller(&Moments::of(a)?, &Moments::of(b)?, level);
    interval.or_else(|| Bootstrap { level, ..Bootstrap::default() }.ratio(a, b))
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, PLANT_TREATED, close};
    use super::*;

    #[test]
    fn the_interval_solves_fiellers_equation() {
        // Worked in Python from the formula of Fieller (1954): df = 15.8637 at the ratio 0.92627.
        let of = |v: &[f64]| Moments::of(v).unwrap();
        let (low, high) = fieller(&of(&PLANT_CONTROL), &of(&PLANT_TREATED), 0.95).unwrap();
        close(low, 0.803_406_606_781_862_8, 1e-8);
        close(high, 1.060_399_552_984_547_4, 1e-8);
        // Each end r makes |mean(b) - r mean(a)| just t standard errors.
        let (a, b) = (of(&PLANT_CONTROL), of(&PLANT_TREATED));
        for end in [low, high] {
            let error = (b.variance_of_mean() + end * end * a.variance_of_mean()).sqrt();
            close((b.mean - end * a.mean).abs() / error, t_quantile(0.975, 15.863_672_183_280_212).unwrap(), 1e-7);
        }
    }

    #[test]
    fn constant_samples_have_an_exact_ratio() {
        let of = |v: f64| Moments::of(&[v; 4]).unwrap();
        assert_eq!(fieller(&of(2.0), &of(5.0), 0.95), Some((2.5, 2.5)));
        assert_eq!(fieller(&of(0.0), &of(5.0), 0.95), None);
    }

    #[test]
    fn an_unbounded_interval_falls_back_to_the_bootstrap() {
        assert_eq!(ratio_of_means(&[0.0, 0.0, 5.0], &[1.0, 2.0, 3.0], 0.95), None);
        let (a, b) = ([0.1, 4.0, 0.2], [1.0, 1.1, 0.9]);
        assert_eq!(fieller(&Moments::of(&a).unwrap(), &Moments::of(&b).unwrap(), 0.95), None);
        let (low, high) = ratio_of_means(&a, &b, 0.95).unwrap();
        assert!(low > 0.0 && low < 1.0 / 1.4333 && high > 1.0 / 1.4333, "{low} {high}");
    }
}
