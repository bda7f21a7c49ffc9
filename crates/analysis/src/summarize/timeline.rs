//! Bandwidth over time of one run: the intervals of its workers, summed on one grid.

use super::phases::PhaseRun;
use hakaru_model::finding::TimelinePoint;
use hakaru_model::job::Op;
use hakaru_model::record::{Interval, WorkerRecord};
use hakaru_model::units::BytesPerSec;

/// Maximum number of cells in a grid, so that a damaged record cannot use up memory.
const MAX_CELLS: f64 = 100_000.0;

/// Returns bandwidth and completions over time of one operation.
///
/// A single worker keeps its own intervals. Several are mapped to a grid as coarse as the coarsest of them; each
/// interval is distributed by its overlap with the cells. Workers with a later planned start are shifted accordingly.
/// Workers that end within one cell end at different I/Os: what the others do after the first of them has ended is left
/// out, because it would look like a drop of the speed.
pub(super) fn timeline(run: &PhaseRun<'_>, op: Op) -> Vec<TimelinePoint> {
    let workers: Vec<_> = run
        .workers(op)
        .filter(|w| !w.intervals.is_empty())
        .collect();
    let delay = |w| {
        let (startdelay, ramp) = run.delay_and_ramp(w);
        startdelay.0.saturating_add(ramp.0) as f64 / 1e9
    };
    let first = workers.iter().map(|w| delay(w)).fold(f64::MAX, f64::min);
    match workers.as_slice() {
        [] => Vec::new(),
        [one] => kept(run, one)
            .filter_map(|interval| point(interval, op))
            .collect(),
        many => {
            let pieces: Vec<Vec<WorkerInterval>> = many
                .iter()
                .map(|w| {
                    let of = |i| WorkerInterval::of(i, op, delay(w) - first);
                    kept(run, w).map(of).collect()
                })
                .collect();
            let coarsest = many
                .iter()
                .map(|w| usual_length(&w.intervals))
                .fold(0.0, f64::max);
            on_grid(&pieces, coarsest)
        }
    }
}

/// Returns the intervals of a worker without pauses of the host; the others do not describe the device.
fn kept<'a>(run: &'a PhaseRun<'_>, worker: &'a WorkerRecord) -> impl Iterator<Item = &'a Interval> {
    worker
        .intervals
        .iter()
        .filter(move |interval| !run.is_touched(worker, interval.at, interval.length))
}

fn point(interval: &Interval, op: Op) -> Option<TimelinePoint> {
    let length = interval.length.as_secs_f64();
    let done = interval.ops[op];
    (length > 0.0).then(|| TimelinePoint {
        at_s: interval.at.as_secs_f64(),
        bandwidth: BytesPerSec(done.bytes as f64 / length),
        iops: done.ios as f64 / length,
    })
}

fn usual_length(intervals: &[Interval]) -> f64 {
    let lengths: Vec<f64> = intervals.iter().map(|i| i.length.as_secs_f64()).collect();
    crate::stats::median(&lengths).unwrap_or(0.0)
}

/// I/O of one worker in one interval, in seconds since the first worker began to measure.
struct WorkerInterval {
    start: f64,
    end: f64,
    bytes: f64,
    ios: f64,
}

impl WorkerInterval {
    fn of(interval: &Interval, op: Op, delay: f64) -> WorkerInterval {
        let end = interval.at.as_secs_f64() + delay;
        let done = interval.ops[op];
        WorkerInterval {
            start: end - interval.length.as_secs_f64(),
            end,
            bytes: done.bytes as f64,
            ios: done.ios as f64,
        }
    }

    /// Returns the share of its time between two moments.
    fn share(&self, from: f64, to: f64) -> f64 {
        (self.end.min(to) - self.start.max(from)).max(0.0) / (self.end - self.start)
    }
}

/// Returns the end of the intervals of all workers, or the first end of a worker if all end within `step` seconds.
fn common_end(workers: &[Vec<WorkerInterval>], step: f64) -> f64 {
    let ends = workers.iter().filter_map(|pieces| pieces.last());
    let (first, last) = ends.fold((f64::MAX, 0.0_f64), |(first, last), piece| {
        (first.min(piece.end), last.max(piece.end))
    });
    match last - first <= step {
        true => first,
        false => last,
    }
}

/// Distributes the I/O of all workers over intervals of `step` seconds.
fn on_grid(workers: &[Vec<WorkerInterval>], step: f64) -> Vec<TimelinePoint> {
    let end = common_end(workers, step);
    // Slightly less, so that an end on a border does not add a cell.
    let cells = (end / step - 1e-6).ceil();
    if !(step > 0.0 && (1.0..=MAX_CELLS).contains(&cells)) {
        return Vec::new();
    }
    let cells = cells as usize;
    let mut sums = vec![(0.0, 0.0); cells];
    let pieces = workers.iter().flatten();
    for piece in pieces.filter(|p| p.end > p.start && p.start < end) {
        let first = ((piece.start / step).max(0.0) as usize).min(cells - 1);
        let last = ((piece.end / step) as usize).min(cells - 1);
        for (cell, sum) in sums.iter_mut().enumerate().take(last + 1).skip(first) {
            let (from, to) = (cell as f64 * step, (cell + 1) as f64 * step);
            // The last cell ends with the workers.
            let to = if cell + 1 == cells { end } else { to };
            let share = piece.share(from, to);
            sum.0 += piece.bytes * share;
            sum.1 += piece.ios * share;
        }
    }
    let cell = |(i, (bytes, ios)): (usize, (f64, f64))| {
        let from = i as f64 * step;
        let to = if i + 1 == cells { end } else { from + step };
        TimelinePoint {
            at_s: to,
            bandwidth: BytesPerSec(bytes / (to - from)),
            iops: ios / (to - from),
        }
    };
    sums.into_iter().enumerate().map(cell).collect()
}
