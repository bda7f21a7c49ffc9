//! Labels, notes and positions: given while measuring, importing and later, and accepted in place of IDs.

use crate::support::pty::Terminal;
use crate::support::{Home, execute, hakaru, records, text};
use std::os::unix::process::CommandExt;

const DD: &str = "268435456 bytes (268 MB, 256 MiB) copied, 2.0137 s, 133 MB/s\n";

/// Runs hakaru in the work directory and returns its output.
fn said(home: &Home, args: &[&str]) -> String {
    let out = hakaru(home).current_dir(home.work()).args(args).output();
    let out = out.unwrap();
    assert!(out.status.success(), "{args:?}: {}", text(&out.stderr));
    text(&out.stdout)
}

fn refused(home: &Home, args: &[&str]) -> String {
    let out = hakaru(home).args(args).output().unwrap();
    assert_eq!(
        out.status.code(),
        Some(2),
        "{args:?}: {}",
        text(&out.stderr)
    );
    text(&out.stderr)
}

/// Imports a result of dd under a label; `seconds` distinguishes results.
fn import_dd(home: &Home, label: &str, seconds: &str) {
    let file = home.work().join(format!("{label}-{seconds}.txt"));
    std::fs::write(&file, DD.replace("2.0137", seconds)).unwrap();
    let file = file.display().to_string();
    said(home, &["import", "--label", label, &file]);
}

#[test]
fn a_label_stands_for_its_series_everywhere() {
    let home = Home::new();
    import_dd(&home, "card", "2.0137");
    import_dd(&home, "ssd", "1.0137");
    assert!(said(&home, &["show", "ssd"]).contains("ssd"));
    assert!(said(&home, &["report", "SSD", "--format=markdown"]).contains("ssd"));
    assert!(said(&home, &["compare", "card", "ssd"]).contains("ssd"));
    assert_eq!(said(&home, &["export", "card"]).lines().count(), 1);
    // The label of two series: commands for one series say which there are.
    let out = execute(
        &home,
        "fio --hakaru-label=ssd --name=a --rw=write --size=64k --ioengine=null",
    );
    assert!(out.status.success(), "{}", text(&out.stderr));
    let error = refused(&home, &["show", "ssd"]);
    assert!(error.contains("`ssd` is the label of 2 series"), "{error}");
    let ids: Vec<String> = records(&home)
        .into_iter()
        .map(|record| record.series)
        .collect();
    let named = ids.iter().filter(|id| error.contains(&id[..8]));
    assert_eq!(named.count(), 2, "{error}");
    let out = hakaru(&home)
        .args(["report", "ssd", "-o-", "--format=csv"])
        .output()
        .unwrap();
    assert!(text(&out.stderr).contains("is the label of 2 series"));
    assert!(out.status.success() && text(&out.stdout).contains("ssd"));
}

#[test]
fn positions_count_in_the_order_of_storing() {
    let home = Home::new();
    import_dd(&home, "first", "2.0137");
    import_dd(&home, "second", "1.0137");
    let name = |position: &str| {
        let shown = said(&home, &["show", position, "--json"]);
        let record: serde_json::Value = serde_json::from_str(&shown).unwrap();
        record["target"]["label"].as_str().unwrap().to_owned()
    };
    assert_eq!(name("latest"), "second");
    assert_eq!(name("latest:1"), "second");
    assert_eq!(name("latest:2"), "first");
    assert!(said(&home, &["compare", "latest:2", "latest"]).contains("first"));
    let error = refused(&home, &["show", "latest:3"]);
    assert!(
        error.contains("there is no latest:3: the database has 2 series"),
        "{error}"
    );
    let error = refused(&home, &["show", "latest:0"]);
    assert!(error.contains("help: `latest:1` is the newest"), "{error}");
}

#[test]
fn a_result_is_renamed_without_a_change_of_its_record() {
    let home = Home::new();
    import_dd(&home, "card", "2.0137");
    let before = said(&home, &["export"]);
    let printed = said(
        &home,
        &[
            "relabel",
            "card",
            "--label",
            "SanDisk Max",
            "--note",
            "in a USB reader",
        ],
    );
    assert!(
        printed.contains("SanDisk Max; note: in a USB reader"),
        "{printed}"
    );
    assert!(said(&home, &["list"]).contains("SanDisk Max"));
    assert!(said(&home, &["report", "sandisk max", "--format=markdown"]).contains("SanDisk Max"));
    refused(&home, &["show", "card"]);
    // The history keeps the old name; the record is as it was.
    let history = said(&home, &["relabel", "latest"]);
    assert!(history.contains("label: SanDisk Max"), "{history}");
    let after = said(&home, &["export"]);
    assert!(
        after.starts_with(before.trim_end().trim_end_matches('}')),
        "{after}"
    );
    // An empty label brings back the first one.
    said(&home, &["relabel", "SanDisk Max", "--label", ""]);
    assert!(said(&home, &["show", "card"]).contains("card"));
    // A selection by properties.
    said(&home, &["relabel", "card=card", "--also", "spare"]);
    assert!(said(&home, &["show", "spare"]).contains("card"));
    assert!(said(&home, &["compare", "label=spare", "card"]).contains("card"));
    for wrong in ["latest", "a,b"] {
        refused(&home, &["relabel", "card", "--label", wrong]);
    }
}

