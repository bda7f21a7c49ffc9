//! Tests of bandwidth over time: the intervals of one worker, and of several workers on one grid.

use super::*;

fn timeline_of(run: RunRecord) -> Vec<TimelinePoint> {
    let mut timelines = summarize(&[run]).phases.remove(0).timelines;
    assert_eq!(timelines.len(), 1);
    timelines.remove(0)
}

/// Returns a run of two workers with these intervals, of which the second starts later.
fn pair(intervals: Vec<Interval>, delay: Nanos) -> RunRecord {
    let mut run = delayed(delay);
    for worker in &mut run.phases[0].workers {
        worker.intervals.clone_from(&intervals);
    }
    run
}

#[test]
fn the_timeline_of_one_worker_is_its_intervals() {
    let mut run = write_run(0, 20e6, 20);
    let times = [
        (500, 500, 10),
        (1_250, 750, 6),
        (1_250, 0, 3),
        (1_500, 250, 2),
    ];
    let of =
        |(at, length, ios)| one_mb_each(Nanos::from_millis(at), Nanos::from_millis(length), ios);
    run.phases[0].workers[0].intervals = times.map(of).into();
    // An interval without length has no rate.
    let expected = [(0.5, 20.0), (1.25, 8.0), (1.5, 8.0)];
    let points = timeline_of(run);
    assert_eq!(points.len(), expected.len(), "{points:?}");
    for (point, (at_s, iops)) in points.iter().zip(expected) {
        assert!((point.at_s - at_s).abs() < 1e-9, "{point:?}");
        assert!((point.iops - iops).abs() < 1e-9, "{point:?}");
        assert!((point.bandwidth.0 - iops * 1e6).abs() < 1e-3, "{point:?}");
    }
}

#[test]
fn the_timeline_begins_when_the_first_worker_measures() {
    for delay_ms in [0, 500, 1_000] {
        let alone = timeline_of(delayed(Nanos::from_millis(delay_ms)));
        for (common_s, ramp_s) in [(1, 0), (7, 0), (0, 3), (2, 5)] {
            let mut run = delayed(Nanos::from_millis(delay_ms));
            for job in &mut run.scenario.phases[0].jobs {
                job.timing.startdelay.0 += Nanos::from_secs(common_s).0;
                job.timing.ramp_time = Nanos::from_secs(ramp_s);
            }
            let found = timeline_of(run);
            assert_eq!(found, alone, "{delay_ms} {common_s} {ramp_s}");
        }
    }
}

/// Long intervals come from long runs, whose adjacent intervals are joined.
#[test]
fn long_intervals_are_divided_among_the_cells_they_overlap() {
    let secs = Nanos::from_secs;
    for delay_s in 0..=4 {
        // Each worker writes 10 MB/s, in five intervals of 4 s. The timeline ends with the first of them.
        let intervals = (1..=5).map(|nth| one_mb_each(secs(4 * nth), secs(4), 40));
        let points = timeline_of(pair(intervals.collect(), secs(delay_s)));
        assert_eq!(points.len(), 5, "{delay_s}");
        for (nth, point) in points.iter().enumerate() {
            let seconds_of_both = if nth == 0 { 8 - delay_s } else { 8 };
            let iops = 10.0 * seconds_of_both as f64 / 4.0;
            assert!((point.iops - iops).abs() < 1e-9, "{delay_s} {point:?}");
            let expected = iops * 1e6;
            assert!((point.bandwidth.0 - expected).abs() < 1e-3, "{point:?}");
            assert!((point.at_s - 4.0 * (nth + 1) as f64).abs() < 1e-9);
        }
    }
}

/// An end slightly after a border adds no cell, but the I/Os that completed after the border count.
#[test]
fn ios_slightly_after_the_last_border_are_in_the_last_cell() {
    let secs = Nanos::from_secs;
    let mut intervals: Vec<Interval> = (1..=9)
        .map(|nth| one_mb_each(secs(nth), secs(1), 10))
        .collect();
    let late = |ns: u64| Nanos(secs(10).0 + ns);
    intervals.push(one_mb_each(late(200), Nanos(secs(1).0 + 200), 10));
    intervals.push(one_mb_each(late(700), Nanos(500), 1));
    let points = timeline_of(pair(intervals, Nanos(0)));
    assert_eq!(points.len(), 10);
    let last = points[9];
    assert!((last.at_s - 10.000_000_7).abs() < 1e-9, "{last:?}");
    let length = last.at_s - 9.0;
    assert!((last.iops * length - 22.0).abs() < 1e-3, "{last:?}");
    assert!((last.bandwidth.0 * length - 22e6).abs() < 1e3, "{last:?}");
}
