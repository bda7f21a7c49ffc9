//! The files of the tests: emptied before they are written anew, and removed when all is done.

use anyhow::Context;
use hakaru_model::facts::TargetKind;
use hakaru_model::job::Scenario;
use hakaru_model::plan::Facts;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Removes files as it is dropped, whatever ends the run.
#[derive(Debug, Default)]
pub(super) struct FileCleanup(BTreeSet<PathBuf>);

impl FileCleanup {
    /// Adds the files that these tests make or write. A file that was there and is only read is left alone.
    pub(super) fn add(&mut self, scenario: &Scenario, facts: &Facts) {
        let writes = scenario
            .phases
            .iter()
            .flat_map(|phase| &phase.jobs)
            .any(|job| job.access.destroys());
        let ours = |kind| kind == TargetKind::Absent || kind == TargetKind::File && writes;
        self.0.extend(
            facts
                .iter()
                .filter(|(_, facts)| ours(facts.kind))
                .map(|(path, _)| path.clone()),
        );
    }
}

impl Drop for FileCleanup {
    fn drop(&mut self) {
        for path in self.0.iter().filter(|path| is_plain(path)) {
            // A file that is gone already is as good as removed.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn is_plain(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file())
}

/// Empties the plain files of a scenario that are there.
pub(super) fn empty(scenario: &Scenario) -> anyhow::Result<()> {
    scenario.paths().iter().try_for_each(|path| empty_one(path))
}

pub(super) fn empty_one(path: &Path) -> anyhow::Result<()> {
    if !is_plain(path) {
        return Ok(());
    }
    let file = std::fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(path);
    file.map(drop).with_context(|| {
        format!(
            "cannot empty {}; name another file with -f or -F",
            path.display()
        )
    })
}
