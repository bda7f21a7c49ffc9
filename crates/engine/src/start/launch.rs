//! Runs an open worker with its backend and the clock of the run.
//!
//! The worker is compiled for each backend whose I/Os may take less than a microsecond, with the CPU's counter. All
//! other combinations share one worker: a system call, a thread or the kernel's clock takes far longer than a call
//! through a pointer, and each compiled worker adds 30 kB to the program.

use crate::backend::erased::{AnyQueue, AnySync};
use crate::backend::{QueueBackend, SyncBackend};
use crate::clock::{Clock, ClockChoice, CounterClock, HostClock};
use crate::shared::Message;
use crate::worker::{Drive, OneAtATime, Queued, Worker, WorkerParts};
use hakaru_model::record::WorkerRecord;
use hakaru_sys::clock::HAS_COUNTER;

/// Runs a backend that performs one I/O at a time.
pub(super) fn run_sync<B: SyncBackend>(parts: WorkerParts<'_>, backend: B) -> Option<WorkerRecord> {
    run_any_sync(parts, Box::new(backend))
}

/// Runs a backend with a queue.
pub(super) fn run_queue<Q: QueueBackend>(parts: WorkerParts<'_>, queue: Q) -> Option<WorkerRecord> {
    run_any_queue(parts, Box::new(queue))
}

/// [`run_sync`] for a backend whose I/Os may take less than a microsecond.
pub(super) fn run_fast_sync<B: SyncBackend>(
    parts: WorkerParts<'_>,
    backend: B,
) -> Option<WorkerRecord> {
    match counter(&parts) {
        Some(clock) => launch::<OneAtATime<B>, _>(parts, backend, clock),
        None => run_sync(parts, backend),
    }
}

/// [`run_queue`] for a backend whose I/Os may take less than a microsecond.
pub(super) fn run_fast_queue<Q: QueueBackend>(
    parts: WorkerParts<'_>,
    queue: Q,
) -> Option<WorkerRecord> {
    match counter(&parts) {
        Some(clock) => launch::<Queued<Q>, _>(parts, queue, clock),
        None => run_queue(parts, queue),
    }
}

// Not generic: each is compiled once.

#[inline(never)]
fn run_any_sync(parts: WorkerParts<'_>, backend: AnySync<'_>) -> Option<WorkerRecord> {
    let clock = host_clock(&parts);
    launch::<OneAtATime<AnySync<'_>>, _>(parts, backend, clock)
}

#[inline(never)]
fn run_any_queue(parts: WorkerParts<'_>, queue: AnyQueue<'_>) -> Option<WorkerRecord> {
    let clock = host_clock(&parts);
    launch::<Queued<AnyQueue<'_>>, _>(parts, queue, clock)
}

/// The CPU's counter, if it is the clock of the run. Known to be absent when compiling for a CPU without one.
fn counter(parts: &WorkerParts<'_>) -> Option<CounterClock> {
    match parts.context.setup.clock {
        ClockChoice::Counter(rate) if HAS_COUNTER => Some(CounterClock(*rate)),
        _ => None,
    }
}

fn host_clock(parts: &WorkerParts<'_>) -> HostClock {
    counter(parts).map_or(HostClock::Kernel, HostClock::Counter)
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
