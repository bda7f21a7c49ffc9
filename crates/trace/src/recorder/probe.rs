//! Finds out whether perf delivers the completions of a disk on this machine.
//!
//! On some virtual machines samples vanish without being reported as lost, mostly those of interrupts on an idle CPU.

use super::disk::DiskFacts;
use hakaru_sys::buffer::AlignedBuffer;
use rustix::fs::{Mode, OFlags};
use std::time::{Duration, Instant};

/// Number of reads.
const READS: u64 = 100;
/// Bytes of each.
const BLOCK: u64 = 4096;
/// A slow disk is read for no longer.
const LONGEST: Duration = Duration::from_secs(2);

/// Reads blocks all over a disk. Returns how many were read; 0 if the disk cannot be read.
pub(super) fn read_blocks(disk: &DiskFacts) -> u64 {
    let Some(node) = disk.node() else {
        return 0;
    };
    // Not through the page cache, where the blocks may be already.
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let (Ok(file), Ok(mut block)) = (
        rustix::fs::open(node, flags, Mode::empty()),
        AlignedBuffer::new(BLOCK as usize),
    ) else {
        return 0;
    };
    let blocks = disk.sectors * 512 / BLOCK;
    let begin = Instant::now();
    (0..READS.min(blocks))
        .take_while(|_| begin.elapsed() < LONGEST)
        .map(|number| number * (blocks / READS.min(blocks)) * BLOCK)
        .filter(|&offset| {
            let read = rustix::io::pread(&file, block.as_mut_slice(), offset);
            read.is_ok_and(|len| len as u64 == BLOCK)
        })
        .count() as u64
}
