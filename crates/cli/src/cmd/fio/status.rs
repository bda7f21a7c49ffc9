//! Progress output of fio: notes about files that are laid out, and the status line on a terminal.

use super::logs::LogFiles;
use super::run::FioRun;
use super::total_log::TotalLog;
use super::trigger;
use crate::stop;
use hakaru_dialects::fio::output::{self, RateLimit, StatusLine as Status, WorkerState};
use hakaru_dialects::fio::{EtaMode, Invocation, OutputFormat, Settings};
use hakaru_engine::{Flow, LayoutProgress, LogChunk, Observer, PhaseProgress, WorkerStage};
use hakaru_model::job::rules::ShellCommands;
use hakaru_model::job::{IoEngine, Job, Op, PerOp};
use hakaru_model::plan::{FilePlan, LayOut, PhasePlan, WorkerPlan};
use hakaru_model::record::{PhaseRecord, WorkerRecord};
use std::collections::{BTreeSet, HashMap};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Value in seconds that fio writes for an unknown remaining time.
const ETA_UNKNOWN_S: u64 = i32::MAX as u64;

/// Prints the progress of a run as fio does: notes about files that are laid out, and the status line.
pub(super) struct FioStatusReporter<'a> {
    settings: &'a Settings,
    invocation: &'a Invocation,
    run: &'a FioRun<'a>,
    out: &'a mut dyn Write,
    /// Whether the result is in text format, which can contain notes.
    normal: bool,
    /// Completed phases, for interim results.
    over: Vec<PhaseRecord>,
    /// Time of the next interim result (`--status-interval`), since the start of the run.
    next_status: Option<Duration>,
    /// A file with this name requests an interim result; it is then removed.
    dump_file: PathBuf,
    /// Remaining time of the run, if known.
    left: Option<Duration>,
    line: LivePrinter,
    /// Index of the current phase.
    phase: usize,
    /// I/Os and bytes of the phase when the last status line was printed.
    shown: (PerOp<u64>, PerOp<u64>),
    /// Files to lay out per worker, by the path of its first file: job name, number of files, and total size in bytes.
    layouts: HashMap<PathBuf, (String, u64, u64)>,
    /// Number of workers in the phase whose queue depth is capped and that have no note yet.
    capped: usize,
    /// Pending notes about commands that ran for workers.
    commands: String,
    logs: LogFiles,
    total: Option<TotalLog>,
    /// Whether the trigger ended the jobs.
    fired: bool,
}

impl<'a> FioStatusReporter<'a> {
    pub(super) fn new(
        run: &'a FioRun<'a>,
        (logs, total): (LogFiles, Option<TotalLog>),
        normal: bool,
        out: &'a mut dyn Write,
    ) -> FioStatusReporter<'a> {
        let invocation = run.invocation;
        let settings = &invocation.settings;
        let interval = settings.status_interval_ms;
        FioStatusReporter {
            settings,
            invocation,
            run,
            out,
            normal,
            over: Vec::new(),
            next_status: interval.map(Duration::from_millis),
            dump_file: std::env::temp_dir().join("fio-dump-status"),
            left: None,
            line: LivePrinter::new(settings),
            phase: 0,
            shown: Default::default(),
            layouts: HashMap::new(),
            capped: 0,
            commands: String::new(),
            logs,
            total,
            fired: false,
        }
    }

    /// Whether the trigger ended the jobs.
    pub(super) fn fired(&self) -> bool {
        self.fired
    }

    /// Whether an interim result is due by `--status-interval`; schedules the next one an interval later.
    pub(super) fn status_is_due(&mut self) -> bool {
        let (Some(every), Some(next)) = (self.settings.status_interval_ms, self.next_status) else {
            return false;
        };
        let (every, now) = (
            Duration::from_millis(every.max(1)),
            self.run.begun.elapsed(),
        );
        if now < next {
            return false;
        }
        let missed = (now - next).as_millis() / every.as_millis();
        self.next_status = Some(next + every * (1 + u32::try_from(missed).unwrap_or(u32::MAX - 1)));
        true
    }

    /// Prints an interim result with completed, current and pending phases.
    pub(super) fn print_so_far(&mut self, phases: Vec<PhaseRecord>) {
        let phases = self.run.session.with_unbegun(phases);
        let eta_s = self
            .left
            .map_or(ETA_UNKNOWN_S, |left| left.as_secs_f64().ceil() as u64);
        // Ignored: writing the final result reports the same error.
        let _ = self.run.print(&phases, None, eta_s, &mut *self.out);
    }

    /// Ends the status line and the logs. Returns whether all output except the result was written.
    pub(super) fn end(&mut self) -> bool {
        // The text result starts with the newline that ends the status line, if both have the same
        // destination.
        let goes_on = self.line.on_stdout && self.normal;
        if self.line.open && !goes_on {
            self.line.write("\n");
        }
        self.logs.end() & self.total.as_ref().is_none_or(TotalLog::end)
    }

    /// Adds values from the logs to the result.
    pub(super) fn amend(&self, phases: &mut [PhaseRecord]) {
        self.logs.amend(phases);
    }
}

