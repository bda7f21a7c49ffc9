//! What is to be measured, as its author meant it: `Scenario → Phase → Job`.
//!
//! A scenario is complete before it meets a target: relative sizes stay relative here, and become numbers in the
//! [`Plan`](crate::plan::Plan). Terms and meanings are fio's, whose manual ("HOWTO") is the reference for each field.

pub mod rules;

use self::rules::{RangeSync, Rules};
use crate::price::PriceList;
use crate::units::{Bytes, Nanos, Quantile};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What an I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Read.
    Read = 0,
    /// Write.
    Write = 1,
    /// Discard.
    Trim = 2,
}

impl Op {
    /// All three, in the order results are given.
    pub const ALL: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

    /// `read`, `write`, `trim`.
    pub fn name(self) -> &'static str {
        ["read", "write", "trim"][self as usize]
    }
}

/// One value for each [`Op`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PerOp<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T> PerOp<T> {
    /// The same value for each.
    pub fn all(value: T) -> PerOp<T>
    where
        T: Clone,
    {
        PerOp { read: value.clone(), write: value.clone(), trim: value }
    }

    /// The value for one, computed for each.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> PerOp<U> {
        PerOp { read: f(&self.read), write: f(&self.write), trim: f(&self.trim) }
    }

    /// Each with its operation.
    pub fn iter(&self) -> impl Iterator<Item = (Op, &T)> {
        [(Op::Read, &self.read), (Op::Write, &self.write), (Op::Trim, &self.trim)].into_iter()
    }
}

impl<T> std::ops::Index<Op> for PerOp<T> {
    type Output = T;
    #[inline]
    fn index(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
            Op::Trim => &self.trim,
        }
    }
}

impl<T> std::ops::IndexMut<Op> for PerOp<T> {
    #[inline]
    fn index_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            Op::Trim => &mut self.trim,
        }
    }
}

/// Phases that run one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// What to call it.
    pub name: String,
    /// Where all random choices of the run come from.
    pub seed: u64,
    /// At least one.
    pub phases: Vec<Phase>,
}

/// Jobs that run at the same time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// What to call it.
    pub name: String,
    /// At least one.
    pub jobs: Vec<Job>,
}

/// How I/O is issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoEngine {
    /// `lseek` and `read`/`write`.
    Sync,
    /// `pread`/`pwrite`.
    Psync,
    /// `preadv`/`pwritev`.
    Pvsync,
    /// `preadv2`/`pwritev2`.
    Pvsync2,
    /// `readv`/`writev` at the file's own offset, neighbours in one call.
    Vsync,
    /// Kernel asynchronous I/O, `io_submit`.
    Libaio,
    /// `io_uring`.
    IoUring,
    /// Threads that call `pread`/`pwrite`, one at a time for each file, as the C library's `aio_read` does.
    Posixaio,
    /// `fread`/`fwrite`: small neighbours are gathered in a buffer of the process.
    Stdio,
    /// Loads and stores in a mapping of the file.
    Mmap,
    /// `splice` between the file and a pipe.
    Splice,
    /// `fallocate`: reads reserve without growing the file, writes with, trims punch holes.
    Falloc,
    /// `ftruncate` to the offset of each write.
    Ftruncate,
    /// Makes one file an I/O.
    Filecreate,
    /// Asks for the attributes of one file an I/O.
    Filestat,
    /// Removes one file an I/O.
    Filedelete,
    /// Makes one folder an I/O.
    Dircreate,
    /// Asks for the attributes of one folder an I/O.
    Dirstat,
    /// Removes one folder an I/O.
    Dirdelete,
    /// Does nothing, for measuring ourselves.
    Null,
    /// A simulated card on a virtual clock.
    Sim,
}

impl IoEngine {
    /// Every one of them.
    pub const ALL: [IoEngine; 21] = [
        IoEngine::Sync,
        IoEngine::Psync,
        IoEngine::Pvsync,
        IoEngine::Pvsync2,
        IoEngine::Vsync,
        IoEngine::Libaio,
        IoEngine::IoUring,
        IoEngine::Posixaio,
        IoEngine::Stdio,
        IoEngine::Mmap,
        IoEngine::Splice,
        IoEngine::Falloc,
        IoEngine::Ftruncate,
        IoEngine::Filecreate,
        IoEngine::Filestat,
        IoEngine::Filedelete,
        IoEngine::Dircreate,
        IoEngine::Dirstat,
        IoEngine::Dirdelete,
        IoEngine::Null,
        IoEngine::Sim,
    ];

