//! Findings about the path of I/Os: typed values, computed from [`IoPath`](super::IoPath)s, without sentences.

use super::{IoClass, TimePart};
use crate::claim::Bottleneck;
use crate::finding::Estimate;
use crate::job::Op;
use crate::units::{Bytes, BytesPerSec};
use serde::{Deserialize, Serialize};

/// What the traced part of one phase on one disk shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathFindings {
    /// Bytes and requests by operation of the application, for the operations that it used.
    pub traffic: Vec<PathTraffic>,
    /// Cache flushes per operation of the application of any kind; 0 if there were none.
    pub flushes_per_io: f64,
    /// Where the time of each kind of operation went, as fractions of its latency.
    pub shares: Vec<TimeShares>,
    /// Share of the traced time in which the device had at least one request.
    pub device_share: f64,
    /// Share of the traced time in which the device had none: it waited for the host.
    pub host_share: f64,
    /// What limits the speed.
    pub limit: PathLimit,
    /// Whether so many events were lost that figures are incomplete ([`IoPath::LOSS_LIMIT`](super::IoPath::LOSS_LIMIT)).
    pub incomplete: bool,
}

/// I/Os of the application in one direction, and the requests that they became.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathTraffic {
    /// The direction.
    pub op: Op,
    /// I/Os of the application.
    pub ios: u64,
    /// Bytes of the application.
    pub asked: Bytes,
    /// Requests on the device, of all classes.
    pub requests: u64,
    /// Bytes on the device, of all classes.
    pub moved: Bytes,
    /// I/O amplification: bytes on the device per byte of the application, without those queued before the window; `None`
    /// if the application moved none.
    pub amplification: Option<f64>,
    /// Requests per I/O of the application, without those queued before the window; `None` if it made none.
    pub requests_per_io: Option<f64>,
    /// The same by class, in the order of [`IoClass::ALL`].
    pub classes: Vec<ClassAmplification>,
}

/// Share of one class in the traffic of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassAmplification {
    /// The class.
    pub class: IoClass,
    /// Bytes on the device.
    pub bytes: Bytes,
    /// Bytes on the device per byte of the application; `None` if the application moved none.
    pub amplification: Option<f64>,
    /// Requests per I/O of the application; `None` if it made none.
    pub requests_per_io: Option<f64>,
}

/// Parts of the mean latency of one kind of operation as fractions of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeShares {
    /// The operation; `None` for `fsync` and similar calls.
    pub op: Option<Op>,
    /// Whether each operation includes the `fsync` that followed it.
    pub with_sync: bool,
    /// Number of operations.
    pub count: u64,
    /// Fractions, in the order of [`TimePart::ALL`].
    pub shares: [f64; 8],
    /// The largest part.
    pub largest: TimePart,
}

/// What limits the speed of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathLimit {
    /// The device had work for at least 90% of the time.
    Device,
    /// The device had no work for at least half of the time.
    Host,
    /// Neither: each waits for the other, as with one I/O at a time.
    Both,
}

/// Why one layer or run takes longer than another: a sum of differences of times for each kind of operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathComparison {
    /// Differences by kind of operation. An operation that each side has with its `fsync` appears only so.
    pub operations: Vec<OperationDifference>,
    /// The ratio of times as a product, to check the sums with; `None` if a side moved no bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<PathIdentity>,
}

/// Difference of the mean latency of one kind of operation, and its parts. All times are nanoseconds per operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationDifference {
    /// The operation; `None` for `fsync` and similar calls.
    pub op: Option<Op>,
    /// Whether each operation includes the `fsync` that followed it.
    pub with_sync: bool,
    /// Mean latency of the side compared with.
    pub base: f64,
    /// Mean latency of the other side.
    pub other: f64,
    /// `other - base`. The parts add up to it.
    pub total: TimeDifference,
    /// The parts that are not 0 on both sides, largest absolute difference first.
    pub parts: Vec<PartDifference>,
    /// Whether shares of the difference may be printed: not if parts have both signs and their absolute sum exceeds 1.5
    /// times the difference.
    pub shares_allowed: bool,
    /// Requests, bytes on the device and flushes per operation of this kind, of both sides.
    pub base_load: OperationLoad,
    /// The same of the other side.
    pub other_load: OperationLoad,
    /// The difference on the device by its price model, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceSplit>,
}

