//! Sizes of files that are drawn from a range (`filesize=4k-1m`).

use super::files::smallest_block;
use crate::job::{Job, SizeSpec, Target};
use crate::rng::Rng;
use crate::units::Bytes;

/// Draws a size for each file of a clone.
#[derive(Debug)]
pub(super) struct FileSizes {
    /// Smallest and largest size in blocks; `None` if the job does not draw sizes.
    range: Option<(u64, u64)>,
    block: u64,
    /// Remaining bytes of the clone's size, if it has one.
    left: Option<u64>,
    rng: Rng,
}

impl FileSizes {
    /// Creates the sizes of one clone. Clones that share their files draw the same sizes.
    pub(super) fn of(job: &Job, clone: u32, seed: u64) -> FileSizes {
        let block = smallest_block(job);
        let range = job.extent.filesize.zip(job.extent.filesize_max);
        let range = range.map(|(min, max)| ((min.0 / block).max(1), (max.0 / block).max(1)));
        let left = match job.extent.size {
            Some(SizeSpec::Bytes(size)) => Some(size.0),
            _ => None,
        };
        let own = if matches!(job.target, Target::Formatted { .. }) {
            u64::from(clone)
        } else {
            0
        };
        FileSizes {
            range,
            block,
            left,
            rng: Rng::fork(seed, 0x4000 + own),
        }
    }

    /// Returns the size of the next file: `Some(None)` if it is not drawn, `None` if the clone has enough files.
    pub(super) fn draw(&mut self) -> Option<Option<Bytes>> {
        let Some((min, max)) = self.range else {
            return Some(None);
        };
        let drawn = (min + self.rng.below(max - min + 1)) * self.block;
        let Some(left) = &mut self.left else {
            return Some(Some(Bytes(drawn)));
        };
        if *left < self.block {
            return None;
        }
        let size = drawn.min(*left / self.block * self.block);
        *left -= size;
        Some(Some(Bytes(size)))
    }
}
