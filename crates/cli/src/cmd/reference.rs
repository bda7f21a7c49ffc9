//! `hakaru reference`: manages published and own reference results, which new results are compared with.

use super::{CountedNoun, counted, json, print};
use crate::exit::{Exit, complain, not_there};
use crate::place;
use anyhow::{Context, Result, bail};
use hakaru_model::references::{ReferenceEntry, ReferenceSet, ReferenceSource};
use hakaru_results::references::{own, own_path as path, with_published as both};
use hakaru_store::Store;
use rustix::fs::FlockOperation;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Arguments of `hakaru reference`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReferencesArgs {
    #[command(subcommand)]
    action: Option<ReferencesAction>,
    /// Print the reference results as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum ReferencesAction {
    /// List the reference results (the default)
    List,
    /// Add a series of runs as a reference result
    Add {
        /// Name of the reference result
        #[arg(value_parser = some_name)]
        name: String,
        /// Label, run id or a unique prefix; all repeats of its series are included
        #[arg(default_value = "latest")]
        run: String,
    },
    /// Remove a reference result of your own
    Remove {
        /// Name of the reference result
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Parses the name of a reference result.
fn some_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err(both!(
            "a reference result needs a name",
            "参考値には名前が必要です"
        )),
        name => Ok(name.to_owned()),
    }
}

/// Source name of the user's own reference results.
const OWN: &str = "own";

pub(crate) fn main(args: &ReferencesArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    match &args.action {
        None | Some(ReferencesAction::List) if args.json => {}
        None | Some(ReferencesAction::List) => print(&listed(&both(&own(&store)?)))?,
        Some(ReferencesAction::Add { name, run }) => add(&store, name, run, args.json)?,
        Some(ReferencesAction::Remove { name }) => remove(&store, name, args.json)?,
    }
    if args.json {
        json::print(json::REFERENCE, &both(&own(&store)?))?;
    }
    Ok(Exit::Ok)
}

/// Loads the published and the user's own reference results. If the user's file cannot be read, only prints a warning.
pub(crate) fn load(store: &Store) -> ReferenceSet {
    let own = own(store).unwrap_or_else(|error| {
        complain(&error);
        ReferenceSet::default()
    });
    both(&own)
}

/// Locks the user's file: two processes that read, change and write it at once would lose one change.
fn lock(store: &Store) -> Result<File> {
    let path = path(store).with_extension("json.lock");
    let locked = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .and_then(|file| {
            rustix::fs::flock(&file, FlockOperation::LockExclusive)?;
            Ok(file)
        });
    locked.with_context(|| both!("cannot lock your reference results with {}", "参考値を{}でロックできません"; path.display()))
}

/// Replaces the file atomically, so that a crash or power loss leaves the old or the new one.
fn save(store: &Store, references: &ReferenceSet) -> Result<()> {
    let path = path(store);
    let text = json::pretty(references)?;
    replace(&path, &text)
        .with_context(|| both!("cannot write your reference results to {}", "参考値を{}に書き込めません"; path.display()))
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("json.new");
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(directory)?.sync_all()
}

fn add(store: &Store, name: &str, run: &str, quiet: bool) -> Result<()> {
    let records = place::runs(store, run, true)?;
    let summary = hakaru_analysis::summarize(&records);
    let _locked = lock(store)?;
    let mut references = own(store)?;
    if references.entries.iter().any(|entry| entry.card == name) {
        bail!(both!(
            "reference result `{name}` exists already; help: remove it with `hakaru reference remove`, or choose another name",
            "参考値「{name}」はすでにあります; help: hakaru reference removeで削除するか、別の名前にしてください"
        ));
    }
    let entries = hakaru_analysis::references::entries(&summary, OWN, name);
    if entries.is_empty() {
        bail!(both!(
            "run {run} lacks details for a reference result: operation, block size, order and \
            file system must be known",
            "測定{run}は参考値にできません（操作、ブロックサイズ、順序、ファイルシステムの情報が必要）"
        ));
    }
    if references.sources.is_empty() {
        references.sources.push(ReferenceSource {
            id: OWN.into(),
            title: own_title(),
            note: String::new(),
        });
    }
    let added = counted(entries.len(), CountedNoun::Figure);
    references.entries.extend(entries);
    save(store, &references)?;
    match quiet {
        true => Ok(()),
        false => print(&both!(
            "added {added} of {name}\n",
            "{name}の{added}を追加しました\n"
        )),
    }
}

fn remove(store: &Store, name: &str, quiet: bool) -> Result<()> {
    let _locked = lock(store)?;
    let mut references = own(store)?;
    let before = references.entries.len();
    references.entries.retain(|entry| entry.card != name);
    let gone = before - references.entries.len();
    if gone == 0 {
        return Err(not_there(both!(
            "no reference result of yours is named `{name}`; help: `hakaru reference` lists them",
            "「{name}」という自分の参考値はありません; help: hakaru referenceで確認してください"
        )));
    }
    save(store, &references)?;
    match quiet {
        true => Ok(()),
        false => print(
            &both!("removed {} of {name}\n", "{name}の{}を削除しました\n"; counted(gone, CountedNoun::Figure)),
        ),
    }
}

/// Title of the user's own reference results.
fn own_title() -> String {
    both!("your reference results", "自分の参考値")
}

/// Formats the reference results by source, one line per figure.
fn listed(references: &ReferenceSet) -> String {
    let mut text = String::new();
    for source in &references.sources {
        let entries: Vec<&ReferenceEntry> = references
            .entries
            .iter()
            .filter(|entry| entry.source == source.id)
            .collect();
        if entries.is_empty() {
            continue;
        }
        match source.id.as_str() {
            OWN => text += &own_title(),
            _ => text += &source.title,
        }
        if !source.note.is_empty() {
            text += &format!(" ({})", source.note);
        }
        text.push('\n');
        text += &hakaru_report::references_terminal(&entries);
        text.push('\n');
    }
    text
}
