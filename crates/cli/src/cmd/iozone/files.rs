//! Test files, which are removed at the end.

use hakaru_model::facts::TargetKind;
use hakaru_model::plan::{Facts, PhasePlan, Plan};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Removes files when dropped.
#[derive(Debug, Default)]
pub(super) struct FileCleanup {
    /// Files that the tests create or write. An existing file that is only read is kept.
    own: BTreeSet<PathBuf>,
    /// Files of tests that have started.
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
            // Ignored: the file may be gone already.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn is_plain(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file())
}
