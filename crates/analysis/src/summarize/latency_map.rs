//! Latencies over time: the intervals of all workers and runs on one grid.

use super::latency::usual;
use super::phases::PhaseRun;
use hakaru_model::finding::{LatencyMap, LatencyMapColumn, SlowIos, SlowWhen};
use hakaru_model::job::Op;
use hakaru_model::record::{
    LATENCY_STEPS, Latency, LatencyStepCounts, MAX_LATENCY_INTERVALS, WorkerRecord,
    latency_step_start,
};
use std::collections::BTreeMap;

/// Minimum number of columns; fewer show nothing over time.
const MIN_COLUMNS: usize = 4;

/// Steps per power of ten.
const STEPS_PER_DECADE: usize = 4;

/// Fraction of the time at either end without slow I/Os, from which they are said to be in the remainder.
const QUIET_END: f64 = 0.2;

/// Returns the latencies of an operation over time.
pub(super) fn of_op(runs: &[&PhaseRun<'_>], op: Op) -> Option<LatencyMap> {
    let pieces = runs.iter().map(|run| {
        let workers = run
            .workers(op)
            .map(|worker| (worker, usual(run, worker, op)));
        pieces(run, &workers.collect::<Vec<_>>())
    });
    map(pieces.collect())
}

/// Returns the latencies of flushes over time.
pub(super) fn of_sync(runs: &[&PhaseRun<'_>]) -> Option<LatencyMap> {
    let pieces = runs.iter().map(|run| {
        let workers = run.phase.workers.iter();
        pieces(
            run,
            &workers
                .map(|worker| (worker, &worker.sync))
                .collect::<Vec<_>>(),
        )
    });
    map(pieces.collect())
}

/// Latencies of one worker in one interval, in seconds from the start of the first worker.
struct LatencyPiece<'a> {
    end: f64,
    length: f64,
    counts: &'a LatencyStepCounts,
}

/// Returns the intervals of one run, with pauses of the host, as in the percentiles.
fn pieces<'a>(
    run: &PhaseRun<'_>,
    workers: &[(&'a WorkerRecord, &'a Latency)],
) -> Vec<LatencyPiece<'a>> {
    let delay = |worker| {
        let (startdelay, ramp) = run.delay_and_ramp(worker);
        startdelay.0.saturating_add(ramp.0) as f64 / 1e9
    };
    let first = workers
        .iter()
        .map(|(worker, _)| delay(worker))
        .fold(f64::MAX, f64::min);
    let of_worker = |&(worker, latency): &(&'a WorkerRecord, &'a Latency)| {
        let shift = delay(worker) - first;
        let kept = latency.over_time.iter();
        let kept = kept.filter(|i| i.length.0 > 0);
        let piece = kept.map(|interval| LatencyPiece {
            end: interval.at.as_secs_f64() + shift,
            length: interval.length.as_secs_f64(),
            counts: &interval.counts,
        });
        piece.collect::<Vec<_>>()
    };
    workers.iter().flat_map(of_worker).collect()
}

/// Adds up the intervals of all runs on a grid as coarse as the coarsest usual interval.
fn map(runs: Vec<Vec<LatencyPiece<'_>>>) -> Option<LatencyMap> {
    let usual = |pieces: &Vec<LatencyPiece<'_>>| {
        let lengths: Vec<f64> = pieces.iter().map(|piece| piece.length).collect();
        crate::stats::median(&lengths).unwrap_or(0.0)
    };
    let all = || runs.iter().flatten();
    let end = all().map(|piece| piece.end).fold(0.0, f64::max);
    let usual = runs.iter().map(usual).fold(0.0, f64::max);
    let step = usual.max(end / MAX_LATENCY_INTERVALS as f64);
    if !(step > 0.0 && step.is_finite()) {
        return None;
    }
    let mut cells: BTreeMap<u64, LatencyStepCounts> = BTreeMap::new();
    for piece in all() {
        // An interval ends shortly after its border; a long one ends with the slow I/O that made it long.
        let inside = (piece.end - piece.length.min(step) / 2.0).max(0.0);
        cells
            .entry((inside / step) as u64)
            .or_default()
            .add(piece.counts);
    }
    let column = |(cell, counts)| LatencyMapColumn {
        from_s: cell as f64 * step,
        to_s: ((cell + 1) as f64 * step).min(end),
        counts,
    };
    let columns: Vec<LatencyMapColumn> = cells.into_iter().map(column).collect();
    let top = columns.iter().flat_map(|column| column.counts.iter());
    let top = top.map(|(latency_step, _)| latency_step).max()?;
    (columns.len() >= MIN_COLUMNS).then(|| LatencyMap {
        runs: runs.iter().filter(|pieces| !pieces.is_empty()).count() as u64,
        limit: (top + 1 < LATENCY_STEPS).then(|| latency_step_start(top + 1)),
        slow: slow(&columns, top),
        columns,
    })
}

