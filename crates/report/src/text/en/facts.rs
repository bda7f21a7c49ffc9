//! Labels of the environment.

use crate::facts::{FactGroup, FactKey};
use hakaru_model::facts::{Bus, ChainLink, DeviceIdentity, Fact, LinkRole};

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
