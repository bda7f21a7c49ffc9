//! `hakaru sync`: gives two databases the results that the other one has.

use super::archive::is_same_file;
use super::{CountedNoun, counted, json, print};
use crate::exit::{Exit, complain};
use crate::place;
use crate::status_reporter::{ONE_LINE, ProgressMode, bar};
use anyhow::{Result, anyhow, bail};
use hakaru_report::plain;
use hakaru_store::{Merged, OpenError, Store};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru sync`.
#[derive(Debug, clap::Args)]
pub(crate) struct SyncArgs {
    /// The other database, such as one on a USB stick or a network file system; it is created if it does not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Copy from FILE only; FILE is not changed
    #[arg(long, conflicts_with = "push")]
    pull: bool,
    /// Copy to FILE only
    #[arg(long)]
    push: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Output of `hakaru sync --json`.
#[derive(Serialize)]
struct SyncJson {
    pulled: Option<MergedJson>,
    pushed: Option<MergedJson>,
}

/// What one database received from the other.
#[derive(Serialize)]
struct MergedJson {
    runs: u64,
    verifications: u64,
    anatomies: u64,
    annotations: u64,
    campaigns: u64,
    prices: u64,
    conflicts: Vec<String>,
    unreadable: Vec<UnreadableJson>,
}

/// A record that cannot be read.
#[derive(Serialize)]
struct UnreadableJson {
    id: String,
    because: String,
}

impl From<&Merged> for MergedJson {
    fn from(merged: &Merged) -> MergedJson {
        let unreadable = merged.unreadable.iter().cloned();
        MergedJson {
            runs: merged.runs,
            verifications: merged.verifications,
            anatomies: merged.anatomies,
            annotations: merged.annotations,
            campaigns: merged.campaigns,
            prices: merged.prices,
            conflicts: merged.conflicts.clone(),
            unreadable: unreadable
                .map(|(id, because)| UnreadableJson { id, because })
                .collect(),
        }
    }
}

/// Copies in both directions, or in one.
pub(crate) fn main(args: &SyncArgs, db: Option<&Path>) -> Result<Exit> {
    let path = place::database(db)?;
    if is_same_file(&path, &args.file) {
        let file = shown(&args.file);
        bail!(both!(
            "{file} is the database itself; help: name another file",
            "{file}は元のデータベースです; help: 別のファイルを指定してください"
        ));
    }
    // Neither an empty database here nor one there says that a name was mistyped.
    if args.pull && !args.file.exists() {
        let path = args.file.clone();
        return Err(OpenError::Absent { path }.into());
    }
    if (args.push || !args.file.exists()) && !path.exists() {
        return Err(OpenError::Absent { path }.into());
    }
    let pulled = match args.push {
        true => None,
        false => pull(args, db)?,
    };
    let pushed = match args.pull {
        true => None,
        false => Some(merge(
            &mut Store::open(&args.file)?,
            &place::read(Some(&path))?,
        )?),
    };
    if args.json {
        let body = SyncJson {
            pulled: pulled.as_ref().map(MergedJson::from),
            pushed: pushed.as_ref().map(MergedJson::from),
        };
        json::print(json::SYNC, &body)?;
    }
    let mut exit = Exit::Ok;
    for merged in pulled.iter().chain(&pushed) {
        if !complain_about(merged) {
            exit = Exit::Failed;
        }
    }
    if !args.json {
        print(&summary(
            &shown(&args.file),
            pulled.as_ref(),
            pushed.as_ref(),
        ))?;
    }
    Ok(exit)
}

/// Copies what the other database has; nothing if it does not exist yet.
fn pull(args: &SyncArgs, db: Option<&Path>) -> Result<Option<Merged>> {
    if !args.file.exists() {
        return Ok(None);
    }
    let from = Store::read(&args.file)?;
    Ok(Some(merge(&mut place::open(db)?, &from)?))
}

/// Copies with a progress line on a terminal.
fn merge(to: &mut Store, from: &Store) -> Result<Merged> {
    let bar = bar(ProgressMode::of(false), ONE_LINE);
    let merged = to.merge(from, &mut |done, total| {
        bar.set_length(total.max(1));
        bar.set_position(done);
    });
    bar.finish_and_clear();
    Ok(merged?)
}

fn shown(path: &Path) -> String {
    plain(&path.display().to_string())
}

/// Prints what was not copied; returns whether all was.
fn complain_about(merged: &Merged) -> bool {
    for (id, because) in &merged.unreadable {
        let (id, because) = (plain(id), plain(because));
        complain(&anyhow!(both!(
            "{id} was not copied: {because}",
            "{id}はコピーしていません: {because}"
        )));
    }
    for id in &merged.conflicts {
        let id = plain(id);
        complain(&anyhow!(both!(
            "{id} was not copied: the two databases have different records with this ID; help: compare the output of \
             `hakaru export {id}` of both",
            "{id}はコピーしていません: 2つのデータベースに、同じIDの異なる記録があります; help: 両方のhakaru export {id}の出力を比べてください"
        )));
    }
    merged.unreadable.is_empty() && merged.conflicts.is_empty()
}

fn summary(file: &str, pulled: Option<&Merged>, pushed: Option<&Merged>) -> String {
    let mut text = String::new();
    let mut line = |merged: &Merged, from: bool| {
        let parts = parts(merged);
        text += &match (from, parts.is_empty()) {
            (true, true) => both!(
                "Nothing new in {file}.\n",
                "{file}に新しい結果はありません。\n"
            ),
            (false, true) => both!(
                "{file} has everything already.\n",
                "{file}にはすべてあります。\n"
            ),
            (true, false) => {
                both!("From {file}: {parts}.\n", "{file}から: {parts}。\n")
            }
            (false, false) => both!("To {file}: {parts}.\n", "{file}へ: {parts}。\n"),
        };
    };
    if let Some(pulled) = pulled {
        line(pulled, true);
    }
    if let Some(pushed) = pushed {
        line(pushed, false);
    }
    text
}

/// Lists what was added, such as `12 runs, 1 verification`; empty if nothing was.
fn parts(merged: &Merged) -> String {
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let all = [
        (merged.runs, CountedNoun::Run),
        (merged.verifications, CountedNoun::Verification),
        (merged.anatomies, CountedNoun::Anatomy),
        (merged.annotations, CountedNoun::Annotation),
        (merged.campaigns, CountedNoun::CampaignDefinition),
        (merged.prices, CountedNoun::Price),
    ];
    let added = all.into_iter().filter(|(n, _)| *n > 0);
    let added: Vec<String> = added.map(|(n, noun)| counted(count(n), noun)).collect();
    added.join(&both!(", ", "、"))
}
