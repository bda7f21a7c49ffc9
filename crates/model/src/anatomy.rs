//! Anatomy of a card: what timing found out about its pages, units, caches and costs.
//!
//! Every finding is a value with an interval, or the reason why the value is unknown.

use crate::anatomy_resume::AnatomyResume;
use crate::device_model::DeviceModel;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the JSON format.
pub const FORMAT: u32 = 1;

/// A property of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardProperty {
    /// Size of a page in bytes.
    Page,
    /// Size of an allocation unit in bytes.
    Unit,
    /// Number of units that can be open for writing.
    OpenUnits,
    /// Number of open units that can be written out of order.
    RandomUnits,
    /// Number of units at the start of the card that are always open.
    FatUnits,
    /// Whether the card gathers consecutive writes that are smaller than a page.
    GathersWrites,
    /// Whether a discarded unit closes without copying.
    DiscardFrees,
    /// Number of reads that the card executes at a time, on this host.
    ParallelReads,
    /// Bytes that one entry of the mapping cache covers.
    MappingChunk,
    /// Number of entries of the mapping cache.
    MappingSlots,
    /// Size of the write cache in bytes.
    CacheSize,
    /// Fixed time of a read, including the path through the host.
    ReadOverhead,
    /// Extra time of a read that does not continue the last one, beyond sensing a page.
    ReadSeek,
    /// Time to sense a page.
    Sense,
    /// Read rate in bytes per second.
    ReadRate,
    /// Extra time of a read across a boundary of units.
    UnitCrossing,
    /// Time to load an entry of the mapping cache.
    MappingLoad,
    /// Fixed time of a write, including the path through the host.
    WriteOverhead,
    /// Extra time of a write that does not continue the last one.
    WriteSeek,
    /// Write rate without the cache, in bytes per second.
    WriteRate,
    /// Write rate into the cache, in bytes per second.
    CacheRate,
    /// Rate at which the idle card empties its cache, in bytes per second.
    DrainRate,
    /// Idle time after which the card begins to empty its cache.
    DrainDelay,
    /// Time to open a unit.
    OpenCost,
    /// Time to collect a unit of which one page was written.
    CollectionTime,
    /// Rate of copying while a unit is collected, in bytes per second.
    CollectionRate,
    /// Extra time of a write out of order in a unit that allows it.
    RandomWrite,
    /// Extra time of a read after a write.
    WriteToRead,
    /// Extra time of a write after a read.
    ReadToWrite,
    /// Time of a flush after a write.
    Flush,
    /// Time of a discard of one unit.
    Discard,
    /// Busy time after which the card throttles.
    ThrottleAfter,
    /// Time of a throttled request in percent of its usual time.
    ThrottlePercent,
    /// Idle time after which a card that has just begun to throttle returns to its speed.
    ThrottleRecovery,
}

/// Unit of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PropertyUnit {
    /// Bytes.
    Bytes,
    /// A number of things.
    Count,
    /// 0 for no, 1 for yes.
    Flag,
    /// Bytes per second.
    Rate,
    /// Nanoseconds.
    Time,
    /// Percent.
    Percent,
}

impl CardProperty {
    /// All properties, in the order of a report.
    pub const ALL: [CardProperty; 34] = [
        CardProperty::Page,
        CardProperty::Unit,
        CardProperty::OpenUnits,
        CardProperty::RandomUnits,
        CardProperty::FatUnits,
        CardProperty::GathersWrites,
        CardProperty::DiscardFrees,
        CardProperty::ParallelReads,
        CardProperty::MappingChunk,
        CardProperty::MappingSlots,
        CardProperty::CacheSize,
        CardProperty::ReadOverhead,
        CardProperty::ReadSeek,
        CardProperty::Sense,
        CardProperty::ReadRate,
        CardProperty::UnitCrossing,
        CardProperty::MappingLoad,
        CardProperty::WriteOverhead,
        CardProperty::WriteSeek,
        CardProperty::WriteRate,
        CardProperty::CacheRate,
        CardProperty::DrainRate,
        CardProperty::DrainDelay,
        CardProperty::OpenCost,
        CardProperty::CollectionTime,
        CardProperty::CollectionRate,
        CardProperty::RandomWrite,
        CardProperty::WriteToRead,
        CardProperty::ReadToWrite,
        CardProperty::Flush,
        CardProperty::Discard,
        CardProperty::ThrottleAfter,
        CardProperty::ThrottlePercent,
        CardProperty::ThrottleRecovery,
    ];

