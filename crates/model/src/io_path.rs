//! The path of the I/Os of a phase through block layer and device: which requests they became, whose they were, and
//! where their time went.

mod class;
mod findings;
mod layout;
mod obstacle;
mod time;

pub use class::{ClassGroup, IoClass};
pub use findings::{
    BusUse, ClassAmplification, DeviceSplit, DifferencePart, OperationDifference, OperationLoad,
    PartDifference, PathComparison, PathDifference, PathFigure, PathFindings, PathIdentity,
    PathLimit, PathRefusal, PathTraffic, PriceModel, PriceRefusal, TimeDifference, TimeShares,
    TracedSeries, shares_allowed,
};
pub use layout::{LayoutGap, LayoutPart};
pub use obstacle::TraceObstacle;
pub use time::{ClassTime, OperationPath, TimePart, TimeParts, TracedOperation};

use crate::job::Op;
use crate::record::Latency;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Block requests of the traced part of a phase on one disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IoPath {
    /// The traced disk.
    pub disk: TracedDisk,
    /// How the events were recorded, and how many were lost.
    pub tracer: TracerReport,
    /// Length of the traced part: the measured part of the phase, without the ramp time.
    pub window: Nanos,
    /// Time in which the device had at least one request: the union of the device times.
    pub busy: Nanos,
    /// The part of `busy` in which only cache flushes were on the device.
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub flush_only: Nanos,
    /// Mean number of requests in the queue or on the device over the traced part.
    pub mean_depth: f64,
    /// Traffic by class and operation, in the order of [`IoClass::ALL`]; classes without requests are left out.
    pub classes: Vec<ClassTraffic>,
    /// Sizes of the application's I/Os.
    pub asked: Vec<SizeCount>,
    /// Critical paths by kind of operation.
    pub operations: Vec<OperationPath>,
    /// Number of operations whose critical paths were computed, if memory did not suffice for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations_limit: Option<u64>,
    /// Queue depth over time, in equal steps; at most 1,000.
    pub depth: Vec<DepthSample>,
    /// Requests for the picture of addresses over time.
    pub sample: RequestSample,
    /// What lay where on the disk, in ascending order; adjacent ranges of one class are joined, and their number is
    /// limited.
    pub layout: Vec<LayoutRange>,
    /// What is not known about the layout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layout_gaps: Vec<LayoutGap>,
    /// Counters of the disk over the traced part, to compare the sums with; `None` if they cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<DiskTotals>,
    /// Requests in flight at the start and at the end of the traced part, which belong to it only partly.
    pub edges: EdgeRequests,
    /// Requests classified before the final layout was known, because memory did not suffice to keep all of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub classified_early: u64,
    /// Commands on an MMC bus that asked for the status of the card (CMD13).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub status_commands: u64,
    /// Cost of tracing, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<TraceCost>,
    /// Why the cost of tracing was not measured; `None` if it was, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_unknown: Option<NoTraceCost>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn is_false(value: &bool) -> bool {
    !value
}

fn is_no_time(time: &Nanos) -> bool {
    *time == Nanos(0)
}

/// Sum of counts, which may be damaged in an imported record.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

impl IoPath {
    /// Share of events lost above which the figures are marked as incomplete.
    pub const LOSS_LIMIT: f64 = 0.001;

    /// Returns the bytes of all classes for an operation.
    pub fn bytes(&self, op: Op) -> Bytes {
        let of_op = self.classes.iter().filter(|class| class.op == Some(op));
        Bytes(sum(of_op.map(|class| class.bytes.0)))
    }
}

/// The disk on which requests were traced.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracedDisk {
    /// Kernel name of the whole disk: `mmcblk0`.
    pub name: String,
    /// First sector (512 bytes) and number of sectors of the partition under test; `None` for the whole disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<(u64, u64)>,
    /// Name of the file system, as the kernel has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// Whether the kernel sends cache flushes to the device (`queue/write_cache` is `write back`).
    pub flushes_sent: bool,
    /// Whether the device takes bios instead of requests (zram, brd, device mapper): there are no requests to merge, and
    /// device time is from queue to completion.
    pub bio_based: bool,
    /// Size of the disk.
    pub size: Bytes,
}

