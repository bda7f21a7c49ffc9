//! Starts a worker: opens its files, selects backend and clock, and reports that it is ready.

mod locked;
mod offload;

use crate::backend::falloc::{FallocateCall, Truncate};
use crate::backend::fileops::{
    CreateFile, CreateFolder, NameBackend, NameCall, RemoveFile, RemoveFolder,
};
use crate::backend::files::{FileBackend, Positional, Seek, Vectored, Vectored2, VectoredSome};
use crate::backend::libaio::AioBackend;
use crate::backend::mmap::MmapBackend;
use crate::backend::null::NullBackend;
use crate::backend::posixaio::PosixaioBackend;
use crate::backend::stdio::StdioBackend;
use crate::backend::uring::RingBackend;
use crate::backend::vsync::VsyncBackend;
use crate::backend::{QueueBackend, SyncBackend};
use crate::clock::{Clock, ClockChoice, CounterClock, KernelClock};
use crate::error::RunError;
use crate::files;
use crate::shared::Message;
use crate::sim::backend::SimBackend;
use crate::worker::{Drive, OneAtATime, PhaseSetup, Queued, Worker, WorkerContext, WorkerParts};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::IoEngine;
use hakaru_model::job::rules::FileLock;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::WorkerRecord;
use hakaru_model::rng::Rng;
use hakaru_sys::Errno;
use hakaru_sys::aio::AioQueue;
use hakaru_sys::buffer::Slots;
use hakaru_sys::pipe::SplicePipe;
use hakaru_sys::ring::{Ring, RingOptions};
use hakaru_sys::vector::VectoredSlots;
use rustix::fd::OwnedFd;
use rustix::io::ReadWriteFlags;
use std::path::Path;
use std::sync::Arc;

/// Runs a worker from opening its files to its record. `None` if the run was canceled before the
/// start.
pub(crate) fn run_worker(
    context: WorkerContext<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, setup, index) = (context.plan, context.setup, context.index);
    let parts = WorkerParts::open(context)?;
    if let (IoEngine::Sim, Some((scheduler, start))) = (plan.ioengine, &setup.sim) {
        let (backend, clock) = SimBackend::new(Arc::clone(scheduler), index, *start, slots(plan)?);
        return Ok(go::<Queued<_>, _>(parts, backend, clock));
    }
    if plan.ioengine.works_on_names() {
        return run_engine(parts, caveats);
    }
    if plan.queue.offload {
        return offload::run(parts, caveats);
    }
    if plan.files.lock != FileLock::None {
        return locked::run(parts, caveats);
    }
    run_engine(parts, caveats)
}

/// Allocates one buffer for each I/O in flight.
fn slots(plan: &WorkerPlan) -> Result<Slots, RunError> {
    some_slots(plan, plan.queue.iodepth as usize)
}

/// Allocates the buffer of one of several I/Os in flight.
fn one_slot(plan: &WorkerPlan) -> Result<Slots, RunError> {
    some_slots(plan, 1)
}

fn some_slots(plan: &WorkerPlan, count: usize) -> Result<Slots, RunError> {
    let (size, spare) = (plan.max_block as usize, crate::content::spare(plan));
    Slots::with_spare(count, size, spare).map_err(|errno| no_memory(plan, errno))
}

fn no_memory(plan: &WorkerPlan, errno: Errno) -> RunError {
    let bytes = u64::from(plan.max_block) * u64::from(plan.queue.iodepth);
    RunError::Memory {
        job: plan.name.clone(),
        bytes,
        errno,
    }
}

