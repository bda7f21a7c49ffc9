//! Random selection of I/O sizes.

use crate::job::rules::BlockSizeRules;
use crate::job::{BlockSize, Op, PerOp};
use crate::rng::Rng;

/// Maximum number of redraws of a size that does not fit, before the smallest size is used.
const REDRAWS: u32 = 64;

/// I/O sizes of a job.
#[derive(Clone, Debug)]
pub(super) struct DrawnSizes {
    /// The operation, if there is only one.
    pub(super) single_op: Option<Op>,
    /// The size, if there is only one.
    pub(super) single_len: Option<u32>,
    pub(super) block: PerOp<BlockSize>,
    pub(super) rules: BlockSizeRules,
    /// Smallest size of any operation of the job.
    pub(super) smallest: u64,
    /// Smallest size of each operation.
    pub(super) least: PerOp<u64>,
    /// Whether sizes within a range may be any number of bytes.
    pub(super) unaligned: bool,
}

/// Converts a uniform random number below the largest size to a size in a range. As in fio, it is a multiple of the
/// smallest size, or the largest size; if any number of bytes is allowed, larger results become the largest size.
pub(in crate::stream) fn range_size(min: u64, max: u64, drawn: u64, unaligned: bool) -> u64 {
    let size = if unaligned {
        min + drawn
    } else {
        min.max(1) * (1 + drawn / min.max(1))
    };
    size.min(max)
}

impl DrawnSizes {
    /// Draws a size; if sizes differ, one of at most `room` bytes, if there is one.
    pub(super) fn draw(&self, op: Op, in_line: bool, room: u64, rng: &mut Rng) -> u64 {
        let block = match &self.rules.in_line {
            Some(block) if in_line => block,
            _ => match self.single_len {
                Some(len) => return len.into(),
                None => &self.block[op],
            },
        };
        if let BlockSize::Fixed(bytes) = block {
            return bytes.0;
        }
        for _ in 0..REDRAWS {
            let bytes = self.draw_of(block, rng);
            if bytes <= room {
                return bytes;
            }
        }
        block.min().0
    }

    fn draw_of(&self, block: &BlockSize, rng: &mut Rng) -> u64 {
        match block {
            BlockSize::Fixed(bytes) => bytes.0,
            BlockSize::Range { min, max } => {
                range_size(min.0, max.0, rng.below(max.0.max(1)), self.unaligned)
            }
            BlockSize::Split(parts) => {
                let die = rng.below(100) as u32;
                let mut sum = 0;
                let drawn = parts.iter().find(|(_, percent)| {
                    sum += percent;
                    die < sum
                });
                drawn.or(parts.last()).map_or(1, |(bytes, _)| bytes.0)
            }
        }
    }
}
