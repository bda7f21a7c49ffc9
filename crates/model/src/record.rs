//! What was measured: raw, versioned, never changed afterwards.
//!
//! A record contains counts, sums and histograms, but no means: these are computed when shown.

mod failure;

pub use failure::{ErrorRecord, FailureKind, IoError};

use crate::campaign::CampaignPoint;
use crate::caveat::Caveat;
use crate::facts::{DiskStats, Environment, Identity};
use crate::histogram::Histogram;
use crate::job::{Op, PerOp, Scenario};
use crate::measured::{EngineUse, HostPauses, LaidOut, MeasuredTraffic};
use crate::reported::Reported;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// The number of this shape of a record; it changes whenever a stored field does.
pub const FORMAT: u32 = 1;

/// One execution: scenario, target, environment and results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`FORMAT`] of the build that wrote it.
    pub format: u32,
    /// Unique, sorts by time (UUID version 7).
    pub id: String,
    /// Runs that repeat one another share this; it is the id of the first of them.
    pub series: String,
    /// Number of this run within its series, from 0.
    pub repeat: u32,
    /// Wall clock as it began, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Where it comes from.
    pub origin: Origin,
    /// The scenario.
    pub scenario: Scenario,
    /// What was measured.
    pub target: Identity,
    /// Under which circumstances.
    pub environment: Environment,
    /// What came of it, phase by phase.
    pub phases: Vec<PhaseRecord>,
    /// What makes the numbers less worthy of trust.
    pub caveats: Vec<Caveat>,
    /// How it ended.
    pub outcome: Outcome,
    /// Our own cost on this host.
    pub overhead: Option<Overhead>,
    /// Which point of a campaign it is, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<CampaignPoint>,
}

impl RunRecord {
    /// The I/O or rule of a job that ended the run, where one did.
    pub fn ended_by(&self) -> Option<&IoError> {
        let workers = self.phases.iter().flat_map(|phase| &phase.workers);
        workers
            .filter(|worker| worker.stop == StopReason::Error)
            .find_map(|worker| worker.errors.first.last())
    }
}

/// Where a record comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "origin")]
pub enum Origin {
    /// Our own engine.
    Measured {
        /// Version of hakaru.
        version: String,
    },
    /// Another program's output.
    Imported {
        /// That program, with its version where known.
        program: String,
        /// What was read.
        source: String,
        /// What stood there, figure by figure.
        #[serde(default)]
        reported: Box<Reported>,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// All of it was done.
    Completed,
    /// Stopped by the user; partial results are kept.
    Interrupted,
    /// It could not go on; what was measured until then is kept.
    Failed {
        /// Why, for programs and logs; [`RunRecord::ended_by`] has the failure itself where it is an I/O.
        error: String,
    },
}

/// Our own cost an I/O, measured with the `null` engine as the run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overhead {
    /// Nanoseconds an I/O costs us besides the system call, in thousandths (picoseconds).
    pub per_io_ps: u64,
    /// I/Os that were timed to find out.
    pub samples: u64,
}

/// One phase: workers that ran at the same time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Its name in the scenario.
    pub name: String,
    /// Wall clock as it began, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// From its first worker's start to its last worker's end.
    pub elapsed: Nanos,
    /// One for each clone of each job.
    pub workers: Vec<WorkerRecord>,
    /// Counters of the devices below, over the phase, ramp included.
    pub disks: Vec<DiskStats>,
    /// Like it, for the measured part only. `None` if workers end their ramp times at different
    /// moments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<MeasuredTraffic>,
    /// What laying out the files took, where there was anything to lay out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laid_out: Option<LaidOut>,
    /// What took CPU time away from it, where anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_pauses: Option<HostPauses>,
}

