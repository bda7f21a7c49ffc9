//! Benchmark definition as written by its author: `Scenario → Phase → Job`.
//!
//! A scenario does not depend on its target: relative sizes stay relative here and become numbers in the
//! [`Plan`](crate::plan::Plan). Terms and their meanings are those of fio; its manual ("HOWTO") is the reference for
//! each field.

mod access;
mod engine;
mod op;
pub mod rules;
mod stored;

pub use self::access::{AbsoluteZone, Access, BlockSize, Distribution, RelativeZone};
pub use self::engine::{EngineOptions, IoEngine, StatCall};
pub use self::op::{Op, PerOp};

use self::rules::{
    AccessAdvice, BlockSizeRules, FileLock, FileTurns, FlowShare, IgnoredErrors, LatencyTarget,
    Lifetime, Logs, Placement, RangeSync, Replay, ShellCommands, Termination, Verify,
};
use crate::device_model::DeviceModel;
use crate::units::{Bytes, Nanos, Quantile};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Phases that run one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// Seed of all random choices of the run.
    pub seed: u64,
    /// Phases; at least one.
    pub phases: Vec<Phase>,
}

impl Scenario {
    /// Creates a scenario of one job, with its name and seed 1.
    pub fn of_job(job: Job) -> Scenario {
        let phase = Phase {
            name: job.name.clone(),
            jobs: vec![job],
        };
        Scenario {
            name: phase.name.clone(),
            seed: 1,
            phases: vec![phase],
        }
    }
}

/// Jobs that run at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Name of the phase.
    pub name: String,
    /// Jobs; at least one.
    #[serde(deserialize_with = "stored::jobs")]
    pub jobs: Vec<Job>,
}

/// A size that may depend on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeSpec {
    /// A number of bytes.
    Bytes(Bytes),
    /// A percentage of the file or device.
    Percent(u32),
}

/// Files or devices that a job accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// These paths, shared by all clones of the job.
    Paths(Vec<PathBuf>),
    /// Files named by a format, separate for each clone: `$jobname`, `$jobnum`, `$filenum` and `$clientuid` are
    /// replaced.
    Formatted {
        /// Directories of the files; several are used in turn.
        directories: Vec<PathBuf>,
        /// File name format, such as `$jobname.$jobnum.$filenum`.
        format: String,
        /// Number of files per clone.
        nrfiles: u32,
    },
    /// No file (the `null` engine).
    Nothing,
    /// A simulated card.
    Sim(Box<DeviceModel>),
}

/// Range of the files that a job accesses, and the amount of data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Total size of the files of a clone; `None` for whole files.
    pub size: Option<SizeSpec>,
    /// Size of each file; `None`: derived from `size`.
    pub filesize: Option<Bytes>,
    /// Upper bound of randomly drawn file sizes; `filesize` is the lower one.
    #[serde(default)]
    pub filesize_max: Option<Bytes>,
    /// Bytes that a clone transfers per loop; `None`: the same as `size`.
    pub io_size: Option<SizeSpec>,
    /// Start offset in each file.
    pub offset: SizeSpec,
    /// Alignment to which an offset in percent is rounded up (`offset_align`); 0 for the smallest block.
    #[serde(default)]
    pub offset_align: u64,
    /// Distance between the start offsets of consecutive clones.
    pub offset_increment: SizeSpec,
    /// Ends the job after N I/Os.
    pub number_ios: Option<u64>,
    /// Number of times to repeat the workload.
    pub loops: u32,
    /// Whether each pass draws its own offsets, as in fio with `randseed` or `randrepeat=0`, where engines with a queue
    /// otherwise repeat those of the first pass.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub draws_anew: bool,
}

impl Default for Extent {
    fn default() -> Self {
        let start = SizeSpec::Bytes(Bytes(0));
        Extent {
            size: None,
            filesize: None,
            filesize_max: None,
            io_size: None,
            offset: start,
            offset_align: 0,
            offset_increment: start,
            number_ios: None,
            loops: 1,
            draws_anew: false,
        }
    }
}

