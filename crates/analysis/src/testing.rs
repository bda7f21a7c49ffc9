//! What the tests of this crate share: seeded noise.

use hakaru_model::rng::Rng;

/// One draw of a standard normal variable (Box and Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.unit()).ln()).sqrt() * (std::f64::consts::TAU * rng.unit()).cos()
}

/// `n` draws around `mean` with a deviation of `spread · mean`.
pub(crate) fn runs(rng: &mut Rng, n: usize, mean: f64, spread: f64) -> Vec<f64> {
    (0..n).map(|_| mean * (1.0 + spread * normal(rng))).collect()
}
