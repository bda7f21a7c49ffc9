//! What is known of the target and of the host, and why something is not known.

mod chain;

pub use chain::{ChainLink, LinkRole};

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Something that is known, or the reason why it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// The value.
    Known(T),
    /// Unknown, with the reason, as in "unknown (…)".
    Unknown(String),
}

impl<T> Fact<T> {
    /// The value, if there is one.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::Unknown(_) => None,
        }
    }

    /// A fact of an optional value, with the reason for its absence.
    pub fn or_because(value: Option<T>, reason: impl Into<String>) -> Fact<T> {
        value.map_or_else(|| Fact::Unknown(reason.into()), Fact::Known)
    }
}

impl<T> Default for Fact<T> {
    fn default() -> Self {
        Fact::Unknown("not checked".to_owned())
    }
}

impl<T: std::fmt::Display> std::fmt::Display for Fact<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fact::Known(value) => value.fmt(f),
            Fact::Unknown(because) => write!(f, "unknown ({because})"),
        }
    }
}

/// What kind of thing a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// Does not exist, but its directory does.
    Absent,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A block device.
    BlockDevice,
    /// A character device such as /dev/zero.
    CharDevice,
    /// A socket, a pipe, or something else that cannot be measured.
    Other,
}

/// Facts of a path that a plan needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// The path as it was named.
    pub path: PathBuf,
    /// Its type.
    pub kind: TargetKind,
    /// Size of the file or device in bytes; 0 if it does not exist.
    pub size: Bytes,
    /// Free space for the file in bytes; `None` for devices.
    pub free: Option<Bytes>,
    /// Alignment of direct I/O in bytes.
    pub logical_block: u32,
    /// Whether the file system or device supports O_DIRECT; `None` if not tested.
    pub direct_io: Option<bool>,
    /// Whether it can be written at all (permission bits, read-only mounts and devices).
    pub writable: bool,
}

/// The file system a path lives on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Its type in the kernel, such as `ext4`.
    pub fs_type: String,
    /// Where it is mounted.
    pub mount_point: PathBuf,
    /// What is mounted there.
    pub source: String,
    /// The options in force.
    pub options: String,
    /// Bytes in all.
    pub size: Bytes,
    /// Bytes an ordinary user can still write.
    pub free: Bytes,
}

impl Filesystem {
    /// The type of a file system that an imported result does not name.
    pub const UNNAMED: &'static str = "an unnamed file system";
}

/// How the device is attached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum Bus {
    /// The SD or eMMC bus of a host controller.
    Mmc {
        /// Data lines.
        width_bits: Fact<u32>,
        /// Clock in Hz.
        clock_hz: Fact<u64>,
        /// Timing mode in the kernel, such as `sd high-speed`.
        timing: Fact<String>,
        /// Maximum bytes/s for width, clock and timing.
        ceiling: Fact<u64>,
    },
    /// USB, with its negotiated speed in Mbit/s.
    Usb {
        /// Negotiated speed, Mbit/s.
        speed_mbps: Fact<u64>,
    },
    /// NVMe over PCI Express.
    Nvme {
        /// Link speed as the kernel words it.
        link: Fact<String>,
    },
    /// SATA or another SCSI transport.
    Scsi {
        /// Link speed as the kernel words it.
        link: Fact<String>,
    },
    /// A virtual disk of a hypervisor.
    Virtio,
    /// No hardware below: loop, zram, null_blk, device mapper.
    Software,
    /// None of these.
    Other {
        /// The bus as sysfs names it.
        name: String,
    },
}

