//! Tests `hakaru sync`: two databases that exchange their results become equal.

use crate::support::{Home, hakaru, text};
use std::path::Path;

/// Runs hakaru and returns exit code, output and messages.
fn run(home: &Home, args: &[&str]) -> (Option<i32>, String, String) {
    let out = hakaru(home).args(args).output().unwrap();
    let (stdout, stderr) = (text(&out.stdout), text(&out.stderr));
    (out.status.code(), stdout, stderr)
}

#[track_caller]
fn said(home: &Home, args: &[&str]) -> String {
    let (code, stdout, stderr) = run(home, args);
    assert_eq!((code, &*stderr), (Some(0), ""), "{args:?}");
    stdout
}

/// A fio result of a card, as `fio --output-format=json` prints it.
fn measured(home: &Home, name: &str) {
    let card = r#"{"name": "card", "capacity": 68719476736, "block_size": 512, "read_rate": 90000000, "write_rate": 30000000}"#;
    let file = home.work().join("card.json");
    std::fs::write(&file, card).unwrap();
    let file = file.display().to_string();
    let label = format!("--label={name}");
    let words = ["bench", "--quick", "--simulate", &file, &label, "--quiet"];
    let (code, _, stderr) = run(home, &words);
    assert_eq!(code, Some(0), "{stderr}");
}

/// Exported records in one order, because a list shows what was stored last first.
fn exported(home: &Home) -> Vec<String> {
    let mut lines: Vec<String> = said(home, &["export"]).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn other(home: &Home) -> String {
    home.path().join("hakaru.db").display().to_string()
}

#[test]
fn two_hosts_have_the_same_results_afterwards() {
    let (a, b) = (Home::new(), Home::new());
    measured(&a, "kingston");
    measured(&b, "sandisk");
    let stick = a.path().join("stick.db").display().to_string();
    // Over a file that both reach, which the first one creates.
    let first = said(&a, &["sync", &stick]);
    assert!(first.starts_with("To "), "{first}");
    let both = said(&b, &["sync", &stick]);
    assert!(both.contains("From ") && both.contains("To "), "{both}");
    said(&a, &["relabel", "kingston", "--label", "Kingston 32 GB"]);
    said(&a, &["sync", &stick]);
    said(&b, &["sync", &stick]);
    assert_eq!(exported(&a), exported(&b));
    assert!(said(&b, &["list"]).contains("Kingston 32 GB"));
    let again = said(&b, &["sync", &stick, "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again["schema"], "hakaru.sync/1");
    for way in ["pulled", "pushed"] {
        assert_eq!(again[way]["runs"], 0, "{again}");
        assert_eq!(again[way]["annotations"], 0, "{again}");
    }
}

#[test]
fn one_way_changes_one_database() {
    let (a, b) = (Home::new(), Home::new());
    measured(&a, "kingston");
    measured(&b, "sandisk");
    let before = std::fs::read(other(&b)).unwrap();
    said(&a, &["sync", &other(&b), "--pull"]);
    assert!(std::fs::read(other(&b)).unwrap() == before);
    assert!(said(&a, &["list"]).contains("sandisk"));
    said(&a, &["sync", &other(&b), "--push"]);
    assert_eq!(exported(&a), exported(&b));
}

/// Nothing is created for a mistyped name, and no database is copied to itself.
#[test]
fn wrong_names_change_nothing() {
    let home = Home::new();
    let absent = home.path().join("absent.db").display().to_string();
    for way in [&[][..], &["--push"], &["--pull"]] {
        let (code, _, stderr) = run(&home, &[&["sync", &absent][..], way].concat());
        assert_eq!(code, Some(2), "{stderr}");
        assert!(!Path::new(&absent).exists());
    }
    measured(&home, "kingston");
    let (code, _, stderr) = run(&home, &["sync", &absent, "--pull"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(!Path::new(&absent).exists());
    let (code, _, stderr) = run(&home, &["sync", &other(&home)]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("is the database itself"), "{stderr}");
    let (code, _, stderr) = run(&home, &["sync", "/etc/hostname"]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("/etc/hostname"), "{stderr}");
}
