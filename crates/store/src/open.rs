//! Opening the database: where it lies, what may be wrong with it, and how the connection is set up.

use crate::StoreError;
use crate::migrate;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for another process that writes; an append takes milliseconds, an import of thousands seconds.
pub(crate) const BUSY: Duration = Duration::from_secs(10);

/// An open database of run records. Several processes may have the same one open.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) journal: JournalMode,
}

/// How the database survives a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalMode {
    /// A write-ahead log: readers and one writer do not wait for each other.
    WriteAhead,
    /// A rollback journal, because the file system lets no memory be shared (9p, some network file systems): just as
    /// safe, but readers and writers wait for each other.
    Rollback,
}

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Neither variable says where the user's data live.
    #[error(
        "no place for the database: neither XDG_DATA_HOME nor HOME is set to an absolute path. Name one with --db"
    )]
    NoHome,
    /// The folder is not there and cannot be made.
    #[error("failed to create the folder {} for the database: {source}. Name another file with --db", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file cannot be opened or made.
    #[error(
        "failed to open the database {}: {source}. It has to be a file in a folder that you may write to; \
         name another with --db", path.display()
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: rusqlite::Error,
    },
    /// The file can be read and not written.
    #[error(
        "failed to open the database {} for writing: the file or its file system is read-only. \
         Change its permissions, or name another file with --db", path.display()
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// There is no such file, and nobody asked for a new one.
    #[error(
        "there is no database {}: nothing was measured or imported into it yet. `hakaru bench` and `hakaru import` make \
         one; another is named with --db", path.display()
    )]
    Absent {
        /// The file.
        path: PathBuf,
    },
    /// It may only be read, and not all of it lies in its file.
    #[error(
        "failed to read the database {}: it may only be read, and its last changes lie beside it, in {}, which takes \
         leave to write. Copy both files to a folder of yours, and name the copy with --db", path.display(), beside.display()
    )]
    Unsettled {
        /// The file.
        path: PathBuf,
        /// The log or journal beside it.
        beside: PathBuf,
    },
    /// Pages of it are missing or make no sense.
    #[error(
        "the database {} is damaged: {source}. It may have been cut off, or copied while it was in use: fetch it again or \
         take it from a backup; `sqlite3 {} .recover` shows what can still be read", path.display(), path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: rusqlite::Error,
    },
    /// The file is something else.
    #[error("{} is not a database of hakaru: its content is not that of SQLite. Name another file with --db", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The database belongs to another program.
    #[error("{} is a database of another program; it was left untouched. Name another file with --db", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A later build made it.
    #[error(
        "the database {} has schema {found}, and this build knows schemas up to {newest}: a newer hakaru wrote it. \
         Use that version or a later one, or name another file with --db", path.display()
    )]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: u32,
        /// The newest schema known.
        newest: u32,
    },
    /// Another process holds it.
    #[error(
        "the database {} was locked by another program for {} s. Wait until that one is done (`fuser {}` shows which), \
         then try again", path.display(), waited.as_secs(), path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// The derived tables could not be filled anew for a new schema.
    #[error("failed to bring the database {} to the newest schema: {source}", path.display())]
    Rebuild {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Box<crate::FindError>,
    },
}

/// Where the database lies when nobody names another: `hakaru/hakaru.db` in the user's data folder.
///
/// Source: XDG Base Directory Specification 0.8; a relative `XDG_DATA_HOME` is ignored, as it asks.
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
    /// Opens the database at that path; makes it, and the folders above it, when it is not there.
    ///
    /// # Errors
    /// An [`OpenError`] that names the path. A file of another kind or program is left as it was.
    pub fn open(path: impl AsRef<Path>) -> Result<Store, OpenError> {
        open_within(path.as_ref(), BUSY)
    }

    /// Opens the database at [`default_path`].
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_default() -> Result<Store, OpenError> {
        Store::open(default_path()?)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How it survives a crash.
    pub fn journal(&self) -> JournalMode {
        self.journal
    }

    /// Names the action and the file for whatever SQLite refuses.
    pub(crate) fn failed(
        &self,
        action: &'static str,
    ) -> impl FnOnce(rusqlite::Error) -> StoreError + use<> {
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

/// Whether it may be the index of the write-ahead log, in memory that processes share, that cannot be had.
///
/// Where that cannot even be made, SQLite merely says that it cannot open something, so a second try has to tell.
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
    // Without SQLITE_OPEN_URI: a file may be called `file:x?mode=memory` and is still a file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(explain)?;
    connection.busy_timeout(busy).map_err(explain)?;
    if journal == JournalMode::Rollback {
        // A connection that keeps the file for itself alone needs no shared memory, even where a log is there.
        connection
            .pragma_update(None, "locking_mode", "EXCLUSIVE")
            .map_err(explain)?;
    }
    check_is_ours(&connection, path, busy)?;
    if connection.is_readonly(rusqlite::MAIN_DB).map_err(explain)? {
        return Err(OpenError::ReadOnly {
            path: path.to_owned(),
        });
    }
    let journal = configure(&connection, busy, journal).map_err(explain)?;
    let rebuild = migrate::migrate(&mut connection).map_err(explain)?;
    let mut store = Store {
        connection,
        path: path.to_owned(),
        journal,
    };
    if rebuild {
        store.rebuild().map_err(|source| OpenError::Rebuild {
            path: path.to_owned(),
            source: source.into(),
        })?;
    }
    Ok(store)
}

/// Private to the user, as the XDG specification asks for folders it makes programs create.
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

/// Reads only: whatever is refused here has not been touched. Returns the schema it has.
///
/// All answers come from one transaction; otherwise another process that makes the file just now looks like a stranger.
pub(crate) fn check_is_ours(
    connection: &Connection,
    path: &Path,
    busy: Duration,
) -> Result<u32, OpenError> {
    let explain = |source| explain(path, busy, source);
    let snapshot = connection.unchecked_transaction().map_err(explain)?;
    let number = |sql: &str| {
        snapshot
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .map_err(explain)
    };
    let no_tables = number("SELECT count(*) FROM sqlite_schema")? == 0;
    let ours = number("PRAGMA application_id")? == i64::from(migrate::APPLICATION_ID);
    let version = migrate::version(&snapshot).map_err(explain)?;
    drop(snapshot);
    let fresh = no_tables && version == 0;
    if !ours && !fresh {
        return Err(OpenError::Foreign {
            path: path.to_owned(),
        });
    }
    if version > migrate::NEWEST {
        return Err(OpenError::NewerSchema {
            path: path.to_owned(),
            found: version,
            newest: migrate::NEWEST,
        });
    }
    Ok(version)
}

/// A write-ahead log, so that readers and one writer do not wait for each other.
///
/// Either journal is synced at each commit: what a run left beside the database is removed once its record is stored, so the
/// record has to survive a loss of power from then on. With `synchronous=NORMAL` it would wait for a checkpoint, which a
/// reader can put off.
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
    // Only a use shows whether the log can be had; it also gives back what an exclusive connection kept.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(journal)
}

/// Switches the journal. SQLite does not wait by itself for another process that is switching it at the same moment.
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
