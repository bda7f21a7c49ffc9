//! The terminal report of a device and its host: grouped facts with units, reasons for unknown facts, and notes about
//! unusual values.

use crate::document::{Document, DocumentBlock, Pair, TableStyle, part};
use crate::escape::plain;
use crate::facts::{self, FactLines};
use crate::naming::distinct;
use crate::table::DataTable;
use crate::text::{DeviceLabel, Head, HealthCounter, StateWord};
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
            _ => ("", format!("{}: {reason}", text::enumerated(&names))),
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
    document(known).terminal(width, color)
}

/// Renders one target as an HTML page.
pub fn device_html(known: &TargetInfo<'_>) -> String {
    document(known).html()
}

fn document(known: &TargetInfo<'_>) -> Document {
    let TargetInfo {
        identity,
        environment,
        ceiling,
        by_hand,
        ..
    } = *known;
    let mut blocks = group(DeviceLabel::Target.text(), path(known));
    match &identity.device {
        Fact::Known(device) => {
            blocks.extend(group(DeviceLabel::Device.text(), hardware(device)));
            let card = device.card.iter();
            blocks.extend(card.flat_map(|card| registers(card, by_hand)));
            blocks.extend(group(DeviceLabel::Bus.text(), bus(&device.bus, ceiling)));
            blocks.extend(group(DeviceLabel::Queue.text(), queue(device)));
        }
        Fact::Unknown(_) => {
            let mut facts = DeviceFacts::new();
            facts.fact_as(DeviceLabel::Device.text(), &identity.device, |_| {
                String::new()
            });
            blocks.extend(group(DeviceLabel::Device.text(), facts));
        }
    }
    blocks.extend(known.content.into_iter().flat_map(contents));
    blocks.extend(host(environment));
    blocks.extend(second_look(findings(identity, environment, ceiling)));
    Document {
        title: identity.display_name(),
        under: Vec::new(),
        blocks,
    }
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
    part(
        DeviceLabel::Suspicious,
        vec![DocumentBlock::Caveats(found.collect())],
    )
}

