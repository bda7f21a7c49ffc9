//! Results of a verification: for a terminal, as a page with its speed map, as Markdown, and as rows for other
//! programs.

mod page;
mod rows;

pub use page::{
    verification_charts, verification_html, verification_markdown, verification_terminal,
};
pub use rows::verification_csv;

use crate::escape::plain;
use crate::text;
use hakaru_model::integrity::{Scope, Verification};
use hakaru_model::units::Bytes;

/// Overall result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grade {
    Good,
    Bad,
    /// No defect was found, but the test is incomplete.
    Open,
}

/// The verdict as text.
struct VerdictText {
    grade: Grade,
    /// One or two sentences.
    verdict: String,
    /// Advice, or completed actions; empty if there are none.
    advice: String,
    /// Defects that this kind of verification cannot find.
    limits: Vec<&'static str>,
}

fn verdict_text(verification: &Verification) -> VerdictText {
    let verdict = &verification.verdict;
    let grade = match (
        verdict.has_defects(),
        verification.completed && verdict.is_good(),
    ) {
        (true, _) => Grade::Bad,
        (false, true) => Grade::Good,
        (false, false) => Grade::Open,
    };
    let said = match grade {
        Grade::Bad => text::verified_bad(verification),
        Grade::Good => text::verified_good(verification),
        Grade::Open => text::verified_in_part(verification),
    };
    VerdictText {
        grade,
        verdict: said,
        advice: text::verified_advice(verification),
        limits: text::verified_limits(&verification.scope),
    }
}

/// Returns the verdict in one or two sentences.
pub fn verified_sentence(verification: &Verification) -> String {
    verdict_text(verification).verdict
}

/// Headline of the report: `verify of SanDisk SE32G`.
fn headline(verification: &Verification) -> String {
    plain(&text::verification_of(&verified_target(verification)))
}

/// Name of what was verified: the target, or the free space of a directory.
pub fn verified_target(verification: &Verification) -> String {
    match &verification.scope {
        Scope::FreeSpace { folder } => text::free_space_at(&folder.display().to_string()),
        _ => verification.target.display_name(),
    }
}

/// Start of the tested range.
fn begins_at(verification: &Verification) -> Bytes {
    match verification.scope {
        Scope::Range { start, .. } => start,
        _ => Bytes(0),
    }
}

/// Formats an offset briefly.
fn place(offset: Bytes) -> String {
    if offset.0 == 0 {
        text::beginning().to_owned()
    } else {
        offset.to_string()
    }
}

#[cfg(test)]
mod tests;
