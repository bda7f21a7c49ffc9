//! Runs and verifications by name.

use crate::{json, names, not_there};
use anyhow::Result;
use hakaru_model::anatomy_record::{AnatomyRecord, CardAdvice};
use hakaru_model::annotation::Annotations;
use hakaru_model::integrity::Verification;
use hakaru_model::record::RunRecord;
use hakaru_store::{FindError, Readable, Store};
use serde::Serialize;

/// Returns the verification with this ID or label if no run has it; `latest` is a verification only if there are no
/// runs.
///
/// # Errors
/// If several verifications have the label, or the database cannot be read.
pub fn verification(store: &Store, name: &str) -> Result<Option<Verification>> {
    if names::position(name).is_some() {
        return match name {
            "latest" if store.is_empty()? => Ok(store.latest_verification()?),
            _ => Ok(None),
        };
    }
    let is_run = || !matches!(store.run(name), Err(FindError::NotFound { .. }));
    if !store.series_called(name)?.is_empty() || is_run() {
        return Ok(None);
    }
    match store.verification(name) {
        Err(FindError::NotFound { .. }) => verification_called(store, name),
        found => Ok(Some(found?)),
    }
}

/// Returns the verification with a label, a further label or a target name.
///
/// # Errors
/// If several have it; the error lists them.
fn verification_called(store: &Store, name: &str) -> Result<Option<Verification>> {
    let mut found = Vec::new();
    for of in store.verifications(u32::MAX)?.records {
        let aliases = store.annotations(&of.id)?.aliases;
        let mut names = std::iter::once(of.target.display_name()).chain(aliases);
        if names.any(|known| known.eq_ignore_ascii_case(name)) {
            found.push(of);
        }
    }
    if found.len() < 2 {
        return Ok(found.pop());
    }
    let line = |of: &Verification| {
        let started = hakaru_report::time::utc(of.started_unix_ms);
        format!("  {}  {started}", of.id)
    };
    let lines: Vec<String> = found.iter().map(line).collect();
    Err(not_there(
        both!("`{name}` is the label of {} verifications; use one of these IDs:\n{}", "「{name}」は{}件の検証のラベルです。次のIDのいずれかを指定してください:\n{}"; found.len(),
        lines.join("\n")),
    ))
}

/// Returns the anatomy with this ID, unique ID prefix or label; `latest` is the newest.
///
/// # Errors
/// If there is none, several have the label, or the database cannot be read.
pub fn anatomy(store: &Store, name: &str) -> Result<AnatomyRecord> {
    if name == "latest" {
        let newest = store.anatomies(1)?.records.pop();
        return newest.ok_or_else(|| {
            not_there(both!(
                "no anatomies are stored yet; help: create one with `hakaru anatomy`",
                "カードの構造の調査がまだ保存されていません; help: hakaru anatomyで調べてください"
            ))
        });
    }
    let absent = match store.anatomy(name) {
        Err(error @ FindError::NotFound { .. }) => error,
        found => return Ok(found?),
    };
    let named = |of: &AnatomyRecord| of.target.display_name().eq_ignore_ascii_case(name);
    let mut found = store.anatomies(u32::MAX)?.records;
    found.retain(named);
    match found.len() {
        0 => Err(absent.into()),
        1 => Ok(found.remove(0)),
        count => {
            let line = |of: &AnatomyRecord| {
                let started = hakaru_report::time::utc(of.started_unix_ms);
                format!("  {}  {started}", of.id)
            };
            let lines: Vec<String> = found.iter().map(line).collect();
            Err(not_there(
                both!("`{name}` is the label of {} anatomies; use one of these IDs:\n{}", "「{name}」は{}件の調査のラベルです。次のIDのいずれかを指定してください:\n{}"; count,
                lines.join("\n")),
            ))
        }
    }
}

/// Returns the anatomy with this name; `None` if nothing has it, or it is the name of something else first: `latest` is
/// the newest run.
///
/// # Errors
/// If several anatomies have the label, or the database cannot be read.
pub fn only_anatomy(store: &Store, name: &str) -> Result<Option<AnatomyRecord>> {
    if names::position(name).is_some() && !(name == "latest" && store.is_empty()?) {
        return Ok(None);
    }
    let is_run = || !matches!(store.run(name), Err(FindError::NotFound { .. }));
    if !store.series_called(name)?.is_empty() || is_run() {
        return Ok(None);
    }
    match anatomy(store, name) {
        Ok(found) => Ok(Some(found)),
        Err(error) => match error.downcast::<FindError>() {
            Ok(FindError::NotFound { .. }) => Ok(None),
            Ok(error) => Err(error.into()),
            Err(error) if error.is::<crate::NotThere>() && name == "latest" => Ok(None),
            Err(error) => Err(error),
        },
    }
}

