//! Flushes between I/Os, and the record of what failed.

use super::Worker;
use crate::backend::{Backend, SyncKind};
use crate::clock::Clock;
use hakaru_model::job::Op;
use hakaru_model::record::{FailureKind, IoError};
use hakaru_model::stream::IoRequest;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::Errno;

impl<B: Backend, C: Clock> Worker<'_, B, C> {
    /// ENODEV in place of what the kernel answers for a disk that was pulled: "no space left" for writes, EIO otherwise.
    pub(super) fn unless_pulled(&self, region: u32, errno: Errno) -> Errno {
        let may_be = matches!(errno, Errno::NOSPC | Errno::IO);
        let file = self.around.files.get(region as usize).filter(|_| may_be);
        let is_pulled =
            file.is_some_and(|file| hakaru_sys::block::is_pulled(std::path::Path::new(file)));
        if is_pulled { Errno::NODEV } else { errno }
    }

    /// Counts a failure that belongs to no I/O.
    pub(super) fn note_error(
        &mut self,
        action: &str,
        kind: FailureKind,
        region: u32,
        errno: Errno,
        now: u64,
    ) {
        let error = self.error(action, kind, region, 0, 0, errno, now);
        self.errors.push(error);
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
                .around
                .files
                .get(region as usize)
                .cloned()
                .unwrap_or_default(),
            offset: Bytes(offset),
            len: Bytes(u64::from(len)),
            errno: errno.raw_os_error(),
            at: Nanos(self.clock.nanos(now.saturating_sub(self.measuring_since))),
            mismatches: Vec::new(),
        }
    }

    /// Flushes between every N writes and the next; a `last` one that has no next is not followed by a flush, as in fio.
    /// Returns the moment it is then.
    ///
    /// Reads between a flush and the next write are each followed by a flush too: fio asks before each I/O whether the
    /// number of writes is a multiple of N, and whether the I/O before was a flush.
    #[inline]
    pub(super) fn sync_if_due(&mut self, request: &IoRequest, now: u64, last: bool) -> u64 {
        let d = &self.plan.durability;
        if d.fsync_every == 0 && d.fdatasync_every == 0 {
            return now;
        }
        if request.op == Op::Write {
            self.wrote = true;
            self.writes_since_fsync += 1;
            self.writes_since_fdatasync += 1;
        }
        let again =
            self.wrote && request.op != Op::Write && self.plan.stream.access.does(request.op);
        let kind = if again && d.fsync_every > 0 && self.writes_since_fsync == 0 {
            SyncKind::Full
        } else if again && d.fdatasync_every > 0 && self.writes_since_fdatasync == 0 {
            SyncKind::Data
        } else if request.op != Op::Write {
            return now;
        } else if d.fsync_every > 0 && self.writes_since_fsync >= d.fsync_every {
            self.writes_since_fsync = 0;
            SyncKind::Full
        } else if d.fdatasync_every > 0 && self.writes_since_fdatasync >= d.fdatasync_every {
            self.writes_since_fdatasync = 0;
            SyncKind::Data
        } else {
            return now;
        };
        if last && self.stream.is_over() {
            now
        } else {
            self.sync(request.region, kind)
        }
    }

    pub(super) fn sync(&mut self, region: u32, kind: SyncKind) -> u64 {
        let (before, errors) = (self.clock.now(), self.errors.total);
        let done = self.flush(region, kind);
        if self.errors.total == errors {
            self.tally
                .sync
                .record(Nanos(self.clock.nanos(done - before)));
        }
        done
    }

    /// Flushes one file, and notes the error if that fails. Returns the moment it is then.
    pub(super) fn flush(&mut self, region: u32, kind: SyncKind) -> u64 {
        let before = self.clock.now();
        self.note_sync(region, kind, before);
        let result = self.backend.sync(region, kind);
        let done = self.clock.now();
        if let Err(errno) = result {
            self.note_error("fsync", FailureKind::Sync, region, errno, done);
        }
        done
    }
}