#[test]
fn names_are_exported_and_imported() {
    let (home, other) = (Home::new(), Home::new());
    import_dd(&home, "card", "2.0137");
    said(
        &home,
        &["relabel", "card", "--label", "x", "--title", "All cards"],
    );
    said(&home, &["relabel", "x", "--also", "y"]);
    let file = home.work().join("all.jsonl");
    let file = file.to_str().unwrap();
    said(&home, &["export", "-o", file]);
    said(&other, &["import", file]);
    assert!(said(&other, &["relabel", "y"]).contains("x, also y; title: All cards"));
    // Names given there are kept, and the same record is accepted again.
    said(&other, &["relabel", "y", "--label", "z"]);
    let again = said(&other, &["import", file]);
    assert!(
        again.contains("0 runs imported, 1 was stored already"),
        "{again}"
    );
    assert!(said(&other, &["show", "z"]).contains('z'));
    let json = other.work().join("one.json");
    std::fs::write(&json, said(&home, &["show", "x", "--json"])).unwrap();
    let again = said(&other, &["import", json.to_str().unwrap()]);
    assert!(
        again.contains("0 runs imported, 1 was stored already"),
        "{again}"
    );
}

#[test]
fn one_result_under_two_labels_is_stored_once() {
    let home = Home::new();
    let file = home.work().join("card.txt");
    std::fs::write(&file, DD).unwrap();
    let file = file.to_str().unwrap();
    let first = said(&home, &["import", file]);
    assert!(
        first.contains("card: ") && first.contains("Next: `hakaru report "),
        "{first}"
    );
    let second = said(&home, &["import", "--label", "spare", file]);
    assert!(
        second.contains("spare is now a further label of it"),
        "{second}"
    );
    assert!(
        second.ends_with("0 runs imported, 1 was stored already.\n"),
        "{second}"
    );
    assert_eq!(records(&home).len(), 1);
    assert!(said(&home, &["show", "spare"]).contains("card"));
}

/// Regression: results of one label, one of which had another label before, were said to be of two cards.
#[test]
fn a_further_label_is_no_further_card() {
    let home = Home::new();
    for (name, rate) in [("1.txt", "10.0"), ("2.txt", "11.0"), ("3.txt", "20.0")] {
        std::fs::write(home.work().join(name), DD.replace("2.0137", rate)).unwrap();
    }
    let import = |words: &[&str]| said(&home, &[&["import"], words].concat());
    import(&["1.txt"]);
    import(&["--label", "a", "1.txt", "2.txt"]);
    import(&["--label", "b", "3.txt"]);
    let compared = said(&home, &["compare", "a", "b"]);
    assert!(!compared.contains("cards: their"), "{compared}");
}

#[test]
fn our_own_json_is_found_among_the_stored_runs() {
    let home = Home::new();
    for options in ["", "--numjobs=2", "--numjobs=2 --group_reporting"] {
        let line = format!(
            "fio --hakaru-store --output-format=json --name=job --rw=randwrite --size=256k --filename=x {options}"
        );
        let words: Vec<&str> = line.split_whitespace().collect();
        let json = home.work().join("out.json");
        std::fs::write(&json, said(&home, &words)).unwrap();
        let stored = records(&home).len();
        let printed = said(&home, &["import", json.to_str().unwrap()]);
        assert!(printed.contains("is stored as run"), "{options}: {printed}");
        assert!(
            printed.ends_with("0 runs imported, 1 was stored already.\n"),
            "{printed}"
        );
        assert_eq!(records(&home).len(), stored);
    }
}

