//! The environment of a series as pairs of text: what was measured, on which device and host, and how.

mod brief;

pub(crate) use brief::{FactGroup, FactKey, brief, brief_of};

use crate::escape::plain;
use crate::text::StateWord;
use crate::{naming, number, results, text, time};
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::{
    Bus, CardRegisters, DeviceIdentity, Environment, Fact, Filesystem, Identity, UnknownReason,
};
use hakaru_model::finding::{Finding, PhaseSummary, Summary, SummaryOrigin};
use hakaru_model::units::{BytesPerSec, Quantile};
use std::fmt::Display;

/// One line of the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FactLine<Key = FactKey> {
    /// Its subject, or its label.
    pub(crate) key: Key,
    /// The value, or the reason why it is unknown.
    pub(crate) value: String,
    /// Whether the value is known.
    pub(crate) known: bool,
    /// Whether it belongs in the short form, which omits classes that the card does not claim.
    brief: bool,
}

impl FactLine {
    /// Label of the line.
    pub(crate) fn name(&self) -> &'static str {
        text::fact_name(self.key)
    }
}

/// Collects lines; untrusted text is made plain here, once.
pub(crate) struct FactLines<Key>(pub(crate) Vec<FactLine<Key>>);

impl<Key> FactLines<Key> {
    pub(crate) fn new() -> FactLines<Key> {
        FactLines(Vec::new())
    }

    /// Adds a known value, unless it is empty.
    pub(crate) fn say(&mut self, key: Key, value: impl Display) {
        let value = plain(&value.to_string());
        if !value.is_empty() {
            self.push(key, value, true);
        }
    }

    pub(crate) fn fact<T: Display>(&mut self, key: Key, fact: &Fact<T>) {
        self.fact_as(key, fact, T::to_string);
    }

    /// Adds a fact with a custom text.
    pub(crate) fn fact_as<T>(
        &mut self,
        key: Key,
        fact: &Fact<T>,
        words: impl FnOnce(&T) -> String,
    ) {
        match fact {
            Fact::Known(value) => self.say(key, words(value)),
            Fact::Unknown(because) => self.unknown(key, because),
        }
    }

    fn unknown(&mut self, key: Key, because: &UnknownReason) {
        self.push(key, plain(&text::unknown(because)), false);
    }

    fn push(&mut self, key: Key, value: String, known: bool) {
        self.0.push(FactLine {
            key,
            value,
            known,
            brief: known,
        });
    }
}

type RunFacts = FactLines<FactKey>;

impl RunFacts {
    /// Adds a class by its letter and number. The registers contain 0 if the card claims none.
    fn class(&mut self, key: FactKey, letter: char, number: &Fact<u32>) {
        self.fact_as(key, number, |number| match number {
            0 => text::none_claimed().to_owned(),
            number => format!("{letter}{number}"),
        });
        if let (Some(0), Some(line)) = (number.known(), self.0.last_mut()) {
            line.brief = false;
        }
    }
}

/// The target and the host, most important facts first.
pub(crate) fn surroundings(target: &Identity, environment: &Environment) -> Vec<FactLine> {
    let mut lines = RunFacts::new();
    lines.say(FactKey::Target, target.path.display());
    if let Some(filesystem) = &target.filesystem {
        lines.say(FactKey::FileSystem, filesystem_words(filesystem));
        lines.say(FactKey::MountOptions, &filesystem.options);
    }
    match &target.device {
        Fact::Known(found) => device(&mut lines, found),
        Fact::Unknown(because) => lines.unknown(FactKey::Device, because),
    }
    match target.device == Fact::Unknown(UnknownReason::SimulatedCard) {
        // Virtual time depends on no part of the host.
        true => lines.say(FactKey::Host, &environment.hostname),
        false => host(&mut lines, environment, |key| key),
    }
    let of_device_page = [FactKey::IoPressure, FactKey::Throttling];
    lines.0.retain(|line| !of_device_page.contains(&line.key));
    lines.0
}

