//! How large a difference is: in units of the spread (Hedges' g), and by ranks (Cliff's delta).

use super::student::{noncentral_t_cdf, normal_quantile};
use super::{Moments, ranks};
use statrs::function::gamma::ln_gamma;

/// A standardized difference of two means, `b - a`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HedgesG {
    /// Difference in units of the pooled deviation, corrected for the bias of small samples.
    pub g: f64,
    /// Its confidence interval.
    pub interval: (f64, f64),
}

/// |t| up to which the interval is by inversion of the non-central t.
const EXACT_UP_TO: f64 = 25.0;

/// Hedges' g of `b` against `a`, with its confidence interval. `None` when neither sample varies.
///
/// Sources: Hedges (1981) for g and its exact bias correction; the interval inverts the non-central t distribution
/// (Steiger and Fouladi 1997). Where t is over 25 it is the large-sample one of Hedges and Olkin (1985), because the
/// series of the former underflows, and effects that large need no fine interval.
pub fn hedges_g(a: &Moments, b: &Moments, level: f64) -> Option<HedgesG> {
    let (na, nb) = (a.n as f64, b.n as f64);
    let df = na + nb - 2.0;
    let pooled = (((na - 1.0) * a.deviation.powi(2) + (nb - 1.0) * b.deviation.powi(2)) / df).sqrt();
    if pooled == 0.0 {
        return None;
    }
    let correction = (ln_gamma(df / 2.0) - ln_gamma((df - 1.0) / 2.0)).exp() / (df / 2.0).sqrt();
    let d = (b.mean - a.mean) / pooled;
    let g = correction * d;
    let scale = ((na + nb) / (na * nb)).sqrt();
    let tail = (1.0 - level) / 2.0;
    let interval = exact_interval(d / scale, df, tail)
        .map(|(low, high)| (correction * scale * low, correction * scale * high))
        .unwrap_or_else(|| {
            let half = -normal_quantile(tail) * (scale * scale + g * g / (2.0 * (na + nb))).sqrt();
            (g - half, g + half)
        });
    Some(HedgesG { g, interval })
}

/// The non-centralities for which `t` is just at either tail.
fn exact_interval(t: f64, df: f64, tail: f64) -> Option<(f64, f64)> {
    if t.abs() > EXACT_UP_TO {
        return None;
    }
    Some((noncentrality(t, df, 1.0 - tail)?, noncentrality(t, df, tail)?))
}

/// The non-centrality for which a non-central T stays at or below `t` with probability `p`, by bisection.
fn noncentrality(t: f64, df: f64, p: f64) -> Option<f64> {
    let limit = super::student::MAX_NONCENTRALITY;
    let (mut low, mut high) = (-limit, limit);
    // The probability falls as non-centrality rises. At small df the answer may lie past the limit.
    if noncentral_t_cdf(t, df, low)? < p || noncentral_t_cdf(t, df, high)? > p {
        return None;
    }
    for _ in 0..45 {
        let middle = (low + high) / 2.0;
        if noncentral_t_cdf(t, df, middle)? > p { low = middle } else { high = middle }
    }
    Some((low + high) / 2.0)
}

/// Cliff's delta: how much oftener `b` exceeds `a` than the other way round, over all pairs, in `[-1, 1]`.
///
/// Source: Cliff (1993). `None` when a sample is empty.
pub fn cliffs_delta(a: &[f64], b: &[f64]) -> Option<f64> {
    let pairs = (a.len() * b.len()) as f64;
    (pairs > 0.0).then(|| 2.0 * ranks::pairs_won(a, b) / pairs - 1.0)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{PLANT_CONTROL, PLANT_TREATED, close};
    use super::*;

    #[test]
    fn g_of_the_plant_data_is_that_of_scipy() {
        // d = -0.53275, J = 0.957646427023716; brentq over scipy.stats.nct.cdf(t, 18, nc) for the interval
        let of = |v: &[f64]| Moments::of(v).unwrap();
        let found = hedges_g(&of(&PLANT_CONTROL), &of(&PLANT_TREATED), 0.95).unwrap();
        close(found.g, -0.510_184_064_085_513, 1e-9);
        close(found.interval.0, -1.358_960_351_155_602, 1e-7);
        close(found.interval.1, 0.352_143_005_788_331_85, 1e-7);
    }

    #[test]
    fn huge_effects_still_have_an_interval_around_them() {
        let of = |mean: f64| Moments::new(10, mean, 0.1).unwrap();
        let found = hedges_g(&of(18.0), &of(34.0), 0.95).unwrap();
        assert!(found.interval.0 < found.g && found.g < found.interval.1);
        assert!(found.interval.0 > 50.0);
        assert_eq!(hedges_g(&Moments::of(&[1.0; 3]).unwrap(), &Moments::of(&[2.0; 3]).unwrap(), 0.95), None);
        // Two against two: the interval is wide, and there.
        let two = hedges_g(&Moments::of(&[337.0, 348.0]).unwrap(), &Moments::of(&[695.0, 644.0]).unwrap(), 0.95);
        assert!(two.unwrap().interval.0 < two.unwrap().g);
    }

    #[test]
    fn delta_counts_pairs() {
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[1.0, 2.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[3.0, 4.0, 5.0], &[1.0, 4.0]), Some(-0.5));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
    }
}
