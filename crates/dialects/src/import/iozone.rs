//! iozone's outputs: throughput mode, the table of auto mode, and the reports for spreadsheets.
//!
//! Its kilobytes are 1024 bytes, whatever case they are written in. Leaves out running it.

use super::lines::Line;
use super::units::number;
use super::{Format, ImportedRun, Unread};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Access, BlockSize, Job, Op, PerOp, Phase, Scenario, SizeSpec, Target};
use hakaru_model::record::{OpRecord, Outcome, PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::reported::{Block, Decimal, OpReport, Reported, StatedRate, WorkerReport};
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;

const KB: f64 = 1024.0;

/// A test of iozone, by the names its outputs have for it.
struct Test {
    /// Name of the phase.
    name: &'static str,
    /// In throughput mode: `4 initial writers`.
    workers: &'static str,
    /// In the table of throughput mode for spreadsheets.
    excel: &'static str,
    /// In the reports of auto mode for spreadsheets: `Writer report`.
    report: &'static str,
    op: Op,
    random: bool,
}

const fn test(
    name: &'static str,
    workers: &'static str,
    excel: &'static str,
    report: &'static str,
    op: Op,
    random: bool,
) -> Test {
    Test { name, workers, excel, report, op, random }
}

/// The tests in the order of the table's columns; those behind `freread` occur in throughput mode only.
const TESTS: [Test; 18] = [
    test("write", "initial writers", "Initial write", "Writer", Op::Write, false),
    test("rewrite", "rewriters", "Rewrite", "Re-writer", Op::Write, false),
    test("read", "readers", "Read", "Reader", Op::Read, false),
    test("reread", "re-readers", "Re-read", "Re-Reader", Op::Read, false),
    test("random read", "random readers", "Random read", "Random read", Op::Read, true),
    test("random write", "random writers", "Random write", "Random write", Op::Write, true),
    test("backward read", "reverse readers", "Reverse Read", "Backward read", Op::Read, false),
    test("record rewrite", "record rewriters", "Record rewrite", "Record rewrite", Op::Write, false),
    test("stride read", "stride readers", "Stride read", "Stride read", Op::Read, false),
    test("fwrite", "fwriters", "Fwrite", "Fwrite", Op::Write, false),
    test("frewrite", "frewriters", "Re-Fwrite", "Re-Fwrite", Op::Write, false),
    test("fread", "freaders", "Fread", "Fread", Op::Read, false),
    test("freread", "refreaders", "Re-Fread", "Re-Fread", Op::Read, false),
    test("pwrite", "pwrite writers", "Pwrite", "Pwrite", Op::Write, false),
    test("pread", "pread readers", "Pread", "Pread", Op::Read, false),
    test("pwritev", "pwritev writers", "Pwritev", "Pwritev", Op::Write, false),
    test("preadv", "preadv readers", "Preadv", "Preadv", Op::Read, false),
    test("mixed", "mixed workload", "Mixed workload", "Mixed workload", Op::Read, true),
];

/// Columns of the table.
const COLUMNS: usize = 13;

/// Whether a line can begin a result of iozone.
pub(super) fn begins(text: &str) -> bool {
    let text = text.trim();
    text.contains("Iozone: Performance Test of File I/O")
        || text.starts_with("Children see throughput for")
        || is_table_head(text)
        || text.starts_with("\"Throughput report")
        || excel_title(text).is_some()
}

fn is_table_head(text: &str) -> bool {
    text.split_whitespace().take(4).map(str::to_lowercase).eq(["kb", "reclen", "write", "rewrite"])
}

/// `"Writer report"`
fn excel_title(text: &str) -> Option<&'static Test> {
    let name = text.trim().strip_prefix('"')?.strip_suffix('"')?.strip_suffix(" report")?;
    TESTS.iter().find(|test| test.report.eq_ignore_ascii_case(name))
}

/// What the head of an output says.
#[derive(Default)]
struct Head {
    version: String,
    record_kb: Option<u64>,
    file_kb: Option<u64>,
    direct: bool,
    fsync: bool,
    sync: bool,
    ops: bool,
    /// Microseconds an operation rather than speeds.
    micros: bool,
    command: Option<String>,
    path: Option<PathBuf>,
}

