//! Reference results, and the comparison of a measured figure with them.

use crate::finding::WorkloadShape;
use crate::job::Op;
use serde::{Deserialize, Serialize};

/// Figures of others, or of one's own from earlier: what a new one can be put beside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceSet {
    /// Where they come from.
    pub sources: Vec<ReferenceSource>,
    /// One figure each.
    pub entries: Vec<ReferenceEntry>,
}

/// Where figures come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceSource {
    /// Short name that entries refer to, such as `A`.
    pub id: String,
    /// Title, with the origin of the figures.
    pub title: String,
    /// What has to be known to read its figures, if anything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// What one workload gave on one thing, once or as the mean of several runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceEntry {
    /// [`ReferenceSource::id`].
    pub source: String,
    /// The host it was measured on.
    pub host: String,
    /// The card or disk.
    pub card: String,
    /// `raw`, or the type of the file system.
    pub layer: String,
    /// Name of the workload in its source.
    pub workload: String,
    /// The operation.
    pub op: Op,
    /// The workload. Its extent is not compared.
    pub shape: WorkloadShape,
    /// Runs that the figures are the mean of.
    pub runs: u32,
    /// Bytes per second.
    pub bandwidth: Level,
    /// I/Os per second.
    pub iops: Level,
}

/// A mean, and how far runs lie from it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// Mean of the runs.
    pub mean: f64,
    /// Standard deviation of the runs; `None` for one run or if unknown.
    pub deviation: Option<f64>,
}

/// Comparison of a measured phase with the comparable figures of one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReferenceStanding {
    /// The phase.
    pub phase: String,
    /// Its operation.
    pub op: Op,
    /// [`ReferenceSource::title`] of those it is put beside.
    pub among: String,
    /// `raw`, or the file system, on both sides.
    pub layer: String,
    /// Whether the figures are I/Os per second rather than bytes per second.
    pub by_iops: bool,
    /// The measured figure.
    pub here: f64,
    /// Published ones that are clearly slower.
    pub ahead_of: u32,
    /// Number of references without a clear difference.
    pub level_with: u32,
    /// Published ones that are clearly faster.
    pub behind: u32,
    /// The slowest of them.
    pub least: NamedFigure,
    /// The fastest of them.
    pub most: NamedFigure,
    /// Hosts that the published ones were measured on.
    pub hosts: Vec<String>,
    /// Runs behind the published figure that has fewest.
    pub fewest_runs: u32,
}

/// A figure and its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedFigure {
    /// The card or disk.
    pub card: String,
    /// The figure.
    pub value: f64,
}
