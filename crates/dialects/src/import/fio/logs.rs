//! fio's log files: lines of time, value, direction and block size, one file per quantity.
//!
//! Files with the same prefix and job number belong to one worker: bandwidth logs give bytes, IOPS logs give I/Os,
//! latency logs give latencies. Averaged entries stay averaged; entries of single I/Os give an exact histogram.
//! Histogram logs are not supported.

use super::super::{ImportedRun, SourceFormat, Unread, one_phase};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Access, BlockSize, Job, Op, PerOp, Target};
use hakaru_model::record::{
    Interval, IntervalOp, Latency, LatencyInterval, LatencyStepCounts, MAX_LATENCY_INTERVALS,
    PhaseRecord, StopReason, WorkerRecord, latency_step,
};
use hakaru_model::reported::{
    Decimal, JobProperty, Reported, ReportedBlock, UnstatedJob, WorkerReport,
};
use hakaru_model::units::{Bytes, Nanos};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Kind of a log, from its file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Kind {
    Bw,
    Iops,
    Slat,
    Clat,
    Lat,
}

/// Splits a log file name: `dir/x_bw.2.log` belongs to the second job of `x`.
pub(in super::super) fn name(file: &str) -> Option<(String, u32, Kind)> {
    let name = file.rsplit('/').next()?.strip_suffix(".log")?;
    let (name, job) = match name.rsplit_once('.') {
        Some((name, job)) if job.parse::<u32>().is_ok() => (name, job.parse().ok()?),
        _ => (name, 1),
    };
    let (prefix, kind) = name.rsplit_once('_')?;
    let kind = match kind {
        "bw" => Kind::Bw,
        "iops" => Kind::Iops,
        "slat" => Kind::Slat,
        "clat" => Kind::Clat,
        "lat" => Kind::Lat,
        _ => return None,
    };
    Some((prefix.to_owned(), job, kind))
}

/// Whether a file name is that of a histogram log: `x_clat_hist.1.log`.
pub(in super::super) fn is_of_histograms(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default();
    let bare = name
        .strip_suffix(".log")
        .map(|name| name.trim_end_matches(|c: char| c == '.' || c.is_ascii_digit()));
    bare.is_some_and(|name| name.ends_with("_hist"))
}

/// Maximum number of intervals of a worker.
const MAX_INTERVALS: usize = 8192;

/// Maximum Unix time in ms: the year 2527.
const LATEST: u64 = 1 << 44;

/// A log that starts after this (in ms, the year 1973) has Unix times (`log_unix_epoch=1`).
const SOME_DAY: u64 = 100_000_000_000;

/// One log line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LogLine {
    msec: u64,
    value: u64,
    op: Op,
    bs: u64,
}

/// Parses the numbers of a line: at least time, value, direction and block size.
fn entry(text: &str) -> Option<LogLine> {
    let mut cells = text.split(',').map(str::trim);
    let mut next = || cells.next()?.parse::<u64>().ok();
    let (msec, value, op, bs) = (next()?, next()?, next()?, next()?);
    let op = *Op::ALL.get(usize::try_from(op).ok()?)?;
    // The remaining columns are an offset and a priority, which are not used.
    let rest_is_numeric = cells.all(|cell| {
        cell.strip_prefix("0x")
            .unwrap_or(cell)
            .bytes()
            .all(|b| b.is_ascii_hexdigit())
    });
    (rest_is_numeric && msec < LATEST).then_some(LogLine {
        msec,
        value,
        op,
        bs,
    })
}

/// Whether a text is a fio log.
pub(in super::super) fn is_log(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(20)
        .peekable();
    lines.peek().is_some() && lines.all(|line| entry(line).is_some())
}

/// A log file with its source position.
pub(in super::super) struct LogFile<'a> {
    pub(in super::super) source: usize,
    pub(in super::super) job: u32,
    pub(in super::super) kind: Kind,
    pub(in super::super) text: &'a str,
}

/// The lines of a log file by kind.
type KindLines = (Kind, Vec<LogLine>);

