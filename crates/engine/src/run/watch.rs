//! Supervises the workers of a phase: receives messages, notifies the observer, stops workers.

use super::caveats::longest;
use super::options::{LOOK, RunOptions};
use super::{Flow, Observer, PhaseProgress, WorkerStage};
use crate::disks::DiskWatch;
use crate::error::RunError;
use crate::host::PauseWatch;
use crate::iolog::LogChunk;
use crate::shared::{Message, PhaseShared, WorkerProgress};
use crate::steady::SteadyWatch;
use hakaru_model::job::rules::ExitScope;
use hakaru_model::job::{Op, PerOp};
use hakaru_model::measured::HostPauses;
use hakaru_model::plan::{PhasePlan, WorkerPlan};
use hakaru_model::record::{Interval, PhaseRecord, StopReason, WorkerRecord};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Position of a phase in the run, and its start time.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseHead {
    pub(super) index: usize,
    pub(super) started_unix_ms: i64,
}

/// Receives the messages of the workers of a phase.
pub(super) struct PhaseWatch<'a> {
    pub(super) phase: &'a PhasePlan,
    pub(super) head: PhaseHead,
    pub(super) shared: &'a PhaseShared,
    pub(super) disks: &'a DiskWatch,
    pub(super) receiver: Receiver<Message>,
    /// Channels to return log chunks to the workers.
    pub(super) returns: Vec<Sender<Box<LogChunk>>>,
    pub(super) options: &'a RunOptions<'a>,
    pub(super) begun: Instant,
    pub(super) steady: SteadyWatch,
    /// Set when a job ends the whole run.
    pub(super) over: &'a mut bool,
    pub(super) pauses: PauseWatch,
}

