//! The subcommands.

pub(crate) mod bench;
pub(crate) mod campaign;
pub(crate) mod compare;
pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod fio;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod iozone;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod prepare;
pub(crate) mod recover;
pub(crate) mod reference;
pub(crate) mod report;
pub(crate) mod show;
pub(crate) mod unreadable;
pub(crate) mod verify;

use hakaru_model::advice::{RunFindings, UseRule};
use hakaru_model::finding::Summary;
use hakaru_model::references::ReferenceSet;
use hakaru_model::units::{Bytes, SizeSuffixes, parse_size};
use std::io::Write;

/// Writes to standard output; a reader that has gone away is an error that ends the program quietly.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// `1 run`, `12 runs`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// `1 figure`, `12 figures`.
pub(crate) fn figures(count: usize) -> String {
    counted(count, "figure")
}

/// Parses a size argument such as `4GiB`.
pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    parse_size(text, SizeSuffixes::Iec).map_err(|error| error.to_string())
}

/// Returns the terminal width; 100 without a terminal.
pub(crate) fn width() -> usize {
    terminal_width().unwrap_or(100)
}

/// Returns the terminal width, if known.
pub(crate) fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|&columns| columns > 0)
}

/// What follows from a summary, by the rules that ship, and where it stands among published figures and the user's own.
pub(crate) fn findings(summary: &Summary, references: &ReferenceSet) -> RunFindings {
    findings_by(summary, references, &hakaru_analysis::default_rules())
}

/// The same by other rules.
pub(crate) fn findings_by(
    summary: &Summary,
    references: &ReferenceSet,
    rules: &[UseRule],
) -> RunFindings {
    let mut found = hakaru_analysis::findings(summary, rules);
    found.standings = hakaru_analysis::standings(summary, references);
    found
}
