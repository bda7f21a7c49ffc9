//! Starts a worker: opens its files, selects backend and clock, and reports that it is ready.

mod launch;
mod locked;
mod offload;
mod options;

use self::launch::{launch, run_fast_queue, run_fast_sync, run_queue, run_sync};
use self::options::{
    call_flags, map_regions, no_memory, one_slot, polls_for_some, ring_options, slots, unavailable,
    why_not,
};

use crate::backend::falloc::{FallocateCall, Truncate};
use crate::backend::fileops::{
    CreateFile, CreateFolder, NameBackend, NameCall, RemoveFile, RemoveFolder,
};
use crate::backend::files::{FileBackend, Positional, Seek, Vectored};
use crate::backend::libaio::AioBackend;
use crate::backend::null::NullBackend;
use crate::backend::posixaio::PosixaioBackend;
use crate::backend::stdio::StdioBackend;
use crate::backend::uring::RingBackend;
use crate::backend::vsync::VsyncBackend;
use crate::error::{RunError, note};
use crate::sim::backend::SimBackend;
use crate::worker::{PhaseSetup, Queued, WorkerContext, WorkerParts};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::IoEngine;
use hakaru_model::job::rules::FileLock;
use hakaru_model::obstacle::EngineObstacle;
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
use std::path::{Path, PathBuf};
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
        return Ok(launch::<Queued<_>, _>(parts, backend, clock));
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

/// Creates the directories that engines working on names expect.
fn make_directories(plan: &WorkerPlan, setup: &PhaseSetup<'_>) -> Result<(), RunError> {
    let needs_itself = matches!(plan.ioengine, IoEngine::Dirstat | IoEngine::Dirdelete);
    for path in setup.files_of(plan).map(|file| file.path.as_path()) {
        let directory = match needs_itself {
            true => Some(path),
            false => path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty()),
        };
        directory
            .map_or(Ok(()), std::fs::create_dir_all)
            .map_err(|e| RunError::LayOut {
                path: path.to_owned(),
                at: 0,
                size: 0,
                errno: Errno::from_io_error(&e).unwrap_or(Errno::IO),
            })?;
    }
    Ok(())
}

/// Runs a worker whose I/Os are file name operations: no file is opened.
fn named(parts: WorkerParts<'_>, call: impl NameCall) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, setup) = (parts.context.plan, parts.context.setup);
    make_directories(plan, setup)?;
    let mut paths = setup.files_of(plan).map(|file| file.path.as_path());
    let backend = NameBackend::new(paths.clone(), slots(plan)?, call);
    let backend = backend.map_err(|errno| RunError::Open {
        path: paths.next().map_or_else(PathBuf::new, Path::to_owned),
        purpose: "its name",
        errno,
    })?;
    Ok(run_sync(parts, backend))
}

fn run_mmap(
    parts: WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, setup) = (parts.context.plan, parts.context.setup);
    let opened = setup.open(plan, caveats)?;
    let mut paths = setup.files_of(plan).map(|file| &file.path);
    if plan.files.direct {
        for path in paths.clone() {
            let path = path.display().to_string();
            note(caveats, Caveat::NotDirect { path });
        }
    }
    let backend = map_regions(plan, slots(plan)?, opened).map_err(|errno| RunError::Open {
        path: paths.next().cloned().unwrap_or_default(),
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
    let opened = setup.open(plan, caveats)?;
    let depth = plan.queue.iodepth as usize;
    let batch = match plan.queue.batch_submit {
        0 => depth,
        batch => batch as usize,
    };
    match AioQueue::new(slots(plan)?) {
        Ok(queue) => {
            let queue = queue.nowait(plan.engine.nowait);
            let backend = AioBackend::new(queue, opened, batch, depth);
            Ok(run_fast_queue(parts, backend))
        }
        Err(errno) => {
            let (asked, used) = (IoEngine::Libaio, IoEngine::Psync);
            replaced(setup, asked, used, why_not(errno), caveats)?;
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
    let mut opened = || setup.open(plan, caveats);
    Ok(match plan.ioengine {
        IoEngine::IoUring => match ring(plan, slots()?, opened()?)? {
            Ok(backend) => run_fast_queue(parts, backend),
            Err(because) => {
                replaced(setup, IoEngine::IoUring, IoEngine::Libaio, because, caveats)?;
                return run_libaio(parts, caveats);
            }
        },
        IoEngine::Libaio => return run_libaio(parts, caveats),
        IoEngine::Mmap => return run_mmap(parts, caveats),
        IoEngine::Null if depth > 1 => run_fast_queue(parts, NullBackend::new(slots()?)),
        IoEngine::Null => run_fast_sync(parts, NullBackend::new(slots()?)),
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
        IoEngine::Vsync => {
            let slots = VectoredSlots::new(slots()?);
            run_queue(parts, VsyncBackend::new(opened()?, slots, depth))
        }
        IoEngine::Stdio => run_sync(parts, StdioBackend::new(opened()?, slots()?, plan.writes)),
        IoEngine::Splice => {
            let pipe = SplicePipe::new().map_err(|errno| unavailable(plan, errno))?;
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
            return Err(RunError::NoEngine {
                ioengine: plan.ioengine.name(),
                because: EngineObstacle::NoSimulatedCard,
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
    Ok(run_fast_sync(
        parts,
        FileBackend::new(opened, slots, Positional),
    ))
}

/// Creates a ring, or returns the reason why not. Buffers and files are registered if the job
/// requests it, and by default for native jobs.
fn ring(
    plan: &WorkerPlan,
    slots: Slots,
    opened: Vec<OwnedFd>,
) -> Result<Result<RingBackend, EngineObstacle>, RunError> {
    let depth = plan.queue.iodepth as usize;
    let lean = plan.queue.batch_submit == 0 && !plan.engine.vectored && !plan.queue.separate_submit;
    let asked = RingOptions {
        fixed_buffers: plan.engine.fixedbufs || lean,
        fixed_files: plan.engine.registerfiles || lean,
        ..ring_options(plan)
    };
    let copies: Result<Vec<_>, _> = opened.iter().map(|fd| fd.try_clone()).collect();
    let first = copies.map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::MFILE));
    match first.and_then(|files| Ring::new(slots, files, asked)) {
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

fn replaced(
    setup: &PhaseSetup<'_>,
    asked: IoEngine,
    used: IoEngine,
    because: EngineObstacle,
    caveats: &mut Vec<Caveat>,
) -> Result<(), RunError> {
    if !setup.replace_engines {
        return Err(RunError::NoEngine {
            ioengine: asked.name(),
            because,
        });
    }
    let caveat = Caveat::EngineReplaced {
        asked: asked.name().to_owned(),
        used: used.name().to_owned(),
        because: because.into(),
    };
    note(caveats, caveat);
    Ok(())
}
