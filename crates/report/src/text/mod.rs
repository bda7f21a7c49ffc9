//! Sentences for typed values: caveats, conditions, weaknesses, lint warnings, failures, preparation steps and
//! verdicts.
//!
//! The model crate has the values, this module has the text. Each family is one exhaustive `match` without a `_` arm,
//! so that a new variant does not compile without its sentence. `list` names every text once; `en` and `ja` have a
//! function for each. Identifiers for programs are in `ids` and are never derived from these texts.

mod both;
mod bus_transfer;
mod compared;
mod en;
mod figures;
mod ja;
mod labels;
mod language;
mod list;
#[cfg(test)]
mod path_tests;
mod planned;
mod values;

pub(crate) use bus_transfer::BusTransfer;
pub(crate) use compared::{ComparedThing, with_compared};
pub(crate) use labels::*;
pub use language::{Language, language, with_language};
pub use list::*;
pub use planned::{
    PlannedExtent, PlannedJob, PlannedPlace, PlannedRecheck, PlannedRuns, Selected, StoredRuns,
    TurnPreparation,
};
pub(crate) use values::*;
pub use values::{
    BenchPlace, EraseTarget, FailedAction, LinkChange, LinkNote, MessagePrefix, VerifyUsage,
};

use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Finding, FindingScope};
use hakaru_model::integrity::Scope;
use hakaru_model::io_path::TimeDifference;
use hakaru_model::record::{Outcome, RunRecord};

/// A caveat of a single run as a sentence, with its phase as a prefix.
pub fn caveat(caveat: &Caveat) -> String {
    finding(&Finding::from(caveat), &[])
}

/// A finding as a sentence, prefixed with its phases in the given order; `all` are the phases of the report.
pub fn finding(finding: &Finding, all: &[&str]) -> String {
    let said = kind(&finding.kind);
    match phases(&finding.scope, all) {
        lead if lead.is_empty() => said,
        lead => format!("{lead}: {said}"),
    }
}

/// The phases of a scope in the order of `all`; empty if the scope is the whole run.
fn phases(scope: &FindingScope, all: &[&str]) -> String {
    let place = |phase: &str| all.iter().position(|known| *known == phase);
    let mut names: Vec<&str> = scope.phases.iter().map(String::as_str).collect();
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    if names.len() > 2 && names.len() == all.len() {
        return all_phases().to_owned();
    }
    let in_words =
        |name: &&str| crate::workload::in_words(name, None).unwrap_or_else(|| (*name).to_owned());
    match names.len() {
        n if n > NAMED_PHASES => some_phases(n, all.len()),
        _ => {
            let is_own = names
                .first()
                .is_some_and(|first| crate::workload::in_words(first, None).is_some());
            let names: Vec<String> = names.iter().map(in_words).collect();
            let names = enumerated(&names);
            if is_own { capital(&names) } else { names }
        }
    }
}

/// Maximum number of phases that a sentence names; the suite has eight.
const NAMED_PHASES: usize = 8;

/// The reason why a run failed. `None` for a run that did not fail.
pub fn failed_run(record: &RunRecord) -> Option<String> {
    match &record.outcome {
        Outcome::Failed { error } => Some(record.ended_by().map_or_else(|| error.clone(), failure)),
        Outcome::Completed | Outcome::Interrupted => None,
    }
}

/// Shares as percent: `70 to 86%`.
pub(crate) fn percent_range(low: &str, high: &str) -> String {
    format!("{}%", span(low, high))
}

/// A difference of times with its sign.
pub(crate) fn signed_nanos(nanos: f64) -> String {
    let sign = if nanos < 0.0 { "−" } else { "+" };
    format!("{sign}{}", crate::number::nanos(nanos.abs()))
}

/// A difference of times with its interval, if known.
pub(crate) fn signed_time(time: &TimeDifference) -> String {
    let value = signed_nanos(time.value);
    match time.ci95 {
        Some((low, high)) => format!("{value} [{}, {}]", signed_nanos(low), signed_nanos(high)),
        None => value,
    }
}

/// Whether the verification put the previous content back.
fn was_restored(scope: &Scope) -> bool {
    matches!(
        scope,
        Scope::Whole { restored: true } | Scope::Samples { restored: true }
    )
}

/// The text with its first letter in upper case, in languages that begin sentences so.
pub(crate) fn capital(text: &str) -> String {
    if language() == Language::Japanese {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
