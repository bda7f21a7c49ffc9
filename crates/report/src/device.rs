//! The terminal report of a device and its host: grouped facts with units, reasons for unknown facts, and notes about
//! unusual values.

use crate::document::{Document, DocumentBlock, Pair, TableStyle, part};
use crate::escape::plain;
use crate::facts::{self, FactLines};
use crate::naming::distinct;
use crate::table::DataTable;
use crate::{number, text};
use hakaru_model::facts::{
    Bus, CardRegisters, DeviceIdentity, Environment, Fact, Filesystem, Health, Identity,
};
use hakaru_model::units::{Bytes, BytesPerSec};

/// The known facts about one target.
#[derive(Clone, Copy, Debug)]
pub struct TargetInfo<'a> {
    /// Identity of the target.
    pub identity: &'a Identity,
    /// Environment of the host.
    pub environment: &'a Environment,
    /// Maximum bytes per second of its bus.
    pub ceiling: Option<BytesPerSec>,
    /// Registers given on the command line, such as `CID`.
    pub by_hand: &'a [String],
    /// Content of the device, one line each; `None` if it was not inspected.
    pub content: Option<&'a [String]>,
    /// Whether the device may be erased, or the reason why not.
    pub state: Option<&'a str>,
    /// Whether `state` says that the system runs from the device.
    pub runs_system: bool,
}

/// A disk in a list.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Identity of the disk.
    pub identity: &'a Identity,
    /// Its use, in a few words.
    pub state: &'a str,
}

/// The facts of one group, by their labels.
type DeviceFacts = FactLines<&'static str>;

/// A group of facts as a part of the page. Facts that are unknown for the same reason share a line.
fn group(title: impl Into<String>, facts: DeviceFacts) -> Vec<DocumentBlock> {
    let (known, unknown): (Vec<_>, Vec<_>) = facts.0.into_iter().partition(|line| line.known);
    let known = known
        .into_iter()
        .map(|line| (line.key.to_owned(), line.value));
    let mut pairs: Vec<Pair> = known.map(Pair::from).collect();
    let reasons = distinct(unknown.iter().map(|line| line.value.clone()));
    pairs.extend(reasons.into_iter().map(|reason| {
        let names = unknown.iter().filter(|line| line.value == reason);
        let names: Vec<&str> = names.map(|line| line.key).collect();
        let (name, value) = match names[..] {
            [only] => (only, reason),
            _ => ("", format!("{}: {reason}", names.join(", "))),
        };
        Pair {
            name: name.to_owned(),
            value,
            known: false,
        }
    }));
    part(title, vec![DocumentBlock::Pairs(pairs)])
}

/// Renders one target for a terminal of `width` columns; `color` allows ANSI styles.
pub fn device_terminal(known: &TargetInfo<'_>, width: usize, color: bool) -> String {
    let TargetInfo {
        identity,
        environment,
        ceiling,
        by_hand,
        ..
    } = *known;
    let mut blocks = group("Target", path(known));
    match &identity.device {
        Fact::Known(device) => {
            blocks.extend(group("Device", hardware(device)));
            let card = device.card.iter();
            blocks.extend(card.flat_map(|card| registers(card, by_hand)));
            blocks.extend(group("Bus", bus(&device.bus, ceiling)));
            blocks.extend(group("Queue", queue(device)));
        }
        Fact::Unknown(_) => {
            let mut facts = DeviceFacts::new();
            facts.fact_as("Device", &identity.device, |_| String::new());
            blocks.extend(group("Device", facts));
        }
    }
    blocks.extend(known.content.into_iter().flat_map(contents));
    blocks.extend(host(environment));
    blocks.extend(second_look(findings(identity, environment, ceiling)));
    terminal(identity.display_name(), blocks, width, color)
}

fn terminal(title: String, blocks: Vec<DocumentBlock>, width: usize, color: bool) -> String {
    let document = Document {
        title,
        under: Vec::new(),
        blocks,
    };
    document.terminal(width, color)
}

/// Renders the registers of a card that is not in a device of this host.
pub fn card_terminal(
    card: &CardRegisters,
    by_hand: &[String],
    width: usize,
    color: bool,
) -> String {
    let mut blocks = registers(card, by_hand);
    blocks.extend(second_look(card.oddities.clone()));
    terminal(String::new(), blocks, width, color)
}

