//! Labels, titles and notes beside the records, which never change.

use crate::pack::{self, BODY};
use crate::{FindError, Store, StoreError, derive, import};
use hakaru_model::annotation::{Annotation, AnnotationKind, Annotations};
use hakaru_model::record::RunRecord;
use rusqlite::{Connection, TransactionBehavior, params};

/// Stores one annotation.
pub(crate) const INSERT: &str =
    "INSERT INTO annotation (subject, kind, value, at_unix_ms) VALUES (?1, ?2, ?3, ?4)";

impl Store {
    /// Appends annotations; those that change nothing are skipped. Returns the number of new ones. Each gets a time after
    /// the history of its subject.
    ///
    /// # Errors
    /// [`StoreError`]; nothing is stored then.
    pub fn annotate(&mut self, new: &[Annotation]) -> Result<u64, StoreError> {
        let path = self.path().to_owned();
        let mut appended = || -> rusqlite::Result<u64> {
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut count = 0;
            for annotation in new {
                count += u64::from(insert(&transaction, annotation)?);
            }
            transaction.commit()?;
            Ok(count)
        };
        let count = appended().map_err(|source| StoreError {
            action: "store a label or note",
            path,
            source,
        })?;
        self.settle();
        Ok(count)
    }

    /// Returns the current annotations of a series or verification, given its full ID.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn annotations(&self, subject: &str) -> Result<Annotations, StoreError> {
        Ok(Annotations::at_end(&self.annotation_history(subject)?))
    }

    /// Returns all annotations of a series or verification, oldest first.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn annotation_history(&self, subject: &str) -> Result<Vec<Annotation>, StoreError> {
        history(&self.connection, subject).map_err(self.failed("read labels and notes"))
    }

    /// Returns the IDs of the series with this label or target name, in any case; last stored first. An exact match
    /// excludes matches in another case.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn series_called(&self, name: &str) -> Result<Vec<String>, StoreError> {
        let select = || -> rusqlite::Result<Vec<(String, bool)>> {
            let sql = "SELECT id, target = ?1 FROM series WHERE target = ?1 COLLATE NOCASE ORDER BY last DESC";
            let mut found = self
                .connection
                .prepare_cached(sql)?
                .query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<Vec<(String, bool)>>>()?;
            for subject in self.select_series_with_alias(name)? {
                if found.iter().all(|(series, _)| *series != subject) {
                    found.push((subject, true));
                }
            }
            Ok(found)
        };
        let found = select().map_err(self.failed("look for a label"))?;
        let exact = found.iter().any(|(_, exact)| *exact);
        let wanted = found.into_iter().filter(|(_, is)| *is || !exact);
        Ok(wanted.map(|(series, _)| series).collect())
    }

    /// Returns the series that had a name before, or have it as a further one.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub fn series_with_alias(&self, name: &str) -> Result<Vec<String>, StoreError> {
        self.select_series_with_alias(name)
            .map_err(self.failed("look for a label"))
    }

    fn select_series_with_alias(&self, name: &str) -> rusqlite::Result<Vec<String>> {
        let mut found = Vec::new();
        for subject in subjects_with_alias(&self.connection, name)? {
            if self.is_series(&subject)? {
                found.push(subject);
            }
        }
        Ok(found)
    }

    /// Returns a run as it was stored, without later labels, given its full ID.
    ///
    /// # Errors
    /// [`FindError`]: no match, or an unreadable record.
    pub fn raw_run(&self, id: &str) -> Result<RunRecord, FindError> {
        let body = self.body(id).map_err(self.failed("read a run"))?;
        Ok(pack::parse(id, &body)?)
    }

    /// Parses a record, and gives it its current label.
    pub(crate) fn labelled(&self, id: &str, body: &str) -> Result<RunRecord, FindError> {
        let mut record = pack::parse(id, body)?;
        if let Some(label) = self.annotations(&record.series)?.label {
            record.target.label = Some(label);
        }
        Ok(record)
    }

    fn is_series(&self, id: &str) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM run WHERE series = ?1)")?
            .query_row([id], |row| row.get(0))
    }
}

/// Returns the current annotations of a series.
pub(crate) fn current(connection: &Connection, subject: &str) -> rusqlite::Result<Annotations> {
    Ok(Annotations::at_end(&history(connection, subject)?))
}

