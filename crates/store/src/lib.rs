//! Stores run records in one SQLite file: append, look up, export and import.
//!
//! Measurements are stored in the table `record` as compressed JSON text of a [`RunRecord`]; triggers prevent
//! updates and deletes. The tables `run` and `phase` are derived from it and can be rebuilt at any
//! time ([`Store::rebuild`]). Device verifications are stored in the same way. Labels and notes, which may change, are
//! in a table of their own. Spools of unfinished
//! runs are next to the database file, and the state of running processes is in memory ([`live`]). This crate computes no
//! statistics.
//!
//! [`RunRecord`]: hakaru_model::record::RunRecord

#![forbid(unsafe_code)]

mod anatomies;
mod annotations;
mod append;
mod archive;
mod derive;
mod exchange;
mod find;
mod fingerprint;
pub mod live;
mod merge;
mod migrate;
mod open;
mod pack;
mod points;
mod prices;
mod reading;
mod record_text;
mod rows;
mod select;
mod spool;
mod trust;
mod verified;

pub use anatomies::{export_anatomy, import_anatomy};
pub use annotations::{split_annotations, with_annotations};
pub use append::{AppendError, Appended};
pub use archive::ArchiveError;
pub use exchange::{ExportError, ImportError, export, import, import_lines};
pub use find::{FindError, Readable};
pub use fingerprint::fingerprint;
pub use merge::Merged;
pub use open::{JournalMode, OpenError, Store, default_path};
pub use points::PointRow;
pub use record_text::RecordText;
pub use rows::{Filter, OutcomeKind, PhaseRow, RunRow};
pub use select::RunTerm;
pub use spool::{LeftError, OrphanedRun, Spool, SpoolError, WorkerHeader, left};
pub use verified::{export_verification, import_verification};

use rusqlite::ErrorCode;

/// SQLite error during the use of an open database.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} in the database {}: {source}{}", path.display(), cure(.source))]
pub struct StoreError {
    /// The action that failed.
    pub action: &'static str,
    /// The database.
    pub path: std::path::PathBuf,
    /// The SQLite error.
    #[source]
    pub source: rusqlite::Error,
}

/// Advice for errors whose cause is outside the database.
fn cure(source: &rusqlite::Error) -> &'static str {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "; help: another program has locked it: wait for that program (`fuser` shows which), \
            then try again"
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            "; help: the file is damaged, truncated or was copied while in use: copy it again or \
            restore a backup, or salvage it with the `.recover` command of sqlite3"
        }
        Some(ErrorCode::OperationInterrupted) => {
            "; help: the query exceeded the limit for a database of this size, so the file is damaged \
            or was crafted: restore a backup"
        }
        Some(ErrorCode::DiskFull) => {
            "; help: free some space on its file system, or name another file with --db"
        }
        _ => "",
    }
}
