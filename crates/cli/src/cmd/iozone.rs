//! `hakaru iozone …` and `argv[0]` = `iozone`: runs an iozone command line on the hakaru engine.
//!
//! Results are printed as they arrive.

mod files;
mod observer;
mod workbook;
mod xlsx;

use self::files::FileCleanup;
use self::observer::IozoneObserver;
use crate::exit::Exit;
use crate::front_end::{CalledAs, FrontEndOptions, RunStorage};
use crate::{live, stop};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use anyhow::{Context, anyhow};
use hakaru_campaign::{RunRequest, Session, SessionError, SessionPolicy};
use hakaru_dialects::iozone::output::{self, HeadView, Results};
use hakaru_dialects::iozone::{self, IozoneAction, IozoneError, IozoneRequest};
use hakaru_engine::{ClockChoice, RunError};
use hakaru_model::record::{IoError, Outcome, RunRecord};
use hakaru_store::live::LiveVerb;
use rustix::io::Errno;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

/// Runs the command line of `hakaru iozone`; `db` is the database that it names.
pub(crate) fn main_of_hakaru(args: &[OsString], db: Option<&Path>) -> Exit {
    with_options(args, CalledAs::Hakaru, db)
}

/// Runs the command line of a link named `iozone`. `args` does not include the program name.
pub(crate) fn main(args: &[OsString]) -> Exit {
    with_options(args, CalledAs::Link, None)
}

fn with_options(args: &[OsString], called: CalledAs, db: Option<&Path>) -> Exit {
    match FrontEndOptions::take(args, called) {
        Ok((options, args)) if options.trace.is_none() => {
            let storage = RunStorage {
                options,
                called,
                db,
            };
            run_line(&args, &storage)
        }
        Ok(_) => {
            anstream::eprintln!("iozone: --hakaru-trace works with `hakaru fio` only");
            Exit::Failed
        }
        Err(why) => {
            anstream::eprintln!("iozone: {}", hakaru_report::plain(&why));
            Exit::Failed
        }
    }
}

fn run_line(args: &[OsString], storage: &RunStorage<'_>) -> Exit {
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
    match carry_out(&request, &command.join(" "), storage) {
        Ok(exit) => exit,
        Err(error) => {
            anstream::eprintln!("iozone: {error:#}");
            Exit::Failed
        }
    }
}

/// Prints a parse error and marks the invalid word.
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

fn carry_out(
    request: &IozoneRequest,
    command: &str,
    storage: &RunStorage<'_>,
) -> anyhow::Result<Exit> {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let scenario = request.whole_scenario(cpus);
    // Report an impossible plan before anything is printed or written.
    let session = Session::inspect(&scenario)?;
    for cell in request.cells() {
        iozone::check_files(&request.scenario(cell, cpus), session.facts())?;
    }
    let session = session.plan(SessionPolicy::IOZONE);
    let session = session.map_err(|error| match error {
        SessionError::Plan(error) => anyhow!(iozone::cure(&error)),
        other => other.into(),
    })?;
    let mut store = storage.open("iozone")?;
    // From here on, Ctrl-C keeps the results and removes the test files.
    let stop = stop::flag();
    print_head(request, command)?;
    let files = match request.keeps_files() {
        true => FileCleanup::default(),
        false => FileCleanup::of(session.plan(), session.facts()),
    };
    let mut observer = IozoneObserver::new(request, files);
    let live = store.as_ref();
    let live = live.and_then(|store| live::begin(store.path(), LiveVerb::Iozone, &scenario.name));
    let run = RunRequest {
        live: live.clone(),
        ..RunRequest::single(ClockChoice::best(), stop)
    };
    let ran = session.run(run, store.as_mut(), &mut observer);
    let results = observer.end();
    let (record, error, unstored) = match ran {
        Ok(ran) => (Some(ran.record), ran.error, ran.unstored),
        Err(SessionError::Run(error)) => (None, Some(error), None),
        Err(error) => return Err(error.into()),
    };
    let exit = verdict(record.as_ref(), error);
    let ended = results
        .context("cannot write the result")
        .and_then(|results| end(request, &results, exit?));
    // Results are stored even if they could not be printed.
    match (unstored, record, &mut store) {
        (Some(unstored), ..) if ended.is_ok() => return Err(unstored.into()),
        (Some(unstored), ..) => anstream::eprintln!("iozone: {unstored}"),
        (None, Some(record), Some(store)) => {
            storage.finish("iozone", store, &record.series, live.as_ref())?
        }
        (None, ..) => {}
    }
    ended.map(|exit| live::ended(live.as_ref(), exit))
}

fn print_head(request: &IozoneRequest, command: &str) -> std::io::Result<()> {
    let began = jiff::Zoned::now()
        .strftime("%a %b %e %H:%M:%S %Y")
        .to_string();
    let view = HeadView {
        hakaru: env!("CARGO_PKG_VERSION"),
        began: &began,
        command,
        machine: &machine(),
    };
    std::io::stdout().write_all(output::head(request, &view).as_bytes())
}

/// Prints the text below the rows or groups, if all of them were measured.
fn end(request: &IozoneRequest, results: &Results, exit: Exit) -> anyhow::Result<Exit> {
    if exit == Exit::Ok {
        super::print(&output::tail(request, results))?;
        if let Some(path) = request.workbook() {
            workbook::write(path, &output::reports(request, results))?;
        }
    }
    Ok(exit)
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

/// Prints errors and returns the exit code of a run. Without a record nothing was measured.
fn verdict(record: Option<&RunRecord>, error: Option<RunError>) -> anyhow::Result<Exit> {
    let phases = record.iter().flat_map(|record| &record.phases);
    let workers = phases.flat_map(|phase| &phase.workers);
    for error in workers.filter_map(|worker| worker.errors.first.first()) {
        print_error(error);
    }
    match (record.map(|record| &record.outcome), error) {
        (Some(Outcome::Interrupted), _) | (_, Some(RunError::StoppedEarly)) => interrupted(),
        (_, Some(RunError::NoDirect { path })) => {
            let path = path.display();
            Err(anyhow!(
                "{path} cannot be used with -I: its file system does not support O_DIRECT; omit -I"
            ))
        }
        (_, Some(RunError::Memory { bytes, errno, .. })) => Err(anyhow!(
            "cannot allocate {bytes} bytes for the records: {errno}; use a smaller -r"
        )),
        (_, Some(error)) => Err(anyhow!("{error}")),
        (Some(Outcome::Failed { .. }), None) => Ok(Exit::Failed),
        (Some(Outcome::Completed) | None, None) => Ok(Exit::Ok),
    }
}

fn print_error(error: &IoError) {
    let errno = Errno::from_raw_os_error(error.errno);
    let hint = match errno {
        Errno::NOSPC => "; the file system is full: use a smaller -s",
        Errno::FBIG => "; the file system cannot hold such a file: use a smaller -s",
        _ => "",
    };
    let (action, len, offset, file) = (&error.action, error.len, error.offset.0, &error.file);
    anstream::eprintln!(
        "\niozone: {action} of {len} at byte {offset} of {file} failed: {errno}{hint}"
    );
}
