//! Results of a record: failures, sums, intervals, and what ended a run.

use crate::generate::record;
use crate::to_tree;
use hakaru_model::campaign::{Assignment, CampaignPoint, ClockOffset};
use hakaru_model::caveat::Caveat;
use hakaru_model::histogram::Histogram;
use hakaru_model::record::{
    ErrorRecord, FailureKind, IoError, LATENCY_STEPS, LatencyInterval, LatencyIntervals,
    LatencyStepCounts, OpRecord, PhaseRecord, RunRecord, Samples, StopReason, WorkerRecord,
    latency_step, latency_step_counts, latency_step_start,
};
use hakaru_model::units::{Bytes, Nanos};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

fn error(errno: i32) -> IoError {
    IoError {
        action: "read".to_owned(),
        op: None,
        kind: FailureKind::Io,
        file: "f".to_owned(),
        offset: Bytes(0),
        len: Bytes(512),
        errno,
        at: Nanos(0),
        mismatches: Vec::new(),
    }
}

/// Returns a record without phases, caveats and campaign.
fn plain_record() -> RunRecord {
    let mut runner = TestRunner::deterministic();
    let mut plain = record().new_tree(&mut runner).unwrap().current();
    (plain.phases, plain.caveats, plain.campaign) = (Vec::new(), Vec::new(), None);
    plain.started_unix_ms = 1_000_000;
    plain
}

#[test]
fn records_are_stored_as_json() {
    let record = plain_record();
    let text = record.to_json().unwrap();
    assert_eq!(RunRecord::from_json(&text).unwrap(), record);
    assert!(RunRecord::from_json("{}").is_err());
}

#[test]
fn runs_end_by_the_last_failure_of_the_failed_worker() {
    let worker = |stop, errors: &[i32]| WorkerRecord {
        stop,
        errors: ErrorRecord {
            total: 9,
            first: errors.iter().copied().map(error).collect(),
        },
        ..WorkerRecord::default()
    };
    let ended_by = |workers: Vec<WorkerRecord>| {
        let mut record = plain_record();
        let phases = workers.into_iter().map(|worker| PhaseRecord {
            workers: vec![worker],
            ..PhaseRecord::default()
        });
        record.phases = phases.collect();
        record.ended_by().map(|error| error.errno)
    };
    let (done, failed) = (StopReason::Done, StopReason::Error);
    assert_eq!(ended_by(Vec::new()), None);
    assert_eq!(
        ended_by(vec![worker(done, &[3]), worker(StopReason::Time, &[5])]),
        None
    );
    assert_eq!(
        ended_by(vec![
            worker(done, &[3]),
            worker(failed, &[5, 7]),
            worker(failed, &[11])
        ]),
        Some(7)
    );
    assert_eq!(ended_by(vec![worker(failed, &[])]), None);
}

#[test]
fn starts_are_converted_to_the_clock_of_the_server() {
    let started = |offset_ns: Option<i64>| {
        let clock = offset_ns.map(|offset_ns| ClockOffset {
            offset_ns,
            uncertainty_ns: 0,
        });
        let assignment = Assignment {
            host: "h".to_owned(),
            job: "j".to_owned(),
            clock,
        };
        let mut record = plain_record();
        record.campaign = Some(CampaignPoint {
            assignment: Some(assignment),
            ..CampaignPoint::default()
        });
        record.started_common_ms()
    };
    assert_eq!(started(Some(7_000_000)), 1_000_007);
    assert_eq!(started(Some(-3_000_000)), 999_997);
    assert_eq!(
        (started(None), plain_record().started_common_ms()),
        (1_000_000, 1_000_000)
    );
}

#[test]
fn traced_runs_have_a_traced_repeat_or_a_caveat() {
    let traced = |repeat: Option<u32>, caveats: &[Caveat]| {
        let mut record = plain_record();
        record.campaign = repeat.map(|repeat| CampaignPoint {
            repeat,
            ..CampaignPoint::default()
        });
        record.caveats = caveats.to_vec();
        record.is_traced()
    };
    let caveat = [Caveat::Traced];
    assert_eq!([traced(None, &[]), traced(None, &caveat)], [false, true]);
    assert_eq!(
        [traced(Some(7), &[]), traced(Some(7), &caveat)],
        [false, true]
    );
    let repeats = [1_999_999, 2_000_000, 2_000_001].map(|repeat| traced(Some(repeat), &[]));
    assert_eq!(repeats, [false, true, true]);
}

#[test]
fn failures_keep_the_first_and_the_last() {
    let mut errors = ErrorRecord::default();
    for errno in 1..=20 {
        errors.push(error(errno));
        assert_eq!(errors.first.len(), (errno as usize).min(16));
    }
    let kept = |errors: &ErrorRecord| {
        errors
            .first
            .iter()
            .map(|error| error.errno)
            .collect::<Vec<_>>()
    };
    assert_eq!((errors.total, kept(&errors)), (20, (1..=16).collect()));
    errors.push_last(error(99));
    assert_eq!(
        (errors.total, kept(&errors)),
        (21, (1..=15).chain([99]).collect())
    );
    let mut few = ErrorRecord::default();
    few.push(error(1));
    few.push_last(error(99));
    assert_eq!((few.total, kept(&few)), (2, vec![1, 99]));
}

#[test]
fn exceeded_limits_name_the_option_of_fio() {
    let slow = FailureKind::TooSlow {
        latency: Nanos(7),
        max: Nanos(3),
    };
    let (rate, iops) = (
        FailureKind::RateMissed { wanted: 7, got: 3 },
        FailureKind::IopsMissed { wanted: 7, got: 3 },
    );
    let names = [slow, rate, iops, FailureKind::Io, FailureKind::Unknown].map(FailureKind::option);
    assert_eq!(
        names,
        [
            Some("max_latency"),
            Some("rate_min"),
            Some("rate_iops_min"),
            None,
            None
        ]
    );
    let unknown = [slow, FailureKind::Io, FailureKind::Unknown].map(|kind| kind.is_unknown());
    assert_eq!(unknown, [false, false, true]);
}

