//! Tests of figures over time: bandwidth and latency on one grid.

mod grid;
mod latency_columns;

use super::*;
use hakaru_model::finding::LatencyMap;
use hakaru_model::record::{LATENCY_STEPS, LatencyInterval, LatencyStepCounts, latency_step_start};

/// An interval without length has no share of any time, and must not divide by its length.
#[test]
fn an_interval_without_length_adds_nothing_to_the_timeline() {
    let mut run = write_run(0, 20e6, 20);
    let mut second = run.phases[0].workers[0].clone();
    second.intervals[5].length = Nanos(0);
    run.phases[0].workers.push(second);
    let summary = summarize(&[run]);
    let points = &summary.phases[0].timelines[0];
    assert_eq!(points.len(), 40);
    for (nth, point) in points.iter().enumerate() {
        let workers = if nth == 5 { 1.0 } else { 2.0 };
        // Each worker moves 10 MB in half a second, which the helper counts as 9 I/Os.
        let (bandwidth, iops) = (workers * 20e6, workers * 18.0);
        assert!((point.bandwidth.0 - bandwidth).abs() < 1.0, "{point:?}");
        assert!((point.iops - iops).abs() < 1e-6, "{point:?}");
        assert!(
            (point.at_s - 0.5 * (nth + 1) as f64).abs() < 1e-9,
            "{point:?}"
        );
    }
}

/// Returns intervals of half a second, each with one latency in a step.
fn intervals(steps: &[usize]) -> Vec<LatencyInterval> {
    let interval = |(&step, nth): (&usize, u64)| LatencyInterval {
        at: Nanos::from_millis(500 * nth),
        length: Nanos::from_millis(500),
        counts: LatencyStepCounts::of([(step, nth)]),
    };
    steps.iter().zip(1..).map(interval).collect()
}

fn with_latencies(steps: &[usize]) -> RunRecord {
    let mut run = write_run(0, 20e6, 20);
    let worker = &mut run.phases[0].workers[0];
    worker.ops.write.clat.over_time = intervals(steps);
    run
}

fn latency_map(runs: &[RunRecord]) -> Option<LatencyMap> {
    summarize(runs).phases.remove(0).detail.latency_map
}

#[test]
fn columns_of_latencies_have_the_length_of_the_intervals() {
    let found = latency_map(&[with_latencies(&[10; 6])]).unwrap();
    assert_eq!((found.runs, found.columns.len()), (1, 6));
    for (column, nth) in found.columns.iter().zip(1_u32..) {
        let (from, to) = (f64::from(nth - 1) * 0.5, f64::from(nth) * 0.5);
        assert!((column.from_s - from).abs() < 1e-9, "{column:?}");
        assert!((column.to_s - to).abs() < 1e-9, "{column:?}");
        assert_eq!(column.counts.count(), u64::from(nth));
    }
}

#[test]
fn latencies_of_runs_add_up_and_runs_without_them_do_not_count() {
    let runs = [
        with_latencies(&[10; 6]),
        with_latencies(&[12; 8]),
        write_run(2, 20e6, 20),
    ];
    let found = latency_map(&runs).unwrap();
    assert_eq!(found.runs, 2);
    let counts = found.columns.iter().map(|column| column.counts.count());
    assert_eq!(counts.collect::<Vec<_>>(), [2, 4, 6, 8, 10, 12, 7, 8]);
    let columns = |count: usize| latency_map(&[with_latencies(&vec![10; count])]).is_some();
    assert_eq!([0, 3, 4].map(columns), [false, false, true]);
}

#[test]
fn the_limit_of_latencies_is_the_end_of_the_highest_step() {
    let last = LATENCY_STEPS - 1;
    for top in [0, 1, 10, 20, last - 1, last] {
        let found = latency_map(&[with_latencies(&[0, top, 0, 0])]).unwrap();
        let end = (top < last).then(|| latency_step_start(top + 1));
        assert_eq!(found.limit, end, "{top}");
    }
}

#[test]
fn flushes_have_latencies_over_time_of_their_own() {
    let mut run = with_latencies(&[10; 6]);
    run.phases[0].workers[0].sync.over_time = intervals(&[20; 5]);
    let detail = summarize(&[run]).phases.remove(0).detail;
    let (map, syncs) = (detail.latency_map.unwrap(), detail.sync_map.unwrap());
    assert_eq!((map.columns.len(), syncs.columns.len()), (6, 5));
    assert_eq!(map.limit, Some(latency_step_start(11)));
    assert_eq!(syncs.limit, Some(latency_step_start(21)));
}

/// Returns a run of two workers, of which the second starts later.
fn delayed(delay: Nanos) -> RunRecord {
    let mut run = with_latencies(&[10; 8]);
    let mut job = run.scenario.phases[0].jobs[0].clone();
    job.timing.startdelay = delay;
    run.scenario.phases[0].jobs.push(job);
    let mut second = run.phases[0].workers[0].clone();
    second.job = 1;
    run.phases[0].workers.push(second);
    run
}

/// Workers that end within one interval of each other end the timeline together.
#[test]
fn workers_that_start_later_are_shifted_in_the_timeline() {
    for (delay_ms, alone_at_start, cells, alone_at_end) in
        [(0, 0, 40, 0), (500, 1, 40, 0), (1_000, 2, 42, 2)]
    {
        let run = delayed(Nanos::from_millis(delay_ms));
        let points = summarize(&[run]).phases[0].timelines[0].clone();
        assert_eq!(points.len(), cells, "{delay_ms}");
        for (nth, point) in points.iter().enumerate() {
            let is_alone = nth < alone_at_start || nth >= cells - alone_at_end;
            let expected = if is_alone { 20e6 } else { 40e6 };
            assert!(
                (point.bandwidth.0 - expected).abs() < 1.0,
                "{nth} {point:?}"
            );
        }
    }
}

#[test]
fn workers_that_start_later_are_shifted_in_the_map() {
    let counts = |delay_ms: u64| -> Vec<u64> {
        let found = latency_map(&[delayed(Nanos::from_millis(delay_ms))]).unwrap();
        let columns = found.columns.iter();
        columns.map(|column| column.counts.count()).collect()
    };
    assert_eq!(counts(0), [2, 4, 6, 8, 10, 12, 14, 16]);
    assert_eq!(counts(500), [1, 3, 5, 7, 9, 11, 13, 15, 8]);
    assert_eq!(counts(1_000), [1, 2, 4, 6, 8, 10, 12, 14, 7, 8]);
}
