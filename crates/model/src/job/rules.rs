//! Optional job behavior: termination, placement, file selection, zones, logs, replay.
//!
//! Everything here is off by default. Terms and their meanings are those of fio.

mod verify;
mod zones;

pub use verify::{PatternPart, Verify, VerifyMethod};
pub use zones::{TraversalOrder, ZoneResets, Zones};

use super::{BlockSize, PerOp};
use crate::replay::Trace;
use crate::units::Nanos;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Conditions that end a job early, and their effect on other jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Termination {
    /// Effect of the end of this job on others.
    pub exit: ExitRules,
    /// Ends the job once its speed no longer changes (`steadystate`).
    pub steady: Option<SteadyStateRule>,
    /// Ends the job with an error at the first I/O that takes longer (`max_latency`).
    pub max_latency: PerOp<Option<Nanos>>,
    /// Ends the job if its rate is lower (`rate_min`).
    pub minimum_rate: MinimumRate,
}

/// CPUs, memory and priority of a job's workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Placement {
    /// CPUs that its workers may use; empty for any (`cpus_allowed`).
    pub cpus_allowed: Vec<u32>,
    /// Gives each worker one of these CPUs (`cpus_allowed_policy=split`).
    pub split_cpus: bool,
    /// NUMA nodes whose CPUs its workers may use; empty for any (`numa_cpu_nodes`).
    pub numa_cpu_nodes: Vec<u32>,
    /// NUMA memory policy of its workers; `None`: kernel default (`numa_mem_policy`).
    pub memory: Option<MemoryPolicy>,
    /// Priorities of its workers.
    pub priority: Priority,
}

/// Logs of single I/Os or averaging windows (`write_bw_log` and others).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Logs {
    /// Logs I/Os.
    pub samples: bool,
    /// Logs averages over this window instead (`log_avg_msec`).
    pub window: Option<Nanos>,
    /// Logs the maximum latency of a window instead of the mean (`log_max_value`).
    pub max_value: bool,
    /// Logs mean and maximum latency of a window (`log_window_value=both`).
    pub both_values: bool,
    /// Interval of histograms of completion latency (`log_hist_msec`).
    pub histogram: Option<Nanos>,
    /// Number of adjacent histogram bins to join, as a power of two (`log_hist_coarseness`).
    pub coarseness: u32,
}

impl Logs {
    /// Whether anything is logged.
    pub fn any(&self) -> bool {
        self.samples || self.histogram.is_some()
    }
}

/// Selection of I/O sizes, besides the block sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockSizeRules {
    /// Draws any size within a range instead of multiples of the smallest (`bs_unaligned`).
    pub unaligned: bool,
    /// Block size of sequential I/Os in a random job, if different (`bs_is_seq_rand`).
    pub in_line: Option<BlockSize>,
}

/// NUMA memory policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPolicy {
    /// Use of the nodes.
    pub mode: MemoryMode,
    /// The nodes; empty if the mode needs none.
    pub nodes: Vec<u32>,
}

/// How NUMA nodes are used for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryMode {
    /// System default.
    Default,
    /// From this node if possible.
    Prefer,
    /// From these nodes only.
    Bind,
    /// Interleaved over these nodes.
    Interleave,
    /// From the node the worker runs on.
    Local,
}

/// When and how to start writeback of written ranges (`sync_file_range`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RangeSync {
    /// Number of writes between calls; at least 1.
    pub every: u32,
    /// Waits for writeback that has already started.
    pub wait_before: bool,
    /// Starts writing dirty pages.
    pub write: bool,
    /// Waits until writeback is complete.
    pub wait_after: bool,
}

/// Share of a job in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowShare {
    /// ID of the flow.
    pub id: u32,
    /// Weight of the job within it; at least 1.
    pub weight: u32,
    /// Time that a job waits when it is ahead of its share (`flow_sleep`).
    pub sleep: Nanos,
}

/// Shell commands before and after a job; their output goes to a file named after the job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShellCommands {
    /// Command before the start (`exec_prerun`).
    pub before: Option<String>,
    /// Command after the end (`exec_postrun`).
    pub after: Option<String>,
}

/// Effect of the end of a job on others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExitRules {
    /// Jobs to end when this job ends (`exitall`, `exit_what`).
    pub ends: Option<ExitScope>,
    /// Ends all others when the job ends with an error (`exitall_on_error`).
    pub on_error: bool,
    /// A worker stopped by another job finishes its writes unmeasured, so that later jobs find complete files.
    pub finish_writing: bool,
    /// Runs later phases even after an error of this job.
    pub phases_after_error: bool,
}

/// Jobs that end together with a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitScope {
    /// Jobs of its reporting group.
    Group,
    /// Running jobs; the next phase follows.
    Phase,
    /// The whole run.
    All,
}

/// Steady state criterion (`steadystate`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyStateRule {
    /// Uses IOPS instead of bandwidth.
    pub iops: bool,
    /// Uses the slope of a fitted line instead of the largest deviation from the mean.
    pub slope: bool,
    /// Limit of the slope or deviation.
    pub limit: SteadyLimit,
    /// Length of the window of samples.
    pub window: Nanos,
    /// Time before the first sample.
    pub ramp: Nanos,
    /// Time between samples.
    pub interval: Nanos,
    /// Evaluates the jobs of a reporting group together.
    #[serde(default)]
    pub together: bool,
}

