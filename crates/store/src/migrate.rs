//! Numbered schema migrations from an empty file to the newest schema; none is ever removed, so any
//! old database opens.
//!
//! `PRAGMA user_version` holds the number of the last migration.

use crate::derive;
use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as a hakaru database (`PRAGMA application_id`): the bytes `haka`.
pub(crate) const APPLICATION_ID: i32 = 0x6861_6b61;

/// The SQL of each migration.
const MIGRATIONS: [&str; 9] = [
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
    include_str!("migrations/0009.sql"),
];

/// The newest schema this version knows.
pub(crate) const NEWEST: u32 = MIGRATIONS.len() as u32;

/// Returns the schema version of a database.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    // No version writes a negative number; as a huge one it is refused as "newer".
    connection
        .query_row("PRAGMA user_version", [], |row| row.get::<_, i32>(0))
        .map(|v| v as u32)
}

/// Brings a database to the newest schema, and computes the derived columns that are missing.
///
/// The schema changes in one transaction, which also lists the records that only this version can read. The columns are
/// computed in batches, each in its own, so that an interrupted migration loses nothing and is continued by the next
/// call.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? < NEWEST {
        change_schema(connection)?;
    }
    derive::complete(connection)
}

/// Runs missing migrations.
fn change_schema(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited for the lock.
    let done = version(&transaction)? as usize;
    let missing = MIGRATIONS.get(done..).unwrap_or_default();
    for sql in missing {
        transaction.execute_batch(sql)?;
    }
    if !missing.is_empty() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", NEWEST)?;
        derive::list_missing(&transaction)?;
    }
    transaction.commit()
}

/// Returns the schema of a version, as its migrations create it.
pub(crate) fn schema_of(version: u32) -> rusqlite::Result<Vec<SchemaItem>> {
    let connection = Connection::open_in_memory()?;
    for sql in MIGRATIONS.iter().take(version as usize) {
        connection.execute_batch(sql)?;
    }
    schema(&connection)
}

/// A table, index, trigger or view of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaItem {
    pub(crate) kind: String,
    pub(crate) name: String,
    /// The table it belongs to.
    pub(crate) table: String,
    /// Its definition; empty for indexes that SQLite creates itself.
    pub(crate) sql: String,
}

/// Returns everything in the schema of a database.
pub(crate) fn schema(connection: &Connection) -> rusqlite::Result<Vec<SchemaItem>> {
    let sql = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema";
    let mut statement = connection.prepare(sql)?;
    let items = statement.query_map([], |row| {
        Ok(SchemaItem {
            kind: row.get(0)?,
            name: row.get(1)?,
            table: row.get(2)?,
            sql: row.get(3)?,
        })
    })?;
    items.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;
    use rusqlite::types::Value;
    use std::path::{Path, PathBuf};

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../testdata/store")
            .join(name)
    }

    /// Everything in the tables of records and runs.
    fn content(connection: &Connection) -> Vec<Vec<Value>> {
        let mut all = Vec::new();
        for table in ["record", "run", "series", "phase", "point", "verification"] {
            let mut statement = connection
                .prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2, 3"))
                .unwrap();
            let columns = statement.column_count();
            let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
            all.extend(rows.unwrap().map(Result::unwrap));
        }
        all
    }

    /// A migration that is interrupted at any step loses nothing, and the next one continues it.
    #[test]
    fn an_interrupted_migration_is_continued() {
        for name in ["schema-1.db", "schema-3.db", "schema-4.db", "schema-7.db"] {
            interrupt_at_any_step(name, &fixture(name));
        }
    }

    /// Regression: after an interruption between two transactions, records that an earlier version could not read
    /// stayed unlisted.
    #[test]
    fn an_interrupted_migration_lists_what_was_unlisted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("unlisted.db");
        std::fs::copy(fixture("schema-4.db"), &path).unwrap();
        let unlist = "DELETE FROM point; DELETE FROM phase; DELETE FROM run;";
        let old = Connection::open(&path).unwrap();
        old.execute_batch(unlist).unwrap();
        drop(old);
        assert!(Store::read(&path).unwrap().count().unwrap() > 0);
        interrupt_at_any_step("unlisted.db", &path);
    }

    fn interrupt_at_any_step(name: &str, from: &Path) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        std::fs::copy(from, &path).unwrap();
        let whole = Store::open(&path).unwrap();
        let expected = content(&whole.connection);
        drop(whole);
        let (mut after, mut interrupted) = (1, 0);
        std::fs::copy(from, &path).unwrap();
        loop {
            let mut connection = Connection::open(&path).unwrap();
            let mut left = after;
            let stop = move || {
                left -= 1;
                left < 0
            };
            connection.progress_handler(10, Some(stop)).unwrap();
            let migrated = migrate(&mut connection);
            drop(connection);
            // What was stored can be read after every interruption.
            let read = Store::read(&path).unwrap();
            assert!(
                content(&read.connection) == expected,
                "{name} after {after}"
            );
            drop(read);
            if migrated.is_ok() {
                break;
            }
            interrupted += 1;
            after += after / 3 + 1;
            if interrupted % 3 == 0 {
                std::fs::copy(from, &path).unwrap();
            }
        }
        assert!(interrupted > 10, "{name}: {interrupted}");
    }
}