    /// Returns the unit of the values.
    pub fn unit(self) -> PropertyUnit {
        match self {
            CardProperty::Page
            | CardProperty::Unit
            | CardProperty::MappingChunk
            | CardProperty::CacheSize => PropertyUnit::Bytes,
            CardProperty::OpenUnits
            | CardProperty::RandomUnits
            | CardProperty::FatUnits
            | CardProperty::ParallelReads
            | CardProperty::MappingSlots => PropertyUnit::Count,
            CardProperty::GathersWrites | CardProperty::DiscardFrees => PropertyUnit::Flag,
            CardProperty::ReadRate
            | CardProperty::WriteRate
            | CardProperty::CacheRate
            | CardProperty::DrainRate
            | CardProperty::CollectionRate => PropertyUnit::Rate,
            CardProperty::ThrottlePercent => PropertyUnit::Percent,
            _ => PropertyUnit::Time,
        }
    }

    /// Returns whether the value is one of a list, such as a power of two, or a count, and therefore exact.
    pub fn is_exact(self) -> bool {
        let exact = matches!(
            self.unit(),
            PropertyUnit::Bytes | PropertyUnit::Count | PropertyUnit::Flag
        );
        exact && self != CardProperty::CacheSize
    }

    /// Returns whether writes are needed to find it.
    pub fn needs_writes(self) -> bool {
        !matches!(
            self,
            CardProperty::Page
                | CardProperty::Unit
                | CardProperty::ParallelReads
                | CardProperty::MappingChunk
                | CardProperty::MappingSlots
                | CardProperty::ReadOverhead
                | CardProperty::ReadSeek
                | CardProperty::Sense
                | CardProperty::ReadRate
                | CardProperty::UnitCrossing
                | CardProperty::MappingLoad
                | CardProperty::ThrottleAfter
                | CardProperty::ThrottlePercent
                | CardProperty::ThrottleRecovery
        )
    }
}

/// A value in the unit of its property, with its 99% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PropertyValue {
    /// Best estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl PropertyValue {
    /// Returns an estimate without an interval: a size or count that was decided.
    pub fn exact(value: f64) -> PropertyValue {
        PropertyValue {
            value,
            low: value,
            high: value,
        }
    }

    /// Returns half of the width of the interval, as a fraction of the value.
    pub fn relative_error(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.value.abs().max(f64::MIN_POSITIVE)
    }
}

/// What was found out about a property.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardFinding {
    /// The value is known.
    Known(PropertyValue),
    /// The card shows no such part, limit or cost up to the value, in the unit of the property.
    Absent {
        /// Largest value that was excluded, or up to which no limit was seen.
        up_to: f64,
    },
    /// The value cannot be told.
    Unknown(DeclineReason),
}

impl CardFinding {
    /// Returns a finding of a size or count.
    pub fn exact(value: u64) -> CardFinding {
        CardFinding::Known(PropertyValue::exact(value as f64))
    }

    /// Returns an estimate for a model: the value, a rough one, or 0 for what is absent.
    pub fn rough(&self) -> Option<PropertyValue> {
        match *self {
            CardFinding::Known(value) => Some(value),
            CardFinding::Absent { up_to } => Some(PropertyValue {
                value: 0.0,
                low: 0.0,
                high: up_to / 2.0,
            }),
            CardFinding::Unknown(DeclineReason::Noisy {
                value,
                relative_error,
            }) if value > 0.0 && relative_error < 1.0 => Some(PropertyValue {
                value,
                low: value * (1.0 - relative_error),
                high: value * (1.0 + relative_error),
            }),
            CardFinding::Unknown(_) => None,
        }
    }

    /// Returns the estimate, if the value is known.
    pub fn known(&self) -> Option<PropertyValue> {
        match self {
            CardFinding::Known(estimate) => Some(*estimate),
            CardFinding::Absent { .. } | CardFinding::Unknown(_) => None,
        }
    }
}

/// Why the value of a property is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclineReason {
    /// The experiment did not run, or was interrupted.
    NotMeasured,
    /// It needs writes, which were not permitted.
    ReadOnly,
    /// The device does not support the command.
    Unsupported,
    /// The interval is too wide.
    Noisy {
        /// Rough estimate, in the unit of the property.
        value: f64,
        /// Half of the width of the interval, as a fraction of the value.
        relative_error: f64,
    },
    /// The host or the device was busy: a fraction of the requests took more than three times the median.
    Busy {
        /// This fraction.
        slow: f64,
    },
    /// The speed of the device wandered.
    Drift {
        /// Half of the range of the reference measurements, as a fraction.
        spread: f64,
    },
    /// The device fits no model of this kind: the fitted one does not explain a fraction of the requests.
    NoModel {
        /// This fraction, in the experiment where it is largest.
        share: f64,
    },
    /// The device throttled, and had to rest for too long.
    Heat,
    /// Two candidates explain the measurements almost equally well.
    Ambiguous,
    /// Two experiments disagree.
    Contradiction,
    /// The limit is not sharp.
    SoftLimit {
        /// Largest number without any sign of the limit.
        low: f64,
        /// Smallest number beyond the limit.
        high: f64,
    },
    /// It cannot be told without another property that is unknown or absent.
    Needs(CardProperty),
    /// The budget of written bytes or of time does not suffice.
    Budget,
    /// The target is too small.
    TooSmall,
}

