//! Numbered schema migrations from an empty file to the newest schema; none is ever removed, so any
//! old database opens.
//!
//! `PRAGMA user_version` holds the number of the last migration. Changes of derived tables drop and
//! recreate them; [`crate::Store::rebuild`] fills them.

use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as a hakaru database (`PRAGMA application_id`): the bytes `haka`.
pub(crate) const APPLICATION_ID: i32 = 0x6861_6b61;

/// One migration: its SQL, and whether the derived tables must be rebuilt after it.
struct Migration {
    sql: &'static str,
    rebuild: bool,
}

const MIGRATIONS: &[Migration] = &[
    Migration {
        sql: include_str!("migrations/0001.sql"),
        rebuild: false,
    },
    Migration {
        sql: include_str!("migrations/0002.sql"),
        rebuild: false,
    },
    Migration {
        sql: include_str!("migrations/0003.sql"),
        rebuild: false,
    },
    Migration {
        sql: include_str!("migrations/0004.sql"),
        rebuild: false,
    },
    Migration {
        sql: include_str!("migrations/0005.sql"),
        rebuild: true,
    },
    Migration {
        sql: include_str!("migrations/0006.sql"),
        rebuild: false,
    },
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

/// Runs missing migrations in one transaction; returns whether the derived tables must be rebuilt.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<bool> {
    if version(connection)? >= NEWEST {
        return Ok(false);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have migrated while this one waited for the lock.
    let done = version(&transaction)? as usize;
    let missing = MIGRATIONS.get(done..).unwrap_or_default();
    for step in missing {
        transaction.execute_batch(step.sql)?;
    }
    if !missing.is_empty() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", NEWEST)?;
    }
    let rebuild = missing.iter().any(|step| step.rebuild);
    transaction.commit()?;
    Ok(rebuild)
}