#[test]
fn bench_keeps_label_title_and_note() {
    let home = Home::new();
    let model = r#"{"name": "card", "capacity": 1073741824, "block_size": 512, "read_rate": 40000000, "write_rate": 20000000}"#;
    std::fs::write(home.work().join("card.json"), model).unwrap();
    let printed = said(
        &home,
        &[
            "bench",
            "--simulate=card.json",
            "--quick",
            "--repeat=2",
            "--only=seq-read",
            "--quiet",
            "--label=ssd",
            "--note=first try",
            "--title=My disk",
        ],
    );
    assert!(printed.contains("ssd"), "{printed}");
    assert!(
        printed.contains("My disk") && printed.contains("first try"),
        "{printed}"
    );
    let page = said(&home, &["report", "ssd", "-o-", "--format=markdown"]);
    assert!(
        page.contains("# My disk") && page.contains("first try"),
        "{page}"
    );
    let record = records(&home).remove(0);
    assert_eq!(record.target.label.as_deref(), Some("ssd"));
    assert!(said(&home, &["relabel", "ssd"]).contains("title: My disk; note: first try"));
    let listed = said(&home, &["list"]);
    let line = listed.lines().find(|line| line.contains("ssd")).unwrap();
    assert!(
        line.contains("Sequential reads 40.0 MB/s") && line.contains(" 2 "),
        "{listed}"
    );
}

#[test]
fn a_link_stores_only_what_it_is_asked_to() {
    let home = Home::new();
    let program = hakaru(&home).get_program().to_owned();
    let link = |arguments: &str| {
        let mut command = hakaru(&home);
        let mut link = std::process::Command::new(&program);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => link.env(name, value),
                None => link.env_remove(name),
            };
        }
        command.current_dir(home.work());
        link.arg0("fio").current_dir(home.work());
        link.args(arguments.split_whitespace()).output().unwrap()
    };
    let job = "--name=a --rw=write --size=64k --filename=x";
    let out = link(job);
    assert!(
        out.status.success() && text(&out.stderr).is_empty(),
        "{}",
        text(&out.stderr)
    );
    assert!(!home.path().join("hakaru.db").exists());
    let out = link(&format!("--hakaru-store {job}"));
    assert!(
        text(&out.stderr).contains("fio: stored as "),
        "{}",
        text(&out.stderr)
    );
    assert_eq!(text(&out.stderr).lines().count(), 1);
    assert_eq!(records(&home).len(), 1);
    assert!(!link(&format!("--hakaru-trace {job}")).status.success());
}

/// On a terminal, `hakaru fio` and `hakaru iozone` are stored without being asked to, and say so in one line.
#[test]
fn what_is_typed_on_a_terminal_is_stored() {
    let lines = [
        "fio --name=a --rw=write --size=64k --filename=x",
        "iozone -s 64k -r 4k -i 0",
    ];
    for line in lines {
        let home = Home::new();
        let mut command = hakaru(&home);
        command
            .current_dir(home.work())
            .args(line.split_whitespace());
        let Some(mut terminal) = Terminal::run(&command) else {
            return;
        };
        terminal.expect("stored as ");
        terminal.expect("see it with: hakaru show ");
        assert!(terminal.end().success());
        assert_eq!(records(&home).len(), 1);
        // Not where the environment forbids it, or where the output goes to a program.
        let home = Home::new();
        let mut command = hakaru(&home);
        command.env("HAKARU_STORE", "0").current_dir(home.work());
        command.args(line.split_whitespace());
        assert!(Terminal::run(&command).unwrap().end().success());
        assert!(!home.path().join("hakaru.db").exists());
        let out = execute_in(&home, line);
        assert!(out.status.success() && text(&out.stderr).is_empty());
        assert!(!home.path().join("hakaru.db").exists());
    }
}

fn execute_in(home: &Home, line: &str) -> std::process::Output {
    let words = line.split_whitespace();
    hakaru(home)
        .current_dir(home.work())
        .args(words)
        .output()
        .unwrap()
}

/// The label of a verification was found only if it was given before the first import, and its title nowhere.
#[test]
fn a_verification_is_found_by_its_labels_and_shows_its_title() {
    let home = Home::new();
    let place = home.work().display().to_string();
    let named = ["--label=stick", "--title=The stick", "--note=from a drawer"];
    let verify = [&["verify", &place, "--size=1MiB", "--quiet"], &named[..]].concat();
    assert!(said(&home, &verify).starts_with("The stick\n"));
    let of = |home: &Home, name: &str| {
        let shown = said(home, &["show", name]);
        let page = said(home, &["report", name, "-o-", "--format=markdown"]);
        for form in [shown, page] {
            assert!(
                form.contains("The stick") && form.contains("from a drawer"),
                "{form}"
            );
        }
    };
    of(&home, "stick");
    said(&home, &["relabel", "stick", "--also", "spare"]);
    of(&home, "spare");
    let exported = home.work().join("stick.json");
    std::fs::write(&exported, said(&home, &["export", "spare"])).unwrap();
    let exported = exported.display().to_string();
    let other = Home::new();
    said(&other, &["import", &exported]);
    of(&other, "spare");
    let third = Home::new();
    said(&third, &["import", "--label=imported", &exported]);
    of(&third, "imported");
    let unknown = refused(&third, &["show", "nothing of this name"]);
    assert!(unknown.contains("nothing of this name"), "{unknown}");
}
