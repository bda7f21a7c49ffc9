//! The `io_uring` engine.

use super::open_files::sync_file;
use super::{CompletionSink, Files, MovedBuffer, QueueBackend, SyncKind};
use hakaru_model::job::Op;
use hakaru_model::measured::EngineUse;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::ring::{Ring, RingOptions};
use rustix::fd::OwnedFd;
use std::time::Duration;

/// A ring with its buffers and files.
#[derive(Debug)]
pub(crate) struct RingBackend {
    ring: Ring,
    /// Results of requests that completed while being prepared, such as trims.
    done: Vec<(u32, Result<u32, Errno>)>,
}

impl RingBackend {
    pub(crate) fn new(ring: Ring, depth: usize) -> RingBackend {
        RingBackend {
            ring,
            done: Vec::with_capacity(depth),
        }
    }

    /// Waits for `more` further completions, or for a timeout.
    fn wait(&mut self, more: usize, timeout: Option<Duration>) -> Result<usize, Errno> {
        let Some(time) = timeout else {
            return self.ring.submit(more);
        };
        self.ring.submit_for(more, time).unwrap_or_else(|| {
            // Older kernels cannot wait with a timeout. A short sleep suffices, because only paced
            // jobs need the timeout.
            std::thread::sleep(time.min(Duration::from_micros(50)));
            self.ring.submit(0)
        })
    }
}

impl Files for RingBackend {
    fn engine_use(&self) -> EngineUse {
        let RingOptions {
            fixed_buffers,
            fixed_files,
            ..
        } = self.ring.options();
        EngineUse {
            registered_buffers: fixed_buffers,
            registered_files: fixed_files,
            ..EngineUse::default()
        }
    }

    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.ring.buffer(slot, len)
    }

    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.ring.next_buffer(slot, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.ring.buffers()
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        sync_file(&self.ring.files()[region as usize], kind)
    }

    fn replace_file(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
        self.ring.replace_file(region, file)
    }

    fn close(&mut self) -> Result<(), Errno> {
        self.ring.close_files()
    }
}

impl QueueBackend for RingBackend {
    #[inline]
    fn submits_and_waits(&self) -> bool {
        true
    }

    #[inline(always)]
    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = *request;
        match op {
            Op::Read | Op::Write => self
                .ring
                .prepare(slot, region, op == Op::Write, offset, len),
            // `io_uring` supports discard only since Linux 6.12: the trim runs synchronously here,
            // at an effective queue depth of 1.
            Op::Trim => {
                let file = &self.ring.files()[region as usize];
                let result = hakaru_sys::file::discard(file, offset, u64::from(len)).map(|()| len);
                self.done.push((slot, result));
            }
        }
    }

    #[inline]
    fn submit(&mut self, wait_for: usize) -> Result<usize, Errno> {
        self.ring.submit(wait_for.saturating_sub(self.done.len()))
    }

    #[inline(always)]
    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        let mut count = self.done.len();
        if count > 0 {
            self.done
                .drain(..)
                .for_each(|(slot, result)| done.landed(slot, result));
        }
        let min = min.min(count + self.ring.in_flight());
        let mut waited = false;
        loop {
            count += self
                .ring
                .reap(max.saturating_sub(count), |c| done.landed(c.slot, c.result));
            if count >= min || waited && timeout.is_some() {
                return Ok(count);
            }
            self.wait(min - count, timeout)?;
            waited = true;
        }
    }
}
