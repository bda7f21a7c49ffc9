//! `hakaru fio …` and `argv[0]` = `fio`: runs a fio command line on the hakaru engine.
//!
//! Standard output contains only the result; everything else goes to standard error.

mod logs;
mod skipped;
mod status;
mod total_log;
mod trials;
mod trigger;

use self::logs::LogFiles;
use self::status::FioStatusReporter;
use self::total_log::TotalLog;
use crate::exit::Exit;
use crate::{place, stop};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use hakaru_campaign::{
    PlannedSession, RunRequest, RunResult, Session, SessionError, SessionPolicy,
};
use hakaru_dialects::fio::output::{self, CpuIdleness, RunView, StartView};
use hakaru_dialects::fio::{
    FioAction, FioError, IdleProf, Invocation, Location, OutputFormat, ParseContext, VERSION,
};
use hakaru_engine::ClockChoice;
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{IoEngine, Target};
use hakaru_model::record::{FailureKind, IoError, Outcome, PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::units::Nanos;
use std::ffi::OsString;
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Instant;

/// Runs one command line. `args` does not include the program name.
pub(crate) fn main(args: &[OsString]) -> Exit {
    let mut invocation = match parse(args) {
        Ok(invocation) => invocation,
        Err(error) => {
            complain_about(&error, args);
            return Exit::Failed;
        }
    };
    for warning in &invocation.warnings {
        tell_warning(&invocation, warning);
    }
    // Only jobs with randrepeat=0 use this seed.
    invocation.scenario.seed = fresh_seed();
    match &invocation.action {
        FioAction::Print { text, exit_code } => {
            let printed = super::print(text).is_ok();
            if *exit_code == 0 && printed {
                Exit::Ok
            } else {
                Exit::Failed
            }
        }
        FioAction::ParseOnly => Exit::Ok,
        FioAction::TestChecksums(which) => trials::checksums(which.as_deref()),
        FioAction::TestClock => trials::clock(),
        FioAction::Run if invocation.settings.idle_prof == Some(IdleProf::Calibrate) => {
            let (mean, deviation) = hakaru_engine::IdleProfiler::calibrate();
            let printed = super::print(&output::calibration(mean, deviation));
            if printed.is_ok() {
                Exit::Ok
            } else {
                Exit::Failed
            }
        }
        FioAction::Run => match FioRun::new(&invocation).and_then(FioRun::carry_out) {
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
fn tell_warning(invocation: &Invocation, warning: &str) {
    let beside_text = invocation.settings.formats.contains(&OutputFormat::Normal);
    match beside_text && output::VERIFY_NOTES.contains(&warning) {
        true => anstream::println!("fio: {warning}"),
        false => anstream::eprintln!("fio: {warning}"),
    }
}

/// Parses a command line and the job files it names.
pub(super) fn parse(args: &[OsString]) -> Result<Invocation, FioError> {
    let env = |name: &str| std::env::var(name).ok();
    let context = ParseContext {
        env: &env,
        read_file: &read_job_file,
        path_exists: &|path| path.exists(),
        cpu_count: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
        page_size: rustix::param::page_size() as u64,
        memory_mb: memory_mb(),
    };
    hakaru_dialects::fio::parse(args, &context)
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

/// Returns the memory of the host in MiB.
pub(crate) fn memory_mb() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kb = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse()
            .ok()
    });
    kb.unwrap_or(0u64) / 1024
}

/// Prints a parse error and marks the invalid word.
pub(super) fn complain_about(error: &FioError, args: &[OsString]) {
    let message = error.to_string();
    // The message of fio comes first, for programs that parse it; advice follows.
    if let Some(words) = error.words(|index| {
        args.get(index)
            .map(|arg| arg.to_string_lossy().into_owned())
    }) {
        anstream::eprintln!("{words}");
    }
    let (source, origin, line, span) = match &error.at {
        None => return anstream::eprintln!("fio: {message}"),
        Some(Location::File {
            path,
            line,
            text,
            span,
        }) => (
            text.clone(),
            path.display().to_string(),
            *line,
            span.clone(),
        ),
        Some(Location::Arg { index, span }) => {
            let words: Vec<String> = args
                .iter()
                .map(|arg| arg.to_string_lossy().into_owned())
                .collect();
            let before: usize = words.iter().take(*index).map(|word| word.len() + 1).sum();
            (
                words.join(" "),
                "command line".to_owned(),
                1,
                before + span.start..before + span.end,
            )
        }
    };
    let end = span.end.min(source.len());
    let span = span.start.min(end)..end;
    if !source.is_char_boundary(span.start) || !source.is_char_boundary(span.end) {
        return anstream::eprintln!("fio: {message}");
    }
    let snippet = Snippet::source(source)
        .line_start(line)
        .path(origin)
        .annotation(AnnotationKind::Primary.span(span));
    let report = [Group::with_title(Level::ERROR.primary_title(message)).element(snippet)];
    anstream::eprintln!("{}", Renderer::styled().render(&report));
}

/// One run of a parsed fio command line.
struct FioRun<'a> {
    invocation: &'a Invocation,
    session: PlannedSession<'a>,
    begun: Instant,
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
        let Target::Paths(paths) = &job.target else {
            continue;
        };
        if no_data.contains(&job.ioengine) {
            continue;
        }
        for parent in paths
            .iter()
            .filter_map(|path| path.parent())
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            // If a directory cannot be created, the job reports an error that names the file.
            let _ = std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(parent);
        }
    }
    Ok(())
}

