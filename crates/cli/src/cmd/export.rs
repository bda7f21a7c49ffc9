//! `hakaru export`: writes stored records, verifications and anatomies as JSON lines, for another database or program, or runs as
//! Parquet files.

mod dataset;

use super::unreadable::{self, Unreadable};
use crate::exit::{Exit, NamedPath};
use crate::imports;
use crate::names;
use crate::place;
use anyhow::Result;
use hakaru_model::record::RunRecord;
use hakaru_results::lookup::only_anatomy;
use hakaru_store::{Readable, Store};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Labels, ids of runs, verifications and anatomies, or unique prefixes; `latest` for the newest run [default: all]
    runs: Vec<String>,
    /// Include all repeats of the series of each run
    #[arg(long)]
    series: bool,
    /// Write to FILE; `-` for standard output (the default)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write Parquet files by date and device to DIR, for programs such as DuckDB
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    parquet: Option<PathBuf>,
}

/// Writes the selected records, one per line.
pub(crate) fn main(args: &ExportArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read(db)?;
    let mut unreadable = Unreadable::default();
    if let Some(directory) = &args.parquet {
        dataset::write(args, &store, &mut unreadable, directory)?;
        return Ok(unreadable.exit());
    }
    let path = args.output.as_deref();
    match path.filter(|path| !place::is_stdout(Some(path))) {
        None => {
            let mut out = std::io::BufWriter::new(anstream::stdout().lock());
            write_all(args, &store, &mut unreadable, &mut out)?;
            out.flush()?;
        }
        Some(path) => {
            crate::output::write_with(path, &mut |out| {
                write_all(args, &store, &mut unreadable, out)
            })
            .map_err(|error| match error.downcast::<std::io::Error>() {
                Ok(error) => named_output(error, path),
                Err(error) => error,
            })?;
        }
    }
    Ok(unreadable.exit())
}

fn named_output(error: std::io::Error, path: &Path) -> anyhow::Error {
    let named = Err::<(), _>(error).named(|| {
        both!("cannot write the records to {}; help: name another file with --output", "記録を{}に書き込めません; help: --outputで別のファイルを指定してください"; path.display())
    });
    named
        .err()
        .unwrap_or_else(|| anyhow::anyhow!("{}", path.display()))
}

/// Writes record by record, so that a database of any size needs little memory.
fn write_all(
    args: &ExportArgs,
    store: &Store,
    unreadable: &mut Unreadable,
    out: &mut dyn Write,
) -> Result<()> {
    let (mut verifications, mut anatomies) = (Vec::new(), Vec::new());
    let mut seen = BTreeSet::new();
    for name in &args.runs {
        if let Some(found) = place::readable_verification(store, name)? {
            verifications.splice(0..0, unreadable.skip("verification", found));
            continue;
        }
        if let Some(found) = only_anatomy(store, name)? {
            anatomies.insert(0, found);
            continue;
        }
        for record in unreadable.skip("run", runs(store, name, args.series)?) {
            if seen.insert(record.id.clone()) {
                write_run(store, &record.id, unreadable, out)?;
            }
        }
    }
    if args.runs.is_empty() {
        imports::each_run(store, &mut |id| write_run(store, id, unreadable, out))?;
        verifications = unreadable.skip("verification", store.verifications(u32::MAX)?);
        anatomies = unreadable.skip("anatomy", store.anatomies(u32::MAX)?);
        for id in store.unlisted()? {
            let because = anyhow::anyhow!(both!(
                "cannot rebuild the derived tables of the database",
                "データベースの派生表を再構築できません"
            ));
            unreadable.name("run", &id, because);
        }
    }
    // Oldest first, like the runs.
    for verification in verifications.iter().rev() {
        if seen.insert(verification.id.clone()) {
            let verification = store.raw_verification(&verification.id)?;
            let line = hakaru_store::export_verification(&verification)?;
            let annotations = store.annotations(&verification.id)?;
            let line = hakaru_store::with_annotations(line, &annotations);
            writeln!(out, "{line}")?;
        }
    }
    for anatomy in anatomies.iter().rev() {
        if seen.insert(anatomy.id.clone()) {
            writeln!(out, "{}", imports::anatomy_line(store, &anatomy.id)?)?;
        }
    }
    Ok(())
}

/// Writes a run as it was measured; labels given later are beside the record.
fn write_run(
    store: &Store,
    id: &str,
    unreadable: &mut Unreadable,
    out: &mut dyn Write,
) -> Result<()> {
    let found = unreadable::one(id, store.raw_run(id))?;
    for record in unreadable.skip("run", found) {
        let line = hakaru_store::export(&record)?;
        let annotations = store.annotations(&record.series)?;
        let line = hakaru_store::with_annotations(line, &annotations);
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The runs that a name stands for; of a label, the runs of all its series.
fn runs(store: &Store, name: &str, series: bool) -> Result<Readable<RunRecord>> {
    let mut all = Readable {
        records: Vec::new(),
        unreadable: Vec::new(),
    };
    let labelled = names::position(name).is_none();
    let found = match labelled {
        true => store.series_called(name)?,
        false => Vec::new(),
    };
    if found.is_empty() {
        return place::readable_runs(store, name, series);
    }
    for series in found {
        let Readable {
            records,
            unreadable,
        } = store.readable_series(&series)?;
        all.records.extend(records);
        all.unreadable.extend(unreadable);
    }
    Ok(all)
}