/// Limit of a [`SteadyStateRule`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SteadyLimit {
    /// Percentage of the mean.
    Percent(f64),
    /// I/Os or bytes per second.
    Absolute(f64),
}

/// Search for the largest queue depth that meets a latency target (`latency_target`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// Target latency.
    pub target: Nanos,
    /// Duration of the test of each depth.
    pub window: Nanos,
    /// Percentage of I/Os that must meet the target.
    pub percentile: f64,
    /// Continues adapting instead of ending with the depth found (`latency_run`).
    pub keep_running: bool,
}

/// Minimum rate of a job (`rate_min`, `rate_iops_min`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MinimumRate {
    /// Bytes per second.
    pub bytes_per_s: PerOp<Option<u64>>,
    /// I/Os per second.
    pub iops: PerOp<Option<u64>>,
    /// Averaging time (`rate_cycle`).
    pub cycle: Nanos,
}

impl Default for MinimumRate {
    fn default() -> Self {
        MinimumRate {
            bytes_per_s: PerOp::all(None),
            iops: PerOp::all(None),
            cycle: Nanos::SECOND,
        }
    }
}

/// Selection of the next file (`file_service_type`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileTurns {
    /// Order of the files.
    pub order: FileOrder,
    /// Number of I/Os to one file before the next file.
    pub run_length: u32,
    /// Maximum number of open files (`openfiles`); `None`: all.
    pub open_files: Option<u32>,
}

impl Default for FileTurns {
    fn default() -> Self {
        FileTurns {
            order: FileOrder::RoundRobin,
            run_length: 1,
            open_files: None,
        }
    }
}

/// Order in which a job selects its files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOrder {
    /// Round robin.
    #[default]
    RoundRobin,
    /// One file after another.
    Sequential,
    /// Random, uniformly distributed.
    Random,
    /// Random, with a Zipf distribution of this theta.
    Zipf(f64),
    /// Random, with a Pareto distribution of this power.
    Pareto(f64),
    /// Random, with a normal distribution; the deviation is in percent of the files.
    Normal(f64),
}

/// Locking of files that several workers share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileLock {
    /// No locking.
    #[default]
    None,
    /// One I/O at a time.
    Exclusive,
    /// Any number of reads, or one write.
    ReadWrite,
}

/// Expected lifetime of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// Not set.
    #[default]
    Untold,
    /// No hint; clears an earlier one.
    None,
    /// Short.
    Short,
    /// Medium.
    Medium,
    /// Long.
    Long,
    /// Extremely long.
    Extreme,
}

/// Access advice for the kernel (`fadvise_hint`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessAdvice {
    /// According to the access pattern: random or sequential.
    #[default]
    AsJob,
    /// No advice.
    None,
    /// Always random.
    Random,
    /// Always sequential.
    Sequential,
}

/// Error numbers to ignore (`ignore_error`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IgnoredErrors {
    /// Errors of reads.
    pub read: Vec<i32>,
    /// Errors of writes.
    pub write: Vec<i32>,
    /// Errors of verification.
    pub verify: Vec<i32>,
}

/// Priorities of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Priority {
    /// CPU niceness, -20 to 19.
    pub nice: i32,
    /// I/O priority class: 1 real time, 2 best effort, 3 idle (`prioclass`).
    pub io_class: Option<u32>,
    /// I/O priority level within the class, 0 (highest) to 7 (`prio`).
    pub io_level: Option<u32>,
}

/// Replays or records the requests of a run (`read_iolog`, `write_iolog`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Replay {
    /// Logs to replay; clones use them in turn.
    pub read: Vec<PathBuf>,
    /// Log to append requests to.
    pub write: Option<PathBuf>,
    /// Ignores the times in the log (`replay_no_stall`).
    pub no_stall: bool,
    /// Sends everything to this file or device (`replay_redirect`).
    pub redirect: Option<PathBuf>,
    /// Replay speed in percent of the original (`replay_time_scale`); 0 means 100.
    pub time_scale_percent: u32,
    /// Divisor of offsets (`replay_scale`); 0 means 1.
    pub scale: u64,
    /// Alignment to which offsets are rounded down afterwards (`replay_align`); 0 means 1.
    pub align: u64,
    /// Actions to skip (`replay_skip`).
    pub skip: Skipped,
    /// The parsed logs with all options above applied. A stored run contains the names of its logs only.
    #[serde(skip)]
    pub traces: Vec<Arc<Trace>>,
}

impl Replay {
    /// Whether anything is replayed.
    pub fn any(&self) -> bool {
        !self.read.is_empty() || !self.traces.is_empty()
    }

    /// Returns the trace that a clone replays, if any.
    pub(crate) fn trace_of(&self, clone: u32) -> Option<&Arc<Trace>> {
        self.traces
            .get((clone as usize).checked_rem(self.traces.len())?)
    }
}

/// Actions of a log to skip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// I/Os by operation.
    pub ops: PerOp<bool>,
    /// Flushes.
    pub syncs: bool,
}