/// The status line of a terminal.
struct LivePrinter {
    /// Whether it goes to standard output (a terminal) or to standard error.
    on_stdout: bool,
    shown: bool,
    last: Instant,
    last_newline: Instant,
    /// Whether the cursor is on it.
    open: bool,
    /// Its width in characters.
    width: usize,
}

impl LivePrinter {
    fn new(settings: &Settings) -> LivePrinter {
        let on_stdout = std::io::stdout().is_terminal() && settings.output.is_none();
        let only_normal = settings.formats == [OutputFormat::Normal];
        LivePrinter {
            on_stdout,
            shown: match settings.eta {
                EtaMode::Never => false,
                EtaMode::Always => true,
                EtaMode::Auto => on_stdout && only_normal,
            },
            last: Instant::now(),
            last_newline: Instant::now(),
            open: false,
            width: 0,
        }
    }

    /// Replaces the line, or begins a new one after each `newline_ms`.
    fn show(&mut self, text: &str, newline_ms: Option<u64>) {
        let is_due = |ms: u64| self.last_newline.elapsed() >= Duration::from_millis(ms);
        self.open = !newline_ms.is_some_and(is_due);
        if !self.open {
            self.last_newline = Instant::now();
        }
        // Pad the line to overwrite the rest of a longer previous line.
        let line = format!("{text:<width$}", width = self.width);
        let (width, end) = match self.open {
            true => (line.trim_end().len(), "\r"),
            false => (0, "\n"),
        };
        self.width = width;
        self.write(&format!("{line}{end}"));
    }

    fn write(&self, text: &str) {
        // Ignored: a status line that cannot be written has no reader.
        let _ = if self.on_stdout {
            std::io::stdout()
                .write_all(text.as_bytes())
                .and_then(|()| std::io::stdout().flush())
        } else {
            std::io::stderr().write_all(text.as_bytes())
        };
    }
}

/// Returns the sum of the rate limits of all jobs: bandwidth if any job limits it, otherwise IOPS.
fn limit(jobs: &[&Job]) -> RateLimit {
    let sum = |rate: fn(&Job) -> &PerOp<Option<u64>>| -> u64 {
        let used = |job: &Job| -> u64 {
            Op::ALL
                .iter()
                .filter(|&&op| job.access.does(op))
                .filter_map(|&op| rate(job)[op])
                .sum()
        };
        jobs.iter().map(|job| used(job)).sum()
    };
    let bytes = (
        sum(|job| &job.termination.minimum_rate.bytes_per_s),
        sum(|job| &job.rate.bytes_per_s),
    );
    let ios = (
        sum(|job| &job.termination.minimum_rate.iops),
        sum(|job| &job.rate.iops),
    );
    match (bytes, ios) {
        ((0, 0), (0, 0)) => RateLimit::None,
        ((0, 0), (least, most)) => RateLimit::Iops(least, most),
        ((least, most), _) => RateLimit::BytesPerSec(least, most),
    }
}

/// Returns the number of files that a worker holds open; a target without files counts as one.
fn open_files(worker: &WorkerPlan) -> usize {
    let most = worker
        .files
        .turns
        .open_files
        .map_or(usize::MAX, |most| most.max(1) as usize);
    worker.stream.regions.len().clamp(1, most)
}

/// Returns the maximum duration of a phase; `None` if its jobs have no time limit.
fn time_bound(phase: &PhasePlan) -> Option<Duration> {
    let bound = |w: &WorkerPlan| {
        w.runtime
            .map(|time| time.0 + w.ramp_time.0 + w.startdelay.0)
    };
    let longest = phase
        .workers
        .iter()
        .map(bound)
        .try_fold(0, |longest, time| Some(longest.max(time?)));
    longest.map(Duration::from_nanos)
}

