//! Buffers and options of the backends, from the plan of a worker.

use crate::backend::files::{Vectored2, VectoredSome};
use crate::backend::mmap::MmapBackend;
use crate::error::RunError;
use hakaru_model::obstacle::EngineObstacle;
use hakaru_model::plan::WorkerPlan;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use hakaru_sys::ring::RingOptions;
use rustix::fd::OwnedFd;
use rustix::io::ReadWriteFlags;

/// Allocates one buffer for each I/O in flight.
pub(super) fn slots(plan: &WorkerPlan) -> Result<Slots, RunError> {
    some_slots(plan, plan.queue.iodepth as usize)
}

/// Allocates the buffer of one of several I/Os in flight.
pub(super) fn one_slot(plan: &WorkerPlan) -> Result<Slots, RunError> {
    some_slots(plan, 1)
}

fn some_slots(plan: &WorkerPlan, count: usize) -> Result<Slots, RunError> {
    let (size, spare) = (plan.max_block as usize, crate::content::spare(plan));
    Slots::with_spare(count, size, spare).map_err(|errno| no_memory(plan, errno))
}

pub(super) fn no_memory(plan: &WorkerPlan, errno: Errno) -> RunError {
    let bytes = u64::from(plan.max_block) * u64::from(plan.queue.iodepth);
    RunError::Memory {
        job: plan.name.clone(),
        bytes,
        errno,
    }
}

/// Makes a write all or nothing. Older kernel headers do not define this flag.
const RWF_ATOMIC: u32 = 0x40;

fn of_writes(plan: &WorkerPlan) -> ReadWriteFlags {
    if plan.files.atomic {
        ReadWriteFlags::from_bits_retain(RWF_ATOMIC)
    } else {
        ReadWriteFlags::empty()
    }
}

/// Returns the flags for `preadv2` and `pwritev2`.
pub(super) fn call_flags(plan: &WorkerPlan) -> Vectored2 {
    let mut flags = ReadWriteFlags::empty();
    flags.set(ReadWriteFlags::HIPRI, plan.engine.hipri);
    flags.set(ReadWriteFlags::NOWAIT, plan.engine.nowait);
    Vectored2(flags, flags | of_writes(plan))
}

/// Calls for polling a percentage of the I/Os (`hipri_percentage`); `stream` separates the random
/// choices of several callers of one worker.
pub(super) fn polls_for_some(plan: &WorkerPlan, stream: u64) -> Option<VectoredSome> {
    let percent = plan.engine.hipri_percentage.filter(|_| plan.engine.hipri)?;
    Some(VectoredSome::new(
        call_flags(plan),
        percent,
        plan.seed.wrapping_add(stream),
    ))
}

pub(super) fn unavailable(plan: &WorkerPlan, errno: Errno) -> RunError {
    RunError::NoEngine {
        ioengine: plan.ioengine.name(),
        because: why_not(errno),
    }
}

/// Returns the ring options of a job.
pub(super) fn ring_options(plan: &WorkerPlan) -> RingOptions {
    let engine = &plan.engine;
    RingOptions {
        fixed_buffers: engine.fixedbufs,
        fixed_files: engine.registerfiles,
        sq_poll: engine.sqthread_poll,
        io_poll: engine.hipri,
        nowait: engine.nowait,
        vectored: engine.vectored,
        sq_poll_cpu: engine.sqthread_poll_cpu.filter(|_| engine.sqthread_poll),
        force_async: engine.force_async,
        shared: false,
    }
}

pub(super) fn why_not(errno: Errno) -> EngineObstacle {
    match errno {
        Errno::NOSYS => EngineObstacle::Unsupported,
        Errno::PERM => EngineObstacle::Forbidden,
        Errno::AGAIN => EngineObstacle::NoAioSlots,
        Errno::NOMEM => EngineObstacle::LockedMemory,
        errno => EngineObstacle::Failed {
            errno: errno.raw_os_error(),
        },
    }
}

/// Maps the regions of a worker.
pub(super) fn map_regions(
    plan: &WorkerPlan,
    slots: Slots,
    opened: Vec<OwnedFd>,
) -> Result<MmapBackend, Errno> {
    let (regions, random) = (&plan.stream.regions, plan.stream.access.random);
    let direct = plan.files.direct;
    MmapBackend::new(opened, regions, slots, plan.writes, random, direct)
}