fn sampled(values: &[u64]) -> Samples {
    let mut samples = Samples::default();
    values.iter().for_each(|&value| samples.record(value));
    samples
}

#[test]
fn samples_have_exact_sums_and_deviations() {
    let samples = sampled(&[9, 3, 11]);
    let wanted = Samples {
        count: 3,
        min: 3,
        max: 11,
        sum: 23,
        sum_sq: 81 + 9 + 121,
    };
    assert_eq!(samples, wanted);
    // Neighbors of a large number: the squares exceed the precision of a float.
    let close = sampled(&[1_000_000_001, 1_000_000_002, 1_000_000_003]);
    assert_eq!(
        (close.mean(), close.deviation()),
        (Some(1_000_000_002.0), Some(1.0))
    );
    // The product of count and sum of squares exceeds 2^128. The mean is 2^62, and each value differs by 2^62 from it.
    let half = 1 << 63;
    let deviation = sampled(&[half, half, 0, 0]).deviation().unwrap();
    let exact = 2f64.powi(63) / 3f64.sqrt();
    assert!((deviation / exact - 1.0).abs() < 1e-12, "{deviation}");
}

#[test]
fn zone_resets_are_stored_if_there_were_any() {
    for (zone_resets, present) in [(0, false), (7, true)] {
        let record = OpRecord {
            zone_resets,
            ..OpRecord::default()
        };
        let tree = to_tree(&record).unwrap();
        assert_eq!(tree.get("zone_resets").is_some(), present);
    }
}

#[test]
fn latency_steps_are_quarters_of_powers_of_ten() {
    for (step, start) in [
        (0, 0),
        (1, 177),
        (2, 316),
        (3, 562),
        (4, 1_000),
        (5, 1_778),
        (6, 3_162),
        (7, 5_623),
        (36, 100_000_000_000),
        (37, 177_800_000_000),
        (38, 316_200_000_000),
        (39, 562_300_000_000),
    ] {
        assert_eq!(latency_step_start(step), Nanos(start), "{step}");
        assert_eq!(latency_step(Nanos(start)), step);
        assert_eq!(
            latency_step(Nanos(start.saturating_sub(1))),
            step.saturating_sub(1)
        );
    }
    assert_eq!(latency_step_start(LATENCY_STEPS), Nanos(562_300_000_000));
}

#[test]
fn latencies_at_the_edge_of_a_step_count_in_it() {
    // From 512 ns, buckets are 4 ns wide: 1,000 is the start of one. From 2^19 ns they are 4,096 ns wide: 1,000,000 is
    // within the bucket that begins at 999,424, and counts below.
    for (value, step) in [
        (176, 0),
        (177, 1),
        (999, 3),
        (1_000, 4),
        (1_003, 4),
        (999_423, 15),
        (1_000_000, 15),
        (1_003_519, 15),
        (1_003_520, 16),
    ] {
        let mut histogram = Histogram::new();
        histogram.record_n(Nanos(value), 7);
        let mut wanted = [0; LATENCY_STEPS];
        wanted[step] = 7;
        assert_eq!(latency_step_counts(&histogram), wanted, "{value}");
    }
}

#[test]
fn counts_of_steps_can_be_summed_from_a_step() {
    let mut counts = LatencyStepCounts::of([(20, 3), (5, 7), (5, 0), (99, 11)]);
    assert_eq!(
        counts.iter().collect::<Vec<_>>(),
        [(5, 7), (20, 3), (39, 11)]
    );
    counts.add(&LatencyStepCounts::of([(5, 100), (6, 200)]));
    assert_eq!(
        counts.iter().collect::<Vec<_>>(),
        [(5, 107), (6, 200), (20, 3), (39, 11)]
    );
    let from = [0, 5, 6, 7, 20, 21, 39, 40].map(|step| counts.count_from(step));
    assert_eq!(from, [321, 321, 214, 14, 14, 11, 11, 0]);
    assert_eq!((counts.count(), counts.is_empty()), (321, false));
    let none = LatencyStepCounts::of([(7, 0)]);
    assert_eq!((none.count(), none.is_empty()), (0, true));
}

#[test]
fn too_many_intervals_are_joined_evenly() {
    // Number of intervals pushed; number and length of the joined ones, and length of the last.
    for (pushed, kept, length, last) in [
        (1, 1, 1, 1),
        (240, 240, 1, 1),
        (241, 121, 2, 1),
        (242, 121, 2, 2),
        (480, 240, 2, 2),
        (481, 121, 4, 1),
        (483, 121, 4, 3),
        (484, 121, 4, 4),
        (960, 240, 4, 4),
        (961, 121, 8, 1),
        (970, 122, 8, 2),
    ] {
        let mut intervals = LatencyIntervals::default();
        for at in 1..=pushed {
            let counts = LatencyStepCounts::of([(7, 3)]);
            intervals.push(LatencyInterval {
                at: Nanos(at),
                length: Nanos(1),
                counts,
            });
        }
        let found = intervals.into_intervals();
        let lengths: Vec<u64> = found.iter().map(|interval| interval.length.0).collect();
        let mut wanted = vec![length; kept - 1];
        wanted.push(last);
        assert_eq!(lengths, wanted, "{pushed}");
        assert!(
            found
                .iter()
                .all(|interval| interval.counts.count() == 3 * interval.length.0)
        );
    }
}
