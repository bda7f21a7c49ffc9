//! Opens the database: its location, its validation, and the setup of the connection.

use crate::StoreError;
use crate::migrate;
use crate::trust::{self, WorkLimit};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time to wait for another process that writes; an append takes milliseconds, an import of
/// thousands of runs seconds.
pub(crate) const BUSY: Duration = Duration::from_secs(10);

/// Memory for pages of the database, which an import of many runs into a large database fills: IDs come in no order, so
/// that each transaction writes to pages all over the indexes.
const CACHE_KIB: i64 = 16 << 10;

/// An open database of run records. Several processes can have it open at the same time.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) journal: JournalMode,
    pub(crate) work: WorkLimit,
    pub(crate) is_copy: bool,
}

/// Journal mode of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalMode {
    /// Write-ahead log: readers and one writer do not block each other.
    WriteAhead,
    /// Rollback journal, for file systems without shared memory (9p, some network file systems):
    /// equally safe, but readers and writers block each other.
    Rollback,
}

/// Errors of opening a database.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Neither environment variable gives the data directory.
    #[error(
        "no location for the database: neither XDG_DATA_HOME nor HOME is set to an absolute path; \
        help: name a file with --db"
    )]
    NoHome,
    /// The directory does not exist and cannot be created.
    #[error("failed to create the database directory {}: {source}; help: name another file with \
        --db", path.display())]
    Folder {
        /// The directory.
        path: PathBuf,
        /// The I/O error.
        #[source]
        source: std::io::Error,
    },
    /// The file cannot be opened or created.
    #[error(
        "failed to open the database {}: {source}; help: name a file in a writable directory with \
        --db", path.display()
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// The SQLite error.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is read-only.
    #[error(
        "failed to open the database {} for writing: the file or its file system is read-only; \
        help: change its permissions, or name another file with --db", path.display()
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file does not exist, and the command does not create one.
    #[error(
        "database {} does not exist: nothing has been measured or imported yet; help: create it \
        with `hakaru bench` or `hakaru import`, or name another with --db", path.display()
    )]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// The database is read-only and has unmerged changes in its WAL or journal.
    #[error(
        "failed to read the database {}: it is read-only and has an unmerged WAL ({}); help: copy \
        both files to a writable directory and pass --db", path.display(), beside.display()
    )]
    Unsettled {
        /// The file.
        path: PathBuf,
        /// The WAL or journal file.
        beside: PathBuf,
    },
    /// Pages are missing or invalid.
    #[error(
        "the database {} is damaged: {source}; help: it may be truncated or copied while in use: \
        copy it again or restore a backup, or salvage it with `sqlite3 {} .recover`", path.display(), path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The SQLite error.
        #[source]
        source: rusqlite::Error,
    },
    /// Opening it takes more work than a database of this size needs.
    #[error(
        "failed to open the database {}: this exceeded the limit for a database of its size, so it is damaged or \
        was crafted; help: restore a backup, or name another file with --db", path.display()
    )]
    OverLimit {
        /// The file.
        path: PathBuf,
    },
    /// Not an SQLite database.
    #[error("{} is not an SQLite database; help: name another file with --db", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The database belongs to another program.
    #[error("{} is a database of another program and was not changed; help: name another file \
        with --db", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Created by a later version.
    #[error(
        "the database {} has schema {found}, but this version knows schemas up to {newest}; help: \
        use the hakaru version that wrote it or a later one, or name another file with --db", path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The newest schema version this version knows.
        newest: u32,
    },
    /// Locked by another process.
    #[error(
        "the database {} was locked by another program for {} s; help: wait for that program \
        (`fuser {}` shows which), then try again", path.display(), waited.as_secs(), path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
        /// The time waited.
        waited: Duration,
    },
    /// The schema is not as hakaru creates it.
    #[error(
        "the schema of the database {} was changed: unexpected {kind} {name:?}; nothing was read or \
        changed; help: restore a backup, or name another file with --db", path.display()
    )]
    AlteredSchema {
        /// The file.
        path: PathBuf,
        /// `table`, `index`, `trigger` or `view`.
        kind: String,
        /// Its name.
        name: String,
    },
    /// The connection could not be set up.
    #[error("failed to upgrade the schema of the database {}: {source}", path.display())]
    Upgrade {
        /// The file.
        path: PathBuf,
        /// The SQLite error.
        #[source]
        source: rusqlite::Error,
    },
}

