//! Parses `hdparm -tT` and `dd`, which print one line per result.

use super::lines::SourceLine;
use super::units::{Kilo, Ranged, factor, has_decimal_comma, number, slip};
use super::{ImportedRun, SourceFormat, Unread, unstated};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Access, BlockSize, Durability, Job, Op, Phase, Scenario, Target};
use hakaru_model::record::{PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::reported::{
    Decimal, JobProperty, Reported, ReportedBlock, UnstatedJob, WorkerReport,
};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use std::path::PathBuf;

/// Measurement from one line.
struct MeasuredLine {
    name: String,
    op: Op,
    bytes: u64,
    /// Number of I/Os and their size, if known.
    blocks: Option<(u64, u64)>,
    nanos: f64,
    direct: bool,
    path: Option<PathBuf>,
    durability: Durability,
    /// Job properties that the line does not state.
    unstated: Vec<JobProperty>,
}

impl MeasuredLine {
    fn record(&self) -> (PhaseRecord, Phase) {
        let (name, op) = (self.name.clone(), self.op);
        let target = match &self.path {
            Some(path) => Target::Paths(vec![path.clone()]),
            None => Target::Nothing,
        };
        let mut job = Job::new(&name, target, Access::only(op, false));
        job.files.direct = self.direct;
        job.durability.clone_from(&self.durability);
        let mut worker = WorkerRecord {
            name: name.clone(),
            runtime: Nanos(self.nanos.round() as u64),
            stop: StopReason::Done,
            ..WorkerRecord::default()
        };
        worker.job_runtime = worker.runtime;
        worker.ops[op].bytes = self.bytes;
        if let Some((count, size)) = self.blocks {
            job.block[op] = BlockSize::Fixed(Bytes(size));
            (worker.ops[op].ios, worker.ops[op].issued) = (count, count);
        }
        let phase = PhaseRecord {
            name: name.clone(),
            elapsed: worker.runtime,
            workers: vec![worker],
            ..PhaseRecord::default()
        };
        let jobs = vec![job];
        (phase, Phase { name, jobs })
    }
}

/// Builds a run from its parts.
fn run(
    format: SourceFormat,
    measured: &[MeasuredLine],
    blocks: Vec<ReportedBlock>,
    caveats: Vec<Caveat>,
    lines: (usize, usize),
) -> ImportedRun {
    let program = format.name().to_owned();
    let (phases, asked): (Vec<PhaseRecord>, Vec<Phase>) =
        measured.iter().map(MeasuredLine::record).unzip();
    let unstated = |(phase, one): (usize, &MeasuredLine)| UnstatedJob {
        phase: phase as u32,
        job: 0,
        properties: one.unstated.clone(),
    };
    let unstated: Vec<UnstatedJob> = measured.iter().enumerate().map(unstated).collect();
    let report = |phase: usize| WorkerReport {
        phase: phase as u32,
        members: 1,
        ..WorkerReport::default()
    };
    let scenario = Scenario {
        name: program.clone(),
        seed: 0,
        phases: asked,
    };
    let reported = Reported {
        blocks,
        workers: (0..phases.len()).map(report).collect(),
        unstated,
        zone_assumed: false,
    };
    ImportedRun {
        path: measured.iter().find_map(|one| one.path.clone()),
        caveats,
        lines,
        ..ImportedRun::new(format, program, scenario, phases, reported)
    }
}

/// Returns the contradiction of a rate with the bytes and time on the same line.
fn contradiction(name: &str, stated: Ranged, bytes: Ranged, seconds: Ranged) -> Option<Caveat> {
    let follows = bytes.over(seconds)?;
    (!stated.fits(follows)).then(|| Caveat::Contradiction {
        phase: name.to_owned(),
        stated: format!("rate of {}", BytesPerSec(stated.value)),
        follows: format!(
            "{}, computed from bytes and time",
            BytesPerSec(follows.value)
        ),
        hint: slip(stated.value / follows.value)
            .unwrap_or("one of the two is wrong")
            .to_owned(),
    })
}

/// Whether a line is an hdparm result.
pub(super) fn is_hdparm(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("Timing ") && text.contains(" reads:")
}

/// Parses hdparm results at the start of some lines:
/// ` Timing buffered disk reads:  64 MB in  3.01 seconds = 21.25 MB/sec`. Its MB are 1024² bytes. Returns the number of
/// lines consumed.
pub(super) fn hdparm(lines: &[SourceLine], device: Option<&str>) -> Option<(ImportedRun, usize)> {
    let first = lines.first()?.number;
    let (mut measured, mut blocks, mut caveats, mut unread) = (vec![], vec![], vec![], vec![]);
    let (mut used, mut last) = (0, first);
    for (index, line) in lines.iter().enumerate() {
        let text = line.trimmed();
        if text.is_empty() {
            continue;
        }
        if !is_hdparm(text) {
            break;
        }
        (used, last) = (index + 1, line.number);
        let Some((one, block, caveat)) = hdparm_line(text, device) else {
            unread.push(Unread::new(line, "expected `… MB in … seconds = … MB/sec`"));
            continue;
        };
        measured.push(one);
        blocks.push(block);
        caveats.extend(caveat);
    }
    let cached = measured.iter().any(|one| one.name.contains("cache"));
    caveats.extend(cached.then(|| Caveat::Unstated {
        what: "disk speed: cached reads measure memory".to_owned(),
    }));
    let lines = (first, last);
    let mut run = run(SourceFormat::Hdparm, &measured, blocks, caveats, lines);
    run.unread = unread;
    (!measured.is_empty()).then_some((run, used))
}

fn hdparm_line(
    text: &str,
    device: Option<&str>,
) -> Option<(MeasuredLine, ReportedBlock, Option<Caveat>)> {
    let (name, rest) = text.strip_prefix("Timing ")?.split_once(':')?;
    let (bytes, rest) = rest.split_once(" in ")?;
    let (time, rate) = rest.split_once('=')?;
    let mut block = ReportedBlock::new("timing");
    block.word("name", name);
    for (name, text) in [("bytes", bytes), ("time", time), ("rate", rate)] {
        let (value, unit) = number(text)?;
        block.figure(name, value, unit);
    }
    let ranged = |name: &str| Ranged::of(block.get(name)?, Kilo::Binary);
    let (bytes, time) = (ranged("bytes")?, ranged("time")?);
    let caveat = contradiction(name, ranged("rate")?, bytes, time.times(1e-9));
    let one = MeasuredLine {
        name: name.to_owned(),
        op: Op::Read,
        bytes: bytes.value as u64,
        blocks: None,
        nanos: time.value,
        direct: name.contains("O_DIRECT"),
        path: device.map(PathBuf::from),
        durability: Durability::default(),
        unstated: vec![
            JobProperty::BlockSize,
            JobProperty::QueueDepth,
            JobProperty::Engine,
        ],
    };
    Some((one, block, caveat))
}

/// Whether a line is a dd result in any language: bytes, words, time, and a rate at the end.
pub(super) fn is_dd(text: &str) -> bool {
    dd_line(text).is_some()
}

/// Removes the echoed key (such as `^C`) that ended a program, before its last output.
fn without_key(text: &str) -> &str {
    text.trim().trim_start_matches("^C")
}

/// Parses whole and partial blocks from a line such as `256+0 records in`, in any language; some put a word first.
pub(super) fn records(text: &str) -> Option<(u64, u64)> {
    let text = without_key(text);
    if text.len() > 60 {
        return None;
    }
    let (whole, rest) = text
        .trim_start_matches(|c: char| !c.is_ascii())
        .split_once('+')?;
    let (partial, _) = rest.split_once(' ')?;
    Some((whole.parse().ok()?, partial.parse().ok()?))
}

/// Parses the figures of a dd result: `1073741824 bytes (1.1 GB, 1.0 GiB) copied, 45.6 s, 23.5 MB/s`, also in other
/// languages, and in the BSD form `1073741824 bytes transferred in 45.6 secs (23546530 bytes/sec)`.
fn dd_line(text: &str) -> Option<ReportedBlock> {
    let text = without_key(text);
    if !text.starts_with(|c: char| c.is_ascii_digit()) || text.len() > 200 {
        return None;
    }
    let (count, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let bytes: Decimal = count.parse().ok()?;
    if rest.starts_with(|c: char| c.is_ascii() && c != ' ') {
        return None;
    }
    let mut block = ReportedBlock::new("dd");
    block.figure("bytes", bytes, "bytes");
    match rest.split_once("transferred in ") {
        Some((_, rest)) => bsd_figures(rest, &mut block)?,
        None => gnu_figures(rest, &mut block)?,
    }
    Some(block)
}

/// Parses `45.6 secs (23546530 bytes/sec)`.
fn bsd_figures(text: &str, block: &mut ReportedBlock) -> Option<()> {
    let (time, rate) = text
        .split_once(" secs (")
        .or_else(|| text.split_once(" seconds ("))?;
    let (rate, unit) = number(rate)?;
    block
        .figure("time", number(time)?.0, "s")
        .figure("rate", rate, unit);
    Some(())
}

/// Parses `(1.1 GB, 1.0 GiB) copied, 45.6 s, 23.5 MB/s`, and the same in other languages.
fn gnu_figures(text: &str, block: &mut ReportedBlock) -> Option<()> {
    let plain = text.replace(['、', '，'], ", ").replace("/秒", "/s");
    let cells: Vec<&str> = plain.split(", ").map(str::trim).collect();
    let [.., time, rate] = cells[..] else {
        return None;
    };
    // `1.1 GB, 1.0 GiB` is in parentheses before the words.
    if let Some((_, inner)) = plain.split_once('(') {
        let sizes = inner.split(')').next()?.split(", ");
        for (name, cell) in ["size", "size other"].into_iter().zip(sizes) {
            let (value, unit) = number(cell)?;
            block.figure(name, value, unit);
        }
    }
    let ((time, time_unit), (rate, rate_unit)) = (number(time)?, number(rate)?);
    let is_time =
        factor(time_unit, Kilo::Si) == Some(1e9) || matches!(time_unit, "Sek" | "seg" | "с" | "秒");
    let is_rate = rate_unit.ends_with("/s") && factor(rate_unit, Kilo::Si).is_some();
    if !(is_time && is_rate) {
        return None;
    }
    let unit = match time_unit {
        "seconds" => "seconds",
        _ => "s",
    };
    block
        .figure("time", time, unit)
        .figure("rate", rate, rate_unit);
    Some(())
}

/// Parsed dd command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DdCommand {
    input: Option<String>,
    output: Option<String>,
    bs: Option<u64>,
    direct: bool,
    /// `conv=fsync` or `conv=fdatasync`: one sync at the end.
    end_fsync: bool,
    /// `oflag=sync` or `oflag=dsync`: every write is synchronous.
    sync: bool,
    dsync: bool,
}

/// Parses a dd command line. `None` if it is not one.
pub(super) fn dd_command(words: &[String]) -> Option<DdCommand> {
    let start = words
        .iter()
        .position(|word| word == "dd" || word.ends_with("/dd"))?;
    let mut command = DdCommand::default();
    let operands = words[start + 1..].iter();
    for (key, value) in operands.filter_map(|word| word.split_once('=')) {
        let has = |flag: &str| value.split(',').any(|given| given == flag);
        match key {
            "if" => command.input = Some(value.to_owned()),
            "of" => command.output = Some(value.to_owned()),
            "bs" => command.bs = dd_size(value),
            "iflag" => command.direct |= has("direct"),
            "oflag" => {
                command.direct |= has("direct");
                command.sync |= has("sync");
                command.dsync |= has("dsync");
            }
            "conv" => command.end_fsync |= has("fsync") || has("fdatasync"),
            _ => {}
        }
    }
    (command != DdCommand::default()).then_some(command)
}

impl DdCommand {
    /// Read if the output is discarded, or if only an input is named that holds data.
    fn op(&self) -> Op {
        let null = |path: &str| path == "/dev/null" || path == "/dev/zero";
        let source = |path: &str| path == "/dev/zero" || path.contains("random");
        let reads = match (self.input.as_deref(), self.output.as_deref()) {
            (_, Some(output)) => null(output),
            (Some(input), None) => !source(input),
            (None, None) => false,
        };
        if reads { Op::Read } else { Op::Write }
    }

    /// Whether the page cache cannot hide the speed of the device.
    fn is_uncached(&self) -> bool {
        let durable = self.end_fsync || self.sync || self.dsync;
        self.direct || self.op() == Op::Write && durable
    }

    /// Number and size of the blocks, from the block counts that dd printed (whole and partial) or from the totals.
    fn blocks(&self, records: Option<(u64, u64)>, total: u64) -> Option<(u64, u64)> {
        let count = records.map_or(0, |(whole, part)| whole.saturating_add(part));
        match self.bs {
            bs if count > 0 => Some((count, bs.unwrap_or(total.saturating_sub(1) / count + 1))),
            Some(bs) => Some((total.div_ceil(bs), bs)),
            None => None,
        }
    }

    fn durability(&self) -> Durability {
        Durability {
            end_fsync: self.end_fsync,
            sync: self.sync,
            dsync: self.dsync,
            ..Durability::default()
        }
    }
}

/// Parses a size in dd's notation: `1M` and `1MiB` are 1024², `1MB` is 1000².
fn dd_size(text: &str) -> Option<u64> {
    let (value, unit) = number(text)?;
    let factor = if unit.ends_with('B') {
        factor(unit, Kilo::Si)?
    } else {
        factor(&format!("{unit}iB"), Kilo::Si).unwrap_or(1.0)
    };
    Some((value.value() * factor) as u64).filter(|&size| size > 0)
}

/// Parses a dd result line. `records` are the whole and partial block counts from the lines before it.
pub(super) fn dd(
    line: &SourceLine,
    records: Option<(u64, u64)>,
    command: Option<&DdCommand>,
) -> Option<ImportedRun> {
    let mut block = dd_line(line.trimmed())?;
    // BusyBox dd spells out `seconds`, and its MB are 1024² bytes.
    let kilo = if block.get("time").is_some_and(|time| time.unit == "seconds") {
        Kilo::Binary
    } else {
        Kilo::Si
    };
    let exact = |name: &str| Ranged::of(block.get(name)?, kilo);
    let (bytes, time, rate) = (exact("bytes")?, exact("time")?, exact("rate")?);
    let mut caveats = Vec::new();
    match command {
        None => caveats.push(Caveat::Unstated {
            what: "whether dd read or wrote, and how (imported as write)".to_owned(),
        }),
        Some(command) if !command.is_uncached() => caveats.push(Caveat::Buffered),
        Some(_) => {}
    }
    let (total, seconds) = (Ranged::exact(bytes.value), time.times(1e-9));
    caveats.extend(contradiction("dd", rate, total, seconds));
    if let Some((whole, part)) = records {
        let (whole, part) = (Decimal::whole(whole), Decimal::whole(part));
        block
            .figure("records", whole, "")
            .figure("partial records", part, "");
    }
    let one = dd_measured(bytes.value as u64, time.value, records, command);
    let lines = (line.number, line.number);
    let mut run = run(SourceFormat::Dd, &[one], vec![block], caveats, lines);
    if has_decimal_comma(line.trimmed()) {
        let why = "a decimal comma was read as the decimal point";
        run.unread.push(Unread::new(line, why));
    }
    Some(run)
}

/// What dd measured; without a command line, it is taken as a write.
fn dd_measured(
    bytes: u64,
    nanos: f64,
    records: Option<(u64, u64)>,
    command: Option<&DdCommand>,
) -> MeasuredLine {
    let (known, unknown) = (command.is_some(), DdCommand::default());
    let command = command.unwrap_or(&unknown);
    let op = command.op();
    let blocks = command.blocks(records, bytes);
    let path = match op {
        Op::Read => &command.input,
        _ => &command.output,
    };
    MeasuredLine {
        name: match known {
            true => format!("dd {}", op.name()),
            false => "dd".to_owned(),
        },
        op,
        bytes,
        blocks,
        nanos,
        direct: command.direct,
        path: path.as_ref().map(PathBuf::from),
        durability: command.durability(),
        unstated: unstated(&[
            (JobProperty::Operation, known),
            (JobProperty::BlockSize, blocks.is_some()),
            (JobProperty::Direct, known),
        ]),
    }
}

#[cfg(test)]
mod tests;
