//! What is to be measured, as its author meant it: `Scenario → Phase → Job`.
//!
//! A scenario is complete before it meets a target: relative sizes stay relative here, and become numbers in the
//! [`Plan`](crate::plan::Plan). Terms and meanings are fio's, whose manual ("HOWTO") is the reference for each field.

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
    /// Its name.
    pub name: String,
    /// Where all random choices of the run come from.
    pub seed: u64,
    /// At least one.
    pub phases: Vec<Phase>,
}

/// Jobs that run at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// At least one.
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

/// Which files a job works on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// These paths, shared by all clones of the job.
    Paths(Vec<PathBuf>),
    /// Files made up from a format, each clone its own: `$jobname`, `$jobnum`, `$filenum` and `$clientuid` are replaced.
    Formatted {
        /// Where they go; several take turns.
        directories: Vec<PathBuf>,
        /// File name format, such as `$jobname.$jobnum.$filenum`.
        format: String,
        /// Files a clone.
        nrfiles: u32,
    },
    /// No file at all (the `null` engine).
    Nothing,
    /// A simulated card.
    Sim(Box<DeviceModel>),
}

/// Which part of the files, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Total size of the files of a clone; `None` for whole files.
    pub size: Option<SizeSpec>,
    /// Size of each file; `None`: derived from `size`.
    pub filesize: Option<Bytes>,
    /// Draws the size of each file between `filesize` and this, where it is given.
    #[serde(default)]
    pub filesize_max: Option<Bytes>,
    /// Bytes a clone transfers per loop; `None`: as many as `size`.
    pub io_size: Option<SizeSpec>,
    /// Start offset in each file.
    pub offset: SizeSpec,
    /// What an offset in percent is rounded up to a multiple of (`offset_align`); 0 for the smallest block.
    #[serde(default)]
    pub offset_align: u64,
    /// Distance between the start offsets of consecutive clones.
    pub offset_increment: SizeSpec,
    /// Ends the job after N I/Os.
    pub number_ios: Option<u64>,
    /// How often to do it all.
    pub loops: u32,
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
        }
    }
}

/// Start and end of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Delay before the start.
    pub startdelay: Nanos,
    /// Draws that time between `startdelay` and this, where this is more.
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
    /// Time without I/O between the phase before and the one of this job.
    #[serde(default, skip_serializing_if = "is_none")]
    pub pause_before: Nanos,
}

fn is_none(time: &Nanos) -> bool {
    *time == Nanos(0)
}

/// Queue depth and submission of I/Os. A batch size of 0 means no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// I/Os in flight of one worker.
    pub iodepth: u32,
    /// I/Os per submission; 0: all free slots.
    pub batch_submit: u32,
    /// Minimum number of completions to wait for.
    pub batch_complete_min: u32,
    /// Maximum number of completions to reap; 0: all.
    pub batch_complete_max: u32,
    /// A full queue drains to this depth before new submissions; 0: no low-water mark.
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

/// What is done so that data survives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durability {
    /// `fsync` after every N writes; 0: never.
    pub fsync_every: u32,
    /// `fdatasync` after every N writes; 0: never.
    pub fdatasync_every: u32,
    /// `fsync` once all is written.
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

/// What writes carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    /// How buffers are filled at first.
    pub fill: BufferContent,
    /// Fills again before each write; otherwise a few words are changed so that no two writes are the same.
    pub refill: bool,
    /// Changes a few words of the buffer before each write.
    pub scramble: bool,
    /// Interval of the compressible part in bytes; 0: whole buffer, `None`: 4096.
    #[serde(default)]
    pub compress_chunk: Option<Bytes>,
    /// What the part that compresses holds, over and over; empty for zeros.
    #[serde(default)]
    pub fixed_part: Vec<u8>,
    /// How many writes carry what another carried before.
    #[serde(default)]
    pub repeats: DedupeRule,
}

