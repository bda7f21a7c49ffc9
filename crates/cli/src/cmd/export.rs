//! `hakaru export`: writes stored records and verifications as JSON lines, for another database or program.

use super::print;
use super::unreadable::Unreadable;
use crate::exit::{Exit, NamedPath};
use crate::names;
use crate::place;
use anyhow::Result;
use hakaru_model::integrity::Verification;
use hakaru_model::record::RunRecord;
use hakaru_store::{Filter, Readable, Store};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Labels, ids of runs and verifications, or unique prefixes; `latest` for the newest run [default: all]
    runs: Vec<String>,
    /// Include all repeats of the series of each run
    #[arg(long)]
    series: bool,
    /// Write to FILE; `-` for standard output (the default)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes the selected records, one per line.
pub(crate) fn main(args: &ExportArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read(db)?;
    let mut unreadable = Unreadable::default();
    let (names, mut verifications) = match args.runs.as_slice() {
        [] => everything(&store, &mut unreadable)?,
        named => (named.to_vec(), Vec::new()),
    };
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    for name in &names {
        if !args.runs.is_empty()
            && let Some(found) = place::readable_verification(&store, name)?
        {
            verifications.splice(0..0, unreadable.skip("verification", found));
            continue;
        }
        for record in unreadable.skip("run", runs(&store, name, args.series)?) {
            if seen.insert(record.id.clone()) {
                // Labels given later are beside the record, which is exported as it was measured.
                let line = hakaru_store::export(&store.raw_run(&record.id)?)?;
                let annotations = store.annotations(&record.series)?;
                text += &(hakaru_store::with_annotations(line, &annotations) + "\n");
            }
        }
    }
    if args.runs.is_empty() {
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
            text += &(hakaru_store::with_annotations(line, &annotations) + "\n");
        }
    }
    write(args.output.as_deref(), &text)?;
    Ok(unreadable.exit())
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

/// IDs of all runs, oldest first, and all verifications.
fn everything(
    store: &Store,
    unreadable: &mut Unreadable,
) -> Result<(Vec<String>, Vec<Verification>)> {
    let runs = store.runs(&Filter::default())?.into_iter().rev();
    let verifications = store.verifications(u32::MAX)?;
    Ok((
        runs.map(|row| row.id).collect(),
        unreadable.skip("verification", verifications),
    ))
}

fn write(output: Option<&Path>, text: &str) -> Result<()> {
    let Some(path) = output.filter(|path| !place::is_stdout(Some(path))) else {
        return print(text);
    };
    crate::output::write(path, text.as_bytes()).named(|| {
        both!("cannot write the records to {}; help: name another file with --output", "記録を{}に書き込めません; help: --outputで別のファイルを指定してください"; path.display())
    })
}
