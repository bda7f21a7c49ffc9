//! State shared by the workers and the phase runner: a stop flag, progress counters, and messages.

use crate::disks::DiskWindow;
use crate::flow::FlowCounters;
use crate::iolog::LogChunk;
use crate::run::{MeasuredPart, MeasuredWorker};
use crate::zones::ZoneTables;
use hakaru_model::io_path::TracedOperation;
use hakaru_model::job::PerOp;
use hakaru_model::job::rules::FileLock;
use hakaru_model::plan::{FilePlan, WorkerPlan};
use hakaru_model::record::{Interval, LatencyStepCounts, WorkerRecord};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Condvar, Mutex, PoisonError, RwLock};

/// Progress of a worker, published a few times per second, on separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct WorkerProgress {
    pub(crate) ios: [AtomicU64; 3],
    pub(crate) bytes: [AtomicU64; 3],
    /// Set when the worker has nothing left to wait for.
    pub(crate) begun: AtomicBool,
    pub(crate) measuring: AtomicBool,
    /// Completed share of a job that ends by bytes, in thousandths.
    pub(crate) permille: AtomicU32,
    /// Set when the end of another job, or its own steady state, ends this worker.
    pub(crate) ended: AtomicBool,
    /// Set to request partial results.
    pub(crate) asked: AtomicBool,
}

/// State visible to all workers of a phase.
#[derive(Debug)]
pub(crate) struct PhaseShared {
    pub(crate) stop: AtomicBool,
    pub(crate) progress: Vec<WorkerProgress>,
    pub(crate) gate: StartGate,
    /// Reporting group of each worker.
    groups: Vec<u32>,
    pub(crate) flows: FlowCounters,
    pub(crate) done: CompletionTracker,
    /// Zones of the files, where the job respects zones.
    pub(crate) tables: ZoneTables,
    /// Locks of the files of the phase, if a worker requests them.
    pub(crate) locks: Box<[RwLock<()>]>,
    /// Disk counters over the measured part.
    pub(crate) disks: DiskWindow,
    /// Measured parts of the workers that have ended, if the run records operations.
    measured: Mutex<Vec<MeasuredWorker>>,
}

impl PhaseShared {
    pub(crate) fn new(workers: &[WorkerPlan], files: &[FilePlan]) -> PhaseShared {
        let progress = workers.iter().map(|_| WorkerProgress::default()).collect();
        let done = CompletionTracker {
            done: Mutex::new(vec![false; workers.len()]),
            changed: Condvar::new(),
        };
        let (stop, gate) = (AtomicBool::new(false), StartGate::default());
        let groups = workers.iter().map(|worker| worker.group).collect();
        let (flows, tables, locks) = (
            FlowCounters::new(workers),
            ZoneTables::of(workers),
            locks(workers),
        );
        let disks = DiskWindow::new(files, workers);
        PhaseShared {
            stop,
            progress,
            gate,
            groups,
            flows,
            done,
            tables,
            locks,
            disks,
            measured: Mutex::default(),
        }
    }

    /// Adds the measured part of a worker.
    pub(crate) fn note_measured(&self, worker: MeasuredWorker) {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        measured.push(worker);
    }

    /// Returns the measured part of the phase, once its workers have ended.
    pub(crate) fn measured_part(&self) -> MeasuredPart {
        let measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        MeasuredPart {
            workers: measured.clone(),
            counters: self.disks.readings(),
        }
    }

    /// Stops the workers of a group, or all.
    pub(crate) fn end(&self, group: Option<u32>) {
        for (published, of) in self.progress.iter().zip(&self.groups) {
            if group.is_none_or(|group| group == *of) {
                published
                    .ended
                    .store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    /// Marks a worker as finished.
    pub(crate) fn leave(&self, worker: usize) {
        self.flows.leave(worker);
        self.done.note(worker);
    }
}

/// Creates a lock for each file, if any file is to be locked.
fn locks(workers: &[WorkerPlan]) -> Box<[RwLock<()>]> {
    let locking = workers
        .iter()
        .filter(|worker| worker.files.lock != FileLock::None);
    let files = locking
        .flat_map(|worker| &worker.stream.regions)
        .map(|region| region.file + 1)
        .max();
    (0..files.unwrap_or(0)).map(|_| RwLock::new(())).collect()
}

/// Tracks finished workers, for the workers that wait for them.
#[derive(Debug)]
pub(crate) struct CompletionTracker {
    done: Mutex<Vec<bool>>,
    changed: Condvar,
}

impl CompletionTracker {
    fn note(&self, worker: usize) {
        let mut done = self
            .done
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(done) = done.get_mut(worker) {
            *done = true;
        }
        self.changed.notify_all();
    }

    /// Waits until these workers are finished, or `give_up` returns true.
    pub(crate) fn wait_for(&self, workers: &[usize], give_up: impl Fn() -> bool) {
        let mut done = self
            .done
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        while !give_up() && workers.iter().any(|&worker| !done[worker]) {
            let answer = self
                .changed
                .wait_timeout(done, std::time::Duration::from_millis(50));
            done = answer.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }
}

/// Message of a worker to the phase runner.
#[derive(Debug)]
pub(crate) enum Message {
    /// All files are open and all buffers filled.
    Ready,
    /// The worker cannot start.
    Failed(crate::error::RunError),
    /// An interval has ended.
    Interval {
        worker: usize,
        interval: Interval,
        latencies: PerOp<LatencyStepCounts>,
    },
    /// New log entries.
    Log { worker: usize, chunk: Box<LogChunk> },
    /// Operations with their times.
    Operations {
        worker: usize,
        operations: Vec<TracedOperation>,
    },
    /// Partial results, on request.
    SoFar {
        worker: usize,
        record: Box<WorkerRecord>,
    },
    /// The worker has finished.
    Finished {
        worker: usize,
        record: Box<WorkerRecord>,
    },
}

/// Barrier at which workers wait until all are ready.
#[derive(Debug, Default)]
pub(crate) struct StartGate {
    open: Mutex<Option<bool>>,
    changed: Condvar,
}

impl StartGate {
    /// Starts all workers (`true`) or cancels them (`false`).
    pub(crate) fn decide(&self, go: bool) {
        *self
            .open
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(go);
        self.changed.notify_all();
    }

    /// Waits for the decision.
    pub(crate) fn wait(&self) -> bool {
        let mut open = self
            .open
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        loop {
            if let Some(go) = *open {
                return go;
            }
            open = self
                .changed
                .wait(open)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }
}
