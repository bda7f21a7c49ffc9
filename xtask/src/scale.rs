//! `cargo xtask scale`: measures a store of ten thousand results, with the release build.
//!
//! Imports the published logs, each with a unique process ID, and prints time and memory of the commands that read and
//! write the database. Times on a busy machine mean little; the limits are for an idle one.

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of logs to import.
const LOGS: usize = 10_000;

/// Time limit to import all logs in one call.
const IMPORT: Duration = Duration::from_secs(20);

/// Time limit to list one page of the newest results.
const PAGE: Duration = Duration::from_secs(5);

pub(crate) fn main(args: &[String]) -> Result<()> {
    if let Some(word) = args.first() {
        bail!("scale takes no words, and not {word}");
    }
    workspace::run(workspace::cargo().args(["build", "--release", "--package", "hakaru"]))?;
    let place = workspace::target().join("scale");
    // Files of an earlier run would already be imported, and cost nothing.
    let _ = std::fs::remove_dir_all(&place);
    let logs = place.join("logs");
    std::fs::create_dir_all(&logs).with_context(|| format!("cannot make {}", logs.display()))?;
    write_logs(&logs)?;
    let hakaru = |words: &[&str]| {
        let mut command = Command::new(workspace::target().join("release/hakaru"));
        command.arg("--db").arg(place.join("store.db")).args(words);
        command.stdin(Stdio::null());
        command
    };
    let folder = logs.to_string_lossy();
    let (said, import) = timed(&mut hakaru(&["import", &folder]))?;
    // A log may hold more than one result.
    let last = said.lines().next_back().unwrap_or_default();
    let runs = last.strip_suffix(" runs imported.");
    let runs: usize = runs.context("import does not print how many")?.parse()?;
    ensure!(
        runs >= LOGS,
        "only {runs} runs were imported of {LOGS} logs"
    );
    let export = place.join("export.jsonl").to_string_lossy().into_owned();
    let archive = place.join("archive.db").to_string_lossy().into_owned();
    let mut page = Duration::ZERO;
    println!("{:<44} {:>9} {:>11}", "command", "time", "memory");
    for words in [
        &["list", "--limit", "10000"][..],
        &["show", "latest"],
        &["report", "latest", "--output", "-"],
        &["compare", "date=2000..", "date=1970.."],
        &["export", "--output", &export],
        &["--db", &archive, "import", &export],
        &["--db", &archive, "import", &export],
        &["archive", &archive, "--keep", "100"],
    ] {
        let (time, memory) = measured(&mut hakaru(words))?;
        page = if words[0] == "report" { time } else { page };
        let names = words.iter().map(|word| match Path::new(word).file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => (*word).to_owned(),
        });
        let line = names.collect::<Vec<_>>().join(" ");
        println!("{line:<44} {time:>9.2?} {:>7} MiB", memory >> 20);
    }
    let size = std::fs::metadata(&archive)?.len();
    println!("a run takes {} bytes in the database", size / runs as u64);
    println!("import of {LOGS} logs with {runs} runs: {import:.1?}, wanted under {IMPORT:?}");
    println!("page of one among them: {page:.2?}, wanted under {PAGE:?}");
    std::fs::remove_dir_all(&place)
        .with_context(|| format!("cannot remove {}", place.display()))?;
    ensure!(
        import < IMPORT && page < PAGE,
        "too slow for a quiet machine"
    );
    Ok(())
}

/// Runs a command without its output; returns its time and the most memory it had.
fn measured(command: &mut Command) -> Result<(Duration, u64)> {
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        most = most.max(kib.unwrap_or(0) << 10);
        std::thread::sleep(Duration::from_millis(2));
    };
    ensure!(ended.success(), "{command:?} failed");
    Ok((begun.elapsed(), most))
}

/// Writes the published logs in turn.
fn write_logs(folder: &Path) -> Result<()> {
    let source = workspace::root().join("crates/dialects/tests/logs");
    let mut texts = Vec::new();
    for entry in
        std::fs::read_dir(&source).with_context(|| format!("cannot read {}", source.display()))?
    {
        let text = std::fs::read_to_string(entry?.path())?;
        // Only logs with a process ID can be made unique.
        texts.extend(
            text.split_once("pid=")
                .map(|(before, after)| (before.to_owned(), after.to_owned())),
        );
    }
    ensure!(
        !texts.is_empty(),
        "there are no logs in {}",
        source.display()
    );
    for (number, (before, after)) in (0..LOGS).zip(texts.iter().cycle()) {
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        std::fs::write(
            folder.join(format!("{number:05}.txt")),
            format!("{before}pid={}{rest}", number + 1),
        )?;
    }
    Ok(())
}

fn timed(command: &mut Command) -> Result<(String, Duration)> {
    let begun = Instant::now();
    let said = workspace::output(command)?;
    Ok((said, begun.elapsed()))
}
