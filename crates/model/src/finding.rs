//! Findings computed from records: never stored as data, always computable again.

mod caveats;
mod latency_map;
mod origin;
mod rounds;
mod sustained;
mod workload;

pub use caveats::{Finding, FindingKind, FindingScope, MinMax};
pub use latency_map::{LatencyMap, LatencyMapColumn, SlowIos, SlowWhen};
pub use origin::SummaryOrigin;
pub use rounds::{RoundMeans, RoundPoint, Rounds, RunLatency};
pub use sustained::{Cliff, Sustained, Swing};
pub use workload::JobDescription;

use crate::annotation::Annotations;
use crate::campaign::PreparedStep;
use crate::caveat::Caveat;
pub use crate::claim::{
    Bottleneck, BusLimit, Claim, ClaimCheck, ClaimPart, ClaimVerdict, Condition, MeasuredFigure,
};
use crate::facts::{Environment, Identity};
pub use crate::figure::Figure;
use crate::io_path::{IoPath, PathDifference, PathFindings, TracedSeries};
use crate::job::Op;
use crate::measured::{LeftOutRun, NoAmplification};
use crate::units::{Bytes, BytesPerSec, Nanos, Quantile};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Statistics of repeated measurements of one quantity, in the unit of that quantity.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Single measurements, in the order of the runs.
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
    /// Half of the last printed digit of an imported mean; 0 for measured values. [`Estimate::ci95`] includes it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounding: f64,
    /// Reasons why the interval may be too narrow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval_caveats: Vec<IntervalCaveat>,
}

fn is_none_counted(count: &u64) -> bool {
    *count == 0
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// Reason why a confidence interval may cover the true value less often than 95%. Printed next to the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalCaveat {
    /// Too few runs to check that they are independent and normally distributed.
    FewRuns,
    /// Consecutive runs are correlated. The interval is widened, but may still be too narrow.
    Dependent,
    /// The distribution is skewed: a few runs lie far to one side.
    Skewed,
    /// The runs fall into two groups (two modes).
    TwoModes,
}

/// Latency distribution, merged over all runs.
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
    /// Standard deviation, in nanoseconds.
    pub deviation_ns: f64,
    /// The usual percentiles for which there are enough samples.
    pub quantiles: Vec<(Quantile, Nanos)>,
    /// Cumulative distribution for charts: `(fraction of I/Os up to this value, value)`, ascending; at most a few
    /// hundred points.
    pub curve: Vec<(f64, Nanos)>,
}

/// One point of bandwidth and IOPS over time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimelinePoint {
    /// End of the interval, in seconds since the first worker began to measure.
    pub at_s: f64,
    /// Bandwidth.
    pub bandwidth: BytesPerSec,
    /// Completions per second.
    pub iops: f64,
}

fn yes() -> bool {
    true
}

/// Summary of one phase and operation over all runs of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// Name of the phase.
    pub phase: String,
    /// The operation.
    pub op: Op,
    /// Short description of the workload: `sequential write, 1 MiB, queue depth 1`.
    pub workload: String,
    /// Bytes per second, one value per run.
    pub bandwidth: Estimate,
    /// Completions per second, one value per run.
    pub iops: Estimate,
    /// Completion latency. In an open loop ([`PhaseDetail::open_loop`]), it is measured from the scheduled time of each
    /// I/O.
    pub latency: Option<LatencySummary>,
    /// Latency of `fsync` and the like.
    pub sync: Option<LatencySummary>,
    /// Bandwidth over time, for each run.
    pub timelines: Vec<Vec<TimelinePoint>>,
    /// Evenness of speed, for writes that are long enough.
    pub sustained: Option<Sustained>,
    /// I/O amplification: bytes that the device wrote (or read) per byte of the application, from the disk's counters;
    /// one value per run.
    pub amplification: Option<Estimate>,
    /// Errors of this operation.
    pub errors: u64,
    /// Further details.
    #[serde(default)]
    pub detail: PhaseDetail,
}

/// Summary of a series of runs on one target, ready for a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// ID of the series.
    pub series: String,
    /// IDs of its runs.
    pub runs: Vec<String>,
    /// Name of the scenario.
    pub scenario: String,
    /// Wall clock of the first run, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Wall clock of the last run's start, milliseconds since 1970 UTC; 0 if unknown.
    #[serde(default)]
    pub last_started_unix_ms: i64,
    /// Where the figures come from.
    pub origin: SummaryOrigin,
    /// Measured target.
    pub target: Identity,
    /// The environment of the first run.
    pub environment: Environment,
    /// Summaries of the phases.
    pub phases: Vec<PhaseSummary>,
    /// All caveats without duplicates, in order of appearance.
    pub caveats: Vec<Caveat>,
    /// Phases of the caveats that hold for some runs of a series of different workloads, by the name of their kind
    /// ([`FindingKind::name`]); a kind without an entry holds for all runs.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub caveat_phases: BTreeMap<String, BTreeSet<String>>,
    /// Overhead of this program per I/O in nanoseconds, if measured.
    pub overhead_ns: Option<f64>,
    /// Paths of the I/Os of traced runs, in the order of runs and phases; never averaged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<TracedPhase>,
    /// Title and note that the user gave to the series.
    #[serde(default, skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// The traced runs of each phase and disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traced: Vec<TracedSeries>,
    /// Preparation before the first run, if a campaign recorded it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepared: Vec<PreparedStep>,
    /// Differences of the traced I/Os from those of another series or layer, if it was compared with one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path_differences: Vec<PathDifference>,
}

