//! Copies what another database has and this one lacks, so that two databases of a team become equal.
//!
//! Runs and verifications never change, so their union by ID has no conflicts. Labels, titles and notes are histories in
//! order of time: the union of two histories has the same end, whichever database is merged into the other.

use crate::anatomies::parse as parse_anatomy;
use crate::annotations;
use crate::append::{Appended, check_id};
use crate::verified::parse as parse_verification;
use crate::{AppendError, ArchiveError, FindError, RecordText, Store, StoreError};
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::annotation::AnnotationKind;
use hakaru_model::integrity::Verification;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

/// Number of rows that are read, and stored in one transaction, at a time.
const BATCH: usize = 200;

/// What a merge has added, and what it has left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Number of new runs.
    pub runs: u64,
    /// Number of new verifications.
    pub verifications: u64,
    /// Number of new anatomies, and of those with more experiments than before.
    pub anatomies: u64,
    /// Number of new labels, titles and notes.
    pub annotations: u64,
    /// Number of new campaign definitions.
    pub campaigns: u64,
    /// Number of new prices of cards.
    pub prices: u64,
    /// IDs of runs, verifications and anatomies that differ in the two databases; none is changed.
    pub conflicts: Vec<String>,
    /// IDs of records that cannot be read, each with the reason.
    pub unreadable: Vec<(String, String)>,
}

impl Merged {
    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        let Merged {
            runs,
            verifications,
            anatomies,
            annotations,
            campaigns,
            prices,
            conflicts: _,
            unreadable: _,
        } = self;
        let added = [
            runs,
            verifications,
            anatomies,
            annotations,
            campaigns,
            prices,
        ];
        added.into_iter().all(|added| *added == 0)
    }
}

/// A row that identifies a stored record.
struct MergedRow {
    seq: i64,
    id: String,
    fingerprint: Option<i64>,
}

/// A table of records that are read one by one, unlike those of runs.
struct MergedTable<T> {
    /// Selects ID and text, in the order in which they were stored.
    select: &'static str,
    /// What fails if it cannot be read.
    action: &'static str,
    /// Parses the text of a record with an ID.
    parse: fn(&str, &str) -> Result<T, FindError>,
    /// Returns the ID in a record.
    id: fn(&T) -> &str,
    /// Stores a record as the text that it was parsed from.
    append: fn(&mut Store, &T, &str) -> Result<Appended, AppendError>,
}

const VERIFICATIONS: MergedTable<Verification> = MergedTable {
    select: "SELECT id, body FROM verification ORDER BY seq",
    action: "list the verifications",
    parse: parse_verification,
    id: |verification| &verification.id,
    append: Store::append_verification_text,
};

/// A later state of an unfinished anatomy replaces the earlier one.
const ANATOMIES: MergedTable<AnatomyRecord> = MergedTable {
    select: "SELECT id, body FROM anatomy ORDER BY seq",
    action: "list the anatomies",
    parse: parse_anatomy,
    id: |anatomy| &anatomy.id,
    append: Store::append_anatomy_text,
};

