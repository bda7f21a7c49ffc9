//! `hakaru fio …` and `argv[0]` = `fio`: runs a fio command line on the hakaru engine.
//!
//! Standard output contains only the result; everything else goes to standard error.

mod logs;
mod run;
mod skipped;
mod status;
mod total_log;
mod trials;
mod trigger;

use self::logs::LogFiles;
use self::run::FioRun;
use self::status::FioStatusReporter;
use self::total_log::TotalLog;
use crate::exit::Exit;
use crate::front_end::{CalledAs, FrontEndOptions, RunStorage};
use crate::{live, stop};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use hakaru_campaign::{RunRequest, RunResult, Session, SessionError, SessionPolicy};
use hakaru_dialects::fio::output::{self, StartView};
use hakaru_dialects::fio::{
    FioAction, FioError, IdleProf, Invocation, Location, OutputFormat, VERSION,
};
use hakaru_engine::{ClockChoice, IdleProfiler};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{IoEngine, Target};
use hakaru_model::record::{FailureKind, IoError, Outcome, PhaseRecord, StopReason, WorkerRecord};
use hakaru_results::fio_jobs::parse_with;
use hakaru_store::live::LiveVerb;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Instant;

/// Runs the command line of `hakaru fio`; `db` is the database that it names.
pub(crate) fn main_of_hakaru(args: &[OsString], db: Option<&Path>) -> Exit {
    with_options(args, CalledAs::Hakaru, db)
}

/// Runs the command line of a link named `fio`. `args` does not include the program name.
pub(crate) fn main(args: &[OsString]) -> Exit {
    with_options(args, CalledAs::Link, None)
}

fn with_options(args: &[OsString], called: CalledAs, db: Option<&Path>) -> Exit {
    match FrontEndOptions::take(args, called) {
        Ok((options, args)) => {
            let storage = RunStorage {
                options,
                called,
                db,
            };
            run_line(&args, &storage)
        }
        Err(why) => {
            anstream::eprintln!("fio: {}", hakaru_report::plain(&why));
            Exit::Failed
        }
    }
}

fn run_line(args: &[OsString], storage: &RunStorage<'_>) -> Exit {
    let mut invocation = match parse(args) {
        Ok(invocation) => invocation,
        Err(error) => {
            complain_about(&error, args);
            return Exit::Failed;
        }
    };
    for warning in &invocation.warnings {
        print_warning(&invocation, warning);
    }
    // Only jobs with randrepeat=0 use this seed.
    invocation.scenario.seed = fresh_seed();
    let printed = |text: &str, exit_code: u8| match super::print(text) {
        Ok(()) if exit_code == 0 => Exit::Ok,
        _ => Exit::Failed,
    };
    match &invocation.action {
        FioAction::Print { text, exit_code } => printed(text, *exit_code),
        FioAction::ParseOnly => Exit::Ok,
        FioAction::TestChecksums(which) => trials::checksums(which.as_deref()),
        FioAction::TestClock => trials::clock(),
        FioAction::Run if invocation.settings.idle_prof == Some(IdleProf::Calibrate) => {
            let (mean, deviation) = hakaru_engine::IdleProfiler::calibrate();
            printed(&output::calibration(mean, deviation), 0)
        }
        FioAction::Run => match prepare(&invocation).and_then(|run| carry_out(run, storage)) {
            Ok(exit) => exit,
            Err(error) => {
                if let Some(SessionError::Plan(unfit)) = error.downcast_ref()
                    && let Some(words) = hakaru_dialects::fio::words_for_plan(unfit)
                {
                    anstream::eprintln!("{words}");
                }
                anstream::eprintln!("fio: {error:#}");
                Exit::Failed
            }
        },
    }
}

/// Prints a warning on standard error, except for notes that fio prints at this position of the result.
fn print_warning(invocation: &Invocation, warning: &str) {
    let beside_text = invocation.settings.formats.contains(&OutputFormat::Normal);
    match beside_text && output::VERIFY_NOTES.contains(&warning) {
        true => anstream::println!("fio: {warning}"),
        false => anstream::eprintln!("fio: {warning}"),
    }
}

/// Parses a command line and the job files it names.
pub(super) fn parse(args: &[OsString]) -> Result<Invocation, FioError> {
    parse_with(args, &read_job_file, &|path| path.exists())
}

/// Returns a random seed: the standard library draws one for its hash maps.
fn fresh_seed() -> u64 {
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}

fn read_job_file(path: &Path) -> std::io::Result<Vec<u8>> {
    if path == Path::new("-") {
        let mut text = Vec::new();
        std::io::stdin().lock().read_to_end(&mut text)?;
        return Ok(text);
    }
    std::fs::read(path)
}

