//! Claims a card makes about its speed, whether measured figures support them, and what limited the speed.

use crate::figure::Figure;
use crate::job::Op;
use crate::units::{Bytes, BytesPerSec, Nanos};
use serde::{Deserialize, Serialize};

/// Claim of a card, from its registers or packaging.
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

/// Claim checked against measured figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimCheck {
    /// The claim.
    pub claim: Claim,
    /// Figures that the claim requires.
    pub parts: Vec<ClaimPart>,
    /// Conditions for a fair check that these runs did not meet.
    pub unmet: Vec<Condition>,
    /// Verdict.
    pub verdict: ClaimVerdict,
}

/// A figure required by a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimPart {
    /// The figure.
    pub figure: Figure,
    /// Minimum, in the figure's unit.
    pub required: f64,
    /// The measured figure; `None` if no phase measured it.
    pub measured: Option<MeasuredFigure>,
}

/// One measured figure, in the unit of its [`Figure`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredFigure {
    /// Phase that measured it.
    pub phase: String,
    /// Value.
    pub value: f64,
    /// 95% confidence interval, if there is one.
    pub ci95: Option<(f64, f64)>,
    /// Least and greatest value that the recorded data allow, if they do not determine the figure; the value is the
    /// worse one of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(f64, f64)>,
    /// Slowest interval of a write whose mean hides stalls: it is below a quarter of the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<f64>,
    /// Runs behind the figure.
    pub runs: u32,
}

/// Verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// Met: the figure reaches the requirement, and no unmet condition could have raised it.
    Kept,
    /// Missed: the figure is too low, and no unmet condition could explain that.
    Missed,
    /// Not shown: the figure is too low, but an unmet condition may be the reason.
    NotShown,
    /// Inconclusive: the figure is about at the limit, or above it with an unmet condition that may have raised it.
    Unclear,
    /// No phase measured the required figure.
    NotMeasured,
}

/// Condition for a fair check of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "condition")]
pub enum Condition {
    /// Raw device: a class describes the card, not a file system on it.
    Raw {
        /// The file system.
        filesystem: String,
    },
    /// Erased card: a class applies to erased allocation units.
    Erased,
    /// Bus that is fast enough.
    Bus {
        /// The required bus speed.
        needed: BytesPerSec,
        /// Maximum of the bus.
        ceiling: BytesPerSec,
    },
    /// Known bus mode.
    BusUnknown,
    /// Enough measured time.
    Time {
        /// Required time.
        wanted: Nanos,
        /// Time measured.
        measured: Nanos,
    },
    /// Direct I/O, without the page cache of the host.
    Direct,
    /// Enough data to exceed the card's cache.
    Extent {
        /// Required bytes.
        wanted: Bytes,
        /// Bytes written.
        written: Bytes,
    },
    /// Use of the video class protocol (speed class control).
    SpeedClassControl,
    /// Span of the test procedure for application performance classes.
    Span {
        /// Span of the test procedure.
        wanted: Bytes,
        /// Span of these runs.
        used: Bytes,
    },
    /// Queue depth of the test procedure for application performance classes.
    Depth {
        /// Depth of the test procedure.
        wanted: u32,
        /// Queue depth of these runs.
        used: u32,
    },
    /// Enough runs for a confidence interval.
    Repeats {
        /// Runs of the figure that has the fewest.
        runs: u32,
    },
    /// Use of the card's command queue and cache, which A2 relies on.
    CommandQueue {
        /// Queue depth of these runs.
        iodepth: u32,
    },
    /// Speed over time, to see whether it is even.
    Timeline,
    /// No other user of the card.
    Alone,
}

/// Whether the host's bus or the card limits the speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusLimit {
    /// Operation: sequential reads or writes.
    pub op: Op,
    /// Host of the cards, if the cards of several hosts are judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Indexes of the cards that it covers: those of one host with the same bus speed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<u32>,
    /// Measured speed (mean over several cards).
    pub measured: BytesPerSec,
    /// The bus limit, if known.
    pub ceiling: Option<BytesPerSec>,
    /// `measured / ceiling`.
    pub share: Option<f64>,
    /// Number of different cards.
    pub cards: u32,
    /// Standard deviation between the cards, as a fraction of their mean.
    pub spread: Option<f64>,
    /// Conclusion.
    pub limit: Bottleneck,
}

/// Component that limits the speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bottleneck {
    /// The bus of the host: a faster card would not help here.
    Host,
    /// The card: a faster card would help.
    Card,
    /// Inconclusive.
    Unclear,
    /// The measured speed exceeds the maximum of the bus: the bus facts or the figure are wrong.
    Contradiction,
}