/// One measured rate.
struct Cell {
    test: &'static Test,
    /// Bytes per second, or I/Os per second where `ops` says so.
    rate: f64,
    ops: bool,
    workers: u32,
    record_kb: Option<u64>,
    file_kb: Option<u64>,
}

#[derive(Default)]
struct Reader {
    head: Head,
    blocks: Vec<Block>,
    cells: Vec<Cell>,
    unread: Vec<Unread>,
    format: Option<Format>,
    /// Test and record sizes of the spreadsheet report that is being read.
    excel: Option<(&'static Test, Vec<u64>)>,
    /// Whether the summary for spreadsheets of throughput mode is being read: it repeats what stood above.
    repeats: bool,
    /// How the cells of a table's row are laid out: the column that each name ends at.
    table: Vec<usize>,
    complete: bool,
}

/// Reads one run of iozone at the start of some lines; also how many lines it took.
pub(super) fn read(lines: &[Line]) -> Option<(ImportedRun, usize)> {
    let mut reader = Reader::default();
    let (mut used, mut idle) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        let text = line.trimmed();
        if index > 0 && text.contains("Iozone: Performance Test of File I/O") {
            break;
        }
        if reader.line(line) {
            (used, idle) = (index + 1, 0);
            if reader.complete && !matches!(reader.format, Some(Format::IozoneAuto)) {
                break;
            }
        } else if !text.is_empty() {
            idle += 1;
            // The list of authors and a few remarks stand between the head and the results.
            if idle > 12 {
                break;
            }
        }
    }
    let used = used.max(1);
    let last = lines.get(used - 1).map_or(0, |line| line.number);
    let run = reader.finish((lines.first()?.number, last))?;
    Some((run, used))
}

