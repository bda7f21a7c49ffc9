//! How I/O reaches the storage: one trait, one file for each family of system calls.

pub(crate) mod files;
pub(crate) mod libaio;
pub(crate) mod null;
pub(crate) mod uring;

use hakaru_model::stream::Request;
use hakaru_sys::Errno;
use std::time::Duration;

/// Which flush is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncKind {
    /// `fsync`.
    Full,
    /// `fdatasync`.
    Data,
}

/// A way to do I/O. The worker is compiled once for each.
pub(crate) trait Backend {
    /// Whether several I/Os can be in flight. A synchronous backend is asked only for [`Backend::transfer`].
    const QUEUED: bool;

    /// Whether `submit` can also wait for completions in the same call.
    const SUBMIT_WAITS: bool;

    /// The buffer of a slot that is free, for the content of a write.
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8];

    /// Every buffer, to fill before the first I/O.
    fn buffers(&mut self) -> &mut [u8];

    /// Does one I/O from slot 0 and returns the bytes moved.
    fn transfer(&mut self, request: &Request) -> Result<u32, Errno>;

    /// Makes an I/O ready in a free slot.
    fn prepare(&mut self, slot: u32, request: &Request);

    /// Hands over what is ready; waits for `wait_for` completions where [`Backend::SUBMIT_WAITS`]. Returns how many
    /// were taken, or the error of the first one that cannot be.
    fn submit(&mut self, wait_for: usize) -> Result<usize, Errno>;

    /// Takes back the I/O that `submit` refused. Returns its slot.
    fn withdraw(&mut self) -> Option<u32>;

    /// Waits for at least `min` completions, for at most `timeout`, and gives up to `max` to `done`.
    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: impl FnMut(u32, Result<u32, Errno>),
    ) -> Result<usize, Errno>;

    /// Flushes one file.
    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno>;
}
