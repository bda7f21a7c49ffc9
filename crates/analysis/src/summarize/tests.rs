//! Tests of summaries, with constructed records whose expected figures are computed next to them.

mod caveat_rules;
mod chosen_figures;
mod details;
mod latency_sources;
mod measured;
mod merged_caveats;
mod origins;
mod over_time;
mod phase_runs;
mod reduced_records;
mod repeated_caveats;
mod traffic;
mod workload_shapes;

use super::*;
use crate::testing::{Fake, records, run_of, write_run};
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::{DiskStats, Fact};
use hakaru_model::job::SizeSpec;
use hakaru_model::obstacle::Reason;
use hakaru_model::record::{FailureKind, Interval, IntervalOp, IoError, StopReason};
use hakaru_model::units::{Nanos, Quantile};

/// Returns an interval that writes 1 MB with each I/O.
fn one_mb_each(at: Nanos, length: Nanos, ios: u64) -> Interval {
    let mut interval = Interval {
        at,
        length,
        ..Interval::default()
    };
    interval.ops.write = IntervalOp {
        ios,
        bytes: ios * 1_000_000,
        ..IntervalOp::default()
    };
    interval
}

#[test]
fn rates_are_bytes_over_time_one_value_a_run() {
    let summary = summarize(&records(&[40e6, 50e6, 60e6]));
    let [phase] = summary.phases.as_slice() else {
        panic!("{summary:?}")
    };
    assert_eq!((phase.phase.as_str(), phase.op), ("write", Op::Write));
    assert_eq!(phase.workload, "sequential write, 1 MiB, queue depth 1");
    for (got, want) in phase.bandwidth.values.iter().zip([40e6, 50e6, 60e6]) {
        assert!((got - want).abs() < 1e-3 * want, "{got} {want}");
    }
    assert!((phase.bandwidth.mean / phase.iops.mean - 1_048_576.0).abs() < 1e-3);
    assert_eq!(
        phase.latency.as_ref().unwrap().count,
        total_ios(&[40e6, 50e6, 60e6])
    );
}

fn total_ios(speeds: &[f64]) -> u64 {
    records(speeds)
        .iter()
        .map(|r| r.phases[0].workers[0].ops.write.ios)
        .sum()
}

#[test]
fn workers_of_a_group_add_up_over_the_longest_time() {
    let mut run = write_run(0, 20e6, 20);
    let mut second = run.phases[0].workers[0].clone();
    second.clone = 1;
    second.runtime = Nanos(second.runtime.0 / 2);
    run.phases[0].workers.push(second);
    let bytes = run.phases[0].workers[0].ops.write.bytes as f64;
    let want = 2.0 * bytes / run.phases[0].workers[0].runtime.as_secs_f64();
    let summary = summarize(&[run.clone()]);
    assert!((summary.phases[0].bandwidth.mean - want).abs() < 1.0);
    // Two parallel groups each have their own time.
    let mut other = run.scenario.phases[0].jobs[0].clone();
    other.group = 1;
    run.scenario.phases[0].jobs.push(other);
    run.phases[0].workers[1].job = 1;
    let summary = summarize(&[run]);
    assert!((summary.phases[0].bandwidth.mean - 1.5 * want).abs() < 1.0);
}

