//! Which phase and run a figure comes from, and its stalls, drops and bounds.

use crate::compare::{QUANTILE_RESOLUTION, RESOLUTION};
use crate::figures::{
    FigureSample, figure, figure_sample, is_brief, is_of_mix, slowest_by_extremes, slowest_segment,
};
use crate::stats::SampleMoments;
use crate::testing::suite;
use hakaru_model::finding::{
    Cliff, Estimate, Figure, PhaseSummary, Summary, TimelinePoint, WorkloadShape,
};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos, Quantile};

fn phase<'a>(summary: &'a mut Summary, name: &str) -> &'a mut PhaseSummary {
    let mut phases = summary.phases.iter_mut();
    phases.find(|phase| phase.phase == name).unwrap()
}

/// The suite with an even write of 40 MB/s, for 40 s.
fn even() -> Summary {
    let mut summary = suite(4);
    summary.phases.retain(|phase| phase.phase == "sustained");
    let write = &mut summary.phases[0];
    (write.bandwidth.mean, write.bandwidth.ci95) = (40e6, Some((39e6, 41e6)));
    let found = write.sustained.as_mut().unwrap();
    (found.min, found.max) = (BytesPerSec(30e6), BytesPerSec(50e6));
    found.falls.clear();
    summary
}

fn fall(after_s: u64, after: f64, proven: bool) -> Cliff {
    Cliff {
        at: Bytes(1 << 30),
        after_time: Nanos::from_secs(after_s),
        before: BytesPerSec(60e6),
        after: BytesPerSec(after),
        proven,
    }
}

/// Intervals of a second.
fn timeline(speeds: &[f64]) -> Vec<TimelinePoint> {
    let point = |(at_s, &speed): (u32, &f64)| TimelinePoint {
        at_s: f64::from(at_s),
        bandwidth: BytesPerSec(speed),
        iops: 0.0,
    };
    (1..).zip(speeds).map(point).collect()
}

/// A stall is an interval below a quarter of the mean, unless the speed dropped for good.
#[test]
fn a_write_stalls_below_a_quarter_of_its_mean() {
    let even = even();
    for (min, stalls) in [
        (0.0, Some(0.0)),
        (8e6, Some(8.0)),
        (9.999e6, Some(9.999)),
        (10e6, None),
        (10.001e6, None),
        (39e6, None),
    ] {
        let mut summary = even.clone();
        let found = summary.phases[0].sustained.as_mut().unwrap();
        found.min = BytesPerSec(min);
        let write = figure(&summary, Figure::SequentialWrite).unwrap();
        assert_eq!((write.value, write.stalls), (40.0, stalls), "{min}");
        assert_eq!(write.ci95, Some((39.0, 41.0)));
        let found = summary.phases[0].sustained.as_mut().unwrap();
        found.falls = vec![fall(10, 20e6, true)];
        let write = figure(&summary, Figure::SequentialWrite).unwrap();
        assert_eq!(write.stalls, None, "{min}");
        summary.phases[0].sustained = None;
        let write = figure(&summary, Figure::SequentialWrite).unwrap();
        assert_eq!((write.stalls, write.runs), (None, 4));
    }
}

/// Rates of small blocks have no stalls, whatever the slowest interval is.
#[test]
fn random_writes_have_no_stalls() {
    let mut summary = suite(4);
    let mut sustained = even().phases[0].sustained.clone();
    sustained.as_mut().unwrap().min = BytesPerSec(0.0);
    phase(&mut summary, "rand-write").sustained = sustained;
    let write = figure(&summary, Figure::RandomWrite).unwrap();
    assert_eq!((write.stalls, write.value.round()), (None, 600.0));
}

/// The speed after the last proven drop is sustained; without one, the mean of the whole write.
#[test]
fn sustained_speed_is_that_after_the_last_proven_drop() {
    let mut summary = even();
    let sustained = |summary: &Summary| {
        let found = figure(summary, Figure::SustainedWrite).unwrap();
        (found.value, found.ci95)
    };
    let whole = (40.0, Some((39.0, 41.0)));
    assert_eq!(sustained(&summary), whole);
    let all = [
        fall(10, 30e6, true),
        fall(20, 12e6, true),
        fall(38, 5e6, false),
    ];
    for (falls, expected) in [
        (&all[..1], (30.0, None)),
        (&all[..2], (12.0, None)),
        (&all[..], (12.0, None)),
        (&all[2..], whole),
    ] {
        summary.phases[0].sustained.as_mut().unwrap().falls = falls.to_vec();
        assert_eq!(sustained(&summary), expected);
    }
}

