//! Rounds: their end if each workload ends alone, missing rates, and watched workloads.

use crate::rounds::{RoundRule, round_points, rounds};
use crate::testing::{Fake, run_of};
use hakaru_model::finding::{RoundPoint, Rounds};
use hakaru_model::job::{IoEngine, Op};
use hakaru_model::units::Bytes;

const EVEN: [f64; 5] = [100.0, 101.0, 99.0, 100.0, 100.0];

/// Returns the rounds of workloads of which each ends alone.
fn alone(workloads: &[&[f64]]) -> Rounds {
    let point = |(nth, bandwidth): (usize, &&[f64])| RoundPoint {
        phase: format!("w{nth}"),
        iops: bandwidth.to_vec(),
        bandwidth: bandwidth.to_vec(),
        ..RoundPoint::default()
    };
    let points = workloads.iter().enumerate().map(point).collect();
    let rule = RoundRule {
        watched: &[],
        at_most: 25,
    };
    rounds(0, "raw", points, rule).unwrap()
}

#[test]
fn rounds_are_steady_if_every_workload_ends_steady() {
    let late = [300.0, 200.0, 100.0, 101.0, 99.0, 100.0, 100.0];
    let lost = [100.0, 101.0, 99.0, 100.0, 100.0, 50.0, 20.0];
    let cases: [(&[&[f64]], bool); 8] = [
        (&[&EVEN], true),
        (&[&EVEN, &EVEN], true),
        (&[&EVEN, &late], true),
        (&[&late, &EVEN], true),
        (&[&lost], false),
        (&[&EVEN, &lost], false),
        (&[&lost, &EVEN], false),
        (&[&EVEN[..4]], false),
    ];
    for (workloads, steady) in cases {
        assert_eq!(alone(workloads).steady, steady, "{workloads:?}");
    }
}

#[test]
fn each_workload_has_its_own_last_five_rounds() {
    let late = [300.0, 200.0, 100.0, 101.0, 99.0, 100.0, 100.0];
    let found = alone(&[&EVEN, &late, &EVEN[..4]]);
    assert_eq!((found.measured, found.at_most), (4, 25));
    let starts: Vec<Option<u32>> = found
        .points
        .iter()
        .map(|point| point.window.map(|window| window.first_round))
        .collect();
    assert_eq!(starts, [Some(0), Some(2), None]);
    for point in &found.points {
        assert!((point.means.bandwidth - 100.0).abs() < 1e-9, "{point:?}");
        assert!((point.means.iops - 100.0).abs() < 1e-9, "{point:?}");
        assert!(!point.watched && point.means.latency.is_none());
    }
}

fn fake(name: &'static str, mb: f64) -> Fake {
    Fake {
        name,
        op: Op::Write,
        random: false,
        block: 1 << 20,
        iops: mb,
        seconds: 2,
        sync_ms: None,
    }
}