/// Combines the log files of one prefix into one run.
pub(in super::super) fn read(prefix: &str, files: &[LogFile<'_>]) -> ImportedRun {
    let (mut unread, mut reported) = (Vec::new(), Reported::default());
    let mut jobs: BTreeMap<u32, Vec<KindLines>> = BTreeMap::new();
    let (mut lines, mut figures) = (0, 0);
    for file in files {
        let entries = entries(file, &mut figures, &mut unread);
        lines = lines.max(file.text.trim_end().lines().count());
        reported.blocks.push(block(file, &entries));
        jobs.entry(file.job).or_default().push((file.kind, entries));
    }
    let all = jobs.values_mut().flatten();
    let begun = take_off_epoch(all.map(|(_, entries)| entries.as_mut_slice()).collect());
    let base = prefix.rsplit('/').next().filter(|name| !name.is_empty());
    let base = base.unwrap_or("log");
    let mut phase = PhaseRecord {
        name: base.to_owned(),
        started_unix_ms: begun.unwrap_or(0),
        ..PhaseRecord::default()
    };
    let mut asked = Vec::new();
    for (logs, place) in jobs.values().zip(0..) {
        let (mut worker, job) = worker(base, logs);
        worker.job = place;
        phase.elapsed = phase.elapsed.max(worker.runtime);
        phase.workers.push(worker);
        asked.push(job);
        let mut report = WorkerReport::default();
        (report.worker, report.members) = (place, 1);
        reported.workers.push(report);
        reported.unstated.push(unstated(logs, place));
    }
    let (scenario, phases) = (one_phase(base, asked), vec![phase]);
    ImportedRun {
        caveats: caveats(files),
        figures,
        started_unix_ms: begun,
        lines: (1, lines),
        unread,
        ..ImportedRun::new(SourceFormat::FioLog, "fio", scenario, phases, reported)
    }
}

/// The lines of a file. Counts their figures, and notes those that are not log lines.
fn entries(file: &LogFile<'_>, figures: &mut usize, unread: &mut Vec<Unread>) -> Vec<LogLine> {
    let lines = file.text.lines().zip(1..);
    let lines = lines.filter(|(line, _)| !line.trim().is_empty());
    let read = |(text, line): (&str, usize)| {
        let entry = entry(text);
        match entry {
            Some(_) => *figures += text.split(',').count(),
            None => unread.push(Unread {
                line,
                text: text.chars().take(60).collect(),
                why: "not a log line: expected time, value, direction and block size".to_owned(),
            }),
        }
        entry
    };
    lines.filter_map(read).collect()
}

/// The properties of a job that its logs do not state.
fn unstated(logs: &[KindLines], job: u32) -> UnstatedJob {
    let mut properties = vec![
        JobProperty::Order,
        JobProperty::QueueDepth,
        JobProperty::Engine,
        JobProperty::Direct,
    ];
    properties.extend(has_no_blocks(logs).then_some(JobProperty::BlockSize));
    UnstatedJob {
        phase: 0,
        job,
        properties,
    }
}

fn caveats(files: &[LogFile<'_>]) -> Vec<Caveat> {
    let rated = files
        .iter()
        .any(|file| matches!(file.kind, Kind::Bw | Kind::Iops));
    let totals = "the options and totals (only log files were given)";
    let throughput = "the throughput (no bandwidth or IOPS log)";
    let missing = std::iter::once(totals).chain((!rated).then_some(throughput));
    missing
        .map(|what| Caveat::Unstated {
            what: what.to_owned(),
        })
        .collect()
}

/// Whether no line has a block size: averaged logs have 0.
fn has_no_blocks(logs: &[KindLines]) -> bool {
    logs.iter()
        .all(|(_, entries)| entries.iter().all(|entry| entry.bs == 0))
}

/// Converts Unix times to run times, and returns the start: one window before the first line.
/// `None` if the logs have run times.
fn take_off_epoch(mut logs: Vec<&mut [LogLine]>) -> Option<i64> {
    let first = logs
        .iter()
        .flat_map(|log| log.iter().map(|entry| entry.msec))
        .min()?;
    if first < SOME_DAY {
        return None;
    }
    let steps = logs
        .iter()
        .flat_map(|log| log.windows(2))
        .filter(|pair| pair[0].bs == 0 && pair[0].op == pair[1].op);
    let step = steps
        .map(|pair| pair[1].msec.saturating_sub(pair[0].msec))
        .filter(|&step| step > 0)
        .min();
    let begun = first.saturating_sub(step.unwrap_or(0));
    for entry in logs.iter_mut().flat_map(|log| log.iter_mut()) {
        entry.msec -= begun;
    }
    i64::try_from(begun).ok()
}

/// The kind of a file and its number of lines. The lines become intervals and histograms of the record.
fn block(file: &LogFile<'_>, entries: &[LogLine]) -> ReportedBlock {
    let mut block = ReportedBlock::new("log");
    let kind = match file.kind {
        Kind::Bw => "bw",
        Kind::Iops => "iops",
        Kind::Slat => "slat",
        Kind::Clat => "clat",
        Kind::Lat => "lat",
    };
    block.word("kind", kind);
    block
        .figure("job", Decimal::whole(file.job.into()), "")
        .figure("lines", Decimal::whole(entries.len() as u64), "");
    block
}

/// Amounts by end time in ms.
type Windows = BTreeMap<u64, PerOp<IntervalOp>>;

fn worker(name: &str, logs: &[KindLines]) -> (WorkerRecord, Job) {
    let mut worker = WorkerRecord {
        name: name.to_owned(),
        stop: StopReason::Done,
        ..WorkerRecord::default()
    };
    let mut windows = Windows::new();
    let mut block = PerOp::all(None);
    let is_rate = |(kind, _): &KindLines| matches!(kind, Kind::Bw | Kind::Iops);
    let rated = logs.iter().any(is_rate);
    for (kind, entries) in logs {
        for (entry, from) in entries.iter().zip(starts(entries)) {
            if entry.bs > 0 {
                block[entry.op] = Some(entry.bs);
            }
            let record = &mut worker.ops[entry.op];
            match kind {
                Kind::Bw | Kind::Iops => add_rate(&mut windows, *kind, entry, from),
                Kind::Slat => count(&mut record.slat, entry),
                Kind::Clat => count(&mut record.clat, entry),
                Kind::Lat => count(&mut record.lat, entry),
            }
            // Without rates, the lines of single I/Os give the amounts.
            if !rated && matches!(kind, Kind::Clat | Kind::Lat) && entry.bs > 0 {
                add_io(&mut windows, entry);
            }
        }
    }
    worker.intervals = intervals(windows);
    for (kind, entries) in logs {
        for op in Op::ALL {
            let record = &mut worker.ops[op];
            match kind {
                Kind::Clat => record.clat.over_time = over_time(entries, op),
                Kind::Lat => record.lat.over_time = over_time(entries, op),
                Kind::Bw | Kind::Iops | Kind::Slat => {}
            }
        }
    }
    let end = worker.intervals.last().map(|interval| interval.at);
    worker.runtime = end.unwrap_or_default();
    worker.job_runtime = worker.runtime;
    total(&mut worker);
    let job = job(name, &worker, block);
    (worker, job)
}

/// Adds a line of a bandwidth or IOPS log to its window, which began at `from`.
fn add_rate(windows: &mut Windows, kind: Kind, entry: &LogLine, from: u64) {
    let millis = entry.msec.saturating_sub(from);
    let amount = |scale: u64| {
        let amount = u128::from(entry.value) * u128::from(scale) * u128::from(millis) / 1000;
        u64::try_from(amount).unwrap_or(u64::MAX)
    };
    match kind {
        // A line for a single I/O has its size; its rate belongs to that I/O alone and cannot be summed.
        Kind::Bw if entry.bs > 0 => add_io(windows, entry),
        Kind::Bw => {
            let window = &mut windows.entry(entry.msec).or_default()[entry.op];
            window.bytes = window.bytes.saturating_add(amount(1024));
        }
        Kind::Iops if entry.bs == 0 => {
            let window = &mut windows.entry(entry.msec).or_default()[entry.op];
            window.ios = window.ios.saturating_add(amount(1));
        }
        _ => {}
    }
}

/// Adds a single I/O to its window.
fn add_io(windows: &mut Windows, entry: &LogLine) {
    let window = &mut windows.entry(entry.msec).or_default()[entry.op];
    window.bytes = window.bytes.saturating_add(entry.bs);
    window.ios += 1;
}

/// Converts windows to intervals. Adjacent windows are merged above the limit, which is that of the engine.
fn intervals(windows: Windows) -> Vec<Interval> {
    let joined = windows.len().div_ceil(MAX_INTERVALS).max(1);
    let (mut intervals, mut before): (Vec<Interval>, u64) = (Vec::new(), 0);
    for (index, (msec, ops)) in windows.into_iter().enumerate() {
        let interval = Interval {
            at: Nanos::from_millis(msec),
            length: Nanos::from_millis(msec - before),
            ops,
        };
        match intervals.last_mut() {
            // Entries in the first millisecond have no duration, so they are merged with the next.
            Some(last) if last.length.0 == 0 || !index.is_multiple_of(joined) => {
                last.join(&interval)
            }
            _ => intervals.push(interval),
        }
        before = msec;
    }
    intervals
}

/// Latencies over time of the single I/Os of one direction; a mean over a window does not qualify.
fn over_time(entries: &[LogLine], op: Op) -> Vec<LatencyInterval> {
    let single = || {
        entries
            .iter()
            .filter(|entry| entry.op == op && entry.bs > 0)
    };
    let end = single().map(|entry| entry.msec).max().unwrap_or(0);
    let width = (end + 1).div_ceil(MAX_LATENCY_INTERVALS as u64);
    let mut counted: BTreeMap<u64, LatencyStepCounts> = BTreeMap::new();
    for entry in single() {
        let step = latency_step(Nanos(entry.value));
        let counts = counted.entry(entry.msec / width).or_default();
        counts.add(&LatencyStepCounts::of([(step, 1)]));
    }
    let interval = |(nth, counts)| LatencyInterval {
        at: Nanos::from_millis((nth + 1) * width),
        length: Nanos::from_millis(width),
        counts,
    };
    counted.into_iter().map(interval).collect()
}

/// Returns the window start of each entry: the end of the previous one of its direction. In a log
/// shared by jobs (`per_job_logs=0`), time restarts at the next job, and repeats if two jobs report
/// the same window.
fn starts(entries: &[LogLine]) -> Vec<u64> {
    let mut last = [(0, 0); 3];
    let start = |entry: &LogLine| {
        let (from, to) = last[entry.op as usize];
        let start = match entry.msec.cmp(&to) {
            Ordering::Greater => to,
            Ordering::Equal => from,
            Ordering::Less => 0,
        };
        last[entry.op as usize] = (start, entry.msec);
        start
    };
    entries.iter().map(start).collect()
}

/// Adds a single-I/O latency to the histogram; a mean over a window does not qualify.
fn count(latency: &mut Latency, entry: &LogLine) {
    latency.stat.record(entry.value);
    let averaged = entry.bs == 0;
    match (&mut latency.histogram, averaged) {
        (histogram, true) => *histogram = None,
        (Some(histogram), false) => histogram.record(Nanos(entry.value)),
        (empty @ None, false) if latency.stat.count == 1 => {
            empty
                .insert(hakaru_model::histogram::Histogram::new())
                .record(Nanos(entry.value));
        }
        (None, false) => {}
    }
}

fn total(worker: &mut WorkerRecord) {
    for op in Op::ALL {
        let record = &mut worker.ops[op];
        for interval in &worker.intervals {
            let done = interval.ops[op];
            record.ios = record.ios.saturating_add(done.ios);
            record.bytes = record.bytes.saturating_add(done.bytes);
            let per_second = |n: u64, scale: u128| {
                let length = u128::from(interval.length.0.max(1));
                u64::try_from(u128::from(n) * 1_000_000_000 * scale / length).unwrap_or(u64::MAX)
            };
            if interval.length.0 > 0 && (done.ios > 0 || done.bytes > 0) {
                record.bw_samples.record(per_second(done.bytes, 1));
                record.iops_samples.record(per_second(done.ios, 1000));
            }
        }
        if record.ios == 0 {
            record.ios = record.clat.stat.count.max(record.lat.stat.count);
        }
        record.issued = record.ios;
    }
}

/// A job derived from logs alone.
fn job(name: &str, worker: &WorkerRecord, block: PerOp<Option<u64>>) -> Job {
    let [reads, writes] = [worker.ops.read.ios, worker.ops.write.ios];
    let access = match (reads, writes) {
        (0, 0) if worker.ops.trim.ios > 0 => Access::only(Op::Trim, false),
        (0, _) => Access::only(Op::Write, false),
        (_, 0) => Access::only(Op::Read, false),
        _ => Access::mixed(
            (reads as f64 * 100.0 / (reads as f64 + writes as f64)).round() as u32,
            false,
        ),
    };
    let mut job = Job::new(name, Target::Nothing, access);
    for op in Op::ALL {
        let done = &worker.ops[op];
        let mean = done.bytes.checked_div(done.ios).filter(|&size| size > 0);
        if let Some(size) = block[op].or(mean) {
            job.block[op] = BlockSize::Fixed(Bytes(size));
        }
    }
    job
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: Kind, text: &str) -> LogFile<'_> {
        LogFile {
            source: 0,
            job: 1,
            kind,
            text,
        }
    }

    #[test]
    fn names_say_what_a_log_is_of() {
        assert_eq!(name("dir/x_bw.2.log"), Some(("x".to_owned(), 2, Kind::Bw)));
        assert_eq!(
            name("my_test_clat.log"),
            Some(("my_test".to_owned(), 1, Kind::Clat))
        );
        assert_eq!(name("x_clat_hist.1.log"), None);
        assert_eq!(name("messages.log"), None);
    }

    #[test]
    fn windows_become_intervals() {
        let bw = "500, 4096, 1, 0, 0\n1000, 2048, 1, 0, 0\n";
        let iops = "500, 1024, 1, 0, 0\n1000, 512, 1, 0, 0\n";
        let clat = "500, 900000, 1, 0, 0\n1000, 1900000, 1, 0, 0\n";
        let run = read(
            "a/sus",
            &[
                file(Kind::Bw, bw),
                file(Kind::Iops, iops),
                file(Kind::Clat, clat),
            ],
        );
        let worker = &run.phases[0].workers[0];
        assert_eq!(
            (worker.ops.write.ios, worker.ops.write.bytes),
            (768, 3 << 20)
        );
        assert_eq!(worker.intervals.len(), 2);
        assert_eq!(
            worker.ops.write.clat.histogram, None,
            "means over windows are no latencies of I/Os"
        );
        assert_eq!(worker.ops.write.clat.stat.mean(), Some(1.4e6));
        assert_eq!(
            (run.scenario.phases[0].name.as_str(), run.figures),
            ("sus", 30)
        );
    }

    /// Regression: the windows of the second job replaced those of the first, and started where
    /// those ended.
    #[test]
    fn jobs_that_share_a_log_are_added_up() {
        let one_after_another =
            "500, 4096, 1, 0, 0\n1000, 2048, 1, 0, 0\n500, 1024, 1, 0, 0\n1000, 1024, 1, 0, 0\n";
        let in_turn =
            "500, 4096, 1, 0, 0\n500, 1024, 1, 0, 0\n1000, 2048, 1, 0, 0\n1000, 1024, 1, 0, 0\n";
        for text in [one_after_another, in_turn] {
            let run = read("a/sus", &[file(Kind::Bw, text), file(Kind::Iops, text)]);
            let worker = &run.phases[0].workers[0];
            assert_eq!(
                (worker.ops.write.bytes, worker.ops.write.ios),
                (4 << 20, 4096),
                "{text}"
            );
            assert_eq!(
                (worker.intervals.len(), worker.runtime),
                (2, Nanos::from_secs(1))
            );
        }
    }

    /// Regression: a run of one second was read as one of 55 years.
    #[test]
    fn times_of_day_are_taken_off() {
        let run = read(
            "d",
            &[file(
                Kind::Bw,
                "1763781785500, 4096, 1, 0, 0\n1763781786000, 2048, 1, 0, 0\n",
            )],
        );
        assert_eq!(
            (run.started_unix_ms, run.phases[0].started_unix_ms),
            (Some(1_763_781_785_000), 1_763_781_785_000)
        );
        assert_eq!(run.phases[0].workers[0].ops.write.bytes, 3 << 20);
        assert_eq!(run.phases[0].elapsed, Nanos::from_secs(1));
        assert!(
            !is_log("999999999999999, 1, 0, 4096\n"),
            "no year that comes"
        );
    }

    #[test]
    fn lines_of_single_ios_make_a_histogram() {
        let clat = "1, 900000, 0, 4096, 0\n2, 800000, 0, 4096, 4096, 0x2004\n900, 700000, 0, 4096, 0\nnonsense\n";
        let run = read("r", &[file(Kind::Clat, clat)]);
        let op = &run.phases[0].workers[0].ops.read;
        assert_eq!(
            (
                op.ios,
                op.bytes,
                op.clat.histogram.as_ref().unwrap().count()
            ),
            (3, 12_288, 3)
        );
        assert_eq!(run.unread[0].line, 4);
        assert!(is_log(clat.strip_suffix("nonsense\n").unwrap()) && !is_log(clat) && !is_log(""));
    }
}
