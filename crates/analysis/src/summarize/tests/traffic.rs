//! Tests of which disk counters an I/O amplification uses, and of figures that another program printed.

use super::*;
use hakaru_model::job::{IoEngine, PerOp};
use hakaru_model::record::Samples;

const BYTES: u64 = 512 * 10_000;

fn disk(bytes: u64) -> DiskStats {
    DiskStats {
        name: "mmcblk0".into(),
        write_sectors: bytes / 512,
        ..DiskStats::default()
    }
}

/// Returns a run that wrote so many bytes.
fn written(bytes: u64) -> RunRecord {
    let mut run = write_run(0, 30e6, 20);
    run.phases[0].workers[0].ops.write.bytes = bytes;
    run
}

fn amplification_of(run: RunRecord) -> (Option<f64>, Option<NoAmplification>) {
    let phase = summarize(&[run]).phases.remove(0);
    let mean = phase.amplification.map(|all| all.mean);
    (mean, phase.detail.no_amplification)
}

/// With 16 KiB in flight, 8,192,000 bytes are the least for which the end of the ramp time is precise to 0.2%.
#[test]
fn the_measured_part_counts_if_few_bytes_were_in_flight() {
    let exact = 8_192_000;
    let found = |bytes: u64, engine: IoEngine, ramp_s: u64, depth: u32| {
        let mut run = written(bytes);
        let job = &mut run.scenario.phases[0].jobs[0];
        *job = job.clone().with_block(Bytes(4096));
        (job.ioengine, job.queue.iodepth) = (engine, depth);
        job.timing.ramp_time = Nanos::from_secs(ramp_s);
        run.phases[0].workers[0].ramp_bytes = Some(PerOp::all(Bytes(bytes)));
        run.phases[0].disks = vec![disk(6 * bytes)];
        run.phases[0].traffic = Some(MeasuredTraffic {
            disks: vec![disk(2 * bytes)],
            ..MeasuredTraffic::default()
        });
        amplification_of(run)
    };
    // The measured part moved 2 bytes per byte, the whole phase with its ramp time 3.
    let cases = [
        (exact, IoEngine::Libaio, 5, 4, 2.0),
        (exact - 512, IoEngine::Libaio, 5, 4, 3.0),
        (exact, IoEngine::Libaio, 5, 5, 3.0),
        (exact / 4, IoEngine::Libaio, 5, 1, 2.0),
        (exact / 4 - 512, IoEngine::Libaio, 5, 1, 3.0),
        // Without a ramp time or a queue, nothing is in flight at its end.
        (exact - 512, IoEngine::Libaio, 0, 4, 2.0),
        (exact - 512, IoEngine::Psync, 5, 4, 2.0),
    ];
    for (bytes, engine, ramp_s, depth, expected) in cases {
        let found = found(bytes, engine, ramp_s, depth);
        assert_eq!(
            found,
            (Some(expected), None),
            "{bytes} {engine:?} {ramp_s} {depth}"
        );
    }
}

#[test]
fn direct_writes_of_imports_are_complete_from_99_5_percent() {
    let found = |counted: u64, direct: bool| {
        let mut run = imported(None);
        run.phases[0].workers[0].ops.write.bytes = BYTES;
        run.scenario.phases[0].jobs[0].files.direct = direct;
        run.phases[0].disks = vec![disk(counted)];
        amplification_of(run)
    };
    let least = 512 * 9_950;
    for direct in [true, false] {
        assert_eq!(found(BYTES, direct), (Some(1.0), None));
        assert_eq!(found(2 * BYTES, direct), (Some(2.0), None));
        assert_eq!(found(least, direct), (Some(0.995), None));
        assert_eq!(found(0, direct), (None, None));
    }
    let incomplete = NoAmplification::CountersIncomplete {
        counted: Bytes(least - 512),
        written: Bytes(BYTES),
    };
    assert_eq!(found(least - 512, true), (None, Some(incomplete)));
    assert_eq!(found(least - 512, false), (Some(0.994_9), None));
}

/// Returns an imported run whose worker printed samples of its bandwidth.
fn sampled(samples: u64, members: u32, seconds: u64) -> RunRecord {
    let mut run = imported(None);
    let worker = &mut run.phases[0].workers[0];
    let mut all = Samples::default();
    (0..samples).for_each(|nth| all.record(10 + 20 * (nth % 2)));
    worker.ops.write.bw_samples = all;
    worker.runtime = Nanos::from_secs(seconds);
    let Origin::Imported { reported, .. } = &mut run.origin else {
        panic!("it was imported")
    };
    reported.workers[0].members = members;
    run
}

