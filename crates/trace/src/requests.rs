//! Restores block requests from events: which bios each request carries, and when it was queued, issued and completed.
//!
//! Three events suffice: a bio is queued, a request is issued, a request completes. Merges and splits follow from the
//! addresses: a request consists of the bios that wait at its sectors when it is issued. The matcher never reads a
//! clock and holds only what is pending or in flight, in bounded numbers.

mod commands;
mod inflight;
mod pending;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

use crate::event::{BlockOp, EventKind, RequestFlags, SectorRange, ThreadName, TraceEvent};
use crate::request::{BioPiece, TracedRequest};
use commands::Commands;
use inflight::{InFlightRequest, InFlightRequests};
use pending::PendingBios;
use std::collections::{HashMap, VecDeque};

/// What the matcher cannot know from the events.
#[derive(Clone, Copy, Debug)]
pub struct MatchOptions {
    /// The device takes bios instead of requests: a request lasts from `block_bio_queue` to `block_bio_complete`.
    pub bio_based: bool,
    /// `block_bio_queue` is recorded. Otherwise each request counts as one bio, which the issuing thread queued when it
    /// issued the request.
    pub bios_recorded: bool,
}

impl Default for MatchOptions {
    fn default() -> MatchOptions {
        MatchOptions {
            bio_based: false,
            bios_recorded: true,
        }
    }
}

/// What did not fit together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchCounts {
    /// Requests whose completion was not seen.
    pub unseen_completions: u64,
    /// Requests that have sectors whose bios were not seen.
    pub unmatched: u64,
    /// Completions of requests whose issue was not seen: they were in flight when recording began, or the event was
    /// lost.
    pub unseen_issues: u64,
    /// Completions that several requests of different lengths at one address could have had.
    pub ambiguous: u64,
    /// Flush sequences that ended: writes with a cache flush before or after them, and calls for a flush alone.
    pub flush_sequences: u64,
    /// Data commands on an MMC bus without a request.
    pub stray_commands: u64,
    /// Commands on an MMC bus that asked for the card's status (CMD13).
    pub status_commands: u64,
}

/// Restores requests from the events of one disk in order of time.
#[derive(Debug, Default)]
pub struct RequestMatcher {
    options: MatchOptions,
    pending: PendingBios,
    /// Bios that asked for a cache flush before or after their data, for the next flush command.
    flush_bios: VecDeque<BioPiece>,
    in_flight: InFlightRequests,
    commands: Commands,
    /// Type of the next bio of a thread, by the file system: first sector, bytes, type.
    page_types: HashMap<u32, (u64, u32, u32)>,
    counts: MatchCounts,
    done: Vec<TracedRequest>,
    unissued: Vec<TracedRequest>,
}

impl RequestMatcher {
    /// Bios that wait for a flush command. Devices without a volatile cache never get one.
    const MAX_FLUSH_BIOS: usize = 1024;
    /// Threads whose next bio has a known type.
    const MAX_PAGE_TYPES: usize = 4096;
    /// Completions without an issue that are kept: more than that are not in flight when recording begins.
    const MAX_UNISSUED: usize = 1 << 16;

    /// Creates a matcher without pending bios and requests in flight.
    pub fn new(options: MatchOptions) -> RequestMatcher {
        RequestMatcher {
            options,
            ..RequestMatcher::default()
        }
    }

