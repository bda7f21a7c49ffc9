//! Latencies of many workers and runs, merged before percentiles are computed.

use super::phases::PhaseRun;
use crate::estimate::estimate;
use hakaru_model::finding::{Estimate, LatencySummary};
use hakaru_model::histogram::upper_edge;
use hakaru_model::job::Op;
use hakaru_model::record::{Latency, WorkerRecord};
use hakaru_model::reported::Percentile;
use hakaru_model::units::{Nanos, Quantile};
use std::borrow::Cow;

/// Usual percentiles, in percent; those that a job requests are added.
pub const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// Percentiles computed for each run, so that runs can be compared.
const BY_RUN: [f64; 4] = [50.0, 95.0, 99.0, 99.9];

/// Distance of the points of a chart's curve, as a fraction of the distribution.
const CURVE_STEP: f64 = 0.01;
/// In either tail, the relative decrease of the remaining fraction per point, so that a logarithmic axis is as dense.
const CURVE_TAIL: f64 = 0.2;

/// Latencies of one operation: all runs merged, and some percentiles of each run.
#[derive(Default)]
pub(super) struct OpLatencies {
    all: Latency,
    /// One value per run for each of [`BY_RUN`]; `None` if a run had too few samples.
    by_run: [Option<Vec<f64>>; BY_RUN.len()],
    wanted: Vec<Quantile>,
    /// Percentiles printed by another program, if there is one run of one worker without a histogram. Percentiles of
    /// several workers or runs cannot be merged.
    printed: Vec<(Quantile, Nanos)>,
}

/// Latency of one worker, and its percentiles if only these are known.
type LatencyPercentiles<'a> = (&'a Latency, &'a [Percentile]);

