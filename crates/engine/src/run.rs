//! Runs a plan: one phase after another, with all workers of a phase at once.

mod fill;
mod observer;
mod shown;
mod watch;

pub use observer::{Flow, LayoutProgress, NoObserver, Observer, PhaseProgress, WorkerStage};

use crate::clock::{ClockChoice, ClockMark};
use crate::disks::DiskWatch;
use crate::error::RunError;
use crate::files::{self, CleanupGuard};
use crate::host::PauseWatch;
use crate::iolog::LogChunk;
use crate::shared::{Message, PhaseShared};
use crate::sim::backend::SimScheduler;
use crate::sim::card::SimCard;
use crate::start::run_worker;
use crate::steady::SteadyWatch;
use crate::worker::{PhaseSetup, WorkerContext};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::IoEngine;
use hakaru_model::measured::{HostPauses, LaidOut, PauseKind};
use hakaru_model::plan::{LayOut, PhasePlan, Plan, WorkerPlan};
use hakaru_model::record::{IoError, Outcome, PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::units::{Bytes, Nanos};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use watch::PhaseWatch;

/// Interval between progress reports to the observer.
const LOOK: Duration = Duration::from_millis(100);

/// Clock deviation in ppm above which a caveat is recorded: storage measurements need no higher
/// accuracy.
const DRIFT_PPM: f64 = 500.0;

/// Minimum run-queue wait or steal time of a phase for a caveat; a minimum percentage applies as
/// well.
const LONG_WAIT: Nanos = Nanos::from_millis(100);
/// Minimum shares of the measured time for a caveat, in percent.
const WAITED_PERCENT: u64 = 10;
const STOLEN_PERCENT: u64 = 5;

/// Options and inputs of a run.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// The clock that times I/Os.
    pub clock: &'a ClockChoice,
    /// Set by another thread to end the run; partial results are kept.
    pub stop: &'a AtomicBool,
    /// Uses the page cache with a caveat if O_DIRECT is rejected; otherwise that is an error.
    pub direct_fallback: bool,
    /// Uses the next best engine with a caveat if the requested one is missing; otherwise that is
    /// an error.
    pub replace_engines: bool,
    /// Returns ms since 1970 UTC; called once per phase.
    pub wall_clock: fn() -> i64,
}

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineReport {
    /// Phases that were measured completely or in part.
    pub phases: Vec<PhaseRecord>,
    /// Findings that affect how far the numbers can be trusted.
    pub caveats: Vec<Caveat>,
    /// Bytes written to lay out files before any measurement.
    pub laid_out: Bytes,
    /// How the run ended.
    pub outcome: Outcome,
    /// Error that ended the run, for the exit code.
    pub error: Option<RunError>,
}

/// Runs a plan to its end or until stopped. All results are in the report, also after an error.
pub fn run(plan: &Plan, options: &RunOptions<'_>, observer: &mut dyn Observer) -> EngineReport {
    let keeps_content = plan
        .phases
        .iter()
        .flat_map(|phase| &phase.workers)
        .any(|worker| worker.verify.is_some());
    let (schedulers, caveats) = (BTreeMap::new(), plan.caveats.clone());
    let mut conductor = PhaseRunner {
        options,
        schedulers,
        keeps_content,
        caveats,
        phases: Vec::new(),
        laid_out: 0,
        over: false,
        halted: false,
    };
    if let ClockChoice::Kernel {
        because: Some(because),
    } = options.clock
    {
        conductor.note(Caveat::ClockFallback {
            used: options.clock.name().to_owned(),
            because: because.clone(),
        });
    }
    let mark = ClockMark::take();
    let mut error = None;
    for (index, phase) in plan.phases.iter().enumerate() {
        if options.stop.load(Relaxed) {
            break;
        }
        if phase.workers.is_empty() {
            if let Err(e) = conductor.lay_out(phase, observer) {
                error = Some(e);
                break;
            }
            continue;
        }
        if index > 0 && !conductor.pause(phase.pause) {
            break;
        }
        observer.phase_begins(index, phase);
        if let Err(e) = conductor.phase(index, phase, observer) {
            error = Some(e);
            break;
        }
        if conductor.over
            || conductor.halted
            || conductor
                .phases
                .last()
                .is_some_and(|record| record.workers.iter().any(ends_run(phase)))
        {
            break;
        }
    }
    // The rate of the counter was calibrated within a few milliseconds; the whole run measures it far more precisely.
    if let Some(ppm) = options
        .clock
        .drift_ppm(&mark)
        .filter(|ppm| ppm.abs() > DRIFT_PPM)
    {
        conductor.note(Caveat::ClockDrift {
            clock: options.clock.name().to_owned(),
            ppm: ppm as i64,
        });
    }
    let PhaseRunner {
        caveats,
        phases,
        laid_out,
        halted,
        ..
    } = conductor;
    let stopped = halted || options.stop.load(Relaxed);
    let outcome = outcome(plan, &phases, stopped, error.as_ref());
    EngineReport {
        phases,
        caveats,
        laid_out: Bytes(laid_out),
        outcome,
        error,
    }
}

