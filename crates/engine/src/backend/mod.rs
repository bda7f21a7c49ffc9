//! Backends: how I/O reaches the storage, with one file per family of system calls.
//!
//! A backend is a [`SyncBackend`] or a [`QueueBackend`], and implements [`Files`]. The worker is compiled once for
//! each of the fastest, and once for all others ([`erased`]).

pub(crate) mod erased;
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
use hakaru_sys::buffer::MovedBuffer;
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
/// A trait instead of a closure, because a trait method is inlined into each loop that calls it; it
/// runs at every I/O.
pub(crate) trait CompletionSink {
    /// Handles the completion of the I/O in a slot: the bytes transferred, or an error.
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
    /// Engine features in use that the job did not request.
    fn engine_use(&self) -> EngineUse {
        EngineUse::default()
    }

    /// Returns the buffer of a free slot.
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8];

    /// Returns the buffer of a free slot for the content of a write. Where the backend can, it returns a different
    /// part of its memory each time.
    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        MovedBuffer {
            start: 0,
            bytes: self.buffer(slot, len),
        }
    }

    /// All buffers, to be filled before the first I/O. Empty if buffer content is not used, or was filled on
    /// creation.
    fn buffers(&mut self) -> &mut [u8];

    /// The open files, for a backend that needs no special handling to flush, replace or close
    /// them.
    fn open_files(&mut self) -> Option<&mut OpenFiles> {
        None
    }

    /// Flushes one file. Without files there is nothing to flush.
    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.open_files()
            .map_or(Ok(()), |files| files.sync(region, kind))
    }

    /// Replaces the file of a region while nothing is in flight. The old file is closed.
    fn replace_file(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
        self.open_files()
            .map_or(Err(Errno::NOSYS), |files| files.replace(region, file))
    }

    /// Closes all files. No other method may be called afterwards.
    ///
    /// By default, a backend without [`Files::open_files`] closes its files when it is dropped.
    fn close(&mut self) -> Result<(), Errno> {
        self.open_files().map_or(Ok(()), OpenFiles::close)
    }
}

/// A backend that performs one I/O at a time.
pub(crate) trait SyncBackend: Files {
    /// Performs one I/O from slot 0 and returns the bytes transferred.
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno>;
}

/// A backend with a queue.
pub(crate) trait QueueBackend: Files {
    /// Whether `submit` can also wait for completions in the same call.
    #[inline]
    fn submits_and_waits(&self) -> bool {
        false
    }

    /// Maximum number of I/Os in flight that the backend supports, whatever the queue depth.
    fn most_in_flight(&self) -> usize {
        usize::MAX
    }

    /// Prepares an I/O in a free slot.
    fn prepare(&mut self, slot: u32, request: &IoRequest);

    /// Submits prepared I/Os; waits for `wait_for` completions if [`QueueBackend::submits_and_waits`].
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

    /// Takes back the I/O that `submit` rejected. Returns its slot.
    fn withdraw(&mut self) -> Option<u32> {
        None
    }
}
