//! Warnings about a benchmark before it runs: typed, each with the option that it concerns.

pub use crate::severity::Severity;

use crate::caveat::Caveat;
use crate::finding::Finding;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Warning about a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "slip")]
#[allow(missing_docs)]
pub enum LintWarning {
    /// Queue depth above 1 for a synchronous engine.
    DepthIgnored { ioengine: String, asked: u32 },
    /// Linux native asynchronous I/O (libaio) with buffered files.
    DepthBuffered { asked: u32 },
    /// Buffered I/O.
    Buffered {
        /// Block size that direct I/O does not support, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        odd_block: Option<Bytes>,
    },
    /// Buffered reads of each block once, from a file that is not cached.
    ReadAhead,
    /// Buffered reads of a file smaller than memory.
    FitsInMemory {
        size: Bytes,
        memory: Bytes,
        /// Block size that direct I/O does not support, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        odd_block: Option<Bytes>,
    },
    /// Buffered writes that are never flushed.
    NotFlushed,
    /// A working set that a cache of the device may hold.
    SmallFile { size: Bytes },
    /// A short run.
    Short { runtime: Nanos, wanted: Nanos },
    /// A runtime that may end the job before its size is transferred.
    EndsEarly { runtime: Nanos, size: Bytes },
    /// No ramp time.
    NoRamp,
    /// A single run.
    OneRun,
    /// Reads of data that another job has just written.
    ReadsBack { writer: String },
    /// Clones that access the same blocks.
    SameBlocks { clones: u32 },
    /// Highly compressible data.
    Compressible,
    /// A misleading unit.
    Unit {
        option: String,
        typed: String,
        means: u64,
    },
    /// Warning of the parser.
    Misread { warning: String },
    /// Caveat stored in the result.
    Found { caveat: Caveat },
}

impl LintWarning {
    /// Returns the option that it concerns; empty if it concerns several or none.
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

    /// Returns the severity.
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
    /// Name of the job; empty for all jobs.
    pub job: String,
    /// Warning.
    #[serde(flatten)]
    pub slip: LintWarning,
}
