//! Appending records: once stored, they stay; the same one again is harmless, another under its id is refused.

use crate::{ExportError, ImportError, Store, StoreError, derive, export, import};
use hakaru_model::record::RunRecord;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use std::path::PathBuf;

/// Longest id; a UUID has 36 characters.
const ID_MAX: usize = 64;

/// What an append did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The record is stored now.
    Stored,
    /// The very same record was stored before.
    AlreadyThere,
}

/// Why a record was not appended.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// An id is also typed and printed.
    #[error(
        "failed to store a run with the id {id:?}: an id is 1 to 64 letters, digits, `-`, `_` or `.`, such as a UUID"
    )]
    BadId {
        /// The id.
        id: String,
    },
    /// Another record has this id.
    #[error(
        "failed to store run {id}: the database {} has another run under this id, and a stored run is never changed. \
         Give the new one an id of its own", path.display()
    )]
    Conflict {
        /// The id.
        id: String,
        /// The database.
        path: PathBuf,
    },
    /// It has no text form.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// It could not be read again, for instance because it holds a number that is none.
    #[error("failed to store a run that could not be read again: {0}")]
    Unreadable(#[source] ImportError),
    /// The database refuses.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A record in the form in which it is stored.
struct EncodedRecord<'a> {
    record: &'a RunRecord,
    body: String,
}

impl EncodedRecord<'_> {
    fn new(record: &RunRecord) -> Result<EncodedRecord<'_>, AppendError> {
        check_id(&record.id)?;
        check_id(&record.series)?;
        let body = export(record)?;
        import(&body).map_err(AppendError::Unreadable)?;
        Ok(EncodedRecord { record, body })
    }
}

/// An id is typed and printed, so it has to be short and plain.
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
        let new = self.append_all([record])?;
        Ok(if new == 1 {
            Appended::Stored
        } else {
            Appended::AlreadyThere
        })
    }

    /// Appends many records in one transaction, all or none; returns how many were not there before.
    ///
    /// # Errors
    /// [`AppendError`] of the first that cannot be stored.
    pub fn append_all<'a>(
        &mut self,
        records: impl IntoIterator<Item = &'a RunRecord>,
    ) -> Result<u64, AppendError> {
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
        let mut new = 0;
        for record in records {
            let prepared = EncodedRecord::new(record)?;
            match insert(&transaction, &prepared).map_err(failed)? {
                Some(Appended::Stored) => new += 1,
                Some(Appended::AlreadyThere) => {}
                None => {
                    return Err(AppendError::Conflict {
                        id: record.id.clone(),
                        path: path.clone(),
                    });
                }
            }
        }
        transaction.commit().map_err(failed)?;
        self.settle();
        Ok(new)
    }

    /// Takes what was committed from the log into the database, so that its file is whole for those who copy it.
    pub(crate) fn settle(&self) {
        // The commit itself is synced. Should this fail (a reader in between, a full disk) the next one makes up for it.
        let _ = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

/// `None` when another record has the id.
fn insert(connection: &Connection, new: &EncodedRecord<'_>) -> rusqlite::Result<Option<Appended>> {
    let stored: Option<String> = connection
        .prepare_cached("SELECT body FROM record WHERE id = ?1")?
        .query_row([&new.record.id], |row| row.get(0))
        .optional()?;
    if let Some(stored) = stored {
        return Ok(same(&stored, &new.body).then_some(Appended::AlreadyThere));
    }
    let mut raw =
        connection.prepare_cached("INSERT INTO record (id, format, body) VALUES (?1, ?2, ?3)")?;
    raw.execute(params![new.record.id, new.record.format, new.body])?;
    derive::insert(connection, new.record)?;
    Ok(Some(Appended::Stored))
}

/// An earlier build may have written the same record with other spacing, so the content decides.
fn same(stored: &str, new: &str) -> bool {
    stored == new || matches!((import(stored), import(new)), (Ok(a), Ok(b)) if a == b)
}