/// Whether the end of a worker prevents later phases from running.
fn ends_run(phase: &PhasePlan) -> impl Fn(&WorkerRecord) -> bool {
    let goes_on = |w: &WorkerRecord| {
        let same = |plan: &&WorkerPlan| plan.job == w.job && plan.clone == w.clone;
        phase
            .workers
            .iter()
            .find(same)
            .is_some_and(|plan| plan.termination.exit.phases_after_error)
    };
    move |w| match w.stop {
        StopReason::Stopped => true,
        StopReason::Error => !goes_on(w),
        StopReason::Done | StopReason::Time | StopReason::Ended => false,
    }
}

/// Describes an I/O error for the outcome of a record. Reports use the kind of the error instead.
fn described(error: &IoError) -> String {
    let IoError {
        action,
        kind,
        file,
        offset,
        len,
        errno,
        ..
    } = error;
    match kind.option() {
        Some(option) => format!("{option}: {action}"),
        None => {
            let errno = rustix::io::Errno::from_raw_os_error(*errno);
            format!("{action} of {len} at byte {} of {file}: {errno}", offset.0)
        }
    }
}

fn outcome(
    plan: &Plan,
    phases: &[PhaseRecord],
    stopped: bool,
    error: Option<&RunError>,
) -> Outcome {
    let ended = |reason| move |w: &&WorkerRecord| w.stop == reason;
    let workers = || phases.iter().flat_map(|p| &p.workers);
    if let Some(first) = workers()
        .find(ended(StopReason::Error))
        .and_then(|w| w.errors.first.last())
    {
        return Outcome::Failed {
            error: described(first),
        };
    }
    match error {
        Some(RunError::StoppedEarly) => Outcome::Interrupted,
        Some(error) => Outcome::Failed {
            error: error.to_string(),
        },
        None if workers().any(|w| w.stop == StopReason::Stopped) => Outcome::Interrupted,
        None if stopped && phases.len() < plan.phases.len() => Outcome::Interrupted,
        None => Outcome::Completed,
    }
}

struct PhaseRunner<'a> {
    options: &'a RunOptions<'a>,
    /// Simulated cards by name: a card keeps its state from phase to phase.
    schedulers: BTreeMap<String, Arc<SimScheduler>>,
    /// Whether the cards store written data, because a job verifies it.
    keeps_content: bool,
    caveats: Vec<Caveat>,
    phases: Vec<PhaseRecord>,
    /// Bytes written to lay out files.
    laid_out: u64,
    /// Whether a job has ended the whole run.
    over: bool,
    /// Whether the observer has ended the run between two phases.
    halted: bool,
}

