//! The subcommands.

pub(crate) mod bench;
pub(crate) mod erase;
pub(crate) mod fio;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod report;
pub(crate) mod show;

use std::io::Write;

/// Writes to standard output; a reader that has gone away is an error that ends the program quietly.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Columns of the terminal; 100 where there is none.
pub(crate) fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout());
    size.ok().map(|s| usize::from(s.ws_col)).filter(|&w| w >= 40).unwrap_or(100)
}
