//! English: the consequence first, then the figure, then what to do.
//!
//! Caveats begin with a capital letter and have no full stop; verdicts, conditions and help are in lower case.

mod campaign;
mod caveats;
mod claims;
mod facts;
mod failures;
mod layout;
mod lint;
mod path;
mod steps;
mod summary;
mod verdicts;

pub use campaign::*;
pub(crate) use caveats::*;
pub use claims::*;
pub(crate) use facts::*;
pub use failures::*;
pub(crate) use layout::*;
pub use lint::*;
pub(crate) use path::*;
pub use steps::*;
pub(crate) use summary::*;
pub(crate) use verdicts::*;

use crate::number;

/// Text in place of the names if a finding concerns every phase.
pub(super) fn all_phases() -> &'static str {
    "all phases"
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
