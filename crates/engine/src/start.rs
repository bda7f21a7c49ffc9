//! Starts one worker: opens what it needs, picks backend and clock, and says when it is ready.

use crate::backend::Backend;
use crate::backend::files::{FileBackend, Positional, Seek, Vectored, Vectored2};
use crate::backend::libaio::AioBackend;
use crate::backend::null::NullBackend;
use crate::backend::uring::RingBackend;
use crate::clock::{Clock, ClockChoice, CounterClock, KernelClock};
use crate::error::RunError;
use crate::files;
use crate::shared::Message;
use crate::sim::seat::{Seat, World};
use crate::worker::{Surroundings, Worker};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::IoEngine;
use hakaru_model::plan::{FilePlan, WorkerPlan};
use hakaru_model::record::WorkerRecord;
use hakaru_sys::Errno;
use hakaru_sys::aio::AioQueue;
use hakaru_sys::buffer::Slots;
use hakaru_sys::ring::{Ring, RingOptions};
use rustix::fd::OwnedFd;
use rustix::io::ReadWriteFlags;
use std::sync::Arc;

/// What starting a worker needs besides its surroundings.
#[derive(Debug)]
pub(crate) struct Starter<'a> {
    pub(crate) files: &'a [FilePlan],
    pub(crate) clock: &'a ClockChoice,
    pub(crate) world: Option<(Arc<World>, u64)>,
    pub(crate) direct_fallback: bool,
    pub(crate) replace_engines: bool,
}

/// Runs one worker from opening its files to its record. `None` when the run was called off before it began.
pub(crate) fn run_worker(
    around: Surroundings<'_>,
    starter: &Starter<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let plan = around.plan;
    if !plan.cpus_allowed.is_empty() {
        hakaru_sys::thread::pin(&plan.cpus_allowed).map_err(|errno| RunError::Pin {
            job: plan.name.clone(),
            cpus: plan.cpus_allowed.clone(),
            errno,
            online: std::thread::available_parallelism().map_or(1, usize::from),
        })?;
    }
    let depth = plan.queue.iodepth as usize;
    let slots = || {
        let bytes = u64::from(plan.max_block) * depth as u64;
        Slots::new(depth, plan.max_block as usize).map_err(|errno| RunError::Memory {
            job: plan.name.clone(),
            bytes,
            errno,
        })
    };
    if let (IoEngine::Sim, Some((world, start))) = (plan.ioengine, &starter.world) {
        let (seat, clock) = Seat::new(Arc::clone(world), around.index, *start, slots()?);
        return Ok(go(around, seat, clock));
    }
    let opened = files::open_all(plan, starter.files, starter.direct_fallback, caveats)?;
    match plan.ioengine {
        IoEngine::Null => Ok(timed(around, NullBackend::new(slots()?), starter.clock)),
        IoEngine::IoUring => match ring(plan, slots()?, opened)? {
            Ok(backend) => Ok(timed(around, backend, starter.clock)),
            Err(because) => {
                replaced(starter, IoEngine::IoUring, IoEngine::Libaio, because, caveats)?;
                let opened = files::open_all(plan, starter.files, starter.direct_fallback, caveats)?;
                run_libaio(around, starter, slots()?, opened, caveats)
            }
        },
        IoEngine::Libaio => run_libaio(around, starter, slots()?, opened, caveats),
        _ => Ok(plain(around, opened, slots()?, starter.clock)),
    }
}

fn run_libaio(
    around: Surroundings<'_>,
    starter: &Starter<'_>,
    slots: Slots,
    opened: Vec<OwnedFd>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let plan = around.plan;
    let depth = plan.queue.iodepth as usize;
    let batch = if plan.queue.batch_submit == 0 { depth } else { plan.queue.batch_submit as usize };
    match AioQueue::new(slots) {
        Ok(queue) => Ok(timed(around, AioBackend::new(queue, opened, batch, depth), starter.clock)),
        Err(errno) => {
            replaced(starter, IoEngine::Libaio, IoEngine::Psync, why_not(errno), caveats)?;
            let slots = Slots::new(1, plan.max_block as usize).map_err(|errno| RunError::Memory {
                job: plan.name.clone(),
                bytes: plan.max_block.into(),
                errno,
            })?;
            Ok(plain(around, opened, slots, starter.clock))
        }
    }
}