impl Reader {
    fn line(&mut self, line: &Line) -> bool {
        let text = line.trimmed();
        if self.head_line(text) {
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
        if is_table_head(text) {
            self.format = Some(Format::IozoneAuto);
            self.table = ends_of_words(&line.text);
            return true;
        }
        if text.starts_with("\"Throughput report") {
            self.repeats = !self.cells.is_empty();
            self.format.get_or_insert(Format::IozoneExcel);
            return true;
        }
        if let Some(test) = excel_title(text) {
            self.excel = Some((test, Vec::new()));
            // Behind a table, the reports say the same once more.
            self.repeats |= self.format == Some(Format::IozoneAuto) && !self.cells.is_empty();
            self.format.get_or_insert(Format::IozoneExcel);
            return true;
        }
        self.excel_row(text, line) || self.table_row(line)
    }

    fn head_line(&mut self, text: &str) -> bool {
        let head = &mut self.head;
        let kb = |text: &str| number(text).and_then(|(n, _)| n.as_whole());
        let known = [
            "Iozone: Performance Test",
            "Compiled for",
            "Build:",
            "Contributors:",
            "Run began:",
            "Auto Mode",
            "Output is in",
            "Time Resolution",
            "Processor cache",
            "File stride",
            "Throughput test with",
            "Include close",
            "Setting no_unlink",
            "Min process",
            "Max process",
            "Excel chart",
            "Excel output",
            "No retest",
            "Machine = ",
            "Stonewall",
            "Using ",
            "POSIX ",
            "random",
        ];
        if let Some(rest) = text.strip_prefix("Version $Revision:") {
            head.version = rest.trim_matches([' ', '$']).to_owned();
        } else if let Some(rest) = text.strip_prefix("File size set to ") {
            head.file_kb = kb(rest);
        } else if let Some(rest) = text.strip_prefix("Record Size ") {
            head.record_kb = kb(rest);
        } else if let Some(rest) = text.strip_prefix("\"Record size = ").or_else(|| text.strip_prefix("Record size = "))
        {
            head.record_kb = kb(rest).or(head.record_kb);
        } else if text.starts_with("O_DIRECT feature") {
            head.direct = true;
        } else if text.starts_with("Include fsync") {
            head.fsync = true;
        } else if text.starts_with("SYNC Mode") {
            head.sync = true;
        } else if text.starts_with("OPS Mode") {
            head.ops = true;
        } else if text.starts_with("Microseconds/op Mode") {
            head.micros = true;
        } else if let Some(rest) = text.strip_prefix("Command line used: ") {
            head.command = Some(rest.to_owned());
            head.path = file_of(rest);
        } else if let Some((_, rest)) = text.split_once(" writes a ").filter(|_| text.starts_with("Each ")) {
            let mut sizes = rest.split(" in ");
            head.file_kb = sizes.next().and_then(kb).or(head.file_kb);
            head.record_kb = sizes.next().and_then(kb).or(head.record_kb);
        } else {
            return known.iter().any(|beginning| text.trim_start_matches('"').starts_with(beginning));
        }
        true
    }

    /// `  4 initial writers   =  174754.01 kB/sec`
    fn children(&mut self, rest: &str, line: &Line) -> bool {
        let Some((who, rate)) = rest.split_once('=') else { return false };
        let who = who.trim();
        let (count, name) = who.split_once(' ').unwrap_or((who, ""));
        let test = TESTS.iter().find(|test| test.workers == name.trim());
        let (Some(test), Some((rate, unit)), Some(workers)) = (test, number(rate), count.parse::<u32>().ok()) else {
            self.unread.push(Unread::new(line, "no test of iozone is known by this name, or its rate is no number"));
            return true;
        };
        let mut block = Block::new("throughput");
        block.word("test", test.name);
        block.figure("workers", Decimal::whole(workers.into()), "").figure("children", rate, unit);
        self.blocks.push(block);
        self.format = Some(Format::IozoneThroughput);
        let ops = unit.starts_with("ops");
        let (record_kb, file_kb) = (self.head.record_kb, self.head.file_kb);
        let rate = rate.value() * if ops { 1.0 } else { KB };
        self.cells.push(Cell { test, rate, ops, workers, record_kb, file_kb });
        true
    }

    fn more_of_children(&mut self, text: &str) -> bool {
        let names = [
            ("Parent sees throughput for", "parent"),
            ("Min throughput per", "min"),
            ("Max throughput per", "max"),
            ("Avg throughput per", "avg"),
            ("Min xfer", "min xfer"),
        ];
        let Some((_, name)) = names.into_iter().find(|(beginning, _)| text.starts_with(beginning)) else {
            return false;
        };
        let Some(block) = self.blocks.last_mut().filter(|block| block.name == "throughput") else { return false };
        if let Some((value, unit)) = text.split_once('=').and_then(|(_, value)| number(value)) {
            block.figure(name, value, unit);
        }
        true
    }

    /// `"1048576"   2102 3011`, or `"  Initial write "   12345.67`.
    fn excel_row(&mut self, text: &str, line: &Line) -> bool {
        let Some(rest) = text.strip_prefix('"') else { return false };
        let Some((name, rest)) = rest.split_once('"') else { return false };
        if let Some(test) = TESTS.iter().find(|test| test.excel.eq_ignore_ascii_case(name.trim())) {
            if let Some((rate, unit)) = number(rest).filter(|_| !self.repeats) {
                let mut block = Block::new("throughput");
                block.word("test", test.name).figure("children", rate, unit);
                self.blocks.push(block);
                let cell = Cell {
                    test,
                    rate: rate.value() * KB,
                    ops: false,
                    workers: 1,
                    record_kb: self.head.record_kb,
                    file_kb: None,
                };
                self.cells.push(cell);
            }
            return true;
        }
        let Some((test, records)) = &mut self.excel else { return false };
        let Ok(first) = name.trim().parse::<u64>() else { return false };
        if records.is_empty() {
            records.push(first);
            records.extend(rest.split('"').filter_map(|cell| cell.trim().parse::<u64>().ok()));
            return true;
        }
        if self.repeats {
            return true;
        }
        let mut block = Block::new("row");
        block.word("test", test.name).figure("file", Decimal::whole(first), "kB");
        for (word, record_kb) in rest.split_whitespace().zip(records.iter()) {
            match word.parse::<Decimal>() {
                Ok(rate) if rate.value() > 0.0 => {
                    block.figure(&record_kb.to_string(), rate, "kB/sec");
                    self.cells.push(Cell {
                        test,
                        rate: rate.value() * KB,
                        ops: false,
                        workers: 1,
                        record_kb: Some(*record_kb),
                        file_kb: Some(first),
                    });
                }
                // A nought stands where no record of that size fits.
                Ok(_) => {}
                Err(_) => self.unread.push(Unread::new(line, "a rate is no number")),
            }
        }
        self.blocks.push(block);
        true
    }

    /// `            8192       4    57751    82155    57543    54677    63699    64052`
    fn table_row(&mut self, line: &Line) -> bool {
        if self.table.len() < 4 {
            return false;
        }
        let words = words_with_ends(&line.text);
        let Some(rates) = words.get(2..).filter(|rates| !rates.is_empty() && rates.len() <= COLUMNS) else {
            return false;
        };
        let whole: Vec<Option<u64>> = words.iter().map(|(word, _)| word.parse().ok()).collect();
        if whole.iter().any(Option::is_none) {
            return false;
        }
        let (file_kb, record_kb) = (whole[0], whole[1]);
        let mut block = Block::new("row");
        block.figure("file", Decimal::whole(file_kb.unwrap_or(0)), "kB");
        block.figure("reclen", Decimal::whole(record_kb.unwrap_or(0)), "kB");
        // Where tests were left out, the place of a rate tells which one it is; pasted text may have lost its blanks.
        let shift = words[1].1 as isize - self.table.get(1).map_or(0, |&end| end as isize);
        let placed = self.table.len() == COLUMNS + 2;
        for (index, ((_, end), rate)) in rates.iter().zip(&whole[2..]).enumerate() {
            let nearest = || {
                let at = *end as isize - shift;
                let columns = self.table[2..].iter().enumerate();
                columns.min_by_key(|(_, column)| (**column as isize - at).unsigned_abs()).map(|(column, _)| column)
            };
            let column = if placed { nearest().unwrap_or(index) } else { index };
            let (Some(test), Some(rate)) = (TESTS.get(column), rate) else { continue };
            let whole_rate = Decimal::whole(*rate);
            let (unit, ops, rate) = match (self.head.ops, self.head.micros) {
                (true, _) => ("ops/sec", true, *rate as f64),
                (_, true) => ("usec/op", true, 1e6 / (*rate).max(1) as f64),
                _ => ("kB/sec", false, *rate as f64 * KB),
            };
            block.figure(test.name, whole_rate, unit);
            self.cells.push(Cell { test, rate, ops, workers: 1, record_kb, file_kb });
        }
        self.blocks.push(block);
        true
    }

    fn finish(self, lines: (usize, usize)) -> Option<ImportedRun> {
        let Reader { head, blocks, cells, unread, format, complete, .. } = self;
        if cells.is_empty() {
            return None;
        }
        let (mut asked, mut phases, mut workers) = (Vec::new(), Vec::new(), Vec::new());
        let several = |pick: fn(&Cell) -> Option<u64>| cells.iter().any(|cell| pick(cell) != pick(&cells[0]));
        let sizes = (several(|cell| cell.file_kb), several(|cell| cell.record_kb));
        for cell in &cells {
            let name = name_of(cell, sizes);
            let report = phases.len() as u32;
            asked.push(Phase { name: name.clone(), jobs: vec![job(&name, cell, &head)] });
            let (worker, more) = worker(&name, cell, report);
            phases.push(PhaseRecord {
                elapsed: worker.runtime,
                name,
                started_unix_ms: 0,
                workers: vec![worker],
                disks: Vec::new(),
            });
            workers.push(more);
        }
        let mut caveats = Vec::new();
        if head.command.is_none() {
            caveats.push(Caveat::Unstated {
                what: "whether the page cache was in between (-I), and on which file it ran".to_owned(),
            });
        } else if !head.direct {
            caveats.push(Caveat::Buffered);
        }
        if cells.iter().any(|cell| cell.record_kb.is_none()) {
            caveats.push(Caveat::Unstated { what: "the size of a record".to_owned() });
        }
        if !complete {
            caveats.push(Caveat::CutOff { missing: "`iozone test complete.`".to_owned() });
        }
        let version = if head.version.is_empty() { String::new() } else { format!(" {}", head.version) };
        Some(ImportedRun {
            format: format.unwrap_or(Format::IozoneThroughput),
            program: format!("iozone{version}"),
            scenario: Scenario { name: "iozone".to_owned(), seed: 0, phases: asked },
            path: head.path,
            label: None,
            phases,
            caveats,
            outcome: Outcome::Completed,
            figures: blocks.iter().map(Block::count).sum(),
            reported: Reported { blocks, workers },
            started_unix_ms: None,
            lines,
            unread,
        })
    }
}

/// The file of a command line: behind `-f` or the first behind `-F`.
fn file_of(command: &str) -> Option<PathBuf> {
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        if word == "-f" || word == "-F" {
            return words.next().map(PathBuf::from);
        }
        if let Some(rest) = word.strip_prefix("-f").filter(|rest| rest.contains('/')) {
            return Some(PathBuf::from(rest));
        }
    }
    None
}

