//! `hakaru export`: stored records as lines of JSON, for another store or another program.

use super::print;
use crate::exit::Exit;
use crate::place;
use anyhow::{Context, Result};
use hakaru_store::Filter;
use std::path::{Path, PathBuf};

/// Which records, and where to.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ids of runs (or enough of their beginnings); `latest` for the newest [default: all]
    runs: Vec<String>,
    /// All repeats of the series of each run
    #[arg(long)]
    series: bool,
    /// Where to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes them, one a line.
pub(crate) fn main(args: &Args, db: Option<&Path>) -> Result<Exit> {
    let store = place::open(db)?;
    let names: Vec<String> = match args.runs.as_slice() {
        [] => store.runs(&Filter::default())?.into_iter().rev().map(|row| row.id).collect(),
        named => named.to_vec(),
    };
    let mut text = String::new();
    let mut seen = std::collections::BTreeSet::new();
    for name in &names {
        for record in super::report::find(&store, name, args.series)? {
            if seen.insert(record.id.clone()) {
                text += &hakaru_store::export(&record)?;
                text.push('\n');
            }
        }
    }
    match &args.output {
        Some(path) => std::fs::write(path, text).with_context(|| {
            format!("cannot write the records to {}; name another file with --output", path.display())
        })?,
        None => print(&text)?,
    }
    Ok(Exit::Ok)
}
