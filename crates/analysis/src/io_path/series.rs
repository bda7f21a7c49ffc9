//! Several traced runs of a phase, and the comparison of all traced runs of two series.

use super::{DEVICE_LIMIT, HOST_LIMIT, compare_paths, price_model, ratio};
use crate::estimate::estimate;
use crate::limits::{ceiling, of_share};
use crate::stats;
use hakaru_model::facts::{Bus, Identity};
use hakaru_model::finding::{Estimate, Summary, TracedPhase};
use hakaru_model::io_path::{
    BusUse, IoPath, OperationPath, PathComparison, PathDifference, PathFigure, PathFindings,
    PathLimit, PathRefusal, PriceModel, PriceRefusal, TimePart, TracedSeries,
};
use hakaru_model::job::Op;
use hakaru_model::units::BytesPerSec;

/// Collects the traced runs of each phase and disk, in order of first appearance.
pub(crate) fn traced_series(paths: &[TracedPhase], target: &Identity) -> Vec<TracedSeries> {
    let mut all: Vec<TracedSeries> = Vec::new();
    for (index, traced) in (0..).zip(paths) {
        let (phase, disk) = (&traced.phase, &traced.path.disk.name);
        match all
            .iter_mut()
            .find(|it| (&it.phase, &it.disk) == (phase, disk))
        {
            Some(series) => series.runs.push(index),
            None => all.push(TracedSeries {
                phase: phase.clone(),
                disk: disk.clone(),
                runs: vec![index],
                shown: 0,
                limit: PathLimit::Both,
                bus: None,
                figures: Vec::new(),
            }),
        }
    }
    for series in &mut all {
        let runs = members(series, paths);
        series.shown = nearest_to_median(&runs);
        series.figures = figures(&runs);
        series.limit = limit(&series.figures);
        series.bus = bus_use(&runs, target);
    }
    all
}

/// Compares the speed of the requests with the maximum of the bus of the target; `None` for another disk. A discard sends
/// no data.
fn bus_use(runs: &[&TracedPhase], target: &Identity) -> Option<BusUse> {
    let device = target.device.known()?;
    if runs.iter().any(|run| run.path.disk.name != device.kname) {
        return None;
    }
    let ceiling = ceiling(&device.bus)?;
    let speed = |run: &&TracedPhase| {
        let [read, written] = [Op::Read, Op::Write].map(|op| run.path.bytes(op).0);
        let bytes = match has_one_path(&device.bus) {
            true => read + written,
            false => read.max(written),
        };
        ratio(bytes as f64, run.path.window.as_secs_f64())
    };
    let speeds: Vec<f64> = runs.iter().map(speed).collect::<Option<_>>()?;
    let speed = stats::mean(&speeds)?;
    Some(BusUse {
        speed: BytesPerSec(speed),
        ceiling,
        limit: of_share(speed / ceiling.0),
    })
}

/// Whether the bus is half-duplex: SD, SATA, and USB below 5 Gbit/s. The facts do not tell SATA from SAS, which is
/// full-duplex.
fn has_one_path(bus: &Bus) -> bool {
    match bus {
        Bus::Mmc { .. } | Bus::Scsi { .. } => true,
        Bus::Usb { speed_mbps } => speed_mbps.known().is_some_and(|speed| *speed < 5000),
        Bus::Nvme { .. } | Bus::Virtio | Bus::Software | Bus::Other { .. } => false,
    }
}

fn members<'a>(series: &TracedSeries, paths: &'a [TracedPhase]) -> Vec<&'a TracedPhase> {
    let runs = series.runs.iter();
    runs.filter_map(|&run| paths.get(run as usize)).collect()
}

/// Returns the index of the run whose mean latency is nearest to the median; of equally near ones, the first.
fn nearest_to_median(runs: &[&TracedPhase]) -> u32 {
    let times: Vec<f64> = runs.iter().map(|run| mean_time(&run.path)).collect();
    let Some(median) = stats::median(&times) else {
        return 0;
    };
    let distance = |time: &f64| (time - median).abs();
    let nearest = (0..)
        .zip(&times)
        .min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
    nearest.map_or(0, |(index, _)| index)
}