/// How events were recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracerReport {
    /// The kernel's facility.
    pub method: TraceMethod,
    /// Counts by event.
    pub events: Vec<EventCount>,
    /// Size of the ring of one CPU.
    pub ring: Bytes,
    /// Completions that were never seen.
    pub unseen_completions: u64,
    /// Requests whose bios were not seen.
    pub unmatched: u64,
    /// Whether the thread IDs of the events are those of another PID namespace, so that the threads of the run cannot be
    /// recognized.
    #[serde(default, skip_serializing_if = "is_false")]
    pub foreign_threads: bool,
    /// Whether the kernel did not count the events, so that only the losses that the rings report are known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub uncounted: bool,
}

impl TracerReport {
    /// Returns the share of events lost: reported as lost by the kernel, or counted but not delivered.
    pub fn lost_share(&self) -> f64 {
        let counted = sum(self.events.iter().map(|event| event.counted));
        let lost = sum(self
            .events
            .iter()
            .flat_map(|event| [event.lost, event.missing]));
        match counted {
            0 => 0.0,
            _ => lost as f64 / counted as f64,
        }
    }
}

/// Kernel facility that records events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceMethod {
    /// Rings of `perf_event_open`.
    #[default]
    Perf,
    /// A private ftrace instance: where perf loses events, and where each event counts.
    Ftrace,
}

/// Counts of one tracepoint over the traced phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventCount {
    /// `block_rq_issue`
    pub name: String,
    /// Times that the event occurred, by the kernel's counter.
    pub counted: u64,
    /// Events received.
    pub recorded: u64,
    /// Events that the kernel reported as lost.
    pub lost: u64,
    /// Events that were counted, but neither received nor reported as lost.
    pub missing: u64,
}

/// Traffic of one class and operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassTraffic {
    /// The class.
    pub class: IoClass,
    /// The operation; `None` for flushes.
    pub op: Option<Op>,
    /// Requests issued to the device. A request over several classes counts for the class of its first sector.
    pub requests: u64,
    /// Bytes. A request over several classes counts for each by its share.
    pub bytes: Bytes,
    /// Those of the requests that were queued before the window, for earlier operations of the application.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier_requests: u64,
    /// Those of the bytes that were queued before the window.
    #[serde(default, skip_serializing_if = "Bytes::is_zero")]
    pub earlier_bytes: Bytes,
    /// Runs of requests with consecutive addresses.
    pub runs: u64,
    /// Bios queued for these requests.
    pub bios: u64,
    /// Bios that were merged into an earlier request.
    pub merges: u64,
    /// Requests that are a part of a larger bio.
    pub splits: u64,
    /// Requests that the driver returned to the queue.
    pub requeues: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Sizes of the requests.
    pub sizes: Vec<SizeCount>,
    /// Time from queuing to issue: the block layer.
    pub queue: Latency,
    /// Time from issue to completion: the device.
    pub device: Latency,
    /// Commands on an MMC bus, if the disk is on one and they were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandTraffic>,
    /// Who queued the bios, most bytes first; at most 8.
    pub issuers: Vec<Issuer>,
}

impl ClassTraffic {
    /// Returns the requests that were queued in the window, for the operations in it.
    pub fn own_requests(&self) -> u64 {
        self.requests.saturating_sub(self.earlier_requests)
    }

    /// Returns the bytes that were queued in the window.
    pub fn own_bytes(&self) -> u64 {
        self.bytes.0.saturating_sub(self.earlier_bytes.0)
    }
}

/// Commands of one class on an MMC bus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandTraffic {
    /// Data commands (CMD17, 18, 24, 25), or erase sequences for trims.
    pub commands: u64,
    /// Runs of data commands with consecutive addresses.
    pub runs: u64,
    /// Time from start to done.
    pub busy: Nanos,
    /// Retries.
    pub retries: u64,
    /// Failed commands.
    pub errors: u64,
}

