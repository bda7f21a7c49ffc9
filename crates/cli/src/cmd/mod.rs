//! The subcommands.

#[cfg(feature = "fleet")]
pub(crate) mod agent;
pub(crate) mod anatomy;
pub(crate) mod archive;
pub(crate) mod bench;
pub(crate) mod campaign;
pub(crate) mod card;
pub(crate) mod charts;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod erase;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod fio;
#[cfg(feature = "fleet")]
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod iozone;
pub(crate) mod json;
pub(crate) mod link;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod predict;
pub(crate) mod prepare;
pub(crate) mod rank;
pub(crate) mod recover;
pub(crate) mod reference;
pub(crate) mod relabel;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod sync;
pub(crate) mod unreadable;
pub(crate) mod verify;
#[cfg(any(test, not(feature = "fleet")))]
pub(crate) mod without_fleet;
#[cfg(not(feature = "fleet"))]
pub(crate) use without_fleet::{agent, fleet};

use hakaru_model::units::{Bytes, SizeError, SizeSuffixes, parse_size};
pub(crate) use hakaru_results::{CountedNoun, counted, findings, findings_by, summarize};
use std::io::Write;

/// Writes to standard output. A closed pipe is an error that ends the program without a message.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Parses a size argument such as `4GiB`.
pub(crate) fn size(text: &str) -> Result<Bytes, SizeError> {
    parse_size(text, SizeSuffixes::Iec)
}

/// Returns the terminal width in columns; 100 without a terminal.
pub(crate) fn width() -> usize {
    terminal_width().unwrap_or(100)
}

/// Returns the terminal width in columns, if known.
pub(crate) fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|&columns| columns > 0)
}
