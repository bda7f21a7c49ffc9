//! Attacks by crafted database files.

use super::*;
use crate::{Filter, OpenError, Store};
use std::path::{Path, PathBuf};

fn database() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    drop(Store::open(&path).unwrap());
    (dir, path)
}

fn change(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

/// Reading and writing are refused, with the name; the file is not changed.
fn is_refused(path: &Path, wanted: &str) {
    let before = std::fs::read(path).unwrap();
    for error in [
        Store::read(path).unwrap_err(),
        Store::open(path).unwrap_err(),
    ] {
        assert!(matches!(error, OpenError::AlteredSchema { .. }), "{error}");
        assert!(error.to_string().contains(wanted), "{error}");
    }
    assert!(before == std::fs::read(path).unwrap());
}

/// Regression: this trigger changed the target of every run that was stored.
#[test]
fn a_trigger_that_changes_runs_is_refused() {
    let (_dir, path) = database();
    change(
        &path,
        "CREATE TRIGGER other AFTER INSERT ON run BEGIN UPDATE run SET target = 'better card'; END",
    );
    is_refused(&path, "trigger \"other\"");
}

/// Regression: this view in place of a table made `compare` run for ever.
#[test]
fn a_recursive_view_in_place_of_a_table_is_refused() {
    let (_dir, path) = database();
    change(
        &path,
        "PRAGMA foreign_keys = OFF; DROP TABLE price;
         CREATE VIEW price (card, price) AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT 'card', '1 EUR' FROM n",
    );
    is_refused(&path, "view \"price\"");
}

#[test]
fn other_changes_of_the_schema_are_refused() {
    for (sql, wanted) in [
        ("CREATE VIEW more AS SELECT 1", "view \"more\""),
        ("CREATE INDEX odd ON run (abs(ios))", "index \"odd\""),
        ("CREATE VIRTUAL TABLE words USING fts5 (x)", "table \"words\""),
        ("ALTER TABLE run ADD COLUMN more TEXT", "table \"run\""),
        ("DROP TABLE price", "table \"price\""),
        ("DROP INDEX run_by_start; CREATE INDEX run_by_start ON run (id)", "index \"run_by_start\""),
        (
            "DROP TRIGGER record_is_never_updated;
             CREATE TRIGGER record_is_never_updated BEFORE UPDATE ON record BEGIN DELETE FROM price; END",
            "trigger \"record_is_never_updated\"",
        ),
    ] {
        let (_dir, path) = database();
        let made = Connection::open(&path).unwrap().execute_batch(sql);
        match made {
            // A build of SQLite may lack the extension.
            Err(error) if error.to_string().contains("no such module") => {}
            made => {
                made.unwrap();
                is_refused(&path, wanted);
            }
        }
    }
}

#[test]
fn tables_of_others_and_statistics_are_accepted() {
    let (_dir, path) = database();
    change(
        &path,
        "CREATE TABLE notes (text UNIQUE); CREATE INDEX note ON notes (length(text)); ANALYZE;
         DROP TRIGGER record_is_never_deleted; DROP INDEX run_by_start",
    );
    assert_eq!(Store::read(&path).unwrap().count().unwrap(), 0);
    assert_eq!(Store::open(&path).unwrap().count().unwrap(), 0);
}

#[test]
fn an_operation_without_end_is_stopped() {
    let (_dir, path) = database();
    let store = Store::read(&path).unwrap();
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let stopped = store.connection.query_row(endless, [], |_| Ok(()));
    let error = store.failed("count")(stopped.unwrap_err());
    assert!(error.to_string().contains("exceeded the limit"), "{error}");
    // The next operation has a limit of its own.
    assert!(store.runs(&Filter::default()).unwrap().is_empty());
}

/// Every connection refuses what a file could make SQLite do, whether it may be written or only read.
#[test]
fn connections_do_not_trust_the_file() {
    let (_dir, path) = database();
    let (to_write, to_read) = (Store::open(&path).unwrap(), Store::read(&path).unwrap());
    for store in [to_write, to_read, Store::empty("none.db").unwrap()] {
        for (config, wanted) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            let set = store.connection.db_config(config).unwrap();
            assert_eq!(set, wanted, "{config:?}");
        }
        let edit =
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'x' WHERE name = 'run'";
        assert!(store.connection.execute_batch(edit).is_err());
    }
}
