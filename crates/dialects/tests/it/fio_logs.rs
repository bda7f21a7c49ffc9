//! Converts printed results of fio 3.12 to 3.39 to records and prints them again: every line must be identical.
//!
//! The logs are published benchmarks of memory cards and disks. Some were published with collapsed blanks, and are
//! compared ignoring blanks. The latency distribution is rebuilt from percentages with two decimals, so only its bucket
//! names are compared, not the percentages.

use crate::support::args;
use crate::support::{Lat, Numbers, OpNumbers, Reported, Run, Stat, differences, masked};
use hakaru_dialects::fio::JobExtras;
use hakaru_dialects::fio::output::{
    RunView, StartView, StatusLine, WorkerState, banner, laying_out, normal, status_line,
};
use hakaru_model::facts::DiskStats;
use hakaru_model::histogram::folded_middle;
use hakaru_model::job::{Job, Op, PerOp};
use hakaru_model::units::Nanos;

/// The text between two markers in a line.
fn between<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let rest = &line[line.find(before)? + before.len()..];
    Some(rest.split(after).next().unwrap_or(rest).trim())
}

/// Parses a number such as `1532.3k` or `23.2GiB`, ignoring everything after the prefix.
fn number(text: &str) -> f64 {
    let text = text.trim().trim_start_matches('[').trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    let value: f64 = text[..end]
        .parse()
        .unwrap_or_else(|_| panic!("`{text}` is no number"));
    let factor = match &text[end..text.len().min(end + 2)] {
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        unit if unit.starts_with('k') => 1000.0,
        unit if unit.starts_with('M') => 1e6,
        _ => 1.0,
    };
    value * factor
}

fn field(line: &str, name: &str) -> f64 {
    number(
        between(line, &format!("{name}="), ",").unwrap_or_else(|| panic!("no {name} in `{line}`")),
    )
}

fn unit_of(line: &str) -> u64 {
    match between(line, "(", ")") {
        Some("nsec") => 1,
        Some("usec") => 1_000,
        _ => 1_000_000,
    }
}

fn stat(line: &str, unit: u64, n: u64) -> Stat {
    let (min, max) = (
        field(line, "min") as u64 * unit,
        (field(line, "max") * unit as f64) as u64,
    );
    Stat {
        n,
        min,
        max,
        mean: field(line, "avg") * unit as f64,
        dev: field(line, "stdev") * unit as f64,
    }
}

/// Parses the values of a row such as `1=100.0%, 2=0.0%`.
fn row(line: &str) -> [f64; 7] {
    let (_, cells) = line.split_once(": ").unwrap();
    let mut cells = cells
        .split(", ")
        .map(|cell| number(cell.rsplit('=').next().unwrap()));
    std::array::from_fn(|_| cells.next().unwrap())
}