/// A thread or process that queued bios.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issuer {
    /// Kind of the thread.
    pub kind: IssuerKind,
    /// Name of the thread, without the numbers of kernel workers: `jbd2/mmcblk0p2`, `kworker`.
    pub name: String,
    /// Bios queued.
    pub bios: u64,
    /// Bytes queued.
    pub bytes: Bytes,
}

/// Kind of thread that queues bios.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssuerKind {
    /// A worker of the run, known by its thread ID.
    Worker,
    /// The journal thread of a file system.
    Journal,
    /// A writeback thread or another thread of the kernel.
    Kernel,
    /// Another thread of this program.
    OwnProcess,
    /// Another process.
    OtherProcess,
}

/// Number of requests or I/Os of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeCount {
    /// The operation.
    pub op: Op,
    /// Size.
    pub size: Bytes,
    /// How many.
    pub count: u64,
}

/// Requests at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DepthSample {
    /// Since the start of the traced part.
    pub at: Nanos,
    /// Mean number of requests in the queue over the step.
    pub queued: f32,
    /// Mean number of requests on the device over the step.
    pub issued: f32,
}

/// Random sample of requests, drawn from each class so that rare classes stay visible.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestSample {
    /// Number of requests from which the sample was drawn.
    pub drawn_from: u64,
    /// The sample in order of issue.
    pub requests: Vec<SampledRequest>,
}

/// One request of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledRequest {
    /// First sector of 512 bytes on the whole disk.
    pub sector: u64,
    /// Sectors.
    pub sectors: u32,
    /// The operation; `None` for flushes.
    pub op: Option<Op>,
    /// The class.
    pub class: IoClass,
    /// Queued, since the start of the traced part.
    pub queued: Nanos,
    /// Time in the queue.
    pub waited: Nanos,
    /// Time on the device.
    pub served: Nanos,
    /// Time from start to done of its command on an MMC bus; `None` on other buses, and if it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Nanos>,
}

/// Range of sectors of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutRange {
    /// First sector of 512 bytes on the whole disk.
    pub sector: u64,
    /// Sectors.
    pub sectors: u64,
    /// The class.
    pub class: IoClass,
}

/// Totals of a disk's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskTotals {
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// Bytes discarded.
    pub discarded: Bytes,
    /// Flushes completed; `None` on kernels that do not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
}

/// Requests that cross an edge of the traced part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeRequests {
    /// In the queue or on the device at the start.
    pub at_start: u64,
    /// Their bytes.
    pub at_start_bytes: Bytes,
    /// In the queue or on the device at the end.
    pub at_end: u64,
    /// Their bytes.
    pub at_end_bytes: Bytes,
}

/// Cost of tracing, from interleaved pairs of segments with and without recording.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceCost {
    /// Mean relative increase of the latency: 0.011 is 1.1 %.
    pub mean: f64,
    /// Half width of its 95% interval.
    pub margin: f64,
    /// Number of pairs.
    pub pairs: u32,
}

impl TraceCost {
    /// Half width of an interval that bounds the cost well enough, even if it contains 0.
    const NARROW: f64 = 0.03;

    /// Whether the interval says something: it is narrow, or excludes 0. Otherwise other work of the host decided the
    /// difference.
    pub fn is_known(&self) -> bool {
        self.margin <= Self::NARROW.max(self.mean.abs())
    }
}

/// Why the cost of tracing was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum NoTraceCost {
    /// The phase was too short for enough pairs of segments.
    Short {
        /// Expected length when the decision was made.
        expected: Nanos,
        /// Shortest length with enough pairs.
        needed: Nanos,
    },
    /// The length of the phase was not known in advance.
    UnknownLength,
    /// Too few I/Os completed for a mean latency of each segment.
    FewIos,
    /// The phase ended before enough pairs were measured.
    Ended,
    /// The kernel did not switch the recording off and on.
    NotSwitched,
    /// Switching the recording off and on took too long for enough pairs.
    SlowSwitching,
    /// The whole phase was to be traced.
    Whole,
}