/// The registers of an SD or eMMC card, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardRegisters {
    /// The raw CID, 32 hex digits.
    pub cid: Fact<String>,
    /// The raw CSD, 32 hex digits.
    pub csd: Fact<String>,
    /// The raw SCR, 16 hex digits.
    pub scr: Fact<String>,
    /// The raw SD status (SSR), 128 hex digits.
    pub ssr: Fact<String>,
    /// Manufacturer by name, from the number in the CID.
    pub maker: Fact<String>,
    /// OEM id in the CID, as text.
    pub oem: Fact<String>,
    /// Product name in the CID.
    pub name: Fact<String>,
    /// Product revision, such as `1.2`.
    pub revision: Fact<String>,
    /// Serial number in the CID.
    pub serial: Fact<String>,
    /// Month of manufacture, as `YYYY-MM`.
    pub date: Fact<String>,
    /// `SD`, `MMC` and the like.
    pub card_type: Fact<String>,
    /// Claimed Speed Class: 0, 2, 4, 6 or 10 (MB/s).
    pub speed_class: Fact<u32>,
    /// Claimed UHS Speed Grade: 0, 1 or 3.
    pub uhs_grade: Fact<u32>,
    /// Claimed Video Speed Class: 0, 6, 10, 30, 60 or 90 (MB/s).
    pub video_class: Fact<u32>,
    /// Claimed Application Performance Class: 0, 1 or 2.
    pub app_class: Fact<u32>,
    /// Allocation unit.
    pub allocation_unit: Fact<Bytes>,
    /// Version of the specification it claims to keep: `SD 6.0`, `eMMC 5.1`.
    #[serde(default)]
    pub spec: Fact<String>,
    /// eMMC: supported timing modes, such as `HS52, DDR52, HS200`.
    #[serde(default)]
    pub device_type: Fact<String>,
    /// eMMC: life time used up, for both kinds of memory, such as `0-10 % and 10-20 %`.
    #[serde(default)]
    pub life_time: Fact<String>,
    /// eMMC: reserve blocks, `normal`, `warning` (80% used up) or `urgent` (90%).
    #[serde(default)]
    pub pre_eol: Fact<String>,
    /// What looks odd about this identity: findings, not verdicts.
    pub oddities: Vec<String>,
}

/// SMART data of a disk; `None` if it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Part of its life that is used up by its own estimate, in percent; may pass 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_used: Option<u64>,
    /// Reserve that is left, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<u64>,
    /// Bytes that hosts have written to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Bytes>,
    /// Bytes that hosts have read from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Bytes>,
    /// Hours it was on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
    /// Losses of power without a word before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_shutdowns: Option<u64>,
    /// Errors of the medium that it could not mend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<u64>,
    /// Sectors it has replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reallocated_sectors: Option<u64>,
    /// Sectors it would like to replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_sectors: Option<u64>,
    /// Its warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A block device: its identity and its kernel settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// The whole disk, such as `/dev/mmcblk0`.
    pub node: PathBuf,
    /// Kernel name, such as `mmcblk0`.
    pub kname: String,
    /// Model.
    pub model: Fact<String>,
    /// Serial number.
    pub serial: Fact<String>,
    /// Bytes.
    pub size: Bytes,
    /// Logical block size in bytes.
    pub logical_block: u32,
    /// Physical block size in bytes.
    pub physical_block: u32,
    /// Whether it says it rotates.
    pub rotational: Fact<bool>,
    /// I/O scheduler in force.
    pub scheduler: Fact<String>,
    /// Write cache: `write back` or `write through`.
    pub write_cache: Fact<String>,
    /// Largest request in KiB.
    pub max_sectors_kb: Fact<u32>,
    /// Requests the queue holds.
    pub nr_requests: Fact<u32>,
    /// Maximum bytes per discard; 0 if not supported.
    pub discard_max: Fact<Bytes>,
    /// Zone model: `none`, `host-aware` or `host-managed`.
    pub zoned: Fact<String>,
    /// Whether the kernel marks it read-only.
    pub read_only: bool,
    /// Whether it, or its medium, can be taken out.
    #[serde(default)]
    pub removable: bool,
    /// Firmware revision.
    #[serde(default)]
    pub firmware: Fact<String>,
    /// World-wide name, or what the kernel gives in its place.
    #[serde(default)]
    pub wwid: Fact<String>,
    /// Names of it under `/dev/disk/by-id`.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Number of this appearance of the disk: another card under the same name has another one.
    #[serde(default)]
    pub disk_sequence: Fact<u64>,
    /// Driver of the host controller or of the device, such as `sdhci-iproc`, `usb-storage` or `uas`.
    #[serde(default)]
    pub driver: Fact<String>,
    /// Smallest range a discard acts on, in bytes.
    #[serde(default)]
    pub discard_granularity: Fact<Bytes>,
    /// Its own temperature in thousandths of a degree Celsius.
    #[serde(default)]
    pub temperature_mc: Fact<i64>,
    /// Its wear and errors.
    #[serde(default)]
    pub health: Fact<Health>,
    /// How it is attached.
    pub bus: Bus,
    /// Card registers, when it is a card on an SD or eMMC bus.
    pub card: Option<CardRegisters>,
    /// From the named node down to the disk: partition, mapper, loop and what they stand on.
    #[serde(deserialize_with = "chain::links")]
    pub chain: Vec<ChainLink>,
}

