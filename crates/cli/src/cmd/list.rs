//! `hakaru list`: lists stored runs and verifications.

use super::unreadable::Unreadable;
use super::{print, terminal_width};
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_model::integrity::Verification;
use hakaru_report::ListedRun;
use hakaru_store::{Filter, RunRow, Store};
use std::path::Path;

/// Arguments of `hakaru list`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Show only targets whose name contains TEXT
    #[arg(long, value_name = "TEXT")]
    target: Option<String>,
    /// Show at most N runs
    #[arg(long, short = 'n', value_name = "N", default_value_t = 30)]
    limit: u32,
    /// Print JSON, one object per line
    #[arg(long)]
    json: bool,
}

/// Prints one line per run.
pub(crate) fn main(args: &ListArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read(db)?;
    let filter = Filter {
        target: args.target.clone(),
        limit: Some(args.limit),
        ..Filter::default()
    };
    let rows = store.runs(&filter)?;
    if args.json {
        let lines = rows.iter().map(|row| json(row).to_string() + "\n");
        print(&lines.collect::<String>())?;
        return Ok(Exit::Ok);
    }
    let mut unreadable = Unreadable::default();
    let verifications = verifications(&store, args, &mut unreadable)?;
    if rows.is_empty() && verifications.is_empty() {
        // Distinguish a filter without matches from an empty database.
        print(match store.count()? {
            0 => "No runs are stored yet; create one with `hakaru bench`.\n",
            _ => "No stored run matches; `hakaru list` shows the latest runs.\n",
        })?;
        return Ok(unreadable.exit());
    }
    let runs = rows.iter().map(run).collect();
    // Do not wrap lines that go to a file.
    let width = terminal_width().unwrap_or(usize::MAX);
    let text = hakaru_report::list_terminal(runs, verifications, width, true);
    print(&text)?;
    Ok(unreadable.exit())
}

fn run(row: &RunRow) -> ListedRun {
    ListedRun {
        id: row.short.clone(),
        started_unix_ms: row.started_unix_ms,
        number: row.repeat + 1,
        scenario: row.scenario.clone(),
        outcome: row.outcome.name(),
        target: row.target.clone(),
    }
}

/// The verifications of targets with the wanted name, newest first.
fn verifications(
    store: &Store,
    args: &ListArgs,
    unreadable: &mut Unreadable,
) -> Result<Vec<Verification>> {
    let is_wanted = |v: &Verification| {
        let wanted = args.target.as_ref().map(|text| text.to_lowercase());
        let target = hakaru_report::verified_target(v).to_lowercase();
        wanted.is_none_or(|wanted| target.contains(&wanted))
    };
    let mut found = unreadable.skip("verification", store.verifications(u32::MAX)?);
    found.retain(is_wanted);
    found.truncate(args.limit as usize);
    Ok(found)
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
