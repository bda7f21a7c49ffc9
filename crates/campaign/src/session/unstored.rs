//! A record that could not be stored, with the reason and the location of its copy.

use super::spooling::Spooling;
use hakaru_model::record::RunRecord;
use hakaru_store::AppendError;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Error of storing a record. The record is not lost: `copy` is its location.
#[derive(Debug, thiserror::Error)]
#[error("the run finished, but its record could not be stored: {source}{}", where_copied(.copy))]
pub struct UnstoredRecord {
    /// The error.
    pub source: Box<AppendError>,
    /// Location of the complete record.
    pub copy: UnstoredCopy,
}

/// Location of a record that could not be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnstoredCopy {
    /// In its spool, next to the database.
    Spool,
    /// In a temporary file of its own.
    File(PathBuf),
    /// Nowhere; only the returned value contains it.
    Nowhere,
}

impl UnstoredRecord {
    pub(super) fn new(
        source: AppendError,
        record: &RunRecord,
        spool: Option<Spooling>,
    ) -> UnstoredRecord {
        UnstoredRecord {
            source: Box::new(source),
            copy: UnstoredCopy::write(record, spool, &std::env::temp_dir()),
        }
    }
}

impl UnstoredCopy {
    /// Writes a complete record to its spool, or to a temporary file if the spool cannot be written, for example on a
    /// full file system.
    fn write(record: &RunRecord, spool: Option<Spooling>, temporary: &Path) -> UnstoredCopy {
        if spool.is_some_and(|spool| spool.leave(record)) {
            return UnstoredCopy::Spool;
        }
        let path = temporary.join(format!("hakaru-{}.jsonl", record.id));
        match write_new(&path, record) {
            Ok(()) => UnstoredCopy::File(path),
            Err(_) => UnstoredCopy::Nowhere,
        }
    }
}

fn write_new(path: &Path, record: &RunRecord) -> io::Result<()> {
    let text = hakaru_store::export(record).map_err(io::Error::other)?;
    let mut file = File::create_new(path)?;
    let written = file
        .write_all(format!("{text}\n").as_bytes())
        .and_then(|()| file.sync_all());
    if written.is_err() {
        // An incomplete record is useless.
        let _ = std::fs::remove_file(path);
    }
    written
}

fn where_copied(copy: &UnstoredCopy) -> String {
    match copy {
        UnstoredCopy::Spool => {
            "; help: it is saved next to the database: once the database is writable, `hakaru \
            recover` stores it"
                .to_owned()
        }
        UnstoredCopy::File(path) => {
            let path = path.display();
            format!(
                "; help: it is saved in {path}: once the database is writable, store it with \
                `hakaru import {path}`"
            )
        }
        UnstoredCopy::Nowhere => String::new(),
    }
}
