//! Describes a disk from sysfs: names, sizes, queue, bus, and the registers of a card.

use crate::bus;
use crate::card::RawCard;
use crate::chain::DeviceNode;
use crate::oddities::decode_card;
use crate::roots::{self, Roots};
use hakaru_model::facts::{CardRegisters, ChainLink, DeviceIdentity, Fact, UnknownReason};
use hakaru_model::units::Bytes;
use std::path::{Path, PathBuf};

/// Describes a disk, or a device without hardware below it, without sending it a command. `chain` leads from the named
/// node to the disk.
pub(crate) fn describe(disk: &DeviceNode, chain: Vec<ChainLink>, roots: &Roots) -> DeviceIdentity {
    let queue = disk.folder.join("queue");
    let bus = bus::bus_of(disk, roots);
    let size = disk.size();
    let card = registers(disk, size, roots);
    let block = |name: &str, or: u32| roots::number(&queue.join(name)).unwrap_or(or);
    let logical_block = block("logical_block_size", 512);
    let driver = bus::driver(disk);
    DeviceIdentity {
        node: PathBuf::from("/dev").join(&disk.kname),
        model: model(disk, card.as_ref()),
        serial: serial(disk, card.as_ref()),
        size,
        logical_block,
        physical_block: block("physical_block_size", logical_block),
        rotational: flag(&queue.join("rotational")),
        scheduler: scheduler(&queue.join("scheduler")),
        write_cache: roots::text_fact(&queue.join("write_cache")),
        max_sectors_kb: roots::number_fact(&queue.join("max_sectors_kb")),
        nr_requests: roots::number_fact(&queue.join("nr_requests")),
        discard_max: bytes(&queue.join("discard_max_bytes")),
        zoned: roots::text_fact(&queue.join("zoned")),
        read_only: is_read_only(disk),
        removable: roots::number::<u8>(&disk.folder.join("removable")) == Some(1),
        firmware: firmware(disk),
        wwid: wwid(disk),
        aliases: aliases(disk, roots),
        disk_sequence: sequence(disk),
        driver,
        discard_granularity: bytes(&queue.join("discard_granularity")),
        temperature_mc: temperature(disk),
        health: Fact::Unknown(UnknownReason::NotQueried),
        kname: disk.kname.clone(),
        bus,
        card,
        chain,
    }
}

fn wwid(disk: &DeviceNode) -> Fact<String> {
    let paths = ["wwid", "device/wwid", "dm/uuid", "md/uuid"];
    first_text(disk, &paths, UnknownReason::NoWwnInSysfs)
}

/// Whether the kernel marks it read-only.
pub(crate) fn is_read_only(disk: &DeviceNode) -> bool {
    roots::number::<u8>(&disk.folder.join("ro")) == Some(1)
}

/// Disk sequence number (Linux 5.15 and later).
pub(crate) fn sequence(disk: &DeviceNode) -> Fact<u64> {
    roots::number_fact(&disk.folder.join("diskseq"))
}

/// Returns the names of a device in `/dev/disk/by-id`.
pub(crate) fn aliases(node: &DeviceNode, roots: &Roots) -> Vec<String> {
    let folder = roots.dev.join("disk/by-id");
    let leads_here = |name: &String| roots.device_number(&folder.join(name)) == Some(node.number);
    roots::names(&folder)
        .into_iter()
        .filter(leads_here)
        .collect()
}

/// Returns the decoded card registers; all unknown for a card in a USB reader.
fn registers(disk: &DeviceNode, size: Bytes, roots: &Roots) -> Option<CardRegisters> {
    let device = disk.folder.join("device");
    if disk
        .folder
        .components()
        .any(|part| part.as_os_str() == "mmc_host")
    {
        return Some(decode_card(&RawCard::from_sysfs(&device, roots), size));
    }
    let usb = bus::usb_device(&disk.folder)?;
    let names = [usb.join("product"), device.join("model")]
        .map(|path| roots::text(&path).unwrap_or_default());
    let reader = names.iter().any(|name| looks_like_reader(name));
    reader.then(|| decode_card(&RawCard::hidden(&UnknownReason::HiddenByReader), size))
}

/// Whether a product name looks like a card reader.
fn looks_like_reader(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = [
        "reader",
        "storage device",
        "sd/mmc",
        "multi-card",
        "multicard",
        "multiflash",
        "crw",
    ];
    words.iter().any(|word| name.contains(word))
}

