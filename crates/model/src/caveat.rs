//! Caveats: typed weaknesses of a result, stored in the record and printed with it.

use crate::job::Op;
use crate::measured::{LeftOutRun, NoAmplification, PauseKind};
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
        because: String,
    },
    /// Direct I/O was wanted and refused.
    NotDirect {
        /// The file.
        path: String,
    },
    /// Buffered I/O on purpose.
    Buffered,
    /// The file is small against memory and went through the page cache.
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
        /// Time that would do.
        wanted: Nanos,
    },
    /// Too few runs for a known variation.
    FewRuns {
        /// The count.
        runs: u32,
    },
    /// Too few samples for a percentile.
    FewSamples {
        /// Phase.
        phase: String,
        /// The count.
        samples: u64,
        /// The percentile.
        percentile: Quantile,
    },
    /// The file is small, so that a cache in the device may have held all of it.
    SmallFile {
        /// Size of the file.
        size: Bytes,
    },
    /// The system lives on the same disk.
    SystemDisk,
    /// The device answered some I/Os with an error.
    DeviceErrors {
        /// Phase.
        phase: String,
        /// The count.
        count: u64,
        /// The first of them.
        first: FirstFailure,
    },
    /// A job ended at one of its own limits, such as `max_latency`.
    RuleBroken {
        /// Phase.
        phase: String,
        /// Operation that broke it.
        op: Option<Op>,
        /// Rule and figures.
        kind: FailureKind,
    },
    /// The run was ended early.
    Interrupted {
        /// Phase.
        phase: String,
        /// Time measured until then.
        measured: Nanos,
    },
    /// The program or host stopped during the run, and the record was recovered from the spool.
    CutShort {
        /// Phases that came to their end.
        whole: u32,
        /// Planned phases.
        of: u32,
    },
    /// The fast clock could not be used.
    ClockFallback {
        /// Clock in use.
        used: String,
        /// Why not the faster one.
        because: String,
    },
    /// The fast clock ran away from the kernel's during the run.
    ClockDrift {
        /// Clock in use.
        clock: String,
        /// Millionths; positive when it ran fast.
        ppm: i64,
    },
    /// Our own cost is visible in the figures.
    Overhead {
        /// Phase.
        phase: String,
        /// Our cost an I/O.
        per_io: Nanos,
        /// Share of the measured latency, in thousandths.
        share_permille: u32,
    },
    /// The host was busy with something else.
    HostBusy {
        /// Load in percent.
        load_percent: u32,
    },
    /// The CPU was slowed down by heat or low voltage.
    HostThrottled {
        /// The flags.
        flags: u32,
    },
    /// The frequency governor saves power.
    PowerSaving {
        /// The governor.
        governor: String,
    },
    /// The device keeps a volatile write cache.
    WriteCache,
    /// Speed fell for good within the phase.
    Cliff {
        /// Phase.
        phase: String,
        /// Bytes written before that.
        at: Bytes,
        /// Level before.
        before: BytesPerSec,
        /// Level after.
        after: BytesPerSec,
    },
    /// Reads were answered by something else than the device.
    ReadElsewhere {
        /// Phase.
        phase: String,
        /// Share of the bytes that the device did read.
        share_permille: u32,
    },
    /// Counters of the device could not be read.
    NoDiskStats {
        /// The cause.
        because: String,
    },
    /// The page cache could not be emptied.
    NotInvalidated {
        /// Whose page cache.
        path: CacheOf,
        /// The cause.
        because: String,
    },
    /// Some runs lie far from the others.
    Outliers {
        /// Phase.
        phase: String,
        /// The count.
        count: u32,
        /// Of how many.
        runs: u32,
    },
    /// Speed drifted over the runs.
    Drift {
        /// Phase.
        phase: String,
        /// Change over all runs, in thousandths of the mean.
        change_permille: i32,
    },
    /// A run resembles the one before it more than the others.
    Dependent {
        /// Phase.
        phase: String,
        /// Correlation with the next run, in thousandths.
        lag1_permille: i32,
    },
    /// A few runs lie far to one side of the others.
    Skewed {
        /// Phase.
        phase: String,
        /// The count.
        runs: u32,
    },
    /// The runs fall into two groups.
    TwoModes {
        /// Phase.
        phase: String,
        /// The count.
        runs: u32,
    },
    /// Figures of an imported result do not fit each other.
    Contradiction {
        /// Phase.
        phase: String,
        /// One figure, with its name and unit.
        stated: String,
        /// What follows from the others.
        follows: String,
        /// What is probably wrong.
        hint: String,
    },
    /// An imported result does not say something that matters.
    Unstated {
        /// What is not known.
        what: String,
    },
    /// An imported result ends before its end.
    CutOff {
        /// What is missing.
        missing: String,
    },
    /// Some figures of an imported result were no numbers.
    Unread {
        /// The count.
        count: u32,
        /// The first, as it stood there.
        first: String,
    },
    /// Runs of different things are put together.
    Pooled {
        /// How many different ones.
        count: u32,
        /// What they are: `cards`, `hosts`.
        what: String,
    },
    /// The process was stopped or the host slept while it measured.
    Paused {
        /// Phase.
        phase: String,
        /// The type.
        kind: PauseKind,
        /// How often.
        times: u32,
        /// How long in all.
        total: Nanos,
        /// The longest.
        longest: Nanos,
    },
    /// A worker was ready to run and had no CPU.
    Descheduled {
        /// Phase.
        phase: String,
        /// Run-queue wait of the worker that waited longest.
        waited: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// The hypervisor gave CPU time to others.
    StolenTime {
        /// Phase.
        phase: String,
        /// Steal time of all CPUs.
        stolen: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// Runs do not count in the figures of a phase.
    LeftOut {
        /// Phase.
        phase: String,
        /// Which runs, and why.
        runs: Vec<LeftOutRun>,
        /// Runs that did the phase.
        of: u32,
    },
    /// I/O amplification is not shown.
    NoAmplification {
        /// Phase.
        phase: String,
        /// The cause.
        because: NoAmplification,
    },
    /// The run measured a simulated card.
    Simulated,
}

/// The first failed I/O of a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FirstFailure {
    /// What failed, where, and with which error.
    Io {
        /// Operation or system call, as in [`IoError::action`](crate::record::IoError::action).
        action: String,
        /// Offset in the file.
        offset: Bytes,
        /// Error number.
        errno: i32,
    },
    /// As an older record or an imported result describes it.
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

/// Whose pages stayed in the page cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum CacheOf {
    /// The cache of one file.
    File(String),
    /// All caches of the host.
    Host,
}

/// Represents all files of the host in a record. Paths are absolute, so no file has this name.
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
