//! Parses fio's terse lines, versions 2 to 5, into the same blocks as its text. Fields are identified by position only.

use super::super::lines::SourceLine;
use super::super::units::number;
use super::super::{SourceFormat, Unread};
use super::Raw;
use super::json::short;
use super::record::Histograms;
use hakaru_model::job::Op;
use hakaru_model::reported::ReportedBlock;

/// Number of percentile fields, used or not.
const PERCENTILES: usize = 20;

/// Buckets of queue depth.
const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

/// Buckets of latency in microseconds; milliseconds continue with 2000 and above.
const STEPS: [&str; 10] = [
    "2", "4", "10", "20", "50", "100", "250", "500", "750", "1000",
];

/// Trims blanks and Markdown code marks from a line.
fn bare(text: &str) -> &str {
    text.trim().trim_matches('`')
}

/// The terse version of a line, or `None` if it is not a terse line.
pub(in super::super) fn version(text: &str) -> Option<u8> {
    let text = bare(text);
    let version = match text.as_bytes() {
        [v @ b'2'..=b'5', b';', ..] => v - b'0',
        _ => return None,
    };
    let mut fields = text.split(';').skip(1);
    let named = fields.next()?;
    let known = if version == 2 {
        !named.is_empty()
    } else {
        named.starts_with("fio")
    };
    // A truncated line contains at least the job name.
    let more = fields.filter(|field| field.parse::<f64>().is_ok()).count();
    (known && (version > 2 || more > 20)).then_some(version)
}

/// Parses consecutive lines of the same version as reports of one run.
pub(in super::super) fn read(lines: &[SourceLine]) -> Raw {
    let version = lines
        .first()
        .and_then(|line| version(&line.text))
        .unwrap_or(3);
    let number = |line: Option<&SourceLine>| line.map_or(0, |line| line.number);
    let mut raw = Raw {
        format: SourceFormat::FioTerse,
        program: String::new(),
        blocks: Vec::new(),
        histograms: Histograms::new(),
        asked: Err(String::new()),
        shown_unix_ms: None,
        unread: Vec::new(),
        not_numbers: (0, String::new()),
        interrupted: false,
        missing: None,
        lines: (number(lines.first()), number(lines.last())),
    };
    let mut disks = Vec::new();
    for line in lines {
        let mut fields = TerseReader::of(line);
        if version > 2 {
            raw.program = fields.text().to_owned();
        }
        let (report, of_line) = report(&mut fields, version);
        raw.blocks.push(report);
        disks = of_line;
        if let Some(rest) = fields.rest().filter(|rest| !rest.is_empty()) {
            let why = format!("extra fields after the known ones: {rest}");
            raw.unread.push(Unread::note(line.number, why));
        }
        if fields.missing {
            raw.missing = Some(format!("the fields after field {}", fields.fields.len()));
        }
        if raw.not_numbers.0 == 0 {
            raw.not_numbers.1.clone_from(&fields.lost.1);
        }
        raw.not_numbers.0 += fields.lost.0;
    }
    // Each line repeats the disk counters.
    raw.blocks.extend(disks);
    raw
}

/// Parses the report in one line.
pub(super) fn report_of(line: &SourceLine) -> ReportedBlock {
    let version = version(&line.text).unwrap_or(3);
    let mut fields = TerseReader::of(line);
    if version > 2 {
        fields.text();
    }
    report(&mut fields, version).0
}

struct TerseReader<'a> {
    fields: Vec<&'a str>,
    at: usize,
    lost: (u32, String),
    missing: bool,
}

impl<'a> TerseReader<'a> {
    fn of(line: &'a SourceLine) -> TerseReader<'a> {
        TerseReader {
            fields: bare(&line.text).split(';').collect(),
            at: 1,
            lost: (0, String::new()),
            missing: false,
        }
    }

    fn text(&mut self) -> &'a str {
        let field = self.fields.get(self.at).copied();
        self.missing |= field.is_none();
        self.at += 1;
        field.unwrap_or_default().trim()
    }

    fn put(&mut self, block: &mut ReportedBlock, name: &str, unit: &str) {
        let place = self.at + 1;
        let text = self.text();
        match number(text) {
            Some((value, own)) => {
                block.figure(name, value, if own == "%" { "%" } else { unit });
            }
            None if text.is_empty() => {}
            None => {
                self.lost.0 += 1;
                if self.lost.1.is_empty() {
                    self.lost.1 = format!("field {place}, {text}").chars().take(60).collect();
                }
            }
        }
    }

    fn left(&self) -> usize {
        self.fields.len().saturating_sub(self.at)
    }

    fn rest(&mut self) -> Option<String> {
        (self.left() > 0).then(|| self.fields[self.at..].join(";"))
    }
}

fn report(fields: &mut TerseReader<'_>, version: u8) -> (ReportedBlock, Vec<ReportedBlock>) {
    let mut report = ReportedBlock::new("report");
    report.word("name", fields.text());
    fields.put(&mut report, "groupid", "");
    fields.put(&mut report, "err", "");
    for &op in operations(fields, version) {
        let block = operation(fields, op, version);
        if is_positive(&block, "runt") {
            report.blocks.push(block);
        }
    }
    host(fields, &mut report);
    let disks = match version {
        2 => Vec::new(),
        _ => disks(fields),
    };
    let next = fields.fields.get(fields.at..fields.at + 2);
    if next.is_some_and(|next| next.iter().all(|f| f.parse::<u64>().is_ok())) {
        let mut errors = ReportedBlock::new("errors");
        fields.put(&mut errors, "total", "");
        fields.put(&mut errors, "first_error", "");
        report.blocks.push(errors);
    }
    if fields.left() == 1 {
        let text = fields.text();
        if !text.is_empty() {
            report.word("description", text);
        }
    }
    (report, disks)
}

