//! The list of stored runs and verifications for a terminal.

use crate::document::{Document, DocumentBlock, TableStyle};
use crate::table::DataTable;
use crate::time;
use crate::verified::verified_target;
use hakaru_model::integrity::Verification;

/// A run in a list.
#[derive(Clone, Debug)]
pub struct ListedRun {
    /// Its shortest unique ID.
    pub id: String,
    /// Start of the run in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// Number in its series, from 1.
    pub number: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// How it ended.
    pub outcome: &'static str,
    /// Name of the target; may be empty.
    pub target: String,
}

/// Renders runs and verifications, one line each, for a terminal of `width` columns; `color` allows ANSI styles.
pub fn list_terminal(
    runs: Vec<ListedRun>,
    verifications: Vec<Verification>,
    width: usize,
    color: bool,
) -> String {
    let runs = DataTable::new(
        ["RUN", "STARTED (UTC)", "#", "SCENARIO", "OUTCOME", "TARGET"],
        runs.into_iter().map(run),
    );
    let verifications = DataTable::new(
        ["VERIFICATION", "STARTED (UTC)", "OUTCOME", "TARGET"],
        verifications.iter().map(verification),
    );
    let tables = [runs, verifications].map(DataTable::nonempty);
    let blocks = tables.into_iter().flatten();
    let blocks = blocks.map(|table| DocumentBlock::Table(TableStyle::Words, table));
    let document = Document {
        blocks: blocks.collect(),
        ..Document::default()
    };
    document.terminal(width, color)
}

fn run(run: ListedRun) -> Vec<String> {
    let target = Some(run.target).filter(|target| !target.is_empty());
    vec![
        run.id,
        started(run.started_unix_ms),
        run.number.to_string(),
        run.scenario,
        run.outcome.to_owned(),
        target.unwrap_or("–".to_owned()),
    ]
}

fn verification(of: &Verification) -> Vec<String> {
    let outcome = match (of.verdict.has_defects(), of.completed) {
        (true, _) => "defects",
        (false, true) => "good",
        (false, false) => "ended early",
    };
    vec![
        of.id.clone(),
        started(of.started_unix_ms),
        outcome.to_owned(),
        verified_target(of),
    ]
}

fn started(unix_ms: i64) -> String {
    let text = time::utc(unix_ms);
    text.trim_end_matches(" UTC").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, target: &str) -> ListedRun {
        ListedRun {
            id: id.to_owned(),
            started_unix_ms: 1_767_607_200_000,
            number: 1,
            scenario: "quick".to_owned(),
            outcome: "completed",
            target: target.to_owned(),
        }
    }

    #[test]
    fn a_list_fits_its_terminal() {
        let runs = vec![
            run("019b8d5e", "SanDisk SE32G in a reader with a long name"),
            run("019b8d5f", "\u{1b}[2J"),
            run("019b8d60", ""),
        ];
        insta::assert_snapshot!(list_terminal(runs.clone(), Vec::new(), usize::MAX, false), @r"
        RUN       STARTED (UTC)        #  SCENARIO  OUTCOME    TARGET
        019b8d5e  2026-01-05 10:00:00  1  quick     completed  SanDisk SE32G in a reader with a long name
        019b8d5f  2026-01-05 10:00:00  1  quick     completed  �[2J
        019b8d60  2026-01-05 10:00:00  1  quick     completed  –
        ");
        insta::assert_snapshot!(list_terminal(runs, Vec::new(), 80, false), @r"
        RUN       STARTED (UTC)        #  SCENARIO  OUTCOME    TARGET
        019b8d5e  2026-01-05 10:00:00  1  quick     completed  SanDisk SE32G in a reader
                                                               with a long name
        019b8d5f  2026-01-05 10:00:00  1  quick     completed  �[2J
        019b8d60  2026-01-05 10:00:00  1  quick     completed  –
        ");
    }
}