/// Difference of a time per operation, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeDifference {
    /// The difference of the means.
    pub value: f64,
    /// Its 95% interval (Welch), if each side has at least two traced runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<(f64, f64)>,
}

/// One part of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartDifference {
    /// The part.
    pub part: DifferencePart,
    /// Its mean time on the side compared with.
    pub base: f64,
    /// Its mean time on the other side.
    pub other: f64,
    /// Its difference: `other - base`.
    pub time: TimeDifference,
}

/// Part of a difference of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferencePart {
    /// Requests of a class on the device.
    Device(IoClass),
    /// Waiting in the queue while the device served somebody else's request of a class.
    Behind(IoClass),
    /// Any other part of the time of an operation.
    Time(TimePart),
}

/// What one operation of the application put on the device, in the mean over a traced phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationLoad {
    /// Requests without flushes.
    pub requests: f64,
    /// Bytes.
    pub bytes: f64,
    /// Runs of requests with consecutive addresses: each but the first begins with a jump.
    pub jumps: f64,
    /// Cache flushes.
    pub flushes: f64,
}

/// The difference of device time by causes, in nanoseconds per operation. The four add up to it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceSplit {
    /// More requests, or fewer.
    pub requests: f64,
    /// More bytes, or fewer.
    pub bytes: f64,
    /// More jumps, or fewer.
    pub jumps: f64,
    /// What the prices do not explain.
    pub remainder: f64,
    /// Traced runs on the raw device that the prices were fitted to.
    pub runs: u32,
    /// Largest relative error of the prices over these runs.
    pub misfit: f64,
}

impl DeviceSplit {
    /// Returns the difference of device time, in nanoseconds per operation.
    pub fn total(&self) -> f64 {
        self.requests + self.bytes + self.jumps + self.remainder
    }

    /// Whether the four may be given as shares of their sum: what the prices do not explain must be at most 10% of it,
    /// and parts of both signs must not cancel out.
    pub fn shares_allowed(&self) -> bool {
        let parts = [self.requests, self.bytes, self.jumps, self.remainder];
        let explained = self.remainder.abs() <= 0.1 * self.total().abs();
        explained && shares_allowed(self.total(), parts)
    }
}

/// Whether parts may be given as shares of their sum: not if they have both signs and their absolute sum exceeds 1.5
/// times the sum.
pub fn shares_allowed(sum: f64, parts: impl IntoIterator<Item = f64>) -> bool {
    let (mut absolute, mut more, mut less) = (0.0, false, false);
    for part in parts {
        absolute += part.abs();
        more |= part > 0.0;
        less |= part < 0.0;
    }
    sum != 0.0 && !(more && less && absolute > 1.5 * sum.abs())
}

/// The ratio of two layers' times as a product of four ratios: `time = bytes × time_per_byte × flush × waiting`.
///
/// With W bytes asked, B bytes moved, D device busy without a flush alone, F flush alone and T traced time, each side has
/// T/W = (B/W) × (D/B) × ((D+F)/D) × (T/(D+F)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathIdentity {
    /// Ratio of T/W.
    pub time: f64,
    /// Ratio of B/W.
    pub bytes: f64,
    /// Ratio of D/B.
    pub time_per_byte: f64,
    /// Ratio of (D+F)/D.
    pub flush: f64,
    /// Ratio of T/(D+F).
    pub waiting: f64,
}

impl PathIdentity {
    /// Returns the product of the four ratios.
    pub fn product(&self) -> f64 {
        self.bytes * self.time_per_byte * self.flush * self.waiting
    }
}

/// Difference of the traced I/Os of one phase on one disk from those of another series or layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathDifference {
    /// Name of the phase.
    pub phase: String,
    /// Kernel name of the disk of this side.
    pub disk: String,
    /// ID of the series compared with.
    pub base: String,
    /// Number of traced runs of the side compared with, and of this one.
    pub runs: (u32, u32),
    /// The comparison, or why there is none.
    pub outcome: Result<PathComparison, PathRefusal>,
    /// Why the difference on the device is not divided by prices, for each direction in which the raw device was traced.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_prices: Vec<(Op, PriceRefusal)>,
}

