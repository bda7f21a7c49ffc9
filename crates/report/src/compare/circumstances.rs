//! What else differs between two sides: when they ran, and what they wrote to.

use crate::merged::RankedCaveat;
use crate::text;
use hakaru_model::finding::{PhaseSummary, Summary};
use hakaru_model::severity::{Impact, Severity};

/// The caveats that hold for the comparison, not for one of the sides.
pub(super) fn caveats(
    sides: (&Summary, &Summary),
    names: (&str, &str),
    phases: &[(&PhaseSummary, &PhaseSummary)],
) -> Vec<RankedCaveat> {
    let found = [in_sequence(sides, names), new_files(names, phases)];
    let caveat = |text: String| RankedCaveat {
        severity: Severity::Weak,
        impact: Impact::Comparison,
        lead: String::new(),
        text,
    };
    found.into_iter().flatten().map(caveat).collect()
}

/// A caveat about runs that wrote a new file: those of one side only, or some of the repeats. Such a run includes the
/// allocation of space by the file system.
fn new_files(
    (first, second): (&str, &str),
    phases: &[(&PhaseSummary, &PhaseSummary)],
) -> Option<String> {
    phases.iter().find_map(|&(a, b)| {
        match new_file_side(a, b) {
            Some(true) => return Some(text::side_with_new_file(first, second)),
            Some(false) => return Some(text::side_with_new_file(second, first)),
            None => {}
        }
        let (a, b) = (&a.detail.new_files, &b.detail.new_files);
        let new = a.iter().chain(b).filter(|is_new| **is_new).count();
        let of = a.len() + b.len();
        let is_mixed = !a.is_empty() && !b.is_empty() && (1..of).contains(&new);
        is_mixed.then(|| text::repeats_with_new_file(new, of))
    })
}

/// Whether it is the first side that wrote new files in all runs, and the second in none, or the reverse; `None` otherwise.
pub(super) fn new_file_side(a: &PhaseSummary, b: &PhaseSummary) -> Option<bool> {
    let all_are = |of: &PhaseSummary, new: bool| {
        let files = &of.detail.new_files;
        !files.is_empty() && files.iter().all(|is_new| *is_new == new)
    };
    match () {
        () if all_are(a, true) && all_are(b, false) => Some(true),
        () if all_are(a, false) && all_are(b, true) => Some(false),
        () => None,
    }
}

/// The caveat that all repeats of one side came before those of the other; single runs have worse ones.
fn in_sequence((a, b): (&Summary, &Summary), names: (&str, &str)) -> Option<String> {
    let is_known = |of: &Summary| of.started_unix_ms > 0 && of.last_started_unix_ms > 0;
    let is_repeated = |of: &Summary| {
        let runs = of.phases.iter().map(|phase| phase.bandwidth.values.len());
        runs.max().is_some_and(|runs| runs > 1)
    };
    if [a, b].iter().any(|of| !is_repeated(of) || !is_known(of)) {
        return None;
    }
    let (first, then) = match () {
        () if a.last_started_unix_ms < b.started_unix_ms => names,
        () if b.last_started_unix_ms < a.started_unix_ms => (names.1, names.0),
        () => return None,
    };
    Some(text::sides_in_sequence(first, then))
}
