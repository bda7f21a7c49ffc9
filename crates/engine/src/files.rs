//! Files before and after a phase: opening, laying out with progress, dropping caches, removing.

use crate::error::{RunError, note};
use hakaru_model::caveat::{CacheOf, Caveat};
use hakaru_model::facts::TargetKind;
use hakaru_model::job::Fallocate;
use hakaru_model::job::rules::{AccessAdvice, Lifetime};
use hakaru_model::obstacle::CacheObstacle;
use hakaru_model::plan::{FilePlan, LayOut, WorkerPlan};
use hakaru_model::rng::Rng;
use hakaru_sys::Errno;
use hakaru_sys::buffer::AlignedBuffer;
use rustix::fd::OwnedFd;
use rustix::fs::{Advice, FallocateFlags, Mode, OFlags};
use std::ops::Range;
use std::path::Path;

/// Bytes per write during layout.
const PIECE: usize = 1 << 20;

/// Smallest write in bytes when filling a file system.
const BLOCK: usize = 4096;

/// Removes the temporary files of a phase, however it ends. Files that existed before are removed
/// only after work started: a rejected run changes nothing.
#[derive(Debug)]
pub(crate) struct CleanupGuard<'a> {
    pub(crate) files: &'a [FilePlan],
    pub(crate) begun: bool,
}

impl Drop for CleanupGuard<'_> {
    fn drop(&mut self) {
        let ours = |kind| kind == TargetKind::Absent || self.begun && kind == TargetKind::File;
        for file in self
            .files
            .iter()
            .filter(|file| file.unlink && ours(file.kind))
        {
            // A missing file counts as removed.
            let _ = std::fs::remove_file(&file.path);
        }
    }
}

/// Truncates the existing regular files of a phase that must be empty at its start.
pub(crate) fn empty(files: &[FilePlan]) -> Result<(), RunError> {
    for file in files.iter().filter(|file| file.empty_first) {
        if !file.path.metadata().is_ok_and(|found| found.is_file()) {
            continue;
        }
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
        rustix::fs::open(&file.path, flags, Mode::empty()).map_err(|errno| RunError::Open {
            path: file.path.clone(),
            purpose: "emptying it",
            errno,
        })?;
    }
    Ok(())
}