/// Creates the directories that engines working on names expect.
fn make_directories(plan: &WorkerPlan, setup: &PhaseSetup<'_>) -> Result<(), RunError> {
    let needs_itself = matches!(plan.ioengine, IoEngine::Dirstat | IoEngine::Dirdelete);
    let files = plan
        .stream
        .regions
        .iter()
        .filter_map(|r| setup.files.get(r.file as usize));
    for path in files.map(|file| file.path.as_path()) {
        let directory = match needs_itself {
            true => Some(path),
            false => path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty()),
        };
        directory
            .map_or(Ok(()), std::fs::create_dir_all)
            .map_err(|e| {
                let errno = Errno::from_io_error(&e).unwrap_or(Errno::IO);
                RunError::LayOut {
                    path: path.to_owned(),
                    at: 0,
                    size: 0,
                    errno,
                }
            })?;
    }
    Ok(())
}

/// Runs a worker whose I/Os are file name operations: no file is opened.
fn named(parts: WorkerParts<'_>, call: impl NameCall) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, setup) = (parts.context.plan, parts.context.setup);
    make_directories(plan, setup)?;
    let files = plan
        .stream
        .regions
        .iter()
        .filter_map(|r| setup.files.get(r.file as usize));
    let paths = files.clone().map(|file| file.path.as_path());
    let backend = NameBackend::new(paths, slots(plan)?, call).map_err(|errno| {
        let path = files
            .clone()
            .next()
            .map_or(Path::new("").to_owned(), |file| file.path.clone());
        RunError::Open {
            path,
            purpose: "its name",
            errno,
        }
    })?;
    Ok(run_sync(parts, backend))
}

fn run_mmap(
    parts: WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, setup) = (parts.context.plan, parts.context.setup);
    let opened = files::open_all(plan, setup.files, setup.direct_fallback, caveats)?;
    let (regions, random) = (&plan.stream.regions, plan.stream.access.random);
    let path = |region: &hakaru_model::stream::Region| {
        setup
            .files
            .get(region.file as usize)
            .map(|f| f.path.clone())
    };
    if plan.files.direct {
        for path in regions.iter().filter_map(path) {
            note(
                caveats,
                Caveat::NotDirect {
                    path: path.display().to_string(),
                },
            );
        }
    }
    let backend = MmapBackend::new(
        opened,
        regions,
        slots(plan)?,
        plan.writes,
        random,
        plan.files.direct,
    );
    let backend = backend.map_err(|errno| RunError::Open {
        path: regions.first().and_then(path).unwrap_or_default(),
        purpose: "mapping it",
        errno,
    })?;
    Ok(run_sync(parts, backend))
}

fn run_libaio(
    parts: WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, setup) = (parts.context.plan, parts.context.setup);
    let opened = files::open_all(plan, setup.files, setup.direct_fallback, caveats)?;
    let depth = plan.queue.iodepth as usize;
    let batch = if plan.queue.batch_submit == 0 {
        depth
    } else {
        plan.queue.batch_submit as usize
    };
    match AioQueue::new(slots(plan)?) {
        Ok(queue) => {
            let queue = queue.nowait(plan.engine.nowait);
            Ok(run_queue(
                parts,
                AioBackend::new(queue, opened, batch, depth),
            ))
        }
        Err(errno) => {
            replaced(
                setup,
                IoEngine::Libaio,
                IoEngine::Psync,
                why_not(errno),
                caveats,
            )?;
            run_psync(parts, opened)
        }
    }
}