fn second_look(found: Vec<String>) -> Vec<DocumentBlock> {
    let found = found.into_iter().map(|text| (String::new(), text));
    part(SECOND_LOOK, vec![DocumentBlock::Caveats(found.collect())])
}

/// Title of the notes about unusual values.
const SECOND_LOOK: &str = "Worth a second look";

/// Renders a list of disks, one line each, and the host.
pub fn disks_terminal(
    disks: &[Listed<'_>],
    environment: &Environment,
    width: usize,
    color: bool,
) -> String {
    let rows = disks.iter().map(|disk| row(disk).to_vec());
    let table = DataTable::new(["DEVICE", "SIZE", "BUS", "WHAT", "STATE"], rows);
    let mut blocks = vec![match disks.is_empty() {
        true => DocumentBlock::Text("No disk can be seen here.".to_owned()),
        false => DocumentBlock::Table(TableStyle::Numbers, table),
    }];
    blocks.extend(host(environment));
    terminal(String::new(), blocks, width, color)
}

fn row(disk: &Listed<'_>) -> [String; 5] {
    let state = plain(disk.state);
    match &disk.identity.device {
        Fact::Known(device) => {
            let what = match (&device.model, device.chain.first()) {
                (Fact::Known(model), _) => plain(model),
                (_, Some(link)) => plain(&text::chain_role(&link.role)),
                _ => String::new(),
            };
            [
                plain(&device.node.display().to_string()),
                device.size.to_string(),
                bus_in_short(device),
                what,
                state,
            ]
        }
        Fact::Unknown(_) => [
            plain(&disk.identity.path.display().to_string()),
            String::new(),
            String::new(),
            String::new(),
            state,
        ],
    }
}

fn bus_in_short(device: &DeviceIdentity) -> String {
    match &device.bus {
        Bus::Mmc { .. } => {
            let kind = device.card.as_ref().and_then(|card| card.card_type.known());
            plain(kind.map_or(
                "SD or eMMC",
                |kind| if kind == "MMC" { "eMMC" } else { kind },
            ))
        }
        Bus::Usb { .. } => "USB".to_owned(),
        Bus::Nvme { .. } => "NVMe".to_owned(),
        Bus::Scsi { .. } => "SATA/SCSI".to_owned(),
        Bus::Virtio => "virtio".to_owned(),
        Bus::Software => "none".to_owned(),
        Bus::Other { name } => plain(name),
    }
}

fn path(known: &TargetInfo<'_>) -> DeviceFacts {
    let identity = known.identity;
    let mut facts = DeviceFacts::new();
    facts.say("Path", identity.path.display());
    if let Some(filesystem) = &identity.filesystem {
        facts.say("File system", facts::mounted(filesystem));
        if filesystem.size.0 > 0 {
            let Filesystem { size, free, .. } = filesystem;
            facts.say("Space", format!("{size}, {free} free"));
        }
        facts.say("Options", &filesystem.options);
    }
    // A loop device backed by a file on the system disk is not itself the system disk.
    if identity.system_disk && !known.runs_system {
        facts.say("System", "runs from the same disk");
    }
    facts.say("State", known.state.unwrap_or_default());
    facts
}

fn hardware(device: &DeviceIdentity) -> DeviceFacts {
    let mut facts = DeviceFacts::new();
    facts.say("Node", device.node.display());
    let size = device.size;
    let decimal = size.decimal();
    facts.say("Size", format!("{size} ({decimal}, {} bytes)", size.0));
    facts.fact("Model", &device.model);
    facts.fact("Serial number", &device.serial);
    facts.fact("Firmware", &device.firmware);
    facts.fact("World-wide name", &device.wwid);
    facts.say("Also known as", device.aliases.join(", "));
    facts.say("Stands on", facts::chain(device));
    facts.fact("Driver", &device.driver);
    let mut nature = vec![if device.removable {
        "removable"
    } else {
        "built in"
    }];
    let rotates = device.rotational.known() == Some(&true);
    nature.extend(rotates.then_some("says that it rotates"));
    nature.extend(device.read_only.then_some("write-protected"));
    facts.say("Nature", nature.join(", "));
    facts.fact_as("Temperature", &device.temperature_mc, facts::celsius);
    facts.fact_as("Health", &device.health, health);
    facts
}

/// Health counters of a disk.
fn health(health: &Health) -> String {
    let share = |percent: Option<u64>, of: &str| percent.map(|n| format!("{n}% of its {of}"));
    let size = |size: Option<Bytes>, how: &str| size.map(|n| format!("{} {how}", n.decimal()));
    let count = |n: Option<u64>, what: &str| n.map(|n| format!("{} {what}", number::count(n)));
    let counters = [
        share(health.percent_used, "life used up"),
        share(health.spare_percent, "reserve left"),
        size(health.written, "written"),
        size(health.read, "read"),
        count(health.power_on_hours, "hours on"),
        count(health.unsafe_shutdowns, "unsafe shutdowns"),
        count(health.media_errors, "media errors"),
        count(health.reallocated_sectors, "sectors replaced"),
        count(health.pending_sectors, "sectors to be replaced"),
    ];
    let warnings = health.warnings.iter().cloned();
    let words: Vec<String> = warnings.chain(counters.into_iter().flatten()).collect();
    match words.is_empty() {
        true => "nothing is counted".to_owned(),
        false => words.join(", "),
    }
}

fn queue(device: &DeviceIdentity) -> DeviceFacts {
    let mut facts = DeviceFacts::new();
    facts.say("Block size", facts::block_size(device));
    facts.fact("Scheduler", &device.scheduler);
    facts.fact("Write cache", &device.write_cache);
    facts.fact_as("Largest request", &device.max_sectors_kb, |kib| {
        Bytes(u64::from(*kib) << 10).to_string()
    });
    facts.fact_as("Queue length", &device.nr_requests, |n| {
        format!("{n} requests")
    });
    facts.fact_as("Discard", &device.discard_max, |most| match most.0 {
        0 => "not offered".to_owned(),
        _ => match device.discard_granularity.known() {
            Some(unit) => format!("offered, in units of {unit}"),
            None => "offered".to_owned(),
        },
    });
    facts.fact("Zones", &device.zoned);
    facts
}

fn bus(bus: &Bus, ceiling: Option<BytesPerSec>) -> DeviceFacts {
    let mut facts = DeviceFacts::new();
    facts.say("Kind", kind_of_bus(bus));
    match bus {
        Bus::Mmc {
            width_bits,
            clock_hz,
            timing,
            ceiling: _,
        } => {
            facts.fact_as("Width", width_bits, |bits| format!("{bits} bit"));
            facts.fact_as("Clock", clock_hz, facts::megahertz);
            facts.fact("Timing", timing);
        }
        Bus::Usb { speed_mbps } => facts.fact_as("Speed", speed_mbps, |mbps| {
            format!("{mbps} Mbit/s, negotiated")
        }),
        Bus::Nvme { link } | Bus::Scsi { link } => facts.fact("Link", link),
        Bus::Virtio | Bus::Software | Bus::Other { .. } => {}
    }
    if let Some(ceiling) = ceiling {
        let most = number::significant(ceiling.0 / 1e6);
        facts.say("Ceiling", format!("{most} MB/s: faster it cannot be"));
    }
    facts
}

fn kind_of_bus(bus: &Bus) -> &str {
    match bus {
        Bus::Mmc { .. } => "SD or eMMC",
        Bus::Usb { .. } => "USB",
        Bus::Nvme { .. } => "NVMe over PCI Express",
        Bus::Scsi { .. } => "SATA or SCSI",
        Bus::Virtio => "virtio: a virtual disk of a hypervisor",
        Bus::Software => "none: there is no hardware below",
        Bus::Other { name } => name,
    }
}

fn registers(card: &CardRegisters, by_hand: &[String]) -> Vec<DocumentBlock> {
    let title = match by_hand {
        [] => "Card".to_owned(),
        given => format!("Card ({} given by hand)", given.join(", ")),
    };
    let mut facts = DeviceFacts::new();
    facts.fact("Type", &card.card_type);
    facts.fact("Specification", &card.spec);
    facts.fact("Maker", &card.maker);
    facts.fact("OEM id", &card.oem);
    facts.fact("Name", &card.name);
    facts.fact("Revision", &card.revision);
    facts.fact("Serial number", &card.serial);
    facts.fact("Made", &card.date);
    facts.fact_as("Speed Class", &card.speed_class, |n| sequential("C", *n));
    facts.fact_as("UHS grade", &card.uhs_grade, |n| sequential("U", *n));
    facts.fact_as("Video class", &card.video_class, |n| sequential("V", *n));
    facts.fact_as("Application class", &card.app_class, |n| application(*n));
    facts.fact("Allocation unit", &card.allocation_unit);
    facts.fact("Modes", &card.device_type);
    facts.fact("Life time used up", &card.life_time);
    facts.fact("Reserve blocks", &card.pre_eol);
    facts.fact_as("CID", &card.cid, |digits| in_groups(digits));
    facts.fact_as("CSD", &card.csd, |digits| in_groups(digits));
    facts.fact_as("SCR", &card.scr, |digits| in_groups(digits));
    facts.fact_as("SSR", &card.ssr, |digits| in_groups(digits));
    group(title, facts)
}

/// Groups the digits of a register so that long values can wrap.
fn in_groups(digits: &str) -> String {
    let letters: Vec<char> = digits.chars().collect();
    letters
        .chunks(32)
        .map(|part| part.iter().collect::<String>())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Source: SD Physical Layer Specification, section 4.13: MB/s of sequential writes; a UHS grade stands for ten times
/// its number.
fn sequential(letter: &str, class: u32) -> String {
    let megabytes = if letter == "U" {
        class.saturating_mul(10)
    } else {
        class
    };
    match class {
        0 => text::none_claimed().to_owned(),
        n => format!("{letter}{n}: writes {megabytes} MB/s at least"),
    }
}

/// Source: SD Physical Layer Specification, section 4.16: random 4 KiB I/Os, and concurrent sequential writes.
fn application(class: u32) -> String {
    let (reads, writes) = match class {
        0 => return text::none_claimed().to_owned(),
        1 => (1500, 500),
        _ => (4000, 2000),
    };
    format!(
        "A{class}: {reads} random reads, {writes} random writes a second at least, 10 MB/s sustained"
    )
}

fn contents(lines: &[String]) -> Vec<DocumentBlock> {
    let mut facts = DeviceFacts::new();
    if lines.is_empty() {
        facts.say("Found", "nothing that is known");
    }
    for line in lines {
        facts.say("Found", line);
    }
    group("Content", facts)
}

fn host(host: &Environment) -> Vec<DocumentBlock> {
    let mut facts = DeviceFacts::new();
    facts::host(&mut facts, host, text::fact_of_host);
    group("Host", facts)
}

/// Unusual values of the identity, and conditions that affect a measurement.
fn findings(identity: &Identity, host: &Environment, ceiling: Option<BytesPerSec>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(card) = identity
        .device
        .known()
        .and_then(|device| device.card.as_ref())
    {
        found.extend(card.oddities.iter().cloned());
        found.extend(out_of_reach(card, ceiling));
        if let Some(state) = card
            .pre_eol
            .known()
            .filter(|state| ["warning", "urgent"].contains(&state.as_str()))
        {
            found.push(format!("spare blocks are running out ({state})"));
        }
    }
    if let Some(words) = host
        .throttled
        .known()
        .and_then(|flags| facts::throttled(*flags))
    {
        found.push(format!("the host was slowed down: {words}"));
    }
    found
}

/// A claim that the bus cannot reach; a lower result is then not caused by the card.
fn out_of_reach(card: &CardRegisters, ceiling: Option<BytesPerSec>) -> Option<String> {
    let ceiling = ceiling?;
    let known = |fact: &Fact<u32>| fact.known().copied().unwrap_or(0);
    let grade = known(&card.uhs_grade).saturating_mul(10);
    let claimed = known(&card.speed_class)
        .max(grade)
        .max(known(&card.video_class));
    (f64::from(claimed) * 1e6 > ceiling.0).then(|| {
        let most = number::significant(ceiling.0 / 1e6);
        format!("the card claims {claimed} MB/s, but this bus allows {most} MB/s at most")
    })
}

#[cfg(test)]
mod tests;
