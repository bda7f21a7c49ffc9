//! `io_submit_mode=offload`: a queue of threads, each of which submits one I/O by the job's engine and waits for it.
//!
//! The worker only says what is to be done, and so keeps to its schedule however slow the device is: what waits in the
//! queue counts as latency. Waking a thread costs microseconds; beside that the call by a table is nothing.

use super::files::{close_all, sync_file};
use super::thread_pool::{PoolConfig, ThreadPool};
use super::{Backend, CompletionSink, SyncKind};
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use rustix::fd::OwnedFd;
use std::time::Duration;

/// An engine with one buffer, which does one I/O at a time.
pub(crate) trait Submitter: Send {
    /// The first bytes of its buffer.
    fn buffer(&mut self, len: usize) -> &mut [u8];
    /// The same after moving it on: see [`Backend::next_buffer`].
    fn next_buffer(&mut self, len: usize) -> &mut [u8] {
        self.buffer(len)
    }
    /// All of it.
    fn whole_buffer(&mut self) -> &mut [u8];
    /// Does an I/O, and waits for it.
    fn perform(&mut self, request: &IoRequest) -> Result<u32, Errno>;
    /// Closes its files.
    fn close(&mut self) -> Result<(), Errno>;
}

/// Any backend, used for one I/O at a time.
#[derive(Debug)]
pub(crate) struct BlockingIo<B> {
    backend: B,
    /// Why its queue is of no use any more.
    broken: Option<Errno>,
}

impl<B: Backend> BlockingIo<B> {
    pub(crate) fn new(backend: B) -> BlockingIo<B> {
        BlockingIo {
            backend,
            broken: None,
        }
    }

    /// Puts an I/O into a queue of one, and takes it out again.
    fn through_queue(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        if let Some(errno) = self.broken {
            return Err(errno);
        }
        self.backend.prepare(0, request);
        loop {
            match self.backend.submit(1) {
                Ok(_) => break,
                Err(Errno::INTR | Errno::AGAIN | Errno::BUSY) => std::thread::yield_now(),
                Err(errno) => {
                    self.broken = self.backend.withdraw().is_none().then_some(errno);
                    return Err(errno);
                }
            }
        }
        let mut landed = None;
        while landed.is_none() {
            match self
                .backend
                .reap(1, 1, None, &mut |_: u32, result: Result<u32, Errno>| {
                    landed = Some(result)
                }) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    self.broken = Some(errno);
                    return Err(errno);
                }
            }
        }
        landed.unwrap_or(Err(Errno::IO))
    }
}

impl<B: Backend + Send> Submitter for BlockingIo<B> {
    fn buffer(&mut self, len: usize) -> &mut [u8] {
        self.backend.buffer(0, len)
    }

    fn next_buffer(&mut self, len: usize) -> &mut [u8] {
        self.backend.next_buffer(0, len)
    }

    fn whole_buffer(&mut self) -> &mut [u8] {
        self.backend.buffers()
    }

    fn perform(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        if B::QUEUED {
            self.through_queue(request)
        } else {
            self.backend.transfer(request)
        }
    }

    fn close(&mut self) -> Result<(), Errno> {
        self.backend.close()
    }
}

/// A queue of threads, each with the engine of the I/O it is at.
#[derive(Debug)]
pub(crate) struct OffloadBackend {
    crew: ThreadPool<Box<dyn Submitter>>,
    /// For flushes, which the worker does itself.
    files: Vec<OwnedFd>,
}

impl OffloadBackend {
    /// A thread for each of the engines. Files in the order of the worker's regions.
    ///
    /// # Errors
    /// EAGAIN when there are too many threads.
    pub(crate) fn new(
        files: Vec<OwnedFd>,
        submitters: Vec<Box<dyn Submitter>>,
    ) -> Result<OffloadBackend, Errno> {
        let terms = PoolConfig {
            name: "submitter",
            threads: submitters.len(),
            ordered_regions: 0,
        };
        let perform =
            |request: &IoRequest, submitter: &mut Box<dyn Submitter>| submitter.perform(request);
        Ok(OffloadBackend {
            crew: ThreadPool::new(terms, submitters, perform)?,
            files,
        })
    }
}

impl Backend for OffloadBackend {
    const QUEUED: bool = true;
    const SUBMIT_WAITS: bool = false;

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.crew.tool(slot).buffer(len)
    }

    fn next_buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.crew.tool(slot).next_buffer(len)
    }

    /// None in one piece: they were filled one by one as they were made.
    fn buffers(&mut self) -> &mut [u8] {
        &mut []
    }

    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        self.crew.prepare(slot, request);
    }

    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        Ok(self.crew.submit())
    }

    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        Ok(self.crew.reap(min, max, timeout, done))
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.files
            .get(region as usize)
            .map_or(Ok(()), |file| sync_file(file, kind))
    }

    /// Those of an engine that is still at work, after an error of its queue, are closed as it ends.
    fn close(&mut self) -> Result<(), Errno> {
        let answer = self
            .crew
            .tools()
            .try_for_each(|submitter| submitter.close());
        answer.and(close_all(&mut self.files))
    }
}