/// Parses a date such as `Wed Nov  5 12:19:01 2025` as UTC.
fn unix_ms(date: &str) -> i64 {
    let words: Vec<&str> = date.split_whitespace().collect();
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = months.iter().position(|m| *m == words[1]).unwrap();
    let year: i64 = words[4].parse().unwrap();
    let leap = |year: i64| i64::from(year % 4 == 0);
    let lengths = [31, 28 + leap(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let days: i64 =
        (1970..year).map(|y| 365 + leap(y)).sum::<i64>() + lengths[..month].iter().sum::<i64>();
    let clock: Vec<i64> = words[3].split(':').map(|n| n.parse().unwrap()).collect();
    let day = days + words[2].parse::<i64>().unwrap() - 1;
    (((day * 24 + clock[0]) * 60 + clock[1]) * 60 + clock[2]) * 1000
}

/// A parsed result.
struct Log {
    command: String,
    head: Vec<String>,
    body: Vec<String>,
    numbers: Numbers,
    shown_unix_ms: i64,
    disks: Vec<DiskStats>,
}

fn read(text: &str) -> Log {
    let lines: Vec<&str> = text.lines().collect();
    let find = |what: &str| lines.iter().position(|line| line.contains(what));
    let (start, results) = (find(": (g=0)").unwrap(), find("(groupid=").unwrap());
    let body = &lines[results..];
    let when = body[0].rsplit("pid=").next().unwrap();
    let (_, date) = when.split_once(": ").unwrap();
    let owned = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect();
    let disks = body.last().filter(|line| line.contains("ios="));
    Log {
        command: lines[..start].join(" ").replace('\\', " "),
        head: owned(&lines[start..results]),
        body: owned(body),
        shown_unix_ms: unix_ms(date),
        disks: disks.map(|line| disk(line)).into_iter().collect(),
        numbers: numbers(body),
    }
}

/// The part of the log being parsed.
enum Part {
    Op(Op),
    Sync,
}

fn numbers(body: &[&str]) -> Numbers {
    let issued = body.iter().find(|line| line.contains("issued rwts"));
    let totals = between(issued.unwrap(), "total=", " ").unwrap();
    let totals: Vec<u64> = totals.split(',').map(|n| n.parse().unwrap()).collect();
    let mut reader = LogReader {
        all: Numbers {
            members: field(body[0], "jobs") as u64,
            pid: number(body[0].rsplit(" pid=").next().unwrap()) as u32,
            ..Numbers::default()
        },
        counts: PerOp {
            read: totals[0],
            write: totals[1],
            trim: totals[2],
        },
        syncs: totals[3],
        part: Part::Sync,
        latency: String::new(),
        percentiles: Vec::new(),
        shares: Vec::new(),
    };
    body.iter().for_each(|line| reader.line(line));
    let LogReader {
        mut all,
        counts,
        shares,
        ..
    } = reader;
    let runtimes = Op::ALL.iter().map(|&op| all.ops[op].runtime_ms);
    all.job_runtime_ms = runtimes.max().unwrap() * all.members;
    if let [(n, percentiles)] = &shares[..] {
        let op = if counts.read > 0 { Op::Read } else { Op::Write };
        all.ops[op].clat.bins = Some(bins_of_shares(body, percentiles, *n));
    }
    all
}

/// Values of percentiles.
type Percentiles = Vec<(f64, u64)>;

/// State of the parser of a log.
struct LogReader {
    all: Numbers,
    /// Numbers of I/Os.
    counts: PerOp<u64>,
    syncs: u64,
    part: Part,
    /// Latency and percentiles of the list being parsed; the first entry holds its unit.
    latency: String,
    percentiles: Percentiles,
    /// Number of I/Os and percentiles of each list of completion latencies.
    shares: Vec<(u64, Percentiles)>,
}

impl LogReader {
    fn line(&mut self, line: &str) {
        let mut words = line.split([':', ' ', '(']);
        let word = words.find(|word| !word.is_empty()).unwrap_or_default();
        let n = match self.part {
            Part::Op(op) => self.counts[op],
            Part::Sync => self.syncs,
        };
        let all = &mut self.all;
        let spread = || stat(line, 1, field(line, "samples") as u64);
        match word {
            "read" | "write" if line.contains("IOPS=") => {
                let op = if word == "read" { Op::Read } else { Op::Write };
                self.part = Part::Op(op);
                all.ops[op] = op_numbers(line, self.counts[op]);
            }
            "fsync/fdatasync/sync_file_range" => self.part = Part::Sync,
            "clat" | "lat" | "sync" if line.contains("min=") => {
                latency_of(all, &self.part, word).stat = stat(line, unit_of(line), n);
            }
            "clat" | "lat" | "sync" if line.contains("percentiles") => {
                (self.latency, self.percentiles) = (word.to_owned(), vec![(0.0, unit_of(line))]);
            }
            "|" => self.percentiles(line, n),
            "bw" => op_of(all, &self.part).bw = spread(),
            "iops" => op_of(all, &self.part).iops = spread(),
            "cpu" => cpu(all, line),
            "IO" => all.level = row(line),
            "submit" => all.submit = row(line),
            "complete" => all.complete = row(line),
            _ => {}
        }
    }

    /// Parses a row of percentiles of `n` values.
    fn percentiles(&mut self, line: &str, n: u64) {
        let unit = self.percentiles[0].1;
        let cells = line.split("],").filter(|cell| !cell.is_empty());
        self.percentiles
            .extend(cells.map(|cell| percentile(cell, unit)));
        if line.ends_with(',') {
            return;
        }
        let percentiles = &self.percentiles[1..];
        let bins = bins_of_percentiles(percentiles, n);
        latency_of(&mut self.all, &self.part, &self.latency).bins = Some(bins);
        if self.latency == "clat" {
            self.shares.push((n, percentiles.to_vec()));
        }
    }
}

fn cpu(all: &mut Numbers, line: &str) {
    all.usr_cpu = field(line, "usr");
    all.sys_cpu = field(line, "sys");
    all.ctx = field(line, "ctx") as u64;
    all.majf = field(line, "majf") as u64;
    all.minf = field(line, "minf") as u64;
}

fn op_of<'a>(all: &'a mut Numbers, part: &Part) -> &'a mut OpNumbers {
    match part {
        Part::Op(op) => &mut all.ops[*op],
        Part::Sync => panic!("samples belong to an operation"),
    }
}

