//! Starts one worker: opens what it needs, picks backend and clock, and says when it is ready.

mod locked;
mod offload;

use crate::backend::Backend;
use crate::backend::falloc::{FallocateCall, SpaceBackend};
use crate::backend::fileops::{
    CreateFile, CreateFolder, NameBackend, NameCall, RemoveFile, RemoveFolder,
};
use crate::backend::files::{FileBackend, Positional, Seek, Vectored, Vectored2, VectoredSome};
use crate::backend::ftruncate::Truncate;
use crate::backend::libaio::AioBackend;
use crate::backend::mmap::MmapBackend;
use crate::backend::null::{NullBackend, NullQueue};
use crate::backend::posixaio::PosixaioBackend;
use crate::backend::splice::SpliceBackend;
use crate::backend::stdio::StdioBackend;
use crate::backend::uring::RingBackend;
use crate::backend::vsync::VsyncBackend;
use crate::clock::{Clock, ClockChoice, CounterClock, KernelClock};
use crate::error::RunError;
use crate::files::{self, FileRecreator};
use crate::recorder::Recorder;
use crate::shared::Message;
use crate::sim::backend::{SimBackend, SimScheduler};
use crate::verify::Checker;
use crate::worker::{Worker, WorkerContext};
use crate::worker_setup;
use crate::zones;
use hakaru_model::caveat::Caveat;
use hakaru_model::job::IoEngine;
use hakaru_model::job::rules::{FileLock, Zones};
use hakaru_model::plan::{FilePlan, WorkerPlan};
use hakaru_model::record::WorkerRecord;
use hakaru_model::rng::Rng;
use hakaru_model::stream::StreamPlan;
use hakaru_sys::Errno;
use hakaru_sys::aio::AioQueue;
use hakaru_sys::buffer::Slots;
use hakaru_sys::pipe::SplicePipe;
use hakaru_sys::ring::{Ring, RingOptions};
use hakaru_sys::vector::VectoredSlots;
use rustix::fd::OwnedFd;
use rustix::io::ReadWriteFlags;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What starting a worker needs besides its surroundings.
#[derive(Debug)]
pub(crate) struct WorkerParts<'a> {
    pub(crate) files: &'a [FilePlan],
    pub(crate) clock: &'a ClockChoice,
    pub(crate) world: Option<(Arc<SimScheduler>, u64)>,
    pub(crate) direct_fallback: bool,
    pub(crate) replace_engines: bool,
}

/// Runs one worker from opening its files to its record. `None` when the run was called off before it began.
pub(crate) fn run_worker<'a>(
    mut around: WorkerContext<'a>,
    starter: &WorkerParts<'a>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let plan = around.plan;
    if keeps_own_files(plan) {
        // Where the kernel cannot, they are shared with the others, which costs some 20 ns a call.
        around.own_files = hakaru_sys::thread::keep_own_files().is_ok();
    }
    worker_setup::settle_in(plan)?;
    around.check = Checker::new(plan, around.files)?;
    let record = |path: &PathBuf| Recorder::new(path, plan.clone, around.files);
    around.record = plan.record.as_ref().map(record).transpose()?;
    if let (IoEngine::Sim, Some((world, start))) = (plan.ioengine, &starter.world) {
        let (seat, clock) = SimBackend::new(Arc::clone(world), around.index, *start, slots(plan)?);
        return Ok(go(around, seat, clock));
    }
    if plan.ioengine.works_on_names() {
        return run_engine(around, starter, caveats);
    }
    around.reopener = Some(FileRecreator {
        plan,
        files: starter.files,
        direct_fallback: starter.direct_fallback,
    });
    if let Zones::Device { .. } = plan.stream.access.zones {
        around.zones = Some(seat(&around, starter)?);
    }
    if plan.queue.offload {
        return offload::run(around, starter, caveats);
    }
    if plan.files.lock != FileLock::None {
        return locked::run(around, starter, caveats);
    }
    run_engine(around, starter, caveats)
}

/// Whether all files that a worker uses are its own, so that no other thread need reach them. Those of zoned devices are
/// shared, and a command is started with what the program itself was started with.
fn keeps_own_files(plan: &WorkerPlan) -> bool {
    let commands = &plan.commands;
    let calls = commands.before.is_some() || commands.after.is_some();
    !calls && !matches!(plan.stream.access.zones, Zones::Device { .. })
}

