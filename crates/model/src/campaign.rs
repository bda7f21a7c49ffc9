//! Campaigns (cards × layers × workloads × repeats): the point that a run belongs to, and the summary of all runs.

use crate::advice::Advice;
use crate::caveat::Caveat;
use crate::finding::{BusLimit, Claim, ClaimCheck, Comparison, LayerCost, Rounds, Summary};
use crate::host_comparison::HostComparison;
use crate::job::Op;
use crate::lint::LintWarning;
use crate::price::Price;
use crate::rank::{UseRanking, ValueRanking};
use crate::severity::Impact;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

mod steps;

pub use steps::{DeviceSegment, FillContent, PreparedStep, StepKind};

/// Campaign and point that a run belongs to, as stored in its record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignPoint {
    /// ID of the campaign.
    pub campaign: String,
    /// Key of the card: its serial number or another identity, or its label if its identity is hidden.
    pub card: String,
    /// Name of the layer.
    pub layer: String,
    /// Name of the workload.
    pub workload: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Digest of the definition of the measurement. Runs of the same point with another definition do not count as
    /// repeats.
    pub definition: String,
    /// Preparation of the storage before the run, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepared: Vec<PreparedStep>,
    /// Bytes written by laying out the files before the measurement.
    #[serde(default, skip_serializing_if = "Bytes::is_zero")]
    pub laid_out: Bytes,
    /// The host and the job of a fleet that the run belongs to; `None` for a run of one host alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Assignment>,
}

/// Assignment of a run to a host of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// Name of the host in the fleet, which is also the hostname of the record's environment: hosts of one image often
    /// share their own hostname.
    pub host: String,
    /// ID of the job that the host received.
    pub job: String,
    /// Difference of the clocks; `None` if it could not be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockOffset>,
}

/// Difference between the clock of a host and that of the server of its fleet.
///
/// Source: the bounds of Cristian, "Probabilistic clock synchronization" (1989): the server reads its clock between the
/// request and the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// Server time minus host time, in nanoseconds.
    pub offset_ns: i64,
    /// Maximum error of the offset, in nanoseconds: half of the round trip.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// Converts a time of the host, in milliseconds since 1970 UTC, to the time of the server.
    pub fn to_server_ms(self, host_ms: i64) -> i64 {
        host_ms.saturating_add(self.offset_ns / 1_000_000)
    }
}

impl CampaignPoint {
    /// Number of the traced repeat, which does not count as a repeat.
    pub const TRACED: u32 = 2_000_000;

    /// Whether the run is the traced repeat of its point.
    pub fn is_traced(&self) -> bool {
        self.repeat >= CampaignPoint::TRACED
    }
}

/// Summary of a campaign, ready for a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignSummary {
    /// ID of the campaign.
    pub id: String,
    /// Name of the campaign.
    pub name: String,
    /// Description by its author.
    pub about: String,
    /// Method, as names and values in words.
    pub method: Vec<(String, String)>,
    /// Whether the cards are sets of results that the user chose, which may be of one card.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_sets: bool,
    /// Names of the layers, in order.
    pub layers: Vec<String>,
    /// Cards, in order.
    pub cards: Vec<CardSummary>,
    /// For each layer, whether the host or the cards limit the speed.
    pub limits: Vec<(String, BusLimit)>,
    /// For each layer and phase, the cards from best to worst.
    pub rankings: Vec<Ranking>,
    /// Runs that count.
    pub runs: u64,
    /// Planned runs, if the plan is available.
    pub planned: Option<u64>,
    /// Failed runs, which do not count, with the reasons.
    pub failed: Vec<FailedRun>,
    /// Runs with unreadable records, which do not count, with the reasons.
    #[serde(default)]
    pub unreadable: Vec<FailedRun>,
    /// Runs of the same points with different settings, which do not count.
    pub other_definition: u64,
    /// Rechecks of first cards, measured again after all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rechecks: Vec<Recheck>,
    /// Weaknesses of the design.
    #[serde(default)]
    pub weaknesses: Vec<Weakness>,
    /// Other limitations of the figures, in words.
    pub notes: Vec<String>,
    /// Reference card: its index in `cards`.
    #[serde(default)]
    pub reference: u32,
    /// Reference layer for [`CardSummary::costs`]; empty if there is only one layer.
    #[serde(default)]
    pub reference_layer: String,
    /// For each layer and phase, the same cards on several hosts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostComparison>,
    /// For each layer and use, the cards from best to worst.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<UseRanking>,
    /// For each layer and rate, the cards by speed per unit of money.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueRanking>,
    /// Rounds of each card and layer, if they end in steady state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Rounds>,
}