fn latency_of<'a>(all: &'a mut Numbers, part: &Part, name: &str) -> &'a mut Lat {
    match (part, name) {
        (Part::Op(op), "clat") => &mut all.ops[*op].clat,
        (Part::Op(op), _) => &mut all.ops[*op].lat,
        (Part::Sync, _) => &mut all.sync,
    }
}

/// Bytes are I/Os times block size, because the log has a fixed block size and prints bytes rounded.
fn op_numbers(line: &str, ios: u64) -> OpNumbers {
    let amount = between(line, ")(", ")").unwrap();
    let (size, time) = amount.split_once('/').unwrap();
    let block = if number(size) / ios as f64 > 500_000.0 {
        1 << 20
    } else {
        4096
    };
    OpNumbers {
        ios,
        bytes: ios * block,
        runtime_ms: number(time) as u64,
        ..OpNumbers::default()
    }
}

fn percentile(cell: &str, unit: u64) -> (f64, u64) {
    let (percent, value) = cell
        .trim_start_matches([' ', '|'])
        .split_once("th=")
        .unwrap();
    let shown = number(value) as u64;
    // The first bin that prints as this value: each change of unit divides by 1000 and rounds up.
    let show = |ns: u64| match unit {
        1 => ns,
        1_000 => ns.div_ceil(1000),
        _ => ns.div_ceil(1000).div_ceil(1000),
    };
    let bucket = (0..1856)
        .map(folded_middle)
        .find(|&middle| show(middle) == shown);
    (
        percent.trim().parse().unwrap(),
        bucket.unwrap_or_else(|| panic!("{cell}: no bucket is shown so")),
    )
}

/// The rank of the sample at a percentile.
fn rank(percent: f64, n: u64) -> u64 {
    ((percent * n as f64 / 100.0 - 1e-9).ceil() as u64).clamp(1, n)
}

/// A histogram with these percentiles: all samples between two percentiles are at the upper one.
fn bins_of_percentiles(percentiles: &[(f64, u64)], n: u64) -> Vec<(u64, u64)> {
    let mut bins = Vec::new();
    let mut seen = 0;
    for (index, &(percent, value)) in percentiles.iter().enumerate() {
        let upto = if index + 1 == percentiles.len() {
            n
        } else {
            rank(percent, n)
        };
        bins.push((value, upto.saturating_sub(seen)));
        seen = seen.max(upto);
    }
    bins
}

/// A histogram with these percentiles and at least one sample in each latency bucket of the log.
///
/// Samples for a bucket without a percentile come from the bin above, or from those after the last percentile, so that
/// no percentile moves.
fn bins_of_shares(body: &[&str], percentiles: &[(f64, u64)], n: u64) -> Vec<(u64, u64)> {
    let mut bins = bins_of_percentiles(percentiles, n);
    let last = percentiles.last().unwrap();
    let mut past_last = n - rank(last.0, n);
    for (low, high, share) in steps(body) {
        if bins
            .iter()
            .any(|&(value, count)| (low..high).contains(&value) && count > 0)
        {
            continue;
        }
        let wanted = ((share * n as f64 / 100.0) as u64).max(1);
        let taken = match bins.iter_mut().find(|bin| bin.0 >= high && bin.1 > 1) {
            Some(bin) => {
                let taken = wanted.min(bin.1 - 1);
                bin.1 -= taken;
                taken
            }
            None => {
                let taken = wanted.min(past_last / 2).max(1);
                past_last = past_last.saturating_sub(taken);
                bins.iter_mut().rfind(|bin| bin.0 <= last.1).unwrap().1 -= taken;
                taken
            }
        };
        let middle = (0..1856)
            .map(folded_middle)
            .find(|m| (low + low / 64..high).contains(m))
            .unwrap_or(low);
        bins.push((middle, taken));
        bins.sort();
    }
    bins
}