/// The slowest second is at most the slowest interval beside the fastest, and at most the mean.
#[test]
fn extremes_bound_the_slowest_second() {
    let mut summary = even();
    for (min, max, mean, bounds) in [
        (10.0, 50.0, 40.0, Some((10.0, 30.0))),
        (10.0, 50.0, 25.0, Some((10.0, 25.0))),
        (20.0, 20.0, 20.0, Some((20.0, 20.0))),
        (f64::NAN, 50.0, 40.0, None),
        (10.0, f64::INFINITY, 40.0, None),
    ] {
        let write = &mut summary.phases[0];
        write.bandwidth.mean = mean * 1e6;
        let found = write.sustained.as_mut().unwrap();
        (found.min, found.max) = (BytesPerSec(min * 1e6), BytesPerSec(max * 1e6));
        let found = slowest_by_extremes(&summary);
        assert_eq!(found.as_ref().and_then(|it| it.bounds), bounds);
        assert!(found.is_none_or(|it| (it.value, it.ci95) == (min, None)));
    }
    assert_eq!(slowest_by_extremes(&crate::summarize(&[])), None);
}

fn spread(mean: f64) -> Estimate {
    crate::estimate(&[mean - 1e6, mean, mean + 1e6]).unwrap()
}

/// Value and interval of the percentile are those of the same percentile, in milliseconds.
#[test]
fn percentiles_have_the_interval_of_their_own_runs() {
    let mut summary = suite(4);
    let by_run = |base: f64| {
        [Quantile::P99, Quantile::P999, Quantile::P95]
            .into_iter()
            .zip([base, 2.0 * base, 3.0 * base])
            .map(|(q, mean)| (q, spread(mean)))
            .collect::<Vec<_>>()
    };
    let merged = |base: u64| {
        let of = [
            (Quantile::P95, base),
            (Quantile::P99, 2 * base),
            (Quantile::P999, 3 * base),
        ];
        of.map(|(q, ms)| (q, Nanos::from_millis(ms))).to_vec()
    };
    let durable = phase(&mut summary, "durable");
    durable.detail.sync_by_run = by_run(50e6);
    durable.sync.as_mut().unwrap().quantiles = merged(7);
    let reads = phase(&mut summary, "rand-read");
    reads.detail.latency_by_run = by_run(80e6);
    reads.latency.as_mut().unwrap().quantiles = merged(11);
    for (wanted, name, value, mean) in [
        (Figure::SyncP99, "durable", 14.0, 50.0),
        (Figure::SyncP999, "durable", 21.0, 100.0),
        (Figure::RandomReadP99, "rand-read", 22.0, 80.0),
    ] {
        let found = figure(&summary, wanted).unwrap();
        assert_eq!((found.phase.as_str(), found.value), (name, value));
        // Three runs 1 ms apart: mean ± 4.3027 · 1 / √3.
        let (low, high) = found.ci95.unwrap();
        assert!((low - (mean - 2.484_138)).abs() < 1e-5, "{wanted:?} {low}");
        assert!(
            (high - (mean + 2.484_138)).abs() < 1e-5,
            "{wanted:?} {high}"
        );
        let sample = figure_sample(&summary, wanted);
        let values = [mean - 1.0, mean, mean + 1.0];
        let close = sample.values.iter().zip(values);
        assert!(sample.values.len() == 3 && close.into_iter().all(|(a, b)| (a - b).abs() < 1e-9));
        assert_eq!(sample.resolution, QUANTILE_RESOLUTION);
    }
    phase(&mut summary, "durable").detail.sync_by_run.clear();
    assert_eq!(figure(&summary, Figure::SyncP99).unwrap().ci95, None);
    assert!(figure_sample(&summary, Figure::SyncP99).values.is_empty());
}

/// More is better in the result: rates are divided by the limit, latencies divide it.
#[test]
fn a_sample_is_related_to_a_limit_so_that_more_is_better() {
    let stated = SampleMoments::new(5, 40.0, 4.0).unwrap().rounded(0.5, 0.0);
    let sample = FigureSample {
        values: vec![40.0, 10.0],
        stated: Some(stated),
        resolution: 0.25,
    };
    let rate = sample.clone().relative_to(20.0, Figure::SequentialWrite);
    assert_eq!((rate.values, rate.resolution), (vec![2.0, 0.5], 0.25));
    let scaled = rate.stated.unwrap();
    let scaled = [scaled.mean, scaled.deviation, scaled.rounding].map(|v| (v * 1e9).round() / 1e9);
    assert_eq!(scaled, [2.0, 0.2, 0.025]);
    let latency = sample.relative_to(20.0, Figure::SyncP99);
    assert_eq!((latency.values, latency.resolution), (vec![0.5, 2.0], 0.25));
    assert_eq!(latency.stated, None);
}

