//! Tests of the details of a phase: deviations, drift, flushes, traffic of the system disk, time of the device.

use super::*;
use hakaru_model::measured::{LeftOutReason, PauseKind};
use hakaru_model::reported::{Decimal, Reported, ReportedBlock};

/// Weight and value.
type Weighted = (f64, f64);

/// Values with their weights, and their expected mean and deviation.
type WeightedCase<'a> = (&'a [Weighted], Option<(f64, f64)>);

#[test]
fn moments_weight_each_interval_by_its_length() {
    // Mean Σwx/Σw and deviation √(Σw(x-mean)²/Σw · n/(n-1)), computed by hand.
    let cases: [WeightedCase<'_>; 6] = [
        (&[(1.0, 4.0), (1.0, 8.0)], Some((6.0, 8.0_f64.sqrt()))),
        (
            &[(1.0, 10.0), (1.0, 20.0), (2.0, 30.0)],
            Some((22.5, 103.125_f64.sqrt())),
        ),
        (&[(3.0, 0.0), (1.0, 4.0)], Some((1.0, 6.0_f64.sqrt()))),
        (&[(0.5, 7.0), (2.0, 7.0)], Some((7.0, 0.0))),
        (&[(1.0, 7.0)], None),
        (&[], None),
    ];
    for (steps, expected) in cases {
        let found = weighted_moments(steps);
        assert_eq!(found.is_some(), expected.is_some(), "{steps:?}");
        if let (Some(found), Some(expected)) = (found, expected) {
            assert!((found.0 - expected.0).abs() < 1e-9, "{found:?}");
            assert!((found.1 - expected.1).abs() < 1e-9, "{found:?}");
        }
    }
}

#[test]
fn drift_is_the_change_of_the_line_within_the_range_of_values() {
    // Least squares by hand: slope · (n - 1) / 2 on either side of the mean, cut at the smallest and largest value.
    let cases: [(&[f64], f64); 5] = [
        (&[100.0, 120.0, 90.0, 130.0], 119.0 / 101.0),
        (&[130.0, 90.0, 120.0, 100.0], 101.0 / 119.0),
        (&[100.0, 110.0, 120.0, 130.0], 1.3),
        (&[100.0, 100.0, 100.0], 1.0),
        // The line runs from 115 to 85.
        (&[100.0, 130.0, 70.0], 85.0 / 115.0),
    ];
    for (values, change) in cases {
        let found = stability(&estimate(values).unwrap()).unwrap();
        let drift = found.drift.unwrap();
        assert!((drift - (change - 1.0)).abs() < 1e-12, "{values:?} {drift}");
        assert_eq!(found.effective_runs, Some(values.len() as f64));
    }
    assert_eq!(stability(&estimate(&[1.0, 2.0]).unwrap()), None);
}

/// Returns a run of one worker that does these operations and flushes.
fn flushing(ops: &[Op]) -> RunRecord {
    let mut run = write_run(0, 20e6, 20);
    let worker = &mut run.phases[0].workers[0];
    let done = std::mem::take(&mut worker.ops.write);
    for &op in ops {
        worker.ops[op] = done.clone();
    }
    worker.sync = hakaru_model::record::Latency::with_histogram();
    (0..1_000).for_each(|_| worker.sync.record(Nanos::from_millis(3)));
    worker.sync.over_time = (1..=5)
        .map(|nth| hakaru_model::record::LatencyInterval {
            at: Nanos::from_secs(nth),
            length: Nanos::from_secs(1),
            counts: hakaru_model::record::LatencyStepCounts::of([(18, 200)]),
        })
        .collect();
    run
}

type Ops = &'static [Op];

#[test]
fn flushes_belong_to_writes_or_else_to_the_first_operation() {
    use Op::{Read, Trim, Write};
    let cases: [(&[Ops], Ops); 7] = [
        (&[&[Write]], &[Write]),
        (&[&[Read]], &[Read]),
        (&[&[Trim]], &[Trim]),
        (&[&[Read, Write]], &[Write]),
        (&[&[Read, Trim]], &[Read]),
        (&[&[Read, Write, Trim]], &[Write]),
        (&[&[Read], &[Read, Write]], &[Write]),
    ];
    for (runs, expected) in cases {
        let runs: Vec<RunRecord> = runs.iter().map(|ops| flushing(ops)).collect();
        let summary = summarize(&runs);
        let with = |has: fn(&PhaseSummary) -> bool| -> Vec<Op> {
            let phases = summary.phases.iter().filter(|phase| has(phase));
            phases.map(|phase| phase.op).collect()
        };
        assert_eq!(with(|phase| phase.sync.is_some()), expected);
        assert_eq!(with(|phase| !phase.detail.sync_by_run.is_empty()), expected);
        assert_eq!(with(|phase| phase.detail.sync_map.is_some()), expected);
    }
}

const BYTES: u64 = 512 * 10_000;