impl Store {
    /// Copies runs, verifications, anatomies, annotations, campaign definitions and prices that `from` has and this database lacks.
    ///
    /// Records are copied as they are written, and in transactions of some hundred: an interrupted merge is continued by
    /// the next one. `progress` is called with the number of runs that were examined, and their total.
    ///
    /// # Errors
    /// [`ArchiveError`] if one of the databases cannot be read or written. A record that cannot be read, or that differs
    /// in the two databases, is no error: see [`Merged`].
    pub fn merge(
        &mut self,
        from: &Store,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Merged, ArchiveError> {
        // First, because the rows derived from runs have their labels.
        let mut merged = Merged {
            annotations: self.merge_annotations(from)?,
            ..Merged::default()
        };
        self.merge_runs(from, &mut merged, progress)?;
        merged.verifications = self.merge_table(from, &VERIFICATIONS, &mut merged)?;
        merged.anatomies = self.merge_table(from, &ANATOMIES, &mut merged)?;
        let copied = |table, rows: rusqlite::Result<u64>| rows.map_err(self.failed(table));
        merged.campaigns = copied(
            "copy the campaigns",
            copy_absent(
                &from.connection,
                &self.connection,
                "campaign",
                ["id", "asked"],
            ),
        )?;
        merged.prices = copied(
            "copy the prices",
            copy_absent(
                &from.connection,
                &self.connection,
                "price",
                ["card", "price"],
            ),
        )?;
        self.settle();
        Ok(merged)
    }

    fn merge_runs(
        &mut self,
        from: &Store,
        merged: &mut Merged,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), ArchiveError> {
        let total = from.count()?;
        let (mut last, mut examined) = (0, 0);
        loop {
            let rows = from
                .rows_after(last)
                .map_err(from.failed("list the runs"))?;
            let Some(end) = rows.last() else {
                return Ok(());
            };
            last = end.seq;
            examined += rows.len() as u64;
            let mut new = Vec::new();
            for row in rows {
                if check_id(&row.id).is_err() {
                    let reason = "invalid ID".to_owned();
                    merged.unreadable.push((row.id, reason));
                    continue;
                }
                match self
                    .run_fingerprint(&row.id)
                    .map_err(self.failed("look for a run"))?
                {
                    None => new.extend(readable(from, &row.id, merged)?),
                    Some(own) if own.zip(row.fingerprint).is_some_and(|(a, b)| a != b) => {
                        merged.conflicts.push(row.id);
                    }
                    Some(_) => {}
                }
            }
            self.append_texts(&new)?;
            merged.runs += new.len() as u64;
            // A merge of many runs is no endless operation.
            from.work.renew();
            progress(examined.min(total), total);
        }
    }

    /// The next runs in the order in which they were stored. Those without derived rows have a fingerprint of `None`.
    fn rows_after(&self, seq: i64) -> rusqlite::Result<Vec<MergedRow>> {
        let sql = "SELECT record.seq, record.id, run.fingerprint FROM record LEFT JOIN run ON run.seq = record.seq
             WHERE record.seq > ?1 ORDER BY record.seq LIMIT ?2";
        let row = |row: &Row<'_>| {
            Ok(MergedRow {
                seq: row.get(0)?,
                id: row.get(1)?,
                fingerprint: row.get(2)?,
            })
        };
        self.connection
            .prepare_cached(sql)?
            .query_map(params![seq, BATCH as i64], row)?
            .collect()
    }

    /// The fingerprint of a stored run, which may be unknown; `None` if there is no such run.
    fn run_fingerprint(&self, id: &str) -> rusqlite::Result<Option<Option<i64>>> {
        let sql = "SELECT run.fingerprint FROM record LEFT JOIN run ON run.seq = record.seq WHERE record.id = ?1";
        self.connection
            .prepare_cached(sql)?
            .query_row([id], |row| row.get(0))
            .optional()
    }

