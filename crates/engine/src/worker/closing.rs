//! End of a worker: final flushes, closing files, and the record.

use super::Worker;
use super::account::Account;
use super::drive::Drive;
use crate::backend::{Files, SyncKind};
use crate::clock::Clock;
use crate::worker_stats::WorkerStats;
use hakaru_model::job::Op;
use hakaru_model::measured::EngineUse;
use hakaru_model::record::{CpuUsage, FailureKind, StopReason, WorkerRecord};
use hakaru_model::units::Nanos;
use hakaru_sys::Errno;
use hakaru_sys::thread::Usage;
use std::sync::atomic::Ordering::Relaxed;

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Performs the final flushes and builds the record.
    pub(super) fn close(&mut self, last: u64, stop: StopReason) -> WorkerRecord {
        if self.time.in_ramp {
            // Stopped before the measurement started: I/Os of the ramp time are not a result.
            self.account.end_ramp();
            self.context.shared.disks.open();
            self.time.measuring_since = last;
        }
        // A write is complete only after its flush, so the last flush is part of the measured time. Building the
        // record is not.
        let synced = if self.issue.flushes.flushed {
            last
        } else {
            self.final_syncs(last, stop)
        };
        self.save_state(synced);
        self.end_record(synced);
        let used = hakaru_sys::thread::usage();
        self.context.shared.disks.close();
        self.end_operations(synced);
        let (end, stop) = self.finish_files(synced, stop);
        let measured = Nanos(self.clock.nanos(end - self.time.measuring_since));
        // An incomplete interval is kept, but is not a sample, even if it is the only one, as in
        // fio.
        self.account.stats.close_interval(measured, false);
        self.look_at_log(end, true);
        self.publish();
        let whole = Nanos(self.clock.nanos(end - self.time.begun));
        // Moved out rather than copied: many workers may end at the same moment.
        let stats = self.account.stats.take();
        self.make_record(stats, measured, whole, stop, used)
    }

    /// Closes the files, after the remaining writes if `finish_writing` is set. Returns the end of the measured time,
    /// and the stop reason.
    fn finish_files(&mut self, last: u64, stop: StopReason) -> (u64, StopReason) {
        let goes_on = stop == StopReason::Ended && self.plan.termination.exit.finish_writing;
        let written = if goes_on {
            self.write_the_rest()
        } else {
            Ok(())
        };
        let before = if self.plan.files.time_close {
            self.clock.now()
        } else {
            0
        };
        let answer = written.and(self.issue.backend.close());
        let end = if self.plan.files.time_close {
            last + (self.clock.now() - before)
        } else {
            last
        };
        match answer {
            Ok(()) => (end, stop),
            Err(errno) => {
                self.note_error("close", FailureKind::File, 0, errno, end);
                (end, StopReason::Error)
            }
        }
    }

    /// Performs the remaining I/Os of the stream, unmeasured and one at a time.
    fn write_the_rest(&mut self) -> Result<(), Errno> {
        while !self.context.shared.stop.load(Relaxed) {
            let Some(request) = self.source.stream.next() else {
                break;
            };
            self.issue.fill_write(&mut self.account.check, 0, &request);
            D::transfer_alone(&mut self.issue.backend, &request)?;
        }
        Ok(())
    }

    /// Returns the partial results at `now`.
    pub(super) fn so_far(&self, now: u64) -> WorkerRecord {
        let nanos = |since: u64| Nanos(self.clock.nanos(now.saturating_sub(since)));
        let measured = if self.time.in_ramp {
            Nanos(0)
        } else {
            nanos(self.time.measuring_since)
        };
        self.make_record(
            self.account.stats.clone(),
            measured,
            nanos(self.time.begun),
            StopReason::Done,
            hakaru_sys::thread::usage(),
        )
    }

    pub(super) fn final_syncs(&mut self, last: u64, stop: StopReason) -> u64 {
        let d = &self.plan.durability;
        let wrote = self.plan.stream.access.does(Op::Write) && stop != StopReason::Error;
        if !wrote || !d.end_fsync && !d.fsync_on_close {
            return last;
        }
        let regions = 0..self.plan.stream.regions.len() as u32;
        // This flush does not count as one between I/Os, but its time is part of the measured time.
        regions.fold(last, |_, region| self.flush(region, SyncKind::Full))
    }

    fn make_record(
        &self,
        stats: WorkerStats,
        runtime: Nanos,
        job_runtime: Nanos,
        stop: StopReason,
        used: Usage,
    ) -> WorkerRecord {
        let Account {
            depth,
            errors,
            refused,
            check,
            limits,
            at_start: start,
            ramp_bytes,
            ..
        } = &self.account;
        let plan = self.plan;
        let (mut depth, errors) = (depth.clone(), errors.clone());
        let other_syncs = Some(stats.other_syncs);
        let (mut ops, sync, intervals) = stats.into_records(*refused);
        if let Some(check) = check {
            Op::ALL
                .into_iter()
                .for_each(|op| ops[op].runtime = check.spent[op].map(Nanos));
        }
        if let Some(zones) = &self.source.zones {
            Op::ALL
                .into_iter()
                .for_each(|op| ops[op].zone_resets = zones.emptied(op));
        }
        if !D::QUEUED {
            // Queue depth and batch size are always 1 here, so they need not be counted during the
            // run.
            let ios = ops.iter().map(|(_, op)| op.issued).sum();
            depth.level[0] = ios;
            (depth.submit[1], depth.complete[1]) = (ios, ios);
            (depth.submit_calls, depth.complete_calls) = (ios, ios);
        }
        depth.level[0] += sync.stat.count;
        let since = |now: u64, start: u64| now.saturating_sub(start);
        let cpu = CpuUsage {
            user: Nanos(since(used.user_ns, start.thread.user_ns)),
            system: Nanos(since(used.system_ns, start.thread.system_ns)),
            ctx: since(used.switches, start.thread.switches),
            majf: since(used.major_faults, start.thread.major_faults),
            minf: since(used.minor_faults, start.thread.minor_faults),
            waited: self
                .account
                .at_start
                .waited
                .zip(crate::host::waited())
                .map(|(from, to)| Nanos(to.saturating_sub(from))),
        };
        WorkerRecord {
            name: plan.name.clone(),
            job: plan.job,
            clone: plan.clone,
            // Results in virtual time must not depend on the host, so that two runs are equal.
            pid: if C::VIRTUAL {
                self.context.index as u32 + 1
            } else {
                hakaru_sys::thread::id()
            },
            runtime,
            job_runtime,
            ops,
            sync,
            other_syncs,
            depth,
            cpu: if C::VIRTUAL { CpuUsage::default() } else { cpu },
            ramp_bytes: *ramp_bytes,
            engine: Some(EngineUse {
                submits_and_waits: D::submits_and_waits(&self.issue.backend)
                    && !plan.queue.separate_submit,
                thread: true,
                own_file_table: self.own_files,
                ..self.issue.backend.engine_use()
            }),
            intervals,
            errors,
            stop,
            steady: None,
            latency_depth: limits.as_ref().and_then(|limits| limits.depth()),
        }
    }
}
