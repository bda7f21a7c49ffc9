//! Tests of the measurement window of several workloads.

use super::*;
use crate::testing::suite;

const EVEN: [f64; 5] = [100.0, 101.0, 99.0, 100.0, 100.0];

fn after(start: &[f64]) -> Vec<f64> {
    [start, &EVEN].concat()
}

#[test]
fn all_watched_workloads_are_steady_in_the_same_rounds() {
    let first = [after(&[]), vec![50.0, 20.0]].concat();
    assert_eq!(common_window(std::slice::from_ref(&first)), Some(0));
    let later = after(&[300.0, 200.0]);
    assert_eq!(common_window(std::slice::from_ref(&later)), Some(2));
    // The first is steady in rounds 1 to 5, the other in rounds 3 to 7, when the first has fallen.
    assert_eq!(common_window(&[first, later]), None);
    assert_eq!(common_window(&[after(&[]), EVEN[..4].to_vec()]), None);
    assert_eq!(common_window(&[]), None);
}

fn point(phase: &str, bandwidth: &[f64]) -> RoundPoint {
    let latency = |nth: usize| RunLatency {
        mean_ns: 1e6 + nth as f64,
        max: Nanos(10_000_000 + nth as u64),
    };
    RoundPoint {
        phase: phase.to_owned(),
        iops: bandwidth.iter().map(|b| b / 4096.0).collect(),
        bandwidth: bandwidth.to_vec(),
        latency: (0..bandwidth.len()).map(latency).collect(),
        ..RoundPoint::default()
    }
}

#[test]
fn all_workloads_have_the_window_of_the_watched_one() {
    let watched = ["mix".to_owned()];
    let rule = RoundRule {
        watched: &watched,
        at_most: 25,
    };
    let points = vec![
        point("mix", &after(&[400.0, 300.0])),
        point("mixed", &after(&[1.0, 9.0])),
    ];
    let found = rounds(3, "raw", points, rule).unwrap();
    assert_eq!((found.card, found.measured, found.steady), (3, 7, true));
    let [mix, other] = &found.points[..] else {
        panic!("{found:?}")
    };
    assert_eq!((mix.watched, other.watched), (true, false));
    assert_eq!(mix.window.unwrap().first_round, 2);
    assert_eq!(other.window.unwrap().first_round, 2);
    assert!((mix.means.bandwidth - 100.0).abs() < 1e-9, "{mix:?}");
    let latency = mix.means.latency.unwrap();
    assert!((latency.mean_ns - 1_000_004.0).abs() < 1e-3, "{latency:?}");
    assert_eq!(latency.max, Nanos(10_000_006));
}

#[test]
fn rounds_that_never_settle_have_the_last_five_as_window() {
    let falling: Vec<f64> = (0..9).map(|nth| 1000.0 - 100.0 * f64::from(nth)).collect();
    let watched = ["w".to_owned()];
    let rule = RoundRule {
        watched: &watched,
        at_most: 9,
    };
    let of = |values: &[f64]| rounds(0, "raw", vec![point("w", values)], rule).unwrap();
    let found = of(&falling);
    assert!(!found.steady);
    assert_eq!(found.points[0].window.unwrap().first_round, 4);
    let few = of(&EVEN[..3]);
    assert_eq!((few.steady, few.points[0].window), (false, None));
    assert!((few.points[0].means.bandwidth - 100.0).abs() < 1e-9);
}

#[test]
fn reads_and_writes_of_a_mix_are_one_workload() {
    let latency = |mean_ns| RunLatency {
        mean_ns,
        max: Nanos(mean_ns as u64 * 9),
    };
    let both = merged(&[(latency(100.0), 3.0), (latency(500.0), 1.0)]);
    assert_eq!((both.mean_ns, both.max), (200.0, Nanos(4500)));
    let mut of = described(&suite(5).phases[0]).unwrap();
    let mut ops = suite(5).phases[..2].to_vec();
    for op in &mut ops {
        op.iops.mean = 40.0;
        op.bandwidth.mean = 4e6;
    }
    // The first round was interrupted.
    add_round(&mut of, 1, &ops);
    assert_eq!((of.iops, of.bandwidth), (vec![0.0, 80.0], vec![0.0, 8e6]));
    assert!(of.latency.is_empty());
}

#[test]
fn each_run_is_a_round() {
    let speeds = [30e6, 20e6, 20.1e6, 19.9e6, 20e6, 20e6];
    let points = round_points(&crate::testing::records(&speeds));
    let [write] = &points[..] else {
        panic!("{points:?}")
    };
    assert_eq!((write.phase.as_str(), write.bandwidth.len()), ("write", 6));
    let close = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 0.01;
    assert!(write.bandwidth.iter().zip(&speeds).all(close), "{write:?}");
    assert_eq!(write.latency.len(), 6);
    assert_eq!(write.block, hakaru_model::units::Bytes(1 << 20));
}

/// A round may have latencies without a rate, as one that was cut short.
#[test]
fn latencies_without_weight_have_a_mean_of_zero() {
    let of = |mean_ns, max| RunLatency {
        mean_ns,
        max: Nanos(max),
    };
    assert_eq!(merged(&[]), of(0.0, 0));
    assert_eq!(merged(&[(of(100.0, 300), 0.0)]), of(0.0, 300));
    let both = [(of(100.0, 300), 0.0), (of(500.0, 700), 0.0)];
    assert_eq!(merged(&both), of(0.0, 700));
}
