//! Tests read-only commands: they never create or modify a database, work on a read-only one, and return the usage
//! error code for missing objects.

use crate::support::{self, Home, hakaru, text};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

const RESULT: &str = "268435456 bytes (268 MB, 256 MiB) copied, 2 s, 134 MB/s\n";

fn run(home: &Home, words: &[&str]) -> Output {
    hakaru(home)
        .current_dir(home.work())
        .args(words)
        .output()
        .unwrap()
}

fn code(home: &Home, words: &[&str]) -> Option<i32> {
    run(home, words).status.code()
}

/// Creates a home with one imported run.
fn with_a_run() -> Home {
    let home = Home::new();
    let file = home.work().join("dd.txt");
    std::fs::write(&file, RESULT).unwrap();
    assert_eq!(code(&home, &["import", "dd.txt"]), Some(0));
    std::fs::remove_file(file).unwrap();
    home
}

#[test]
fn reading_makes_no_database() {
    let home = Home::new();
    let verbs: [&[&str]; 6] = [
        &["list"],
        &["show", "latest"],
        &["compare", "a", "b"],
        &["report", "latest"],
        &["export"],
        &["reference", "add", "x"],
    ];
    for words in verbs {
        let out = run(&home, words);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{words:?}: {said}");
        assert!(
            said.contains("hakaru bench") || said.contains("no run"),
            "{words:?}: {said}"
        );
    }
    assert_eq!(code(&home, &["campaign", "check", "quick"]), Some(0));
    assert_eq!(code(&home, &["campaign", "report", "quick"]), Some(1));
    assert_eq!(code(&home, &["reference"]), Some(0));
    // Without --db, the user's default database is empty as long as it does not exist.
    let of_nobody = |words: &[&str]| {
        hakaru(&home)
            .env_remove("HAKARU_DB")
            .args(words)
            .output()
            .unwrap()
    };
    let list = of_nobody(&["list"]);
    assert!(
        list.status.success() && text(&list.stdout).contains("No runs are stored yet"),
        "{list:?}"
    );
    assert_eq!(of_nobody(&["show", "latest"]).status.code(), Some(2));
    let there: Vec<_> = std::fs::read_dir(home.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(there, ["work"], "reading made something");
}

/// Reading needs no write permission. If the test runs as root, it copies the program and runs it as another user.
#[test]
fn a_database_that_may_only_be_read_is_read() {
    let home = with_a_run();
    let program = home.path().join("hakaru");
    // Copy with another process: a child of a concurrent test would inherit a descriptor open for writing, and the copy
    // would be busy.
    assert!(
        Command::new("cp")
            .arg(hakaru(&home).get_program())
            .arg(&program)
            .status()
            .unwrap()
            .success()
    );
    let may = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap()
    };
    let database = home.path().join("hakaru.db");
    let before = std::fs::read(&database).unwrap();
    for (path, mode) in [
        (program.as_path(), 0o755),
        (&database, 0o444),
        (home.path(), 0o555),
    ] {
        may(path, mode);
    }
    for (words, wanted) in [
        (&["list"][..], "dd"),
        (&["show", "latest"], "(imported)"),
        (&["report", "latest", "--format=markdown"], "dd"),
        (&["export"], "\"format\":1"),
        (&["compare", "latest", "latest"], "ratio"),
        (&["reference"], "suneast"),
    ] {
        let mut command = Command::new(&program);
        command
            .env("HAKARU_DB", &database)
            .env("HOME", home.path())
            .env("NO_COLOR", "1")
            .current_dir("/")
            .args(words);
        if rustix::process::geteuid().is_root() {
            command.uid(65_534).gid(65_534);
        }
        let out = command.output().unwrap();
        let said = text(&out.stderr);
        assert!(out.status.success(), "{words:?}: {said}");
        assert!(
            text(&out.stdout).contains(wanted),
            "{words:?}: {}",
            text(&out.stdout)
        );
    }
    may(home.path(), 0o755);
    assert!(before == std::fs::read(&database).unwrap());
    assert!(
        !home.path().join("hakaru.db-wal").exists() && !home.path().join("hakaru.db-shm").exists()
    );
}

