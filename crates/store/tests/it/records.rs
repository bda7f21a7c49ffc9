//! Properties of stored records: kept unchanged and found again.

use crate::support::{self, empty, holding, id, record, repeat_of};
use hakaru_model::campaign::{CampaignPoint, DeviceSegment, FillContent, PreparedStep, StepKind};
use hakaru_model::mismatch::{BlockDifference, Mismatch, Saved};
use hakaru_model::record::{FORMAT, Origin, Outcome, RunRecord};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_store::{
    AppendError, Appended, Filter, FindError, ImportError, OutcomeKind, Store, export, import,
};
use proptest::prelude::*;

#[test]
fn a_record_comes_back_as_it_was() {
    let (dir, mut store) = empty();
    let first = record(1);
    assert_eq!(store.append(&first).unwrap(), Appended::Stored);
    assert_eq!(store.run(&first.id).unwrap(), first);
    drop(store);
    let store = Store::open(dir.path().join("hakaru.db")).unwrap();
    assert_eq!(store.run(&first.id).unwrap(), first);
    assert_eq!(store.latest().unwrap(), Some(first));
}

#[test]
fn the_same_twice_is_harmless_and_another_is_refused() {
    let (_dir, mut store) = empty();
    let first = record(1);
    store.append(&first).unwrap();
    assert_eq!(store.append(&first).unwrap(), Appended::AlreadyThere);
    let other = RunRecord {
        started_unix_ms: 0,
        ..first.clone()
    };
    let refused = store.append_all([&record(2), &other]).unwrap_err();
    assert!(matches!(refused, AppendError::Conflict { .. }), "{refused}");
    assert_eq!(store.count().unwrap(), 1, "all or none");
    assert_eq!(store.run(&first.id).unwrap(), first);
}

#[test]
fn ids_that_cannot_be_typed_are_refused() {
    let (_dir, mut store) = empty();
    for id in ["", "a b", "../x", "naïve", &"x".repeat(65)] {
        let refused = store
            .append(&RunRecord {
                id: id.to_owned(),
                ..record(1)
            })
            .unwrap_err();
        assert!(matches!(refused, AppendError::BadId { .. }), "{refused}");
    }
}

#[test]
fn what_could_not_be_read_again_is_refused() {
    let (_dir, mut store) = empty();
    let mut nan = record(1);
    nan.scenario.phases[0].jobs[0].access.distribution =
        hakaru_model::job::Distribution::Zipf(f64::NAN);
    assert!(matches!(
        store.append(&nan),
        Err(AppendError::Unreadable(_))
    ));
    let future = RunRecord {
        format: FORMAT + 1,
        ..record(2)
    };
    assert!(matches!(
        store.append(&future),
        Err(AppendError::Unreadable(ImportError::Newer { .. }))
    ));
    assert_eq!(store.count().unwrap(), 0);
}

#[test]
fn a_path_that_is_no_text_does_not_cost_the_measurement() {
    use std::os::unix::ffi::OsStringExt;
    let (_dir, mut store) = empty();
    let mut odd = record(1);
    odd.target.path = std::ffi::OsString::from_vec(b"/mnt/\xff.tmp".to_vec()).into();
    store.append(&odd).unwrap();
    assert_eq!(store.append(&odd).unwrap(), Appended::AlreadyThere);
    assert_eq!(
        store.run(&odd.id).unwrap().target.path.to_str(),
        Some("/mnt/\u{FFFD}.tmp")
    );
}

#[test]
fn no_path_in_a_record_has_to_be_text() {
    use std::os::unix::ffi::OsStringExt;
    let odd = || std::path::PathBuf::from(std::ffi::OsString::from_vec(b"/mnt/\xff".to_vec()));
    let (_dir, mut store) = empty();
    let mut record = record(1);
    let replay = &mut record.scenario.phases[0].jobs[0].replay;
    (replay.read, replay.write, replay.redirect) = (vec![odd()], Some(odd()), Some(odd()));
    let saved = Some(Saved {
        received: odd(),
        expected: Some(odd()),
    });
    let difference = BlockDifference::Magic {
        found: 1,
        wanted: 2,
    };
    let mismatch = Mismatch {
        offset: Bytes(0),
        len: Bytes(512),
        difference,
        saved,
    };
    record.phases[0].workers[0].errors.first[0]
        .mismatches
        .push(mismatch);
    store.append(&record).unwrap();
    let stored = store.run(&record.id).unwrap();
    assert_eq!(
        stored.scenario.phases[0].jobs[0].replay.read[0].to_str(),
        Some("/mnt/\u{FFFD}")
    );
}

