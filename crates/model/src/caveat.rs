//! Whatever makes a number less worthy of trust: typed, stored in the record, printed beside the number.

use crate::job::Op;
use crate::measured::{NoAmplification, PauseKind};
use crate::record::FailureKind;
use crate::units::{Bytes, BytesPerSec, Nanos};
use serde::{Deserialize, Serialize};

/// One weakness of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "caveat")]
pub enum Caveat {
    /// An engine with one I/O in flight was asked for more.
    #[error("{ioengine} keeps one I/O in flight: iodepth={asked} had no effect")]
    DepthCapped {
        /// The engine.
        ioengine: String,
        /// Depth asked for.
        asked: u32,
    },
    /// Another engine ran than was asked for.
    #[error("{asked} was not to be had here ({because}), so {used} ran instead")]
    EngineReplaced {
        /// Engine asked for.
        asked: String,
        /// Engine that ran.
        used: String,
        /// Why.
        because: String,
    },
    /// Direct I/O was wanted and refused.
    #[error("{path} does not take O_DIRECT: the page cache of the host was in between")]
    NotDirect {
        /// The file.
        path: String,
    },
    /// Buffered I/O on purpose.
    #[error(
        "direct=0: the page cache of the host was in between, and speeds may be those of memory"
    )]
    Buffered,
    /// The file is small against memory and went through the page cache.
    #[error(
        "the file of {size} fits in memory ({memory}) and direct=0: reads may never have reached the device"
    )]
    FitsInMemory {
        /// Size of the file.
        size: Bytes,
        /// Memory of the host.
        memory: Bytes,
    },
    /// The measured time was short.
    #[error(
        "{phase}: measured for {measured} only, and figures of under {wanted} vary a lot on flash"
    )]
    Short {
        /// Phase.
        phase: String,
        /// Time measured.
        measured: Nanos,
        /// Time that would do.
        wanted: Nanos,
    },
    /// Too few runs to tell a spread.
    #[error("{}", few_runs(*.runs))]
    FewRuns {
        /// How many.
        runs: u32,
    },
    /// Too few samples for a percentile.
    #[error("{phase}: {samples} I/Os are too few for the {percentile} percentile")]
    FewSamples {
        /// Phase.
        phase: String,
        /// How many.
        samples: u64,
        /// Which percentile, as text.
        percentile: String,
    },
    /// The file is small, so that a cache in the device may have held all of it.
    #[error("the file of {size} may fit in a cache of the device: the flash itself may be slower")]
    SmallFile {
        /// Size of the file.
        size: Bytes,
    },
    /// The system lives on the same disk.
    #[error("the system runs from this disk: its own reads and writes are in the figures")]
    SystemDisk,
    /// The device answered some I/Os with an error.
    #[error("{phase}: {count} I/O(s) failed, the first with {first}")]
    DeviceErrors {
        /// Phase.
        phase: String,
        /// How many.
        count: u64,
        /// The first, in words.
        first: String,
    },
    /// A job ended because one of its own rules was broken, such as `max_latency`.
    #[error("{phase}: ended by a rule of the job: {}", kind.broken_rule(*op).unwrap_or_default())]
    RuleBroken {
        /// Phase.
        phase: String,
        /// Operation that broke it.
        op: Option<Op>,
        /// Rule and figures.
        kind: FailureKind,
    },
    /// Somebody or something ended the run early.
    #[error("{phase} was interrupted after {measured}")]
    Interrupted {
        /// Phase.
        phase: String,
        /// Time measured until then.
        measured: Nanos,
    },
    /// The program or its host ended before the run did, and its record was put together from what it left.
    #[error(
        "cut short by a loss of power, a crash or a kill: {whole} of {of} phases were measured to their end, and of one \
         that was not, percentiles are not known"
    )]
    CutShort {
        /// Phases that came to their end.
        whole: u32,
        /// Phases that were asked for.
        of: u32,
    },
    /// The fast clock could not be used.
    #[error("timed with {used}, because {because}")]
    ClockFallback {
        /// Clock in use.
        used: String,
        /// Why not the faster one.
        because: String,
    },
    /// The fast clock ran away from the kernel's during the run.
    #[error(
        "the {clock} ran {ppm} millionths away from the kernel's clock during the run: times are off by as much"
    )]
    ClockDrift {
        /// Clock in use.
        clock: String,
        /// Millionths; positive when it ran fast.
        ppm: i64,
    },
    /// Our own cost is visible in the figures.
    #[error("{phase}: our own cost of {per_io} an I/O is {} of the median latency", percent(i64::from(*.share_permille)))]
    Overhead {
        /// Phase.
        phase: String,
        /// Our cost an I/O.
        per_io: Nanos,
        /// Share of the measured latency, in thousandths.
        share_permille: u32,
    },
    /// The host was busy with something else.
    #[error("the load of the host was {load_percent} % of a processor as the run began")]
    HostBusy {
        /// Load in hundredths.
        load_percent: u32,
    },
    /// The processor was slowed down by heat or low voltage.
    #[error("the host was throttled during the run (flags {flags:#x}): heat or low voltage")]
    HostThrottled {
        /// The flags.
        flags: u32,
    },
    /// The frequency governor saves power.
    #[error("the CPU governor is {governor}: short I/Os wait for the processor to speed up")]
    PowerSaving {
        /// The governor.
        governor: String,
    },
    /// The device keeps a volatile write cache.
    #[error(
        "the device has a volatile write cache: writes without fsync may be faster than the flash"
    )]
    WriteCache,
    /// Speed fell for good within the phase.
    #[error(
        "{phase}: speed fell from {before} to {after} after {at} written: give both, not the mean"
    )]
    Cliff {
        /// Phase.
        phase: String,
        /// Bytes written until then.
        at: Bytes,
        /// Level before.
        before: BytesPerSec,
        /// Level after.
        after: BytesPerSec,
    },
    /// Reads were answered by something else than the device.
    #[error(
        "{phase}: the device read {} of what was asked for: the rest came from a cache, or from space that was never \
         written, and flatters the figure",
        percent(i64::from(*.share_permille))
    )]
    ReadElsewhere {
        /// Phase.
        phase: String,
        /// Share of the bytes that the device did read.
        share_permille: u32,
    },
    /// Counters of the device could not be read.
    #[error("no disk statistics: {because}")]
    NoDiskStats {
        /// Why.
        because: String,
    },
    /// The page cache could not be emptied for the file.
    #[error("the page cache could not be dropped for {path}: {because}")]
    NotInvalidated {
        /// File.
        path: String,
        /// Why.
        because: String,
    },
    /// Some runs lie far from the others.
    #[error(
        "{phase}: {count} of {runs} runs lie far from the others (Tukey's fences); they are in every figure"
    )]
    Outliers {
        /// Phase.
        phase: String,
        /// How many.
        count: u32,
        /// Of how many.
        runs: u32,
    },
    /// The runs became faster or slower one after another.
    #[error(
        "{phase}: speed changed by {} from the first run to the last: they do not repeat one state",
        percent(i64::from(*.change_permille))
    )]
    Drift {
        /// Phase.
        phase: String,
        /// Change over all runs, in thousandths of the mean.
        change_permille: i32,
    },
    /// A run resembles the one before it more than the others.
    #[error(
        "{phase}: each run resembles the one before (correlation {:.2}), so there are fewer than it seems: intervals are \
         widened",
        f64::from(*.lag1_permille) / 1e3
    )]
    Dependent {
        /// Phase.
        phase: String,
        /// Correlation with the next run, in thousandths.
        lag1_permille: i32,
    },
    /// A few runs lie far to one side of the others.
    #[error(
        "{phase}: the {runs} runs are spread unevenly (skewed): the median says more than the mean, and intervals of the mean \
         may be too narrow"
    )]
    Skewed {
        /// Phase.
        phase: String,
        /// How many.
        runs: u32,
    },
    /// The runs fall into two groups.
    #[error(
        "{phase}: the {runs} runs fall into two groups: the mean may describe no run, look at the single ones"
    )]
    TwoModes {
        /// Phase.
        phase: String,
        /// How many.
        runs: u32,
    },
    /// Figures of an imported result do not fit each other.
    #[error("{phase}: {stated} does not fit {follows}: {hint}")]
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
    #[error("the imported result does not say {what}")]
    Unstated {
        /// What is not known.
        what: String,
    },
    /// An imported result ends before its end.
    #[error("the imported result is cut off: {missing} is missing")]
    CutOff {
        /// What is missing.
        missing: String,
    },
    /// Some figures of an imported result were no numbers.
    #[error("{count} figure(s) of the imported result could not be read, the first: {first}")]
    Unread {
        /// How many.
        count: u32,
        /// The first, as it stood there.
        first: String,
    },
    /// Runs of different things are put together.
    #[error("runs of {count} {what} are put together here: their differences are in the spread")]
    Pooled {
        /// How many different ones.
        count: u32,
        /// What they are: `cards`, `hosts`.
        what: String,
    },
    /// The process was stopped or the host slept while it measured.
    #[error(
        "{phase}: {} for {total} in all ({times} time(s), the longest {longest}): the intervals it touches are left out of \
         bandwidth, IOPS and verdicts",
        paused(*.kind)
    )]
    Paused {
        /// Phase.
        phase: String,
        /// What it was.
        kind: PauseKind,
        /// How often.
        times: u32,
        /// How long in all.
        total: Nanos,
        /// The longest.
        longest: Nanos,
    },
    /// A worker was ready to run and had no processor.
    #[error(
        "{phase}: a worker waited {waited} of {measured} for a processor: the host was busy, and the figures are partly \
         its own"
    )]
    Descheduled {
        /// Phase.
        phase: String,
        /// Run-queue wait of the worker that waited longest.
        waited: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// The hypervisor gave processor time to others.
    #[error(
        "{phase}: the hypervisor took {stolen} of processor time (steal) in the {measured} measured"
    )]
    StolenTime {
        /// Phase.
        phase: String,
        /// Steal time of all processors.
        stolen: Nanos,
        /// Measured time.
        measured: Nanos,
    },
    /// I/O amplification is not shown.
    #[error("{phase}: I/O amplification is not shown: {because}")]
    NoAmplification {
        /// Phase.
        phase: String,
        /// Why.
        because: NoAmplification,
    },
    /// The run measured a simulated card.
    #[error("simulated card: virtual time, not a measurement of this host")]
    Simulated,
}

fn paused(kind: PauseKind) -> &'static str {
    match kind {
        PauseKind::Stopped => "the process was stopped",
        PauseKind::Suspended => "the host was suspended",
    }
}

/// Thousandths as percent: `1.2 %`, `67 %`.
fn percent(permille: i64) -> String {
    let value = permille as f64 / 10.0;
    if permille % 10 == 0 {
        format!("{value:.0} %")
    } else {
        format!("{value:.1} %")
    }
}

fn few_runs(runs: u32) -> String {
    match runs {
        0 | 1 => {
            "one run: how much runs differ cannot be told from it (--repeat=5 could)".to_owned()
        }
        n => format!("{n} runs say little of how much runs differ: 5 or more would"),
    }
}
