//! What follows from records: derived, never stored as truth, always computable again.

mod caveats;

pub use caveats::{Finding, FindingKind, FindingScope, MinMax};

use crate::caveat::Caveat;
pub use crate::claim::{
    Bottleneck, BusLimit, Claim, ClaimCheck, ClaimPart, ClaimVerdict, Condition, MeasuredFigure,
};
use crate::facts::{Environment, Identity};
pub use crate::figure::Figure;
use crate::job::Op;
use crate::measured::{LeftOutRun, NoAmplification};
use crate::units::{Bytes, BytesPerSec, Nanos, Quantile};
use serde::{Deserialize, Serialize};

/// What repeated measurements of one quantity say together. The unit is that of the quantity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The single measurements, in the order of the runs.
    pub values: Vec<f64>,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation (divisor n - 1); `None` under two values.
    pub deviation: Option<f64>,
    /// Median.
    pub median: f64,
    /// Median absolute deviation from the median, unscaled.
    pub mad: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// 95% confidence interval of the mean by Student's t; `None` under two values.
    pub ci95: Option<(f64, f64)>,
    /// Half of the last digit to which the mean was printed; 0 for measured values. It is part of [`Estimate::ci95`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounding: f64,
    /// Why the interval may be narrower than its level promises.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval_caveats: Vec<IntervalCaveat>,
}

fn is_none_counted(count: &u64) -> bool {
    *count == 0
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Why a confidence interval may cover the truth less often than its level promises. Printed on the line of the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalCaveat {
    /// Too few runs to check that they are independent and normally distributed.
    FewRuns,
    /// Each run resembles the one before it. The interval is widened, and may still be too narrow.
    Dependent,
    /// A few runs lie far to one side.
    Skewed,
    /// The runs fall into two groups.
    TwoModes,
}

/// A latency distribution, merged over all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// I/Os counted.
    pub count: u64,
    /// Smallest.
    pub min: Nanos,
    /// Largest.
    pub max: Nanos,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Deviation, in nanoseconds.
    pub deviation_ns: f64,
    /// The usual percentiles; only those for which there were samples enough.
    pub quantiles: Vec<(Quantile, Nanos)>,
    /// The distribution as `(fraction not exceeding, value)`, ascending, for charts; at most some
    /// hundred points.
    pub curve: Vec<(f64, Nanos)>,
}

/// One point of bandwidth and IOPS over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// End of the interval, seconds since the phase began.
    pub at_s: f64,
    /// Bandwidth.
    pub bandwidth: BytesPerSec,
    /// Completions per second.
    pub iops: f64,
}

/// How even a long write was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// Slowest interval.
    pub min: BytesPerSec,
    /// Fastest interval.
    pub max: BytesPerSec,
    /// Mean of the intervals.
    pub mean: BytesPerSec,
    /// Deviation of the intervals.
    pub deviation: BytesPerSec,
    /// Where speed first fell for good, if it did.
    pub cliff: Option<Cliff>,
    /// All lasting falls in order, [`Sustained::cliff`] among them; a fall at the very end of the run is the last one,
    /// with [`Cliff::proven`] false.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub falls: Vec<Cliff>,
    /// Speed that falls and recovers, again and again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swing: Option<Swing>,
}

/// Speed that falls and recovers again and again, as throttling and garbage collection make it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Swing {
    /// Median of the fast segments.
    pub high: BytesPerSec,
    /// Median of the slow segments.
    pub low: BytesPerSec,
    /// Times it recovered.
    pub recoveries: u32,
    /// Whether it slides down and jumps up (garbage collection) rather than switching between two levels (throttling).
    pub sawtooth: bool,
}

/// A lasting fall of bandwidth within a write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cliff {
    /// Bytes written before it.
    pub at: Bytes,
    /// Time before it.
    pub after_time: Nanos,
    /// Median bandwidth before.
    pub before: BytesPerSec,
    /// Median bandwidth after, until the next fall.
    pub after: BytesPerSec,
    /// Whether enough of the run followed to consider the drop lasting.
    #[serde(default = "yes")]
    pub proven: bool,
}

fn yes() -> bool {
    true
}

