//! An upgrade that is killed at any moment loses nothing, and the next one completes it.
//!
//! The child is this test program, started again with an environment variable that names the database.

use crate::support::fixtures;
use hakaru_store::{Filter, Store};
use rusqlite::Connection;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const DATABASE: &str = "HAKARU_UPGRADE_TEST_DB";

/// Number of copies of each record: enough that several transactions are needed.
const COPIES: u32 = 70;

/// Number of upgrades of each schema that are killed at work, and of attempts.
const KILLS: u32 = 13;
const ATTEMPTS: u32 = 60;

/// Child process only: upgrades the database.
#[test]
fn child_that_upgrades() {
    if let Some(path) = std::env::var_os(DATABASE) {
        println!("begun ");
        drop(Store::open(path).unwrap());
        // The parent does not read what the test harness would print.
        std::process::exit(0);
    }
}

/// Starts a child, and returns when it has begun.
fn child(database: &Path) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "upgrade::child_that_upgrades", "--nocapture"])
        .env(DATABASE, database)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    assert!(lines.any(|line| line.contains("begun ")));
    child
}

/// Adds copies of all records of an old database, with rows in its list of runs.
fn enlarge(path: &Path) {
    let old = Connection::open(path).unwrap();
    let columns = |table: &str| -> Vec<String> {
        let sql = format!("SELECT name FROM pragma_table_info('{table}') WHERE name <> 'seq'");
        let mut statement = old.prepare(&sql).unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.map(Result::unwrap).collect()
    };
    for table in ["record", "run"] {
        let copied = |column: &String| match column.as_str() {
            "id" | "series" => format!("{column} || '-' || n"),
            "body" => {
                "replace(body, '\"id\":\"' || id || '\"', '\"id\":\"' || id || '-' || n || '\"')"
                    .to_owned()
            }
            _ => column.clone(),
        };
        let (mut names, mut values) = (columns(table), Vec::new());
        values.extend(names.iter().map(copied));
        let has_seq = table == "run" && old.prepare("SELECT seq FROM run").is_ok();
        if has_seq {
            names.push("seq".to_owned());
            values.push("(SELECT seq FROM record WHERE record.id = run.id || '-' || n)".to_owned());
        }
        let sql = format!(
            "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {COPIES})
             INSERT INTO {table} ({}) SELECT {} FROM (SELECT * FROM {table}) AS {table}, number",
            names.join(", "),
            values.join(", ")
        );
        old.execute_batch(&sql).unwrap();
    }
    old.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
}

/// The records as they are written, without any code of the store.
fn raw(path: &Path) -> Vec<(i64, String, String, Option<Vec<u8>>)> {
    let connection = Connection::open(path).unwrap();
    let packed = match connection.prepare("SELECT packed FROM record").is_ok() {
        true => "packed",
        false => "NULL",
    };
    let sql = format!("SELECT seq, id, body, {packed} FROM record ORDER BY seq");
    let mut statement = connection.prepare(&sql).unwrap();
    let rows = statement.query_map([], |row| {
        Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// What the store reads: the list, and every record.
fn content(path: &Path) -> Vec<String> {
    let store = Store::read(path).unwrap();
    let rows = store.runs(&Filter::default()).unwrap();
    let with_text = rows.into_iter().map(|row| {
        let text = store.run_text(&row.id).unwrap().text().to_owned();
        format!("{row:?} {text}")
    });
    with_text.collect()
}

/// The schema version, and whether columns of the list are still missing.
fn state(path: &Path) -> (u32, bool) {
    let connection = Connection::open(path).unwrap();
    let version = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    let missing = "SELECT EXISTS (SELECT 1 FROM run WHERE fingerprint IS NULL)";
    let missing = connection.query_row(missing, [], |row| row.get(0));
    let verdict: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    (version, missing.unwrap_or(false))
}

#[test]
fn upgrades_that_are_killed_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (mut kills, mut untouched, mut partial) = (0, 0, 0);
    for schema in [1, 3, 4, 7] {
        let (old, path) = (dir.path().join("old.db"), dir.path().join("x.db"));
        std::fs::copy(fixtures().join(format!("schema-{schema}.db")), &old).unwrap();
        enlarge(&old);
        let (records, expected) = (raw(&old), content(&old));
        assert_eq!(records.len(), expected.len());
        assert!(records.len() > COPIES as usize);
        let restored = || {
            for name in ["x.db", "x.db-wal", "x.db-shm", "x.db-journal"] {
                let _ = std::fs::remove_file(dir.path().join(name));
            }
            std::fs::copy(&old, &path).unwrap();
        };
        restored();
        let begun = Instant::now();
        assert!(child(&path).wait().unwrap().success());
        let whole = begun.elapsed();
        assert_eq!(content(&path), expected);
        restored();
        let mut killed = 0;
        for attempt in 1..=ATTEMPTS {
            if killed == KILLS {
                break;
            }
            // Evenly spread, in an order that is not that of time; some are after an earlier kill.
            let share = f64::from(attempt) * 0.618_034 % 1.0;
            if attempt % 4 != 0 {
                restored();
            }
            let mut upgrade = child(&path);
            std::thread::sleep(whole.mul_f64(share));
            killed += u32::from(upgrade.try_wait().unwrap().is_none());
            upgrade.kill().unwrap();
            upgrade.wait().unwrap();
            let (version, is_missing) = state(&path);
            untouched += u32::from(version == schema);
            partial += u32::from(version > schema && is_missing);
            assert!(raw(&path) == records, "schema {schema}, attempt {attempt}");
            assert!(
                content(&path) == expected,
                "schema {schema}, attempt {attempt}"
            );
        }
        kills += killed;
        assert!(child(&path).wait().unwrap().success());
        assert!(!state(&path).1);
        assert!(raw(&path) == records && content(&path) == expected);
    }
    println!(
        "{kills} upgrades were killed at work; {untouched} left the schema as it was, {partial} an incomplete list"
    );
    assert!(kills >= 50 && untouched > 0, "{kills}, {untouched}");
}
