//! `unlink_each_loop`: removes the files between two loops, and creates them again for the next.
//!
//! As in fio, a job that only reads cannot create them: its second loop ends with ENOENT. Files that a loop does not
//! reach the end of stay open, and are not created again: the next loop writes to the removed files.

use crate::backend::Files;
use crate::files::FileRecreator;
use hakaru_model::plan::WorkerPlan;
use hakaru_sys::Errno;

/// Start of the next loop, and how to recreate its files.
#[derive(Debug)]
pub(super) struct FileRecreation<'a> {
    reopener: FileRecreator<'a>,
    /// Whether a loop ends with its files.
    closes: bool,
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
            closes: plan.stream.closes_regions(pass),
            pass,
            next_at: whole.saturating_sub(pass),
        }))
    }

    /// Removes and recreates the files of a worker. `Err` has the region of the file that failed.
    pub(super) fn renew(
        &mut self,
        regions: u32,
        backend: &mut impl Files,
    ) -> Result<(), (u32, Errno)> {
        self.next_at = self.next_at.saturating_sub(self.pass);
        // All are removed before the first is created: a job that only reads leaves none.
        for region in 0..regions {
            let removed = self.reopener.remove(region);
            removed.map_err(|errno| (region, errno))?;
        }
        let reopened = if self.closes { regions } else { 0 };
        for region in 0..reopened {
            let file = self.reopener.renew(region);
            file.and_then(|file| file.map_or(Ok(()), |f| backend.replace_file(region, f)))
                .map_err(|errno| (region, errno))?;
        }
        Ok(())
    }

    /// Whether the next loop starts with `left` remaining bytes.
    pub(super) fn begins_loop(&self, left: u64) -> bool {
        self.next_at > 0 && left <= self.next_at
    }
}
