//! Campaigns: cards × layers × workloads × repeats. Which point of one a run is, and what follows from all of them.

use crate::advice::Advice;
use crate::caveat::Caveat;
use crate::finding::{BusLimit, Claim, ClaimCheck, Comparison, LayerCost, Summary};
use crate::job::Op;
use crate::lint::LintWarning;
use crate::units::{Bytes, BytesPerSec, Nanos};
use serde::{Deserialize, Serialize};

mod steps;

use steps::StoredStep;
pub use steps::{FillContent, StepKind};

/// Which point of which campaign a run is: part of its record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignPoint {
    /// Id of the campaign.
    pub campaign: String,
    /// What the card answers to: its serial number or another identity, or its label where it hides them.
    pub card: String,
    /// Name of the layer.
    pub layer: String,
    /// Name of the workload.
    pub workload: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Sign of what was measured how: runs of one point under another definition do not count as its repeats.
    pub definition: String,
    /// What was done to the storage before, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepared: Vec<PreparedStep>,
    /// Bytes that laying out its files wrote before anything was measured.
    #[serde(default, skip_serializing_if = "nothing")]
    pub laid_out: Bytes,
}

/// One thing that was done to the storage before it was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredStep")]
pub struct PreparedStep {
    /// The step.
    #[serde(flatten)]
    pub step: StepKind,
    /// How long it took.
    pub elapsed: Nanos,
    /// How fast each part of the device was, where all of it was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub speed: Vec<DeviceSegment>,
    /// Bytes written, if [`PreparedStep::speed`] does not include them; stored once, with the first
    /// run after the step.
    #[serde(default, skip_serializing_if = "nothing")]
    pub written: Bytes,
}

impl PreparedStep {
    /// Returns all bytes written, if known.
    pub fn bytes_written(&self) -> Bytes {
        Bytes(self.speed.iter().fold(self.written.0, |sum, stretch| {
            sum.saturating_add(stretch.len.0)
        }))
    }

    /// The same without what is kept once: for the runs after the first.
    pub fn told_before(self) -> PreparedStep {
        PreparedStep {
            speed: Vec::new(),
            written: Bytes(0),
            ..self
        }
    }
}

fn nothing(bytes: &Bytes) -> bool {
    bytes.0 == 0
}

/// A part of a device, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSegment {
    /// Where it begins.
    pub offset: Bytes,
    /// How long it is.
    pub len: Bytes,
    /// The time it took.
    pub elapsed: Nanos,
}

impl DeviceSegment {
    /// Bytes per second; `None` when no time passed.
    pub fn rate(&self) -> Option<BytesPerSec> {
        self.len.per(self.elapsed)
    }
}

/// All that a campaign says, ready to be shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CampaignSummary {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Description by its author.
    pub about: String,
    /// How it was done: name and value, in words.
    pub method: Vec<(String, String)>,
    /// Names of the layers, in order.
    pub layers: Vec<String>,
    /// Card by card, in order.
    pub cards: Vec<CardSummary>,
    /// Of each layer: whether the host or the cards set the pace.
    pub limits: Vec<(String, BusLimit)>,
    /// Of each layer and phase: the cards from best to worst.
    pub rankings: Vec<Ranking>,
    /// Runs that count.
    pub runs: u64,
    /// Runs that were planned, where the plan is at hand.
    pub planned: Option<u64>,
    /// Runs that did not come to their end and do not count: what they were, and why.
    pub failed: Vec<FailedRun>,
    /// Runs whose records cannot be read, and do not count: what they were, and why.
    #[serde(default)]
    pub unreadable: Vec<FailedRun>,
    /// Runs of the same points with different settings, which do not count.
    pub other_definition: u64,
    /// First cards that were measured again after the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rechecks: Vec<Recheck>,
    /// What its design cannot prove.
    #[serde(default)]
    pub weaknesses: Vec<Weakness>,
    /// What else limits the worth of the figures, in words.
    pub notes: Vec<String>,
    /// The card that the others are held against: its place in `cards`.
    #[serde(default)]
    pub reference: u32,
    /// The layer that the others are held against, in [`CardSummary::costs`]; empty when there is but one.
    #[serde(default)]
    pub reference_layer: String,
}

