//! Parses fio's text output, 2.0 to 3.4x, line by line into blocks of figures.
//!
//! The block layout is the same for every output format, so that all outputs of one run become the same record:
//!
//! ```text
//! job       what a line such as `a: (g=0): rw=read, bs=…` says
//! start, layout, note, status
//! report    one reported job: read, write, trim, mixed {slat, clat, lat, percentiles, bw, iops}, lat shares, sync,
//!           cpu, IO depths, submit, complete, issued, errors, latency
//! group     one `Run status group`: READ, WRITE, TRIM, MIXED
//! disk      one line of `Disk stats`
//! idle      `CPU idleness`
//! ```
//! Does not interpret the figures.

mod rows;

use super::super::lines::SourceLine;
use super::super::units::{has_decimal_comma, number};
use super::super::{Shorten, Unread};
use super::head;
use hakaru_model::reported::ReportedBlock;

/// How the reader classified a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Taken {
    /// Belongs to this run.
    Yes,
    /// Starts another run.
    NextRun,
    /// Not fio output.
    No,
}

/// The part of the output being parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextSection {
    Head,
    /// An operation of the current report.
    Op,
    /// The syncs of the current report.
    Sync,
    Group,
    Disks,
    Idle,
}

/// State of the parser within one run.
#[derive(Debug)]
pub(in super::super) struct Reader {
    /// Name and version as printed; empty until found.
    pub(in super::super) program: String,
    pub(in super::super) blocks: Vec<ReportedBlock>,
    pub(in super::super) unread: Vec<Unread>,
    /// Number of unparsable figures, and the text of the first one.
    pub(in super::super) not_numbers: (u32, String),
    /// Whether any number uses a decimal comma.
    pub(in super::super) commas: bool,
    /// Whether the run was interrupted.
    pub(in super::super) interrupted: bool,
    part: TextSection,
    reports: usize,
}

/// Maximum number of reports in a run.
const MOST_REPORTS: usize = 4096;

/// Name of the block for syncs.
pub(in super::super) const SYNCS: &str = "fsync/fdatasync/sync_file_range";

const OPS: [&str; 4] = ["read", "write", "trim", "mixed"];

impl Default for Reader {
    fn default() -> Reader {
        Reader {
            program: String::new(),
            blocks: Vec::new(),
            unread: Vec::new(),
            not_numbers: (0, String::new()),
            commas: false,
            interrupted: false,
            part: TextSection::Head,
            reports: 0,
        }
    }
}

/// Whether a line is certainly fio output, so that a run may start with it.
pub(in super::super) fn begins(text: &str) -> bool {
    let text = head::without_server(text.trim());
    head::is_banner(text) || report_header(text).is_some() || head::is_version(text)
}

/// Whether a line is the first of a reported job.
pub(in super::super) fn is_report(text: &str) -> bool {
    report_header(head::without_server(text)).is_some()
}

/// The process ID in the first line of a reported job.
pub(in super::super) fn pid(text: &str) -> Option<&str> {
    report_header(head::without_server(text)).map(|header| header.pid.trim())
}

impl Reader {
    /// A reader with only the lines before the first report, for another output of the same run.
    pub(in super::super) fn head_alone(&self) -> Reader {
        let before = self
            .blocks
            .iter()
            .take_while(|block| block.name != "report");
        Reader {
            program: self.program.clone(),
            blocks: before.cloned().collect(),
            ..Reader::default()
        }
    }

    /// The process ID of the first report.
    pub(in super::super) fn pid(&self) -> Option<String> {
        let report = self.blocks.iter().find(|block| block.name == "report")?;
        report.get("pid").map(|figure| figure.value.to_string())
    }

    /// Parses the next line.
    pub(in super::super) fn line(&mut self, line: &SourceLine) -> Taken {
        let text = head::without_server(line.trimmed());
        if text.is_empty() {
            return Taken::Yes;
        }
        if self.is_next_run(text) {
            return Taken::NextRun;
        }
        if has_decimal_comma(text) && !text.starts_with("issued") {
            self.commas = true;
        }
        if self.head(text) || self.report(text) || self.tail(text) {
            return Taken::Yes;
        }
        if self.blocks.is_empty() {
            return Taken::No;
        }
        match self.part {
            // Unrelated text may follow the group summary.
            TextSection::Group | TextSection::Disks | TextSection::Idle => Taken::No,
            _ => {
                self.unread
                    .push(Unread::new(line, "not a known line of fio's output"));
                Taken::Yes
            }
        }
    }

    /// Whether a line starts another run.
    fn is_next_run(&self, text: &str) -> bool {
        let has = |name: &str| self.blocks.iter().any(|block| block.name == name);
        if head::is_banner(text) {
            has("report") || has("start")
        } else if head::is_version(text) {
            has("report") || !self.program.is_empty()
        } else {
            report_header(text).is_some() && has("group")
        }
    }

