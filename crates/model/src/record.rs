//! Run records: raw measurements, versioned and never changed afterwards.
//!
//! A record contains counts, sums and histograms, but no means, which are computed for display.

mod failure;
mod over_time;

pub use failure::{ErrorRecord, FailureKind, IoError};
pub use over_time::{
    Interval, IntervalOp, LATENCY_STEPS, LatencyInterval, LatencyIntervals, LatencyStepCounts,
    MAX_LATENCY_INTERVALS, latency_step, latency_step_counts, latency_step_start,
};

use crate::campaign::CampaignPoint;
use crate::caveat::Caveat;
use crate::facts::{DiskStats, Environment, Identity};
use crate::histogram::Histogram;
use crate::io_path::IoPath;
use crate::job::{PerOp, Scenario};
use crate::measured::{EngineUse, HostPauses, LaidOut, MeasuredTraffic};
use crate::reported::Reported;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Version of the stored form of a record; it changes when a stored field changes.
pub const FORMAT: u32 = 1;

/// Record of one run: scenario, target, environment and results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`FORMAT`] of the program version that wrote it.
    pub format: u32,
    /// Unique ID that sorts by time (UUID version 7).
    pub id: String,
    /// ID of the series, shared by repeated runs: the ID of the first run.
    pub series: String,
    /// Number of this run within its series, from 0.
    pub repeat: u32,
    /// Wall clock at the start, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Origin of the record.
    pub origin: Origin,
    /// Scenario.
    pub scenario: Scenario,
    /// Measured target.
    pub target: Identity,
    /// Environment of the run.
    pub environment: Environment,
    /// Results of the phases.
    pub phases: Vec<PhaseRecord>,
    /// Weaknesses of the results.
    pub caveats: Vec<Caveat>,
    /// How it ended.
    pub outcome: Outcome,
    /// Overhead of this program on this host.
    pub overhead: Option<Overhead>,
    /// Campaign point that the run belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<CampaignPoint>,
}

impl RunRecord {
    /// Parses a record as it is stored.
    ///
    /// # Errors
    /// If the text is not JSON, or not a record.
    // Builds for tests compile the parser once, here. In a release it belongs to the store, which is optimized for size.
    #[cfg_attr(not(debug_assertions), inline)]
    pub fn from_json(text: &str) -> serde_json::Result<RunRecord> {
        crate::json::from_str(text)
    }

    /// Returns the record as it is stored.
    ///
    /// # Errors
    /// If a part cannot be written, such as a path that is not UTF-8.
    #[cfg_attr(not(debug_assertions), inline)]
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// Returns the failed I/O or exceeded limit that ended the run, if any.
    pub fn ended_by(&self) -> Option<&IoError> {
        let workers = self.phases.iter().flat_map(|phase| &phase.workers);
        workers
            .filter(|worker| worker.stop == StopReason::Error)
            .find_map(|worker| worker.errors.first.last())
    }

    /// Start of the run, in milliseconds since 1970 UTC, by the clock that all hosts of its fleet are compared with; by
    /// the clock of its host if that difference is unknown.
    pub fn started_common_ms(&self) -> i64 {
        let assignment = self.campaign.as_ref().and_then(|of| of.assignment.as_ref());
        let clock = assignment.and_then(|of| of.clock);
        clock.map_or(self.started_unix_ms, |clock| {
            clock.to_server_ms(self.started_unix_ms)
        })
    }

    /// Whether the path of its I/Os was traced, so that its latencies include the cost of tracing.
    pub fn is_traced(&self) -> bool {
        let point = self.campaign.as_ref();
        point.is_some_and(CampaignPoint::is_traced) || self.caveats.contains(&Caveat::Traced)
    }
}

/// Origin of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "origin")]
pub enum Origin {
    /// Measured by our own engine.
    Measured {
        /// Version of hakaru.
        version: String,
    },
    /// Imported from the output of another program.
    Imported {
        /// Name of the program, with its version if known.
        program: String,
        /// Source of the imported data.
        source: String,
        /// Imported figures as printed.
        #[serde(default)]
        reported: Box<Reported>,
    },
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Completed.
    Completed,
    /// Stopped by the user; partial results are kept.
    Interrupted,
    /// Failed; partial results are kept.
    Failed {
        /// Cause, for programs and logs; [`RunRecord::ended_by`] returns the failure if it is an I/O.
        error: String,
    },
}