/// Regression: four queues of 32 I/Os of 1 MiB on a card of 44 MB/s were 67 MB/s. Each worker starts to measure when its
/// first I/O after the ramp completes, and the last one counts what it completes after the others have ended.
#[test]
fn workers_that_leave_their_ramps_one_by_one_add_up_over_the_whole_time() {
    let ms = Nanos::from_millis;
    let mut run = write_run(0, 20e6, 20);
    run.scenario.phases[0].jobs[0].timing.ramp_time = ms(100);
    let mut worker = run.phases[0].workers[0].clone();
    worker.intervals.clear();
    run.phases[0].workers.clear();
    // A card that does 40 I/Os of 1 MB a second does 224 between the first start and the last end. The later workers
    // do not count the one with which they start.
    for (clone, start, ios) in [(0, 800, 56), (1, 1600, 55), (2, 2400, 55), (3, 3200, 55)] {
        worker.clone = clone;
        (worker.runtime, worker.job_runtime) = (ms(3200), ms(start + 3200));
        worker.ops.write.ios = ios;
        worker.ops.write.bytes = ios * 1_000_000;
        run.phases[0].workers.push(worker.clone());
    }
    let summary = summarize(&[run]);
    let phase = &summary.phases[0];
    let (rate, iops) = (phase.bandwidth.mean, phase.iops.mean);
    assert!((rate - 40e6).abs() < 1.0, "{rate}");
    assert!((iops - 40.0).abs() < 1e-6, "{iops}");
}

#[test]
fn timelines_of_workers_are_added_on_one_grid() {
    let mut run = write_run(0, 20e6, 20);
    let mut second = run.phases[0].workers[0].clone();
    // The second worker's intervals are shifted by a quarter of a second against the first's.
    for interval in &mut second.intervals {
        interval.at.0 -= 250_000_000;
    }
    second.intervals[0].length.0 -= 250_000_000;
    let halved = second.intervals[0].ops.write.bytes / 2;
    second.intervals[0].ops.write.bytes = halved;
    run.phases[0].workers.push(second);
    let summary = summarize(&[run]);
    let points = &summary.phases[0].timelines[0];
    assert_eq!(points.len(), 40);
    for point in &points[..39] {
        assert!((point.bandwidth.0 - 40e6).abs() < 0.05 * 40e6, "{point:?}");
    }
    assert!(points.windows(2).all(|w| w[0].at_s < w[1].at_s));
}

/// Regression: the last interval showed a drop, because workers end one by one.
#[test]
fn workers_that_end_at_different_ios_leave_no_drop() {
    let mut run = write_run(0, 20e6, 20);
    let first = run.phases[0].workers[0].clone();
    for early_ms in [60, 120, 180] {
        let mut worker = first.clone();
        let last = worker.intervals.last_mut().unwrap();
        let length = last.length.0;
        last.at.0 -= early_ms * 1_000_000;
        last.length.0 -= early_ms * 1_000_000;
        let bytes = &mut last.ops.write.bytes;
        *bytes = (u128::from(*bytes) * u128::from(last.length.0) / u128::from(length)) as u64;
        run.phases[0].workers.push(worker);
    }
    let summary = summarize(&[run.clone()]);
    let points = &summary.phases[0].timelines[0];
    for point in points {
        assert!((point.bandwidth.0 - 80e6).abs() < 0.02 * 80e6, "{point:?}");
    }
    // A worker that ends long before the others is a drop.
    let intervals = &mut run.phases[0].workers[3].intervals;
    intervals.truncate(intervals.len() / 2);
    let summary = summarize(&[run]);
    let points = &summary.phases[0].timelines[0];
    let speed = |nth: usize| points[nth].bandwidth.0;
    assert!((speed(2) - 80e6).abs() < 0.02 * 80e6, "{}", speed(2));
    let late = points.len() - 3;
    assert!((speed(late) - 60e6).abs() < 0.02 * 60e6, "{}", speed(late));
}

#[test]
fn a_long_write_has_its_evenness_and_a_short_one_has_none() {
    let summary = summarize(&[write_run(0, 30e6, 20)]);
    let even = summary.phases[0].sustained.clone().unwrap();
    assert!((even.mean.0 - 30e6).abs() < 0.5e6 && even.cliff.is_none());
    let interval = even.interval.unwrap().0;
    assert!(
        (400_000_000..1_100_000_000).contains(&interval),
        "{interval}"
    );
    let short = summarize(&[write_run(0, 30e6, 8)]);
    assert_eq!(short.phases[0].sustained, None);
    assert!(
        short
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::Short { .. }))
    );
}

