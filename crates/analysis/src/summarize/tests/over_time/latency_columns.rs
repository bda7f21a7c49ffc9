//! Tests of the columns of latencies over time, and of which I/Os among them are slow.

use super::*;
use hakaru_model::finding::{SlowIos, SlowWhen};

/// Returns the map of intervals of half a second with these counts by latency step.
fn map_of(columns: Vec<LatencyStepCounts>) -> LatencyMap {
    let mut run = write_run(0, 2e6, 1);
    let interval = |(counts, nth): (LatencyStepCounts, u64)| LatencyInterval {
        at: Nanos::from_millis(500 * nth),
        length: Nanos::from_millis(500),
        counts,
    };
    let over_time = columns.into_iter().zip(1..).map(interval);
    run.phases[0].workers[0].ops.write.clat.over_time = over_time.collect();
    latency_map(&[run]).unwrap()
}

fn counts_of(run: RunRecord) -> Vec<u64> {
    let columns = latency_map(&[run]).unwrap().columns;
    columns.iter().map(|column| column.counts.count()).collect()
}

/// Slow are I/Os from the highest power of ten on that one of them reaches, if that is ten times the median or more.
#[test]
fn ios_are_slow_from_a_power_of_ten_that_is_ten_medians() {
    for usual in 0..LATENCY_STEPS {
        for top in usual..LATENCY_STEPS {
            let most = LatencyStepCounts::of([(usual, 3)]);
            let last = LatencyStepCounts::of([(usual, 3), (top, 1)]);
            let found = map_of(vec![most.clone(), most.clone(), last, most]).slow;
            // A power of ten is four steps. The median is below the end of its step.
            let from = latency_step_start(top / 4 * 4);
            let is_slow = 10 * latency_step_start(usual + 1).0 <= from.0;
            let expected = is_slow.then_some(SlowIos {
                from,
                count: 1,
                when: SlowWhen::At(1.0),
            });
            assert_eq!(found, expected, "{usual} {top}");
        }
    }
}

/// The median of an even number is the lower one of the two in the middle, as in all percentiles.
#[test]
fn half_of_the_ios_may_be_slow() {
    for (usual, slow, is_slow) in [
        (20, 1, true),
        (20, 19, true),
        (20, 20, true),
        (20, 21, false),
        (20, 40, false),
        (21, 20, true),
    ] {
        let (even, last) = (usual / 4, usual - usual / 4 * 3);
        let mut columns = vec![LatencyStepCounts::of([(10, even)]); 3];
        columns.push(LatencyStepCounts::of([(10, last), (20, slow)]));
        let found = map_of(columns).slow.map(|found| found.count);
        assert_eq!(found, is_slow.then_some(slow), "{usual} {slow}");
    }
}

#[test]
fn slow_ios_are_early_or_late_if_a_fifth_of_the_time_has_none() {
    // Twenty columns of half a second: four are a fifth of the time.
    let cases: [(&[usize], SlowWhen); 12] = [
        (&[0], SlowWhen::At(0.0)),
        (&[19], SlowWhen::At(9.5)),
        (&[1, 19], SlowWhen::Scattered),
        (&[3, 19], SlowWhen::Scattered),
        (&[4, 19], SlowWhen::After(2.0)),
        (&[18, 19], SlowWhen::After(9.0)),
        (&[0, 15], SlowWhen::Before(8.0)),
        (&[0, 16], SlowWhen::Scattered),
        // Many columns are not yet every fifth of the time.
        (&[0, 1, 2, 3, 18, 19], SlowWhen::Scattered),
        (&[0, 1, 2, 3, 8, 9, 12, 13, 16], SlowWhen::Scattered),
        (&[0, 4, 8, 12, 16], SlowWhen::Throughout),
        (&[3, 7, 11, 15, 19], SlowWhen::Throughout),
    ];
    for (places, expected) in cases {
        let column = |nth: usize| match places.contains(&nth) {
            true => LatencyStepCounts::of([(10, 50), (30, 1)]),
            false => LatencyStepCounts::of([(10, 50)]),
        };
        let found = map_of((0..20).map(column).collect()).slow.unwrap();
        assert_eq!(found.count, places.len() as u64);
        assert_eq!(found.when, expected, "{places:?}");
    }
}

#[test]
fn an_interval_without_length_adds_nothing_to_the_map() {
    let mut run = with_latencies(&[10; 6]);
    let over_time = &mut run.phases[0].workers[0].ops.write.clat.over_time;
    over_time[2].length = Nanos(0);
    let columns = latency_map(&[run]).unwrap().columns;
    let found: Vec<(f64, u64)> = columns
        .iter()
        .map(|column| (column.from_s, column.counts.count()))
        .collect();
    assert_eq!(found, [(0.0, 1), (0.5, 2), (1.5, 4), (2.0, 5), (2.5, 6)]);
}

/// An interval may lie in two columns: it counts in the one that has more of it.
#[test]
fn an_interval_counts_in_the_column_of_its_middle() {
    let together = [2, 4, 6, 8, 10, 12, 14, 16].as_slice();
    let one_later = [1, 3, 5, 7, 9, 11, 13, 15, 8].as_slice();
    for (delay_ms, expected) in [
        (0, together),
        (100, together),
        (200, together),
        (300, one_later),
        (400, one_later),
        (500, one_later),
        (700, one_later),
    ] {
        let run = delayed(Nanos::from_millis(delay_ms));
        assert_eq!(counts_of(run), expected, "{delay_ms}");
    }
}

#[test]
fn the_map_begins_when_the_first_worker_measures() {
    for delay_ms in [0, 500, 1_000] {
        let alone = latency_map(&[delayed(Nanos::from_millis(delay_ms))]).unwrap();
        assert!(alone.columns[0].from_s.abs() < 1e-9, "{delay_ms}");
        for (common_s, ramp_s) in [(1, 0), (7, 0), (0, 3), (2, 5)] {
            let mut run = delayed(Nanos::from_millis(delay_ms));
            for job in &mut run.scenario.phases[0].jobs {
                job.timing.startdelay.0 += Nanos::from_secs(common_s).0;
                job.timing.ramp_time = Nanos::from_secs(ramp_s);
            }
            let found = latency_map(&[run]).unwrap();
            assert_eq!(found, alone, "{delay_ms} {common_s} {ramp_s}");
        }
    }
}
