//! Tests of the measured part: disk traffic, open loops, pauses.

use super::*;
use hakaru_model::measured::{HostPauses, LeftOutReason, LeftOutRun, Pause, PauseKind};

fn disk(sectors: u64) -> DiskStats {
    DiskStats {
        name: "x".into(),
        write_sectors: sectors,
        read_sectors: sectors,
        ..DiskStats::default()
    }
}

/// Regression: the ramp traffic was estimated, which gave 0.89 ± 0.11 bytes per byte on a loop device, where the true
/// value is 1.
#[test]
fn amplification_is_that_of_the_measured_part() {
    let mut run = write_run(0, 30e6, 20);
    run.scenario.phases[0].jobs[0].timing.ramp_time = Nanos::from_secs(5);
    let bytes = run.phases[0].workers[0].ops.write.bytes;
    run.phases[0].disks = vec![disk(bytes / 512 * 3)];
    run.phases[0].traffic = Some(MeasuredTraffic {
        disks: vec![disk(bytes / 512)],
        ..MeasuredTraffic::default()
    });
    let found = |run: &RunRecord| summarize(std::slice::from_ref(run)).phases.remove(0);
    assert_eq!(found(&run).amplification.unwrap().mean, 1.0);
    // If in-flight I/Os would make the end of the ramp time imprecise, or workers have no common end, its bytes count
    // too.
    run.phases[0].traffic = None;
    run.phases[0].workers[0].ramp_bytes = Some(hakaru_model::job::PerOp::all(Bytes(2 * bytes)));
    assert!((found(&run).amplification.unwrap().mean - 1.0).abs() < 1e-4);
    run.phases[0].workers[0].ramp_bytes = None;
    let unknown = found(&run);
    assert_eq!(
        (unknown.amplification, unknown.detail.no_amplification),
        (None, Some(NoAmplification::RampNotCounted))
    );
}

/// Regression: fio's counters of a short mixed run held 69% of its direct writes, and the page said that a third of the
/// reads did not come from the device.
#[test]
fn counters_of_another_program_that_miss_direct_writes_prove_nothing() {
    let mut run = write_run(0, 30e6, 20);
    let bytes = run.phases[0].workers[0].ops.write.bytes;
    run.origin = Origin::Imported {
        program: "fio-3.39".into(),
        source: "a.json".into(),
        reported: Box::default(),
    };
    let found = |run: &RunRecord, sectors: u64| {
        let mut run = run.clone();
        run.phases[0].disks = vec![disk(sectors)];
        let phase = summarize(&[run]).phases.remove(0);
        (
            phase.amplification.map(|all| all.mean),
            phase.detail.no_amplification,
        )
    };
    let sectors = bytes / 512;
    assert!(found(&run, sectors).0.is_some());
    let (mean, because) = found(&run, sectors * 7 / 10);
    assert!(
        mean.is_none() && matches!(because, Some(NoAmplification::CountersIncomplete { .. })),
        "{because:?}"
    );
    // Without sectors, nothing was counted.
    assert_eq!(found(&run, 0), (None, None));
    // Buffered writes may reach the device later.
    run.scenario.phases[0].jobs[0].files.direct = false;
    assert!(found(&run, sectors * 7 / 10).0.is_some());
}

#[test]
fn amplification_is_left_out_where_others_use_the_disk() {
    let mut run = write_run(0, 30e6, 20);
    run.target.system_disk = true;
    let bytes = run.phases[0].workers[0].ops.write.bytes;
    run.phases[0].disks = vec![disk(bytes / 512)];
    let (own_read, own_written) = (None, Some(Bytes(bytes)));
    let traffic = |moved: u64| {
        Some(MeasuredTraffic {
            disks: vec![disk(moved / 512)],
            own_read,
            own_written,
        })
    };
    let found = |traffic| {
        let mut run = run.clone();
        run.phases[0].traffic = traffic;
        let summary = summarize(&[run]);
        let reported = summary
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::NoAmplification { .. }));
        assert_eq!(
            reported,
            summary.phases[0].detail.no_amplification.is_some()
        );
        (
            summary.phases[0].amplification.clone().map(|a| a.mean),
            summary.phases[0].detail.no_amplification,
        )
    };
    assert!(
        found(traffic(bytes * 105 / 100))
            .0
            .is_some_and(|mean| (mean - 1.05).abs() < 1e-3)
    );
    let (none, because) = found(traffic(bytes * 2));
    assert!(
        none.is_none() && matches!(because, Some(NoAmplification::OtherUsers { .. })),
        "{because:?}"
    );
    assert_eq!(found(None), (None, Some(NoAmplification::SystemDisk)));
}