#[test]
fn a_cliff_becomes_a_caveat() {
    let mut run = write_run(0, 30e6, 40);
    for interval in &mut run.phases[0].workers[0].intervals[30..] {
        interval.ops.write.bytes /= 3;
    }
    let summary = summarize(&[run]);
    let cliff = summary.phases[0]
        .sustained
        .as_ref()
        .unwrap()
        .cliff
        .clone()
        .unwrap();
    assert!(
        (cliff.after_time.as_secs_f64() - 15.0).abs() < 0.5,
        "{cliff:?}"
    );
    assert!(
        summary
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::Cliff { before, after, .. } if before.0 == 30e6 && after.0 == 10e6)),
        "{:?}",
        summary.caveats
    );
}

/// Regression: a card with a cache of 268 MB slowed down "after 149 MB", because the ramp time had written the rest.
#[test]
fn a_cliff_counts_what_the_ramp_time_wrote() {
    let mut run = write_run(0, 30e6, 40);
    for interval in &mut run.phases[0].workers[0].intervals[30..] {
        interval.ops.write.bytes /= 3;
    }
    let found = |run: &RunRecord| summarize(std::slice::from_ref(run)).phases.remove(0);
    let cliff = |phase: &PhaseSummary| phase.sustained.as_ref().unwrap().cliff.clone().unwrap();
    let without = found(&run);
    assert!(without.detail.ramps.is_empty());
    run.scenario.phases[0].jobs[0].timing.ramp_time = Nanos::from_secs(4);
    run.phases[0].workers[0].ramp_bytes = Some(hakaru_model::job::PerOp::all(Bytes(120_000_000)));
    let with = found(&run);
    assert_eq!(cliff(&with).at.0, cliff(&without).at.0 + 120_000_000);
    let later = cliff(&with).after_time.0 - cliff(&without).after_time.0;
    assert_eq!(with.detail.ramps[0].bytes, Bytes(120_000_000));
    assert_eq!(later, with.detail.ramps[0].time.0);
    assert!(later >= Nanos::from_secs(4).0, "{later}");
}

#[test]
fn percentiles_are_merged_and_only_where_samples_suffice() {
    let few = summarize(&records(&[5e6]));
    let latency = few.phases[0].latency.clone().unwrap();
    assert!(
        latency.count < 368 && latency.quantiles.iter().all(|(q, _)| q.share() < 0.99),
        "{latency:?}"
    );
    assert!(few.caveats.iter().any(
        |c| matches!(c, Caveat::FewSamples { percentile, .. } if *percentile == Quantile::P99)
    ));
    let many = summarize(&records(&[40e6; 4]));
    let latency = many.phases[0].latency.clone().unwrap();
    let of = |share: f64| {
        latency
            .quantiles
            .iter()
            .find(|(q, _)| q.share() == share)
            .unwrap()
            .1
    };
    assert!(of(0.5) <= of(0.99) && of(0.99) <= latency.max);
    assert_eq!(latency.curve.last().unwrap(), &(1.0, latency.max));
    assert_eq!(many.phases[0].detail.latency_by_run[0].0, Quantile::MEDIAN);
    assert_eq!(many.phases[0].detail.latency_by_run[0].1.values.len(), 4);
}

#[test]
fn amplification_counts_the_disk_at_the_bottom_once() {
    let mut run = write_run(0, 30e6, 20);
    let bytes = run.phases[0].workers[0].ops.write.bytes;
    let disk = |name: &str, sectors| DiskStats {
        name: name.into(),
        write_sectors: sectors,
        ..DiskStats::default()
    };
    run.phases[0].disks = vec![disk("dm-0", bytes / 512), disk("mmcblk0", bytes / 512 * 3)];
    let found = summarize(&[run]).phases[0].amplification.clone().unwrap();
    assert!((found.mean - 3.0).abs() < 1e-3, "{found:?}");
}

