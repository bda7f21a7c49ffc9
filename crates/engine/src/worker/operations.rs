//! Records each I/O and each flush of a worker with its times, for tracing.

use super::Worker;
use super::drive::Drive;
use super::in_flight::InflightIo;
use crate::backend::SyncKind;
use crate::clock::Clock;
use crate::run::MeasuredWorker;
use crate::shared::Message;
use hakaru_model::io_path::TracedOperation;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::stream::IoRequest;

/// Operations handed over at once.
const CHUNK: usize = 8192;

/// Operations that were not handed over yet.
#[derive(Debug)]
pub(super) struct OperationLog {
    /// Filled up to its capacity, then replaced: a worker allocates once per [`CHUNK`] operations.
    chunk: Vec<TracedOperation>,
    /// File of each region.
    files: Box<[u32]>,
    tid: u32,
}

impl OperationLog {
    /// Creates the log of the calling thread.
    pub(super) fn new(plan: &WorkerPlan) -> OperationLog {
        let regions = plan.stream.regions.iter();
        OperationLog {
            chunk: Vec::with_capacity(CHUNK),
            files: regions.map(|region| region.file).collect(),
            tid: hakaru_sys::thread::id(),
        }
    }

    /// Returns a full chunk.
    fn take_if_full(&mut self) -> Option<Vec<TracedOperation>> {
        let is_full = self.chunk.len() >= CHUNK;
        is_full.then(|| std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK)))
    }

    fn file(&self, region: u32) -> u32 {
        self.files.get(region as usize).copied().unwrap_or(region)
    }
}

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Records a completed I/O that began in the measured part. The trace of one that began in the ramp time is incomplete.
    pub(super) fn record_operation(&mut self, flight: &InflightIo, done: u64) {
        let Some(log) = self.account.operations.as_mut() else {
            return;
        };
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = flight.request;
        // The kernel may queue the requests of a batch before the call that submits it returns.
        let begin = if D::QUEUED {
            flight.created
        } else {
            flight.issued
        };
        if self.time.in_ramp || begin < self.time.measuring_since {
            return;
        }
        let file = log.file(region);
        log.chunk.push(TracedOperation {
            op: Some(op),
            tid: log.tid,
            file,
            offset,
            len: u64::from(len),
            begin,
            end: done,
        });
        if let Some(chunk) = log.take_if_full() {
            self.send_operations(chunk);
        }
    }

    /// Records a flush of the measured part.
    pub(super) fn record_flush(&mut self, region: u32, kind: SyncKind, begin: u64, end: u64) {
        let Some(log) = self.account.operations.as_mut() else {
            return;
        };
        if self.time.in_ramp || begin < self.time.measuring_since {
            return;
        }
        let (len, offset) = match kind {
            SyncKind::Full | SyncKind::Data => (0, 0),
            SyncKind::Range(len, offset, _) => (len, offset),
        };
        let file = log.file(region);
        log.chunk.push(TracedOperation {
            op: None,
            tid: log.tid,
            file,
            offset,
            len,
            begin,
            end,
        });
        if let Some(chunk) = log.take_if_full() {
            self.send_operations(chunk);
        }
    }

    /// Hands over the last operations, and publishes the measured part, which ended at `end`.
    pub(super) fn end_operations(&mut self, end: u64) {
        let Some(log) = self.account.operations.take() else {
            return;
        };
        self.context.shared.note_measured(MeasuredWorker {
            tid: log.tid,
            begin: self.time.measuring_since,
            end,
        });
        self.send_operations(log.chunk);
    }

    #[cold]
    fn send_operations(&self, operations: Vec<TracedOperation>) {
        let message = Message::Operations {
            worker: self.context.index,
            operations,
        };
        // The receiver is gone only when the run is being torn down.
        let _ = self.context.messages.send(message);
    }
}
