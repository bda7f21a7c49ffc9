//! Rounds of a test that ends in steady state, as in the SNIA solid state storage performance test specification.

use super::SteadyWindow;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Mean and largest completion latency of one operation in one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunLatency {
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Largest.
    pub max: Nanos,
}

/// The rounds of one card through one layer. A round is one run of each workload.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// Index of the card in the campaign.
    pub card: u32,
    /// Layer.
    pub layer: String,
    /// Rounds in which every workload was measured.
    pub measured: u32,
    /// Maximum number of rounds.
    pub at_most: u32,
    /// Whether all watched workloads were in steady state in the measurement window.
    pub steady: bool,
    /// The workloads, in the order of the campaign.
    pub points: Vec<RoundPoint>,
}

/// One workload over all rounds; a mix of reads and writes is one workload, and its rates are those of both together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundPoint {
    /// Name of the phase.
    pub phase: String,
    /// Whether the rounds end when it is in steady state.
    pub watched: bool,
    /// Random offsets; otherwise sequential.
    pub random: bool,
    /// Share of reads, in percent.
    pub read_percent: u32,
    /// I/O size.
    pub block: Bytes,
    /// I/Os in flight, of all workers together.
    pub in_flight: u32,
    /// Completions per second of each round.
    pub iops: Vec<f64>,
    /// Bytes per second of each round.
    pub bandwidth: Vec<f64>,
    /// Latency of each round; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latency: Vec<RunLatency>,
    /// The bandwidth in the measurement window, the last five rounds; `None` for fewer rounds.
    pub window: Option<SteadyWindow>,
    /// Means of the measurement window, or of all rounds if there is none.
    pub means: RoundMeans,
}

/// Results of a measurement window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundMeans {
    /// Completions per second.
    pub iops: f64,
    /// Bytes per second.
    pub bandwidth: f64,
    /// Mean latency, and the largest of all rounds.
    pub latency: Option<RunLatency>,
}
