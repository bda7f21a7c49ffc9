//! Opens every database and record that a released version has written.
//!
//! `HAKARU_WRITE_FIXTURES=1 cargo test -p hakaru-store --test it compat::` writes missing fixtures;
//! existing ones never change.

use crate::support::{fixtures, record, repeat_of};
use hakaru_store::{ImportError, RunTerm, Store, export, import, import_lines};

/// The runs in the fixtures of format 1.
fn known() -> Vec<hakaru_model::record::RunRecord> {
    let first = record(1);
    vec![first.clone(), repeat_of(&first, 2, 1), record(0x3001)]
}

#[test]
fn records_of_format_1_are_read() {
    let path = fixtures().join("record-format-1.jsonl");
    if std::env::var_os("HAKARU_WRITE_FIXTURES").is_some() && !path.exists() {
        let lines: Vec<String> = known().iter().map(|r| export(r).unwrap() + "\n").collect();
        std::fs::create_dir_all(fixtures()).unwrap();
        std::fs::write(&path, lines.concat()).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let read: Vec<_> = import_lines(&text)
        .map(|(_, record)| record.unwrap())
        .collect();
    assert_eq!(read.len(), 3);
    assert!(read.iter().all(|r| r.format == 1));
    // It serializes to the same record, whatever fields were added since.
    for record in read {
        assert_eq!(import(&export(&record).unwrap()).unwrap(), record);
    }
}

#[test]
fn databases_of_schema_1_are_opened() {
    let path = fixtures().join("schema-1.db");
    if std::env::var_os("HAKARU_WRITE_FIXTURES").is_some() && !path.exists() {
        std::fs::create_dir_all(fixtures()).unwrap();
        Store::open(&path).unwrap().append_all(&known()).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("old.db");
    std::fs::copy(&path, &copy).unwrap();
    let mut store = Store::open(&copy).unwrap();
    let text = std::fs::read_to_string(fixtures().join("record-format-1.jsonl")).unwrap();
    for (_, record) in import_lines(&text) {
        let record = record.unwrap();
        assert_eq!(store.run(&record.id).unwrap(), record);
    }
    assert_eq!(store.count().unwrap(), 3);
    assert_eq!(store.series(&record(1).id).unwrap().len(), 2);
    assert_eq!(store.rebuild().unwrap(), 3);
    store.append(&record(0x4001)).unwrap();
}

/// Regression: `layer=raw` missed runs on simulated cards that an earlier version had listed without a layer.
#[test]
fn earlier_runs_on_simulated_cards_have_a_layer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("old.db");
    std::fs::copy(fixtures().join("schema-7.db"), &path).unwrap();
    let old = rusqlite::Connection::open(&path).unwrap();
    let unknown = "UPDATE run SET layer = '' WHERE layer = 'raw'; DELETE FROM point";
    old.execute_batch(unknown).unwrap();
    drop(old);
    let raw = [vec![RunTerm::Layer("raw".to_owned())]];
    assert_eq!(
        Store::read(&path).unwrap().runs_with(&raw).unwrap().len(),
        1
    );
    assert_eq!(
        Store::open(&path).unwrap().runs_with(&raw).unwrap().len(),
        1
    );
}

#[test]
fn databases_of_schema_1_are_read_as_they_lie() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("old.db");
    std::fs::copy(fixtures().join("schema-1.db"), &copy).unwrap();
    let before = std::fs::read(&copy).unwrap();
    let store = Store::read(&copy).unwrap();
    assert_eq!(
        (
            store.count().unwrap(),
            store.verifications(9).unwrap().records.len()
        ),
        (3, 0)
    );
    assert_eq!(store.series(&record(1).id).unwrap().len(), 2);
    drop(store);
    assert!(
        std::fs::read(&copy).unwrap() == before,
        "reading brought the file to the newest schema"
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn records_of_the_future_and_damaged_ones_are_named() {
    let text = export(&record(1)).unwrap();
    let message = |text: &str| import(text).unwrap_err().to_string();
    let future = text.replacen("\"format\":1", "\"format\":77", 1);
    assert!(matches!(
        import(&future),
        Err(ImportError::Newer { found: 77, .. })
    ));
    insta::assert_snapshot!(message(&future), @"run 019b8d5e-0000-7001-8000-000000000001 has record \
        format 77, but this version reads formats up to 1; help: use the hakaru version that \
        wrote it, or a later one");
    insta::assert_snapshot!(message(&text.replacen("\"format\":1", "\"format\":0", 1)), @"run \
        019b8d5e-0000-7001-8000-000000000001 has record format 0, which does not exist");
    insta::assert_snapshot!(message("fio-3.39"), @"not a complete hakaru run record: expected ident \
        at line 1 column 2; help: a record is one line of JSON, as written by `hakaru export`");
    insta::assert_snapshot!(message(&text[..100]), @"not a complete hakaru run record: EOF while \
        parsing a string at line 1 column 100; help: a record is one line of JSON, as written by \
        `hakaru export`");
    insta::assert_snapshot!(message("{\"format\":1,\"id\":\"x\"}"), @"run x is damaged or was \
        edited: missing field `series` at line 1 column 21 (record format 1)");
}

#[test]
fn reads_each_line_of_a_file_by_itself() {
    let good = export(&record(1)).unwrap();
    let text = format!("\n{good}\n  \nnoise\n{good}");
    let numbers: Vec<(usize, bool)> = import_lines(&text).map(|(n, r)| (n, r.is_ok())).collect();
    assert_eq!(numbers, [(2, true), (4, false), (5, true)]);
}
