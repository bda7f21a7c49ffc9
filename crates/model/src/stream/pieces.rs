//! Regions cut into pieces with the job's I/O sizes, each accessed once per pass in random order.
//!
//! A random job with different I/O sizes also accesses each byte once. A map of free blocks would need memory in
//! proportion to the disk, and the last I/Os would be cut to the gaps between others. Instead, the region is a row of
//! groups. Each group is the same cycle of sizes, starting at a different position:
//!
//! ```text
//! cycle     |a |b    |c  |d      |
//! group 0   |c  |d      |a |b    |
//! group 1   |b    |c  |d      |a |
//! rest      |d      |a |..|            cut where the region ends
//! ```
//!
//! Each piece has a number, from which its position is computed, and a [`Permutation`] draws the numbers. The sizes of
//! a cycle are evenly spaced quantiles of their distribution, so that their shares are exact.

use super::general::range_size;
use super::permutation::Permutation;
use crate::job::{BlockSize, Op, PerOp};
use crate::rng::Rng;

/// Number of pieces in a cycle.
const CYCLE: u64 = 1024;

/// Piece of the cycle.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Offset in the cycle, in bytes.
    start: u64,
    /// Size of the I/O in bytes.
    len: u32,
    /// Index of its class.
    class: u8,
}

/// Class of pieces: those of one operation, or of all operations if their sizes are the same.
#[derive(Clone, Debug)]
struct SizeClass {
    /// Indexes of its pieces in the cycle.
    members: Vec<u32>,
    /// Pieces of the rest: offset in the region and size of the I/O, in bytes.
    rest: Vec<(u64, u32)>,
    order: Permutation,
    left: u64,
}

/// Selection of the sizes of pieces.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieceSizes<'a> {
    pub(super) block: &'a PerOp<BlockSize>,
    pub(super) mix: &'a PerOp<u32>,
    /// Whether sizes within a range may be any number of bytes.
    pub(super) unaligned: bool,
    /// Alignment of offsets; 1 if each piece starts at the end of the previous one.
    pub(super) align: u64,
}

/// Region cut into pieces.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    room: u64,
    align: u64,
    cycle: Vec<Piece>,
    /// Size of a cycle in bytes.
    group: u64,
    groups: u64,
    classes: Vec<SizeClass>,
    /// Class of each operation.
    class_of: PerOp<u8>,
    /// Key that determines the position in the cycle where each group starts.
    key: u64,
    rng: Rng,
}

impl Pieces {
    /// Cuts a region of `room` bytes; `used` are the operations of the job.
    pub(super) fn new(room: u64, used: &[Op], sizes: PieceSizes<'_>, rng: Rng) -> Pieces {
        let mut rng = rng;
        let alike = used
            .windows(2)
            .all(|pair| sizes.block[pair[0]] == sizes.block[pair[1]]);
        let mut cycle: Vec<Piece> = Vec::with_capacity(CYCLE as usize + used.len());
        let mut class_of = PerOp::all(0u8);
        let of_its_own = if alike {
            &used[..used.len().min(1)]
        } else {
            used
        };
        for (class, &op) in of_its_own.iter().enumerate() {
            class_of[op] = class as u8;
            let share = if alike {
                100
            } else {
                u64::from(sizes.mix[op].max(1))
            };
            let count = (CYCLE * share / 100).max(1);
            for i in 0..count {
                let quantile = (i as f64 + rng.unit()) / count as f64;
                let len = size_at(&sizes.block[op], quantile, sizes.unaligned);
                cycle.push(Piece {
                    start: 0,
                    len,
                    class: class as u8,
                });
            }
        }
        for i in (1..cycle.len()).rev() {
            cycle.swap(i, rng.below(i as u64 + 1) as usize);
        }
        let align = sizes.align.max(1);
        let mut group = 0;
        for piece in &mut cycle {
            piece.start = group;
            group += u64::from(piece.len).next_multiple_of(align);
        }
        let class = |class: usize| {
            let members: Vec<u32> = (0..cycle.len() as u32)
                .filter(|&i| usize::from(cycle[i as usize].class) == class)
                .collect();
            // The whole rest lies in one cycle, except for a last piece that is cut.
            let rest = Vec::with_capacity(members.len() + 1);
            SizeClass {
                members,
                rest,
                order: Permutation::new(1, Rng::new(0)),
                left: 0,
            }
        };
        let classes = (0..of_its_own.len()).map(class).collect();
        let groups = room / group.max(1);
        let mut pieces = Pieces {
            room,
            align,
            cycle,
            group,
            groups,
            classes,
            class_of,
            key: 0,
            rng,
        };
        pieces.begin_pass();
        pieces
    }

