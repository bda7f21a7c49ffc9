//! Generates all kinds of pages with the program itself: series, comparisons and campaigns, from simulated cards and
//! published figures.

use crate::workspace;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Three cards: one with constant speed, one that is fast until its cache is full, one with occasional stalls.
const CARDS: [(&str, &str); 3] = [
    (
        "even",
        r#""write_rate": 30000000, "write_seek": 2000000, "jitter_permille": 20"#,
    ),
    (
        "sprinter",
        r#""write_rate": 12000000, "write_seek": 4000000, "jitter_permille": 30,
           "cache": {"size": 134217728, "write_rate": 60000000}"#,
    ),
    (
        "stuttering",
        r#""write_rate": 26000000, "write_seek": 800000, "jitter_permille": 60,
           "stalls": {"every": 33554432, "lasts": 400000000}"#,
    ),
];

const CAMPAIGN: &str = r#"name = "three cards"
about = "What the page of a campaign looks like: three simulated cards, the whole suite."
repeats = 5

[[card]]
simulate = "even.json"
read = 45
write = 40
classes = ["C10", "A1"]
facts = { price = "9.90", shop = "nowhere <b>real</b>" }

[[card]]
simulate = "sprinter.json"
write = 60
classes = ["C10", "U3", "A2"]

[[card]]
simulate = "stuttering.json"

[[workload]]
suite = ["seq-write", "seq-read", "rand-write", "rand-read", "mixed", "durable", "sustained"]
pace = "quick"
"#;

/// Writes all pages to a directory.
///
/// # Errors
/// If the program cannot be built, or fails.
pub(super) fn pages(home: &Path) -> Result<Vec<PathBuf>> {
    workspace::run(workspace::cargo().args(["build", "--quiet", "--bin", "hakaru"]))?;
    let program = workspace::target().join("debug/hakaru");
    let place = |name: &str| home.join(name);
    for (name, costs) in CARDS {
        let common = r#""read_rate": 44000000, "read_seek": 300000, "read_overhead": 120000, "write_overhead": 120000, "block_size": 512, "flush": 3000000"#;
        let model = format!(r#"{{"name": "{name}", "capacity": 34359738368, {common}, {costs}}}"#);
        std::fs::write(place(&format!("{name}.json")), model)
            .context("cannot write a device model")?;
    }
    std::fs::write(place("three.toml"), CAMPAIGN).context("cannot write the campaign")?;
    let table = workspace::root().join("testdata/published/figures.csv");
    let table = table
        .to_str()
        .context("the workspace lies at a path that is no text")?;
    for line in [
        "campaign run three.toml",
        "campaign report three.toml -o campaign.html --charts charts",
        "campaign report article-a --published TABLE -o published.html",
        "bench --quick --simulate sprinter.json",
        "report latest -o bench.html",
        "compare card=even card=sprinter -o compare.html",
    ] {
        let words = line.split(' ');
        let words = words.map(|word| if word == "TABLE" { table } else { word });
        let mut command = Command::new(&program);
        command.current_dir(home).env("HOME", home);
        command.env("HAKARU_DB", place("hakaru.db"));
        workspace::output(command.args(words))?;
    }
    let pages = ["campaign", "published", "bench", "compare"];
    Ok(pages.map(|name| place(&format!("{name}.html"))).to_vec())
}
