//! Tests that no command trusts a database from elsewhere, by whichever way it is given.

use crate::support::{Home, hakaru, text};
use std::path::{Path, PathBuf};
use std::process::Output;

const DD: &str = "268435456 bytes (268 MB, 256 MiB) copied, 2.0137 s, 133 MB/s\n";

fn run(home: &Home, args: &[&str]) -> Output {
    let mut command = hakaru(home);
    command
        .current_dir(home.work())
        .args(args)
        .output()
        .unwrap()
}

/// A database with one run, whose triggers were changed.
fn altered(home: &Home) -> PathBuf {
    std::fs::write(home.work().join("dd.txt"), DD).unwrap();
    let path = home.work().join("altered.db");
    let imported = run(home, &["import", "dd.txt", "--db", "altered.db"]);
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let mut bytes = std::fs::read(&path).unwrap();
    let (before, after) = (b"RAISE(ABORT", b"RAISE(FAIL ");
    let places = bytes.windows(before.len()).enumerate();
    let places = places.filter(|(_, bytes)| *bytes == before);
    let places: Vec<usize> = places.map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + after.len()].copy_from_slice(after);
    }
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The file and what is beside it.
fn beside(path: &Path) -> Vec<(PathBuf, u64)> {
    let entries = std::fs::read_dir(path.parent().unwrap()).unwrap();
    let mut files: Vec<(PathBuf, u64)> = entries
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.path(), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}

#[test]
fn every_command_refuses_an_altered_database() {
    let home = Home::new();
    let path = altered(&home);
    let model = r#"{"name": "card", "capacity": 1073741824, "block_size": 512, "read_rate": 40000000, "write_rate": 20000000}"#;
    std::fs::write(home.work().join("card.json"), model).unwrap();
    let campaign = "name = \"c\"\nrepeats = 1\n[[card]]\nlabel = \"card\"\nsimulate = \"card.json\"\n\
        [[workload]]\nname = \"w\"\nrw = \"write\"\nbs = \"4 KiB\"\nsize = \"1 MiB\"\n";
    std::fs::write(home.work().join("c.toml"), campaign).unwrap();
    // What `recover` would store.
    let spool = home.work().join("altered.db.spool");
    std::fs::create_dir(&spool).unwrap();
    std::fs::write(spool.join("x.jsonl"), "").unwrap();
    // The user's own database, to import into and to archive from.
    let own = run(&home, &["import", "dd.txt"]);
    assert!(own.status.success(), "{}", text(&own.stderr));
    let (before, files) = (std::fs::read(&path).unwrap(), beside(&path));
    let mut trusted = String::new();
    for command in [
        "list --db altered.db",
        "show latest --db altered.db",
        "report latest -o page.html --db altered.db",
        "compare latest latest:2 --db altered.db",
        "compare card=dd card=dd --db altered.db",
        "rank --db altered.db",
        "history dd --db altered.db",
        "explain latest --db altered.db",
        "export --db altered.db",
        "relabel latest --db altered.db",
        "relabel latest --label x --db altered.db",
        "recover --db altered.db",
        "import dd.txt --db altered.db",
        "import altered.db",
        "import --dry-run altered.db",
        "archive altered.db --keep 0",
        "archive other.db --keep 0 --db altered.db",
        "archive other.db --keep 0 --dry-run --db altered.db",
        "reference list --db altered.db",
        "rank --db altered.db --price dd=680JPY",
        "bench --quick --simulate=card.json --db altered.db",
        "verify . --size 1MiB --db altered.db",
        "campaign check c.toml --db altered.db",
        "campaign run c.toml --db altered.db",
        "campaign status --db altered.db",
        "campaign report c.toml -o page.html --db altered.db",
        "--db altered.db fio --hakaru-store --name=a --rw=write --size=4k --filename=x",
    ] {
        let words: Vec<&str> = command.split_whitespace().collect();
        let out = run(&home, &words);
        let printed = text(&out.stderr);
        let is_refused = !out.status.success()
            && printed.contains("the schema of the database")
            && printed.contains("unexpected trigger");
        if !is_refused {
            trusted += &format!("{command}: {:?} {printed}\n", out.status.code());
        }
        assert!(std::fs::read(&path).unwrap() == before, "{command}");
    }
    assert!(trusted.is_empty(), "{trusted}");
    assert_eq!(beside(&path), files);
}
