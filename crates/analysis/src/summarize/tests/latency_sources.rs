//! Tests of which latencies and percentiles a summary takes, and how those of several workers are merged.

use super::*;
use hakaru_model::finding::LatencySummary;
use hakaru_model::histogram::Histogram;
use hakaru_model::record::{Latency, Samples};
use hakaru_model::reported::Percentile;

fn latency_of(run: RunRecord) -> LatencySummary {
    summarize(&[run]).phases.remove(0).latency.unwrap()
}

/// Returns so many latencies of one value.
fn constant(value: Nanos, count: u64) -> Latency {
    let mut histogram = Histogram::new();
    histogram.record_n(value, count);
    let (one, n) = (u128::from(value.0), u128::from(count));
    Latency {
        stat: Samples {
            count,
            min: value.0,
            max: value.0,
            sum: one * n,
            sum_sq: one * one * n,
        },
        histogram: Some(histogram),
        over_time: Vec::new(),
    }
}

#[test]
fn open_loops_without_total_latency_show_completion_latency() {
    let mut run = write_run(0, 30e6, 20);
    let closed = latency_of(run.clone());
    let rate = &mut run.scenario.phases[0].jobs[0].rate;
    (rate.poisson, rate.iops.write) = (true, Some(1000));
    let open = summarize(&[run.clone()]).phases.remove(0);
    assert!(open.detail.open_loop);
    assert_eq!(open.latency.as_ref(), Some(&closed));
    assert_eq!(open.detail.latency_by_run[0].0, Quantile::MEDIAN);
    // With one total latency, it is that from the scheduled start.
    run.phases[0].workers[0].ops.write.lat = constant(Nanos::from_millis(700), 1);
    let both = latency_of(run);
    assert_eq!((both.count, both.max), (1, Nanos::from_millis(700)));
}

/// Returns an imported run with a printed 99th percentile of completion latency and of total latency.
fn printed(clat: Option<Nanos>, lat: Option<Nanos>) -> RunRecord {
    let mut run = imported(None);
    let write = &mut run.phases[0].workers[0].ops.write;
    let known = std::mem::take(&mut write.clat);
    let if_printed = |value: Option<Nanos>| value.map(|_| known.clone()).unwrap_or_default();
    (write.clat, write.lat) = (if_printed(clat), if_printed(lat));
    let Origin::Imported { reported, .. } = &mut run.origin else {
        panic!("it was imported")
    };
    let share = Quantile::P99;
    let percentile = |value: Option<Nanos>| value.map(|value| Percentile { share, value });
    let report = &mut reported.workers[0].ops.write;
    report.clat = percentile(clat).into_iter().collect();
    report.lat = percentile(lat).into_iter().collect();
    run
}

#[test]
fn printed_percentiles_are_those_of_the_latency_shown() {
    let (short, long) = (Nanos::from_millis(5), Nanos::from_millis(9));
    for (clat, lat, expected) in [
        (Some(short), None, short),
        (Some(short), Some(long), short),
        (None, Some(long), long),
    ] {
        let phase = summarize(&[printed(clat, lat)]).phases.remove(0);
        let quantiles = phase.latency.unwrap().quantiles;
        assert_eq!(quantiles, [(Quantile::P99, expected)]);
        let [(quantile, by_run)] = phase.detail.latency_by_run.as_slice() else {
            panic!("only one percentile was printed")
        };
        let values = vec![expected.0 as f64];
        assert_eq!((*quantile, &by_run.values), (Quantile::P99, &values));
    }
}

/// The histogram of imported results is complete; printed percentiles are rounded.
#[test]
fn percentiles_come_from_a_histogram_if_there_is_one() {
    let measured = write_run(0, 20e6, 40);
    let mut run = measured.clone();
    run.origin = printed(Some(Nanos::from_secs(5)), None).origin;
    let [own, other] = [measured, run].map(|run| summarize(&[run]).phases.remove(0));
    let quantiles = &own.latency.as_ref().unwrap().quantiles;
    let p99 = quantiles.iter().find(|(q, _)| *q == Quantile::P99).unwrap();
    assert!(p99.1 < Nanos::from_millis(60), "{p99:?}");
    assert_eq!(other.latency, own.latency);
    assert_eq!(other.detail.latency_by_run, own.detail.latency_by_run);
}

#[test]
fn latencies_of_several_workers_are_merged() {
    let mut run = write_run(0, 20e6, 20);
    let mut worker = run.phases[0].workers.remove(0);
    for (ms, count) in [(1, 1_000), (9, 2_500), (4, 500)] {
        worker.ops.write.clat = constant(Nanos::from_millis(ms), count);
        run.phases[0].workers.push(worker.clone());
    }
    let phase = summarize(&[run]).phases.remove(0);
    let latency = phase.latency.unwrap();
    let (least, most) = (Nanos::from_millis(1), Nanos::from_millis(9));
    assert_eq!(
        (latency.count, latency.min, latency.max),
        (4_000, least, most)
    );
    let mean = (1_000.0 + 9.0 * 2_500.0 + 4.0 * 500.0) / 4_000.0 * 1e6;
    assert!((latency.mean_ns - mean).abs() < 1e-6, "{latency:?}");
    // The quarter of 1 ms comes first, then an eighth of 4 ms; a bucket is below 1% wide.
    for (q, value) in latency.quantiles {
        let ms = match q.share() {
            ..=0.25 => 1.0,
            ..=0.375 => 4.0,
            _ => 9.0,
        };
        assert!((value.0 as f64 / 1e6 / ms - 1.0).abs() < 0.01, "{q:?}");
    }
    let by_run = phase.detail.latency_by_run;
    assert_eq!(by_run[0].0, Quantile::MEDIAN);
    assert_eq!(by_run[0].1.values, [9e6]);
}

/// Fractions are rounded to nine digits, so 0 and a billionth are different percentiles; so are 99.9999999% and 100%.
#[test]
fn requested_percentiles_are_listed_once_in_ascending_order() {
    let usual: Vec<f64> = PERCENTILES.iter().map(|percent| percent / 100.0).collect();
    let cases: [(&[f64], &[f64]); 7] = [
        (&[], &[]),
        (&[0.5, 0.99, 0.999, 0.01, 0.9999], &[]),
        (&[0.75, 0.99, 0.75, 0.25], &[0.25, 0.75]),
        (&[0.0], &[0.0]),
        (&[1e-9, 0.5, 0.0], &[0.0, 1e-9]),
        (&[1e-9, 1e-9, 2e-9], &[1e-9, 2e-9]),
        (&[1.0, 0.999_999_999], &[0.999_999_999, 1.0]),
    ];
    for (requested, added) in cases {
        let mut run = write_run(0, 20e6, 20);
        // Enough for a billionth.
        run.phases[0].workers[0].ops.write.clat = constant(Nanos::from_millis(1), 4_000_000_000);
        let quantile = |&share: &f64| Quantile::new(share).unwrap();
        run.scenario.phases[0].jobs[0].measure.percentiles =
            requested.iter().map(quantile).collect();
        let mut expected: Vec<Quantile> = usual.iter().chain(added).map(quantile).collect();
        expected.sort_by(|a, b| a.share().total_cmp(&b.share()));
        let quantiles = latency_of(run).quantiles;
        let found: Vec<Quantile> = quantiles.iter().map(|(q, _)| *q).collect();
        assert_eq!(found, expected, "{requested:?}");
    }
}