#[test]
fn what_was_named_and_is_not_there_is_wrong_usage() {
    let home = with_a_run();
    let absent: [&[&str]; 17] = [
        &["compare", "card=none", "latest"],
        &["reference", "remove", "none"],
        &["list", "--db=/no/such.db"],
        &["show", "ffff"],
        &["report", "ffff"],
        &["report", "latest", "--rules=/no/such.toml"],
        &["compare", "ffff", "latest"],
        &["export", "ffff"],
        &["import", "/no/such"],
        &["import", "--map=/no/such.toml", "/dev/null"],
        &["lint", "/no/such"],
        &["info", "/no/such"],
        &["verify", "/no/such"],
        &["prepare", "/no/such", "--fill=zero", "--dry-run"],
        &["prepare", "/no/such", "--drop-caches", "--dry-run"],
        &["campaign", "check", "nofile"],
        &["campaign", "init", "quick", "--output=/no/such/quick.toml"],
    ];
    for words in absent {
        let out = run(&home, words);
        let said = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{words:?}: {said}");
        assert!(
            !said.contains("refused") && said.starts_with("error: "),
            "{words:?}: {said}"
        );
    }
    // fio and iozone have their own exit codes, and programs rely on them.
    assert_eq!(code(&home, &["fio", "/no/such.fio"]), Some(1));
    assert_ne!(
        code(
            &home,
            &["iozone", "-i", "0", "-s", "1m", "-f", "/no/such/file"]
        ),
        Some(0)
    );
    assert!(text(&run(&home, &["info", "/no/such"]).stderr).contains("/no/such does not exist"));
}

#[test]
fn what_cannot_be_written_leaves_what_was_there() {
    let home = with_a_run();
    let file = home.work().join("all.jsonl");
    assert_eq!(code(&home, &["export", "--output=all.jsonl"]), Some(0));
    let whole = std::fs::read(&file).unwrap();
    assert!(whole.ends_with(b"}\n"));
    // A report without results replaces no file.
    assert_eq!(
        code(&home, &["report", "ffff", "--output=all.jsonl"]),
        Some(2)
    );
    assert_eq!(code(&home, &["export", "--output=/dev/null"]), Some(0));
    assert_eq!(code(&home, &["export", "--output=/dev/full"]), Some(1));
    assert!(whole == std::fs::read(&file).unwrap());
    assert_eq!(home.left_behind(), 1);
}

#[test]
fn nothing_is_called_nothing() {
    let home = with_a_run();
    let out = run(&home, &["reference", "add", " "]);
    assert!(
        out.status.code() == Some(2) && text(&out.stderr).contains("needs a name"),
        "{}",
        text(&out.stderr)
    );
}

#[test]
fn dry_runs_print_json() {
    let home = Home::new();
    let json = |line: &str| -> serde_json::Value {
        let out = support::execute(&home, line);
        serde_json::from_slice(&out.stdout).expect("JSON and nothing else")
    };
    let found = json("verify . --dry-run --json --size=16MiB");
    assert!(found["dry_run"] == true, "{found}");
    let would = found["would"][0].as_str();
    assert!(would.is_some_and(|text| text.contains("16 MiB")), "{found}");
    let found = json("prepare /dev/null --drop-caches --dry-run --json");
    assert_eq!(found["would"][0].as_str(), Some("drop the host caches"));
    assert_eq!(found["would_be_lost"].as_array().map(Vec::len), Some(0));
}

