//! Sentences for typed values: caveats, conditions, weaknesses, lint warnings, failures, preparation steps and
//! verdicts.
//!
//! The model crate has the values, this module has the text. Each family is one exhaustive `match` without a `_` arm,
//! so that a new variant does not compile without its sentence. Another language is another module next to `en` with
//! the same functions. Identifiers for programs are in `ids` and are never derived from these texts.

mod en;

pub use en::*;

use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Finding, FindingScope};

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
    names.join(", ")
}
