//! How I/O reaches the storage: one trait, one file for each family of system calls.

pub(crate) mod falloc;
pub(crate) mod fileops;
pub(crate) mod files;
pub(crate) mod ftruncate;
pub(crate) mod libaio;
pub(crate) mod locked;
pub(crate) mod mmap;
pub(crate) mod null;
pub(crate) mod offload;
pub(crate) mod posixaio;
pub(crate) mod splice;
pub(crate) mod stdio;
mod thread_pool;
pub(crate) mod uring;
pub(crate) mod vsync;

use hakaru_model::measured::EngineUse;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::file::RangeCall;
use rustix::fd::OwnedFd;
use std::time::Duration;

/// Which flush is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncKind {
    /// `fsync`.
    Full,
    /// `fdatasync`.
    Data,
    /// `sync_file_range` of so many bytes from an offset.
    Range(u64, u64, RangeCall),
}

/// Whoever is told of I/Os that are done.
///
/// A trait rather than a closure, because a method can be compiled into each loop that calls it: what is done here is done
/// at every I/O.
pub(crate) trait CompletionSink {
    /// The I/O of a slot is done: it moved so many bytes, or failed.
    fn landed(&mut self, slot: u32, result: Result<u32, Errno>);
}

impl<F: FnMut(u32, Result<u32, Errno>)> CompletionSink for F {
    #[inline(always)]
    fn landed(&mut self, slot: u32, result: Result<u32, Errno>) {
        self(slot, result);
    }
}

/// A way to do I/O. The worker is compiled once for each.
///
/// What only queues are asked for need not be written by a backend that is none.
pub(crate) trait Backend {
    /// Whether several I/Os can be in flight. A synchronous backend is asked only for [`Backend::transfer`].
    const QUEUED: bool;

    /// Whether `submit` can also wait for completions in the same call.
    const SUBMIT_WAITS: bool;

    /// I/Os that can be in flight, however deep the queue was asked to be.
    const MOST_IN_FLIGHT: usize = usize::MAX;

    /// What it does beyond what the job asks for.
    fn engine_use(&self) -> EngineUse {
        EngineUse::default()
    }

    /// The buffer of a slot that is free, for the content of a write.
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8];

    /// The buffer of a slot that is free, for the content of a write: where the backend can, another part of its memory
    /// each time.
    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.buffer(slot, len)
    }

    /// Every buffer, to fill before the first I/O.
    fn buffers(&mut self) -> &mut [u8];

    /// Does one I/O from slot 0 and returns the bytes moved.
    fn transfer(&mut self, _request: &IoRequest) -> Result<u32, Errno> {
        Err(Errno::NOSYS)
    }

    /// Makes an I/O ready in a free slot.
    fn prepare(&mut self, _slot: u32, _request: &IoRequest) {}

    /// Hands over what is ready; waits for `wait_for` completions where [`Backend::SUBMIT_WAITS`]. Returns how many
    /// were taken, or the error of the first one that cannot be.
    fn submit(&mut self, _wait_for: usize) -> Result<usize, Errno> {
        Ok(0)
    }

    /// Takes back the I/O that `submit` refused. Returns its slot.
    fn withdraw(&mut self) -> Option<u32> {
        None
    }

    /// Waits for at least `min` completions, for at most `timeout`, and gives up to `max` to `done`.
    fn reap(
        &mut self,
        _min: usize,
        _max: usize,
        _timeout: Option<Duration>,
        _done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        Ok(0)
    }

    /// Flushes one file.
    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno>;

    /// Takes another file for a region, while nothing is in flight. The old one is closed.
    fn renew(&mut self, _region: u32, _file: OwnedFd) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    /// Closes all files. Nothing is asked for afterwards.
    ///
    /// A backend that does not say otherwise closes them as it is dropped.
    fn close(&mut self) -> Result<(), Errno> {
        Ok(())
    }
}
