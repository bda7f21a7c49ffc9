//! `hakaru show`: one stored run, or a series.

use super::{print, width};
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use std::path::Path;

/// Which one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Id of a run, or enough of its beginning; `latest` for the newest
    run: String,
    /// The raw record as JSON
    #[arg(long)]
    json: bool,
    /// All repeats of its series together
    #[arg(long)]
    series: bool,
}

/// Prints it.
pub(crate) fn main(args: &Args, db: Option<&Path>) -> Result<Exit> {
    let store = place::open(db)?;
    let records = super::report::find(&store, &args.run, args.series)?;
    if args.json {
        let text = match &records[..] {
            [only] if !args.series => serde_json::to_string_pretty(only)?,
            all => serde_json::to_string_pretty(all)?,
        };
        print(&(text + "\n"))?;
        return Ok(Exit::Ok);
    }
    let summary = hakaru_analysis::summarize(&records);
    print(&hakaru_report::terminal_with(&summary, &super::findings(&summary), width(), true))?;
    Ok(Exit::Ok)
}