/// Writes that carry the content of an earlier one, so that a device that looks for that finds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DedupeRule {
    /// Percentage of the writes that do (`dedupe_percentage`).
    pub percent: u32,
    /// Size of the dedupe working set in percent of the file (`dedupe_working_set_percentage`);
    /// `None` repeats the last content.
    pub working_set_percent: Option<u32>,
    /// Shares the dedupe working set among all such workers of a phase (`dedupe_global`).
    pub shared: bool,
    /// How many workers these are; the plan counts them.
    pub sharers: u32,
}

/// The content of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BufferContent {
    /// Random bytes that do not compress.
    Random,
    /// Zeros.
    Zero,
    /// A pattern, over and over.
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
    /// Arrivals as a Poisson process rather than evenly spaced: the loop is open.
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
    /// Counts I/Os as they are issued, and pauses with others in flight; otherwise all have to be done first.
    #[serde(default)]
    pub thinktime_on_issue: bool,
    /// Keeps the rate after a pause; otherwise the job catches up.
    #[serde(default)]
    pub ignore_thinktime: bool,
    /// Finds the deepest queue that meets a latency (`latency_target`).
    #[serde(default)]
    pub latency_target: Option<LatencyTarget>,
    /// Share of the I/Os among the jobs of its flow (`flow`, `flow_id`).
    #[serde(default)]
    pub flow: Option<FlowShare>,
}

impl RateLimits {
    /// Whether an operation has a rate limit.
    pub fn is_limited(&self, op: Op) -> bool {
        self.bytes_per_s[op]
            .or(self.iops[op])
            .is_some_and(|rate| rate > 0)
    }
}

/// What happens when the device answers with an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorPolicy {
    /// Continues after errors of these operations; otherwise the first ends the job.
    pub continue_on: PerOp<bool>,
    /// Continues after verification mismatches.
    #[serde(default)]
    pub continue_on_mismatch: bool,
    /// Errors that count for nothing (`ignore_error`).
    #[serde(default)]
    pub ignored: IgnoredErrors,
}

/// What is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Keeps completion latency.
    pub clat: bool,
    /// Keeps submission latency.
    pub slat: bool,
    /// Keeps total latency.
    pub lat: bool,
    /// Keeps a histogram of total latency too.
    pub lat_histogram: bool,
    /// Keeps a histogram of submission latency too.
    pub slat_histogram: bool,
    /// Keeps bandwidth and IOPS over time.
    pub intervals: bool,
    /// Length of an interval.
    pub tick: Nanos,
    /// Percentiles the author wants to see; empty for the usual ones.
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

/// How files come to be and are opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilePolicy {
    /// O_DIRECT.
    pub direct: bool,
    /// Drops the file from the page cache before the job.
    pub invalidate: bool,
    /// Removes files the job made when it is done.
    pub unlink: bool,
    /// Makes missing files; otherwise they must exist.
    pub allow_create: bool,
    /// Writes files in full before the job even when the job only writes.
    pub overwrite: bool,
    /// Reads files in full before the job.
    pub pre_read: bool,
    /// Reserves space when a file is laid out.
    pub fallocate: Fallocate,
    /// Leaves space that is only reserved unflushed, as fio does: where a file system cannot leave holes, the zeros
    /// that it writes there fall into the measured time.
    #[serde(default)]
    pub reserve_unflushed: bool,
    /// Begins, as fio does, although the target refuses such I/Os (trims of a file, direct I/O at odd offsets): the first
    /// of them fails. Otherwise the job is refused beforehand.
    #[serde(default)]
    pub begin_refused: bool,
    /// Refuses to write at all.
    pub read_only: bool,
    /// Lays nothing out: files come to be when they are opened, and grow as they are written (`create_on_open`).
    #[serde(default)]
    pub create_on_open: bool,
    /// Starts at the end of each file (`file_append`).
    #[serde(default)]
    pub append: bool,
    /// Makes the files and does nothing else (`create_only`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create_only: bool,
    /// Empties files that are there before the phase of the job begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty_first: bool,
    /// Writes until there is no space left, and calls that the end (`fill_device`).
    #[serde(default)]
    pub fill_device: bool,
    /// Removes the files after each loop but the last, so that the next makes them again (`unlink_each_loop`).
    #[serde(default)]
    pub unlink_each_loop: bool,
    /// Access advice for the kernel.
    #[serde(default)]
    pub advice: AccessAdvice,
    /// Writes with RWF_ATOMIC, so that a block is written whole or not at all (`atomic`).
    #[serde(default)]
    pub atomic: bool,
    /// The time of closing the files counts.
    #[serde(default)]
    pub time_close: bool,
    /// Write lifetime hint (`write_hint`).
    #[serde(default)]
    pub lifetime: Lifetime,
    /// Whether files are locked for each I/O (`lockfile`).
    #[serde(default)]
    pub lock: FileLock,
    /// Which of its files a job accesses next.
    #[serde(default)]
    pub turns: FileTurns,
    /// Names of the files of a job that opens none (`ioengine=null`): its I/O is shared out to them as to files. `$jobname`
    /// and `$jobnum` are replaced. Empty for a single file that nobody named.
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