/// Start and end of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Delay before the start.
    pub startdelay: Nanos,
    /// Upper bound of a randomly drawn delay, if greater than `startdelay`.
    #[serde(default)]
    pub startdelay_max: Nanos,
    /// Ramp time, not measured.
    pub ramp_time: Nanos,
    /// Longest measured time.
    pub runtime: Option<Nanos>,
    /// Repeats the workload until the time is over.
    pub time_based: bool,
    /// Waits for all clones of the named job to finish (`wait_for`).
    #[serde(default)]
    pub wait_for: Option<String>,
    /// Pause without I/O between the previous phase and the phase of this job.
    #[serde(default, skip_serializing_if = "is_none")]
    pub pause_before: Nanos,
}

fn is_none(time: &Nanos) -> bool {
    *time == Nanos(0)
}

/// Queue depth and submission of I/Os. A batch size of 0 means no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// Queue depth of one worker.
    pub iodepth: u32,
    /// I/Os per submission; 0: all free slots.
    pub batch_submit: u32,
    /// Minimum number of completions to wait for.
    pub batch_complete_min: u32,
    /// Maximum number of completions to reap; 0: all.
    pub batch_complete_max: u32,
    /// Depth to which a full queue drains before new submissions (`iodepth_low`); 0: no low-water mark.
    pub low_mark: u32,
    /// Separate calls to submit and wait, and registration only as requested, as in fio. Otherwise
    /// engines combine them if possible, and register buffers and files if useful.
    #[serde(default)]
    pub separate_submit: bool,
    /// Threads submit and wait for I/Os, so that a slow device cannot delay arrivals
    /// (`io_submit_mode=offload`).
    #[serde(default)]
    pub offload: bool,
    /// Keeps I/Os to the same bytes from being in flight at once (`serialize_overlap`).
    #[serde(default)]
    pub serialize_overlap: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            iodepth: 1,
            batch_submit: 0,
            batch_complete_min: 1,
            batch_complete_max: 0,
            low_mark: 0,
            separate_submit: false,
            offload: false,
            serialize_overlap: false,
        }
    }
}

/// Flushes and sync flags that make data durable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durability {
    /// `fsync` after every N writes; 0: never.
    pub fsync_every: u32,
    /// `fdatasync` after every N writes; 0: never.
    pub fdatasync_every: u32,
    /// `fsync` after all writes.
    pub end_fsync: bool,
    /// `fsync` when a file is closed.
    pub fsync_on_close: bool,
    /// Opens with O_SYNC.
    pub sync: bool,
    /// Opens with O_DSYNC.
    pub dsync: bool,
    /// `sync_file_range` after every N writes.
    #[serde(default)]
    pub range_sync: Option<RangeSync>,
}

/// Content of write buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    /// Initial content of buffers.
    pub fill: BufferContent,
    /// Refills the buffer before each write; otherwise only a few words change, so that no two writes are the same.
    pub refill: bool,
    /// Changes a few words of the buffer before each write.
    pub scramble: bool,
    /// Interval of the compressible part in bytes; 0: whole buffer, `None`: 4096.
    #[serde(default)]
    pub compress_chunk: Option<Bytes>,
    /// Repeated content of the compressible part; empty for zeros.
    #[serde(default)]
    pub fixed_part: Vec<u8>,
    /// Share of writes that repeat earlier content.
    #[serde(default)]
    pub repeats: DedupeRule,
}

/// Writes that repeat the content of earlier writes, for devices that deduplicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupeRule {
    /// Percentage of writes that repeat earlier content (`dedupe_percentage`).
    pub percent: u32,
    /// Size of the dedupe working set in percent of the file (`dedupe_working_set_percentage`);
    /// `None` repeats the last content.
    pub working_set_percent: Option<u32>,
    /// Shares the dedupe working set among all such workers of a phase (`dedupe_global`).
    pub shared: bool,
    /// Number of workers that share the set; the plan counts them.
    pub sharers: u32,
}

