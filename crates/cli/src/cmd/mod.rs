//! The subcommands.

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
pub(crate) mod history;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod iozone;
pub(crate) mod json;
pub(crate) mod link;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod prepare;
pub(crate) mod rank;
pub(crate) mod recover;
pub(crate) mod reference;
pub(crate) mod relabel;
pub(crate) mod report;
pub(crate) mod show;
pub(crate) mod unreadable;
pub(crate) mod verify;

use hakaru_model::advice::{RunFindings, UseRule};
use hakaru_model::finding::Summary;
use hakaru_model::record::RunRecord;
use hakaru_model::references::ReferenceSet;
use hakaru_model::units::{Bytes, SizeSuffixes, parse_size};
use hakaru_store::Store;
use std::io::Write;

/// Writes to standard output. A closed pipe is an error that ends the program without a message.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// What a message counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountedNoun {
    Card,
    Chart,
    Figure,
    Record,
    Result,
    Run,
    Series,
    Verification,
}

/// Formats a count, such as `1 run` or `12 runs`.
pub(crate) fn counted(count: usize, what: CountedNoun) -> String {
    let s = if count == 1 { "" } else { "s" };
    match what {
        CountedNoun::Card => both!("{count} card{s}", "カード{count}枚"),
        CountedNoun::Chart => both!("{count} chart{s}", "グラフ{count}件"),
        CountedNoun::Figure => both!("{count} figure{s}", "値{count}件"),
        CountedNoun::Record => both!("{count} record{s}", "記録{count}件"),
        CountedNoun::Result => both!("{count} result{s}", "結果{count}件"),
        CountedNoun::Run => both!("{count} run{s}", "測定{count}回"),
        CountedNoun::Series => both!("{count} series", "測定シリーズ{count}件"),
        CountedNoun::Verification => both!("{count} verification{s}", "検証{count}件"),
    }
}

/// Parses a size argument such as `4GiB`.
pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    parse_size(text, SizeSuffixes::Iec).map_err(|error| error.to_string())
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

/// Summarizes the runs of a series, with its title and note.
pub(crate) fn summarize(store: &Store, records: &[RunRecord]) -> anyhow::Result<Summary> {
    let mut summary = hakaru_analysis::summarize(records);
    summary.annotations = store.annotations(&summary.series)?;
    Ok(summary)
}

/// Evaluates a summary with the built-in rules, and compares it with the reference results.
pub(crate) fn findings(summary: &Summary, references: &ReferenceSet) -> RunFindings {
    findings_by(summary, references, &hakaru_analysis::default_rules())
}

/// Like [`findings`], with other rules.
pub(crate) fn findings_by(
    summary: &Summary,
    references: &ReferenceSet,
    rules: &[UseRule],
) -> RunFindings {
    let mut found = hakaru_analysis::findings(summary, rules);
    found.standings = hakaru_analysis::standings(summary, references);
    found
}
