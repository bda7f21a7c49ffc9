//! Parses iozone's outputs: throughput mode, the table of auto mode, and the spreadsheet reports.
//!
//! Kilobytes are 1024 bytes in any spelling.

mod head;
mod record;

use self::head::IozoneHead;
use self::record::{ImportedRate, IozoneReadout, KB};
use super::lines::SourceLine;
use super::units::number;
use super::{ImportedRun, SourceFormat, Unread};
use crate::iozone::{COLUMNS, IozoneTest};
use hakaru_model::reported::{Decimal, ReportedBlock};

/// First line of an output.
const TITLE: &str = "Iozone: Performance Test of File I/O";

/// Maximum number of unknown lines between results; the list of authors takes ten.
const MOST_IDLE: usize = 12;

/// Whether a line can start an iozone result.
pub(super) fn begins(text: &str) -> bool {
    let text = text.trim();
    text.contains(TITLE)
        || is_start_of_head(text)
        || text.starts_with("Children see throughput for")
        || is_table_head(text)
        || text.starts_with("\"Throughput report")
        || excel_title(text).is_some()
}

/// Whether the line is a header line that may start an excerpt without the title.
fn is_start_of_head(text: &str) -> bool {
    let sized = |start: &str| {
        text.strip_prefix(start)
            .is_some_and(|rest| rest.ends_with("kB") && rest.len() < 24)
    };
    let group = text
        .strip_prefix("Throughput test with ")
        .and_then(|rest| rest.split_once(' '));
    text.starts_with("O_DIRECT feature enabled")
        || sized("File size set to ")
        || sized("Record Size ")
        || group.is_some_and(|(count, _)| count.parse::<u32>().is_ok())
        || text.starts_with("Each ") && text.contains(" kByte file in ")
}

fn is_table_head(text: &str) -> bool {
    text.split_whitespace()
        .take(4)
        .map(str::to_lowercase)
        .eq(["kb", "reclen", "write", "rewrite"])
}

/// Parses a spreadsheet title such as `"Writer report"`.
fn excel_title(text: &str) -> Option<IozoneTest> {
    let name = text
        .trim()
        .strip_prefix('"')?
        .strip_suffix('"')?
        .strip_suffix(" report")?;
    IozoneTest::all().find(|test| test.report().eq_ignore_ascii_case(name))
}

#[derive(Default)]
struct IozoneReader {
    head: IozoneHead,
    blocks: Vec<ReportedBlock>,
    cells: Vec<ImportedRate>,
    unread: Vec<Unread>,
    format: Option<SourceFormat>,
    /// Test and record sizes of the current spreadsheet report.
    excel: Option<(IozoneTest, Vec<u64>)>,
    /// Whether the spreadsheet reports repeat the table above them.
    repeats: bool,
    /// Layout of a table row: the end column of each name.
    table: Vec<usize>,
    complete: bool,
}

/// Parses one iozone run at the start of some lines; also returns the number of lines consumed. `command` is the
/// command line above them.
pub(super) fn read(
    lines: &[SourceLine],
    command: Option<&[String]>,
) -> Option<(ImportedRun, usize)> {
    let mut reader = IozoneReader::default();
    if let Some(words) = command {
        reader.head.understand(words.iter().map(String::as_str));
    }
    let used = reader.lines(lines);
    let used = used.max(1);
    let first = lines.first()?.number;
    let last = lines.get(used - 1).map_or(0, |line| line.number);
    for option in std::mem::take(&mut reader.head.unknown) {
        let why = format!("unknown command-line option {option}; the other options were read");
        reader.unread.push(Unread::note(first, why));
    }
    let run = record::run(IozoneReadout {
        head: reader.head,
        blocks: reader.blocks,
        cells: reader.cells,
        unread: reader.unread,
        format: reader.format,
        complete: reader.complete,
        lines: (first, last),
    })?;
    Some((run, used))
}

/// Beginnings of the lines of a test in throughput mode, and the names of their figures.
const RATE_LINES: [(&str, &str); 5] = [
    ("Parent sees throughput for", "parent"),
    ("Min throughput per", "min"),
    ("Max throughput per", "max"),
    ("Avg throughput per", "avg"),
    ("Min xfer", "min xfer"),
];

