//! Events of a run for an observer, and its replies.

use crate::iolog::LogChunk;
use hakaru_model::io_path::{DiskTotals, TracedOperation};
use hakaru_model::job::PerOp;
use hakaru_model::plan::{FilePlan, PhasePlan};
use hakaru_model::record::{Interval, LatencyStepCounts, PhaseRecord};
use std::time::Duration;

/// Reply of an observer: whether the run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continues the run.
    Continue,
    /// Ends the run and keeps the measurements.
    Stop,
}

/// Progress of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseProgress {
    /// Time since the phase began.
    pub elapsed: Duration,
    /// Maximum remaining time, if known.
    pub remaining: Option<Duration>,
    /// Completed share, in thousandths, if known.
    pub permille: Option<u32>,
    /// I/Os completed since measurement began, by operation.
    pub ios: PerOp<u64>,
    /// Bytes transferred since measurement began, by operation.
    pub bytes: PerOp<u64>,
    /// Throughput since the last report, in bytes per second.
    pub bytes_per_s: PerOp<u64>,
    /// IOPS since the last report.
    pub iops: PerOp<u64>,
    /// Number of workers still running.
    pub running: usize,
    /// Whether the ramp time is over for all workers.
    pub measuring: bool,
    /// State of each worker of the phase, in order.
    pub stages: Vec<WorkerStage>,
}

/// State of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerStage {
    /// Waiting for its start, or for another job.
    Waiting,
    /// In its ramp time.
    Ramping,
    /// Measuring.
    Running,
    /// Finished.
    Done,
}

/// Layout progress of one file.
#[derive(Clone, Copy, Debug)]
pub struct LayoutProgress<'a> {
    /// The file.
    pub file: &'a FilePlan,
    /// Bytes written so far.
    pub done: u64,
}

/// Measured part of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredWorker {
    /// Its thread ID.
    pub tid: u32,
    /// End of the ramp time, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub begin: u64,
    /// Last completion, including final flushes, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub end: u64,
}

/// Counters of disks at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterReading {
    /// Time of the reading, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub at: u64,
    /// Totals of each disk by its kernel name.
    pub disks: Vec<(String, DiskTotals)>,
}

/// Measured part of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasuredPart {
    /// Measured part of each worker.
    pub workers: Vec<MeasuredWorker>,
    /// Counters at its start and at its end; `None` if workers end their ramp times at different moments.
    pub counters: Option<(CounterReading, CounterReading)>,
}

/// Observes a run and can stop it.
pub trait Observer {
    /// Called when a phase starts.
    fn phase_begins(&mut self, _index: usize, _phase: &PhasePlan) {}
    /// Called while a file is being laid out.
    fn laying_out(&mut self, _layout: &LayoutProgress<'_>) -> Flow {
        Flow::Continue
    }
    /// Called when all workers of a phase have opened their files, immediately before they start.
    fn workers_start(&mut self, _phase: &PhasePlan) {}
    /// Called with operations of a worker, if the run records them.
    fn operations(&mut self, _worker: usize, _operations: &[TracedOperation]) {}
    /// Called after the last worker of a phase has ended, if the run records operations. Temporary files still exist.
    fn measured(&mut self, _phase: &PhasePlan, _part: &MeasuredPart) {}
    /// Called several times per second while a phase runs.
    fn progress(&mut self, _phase: &PhasePlan, _progress: &PhaseProgress) -> Flow {
        Flow::Continue
    }
    /// Called with the latencies of an interval, immediately before the interval itself.
    fn latencies(&mut self, _worker: usize, _latencies: &PerOp<LatencyStepCounts>) {}
    /// Called when a worker has ended an interval.
    fn interval(&mut self, _worker: usize, _interval: &Interval) {}
    /// Called with new log entries of a worker.
    fn log(&mut self, _worker: usize, _chunk: &LogChunk) {}
    /// Whether to report partial results; called several times per second during a phase.
    fn wants_so_far(&mut self) -> bool {
        false
    }
    /// Called with the partial results of a phase, including disk counters.
    fn so_far(&mut self, _index: usize, _record: &PhaseRecord) {}
    /// Called when a phase has ended.
    fn phase_ends(&mut self, _record: &PhaseRecord) -> Flow {
        Flow::Continue
    }
}

/// An observer that ignores all events and never stops a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