/// Mean latency of the kind of operation with the most time; the traced time without operations.
fn mean_time(path: &IoPath) -> f64 {
    let time = |of: &&OperationPath| of.count as f64 * of.mean.total();
    let operations = path.operations.iter();
    operations
        .max_by(|a, b| time(a).total_cmp(&time(b)))
        .map_or(path.window.0 as f64, |of| of.mean.total())
}

/// Judges what limits the speed by the device's share of the time: by its interval, if there are several runs.
fn limit(figures: &[(PathFigure, Estimate)]) -> PathLimit {
    let share = figures
        .iter()
        .find(|(figure, _)| *figure == PathFigure::DeviceShare);
    let ends = share.map(|(_, share)| share.ci95.unwrap_or((share.mean, share.mean)));
    match ends {
        Some((low, _)) if low >= DEVICE_LIMIT => PathLimit::Device,
        Some((_, high)) if high < HOST_LIMIT => PathLimit::Host,
        _ => PathLimit::Both,
    }
}

/// Estimates the figures that all runs have.
fn figures(runs: &[&TracedPhase]) -> Vec<(PathFigure, Estimate)> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let estimated = |(figure, _): (PathFigure, f64)| {
        let values = runs.iter().map(|run| {
            let found = figures_of(run);
            found.into_iter().find(|(it, _)| *it == figure)
        });
        let values: Option<Vec<f64>> = values.map(|found| Some(found?.1)).collect();
        Some((figure, estimate(&values?)?))
    };
    figures_of(first)
        .into_iter()
        .filter_map(estimated)
        .collect()
}

/// Returns the figures of one run.
fn figures_of(run: &TracedPhase) -> Vec<(PathFigure, f64)> {
    let PathFindings {
        traffic,
        flushes_per_io,
        device_share,
        ..
    } = &run.findings;
    let mut all = Vec::new();
    for of in traffic {
        let op = of.op;
        all.extend(
            of.requests_per_io
                .map(|value| (PathFigure::RequestsPerIo { op }, value)),
        );
        all.extend(
            of.amplification
                .map(|value| (PathFigure::Amplification { op }, value)),
        );
    }
    all.push((PathFigure::FlushesPerIo, *flushes_per_io));
    all.push((PathFigure::DeviceShare, *device_share));
    for of in &run.path.operations {
        let (op, with_sync) = (of.op, of.with_sync);
        all.push((PathFigure::Latency { op, with_sync }, of.mean.total()));
        all.extend(TimePart::ALL.map(|part| {
            let figure = PathFigure::Part {
                op,
                with_sync,
                part,
            };
            (figure, of.mean.of(part))
        }));
    }
    all
}

/// Compares the traced I/Os of all summaries with those of one of them, and stores the differences in the others.
/// Without a summary of this index, nothing is compared.
pub fn compare_traced(summaries: &mut [Summary], base: usize) {
    let mut all: Vec<&mut Summary> = summaries.iter_mut().collect();
    compare_traced_with(&mut all, base);
}

/// See [`compare_traced`].
pub(crate) fn compare_traced_with(summaries: &mut [&mut Summary], base: usize) {
    let found: Vec<Vec<PathDifference>> = match summaries.get(base) {
        Some(base_of) => summaries
            .iter()
            .enumerate()
            .map(|(index, other)| match index == base {
                true => Vec::new(),
                false => differences(base_of, other),
            })
            .collect(),
        None => return,
    };
    for (summary, differences) in summaries.iter_mut().zip(found) {
        summary.path_differences = differences;
    }
}

/// Compares the traced runs of each phase and disk of two summaries.
fn differences(base: &Summary, other: &Summary) -> Vec<PathDifference> {
    let compared = other
        .traced
        .iter()
        .filter_map(|series| compare_series(base, other, series));
    let mut all: Vec<PathDifference> = compared.collect();
    // A phase that only the base traced; one that only the other side traced is among its series.
    for series in &base.traced {
        let measured = other.phases.iter().any(|it| it.phase == series.phase);
        let traced = other.traced.iter().any(|it| it.phase == series.phase);
        if measured && !traced && all.iter().all(|it| it.phase != series.phase) {
            all.push(one_side_traced(base, series, (runs(series), 0)));
        }
    }
    all
}

fn runs(series: &TracedSeries) -> u32 {
    series.runs.len() as u32
}

