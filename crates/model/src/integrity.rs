//! Whether storage keeps what is written to it, how much of it, and how fast along its addresses.
//!
//! Results of a verification as data, without method and wording.

use crate::facts::{Environment, Identity};
use crate::units::{Bytes, BytesPerSec, Nanos};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Number of the form of a [`Verification`].
pub const FORMAT: u32 = 1;

/// One verification of one device or file system, with its circumstances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Number of this form; see [`FORMAT`].
    pub format: u32,
    /// Unique, and sorts by time (UUID version 7).
    pub id: String,
    /// Version of hakaru.
    pub version: String,
    /// Wall clock at its beginning, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// How long it took.
    pub elapsed: Nanos,
    /// What was verified.
    pub target: Identity,
    /// Under which circumstances.
    pub environment: Environment,
    /// Which part of it.
    pub scope: Scope,
    /// Where the bytes that were written come from.
    pub seed: u64,
    /// Whether it came to its end. If not, only a part was read back, and the verdict is about that part.
    pub completed: bool,
    /// What was found.
    pub verdict: IntegrityVerdict,
}

/// Which part of something was verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "scope")]
pub enum Scope {
    /// Every byte of a device.
    Whole {
        /// Whether what was there before was restored afterwards.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        restored: bool,
    },
    /// Every byte of a part of a device.
    Range {
        /// Its start offset.
        start: Bytes,
        /// Where it ends.
        end: Bytes,
        /// Size of all of the device.
        of: Bytes,
    },
    /// Samples all over a device.
    Samples {
        /// Whether what was there before was restored afterwards.
        restored: bool,
    },
    /// Files in the free space of a file system: offsets count along them, and not along the device.
    FreeSpace {
        /// The directory they were in.
        folder: PathBuf,
    },
}

/// State of a range of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum BlockState {
    /// As it was written.
    Good,
    /// It holds what was written further on, always this many bytes away.
    Overwritten {
        /// Distance to the block whose content it holds.
        distance: Bytes,
    },
    /// It holds nothing of what was written: the write was dropped.
    Lost,
    /// It is the right block, with wrong bytes in it.
    Damaged,
    /// It could not be read.
    Unreadable,
    /// It could not be written.
    Unwritable,
}

/// A range of blocks in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Its start offset.
    pub offset: Bytes,
    /// How long it is.
    pub len: Bytes,
    /// What was found.
    #[serde(flatten)]
    pub state: BlockState,
}

/// Claimed and real capacity of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "capacity")]
pub enum Capacity {
    /// The real capacity is as claimed.
    AsClaimed,
    /// Addresses wrap around after the real capacity.
    Wraps {
        /// The real capacity.
        real: Bytes,
    },
    /// Its memory ends after this; what is written beyond is dropped or refused.
    Ends {
        /// The real capacity.
        real: Bytes,
    },
}

impl Capacity {
    /// Returns the real capacity if it is less than claimed.
    pub fn real(self) -> Option<Bytes> {
        match self {
            Capacity::AsClaimed => None,
            Capacity::Wraps { real } | Capacity::Ends { real } => Some(real),
        }
    }
}

/// What verifying found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrityVerdict {
    /// Size as it claims it.
    pub claimed: Bytes,
    /// Size as it was found.
    #[serde(flatten)]
    pub capacity: Capacity,
    /// Bytes that came back as written.
    pub good: Bytes,
    /// Bad ranges in order; at most some thousand.
    pub bad: Vec<Span>,
    /// Bad bytes, including ranges that are not listed.
    pub bad_bytes: Bytes,
    /// Speed of writing along the device.
    pub write_speed: SpeedMap,
    /// Speed of reading along the device.
    pub read_speed: SpeedMap,
}

impl IntegrityVerdict {
    /// Whether something was looked at, and all of it came back as written.
    pub fn is_good(&self) -> bool {
        self.good.0 > 0 && !self.has_defects()
    }

    /// Whether something did not come back as written, or is not as large as it claims.
    pub fn has_defects(&self) -> bool {
        self.bad_bytes.0 > 0 || self.capacity != Capacity::AsClaimed
    }

    /// Bytes that were looked at.
    pub fn checked(&self) -> Bytes {
        Bytes(self.good.0.saturating_add(self.bad_bytes.0))
    }
}

/// Duration of one segment of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeedPoint {
    /// Its start offset.
    pub offset: Bytes,
    /// How long it is.
    pub len: Bytes,
    /// The time it took.
    pub elapsed: Nanos,
}

