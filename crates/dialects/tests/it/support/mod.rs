//! Builds records from the numbers that fio printed, and compares texts with and without their numbers.
//!
//! Does not parse these numbers: one test reads them from a text log, the other from JSON.

#![allow(unreachable_pub)]

pub mod args;

use hakaru_dialects::fio::JobExtras;
use hakaru_dialects::fio::output::RunView;
use hakaru_model::facts::DiskStats;
use hakaru_model::histogram::Histogram;
use hakaru_model::job::{Job, Op, PerOp, Phase, Scenario};
use hakaru_model::record::{
    CpuUsage, DepthRecord, DepthSteps, ErrorRecord, FailureKind, IoError, Latency, OpRecord,
    PhaseRecord, Samples, StopReason, WorkerRecord,
};
use hakaru_model::units::{Bytes, Nanos};

/// Count, minimum, maximum, mean and deviation, in the printed unit.
#[derive(Clone, Debug, Default)]
pub struct Stat {
    pub n: u64,
    pub min: u64,
    pub max: u64,
    pub mean: f64,
    pub dev: f64,
}

/// A latency in nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Lat {
    pub stat: Stat,
    /// Value and count of each bin; `None` without a histogram.
    pub bins: Option<Vec<(u64, u64)>>,
}

/// One operation of a reported job.
#[derive(Clone, Debug, Default)]
pub struct OpNumbers {
    pub ios: u64,
    pub bytes: u64,
    pub short: u64,
    pub runtime_ms: u64,
    pub slat: Lat,
    pub clat: Lat,
    pub lat: Lat,
    /// KiB/s.
    pub bw: Stat,
    pub iops: Stat,
}

/// fio's report of one job.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    pub members: u64,
    pub pid: u32,
    pub errno: i32,
    pub total_errors: u64,
    pub ops: PerOp<OpNumbers>,
    pub sync: Lat,
    pub job_runtime_ms: u64,
    pub usr_cpu: f64,
    pub sys_cpu: f64,
    pub ctx: u64,
    pub majf: u64,
    pub minf: u64,
    /// Percentage, as printed.
    pub level: [f64; 7],
    pub submit: [f64; 7],
    pub complete: [f64; 7],
}

/// A job with its extra settings and the numbers of its report.
pub struct Reported {
    pub job: Job,
    pub extras: JobExtras,
    pub numbers: Numbers,
}

/// A run with fio's results as records.
pub struct Run {
    scenario: Scenario,
    extras: Vec<Vec<JobExtras>>,
    phases: Vec<PhaseRecord>,
}

impl Run {
    /// Jobs by phase; the disks belong to the last phase.
    pub fn of(phases: Vec<Vec<Reported>>, disks: Vec<DiskStats>) -> Run {
        let mut run = Run {
            scenario: Scenario {
                name: "made".to_owned(),
                seed: 0,
                phases: Vec::new(),
            },
            extras: Vec::new(),
            phases: Vec::new(),
        };
        for reports in phases {
            let numbered = reports.iter().zip(0..);
            let workers = numbered.flat_map(|(r, i)| workers(&r.job, i, &r.numbers));
            run.phases.push(PhaseRecord {
                name: "phase".to_owned(),
                workers: workers.collect(),
                ..PhaseRecord::default()
            });
            let (jobs, extras) = reports.into_iter().map(|r| (r.job, r.extras)).unzip();
            run.scenario.phases.push(Phase {
                name: "phase".to_owned(),
                jobs,
            });
            run.extras.push(extras);
        }
        if let Some(last) = run.phases.last_mut() {
            last.disks = disks;
        }
        run
    }

    pub fn view<'a>(&'a self, version: &'a str) -> RunView<'a> {
        RunView::of(version, &self.scenario, &self.extras, &self.phases)
    }
}

/// The part at `index` when `total` is divided evenly among `parts`.
fn deal(total: u64, parts: u64, index: u64) -> u64 {
    total / parts + u64::from(index < total % parts)
}

