//! Device model of a simulated card: cost of each command, and faults.
//!
//! The engine's `sim` backend and the simulated card of the test guests use the same model, so that tests know the
//! exact expected times.

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Device model of a simulated card. All costs are exact; `jitter_permille` adds a seeded spread.
///
/// A command of `len` bytes takes `overhead + (seek, if it does not start where the last one ended) + len / rate`. The
/// card executes one command at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceModel {
    /// Name of the card in results.
    pub name: String,
    /// Real capacity in bytes.
    pub capacity: Bytes,
    /// Claimed capacity in bytes; writes past `capacity` wrap to the start. `None` for honest cards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_capacity: Option<Bytes>,
    /// The smallest unit the card addresses, in bytes.
    pub block_size: u32,
    /// Sequential read rate, bytes per second.
    pub read_rate: u64,
    /// Sequential write rate once any cache is full, bytes per second.
    pub write_rate: u64,
    /// Fixed cost of a read command.
    #[serde(default)]
    pub read_overhead: Nanos,
    /// Fixed cost of a write command.
    #[serde(default)]
    pub write_overhead: Nanos,
    /// Extra cost of a read that does not start where the last command ended.
    #[serde(default)]
    pub read_seek: Nanos,
    /// Extra cost of a write that does not start where the last command ended.
    #[serde(default)]
    pub write_seek: Nanos,
    /// Cost of a flush.
    #[serde(default)]
    pub flush: Nanos,
    /// Fast cache in front of the flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<SlcCache>,
    /// Garbage collection that stalls the card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// Thermal throttling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// Faulty ranges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// Size of a volatile cache that loses its content on power loss although a flush was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_flush: Option<Bytes>,
    /// Seeded spread of every cost, in thousandths: 20 means a factor drawn evenly from 0.98 to 1.02.
    #[serde(default)]
    pub jitter_permille: u32,
}

/// Cache: a part of the flash that is written fast until it is full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// Size of the cache.
    pub size: Bytes,
    /// Write rate while the cache has space, bytes per second.
    pub write_rate: u64,
    /// Rate at which the idle card empties the cache, bytes per second; 0: never.
    #[serde(default)]
    pub drain_rate: u64,
}

/// Garbage collection: a stall of the whole card after every N bytes written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// Bytes written between two stalls.
    pub every: Bytes,
    /// Length of a stall, added to the write that reaches the limit.
    pub lasts: Nanos,
}

/// Thermal throttling: busy time warms the card, idle time cools it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Busy time, minus idle time, after which the card slows down.
    pub after: Nanos,
    /// Cost of each command while throttled, in percent: 150 means 1.5 times as long.
    pub percent: u32,
}

/// Faulty range of the card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// First byte.
    pub offset: Bytes,
    /// Length in bytes.
    pub len: Bytes,
    /// Type of fault.
    pub kind: FaultKind,
}

/// How a faulty range misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Reads fail with EIO.
    ReadError,
    /// Writes fail with EIO.
    WriteError,
    /// Writes succeed but do not change the data.
    DropsWrites,
}

impl DeviceModel {
    /// Returns a model without cache, stalls or faults: reads 40 MB/s, writes 20 MB/s, seeks 0.3 ms for a read and 2 ms
    /// for a write.
    pub fn plain(name: &str, capacity: Bytes) -> DeviceModel {
        DeviceModel {
            name: name.to_owned(),
            capacity,
            claimed_capacity: None,
            block_size: 512,
            read_rate: 40_000_000,
            write_rate: 20_000_000,
            read_overhead: Nanos(100_000),
            write_overhead: Nanos(200_000),
            read_seek: Nanos(300_000),
            write_seek: Nanos(2_000_000),
            flush: Nanos(1_000_000),
            cache: None,
            stalls: None,
            throttle: None,
            faults: Vec::new(),
            lost_flush: None,
            jitter_permille: 0,
        }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// A description of the first invalid value.
    pub fn check(&self) -> Result<(), String> {
        let positive = [
            ("capacity", self.capacity.0),
            ("block_size", u64::from(self.block_size)),
            ("read_rate", self.read_rate),
            ("write_rate", self.write_rate),
        ];
        if let Some((name, _)) = positive.into_iter().find(|&(_, value)| value == 0) {
            return Err(format!("{name} must be greater than 0"));
        }
        if self.jitter_permille > 1000 {
            return Err(format!(
                "jitter_permille is {}: the maximum is 1000",
                self.jitter_permille
            ));
        }
        Ok(())
    }

    /// Returns the claimed capacity.
    pub fn announced(&self) -> Bytes {
        self.claimed_capacity.unwrap_or(self.capacity)
    }
}
