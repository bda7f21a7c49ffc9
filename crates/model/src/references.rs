//! Reference results, and the comparison of a measured figure with them.

use crate::finding::WorkloadShape;
use crate::job::Op;
use serde::{Deserialize, Serialize};

/// Reference results, published or your own, that new figures are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceSet {
    /// Sources of the results.
    pub sources: Vec<ReferenceSource>,
    /// Results.
    pub entries: Vec<ReferenceEntry>,
}

/// Source of reference results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceSource {
    /// Short name that entries refer to, such as `A`.
    pub id: String,
    /// Title, with the origin of the figures.
    pub title: String,
    /// Notes needed to interpret its figures, if any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Result of one workload on one card or disk, from one run or as the mean of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceEntry {
    /// [`ReferenceSource::id`].
    pub source: String,
    /// Host of the measurement.
    pub host: String,
    /// The card or disk.
    pub card: String,
    /// `raw`, or the type of the file system.
    pub layer: String,
    /// Name of the workload in its source.
    pub workload: String,
    /// The operation.
    pub op: Op,
    /// Shape of the workload. Its extent is not compared.
    pub shape: WorkloadShape,
    /// Number of runs behind the mean.
    pub runs: u32,
    /// Bytes per second.
    pub bandwidth: Level,
    /// I/Os per second.
    pub iops: Level,
}

/// Mean of runs with their standard deviation.
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
    /// Phase.
    pub phase: String,
    /// Operation.
    pub op: Op,
    /// [`ReferenceSource::title`] of the compared references.
    pub among: String,
    /// `raw`, or the type of the file system; the same on both sides.
    pub layer: String,
    /// Whether the figures are I/Os per second rather than bytes per second.
    pub by_iops: bool,
    /// The measured figure.
    pub here: f64,
    /// Number of references that are clearly slower.
    pub ahead_of: u32,
    /// Number of references without a clear difference.
    pub level_with: u32,
    /// Number of references that are clearly faster.
    pub behind: u32,
    /// Slowest reference.
    pub least: NamedFigure,
    /// Fastest reference.
    pub most: NamedFigure,
    /// Hosts of the references.
    pub hosts: Vec<String>,
    /// Number of runs of the reference with the fewest.
    pub fewest_runs: u32,
}

/// Value of a reference, with the name of its card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedFigure {
    /// The card or disk.
    pub card: String,
    /// Value.
    pub value: f64,
}
