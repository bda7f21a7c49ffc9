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
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::annotation::Annotations;
use hakaru_model::integrity::Verification;
use hakaru_model::record::RunRecord;
use hakaru_report::plain;
use hakaru_store::{RecordText, Store};
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
    pub(crate) anatomies: Vec<AnatomyRecord>,
    /// Labels, titles and notes, by series, verification or anatomy.
    pub(crate) annotations: BTreeMap<String, Annotations>,
}

/// The annotations of an exported record.
#[derive(serde::Deserialize)]
struct AnnotatedRecord {
    #[serde(default)]
    annotations: Annotations,
}

/// Fields that only a record, a verification or an anatomy has.
pub(crate) const OWN_FIELDS: [&str; 3] = ["\"scenario\":", "\"verdict\":", "\"anatomy\":"];

/// Parses records, verifications and anatomies written by `hakaru export` and `hakaru show --json`, with
/// notes.
pub(crate) fn own_results(texts: &[ImportText]) -> (OwnRecords, String) {
    let (mut own, mut notes) = (OwnRecords::default(), String::new());
    for (index, ImportText { name, text, .. }) in texts.iter().enumerate() {
        let trimmed = text.trim_start();
        let lines = trimmed.starts_with("{\"format\":");
        let ours = OWN_FIELDS.iter().any(|key| text.contains(key));
        let pretty = trimmed.starts_with(['{', '[']) && ours && text.contains("\"format\":");
        if !lines && !pretty {
            continue;
        }
        own.texts.insert(index);
        let before = OwnCounts::of(&own);
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
        notes += &OwnCounts::of(&own).since(before).note(name);
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

    /// Parses a record, verification or anatomy; returns what its annotations belong to.
    fn read_one(&mut self, line: &str) -> Result<String, String> {
        match hakaru_store::import_anatomy(line) {
            Some(Ok(anatomy)) => {
                let subject = anatomy.id.clone();
                self.anatomies.push(anatomy);
                return Ok(subject);
            }
            Some(Err(error)) => return Err(error.to_string()),
            None => {}
        }
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

/// Numbers of results of hakaru.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnCounts {
    pub(crate) runs: usize,
    pub(crate) verifications: usize,
    pub(crate) anatomies: usize,
}

impl OwnCounts {
    pub(crate) fn of(own: &OwnRecords) -> OwnCounts {
        OwnCounts {
            runs: own.records.len(),
            verifications: own.verifications.len(),
            anatomies: own.anatomies.len(),
        }
    }

    pub(crate) fn total(self) -> usize {
        self.runs + self.verifications + self.anatomies
    }

    pub(crate) fn add(&mut self, more: OwnCounts) {
        self.runs += more.runs;
        self.verifications += more.verifications;
        self.anatomies += more.anatomies;
    }

    fn since(self, before: OwnCounts) -> OwnCounts {
        OwnCounts {
            runs: self.runs - before.runs,
            verifications: self.verifications - before.verifications,
            anatomies: self.anatomies - before.anatomies,
        }
    }

    /// Formats the numbers: `2 records and 1 verification`. Without other results, a number of 0 runs is given, too.
    pub(crate) fn text(self, runs: CountedNoun) -> String {
        let others = [
            (self.verifications, CountedNoun::Verification),
            (self.anatomies, CountedNoun::Anatomy),
        ];
        let others = others.into_iter().filter(|(count, _)| *count > 0);
        let others: Vec<String> = others.map(|(count, what)| counted(count, what)).collect();
        let runs = (self.runs > 0 || others.is_empty()).then(|| counted(self.runs, runs));
        let all: Vec<String> = runs.into_iter().chain(others).collect();
        match all.split_last() {
            Some((last, first @ [_, ..])) => {
                both!("{} and {last}", "{}と{last}"; first.join(&both!(", ", "、")))
            }
            _ => all.concat(),
        }
    }

    /// What was read from a file.
    pub(crate) fn note(self, name: &str) -> String {
        let found = self.text(CountedNoun::Record);
        both!("{}: {found} of hakaru\n", "{}: hakaruの{found}\n"; plain(name))
    }
}

/// Formats a stored anatomy as a line of an export.
pub(crate) fn anatomy_line(store: &Store, id: &str) -> Result<String> {
    let line = hakaru_store::export_anatomy(&store.raw_anatomy(id)?)?;
    let annotations = store.annotations(id)?;
    Ok(hakaru_store::with_annotations(line, &annotations))
}
