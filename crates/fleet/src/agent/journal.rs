//! The jobs that ended on this host: a job that is delivered again is answered, not carried out.

use crate::directory::{read, write};
use crate::message::JobEnd;
use anyhow::{Context as _, Result};
use hakaru_campaign::campaign::resolve::is_plain_name;
use std::path::{Path, PathBuf};

/// Number of jobs that are remembered; the server forgets a job as soon as it is answered.
const REMEMBERED: usize = 1000;

/// Ends of jobs, one file each.
pub(super) struct JobJournal {
    folder: PathBuf,
}

impl JobJournal {
    /// Opens the journal in the directory of an agent.
    pub(super) fn open(directory: &Path) -> Result<JobJournal> {
        let folder = directory.join("jobs");
        std::fs::create_dir_all(&folder)
            .with_context(|| both!("cannot create {}", "{}を作成できません"; folder.display()))?;
        forget_old(&folder);
        Ok(JobJournal { folder })
    }

    fn file(&self, job: &str) -> Option<PathBuf> {
        is_plain_name(job).then(|| self.folder.join(format!("{job}.json")))
    }

    /// Returns how a job ended, if it has.
    pub(super) fn end_of(&self, job: &str) -> Option<JobEnd> {
        let file = self.file(job).filter(|file| file.exists())?;
        serde_json::from_str(&read(&file).ok()?).ok()
    }

    /// Records how a job ended.
    pub(super) fn note(&self, end: &JobEnd) -> Result<()> {
        let Some(file) = self.file(&end.job) else {
            return Ok(());
        };
        write(&file, &serde_json::to_string(end)?)
    }
}

/// Removes the oldest files; IDs of jobs sort by time.
fn forget_old(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let old = files.len().saturating_sub(REMEMBERED);
    for file in &files[..old] {
        let _ = std::fs::remove_file(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::JobOutcome;

    #[test]
    fn an_ended_job_is_remembered_and_names_stay_in_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let journal = JobJournal::open(folder.path()).unwrap();
        let end = |job: &str| JobEnd {
            job: job.into(),
            outcome: JobOutcome::Complete,
            ..JobEnd::default()
        };
        journal.note(&end("0192-a")).unwrap();
        journal.note(&end("../../x")).unwrap();
        let again = JobJournal::open(folder.path()).unwrap();
        assert_eq!(again.end_of("0192-a"), Some(end("0192-a")));
        assert_eq!((again.end_of("../../x"), again.end_of("b")), (None, None));
    }
}