/// What one worker measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerRecord {
    /// Name of its job.
    pub name: String,
    /// Index of its job in the phase.
    pub job: u32,
    /// Number of the clone, from 0.
    pub clone: u32,
    /// Process or thread number.
    pub pid: u32,
    /// Measured time: without the ramp, up to the last completion.
    pub runtime: Nanos,
    /// All its time, ramp and closing included.
    pub job_runtime: Nanos,
    /// By operation.
    pub ops: PerOp<OpRecord>,
    /// Time of `fsync` and the like.
    pub sync: Latency,
    /// How many of these were not `fsync`; `None` in records of other programs and of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_syncs: Option<OtherSyncs>,
    /// I/Os in flight, submitted and completed at once.
    pub depth: DepthRecord,
    /// Processor time and switches.
    pub cpu: CpuUsage,
    /// Bytes transferred in the ramp time, which are not included elsewhere; `None` without a ramp
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_bytes: Option<PerOp<Bytes>>,
    /// How the engine issued the I/O, beyond the settings of the job; `None` in records of other
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineUse>,
    /// Bandwidth and IOPS over time, in order. Bounded: when there are too many, neighbors are joined.
    pub intervals: Vec<Interval>,
    /// What the device refused.
    pub errors: ErrorRecord,
    /// Why it ended.
    pub stop: StopReason,
    /// Steady state result, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRecord>,
    /// The queue depth that a search for a latency came to, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_depth: Option<u32>,
}

/// Syncs of a worker that were no `fsync`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherSyncs {
    /// Calls of `fdatasync`.
    pub data: u64,
    /// Calls of `sync_file_range`.
    pub range: u64,
}

/// Whether speed became steady, and the samples that say so.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// Whether it did.
    pub attained: bool,
    /// What was compared with the limit: distance or slope, in percent of the mean where the limit is.
    pub criterion: f64,
    /// Largest distance of a sample from the mean, in I/Os or bytes per second.
    pub max_deviation: f64,
    /// Slope of the line through the samples, in I/Os or bytes per second a sample.
    pub slope: f64,
    /// I/Os per second, the window's samples in order.
    pub iops: Vec<u64>,
    /// Bytes per second, in order.
    pub bytes_per_s: Vec<u64>,
}

/// Totals of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpRecord {
    /// Completed I/Os.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Short I/Os.
    pub short: u64,
    /// I/Os issued during the measured time, errors included.
    pub issued: u64,
    /// Measured time of this operation, if it differs from that of the worker: verification reads
    /// have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Nanos>,
    /// Zones of a zoned device that were emptied for this operation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zone_resets: u64,
    /// Creation to submission; empty for synchronous engines.
    pub slat: Latency,
    /// Submission to completion.
    pub clat: Latency,
    /// Creation to completion.
    pub lat: Latency,
    /// Bandwidth of whole intervals, in bytes per second.
    pub bw_samples: Samples,
    /// Completions per second of whole intervals, in thousandths.
    pub iops_samples: Samples,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The form is serde's.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Latencies: exact sums, and a histogram where percentiles are wanted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Sums and extremes, in nanoseconds.
    pub stat: Samples,
    /// By size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
}

impl Latency {
    /// An empty one with a histogram.
    pub fn with_histogram() -> Latency {
        Latency {
            stat: Samples::default(),
            histogram: Some(Histogram::new()),
        }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.stat.record(value.0);
        if let Some(histogram) = &mut self.histogram {
            histogram.record(value);
        }
    }

    /// Adds another: exact, in any order. A histogram survives only where both sides that hold anything have one.
    pub fn merge(&mut self, other: &Latency) {
        if other.stat.count == 0 {
            return;
        }
        let was_empty = self.stat.count == 0;
        self.stat.merge(&other.stat);
        match (&mut self.histogram, &other.histogram) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) if was_empty => *mine = Some(theirs.clone()),
            (mine, _) => *mine = None,
        }
    }
}

/// Count, extremes, sum and sum of squares of whole numbers: enough for mean and deviation, and exact to merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// The count.
    pub count: u64,
    /// Smallest; 0 when there is none.
    pub min: u64,
    /// Largest; 0 when there is none.
    pub max: u64,
    /// Sum.
    #[serde(with = "as_text")]
    pub sum: u128,
    /// Sum of squares.
    #[serde(with = "as_text")]
    pub sum_sq: u128,
}

