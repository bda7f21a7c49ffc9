//! Moving series to another database, and back.

mod support;

use hakaru_model::annotation::{Annotation, AnnotationKind};
use hakaru_store::{Filter, Store, export};
use support::{BEGUN, fixtures, holding, record, repeat_of};

fn ids(store: &Store) -> Vec<String> {
    let rows = store.runs(&Filter::default()).unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

#[test]
fn old_series_are_moved_with_their_labels() {
    let first = record(1);
    let all = [first.clone(), repeat_of(&first, 9, 1), record(5), record(7)];
    let (dir, mut store) = holding(&all);
    let label = Annotation {
        subject: record(5).series,
        kind: AnnotationKind::Label,
        value: "old card".to_owned(),
        at_unix_ms: BEGUN,
    };
    store.annotate(&[label]).unwrap();
    // The first series is as new as its last repeat.
    let old = store.series_before(BEGUN + 8 * 60_000).unwrap();
    assert_eq!(old, [record(5).series, record(7).series]);
    assert_eq!(store.series_except_newest(1).unwrap(), old);
    assert!(store.series_except_newest(usize::MAX).unwrap().is_empty());

    let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
    for series in &old {
        assert_eq!(store.move_series(series, &mut archive).unwrap(), 1);
    }
    store.compact().unwrap();
    assert_eq!(ids(&store), [all[1].id.clone(), all[0].id.clone()]);
    assert_eq!(ids(&archive), [all[3].id.clone(), all[2].id.clone()]);
    assert_eq!(
        archive.run(&all[2].id).unwrap().target.display_name(),
        "old card"
    );
    assert_eq!(archive.raw_run(&all[2].id).unwrap(), all[2]);
    assert_eq!(store.run(&all[0].id).unwrap(), all[0]);

    // What is left is still protected, and what was moved can come back.
    let raw = rusqlite::Connection::open(store.path()).unwrap();
    assert!(raw.execute_batch("DELETE FROM record").is_err());
    drop(raw);
    store.append(&archive.raw_run(&all[2].id).unwrap()).unwrap();
    assert_eq!(
        store.run(&all[2].id).unwrap().target.display_name(),
        "old card"
    );
}

/// Killed between the copy and the removal, a series is in both databases; moving it again completes it.
#[test]
fn a_move_that_was_cut_short_is_completed() {
    let (dir, mut store) = holding(&[record(1), record(2)]);
    let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
    archive.append(&record(1)).unwrap();
    assert_eq!(
        store.move_series(&record(1).series, &mut archive).unwrap(),
        1
    );
    assert_eq!(
        (ids(&store), ids(&archive)),
        (vec![record(2).id], vec![record(1).id])
    );
}

#[test]
fn a_record_that_differs_in_the_archive_is_not_removed() {
    let (dir, mut store) = holding(&[record(1)]);
    let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
    let mut other = record(1);
    other.started_unix_ms += 1;
    archive.append(&other).unwrap();
    store
        .move_series(&record(1).series, &mut archive)
        .unwrap_err();
    assert_eq!(store.run(&record(1).id).unwrap(), record(1));
}

#[test]
fn text_records_of_older_versions_are_compressed_without_a_change() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    std::fs::copy(fixtures().join("schema-4.db"), &path).unwrap();
    let mut store = Store::open(&path).unwrap();
    let texts = |store: &Store| -> Vec<String> {
        let all = ids(store).into_iter().map(|id| store.raw_run(&id).unwrap());
        all.map(|record| export(&record).unwrap()).collect()
    };
    let before = (texts(&store), path.metadata().unwrap().len());
    store.compact().unwrap();
    assert_eq!(texts(&store), before.0);
    let raw = rusqlite::Connection::open(&path).unwrap();
    let left = "SELECT count(*) FROM record WHERE packed IS NULL OR body <> ''";
    assert_eq!(
        raw.query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(),
        0
    );
    assert!(path.metadata().unwrap().len() <= before.1);
    assert_eq!(store.rebuild().unwrap(), before.0.len() as u64);
}