impl PhaseRunner<'_> {
    fn note(&mut self, caveat: Caveat) {
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
    }

    /// Waits before a phase to let the storage rest. Returns false if the run was ended meanwhile.
    fn pause(&self, time: Nanos) -> bool {
        let until = Instant::now() + Duration::from_nanos(time.0);
        while Instant::now() < until && !self.options.stop.load(Relaxed) {
            std::thread::sleep((until - Instant::now()).min(LOOK / 2));
        }
        !self.options.stop.load(Relaxed)
    }

    fn phase(
        &mut self,
        index: usize,
        phase: &PhasePlan,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        let mut sweeper = CleanupGuard {
            files: &phase.files,
            begun: false,
        };
        files::empty(&phase.files)?;
        let laid_out = self.lay_out(phase, observer)?;
        let fitted = fill::fitted(phase);
        let phase = fitted.as_ref().unwrap_or(phase);
        let scheduler = self.scheduler_for(phase);
        let disks = DiskWatch::begin(&phase.files);
        let started_unix_ms = (self.options.wall_clock)();
        let head = PhaseHead {
            index,
            started_unix_ms,
        };
        let shared = PhaseShared::new(&phase.workers, &phase.files);
        let (workers, host_pauses, error) =
            self.work(phase, head, &shared, scheduler.clone(), &disks, observer);
        let (disks, traffic) = (disks.so_far(), shared.disks.traffic());
        sweeper.begun = !workers.is_empty();
        if workers.is_empty() {
            return error.map_or(Ok(()), Err);
        }
        let elapsed = workers
            .iter()
            .map(|w| w.job_runtime)
            .max()
            .unwrap_or_default();
        let simulated = scheduler.is_some();
        let started_unix_ms = if simulated { 0 } else { started_unix_ms };
        // Host pauses do not affect virtual time.
        let host_pauses = host_pauses.filter(|_| !simulated);
        let name = phase.name.clone();
        let record = PhaseRecord {
            name,
            started_unix_ms,
            elapsed,
            workers,
            disks,
            traffic,
            laid_out,
            host_pauses,
        };
        self.judge(phase, &record);
        self.halted |= observer.phase_ends(&record) == Flow::Stop;
        self.phases.push(record);
        error.map_or(Ok(()), Err)
    }

    /// Adds the caveats that follow from the results of a phase.
    fn judge(&mut self, phase: &PhasePlan, record: &PhaseRecord) {
        let name = || phase.name.clone();
        let longest = record
            .workers
            .iter()
            .map(|w| w.runtime)
            .max()
            .unwrap_or_default();
        if record.workers.iter().any(|w| w.stop == StopReason::Stopped) {
            self.note(Caveat::Interrupted {
                phase: name(),
                measured: longest,
            });
        }
        let all = || record.workers.iter().flat_map(|w| &w.errors.first);
        let is_rule = |error: &&IoError| error.kind.option().is_some();
        if let Some(&IoError { op, kind, .. }) = all().find(is_rule) {
            self.note(Caveat::RuleBroken {
                phase: name(),
                op,
                kind,
            });
        }
        let count: u64 = record.workers.iter().map(|w| w.errors.total).sum();
        let count = count.saturating_sub(all().filter(is_rule).count() as u64);
        if let Some(first) = all().find(|error| !is_rule(error)) {
            self.note(Caveat::DeviceErrors {
                phase: name(),
                count,
                first: first.into(),
            });
        }
        self.judge_host(record);
        let touches_files = !phase.files.is_empty();
        if touches_files && record.disks.is_empty() {
            let because =
                "no underlying block device with counters (memory, network or overlay)".to_owned();
            self.note(Caveat::NoDiskStats { because });
        }
    }

    /// Adds the caveats that follow from host effects during a phase.
    fn judge_host(&mut self, record: &PhaseRecord) {
        let phase = || record.name.clone();
        let measured = record
            .workers
            .iter()
            .map(|w| w.runtime)
            .max()
            .unwrap_or_default();
        let none = HostPauses::default();
        let found = record.host_pauses.as_ref().unwrap_or(&none);
        for kind in [PauseKind::Stopped, PauseKind::Suspended] {
            let lengths = || {
                found
                    .pauses
                    .iter()
                    .filter(|pause| pause.kind == kind)
                    .map(|pause| pause.length)
            };
            let Some(longest) = lengths().max() else {
                continue;
            };
            let (times, total) = (lengths().count() as u32, found.total(kind));
            self.note(Caveat::Paused {
                phase: phase(),
                kind,
                times,
                total,
                longest,
            });
        }
        let share =
            |time: Nanos, least: u64| time >= LONG_WAIT && time.0 > measured.0 / 100 * least;
        if share(found.stolen, STOLEN_PERCENT) {
            self.note(Caveat::StolenTime {
                phase: phase(),
                stolen: found.stolen,
                measured,
            });
        }
        // If there are more workers than CPUs, they wait for one another, and other load is not the
        // cause.
        let alone =
            std::thread::available_parallelism().is_ok_and(|n| record.workers.len() <= n.get());
        let waited = record
            .workers
            .iter()
            .filter_map(|w| w.cpu.waited)
            .max()
            .unwrap_or_default();
        if alone && share(waited, WAITED_PERCENT) {
            self.note(Caveat::Descheduled {
                phase: phase(),
                waited,
                measured,
            });
        }
    }

    /// Lays out the files of a phase. Returns the time it took, if there was anything to do.
    fn lay_out(
        &mut self,
        phase: &PhasePlan,
        observer: &mut dyn Observer,
    ) -> Result<Option<LaidOut>, RunError> {
        if phase.files.iter().all(|file| file.lay_out == LayOut::Ready) {
            return Ok(None);
        }
        let (disks, begun, before, mut worked) = (
            DiskWatch::begin(&phase.files),
            Instant::now(),
            self.laid_out,
            false,
        );
        for (index, file) in phase
            .files
            .iter()
            .enumerate()
            .filter(|(_, f)| f.lay_out != LayOut::Ready)
        {
            let (mut last, mut before) = (Instant::now(), None);
            let mut go_on =
                observer.laying_out(&LayoutProgress { file, done: 0 }) == Flow::Continue;
            let result = files::lay_out(file, index as u64, &mut |done| {
                self.laid_out += done - before.replace(done).unwrap_or(done);
                if last.elapsed() >= LOOK || done == file.size.0 {
                    last = Instant::now();
                    go_on &= observer.laying_out(&LayoutProgress { file, done }) == Flow::Continue;
                }
                go_on && !self.options.stop.load(Relaxed)
            });
            worked |= matches!(result, Ok(true));
            if let Err(error) = result {
                if !file.path.starts_with("/proc")
                    && file.kind == hakaru_model::facts::TargetKind::Absent
                {
                    // An incomplete file is useless, and did not exist before.
                    let _ = std::fs::remove_file(&file.path);
                }
                return Err(error);
            }
        }
        let (bytes, elapsed) = (
            Bytes(self.laid_out - before),
            Nanos(begun.elapsed().as_nanos() as u64),
        );
        Ok(worked.then(|| LaidOut {
            bytes,
            elapsed,
            disks: disks.so_far(),
        }))
    }

    /// Returns the simulated card of a phase, and its start time.
    fn scheduler_for(&mut self, phase: &PhasePlan) -> Option<(Arc<SimScheduler>, u64)> {
        let worker = phase.workers.iter().find(|w| w.ioengine == IoEngine::Sim)?;
        let prices = worker.sim.as_deref()?;
        let scheduler = self.schedulers.entry(prices.name.clone());
        let scheduler = scheduler.or_insert_with(|| {
            Arc::new(SimScheduler::new(
                SimCard::new(prices.clone(), worker.seed),
                self.keeps_content,
            ))
        });
        let scheduler = Arc::clone(scheduler);
        let start = scheduler.open(phase.workers.len());
        Some((scheduler, start))
    }

    /// Runs the workers of a phase. Returns the records of workers with measurements, in order.
    fn work(
        &mut self,
        phase: &PhasePlan,
        head: PhaseHead,
        shared: &PhaseShared,
        scheduler: Option<(Arc<SimScheduler>, u64)>,
        disks: &DiskWatch,
        observer: &mut dyn Observer,
    ) -> (Vec<WorkerRecord>, Option<HostPauses>, Option<RunError>) {
        let names: Vec<Vec<String>> = phase
            .workers
            .iter()
            .map(|w| region_names(phase, w))
            .collect();
        let _shown = shown::shown(phase);
        let setup = PhaseSetup {
            files: &phase.files,
            clock: self.options.clock,
            sim: scheduler,
            direct_fallback: self.options.direct_fallback,
            replace_engines: self.options.replace_engines,
        };
        let found: Mutex<Vec<Caveat>> = Mutex::default();
        // Capacity for many seconds of ticks of every worker: a worker that blocks on a full channel would include
        // that wait in its measurement.
        let (sender, receiver) = sync_channel(64 + 16 * phase.workers.len());
        let (records, host_pauses, error) = std::thread::scope(|scope| {
            let (mut failure, mut returns, mut threads) = (None, Vec::new(), Vec::new());
            for (index, plan) in phase.workers.iter().enumerate() {
                let messages = sender.clone();
                let (setup, files, found) = (&setup, &names[index], &found);
                let (give_back, chunks) = std::sync::mpsc::channel();
                returns.push(give_back);
                let spawn = WorkerSpawn {
                    phase,
                    index,
                    plan,
                    files,
                    setup,
                    shared,
                    chunks,
                    wall_clock: self.options.wall_clock,
                };
                let thread = std::thread::Builder::new()
                    .name(plan.name.clone())
                    .stack_size(512 << 10);
                let spawned = thread.spawn_scoped(scope, move || spawn.run(&messages, found));
                match spawned {
                    Ok(thread) => threads.push(thread),
                    Err(e) => {
                        failure = Some(RunError::Thread {
                            job: plan.name.clone(),
                            reason: e.to_string(),
                        });
                        break;
                    }
                }
            }
            drop(sender);
            let options = self.options;
            let steady = SteadyWatch::new(phase);
            let (begun, over) = (Instant::now(), &mut self.over);
            let pauses = PauseWatch::begin();
            let watch = PhaseWatch {
                phase,
                head,
                shared,
                disks,
                receiver,
                returns,
                options,
                begun,
                steady,
                over,
                pauses,
            };
            let answer = watch.until_done(failure, observer);
            // The guard has reported the panic; an unjoined one would propagate to the phase
            // runner.
            threads.into_iter().for_each(|thread| drop(thread.join()));
            answer
        });
        for caveat in found.into_inner().unwrap_or_default() {
            self.note(caveat);
        }
        (records, host_pauses, error)
    }
}