/// The place of a worker at the zones of its files.
fn seat(
    around: &WorkerContext<'_>,
    starter: &WorkerParts<'_>,
) -> Result<(zones::ZoneCursor, StreamPlan), RunError> {
    let plan = around.plan;
    let files = || {
        plan.stream
            .regions
            .iter()
            .filter_map(|r| Some((r, starter.files.get(r.file as usize)?)))
    };
    let board = |(region, file)| around.shared.boards.board(region, file, plan);
    let boards = files().map(board).collect::<Result<Vec<_>, _>>()?;
    zones::ZoneCursor::new(around.index, plan, boards).map_err(|region| RunError::Zones {
        path: files()
            .nth(region)
            .map_or_else(PathBuf::new, |(_, file)| file.path.clone()),
        because:
            "what the job uses of it holds no whole zone; use a larger size, or another offset"
                .to_owned(),
    })
}

/// One buffer for each I/O in flight.
fn slots(plan: &WorkerPlan) -> Result<Slots, RunError> {
    some_slots(plan, plan.queue.iodepth as usize)
}

/// The buffer of one I/O of several in flight.
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

/// Makes the directories that an engine working on names expects.
fn make_directories(plan: &WorkerPlan, starter: &WorkerParts<'_>) -> Result<(), RunError> {
    let needs_itself = matches!(plan.ioengine, IoEngine::Dirstat | IoEngine::Dirdelete);
    let files = plan
        .stream
        .regions
        .iter()
        .filter_map(|r| starter.files.get(r.file as usize));
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

/// Runs a worker whose I/Os are calls on names: no file is opened.
fn named(
    around: WorkerContext<'_>,
    starter: &WorkerParts<'_>,
    call: impl NameCall,
) -> Result<Option<WorkerRecord>, RunError> {
    let plan = around.plan;
    make_directories(plan, starter)?;
    let files = plan
        .stream
        .regions
        .iter()
        .filter_map(|r| starter.files.get(r.file as usize));
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
    Ok(timed(around, backend, starter.clock))
}

fn run_mmap(
    around: WorkerContext<'_>,
    starter: &WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let plan = around.plan;
    let opened = files::open_all(plan, starter.files, starter.direct_fallback, caveats)?;
    let (regions, random) = (&plan.stream.regions, plan.stream.access.random);
    let path = |region: &hakaru_model::stream::Region| {
        starter
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
    Ok(timed(around, backend, starter.clock))
}

fn run_libaio(
    around: WorkerContext<'_>,
    starter: &WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let plan = around.plan;
    let opened = files::open_all(plan, starter.files, starter.direct_fallback, caveats)?;
    let depth = plan.queue.iodepth as usize;
    let batch = if plan.queue.batch_submit == 0 {
        depth
    } else {
        plan.queue.batch_submit as usize
    };
    match AioQueue::new(slots(plan)?) {
        Ok(queue) => {
            let queue = queue.nowait(plan.engine.nowait);
            Ok(timed(
                around,
                AioBackend::new(queue, opened, batch, depth),
                starter.clock,
            ))
        }
        Err(errno) => {
            replaced(
                starter,
                IoEngine::Libaio,
                IoEngine::Psync,
                why_not(errno),
                caveats,
            )?;
            run_psync(around, starter, opened)
        }
    }
}

/// Runs a worker by its engine. The only match on the engine: one that is not placed here does not compile.
fn run_engine(
    around: WorkerContext<'_>,
    starter: &WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, clock) = (around.plan, starter.clock);
    let depth = plan.queue.iodepth as usize;
    let slots = || slots(plan);
    let mut opened = || files::open_all(plan, starter.files, starter.direct_fallback, caveats);
    Ok(match plan.ioengine {
        IoEngine::IoUring => match ring(plan, slots()?, opened()?)? {
            Ok(backend) => timed(around, backend, clock),
            Err(because) => {
                replaced(
                    starter,
                    IoEngine::IoUring,
                    IoEngine::Libaio,
                    because,
                    caveats,
                )?;
                return run_libaio(around, starter, caveats);
            }
        },
        IoEngine::Libaio => return run_libaio(around, starter, caveats),
        IoEngine::Mmap => return run_mmap(around, starter, caveats),
        IoEngine::Null if depth > 1 => timed(around, NullQueue::new(slots()?), clock),
        IoEngine::Null => timed(around, NullBackend::new(slots()?), clock),
        IoEngine::Sync => timed(around, FileBackend::new(opened()?, slots()?, Seek), clock),
        IoEngine::Psync => return run_psync(around, starter, opened()?),
        IoEngine::Pvsync => timed(
            around,
            FileBackend::new(opened()?, slots()?, Vectored),
            clock,
        ),
        IoEngine::Pvsync2 => match polls_for_some(plan, 0) {
            None => timed(
                around,
                FileBackend::new(opened()?, slots()?, call_flags(plan)),
                clock,
            ),
            Some(some) => timed(around, FileBackend::new(opened()?, slots()?, some), clock),
        },
        IoEngine::Vsync => timed(
            around,
            VsyncBackend::new(opened()?, VectoredSlots::new(slots()?), depth),
            clock,
        ),
        IoEngine::Stdio => timed(
            around,
            StdioBackend::new(opened()?, slots()?, plan.writes),
            clock,
        ),
        IoEngine::Splice => {
            let pipe = SplicePipe::new().map_err(|errno| none(plan, errno))?;
            timed(around, SpliceBackend::new(opened()?, slots()?, pipe), clock)
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
            timed(
                around,
                backend.map_err(|errno| no_memory(plan, errno))?,
                clock,
            )
        }
        IoEngine::Falloc => timed(
            around,
            SpaceBackend::new(opened()?, slots()?, FallocateCall),
            clock,
        ),
        IoEngine::Ftruncate => timed(
            around,
            SpaceBackend::new(opened()?, slots()?, Truncate),
            clock,
        ),
        IoEngine::Filecreate => return named(around, starter, CreateFile),
        IoEngine::Filestat | IoEngine::Dirstat => return named(around, starter, plan.engine.stat),
        IoEngine::Filedelete => return named(around, starter, RemoveFile),
        IoEngine::Dircreate => return named(around, starter, CreateFolder),
        IoEngine::Dirdelete => return named(around, starter, RemoveFolder),
        IoEngine::Sim => {
            let because = "no simulated card was handed in".to_owned();
            return Err(RunError::NoEngine {
                ioengine: plan.ioengine.name(),
                because,
            });
        }
    })
}

/// The engine that every other one falls back to.
fn run_psync(
    around: WorkerContext<'_>,
    starter: &WorkerParts<'_>,
    opened: Vec<OwnedFd>,
) -> Result<Option<WorkerRecord>, RunError> {
    let slots = slots(around.plan)?;
    Ok(timed(
        around,
        FileBackend::new(opened, slots, Positional),
        starter.clock,
    ))
}

/// A write is done whole or not at all; the kernel's number, which older headers do not name.
const RWF_ATOMIC: u32 = 0x40;

fn of_writes(plan: &WorkerPlan) -> ReadWriteFlags {
    if plan.files.atomic {
        ReadWriteFlags::from_bits_retain(RWF_ATOMIC)
    } else {
        ReadWriteFlags::empty()
    }
}

/// How `preadv2` and `pwritev2` are called.
fn call_flags(plan: &WorkerPlan) -> Vectored2 {
    let mut flags = ReadWriteFlags::empty();
    flags.set(ReadWriteFlags::HIPRI, plan.engine.hipri);
    flags.set(ReadWriteFlags::NOWAIT, plan.engine.nowait);
    Vectored2(flags, flags | of_writes(plan))
}

/// How they are called where only a share of the I/Os is polled for (`hipri_percentage`); `stream` tells the random
/// choices of several callers of one worker apart.
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

/// A ring as it was asked for.
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

/// A ring, or why there is none. Buffers and files are registered where the job asks for that, and in the native default.
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
    // Registered buffers count against the limit of locked memory: without them it may go.
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
        Errno::NOSYS => "this kernel, or the emulator it runs under, does not have it".to_owned(),
        Errno::PERM => "the kernel forbids it (sysctl kernel.io_uring_disabled)".to_owned(),
        Errno::AGAIN => "all its places are taken (sysctl fs.aio-max-nr)".to_owned(),
        Errno::NOMEM => "memory may not be locked (ulimit -l)".to_owned(),
        errno => format!("the kernel answered: {errno}"),
    }
}

fn replaced(
    starter: &WorkerParts<'_>,
    asked: IoEngine,
    used: IoEngine,
    because: String,
    caveats: &mut Vec<Caveat>,
) -> Result<(), RunError> {
    if !starter.replace_engines {
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

fn timed<B: Backend>(
    around: WorkerContext<'_>,
    backend: B,
    clock: &ClockChoice,
) -> Option<WorkerRecord> {
    match clock {
        ClockChoice::Counter(rate) => go(around, backend, CounterClock(*rate)),
        ClockChoice::Kernel { .. } => go(around, backend, KernelClock),
    }
}

/// Says that it is ready, waits for the others, and works.
fn go<B: Backend, C: Clock>(
    around: WorkerContext<'_>,
    backend: B,
    clock: C,
) -> Option<WorkerRecord> {
    let (shared, messages) = (around.shared, around.messages);
    let worker = Worker::new(around, backend, clock);
    // A conductor that does not listen has called the run off, and the gate says so.
    let _ = messages.send(Message::Ready);
    shared.gate.wait().then(|| worker.run())
}
