//! Verdicts of verifications.

use crate::text::was_restored;
use hakaru_model::integrity::{BlockState, Capacity, Scope, Verification};
use hakaru_model::units::Bytes;

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
                "Good: it holds the {all} that it claims, according to samples of {}.",
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
            "False capacity: it claims {claimed} and holds {real}. Writes beyond that overwrite earlier data."
        ),
        Capacity::Ends { real } => {
            format!(
                "False capacity: it claims {claimed} and holds {real}. Writes beyond that are lost."
            )
        }
        Capacity::AsClaimed => {
            let ended = if verification.completed {
                ""
            } else {
                " (ended early)"
            };
            let (bad, checked) = (verdict.bad_bytes, verdict.checked());
            format!(
                "Defective: {bad} of the {checked} checked did not come back as written{ended}."
            )
        }
    }
}

pub(in crate::text) fn verified_in_part(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    match verdict.checked().0 {
        0 => "Ended before anything was read back: no verdict yet.".to_owned(),
        _ => format!(
            "Ended early: no defect in the first {} of {}.",
            verdict.checked(),
            verdict.claimed
        ),
    }
}

pub(in crate::text) fn verified_advice(verification: &Verification) -> String {
    let verdict = &verification.verdict;
    match (verdict.capacity.real(), verdict.has_defects()) {
        (Some(real), _) => format!(
            "Store nothing on it, and ask for a refund. To use it nevertheless, create a single partition within the \
             first {}.",
            real.to_type_in()
        ),
        (None, true) => "Copy your data while it can be read, and replace it.".to_owned(),
        (None, false) if was_restored(&verification.scope) => {
            "The earlier content was restored.".to_owned()
        }
        (None, false) => String::new(),
    }
}

pub(in crate::text) fn verified_limits(scope: &Scope) -> Vec<&'static str> {
    let mut limits = match scope {
        Scope::Whole { .. } => Vec::new(),
        Scope::Range { .. } => vec!["Data outside of this range was not checked"],
        Scope::Samples { .. } => vec!["Bad ranges between the samples are not found"],
        Scope::FreeSpace { .. } => {
            vec![
                "Only free space was checked: false capacity that begins in used space is not found",
            ]
        }
    };
    limits.push("Only a power cut reveals a cache that ignores flush requests");
    limits
}

pub(in crate::text) fn block_state(state: BlockState) -> String {
    match state {
        BlockState::Good => "as written".to_owned(),
        BlockState::Overwritten { distance } => {
            format!("overwritten with data from {distance} further on")
        }
        BlockState::Lost => "lost: contains nothing of what was written".to_owned(),
        BlockState::Damaged => "corrupted: the right block with wrong bytes".to_owned(),
        BlockState::Unreadable => "unreadable".to_owned(),
        BlockState::Unwritable => "unwritable".to_owned(),
    }
}

pub(in crate::text) fn missing_memory(capacity: Capacity) -> String {
    match capacity {
        Capacity::Wraps { real } => {
            format!("no memory: what is written here replaces the first {real}")
        }
        Capacity::Ends { .. } | Capacity::AsClaimed => {
            "no memory: what is written here is lost".to_owned()
        }
    }
}

pub(in crate::text) fn real_share(percent: &str) -> String {
    format!("Only {percent}% of the claimed capacity exists")
}

pub(in crate::text) fn claimed_addresses(claimed: Bytes) -> String {
    format!("Addresses from the beginning to the claimed end at {claimed}.")
}

pub(in crate::text) fn exists(real: Bytes) -> String {
    format!("{real} exist")
}

pub(in crate::text) fn does_not_exist(missing: Bytes) -> String {
    format!("{missing} do not exist")
}

pub(in crate::text) fn verification_of(target: &str) -> String {
    format!("verify of {target}")
}

pub(in crate::text) fn free_space_at(directory: &str) -> String {
    format!("free space at {directory}")
}
