//! What is wrong with an experiment as a measurement, before it runs: typed, with the option it concerns and a cure.

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// How much a slip matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know; the figures are what they say.
    Note,
    /// The figures mean less than they seem to.
    Weak,
    /// It does not measure what it says.
    Wrong,
}

impl Severity {
    /// `note`, `weak`, `wrong`.
    pub fn name(self) -> &'static str {
        ["note", "weak", "wrong"][self as usize]
    }
}

/// One thing that is wrong with a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "slip")]
#[allow(missing_docs)] // Each field is named in its message.
pub enum LintWarning {
    /// A queue in front of an engine without one.
    #[error("{ioengine} keeps one I/O in flight, so iodepth={asked} has no effect")]
    DepthIgnored { ioengine: String, asked: u32 },
    /// Kernel asynchronous I/O through the page cache.
    #[error(
        "libaio with direct=0 waits while it submits, so iodepth={asked} is hardly ever reached"
    )]
    DepthBuffered { asked: u32 },
    /// Buffered I/O.
    #[error("direct=0: the page cache is in between, and speeds may be those of memory")]
    Buffered {
        /// A block size that direct I/O does not take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        odd_block: Option<Bytes>,
    },
    /// Buffered reads of a file that is not cached, each block once.
    #[error(
        "direct=0 with invalidate=1: each block comes from the device once, and the kernel reads ahead"
    )]
    ReadAhead,
    /// Buffered reads of less than memory.
    #[error(
        "{size} are read through the page cache, and memory has {memory}: few reads will reach the device"
    )]
    FitsInMemory {
        size: Bytes,
        memory: Bytes,
        /// A block size that direct I/O does not take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        odd_block: Option<Bytes>,
    },
    /// Buffered writes that nobody flushes.
    #[error("writes end in the page cache: the time until they are on the device is not measured")]
    NotFlushed,
    /// A working set that a cache of the device may hold.
    #[error("{size} may fit in a cache of the device: the flash itself may be slower")]
    SmallFile { size: Bytes },
    /// A short run.
    #[error("{runtime} are short, and figures of under {wanted} vary a lot on flash")]
    Short { runtime: Nanos, wanted: Nanos },
    /// A time that only cuts off.
    #[error(
        "runtime={runtime} without time_based=1: the job ends before that when its {size} are done"
    )]
    EndsEarly { runtime: Nanos, size: Bytes },
    /// No lead-in.
    #[error("the first seconds are measured too, while queues fill and clocks speed up")]
    NoRamp,
    /// A single run.
    #[error("one run tells nothing of how much runs differ")]
    OneRun,
    /// What was just written is read.
    #[error("it reads what `{writer}` just wrote, and the page cache still has it")]
    ReadsBack { writer: String },
    /// Clones that walk over the same blocks.
    #[error(
        "{clones} clones go through the same part of one file one after another: all but the first find it cached"
    )]
    SameBlocks { clones: u32 },
    /// Data that compresses away.
    #[error("what is written is all the same: a device that compresses stores next to nothing")]
    Compressible,
    /// A unit that does not mean what it looks like.
    #[error("{option}={typed} means {means} bytes here")]
    Unit {
        option: String,
        typed: String,
        means: u64,
    },
    /// The parser warned of it.
    #[error("{warning}")]
    Misread { warning: String },
    /// The result says so itself.
    #[error("{caveat}")]
    Found { caveat: String },
}

impl LintWarning {
    /// The option it concerns; empty where it is about no single one.
    pub fn option(&self) -> &str {
        match self {
            LintWarning::DepthIgnored { .. } | LintWarning::DepthBuffered { .. } => "iodepth",
            LintWarning::Buffered { .. }
            | LintWarning::ReadAhead
            | LintWarning::FitsInMemory { .. } => "direct",
            LintWarning::NotFlushed => "rw",
            LintWarning::SmallFile { .. } => "size",
            LintWarning::Short { .. } | LintWarning::EndsEarly { .. } | LintWarning::NoRamp => {
                "runtime"
            }
            LintWarning::ReadsBack { .. } => "invalidate",
            LintWarning::SameBlocks { .. } => "numjobs",
            LintWarning::Compressible => "zero_buffers",
            LintWarning::Unit { option, .. } => option,
            LintWarning::OneRun | LintWarning::Misread { .. } | LintWarning::Found { .. } => "",
        }
    }

    /// What to do about it; empty where the words say it.
    pub fn cure(&self) -> String {
        match self {
            LintWarning::DepthIgnored { .. } => "use ioengine=io_uring or libaio, or leave iodepth out".to_owned(),
            LintWarning::DepthBuffered { .. } => "use direct=1, or ioengine=io_uring".to_owned(),
            LintWarning::Buffered { odd_block } => format!("use {} to measure the device", direct(*odd_block)),
            LintWarning::ReadAhead => "use direct=1 to measure the device without read-ahead".to_owned(),
            LintWarning::FitsInMemory { memory, odd_block, .. } => {
                format!("use {}, or more than {memory}", direct(*odd_block))
            }
            LintWarning::NotFlushed => "use end_fsync=1, fsync=N or direct=1".to_owned(),
            LintWarning::SmallFile { .. } => "use size=2g or more, or run for longer than the cache lasts".to_owned(),
            LintWarning::Short { wanted, .. } => {
                format!("use runtime={} or more with time_based=1", wanted.0 / 1_000_000_000)
            }
            LintWarning::EndsEarly { .. } => {
                "add time_based=1, so that it begins again until the time is over".to_owned()
            }
            LintWarning::NoRamp => "add ramp_time=2s".to_owned(),
            LintWarning::OneRun => "run it five times or more: hakaru campaign does, and compares".to_owned(),
            LintWarning::ReadsBack { .. } => {
                "use direct=1, or end_fsync=1 in the one and invalidate=1 in the other".to_owned()
            }
            LintWarning::SameBlocks { .. } => {
                "add offset_increment=, or name a folder with directory= so that each has a file of its own".to_owned()
            }
            LintWarning::Compressible => {
                "leave zero_buffers and buffer_pattern out, or use refill_buffers=1".to_owned()
            }
            LintWarning::Unit { typed, .. } => {
                let bare = typed.trim_end_matches(['i', 'I', 'b', 'B']);
                format!("write {bare} for multiples of 1024, or set kb_base=1000 for units as on labels")
            }
            LintWarning::Misread { .. } | LintWarning::Found { .. } => String::new(),
        }
    }

    /// How much it matters.
    pub fn weight(&self) -> Severity {
        match self {
            LintWarning::DepthIgnored { .. }
            | LintWarning::FitsInMemory { .. }
            | LintWarning::ReadsBack { .. } => Severity::Wrong,
            // `4KiB` of 4000 bytes misleads everybody; `1GB` of 2^30 bytes hardly anybody.
            LintWarning::Unit { typed, .. } if typed.contains(['i', 'I']) => Severity::Wrong,
            LintWarning::OneRun
            | LintWarning::NoRamp
            | LintWarning::ReadAhead
            | LintWarning::Unit { .. } => Severity::Note,
            _ => Severity::Weak,
        }
    }
}

/// Direct I/O as it is asked for; a block that is no multiple of a sector has to become one.
fn direct(odd_block: Option<Bytes>) -> String {
    match odd_block {
        None => "direct=1".to_owned(),
        Some(Bytes(size)) => format!(
            "direct=1 with bs={} (it takes multiples of 512)",
            size.next_multiple_of(512)
        ),
    }
}

/// A slip with its job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Name of the job; empty where it is about all of them.
    pub job: String,
    /// What is wrong.
    #[serde(flatten)]
    pub slip: LintWarning,
}
