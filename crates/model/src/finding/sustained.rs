//! Bandwidth over time of a long write.

use crate::units::{Bytes, BytesPerSec, Nanos};
use serde::{Deserialize, Serialize};

/// Evenness of a long sequential write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sustained {
    /// Slowest interval.
    pub min: BytesPerSec,
    /// Fastest interval.
    pub max: BytesPerSec,
    /// Mean of the intervals.
    pub mean: BytesPerSec,
    /// Standard deviation of the intervals.
    pub deviation: BytesPerSec,
    /// Typical length of an interval; `None` if unknown. The slowest of short intervals is slower than that of long ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Nanos>,
    /// First permanent drop of speed, if any.
    pub cliff: Option<Cliff>,
    /// All permanent drops in order, including [`Sustained::cliff`]. A drop at the very end of the run is the last one,
    /// with [`Cliff::proven`] false.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub falls: Vec<Cliff>,
    /// Speed that drops and recovers repeatedly, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swing: Option<Swing>,
}

impl Sustained {
    /// Whether the slowest intervals of two results can be compared: their lengths differ by at most a factor of two.
    /// Unknown lengths are taken as equal, because most programs use half a second or one.
    #[must_use]
    pub fn has_comparable_intervals(&self, other: &Sustained) -> bool {
        match (self.interval, other.interval) {
            (Some(a), Some(b)) => a.0.max(b.0) / 2 <= a.0.min(b.0),
            _ => true,
        }
    }
}

/// Speed that drops and recovers repeatedly, caused by throttling or garbage collection, for example.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Swing {
    /// Median of the fast segments.
    pub high: BytesPerSec,
    /// Median of the slow segments.
    pub low: BytesPerSec,
    /// Number of recoveries.
    pub recoveries: u32,
    /// Whether speed declines gradually and recovers suddenly (garbage collection) instead of switching between two
    /// levels (throttling).
    pub sawtooth: bool,
}

/// Permanent drop of bandwidth during a write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cliff {
    /// Bytes written before the drop, including the ramp time.
    pub at: Bytes,
    /// Time before the drop, including the ramp time.
    pub after_time: Nanos,
    /// Median bandwidth before the drop.
    pub before: BytesPerSec,
    /// Median bandwidth after the drop, until the next one.
    pub after: BytesPerSec,
    /// Whether enough of the run followed to call the drop permanent.
    #[serde(default = "super::yes")]
    pub proven: bool,
}