/// Returns the increase of counters per second.
fn per_second(now: &PerOp<u64>, before: &PerOp<u64>, time: Duration) -> PerOp<u64> {
    let mut grown = PerOp::default();
    for op in Op::ALL {
        grown[op] =
            (now[op].saturating_sub(before[op]) as f64 / time.as_secs_f64().max(1e-3)) as u64;
    }
    grown
}

/// Returns the files that each worker lays out, without the files of earlier workers, by its first file.
fn layouts(phase: &PhasePlan) -> HashMap<PathBuf, (String, u64, u64)> {
    let mut seen = BTreeSet::new();
    let mut all = HashMap::new();
    for worker in &phase.workers {
        let regions = worker
            .stream
            .regions
            .iter()
            .filter(|region| seen.insert(region.file));
        let files = regions.filter_map(|region| phase.files.get(region.file as usize));
        let files: Vec<&FilePlan> = files.filter(|file| file.lay_out != LayOut::Ready).collect();
        if let Some(first) = files.first() {
            let bytes = files.iter().map(|file| file.size.0).sum();
            all.insert(
                first.path.clone(),
                (worker.name.clone(), files.len() as u64, bytes),
            );
        }
    }
    all
}

impl FioStatusReporter<'_> {
    /// Returns a job of the current phase.
    fn job(&self, index: u32) -> Option<&Job> {
        let phase = self.invocation.scenario.phases.get(self.phase)?;
        phase.jobs.get(index as usize)
    }

    /// Whether a job of the phase has this command.
    fn has_command(&self, job: u32, which: fn(&ShellCommands) -> bool) -> bool {
        self.job(job).is_some_and(|job| which(&job.commands))
    }

    /// Returns the remaining time of the current phase, plus the maximum time of later phases if all have time limits.
    fn time_left(&self, progress: &PhaseProgress) -> Option<Duration> {
        let after = self
            .run
            .session
            .plan()
            .phases
            .get(self.phase + 1..)
            .unwrap_or_default();
        let later = after
            .iter()
            .map(time_bound)
            .try_fold(Duration::ZERO, |sum, time| Some(sum + time?));
        progress
            .remaining
            .map(|left| left + later.unwrap_or_default())
    }

    /// Returns the states of the workers of all phases.
    fn states(&self, phase: &PhasePlan, progress: &PhaseProgress) -> Vec<WorkerState> {
        let phases = &self.run.session.plan().phases;
        let workers = |phases: &[PhasePlan]| phases.iter().map(|phase| phase.workers.len()).sum();
        let (before, after) = phases.split_at(self.phase.min(phases.len()));
        let state = |(worker, stage): (&WorkerPlan, &WorkerStage)| match stage {
            WorkerStage::Waiting => WorkerState::NotBegun,
            WorkerStage::Ramping => WorkerState::Ramping,
            WorkerStage::Running => WorkerState::running(&worker.stream.access),
            WorkerStage::Done => WorkerState::Reaped,
        };
        let mut states = vec![WorkerState::Reaped; workers(before)];
        states.extend(phase.workers.iter().zip(&progress.stages).map(state));
        let after = workers(after.get(1..).unwrap_or_default());
        states.resize(states.len() + after, WorkerState::NotBegun);
        states
    }

    /// Formats the status line for the jobs of all phases.
    fn status(&self, phase: &PhasePlan, progress: &PhaseProgress, since: Duration) -> String {
        let extras = self.invocation.extras.iter().flatten().next();
        let is_active =
            |stage: &WorkerStage| matches!(stage, WorkerStage::Ramping | WorkerStage::Running);
        let now = phase.workers.iter().zip(&progress.stages);
        let active = now.filter(|(_, stage)| is_active(stage));
        let active: Vec<&WorkerPlan> = active.map(|(worker, _)| worker).collect();
        let jobs = active.iter().filter_map(|worker| self.job(worker.job));
        let limit = limit(&jobs.collect::<Vec<_>>());
        let left = self.time_left(progress);
        let done = self.run.begun.elapsed().as_secs_f64();
        // Progress of the whole run if all phases have time limits, otherwise of the phase.
        let several = self.run.session.plan().phases.len() > 1;
        let whole = left.filter(|_| several);
        let share = whole.map(|left| 100.0 * done / (done + left.as_secs_f64()).max(1e-3));
        let open_files: usize = active.iter().map(|worker| open_files(worker)).sum();
        let status = Status {
            running: active.len() as u32,
            open_files: open_files as u32,
            states: self.states(phase, progress),
            percent: share.or(progress.permille.map(|p| f64::from(p) / 10.0)),
            bytes_per_s: per_second(&progress.bytes, &self.shown.1, since),
            iops: per_second(&progress.ios, &self.shown.0, since),
            eta_s: left.map(|left| left.as_secs_f64().ceil() as u64),
            kb_base: extras.map_or(1024, |e| e.kb_base),
            unit_base: extras.map_or(0, |e| e.unit_base),
        };
        output::limited_status_line(&status, limit)
    }

    /// Prints notes about capped queues and executed commands after the start of the phase.
    fn note_depths(&mut self) {
        let notes = output::DEPTH_NOTE.repeat(std::mem::take(&mut self.capped))
            + &std::mem::take(&mut self.commands);
        if self.normal {
            // Ignored: writing the result reports the same error.
            let _ = self.out.write_all(notes.as_bytes());
        }
    }
}

