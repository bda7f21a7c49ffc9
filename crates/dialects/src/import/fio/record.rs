//! Converts blocks of figures to worker records, as far as fio's output determines counts and sums.
//!
//! Independent of the output format the blocks came from.

use super::super::units::{Kilo, Ranged, factor};
use super::jobs::Jobs;
use super::sums::{OpSums, ReportSums};
use super::text::SYNCS;
use hakaru_model::facts::DiskStats;
use hakaru_model::histogram::Histogram;
use hakaru_model::job::{BlockSize, Job, Op, PerOp, Phase};
use hakaru_model::record::{
    CpuUsage, ErrorRecord, FailureKind, IoError, Latency, OpRecord, PhaseRecord, Samples,
    StopReason, WorkerRecord,
};
use hakaru_model::reported::{
    OpReport, Percentile, ReportedBlock, ReportedFigure, StatedRate, WorkerReport, op_named,
};
use hakaru_model::units::{Bytes, Nanos, Quantile};

/// Histograms in the source, by report, operation and kind of latency. Only one output format has them.
pub(super) type Histograms = Vec<(usize, Option<Op>, &'static str, Histogram)>;

/// The records of all reports by phase, with further facts about them.
pub(super) fn phases(
    blocks: &[ReportedBlock],
    jobs: &Jobs,
    histograms: &Histograms,
) -> (Vec<PhaseRecord>, Vec<WorkerReport>) {
    let empty = |phase: &Phase| PhaseRecord {
        name: phase.name.clone(),
        ..PhaseRecord::default()
    };
    let mut phases: Vec<PhaseRecord> = jobs.scenario.phases.iter().map(empty).collect();
    let mut beyond = Vec::new();
    let reports = blocks.iter().filter(|block| block.name == "report");
    for (index, (report, &place)) in reports.zip(&jobs.places).enumerate() {
        let (phase, job) = place;
        let asked = jobs.scenario.phases.get(phase);
        let asked = asked.and_then(|phase| phase.jobs.get(job));
        let (Some(asked), Some(record)) = (asked, phases.get_mut(phase)) else {
            continue;
        };
        let (mut worker, mut more) = worker(report, &asked.block);
        add_histograms(&mut worker, histograms, index);
        let clones = record.workers.iter().filter(|w| w.job as usize == job);
        (worker.job, worker.clone) = (job as u32, clones.count() as u32);
        worker.name.clone_from(&asked.name);
        worker.depth.iodepth = asked.queue.iodepth;
        (more.phase, more.worker) = (phase as u32, record.workers.len() as u32);
        if more.members == 0 {
            more.members = members(jobs, place, asked);
        }
        record.elapsed = record.elapsed.max(worker.job_runtime);
        record.workers.push(worker);
        beyond.push(more);
    }
    if let [only] = &mut phases[..] {
        add_disks(only, blocks);
    }
    (phases, beyond)
}

/// Adds the histograms of a report to its worker.
fn add_histograms(worker: &mut WorkerRecord, histograms: &Histograms, report: usize) {
    for (_, op, kind, histogram) in histograms.iter().filter(|(index, ..)| *index == report) {
        let latency = match (op, *kind) {
            (Some(op), "clat") => &mut worker.ops[*op].clat,
            (Some(op), "slat") => &mut worker.ops[*op].slat,
            (Some(op), _) => &mut worker.ops[*op].lat,
            (None, _) => &mut worker.sync,
        };
        latency.histogram = Some(histogram.clone());
    }
}

/// Number of workers in a report that does not state it. Not all outputs do, so missing clones are assumed to be
/// included.
fn members(jobs: &Jobs, place: (usize, usize), asked: &Job) -> u32 {
    let reports = jobs.places.iter().filter(|other| **other == place).count();
    if !asked.group_reporting && (reports > 1 || asked.numjobs <= 1) {
        return 1;
    }
    let group = jobs.scenario.phases[place.0].jobs.iter();
    let group = group.filter(|other| other.group == asked.group);
    group.map(|job| job.numjobs).sum()
}

/// Disk counters cover the whole run, so they are assigned to a phase only if there is just one.
fn add_disks(only: &mut PhaseRecord, blocks: &[ReportedBlock]) {
    only.disks = disks(blocks);
    for (disk, share) in &mut only.disks.iter_mut().zip(busy_shares(blocks)) {
        disk.elapsed = only.elapsed;
        disk.busy = Nanos((share / 100.0 * only.elapsed.0 as f64) as u64);
    }
}

fn worker(report: &ReportedBlock, blocks: &PerOp<BlockSize>) -> (WorkerRecord, WorkerReport) {
    let sums = ReportSums::of(report);
    let whole = |name: &str| report.whole(name).unwrap_or(0);
    let number = |name: &str| whole(name).min(u64::from(u32::MAX)) as u32;
    let time = |ms: u64| Nanos::from_millis(ms.min(1 << 40));
    let mut worker = WorkerRecord {
        pid: number("pid"),
        errors: errors(report),
        cpu: report.part("cpu").map(cpu_usage).unwrap_or_default(),
        stop: match whole("err") {
            0 => StopReason::Done,
            _ => StopReason::Error,
        },
        ..WorkerRecord::default()
    };
    let mut more = WorkerReport {
        members: number("jobs"),
        ..WorkerReport::default()
    };
    for block in &report.blocks {
        if let Some(op) = op_named(&block.name) {
            let runtime = time(sums.ops[op].runtime_ms.unwrap_or(0));
            worker.runtime = worker.runtime.max(runtime);
            (worker.ops[op], more.ops[op]) = operation(block, &sums.ops[op], &blocks[op]);
        }
    }
    if let Some(block) = report.part(SYNCS) {
        let syncs = block.part("sync");
        let syncs = syncs.map(|stat| latency(stat, stat.whole("N").unwrap_or(sums.syncs)));
        worker.sync = syncs.unwrap_or_default();
        more.sync = percentiles(block, "sync percentiles");
    }
    worker.job_runtime = report.whole("job_runtime").map_or(worker.runtime, time);
    (worker, more)
}

fn cpu_usage(block: &ReportedBlock) -> CpuUsage {
    let count = |name: &str| block.whole(name).unwrap_or(0);
    CpuUsage {
        ctx: count("ctx"),
        majf: count("majf"),
        minf: count("minf"),
        ..CpuUsage::default()
    }
}

fn errors(report: &ReportedBlock) -> ErrorRecord {
    let errno = report.whole("err").unwrap_or(0);
    let counted = |name: &str| report.part("errors").and_then(|errors| errors.whole(name));
    let first = counted("first_error").filter(|&n| n > 0).unwrap_or(errno);
    let mut errors = ErrorRecord {
        total: counted("total").unwrap_or(0).max(u64::from(errno > 0)),
        first: Vec::new(),
    };
    if first > 0 {
        errors.first.push(IoError {
            action: "I/O".to_owned(),
            op: None,
            kind: FailureKind::Unknown,
            file: String::new(),
            offset: Bytes(0),
            len: Bytes(0),
            errno: i32::try_from(first).unwrap_or(i32::MAX),
            at: Nanos(0),
            mismatches: Vec::new(),
        });
    }
    errors
}

fn operation(block: &ReportedBlock, sums: &OpSums, size: &BlockSize) -> (OpRecord, OpReport) {
    let ios = sums.completed(size);
    let of = |name: &str| {
        let stat = block.part(name);
        stat.map_or_else(Latency::default, |stat| {
            latency(stat, stat.whole("N").unwrap_or(ios))
        })
    };
    let iops = block.part("iops").map(|stat| spread(stat, 1000.0));
    let record = OpRecord {
        ios,
        issued: ios,
        bytes: sums.moved(ios, size),
        short: sums.short,
        slat: of("slat"),
        clat: of("clat"),
        lat: of("lat"),
        bw_samples: block.part("bw").map(bandwidth_samples).unwrap_or_default(),
        iops_samples: iops.unwrap_or_default(),
        ..OpRecord::default()
    };
    let mut report = OpReport {
        clat: percentiles(block, "clat percentiles"),
        lat: percentiles(block, "lat percentiles"),
        slat: percentiles(block, "slat percentiles"),
        ..OpReport::default()
    };
    if sums.runtime_ms.unwrap_or(0) == 0 {
        let stated = |rate: Option<Ranged>| rate.map(|rate| StatedRate::once(rate.value));
        (report.bytes_per_s, report.iops) = (stated(sums.bandwidth), stated(sums.iops));
    }
    (record, report)
}

/// Returns the time unit of a block in ns.
fn unit(block: &ReportedBlock) -> f64 {
    block
        .words_of("unit")
        .and_then(|unit| factor(unit, Kilo::Si))
        .unwrap_or(1.0)
}

/// A figure of a block, scaled by the block's unit and its own prefix.
fn value(block: &ReportedBlock, name: &str) -> Option<f64> {
    let figure = block.get(name)?;
    Some(figure.value.value() * factor(&figure.unit, Kilo::Si)?)
}

fn latency(block: &ReportedBlock, count: u64) -> Latency {
    Latency {
        stat: samples(block, count, unit(block)),
        ..Latency::default()
    }
}

/// Bandwidth samples in bytes per second. `KB` and a bare number are KiB.
fn bandwidth_samples(block: &ReportedBlock) -> Samples {
    let unit = block.words_of("unit").unwrap_or("KiB/s");
    spread(block, factor(unit, Kilo::Binary).unwrap_or(1024.0))
}

/// Versions before 2.14 do not print the number of samples.
fn spread(block: &ReportedBlock, unit: f64) -> Samples {
    samples(block, block.whole("samples").unwrap_or(0), unit)
}

/// Reconstructs count, minimum, maximum, sum and sum of squares from mean and deviation.
fn samples(block: &ReportedBlock, count: u64, unit: f64) -> Samples {
    let scaled = |name: &str| value(block, name).map(|v| v * unit);
    let Some(mean) = scaled("avg").filter(|_| count > 0) else {
        return Samples::default();
    };
    let deviation = scaled("stdev").unwrap_or(0.0);
    let n = count as f64;
    // The cast saturates, which is acceptable for damaged input.
    let sum = (mean * n).round() as u128;
    let scatter = deviation * deviation * (n - 1.0);
    let sum_sq = match sum.checked_mul(sum) {
        Some(square) => (square / u128::from(count)).saturating_add(scatter.round() as u128),
        None => (mean * mean * n + scatter) as u128,
    };
    let end = |name: &str| scaled(name).map_or(0, |v| v.round() as u64);
    Samples {
        count,
        min: end("min"),
        max: end("max"),
        sum,
        sum_sq,
    }
}

fn percentiles(block: &ReportedBlock, name: &str) -> Vec<Percentile> {
    let Some(list) = block.part(name) else {
        return Vec::new();
    };
    let unit = unit(list);
    let one = |figure: &ReportedFigure| {
        let share = Quantile::new(figure.name.parse::<f64>().ok()? / 100.0).ok()?;
        let value = figure.value.value() * factor(&figure.unit, Kilo::Si)? * unit;
        Some(Percentile {
            share,
            value: Nanos(value.round() as u64),
        })
    };
    list.figures.iter().filter_map(one).collect()
}

/// Busy time of each disk in percent, for disks with sector counts.
fn busy_shares(blocks: &[ReportedBlock]) -> impl Iterator<Item = f64> {
    let disks = blocks
        .iter()
        .filter(|block| block.name == "disk" && block.get("sectors r").is_some());
    disks.map(|block| block.get("util").map_or(0.0, |figure| figure.value.value()))
}

/// Converts disk counters. Those without sectors (before 3.34) are skipped: they do not give bytes.
fn disks(blocks: &[ReportedBlock]) -> Vec<DiskStats> {
    let disk = |block: &ReportedBlock| {
        let count = |name: &str| block.whole(name).unwrap_or(0);
        block.get("sectors r")?;
        let ms = |name: &str| Nanos::from_millis(count(name).min(1 << 40));
        Some(DiskStats {
            name: block.words_of("name")?.to_owned(),
            read_ios: count("ios r"),
            read_merges: count("merge r"),
            read_sectors: count("sectors r"),
            read_ticks: ms("ticks r"),
            write_ios: count("ios w"),
            write_merges: count("merge w"),
            write_sectors: count("sectors w"),
            write_ticks: ms("ticks w"),
            queued: ms("in_queue"),
            ..DiskStats::default()
        })
    };
    blocks
        .iter()
        .filter(|block| block.name == "disk")
        .filter_map(disk)
        .collect()
}
