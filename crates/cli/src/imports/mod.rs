//! Imports results of other programs: parses files, names the runs, detects duplicates, and joins runs to series.
//!
//! A module of its own, because `import` stores these records, while `compare` and `lint` only read them.

mod counts;
mod describe;
mod duplicates;
mod headings;
mod labels;
mod own;
mod record;
mod series;
mod texts;

pub(crate) use counts::{ImportNotes, ImportedIds, SHOWN};
pub(crate) use describe::describe;
pub(crate) use duplicates::{DuplicateResults, KnownRuns, without_duplicates};
pub(crate) use labels::{KnownLabels, LabelRules, labels};
pub(crate) use own::{OwnSource, each_run, split};
pub(crate) use record::{EqualResults, Imported, about_the_clock, records_of};
pub(crate) use series::joined;
pub(crate) use texts::{ImportText, TextBatches, read_all};

use crate::cmd::{CountedNoun, counted};
use crate::exit::NamedPath;
use anyhow::{Context, Result};
use hakaru_dialects::import::{FoundRun, ImportResult, SourceText, Unread, csv, import};
use hakaru_model::annotation::Annotations;
use hakaru_model::integrity::Verification;
use hakaru_model::record::RunRecord;
use hakaru_report::plain;
use hakaru_store::RecordText;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns the runs in files as records, without storing them.
pub(crate) fn records_in(path: &Path) -> Result<Vec<RunRecord>> {
    let texts = read_all(&[path.to_owned()])?;
    let (own, _) = own_results(&texts);
    let found = find(&texts, &own, None);
    let own = own.records.into_iter().map(RecordText::into_record);
    let mut records: Vec<RunRecord> = own.collect();
    records.extend(
        records_of(
            &texts,
            &found,
            &labels(
                &texts,
                &found,
                &LabelRules::default(),
                &mut KnownLabels::default(),
            )
            .0,
            &mut EqualResults::default(),
        )
        .into_iter()
        .map(|imported| imported.record),
    );
    Ok(records)
}

/// Reads a file that maps the columns of a CSV table.
pub(crate) fn read_mapping(path: &Path) -> Result<csv::ColumnMapping> {
    let text = std::fs::read_to_string(path).named(
        || both!("cannot read the mapping {}", "対応付け{}を読み込めません"; path.display()),
    )?;
    toml::from_str(&text).with_context(
        || both!("{} is not a column mapping", "{}は列の対応付けではありません"; path.display()),
    )
}

/// Records of hakaru.
#[derive(Default)]
pub(crate) struct OwnRecords {
    /// Indexes of the texts that contain them.
    pub(crate) texts: BTreeSet<usize>,
    pub(crate) records: Vec<RecordText>,
    pub(crate) verifications: Vec<Verification>,
    /// Labels, titles and notes, by series or verification.
    pub(crate) annotations: BTreeMap<String, Annotations>,
}

/// The annotations of an exported record.
#[derive(serde::Deserialize)]
struct AnnotatedRecord {
    #[serde(default)]
    annotations: Annotations,
}

/// Parses records and verifications written by `hakaru export` and `hakaru show --json`, with
/// notes.
pub(crate) fn own_results(texts: &[ImportText]) -> (OwnRecords, String) {
    let (mut own, mut notes) = (OwnRecords::default(), String::new());
    for (index, ImportText { name, text, .. }) in texts.iter().enumerate() {
        let trimmed = text.trim_start();
        let lines = trimmed.starts_with("{\"format\":");
        let keys = ["\"scenario\":", "\"verdict\":"];
        let ours = keys.iter().any(|key| text.contains(key));
        let pretty = trimmed.starts_with(['{', '[']) && ours && text.contains("\"format\":");
        if !lines && !pretty {
            continue;
        }
        own.texts.insert(index);
        let before = (own.records.len(), own.verifications.len());
        let lines = match lines {
            true => text.clone(),
            false => one_a_line(trimmed),
        };
        for (number, line) in (1..).zip(lines.lines()) {
            if let (false, Err(why)) = (line.trim().is_empty(), own.read(line)) {
                notes += &(plain(&both!(
                    "{name}:{number}: not read: {why}",
                    "{name}:{number}: 読み込めません: {why}"
                )) + "\n");
            }
        }
        let verified = and_verified(own.verifications.len() - before.1);
        let records = counted(own.records.len() - before.0, CountedNoun::Record);
        notes += &both!("{}: {records}{verified} of hakaru\n", "{}: hakaruの{records}{verified}\n"; plain(name));
    }
    (own, notes)
}

