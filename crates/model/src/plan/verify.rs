//! Verification plan of a worker: its settings, and checks that they are possible.

use super::PlanError;
use crate::job::rules::{Verify, VerifyMethod, Zones};
use crate::job::{BlockSize, IoEngine, Job, Op, SizeSpec};
use crate::obstacle::ValueRule;
use crate::rng::Rng;
use crate::stream::Region;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Verification plan of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyPlan {
    /// Settings; the interval is set if block sizes differ.
    pub rules: Verify,
    /// Seed stored in headers: the same for all clones of a job, because they may share a file.
    pub seed: u64,
    /// Number of write passes, each followed by verification.
    pub loops: u32,
    /// Whether `io_size` is more than one pass: fio then flushes after the last write of each pass, including the last
    /// pass.
    #[serde(default)]
    pub flushes_last_write: bool,
    /// Repeats writing and reading back while at most this number of bytes was written and read; `None`: after each of
    /// the loops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_until: Option<u64>,
    /// Reads back each write in write order, instead of each block once by file and offset.
    #[serde(default)]
    pub in_write_order: bool,
}

impl VerifyPlan {
    pub(super) fn of(job: &Job, seed: u64) -> Option<Box<VerifyPlan>> {
        let mut rules = job.verify.clone().filter(|_| moves_data(job))?;
        if job.ioengine == IoEngine::Null {
            // No data is kept to compare with.
            rules.method = VerifyMethod::Null;
        }
        // As in fio, a job that only reads also considers the write block size: its file was written in such blocks.
        let written = &job.block.write;
        let read_otherwise = !job.access.does(Op::Write) && *written != job.block.read;
        // A block needs several headers if it may be cut, or read back in pieces other than those written.
        let in_pieces = written.min() != written.max() || read_otherwise;
        rules.interval = rules.interval.or(in_pieces.then_some(written.min()));
        rules.interval = rules.interval.map(|interval| interval.min(written.min()));
        let seed = Rng::fork(seed, 0x5eed).next_u64();
        Some(Box::new(VerifyPlan {
            rules,
            seed,
            loops: job.extent.loops,
            flushes_last_write: false,
            repeats_until: None,
            in_write_order: is_read_in_write_order(job),
        }))
    }

    /// Returns the size in bytes of the smallest piece with a header, for blocks of this size.
    pub fn piece(&self, block: u64) -> u64 {
        self.rules
            .interval
            .map_or(block, |interval| interval.0.clamp(1, block.max(1)))
    }
}

/// Whether a job reads back each write, in write order. fio does so if a random job uses a random map of its blocks,
/// even where it writes some of them again; otherwise it sorts by file and offset, and reads each block once.
fn is_read_in_write_order(job: &Job) -> bool {
    let access = &job.access;
    let sorted = job.verify.as_ref().is_some_and(|verify| verify.sorted);
    access.random && access.every_block_once && job.block_align.is_none() && !sorted
}

/// Whether a job reads or writes. A job that only trims has nothing to verify; fio issues its trims.
fn moves_data(job: &Job) -> bool {
    job.access.does(Op::Read) || job.access.does(Op::Write)
}

/// Converts a job whose `io_size` is reached by whole verified passes to a job with that number of loops and without
/// `io_size`. `total` returns the bytes of a pass without gaps.
///
/// As in fio, a job with gaps and without `io_size` goes on to `size` in the same way.
pub(super) fn in_passes(job: &Job, regions: &[Region], total: impl Fn(&Job) -> u64) -> Option<Job> {
    let verify = job.verify.as_ref()?;
    let mut looped = job.clone();
    let io_size = looped.extent.io_size.take();
    if repeats_in_zones(job) {
        return Some(looped);
    }
    let all = total(&looped);
    looped.extent.loops = if io_size.is_some() {
        passes(job, all)?
    } else {
        let mut asked = job.clone();
        asked.extent.io_size = Some(SizeSpec::Bytes(Bytes(all)));
        let once = !verify.read_back || verify.only || job.access.does(Op::Read);
        let pass = bytes_with_gaps(job, regions).filter(|_| !once)?;
        passes(&asked, pass)?
    };
    Some(looped)
}

/// Whether `io_size` is one pass of so many bytes: fio then flushes as it does without `io_size`.
pub(super) fn is_one_pass(job: &Job, pass: u64) -> bool {
    job.extent.io_size == Some(SizeSpec::Bytes(Bytes(pass))) && !repeats_in_zones(job)
}

/// Whether a job writes in zones and reads back: a pass ends where the next zone has no room for an I/O.
fn repeats_in_zones(job: &Job) -> bool {
    let endless = job.timing.time_based && job.timing.runtime.is_some();
    let reads_back = |verify: &Verify| verify.read_back && !verify.only;
    let by_bytes = !matches!(job.extent.io_size, Some(SizeSpec::Percent(_)));
    let writes = job.access.does(Op::Write) && !job.access.does(Op::Trim);
    let zoned = matches!(job.access.zones, Zones::Strided { .. });
    zoned && writes && by_bytes && !endless && job.verify.as_ref().is_some_and(reads_back)
}