impl IozoneReader {
    /// Whether a line belongs to another run: a run has one command line and one table, and
    /// measures each test once per number of children.
    fn is_next_run(&self, text: &str) -> bool {
        if self.cells.is_empty() {
            return false;
        }
        let heads = [
            "Run began:",
            "Command line used:",
            "O_DIRECT feature enabled",
            "File size set to ",
            "Record Size ",
        ];
        if is_table_head(text) && self.format == Some(SourceFormat::IozoneAuto)
            || heads.iter().any(|head| text.starts_with(head))
        {
            return true;
        }
        let mut cells = self.cells.iter();
        if let Some(rest) = text.strip_prefix("Throughput test with ") {
            let count = rest.split(' ').next().and_then(|count| count.parse().ok());
            return cells.any(|cell| count == Some(cell.workers));
        }
        let rate = text.strip_prefix("Children see throughput for");
        rate.and_then(children_of)
            .is_some_and(|(test, _, workers)| {
                cells.any(|cell| (cell.test, cell.workers) == (test, workers))
            })
    }

    /// Reports unknown lines of a run. The authors before the options are ignored.
    fn pass_over(&mut self, idle: &mut Vec<&SourceLine>) {
        let results = self.head.command.is_some() || !self.cells.is_empty();
        let columns_above = |line: &&SourceLine| line.text.trim_start().starts_with("random");
        for line in idle
            .drain(..)
            .filter(|line| results && !columns_above(line))
        {
            self.unread
                .push(Unread::new(line, "not a known line of iozone's output"));
        }
    }

    /// Parses the lines of one run. Returns their number.
    fn lines(&mut self, lines: &[SourceLine]) -> usize {
        let (mut used, mut idle) = (0, Vec::new());
        for (index, line) in lines.iter().enumerate() {
            let text = line.trimmed();
            if index > 0 && (text.contains(TITLE) || self.is_next_run(text)) {
                break;
            }
            if self.line(line) {
                used = index + 1;
                self.pass_over(&mut idle);
                if self.complete && !matches!(self.format, Some(SourceFormat::IozoneAuto)) {
                    break;
                }
            } else if !text.is_empty() {
                idle.push(line);
            }
            if idle.len() > MOST_IDLE {
                break;
            }
        }
        used
    }

    fn line(&mut self, line: &SourceLine) -> bool {
        let text = line.trimmed();
        if self.head.take(text) {
            return true;
        }
        if text.ends_with("iozone test complete.") {
            self.complete = true;
            return true;
        }
        if let Some(rest) = text.strip_prefix("Children see throughput for") {
            return self.children(rest, line);
        }
        if self.more_of_children(text) {
            return true;
        }
        self.table_head(text, line) || self.excel_row(text, line) || self.table_row(line)
    }

    /// Parses the header of a table or of a spreadsheet report.
    fn table_head(&mut self, text: &str, line: &SourceLine) -> bool {
        let auto = self.format == Some(SourceFormat::IozoneAuto);
        if is_table_head(text) {
            self.format = Some(SourceFormat::IozoneAuto);
            self.table = ends_of_words(&line.text);
            return true;
        }
        if let Some(test) = excel_title(text) {
            self.excel = Some((test, Vec::new()));
            self.repeats |= auto && !self.cells.is_empty();
        } else if !text.starts_with("\"Throughput report") {
            return false;
        }
        self.format.get_or_insert(SourceFormat::IozoneExcel);
        true
    }

    /// Parses `  4 initial writers   =  174754.01 kB/sec`.
    fn children(&mut self, rest: &str, line: &SourceLine) -> bool {
        if !rest.contains('=') {
            return false;
        }
        let Some((test, (rate, unit), workers)) = children_of(rest) else {
            self.unread.push(Unread::new(
                line,
                "unknown iozone test, or its rate is not a number",
            ));
            return true;
        };
        let mut block = ReportedBlock::new("throughput");
        block.word("test", test.name());
        block
            .figure("workers", Decimal::whole(workers.into()), "")
            .figure("children", rate, unit);
        self.blocks.push(block);
        self.format = Some(SourceFormat::IozoneThroughput);
        self.stated(test, rate, unit.starts_with("ops"), workers);
        true
    }

