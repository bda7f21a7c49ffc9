//! `unlink_each_loop`: removes the files between two loops, and creates them again for the next.
//!
//! As in fio, a job that only reads cannot create them: its second loop ends with ENOENT.

use super::Worker;
use super::drive::Drive;
use crate::backend::Files;
use crate::clock::Clock;
use crate::files::FileRecreator;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{FailureKind, StopReason};
use hakaru_sys::Errno;

/// Start of the next loop, and how to recreate its files.
#[derive(Debug)]
pub(super) struct FileRecreation<'a> {
    reopener: FileRecreator<'a>,
    /// Bytes per loop.
    pass: u64,
    /// Remaining bytes of the job at the start of its next loop; 0 if there is none.
    next_at: u64,
}

impl<'a> FileRecreation<'a> {
    /// Returns `None` if nothing is removed: without the option, with one loop, or with endless
    /// loops.
    pub(super) fn new(
        plan: &WorkerPlan,
        reopener: Option<FileRecreator<'a>>,
    ) -> Option<Box<FileRecreation<'a>>> {
        let asked = plan.files.unlink_each_loop;
        let (pass, whole) = plan
            .stream
            .pass_bytes
            .zip(plan.stream.limit_bytes)
            .filter(|_| asked)?;
        Some(Box::new(FileRecreation {
            reopener: reopener?,
            pass,
            next_at: whole.saturating_sub(pass),
        }))
    }

    /// Whether the next loop starts with `left` remaining bytes.
    pub(super) fn begins_loop(&self, left: u64) -> bool {
        self.next_at > 0 && left <= self.next_at
    }
}

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Removes and recreates the files.
    #[cold]
    pub(super) fn renew_files(&mut self) -> Result<(), StopReason> {
        let Some(recreation) = &mut self.source.recreation else {
            return Ok(());
        };
        let (backend, plan) = (&mut self.issue.backend, self.plan);
        recreation.next_at = recreation.next_at.saturating_sub(recreation.pass);
        let mut failed: Option<(u32, Errno)> = None;
        for region in 0..plan.stream.regions.len() as u32 {
            let answer = recreation
                .reopener
                .renew(region)
                .and_then(|file| file.map_or(Ok(()), |f| backend.replace_file(region, f)));
            if let Err(errno) = answer {
                failed = Some((region, errno));
                break;
            }
        }
        let Some((region, errno)) = failed else {
            return Ok(());
        };
        let now = self.clock.now();
        self.note_error("open", FailureKind::File, region, errno, now);
        Err(StopReason::Error)
    }
}
