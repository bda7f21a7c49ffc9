//! `cargo xtask scale`: measures time and memory of the commands on databases of 1,000, 100,000 and 1,000,000 runs.
//!
//! The runs are copies of a published result with their own IDs, times, hosts and labels, imported through a pipe. The
//! first database gets a campaign of 8,000 points on a simulated card too. Limits of memory and size always hold; those
//! of time are for an idle machine, so the fastest of several imports counts. `--keep=FILE` keeps the last database.

mod copies;

use self::copies::{RUNS_OF_LABEL, copies, day, of_card};
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
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

/// Limits of the size of a quick run and of a row of a table in the database.
const QUICK_RUN: u64 = 12_000;
const TABLE_ROW: u64 = 1_000;

/// Number of quick runs that are measured.
const QUICK_RUNS: u64 = 20;

/// Limits of the size of the page of a campaign, and of the memory of its report.
const PAGE: u64 = 5_000_000;
const PAGE_MEMORY: u64 = 200 << 20;

/// Cards and workloads of the campaign: 8,000 points.
const CARDS: u64 = 100;
const WORKLOADS: u64 = 80;

pub(crate) fn main(args: &[String]) -> Result<()> {
    let (mut runs, mut program, mut kept) = (RUNS.to_vec(), None, None);
    for word in args {
        match word.split_once('=') {
            Some(("--keep", file)) => kept = Some(PathBuf::from(file)),
            Some(("--runs", list)) => {
                let counts = list.split(',').map(str::parse);
                runs = counts.collect::<Result<_, _>>()?;
            }
            Some(("--program", file)) => program = Some(PathBuf::from(file)),
            _ => bail!(
                "unknown argument {word}: expected --runs=1000,100000, --program=FILE or --keep=FILE"
            ),
        }
    }
    let program = match program {
        Some(program) => program,
        None => workspace::released_program()?,
    };
    let mut broken = Vec::new();
    let last = runs.len();
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
            broken.extend(bench.quick_runs()?);
        }
        if let Some(file) = kept.as_ref().filter(|_| number + 1 == last) {
            bench.keep(file)?;
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
        let (mut broken, mut broken_sizes) = (Vec::new(), Vec::new());
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
            ] {
                check(name, &self.measured_on(&again, &["import", file])?);
            }
            let before = std::fs::metadata(&again)?.len();
            check(
                "import of a table",
                &self.measured_on(&again, &["import", &table])?,
            );
            let row = (std::fs::metadata(&again)?.len() - before) / (runs / 10).max(1);
            println!("  {row} bytes a row of the table in the database");
            if row > TABLE_ROW {
                broken_sizes.push(format!("{runs} runs: a row of a table: {row} bytes"));
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
        broken.append(&mut broken_sizes);
        Ok(broken)
    }

    /// Measures the size of a run of `bench --quick` in the database; returns what is over its limit.
    fn quick_runs(&self) -> Result<Vec<String>> {
        let db = self.path("quick.db");
        let size = |runs: u64| -> Result<u64> {
            let repeats = format!("--repeat={runs}");
            let bench = [
                "bench",
                "--quick",
                "--simulate=card.json",
                "--quiet",
                &repeats,
            ];
            self.measured_on(&db, &bench)?;
            Ok(std::fs::metadata(&db)?.len())
        };
        let first = size(1)?;
        let run = (size(QUICK_RUNS)? - first) / QUICK_RUNS;
        println!("  {run} bytes a quick run in the database");
        Ok(match run > QUICK_RUN {
            true => vec![format!("a quick run: {run} bytes")],
            false => Vec::new(),
        })
    }

    /// Moves the database to a file.
    fn keep(&self, file: &Path) -> Result<()> {
        let store = self.place.join("store.db");
        let moved = std::fs::rename(&store, file).or_else(|_| {
            // Another file system.
            std::fs::copy(&store, file).map(drop)
        });
        moved.with_context(|| format!("cannot write {}", file.display()))?;
        println!("  kept as {}", file.display());
        Ok(())
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
        pipe(&mut command, lines)
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
        if filled.memory > MEMORY {
            broken.push(format!("import of a campaign: {} MiB", filled.memory >> 20));
        }
        if size > PAGE {
            broken.push(format!("page of the campaign: {size} bytes"));
        }
        if cost.memory > PAGE_MEMORY {
            broken.push(format!("report of the campaign: {} MiB", cost.memory >> 20));
        }
        Ok(broken)
    }
}

/// Writes copies of a record to the standard input of an import.
///
/// # Errors
/// If the record has an unknown form, or the import fails.
pub(crate) fn pipe_copies(command: &mut Command, template: &str, runs: u64) -> Result<()> {
    pipe(command, copies(template, runs)?).map(drop)
}

/// Writes lines to the standard input of a command.
fn pipe(command: &mut Command, lines: impl Iterator<Item = String> + Send) -> Result<CommandCost> {
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
        let memory = wait(&mut child, command)?;
        let written = writer.join();
        written.map_err(|_| anyhow::anyhow!("the writer panicked"))??;
        Ok(CommandCost {
            time: begun.elapsed(),
            memory,
        })
    })
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
