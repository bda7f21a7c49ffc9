//! Flushes between I/Os, and recording of errors.

use super::Worker;
use super::drive::Drive;
use crate::backend::{Files, SyncKind};
use crate::clock::Clock;
use hakaru_model::job::Op;
use hakaru_model::record::{FailureKind, IoError};
use hakaru_model::stream::IoRequest;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::Errno;

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Replaces the kernel's error for a removed disk ("no space left" for writes, otherwise EIO)
    /// by ENODEV.
    pub(super) fn unless_pulled(&self, region: u32, errno: Errno) -> Errno {
        let may_be = matches!(errno, Errno::NOSPC | Errno::IO);
        let file = self.context.files.get(region as usize).filter(|_| may_be);
        let is_pulled =
            file.is_some_and(|file| hakaru_sys::block::is_pulled(std::path::Path::new(file)));
        if is_pulled { Errno::NODEV } else { errno }
    }

    /// Counts an error that belongs to no I/O.
    pub(super) fn note_error(
        &mut self,
        action: &str,
        kind: FailureKind,
        region: u32,
        errno: Errno,
        now: u64,
    ) {
        let error = self.error(action, kind, region, 0, 0, errno, now);
        self.account.errors.push(error);
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the place of an I/O, and how it failed"
    )]
    pub(super) fn error(
        &self,
        action: &str,
        kind: FailureKind,
        region: u32,
        offset: u64,
        len: u32,
        errno: Errno,
        now: u64,
    ) -> IoError {
        IoError {
            action: action.to_owned(),
            op: None,
            kind,
            file: self
                .context
                .files
                .get(region as usize)
                .cloned()
                .unwrap_or_default(),
            offset: Bytes(offset),
            len: Bytes(u64::from(len)),
            errno: errno.raw_os_error(),
            at: Nanos(
                self.clock
                    .nanos(now.saturating_sub(self.time.measuring_since)),
            ),
            mismatches: Vec::new(),
        }
    }

    /// Flushes if due after an I/O. As in fio, the `last` I/O of the job is not followed by a flush. Returns the time
    /// afterwards.
    #[inline]
    pub(super) fn sync_if_due(&mut self, request: &IoRequest, now: u64, last: bool) -> u64 {
        let durability = &self.plan.durability;
        if durability.fsync_every == 0 && durability.fdatasync_every == 0 {
            return now;
        }
        let own = self.plan.stream.access.does(request.op);
        let over = last && self.source.stream.is_over();
        let flushes = &mut self.issue.flushes;
        let (due, follows) = (
            flushes.due_after(request, durability, own),
            flushes.pass_follows,
        );
        let again = own && flushes.ends_pass(request.len) && !over;
        let now = match due {
            Some(kind) if !over || follows => self.sync(request.region, kind),
            _ => now,
        };
        if again {
            self.sync_before_pass(request.region, now)
        } else {
            now
        }
    }

    /// Flushes if due at the start of another pass. Returns the time afterwards.
    pub(super) fn sync_before_pass(&mut self, region: u32, now: u64) -> u64 {
        match self.issue.flushes.due_before_pass(&self.plan.durability) {
            Some(kind) => self.sync(region, kind),
            None => now,
        }
    }

    pub(super) fn sync(&mut self, region: u32, kind: SyncKind) -> u64 {
        let (before, errors) = (self.clock.now(), self.account.errors.total);
        let done = self.flush(region, kind);
        if self.account.errors.total == errors {
            let stats = &mut self.account.stats;
            stats.sync.record(Nanos(self.clock.nanos(done - before)));
            match kind {
                SyncKind::Full => {}
                SyncKind::Data => stats.other_syncs.data += 1,
                SyncKind::Range(..) => stats.other_syncs.range += 1,
            }
        }
        done
    }

    /// Flushes one file, and records an error. Returns the time afterwards.
    pub(super) fn flush(&mut self, region: u32, kind: SyncKind) -> u64 {
        let before = self.clock.now();
        self.note_sync(region, kind, before);
        let result = self.issue.backend.sync(region, kind);
        let done = self.clock.now();
        self.record_flush(region, kind, before, done);
        if let Err(errno) = result {
            self.note_error("fsync", FailureKind::Sync, region, errno, done);
        }
        done
    }

    /// Starts writeback when it is due, but not after a `last` write without a next one, as in fio.
    /// Returns the time afterwards.
    pub(super) fn sync_range_if_due(&mut self, request: &IoRequest, now: u64, last: bool) -> u64 {
        let Some(ranges) = self
            .issue
            .flushes
            .ranges
            .as_mut()
            .filter(|_| request.op == Op::Write)
        else {
            return now;
        };
        match ranges.note(request) {
            Some(kind) if !(last && self.source.stream.is_over()) => {
                self.sync(request.region, kind)
            }
            _ => now,
        }
    }
}
