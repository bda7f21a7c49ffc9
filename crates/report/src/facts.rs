//! The circumstances of a series as pairs of words: what was measured, on what, and how.

use crate::escape::plain;
use crate::{naming, number, time};
use hakaru_model::facts::{
    Bus, CardRegisters, DeviceIdentity, Environment, Fact, Filesystem, Identity,
};
use hakaru_model::finding::{Cliff, PhaseSummary, Summary, Sustained, Swing};
use hakaru_model::job::Op;
use hakaru_model::units::{BytesPerSec, Nanos, Quantile};
use std::collections::BTreeSet;
use std::fmt::Display;

/// One line of the circumstances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FactLine {
    /// What it is about.
    pub(crate) name: &'static str,
    /// What is known, or why it is not.
    pub(crate) value: String,
    /// Whether it is known.
    pub(crate) known: bool,
}

/// Collects lines; foreign text is made plain here, once.
#[derive(Default)]
struct Lines(Vec<FactLine>);

impl Lines {
    fn say(&mut self, name: &'static str, value: impl Display) {
        let value = plain(&value.to_string());
        if !value.is_empty() {
            self.0.push(FactLine {
                name,
                value,
                known: true,
            });
        }
    }

    fn fact<T: Display>(&mut self, name: &'static str, fact: &Fact<T>) {
        self.0.push(FactLine {
            name,
            value: plain(&fact.to_string()),
            known: fact.known().is_some(),
        });
    }

    /// A fact in other words than its own.
    fn fact_as<T>(&mut self, name: &'static str, fact: &Fact<T>, words: impl FnOnce(&T) -> String) {
        match fact {
            Fact::Known(value) => self.say(name, words(value)),
            Fact::Unknown(because) => self.unknown(name, because),
        }
    }

    fn unknown(&mut self, name: &'static str, because: &str) {
        self.fact(name, &Fact::<String>::Unknown(because.to_owned()));
    }
}

/// What was measured on which host, most important first.
pub(crate) fn surroundings(target: &Identity, environment: &Environment) -> Vec<FactLine> {
    let mut lines = Lines::default();
    lines.say("Target", target.path.display());
    if let Some(filesystem) = &target.filesystem {
        lines.say("File system", filesystem_words(filesystem));
        lines.say("Mount options", &filesystem.options);
    }
    match &target.device {
        Fact::Known(found) => device(&mut lines, found),
        Fact::Unknown(because) => lines.unknown("Device", because),
    }
    host(&mut lines, environment);
    lines.0
}

/// All circumstances of a series, most important first.
pub(crate) fn circumstances(summary: &Summary) -> Vec<FactLine> {
    let mut lines = Lines(surroundings(&summary.target, &summary.environment));
    lines.say("Measured by", &summary.origin);
    if let Some(ns) = summary.overhead_ns {
        lines.say(
            "Our own cost",
            format!(
                "{} an I/O{}",
                number::nanos(ns),
                share_of_quickest(summary, ns)
            ),
        );
    }
    // Published figures do not say when.
    if summary.started_unix_ms != 0 {
        lines.say("Begun", time::utc(summary.started_unix_ms));
    }
    lines.say("Series", &summary.series);
    lines.0
}

/// What our own cost is of the shortest median latency, where it weighs most.
fn share_of_quickest(summary: &Summary, cost_ns: f64) -> String {
    let medians = summary.phases.iter().filter_map(|phase| {
        let latency = phase.latency.as_ref()?;
        latency
            .quantiles
            .iter()
            .find(|(q, _)| *q == Quantile::MEDIAN)
            .map(|(_, value)| value.0)
    });
    let Some(quickest) = medians.min().filter(|&ns| ns > 0) else {
        return String::new();
    };
    let percent = number::significant(cost_ns / quickest as f64 * 100.0);
    format!(", {percent} % of the shortest median latency")
}

