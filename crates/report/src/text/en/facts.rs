//! Labels of the environment.

use super::times;
use crate::facts::{FactGroup, FactKey};
use crate::ids::origin_id;
use crate::number::{self, MeanText};
use crate::text::figures::{megabytes, throttling};
use hakaru_model::facts::{Bus, ChainLink, DeviceIdentity, Fact, LinkRole, UnknownReason};
use hakaru_model::finding::{Cliff, SummaryOrigin, Sustained, Swing};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};

pub(in crate::text) fn fact_name(key: FactKey) -> &'static str {
    match key {
        FactKey::Target => "Target",
        FactKey::FileSystem => "File system",
        FactKey::MountOptions => "Mount options",
        FactKey::Device => "Device",
        FactKey::Origin => "Measured by",
        FactKey::ToolOverhead => "Tool overhead",
        FactKey::Started => "Started",
        FactKey::Series => "Series",
        FactKey::SerialNumber => "Serial number",
        FactKey::Chain => "Stands on",
        FactKey::BlockSize => "Block size",
        FactKey::Scheduler => "I/O scheduler",
        FactKey::WriteCache => "Write cache",
        FactKey::BusWidth => "Bus width",
        FactKey::BusClock => "Bus clock",
        FactKey::BusTiming => "Bus timing",
        FactKey::BusCeiling => "Bus limit",
        FactKey::Bus => "Bus",
        FactKey::Manufacturer => "Manufacturer",
        FactKey::CardName => "Product name",
        FactKey::Manufactured => "Manufactured",
        FactKey::SpeedClass => "Speed Class",
        FactKey::UhsGrade => "UHS Speed Class",
        FactKey::VideoClass => "Video Speed Class",
        FactKey::ApplicationClass => "Application Performance Class",
        FactKey::AllocationUnit => "Allocation unit",
        FactKey::Cid => "CID",
        FactKey::Oddity => "Suspicious",
        FactKey::Host => "Host",
        FactKey::Board => "Board",
        FactKey::Processor => "Processor",
        FactKey::Governor => "CPU governor",
        FactKey::Memory => "Memory",
        FactKey::Kernel => "Kernel",
        FactKey::Distribution => "Distribution",
        FactKey::Load => "Load",
        FactKey::IoPressure => "Waiting for I/O",
        FactKey::Temperature => "Temperature",
        FactKey::Throttling => "Throttling",
        FactKey::Clock => "Clock",
    }
}

pub(in crate::text) fn fact_of_host(key: FactKey) -> &'static str {
    match key {
        FactKey::Host => "Name",
        FactKey::Governor => "Governor",
        key => fact_name(key),
    }
}

pub(in crate::text) fn fact_group(group: FactGroup) -> &'static str {
    match group {
        FactGroup::Target => "Target",
        FactGroup::FileSystem => "File system",
        FactGroup::Device => "Device",
        FactGroup::Card => "Card",
        FactGroup::Bus => "Bus",
        FactGroup::Suspicious => "Suspicious",
        FactGroup::Host => "Host",
        FactGroup::Kernel => "Kernel",
        FactGroup::ToolOverhead => "Tool overhead",
        FactGroup::Series => "Series",
    }
}

pub(in crate::text) fn fact_in_brief(key: FactKey, value: &str) -> String {
    let lead = match key {
        FactKey::SerialNumber => "serial ",
        FactKey::Scheduler => "scheduler ",
        FactKey::WriteCache => "cache ",
        FactKey::Manufactured => "made ",
        FactKey::AllocationUnit => "AU ",
        FactKey::BusCeiling => "at most ",
        FactKey::Governor => "governor ",
        FactKey::Target
        | FactKey::FileSystem
        | FactKey::MountOptions
        | FactKey::Device
        | FactKey::Origin
        | FactKey::ToolOverhead
        | FactKey::Started
        | FactKey::Series
        | FactKey::Chain
        | FactKey::BlockSize
        | FactKey::BusWidth
        | FactKey::BusClock
        | FactKey::BusTiming
        | FactKey::Bus
        | FactKey::Manufacturer
        | FactKey::CardName
        | FactKey::SpeedClass
        | FactKey::UhsGrade
        | FactKey::VideoClass
        | FactKey::ApplicationClass
        | FactKey::Cid
        | FactKey::Oddity
        | FactKey::Host
        | FactKey::Board
        | FactKey::Processor
        | FactKey::Memory
        | FactKey::Kernel
        | FactKey::Distribution
        | FactKey::Load
        | FactKey::IoPressure
        | FactKey::Temperature
        | FactKey::Throttling
        | FactKey::Clock => "",
    };
    format!("{lead}{value}")
}