#[test]
fn a_round_without_a_workload_has_no_rate() {
    let runs = [
        run_of(0, &[fake("a", 10.0), fake("b", 20.0)]),
        run_of(1, &[fake("a", 10.0)]),
        run_of(2, &[fake("a", 10.0), fake("b", 20.0), fake("c", 40.0)]),
        run_of(3, &[fake("a", 10.0)]),
    ];
    let points = round_points(&runs);
    let names: Vec<&str> = points.iter().map(|point| point.phase.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let rates = [
        [10.0, 10.0, 10.0, 10.0],
        [20.0, 0.0, 20.0, 0.0],
        [0.0, 0.0, 40.0, 0.0],
    ];
    for (point, expected) in points.iter().zip(rates) {
        for (of, unit) in [(&point.iops, 1.0), (&point.bandwidth, 1_048_576.0)] {
            assert_eq!(of.len(), 4);
            let close = |(found, wanted): (&f64, f64)| (found / unit - wanted).abs() < 1e-3;
            assert!(of.iter().zip(expected).all(close), "{point:?}");
        }
    }
    // Latencies of some rounds cannot be assigned to them.
    let latencies: Vec<usize> = points.iter().map(|point| point.latency.len()).collect();
    assert_eq!(latencies, [4, 0, 0]);
}

#[test]
fn a_workload_is_watched_with_all_its_phases() {
    let names = ["mix", "mix/read", "mixed", "a mix", "mi", "other"];
    let point = |name: &&str| RoundPoint {
        phase: (*name).to_owned(),
        iops: EVEN.to_vec(),
        bandwidth: EVEN.to_vec(),
        ..RoundPoint::default()
    };
    let watched = ["mix".to_owned(), "absent".to_owned()];
    let rule = RoundRule {
        watched: &watched,
        at_most: 5,
    };
    let found = rounds(0, "raw", names.iter().map(point).collect(), rule).unwrap();
    let watched: Vec<bool> = found.points.iter().map(|point| point.watched).collect();
    assert_eq!(watched, [true, true, false, false, false, false]);
    assert!(found.steady);
    assert_eq!(rounds(0, "raw", Vec::new(), rule), None);
}

/// Order, share of reads and block are those of the job; in flight is the queue depth times the workers.
#[test]
fn points_describe_the_workload_of_their_jobs() {
    for (op, random, read_percent, depth, workers) in [
        (Op::Write, false, 0, 1, 1),
        (Op::Write, true, 0, 8, 1),
        (Op::Read, true, 100, 1, 3),
        (Op::Read, false, 100, 32, 4),
        (Op::Write, true, 35, 2, 2),
    ] {
        let of = Fake {
            op,
            random,
            block: 8192,
            ..fake("w", 10.0)
        };
        let mut run = run_of(0, &[of]);
        let job = &mut run.scenario.phases[0].jobs[0];
        (job.ioengine, job.queue.iodepth) = (IoEngine::IoUring, depth);
        job.access.mix.read = read_percent;
        job.access.mix.write = 100 - read_percent;
        let worker = run.phases[0].workers[0].clone();
        run.phases[0].workers = vec![worker; workers as usize];
        let points = round_points(&[run]);
        let [point] = &points[..] else {
            panic!("{points:?}")
        };
        assert_eq!((point.random, point.read_percent), (random, read_percent));
        assert_eq!(point.in_flight, depth * workers, "{point:?}");
        assert_eq!(point.block, Bytes(8192));
    }
}

#[test]
fn a_workload_with_fewer_rounds_has_the_means_of_all_of_them() {
    let point = |phase: &str, rates: &[f64]| RoundPoint {
        phase: phase.to_owned(),
        iops: rates.to_vec(),
        bandwidth: rates.to_vec(),
        ..RoundPoint::default()
    };
    let watched = ["w".to_owned()];
    let rule = RoundRule {
        watched: &watched,
        at_most: 25,
    };
    let settled = [&[300.0, 200.0], &EVEN[..]].concat();
    let points = vec![
        point("w", &settled),
        point("short", &[10.0, 20.0, 30.0, 40.0]),
        // One round less than the window of the watched workload.
        point("six", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    ];
    let found = rounds(0, "raw", points, rule).unwrap();
    assert_eq!((found.measured, found.steady), (4, true));
    let of = |of: &RoundPoint| (of.window.is_some(), of.means.bandwidth, of.means.iops);
    let means: Vec<_> = found.points.iter().map(of).collect();
    let expected = [(true, 100.0, 100.0), (false, 25.0, 25.0), (false, 3.5, 3.5)];
    assert_eq!(means, expected);
}

/// No share of an average of 0 is a figure.
#[test]
fn rounds_without_a_rate_have_no_window() {
    let found = alone(&[&[0.0; 5]]);
    assert_eq!((found.points[0].window, found.steady), (None, false));
    assert_eq!(found.points[0].means.bandwidth, 0.0);
}
