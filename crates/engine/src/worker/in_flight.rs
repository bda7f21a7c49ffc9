//! The I/Os of a worker that are in flight.

use crate::backend::QueueBackend;
use hakaru_model::job::Op;
use hakaru_model::record::StopReason;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;

/// An I/O in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct InflightIo {
    pub(super) request: IoRequest,
    pub(super) created: u64,
    pub(super) issued: u64,
}

/// The I/Os of a queue, by slot.
#[derive(Debug)]
pub(super) struct InFlight {
    pub(super) flights: Box<[InflightIo]>,
    /// Maximum number in flight: all slots, unless the depth was lowered.
    pub(super) usable: usize,
    pub(super) free: Vec<u32>,
    /// Requested depth, reached once excess I/Os have completed.
    pub(super) wanted: usize,
    /// Slots that are unused because the depth was lowered.
    pub(super) parked: Vec<u32>,
    /// Prepared but not submitted I/Os.
    pub(super) fresh: Vec<u32>,
    /// Whether the backend rejected some submitted I/Os for lack of resources.
    pub(super) unsent: bool,
    /// I/Os that completed with an error, or without data (`None`).
    pub(super) refused: Vec<(u32, Option<Errno>)>,
    /// Completed I/Os that may need a flush or verification, with their bytes.
    pub(super) followed: Vec<(u32, u32)>,
    /// Whether more requests remain.
    pub(super) more: bool,
    /// Whether the queue is being filled, rather than emptied down to its low mark.
    pub(super) filling: bool,
    /// Whether the next request cannot be issued yet: it waits for its time, or for I/Os in flight.
    pub(super) stalled: bool,
    pub(super) stop: Option<StopReason>,
}

impl InFlight {
    pub(super) fn new(depth: usize) -> InFlight {
        let nothing = InflightIo {
            request: IoRequest {
                op: Op::Read,
                region: 0,
                offset: 0,
                len: 0,
            },
            created: 0,
            issued: 0,
        };
        let room = || Vec::with_capacity(depth);
        InFlight {
            flights: vec![nothing; depth].into_boxed_slice(),
            usable: depth,
            wanted: depth,
            parked: Vec::new(),
            free: (0..depth as u32).rev().collect(),
            fresh: room(),
            unsent: false,
            refused: Vec::with_capacity(depth),
            followed: Vec::with_capacity(depth),
            more: true,
            filling: true,
            stalled: false,
            stop: None,
        }
    }

    /// Prepares a request in a free slot. Does nothing without a request or a free slot.
    #[inline(always)]
    pub(super) fn prepare(
        &mut self,
        backend: &mut impl QueueBackend,
        request: Option<IoRequest>,
        created: u64,
    ) -> bool {
        let Some(request) = request else {
            self.more = false;
            return false;
        };
        let Some(slot) = self.free.pop() else {
            return false;
        };
        backend.prepare(slot, &request);
        self.flights[slot as usize] = InflightIo {
            request,
            created,
            issued: created,
        };
        self.fresh.push(slot);
        true
    }

    /// I/Os prepared or in flight.
    pub(super) fn count(&self) -> usize {
        self.usable - self.free.len()
    }

    /// Sets the queue depth; excess I/Os complete first.
    pub(super) fn set_depth(&mut self, depth: usize) {
        let depth = depth.clamp(1, self.flights.len());
        while self.usable < depth
            && let Some(slot) = self.parked.pop()
        {
            self.free.push(slot);
            self.usable += 1;
        }
        while self.usable > depth
            && let Some(slot) = self.free.pop()
        {
            self.parked.push(slot);
            self.usable -= 1;
        }
        self.wanted = depth;
    }

    /// Parks slots that were still busy when the depth was lowered.
    pub(super) fn keep_depth(&mut self) {
        if self.usable > self.wanted {
            self.set_depth(self.wanted);
        }
    }
}
