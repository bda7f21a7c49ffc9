//! Which flush is due: after every N writes, and between the passes of a job.

use super::ranges::Ranges;
use crate::backend::SyncKind;
use hakaru_model::job::{Durability, Op};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::stream::{IoRequest, PassEnd, StreamPlan};

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
    pub(super) fn due_after(
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
    pub(super) fn ends_pass(&mut self, len: u32) -> bool {
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
    pub(super) fn due_before_pass(&self, durability: &Durability) -> Option<SyncKind> {
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