fn plain(around: Surroundings<'_>, opened: Vec<OwnedFd>, slots: Slots, clock: &ClockChoice) -> Option<WorkerRecord> {
    let plan = around.plan;
    let mut flags = ReadWriteFlags::empty();
    if plan.engine.hipri {
        flags |= ReadWriteFlags::HIPRI;
    }
    if plan.engine.nowait {
        flags |= ReadWriteFlags::NOWAIT;
    }
    match plan.ioengine {
        IoEngine::Sync => timed(around, FileBackend::new(opened, slots, Seek), clock),
        IoEngine::Pvsync => timed(around, FileBackend::new(opened, slots, Vectored), clock),
        IoEngine::Pvsync2 => timed(around, FileBackend::new(opened, slots, Vectored2(flags)), clock),
        _ => timed(around, FileBackend::new(opened, slots, Positional), clock),
    }
}

/// A ring, or why there is none. Registration is tried where it was asked for, and in our own batched default.
fn ring(plan: &WorkerPlan, slots: Slots, opened: Vec<OwnedFd>) -> Result<Result<RingBackend, String>, RunError> {
    let depth = plan.queue.iodepth as usize;
    let lean = plan.queue.batch_submit == 0;
    let asked = RingOptions {
        fixed_buffers: plan.engine.fixedbufs || lean,
        fixed_files: plan.engine.registerfiles || lean,
        sq_poll: plan.engine.sqthread_poll,
        io_poll: plan.engine.hipri,
    };
    let copies = || opened.iter().map(|fd| fd.try_clone()).collect::<Result<Vec<_>, _>>();
    let first = copies().map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::MFILE));
    let answer = first.and_then(|files| Ring::new(slots, files, asked));
    match answer {
        Ok(ring) => return Ok(Ok(RingBackend::new(ring, depth))),
        Err(errno) if plan.engine.fixedbufs || plan.engine.registerfiles || !lean => return Ok(Err(why_not(errno))),
        Err(_) => {}
    }
    // Registered buffers count against the limit of locked memory: without them it may go.
    let bytes = u64::from(plan.max_block) * depth as u64;
    let slots = Slots::new(depth, plan.max_block as usize).map_err(|errno| RunError::Memory {
        job: plan.name.clone(),
        bytes,
        errno,
    })?;
    let bare = RingOptions { fixed_buffers: false, ..asked };
    Ok(Ring::new(slots, opened, bare).map(|ring| RingBackend::new(ring, depth)).map_err(why_not))
}

fn why_not(errno: Errno) -> String {
    match errno {
        Errno::NOSYS => "this kernel, or the emulator it runs under, does not have it".to_owned(),
        Errno::PERM => "the kernel forbids it (sysctl kernel.io_uring_disabled)".to_owned(),
        Errno::AGAIN => "all its places are taken (sysctl fs.aio-max-nr)".to_owned(),
        Errno::NOMEM => "memory may not be locked (ulimit -l)".to_owned(),
        errno => format!("the kernel answered: {errno}"),
    }
}

fn replaced(
    starter: &Starter<'_>,
    asked: IoEngine,
    used: IoEngine,
    because: String,
    caveats: &mut Vec<Caveat>,
) -> Result<(), RunError> {
    if !starter.replace_engines {
        return Err(RunError::NoEngine { ioengine: asked.name(), because });
    }
    let caveat = Caveat::EngineReplaced { asked: asked.name().to_owned(), used: used.name().to_owned(), because };
    if !caveats.contains(&caveat) {
        caveats.push(caveat);
    }
    Ok(())
}

fn timed<B: Backend>(around: Surroundings<'_>, backend: B, clock: &ClockChoice) -> Option<WorkerRecord> {
    match clock {
        ClockChoice::Counter(rate) => go(around, backend, CounterClock(*rate)),
        ClockChoice::Kernel { .. } => go(around, backend, KernelClock),
    }
}

/// Says that it is ready, waits for the others, and works.
fn go<B: Backend, C: Clock>(around: Surroundings<'_>, backend: B, clock: C) -> Option<WorkerRecord> {
    let (shared, messages) = (around.shared, around.messages);
    let worker = Worker::new(around, backend, clock);
    // A conductor that does not listen has called the run off, and the gate says so.
    let _ = messages.send(Message::Ready);
    shared.gate.wait().then(|| worker.run())
}
