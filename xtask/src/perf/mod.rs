//! `cargo xtask perf`: measures hakaru, fio and minimal loops in turn, and writes the table in `docs/METHOD.md`.
//!
//! `cargo xtask perf trace` measures what tracing costs.
//!
//! Only ratios within one round are meaningful on a shared machine, so every contestant runs once per round, in turn,
//! pinned to one CPU, and the ratio is computed per round.

mod cases;
mod contest;
mod extras;
mod page;
mod trace;

use crate::workspace;
use anyhow::{Context, Result, bail};
use contest::{Contest, Measured, PerfSetup};
use std::path::PathBuf;

/// Default number of rounds and seconds per round (`--rounds=N`, `--seconds=S`). Single runs vary
/// by 10% on shared machines: many short rounds are better than a few long ones.
const ROUNDS: usize = 21;
const SECONDS: f64 = 0.4;

/// Command-line options.
pub(crate) struct PerfOptions {
    rounds: usize,
    seconds: f64,
    only: Option<String>,
    /// A second fio to measure next to the installed one.
    newer: Option<PathBuf>,
    write: bool,
}

impl PerfOptions {
    fn parse(words: &[String]) -> Result<PerfOptions> {
        let mut wishes = PerfOptions {
            rounds: ROUNDS,
            seconds: SECONDS,
            only: None,
            newer: None,
            write: true,
        };
        for word in words {
            match word.split_once('=') {
                Some(("--rounds", n)) => {
                    wishes.rounds = n.parse().context("--rounds takes a number")?
                }
                Some(("--seconds", n)) => {
                    wishes.seconds = n.parse().context("--seconds takes a number")?
                }
                Some(("--only", name)) => wishes.only = Some(name.to_owned()),
                Some(("--newer-fio", path)) => wishes.newer = Some(PathBuf::from(path)),
                _ if word == "--no-write" => wishes.write = false,
                _ => bail!(
                    "perf takes --rounds=N --seconds=S --only=TEXT --newer-fio=PATH --no-write, and not {word}"
                ),
            }
        }
        Ok(wishes)
    }
}

/// Builds and measures, and prints and writes the table.
pub(crate) fn main(words: &[String]) -> Result<()> {
    if let Some((first, others)) = words.split_first()
        && first == "trace"
    {
        return trace::main(others);
    }
    let wishes = PerfOptions::parse(words)?;
    let bench = PerfSetup::prepare(wishes.newer.clone())?;
    let mut results = Vec::new();
    for contest in cases::contests(&bench) {
        if wishes
            .only
            .as_ref()
            .is_some_and(|only| !contest.name.contains(only.as_str()))
        {
            continue;
        }
        eprintln!("{} …", contest.name);
        let measured = contest.run(&wishes)?;
        print!("{}", page::contest(&contest, &measured));
        results.push((contest, measured));
    }
    let instructions = if wishes.only.is_none() {
        extras::instructions(&bench)?
    } else {
        Vec::new()
    };
    let mut costs = if wishes.only.is_none() {
        extras::start_and_memory(&bench, wishes.rounds)?
    } else {
        Vec::new()
    };
    if wishes.only.as_ref().is_none_or(|only| only == "files") {
        costs.extend(extras::many_files(&bench, wishes.rounds)?);
    }
    print!("{}{}", page::lines(&instructions), page::lines(&costs));
    let missed = verdicts(&results, &instructions, &costs);
    if wishes.write && wishes.only.is_none() {
        page::write(
            &workspace::root().join("docs/METHOD.md"),
            &bench,
            &wishes,
            &results,
            &instructions,
            &costs,
        )?;
        println!("written to docs/METHOD.md");
    }
    let total = missed.0 + missed.1.len();
    println!("{} of {total} bounds hold", missed.0);
    for line in &missed.1 {
        println!("MISSED: {line}");
    }
    if missed.1.is_empty() {
        Ok(())
    } else {
        bail!("{} bounds were missed", missed.1.len())
    }
}

/// Number of bounds that hold, and a list of those that do not.
fn verdicts(
    results: &[(Contest, Measured)],
    instructions: &[extras::ExtraFigure],
    costs: &[extras::ExtraFigure],
) -> (usize, Vec<String>) {
    let mut held = 0;
    let mut missed = Vec::new();
    for (contest, measured) in results {
        for bound in &contest.bounds {
            let judged = bound.judge(measured);
            if judged.holds {
                held += 1;
                continue;
            }
            missed.push(format!(
                "{}: {} is {:.2}, wanted {}",
                contest.name, bound.name, judged.ratio.middle, judged.wanted
            ));
        }
    }
    for line in instructions.iter().chain(costs) {
        match line.holds() {
            Some(true) => held += 1,
            Some(false) => missed.push(line.text()),
            None => {}
        }
    }
    (held, missed)
}