/// One phase and operation over all runs of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// Name of the phase.
    pub phase: String,
    /// The operation.
    pub op: Op,
    /// What was done, in a few words: `sequential write, 1 MiB, queue depth 1`.
    pub workload: String,
    /// Bytes per second, one value a run.
    pub bandwidth: Estimate,
    /// Completions per second, one value a run.
    pub iops: Estimate,
    /// Completion latency; of an open loop ([`PhaseDetail::open_loop`]) from the moment each I/O was intended for.
    pub latency: Option<LatencySummary>,
    /// Latency of `fsync` and the like.
    pub sync: Option<LatencySummary>,
    /// Bandwidth over time of each run.
    pub timelines: Vec<Vec<TimelinePoint>>,
    /// Evenness, for writes that are long enough.
    pub sustained: Option<Sustained>,
    /// Bytes the device wrote (or read) per byte the application did, from the counters of the disk; one value a run.
    pub amplification: Option<Estimate>,
    /// Errors of this operation.
    pub errors: u64,
    /// What else is known of it.
    #[serde(default)]
    pub detail: PhaseDetail,
}

/// A series of runs on one target, ready to be shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Id of the series.
    pub series: String,
    /// Ids of its runs.
    pub runs: Vec<String>,
    /// Name of the scenario.
    pub scenario: String,
    /// Wall clock of the first run, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Where the records come from, in words: `hakaru 0.1.0`, `fio-3.39 (imported)`.
    pub origin: String,
    /// What was measured.
    pub target: Identity,
    /// The environment of the first run.
    pub environment: Environment,
    /// Phase by phase.
    pub phases: Vec<PhaseSummary>,
    /// All caveats, once each, in order of appearance.
    pub caveats: Vec<Caveat>,
    /// Our own cost an I/O, where it was measured.
    pub overhead_ns: Option<f64>,
}

/// Whether two means differ, and by how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What is compared: phase, operation and figure.
    pub quantity: String,
    /// Unit of the figure.
    pub unit: String,
    /// The first.
    pub a: Estimate,
    /// The second.
    pub b: Estimate,
    /// Mean of `b` over mean of `a`.
    pub ratio: f64,
    /// 95% confidence interval of the ratio, simultaneous over the family: it excludes 1 exactly when the verdict is
    /// [`Verdict::Different`]. `None` when there are too few runs, or where it has no bound.
    pub ratio_ci95: Option<(f64, f64)>,
    /// Probability of a difference this large by chance (Welch's t); `None` if there are too few
    /// runs.
    pub p_value: Option<f64>,
    /// The same by ranks (Mann-Whitney).
    pub p_value_ranks: Option<f64>,
    /// `p_value` after Bonferroni's correction over the family it was tested in.
    pub p_adjusted: Option<f64>,
    /// Probability of means this close when they differ by the margin of equivalence (two one-sided tests), corrected
    /// likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_equivalence: Option<f64>,
    /// Tests in the family; 0 when it was not tested.
    #[serde(default)]
    pub family: u32,
    /// Whether it is a primary figure of the comparison, judged in the family of these.
    #[serde(default = "yes")]
    pub primary: bool,
    /// Why the intervals may be narrower than their level promises.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval_caveats: Vec<IntervalCaveat>,
    /// Effect size (Hedges' g): the difference in units of the spread.
    pub effect: Option<f64>,
    /// 95% confidence interval of the effect size, simultaneous over the family.
    #[serde(default)]
    pub effect_ci95: Option<(f64, f64)>,
    /// Effect size by ranks (Cliff's delta), in `[-1, 1]`: how much more often `b` exceeds `a` than
    /// the reverse.
    #[serde(default)]
    pub delta: Option<f64>,
    /// What follows.
    pub verdict: Verdict,
}

/// What a comparison proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// They differ.
    Different,
    /// They are the same within the margin of equivalence.
    #[serde(alias = "not_distinguished")]
    Equivalent,
    /// Neither a difference nor equivalence is shown.
    #[serde(alias = "too_few_runs")]
    Undecided {
        /// Runs per side that would decide at the observed difference; `None` if unknown.
        needed: Option<u32>,
    },
}

/// The rate that a phase is quoted and judged by. Decided once, by the analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadlineRate {
    /// Bytes per second, of large I/Os.
    #[default]
    Bandwidth,
    /// Completions per second, of small ones.
    Iops,
}

impl HeadlineRate {
    /// This rate of a phase.
    pub fn of(self, phase: &PhaseSummary) -> &Estimate {
        match self {
            HeadlineRate::Bandwidth => &phase.bandwidth,
            HeadlineRate::Iops => &phase.iops,
        }
    }
}

