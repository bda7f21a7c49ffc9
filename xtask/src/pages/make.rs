//! Generates all kinds of pages with the program itself: series, comparisons, campaigns, verifications and imports, from
//! simulated cards and published figures.

use super::{articles, fake};
use crate::workspace;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Cards: one with constant speed, one that is fast until its cache is full, one with occasional stalls, and one that
/// fails all writes.
const CARDS: [(&str, &str); 4] = [
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
           "stalls": {"every": 33554432, "lasts": 1300000000}"#,
    ),
    (
        "dead",
        r#""write_rate": 30000000, "write_seek": 2000000,
           "faults": [{"offset": 0, "len": 34359738368, "kind": "write_error"}]"#,
    ),
];

/// A card that is measured once a month and becomes slower: its write rate and the time of a random write.
const AGED: [(u64, u64); 6] = [
    (26_000_000, 2_000_000),
    (26_300_000, 1_990_000),
    (25_800_000, 2_020_000),
    (19_000_000, 3_300_000),
    (18_600_000, 3_400_000),
    (18_900_000, 3_350_000),
];
/// 2026-05-03 10:00 UTC.
const FIRST_MONTH: i64 = 1_777_802_400_000;
const MONTH_MS: i64 = 30 * 86_400_000;

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

/// A card of which no run succeeds, beside another one. If none of all succeeds, the command prints the reason instead of
/// a page.
const FAILED: &str = r#"name = "one card failed"
repeats = 2

[[card]]
simulate = "even.json"

[[card]]
simulate = "dead.json"

[[workload]]
suite = ["seq-write", "rand-write"]
pace = "quick"
"#;

/// Two cards, of which one is measured.
const HALF: &str = r#"name = "half done"
repeats = 3

[[card]]
simulate = "even.json"

[[card]]
simulate = "stuttering.json"

[[workload]]
suite = ["seq-write", "rand-read"]
pace = "quick"
"#;

const WORKLOADS: &str = r#"
[[workload]]
name = "seq-write-1M"
rw = "write"
bs = "1 MiB"
size = "1 GiB"

[[workload]]
name = "seq-read-1M"
rw = "read"
bs = "1 MiB"
size = "1 GiB"

[[workload]]
name = "rand-write-4k"
rw = "randwrite"
bs = "4 KiB"
size = "1 GiB"

[[workload]]
name = "rand-read-4k"
rw = "randread"
bs = "4 KiB"
size = "1 GiB"
"#;

/// A campaign and its published figures: cards of these names through these layers, and the number of runs.
struct PublishedShape {
    file: &'static str,
    cards: Vec<String>,
    layers: &'static [&'static str],
    runs: u32,
}

impl PublishedShape {
    /// More cards and layers than one matrix shows, with names of 60 characters, some of them Japanese.
    fn crowd() -> PublishedShape {
        let card = |nth: usize| match nth % 4 {
            0 => format!("SanDisk MAX ENDURANCE microSDXC UHS-I U3 V30 128 GB No. {nth:04}"),
            1 => format!(
                "キオクシア EXCERIA HIGH ENDURANCE 高耐久 microSDXC メモリカード（家電量販店で購入した個体）その{nth:02}"
            ),
            2 => format!("card {nth}"),
            _ => format!("{nth}-{}", "W".repeat(56)),
        };
        PublishedShape {
            file: "crowd",
            cards: (1..=12).map(card).collect(),
            layers: &["raw", "vfat", "ext4", "f2fs"],
            runs: 10,
        }
    }

    /// One card through several file systems, once each.
    fn one_card() -> PublishedShape {
        PublishedShape {
            file: "one-card",
            cards: vec!["kingston".to_owned()],
            layers: &["raw", "vfat", "ext4", "f2fs"],
            runs: 1,
        }
    }

    /// Three cards, once each.
    fn once() -> PublishedShape {
        PublishedShape {
            file: "once",
            cards: ["kioxia", "kingston", "suneast"]
                .map(str::to_owned)
                .to_vec(),
            layers: &["raw"],
            runs: 1,
        }
    }