    /// The name in the field, as the `ioengine` option has it.
    pub fn name(self) -> &'static str {
        match self {
            IoEngine::Sync => "sync",
            IoEngine::Psync => "psync",
            IoEngine::Pvsync => "pvsync",
            IoEngine::Pvsync2 => "pvsync2",
            IoEngine::Vsync => "vsync",
            IoEngine::Libaio => "libaio",
            IoEngine::IoUring => "io_uring",
            IoEngine::Posixaio => "posixaio",
            IoEngine::Stdio => "stdio",
            IoEngine::Mmap => "mmap",
            IoEngine::Splice => "splice",
            IoEngine::Falloc => "falloc",
            IoEngine::Ftruncate => "ftruncate",
            IoEngine::Filecreate => "filecreate",
            IoEngine::Filestat => "filestat",
            IoEngine::Filedelete => "filedelete",
            IoEngine::Dircreate => "dircreate",
            IoEngine::Dirstat => "dirstat",
            IoEngine::Dirdelete => "dirdelete",
            IoEngine::Null => "null",
            IoEngine::Sim => "sim",
        }
    }

    /// Whether each I/O has completed when its call returns, so that the queue depth is 1 whatever is asked.
    pub fn is_synchronous(self) -> bool {
        use IoEngine::{IoUring, Libaio, Null, Posixaio, Sim, Vsync};
        !matches!(self, Libaio | IoUring | Posixaio | Vsync | Null | Sim)
    }

    /// Whether threads beside the worker can submit for it. The others gather I/Os themselves, have threads of their own,
    /// or work on names.
    pub fn can_offload(self) -> bool {
        use IoEngine::{Falloc, Ftruncate, IoUring, Libaio, Mmap, Null, Psync, Pvsync, Pvsync2, Splice, Sync};
        matches!(self, Null | Sync | Psync | Pvsync | Pvsync2 | Libaio | IoUring | Mmap | Splice | Falloc | Ftruncate)
    }

    /// Whether the file behind its I/Os can be replaced while it works.
    pub fn can_renew_files(self) -> bool {
        use IoEngine::{IoUring, Libaio, Null, Psync, Pvsync, Pvsync2, Splice, Sync};
        matches!(self, Null | Sync | Psync | Pvsync | Pvsync2 | Libaio | IoUring | Splice)
    }

    /// Whether an I/O is one operation on a whole file or folder by its name, and moves no data.
    pub fn works_on_names(self) -> bool {
        use IoEngine::{Filecreate, Filedelete, Filestat};
        matches!(self, Filecreate | Filestat | Filedelete) || self.works_on_folders()
    }

    /// Whether its paths are those of folders.
    pub fn works_on_folders(self) -> bool {
        matches!(self, IoEngine::Dircreate | IoEngine::Dirstat | IoEngine::Dirdelete)
    }

    /// Whether its files have to be there, in their size, before it begins. What it makes itself need not, and folders
    /// are not laid out as files are.
    pub fn needs_files(self) -> bool {
        self != IoEngine::Filecreate && !self.works_on_folders()
    }

    /// Whether its writes need the file in its full size: they cannot make it longer.
    pub fn cannot_extend(self) -> bool {
        self == IoEngine::Mmap
    }

    /// Whether it changes what lies on the target even when it only reads: names, or the space that is reserved.
    pub fn always_changes(self) -> bool {
        use IoEngine::{Dircreate, Dirdelete, Falloc, Filecreate, Filedelete};
        matches!(self, Falloc | Filecreate | Filedelete | Dircreate | Dirdelete)
    }

    /// Whether what it worked on is gone afterwards.
    pub fn removes(self) -> bool {
        matches!(self, IoEngine::Filedelete | IoEngine::Dirdelete)
    }
}

/// A size that may depend on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeSpec {
    /// So many bytes.
    Bytes(Bytes),
    /// So many hundredths of the file or device.
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
        /// Such as `$jobname.$jobnum.$filenum`.
        format: String,
        /// Files a clone.
        nrfiles: u32,
    },
    /// No file at all (the `null` engine).
    Nothing,
    /// A simulated card.
    Sim(Box<PriceList>),
}