impl Observer for FioStatusReporter<'_> {
    fn phase_begins(&mut self, index: usize, phase: &PhasePlan) {
        self.logs.phase_begins(index);
        self.total.iter_mut().for_each(TotalLog::phase_begins);
        (self.phase, self.shown) = (index, Default::default());
        // Phases without a worker, because all their jobs were skipped, are not run.
        let passed = self.run.session.plan().phases[..index].iter();
        let passed = passed.skip(self.over.len()).map(|phase| PhaseRecord {
            name: phase.name.clone(),
            ..PhaseRecord::default()
        });
        self.over.extend(passed.collect::<Vec<_>>());
        self.layouts = layouts(phase);
        let capped = |job: &Job| {
            job.queue.iodepth > 1 && (!job.has_queue() || job.ioengine == IoEngine::Vsync)
        };
        let workers = || phase.workers.iter();
        let ran = workers().filter(|worker| self.has_command(worker.job, |c| c.before.is_some()));
        let ran = ran.map(|worker| output::command_ran(&worker.name, "prerun"));
        self.commands = ran.collect();
        let capped = workers().filter(|worker| self.job(worker.job).is_some_and(capped));
        self.capped = capped.count();
    }

    fn wants_so_far(&mut self) -> bool {
        // Remove the file first, so that only one of several runs prints a result, and only once.
        let dump = std::fs::remove_file(&self.dump_file).is_ok();
        self.status_is_due() | stop::report_wanted() | dump
    }

    fn so_far(&mut self, _: usize, record: &PhaseRecord) {
        let mut phases = self.over.clone();
        phases.push(record.clone());
        self.print_so_far(phases);
    }

    fn phase_ends(&mut self, record: &PhaseRecord) -> Flow {
        self.note_depths();
        let ran = |worker: &&WorkerRecord| {
            self.has_command(worker.job, |commands| commands.after.is_some())
        };
        let ran = record
            .workers
            .iter()
            .filter(ran)
            .map(|worker| output::command_ran(&worker.name, "postrun"));
        self.commands = ran.collect();
        self.note_depths();
        self.over.push(record.clone());
        Flow::Continue
    }

    fn log(&mut self, worker: usize, chunk: &LogChunk) {
        self.logs.take(worker, chunk);
    }

    fn laying_out(&mut self, layout: &LayoutProgress<'_>) -> Flow {
        let LayoutProgress { file, done } = *layout;
        let due = if done == 0 {
            self.layouts.remove(&file.path)
        } else {
            None
        };
        if let (Some((job, files, bytes)), true) = (due, self.normal) {
            // Ignored: writing the result reports the same error.
            let _ = self
                .out
                .write_all(output::laying_out(&job, files, bytes).as_bytes());
        }
        Flow::Continue
    }

    fn progress(&mut self, phase: &PhasePlan, progress: &PhaseProgress) -> Flow {
        self.note_depths();
        self.left = self.time_left(progress);
        let since_start = self.run.begun.elapsed();
        if let Some(total) = &mut self.total {
            total.look(since_start, &progress.bytes);
        }
        self.fired |= trigger::is_due(&self.settings.trigger, since_start);
        if self.fired {
            return Flow::Stop;
        }
        let due = Duration::from_millis(self.settings.eta_interval_ms.max(100));
        let since = self.line.last.elapsed();
        if self.line.shown && since >= due {
            self.line.last = Instant::now();
            let text = self.status(phase, progress, since);
            self.shown = (progress.ios, progress.bytes);
            self.line.show(&text, self.settings.eta_newline_ms);
        }
        Flow::Continue
    }
}