fn history(connection: &Connection, subject: &str) -> rusqlite::Result<Vec<Annotation>> {
    // Not in the order of storage: the history of another database may have been merged.
    let sql = "SELECT subject, kind, value, at_unix_ms FROM annotation WHERE subject = ?1
         ORDER BY at_unix_ms, instr('label alias title note', kind), value";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([subject], |row| {
        let (subject, kind, value): (_, String, _) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let at_unix_ms = row.get(3)?;
        // A kind of a later version is skipped.
        Ok(AnnotationKind::from_name(&kind).map(|kind| Annotation {
            subject,
            kind,
            value,
            at_unix_ms,
        }))
    })?;
    rows.filter_map(Result::transpose).collect()
}

/// Returns the series and verifications that currently have this alias.
fn subjects_with_alias(connection: &Connection, name: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT DISTINCT subject FROM annotation WHERE kind = 'alias' AND value = ?1 COLLATE NOCASE";
    let mut statement = connection.prepare_cached(sql)?;
    let subjects = statement.query_map([name], |row| row.get(0))?;
    let subjects: Vec<String> = subjects.collect::<rusqlite::Result<_>>()?;
    let mut found = Vec::new();
    for subject in subjects {
        let aliases = current(connection, &subject)?.aliases;
        if aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name)) {
            found.push(subject);
        }
    }
    Ok(found)
}

/// Inserts an annotation that changes something, and the new name of its runs.
fn insert(connection: &Connection, new: &Annotation) -> rusqlite::Result<bool> {
    let mut history = history(connection, &new.subject)?;
    let before = Annotations::at_end(&history);
    let at_unix_ms = time_after(&history, new);
    history.push(new.clone());
    if Annotations::at_end(&history) == before {
        return Ok(false);
    }
    connection.prepare_cached(INSERT)?.execute(params![
        new.subject,
        new.kind.name(),
        new.value,
        at_unix_ms
    ])?;
    if new.kind == AnnotationKind::Label {
        rename_runs(connection, &new.subject, &new.value)?;
    }
    Ok(true)
}

/// Returns the time of a new annotation, moved behind the history if the clock was set back or has not advanced: the
/// history is ordered by time, then kind, then value.
fn time_after(history: &[Annotation], new: &Annotation) -> i64 {
    let after = history.iter().map(|old| match old.kind < new.kind {
        true => old.at_unix_ms,
        false => old.at_unix_ms.saturating_add(1),
    });
    after.max().unwrap_or(i64::MIN).max(new.at_unix_ms)
}

/// Changes the target name of the runs of a series in the derived table.
pub(crate) fn rename_runs(
    connection: &Connection,
    series: &str,
    label: &str,
) -> rusqlite::Result<()> {
    if !label.is_empty() {
        let mut rename = connection
            .prepare_cached("UPDATE run SET target = ?2, labelled = 1 WHERE series = ?1")?;
        rename.execute([series, label])?;
        return derive::list_series(connection, series);
    }
    let mut bodies = connection.prepare_cached(&format!(
        "SELECT {BODY}, run.seq FROM run JOIN record ON record.seq = run.seq WHERE series = ?1"
    ))?;
    let bodies = bodies.query_map([series], |row| {
        Ok((row.get::<_, i64>(3)?, pack::body(row, 0)?))
    })?;
    let bodies: Vec<(i64, String)> = bodies.collect::<rusqlite::Result<_>>()?;
    let mut rename =
        connection.prepare_cached("UPDATE run SET target = ?2, labelled = ?3 WHERE seq = ?1")?;
    for (seq, body) in bodies {
        if let Ok(RunRecord { target, .. }) = import(&body) {
            rename.execute(params![seq, target.display_name(), target.label.is_some()])?;
        }
    }
    derive::list_series(connection, series)
}

/// Adds annotations to an exported record or verification, which is one line of JSON.
pub fn with_annotations(line: String, annotations: &Annotations) -> String {
    match (line.strip_suffix('}'), serde_json::to_string(annotations)) {
        (Some(head), Ok(text)) if !annotations.is_empty() => {
            format!("{head},\"annotations\":{text}}}")
        }
        _ => line,
    }
}

/// Separates a line of [`with_annotations`] into the exported record and its annotations; `None` if it has none.
pub fn split_annotations(line: &str) -> Option<(String, Annotations)> {
    const NAME: &str = ",\"annotations\":";
    let at = line.rfind(NAME)?;
    let text = line.get(at + NAME.len()..)?.trim_end().strip_suffix('}')?;
    let annotations = hakaru_model::json::from_str(text).ok()?;
    Some((line.get(..at)?.to_owned() + "}", annotations))
}