fn model(disk: &DeviceNode, card: Option<&CardRegisters>) -> Fact<String> {
    if let Some(CardRegisters {
        maker: Fact::Known(maker),
        name: Fact::Known(name),
        ..
    }) = card
    {
        return Fact::Known(format!("{maker} {name}"));
    }
    let attribute = |name: &str| {
        roots::text(&disk.folder.join("device").join(name)).filter(|text| !text.is_empty())
    };
    match (attribute("vendor"), attribute("model")) {
        // The ATA layer reports "ATA" as the vendor of every disk; virtio reports a number.
        (Some(vendor), Some(model)) if vendor != "ATA" && !vendor.starts_with("0x") => {
            Fact::Known(format!("{vendor} {model}"))
        }
        (_, Some(model)) => Fact::Known(model),
        _ if disk.is_virtual() => Fact::Unknown(UnknownReason::NoHardware),
        _ => Fact::Unknown(UnknownReason::NotReportedByDevice),
    }
}

fn serial(disk: &DeviceNode, card: Option<&CardRegisters>) -> Fact<String> {
    if let Some(CardRegisters {
        serial: Fact::Known(serial),
        ..
    }) = card
    {
        return Fact::Known(serial.clone());
    }
    let unit_serial = || {
        // SCSI page 0x80: four header bytes, then text.
        let page = std::fs::read(disk.folder.join("device/vpd_pg80")).ok()?;
        let text = String::from_utf8_lossy(page.get(4..)?).trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    let of_usb = || roots::text(&bus::usb_device(&disk.folder)?.join("serial"));
    let named = ["serial", "device/serial"]
        .iter()
        .find_map(|name| roots::text(&disk.folder.join(name)));
    let found = named
        .filter(|text| !text.is_empty())
        .or_else(unit_serial)
        .or_else(of_usb);
    let because = if disk.is_virtual() {
        UnknownReason::NoHardware
    } else {
        UnknownReason::NotReportedByDevice
    };
    Fact::or_because(found, because)
}

fn firmware(disk: &DeviceNode) -> Fact<String> {
    match roots::text(&disk.folder.join("device/type")).as_deref() {
        Some("SD") => Fact::Unknown(UnknownReason::OnlyRevision),
        Some("MMC") => roots::text_fact(&disk.folder.join("device/fwrev")),
        _ => first_text(
            disk,
            &["device/firmware_rev", "device/rev"],
            UnknownReason::NoFirmwareInSysfs,
        ),
    }
}

fn first_text(disk: &DeviceNode, names: &[&str], because: UnknownReason) -> Fact<String> {
    let found = names
        .iter()
        .find_map(|name| roots::text(&disk.folder.join(name)).filter(|text| !text.is_empty()));
    Fact::or_because(found, because)
}

fn flag(path: &Path) -> Fact<bool> {
    match roots::number_fact::<u8>(path) {
        Fact::Known(value) => Fact::Known(value != 0),
        Fact::Unknown(because) => Fact::Unknown(because),
    }
}

fn bytes(path: &Path) -> Fact<Bytes> {
    match roots::number_fact::<u64>(path) {
        Fact::Known(value) => Fact::Known(Bytes(value)),
        Fact::Unknown(because) => Fact::Unknown(because),
    }
}

/// Returns the active I/O scheduler. It is in brackets in `none [mq-deadline] kyber`; a single scheduler has no
/// brackets.
pub(crate) fn scheduler(path: &Path) -> Fact<String> {
    match roots::text_fact(path) {
        Fact::Known(text) => {
            let chosen = text
                .split_once('[')
                .and_then(|(_, rest)| Some(rest.split_once(']')?.0.to_owned()));
            Fact::Known(chosen.unwrap_or(text))
        }
        unknown => unknown,
    }
}

/// Reads the temperature from hwmon: NVMe, and SATA with the `drivetemp` driver.
fn temperature(disk: &DeviceNode) -> Fact<i64> {
    let device = disk.folder.join("device");
    let monitors = [device.clone(), device.join("hwmon")]
        .into_iter()
        .flat_map(|folder| {
            let names = roots::names(&folder)
                .into_iter()
                .filter(|n| n.strip_prefix("hwmon").is_some_and(|n| !n.is_empty()));
            names.map(|name| folder.join(name)).collect::<Vec<_>>()
        });
    let read = |monitor: PathBuf| roots::text(&monitor.join("temp1_input"))?.parse().ok();
    let found = monitors.into_iter().find_map(read);
    Fact::or_because(found, UnknownReason::NoDiskSensor)
}
