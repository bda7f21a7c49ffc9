//! The same cards on several hosts: is a difference one of the host, or one of the card?

use crate::job::Op;
use serde::{Deserialize, Serialize};

/// One phase of the same cards on several hosts: a two-way layout, in which each card was measured on each host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostComparison {
    /// Layer.
    pub layer: String,
    /// Phase.
    pub phase: String,
    /// Operation.
    pub op: Op,
    /// Unit of the rate: `B/s` of large blocks, `1/s` of small ones.
    pub unit: String,
    /// Hosts: the columns.
    pub hosts: Vec<String>,
    /// Cards: the rows.
    pub cards: Vec<String>,
    /// Results: for each card, a cell for each host.
    pub cells: Vec<Vec<HostCell>>,
    /// Geometric mean, over all cards, of the ratio of each host to the first one.
    pub host_ratios: Vec<RatioInterval>,
    /// Geometric mean, over all hosts, of the ratio of each card to the first one.
    pub card_ratios: Vec<RatioInterval>,
    /// Parts of the variation between the cells; `None` if the cells do not vary.
    pub shares: Option<VariationShares>,
    /// Cause of the differences.
    pub cause: DifferenceCause,
}

/// Results of one card on one host.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostCell {
    /// Index of the card in [`CampaignSummary::cards`](crate::campaign::CampaignSummary::cards).
    pub card: u32,
    /// Number of runs.
    pub runs: u32,
    /// Mean rate.
    pub mean: f64,
    /// Standard deviation; `None` under two runs.
    pub deviation: Option<f64>,
}

/// Ratio with its 95% confidence interval, which holds for all ratios of a campaign together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatioInterval {
    /// The ratio.
    pub ratio: f64,
    /// Interval; `None` if a cell has only one run.
    pub ci95: Option<(f64, f64)>,
}

/// Parts of the variation between the cells, as fractions of 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariationShares {
    /// Part of the hosts.
    pub host: f64,
    /// Part of the cards.
    pub card: f64,
    /// Part that depends on the combination of host and card, and of the variation between runs.
    pub combination: f64,
}

/// Cause of the differences between the same cards on several hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceCause {
    /// The hosts differ; the cards are not proven to, or by less than 5%.
    Host,
    /// The cards differ; the hosts are not proven to, or by less than 5%.
    Card,
    /// Both differ, and the ratio of the hosts is the same for all cards as far as it is known.
    HostAndCard,
    /// The ratio of the hosts depends on the card.
    Combination,
    /// No difference is proven.
    NotProven,
    /// Some cells have only one run.
    TooFewRuns,
}
