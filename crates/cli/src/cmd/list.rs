//! `hakaru list`: what is in the store.

use super::print;
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_store::{Filter, RunRow};
use std::path::Path;

/// Which runs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only targets with this in their name
    #[arg(long, value_name = "TEXT")]
    target: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', default_value_t = 30)]
    limit: u32,
    /// As JSON, one object a line
    #[arg(long)]
    json: bool,
}

/// Prints one line a run.
pub(crate) fn main(args: &Args, db: Option<&Path>) -> Result<Exit> {
    let store = place::open(db)?;
    let filter = Filter { target: args.target.clone(), limit: Some(args.limit), ..Filter::default() };
    let rows = store.runs(&filter)?;
    if args.json {
        print(&rows.iter().map(|row| json(row).to_string() + "\n").collect::<String>())?;
        return Ok(Exit::Ok);
    }
    if rows.is_empty() {
        print("No runs are stored yet: `hakaru bench` makes one.\n")?;
        return Ok(Exit::Ok);
    }
    let mut text =
        format!("{:<14} {:<20} {:>3} {:<18} {:<12} {}\n", "RUN", "STARTED (UTC)", "#", "SCENARIO", "OUTCOME", "TARGET");
    for row in &rows {
        let started = hakaru_report::time::utc(row.started_unix_ms);
        let started = started.trim_end_matches(" UTC");
        text += &format!(
            "{:<14} {:<20} {:>3} {:<18} {:<12} {}\n",
            row.short,
            started,
            row.repeat + 1,
            row.scenario,
            row.outcome.name(),
            row.target
        );
    }
    print(&text)?;
    Ok(Exit::Ok)
}

fn json(row: &RunRow) -> serde_json::Value {
    serde_json::json!({
        "id": row.id,
        "series": row.series,
        "repeat": row.repeat,
        "started_unix_ms": row.started_unix_ms,
        "scenario": row.scenario,
        "target": row.target,
        "origin": row.origin,
        "outcome": row.outcome.name(),
        "ios": row.ios,
        "bytes": row.bytes,
        "errors": row.errors,
        "caveats": row.caveats,
    })
}
