//! `unlink_each_loop`: between two loops the files are removed, and opened again for the next.
//!
//! As in fio a job that only reads has nothing to make them from: its second loop ends with ENOENT.

use super::Worker;
use super::drive::Drive;
use crate::backend::Files;
use crate::clock::Clock;
use crate::files::FileRecreator;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{FailureKind, StopReason};
use hakaru_sys::Errno;

/// When the next loop begins, and how its files are made.
#[derive(Debug)]
pub(super) struct FileRecreation<'a> {
    reopener: FileRecreator<'a>,
    /// Bytes of a loop.
    pass: u64,
    /// Bytes that are left of the job when its next loop begins; 0 when there is none.
    next_at: u64,
}

impl<'a> FileRecreation<'a> {
    /// `None` where nothing is removed: without the option, or in a job of one loop or of no end.
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

    /// Whether the next loop begins with so many bytes `left`.
    pub(super) fn begins_loop(&self, left: u64) -> bool {
        self.next_at > 0 && left <= self.next_at
    }
}

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Removes the files, and opens them again.
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
