//! The loop of backends with a queue.

use super::Worker;
use super::batch::{BatchSink, EqualCompletions};
use super::drive::Queued;
use super::in_flight::{InFlight, InflightIo};
use super::next_io::NextIo;
use super::steps::{count_batch, count_depth};
use crate::backend::QueueBackend;
use crate::clock::Clock;
use crate::worker_stats::CompletedIo;
use hakaru_model::job::{IoEngine, Op};
use hakaru_model::record::{FailureKind, StopReason};
use hakaru_model::stream::{IoRequest, StreamPlan};
use hakaru_sys::Errno;
use std::ops::ControlFlow::Break;
use std::time::Duration;

/// Time a paced queue waits for completions before it checks whether the next request is due.
const PATIENCE: Duration = Duration::from_micros(200);

impl<Q: QueueBackend, C: Clock> Worker<'_, Queued<Q>, C> {
    /// Creates an empty queue, with the depth of the plan as far as the backend allows.
    pub(super) fn queue(&self) -> InFlight {
        InFlight::new((self.plan.queue.iodepth as usize).min(self.issue.backend.most_in_flight()))
    }

    /// Runs the loop that keeps the queue filled to the depth of the plan.
    pub(super) fn drive_queue(&mut self) -> StopReason {
        let mut q = self.queue();
        let mut now = self.clock.now();
        loop {
            self.fill_queue(&mut q, now);
            if q.count() == 0 && (q.stop.is_some() || !q.more) {
                return q.stop.unwrap_or(StopReason::Done);
            }
            let wait_for = self.how_many_to_wait_for(&q);
            self.hand_over(&mut q, wait_for);
            now = match self.collect(&mut q, wait_for) {
                Ok(now) => now,
                Err(stop) => return stop,
            };
            if now >= self.time.next_event {
                if let Some(reason) = self.event_of_queue(&mut q, now) {
                    q.stop.get_or_insert(reason);
                }
                // The time of due events must not count for the next I/Os.
                now = self.clock.now();
            }
        }
    }

    /// Prepares the next batch, if there is room for one.
    #[inline(always)]
    pub(super) fn fill_queue(&mut self, q: &mut InFlight, now: u64) {
        let (low, batch) = (
            self.plan.queue.low_mark as usize,
            self.plan.queue.batch_submit as usize,
        );
        q.filling |= q.count() <= low;
        q.stalled = false;
        if !q.filling || !q.more || q.stop.is_some() {
            return;
        }
        let room = if batch == 0 {
            q.free.len()
        } else {
            batch.min(q.free.len())
        };
        let StreamPlan {
            pass_bytes, access, ..
        } = &self.plan.stream;
        let simple = !self.source.gated && pass_bytes.is_none() && !access.does(Op::Write);
        let whole = match self.source.stream.as_plain() {
            Some(plain) if simple => {
                (0..room).all(|_| q.prepare(&mut self.issue.backend, plain.next(), now))
            }
            _ => self.fill_gated(q, now, room),
        };
        // The queue is full: from now on it drains to its low mark, if it has one.
        if whole {
            q.filling &= low == 0 || !q.free.is_empty();
        }
    }

    /// Prepares up to `room` I/Os that may need to wait, to be scheduled or to be filled. Returns
    /// whether all could be prepared.
    fn fill_gated(&mut self, q: &mut InFlight, now: u64, room: usize) -> bool {
        let pass = self.plan.stream.pass_bytes.map(|pass| pass.max(1));
        let pass = pass.filter(|_| self.source.replay.is_none());
        for _ in 0..room {
            // The next pass starts with an empty queue.
            if pass.is_some_and(|pass| self.source.stream.bytes_left().is_multiple_of(pass))
                && q.count() > 0
            {
                q.filling = false;
                return false;
            }
            let (request, created) = if self.source.gated {
                match self.careful_turn(q) {
                    NextIo::Go(request, at) => (Some(request), at),
                    NextIo::Later => {
                        q.stalled = true;
                        return false;
                    }
                    NextIo::End(reason) => {
                        q.more = false;
                        q.stop = q.stop.or(reason);
                        return false;
                    }
                }
            } else {
                (self.source.stream.next(), now)
            };
            if let (Some(request), Some(&slot)) = (request, q.free.last()) {
                self.ready_slot(slot, &request);
            }
            if !q.prepare(&mut self.issue.backend, request, created) {
                return false;
            }
            if self.trims_alone() && request.is_some_and(|request| request.op == Op::Trim) {
                q.stalled = true;
                return false;
            }
        }
        true
    }

    /// Whether each write follows a trim that is complete when it was prepared: it is fetched at once, and writes in
    /// flight stay there until the queue is full.
    fn trims_alone(&self) -> bool {
        let synchronous = self.plan.ioengine != IoEngine::Null && self.plan.sim.is_none();
        self.plan.stream.access.trim_before_write && synchronous
    }

    /// Fills the buffer of a write, and records the expected content of a read.
    #[inline(always)]
    pub(super) fn ready_slot(&mut self, slot: u32, request: &IoRequest) {
        if request.op == Op::Write {
            self.issue
                .fill_write(&mut self.account.check, slot, request);
        } else if let Some(check) = &mut self.account.check
            && request.op == Op::Read
        {
            check.issued(slot, request, self.source.stream.gave_listed());
        }
    }

    /// Number of completions to wait for. While the queue has room and requests remain, it does not
    /// wait: the next batch is submitted first.
    fn how_many_to_wait_for(&self, q: &InFlight) -> usize {
        let goes_on = q.more && q.stop.is_none();
        if goes_on && (q.stalled || q.filling && !q.free.is_empty()) {
            return 0;
        }
        (self.plan.queue.batch_complete_min.max(1) as usize).min(q.count())
    }

    /// Fetches and counts completions. Returns the time of completion.
    // Shared by all loops, so that the handling of each I/O is inlined into the backend's completion loop.
    #[inline(never)]
    pub(super) fn collect(&mut self, q: &mut InFlight, wait_for: usize) -> Result<u64, StopReason> {
        let paced = q.stalled;
        if wait_for == 0 && !paced {
            return Ok(self.clock.now());
        }
        let max = match self.plan.queue.batch_complete_max as usize {
            0 => q.flights.len(),
            max => max.max(wait_for),
        };
        let max = if paced && self.trims_alone() { 1 } else { max };
        let (min, patience) = if paced {
            (q.count().min(1), Some(self.patience()))
        } else {
            (wait_for, None)
        };
        let d = &self.plan.durability;
        let syncs = d.fsync_every > 0 || d.fdatasync_every > 0;
        let (follows, checks) = (self.follows(), self.account.check.is_some() || syncs);
        let (backend, stats) = (&mut self.issue.backend, &mut self.account.stats);
        let InFlight {
            flights,
            free,
            refused,
            followed,
            ..
        } = q;
        let (now, count, alike) = (0, 0, EqualCompletions::NONE);
        let mut landed = BatchSink {
            stats,
            clock: &self.clock,
            flights,
            free,
            refused,
            followed,
            follows,
            checks,
            now,
            count,
            alike,
        };
        let answer = backend.reap(min, max, patience, &mut landed);
        let (now, count) = (landed.now, landed.count);
        landed.alike.tell(landed.stats, landed.clock, now);
        if let Err(errno) = answer
            && count == 0
            && !matches!(errno, Errno::INTR | Errno::AGAIN | Errno::BUSY)
        {
            let now = self.clock.now();
            self.note_error("wait for I/Os", FailureKind::Wait, 0, errno, now);
            return Err(StopReason::Error);
        }
        if count == 0 {
            return Ok(self.clock.now());
        }
        count_batch(&mut self.account.depth.complete, count);
        self.account.depth.complete_calls += 1;
        self.issue.last_batch = count;
        self.settle(q, now);
        Ok(now)
    }

    /// Maximum wait of a paced queue. A request that becomes due earlier must be issued in time, because its latency
    /// counts from then.
    fn patience(&self) -> Duration {
        let Some(due) = self.source.next_due(&self.clock).filter(|_| !C::VIRTUAL) else {
            return PATIENCE;
        };
        let left = self.clock.nanos(due.saturating_sub(self.clock.now()));
        // A request that is due but blocked waits for the I/Os in flight.
        if left == 0 {
            PATIENCE
        } else {
            PATIENCE.min(Duration::from_nanos(left))
        }
    }

    /// Handles completed I/Os that need more than counting: errors, and flushes that are due.
    fn settle(&mut self, q: &mut InFlight, now: u64) {
        while let Some((slot, errno)) = q.refused.pop() {
            let request = q.flights[slot as usize].request;
            self.source.release_zone(&request, false);
            // A failed I/O must not be inspected as a completed one.
            q.flights[slot as usize].request.len = 0;
            if errno.is_none() && self.accepts_empty(request.op) {
                let stop = self.count_empty(&q.flights[slot as usize], now);
                q.stop = q.stop.or(stop);
                continue;
            }
            let errno = errno.unwrap_or(Errno::IO);
            if let Break(stop) = self.refuse(&request, errno, now) {
                q.stop.get_or_insert(stop);
            }
            if self.account.check.is_some()
                && self.examine(slot, &request, Err(errno), now).is_err()
            {
                q.stop = Some(StopReason::Error);
            }
        }
        while let Some((slot, moved)) = q.followed.pop() {
            let flight = q.flights[slot as usize];
            let last = q.followed.is_empty() && q.count() == 0;
            match self.follow_up(slot, &flight, Ok(moved), now, last) {
                Ok(_) => {
                    q.more |= self.account.check.is_some() && self.source.stream.bytes_left() > 0
                }
                Err(stop) => q.stop = Some(stop),
            }
        }
    }

    /// Whether a read that returns no data counts as completed.
    fn accepts_empty(&self, op: Op) -> bool {
        op == Op::Read && self.plan.errors.accept_empty_reads && self.account.check.is_none()
    }

    /// Counts an I/O that completed without data.
    #[cold]
    fn count_empty(&mut self, flight: &InflightIo, done: u64) -> Option<StopReason> {
        let since = |moment: u64| self.clock.nanos(done.saturating_sub(moment));
        let (clat, lat) = (since(flight.issued), since(flight.created));
        self.account.stats.count(CompletedIo {
            op: flight.request.op,
            wanted: 0,
            moved: 0,
            slat: Some(lat.saturating_sub(clat)),
            clat,
            lat,
        });
        let inspects = self.account.inspects_each;
        inspects.then(|| self.look_at(flight, done)).flatten()
    }

    /// Submits the prepared I/Os to the backend, and records their issue time.
    #[inline(always)]
    pub(super) fn hand_over(&mut self, q: &mut InFlight, wait_for: usize) {
        let combined = self.issue.backend.submits_and_waits()
            && wait_for > 0
            && !self.plan.queue.separate_submit;
        if q.fresh.is_empty() && !combined && !q.unsent {
            return;
        }
        // A call that also waits returns when I/Os complete: the issue time is the start of the
        // call.
        let before = if combined { self.clock.now() } else { 0 };
        self.submit_all(q, if combined { wait_for } else { 0 });
        let issued = if combined { before } else { self.clock.now() };
        // I/Os submitted together have the same depth: that of the queue with all of them.
        count_depth(
            &mut self.account.depth.level,
            q.count(),
            q.fresh.len() as u64,
        );
        if self.account.recorder.is_some() {
            q.fresh
                .iter()
                .for_each(|&slot| self.note_issue(&q.flights[slot as usize].request, issued));
        }
        for &slot in &q.fresh {
            q.flights[slot as usize].issued = issued;
        }
        q.fresh.clear();
    }

    /// Submits all prepared I/Os. Invalid ones complete with their error; those rejected for lack
    /// of resources join the next batch.
    fn submit_all(&mut self, q: &mut InFlight, wait_for: usize) {
        q.unsent = false;
        loop {
            match self.issue.backend.submit(wait_for) {
                Ok(0) => return,
                Ok(taken) => {
                    count_batch(&mut self.account.depth.submit, taken);
                    self.account.depth.submit_calls += 1;
                    if self.issue.backend.submits_and_waits() {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                // The kernel has no resources: I/Os in flight must complete first.
                Err(Errno::AGAIN | Errno::BUSY) if q.count() > q.fresh.len() => {
                    q.unsent = true;
                    return;
                }
                Err(Errno::AGAIN | Errno::BUSY) => std::thread::sleep(Duration::from_micros(100)),
                Err(errno) => match self.issue.backend.withdraw() {
                    Some(slot) => {
                        q.free.push(slot);
                        q.refused.push((slot, Some(errno)));
                        let now = self.clock.now();
                        self.settle(q, now);
                    }
                    None => return,
                },
            }
        }
    }
}
