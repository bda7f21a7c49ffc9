//! Device model of a simulated card: cost of each command, and faults.
//!
//! The engine's `sim` backend and the simulated card of the test guests use the same model, so that tests know the
//! exact expected times.

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

/// Device model of a simulated card. All costs are exact; `jitter_permille` and `noise` add a seeded spread.
///
/// A command of `len` bytes takes `overhead + (seek, if it does not start where the last one ended) + len / rate`, and
/// what its [`Flash`] adds. The card executes one command at a time, except that it may execute several reads.
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
    /// Extra cost of a read after a write.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_to_read: Nanos,
    /// Extra cost of a write after a read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read_to_write: Nanos,
    /// Cost of a flush.
    #[serde(default)]
    pub flush: Nanos,
    /// Number of reads that the card executes at a time; 0 means 1, too.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub parallel_reads: u32,
    /// Mechanics of the flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
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
    /// Spread of the costs with a long tail, drift and rare long commands, as real cards show them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
}

/// Longest time of one cost, in nanoseconds: an hour.
const LONGEST: u64 = 3_600_000_000_000;

fn one() -> u32 {
    1
}

fn is_zero(cost: &Nanos) -> bool {
    cost.0 == 0
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

/// Organization of the flash behind the controller of a card, and what leaving its preferred order costs.
///
/// The mechanics are those that Bergmann (flashbench, 2011) and Bouganim, Jónsson and Bonnet (uFLIP, CIDR 2009) observed
/// on real cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Size of a page in bytes, often of several planes together: reads sense and writes program whole pages.
    pub page: Bytes,
    /// Time to sense a page. A read pays it once, unless it continues the last read; and again, less the time of the
    /// bytes before it, if it crosses a page boundary. Further pages are sensed while data is transferred.
    #[serde(default)]
    pub sense: Nanos,
    /// Whether the card gathers consecutive writes that are smaller than a page. Otherwise each of them programs whole
    /// pages.
    #[serde(default)]
    pub gathers_writes: bool,
    /// Size of an allocation unit in bytes: the unit of mapping and of garbage collection.
    pub unit: Bytes,
    /// Cost of opening a unit for writing.
    #[serde(default)]
    pub open: Nanos,
    /// Extra cost of a read for each boundary of units in it.
    #[serde(default)]
    pub unit_crossing: Nanos,
    /// Number of units that can be open for writing. Opening one more closes the one that was written the longest time
    /// ago, whose unwritten rest is copied. At least 1.
    pub open_units: u32,
    /// Number of open units that can be written out of order; 0: a write out of order copies the rest of its unit.
    #[serde(default)]
    pub random_units: u32,
    /// Extra cost of a write out of order in such a unit.
    #[serde(default)]
    pub random_write: Nanos,
    /// Rate of copying the rest of a unit, bytes per second.
    pub collection_rate: u64,
    /// Number of units at the start of the card that are always open, in any order, for the tables of FAT.
    #[serde(default)]
    pub fat_units: u32,
    /// Mapping cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<MappingCache>,
    /// Cost of a discard.
    #[serde(default)]
    pub discard: Nanos,
    /// Whether an open unit that is discarded as a whole closes without copying.
    #[serde(default)]
    pub discard_frees: bool,
}

/// Part of the table from addresses to flash that the controller has at hand: a read elsewhere loads a part of it first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MappingCache {
    /// Bytes of the card that one entry covers.
    pub chunk: Bytes,
    /// Number of entries. The one that was used the longest time ago is replaced. At least 1.
    pub slots: u32,
    /// Cost of loading an entry.
    pub load: Nanos,
}

/// Random deviations of the costs, drawn from the seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Standard deviation of the logarithm of each cost, in thousandths: 30 is about 3%.
    #[serde(default)]
    pub sigma_permille: u32,
    /// Commands of one million that take longer.
    #[serde(default)]
    pub stalls_per_million: u32,
    /// Mean extra time of such a command; exponentially distributed.
    #[serde(default)]
    pub stall_mean: Nanos,
    /// Largest slow deviation of all costs, in thousandths: 150 means a factor from 0.85 to 1.15.
    #[serde(default)]
    pub drift_permille: u32,
    /// Time after which the slow deviation repeats: it is a sine.
    #[serde(default)]
    pub drift_period: Nanos,
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
    /// Idle time after which the card begins to empty it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drain_delay: Nanos,
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
    /// Busy time, minus idle time, below which a throttled card returns to its speed; `None`: `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Nanos>,
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

