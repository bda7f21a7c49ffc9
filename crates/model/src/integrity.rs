//! Results of verifying storage: real capacity, data integrity, and speed by position.
//!
//! This module contains data only, without methods of verification and texts.

use crate::facts::{Environment, Identity};
use crate::units::{Bytes, BytesPerSec, Nanos};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the stored form of a [`Verification`].
pub const FORMAT: u32 = 1;

/// Verification of one device or file system, with its environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Version of the stored form; see [`FORMAT`].
    pub format: u32,
    /// Unique ID that sorts by time (UUID version 7).
    pub id: String,
    /// Version of hakaru.
    pub version: String,
    /// Wall clock at the start, milliseconds since 1970 UTC.
    pub started_unix_ms: i64,
    /// Duration.
    pub elapsed: Nanos,
    /// Verified target.
    pub target: Identity,
    /// Environment of the run.
    pub environment: Environment,
    /// Verified part of the target.
    pub scope: Scope,
    /// Seed of the written data.
    pub seed: u64,
    /// Whether it completed. Otherwise only a part was read back, and the verdict is about that part.
    pub completed: bool,
    /// Verdict.
    pub verdict: IntegrityVerdict,
}

/// Verified part of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "scope")]
pub enum Scope {
    /// Every byte of a device.
    Whole {
        /// Whether the previous content was restored afterwards.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        restored: bool,
    },
    /// Every byte of a range of a device.
    Range {
        /// Start offset.
        start: Bytes,
        /// Its end offset.
        end: Bytes,
        /// Size of the whole device.
        of: Bytes,
    },
    /// Samples across a device.
    Samples {
        /// Whether the previous content was restored afterwards.
        restored: bool,
    },
    /// Files in the free space of a file system; offsets count along the files, not along the device.
    FreeSpace {
        /// Directory of these files.
        folder: PathBuf,
    },
}

/// State of a range of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum BlockState {
    /// The blocks contain what was written.
    Good,
    /// The blocks contain data written to another place, always at this distance.
    Overwritten {
        /// Distance in bytes to the block whose data is found here.
        distance: Bytes,
    },
    /// The blocks contain no written data: the write was dropped.
    Lost,
    /// The blocks contain their own data with wrong bytes.
    Damaged,
    /// The blocks could not be read.
    Unreadable,
    /// The blocks could not be written.
    Unwritable,
}

/// Range of blocks in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Start offset.
    pub offset: Bytes,
    /// Length.
    pub len: Bytes,
    /// State of the blocks.
    #[serde(flatten)]
    pub state: BlockState,
}

/// Real capacity of a device compared with the claimed one.
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
    /// The memory ends at the real capacity; writes beyond it are dropped or refused.
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

/// Verdict of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegrityVerdict {
    /// Claimed size.
    pub claimed: Bytes,
    /// Real capacity.
    #[serde(flatten)]
    pub capacity: Capacity,
    /// Bytes that were read back as written.
    pub good: Bytes,
    /// Bad ranges in order; at most a few thousand.
    pub bad: Vec<Span>,
    /// Bad bytes, including ranges that are not listed.
    pub bad_bytes: Bytes,
    /// Write speed by position.
    pub write_speed: SpeedMap,
    /// Read speed by position.
    pub read_speed: SpeedMap,
}

impl IntegrityVerdict {
    /// Whether data was checked and all of it was read back as written.
    pub fn is_good(&self) -> bool {
        self.good.0 > 0 && !self.has_defects()
    }

    /// Whether data was not read back as written, or the capacity is less than claimed.
    pub fn has_defects(&self) -> bool {
        self.bad_bytes.0 > 0 || self.capacity != Capacity::AsClaimed
    }

    /// Returns the number of checked bytes.
    pub fn checked(&self) -> Bytes {
        Bytes(self.good.0.saturating_add(self.bad_bytes.0))
    }
}

/// Duration of one segment of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeedPoint {
    /// Start offset.
    pub offset: Bytes,
    /// Length.
    pub len: Bytes,
    /// Elapsed time.
    pub elapsed: Nanos,
}

impl SpeedPoint {
    /// Returns the speed; `None` if the elapsed time is 0.
    pub fn rate(&self) -> Option<BytesPerSec> {
        self.len.per(self.elapsed)
    }
}

/// Speed by position: at most a few hundred segments, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpeedMap {
    /// The segments.
    pub points: Vec<SpeedPoint>,
}

impl SpeedMap {
    /// Approximate maximum number of segments; each covers whole chunks.
    const POINTS: u64 = 512;

    /// Adds a chunk of a pass over `total` bytes; adjacent chunks are joined to keep the map small.
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
    fn segments_that_do_not_touch_stay_apart() {
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
