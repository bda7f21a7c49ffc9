//! Reads exported records of hakaru one by one, so that an export of any length needs little memory.

use super::{OWN_FIELDS, OwnCounts, OwnRecords, anatomy_line};
use crate::exit::NamedPath;
use anyhow::{Context, Result};
use hakaru_model::annotation::Annotations;
use hakaru_report::plain;
use hakaru_store::{RecordText, Store, StoreError, export_verification, with_annotations};
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Length of the text after which the records so far are passed on.
const BATCH: usize = 4 << 20;

/// Number of records after which they are passed on. The text of a record of few I/Os is short, but its histograms have
/// 40 kB each.
const BATCH_RECORDS: usize = 256;

/// Maximum length of one record; a record of a day with a hundred workers is shorter.
const LONGEST_RECORD: u64 = 256 << 20;

/// Maximum number of notes about records of one file that cannot be read.
const MOST_NOTES: usize = 1000;

/// Bytes at the start of a file that show what it is.
const START: u64 = 64 << 10;

/// A file with exported records of hakaru, or a database.
pub(crate) struct OwnSource {
    path: PathBuf,
    name: String,
    form: OwnForm,
}

/// How records are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnForm {
    /// One object per line, as `hakaru export` writes them.
    Lines,
    /// A list of objects, as `hakaru show --json --series` writes it.
    Array,
    /// A database, such as an archive.
    Database,
}

/// Separates files of exported records from others, which are read whole.
///
/// # Errors
/// If a directory cannot be read. A file that cannot be read is among the others.
pub(crate) fn split(paths: &[PathBuf]) -> Result<(Vec<OwnSource>, Vec<PathBuf>)> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for path in super::texts::files_of(paths)? {
        if is_spool(&path) {
            continue;
        }
        let is_pipe = path == Path::new("-");
        let form = match is_pipe {
            true => form_of_input(),
            false => form_of_file(&path),
        };
        match form {
            Some(form) => own.push(OwnSource {
                name: match is_pipe {
                    true => both!("standard input", "標準入力"),
                    false => path.display().to_string(),
                },
                path,
                form,
            }),
            None => others.push(path),
        }
    }
    Ok((own, others))
}

/// Whether a file holds the partial results of an interrupted run, which `hakaru recover` stores.
fn is_spool(path: &Path) -> bool {
    let directory = path.parent().and_then(Path::file_name);
    directory.is_some_and(|name| name.as_encoded_bytes().ends_with(b".db.spool"))
}

fn form_of_file(path: &Path) -> Option<OwnForm> {
    // A pipe would lose what is read here.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut start = Vec::new();
    let file = File::open(path).ok()?;
    file.take(START).read_to_end(&mut start).ok()?;
    form(&start)
}

/// The form of standard input, without taking anything from it. Only lines are recognized by the little that a pipe
/// shows of itself.
fn form_of_input() -> Option<OwnForm> {
    let mut input = std::io::stdin().lock();
    let start = input.fill_buf().ok()?;
    form(start).filter(|form| *form == OwnForm::Lines)
}

fn form(start: &[u8]) -> Option<OwnForm> {
    if start.starts_with(b"SQLite format 3\0") {
        // `PRAGMA application_id` at its place in the header. Databases of other programs are not opened.
        return (start.get(68..72) == Some(b"haka")).then_some(OwnForm::Database);
    }
    let text = String::from_utf8_lossy(start);
    let text = text.trim_start();
    if text.starts_with("{\"format\":") {
        return Some(OwnForm::Lines);
    }
    let is_record = text.contains("\"format\":") && OWN_FIELDS.iter().any(|key| text.contains(key));
    (text.starts_with('[') && is_record).then_some(OwnForm::Array)
}

/// Passes records on in batches, and counts them.
struct BatchReader<'a> {
    name: &'a str,
    batch: OwnRecords,
    /// Length of the text of the batch.
    length: usize,
    /// Number of records of the batch.
    records: usize,
    counts: OwnCounts,
    notes: String,
    /// Number of records that cannot be read.
    unread: usize,
    each: &'a mut dyn FnMut(OwnRecords) -> Result<()>,
}

impl BatchReader<'_> {
    /// Reads one record; `number` is that of its line or its position.
    fn add(&mut self, number: usize, line: &str) -> Result<()> {
        if let Err(why) = self.batch.read(line) {
            self.note(number, &why.to_string());
        }
        self.has_read(line.len())
    }

    /// Adds a record of a database.
    fn add_stored(&mut self, record: RecordText, annotations: Annotations) -> Result<()> {
        let length = record.text().len();
        let subject = record.record().series.clone();
        self.batch.annotate(subject, annotations);
        self.batch.records.push(record);
        self.has_read(length)
    }

    fn has_read(&mut self, length: usize) -> Result<()> {
        self.length += length;
        self.records += 1;
        if self.length >= BATCH || self.records >= BATCH_RECORDS {
            self.pass_on()?;
        }
        Ok(())
    }

    /// Notes that a record cannot be read.
    fn note(&mut self, number: usize, why: &str) {
        self.unread += 1;
        if self.unread > MOST_NOTES {
            return;
        }
        let name = self.name;
        self.notes += &(plain(&both!(
            "{name}:{number}: not read: {why}",
            "{name}:{number}: 読み込めません: {why}"
        )) + "\n");
    }

    fn pass_on(&mut self) -> Result<()> {
        (self.length, self.records) = (0, 0);
        self.counts.add(OwnCounts::of(&self.batch));
        (self.each)(std::mem::take(&mut self.batch))
    }
}

