//! Tests that anatomies are listed, exported, imported, synchronized, relabeled, and part of the history of a card.

use crate::support::{Home, execute, text};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::units::Bytes;
use serde_json::{Value, json};

/// Stores a read-only anatomy of a simulated card, and returns its ID.
pub(crate) fn examined(home: &Home, name: &str) -> String {
    let model = DeviceModel::plain(name, Bytes(8 << 30));
    let path = home.work().join(format!("{name}.json"));
    std::fs::write(&path, serde_json::to_string(&model).unwrap()).unwrap();
    let line = format!("anatomy --simulate {name}.json --read-only --seed 7 --json --quiet");
    let out = execute(home, &line);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let record: Value = serde_json::from_slice(&out.stdout).unwrap();
    record["id"].as_str().unwrap().to_owned()
}

fn said(home: &Home, line: &str) -> String {
    let out = execute(home, line);
    assert_eq!(out.status.code(), Some(0), "{line}: {}", text(&out.stderr));
    text(&out.stdout)
}

fn json_of(home: &Home, line: &str) -> Value {
    serde_json::from_str(&said(home, line)).unwrap()
}

#[test]
fn an_anatomy_is_listed_and_found_by_label_and_id() {
    let home = Home::new();
    let id = examined(&home, "kitchen");
    let listed = said(&home, "list");
    assert!(
        listed.contains("ANATOMY") && listed.contains("kitchen"),
        "{listed}"
    );
    assert!(listed.contains(&id[..8]), "{listed}");
    assert!(said(&home, "--lang ja list").contains("構造調査"));
    let list = json_of(&home, "list --json");
    assert_eq!(list["anatomies"][0]["id"], json!(id));
    assert_eq!(list["anatomies"][0]["read_only"], json!(true));
    assert_eq!(said(&home, "list --target nothing").lines().count(), 1);
    for name in ["kitchen", "latest", &id, &id[..20]] {
        assert!(said(&home, &format!("show {name}")).contains("kitchen"));
        let page = said(&home, &format!("report {name} --output -"));
        assert!(page.contains("<svg"), "{name}");
    }
}

#[test]
fn a_label_of_an_anatomy_is_changed_and_removed() {
    let home = Home::new();
    let id = examined(&home, "kitchen");
    said(&home, "relabel kitchen --label shelf --note spare");
    assert!(said(&home, "list").contains("shelf"));
    let shown = said(&home, "show shelf");
    assert!(
        shown.contains("shelf") && shown.contains("spare"),
        "{shown}"
    );
    let names = json_of(&home, &format!("relabel {id} --json"));
    assert_eq!(names["results"][0]["label"], json!("shelf"));
    assert_eq!(names["results"][0]["history"].as_array().unwrap().len(), 2);
    // The record stays as it was measured.
    let raw = json_of(&home, "show shelf --json");
    assert_eq!(raw["annotations"]["label"], json!("shelf"));
    assert_eq!(raw["target"]["label"], json!("kitchen"));
    said(&home, "relabel shelf --label=");
    assert!(said(&home, "show kitchen").contains("kitchen"));
}

#[test]
fn an_exported_anatomy_is_imported_once() {
    let home = Home::new();
    let id = examined(&home, "kitchen");
    said(&home, "relabel kitchen --label shelf");
    said(&home, "export --output all.jsonl");
    assert_eq!(said(&home, "export shelf"), said(&home, "export"));
    std::fs::write(
        home.work().join("shown.json"),
        said(&home, "show shelf --json"),
    )
    .unwrap();
    let database = home.path().join("hakaru.db").display().to_string();
    for (file, kind) in [
        ("all.jsonl", "lines"),
        ("shown.json", "shown"),
        (&*database, "database"),
    ] {
        let db = format!("--db {kind}.db");
        let found = said(&home, &format!("{db} import {file}"));
        assert!(found.contains("1 anatomy imported"), "{kind}: {found}");
        let again = json_of(&home, &format!("{db} import {file} --json"));
        assert_eq!(
            (&again["found"], &again["new_anatomies"]),
            (&json!(1), &json!([])),
            "{kind}"
        );
        let shown = said(&home, &format!("{db} show shelf"));
        assert!(shown.contains("shelf"), "{kind}: {shown}");
        let list = json_of(&home, &format!("{db} list --json"));
        assert_eq!(list["anatomies"][0]["id"], json!(id), "{kind}");
    }
    let same = |db: &str| said(&home, &format!("--db {db}.db export"));
    assert_eq!(same("lines"), said(&home, "export"));
    assert_eq!(same("database"), said(&home, "export"));
    let japanese = said(&home, "--lang ja --db ja.db import all.jsonl");
    assert!(japanese.contains("構造調査1件"), "{japanese}");
}

