//! `hakaru relabel`: changes label, title and note of stored results, or shows them with their history.
//!
//! The records stay as they were measured.

use super::{CountedNoun, counted, json, print};
use crate::exit::Exit;
use crate::names;
use crate::place;
use anyhow::{Result, bail};
use hakaru_model::annotation::{Annotation, AnnotationKind, Annotations};
use hakaru_report::plain;
use hakaru_report::text::{self, MessagePrefix};
use hakaru_results::lookup::only_anatomy;
use hakaru_results::select::{self, Term};
use hakaru_store::{FindError, Store};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

const AFTER: &str = "Without options, the current names are shown with their history. An empty text removes a label, title or note: --note=\"\". \
The records stay as they were measured.";

/// Arguments of `hakaru relabel`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct RelabelArgs {
    /// Labels, ids or unique prefixes, `latest`, or a selection: series=, label=, card=, layer=, host=, date=, campaign=, workload=
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<String>,
    /// New label, which replaces all labels of the results
    #[arg(long, value_name = "NAME", value_parser = label_or_none)]
    label: Option<String>,
    /// Further label of the same results
    #[arg(long, value_name = "NAME", value_parser = names::label)]
    also: Option<String>,
    #[command(flatten)]
    text: names::DescriptionArgs,
    /// Print the names as JSON
    #[arg(long)]
    json: bool,
}

/// Output of `hakaru relabel --json`.
#[derive(Serialize)]
struct RelabelJson {
    /// Whether a name is different now.
    changed: bool,
    results: Vec<NamedJson>,
}

/// The names of a series, a verification or an anatomy.
#[derive(Serialize)]
struct NamedJson {
    id: String,
    label: String,
    annotations: Annotations,
    history: Vec<Annotation>,
}

/// Parses a label; an empty one removes the label.
fn label_or_none(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Ok(String::new()),
        text => names::label(text),
    }
}

/// Changes or shows the names.
pub(crate) fn main(args: &RelabelArgs, db: Option<&Path>) -> Result<Exit> {
    let changes = [
        (AnnotationKind::Label, &args.label),
        (AnnotationKind::Alias, &args.also),
        (AnnotationKind::Title, &args.text.title),
        (AnnotationKind::Note, &args.text.note),
    ];
    if changes.iter().all(|(_, value)| value.is_none()) {
        let store = place::read(db)?;
        let subjects = subjects(&store, &args.results)?;
        return match args.json {
            true => print_json(&store, &subjects, false),
            false => print(&shown(&store, &subjects)?).map(|()| Exit::Ok),
        };
    }
    // Reading first: a wrong name must not create a database.
    drop(place::read(db)?);
    let mut store = place::open(db)?;
    let subjects = subjects(&store, &args.results)?;
    let given = changes.into_iter();
    let given = given.filter_map(|(kind, value)| Some((kind, value.as_deref()?)));
    let new: Vec<Annotation> = given
        .flat_map(|(kind, value)| names::annotations(&subjects, kind, value))
        .collect();
    let changed = store.annotate(&new)?;
    if args.json {
        return print_json(&store, &subjects, changed > 0);
    }
    let mut text = shown_now(&store, &subjects)?;
    text += &match changed {
        0 => both!("Nothing changed.\n", "変更はありません。\n"),
        _ => {
            both!("{} changed.\n", "{}を変更しました。\n"; counted(subjects.len(), CountedNoun::Result))
        }
    };
    print(&text)?;
    Ok(Exit::Ok)
}

/// Returns the series, verifications and anatomies that the words name.
fn subjects(store: &Store, words: &[String]) -> Result<Vec<String>> {
    let terms: Vec<Term> = words.iter().filter_map(|word| Term::read(word)).collect();
    if !terms.is_empty() {
        if terms.len() < words.len() {
            bail!(both!(
                "name results, or select them by their properties, but not both",
                "結果の名前と条件は同時に指定できません"
            ));
        }
        let mut notes = BTreeSet::new();
        let runs = select::runs(store, &terms, &mut notes)?;
        for note in notes {
            anstream::eprintln!("{}: {note}", text::prefix(MessagePrefix::Note));
        }
        let series: BTreeSet<String> = runs.into_iter().map(|run| run.series).collect();
        return Ok(series.into_iter().collect());
    }
    let mut subjects = Vec::new();
    for word in words {
        let found = match place::verification(store, word)? {
            Some(verification) => vec![verification.id],
            None => match only_anatomy(store, word)? {
                Some(anatomy) => vec![anatomy.id],
                None => names::series_named(store, word)?,
            },
        };
        for subject in found {
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
    }
    Ok(subjects)
}

fn print_json(store: &Store, subjects: &[String], changed: bool) -> Result<Exit> {
    let named = |subject: &String| -> Result<NamedJson> {
        Ok(NamedJson {
            id: subject.clone(),
            label: id_and_label(store, subject)?.1,
            annotations: store.annotations(subject)?,
            history: store.annotation_history(subject)?,
        })
    };
    let results = subjects.iter().map(named).collect::<Result<_>>()?;
    json::print(json::RELABEL, &RelabelJson { changed, results }).map(|()| Exit::Ok)
}

/// Formats the current names, one line each.
fn shown_now(store: &Store, subjects: &[String]) -> Result<String> {
    let mut text = String::new();
    for subject in subjects {
        text += &(now(store, subject)? + "\n");
    }
    Ok(text)
}

/// Formats the current names and their history.
fn shown(store: &Store, subjects: &[String]) -> Result<String> {
    let mut text = String::new();
    for subject in subjects {
        text += &(now(store, subject)? + "\n");
        for Annotation {
            kind,
            value,
            at_unix_ms,
            ..
        } in store.annotation_history(subject)?
        {
            let (at, kind) = (hakaru_report::time::utc(at_unix_ms), kind.name());
            let value = match value.as_str() {
                "" => both!("(removed)", "（削除）"),
                value => value.to_owned(),
            };
            text += &(plain(&format!("  {at}  {kind}: {value}")) + "\n");
        }
    }
    Ok(text)
}

/// Short ID and label of a series, a verification or an anatomy.
fn id_and_label(store: &Store, subject: &str) -> Result<(String, String)> {
    let rows = names::rows_of(store, subject)?;
    Ok(match rows.iter().min_by_key(|row| row.repeat) {
        Some(row) => (row.short.clone(), row.target.clone()),
        None => {
            let target = match store.verification(subject) {
                Err(FindError::NotFound { .. }) => store.anatomy(subject)?.target,
                found => found?.target,
            };
            (subject.to_owned(), target.display_name())
        }
    })
}

fn now(store: &Store, subject: &str) -> Result<String> {
    let Annotations {
        aliases,
        title,
        note,
        ..
    } = store.annotations(subject)?;
    let (id, label) = id_and_label(store, subject)?;
    let mut line = format!("{id}  {label}");
    for alias in aliases {
        line += &both!(", also {alias}", "、別名: {alias}");
    }
    if let Some(title) = title {
        line += &both!("; title: {title}", "、題名: {title}");
    }
    if let Some(note) = note {
        line += &both!("; note: {note}", "、メモ: {note}");
    }
    Ok(plain(&line))
}
