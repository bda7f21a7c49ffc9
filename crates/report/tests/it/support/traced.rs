//! Findings about hand-written paths, as the analysis has them: of one traced run a side, without intervals.

use hakaru_model::finding::{Estimate, Summary, TracedPhase};
use hakaru_model::io_path::*;
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;

fn of_op(path: &IoPath, op: Op) -> impl Iterator<Item = &ClassTraffic> {
    path.classes.iter().filter(move |it| it.op == Some(op))
}

fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

fn traffic(path: &IoPath, op: Op) -> Option<PathTraffic> {
    let asked = || path.asked.iter().filter(move |size| size.op == op);
    let ios = total(asked().map(|size| size.count));
    let bytes = total(asked().map(|size| size.size.0.saturating_mul(size.count)));
    let requests = total(of_op(path, op).map(|it| it.requests));
    let moved = total(of_op(path, op).map(|it| it.bytes.0));
    (ios > 0).then(|| PathTraffic {
        op,
        ios,
        asked: Bytes(bytes),
        requests,
        moved: Bytes(moved),
        amplification: (bytes > 0).then(|| moved as f64 / bytes as f64),
        requests_per_io: Some(requests as f64 / ios as f64),
        classes: Vec::new(),
    })
}

pub(crate) fn findings(path: &IoPath) -> PathFindings {
    let share = (path.busy.0 as f64 / path.window.0.max(1) as f64).min(1.0);
    PathFindings {
        traffic: Op::ALL
            .into_iter()
            .filter_map(|op| traffic(path, op))
            .collect(),
        flushes_per_io: 0.0,
        shares: Vec::new(),
        device_share: share,
        host_share: 1.0 - share,
        limit: match share {
            share if share >= 0.9 => PathLimit::Device,
            share if share < 0.5 => PathLimit::Host,
            _ => PathLimit::Both,
        },
        incomplete: path.tracer.lost_share() > IoPath::LOSS_LIMIT,
    }
}

/// An estimate from these values, with an interval of ±10% if there are several.
pub(crate) fn estimate(values: &[f64]) -> Estimate {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    Estimate {
        values: values.to_vec(),
        mean,
        min: values.iter().copied().fold(f64::MAX, f64::min),
        max: values.iter().copied().fold(f64::MIN, f64::max),
        ci95: (values.len() > 1).then_some((0.9 * mean, 1.1 * mean)),
        ..Estimate::default()
    }
}

fn figures(of: &TracedPhase) -> Vec<(PathFigure, Estimate)> {
    let mut all = vec![(PathFigure::DeviceShare, of.findings.device_share)];
    for traffic in &of.findings.traffic {
        let op = traffic.op;
        let amplification = traffic.amplification;
        all.extend(amplification.map(|value| (PathFigure::Amplification { op }, value)));
    }
    for operation in &of.path.operations {
        let (op, with_sync) = (operation.op, operation.with_sync);
        let latency = PathFigure::Latency { op, with_sync };
        all.push((latency, operation.mean.total()));
        all.extend(TimePart::ALL.map(|part| {
            let figure = PathFigure::Part {
                op,
                with_sync,
                part,
            };
            (figure, operation.mean.of(part))
        }));
    }
    let estimated = all.into_iter().map(|(it, value)| (it, estimate(&[value])));
    estimated.collect()
}

/// Adds a traced run of a phase.
pub(crate) fn add(summary: &mut Summary, phase: &str, path: IoPath) {
    let index = summary.paths.len() as u32;
    let of = TracedPhase {
        phase: phase.to_owned(),
        run: summary.runs.first().cloned().unwrap_or_default(),
        findings: findings(&path),
        path,
    };
    let disk = &of.path.disk.name;
    match summary
        .traced
        .iter_mut()
        .find(|it| it.phase == phase && it.disk == *disk)
    {
        Some(known) => known.runs.push(index),
        None => summary.traced.push(TracedSeries {
            phase: phase.to_owned(),
            disk: disk.clone(),
            runs: vec![index],
            shown: 0,
            limit: of.findings.limit,
            bus: None,
            figures: figures(&of),
        }),
    }
    summary.paths.push(of);
}

/// Compares the first traced run of each phase of both sides.
pub(crate) fn compare(base: &Summary, other: &mut Summary) {
    let difference = |traced: &TracedSeries| {
        let of = |summary: &Summary| {
            let mut paths = summary.paths.iter();
            let found = paths.find(|it| it.phase == traced.phase);
            found.map(|it| (it.path.clone(), it.findings.incomplete))
        };
        let ((base_path, lost), (path, also_lost)) = (of(base)?, of(other)?);
        Some(PathDifference {
            phase: traced.phase.clone(),
            disk: traced.disk.clone(),
            base: base.series.clone(),
            runs: (1, 1),
            outcome: match lost || also_lost {
                true => Err(PathRefusal::EventsLost),
                false => Ok(comparison(&base_path, &path)),
            },
            without_prices: Vec::new(),
        })
    };
    let differences = other.traced.iter().filter_map(difference);
    other.path_differences = differences.collect();
}

fn comparison(base: &IoPath, other: &IoPath) -> PathComparison {
    let pairs = base.operations.iter().filter_map(|a| {
        let mut operations = other.operations.iter();
        let b = operations.find(|b| (b.op, b.with_sync) == (a.op, a.with_sync))?;
        Some(difference((base, a), (other, b)))
    });
    let identity = PathIdentity {
        time: 1.2,
        bytes: 0.5,
        time_per_byte: 3.0,
        flush: 1.0,
        waiting: 0.8,
    };
    PathComparison {
        operations: pairs.collect(),
        identity: Some(identity),
    }
}

fn difference(
    (base_path, base): (&IoPath, &OperationPath),
    (other_path, other): (&IoPath, &OperationPath),
) -> OperationDifference {
    let time = |value| TimeDifference { value, ci95: None };
    let part = |part: TimePart| PartDifference {
        part: DifferencePart::Time(part),
        base: base.mean.of(part),
        other: other.mean.of(part),
        time: time(other.mean.of(part) - base.mean.of(part)),
    };
    let mut parts = TimePart::ALL.map(part).to_vec();
    parts.retain(|part| part.base != 0.0 || part.other != 0.0);
    parts.sort_by(|a, b| b.time.value.abs().total_cmp(&a.time.value.abs()));
    let total = other.mean.total() - base.mean.total();
    let load = |path: &IoPath, count: u64| OperationLoad {
        requests: total_requests(path) / count.max(1) as f64,
        ..OperationLoad::default()
    };
    OperationDifference {
        op: base.op,
        with_sync: base.with_sync,
        base: base.mean.total(),
        other: other.mean.total(),
        total: time(total),
        shares_allowed: shares_allowed(total, parts.iter().map(|part| part.time.value)),
        parts,
        base_load: load(base_path, base.count),
        other_load: load(other_path, other.count),
        device: None,
    }
}

fn total_requests(path: &IoPath) -> f64 {
    let with_bytes = path.classes.iter().filter(|class| class.op.is_some());
    total(with_bytes.map(|class| class.requests)) as f64
}