/// Sequential or random, and which operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Random offsets; otherwise one after another.
    pub random: bool,
    /// Share of each operation, in hundredths; they add up to 100.
    pub mix: PerOp<u32>,
    /// Every block once a pass (the default), or each offset drawn anew.
    pub every_block_once: bool,
    /// Distance in bytes that a sequential job leaves out after each I/O (`rw=read:8k`); negative runs backwards.
    pub stride: i64,
    /// I/Os from one drawn offset before a random job draws the next (`rw=randread:8`); at least 1.
    pub run_length: u32,
    /// Whether those I/Os all go to the same offset (`rw_sequencer=identical`) rather than follow one another.
    pub run_identical: bool,
    /// A trim in front of each write (`rw=trimwrite`).
    pub trim_before_write: bool,
    /// How random offsets are distributed.
    pub distribution: Distribution,
}

/// How random offsets are spread over the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Evenly.
    #[default]
    Uniform,
    /// Zipf with this theta.
    Zipf(f64),
    /// Pareto with this power.
    Pareto(f64),
    /// Normal, deviation in hundredths of the file.
    Normal(f64),
    /// Shares of accesses to shares of the file, both in hundredths.
    Zoned(Vec<Zone>),
}

/// One zone of [`Distribution::Zoned`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// Hundredths of the accesses.
    pub access_percent: f64,
    /// Hundredths of the file.
    pub size_percent: f64,
}

impl Access {
    /// One operation only.
    pub fn only(op: Op, random: bool) -> Access {
        let mut mix = PerOp::all(0);
        mix[op] = 100;
        Access {
            random,
            mix,
            every_block_once: true,
            stride: 0,
            run_length: 1,
            run_identical: false,
            trim_before_write: false,
            distribution: Distribution::Uniform,
        }
    }

    /// Reads and writes, `read_percent` of them reads.
    pub fn mixed(read_percent: u32, random: bool) -> Access {
        let mut access = Access::only(Op::Read, random);
        access.mix = PerOp { read: read_percent, write: 100 - read_percent, trim: 0 };
        access
    }

    /// Whether this operation occurs at all.
    pub fn does(&self, op: Op) -> bool {
        self.mix[op] > 0 || op == Op::Trim && self.trim_before_write
    }

    /// Whether data on the target is lost.
    pub fn destroys(&self) -> bool {
        self.does(Op::Write) || self.does(Op::Trim)
    }
}

/// Sizes of the I/Os of one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockSize {
    /// Always the same.
    Fixed(Bytes),
    /// Evenly drawn multiples of the smallest.
    Range {
        /// Smallest.
        min: Bytes,
        /// Largest.
        max: Bytes,
    },
    /// Sizes with their shares in hundredths.
    Split(Vec<(Bytes, u32)>),
}

impl BlockSize {
    /// The smallest that can come.
    pub fn min(&self) -> Bytes {
        match self {
            BlockSize::Fixed(b) => *b,
            BlockSize::Range { min, .. } => *min,
            BlockSize::Split(parts) => parts.iter().map(|p| p.0).min().unwrap_or_default(),
        }
    }

    /// The largest that can come.
    pub fn max(&self) -> Bytes {
        match self {
            BlockSize::Fixed(b) => *b,
            BlockSize::Range { max, .. } => *max,
            BlockSize::Split(parts) => parts.iter().map(|p| p.0).max().unwrap_or_default(),
        }
    }
}

/// Which part of the files, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Bytes a clone works on, over all its files; `None` for whole files.
    pub size: Option<SizeSpec>,
    /// Size of each file; `None` follows from `size`.
    pub filesize: Option<Bytes>,
    /// Draws the size of each file between `filesize` and this, where it is given.
    #[serde(default)]
    pub filesize_max: Option<Bytes>,
    /// Bytes a clone transfers in one loop; `None` for as many as `size`.
    pub io_size: Option<SizeSpec>,
    /// Where in each file to begin.
    pub offset: SizeSpec,
    /// What an offset in hundredths is rounded up to a multiple of (`offset_align`); 0 for the smallest block.
    #[serde(default)]
    pub offset_align: u64,
    /// How much further each clone begins than the one before.
    pub offset_increment: SizeSpec,
    /// Ends the job after so many I/Os.
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