    /// Copies the records of a table that are missing here; returns their number.
    fn merge_table<T>(
        &mut self,
        from: &Store,
        table: &MergedTable<T>,
        merged: &mut Merged,
    ) -> Result<u64, ArchiveError> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement = from.connection.prepare(table.select)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        let mut copied = 0;
        for (id, body) in read().map_err(from.failed(table.action))? {
            let record = match (table.parse)(&id, &body) {
                Ok(record) if check_id(&id).is_ok() && (table.id)(&record) == id => record,
                Ok(_) => {
                    merged.unreadable.push((id, "invalid ID".to_owned()));
                    continue;
                }
                Err(error) => {
                    merged.unreadable.push((id, error.to_string()));
                    continue;
                }
            };
            match (table.append)(self, &record, &body) {
                Ok(Appended::Stored) => copied += 1,
                Ok(Appended::AlreadyThere) => {}
                Err(AppendError::Conflict { .. }) => merged.conflicts.push(id),
                Err(AppendError::Stored(error)) if error.is_unreadable() => {
                    merged.conflicts.push(id);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(copied)
    }

    /// Adds the annotations of another database to the histories of this one; returns the number of new ones.
    fn merge_annotations(&mut self, from: &Store) -> Result<u64, StoreError> {
        let path = self.path().to_owned();
        let mut added = 0;
        let mut last = 0;
        loop {
            let rows = annotation_rows(&from.connection, last)
                .map_err(from.failed("read labels and notes"))?;
            let Some(end) = rows.last() else {
                return Ok(added);
            };
            last = end.seq;
            let mut insert_all = || -> rusqlite::Result<u64> {
                let transaction = self
                    .connection
                    .transaction_with_behavior(TransactionBehavior::Immediate)?;
                let mut count = 0;
                for row in &rows {
                    count += u64::from(insert_annotation(&transaction, row)?);
                }
                transaction.commit()?;
                Ok(count)
            };
            added += insert_all().map_err(|source| StoreError {
                action: "store a label or note",
                path: path.clone(),
                source,
            })?;
            self.work.renew();
            from.work.renew();
        }
    }
}

/// The text of a run; `None`, and noted, if it cannot be read.
fn readable(
    from: &Store,
    id: &str,
    merged: &mut Merged,
) -> Result<Option<RecordText>, ArchiveError> {
    match from.run_text(id) {
        // A row whose body has another ID would be stored under that one.
        Ok(text) if text.record().id != id || check_id(&text.record().series).is_err() => {
            merged
                .unreadable
                .push((id.to_owned(), "invalid ID".to_owned()));
            Ok(None)
        }
        Ok(text) => Ok(Some(text)),
        Err(error) if error.is_unreadable() => {
            merged.unreadable.push((id.to_owned(), error.to_string()));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// An annotation as it is stored; its kind may be of a later version.
struct AnnotationRow {
    seq: i64,
    subject: String,
    kind: String,
    value: String,
    at_unix_ms: i64,
}

fn annotation_rows(connection: &Connection, after: i64) -> rusqlite::Result<Vec<AnnotationRow>> {
    let sql = "SELECT seq, subject, kind, value, at_unix_ms FROM annotation WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let row = |row: &Row<'_>| {
        Ok(AnnotationRow {
            seq: row.get(0)?,
            subject: row.get(1)?,
            kind: row.get(2)?,
            value: row.get(3)?,
            at_unix_ms: row.get(4)?,
        })
    };
    connection
        .prepare_cached(sql)?
        .query_map(params![after, BATCH as i64], row)?
        .collect()
}

/// Inserts an annotation that this history lacks, and gives the runs the label that is now the last one.
fn insert_annotation(connection: &Connection, new: &AnnotationRow) -> rusqlite::Result<bool> {
    let AnnotationRow {
        seq: _,
        subject,
        kind,
        value,
        at_unix_ms,
    } = new;
    let known = "SELECT EXISTS (SELECT 1 FROM annotation
         WHERE subject = ?1 AND kind = ?2 AND value = ?3 AND at_unix_ms = ?4)";
    let values = params![subject, kind, value, at_unix_ms];
    if connection
        .prepare_cached(known)?
        .query_row(values, |row| row.get(0))?
    {
        return Ok(false);
    }
    connection
        .prepare_cached(annotations::INSERT)?
        .execute(values)?;
    if AnnotationKind::from_name(kind) == Some(AnnotationKind::Label) {
        let label = annotations::current(connection, subject)?.label;
        annotations::rename_runs(connection, subject, &label.unwrap_or_default())?;
    }
    Ok(true)
}

/// Copies the rows of a table with two columns whose first one is absent; returns their number.
fn copy_absent(
    from: &Connection,
    to: &Connection,
    table: &str,
    [key, value]: [&str; 2],
) -> rusqlite::Result<u64> {
    let mut statement = from.prepare(&format!("SELECT {key}, {value} FROM {table}"))?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows: Vec<(String, String)> = rows.collect::<rusqlite::Result<_>>()?;
    let sql = format!(
        "INSERT INTO {table} ({key}, {value}) VALUES (?1, ?2) ON CONFLICT ({key}) DO NOTHING"
    );
    let mut copied = 0;
    for row in rows {
        copied += to.prepare_cached(&sql)?.execute(row)? as u64;
    }
    Ok(copied)
}
