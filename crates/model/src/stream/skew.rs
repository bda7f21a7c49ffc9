//! Random blocks with a non-uniform distribution.
//!
//! The positions of the hottest block and of the others, and the shape of the normal distribution, were determined by
//! recording the requests of fio 3.33 and 3.39 with `write_iolog`.

use crate::job::{AbsoluteZone, Distribution, RelativeZone};
use crate::rng::Rng;

/// Distribution prepared for drawing.
#[derive(Clone, Debug)]
pub(super) enum Skew {
    Uniform,
    Zipf(Zipf, RankSpread),
    Pareto {
        power: f64,
        spread: RankSpread,
    },
    Normal {
        wider: f64,
        spread: RankSpread,
    },
    /// Zones: cumulative share of accesses, first block, and the block after the last.
    Zoned(Vec<(f64, f64, f64)>),
}

/// Zipf distribution by the approximation of Gray et al. (1994), "Quickly generating billion-record synthetic
/// databases".
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    theta: f64,
    zeta_n: f64,
    zeta_2: f64,
    alpha: f64,
    eta: f64,
}

/// Number of terms of the zeta sum that are added one by one; an integral approximates the rest.
const ZETA_TERMS: u64 = 100_000;

impl Skew {
    /// Whether a partial block at the end of a file is drawn like the others, and ends the job.
    pub(super) fn ends_at_a_part(&self) -> bool {
        matches!(
            self,
            Skew::Zipf(..) | Skew::Pareto { .. } | Skew::Normal { .. }
        )
    }
}

impl Zipf {
    fn new(n: u64, theta: f64) -> Zipf {
        // The sum has a pole at 1, where the approximation fails.
        let theta = if (theta - 1.0).abs() < 1e-6 {
            1.0 + 1e-6
        } else {
            theta
        };
        let direct = n.min(ZETA_TERMS);
        let mut zeta_n: f64 = (1..=direct).map(|i| (i as f64).powf(-theta)).sum();
        if n > direct {
            zeta_n +=
                ((n as f64).powf(1.0 - theta) - (direct as f64).powf(1.0 - theta)) / (1.0 - theta);
        }
        let zeta_2 = 1.0 + 0.5f64.powf(theta);
        let eta = (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - zeta_2 / zeta_n);
        Zipf {
            theta,
            zeta_n,
            zeta_2,
            alpha: 1.0 / (1.0 - theta),
            eta,
        }
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

/// Spreads ranks over the file, so that the hot blocks are not adjacent: multiplicative hashing with the golden ratio
/// (Knuth, The Art of Computer Programming 3, 6.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct RankSpread {
    /// Block of rank 0.
    base: u64,
    /// Distance of the blocks of two ranks that follow one another.
    step: u64,
}

impl RankSpread {
    const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;

    /// Creates a spread with rank 0 at this fraction of `n` blocks; fractions above 1 wrap to the start.
    fn at(share: f64, n: u64) -> RankSpread {
        RankSpread {
            base: (share * n as f64) as u64 % n,
            step: Self::GOLDEN,
        }
    }

    fn place(self, rank: u64, n: u64) -> u64 {
        rank.wrapping_mul(self.step).wrapping_add(self.base) % n
    }
}

/// Number of uniform random numbers in the mean that approximates a normal distribution, and how much wider than that
/// it can be made, in percent.
const NORMAL_OF: usize = 12;
const NORMAL_WIDEST: f64 = 50.0;

impl Skew {
    /// Prepares to draw from `n` blocks spaced `unit` bytes apart. `centre` is the position of the hottest block as a
    /// fraction of all.
    pub(super) fn new(
        distribution: &Distribution,
        centre: Option<f64>,
        n: u64,
        unit: u64,
        rng: &mut Rng,
    ) -> Skew {
        let mut spread = || RankSpread::at(centre.unwrap_or_else(|| rng.unit()), n);
        match distribution {
            Distribution::Uniform => Skew::Uniform,
            Distribution::Zipf(theta) => Skew::Zipf(Zipf::new(n, *theta), spread()),
            Distribution::Pareto(power) => Skew::Pareto {
                power: power.clamp(1e-6, 1.0 - 1e-6),
                spread: spread(),
            },
            // The middle of the distribution is the middle of the file, or shifted from it as requested.
            Distribution::Normal(percent) => {
                let spread = RankSpread::at(centre.unwrap_or(0.5) + 0.5, n);
                Skew::Normal {
                    wider: percent.clamp(0.0, NORMAL_WIDEST) / 100.0,
                    spread,
                }
            }
            Distribution::Zoned(zones) => {
                let share = |zone: &RelativeZone| {
                    (zone.access_percent, zone.size_percent / 100.0 * n as f64)
                };
                Skew::zoned(zones.iter().map(share))
            }
            Distribution::ZonedAbs(zones) => {
                let share =
                    |zone: &AbsoluteZone| (zone.access_percent, zone.size.0 as f64 / unit as f64);
                Skew::zoned(zones.iter().map(share))
            }
        }
    }