/// Returns the I/Os that reach the highest power of ten, if that is ten times the median or more.
fn slow(columns: &[LatencyMapColumn], top: usize) -> Option<SlowIos> {
    let from = top / STEPS_PER_DECADE * STEPS_PER_DECADE;
    // The median is below the end of its step.
    if median_step(columns) + 1 + STEPS_PER_DECADE > from {
        return None;
    }
    let held = columns
        .iter()
        .filter(|column| column.counts.count_from(from) > 0);
    let held: Vec<&LatencyMapColumn> = held.collect();
    let (first, last) = (held.first()?, held.last()?);
    let end = columns.last()?.to_s;
    let when = match held.len() {
        1 => SlowWhen::At(first.from_s),
        _ if first.from_s >= QUIET_END * end => SlowWhen::After(first.from_s),
        _ if last.to_s <= (1.0 - QUIET_END) * end => SlowWhen::Before(last.to_s),
        _ if in_every_part(&held, end) => SlowWhen::Throughout,
        _ => SlowWhen::Scattered,
    };
    let counts = held.iter().map(|column| column.counts.count_from(from));
    Some(SlowIos {
        from: latency_step_start(from),
        count: counts.fold(0, u64::saturating_add),
        when,
    })
}

/// Whether some of the columns begin in every fifth of the time.
fn in_every_part(columns: &[&LatencyMapColumn], end: f64) -> bool {
    let parts = (1.0 / QUIET_END).round();
    let part = |column: &&LatencyMapColumn| (column.from_s / end * parts + 1e-9) as u64;
    let mut held: Vec<u64> = columns.iter().map(part).collect();
    held.dedup();
    held.len() as f64 >= parts
}

/// Returns the step that contains the median.
fn median_step(columns: &[LatencyMapColumn]) -> usize {
    let mut all = LatencyStepCounts::default();
    columns.iter().for_each(|column| all.add(&column.counts));
    let half = all.count() / 2;
    // The last step above which more than half of the values are.
    (0..LATENCY_STEPS)
        .rev()
        .find(|&step| all.count_from(step) > half)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Nanos;

    fn piece(end: f64, length: f64, counts: &LatencyStepCounts) -> LatencyPiece<'_> {
        LatencyPiece {
            end,
            length,
            counts,
        }
    }

    fn counts(steps: &[(usize, u64)]) -> LatencyStepCounts {
        LatencyStepCounts::of(steps.iter().copied())
    }

    /// Intervals of one second, the nth with these counts.
    fn seconds(parts: &[LatencyStepCounts]) -> Option<LatencyMap> {
        let pieces = parts.iter().enumerate();
        map(vec![
            pieces
                .map(|(nth, counts)| piece(nth as f64 + 1.001, 1.0, counts))
                .collect(),
        ])
    }

    #[test]
    fn slow_ios_are_found_with_their_time() {
        let (usual, slow) = (counts(&[(16, 900)]), counts(&[(16, 900), (28, 2), (30, 1)]));
        let at = |slow_ones: &[usize]| {
            let parts: Vec<_> = (0..20)
                .map(|nth| {
                    if slow_ones.contains(&nth) {
                        slow.clone()
                    } else {
                        usual.clone()
                    }
                })
                .collect();
            seconds(&parts).unwrap().slow
        };
        assert_eq!(at(&[]), None);
        let found = at(&[12, 15]).unwrap();
        assert_eq!((found.from.0, found.count), (1_000_000_000, 6));
        assert!(matches!(found.when, SlowWhen::After(s) if (11.9..12.1).contains(&s)));
        assert!(
            matches!(at(&[0, 7]).unwrap().when, SlowWhen::Before(s) if (7.9..8.1).contains(&s))
        );
        assert!(matches!(at(&[3]).unwrap().when, SlowWhen::At(s) if (2.9..3.1).contains(&s)));
        assert_eq!(at(&[0, 19]).unwrap().when, SlowWhen::Scattered);
        assert_eq!(at(&[0, 6, 10, 19]).unwrap().when, SlowWhen::Scattered);
        assert_eq!(at(&[0, 6, 10, 12, 19]).unwrap().when, SlowWhen::Throughout);
    }

    #[test]
    fn latencies_within_ten_times_the_median_are_not_slow() {
        let parts = vec![counts(&[(16, 10), (19, 3)]); 5];
        let found = seconds(&parts).unwrap();
        assert_eq!((found.slow, found.limit), (None, Some(Nanos(10_000_000))));
        // 1.78 ms to 3.16 ms is the step of the median: 10 ms may be less than ten times that.
        assert_eq!(
            seconds(&vec![counts(&[(17, 10), (20, 1)]); 5])
                .unwrap()
                .slow,
            None
        );
    }

    #[test]
    fn intervals_of_several_runs_are_added_in_their_time() {
        let (a, b) = (counts(&[(10, 1)]), counts(&[(12, 2)]));
        let fine: Vec<_> = (1..=20)
            .map(|nth| piece(f64::from(nth) * 0.5003, 0.5003, &a))
            .collect();
        // The I/O that ended at 8 s made an interval of 5 s.
        let coarse = [1.0, 2.0, 3.0, 8.0, 9.0, 10.0];
        let mut before = 0.0;
        let coarse = coarse.map(|end| {
            let length = end - before;
            before = end;
            piece(end, length, &b)
        });
        let found = map(vec![fine, coarse.into()]).unwrap();
        assert_eq!(found.runs, 2);
        let all: Vec<u64> = found
            .columns
            .iter()
            .map(|column| column.counts.count())
            .collect();
        assert_eq!(all, [4, 4, 4, 2, 2, 2, 2, 4, 4, 4]);
        assert!(
            found
                .columns
                .windows(2)
                .all(|pair| pair[0].to_s <= pair[1].from_s)
        );
    }

    #[test]
    fn too_few_intervals_are_no_map() {
        assert_eq!(seconds(&vec![counts(&[(3, 1)]); 3]), None);
        assert_eq!(map(Vec::new()), None);
    }
}