/// Runs a worker with its engine. An engine missing here or in `offload::submitter` is a compile error.
fn run_engine(
    parts: WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, setup) = (parts.context.plan, parts.context.setup);
    let depth = plan.queue.iodepth as usize;
    let slots = || slots(plan);
    let mut opened = || files::open_all(plan, setup.files, setup.direct_fallback, caveats);
    Ok(match plan.ioengine {
        IoEngine::IoUring => match ring(plan, slots()?, opened()?)? {
            Ok(backend) => run_queue(parts, backend),
            Err(because) => {
                replaced(setup, IoEngine::IoUring, IoEngine::Libaio, because, caveats)?;
                return run_libaio(parts, caveats);
            }
        },
        IoEngine::Libaio => return run_libaio(parts, caveats),
        IoEngine::Mmap => return run_mmap(parts, caveats),
        IoEngine::Null if depth > 1 => run_queue(parts, NullBackend::new(slots()?)),
        IoEngine::Null => run_sync(parts, NullBackend::new(slots()?)),
        IoEngine::Sync => run_sync(parts, FileBackend::new(opened()?, slots()?, Seek)),
        IoEngine::Psync => return run_psync(parts, opened()?),
        IoEngine::Pvsync => run_sync(parts, FileBackend::new(opened()?, slots()?, Vectored)),
        IoEngine::Pvsync2 => match polls_for_some(plan, 0) {
            None => run_sync(
                parts,
                FileBackend::new(opened()?, slots()?, call_flags(plan)),
            ),
            Some(some) => run_sync(parts, FileBackend::new(opened()?, slots()?, some)),
        },
        IoEngine::Vsync => run_queue(
            parts,
            VsyncBackend::new(opened()?, VectoredSlots::new(slots()?), depth),
        ),
        IoEngine::Stdio => run_sync(parts, StdioBackend::new(opened()?, slots()?, plan.writes)),
        IoEngine::Splice => {
            let pipe = SplicePipe::new().map_err(|errno| none(plan, errno))?;
            run_sync(parts, FileBackend::new(opened()?, slots()?, pipe))
        }
        IoEngine::Posixaio => {
            let mut rng = Rng::fork(plan.seed, 0xf2);
            let mut buffers = Vec::with_capacity(depth);
            for _ in 0..depth {
                let mut buffer = one_slot(plan)?;
                if plan.writes {
                    crate::content::fill(buffer.all_mut(), &plan.buffers, &mut rng);
                }
                buffers.push(buffer);
            }
            let backend = PosixaioBackend::new(opened()?, buffers);
            run_queue(parts, backend.map_err(|errno| no_memory(plan, errno))?)
        }
        IoEngine::Falloc => run_sync(parts, FileBackend::new(opened()?, slots()?, FallocateCall)),
        IoEngine::Ftruncate => run_sync(parts, FileBackend::new(opened()?, slots()?, Truncate)),
        IoEngine::Filecreate => return named(parts, CreateFile),
        IoEngine::Filestat | IoEngine::Dirstat => return named(parts, plan.engine.stat),
        IoEngine::Filedelete => return named(parts, RemoveFile),
        IoEngine::Dircreate => return named(parts, CreateFolder),
        IoEngine::Dirdelete => return named(parts, RemoveFolder),
        IoEngine::Sim => {
            let because = "no simulated card was handed in".to_owned();
            return Err(RunError::NoEngine {
                ioengine: plan.ioengine.name(),
                because,
            });
        }
    })
}

