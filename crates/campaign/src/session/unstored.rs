//! A record that the database did not take: why, and where it lies instead.

use super::spooling::Spooling;
use hakaru_model::record::RunRecord;
use hakaru_store::AppendError;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Why a record could not be stored. It is not lost: it lies where `copy` says.
#[derive(Debug, thiserror::Error)]
#[error("the run finished, but its record could not be stored: {source}{}", where_copied(.copy))]
pub struct UnstoredRecord {
    /// Why not.
    pub source: Box<AppendError>,
    /// Where the whole record lies instead.
    pub copy: UnstoredCopy,
}

/// Where a record lies that the database did not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnstoredCopy {
    /// In its spool, beside the database.
    Spool,
    /// In a file of its own, among the temporary ones.
    File(PathBuf),
    /// Nowhere: only whoever has it at hand can still show it.
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
    /// Writes a whole record: to its spool or, where that cannot be written either, as on a file system that is full, in a
    /// temporary file.
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
        // Half a record is none.
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