/// The whole environment of a series, most important facts first.
pub(crate) fn circumstances(summary: &Summary) -> Vec<FactLine> {
    let mut lines = FactLines(surroundings(&summary.target, &summary.environment));
    if let SummaryOrigin::Imported { disks, .. } = &summary.origin {
        lines.name_disks(disks);
    }
    lines.say(FactKey::Origin, text::origin(&summary.origin));
    if let Some(ns) = summary.overhead_ns {
        lines.say(
            FactKey::ToolOverhead,
            text::overhead(
                &number::nanos(ns),
                share_of_quickest(summary, ns).as_deref(),
            ),
        );
    }
    // Published figures have no start time.
    if summary.started_unix_ms != 0 {
        lines.say(FactKey::Started, begun(summary));
    }
    lines.say(FactKey::Series, &summary.series);
    lines.0
}

impl RunFacts {
    /// States the disks that an imported result has counters of, where its device is unknown otherwise. Their bus stays
    /// unknown.
    fn name_disks(&mut self, disks: &str) {
        let is_unknown = |line: &FactLine<FactKey>| line.key == FactKey::Device && !line.known;
        let Some(at) = self
            .0
            .iter()
            .position(is_unknown)
            .filter(|_| !disks.is_empty())
        else {
            return;
        };
        let named = FactLine {
            key: FactKey::Device,
            value: plain(&text::disks_of_result(disks)),
            known: true,
            brief: true,
        };
        let unknown = std::mem::replace(&mut self.0[at], named);
        let of_bus: &[FactKey] = match disks.contains("mmcblk") {
            true => &[FactKey::BusWidth, FactKey::BusClock],
            false => &[FactKey::Bus],
        };
        let of_bus = of_bus.iter().map(|&key| FactLine {
            key,
            ..unknown.clone()
        });
        self.0.splice(at + 1..at + 1, of_bus);
    }
}

/// Tool overhead as percent of the shortest median latency, where it matters most.
fn share_of_quickest(summary: &Summary, cost_ns: f64) -> Option<String> {
    let medians = summary
        .phases
        .iter()
        .filter_map(|phase| results::quantile(phase.latency.as_ref()?, Quantile::MEDIAN))
        .map(|median| median.0);
    let quickest = medians.min().filter(|&ns| ns > 0)?;
    Some(number::significant(cost_ns / quickest as f64 * 100.0))
}

fn filesystem_words(filesystem: &Filesystem) -> String {
    let Filesystem { size, free, .. } = filesystem;
    // Published figures name the file system, but not its mount point or size.
    match filesystem.mount_point.as_os_str().is_empty() {
        true => type_name(filesystem).to_owned(),
        false => text::with_space(&mounted(filesystem), *size, *free),
    }
}

/// Type, mount point and source of a file system, as far as they are known.
pub(crate) fn mounted(filesystem: &Filesystem) -> String {
    let at = filesystem.mount_point.display().to_string();
    text::mounted(type_name(filesystem), &at, &filesystem.source)
}

fn type_name(filesystem: &Filesystem) -> &str {
    match &*filesystem.fs_type {
        Filesystem::UNNAMED => text::unnamed_filesystem(),
        known => known,
    }
}

/// The devices below a device, if there are any.
pub(crate) fn chain(device: &DeviceIdentity) -> String {
    match text::chain(device) {
        chain if chain.len() > 1 => chain.join(" → "),
        _ => String::new(),
    }
}

pub(crate) fn block_size(device: &DeviceIdentity) -> String {
    let (logical, physical) = (device.logical_block, device.physical_block);
    text::block_sizes(logical.into(), physical.into())
}

pub(crate) fn megahertz(hz: &u64) -> String {
    format!("{} MHz", number::significant(*hz as f64 / 1e6))
}

/// Formats a temperature in thousandths of a degree.
pub(crate) fn celsius(thousandths: &i64) -> String {
    format!("{} °C", number::exact(*thousandths as f64 / 1000.0, 1))
}