#[test]
fn printed_samples_give_the_spread_of_one_worker() {
    let spread = |run: RunRecord| summarize(&[run]).phases.remove(0).sustained;
    for (samples, members, seconds, interval_ms) in [
        (20, 1, 10, 500),
        (40, 1, 10, 250),
        (40, 2, 10, 500),
        // A worker without a printed number is one.
        (20, 0, 10, 500),
    ] {
        let found = spread(sampled(samples, members, seconds)).unwrap();
        assert_eq!((found.min.0, found.max.0, found.mean.0), (10.0, 30.0, 20.0));
        // Half of the samples lie 10 below the mean, and half above it.
        let n = samples as f64;
        let deviation = 10.0 * (n / (n - 1.0)).sqrt();
        assert!((found.deviation.0 / deviation - 1.0).abs() < 0.03);
        assert_eq!(found.interval, Some(Nanos::from_millis(interval_ms)));
        assert!(found.cliff.is_none() && found.falls.is_empty() && found.swing.is_none());
    }
    assert_eq!(spread(sampled(19, 1, 10)), None);
    let mut two = sampled(20, 1, 10);
    let worker = two.phases[0].workers[0].clone();
    two.phases[0].workers.push(worker);
    assert_eq!(spread(two), None);
    let mut own_time = sampled(20, 1, 10);
    own_time.phases[0].workers[0].ops.write.runtime = Some(Nanos::from_secs(40));
    assert_eq!(
        spread(own_time).unwrap().interval,
        Some(Nanos::from_secs(2))
    );
}

#[test]
fn printed_samples_of_reads_are_the_spread_of_their_intervals() {
    let mut run = sampled(20, 1, 10);
    let worker = &mut run.phases[0].workers[0];
    worker.ops.read = std::mem::take(&mut worker.ops.write);
    let phase = summarize(&[run]).phases.remove(0);
    assert_eq!((phase.op, phase.sustained), (Op::Read, None));
    assert_eq!(phase.detail.intervals.unwrap().mean.0, 20.0);
    let write = summarize(&[sampled(20, 1, 10)]).phases.remove(0);
    assert!(write.sustained.is_some() && write.detail.intervals.is_none());
}

#[test]
fn the_overhead_of_a_series_is_the_median_of_its_runs() {
    let found = |costs: &[Option<u64>]| {
        let run = |(nth, cost): (u32, &Option<u64>)| {
            let mut run = write_run(nth, 30e6, 2);
            run.overhead = cost.map(|per_io_ps| hakaru_model::record::Overhead {
                per_io_ps,
                samples: 1_000,
            });
            run
        };
        let runs: Vec<RunRecord> = (0..).zip(costs).map(run).collect();
        summarize(&runs).overhead_ns
    };
    assert_eq!(found(&[None]), None);
    assert_eq!(found(&[Some(2_500)]), Some(2.5));
    assert_eq!(found(&[Some(9_000), None, Some(1_000)]), Some(5.0));
    assert_eq!(found(&[Some(9_000), Some(2_000), Some(1_000)]), Some(2.0));
}

#[test]
fn evenness_is_that_of_all_intervals() {
    let mut run = write_run(0, 30e6, 20);
    let intervals = &mut run.phases[0].workers[0].intervals;
    intervals[3].ops.write.bytes = 5_000_000;
    intervals[9].ops.write.bytes = 40_000_000;
    let found = summarize(&[run]).phases.remove(0).sustained.unwrap();
    assert_eq!((found.min.0, found.max.0), (10e6, 80e6));
    // 38 intervals with 30 MB/s, one with 10 and one with 80.
    let mean = (38.0 * 30e6 + 10e6 + 80e6) / 40.0;
    let square = |value: f64| (value - mean).powi(2);
    let squares = 38.0 * square(30e6) + square(10e6) + square(80e6);
    assert!((found.mean.0 / mean - 1.0).abs() < 1e-9, "{found:?}");
    let deviation = (squares / 39.0).sqrt();
    assert!((found.deviation.0 / deviation - 1.0).abs() < 1e-9);
    assert_eq!(found.interval, Some(Nanos::from_millis(500)));
}
