//! Latencies over time, as a heat map shows them.

use crate::record::LatencyStepCounts;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// Latencies over time of one phase and operation, all runs together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyMap {
    /// Number of runs with latencies over time.
    pub runs: u64,
    /// Time ranges in which I/Os ended, in order.
    pub columns: Vec<LatencyMapColumn>,
    /// Upper limit of all latencies: the end of the highest step that has any; `None` if that is the last step, which
    /// has no end.
    pub limit: Option<Nanos>,
    /// I/Os far slower than the median, if there are any.
    pub slow: Option<SlowIos>,
}

/// Latencies in a time range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyMapColumn {
    /// Start, in seconds since the first worker began to measure.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
    /// Number of I/Os in each latency step.
    pub counts: LatencyStepCounts,
}

/// I/Os far slower than the median: from the highest power of ten of a second that some I/O reaches, if that is at least
/// ten times the median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowIos {
    /// Their minimum latency.
    pub from: Nanos,
    /// Their number.
    pub count: u64,
    /// When they ended.
    pub when: SlowWhen,
}

/// Part of the time in which all slow I/Os ended, in seconds since the first worker began to measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlowWhen {
    /// In one column.
    At(f64),
    /// After the first fifth of the time or later.
    After(f64),
    /// Before the last fifth of the time.
    Before(f64),
    /// In every fifth of the time.
    Throughout,
    /// In no such part.
    Scattered,
}
