//! `cargo xtask scale`: measures time and memory of the commands on databases of 1,000, 100,000 and 1,000,000 runs.
//!
//! The runs are copies of a published result with their own IDs, times, hosts and labels, imported through a pipe. The
//! first database gets a campaign of 8,000 points on a simulated card too. Limits of memory and size always hold; those
//! of time are for an idle machine, so the fastest of several imports counts.

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Numbers of runs without arguments.
const RUNS: [u64; 3] = [1_000, 100_000, 1_000_000];

/// Most runs that are exported and imported a second time. The import that fills a larger database has shown that its
/// memory does not grow.
const MOST_TWICE: u64 = 100_000;

/// Published logs of which each is imported alone.
const LOGS: [&str; 5] = [
    "sdio-1bit.txt",
    "sdio-4bit.txt",
    "pi5-3-fsync-microsd.txt",
    "pi5-2-randread-ssd.txt",
    "pi5-4-sustain-microsd.txt",
];

/// Limit of the memory of commands that read or write any number of runs.
const MEMORY: u64 = 64 << 20;

/// Time limit of the import of one result.
const ONE: Duration = Duration::from_millis(50);

/// Limits of the size of the page of a campaign, and of the memory of its report.
const PAGE: u64 = 5_000_000;
const PAGE_MEMORY: u64 = 200 << 20;

/// Runs with one label, whatever the number of runs: what a comparison reads.
const RUNS_OF_LABEL: u64 = 200;

/// Runs of one series.
const REPEATS: u64 = 5;

/// Start of the first run in milliseconds since 1970 UTC, and the time from one run to the next.
const STARTED: (u64, u64) = (1_700_000_000_000, 60_000);

/// Cards and workloads of the campaign: 8,000 points.
const CARDS: u64 = 100;
const WORKLOADS: u64 = 80;

pub(crate) fn main(args: &[String]) -> Result<()> {
    let (mut runs, mut program) = (RUNS.to_vec(), None);
    for word in args {
        match word.split_once('=') {
            Some(("--runs", list)) => {
                let counts = list.split(',').map(str::parse);
                runs = counts.collect::<Result<_, _>>()?;
            }
            Some(("--program", file)) => program = Some(PathBuf::from(file)),
            _ => bail!("unknown argument {word}: expected --runs=1000,100000 or --program=FILE"),
        }
    }
    let program = match program {
        Some(program) => program,
        None => {
            workspace::run(workspace::cargo().args(["build", "--release", "--package", "hakaru"]))?;
            workspace::target().join("release/hakaru")
        }
    };
    let mut broken = Vec::new();
    for (number, runs) in runs.into_iter().enumerate() {
        let place = workspace::target().join(format!("scale-{runs}"));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place)
            .with_context(|| format!("cannot create {}", place.display()))?;
        let bench = ScaleBench {
            program: program.clone(),
            place,
        };
        broken.extend(bench.measure(runs)?);
        if number == 0 {
            broken.extend(bench.campaign()?);
        }
        std::fs::remove_dir_all(&bench.place)
            .with_context(|| format!("cannot remove {}", bench.place.display()))?;
    }
    ensure!(broken.is_empty(), "over the limit:\n{}", broken.join("\n"));
    Ok(())
}

/// The program, and a directory for databases.
struct ScaleBench {
    program: PathBuf,
    place: PathBuf,
}

/// Time and peak memory of a command.
struct CommandCost {
    time: Duration,
    memory: u64,
}