/// Traced runs of one phase on one disk: which of them pictures show, and the figures of all of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracedSeries {
    /// Name of the phase.
    pub phase: String,
    /// Kernel name of the disk.
    pub disk: String,
    /// The runs, as indexes into [`Summary::paths`](crate::finding::Summary::paths).
    pub runs: Vec<u32>,
    /// The run whose mean latency is nearest to the median of the runs, as an index into `runs`. Pictures show this run.
    pub shown: u32,
    /// What limits the speed: the device or the host only if the interval of the device's share of the time proves it.
    pub limit: PathLimit,
    /// How much of the bus the requests use; `None` if its maximum is unknown.
    #[serde(default)]
    pub bus: Option<BusUse>,
    /// Figures with one value for each run; those without a value in some run are left out.
    pub figures: Vec<(PathFigure, Estimate)>,
}

/// Speed of traced requests against the maximum of the bus between host and device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BusUse {
    /// Bytes per second over the traced time; mean of the runs.
    pub speed: BytesPerSec,
    /// Maximum of the bus.
    pub ceiling: BytesPerSec,
    /// Whether the bus is the limit.
    pub limit: Bottleneck,
}

/// Figure of a traced phase that is estimated over several traced runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "figure")]
pub enum PathFigure {
    /// Requests on the device per I/O of the application.
    RequestsPerIo {
        /// The direction.
        op: Op,
    },
    /// Bytes on the device per byte of the application.
    Amplification {
        /// The direction.
        op: Op,
    },
    /// Cache flushes per I/O of the application.
    FlushesPerIo,
    /// Share of the time in which the device had work.
    DeviceShare,
    /// Mean latency of an operation in nanoseconds.
    Latency {
        /// The operation; `None` for `fsync` and similar calls.
        op: Option<Op>,
        /// Whether it includes the `fsync` that followed.
        with_sync: bool,
    },
    /// Mean time of an operation in one part, in nanoseconds.
    Part {
        /// The operation; `None` for `fsync` and similar calls.
        op: Option<Op>,
        /// Whether it includes the `fsync` that followed.
        with_sync: bool,
        /// The part.
        part: TimePart,
    },
}

/// Why two sides cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathRefusal {
    /// Neither side was traced.
    NotTraced,
    /// Only one side was traced; tracing costs time.
    OneSideTraced,
    /// Over 0.1% of the events of a side were lost.
    EventsLost,
    /// No kind of operation occurs on both sides.
    NoCommonOperation,
    /// The traced runs differ from the measured runs of the sides: their parts do not explain the measured ratio.
    NotRepresentative {
        /// Ratio of the times per byte of the traced runs, this side to the side compared with.
        traced: f64,
        /// The same ratio of the measured runs.
        measured: f64,
    },
}

/// Prices of a device in one direction, fitted to traced runs on the raw device.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PriceModel {
    /// The direction.
    pub op: Op,
    /// Nanoseconds per request.
    pub request: f64,
    /// Nanoseconds per byte.
    pub byte: f64,
    /// Nanoseconds per jump to another address.
    pub jump: f64,
    /// Raw runs that it was fitted to.
    pub runs: u32,
    /// Largest relative error over these runs.
    pub misfit: f64,
}

impl PriceModel {
    /// Misfit above which a model is refused.
    pub const MISFIT_LIMIT: f64 = 0.05;
}

/// Why a device has no price model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriceRefusal {
    /// Fewer traced raw runs than needed for three prices and a check.
    TooFewRuns {
        /// Usable runs.
        runs: u32,
        /// Runs needed.
        needed: u32,
    },
    /// The runs are so alike in requests, bytes and jumps that their prices cannot be told apart.
    Indistinct,
    /// The model misses a run by more than [`PriceModel::MISFIT_LIMIT`].
    Misfit {
        /// The largest relative error.
        misfit: f64,
    },
}
