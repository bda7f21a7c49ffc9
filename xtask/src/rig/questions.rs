//! `cargo xtask rig questions`: four questions of published comparisons of cards, answered by traced runs on a simulated
//! card.
//!
//! What does FAT32 cost and why, why is F2FS faster than ext4 at random writes, where does the time of an fsync go, and is
//! the bus the limit? Each figure of the product is compared with the ledger of the card. The database, the records, the
//! pages with their pictures and the answers are in `target/rig/questions`.

mod answers;
mod bus;
mod point;

use super::checks::Checks;
use super::full::RigSetup;
use super::product::{self, ERASE, Product};
use super::traced::{self, GatedLedger, TracedMachine};
use super::{cards, setup};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use hakaru_rig::kit::{Arch, Kit};
use point::TracedPoint;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The campaign file, with the gates of each job to be inserted.
const LAYERS: &str = include_str!("questions/layers.toml");

const LIMIT: Duration = Duration::from_secs(600);

/// Repeat numbers from here on are traced runs.
const TRACED: u64 = 2_000_000;

/// Answers the questions.
///
/// # Errors
/// If a check fails, or a machine cannot be started.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let product = setup::program(Arch::X86_64, product::HOST, &mut args)?;
    ensure!(
        args.is_empty(),
        "cargo xtask rig questions takes nothing but --hakaru FILE"
    );
    setup::head_start();
    let mut checks = Checks::new();
    let out = fresh_dir()?;
    let rig = RigSetup {
        kit: Kit::usual(),
        hakaru: product.in_pc(),
    };
    checks.say("a campaign on raw, vfat, ext4 and F2FS, with one traced run of each workload");
    let points = layers(&rig, &out)?;
    let pages = Pages {
        product: &product,
        out: &out,
    };
    for point in &points {
        checks.check(&point.name(), || point.compare());
    }
    let findings = pages.findings(&points)?;
    let mut answers = answers::layers(&mut checks, &points, &findings);
    checks.say("one line and four lines between card and host");
    answers.push(bus::main(&rig, &mut checks, &pages)?);
    std::fs::write(out.join("answers.md"), answers.join("\n\n") + "\n")?;
    checks.check("the page of the campaign", || {
        let size = std::fs::metadata(out.join("layers.html"))?.len();
        ensure!(size > 100_000, "it has only {size} bytes");
        Ok(format!("{size} bytes"))
    });
    checks.say(&format!("answers and pages are in {}", out.display()));
    checks.conclude()
}

/// Creates the directory of the answers, without those of an earlier run.
fn fresh_dir() -> Result<PathBuf> {
    let dir = Kit::usual().dir().join("questions");
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    std::fs::create_dir_all(&dir)?;
    Ok(dir.canonicalize()?)
}

/// Inserts the gates of each job into a campaign file.
fn with_gates(file: &str) -> String {
    let (mut lines, mut job, mut workers) = (Vec::new(), "", 1);
    for line in file.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            (job, workers) = (name, 1);
        }
        if let Some(number) = line.strip_prefix("numjobs=") {
            workers = number.parse().unwrap_or(1);
        }
        if line == "GATES" {
            lines.extend(traced::gates(job, workers));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n") + "\n"
}