/// Path of the I/Os of one phase of a traced run on one disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedPhase {
    /// Name of the phase.
    pub phase: String,
    /// ID of the run.
    pub run: String,
    /// The path.
    pub path: IoPath,
    /// What it shows.
    pub findings: PathFindings,
}

/// Comparison of two means: whether they differ, and by how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Compared quantity: phase, operation and figure. This text and the estimates are shared by the comparisons of all
    /// pairs of a group, of which there are hundreds of thousands in a large campaign.
    pub quantity: Arc<str>,
    /// Unit of the figure.
    pub unit: Arc<str>,
    /// First estimate (the baseline).
    pub a: Arc<Estimate>,
    /// Second estimate.
    pub b: Arc<Estimate>,
    /// Mean of `b` divided by the mean of `a`.
    pub ratio: f64,
    /// 95% confidence interval of the ratio, simultaneous over the family. It excludes 1 exactly if the verdict is
    /// [`Verdict::Different`]. `None` if there are too few runs or no bound.
    pub ratio_ci95: Option<(f64, f64)>,
    /// Probability of a difference this large by chance (Welch's t); `None` if there are too few
    /// runs.
    pub p_value: Option<f64>,
    /// Probability by ranks (Mann-Whitney).
    pub p_value_ranks: Option<f64>,
    /// `p_value` with Bonferroni's correction for the family of tests.
    pub p_adjusted: Option<f64>,
    /// Probability of means this close if they differ by the equivalence margin (two one-sided tests), with the same
    /// correction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_equivalence: Option<f64>,
    /// Number of tests in the family; 0 if it was not tested.
    #[serde(default)]
    pub family: u32,
    /// Whether it is a primary figure, tested in the family of primary figures.
    #[serde(default = "yes")]
    pub primary: bool,
    /// Reasons why the intervals may be too narrow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interval_caveats: Vec<IntervalCaveat>,
    /// Effect size (Hedges' g): the difference in units of the standard deviation.
    pub effect: Option<f64>,
    /// 95% confidence interval of the effect size, simultaneous over the family.
    #[serde(default)]
    pub effect_ci95: Option<(f64, f64)>,
    /// Effect size by ranks (Cliff's delta), in `[-1, 1]`: how much more often `b` exceeds `a` than
    /// the reverse.
    #[serde(default)]
    pub delta: Option<f64>,
    /// Verdict.
    pub verdict: Verdict,
}

impl Comparison {
    /// Whether the sides are proven to be the same within the margin of equivalence. A difference may be proven as well:
    /// it is then too small to matter.
    pub fn is_little(&self) -> bool {
        self.p_equivalence.is_some_and(|p| p <= 0.05)
    }
}

/// Verdict of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// The means differ.
    Different,
    /// The means are equivalent within the margin.
    #[serde(alias = "not_distinguished")]
    Equivalent,
    /// Neither a difference nor equivalence is shown.
    #[serde(alias = "too_few_runs")]
    Undecided {
        /// Runs per side that would be enough for the observed difference; `None` if unknown.
        needed: Option<u32>,
    },
}

/// Rate that represents a phase in reports and tests. The analysis chooses it once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadlineRate {
    /// Bytes per second, for large I/Os.
    #[default]
    Bandwidth,
    /// Completions per second, for small I/Os.
    Iops,
}

impl HeadlineRate {
    /// Returns this rate of a phase.
    pub fn of(self, phase: &PhaseSummary) -> &Estimate {
        match self {
            HeadlineRate::Bandwidth => &phase.bandwidth,
            HeadlineRate::Iops => &phase.iops,
        }
    }
}

