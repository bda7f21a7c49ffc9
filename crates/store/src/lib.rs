//! Keeps run records in one SQLite file: appended, found again, exported and imported, never changed.
//!
//! What was measured lies in the table `record` as the JSON text of a [`RunRecord`]; triggers forbid to update or
//! delete it. The tables `run` and `phase` follow from it and can be built anew at any time ([`Store::rebuild`]).
//! Beside it, in the same way, lie verifications of whole devices, and next to the file the spools of runs that go on.
//! There are no statistics here: whoever wants a mean reads the records and computes it.
//!
//! [`RunRecord`]: hakaru_model::record::RunRecord

#![forbid(unsafe_code)]

mod append;
mod derive;
mod exchange;
mod find;
mod migrate;
mod open;
mod points;
mod reading;
mod rows;
mod spool;
mod verified;

pub use append::{AppendError, Appended};
pub use exchange::{ExportError, ImportError, export, import, import_lines};
pub use find::{FindError, Readable};
pub use open::{JournalMode, OpenError, Store, default_path};
pub use points::PointRow;
pub use rows::{Filter, OutcomeKind, PhaseRow, RunRow};
pub use spool::{LeftError, OrphanedRun, Spool, SpoolError, WorkerHeader, left};
pub use verified::{export_verification, import_verification};

use rusqlite::ErrorCode;

/// The database could not be read or written while it was in use.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} in the database {}: {source}{}", path.display(), cure(.source))]
pub struct StoreError {
    /// What was tried.
    pub action: &'static str,
    /// The database.
    pub path: std::path::PathBuf,
    /// What SQLite says.
    #[source]
    pub source: rusqlite::Error,
}

/// What would help, where the cause is outside of the database.
fn cure(source: &rusqlite::Error) -> &'static str {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            ". Another program keeps it for itself: wait until that one is done (`fuser` on the file shows which), then try again"
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            ". It is damaged, cut off or copied while it was in use: fetch it again or take it from a backup; `.recover` of \
             the program sqlite3 shows what can still be read"
        }
        Some(ErrorCode::DiskFull) => {
            ". Make room on its file system, or name another file with --db"
        }
        _ => "",
    }
}
