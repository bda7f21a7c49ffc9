//! Development tasks of the workspace: `cargo xtask COMMAND`.
//!
//! Each command is a module with a function that takes the remaining arguments; [`COMMANDS`] is the dispatch table.
//! Nothing here is shipped to users.

#![forbid(unsafe_code)]

mod anatomy;
mod ci;
mod cross;
mod dist;
mod docs;
mod duckdb;
mod fleet;
mod fuzz;
mod mutants;
mod openapi;
mod pages;
mod parity;
mod perf;
mod rig;
mod sanitize;
mod scale;
mod serve;
mod test_output;
mod tidy;
mod workspace;

use std::process::ExitCode;

/// A command: its name, description and function.
type TaskRow = (
    &'static str,
    &'static str,
    fn(&[String]) -> anyhow::Result<()>,
);

const COMMANDS: &[TaskRow] = &[
    (
        "anatomy",
        "anatomies of random simulated cards: --models=20, --seed=S, --disturbance=noise",
        anatomy::main,
    ),
    (
        "ci",
        "everything that continuous integration checks",
        ci::main,
    ),
    (
        "cross",
        "check the workspace for ARM, and what reads results for FreeBSD and macOS",
        cross::main,
    ),
    (
        "dist",
        "build the files of a release: static binaries, tarballs, .deb",
        dist::main,
    ),
    (
        "dist-check",
        "install and run the files of a release in other systems",
        dist::check::main,
    ),
    (
        "docs",
        "write the generated pages of docs/ anew (--check: only compare)",
        docs::main,
    ),
    (
        "duckdb",
        "query exported runs with DuckDB, and compare the answers: --repeats=3",
        duckdb::main,
    ),
    (
        "fio-parity",
        "compare our fio with the real one, job by job",
        parity::main,
    ),
    (
        "fleet",
        "a campaign on many hosts that are killed: --agents=10,100,1000, --program=FILE",
        fleet::main,
    ),
    (
        "fuzz",
        "feed the readers with noise: --seconds=60, and targets by name",
        fuzz::main,
    ),
    (
        "miri",
        "run tests of unsafe code in an interpreter (needs nightly)",
        sanitize::miri,
    ),
    (
        "mutants",
        "change the code, and count what no test notices: model, analysis, guard (--together: an hour)",
        mutants::main,
    ),
    (
        "pages",
        "look at every kind of page in a real browser (FILE…, --shots FOLDER)",
        pages::main,
    ),
    (
        "perf",
        "measure ours, fio and bare loops, interleaved; trace: what tracing costs",
        perf::main,
    ),
    (
        "rig",
        "test on simulated cards in real machines: setup, smoke, test, pi",
        rig::main,
    ),
    (
        "scale",
        "time and memory with many runs: --runs=1000,100000, --program=FILE",
        scale::main,
    ),
    (
        "serve",
        "look at the pages of hakaru serve in a real browser: --shots=DIR, --program=FILE; or --load, --disturbance",
        serve::main,
    ),
    ("tidy", "check the rules of the project", tidy::main),
    (
        "tsan",
        "run the tests of the engine with ThreadSanitizer",
        sanitize::tsan,
    ),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((_, _, run)) = args
        .first()
        .and_then(|name| COMMANDS.iter().find(|(known, ..)| known == name))
    else {
        for (name, about, _) in COMMANDS {
            eprintln!("cargo xtask {name:<12} {about}");
        }
        return ExitCode::FAILURE;
    };
    match run(&args[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