pub(in crate::text) fn none_claimed() -> &'static str {
    "none claimed"
}

pub(in crate::text) fn chain_role(role: &LinkRole) -> String {
    match role {
        LinkRole::Disk => "disk".to_owned(),
        LinkRole::Partition { number, of } => format!("partition {number} of {of}"),
        LinkRole::Loop { file } => format!("loop over {file}"),
        LinkRole::Mapping { kind, label } if kind.is_empty() => format!("mapping {label}"),
        LinkRole::Mapping { kind, label } => format!("{kind} {label}"),
        LinkRole::Array { level } => level.clone(),
        LinkRole::Unknown => String::new(),
    }
}

pub(in crate::text) fn chain(device: &DeviceIdentity) -> Vec<String> {
    let link = |link: &ChainLink| {
        let name = match link.beside {
            true => format!("and {}", link.name),
            false => link.name.clone(),
        };
        match chain_role(&link.role) {
            role if role.is_empty() => name,
            role => format!("{name} ({role})"),
        }
    };
    let mut links: Vec<String> = device.chain.iter().map(link).collect();
    links.extend(chain_bus(&device.bus, &device.driver));
    links
}

/// The bus as the last link of a chain: `SD or eMMC bus (sdhci-iproc)`. `None` for devices without hardware.
fn chain_bus(bus: &Bus, driver: &Fact<String>) -> Option<String> {
    let with_link = |bus: &str, link: &Fact<String>| match link.known() {
        Some(link) => format!("{bus}, {link}"),
        None => bus.to_owned(),
    };
    let words = match bus {
        Bus::Software => return None,
        Bus::Mmc { .. } => "SD or eMMC bus".to_owned(),
        Bus::Usb {
            speed_mbps: Fact::Known(speed),
        } => format!("USB, {speed} Mbit/s"),
        Bus::Usb { .. } => "USB".to_owned(),
        Bus::Nvme { link } => with_link("NVMe", link),
        Bus::Scsi { link } => with_link("SCSI or SATA", link),
        Bus::Virtio => "virtio".to_owned(),
        Bus::Other { name } => name.clone(),
    };
    Some(match driver.known() {
        Some(driver) => format!("{words} ({driver})"),
        None => words,
    })
}

pub(in crate::text) fn unknown(because: &UnknownReason) -> String {
    format!("unknown ({because})")
}

pub(in crate::text) fn overhead(per_io: &str, percent_of_median: Option<&str>) -> String {
    match percent_of_median {
        Some(percent) => format!("{per_io} per I/O, {percent}% of the shortest median latency"),
        None => format!("{per_io} per I/O"),
    }
}

pub(in crate::text) fn with_space(mounted: &str, size: Bytes, free: Bytes) -> String {
    format!("{mounted}, {}", space(size, free))
}

pub(in crate::text) fn space(size: Bytes, free: Bytes) -> String {
    format!("{size}, {free} free")
}

pub(in crate::text) fn unnamed_filesystem() -> &'static str {
    "unknown"
}

pub(in crate::text) fn mounted(fs_type: &str, at: &str, source: &str) -> String {
    match (at, source) {
        ("", "") => fs_type.to_owned(),
        ("", source) => format!("{fs_type} ({source})"),
        (at, "") => format!("{fs_type} at {at}"),
        (at, source) => format!("{fs_type} at {at} ({source})"),
    }
}

pub(in crate::text) fn block_sizes(logical: u64, physical: u64) -> String {
    format!("{logical} B logical, {physical} B physical")
}

pub(in crate::text) fn bus_width(bits: u32) -> String {
    format!("{bits} bit")
}

pub(in crate::text) fn bus_kind(bus: &Bus) -> String {
    let kind = match bus {
        Bus::Mmc { .. } => "SD or eMMC",
        Bus::Usb { .. } => "USB",
        Bus::Nvme { .. } => "NVMe over PCI Express",
        Bus::Scsi { .. } => "SATA or SCSI",
        Bus::Virtio => "virtio (a virtual disk)",
        Bus::Software => "none (no hardware below)",
        Bus::Other { name } => name,
    };
    kind.to_owned()
}

