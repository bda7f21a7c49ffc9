//! Opens a database read-only: nothing is created or changed, and a read-only file is sufficient.
//!
//! A database with an older schema is migrated as a copy in memory or, if it is large, in a temporary file; the database
//! itself stays unchanged.

use crate::open::{BUSY, check_is_ours, explain, finish};
use crate::trust::{WorkLimit, harden, size_of, size_of_pages};
use crate::{JournalMode, OpenError, Store, derive, migrate};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Store {
    /// Opens the database at a path for reading.
    ///
    /// # Errors
    /// [`OpenError`] with the path; [`OpenError::Absent`] if the file does not exist.
    pub fn read(path: impl AsRef<Path>) -> Result<Store, OpenError> {
        read_within(path.as_ref(), BUSY)
    }

    /// Limits the memory for pages of the database, in KiB; SQLite's default is 2 MB for each connection.
    ///
    /// # Errors
    /// If SQLite refuses it.
    pub fn limit_cache(&self, kib: u32) -> rusqlite::Result<()> {
        self.connection
            .pragma_update(None, "cache_size", -i64::from(kib))
    }

    /// Returns an empty in-memory database that stands for a file that does not exist yet.
    ///
    /// # Errors
    /// [`OpenError`] if SQLite cannot allocate memory.
    pub fn empty(path: impl AsRef<Path>) -> Result<Store, OpenError> {
        let connection =
            Connection::open_in_memory().map_err(|source| explain(path.as_ref(), BUSY, source))?;
        in_memory(connection, path.as_ref())
    }
}

fn read_within(path: &Path, busy: Duration) -> Result<Store, OpenError> {
    if let Err(error) = path.metadata()
        && matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
    {
        return Err(OpenError::Absent {
            path: path.to_owned(),
        });
    }
    let Opened {
        connection,
        version,
        work,
    } = match shared(path, busy) {
        Err(OpenError::CannotOpen { .. } | OpenError::ReadOnly { .. }) => alone(path, busy)?,
        opened => opened?,
    };
    let failed = |source| explain(path, busy, source);
    if version < migrate::NEWEST || derive::is_incomplete(&connection).map_err(failed)? {
        return migrated_copy(&connection, path).map_err(failed)?;
    }
    to_read(connection, path, work)
}

/// A connection to a database that was checked.
struct Opened {
    connection: Connection,
    /// The schema version.
    version: u32,
    work: WorkLimit,
}

/// Number of pages copied at a time.
const PAGES: i32 = 1024;

/// Maximum number of pages of a copy in memory; with the usual page size these are 32 MiB.
const PAGES_IN_MEMORY: i64 = 8192;

/// Copies a database to memory or a temporary file, and brings the copy to the newest schema.
fn migrated_copy(
    connection: &Connection,
    path: &Path,
) -> rusqlite::Result<Result<Store, OpenError>> {
    // A WAL can claim any number of pages, which would all be copied.
    if size_of_pages(connection)? / 2 > size_of(path) {
        return Ok(Err(OpenError::OverLimit {
            path: path.to_owned(),
        }));
    }
    let pages: i64 = connection.query_row("PRAGMA page_count", [], |row| row.get(0))?;
    let is_large = pages > PAGES_IN_MEMORY;
    let mut copy = match is_large {
        // SQLite removes a database without a name when it is closed.
        true => Connection::open("")?,
        false => Connection::open_in_memory()?,
    };
    Backup::new(connection, &mut copy)?.run_to_completion(PAGES, Duration::ZERO, None)?;
    Ok(in_memory(copy, path).map(|store| Store {
        is_copy: is_large,
        ..store
    }))
}

/// Opens the file in shared mode; writers are neither blocked nor waited for.
fn shared(path: &Path, busy: Duration) -> Result<Opened, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection =
        Connection::open_with_flags(path, flags).map_err(|source| explain(path, busy, source))?;
    let work = connection
        .busy_timeout(busy)
        .and_then(|()| harden(&mut connection, size_of(path)))
        .map_err(|source| explain(path, busy, source))?;
    if connection
        .is_readonly(rusqlite::MAIN_DB)
        .map_err(|source| explain(path, busy, source))?
    {
        return Err(OpenError::ReadOnly {
            path: path.to_owned(),
        });
    }
    let version = check_is_ours(&connection, path, busy)?;
    Ok(Opened {
        connection,
        version,
        work,
    })
}