#[test]
fn reports_reads_that_the_device_did_not_answer() {
    // For example reads of a file whose space was only reserved: unwritten ranges are read without the device.
    let read = |share: u64| {
        let fake = Fake {
            name: "r",
            op: Op::Read,
            random: false,
            block: 1 << 20,
            iops: 30.0,
            seconds: 20,
            sync_ms: None,
        };
        let mut run = run_of(0, &[fake]);
        let bytes = run.phases[0].workers[0].ops.read.bytes;
        let disk = DiskStats {
            name: "x".into(),
            read_sectors: bytes / 512 * share / 10,
            ..DiskStats::default()
        };
        run.phases[0].disks = vec![disk];
        summarize(&[run]).caveats
    };
    let reported = |caveats: &[Caveat]| {
        caveats
            .iter()
            .find(|c| matches!(c, Caveat::ReadElsewhere { .. }))
            .cloned()
    };
    assert_eq!(reported(&read(10)), None);
    assert!(
        matches!(
            reported(&read(6)),
            Some(Caveat::ReadElsewhere {
                share_permille: 600,
                ..
            })
        ),
        "{:?}",
        read(6)
    );
}

#[test]
fn stopped_runs_do_not_count_where_others_finished() {
    let mut runs = records(&[40e6, 41e6, 12e6]);
    runs[2].phases[0].workers[0].stop = StopReason::Stopped;
    let summary = summarize(&runs);
    assert_eq!(summary.phases[0].bandwidth.values.len(), 2);
    assert_eq!(summary.runs.len(), 3);
    let alone = summarize(&runs[2..]);
    assert_eq!(alone.phases[0].bandwidth.values.len(), 1);
}

/// Regression: a card that failed after a second counted as a full repeat, with the speed of that second.
#[test]
fn runs_that_an_error_ended_do_not_count_where_others_finished() {
    let mut runs = records(&[40e6, 41e6, 90e6]);
    let failed = &mut runs[2].phases[0].workers[0];
    failed.errors.push(failure());
    failed.stop = StopReason::Error;
    let reported = |summary: &Summary| {
        summary
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::DeviceErrors { count: 1, .. }))
    };
    let summary = summarize(&runs);
    assert_eq!(
        (
            summary.phases[0].bandwidth.values.len(),
            summary.phases[0].errors
        ),
        (2, 1)
    );
    assert!(
        summary.phases[0].bandwidth.max < 50e6 && reported(&summary),
        "{:?}",
        summary.caveats
    );
    // If no run finished, there is no better figure, and a caveat explains it.
    let alone = summarize(&runs[2..]);
    assert_eq!(
        (
            alone.phases[0].bandwidth.values.len(),
            alone.phases[0].errors
        ),
        (1, 1)
    );
    assert!(reported(&alone), "{:?}", alone.caveats);
}

fn failure() -> IoError {
    IoError {
        action: "write".into(),
        op: Some(Op::Write),
        kind: FailureKind::Io,
        file: "x".into(),
        offset: Bytes(0),
        len: Bytes(4096),
        errno: 5,
        at: Nanos(1),
        mismatches: Vec::new(),
    }
}

#[test]
fn clones_with_places_of_their_own_work_on_more() {
    let extent = |numjobs: u32, increment: SizeSpec, size: u64| {
        let mut run = write_run(0, 30e6, 20);
        let job = &mut run.scenario.phases[0].jobs[0];
        (job.numjobs, job.extent.offset_increment) = (numjobs, increment);
        job.extent.size = Some(SizeSpec::Bytes(Bytes(size)));
        summarize(&[run]).phases[0]
            .detail
            .shape
            .and_then(|shape| shape.extent)
    };
    let gib = |n: u64| SizeSpec::Bytes(Bytes(n << 30));
    assert_eq!(extent(4, gib(1), 1 << 30), Some(Bytes(4 << 30)));
    assert_eq!(
        extent(4, SizeSpec::Percent(10), 1 << 30),
        Some(Bytes(4 << 30))
    );
    assert_eq!(
        extent(4, gib(0), 1 << 30),
        Some(Bytes(1 << 30)),
        "they share one place"
    );
    // The capacity of the card limits the extent.
    assert_eq!(extent(8, gib(4), 8 << 30), Some(Bytes(32_000_000_000)));
}