/// Runs the campaign, and returns its traced points with their ledgers.
fn layers(rig: &RigSetup, out: &Path) -> Result<Vec<TracedPoint>> {
    std::fs::write(out.join("layers.toml"), with_gates(LAYERS))?;
    let card = cards::paced(cards::slow())?;
    let mut guest = rig.with(&card).out(out).boot()?;
    let mut machine = TracedMachine::new(&mut guest, &card, &rig.hakaru)?;
    let over = Arc::new(AtomicBool::new(false));
    let (is_over, of_host, dir) = (Arc::clone(&over), Arc::clone(&card), out.to_owned());
    let host = std::thread::spawn(move || -> Result<Vec<GatedLedger>> {
        let mut ledgers = Vec::new();
        let is_over = || is_over.load(Ordering::Relaxed);
        while let Some(ledger) = traced::open_gates(&dir, &of_host, is_over)? {
            eprintln!("rig: run {} is done: {}", ledgers.len() + 1, ledger.job);
            ledgers.push(ledger);
        }
        Ok(ledgers)
    });
    let hakaru = format!("{} --db /tmp/layers.db", rig.hakaru);
    let script = format!(
        "export XDG_STATE_HOME=/tmp/state\ncd /tmp && {hakaru} campaign run /out/layers.toml {ERASE} >/out/run.log 2>&1 \
         && {hakaru} campaign report /out/layers.toml --output /out/layers.html >&2 \
         && {hakaru} export >/out/layers.jsonl || exit 1
         for file in /tmp/layers.db /tmp/layers.db-wal; do [ ! -f $file ] || cp $file /out/; done"
    );
    let done = machine.prepare_for(&script, LIMIT);
    over.store(true, Ordering::Relaxed);
    let ledgers = host
        .join()
        .ok()
        .context("the thread of the host panicked")?;
    let log = std::fs::read_to_string(out.join("run.log")).unwrap_or_default();
    done.with_context(|| log)?;
    guest.power_off()?;
    let exported = std::fs::read_to_string(out.join("layers.jsonl"))?;
    traced_points(&exported, ledgers?)
}

/// Joins records and ledgers, both in the order of the runs, and keeps those of traced runs.
fn traced_points(exported: &str, ledgers: Vec<GatedLedger>) -> Result<Vec<TracedPoint>> {
    let mut records = exported
        .lines()
        .map(product::record)
        .collect::<Result<Vec<Value>>>()?;
    records.sort_by_key(|record| record["started_unix_ms"].as_u64());
    ensure!(
        records.len() == ledgers.len(),
        "{} records, and {} runs on the card",
        records.len(),
        ledgers.len()
    );
    let pairs = records.iter().zip(ledgers);
    let traced = pairs.filter(|(record, _)| record["campaign"]["repeat"].as_u64() >= Some(TRACED));
    traced
        .map(|(record, ledger)| TracedPoint::new(record, ledger))
        .collect()
}

/// Pages of the product about the points.
struct Pages<'a> {
    product: &'a Product,
    out: &'a Path,
}

impl Pages<'_> {
    fn hakaru(&self, database: &Path) -> Command {
        let mut command = Command::new(self.product.file());
        command.arg("--db").arg(database).current_dir(self.out);
        command
    }

    /// What the product finds about a run. Writes its page and pictures, too.
    fn explain(&self, database: &Path, run: &str, stem: &Path) -> Result<Value> {
        let file = |suffix: &str| PathBuf::from(format!("{}{suffix}", stem.display()));
        let (json, page, pictures) = (file(".json"), file(".html"), file("-pictures"));
        let explain = |output: &Path| {
            let mut command = self.hakaru(database);
            command.args(["explain", run, "--output"]).arg(output);
            command
        };
        workspace::output(&mut explain(&json))?;
        workspace::output(explain(&page).arg("--charts").arg(pictures))?;
        let size = std::fs::metadata(&page)?.len();
        ensure!(size > 10_000, "{} has only {size} bytes", page.display());
        let text = std::fs::read_to_string(&json)?;
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", json.display()))
    }

    /// What the product finds about each point.
    fn findings(&self, points: &[TracedPoint]) -> Result<Vec<Value>> {
        let database = self.out.join("layers.db");
        let explain =
            |point: &TracedPoint| self.explain(&database, &point.id, &self.out.join(point.file()));
        points.iter().map(explain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_job_of_the_campaign_gets_its_gates() {
        let file = with_gates(LAYERS);
        assert!(!file.contains("GATES"));
        for workers in ["1-sequential", "1-appended", "16-sixteen"] {
            for gate in ["begin", "end"] {
                assert!(
                    file.contains(&format!("gate.sh {workers} {gate} ")),
                    "{file}"
                );
            }
        }
    }
}
