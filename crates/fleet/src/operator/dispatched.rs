//! The jobs that were sent and have not ended, kept in the directory of the fleet, so that a later command does not send
//! them again.

use crate::directory::{FleetDirectory, read, write};
use anyhow::{Context as _, Result};
use hakaru_campaign::campaign::resolve::is_plain_name;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A job that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DispatchedJob {
    pub(super) id: String,
    pub(super) campaign: String,
    pub(super) host: String,
    pub(super) cards: Vec<String>,
    /// Its number in the stream of jobs.
    pub(super) sequence: u64,
}

/// The jobs that have not ended.
pub(super) struct DispatchedJobs {
    folder: PathBuf,
}

impl DispatchedJobs {
    pub(super) fn open(directory: &FleetDirectory) -> Result<DispatchedJobs> {
        let folder = directory.file("jobs");
        std::fs::create_dir_all(&folder)
            .with_context(|| both!("cannot create {}", "{}を作成できません"; folder.display()))?;
        Ok(DispatchedJobs { folder })
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    pub(super) fn note(&self, job: &DispatchedJob) -> Result<()> {
        write(&self.file(&job.id), &serde_json::to_string(job)?)
    }

    /// Forgets a job that ended. The ID comes from a host.
    pub(super) fn forget(&self, id: &str) {
        if is_plain_name(id) {
            let _ = std::fs::remove_file(self.file(id));
        }
    }

    /// Returns the jobs, oldest first.
    pub(super) fn all(&self) -> Result<Vec<DispatchedJob>> {
        let mut jobs = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "json") {
                jobs.extend(serde_json::from_str::<DispatchedJob>(&read(&path)?));
            }
        }
        jobs.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(jobs)
    }

    /// Returns the jobs of a campaign.
    pub(super) fn of(&self, campaign: &str) -> Result<Vec<DispatchedJob>> {
        let mut jobs = self.all()?;
        jobs.retain(|job| job.campaign == campaign);
        Ok(jobs)
    }
}