#[test]
fn caveats_come_once_each_and_the_worst_of_a_kind_stays() {
    let mut runs = records(&[40e6, 41e6]);
    runs[0].caveats = vec![
        Caveat::Buffered,
        Caveat::NoDiskStats {
            because: Reason::Text("x".into()),
        },
    ];
    runs[1].caveats = vec![Caveat::Buffered, Caveat::HostBusy { load_percent: 60 }];
    runs[0].environment.load_percent = Fact::Known(180);
    runs[0].environment.governor = Fact::Known("powersave".into());
    let summary = summarize(&runs);
    let count = |f: &dyn Fn(&Caveat) -> bool| summary.caveats.iter().filter(|c| f(c)).count();
    assert_eq!(count(&|c| *c == Caveat::Buffered), 1);
    assert_eq!(
        count(&|c| matches!(c, Caveat::HostBusy { load_percent: 180 })),
        1
    );
    assert_eq!(count(&|c| matches!(c, Caveat::PowerSaving { .. })), 1);
    assert_eq!(count(&|c| matches!(c, Caveat::FewRuns { runs: 2 })), 1);
    assert_eq!(summary.caveats[0], Caveat::Buffered);
}

#[test]
fn a_traced_run_gives_its_path_but_no_figures() {
    let mut runs = records(&[40e6, 41e6, 20e6]);
    runs[2].caveats = vec![Caveat::Traced];
    let summary = summarize(&runs);
    assert_eq!(summary.runs.len(), 2);
    assert_eq!(summary.phases[0].bandwidth.values.len(), 2);
    assert!(!summary.caveats.contains(&Caveat::Traced));
    // Traced runs alone are summarized, and marked.
    let summary = summarize(&runs[2..]);
    assert_eq!(summary.phases[0].bandwidth.values.len(), 1);
    assert!(summary.caveats.contains(&Caveat::Traced));
}

#[test]
fn reports_overhead_above_the_limit() {
    let mut runs = records(&[40e6]);
    let median = summarize(&runs).phases[0].latency.as_ref().unwrap().mean_ns;
    runs[0].overhead = Some(hakaru_model::record::Overhead {
        per_io_ps: (median * 20.0) as u64,
        samples: 1000,
    });
    let summary = summarize(&runs);
    assert!(
        summary.caveats.iter().any(|c| matches!(
            c,
            Caveat::Overhead {
                share_permille: 19..=21,
                ..
            }
        )),
        "{:?}",
        summary.caveats
    );
}

#[test]
fn bytes_of_all_runs_add_up() {
    let runs = records(&[15e6, 248e6, 100e6]);
    let bytes = |run: &RunRecord| run.phases[0].workers[0].ops.write.bytes;
    let sum: u64 = runs.iter().map(bytes).sum();
    assert!(sum > 3 * runs.iter().map(bytes).min().unwrap());
    let summary = summarize(&runs);
    assert_eq!(summary.phases[0].detail.moved_in_all.0, sum);
}

#[test]
fn a_drop_never_exceeds_the_total() {
    // A line through these runs falls below zero before the last one.
    for speeds in [
        [100e6, 90e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6],
        [900e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6, 2e6],
        [90e6, 80e6, 70e6, 60e6, 50e6, 2e6, 2e6, 2e6, 2e6, 2e6],
    ] {
        let summary = summarize(&records(&speeds));
        let stability = summary.phases[0].detail.stability.as_ref().unwrap();
        let change = stability.drift.unwrap();
        assert!((-1.0..0.0).contains(&change), "{speeds:?}: {change}");
    }
}

