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

/// Length of a page of the databases below.
const PAGE: usize = 4096;

/// Replaces the page of a table or index by a graph in which every page points to one other page a hundred times: a
/// small file with far more rows than can ever be read.
fn multiply(path: &Path, name: &str) {
    let connection = Connection::open(path).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: i64 = connection.query_row(sql, [name], |row| row.get(0)).unwrap();
    let root = usize::try_from(root).unwrap();
    connection
        .execute_batch("PRAGMA journal_mode = DELETE")
        .unwrap();
    drop(connection);
    let mut file = std::fs::read(path).unwrap();
    // The page with the rows, 16 levels above it, and the root.
    let leaf = file[(root - 1) * PAGE..root * PAGE].to_vec();
    let is_table = [5, 13].contains(&leaf[0]);
    file.extend(leaf);
    for _ in 0..16 {
        let below = u32::try_from(file.len() / PAGE).unwrap();
        file.extend(interior(is_table, below));
    }
    let below = u32::try_from(file.len() / PAGE).unwrap();
    file[(root - 1) * PAGE..root * PAGE].copy_from_slice(&interior(is_table, below));
    let pages = u32::try_from(file.len() / PAGE).unwrap();
    file[28..32].copy_from_slice(&pages.to_be_bytes());
    std::fs::write(path, file).unwrap();
}

/// An inner page whose children are all the same page. Source: SQLite, "Database File Format", 1.6.
fn interior(is_table: bool, child: u32) -> Vec<u8> {
    // A cell of a table has a key after its child, that of an index a record: here one without columns.
    let cells = 100;
    let cell = |number: u8| match is_table {
        true => vec![number + 1],
        false => vec![1, 1],
    };
    let length = 4 + cell(0).len();
    let mut page = vec![0; PAGE];
    page[0] = if is_table { 5 } else { 2 };
    page[4] = cells;
    let content = PAGE - length * usize::from(cells);
    page[5..7].copy_from_slice(&(content as u16).to_be_bytes());
    page[8..12].copy_from_slice(&child.to_be_bytes());
    for number in 0..cells {
        let (slot, at) = (usize::from(number), content + length * usize::from(number));
        page[12 + 2 * slot..][..2].copy_from_slice(&(at as u16).to_be_bytes());
        page[at..at + 4].copy_from_slice(&child.to_be_bytes());
        page[at + 4..at + length].copy_from_slice(&cell(number));
    }
    page
}

fn fixture(name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/store");
    std::fs::copy(from.join(name), &path).unwrap();
    (dir, path)
}

/// Regression: SQLite counted runs in one step, which no limit ended; and a damaged index has no last page of runs.
#[test]
fn tables_without_end_are_read_only_up_to_the_limit() {
    let (_dir, path) = fixture("schema-7.db");
    drop(Store::open(&path).unwrap());
    // A missing index is accepted. This one would be read when the file is opened.
    change(&path, "DROP INDEX run_by_fingerprint");
    let names: Vec<String> = {
        let connection = Connection::open(&path).unwrap();
        let sql =
            "SELECT name FROM sqlite_schema WHERE tbl_name IN ('run', 'series') AND type = 'index'
                       AND name NOT LIKE '%series_1' UNION SELECT 'run'";
        let mut names = connection.prepare(sql).unwrap();
        let names = names.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    assert!(names.len() > 8, "{names:?}");
    for name in &names {
        let before = std::fs::read(&path).unwrap();
        multiply(&path, name);
        // What is looked at when a file is opened keeps it from being opened.
        if Store::read(&path).is_err() {
            std::fs::write(&path, before).unwrap();
        }
    }
    let store = Store::read(&path).unwrap();
    for (what, result) in [
        ("count", store.count().map(drop)),
        ("series", store.count_series(&Filter::default()).map(drop)),
        ("runs", store.runs(&Filter::default()).map(drop)),
        ("old series", store.series_before(i64::MAX).map(drop)),
        ("page", store.runs_after(None, 1000).map(drop)),
    ] {
        let error = result.expect_err(what).to_string();
        let is_limited = error.contains("exceeded the limit") || error.contains("malformed");
        assert!(is_limited, "{what}: {error}");
    }
}

/// Regression: the limit was set only after a file had been checked and, in a copy, upgraded.
#[test]
fn files_without_end_are_not_opened() {
    for name in ["schema-1.db", "schema-4.db", "schema-7.db"] {
        for table in ["run", "record"] {
            let read = |path: &Path| Store::read(path);
            for open in [read, |path: &Path| Store::open(path)] {
                let (_dir, path) = fixture(name);
                multiply(&path, table);
                let begun = std::time::Instant::now();
                let error = open(&path).map(drop).unwrap_err();
                println!("{name}, {table}: {:?}: {error}", begun.elapsed());
                let expected = matches!(
                    error,
                    OpenError::OverLimit { .. }
                        | OpenError::Damaged { .. }
                        | OpenError::Upgrade { .. }
                );
                assert!(expected, "{name}, {table}: {error}");
            }
        }
    }
}
