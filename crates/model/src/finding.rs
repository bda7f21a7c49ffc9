//! What follows from records: derived, never stored as truth, always computable again.

use crate::caveat::Caveat;
use crate::facts::{Environment, Identity};
use crate::job::Op;
use crate::units::{Bytes, BytesPerSec, Nanos, Quantile};
use serde::{Deserialize, Serialize};

/// What repeated measurements of one quantity say together. The unit is that of the quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The single measurements, in the order of the runs.
    pub values: Vec<f64>,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation (divisor n - 1); `None` under two values.
    pub deviation: Option<f64>,
    /// Median.
    pub median: f64,
    /// Median absolute deviation from the median, unscaled.
    pub mad: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// 95 % confidence interval of the mean by Student's t; `None` under two values.
    pub ci95: Option<(f64, f64)>,
}

/// A latency distribution, merged over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// I/Os counted.
    pub count: u64,
    /// Smallest.
    pub min: Nanos,
    /// Largest.
    pub max: Nanos,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Deviation, in nanoseconds.
    pub deviation_ns: f64,
    /// The usual percentiles; only those for which there were samples enough.
    pub quantiles: Vec<(Quantile, Nanos)>,
    /// The whole distribution as `(share not exceeding, value)`, rising, for charts; at most some hundred points.
    pub curve: Vec<(f64, Nanos)>,
}

/// One point of bandwidth and IOPS over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// End of the interval, seconds since the phase began.
    pub at_s: f64,
    /// Bandwidth.
    pub bandwidth: BytesPerSec,
    /// Completions per second.
    pub iops: f64,
}

/// How even a long write was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// Slowest interval.
    pub min: BytesPerSec,
    /// Fastest interval.
    pub max: BytesPerSec,
    /// Mean of the intervals.
    pub mean: BytesPerSec,
    /// Deviation of the intervals.
    pub deviation: BytesPerSec,
    /// Where speed fell for good, if it did.
    pub cliff: Option<Cliff>,
}

/// A lasting fall of bandwidth within a write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cliff {
    /// Bytes written before it.
    pub at: Bytes,
    /// Time before it.
    pub after_time: Nanos,
    /// Median bandwidth before.
    pub before: BytesPerSec,
    /// Median bandwidth after.
    pub after: BytesPerSec,
}

/// One phase and operation over all runs of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// Name of the phase.
    pub phase: String,
    /// Which operation.
    pub op: Op,
    /// What was done, in a few words: `sequential write, 1 MiB, queue depth 1`.
    pub workload: String,
    /// Bytes per second, one value a run.
    pub bandwidth: Estimate,
    /// Completions per second, one value a run.
    pub iops: Estimate,
    /// Completion latency.
    pub latency: Option<LatencySummary>,
    /// Latency of `fsync` and the like.
    pub sync: Option<LatencySummary>,
    /// Bandwidth over time of each run.
    pub timelines: Vec<Vec<TimelinePoint>>,
    /// Evenness, for writes long enough to tell.
    pub sustained: Option<Sustained>,
    /// Bytes the device wrote (or read) per byte the application did, from the counters of the disk; one value a run.
    pub amplification: Option<Estimate>,
    /// I/Os that failed.
    pub errors: u64,
}

/// A series of runs on one target, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Id of the series.
    pub series: String,
    /// Ids of its runs.
    pub runs: Vec<String>,
    /// Name of the scenario.
    pub scenario: String,
    /// Wall clock of the first run, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Where the records come from, in words: `hakaru 0.1.0`, `fio-3.39 (imported)`.
    pub origin: String,
    /// What was measured.
    pub target: Identity,
    /// Under which circumstances (those of the first run).
    pub environment: Environment,
    /// Phase by phase.
    pub phases: Vec<PhaseSummary>,
    /// All caveats, once each, in order of appearance.
    pub caveats: Vec<Caveat>,
    /// Our own cost an I/O, where it was measured.
    pub overhead_ns: Option<f64>,
}

/// Whether two means differ, and by how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is compared: phase, operation and figure.
    pub quantity: String,
    /// Unit of the figure.
    pub unit: String,
    /// The first.
    pub a: Estimate,
    /// The second.
    pub b: Estimate,
    /// Mean of `b` over mean of `a`.
    pub ratio: f64,
    /// 95 % confidence interval of the ratio; `None` when there are too few runs.
    pub ratio_ci95: Option<(f64, f64)>,
    /// Probability of a difference this large by chance (Welch's t); `None` when there are too few runs.
    pub p_value: Option<f64>,
    /// The same by ranks (Mann-Whitney).
    pub p_value_ranks: Option<f64>,
    /// `p_value` after Holm's correction over the family it was tested in.
    pub p_adjusted: Option<f64>,
    /// Effect size (Hedges' g).
    pub effect: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
}

/// What a comparison proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// They differ.
    Different,
    /// No difference was seen that chance does not explain.
    NotDistinguished,
    /// There are too few runs; so many of each would tell a difference of this size.
    TooFewRuns {
        /// Runs of each that would do; `None` when not even that can be said.
        needed: Option<u32>,
    },
}