impl ScaleBench {
    /// Fills a database, and measures the commands on it; returns what is over its limit.
    fn measure(&self, runs: u64) -> Result<Vec<String>> {
        let mut broken = Vec::new();
        println!("{runs} runs");
        let filled = self.fill("store.db", copies(&self.template()?, runs)?)?;
        let mut check = |name: &str, cost: &CommandCost| {
            self.print(name, cost);
            if cost.memory > MEMORY {
                broken.push(format!("{runs} runs: {name}: {} MiB", cost.memory >> 20));
            }
        };
        check("import, from a pipe", &filled);
        let [export, again, pages, store] =
            ["all.jsonl", "again.db", "pages", "store.db"].map(|name| self.path(name));
        let last = (runs - 1) / RUNS_OF_LABEL;
        let sides = [last, last.saturating_sub(1)].map(|label| format!("card=card {label}"));
        let days = [0, runs / 2].map(|run| day(run, RUNS_OF_LABEL));
        for (name, words) in [
            ("list", &["list"][..]),
            ("list --target", &["list", "--target", "card 0"]),
            ("show latest", &["show", "latest"]),
            ("report latest", &["report", "latest", "-o", &pages]),
            ("compare card=", &["compare", &sides[0], &sides[1]]),
            ("compare date=", &["compare", &days[0], &days[1]]),
            (
                "compare latest latest:2",
                &["compare", "latest", "latest:2"],
            ),
        ] {
            check(name, &self.measured_on(&store, words)?);
        }
        let mut fastest = [Duration::MAX; 2];
        for (log, name) in LOGS.iter().map(|log| (self.log(log), log)) {
            for (which, again) in ["", " again"].iter().enumerate() {
                let cost = self.measured_on(&store, &["import", &log])?;
                check(&format!("import of {name}{again}"), &cost);
                fastest[which] = fastest[which].min(cost.time);
            }
        }
        let bytes = std::fs::metadata(&store)?.len();
        println!("  {} bytes a run in the database", bytes / runs);
        if runs <= MOST_TWICE {
            let table = self.table(runs)?;
            check(
                "export",
                &self.measured_on(&store, &["export", "-o", &export])?,
            );
            let text = std::fs::metadata(&export)?.len();
            println!("  {} bytes a run as text", text / runs);
            for (name, file) in [
                ("import of the export", &export),
                ("the same again", &export),
                ("import of a table", &table),
            ] {
                check(name, &self.measured_on(&again, &["import", file])?);
            }
            for file in [&export, &again] {
                std::fs::remove_file(file).with_context(|| format!("cannot remove {file}"))?;
            }
        }
        for (name, fastest) in ["a log", "a stored log"].iter().zip(fastest) {
            println!("  fastest import of {name}: {fastest:.1?}");
            if fastest > ONE {
                broken.push(format!("{runs} runs: import of {name}: {fastest:.0?}"));
            }
        }
        Ok(broken)
    }

    /// Measures a command on a database.
    fn measured_on(&self, db: &str, words: &[&str]) -> Result<CommandCost> {
        measured(&mut self.command(&[&["--db", db], words].concat()))
    }

    fn path(&self, name: &str) -> String {
        self.place.join(name).display().to_string()
    }

