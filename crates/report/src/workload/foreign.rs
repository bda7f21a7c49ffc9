//! Workloads whose names are not those of hakaru's own: they have a name of hakaru's but are other ones, or the user
//! named them.
//!
//! Findings, comparisons and verdicts know a workload by its name only. While a report is rendered, the names that its
//! phases gave to something else are kept here, so that no sentence calls a sequential job "random reads". On pages and
//! in charts, so are the words for the jobs that the user named: `random writes (file1)`.

use super::{kind, of_phase};
use crate::text;
use hakaru_model::finding::{PhaseSummary, Summary};
use hakaru_model::job::Op;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A phase, or one of its operations.
type JobKey = (String, Option<Op>);

/// What is known about the names of workloads while a report is rendered.
#[derive(Default)]
struct WorkloadNames {
    foreign: BTreeSet<String>,
    described: BTreeMap<JobKey, String>,
}

thread_local! {
    static NAMES: RefCell<WorkloadNames> = const {
        RefCell::new(WorkloadNames {
            foreign: BTreeSet::new(),
            described: BTreeMap::new(),
        })
    };
}

/// Restores the previous names, also after a panic.
struct RestoreNames(WorkloadNames);

impl Drop for RestoreNames {
    fn drop(&mut self) {
        let before = std::mem::take(&mut self.0);
        NAMES.with_borrow_mut(|names| *names = before);
    }
}

/// Runs `print` with texts that keep the names of workloads of these series that are not what their names say.
pub(crate) fn with_workloads_of<'a, T>(
    summaries: impl IntoIterator<Item = &'a Summary>,
    print: impl FnOnce() -> T,
) -> T {
    let names = WorkloadNames {
        foreign: foreign(summaries.into_iter()),
        described: BTreeMap::new(),
    };
    with_names(names, print)
}

/// As [`with_workloads_of`], for pages, charts and comparisons: the jobs that the user named are described, with their name.
pub(crate) fn with_workloads_described<'a, T>(
    summaries: impl IntoIterator<Item = &'a Summary>,
    print: impl FnOnce() -> T,
) -> T {
    let summaries: Vec<&Summary> = summaries.into_iter().collect();
    let names = WorkloadNames {
        foreign: foreign(summaries.iter().copied()),
        described: described(&summaries),
    };
    with_names(names, print)
}

fn with_names<T>(names: WorkloadNames, print: impl FnOnce() -> T) -> T {
    let _restore = RestoreNames(NAMES.replace(names));
    print()
}

fn foreign<'a>(summaries: impl Iterator<Item = &'a Summary>) -> BTreeSet<String> {
    let phases = summaries.flat_map(|summary| &summary.phases);
    let foreign = phases.filter(|phase| is_foreign(phase));
    foreign.map(|phase| phase.phase.clone()).collect()
}

/// Words for the jobs that the user named and whose shape is known. Jobs that differ between series keep their names.
fn described(summaries: &[&Summary]) -> BTreeMap<JobKey, String> {
    let mut found: BTreeMap<JobKey, BTreeSet<String>> = BTreeMap::new();
    for summary in summaries {
        for phase in &summary.phases {
            let Some(kind) = kind(summary, phase).filter(|_| of_phase(phase).is_none()) else {
                continue;
            };
            let name = crate::escape::plain(&phase.phase);
            let words = |noun: &str| match phase.phase == phase.op.name() {
                true => noun.to_owned(),
                false => text::workload_named(noun, &name),
            };
            let noun = text::workload(kind, phase.op);
            let others = summary
                .phases
                .iter()
                .any(|other| other.phase == phase.phase && other.op != phase.op);
            let whole = match others {
                true => words(&text::row_kind(kind).to_lowercase()),
                false => words(noun),
            };
            for (op, words) in [(Some(phase.op), words(noun)), (None, whole)] {
                let key = (phase.phase.clone(), op);
                found.entry(key).or_default().insert(words);
            }
        }
    }
    let one = |(key, words): (JobKey, BTreeSet<String>)| match words.len() {
        1 => Some((key, words.into_iter().next()?)),
        _ => None,
    };
    found.into_iter().filter_map(one).collect()
}

/// Whether a phase has a name of hakaru's own but another workload.
pub(crate) fn is_foreign(phase: &PhaseSummary) -> bool {
    super::words(&phase.phase, None).is_some() && super::of_phase(phase).is_none()
}

/// Whether the texts of this thread keep this name.
pub(super) fn is_kept(name: &str) -> bool {
    NAMES.with_borrow(|names| names.foreign.contains(name))
}

/// The words for a job that the user named, while a page is rendered: `random writes (file1)`.
pub(crate) fn words_of_job(name: &str, op: Option<Op>) -> Option<String> {
    NAMES.with_borrow(|names| names.described.get(&(name.to_owned(), op)).cloned())
}
