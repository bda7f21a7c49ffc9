//! Failures of a run: typed and counted, with details of the first ones.

use crate::job::Op;
use crate::mismatch::Mismatch;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Errors of a worker: the total number, and details of the first ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// Total number of errors.
    pub total: u64,
    /// First errors, at most [`ErrorRecord::KEPT`].
    pub first: Vec<IoError>,
}

impl ErrorRecord {
    /// Maximum number of errors with details.
    pub const KEPT: usize = 16;

    /// Adds an error that ends the job. It is always kept, replacing the last one if needed.
    pub fn push_last(&mut self, error: IoError) {
        self.first.truncate(Self::KEPT - 1);
        self.push(error);
    }

    /// Adds an error.
    pub fn push(&mut self, error: IoError) {
        self.total += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(error);
        }
    }
}

/// Failure: a failed I/O, or an exceeded limit of the job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoError {
    /// Failed action, for display: `read`, `write`, `trim`, `fsync`, `verify`, `open`, …
    pub action: String,
    /// Operation that failed; `None` if not related to one, and in old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    /// Type of failure.
    #[serde(default, skip_serializing_if = "FailureKind::is_unknown")]
    pub kind: FailureKind,
    /// Path of the file.
    pub file: String,
    /// Offset in the file.
    pub offset: Bytes,
    /// Requested length.
    pub len: Bytes,
    /// Error number (`errno`).
    pub errno: i32,
    /// Time relative to the start of the measurement.
    pub at: Nanos,
    /// Verification mismatches, if that is the error; at most a few dozen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
}

impl IoError {
    /// Returns the failed operation. Older records have it only in [`IoError::action`].
    pub fn operation(&self) -> Option<Op> {
        if !self.kind.is_unknown() || self.op.is_some() {
            return self.op;
        }
        match self.action.as_str() {
            "read" | "verify" => Some(Op::Read),
            "write" => Some(Op::Write),
            "trim" => Some(Op::Trim),
            _ => None,
        }
    }
}

/// Type of an [`IoError`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Not recorded (older and imported records).
    #[default]
    Unknown,
    /// The kernel or the device failed a read, write or trim.
    Io,
    /// A flush failed (`fsync`, `fdatasync`, `sync_file_range`).
    Sync,
    /// The data read back differs from the written data.
    Verify,
    /// An I/O took longer than `max_latency` allows.
    TooSlow {
        /// Total latency of the I/O.
        latency: Nanos,
        /// `max_latency` of the job.
        max: Nanos,
    },
    /// The throughput of an operation fell below `rate_min`.
    RateMissed {
        /// `rate_min` in bytes per second.
        wanted: u64,
        /// Bytes per second over one `rate_cycle`.
        got: u64,
    },
    /// The I/O rate of an operation fell below `rate_iops_min`.
    IopsMissed {
        /// `rate_iops_min`.
        wanted: u64,
        /// I/Os per second over one `rate_cycle`.
        got: u64,
    },
    /// A command of the job (`exec_prerun`, `exec_postrun`) failed.
    Command,
    /// A file of the job could not be created, opened or closed.
    File,
    /// The kernel failed to return completed I/Os.
    Wait,
    /// A log or state file of the job could not be written.
    Log,
    /// The worker could not start.
    NotStarted,
}

impl FailureKind {
    /// Whether the type was not recorded.
    pub fn is_unknown(&self) -> bool {
        *self == FailureKind::Unknown
    }

    /// Returns the fio option whose limit ended the job; `None` for failures of the device or the host.
    pub fn option(self) -> Option<&'static str> {
        match self {
            FailureKind::TooSlow { .. } => Some("max_latency"),
            FailureKind::RateMissed { .. } => Some("rate_min"),
            FailureKind::IopsMissed { .. } => Some("rate_iops_min"),
            FailureKind::Unknown
            | FailureKind::Io
            | FailureKind::Sync
            | FailureKind::Verify
            | FailureKind::Command
            | FailureKind::File
            | FailureKind::Wait
            | FailureKind::Log
            | FailureKind::NotStarted => None,
        }
    }
}
