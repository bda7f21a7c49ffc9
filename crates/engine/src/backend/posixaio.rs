//! The `posixaio` engine: threads that call `pread` and `pwrite`.
//!
//! glibc implements `aio_read` and `aio_write` in the same way. As in glibc, the I/Os of one file
//! run in order, so a deeper queue helps only with several files.

use super::thread_pool::{PoolConfig, ThreadPool};
use super::{CompletionSink, Files, MovedBuffer, OpenFiles, QueueBackend, SyncKind};
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use rustix::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of threads, as in glibc.
const THREADS: usize = 20;

/// A thread pool with its files.
#[derive(Debug)]
pub(crate) struct PosixaioBackend {
    pool: ThreadPool<Slots>,
    /// Shared with the threads.
    files: Arc<OpenFiles>,
    regions: usize,
}

impl PosixaioBackend {
    /// Files in the order of the worker's regions, and one buffer per I/O in flight.
    ///
    /// # Errors
    /// ENOMEM when there is not enough memory, EAGAIN when there are too many threads.
    pub(crate) fn new(files: Vec<OwnedFd>, buffers: Vec<Slots>) -> Result<PosixaioBackend, Errno> {
        let regions = files.len();
        let files = Arc::new(OpenFiles::new(files));
        Ok(PosixaioBackend {
            pool: Self::pool(&files, regions, buffers)?,
            files,
            regions,
        })
    }

    /// Starts threads that work on these files, and only borrow the buffers.
    fn pool(
        files: &Arc<OpenFiles>,
        regions: usize,
        buffers: Vec<Slots>,
    ) -> Result<ThreadPool<Slots>, Errno> {
        let terms = PoolConfig {
            name: "posixaio",
            threads: buffers.len().min(regions).clamp(1, THREADS),
            ordered_regions: regions,
        };
        let theirs = Arc::clone(files);
        let perform = move |request: &IoRequest, buffer: &mut Slots| {
            let file = theirs.get(request.region).ok_or(Errno::BADF)?;
            let memory = buffer.get_mut(0, request.len as usize);
            let moved = match request.op {
                Op::Write => rustix::io::pwrite(file, memory, request.offset),
                _ => rustix::io::pread(file, memory, request.offset),
            };
            moved.map(|moved| moved as u32)
        };
        ThreadPool::new(terms, buffers, perform)
    }
}

impl Files for PosixaioBackend {
    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.pool.tool(slot).get_mut(0, len)
    }

    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.pool.tool(slot).move_on(0, len)
    }

    /// Empty: the buffers are not contiguous and were filled on creation.
    fn buffers(&mut self) -> &mut [u8] {
        &mut []
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.files.sync(region, kind)
    }

    /// The threads share the files, so they are started again.
    fn replace_file(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
        self.pool.dismiss();
        let files = Arc::get_mut(&mut self.files).ok_or(Errno::BUSY)?;
        let closed = files.replace(region, file);
        self.pool = Self::pool(&self.files, self.regions, self.pool.take_tools())?;
        closed
    }

    /// Joins the threads first; the time of closing includes this.
    fn close(&mut self) -> Result<(), Errno> {
        self.pool.dismiss();
        Arc::get_mut(&mut self.files).map_or(Ok(()), OpenFiles::close)
    }
}

impl QueueBackend for PosixaioBackend {
    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        if request.op == Op::Trim {
            // The C library has no asynchronous discard: the trim runs synchronously here, at an
            // effective queue depth of 1.
            let file = &self.files[request.region];
            let result = hakaru_sys::file::discard(file, request.offset, u64::from(request.len))
                .map(|()| request.len);
            return self.pool.answer(slot, result);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn backend(files: usize, depth: usize) -> PosixaioBackend {
        let file = |_| {
            let file = tempfile::tempfile().unwrap();
            file.set_len(1 << 20).unwrap();
            file.into()
        };
        let buffer = |_| {
            let mut buffer = Slots::new(1, 4096).unwrap();
            buffer.all_mut().fill(5);
            buffer
        };
        PosixaioBackend::new(
            (0..files).map(file).collect(),
            (0..depth).map(buffer).collect(),
        )
        .unwrap()
    }

    #[test]
    fn ios_of_one_file_keep_their_order_and_those_of_several_all_come_back() {
        let mut backend = backend(3, 12);
        for round in 0..50 {
            for slot in 0..12 {
                let offset = u64::from(slot / 6) * 4096;
                let op = if slot / 3 % 2 == 0 {
                    Op::Write
                } else {
                    Op::Read
                };
                backend
                    .buffer(slot, 4096)
                    .fill(round * 2 + u8::from(op == Op::Read));
                backend.prepare(
                    slot,
                    &IoRequest {
                        op,
                        region: slot % 3,
                        offset,
                        len: 4096,
                    },
                );
            }
            assert_eq!(backend.submit(0), Ok(12));
            let mut seen = Vec::new();
            while seen.len() < 12 {
                backend
                    .reap(1, 4, None, &mut |slot: u32, result: Result<u32, Errno>| {
                        seen.push((slot, result))
                    })
                    .unwrap();
            }
            seen.sort_unstable_by_key(|s| s.0);
            assert!(
                seen.iter()
                    .zip(0..)
                    .all(|(found, slot)| *found == (slot, Ok(4096))),
                "{seen:?}"
            );
            // Each read must return the data of the write before it.
            assert!((0..12).all(|slot| backend.buffer(slot, 4096).iter().all(|&b| b == round * 2)));
        }
        assert_eq!(
            (backend.close(), backend.files.len()),
            (Ok(()), 0),
            "no thread has the files any more"
        );
    }

    #[test]
    fn waiting_ends_with_the_time_and_what_is_running_may_be_dropped() {
        let mut backend = backend(1, 4);
        assert_eq!(
            backend.reap(1, 4, Some(Duration::from_millis(1)), &mut |_: u32,
                                                                     _: Result<
                u32,
                Errno,
            >| ()),
            Ok(0)
        );
        for slot in 0..4 {
            backend.prepare(
                slot,
                &IoRequest {
                    op: Op::Write,
                    region: 0,
                    offset: 0,
                    len: 4096,
                },
            );
        }
        backend.submit(0).unwrap();
        drop(backend);
    }
}