/// Prints a parse error and marks the invalid word.
pub(super) fn complain_about(error: &FioError, args: &[OsString]) {
    let args: Vec<String> = args
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let message = error.to_string();
    // The message of fio comes first, for programs that parse it; advice follows.
    if let Some(words) = error.words(|index| args.get(index).cloned()) {
        anstream::eprintln!("{words}");
    }
    let Some(snippet) = error.at.as_ref().and_then(|at| snippet(at, &args)) else {
        return anstream::eprintln!("fio: {message}");
    };
    let report = [Group::with_title(Level::ERROR.primary_title(message)).element(snippet)];
    anstream::eprintln!("{}", Renderer::styled().render(&report));
}

/// The line with an error, whose word is marked; `None` if it cannot be shown.
fn snippet(at: &Location, args: &[String]) -> Option<Snippet<'static, Annotation<'static>>> {
    let (source, origin, line, span) = match at {
        Location::File {
            path,
            line,
            text,
            span,
        } => (
            text.clone(),
            path.display().to_string(),
            *line,
            span.clone(),
        ),
        Location::Arg { index, span } => {
            let before: usize = args.iter().take(*index).map(|word| word.len() + 1).sum();
            let span = before + span.start..before + span.end;
            (args.join(" "), "command line".to_owned(), 1, span)
        }
    };
    let end = span.end.min(source.len());
    let span = span.start.min(end)..end;
    source.get(span.clone())?;
    let annotation = AnnotationKind::Primary.span(span);
    let snippet = Snippet::source(source).line_start(line).path(origin);
    Some(snippet.annotation(annotation))
}

/// Checks that each `directory` exists, and creates parent directories of files, as fio does.
fn prepare_directories(invocation: &Invocation) -> anyhow::Result<()> {
    for (job, extras) in invocation.jobs() {
        if let Some(missing) = extras.directories.iter().find(|path| !path.is_dir()) {
            let shown = missing.display();
            anstream::eprintln!("fio: failed parsing directory={shown}");
            anyhow::bail!(
                "directory={shown}: {shown} is not a directory: make it first, with mkdir -p {shown}"
            );
        }
        let no_data = [
            IoEngine::Filecreate,
            IoEngine::Filestat,
            IoEngine::Dirstat,
            IoEngine::Filedelete,
        ];
        let paths = match &job.target {
            Target::Paths(paths) if !no_data.contains(&job.ioengine) => &paths[..],
            _ => &[],
        };
        let parents = paths.iter().filter_map(|path| path.parent());
        for parent in parents.filter(|parent| !parent.as_os_str().is_empty()) {
            // If a directory cannot be created, the job reports an error that names the file.
            let _ = std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent);
        }
    }
    Ok(())
}

fn prepare(invocation: &Invocation) -> anyhow::Result<FioRun<'_>> {
    prepare_directories(invocation)?;
    let session = Session::inspect(&invocation.scenario)?.plan(SessionPolicy::FIO)?;
    Ok(FioRun {
        invocation,
        session,
        begun: Instant::now(),
    })
}
fn carry_out(run: FioRun<'_>, storage: &RunStorage<'_>) -> anyhow::Result<Exit> {
    let (settings, plan) = (&run.invocation.settings, run.session.plan());
    let mut store = storage.open("fio")?;
    let normal = settings.formats.contains(&OutputFormat::Normal);
    let mut out = begin_output(&run, normal)?;
    let stop = stop::flag_as_in_fio();
    let logs = (
        LogFiles::create(run.invocation, plan)?,
        TotalLog::create(run.invocation)?,
    );
    skipped::explain(plan);
    let profiler = settings.idle_prof.map(|_| IdleProfiler::start());
    let live = store.as_ref();
    let name = &run.invocation.scenario.name;
    let live = live.and_then(|store| live::begin(store.path(), LiveVerb::Fio, name));
    let mut reporter = FioStatusReporter::new(&run, logs, normal, &mut *out);
    let request = RunRequest {
        trace: storage.options.trace,
        live: live.clone(),
        ..RunRequest::single(ClockChoice::best(), stop)
    };
    let ended = run.session.run(request, store.as_mut(), &mut reporter);
    let RunResult {
        record,
        error,
        unstored,
    } = ended?;
    let mut phases = run.session.with_unbegun(record.phases);
    skipped::begin_request_logs(plan, &run.invocation.scenario);
    reporter.amend(&mut phases);
    if reporter.status_is_due() && !phases.is_empty() {
        reporter.print_so_far(phases.clone());
    }
    let (logged, fired) = (reporter.end(), reporter.fired());
    let idleness = profiler.and_then(IdleProfiler::finish);
    let idleness = idleness.map(|found| run.idleness(found));
    print_signal(&record.outcome, normal, &mut *out);
    if let Some(error) = &error {
        anstream::eprintln!("fio: {error}");
    }
    if fired {
        out.flush()?;
        trigger::pull(&settings.trigger);
    }
    print_errors(&phases, normal, &mut *out)?;
    print_pulled(&phases);
    run.print(&phases, idleness, 0, &mut *out)?;
    if let Some(unstored) = &unstored {
        anstream::eprintln!("fio: {unstored}");
    } else if let Some(store) = &mut store {
        storage.finish("fio", store, &record.series, live.as_ref())?;
        if storage.options.trace.is_some() {
            print_trace(&record.caveats, &record.id);
        }
    }
    let exit = match logged && unstored.is_none() {
        true => exit_of(&record.outcome, &phases, fired),
        false => Exit::Failed,
    };
    Ok(live::ended(live.as_ref(), exit))
}

