//! The `vsync` engine: `lseek`, then `readv` or `writev`, with adjacent I/Os merged into one call.
//!
//! It is not a real queue: submitted I/Os are merged into as few calls as possible, and complete when these calls
//! return.

use super::{CompletionSink, Files, MovedBuffer, OpenFiles, QueueBackend};
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::vector::VectoredSlots;
use rustix::fd::OwnedFd;
use rustix::fs::SeekFrom;
use std::time::Duration;

/// Merges adjacent I/Os of a submission.
#[derive(Debug)]
pub(crate) struct VsyncBackend {
    files: OpenFiles,
    slots: VectoredSlots,
    /// Current file offset of each file.
    at: Vec<u64>,
    waiting: Vec<(u32, IoRequest)>,
    done: Vec<(u32, Result<u32, Errno>)>,
}

/// Whether one call can perform both I/Os.
fn follows(before: &IoRequest, after: &IoRequest) -> bool {
    (before.op, before.region) == (after.op, after.region)
        && before.offset + u64::from(before.len) == after.offset
}

impl VsyncBackend {
    /// Files in the order of the worker's regions.
    pub(crate) fn new(files: Vec<OwnedFd>, slots: VectoredSlots, depth: usize) -> VsyncBackend {
        let room = || Vec::with_capacity(depth);
        VsyncBackend {
            at: vec![0; files.len()],
            files: OpenFiles::new(files),
            slots,
            waiting: room(),
            done: Vec::with_capacity(depth),
        }
    }

    /// Performs the first `count` waiting I/Os, which are adjacent, in one call.
    fn run(&mut self, count: usize) {
        let (_, first) = self.waiting[0];
        let answer = self.call(&first, count);
        let mut left = answer.unwrap_or(0);
        for (slot, request) in self.waiting.drain(..count) {
            let result = answer.map(|_| left.min(request.len as usize) as u32);
            left = left.saturating_sub(request.len as usize);
            self.done.push((slot, result));
        }
    }

    fn call(&mut self, first: &IoRequest, count: usize) -> Result<usize, Errno> {
        let IoRequest {
            op, region, offset, ..
        } = *first;
        let file = &self.files[region];
        let at = &mut self.at[region as usize];
        if *at != offset {
            rustix::fs::seek(file, SeekFrom::Start(offset))?;
            *at = offset;
        }
        let parts = self.waiting[..count]
            .iter()
            .map(|(slot, request)| (*slot, request.len));
        let moved = match op {
            Op::Write => self.slots.write(file, parts)?,
            _ => self.slots.read(file, parts)?,
        };
        *at += moved as u64;
        Ok(moved)
    }
}

impl Files for VsyncBackend {
    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.buffer(slot, len)
    }

    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.slots.next_buffer(slot, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.slots.buffers()
    }

    fn open_files(&mut self) -> Option<&mut OpenFiles> {
        Some(&mut self.files)
    }

    fn replace_file(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
        self.at[region as usize] = 0;
        self.files.replace(region, file)
    }
}

impl QueueBackend for VsyncBackend {
    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        if request.op == Op::Trim {
            let file = &self.files[request.region];
            let result = hakaru_sys::file::discard(file, request.offset, u64::from(request.len))
                .map(|()| request.len);
            self.done.push((slot, result));
        } else {
            self.waiting.push((slot, *request));
        }
    }

    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        let taken = self.waiting.len();
        while !self.waiting.is_empty() {
            let joined = self
                .waiting
                .windows(2)
                .take_while(|pair| follows(&pair[0].1, &pair[1].1))
                .count()
                + 1;
            self.run(joined.min(VectoredSlots::MOST));
        }
        Ok(taken)
    }

    fn reap(
        &mut self,
        _: usize,
        max: usize,
        _: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        let count = self.done.len().min(max);
        for (slot, result) in self.done.drain(..count) {
            done.landed(slot, result);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_sys::buffer::Slots;

    #[test]
    fn neighbours_are_joined_and_the_last_is_short() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10_000).unwrap();
        let slots = VectoredSlots::new(Slots::new(8, 4096).unwrap());
        let mut backend = VsyncBackend::new(vec![file.into()], slots, 8);
        let request = |(op, offset)| IoRequest {
            op,
            region: 0,
            offset,
            len: 4096,
        };
        use Op::{Read, Write};
        let reads = [(Read, 0), (Read, 4096), (Read, 8192), (Read, 12_288)];
        let mixed = [(Write, 4096), (Write, 0), (Read, 0), (Read, 8192)];
        let all = [reads, mixed].concat();
        let all: Vec<IoRequest> = all.into_iter().map(request).collect();
        let breaks = |pair: &&[IoRequest]| !follows(&pair[0], &pair[1]);
        assert_eq!(all.windows(2).filter(breaks).count(), 4);
        for (slot, request) in all.iter().enumerate() {
            backend.prepare(slot as u32, request);
        }
        assert_eq!(backend.submit(0), Ok(8));
        assert_eq!(backend.submit(0), Ok(0));
        let mut results = Vec::new();
        let mut sink = |slot: u32, result: Result<u32, Errno>| results.push((slot, result));
        assert_eq!(backend.reap(3, 5, None, &mut sink), Ok(5));
        assert_eq!(backend.reap(1, 8, None, &mut sink), Ok(3));
        let expected = [4096, 4096, 1808, 0, 4096, 4096, 4096, 1808];
        let expected: Vec<_> = (0..).zip(expected.map(Ok)).collect();
        assert_eq!(results, expected);
    }
}