/// Renders a list of disks, one line each, and the host.
pub fn disks_terminal(
    disks: &[Listed<'_>],
    environment: &Environment,
    width: usize,
    color: bool,
) -> String {
    let rows = disks.iter().map(|disk| row(disk).to_vec());
    let head = [
        Head::ListedDevice,
        Head::ListedSize,
        Head::ListedBus,
        Head::ListedWhat,
        Head::ListedState,
    ];
    let table = DataTable::new(head.map(Head::text), rows);
    let mut blocks = vec![match disks.is_empty() {
        true => DocumentBlock::Text(StateWord::NoDisks.into()),
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
            match kind.map(String::as_str) {
                Some("MMC") => "eMMC".to_owned(),
                Some(kind) => plain(kind),
                None => text::bus_kind(&device.bus),
            }
        }
        Bus::Usb { .. } => "USB".to_owned(),
        Bus::Nvme { .. } => "NVMe".to_owned(),
        Bus::Scsi { .. } => "SATA/SCSI".to_owned(),
        Bus::Virtio => "virtio".to_owned(),
        Bus::Software => StateWord::None.into(),
        Bus::Other { name } => plain(name),
    }
}

fn path(known: &TargetInfo<'_>) -> DeviceFacts {
    let identity = known.identity;
    let mut facts = DeviceFacts::new();
    facts.say(DeviceLabel::Path.text(), identity.path.display());
    if let Some(filesystem) = &identity.filesystem {
        facts.say(DeviceLabel::FileSystem.text(), facts::mounted(filesystem));
        if filesystem.size.0 > 0 {
            let Filesystem { size, free, .. } = filesystem;
            facts.say(DeviceLabel::Space.text(), text::space(*size, *free));
        }
        facts.say(DeviceLabel::Options.text(), &filesystem.options);
    }
    // A loop device backed by a file on the system disk is not itself the system disk.
    if identity.system_disk && !known.runs_system {
        facts.say(DeviceLabel::System.text(), StateWord::SameDisk.text());
    }
    facts.say(DeviceLabel::State.text(), known.state.unwrap_or_default());
    facts
}

fn hardware(device: &DeviceIdentity) -> DeviceFacts {
    let mut facts = DeviceFacts::new();
    facts.say(DeviceLabel::Node.text(), device.node.display());
    let size = device.size;
    let decimal = size.decimal();
    facts.say(
        DeviceLabel::Size.text(),
        text::size_in_bytes(size, &decimal),
    );
    facts.fact(DeviceLabel::Model.text(), &device.model);
    facts.fact(DeviceLabel::SerialNumber.text(), &device.serial);
    facts.fact(DeviceLabel::Firmware.text(), &device.firmware);
    facts.fact(DeviceLabel::WorldWideName.text(), &device.wwid);
    facts.say(
        DeviceLabel::Aliases.text(),
        text::enumerated(&device.aliases),
    );
    facts.say(DeviceLabel::Chain.text(), facts::chain(device));
    facts.fact(DeviceLabel::Driver.text(), &device.driver);
    let mut nature = vec![match device.removable {
        true => StateWord::Removable.text(),
        false => StateWord::BuiltIn.text(),
    }];
    let rotates = device.rotational.known() == Some(&true);
    nature.extend(rotates.then_some(StateWord::Rotates.text()));
    nature.extend(device.read_only.then_some(StateWord::WriteProtected.text()));
    facts.say(DeviceLabel::Nature.text(), text::enumerated(&nature));
    facts.fact_as(
        DeviceLabel::Temperature.text(),
        &device.temperature_mc,
        facts::celsius,
    );
    facts.fact_as(DeviceLabel::Health.text(), &device.health, health);
    facts
}

/// Health counters of a disk.
fn health(health: &Health) -> String {
    use HealthCounter::*;
    let share = |percent: Option<u64>, of| percent.map(|n| text::health_share(n, of));
    let size = |size: Option<Bytes>, of| size.map(|n| text::health_count(&n.decimal(), of));
    let count = |n: Option<u64>, of| n.map(|n| text::health_count(&number::grouped(n), of));
    let counters = [
        share(health.percent_used, LifeUsed),
        share(health.spare_percent, SpareLeft),
        size(health.written, Written),
        size(health.read, Read),
        count(health.power_on_hours, PowerOnHours),
        count(health.unsafe_shutdowns, UnsafeShutdowns),
        count(health.media_errors, MediaErrors),
        count(health.reallocated_sectors, Reallocated),
        count(health.pending_sectors, Pending),
    ];
    let warnings = health
        .warnings
        .iter()
        .map(|text| text::health_warning(text));
    let words: Vec<String> = warnings.chain(counters.into_iter().flatten()).collect();
    match words.is_empty() {
        true => StateWord::NothingCounted.into(),
        false => text::enumerated(&words),
    }
}

fn queue(device: &DeviceIdentity) -> DeviceFacts {
    let mut facts = DeviceFacts::new();
    facts.say(DeviceLabel::BlockSize.text(), facts::block_size(device));
    facts.fact(DeviceLabel::Scheduler.text(), &device.scheduler);
    facts.fact(DeviceLabel::WriteCache.text(), &device.write_cache);
    facts.fact_as(
        DeviceLabel::LargestRequest.text(),
        &device.max_sectors_kb,
        |kib| Bytes(u64::from(*kib) << 10).to_string(),
    );
    facts.fact_as(DeviceLabel::QueueLength.text(), &device.nr_requests, |n| {
        text::queue_length(*n)
    });
    facts.fact_as(
        DeviceLabel::Discard.text(),
        &device.discard_max,
        |most| match most.0 {
            0 => StateWord::NotOffered.into(),
            _ => match device.discard_granularity.known() {
                Some(unit) => text::discard_in_units(*unit),
                None => StateWord::Offered.into(),
            },
        },
    );
    facts.fact(DeviceLabel::Zones.text(), &device.zoned);
    facts
}

fn bus(bus: &Bus, ceiling: Option<BytesPerSec>) -> DeviceFacts {
    let mut facts = DeviceFacts::new();
    facts.say(DeviceLabel::Kind.text(), text::bus_kind(bus));
    match bus {
        Bus::Mmc {
            width_bits,
            clock_hz,
            timing,
            ceiling: _,
        } => {
            facts.fact_as(DeviceLabel::Width.text(), width_bits, |bits| {
                text::bus_width(*bits)
            });
            facts.fact_as(DeviceLabel::Clock.text(), clock_hz, facts::megahertz);
            facts.fact(DeviceLabel::Timing.text(), timing);
        }
        Bus::Usb { speed_mbps } => facts.fact_as(DeviceLabel::Speed.text(), speed_mbps, |mbps| {
            text::negotiated(*mbps)
        }),
        Bus::Nvme { link } | Bus::Scsi { link } => facts.fact(DeviceLabel::Link.text(), link),
        Bus::Virtio | Bus::Software | Bus::Other { .. } => {}
    }
    if let Some(ceiling) = ceiling {
        let most = number::significant(ceiling.0 / 1e6);
        facts.say(DeviceLabel::Ceiling.text(), text::ceiling(&most));
    }
    facts
}

fn registers(card: &CardRegisters, by_hand: &[String]) -> Vec<DocumentBlock> {
    let title = text::card_registers(by_hand);
    let mut facts = DeviceFacts::new();
    facts.fact(DeviceLabel::CardType.text(), &card.card_type);
    facts.fact(DeviceLabel::Specification.text(), &card.spec);
    facts.fact(DeviceLabel::Maker.text(), &card.maker);
    facts.fact(DeviceLabel::OemId.text(), &card.oem);
    facts.fact(DeviceLabel::Name.text(), &card.name);
    facts.fact(DeviceLabel::Revision.text(), &card.revision);
    facts.fact(DeviceLabel::SerialNumber.text(), &card.serial);
    facts.fact(DeviceLabel::Made.text(), &card.date);
    facts.fact_as(DeviceLabel::SpeedClass.text(), &card.speed_class, |n| {
        sequential("C", *n)
    });
    facts.fact_as(DeviceLabel::UhsGrade.text(), &card.uhs_grade, |n| {
        sequential("U", *n)
    });
    facts.fact_as(DeviceLabel::VideoClass.text(), &card.video_class, |n| {
        sequential("V", *n)
    });
    facts.fact_as(DeviceLabel::ApplicationClass.text(), &card.app_class, |n| {
        application(*n)
    });
    facts.fact(DeviceLabel::AllocationUnit.text(), &card.allocation_unit);
    facts.fact(DeviceLabel::Modes.text(), &card.device_type);
    facts.fact(DeviceLabel::LifeTime.text(), &card.life_time);
    facts.fact(DeviceLabel::SpareBlocks.text(), &card.pre_eol);
    facts.fact_as(DeviceLabel::Cid.text(), &card.cid, |digits| {
        in_groups(digits)
    });
    facts.fact_as(DeviceLabel::Csd.text(), &card.csd, |digits| {
        in_groups(digits)
    });
    facts.fact_as(DeviceLabel::Scr.text(), &card.scr, |digits| {
        in_groups(digits)
    });
    facts.fact_as(DeviceLabel::Ssr.text(), &card.ssr, |digits| {
        in_groups(digits)
    });
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
        n => text::class_demands(&format!("{letter}{n}"), megabytes),
    }
}

