//! Labels, titles and notes: they change, and the records do not.

use crate::support::{self, holding, record, repeat_of, verification};
use hakaru_model::annotation::{Annotation, AnnotationKind};
use hakaru_store::{Appended, Filter, Store, export};

fn annotation(subject: &str, kind: AnnotationKind, value: &str) -> Annotation {
    Annotation {
        subject: subject.to_owned(),
        kind,
        value: value.to_owned(),
        at_unix_ms: 1_767_607_200_000,
    }
}

#[test]
fn a_label_is_beside_the_record() {
    let first = record(1);
    let (_dir, mut store) = holding(&[first.clone(), repeat_of(&first, 2, 1), record(0x3001)]);
    let label = annotation(&first.series, AnnotationKind::Label, "ssd");
    assert_eq!(store.annotate(std::slice::from_ref(&label)).unwrap(), 1);
    assert_eq!(store.annotate(std::slice::from_ref(&label)).unwrap(), 0);

    assert_eq!(store.run(&first.id).unwrap().target.display_name(), "ssd");
    assert_eq!(store.raw_run(&first.id).unwrap(), first);
    assert_eq!(
        store.series_called("SSD").unwrap(),
        std::slice::from_ref(&first.series)
    );
    let named = Filter {
        target: Some("ssd".to_owned()),
        ..Filter::default()
    };
    assert_eq!(store.runs(&named).unwrap().len(), 2);
    assert_eq!(store.series(&first.series).unwrap().len(), 2);

    // The names survive a rebuild of the derived tables, and a stored record is still accepted again.
    store.rebuild().unwrap();
    assert_eq!(store.runs(&named).unwrap().len(), 2);
    assert_eq!(store.append(&first).unwrap(), Appended::AlreadyThere);

    // Without the label, the record's own name counts again; the history keeps both.
    let removed = annotation(&first.series, AnnotationKind::Label, "");
    assert_eq!(store.annotate(std::slice::from_ref(&removed)).unwrap(), 1);
    assert_eq!(store.runs(&named).unwrap().len(), 0);
    assert_eq!(store.run(&first.id).unwrap(), first);
    assert_eq!(store.annotation_history(&first.series).unwrap().len(), 2);
}

#[test]
fn one_series_has_several_labels() {
    let (_dir, mut store) = holding(&[record(1), record(0x3001)]);
    let (a, b) = (record(1).series, record(0x3001).series);
    let all = [
        annotation(&a, AnnotationKind::Label, "card"),
        annotation(&a, AnnotationKind::Alias, "spare"),
        annotation(&b, AnnotationKind::Label, "Card"),
    ];
    assert_eq!(store.annotate(&all).unwrap(), 3);
    assert_eq!(
        store.series_called("spare").unwrap(),
        std::slice::from_ref(&a)
    );
    // An exact match excludes one in another case; without an exact one, both match, last stored first.
    assert_eq!(
        store.series_called("Card").unwrap(),
        std::slice::from_ref(&b)
    );
    assert_eq!(store.series_called("CARD").unwrap(), [b, a.clone()]);
    let renamed = annotation(&a, AnnotationKind::Label, "new");
    store.annotate(std::slice::from_ref(&renamed)).unwrap();
    assert!(store.series_called("spare").unwrap().is_empty());
}

#[test]
fn a_label_of_a_series_without_runs_waits_for_them() {
    let (_dir, mut store) = holding(&[]);
    let label = annotation(&record(1).series, AnnotationKind::Label, "ssd");
    store.annotate(std::slice::from_ref(&label)).unwrap();
    store.append(&record(1)).unwrap();
    assert_eq!(store.series_called("ssd").unwrap(), [record(1).series]);
}

#[test]
fn verifications_have_labels() {
    let (_dir, mut store) = holding(&[]);
    let of = verification(1);
    store.append_verification(&of).unwrap();
    let label = annotation(&of.id, AnnotationKind::Label, "fake card");
    store.annotate(std::slice::from_ref(&label)).unwrap();
    let found = store.latest_verification().unwrap().unwrap();
    assert_eq!(found.target.display_name(), "fake card");
    assert_eq!(store.raw_verification(&of.id).unwrap(), of);
}

#[test]
fn the_last_stored_series_comes_first() {
    let (_dir, store) = holding(&[record(0x3001), record(1)]);
    let newest = [record(1).series, record(0x3001).series];
    assert_eq!(store.newest_series(&Filter::default()).unwrap(), newest);
}

#[test]
fn databases_of_schema_4_get_labels() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("old.db");
    std::fs::copy(support::fixtures().join("schema-4.db"), &copy).unwrap();
    let before = std::fs::read(&copy).unwrap();
    let read = Store::read(&copy).unwrap();
    let rows = read.runs(&Filter::default()).unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.layer == "ext4"));
    drop(read);
    assert!(before == std::fs::read(&copy).unwrap());
    let mut store = Store::open(&copy).unwrap();
    let series = rows[0].series.clone();
    let body = export(&store.raw_run(&rows[0].id).unwrap()).unwrap();
    let label = annotation(&series, AnnotationKind::Label, "old card");
    store.annotate(std::slice::from_ref(&label)).unwrap();
    assert_eq!(store.series_called("old card").unwrap(), [series]);
    assert_eq!(export(&store.raw_run(&rows[0].id).unwrap()).unwrap(), body);
}
