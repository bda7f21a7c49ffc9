//! Counts the I/Os that a queue completed, a batch at a time.

use super::in_flight::InflightIo;
use crate::backend::CompletionSink;
use crate::clock::Clock;
use crate::worker_stats::{CompletedIo, WorkerStats};
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;

/// I/Os of one batch with equal creation and submission times and equal length. Their latencies are equal, so they
/// are counted in one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct EqualCompletions {
    flight: InflightIo,
    moved: u32,
    count: u64,
}

impl EqualCompletions {
    pub(super) const NONE: EqualCompletions = EqualCompletions {
        flight: InflightIo {
            request: IoRequest {
                op: Op::Read,
                region: 0,
                offset: 0,
                len: 0,
            },
            created: 0,
            issued: 0,
        },
        moved: 0,
        count: 0,
    };

    #[inline(always)]
    fn has(&self, flight: &InflightIo, moved: u32) -> bool {
        let InflightIo {
            request: IoRequest { op, len, .. },
            created,
            issued,
        } = self.flight;
        let same_io = (op, len, self.moved) == (flight.request.op, flight.request.len, moved);
        same_io && (created, issued) == (flight.created, flight.issued)
    }

    /// Counts the I/Os, if there are any.
    #[inline(always)]
    pub(super) fn tell(&self, stats: &mut WorkerStats, clock: &impl Clock, now: u64) {
        if self.count > 0 {
            self.count_all(stats, clock, now);
        }
    }

    // Out of line: most batches are uniform and need one call.
    #[inline(never)]
    fn count_all(&self, stats: &mut WorkerStats, clock: &impl Clock, now: u64) {
        let InflightIo {
            request: IoRequest {
                op, len: wanted, ..
            },
            created,
            issued,
        } = self.flight;
        let nanos = |from: u64, to: u64| clock.nanos(to.saturating_sub(from));
        let (slat, clat, lat) = (
            Some(nanos(created, issued)),
            nanos(issued, now),
            nanos(created, now),
        );
        let io = CompletedIo {
            op,
            wanted,
            moved: self.moved,
            slat,
            clat,
            lat,
        };
        // Compiled for one I/O without its multiplications: queues that complete one by one call this for each.
        if self.count == 1 {
            stats.count(io);
        } else {
            stats.count_alike(io, self.count);
        }
    }
}

/// Counts the completions that a backend reports.
pub(super) struct BatchSink<'a, C> {
    pub(super) stats: &'a mut WorkerStats,
    pub(super) clock: &'a C,
    pub(super) flights: &'a [InflightIo],
    pub(super) free: &'a mut Vec<u32>,
    pub(super) refused: &'a mut Vec<(u32, Option<Errno>)>,
    pub(super) followed: &'a mut Vec<(u32, u32)>,
    /// Whether follow-up work may be due after a completed write.
    pub(super) follows: bool,
    /// Whether completed reads are inspected too: for verification, and because flushes follow reads behind a flush.
    pub(super) checks: bool,
    /// Time at which the first completion was received.
    pub(super) now: u64,
    pub(super) count: usize,
    pub(super) alike: EqualCompletions,
}

impl<C: Clock> CompletionSink for BatchSink<'_, C> {
    #[inline(always)]
    fn landed(&mut self, slot: u32, result: Result<u32, Errno>) {
        if self.count == 0 {
            self.now = self.clock.now();
        }
        self.count += 1;
        self.free.push(slot);
        let flight = &self.flights[slot as usize];
        match result {
            Ok(moved) if moved > 0 => {
                if self.alike.has(flight, moved) {
                    self.alike.count += 1;
                } else {
                    self.alike.tell(self.stats, self.clock, self.now);
                    self.alike = EqualCompletions {
                        flight: *flight,
                        moved,
                        count: 1,
                    };
                }
                if self.follows && (self.checks || flight.request.op == Op::Write) {
                    self.followed.push((slot, moved));
                }
            }
            Ok(_) => self.refused.push((slot, None)),
            Err(errno) => self.refused.push((slot, Some(errno))),
        }
    }
}