/// Source: SD Physical Layer Specification, section 4.16: random 4 KiB I/Os, and concurrent sequential writes.
fn application(class: u32) -> String {
    let (reads, writes) = match class {
        0 => return text::none_claimed().to_owned(),
        1 => (1500, 500),
        _ => (4000, 2000),
    };
    text::application_class_demands(class, reads, writes)
}

fn contents(lines: &[String]) -> Vec<DocumentBlock> {
    let mut facts = DeviceFacts::new();
    if lines.is_empty() {
        facts.say(DeviceLabel::Found.text(), StateWord::NothingKnown.text());
    }
    for line in lines {
        facts.say(DeviceLabel::Found.text(), line);
    }
    group(DeviceLabel::Content.text(), facts)
}

fn host(host: &Environment) -> Vec<DocumentBlock> {
    let mut facts = DeviceFacts::new();
    facts::host(&mut facts, host, text::fact_of_host);
    group(DeviceLabel::Host.text(), facts)
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
            found.push(text::spare_blocks_run_out(state));
        }
    }
    if let Some(words) = host
        .throttled
        .known()
        .and_then(|flags| facts::throttled(*flags))
    {
        found.push(text::host_slowed_down(&words));
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
        text::claim_out_of_reach(claimed, &most)
    })
}

#[cfg(test)]
mod tests;
