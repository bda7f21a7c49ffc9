//! Stored results of every kind, made by the program itself.

use crate::pages::fake;
use crate::workspace;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Cards with different speeds; the second one slows down when its cache is full.
const CARDS: [(&str, &str); 2] = [
    ("even", r#""write_rate": 30000000, "write_seek": 2000000"#),
    (
        "sprinter",
        r#""write_rate": 12000000, "write_seek": 4000000, "cache": {"size": 134217728, "write_rate": 60000000}"#,
    ),
];

/// A card with every part that an anatomy finds.
const WHOLE_CARD: &str = r#"{
    "name": "whole", "capacity": 8589934592, "block_size": 512, "read_rate": 42000000, "write_rate": 18000000,
    "read_overhead": 300000, "write_overhead": 500000, "read_seek": 0, "write_seek": 0, "read_to_write": 200000,
    "write_to_read": 150000, "flush": 2000000, "parallel_reads": 2,
    "flash": {
        "page": 16384, "sense": 90000, "gathers_writes": true, "unit": 4194304, "open": 1500000,
        "unit_crossing": 120000, "open_units": 5, "random_units": 3, "random_write": 700000,
        "collection_rate": 30000000, "fat_units": 2,
        "mapping": {"chunk": 1048576, "slots": 40, "load": 180000}, "discard": 300000, "discard_frees": true
    },
    "cache": {"size": 134217728, "write_rate": 40000000, "drain_rate": 15000000, "drain_delay": 1000000000},
    "throttle": {"after": 90000000000, "percent": 180, "until": 45000000000},
    "noise": {"sigma_permille": 15}
}"#;

/// A campaign on both cards, which has ended.
const CAMPAIGN: &str = r#"name = "two cards"
repeats = 3
[[card]]
simulate = "even.json"
[[card]]
simulate = "sprinter.json"
[[workload]]
suite = ["seq-write", "rand-read"]
pace = "quick"
"#;

/// A command of the program with its own database, in English.
pub(super) fn hakaru(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env("HAKARU_DB", home.join("hakaru.db"))
        .env("HAKARU_LANG", "en")
        .current_dir(home);
    command
}

/// Stores two benchmarks of each card, a verification, that of a card that claims too much, a traced run where the host
/// permits one, a campaign, and anatomies of a card with every part and of one without units.
pub(super) fn stored_results(program: &Path) -> Result<TempDir> {
    let home = tempfile::Builder::new()
        .prefix("serve-")
        .tempdir_in(workspace::target())
        .context("cannot make a directory for results")?;
    let run = |line: &str| {
        let mut command = hakaru(program, home.path());
        workspace::output(command.args(line.split_whitespace())).map(drop)
    };
    for (name, costs) in CARDS {
        let card = format!(
            r#"{{"name": "{name}", "capacity": 34359738368, "block_size": 512, "read_rate": 45000000,
                "read_overhead": 100000, "write_overhead": 200000, "jitter_permille": 30, {costs}}}"#
        );
        std::fs::write(home.path().join(format!("{name}.json")), card)?;
        for _ in 0..2 {
            run(&format!(
                "bench --quick --repeat 3 --quiet --simulate {name}.json --label {name}"
            ))?;
        }
    }
    std::fs::create_dir(home.path().join("disk"))?;
    run("verify disk --size=16MiB --quiet --label=folder")?;
    run(
        "fio --name=traced --rw=randwrite --bs=4k --size=8m --fsync=1 --filename=disk/x \
         --hakaru-trace=whole --hakaru-store --output=traced.txt",
    )?;
    std::fs::write(home.path().join("two.toml"), CAMPAIGN)?;
    run("campaign run two.toml --quiet")?;
    std::fs::write(home.path().join("fake.jsonl"), fake::record()? + "\n")?;
    run("import fake.jsonl")?;
    std::fs::write(home.path().join("whole.json"), WHOLE_CARD)?;
    for name in ["whole", "even"] {
        run(&format!("anatomy --simulate {name}.json --seed 3 --quiet"))?;
    }
    Ok(home)
}
