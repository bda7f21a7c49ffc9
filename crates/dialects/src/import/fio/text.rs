//! The text output of fio 2.0 to 3.4x, line by line, into blocks of figures.
//!
//! Blocks have one layout whichever output they come from, so that all outputs of one run become the same record:
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
//! Leaves out what the figures mean.

use super::super::lines::Line;
use super::super::units::{has_decimal_comma, number};
use super::super::{Shorten, Unread};
use super::head;
use hakaru_model::reported::{Block, Decimal};

/// What a line was to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Taken {
    /// It belongs to this run.
    Yes,
    /// It begins another run.
    NextRun,
    /// It is none of fio's.
    No,
}

/// Which part of the output is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Head,
    /// An operation of the last report.
    Op,
    /// The syncs of the last report.
    Sync,
    Group,
    Disks,
    Idle,
}

/// One run while it is read.
#[derive(Debug)]
pub(in super::super) struct Reader {
    /// Name and version as printed; empty until it came by.
    pub(in super::super) program: String,
    pub(in super::super) blocks: Vec<Block>,
    pub(in super::super) unread: Vec<Unread>,
    /// Figures that were no numbers, the first as it stood there.
    pub(in super::super) not_numbers: (u32, String),
    /// Whether some number had the comma of a locale.
    pub(in super::super) commas: bool,
    /// Whether the run was ended from outside.
    pub(in super::super) interrupted: bool,
    part: Part,
    reports: usize,
}

/// No run of fio has more workers than this.
const MOST_REPORTS: usize = 4096;

/// Name under which the block of syncs stands.
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
            part: Part::Head,
            reports: 0,
        }
    }
}

/// Whether a line can only come from fio, so that a run may begin with it.
pub(in super::super) fn begins(text: &str) -> bool {
    let text = text.trim();
    head::is_banner(text) || report_header(text).is_some() || head::is_version(text)
}

/// Whether a line is the first of a reported job.
pub(in super::super) fn is_report(text: &str) -> bool {
    report_header(text).is_some()
}

impl Reader {
    /// Takes the next line.
    pub(in super::super) fn line(&mut self, line: &Line) -> Taken {
        let text = line.trimmed();
        if text.is_empty() {
            return Taken::Yes;
        }
        let has = |name: &str| self.blocks.iter().any(|block| block.name == name);
        let next_run = match () {
            _ if head::is_banner(text) => has("report") || has("start"),
            _ if head::is_version(text) => has("report") || !self.program.is_empty(),
            _ if report_header(text).is_some() => has("group"),
            _ => false,
        };
        if next_run {
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
            // Behind the summary of groups anything may follow that is none of ours.
            Part::Group | Part::Disks | Part::Idle => Taken::No,
            _ => {
                self.unread.push(Unread::new(line, "no part of fio's output is known to look like this"));
                Taken::Yes
            }
        }
    }

    fn head(&mut self, text: &str) -> bool {
        if head::is_version(text) {
            self.program = head::program(text);
            return true;
        }
        if text == "..." {
            if let Some(last) = self.blocks.last_mut().filter(|block| block.name == "job") {
                last.word("clones", "...");
            }
            return true;
        }
        if text.starts_with("fio: terminating on signal") {
            self.interrupted = true;
            return true;
        }
        match head::read(text) {
            Some(block) => {
                // Of a status line that is written again and again, the last one stands.
                if block.name == "status" {
                    self.blocks.retain(|known| known.name != "status");
                }
                self.blocks.push(block);
                true
            }
            None => false,
        }
    }

    /// Lines of a reported job.
    fn report(&mut self, text: &str) -> bool {
        if let Some(header) = report_header(text) {
            if self.reports == MOST_REPORTS {
                return false;
            }
            self.reports += 1;
            self.header(&header);
            return true;
        }
        if self.blocks.last().is_none_or(|block| block.name != "report") {
            return false;
        }
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        let word = word.trim_end();
        if OPS.contains(&word) && (rest.contains('=')) {
            self.operation(word, rest);
            return true;
        }
        if word == SYNCS {
            self.last_report().blocks.push(Block::new(SYNCS));
            self.part = Part::Sync;
            return true;
        }
        if text.starts_with('|') {
            return self.percentile_row(text);
        }
        self.latency_line(word, rest) || self.named_row(word, rest)
    }

