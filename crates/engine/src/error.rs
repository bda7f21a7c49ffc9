//! Errors that prevent or end a run, and caveats of its results. Errors of single I/Os are recorded as data instead.

use hakaru_model::caveat::Caveat;
use hakaru_model::obstacle::{EngineObstacle, VerifyStateObstacle, ZoneObstacle};
use hakaru_sys::Errno;
use std::path::{Path, PathBuf};

/// Adds a caveat, unless it is there already.
pub(crate) fn note(caveats: &mut Vec<Caveat>, caveat: Caveat) {
    if !caveats.contains(&caveat) {
        caveats.push(caveat);
    }
}

/// Reason why a run could not follow its plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum RunError {
    /// A file or device could not be opened.
    #[error("failed to open {path} for {purpose}: {errno}{}", hint(*errno))]
    Open {
        path: PathBuf,
        purpose: &'static str,
        errno: Errno,
    },
    /// The file system rejected O_DIRECT.
    #[error(
        "failed to open {path} with direct=1: this file system does not support O_DIRECT; use \
        direct=0 to go through the page cache"
    )]
    NoDirect { path: PathBuf },
    /// The file could not be laid out.
    #[error("failed to lay out {path} at byte {at} of {size}: {errno}{}", hint(*errno))]
    LayOut {
        path: PathBuf,
        at: u64,
        size: u64,
        errno: Errno,
    },
    /// The buffers could not be allocated.
    #[error(
        "failed to allocate {bytes} bytes for the I/O buffers of {job}: {errno}; use a smaller bs \
        or iodepth"
    )]
    Memory {
        job: String,
        bytes: u64,
        errno: Errno,
    },
    /// The kernel or CPU lacks the engine.
    #[error("failed to start ioengine={ioengine}: {because}")]
    NoEngine {
        ioengine: &'static str,
        because: EngineObstacle,
    },
    /// The requested CPUs do not exist.
    #[error(
        "failed to run {job} on CPUs {cpus:?}: {errno}; this host has {online} CPUs, numbered \
        from 0"
    )]
    Pin {
        job: String,
        cpus: Vec<u32>,
        errno: Errno,
        online: usize,
    },
    /// The requested NUMA node does not exist.
    #[error(
        "failed to run {job} on the CPUs of NUMA node {node}: no such node; see \
        /sys/devices/system/node"
    )]
    Node { job: String, node: u32 },
    /// A priority could not be set.
    #[error("failed to run {job} with {what}: {errno}{}", hint(*errno))]
    Priority {
        job: String,
        what: String,
        errno: Errno,
    },
    /// The zones do not match the job.
    #[error("failed to use the zones of {path}: {because}")]
    Zones {
        path: PathBuf,
        because: ZoneObstacle,
    },
    /// A thread could not be started.
    #[error("failed to start a thread for {job}: {errno}")]
    Thread { job: String, errno: Errno },
    /// The verify state of an earlier run cannot be read.
    #[error(
        "failed to read the verify state {path}: {reason}; omit verify_state_load to check \
        everything"
    )]
    State {
        path: PathBuf,
        reason: VerifyStateObstacle,
    },
    /// A worker panicked, because of a bug in hakaru.
    #[error(
        "a worker of {job} panicked: this is a bug in hakaru; the results of the other workers \
        are kept"
    )]
    Panicked { job: String },
    /// Stopped before the measurement started.
    #[error("stopped before the measurement started")]
    StoppedEarly,
}

impl RunError {
    /// Returns the job with the error, if known.
    pub fn job(&self) -> Option<&str> {
        match self {
            RunError::Memory { job, .. }
            | RunError::Pin { job, .. }
            | RunError::Node { job, .. }
            | RunError::Priority { job, .. }
            | RunError::Thread { job, .. }
            | RunError::Panicked { job } => Some(job),
            _ => None,
        }
    }

    /// Returns the file or device with the error, if known.
    pub fn path(&self) -> Option<&Path> {
        match self {
            RunError::Open { path, .. }
            | RunError::NoDirect { path }
            | RunError::LayOut { path, .. }
            | RunError::Zones { path, .. } => Some(path),
            _ => None,
        }
    }

    /// Returns the error number of the kernel, or an equivalent one.
    pub fn errno(&self) -> Errno {
        match self {
            RunError::Open { errno, .. }
            | RunError::LayOut { errno, .. }
            | RunError::Memory { errno, .. }
            | RunError::Pin { errno, .. }
            | RunError::Priority { errno, .. }
            | RunError::Thread { errno, .. } => *errno,
            RunError::NoEngine { .. } => Errno::NOSYS,
            RunError::StoppedEarly | RunError::Panicked { .. } => Errno::CANCELED,
            RunError::NoDirect { .. }
            | RunError::Node { .. }
            | RunError::Zones { .. }
            | RunError::State { .. } => Errno::INVAL,
        }
    }
}

/// Returns the error number of an error of the system; `EAGAIN` if it has none.
pub(crate) fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::AGAIN)
}

/// Returns advice for the most common errors.
fn hint(errno: Errno) -> &'static str {
    match errno {
        Errno::NOSPC => "; the file system is full: use a smaller size",
        Errno::ACCESS | Errno::PERM => "; permission denied: run as its owner or as root",
        Errno::ROFS => "; it is mounted read-only",
        Errno::BUSY => "; it is in use: unmount it first",
        Errno::NOMEDIUM => "; there is no medium in the reader",
        Errno::FBIG => "; the file system cannot hold a file of that size",
        _ => "",
    }
}