/// A group of measurements that answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// Noise of small reads.
    Noise,
    /// Latency of reads by size.
    ReadSizes,
    /// Reads across boundaries of all sizes.
    Boundaries,
    /// Random reads of more and more places.
    Mapping,
    /// Reads at more and more queue depths.
    Depth,
    /// Reads for minutes, then rest.
    Heat,
    /// A long sequential write.
    LongWrite,
    /// Latency of writes by size.
    WriteSizes,
    /// Writes to more and more units.
    OpenUnits,
    /// Writes out of order in open units.
    RandomUnits,
    /// Writes to the first units of the card.
    FatArea,
    /// Writes after discards.
    Discard,
    /// Reads and writes in turn, and flushes.
    Mixing,
    /// Writes after idle times.
    Recovery,
}

impl Experiment {
    /// All experiments, in the order in which they run.
    pub const ALL: [Experiment; 14] = [
        Experiment::Noise,
        Experiment::ReadSizes,
        Experiment::Boundaries,
        Experiment::Mapping,
        Experiment::Depth,
        Experiment::Heat,
        Experiment::LongWrite,
        Experiment::WriteSizes,
        Experiment::OpenUnits,
        Experiment::RandomUnits,
        Experiment::FatArea,
        Experiment::Discard,
        Experiment::Mixing,
        Experiment::Recovery,
    ];

    /// Returns whether it writes.
    pub fn writes(self) -> bool {
        self > Experiment::Heat
    }
}

/// What was or may be spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Time on the device, including rests.
    pub time: Nanos,
    /// Bytes read.
    pub read: Bytes,
    /// Bytes written.
    pub written: Bytes,
    /// Bytes that the card copied inside, as far as its collections show.
    pub copied: Bytes,
    /// Number of requests.
    pub requests: u64,
}

impl Spent {
    /// Returns what was spent since an earlier state.
    #[must_use]
    pub fn since(&self, before: &Spent) -> Spent {
        Spent {
            time: Nanos(self.time.0.saturating_sub(before.time.0)),
            read: Bytes(self.read.0.saturating_sub(before.read.0)),
            written: Bytes(self.written.0.saturating_sub(before.written.0)),
            copied: Bytes(self.copied.0.saturating_sub(before.copied.0)),
            requests: self.requests.saturating_sub(before.requests),
        }
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(&self, more: &Spent) -> Spent {
        Spent {
            time: Nanos(self.time.0.saturating_add(more.time.0)),
            read: Bytes(self.read.0.saturating_add(more.read.0)),
            written: Bytes(self.written.0.saturating_add(more.written.0)),
            copied: Bytes(self.copied.0.saturating_add(more.copied.0)),
            requests: self.requests.saturating_add(more.requests),
        }
    }
}

/// An experiment that has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentRecord {
    /// Which one.
    pub experiment: Experiment,
    /// What it cost.
    pub spent: Spent,
    /// How many times it was repeated because the device throttled meanwhile.
    pub repeats: u32,
}

/// Noise of the device and the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseLevel {
    /// Median latency of small reads at one place.
    #[serde(default)]
    pub latency: Nanos,
    /// Standard deviation of the logarithm of the latency of small reads.
    pub sigma: f64,
    /// Fraction of small reads that took more than three times the median.
    pub slow: f64,
    /// Half of the range of the reference measurements, as a fraction of their median. The host has a part in it.
    pub drift: f64,
    /// The same of the time of the bytes of large reads, in which the host has no part.
    #[serde(default)]
    pub transfer_drift: f64,
    /// Small reads in which stalls were counted.
    pub reads: u64,
    /// Stalls among them: reads that took more than 12 ms and four times the median.
    pub stalls: u64,
    /// Total extra time of these stalls.
    pub stall_time: Nanos,
}

/// Points of the measurements behind a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The experiment.
    pub experiment: Experiment,
    /// Pairs of a size, number or time, and a latency in ns.
    pub points: Vec<(f64, f64)>,
}

