//! Summarizes the runs of a series for tables, charts and comparisons.
//!
//! Averages are computed only where they are valid: percentiles come from merged histograms, rates from bytes and time.

mod caveats;
mod device_time;
mod latency;
mod latency_map;
mod phases;
mod reduce;
mod timeline;
mod workload;

use crate::cliff::{Falls, MIN_INTERVALS, falls, lengths_and_speeds};
use crate::estimate::estimate;
use crate::io_path::{path_findings, traced_series};
use crate::stats;
use hakaru_model::annotation::Annotations;
use hakaru_model::campaign::PreparedStep;
use hakaru_model::facts::{DiskStats, Environment, Identity, TargetKind};
use hakaru_model::finding::{
    Estimate, PhaseDetail, PhaseSummary, RampPart, Stability, Summary, SummaryOrigin, Sustained,
    TimelinePoint, TracedPhase,
};
use hakaru_model::io_path::IoPath;
use hakaru_model::job::Op;
use hakaru_model::measured::{LeftOutRun, MeasuredTraffic, NoAmplification};
use hakaru_model::record::{Origin, PhaseRecord, RunRecord};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use phases::{PhaseRun, PhaseRuns, moved};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) use caveats::SMALL_FILE;
pub use caveats::{FEW_RUNS, SHORT, reported_disks};
pub use latency::PERCENTILES;
pub use reduce::reduce;

/// Summarizes the runs of one series, in the given order.
///
/// If some run finished a phase, runs of it that were interrupted or ended by a device error are excluded from the
/// figures and listed in the caveats; their errors still count. If no run finished it, all runs count. An empty series
/// gives an empty summary.
///
/// Tracing adds to the latency: if some runs were not traced, those that were only give their paths.
pub fn summarize(series: &[RunRecord]) -> Summary {
    if series.iter().all(RunRecord::is_traced) || !series.iter().any(RunRecord::is_traced) {
        return summarize_alike(series);
    }
    let untraced = series.iter().filter(|run| !run.is_traced());
    let untraced: Vec<RunRecord> = untraced.cloned().collect();
    let paths = paths(series);
    let summary = summarize_alike(&untraced);
    Summary {
        traced: traced_series(&paths, &summary.target),
        paths,
        ..summary
    }
}

/// Summarizes runs that were all traced, or all not.
fn summarize_alike(series: &[RunRecord]) -> Summary {
    let phases: Vec<PhaseSummary> = phases::collect(series)
        .iter()
        .flat_map(summarize_phase)
        .collect();
    let first = series.first();
    let paths = paths(series);
    let target = first.map_or_else(nothing, |r| r.target.clone());
    let mut summary = Summary {
        series: first.map(|r| r.series.clone()).unwrap_or_default(),
        runs: series.iter().map(|r| r.id.clone()).collect(),
        scenario: first.map(|r| r.scenario.name.clone()).unwrap_or_default(),
        started_unix_ms: first.map_or(0, |r| r.started_unix_ms),
        last_started_unix_ms: series.iter().map(|r| r.started_unix_ms).max().unwrap_or(0),
        origin: first.map(origin).unwrap_or_default(),
        traced: traced_series(&paths, &target),
        target,
        environment: first.map_or_else(Environment::default, |r| r.environment.clone()),
        phases,
        caveats: Vec::new(),
        caveat_phases: BTreeMap::new(),
        overhead_ns: overhead(series),
        paths,
        prepared: first.map_or_else(Vec::new, prepared),
        path_differences: Vec::new(),
        annotations: Annotations::default(),
    };
    summary.caveats = caveats::collect(series, &summary);
    summary
}

fn prepared(run: &RunRecord) -> Vec<PreparedStep> {
    let steps = run.campaign.iter().flat_map(|point| &point.prepared);
    steps
        .cloned()
        .map(PreparedStep::without_measurements)
        .collect()
}