/// Like [`verification`], with an unreadable record listed separately.
///
/// # Errors
/// Those of [`verification`].
pub fn readable_verification(store: &Store, name: &str) -> Result<Option<Readable<Verification>>> {
    match verification(store, name) {
        Ok(found) => Ok(found.map(|found| Readable {
            records: vec![found],
            unreadable: Vec::new(),
        })),
        Err(error) => match error.downcast::<FindError>() {
            Ok(error) if error.is_unreadable() => Ok(Some(Readable {
                records: Vec::new(),
                unreadable: vec![(name.to_owned(), error)],
            })),
            Ok(error) => Err(error.into()),
            Err(error) => Err(error),
        },
    }
}

/// Returns the run with this ID, or its whole series; a label stands for the whole series, `latest` for the newest run.
/// Unreadable records are listed separately.
///
/// # Errors
/// If no run has the name, several series have it, or the database cannot be read.
pub fn readable_runs(store: &Store, name: &str, series: bool) -> Result<Readable<RunRecord>> {
    if let Some(found) = names::series_of_name(store, name)? {
        let found = names::only_series(store, name, found)?;
        if series || names::position(name).is_none() {
            return Ok(store.readable_series(&found)?);
        }
        let rows = names::rows_of(store, &found)?;
        let newest = rows.into_iter().max_by_key(|row| row.stored);
        let id = newest.map_or(found, |row| row.id);
        return Ok(one(&id, store.run(&id))?);
    }
    match series {
        true => Ok(store.readable_series(&store.series_id(name)?)?),
        false => Ok(one(name, store.run(name))?),
    }
}

/// Converts the result of one lookup, with the error listed separately if only this record is unreadable.
///
/// # Errors
/// Any other error of the lookup.
pub fn one<T>(name: &str, found: Result<T, FindError>) -> Result<Readable<T>, FindError> {
    Readable::collect([(name.to_owned(), found)])
}

/// A record or verification as stored, with its current labels, title and note.
#[derive(Serialize)]
pub struct AnnotatedResult<'a, T> {
    #[serde(flatten)]
    result: &'a T,
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    annotations: Annotations,
}

impl<'a, T> AnnotatedResult<'a, T> {
    /// Returns a result with its annotations.
    pub fn new(result: &'a T, annotations: Annotations) -> AnnotatedResult<'a, T> {
        AnnotatedResult {
            result,
            annotations,
        }
    }
}

/// An anatomy as stored, with the advice that follows from it, and its current labels, title and note.
#[derive(Serialize)]
pub struct AdvisedAnatomy<'a> {
    #[serde(flatten)]
    record: &'a AnatomyRecord,
    /// Advice that follows from the findings.
    advice: Vec<CardAdvice>,
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    annotations: Annotations,
}

impl<'a> AdvisedAnatomy<'a> {
    /// Returns an anatomy with its advice and annotations.
    pub fn new(record: &'a AnatomyRecord, annotations: Annotations) -> AdvisedAnatomy<'a> {
        AdvisedAnatomy {
            record,
            advice: hakaru_campaign::anatomy::advise(&record.anatomy),
            annotations,
        }
    }
}

/// Formats an anatomy as it is stored, with its advice and its current labels, title and note.
///
/// # Errors
/// If there is no anatomy with this full ID, or the database cannot be read.
pub fn anatomy_json(store: &Store, id: &str) -> Result<String> {
    let (raw, annotations) = (store.raw_anatomy(id)?, store.annotations(id)?);
    json::text(json::ANATOMY, &AdvisedAnatomy::new(&raw, annotations))
}

/// Formats a record as it is stored, with its current labels, title and note.
///
/// # Errors
/// If the database cannot be read.
pub fn record_json(store: &Store, record: &RunRecord) -> Result<String> {
    let raw = store.raw_run(&record.id)?;
    let annotations = store.annotations(&raw.series)?;
    json::text(json::RECORD, &AnnotatedResult::new(&raw, annotations))
}