fn filesystem_words(filesystem: &Filesystem) -> String {
    let Filesystem {
        fs_type,
        mount_point,
        source,
        options: _,
        size,
        free,
    } = filesystem;
    // What was published says which file system it was, and not where, or how large.
    if mount_point.as_os_str().is_empty() {
        return fs_type.clone();
    }
    format!(
        "{fs_type} at {} ({source}), {size}, {free} free",
        mount_point.display()
    )
}

fn device(lines: &mut Lines, device: &DeviceIdentity) {
    let name = device
        .model
        .known()
        .map_or_else(String::new, |model| format!("{model}, "));
    lines.say(
        "Device",
        format!("{name}{}, {}", device.node.display(), device.size),
    );
    lines.fact("Serial number", &device.serial);
    if device.chain.len() > 1 {
        lines.say("Stands on", device.chain.join(" → "));
    }
    lines.say(
        "Block size",
        format!(
            "{} B logical, {} B physical",
            device.logical_block, device.physical_block
        ),
    );
    bus(lines, &device.bus);
    lines.fact("Scheduler", &device.scheduler);
    lines.fact("Write cache", &device.write_cache);
    if let Some(card) = &device.card {
        registers(lines, card);
    }
}

fn bus(lines: &mut Lines, bus: &Bus) {
    match bus {
        Bus::Mmc {
            width_bits,
            clock_hz,
            timing,
            ceiling,
        } => {
            lines.fact_as("Bus width", width_bits, |bits| format!("{bits} bit"));
            lines.fact_as("Bus clock", clock_hz, |hz| {
                format!("{} MHz", number::significant(*hz as f64 / 1e6))
            });
            lines.fact("Bus timing", timing);
            lines.fact_as("Bus ceiling", ceiling, |bytes| {
                BytesPerSec(*bytes as f64).to_string()
            });
        }
        Bus::Usb { speed_mbps } => {
            lines.fact_as("Bus", speed_mbps, |mbps| format!("USB, {mbps} Mbit/s"))
        }
        Bus::Nvme { link } => lines.fact_as("Bus", link, |link| format!("NVMe, {link}")),
        Bus::Scsi { link } => lines.fact_as("Bus", link, |link| format!("SCSI, {link}")),
        Bus::Virtio => lines.say("Bus", "virtio (a virtual disk)"),
        Bus::Software => lines.say("Bus", "none (no hardware below)"),
        Bus::Other { name } => lines.say("Bus", name),
    }
}

fn registers(lines: &mut Lines, card: &CardRegisters) {
    lines.fact("Maker", &card.maker);
    lines.fact("Card name", &card.name);
    lines.fact("Made", &card.date);
    lines.fact_as("Speed Class", &card.speed_class, |n| class('C', *n));
    lines.fact_as("UHS grade", &card.uhs_grade, |n| class('U', *n));
    lines.fact_as("Video class", &card.video_class, |n| class('V', *n));
    lines.fact_as("Application class", &card.app_class, |n| class('A', *n));
    lines.fact("Allocation unit", &card.allocation_unit);
    lines.fact("CID", &card.cid);
    for oddity in &card.oddities {
        lines.say("Odd", oddity);
    }
}

const NONE_CLAIMED: &str = "none claimed";

/// Class 0 is how a card says that it claims none.
fn class(letter: char, number: u32) -> String {
    if number == 0 {
        NONE_CLAIMED.to_owned()
    } else {
        format!("{letter}{number}")
    }
}

fn host(lines: &mut Lines, host: &Environment) {
    lines.say("Host", &host.hostname);
    lines.fact("Board", &host.board);
    lines.fact_as("Processor", &host.cpu, |cpu| match host.cpu_count {
        0 => cpu.clone(),
        n => format!("{cpu}, {n} online"),
    });
    lines.fact("CPU governor", &host.governor);
    if host.memory.0 > 0 {
        lines.say("Memory", host.memory);
    }
    lines.say("Kernel", format!("{} {}", host.kernel, host.arch).trim());
    lines.fact("Distribution", &host.distribution);
    lines.fact_as("Load", &host.load_percent, |load| {
        number::exact(f64::from(*load) / 100.0, 2)
    });
    lines.fact_as("Temperature", &host.temperature_mc, |mc| {
        format!("{} °C", number::exact(*mc as f64 / 1000.0, 1))
    });
    lines.say("Clock", &host.clock);
}