/// Latency buckets in the log: start, end (exclusive), both in ns, and percentage.
fn steps(body: &[&str]) -> Vec<(u64, u64, f64)> {
    let ends = [0, 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000];
    let mut steps = Vec::new();
    for line in body
        .iter()
        .filter(|line| line.trim_start().starts_with("lat (") && line.contains('%'))
    {
        for cell in line.split_once(": ").unwrap().1.split(", ") {
            let (end, share) = cell.split_once('=').unwrap();
            let end: u64 = end.parse().unwrap();
            let from = ends[ends.iter().position(|&e| e == end).unwrap() - 1].max(1);
            steps.push((from * unit_of(line), end * unit_of(line), number(share)));
        }
    }
    steps
}

fn disk(line: &str) -> DiskStats {
    let pair = |name: &str| -> (u64, u64) {
        let Some(text) = between(line, &format!("{name}="), ",") else {
            return (0, 0);
        };
        let (a, b) = text.split_once('/').unwrap();
        (a.parse().unwrap(), b.parse().unwrap())
    };
    let (ios, merges, sectors, ticks) =
        (pair("ios"), pair("merge"), pair("sectors"), pair("ticks"));
    DiskStats {
        name: line.trim().split(':').next().unwrap().to_owned(),
        read_ios: ios.0,
        read_merges: merges.0,
        read_sectors: sectors.0,
        read_ticks: Nanos::from_millis(ticks.0),
        write_ios: ios.1,
        write_merges: merges.1,
        write_sectors: sectors.1,
        write_ticks: Nanos::from_millis(ticks.1),
        discard_ios: 0,
        flush_ios: 0,
        busy: Nanos((field(line, "util") * 1e6).round() as u64),
        queued: Nanos::from_millis(field(line, "in_queue") as u64),
        elapsed: Nanos(100_000_000),
    }
}

/// Two logs were published without the line for latencies of one second and more, although their percentiles include
/// such latencies.
fn with_lost_line(mut body: Vec<String>) -> Vec<String> {
    let last = body
        .iter()
        .rposition(|line| line.contains("lat (msec) :") && line.contains("1000="))
        .unwrap();
    let most = body
        .iter()
        .find(|line| line.contains("clat (usec)"))
        .map_or(0.0, |line| field(line, "max"));
    let line = if most >= 2e6 {
        "lat (msec) : 2000=0.1%, >=2000=0.1%"
    } else {
        "lat (msec) : 2000=0.1%"
    };
    body.insert(last + 1, line.to_owned());
    body
}

/// The status line of the log, rebuilt from its own numbers.
fn status(line: &str, job: &Job) -> String {
    let fields = line.split('[').skip(1);
    let fields: Vec<&str> = fields.map(|f| f.trim_end_matches(']')).collect();
    let rates = |field: &str| {
        let one = |op: &str| {
            let cell = field
                .trim_end_matches(" IOPS")
                .split(',')
                .find(|c| c.starts_with(op));
            cell.map_or(0, |c| number(&c[2..]) as u64)
        };
        PerOp {
            read: one("r="),
            write: one("w="),
            trim: 0,
        }
    };
    status_line(&StatusLine {
        running: field(&line.replace(' ', "="), "Jobs:") as u32,
        open_files: number(between(line, "(f=", ")").unwrap()) as u32,
        states: vec![WorkerState::running(&job.access); job.numjobs as usize],
        percent: Some(number(fields[1])),
        bytes_per_s: rates(fields[2]),
        iops: rates(fields[3]),
        eta_s: Some(0),
        ..StatusLine::default()
    })
}

