//! Summaries of stored runs, and the findings about them.

use hakaru_model::advice::{RunFindings, UseRule};
use hakaru_model::finding::Summary;
use hakaru_model::record::RunRecord;
use hakaru_model::references::ReferenceSet;
use hakaru_store::{Store, StoreError};

/// Summarizes the runs of a series, with its title and note.
///
/// # Errors
/// If the database cannot be read.
pub fn summarize(store: &Store, records: &[RunRecord]) -> Result<Summary, StoreError> {
    let mut summary = hakaru_analysis::summarize(records);
    summary.annotations = store.annotations(&summary.series)?;
    Ok(summary)
}

/// Evaluates a summary with the built-in rules, and compares it with the reference results.
pub fn findings(summary: &Summary, references: &ReferenceSet) -> RunFindings {
    findings_by(summary, references, &hakaru_analysis::default_rules())
}

/// Like [`findings`], with other rules.
pub fn findings_by(summary: &Summary, references: &ReferenceSet, rules: &[UseRule]) -> RunFindings {
    let mut found = hakaru_analysis::findings(summary, rules);
    found.standings = hakaru_analysis::standings(summary, references);
    found
}
