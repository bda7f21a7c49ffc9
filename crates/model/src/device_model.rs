//! Device model of a simulated card: cost of each command, and faults.
//!
//! The engine's `sim` backend and the card served to guests charge by the same list, so that a test knows the truth.

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// What a simulated card costs. All prices are exact; `jitter_permille` adds a seeded spread.
///
/// A command of `len` bytes takes `overhead + (seek, when it does not start where the last one ended) + len / rate`,
/// and the card serves one command at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceModel {
    /// Name of the card in results.
    pub name: String,
    /// Bytes that really exist.
    pub capacity: Bytes,
    /// Bytes the card says it has; writes past `capacity` wrap to the start. Honest cards leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_capacity: Option<Bytes>,
    /// The smallest unit the card addresses, in bytes.
    pub block_size: u32,
    /// Sequential read rate, bytes per second.
    pub read_rate: u64,
    /// Sequential write rate once any cache is full, bytes per second.
    pub write_rate: u64,
    /// Fixed price of a read command.
    #[serde(default)]
    pub read_overhead: Nanos,
    /// Fixed price of a write command.
    #[serde(default)]
    pub write_overhead: Nanos,
    /// Extra price of a read that does not start where the last command ended.
    #[serde(default)]
    pub read_seek: Nanos,
    /// Extra price of a write that does not start where the last command ended.
    #[serde(default)]
    pub write_seek: Nanos,
    /// Price of a flush.
    #[serde(default)]
    pub flush: Nanos,
    /// A fast cache in front of the flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<SlcCache>,
    /// Garbage collection that stops the card now and then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalls: Option<Stalls>,
    /// Slowing down when warm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// Places that fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// Bytes of a volatile cache whose content a power cut loses although a flush was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_flush: Option<Bytes>,
    /// Seeded spread of every price, in thousandths: 20 means a factor drawn evenly from 0.98 to 1.02.
    #[serde(default)]
    pub jitter_permille: u32,
}

/// A part of the flash that is written fast until it is full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// How much fits.
    pub size: Bytes,
    /// Write rate while it has room, bytes per second.
    pub write_rate: u64,
    /// How fast the card empties it while idle, bytes per second; zero never.
    #[serde(default)]
    pub drain_rate: u64,
}

/// A stall of the whole card after every N bytes written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stalls {
    /// Bytes written between two stalls.
    pub every: Bytes,
    /// How long one takes; the write that crosses the border pays it.
    pub lasts: Nanos,
}

/// Throttling by heat: busy time warms, idle time cools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Busy time (less idle time) after which the card slows down.
    pub after: Nanos,
    /// How much longer everything takes then, in percent: 150 is one and a half times.
    pub percent: u32,
}

/// A range of the card that misbehaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// First byte.
    pub offset: Bytes,
    /// How many bytes.
    pub len: Bytes,
    /// What happens there.
    pub kind: FaultKind,
}

/// How a faulty range misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// Reads answer EIO.
    ReadError,
    /// Writes answer EIO.
    WriteError,
    /// Writes succeed and change nothing.
    DropsWrites,
}

impl DeviceModel {
    /// A plain card without cache, stalls or lies: 40 MB/s reads, 20 MB/s writes, 0.3 ms to seek for a read and 2 ms for a write.
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
    /// What is wrong with it, in words.
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

    /// Bytes the card says it has.
    pub fn announced(&self) -> Bytes {
        self.claimed_capacity.unwrap_or(self.capacity)
    }
}