/// Everything before the results, printed again.
fn head(log: &Log, job: &Job, extras: &JobExtras, version: &str) -> Vec<String> {
    let view = StartView {
        version,
        jobs: vec![(job, extras)],
        global_options: &[],
    };
    let mut text = banner(&view);
    if let Some(line) = log.head.iter().find(|line| line.contains("Laying out")) {
        let mib: u64 = between(line, "/ ", "MiB").unwrap().parse().unwrap();
        text += &laying_out(&job.name, 1, mib << 20);
    }
    if log.head.iter().any(|line| line.starts_with("note:")) {
        text += hakaru_dialects::fio::output::DEPTH_NOTE;
    }
    let status = log
        .head
        .iter()
        .find(|line| line.starts_with("Jobs:"))
        .map(|line| status(line, job));
    text += &status.unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Lines for comparison: latency distributions reduced to bucket names, and blanks removed if `squeeze` is set.
fn comparable(lines: impl Iterator<Item = String>, squeeze: bool) -> String {
    let line = |line: String| {
        let shares = line.trim_start().starts_with("lat (") && line.contains('%');
        let line = if shares {
            line.split('%').map(step_names).collect()
        } else {
            line
        };
        match squeeze {
            true => line
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .replace("...", ""),
            false => line.trim_end().to_owned(),
        }
    };
    let lines: Vec<String> = lines
        .map(line)
        .filter(|line| !squeeze || !line.is_empty())
        .collect();
    lines.join("\n")
}

fn step_names(cell: &str) -> String {
    cell.rsplit_once('=')
        .map_or(cell, |(name, _)| name)
        .to_owned()
}

fn check(name: &str, text: &str) {
    let log = read(text);
    let (job, extras) = args::read(&log.command).phases.remove(0).remove(0);
    let version = log.head.iter().find(|line| line.starts_with("fio-"));
    let version = version.unwrap();
    let squeeze = name.starts_with("f2fs");
    let theirs = comparable(log.head.iter().cloned(), squeeze);
    let ours = comparable(head(&log, &job, &extras, version).into_iter(), squeeze);
    // Older versions print another letter for a mixed random job, and a job of half a second has no status line.
    let lines = differences(&ours, &theirs);
    assert_eq!(ours.trim_end(), theirs.trim_end(), "{name}: {lines}");

    let reported = Reported {
        job,
        extras,
        numbers: log.numbers,
    };
    let run = Run::of(vec![vec![reported]], log.disks);
    let view = RunView {
        shown_unix_ms: log.shown_unix_ms,
        ..run.view(version)
    };
    let body = match name.starts_with("f2fs-blog-ext4") {
        true => with_lost_line(log.body),
        false => log.body,
    };
    let ours = comparable(normal(&view).lines().skip(1).map(str::to_owned), squeeze);
    compare_results(name, version, ours, comparable(body.into_iter(), squeeze));
}

/// Compares results first without their numbers, then with them.
fn compare_results(name: &str, version: &str, ours: String, theirs: String) {
    let lines = differences(&ours, &theirs);
    let without = (masked(&ours), masked(&theirs));
    assert_eq!(without.0, without.1, "{name}, without numbers: {lines}");
    let (ours, theirs) = match OLD.contains(&version) {
        true => (without_rounding(&ours), without_rounding(&theirs)),
        false => (ours, theirs),
    };
    assert_eq!(ours, theirs, "{name}: {}", differences(&ours, &theirs));
}

/// Versions with different rounding of megabytes and of the percentage of the group.
const OLD: [&str; 2] = ["fio-3.12", "fio-3.13"];

/// Removes the figures that those versions round differently.
fn without_rounding(text: &str) -> String {
    let line = |line: &str| match (line.split_once("per="), line.split_once("io=")) {
        (Some((before, after)), _) => format!("{before}{}", after.split_once(',').unwrap().1),
        (_, Some((before, after))) if line.contains("run=") => {
            format!("{before}{}", after.split_once(',').unwrap().1)
        }
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

macro_rules! logs {
    ($($test:ident $file:literal,)*) => {$(
        #[test]
        fn $test() {
            check($file, include_str!(concat!("../logs/", $file, ".txt")));
        }
    )*};
}

logs! {
    durable_writes_on_a_card "pi5-3-fsync-microsd",
    durable_writes_on_a_disk "pi5-3-fsync-ssd",
    mixed_on_a_card "pi5-1-seqrw-microsd",
    mixed_on_a_disk "pi5-1-seqrw-ssd",
    chosen_percentiles_on_a_card "pi5-2-randread-microsd",
    chosen_percentiles_on_a_disk "pi5-2-randread-ssd",
    sustained_on_a_card "pi5-4-sustain-microsd",
    sustained_on_a_disk "pi5-4-sustain-ssd",
    one_bit_bus "sdio-1bit",
    four_bit_bus "sdio-4bit",
    sixteen_writers_on_ext4 "f2fs-blog-ext4-1",
    sixteen_writers_on_ext4_again "f2fs-blog-ext4-2",
    sixteen_writers_on_f2fs "f2fs-blog-f2fs-1",
    sixteen_writers_on_f2fs_again "f2fs-blog-f2fs-2",
}