    /// Adds a rate of throughput mode.
    fn stated(&mut self, test: IozoneTest, rate: Decimal, ops: bool, workers: u32) {
        let (record_kb, file_kb) = (self.head.record_kb, self.head.file_kb);
        let rate = rate.value() * if ops { 1.0 } else { KB };
        self.cells.push(ImportedRate {
            test,
            rate,
            ops,
            workers,
            record_kb,
            file_kb,
        });
    }

    fn more_of_children(&mut self, text: &str) -> bool {
        let last = self.blocks.last_mut();
        let Some(block) = last.filter(|block| block.name == "throughput") else {
            return false;
        };
        if text.starts_with("CPU ") && text.contains("tilization: Wall time") {
            read_cpu_use(text, block);
            return true;
        }
        let mut names = RATE_LINES.iter();
        if let Some((_, name)) = names.find(|(beginning, _)| text.starts_with(beginning)) {
            put_value(block, name, text);
            return true;
        }
        // A line such as `Child[0] xfer count = 4096.00 kB, Throughput = 16360.00 kB/sec`.
        let child = text.strip_prefix("Child[");
        let Some((child, rest)) = child.and_then(|rest| rest.split_once(']')) else {
            return false;
        };
        for (cell, name) in rest.split(", ").zip(["xfer", "rate"]) {
            put_value(block, &format!("child {child} {name}"), cell);
        }
        true
    }

    /// Parses `"1048576"   2102 3011`, or `"  Initial write "   12345.67`.
    fn excel_row(&mut self, text: &str, line: &SourceLine) -> bool {
        let row = text.strip_prefix('"');
        let Some((name, rest)) = row.and_then(|row| row.split_once('"')) else {
            return false;
        };
        let name = name.trim();
        let mut tests = IozoneTest::all();
        if let Some(test) = tests.find(|test| test.excel().eq_ignore_ascii_case(name)) {
            self.summary_row(test, rest, line);
            return true;
        }
        let (Some((test, records)), Ok(first)) = (&mut self.excel, name.parse::<u64>()) else {
            return false;
        };
        if records.is_empty() {
            let others = rest
                .split('"')
                .filter_map(|cell| cell.trim().parse::<u64>().ok());
            records.push(first);
            records.extend(others);
        } else if !self.repeats {
            let (test, records) = (*test, records.clone());
            self.report_row(test, first, rest.split_whitespace().zip(records), line);
        }
        true
    }

    /// Adds the rates of a row of a spreadsheet report, each with its record size in kB.
    fn report_row<'w>(
        &mut self,
        test: IozoneTest,
        file_kb: u64,
        rates: impl Iterator<Item = (&'w str, u64)>,
        line: &SourceLine,
    ) {
        let mut block = ReportedBlock::new("row");
        block
            .word("test", test.name())
            .figure("file", Decimal::whole(file_kb), "kB");
        for (word, record_kb) in rates {
            match word.parse::<Decimal>() {
                Ok(rate) if rate.value() > 0.0 => {
                    block.figure(&record_kb.to_string(), rate, "kB/sec");
                    let sizes = (Some(record_kb), Some(file_kb));
                    self.rate(test, (rate.value() * KB, false), sizes);
                }
                // iozone prints 0 if no record of that size fits.
                Ok(_) => {}
                Err(_) => self
                    .unread
                    .push(Unread::new(line, "a rate is not a number")),
            }
        }
        self.blocks.push(block);
    }

    /// Adds a rate of a single worker, and whether it is in operations instead of bytes, with its record and file size
    /// in kB.
    fn rate(
        &mut self,
        test: IozoneTest,
        (rate, ops): (f64, bool),
        (record_kb, file_kb): (Option<u64>, Option<u64>),
    ) {
        self.cells.push(ImportedRate {
            test,
            rate,
            ops,
            workers: 1,
            record_kb,
            file_kb,
        });
    }

    /// Parses a line of the throughput summary. It repeats the results above, unless they were cut off.
    fn summary_row(&mut self, test: IozoneTest, rest: &str, line: &SourceLine) {
        let known = self.cells.iter().any(|cell| cell.test == test);
        let Some((rate, _)) = number(rest).filter(|_| !known) else {
            return;
        };
        if rest.split_whitespace().nth(1).is_some() {
            self.unread.push(Unread::new(
                line,
                "only the first of several rates was read: the number of children is unknown",
            ));
        }
        let unit = if self.head.ops { "ops/sec" } else { "kB/sec" };
        let mut block = ReportedBlock::new("throughput");
        block
            .word("test", test.name())
            .figure("children", rate, unit);
        self.blocks.push(block);
        let ops = self.head.ops;
        let per_s = rate.value() * if ops { 1.0 } else { KB };
        self.rate(test, (per_s, ops), (self.head.record_kb, None));
    }