    fn log(&self, name: &str) -> String {
        let logs = workspace::root().join("crates/dialects/tests/logs");
        logs.join(name).display().to_string()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).stdin(Stdio::null());
        command.env("HAKARU_LANG", "en").current_dir(&self.place);
        command
    }

    fn print(&self, name: &str, cost: &CommandCost) {
        let CommandCost { time, memory } = cost;
        println!("  {name:<28} {time:>10.2?} {:>6} MiB", memory >> 20);
    }

    /// Writes records to the standard input of an import.
    fn fill(&self, db: &str, lines: impl Iterator<Item = String> + Send) -> Result<CommandCost> {
        let mut command = self.command(&["--db", &self.path(db), "import", "-"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn()?;
        let input = child.stdin.take().context("the import has no input")?;
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                let mut input = BufWriter::new(input);
                for line in lines {
                    writeln!(input, "{line}")?;
                }
                input.flush()
            });
            let memory = wait(&mut child, &command)?;
            let written = writer.join();
            written.map_err(|_| anyhow::anyhow!("the writer panicked"))??;
            Ok(CommandCost {
                time: begun.elapsed(),
                memory,
            })
        })
    }

    /// Exports all records of a database, one per line.
    fn records(&self, db: &str) -> Result<Vec<String>> {
        let text = workspace::output(&mut self.command(&["--db", db, "export"]))?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// Imports a published log into a database of its own; returns its record.
    fn template(&self) -> Result<String> {
        let db = self.path("template.db");
        let log = self.log("pi5-3-fsync-ssd.txt");
        workspace::output(&mut self.command(&["--db", &db, "import", &log]))?;
        self.records(&db)?.pop().context("the log has no result")
    }

    /// Writes a table with a tenth as many rows as there are runs.
    fn table(&self, runs: u64) -> Result<String> {
        let path = self.path("table.csv");
        let mut table = BufWriter::new(std::fs::File::create(&path)?);
        writeln!(table, "target,rw,bs,bandwidth,bandwidth_unit")?;
        for row in 0..runs / 10 {
            let rate = 10.0 + row as f64 / 1000.0;
            writeln!(
                table,
                "card {},randwrite,4KiB,{rate},MB/s",
                row / RUNS_OF_LABEL
            )?;
        }
        table.flush()?;
        Ok(path)
    }

    /// Stores a campaign of many points beside the other runs, and measures its report; returns what is over its limit.
    fn campaign(&self) -> Result<Vec<String>> {
        std::fs::write(
            self.place.join("card.json"),
            r#"{"name": "card", "capacity": 68719476736, "block_size": 512, "read_rate": 90000000, "write_rate": 30000000}"#,
        )?;
        let mut file =
            "name = \"scale\"\nrepeats = 1\n[[card]]\nlabel = \"card\"\nsimulate = \"card.json\"\n"
                .to_owned();
        for workload in 0..WORKLOADS {
            let rw = ["read", "write", "randread", "randwrite"][(workload % 4) as usize];
            let block = 4 << (workload / 4 % 5);
            file += &format!(
                "[[workload]]\nname = \"{rw} {block}k {workload}\"\nrw = \"{rw}\"\nbs = \"{block} KiB\"\nsize = \"1 MiB\"\n"
            );
        }
        std::fs::write(self.place.join("scale.toml"), file)?;
        let one = self.path("one.db");
        measured(&mut self.command(&["--db", &one, "campaign", "run", "scale.toml"]))?;
        let records = self.records(&one)?;
        let cards =
            (0..CARDS).flat_map(|card| records.iter().map(move |record| of_card(record, card)));
        let cards = cards.collect::<Result<Vec<String>>>()?;
        let filled = self.fill("store.db", cards.into_iter())?;
        self.print("import of a campaign", &filled);
        let [store, page] = ["store.db", "campaign.html"].map(|name| self.path(name));
        let report = ["campaign", "report", "scale.toml", "-o", &page];
        let cost = self.measured_on(&store, &report)?;
        self.print("campaign report", &cost);
        let size = std::fs::metadata(&page)?.len();
        println!("  page of {} points: {size} bytes", CARDS * WORKLOADS);
        let mut broken = Vec::new();
        if size > PAGE {
            broken.push(format!("page of the campaign: {size} bytes"));
        }
        if cost.memory > PAGE_MEMORY {
            broken.push(format!("report of the campaign: {} MiB", cost.memory >> 20));
        }
        Ok(broken)
    }
}

/// Members of a record that each copy has for itself, and what stands for them in a template.
const STANDINS: [(&str, &str); 6] = [
    ("/id", "@id@"),
    ("/series", "@series@"),
    ("/environment/hostname", "@host@"),
    ("/target/label", "@label@"),
    ("/started_unix_ms", "@started@"),
    ("/repeat", "@repeat@"),
];

/// Returns copies of a record.
fn copies(template: &str, runs: u64) -> Result<impl Iterator<Item = String> + Send + use<>> {
    // Replaced as text, so that the copies are written as exports are, and made quickly.
    let record: Value = serde_json::from_str(template)?;
    let mut text = template.to_owned();
    for (place, standin) in STANDINS {
        text = with_member(&text, &record, place, standin)?;
    }
    let parts = pieces(&text);
    Ok((0..runs).map(move |run| {
        let label = run / RUNS_OF_LABEL;
        let values = [
            format!("\"{}\"", id(run)),
            format!("\"{}\"", id(run - run % REPEATS)),
            format!("\"host {}\"", label % 20),
            format!("\"card {label}\""),
            (STARTED.0 + run * STARTED.1).to_string(),
            (run % REPEATS).to_string(),
        ];
        let mut text = String::with_capacity(16 << 10);
        for (piece, value) in &parts {
            text += piece;
            text += value.map_or("", |value| &values[value]);
        }
        text
    }))
}