/// Creates or extends one file to the size in the plan. `progress` receives the offset written so far, beginning with
/// the start offset, and returns whether to continue. Written data is flushed, so that no writeback remains for the
/// measured time; reserved space is flushed if the plan requests it. Returns whether there was anything to do.
pub(crate) fn lay_out(
    file: &FilePlan,
    seed: u64,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<bool, RunError> {
    let (write, reserve) = match file.lay_out {
        LayOut::Ready => return Ok(false),
        LayOut::Fill => (true, Fallocate::None),
        LayOut::Reserve(how) => (false, how),
        LayOut::Write(how) => (true, how),
    };
    let size = file.size.0;
    // An earlier phase may have created it: a complete file is kept.
    let present = rustix::fs::stat(&file.path).map_or(0, |stat| stat.st_size as u64);
    if present >= size && size > 0 {
        return Ok(false);
    }
    let failed = |at: u64, errno: Errno| RunError::LayOut {
        path: file.path.clone(),
        at,
        size,
        errno,
    };
    if let Some(parent) = file
        .path
        .parent()
        .filter(|p| !p.as_os_str().is_empty() && !p.exists())
    {
        let made = std::fs::create_dir_all(parent);
        made.map_err(|e| failed(0, Errno::from_io_error(&e).unwrap_or(Errno::IO)))?;
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    let fd = rustix::fs::open(&file.path, flags, Mode::from_raw_mode(0o644)).map_err(|errno| {
        RunError::Open {
            path: file.path.clone(),
            purpose: "laying it out",
            errno,
        }
    })?;
    reserve_space(&fd, size, reserve).map_err(|errno| failed(0, errno))?;
    if write {
        let fills = file.lay_out == LayOut::Fill;
        let from = if fills { present } else { 0 };
        match write_through(
            &fd,
            from..size,
            (!file.zeros).then_some(seed),
            if fills { BLOCK } else { PIECE },
            progress,
        ) {
            Err((_, Errno::CANCELED)) => return Err(RunError::StoppedEarly),
            // The file system is full, or the file has the maximum file size.
            Err((_, Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) if fills => {}
            answer => answer.map_err(|(at, errno)| failed(at, errno))?,
        }
    }
    // A file system without sparse files writes zeros into space that is only reserved.
    if write || file.flush_reserved && reserve != Fallocate::None {
        rustix::fs::fsync(&fd).map_err(|errno| failed(size, errno))?;
    }
    Ok(true)
}

fn reserve_space(fd: &OwnedFd, size: u64, how: Fallocate) -> Result<(), Errno> {
    let flags = match how {
        Fallocate::None => return Ok(()),
        Fallocate::Truncate => return rustix::fs::ftruncate(fd, size),
        Fallocate::Keep => FallocateFlags::KEEP_SIZE,
        Fallocate::Native => FallocateFlags::empty(),
    };
    match rustix::fs::fallocate(fd, flags, 0, size) {
        // If the file system cannot reserve space, the writes themselves allocate it.
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        // If there is too little space, the writes report how much was written.
        Err(Errno::NOSPC | Errno::DQUOT) => Ok(()),
        answer => answer,
    }
}

/// Fills a range with random bytes, or with zeros without a seed. It writes large pieces, and when space runs out,
/// smaller and smaller ones down to `least` bytes.
fn write_through(
    fd: &OwnedFd,
    range: Range<u64>,
    seed: Option<u64>,
    least: usize,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<(), (u64, Errno)> {
    let mut piece = PIECE;
    // A small file needs no more than its own size, or thousands of them would take long to lay out.
    let longest = range.end.saturating_sub(range.start).clamp(1, PIECE as u64) as usize;
    let mut buffer =
        AlignedBuffer::new(longest.next_multiple_of(BLOCK)).map_err(|errno| (0, errno))?;
    let mut rng = seed.map(|seed| Rng::fork(seed, 0x1a));
    let Range { start: mut at, end } = range;
    loop {
        if !progress(at) {
            return Err((at, Errno::CANCELED));
        }
        if at >= end {
            return Ok(());
        }
        // New content for each piece: a card that compresses or deduplicates must not benefit.
        rng.iter_mut()
            .for_each(|rng| crate::content::fill_random(buffer.as_mut_slice(), rng));
        let len = (end - at).min(piece as u64) as usize;
        let moved = match rustix::io::pwrite(fd, &buffer.as_slice()[..len], at) {
            Err(Errno::INTR) => continue,
            Err(Errno::NOSPC | Errno::DQUOT) if piece > least => {
                piece /= 2;
                continue;
            }
            Ok(0) => return Err((at, Errno::NOSPC)),
            answer => answer.map_err(|errno| (at, errno))?,
        };
        at += moved as u64;
    }
}

/// Removes and reopens the files of a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileRecreator<'a> {
    pub(crate) plan: &'a WorkerPlan,
    pub(crate) files: &'a [FilePlan],
    pub(crate) direct_fallback: bool,
}

impl FileRecreator<'_> {
    /// The file of a region, if it is a regular file.
    fn regular(&self, region: u32) -> Option<&FilePlan> {
        let place = self.plan.stream.regions.get(region as usize)?;
        let file = self.files.get(place.file as usize)?;
        matches!(file.kind, TargetKind::File | TargetKind::Absent).then_some(file)
    }

    /// Removes the file of a region, if it is a regular file.
    ///
    /// # Errors
    /// The error of the file system.
    pub(crate) fn remove(&self, region: u32) -> Result<(), Errno> {
        match self
            .regular(region)
            .map(|file| rustix::fs::unlink(&file.path))
        {
            // Another worker on the same file may have removed it already.
            None | Some(Ok(()) | Err(Errno::NOENT)) => Ok(()),
            Some(Err(errno)) => Err(errno),
        }
    }

    /// Creates the file of a region again and opens it. `None` if it is not a regular file.
    ///
    /// # Errors
    /// The error of the file system; ENOENT for a worker that only reads.
    pub(crate) fn renew(&self, region: u32) -> Result<Option<OwnedFd>, Errno> {
        let Some(file) = self.regular(region) else {
            return Ok(None);
        };
        let opened = open_one(self.plan, file, self.direct_fallback, &mut Vec::new());
        let fd = opened.map_err(|error| match error {
            RunError::Open { errno, .. } => errno,
            _ => Errno::INVAL,
        })?;
        advise(&fd, self.plan, file.kind);
        Ok(Some(fd))
    }
}

/// Opens the files of a worker's regions, in their order.
pub(crate) fn open_all(
    plan: &WorkerPlan,
    files: &[FilePlan],
    direct_fallback: bool,
    caveats: &mut Vec<Caveat>,
) -> Result<Vec<OwnedFd>, RunError> {
    let mut opened = Vec::new();
    for region in &plan.stream.regions {
        let Some(file) = files.get(region.file as usize) else {
            continue;
        };
        let fd = open_one(plan, file, direct_fallback, caveats)?;
        if plan.files.invalidate {
            drop_cache(&fd, file, caveats);
        }
        advise(&fd, plan, file.kind);
        set_lifetime(&fd, plan, file)?;
        if plan.files.pre_read {
            read_through(&fd, region.offset, region.len);
        }
        opened.push(fd);
    }
    Ok(opened)
}

/// Opens the files, without dropping caches or reading ahead.
pub(crate) fn open_only(
    plan: &WorkerPlan,
    files: &[FilePlan],
    direct_fallback: bool,
    caveats: &mut Vec<Caveat>,
) -> Result<Vec<OwnedFd>, RunError> {
    let wanted = plan
        .stream
        .regions
        .iter()
        .filter_map(|region| files.get(region.file as usize));
    wanted
        .map(|file| open_one(plan, file, direct_fallback, caveats))
        .collect()
}

fn open_one(
    plan: &WorkerPlan,
    file: &FilePlan,
    direct_fallback: bool,
    caveats: &mut Vec<Caveat>,
) -> Result<OwnedFd, RunError> {
    let mut flags = OFlags::CLOEXEC
        | if plan.writes {
            OFlags::RDWR
        } else {
            OFlags::RDONLY
        };
    let creates = plan.writes || plan.files.create_on_open;
    if creates && matches!(file.kind, TargetKind::File | TargetKind::Absent) {
        flags |= OFlags::CREATE;
    }
    if plan.files.direct {
        flags |= OFlags::DIRECT;
    }
    if plan.durability.sync {
        flags |= OFlags::SYNC;
    }
    if plan.durability.dsync {
        flags |= OFlags::DSYNC;
    }
    let open = |flags| rustix::fs::open(&file.path, flags, Mode::from_raw_mode(0o644));
    let purpose = if plan.writes { "writing" } else { "reading" };
    match open(flags) {
        Err(Errno::INVAL) if plan.files.direct && direct_fallback => {
            let caveat = Caveat::NotDirect {
                path: file.path.display().to_string(),
            };
            note(caveats, caveat);
            open(flags - OFlags::DIRECT)
        }
        Err(Errno::INVAL) if plan.files.direct => {
            return Err(RunError::NoDirect {
                path: file.path.clone(),
            });
        }
        answer => answer,
    }
    .map_err(|errno| RunError::Open {
        path: file.path.clone(),
        purpose,
        errno,
    })
}

/// Sets the write lifetime hint, if given.
fn set_lifetime(fd: &OwnedFd, plan: &WorkerPlan, file: &FilePlan) -> Result<(), RunError> {
    let hint = match plan.files.lifetime {
        Lifetime::Untold => return Ok(()),
        Lifetime::None => 1,
        Lifetime::Short => 2,
        Lifetime::Medium => 3,
        Lifetime::Long => 4,
        Lifetime::Extreme => 5,
    };
    hakaru_sys::file::set_lifetime(fd, hint).map_err(|errno| RunError::Open {
        path: file.path.clone(),
        purpose: "its write_hint",
        errno,
    })
}

/// Passes the access pattern to the kernel for buffered I/O. Ignored advice is harmless.
fn advise(fd: &OwnedFd, plan: &WorkerPlan, kind: TargetKind) {
    let random = plan.stream.access.random;
    let advice = match plan.files.advice {
        AccessAdvice::None => return,
        AccessAdvice::AsJob if random => Advice::Random,
        AccessAdvice::AsJob => Advice::Sequential,
        AccessAdvice::Random => Advice::Random,
        AccessAdvice::Sequential => Advice::Sequential,
    };
    if !plan.files.direct && kind != TargetKind::CharDevice {
        let _ = rustix::fs::fadvise(fd, 0, None, advice);
    }
}

fn drop_cache(fd: &OwnedFd, file: &FilePlan, caveats: &mut Vec<Caveat>) {
    let answer = match file.kind {
        TargetKind::BlockDevice => hakaru_sys::file::drop_device_cache(fd),
        TargetKind::CharDevice => Ok(()),
        _ => rustix::fs::fadvise(fd, 0, None, Advice::DontNeed),
    };
    if let Err(errno) = answer {
        let because = CacheObstacle::Failed {
            errno: errno.raw_os_error(),
        };
        let caveat = Caveat::NotInvalidated {
            path: CacheOf::File(file.path.display().to_string()),
            because: because.into(),
        };
        note(caveats, caveat);
    }
}

/// Reads a range into the page cache. Read errors are ignored here; the job itself will report
/// them.
fn read_through(fd: &OwnedFd, offset: u64, len: u64) {
    let Ok(mut buffer) = AlignedBuffer::new(PIECE) else {
        return;
    };
    let mut at = offset;
    while at < offset + len {
        match rustix::io::pread(fd, buffer.as_mut_slice(), at) {
            Ok(moved) if moved > 0 => at += moved as u64,
            _ => return,
        }
    }
}

/// Name of a file for messages.
pub(crate) fn name_of(path: &Path) -> String {
    path.display().to_string()
}
