//! Moving series to another database, and back.

use crate::support::{self, BEGUN, fixtures, holding, record, repeat_of};
use hakaru_model::annotation::{Annotation, AnnotationKind};
use hakaru_model::price::Price;
use hakaru_store::{Filter, RecordText, Store, export};

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
    // Closed after its upgrade, so that the file has its size with the newest schema.
    drop(Store::open(&path).unwrap());
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

/// Regression: the archive had the record as this version writes it, without fields of a later version.
#[test]
fn fields_of_a_later_version_are_moved() {
    let (dir, mut store) = holding(&[]);
    let path = store.path().to_owned();
    let text = export(&record(1)).unwrap();
    let later = text.replacen('{', "{\"invented_later\":[1,2],", 1);
    let read = RecordText::read(later.clone()).unwrap();
    store.append_texts([&read]).unwrap();
    let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
    store.move_series(&record(1).series, &mut archive).unwrap();
    assert!(ids(&store).is_empty());
    let moved = archive.run_text(&record(1).id).unwrap();
    assert_eq!(moved.text(), later);
    drop(store);

    // A copy without these fields does not replace the record.
    let mut store = Store::open(path).unwrap();
    store.append_texts([&read]).unwrap();
    let mut other = Store::open(dir.path().join("other.db")).unwrap();
    other.append(&record(1)).unwrap();
    let refused = store.move_series(&record(1).series, &mut other);
    assert!(refused.unwrap_err().is_of_series());
    assert_eq!(store.run_text(&record(1).id).unwrap().text(), later);
    // The other way round, nothing is lost.
    let mut without = Store::open(dir.path().join("without.db")).unwrap();
    without.append(&record(1)).unwrap();
    let moved = without.move_series(&record(1).series, &mut archive);
    assert_eq!(moved.unwrap(), 1);
}

#[test]
fn runs_of_a_campaign_with_a_definition_are_needed() {
    let mut of_campaign = record(1);
    of_campaign.campaign = Some(support::point("cards", 0));
    let mut of_other = record(2);
    of_other.campaign = Some(support::point("gone", 0));
    let (_dir, mut store) = holding(&[of_campaign, of_other, record(3)]);
    store.keep_campaign("cards", "definition").unwrap();
    let needed = [1, 2, 3].map(|n| store.is_of_campaign(&record(n).series).unwrap());
    assert_eq!(needed, [true, false, false]);
    let mut archive = Store::open(store.path().with_extension("archive")).unwrap();
    store.copy_definitions(&mut archive).unwrap();
    let copied = archive.kept_campaign("cards").unwrap();
    assert_eq!(copied.as_deref(), Some("definition"));
}

/// Regression: an archive kept the definition of a campaign and the price of a card that it got first.
#[test]
fn later_definitions_replace_those_of_the_archive() {
    let (dir, mut store) = holding(&[]);
    let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
    for (definition, price) in [("first", "680 JPY"), ("second", "700 JPY")] {
        store.keep_campaign("cards", definition).unwrap();
        let price: Price = price.parse().unwrap();
        store.set_price("card", &price).unwrap();
        store.copy_definitions(&mut archive).unwrap();
        let copied = archive.kept_campaign("cards").unwrap();
        assert_eq!(copied.as_deref(), Some(definition));
        assert_eq!(archive.price("card").unwrap(), Some(price));
    }
}

/// Regression: a copy that was written in another way, but says the same, kept its series from the archive.
#[test]
fn equal_copies_may_be_written_differently() {
    let text = export(&record(1)).unwrap();
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let text = text.replacen(from, to, 1);
        let read = RecordText::read(text).unwrap();
        assert_eq!(*read.record(), record(1), "{to}");
        read
    };
    let plain = RecordText::read(text.clone()).unwrap();
    // A field of a later version that has no value, and numbers in another form.
    let spaced = with("{\"format\":", "{ \"format\" : ");
    let null = with("{", "{\"invented_later\":null,");
    let number = with("\"per_io_ps\":81250", "\"invented\":1,\"per_io_ps\":81250");
    let real = with(
        "\"per_io_ps\":81250",
        "\"invented\":1.0,\"per_io_ps\":81250",
    );
    for (stored, copy) in [
        (&plain, &spaced),
        (&null, &plain),
        (&plain, &null),
        (&number, &real),
        (&real, &number),
    ] {
        let (dir, mut store) = holding(&[]);
        store.append_texts([stored]).unwrap();
        let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
        archive.append_texts([copy]).unwrap();
        let moved = store.move_series(&record(1).series, &mut archive);
        assert_eq!(moved.unwrap(), 1, "{}", stored.text());
    }
}

/// Regression: a copy that lacked a field with its default value, as earlier versions write it, kept its series from the
/// archive.
#[test]
fn equal_copies_may_lack_default_values() {
    let text = export(&record(1)).unwrap();
    let without = |field: &str| {
        assert!(text.contains(field), "{field}");
        let read = RecordText::read(text.replacen(field, "", 1)).unwrap();
        assert_eq!(*read.record(), record(1), "{field}");
        read
    };
    let with = |from: &str, field: &str| {
        let read = RecordText::read(text.replacen(from, &format!("{from}{field}"), 1)).unwrap();
        assert_eq!(*read.record(), record(1), "{field}");
        read
    };
    let moves = |stored: &RecordText, copy: &RecordText| {
        let (dir, mut store) = holding(&[]);
        store.append_texts([stored]).unwrap();
        let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
        archive.append_texts([copy]).unwrap();
        store.move_series(&record(1).series, &mut archive).is_ok()
    };
    let plain = RecordText::read(text.clone()).unwrap();
    assert!(moves(&plain, &without("\"startdelay_max\":0,")));
    // A default value that this version leaves out.
    assert!(moves(
        &with("\"extent\":{", "\"draws_anew\":false,"),
        &plain
    ));
    // A field of a later version beside it is not lost, at whatever place.
    assert!(!moves(
        &with("\"extent\":{", "\"invented_later\":false,"),
        &plain
    ));
    assert!(!moves(
        &with("\"timing\":{", "\"invented/later\":[{}],"),
        &plain
    ));
}