/// Anatomy of a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anatomy {
    /// Version of this format.
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Name of the device.
    pub name: String,
    /// Its ID, for resuming; empty for a simulated card.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub device_id: String,
    /// Begin, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// Size of the device or file.
    pub capacity: Bytes,
    /// Whether only reads were permitted.
    pub read_only: bool,
    /// Noise.
    #[serde(default)]
    pub noise: NoiseLevel,
    /// Findings; a property that is not listed was not measured.
    pub findings: BTreeMap<CardProperty, CardFinding>,
    /// Experiments that have run.
    pub experiments: Vec<ExperimentRecord>,
    /// Measurements behind the findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// Device model with these values, for `--simulate`; `None` if too little is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<DeviceModel>,
    /// What the missing experiments need; `None` after the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume: Option<Box<AnatomyResume>>,
}

impl Anatomy {
    /// Returns an anatomy without findings.
    pub fn new(name: &str, capacity: Bytes, read_only: bool) -> Anatomy {
        Anatomy {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            name: name.to_owned(),
            device_id: String::new(),
            started_unix_ms: 0,
            capacity,
            read_only,
            noise: NoiseLevel::default(),
            findings: BTreeMap::new(),
            experiments: Vec::new(),
            evidence: Vec::new(),
            model: None,
            resume: None,
        }
    }

    /// Returns the finding about a property.
    pub fn finding(&self, property: CardProperty) -> CardFinding {
        let unknown = match self.read_only && property.needs_writes() {
            true => DeclineReason::ReadOnly,
            false => DeclineReason::NotMeasured,
        };
        self.findings
            .get(&property)
            .copied()
            .unwrap_or(CardFinding::Unknown(unknown))
    }

    /// Returns the value of a property, if it is known.
    pub fn value(&self, property: CardProperty) -> Option<f64> {
        self.finding(property).known().map(|known| known.value)
    }

    /// Returns the value of a size or count, if it is known.
    pub fn size(&self, property: CardProperty) -> Option<u64> {
        self.value(property).map(|value| value as u64)
    }

    /// Returns whether an experiment has run.
    pub fn has_run(&self, experiment: Experiment) -> bool {
        let mut records = self.experiments.iter();
        records.any(|record| record.experiment == experiment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trips_and_keeps_its_shape() {
        let mut anatomy = Anatomy::new("card", Bytes(8 << 30), false);
        let rate = PropertyValue {
            value: 20e6,
            low: 19.8e6,
            high: 20.2e6,
        };
        anatomy.findings = BTreeMap::from([
            (CardProperty::Page, CardFinding::exact(16384)),
            (CardProperty::WriteRate, CardFinding::Known(rate)),
            (CardProperty::CacheSize, CardFinding::Absent { up_to: 1e9 }),
            (
                CardProperty::OpenCost,
                CardFinding::Unknown(DeclineReason::Noisy {
                    value: 7.0,
                    relative_error: 0.2,
                }),
            ),
        ]);
        let json = serde_json::to_value(&anatomy).unwrap();
        let findings = &json["findings"];
        assert_eq!(findings["page"]["known"]["value"], 16384.0);
        assert_eq!(findings["cache_size"]["absent"]["up_to"], 1e9);
        let noisy = &findings["open_cost"]["unknown"]["noisy"];
        assert_eq!(noisy["relative_error"], 0.2);
        assert_eq!(serde_json::from_value::<Anatomy>(json).unwrap(), anatomy);
        assert!((rate.relative_error() - 0.01).abs() < 1e-9);
    }

    #[test]
    fn unmeasured_findings_say_why() {
        let anatomy = Anatomy::new("card", Bytes(8 << 30), true);
        let of = |property| anatomy.finding(property);
        assert_eq!(
            of(CardProperty::Flush),
            CardFinding::Unknown(DeclineReason::ReadOnly)
        );
        assert_eq!(
            of(CardProperty::Page),
            CardFinding::Unknown(DeclineReason::NotMeasured)
        );
    }

    #[test]
    fn experiments_that_ran_are_known() {
        let mut anatomy = Anatomy::new("card", Bytes(8 << 30), false);
        assert!(!anatomy.has_run(Experiment::Noise));
        anatomy.experiments.push(ExperimentRecord {
            experiment: Experiment::Noise,
            spent: Spent::default(),
            repeats: 0,
        });
        assert!(anatomy.has_run(Experiment::Noise));
        assert!(!anatomy.has_run(Experiment::Heat));
    }

    #[test]
    fn all_lists_every_property_once_in_order() {
        assert!(CardProperty::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(Experiment::ALL.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