/// When a job begins and ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Waits before it begins.
    pub startdelay: Nanos,
    /// Draws that time between `startdelay` and this, where this is more.
    #[serde(default)]
    pub startdelay_max: Nanos,
    /// Unmeasured lead-in.
    pub ramp_time: Nanos,
    /// Longest measured time.
    pub runtime: Option<Nanos>,
    /// Begins again until the time is over.
    pub time_based: bool,
}

/// How many I/Os are in flight, and how they are handed over. Zero in a batch size means "as many as there are".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// I/Os in flight of one worker.
    pub iodepth: u32,
    /// I/Os handed to the kernel at once; 0 means as many as are free.
    pub batch_submit: u32,
    /// Completions waited for at least.
    pub batch_complete_min: u32,
    /// Completions fetched at most; 0 means all.
    pub batch_complete_max: u32,
    /// Once full, the queue is emptied down to this depth before more is issued; 0 means no such mark.
    pub low_mark: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Queue { iodepth: 1, batch_submit: 0, batch_complete_min: 1, batch_complete_max: 0, low_mark: 0 }
    }
}

/// What is done so that data survives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Durability {
    /// `fsync` after so many writes; 0 never.
    pub fsync_every: u32,
    /// `fdatasync` after so many writes; 0 never.
    pub fdatasync_every: u32,
    /// `fsync` once all is written.
    pub end_fsync: bool,
    /// `fsync` when a file is closed.
    pub fsync_on_close: bool,
    /// Opens with O_SYNC.
    pub sync: bool,
    /// Opens with O_DSYNC.
    pub dsync: bool,
    /// `sync_file_range` after so many writes.
    #[serde(default)]
    pub range_sync: Option<RangeSync>,
}

/// What writes carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffers {
    /// How buffers are filled at first.
    pub fill: Fill,
    /// Fills anew before each write; otherwise a few words are changed so that no two writes are the same.
    pub refill: bool,
    /// Changes a few words of the buffer before each write.
    pub scramble: bool,
    /// Bytes after which the part that compresses comes again; 0 for the whole buffer, `None` for 4096.
    #[serde(default)]
    pub compress_chunk: Option<Bytes>,
    /// What the part that compresses holds, over and over; empty for zeroes.
    #[serde(default)]
    pub fixed_part: Vec<u8>,
    /// How many writes carry what another carried before.
    #[serde(default)]
    pub repeats: Repeats,
}

/// Writes that carry the content of an earlier one, so that a device that looks for that finds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repeats {
    /// Hundredths of the writes that do (`dedupe_percentage`).
    pub percent: u32,
    /// Hundredths of the file whose first content is repeated (`dedupe_working_set_percentage`); `None` repeats what
    /// was written last.
    pub working_set_percent: Option<u32>,
    /// Repeats contents of a set that all workers of a phase share that were told so (`dedupe_global`).
    pub shared: bool,
    /// How many workers these are; the plan counts them.
    pub sharers: u32,
}

/// The content of a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// Random bytes that do not compress.
    Random,
    /// Zeroes.
    Zero,
    /// A pattern, over and over.
    Pattern(Vec<u8>),
    /// So many hundredths of each buffer compress away.
    Compressible(u32),
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            fill: Fill::Random,
            refill: false,
            scramble: true,
            compress_chunk: None,
            fixed_part: Vec::new(),
            repeats: Repeats::default(),
        }
    }
}

/// How fast I/O may be issued at most, for each operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Bytes per second.
    pub bytes_per_s: PerOp<Option<u64>>,
    /// I/Os per second.
    pub iops: PerOp<Option<u64>>,
    /// Arrivals as a Poisson process rather than evenly spaced.
    pub poisson: bool,
    /// Pause after each `thinktime_blocks` I/Os.
    pub thinktime: Nanos,
    /// I/Os between pauses.
    pub thinktime_blocks: u32,
    /// Part of the pause that keeps the processor busy.
    #[serde(default)]
    pub thinktime_spin: Nanos,
    /// Time between pauses; 0 for none. Whichever of the two is over first brings the pause.
    #[serde(default)]
    pub thinktime_iotime: Nanos,
    /// Counts I/Os as they are issued, and pauses with others in flight; otherwise all have to be done first.
    #[serde(default)]
    pub thinktime_on_issue: bool,
    /// Keeps to the rate after a pause; otherwise a job catches up.
    #[serde(default)]
    pub ignore_thinktime: bool,
}

