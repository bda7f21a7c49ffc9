//! A stored anatomy with its circumstances, the advice that follows from it, and predictions.

use crate::anatomy::{Anatomy, CardFinding, CardProperty, Experiment, PropertyValue, Spent};
use crate::facts::{Environment, Identity};
use crate::job::Op;
use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Version of the JSON format.
pub const FORMAT: u32 = 1;

/// What was examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnatomyScope {
    /// A device, read and written.
    Device,
    /// A device, only read.
    ReadOnly,
    /// A file on a mounted file system.
    File {
        /// Directory of the file.
        folder: PathBuf,
    },
    /// A simulated card, in virtual time.
    Simulated,
}

/// An anatomy as it is stored: appended when its first experiment has ended, and replaced by every later one until the
/// last has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnatomyRecord {
    /// Version of this format.
    pub format: u32,
    /// Unique ID.
    pub id: String,
    /// Version of the program.
    pub version: String,
    /// Begin, in milliseconds since 1970.
    pub started_unix_ms: i64,
    /// Time of the host from the begin to the last experiment, over all parts.
    pub elapsed: Nanos,
    /// The storage.
    pub target: Identity,
    /// The host.
    pub environment: Environment,
    /// What was examined.
    pub scope: AnatomyScope,
    /// Seed of all places.
    pub seed: u64,
    /// What could be spent at most.
    pub budget: Spent,
    /// Whether every experiment has ended.
    pub completed: bool,
    /// The findings.
    pub anatomy: Anatomy,
    /// Measurements of the advice against the default, if there were any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<AdviceTrial>,
}

/// Largest number in an anatomy: 2^60 bytes, ns or requests.
const LARGEST: u64 = 1 << 60;

/// Largest number that a single experiment may have spent: 2^50 bytes, ns or requests.
const MOST_SPENT: u64 = 1 << 50;

impl AnatomyRecord {
    /// Checks that the values are possible, which those of an edited file may not be.
    ///
    /// # Errors
    /// The name of a field and what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let Anatomy {
            capacity,
            findings,
            experiments,
            model,
            resume,
            ..
        } = &self.anatomy;
        if capacity.0 == 0 || capacity.0 > LARGEST {
            return Err(format!("anatomy.capacity is {}", capacity.0));
        }
        if self.elapsed.0 > LARGEST || !is_possible(&self.budget, LARGEST) {
            return Err("elapsed or budget is larger than 2^60".to_owned());
        }
        if experiments.len() > Experiment::ALL.len() {
            return Err(format!("anatomy.experiments has {}", experiments.len()));
        }
        let spent = experiments.iter().map(|record| &record.spent);
        if !spent
            .into_iter()
            .all(|spent| is_possible(spent, MOST_SPENT))
        {
            return Err("anatomy.experiments: spent is larger than 2^50".to_owned());
        }
        let state = resume.as_deref();
        if state.is_some_and(|state| !is_possible(&state.interrupted, MOST_SPENT)) {
            return Err("anatomy.resume.interrupted is larger than 2^50".to_owned());
        }
        let before = state.into_iter().flat_map(|state| &state.findings);
        for (property, finding) in findings.iter().chain(before) {
            let values = match finding {
                CardFinding::Known(known) => [known.value, known.low, known.high],
                CardFinding::Absent { up_to } => [*up_to; 3],
                CardFinding::Unknown(_) => continue,
            };
            if values.iter().any(|value| value.abs() > LARGEST as f64) {
                return Err(format!("anatomy.findings: {property:?} is {finding:?}"));
            }
        }
        match model {
            Some(model) => model.check().map_err(|why| format!("anatomy.model: {why}")),
            None => Ok(()),
        }
    }

    /// Returns whether this is a later state of the same anatomy.
    pub fn is_later_than(&self, other: &AnatomyRecord) -> bool {
        let progress = |of: &AnatomyRecord| (of.completed, of.anatomy.experiments.len());
        progress(self) > progress(other)
    }
}