/// What else is known of a phase: for judging and comparing it, not for showing it first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseDetail {
    /// The workload; `None` if unknown.
    pub shape: Option<WorkloadShape>,
    /// The rate it is quoted and judged by.
    #[serde(default)]
    pub headline: HeadlineRate,
    /// Shortest measured time of a run.
    pub measured: Nanos,
    /// Fewest bytes a run moved.
    pub moved: Bytes,
    /// Bytes that all runs moved together.
    #[serde(default)]
    pub moved_in_all: Bytes,
    /// Some percentiles of completion latency in nanoseconds, one value a run. For comparing runs; the percentile of
    /// all of them is the merged one in [`PhaseSummary::latency`].
    pub latency_by_run: Vec<(Quantile, Estimate)>,
    /// The same of `fsync` and the like.
    pub sync_by_run: Vec<(Quantile, Estimate)>,
    /// Stability of the runs; `None` if there are too few.
    pub stability: Option<Stability>,
    /// Whether latency is measured from the scheduled time of each I/O (open loop).
    #[serde(default)]
    pub open_loop: bool,
    /// Why there is no I/O amplification, where there could be one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_amplification: Option<NoAmplification>,
    /// Most bytes that laying out the files of a run wrote, which are in no other figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laid_out: Option<Bytes>,
    /// Errors of the phase that belong to no operation (flushes, opened files, commands, old records), beside the first
    /// operation of the phase.
    #[serde(default, skip_serializing_if = "is_none_counted")]
    pub other_errors: u64,
    /// Workers that a limit of their job ended (`max_latency`, `rate_min`, `rate_iops_min`); their I/Os did not fail.
    #[serde(default, skip_serializing_if = "is_none_counted")]
    pub limits_missed: u64,
    /// Runs that do not count here because others of the series do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutRun>,
    /// Precision of the mean, and steady state, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
    /// Runs behind the rates, where only their mean and deviation are known and not the single values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_runs: Option<u32>,
}

/// What the workers of a phase do, in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadShape {
    /// Random offsets; otherwise sequential.
    pub random: bool,
    /// Share of reads, in percent.
    pub read_percent: u32,
    /// Size of an I/O of this operation (the largest, where it varies).
    pub block: Bytes,
    /// I/Os in flight of one worker, as it really was.
    pub iodepth: u32,
    /// Workers at the same time.
    pub workers: u32,
    /// Writes per `fsync` or `fdatasync`; 0 for none.
    pub sync_every: u32,
    /// Whether files were opened with O_SYNC or O_DSYNC.
    pub sync_open: bool,
    /// Whether the page cache was kept out.
    pub direct: bool,
    /// Bytes of the file or device that were worked on, all workers together, where known.
    pub extent: Option<Bytes>,
}

/// Whether repeated runs are repeats of one state. All three are looked for in bandwidth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Indices into [`Estimate::values`] of runs outside Tukey's fences. They are flagged, and stay in every figure.
    pub outliers: Vec<u32>,
    /// Change from the first run to the last by a straight line within the range of the values, as a share of its start.
    pub drift: Option<f64>,
    /// Probability of a slope this steep by chance.
    pub drift_p: Option<f64>,
    /// Correlation of each run with the next, in `[-1, 1]`.
    pub lag1: Option<f64>,
    /// Independent runs that know the mean as well as these do; fewer than the runs when neighbors are alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_runs: Option<f64>,
}

/// How well the runs of a point know its mean, and whether they had settled. All of it is about bandwidth.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Repeated {
    /// Half the 95% interval of the mean by Student's t, as a share of the mean.
    pub relative_error: Option<f64>,
    /// 95% interval of the mean by resampling the runs, which supposes no shape of their spread.
    pub bootstrap_ci95: Option<(f64, f64)>,
    /// The first steady state window of runs, where each run is a round; `None` if there is none.
    pub steady: Option<SteadyWindow>,
    /// All windows in steady state that do not overlap, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady_windows: Vec<SteadyWindow>,
}

/// Steady state by the SNIA solid state storage performance test specification.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyWindow {
    /// Index of the first round of the measurement window.
    pub first_round: u32,
    /// Rounds in the window.
    pub rounds: u32,
    /// Mean over the window.
    pub average: f64,
    /// Largest less smallest over the window, as a share of the average.
    pub excursion: f64,
    /// Rise or fall of the fitted line over the window, as a share of the average.
    pub slope: f64,
}

/// Cost of a layer, such as a file system, compared with the raw device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerCost {
    /// Name of the layer, such as `vfat`.
    pub layer: String,
    /// Phase that was compared.
    pub phase: String,
    /// Which operation of it.
    pub op: Op,
    /// Raw (`a`) against the layer (`b`): the ratio is what is left.
    pub comparison: Comparison,
    /// Bytes of the device per byte of the application on the bare device.
    pub amplification_raw: Option<f64>,
    /// The same through the layer.
    pub amplification_layer: Option<f64>,
}