impl PhaseWatch<'_> {
    /// Whether the end of this worker ends the whole run.
    fn ends_all(&self, worker: usize, stop: StopReason) -> bool {
        let Some(plan) = self.phase.workers.get(worker) else {
            return false;
        };
        match stop {
            StopReason::Stopped | StopReason::Ended => false,
            StopReason::Error if plan.termination.exit.on_error => true,
            _ => plan.termination.exit.ends == Some(ExitScope::All),
        }
    }

    fn take_interval(&mut self, worker: usize, interval: &Interval) {
        for ended in self.steady.take(worker, interval) {
            self.shared.progress[ended].ended.store(true, Relaxed);
        }
    }

    /// Returns the state of each worker.
    fn stages(&self, records: &[Option<WorkerRecord>]) -> Vec<WorkerStage> {
        let workers = self.shared.progress.iter().zip(&self.phase.workers);
        let stage = |((published, plan), record): ((&WorkerProgress, &WorkerPlan), &Option<_>)| {
            let measuring = published.measuring.load(Relaxed) || plan.ramp_time.0 == 0;
            match (record, published.begun.load(Relaxed), measuring) {
                (Some(_), ..) => WorkerStage::Done,
                (None, false, _) => WorkerStage::Waiting,
                (None, true, false) => WorkerStage::Ramping,
                (None, true, true) => WorkerStage::Running,
            }
        };
        workers.zip(records).map(stage).collect()
    }

    /// Requests partial results from the running workers.
    fn ask(&self, records: &[Option<WorkerRecord>]) {
        let workers = self.shared.progress.iter().zip(records);
        for (published, _) in workers.filter(|(_, record)| record.is_none()) {
            published.asked.store(true, Relaxed);
        }
    }

    /// Reports partial results when all workers have replied or ended. Returns whether it did.
    fn report_so_far(
        &self,
        partial: &mut [Option<WorkerRecord>],
        records: &[Option<WorkerRecord>],
        observer: &mut dyn Observer,
    ) -> bool {
        let either = records.iter().zip(partial.iter());
        let all: Option<Vec<WorkerRecord>> = either
            .map(|(whole, part)| whole.as_ref().or(part.as_ref()).cloned())
            .collect();
        let Some(workers) = all else { return false };
        let record = PhaseRecord {
            name: self.phase.name.clone(),
            started_unix_ms: self.head.started_unix_ms,
            elapsed: longest(&workers, |w| w.job_runtime),
            workers,
            disks: self.disks.so_far(),
            ..PhaseRecord::default()
        };
        observer.so_far(self.head.index, &record);
        partial.fill(None);
        true
    }

    /// Starts all workers, once all are ready.
    fn begin(&mut self) {
        self.begun = Instant::now();
        self.pauses = PauseWatch::begin();
        self.shared.gate.decide(true);
    }

    /// Forwards an external stop; workers that still `wait` for each other do not start.
    fn forward_stop(&self, wait: bool) {
        if self.options.stop.load(Relaxed) {
            self.shared.stop.store(true, Relaxed);
            if wait {
                self.shared.gate.decide(false);
            }
        }
    }

    pub(super) fn until_done(
        mut self,
        mut failure: Option<RunError>,
        observer: &mut dyn Observer,
    ) -> (Vec<WorkerRecord>, Option<HostPauses>, Option<RunError>) {
        let total = self.phase.workers.len();
        let mut records: Vec<Option<WorkerRecord>> = vec![None; total];
        let mut partial: Vec<Option<WorkerRecord>> = vec![None; total];
        let mut ready = 0;
        let mut meter = SpeedMeter::default();
        // Whether a report of partial results is waiting for replies.
        let mut awaited = false;
        if failure.is_some() {
            self.shared.gate.decide(false);
        }
        loop {
            let (asked, since) = (LOOK.saturating_sub(meter.since_look()), Instant::now());
            let message = self.receiver.recv_timeout(asked);
            self.pauses.waited_for(asked, since);
            match message {
                Ok(Message::Ready) => {
                    ready += 1;
                    if ready == total && failure.is_none() {
                        observer.workers_start(self.phase);
                        self.begin();
                    }
                }
                Ok(Message::Failed(error)) => {
                    failure.get_or_insert(error);
                    self.shared.gate.decide(false);
                    self.shared.stop.store(true, Relaxed);
                }
                Ok(Message::Interval {
                    worker,
                    interval,
                    latencies,
                }) => {
                    self.take_interval(worker, &interval);
                    observer.latencies(worker, &latencies);
                    observer.interval(worker, &interval);
                }
                Ok(Message::Operations { worker, operations }) => {
                    observer.operations(worker, &operations);
                }
                Ok(Message::SoFar { worker, record }) => {
                    partial[worker] = Some(*record);
                    awaited &= !self.report_so_far(&mut partial, &records, observer);
                }
                Ok(Message::Log { worker, chunk }) => {
                    observer.log(worker, &chunk);
                    // A finished worker needs no more chunks; the error is ignored.
                    let _ = self.returns[worker].send(chunk);
                }
                Ok(Message::Finished { worker, mut record }) => {
                    *self.over |= self.ends_all(worker, record.stop);
                    record.steady = self.steady.leave(worker);
                    records[worker] = Some(*record);
                    // The report may have been waiting for this worker.
                    awaited = awaited && !self.report_so_far(&mut partial, &records, observer);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            self.forward_stop(ready < total);
            if meter.since_look() >= LOOK {
                self.pauses.look();
                if ready == total && !awaited && observer.wants_so_far() {
                    awaited = true;
                    self.ask(&records);
                }
                let progress =
                    meter.look(self.phase, self.shared, self.begun, self.stages(&records));
                if observer.progress(self.phase, &progress) == Flow::Stop {
                    self.shared.stop.store(true, Relaxed);
                }
            }
        }
        let error = failure.or_else(|| (ready < total).then_some(RunError::StoppedEarly));
        (
            records.into_iter().flatten().collect(),
            self.pauses.end(),
            error,
        )
    }
}

/// Converts published counters to throughput and IOPS.
struct SpeedMeter {
    looked: Instant,
    ios: PerOp<u64>,
    bytes: PerOp<u64>,
}

impl Default for SpeedMeter {
    fn default() -> Self {
        SpeedMeter {
            looked: Instant::now(),
            ios: PerOp::default(),
            bytes: PerOp::default(),
        }
    }
}

impl SpeedMeter {
    fn since_look(&self) -> Duration {
        self.looked.elapsed()
    }

    fn look(
        &mut self,
        phase: &PhasePlan,
        shared: &PhaseShared,
        begun: Instant,
        stages: Vec<WorkerStage>,
    ) -> PhaseProgress {
        let elapsed = begun.elapsed();
        let (permille, remaining) = done_and_remaining(phase, shared, elapsed);
        let unfinished = |stage: &&WorkerStage| **stage != WorkerStage::Done;
        let mut progress = PhaseProgress {
            elapsed,
            permille,
            remaining,
            running: stages.iter().filter(unfinished).count(),
            stages,
            measuring: shared.progress.iter().all(|p| p.measuring.load(Relaxed)),
            ..PhaseProgress::default()
        };
        let span = self.since_look().as_secs_f64().max(1e-3);
        for op in Op::ALL {
            for worker in &shared.progress {
                progress.ios[op] += worker.ios[op as usize].load(Relaxed);
                progress.bytes[op] += worker.bytes[op as usize].load(Relaxed);
            }
            let per_s = |now: u64, before: u64| (now.saturating_sub(before) as f64 / span) as u64;
            progress.iops[op] = per_s(progress.ios[op], self.ios[op]);
            progress.bytes_per_s[op] = per_s(progress.bytes[op], self.bytes[op]);
        }
        (self.ios, self.bytes, self.looked) = (progress.ios, progress.bytes, Instant::now());
        progress
    }
}

/// Returns the completed part of a phase in thousandths, and its remaining time, as far as they are known.
fn done_and_remaining(
    phase: &PhasePlan,
    shared: &PhaseShared,
    elapsed: Duration,
) -> (Option<u32>, Option<Duration>) {
    let workers = || phase.workers.iter();
    let bound = |w: &WorkerPlan| {
        let runtime = w.runtime?.0 + w.ramp_time.0 + w.startdelay.0;
        Some(Duration::from_nanos(runtime))
    };
    let longest = workers()
        .map(bound)
        .try_fold(Duration::ZERO, |max, t| Some(max.max(t?)));
    let shares = shared.progress.iter().map(|p| p.permille.load(Relaxed));
    let bounded = workers().all(|w| w.stream.limit_bytes.is_some());
    let by_bytes = shares.min().filter(|_| bounded);
    let by_time = longest
        .filter(|t| !t.is_zero())
        .map(|t| (elapsed.as_nanos() * 1000 / t.as_nanos()).min(1000) as u32);
    let left_by_time = longest.map(|t| t.saturating_sub(elapsed));
    let left_by_bytes = by_bytes
        .filter(|&p| p > 0)
        .map(|p| elapsed.mul_f64(f64::from(1000 - p) / f64::from(p)));
    let remaining = match (left_by_time, left_by_bytes) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    (by_bytes.max(by_time), remaining)
}
