//! The `null` engine: performs no I/O, so that a measurement shows only the overhead of the tool.

use super::{CompletionSink, Files, MovedBuffer, QueueBackend, SyncBackend};
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use rustix::fd::OwnedFd;
use std::time::Duration;

/// Buffers without files.
#[derive(Debug)]
pub(crate) struct NullBackend {
    slots: Slots,
    /// The I/O that is prepared or submitted.
    prepared: Option<(u32, u32)>,
    done: Option<(u32, u32)>,
}

impl NullBackend {
    pub(crate) fn new(slots: Slots) -> NullBackend {
        NullBackend {
            slots,
            prepared: None,
            done: None,
        }
    }
}

impl Files for NullBackend {
    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    #[inline]
    fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.slots.move_on(slot as usize, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.slots.all_mut()
    }

    fn replace_file(&mut self, _: u32, _: OwnedFd) -> Result<(), Errno> {
        Ok(())
    }
}

/// Reports every transfer as complete immediately. Used at queue depth 1.
impl SyncBackend for NullBackend {
    #[inline]
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        Ok(std::hint::black_box(request.len))
    }
}

/// The queue variant: each I/O is submitted and completes at once, so never more than one is in
/// flight.
impl QueueBackend for NullBackend {
    fn most_in_flight(&self) -> usize {
        1
    }

    #[inline]
    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        self.prepared = Some((slot, request.len));
    }

    #[inline]
    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        let taken = self.prepared.take();
        self.done = taken.or(self.done);
        Ok(usize::from(taken.is_some()))
    }

    #[inline]
    fn reap(
        &mut self,
        _: usize,
        _: usize,
        _: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        let Some((slot, len)) = self.done.take() else {
            return Ok(0);
        };
        done.landed(slot, Ok(len));
        Ok(1)
    }
}
