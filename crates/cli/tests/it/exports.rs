//! Tests that every form in which records leave a database is accepted by `hakaru import`: as what is stored already by
//! the same database, and by another one so that it exports the same bytes.

use crate::support::{Home, hakaru, text};
use hakaru_store::{RecordText, Store};
use proptest::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Runs hakaru and returns its output; anything on standard error fails the test.
#[track_caller]
fn said(home: &Home, args: &[&str]) -> String {
    let out = hakaru(home).args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    assert_eq!(text(&out.stderr), "", "{args:?}");
    text(&out.stdout)
}

fn in_workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path)
}

/// A new value for a member, whatever its type is.
#[derive(Clone, Debug)]
struct Change {
    place: prop::sample::Index,
    number: u64,
    real: f64,
    text: String,
    flag: bool,
}

prop_compose! {
    fn change()(
        place: prop::sample::Index, number: u64, shift in 0u32..64, real in -1e18f64..1e18, text: String, flag: bool,
    ) -> Change {
        Change { place, number: number >> shift, real, text, flag }
    }
}

/// Collects the members of a record that are no lists or objects. IDs and the format are given by the test.
fn members(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                members(
                    value,
                    &format!("{place}/{}", name.replace('/', "~1")),
                    found,
                );
            }
        }
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                members(value, &format!("{place}/{at}"), found);
            }
        }
        Value::Null => {}
        _ if ["/format", "/id", "/series"].contains(&place) => {}
        _ => found.push(place.to_owned()),
    }
}

/// Applies the changes that leave a record.
fn changed(base: &str, id: &str, series: &str, changes: &[Change]) -> RecordText {
    let mut value: Value = serde_json::from_str(base).unwrap();
    value.as_object_mut().unwrap().remove("annotations");
    value["id"] = id.into();
    value["series"] = series.into();
    let mut places = Vec::new();
    members(&value, "", &mut places);
    for change in changes {
        let place = change.place.get(&places);
        let before = value.pointer_mut(place).unwrap();
        let new: Value = match before {
            Value::Bool(_) => change.flag.into(),
            Value::String(_) => change.text.clone().into(),
            Value::Number(number) if number.is_f64() => change.real.into(),
            _ => change.number.into(),
        };
        let before = std::mem::replace(before, new);
        // What is stored is what this version writes, so the text is that of the record.
        if RecordText::read(value.to_string()).is_err() {
            *value.pointer_mut(place).unwrap() = before;
        }
    }
    let read = RecordText::read(value.to_string()).unwrap();
    RecordText::read(hakaru_store::export(read.record()).unwrap()).unwrap()
}

/// Records of hakaru, and of other programs.
fn bases() -> Vec<String> {
    let own =
        std::fs::read_to_string(in_workspace("testdata/store/record-format-1.jsonl")).unwrap();
    let home = Home::new();
    let logs = in_workspace("crates/dialects/tests/logs")
        .display()
        .to_string();
    said(&home, &["import", &logs]);
    let all = own + &said(&home, &["export"]);
    all.lines().map(str::to_owned).collect()
}

/// Checks that a file is known to the database it is from, and is the same in another one.
fn is_accepted(home: &Home, file: &str, runs: usize) {
    let known = said(home, &["import", file]);
    let end = format!("0 runs imported, {runs} were stored already.\n");
    let end = end.replace("1 were", "1 was").replace("11 was", "11 were");
    assert!(known.ends_with(&end), "{file}: {known}");
    let other = Home::new();
    let printed = said(&other, &["import", file]);
    assert!(!printed.contains("not read"), "{file}: {printed}");
    let store = Store::read(home.path().join("hakaru.db")).unwrap();
    let copy = Store::read(other.path().join("hakaru.db")).unwrap();
    let ids = copy.runs_after(None, 1000).unwrap();
    assert_eq!(ids.len(), runs, "{file}");
    for (_, id) in ids {
        let (ours, theirs) = (store.raw_run(&id).unwrap(), copy.raw_run(&id).unwrap());
        assert_eq!(ours, theirs, "{file}");
        let of = |store: &Store| store.annotations(&ours.series).unwrap();
        assert_eq!(of(&store), of(&copy), "{file}");
    }
}

#[test]
fn own_exports_are_always_accepted() {
    let bases = bases();
    let changes = prop::collection::vec(change(), 0..40);
    let records = prop::collection::vec((any::<prop::sample::Index>(), changes), 1..12);
    let label = "[a-zA-Z0-9 ._é測-]{1,30}";
    let config = ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(records in records, label in label, note: String)| {
        let home = Home::new();
        let path = |name: &str| home.path().join(name).display().to_string();
        let mut store = Store::open(home.path().join("hakaru.db")).unwrap();
        let id = |run: usize| format!("019b8d5e-0000-7{run:03x}-8000-00000000000a");
        for (run, (base, changes)) in records.iter().enumerate() {
            let record = changed(&bases[base.index(bases.len())], &id(run), &id(run - run % 3), changes);
            store.append_texts([&record]).unwrap();
        }
        drop(store);
        let runs = records.len();
        let _ = hakaru(&home).args(["relabel", &id(0), "--label", label.trim(), "--note", &note]).output();

        let all = path("all.jsonl");
        said(&home, &["export", "-o", &all]);
        is_accepted(&home, &all, runs);
        // Another database exports the same bytes.
        let other = Home::new();
        said(&other, &["import", &all]);
        prop_assert_eq!(said(&other, &["export"]), std::fs::read_to_string(&all).unwrap());

        let one = path("one.json");
        std::fs::write(&one, said(&home, &["show", &id(runs - 1), "--json"])).unwrap();
        is_accepted(&home, &one, 1);
        let series = path("series.json");
        std::fs::write(&series, said(&home, &["show", &id(0), "--json", "--series"])).unwrap();
        is_accepted(&home, &series, runs.min(3));
        is_accepted(&home, &path("hakaru.db"), runs);

        let archive = path("archive.db");
        said(&home, &["archive", &archive, "--keep", "0"]);
        let back = said(&home, &["import", &archive]);
        prop_assert!(back.contains("imported.\n"), "{}", back);
        is_accepted(&home, &archive, runs);
        prop_assert_eq!(said(&home, &["export"]), std::fs::read_to_string(&all).unwrap());
    });
}