/// The sample of a sustained speed has the mean of each run after its last proven drop.
#[test]
fn samples_of_a_long_write_come_from_its_timelines() {
    let mut summary = even();
    let write = &mut summary.phases[0];
    write.bandwidth.values = vec![39e6, 41e6];
    write.timelines = vec![
        timeline(&[60e6, 60e6, 20e6, 30e6]),
        timeline(&[60e6, 60e6, 10e6, 12e6]),
        timeline(&[60e6]),
    ];
    let values = |summary: &Summary, wanted| {
        let sample = figure_sample(summary, wanted);
        assert_eq!(sample.resolution, RESOLUTION);
        sample
            .values
            .iter()
            .map(|v| (v * 1e6).round() / 1e6)
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&summary, Figure::SlowestWrite), [20.0, 10.0, 60.0]);
    assert_eq!(figure(&summary, Figure::SlowestWrite).unwrap().value, 10.0);
    assert_eq!(values(&summary, Figure::SustainedWrite), [39.0, 41.0]);
    let falls = vec![
        fall(1, 30e6, true),
        fall(2, 20e6, true),
        fall(3, 5e6, false),
    ];
    summary.phases[0].sustained.as_mut().unwrap().falls = falls;
    assert_eq!(values(&summary, Figure::SustainedWrite), [25.0, 11.0]);
    summary.phases.clear();
    assert_eq!(
        figure_sample(&summary, Figure::SustainedWrite),
        FigureSample::default()
    );
}

/// Whether a phase of this shape has the figure of sequential or of random reads.
#[test]
fn figures_need_fitting_blocks_and_no_syncs() {
    let mut summary = suite(2);
    summary.phases.retain(|phase| phase.phase == "seq-read");
    let base = summary.phases[0].clone();
    let shape = base.detail.shape.unwrap();
    let of = |random, kib: u64, sync_every, sync_open| WorkloadShape {
        random,
        block: Bytes(kib << 10),
        sync_every,
        sync_open,
        ..shape
    };
    for (shape, sequential, random) in [
        (of(false, 256, 0, false), true, false),
        (of(false, 255, 0, false), false, false),
        (of(false, 4096, 0, false), true, false),
        (of(false, 1024, 1, false), false, false),
        (of(false, 1024, 0, true), false, false),
        (of(true, 16, 0, false), false, true),
        (of(true, 17, 0, false), false, false),
        (of(true, 4, 0, false), false, true),
        (of(true, 4, 1, false), false, false),
        (of(true, 4, 0, true), false, false),
    ] {
        summary.phases[0].detail.shape = Some(shape);
        let has = |wanted| figure(&summary, wanted).is_some();
        assert_eq!(has(Figure::SequentialRead), sequential, "{shape:?}");
        assert_eq!(has(Figure::RandomRead), random, "{shape:?}");
        assert!(!has(Figure::SequentialWrite) && !has(Figure::RandomWrite));
    }
}

/// Unmixed phases come first, then those with fewer I/Os in flight, then the first.
#[test]
fn a_figure_comes_from_the_least_loaded_unmixed_phase() {
    let mut summary = suite(2);
    let base = phase(&mut summary, "rand-read").clone();
    let of = |name: &str, read_percent, iodepth, workers| {
        let mut phase = base.clone();
        name.clone_into(&mut phase.phase);
        phase.detail.shape = base.detail.shape.map(|shape| WorkloadShape {
            read_percent,
            iodepth,
            workers,
            ..shape
        });
        phase
    };
    for (phases, expected) in [
        (vec![of("a", 70, 1, 1), of("b", 100, 32, 1)], "b"),
        (vec![of("a", 100, 4, 1), of("b", 100, 2, 1)], "b"),
        (vec![of("a", 100, 2, 3), of("b", 100, 5, 1)], "b"),
        (vec![of("a", 100, 1, 4), of("b", 100, 2, 2)], "a"),
        (vec![of("a", 70, 2, 1), of("b", 30, 1, 1)], "b"),
    ] {
        summary.phases = phases;
        let found = figure(&summary, Figure::RandomRead).unwrap();
        assert_eq!(found.phase, expected);
        let is_mixed = expected == "b" && summary.phases[1].detail.shape.unwrap().is_mixed();
        assert_eq!(is_of_mix(&summary, Figure::RandomRead), is_mixed);
        assert!(!is_of_mix(&summary, Figure::SequentialRead));
    }
}