fn deal_wide(total: u128, parts: u64, index: u64) -> u128 {
    total / u128::from(parts) + u128::from(u128::from(index) < total % u128::from(parts))
}

/// Samples with this mean and deviation, multiplied by `unit`.
fn samples(stat: &Stat, unit: u64) -> Samples {
    let scale = unit as f64;
    let sum = (stat.mean * scale * stat.n as f64).round() as u128;
    let scatter = (stat.dev * scale).powi(2) * stat.n.saturating_sub(1) as f64;
    let n = u128::from(stat.n.max(1));
    let sum_sq = (sum * sum + (scatter * n as f64).round() as u128 + n / 2) / n;
    let (min, max) = (stat.min * unit, stat.max * unit);
    Samples {
        count: stat.n,
        min,
        max,
        sum,
        sum_sq,
    }
}

/// One worker's share of samples that all workers drew from the same distribution.
fn latency_part(lat: &Lat, parts: u64, index: u64) -> Latency {
    let all = samples(&lat.stat, 1);
    let stat = Samples {
        count: deal(all.count, parts, index),
        sum: deal_wide(all.sum, parts, index),
        sum_sq: deal_wide(all.sum_sq, parts, index),
        ..all
    };
    let histogram = lat.bins.as_ref().map(|bins| {
        let mut histogram = Histogram::new();
        bins.iter().for_each(|&(value, count)| {
            histogram.record_n(Nanos(value), deal(count, parts, index))
        });
        histogram
    });
    Latency {
        stat,
        histogram,
        ..Latency::default()
    }
}

/// One worker's share of samples over time: concurrent workers add up.
///
/// The mean is divided in whole steps of 1/`unit`, so that the means of the workers add up exactly: the percentage of
/// the group is computed from the mean in whole KiB/s, and a mean slightly below would lose one.
pub fn spread_part(stat: &Stat, parts: u64, index: u64, unit: u64) -> Samples {
    let n = deal(stat.n, parts, index);
    // A worker with one sample has no deviation.
    let carriers = (0..parts)
        .filter(|&i| deal(stat.n, parts, i) > 1)
        .count()
        .max(1);
    let scatter = stat.dev.powi(2) * stat.n.saturating_sub(1) as f64 / carriers as f64;
    let steps = (stat.mean * unit as f64).round() as u64;
    let part = Stat {
        n,
        min: deal(stat.min, parts, index),
        max: deal(stat.max, parts, index),
        mean: deal(steps, parts, index) as f64 / unit as f64,
        dev: if n > 1 {
            (scatter / (n - 1) as f64).sqrt()
        } else {
            0.0
        },
    };
    samples(&part, unit)
}

#[allow(clippy::needless_update)] // A field more in the record should not concern these tests.
fn op_part(op: &OpNumbers, parts: u64, index: u64) -> OpRecord {
    let ios = deal(op.ios, parts, index);
    OpRecord {
        ios,
        issued: ios,
        bytes: deal(op.bytes, parts, index),
        short: deal(op.short, parts, index),
        slat: latency_part(&op.slat, parts, index),
        clat: latency_part(&op.clat, parts, index),
        lat: latency_part(&op.lat, parts, index),
        bw_samples: spread_part(&op.bw, parts, index, 1024),
        iops_samples: spread_part(&op.iops, parts, index, 1000),
        ..OpRecord::default()
    }
}

/// Counts with these shares of a total. Nonzero shares were printed with a minimum, so their count is at least 1.
fn counts(shares: &[f64; 7], total: u64) -> DepthSteps {
    let count = |share: f64| (share * total as f64 / 100.0).round() as u64;
    shares.map(|share| if share > 0.0 { count(share).max(1) } else { 0 })
}

/// The workers combined in the report with these numbers.
fn workers(job: &Job, job_index: u32, numbers: &Numbers) -> Vec<WorkerRecord> {
    let parts = numbers.members.max(1);
    (0..parts)
        .map(|index| worker(job, job_index, numbers, parts, index))
        .collect()
}

