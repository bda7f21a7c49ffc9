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

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_analysis::summarize::reduce;
    use hakaru_model::record::Origin;
    use hakaru_model::reported::ReportedBlock;

    /// Number of printed figures that a record holds.
    fn printed(record: &RunRecord) -> usize {
        match &record.origin {
            Origin::Imported { reported, .. } => {
                reported.blocks.iter().map(ReportedBlock::count).sum()
            }
            Origin::Measured { .. } => 0,
        }
    }

    /// A day of imported runs took 83 MiB in memory, much of it for figures that no comparison shows.
    #[test]
    fn reduced_records_give_the_same_summary() {
        let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/tests/logs");
        let (mut before, mut after) = (0, 0);
        for entry in std::fs::read_dir(logs).unwrap() {
            let path = entry.unwrap().path();
            let Ok(records) = imports::records_in(&path) else {
                continue;
            };
            let mut reduced = records.clone();
            reduced.iter_mut().for_each(reduce);
            assert_eq!(
                summarized(&reduced),
                summarized(&records),
                "{}",
                path.display()
            );
            before += records.iter().map(printed).sum::<usize>();
            after += reduced.iter().map(printed).sum::<usize>();
        }
        assert!(before > 500 && after < before / 4, "{after} of {before}");
    }
}