/// Returns the default database path: `hakaru/hakaru.db` in the user's data directory.
///
/// Source: XDG Base Directory Specification 0.8; a relative `XDG_DATA_HOME` is ignored, as required
/// there.
///
/// # Errors
/// [`OpenError::NoHome`].
pub fn default_path() -> Result<PathBuf, OpenError> {
    path_from(std::env::var_os("XDG_DATA_HOME"), std::env::var_os("HOME"))
}

fn path_from(
    xdg_data_home: Option<OsString>,
    home: Option<OsString>,
) -> Result<PathBuf, OpenError> {
    let absolute =
        |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let data =
        absolute(xdg_data_home).or_else(|| absolute(home).map(|home| home.join(".local/share")));
    data.map(|folder| folder.join("hakaru/hakaru.db"))
        .ok_or(OpenError::NoHome)
}

impl Store {
    /// Opens the database at a path; creates it and its parent directories if it does not exist.
    ///
    /// # Errors
    /// [`OpenError`] with the path. A file of another type or program is not changed.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, OpenError> {
        open_within(path.as_ref(), BUSY)
    }

    /// Path of the database file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is a temporary upgraded copy of a large database with an older schema, which costs time for each
    /// opening.
    pub fn is_costly_copy(&self) -> bool {
        self.is_copy
    }

    /// The journal mode.
    pub fn journal(&self) -> JournalMode {
        self.journal
    }

    /// Adds the action and the file to an SQLite error. The operation is over, so the next one gets a new work limit.
    pub(crate) fn failed(
        &self,
        action: &'static str,
    ) -> impl FnOnce(rusqlite::Error) -> StoreError + use<> {
        self.work.renew();
        let path = self.path.clone();
        move |source| StoreError {
            action,
            path,
            source,
        }
    }
}

fn open_within(path: &Path, busy: Duration) -> Result<Store, OpenError> {
    create_folder(path)?;
    match open_with(path, busy, JournalMode::WriteAhead) {
        Err(OpenError::CannotOpen { source, .. }) if shares_no_memory(&source) => {
            open_with(path, busy, JournalMode::Rollback)
        }
        opened => opened,
    }
}

/// Whether SQLite may have failed because it cannot create the shared-memory index of the WAL.
///
/// SQLite then only reports that it cannot open a file, so a second attempt has to decide.
fn shares_no_memory(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    let maybe = [
        ErrorCode::CannotOpen,
        ErrorCode::SystemIoFailure,
        ErrorCode::FileLockingProtocolFailed,
    ];
    code.is_some_and(|code| maybe.contains(&code))
}

fn open_with(path: &Path, busy: Duration, journal: JournalMode) -> Result<Store, OpenError> {
    let explain = |source| explain(path, busy, source);
    // Without SQLITE_OPEN_URI: a file may be named `file:x?mode=memory` and is still a file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(explain)?;
    connection.busy_timeout(busy).map_err(explain)?;
    let work = trust::harden(&mut connection, trust::size_of(path)).map_err(explain)?;
    if journal == JournalMode::Rollback {
        // A connection with exclusive access needs no shared memory, even if a WAL exists.
        connection
            .pragma_update(None, "locking_mode", "EXCLUSIVE")
            .map_err(explain)?;
    }
    check_is_ours(&connection, path, busy)?;
    let path = path.to_owned();
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(explain)? {
        return Err(OpenError::ReadOnly { path });
    }
    let journal = configure(&connection, busy, journal).map_err(explain)?;
    finish(connection, path, journal, work)
}