/// Returns the bytes up to which a job in zones repeats writing and reading back, of `total` requested: as in fio,
/// another pass starts while the largest block is missing.
pub(super) fn repeats_until(job: &Job, total: u64) -> Option<u64> {
    let largest = Op::ALL.map(|op| job.block[op].max().0).into_iter().max()?;
    repeats_in_zones(job).then(|| total.checked_sub(largest))?
}

/// Returns the bytes of a pass of a sequential job with gaps; `None` if its sizes are drawn, or if it starts again at
/// the end of a file.
fn bytes_with_gaps(job: &Job, regions: &[Region]) -> Option<u64> {
    let (BlockSize::Fixed(Bytes(block)), 1..) = (&job.block.write, job.access.stride) else {
        return None;
    };
    let gap = job.access.stride.unsigned_abs();
    let bytes = |region: &Region| {
        let ios = region.len.checked_sub(*block)? / (block + gap) + 1;
        let next = ios * (block + gap);
        let ends = next - gap >= region.len || next < region.file_len;
        ends.then_some(ios * block)
    };
    regions.iter().map(bytes).sum()
}

/// Returns the number of passes, each written and read back, to reach an `io_size` of a pass or more; `None` if only
/// `io_size` ends the job.
///
/// Determined by observing fio: each pass ends at the end of the files and is verified, and the bytes read back count.
/// Passes continue while another block fits in `io_size`, or while loops are left. Without read-back, a job without
/// loops ends after one pass.
fn passes(job: &Job, pass: u64) -> Option<u32> {
    let verify = job.verify.as_ref()?;
    let Some(SizeSpec::Bytes(io_size)) = job.extent.io_size else {
        return None;
    };
    let writes = job.access.does(Op::Write) && !job.access.does(Op::Trim);
    let endless = job.timing.time_based && job.timing.runtime.is_some();
    let in_passes = !job.access.random || job.access.every_block_once;
    if !writes || endless || !in_passes || pass == 0 || io_size.0 < pass {
        return None;
    }
    if !verify.read_back && job.extent.loops == 1 {
        return Some(1);
    }
    let share = if job.access.does(Op::Read) {
        u64::from(job.access.mix.write)
    } else {
        100
    };
    let read_back = if verify.read_back {
        pass / 100 * share + pass % 100 * share / 100
    } else {
        0
    };
    let largest = Op::ALL.map(|op| job.block[op].max().0).into_iter().max()?;
    let passes = io_size.0.saturating_sub(largest) / (pass + read_back) + 1;
    Some(
        u32::try_from(passes)
            .unwrap_or(u32::MAX)
            .max(job.extent.loops),
    )
}

/// Returns the common divisor of the block sizes and a step.
fn common_step(step: u64, block: &BlockSize) -> u64 {
    let common = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    match block {
        BlockSize::Fixed(bytes) => common(step, bytes.0),
        BlockSize::Range { min, .. } => common(step, min.0),
        BlockSize::Split(parts) => parts
            .iter()
            .fold(step, |step, (bytes, _)| common(step, bytes.0)),
    }
}