/// Overhead of this program per I/O, measured with the `null` engine at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overhead {
    /// Time per I/O besides the system call, in picoseconds.
    pub per_io_ps: u64,
    /// Number of I/Os measured for this.
    pub samples: u64,
}

/// Record of one phase: workers that ran at the same time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseRecord {
    /// Name of the phase in the scenario.
    pub name: String,
    /// Wall clock at the start, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Time from the start of the first worker to the end of the last.
    pub elapsed: Nanos,
    /// Records of the workers, one for each clone of each job.
    pub workers: Vec<WorkerRecord>,
    /// Counters of the disks over the whole phase, including the ramp time.
    pub disks: Vec<DiskStats>,
    /// Counters of the measured part only. `None` if workers end their ramp times at different moments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<MeasuredTraffic>,
    /// Cost of laying out the files; `None` if there was no layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laid_out: Option<LaidOut>,
    /// Lost CPU time, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_pauses: Option<HostPauses>,
    /// Path of the I/Os through the block layer, for a traced run: one for each disk under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<IoPath>,
}

/// Record of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerRecord {
    /// Name of its job.
    pub name: String,
    /// Index of its job in the phase.
    pub job: u32,
    /// Number of the clone, from 0.
    pub clone: u32,
    /// Process or thread ID.
    pub pid: u32,
    /// Measured time, without the ramp time, up to the last completion.
    pub runtime: Nanos,
    /// Total time, including the ramp time and closing the files.
    pub job_runtime: Nanos,
    /// Totals by operation.
    pub ops: PerOp<OpRecord>,
    /// Latency of `fsync` and similar calls.
    pub sync: Latency,
    /// Numbers of sync calls other than `fsync`; `None` in records of other programs and of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_syncs: Option<OtherSyncs>,
    /// Distribution of I/Os in flight, per submission and per completion call.
    pub depth: DepthRecord,
    /// CPU time and context switches.
    pub cpu: CpuUsage,
    /// Bytes transferred in the ramp time, which are not included elsewhere; `None` without a ramp
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp_bytes: Option<PerOp<Bytes>>,
    /// How the engine issued the I/O, beyond the settings of the job; `None` in records of other
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineUse>,
    /// Bandwidth and IOPS over time, in order. The number of intervals is limited: adjacent ones are joined when there
    /// are too many.
    pub intervals: Vec<Interval>,
    /// Errors of the device.
    pub errors: ErrorRecord,
    /// Reason for the end.
    pub stop: StopReason,
    /// Steady state result, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<SteadyRecord>,
    /// Queue depth found by the latency target search, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_depth: Option<u32>,
}

/// Numbers of a worker's sync calls other than `fsync`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherSyncs {
    /// Calls of `fdatasync`.
    pub data: u64,
    /// Calls of `sync_file_range`.
    pub range: u64,
}

/// Steady state result, with its samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// Whether steady state was reached.
    pub attained: bool,
    /// Value compared with the limit: deviation or slope, in percent of the mean if the limit is.
    pub criterion: f64,
    /// Largest deviation of a sample from the mean, in I/Os or bytes per second.
    pub max_deviation: f64,
    /// Slope of the line fitted to the samples, in I/Os or bytes per second per sample.
    pub slope: f64,
    /// I/Os per second of the window's samples, in order.
    pub iops: Vec<u64>,
    /// Bytes per second of the window's samples, in order.
    pub bytes_per_s: Vec<u64>,
}

