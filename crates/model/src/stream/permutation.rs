//! Random permutations that are computed, not stored.

use crate::rng::Rng;

/// Random permutation of `0..n` in constant memory: each number once, then a new permutation.
///
/// A counter passes through four rounds of an invertible multiply-and-shift with just enough bits for `n`; results
/// outside the range (less than half) are skipped. This is a bijection of the counter, so no number repeats ("cycle
/// walking" as in format-preserving encryption, Black and Rogaway 2002).
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    mask: u64,
    shift: u32,
    counter: u64,
    left: u64,
    keys: [u64; 5],
    rng: Rng,
}

impl Permutation {
    /// Creates a permutation of `0..n`; `n` is at least 1.
    pub fn new(n: u64, rng: Rng) -> Permutation {
        let n = n.max(1);
        let bits = (64 - (n - 1).leading_zeros()).max(2);
        let mask = if bits == 64 {
            u64::MAX
        } else {
            (1 << bits) - 1
        };
        let mut permutation = Permutation {
            n,
            mask,
            shift: bits.div_ceil(2),
            counter: 0,
            left: 0,
            keys: [0; 5],
            rng,
        };
        permutation.begin_pass();
        permutation
    }

    /// Starts a new permutation, even if this one is not finished.
    #[cold]
    pub(super) fn begin_pass(&mut self) {
        for key in &mut self.keys {
            *key = self.rng.next_u64() | 1;
        }
        self.counter = 0;
        self.left = self.n;
    }

    /// Returns the remaining numbers of this permutation.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Returns the next number; starts a new permutation after the last.
    // Inlined, because the engine's loops call this for each I/O, and a call would cost a third as much as the
    // function.
    #[inline(always)]
    pub fn draw(&mut self) -> u64 {
        if self.left == 0 {
            self.begin_pass();
        }
        self.left -= 1;
        let x = self.step();
        if x < self.n { x } else { self.walk() }
    }

    /// Returns the next number of the range of a power of two.
    #[inline(always)]
    fn step(&mut self) -> u64 {
        let mut x = self.counter.wrapping_add(self.keys[4]) & self.mask;
        self.counter = self.counter.wrapping_add(1);
        for key in &self.keys[..4] {
            x = x.wrapping_mul(*key) & self.mask;
            x ^= x >> self.shift;
        }
        x
    }

    /// Skips numbers outside the range.
    // Out of line: as a loop in `draw`, it would occupy registers that the caller needs.
    #[inline(never)]
    fn walk(&mut self) -> u64 {
        loop {
            let x = self.step();
            if x < self.n {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With three rounds, 40 to 57 of 100 permutations failed.
    #[test]
    fn distances_of_neighbors_pass_a_kolmogorov_smirnov_test() {
        for n in [5000u64, 65_536] {
            let fails = |seed: u64| {
                let mut p = Permutation::new(n, Rng::new(seed * 7919 + 1));
                let order: Vec<u64> = (0..n).map(|_| p.draw()).collect();
                let mut gaps: Vec<f64> = order
                    .windows(2)
                    .map(|w| w[0].abs_diff(w[1]) as f64 / n as f64)
                    .collect();
                gaps.sort_by(f64::total_cmp);
                // Two independent points on a line of length 1 are less than x apart with a probability of 1 - (1 -
                // x)^2.
                let chance = |x: f64| 1.0 - (1.0 - x) * (1.0 - x);
                let rank = |i: usize| i as f64 / gaps.len() as f64;
                let far = |(i, &x): (usize, &f64)| {
                    (rank(i + 1) - chance(x))
                        .abs()
                        .max((chance(x) - rank(i)).abs())
                };
                let distance = gaps.iter().enumerate().map(far).fold(0.0, f64::max);
                // 5% of the permutations of a perfect source exceed this distance.
                distance * (gaps.len() as f64).sqrt() > 1.358
            };
            let failed = (0..100).filter(|&seed| fails(seed)).count();
            assert!(failed <= 15, "{failed} of 100 for {n}");
        }
    }

    #[test]
    fn a_permutation_looks_random() {
        // Neighbors in a shuffled order of n are n/3 apart on average.
        let n = 1u64 << 18;
        let mut p = Permutation::new(n, Rng::new(3));
        let order: Vec<u64> = (0..n).map(|_| p.draw()).collect();
        let mean = order
            .windows(2)
            .map(|w| w[0].abs_diff(w[1]) as f64)
            .sum::<f64>()
            / (n - 1) as f64;
        assert!(
            (mean / (n as f64 / 3.0) - 1.0).abs() < 0.02,
            "mean distance {mean}"
        );
        let first_half: u64 = order[..n as usize / 2]
            .iter()
            .filter(|&&x| x < n / 2)
            .count() as u64;
        assert!(first_half.abs_diff(n / 4) < n / 100);
    }
}