fn worker(job: &Job, job_index: u32, numbers: &Numbers, parts: u64, index: u64) -> WorkerRecord {
    let ops = Op::ALL.iter().map(|&op| &numbers.ops[op]);
    let runtime = ops.map(|op| op.runtime_ms).max().unwrap_or(0);
    // CPU time is a percentage of the total time of all workers.
    let job_runtime = Nanos::from_millis(deal(numbers.job_runtime_ms, parts, index));
    let cpu = |percent: f64| Nanos((percent * job_runtime.0 as f64 / 100.0).round() as u64);
    WorkerRecord {
        name: job.name.clone(),
        job: job_index,
        clone: index as u32,
        pid: numbers.pid + index as u32,
        runtime: Nanos::from_millis(runtime),
        job_runtime,
        ops: numbers.ops.map(|op| op_part(op, parts, index)),
        sync: latency_part(&numbers.sync, parts, index),
        depth: depths(job, numbers, parts, index),
        cpu: CpuUsage {
            user: cpu(numbers.usr_cpu),
            system: cpu(numbers.sys_cpu),
            ctx: deal(numbers.ctx, parts, index),
            majf: deal(numbers.majf, parts, index),
            minf: deal(numbers.minf, parts, index),
            ..CpuUsage::default()
        },
        stop: match numbers.errno {
            0 => StopReason::Done,
            _ => StopReason::Error,
        },
        errors: errors(numbers),
        ..WorkerRecord::default()
    }
}

/// One worker's share of the queue depths.
fn depths(job: &Job, numbers: &Numbers, parts: u64, index: u64) -> DepthRecord {
    let ios = Op::ALL.iter().map(|&op| numbers.ops[op].ios);
    let issued = ios.map(|ios| deal(ios, parts, index)).sum();
    let calls = |shares: &[f64; 7]| match shares.iter().sum::<f64>() > 0.0 {
        true => 1_000_000,
        false => 0,
    };
    DepthRecord {
        level: counts(&numbers.level, issued),
        submit: counts(&numbers.submit, calls(&numbers.submit)),
        complete: counts(&numbers.complete, calls(&numbers.complete)),
        submit_calls: calls(&numbers.submit),
        complete_calls: calls(&numbers.complete),
        iodepth: job.queue.iodepth,
    }
}

/// The errors of a report: their number, and a failed write if it has an error number.
fn errors(numbers: &Numbers) -> ErrorRecord {
    let mut errors = ErrorRecord {
        total: numbers.total_errors,
        first: Vec::new(),
    };
    if numbers.errno != 0 {
        errors.first.push(IoError {
            action: "write".to_owned(),
            op: Some(Op::Write),
            kind: FailureKind::Io,
            file: "f".to_owned(),
            offset: Bytes(0),
            len: Bytes(4096),
            errno: numbers.errno,
            at: Nanos(0),
            mismatches: Vec::new(),
        });
    }
    errors
}

/// The text with integers replaced by `#`, floats by `#.#`, and multiple blanks by one.
pub fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !c.is_ascii_digit() {
            if c != ' ' || !out.ends_with(' ') {
                out.push(c);
            }
            continue;
        }
        let mut float = false;
        while let Some(&next) = rest.peek() {
            let is_point = next == '.' && !float;
            if !(next.is_ascii_digit() || is_point) {
                break;
            }
            float |= is_point;
            rest.next();
        }
        out += if float { "#.#" } else { "#" };
    }
    out
}

/// Lines that differ, side by side; empty if there are none.
pub fn differences(ours: &str, theirs: &str) -> String {
    let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
    let mut text = String::new();
    for index in 0..ours.len().max(theirs.len()) {
        let (a, b) = (
            ours.get(index).unwrap_or(&"(no line)"),
            theirs.get(index).unwrap_or(&"(no line)"),
        );
        if a != b {
            text += &format!("line {}\n  ours: {a}\n  fio:  {b}\n", index + 1);
        }
    }
    text
}