fn name_of(cell: &Cell, (files, records): (bool, bool)) -> String {
    let mut name = cell.test.name.to_owned();
    if let Some(kb) = cell.record_kb.filter(|_| records) {
        name += &format!(" {}", Bytes(kb.saturating_mul(1024)));
    }
    if let Some(kb) = cell.file_kb.filter(|_| files) {
        name += &format!(" of {}", Bytes(kb.saturating_mul(1024)));
    }
    name
}

fn job(name: &str, cell: &Cell, head: &Head) -> Job {
    let target = head.path.as_ref().map_or(Target::Nothing, |path| Target::Paths(vec![path.clone()]));
    let mut job = Job::new(name, target, Access::only(cell.test.op, cell.test.random));
    job.numjobs = cell.workers.clamp(1, 4096);
    job.group_reporting = true;
    if let Some(kb) = cell.record_kb {
        job.block = PerOp::all(BlockSize::Fixed(Bytes(kb.saturating_mul(1024))));
    }
    job.extent.size = cell.file_kb.map(|kb| SizeSpec::Bytes(Bytes(kb.saturating_mul(1024))));
    job.files.direct = head.direct;
    job.durability.end_fsync = head.fsync;
    job.durability.sync = head.sync;
    job
}

/// In auto mode one worker moves the whole file, so bytes and time follow; in throughput mode a rate is all there is.
fn worker(name: &str, cell: &Cell, phase: u32) -> (WorkerRecord, WorkerReport) {
    let mut worker = WorkerRecord { name: name.to_owned(), stop: StopReason::Done, ..WorkerRecord::default() };
    let mut more = WorkerReport { phase, members: cell.workers, ..WorkerReport::default() };
    let op = cell.test.op;
    let record = cell.record_kb.map(|kb| kb as f64 * KB).filter(|&size| size > 0.0);
    let bytes_per_s = if cell.ops { record.map(|size| size * cell.rate) } else { Some(cell.rate) };
    let iops = if cell.ops { Some(cell.rate) } else { record.map(|size| cell.rate / size) };
    match (cell.file_kb, bytes_per_s.filter(|&rate| rate > 0.0)) {
        (Some(kb), Some(rate)) if cell.workers == 1 => {
            let bytes = kb.saturating_mul(1024);
            let ios = record.map_or(0, |size| (bytes as f64 / size).round() as u64);
            worker.ops[op] = OpRecord { ios, issued: ios, bytes, ..OpRecord::default() };
            worker.runtime = Nanos((bytes as f64 / rate * 1e9).round() as u64);
            worker.job_runtime = worker.runtime;
        }
        _ => {
            let stated = |rate: Option<f64>| rate.map(StatedRate::once);
            more.ops[op] = OpReport { bytes_per_s: stated(bytes_per_s), iops: stated(iops), ..OpReport::default() };
        }
    }
    (worker, more)
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
    words_with_ends(text).into_iter().map(|(_, end)| end).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines::lines;
    use super::*;

    fn rates(text: &str) -> Vec<(String, f64)> {
        let (run, _) = read(&lines(text)).unwrap();
        let phase = |(index, phase): (usize, &PhaseRecord)| {
            let worker = &phase.workers[0];
            let op = Op::ALL.into_iter().find(|&op| worker.ops[op].bytes > 0);
            let by_count = op.map(|op| worker.ops[op].bytes as f64 / worker.runtime.as_secs_f64());
            let report = run.reported.worker(index, 0).unwrap();
            let stated = Op::ALL.into_iter().find_map(|op| report.ops[op].bytes_per_s).map(|rate| rate.mean);
            (phase.name.clone(), (by_count.or(stated).unwrap() / KB).round())
        };
        run.phases.iter().enumerate().map(phase).collect()
    }

    const HEAD: &str = "                                                              random    random     bkwd    record    stride                                    \n              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   fwrite frewrite    fread  freread\n";

    #[test]
    fn a_table_with_tests_left_out_is_read_by_place() {
        let all = format!(
            "{HEAD}           16384       4    55907    68813    43361    42502    34044    64746    33578     61774     30137   235263   233180  3905668  3824589\n\niozone test complete.\n"
        );
        assert_eq!(rates(&all).len(), 13);
        assert_eq!(rates(&all)[7], ("record rewrite".to_owned(), 61774.0));
        let some = format!(
            "{HEAD}          102400    1024   379304   383401                     375988   383204                                                                \n\niozone test complete.\n"
        );
        let names: Vec<String> = rates(&some).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["write", "rewrite", "random read", "random write"]);
    }

    #[test]
    fn throughput_mode_states_rates() {
        let text = "\tIozone: Performance Test of File I/O\n\t        Version $Revision: 3.471 $\n\n\tO_DIRECT feature enabled\n\tCommand line used: iozone -T -t 4 -s 256m -r 4k -I -i0\n\tEach thread writes a 262144 kByte file in 4 kByte records\n\n\tChildren see throughput for  4 initial writers \t=  174754.01 kB/sec\n\tParent sees throughput for  4 initial writers \t=   83428.39 kB/sec\n\tMin throughput per thread \t\t\t=   17818.75 kB/sec \n\tMax throughput per thread \t\t\t=   52980.82 kB/sec\n\tAvg throughput per thread \t\t\t=   43688.50 kB/sec\n\tMin xfer \t\t\t\t\t=    1392.00 kB\n\n\n\niozone test complete.\n";
        let (run, _) = read(&lines(text)).unwrap();
        assert_eq!((run.program.as_str(), run.format, run.figures), ("iozone 3.471", Format::IozoneThroughput, 7));
        let report = run.reported.worker(0, 0).unwrap();
        assert_eq!((report.members, report.ops.write.iops.unwrap().mean.round()), (4, 43689.0));
        assert_eq!(run.caveats, []);
        assert_eq!(rates(text), [("write".to_owned(), 174_754.0)]);
    }

    #[test]
    fn spreadsheet_reports_are_read_once() {
        let report = "\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   173944 0\n\"128\"   235549 245000\n\n\"Re-Reader report\"\n\"4\"\n\"64\"  99\n";
        let names: Vec<String> = rates(report).into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            ["write 4 KiB of 64 KiB", "write 4 KiB of 128 KiB", "write 8 KiB of 128 KiB", "reread 4 KiB of 64 KiB"]
        );
        let both = "\tChildren see throughput for 5 re-readers \t= 2055142.27 KB/sec\n\n\"Throughput report Y-axis is type of test X-axis is number of processes\"\n\"Record size = 4 Kbytes \"\n\"Output is in Kbytes/sec\"\n\n\"        Re-read \" 2055142.27 \n";
        assert_eq!(rates(both), [("reread".to_owned(), 2_055_142.0)]);
    }
}
