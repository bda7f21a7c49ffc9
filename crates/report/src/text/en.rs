//! English: the consequence first, then the figure, then what to do.
//!
//! Caveats begin with a capital letter and have no full stop; verdicts, conditions and help are in lower case.

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
mod rounds;
mod statistics;
mod steps;
mod summary;
mod tables;
mod verdicts;
mod verified;

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

use crate::number;
use crate::text::MessagePrefix;

pub(in crate::text) fn all_phases() -> &'static str {
    "All phases"
}

pub(in crate::text) fn some_phases(n: usize, of: usize) -> String {
    format!("{n} of {} phases", of.max(n))
}

/// A count with its noun, whose plural ends in `s`: `1 run`, `3 runs`, `1,024 runs`.
fn counted(n: u64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{} {noun}s", number::grouped(n)),
    }
}

/// A number of times: `once`, `twice`, `3 times`.
fn times(n: u32) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{} times", number::grouped(u64::from(n))),
    }
}

/// A list of items: `a`, `a and b`, `a, b and c`.
fn listed(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.split_last() {
        None => String::new(),
        Some((only, [])) => (*only).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

pub(in crate::text) fn span(low: &str, high: &str) -> String {
    match low == high {
        true => low.to_owned(),
        false => format!("{low} to {high}"),
    }
}

pub(in crate::text) fn prefix(prefix: MessagePrefix) -> &'static str {
    match prefix {
        MessagePrefix::Error => "error",
        MessagePrefix::Cause => "cause",
        MessagePrefix::Help => "help",
        MessagePrefix::Warning => "warning",
        MessagePrefix::Note => "note",
    }
}
