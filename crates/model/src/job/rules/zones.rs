//! The order in which a job goes through a file, and the zones it keeps to.

use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// How a sequential job goes through its part of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TraversalOrder {
    /// Each block behind the one before, but for what [`Access::stride`](crate::job::Access::stride) leaves out.
    #[default]
    Forward,
    /// Each block in front of the one before, from the end.
    Backward,
    /// From one block to the one this many bytes further on; past the end it begins again, one block later than the
    /// last time, so that a pass comes to each block once.
    Interleaved {
        /// Bytes from the start of a block to the start of the next.
        step: Bytes,
    },
}

/// Whether I/O keeps to zones (`zonemode`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zones {
    /// No.
    #[default]
    None,
    /// Within one zone until `size` bytes are transferred, then in the next.
    Strided {
        /// Bytes of a zone (`zonerange`).
        range: Bytes,
        /// Bytes transferred in it (`zonesize`).
        size: Bytes,
        /// Bytes left out behind it (`zoneskip`).
        skip: Bytes,
    },
    /// Zones of a zoned block device: written from their start on, reset before they are written again.
    Device {
        /// Bytes of a zone; `None` asks the device.
        size: Option<Bytes>,
        /// Bytes of it that can be written; `None` for all or what the device says.
        capacity: Option<Bytes>,
        /// Bytes of whole zones left out after each (`zoneskip`).
        skip: Bytes,
        /// Zones written at the same time by all jobs (`max_open_zones`); 0 for as many as the device allows.
        max_open: u32,
        /// The same for each worker (`job_max_open_zones`); 0 for no such limit.
        max_open_each: u32,
        /// Reads also where nothing was written (`read_beyond_wp`).
        read_beyond_write_pointer: bool,
        /// Lets more zones be open than the device says (`ignore_zone_limits`).
        #[serde(default)]
        ignore_limits: bool,
        /// Empties zones while it writes; `None` empties those that are full only.
        #[serde(default)]
        resets: Option<ZoneResets>,
    },
}

/// Zones that are emptied while a job writes, as one that collects garbage would (`zone_reset_threshold`,
/// `zone_reset_frequency`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneResets {
    /// Share of the blocks with data from which on that is done, in millionths.
    pub threshold_millionths: u32,
    /// After so many writes each.
    pub every: u32,
}