#[test]
fn drift_and_outliers_are_flagged_and_kept() {
    let falling: Vec<f64> = (0..10).map(|i| 50e6 - 1e6 * f64::from(i)).collect();
    let summary = summarize(&records(&falling));
    assert!(
        summary.caveats.iter().any(|c| matches!(
            c,
            Caveat::Drift {
                change_permille: -210..=-180,
                ..
            }
        )),
        "{:?}",
        summary.caveats
    );
    let odd = [
        26e6, 26.1e6, 26.2e6, 26e6, 26.1e6, 26.05e6, 26.15e6, 16e6, 26e6, 26.1e6,
    ];
    let summary = summarize(&records(&odd));
    assert!(
        summary.caveats.iter().any(|c| matches!(
            c,
            Caveat::Outliers {
                count: 1,
                runs: 10,
                ..
            }
        )),
        "{:?}",
        summary.caveats
    );
    assert_eq!(
        summary.phases[0]
            .detail
            .stability
            .as_ref()
            .unwrap()
            .outliers,
        [7]
    );
    assert_eq!(summary.phases[0].bandwidth.values.len(), 10);
}

#[test]
fn counts_and_reports_device_errors() {
    let mut run = write_run(0, 30e6, 20);
    run.phases[0].workers[0].errors.push(failure());
    run.phases[0].workers[0].errors.total = 40;
    let summary = summarize(&[run]);
    assert_eq!(summary.phases[0].errors, 40);
    assert!(
        summary
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::DeviceErrors { count: 40, .. }))
    );
}

/// Returns errors of reads and writes, other errors stored with each, and limits exceeded by reads.
fn counted(errors: &[(Option<Op>, FailureKind, &str)]) -> ([u64; 2], [u64; 2], u64) {
    let mut run = write_run(0, 30e6, 20);
    let worker = &mut run.phases[0].workers[0];
    worker.ops.read = worker.ops.write.clone();
    for &(op, kind, action) in errors {
        worker.errors.push(IoError {
            op,
            kind,
            action: action.into(),
            ..failure()
        });
    }
    let summary = summarize(&[run]);
    let of = |op| summary.phases.iter().find(|phase| phase.op == op).unwrap();
    let both = [of(Op::Read), of(Op::Write)];
    (
        both.map(|phase| phase.errors),
        both.map(|phase| phase.detail.other_errors),
        both[0].detail.limits_missed,
    )
}

/// Regression: a failed read counted as a write unless its action was exactly "read".
#[test]
fn errors_are_counted_by_their_recorded_operation() {
    for kind in [FailureKind::Io, FailureKind::Verify] {
        let read = (Some(Op::Read), kind, "read");
        assert_eq!(counted(&[read]), ([1, 0], [0, 0], 0), "{kind:?}");
    }
    let others = [
        (None, FailureKind::Sync, "fsync"),
        (None, FailureKind::Log, "write"),
    ];
    assert_eq!(counted(&others), ([0, 0], [2, 0], 0));
    // Old records have only names: names of operations count for these, other names for the phase.
    let old = |action| counted(&[(None, FailureKind::Unknown, action)]);
    for (action, errors) in [("read", [1, 0]), ("verify", [1, 0]), ("write", [0, 1])] {
        assert_eq!(old(action), (errors, [0, 0], 0));
    }
    for action in [
        "latency of 12 nsec exceeds specified max (10 nsec): read",
        "fsync",
        "rate_min=10B/s not met",
    ] {
        assert_eq!(old(action), ([0, 0], [1, 0], 0), "{action}");
    }
}

