//! Sides of a comparison: runs from the database or from files.

use crate::cmd::unreadable::Unreadable;
use crate::imports;
use crate::place;
use anyhow::Result;
use hakaru_model::finding::Summary;
use hakaru_model::record::RunRecord;
use hakaru_report::text::{self, MessagePrefix};
use hakaru_results::sides::ResultSource;
pub(crate) use hakaru_results::sides::{NamedJobs, number_jobs, summarized};
use std::path::Path;

/// Reads and summarizes the sides, and prints the notes about their names.
pub(crate) fn sides(words: &[String], db: Option<&Path>) -> Result<Vec<Summary>> {
    with_notes(db, |source| source.sides(words))
}

/// Returns the runs that these words choose, as those of one side; all completed runs without words.
pub(crate) fn chosen(words: &[String], db: Option<&Path>) -> Result<Vec<RunRecord>> {
    with_notes(db, |source| source.chosen(words))
}

/// Reads from files and from the database, and prints the notes about names.
fn with_notes<T>(
    db: Option<&Path>,
    read: impl FnOnce(&mut ResultSource<'_>) -> Result<T>,
) -> Result<T> {
    let open = || place::read(db);
    let mut source = ResultSource::with_files(&open, &imports::records_in);
    let found = read(&mut source);
    print_notes(&mut source);
    found
}

/// Prints what was noticed while results were read.
pub(crate) fn print_notes(source: &mut ResultSource<'_>) {
    let mut unreadable = Unreadable::default();
    for (id, error) in std::mem::take(&mut source.unreadable) {
        unreadable.name("run", &id, error);
    }
    for note in &source.notes {
        anstream::eprintln!("{}: {note}", text::prefix(MessagePrefix::Note));
    }
}
