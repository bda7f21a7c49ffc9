//! The conclusion of a comparison of two sides, as data for one sentence.

use crate::finding::WorkloadShape;
use crate::job::Op;

/// The conclusion of a comparison of the rates of two sides.
#[derive(Clone, Debug, PartialEq)]
pub enum PairConclusion {
    /// At least one rate differs.
    Faster(FasterSide),
    /// All rates are equivalent within the margin.
    Equivalent {
        /// Number of compared rates.
        of: u32,
    },
    /// A single run of a side, so nothing is tested.
    Single(SingleRuns),
    /// No rate is proven to differ.
    Open {
        /// The rate with the largest ratio.
        rate: ConcludedRate,
        /// Runs per side that would be enough for the observed difference; `None` if unknown.
        needed: Option<u32>,
        /// Rates that are equivalent within the margin.
        level: u32,
        /// Number of compared rates.
        of: u32,
    },
}

/// The largest proven difference of the rates of two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct FasterSide {
    /// Whether the second side is the faster one.
    pub second: bool,
    /// The rate; its ratio is the faster side divided by the slower one.
    pub rate: ConcludedRate,
    /// Standard deviation of the ratio over runs; `None` if a side has no deviation.
    pub deviation: Option<f64>,
    /// Rates in which this side is proven faster.
    pub faster: u32,
    /// Rates in which this side is proven slower.
    pub slower: u32,
    /// Number of compared rates.
    pub of: u32,
}

/// The range of the ratios of two sides, at least one of which has a single run.
///
/// Ratios are those of the second side to the first. Workloads that were measured too briefly are not at the ends of the
/// range, unless all were.
#[derive(Clone, Debug, PartialEq)]
pub struct SingleRuns {
    /// The rate with the smallest ratio.
    pub lowest: ConcludedRate,
    /// The rate with the largest ratio; the same as the smallest if there is only one.
    pub highest: ConcludedRate,
    /// Rates in which the second side is higher.
    pub higher: u32,
    /// Number of compared rates.
    pub of: u32,
}

/// A compared rate of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcludedRate {
    /// Name of the phase.
    pub phase: String,
    /// The operation.
    pub op: Op,
    /// Shape of the workload; `None` if unknown.
    pub shape: Option<WorkloadShape>,
    /// Whether another compared rate has a workload of the same kind.
    pub ambiguous: bool,
    /// Means of the two sides, in the order of the ratio's divisor and dividend; I/Os per second, or bytes per second.
    pub means: [f64; 2],
    /// Whether the means are I/Os per second.
    pub by_iops: bool,
    /// Runs of the two sides, in the same order.
    pub runs: [u32; 2],
    /// Ratio of the means.
    pub ratio: f64,
    /// 95% confidence interval of the ratio.
    pub ratio_ci95: Option<(f64, f64)>,
}