/// Weakness of a campaign's design, which precise measurements do not remove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "weakness")]
pub enum Weakness {
    /// Some planned runs are missing.
    Unfinished {
        /// Runs that count.
        runs: u64,
        /// Planned runs.
        planned: u64,
    },
    /// Some points have too few runs to estimate their variation.
    FewRepeats {
        /// Number of these points.
        points: u64,
        /// Number of all points.
        of: u64,
        /// Recommended runs per point.
        wanted: u32,
    },
    /// There is only one specimen of each card model.
    OneSpecimen,
    /// Repeats of a point ran back to back.
    Blocked,
    /// Cards were measured one after another.
    CardsInSequence,
    /// The recheck of the first card at the end shows a difference.
    Drifted {
        /// Card.
        card: String,
        /// Layer.
        layer: String,
        /// Phases that differed.
        phases: Vec<String>,
    },
    /// The recheck of the first card shows neither drift nor its absence.
    DriftUndecided {
        /// Card.
        card: String,
        /// Layer.
        layer: String,
        /// Inconclusive figures.
        undecided: u64,
        /// Number of all figures.
        of: u64,
    },
    /// No preparation brought the cards to the same state.
    Unprepared,
    /// A circumstance was not the same for all points.
    Changed {
        /// The circumstance.
        what: Circumstance,
        /// Different values.
        values: Vec<String>,
    },
    /// Workloads of one name were measured with different settings.
    DifferentSettings {
        /// Names of the workloads.
        phases: Vec<String>,
    },
    /// Random I/O ran within files that some layers limit, so it was spread over a smaller range there.
    Spans {
        /// Layers with the range of their random I/O in bytes, in order.
        layers: Vec<(String, Bytes)>,
    },
    /// Runs were repeated until the mean was precise enough (optional stopping).
    OptionalStopping {
        /// Percentage of 95% intervals that cover the true mean after such stopping, simulated for data of this spread
        /// and shape; `None` if there are too few runs.
        coverage: Option<u32>,
    },
    /// Some points are published figures: only the mean and deviation are known, not the single runs.
    MeansOnly {
        /// Number of these points.
        points: u64,
        /// Number of all points.
        of: u64,
    },
}

impl Weakness {
    /// Returns what the weakness does to the results.
    pub fn impact(&self) -> Impact {
        match self {
            Weakness::Drifted { .. } => Impact::Bias,
            Weakness::Blocked
            | Weakness::CardsInSequence
            | Weakness::DriftUndecided { .. }
            | Weakness::Unprepared
            | Weakness::Changed { .. }
            | Weakness::Spans { .. }
            | Weakness::DifferentSettings { .. } => Impact::Comparison,
            Weakness::Unfinished { .. }
            | Weakness::FewRepeats { .. }
            | Weakness::OneSpecimen
            | Weakness::OptionalStopping { .. }
            | Weakness::MeansOnly { .. } => Impact::Precision,
        }
    }
}

/// Problem of a campaign that is known before it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanNote {
    /// It prepares storage but does not run as root.
    NeedsRoot,
    /// A file system cannot be created or mounted on this host.
    Unavailable {
        /// The layer.
        layer: String,
        /// The cause.
        because: String,
    },
    /// A weakness of the design.
    Weakness(Weakness),
    /// A caveat of every run.
    Caveat(Caveat),
    /// A warning about workloads.
    Lint {
        /// The workloads.
        workloads: Vec<String>,
        /// The warning.
        warning: LintWarning,
    },
}

