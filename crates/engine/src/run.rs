//! Runs a plan: one phase after another, with all workers of a phase at once.

mod caveats;
mod fill;
mod observer;
mod options;
mod shown;
mod watch;

pub use self::options::{EngineReport, RunOptions};
pub use observer::{
    CounterReading, Flow, LayoutProgress, MeasuredPart, MeasuredWorker, NoObserver, Observer,
    PhaseProgress, WorkerStage,
};

use self::options::LOOK;
use crate::clock::{ClockChoice, ClockMark};
use crate::disks::DiskWatch;
use crate::error::{RunError, note};
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
use hakaru_model::facts::TargetKind;
use hakaru_model::hash::fnv1a;
use hakaru_model::job::IoEngine;
use hakaru_model::measured::{HostPauses, LaidOut};
use hakaru_model::plan::{FilePlan, LayOut, PhasePlan, Plan, WorkerPlan};
use hakaru_model::record::{IoError, Outcome, PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};
use watch::{PhaseHead, PhaseWatch};

/// Clock deviation in ppm above which a caveat is recorded: storage measurements need no higher
/// accuracy.
const DRIFT_PPM: f64 = 500.0;

/// Runs a plan to its end or until stopped. All results are in the report, also after an error.
pub fn run(plan: &Plan, options: &RunOptions<'_>, observer: &mut dyn Observer) -> EngineReport {
    let mut workers = plan.phases.iter().flat_map(|phase| &phase.workers);
    let mut runner = PhaseRunner {
        options,
        schedulers: BTreeMap::new(),
        keeps_content: workers.any(|worker| worker.verify.is_some()),
        caveats: plan.caveats.clone(),
        phases: Vec::new(),
        laid_out: 0,
        over: false,
        halted: false,
    };
    let mark = ClockMark::take();
    runner.note_clock();
    let error = runner.run_phases(&plan.phases, observer).err();
    runner.note_drift(&mark);
    let PhaseRunner {
        caveats,
        phases,
        laid_out,
        halted,
        ..
    } = runner;
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
        let plan = phase.workers.iter().find(same);
        plan.is_some_and(|plan| plan.termination.exit.phases_after_error)
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
        note(&mut self.caveats, caveat);
    }

    /// Whether workers record each operation. The clock must be that of kernel events.
    fn records_operations(&self) -> bool {
        let kernel_clock = matches!(self.options.clock, ClockChoice::Kernel { .. });
        self.options.record_operations && kernel_clock
    }

    /// Notes why the kernel's clock times the I/Os, if it is a fallback.
    fn note_clock(&mut self) {
        let clock = self.options.clock;
        if let ClockChoice::Kernel {
            because: Some(because),
        } = clock
        {
            self.note(Caveat::ClockFallback {
                used: clock.name().to_owned(),
                because: because.clone().into(),
            });
        }
    }

    /// Notes the deviation of the clock since the start of the run. The rate of the counter was calibrated within a
    /// few milliseconds; the whole run measures it far more precisely.
    fn note_drift(&mut self, since: &ClockMark) {
        let clock = self.options.clock;
        if let Some(ppm) = clock.drift_ppm(since)
            && ppm.abs() > DRIFT_PPM
        {
            self.note(Caveat::ClockDrift {
                clock: clock.name().to_owned(),
                ppm: ppm as i64,
            });
        }
    }

    /// Runs all phases, or up to the one that ends the run.
    fn run_phases(
        &mut self,
        phases: &[PhasePlan],
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        for (index, phase) in phases.iter().enumerate() {
            if self.options.stop.load(Relaxed) {
                break;
            }
            if phase.workers.is_empty() {
                self.lay_out(phase, observer)?;
                continue;
            }
            if index > 0 && !self.pause(phase.pause) {
                break;
            }
            observer.phase_begins(index, phase);
            self.phase(index, phase, observer)?;
            let ended = |record: &PhaseRecord| record.workers.iter().any(ends_run(phase));
            if self.over || self.halted || self.phases.last().is_some_and(ended) {
                break;
            }
        }
        Ok(())
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
        let mut cleanup = CleanupGuard {
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
        let simulated = scheduler.is_some();
        let (workers, host_pauses, error) =
            self.work(phase, head, &shared, scheduler, &disks, observer);
        if self.records_operations() && !workers.is_empty() {
            observer.measured(phase, &shared.measured_part());
        }
        let (disks, traffic) = (disks.so_far(), shared.disks.traffic());
        cleanup.begun = !workers.is_empty();
        if workers.is_empty() {
            return error.map_or(Ok(()), Err);
        }
        let elapsed = caveats::longest(&workers, |w| w.job_runtime);
        let record = PhaseRecord {
            name: phase.name.clone(),
            started_unix_ms: if simulated { 0 } else { started_unix_ms },
            elapsed,
            workers,
            disks,
            traffic,
            laid_out,
            // Host pauses do not affect virtual time.
            host_pauses: host_pauses.filter(|_| !simulated),
            paths: Vec::new(),
        };
        for caveat in caveats::of_phase(phase, &record) {
            self.note(caveat);
        }
        self.halted |= observer.phase_ends(&record) == Flow::Stop;
        self.phases.push(record);
        error.map_or(Ok(()), Err)
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
        let (disks, begun, before) = (
            DiskWatch::begin(&phase.files),
            Instant::now(),
            self.laid_out,
        );
        let mut worked = false;
        for (file, seed) in phase.files.iter().zip(0..) {
            worked |= self.lay_out_file(file, seed, observer)?;
        }
        Ok(worked.then(|| LaidOut {
            bytes: Bytes(self.laid_out - before),
            elapsed: Nanos(begun.elapsed().as_nanos() as u64),
            disks: disks.so_far(),
        }))
    }

    /// Lays out a file. Returns whether there was anything to do.
    fn lay_out_file(
        &mut self,
        file: &FilePlan,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<bool, RunError> {
        if file.lay_out == LayOut::Ready {
            return Ok(false);
        }
        let (mut last, mut before) = (Instant::now(), None);
        let mut report =
            |done| observer.laying_out(&LayoutProgress { file, done }) == Flow::Continue;
        let mut go_on = report(0);
        let result = files::lay_out(file, seed, &mut |done| {
            self.laid_out += done - before.replace(done).unwrap_or(done);
            if last.elapsed() >= LOOK || done == file.size.0 {
                last = Instant::now();
                go_on &= report(done);
            }
            go_on && !self.options.stop.load(Relaxed)
        });
        let is_new = file.kind == TargetKind::Absent && !file.path.starts_with("/proc");
        if result.is_err() && is_new {
            // An incomplete file is useless, and did not exist before.
            let _ = std::fs::remove_file(&file.path);
        }
        result
    }

    /// Returns the simulated card of a phase, and its start time.
    fn scheduler_for(&mut self, phase: &PhasePlan) -> Option<(Arc<SimScheduler>, u64)> {
        let worker = phase.workers.iter().find(|w| w.ioengine == IoEngine::Sim)?;
        let card = worker.sim.as_deref()?;
        let scheduler = self.schedulers.entry(card.name.clone());
        let scheduler = scheduler.or_insert_with(|| {
            // Without the name of the phase, two workloads with the same I/Os would have the same noise, and thus the
            // same figures to the last digit.
            let seed = Rng::fork(worker.seed, fnv1a(phase.name.as_bytes())).next_u64();
            Arc::new(SimScheduler::new(
                SimCard::new(card.clone(), seed),
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
        let workers = phase.workers.iter();
        let names: Vec<Vec<String>> = workers.map(|w| region_names(phase, w)).collect();
        let _shown = shown::shown(phase);
        let setup = PhaseSetup {
            files: &phase.files,
            clock: self.options.clock,
            sim: scheduler,
            direct_fallback: self.options.direct_fallback,
            replace_engines: self.options.replace_engines,
            records_operations: self.records_operations(),
        };
        let found: Mutex<Vec<Caveat>> = Mutex::default();
        let common = PhaseInputs {
            phase,
            names: &names,
            setup: &setup,
            shared,
            found: &found,
            wall_clock: self.options.wall_clock,
        };
        let (records, host_pauses, error) = std::thread::scope(|scope| {
            let (started, receiver) = common.start_workers(scope);
            let watch = PhaseWatch {
                phase,
                head,
                shared,
                disks,
                receiver,
                returns: started.returns,
                options: self.options,
                steady: SteadyWatch::new(phase),
                begun: Instant::now(),
                over: &mut self.over,
                pauses: PauseWatch::begin(),
            };
            let answer = watch.until_done(started.failure, observer);
            // The guard has reported the panic; an unjoined one would propagate to the phase
            // runner.
            let threads = started.threads.into_iter();
            threads.for_each(|thread| drop(thread.join()));
            answer
        });
        for caveat in found.into_inner().unwrap_or_default() {
            self.note(caveat);
        }
        (records, host_pauses, error)
    }
}

/// What all workers of a phase share.
#[derive(Clone, Copy)]
struct PhaseInputs<'env> {
    phase: &'env PhasePlan,
    /// Names of the regions of each worker.
    names: &'env [Vec<String>],
    setup: &'env PhaseSetup<'env>,
    shared: &'env PhaseShared,
    /// Caveats of the workers.
    found: &'env Mutex<Vec<Caveat>>,
    wall_clock: fn() -> i64,
}

/// The threads of the workers of a phase.
struct StartedWorkers<'scope> {
    threads: Vec<ScopedJoinHandle<'scope, ()>>,
    /// Channels that return log chunks to the workers.
    returns: Vec<Sender<Box<LogChunk>>>,
    /// Why not all could be started.
    failure: Option<RunError>,
}

impl<'env> PhaseInputs<'env> {
    /// Starts a thread for each worker. Also returns the channel of their messages.
    fn start_workers<'scope>(
        self,
        scope: &'scope Scope<'scope, 'env>,
    ) -> (StartedWorkers<'scope>, Receiver<Message>) {
        // Capacity for many seconds of ticks of every worker: a worker that blocks on a full channel would include
        // that wait in its measurement.
        let (sender, receiver) = sync_channel(64 + 16 * self.phase.workers.len());
        let (mut threads, mut returns, mut failure) = (Vec::new(), Vec::new(), None);
        for (index, plan) in self.phase.workers.iter().enumerate() {
            let (give_back, chunks) = channel();
            returns.push(give_back);
            let messages = sender.clone();
            let thread = std::thread::Builder::new()
                .name(plan.name.clone())
                .stack_size(512 << 10);
            match thread.spawn_scoped(scope, move || self.run(index, &messages, chunks)) {
                Ok(thread) => threads.push(thread),
                Err(e) => {
                    let (job, errno) = (plan.name.clone(), crate::error::errno_of(&e));
                    failure = Some(RunError::Thread { job, errno });
                    break;
                }
            }
        }
        let started = StartedWorkers {
            threads,
            returns,
            failure,
        };
        (started, receiver)
    }

    /// Runs a worker and reports its end, even after a panic.
    fn run(self, index: usize, messages: &SyncSender<Message>, chunks: Receiver<Box<LogChunk>>) {
        let plan = &self.phase.workers[index];
        let context = WorkerContext {
            index,
            plan,
            files: &self.names[index],
            setup: self.setup,
            shared: self.shared,
            messages,
            chunks,
            wall_clock: self.wall_clock,
            waits_for: waits_for(self.phase, plan),
        };
        let job = &plan.name;
        let guard = PanicGuard { job, messages };
        let shared = self.shared;
        let _exit_guard = ExitGuard { shared, index };
        let mut caveats = Vec::new();
        let answer = run_worker(context, &mut caveats);
        std::mem::forget(guard);
        let found = self.found.lock();
        found
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut caveats);
        let message = match answer.transpose() {
            None => return,
            Some(Ok(record)) => Message::Finished {
                worker: index,
                record: Box::new(record),
            },
            Some(Err(error)) => Message::Failed(error),
        };
        let _ = messages.send(message);
    }
}

/// Returns the workers that must finish before this one starts.
fn waits_for(phase: &PhasePlan, plan: &WorkerPlan) -> Vec<usize> {
    let Some(name) = &plan.wait_for else {
        return Vec::new();
    };
    let workers = phase.workers.iter().enumerate();
    let named = workers.filter(|(_, w)| w.name == *name && w.job != plan.job);
    named.map(|(index, _)| index).collect()
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
        (Some(card), _) => card.name.clone(),
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