    fn last_report(&mut self) -> &mut Block {
        if self.blocks.last().is_none_or(|block| block.name != "report") {
            self.blocks.push(Block::new("report"));
        }
        self.blocks.last_mut().expect("a report was pushed if there was none")
    }

    /// The block that latencies and samples belong to: the last operation, or the syncs.
    fn place(&mut self) -> &mut Block {
        let named = |block: &Block| OPS.contains(&block.name.as_str()) || block.name == SYNCS;
        let report = self.last_report();
        if !report.blocks.iter().any(named) {
            report.blocks.push(Block::new("mixed"));
        }
        report.blocks.iter_mut().rfind(|block| named(block)).expect("one was pushed if there was none")
    }

    fn header(&mut self, header: &Header<'_>) {
        let mut block = Block::new("report");
        block.word("name", header.name);
        if let Some(when) = header.when {
            block.word("when", when);
        }
        if let Some(error) = header.error {
            block.word("error", error);
        }
        for (name, value) in
            [("groupid", header.group), ("jobs", header.jobs), ("err", header.err), ("pid", header.pid)]
        {
            self.put(&mut block, name, value);
        }
        self.blocks.push(block);
        self.part = Part::Op;
    }

    /// Adds a figure; what is no number is counted.
    fn put(&mut self, block: &mut Block, name: &str, text: &str) {
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

    /// `IOPS=22, BW=22.7MiB/s (23.8MB/s)(99.0MiB/4353msec)`, or `io=1024KB, bw=341KB/s, iops=85 , runt= 3001msec`.
    fn operation(&mut self, name: &str, rest: &str) {
        let mut block = Block::new(name);
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
            self.put(&mut block, "zone resets", resets.trim_end_matches("zone resets"));
        }
        self.last_report().blocks.push(block);
        self.part = Part::Op;
    }

    /// `22.7MiB/s (23.8MB/s)(99.0MiB/4353msec); 0 zone resets`
    fn bandwidth(&mut self, block: &mut Block, value: &str) {
        let value = value.split(';').next().unwrap_or_default();
        let mut pieces = value.split('(').map(|piece| piece.trim().trim_end_matches(')'));
        self.put(block, "BW", pieces.next().unwrap_or_default());
        for piece in pieces {
            match piece.rsplit_once('/') {
                Some((size, time)) if time.trim_end().ends_with("sec") && !piece.contains("B/sec") => {
                    self.put(block, "io", size);
                    self.put(block, "runt", time);
                }
                _ => self.put(block, "BW other", piece),
            }
        }
    }

    /// `clat (usec): min=1, max=2, avg=1.50, stdev=0.50`, `clat percentiles (usec):`, `lat (usec)   : 250=1.0%`,
    /// `bw (  KiB/s): min=…`, `iops        : min=…`.
    fn latency_line(&mut self, word: &str, rest: &str) -> bool {
        let (name, unit) = match word.split_once('(') {
            Some((name, unit)) => (name.trim(), unit.trim_end_matches(')')),
            None => (word, ""),
        };
        let unit: String = unit.split_whitespace().collect();
        let mut block = Block::new(name);
        if !unit.is_empty() {
            block.word("unit", unit);
        }
        match name {
            "clat percentiles" | "lat percentiles" | "slat percentiles" | "sync percentiles" => {
                self.place().blocks.push(block);
                return true;
            }
            "lat" if rest.contains('%') => {
                for (key, value) in fields(rest) {
                    self.put(&mut block, key, value);
                }
                self.last_report().blocks.push(block);
                return true;
            }
            "slat" | "clat" | "lat" | "sync" | "bw" | "iops" => {}
            _ => return false,
        }
        for (key, value) in fields(rest) {
            self.put(&mut block, key, value);
        }
        if name == "sync" && self.part != Part::Sync {
            self.last_report().blocks.push(Block::new(SYNCS));
            self.part = Part::Sync;
        }
        self.place().blocks.push(block);
        true
    }

