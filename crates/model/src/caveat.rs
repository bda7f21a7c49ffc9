//! Caveats: typed weaknesses of a result, stored in the record and printed with it.

use crate::io_path::TraceObstacle;
use crate::job::Op;
use crate::measured::{LeftOutRun, NoAmplification, PauseKind};
use crate::obstacle::{CacheObstacle, ClockObstacle, CountersObstacle, EngineObstacle, Reason};
use crate::record::{FailureKind, IoError};
use crate::units::{Bytes, BytesPerSec, Nanos, Quantile};
use serde::{Deserialize, Serialize};

/// One weakness of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "caveat")]
pub enum Caveat {
    /// A queue depth above 1 was requested for an engine with one I/O in flight.
    DepthCapped {
        /// The engine.
        ioengine: String,
        /// Requested depth.
        asked: u32,
    },
    /// A different engine was used than requested.
    EngineReplaced {
        /// Requested engine.
        asked: String,
        /// Engine that ran.
        used: String,
        /// The cause.
        because: Reason<EngineObstacle>,
    },
    /// Direct I/O was requested but the file system or device refused it.
    NotDirect {
        /// The file.
        path: String,
    },
    /// Buffered I/O was requested.
    Buffered,
    /// The file is small compared to memory, and I/O went through the page cache.
    FitsInMemory {
        /// Size of the file.
        size: Bytes,
        /// Memory of the host.
        memory: Bytes,
    },
    /// The measured time was short.
    Short {
        /// Phase.
        phase: String,
        /// Time measured.
        measured: Nanos,
        /// Recommended minimum.
        wanted: Nanos,
    },
    /// There are too few runs to estimate the variation.
    FewRuns {
        /// Number of runs.
        runs: u32,
    },
    /// There are too few samples for a percentile.
    FewSamples {
        /// Phase.
        phase: String,
        /// Number of samples.
        samples: u64,
        /// The percentile.
        percentile: Quantile,
    },
    /// The file is so small that a cache in the device may hold all of it.
    SmallFile {
        /// Size of the file.
        size: Bytes,
    },
    /// The operating system is on the same disk.
    SystemDisk,
    /// The device answered some I/Os with an error.
    DeviceErrors {
        /// Phase.
        phase: String,
        /// Number of errors.
        count: u64,
        /// First error.
        first: FirstFailure,
    },
    /// A job ended at one of its own limits, such as `max_latency`.
    RuleBroken {
        /// Phase.
        phase: String,
        /// Operation that exceeded the limit.
        op: Option<Op>,
        /// Limit and measured value.
        kind: FailureKind,
    },
    /// The run was interrupted.
    Interrupted {
        /// Phase.
        phase: String,
        /// Time measured until then.
        measured: Nanos,
    },
    /// The program or host stopped during the run, and the record was recovered from the spool.
    CutShort {
        /// Completed phases.
        whole: u32,
        /// Planned phases.
        of: u32,
    },
    /// The CPU's time counter could not be used.
    ClockFallback {
        /// Clock in use.
        used: String,
        /// Why the faster clock was not used.
        because: Reason<ClockObstacle>,
    },
    /// The CPU's time counter drifted from the kernel clock during the run.
    ClockDrift {
        /// Clock in use.
        clock: String,
        /// Drift in parts per million; positive if the clock ran fast.
        ppm: i64,
    },
    /// The overhead of this program affects the figures.
    Overhead {
        /// Phase.
        phase: String,
        /// Overhead per I/O.
        per_io: Nanos,
        /// Share of the measured latency, in thousandths.
        share_permille: u32,
    },
    /// The host was busy at the start.
    HostBusy {
        /// Load average in percent.
        load_percent: u32,
    },
    /// The CPU was throttled because of heat or low voltage.
    HostThrottled {
        /// Throttling flags of the Raspberry Pi.
        flags: u32,
    },
    /// The frequency governor saves power.
    PowerSaving {
        /// The governor.
        governor: String,
    },
    /// The device has a volatile write cache.
    WriteCache,
    /// Speed dropped permanently within the phase.
    Cliff {
        /// Phase.
        phase: String,
        /// Bytes written before the drop.
        at: Bytes,
        /// Speed before the drop.
        before: BytesPerSec,
        /// Speed after the drop.
        after: BytesPerSec,
    },
    /// Some reads did not reach the device.
    ReadElsewhere {
        /// Phase.
        phase: String,
        /// Share of the bytes that were read from the device, in thousandths.
        share_permille: u32,
    },
    /// The I/O counters of the device could not be read.
    NoDiskStats {
        /// The cause.
        because: Reason<CountersObstacle>,
    },
    /// The page cache could not be dropped.
    NotInvalidated {
        /// File or host whose page cache it is.
        path: CacheOf,
        /// The cause.
        because: Reason<CacheObstacle>,
    },
    /// Some runs are outliers.
    Outliers {
        /// Phase.
        phase: String,
        /// Number of outliers.
        count: u32,
        /// Number of all runs.
        runs: u32,
    },
    /// Speed drifted over the runs.
    Drift {
        /// Phase.
        phase: String,
        /// Change over all runs, in thousandths of the mean.
        change_permille: i32,
    },
    /// Consecutive runs are correlated.
    Dependent {
        /// Phase.
        phase: String,
        /// Correlation of each run with the next, in thousandths.
        lag1_permille: i32,
    },
    /// The distribution of the runs is skewed: a few lie far to one side.
    Skewed {
        /// Phase.
        phase: String,
        /// Number of runs.
        runs: u32,
    },
    /// The runs fall into two groups (two modes).
    TwoModes {
        /// Phase.
        phase: String,
        /// Number of runs.
        runs: u32,
    },
    /// Figures of an imported result contradict each other.
    Contradiction {
        /// Phase.
        phase: String,
        /// One figure, with its name and unit.
        stated: String,
        /// Value that follows from the other figures.
        follows: String,
        /// Probable cause.
        hint: String,
    },
    /// An imported result lacks important information.
    Unstated {
        /// Missing information.
        what: String,
    },
    /// An imported result is truncated.
    CutOff {
        /// Missing part.
        missing: String,
    },
    /// Some values of an imported result were not numbers.
    Unread {
        /// Number of values that are not numbers.
        count: u32,
        /// First such value, as written there.
        first: String,
    },
    /// Runs of different cards, hosts or the like are summarized together.
    Pooled {
        /// Number of different ones.
        count: u32,
        /// What differs: `cards`, `hosts`.
        what: String,
    },
    /// The process was stopped, or the host slept, during the measurement.
    Paused {
        /// Phase.
        phase: String,
        /// Type of pause.
        kind: PauseKind,
        /// Number of pauses.
        times: u32,
        /// Total length of all pauses.
        total: Nanos,
        /// Length of the longest pause.
        longest: Nanos,
    },
    /// A worker was ready to run but waited for a CPU.
    Descheduled {
        /// Phase.
        phase: String,
        /// Run-queue wait of the worker that waited longest.
        waited: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// The hypervisor gave CPU time to other guests.
    StolenTime {
        /// Phase.
        phase: String,
        /// Steal time of all CPUs.
        stolen: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// Some runs do not count in the figures of a phase.
    LeftOut {
        /// Phase.
        phase: String,
        /// Excluded runs, with the reasons.
        runs: Vec<LeftOutRun>,
        /// All runs of the phase.
        of: u32,
    },
    /// I/O amplification could not be determined.
    NoAmplification {
        /// Phase.
        phase: String,
        /// The cause.
        because: NoAmplification,
    },
    /// The run measured a simulated card.
    Simulated,
    /// The path of each I/O was traced, which takes time.
    Traced,
    /// Tracing was requested, but not possible.
    NotTraced {
        /// The cause.
        because: TraceObstacle,
    },
    /// Events of a traced phase were lost, so that its path is incomplete.
    EventsLost {
        /// Phase.
        phase: String,
        /// Events that occurred.
        of: u64,
        /// Events that were lost.
        lost: u64,
    },
    /// The run was traced, and stopped before the path of a phase was computed.
    PathLost {
        /// Phase.
        phase: String,
    },
}

/// The first failed I/O of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FirstFailure {
    /// Operation, offset and error number.
    Io {
        /// Operation or system call, as in [`IoError::action`](crate::record::IoError::action).
        action: String,
        /// Offset in the file.
        offset: Bytes,
        /// Error number.
        errno: i32,
    },
    /// Description in an older record or imported result.
    Described(String),
}

impl From<&IoError> for FirstFailure {
    fn from(error: &IoError) -> FirstFailure {
        FirstFailure::Io {
            action: error.action.clone(),
            offset: error.offset,
            errno: error.errno,
        }
    }
}

/// Scope of a page cache that could not be dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum CacheOf {
    /// Cache of one file.
    File(String),
    /// Page cache of the whole host.
    Host,
}

/// Stored value for all files of the host. Paths are absolute, so no file has this name.
const WHOLE_HOST: &str = "the whole host";

impl From<String> for CacheOf {
    fn from(path: String) -> CacheOf {
        if path == WHOLE_HOST {
            CacheOf::Host
        } else {
            CacheOf::File(path)
        }
    }
}

impl From<CacheOf> for String {
    fn from(of: CacheOf) -> String {
        match of {
            CacheOf::File(path) => path,
            CacheOf::Host => WHOLE_HOST.to_owned(),
        }
    }
}
