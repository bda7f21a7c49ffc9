//! Facts about the target and the host, with the reasons for unknown ones.

mod chain;
mod unknown;

pub use chain::{ChainLink, LinkRole};
pub use unknown::UnknownReason;

use crate::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Known value, or the reason why it is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact<T> {
    /// The value.
    Known(T),
    /// The reason why the value is unknown.
    Unknown(UnknownReason),
}

impl<T> Fact<T> {
    /// Returns the value; `None` if unknown.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::Unknown(_) => None,
        }
    }

    /// Converts an optional value, with the reason for its absence.
    pub fn or_because(value: Option<T>, reason: UnknownReason) -> Fact<T> {
        value.map_or(Fact::Unknown(reason), Fact::Known)
    }
}

impl<T> Default for Fact<T> {
    fn default() -> Self {
        Fact::Unknown(UnknownReason::NotChecked)
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

/// Type of file at a path.
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

/// Facts about a path that planning needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFacts {
    /// Path as given by the user.
    pub path: PathBuf,
    /// Type of the file.
    pub kind: TargetKind,
    /// Size of the file or device in bytes; 0 if it does not exist.
    pub size: Bytes,
    /// Free space for the file in bytes; `None` for devices.
    pub free: Option<Bytes>,
    /// Alignment of direct I/O in bytes.
    pub logical_block: u32,
    /// Whether the file system or device supports O_DIRECT; `None` if not tested.
    pub direct_io: Option<bool>,
    /// Whether it can be written: permission bits, read-only mounts and devices.
    pub writable: bool,
}

/// File system that a path is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Type in the kernel, such as `ext4`.
    pub fs_type: String,
    /// Mount point.
    pub mount_point: PathBuf,
    /// Mounted device.
    pub source: String,
    /// Active mount options.
    pub options: String,
    /// Total size in bytes.
    pub size: Bytes,
    /// Free bytes for an unprivileged user.
    pub free: Bytes,
}

impl Filesystem {
    /// Type of a file system that an imported result does not name.
    pub const UNNAMED: &'static str = "an unnamed file system";
}

/// Bus that the device is attached to.
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
        /// Link speed as reported by the kernel.
        link: Fact<String>,
    },
    /// SATA or another SCSI transport.
    Scsi {
        /// Link speed as reported by the kernel.
        link: Fact<String>,
    },
    /// A virtual disk of a hypervisor.
    Virtio,
    /// Software device: loop, zram, null_blk, device mapper.
    Software,
    /// Another bus.
    Other {
        /// Name of the bus in sysfs.
        name: String,
    },
}

/// Decoded registers of an SD or eMMC card.
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
    /// OEM ID in the CID, as text.
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
    /// Allocation unit in bytes.
    pub allocation_unit: Fact<Bytes>,
    /// Claimed version of the specification: `SD 6.0`, `eMMC 5.1`.
    #[serde(default)]
    pub spec: Fact<String>,
    /// eMMC: supported timing modes, such as `HS52, DDR52, HS200`.
    #[serde(default)]
    pub device_type: Fact<String>,
    /// eMMC: life time used, for both types of memory, such as `0-10 % and 10-20 %`.
    #[serde(default)]
    pub life_time: Fact<String>,
    /// eMMC: state of the reserve blocks: `normal`, `warning` (80% used) or `urgent` (90%).
    #[serde(default)]
    pub pre_eol: Fact<String>,
    /// Unusual details of this identity: hints, not verdicts.
    pub oddities: Vec<String>,
}

/// SMART data of a disk; `None` if it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Life used, in percent, as estimated by the disk; may exceed 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_used: Option<u64>,
    /// Remaining spare blocks, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<u64>,
    /// Bytes written by hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Bytes>,
    /// Bytes read by hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Bytes>,
    /// Power-on hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
    /// Unsafe shutdowns (power lost without notice).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_shutdowns: Option<u64>,
    /// Media errors that could not be corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<u64>,
    /// Reallocated sectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reallocated_sectors: Option<u64>,
    /// Sectors pending reallocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_sectors: Option<u64>,
    /// SMART warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Identity and kernel settings of a block device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceIdentity {
    /// Path of the whole disk, such as `/dev/mmcblk0`.
    pub node: PathBuf,
    /// Kernel name, such as `mmcblk0`.
    pub kname: String,
    /// Model.
    pub model: Fact<String>,
    /// Serial number.
    pub serial: Fact<String>,
    /// Size in bytes.
    pub size: Bytes,
    /// Logical block size in bytes.
    pub logical_block: u32,
    /// Physical block size in bytes.
    pub physical_block: u32,
    /// Whether the kernel reports it as rotational.
    pub rotational: Fact<bool>,
    /// Active I/O scheduler.
    pub scheduler: Fact<String>,
    /// Write cache: `write back` or `write through`.
    pub write_cache: Fact<String>,
    /// Largest request in KiB.
    pub max_sectors_kb: Fact<u32>,
    /// Size of the request queue.
    pub nr_requests: Fact<u32>,
    /// Maximum bytes per discard; 0 if not supported.
    pub discard_max: Fact<Bytes>,
    /// Zone model: `none`, `host-aware` or `host-managed`.
    pub zoned: Fact<String>,
    /// Whether the kernel marks it read-only.
    pub read_only: bool,
    /// Whether the disk or its medium is removable.
    #[serde(default)]
    pub removable: bool,
    /// Firmware revision.
    #[serde(default)]
    pub firmware: Fact<String>,
    /// World-wide name, or the kernel's substitute.
    #[serde(default)]
    pub wwid: Fact<String>,
    /// Names under `/dev/disk/by-id`.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Sequence number of the disk; a new card under the same name has a new one.
    #[serde(default)]
    pub disk_sequence: Fact<u64>,
    /// Driver of the host controller or of the device, such as `sdhci-iproc`, `usb-storage` or `uas`.
    #[serde(default)]
    pub driver: Fact<String>,
    /// Discard granularity in bytes.
    #[serde(default)]
    pub discard_granularity: Fact<Bytes>,
    /// Temperature of the device in thousandths of a degree Celsius.
    #[serde(default)]
    pub temperature_mc: Fact<i64>,
    /// Wear and errors from SMART.
    #[serde(default)]
    pub health: Fact<Health>,
    /// Bus that it is attached to.
    pub bus: Bus,
    /// Card registers; `None` if it is not on an SD or eMMC bus.
    pub card: Option<CardRegisters>,
    /// Devices from the named node down to the disk: partition, mapper, loop and the devices below.
    #[serde(deserialize_with = "chain::links")]
    pub chain: Vec<ChainLink>,
}

