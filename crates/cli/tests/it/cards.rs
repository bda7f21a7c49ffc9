//! Rate cards to post, and comparisons of several sets.

use crate::support::{Home, hakaru, text};

const MODEL: &str = r#"{"name": "test card", "capacity": 1073741824, "block_size": 512, "read_rate": 40000000, "write_rate": 20000000}"#;

/// Runs a command; returns its exit code, standard output and standard error.
fn run(home: &Home, line: &str) -> (Option<i32>, String, String) {
    let mut command = hakaru(home);
    command.current_dir(home.work());
    let out = command.args(line.split_whitespace()).output().unwrap();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

fn succeeds(home: &Home, line: &str) -> String {
    let (code, stdout, stderr) = run(home, line);
    assert_eq!(code, Some(0), "{line}: {stderr}");
    stdout
}

fn home() -> Home {
    let home = Home::new();
    std::fs::write(home.work().join("card.json"), MODEL).unwrap();
    home
}

const BENCH: &str = "bench --simulate=card.json --quick --repeat=2 --quiet";

#[test]
fn a_card_has_five_rows_with_the_facts_of_the_measurement() {
    let home = home();
    let shown = succeeds(&home, &format!("{BENCH} --label=mine --card=text"));
    let rows = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.starts_with("  "));
        rows.map(|row| row.trim_start().split("  ").next().unwrap().to_owned())
            .collect()
    };
    let kinds = [
        "Sequential",
        "Random",
        "Mixed",
        "Sequential",
        "Random",
        "Mixed",
        "Durable",
        "Sustained",
    ];
    let found = rows(&shown);
    assert_eq!(found.len(), kinds.len(), "{shown}");
    for wanted in [
        "mine\n",
        "[Read, MB/s]",
        "[Write, MB/s]",
        "IOPS",
        "bench --quick",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    let reported = succeeds(&home, "report mine --card=text");
    assert!(shown.starts_with(&reported), "{reported}");
    let markdown = succeeds(&home, "report mine --card=md");
    let table = markdown.lines().filter(|line| line.starts_with("| "));
    assert_eq!(table.count(), 7, "{markdown}");
    assert!(markdown.starts_with("**mine**"), "{markdown}");
    succeeds(&home, "report mine --card=text --output=card.txt");
    let written = std::fs::read_to_string(home.work().join("card.txt")).unwrap();
    assert_eq!(written, reported);
}

#[test]
fn a_card_of_a_directory_has_the_size_of_its_disk() {
    let home = home();
    let line =
        "bench . --quick --repeat=1 --only=seq-read --size=16MiB --quiet --label=mine --card=text";
    let shown = succeeds(&home, line);
    let title = shown.lines().nth(1).unwrap();
    assert!(
        title.starts_with("mine, ") && title.contains("iB"),
        "{shown}"
    );
}

#[test]
fn a_deep_card_has_five_rows_too() {
    let home = home();
    let only = "--only=seq-read,rand-read,mix-4k-q1-j1,read-4k-q32-j4,write-4k-q32-j4,read-1m-q1-j1,read-64k-q1-j1,durable";
    let shown = succeeds(&home, &format!("{BENCH} --deep {only} --card=md"));
    let table = shown.lines().filter(|line| line.starts_with("| "));
    assert_eq!(table.count(), 7, "{shown}");
}

/// Regression: four workers with queues of 32 I/Os of 1 MiB, which end their ramps one after another, read 67 MB/s from a
/// card that reads 44 MB/s.
#[test]
fn deep_queues_are_not_faster_than_the_card() {
    let home = home();
    let line = format!("{BENCH} --deep --only=read-1m-q32-j4,write-1m-q32-j4 --json");
    let result: serde_json::Value = serde_json::from_str(&succeeds(&home, &line)).unwrap();
    let rows = result["rows"].as_array().unwrap().iter();
    let rates: Vec<(&str, f64)> = rows
        .filter(|row| row["figure"] == "bandwidth")
        .map(|row| (row["op"].as_str().unwrap(), row["mean"].as_f64().unwrap()))
        .collect();
    assert_eq!(rates.len(), 2, "{rates:?}");
    for (op, rate) in rates {
        let most = if op == "read" { 40.0 } else { 20.0 };
        assert!(
            (0.95 * most..=1.005 * most).contains(&rate),
            "{op}: {rate} MB/s"
        );
    }
}

#[test]
fn a_card_is_drawn_as_a_picture_if_there_is_a_font() {
    let home = home();
    succeeds(&home, &format!("{BENCH} --label=mine"));
    let (code, _, stderr) = run(&home, "report mine --card=png -o card.png");
    if stderr.contains("no font found") {
        eprintln!("SKIPPED a_card_is_drawn_as_a_picture: no font");
        return;
    }
    assert_eq!(code, Some(0), "{stderr}");
    let picture = std::fs::read(home.work().join("card.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
    let shown = succeeds(&home, "report mine --card=png");
    assert!(shown.trim_end().ends_with(".png"), "{shown}");
    let (code, _, stderr) = run(&home, "report mine --card=png -o -");
    assert_eq!(code, Some(2), "{stderr}");
}

/// Regression: three sets were called cards, and an empty ID followed "stored as".
#[test]
fn several_sets_are_called_sets() {
    let home = home();
    for label in ["a", "b", "c"] {
        let only = "--only=seq-read,rand-read";
        succeeds(&home, &format!("{BENCH} {only} --label={label}"));
    }
    let shown = succeeds(&home, "compare a b c");
    assert!(
        shown.contains("3 sets") && !shown.contains("stored as"),
        "{shown}"
    );
    assert!(!shown.contains(" cards"), "{shown}");
    let page = succeeds(&home, "compare a b c -o x.md");
    assert!(page.contains("3 sets"), "{page}");
    let page = std::fs::read_to_string(home.work().join("x.md")).unwrap();
    assert!(page.contains("How the sets differ"), "{page}");
}
