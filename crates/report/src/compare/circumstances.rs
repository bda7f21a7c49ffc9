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

/// The runs that wrote a new file, if they are those of one side, or some of the repeats of both. Writing to new space,
/// a file system allocates it; to the space of a file, it does not.
fn new_files(
    (first, second): (&str, &str),
    phases: &[(&PhaseSummary, &PhaseSummary)],
) -> Option<String> {
    phases.iter().find_map(|(a, b)| {
        let (a, b) = (&a.detail.new_files, &b.detail.new_files);
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let count = |of: &[bool]| of.iter().filter(|is_new| **is_new).count();
        match (count(a), count(b)) {
            (new, 0) if new == a.len() => Some(text::side_with_new_file(first, second)),
            (0, new) if new == b.len() => Some(text::side_with_new_file(second, first)),
            (0, 0) => None,
            (x, y) if x == a.len() && y == b.len() => None,
            (x, y) => Some(text::repeats_with_new_file(x + y, a.len() + b.len())),
        }
    })
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
