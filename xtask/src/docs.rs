//! `cargo xtask docs`: pages that are written by the program itself, so that they cannot tell anything else than it.

use crate::workspace;
use anyhow::{Context, Result, bail};
use hakaru_dialects::{fio, iozone};

/// A page and what it must hold.
type Page = (&'static str, fn() -> String);

const PAGES: &[Page] = &[
    ("docs/COMPATIBILITY.md", compatibility),
    ("docs/fio.1", fio::man_page),
    ("docs/iozone.1", iozone::man_page),
];

/// Both dialects, one behind the other.
fn compatibility() -> String {
    fio::compatibility_markdown() + "\n" + &iozone::compatibility_markdown()
}

/// Writes every page, or with `--check` only compares.
///
/// # Errors
/// When a page cannot be written, or with `--check` is not what it must be.
pub(crate) fn main(args: &[String]) -> Result<()> {
    match args {
        [] => write(),
        [check] if check == "--check" => self::check(),
        _ => bail!("{} is not known; there is --check", args.join(" ")),
    }
}

fn write() -> Result<()> {
    for (path, text) in PAGES {
        std::fs::write(workspace::root().join(path), text())
            .with_context(|| format!("cannot write {path}"))?;
        println!("written: {path}");
    }
    Ok(())
}

/// Compares every page with what it must be.
///
/// # Errors
/// Names the pages that are out of date.
pub(crate) fn check() -> Result<()> {
    let is_fresh =
        |path: &str, text: &fn() -> String| workspace::read(path).is_ok_and(|page| page == text());
    let stale = PAGES.iter().filter(|(path, text)| !is_fresh(path, text));
    let stale: Vec<&str> = stale.map(|(path, _)| *path).collect();
    if !stale.is_empty() {
        bail!(
            "out of date: {}; write them anew with cargo xtask docs",
            stale.join(", ")
        );
    }
    Ok(())
}