pub(in crate::text) fn processors(cpu: &str, online: u32) -> String {
    format!("{cpu}, {online} online")
}

pub(in crate::text) fn io_pressure(percent: &str) -> String {
    format!("{percent}% of the last 10 s")
}

pub(in crate::text) fn throttled(now: u32, since_start: u32) -> String {
    match now {
        0 => format!("{} since the start, not now", throttled_by(since_start)),
        now => format!("{} now", throttled_by(now)),
    }
}

/// The reasons for throttling in a set of four bits.
pub(super) fn throttled_by(bits: u32) -> String {
    let words = [
        "under-voltage",
        "CPU frequency capped",
        "throttled",
        "temperature limit reached",
    ];
    throttling(bits, words).join(", ")
}

pub(in crate::text) fn sustained(found: &Sustained, has_intervals: bool) -> String {
    let (min, max) = (megabytes(&found.min), megabytes(&found.max));
    let mean = MeanText::of_parts(found.mean.0, Some(found.deviation.0), 1e6);
    // Behind a fall, it goes without saying.
    let over_time = match found.falls.is_empty() {
        true => " over time",
        false => "",
    };
    let mut even = format!("{min} to {max} MB/s{over_time}, mean {mean} MB/s");
    if found.falls.is_empty() && has_intervals {
        even += ", no lasting fall";
    }
    let mut parts: Vec<String> = found.falls.iter().map(cliff).collect();
    parts.extend(found.swing.as_ref().map(swings));
    parts.push(even);
    parts.join("; ")
}

/// A fluctuation: `swings between 40 and 12 MB/s and recovers 7 times, as with throttling`.
fn swings(swing: &Swing) -> String {
    let (high, low) = (megabytes(&swing.high), megabytes(&swing.low));
    let why = match swing.sawtooth {
        true => "slides down in between, as with garbage collection",
        false => "as with throttling",
    };
    let times = times(swing.recoveries);
    format!("swings between {high} and {low} MB/s and recovers {times}, {why}")
}

/// A drop: `falls from 34.1 to 11.9 MB/s after 6.01 GB (2 min 56 s)`.
fn cliff(cliff: &Cliff) -> String {
    let (before, after) = (megabytes(&cliff.before), megabytes(&cliff.after));
    let (at, time) = (number::decimal_bytes(cliff.at), duration(cliff.after_time));
    let how = match cliff.proven {
        true => "",
        false => ", at the end: not proven lasting",
    };
    format!("falls from {before} to {after} MB/s after {at} ({time}){how}")
}

pub(in crate::text) fn device_moved(op: Op, ratio: &MeanText) -> String {
    let (verb, way) = match op {
        Op::Read => ("read", "from"),
        Op::Write | Op::Trim => ("wrote", "to"),
    };
    format!("the host {verb} {ratio} bytes {way} the device per byte of the application")
}

pub(in crate::text) fn laid_out(bytes: Bytes) -> String {
    format!("laying out its files wrote {bytes} before it was measured")
}

pub(in crate::text) fn duration(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000;
    match seconds {
        0..60 => time.to_string(),
        60..3600 => format!("{}\u{a0}min {}\u{a0}s", seconds / 60, seconds % 60),
        _ => format!("{}\u{a0}h {}\u{a0}min", seconds / 3600, seconds / 60 % 60),
    }
}

pub(in crate::text) fn one_run_each(n: u64) -> String {
    format!("{} of different workloads", runs(n))
}

pub(in crate::text) fn runs(n: u64) -> String {
    match n {
        1 => "1 run".to_owned(),
        n => format!("{} runs", number::grouped(n)),
    }
}

pub(in crate::text) fn scenario_on(scenario: &str, target: &str) -> String {
    format!("{scenario} on {target}")
}

pub(in crate::text) fn times_of(ratio: f64) -> String {
    format!("{}×", number::significant(ratio))
}

pub(in crate::text) fn clock_name(clock: &str) -> String {
    clock.to_owned()
}

pub(in crate::text) fn disks_of_result(disks: &str) -> String {
    format!("{disks} (from the disk statistics of the result)")
}

pub(in crate::text) fn origin(origin: &SummaryOrigin) -> String {
    origin_id(origin)
}
