//! A process that dies during an append leaves a database that opens and contains every
//! acknowledged record.
//!
//! The child is this test program, started again with an environment variable that names the
//! database.

use crate::support;
use hakaru_store::Store;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const DATABASE: &str = "HAKARU_CRASH_TEST_DB";

fn child(test: &str, database: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            &format!("crash::{test}"),
            "--nocapture",
            "--test-threads=1",
        ])
        .env(DATABASE, database)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the IDs that the child reported as stored, up to `many` or to its end.
fn acknowledged(child: &mut Child, many: usize) -> Vec<String> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The test harness may print its own text first.
    let ids = lines
        .map_while(Result::ok)
        .filter_map(|l| l.split_once("stored ").map(|(_, id)| id.to_owned()));
    ids.take(many).collect()
}

/// Child process only: appends until it is killed.
#[test]
fn child_that_appends() {
    let Some(path) = std::env::var_os(DATABASE) else {
        return;
    };
    let mut store = Store::open(path).unwrap();
    let from = store.count().unwrap();
    for n in from..from + 100_000 {
        let record = support::record(n);
        store.append(&record).unwrap();
        println!("stored {}", record.id);
    }
}

/// Child process only: dies with a record written but not committed.
#[test]
fn child_that_dies_inside_a_transaction() {
    let Some(path) = std::env::var_os(DATABASE) else {
        return;
    };
    let raw = rusqlite::Connection::open(path).unwrap();
    // A cache this small spills the open transaction into the WAL before the end.
    raw.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE")
        .unwrap();
    for n in 0..50 {
        let body = "x".repeat(100_000);
        raw.execute(
            "INSERT INTO record (id, format, body) VALUES (?1, 1, ?2)",
            (format!("torn-{n}"), body),
        )
        .unwrap();
    }
    println!("stored nothing");
    std::process::abort();
}

fn check_sound(path: &Path, expected: &[String]) -> Store {
    let store = Store::open(path).unwrap();
    let raw = rusqlite::Connection::open(path).unwrap();
    let verdict: String = raw
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    for id in expected {
        assert_eq!(store.run(id).unwrap().id, *id);
    }
    let orphans = "SELECT count(*) FROM record WHERE id NOT IN (SELECT id FROM run)";
    assert_eq!(
        raw.query_row(orphans, [], |row| row.get::<_, i64>(0))
            .unwrap(),
        0
    );
    store
}

#[test]
fn a_killed_process_loses_nothing_it_had_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hakaru.db");
    let mut all = Vec::new();
    for many in [1, 2, 5, 11, 23] {
        let mut writer = child("child_that_appends", &path);
        all.extend(acknowledged(&mut writer, many));
        writer.kill().unwrap();
        writer.wait().unwrap();
        let store = check_sound(&path, &all);
        assert!(store.count().unwrap() >= all.len() as u64);
    }
    assert_eq!(all.len(), 42);
}

#[test]
fn a_process_that_dies_inside_a_transaction_leaves_the_state_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hakaru.db");
    let first = support::record(1);
    Store::open(&path).unwrap().append(&first).unwrap();
    let mut writer = child("child_that_dies_inside_a_transaction", &path);
    assert_eq!(acknowledged(&mut writer, 1), ["nothing"]);
    assert!(!writer.wait().unwrap().success());
    let mut store = check_sound(&path, std::slice::from_ref(&first.id));
    assert_eq!(store.count().unwrap(), 1);
    store.append(&support::record(2)).unwrap();
}

#[test]
fn several_processes_may_append_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hakaru.db");
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let path = &path;
            scope.spawn(move || {
                let mut store = Store::open(path).unwrap();
                (0..10).for_each(|n| {
                    assert!(store.append(&support::record(thread * 100 + n)).is_ok())
                });
            });
        }
    });
    assert_eq!(check_sound(&path, &[]).count().unwrap(), 40);
}