    /// `|  1.00th=[  988],  5.00th=[ 1045],`
    fn percentile_row(&mut self, text: &str) -> bool {
        let cells: Vec<(String, Option<(Decimal, String)>)> = text
            .trim_start_matches('|')
            .split(']')
            .filter_map(|cell| cell.split_once("th=["))
            .map(|(name, value)| {
                let name = name.trim_start_matches([',', ' ']).trim().replace(',', ".");
                (name, number(value).map(|(n, unit)| (n, unit.to_owned())))
            })
            .collect();
        let place = self.place();
        let Some(list) = place.blocks.last_mut().filter(|block| block.name.ends_with("percentiles")) else {
            return false;
        };
        let mut lost = Vec::new();
        for (name, value) in cells {
            match value {
                Some((value, unit)) => {
                    list.figure(&name, value, &unit);
                }
                None => lost.push(name),
            }
        }
        lost.iter().for_each(|name| self.no_number(name, "[…]"));
        true
    }

    /// Rows of shares and counts: `cpu`, `IO depths`, `submit`, `complete`, `issued`, `errors`, `latency`.
    fn named_row(&mut self, word: &str, rest: &str) -> bool {
        let (name, cells): (&str, Vec<(String, &str)>) = match word {
            "cpu" | "IO depths" | "submit" | "complete" | "errors" | "latency" | "steadystate" => {
                (word, fields(rest).map(|(key, value)| (key.to_owned(), value)).collect())
            }
            "issued rwts" | "issued rwt" | "issued" => ("issued", issued(rest)),
            "Description" => {
                let text = rest.trim().trim_start_matches('[').trim_end_matches(']').to_owned();
                self.last_report().word("description", text);
                return true;
            }
            _ => return false,
        };
        let mut block = Block::new(name);
        for (key, value) in cells {
            // `first_error=5/<Input/output error>`
            let value = value.split('/').next().unwrap_or_default();
            self.put(&mut block, &key, value);
        }
        self.last_report().blocks.push(block);
        true
    }

    /// What stands behind the reported jobs.
    fn tail(&mut self, text: &str) -> bool {
        if let Some(rest) = text.strip_prefix("Run status group ") {
            let mut block = Block::new("group");
            let (n, jobs) = rest.split_once(' ').unwrap_or((rest, ""));
            block.word("jobs", jobs.trim_end_matches(':'));
            self.put(&mut block, "number", n);
            self.blocks.push(block);
            self.part = Part::Group;
            return true;
        }
        if text.starts_with("Disk stats") {
            self.part = Part::Disks;
            return true;
        }
        if text.starts_with("CPU idleness") {
            self.blocks.push(Block::new("idle"));
            self.part = Part::Idle;
            return true;
        }
        match self.part {
            Part::Group => self.group_row(text),
            Part::Disks => self.disk_row(text),
            Part::Idle => self.idle_row(text),
            _ => false,
        }
    }

    /// `READ: bw=22.7MiB/s (23.8MB/s), 22.7MiB/s-22.7MiB/s (23.8MB/s-23.8MB/s), io=99.0MiB (104MB), run=1-2msec`
    fn group_row(&mut self, text: &str) -> bool {
        let Some((name, rest)) = text.split_once(':') else { return false };
        if !OPS.contains(&name.trim().to_ascii_lowercase().as_str()) || !rest.contains('=') {
            return false;
        }
        let mut block = Block::new(name.trim());
        for cell in rest.split(", ") {
            match cell.split_once('=') {
                Some(("run", range)) => self.range(&mut block, ["run min", "run max"], range),
                Some((key, value)) => {
                    let (value, other) = value.split_once('(').unwrap_or((value, ""));
                    let key = key.trim();
                    self.put(&mut block, key, value);
                    self.put(&mut block, &format!("{key} other"), other);
                }
                None => {
                    let (range, other) = cell.split_once('(').unwrap_or((cell, ""));
                    self.range(&mut block, ["low", "high"], range);
                    self.range(&mut block, ["low other", "high other"], other);
                }
            }
        }
        if let Some(group) = self.blocks.last_mut() {
            group.blocks.push(block);
        }
        true
    }

