//! The terminal report of a device and its host: grouped facts with units, reasons for unknown facts, and notes about
//! unusual values.

use crate::document::{Document, DocumentBlock, Pair, TableStyle, part};
use crate::escape::plain;
use crate::table::DataTable;
use crate::{number, text};
use hakaru_model::facts::{
    Bus, CardRegisters, DeviceIdentity, Environment, Fact, Filesystem, Health, Identity,
};
use hakaru_model::units::{Bytes, BytesPerSec};
use std::fmt::Display;

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

/// The facts of one group.
struct FactTable {
    title: String,
    lines: Vec<(&'static str, String)>,
    /// Reasons, each with the names of the facts that are unknown because of it.
    unknown: Vec<(String, Vec<&'static str>)>,
}

impl FactTable {
    fn new(title: &str) -> FactTable {
        FactTable {
            title: title.to_owned(),
            lines: Vec::new(),
            unknown: Vec::new(),
        }
    }

    fn say(&mut self, name: &'static str, value: impl Display) {
        let value = plain(&value.to_string());
        if !value.is_empty() {
            self.lines.push((name, value));
        }
    }

    fn fact<T: Display>(&mut self, name: &'static str, fact: &Fact<T>) {
        self.fact_as(name, fact, T::to_string);
    }

    /// Adds a fact with a custom text. Facts that are unknown for the same reason are grouped.
    fn fact_as<T>(&mut self, name: &'static str, fact: &Fact<T>, words: impl FnOnce(&T) -> String) {
        match fact {
            Fact::Known(value) => self.say(name, words(value)),
            Fact::Unknown(because) => {
                let because = plain(because);
                match self.unknown.iter_mut().find(|(known, _)| *known == because) {
                    Some((_, names)) => names.push(name),
                    None => self.unknown.push((because, vec![name])),
                }
            }
        }
    }

    /// The group as a part of a report; empty if it has no facts.
    fn blocks(self) -> Vec<DocumentBlock> {
        let known = self
            .lines
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value));
        let mut pairs: Vec<Pair> = known.map(Pair::from).collect();
        pairs.extend(self.unknown.into_iter().map(|(because, names)| {
            let (name, of) = match &names[..] {
                [only] => (*only, String::new()),
                many => ("", format!("{}: ", many.join(", "))),
            };
            Pair {
                name: name.to_owned(),
                value: format!("{of}unknown ({because})"),
                known: false,
            }
        }));
        match pairs.is_empty() {
            true => Vec::new(),
            false => part(self.title, vec![DocumentBlock::Pairs(pairs)]),
        }
    }
}

/// Renders one target for a terminal of `width` columns; `color` allows ANSI styles.
pub fn device_terminal(known: &TargetInfo<'_>, width: usize, color: bool) -> String {
    let TargetInfo {
        identity,
        environment,
        ceiling,
        by_hand,
        content,
        state,
        runs_system,
    } = *known;
    let mut groups = vec![path(identity, state, runs_system)];
    match &identity.device {
        Fact::Known(device) => {
            groups.push(hardware(device));
            groups.extend(device.card.as_ref().map(|card| registers(card, by_hand)));
            groups.push(bus(&device.bus, ceiling));
            groups.push(queue(device));
        }
        Fact::Unknown(_) => {
            let mut group = FactTable::new("Device");
            group.fact_as("Device", &identity.device, |_| String::new());
            groups.push(group);
        }
    }
    groups.extend(content.map(contents));
    groups.push(host(environment));
    let mut blocks: Vec<DocumentBlock> = groups.into_iter().flat_map(FactTable::blocks).collect();
    blocks.extend(second_look(findings(identity, environment, ceiling)));
    let title = identity.display_name();
    terminal(title, blocks, width, color)
}

fn terminal(title: String, blocks: Vec<DocumentBlock>, width: usize, color: bool) -> String {
    let under = Vec::new();
    Document {
        title,
        under,
        blocks,
    }
    .terminal(width, color)
}