/// How even a long write was, in a sentence; `None` where it was not long enough to tell.
pub(crate) fn sustained(phase: &PhaseSummary) -> Option<String> {
    let Sustained {
        min,
        max,
        mean,
        deviation,
        cliff: _,
        falls,
        swing,
    } = phase.sustained.as_ref()?;
    let mb = |bw: &BytesPerSec| number::significant(bw.0 / 1e6);
    let even = format!(
        "{} to {} MB/s over time, mean {} ± {} MB/s",
        mb(min),
        mb(max),
        mb(mean),
        mb(deviation)
    );
    let mut parts: Vec<String> = falls.iter().map(cliff).collect();
    parts.extend(swing.as_ref().map(swings));
    parts.push(if falls.is_empty() {
        format!("{even}, no lasting fall")
    } else {
        even
    });
    Some(parts.join("; "))
}

/// `swings between 40 and 12 MB/s, recovers 7 times (throttling)`.
fn swings(swing: &Swing) -> String {
    let Swing {
        high,
        low,
        recoveries,
        sawtooth,
    } = swing;
    let mb = |bw: &BytesPerSec| number::significant(bw.0 / 1e6);
    let why = if *sawtooth {
        "slides down in between, as with garbage collection"
    } else {
        "as with throttling"
    };
    let times = if *recoveries == 1 {
        "once".to_owned()
    } else {
        format!("{recoveries} times")
    };
    format!(
        "swings between {} and {} MB/s and recovers {times}, {why}",
        mb(high),
        mb(low)
    )
}

/// `falls from 34.1 to 11.9 MB/s after 5.60 GiB (2 min 56 s)`.
fn cliff(cliff: &Cliff) -> String {
    let Cliff {
        at,
        after_time,
        before,
        after,
        proven,
    } = cliff;
    let mb = |bw: &BytesPerSec| number::significant(bw.0 / 1e6);
    let how = if *proven {
        ""
    } else {
        ", at the end: not proven lasting"
    };
    format!(
        "falls from {} to {} MB/s after {at} ({}){how}",
        mb(before),
        mb(after),
        long(*after_time)
    )
}

/// Bytes of the device per byte of the application, in a sentence.
fn amplification(phase: &PhaseSummary) -> Option<String> {
    let spread = number::MeanText::of(phase.amplification.as_ref()?, 1.0);
    let verb = if phase.op == Op::Read {
        "read"
    } else {
        "wrote"
    };
    Some(format!(
        "the device {verb} {spread} bytes per byte of the application"
    ))
}

/// Amplification that is worth a sentence: the device moved other amounts than the application, and more than the
/// counters waver.
pub(crate) fn notable_amplification(phase: &PhaseSummary) -> Option<String> {
    let estimate = phase.amplification.as_ref()?;
    let off = (estimate.mean - 1.0).abs();
    (off >= 0.05 && off > estimate.deviation.unwrap_or(0.0)).then(|| amplification(phase))?
}

/// What laying out its files wrote, where it did.
pub(crate) fn laid_out(phase: &PhaseSummary) -> Option<String> {
    let bytes = phase.detail.laid_out.filter(|bytes| bytes.0 > 0)?;
    Some(format!(
        "laying out its files wrote {bytes} before it was measured"
    ))
}