    fn head(&mut self, text: &str) -> bool {
        let last = self.blocks.last_mut();
        let job = last.filter(|block| block.name == "job");
        if head::is_version(text) {
            self.program = head::program(text);
            return true;
        }
        if self.program.is_empty() && job.is_some() && head::is_bare_version(text) {
            self.program = format!("fio-{text}");
            return true;
        }
        if text == "..." {
            job.map(|job| job.word("clones", "..."));
            return true;
        }
        if text.starts_with("fio: terminating on signal") {
            self.interrupted = true;
            return true;
        }
        let Some(block) = head::read(text) else {
            return false;
        };
        // Status lines overwrite each other, so only the last one is kept.
        if block.name == "status" {
            self.blocks.retain(|known| known.name != "status");
        }
        self.blocks.push(block);
        true
    }

    /// Parses a line of a reported job.
    fn report(&mut self, text: &str) -> bool {
        if let Some(header) = report_header(text) {
            if self.reports == MOST_REPORTS {
                return false;
            }
            self.reports += 1;
            self.header(&header);
            return true;
        }
        if !self.is_in_report() {
            return false;
        }
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        let word = word.trim_end();
        if OPS.contains(&word) && (rest.contains('=')) {
            self.operation(word, rest);
            return true;
        }
        if word == SYNCS {
            self.last_report().blocks.push(ReportedBlock::new(SYNCS));
            self.part = TextSection::Sync;
            return true;
        }
        if text.starts_with('|') {
            return self.percentile_row(text);
        }
        self.latency_line(word, rest) || self.named_row(word, rest)
    }

    fn is_in_report(&self) -> bool {
        let last = self.blocks.last();
        last.is_some_and(|block| block.name == "report")
    }

    fn last_report(&mut self) -> &mut ReportedBlock {
        if !self.is_in_report() {
            self.blocks.push(ReportedBlock::new("report"));
        }
        self.blocks
            .last_mut()
            .expect("a report was pushed if there was none")
    }

    /// The block for latencies and samples: the last operation, or the syncs.
    fn place(&mut self) -> &mut ReportedBlock {
        let named =
            |block: &ReportedBlock| OPS.contains(&block.name.as_str()) || block.name == SYNCS;
        let report = self.last_report();
        if !report.blocks.iter().any(named) {
            report.blocks.push(ReportedBlock::new("mixed"));
        }
        report
            .blocks
            .iter_mut()
            .rfind(|block| named(block))
            .expect("one was pushed if there was none")
    }

    fn header(&mut self, header: &JobHeader<'_>) {
        let mut block = ReportedBlock::new("report");
        block.word("name", header.name);
        if let Some(when) = header.when {
            block.word("when", when);
        }
        if let Some(error) = header.error {
            block.word("error", error);
        }
        for (name, value) in [
            ("groupid", header.group),
            ("jobs", header.jobs),
            ("err", header.err),
            ("pid", header.pid),
        ] {
            self.put(&mut block, name, value);
        }
        self.blocks.push(block);
        self.part = TextSection::Op;
    }

    /// Adds a figure, or counts it if it is not a number.
    fn put(&mut self, block: &mut ReportedBlock, name: &str, text: &str) {
        match number(text) {
            Some((value, unit)) => {
                block.figure(name, value, unit);
            }
            None if text.trim().is_empty() => {}
            None => self.no_number(name, text),
        }
    }

    fn no_number(&mut self, name: &str, text: &str) {
        self.not_numbers.0 += 1;
        if self.not_numbers.1.is_empty() {
            self.not_numbers.1 = format!("{name}={}", text.trim()).shortened(60);
        }
    }

    /// Parses `IOPS=22, BW=22.7MiB/s (23.8MB/s)(99.0MiB/4353msec)`, or
    /// `io=1024KB, bw=341KB/s, iops=85 , runt= 3001msec`.
    fn operation(&mut self, name: &str, rest: &str) {
        let mut block = ReportedBlock::new(name);
        for (key, value) in fields(rest) {
            match key {
                "IOPS" | "iops" => self.put(&mut block, "IOPS", value),
                "io" => self.put(&mut block, "io", value),
                "runt" => self.put(&mut block, "runt", value),
                "bw" => self.put(&mut block, "BW", value),
                "BW" => self.bandwidth(&mut block, value),
                _ => self.no_number(key, value),
            }
        }
        if let Some((_, resets)) = rest.split_once(';') {
            self.put(
                &mut block,
                "zone resets",
                resets.trim_end_matches("zone resets"),
            );
        }
        self.last_report().blocks.push(block);
        self.part = TextSection::Op;
    }

