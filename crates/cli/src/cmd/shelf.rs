//! `hakaru shelf`: published figures, and one's own, that results are put beside.

use super::{figures, print};
use crate::exit::{Exit, complain, not_there};
use crate::place;
use anyhow::{Context, Result, bail};
use hakaru_model::references::{ReferenceEntry, ReferenceSet, ReferenceSource};
use hakaru_store::Store;
use rustix::fs::FlockOperation;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What to do with it.
#[derive(Debug, clap::Args)]
pub(crate) struct ReferencesArgs {
    #[command(subcommand)]
    action: Option<ReferencesAction>,
}

#[derive(Debug, clap::Subcommand)]
enum ReferencesAction {
    /// Show what is on it (the default)
    List,
    /// Put the runs of a thing on it, for later ones to stand beside
    Add {
        /// What to call it
        #[arg(value_parser = some_name)]
        name: String,
        /// The id of a run (or enough of its beginning), with all repeats of its series
        #[arg(default_value = "latest")]
        run: String,
    },
    /// Take something of one's own off it
    Remove {
        /// What it was called
        name: String,
    },
}

/// A name by which something can be found again.
fn some_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err(
            "a name is needed, by which it can be told from the others and taken off again"
                .to_owned(),
        ),
        name => Ok(name.to_owned()),
    }
}

/// Source of the figures a user has put there.
const OWN: &str = "own";

pub(crate) fn main(args: &ReferencesArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    match &args.action {
        None | Some(ReferencesAction::List) => print(&listed(&both(&own(&store)?)))?,
        Some(ReferencesAction::Add { name, run }) => add(&store, name, run)?,
        Some(ReferencesAction::Remove { name }) => remove(&store, name)?,
    }
    Ok(Exit::Ok)
}

/// What results are put beside. A shelf of the user's that cannot be read is told, and costs no result.
pub(crate) fn load(store: &Store) -> ReferenceSet {
    let own = own(store).unwrap_or_else(|error| {
        complain(&error);
        ReferenceSet::default()
    });
    both(&own)
}

fn both(own: &ReferenceSet) -> ReferenceSet {
    let mut all = hakaru_analysis::published_shelf();
    all.sources.extend(own.sources.iter().cloned());
    all.entries.extend(own.entries.iter().cloned());
    all
}

fn path(store: &Store) -> PathBuf {
    store.path().with_file_name("shelf.json")
}

/// What the user has put there; empty before the first.
fn own(store: &Store) -> Result<ReferenceSet> {
    let path = path(store);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(ReferenceSet::default());
        }
        Err(error) => {
            return Err(error)
                .with_context(|| format!("cannot read your shelf {}", path.display()));
        }
    };
    serde_json::from_str(&text).with_context(|| {
        format!(
            "{} is not a shelf; mend it, or move it away to begin a new one",
            path.display()
        )
    })
}

/// Keeps others from changing the shelf until it is dropped: who changes it reads it first, and one change would be lost.
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
    locked.with_context(|| format!("cannot lock your shelf with {}", path.display()))
}

/// A new file takes the place of the old one in one step, so that a crash or a loss of power leaves one or the other.
fn save(store: &Store, shelf: &ReferenceSet) -> Result<()> {
    let path = path(store);
    let text = serde_json::to_string_pretty(shelf)? + "\n";
    replace(&path, &text).with_context(|| format!("cannot write your shelf {}", path.display()))
}

fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("json.new");
    let mut file = File::create(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

fn add(store: &Store, name: &str, run: &str) -> Result<()> {
    let records = super::report::find(store, run, true)?;
    let summary = hakaru_analysis::summarize(&records);
    let _locked = lock(store)?;
    let mut shelf = own(store)?;
    if shelf.entries.iter().any(|entry| entry.card == name) {
        bail!(
            "`{name}` is on the shelf already; take it off with `hakaru shelf remove`, or choose another name"
        );
    }
    let entries = hakaru_analysis::references::entries(&summary, OWN, name);
    if entries.is_empty() {
        bail!(
            "run {run} says too little to stand beside others: its operation, block size and order have to be known, \
             and whether a file system was in between"
        );
    }
    if shelf.sources.is_empty() {
        shelf.sources.push(ReferenceSource {
            id: OWN.into(),
            title: "your shelf".into(),
            note: String::new(),
        });
    }
    let told = format!("{} of {name} put on the shelf\n", figures(entries.len()));
    shelf.entries.extend(entries);
    save(store, &shelf)?;
    print(&told)
}

fn remove(store: &Store, name: &str) -> Result<()> {
    let _locked = lock(store)?;
    let mut shelf = own(store)?;
    let before = shelf.entries.len();
    shelf.entries.retain(|entry| entry.card != name);
    let gone = before - shelf.entries.len();
    if gone == 0 {
        let told = format!(
            "nothing of yours on the shelf is called `{name}`; `hakaru shelf` lists what is there"
        );
        return Err(not_there(told));
    }
    save(store, &shelf)?;
    print(&format!(
        "{} of {name} taken off the shelf\n",
        figures(gone)
    ))
}

/// Source by source, a line a figure.
fn listed(shelf: &ReferenceSet) -> String {
    let mut text = String::new();
    for source in &shelf.sources {
        let entries: Vec<&ReferenceEntry> = shelf
            .entries
            .iter()
            .filter(|entry| entry.source == source.id)
            .collect();
        if entries.is_empty() {
            continue;
        }
        text += &source.title;
        if !source.note.is_empty() {
            text += &format!(" ({})", source.note);
        }
        text.push('\n');
        text += &hakaru_report::shelf_terminal(&entries);
        text.push('\n');
    }
    text
}