/// Regression: extreme values, as in a damaged import, overflowed the sum, and no point could be
/// listed.
#[test]
fn points_are_listed_whatever_was_written() {
    let (_dir, mut store) = empty();
    let mut odd = record(1);
    odd.campaign = Some(CampaignPoint {
        campaign: "c".into(),
        card: "0x1".into(),
        ..CampaignPoint::default()
    });
    odd.phases[0].workers[0].ops.write.bytes = u64::MAX;
    odd.phases.push(odd.phases[0].clone());
    store.append(&odd).unwrap();
    let points = store.points("c").unwrap();
    assert_eq!(
        (points.len(), points[0].written),
        (1, 9_200_000_000_000_000_000)
    );
}

/// Returns a run of the campaign `c` on a card that was filled in segments of 1 MiB.
fn filled(n: u64, card: &str, segments: u64) -> RunRecord {
    let segment = |at: u64| DeviceSegment {
        offset: Bytes(at << 20),
        len: Bytes(1 << 20),
        elapsed: Nanos(1),
    };
    let step = |speed| PreparedStep {
        step: StepKind::Filled {
            with: FillContent::Ones,
        },
        elapsed: Nanos(0),
        speed,
        written: Bytes(0),
    };
    let speed = (0..segments).map(segment).collect();
    let point = CampaignPoint {
        campaign: "c".into(),
        card: card.into(),
        prepared: vec![step(Vec::new()), step(speed)],
        ..CampaignPoint::default()
    };
    RunRecord {
        campaign: Some(point),
        ..record(n)
    }
}

#[test]
fn adds_up_the_bytes_of_preparations_by_card() {
    let failed = RunRecord {
        outcome: failed(6).outcome,
        ..filled(6, "a", 9)
    };
    let (_dir, store) = holding(&[
        filled(1, "a", 3),
        filled(2, "a", 0),
        filled(3, "a", 2),
        filled(4, "b", 0),
        record(5),
        failed,
    ]);
    let host = store.points("c").unwrap()[0].host.clone();
    assert_eq!(
        store.written_besides("c", &host).unwrap(),
        [("a".to_owned(), 5 << 20)]
    );
    // Another host may use this name for another card.
    assert_eq!(store.written_besides("c", "elsewhere").unwrap(), []);
    assert_eq!(store.written_besides("other", &host).unwrap(), []);
}

#[test]
fn adds_up_fill_levels_and_laid_out_files() {
    // Fill levels count like fills; files are laid out for each run, and a failed run wrote them too.
    let mut level = filled(7, "b", 0);
    let point = level.campaign.as_mut().unwrap();
    (point.prepared[1].written, point.laid_out) = (Bytes(70), Bytes(4));
    let failed = RunRecord {
        outcome: Outcome::Interrupted,
        id: record(8).id,
        ..level.clone()
    };
    let (_dir, store) = holding(&[filled(1, "a", 5), level, failed]);
    let host = store.points("c").unwrap()[0].host.clone();
    assert_eq!(
        store.written_besides("c", &host).unwrap(),
        [("a".to_owned(), 5 << 20), ("b".to_owned(), 78)]
    );
}

#[test]
fn raw_records_cannot_be_changed_by_anybody() {
    let (_dir, store) = holding(&[record(1)]);
    let raw = rusqlite::Connection::open(store.path()).unwrap();
    for (sql, told) in [
        ("UPDATE record SET body = '{}'", "never changed"),
        ("DELETE FROM record", "never deleted"),
        (
            "INSERT OR REPLACE INTO record (seq, id, format, body) SELECT 77, id, format, '{}' FROM record",
            "never replaced",
        ),
        (
            "INSERT OR REPLACE INTO record (seq, id, format, body) SELECT seq, 'x', format, '{}' FROM record",
            "never replaced",
        ),
        (
            "REPLACE INTO record (id, format, body) SELECT id, format, '{}' FROM record",
            "never replaced",
        ),
    ] {
        let refused = raw.execute(sql, []).expect_err(sql).to_string();
        assert!(refused.contains(told), "{sql}: {refused}");
    }
    assert_eq!(store.run(&record(1).id).unwrap(), record(1));
}