/// The caveats as text, each once: what concerns several phases names them in front.
pub(crate) fn caveats(summary: &Summary) -> Vec<String> {
    let phases: BTreeSet<&str> = summary
        .phases
        .iter()
        .map(|phase| phase.phase.as_str())
        .collect();
    let mut merged: Vec<(Vec<String>, String)> = Vec::new();
    for text in summary.caveats.iter().map(ToString::to_string) {
        let (of, words) = match text
            .split_once(": ")
            .filter(|(lead, _)| phases.contains(lead))
        {
            Some((phase, words)) => (Some(phase.to_owned()), words),
            None => (None, text.as_str()),
        };
        match merged.iter_mut().find(|(_, known)| known == words) {
            Some((all, _)) => all.extend(of.filter(|phase| !all.contains(phase))),
            None => merged.push((of.into_iter().collect(), words.to_owned())),
        }
    }
    let lead = |of: Vec<String>| match of.len() {
        0 => String::new(),
        n if n > 2 && n == phases.len() => "all phases: ".to_owned(),
        _ => format!("{}: ", of.join(", ")),
    };
    merged
        .into_iter()
        .map(|(of, words)| plain(&format!("{}{words}", lead(of))))
        .collect()
}

/// Long stretches in minutes and hours.
pub(crate) fn long(time: Nanos) -> String {
    let seconds = time.0 / 1_000_000_000;
    match seconds {
        0..120 => time.to_string(),
        120..7200 => format!("{}\u{a0}min {}\u{a0}s", seconds / 60, seconds % 60),
        _ => format!("{}\u{a0}h {}\u{a0}min", seconds / 3600, seconds / 60 % 60),
    }
}

/// What the few lines of a terminal gather, with the words that say what a bare value is.
const BRIEF: &[(&str, &[(&str, &str)])] = &[
    ("Target", &[("Target", "")]),
    ("File system", &[("File system", ""), ("Mount options", "")]),
    (
        "Device",
        &[
            ("Device", ""),
            ("Serial number", "serial "),
            ("Scheduler", "scheduler "),
            ("Write cache", "cache "),
        ],
    ),
    (
        "Card",
        &[
            ("Maker", ""),
            ("Card name", ""),
            ("Made", "made "),
            ("Speed Class", ""),
            ("UHS grade", ""),
            ("Video class", ""),
            ("Application class", ""),
            ("Allocation unit", "AU "),
        ],
    ),
    (
        "Bus",
        &[
            ("Bus", ""),
            ("Bus width", ""),
            ("Bus clock", ""),
            ("Bus timing", ""),
            ("Bus ceiling", "at most "),
        ],
    ),
    ("Odd", &[("Odd", "")]),
    (
        "Host",
        &[
            ("Host", ""),
            ("Board", ""),
            ("Processor", ""),
            ("CPU governor", "governor "),
            ("Memory", ""),
        ],
    ),
    ("Kernel", &[("Kernel", ""), ("Distribution", "")]),
    ("Our own cost", &[("Our own cost", "")]),
    ("Series", &[("Series", "")]),
];

/// The known circumstances in a few lines of a name and its values.
pub(crate) fn brief(summary: &Summary) -> Vec<(&'static str, String)> {
    brief_of(&circumstances(summary))
}

/// The same of lines that are there already.
pub(crate) fn brief_of(all: &[FactLine]) -> Vec<(&'static str, String)> {
    let gathered = BRIEF.iter().map(|&(name, parts)| {
        let values = parts.iter().flat_map(|&(of, lead)| {
            let known = all
                .iter()
                .filter(move |line| line.known && line.name == of && line.value != NONE_CLAIMED);
            known.map(move |line| format!("{lead}{}", line.value))
        });
        (name, values.collect::<Vec<_>>().join(", "))
    });
    gathered.filter(|(_, values)| !values.is_empty()).collect()
}

/// `10 runs` or `1 run`.
pub(crate) fn runs(summary: &Summary) -> String {
    match summary.runs.len() {
        1 => "1 run".to_owned(),
        n => format!("{} runs", number::count(n as u64)),
    }
}

/// `standard on SanDisk SD32G, ext4`.
pub(crate) fn headline(summary: &Summary) -> String {
    format!(
        "{} on {}",
        plain(&summary.scenario),
        naming::target(summary)
    )
}