/// The operations in a line. Later releases of version 2 added trims, so its fields are counted.
fn operations(fields: &TerseReader<'_>, version: u8) -> &'static [Op] {
    match version {
        4 | 5 => &Op::ALL,
        2 if fields.fields.len() >= 150 => &Op::ALL,
        _ => &Op::ALL[..2],
    }
}

/// Whether a block has a figure above 0 with this name.
fn is_positive(block: &ReportedBlock, name: &str) -> bool {
    block.get(name).is_some_and(|f| f.value.value() > 0.0)
}

/// Parses CPU use, queue depths and the latency distribution.
fn host(fields: &mut TerseReader<'_>, report: &mut ReportedBlock) {
    let mut cpu = ReportedBlock::new("cpu");
    for (name, unit) in [
        ("usr", "%"),
        ("sys", "%"),
        ("ctx", ""),
        ("majf", ""),
        ("minf", ""),
    ] {
        fields.put(&mut cpu, name, unit);
    }
    let mut depths = ReportedBlock::new("IO depths");
    for name in DEPTHS {
        fields.put(&mut depths, name, "%");
    }
    for (unit, more) in [("usec", &[][..]), ("msec", &["2000", ">=2000"])] {
        let mut block = ReportedBlock::new("lat");
        block.word("unit", unit);
        for name in STEPS.iter().chain(more) {
            fields.put(&mut block, name, "%");
        }
        block.figures.retain(|figure| figure.value.value() > 0.0);
        if !block.figures.is_empty() {
            report.blocks.push(block);
        }
    }
    report.blocks.extend([cpu, depths]);
}

fn operation(fields: &mut TerseReader<'_>, op: Op, version: u8) -> ReportedBlock {
    let mut block = ReportedBlock::new(op.name());
    for (name, unit) in [
        ("io", "KiB"),
        ("BW", "KiB/s"),
        ("IOPS", ""),
        ("runt", "msec"),
    ] {
        fields.put(&mut block, name, unit);
    }
    latency(fields, "slat", &mut block);
    latency(fields, "clat", &mut block);
    percentiles(fields, &mut block);
    latency(fields, "lat", &mut block);
    let mut bw = ReportedBlock::new("bw");
    bw.word("unit", "KiB/s");
    for name in ["min", "max", "per", "avg", "stdev"] {
        fields.put(&mut bw, name, if name == "per" { "%" } else { "" });
    }
    let mut iops = ReportedBlock::new("iops");
    if version == 5 {
        fields.put(&mut bw, "samples", "");
        for name in ["min", "max", "avg", "stdev", "samples"] {
            fields.put(&mut iops, name, "");
        }
    }
    let spreads = [bw, iops].into_iter();
    block
        .blocks
        .extend(spreads.filter(|spread| is_positive(spread, "max")));
    block
}

fn percentiles(fields: &mut TerseReader<'_>, into: &mut ReportedBlock) {
    let mut list = ReportedBlock::new("clat percentiles");
    list.word("unit", "usec");
    for _ in 0..PERCENTILES {
        let place = fields.at;
        let Some((name, value)) = fields.text().split_once("%=") else {
            continue;
        };
        // Unused fields are written as `0%=0`.
        if name.trim_matches(['0', '.']).is_empty() {
            continue;
        }
        fields.at = place;
        fields.fields[place] = value;
        fields.put(&mut list, short(name), "");
    }
    if !list.figures.is_empty() {
        into.blocks.push(list);
    }
}

fn latency(fields: &mut TerseReader<'_>, name: &str, into: &mut ReportedBlock) {
    let mut block = ReportedBlock::new(name);
    block.word("unit", "usec");
    for name in ["min", "max", "avg", "stdev"] {
        fields.put(&mut block, name, "");
    }
    if is_positive(&block, "avg") {
        into.blocks.push(block);
    }
}

/// Parses the disks: nine fields each, starting with a name that is not a number.
fn disks(fields: &mut TerseReader<'_>) -> Vec<ReportedBlock> {
    let mut disks = Vec::new();
    while fields.left() >= 9 && fields.fields[fields.at].parse::<f64>().is_err() {
        let mut block = ReportedBlock::new("disk");
        block.word("name", fields.text());
        for name in [
            "ios r", "ios w", "merge r", "merge w", "ticks r", "ticks w", "in_queue",
        ] {
            fields.put(&mut block, name, "");
        }
        fields.put(&mut block, "util", "%");
        disks.push(block);
    }
    disks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known_by_their_beginning() {
        assert_eq!(version("3;fio-3.33;a;0;0;1;2"), Some(3));
        assert_eq!(
            version("2;a;0;0"),
            None,
            "too short to be distinguished from any other list"
        );
        assert_eq!(version(&format!("2;a{}", ";1".repeat(90))), Some(2));
        for text in ["6;fio-3.33;a", "3;foo;1;2;3", "3, 4, 5", "", "3;"] {
            assert_eq!(version(text), None, "{text}");
        }
    }
}
