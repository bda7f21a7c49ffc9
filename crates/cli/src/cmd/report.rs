//! `hakaru report`: pages from the store alone.

use super::print;
use crate::exit::Exit;
use crate::place;
use anyhow::{Context, Result, bail};
use hakaru_model::advice::Findings;
use hakaru_model::finding::Summary;
use hakaru_model::record::RunRecord;
use hakaru_store::Store;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What to report, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ids of runs (or enough of their beginnings), each with all repeats of its series; `latest` for the newest
    #[arg(required = true)]
    runs: Vec<String>,
    /// Form of the report
    #[arg(long, default_value = "html", value_parser = ["html", "markdown", "csv"])]
    format: String,
    /// Where to; `-` for standard output [default: HTML beside the database, others to standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The run of that name, or the whole series it belongs to.
pub(crate) fn find(store: &Store, name: &str, series: bool) -> Result<Vec<RunRecord>> {
    let one = if name == "latest" {
        store.latest()?.context("no runs are stored yet: `hakaru bench` makes one")?
    } else {
        store.run(name)?
    };
    if series { Ok(store.series(&one.series)?) } else { Ok(vec![one]) }
}

fn summaries(store: &Store, names: &[String]) -> Result<Vec<Summary>> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for name in names {
        let records = find(store, name, true)?;
        if records.first().is_some_and(|first| seen.insert(first.series.clone())) {
            all.push(hakaru_analysis::summarize(&records));
        }
    }
    Ok(all)
}

/// Writes it.
pub(crate) fn main(args: &Args, db: Option<&Path>) -> Result<Exit> {
    let store = place::open(db)?;
    let summaries = summaries(&store, &args.runs)?;
    let findings: Vec<Findings> = {
        let shelf = super::shelf::load(&store);
        summaries.iter().map(|summary| super::findings(summary, &shelf)).collect()
    };
    let text = match args.format.as_str() {
        "markdown" => hakaru_report::markdown_with(&summaries, &findings),
        "csv" => hakaru_report::csv_with(&summaries, &findings),
        _ => hakaru_report::html_with(&summaries, &findings),
    };
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    if to_stdout || args.output.is_none() && args.format != "html" {
        print(&text)?;
        return Ok(Exit::Ok);
    }
    let Some(first) = summaries.first() else { bail!("no runs were named") };
    let path = place::write_report(&store, args.output.as_deref(), &first.series, &text)?;
    print(&format!("{}\n", path.display()))?;
    Ok(Exit::Ok)
}
