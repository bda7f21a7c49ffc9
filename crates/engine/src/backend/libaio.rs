//! The `libaio` engine: kernel asynchronous I/O.

use super::{CompletionSink, Files, MovedBuffer, OpenFiles, QueueBackend};
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::aio::AioQueue;
use rustix::fd::OwnedFd;
use std::time::Duration;

/// A kernel AIO queue, and the files it works on.
#[derive(Debug)]
pub(crate) struct AioBackend {
    // Field order matters: dropping the queue waits for the I/Os that use the files.
    queue: AioQueue,
    files: OpenFiles,
    batch: usize,
    /// Results of requests that completed while being prepared, such as trims.
    done: Vec<(u32, Result<u32, Errno>)>,
}

impl AioBackend {
    /// Creates the queue. `batch` is the maximum number of I/Os per submission.
    pub(crate) fn new(
        queue: AioQueue,
        files: Vec<OwnedFd>,
        batch: usize,
        depth: usize,
    ) -> AioBackend {
        AioBackend {
            queue,
            files: OpenFiles::new(files),
            batch,
            done: Vec::with_capacity(depth),
        }
    }
}

impl Files for AioBackend {
    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.queue.buffer(slot, len)
    }

    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.queue.next_buffer(slot, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.queue.buffers()
    }

    fn open_files(&mut self) -> Option<&mut OpenFiles> {
        Some(&mut self.files)
    }
}

impl QueueBackend for AioBackend {
    #[inline(always)]
    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = *request;
        let file = &self.files[region];
        match op {
            Op::Read | Op::Write => self.queue.prepare(slot, file, op == Op::Write, offset, len),
            // The kernel has no asynchronous discard: the trim runs synchronously here, at an
            // effective queue depth of 1.
            Op::Trim => {
                let result = hakaru_sys::file::discard(file, offset, u64::from(len)).map(|()| len);
                self.done.push((slot, result));
            }
        }
    }

    #[inline]
    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        self.queue.submit(self.batch)
    }

    #[inline(always)]
    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        let early = self.done.len();
        for (slot, result) in self.done.drain(..) {
            done.landed(slot, result);
        }
        if early >= max || self.queue.in_flight() == 0 {
            return Ok(early);
        }
        let reaped = self
            .queue
            .reap(min.saturating_sub(early), max - early, timeout, |c| {
                done.landed(c.slot, c.result)
            })?;
        Ok(early + reaped)
    }

    fn withdraw(&mut self) -> Option<u32> {
        self.queue.withdraw()
    }
}
