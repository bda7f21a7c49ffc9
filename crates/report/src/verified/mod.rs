//! Results of a verification: for a terminal, as a page with its speed map, as Markdown, and as rows for other
//! programs.

mod page;
mod rows;

pub use page::{verification_html, verification_markdown, verification_terminal};
pub use rows::verification_csv;

use crate::escape::plain;
use hakaru_model::integrity::{BlockState, Capacity, Scope, Verification};
use hakaru_model::units::{Bytes, Nanos};

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
    let text = match grade {
        Grade::Bad => bad(verification),
        Grade::Good => good(verification),
        Grade::Open if verdict.checked().0 == 0 => {
            "Ended before anything was read back: nothing can be said of it yet.".to_owned()
        }
        Grade::Open => format!(
            "Ended early: no defect in the first {} of {} that were read back.",
            verdict.checked(),
            verdict.claimed
        ),
    };
    VerdictText {
        grade,
        verdict: text,
        advice: advice(verification),
        limits: limits(verification),
    }
}

fn good(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    let all = verdict.claimed;
    match &verification.scope {
        Scope::Whole { .. } => format!("Good: all {all} came back as written."),
        Scope::Range { start, end, .. } => {
            format!("Good: all from {start} to {end} came back as written.")
        }
        Scope::Samples { .. } => {
            format!(
                "Good: it holds the {all} that it claims, going by samples of {} in all.",
                verdict.checked()
            )
        }
        Scope::FreeSpace { .. } => format!("Good: all {all} of free space came back as written."),
    }
}

fn bad(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    let claimed = verdict.claimed;
    match verdict.capacity {
        Capacity::Wraps { real } => format!(
            "False capacity: it claims {claimed} and holds {real}. What is written beyond that overwrites what was \
             written before."
        ),
        Capacity::Ends { real } => {
            format!(
                "False capacity: it claims {claimed} and holds {real}. What is written beyond that is lost."
            )
        }
        Capacity::AsClaimed => {
            let ended = if verification.completed {
                ""
            } else {
                " before it was ended early"
            };
            let (bad, checked) = (verdict.bad_bytes, verdict.checked());
            format!(
                "Defective: {bad} of the {checked} looked at did not come back as written{ended}."
            )
        }
    }
}

fn advice(verification: &Verification) -> String {
    match (
        verification.verdict.capacity.real(),
        verification.verdict.has_defects(),
    ) {
        (Some(real), _) => format!(
            "Keep nothing on it, and ask for the money back. Whoever must use it makes one partition over the first \
             {} at most.",
            real.to_type_in()
        ),
        (None, true) => "Copy what matters off it while it can be read, and replace it.".to_owned(),
        (None, false) if was_restored(&verification.scope) => {
            "What was there before was put back.".to_owned()
        }
        (None, false) => String::new(),
    }
}

fn was_restored(scope: &Scope) -> bool {
    matches!(
        scope,
        Scope::Whole { restored: true } | Scope::Samples { restored: true }
    )
}

fn limits(verification: &Verification) -> Vec<&'static str> {
    let mut limits = match &verification.scope {
        Scope::Whole { .. } => Vec::new(),
        Scope::Range { .. } => vec!["nothing outside of this range was looked at"],
        Scope::Samples { .. } => vec!["bad places between the samples are not found"],
        Scope::FreeSpace { .. } => {
            vec!["only free space was looked at: a false end that lies in used space is not found"]
        }
    };
    limits.push("a cache that lies about having flushed is only found by cutting the power");
    limits
}

/// Description of a block state.
fn state(state: BlockState) -> String {
    match state {
        BlockState::Good => "as written".to_owned(),
        BlockState::Overwritten { distance } => {
            format!("holds what was written {distance} further on")
        }
        BlockState::Lost => "holds nothing of what was written".to_owned(),
        BlockState::Damaged => "the right block with wrong bytes".to_owned(),
        BlockState::Unreadable => "cannot be read".to_owned(),
        BlockState::Unwritable => "cannot be written".to_owned(),
    }
}

/// Headline of the report: `verify of SanDisk SE32G`.
fn headline(verification: &Verification) -> String {
    plain(&format!("verify of {}", verified_target(verification)))
}

/// Name of what was verified: the target, or the free space of a directory.
pub fn verified_target(verification: &Verification) -> String {
    match &verification.scope {
        Scope::FreeSpace { folder } => format!("free space at {}", folder.display()),
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
        "0".to_owned()
    } else {
        offset.to_string()
    }
}

/// Formats a duration: `42 min 10 s`, `1 h 5 min`, `3.20 s`.
fn duration(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000;
    match seconds {
        0..60 => time.to_string(),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests;