/// Renders the registers of a card that is not in a device of this host.
pub fn card_terminal(
    card: &CardRegisters,
    by_hand: &[String],
    width: usize,
    color: bool,
) -> String {
    let mut blocks = registers(card, by_hand).blocks();
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
    let table = DataTable {
        head: ["DEVICE", "SIZE", "BUS", "WHAT", "STATE"]
            .map(str::to_owned)
            .to_vec(),
        rows: disks.iter().map(|disk| row(disk).to_vec()).collect(),
    };
    let mut blocks = vec![match disks.is_empty() {
        true => DocumentBlock::Text("No disk can be seen here.".to_owned()),
        false => DocumentBlock::Table(TableStyle::Numbers, table),
    }];
    blocks.extend(host(environment).blocks());
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

/// Formats a size: `29.7 GiB (31.9 GB, 31914983424 bytes)`.
pub(crate) fn size(size: Bytes) -> String {
    format!("{size} ({}, {} bytes)", decimal(size), size.0)
}

/// Formats a size in decimal units, as on card labels: `31.9 GB`.
pub(crate) fn decimal(size: Bytes) -> String {
    size.decimal()
}

fn path(identity: &Identity, state: Option<&str>, runs_system: bool) -> FactTable {
    let mut group = FactTable::new("Target");
    group.say("Path", identity.path.display());
    if let Some(Filesystem {
        fs_type,
        mount_point,
        source,
        options,
        size,
        free,
    }) = &identity.filesystem
    {
        let at = if mount_point.as_os_str().is_empty() {
            String::new()
        } else {
            format!(" at {}", mount_point.display())
        };
        let from = if source.is_empty() {
            String::new()
        } else {
            format!(" ({source})")
        };
        group.say("File system", format!("{fs_type}{at}{from}"));
        if size.0 > 0 {
            group.say("Space", format!("{size}, {free} free"));
        }
        group.say("Options", options);
    }
    // A loop device backed by a file on the system disk is not itself the system disk.
    if identity.system_disk && !runs_system {
        group.say("System", "runs from the same disk");
    }
    group.say("State", state.unwrap_or_default());
    group
}

fn hardware(device: &DeviceIdentity) -> FactTable {
    let mut group = FactTable::new("Device");
    group.say("Node", device.node.display());
    group.say("Size", size(device.size));
    group.fact("Model", &device.model);
    group.fact("Serial number", &device.serial);
    group.fact("Firmware", &device.firmware);
    group.fact("World-wide name", &device.wwid);
    group.say("Also known as", device.aliases.join(", "));
    let chain = text::chain(device);
    if chain.len() > 1 {
        group.say("Stands on", chain.join(" → "));
    }
    group.fact("Driver", &device.driver);
    let mut nature = vec![if device.removable {
        "removable"
    } else {
        "built in"
    }];
    nature.extend(
        device
            .rotational
            .known()
            .filter(|rotates| **rotates)
            .map(|_| "says that it rotates"),
    );
    nature.extend(device.read_only.then_some("write-protected"));
    group.say("Nature", nature.join(", "));
    group.fact_as("Temperature", &device.temperature_mc, |mc| celsius(*mc));
    group.fact_as("Health", &device.health, health);
    group
}

/// Health counters of a disk.
fn health(health: &Health) -> String {
    let Health {
        percent_used,
        spare_percent,
        written,
        read,
        power_on_hours,
        ..
    } = health;
    let Health {
        unsafe_shutdowns,
        media_errors,
        reallocated_sectors,
        pending_sectors,
        warnings,
        ..
    } = health;
    let mut words: Vec<String> = warnings.clone();
    let mut say = |value: Option<String>| words.extend(value);
    say(percent_used.map(|n| format!("{n}% of its life used up")));
    say(spare_percent.map(|n| format!("{n}% of its reserve left")));
    say(written.map(|bytes| format!("{} written", decimal(bytes))));
    say(read.map(|bytes| format!("{} read", decimal(bytes))));
    say(power_on_hours.map(|n| format!("{} hours on", number::count(n))));
    say(unsafe_shutdowns.map(|n| format!("{} unsafe shutdowns", number::count(n))));
    say(media_errors.map(|n| format!("{} media errors", number::count(n))));
    say(reallocated_sectors.map(|n| format!("{} sectors replaced", number::count(n))));
    say(pending_sectors.map(|n| format!("{} sectors to be replaced", number::count(n))));
    if words.is_empty() {
        "nothing is counted".to_owned()
    } else {
        words.join(", ")
    }
}

fn celsius(mc: i64) -> String {
    format!("{} °C", number::exact(mc as f64 / 1000.0, 1))
}

fn queue(device: &DeviceIdentity) -> FactTable {
    let mut group = FactTable::new("Queue");
    group.say(
        "Block size",
        format!(
            "{} B logical, {} B physical",
            device.logical_block, device.physical_block
        ),
    );
    group.fact("Scheduler", &device.scheduler);
    group.fact("Write cache", &device.write_cache);
    group.fact_as("Largest request", &device.max_sectors_kb, |kib| {
        Bytes(u64::from(*kib) << 10).to_string()
    });
    group.fact_as("Queue length", &device.nr_requests, |n| {
        format!("{n} requests")
    });
    group.fact_as("Discard", &device.discard_max, |most| match most.0 {
        0 => "not offered".to_owned(),
        _ => match device.discard_granularity.known() {
            Some(unit) => format!("offered, in units of {unit}"),
            None => "offered".to_owned(),
        },
    });
    group.fact("Zones", &device.zoned);
    group
}

fn bus(bus: &Bus, ceiling: Option<BytesPerSec>) -> FactTable {
    let mut group = FactTable::new("Bus");
    match bus {
        Bus::Mmc {
            width_bits,
            clock_hz,
            timing,
            ceiling: _,
        } => {
            group.say("Kind", "SD or eMMC");
            group.fact_as("Width", width_bits, |bits| format!("{bits} bit"));
            group.fact_as("Clock", clock_hz, |hz| {
                format!("{} MHz", number::significant(*hz as f64 / 1e6))
            });
            group.fact("Timing", timing);
        }
        Bus::Usb { speed_mbps } => {
            group.say("Kind", "USB");
            group.fact_as("Speed", speed_mbps, |mbps| {
                format!("{mbps} Mbit/s, negotiated")
            });
        }
        Bus::Nvme { link } => {
            group.say("Kind", "NVMe over PCI Express");
            group.fact("Link", link);
        }
        Bus::Scsi { link } => {
            group.say("Kind", "SATA or SCSI");
            group.fact("Link", link);
        }
        Bus::Virtio => group.say("Kind", "virtio: a virtual disk of a hypervisor"),
        Bus::Software => group.say("Kind", "none: there is no hardware below"),
        Bus::Other { name } => group.say("Kind", name),
    }
    if let Some(ceiling) = ceiling {
        group.say(
            "Ceiling",
            format!(
                "{} MB/s: faster it cannot be",
                number::significant(ceiling.0 / 1e6)
            ),
        );
    }
    group
}

fn registers(card: &CardRegisters, by_hand: &[String]) -> FactTable {
    let mut group = match by_hand {
        [] => FactTable::new("Card"),
        given => FactTable::new(&format!("Card ({} given by hand)", given.join(", "))),
    };
    group.fact("Type", &card.card_type);
    group.fact("Specification", &card.spec);
    group.fact("Maker", &card.maker);
    group.fact("OEM id", &card.oem);
    group.fact("Name", &card.name);
    group.fact("Revision", &card.revision);
    group.fact("Serial number", &card.serial);
    group.fact("Made", &card.date);
    group.fact_as("Speed Class", &card.speed_class, |n| {
        sequential("C", *n, *n)
    });
    group.fact_as("UHS grade", &card.uhs_grade, |n| {
        sequential("U", *n, if *n == 1 { 10 } else { *n * 10 })
    });
    group.fact_as("Video class", &card.video_class, |n| {
        sequential("V", *n, *n)
    });
    group.fact_as("Application class", &card.app_class, |n| application(*n));
    group.fact("Allocation unit", &card.allocation_unit);
    group.fact("Modes", &card.device_type);
    group.fact("Life time used up", &card.life_time);
    group.fact("Reserve blocks", &card.pre_eol);
    for (name, register) in [
        ("CID", &card.cid),
        ("CSD", &card.csd),
        ("SCR", &card.scr),
        ("SSR", &card.ssr),
    ] {
        group.fact_as(name, register, |digits| in_groups(digits));
    }
    group
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

/// Source: SD Physical Layer Specification, section 4.13: MB/s of sequential writes.
fn sequential(letter: &str, class: u32, megabytes: u32) -> String {
    match class {
        0 => "none claimed".to_owned(),
        n => format!("{letter}{n}: writes {megabytes} MB/s at least"),
    }
}

/// Source: SD Physical Layer Specification, section 4.16: random 4 KiB I/Os, and concurrent sequential writes.
fn application(class: u32) -> String {
    let (reads, writes) = match class {
        0 => return "none claimed".to_owned(),
        1 => (1500, 500),
        _ => (4000, 2000),
    };
    format!(
        "A{class}: {reads} random reads, {writes} random writes a second at least, 10 MB/s sustained"
    )
}

fn contents(lines: &[String]) -> FactTable {
    let mut group = FactTable::new("Content");
    if lines.is_empty() {
        group.say("Found", "nothing that is known");
    }
    for line in lines {
        group.say("Found", line);
    }
    group
}

fn host(host: &Environment) -> FactTable {
    let mut group = FactTable::new("Host");
    group.say("Name", &host.hostname);
    group.fact("Board", &host.board);
    group.fact_as("Processor", &host.cpu, |cpu| match host.cpu_count {
        0 => cpu.clone(),
        n => format!("{cpu}, {n} online"),
    });
    group.fact("Governor", &host.governor);
    if host.memory.0 > 0 {
        group.say("Memory", host.memory);
    }
    group.say("Kernel", format!("{} {}", host.kernel, host.arch).trim());
    group.fact("Distribution", &host.distribution);
    group.fact_as("Load", &host.load_percent, |load| {
        number::exact(f64::from(*load) / 100.0, 2)
    });
    group.fact_as("Waiting for I/O", &host.io_pressure, |share| {
        format!(
            "{}% of the last 10 s",
            number::exact(f64::from(*share) / 100.0, 2)
        )
    });
    group.fact_as("Temperature", &host.temperature_mc, |mc| celsius(*mc));
    group.fact_as("Throttling", &host.throttled, |flags| {
        throttled(*flags).unwrap_or_else(|| "none".to_owned())
    });
    group.say("Clock", &host.clock);
    group
}

/// Source: documentation of the Raspberry Pi, `vcgencmd get_throttled`: bits 0 to 3 are the current state; bits 16 to
/// 19 show the same conditions since boot.
fn throttled(flags: u32) -> Option<String> {
    let words = [
        "under-voltage",
        "frequency capped",
        "throttled",
        "soft temperature limit",
    ];
    let named = |shift: u32| {
        let set = (0..4).filter(move |bit| flags >> (shift + bit) & 1 == 1);
        set.map(|bit| words[bit as usize]).collect::<Vec<_>>()
    };
    let (now, before) = (named(0), named(16));
    match (now.is_empty(), before.is_empty()) {
        (true, true) => None,
        (false, _) => Some(format!("{} now", now.join(", "))),
        (true, false) => Some(format!("{} since the start, not now", before.join(", "))),
    }
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
    if let Some(words) = host.throttled.known().and_then(|flags| throttled(*flags)) {
        found.push(format!("the host was slowed down: {words}"));
    }
    found
}

/// A claim that the bus cannot reach; a lower result is then not caused by the card.
fn out_of_reach(card: &CardRegisters, ceiling: Option<BytesPerSec>) -> Option<String> {
    let ceiling = ceiling?;
    let known = |fact: &Fact<u32>| fact.known().copied().unwrap_or(0);
    let grade = match known(&card.uhs_grade) {
        1 => 10,
        n => n.saturating_mul(10),
    };
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
