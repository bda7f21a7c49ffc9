//! Parses `hdparm -tT` and `dd`, which print one line per result.

use super::lines::SourceLine;
use super::units::{Kilo, Ranged, factor, has_decimal_comma, number, slip};
use super::{ImportedRun, ResultContext, Shorten, SourceFormat, TimeBasis, Unread};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Access, BlockSize, Durability, Job, Op, Phase, Scenario, Target};
use hakaru_model::record::{OpRecord, Outcome, PhaseRecord, StopReason, WorkerRecord};
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
        let MeasuredLine {
            name,
            op,
            bytes,
            blocks,
            nanos,
            direct,
            path,
            durability,
            unstated: _,
        } = self;
        let target = path
            .as_ref()
            .map_or(Target::Nothing, |path| Target::Paths(vec![path.clone()]));
        let mut job = Job::new(name, target, Access::only(*op, false));
        job.files.direct = *direct;
        job.durability.clone_from(durability);
        if let Some((_, size)) = blocks {
            job.block[*op] = BlockSize::Fixed(Bytes(*size));
        }
        let runtime = Nanos(nanos.round() as u64);
        let mut worker = WorkerRecord {
            name: name.clone(),
            runtime,
            job_runtime: runtime,
            stop: StopReason::Done,
            ..WorkerRecord::default()
        };
        let ios = blocks.map_or(0, |(count, _)| count);
        worker.ops[*op] = OpRecord {
            ios,
            issued: ios,
            bytes: *bytes,
            ..OpRecord::default()
        };
        let phase = PhaseRecord {
            name: name.clone(),
            started_unix_ms: 0,
            elapsed: runtime,
            workers: vec![worker],
            ..PhaseRecord::default()
        };
        (
            phase,
            Phase {
                name: name.clone(),
                jobs: vec![job],
            },
        )
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
    ImportedRun {
        format,
        scenario: Scenario {
            name: program.clone(),
            seed: 0,
            phases: asked,
        },
        program,
        path: measured.iter().find_map(|one| one.path.clone()),
        label: None,
        context: ResultContext::default(),
        figures: blocks.iter().map(ReportedBlock::count).sum(),
        reported: Reported {
            blocks,
            workers: (0..phases.len()).map(report).collect(),
            unstated,
        },
        phases,
        caveats,
        outcome: Outcome::Completed,
        started_unix_ms: None,
        clock: TimeBasis::Utc,
        lines,
        unread: Vec::new(),
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
    let (mut measured, mut blocks, mut caveats, mut unread) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut used, mut last) = (0, lines.first()?.number);
    for (index, line) in lines.iter().enumerate() {
        let text = line.trimmed();
        if text.is_empty() {
            continue;
        }
        if !is_hdparm(text) {
            break;
        }
        (used, last) = (index + 1, line.number);
        match hdparm_line(text, device) {
            Some((one, block, caveat)) => {
                measured.push(one);
                blocks.push(block);
                caveats.extend(caveat);
            }
            None => unread.push(Unread::new(line, "expected `… MB in … seconds = … MB/sec`")),
        }
    }
    if measured.is_empty() {
        return None;
    }
    if measured.iter().any(|one| one.name.contains("cache")) {
        caveats.push(Caveat::Unstated {
            what: "disk speed: cached reads measure memory".to_owned(),
        });
    }
    let mut run = run(
        SourceFormat::Hdparm,
        &measured,
        blocks,
        caveats,
        (lines[0].number, last),
    );
    run.unread = unread;
    Some((run, used))
}

