//! Random number generator: small, seeded, and the same on every machine.
//!
//! Offsets, mixes and the simulated card use it, so that a seed reproduces a run exactly.

/// SplitMix64 generator (Steele, Lea, Flood 2014): 64-bit state, each value once in its period of 2^64.
///
/// A draw takes a few instructions. It is good enough to place I/Os, but not for cryptography.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng(u64);

impl Rng {
    /// Creates a generator; the same seed gives the same sequence.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Creates a generator for one use of a seed: different labels give independent sequences.
    pub fn fork(seed: u64, label: u64) -> Rng {
        Rng(mix(seed ^ mix(label.wrapping_add(0x9e37_79b9_7f4a_7c15))))
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number below `bound`, by multiplication (Lemire 2019, without rejection: the bias is under 2^-32 for
    /// storage sizes). Returns 0 if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_one_sequence_and_labels_differ() {
        let draw = |mut r: Rng| (0..4).map(|_| r.next_u64()).collect::<Vec<_>>();
        assert_eq!(draw(Rng::fork(7, 1)), draw(Rng::fork(7, 1)));
        assert_ne!(draw(Rng::fork(7, 1)), draw(Rng::fork(7, 2)));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut rng = Rng::new(1);
        let mut seen = [0u32; 10];
        for _ in 0..100_000 {
            seen[rng.below(10) as usize] += 1;
        }
        assert!(
            seen.iter().all(|&n| (9_500..10_500).contains(&n)),
            "{seen:?}"
        );
    }
}
