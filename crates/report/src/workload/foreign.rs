//! Workloads that have a name of hakaru's own but are other ones.
//!
//! Findings, comparisons and verdicts know a workload by its name only. While a report is rendered, the names that its
//! phases gave to something else are kept here, so that no sentence calls a sequential job "random reads".

use hakaru_model::finding::{PhaseSummary, Summary};
use std::cell::RefCell;
use std::collections::BTreeSet;

thread_local! {
    static FOREIGN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Restores the previous names, also after a panic.
struct RestoreNames(BTreeSet<String>);

impl Drop for RestoreNames {
    fn drop(&mut self) {
        let before = std::mem::take(&mut self.0);
        FOREIGN.with_borrow_mut(|names| *names = before);
    }
}

/// Runs `print` with texts that keep the names of workloads of these series that are not what their names say.
pub(crate) fn with_workloads_of<'a, T>(
    summaries: impl IntoIterator<Item = &'a Summary>,
    print: impl FnOnce() -> T,
) -> T {
    let phases = summaries.into_iter().flat_map(|summary| &summary.phases);
    let names = phases
        .filter(|phase| is_foreign(phase))
        .map(|phase| phase.phase.clone())
        .collect();
    let _restore = RestoreNames(FOREIGN.replace(names));
    print()
}

/// Whether a phase has a name of hakaru's own but another workload.
pub(crate) fn is_foreign(phase: &PhaseSummary) -> bool {
    super::words(&phase.phase, None).is_some() && super::of_phase(phase).is_none()
}

/// Whether the texts of this thread keep this name.
pub(super) fn is_kept(name: &str) -> bool {
    FOREIGN.with_borrow(|names| names.contains(name))
}