fn hdparm_line(
    text: &str,
    device: Option<&str>,
) -> Option<(MeasuredLine, ReportedBlock, Option<Caveat>)> {
    let (name, rest) = text.strip_prefix("Timing ")?.split_once(':')?;
    let (amount, rest) = rest.split_once(" in ")?;
    let (time, rate) = rest.split_once('=')?;
    let ((bytes, bytes_unit), (time, time_unit), (rate, rate_unit)) =
        (number(amount)?, number(time)?, number(rate)?);
    let mut block = ReportedBlock::new("timing");
    block.word("name", name);
    block
        .figure("bytes", bytes, bytes_unit)
        .figure("time", time, time_unit)
        .figure("rate", rate, rate_unit);
    let ranged = |name: &str| {
        block
            .get(name)
            .and_then(|figure| Ranged::of(figure, Kilo::Binary))
    };
    let seconds = ranged("time")?.times(1e-9);
    let caveat = contradiction(name, ranged("rate")?, ranged("bytes")?, seconds);
    let one = MeasuredLine {
        name: name.to_owned(),
        op: Op::Read,
        bytes: ranged("bytes")?.value as u64,
        blocks: None,
        nanos: ranged("time")?.value,
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
    if let Some((_, rest)) = rest.split_once("transferred in ") {
        let (time, rate) = rest
            .split_once(" secs (")
            .or_else(|| rest.split_once(" seconds ("))?;
        let (rate, unit) = number(rate)?;
        block
            .figure("time", number(time)?.0, "s")
            .figure("rate", rate, unit);
        return Some(block);
    }
    let plain = rest.replace(['、', '，'], ", ").replace("/秒", "/s");
    let cells: Vec<&str> = plain.split(", ").map(str::trim).collect();
    let [.., time, rate] = cells[..] else {
        return None;
    };
    // `1.1 GB, 1.0 GiB` is in parentheses before the words.
    if let Some((_, inner)) = plain.split_once('(') {
        for (name, cell) in ["size", "size other"]
            .into_iter()
            .zip(inner.split(')').next()?.split(", "))
        {
            let (value, unit) = number(cell)?;
            block.figure(name, value, unit);
        }
    }
    let ((time, time_unit), (rate, rate_unit)) = (number(time)?, number(rate)?);
    let is_time =
        factor(time_unit, Kilo::Si) == Some(1e9) || matches!(time_unit, "Sek" | "seg" | "с" | "秒");
    let is_rate = rate_unit.ends_with("/s") && factor(rate_unit, Kilo::Si).is_some();
    (is_time && is_rate).then(|| {
        block.figure(
            "time",
            time,
            if time_unit == "seconds" {
                "seconds"
            } else {
                "s"
            },
        );
        block.figure("rate", rate, rate_unit);
        block
    })
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
    for (key, value) in words[start + 1..]
        .iter()
        .filter_map(|word| word.split_once('='))
    {
        match key {
            "if" => command.input = Some(value.to_owned()),
            "of" => command.output = Some(value.to_owned()),
            "bs" => command.bs = dd_size(value),
            "iflag" => command.direct |= value.split(',').any(|flag| flag == "direct"),
            "oflag" => {
                for flag in value.split(',') {
                    command.direct |= flag == "direct";
                    command.sync |= flag == "sync";
                    command.dsync |= flag == "dsync";
                }
            }
            "conv" => {
                command.end_fsync |= value
                    .split(',')
                    .any(|flag| matches!(flag, "fsync" | "fdatasync"))
            }
            _ => {}
        }
    }
    (command != DdCommand::default()).then_some(command)
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
    let mut caveats = Vec::new();
    // BusyBox dd spells out `seconds`, and its MB are 1024² bytes.
    let kilo = if block.get("time").is_some_and(|time| time.unit == "seconds") {
        Kilo::Binary
    } else {
        Kilo::Si
    };
    let exact = |name: &str| block.get(name).and_then(|figure| Ranged::of(figure, kilo));
    let (bytes, time, rate) = (exact("bytes")?, exact("time")?, exact("rate")?);
    let empty = DdCommand::default();
    let asked = command.unwrap_or(&empty);
    let dev_null = |path: &Option<String>| {
        path.as_deref()
            .is_some_and(|p| p == "/dev/null" || p == "/dev/zero")
    };
    let source = |path: &Option<String>| {
        path.as_deref()
            .is_none_or(|p| p == "/dev/zero" || p.contains("random"))
    };
    let op = if dev_null(&asked.output) || asked.output.is_none() && !source(&asked.input) {
        Op::Read
    } else {
        Op::Write
    };
    if command.is_none() {
        caveats.push(Caveat::Unstated {
            what: "whether dd read or wrote, and how (imported as write)".to_owned(),
        });
    } else if !(asked.direct || op == Op::Write && (asked.end_fsync || asked.sync || asked.dsync)) {
        caveats.push(Caveat::Buffered);
    }
    caveats.extend(contradiction(
        "dd",
        rate,
        Ranged::exact(bytes.value),
        time.times(1e-9),
    ));
    if let Some((whole, part)) = records {
        block.figure("records", Decimal::whole(whole), "").figure(
            "partial records",
            Decimal::whole(part),
            "",
        );
    }
    let total = bytes.value as u64;
    let blocks = match (records, asked.bs) {
        (Some((whole, part)), bs) if whole.saturating_add(part) > 0 => {
            let count = whole.saturating_add(part);
            Some((count, bs.unwrap_or(total.saturating_sub(1) / count + 1)))
        }
        (_, Some(bs)) => Some((total.div_ceil(bs), bs)),
        _ => None,
    };
    let path = if op == Op::Read {
        &asked.input
    } else {
        &asked.output
    };
    let known = command.is_some();
    let stated = [
        (JobProperty::Operation, known),
        (JobProperty::BlockSize, blocks.is_some()),
        (JobProperty::Direct, known),
    ];
    let one = MeasuredLine {
        name: if known {
            format!("dd {}", op.name())
        } else {
            "dd".to_owned()
        },
        op,
        bytes: total,
        blocks,
        nanos: time.value,
        direct: asked.direct,
        path: path.as_ref().map(PathBuf::from),
        durability: Durability {
            end_fsync: asked.end_fsync,
            sync: asked.sync,
            dsync: asked.dsync,
            ..Durability::default()
        },
        unstated: stated
            .into_iter()
            .filter(|(_, stated)| !stated)
            .map(|(property, _)| property)
            .collect(),
    };
    let mut run = run(
        SourceFormat::Dd,
        &[one],
        vec![block],
        caveats,
        (line.number, line.number),
    );
    if has_decimal_comma(line.trimmed()) {
        let why = "a decimal comma was read as the decimal point".to_owned();
        run.unread.push(Unread {
            line: line.number,
            text: line.trimmed().shortened(60),
            why,
        });
    }
    Some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> SourceLine {
        SourceLine {
            number: 1,
            text: text.to_owned(),
            fenced: false,
        }
    }

    fn measured(run: &ImportedRun) -> Vec<(String, u64, f64)> {
        let of = |phase: &PhaseRecord| {
            let worker = &phase.workers[0];
            let bytes = worker.ops.read.bytes + worker.ops.write.bytes;
            (phase.name.clone(), bytes, worker.runtime.as_secs_f64())
        };
        run.phases.iter().map(of).collect()
    }

    #[test]
    fn dd_speaks_many_languages() {
        let texts = [
            "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 45.6 s, 23.5 MB/s",
            "1073741824 Bytes (1,1 GB, 1,0 GiB) kopiert, 45,6 s, 23,5 MB/s",
            "1073741824 バイト (1.1 GB, 1.0 GiB) コピーされました、 45.6 s, 23.5 MB/s",
            "1073741824 bytes (1.0GB) copied, 45.6 seconds, 22.5MB/s",
            "1073741824 bytes transferred in 45.6 secs (23546970 bytes/sec)",
        ];
        for text in texts {
            let run = dd(&line(text), records("1024+0 records out"), None).unwrap();
            assert_eq!(measured(&run), [("dd".to_owned(), 1 << 30, 45.6)], "{text}");
            assert_eq!(run.phases[0].workers[0].ops.write.ios, 1024);
            assert!(
                run.caveats
                    .iter()
                    .all(|c| !matches!(c, Caveat::Contradiction { .. })),
                "{text} {:?}",
                run.caveats
            );
        }
        let wrong = dd(
            &line("1073741824 bytes (1.1 GB, 1.0 GiB) copied, 45.6 s, 235 MB/s"),
            None,
            None,
        )
        .unwrap();
        assert!(
            wrong
                .caveats
                .iter()
                .any(|c| matches!(c, Caveat::Contradiction { .. }))
        );
        for text in [
            "12 monkeys, 3 s, 4 B",
            "5 bytes",
            "1 2 3, 4, 5",
            "99, 3 s, 4 MB/s",
        ] {
            assert!(!is_dd(text), "{text}");
        }
    }

    #[test]
    fn a_command_of_dd_says_what_it_did() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let read = dd_command(&words(
            "sudo dd if=/dev/sda of=/dev/null bs=1M count=256 iflag=direct",
        ))
        .unwrap();
        let run = dd(
            &line("268435456 bytes (268 MB, 256 MiB) copied, 2 s, 134 MB/s"),
            None,
            Some(&read),
        )
        .unwrap();
        assert_eq!(run.path, Some("/dev/sda".into()));
        assert_eq!(
            (run.phases[0].workers[0].ops.read.ios, run.caveats.len()),
            (256, 0)
        );
        assert_eq!(dd_command(&words("echo dd")), None);
        // The usual latency test: each block is durable before the next one starts, so no cache affects it.
        let synced =
            dd_command(&words("dd if=/dev/zero of=x bs=512 count=1000 oflag=dsync")).unwrap();
        let run = dd(
            &line("512000 bytes (512 kB, 500 KiB) copied, 2 s, 256 kB/s"),
            None,
            Some(&synced),
        )
        .unwrap();
        let durability = &run.scenario.phases[0].jobs[0].durability;
        assert_eq!(
            (durability.dsync, durability.sync, durability.end_fsync),
            (true, false, false)
        );
        assert_eq!(
            (run.caveats.len(), run.phases[0].workers[0].ops.write.ios),
            (0, 1000)
        );
        assert_eq!(
            (dd_size("4k"), dd_size("1MB"), dd_size("512"), dd_size("x")),
            (Some(4096), Some(1_000_000), Some(512), None)
        );
    }

    #[test]
    fn hdparm_counts_in_mebibytes() {
        let lines = [
            line(" Timing cached reads:   1234 MB in  2.00 seconds = 617.12 MB/sec"),
            line(" Timing buffered disk reads:  64 MB in  3.01 seconds =  21.25 MB/sec"),
            line("done"),
        ];
        let (run, used) = hdparm(&lines, Some("/dev/mmcblk0")).unwrap();
        assert_eq!((used, run.path.clone()), (2, Some("/dev/mmcblk0".into())));
        assert_eq!(
            measured(&run)[1],
            ("buffered disk reads".to_owned(), 64 << 20, 3.01)
        );
        assert!(
            run.caveats
                .iter()
                .all(|c| !matches!(c, Caveat::Contradiction { .. })),
            "{:?}",
            run.caveats
        );
    }
}
