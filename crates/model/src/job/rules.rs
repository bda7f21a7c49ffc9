//! Optional job behavior: termination, placement, file selection, zones, logs, replay.
//!
//! Everything here is off by default. Terms and meanings are fio's.

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

/// When a job ends before its work is done, and what its end means for the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Termination {
    /// What the end of this job means for the others.
    pub exit: ExitRules,
    /// Ends the job once its speed no longer changes (`steadystate`).
    pub steady: Option<SteadyStateRule>,
    /// Ends the job with an error at the first I/O that takes longer (`max_latency`).
    pub max_latency: PerOp<Option<Nanos>>,
    /// Ends the job when it is slower than this (`rate_min`).
    pub minimum_rate: MinimumRate,
}

/// Which CPUs, memory and priority a job's workers get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Placement {
    /// Processors its workers may run on; empty for any (`cpus_allowed`).
    pub cpus_allowed: Vec<u32>,
    /// Each worker has one of these CPUs to itself (`cpus_allowed_policy=split`).
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
    /// How many neighbouring bins of it are joined, as a power of two (`log_hist_coarseness`).
    pub coarseness: u32,
}

impl Logs {
    /// Whether anything is logged.
    pub fn any(&self) -> bool {
        self.samples || self.histogram.is_some()
    }
}

/// How sizes of I/Os are drawn, beyond their blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BlockSizeRules {
    /// Draws sizes of a range to the byte rather than in multiples of the smallest (`bs_unaligned`).
    pub unaligned: bool,
    /// Size of the I/Os of a random job that follow one another, where it differs (`bs_is_seq_rand`).
    pub in_line: Option<BlockSize>,
}

/// Which nodes memory comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryPolicy {
    /// How the nodes are used.
    pub mode: MemoryMode,
    /// The nodes; empty if the mode needs none.
    pub nodes: Vec<u32>,
}

/// How NUMA nodes are used for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryMode {
    /// As the system does.
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
    /// Waits for what is being written already.
    pub wait_before: bool,
    /// Starts writing dirty pages.
    pub write: bool,
    /// Waits until all is written.
    pub wait_after: bool,
}

/// Share of a job in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowShare {
    /// The flow.
    pub id: u32,
    /// Weight of the job within it; at least 1.
    pub weight: u32,
    /// How long a job waits that is ahead of its share (`flow_sleep`).
    pub sleep: Nanos,
}

/// Commands that a shell runs beside a job; what they print goes to a file named after the job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShellCommands {
    /// Before the start (`exec_prerun`).
    pub before: Option<String>,
    /// After it has ended (`exec_postrun`).
    pub after: Option<String>,
}

/// What the end of a job means for the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExitRules {
    /// Ends these as well when the job ends (`exitall`, `exit_what`).
    pub ends: Option<ExitScope>,
    /// Ends all others when the job ends with an error (`exitall_on_error`).
    pub on_error: bool,
    /// A worker stopped by another finishes its writes unmeasured, so that later jobs find whole
    /// files.
    pub finish_writing: bool,
    /// Later phases run even after an error of this job.
    pub phases_after_error: bool,
}

/// How far the end of a job reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitScope {
    /// Jobs of its reporting group.
    Group,
    /// Jobs that run now; the next phase follows.
    Phase,
    /// The whole run.
    All,
}

/// When speed counts as steady (`steadystate`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyStateRule {
    /// IOPS rather than bandwidth.
    pub iops: bool,
    /// The slope of a line through the samples rather than their largest distance from the mean.
    pub slope: bool,
    /// Limit of that.
    pub limit: SteadyLimit,
    /// Window the samples come from.
    pub window: Nanos,
    /// Time before the first sample.
    pub ramp: Nanos,
    /// Time between samples.
    pub interval: Nanos,
    /// Judges the jobs of a group together.
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

/// Looks for the deepest queue that keeps to a latency (`latency_target`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyTarget {
    /// Target latency.
    pub target: Nanos,
    /// Time each depth is tried for.
    pub window: Nanos,
    /// Percentage of I/Os that must meet it.
    pub percentile: f64,
    /// Continues adapting instead of ending with the depth found (`latency_run`).
    pub keep_running: bool,
}

/// The least a job has to achieve (`rate_min`, `rate_iops_min`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MinimumRate {
    /// Bytes per second.
    pub bytes_per_s: PerOp<Option<u64>>,
    /// I/Os per second.
    pub iops: PerOp<Option<u64>>,
    /// Time it is averaged over (`rate_cycle`).
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

/// Which of its files a job turns to next (`file_service_type`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileTurns {
    /// The order.
    pub order: FileOrder,
    /// I/Os to one file before the next has its turn.
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

/// The order files have their turns in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOrder {
    /// Round robin.
    #[default]
    RoundRobin,
    /// One until it is done, then the next.
    Sequential,
    /// Drawn evenly.
    Random,
    /// Drawn by Zipf with this theta.
    Zipf(f64),
    /// Drawn by Pareto with this power.
    Pareto(f64),
    /// Drawn by a normal distribution of this deviation, in percent of the files.
    Normal(f64),
}

/// How files are locked that several workers share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileLock {
    /// Not at all.
    #[default]
    None,
    /// For one I/O at a time.
    Exclusive,
    /// For any number of reads, or one write.
    ReadWrite,
}

/// How long data is expected to live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// Nobody says.
    #[default]
    Untold,
    /// No hint; clears an earlier one.
    None,
    /// Short.
    Short,
    /// Longer.
    Medium,
    /// Long.
    Long,
    /// As long as can be.
    Extreme,
}

/// Access advice for the kernel (`fadvise_hint`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessAdvice {
    /// What the job does: random or sequential.
    #[default]
    AsJob,
    /// Nothing.
    None,
    /// Always random.
    Random,
    /// Always sequential.
    Sequential,
}

/// Numbers of errors that count for nothing (`ignore_error`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IgnoredErrors {
    /// Of reads.
    pub read: Vec<i32>,
    /// Of writes.
    pub write: Vec<i32>,
    /// Of verification.
    pub verify: Vec<i32>,
}

/// Priorities of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Priority {
    /// Niceness of its CPU time, -20 to 19.
    pub nice: i32,
    /// Class of its I/O: 1 real time, 2 best effort, 3 idle (`prioclass`).
    pub io_class: Option<u32>,
    /// Level within the class, 0 (highest) to 7 (`prio`).
    pub io_level: Option<u32>,
}

/// Replays or records the requests of a run (`read_iolog`, `write_iolog`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Replay {
    /// Logs to replay; clones take turns.
    pub read: Vec<PathBuf>,
    /// Log to append to.
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
    /// What is left out (`replay_skip`).
    pub skip: Skipped,
    /// The logs as they were read, with all of that done. A stored run names its logs, and does not hold them.
    #[serde(skip)]
    pub traces: Vec<Arc<Trace>>,
}

impl Replay {
    /// Whether anything is replayed.
    pub fn any(&self) -> bool {
        !self.read.is_empty() || !self.traces.is_empty()
    }

    /// What a clone replays, if anything.
    pub(crate) fn trace_of(&self, clone: u32) -> Option<&Arc<Trace>> {
        self.traces
            .get((clone as usize).checked_rem(self.traces.len())?)
    }
}

/// Actions of a log that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// I/Os.
    pub ops: PerOp<bool>,
    /// Flushes.
    pub syncs: bool,
}
