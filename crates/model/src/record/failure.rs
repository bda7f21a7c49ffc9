//! What failed in a run: typed, counted, and the first of them kept.

use crate::job::Op;
use crate::mismatch::Mismatch;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Errors of the device: all counted, the first few in full.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// How many there were.
    pub total: u64,
    /// The first of them, at most [`ErrorRecord::KEPT`].
    pub first: Vec<IoError>,
}

impl ErrorRecord {
    /// How many are kept in full.
    pub const KEPT: usize = 16;

    /// Counts an error that ends the job: it is always kept, replacing the last one if needed.
    pub fn push_last(&mut self, error: IoError) {
        self.first.truncate(Self::KEPT - 1);
        self.push(error);
    }

    /// Counts one.
    pub fn push(&mut self, error: IoError) {
        self.total += 1;
        if self.first.len() < Self::KEPT {
            self.first.push(error);
        }
    }
}

/// One failure: an I/O that the device refused, or a rule of the job that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IoError {
    /// What was being done, to be read by people: `read`, `write`, `trim`, `fsync`, `verify`, `open`, …
    pub action: String,
    /// Operation that failed; `None` if not related to one, and in old records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<Op>,
    /// What kind of failure it is.
    #[serde(default, skip_serializing_if = "FailureKind::is_unknown")]
    pub kind: FailureKind,
    /// The file.
    pub file: String,
    /// The offset.
    pub offset: Bytes,
    /// Requested length.
    pub len: Bytes,
    /// Number of the error.
    pub errno: i32,
    /// When, counted from the start of measurement.
    pub at: Nanos,
    /// Verification mismatches, if that is the error; at most some dozen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<Mismatch>,
}

impl IoError {
    /// The operation that failed. An older record names it in [`IoError::action`] alone.
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

/// What kind of failure an [`IoError`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Not recorded: old records and imported ones.
    #[default]
    Unknown,
    /// The kernel or the device failed a read, write or trim.
    Io,
    /// A flush failed (`fsync`, `fdatasync`, `sync_file_range`).
    Sync,
    /// Data read back is not what was written.
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
    /// Completed I/Os could not be collected from the kernel.
    Wait,
    /// A log or state file of the job could not be written.
    Log,
    /// The worker could not start.
    NotStarted,
}

impl FailureKind {
    /// Whether the kind was not recorded.
    pub fn is_unknown(&self) -> bool {
        *self == FailureKind::Unknown
    }

    /// Name of the fio option whose limit ended the job. `None` for failures of the device or the host.
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