/// Inputs of a worker thread.
struct WorkerSpawn<'a> {
    phase: &'a PhasePlan,
    index: usize,
    plan: &'a WorkerPlan,
    files: &'a [String],
    setup: &'a PhaseSetup<'a>,
    shared: &'a PhaseShared,
    chunks: Receiver<Box<LogChunk>>,
    wall_clock: fn() -> i64,
}

impl WorkerSpawn<'_> {
    /// Runs the worker and reports its end, even after a panic.
    fn run(self, messages: &SyncSender<Message>, found: &Mutex<Vec<Caveat>>) {
        let WorkerSpawn {
            phase,
            index,
            plan,
            files,
            setup,
            shared,
            chunks,
            wall_clock,
        } = self;
        let mut caveats = Vec::new();
        let waits_for = waits_for(phase, plan);
        let context = WorkerContext {
            index,
            plan,
            files,
            setup,
            shared,
            messages,
            chunks,
            wall_clock,
            waits_for,
        };
        let guard = PanicGuard {
            job: &plan.name,
            messages,
        };
        let _leaver = ExitGuard { shared, index };
        let answer = match run_worker(context, &mut caveats) {
            Ok(Some(record)) => Some(Message::Finished {
                worker: index,
                record: Box::new(record),
            }),
            Ok(None) => None,
            Err(error) => Some(Message::Failed(error)),
        };
        std::mem::forget(guard);
        found
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .append(&mut caveats);
        if let Some(message) = answer {
            let _ = messages.send(message);
        }
    }
}

