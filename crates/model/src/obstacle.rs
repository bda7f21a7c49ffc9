//! Obstacles: why something that was requested did not happen, as values.

use serde::{Deserialize, Serialize};

/// An obstacle as a value, or as the text of an older record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reason<T> {
    /// The value.
    Value(T),
    /// Text in an older record.
    Text(String),
}

impl<T> From<T> for Reason<T> {
    fn from(value: T) -> Reason<T> {
        Reason::Value(value)
    }
}

/// Why an I/O engine cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "obstacle")]
pub enum EngineObstacle {
    /// The kernel or an emulator lacks its system calls.
    #[error("not supported by this kernel or emulator")]
    Unsupported,
    /// A setting of the kernel forbids it.
    #[error("the kernel forbids it (sysctl kernel.io_uring_disabled)")]
    Forbidden,
    /// Other processes use all slots for asynchronous I/O.
    #[error("all AIO slots are in use (sysctl fs.aio-max-nr)")]
    NoAioSlots,
    /// The buffers exceed the limit of locked memory.
    #[error("the locked-memory limit is reached (ulimit -l)")]
    LockedMemory,
    /// The run has no simulated card.
    #[error("no simulated card was handed in")]
    NoSimulatedCard,
    /// The engine cannot be used with `io_submit_mode=offload`.
    #[error("it cannot run single I/Os for another thread")]
    NotForOtherThreads,
    /// The kernel answered with another error.
    #[error("the kernel answered: {}", std::io::Error::from_raw_os_error(*errno))]
    Failed {
        /// Error number.
        errno: i32,
    },
}

impl EngineObstacle {
    /// The obstacles without data.
    pub const PLAIN: [EngineObstacle; 6] = [
        EngineObstacle::Unsupported,
        EngineObstacle::Forbidden,
        EngineObstacle::NoAioSlots,
        EngineObstacle::LockedMemory,
        EngineObstacle::NoSimulatedCard,
        EngineObstacle::NotForOtherThreads,
    ];
}

/// Why the counter of the CPU cannot time I/Os.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "obstacle")]
pub enum ClockObstacle {
    /// Programs cannot read a counter.
    #[error("this CPU has no counter readable by programs")]
    NoCounter,
    /// The kernel does not trust the counter.
    #[error("the clock source of the kernel is `{source_name}`, not `{counter}`")]
    OtherSource {
        /// Clock source of the kernel.
        #[serde(rename = "source")]
        source_name: String,
        /// Clock source of the kernel that uses the counter.
        counter: String,
    },
    /// The counter stops or changes its rate.
    #[error("the CPU has no invariant time-stamp counter (no {flag})")]
    Variant {
        /// Flag of the CPU that is missing.
        flag: String,
    },
    /// The rate could not be measured.
    #[error("its rate could not be measured")]
    NoRate,
}

/// Why there are no disk statistics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "obstacle")]
pub enum CountersObstacle {
    /// No block device with counters is below the target.
    #[error("no underlying block device with counters (memory, network or overlay)")]
    NoBlockDevice,
}

/// Why a page cache could not be dropped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "obstacle")]
pub enum CacheObstacle {
    /// The kernel answered with an error.
    #[error("{}", std::io::Error::from_raw_os_error(*errno))]
    Failed {
        /// Error number.
        errno: i32,
    },
}

/// Why the zones of a device or file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum ZoneObstacle {
    /// The target is to be divided into zones, but not into how large ones.
    #[error(
        "it is not a zoned device; set zonesize= to at least 512 bytes to divide it into zones"
    )]
    NoZoneSize,
    /// More of a zone would be used than it has.
    #[error("zonecapacity={capacity} is more than zonesize={zone}")]
    Capacity { capacity: u64, zone: u64 },
    /// The device has zones of another size.
    #[error("zonesize={size} differs from the zone size of {device}, {zone}; omit zonesize")]
    ZoneSize {
        device: String,
        size: u64,
        zone: u64,
    },
    /// Zones are written with buffered I/O.
    #[error("zones can only be written with direct I/O; use direct=1")]
    Buffered,
    /// More zones are to be open than the device permits.
    #[error(
        "max_open_zones={wanted} is more than the limit of the device, {limit}; use a smaller value, or \
        ignore_zone_limits=1"
    )]
    OpenLimit { wanted: usize, limit: usize },
    /// Other zones are already open.
    #[error(
        "{open} of its zones are open, and the limit is {limit}; reset or finish some zones (blkzone reset), or \
        allow more"
    )]
    AlreadyOpen { open: usize, limit: usize },
    /// The job does not use zones.
    #[error("the job does not use zones")]
    NotRequested,
    /// No zone is wholly in the range.
    #[error("the range of the job contains no whole zone; use a larger size or another offset")]
    NoWholeZone,
}

