//! Heat maps of latency over time.

use super::counted;
use crate::number;
use hakaru_model::finding::SlowWhen;

/// An I/O or a flush.
pub(super) fn noun(sync: bool) -> &'static str {
    match sync {
        true => "fsync",
        false => "I/O",
    }
}

/// A workload, or its flushes.
pub(super) fn of_syncs(work: &str, sync: bool) -> String {
    match sync {
        true => format!("fsync of {work}"),
        false => work.to_owned(),
    }
}

/// When slow I/Os ended, after a comma; empty if anywhere.
pub(super) fn slow_when(when: SlowWhen, count: u64) -> String {
    let seconds = |s: f64| format!("{} s", number::significant(s));
    let all = if count == 1 { "" } else { "all " };
    match when {
        SlowWhen::At(s) => format!(", {all}at {}", seconds(s)),
        SlowWhen::After(s) => format!(", {all}after {}", seconds(s)),
        SlowWhen::Before(s) => format!(", {all}before {}", seconds(s)),
        SlowWhen::Throughout => ", throughout the run".to_owned(),
        SlowWhen::Scattered => String::new(),
    }
}

pub(in crate::text) fn heat_note(runs: u64, slow: Option<&str>) -> String {
    let runs = match runs {
        0 | 1 => String::new(),
        runs => format!(", {} together", counted(runs, "run")),
    };
    let line = match slow {
        Some(slow) => format!(" Above the dashed line: {slow} or longer."),
        None => String::new(),
    };
    format!(
        "Latency, logarithmic, over time{runs}. Shade: share of the I/Os that ended at that time.{line}"
    )
}

pub(in crate::text) fn heat_shares() -> [&'static str; 5] {
    ["< 0.1%", "< 1%", "< 10%", "< 50%", "50% and more"]
}

pub(in crate::text) fn latency_from(latency: &str) -> String {
    format!("{latency} or longer")
}

pub(in crate::text) fn heat_heads() -> [&'static str; 4] {
    ["Seconds", "I/Os", "Median", "Longest"]
}

pub(in crate::text) fn heat_maps() -> &'static str {
    "Latency over time, as heat maps"
}
