//! How I/O reaches the storage: one file for each family of system calls.
//!
//! A backend is a [`SyncBackend`] or a [`QueueBackend`], over its [`Files`]. The worker is compiled once for each.

pub(crate) mod falloc;
pub(crate) mod fileops;
pub(crate) mod files;
pub(crate) mod libaio;
pub(crate) mod locked;
pub(crate) mod mmap;
pub(crate) mod null;
pub(crate) mod offload;
mod open_files;
pub(crate) mod posixaio;
mod splice;
pub(crate) mod stdio;
mod thread_pool;
pub(crate) mod uring;
pub(crate) mod vsync;

pub(crate) use self::open_files::OpenFiles;

use hakaru_model::measured::EngineUse;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::file::RangeCall;
use rustix::fd::OwnedFd;
use std::time::Duration;

/// Type of flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncKind {
    /// `fsync`.
    Full,
    /// `fdatasync`.
    Data,
    /// `sync_file_range` with length and offset.
    Range(u64, u64, RangeCall),
}

/// Receiver of completed I/Os.
///
/// A trait instead of a closure, because a method is compiled into each loop that calls it; it runs
/// at every I/O.
pub(crate) trait CompletionSink {
    /// The I/O of a slot is complete, with the bytes transferred or an error.
    fn landed(&mut self, slot: u32, result: Result<u32, Errno>);
}

impl<F: FnMut(u32, Result<u32, Errno>)> CompletionSink for F {
    #[inline(always)]
    fn landed(&mut self, slot: u32, result: Result<u32, Errno>) {
        self(slot, result);
    }
}

/// The files and buffers of a backend.
pub(crate) trait Files {
    /// Features the backend uses beyond those of the job.
    fn engine_use(&self) -> EngineUse {
        EngineUse::default()
    }

    /// The buffer of a slot that is free.
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8];

    /// The buffer of a slot that is free, for the content of a write: where the backend can, another part of its memory
    /// each time.
    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.buffer(slot, len)
    }

    /// Every buffer, to fill before the first I/O; empty where the content of buffers goes nowhere, or was filled before.
    fn buffers(&mut self) -> &mut [u8];

    /// The files, for a backend that does nothing special to flush, replace or close them.
    fn open_files(&mut self) -> Option<&mut OpenFiles> {
        None
    }

    /// Flushes one file. Without files there is nothing to flush.
    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.open_files()
            .map_or(Ok(()), |files| files.sync(region, kind))
    }

    /// Takes another file for a region, while nothing is in flight. The old one is closed.
    fn replace_file(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
        self.open_files()
            .map_or(Err(Errno::NOSYS), |files| files.replace(region, file))
    }

    /// Closes all files. No call may follow.
    ///
    /// A backend without [`Files::open_files`] that does not say otherwise closes them as it is dropped.
    fn close(&mut self) -> Result<(), Errno> {
        self.open_files().map_or(Ok(()), OpenFiles::close)
    }
}

/// A backend that does one I/O at a time.
pub(crate) trait SyncBackend: Files {
    /// Does one I/O from slot 0 and returns the bytes moved.
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno>;
}

/// A backend with a queue.
pub(crate) trait QueueBackend: Files {
    /// Whether `submit` can also wait for completions in the same call.
    const SUBMIT_WAITS: bool = false;

    /// Maximum number of I/Os in flight, whatever the queue depth.
    const MOST_IN_FLIGHT: usize = usize::MAX;

    /// Makes an I/O ready in a free slot.
    fn prepare(&mut self, slot: u32, request: &IoRequest);

    /// Submits prepared I/Os; waits for `wait_for` completions if [`QueueBackend::SUBMIT_WAITS`].
    /// Returns the number submitted, or the error of the first rejected I/O.
    fn submit(&mut self, wait_for: usize) -> Result<usize, Errno>;

    /// Waits up to `timeout` for at least `min` completions, and passes up to `max` to `done`.
    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno>;

    /// Takes back the I/O that `submit` refused. Returns its slot.
    fn withdraw(&mut self) -> Option<u32> {
        None
    }
}