/// Content of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BufferContent {
    /// Random bytes that do not compress.
    Random,
    /// Zeros.
    Zero,
    /// A repeated pattern.
    Pattern(Vec<u8>),
    /// Percentage of each buffer that is compressible.
    Compressible(u32),
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            fill: BufferContent::Random,
            refill: false,
            scramble: true,
            compress_chunk: None,
            fixed_part: Vec::new(),
            repeats: DedupeRule::default(),
        }
    }
}

/// Rate limits per operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateLimits {
    /// Bytes per second.
    pub bytes_per_s: PerOp<Option<u64>>,
    /// I/Os per second.
    pub iops: PerOp<Option<u64>>,
    /// Issues I/Os as a Poisson process instead of evenly spaced: an open loop.
    pub poisson: bool,
    /// Pause after each `thinktime_blocks` I/Os.
    pub thinktime: Nanos,
    /// I/Os between pauses.
    pub thinktime_blocks: u32,
    /// Part of the pause that keeps the CPU busy.
    #[serde(default)]
    pub thinktime_spin: Nanos,
    /// Time between pauses; 0: none. The pause starts when the first of the two limits is reached.
    #[serde(default)]
    pub thinktime_iotime: Nanos,
    /// Counts I/Os when they are issued, and pauses with others in flight; otherwise the pause waits for all I/Os to
    /// complete.
    #[serde(default)]
    pub thinktime_on_issue: bool,
    /// Continues at the rate after a pause; otherwise the job catches up.
    #[serde(default)]
    pub ignore_thinktime: bool,
    /// Finds the largest queue depth that meets a latency target (`latency_target`).
    #[serde(default)]
    pub latency_target: Option<LatencyTarget>,
    /// Share of the I/Os among the jobs of its flow (`flow`, `flow_id`).
    #[serde(default)]
    pub flow: Option<FlowShare>,
}

impl RateLimits {
    /// Whether an operation has a rate limit. A rate of 0 is no limit.
    pub fn is_limited(&self, op: Op) -> bool {
        let limits = [self.bytes_per_s[op], self.iops[op]];
        limits.into_iter().flatten().any(|rate| rate > 0)
    }
}

/// Reaction to I/O errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorPolicy {
    /// Continues after errors of these operations; otherwise the first error ends the job.
    pub continue_on: PerOp<bool>,
    /// Continues after verification mismatches.
    #[serde(default)]
    pub continue_on_mismatch: bool,
    /// Errors to ignore (`ignore_error`).
    #[serde(default)]
    pub ignored: IgnoredErrors,
    /// Counts a queued read that returns no data, as behind the end of a file, as completed. Otherwise it fails with
    /// EIO.
    #[serde(default)]
    pub accept_empty_reads: bool,
}

/// Latencies, intervals and logs that a job records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Records completion latency.
    pub clat: bool,
    /// Records submission latency.
    pub slat: bool,
    /// Records total latency.
    pub lat: bool,
    /// Also records a histogram of total latency.
    pub lat_histogram: bool,
    /// Also records a histogram of submission latency.
    pub slat_histogram: bool,
    /// Records bandwidth and IOPS over time.
    pub intervals: bool,
    /// Length of an interval.
    pub tick: Nanos,
    /// Percentiles to report; empty for the usual ones.
    pub percentiles: Vec<Quantile>,
    /// Logs of single I/Os while the job runs.
    #[serde(default)]
    pub logs: Logs,
}

impl Default for Measure {
    fn default() -> Self {
        Measure {
            clat: true,
            slat: true,
            lat: true,
            lat_histogram: false,
            slat_histogram: false,
            intervals: true,
            tick: Nanos::from_millis(500),
            percentiles: Vec::new(),
            logs: Logs::default(),
        }
    }
}