fn origin(run: &RunRecord) -> SummaryOrigin {
    match &run.origin {
        Origin::Measured { version } => SummaryOrigin::Measured {
            version: version.clone(),
        },
        Origin::Imported {
            program, reported, ..
        } => SummaryOrigin::Imported {
            program: program.clone(),
            disks: caveats::reported_disks(run),
            zone_assumed: reported.zone_assumed,
        },
    }
}

fn nothing() -> Identity {
    let (path, device) = (PathBuf::new(), Default::default());
    Identity {
        path,
        kind: TargetKind::Absent,
        filesystem: None,
        device,
        system_disk: false,
        label: None,
    }
}

/// Returns the paths of the I/Os of the traced runs.
fn paths(series: &[RunRecord]) -> Vec<TracedPhase> {
    let of_run = |run: &RunRecord| {
        let of_phase = |phase: &PhaseRecord| {
            let traced = |path: &IoPath| TracedPhase {
                phase: phase.name.clone(),
                run: run.id.clone(),
                path: path.clone(),
                findings: path_findings(path),
            };
            phase.paths.iter().map(traced).collect::<Vec<_>>()
        };
        run.phases.iter().flat_map(of_phase).collect::<Vec<_>>()
    };
    series.iter().flat_map(of_run).collect()
}

/// Returns the overhead of this program per I/O: the median of the runs.
fn overhead(series: &[RunRecord]) -> Option<f64> {
    let costs: Vec<f64> = series
        .iter()
        .filter_map(|r| r.overhead)
        .map(|o| o.per_io_ps as f64 / 1e3)
        .collect();
    stats::median(&costs)
}

fn summarize_phase(runs: &PhaseRuns<'_>) -> Vec<PhaseSummary> {
    Op::ALL
        .into_iter()
        .filter_map(|op| summarize_op(runs, op))
        .collect()
}

fn summarize_op(phase: &PhaseRuns<'_>, op: Op) -> Option<PhaseSummary> {
    let runs: Vec<&PhaseRun<'_>> = phase.runs.iter().filter(|run| run.did(op)).collect();
    let rates: Vec<phases::Rates> = runs.iter().filter_map(|run| run.rates(op)).collect();
    let bandwidth = estimate(&rates.iter().map(|r| r.bytes_per_s).collect::<Vec<_>>())?;
    let iops = estimate(&rates.iter().map(|r| r.ios_per_s).collect::<Vec<_>>())?;
    let timelines = runs
        .iter()
        .map(|run| (timeline::timeline(run, op), run.ramp(op)));
    let (timelines, ramps): (Vec<_>, Vec<_>) =
        timelines.filter(|(points, _)| !points.is_empty()).unzip();
    let spread = || sustained(&timelines, &ramps).or_else(|| printed_spread(&runs, op));
    let sustained = (op == Op::Write).then(spread).flatten();
    let (amplification, no_amplification) = amplifications(&runs, op);
    let latencies = latency::OpLatencies::of(&runs, op);
    let with_syncs = includes_syncs(&runs, op);
    let sync = match with_syncs {
        true => latency::OpLatencies::of_sync(&runs),
        false => latency::OpLatencies::default(),
    };
    let detail = PhaseDetail {
        headline: crate::headline(&bandwidth, &iops),
        latency_by_run: latencies.by_run(),
        sync_by_run: sync.by_run(),
        stability: stability(&bandwidth),
        no_amplification,
        latency_map: latency_map::of_op(&runs, op),
        sync_map: with_syncs.then(|| latency_map::of_sync(&runs)).flatten(),
        device_ns: device_time::device_ns(&runs, op),
        new_files: device_time::new_files(&runs, op),
        intervals: (op != Op::Write)
            .then(|| printed_spread(&runs, op))
            .flatten(),
        ramps: match ramps.iter().all(|ramp| *ramp == RampPart::default()) {
            true => Vec::new(),
            false => ramps,
        },
        ..detail(phase, &runs, op)?
    };
    Some(PhaseSummary {
        phase: phase.name.clone(),
        op,
        workload: workload::describe(&detail.jobs, op),
        latency: latencies.summary(),
        sync: sync.summary(),
        timelines,
        sustained,
        amplification: estimate(&amplification),
        errors: sum(phase.all_runs().map(|run| run.errors(op))),
        detail,
        bandwidth,
        iops,
    })
}

fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Returns the details of a phase that do not depend on its rates and latencies.
fn detail(phase: &PhaseRuns<'_>, runs: &[&PhaseRun<'_>], op: Op) -> Option<PhaseDetail> {
    let first = runs.first()?;
    let moved = || runs.iter().map(|run| run.bytes(op));
    let is_open_loop =
        |run: &&PhaseRun<'_>| run.workers(op).any(|worker| run.is_open_loop(worker, op));
    let mut ops = Op::ALL.into_iter();
    let first_op = ops.find(|&op| phase.runs.iter().any(|run| run.did(op)));
    let other_errors = sum(phase.all_runs().map(PhaseRun::other_errors));
    Some(PhaseDetail {
        shape: workload::shape(first, op),
        jobs: workload::jobs(first, op),
        measured: runs.iter().map(|run| run.measured(op)).min()?,
        moved: Bytes(moved().min()?),
        moved_in_all: Bytes(sum(moved())),
        open_loop: runs.iter().any(is_open_loop),
        laid_out: runs.iter().filter_map(|run| run.laid_out()).max(),
        other_errors: if first_op == Some(op) {
            other_errors
        } else {
            0
        },
        limits_missed: sum(phase.all_runs().map(|run| run.limits_missed(op))),
        left_out: left_out(phase),
        ..PhaseDetail::default()
    })
}