/// Checks that a header fits into each piece that has one.
pub(super) fn check(job: &Job, verify: &Verify) -> Result<(), PlanError> {
    if !moves_data(job) {
        return Ok(());
    }
    let bad = |option, value: String, why| {
        Err(PlanError::BadValue {
            job: job.name.clone(),
            option,
            value,
            why,
        })
    };
    let smallest = [Op::Read, Op::Write]
        .into_iter()
        .filter(|&op| job.access.does(op))
        .map(|op| job.block[op].min().0);
    let block = smallest.min().unwrap_or(0);
    let piece = verify
        .interval
        .map_or(block, |interval| interval.0.min(block));
    let header = verify.method.header_bytes() as u64;
    // Blocks of different sizes may end with any remainder, down to the alignment of sizes.
    let align = job.block_align.map_or(block, |align| align.0).max(1);
    let tail = job.blocks_used().fold(align, common_step);
    let varies = [Op::Read, Op::Write]
        .into_iter()
        .any(|op| job.block[op].min() != job.block[op].max());
    // With `bs_unaligned`, any number of bytes may remain. As in fio, a block that is too short for its header is not
    // verified.
    let whole = !job.block_rules.unaligned;
    if varies && whole && header > 0 && tail < header + u64::from(verify.offset) {
        return bad("blockalign", tail.to_string(), ValueRule::LastBlock);
    }
    if piece < header + u64::from(verify.offset) {
        return match (verify.offset, verify.interval) {
            (0, None) => bad("bs", block.to_string(), ValueRule::HeaderInBlock),
            (0, Some(_)) => bad(
                "verify_interval",
                piece.to_string(),
                ValueRule::HeaderInInterval,
            ),
            (offset, _) => bad("verify_offset", offset.to_string(), ValueRule::HeaderOffset),
        };
    }
    if job.ioengine.works_on_names()
        || matches!(job.ioengine, IoEngine::Falloc | IoEngine::Ftruncate)
    {
        let method = verify.method.name().to_owned();
        return bad("verify", method, ValueRule::NoDataToVerify);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Access, PerOp, Target};

    fn job(rw: Access, io_size: u64) -> Job {
        let mut job = Job::new("g", Target::Nothing, rw);
        job.block = PerOp::all(BlockSize::Fixed(Bytes(4096)));
        job.extent.io_size = Some(SizeSpec::Bytes(Bytes(io_size)));
        job.verify = Some(Verify::by(VerifyMethod::Crc32c));
        job
    }

    /// fio 3.33 with `size=64k bs=4k verify=md5`: 16 writes and 16 reads per pass.
    #[test]
    fn passes_go_on_until_writes_and_reads_make_io_size() {
        let write = Access::only(Op::Write, false);
        for (io_size, expected) in [(100 << 10, 1), (256 << 10, 2), (300 << 10, 3), (700_001, 6)] {
            let mut job = job(write.clone(), io_size);
            assert_eq!(passes(&job, 64 << 10), Some(expected), "{io_size}");
            job.extent.loops = 4;
            assert_eq!(passes(&job, 64 << 10), Some(expected.max(4)), "{io_size}");
        }
        let mut unread = job(write.clone(), 256 << 10);
        unread.verify.as_mut().unwrap().read_back = false;
        assert_eq!(passes(&unread, 64 << 10), Some(1));
        unread.extent.loops = 2;
        assert_eq!(passes(&unread, 64 << 10), Some(4));
        assert_eq!(passes(&job(write, 32 << 10), 64 << 10), None);
        let mix = job(Access::mixed(50, true), 256 << 10);
        assert_eq!(passes(&mix, 64 << 10), Some(3));
    }

    /// fio 3.33 with `rw=write:12k bs=4k verify=md5`: 32 writes and as many reads per pass of `size=513k`, which goes on
    /// without end with `size=512k`; with `write:4k bs=1k size=256k`, 52 of each.
    #[test]
    fn verified_passes_with_gaps_go_on_until_writes_and_reads_make_size() {
        for (gap, block, size, expected) in [
            (12 << 10, 4096, 513 << 10, Some(2)),
            (12 << 10, 4096, 516 << 10, Some(2)),
            (4 << 10, 1024, 256 << 10, Some(3)),
            (12 << 10, 4096, 512 << 10, None),
            (0, 4096, 512 << 10, None),
        ] {
            let mut job = job(Access::only(Op::Write, false), 0);
            job.extent.io_size = None;
            job.access.stride = gap;
            job.block = PerOp::all(BlockSize::Fixed(Bytes(block)));
            let region = Region {
                file: 0,
                offset: 0,
                len: size,
                file_len: size,
            };
            let looped = in_passes(&job, &[region], |_| size);
            assert_eq!(looped.map(|job| job.extent.loops), expected, "{size}");
        }
    }

    /// fio 3.33: `--rw=write --bs=8k,4k --verify=crc32`, then `--rw=read --bs=8k,4k --verify=crc32` exits with 0, and
    /// with `--bs=8k` with 84.
    #[test]
    fn what_is_read_in_other_blocks_than_it_was_written_has_headers_in_each_of_these() {
        let interval = |read: u64, write: u64| {
            let mut job = job(Access::only(Op::Read, false), 1 << 20);
            job.block.read = BlockSize::Fixed(Bytes(read));
            job.block.write = BlockSize::Fixed(Bytes(write));
            VerifyPlan::of(&job, 1).unwrap().rules.interval
        };
        assert_eq!(interval(8192, 4096), Some(Bytes(4096)));
        assert_eq!(interval(8192, 8192), None);
    }

    /// fio 3.33 with `--verify=pattern`: `--rw=randwrite:4`, `--percentage_random=50` and zones are read in write order with
    /// the blocks that were written twice; with norandommap and blockalign each block is read once, in order.
    #[test]
    fn random_jobs_with_a_map_are_read_in_write_order_as_in_fio() {
        let in_order = |change: &dyn Fn(&mut Job)| {
            let mut job = job(Access::only(Op::Write, true), 1 << 20);
            change(&mut job);
            VerifyPlan::of(&job, 1).unwrap().in_write_order
        };
        assert!(in_order(&|_| ()));
        assert!(in_order(&|job| job.access.run_length = 4));
        assert!(in_order(
            &|job| job.access.percentage_random = Some(PerOp::all(50))
        ));
        assert!(!in_order(&|job| job.access.every_block_once = false));
        assert!(!in_order(&|job| job.block_align = Some(Bytes(8192))));
        assert!(!in_order(&|job| job.access.random = false));
    }

    #[test]
    fn a_job_that_only_trims_has_nothing_to_check() {
        let trim = job(Access::only(Op::Trim, false), 1 << 20);
        assert_eq!(VerifyPlan::of(&trim, 1), None);
        assert!(check(&trim, trim.verify.as_ref().unwrap()).is_ok());
    }
}