    /// Parses `22.7MiB/s (23.8MB/s)(99.0MiB/4353msec); 0 zone resets`.
    fn bandwidth(&mut self, block: &mut ReportedBlock, value: &str) {
        let value = value.split(';').next().unwrap_or_default();
        let mut pieces = value
            .split('(')
            .map(|piece| piece.trim().trim_end_matches(')'));
        self.put(block, "BW", pieces.next().unwrap_or_default());
        for piece in pieces {
            match piece.rsplit_once('/') {
                Some((size, time))
                    if time.trim_end().ends_with("sec") && !piece.contains("B/sec") =>
                {
                    self.put(block, "io", size);
                    self.put(block, "runt", time);
                }
                _ => self.put(block, "BW other", piece),
            }
        }
    }

    /// Parses `clat (usec): min=1, max=2, avg=1.50, stdev=0.50`, `clat percentiles (usec):`, `lat (usec)   : 250=1.0%`,
    /// `bw (  KiB/s): min=…` or `iops        : min=…`.
    fn latency_line(&mut self, word: &str, rest: &str) -> bool {
        let (name, unit) = match word.split_once('(') {
            Some((name, unit)) => (name.trim(), unit.trim_end_matches(')')),
            None => (word, ""),
        };
        let unit: String = unit.split_whitespace().collect();
        let mut block = ReportedBlock::new(name);
        if !unit.is_empty() {
            block.word("unit", unit);
        }
        let latency = name.strip_suffix(" percentiles");
        if matches!(latency, Some("clat" | "lat" | "slat" | "sync")) {
            self.place().blocks.push(block);
            return true;
        }
        if !matches!(name, "slat" | "clat" | "lat" | "sync" | "bw" | "iops") {
            return false;
        }
        for (key, value) in fields(rest) {
            self.put(&mut block, key, value);
        }
        if name == "lat" && rest.contains('%') {
            self.last_report().blocks.push(block);
            return true;
        }
        if name == "sync" && self.part != TextSection::Sync {
            self.last_report().blocks.push(ReportedBlock::new(SYNCS));
            self.part = TextSection::Sync;
        }
        self.place().blocks.push(block);
        true
    }

    /// Parses the text after the reported jobs.
    fn tail(&mut self, text: &str) -> bool {
        if let Some(rest) = text.strip_prefix("Run status group ") {
            let mut block = ReportedBlock::new("group");
            let (n, jobs) = rest.split_once(' ').unwrap_or((rest, ""));
            block.word("jobs", jobs.trim_end_matches(':'));
            self.put(&mut block, "number", n);
            self.blocks.push(block);
            self.part = TextSection::Group;
            return true;
        }
        if text.starts_with("Disk stats") {
            self.part = TextSection::Disks;
            return true;
        }
        if text.starts_with("CPU idleness") {
            self.blocks.push(ReportedBlock::new("idle"));
            self.part = TextSection::Idle;
            return true;
        }
        match self.part {
            TextSection::Group => self.group_row(text),
            TextSection::Disks => self.disk_row(text),
            TextSection::Idle => self.idle_row(text),
            _ => false,
        }
    }
}

/// Parses names and values of a row such as `min= 1, max=22`. The last `=` separates: `>=64=0.0%`.
pub(in super::super) fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(", ")
        .filter_map(|cell| cell.rsplit_once('='))
        .map(|(key, value)| (key.trim(), value.trim()))
}

/// The parsed first line of a reported job.
struct JobHeader<'a> {
    name: &'a str,
    group: &'a str,
    jobs: &'a str,
    err: &'a str,
    error: Option<&'a str>,
    pid: &'a str,
    when: Option<&'a str>,
}

/// Parses `a: (groupid=0, jobs=1): err= 0: pid=1642: Wed Nov  5 12:19:01 2025`.
fn report_header(text: &str) -> Option<JobHeader<'_>> {
    let (name, rest) = text.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(',')?;
    let (jobs, rest) = rest.split_once("jobs=")?.1.split_once(')')?;
    let (_, rest) = rest.split_once("err=")?;
    let (err, pid) = rest.split_once("pid=").unwrap_or((rest, ""));
    let (err, error) = err
        .split_once('(')
        .map_or((err, None), |(err, text)| (err, Some(text)));
    let error = error.map(|text| text.trim_end_matches([' ', ':']).trim_end_matches(')'));
    let (pid, when) = pid
        .split_once(':')
        .map_or((pid, None), |(pid, when)| (pid, Some(when.trim())));
    let err = err.trim().trim_end_matches(':');
    Some(JobHeader {
        name,
        group,
        jobs,
        err,
        error,
        pid,
        when: when.filter(|when| !when.is_empty()),
    })
}