/// Returns the workers that must finish before this one starts.
fn waits_for(phase: &PhasePlan, plan: &WorkerPlan) -> Vec<usize> {
    let Some(name) = &plan.wait_for else {
        return Vec::new();
    };
    let named = phase
        .workers
        .iter()
        .enumerate()
        .filter(|(_, w)| w.name == *name && w.job != plan.job);
    named.map(|(index, _)| index).collect()
}

/// Position of a phase in the run, and its start time.
#[derive(Clone, Copy, Debug)]
struct PhaseHead {
    index: usize,
    started_unix_ms: i64,
}

/// Notifies the others when a worker ends for any reason.
struct ExitGuard<'a> {
    shared: &'a PhaseShared,
    index: usize,
}

impl Drop for ExitGuard<'_> {
    fn drop(&mut self) {
        self.shared.leave(self.index);
    }
}

/// Names of a worker's regions in errors: their files, or the simulated card.
fn region_names(phase: &PhasePlan, worker: &WorkerPlan) -> Vec<String> {
    let name = |(number, file): (usize, u32)| match (&worker.sim, phase.files.get(file as usize)) {
        // A simulated card has no file, and the first file of the phase may belong to another job.
        (Some(prices), _) => prices.name.clone(),
        (None, _) if worker.ioengine == IoEngine::Null => unopened_name(worker, number),
        (None, Some(file)) => files::name_of(&file.path),
        (None, None) => worker.ioengine.name().to_owned(),
    };
    let files = worker.stream.regions.iter().map(|region| region.file);
    files.enumerate().map(name).collect()
}

/// Returns fio's name of a file that a worker of `ioengine=null` never opens.
fn unopened_name(worker: &WorkerPlan, number: usize) -> String {
    match worker.files.unopened.get(number) {
        Some(name) => name
            .replace("$jobname", &worker.name)
            .replace("$jobnum", &worker.clone.to_string()),
        None => format!("{}.{}.0", worker.name, worker.clone),
    }
}

/// Notifies the phase runner if a worker panics, so that it does not wait forever.
struct PanicGuard<'a> {
    job: &'a str,
    messages: &'a SyncSender<Message>,
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Failed(RunError::Panicked {
            job: self.job.to_owned(),
        }));
    }
}
