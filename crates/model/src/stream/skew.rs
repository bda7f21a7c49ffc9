//! Drawing blocks by a distribution.

use crate::job::Distribution;
use crate::rng::Rng;

/// A distribution, prepared for drawing.
#[derive(Clone, Debug)]
pub(super) enum Skew {
    Uniform,
    Zipf(Zipf),
    Pareto { power: f64 },
    Normal { deviation: f64 },
    Zoned(Vec<(f64, f64, f64)>),
}

/// Zipf by the approximation of Gray et al. (1994), "Quickly generating billion-record synthetic databases".
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    theta: f64,
    zeta_n: f64,
    zeta_2: f64,
    alpha: f64,
    eta: f64,
}

/// How many terms of the zeta sum are added one by one; the rest is its integral.
const ZETA_TERMS: u64 = 100_000;

impl Zipf {
    fn new(n: u64, theta: f64) -> Zipf {
        // The sum has a pole at 1 that the approximation cannot cross.
        let theta = if (theta - 1.0).abs() < 1e-6 { 1.0 + 1e-6 } else { theta };
        let direct = n.min(ZETA_TERMS);
        let mut zeta_n: f64 = (1..=direct).map(|i| (i as f64).powf(-theta)).sum();
        if n > direct {
            zeta_n += ((n as f64).powf(1.0 - theta) - (direct as f64).powf(1.0 - theta)) / (1.0 - theta);
        }
        let zeta_2 = 1.0 + 0.5f64.powf(theta);
        let eta = (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - zeta_2 / zeta_n);
        Zipf { theta, zeta_n, zeta_2, alpha: 1.0 / (1.0 - theta), eta }
    }

    fn draw(&self, n: u64, rng: &mut Rng) -> u64 {
        let u = rng.unit();
        let uz = u * self.zeta_n;
        if uz < 1.0 {
            return 0;
        }
        if uz < self.zeta_2 && self.theta > 0.0 {
            return 1.min(n - 1);
        }
        let rank = n as f64 * (self.eta * u - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(n - 1)
    }
}

/// Spreads ranks over the file, so that the hot blocks are not all at its start.
fn scatter(rank: u64, n: u64) -> u64 {
    let mut r = Rng::new(rank);
    r.below(n)
}

impl Skew {
    pub(super) fn new(distribution: &Distribution, n: u64) -> Skew {
        match distribution {
            Distribution::Uniform => Skew::Uniform,
            Distribution::Zipf(theta) => Skew::Zipf(Zipf::new(n, *theta)),
            Distribution::Pareto(power) => Skew::Pareto { power: power.clamp(1e-6, 1.0 - 1e-6) },
            Distribution::Normal(percent) => Skew::Normal { deviation: percent / 100.0 },
            Distribution::Zoned(zones) => {
                let (mut access, mut place) = (0.0, 0.0);
                let zones = zones.iter().map(|zone| {
                    access += zone.access_percent / 100.0;
                    let from = place;
                    place += zone.size_percent / 100.0;
                    (access, from, place)
                });
                Skew::Zoned(zones.collect())
            }
        }
    }

    /// A number below `n`.
    pub(super) fn draw(&self, n: u64, rng: &mut Rng) -> u64 {
        let block = match self {
            Skew::Uniform => rng.below(n),
            Skew::Zipf(zipf) => scatter(zipf.draw(n, rng), n),
            Skew::Pareto { power } => {
                // Inverse of the Pareto law with shape log(h)/log(1-h): a share h of the accesses falls on 1-h of the blocks.
                let exponent = power.ln() / (1.0 - power).ln();
                scatter((n as f64 * rng.unit().powf(1.0 / exponent.max(1e-9))) as u64, n)
            }
            Skew::Normal { deviation } => {
                // Box and Muller (1958).
                let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
                let z = radius * (std::f64::consts::TAU * rng.unit()).cos();
                ((0.5 + z * deviation).clamp(0.0, 1.0) * n as f64) as u64
            }
            Skew::Zoned(zones) => {
                let u = rng.unit();
                let zone = zones.iter().find(|z| u < z.0).or(zones.last());
                zone.map_or(0, |&(_, from, to)| ((from + (to - from) * rng.unit()) * n as f64) as u64)
            }
        };
        block.min(n - 1)
    }
}
