//! Every sentence about a typed value: caveats, conditions, weaknesses, lint warnings, failures, preparation steps and
//! verdicts.
//!
//! Nouns carry values, this module has the words. Each family is one exhaustive `match` without a `_` arm, so that a new
//! variant does not compile before it has its sentence. Another language is another module beside `en` with the same
//! functions. Identifiers for programs are in `ids` and are never made of these words.

mod en;

pub use en::*;

use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Finding, FindingScope};

/// A caveat of a single run as a sentence, with its phase in front.
pub fn caveat(caveat: &Caveat) -> String {
    finding(&Finding::from(caveat), &[])
}

/// A finding as a sentence, with its phases in front, in the order given; `all` are the phases of the report.
pub fn finding(finding: &Finding, all: &[&str]) -> String {
    let said = kind(&finding.kind);
    match phases(&finding.scope, all) {
        lead if lead.is_empty() => said,
        lead => format!("{lead}: {said}"),
    }
}

/// The phases of a scope in the order of `all`. Empty where it is about whole runs.
fn phases(scope: &FindingScope, all: &[&str]) -> String {
    let place = |phase: &str| all.iter().position(|known| *known == phase);
    let mut names: Vec<&str> = scope.phases.iter().map(String::as_str).collect();
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    if names.len() > 2 && names.len() == all.len() {
        return all_phases().to_owned();
    }
    names.join(", ")
}
