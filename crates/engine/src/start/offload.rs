//! Engines of `io_submit_mode=offload`: one per I/O in flight, each with its own files and buffer.

use super::launch::run_queue;
use super::options::{
    call_flags, map_regions, one_slot, polls_for_some, ring_options, unavailable,
};
use crate::backend::falloc::{FallocateCall, Truncate};
use crate::backend::files::{FileBackend, Positional, Seek, Vectored};
use crate::backend::libaio::AioBackend;
use crate::backend::null::NullBackend;
use crate::backend::offload::{BlockingQueue, OffloadBackend, Submitter};
use crate::backend::uring::RingBackend;
use crate::error::RunError;
use crate::files;
use crate::worker::WorkerParts;
use hakaru_model::caveat::Caveat;
use hakaru_model::job::IoEngine;
use hakaru_model::obstacle::EngineObstacle;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::WorkerRecord;
use hakaru_model::rng::Rng;
use hakaru_sys::aio::AioQueue;
use hakaru_sys::pipe::SplicePipe;
use hakaru_sys::ring::{Ring, RingOptions};
use rustix::fd::OwnedFd;

/// Runs a worker whose I/Os are submitted by separate threads.
pub(super) fn run(
    parts: WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, setup) = (parts.context.plan, parts.context.setup);
    let files = setup.open(plan, caveats)?;
    let mut rng = Rng::fork(plan.seed, 0xf2);
    let mut submitters = Vec::with_capacity(plan.queue.iodepth as usize);
    for number in 0..plan.queue.iodepth {
        // The first engine has already dropped the caches and read ahead.
        let opened = files::open_only(plan, setup.files, setup.direct_fallback, caveats)?;
        let mut submitter = submitter(plan, number, opened)?;
        if plan.writes {
            crate::content::fill(submitter.buffers(), &plan.buffers, &mut rng);
        }
        submitters.push(submitter);
    }
    let job = plan.name.clone();
    let backend = OffloadBackend::new(files, submitters);
    let backend = backend.map_err(|errno| RunError::Thread { job, errno })?;
    Ok(run_queue(parts, backend))
}

/// Creates engine number `number` of a worker, with one buffer.
pub(super) fn submitter(
    plan: &WorkerPlan,
    number: u32,
    opened: Vec<OwnedFd>,
) -> Result<Submitter, RunError> {
    let slots = one_slot(plan)?;
    let unavailable = |errno| unavailable(plan, errno);
    Ok(match plan.ioengine {
        IoEngine::Null => Box::new(NullBackend::new(slots)),
        IoEngine::Sync => Box::new(FileBackend::new(opened, slots, Seek)),
        IoEngine::Pvsync => Box::new(FileBackend::new(opened, slots, Vectored)),
        IoEngine::Pvsync2 => match polls_for_some(plan, number.into()) {
            None => Box::new(FileBackend::new(opened, slots, call_flags(plan))),
            Some(some) => Box::new(FileBackend::new(opened, slots, some)),
        },
        IoEngine::Splice => {
            let pipe = SplicePipe::new().map_err(unavailable)?;
            Box::new(FileBackend::new(opened, slots, pipe))
        }
        IoEngine::Falloc => Box::new(FileBackend::new(opened, slots, FallocateCall)),
        IoEngine::Ftruncate => Box::new(FileBackend::new(opened, slots, Truncate)),
        IoEngine::Mmap => {
            let mapped = map_regions(plan, slots, opened);
            Box::new(mapped.map_err(unavailable)?)
        }
        IoEngine::Libaio => {
            let queue = AioQueue::new(slots)
                .map_err(unavailable)?
                .nowait(plan.engine.nowait);
            Box::new(BlockingQueue::new(AioBackend::new(queue, opened, 1, 1)))
        }
        IoEngine::IoUring => {
            // Any thread of the pool may use it next.
            let options = RingOptions {
                shared: true,
                ..ring_options(plan)
            };
            let ring = Ring::new(slots, opened, options).map_err(unavailable)?;
            Box::new(BlockingQueue::new(RingBackend::new(ring, 1)))
        }
        IoEngine::Psync => Box::new(FileBackend::new(opened, slots, Positional)),
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
            return Err(RunError::NoEngine {
                ioengine: plan.ioengine.name(),
                because: EngineObstacle::NotForOtherThreads,
            });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::SyncBackend;
    use crate::backend::files::DRAWN;
    use crate::backend::locked::LockedBackend;
    use hakaru_model::facts::{TargetFacts, TargetKind};
    use hakaru_model::job::rules::FileLock;
    use hakaru_model::job::{Access, Job, Op, Scenario, SizeSpec, Target};
    use hakaru_model::plan::Plan;
    use hakaru_model::stream::IoRequest;
    use hakaru_model::units::Bytes;
    use std::path::Path;
    use std::sync::RwLock;

    const EACH: u64 = 1000;

    fn polling(path: &Path, percent: u32) -> Plan {
        let target = Target::Paths(vec![path.to_owned()]);
        let mut job = Job::new("a", target, Access::only(Op::Read, false));
        job.ioengine = IoEngine::Pvsync2;
        job.extent.size = Some(SizeSpec::Bytes(Bytes(4096)));
        (job.engine.hipri, job.engine.hipri_percentage) = (true, Some(percent));
        job.queue.iodepth = 4;
        let facts = TargetFacts {
            kind: TargetKind::File,
            size: Bytes(4096),
            free: None,
            logical_block: 512,
            direct_io: None,
            writable: true,
            path: path.to_owned(),
        };
        let facts = [(path.to_owned(), facts)].into();
        Plan::resolve(&Scenario::of_job(job), &facts).unwrap()
    }

    /// Returns the percentage of polled I/Os among the calls of `perform`, whether or not the file system supports
    /// polling.
    fn polled(mut perform: impl FnMut(&IoRequest)) -> u32 {
        let request = IoRequest {
            op: Op::Read,
            region: 0,
            offset: 0,
            len: 512,
        };
        DRAWN.set((0, 0));
        (0..EACH).for_each(|_| perform(&request));
        let (all, polled) = DRAWN.get();
        assert_eq!(u64::from(all), EACH, "each I/O is drawn for");
        polled * 100 / all
    }

    /// Regression: with threads or file locks, all I/Os were polled.
    #[test]
    fn offloaded_and_locked_ios_poll_for_their_share() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(4096).unwrap();
        let opened = || vec![OwnedFd::from(file.reopen().unwrap())];
        for percent in [0, 10, 50, 100] {
            let plan = polling(file.path(), percent);
            let worker = &plan.phases[0].workers[0];
            for number in 0..4 {
                let mut submitter = submitter(worker, number, opened()).unwrap();
                let found = polled(|request| _ = submitter.transfer(request));
                assert!(
                    found.abs_diff(percent) <= 6,
                    "submitter {number}, {percent} %: {found} %"
                );
            }
            let engine = submitter(worker, 0, opened()).unwrap();
            let lock = RwLock::new(());
            let mut locked = LockedBackend::new(engine, opened(), vec![&lock], FileLock::Exclusive);
            let found = polled(|request| _ = locked.transfer(request));
            assert!(
                found.abs_diff(percent) <= 6,
                "locked, {percent} %: {found} %"
            );
        }
    }
}
