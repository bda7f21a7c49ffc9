//! Traversal order of sequential jobs, and zone modes.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Order in which a sequential job traverses its part of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraversalOrder {
    /// Ascending offsets; [`Access::stride`](crate::job::Access::stride) bytes are skipped after each block.
    #[default]
    Forward,
    /// Descending offsets, from the end.
    Backward,
    /// Steps of a fixed size. After the end it starts again one block later than the last time, so that a pass accesses
    /// each block once.
    Interleaved {
        /// Distance between the starts of consecutive blocks.
        step: Bytes,
    },
}

/// Zone mode (`zonemode`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zones {
    /// No zones.
    #[default]
    None,
    /// Accesses one zone until `size` bytes are transferred, then the next.
    Strided {
        /// Size of a zone (`zonerange`).
        range: Bytes,
        /// Bytes transferred per zone (`zonesize`).
        size: Bytes,
        /// Bytes skipped after each zone (`zoneskip`).
        skip: Bytes,
    },
    /// Zones of a zoned block device, written sequentially from their start and reset before they are written again.
    Device {
        /// Size of a zone; `None` queries the device.
        size: Option<Bytes>,
        /// Writable bytes of a zone; `None` for all, or the device's value.
        capacity: Option<Bytes>,
        /// Bytes of whole zones skipped after each zone (`zoneskip`).
        skip: Bytes,
        /// Maximum number of open zones of all jobs (`max_open_zones`); 0 for the device's limit.
        max_open: u32,
        /// Maximum number of open zones per worker (`job_max_open_zones`); 0 for no limit.
        max_open_each: u32,
        /// Reads beyond the write pointer too (`read_beyond_wp`).
        read_beyond_write_pointer: bool,
        /// Ignores the device's limit of open zones (`ignore_zone_limits`).
        #[serde(default)]
        ignore_limits: bool,
        /// Resets zones during writes; `None` resets only full zones.
        #[serde(default)]
        resets: Option<ZoneResets>,
    },
}

/// Zone resets during writes, as garbage collection would do them (`zone_reset_threshold`, `zone_reset_frequency`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneResets {
    /// Share of blocks with data from which zones are reset, in millionths.
    pub threshold_millionths: u32,
    /// Number of writes between resets.
    pub every: u32,
}