impl<'a> FioRun<'a> {
    fn new(invocation: &'a Invocation) -> anyhow::Result<FioRun<'a>> {
        prepare_directories(invocation)?;
        let session = Session::inspect(&invocation.scenario)?.plan(SessionPolicy::FIO)?;
        Ok(FioRun {
            invocation,
            session,
            begun: Instant::now(),
        })
    }

    fn carry_out(self) -> anyhow::Result<Exit> {
        let (settings, plan) = (&self.invocation.settings, self.session.plan());
        let mut store = place::open_if_asked()?;
        let mut out: Box<dyn Write> = match &settings.output {
            None => Box::new(std::io::stdout()),
            Some(path) => Box::new(create(path)?),
        };
        let normal = settings.formats.contains(&OutputFormat::Normal);
        if normal {
            out.write_all(output::banner(&StartView::of(self.invocation, VERSION)).as_bytes())?;
            out.flush()?;
        }
        // In text output the note is part of the result, as in fio; nothing may precede other
        // formats.
        let capped = |caveat: &Caveat| matches!(caveat, Caveat::DepthCapped { .. });
        if !normal && plan.caveats.iter().any(capped) {
            anstream::eprint!("{}", output::DEPTH_NOTE);
        }
        let stop = stop::flag_as_in_fio();
        let logs = (
            LogFiles::create(self.invocation, plan)?,
            TotalLog::create(self.invocation)?,
        );
        skipped::explain(plan);
        let profiler = settings
            .idle_prof
            .map(|_| hakaru_engine::IdleProfiler::start());
        let mut teller = FioStatusReporter::new(&self, logs, normal, &mut *out);
        let request = RunRequest::single(ClockChoice::best(), stop);
        let ran = self.session.run(request, store.as_mut(), &mut teller);
        let RunResult {
            record,
            error,
            unstored,
        } = ran?;
        let mut phases = self.session.with_unbegun(record.phases);
        skipped::begin_request_logs(plan, &self.invocation.scenario);
        teller.amend(&mut phases);
        if teller.status_is_due() && !phases.is_empty() {
            teller.print_so_far(phases.clone());
        }
        let (logged, fired) = (teller.end(), teller.fired());
        let idleness = profiler
            .and_then(hakaru_engine::IdleProfiler::finish)
            .map(|found| self.idleness(found));
        tell_of_signal(&record.outcome, normal, &mut *out);
        if let Some(error) = &error {
            anstream::eprintln!("fio: {error}");
        }
        if fired {
            out.flush()?;
            trigger::pull(&settings.trigger);
        }
        tell_of_errors(&phases, normal, &mut *out)?;
        tell_of_pulled(&phases);
        self.print(&phases, idleness, 0, &mut *out)?;
        if let Some(unstored) = &unstored {
            anstream::eprintln!("fio: {unstored}");
        } else if store.is_some() {
            let id = &record.id;
            anstream::eprintln!("fio: stored as {id}; hakaru show {id} shows it");
        }
        Ok(match logged && unstored.is_none() {
            true => exit_of(&record.outcome, &phases, fired),
            false => Exit::Failed,
        })
    }

    /// Returns the CPU idleness in the requested detail.
    fn idleness(&self, found: hakaru_engine::Idleness) -> CpuIdleness {
        let hakaru_engine::Idleness {
            system,
            per_cpu,
            unit_mean_us,
            unit_deviation_us,
        } = found;
        let each = self.invocation.settings.idle_prof == Some(IdleProf::PerCpu);
        let per_cpu = if each { per_cpu } else { Vec::new() };
        CpuIdleness {
            system,
            per_cpu,
            unit_mean_us,
            unit_deviation_us,
        }
    }

    fn print(
        &self,
        phases: &[PhaseRecord],
        idleness: Option<CpuIdleness>,
        eta_s: u64,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let Invocation {
            scenario,
            extras,
            global_options,
            settings,
            ..
        } = self.invocation;
        let mut view = RunView::of(VERSION, scenario, extras, phases);
        view.global_options = global_options;
        (view.idleness, view.eta_s) = (idleness, eta_s);
        view.elapsed = Nanos(self.begun.elapsed().as_nanos() as u64);
        view.shown_unix_ms = hakaru_campaign::now_unix_ms();
        view.utc_offset_s = utc_offset_s(view.shown_unix_ms);
        for format in &settings.formats {
            let text = match format {
                OutputFormat::Normal => output::normal(&view),
                OutputFormat::Json => output::json(&view, false),
                OutputFormat::JsonPlus => output::json(&view, true),
                OutputFormat::Terse => output::terse(&view, settings.terse_version),
            };
            out.write_all(text.as_bytes())?;
        }
        out.flush()?;
        Ok(())
    }
}

/// Prints the signal that ended the run. It goes to the result only if the result is text; nothing may precede other
/// formats.
fn tell_of_signal(outcome: &Outcome, normal: bool, out: &mut dyn Write) {
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
fn tell_of_errors(
    phases: &[PhaseRecord],
    normal: bool,
    out: &mut dyn Write,
) -> std::io::Result<()> {
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
fn tell_of_pulled(phases: &[PhaseRecord]) {
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

fn utc_offset_s(unix_ms: i64) -> i32 {
    let zone = jiff::tz::TimeZone::system();
    jiff::Timestamp::from_millisecond(unix_ms).map_or(0, |at| zone.to_offset(at).seconds())
}