#[test]
fn lists_are_newest_first_and_narrow_down() {
    let (_dir, store) = holding(&[record(1), failed(2), imported(3)]);
    let begun = |n: i64| Some(support::BEGUN + n * 60_000);
    let narrowed = |narrow: fn(&mut Filter)| {
        let mut filter = Filter::default();
        narrow(&mut filter);
        filter
    };
    let window = Filter {
        since_unix_ms: begun(2),
        until_unix_ms: begun(3),
        ..Filter::default()
    };
    for (filter, expected) in [
        (Filter::default(), &[3, 2, 1][..]),
        (narrowed(|filter| filter.limit = Some(1)), &[3]),
        (narrowed(|filter| filter.imported = Some(false)), &[2, 1]),
        (narrowed(|filter| filter.target = Some("kiOX".into())), &[3]),
        (
            narrowed(|filter| filter.outcome = Some(OutcomeKind::Failed)),
            &[2],
        ),
        (
            narrowed(|filter| filter.scenario = Some("none".into())),
            &[],
        ),
        (
            narrowed(|filter| filter.series = Some(support::id(2))),
            &[2],
        ),
        (window, &[2]),
    ] {
        let listed = store.runs(&filter).unwrap().into_iter().map(|run| run.id);
        let expected: Vec<String> = expected.iter().map(|&n| support::id(n)).collect();
        assert_eq!(listed.collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

fn imported(n: u64) -> RunRecord {
    let mut imported = record(n);
    imported.origin = Origin::Imported {
        program: "fio-3.39".into(),
        source: "a.log".into(),
        reported: Box::default(),
    };
    imported.target.label = Some("Kioxia".into());
    imported
}

fn failed(n: u64) -> RunRecord {
    RunRecord {
        outcome: Outcome::Failed {
            error: "disk full".into(),
        },
        ..record(n)
    }
}

#[test]
fn rows_say_what_the_records_hold() {
    let (_dir, store) = holding(&[record(1)]);
    insta::assert_debug_snapshot!(store.runs(&Filter::default()).unwrap(), @r#"
    [
        RunRow {
            id: "019b8d5e-0000-7001-8000-000000000001",
            short: "019b8d5e",
            series: "019b8d5e-0000-7001-8000-000000000001",
            repeat: 0,
            started_unix_ms: 1767607260000,
            scenario: "standard",
            target: "SanDisk \"Max\" Endurance",
            origin: "hakaru 0.1.0",
            imported: false,
            outcome: Completed,
            format: 1,
            phases: 1,
            ios: 500,
            bytes: 2048000,
            errors: 1,
            caveats: 2,
            layer: "ext4",
            traced: false,
            stored: 1,
        },
    ]
    "#);
    insta::assert_debug_snapshot!(store.phases(&Filter::default()).unwrap(), @r#"
    [
        PhaseRow {
            run: "019b8d5e-0000-7001-8000-000000000001",
            index: 0,
            name: "rand-write",
            op: Write,
            ios: 500,
            bytes: 2048000,
            runtime_ns: 60000000000,
        },
    ]
    "#);
}

#[test]
fn a_unique_beginning_of_an_id_is_enough() {
    let (_dir, store) = holding(&[record(0x1001), record(0x1002), record(0x2001)]);
    assert_eq!(store.run("019b8d5e-0002").unwrap(), record(0x2001));
    let refused = store.run("019b8d5e-0001").unwrap_err();
    insta::assert_snapshot!(refused, @r#"
    2 runs have IDs that start with "019b8d5e-0001"; type more digits of one of these:
      019b8d5e-0001-7001-8000-000000001001  standard, SanDisk "Max" Endurance
      019b8d5e-0001-7002-8000-000000001002  standard, SanDisk "Max" Endurance
    "#);
    assert!(matches!(store.run("ffff"), Err(FindError::NotFound { .. })));
    assert!(matches!(store.run(""), Err(FindError::NotFound { .. })));
    assert!(matches!(store.run("%"), Err(FindError::NotFound { .. })));
    for row in store.runs(&Filter::default()).unwrap() {
        assert_eq!(store.run(&row.short).unwrap().id, row.id, "{}", row.short);
    }
}

#[test]
fn a_whole_id_wins_over_longer_ones() {
    let short = RunRecord {
        id: "a".into(),
        series: "a".into(),
        ..record(1)
    };
    let long = RunRecord {
        id: "ab".into(),
        series: "ab".into(),
        ..record(2)
    };
    let (_dir, store) = holding(&[long, short]);
    assert_eq!(store.run("a").unwrap().id, "a");
    assert_eq!(store.series("a").unwrap()[0].id, "a");
}

#[test]
fn a_series_comes_in_the_order_of_its_runs() {
    let first = record(0x1001);
    let runs = [
        repeat_of(&first, 0x1003, 2),
        first.clone(),
        repeat_of(&first, 0x1002, 1),
        record(0x2001),
    ];
    let (_dir, store) = holding(&runs);
    for name in [first.id.as_str(), "019b8d5e-0001", &runs[0].id] {
        let repeats: Vec<u32> = store
            .series(name)
            .unwrap()
            .iter()
            .map(|r| r.repeat)
            .collect();
        assert_eq!(repeats, [0, 1, 2], "{name}");
    }
    assert!(matches!(
        store.series("019b"),
        Err(FindError::Ambiguous { count: 2, .. })
    ));
    assert!(matches!(
        store.series("fff"),
        Err(FindError::NotFound { .. })
    ));
}

#[test]
fn derived_tables_can_be_built_anew() {
    let (_dir, mut store) = holding(&[record(1), record(2)]);
    let (runs, phases) = (
        store.runs(&Filter::default()).unwrap(),
        store.phases(&Filter::default()).unwrap(),
    );
    let raw = rusqlite::Connection::open(store.path()).unwrap();
    raw.execute_batch("DELETE FROM phase; DELETE FROM run; ")
        .unwrap();
    assert_eq!(store.count().unwrap(), 0);
    assert_eq!(store.rebuild().unwrap(), 2);
    assert_eq!(store.runs(&Filter::default()).unwrap(), runs);
    assert_eq!(store.phases(&Filter::default()).unwrap(), phases);
}

/// A campaign run on a card with a label.
fn point_of(n: u64, repeat: u32, campaign: &str) -> RunRecord {
    let mut record = record(n);
    record.target.label = Some("the old one".into());
    record.campaign = Some(CampaignPoint {
        campaign: campaign.into(),
        card: "0x4a5b6c7d".into(),
        layer: "vfat".into(),
        workload: "rand-write".into(),
        repeat,
        definition: "0123456789abcdef".into(),
        prepared: vec![PreparedStep {
            step: StepKind::Formatted {
                command: vec!["mkfs.vfat".into()],
            },
            elapsed: Nanos(0),
            speed: Vec::new(),
            written: Bytes(0),
        }],
        laid_out: Bytes(0),
        assignment: None,
    });
    record
}

#[test]
fn points_of_a_campaign_are_listed_and_survive_a_rebuild() {
    let runs = [
        point_of(1, 0, "six cards"),
        point_of(2, 1, "six cards"),
        point_of(3, 0, "another"),
        record(4),
    ];
    let (_dir, mut store) = holding(&runs);
    let points = store.points("six cards").unwrap();
    let seen: Vec<(&str, u32)> = points.iter().map(|p| (p.run.as_str(), p.repeat)).collect();
    assert_eq!(seen, [(runs[0].id.as_str(), 0), (runs[1].id.as_str(), 1)]);
    insta::assert_debug_snapshot!(points[0]);
    assert_eq!(
        store.campaigns().unwrap(),
        [("another".to_owned(), 1), ("six cards".to_owned(), 2)]
    );
    assert_eq!(store.rebuild().unwrap(), 4);
    assert_eq!(store.points("six cards").unwrap(), points);
    assert_eq!(store.run(&runs[0].id).unwrap(), runs[0]);
    assert_eq!(store.points("none").unwrap(), []);
}

#[test]
fn counts_past_all_bounds_are_kept_in_the_record_and_clamped_in_lists() {
    let mut huge = record(1);
    huge.phases[0].workers[0].ops.write.bytes = u64::MAX;
    let twin = huge.phases[0].workers[0].clone();
    huge.phases[0].workers.push(twin);
    let (_dir, store) = holding(std::slice::from_ref(&huge));
    assert_eq!(store.run(&huge.id).unwrap(), huge);
    assert_eq!(
        store.runs(&Filter::default()).unwrap()[0].bytes,
        i64::MAX as u64
    );
}

#[test]
fn lists_read_no_record_and_need_no_sorting() {
    let (_dir, store) = holding(&[record(1)]);
    let raw = rusqlite::Connection::open(store.path()).unwrap();
    let plan = |sql: &str| -> String {
        let mut statement = raw.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let rows = statement
            .query_map([], |row| row.get::<_, String>(3))
            .unwrap();
        rows.collect::<Result<Vec<_>, _>>().unwrap().join("; ")
    };
    let newest = plan(
        "SELECT id, target FROM run WHERE TRUE ORDER BY started_unix_ms DESC, id DESC LIMIT 20",
    );
    assert!(
        newest.contains("run_by_start") && !newest.contains("TEMP B-TREE"),
        "{newest}"
    );
    let series =
        plan("SELECT body FROM run JOIN record USING (id) WHERE series = 'x' ORDER BY repeat");
    assert!(series.contains("run_by_series"), "{series}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_record_survives_the_store(
        name in any::<String>(), seed: u64, started: i64, theta in any::<f64>().prop_filter("finite", |f| f.is_finite()),
        share in 0.0f64..=1.0, sum: u128, label in prop::option::of(any::<String>()), latency: u64,
    ) {
        let mut r = record(1);
        r.scenario.name = name;
        r.scenario.seed = seed;
        r.started_unix_ms = started;
        r.target.label = label;
        let job = &mut r.scenario.phases[0].jobs[0];
        job.access.distribution = hakaru_model::job::Distribution::Zipf(theta);
        job.measure.percentiles = vec![hakaru_model::units::Quantile::new(share).unwrap()];
        r.phases[0].workers[0].sync.record(hakaru_model::units::Nanos(latency));
        r.phases[0].workers[0].sync.stat.sum = sum;
        prop_assert_eq!(&import(&export(&r).unwrap()).unwrap(), &r);
        let (_dir, store) = holding(std::slice::from_ref(&r));
        prop_assert_eq!(store.run(&r.id).unwrap(), r);
    }

    #[test]
    fn any_text_is_a_record_or_an_error(text in any::<String>()) {
        let _ = import(&text);
        let _ = import(&format!("{{\"format\":1,\"id\":{text:?}}}"));
    }
}

/// Modifies the database file directly.
fn tamper(path: &std::path::Path, sql: &str) {
    let sql = format!("DROP TRIGGER IF EXISTS record_is_never_updated; {sql}");
    rusqlite::Connection::open(path)
        .unwrap()
        .execute_batch(&sql)
        .unwrap();
}

#[test]
fn a_damaged_record_hides_no_other_and_keeps_no_database_closed() {
    for damage in [
        "'{\"format\":1}'",
        "'no json'",
        "CAST(x'ff7bfe' AS TEXT)",
        "''",
    ] {
        let series = [1, 2, 3].map(|n| RunRecord {
            series: id(1),
            ..record(n)
        });
        let (dir, store) = holding(&series);
        drop(store);
        let path = dir.path().join("hakaru.db");
        let replace = |body: &str| {
            let id = id(2);
            tamper(
                &path,
                &format!("UPDATE record SET body = {body}, packed = NULL WHERE id = '{id}'"),
            );
        };
        replace(damage);
        let mut store = Store::open(&path).unwrap();
        let error = store.run(&id(2)).unwrap_err();
        assert!(error.is_unreadable(), "{damage}: {error}");
        let found = store.readable_series(&id(1)).unwrap();
        assert_eq!(
            (found.records.len(), found.unreadable.len()),
            (2, 1),
            "{damage}"
        );
        assert_eq!(found.unreadable[0].0, id(2));
        assert!(store.unlisted().unwrap().is_empty());
        // Rebuilding the derived tables, as a newer schema does, skips it and keeps it.
        assert_eq!(store.rebuild().unwrap(), 2);
        assert_eq!(store.unlisted().unwrap(), [id(2)]);
        drop(store);
        let whole = export(&record(2)).unwrap().replace('\'', "''");
        replace(&format!("'{whole}'"));
        assert_eq!(Store::open(&path).unwrap().rebuild().unwrap(), 3);
    }
}
