//! Backends behind a pointer: one compiled worker serves all of them.
//!
//! The worker is compiled separately only for the backends that issue millions of I/Os per second (`start/launch.rs`).
//! All others take longer for a system call or a thread than for a call through a pointer.

use super::{CompletionSink, Files, MovedBuffer, OpenFiles, QueueBackend, SyncBackend, SyncKind};
use hakaru_model::measured::EngineUse;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use rustix::fd::OwnedFd;
use std::time::Duration;

/// Any backend that performs one I/O at a time.
pub(crate) type AnySync<'a> = Box<dyn SyncBackend + 'a>;

/// Any backend with a queue.
pub(crate) type AnyQueue<'a> = Box<dyn ErasedQueue + 'a>;

/// A receiver of completions behind a pointer.
struct ErasedSink<'a>(&'a mut dyn CompletionSink);

impl CompletionSink for ErasedSink<'_> {
    fn landed(&mut self, slot: u32, result: Result<u32, Errno>) {
        self.0.landed(slot, result);
    }
}

/// A [`QueueBackend`] without type parameters.
pub(crate) trait ErasedQueue: Files {
    /// [`QueueBackend::submits_and_waits`].
    fn submits_and_waits_erased(&self) -> bool;

    /// [`QueueBackend::most_in_flight`].
    fn most_in_flight_erased(&self) -> usize;

    /// [`QueueBackend::prepare`].
    fn prepare_erased(&mut self, slot: u32, request: &IoRequest);

    /// [`QueueBackend::submit`].
    fn submit_erased(&mut self, wait_for: usize) -> Result<usize, Errno>;

    /// [`QueueBackend::reap`].
    fn reap_erased(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut dyn CompletionSink,
    ) -> Result<usize, Errno>;

    /// [`QueueBackend::withdraw`].
    fn withdraw_erased(&mut self) -> Option<u32>;
}

impl<Q: QueueBackend> ErasedQueue for Q {
    fn submits_and_waits_erased(&self) -> bool {
        self.submits_and_waits()
    }

    fn most_in_flight_erased(&self) -> usize {
        self.most_in_flight()
    }

    fn prepare_erased(&mut self, slot: u32, request: &IoRequest) {
        self.prepare(slot, request);
    }

    fn submit_erased(&mut self, wait_for: usize) -> Result<usize, Errno> {
        self.submit(wait_for)
    }

    fn reap_erased(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut dyn CompletionSink,
    ) -> Result<usize, Errno> {
        self.reap(min, max, timeout, &mut ErasedSink(done))
    }

    fn withdraw_erased(&mut self) -> Option<u32> {
        self.withdraw()
    }
}

impl QueueBackend for AnyQueue<'_> {
    fn submits_and_waits(&self) -> bool {
        (**self).submits_and_waits_erased()
    }

    fn most_in_flight(&self) -> usize {
        (**self).most_in_flight_erased()
    }

    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        (**self).prepare_erased(slot, request);
    }

    fn submit(&mut self, wait_for: usize) -> Result<usize, Errno> {
        (**self).submit_erased(wait_for)
    }

    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        (**self).reap_erased(min, max, timeout, done)
    }

    fn withdraw(&mut self) -> Option<u32> {
        (**self).withdraw_erased()
    }
}

impl SyncBackend for AnySync<'_> {
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        (**self).transfer(request)
    }
}

/// Implements [`Files`] by calls through the pointer, so that every method of the backend behind it is used, not a
/// default.
macro_rules! files_through_pointer {
    ($($pointer:ident)*) => {$(
        impl Files for $pointer<'_> {
            fn engine_use(&self) -> EngineUse {
                (**self).engine_use()
            }

            fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
                (**self).buffer(slot, len)
            }

            fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
                (**self).next_buffer(slot, len)
            }

            fn buffers(&mut self) -> &mut [u8] {
                (**self).buffers()
            }

            fn open_files(&mut self) -> Option<&mut OpenFiles> {
                (**self).open_files()
            }

            fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
                (**self).sync(region, kind)
            }

            fn replace_file(&mut self, region: u32, file: OwnedFd) -> Result<(), Errno> {
                (**self).replace_file(region, file)
            }

            fn close(&mut self) -> Result<(), Errno> {
                (**self).close()
            }
        }
    )*};
}

files_through_pointer!(AnySync AnyQueue);