fn is_possible(spent: &Spent, most: u64) -> bool {
    let Spent {
        time,
        read,
        written,
        copied,
        requests,
    } = spent;
    [time.0, read.0, written.0, copied.0, *requests]
        .iter()
        .all(|value| *value <= most)
}

/// How to use a card, by its anatomy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardAdvice {
    /// Begin partitions at multiples of this.
    PartitionStart {
        /// A multiple of the allocation unit.
        align: Bytes,
    },
    /// Cluster size of vfat or exFAT.
    Cluster {
        /// Size of a cluster.
        size: Bytes,
    },
    /// Area at the start of the card for the tables of FAT.
    FatArea {
        /// Its size.
        size: Bytes,
    },
    /// Options of `mkfs.ext4`.
    Ext4 {
        /// `stride` in blocks of 4 KiB.
        stride: u64,
        /// `stripe-width` in blocks of 4 KiB.
        stripe_width: u64,
        /// Whether the journal should be small or off, because it takes one of few open units.
        small_journal: bool,
    },
    /// Options of `mkfs.f2fs`, and of the mount.
    F2fs {
        /// Segments of 2 MiB in a section (`-s`).
        segments: u64,
        /// `active_logs` of the mount; `None`: the default of 6.
        active_logs: Option<u32>,
    },
    /// Files written at the same time, with the metadata of the file system as one of them.
    Writers {
        /// At most so many.
        most: u64,
    },
    /// Whether to discard.
    Discard {
        /// Whether it frees open units without copying, and is fast.
        worthwhile: bool,
    },
    /// How full to keep the card.
    FillLevel {
        /// Free space that is needed in whole units: one for each unit that can be open. `None` if there is no limit, or
        /// it is unknown.
        free: Option<Bytes>,
        /// Time of a write that has to close a partly used unit instead.
        collection: Option<Nanos>,
        /// The property without which nothing can be told.
        needs: Option<CardProperty>,
    },
    /// Size of bursts, and the rest between them.
    Bursts {
        /// Size of the cache.
        size: Bytes,
        /// Time until an empty cache is available again; `None` if it never became empty.
        rest: Option<Nanos>,
    },
}

/// Measurement of one piece of advice against the default: pairs of the same requests, in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdviceTrial {
    /// The advice.
    pub advice: CardAdvice,
    /// Bytes per second of each round of the default.
    pub usual: Vec<f64>,
    /// Bytes per second of each round of the advice.
    pub advised: Vec<f64>,
    /// Ratio of the rates with its 95% interval: above 1, the advice is faster.
    pub ratio: PropertyValue,
}

/// A quantity that was predicted, with its 95% interval, and measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedFigure {
    /// The prediction.
    pub predicted: PropertyValue,
    /// The measurement, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
}

impl PredictedFigure {
    /// Returns whether the measurement is inside of the interval; `None` without a measurement.
    pub fn holds(&self) -> Option<bool> {
        let range = self.predicted.low..=self.predicted.high;
        self.measured.map(|measured| range.contains(&measured))
    }
}

/// Prediction of one operation of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedPhase {
    /// Name of the phase.
    pub phase: String,
    /// The operation.
    pub op: Op,
    /// The workload in words.
    pub workload: String,
    /// The figures, or the property without which there are none.
    pub outcome: PredictionOutcome,
}

impl PredictedPhase {
    /// Returns whether no figure was measured outside of its interval.
    pub fn holds(&self) -> bool {
        match &self.outcome {
            PredictionOutcome::Needs(_) => true,
            PredictionOutcome::Figures {
                bandwidth,
                iops,
                p50,
                p99,
            } => {
                let mut all = [bandwidth, iops, p50, p99].into_iter();
                all.all(|figure| figure.holds().unwrap_or(true))
            }
        }
    }
}

/// Figures of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PredictionOutcome {
    /// The workload depends on a property that is unknown.
    Needs(CardProperty),
    /// The figures.
    Figures {
        /// Bytes per second.
        bandwidth: PredictedFigure,
        /// Completions per second.
        iops: PredictedFigure,
        /// Median latency in ns.
        p50: PredictedFigure,
        /// 99th percentile of the latency in ns.
        p99: PredictedFigure,
    },
}
