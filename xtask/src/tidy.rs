//! `cargo xtask tidy`: project rules that the compiler does not check.
//!
//! Each rule is a function that returns its findings; nothing is fixed automatically. Counts in `xtask/ratchet.toml`
//! may only fall.

mod features;
mod japanese;
mod layers;
mod manifests;
mod readme;
mod scan;
mod sources;
mod untranslated;
mod words;

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::fmt;
use std::process::Command;

/// One violation of a rule: location, and how to fix it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    place: String,
    what: String,
}

impl Problem {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Problem {
        Problem {
            place: place.into(),
            what: what.into(),
        }
    }

    /// A violation in a file, at a line counted from 1.
    fn at(path: &str, line: usize, what: impl Into<String>) -> Problem {
        Problem::new(format!("{path}:{line}"), what)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// A text file of the workspace.
pub(crate) struct TextFile {
    /// Path relative to the workspace directory, with slashes.
    path: String,
    text: String,
}

impl TextFile {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }
}

/// Checks all rules and prints the violations.
///
/// # Errors
/// If a rule is violated, or the workspace cannot be read.
pub(crate) fn main(_args: &[String]) -> Result<()> {
    let files = text_files()?;
    let metadata = layers::metadata()?;
    let mut problems = layers::check(&metadata);
    problems.extend(layers::check_restricted(&metadata));
    problems.extend(manifests::check(&files));
    problems.extend(features::check()?);
    problems.extend(sources::check(&files));
    problems.extend(sources::check_ratchets(&files)?);
    problems.extend(words::check(&files));
    problems.extend(readme::check(&files));
    problems.extend(japanese::check(&files));
    for problem in &problems {
        eprintln!("{problem}");
    }
    if !problems.is_empty() {
        bail!("{} project rules are broken", problems.len());
    }
    println!(
        "tidy: {} files, {} crates",
        files.len(),
        layers::LAYER_RULES.len()
    );
    Ok(())
}

/// All text files that are, or are about to be, under version control.
fn text_files() -> Result<Vec<TextFile>> {
    let mut git = Command::new("git");
    git.current_dir(workspace::root()).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]);
    let list =
        workspace::output(&mut git).context("tidy asks git which files belong to the workspace")?;
    let mut paths: Vec<&str> = list.split('\0').filter(|path| !path.is_empty()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        // Skips files that are deleted but not yet committed, and binary files.
        let Ok(bytes) = std::fs::read(workspace::root().join(path)) else {
            continue;
        };
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        files.push(TextFile {
            path: path.to_owned(),
            text,
        });
    }
    Ok(files)
}
