//! The files of the tests: removed when all is done.

use hakaru_model::facts::TargetKind;
use hakaru_model::plan::{Facts, PhasePlan, Plan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Removes files when dropped.
#[derive(Debug, Default)]
pub(super) struct FileCleanup {
    /// Files that the tests make or write. One that was there and is only read is left alone.
    own: BTreeSet<PathBuf>,
    /// Those of them that a test has come to.
    begun: BTreeSet<PathBuf>,
}

impl FileCleanup {
    pub(super) fn of(plan: &Plan, facts: &Facts) -> FileCleanup {
        let writes = plan.destroys();
        let is_own = |kind| kind == TargetKind::Absent || kind == TargetKind::File && writes;
        let own = facts.iter().filter(|(_, facts)| is_own(facts.kind));
        FileCleanup {
            own: own.map(|(path, _)| path.clone()).collect(),
            begun: BTreeSet::new(),
        }
    }

    pub(super) fn phase_begins(&mut self, phase: &PhasePlan) {
        let paths = phase.files.iter().map(|file| &file.path);
        self.begun
            .extend(paths.filter(|path| self.own.contains(*path)).cloned());
    }
}

impl Drop for FileCleanup {
    fn drop(&mut self) {
        for path in self.begun.iter().filter(|path| is_plain(path)) {
            // A file that is gone already is as good as removed.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn is_plain(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file())
}