/// Opens a file in a read-only location, where SQLite cannot create the WAL index. Fails if the file has unmerged
/// changes that cannot be read there.
fn alone(path: &Path, busy: Duration) -> Result<Opened, OpenError> {
    let open = |name: &Path, flags| {
        let mut connection = Connection::open_with_flags(name, flags)
            .map_err(|source| explain(path, busy, source))?;
        let work = connection
            .busy_timeout(busy)
            .and_then(|()| harden(&mut connection, size_of(path)))
            .map_err(|source| explain(path, busy, source))?;
        let version = check_is_ours(&connection, path, busy)?;
        Ok(Opened {
            connection,
            version,
            work,
        })
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let Some(beside) = unsettled(path) else {
        return open(&unchanging(path), flags | OpenFlags::SQLITE_OPEN_URI);
    };
    match open(path, flags) {
        Err(OpenError::CannotOpen { .. } | OpenError::ReadOnly { .. }) => {
            Err(OpenError::Unsettled {
                path: path.to_owned(),
                beside,
            })
        }
        opened => opened,
    }
}

/// Returns the WAL or rollback journal of a database if it is not empty.
fn unsettled(path: &Path) -> Option<PathBuf> {
    let beside = ["-wal", "-journal"].map(|ending| {
        let mut name = OsString::from(path);
        name.push(ending);
        PathBuf::from(name)
    });
    beside
        .into_iter()
        .find(|name| name.metadata().is_ok_and(|file| file.len() > 0))
}

/// Returns a URI that makes SQLite treat the file as immutable.
///
/// Source: SQLite, "Uniform Resource Identifiers", `immutable`.
fn unchanging(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut uri = String::from("file://");
    for &byte in absolute.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => uri.push(char::from(byte)),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    PathBuf::from(uri + "?immutable=1")
}

fn in_memory(mut connection: Connection, path: &Path) -> Result<Store, OpenError> {
    let work = size_of_pages(&connection).and_then(|bytes| harden(&mut connection, bytes));
    let work = work.map_err(|source| explain(path, BUSY, source))?;
    let store = finish(connection, path.to_owned(), JournalMode::WriteAhead, work)?;
    to_read(store.connection, path, store.work)
}

/// Makes the connection read-only, so that SQLite rejects accidental writes.
fn to_read(connection: Connection, path: &Path, work: WorkLimit) -> Result<Store, OpenError> {
    let failed = |source| explain(path, BUSY, source);
    connection
        .pragma_update(None, "query_only", true)
        .map_err(failed)?;
    work.renew();
    Ok(Store {
        connection,
        path: path.to_owned(),
        journal: JournalMode::WriteAhead,
        work,
        is_copy: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        files
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect()
    }

    #[test]
    fn reading_makes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("no/such.db");
        let message = Store::read(&path).unwrap_err();
        assert!(matches!(message, OpenError::Absent { .. }), "{message}");
        assert_eq!(Store::empty(&path).unwrap().count().unwrap(), 0);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn reading_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        drop(Store::open(dir.path().join("new.db")).unwrap());
        std::fs::write(dir.path().join("empty.db"), "").unwrap();
        let before = content(dir.path());
        for name in ["new.db", "empty.db"] {
            let store = Store::read(dir.path().join(name)).unwrap();
            assert_eq!(store.count().unwrap(), 0);
            assert!(
                store
                    .connection
                    .execute_batch("CREATE TABLE x (y)")
                    .is_err(),
                "{name} can be written to"
            );
        }
        assert_eq!(content(dir.path()), before);
    }

    /// The user is told that an upgrade would save this time.
    #[test]
    fn copies_of_large_old_databases_are_costly() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("old.db");
        let fixture =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/store/schema-4.db");
        std::fs::copy(fixture, &path).unwrap();
        let small = Store::read(&path).unwrap();
        assert!(!small.is_costly_copy());
        let runs = small.count().unwrap();
        let old = Connection::open(&path).unwrap();
        old.execute_batch(
            "CREATE TABLE ballast (x); INSERT INTO ballast VALUES (zeroblob(40000000))",
        )
        .unwrap();
        drop(old);
        let large = Store::read(&path).unwrap();
        assert!(large.is_costly_copy());
        assert_eq!(large.count().unwrap(), runs);
        drop(Store::open(&path).unwrap());
        assert!(!Store::read(&path).unwrap().is_costly_copy());
    }

    #[test]
    fn what_may_only_be_read_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("with blanks & signs?.db");
        drop(Store::open(&path).unwrap());
        std::fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o555)).unwrap();
        // Permissions do not stop root, so the last fallback is also tested directly.
        assert_eq!(Store::read(&path).unwrap().count().unwrap(), 0);
        let opened = alone(&path, BUSY).unwrap();
        let store = to_read(opened.connection, &path, opened.work).unwrap();
        assert_eq!(
            (opened.version, store.count().unwrap()),
            (migrate::NEWEST, 0)
        );
        std::fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        assert_eq!(content(dir.path()).len(), 1);
    }

    #[test]
    fn changes_that_lie_beside_it_are_not_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let writer = Store::open(&path).unwrap();
        writer
            .connection
            .execute_batch("PRAGMA wal_autocheckpoint = 0; CREATE TABLE more (x)")
            .unwrap();
        assert_eq!(unsettled(&path), Some(dir.path().join("x.db-wal")));
        let there = Store::read(&path)
            .unwrap()
            .connection
            .table_exists(None, "more")
            .unwrap();
        assert!(there, "what another process has just written is read too");
    }

    #[test]
    fn a_database_that_was_cut_off_is_called_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        drop(Store::open(&path).unwrap());
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2 + 100]).unwrap();
        let message = match Store::read(&path) {
            Ok(store) => store
                .runs(&crate::Filter::default())
                .unwrap_err()
                .to_string(),
            Err(error) => error.to_string(),
        };
        assert!(
            message.contains("damaged") || message.contains("malformed"),
            "{message}"
        );
        assert!(!message.contains("writable directory with"), "{message}");
    }
}
