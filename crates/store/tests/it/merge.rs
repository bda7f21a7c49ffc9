//! Merging the content of two databases, as a team does.

use crate::support::{BEGUN, holding, record, repeat_of, verification};
use hakaru_model::annotation::{Annotation, AnnotationKind, Annotations};
use hakaru_model::price::Price;
use hakaru_store::{Filter, Merged, Store};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn ids(store: &Store) -> BTreeSet<String> {
    let rows = store.runs(&Filter::default()).unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

fn merge(to: &mut Store, from: &Store) -> Merged {
    to.merge(from, &mut |_, _| {}).unwrap()
}

/// Both ways, as `hakaru sync` does.
fn exchange(a: &mut Store, b: &mut Store) {
    merge(a, b);
    merge(b, a);
}

#[test]
fn two_databases_become_equal() {
    let shared = record(1);
    let (_a, mut a) = holding(&[shared.clone(), record(2)]);
    let (_b, mut b) = holding(&[repeat_of(&shared, 3, 1), shared.clone(), record(5)]);
    b.append_verification(&verification(7)).unwrap();
    a.keep_campaign("six", "asked by a").unwrap();
    b.keep_campaign("six", "asked by b").unwrap();
    b.keep_campaign("seven", "asked by b").unwrap();
    b.set_price("kingston", &"680 yen".parse::<Price>().unwrap())
        .unwrap();

    let mut seen = Vec::new();
    let merged = a.merge(&b, &mut |done, total| seen.push((done, total)));
    let expected = Merged {
        runs: 2,
        verifications: 1,
        campaigns: 1,
        prices: 1,
        ..Merged::default()
    };
    assert_eq!(merged.unwrap(), expected);
    assert_eq!(seen, [(3, 3)]);
    assert_eq!(merge(&mut b, &a).runs, 1);
    assert_eq!(ids(&a), ids(&b));
    assert_eq!(ids(&a).len(), 4);
    assert_eq!(a.series(&shared.series).unwrap().len(), 2);
    assert_eq!(a.raw_run(&record(5).id).unwrap(), record(5));
    assert_eq!(a.kept_campaign("six").unwrap().unwrap(), "asked by a");
    assert!(merge(&mut a, &b).is_empty());
    assert!(merge(&mut b, &a).is_empty());
}

/// Records never change, so another one with the same ID is reported, and neither database changes.
#[test]
fn a_record_that_differs_is_a_conflict() {
    let mut other = record(1);
    other.phases[0].workers[0].ops[hakaru_model::job::Op::Write].ios += 1;
    let (_a, mut a) = holding(&[record(1)]);
    let (_b, b) = holding(&[other.clone(), record(2)]);
    let merged = merge(&mut a, &b);
    assert_eq!((merged.runs, merged.conflicts), (1, vec![record(1).id]));
    assert_eq!(a.raw_run(&record(1).id).unwrap(), record(1));

    let mut differs = verification(7);
    differs.started_unix_ms += 1;
    let (_c, mut c) = holding(&[]);
    let (_d, mut d) = holding(&[]);
    c.append_verification(&verification(7)).unwrap();
    d.append_verification(&differs).unwrap();
    assert_eq!(merge(&mut c, &d).conflicts, [verification(7).id]);
    assert_eq!(c.raw_verification(&differs.id).unwrap(), verification(7));
}

#[test]
fn a_damaged_record_is_named_and_the_others_are_copied() {
    let (_b, b) = holding(&[record(1), record(2)]);
    let path = b.path().to_owned();
    let raw = rusqlite::Connection::open(b.path()).unwrap();
    raw.execute_batch(
        "DROP TRIGGER record_is_never_updated;
         UPDATE record SET body = '{\"format\": 1', packed = NULL, scenario = NULL WHERE seq = 1;",
    )
    .unwrap();
    let trigger = "CREATE TRIGGER record_is_never_updated BEFORE UPDATE ON record
BEGIN
    SELECT RAISE(ABORT, 'run records are never changed');
END";
    raw.execute_batch(trigger).unwrap();
    drop((raw, b));
    let b = Store::read(path).unwrap();
    let (_a, mut a) = holding(&[]);
    let merged = merge(&mut a, &b);
    assert_eq!(merged.runs, 1);
    assert_eq!(merged.unreadable.len(), 1);
    assert_eq!(merged.unreadable[0].0, record(1).id);
    assert_eq!(ids(&a), BTreeSet::from([record(2).id]));
}

/// Regression: with annotations in the order of storage, a merge made an older label the current one.
#[test]
fn the_newest_label_wins_wherever_it_was_given() {
    let label = |value: &str, at_unix_ms| Annotation {
        subject: record(1).series,
        kind: AnnotationKind::Label,
        value: value.to_owned(),
        at_unix_ms,
    };
    let (_a, mut a) = holding(&[record(1)]);
    let (_b, mut b) = holding(&[record(1)]);
    b.annotate(&[label("first", BEGUN)]).unwrap();
    a.annotate(&[label("second", BEGUN + 1)]).unwrap();
    exchange(&mut a, &mut b);
    for store in [&a, &b] {
        let name = store.run(&record(1).id).unwrap().target.display_name();
        assert_eq!(name, "second");
        let named = Filter {
            target: Some("second".to_owned()),
            ..Filter::default()
        };
        assert_eq!(store.runs(&named).unwrap().len(), 1);
    }
    // The clock of this host is behind, and what its user says now is still the last word.
    b.annotate(&[label("third", BEGUN - 1)]).unwrap();
    exchange(&mut a, &mut b);
    for store in [&a, &b] {
        let now = store.annotations(&record(1).series).unwrap();
        assert_eq!(now.label.as_deref(), Some("third"));
    }
}

/// The number of a store, of a series and of a kind, a value, and a time.
type Given = (usize, u64, usize, String, i64);

fn given() -> impl Strategy<Value = Given> {
    (
        0..3usize,
        1..3u64,
        0..AnnotationKind::ALL.len(),
        "[ab]?",
        0..3i64,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn three_databases_agree_after_any_exchange(
        given in prop::collection::vec(given(), 0..12),
        order in prop::sample::subsequence(vec![(0, 1), (1, 2), (0, 2), (2, 1)], 1..4),
    ) {
        let mut all: Vec<_> = (0..3).map(|n| holding(&[record(1), record(10 + n)])).collect();
        for (store, series, kind, value, at) in given {
            let annotation = Annotation {
                subject: record(series).series,
                kind: AnnotationKind::ALL[kind],
                value,
                at_unix_ms: BEGUN + at,
            };
            all[store].1.annotate(&[annotation]).unwrap();
        }
        // Any exchange in between, then all with all.
        for (a, b) in order.into_iter().chain([(0, 1), (1, 2), (0, 2), (0, 1)]) {
            let (low, high) = all.split_at_mut(a.max(b));
            exchange(&mut low[a.min(b)].1, &mut high[0].1);
        }
        let state = |store: &Store| -> (BTreeSet<String>, Vec<Annotations>) {
            let series = [record(1).series, record(2).series];
            (ids(store), series.map(|series| store.annotations(&series).unwrap()).to_vec())
        };
        let first = state(&all[0].1);
        prop_assert_eq!(first.0.len(), 4);
        for (_, store) in &all[1..] {
            prop_assert_eq!(&state(store), &first);
        }
    }
}