impl OwnRecords {
    /// Parses one line of JSON; the error is the reason why it is invalid.
    fn read(&mut self, line: &str) -> Result<(), String> {
        if !line.contains("\"annotations\"") {
            return self.read_one(line).map(drop);
        }
        if let Some((line, annotations)) = hakaru_store::split_annotations(line)
            && let Ok(subject) = self.read_one(&line)
        {
            self.annotate(subject, annotations);
            return Ok(());
        }
        // The annotations are at another place. They are not part of the record.
        let subject = self.read_one(line)?;
        if let Some(last) = self.records.pop_if(|last| last.text() == line) {
            let text = hakaru_store::export(last.record()).map_err(|error| error.to_string())?;
            let bare = RecordText::read(text).map_err(|error| error.to_string())?;
            self.records.push(bare);
        }
        if let Ok(of) = hakaru_model::json::from_str::<AnnotatedRecord>(line) {
            self.annotate(subject, of.annotations);
        }
        Ok(())
    }

    fn annotate(&mut self, subject: String, annotations: Annotations) {
        if !annotations.is_empty() {
            self.annotations.insert(subject, annotations);
        }
    }

    /// Parses a record or verification; returns what its annotations belong to.
    fn read_one(&mut self, line: &str) -> Result<String, String> {
        match hakaru_store::import_verification(line) {
            Some(Ok(verification)) => {
                let subject = verification.id.clone();
                self.verifications.push(verification);
                Ok(subject)
            }
            Some(Err(error)) => Err(error.to_string()),
            None => {
                let read = RecordText::read(line.to_owned()).map_err(|error| error.to_string())?;
                let subject = read.record().series.clone();
                self.records.push(read);
                Ok(subject)
            }
        }
    }
}

/// Converts indented JSON to one object per line. Other text is returned unchanged, and the parser rejects it.
fn one_a_line(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Array(all)) => all.iter().map(|one| one.to_string() + "\n").collect(),
        Ok(one) => one.to_string(),
        Err(_) => text.replace('\n', " "),
    }
}

/// Parses results of other programs: tables by mapping or header, others by content.
pub(crate) fn find(
    texts: &[ImportText],
    own: &OwnRecords,
    mapping: Option<&csv::ColumnMapping>,
) -> ImportResult {
    let mut tables = Vec::new();
    let mut sources = Vec::new();
    let mut unmapped = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let header = text.text.lines().next().unwrap_or_default();
        let is_own = own.texts.contains(&index);
        let is_csv = text.name.ends_with(".csv");
        let mapping = mapping.filter(|_| is_csv || !text.is_file);
        let table = mapping.cloned().or_else(|| csv::mapping_of_header(header));
        let table = table.filter(|_| !is_own);
        if is_csv && table.is_none() && !is_own && text.lines_before == 0 {
            let unread = Unread {
                line: 1,
                text: header.chars().take(60).collect(),
                why: both!(
                    "unknown table columns; help: describe them with --map=FILE",
                    "表の列を判別できません; help: --map=FILEで対応付けてください"
                ),
            };
            unmapped.push((index, unread));
        }
        let is_other = is_own || table.is_some();
        tables.extend(table.map(|mapping| (index, mapping)));
        sources.push(SourceText {
            name: &text.name,
            text: if is_other { "" } else { &text.text },
        });
    }
    let mut found = import(&sources);
    unmapped.retain(|(index, _)| found.runs.iter().all(|run| run.source != *index));
    found.unread.extend(unmapped);
    for (source, mapping) in tables {
        let before = texts[source].lines_before;
        let (runs, unread) = csv::import(&texts[source].text, &mapping);
        found.runs.extend(runs.into_iter().map(|mut run| {
            run.lines = (run.lines.0 + before, run.lines.1 + before);
            FoundRun { source, run }
        }));
        // What is wrong with the header is reported with the first part of a table.
        let unread = unread.into_iter().filter(|at| before == 0 || at.line > 1);
        found.unread.extend(unread.map(|mut unread| {
            unread.line += before;
            (source, unread)
        }));
    }
    found.runs.sort_by_key(|found| found.source);
    found
}

/// Formats the number of verifications; empty if there are none.
pub(crate) fn and_verified(count: usize) -> String {
    if count == 0 {
        String::new()
    } else {
        both!(" and {}", "と{}"; counted(count, CountedNoun::Verification))
    }
}
