//! Selection of runs by SQL, compared with the properties of the records.

use crate::support::{BEGUN, holding, record, repeat_of};
use hakaru_model::annotation::{Annotation, AnnotationKind};
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::record::{Outcome, RunRecord};
use hakaru_store::{Filter, RunTerm, Store};

fn records() -> Vec<RunRecord> {
    let mut of_point = record(2);
    of_point.campaign = Some(CampaignPoint {
        campaign: "c".into(),
        card: "0x12345678".into(),
        layer: "vfat".into(),
        workload: "small".into(),
        ..CampaignPoint::default()
    });
    let mut elsewhere = record(3);
    elsewhere.environment.hostname = "pi5".into();
    elsewhere.target.label = None;
    let mut interrupted = record(4);
    interrupted.outcome = Outcome::Interrupted;
    vec![record(1), of_point, elsewhere, interrupted]
}

#[test]
fn each_kind_of_term_selects_by_sql() {
    let all = records();
    let (_dir, store) = holding(&all);
    let label = "SanDisk \"Max\" Endurance";
    let of_label = |name: &str| RunTerm::Label {
        name: name.to_owned(),
        series: Vec::new(),
    };
    let of_card = |name: &str, series: &[&RunRecord]| RunTerm::Card {
        name: name.to_owned(),
        series: series.iter().map(|of| of.series.clone()).collect(),
    };
    let between = |from: Option<i64>, until: Option<i64>| RunTerm::Started {
        from: from.map(|n| BEGUN + n * 60_000),
        until: until.map(|n| BEGUN + n * 60_000),
    };
    let text = |of: fn(String) -> RunTerm, name: &str| of(name.to_owned());
    for (term, wanted) in [
        (text(RunTerm::Series, &all[0].series), vec![1]),
        (of_label(&label.to_ascii_uppercase()), vec![1, 2]),
        (of_label("/mnt/card/測る.tmp"), vec![]),
        (of_card("/mnt/card/測る.tmp", &[]), vec![3]),
        (of_card("0X12345678", &[]), vec![2]),
        (of_card("no name", &[&all[2]]), vec![3]),
        (of_card("", &[]), vec![]),
        (text(RunTerm::Layer, "EXT4"), vec![1, 2, 3]),
        (text(RunTerm::Layer, "vfat"), vec![2]),
        (text(RunTerm::Host, "PI5"), vec![3]),
        (between(Some(2), Some(3)), vec![2]),
        (between(None, None), vec![1, 2, 3]),
        (text(RunTerm::Campaign, "C"), vec![2]),
        (text(RunTerm::Workload, "rand-write"), vec![1, 2, 3]),
        (text(RunTerm::Workload, "small"), vec![2]),
        (text(RunTerm::Workload, "Standard"), vec![1, 2, 3]),
    ] {
        let ids: Vec<String> = wanted.iter().map(|n| record(*n).id).collect();
        let groups = [vec![term.clone()]];
        assert_eq!(store.runs_with(&groups).unwrap(), ids, "{term:?}");
        assert_eq!(
            store.has_runs_with(&groups).unwrap(),
            !ids.is_empty(),
            "{term:?}"
        );
    }
}

#[test]
fn groups_narrow_and_terms_of_a_group_widen() {
    let (_dir, store) = holding(&records());
    let host = |name: &str| RunTerm::Host(name.to_owned());
    let layer = vec![RunTerm::Layer("vfat".to_owned())];
    let both = [vec![host("pi4"), host("pi5")], layer];
    assert_eq!(store.runs_with(&both).unwrap(), [record(2).id]);
    assert_eq!(store.runs_with(&[]).unwrap().len(), 3);
    assert_eq!(store.values_of(&host(""), &both[1..], 9).unwrap(), ["pi4"]);
    assert_eq!(store.values_of(&host(""), &[], 1).unwrap(), ["pi4"]);
    let day = RunTerm::Started {
        from: None,
        until: None,
    };
    assert_eq!(store.values_of(&day, &[], 9).unwrap(), ["2026-01-05"]);
}

#[test]
fn all_runs_are_listed_page_by_page() {
    let all = records();
    let (_dir, store) = holding(&all);
    let mut found = Vec::new();
    let mut last = None;
    loop {
        let page = store.runs_after(last.as_ref(), 3).unwrap();
        let Some(end) = page.last().cloned() else {
            break;
        };
        last = Some(end);
        found.extend(page.into_iter().map(|(_, id)| id));
    }
    let ids: Vec<String> = all.into_iter().map(|record| record.id).collect();
    assert_eq!(found, ids);
}

/// Series by their last stored run, whatever was renamed, moved or computed again.
#[test]
fn series_are_listed_page_by_page() {
    let first = record(1);
    let mut other = record(3);
    other.target.label = Some("Other card".into());
    let all = [
        first.clone(),
        record(2),
        other.clone(),
        repeat_of(&first, 9, 1),
    ];
    let (dir, mut store) = holding(&all);
    let page = |store: &Store, target: Option<&str>, skip: u32, limit: u32| {
        let filter = Filter {
            target: target.map(str::to_owned),
            limit: Some(limit),
            skip,
            ..Filter::default()
        };
        store.newest_series(&filter).unwrap()
    };
    let series = |of: &[u64]| -> Vec<String> { of.iter().map(|n| record(*n).series).collect() };
    assert_eq!(page(&store, None, 0, 9), series(&[1, 3, 2]));
    assert_eq!(page(&store, None, 1, 1), series(&[3]));
    assert_eq!(page(&store, Some("OTHER"), 0, 9), series(&[3]));
    assert_eq!(page(&store, Some("sandisk"), 1, 9), series(&[2]));
    assert!(page(&store, Some("nothing"), 0, 9).is_empty());
    // A filter of other properties has the same order and pages.
    let of_scenario = Filter {
        scenario: Some(first.scenario.name.clone()),
        limit: Some(1),
        skip: 1,
        ..Filter::default()
    };
    assert_eq!(store.newest_series(&of_scenario).unwrap(), series(&[3]));
    assert_eq!(store.count_series(&of_scenario).unwrap(), 3);
    assert_eq!(store.count_series(&Filter::default()).unwrap(), 3);
    let runs = store.runs(&Filter {
        limit: Some(1),
        skip: 1,
        ..Filter::default()
    });
    assert_eq!(runs.unwrap()[0].id, record(3).id);

    let label = |store: &mut Store, value: &str| {
        let label = Annotation {
            subject: record(2).series,
            kind: AnnotationKind::Label,
            value: value.to_owned(),
            at_unix_ms: BEGUN,
        };
        store.annotate(&[label]).unwrap();
    };
    label(&mut store, "renamed");
    assert_eq!(page(&store, Some("rename"), 0, 9), series(&[2]));
    assert_eq!(store.series_called("RENAMED").unwrap(), series(&[2]));
    store.rebuild().unwrap();
    assert_eq!(page(&store, Some("rename"), 0, 9), series(&[2]));
    assert_eq!(page(&store, None, 0, 9), series(&[1, 3, 2]));
    label(&mut store, "");
    assert!(page(&store, Some("rename"), 0, 9).is_empty());
    assert_eq!(page(&store, Some("sandisk"), 0, 9), series(&[1, 2]));
    let mut archive = Store::open(dir.path().join("archive.db")).unwrap();
    store.move_series(&record(1).series, &mut archive).unwrap();
    assert_eq!(page(&store, None, 0, 9), series(&[3, 2]));
    assert_eq!(page(&archive, None, 0, 9), series(&[1]));
}