    /// Parses `            8192       4    57751    82155    57543    54677    63699    64052`.
    fn table_row(&mut self, line: &SourceLine) -> bool {
        if self.table.len() < 4 {
            return false;
        }
        let words = words_with_ends(&line.text);
        let whole = words.iter().map(|(word, _)| word.parse().ok());
        let whole: Option<Vec<u64>> = whole.collect();
        let Some([file_kb, record_kb, rates @ ..]) = whole.as_deref() else {
            return false;
        };
        if rates.is_empty() || rates.len() > COLUMNS {
            return false;
        }
        let mut block = ReportedBlock::new("row");
        block.figure("file", Decimal::whole(*file_kb), "kB").figure(
            "reclen",
            Decimal::whole(*record_kb),
            "kB",
        );
        for (index, (&rate, (_, end))) in rates.iter().zip(&words[2..]).enumerate() {
            let Some(test) = IozoneTest::of_column(self.column(index, *end, words[1].1)) else {
                continue;
            };
            let (unit, ops, per_s) = match (self.head.ops, self.head.micros) {
                (true, _) => ("ops/sec", true, rate as f64),
                (_, true) => ("usec/op", true, 1e6 / rate.max(1) as f64),
                _ => ("kB/sec", false, rate as f64 * KB),
            };
            block.figure(test.name(), Decimal::whole(rate), unit);
            self.rate(test, (per_s, ops), (Some(*record_kb), Some(*file_kb)));
        }
        self.blocks.push(block);
        true
    }

    /// Returns the column of a rate. If tests were skipped, its position identifies it; pasted text
    /// may have lost leading spaces, which the end of the record size shows. A shortened header
    /// names the existing columns.
    fn column(&self, index: usize, end: usize, reclen_end: usize) -> usize {
        if self.table.len() != COLUMNS + 2 {
            return index;
        }
        let shift = reclen_end as isize - self.table[1] as isize;
        let at = end as isize - shift;
        let columns = self.table[2..].iter().enumerate();
        let nearest = columns.min_by_key(|(_, column)| (**column as isize - at).unsigned_abs());
        nearest.map_or(index, |(column, _)| column)
    }
}

/// Adds the number behind the `=` of a text, if there is one.
fn put_value(block: &mut ReportedBlock, name: &str, text: &str) {
    if let Some((value, unit)) = text.split_once('=').and_then(|(_, value)| number(value)) {
        block.figure(name, value, unit);
    }
}

/// Parses `CPU utilization: Wall time    0.1    CPU time    0.0    CPU utilization   9.00 %`.
fn read_cpu_use(text: &str, block: &mut ReportedBlock) {
    for (start, name, unit) in [
        ("Wall time", "wall", "s"),
        ("CPU time", "cpu", "s"),
        ("CPU utilization ", "cpu use", "%"),
    ] {
        let rest = text.split_once(start).map(|(_, rest)| rest);
        let value = rest.and_then(|rest| number(rest.split('C').next()?));
        value.map(|(value, _)| block.figure(name, value, unit));
    }
}

/// Parses `  4 initial writers   =  174754.01 kB/sec` into the test, its rate with unit, and the number of children.
fn children_of(rest: &str) -> Option<(IozoneTest, (Decimal, &str), u32)> {
    let (who, rate) = rest.split_once('=')?;
    let who = who.trim();
    let (count, name) = who.split_once(' ').unwrap_or((who, ""));
    let test = IozoneTest::all().find(|test| test.workers() == name.trim())?;
    Some((test, number(rate)?, count.parse().ok()?))
}

fn words_with_ends(text: &str) -> Vec<(&str, usize)> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (c.is_whitespace(), start) {
            (false, None) => start = Some(at),
            (true, Some(from)) => {
                found.push((&text[from..at], at));
                start = None;
            }
            _ => {}
        }
    }
    found
}

fn ends_of_words(text: &str) -> Vec<usize> {
    words_with_ends(text)
        .into_iter()
        .map(|(_, end)| end)
        .collect()
}

#[cfg(test)]
mod tests;