fn device(lines: &mut RunFacts, device: &DeviceIdentity) {
    let place = [device.node.display().to_string(), device.size.to_string()];
    let parts: Vec<String> = device
        .model
        .known()
        .cloned()
        .into_iter()
        .chain(place)
        .collect();
    lines.say(FactKey::Device, text::enumerated(&parts));
    lines.fact(FactKey::SerialNumber, &device.serial);
    lines.say(FactKey::Chain, chain(device));
    lines.say(FactKey::BlockSize, block_size(device));
    bus(lines, &device.bus);
    lines.fact(FactKey::Scheduler, &device.scheduler);
    lines.fact(FactKey::WriteCache, &device.write_cache);
    if let Some(card) = &device.card {
        registers(lines, card);
    }
}

fn bus(lines: &mut RunFacts, bus: &Bus) {
    match bus {
        Bus::Mmc {
            width_bits,
            clock_hz,
            timing,
            ceiling,
        } => {
            lines.fact_as(FactKey::BusWidth, width_bits, |bits| text::bus_width(*bits));
            lines.fact_as(FactKey::BusClock, clock_hz, megahertz);
            lines.fact(FactKey::BusTiming, timing);
            lines.fact_as(FactKey::BusCeiling, ceiling, |bytes| {
                BytesPerSec(*bytes as f64).to_string()
            });
        }
        Bus::Usb { speed_mbps } => lines.fact_as(FactKey::Bus, speed_mbps, |mbps| {
            format!("USB, {mbps} Mbit/s")
        }),
        Bus::Nvme { link } => lines.fact_as(FactKey::Bus, link, |link| format!("NVMe, {link}")),
        Bus::Scsi { link } => lines.fact_as(FactKey::Bus, link, |link| format!("SCSI, {link}")),
        Bus::Virtio | Bus::Software | Bus::Other { .. } => {
            lines.say(FactKey::Bus, text::bus_kind(bus));
        }
    }
}

fn registers(lines: &mut RunFacts, card: &CardRegisters) {
    lines.fact(FactKey::Manufacturer, &card.maker);
    lines.fact(FactKey::CardName, &card.name);
    lines.fact(FactKey::Manufactured, &card.date);
    lines.class(FactKey::SpeedClass, 'C', &card.speed_class);
    lines.class(FactKey::UhsGrade, 'U', &card.uhs_grade);
    lines.class(FactKey::VideoClass, 'V', &card.video_class);
    lines.class(FactKey::ApplicationClass, 'A', &card.app_class);
    lines.fact(FactKey::AllocationUnit, &card.allocation_unit);
    lines.fact(FactKey::Cid, &card.cid);
    for oddity in &card.oddities {
        lines.say(FactKey::Oddity, oddity);
    }
}

/// Adds the facts of the host under the keys that `key` makes of their subjects.
pub(crate) fn host<Key>(
    lines: &mut FactLines<Key>,
    host: &Environment,
    key: impl Fn(FactKey) -> Key,
) {
    lines.say(key(FactKey::Host), &host.hostname);
    lines.fact(key(FactKey::Board), &host.board);
    lines.fact_as(key(FactKey::Processor), &host.cpu, |cpu| {
        match host.cpu_count {
            0 => cpu.clone(),
            n => text::processors(cpu, n),
        }
    });
    lines.fact(key(FactKey::Governor), &host.governor);
    if host.memory.0 > 0 {
        lines.say(key(FactKey::Memory), host.memory);
    }
    let kernel = format!("{} {}", host.kernel, host.arch);
    lines.say(key(FactKey::Kernel), kernel.trim());
    lines.fact(key(FactKey::Distribution), &host.distribution);
    let hundredth = |share: u32| number::exact(f64::from(share) / 100.0, 2);
    lines.fact_as(key(FactKey::Load), &host.load_percent, |load| {
        hundredth(*load)
    });
    lines.fact_as(key(FactKey::IoPressure), &host.io_pressure, |share| {
        text::io_pressure(&hundredth(*share))
    });
    lines.fact_as(key(FactKey::Temperature), &host.temperature_mc, celsius);
    lines.fact_as(key(FactKey::Throttling), &host.throttled, |flags| {
        throttled(*flags).unwrap_or_else(|| StateWord::None.into())
    });
    lines.say(key(FactKey::Clock), text::clock_name(&host.clock));
}

