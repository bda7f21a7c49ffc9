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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Access, Op};

    const BLOCK: u64 = 4096;

    /// Returns a job with files of these sizes, and all of its files together of another, in bytes.
    fn job(target: Target, sizes: Option<(u64, u64)>, size: Option<u64>) -> Job {
        let mut job = Job::new("j", target, Access::only(Op::Write, false));
        job.extent.filesize = sizes.map(|(min, _)| Bytes(min));
        job.extent.filesize_max = sizes.map(|(_, max)| Bytes(max));
        job.extent.size = size.map(|size| SizeSpec::Bytes(Bytes(size)));
        job
    }

    fn formatted() -> Target {
        Target::Formatted {
            directories: Vec::new(),
            format: "$jobname.$jobnum.$filenum".into(),
            nrfiles: 7,
        }
    }

    /// Returns the first sizes in blocks.
    fn blocks(job: &Job, clone: u32, most: usize) -> Vec<u64> {
        let mut sizes = FileSizes::of(job, clone, 5);
        let drawn = std::iter::from_fn(|| sizes.draw().flatten()).take(most);
        drawn
            .map(|size| {
                assert!(size.0.is_multiple_of(BLOCK), "{size:?}");
                size.0 / BLOCK
            })
            .collect()
    }

    #[test]
    fn sizes_cover_their_range_in_whole_blocks() {
        // From 3 blocks and a part to 7 blocks and a part.
        let job = job(formatted(), Some((3 * BLOCK + 100, 7 * BLOCK + 200)), None);
        let mut drawn = blocks(&job, 0, 400);
        assert_eq!(drawn.len(), 400);
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn, [3, 4, 5, 6, 7]);
    }

    #[test]
    fn the_last_file_takes_the_rest_of_the_size() {
        let four = Some((4 * BLOCK, 4 * BLOCK));
        for (size, files) in [
            (9 * BLOCK, vec![4, 4, 1]),
            (9 * BLOCK - 1, vec![4, 4]),
            (10 * BLOCK + 100, vec![4, 4, 2]),
            (8 * BLOCK, vec![4, 4]),
            (BLOCK, vec![1]),
            (BLOCK - 1, vec![]),
        ] {
            let job = job(formatted(), four, Some(size));
            assert_eq!(blocks(&job, 0, 9), files, "{size}");
        }
    }

    #[test]
    fn sizes_are_not_drawn_without_a_range() {
        let mut sizes = FileSizes::of(&job(formatted(), None, Some(BLOCK)), 0, 5);
        for _ in 0..3 {
            assert_eq!(sizes.draw(), Some(None));
        }
    }

    #[test]
    fn clones_draw_sizes_of_their_own_for_files_of_their_own() {
        let range = Some((BLOCK, 1000 * BLOCK));
        let draw = |target: &Target, clone| blocks(&job(target.clone(), range, None), clone, 20);
        let (own, shared) = (formatted(), Target::Paths(vec!["f".into()]));
        let first = draw(&own, 0);
        assert!([1, 2, 3].iter().all(|&clone| draw(&own, clone) != first));
        assert!(
            [0, 1, 2, 3]
                .iter()
                .all(|&clone| draw(&shared, clone) == first)
        );
    }
}
