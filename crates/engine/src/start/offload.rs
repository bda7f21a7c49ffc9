//! The engines of `io_submit_mode=offload`: one for each I/O in flight, with files and a buffer of its own.

use super::{Starter, call_flags, none, one_slot, polls_for_some, ring_options, timed};
use crate::backend::falloc::{Reserve, SpaceBackend};
use crate::backend::files::{FileBackend, Positional, Seek, Vectored};
use crate::backend::ftruncate::Truncate;
use crate::backend::libaio::AioBackend;
use crate::backend::mmap::MmapBackend;
use crate::backend::null::NullBackend;
use crate::backend::offload::{Alone, OffloadBackend, Submitter};
use crate::backend::splice::SpliceBackend;
use crate::backend::uring::RingBackend;
use crate::error::RunError;
use crate::files;
use crate::worker::Surroundings;
use hakaru_model::caveat::Caveat;
use hakaru_model::job::IoEngine;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::WorkerRecord;
use hakaru_model::rng::Rng;
use hakaru_sys::aio::AioQueue;
use hakaru_sys::pipe::SplicePipe;
use hakaru_sys::ring::{Ring, RingOptions};
use rustix::fd::OwnedFd;

/// Runs a worker whose I/Os are submitted by threads beside it.
pub(super) fn run(
    around: Surroundings<'_>,
    starter: &Starter<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let plan = around.plan;
    let files = files::open_all(plan, starter.files, starter.direct_fallback, caveats)?;
    let mut rng = Rng::fork(plan.seed, 0xf2);
    let mut submitters = Vec::with_capacity(plan.queue.iodepth as usize);
    for number in 0..plan.queue.iodepth {
        // The first dropped the caches and read what was to be read.
        let opened = files::open_only(plan, starter.files, starter.direct_fallback, caveats)?;
        let mut submitter = submitter(plan, number, opened)?;
        if plan.writes {
            crate::content::fill(submitter.whole_buffer(), &plan.buffers, &mut rng);
        }
        submitters.push(submitter);
    }
    let job = plan.name.clone();
    let backend = OffloadBackend::new(files, submitters);
    let backend = backend.map_err(|errno| RunError::Thread { job, reason: errno.to_string() })?;
    Ok(timed(around, backend, starter.clock))
}

/// One engine with one buffer, the `number`-th of its worker.
pub(super) fn submitter(plan: &WorkerPlan, number: u32, opened: Vec<OwnedFd>) -> Result<Box<dyn Submitter>, RunError> {
    let slots = one_slot(plan)?;
    let none = |errno| none(plan, errno);
    Ok(match plan.ioengine {
        IoEngine::Null => Box::new(Alone::new(NullBackend::new(slots))),
        IoEngine::Sync => Box::new(Alone::new(FileBackend::new(opened, slots, Seek))),
        IoEngine::Pvsync => Box::new(Alone::new(FileBackend::new(opened, slots, Vectored))),
        IoEngine::Pvsync2 => match polls_for_some(plan, number.into()) {
            None => Box::new(Alone::new(FileBackend::new(opened, slots, call_flags(plan)))),
            Some(some) => Box::new(Alone::new(FileBackend::new(opened, slots, some))),
        },
        IoEngine::Splice => {
            let pipe = SplicePipe::new().map_err(none)?;
            Box::new(Alone::new(SpliceBackend::new(opened, slots, pipe)))
        }
        IoEngine::Falloc => Box::new(Alone::new(SpaceBackend::new(opened, slots, Reserve))),
        IoEngine::Ftruncate => Box::new(Alone::new(SpaceBackend::new(opened, slots, Truncate))),
        IoEngine::Mmap => {
            let (regions, random) = (&plan.stream.regions, plan.stream.access.random);
            let mapped = MmapBackend::new(opened, regions, slots, plan.writes, random, plan.direct);
            Box::new(Alone::new(mapped.map_err(none)?))
        }
        IoEngine::Libaio => {
            let queue = AioQueue::new(slots).map_err(none)?.nowait(plan.engine.nowait);
            Box::new(Alone::new(AioBackend::new(queue, opened, 1, 1)))
        }
        IoEngine::IoUring => {
            // Any of the threads may get it next.
            let options = RingOptions { shared: true, ..ring_options(plan) };
            let ring = Ring::new(slots, opened, options).map_err(none)?;
            Box::new(Alone::new(RingBackend::new(ring, 1)))
        }
        IoEngine::Psync => Box::new(Alone::new(FileBackend::new(opened, slots, Positional))),
        IoEngine::Vsync
        | IoEngine::Posixaio
        | IoEngine::Stdio
        | IoEngine::Filecreate
        | IoEngine::Filestat
        | IoEngine::Filedelete
        | IoEngine::Dircreate
        | IoEngine::Dirstat
        | IoEngine::Dirdelete
        | IoEngine::Sim => {
            let because = "it cannot do one I/O at a time for another thread".to_owned();
            return Err(RunError::NoEngine { ioengine: plan.ioengine.name(), because });
        }
    })
}
