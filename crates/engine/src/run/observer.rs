//! Events of a run for an observer, and its replies.

use crate::iolog::LogChunk;
use hakaru_model::job::PerOp;
use hakaru_model::plan::{FilePlan, PhasePlan};
use hakaru_model::record::{Interval, PhaseRecord};
use std::time::Duration;

/// Whether the run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    Continue,
    /// It ends, and keeps what was measured.
    Stop,
}

/// How far a phase has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseProgress {
    /// Time since the phase began.
    pub elapsed: Duration,
    /// Longest time it can still take, where that is known.
    pub remaining: Option<Duration>,
    /// Share done, in thousandths, where that is known.
    pub permille: Option<u32>,
    /// I/Os done since measurement began, by operation.
    pub ios: PerOp<u64>,
    /// Bytes of them.
    pub bytes: PerOp<u64>,
    /// Bandwidth since the last look, bytes per second.
    pub bytes_per_s: PerOp<u64>,
    /// Completions per second since the last look.
    pub iops: PerOp<u64>,
    /// Workers still at work.
    pub running: usize,
    /// Whether the ramp time is over for all workers.
    pub measuring: bool,
    /// How far each worker of the phase is, in order.
    pub stages: Vec<WorkerStage>,
}

/// How far a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerStage {
    /// It waits for its start, or for another job.
    Waiting,
    /// In its ramp time.
    LeadIn,
    /// At work.
    AtWork,
    /// Done.
    Done,
}

/// A file being laid out.
#[derive(Clone, Copy, Debug)]
pub struct LayoutProgress<'a> {
    /// The object.
    pub file: &'a FilePlan,
    /// Bytes written so far.
    pub done: u64,
}

/// Observes a run and can stop it.
pub trait Observer {
    /// A phase starts.
    fn phase_begins(&mut self, _index: usize, _phase: &PhasePlan) {}
    /// A file is being laid out.
    fn laying_out(&mut self, _layout: &LayoutProgress<'_>) -> Flow {
        Flow::Continue
    }
    /// Several times per second while a phase runs.
    fn progress(&mut self, _phase: &PhasePlan, _progress: &PhaseProgress) -> Flow {
        Flow::Continue
    }
    /// A worker has ended an interval.
    fn interval(&mut self, _worker: usize, _interval: &Interval) {}
    /// New log entries of a worker.
    fn log(&mut self, _worker: usize, _chunk: &LogChunk) {}
    /// Whether to report partial results; called several times per second during a phase.
    fn wants_so_far(&mut self) -> bool {
        false
    }
    /// What a phase has measured so far, disk counters included.
    fn so_far(&mut self, _index: usize, _record: &PhaseRecord) {}
    /// A phase is over.
    fn phase_ends(&mut self, _record: &PhaseRecord) -> Flow {
        Flow::Continue
    }
}

/// An observer that says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}