impl OpLatencies {
    pub(super) fn of(runs: &[&PhaseRun<'_>], op: Op) -> OpLatencies {
        OpLatencies::gather(runs, wanted(runs, op), |run| {
            run.workers(op)
                .map(|w| (usual(run, w, op), pick_of(run, w, op)))
                .collect()
        })
    }

    pub(super) fn of_sync(runs: &[&PhaseRun<'_>]) -> OpLatencies {
        OpLatencies::gather(runs, wanted(runs, Op::Write), |run| {
            let printed = |w| run.report(w).map_or(&[][..], |report| &report.sync);
            run.phase
                .workers
                .iter()
                .map(|w| (&w.sync, printed(w)))
                .collect()
        })
    }

    /// Merges run by run, so that thousands of runs need the memory of only two histograms.
    fn gather<'a>(
        runs: &[&PhaseRun<'a>],
        wanted: Vec<Quantile>,
        pick: impl Fn(&PhaseRun<'a>) -> Vec<LatencyPercentiles<'a>>,
    ) -> OpLatencies {
        let mut all = Latency::default();
        let mut printed_once = Vec::new();
        let mut by_run = std::array::from_fn(|_| Some(Vec::with_capacity(runs.len())));
        for run in runs {
            let picked = pick(run);
            let printed = printed_of(&picked);
            let workers: Vec<&Latency> = picked.iter().map(|(latency, _)| *latency).collect();
            let one = match workers.as_slice() {
                [one] => Cow::Borrowed(*one),
                many => Cow::Owned(merged(many)),
            };
            all.merge(&one);
            if runs.len() == 1 {
                printed_once = printed.iter().map(|p| (p.share, p.value)).collect();
            }
            for (list, value) in by_run.iter_mut().zip(values_of_run(&one, printed)) {
                match (list.as_mut(), value) {
                    (Some(list), Some(value)) => list.push(value.0 as f64),
                    _ => *list = None,
                }
            }
        }
        OpLatencies {
            all,
            by_run,
            wanted,
            printed: printed_once,
        }
    }

    /// Returns the latency of all runs together; `None` if nothing was timed.
    pub(super) fn summary(&self) -> Option<LatencySummary> {
        let stat = self.all.stat;
        let values = values_at(&self.all, &self.wanted);
        Some(LatencySummary {
            count: stat.count,
            min: Nanos(stat.min),
            max: Nanos(stat.max),
            mean_ns: stat.mean()?,
            deviation_ns: stat.deviation()?,
            quantiles: match self.printed.as_slice() {
                [] => self
                    .wanted
                    .iter()
                    .zip(values)
                    .filter_map(|(&q, value)| Some((q, value?)))
                    .collect(),
                printed => printed
                    .iter()
                    .copied()
                    .filter(|(q, _)| q.has_enough(stat.count))
                    .collect(),
            },
            curve: curve(&self.all),
        })
    }

    /// Returns the percentiles with one value per run, if every run has enough samples.
    pub(super) fn by_run(&self) -> Vec<(Quantile, Estimate)> {
        let of =
            |(q, values): (Quantile, &Option<Vec<f64>>)| Some((q, estimate(values.as_ref()?)?));
        by_run_quantiles()
            .into_iter()
            .zip(&self.by_run)
            .filter_map(of)
            .collect()
    }
}

/// Returns the completion latency, or in an open loop the latency from the scheduled start, so that a slow device
/// cannot hide delays ("coordinated omission"). Imports of programs that print only total latency have no other
/// latency.
pub(super) fn usual<'a>(run: &PhaseRun<'a>, worker: &'a WorkerRecord, op: Op) -> &'a Latency {
    let record = &worker.ops[op];
    let intended = run.is_open_loop(worker, op) && record.lat.stat.count > 0;
    if intended || record.clat.stat.count == 0 {
        &record.lat
    } else {
        &record.clat
    }
}

/// Returns the printed percentiles of the latency that [`usual`] selects.
fn pick_of<'a>(run: &PhaseRun<'a>, worker: &WorkerRecord, op: Op) -> &'a [Percentile] {
    let Some(report) = run.report(worker).map(|report| &report.ops[op]) else {
        return &[];
    };
    if worker.ops[op].clat.stat.count > 0 {
        &report.clat
    } else {
        &report.lat
    }
}

/// Returns the printed percentiles, if there is one worker without a histogram.
fn printed_of<'a>(picked: &[LatencyPercentiles<'a>]) -> &'a [Percentile] {
    match picked {
        [(latency, printed)] if latency.histogram.is_none() => printed,
        _ => &[],
    }
}

/// Returns the percentiles of one run, from its histogram or as printed; `None` for those with too few samples.
fn values_of_run(latency: &Latency, printed: &[Percentile]) -> Vec<Option<Nanos>> {
    let quantiles = by_run_quantiles();
    if printed.is_empty() {
        return values_at(latency, &quantiles);
    }
    let enough = |q: &Quantile| q.has_enough(latency.stat.count);
    let value = |q: &Quantile| value_printed(printed, *q).filter(|_| enough(q));
    quantiles.iter().map(value).collect()
}

/// Returns a printed percentile.
fn value_printed(printed: &[Percentile], share: Quantile) -> Option<Nanos> {
    printed.iter().find(|p| p.share == share).map(|p| p.value)
}

fn by_run_quantiles() -> Vec<Quantile> {
    BY_RUN
        .into_iter()
        .filter_map(|percent| Quantile::new(percent / 100.0).ok())
        .collect()
}

fn merged(latencies: &[&Latency]) -> Latency {
    latencies.iter().fold(Latency::default(), |mut all, one| {
        all.merge(one);
        all
    })
}