    /// Writes the campaign file and the table of figures.
    fn write(&self, home: &Path) -> Result<()> {
        let mut campaign = format!("name = \"{}\"\nrepeats = {}\n", self.file, self.runs);
        for card in &self.cards {
            write!(
                campaign,
                "\n[[card]]\nlabel = \"{card}\"\nid = \"ask\"\nread = 100\n"
            )?;
        }
        for layer in self.layers {
            write!(campaign, "\n[[layer]]\nfs = \"{layer}\"\n")?;
        }
        campaign += WORKLOADS;
        let mut table =
            "host,card,layer,workload,runs,bw_mean,bw_stdev,bw_unit,iops_mean,iops_stdev\n"
                .to_owned();
        for (nth, card) in self.cards.iter().enumerate() {
            for (depth, layer) in self.layers.iter().enumerate() {
                for (workload, iops, block) in [
                    ("seq-write-1M", 25.0, 1_048_576.0),
                    ("seq-read-1M", 60.0, 1_048_576.0),
                    ("rand-write-4k", 900.0, 4096.0),
                    ("rand-read-4k", 2200.0, 4096.0),
                ] {
                    let iops = iops * (1.0 + nth as f64 * 0.13) / (1.0 + depth as f64 * 0.2);
                    let rate = iops * block / 1e6;
                    let deviations = match self.runs {
                        1 => [String::new(), String::new()],
                        _ => [rate, iops].map(|mean| format!("{:.4}", mean * 0.03)),
                    };
                    let runs = self.runs;
                    let [of_rate, of_iops] = deviations;
                    writeln!(
                        table,
                        "pi4,{card},{layer},{workload},{runs},{rate:.4},{of_rate},MB/s,{iops:.2},{of_iops}"
                    )?;
                }
            }
        }
        let file = |kind: &str| home.join(format!("{}.{kind}", self.file));
        std::fs::write(file("toml"), campaign).context("cannot write a campaign")?;
        std::fs::write(file("csv"), table).context("cannot write a table")
    }
}

/// The commands, in order: `TABLE` and `ROOT` are paths of the workspace. A command that begins with `!` may report
/// failed runs; one that begins with `@HOST` runs in the directory of that name, as on a host of that name.
const COMMANDS: &[&[&str]] = &[
    &["campaign", "run", "three.toml"],
    &[
        "campaign",
        "report",
        "three.toml",
        "-o",
        "campaign.html",
        "--charts",
        "charts",
    ],
    &[
        "campaign",
        "report",
        "article-a",
        "--published",
        "TABLE",
        "-o",
        "published.html",
        "--charts",
        "charts-a",
    ],
    &[
        "campaign",
        "report",
        "article-a",
        "--published",
        "TABLE",
        "-o",
        "published-ja.html",
        "--lang=ja",
    ],
    &[
        "campaign",
        "report",
        "once.toml",
        "--published",
        "once.csv",
        "-o",
        "once.html",
    ],
    &[
        "campaign",
        "report",
        "crowd.toml",
        "--published",
        "crowd.csv",
        "-o",
        "crowd.html",
    ],
    &[
        "campaign",
        "report",
        "crowd.toml",
        "--published",
        "crowd.csv",
        "-o",
        "crowd-ja.html",
        "--lang=ja",
    ],
    &[
        "campaign",
        "report",
        "one-card.toml",
        "--published",
        "one-card.csv",
        "-o",
        "one-card.html",
    ],
    &["!", "campaign", "run", "failed.toml"],
    &["campaign", "report", "failed.toml", "-o", "failed.html"],
    &["campaign", "run", "half.toml", "--only", "even"],
    &["campaign", "report", "half.toml", "-o", "half.html"],
    &["bench", "--quick", "--simulate", "sprinter.json"],
    &["report", "latest", "-o", "bench.html"],
    &["report", "latest", "-o", "bench-ja.html", "--lang=ja"],
    &[
        "bench",
        "--quick",
        "--repeat",
        "1",
        "--simulate",
        "even.json",
        "--label",
        "kitchen",
        "--title",
        "The card of the <kitchen> Pi",
        "--note",
        "Bought in May & measured after a year.",
    ],
    &["report", "kitchen", "-o", "bench-once.html"],
    &[
        "compare",
        "card=even",
        "card=sprinter",
        "-o",
        "compare.html",
    ],
    &[
        "compare",
        "card=even",
        "card=sprinter",
        "-o",
        "compare-ja.html",
        "--lang=ja",
    ],
    &[
        "import",
        "ROOT/crates/dialects/tests/pasted/iozone-all-tests.txt",
        "--label",
        "iozone",
    ],
    &["report", "iozone", "-o", "bench-imported.html"],
    &[
        "import",
        "ROOT/crates/dialects/tests/logs/pi5-3-fsync-microsd.txt",
        "--label",
        "fsync",
    ],
    &["report", "fsync", "-o", "bench-fio.html"],
    &[
        "import",
        "fake.json",
        "--label",
        "fake",
        "--title",
        "A card from a market stall",
        "--note",
        "Sold as 64 GB.",
    ],
    &["report", "fake", "-o", "verify.html"],
    &["report", "fake", "-o", "verify-ja.html", "--lang=ja"],
    &["import", "aged.jsonl"],
    &["history", "veteran", "-o", "history.html"],
    &["history", "veteran", "-o", "history-ja.html", "--lang=ja"],
    // Two series of other settings: too little for a verdict.
    &["history", "sprinter", "-o", "history-new.html"],
    &["rank", "card=even", "card=sprinter", "-o", "rank.html"],
    &[
        "bench",
        "--quick",
        "--deep",
        "--repeat",
        "3",
        "--simulate",
        "even.json",
        "--label",
        "deep",
    ],
    &["report", "deep", "-o", "deep.html"],
];