/// Why the verification state of an earlier run cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // Each field is named in its message.
pub enum VerifyStateObstacle {
    /// The file cannot be read.
    #[error("{}", std::io::Error::from_raw_os_error(*errno))]
    Unreadable { errno: i32 },
    /// The file is something else, or damaged.
    #[error("not a saved verify state, or damaged")]
    Damaged,
    /// fio saved it, and its random offsets differ.
    #[error(
        "it was saved by fio before a random job finished, and fio's random offsets differ from ours; load it with \
        the same fio"
    )]
    RandomOfFio,
}

/// What the value of an option has to fulfil.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueRule {
    /// `numjobs`
    #[error("between 1 and 4096 clones can run")]
    Clones,
    /// `iodepth`
    #[error("between 1 and 32768 I/Os can be in flight")]
    Depth,
    /// `rwmixread`
    #[error("the shares have to add up to 100")]
    Shares,
    /// `io_submit_mode`
    #[error(
        "threads submit for sync, psync, pvsync, pvsync2, libaio, io_uring, mmap, splice, falloc, ftruncate and null \
        only; use one of these engines, or leave it out"
    )]
    OffloadEngine,
    /// `iodepth` with `io_submit_mode=offload`
    #[error("io_submit_mode=offload has a thread for each, 1024 at most")]
    OffloadDepth,
    /// `lockfile`
    #[error(
        "files are locked for sync, psync, pvsync, pvsync2, mmap, splice, falloc and ftruncate only, and without \
        io_submit_mode=offload or unlink_each_loop; use one of these engines, or leave it out"
    )]
    LockedFiles,
    /// `file_append`
    #[error("a mapped file cannot grow; leave it out, or use another engine")]
    MappedFile,
    /// `unlink_each_loop`
    #[error(
        "files are renewed for sync, psync, pvsync, pvsync2, vsync, libaio, io_uring, posixaio, splice and null only, \
        and without io_submit_mode=offload"
    )]
    RenewedFiles,
    /// `rw`
    #[error("at least one I/O has to come from an offset")]
    RunLength,
    /// `loops`
    #[error("at least one loop is needed")]
    Loops,
    /// `zonemode`
    #[error("zones are emptied and written elsewhere than asked; leave out verify and read_iolog")]
    DeviceZones,
    /// `tick`
    #[error("an interval takes time")]
    Tick,
    /// `size`
    #[error("with its offset, a file ends below 8 EiB")]
    FileEnd,
    /// `blockalign`
    #[error(
        "the last block may be too short for the header of its check: give a larger blockalign, or use verify=pattern"
    )]
    LastBlock,
    /// `bs`
    #[error("the header of each block does not fit: use a larger bs")]
    HeaderInBlock,
    /// `verify_interval`
    #[error("the header does not fit: use a larger one")]
    HeaderInInterval,
    /// `verify_offset`
    #[error("the header goes past the end of its block: use a smaller one")]
    HeaderOffset,
    /// `verify`
    #[error("this ioengine moves no data that could be checked")]
    NoDataToVerify,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_text_stays_text_and_values_stay_values() {
        let text = r#""the kernel lacks it""#;
        let read: Reason<EngineObstacle> = serde_json::from_str(text).unwrap();
        assert_eq!(read, Reason::Text("the kernel lacks it".to_owned()));
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        let failed = Reason::from(EngineObstacle::Failed { errno: 12 });
        let written = serde_json::to_string(&failed).unwrap();
        assert_eq!(written, r#"{"obstacle":"failed","errno":12}"#);
        let again: Reason<EngineObstacle> = serde_json::from_str(&written).unwrap();
        assert_eq!(again, failed);
        let source = ClockObstacle::OtherSource {
            source_name: "hpet".to_owned(),
            counter: "tsc".to_owned(),
        };
        assert_eq!(
            serde_json::to_string(&Reason::from(source)).unwrap(),
            r#"{"obstacle":"other_source","source":"hpet","counter":"tsc"}"#
        );
    }
}