    /// Cuts the region again, into other pieces in another order.
    #[cold]
    pub(super) fn begin_pass(&mut self) {
        self.key = self.rng.next_u64();
        self.classes.iter_mut().for_each(|class| class.rest.clear());
        let (begin, mut at) = (self.groups * self.group, self.groups * self.group);
        let entry = self.entry(self.groups);
        for i in 0..self.cycle.len() {
            let piece = self.cycle[(entry + i) % self.cycle.len()];
            if at >= self.room {
                break;
            }
            let len = u64::from(piece.len).min(self.room - at) as u32;
            self.classes[usize::from(piece.class)].rest.push((at, len));
            at += u64::from(len).next_multiple_of(self.align);
        }
        debug_assert!(
            at >= self.room && self.room - begin <= self.group,
            "the rest is less than a cycle"
        );
        for class in &mut self.classes {
            class.left = self.groups * class.members.len() as u64 + class.rest.len() as u64;
            class.order = Permutation::new(class.left, Rng::new(self.rng.next_u64()));
        }
    }

    /// Returns the position in the cycle where a group starts.
    #[inline]
    fn entry(&self, group: u64) -> usize {
        Rng::fork(self.key, group).below(self.cycle.len() as u64) as usize
    }

    /// Whether all pieces have been drawn.
    pub(super) fn is_through(&self) -> bool {
        self.classes.iter().all(|class| class.left == 0)
    }

    /// Returns the next piece of an operation, or of another one if this one has none left: offset in the region and
    /// size, in bytes. `None` if all pieces have been drawn.
    #[inline]
    pub(super) fn draw(&mut self, op: &mut Op) -> Option<(u64, u32)> {
        let mut index = self.class_of[*op];
        if self.classes[usize::from(index)].left == 0 {
            let other = Op::ALL.into_iter().find(|&other| {
                let class = self.class_of[other];
                class != index && self.classes[usize::from(class)].left > 0
            })?;
            (*op, index) = (other, self.class_of[other]);
        }
        let class = &mut self.classes[usize::from(index)];
        class.left -= 1;
        let number = class.order.draw();
        let in_groups = self.groups * class.members.len() as u64;
        if number >= in_groups {
            return class.rest.get((number - in_groups) as usize).copied();
        }
        let members = class.members.len() as u64;
        let piece = self.cycle[class.members[(number % members) as usize] as usize];
        let group = number / members;
        let entered = self.cycle[self.entry(group)].start;
        let within = if piece.start >= entered {
            piece.start - entered
        } else {
            piece.start + self.group - entered
        };
        Some((group * self.group + within, piece.len))
    }
}