/// How files are created and opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilePolicy {
    /// Opens with O_DIRECT.
    pub direct: bool,
    /// Drops the file from the page cache before the job.
    pub invalidate: bool,
    /// Removes files that the job created when it is done.
    pub unlink: bool,
    /// Creates missing files; otherwise they must exist.
    pub allow_create: bool,
    /// Writes files in full before the job, even if the job only writes.
    pub overwrite: bool,
    /// Reads files in full before the job.
    pub pre_read: bool,
    /// Reserves space when a file is laid out.
    pub fallocate: Fallocate,
    /// Does not flush space that is only reserved, as in fio. On file systems without sparse files, the zeros that they
    /// write there then count in the measured time.
    #[serde(default)]
    pub reserve_unflushed: bool,
    /// Starts even if the target does not support the I/Os (trims of a file, unaligned direct I/O), as in fio: the
    /// first such I/O fails. Otherwise the job is refused beforehand.
    #[serde(default)]
    pub begin_refused: bool,
    /// Refuses all writes.
    pub read_only: bool,
    /// Does not lay out files: they are created when opened, and grow as they are written (`create_on_open`).
    #[serde(default)]
    pub create_on_open: bool,
    /// Starts at the end of each file (`file_append`).
    #[serde(default)]
    pub append: bool,
    /// Creates the files and does nothing else (`create_only`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create_only: bool,
    /// Truncates existing files to zero length before the phase of the job begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty_first: bool,
    /// Truncates a file that is laid out to be written and not read, as fio does with one that is too short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empties_reserved: bool,
    /// Writes until no space is left, which is not an error (`fill_device`).
    #[serde(default)]
    pub fill_device: bool,
    /// Removes the files after each loop except the last, so that the next loop creates them again
    /// (`unlink_each_loop`).
    #[serde(default)]
    pub unlink_each_loop: bool,
    /// Access advice for the kernel.
    #[serde(default)]
    pub advice: AccessAdvice,
    /// Writes with RWF_ATOMIC, so that a block is written whole or not at all (`atomic`).
    #[serde(default)]
    pub atomic: bool,
    /// Includes the time of closing the files in the measured time.
    #[serde(default)]
    pub time_close: bool,
    /// Write lifetime hint (`write_hint`).
    #[serde(default)]
    pub lifetime: Lifetime,
    /// Whether files are locked for each I/O (`lockfile`).
    #[serde(default)]
    pub lock: FileLock,
    /// Selection of the next file to access.
    #[serde(default)]
    pub turns: FileTurns,
    /// Names of the files of a job that opens none (`ioengine=null`). Its I/Os are distributed over them as over real
    /// files. `$jobname` and `$jobnum` are replaced. Empty for a single unnamed file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unopened: Vec<String>,
}

/// How space is reserved for a new file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallocate {
    /// Not at all.
    None,
    /// `fallocate`, if the file system supports it.
    #[default]
    Native,
    /// `fallocate` with FALLOC_FL_KEEP_SIZE.
    Keep,
    /// `ftruncate` to the size.
    Truncate,
}

impl Default for FilePolicy {
    fn default() -> Self {
        FilePolicy {
            direct: false,
            invalidate: true,
            unlink: false,
            allow_create: true,
            overwrite: false,
            pre_read: false,
            fallocate: Fallocate::Native,
            reserve_unflushed: false,
            begin_refused: false,
            read_only: false,
            create_on_open: false,
            append: false,
            create_only: false,
            empty_first: false,
            empties_reserved: false,
            fill_device: false,
            unlink_each_loop: false,
            advice: AccessAdvice::default(),
            atomic: false,
            time_close: false,
            lifetime: Lifetime::default(),
            lock: FileLock::default(),
            turns: FileTurns::default(),
            unopened: Vec::new(),
        }
    }
}