/// Returns the I/O amplification of each run that has one, and the reason if it is unavailable.
fn amplifications(runs: &[&PhaseRun<'_>], op: Op) -> (Vec<f64>, Option<NoAmplification>) {
    let found: Result<Vec<Option<f64>>, NoAmplification> =
        runs.iter().map(|run| amplification(run, op)).collect();
    match found {
        Ok(found) => (found.into_iter().flatten().collect(), None),
        Err(because) => (Vec::new(), Some(because)),
    }
}

/// Whether an operation includes the `fsync` calls: writes do; if a phase does not write, its first operation does.
fn includes_syncs(runs: &[&PhaseRun<'_>], op: Op) -> bool {
    let writes = runs.iter().any(|run| run.did(Op::Write));
    op == Op::Write || !writes && runs.iter().all(|run| run.first_op() == op)
}

/// Returns the excluded runs, in the order of the series.
fn left_out(phase: &PhaseRuns<'_>) -> Vec<LeftOutRun> {
    let mut runs: Vec<LeftOutRun> = phase
        .left_out
        .iter()
        .map(|&(run, because)| LeftOutRun {
            run: run.number,
            because,
        })
        .collect();
    runs.sort_by_key(|left_out| left_out.run);
    runs
}

/// Maximum in-flight bytes at the end of a ramp time, as a fraction of the measured bytes; above it, the whole phase
/// counts.
const EXACT: f64 = 0.002;

/// Maximum traffic of other programs, as a fraction of the job's bytes; above it, the figure is meaningless.
const OTHERS: f64 = 0.1;

/// Returns the I/O amplification (bytes of the device per byte of the application) from the disk counters; `None` if
/// nothing was counted.
///
/// Counters and bytes cover the same time: the measured part, or the whole phase with its ramp times if in-flight I/Os
/// at the end of the ramp would make it imprecise or workers end their ramp times at different moments. Of stacked
/// devices, only the lowest counts.
fn amplification(run: &PhaseRun<'_>, op: Op) -> Result<Option<f64>, NoAmplification> {
    let measured = run.bytes(op);
    if op == Op::Trim || measured == 0 {
        return Ok(None);
    }
    let exact = |_: &&MeasuredTraffic| run.most_in_flight() as f64 <= EXACT * measured as f64;
    let traffic = run.phase.traffic.as_ref().filter(exact);
    if run.record.target.system_disk {
        return on_system_disk(run, op, measured);
    }
    let (disks, asked) = match traffic {
        Some(traffic) => (&traffic.disks, measured),
        None if run.phase.disks.is_empty() => return Ok(None),
        None => (
            &run.phase.disks,
            run.bytes_with_ramp(op)
                .ok_or(NoAmplification::RampNotCounted)?,
        ),
    };
    let Some(moved) = moved(run, disks, op) else {
        return Ok(None);
    };
    if !matches!(run.record.origin, Origin::Imported { .. }) {
        return Ok(Some(moved as f64 / asked as f64));
    }
    if let Some((counted, written)) = uncounted_writes(run, disks) {
        return Err(NoAmplification::CountersIncomplete { counted, written });
    }
    // Other programs may not print sectors.
    Ok((moved > 0).then(|| moved as f64 / asked as f64))
}

/// Minimum fraction of direct writes that complete disk counters contain.
const ALL_WRITES: f64 = 0.995;

/// Returns the written bytes in the disk counters and in the result, if counters of another program miss a part of its
/// direct writes: they were read before the end, and prove nothing about reads either. fio reads them periodically.
fn uncounted_writes(run: &PhaseRun<'_>, disks: &[DiskStats]) -> Option<(Bytes, Bytes)> {
    let is_direct = workload::shape(run, Op::Write)?.direct;
    let counted = moved(run, disks, Op::Write).filter(|&bytes| bytes > 0)?;
    let written = run.bytes_with_ramp(Op::Write)?;
    let incomplete = is_direct && (counted as f64) < ALL_WRITES * written as f64;
    incomplete.then_some((Bytes(counted), Bytes(written)))
}

/// Returns the I/O amplification on the system disk, which other programs use too. The kernel counts the reads of this
/// program, so reads of others can be separated; many writes of others make the figure unavailable.
fn on_system_disk(
    run: &PhaseRun<'_>,
    op: Op,
    measured: u64,
) -> Result<Option<f64>, NoAmplification> {
    let traffic = match &run.phase.traffic {
        Some(traffic) => traffic,
        None if run.phase.disks.is_empty() => return Ok(None),
        None => return Err(NoAmplification::SystemDisk),
    };
    let Some(moved) = moved(run, &traffic.disks, op) else {
        return Ok(None);
    };
    let own = match op {
        Op::Read => traffic.own_read,
        Op::Write | Op::Trim => traffic.own_written,
    };
    let own = own.ok_or(NoAmplification::SystemDisk)?.0;
    if op == Op::Read {
        return Ok(Some(own as f64 / measured as f64));
    }
    let others = moved.saturating_sub(own);
    if others as f64 > OTHERS * measured as f64 {
        return Err(NoAmplification::OtherUsers {
            others: Bytes(others),
            own: Bytes(own),
        });
    }
    Ok(Some(moved as f64 / measured as f64))
}

/// Returns the evenness of a write over the intervals of all runs. The drops are those of the first run with a
/// permanent one.
///
/// Mean and deviation weight each interval by its length: slow writes make long intervals, which would otherwise count
/// too little. A cache fills during the ramp time too, which therefore counts in the positions of the drops.
fn sustained(timelines: &[Vec<TimelinePoint>], ramps: &[RampPart]) -> Option<Sustained> {
    let whole = timelines.iter().map(|points| lengths_and_speeds(points));
    let long = whole.filter(|steps| steps.len() >= MIN_INTERVALS);
    let steps: Vec<(f64, f64)> = long.flatten().collect();
    let speeds = || steps.iter().map(|&(_, speed)| speed);
    let (mean, deviation) = weighted_moments(&steps)?;
    let found = timelines.iter().zip(ramps).map(|(points, ramp)| {
        let mut found = falls(points);
        for fall in &mut found.falls {
            fall.at.0 = fall.at.0.saturating_add(ramp.bytes.0);
            fall.after_time.0 = fall.after_time.0.saturating_add(ramp.time.0);
        }
        found
    });
    let found: Vec<Falls> = found.collect();
    let swing = found.iter().find_map(|found| found.swing);
    // Prefer the first run with a proven drop, otherwise one with a drop at its end.
    let proven = |found: &&Falls| found.falls.iter().any(|fall| fall.proven);
    let first = found
        .iter()
        .find(proven)
        .or(found.iter().find(|found| !found.falls.is_empty()));
    let falls = first.cloned().unwrap_or_default();
    Some(Sustained {
        min: BytesPerSec(speeds().fold(f64::MAX, f64::min)),
        max: BytesPerSec(speeds().fold(0.0, f64::max)),
        mean: BytesPerSec(mean),
        deviation: BytesPerSec(deviation),
        interval: median_length(&steps),
        cliff: falls.falls.iter().find(|fall| fall.proven).cloned(),
        falls: falls.falls,
        swing,
    })
}

/// Returns the median length of intervals, given as seconds and speeds; `None` without any.
fn median_length(steps: &[(f64, f64)]) -> Option<Nanos> {
    let mut lengths: Vec<f64> = steps.iter().map(|&(length, _)| length).collect();
    lengths.sort_by(f64::total_cmp);
    let median = lengths.get(lengths.len() / 2)?;
    Some(Nanos((median * 1e9).round() as u64))
}

/// Returns mean and deviation of values with weights; `None` if they are not finite.
fn weighted_moments(steps: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = steps.len() as f64;
    let total: f64 = steps.iter().map(|&(weight, _)| weight).sum();
    let sum: f64 = steps.iter().map(|&(weight, value)| weight * value).sum();
    let mean = sum / total;
    let squares = steps
        .iter()
        .map(|&(weight, value)| weight * (value - mean).powi(2));
    let deviation = (squares.sum::<f64>() / total * n / (n - 1.0)).sqrt();
    deviation.is_finite().then_some((mean, deviation))
}

/// Returns the evenness of a write from the samples printed by another program, for one run of one worker. They do not
/// show drops.
fn printed_spread(runs: &[&PhaseRun<'_>], op: Op) -> Option<Sustained> {
    let [run] = runs else { return None };
    let mut workers = run.workers(op);
    let (worker, None) = (workers.next()?, workers.next()) else {
        return None;
    };
    let report = run.report(worker)?;
    let samples = &worker.ops[op].bw_samples;
    (samples.count >= MIN_INTERVALS as u64).then_some(())?;
    let time = worker.ops[op].runtime.unwrap_or(worker.runtime).0;
    // Each member of a group has samples of its own.
    let times = time.checked_mul(report.members.max(1).into());
    let interval = times.map(|times| Nanos(times / samples.count));
    Some(Sustained {
        min: BytesPerSec(samples.min as f64),
        max: BytesPerSec(samples.max as f64),
        mean: BytesPerSec(samples.mean()?),
        deviation: BytesPerSec(samples.deviation()?),
        interval: interval.filter(|interval| interval.0 > 0),
        cliff: None,
        falls: Vec::new(),
        swing: None,
    })
}

/// Returns the stability of the runs; `None` for fewer than three runs.
fn stability(bandwidth: &Estimate) -> Option<Stability> {
    let values = &bandwidth.values;
    let drift = stats::drift(values)?;
    // The line must stay within the range of the values: a drop cannot exceed the total.
    let reach = drift.slope * (values.len() - 1) as f64 / 2.0;
    let within = |end: f64| end.clamp(bandwidth.min, bandwidth.max);
    let change = within(bandwidth.mean + reach) / within(bandwidth.mean - reach) - 1.0;
    Some(Stability {
        outliers: stats::outliers(values)
            .iter()
            .map(|outlier| outlier.index as u32)
            .collect(),
        drift: change.is_finite().then_some(change),
        drift_p: Some(drift.p),
        lag1: stats::lag1(values),
        effective_runs: Some(stats::effective_runs(values)),
    })
}

#[cfg(test)]
mod tests;
