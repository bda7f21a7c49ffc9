//! Random map of a region: the blocks accessed in this pass.
//!
//! A random job with different I/O sizes also accesses each block once. As in fio, an I/O starts at a random block, or
//! at the next free one, and is cut at the next block that was accessed. A map needs one bit per block, so only regions
//! of at most [`MOST_BLOCKS`] have one; larger regions are cut into [`pieces`](super::pieces).

use crate::rng::Rng;

/// Maximum number of blocks of a region with a map: 2 MiB of memory.
const MOST_BLOCKS: u64 = 1 << 24;

/// Hierarchical bitmap: one bit per block, then one bit per full word of the level below, and so on.
#[derive(Clone, Debug)]
pub(super) struct RandomMap {
    /// Block size in bytes.
    unit: u64,
    blocks: u64,
    left: u64,
    /// Bits of all levels; the first level has one per block. Bits after the last block are set.
    levels: Vec<Vec<u64>>,
    rng: Rng,
}

impl RandomMap {
    /// Creates a map of the whole blocks in a region of `room` bytes; `None` if it would be too large or empty.
    pub(super) fn new(room: u64, unit: u64, rng: Rng) -> Option<RandomMap> {
        let unit = unit.max(1);
        let blocks = room / unit;
        if blocks == 0 || blocks > MOST_BLOCKS {
            return None;
        }
        let (mut levels, mut bits) = (Vec::new(), blocks);
        while bits > 1 || levels.is_empty() {
            let words = bits.div_ceil(64);
            levels.push(vec![0; words as usize]);
            bits = words;
        }
        let mut map = RandomMap {
            unit,
            blocks,
            left: blocks,
            levels,
            rng,
        };
        map.begin_pass();
        Some(map)
    }

    /// Frees all blocks.
    #[cold]
    pub(super) fn begin_pass(&mut self) {
        self.left = self.blocks;
        let mut bits = self.blocks;
        for level in &mut self.levels {
            level.fill(0);
            let used = bits % 64;
            if used > 0
                && let Some(last) = level.last_mut()
            {
                *last = !0 << used;
            }
            bits = bits.div_ceil(64);
        }
    }

    /// Whether all blocks have been accessed.
    pub(super) fn is_through(&self) -> bool {
        self.left == 0
    }

    /// Returns a random free block as an offset in the region; `None` if there is none.
    #[inline]
    pub(super) fn draw(&mut self) -> Option<u64> {
        let drawn = self.rng.below(self.blocks);
        let block = self.next_free(drawn).or_else(|| self.next_free(0))?;
        Some(block * self.unit)
    }

    /// Returns a random free block among those of the first `room` bytes; `None` if there is none.
    pub(super) fn draw_within(&mut self, room: u64) -> Option<u64> {
        let blocks = (room / self.unit).max(1);
        let drawn = self.rng.below(blocks);
        let within = |block: &u64| *block < blocks;
        let later = self.next_free(drawn).filter(within);
        let block = later.or_else(|| self.next_free(0).filter(within))?;
        Some(block * self.unit)
    }

    /// Marks the blocks of an I/O of at most `len` bytes from `at`, and returns its size: up to the next block that was
    /// accessed.
    #[inline]
    pub(super) fn take(&mut self, at: u64, len: u64) -> u64 {
        let first = at / self.unit;
        let wanted = len.div_ceil(self.unit).min(self.blocks - first).max(1);
        let mut taken = 0;
        while taken < wanted && !self.is_set(first + taken) {
            self.set(first + taken);
            taken += 1;
        }
        self.left -= taken;
        len.min(taken * self.unit)
    }

    fn is_set(&self, block: u64) -> bool {
        self.levels[0][(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    fn set(&mut self, block: u64) {
        let mut at = block;
        for level in &mut self.levels {
            let word = &mut level[(at / 64) as usize];
            *word |= 1 << (at % 64);
            if *word != !0 {
                return;
            }
            at /= 64;
        }
    }

    /// Returns the first free block from `from` on.
    fn next_free(&self, from: u64) -> Option<u64> {
        let (mut height, mut at) = (0, from);
        // Goes up to the first word with a free bit after that position, then down to the block.
        loop {
            let level = self.levels.get(height)?;
            let word = level.get((at / 64) as usize).copied().unwrap_or(!0);
            let free = !word & (!0 << (at % 64));
            if free != 0 {
                at = at / 64 * 64 + u64::from(free.trailing_zeros());
                break;
            }
            at = at / 64 + 1;
            height += 1;
        }
        for level in self.levels[..height].iter().rev() {
            at = at * 64 + u64::from((!level[at as usize]).trailing_zeros());
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_block_comes_once_a_pass(blocks in 1u64..9000, rest in 0u64..512, most in 1u64..40, seed: u64) {
            let mut map = RandomMap::new(blocks * 512 + rest, 512, Rng::new(seed)).unwrap();
            let mut sizes = Rng::new(seed ^ 1);
            for _ in 0..2 {
                let mut seen = vec![false; blocks as usize];
                while let Some(at) = map.draw() {
                    let len = map.take(at, 512 * (1 + sizes.below(most)));
                    prop_assert!(len > 0 && at + len <= blocks * 512);
                    for block in at / 512..(at + len) / 512 {
                        prop_assert!(!std::mem::replace(&mut seen[block as usize], true));
                    }
                }
                prop_assert!(map.is_through() && seen.iter().all(|&seen| seen));
                map.begin_pass();
            }
        }
    }

    #[test]
    fn what_is_too_large_has_no_map() {
        let map = |blocks: u64| RandomMap::new(blocks * 4096, 4096, Rng::new(1));
        assert!(map(MOST_BLOCKS).is_some() && map(MOST_BLOCKS + 1).is_none() && map(0).is_none());
    }

    #[test]
    fn an_io_is_cut_where_it_meets_one_that_has_come() {
        let mut map = RandomMap::new(64 << 10, 4096, Rng::new(1)).unwrap();
        assert_eq!(map.take(32 << 10, 8192), 8192);
        assert_eq!(map.take(16 << 10, 64 << 10), 16 << 10);
        // A size that is not a multiple of the smallest also takes the rest of its last block.
        assert_eq!(map.take(0, 5000), 5000);
        assert_eq!(map.take(8192, 65_536), 8192);
        assert_eq!(map.take(60 << 10, 65_536), 4096);
    }
}
