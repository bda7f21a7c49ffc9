//! Accounting of a worker: statistics, logs, limits, verification and errors.

use super::limits::WorkerLimits;
use super::operations::OperationLog;
use crate::iolog::IoLog;
use crate::recorder::Recorder;
use crate::verify::Checker;
use crate::worker_stats::WorkerStats;
use hakaru_model::job::{Op, PerOp};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{DepthRecord, ErrorRecord};
use hakaru_model::units::Bytes;
use hakaru_sys::thread::Usage;

/// Statistics and records of a worker's I/Os.
pub(super) struct Account {
    pub(super) stats: WorkerStats,
    pub(super) depth: DepthRecord,
    pub(super) errors: ErrorRecord,
    /// I/Os that failed, by operation.
    pub(super) refused: [u64; 3],
    pub(super) check: Option<Box<Checker>>,
    /// Whether a mismatch ended a job that otherwise continues after errors (`verify_fatal`).
    pub(super) gave_up: bool,
    /// Log of the requests (`write_iolog`).
    pub(super) recorder: Option<Recorder>,
    pub(super) log: Option<Box<IoLog>>,
    pub(super) limits: Option<Box<WorkerLimits>>,
    /// Every operation with its times, if the run records them.
    pub(super) operations: Option<Box<OperationLog>>,
    /// Whether each I/O is inspected on completion.
    pub(super) inspects_each: bool,
    pub(super) at_start: ThreadUsage,
    /// Bytes transferred during the ramp time.
    pub(super) ramp_bytes: Option<PerOp<Bytes>>,
}

/// Resource usage of the worker's thread at the start of measurement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ThreadUsage {
    pub(super) thread: Usage,
    /// Run-queue wait in nanoseconds.
    pub(super) waited: Option<u64>,
}

/// Properties of a worker that its accounting depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccountKind {
    /// Whether several I/Os can be in flight.
    pub(super) queued: bool,
    /// Whether each operation is recorded with its times.
    pub(super) records_operations: bool,
}

impl Account {
    /// Allocates everything needed for counting.
    pub(super) fn new(
        plan: &WorkerPlan,
        mut check: Option<Box<Checker>>,
        recorder: Option<Recorder>,
        kind: AccountKind,
    ) -> Account {
        let AccountKind {
            queued,
            records_operations,
        } = kind;
        if let Some(check) = &mut check {
            check.queued = queued;
        }
        let (used, syncs) = counted(plan);
        let ticks = plan
            .runtime
            .map_or(1024, |time| time.0 / plan.measure.tick.0 + 2);
        let limits = WorkerLimits::new(plan);
        let logs = &plan.measure.logs;
        Account {
            stats: WorkerStats::new(&plan.measure, used, syncs, ticks as usize),
            depth: DepthRecord {
                iodepth: plan.queue.iodepth,
                ..DepthRecord::default()
            },
            errors: ErrorRecord::default(),
            refused: [0; 3],
            check,
            gave_up: false,
            recorder,
            log: IoLog::new(logs, plan, queued),
            operations: records_operations.then(|| Box::new(OperationLog::new(plan))),
            inspects_each: records_operations
                || logs.samples && logs.window.is_none()
                || limits.as_ref().is_some_and(|limits| limits.inspects_each()),
            limits,
            at_start: ThreadUsage::default(),
            ramp_bytes: None,
        }
    }

    /// Resets the counters of the ramp time, except its bytes.
    pub(super) fn end_ramp(&mut self) {
        let totals = self.stats.totals();
        let bytes = |op: Op| Bytes(totals[op].1);
        self.ramp_bytes = Some(PerOp {
            read: bytes(Op::Read),
            write: bytes(Op::Write),
            trim: bytes(Op::Trim),
        });
        self.stats.restart();
    }

    /// Resets the errors and depths of the ramp time.
    pub(super) fn forget_refusals(&mut self) {
        self.refused = [0; 3];
        self.depth = DepthRecord {
            iodepth: self.depth.iodepth,
            ..DepthRecord::default()
        };
    }

    /// Whether a completed write may require a flush or verification.
    pub(super) fn follows(&self) -> bool {
        self.check.is_some() || self.recorder.is_some()
    }
}

/// Returns the operations that a worker records, and whether it flushes between I/Os.
fn counted(plan: &WorkerPlan) -> (PerOp<bool>, bool) {
    let access = &plan.stream.access;
    let read = access.does(Op::Read) || plan.verify.is_some();
    let used = PerOp {
        read,
        write: access.does(Op::Write),
        trim: access.does(Op::Trim),
    };
    let d = &plan.durability;
    (
        used,
        d.fsync_every > 0 || d.fdatasync_every > 0 || d.range_sync.is_some(),
    )
}