impl Flash {
    /// Checks the values.
    fn check(&self) -> Result<(), String> {
        let mapping = self.mapping.as_ref();
        let positive = [
            ("flash.page", self.page.0),
            ("flash.unit", self.unit.0),
            ("flash.open_units", u64::from(self.open_units)),
            ("flash.collection_rate", self.collection_rate),
            ("flash.mapping.chunk", mapping.map_or(1, |m| m.chunk.0)),
            (
                "flash.mapping.slots",
                mapping.map_or(1, |m| u64::from(m.slots)),
            ),
        ];
        if let Some((name, _)) = positive.into_iter().find(|&(_, value)| value == 0) {
            return Err(format!("{name} must be greater than 0"));
        }
        if !self.unit.0.is_multiple_of(self.page.0) {
            return Err(format!(
                "flash.unit is {}: it must be a multiple of flash.page ({})",
                self.unit.0, self.page.0
            ));
        }
        Ok(())
    }
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
            write_to_read: Nanos(0),
            read_to_write: Nanos(0),
            flush: Nanos(1_000_000),
            parallel_reads: 1,
            flash: None,
            cache: None,
            stalls: None,
            throttle: None,
            faults: Vec::new(),
            lost_flush: None,
            jitter_permille: 0,
            noise: None,
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
        let noise = self.noise.clone().unwrap_or_default();
        let mapping = self.flash.as_ref().and_then(|flash| flash.mapping.as_ref());
        let limits = [
            ("jitter_permille", u64::from(self.jitter_permille), 1000),
            ("parallel_reads", u64::from(self.parallel_reads), 1024),
            (
                "throttle.percent",
                self.throttle.as_ref().map_or(0, |t| u64::from(t.percent)),
                100_000,
            ),
            (
                "noise.sigma_permille",
                u64::from(noise.sigma_permille),
                2000,
            ),
            ("noise.drift_permille", u64::from(noise.drift_permille), 999),
            (
                "noise.stalls_per_million",
                u64::from(noise.stalls_per_million),
                1_000_000,
            ),
            ("noise.stall_mean", noise.stall_mean.0, LONGEST),
            (
                "flash.unit",
                self.flash.as_ref().map_or(0, |flash| flash.unit.0),
                1 << 30,
            ),
            (
                "flash.mapping.slots",
                mapping.map_or(0, |m| u64::from(m.slots)),
                1 << 16,
            ),
        ];
        let times = self
            .times()
            .into_iter()
            .map(|(name, time)| (name, time.0, LONGEST));
        let mut limits = limits.into_iter().chain(times);
        if let Some((name, value, limit)) = limits.find(|&(_, value, limit)| value > limit) {
            return Err(format!("{name} is {value}: the maximum is {limit}"));
        }
        self.flash.as_ref().map_or(Ok(()), Flash::check)
    }

    /// Returns the costs that are times.
    fn times(&self) -> Vec<(&'static str, Nanos)> {
        let mut times = vec![
            ("read_overhead", self.read_overhead),
            ("write_overhead", self.write_overhead),
            ("read_seek", self.read_seek),
            ("write_seek", self.write_seek),
            ("write_to_read", self.write_to_read),
            ("read_to_write", self.read_to_write),
            ("flush", self.flush),
        ];
        times.extend(
            self.stalls
                .as_ref()
                .map(|stalls| ("stalls.lasts", stalls.lasts)),
        );
        if let Some(flash) = &self.flash {
            times.extend([
                ("flash.sense", flash.sense),
                ("flash.open", flash.open),
                ("flash.unit_crossing", flash.unit_crossing),
                ("flash.random_write", flash.random_write),
                ("flash.discard", flash.discard),
            ]);
            times.extend(
                flash
                    .mapping
                    .as_ref()
                    .map(|m| ("flash.mapping.load", m.load)),
            );
        }
        times
    }

    /// Returns the claimed capacity.
    pub fn announced(&self) -> Bytes {
        self.claimed_capacity.unwrap_or(self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flash() -> Flash {
        Flash {
            page: Bytes(16 << 10),
            sense: Nanos(50_000),
            gathers_writes: false,
            unit: Bytes(4 << 20),
            open: Nanos(0),
            unit_crossing: Nanos(0),
            open_units: 3,
            random_units: 0,
            random_write: Nanos(0),
            collection_rate: 20_000_000,
            fat_units: 0,
            mapping: None,
            discard: Nanos(0),
            discard_frees: false,
        }
    }

    #[test]
    fn values_that_no_card_has_are_refused_by_name() {
        let refused = |change: &dyn Fn(&mut DeviceModel)| {
            let mut model = DeviceModel::plain("card", Bytes(1 << 30));
            model.flash = Some(flash());
            assert_eq!(model.check(), Ok(()));
            change(&mut model);
            model.check().expect_err("an invalid value")
        };
        let name = |text: String| text.split(' ').next().map(str::to_owned);
        for (change, field) in [
            (
                &(|m: &mut DeviceModel| m.parallel_reads = 4_000_000_000)
                    as &dyn Fn(&mut DeviceModel),
                "parallel_reads",
            ),
            (
                &|m| m.noise.get_or_insert_default().sigma_permille = u32::MAX,
                "noise.sigma_permille",
            ),
            (
                &|m| m.noise.get_or_insert_default().drift_permille = 1000,
                "noise.drift_permille",
            ),
            (
                &|m| m.noise.get_or_insert_default().stall_mean = Nanos(u64::MAX),
                "noise.stall_mean",
            ),
            (&|m| m.read_to_write = Nanos(u64::MAX), "read_to_write"),
            (&|m| m.flush = Nanos(u64::MAX), "flush"),
            (
                &|m| m.flash.as_mut().unwrap().unit = Bytes(1 << 32),
                "flash.unit",
            ),
            (
                &|m| m.flash.as_mut().unwrap().unit = Bytes(24 << 10),
                "flash.unit",
            ),
            (
                &|m| m.flash.as_mut().unwrap().open_units = 0,
                "flash.open_units",
            ),
            (
                &|m| m.flash.as_mut().unwrap().open = Nanos(u64::MAX),
                "flash.open",
            ),
        ] {
            assert_eq!(name(refused(change)).as_deref(), Some(field));
        }
    }

    #[test]
    fn fields_with_their_usual_value_are_not_written() {
        let plain = DeviceModel::plain("card", Bytes(1 << 30));
        let text = serde_json::to_string(&plain).unwrap();
        assert!(
            !text.contains("parallel_reads") && !text.contains("flash"),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<DeviceModel>(&text).unwrap(), plain);
    }
}
