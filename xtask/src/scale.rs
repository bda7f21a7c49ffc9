//! `cargo xtask scale`: measures time and memory of the commands on databases of 1,000, 100,000 or more runs.
//!
//! The runs are copies of a published result with their own IDs, times, hosts and labels, and one campaign of 8,000
//! points on a simulated card. Limits of memory and size always hold; those of time are for an idle machine.

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Numbers of runs without arguments.
const RUNS: [u64; 2] = [1_000, 100_000];

/// Limit of the memory of commands that read or write any number of runs.
const MEMORY: u64 = 64 << 20;

/// Time limit of the import of one result.
const ONE: Duration = Duration::from_millis(50);

/// Limit of the size of the page of a campaign.
const PAGE: u64 = 5_000_000;

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
    for runs in runs {
        let place = workspace::target().join(format!("scale-{runs}"));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place)
            .with_context(|| format!("cannot create {}", place.display()))?;
        let bench = ScaleBench {
            program: program.clone(),
            place,
        };
        broken.extend(bench.measure(runs)?);
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
        let filled = self.fill("store.db", copies(&self.template()?, runs))?;
        self.print("import, from a pipe", &filled);
        let over = |what: &str, memory: u64, broken: &mut Vec<String>| {
            if memory > MEMORY {
                broken.push(format!("{runs} runs: {what}: {} MiB", memory >> 20));
            }
        };
        over("import", filled.memory, &mut broken);
        let [export, again, pages] = ["all.jsonl", "again.db", "pages"].map(|name| self.path(name));
        let table = self.table(runs)?;
        let log = self.log("sdio-1bit.txt");
        let last = (runs - 1) / RUNS_OF_LABEL;
        let sides = [last, last.saturating_sub(1)].map(|label| format!("card=card {label}"));
        let days = [0, runs / 2].map(|run| day(run, RUNS_OF_LABEL));
        let store = self.path("store.db");
        let (db, again) = (["--db", &*store], ["--db", &*again]);
        let on = |db: [&str; 2], words: &[&str]| {
            let words = db.iter().chain(words);
            self.command(&words.copied().collect::<Vec<_>>())
        };
        for (name, mut command) in [
            ("list", on(db, &["list"])),
            ("list --target", on(db, &["list", "--target", "card 0"])),
            ("show latest", on(db, &["show", "latest"])),
            ("report latest", on(db, &["report", "latest", "-o", &pages])),
            ("compare card=", on(db, &["compare", &sides[0], &sides[1]])),
            ("compare date=", on(db, &["compare", &days[0], &days[1]])),
            (
                "compare latest latest:2",
                on(db, &["compare", "latest", "latest:2"]),
            ),
            ("export", on(db, &["export", "-o", &export])),
            ("import of the export", on(again, &["import", &export])),
            ("the same again", on(again, &["import", &export])),
            ("import of a table", on(again, &["import", &table])),
            ("import of one log", on(db, &["import", &log])),
            ("the same log again", on(db, &["import", &log])),
        ] {
            let cost = measured(&mut command)?;
            self.print(name, &cost);
            over(name, cost.memory, &mut broken);
            if name.ends_with("log") && cost.time > ONE {
                broken.push(format!("{runs} runs: {name}: {:.0?}", cost.time));
            }
            if name == "export" {
                let bytes = std::fs::metadata(&store)?.len();
                let text = std::fs::metadata(&export)?.len();
                println!("  {} bytes a run, {} as text", bytes / runs, text / runs);
            }
        }
        for file in [&export, again[1]] {
            std::fs::remove_file(file).with_context(|| format!("cannot remove {file}"))?;
        }
        let size = self.campaign(db)?;
        if size > PAGE {
            broken.push(format!("{runs} runs: page of the campaign: {size} bytes"));
        }
        Ok(broken)
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

    /// Exports all records of a database.
    fn records(&self, db: &str) -> Result<Vec<Value>> {
        let text = workspace::output(&mut self.command(&["--db", db, "export"]))?;
        let lines = text.lines().map(serde_json::from_str);
        Ok(lines.collect::<Result<_, _>>()?)
    }

    /// Imports a published log into a database of its own; returns its record.
    fn template(&self) -> Result<Value> {
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

    /// Stores a campaign of many points beside the other runs; measures its report, and returns the size of the page.
    fn campaign(&self, db: [&str; 2]) -> Result<u64> {
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
        let filled = self.fill("store.db", cards)?;
        self.print("import of a campaign", &filled);
        let page = self.path("campaign.html");
        let report = ["campaign", "report", "scale.toml", "-o", &page];
        let words = db.iter().chain(&report).copied().collect::<Vec<_>>();
        let cost = measured(&mut self.command(&words))?;
        self.print("campaign report", &cost);
        let size = std::fs::metadata(&page)?.len();
        println!("  page of {} points: {size} bytes", CARDS * WORKLOADS);
        Ok(size)
    }
}

/// Returns copies of a record.
fn copies(template: &Value, runs: u64) -> impl Iterator<Item = String> + Send + use<> {
    let mut template = template.clone();
    // Stand-ins are replaced as text, which is faster than to write each record as JSON.
    for (place, standin) in [
        ("/id", "@id@"),
        ("/series", "@series@"),
        ("/environment/hostname", "@host@"),
        ("/target/label", "@label@"),
    ] {
        set(&mut template, place, standin.into());
    }
    set(&mut template, "/started_unix_ms", u64::MAX.into());
    set(&mut template, "/repeat", u32::MAX.into());
    let text = line(&template);
    (0..runs).map(move |run| {
        let started = STARTED.0 + run * STARTED.1;
        let label = run / RUNS_OF_LABEL;
        text.replace("@id@", &id(run))
            .replace("@series@", &id(run - run % REPEATS))
            .replace("@host@", &format!("host {}", label % 20))
            .replace("@label@", &format!("card {label}"))
            .replace(&u64::MAX.to_string(), &started.to_string())
            .replace(&u32::MAX.to_string(), &(run % REPEATS).to_string())
    })
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
fn of_card(record: &Value, card: u64) -> String {
    let mut record = record.clone();
    let id = |of: &Value| {
        let of = of.as_str().unwrap_or_default();
        format!("{card:08x}{}", of.get(8..).unwrap_or_default())
    };
    for place in ["/id", "/series"] {
        let new = record.pointer(place).map(id).unwrap_or_default();
        set(&mut record, place, new.into());
    }
    let label = format!("card {card}");
    set(&mut record, "/campaign/card", label.clone().into());
    set(&mut record, "/target/label", label.into());
    line(&record)
}

/// Writes a record as an export does: the format first, by which an import recognizes it.
fn line(record: &Value) -> String {
    let mut rest = record.clone();
    let format = rest.as_object_mut().and_then(|rest| rest.remove("format"));
    let text = rest.to_string();
    let (format, text) = (
        format.unwrap_or_default(),
        text.get(1..).unwrap_or_default(),
    );
    format!("{{\"format\":{format},{text}")
}

/// Sets a member of an object.
fn set(record: &mut Value, place: &str, value: Value) {
    let (object, name) = place.rsplit_once('/').unwrap_or_default();
    if let Some(Value::Object(object)) = record.pointer_mut(object) {
        object.insert(name.to_owned(), value);
    }
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