/// Prints how to see the trace of a stored run, or why there is none.
fn print_trace(caveats: &[Caveat], id: &str) {
    let failed = |caveat: &&Caveat| matches!(caveat, Caveat::NotTraced { .. });
    match caveats.iter().find(failed) {
        Some(caveat) => anstream::eprintln!("fio: {}", hakaru_report::text::caveat(caveat)),
        None => anstream::eprintln!("fio: hakaru explain {id} shows the path of its I/Os"),
    }
}

/// Opens the output, and writes what precedes the run.
fn begin_output(run: &FioRun<'_>, normal: bool) -> anyhow::Result<Box<dyn Write>> {
    let mut out: Box<dyn Write> = match &run.invocation.settings.output {
        None => Box::new(std::io::stdout()),
        Some(path) => Box::new(create(path)?),
    };
    if normal {
        let banner = output::banner(&StartView::of(run.invocation, VERSION));
        out.write_all(banner.as_bytes())?;
        out.flush()?;
    }
    // In text output the note is part of the result, as in fio; nothing may precede other
    // formats.
    let capped = |caveat: &Caveat| matches!(caveat, Caveat::DepthCapped { .. });
    if !normal && run.session.plan().caveats.iter().any(capped) {
        anstream::eprint!("{}", output::DEPTH_NOTE);
    }
    Ok(out)
}

/// Prints the signal that ended the run. It goes to the result only if the result is text; nothing may precede other
/// formats.
fn print_signal(outcome: &Outcome, normal: bool, out: &mut dyn Write) {
    let (Outcome::Interrupted, Some(signal)) = (outcome, stop::signal()) else {
        return;
    };
    let text = format!("\nfio: terminating on signal {signal}\n");
    // Ignored: writing the result reports the same error.
    let _ = if normal {
        out.write_all(text.as_bytes())
    } else {
        std::io::stderr().write_all(text.as_bytes())
    };
}

/// Prints the errors of workers that started.
fn print_errors(phases: &[PhaseRecord], normal: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let workers = phases.iter().flat_map(|phase| &phase.workers);
    for worker in workers.filter(|worker| worker.pid != 0) {
        anstream::eprint!("{}", output::errors(worker));
        if let Some(line) = output::ended_by_error(worker).filter(|_| normal) {
            out.write_all(line.as_bytes())?;
        }
    }
    Ok(())
}

/// Prints which disks were removed, because an error number alone does not show it.
fn print_pulled(phases: &[PhaseRecord]) {
    let pulled = |error: &&IoError| error.errno == rustix::io::Errno::NODEV.raw_os_error();
    let errors = phases
        .iter()
        .flat_map(|phase| &phase.workers)
        .flat_map(|worker| &worker.errors.first);
    let files: std::collections::BTreeSet<&str> = errors
        .filter(pulled)
        .map(|error| error.file.as_str())
        .collect();
    for file in files {
        anstream::eprintln!(
            "fio: {} was removed or disconnected",
            hakaru_report::plain(file)
        );
    }
}

fn create(path: &Path) -> anyhow::Result<std::fs::File> {
    std::fs::File::create(path)
        .map_err(|e| anyhow::anyhow!("cannot write the output to {}: {e}", path.display()))
}

/// Returns the exit code of a run. A run that its trigger ended is not interrupted.
fn exit_of(outcome: &Outcome, phases: &[PhaseRecord], fired: bool) -> Exit {
    let count = phases
        .iter()
        .flat_map(|p| &p.workers)
        .filter(|w| failed(w))
        .count();
    match (outcome, count) {
        (Outcome::Interrupted, _) if !fired => match stop::signal() {
            Some(signal_hook::consts::SIGHUP) => Exit::FioHungUp,
            _ => Exit::FioStopped,
        },
        (Outcome::Completed | Outcome::Interrupted, 0) => Exit::Ok,
        (Outcome::Failed { .. }, 0) => Exit::Failed,
        (_, count) => Exit::FioJobs(u8::try_from(count).unwrap_or(u8::MAX)),
    }
}

/// Whether a worker failed with errors that are not ignored. I/O errors and mismatches end a worker unless ignored; a
/// full file system ends a fill_device job normally.
fn failed(worker: &WorkerRecord) -> bool {
    let of_an_io = |error: &IoError| matches!(error.kind, FailureKind::Io | FailureKind::Verify);
    let went_on = worker.stop != StopReason::Error && worker.errors.first.iter().all(of_an_io);
    worker.errors.total > 0 && !went_on
}
