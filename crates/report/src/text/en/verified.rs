//! Verdicts of verifications.

use crate::text::was_restored;
use hakaru_model::integrity::{BlockState, Capacity, Scope, Verification};

pub(in crate::text) fn verified_good(verification: &Verification) -> String {
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

pub(in crate::text) fn verified_bad(verification: &Verification) -> String {
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

pub(in crate::text) fn verified_in_part(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    match verdict.checked().0 {
        0 => "Ended before anything was read back: nothing can be said of it yet.".to_owned(),
        _ => format!(
            "Ended early: no defect in the first {} of {} that were read back.",
            verdict.checked(),
            verdict.claimed
        ),
    }
}

pub(in crate::text) fn verified_advice(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    match (verdict.capacity.real(), verdict.has_defects()) {
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

pub(in crate::text) fn verified_limits(scope: &Scope) -> Vec<&'static str> {
    let mut limits = match scope {
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

pub(in crate::text) fn block_state(state: BlockState) -> String {
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

pub(in crate::text) fn verification_of(target: &str) -> String {
    format!("verify of {target}")
}

pub(in crate::text) fn free_space_at(directory: &str) -> String {
    format!("free space at {directory}")
}