/// Regression: a page showed "1 I/Os failed" for an exceeded limit.
#[test]
fn a_missed_limit_is_no_failed_io() {
    let (latency, max) = (Nanos(12), Nanos(10));
    let slow = FailureKind::TooSlow { latency, max };
    let below = FailureKind::RateMissed { wanted: 10, got: 9 };
    for kind in [slow, below] {
        let missed = (Some(Op::Read), kind, "read");
        assert_eq!(counted(&[missed]), ([0, 0], [0, 0], 1), "{kind:?}");
        let both = [(Some(Op::Read), FailureKind::Io, "read"), missed];
        assert_eq!(counted(&both), ([1, 0], [0, 0], 1), "{kind:?}");
    }
}

#[test]
fn an_empty_series_and_a_record_of_zeroes_are_no_panic() {
    assert_eq!(summarize(&[]).phases.len(), 0);
    let mut run = write_run(0, 30e6, 20);
    let worker = &mut run.phases[0].workers[0];
    worker.runtime = Nanos(0);
    worker.job = u32::MAX;
    worker
        .intervals
        .iter_mut()
        .for_each(|i| i.length = Nanos(0));
    assert_eq!(summarize(&[run]).phases.len(), 0);
}

#[test]
fn reports_circumstances_that_flatter_or_disturb() {
    let mut run = write_run(0, 30e6, 20);
    run.scenario.phases[0].jobs[0].extent.size = Some(SizeSpec::Bytes(Bytes(256 << 20)));
    let Fact::Known(device) = &mut run.target.device else {
        panic!()
    };
    device.write_cache = Fact::Known("write back".into());
    run.target.system_disk = true;
    run.environment.throttled = Fact::Known(0x5_0005);
    let reported = |run: &RunRecord| summarize(std::slice::from_ref(run)).caveats;
    let caveats = reported(&run);
    for wanted in [
        Caveat::SmallFile {
            size: Bytes(256 << 20),
        },
        Caveat::WriteCache,
        Caveat::SystemDisk,
        Caveat::HostThrottled { flags: 0x5_0005 },
    ] {
        assert!(caveats.contains(&wanted), "{wanted:?} in {caveats:?}");
    }
    // Data followed by an fsync is safe from the write cache; flags since boot do not describe this run.
    run.scenario.phases[0].jobs[0].durability.fsync_every = 1;
    run.environment.throttled = Fact::Known(0x5_0000);
    let caveats = reported(&run);
    assert!(
        !caveats
            .iter()
            .any(|c| matches!(c, Caveat::WriteCache | Caveat::HostThrottled { .. })),
        "{caveats:?}"
    );
}

#[test]
fn reads_through_the_page_cache_may_be_reads_of_memory() {
    let summary = crate::testing::read_series(1, 900e6, 0.01);
    assert!(
        !summary
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::FitsInMemory { .. }))
    );
    let fake = crate::testing::Fake {
        name: "read",
        op: Op::Read,
        random: false,
        block: 1 << 20,
        iops: 900.0,
        seconds: 10,
        sync_ms: None,
    };
    let mut run = crate::testing::run_of(0, &[fake]);
    run.scenario.phases[0].jobs[0].files.direct = false;
    run.environment.memory = Bytes(8 << 30);
    let summary = summarize(&[run]);
    assert!(
        summary
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::FitsInMemory { .. })),
        "{:?}",
        summary.caveats
    );
    assert_eq!(
        summary.phases[0].workload,
        "sequential read, 1 MiB, queue depth 1, through the page cache"
    );
}

