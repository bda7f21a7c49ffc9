//! `hakaru history`: every run, verification and anatomy of one card over time, and signs of wear.

use super::report::{Form, no_table};
use super::unreadable::Unreadable;
use super::{json, print, width};
use crate::exit::Exit;
use crate::place;
use crate::sides;
use anyhow::{Result, bail};
use hakaru_results::history::of_card;
use hakaru_results::sides::ResultSource;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru history`.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// CID, serial number, world-wide name, model or label of the card, as `hakaru list` shows it
    #[arg(value_name = "CARD")]
    card: String,
    /// Write the history to FILE: HTML, or by its suffix Markdown (.md) or text (.txt); `-` for HTML on standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the history as JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

/// Prints the history of a card.
pub(crate) fn main(args: &HistoryArgs, db: Option<&Path>) -> Result<Exit> {
    let mut unreadable = Unreadable::default();
    let store = place::read(db)?;
    let verifications = unreadable.skip("verification", store.verifications(u32::MAX)?);
    let anatomies = unreadable.skip("anatomy", store.anatomies(u32::MAX)?);
    let mut source = ResultSource::of_store(&store);
    let found = of_card(&mut source, &args.card, verifications, anatomies);
    sides::print_notes(&mut source);
    let mut found = found?;
    sides::number_jobs(&mut found.records, &mut Vec::new());
    let history = hakaru_analysis::history(&found.records, &found.verifications, &found.anatomies);
    if args.json {
        json::print(json::HISTORY, &history)?;
        return Ok(unreadable.exit());
    }
    let Some(path) = &args.output else {
        print(&hakaru_report::history_terminal(&history, width(), true))?;
        return Ok(unreadable.exit());
    };
    let page = match Form::of(None, Some(path)) {
        Form::Html => hakaru_report::history_html(&history),
        Form::Markdown => hakaru_report::history_markdown(&history),
        Form::Terminal => hakaru_report::history_terminal(&history, width(), false),
        Form::Csv | Form::Parquet => bail!(no_table()),
    };
    if place::is_stdout(Some(path)) {
        print(&page)?;
    } else {
        place::write_page(path, page.as_bytes())?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(unreadable.exit())
}