#[test]
fn hostile_anatomies_are_refused_with_the_reason() {
    let home = Home::new();
    examined(&home, "kitchen");
    let line = said(&home, "export");
    let altered = |change: &dyn Fn(&mut Value)| {
        let mut record: Value = serde_json::from_str(&line).unwrap();
        change(&mut record);
        record.to_string()
    };
    let huge = json!({"known": {"value": 1e300, "low": 1e300, "high": 1e300}});
    let deep = json!({"known": {"value": 4096.0, "low": 4096.0, "high": 1e30}});
    for (name, hostile, reason) in [
        ("format", altered(&|r| r["format"] = json!(99)), "format 99"),
        (
            "capacity",
            altered(&|r| r["anatomy"]["capacity"] = json!(0)),
            "capacity",
        ),
        (
            "huge",
            altered(&|r| r["anatomy"]["findings"]["unit"] = huge.clone()),
            "Unit",
        ),
        (
            "deep",
            altered(&|r| r["anatomy"]["findings"]["page"] = deep.clone()),
            "Page",
        ),
        (
            "spent",
            altered(&|r| r["anatomy"]["experiments"][0]["spent"]["time"] = json!(u64::MAX)),
            "spent",
        ),
        ("array", altered(&|r| r["anatomy"] = json!([])), "damaged"),
        ("cut", line[..line.len() / 2].to_owned(), "not read"),
    ] {
        let file = format!("{name}.jsonl");
        std::fs::write(home.work().join(&file), hostile).unwrap();
        let out = execute(&home, &format!("--db {name}.db import {file}"));
        let said = text(&out.stdout) + &text(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{name}: {said}");
        assert!(
            said.contains(reason) && said.contains(&file),
            "{name}: {said}"
        );
    }
    // Another anatomy with the same ID changes nothing.
    let other = altered(&|r| r["seed"] = json!(8));
    std::fs::write(home.work().join("other.jsonl"), other).unwrap();
    let out = execute(&home, "import other.jsonl");
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("different result with this ID"));
    assert_eq!(said(&home, "export"), line);
    // Escape sequences of a name never reach the terminal.
    let evil = altered(&|r| r["target"]["label"] = json!("\u{1b}]0;x\u{7}"));
    std::fs::write(home.work().join("evil.jsonl"), evil).unwrap();
    said(&home, "--db evil.db import evil.jsonl");
    for line in [
        "list",
        "show latest",
        "report latest --format terminal",
        "report latest --output -",
    ] {
        assert!(!said(&home, &format!("--db evil.db {line}")).contains('\u{1b}'));
    }
}

#[test]
fn a_later_state_of_an_unfinished_anatomy_replaces_it() {
    let home = Home::new();
    examined(&home, "kitchen");
    let line = said(&home, "export");
    let mut early: Value = serde_json::from_str(&line).unwrap();
    early["completed"] = json!(false);
    early["anatomy"]["experiments"]
        .as_array_mut()
        .unwrap()
        .pop();
    std::fs::write(home.work().join("early.jsonl"), early.to_string()).unwrap();
    std::fs::write(home.work().join("late.jsonl"), &line).unwrap();
    said(&home, "--db other.db import early.jsonl");
    assert!(said(&home, "--db other.db list").contains("ended early"));
    said(&home, "--db other.db import late.jsonl");
    let again = said(&home, "--db other.db import early.jsonl");
    assert!(again.contains("1 was stored already"), "{again}");
    assert_eq!(said(&home, "--db other.db export"), line);
}

#[test]
fn databases_exchange_anatomies() {
    let home = Home::new();
    examined(&home, "kitchen");
    let done = said(&home, "sync stick.db");
    assert!(done.contains("1 anatomy"), "{done}");
    assert_eq!(said(&home, "--db stick.db export"), said(&home, "export"));
    let again = json_of(&home, "sync stick.db --json");
    assert_eq!(again["pulled"]["anatomies"], json!(0));
    assert_eq!(again["pushed"]["anatomies"], json!(0));
}

#[test]
fn the_history_of_a_card_lists_its_anatomies() {
    let home = Home::new();
    let id = examined(&home, "kitchen");
    examined(&home, "other");
    let history = said(&home, "history kitchen");
    assert!(
        history.contains("Anatomies") && history.contains(&id[..8]),
        "{history}"
    );
    assert!(said(&home, "--lang ja history kitchen").contains("構造調査"));
    let json = json_of(&home, "history kitchen --json");
    assert_eq!(json["anatomies"].as_array().unwrap().len(), 1);
    assert_eq!(json["anatomies"][0]["id"], json!(id));
    assert!(
        json["anatomies"][0]["read_rate"].as_f64().unwrap() > 0.0,
        "{json:#}"
    );
}