    /// Prepares to draw from `n` ranks that follow one another: the most frequent one is drawn, and that of a normal
    /// distribution is in the middle.
    pub(super) fn of_neighbours(distribution: &Distribution, n: u64, rng: &mut Rng) -> Skew {
        let mut skew = Skew::new(distribution, None, n, 1, rng);
        match &mut skew {
            Skew::Zipf(_, spread) | Skew::Pareto { spread, .. } => spread.step = 1,
            Skew::Normal { spread, .. } => *spread = RankSpread { base: 0, step: 1 },
            Skew::Uniform | Skew::Zoned(_) => {}
        }
        skew
    }

    /// Creates consecutive zones, each with its percentage of the accesses and its blocks.
    fn zoned(zones: impl Iterator<Item = (f64, f64)>) -> Skew {
        let (mut access, mut place) = (0.0, 0.0);
        let zones = zones.map(|(percent, blocks)| {
            access += percent / 100.0;
            let from = place;
            place += blocks;
            (access, from, place)
        });
        Skew::Zoned(zones.collect())
    }

    /// Draws a number below `n`.
    pub(super) fn draw(&self, n: u64, rng: &mut Rng) -> u64 {
        let block = match self {
            Skew::Uniform => rng.below(n),
            Skew::Zipf(zipf, spread) => spread.place(zipf.draw(n, rng), n),
            Skew::Pareto { power, spread } => {
                // The self-similar distribution of Gray et al. (1994): a fraction h of the blocks gets 1-h of the
                // accesses, and recursively within these blocks.
                let exponent = power.ln() / (1.0 - power).ln();
                spread.place((n as f64 * rng.unit().powf(exponent)) as u64, n)
            }
            Skew::Normal { wider, spread } => {
                // The mean of uniform numbers is nearly normal (Irwin and Hall, 1927); that of twelve has a standard
                // deviation of one twelfth.
                let mean = (0..NORMAL_OF).map(|_| rng.unit()).sum::<f64>() / NORMAL_OF as f64;
                let value = (mean + (rng.unit() - 0.5) * wider).clamp(0.0, 1.0);
                spread.place((value * n as f64) as u64, n)
            }
            Skew::Zoned(zones) => {
                let u = rng.unit();
                let zone = zones.iter().find(|z| u < z.0).or(zones.last());
                zone.map_or(0, |&(_, from, to)| (from + (to - from) * rng.unit()) as u64)
            }
        };
        block.min(n - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    const BLOCKS: u64 = 1024;
    const DRAWS: u64 = 16_384;

    /// Returns the fraction of draws of each block, and the number of different blocks.
    fn shares(distribution: &Distribution, centre: Option<f64>) -> (Vec<f64>, usize) {
        let mut rng = Rng::new(42);
        let skew = Skew::new(distribution, centre, BLOCKS, 4096, &mut rng);
        let mut shares = vec![0.0; BLOCKS as usize];
        (0..DRAWS).for_each(|_| shares[skew.draw(BLOCKS, &mut rng) as usize] += 1.0 / DRAWS as f64);
        let used = shares.iter().filter(|share| **share > 0.0).count();
        (shares, used)
    }

    /// Expected values are from the same number of requests of the same jobs, recorded from fio 3.33 and 3.39.
    #[test]
    fn favourites_lie_where_those_of_fio_do() {
        for (distribution, favourite, used) in [
            (Distribution::Zipf(1.2), 0.228, 810..880),
            (Distribution::Pareto(0.2), 0.381, 955..1005),
        ] {
            for (centre, block) in [(0.25, 256), (0.0, 0), (0.75, 768), (1.0, 0)] {
                let (shares, blocks) = shares(&distribution, Some(centre));
                assert!(
                    (shares[block] - favourite).abs() < 0.02,
                    "{distribution:?} at {centre}: {}",
                    shares[block]
                );
                assert!(used.contains(&blocks), "{distribution:?}: {blocks} blocks");
                // The next rank is 1003 blocks further.
                let next = shares[(block + 1003) % 1024];
                assert!(
                    shares.iter().filter(|share| **share > next).count() <= 1,
                    "{distribution:?} at {centre}"
                );
            }
        }
    }

    #[test]
    fn a_normal_distribution_has_as_many_blocks_as_that_of_fio() {
        for (deviation, used) in [
            (0.0, 500..560),
            (10.0, 530..590),
            (50.0, 820..880),
            (99.0, 820..880),
        ] {
            let (shares, blocks) = shares(&Distribution::Normal(deviation), Some(0.25));
            assert!(
                used.contains(&blocks),
                "normal:{deviation}: {blocks} blocks"
            );
            let tenths: Vec<f64> = shares.chunks(103).map(|tenth| tenth.iter().sum()).collect();
            assert!(
                tenths.iter().all(|tenth| (0.08..0.12).contains(tenth)),
                "normal:{deviation}: {tenths:?}"
            );
        }
    }

    #[test]
    fn zones_of_a_size_leave_the_rest_alone() {
        let zone = |access_percent, mib: u64| AbsoluteZone {
            access_percent,
            size: Bytes(mib << 20),
        };
        let (shares, _) = shares(
            &Distribution::ZonedAbs(vec![zone(60.0, 1), zone(40.0, 2)]),
            None,
        );
        let of = |blocks: std::ops::Range<usize>| shares[blocks].iter().sum::<f64>();
        assert!(
            (of(0..256) - 0.6).abs() < 0.02 && (of(256..768) - 0.4).abs() < 0.02,
            "{}",
            of(0..256)
        );
        assert_eq!(of(768..1024), 0.0);
    }
}