impl SpeedPoint {
    /// Bytes per second; `None` when no time passed.
    pub fn rate(&self) -> Option<BytesPerSec> {
        self.len.per(self.elapsed)
    }
}

/// Speed by position: at most some hundred segments, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeedMap {
    /// The segments.
    pub points: Vec<SpeedPoint>,
}

impl SpeedMap {
    /// Approximate maximum number of segments; each covers whole chunks.
    const POINTS: u64 = 512;

    /// Adds a chunk of a walk over `total` bytes; neighbors are joined so that the map stays small.
    pub fn add(&mut self, chunk: SpeedPoint, total: Bytes) {
        let wanted = total.0 / Self::POINTS;
        match self.points.last_mut() {
            Some(last)
                if last.offset.0 + last.len.0 == chunk.offset.0
                    && last.len.0 + chunk.len.0 <= wanted =>
            {
                last.len.0 += chunk.len.0;
                last.elapsed.0 += chunk.elapsed.0;
            }
            _ => self.points.push(chunk),
        }
    }

    /// Returns the whole device as one segment.
    pub fn whole(&self) -> SpeedPoint {
        let mut whole = SpeedPoint {
            offset: Bytes(0),
            len: Bytes(0),
            elapsed: Nanos(0),
        };
        whole.offset = self.points.first().map_or(Bytes(0), |first| first.offset);
        for point in &self.points {
            whole.len.0 += point.len.0;
            whole.elapsed.0 += point.elapsed.0;
        }
        whole
    }

    /// Returns the speed of the slowest and the fastest segment; `None` if there is none.
    pub fn extremes(&self) -> Option<(BytesPerSec, BytesPerSec)> {
        let rates = || self.points.iter().filter_map(SpeedPoint::rate);
        let slowest = rates().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let fastest = rates().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((slowest, fastest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_map_stays_small_and_loses_nothing() {
        let mut map = SpeedMap::default();
        let total = Bytes(10_000 * 4096);
        for chunk in 0..10_000 {
            let (offset, len) = (Bytes(chunk * 4096), Bytes(4096));
            map.add(
                SpeedPoint {
                    offset,
                    len,
                    elapsed: Nanos(7),
                },
                total,
            );
        }
        assert!(map.points.len() <= 600, "{}", map.points.len());
        let whole = map.whole();
        assert_eq!((whole.len, whole.elapsed), (total, Nanos(70_000)));
        assert!(
            map.points
                .windows(2)
                .all(|pair| pair[0].offset.0 + pair[0].len.0 == pair[1].offset.0)
        );
    }

    #[test]
    fn stretches_that_do_not_touch_stay_apart() {
        let mut map = SpeedMap::default();
        for offset in [0, 100, 200] {
            map.add(
                SpeedPoint {
                    offset: Bytes(offset),
                    len: Bytes(10),
                    elapsed: Nanos(offset + 1),
                },
                Bytes(1 << 20),
            );
        }
        assert_eq!(map.points.len(), 3);
        let (slowest, fastest) = map.extremes().unwrap();
        assert!(slowest < fastest);
        assert_eq!(SpeedMap::default().extremes(), None);
    }

    #[test]
    fn a_verdict_has_a_stable_form() {
        let span = Span {
            offset: Bytes(512),
            len: Bytes(1024),
            state: BlockState::Overwritten {
                distance: Bytes(4096),
            },
        };
        let verdict = IntegrityVerdict {
            claimed: Bytes(8192),
            capacity: Capacity::Wraps { real: Bytes(4096) },
            good: Bytes(7168),
            bad: vec![span],
            bad_bytes: Bytes(1024),
            write_speed: SpeedMap::default(),
            read_speed: SpeedMap::default(),
        };
        let text = serde_json::to_string(&verdict).unwrap();
        let expected = r#"{"claimed":8192,"capacity":"wraps","real":4096,"good":7168,"bad":[{"offset":512,"len":1024,"state":"overwritten","distance":4096}],"bad_bytes":1024,"write_speed":{"points":[]},"read_speed":{"points":[]}}"#;
        assert_eq!(text, expected);
        assert_eq!(
            serde_json::from_str::<IntegrityVerdict>(&text).unwrap(),
            verdict
        );
        assert!(!verdict.is_good() && verdict.checked() == Bytes(8192));
    }
}