impl OwnSource {
    /// Reads all records, and passes them on in batches. Returns notes.
    ///
    /// # Errors
    /// If the file cannot be read, or the error of `each`.
    pub(crate) fn read(&self, each: &mut dyn FnMut(OwnRecords) -> Result<()>) -> Result<String> {
        let mut reader = BatchReader {
            name: &self.name,
            batch: OwnRecords::default(),
            length: 0,
            records: 0,
            counts: OwnCounts::default(),
            notes: String::new(),
            unread: 0,
            each,
        };
        let open = || {
            let name = &self.name;
            File::open(&self.path).named(|| both!("cannot read {name}", "{name}を読み込めません"))
        };
        match self.form {
            OwnForm::Lines if self.path == Path::new("-") => {
                lines(&mut std::io::stdin().lock(), &mut reader)?;
            }
            OwnForm::Lines => lines(&mut BufReader::new(open()?), &mut reader)?,
            OwnForm::Array => array(open()?, &mut reader)?,
            OwnForm::Database => database(&Store::read(&self.path)?, &mut reader)?,
        }
        reader.pass_on()?;
        let mut notes = reader.notes;
        if reader.unread > MOST_NOTES {
            let others = reader.unread - MOST_NOTES;
            notes += &both!("and {others} more lines\n", "ほか{others}行\n");
        }
        notes += &reader.counts.note(&self.name);
        Ok(notes)
    }
}

fn lines(from: &mut dyn BufRead, reader: &mut BatchReader<'_>) -> Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let name = reader.name;
        let failed = || both!("cannot read {name}", "{name}を読み込めません");
        let mut limited = from.take(LONGEST_RECORD);
        if limited.read_until(b'\n', &mut line).with_context(failed)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        // The rest of a longer line is read as one more, and is no record either.
        if !text.trim().is_empty() {
            reader.add(number, text.trim_end_matches(['\r', '\n']))?;
        }
    }
    Ok(())
}

/// Reads the objects of a list one by one.
fn array(mut file: File, reader: &mut BatchReader<'_>) -> Result<()> {
    file.rewind()?;
    let mut failure = None;
    let mut list = serde_json::Deserializer::from_reader(BufReader::new(file));
    let seed = ArrayReader {
        reader,
        failure: &mut failure,
    };
    let read = seed.deserialize(&mut list).and_then(|()| list.end());
    if let Some(failure) = failure {
        return Err(failure);
    }
    if let Err(why) = read {
        let (name, number) = (reader.name, why.line());
        reader.notes += &(plain(&both!(
            "{name}:{number}: not read: {why}",
            "{name}:{number}: 読み込めません: {why}"
        )) + "\n");
    }
    Ok(())
}

struct ArrayReader<'a, 'b> {
    reader: &'a mut BatchReader<'b>,
    /// The error of whoever takes the records.
    failure: &'a mut Option<anyhow::Error>,
}

impl<'de> DeserializeSeed<'de> for ArrayReader<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<(), D::Error> {
        list.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ArrayReader<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&both!("a list of records", "記録の一覧"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(one) = list.next_element::<serde_json::Value>()? {
            number += 1;
            if let Err(failure) = self.reader.add(number, &one.to_string()) {
                *self.failure = Some(failure);
                return Err(A::Error::custom(both!(
                    "the records cannot be stored",
                    "記録を保存できません"
                )));
            }
        }
        Ok(())
    }
}

/// Reads all records of a database.
fn database(store: &Store, reader: &mut BatchReader<'_>) -> Result<()> {
    let mut number = 0;
    each_run(store, &mut |id| {
        number += 1;
        match store.run_text(id) {
            Ok(record) => {
                let annotations = store.annotations(&record.record().series)?;
                reader.add_stored(record, annotations)
            }
            Err(error) if error.is_unreadable() => {
                reader.note(number, &error.to_string());
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    })?;
    for verification in store.verifications(u32::MAX)?.records.iter().rev() {
        number += 1;
        let verification = store.raw_verification(&verification.id)?;
        let annotations = store.annotations(&verification.id)?;
        let line = with_annotations(export_verification(&verification)?, &annotations);
        reader.add(number, &line)?;
    }
    for anatomy in store.anatomies(u32::MAX)?.records.iter().rev() {
        number += 1;
        reader.add(number, &anatomy_line(store, &anatomy.id)?)?;
    }
    Ok(())
}

/// Number of IDs that are read at a time.
const PAGE: u32 = 1000;

/// Calls a function with the IDs of all runs, first started first.
pub(crate) fn each_run(store: &Store, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    let mut last = None;
    loop {
        let page: Vec<(i64, String)> = store
            .runs_after(last.as_ref(), PAGE)
            .map_err(|error: StoreError| error)?;
        for (_, id) in &page {
            each(id)?;
        }
        match page.into_iter().next_back() {
            Some(end) => last = Some(end),
            None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: 4 MiB of short records took 65 MiB of memory.
    #[test]
    fn batches_end_after_their_length_or_number_of_records() {
        let batches_of = |records: usize, length: usize| {
            let mut batches = 0;
            let mut reader = BatchReader {
                name: "",
                batch: OwnRecords::default(),
                length: 0,
                records: 0,
                counts: OwnCounts::default(),
                notes: String::new(),
                unread: 0,
                each: &mut |_| {
                    batches += 1;
                    Ok(())
                },
            };
            for _ in 0..records {
                reader.has_read(length).unwrap();
            }
            batches
        };
        assert_eq!(batches_of(BATCH_RECORDS - 1, 1), 0);
        assert_eq!(batches_of(3 * BATCH_RECORDS, 1), 3);
        assert_eq!(batches_of(4, BATCH / 2), 2);
    }
}