#[test]
fn no_record_panics_whatever_its_figures_are() {
    let mut rng = hakaru_model::rng::Rng::new(50);
    for trial in 0..300 {
        let mut odd = |most: u32| {
            let bits = rng.below(u64::from(most) + 1);
            rng.next_u64() & ((1u64 << bits) - 1)
        };
        let mut run = write_run(0, 30e6, 12);
        let mut worker = run.phases[0].workers[0].clone();
        worker.runtime = Nanos(odd(63));
        worker.job = odd(3) as u32;
        worker.ops.write.bytes = odd(63);
        worker.ops.write.ios = odd(63);
        worker.ops.read.ios = odd(2);
        worker.errors.total = odd(63);
        for interval in &mut worker.intervals {
            interval.at = Nanos(odd(63));
            interval.length = Nanos(odd(40));
            interval.ops.write.bytes = odd(63);
        }
        run.phases[0].workers.push(worker);
        run.phases[0].disks = vec![DiskStats {
            write_sectors: odd(63),
            ..DiskStats::default()
        }];
        run.scenario.phases[0].jobs[0].timing.ramp_time = Nanos(odd(63));
        run.scenario.phases[0].jobs[0].numjobs = odd(32) as u32;
        if trial % 7 == 0 {
            run.scenario.phases.clear();
        }
        let runs = vec![run; 1 + trial % 4];
        let summary = summarize(&runs);
        crate::advise(&summary, &crate::default_rules());
        crate::compare_summaries(&summary, &summary);
        crate::bus_limit(&[&summary, &summary]);
        serde_json::to_string(&summary).expect("a summary is plain data");
    }
}

/// Returns an imported run: no histogram, no intervals, sixteen writers as one.
fn imported(rate: Option<f64>) -> RunRecord {
    use hakaru_model::record::Samples;
    use hakaru_model::reported::{Percentile, Reported, StatedRate, WorkerReport};
    let mut run = write_run(0, 20e6, 40);
    let worker = &mut run.phases[0].workers[0];
    worker.intervals.clear();
    worker.ops.write.clat.histogram = None;
    let mut report = WorkerReport {
        members: 16,
        ..WorkerReport::default()
    };
    report.ops.write.clat = vec![Percentile {
        share: Quantile::P99,
        value: Nanos(5_000_000),
    }];
    if let Some(mean) = rate {
        (worker.ops.write, worker.runtime) = (Default::default(), Nanos(0));
        report.ops.write.bytes_per_s = Some(StatedRate::once(mean));
        report.ops.write.iops = Some(StatedRate::once(mean / 1_048_576.0));
    } else {
        let mut samples = Samples::default();
        (0..1280).for_each(|i| samples.record(20_000_000 + i % 3));
        worker.ops.write.bw_samples = samples;
    }
    let reported = Box::new(Reported {
        workers: vec![report],
        ..Reported::default()
    });
    run.origin = Origin::Imported {
        program: "fio-3.39".into(),
        source: "a.txt".into(),
        reported,
    };
    run
}

#[test]
fn printed_percentiles_and_samples_take_part_and_no_curve_is_invented() {
    let phase = summarize(&[imported(None)]).phases.remove(0);
    let latency = phase.latency.unwrap();
    assert_eq!(
        (latency.quantiles, latency.curve.len()),
        (vec![(Quantile::P99, Nanos(5_000_000))], 0)
    );
    assert_eq!(phase.detail.latency_by_run.len(), 1);
    assert_eq!(phase.detail.shape.unwrap().workers, 16);
    let sustained = phase.sustained.unwrap();
    assert_eq!(sustained.min, BytesPerSec(20e6));
    // Sixteen jobs print the samples of each half second of 40 s.
    let interval = sustained.interval.unwrap().0;
    assert!((490_000_000..510_000_000).contains(&interval), "{interval}");
    assert_eq!(phase.bandwidth.values.len(), 1);
}

#[test]
fn printed_percentiles_of_several_runs_are_not_merged() {
    let phase = summarize(&[imported(None), imported(None)])
        .phases
        .remove(0);
    assert_eq!(phase.latency.unwrap().quantiles, []);
    assert_eq!(phase.detail.latency_by_run[0].1.values, [5e6, 5e6]);
    assert_eq!(phase.sustained, None);
}

#[test]
fn a_rate_that_was_stated_alone_is_a_rate() {
    let phase = summarize(&[imported(Some(22.2e6))]).phases.remove(0);
    assert_eq!(phase.bandwidth.values, [22.2e6]);
    assert!((phase.iops.mean - 21.17).abs() < 0.01);
}