/// Circumstance that has to be the same for all points of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "circumstance")]
pub enum Circumstance {
    /// The host name.
    Host,
    /// The board of the host.
    Board,
    /// The kernel of the host.
    Kernel,
    /// The CPU frequency governor of the host.
    Governor,
    /// The version of hakaru.
    Version,
    /// The device behind a card's label.
    Device {
        /// The card.
        card: String,
    },
}

/// Recheck of the first card after all others, compared with its first measurement to detect drift of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recheck {
    /// Name of the card.
    pub card: String,
    /// Layer.
    pub layer: String,
    /// Runs of the recheck.
    pub runs: u64,
    /// Comparison of the rate of each phase: first measurement (`a`) and recheck (`b`), as one family.
    pub comparisons: Vec<Comparison>,
}

/// Summary of one card of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardSummary {
    /// Name of the campaign.
    pub name: String,
    /// Key of the card, as in [`CampaignPoint::card`].
    pub key: String,
    /// Host it was measured on.
    pub host: String,
    /// Claims printed on the card and its packaging.
    pub printed: Vec<Claim>,
    /// Other known facts: price, shop, date.
    pub facts: Vec<(String, String)>,
    /// Results of each layer.
    pub layers: Vec<LayerSummary>,
    /// Claims of its registers and packaging, checked against the measured figures.
    pub claims: Vec<ClaimCheck>,
    /// Cost of each other layer compared with [`CampaignSummary::reference_layer`].
    pub costs: Vec<LayerCost>,
}

impl CardSummary {
    /// Name of the fact that holds the price.
    pub const PRICE: &'static str = "price";

    /// Returns the price, if the facts have one that can be read.
    pub fn price(&self) -> Option<Price> {
        let price = self.facts.iter().find(|(name, _)| name == Self::PRICE);
        price.and_then(|(_, text)| text.parse().ok())
    }
}

/// Name of the only layer of a comparison of sets, each of which has its own.
pub const AS_MEASURED: &str = "as measured";

/// Results of one card through one layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerSummary {
    /// Name of the layer.
    pub layer: String,
    /// Summary of all workloads.
    pub summary: Summary,
    /// Preparation before the first run.
    pub prepared: Vec<PreparedStep>,
    /// Suitability for each use.
    pub advice: Vec<Advice>,
}

/// Ranking of the cards in one phase, from best to worst.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Layer.
    pub layer: String,
    /// Phase.
    pub phase: String,
    /// Operation.
    pub op: Op,
    /// Unit of the rate: `B/s` of large blocks, `1/s` of small ones.
    pub unit: String,
    /// Cards, best first.
    pub places: Vec<RankedCard>,
    /// Comparisons of all pairs of cards; all layers and phases of the campaign form one family.
    pub pairs: Vec<CardPair>,
}

/// One card in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedCard {
    /// Index of the card in [`CampaignSummary::cards`].
    pub card: u32,
    /// Rank by the mean, from 1.
    pub rank: u32,
    /// Letters of the compact letter display. Two cards share a letter exactly if no difference between them is shown.
    #[serde(default)]
    pub letters: String,
    /// Mean rate.
    pub mean: f64,
    /// Standard deviation of the rate.
    pub deviation: Option<f64>,
}

/// Comparison of two cards, given by their indexes in [`CampaignSummary::cards`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardPair {
    /// Index of the first card.
    pub a: u32,
    /// Index of the second card.
    pub b: u32,
    /// Comparison of the second card with the first.
    pub comparison: Comparison,
}

/// Failed or unreadable run, which does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRun {
    /// ID of the run.
    pub run: String,
    /// Card, layer and workload, in words.
    pub point: String,
    /// Reason for the failure.
    pub because: String,
}
