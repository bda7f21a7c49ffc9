//! History of one card: every run, verification and anatomy of one identity over time, and signs of wear.

use crate::finding::{Comparison, WorkloadShape};
use crate::job::Op;
use crate::units::Bytes;
use serde::{Deserialize, Serialize};

/// Everything stored about one card, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CardHistory {
    /// Newest name of the card.
    pub name: String,
    /// Unique IDs of the device: CID, serial number, world-wide name; empty if it has none.
    pub ids: Vec<String>,
    /// Runs that count.
    pub runs: u32,
    /// Series of runs.
    pub series: u32,
    /// Verifications, oldest first.
    pub verifications: Vec<VerifiedPoint>,
    /// Anatomies, oldest first.
    #[serde(default)]
    pub anatomies: Vec<AnatomyPoint>,
    /// Rates of each workload over time.
    pub trends: Vec<Trend>,
    /// Signs of wear or failure.
    pub signs: Vec<WearSign>,
    /// The conclusion.
    pub outlook: Outlook,
    /// What would prove more.
    pub missing: Vec<MissingProof>,
    /// Why points over time may not be comparable.
    pub caveats: Vec<HistoryCaveat>,
}

/// A verification in a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerifiedPoint {
    /// ID of the verification.
    pub id: String,
    /// Start time in milliseconds since 1970 UTC.
    pub at_unix_ms: i64,
    /// Checked bytes.
    pub checked: Bytes,
    /// Bad bytes.
    pub bad: Bytes,
    /// Whether the capacity is as claimed and no byte was bad.
    pub good: bool,
}

/// An anatomy in a history, with the figures that wear changes. `None` if a figure cannot be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnatomyPoint {
    /// ID of the anatomy.
    pub id: String,
    /// Start time in milliseconds since 1970 UTC.
    pub at_unix_ms: i64,
    /// Whether every experiment has ended.
    pub completed: bool,
    /// Size of an allocation unit.
    pub unit: Option<Bytes>,
    /// Number of units that can be open for writing.
    pub open_units: Option<u64>,
    /// Read rate in bytes per second.
    pub read_rate: Option<f64>,
    /// Write rate without the cache, in bytes per second.
    pub write_rate: Option<f64>,
}

/// The rate of one workload through one layer on one host over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Name of the phase.
    pub phase: String,
    /// The operation.
    pub op: Op,
    /// Shape of the workload in its oldest series; `None` if unknown.
    #[serde(default)]
    pub shape: Option<WorkloadShape>,
    /// Layer.
    pub layer: String,
    /// Host name.
    pub host: String,
    /// Unit of the rate: `B/s` or `1/s`.
    pub unit: String,
    /// One point per series, oldest first.
    pub points: Vec<TrendPoint>,
    /// The earlier half of the series (`a`) and the later half (`b`), one value per series; a middle one is left out.
    /// All trends are one family. `None` for fewer than [`Trend::FEWEST`] series.
    pub comparison: Option<Comparison>,
}

impl Trend {
    /// Minimum number of series for a trend: two in each half.
    pub const FEWEST: usize = 4;
}

/// One series in a trend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrendPoint {
    /// ID of the series.
    pub series: String,
    /// Start time in milliseconds since 1970 UTC.
    pub at_unix_ms: i64,
    /// Mean rate over its runs.
    pub mean: f64,
    /// 95% interval of the mean; `None` for a single run.
    #[serde(default)]
    pub ci95: Option<(f64, f64)>,
    /// Runs.
    pub runs: u32,
    /// Used share of the file system in percent; `None` for a raw device.
    pub used_percent: Option<u32>,
}

/// A sign of wear or failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "sign")]
pub enum WearSign {
    /// Data was not read back as written.
    BadBlocks {
        /// Time of the newest verification with bad bytes.
        at_unix_ms: i64,
        /// Its bad bytes.
        bytes: Bytes,
    },
    /// I/Os failed during runs.
    IoErrors {
        /// Failed I/Os of all runs.
        count: u64,
    },
    /// Reserve blocks of an eMMC are nearly used up.
    Reserve {
        /// State as the device reports it.
        state: String,
    },
    /// Life used, as the device reports it.
    LifeUsed {
        /// Percent; may exceed 100.
        percent: u64,
    },
    /// A count of defects in the SMART data is not 0.
    Defects {
        /// The count.
        kind: DefectKind,
        /// First known value.
        first: u64,
        /// Newest value.
        last: u64,
    },
    /// A warning in the SMART data.
    Warning {
        /// The warning.
        text: String,
    },
    /// Writes became slower.
    SlowerWrites {
        /// Index of the trend.
        trend: u32,
    },
    /// Commands were retried more often, which a test on their counts proves.
    MoreRetries {
        /// Retries per million commands in the first traced series of the host.
        first: f64,
        /// The same in the newest.
        last: f64,
    },
}

/// Count of defects in SMART data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefectKind {
    /// Media errors that could not be corrected.
    MediaErrors,
    /// Reallocated sectors.
    Reallocated,
    /// Sectors pending reallocation.
    Pending,
}

/// Conclusion on the state of a card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// It loses or refuses data, or reports that it is about to.
    Failing,
    /// Signs of wear, without loss of data.
    Wearing,
    /// Enough is known, and there is no sign of wear.
    NoSign,
    /// Too little is known.
    #[default]
    Unknown,
}

/// Evidence that would prove more about a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "proof")]
pub enum MissingProof {
    /// More series of writes with the same settings on the same host.
    Series {
        /// Most series of one workload that writes.
        have: u32,
        /// Series needed for a trend.
        needed: u32,
    },
    /// More series than are stored: those do not exclude that writes became slower by more than 5%.
    MoreSeries {
        /// Fewest series of such a workload.
        have: u32,
    },
    /// A verification.
    Verification,
    /// Wear data, which the device or its reader does not report.
    WearData,
    /// Series of one host with a traced run whose commands were recorded, to see whether retries increase.
    Retries {
        /// Most such series of one host.
        have: u32,
    },
}

/// Reason why points of a history may not be comparable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "caveat")]
pub enum HistoryCaveat {
    /// The device has no unique ID: runs are joined by their label.
    ByLabel,
    /// Several hosts: each has its own trends.
    Hosts {
        /// Their names.
        names: Vec<String>,
    },
    /// Several kernels: a change of speed may be that of the kernel.
    Kernels {
        /// Their names.
        names: Vec<String>,
    },
    /// The file system was filled to different levels.
    FillLevels {
        /// Lowest, in percent.
        low: u32,
        /// Highest, in percent.
        high: u32,
    },
    /// Series on one day are not independent.
    SameDay {
        /// Number of series on the day with the most.
        series: u32,
    },
}