/// Identity of the target: the path, its file system, and the device below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Path as given by the user.
    pub path: PathBuf,
    /// Type of the file.
    pub kind: TargetKind,
    /// The file system; `None` for a raw device.
    pub filesystem: Option<Filesystem>,
    /// Device below the file system.
    pub device: Fact<DeviceIdentity>,
    /// Whether the operating system runs from this device.
    pub system_disk: bool,
    /// Label of the target, given by the user.
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

impl Identity {
    /// Returns the IDs of the device, most specific first: CID, serial number, world-wide name. Placeholders are left
    /// out: many devices report one instead of a serial number.
    pub fn ids(&self) -> Vec<&str> {
        let Some(device) = self.device.known() else {
            return Vec::new();
        };
        let cid = device.card.as_ref().and_then(|card| card.cid.known());
        let all = [cid, device.serial.known(), device.wwid.known()];
        let all = all.into_iter().flatten().map(String::as_str);
        all.filter(|id| !is_placeholder(id)).collect()
    }

    /// Returns the layer between the application and the device: the type of the file system, or `raw`; `None` if there
    /// is neither.
    pub fn layer(&self) -> Option<&str> {
        match (&self.filesystem, self.kind) {
            (Some(filesystem), _) => Some(&filesystem.fs_type),
            (None, TargetKind::BlockDevice) => Some("raw"),
            (None, _) if self.device == Fact::Unknown(UnknownReason::SimulatedCard) => Some("raw"),
            (None, _) => None,
        }
    }
}

/// Whether an ID is a placeholder: too short, or one repeated character.
pub fn is_placeholder(id: &str) -> bool {
    let core = id.trim().trim_start_matches("0x");
    let first = core.chars().next();
    core.chars().count() < 4 || core.chars().all(|c| Some(c) == first)
}

/// Environment of a run on the host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Host name.
    pub hostname: String,
    /// Kernel name and release, such as `Linux 6.1.0`.
    pub kernel: String,
    /// Machine architecture.
    pub arch: String,
    /// Distribution, from os-release.
    pub distribution: Fact<String>,
    /// Board, such as `Raspberry Pi 4 Model B Rev 1.4`.
    pub board: Fact<String>,
    /// CPU model.
    pub cpu: Fact<String>,
    /// Number of online CPUs.
    pub cpu_count: u32,
    /// CPU frequency governor.
    pub governor: Fact<String>,
    /// Memory in bytes.
    pub memory: Bytes,
    /// Load average over one minute at the start of the run, in percent.
    pub load_percent: Fact<u32>,
    /// CPU temperature in thousandths of a degree Celsius.
    pub temperature_mc: Fact<i64>,
    /// Throttling and under-voltage flags of the Raspberry Pi.
    pub throttled: Fact<u32>,
    /// Share of time in which some task waited for I/O in the last 10 s (PSI `some avg10`), in hundredths of a percent.
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
    /// Total time of all reads.
    pub read_ticks: Nanos,
    /// Writes completed.
    pub write_ios: u64,
    /// Writes merged with neighbors.
    pub write_merges: u64,
    /// Sectors of 512 bytes written.
    pub write_sectors: u64,
    /// Total time of all writes.
    pub write_ticks: Nanos,
    /// Discards completed.
    pub discard_ios: u64,
    /// Flushes completed.
    pub flush_ios: u64,
    /// Time with at least one request in flight.
    pub busy: Nanos,
    /// Total time of all requests, weighted by their number in flight.
    pub queued: Nanos,
    /// Time between the two readings.
    pub elapsed: Nanos,
}
