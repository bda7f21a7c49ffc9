//! `hakaru list`: lists stored runs and verifications.

use super::unreadable::Unreadable;
use super::{print, terminal_width};
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_model::integrity::{Scope, Verification};
use hakaru_report::{plain, wrapped};
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
        print(
            &rows
                .iter()
                .map(|row| json(row).to_string() + "\n")
                .collect::<String>(),
        )?;
        return Ok(Exit::Ok);
    }
    let mut unreadable = Unreadable::default();
    let verified = verifications(&store, args, &mut unreadable)?;
    if rows.is_empty() && verified.is_empty() {
        // Distinguish a filter without matches from an empty database.
        let any = !store
            .runs(&Filter {
                limit: Some(1),
                ..Filter::default()
            })?
            .is_empty();
        print(match any {
            true => "No stored run matches; `hakaru list` shows the latest runs.\n",
            false => "No runs are stored yet; create one with `hakaru bench`.\n",
        })?;
        return Ok(unreadable.exit());
    }
    if rows.is_empty() {
        return print(&verified).map(|()| unreadable.exit());
    }
    let mut text = runs(&rows, terminal_width());
    if !verified.is_empty() {
        text += &format!("\n{verified}");
    }
    print(&text)?;
    Ok(unreadable.exit())
}

/// Formats one line per run below a header; two lines per run if the terminal is too narrow.
fn runs(rows: &[RunRow], width: Option<usize>) -> String {
    let line = |cells: [&str; 6]| {
        let [run, started, repeat, scenario, outcome, target] = cells;
        format!("{run:<14} {started:<20} {repeat:>3} {scenario:<18} {outcome:<12} {target}")
    };
    let started = |row: &RunRow| {
        hakaru_report::time::utc(row.started_unix_ms)
            .trim_end_matches(" UTC")
            .to_owned()
    };
    let of = |row: &RunRow| {
        let (number, target) = (
            (row.repeat + 1).to_string(),
            plain(if row.target.is_empty() {
                "–"
            } else {
                &row.target
            }),
        );
        line([
            &row.short,
            &started(row),
            &number,
            &plain(&row.scenario),
            row.outcome.name(),
            &target,
        ])
    };
    let lines: Vec<String> = rows.iter().map(of).collect();
    let widest = lines
        .iter()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0);
    let Some(width) = width.filter(|&width| width < widest) else {
        let head = line(["RUN", "STARTED (UTC)", "#", "SCENARIO", "OUTCOME", "TARGET"]);
        return format!("{head}\n{}\n", lines.join("\n"));
    };
    let narrow = |row: &RunRow| {
        let target = if row.target.is_empty() {
            String::new()
        } else {
            format!(" on {}", plain(&row.target))
        };
        let what = format!("{} #{}{target}", plain(&row.scenario), row.repeat + 1);
        // To the minute, so that the line fits into 40 columns.
        let started: String = started(row).chars().take(16).collect();
        let first = format!("{}  {started}  {}", row.short, row.outcome.name());
        format!(
            "{}\n{}\n",
            wrapped("", &first, width),
            wrapped("  ", &what, width)
        )
    };
    format!(
        "Started at (UTC):\n{}",
        rows.iter().map(narrow).collect::<String>()
    )
}

/// Formats verifications, one per line.
fn verifications(store: &Store, args: &ListArgs, unreadable: &mut Unreadable) -> Result<String> {
    let target = |v: &Verification| match &v.scope {
        Scope::FreeSpace { folder } => format!("free space at {}", folder.display()),
        _ => v.target.display_name(),
    };
    let named = |v: &Verification| {
        args.target
            .as_ref()
            .is_none_or(|text| target(v).to_lowercase().contains(&text.to_lowercase()))
    };
    let found = unreadable.skip("verification", store.verifications(u32::MAX)?);
    let line = |v: &Verification| {
        let outcome = match (v.verdict.has_defects(), v.completed) {
            (true, _) => "defects",
            (false, true) => "good",
            (false, false) => "ended early",
        };
        let started = hakaru_report::time::utc(v.started_unix_ms);
        let started = started.trim_end_matches(" UTC");
        let target = plain(&target(v));
        match terminal_width().filter(|&width| width < 72 + target.chars().count()) {
            None => format!("{:<37} {started:<20} {outcome:<12} {target}\n", v.id),
            Some(width) => format!(
                "{}\n{}\n",
                v.id,
                wrapped("  ", &format!("{started}  {outcome}  {target}"), width)
            ),
        }
    };
    let lines: String = found
        .iter()
        .filter(|v| named(v))
        .take(args.limit as usize)
        .map(line)
        .collect();
    let head = match terminal_width().is_some_and(|width| width < 80) {
        false => format!(
            "{:<37} {:<20} {:<12} {}\n",
            "VERIFICATION", "STARTED (UTC)", "OUTCOME", "TARGET"
        ),
        true => "Verifications, started at (UTC):\n".to_owned(),
    };
    Ok(if lines.is_empty() {
        lines
    } else {
        head + &lines
    })
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