impl Samples {
    /// Counts one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.min = if self.count == 0 || value < self.min {
            value
        } else {
            self.min
        };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        self.sum_sq = self
            .sum_sq
            .wrapping_add(u128::from(value) * u128::from(value));
    }

    /// Adds another: exact, in any order.
    pub fn merge(&mut self, other: &Samples) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        // A damaged record may hold any number.
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_sq = self.sum_sq.wrapping_add(other.sum_sq);
    }

    /// Arithmetic mean. `None` when empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Deviation of the sample (divisor n - 1): 0 for one value, `None` when empty.
    /// Source: n·Σx² - (Σx)² in whole numbers, so that nothing cancels (Chan, Golub, LeVeque 1983, "textbook" form).
    pub fn deviation(&self) -> Option<f64> {
        match self.count {
            0 => None,
            1 => Some(0.0),
            n => {
                let n128 = u128::from(n);
                let scatter = match (
                    n128.checked_mul(self.sum_sq),
                    self.sum.checked_mul(self.sum),
                ) {
                    (Some(a), Some(b)) => a.saturating_sub(b) as f64 / n as f64,
                    // Past 2^128 the exact form does not fit: the loss of digits is then below any clock's.
                    _ => (self.sum_sq as f64 - self.sum as f64 * (self.sum as f64 / n as f64))
                        .max(0.0),
                };
                Some((scatter / (n - 1) as f64).sqrt())
            }
        }
    }
}

/// Sums beyond 64 bits are stored as text, because JSON readers disagree about large numbers.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<u128, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Distribution over 1, 2, 4, 8, 16, 32 and 64 or more.
pub type DepthSteps = [u64; 7];

/// I/Os in flight as each was issued, and how many went and came in one call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthRecord {
    /// In flight, by issued I/O (syncs included): 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more.
    pub level: DepthSteps,
    /// I/Os per submission: 0, 1-4, 5-8, 9-16, 17-32, 33-64, more.
    pub submit: DepthSteps,
    /// Completions per call, in the same steps.
    pub complete: DepthSteps,
    /// Number of submissions.
    pub submit_calls: u64,
    /// Number of completion calls.
    pub complete_calls: u64,
    /// Requested queue depth.
    pub iodepth: u32,
}

/// Processor use of a worker over its measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuUsage {
    /// In user space.
    pub user: Nanos,
    /// In the kernel.
    pub system: Nanos,
    /// Voluntary and involuntary context switches.
    pub ctx: u64,
    /// Page faults with I/O.
    pub majf: u64,
    /// Page faults without.
    pub minf: u64,
    /// Time it was ready to run and had no CPU (run-queue wait), where the kernel counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Nanos>,
}

/// A time interval of a worker's run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Its end, counted from the start of measurement.
    pub at: Nanos,
    /// Its length.
    pub length: Nanos,
    /// What completed in it.
    pub ops: PerOp<IntervalOp>,
}

/// What completed of one operation within an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalOp {
    /// I/Os.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Sum of completion latencies.
    pub clat_sum: Nanos,
}

impl Interval {
    /// Joins the interval that follows.
    pub fn join(&mut self, next: &Interval) {
        self.at = next.at;
        self.length.0 = self.length.0.saturating_add(next.length.0);
        for op in Op::ALL {
            let (mine, theirs) = (&mut self.ops[op], &next.ops[op]);
            mine.ios = mine.ios.saturating_add(theirs.ios);
            mine.bytes = mine.bytes.saturating_add(theirs.bytes);
            mine.clat_sum.0 = mine.clat_sum.0.saturating_add(theirs.clat_sum.0);
        }
    }
}

/// Why a worker ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Completed.
    #[default]
    Done,
    /// Its time was over.
    Time,
    /// The observer or the user ended it.
    Stopped,
    /// Another worker ended, and its job stops the others.
    Ended,
    /// The device answered with an error.
    Error,
}

#[cfg(test)]
mod tests;
