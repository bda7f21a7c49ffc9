//! Flushes between I/Os, and recording of errors.

use super::Worker;
use super::drive::Drive;
use super::ranges::Ranges;
use crate::backend::{Files, SyncKind};
use crate::clock::Clock;
use hakaru_model::job::{Durability, Op};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{FailureKind, IoError};
use hakaru_model::stream::{IoRequest, PassEnd, StreamPlan};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::Errno;

/// Tracks data that was written but not flushed.
#[derive(Debug)]
pub(super) struct FlushState {
    /// Whether written data is already flushed as required at the end of the job.
    pub(super) flushed: bool,
    /// Whether anything was written since the job began or last read back.
    pub(super) wrote: bool,
    writes_since_fsync: u32,
    writes_since_fdatasync: u32,
    /// Whether anything was written since the job began.
    ever_wrote: bool,
    /// Whether another pass follows verification. The last write of this pass is then flushed like
    /// the others.
    pub(super) pass_follows: bool,
    /// Bytes of a pass through the files, and the remaining bytes; `None` without passes.
    pass: Option<(u64, u64)>,
    pub(super) ranges: Option<Box<Ranges>>,
}

/// Returns the bytes per pass of a job that visits each block once per pass; `None` without several
/// passes.
fn bytes_of_pass(plan: &WorkerPlan) -> Option<u64> {
    let StreamPlan {
        regions,
        access,
        pass_bytes,
        pass_end,
        ..
    } = &plan.stream;
    let in_passes = access.stride == 0 && (!access.random || access.every_block_once);
    let whole: u64 = regions.iter().map(|region| region.len).sum();
    let bytes = match pass_end {
        PassEnd::MoveBytes(_) => Some(whole),
        _ => *pass_bytes,
    };
    bytes.filter(|bytes| in_passes && *bytes > 0 && plan.verify.is_none())
}

impl FlushState {
    pub(super) fn new(plan: &WorkerPlan) -> FlushState {
        FlushState {
            flushed: false,
            wrote: false,
            writes_since_fsync: 0,
            writes_since_fdatasync: 0,
            ever_wrote: false,
            pass_follows: false,
            pass: bytes_of_pass(plan).map(|bytes| (bytes, bytes)),
            ranges: Ranges::new(plan),
        }
    }

    /// Returns the flush that is due after an I/O, every N writes. `own` is true for requests of the workload, false
    /// for verification reads.
    ///
    /// Each read between a flush and the next write is followed by a flush too. Before each I/O, fio checks whether
    /// the number of writes is a multiple of N and the previous I/O was not a flush.
    fn due_after(
        &mut self,
        request: &IoRequest,
        durability: &Durability,
        own: bool,
    ) -> Option<SyncKind> {
        let d = durability;
        let writes = request.op == Op::Write;
        if writes {
            self.wrote = true;
            self.ever_wrote = true;
            self.writes_since_fsync += 1;
            self.writes_since_fdatasync += 1;
        }
        let again = self.wrote && !writes && own;
        if again && d.fsync_every > 0 && self.writes_since_fsync == 0 {
            Some(SyncKind::Full)
        } else if again && d.fdatasync_every > 0 && self.writes_since_fdatasync == 0 {
            Some(SyncKind::Data)
        } else if !writes {
            None
        } else if d.fsync_every > 0 && self.writes_since_fsync >= d.fsync_every {
            self.writes_since_fsync = 0;
            // If both kinds of flush are due, the one of data and metadata covers both.
            if d.fdatasync_every > 0 && self.writes_since_fdatasync >= d.fdatasync_every {
                self.writes_since_fdatasync = 0;
            }
            Some(SyncKind::Full)
        } else if d.fdatasync_every > 0 && self.writes_since_fdatasync >= d.fdatasync_every {
            self.writes_since_fdatasync = 0;
            Some(SyncKind::Data)
        } else {
            None
        }
    }

    /// Counts an I/O of the workload. Returns whether it ends a pass.
    fn ends_pass(&mut self, len: u32) -> bool {
        let Some((whole, left)) = &mut self.pass else {
            return false;
        };
        *left = left.saturating_sub(len.into());
        let ends = *left == 0;
        if ends {
            *left = *whole;
        }
        ends
    }

    /// Returns the flush due at the start of another pass: fio checks again whether the number of writes is a
    /// multiple of N.
    fn due_before_pass(&self, durability: &Durability) -> Option<SyncKind> {
        let Durability {
            fsync_every,
            fdatasync_every,
            ..
        } = *durability;
        if !self.ever_wrote {
            None
        } else if fsync_every > 0 && self.writes_since_fsync == 0 {
            Some(SyncKind::Full)
        } else if fdatasync_every > 0 && self.writes_since_fdatasync == 0 {
            Some(SyncKind::Data)
        } else {
            None
        }
    }
}

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
        if let Err(errno) = result {
            self.note_error("fsync", FailureKind::Sync, region, errno, done);
        }
        done
    }
}