/// Totals of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OpRecord {
    /// Completed I/Os.
    pub ios: u64,
    /// Transferred bytes.
    pub bytes: u64,
    /// I/Os that transferred fewer bytes than requested.
    pub short: u64,
    /// I/Os issued during the measured time, errors included.
    pub issued: u64,
    /// Measured time of this operation, if it differs from that of the worker: verification reads
    /// have their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Nanos>,
    /// Zone resets of a zoned device for this operation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub zone_resets: u64,
    /// Submission latency (creation to submission); empty for synchronous engines.
    pub slat: Latency,
    /// Completion latency (submission to completion).
    pub clat: Latency,
    /// Total latency (creation to completion).
    pub lat: Latency,
    /// Bandwidth of full intervals, in bytes per second.
    pub bw_samples: Samples,
    /// Completions per second of full intervals, in thousandths.
    pub iops_samples: Samples,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The form is serde's.
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Latencies: exact sums, and a histogram if percentiles are requested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// Sums and extremes, in nanoseconds.
    pub stat: Samples,
    /// Histogram of the latencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Histogram>,
    /// Latencies over time: the intervals in which something was counted, in order; at most
    /// [`MAX_LATENCY_INTERVALS`]. Empty without a histogram, and if latencies of several workers or runs are merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over_time: Vec<LatencyInterval>,
}

impl Latency {
    /// Creates empty latencies with a histogram.
    pub fn with_histogram() -> Latency {
        Latency {
            histogram: Some(Histogram::new()),
            ..Latency::default()
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

    /// Adds other latencies. The result is exact and does not depend on the order. The histogram remains only if every
    /// side with values has one.
    pub fn merge(&mut self, other: &Latency) {
        if other.stat.count == 0 {
            return;
        }
        let was_empty = self.stat.count == 0;
        match was_empty {
            true => self.over_time.clone_from(&other.over_time),
            false => self.over_time.clear(),
        }
        self.stat.merge(&other.stat);
        match (&mut self.histogram, &other.histogram) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) if was_empty => *mine = Some(theirs.clone()),
            (mine, _) => *mine = None,
        }
    }
}

/// Count, extremes, sum and sum of squares of integers: enough for the mean and standard deviation, and exact when
/// merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Samples {
    /// Number of values.
    pub count: u64,
    /// Smallest value; 0 if empty.
    pub min: u64,
    /// Largest value; 0 if empty.
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

    /// Adds other samples. The result is exact and does not depend on the order.
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
        // A damaged record may contain any number.
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_sq = self.sum_sq.wrapping_add(other.sum_sq);
    }

    /// Returns the arithmetic mean; `None` if empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the standard deviation of the sample (divisor n - 1): 0 for one value, `None` if empty. Source: n·Σx² -
    /// (Σx)² in integers, which avoids cancellation (Chan, Golub, LeVeque 1983, "textbook" form).
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
                    // Above 2^128 the exact form overflows. The rounding error is then smaller than the resolution of
                    // any clock.
                    _ => (self.sum_sq as f64 - self.sum as f64 * (self.sum as f64 / n as f64))
                        .max(0.0),
                };
                Some((scatter / (n - 1) as f64).sqrt())
            }
        }
    }
}

/// Stores sums of more than 64 bits as text, because JSON readers disagree about large numbers.
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

/// Distributions of the I/Os in flight at each issue, and of the I/Os per submission and completion call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepthRecord {
    /// I/Os in flight when an I/O (or sync) was issued: 1, 2-3, 4-7, 8-15, 16-31, 32-63, 64 and more.
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

/// CPU usage of a worker over its measured time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuUsage {
    /// CPU time in user space.
    pub user: Nanos,
    /// CPU time in the kernel.
    pub system: Nanos,
    /// Voluntary and involuntary context switches.
    pub ctx: u64,
    /// Major page faults (with I/O).
    pub majf: u64,
    /// Minor page faults (without I/O).
    pub minf: u64,
    /// Time it was ready to run but waited for a CPU (run-queue wait); `None` if the kernel does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<Nanos>,
}

/// Reason for the end of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Completed.
    #[default]
    Done,
    /// The runtime was over.
    Time,
    /// The observer or the user stopped it.
    Stopped,
    /// Another worker ended and its job stops the others.
    Ended,
    /// The device answered with an error.
    Error,
}

#[cfg(test)]
mod tests;
