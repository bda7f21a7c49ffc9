//! `cargo xtask duckdb`: runs the queries of docs/PARQUET.md with DuckDB over an exported dataset, and compares rates and
//! percentiles with those of hakaru.
//!
//! DuckDB comes from PyPI, into a virtual environment below `target`. `--repeats=N` sets the number of runs of each card.

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::finding::Summary;
use hakaru_store::Store;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The queries.
const DOCUMENT: &str = "docs/PARQUET.md";

/// Runs the queries that are its arguments, and prints their rows as JSON.
const SCRIPT: &str = "
import duckdb, json, sys
for query in sys.argv[1:]:
    table = duckdb.sql(query)
    rows = [dict(zip(table.columns, row)) for row in table.fetchall()]
    print(json.dumps(rows, default=str))
";

/// Models of two cards, whose percentiles differ.
const CARDS: [(&str, u64); 2] = [("alpha", 90_000_000), ("beta", 40_000_000)];

/// Largest difference of a rate, as a fraction: that of the order of a sum.
const SAME: f64 = 1e-9;

/// Largest difference of a percentile: a bucket of the histogram. Those of hakaru never exceed the largest latency.
const BUCKET: f64 = 1.0 / 128.0;

pub(crate) fn main(args: &[String]) -> Result<()> {
    let mut repeats = 3_u32;
    for word in args {
        match word.split_once('=') {
            Some(("--repeats", number)) => repeats = number.parse().context("--repeats=N")?,
            _ => bail!("unknown argument {word}: --repeats=N"),
        }
    }
    let folder = tempfile::tempdir()?;
    let data = folder.path().join("data");
    let database = folder.path().join("results.db");
    let program = measured(folder.path(), &database, repeats)?;
    let out = Command::new(&program)
        .args(["export", "--db"])
        .arg(&database)
        .arg("--parquet")
        .arg(&data)
        .output()?;
    ensure!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    print!("{}", String::from_utf8_lossy(&out.stdout));
    let text = std::fs::read_to_string(workspace::root().join(DOCUMENT))?;
    let queries = queries(&text, &data);
    let out = Command::new(python()?)
        .args(["-c", SCRIPT])
        .args(&queries)
        .output()?;
    ensure!(
        out.status.success(),
        "DuckDB: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    let lines = String::from_utf8(out.stdout)?;
    let answers: Vec<serde_json::Value> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    ensure!(
        answers.len() == queries.len(),
        "{} of {} queries answered",
        answers.len(),
        queries.len()
    );
    for (query, rows) in queries.iter().zip(&answers) {
        let rows = rows.as_array().map_or(0, Vec::len);
        ensure!(rows > 0, "no rows: {query}");
        println!("{rows} rows: {}", query.lines().next().unwrap_or_default());
    }
    let compared = compare(&answers, &database)?;
    println!("{compared} rates and percentiles are those of hakaru");
    Ok(())
}

/// Measures two simulated cards; returns the program.
fn measured(folder: &Path, database: &Path, repeats: u32) -> Result<PathBuf> {
    let program = workspace::whole_program()?;
    for (name, rate) in CARDS {
        let model = folder.join(format!("{name}.json"));
        let text = format!(
            "{{\"name\": \"{name}\", \"capacity\": 1073741824, \"block_size\": 512, \"read_rate\": {rate}, \
             \"write_rate\": 20000000, \"jitter_permille\": 100}}"
        );
        std::fs::write(&model, text)?;
        let status = Command::new(&program)
            .args([
                "bench",
                "--quiet",
                "--quick",
                "--repeat",
                &repeats.to_string(),
                "--db",
            ])
            .arg(database)
            .arg("--simulate")
            .arg(&model)
            .status()?;
        ensure!(status.success(), "bench of {name}: {status}");
    }
    Ok(program)
}

/// Returns the queries of the document, over this dataset.
fn queries(text: &str, data: &Path) -> Vec<String> {
    let mut queries = Vec::new();
    for part in text.split("```sql\n").skip(1) {
        let query = part.split("```").next().unwrap_or_default();
        queries.push(query.replace("'data/", &format!("'{}/", data.display())));
    }
    queries
}

/// Returns a Python that has DuckDB.
fn python() -> Result<PathBuf> {
    let folder = workspace::root().join("target/duckdb");
    let python = folder.join("bin/python");
    if !python.exists() {
        let status = Command::new("python3")
            .args(["-m", "venv"])
            .arg(&folder)
            .status();
        ensure!(
            status.is_ok_and(|status| status.success()),
            "python3 -m venv failed; help: apt install python3-venv"
        );
    }
    let status = Command::new(&python)
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "duckdb",
        ])
        .status()?;
    ensure!(status.success(), "pip install duckdb failed");
    Ok(python)
}

/// Compares the rates of the first query, and the percentiles of the second one, with those of hakaru; returns how many.
fn compare(answers: &[serde_json::Value], database: &Path) -> Result<u32> {
    let store = Store::read(database)?;
    let mut compared = 0;
    for (name, _) in CARDS {
        let series = store.series_called(name)?;
        let runs = match series.first() {
            Some(series) => store.series(series)?,
            None => bail!("{name} is not stored"),
        };
        let summary = hakaru_analysis::summarize(&runs);
        let of = |rows: &serde_json::Value, phase: &str, op: &str, column: &str| {
            let row = rows
                .as_array()?
                .iter()
                .find(|row| row["card"] == name && row["phase"] == phase && row["op"] == op)?;
            row[column].as_f64()
        };
        compared += compare_card(&summary, &|query, phase, op, column| {
            of(&answers[query], phase, op, column)
        })?;
    }
    ensure!(compared > 0, "nothing was compared");
    Ok(compared)
}

/// Value of a query for a phase and an operation, by column.
type Lookup<'a> = &'a dyn Fn(usize, &str, &str, &str) -> Option<f64>;

fn compare_card(summary: &Summary, found: Lookup<'_>) -> Result<u32> {
    let mut compared = 0;
    for phase in &summary.phases {
        let op = phase.op.name();
        let quantile = |share: f64| {
            let mut all = phase.latency.iter().flat_map(|latency| &latency.quantiles);
            all.find(|(of, _)| (of.share() - share).abs() < 1e-9)
                .map(|(_, value)| value.0 as f64)
        };
        let wanted = [
            (0, "mb_per_s", Some(phase.bandwidth.mean / 1e6), SAME),
            (0, "iops", Some(phase.iops.mean), SAME),
            (1, "p50_ns", quantile(0.5), BUCKET),
            (1, "p99_ns", quantile(0.99), BUCKET),
        ];
        for (query, column, own, most) in wanted {
            let Some(own) = own else { continue };
            let other = found(query, &phase.phase, op, column);
            ensure!(
                other.is_some_and(|other| (other - own).abs() <= own * most),
                "{} {op} {column}: {own} here, {other:?} by DuckDB",
                phase.phase
            );
            compared += 1;
        }
    }
    Ok(compared)
}