/// Source: documentation of the Raspberry Pi, `vcgencmd get_throttled`: bits 0 to 3 are the current state; bits 16 to
/// 19 show the same conditions since boot.
pub(crate) fn throttled(flags: u32) -> Option<String> {
    let (now, before) = (flags & 0xf, flags >> 16 & 0xf);
    (now != 0 || before != 0).then(|| text::throttled(now, before))
}

/// Variation of a long write as a sentence; `None` if the write was too short.
pub(crate) fn sustained(phase: &PhaseSummary) -> Option<String> {
    let found = phase.sustained.as_ref()?;
    Some(text::sustained(found, !phase.timelines.is_empty()))
}

/// Whether the speed of a long write fell, or swung.
pub(crate) fn is_uneven(phase: &PhaseSummary) -> bool {
    let found = phase.sustained.as_ref();
    found.is_some_and(|found| found.cliff.is_some() || found.swing.is_some())
}

/// I/O amplification as a sentence: bytes of the device per byte of the application.
pub(crate) fn amplification(phase: &PhaseSummary) -> Option<String> {
    let spread = number::MeanText::of(phase.amplification.as_ref()?, 1.0);
    Some(text::device_moved(phase.op, &spread))
}

/// I/O amplification if it is notable: at least 5% from 1, and more than its standard deviation.
pub(crate) fn notable_amplification(phase: &PhaseSummary) -> Option<String> {
    let estimate = phase.amplification.as_ref()?;
    let off = (estimate.mean - 1.0).abs();
    (off >= 0.05 && off > estimate.deviation.unwrap_or(0.0)).then(|| amplification(phase))?
}

/// Bytes that laying out the files wrote, if any.
pub(crate) fn laid_out(phase: &PhaseSummary) -> Option<String> {
    let bytes = phase.detail.laid_out.filter(|bytes| bytes.0 > 0)?;
    Some(text::laid_out(bytes))
}

/// The findings of a summary, merged over its phases.
pub(crate) fn findings(summary: &Summary) -> Vec<Finding> {
    let scoped = |caveat: &Caveat| {
        let mut finding = Finding::from(caveat);
        let phases = summary.caveat_phases.get(finding.kind.name());
        if let Some(phases) = phases.filter(|_| finding.scope.phases.is_empty()) {
            finding.scope.phases.clone_from(phases);
        }
        finding
    };
    Finding::merge_all(summary.caveats.iter().map(scoped))
}

/// Start time in UTC. fio prints local times without a time zone: that one was assumed is said.
pub(crate) fn begun(summary: &Summary) -> String {
    let time = time::utc(summary.started_unix_ms);
    match &summary.origin {
        SummaryOrigin::Imported {
            zone_assumed: true, ..
        } => text::zone_assumed(&time),
        _ => time,
    }
}

/// Formats the number of runs: `10 runs` or `1 run`. Imported results of several workloads may have one run of each.
pub(crate) fn runs(summary: &Summary) -> String {
    let runs = summary.runs.len() as u64;
    let mut phases = summary.phases.iter();
    match runs > 1 && phases.all(|phase| phase.bandwidth.values.len() == 1) {
        true => text::one_run_each(runs),
        false => text::runs(runs),
    }
}

/// Headline of a series: its title, otherwise `standard on SanDisk SD32G, ext4`.
pub(crate) fn headline(summary: &Summary) -> String {
    let title = summary.annotations.title.as_deref();
    title.map_or_else(|| measured(summary), plain)
}

/// What was measured: `standard on SanDisk SD32G, ext4`.
pub(crate) fn measured(summary: &Summary) -> String {
    text::scenario_on(&plain(&summary.scenario), &naming::target(summary))
}
