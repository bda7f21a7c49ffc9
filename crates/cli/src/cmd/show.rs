//! `hakaru show`: shows one stored run, a series, a verification, or an anatomy.

use super::unreadable::Unreadable;
use super::{json, print, width};
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_dialects::fio::JobExtras;
use hakaru_dialects::fio::output::{RunView, normal};
use hakaru_model::record::{Origin, RunRecord};
use hakaru_model::references::ReferenceSet;
use hakaru_results::lookup::{AnnotatedResult, record_json};
use hakaru_store::Store;
use std::path::Path;

/// Arguments of `hakaru show`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Label, run id or a unique prefix; `latest` for the newest run, `latest:2` for the series before
    run: String,
    /// Print the raw record as JSON
    #[arg(long)]
    json: bool,
    /// Print the run as the output of another program; imported fio results keep every figure
    #[arg(long, value_parser = ["fio"], conflicts_with = "json")]
    format: Option<String>,
    /// Show all repeats of the series together
    #[arg(long)]
    series: bool,
}

/// Prints the record.
pub(crate) fn main(args: &ShowArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read(db)?;
    if let Some(verification) = place::verification(&store, &args.run)? {
        let annotations = store.annotations(&verification.id)?;
        print(&match args.json {
            true => {
                let raw = store.raw_verification(&verification.id)?;
                json::text(json::VERIFICATION, &AnnotatedResult::new(&raw, annotations))?
            }
            false => {
                hakaru_report::verification_terminal(&verification, &annotations, width(), true)
            }
        })?;
        return Ok(Exit::Ok);
    }
    if let Some(record) = hakaru_results::lookup::only_anatomy(&store, &args.run)? {
        super::anatomy::print_stored(&store, &record, args.json)?;
        return Ok(Exit::Ok);
    }
    let mut unreadable = Unreadable::default();
    let found = place::readable_runs(&store, &args.run, args.series)?;
    let records = unreadable.skip_some("run", found)?;
    if args.json {
        print(&records_json(&store, &records, args.series)?)?;
    } else if args.format.is_some() {
        for record in &records {
            print(&line_by_line(&as_fio(record)))?;
        }
    } else {
        let summary = super::summarize(&store, &records)?;
        let mut findings = super::findings(&summary, &super::reference::load(&store));
        // Suitability is that of the whole series, so that each command prints the same verdict.
        if !args.series
            && let Some(first) = records.first()
        {
            let series =
                unreadable.skip_some("run", place::readable_runs(&store, &first.id, true)?)?;
            let series = hakaru_analysis::summarize(&series);
            findings.advice = super::findings(&series, &ReferenceSet::default()).advice;
        }
        let text = hakaru_report::terminal_with(&summary, &findings, width(), true);
        print(&text)?;
    }
    Ok(unreadable.exit())
}

/// Formats one record as an object, and the runs of a series as a list of objects.
fn records_json(store: &Store, records: &[RunRecord], series: bool) -> Result<String> {
    let mut texts = Vec::new();
    for record in records {
        texts.push(record_json(store, record)?);
    }
    Ok(match (&texts[..], series) {
        ([only], false) => only.clone(),
        _ => format!("[\n{}]\n", texts.join(",\n")),
    })
}

/// Formats a record as fio would print it.
fn as_fio(record: &RunRecord) -> String {
    if let Origin::Imported {
        program, reported, ..
    } = &record.origin
        && reported.blocks.iter().any(|block| block.name == "report")
    {
        return hakaru_dialects::import::fio::print(reported, program);
    }
    let jobs = record
        .scenario
        .phases
        .iter()
        .map(|phase| vec![JobExtras::default(); phase.jobs.len()]);
    let extras: Vec<Vec<JobExtras>> = jobs.collect();
    let mut view = RunView::of(
        hakaru_dialects::fio::VERSION,
        &record.scenario,
        &extras,
        &record.phases,
    );
    view.shown_unix_ms = record.started_unix_ms;
    normal(&view)
}

/// Removes control characters from each line: names in a result are untrusted, and a terminal would execute escape
/// sequences in them.
fn line_by_line(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => hakaru_report::plain(line) + "\n",
            None => hakaru_report::plain(line),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_stranger_commands_the_terminal() {
        let lines = line_by_line("evil\u{1b}]0;x\u{7}: (groupid=0)\r\n\n  write: IOPS=1");
        assert_eq!(
            lines,
            "evil\u{fffd}]0;x\u{fffd}: (groupid=0)\u{fffd}\n\n  write: IOPS=1"
        );
    }
}
