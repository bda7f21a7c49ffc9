//! Numbered steps from an empty file to the newest schema; each is kept for ever, so that any old database opens.
//!
//! The number of the last step done is `PRAGMA user_version`. What only the derived tables need (new columns, another
//! meaning) is a step that drops and makes them anew; [`crate::Store::rebuild`] fills them.

use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as ours (`PRAGMA application_id`): the bytes `haka`.
pub(crate) const APPLICATION_ID: i32 = 0x6861_6b61;

/// One step: its SQL, and whether the derived tables have to be filled anew after it.
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
];

/// The newest schema this build knows.
pub(crate) const NEWEST: u32 = MIGRATIONS.len() as u32;

/// The schema a database has.
pub(crate) fn version(connection: &Connection) -> rusqlite::Result<u32> {
    // A negative number comes from no build of ours; as a huge one it is refused as "newer".
    connection
        .query_row("PRAGMA user_version", [], |row| row.get::<_, i32>(0))
        .map(|v| v as u32)
}

/// Does the steps that are missing, all or none, and says whether the derived tables have to be filled anew.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<bool> {
    if version(connection)? >= NEWEST {
        return Ok(false);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done the steps while this one waited for the lock.
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
