//! Where the time of an operation went.

use super::IoClass;
use crate::job::Op;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// Operation of the application, as the engine timed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedOperation {
    /// The operation; `None` for `fsync` and similar calls.
    pub op: Option<Op>,
    /// Thread that issued it.
    pub tid: u32,
    /// Index of the file in the phase.
    pub file: u32,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Submission, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub begin: u64,
    /// Completion, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub end: u64,
}

/// Part of an operation's latency. At each moment, the first part in this order that applies counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimePart {
    /// A cache flush was on the device.
    Flush,
    /// Own data was on the device.
    Data,
    /// Own journal or other metadata was on the device.
    Metadata,
    /// An own request was in the queue, and the device served a request of somebody else.
    WaitingBehind,
    /// An own request was in the queue, and the device was idle.
    BlockQueue,
    /// Nothing was queued or on the device between a completion and the next action of the waiting thread, or the end
    /// of a journal commit had not yet woken the thread that waits for it.
    WakeUp,
    /// The journal thread was working on the commit.
    JournalCommit,
    /// The remainder: file system and page cache.
    FileSystem,
}

impl TimePart {
    /// All parts, in order of precedence.
    pub const ALL: [TimePart; 8] = [
        TimePart::Flush,
        TimePart::Data,
        TimePart::Metadata,
        TimePart::WaitingBehind,
        TimePart::BlockQueue,
        TimePart::WakeUp,
        TimePart::JournalCommit,
        TimePart::FileSystem,
    ];
}

/// Mean time in each part, in nanoseconds, in the order of [`TimePart::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeParts(pub [f64; 8]);

impl TimeParts {
    /// Returns the time of a part in nanoseconds.
    pub fn of(&self, part: TimePart) -> f64 {
        self.0[part as usize]
    }

    /// Adds nanoseconds to a part.
    pub fn add(&mut self, part: TimePart, nanos: f64) {
        self.0[part as usize] += nanos;
    }

    /// Returns the sum of all parts in nanoseconds.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// Mean time of an operation that one class of requests took on the device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassTime {
    /// The class.
    pub class: IoClass,
    /// Mean time per operation in nanoseconds.
    pub nanos: f64,
}

/// Critical path of one kind of operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationPath {
    /// The operation; `None` for `fsync` and similar calls.
    pub op: Option<Op>,
    /// Whether each operation includes the `fsync` that followed it.
    #[serde(default)]
    pub with_sync: bool,
    /// Number of operations.
    pub count: u64,
    /// Mean of all operations. The parts add up to `mean_latency`.
    pub mean: TimeParts,
    /// The mean of parts [`TimePart::Data`] and [`TimePart::Metadata`] by class, in the order of [`IoClass::ALL`]; their
    /// sum is that of both parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassTime>,
    /// The mean of [`TimePart::WaitingBehind`] by class of the request that the device served meanwhile, in the order of
    /// [`IoClass::ALL`]; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<ClassTime>,
    /// Mean latency by the engine's clock.
    pub mean_latency: Nanos,
    /// Mean of the operations between the 45th and the 55th percentile; `None` below 20 operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<TimeParts>,
    /// Mean of the operations between percentiles 98.5 and 99.5; `None` below 200 operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<TimeParts>,
}