    /// Takes the next event.
    pub fn push(&mut self, event: &TraceEvent) {
        let time = event.time;
        match event.kind {
            EventKind::BioQueue { range, flags, comm } => {
                self.queue_bio(time, event.tid, range, flags, comm);
            }
            EventKind::Split { sector, rest } => self.pending.split(sector, rest),
            EventKind::RequestIssue { range, flags, comm } if !self.options.bio_based => {
                self.issue(time, range, flags, (event.tid, comm));
            }
            EventKind::RequestRequeue { range, flags } if !self.options.bio_based => {
                self.in_flight.requeue(range, flags.op);
            }
            EventKind::RequestComplete {
                range,
                flags,
                error,
            } if !self.options.bio_based => self.complete(time, range, flags, error),
            EventKind::BioComplete {
                range,
                flags,
                error,
            } if self.options.bio_based => self.complete_bio(time, range, flags, error),
            EventKind::MmcStart {
                opcode, sector, id, ..
            } => {
                self.commands
                    .start(time, opcode, sector, id, &mut self.in_flight);
            }
            EventKind::MmcDone {
                opcode,
                id,
                retries,
                error,
                ..
            } => {
                let outcome = commands::CommandOutcome { retries, error };
                self.commands
                    .done(time, opcode, id, outcome, &mut self.in_flight);
            }
            EventKind::F2fsBio {
                sector,
                size,
                page_type,
            } => {
                if self.page_types.len() >= Self::MAX_PAGE_TYPES {
                    self.page_types.clear();
                }
                self.page_types.insert(event.tid, (sector, size, page_type));
            }
            _ => {}
        }
    }

    /// Returns the requests that ended since the last call, in order of completion. Those whose completion was not seen
    /// come when that is known.
    pub fn take(&mut self) -> Vec<TracedRequest> {
        std::mem::take(&mut self.done)
    }

    /// Returns the completions without an issue since the last call, as requests that were queued and issued when they
    /// completed. If no events were lost, these requests were in flight when recording began.
    pub fn take_unissued(&mut self) -> Vec<TracedRequest> {
        std::mem::take(&mut self.unissued)
    }

    /// Decides about completions that could still belong to several requests, at the end of a phase. Requests in flight
    /// for so long that their completion must have been lost end as unseen.
    pub fn settle(&mut self, now: u64) {
        self.in_flight.settle(now, &mut self.done);
    }

    /// Returns the requests in flight.
    pub fn in_flight(&self) -> impl Iterator<Item = &TracedRequest> {
        self.in_flight.requests()
    }

