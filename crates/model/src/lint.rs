//! What is wrong with an experiment as a measurement, before it runs: typed, with the option it concerns and a cure.

pub use crate::severity::Severity;

use crate::caveat::Caveat;
use crate::finding::Finding;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// One thing that is wrong with a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "slip")]
#[allow(missing_docs)]
pub enum LintWarning {
    /// A queue in front of an engine without one.
    DepthIgnored { ioengine: String, asked: u32 },
    /// Kernel asynchronous I/O through the page cache.
    DepthBuffered { asked: u32 },
    /// Buffered I/O.
    Buffered {
        /// A block size that direct I/O does not take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        odd_block: Option<Bytes>,
    },
    /// Buffered reads of a file that is not cached, each block once.
    ReadAhead,
    /// Buffered reads of less than memory.
    FitsInMemory {
        size: Bytes,
        memory: Bytes,
        /// A block size that direct I/O does not take.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        odd_block: Option<Bytes>,
    },
    /// Buffered writes that nobody flushes.
    NotFlushed,
    /// A working set that a cache of the device may hold.
    SmallFile { size: Bytes },
    /// A short run.
    Short { runtime: Nanos, wanted: Nanos },
    /// A time that only cuts off.
    EndsEarly { runtime: Nanos, size: Bytes },
    /// No ramp time.
    NoRamp,
    /// A single run.
    OneRun,
    /// What was just written is read.
    ReadsBack { writer: String },
    /// Clones that walk over the same blocks.
    SameBlocks { clones: u32 },
    /// Data that compresses away.
    Compressible,
    /// A misleading unit.
    Unit {
        option: String,
        typed: String,
        means: u64,
    },
    /// The parser warned of it.
    Misread { warning: String },
    /// The result says so itself.
    Found { caveat: Caveat },
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

    /// How much it matters.
    pub fn weight(&self) -> Severity {
        match self {
            LintWarning::DepthIgnored { .. }
            | LintWarning::FitsInMemory { .. }
            | LintWarning::ReadsBack { .. } => Severity::Wrong,
            // `4KiB` as 4000 bytes is always misleading; `1GB` as 2^30 bytes rarely.
            LintWarning::Unit { typed, .. } if typed.contains(['i', 'I']) => Severity::Wrong,
            LintWarning::OneRun
            | LintWarning::NoRamp
            | LintWarning::ReadAhead
            | LintWarning::Unit { .. } => Severity::Note,
            LintWarning::DepthBuffered { .. }
            | LintWarning::Buffered { .. }
            | LintWarning::NotFlushed
            | LintWarning::SmallFile { .. }
            | LintWarning::Short { .. }
            | LintWarning::EndsEarly { .. }
            | LintWarning::SameBlocks { .. }
            | LintWarning::Compressible
            | LintWarning::Misread { .. } => Severity::Weak,
            LintWarning::Found { caveat } => Finding::from(caveat).severity,
        }
    }
}

/// A warning with its job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Name of the job; empty where it is about all of them.
    pub job: String,
    /// What is wrong.
    #[serde(flatten)]
    pub slip: LintWarning,
}
