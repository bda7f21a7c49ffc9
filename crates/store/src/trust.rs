//! Limits what a database file from elsewhere can do: a file is untrusted input.
//!
//! SQLite runs triggers and views that are stored in a file, and a crafted page tree can have no end. So the schema is
//! compared with the expected one before the first query of a table, and each operation has a limited number of steps.

use crate::migrate::{self, SchemaItem};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Steps of SQLite's virtual machine between two checks of the limit.
const STEPS: i32 = 10_000;

/// Checks that each operation has besides those for the size of the file. Tests wait for many operations to be stopped.
const FEWEST_CHECKS: i64 = if cfg!(test) { 500 } else { 5_000 };

/// Bytes of the file for which an operation has one more check: 100 steps per byte.
const BYTES_PER_CHECK: i64 = 100;

/// Turns off what a file can make SQLite execute and this crate does not use, and limits the work of each operation in
/// proportion to the size of the file, from the first one on.
pub(crate) fn harden(connection: &mut Connection, bytes: u64) -> rusqlite::Result<WorkLimit> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    WorkLimit::set(connection, bytes)
}

/// Returns the size of a database file with its WAL: what is really there, whatever its header claims.
pub(crate) fn size_of(path: &Path) -> u64 {
    let mut wal = OsString::from(path);
    wal.push("-wal");
    let size = |path: &Path| path.metadata().map_or(0, |file| file.len());
    size(Path::new(&wal)).saturating_add(size(path))
}

/// Returns the size of the pages of a database.
pub(crate) fn size_of_pages(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |pragma: &str| {
        let sql = format!("PRAGMA {pragma}");
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0))
    };
    let bytes = number("page_count")?.saturating_mul(number("page_size")?);
    Ok(bytes.unsigned_abs())
}

/// Limit of the work of one operation, in proportion to the size of the database. SQLite reports an operation beyond
/// it as interrupted.
#[derive(Debug)]
pub(crate) struct WorkLimit {
    left: Arc<AtomicI64>,
    most: i64,
}

impl WorkLimit {
    /// Sets the limit for a connection.
    fn set(connection: &mut Connection, bytes: u64) -> rusqlite::Result<WorkLimit> {
        let limit = WorkLimit::of(i64::try_from(bytes).unwrap_or(i64::MAX));
        let left = Arc::clone(&limit.left);
        let handler = move || left.fetch_sub(1, Ordering::Relaxed) <= 0;
        connection.progress_handler(STEPS, Some(handler))?;
        Ok(limit)
    }

    fn of(bytes: i64) -> WorkLimit {
        let most = FEWEST_CHECKS.saturating_add(bytes / BYTES_PER_CHECK);
        WorkLimit {
            left: Arc::new(AtomicI64::new(most)),
            most,
        }
    }

    /// Changes the number of checks of each operation.
    #[cfg(test)]
    pub(crate) fn set_most(&mut self, most: i64) {
        self.most = most;
        self.renew();
    }

    /// Starts a new operation.
    pub(crate) fn renew(&self) {
        self.left.store(self.most, Ordering::Relaxed);
    }
}

/// Returns what is not as the migrations create it: its kind and name.
///
/// Tables of other programs with their indexes are accepted, because nothing here uses them; so are missing indexes
/// and triggers.
pub(crate) fn unexpected_item(
    found: &[SchemaItem],
    version: u32,
) -> rusqlite::Result<Option<(String, String)>> {
    let expected = migrate::schema_of(version)?;
    let is_ours = |table: &str| {
        let mut all = expected.iter();
        all.any(|item| item.table.eq_ignore_ascii_case(table))
    };
    let is_harmless = |item: &SchemaItem| match item.kind.as_str() {
        "table" => is_ordinary_table(&item.sql),
        "index" => !is_ours(&item.table),
        _ => false,
    };
    let altered = found.iter().find(|item| {
        let same = |other: &&SchemaItem| other.kind == item.kind && other.name == item.name;
        match expected.iter().find(same) {
            Some(expected) => expected != *item,
            None => !is_harmless(item),
        }
    });
    let missing = expected.iter().find(|item| {
        let same = |other: &SchemaItem| other.kind == item.kind && other.name == item.name;
        item.kind == "table" && !found.iter().any(same)
    });
    let item = altered.or(missing);
    Ok(item.map(|item| (item.kind.clone(), item.name.clone())))
}

/// Whether SQL text defines an ordinary table. SQLite normalizes the first words of a definition.
fn is_ordinary_table(sql: &str) -> bool {
    const WORDS: &str = "CREATE TABLE";
    let start = sql.get(..WORDS.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(WORDS))
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
