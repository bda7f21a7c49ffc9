//! `io_submit_mode=offload`: a pool of threads, each of which runs one I/O at a time with the job's
//! engine.
//!
//! The worker only queues I/Os and so keeps its schedule even if the device is slow: waiting in the
//! queue counts as latency. Waking a thread costs microseconds; dynamic dispatch is negligible
//! compared with that.

use super::thread_pool::{PoolConfig, ThreadPool};
use super::{CompletionSink, Files, MovedBuffer, OpenFiles, QueueBackend, SyncBackend, SyncKind};
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use rustix::fd::OwnedFd;
use std::time::Duration;

/// A synchronous engine with one buffer.
pub(crate) type Submitter = Box<dyn SyncBackend + Send>;

/// A queue backend that is used for one I/O at a time.
#[derive(Debug)]
pub(crate) struct BlockingQueue<Q> {
    queue: Q,
    /// Error after which the queue can no longer be used.
    broken: Option<Errno>,
}

impl<Q: QueueBackend> BlockingQueue<Q> {
    pub(crate) fn new(queue: Q) -> BlockingQueue<Q> {
        BlockingQueue {
            queue,
            broken: None,
        }
    }
}

impl<Q: QueueBackend> Files for BlockingQueue<Q> {
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.queue.buffer(slot, len)
    }

    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.queue.next_buffer(slot, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.queue.buffers()
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.queue.sync(region, kind)
    }

    fn close(&mut self) -> Result<(), Errno> {
        self.queue.close()
    }
}

impl<Q: QueueBackend> SyncBackend for BlockingQueue<Q> {
    /// Submits one I/O and waits for its completion.
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        if let Some(errno) = self.broken {
            return Err(errno);
        }
        self.queue.prepare(0, request);
        loop {
            match self.queue.submit(1) {
                Ok(_) => break,
                Err(Errno::INTR | Errno::AGAIN | Errno::BUSY) => std::thread::yield_now(),
                Err(errno) => {
                    self.broken = self.queue.withdraw().is_none().then_some(errno);
                    return Err(errno);
                }
            }
        }
        let mut landed = None;
        while landed.is_none() {
            let mut note = |_: u32, result: Result<u32, Errno>| landed = Some(result);
            match self.queue.reap(1, 1, None, &mut note) {
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

/// A pool of threads, each with the engine of the I/O it is running.
pub(crate) struct OffloadBackend {
    pool: ThreadPool<Submitter>,
    /// Files for flushes, which the worker runs itself.
    files: OpenFiles,
}

impl OffloadBackend {
    /// Starts one thread per engine. Files are in the order of the worker's regions.
    ///
    /// # Errors
    /// EAGAIN when there are too many threads.
    pub(crate) fn new(
        files: Vec<OwnedFd>,
        submitters: Vec<Submitter>,
    ) -> Result<OffloadBackend, Errno> {
        let terms = PoolConfig {
            name: "submitter",
            threads: submitters.len(),
            ordered_regions: 0,
        };
        let perform = |request: &IoRequest, submitter: &mut Submitter| submitter.transfer(request);
        Ok(OffloadBackend {
            pool: ThreadPool::new(terms, submitters, perform)?,
            files: OpenFiles::new(files),
        })
    }
}

impl Files for OffloadBackend {
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.pool.tool(slot).buffer(0, len)
    }

    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.pool.tool(slot).next_buffer(0, len)
    }

    /// Empty: the buffers are not contiguous and were filled on creation.
    fn buffers(&mut self) -> &mut [u8] {
        &mut []
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.files.sync(region, kind)
    }

    /// If an engine is still busy after an error, its files are closed when it ends.
    fn close(&mut self) -> Result<(), Errno> {
        let answer = self
            .pool
            .tools()
            .try_for_each(|submitter| submitter.close());
        answer.and(self.files.close())
    }
}

impl QueueBackend for OffloadBackend {
    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        self.pool.prepare(slot, request);
    }

    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        Ok(self.pool.submit())
    }

    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        Ok(self.pool.reap(min, max, timeout, done))
    }
}