/// What was measured: the path, the file system it is on, and the device below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The path as it was named.
    pub path: PathBuf,
    /// Its type.
    pub kind: TargetKind,
    /// The file system; `None` for a raw device.
    pub filesystem: Option<Filesystem>,
    /// The device at the bottom.
    pub device: Fact<DeviceIdentity>,
    /// Whether the system itself runs from this device.
    pub system_disk: bool,
    /// A name given by hand for the thing under test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl Identity {
    /// Returns the name of the target: its label, otherwise model and serial number, otherwise
    /// node, otherwise path.
    pub fn display_name(&self) -> String {
        if let Some(label) = &self.label {
            return label.clone();
        }
        let Fact::Known(device) = &self.device else {
            return self.path.display().to_string();
        };
        match (&device.model, &device.serial) {
            (Fact::Known(model), Fact::Known(serial)) => format!("{model} ({serial})"),
            (Fact::Known(model), _) => model.clone(),
            _ => device.node.display().to_string(),
        }
    }
}

/// The circumstances on the side of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub hostname: String,
    /// Kernel name and release, such as `Linux 6.1.0`.
    pub kernel: String,
    /// Machine architecture.
    pub arch: String,
    /// Distribution, as os-release names it.
    pub distribution: Fact<String>,
    /// Board, such as `Raspberry Pi 4 Model B Rev 1.4`.
    pub board: Fact<String>,
    /// Processor.
    pub cpu: Fact<String>,
    /// Processors online.
    pub cpu_count: u32,
    /// Frequency governor.
    pub governor: Fact<String>,
    /// Memory in bytes.
    pub memory: Bytes,
    /// Load average over one minute, in percent, as the run began.
    pub load_percent: Fact<u32>,
    /// Processor temperature in thousandths of a degree Celsius.
    pub temperature_mc: Fact<i64>,
    /// The Pi's throttling and under-voltage flags.
    pub throttled: Fact<u32>,
    /// Share of time some task waited for I/O in the last 10 s (PSI `some avg10`), in percent of a percent.
    pub io_pressure: Fact<u32>,
    /// The clock that timed the I/Os.
    pub clock: String,
}

/// Counters of one block device over a phase (kernel documentation: `block/stat`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskStats {
    /// Kernel name.
    pub name: String,
    /// Reads completed.
    pub read_ios: u64,
    /// Reads merged with neighbors.
    pub read_merges: u64,
    /// Sectors of 512 bytes read.
    pub read_sectors: u64,
    /// Time reads took, all added up.
    pub read_ticks: Nanos,
    /// Writes completed.
    pub write_ios: u64,
    /// Writes merged with neighbors.
    pub write_merges: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Time writes took, all added up.
    pub write_ticks: Nanos,
    /// Discards completed.
    pub discard_ios: u64,
    /// Flushes completed.
    pub flush_ios: u64,
    /// Time with at least one request in flight.
    pub busy: Nanos,
    /// Time all requests took, added up.
    pub queued: Nanos,
    /// Time between the two readings.
    pub elapsed: Nanos,
}