/// What happens when the device answers with an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorPolicy {
    /// Goes on after errors of these operations; otherwise the first ends the job.
    pub continue_on: PerOp<bool>,
    /// Goes on after data that is not as it was written.
    #[serde(default)]
    pub continue_on_mismatch: bool,
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
        }
    }
}

/// Switches of single engines; what does not concern the engine in use has no effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineOptions {
    /// Registers buffers with the ring.
    pub fixedbufs: bool,
    /// Registers files with the ring.
    pub registerfiles: bool,
    /// Lets a kernel thread submit.
    pub sqthread_poll: bool,
    /// Polls for completions rather than waiting for interrupts.
    pub hipri: bool,
    /// RWF_NOWAIT.
    pub nowait: bool,
    /// Hands over vectors rather than plain buffers, to a ring that takes both.
    #[serde(default)]
    pub vectored: bool,
    /// The call by which attributes of files are asked for.
    #[serde(default)]
    pub stat: StatCall,
    /// The processor that kernel thread runs on (`sqthread_poll_cpu`).
    #[serde(default)]
    pub sqthread_poll_cpu: Option<u32>,
    /// Has each so many-th I/O done by a thread of the kernel (`force_async`); 0 for none.
    #[serde(default)]
    pub force_async: u32,
    /// Hundredths of the I/Os that are polled for (`hipri_percentage`); `None` for all.
    #[serde(default)]
    pub hipri_percentage: Option<u32>,
}

/// How the attributes of a file are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StatCall {
    /// `stat`, which follows symbolic links.
    #[default]
    Stat,
    /// `lstat`, which does not.
    Lstat,
    /// `statx` with everything it can tell.
    Statx,
}

/// How files come to be and are opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Refuses to write at all.
    pub read_only: bool,
}

/// How space is reserved for a new file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fallocate {
    /// Not at all.
    None,
    /// `fallocate`, where the file system has it.
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
            read_only: false,
        }
    }
}

/// One job: what `numjobs` clones of a worker do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// What to call it.
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
    /// How fast at most.
    pub rate: Rate,
    /// After an error.
    pub errors: ErrorPolicy,
    /// What is recorded.
    pub measure: Measure,
    /// Processors its workers may run on; empty for any.
    pub cpus_allowed: Vec<u32>,
    /// Seed of its own; `None` derives one from the scenario's.
    pub seed: Option<u64>,
    /// What it is told beyond its workload; nothing by default.
    #[serde(default)]
    pub rules: Rules,
    /// Its options as they were typed, for dialects that print them back.
    pub options: Vec<(String, String)>,
}

impl Job {
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
            block_align: None,
            extent: Extent::default(),
            timing: Timing::default(),
            queue: Queue::default(),
            durability: Durability::default(),
            buffers: Buffers::default(),
            rate: Rate::default(),
            errors: ErrorPolicy::default(),
            measure: Measure::default(),
            cpus_allowed: Vec::new(),
            seed: None,
            rules: Rules::default(),
            options: Vec::new(),
        }
    }

    /// The same with one block size for all operations.
    pub fn with_block(mut self, block: Bytes) -> Job {
        self.block = PerOp::all(BlockSize::Fixed(block));
        self
    }

    /// Sizes of the operations it does.
    pub fn blocks_used(&self) -> impl Iterator<Item = &BlockSize> {
        let by_op = Op::ALL.into_iter().filter(|&op| self.access.does(op)).map(|op| &self.block[op]);
        by_op.chain(&self.rules.sizes.in_line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_has_a_name_that_is_stored_as_it_is_typed() {
        let names: std::collections::BTreeSet<&str> = IoEngine::ALL.into_iter().map(IoEngine::name).collect();
        assert_eq!(names.len(), IoEngine::ALL.len());
        for engine in IoEngine::ALL {
            assert_eq!(serde_json::to_value(engine).unwrap(), engine.name());
        }
    }

    #[test]
    fn records_from_before_an_option_was_known_are_read() {
        let old = r#"{"fixedbufs":true,"registerfiles":false,"sqthread_poll":false,"hipri":false,"nowait":false}"#;
        let options: EngineOptions = serde_json::from_str(old).unwrap();
        assert_eq!(options, EngineOptions { fixedbufs: true, ..EngineOptions::default() });
    }
}