/// Overwrites a part of the record with an ID in the database file.
fn damage(home: &Home, id: &str) {
    let path = home.path().join("hakaru.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // The ID is followed by the 8 bytes of the scenario's hash, and by the packed text: its form, its length, its
    // check and the position of the scenario. A database page that is no longer in use may contain an older copy.
    let number = |at: usize| {
        let number = bytes.get(at..at + 4).map(|four| four.try_into().unwrap());
        number.map_or(u32::MAX, u32::from_le_bytes)
    };
    let is_packed = |at: &usize| {
        let length = number(at + 1);
        bytes.get(*at) == Some(&1) && (1..1 << 20).contains(&length) && number(at + 9) < length
    };
    let copies: Vec<usize> = bytes
        .windows(id.len())
        .enumerate()
        .filter(|(_, part)| *part == id.as_bytes())
        .map(|(at, _)| at + id.len() + 8)
        .filter(is_packed)
        .collect();
    assert!(!copies.is_empty(), "the packed record follows its ID");
    for at in copies {
        bytes[at + 5] ^= 1;
    }
    std::fs::write(&path, bytes).unwrap();
}

#[test]
fn a_damaged_record_is_named_and_hides_no_other() {
    let home = Home::new();
    for speed in [134, 120, 101] {
        let text = format!("268435456 bytes (268 MB, 256 MiB) copied, 2 s, {speed} MB/s\n")
            .replace("2 s", &format!("{speed} s"));
        std::fs::write(home.work().join("dd.txt"), text).unwrap();
        assert_eq!(code(&home, &["import", "--label=card", "dd.txt"]), Some(0));
    }
    let all = text(&run(&home, &["export"]).stdout);
    let ids: Vec<String> = support::records(&home)
        .into_iter()
        .map(|record| record.id)
        .collect();
    let [damaged, whole, first] = &ids[..] else {
        panic!("three runs are stored, not {ids:?}")
    };
    damage(&home, damaged);
    let out = run(&home, &["export"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(
        said.contains(&format!("skipped: cannot read run {damaged}")),
        "{said}"
    );
    let kept: Vec<&str> = all
        .lines()
        .filter(|line| !line.contains(damaged.as_str()))
        .collect();
    assert_eq!(
        (text(&out.stdout).lines().collect::<Vec<_>>(), kept.len()),
        (kept, 2)
    );
    let named = run(&home, &["export", whole, damaged, first]);
    assert_eq!(
        (named.status.code(), text(&named.stdout).lines().count()),
        (Some(1), 2)
    );
    assert_eq!(run(&home, &["export", whole]).status.code(), Some(0));
    // A damaged record alone is an error; the rest of its series is shown.
    assert_eq!(code(&home, &["show", damaged]), Some(1));
    let shown = run(&home, &["show", "--series", "--json", first]);
    let all: Vec<serde_json::Value> = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(
        (shown.status.code(), all.len()),
        (Some(1), 2),
        "{}",
        text(&shown.stderr)
    );
    let page = run(&home, &["report", "--format=csv", first]);
    assert!(
        page.status.code() == Some(1) && text(&page.stdout).lines().count() > 1,
        "{}",
        text(&page.stderr)
    );
    assert_eq!(code(&home, &["list"]), Some(0));
}

#[test]
fn a_damaged_record_hides_no_other_of_its_campaign() {
    let home = Home::new();
    let model =
        hakaru_model::device_model::DeviceModel::plain("card", hakaru_model::units::Bytes(1 << 30));
    let model = serde_json::to_string(&model).unwrap();
    std::fs::write(home.work().join("card.json"), model).unwrap();
    let toml = "name = \"c\"\nrepeats = 3\n[[card]]\nsimulate = \"card.json\"\n[[workload]]\nsuite = [\"seq-read\"]\npace = \"quick\"\n";
    std::fs::write(home.work().join("c.toml"), toml).unwrap();
    let ran = run(&home, &["campaign", "run", "c.toml", "--quiet"]);
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    let damaged = support::records(&home)[1].id.clone();
    damage(&home, &damaged);
    let words = "campaign report c.toml --output=- --format=terminal";
    let out = run(&home, &words.split(' ').collect::<Vec<_>>());
    let (shown, said) = (text(&out.stdout), text(&out.stderr));
    assert_eq!(out.status.code(), Some(1), "{said}");
    let skipped = format!("skipped: cannot read run {damaged}");
    assert!(said.contains(&skipped), "{said}");
    let excluded = format!("run {damaged} is excluded");
    assert!(shown.contains("Sequential"), "{shown}");
    assert!(shown.contains(&excluded), "{shown}");
}

/// Regression: the spread of a card that was measured in two months was printed as the spread of repeats.
#[test]
fn a_label_of_two_sessions_says_so_first() {
    let home = Home::new();
    let model = |rate: u64| {
        let text = serde_json::json!({
            "name": "card", "capacity": 68_719_476_736_u64, "block_size": 512, "read_rate": 90_000_000,
            "write_rate": rate,
        });
        std::fs::write(home.path().join("card.json"), text.to_string()).unwrap();
    };
    for (label, rate) in [
        ("card", 30_000_000),
        ("card", 20_000_000),
        ("other", 30_000_000),
    ] {
        model(rate);
        let label = format!("--label={label}");
        let words = ["bench", "--quick", "--only=seq-write", "--quiet", &label];
        let mut bench = hakaru(&home);
        bench.current_dir(home.path()).args(words);
        let out = bench.args(["--simulate", "card.json"]).output().unwrap();
        assert!(out.status.success(), "{}", text(&out.stderr));
    }
    let out = hakaru(&home)
        .args(["compare", "card", "other"])
        .output()
        .unwrap();
    let printed = text(&out.stdout);
    let answer = printed.lines().take(6).collect::<Vec<_>>().join(" ");
    let wanted = "card pools 2 sessions: its spread includes what changed between them";
    assert!(answer.contains(wanted), "{printed}");
    assert!(!printed.contains("other pools"), "{printed}");
}
