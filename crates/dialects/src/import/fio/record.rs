//! Converts blocks of figures to worker records, as far as fio's output determines counts and sums.
//!
//! Independent of the output format the blocks came from.

use super::super::units::{Kilo, Ranged, factor};
use super::jobs::Jobs;
use super::sums::{OpSums, ReportSums};
use super::text::SYNCS;
use hakaru_model::facts::DiskStats;
use hakaru_model::histogram::Histogram;
use hakaru_model::job::{BlockSize, Op, PerOp};
use hakaru_model::record::{
    CpuUsage, DepthRecord, ErrorRecord, FailureKind, IoError, Latency, OpRecord, PhaseRecord,
    Samples, StopReason, WorkerRecord,
};
use hakaru_model::reported::{
    OpReport, Percentile, ReportedBlock, ReportedFigure, WorkerReport, op_named,
};
use hakaru_model::units::{Bytes, Nanos, Quantile};

/// Histograms in the source, by report, operation and kind of latency. Only one output format has them.
pub(super) type Histograms = Vec<(usize, Option<Op>, &'static str, Histogram)>;

/// The records of all reports by phase, with further facts about them.
pub(super) fn phases(
    blocks: &[ReportedBlock],
    jobs: &Jobs,
    histograms: Histograms,
    started_unix_ms: i64,
) -> (Vec<PhaseRecord>, Vec<WorkerReport>) {
    let mut phases: Vec<PhaseRecord> = Vec::new();
    let mut beyond = Vec::new();
    for phase in &jobs.scenario.phases {
        phases.push(PhaseRecord {
            name: phase.name.clone(),
            started_unix_ms,
            elapsed: Nanos(0),
            workers: Vec::new(),
            ..PhaseRecord::default()
        });
    }
    let reports = blocks.iter().filter(|block| block.name == "report");
    for (index, (report, &(phase, job))) in reports.zip(&jobs.places).enumerate() {
        let Some(asked) = jobs
            .scenario
            .phases
            .get(phase)
            .and_then(|phase| phase.jobs.get(job))
        else {
            continue;
        };
        let Some(record) = phases.get_mut(phase) else {
            continue;
        };
        let clone = record
            .workers
            .iter()
            .filter(|w| w.job as usize == job)
            .count() as u32;
        let (mut worker, mut more) = worker(report, &asked.block);
        for (_, op, kind, histogram) in histograms.iter().filter(|(report, ..)| *report == index) {
            let latency = match (op, *kind) {
                (Some(op), "clat") => &mut worker.ops[*op].clat,
                (Some(op), "slat") => &mut worker.ops[*op].slat,
                (Some(op), _) => &mut worker.ops[*op].lat,
                (None, _) => &mut worker.sync,
            };
            latency.histogram = Some(histogram.clone());
        }
        (worker.job, worker.clone) = (job as u32, clone);
        worker.name.clone_from(&asked.name);
        worker.depth.iodepth = asked.queue.iodepth;
        (more.phase, more.worker) = (phase as u32, record.workers.len() as u32);
        if more.members == 0 {
            // Not all outputs print how many workers a report combines, so missing clones are assumed to be included.
            let alone = jobs
                .places
                .iter()
                .filter(|place| **place == (phase, job))
                .count()
                == 1;
            let group = jobs.scenario.phases[phase]
                .jobs
                .iter()
                .filter(|other| other.group == asked.group);
            let as_one = asked.group_reporting || alone && asked.numjobs > 1;
            more.members = if as_one {
                group.map(|job| job.numjobs).sum()
            } else {
                1
            };
        }
        record.elapsed = record.elapsed.max(worker.job_runtime);
        record.workers.push(worker);
        beyond.push(more);
    }
    if let [only] = &mut phases[..] {
        // Disk counters cover the whole run, so they are assigned to a phase only if there is just one.
        only.disks = disks(blocks);
        for (disk, share) in &mut only.disks.iter_mut().zip(busy_shares(blocks)) {
            disk.elapsed = only.elapsed;
            disk.busy = Nanos((share / 100.0 * only.elapsed.0 as f64) as u64);
        }
    }
    (phases, beyond)
}

fn worker(report: &ReportedBlock, blocks: &PerOp<BlockSize>) -> (WorkerRecord, WorkerReport) {
    let sums = ReportSums::of(report);
    let mut worker = WorkerRecord {
        stop: StopReason::Done,
        ..WorkerRecord::default()
    };
    let mut more = WorkerReport {
        members: 1,
        ..WorkerReport::default()
    };
    let whole = |name: &str| report.whole(name).unwrap_or(0);
    more.members = whole("jobs").min(u64::from(u32::MAX)) as u32;
    worker.pid = whole("pid").min(u64::from(u32::MAX)) as u32;
    for block in &report.blocks {
        if let Some(op) = op_named(&block.name) {
            let (record, printed) = operation(block, &sums.ops[op], &blocks[op]);
            worker.runtime = worker.runtime.max(Nanos::from_millis(
                sums.ops[op].runtime_ms.unwrap_or(0).min(1 << 40),
            ));
            (worker.ops[op], more.ops[op]) = (record, printed);
        }
    }
    if let Some(block) = report.part(SYNCS) {
        let count = block
            .part("sync")
            .and_then(|stat| stat.whole("N"))
            .unwrap_or(sums.syncs);
        worker.sync = block
            .part("sync")
            .map(|stat| latency(stat, count))
            .unwrap_or_default();
        more.sync = percentiles(block, "sync percentiles");
    }
    let job_runtime = report
        .whole("job_runtime")
        .map(|ms| Nanos::from_millis(ms.min(1 << 40)));
    worker.job_runtime = job_runtime.unwrap_or(worker.runtime);
    if let Some(cpu) = report.part("cpu") {
        let count = |name: &str| cpu.whole(name).unwrap_or(0);
        worker.cpu = CpuUsage {
            ctx: count("ctx"),
            majf: count("majf"),
            minf: count("minf"),
            ..CpuUsage::default()
        };
    }
    worker.depth = DepthRecord::default();
    worker.errors = errors(report);
    if whole("err") > 0 {
        worker.stop = StopReason::Error;
    }
    (worker, more)
}

fn errors(report: &ReportedBlock) -> ErrorRecord {
    let errno = report.whole("err").unwrap_or(0);
    let counted = report
        .part("errors")
        .and_then(|errors| errors.whole("total"))
        .unwrap_or(0);
    let first = report
        .part("errors")
        .and_then(|errors| errors.whole("first_error"))
        .filter(|&n| n > 0)
        .unwrap_or(errno);
    let mut errors = ErrorRecord {
        total: counted.max(u64::from(errno > 0)),
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
        block
            .part(name)
            .map(|stat| latency(stat, stat.whole("N").unwrap_or(ios)))
            .unwrap_or_default()
    };
    let record = OpRecord {
        ios,
        issued: ios,
        runtime: None,
        zone_resets: 0,
        bytes: sums.moved(ios, size),
        short: sums.short,
        slat: of("slat"),
        clat: of("clat"),
        lat: of("lat"),
        bw_samples: block.part("bw").map(bandwidth_samples).unwrap_or_default(),
        iops_samples: block
            .part("iops")
            .map(|stat| spread(stat, 1000.0))
            .unwrap_or_default(),
    };
    let mut report = OpReport {
        clat: percentiles(block, "clat percentiles"),
        lat: percentiles(block, "lat percentiles"),
        slat: percentiles(block, "slat percentiles"),
        ..OpReport::default()
    };
    if sums.runtime_ms.unwrap_or(0) == 0 {
        let stated =
            |rate: Option<Ranged>| rate.map(|r| hakaru_model::reported::StatedRate::once(r.value));
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
        histogram: None,
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