/// Returns the I/O amplification of 5.12 MB on the system disk, with its own bytes and those of the disk.
fn on_system(
    op: Op,
    traffic: Option<(Option<u64>, u64)>,
    has_disks: bool,
) -> (Option<f64>, Option<NoAmplification>) {
    let disk = |bytes: u64| DiskStats {
        name: "mmcblk0".into(),
        read_sectors: bytes / 512,
        write_sectors: bytes / 512,
        ..DiskStats::default()
    };
    let mut run = flushing(&[op]);
    run.phases[0].workers[0].ops[op].bytes = BYTES;
    run.target.system_disk = true;
    if has_disks {
        run.phases[0].disks = vec![disk(BYTES)];
    }
    run.phases[0].traffic = traffic.map(|(own, moved)| MeasuredTraffic {
        disks: vec![disk(moved)],
        own_read: own.filter(|_| op == Op::Read).map(Bytes),
        own_written: own.filter(|_| op == Op::Write).map(Bytes),
    });
    let phase = summarize(&[run]).phases.remove(0);
    let amplification = phase.amplification.map(|all| all.mean);
    (amplification, phase.detail.no_amplification)
}

#[test]
fn reads_of_the_system_disk_count_those_of_this_program() {
    let unknown = (None, Some(NoAmplification::SystemDisk));
    for (own, share) in [
        (BYTES, 1.0),
        (BYTES / 4 * 3, 0.75),
        (BYTES * 2, 2.0),
        (0, 0.0),
    ] {
        // Reads of other programs do not matter.
        for moved in [own, 10 * BYTES] {
            let found = on_system(Op::Read, Some((Some(own), moved)), true);
            assert_eq!(found, (Some(share), None), "{own} {moved}");
        }
    }
    assert_eq!(on_system(Op::Read, Some((None, BYTES)), true), unknown);
    for op in [Op::Read, Op::Write] {
        assert_eq!(on_system(op, None, true), unknown, "counted, but not apart");
        assert_eq!(on_system(op, None, false), (None, None), "nothing counted");
    }
}

#[test]
fn writes_of_others_up_to_a_tenth_count_on_the_system_disk() {
    let tenth = BYTES / 10;
    let found = |own: u64, moved: u64| on_system(Op::Write, Some((Some(own), moved)), true);
    assert_eq!(found(BYTES, BYTES), (Some(1.0), None));
    assert_eq!(found(BYTES, BYTES + tenth), (Some(1.1), None));
    assert_eq!(found(2 * BYTES, BYTES), (Some(1.0), None));
    assert_eq!(found(2 * BYTES, 2 * BYTES + tenth), (Some(2.1), None));
    let too_much = NoAmplification::OtherUsers {
        others: Bytes(tenth + 512),
        own: Bytes(BYTES),
    };
    assert_eq!(found(BYTES, BYTES + tenth + 512), (None, Some(too_much)));
    assert_eq!(
        on_system(Op::Write, Some((None, BYTES)), true),
        (None, Some(NoAmplification::SystemDisk))
    );
}

/// Requests of a disk, with their time in milliseconds.
type Requests = (u64, u64);

/// Returns a run of 1,000 I/Os with the requests of its disks.
fn requests(op: Op, disks: &[Requests]) -> RunRecord {
    let mut run = flushing(&[op]);
    run.phases[0].workers[0].ops[op].ios = 1_000;
    let disk = |&(requests, ms): &Requests| {
        let (ios, ticks) = (requests, Nanos::from_millis(ms));
        match op {
            Op::Read => DiskStats {
                read_ios: ios,
                read_ticks: ticks,
                ..DiskStats::default()
            },
            _ => DiskStats {
                write_ios: ios,
                write_ticks: ticks,
                ..DiskStats::default()
            },
        }
    };
    run.phases[0].traffic = Some(MeasuredTraffic {
        disks: disks.iter().map(disk).collect(),
        ..MeasuredTraffic::default()
    });
    run
}

fn device_ns(runs: &[RunRecord]) -> Option<f64> {
    summarize(runs).phases.remove(0).detail.device_ns
}

#[test]
fn time_of_the_device_is_that_of_requests_which_are_the_ios() {
    let cases: [(&[Requests], Option<f64>); 9] = [
        (&[(1_000, 2_000)], Some(2e6)),
        (&[(1_050, 2_100)], Some(2e6)),
        (&[(950, 3_800)], Some(4e6)),
        (&[(1_051, 2_102)], None),
        (&[(949, 1_898)], None),
        (&[(1_000, 0)], None),
        (&[(0, 2_000)], None),
        (&[(1_000, 2_000), (1_000, 2_000)], None),
        (&[], None),
    ];
    for op in [Op::Read, Op::Write] {
        for (disks, expected) in cases {
            assert_eq!(device_ns(&[requests(op, disks)]), expected, "{disks:?}");
        }
    }
    assert_eq!(device_ns(&[requests(Op::Trim, &[(1_000, 2_000)])]), None);
}

