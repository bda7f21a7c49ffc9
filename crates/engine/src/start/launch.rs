//! Runs an open worker with its backend and the clock of the run.

use crate::backend::{QueueBackend, SyncBackend};
use crate::clock::{Clock, ClockChoice, CounterClock, KernelClock};
use crate::shared::Message;
use crate::worker::{Drive, OneAtATime, Queued, Worker, WorkerParts};
use hakaru_model::record::WorkerRecord;

/// Runs a backend that performs one I/O at a time.
pub(super) fn run_sync<B: SyncBackend>(parts: WorkerParts<'_>, backend: B) -> Option<WorkerRecord> {
    timed::<OneAtATime<B>>(parts, backend)
}

/// Runs a backend with a queue.
pub(super) fn run_queue<Q: QueueBackend>(parts: WorkerParts<'_>, queue: Q) -> Option<WorkerRecord> {
    timed::<Queued<Q>>(parts, queue)
}

fn timed<D: Drive>(parts: WorkerParts<'_>, backend: D::Backend) -> Option<WorkerRecord> {
    match parts.context.setup.clock {
        ClockChoice::Counter(rate) => launch::<D, _>(parts, backend, CounterClock(*rate)),
        ClockChoice::Kernel { .. } => launch::<D, _>(parts, backend, KernelClock),
    }
}

/// Reports that the worker is ready, waits for the others, and runs it.
pub(super) fn launch<D: Drive, C: Clock>(
    parts: WorkerParts<'_>,
    backend: D::Backend,
    clock: C,
) -> Option<WorkerRecord> {
    let (shared, messages) = (parts.context.shared, parts.context.messages);
    let worker = Worker::<D, C>::new(parts, backend, clock);
    // If the receiver is gone, the run was canceled, and the gate shows it.
    let _ = messages.send(Message::Ready);
    shared.gate.wait().then(|| worker.run())
}
