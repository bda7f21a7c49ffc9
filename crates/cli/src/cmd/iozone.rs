//! `hakaru iozone …` and `argv[0]` = `iozone`: a command line of iozone on our own engine.
//!
//! Results go to standard output as they come. A run is stored only when the environment asks for it: programs that
//! call iozone do not expect a database in a home directory.

mod files;
mod keep;
mod observer;
mod workbook;

use self::files::{FileCleanup, empty};
use self::keep::RunKeeper;
use self::observer::IozoneObserver;
use super::fio::{as_asked, refuse_devices_in_use};
use crate::exit::Exit;
use crate::stop;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anyhow::{Context, anyhow};
use hakaru_dialects::iozone::output::{self, HeadView, Results};
use hakaru_dialects::iozone::{self, IozoneAction, IozoneError, IozoneRequest, IozoneStep};
use hakaru_engine::{EngineReport, RunError};
use hakaru_model::job::Scenario;
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::record::Outcome;
use std::ffi::OsString;
use std::io::Write;
use std::sync::atomic::Ordering::Relaxed;

/// Runs one command line; the program's name is not among the arguments.
pub(crate) fn main(args: &[OsString]) -> Exit {
    let request = match iozone::parse(args) {
        Ok(IozoneAction::Run(request)) => request,
        Ok(IozoneAction::Print(text)) => {
            return if super::print(&text).is_ok() {
                Exit::Ok
            } else {
                Exit::Failed
            };
        }
        Err(error) => {
            complain_about(&error, args);
            return Exit::Failed;
        }
    };
    for warning in &request.warnings {
        anstream::eprintln!("iozone: {warning}");
    }
    let words = args.iter().map(|arg| arg.to_string_lossy().into_owned());
    let command: Vec<String> = std::iter::once("iozone".to_owned()).chain(words).collect();
    match carry_out(&request, &command.join(" ")) {
        Ok(exit) => exit,
        Err(error) => {
            anstream::eprintln!("iozone: {error:#}");
            Exit::Failed
        }
    }
}

/// Points at the word that was not understood.
fn complain_about(error: &IozoneError, args: &[OsString]) {
    let Some(at) = &error.at else {
        return anstream::eprintln!("iozone: {error}");
    };
    let words: Vec<String> = args
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let before: usize = words.iter().take(at.index).map(|word| word.len() + 1).sum();
    let source = words.join(" ");
    let end = (before + at.span.end).min(source.len());
    let start = (before + at.span.start).min(end);
    if !source.is_char_boundary(start) || !source.is_char_boundary(end) {
        return anstream::eprintln!("iozone: {error}");
    }
    let snippet = Snippet::source(source)
        .path("command line")
        .annotation(AnnotationKind::Primary.span(start..end));
    let report = [Level::ERROR
        .primary_title(error.to_string())
        .element(snippet)];
    anstream::eprintln!("{}", Renderer::styled().render(&report));
}

fn carry_out(request: &IozoneRequest, command: &str) -> anyhow::Result<Exit> {
    let cells = request.cells();
    // What cannot work is said before anything is printed or touched.
    for &cell in &cells {
        prepare(request, cell)?;
    }
    // From here on Ctrl-C keeps what was measured, and removes what was written.
    stop::flag();
    let mut out = std::io::stdout();
    let began = jiff::Zoned::now()
        .strftime("%a %b %e %H:%M:%S %Y")
        .to_string();
    let machine = machine();
    let view = HeadView {
        hakaru: env!("CARGO_PKG_VERSION"),
        began: &began,
        command,
        machine: &machine,
    };
    out.write_all(output::head(request, &view).as_bytes())?;
    let (mut kept, mut sweep) = (RunKeeper::begin(), FileCleanup::default());
    let ended = all_of(request, &cells, &mut sweep, &mut kept);
    // What was measured is kept, also where it could not be told.
    match (ended, kept.store(request)) {
        (ended, Ok(())) => ended,
        (Ok(_), Err(error)) => Err(error),
        (Err(first), Err(error)) => {
            anstream::eprintln!("iozone: {error:#}");
            Err(first)
        }
    }
}