/// What the design of a campaign cannot prove, however exactly its points were measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "weakness")]
pub enum Weakness {
    /// Points are missing.
    Unfinished {
        /// Runs that count.
        runs: u64,
        /// Runs that were planned.
        planned: u64,
    },
    /// Some points have too few runs for a known variation.
    FewRepeats {
        /// Number of these points.
        points: u64,
        /// All points.
        of: u64,
        /// Runs that would do.
        wanted: u32,
    },
    /// One specimen of each model.
    OneSpecimen,
    /// Repeats came one right after another.
    Blocked,
    /// Cards were measured one after another.
    CardsInSequence,
    /// The first card was not the same when it was measured again at the end.
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
        /// Figures that decide nothing.
        undecided: u64,
        /// All figures.
        of: u64,
    },
    /// Nothing brought the cards to one state.
    Unprepared,
    /// The circumstances were not the same for all points.
    Changed {
        /// The circumstance.
        what: Circumstance,
        /// The values, without duplicates.
        values: Vec<String>,
    },
    /// Runs were repeated until their means were known.
    OptionalStopping {
        /// Percent of 95% intervals that cover the true mean after such stopping, simulated for data of this spread and
        /// shape; `None` where too few runs show it.
        coverage: Option<u32>,
    },
    /// Published figures.
    MeansOnly {
        /// Number of these points.
        points: u64,
        /// All points.
        of: u64,
    },
}

/// What a campaign cannot do or prove as it is planned.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanNote {
    /// It prepares storage and does not run as root.
    NeedsRoot,
    /// A file system cannot be made or mounted on this host.
    Unavailable {
        /// The layer.
        layer: String,
        /// The cause.
        because: String,
    },
    /// A weakness of the design.
    Weakness(Weakness),
    /// What every run of it will carry.
    Caveat(Caveat),
    /// What is wrong with a workload.
    Lint {
        /// The workload.
        workload: String,
        /// The warning.
        warning: LintWarning,
    },
}

/// What has to be the same for all points of a campaign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "circumstance")]
pub enum Circumstance {
    /// The host.
    Host,
    /// Its board.
    Board,
    /// Its kernel.
    Kernel,
    /// Its CPU frequency governor.
    Governor,
    /// The device measured under the name of a card.
    Device {
        /// The card.
        card: String,
    },
}

/// The first card measured again after all others, held against its first measurement: the drift of the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recheck {
    /// What the card is called.
    pub card: String,
    /// Layer.
    pub layer: String,
    /// Runs of the recheck.
    pub runs: u64,
    /// The rate of each phase: first measurement (`a`) against recheck (`b`), as one family.
    pub comparisons: Vec<Comparison>,
}

/// All that a campaign says of one card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardSummary {
    /// Its name.
    pub name: String,
    /// Its key.
    pub key: String,
    /// Host it was measured on.
    pub host: String,
    /// What is printed on it and its packaging.
    pub printed: Vec<Claim>,
    /// Anything else that is known of it: price, shop, date.
    pub facts: Vec<(String, String)>,
    /// Layer by layer.
    pub layers: Vec<LayerSummary>,
    /// What its registers and its packaging promise, beside what was measured.
    pub claims: Vec<ClaimCheck>,
    /// What each other layer costs against [`CampaignSummary::reference_layer`].
    pub costs: Vec<LayerCost>,
}

/// What was measured of one card through one layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LayerSummary {
    /// Name of the layer.
    pub layer: String,
    /// All its workloads together.
    pub summary: Summary,
    /// What was done before: as of the first run.
    pub prepared: Vec<PreparedStep>,
    /// Its suitability.
    pub advice: Vec<Advice>,
}

/// The cards of one phase from best to worst.
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
    /// Best first.
    pub places: Vec<RankedCard>,
    /// Each with each, judged with all layers and phases of the campaign as one family.
    pub pairs: Vec<CardPair>,
}

/// One card in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedCard {
    /// Its place in [`CampaignSummary::cards`].
    pub card: u32,
    /// Its place by the mean, from 1.
    pub rank: u32,
    /// Letters of the compact letter display: two cards share one exactly when no difference between them is shown.
    #[serde(default)]
    pub letters: String,
    /// Mean rate.
    pub mean: f64,
    /// Deviation of the rate.
    pub deviation: Option<f64>,
}

/// Two cards, by their places in [`CampaignSummary::cards`], and how they differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CardPair {
    /// The first.
    pub a: u32,
    /// The second.
    pub b: u32,
    /// The comparison of the second with the first.
    pub comparison: Comparison,
}

/// A run that does not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedRun {
    /// Its id.
    pub run: String,
    /// Card, layer and workload, in words.
    pub point: String,
    /// Why it did not finish.
    pub because: String,
}
