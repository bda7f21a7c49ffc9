//! `cargo xtask serve`: looks at the pages of `hakaru serve` in a real browser, while nothing runs and while something
//! does.
//!
//! Every page that links from the first page reach is loaded in English and Japanese, in light and dark mode, 360 and
//! 1280 pixels wide: no browser errors, no horizontal scrolling, readable text, no violation found by axe-core, and every
//! control is reached by the tabulator key. Then a campaign begins on a page, and another one is followed from start to
//! end while its server is killed, its question is answered in the page, and a disk appears and leaves while the page
//! looks on.
//!
//! `--scenes` leaves out the pages in all windows, and `--only=anatomy` all others than those of a kind. `--load` measures a server with a large database under load instead,
//! and `--disturbance` whether a browser disturbs what is measured; both use a release build.

mod check;
mod disturbance;
mod fixture;
mod http;
mod load;
mod scenes;
mod server;

use crate::pages::{PROGRAMS, axe, browser::Browser};
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use check::PageChecks;
use server::ServeProcess;
use std::path::PathBuf;

/// Runs of the database of `--load`.
const RUNS: u64 = 100_000;

/// Arguments of the command.
struct PageCheckArgs {
    shots: Option<PathBuf>,
    program: Option<PathBuf>,
    /// Number of runs of the database under load.
    load: Option<u64>,
    disturbance: bool,
    /// Whether only what changes while the page looks on is checked.
    only_scenes: bool,
    /// The only kind of pages that are checked, without what changes while the page looks on.
    only: Option<String>,
}

impl PageCheckArgs {
    fn read(args: &[String]) -> Result<PageCheckArgs> {
        let mut read = PageCheckArgs {
            shots: None,
            program: None,
            load: None,
            disturbance: false,
            only_scenes: false,
            only: None,
        };
        for arg in args {
            match arg.split_once('=') {
                Some(("--shots", dir)) => read.shots = Some(dir.into()),
                Some(("--program", file)) => read.program = Some(file.into()),
                Some(("--only", kind)) => read.only = Some(kind.to_owned()),
                Some(("--load", runs)) => read.load = Some(runs.parse()?),
                None if arg == "--load" => read.load = Some(RUNS),
                None if arg == "--disturbance" => read.disturbance = true,
                None if arg == "--scenes" => read.only_scenes = true,
                _ => bail!(
                    "{arg} is not known; there are --shots=DIR, --program=FILE, --scenes, --only=KIND, --load, --load=RUNS and --disturbance"
                ),
            }
        }
        Ok(read)
    }
}

/// Checks the pages.
///
/// # Errors
/// If there is no browser, the server does not start, or a check fails.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let args = PageCheckArgs::read(args)?;
    if args.load.is_some() || args.disturbance {
        let program = match args.program {
            Some(program) => program,
            None => workspace::released_program()?,
        };
        return match args.load {
            Some(runs) => load::main(&program, runs),
            None => disturbance::main(&program),
        };
    }
    let found = PROGRAMS
        .iter()
        .find_map(|name| workspace::find_program(name));
    let browser = found.with_context(|| {
        let names = PROGRAMS.join(", ");
        format!("no browser was found ({names}): apt-get install chromium")
    })?;
    let program = match args.program {
        Some(program) => program,
        None => workspace::tested_program()?,
    };
    let axe = axe::script();
    if let Err(because) = &axe {
        println!("skipped: axe-core, {because:#}");
    }
    if let Some(dir) = &args.shots {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let home = fixture::stored_results(&program)?;
    let profile = tempfile::tempdir()?;
    let mut browser = Browser::start(&browser, profile.path())?;
    let mut checks = PageChecks::new(args.shots, axe.ok());
    let server = ServeProcess::start(&program, home.path())?;
    server.sign_in(&mut browser)?;
    let mut pages = checks.crawl(&mut browser, &server)?;
    if let Some(kind) = &args.only {
        pages.retain(|page| page.split(['/', '?']).nth(1) == Some(kind));
        ensure!(!pages.is_empty(), "--only={kind}: there is no such page");
    }
    if !args.only_scenes {
        checks.all_windows(&mut browser, &server, &pages)?;
    }
    if args.only.is_none() {
        scenes::benchmark(&mut browser, &server, &mut checks, home.path())?;
        scenes::newcomer(&mut browser, &server, &mut checks)?;
        scenes::new_campaign(&mut browser, &server, &mut checks)?;
        scenes::campaign(&mut browser, server, &mut checks, home.path())?;
    }
    let problems = checks.problems;
    ensure!(
        problems.is_empty(),
        "{} problems:\n  {}",
        problems.len(),
        problems.join("\n  ")
    );
    println!("{} pages of the server are correct", pages.len());
    Ok(())
}