fn one_side_traced(base: &Summary, series: &TracedSeries, runs: (u32, u32)) -> PathDifference {
    PathDifference {
        phase: series.phase.clone(),
        disk: series.disk.clone(),
        base: base.series.clone(),
        runs,
        outcome: Err(PathRefusal::OneSideTraced),
        without_prices: Vec::new(),
    }
}

/// Compares one traced phase; `None` if the base does not have the phase.
fn compare_series(
    base: &Summary,
    other: &Summary,
    series: &TracedSeries,
) -> Option<PathDifference> {
    let Some(base_series) = counterpart(base, other, series) else {
        let measured = base.phases.iter().any(|it| it.phase == series.phase);
        return measured.then(|| one_side_traced(base, series, (0, runs(series))));
    };
    let (a, b) = (paths_of(base, base_series), paths_of(other, series));
    let (prices, without_prices) = prices(base, &base_series.disk);
    let compared = compare_paths(&a, &b, &prices);
    let measured = measured_ratio(base, other, &series.phase);
    Some(PathDifference {
        phase: series.phase.clone(),
        disk: series.disk.clone(),
        base: base.series.clone(),
        runs: (runs(base_series), runs(series)),
        outcome: compared.and_then(|of| representative(of, measured)),
        without_prices,
    })
}

/// Factor between the ratio of two sides' traced runs and that of their measured runs above which the traced runs do not
/// stand for the measured ones. Tracing itself and the spread of single runs change a ratio by less.
const REPRESENTATIVE: f64 = 1.5;

/// Refuses a comparison of traced runs whose ratio of times differs from the measured one by more than a factor.
fn representative(
    compared: PathComparison,
    measured: Option<f64>,
) -> Result<PathComparison, PathRefusal> {
    let traced = compared.identity.map(|of| of.time);
    match (traced, measured) {
        (Some(traced), Some(measured))
            if (traced / measured).max(measured / traced) > REPRESENTATIVE =>
        {
            Err(PathRefusal::NotRepresentative { traced, measured })
        }
        _ => Ok(compared),
    }
}

/// Returns the time per byte of a phase relative to the base, from the mean bandwidth of all runs; `None` if a side moved
/// no bytes.
fn measured_ratio(base: &Summary, other: &Summary, phase: &str) -> Option<f64> {
    let bandwidth = |summary: &Summary| {
        let phases = summary.phases.iter().filter(|it| it.phase == phase);
        phases.map(|it| it.bandwidth.mean).sum::<f64>()
    };
    ratio(bandwidth(base), bandwidth(other)).filter(|of| *of > 0.0)
}

fn paths_of<'a>(summary: &'a Summary, series: &TracedSeries) -> Vec<&'a IoPath> {
    let members = members(series, &summary.paths).into_iter();
    members.map(|traced| &traced.path).collect()
}

/// Returns the traced runs of the base to compare with: on the disk of this name; on the only disk, if each side has one.
fn counterpart<'a>(
    base: &'a Summary,
    other: &Summary,
    series: &TracedSeries,
) -> Option<&'a TracedSeries> {
    let of_phase = |summary: &'a Summary| {
        let all = summary.traced.iter();
        all.filter(|it| it.phase == series.phase)
            .collect::<Vec<_>>()
    };
    let disks_here = other.traced.iter().filter(|it| it.phase == series.phase);
    match (&of_phase(base)[..], disks_here.count()) {
        ([only], 1) => Some(only),
        (several, _) => several.iter().copied().find(|it| it.disk == series.disk),
    }
}

/// Fits the prices of a disk to all traced runs of a summary on the raw device.
fn prices(raw: &Summary, disk: &str) -> (Vec<PriceModel>, Vec<(Op, PriceRefusal)>) {
    let on_disk = raw.paths.iter().map(|traced| &traced.path);
    let on_disk: Vec<&IoPath> = on_disk
        .filter(|path| path.disk.name == disk && path.disk.filesystem.is_none())
        .collect();
    let (mut prices, mut refused) = (Vec::new(), Vec::new());
    for op in Op::ALL {
        let is_used = |path: &&IoPath| path.asked.iter().any(|size| size.op == op);
        match price_model(&on_disk, op) {
            Ok(model) => prices.push(model),
            Err(refusal) if on_disk.iter().any(is_used) => refused.push((op, refusal)),
            Err(_) => {}
        }
    }
    (prices, refused)
}