#[test]
fn an_open_loop_shows_latency_from_the_intended_start() {
    let mut run = write_run(0, 30e6, 40);
    let worker = &mut run.phases[0].workers[0];
    let mut lat = hakaru_model::record::Latency::with_histogram();
    (1..=worker.ops.write.ios).for_each(|i| lat.record(Nanos::from_millis(i)));
    worker.ops.write.lat = lat;
    let closed = summarize(&[run.clone()]).phases.remove(0);
    let rate = &mut run.scenario.phases[0].jobs[0].rate;
    (rate.poisson, rate.iops.write) = (true, Some(1000));
    let open = summarize(&[run.clone()]).phases.remove(0);
    let ios = run.phases[0].workers[0].ops.write.ios;
    assert_eq!(open.latency.as_ref().unwrap().max, Nanos::from_millis(ios));
    let median = |phase: &PhaseSummary| phase.detail.latency_by_run[0].1.mean;
    assert!(
        (median(&open) / (ios as f64 / 2.0 * 1e6) - 1.0).abs() < 0.01,
        "{}",
        median(&open)
    );
    assert!(median(&closed) < 1e8);
    assert!(
        open.detail.open_loop && !closed.detail.open_loop && open.workload.contains("open loop")
    );
}

/// Returns a run whose tenth interval is five seconds longer, without I/O in them.
fn paused_run() -> RunRecord {
    let mut run = write_run(0, 30e6, 20);
    let worker = &mut run.phases[0].workers[0];
    worker.intervals[9].length.0 += 5_000_000_000;
    worker.intervals[9..]
        .iter_mut()
        .for_each(|interval| interval.at.0 += 5_000_000_000);
    worker.runtime.0 += 5_000_000_000;
    run
}

/// Regression: five seconds of SIGSTOP counted as slowness of the device.
#[test]
fn intervals_that_a_pause_touches_do_not_count() {
    let even = summarize(&[write_run(0, 30e6, 20)]).phases.remove(0);
    let mut run = paused_run();
    let slow = summarize(&[run.clone()]).phases.remove(0);
    assert!(slow.bandwidth.mean < 0.9 * even.bandwidth.mean);
    let pause = Pause {
        at: Nanos::from_millis(4700),
        length: Nanos::from_secs(5),
        kind: PauseKind::Stopped,
    };
    run.phases[0].host_pauses = Some(HostPauses {
        pauses: vec![pause],
        ..HostPauses::default()
    });
    let corrected = summarize(&[run]).phases.remove(0);
    assert!(
        (corrected.bandwidth.mean / even.bandwidth.mean - 1.0).abs() < 0.01,
        "{:?}",
        corrected.bandwidth
    );
    assert_eq!(corrected.timelines[0].len(), even.timelines[0].len() - 1);
}

/// Regression: the deviation was missing without an explanation, and the figures were said to measure the host.
#[test]
fn a_run_that_lost_its_cpu_does_not_count_if_others_did_not() {
    let mut run = paused_run();
    let (phase, waited, measured) = (
        "write".to_owned(),
        Nanos::from_secs(9),
        Nanos::from_secs(20),
    );
    run.caveats.push(Caveat::Descheduled {
        phase,
        waited,
        measured,
    });
    let both = summarize(&[write_run(1, 30e6, 20), run.clone()]);
    assert_eq!(both.phases[0].bandwidth.values.len(), 1);
    let because = LeftOutReason::Descheduled { waited, measured };
    let left_out = Caveat::LeftOut {
        phase: "write".to_owned(),
        runs: vec![LeftOutRun { run: 2, because }],
        of: 2,
    };
    let about_the_host =
        |c: &Caveat| matches!(c, Caveat::Descheduled { .. } | Caveat::Paused { .. });
    assert!(both.caveats.contains(&left_out), "{:?}", both.caveats);
    assert!(!both.caveats.iter().any(about_the_host));
    let alone = summarize(&[run]);
    assert_eq!(alone.phases[0].bandwidth.values.len(), 1);
    assert!(alone.caveats.iter().any(about_the_host), "it counts");
    assert!(alone.phases[0].detail.left_out.is_empty());
}

/// Regression: vfat writes zeros to reserved space, but its 4 MiB were ignored.
#[test]
fn zeroes_of_the_file_system_count_as_laid_out() {
    use hakaru_model::facts::DiskStats;
    use hakaru_model::measured::LaidOut;
    let mut run = write_run(0, 30e6, 10);
    let reported = |run: &RunRecord| {
        summarize(std::slice::from_ref(run)).phases[0]
            .detail
            .laid_out
    };
    let mut reserved = |bytes: u64, disk: u64| {
        let write_sectors = disk / 512;
        let disks = vec![DiskStats {
            name: "sda".into(),
            write_sectors,
            ..DiskStats::default()
        }];
        run.phases[0].laid_out = Some(LaidOut {
            bytes: Bytes(bytes),
            disks,
            ..LaidOut::default()
        });
        reported(&run)
    };
    assert_eq!(reserved(0, 4 << 20), Some(Bytes(4 << 20)));
    assert_eq!(reserved(0, 32 << 10), Some(Bytes(0)), "tables");
    assert_eq!(
        reserved(2 << 20, 3 << 20),
        Some(Bytes(2 << 20)),
        "what was written is known"
    );
    run.target.system_disk = true;
    assert_eq!(reported(&run), Some(Bytes(2 << 20)));
}