    fn range(&mut self, block: &mut Block, names: [&str; 2], text: &str) {
        let (low, high) = text.split_once('-').unwrap_or((text, ""));
        self.put(block, names[0], low);
        // `4353-4353msec`: the unit stands behind the last only.
        let unit = number(high).map_or("", |(_, unit)| unit).to_owned();
        if let Some(first) = block.figures.last_mut().filter(|figure| figure.unit.is_empty() && figure.name == names[0])
        {
            first.unit = unit;
        }
        self.put(block, names[1], high);
    }

    /// `mmcblk0: ios=97/100, sectors=198656/204800, merge=0/0, ticks=1079/3211, in_queue=4290, util=97.57%`
    fn disk_row(&mut self, text: &str) -> bool {
        let Some((name, rest)) = text.split_once(':').filter(|(_, rest)| rest.contains("ios=")) else { return false };
        let mut block = Block::new("disk");
        block.word("name", name.trim());
        for (key, value) in fields(rest) {
            match value.split_once('/') {
                Some((read, write)) => {
                    self.put(&mut block, &format!("{key} r"), read);
                    self.put(&mut block, &format!("{key} w"), write);
                }
                None => self.put(&mut block, key, value),
            }
        }
        self.blocks.push(block);
        true
    }

    /// `system: 96.33%`, `percpu: 97.0%, 95.6%`, `unit work: mean=10.11us, stddev=0.08`
    fn idle_row(&mut self, text: &str) -> bool {
        let Some((name, rest)) = text.split_once(':') else { return false };
        if !["system", "percpu", "unit work"].contains(&name) {
            return false;
        }
        let mut block = Block::new(name);
        for (index, cell) in rest.split(", ").enumerate() {
            let (key, value) =
                cell.split_once('=').map_or((index.to_string(), cell), |(k, v)| (k.trim().to_owned(), v));
            self.put(&mut block, &key, value);
        }
        if let Some(idle) = self.blocks.last_mut() {
            idle.blocks.push(block);
        }
        true
    }
}

/// Names and values of a row such as `min= 1, max=22`. The last `=` separates: `>=64=0.0%`.
pub(in super::super) fn fields(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(", ").filter_map(|cell| cell.rsplit_once('=')).map(|(key, value)| (key.trim(), value.trim()))
}

/// `total=99,101,0,0 short=0,0,0,0 dropped=0,0,0,0`, or `total=r=99/w=101/d=0, short=r=0/w=0/d=0, drop=…`.
fn issued(rest: &str) -> Vec<(String, &str)> {
    let mut cells = Vec::new();
    for group in rest.split([' ']).filter(|group| !group.is_empty()) {
        let Some((name, list)) = group.split_once('=') else { continue };
        let name = if name == "drop" { "dropped" } else { name };
        let list = list.trim_end_matches(',');
        for (value, letter) in list.split([',', '/']).zip(["r", "w", "t", "s"]) {
            cells.push((format!("{name} {letter}"), value.rsplit('=').next().unwrap_or_default()));
        }
    }
    cells
}

/// The first line of a reported job, taken apart.
struct Header<'a> {
    name: &'a str,
    group: &'a str,
    jobs: &'a str,
    err: &'a str,
    error: Option<&'a str>,
    pid: &'a str,
    when: Option<&'a str>,
}

/// `a: (groupid=0, jobs=1): err= 0: pid=1642: Wed Nov  5 12:19:01 2025`
fn report_header(text: &str) -> Option<Header<'_>> {
    let (name, rest) = text.split_once(": (groupid=")?;
    let (group, rest) = rest.split_once(',')?;
    let (jobs, rest) = rest.split_once("jobs=")?.1.split_once(')')?;
    let (_, rest) = rest.split_once("err=")?;
    let (err, pid) = rest.split_once("pid=").unwrap_or((rest, ""));
    let (err, error) = err.split_once('(').map_or((err, None), |(err, text)| (err, Some(text)));
    let error = error.map(|text| text.trim_end_matches([' ', ':']).trim_end_matches(')'));
    let (pid, when) = pid.split_once(':').map_or((pid, None), |(pid, when)| (pid, Some(when.trim())));
    let err = err.trim().trim_end_matches(':');
    Some(Header { name, group, jobs, err, error, pid, when: when.filter(|when| !when.is_empty()) })
}