/// Writes all pages to a directory.
///
/// # Errors
/// If the program cannot be built, or fails.
pub(super) fn pages(home: &Path) -> Result<Vec<PathBuf>> {
    let program = workspace::whole_program()?;
    let place = |name: &str| home.join(name);
    for (name, costs) in CARDS {
        write_model(&place(&format!("{name}.json")), name, costs)?;
    }
    for (name, text) in [("three", CAMPAIGN), ("failed", FAILED), ("half", HALF)] {
        std::fs::write(place(&format!("{name}.toml")), text).context("cannot write a campaign")?;
    }
    for shape in [
        PublishedShape::crowd(),
        PublishedShape::one_card(),
        PublishedShape::once(),
    ] {
        shape.write(home)?;
    }
    std::fs::write(place("fake.json"), fake::record()?).context("cannot write a verification")?;
    let root = workspace::root().to_str();
    let root = root.context("the workspace lies at a path that is no text")?;
    let table = format!("{root}/testdata/published/figures.csv");
    let logs = format!("{root}/crates/dialects/tests/logs");
    std::fs::write(place("aged.jsonl"), aged(home, &program)?).context("cannot write a history")?;
    let mut pages = traced(home)?;
    articles::write(home)?;
    for words in COMMANDS.iter().chain(articles::COMMANDS) {
        let may_fail = words.first() == Some(&"!");
        let host = words.first().and_then(|word| word.strip_prefix('@'));
        let begin = usize::from(may_fail || host.is_some());
        let words: Vec<String> = words[begin..]
            .iter()
            .map(|word| {
                let word = word.replace("TABLE", &table).replace("LOGS", &logs);
                word.replace("ROOT", root)
            })
            .collect();
        let mut command = match host {
            Some(host) => on_host(host, &program),
            None => Command::new(&program),
        };
        command.current_dir(host.map_or(home.to_owned(), place));
        command.env("HOME", home);
        command.env("HAKARU_DB", place("hakaru.db"));
        command.env("HAKARU_LANG", "en").args(&words);
        match may_fail {
            true => drop(command.output().context("cannot start hakaru")?),
            false => drop(workspace::output(&mut command)?),
        }
        pages.extend(
            words
                .iter()
                .filter(|word| word.ends_with(".html"))
                .map(|page| place(page)),
        );
    }
    Ok(pages)
}

/// Returns a command that runs a program under another hostname, in a namespace of its own.
fn on_host(host: &str, program: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--uts", "sh", "-c"]);
    command
        .args([r#"hostname "$0" && exec "$@""#, host])
        .arg(program);
    command
}

fn write_model(path: &Path, name: &str, costs: &str) -> Result<()> {
    let common = r#""read_rate": 44000000, "read_seek": 300000, "read_overhead": 120000, "write_overhead": 120000, "block_size": 512, "flush": 3000000"#;
    let model = format!(r#"{{"name": "{name}", "capacity": 34359738368, {common}, {costs}}}"#);
    std::fs::write(path, model).context("cannot write a device model")
}

/// Measures the aged card in a database of its own, and returns its records with a month between the series, and a
/// verification.
fn aged(home: &Path, program: &Path) -> Result<String> {
    let database = home.join("aged.db");
    let hakaru = || {
        let mut command = Command::new(program);
        command.current_dir(home).env("HOME", home);
        command.env("HAKARU_DB", &database).env("HAKARU_LANG", "en");
        command
    };
    for (rate, seek) in AGED {
        let costs = format!(r#""write_rate": {rate}, "write_seek": {seek}, "jitter_permille": 25"#);
        write_model(&home.join("veteran.json"), "veteran", &costs)?;
        workspace::output(
            hakaru()
                .args(["bench", "--quick", "--repeat", "3"])
                .args(["--simulate", "veteran.json"]),
        )?;
    }
    let exported = workspace::output(hakaru().arg("export"))?;
    let mut series: Vec<String> = Vec::new();
    let mut lines = vec![fake::good("veteran", FIRST_MONTH + 2 * MONTH_MS)?];
    for line in exported.lines() {
        let mut record: serde_json::Value =
            serde_json::from_str(line).context("cannot read an exported record")?;
        let of = record["series"].to_string();
        let nth = series.iter().position(|known| *known == of);
        let nth = nth.unwrap_or_else(|| {
            series.push(of);
            series.len() - 1
        });
        let repeat = record["repeat"].as_i64().unwrap_or(0);
        record["started_unix_ms"] = (FIRST_MONTH + nth as i64 * MONTH_MS + repeat * 60_000).into();
        lines.push(record.to_string());
    }
    Ok(lines.join("\n"))
}

/// Pages about traced runs, which a simulated card has not: those of the tests.
fn traced(home: &Path) -> Result<Vec<PathBuf>> {
    let mut command = workspace::cargo();
    command.args(["test", "--quiet", "-p", "hakaru-report", "pages_to_look_at"]);
    workspace::run(command.env("HAKARU_LOOK", home))?;
    let names = ["path-one", "path-one-ja", "path-suite", "path-run"];
    Ok(names.map(|name| home.join(format!("{name}.html"))).to_vec())
}