/// Measures row after row, or group after group, and tells of each.
fn all_of(
    request: &IozoneRequest,
    cells: &[IozoneStep],
    sweep: &mut FileCleanup,
    kept: &mut RunKeeper,
) -> anyhow::Result<Exit> {
    let mut results = Results::default();
    for &cell in cells {
        let exit = measure(request, cell, sweep, kept, &mut results)?;
        if exit != Exit::Ok {
            return Ok(exit);
        }
        if stop::flag().load(Relaxed) {
            return interrupted();
        }
    }
    super::print(&output::tail(request, &results))?;
    if let Some(path) = request.workbook() {
        workbook::write(path, &output::reports(request, &results))?;
    }
    Ok(Exit::Ok)
}

fn interrupted() -> anyhow::Result<Exit> {
    super::print("\niozone: interrupted\n\nexiting iozone\n\n")?;
    Ok(Exit::Interrupted)
}

fn machine() -> String {
    let name = rustix::system::uname();
    let parts = [
        name.sysname(),
        name.nodename(),
        name.release(),
        name.version(),
        name.machine(),
    ];
    parts
        .map(|part| part.to_string_lossy().into_owned())
        .join(" ")
}

/// The scenario of a row or group, and its plan: whether it fits what is there now.
fn prepare(request: &IozoneRequest, cell: IozoneStep) -> anyhow::Result<(Scenario, Facts, Plan)> {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let scenario = request.scenario(cell, cpus);
    let mut facts = Facts::new();
    for path in scenario.paths() {
        facts.insert(path.clone(), hakaru_device::inspect(&path)?);
    }
    iozone::check_files(&scenario, &facts)?;
    let plan = Plan::resolve(&scenario, &facts).map_err(|error| anyhow!(iozone::cure(&error)))?;
    refuse_devices_in_use(&plan)?;
    Ok((scenario, facts, plan))
}

/// Runs the tests of one row or group, and prints each as it ends.
fn measure(
    request: &IozoneRequest,
    cell: IozoneStep,
    sweep: &mut FileCleanup,
    kept: &mut RunKeeper,
    results: &mut Results,
) -> anyhow::Result<Exit> {
    let (scenario, facts, _) = prepare(request, cell)?;
    if !request.keeps_files() {
        sweep.add(&scenario, &facts);
    }
    if request.empties_files() {
        empty(&scenario)?;
    }
    let (scenario, _, plan) = prepare(request, cell)?;
    let mut teller = IozoneObserver::new(request, cell, &scenario, results)?;
    let options = as_asked();
    let report = hakaru_engine::run(&plan, &options, &mut teller);
    let told = teller.end();
    let exit = verdict(&report);
    kept.add(scenario, report);
    told.context("cannot write the result")?;
    exit
}

/// How a row or group ended; errors are told.
fn verdict(report: &EngineReport) -> anyhow::Result<Exit> {
    for error in report
        .phases
        .iter()
        .flat_map(|p| &p.workers)
        .filter_map(|w| w.errors.first.first())
    {
        let errno = rustix::io::Errno::from_raw_os_error(error.errno);
        let hint = match errno {
            rustix::io::Errno::NOSPC => "; the file system is full: use a smaller -s",
            rustix::io::Errno::FBIG => {
                "; the file system cannot hold such a file: use a smaller -s"
            }
            _ => "",
        };
        let (action, len, offset, file) = (&error.action, error.len, error.offset.0, &error.file);
        anstream::eprintln!(
            "\niozone: {action} of {len} at byte {offset} of {file} failed: {errno}{hint}"
        );
    }
    match (&report.outcome, &report.error) {
        (Outcome::Interrupted, _) | (_, Some(RunError::StoppedEarly)) => interrupted(),
        (_, Some(RunError::NoDirect { path })) => {
            let path = path.display();
            Err(anyhow!(
                "{path} cannot be used with -I: its file system does not take O_DIRECT; leave -I out"
            ))
        }
        (_, Some(RunError::Memory { bytes, errno, .. })) => Err(anyhow!(
            "{bytes} bytes of memory for the records could not be had: {errno}; use a smaller -r"
        )),
        (_, Some(error)) => Err(anyhow!("{error}")),
        (Outcome::Failed { .. }, None) => Ok(Exit::Failed),
        (Outcome::Completed, None) => Ok(Exit::Ok),
    }
}
