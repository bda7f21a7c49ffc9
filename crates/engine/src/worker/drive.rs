//! Two ways to drive a backend: one I/O at a time, or through a queue.

use super::Worker;
use crate::backend::{Files, QueueBackend, SyncBackend};
use crate::clock::Clock;
use hakaru_model::record::StopReason;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use std::marker::PhantomData;

/// How a worker drives its backend. The worker is compiled once for each.
pub(crate) trait Drive: Sized {
    type Backend: Files;

    /// Whether several I/Os can be in flight.
    const QUEUED: bool;

    /// Whether one call can submit I/Os and wait for others.
    fn submits_and_waits(backend: &Self::Backend) -> bool;

    /// Issues all I/Os of the worker's source.
    fn drive<C: Clock>(worker: &mut Worker<'_, Self, C>) -> StopReason;

    /// Runs a single I/O while no other is in flight.
    fn transfer_alone(backend: &mut Self::Backend, request: &IoRequest) -> Result<u32, Errno>;
}

/// Drives a synchronous backend: one I/O at a time.
pub(crate) struct OneAtATime<B>(PhantomData<B>);

impl<B: SyncBackend> Drive for OneAtATime<B> {
    type Backend = B;
    const QUEUED: bool = false;

    fn submits_and_waits(_: &B) -> bool {
        false
    }

    fn drive<C: Clock>(worker: &mut Worker<'_, Self, C>) -> StopReason {
        let gated = worker.account.inspects_each || worker.source.gated;
        let plain = worker.source.stream.as_plain().is_some() && !worker.follows();
        match (gated, plain) {
            (true, _) => worker.drive_one_at_a_time::<false, true, false>(),
            (false, true) if worker.marks_pages() => {
                worker.drive_one_at_a_time::<true, false, true>()
            }
            (false, true) => worker.drive_one_at_a_time::<true, false, false>(),
            (false, false) => worker.drive_one_at_a_time::<false, false, false>(),
        }
    }

    fn transfer_alone(backend: &mut B, request: &IoRequest) -> Result<u32, Errno> {
        backend.transfer(request)
    }
}

/// Drives a backend with a queue.
pub(crate) struct Queued<Q>(PhantomData<Q>);

impl<Q: QueueBackend> Drive for Queued<Q> {
    type Backend = Q;
    const QUEUED: bool = true;

    fn submits_and_waits(queue: &Q) -> bool {
        queue.submits_and_waits()
    }

    fn drive<C: Clock>(worker: &mut Worker<'_, Self, C>) -> StopReason {
        worker.drive_queue()
    }

    fn transfer_alone(queue: &mut Q, request: &IoRequest) -> Result<u32, Errno> {
        queue.prepare(0, request);
        queue.submit(0)?;
        let mut landed = Ok(0);
        let mut note = |_: u32, result: Result<u32, Errno>| landed = result;
        queue.reap(1, 1, None, &mut note)?;
        landed
    }
}