/// Replaces the value that a member has in a record by another text.
fn with_member(text: &str, record: &Value, place: &str, new: &str) -> Result<String> {
    let value = record.pointer(place).context("a record lacks a member")?;
    let name = place.rsplit('/').next().unwrap_or_default();
    // The first with this value: members of the record itself are before those of its parts.
    let old = format!("\"{name}\":{value}");
    ensure!(text.contains(&old), "a record is written in another way");
    Ok(text.replacen(&old, &format!("\"{name}\":{new}"), 1))
}

/// Separates a text at stand-ins: each piece, and the index of the stand-in after it.
fn pieces(text: &str) -> Vec<(String, Option<usize>)> {
    let (mut pieces, mut rest) = (Vec::new(), text);
    let next = |rest: &str| {
        let found = STANDINS.iter().enumerate();
        let found = found.filter_map(|(which, (_, standin))| Some((rest.find(standin)?, which)));
        found.min()
    };
    while let Some((at, which)) = next(rest) {
        pieces.push((rest[..at].to_owned(), Some(which)));
        rest = &rest[at + STANDINS[which].1.len()..];
    }
    pieces.push((rest.to_owned(), None));
    pieces
}

fn id(run: u64) -> String {
    format!(
        "{:08x}-0000-7000-8000-{run:012x}",
        run.wrapping_mul(0x9e37_79b1) as u32
    )
}

/// A term that selects the runs of some days.
fn day(run: u64, runs: u64) -> String {
    let date = |run: u64| {
        let days = (STARTED.0 + run * STARTED.1) / 86_400_000;
        // Days since 1970 to a date of the Gregorian calendar, by Howard Hinnant's algorithm.
        let z = days + 719_468;
        let (era, doe) = (z / 146_097, z % 146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let (day, month) = (
            doy - (153 * mp + 2) / 5 + 1,
            if mp < 10 { mp + 3 } else { mp - 9 },
        );
        let year = yoe + era * 400 + u64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02}")
    };
    format!("date={}..{}", date(run), date(run + runs))
}

/// Returns a copy of a record of a campaign for another card.
fn of_card(record: &str, card: u64) -> Result<String> {
    let value: Value = serde_json::from_str(record)?;
    let id = |place: &str| {
        let of = value.pointer(place).and_then(Value::as_str);
        let of = of.unwrap_or_default();
        format!("\"{card:08x}{}\"", of.get(8..).unwrap_or_default())
    };
    let label = format!("\"card {card}\"");
    let mut text = record.to_owned();
    for (place, new) in [
        ("/id", id("/id")),
        ("/series", id("/series")),
        ("/campaign/card", label.clone()),
        ("/target/label", label),
    ] {
        text = with_member(&text, &value, place, &new)?;
    }
    Ok(text)
}

/// Runs a command without its output.
fn measured(command: &mut Command) -> Result<CommandCost> {
    let begun = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let memory = wait(&mut child, command)?;
    Ok(CommandCost {
        time: begun.elapsed(),
        memory,
    })
}

/// Waits for a command; returns the most memory it had.
fn wait(child: &mut Child, command: &Command) -> Result<u64> {
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        if let Some(ended) = child.try_wait()? {
            ensure!(ended.success(), "{command:?} failed");
            return Ok(most);
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(kib.unwrap_or(0) << 10);
        std::thread::sleep(Duration::from_micros(500));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_their_own_identity() {
        let template = r#"{"format":1,"id":"a","series":"a","repeat":0,"started_unix_ms":5,
            "target":{"label":"l"},"environment":{"hostname":""},"other":"a"}"#;
        let copies: Vec<Value> = copies(template, 7)
            .unwrap()
            .map(|text| serde_json::from_str(&text).unwrap())
            .collect();
        assert_eq!(copies[6]["id"], id(6));
        assert_eq!(copies[6]["series"], id(5));
        assert_eq!(copies[6]["repeat"], 1);
        assert_eq!(copies[6]["started_unix_ms"], STARTED.0 + 6 * STARTED.1);
        assert_eq!(copies[6]["other"], "a");
        assert_eq!(copies[6]["environment"]["hostname"], "host 0");
    }
}