/// Returns the quantile of the sizes, in the order in which they are listed.
fn size_at(block: &BlockSize, quantile: f64, unaligned: bool) -> u32 {
    let bytes = match block {
        BlockSize::Fixed(bytes) => bytes.0,
        BlockSize::Range { min, max } => {
            range_size(min.0, max.0, (quantile * max.0 as f64) as u64, unaligned)
        }
        BlockSize::Split(parts) => {
            let mut sum = 0.0;
            let drawn = parts.iter().find(|(_, percent)| {
                sum += f64::from(*percent) / 100.0;
                quantile < sum
            });
            drawn.or(parts.last()).map_or(1, |(bytes, _)| bytes.0)
        }
    };
    bytes.clamp(1, u64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use crate::units::Bytes;
    use proptest::prelude::*;

    fn split(parts: &[(u64, u32)]) -> BlockSize {
        BlockSize::Split(
            parts
                .iter()
                .map(|&(bytes, percent)| (Bytes(bytes), percent))
                .collect(),
        )
    }

    fn cut(room: u64, block: PerOp<BlockSize>, mix: PerOp<u32>, align: u64, seed: u64) -> Pieces {
        let used: Vec<Op> = Op::ALL.into_iter().filter(|&op| mix[op] > 0).collect();
        Pieces::new(
            room,
            &used,
            PieceSizes {
                block: &block,
                mix: &mix,
                unaligned: false,
                align,
            },
            Rng::new(seed),
        )
    }

    #[test]
    fn sizes_keep_their_shares() {
        let block = split(&[(4096, 60), (65_536, 40)]);
        let mut pieces = cut(
            1 << 30,
            PerOp::all(block),
            PerOp {
                write: 100,
                ..PerOp::all(0)
            },
            1,
            7,
        );
        let lens: Vec<u32> = std::iter::from_fn(|| pieces.draw(&mut { Op::Write }))
            .map(|(_, len)| len)
            .collect();
        let small = lens.iter().filter(|&&len| len == 4096).count() as f64 / lens.len() as f64;
        assert!((small - 0.6).abs() < 0.002, "{small}");
        assert!(
            lens.iter()
                .filter(|len| ![4096, 65_536].contains(len))
                .count()
                <= 1,
            "one at most is cut"
        );
    }

    #[test]
    fn operations_keep_their_sizes() {
        let mut block = PerOp::all(BlockSize::Fixed(Bytes(4096)));
        block.write = BlockSize::Fixed(Bytes(16_384));
        let mut pieces = cut(
            64 << 20,
            block,
            PerOp {
                read: 50,
                write: 50,
                trim: 0,
            },
            1,
            7,
        );
        let (mut ops, mut rng) = (PerOp::all(0u32), Rng::new(1));
        while let Some((_, len)) = {
            let mut op = if rng.below(2) == 0 {
                Op::Read
            } else {
                Op::Write
            };
            let drawn = pieces.draw(&mut op);
            drawn
                .inspect(|_| ops[op] += 1)
                .map(|(at, len)| (at, (op, len)))
        } {
            assert!(len.1 == 4096 || len == (Op::Write, 16_384), "{len:?}");
        }
        assert!(ops.read.abs_diff(ops.write) < 200, "{ops:?}");
    }

    proptest! {
        #[test]
        fn each_byte_comes_once_a_pass(
            blocks in 1u64..30_000, sizes in prop::collection::vec((1u64..200, 1u32..50), 1..5), other in 1u64..40,
            reads in 0u32..101, aligned: bool, seed: u64,
        ) {
            let room = blocks * 512;
            let parts: Vec<(u64, u32)> = sizes.iter().map(|&(blocks, percent)| (blocks * 512, percent)).collect();
            let mut block = PerOp::all(split(&parts));
            block.read = BlockSize::Range { min: Bytes(512), max: Bytes(512 * other) };
            let mix = PerOp { read: reads, write: 100 - reads, trim: 0 };
            let mut pieces = cut(room, block, mix, if aligned { 512 } else { 1 }, seed);
            for _ in 0..2 {
                let mut seen = vec![0u8; blocks as usize];
                let mut rng = Rng::new(seed);
                loop {
                    let mut op = if rng.below(100) < u64::from(reads) { Op::Read } else { Op::Write };
                    let Some((at, len)) = pieces.draw(&mut op) else { break };
                    prop_assert!(at % 512 == 0 && len % 512 == 0 && len > 0 && at + u64::from(len) <= room);
                    (at / 512..(at + u64::from(len)) / 512).for_each(|block| seen[block as usize] += 1);
                }
                prop_assert!(pieces.is_through());
                prop_assert!(seen.iter().all(|&times| times == 1), "{} of {blocks}", seen.iter().filter(|&&t| t == 1).count());
                pieces.begin_pass();
            }
        }
    }
}