/// Brings an open database to the newest schema.
pub(crate) fn finish(
    mut connection: Connection,
    path: PathBuf,
    journal: JournalMode,
    work: WorkLimit,
) -> Result<Store, OpenError> {
    let failed = |source: rusqlite::Error| match source.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::OperationInterrupted,
        ) => explain(&path, BUSY, source),
        _ => OpenError::Upgrade {
            path: path.clone(),
            source,
        },
    };
    migrate::migrate(&mut connection).map_err(failed)?;
    work.renew();
    Ok(Store {
        connection,
        path,
        journal,
        work,
        is_copy: false,
    })
}

/// Creates a directory with mode 0700, as the XDG specification requires.
fn create_folder(path: &Path) -> Result<(), OpenError> {
    let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    else {
        return Ok(());
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| OpenError::Folder {
        path: folder.to_owned(),
        source,
    })
}

/// Checks the file without writing to it; returns its schema version.
///
/// All queries run in one transaction; otherwise a database that another process is creating could
/// look foreign.
pub(crate) fn check_is_ours(
    connection: &Connection,
    path: &Path,
    busy: Duration,
) -> Result<u32, OpenError> {
    let explain = |source| explain(path, busy, source);
    let snapshot = connection.unchecked_transaction().map_err(explain)?;
    let number = |sql: &str| {
        let number = snapshot.query_row(sql, [], |row| row.get::<_, i64>(0));
        number.map_err(explain)
    };
    let no_tables = number("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)")? == 1;
    let ours = number("PRAGMA application_id")? == i64::from(migrate::APPLICATION_ID);
    let version = migrate::version(&snapshot).map_err(explain)?;
    let schema = migrate::schema(&snapshot).map_err(explain)?;
    drop(snapshot);
    let fresh = no_tables && version == 0;
    let path = path.to_owned();
    if !ours && !fresh {
        return Err(OpenError::Foreign { path });
    }
    let newest = migrate::NEWEST;
    if version > newest {
        return Err(OpenError::NewerSchema {
            path,
            found: version,
            newest,
        });
    }
    match trust::unexpected_item(&schema, version).map_err(explain)? {
        Some((kind, name)) => Err(OpenError::AlteredSchema { path, kind, name }),
        None => Ok(version),
    }
}

/// Sets the journal mode: if possible a write-ahead log, so that readers and one writer do not block each other.
///
/// Each commit is synced in either mode. The spool of a run is removed once its record is stored, so the record must
/// survive a power loss from then on. With `synchronous=NORMAL` it would be synced only by a checkpoint, which a
/// reader can delay.
fn configure(
    connection: &Connection,
    busy: Duration,
    wanted: JournalMode,
) -> rusqlite::Result<JournalMode> {
    connection.pragma_update(None, "foreign_keys", true)?;
    let journal = match wanted {
        JournalMode::WriteAhead if write_ahead(connection, busy)? == "wal" => {
            JournalMode::WriteAhead
        }
        JournalMode::WriteAhead => JournalMode::Rollback,
        JournalMode::Rollback => {
            connection.query_row("PRAGMA journal_mode=DELETE", [], |_| Ok(()))?;
            connection.pragma_update(None, "locking_mode", "NORMAL")?;
            JournalMode::Rollback
        }
    };
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // Only a query shows whether the WAL is available; it also releases the lock of an exclusive connection.
    connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM sqlite_schema)",
        [],
        |_| Ok(()),
    )?;
    Ok(journal)
}

/// Switches the journal mode. SQLite does not wait for another process that switches it at the same time.
fn write_ahead(connection: &Connection, busy: Duration) -> rusqlite::Result<String> {
    let began = Instant::now();
    loop {
        let switched = connection.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0));
        match switched {
            Err(error) if is_busy(&error) && began.elapsed() < busy => {
                std::thread::sleep(Duration::from_millis(10));
            }
            done => return done,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

pub(crate) fn explain(path: &Path, waited: Duration, source: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => OpenError::Damaged { path, source },
        Some(ErrorCode::OperationInterrupted) => OpenError::OverLimit { path },
        Some(ErrorCode::NotADatabase) => OpenError::NotADatabase { path },
        Some(ErrorCode::ReadOnly) => OpenError::ReadOnly { path },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            OpenError::Locked { path, waited }
        }
        _ => OpenError::CannotOpen { path, source },
    }
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
