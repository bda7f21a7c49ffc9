//! Claims a card makes about its speed, whether measured figures support them, and what limited the speed.

use crate::figure::Figure;
use crate::job::Op;
use crate::units::{Bytes, BytesPerSec, Nanos};
use serde::{Deserialize, Serialize};

/// What a card promises, by its registers or its packaging.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "claim", content = "value")]
pub enum Claim {
    /// Speed Class 2, 4, 6 or 10.
    SpeedClass(u32),
    /// UHS Speed Grade 1 or 3.
    UhsGrade(u32),
    /// Video Speed Class 6, 10, 30, 60 or 90.
    VideoClass(u32),
    /// Application Performance Class 1 or 2.
    AppClass(u32),
    /// Printed "up to" read speed, MB/s.
    ReadSpeed(f64),
    /// Printed "up to" write speed, MB/s.
    WriteSpeed(f64),
}

/// A claim beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimCheck {
    /// The claim.
    pub claim: Claim,
    /// Its required figures.
    pub parts: Vec<ClaimPart>,
    /// Conditions of a fair judgement that these runs did not meet.
    pub unmet: Vec<Condition>,
    /// What follows.
    pub verdict: ClaimVerdict,
}

/// A figure required by a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimPart {
    /// The figure.
    pub figure: Figure,
    /// The least it may be, in the figure's unit.
    pub required: f64,
    /// The measured figure; `None` if no phase measured it.
    pub measured: Option<MeasuredFigure>,
}

/// One measured figure, in the unit of its [`Figure`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredFigure {
    /// Phase it comes from.
    pub phase: String,
    /// The figure.
    pub value: f64,
    /// 95% confidence interval, where there is one.
    pub ci95: Option<(f64, f64)>,
    /// Runs it rests on.
    pub runs: u32,
}

/// Whether a claim was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// Met: reaches the requirement, and nothing raised the figure.
    Kept,
    /// Measured below, and nothing held the figure back.
    Missed,
    /// Measured below, and a condition that was not met may be the reason.
    NotShown,
    /// Measured about at the mark, or above it with something that flattered the figure.
    Unclear,
    /// No phase measured the required figure.
    NotMeasured,
}

/// A condition that a judgement of a claim needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "condition")]
pub enum Condition {
    /// A class is a promise of the card, not of a file system on it.
    Raw {
        /// The file system.
        filesystem: String,
    },
    /// A class holds for erased allocation units.
    Erased,
    /// The bus has to be fast enough.
    Bus {
        /// The required bus speed.
        needed: BytesPerSec,
        /// What the bus allows.
        ceiling: BytesPerSec,
    },
    /// The bus mode is not known.
    BusUnknown,
    /// Enough time.
    Time {
        /// Time that would do.
        wanted: Nanos,
        /// Time measured.
        measured: Nanos,
    },
    /// No cache of the host in between.
    Direct,
    /// Too small a file stays in the card's cache.
    Extent {
        /// Bytes that would do.
        wanted: Bytes,
        /// Bytes written.
        written: Bytes,
    },
    /// The video class protocol.
    SpeedClassControl,
    /// Application classes are tested on a fixed span.
    Span {
        /// Span of the test procedure.
        wanted: Bytes,
        /// Span of these runs.
        used: Bytes,
    },
    /// Application classes are tested at a fixed queue depth.
    Depth {
        /// Depth of the test procedure.
        wanted: u32,
        /// I/Os in flight in these runs.
        used: u32,
    },
    /// A single run has no interval.
    Repeats {
        /// Runs of the figure with the fewest.
        runs: u32,
    },
    /// A2 counts on the command queue and the cache of the card.
    CommandQueue {
        /// Depth of these runs.
        iodepth: u32,
    },
    /// Evenness has to be seen.
    Timeline,
    /// Nobody else may use the card.
    Alone,
}

/// Whether the host or the card sets the pace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusLimit {
    /// Sequential reads or writes.
    pub op: Op,
    /// Which of the cards it is about, by their places: those on buses of one speed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<u32>,
    /// What was measured (the mean, where there are several cards).
    pub measured: BytesPerSec,
    /// The bus limit, if known.
    pub ceiling: Option<BytesPerSec>,
    /// `measured / ceiling`.
    pub share: Option<f64>,
    /// Different cards compared.
    pub cards: u32,
    /// Deviation between the cards, as a share of their mean.
    pub spread: Option<f64>,
    /// What follows.
    pub limit: Bottleneck,
}

/// Who sets the pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// The bus of the host: a faster card would not help here.
    Host,
    /// The card: a faster one would.
    Card,
    /// Inconclusive.
    Unclear,
    /// More was measured than the bus can carry: the facts of the bus, or the figure, are wrong.
    Contradiction,
}