/// One job: what `numjobs` clones of a worker do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// Number of the reporting group.
    pub group: u32,
    /// Shows its group as one.
    pub group_reporting: bool,
    /// Clones.
    pub numjobs: u32,
    /// How I/O is issued.
    pub ioengine: IoEngine,
    /// Switches of that engine.
    pub engine: EngineOptions,
    /// On what.
    pub target: Target,
    /// Files: how they are made and opened.
    pub files: FilePolicy,
    /// Which operations, where.
    pub access: Access,
    /// How large.
    pub block: PerOp<BlockSize>,
    /// How sizes are drawn, beyond `block`.
    #[serde(default)]
    pub block_rules: BlockSizeRules,
    /// What offsets are multiples of, where it is not the smallest block.
    pub block_align: Option<Bytes>,
    /// How much.
    pub extent: Extent,
    /// When.
    pub timing: Timing,
    /// How deep.
    pub queue: Queue,
    /// How durable.
    pub durability: Durability,
    /// What is written.
    pub buffers: Buffers,
    /// Rate limits.
    pub rate: RateLimits,
    /// After an error.
    pub errors: ErrorPolicy,
    /// What is recorded.
    pub measure: Measure,
    /// When it ends early, and what that means for other jobs.
    #[serde(default)]
    pub termination: Termination,
    /// Checks what was written.
    #[serde(default)]
    pub verify: Option<Verify>,
    /// Processors, memory and priority of its workers.
    #[serde(default)]
    pub placement: Placement,
    /// Commands that a shell runs before and after the job.
    #[serde(default)]
    pub commands: ShellCommands,
    /// Replays or records the requests of a run.
    #[serde(default)]
    pub replay: Replay,
    /// Its own seed; `None` derives one from the scenario's.
    pub seed: Option<u64>,
    /// Its options as they were typed, for dialects that print them back.
    pub options: Vec<(String, String)>,
}

impl Job {
    /// Whether I/Os of an operation are scheduled independently of the device: latency is then
    /// measured from the scheduled time.
    pub fn is_open_loop(&self, op: Op) -> bool {
        self.rate.is_limited(op) && (self.rate.poisson || self.queue.offload)
    }

    /// A job with the defaults of the field: 4 KiB, one I/O in flight, `psync`.
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

    /// The same with one block size for all operations.
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

    /// Sizes of the operations it does.
    pub fn blocks_used(&self) -> impl Iterator<Item = &BlockSize> {
        let paired = self.access.writes_what_it_trims();
        let sized = move |op: &Op| self.access.does(*op) && !(paired && *op == Op::Write);
        let by_op = Op::ALL.into_iter().filter(sized).map(|op| &self.block[op]);
        by_op.chain(&self.block_rules.in_line)
    }
}
