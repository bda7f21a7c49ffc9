//! Effect sizes: in units of the standard deviation (Hedges' g), and by ranks (Cliff's delta).

use super::distributions::{noncentral_t_cdf, normal_cdf};
use super::moments::SampleMoments;
use super::ranks;
use statrs::function::gamma::ln_gamma;

/// Standardized difference of two means, `b - a`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HedgesG {
    /// Difference in units of the pooled standard deviation, corrected for the bias of small samples.
    pub g: f64,
    /// Confidence interval of the difference.
    pub interval: (f64, f64),
}

/// Returns Hedges' g of `b` against `a`, with its confidence interval; `None` if neither sample varies.
///
/// Sources: Hedges (1981) for g and its exact bias correction. The interval is that of the standardized difference
/// itself, by inversion of the non-central t distribution (Steiger and Fouladi 1997). It needs no correction, because g
/// is an unbiased estimate of that difference.
pub(crate) fn hedges_g(a: &SampleMoments, b: &SampleMoments, level: f64) -> Option<HedgesG> {
    let (na, nb) = (a.n as f64, b.n as f64);
    let df = na + nb - 2.0;
    let pooled =
        (((na - 1.0) * a.deviation.powi(2) + (nb - 1.0) * b.deviation.powi(2)) / df).sqrt();
    if pooled == 0.0 {
        return None;
    }
    let correction = (ln_gamma(df / 2.0) - ln_gamma((df - 1.0) / 2.0)).exp() / (df / 2.0).sqrt();
    let d = (b.mean - a.mean) / pooled;
    let g = correction * d;
    let scale = (1.0 / a.effective + 1.0 / b.effective).sqrt();
    let tail = (1.0 - level) / 2.0;
    let t = d / scale;
    let interval = (
        scale * noncentrality(t, df, 1.0 - tail)?,
        scale * noncentrality(t, df, tail)?,
    );
    Some(HedgesG { g, interval })
}

/// Maximum non-centrality for which the series of the non-central t needs few terms.
const FEW_TERMS: f64 = 12.0;

/// Returns the non-centrality for which a non-central T is at most `t` with probability `p`, by bisection.
fn noncentrality(t: f64, df: f64, p: f64) -> Option<f64> {
    let below = |delta: f64| noncentral_below(t, df, delta);
    // The probability decreases with the non-centrality. The estimate varies as t · χ/√df does, plus a standard normal
    // variable.
    let mut reach = 8.0 + t.abs() / 2.0;
    let (mut low, mut high) = (t - reach, t + reach);
    for _ in 0..40 {
        match (below(low) < p, below(high) > p) {
            (false, false) => break,
            (lower, higher) => {
                reach *= 2.0;
                low -= if lower { reach } else { 0.0 };
                high += if higher { reach } else { 0.0 };
            }
        }
    }
    if !(low.is_finite() && high.is_finite()) {
        return None;
    }
    while high - low > 1e-9 * (1.0 + t.abs()) {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        let end = match below(middle) > p {
            true => &mut low,
            false => &mut high,
        };
        *end = middle;
    }
    Some(f64::midpoint(low, high))
}

/// Returns the probability that a non-central T is at most `t`, for any non-centrality: by the series if it converges,
/// otherwise as the mean of Φ(t·s - δ) over s = χ/√df, by the midpoint rule.
fn noncentral_below(t: f64, df: f64, delta: f64) -> f64 {
    if delta.abs() <= FEW_TERMS
        && let Some(p) = noncentral_t_cdf(t, df, delta)
    {
        return p;
    }
    if t < 0.0 {
        // With few degrees of freedom, the density is steep at s = 0, where Φ is about 0 if t and δ are positive.
        return 1.0 - noncentral_below(-t, df, -delta);
    }
    // The density of s is 2 (df/2)^(df/2) / Γ(df/2) · s^(df-1) · exp(-df s²/2); its standard deviation is about 1/√(2
    // df).
    const STEPS: u32 = 160;
    let ln_scale = (2.0_f64).ln() + df / 2.0 * (df / 2.0).ln() - ln_gamma(df / 2.0);
    let reach = 8.0 / (2.0 * df).sqrt();
    let least = (1.0 - reach).max(0.0);
    let step = (1.0 + reach - least) / f64::from(STEPS);
    let at = |i: u32| {
        let s = least + (f64::from(i) + 0.5) * step;
        (ln_scale + (df - 1.0) * s.ln() - df * s * s / 2.0).exp() * normal_cdf(t * s - delta) * step
    };
    (0..STEPS).map(at).sum()
}

/// Returns Cliff's delta: how much more often `b` exceeds `a` than the reverse, over all pairs, in `[-1, 1]`.
///
/// `None` if a sample is empty. Source: Cliff (1993).
pub(crate) fn cliffs_delta(a: &[f64], b: &[f64]) -> Option<f64> {
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
        let of = |v: &[f64]| SampleMoments::independent(v).unwrap();
        let found = hedges_g(&of(&PLANT_CONTROL), &of(&PLANT_TREATED), 0.95).unwrap();
        close(found.g, -0.510_184_064_085_513, 1e-9);
        close(
            found.interval.0,
            -1.358_960_351_155_602 / 0.957_646_427_023_716,
            1e-7,
        );
        close(
            found.interval.1,
            0.352_143_005_788_331_85 / 0.957_646_427_023_716,
            1e-7,
        );
    }

    #[test]
    fn huge_effects_still_have_an_interval_around_them() {
        let of = |mean: f64| SampleMoments::new(10, mean, 0.1).unwrap();
        let found = hedges_g(&of(18.0), &of(34.0), 0.95).unwrap();
        assert!(found.interval.0 < found.g && found.g < found.interval.1);
        assert!(found.interval.0 > 50.0);
        assert_eq!(
            hedges_g(
                &SampleMoments::independent(&[1.0; 3]).unwrap(),
                &SampleMoments::independent(&[2.0; 3]).unwrap(),
                0.95
            ),
            None
        );
        // Two against two: scipy.stats.nct by brentq, as above.
        let of = |v: &[f64]| SampleMoments::independent(v).unwrap();
        let two = hedges_g(&of(&[337.0, 348.0]), &of(&[695.0, 644.0]), 0.95).unwrap();
        close(two.interval.0, 1.742_122_130_959_399_5, 1e-6);
        close(two.interval.1, 24.207_769_036_617_737, 1e-3);
        let three = hedges_g(&of(&[10.0, 11.0, 9.0]), &of(&[20.0, 21.0, 19.0]), 0.95).unwrap();
        close(three.interval.0, 3.243_058_815_470_852, 1e-6);
        close(three.interval.1, 16.851_985_714_410_48, 1e-3);
    }

    #[test]
    fn delta_counts_pairs() {
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        assert_eq!(cliffs_delta(&[1.0, 2.0], &[1.0, 2.0]), Some(0.0));
        assert_eq!(cliffs_delta(&[3.0, 4.0, 5.0], &[1.0, 4.0]), Some(-0.5));
        assert_eq!(cliffs_delta(&[], &[1.0]), None);
    }
}
