//! The work of a verifying job: writes, then reads back, once per loop.
//!
//! Uses the same worker loops with different requests.

use super::Worker;
use super::drive::Drive;
use super::in_flight::InflightIo;
use crate::backend::{Files, SyncKind};
use crate::clock::Clock;
use crate::verify::VerifySchedule;
use hakaru_model::job::Op;
use hakaru_model::mismatch::Mismatch;
use hakaru_model::record::{FailureKind, IoError, StopReason};
use hakaru_model::stream::{IoRequest, RequestStream};
use hakaru_sys::Errno;

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Whether follow-up work is due after completed I/Os: a flush or verification.
    pub(super) fn follows(&self) -> bool {
        let durability = &self.plan.durability;
        let syncs = durability.fsync_every > 0
            || durability.fdatasync_every > 0
            || self.issue.flushes.ranges.is_some();
        syncs || self.account.follows() || self.source.zones.is_some()
    }

    /// Runs all write and read-back passes.
    pub(super) fn work(&mut self) -> StopReason {
        if let Some(replay) = &mut self.source.replay {
            replay.begin(self.clock.now());
            return self.drive();
        }
        let Some(check) = &self.account.check else {
            return self.drive();
        };
        let stop = self.write_and_check(check.schedule());
        // The verify threads may have found a mismatch since, even if the job ended early.
        match (stop, self.end_of_checks()) {
            (StopReason::Done | StopReason::Time, StopReason::Error) => StopReason::Error,
            (stop, _) => stop,
        }
    }

    fn write_and_check(&mut self, schedule: VerifySchedule) -> StopReason {
        let verify = self.plan.verify.as_ref();
        let flushes_last = verify.is_some_and(|verify| verify.flushes_last_write);
        let mut moved = self.bytes_moved();
        for round in 0.. {
            if let Some(check) = &self.account.check {
                self.source.stream = check.requests(self.plan, round);
            }
            let begun = self.clock.now();
            self.issue.flushes.pass_follows = flushes_last || round + 1 < schedule.rounds;
            if round > 0 && !schedule.rehearses {
                self.sync_before_pass(0, begun);
            }
            let stop = if schedule.rehearses {
                self.rehearse()
            } else {
                self.drive()
            };
            if !schedule.rehearses {
                // A write is complete only after its flush: the flush counts as write time.
                self.final_syncs(begun, stop);
                self.issue.flushes.flushed = stop != StopReason::Error;
            }
            self.charge(begun, |worker, op| {
                !schedule.rehearses && worker.works_on(op)
            });
            if stop != StopReason::Done || self.account.gave_up {
                return stop;
            }
            if schedule.reads_back {
                let stop = self.read_back();
                if stop != StopReason::Done || self.account.gave_up {
                    return stop;
                }
            }
            let begun_after = std::mem::replace(&mut moved, self.bytes_moved());
            if round + 1 >= schedule.rounds && !self.repeats_after(begun_after) {
                return StopReason::Done;
            }
        }
        StopReason::Done
    }

    /// Bytes written and read so far.
    fn bytes_moved(&self) -> u64 {
        let totals = self.account.stats.totals();
        totals.read.1 + totals.write.1
    }

    /// Whether another pass follows one that began after `before` bytes.
    fn repeats_after(&self, before: u64) -> bool {
        let verify = self.plan.verify.as_ref();
        let until = verify.and_then(|verify| verify.repeats_until);
        let moved = self.bytes_moved();
        until.is_some_and(|until| moved > before && moved <= until)
    }

    fn drive(&mut self) -> StopReason {
        D::drive(self)
    }

    /// Whether an operation belongs to the workload, rather than to reading back afterwards.
    fn works_on(&self, op: Op) -> bool {
        let backlog = self
            .plan
            .verify
            .as_ref()
            .is_some_and(|verify| verify.rules.backlog > 0);
        self.plan.stream.access.does(op) || op == Op::Read && backlog
    }

    /// Adds the time since `begun` to the operations selected by `whom`.
    fn charge(&mut self, begun: u64, whom: impl Fn(&Self, Op) -> bool) {
        let now = self.clock.now();
        let spent = self
            .clock
            .nanos(now.saturating_sub(begun.max(self.time.measuring_since)));
        for op in Op::ALL {
            let charged = whom(self, op);
            if let Some(check) = &mut self.account.check {
                let so_far = check.spent[op].unwrap_or(0);
                check.spent[op] = Some(so_far + if charged { spent } else { 0 });
            }
        }
    }

    /// Counts the requests of an earlier run without I/O.
    fn rehearse(&mut self) -> StopReason {
        let Some(check) = &mut self.account.check else {
            return StopReason::Done;
        };
        for request in self
            .source
            .stream
            .by_ref()
            .filter(|request| request.op != Op::Read)
        {
            check.rehearse(&request);
            self.account.stats.count_rehearsed(request.op, request.len);
            if self
                .context
                .shared
                .stop
                .load(std::sync::atomic::Ordering::Relaxed)
            {
                return StopReason::Stopped;
            }
        }
        StopReason::Done
    }

    /// Reads back the written data, from the device if the page cache can be dropped.
    fn read_back(&mut self) -> StopReason {
        for region in 0..self.plan.stream.regions.len() as u32 {
            if let Err(errno) = self.issue.backend.sync(region, SyncKind::Full) {
                let now = self.clock.now();
                self.note_error("fsync", FailureKind::Sync, region, errno, now);
                return StopReason::Error;
            }
        }
        let Some(check) = &mut self.account.check else {
            return StopReason::Done;
        };
        self.source.stream = RequestStream::listed(check.begin_reading());
        self.issue.flushes.wrote = false;
        // Rate limits and delayed I/Os apply only to the workload.
        let pacer = self.source.pacer.take();
        self.source.held = None;
        self.account.stats.rest(Op::Write, true);
        let begun = self.clock.now();
        let stop = self.drive();
        self.charge(begun, |_, op| op == Op::Read);
        self.account.stats.rest(Op::Write, false);
        let (now, totals) = (self.clock.now(), self.account.stats.totals());
        if let Some(limits) = &mut self.account.limits {
            limits.rest_is_over(now, totals);
        }
        self.source.pacer = pacer;
        if stop != StopReason::Done {
            return stop;
        }
        self.end_of_checks()
    }

    /// Waits for the verify threads.
    fn end_of_checks(&mut self) -> StopReason {
        let Some(check) = &mut self.account.check else {
            return StopReason::Done;
        };
        let bad = check.end_reading();
        let now = self.clock.now();
        if self.note_mismatches(bad, now) {
            StopReason::Error
        } else {
            StopReason::Done
        }
    }

    /// Runs the follow-up work after a completed I/O. Returns the time afterwards.
    pub(super) fn follow_up(
        &mut self,
        slot: u32,
        flight: &InflightIo,
        result: Result<u32, Errno>,
        done: u64,
        last: bool,
    ) -> Result<u64, StopReason> {
        let request = &flight.request;
        self.source.release_zone(request, result == Ok(request.len));
        if !D::QUEUED && self.account.recorder.is_some() {
            self.note_issue(request, flight.issued);
        }
        let now = self.sync_if_due(request, done, last);
        let now = self.sync_range_if_due(request, now, last);
        if self.account.check.is_none() {
            Ok(now)
        } else {
            self.examine(slot, request, result, now)
        }
    }

    /// Writes a request to the log, if there is one.
    #[cold]
    pub(super) fn note_issue(&mut self, request: &IoRequest, issued: u64) {
        let at_us = self.clock.nanos(issued.saturating_sub(self.time.begun)) / 1000;
        if let Some(record) = &mut self.account.recorder {
            record.io(at_us, request);
        }
    }

    /// Writes a flush to the log, if there is one.
    pub(super) fn note_sync(&mut self, region: u32, kind: SyncKind, now: u64) {
        if matches!(kind, SyncKind::Range(..)) {
            // The log format has no entry for this flush.
            return;
        }
        let at_us = self.clock.nanos(now.saturating_sub(self.time.begun)) / 1000;
        if let Some(record) = &mut self.account.recorder {
            record.sync(at_us, region, kind == SyncKind::Data);
        }
    }

    /// Ends the log.
    pub(super) fn end_record(&mut self, now: u64) {
        let at_us = self.clock.nanos(now.saturating_sub(self.time.begun)) / 1000;
        let Some(Err((path, errno))) = self.account.recorder.take().map(|record| record.end(at_us))
        else {
            return;
        };
        let error = self.error("write", FailureKind::Log, 0, 0, 0, errno, now);
        self.account.errors.push(IoError {
            file: path.display().to_string(),
            ..error
        });
    }

    /// Passes a completed I/O to the checker. Breaks if the job must end.
    #[cold]
    pub(super) fn examine(
        &mut self,
        slot: u32,
        request: &IoRequest,
        result: Result<u32, Errno>,
        now: u64,
    ) -> Result<u64, StopReason> {
        let Some(check) = &mut self.account.check else {
            return Ok(now);
        };
        let backend = &mut self.issue.backend;
        let whole = result == Ok(request.len);
        let len = if request.op == Op::Read && whole {
            request.len as usize
        } else {
            0
        };
        let followed = check.landed(slot, request, backend.buffer(slot, len), whole);
        if !followed.reads.is_empty() {
            self.source.stream.put_in_front(followed.reads);
        }
        if self.note_mismatches(followed.bad, now) {
            return Err(StopReason::Error);
        }
        Ok(self.clock.now())
    }

    /// Records mismatches. Returns whether the job must end.
    fn note_mismatches(&mut self, bad: Vec<(IoRequest, Vec<Mismatch>)>, now: u64) -> bool {
        let found = !bad.is_empty();
        let goes_on = || {
            self.plan
                .errors
                .ignored
                .verify
                .contains(&Errno::ILSEQ.raw_os_error())
        };
        let ends = found && !self.plan.errors.continue_on_mismatch && !goes_on();
        if found
            && !ends
            && self
                .plan
                .verify
                .as_ref()
                .is_some_and(|verify| verify.rules.fatal)
        {
            // The job must not fail, so it issues no more requests.
            self.source.stream = RequestStream::listed(Vec::new());
            self.account.gave_up = true;
        }
        for (request, mismatches) in bad {
            let IoRequest {
                region,
                offset,
                len,
                ..
            } = request;
            let error = self.error(
                "verify",
                FailureKind::Verify,
                region,
                offset,
                len,
                Errno::ILSEQ,
                now,
            );
            let error = IoError {
                op: Some(Op::Read),
                mismatches,
                ..error
            };
            if ends {
                self.account.errors.push_last(error)
            } else {
                self.account.errors.push(error)
            }
        }
        ends
    }

    /// Whether the job continues after this error.
    pub(super) fn ignores(&self, op: Op, errno: Errno) -> bool {
        let ignored = &self.plan.errors.ignored;
        let list = if op == Op::Read {
            &ignored.read
        } else {
            &ignored.write
        };
        list.contains(&errno.raw_os_error())
    }

    /// Saves how far a verifying job has written.
    pub(super) fn save_state(&mut self, now: u64) {
        let Some(Err((path, error))) = self
            .account
            .check
            .as_ref()
            .map(|check| check.save_state(self.plan))
        else {
            return;
        };
        let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
        let file = path.display().to_string();
        let error = self.error("save", FailureKind::Log, 0, 0, 0, errno, now);
        self.account.errors.push(IoError { file, ..error });
    }
}
