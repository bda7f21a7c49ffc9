//! Appends records. Stored records never change: an equal record is accepted again, a different one
//! with the same ID is refused.

use crate::pack::{self, BODY, PackedBody};
use crate::{
    ExportError, FindError, ImportError, RecordText, Store, StoreError, derive, export, import,
};
use hakaru_model::record::RunRecord;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::borrow::Cow;
use std::path::PathBuf;

/// Maximum length of an ID; a UUID has 36 characters.
const ID_MAX: usize = 64;

/// Result of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The record was stored.
    Stored,
    /// An equal record was stored before.
    AlreadyThere,
}

/// Errors of [`Store::append`] and [`Store::append_all`].
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// The ID contains characters that cannot be typed or printed, or is too long.
    #[error(
        "failed to store a run: invalid ID {id:?}: use 1 to 64 letters, digits, `-`, `_` or `.`, \
        such as a UUID"
    )]
    BadId {
        /// The ID.
        id: String,
    },
    /// A different record has the same ID.
    #[error(
        "failed to store {id}: the database {} has a different result with this ID; help: give \
        the new one a unique ID (stored results are never changed)", path.display()
    )]
    Conflict {
        /// The ID.
        id: String,
        /// The database.
        path: PathBuf,
    },
    /// The stored record with this ID cannot be read.
    #[error(transparent)]
    Stored(#[from] FindError),
    /// The record cannot be written as JSON.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The record cannot be read back, for example because it contains a NaN.
    #[error("failed to store a run: its record could not be read back: {0}")]
    Unreadable(#[source] ImportError),
    /// SQLite reports an error.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A record with its serialized body.
struct EncodedRecord<'a> {
    record: &'a RunRecord,
    body: Cow<'a, str>,
}

impl<'a> EncodedRecord<'a> {
    fn new(record: &'a RunRecord) -> Result<EncodedRecord<'a>, AppendError> {
        check_ids(record)?;
        let body = export(record)?;
        import(&body).map_err(AppendError::Unreadable)?;
        let body = Cow::Owned(body);
        Ok(EncodedRecord { record, body })
    }

    fn of(text: &'a RecordText) -> Result<EncodedRecord<'a>, AppendError> {
        check_ids(text.record())?;
        Ok(EncodedRecord {
            record: text.record(),
            body: Cow::Borrowed(text.text()),
        })
    }
}

fn check_ids(record: &RunRecord) -> Result<(), AppendError> {
    check_id(&record.id)?;
    check_id(&record.series)
}

/// IDs are typed and printed: short, ASCII letters, digits and `-_.` only.
pub(crate) fn check_id(id: &str) -> Result<(), AppendError> {
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if id.is_empty() || id.len() > ID_MAX || !id.chars().all(known) {
        return Err(AppendError::BadId { id: id.to_owned() });
    }
    Ok(())
}

impl Store {
    /// Appends one record. When this returns, the record survives a power cut.
    ///
    /// # Errors
    /// [`AppendError`]; nothing is stored then.
    pub fn append(&mut self, record: &RunRecord) -> Result<Appended, AppendError> {
        let appended = self.append_all([record])?;
        Ok(appended.first().copied().unwrap_or(Appended::AlreadyThere))
    }

    /// Appends many records in one transaction; returns what became of each.
    ///
    /// # Errors
    /// [`AppendError`] of the first record that cannot be stored.
    pub fn append_all<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a RunRecord>,
    ) -> Result<Vec<Appended>, AppendError> {
        self.append_encoded(records.into_iter().map(EncodedRecord::new))
    }

    /// Appends many records as they are written, in one transaction; returns what became of each.
    ///
    /// # Errors
    /// [`AppendError`] of the first record that cannot be stored.
    pub fn append_texts<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a RecordText>,
    ) -> Result<Vec<Appended>, AppendError> {
        self.append_encoded(records.into_iter().map(EncodedRecord::of))
    }

    fn append_encoded<'a>(
        &mut self,
        records: impl Iterator<Item = Result<EncodedRecord<'a>, AppendError>>,
    ) -> Result<Vec<Appended>, AppendError> {
        let path = self.path().to_owned();
        let failed = |source| StoreError {
            action: "store a run",
            path: path.clone(),
            source,
        };
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let mut all = Vec::new();
        for prepared in records {
            let prepared = prepared?;
            let appended = insert(&transaction, &prepared).map_err(failed)?;
            let appended = appended.ok_or_else(|| AppendError::Conflict {
                id: prepared.record.id.clone(),
                path: path.clone(),
            })?;
            all.push(appended);
        }
        transaction.commit().map_err(failed)?;
        self.settle();
        Ok(all)
    }

    /// Checkpoints the WAL, so that the database file alone is complete for anyone who copies it.
    pub(crate) fn settle(&self) {
        self.work.renew();
        // The commit is already synced. If the checkpoint fails (another reader, a full disk), the
        // next one catches up.
        let _ = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

/// Returns `None` if a different record has the ID.
fn insert(connection: &Connection, new: &EncodedRecord<'_>) -> rusqlite::Result<Option<Appended>> {
    let stored = connection
        .prepare_cached(&format!("SELECT {BODY} FROM record WHERE id = ?1"))?
        .query_row([&new.record.id], |row| pack::body(row, 0))
        .optional()?;
    if let Some(stored) = stored {
        return Ok(same(&stored, &new.body).then_some(Appended::AlreadyThere));
    }
    let (body, packed) = match pack::pack(connection, new.record, &new.body)? {
        Some(packed) => ("", packed),
        None => (&*new.body, PackedBody::default()),
    };
    let mut raw = connection.prepare_cached(
        "INSERT INTO record (id, format, body, scenario, packed) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    let PackedBody { scenario, packed } = packed;
    raw.execute(params![
        new.record.id,
        new.record.format,
        body,
        scenario,
        packed
    ])?;
    derive::insert(connection, connection.last_insert_rowid(), new.record)?;
    Ok(Some(Appended::Stored))
}

/// Compares parsed JSON, because earlier versions may have written different white space.
fn same(stored: &str, new: &str) -> bool {
    stored == new || matches!((import(stored), import(new)), (Ok(a), Ok(b)) if a == b)
}
