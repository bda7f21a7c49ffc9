//! The method of a campaign: orders, repeats and preparation, as values for its report.

use crate::units::Bytes;
use serde::Deserialize;

/// Order of the points of a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointOrder {
    /// All repeats of a workload, then the next workload, then the next layer; needs the fewest preparations.
    #[default]
    Blocked,
    /// One repeat of each workload in turn, layer by layer; drift of the card affects all workloads equally.
    Interleaved,
    /// All points of a card in a random order from the seed; drift affects all points equally. Needs a new file
    /// system each time the layer changes.
    Shuffled,
}

/// Order of the cards. Every order except [`CardOrder::Sequential`] changes the card after each run, so all cards
/// must be present at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CardOrder {
    /// One card after another: cards can be swapped by hand, but drift of the host is confounded with the cards.
    #[default]
    Sequential,
    /// One run of each card in turn, in the order of the file.
    Interleaved,
    /// One run of each card in turn; every second repeat in the reverse order, which cancels a linear drift.
    Abba,
    /// One run of each card in turn, in a new random order from the seed for each turn.
    Shuffled,
}

impl CardOrder {
    /// Whether the card changes after each run.
    pub fn takes_turns(self) -> bool {
        self != CardOrder::Sequential
    }

    /// Returns its name in the campaign file.
    pub fn name(self) -> &'static str {
        match self {
            CardOrder::Sequential => "sequential",
            CardOrder::Interleaved => "interleaved",
            CardOrder::Abba => "abba",
            CardOrder::Shuffled => "shuffled",
        }
    }
}

/// Kind of discard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiscardMode {
    /// A normal discard; an error if the card does not support it.
    Plain,
    /// A secure discard, which erases the data.
    Secure,
    /// A normal discard if the card supports it.
    WhereOffered,
}

/// Data that overwrites a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FillEntry {
    /// 0xff, the value that erased flash reads as.
    Ones,
    /// 0x00.
    Zeroes,
    /// Incompressible data.
    Random,
}

/// Frequency of the preparation of the whole card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrepareScope {
    /// Once for each card.
    #[default]
    Card,
    /// Each time the layer changes.
    Layer,
    /// Before each run, with a new file system each time: every run begins in the same state.
    Run,
}

/// End of the repeats of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RepeatsMethod {
    /// A fixed number.
    Times(u32),
    /// Until the mean is known precisely enough.
    Until {
        /// Half the width of the 95% interval, in percent of the mean.
        percent: f64,
        /// Minimum number of repeats.
        at_least: u32,
        /// Maximum number of repeats.
        at_most: u32,
    },
    /// Until steady state.
    Steady {
        /// Maximum number of rounds.
        at_most: u32,
    },
}

/// A step of the preparation before the measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PreparationMethod {
    /// The card is discarded.
    Discarded {
        /// Kind of discard.
        how: DiscardMode,
        /// Frequency.
        each: PrepareScope,
    },
    /// The card is overwritten.
    Filled {
        /// The data.
        with: FillEntry,
        /// Number of times in a row.
        passes: u32,
        /// Frequency.
        each: PrepareScope,
    },
    /// Each file system is filled to this percentage.
    FillLevel {
        /// Used space in percent.
        percent: f64,
    },
    /// The caches of the host are dropped before each run.
    CachesDropped,
    /// The caches of the host were to be dropped, and were not before every run.
    CachesKept,
    /// Each run has a new file system.
    FreshFileSystem,
    /// Each run has a new simulated card.
    NewSimulatedCard,
    /// None.
    Unprepared,
}

/// A property of a layer between application and card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerMethod<'a> {
    /// A new file system of this type.
    FileSystem(&'a str),
    /// In one partition of a partition table of this kind.
    Partition(&'a str),
    /// Options of mkfs.
    MkfsOptions(&'a str),
    /// Mount options.
    MountOptions(&'a str),
    /// Maximum size of files.
    FileSize(Bytes),
}

/// Title of a line about the method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodTitle<'a> {
    /// Number of repeats.
    Repeats,
    /// Order of the points.
    Order,
    /// Order of the cards.
    CardOrder,
    /// Preparation of the storage.
    Preparation,
    /// Pause before each run.
    Pause,
    /// A layer.
    Layer(&'a str),
    /// A workload.
    Workload(&'a str),
    /// Seed of offsets and orders.
    Seed,
    /// Second measurement of the first card.
    Recheck,
}

/// A recheck of the first card at the end of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecheckMethod<'a> {
    /// The card.
    pub card: &'a str,
    /// The layer.
    pub layer: &'a str,
    /// Number of runs.
    pub runs: u64,
    /// Whether all figures are the same as before.
    pub same: bool,
}