/// Details of a phase for tests and comparisons, not for the main table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseDetail {
    /// The workload; `None` if unknown.
    pub shape: Option<WorkloadShape>,
    /// The different jobs of the phase, for a description.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobDescription>,
    /// Rate that represents the phase.
    #[serde(default)]
    pub headline: HeadlineRate,
    /// Shortest measured time of a run.
    pub measured: Nanos,
    /// Fewest bytes transferred by a run.
    pub moved: Bytes,
    /// Bytes transferred by all runs together.
    #[serde(default)]
    pub moved_in_all: Bytes,
    /// Percentiles of completion latency in nanoseconds, one value per run, for comparisons of runs.
    /// [`PhaseSummary::latency`] has the percentiles of all runs merged.
    pub latency_by_run: Vec<(Quantile, Estimate)>,
    /// Percentiles of `fsync` and similar calls, one value per run.
    pub sync_by_run: Vec<(Quantile, Estimate)>,
    /// Stability of the runs; `None` if there are too few.
    pub stability: Option<Stability>,
    /// Whether latency is measured from the scheduled time of each I/O (open loop).
    #[serde(default)]
    pub open_loop: bool,
    /// Reason why I/O amplification is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_amplification: Option<NoAmplification>,
    /// Largest number of bytes that a run wrote to lay out its files; no other figure includes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laid_out: Option<Bytes>,
    /// Errors of the phase that belong to no operation (flushes, opening files, commands, old records); stored with the
    /// first operation of the phase.
    #[serde(default, skip_serializing_if = "is_none_counted")]
    pub other_errors: u64,
    /// Workers stopped by a limit of their job (`max_latency`, `rate_min`, `rate_iops_min`); their I/Os did not fail.
    #[serde(default, skip_serializing_if = "is_none_counted")]
    pub limits_missed: u64,
    /// Runs excluded from this phase, because other runs of the series count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutRun>,
    /// Precision of the mean and steady state, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Repeated>,
    /// Completion latency over time; `None` if records have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_map: Option<LatencyMap>,
    /// Latency of `fsync` and similar calls over time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_map: Option<LatencyMap>,
    /// Number of runs behind the rates, if only the mean and deviation are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_runs: Option<u32>,
    /// Mean time of one I/O from the block layer down (await) in nanoseconds, from the counters of its requests; `None` if these are not the
    /// I/Os of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_ns: Option<f64>,
    /// Whether the program of each imported run created its files before it wrote; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_files: Vec<bool>,
    /// Printed spread of the bandwidth of reads over time; writes have [`PhaseSummary::sustained`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<Sustained>,
    /// What precedes each of the timelines; empty if no run had a ramp time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ramps: Vec<RampPart>,
}

/// The ramp time of a run, which its rates and timeline do not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RampPart {
    /// Bytes of the operation; 0 if they were not recorded.
    pub bytes: Bytes,
    /// The time.
    pub time: Nanos,
}

/// Shape of the workload of a phase, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadShape {
    /// Random offsets; otherwise sequential.
    pub random: bool,
    /// Share of reads, in percent.
    pub read_percent: u32,
    /// I/O size of this operation in bytes (the largest if it varies).
    pub block: Bytes,
    /// Effective queue depth of one worker.
    pub iodepth: u32,
    /// Number of concurrent workers.
    pub workers: u32,
    /// Writes per `fsync` or `fdatasync`; 0 for none.
    pub sync_every: u32,
    /// Whether files were opened with O_SYNC or O_DSYNC.
    pub sync_open: bool,
    /// Whether I/O was direct, without the page cache.
    pub direct: bool,
    /// Bytes of the file or device used by all workers together; `None` if unknown.
    pub extent: Option<Bytes>,
}

impl WorkloadShape {
    /// Minimum block size of sequential figures: smaller blocks measure the cost of a command.
    pub const LARGE_BLOCK: Bytes = Bytes(256 << 10);

    /// Whether reads and writes are mixed.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        !matches!(self.read_percent, 0 | 100)
    }
}

/// Stability of repeated runs, judged by bandwidth: outliers, drift and correlation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// Indexes into [`Estimate::values`] of runs outside Tukey's fences. All figures still include these runs.
    pub outliers: Vec<u32>,
    /// Change from the first to the last run by a fitted line limited to the range of the values, as a fraction of its
    /// start.
    pub drift: Option<f64>,
    /// Probability of a slope this steep by chance.
    pub drift_p: Option<f64>,
    /// Correlation of each run with the next one, in `[-1, 1]`.
    pub lag1: Option<f64>,
    /// Effective number of independent runs; less than the number of runs if consecutive runs are correlated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_runs: Option<f64>,
}

/// Precision of a point's mean bandwidth, and whether the runs reached steady state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Repeated {
    /// Half-width of the 95% interval of the mean by Student's t, as a fraction of the mean.
    pub relative_error: Option<f64>,
    /// 95% bootstrap interval of the mean, which assumes no distribution.
    pub bootstrap_ci95: Option<(f64, f64)>,
    /// First steady state window, with each run as a round; `None` if there is none.
    pub steady: Option<SteadyWindow>,
    /// All steady state windows that do not overlap, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady_windows: Vec<SteadyWindow>,
}

/// Steady state window as defined by the SNIA solid state storage performance test specification.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SteadyWindow {
    /// Index of the first round of the measurement window.
    pub first_round: u32,
    /// Rounds in the window.
    pub rounds: u32,
    /// Mean over the window.
    pub average: f64,
    /// Largest minus smallest value in the window, as a fraction of the average.
    pub excursion: f64,
    /// Change of the fitted line over the window, as a fraction of the average.
    pub slope: f64,
}

/// Cost of a layer, such as a file system, compared with the raw device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerCost {
    /// Name of the layer, such as `vfat`.
    pub layer: String,
    /// Compared phase.
    pub phase: String,
    /// Compared operation.
    pub op: Op,
    /// Raw device (`a`) compared with the layer (`b`).
    pub comparison: Comparison,
    /// I/O amplification on the raw device: bytes of the device per byte of the application.
    pub amplification_raw: Option<f64>,
    /// I/O amplification through the layer.
    pub amplification_layer: Option<f64>,
}