/// Returns the usual percentiles and those requested by the job, in ascending order.
fn wanted(runs: &[&PhaseRun<'_>], op: Op) -> Vec<Quantile> {
    let usual = PERCENTILES
        .into_iter()
        .filter_map(|p| Quantile::new(p / 100.0).ok());
    let own = runs
        .iter()
        .flat_map(|run| run.jobs_doing(op))
        .flat_map(|(_, job)| job.measure.percentiles.iter().copied());
    let mut all: Vec<Quantile> = usual.chain(own).collect();
    all.sort_by(|a, b| a.share().total_cmp(&b.share()));
    all.dedup();
    all
}

/// Returns percentiles in ascending order, in one pass; `None` for those with too few samples. They never exceed the
/// largest value, which is known exactly. Type 1 of Hyndman and Fan (1996), as in [`Histogram::value_at`].
///
/// [`Histogram::value_at`]: hakaru_model::histogram::Histogram::value_at
fn values_at(latency: &Latency, quantiles: &[Quantile]) -> Vec<Option<Nanos>> {
    let mut found = vec![None; quantiles.len()];
    let Some(histogram) = &latency.histogram else {
        return found;
    };
    let total = histogram.count();
    let rank = |q: &Quantile| ((total as f64 * q.share()).ceil() as u64).clamp(1, total.max(1));
    let mut open = quantiles.iter().zip(&mut found).peekable();
    let mut seen = 0;
    for (index, count) in histogram.buckets() {
        seen += count;
        while let Some((q, value)) = open.next_if(|(q, _)| rank(q) <= seen) {
            let edge = Nanos(
                upper_edge(index)
                    .min(latency.stat.max)
                    .max(latency.stat.min),
            );
            *value = q.has_enough(total).then_some(edge);
        }
    }
    found
}

/// Returns the distribution as `(fraction of samples up to the value, value)`, thinned out for a chart.
fn curve(latency: &Latency) -> Vec<(f64, Nanos)> {
    let Some(histogram) = &latency.histogram else {
        return Vec::new();
    };
    let total = histogram.count();
    let mut points: Vec<(f64, Nanos)> = Vec::new();
    let (mut seen, mut drawn) = (0, 0.0);
    for (index, count) in histogram.buckets() {
        seen += count;
        let share = seen as f64 / total as f64;
        let tail = share.min(1.0 - drawn);
        if points.is_empty() || share - drawn >= CURVE_STEP.min(CURVE_TAIL * tail) || seen == total
        {
            points.push((
                share,
                Nanos(
                    upper_edge(index)
                        .min(latency.stat.max)
                        .max(latency.stat.min),
                ),
            ));
            drawn = share;
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::rng::Rng;

    #[test]
    fn sample_sizes_are_those_of_the_rule() {
        for (share, least) in [
            (0.5, 6),
            (0.9, 36),
            (0.99, 368),
            (0.01, 368),
            (0.999, 3_688),
            (0.9999, 36_887),
        ] {
            let q = Quantile::new(share).unwrap();
            assert!(q.has_enough(least) && !q.has_enough(least - 1), "{share}");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_histogram() {
        let mut rng = Rng::new(6);
        let mut latency = Latency::with_histogram();
        (0..50_000).for_each(|i| latency.record(Nanos(rng.below(1 << (10 + i % 20)))));
        let quantiles: Vec<Quantile> = PERCENTILES
            .iter()
            .map(|p| Quantile::new(p / 100.0).unwrap())
            .collect();
        let histogram = latency.histogram.as_ref().unwrap();
        for (q, value) in quantiles.iter().zip(values_at(&latency, &quantiles)) {
            assert_eq!(
                value.unwrap().0,
                histogram.value_at(*q).unwrap().0.min(latency.stat.max),
                "{q:?}"
            );
        }
    }

    #[test]
    fn curves_are_dense_in_the_tail_and_short() {
        let mut rng = Rng::new(5);
        let mut latency = Latency::with_histogram();
        for _ in 0..300_000 {
            latency.record(Nanos((2e5 * (1.0 - rng.unit()).powf(-0.7)) as u64));
        }
        let curve = curve(&latency);
        assert!(curve.len() <= 250, "{}", curve.len());
        assert!(curve.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 < w[1].1));
        assert_eq!(curve.last().unwrap(), &(1.0, Nanos(latency.stat.max)));
        assert!(curve.iter().filter(|p| p.0 > 0.999).count() >= 10);
    }
}