/// Runs a worker with `psync`, the fallback for every other engine.
fn run_psync(
    parts: WorkerParts<'_>,
    opened: Vec<OwnedFd>,
) -> Result<Option<WorkerRecord>, RunError> {
    let slots = slots(parts.context.plan)?;
    Ok(run_sync(parts, FileBackend::new(opened, slots, Positional)))
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
fn call_flags(plan: &WorkerPlan) -> Vectored2 {
    let mut flags = ReadWriteFlags::empty();
    flags.set(ReadWriteFlags::HIPRI, plan.engine.hipri);
    flags.set(ReadWriteFlags::NOWAIT, plan.engine.nowait);
    Vectored2(flags, flags | of_writes(plan))
}

/// Calls for polling a percentage of the I/Os (`hipri_percentage`); `stream` separates the random
/// choices of several callers of one worker.
fn polls_for_some(plan: &WorkerPlan, stream: u64) -> Option<VectoredSome> {
    let percent = plan.engine.hipri_percentage.filter(|_| plan.engine.hipri)?;
    Some(VectoredSome::new(
        call_flags(plan),
        percent,
        plan.seed.wrapping_add(stream),
    ))
}

fn none(plan: &WorkerPlan, errno: Errno) -> RunError {
    RunError::NoEngine {
        ioengine: plan.ioengine.name(),
        because: why_not(errno),
    }
}

/// Returns the ring options of a job.
fn ring_options(plan: &WorkerPlan) -> RingOptions {
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

/// Creates a ring, or returns the reason why not. Buffers and files are registered if the job
/// requests it, and by default for native jobs.
fn ring(
    plan: &WorkerPlan,
    slots: Slots,
    opened: Vec<OwnedFd>,
) -> Result<Result<RingBackend, String>, RunError> {
    let depth = plan.queue.iodepth as usize;
    let lean = plan.queue.batch_submit == 0 && !plan.engine.vectored && !plan.queue.separate_submit;
    let asked = RingOptions {
        fixed_buffers: plan.engine.fixedbufs || lean,
        fixed_files: plan.engine.registerfiles || lean,
        ..ring_options(plan)
    };
    let copies = || {
        opened
            .iter()
            .map(|fd| fd.try_clone())
            .collect::<Result<Vec<_>, _>>()
    };
    let first = copies().map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::MFILE));
    let answer = first.and_then(|files| Ring::new(slots, files, asked));
    match answer {
        Ok(ring) => return Ok(Ok(RingBackend::new(ring, depth))),
        Err(errno) if plan.engine.fixedbufs || plan.engine.registerfiles || !lean => {
            return Ok(Err(why_not(errno)));
        }
        Err(_) => {}
    }
    // Registered buffers count against the locked-memory limit: creation may succeed without them.
    let bare = RingOptions {
        fixed_buffers: false,
        ..asked
    };
    Ok(Ring::new(self::slots(plan)?, opened, bare)
        .map(|ring| RingBackend::new(ring, depth))
        .map_err(why_not))
}

fn why_not(errno: Errno) -> String {
    match errno {
        Errno::NOSYS => "not supported by this kernel or emulator".to_owned(),
        Errno::PERM => "the kernel forbids it (sysctl kernel.io_uring_disabled)".to_owned(),
        Errno::AGAIN => "all AIO slots are in use (sysctl fs.aio-max-nr)".to_owned(),
        Errno::NOMEM => "the locked-memory limit is reached (ulimit -l)".to_owned(),
        errno => format!("the kernel answered: {errno}"),
    }
}

fn replaced(
    setup: &PhaseSetup<'_>,
    asked: IoEngine,
    used: IoEngine,
    because: String,
    caveats: &mut Vec<Caveat>,
) -> Result<(), RunError> {
    if !setup.replace_engines {
        return Err(RunError::NoEngine {
            ioengine: asked.name(),
            because,
        });
    }
    note(
        caveats,
        Caveat::EngineReplaced {
            asked: asked.name().to_owned(),
            used: used.name().to_owned(),
            because,
        },
    );
    Ok(())
}

fn note(caveats: &mut Vec<Caveat>, caveat: Caveat) {
    if !caveats.contains(&caveat) {
        caveats.push(caveat);
    }
}

/// Runs a backend that performs one I/O at a time.
fn run_sync<B: SyncBackend>(parts: WorkerParts<'_>, backend: B) -> Option<WorkerRecord> {
    timed::<OneAtATime<B>>(parts, backend)
}

/// Runs a backend with a queue.
fn run_queue<Q: QueueBackend>(parts: WorkerParts<'_>, queue: Q) -> Option<WorkerRecord> {
    timed::<Queued<Q>>(parts, queue)
}

fn timed<D: Drive>(parts: WorkerParts<'_>, backend: D::Backend) -> Option<WorkerRecord> {
    match parts.context.setup.clock {
        ClockChoice::Counter(rate) => go::<D, _>(parts, backend, CounterClock(*rate)),
        ClockChoice::Kernel { .. } => go::<D, _>(parts, backend, KernelClock),
    }
}

/// Reports that the worker is ready, waits for the others, and runs it.
fn go<D: Drive, C: Clock>(
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