    /// Returns the bios that wait for a request, as (time of queuing, sectors).
    pub fn pending(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.pending
            .bios()
            .map(|bio| (bio.queued, bio.range.sectors))
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> MatchCounts {
        MatchCounts {
            unseen_completions: self.in_flight.unseen(),
            ambiguous: self.in_flight.ambiguous(),
            stray_commands: self.commands.stray(),
            status_commands: self.commands.status(),
            ..self.counts
        }
    }

    fn queue_bio(
        &mut self,
        queued: u64,
        tid: u32,
        range: SectorRange,
        flags: RequestFlags,
        comm: ThreadName,
    ) {
        let piece = BioPiece {
            range,
            flags,
            tid,
            comm,
            queued,
            page_type: self.page_type(tid, range),
            part: false,
        };
        let flush = flags.preflush || flags.op == BlockOp::Flush;
        match (self.options.bio_based, range.sectors) {
            (true, 0) if flush => {
                let op = BlockOp::Flush;
                self.start(queued, FLUSH, RequestFlags { op, ..flags }, vec![piece], 0);
            }
            (true, 0) => {}
            (true, _) => self.start(queued, range, flags, vec![piece], 0),
            (false, sectors) => {
                if flush {
                    self.expect_flush(piece);
                }
                if sectors > 0 {
                    self.pending.push(piece);
                }
            }
        }
    }

    /// Returns the type that the file system gave to the bio which the thread queues now. Its address is relative to
    /// the partition.
    fn page_type(&mut self, tid: u32, range: SectorRange) -> Option<u32> {
        let &(sector, size, page_type) = self.page_types.get(&tid)?;
        if range.sectors == 0 {
            return None;
        }
        self.page_types.remove(&tid);
        (u64::from(size) == u64::from(range.sectors) * 512 && sector <= range.start)
            .then_some(page_type)
    }

    /// Remembers that a bio waits for the next flush command. The copy of a bio with data is marked as a part.
    fn expect_flush(&mut self, mut piece: BioPiece) {
        if self.flush_bios.len() >= Self::MAX_FLUSH_BIOS {
            self.flush_bios.pop_front();
        }
        piece.part = piece.range.sectors > 0;
        piece.range = FLUSH;
        self.flush_bios.push_back(piece);
    }

    fn issue(
        &mut self,
        time: u64,
        range: SectorRange,
        flags: RequestFlags,
        (tid, comm): (u32, ThreadName),
    ) {
        if range.sectors == 0 {
            if flags.op == BlockOp::Flush && !self.in_flight.reissue(FLUSH, flags, time) {
                let bios: Vec<_> = self.flush_bios.drain(..).collect();
                self.start(time, FLUSH, flags, bios, 0);
            }
            return;
        }
        if self.in_flight.reissue(range, flags, time) {
            return;
        }
        let mut requeues = 0;
        for back in self.in_flight.take_requeued(range, flags.op) {
            requeues += back.request.requeues + 1;
            self.pending.put_back(back);
        }
        let mut taken = self.pending.take(flags.op, range);
        let covered: u64 = taken.iter().map(|bio| u64::from(bio.range.sectors)).sum();
        if covered < u64::from(range.sectors) && self.options.bios_recorded {
            self.counts.unmatched += 1;
        }
        if taken.is_empty() && !self.options.bios_recorded {
            taken.push(BioPiece {
                range,
                flags,
                tid,
                comm,
                queued: time,
                page_type: None,
                part: false,
            });
        }
        self.start(time, range, flags, taken, requeues);
    }

    fn start(
        &mut self,
        issued: u64,
        range: SectorRange,
        flags: RequestFlags,
        bios: Vec<BioPiece>,
        requeues: u16,
    ) {
        let queued = bios.iter().map(|bio| bio.queued).min().unwrap_or(issued);
        let request = TracedRequest {
            range,
            flags,
            bios,
            queued,
            issued,
            completed: None,
            requeues,
            error: 0,
            command: None,
        };
        self.in_flight
            .issue(InFlightRequest::new(request), &mut self.done);
    }

    fn complete(&mut self, time: u64, range: SectorRange, flags: RequestFlags, error: i32) {
        if range.sectors == 0 && range.start != u64::MAX && flags.op != BlockOp::Flush {
            self.counts.flush_sequences += 1;
            return;
        }
        let (range, op) = match range.sectors {
            0 => (FLUSH, BlockOp::Flush),
            _ => (range, flags.op),
        };
        let first = self.done.len();
        if !self
            .in_flight
            .complete(time, range, op, error, &mut self.done)
        {
            self.complete_unissued(time, range, flags, error);
        }
        self.expect_flush_after_fua(first);
    }

    fn complete_unissued(
        &mut self,
        time: u64,
        range: SectorRange,
        flags: RequestFlags,
        error: i32,
    ) {
        self.counts.unseen_issues += 1;
        if self.unissued.len() < Self::MAX_UNISSUED {
            self.unissued.push(TracedRequest {
                range,
                flags,
                bios: Vec::new(),
                queued: time,
                issued: time,
                completed: Some(time),
                requeues: 0,
                error,
                command: None,
            });
        }
    }

    /// Where the device has no FUA, the block layer sends a flush after the data.
    fn expect_flush_after_fua(&mut self, first_done: usize) {
        let mut after = Vec::new();
        for request in &self.done[first_done..] {
            if !request.flags.fua && request.range != FLUSH {
                after.extend(request.bios.iter().filter(|bio| bio.flags.fua).copied());
            }
        }
        for bio in after {
            self.expect_flush(bio);
        }
    }

    fn complete_bio(&mut self, time: u64, range: SectorRange, flags: RequestFlags, error: i32) {
        let flush = range.sectors == 0 && (flags.preflush || flags.op == BlockOp::Flush);
        let (range, op) = match flush {
            true => (FLUSH, BlockOp::Flush),
            false => (range, flags.op),
        };
        let found = self
            .in_flight
            .complete(time, range, op, error, &mut self.done)
            || self
                .in_flight
                .complete_inside(time, range, op, error, &mut self.done);
        if !found {
            self.complete_unissued(time, range, flags, error);
        }
    }
}

/// Address of a flush command.
pub(crate) const FLUSH: SectorRange = SectorRange {
    start: u64::MAX,
    sectors: 0,
};
