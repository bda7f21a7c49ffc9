//! Values of the plan and of the progress of a campaign.

use hakaru_model::method::RepeatsMethod;
use hakaru_model::units::{Bytes, Nanos};

/// The selected ones of a number of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// Number of selected things.
    pub chosen: u64,
    /// Number of all things.
    pub all: u64,
}

/// The size of a campaign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedExtent {
    /// Cards.
    pub cards: Selected,
    /// Layers.
    pub layers: Selected,
    /// Workloads.
    pub workloads: Selected,
    /// Repeats of each point.
    pub repeats: RepeatsMethod,
}

/// Runs of a planned campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedRuns {
    /// Maximum number of runs.
    pub most: u64,
    /// Stored runs.
    pub done: u64,
}

/// Runs of a campaign in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredRuns {
    /// Stored runs.
    pub stored: u64,
    /// Remaining runs.
    pub open: u64,
    /// Whether fewer of them may be enough.
    pub may_end_early: bool,
}

/// Location of a card of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedPlace<'a> {
    /// A simulated card.
    Simulated,
    /// A directory.
    Directory(String),
    /// A device node, and its size if known.
    Device(&'a str, Option<Bytes>),
    /// Not present, and why.
    Absent(String),
}

/// How often cards that take turns are prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnPreparation {
    /// Before each run.
    EachRun,
    /// When the layer changes.
    EachLayerChange,
    /// Once for each layer.
    OncePerLayer,
}

/// A job of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedJob {
    /// Random offsets; otherwise sequential.
    pub random: bool,
    /// Shares of reads and writes in percent.
    pub mix: (u32, u32),
    /// Largest block size.
    pub block: Bytes,
    /// Number of clones.
    pub numjobs: u32,
    /// Runtime, and whether the job may end before it.
    pub runtime: Option<(Nanos, bool)>,
    /// Ramp time.
    pub ramp: Option<Nanos>,
    /// Size of the range.
    pub size: Option<Bytes>,
    /// Whether each clone has its own file.
    pub own_files: bool,
    /// Name of the I/O engine, as in fio.
    pub ioengine: &'static str,
    /// Queue depth.
    pub iodepth: u32,
    /// Whether I/O is direct, without the page cache.
    pub direct: bool,
}

/// The second measurement of the first card at the end of a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRecheck<'a> {
    /// The card.
    pub card: &'a str,
    /// The layer.
    pub layer: &'a str,
    /// Number of runs.
    pub points: u64,
    /// Estimated time.
    pub time: &'a str,
    /// Bytes that are written to the card.
    pub writes: Bytes,
    /// Whether the card may have to be inserted again.
    pub by_hand: bool,
}