/// One job, executed by `numjobs` clones of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Name of the job.
    pub name: String,
    /// Number of the reporting group.
    pub group: u32,
    /// Reports its group as one.
    pub group_reporting: bool,
    /// Number of clones.
    pub numjobs: u32,
    /// I/O engine.
    pub ioengine: IoEngine,
    /// Options of the engine.
    pub engine: EngineOptions,
    /// Files or devices to access.
    pub target: Target,
    /// How files are created and opened.
    pub files: FilePolicy,
    /// Operations and their offsets.
    pub access: Access,
    /// Block sizes per operation.
    pub block: PerOp<BlockSize>,
    /// Selection of I/O sizes, besides `block`.
    #[serde(default)]
    pub block_rules: BlockSizeRules,
    /// Alignment of offsets; `None` for the smallest block.
    pub block_align: Option<Bytes>,
    /// Range and amount of data.
    pub extent: Extent,
    /// Start and end.
    pub timing: Timing,
    /// Queue depth and submission.
    pub queue: Queue,
    /// Flushes and sync flags.
    pub durability: Durability,
    /// Content of write buffers.
    pub buffers: Buffers,
    /// Rate limits.
    pub rate: RateLimits,
    /// Reaction to I/O errors.
    pub errors: ErrorPolicy,
    /// Latencies, intervals and logs to record.
    pub measure: Measure,
    /// Rules that end the job early, and their effect on other jobs.
    #[serde(default)]
    pub termination: Termination,
    /// Verification of written data.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// CPUs, memory and priority of its workers.
    #[serde(default)]
    pub placement: Placement,
    /// Shell commands to run before and after the job.
    #[serde(default)]
    pub commands: ShellCommands,
    /// Replays or records the requests of a run.
    #[serde(default)]
    pub replay: Replay,
    /// Seed of the job; `None` derives one from the scenario's seed.
    pub seed: Option<u64>,
    /// Options as typed, for dialects that print them.
    pub options: Vec<(String, String)>,
}

impl Job {
    /// Whether I/Os of an operation are scheduled independently of the device: latency is then
    /// measured from the scheduled time.
    pub fn is_open_loop(&self, op: Op) -> bool {
        self.rate.is_limited(op) && (self.rate.poisson || self.queue.offload)
    }

    /// Creates a job with the usual defaults: 4 KiB, one I/O in flight, `psync`.
    pub fn new(name: &str, target: Target, access: Access) -> Job {
        Job {
            name: name.to_owned(),
            group: 0,
            group_reporting: false,
            numjobs: 1,
            ioengine: IoEngine::Psync,
            engine: EngineOptions::default(),
            target,
            files: FilePolicy::default(),
            access,
            block: PerOp::all(BlockSize::Fixed(Bytes(4096))),
            block_rules: BlockSizeRules::default(),
            block_align: None,
            extent: Extent::default(),
            timing: Timing::default(),
            queue: Queue::default(),
            durability: Durability::default(),
            buffers: Buffers::default(),
            rate: RateLimits::default(),
            errors: ErrorPolicy::default(),
            measure: Measure::default(),
            termination: Termination::default(),
            verify: None,
            placement: Placement::default(),
            commands: ShellCommands::default(),
            replay: Replay::default(),
            seed: None,
            options: Vec::new(),
        }
    }

    /// Sets one block size for all operations.
    pub fn with_block(mut self, block: Bytes) -> Job {
        self.block = PerOp::all(BlockSize::Fixed(block));
        self
    }

    /// Returns the number of separate ranges of its clones: one per clone if each has its own files
    /// or offset, otherwise one.
    pub fn clones_apart(&self) -> u32 {
        let in_one_place = matches!(
            self.extent.offset_increment,
            SizeSpec::Bytes(Bytes(0)) | SizeSpec::Percent(0)
        );
        if matches!(self.target, Target::Formatted { .. }) || !in_one_place {
            self.numjobs
        } else {
            1
        }
    }

    /// Whether the job can have several I/Os in flight: its engine is asynchronous, or threads
    /// submit for it (`io_submit_mode=offload`).
    pub fn has_queue(&self) -> bool {
        self.queue.offload || !self.ioengine.is_synchronous()
    }

    /// The queue depth of one worker: `iodepth`, or 1 where there is no queue.
    pub fn effective_depth(&self) -> u32 {
        if self.has_queue() {
            self.queue.iodepth
        } else {
            1
        }
    }

    /// Returns the block sizes of the operations that the job does.
    pub fn blocks_used(&self) -> impl Iterator<Item = &BlockSize> {
        let paired = self.access.writes_what_it_trims();
        let sized = move |op: &Op| self.access.does(*op) && !(paired && *op == Op::Write);
        let by_op = Op::ALL.into_iter().filter(sized).map(|op| &self.block[op]);
        by_op.chain(&self.block_rules.in_line)
    }
}