#[test]
fn a_figure_is_brief_if_measured_for_less_than_ten_seconds() {
    let mut summary = suite(2);
    for (millis, expected) in [(0, false), (1, true), (9_999, true), (10_000, false)] {
        phase(&mut summary, "rand-read").detail.measured = Nanos::from_millis(millis);
        assert_eq!(
            is_brief(&summary, Figure::RandomReadP99),
            expected,
            "{millis}"
        );
        assert!(!is_brief(&summary, Figure::SequentialRead));
    }
}

/// Only a sequential write of large blocks without reads and syncs shows how long a card sustains its speed.
#[test]
fn sustained_figures_need_a_plain_sequential_write() {
    let mut summary = even();
    let shape = summary.phases[0].detail.shape.unwrap();
    assert_eq!((shape.random, shape.read_percent), (false, 0));
    let of = |random, kib: u64, read_percent, sync_every, sync_open| WorkloadShape {
        random,
        block: Bytes(kib << 10),
        read_percent,
        sync_every,
        sync_open,
        ..shape
    };
    for (shape, expected) in [
        (of(false, 1024, 0, 0, false), true),
        (of(false, 256, 0, 0, false), true),
        (of(false, 255, 0, 0, false), false),
        (of(true, 1024, 0, 0, false), false),
        (of(true, 4, 0, 0, false), false),
        (of(false, 1024, 30, 0, false), false),
        (of(false, 1024, 0, 1, false), false),
        (of(false, 1024, 0, 0, true), false),
        (of(true, 4, 30, 1, true), false),
    ] {
        summary.phases[0].detail.shape = Some(shape);
        for wanted in [Figure::SustainedWrite, Figure::SlowestWrite] {
            let found = figure(&summary, wanted);
            assert_eq!(found.is_some(), expected, "{wanted:?} {shape:?}");
        }
        assert_eq!(slowest_by_extremes(&summary).is_some(), expected);
    }
}

/// Intervals by their lengths in seconds and speeds.
fn intervals(steps: &[(f64, f64)]) -> Vec<TimelinePoint> {
    let mut at_s = 0.0;
    let point = |&(length, speed): &(f64, f64)| {
        at_s += length;
        TimelinePoint {
            at_s,
            bandwidth: BytesPerSec(speed),
            iops: 0.0,
        }
    };
    steps.iter().map(point).collect()
}

/// A segment consists of whole intervals and lasts a second or longer; its speed is bytes by time.
#[test]
fn the_slowest_segment_has_the_mean_of_its_time() {
    for (steps, expected) in [
        (&[(1.5, 12.0)][..], Some(12.0)),
        (&[(0.75, 12.0)], None),
        (&[(0.75, 10.0), (0.75, 20.0)], Some(15.0)),
        (&[(0.75, 10.0), (0.25, 30.0)], Some(15.0)),
        // A long interval is a segment of its own.
        (&[(0.5, 40.0), (0.5, 40.0), (1.5, 20.0)], Some(20.0)),
        (&[(3.0, 7.0), (0.5, 1.0)], Some(21.5 / 3.5)),
        (&[(0.25, 40.0); 4], Some(40.0)),
        (&[(0.25, 40.0); 3], None),
        // Bytes in no time are no speed.
        (
            &[(0.5, 40.0), (0.0, f64::INFINITY), (0.5, 20.0), (0.5, 30.0)],
            Some(25.0),
        ),
    ] {
        let found = slowest_segment(&intervals(steps));
        let is_close = match (found, expected) {
            (Some(found), Some(expected)) => f64::abs(found - expected) < 1e-9,
            (found, expected) => found == expected,
        };
        assert!(is_close, "{steps:?}: {found:?}, expected {expected:?}");
    }
}

/// A file may state any times. Sums of large ones are rounded by more than a second, so that more than a whole segment
/// seems to remain after its last interval.
#[test]
fn a_timeline_of_any_times_has_a_finite_speed_or_none() {
    let sizes = [0.0, 1e-300, 9.0, 1e9, 1e17, 3e17, 1e300, f64::MAX];
    for (a, b) in sizes.iter().flat_map(|&a| sizes.map(|b| (a, b))) {
        for (c, speed) in sizes
            .iter()
            .flat_map(|&c| [0.0, 40e6].map(|speed| (c, speed)))
        {
            let points = [a, b, c].map(|at_s| TimelinePoint {
                at_s,
                bandwidth: BytesPerSec(speed),
                iops: 0.0,
            });
            let found = slowest_segment(&points);
            assert!(found.is_none_or(f64::is_finite), "{a} {b} {c}: {found:?}");
        }
    }
}
