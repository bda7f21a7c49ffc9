//! Japanese: 体言止め or である for verdicts, findings and pages, です・ます for what speaks to a person (`advice`,
//! `answers`, `commands`, `links`).
//!
//! Punctuation is 、。 and full-width （）; a label is followed by `: `. There is no blank between Japanese and Latin
//! letters, and numbers and units are those of English.

mod advice;
mod anatomy;
mod answers;
mod bus;
mod campaign;
mod caveats;
mod chart_labels;
mod charts;
mod claims;
mod commands;
mod conclusion;
mod device;
mod facts;
mod failures;
mod heat;
mod history;
mod hosts;
mod layout;
mod links;
mod lint;
mod method;
mod obstacles;
mod pages;
mod path;
mod path_charts;
mod path_differences;
mod plan;
mod ranks;
mod reasons;
mod rounds;
mod statistics;
mod steps;
mod summary;
mod tables;
mod verdicts;
mod verified;

pub(super) use advice::*;
pub(super) use anatomy::*;
pub(super) use answers::*;
pub(super) use bus::*;
pub(super) use campaign::*;
pub(super) use caveats::*;
pub(super) use chart_labels::*;
pub(super) use charts::*;
pub(super) use claims::*;
pub(super) use commands::*;
pub(super) use conclusion::*;
pub(super) use device::*;
pub(super) use facts::*;
pub(super) use failures::*;
pub(super) use heat::*;
pub(super) use history::*;
pub(super) use hosts::*;
pub(super) use layout::*;
pub(super) use links::*;
pub(super) use lint::*;
pub(super) use method::*;
pub(super) use obstacles::*;
pub(super) use pages::*;
pub(super) use path::*;
pub(super) use path_charts::*;
pub(super) use path_differences::*;
pub(super) use plan::*;
pub(super) use ranks::*;
pub(super) use rounds::*;
pub(super) use statistics::*;
pub(super) use steps::*;
pub(super) use summary::*;
pub(super) use tables::*;
pub(super) use verdicts::*;
pub(super) use verified::*;

use crate::text::MessagePrefix;

pub(in crate::text) fn all_phases() -> &'static str {
    "全フェーズ"
}

pub(in crate::text) fn some_phases(n: usize, of: usize) -> String {
    format!("{}フェーズ中{n}フェーズ", of.max(n))
}

/// A range whose unit stands once: `28.0〜36.0 MB/s`.
pub(in crate::text) fn span(low: &str, high: &str) -> String {
    if low == high {
        return low.to_owned();
    }
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}〜{high}"),
        _ => format!("{low}〜{high}"),
    }
}

/// A list of items: `a、b、c`.
fn listed(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    items.join("、")
}

pub(in crate::text) fn prefix(prefix: MessagePrefix) -> &'static str {
    match prefix {
        MessagePrefix::Error => "エラー",
        MessagePrefix::Cause => "原因",
        MessagePrefix::Help => "対処",
        MessagePrefix::Warning => "警告",
        MessagePrefix::Note => "参考",
    }
}
