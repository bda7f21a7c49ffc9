//! `cargo xtask scale`: measures a store of ten thousand results, with the release build.
//!
//! Imports and lists the published logs, each with a unique process ID. Times on a busy machine mean little; the limits
//! are for an idle one.

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
    let runs = last.strip_suffix(" run(s) imported.");
    let runs: usize = runs.context("import does not print how many")?.parse()?;
    ensure!(
        runs >= LOGS,
        "only {runs} runs were imported of {LOGS} logs"
    );
    let (list, listing) = timed(&mut hakaru(&["list", "--limit", "10000"]))?;
    let (_, page) = timed(&mut hakaru(&["report", "latest", "--output", "-"]))?;
    println!("import of {LOGS} logs with {runs} runs: {import:.1?}, wanted under {IMPORT:?}");
    println!("list of {} lines: {listing:.2?}", list.lines().count());
    println!("page of one among them: {page:.2?}, wanted under {PAGE:?}");
    std::fs::remove_dir_all(&place)
        .with_context(|| format!("cannot remove {}", place.display()))?;
    ensure!(
        import < IMPORT && page < PAGE,
        "too slow for a quiet machine"
    );
    Ok(())
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