#[test]
fn time_of_the_device_is_the_mean_of_all_runs() {
    let run = |ms: u64| requests(Op::Write, &[(1_000, ms)]);
    assert_eq!(device_ns(&[run(2_000), run(4_000)]), Some(3e6));
    assert_eq!(device_ns(&[run(2_000), run(3_000), run(10_000)]), Some(5e6));
    assert_eq!(device_ns(&[run(2_000), run(0)]), None);
}

/// Returns an imported run of 1,000 I/Os with these blocks.
fn printed(op: Op, blocks: &[&str]) -> RunRecord {
    let mut run = requests(op, &[]);
    let block = |name: &&str| {
        let mut block = ReportedBlock::new(*name);
        for (name, value) in [
            ("ios r", 1_000),
            ("ticks r", 2_000),
            ("ios w", 1_020),
            ("ticks w", 5_100),
        ] {
            block.figure(name, Decimal::whole(value), "");
        }
        block
    };
    run.origin = Origin::Imported {
        program: "fio-3.39".into(),
        source: "a.json".into(),
        reported: Box::new(Reported {
            blocks: blocks.iter().map(block).collect(),
            ..Reported::default()
        }),
    };
    run
}

#[test]
fn printed_counters_of_the_only_disk_give_its_time() {
    let cases: [(&[&str], bool); 5] = [
        (&["disk"], true),
        (&["start", "disk", "layout"], true),
        (&["disk", "disk"], false),
        (&["start"], false),
        (&[], false),
    ];
    for (blocks, known) in cases {
        for (op, ns) in [(Op::Read, 2e6), (Op::Write, 5e6)] {
            let found = device_ns(&[printed(op, blocks)]);
            assert_eq!(found, known.then_some(ns), "{op:?} {blocks:?}");
        }
        assert_eq!(device_ns(&[printed(Op::Trim, blocks)]), None);
    }
    // The counters cover all phases together.
    let mut run = printed(Op::Read, &["disk"]);
    let mut other = run.phases[0].clone();
    other.name = "other".into();
    run.phases.push(other);
    assert_eq!(device_ns(&[run]), None);
}

type Blocks = &'static [&'static str];

#[test]
fn new_files_are_known_where_the_start_was_printed() {
    let cases: [(Op, &[Blocks], &[bool]); 6] = [
        (Op::Write, &[&["start", "layout"]], &[true]),
        (Op::Write, &[&["start"]], &[false]),
        (
            Op::Write,
            &[&["start"], &["layout", "start"]],
            &[false, true],
        ),
        (Op::Write, &[&["layout"]], &[]),
        (Op::Write, &[&["start"], &[]], &[]),
        (Op::Read, &[&["start", "layout"]], &[]),
    ];
    for (op, runs, expected) in cases {
        let records: Vec<RunRecord> = runs.iter().map(|blocks| printed(op, blocks)).collect();
        let phase = summarize(&records).phases.remove(0);
        assert_eq!(phase.detail.new_files, expected, "{op:?} {runs:?}");
    }
    assert!(
        summarize(&[write_run(0, 20e6, 20)]).phases[0]
            .detail
            .new_files
            .is_empty()
    );
}

#[test]
fn runs_are_left_out_that_lost_cpu_time_in_their_phase() {
    let (lost, measured) = (Nanos::from_secs(9), Nanos::from_secs(20));
    let descheduled = |phase: &str| Caveat::Descheduled {
        phase: phase.into(),
        waited: lost,
        measured,
    };
    let stolen = |phase: &str| Caveat::StolenTime {
        phase: phase.into(),
        stolen: lost,
        measured,
    };
    let paused = Caveat::Paused {
        phase: "write".into(),
        kind: PauseKind::Stopped,
        times: 1,
        total: lost,
        longest: lost,
    };
    let because_waited = LeftOutReason::Descheduled {
        waited: lost,
        measured,
    };
    let because_stolen = LeftOutReason::StolenTime {
        stolen: lost,
        measured,
    };
    let cases = [
        (descheduled("write"), Some(because_waited)),
        (stolen("write"), Some(because_stolen)),
        (descheduled("other"), None),
        (stolen("other"), None),
        (paused, None),
    ];
    for (caveat, because) in cases {
        let mut run = write_run(1, 10e6, 20);
        run.caveats.push(caveat.clone());
        let summary = summarize(&[write_run(0, 30e6, 20), run.clone()]);
        let phase = &summary.phases[0];
        let found = phase
            .detail
            .left_out
            .first()
            .map(|out| (out.run, out.because));
        assert_eq!(found, because.map(|because| (2, because)), "{caveat:?}");
        let counted = if because.is_some() { 1 } else { 2 };
        assert_eq!(phase.bandwidth.values.len(), counted);
        assert_eq!(summary.caveats.contains(&caveat), because.is_none());
        // Without a better run, it counts.
        let alone = summarize(&[run]);
        assert!(alone.phases[0].detail.left_out.is_empty());
        assert!(alone.caveats.contains(&caveat), "{caveat:?}");
    }
}
