//! Rounds of a campaign that end in steady state: the measurement window, and the means in it.

use crate::steady::{WINDOW, steady_in, window_of};
use hakaru_model::finding::{PhaseSummary, RoundMeans, RoundPoint, Rounds, RunLatency, Summary};
use hakaru_model::record::RunRecord;
use hakaru_model::units::Nanos;

/// When the rounds of a campaign end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundRule<'a> {
    /// Workloads that must be in steady state; empty if each ends alone.
    pub watched: &'a [String],
    /// Maximum number of rounds.
    pub at_most: u32,
}

/// Returns the first of five rounds in which all workloads are in steady state; `None` if there are none.
///
/// Source: SNIA Solid State Storage Performance Test Specification 2.0.1: all tracking variables of a test have one
/// measurement window, the last five rounds.
pub fn common_window(watched: &[Vec<f64>]) -> Option<usize> {
    let rounds = watched.iter().map(Vec::len).min()?;
    let starts = 0..(rounds + 1).saturating_sub(WINDOW);
    let mut starts = starts.into_iter();
    starts.find(|&first| watched.iter().all(|values| steady_in(values, first)))
}

/// Returns the workloads of these runs, each with its rates in all of them. Runs that other figures leave out count,
/// because the next round follows the one before, whatever disturbed it.
pub fn round_points(runs: &[RunRecord]) -> Vec<RoundPoint> {
    let mut points: Vec<RoundPoint> = Vec::new();
    for (round, run) in runs.iter().enumerate() {
        let Summary { phases, .. } = crate::summarize(std::slice::from_ref(run));
        for ops in phases.chunk_by(|a, b| a.phase == b.phase) {
            let known = points.iter().position(|point| point.phase == ops[0].phase);
            let index = known.unwrap_or(points.len());
            if known.is_none() {
                points.extend(described(&ops[0]));
            }
            if let Some(point) = points.get_mut(index) {
                add_round(point, round, ops);
            }
        }
    }
    for point in &mut points {
        point.iops.resize(runs.len(), 0.0);
        point.bandwidth.resize(runs.len(), 0.0);
        if point.latency.len() != runs.len() {
            point.latency.clear();
        }
    }
    points
}

/// A workload without rounds; `None` if it is unknown.
fn described(phase: &PhaseSummary) -> Option<RoundPoint> {
    let shape = phase.detail.shape?;
    Some(RoundPoint {
        phase: phase.phase.clone(),
        random: shape.random,
        read_percent: shape.read_percent,
        block: shape.block,
        in_flight: shape.iodepth.saturating_mul(shape.workers),
        ..RoundPoint::default()
    })
}

/// Adds the operations of one run. A round without them has no rate.
fn add_round(point: &mut RoundPoint, round: usize, ops: &[PhaseSummary]) {
    let sum = |rate: fn(&PhaseSummary) -> f64| -> f64 { ops.iter().map(rate).sum() };
    point.iops.resize(round, 0.0);
    point.bandwidth.resize(round, 0.0);
    point.iops.push(sum(|op| op.iops.mean));
    point.bandwidth.push(sum(|op| op.bandwidth.mean));
    let of_op = |op: &PhaseSummary| {
        let latency = op.latency.as_ref()?;
        let of_run = RunLatency {
            mean_ns: latency.mean_ns,
            max: latency.max,
        };
        Some((of_run, op.iops.mean))
    };
    let latencies: Option<Vec<_>> = ops.iter().map(of_op).collect();
    if let Some(latencies) = latencies.filter(|_| point.latency.len() == round) {
        point.latency.push(merged(&latencies));
    }
}

/// Returns the rounds of a card through a layer; `None` without workloads.
pub fn rounds(
    card: u32,
    layer: &str,
    mut points: Vec<RoundPoint>,
    rule: RoundRule<'_>,
) -> Option<Rounds> {
    let measured = points.iter().map(|point| point.bandwidth.len()).min()?;
    for point in &mut points {
        let mut watched = rule.watched.iter();
        point.watched = watched.any(|name| is_of(name, &point.phase));
    }
    let watched = points.iter().filter(|point| point.watched);
    let watched: Vec<Vec<f64>> = watched.map(|point| point.bandwidth.clone()).collect();
    let alone = rule.watched.is_empty();
    let found = common_window(&watched);
    for point in &mut points {
        // Without watched workloads, each has a window of its own.
        let rounds = if alone {
            point.bandwidth.len()
        } else {
            measured
        };
        settle(point, found.or(rounds.checked_sub(WINDOW)));
    }
    Some(Rounds {
        card,
        layer: layer.to_owned(),
        measured: measured.min(u32::MAX as usize) as u32,
        at_most: rule.at_most,
        steady: match alone {
            true => points.iter().all(ends_steady),
            false => found.is_some(),
        },
        points,
    })
}

fn ends_steady(point: &RoundPoint) -> bool {
    let first = point.bandwidth.len().checked_sub(WINDOW);
    first.is_some_and(|first| steady_in(&point.bandwidth, first))
}

/// Whether a phase belongs to a workload, whose phases have its name before theirs if it has several.
fn is_of(workload: &str, phase: &str) -> bool {
    let rest = phase.strip_prefix(workload);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Latency of several operations (or rounds), with their counts as weights.
fn merged(all: &[(RunLatency, f64)]) -> RunLatency {
    let weight: f64 = all.iter().map(|(_, weight)| weight).sum();
    let sum: f64 = all.iter().map(|(of, weight)| of.mean_ns * weight).sum();
    RunLatency {
        mean_ns: if weight > 0.0 { sum / weight } else { 0.0 },
        max: all.iter().map(|(of, _)| of.max).max().unwrap_or(Nanos(0)),
    }
}

/// Adds the measurement window, and the means in it.
fn settle(point: &mut RoundPoint, first: Option<usize>) {
    let range = match first {
        Some(first) if first + WINDOW <= point.bandwidth.len() => first..first + WINDOW,
        _ => 0..point.bandwidth.len(),
    };
    let mean = |values: &[f64]| crate::stats::mean(&values[range.clone()]).unwrap_or(0.0);
    let latency = point.latency.get(range.clone()).unwrap_or_default();
    let each: Vec<(RunLatency, f64)> = latency.iter().map(|of| (*of, 1.0)).collect();
    point.means = RoundMeans {
        iops: mean(&point.iops),
        bandwidth: mean(&point.bandwidth),
        latency: (!each.is_empty()).then(|| merged(&each)),
    };
    point.window = first.and_then(|first| window_of(&point.bandwidth, first));
}

#[cfg(test)]
mod tests;
