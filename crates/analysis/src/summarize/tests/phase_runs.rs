//! Tests of how phases of several runs are grouped, which of their workers count, and how their rates add up.

use super::*;
use hakaru_model::measured::{HostPauses, LeftOutReason, LeftOutRun, Pause, PauseKind};
use hakaru_model::record::WorkerRecord;
use hakaru_model::reported::{JobProperty, Reported, UnstatedJob};

/// Returns a phase that writes for ten seconds.
fn writing(name: &'static str, block: u64, iops: f64) -> Fake {
    Fake {
        name,
        op: Op::Write,
        random: false,
        block,
        iops,
        seconds: 10,
        sync_ms: None,
    }
}

fn blocks(run: RunRecord) -> Vec<(String, Option<u64>)> {
    let phases = summarize(&[run]).phases.into_iter();
    let block = |phase: PhaseSummary| (phase.phase, phase.detail.shape.map(|shape| shape.block.0));
    phases.map(block).collect()
}

#[test]
fn phases_of_one_name_are_grouped_by_their_occurrence() {
    let run = |repeat: u32, speeds: &[(&'static str, f64)]| {
        let phases = speeds
            .iter()
            .map(|&(name, mb)| writing(name, 1_000_000, mb));
        run_of(repeat, &phases.collect::<Vec<_>>())
    };
    let summary = summarize(&[
        run(0, &[("a", 10.0), ("b", 20.0), ("a", 40.0), ("a", 50.0)]),
        run(1, &[("a", 8.0)]),
        run(2, &[("a", 20.0), ("b", 25.0), ("a", 50.0), ("a", 100.0)]),
        run(3, &[("c", 5.0), ("b", 10.0), ("a", 25.0), ("a", 80.0)]),
    ]);
    let values = |phase: &PhaseSummary| -> Vec<f64> {
        let values = phase.bandwidth.values.iter();
        values.map(|value| (value / 1e6).round()).collect()
    };
    let found: Vec<(&str, Vec<f64>)> = summary
        .phases
        .iter()
        .map(|phase| (phase.phase.as_str(), values(phase)))
        .collect();
    let expected = [
        ("a", vec![10.0, 8.0, 20.0, 25.0]),
        ("b", vec![20.0, 25.0, 10.0]),
        ("a", vec![40.0, 50.0, 80.0]),
        ("a", vec![50.0, 100.0]),
        ("c", vec![5.0]),
    ];
    assert_eq!(found, expected);
}

/// A record may lack phases of its scenario, for example of a run that was interrupted and resumed.
#[test]
fn jobs_are_those_at_the_place_of_the_phase_or_of_its_name() {
    let planned = |names: [&'static str; 3]| {
        let [first, second, third] = names;
        run_of(
            0,
            &[
                writing(first, 4096, 100.0),
                writing(second, 8192, 100.0),
                writing(third, 16_384, 100.0),
            ],
        )
    };
    let named = |name: &str, block: u64| (name.to_owned(), Some(block));
    let all = [named("a", 4096), named("b", 8192), named("c", 16_384)];
    assert_eq!(blocks(planned(["a", "b", "c"])), all);
    let mut later = planned(["a", "b", "c"]);
    later.phases.remove(0);
    assert_eq!(blocks(later), all[1..]);
    let mut reversed = planned(["a", "b", "c"]);
    reversed.phases.reverse();
    let backwards: Vec<_> = all.iter().rev().cloned().collect();
    assert_eq!(blocks(reversed), backwards);
    // Each phase of one name has the job at its own place.
    let alike = [named("a", 4096), named("a", 8192), named("b", 16_384)];
    assert_eq!(blocks(planned(["a", "a", "b"])), alike);
    let mut unknown = planned(["a", "b", "c"]);
    unknown.phases[1].name = "d".into();
    let found = blocks(unknown);
    assert_eq!(found[1], ("d".to_owned(), None));
}

/// Returns a run whose intervals show 10 MB/s, but its totals 15 MB/s, with a pause of the host.
fn paused(at_ms: u64, length_ms: u64) -> RunRecord {
    let mut run = write_run(1, 10e6, 20);
    let worker = &mut run.phases[0].workers[0];
    worker.runtime = Nanos::from_secs(20);
    (worker.ops.write.bytes, worker.ops.write.ios) = (300_000_000, 600);
    let pause = Pause {
        at: Nanos::from_millis(at_ms),
        length: Nanos::from_millis(length_ms),
        kind: PauseKind::Stopped,
    };
    run.phases[0].host_pauses = Some(HostPauses {
        pauses: vec![pause],
        ..HostPauses::default()
    });
    run
}

#[test]
fn runs_whose_pauses_leave_no_interval_intact_do_not_count() {
    // Intervals of half a second up to 20 s.
    let cases = [
        (0, 20_000, true),
        (499, 19_002, true),
        (0, 19_501, true),
        (0, 19_500, false),
        (500, 19_500, false),
        (5_000, 1, false),
    ];
    for (at_ms, length_ms, is_whole) in cases {
        let both = summarize(&[write_run(0, 30e6, 20), paused(at_ms, length_ms)]);
        let phase = &both.phases[0];
        let excluded = LeftOutRun {
            run: 2,
            because: LeftOutReason::Paused,
        };
        let expected: Vec<LeftOutRun> = is_whole.then_some(excluded).into_iter().collect();
        assert_eq!(phase.detail.left_out, expected, "{at_ms} {length_ms}");
        let counted = if is_whole { 1 } else { 2 };
        assert_eq!(phase.bandwidth.values.len(), counted);
    }
}

/// The only run counts even if pauses left no interval: there is no better figure than its totals.
#[test]
fn a_run_without_intact_intervals_has_the_rates_of_its_totals() {
    for (at_ms, length_ms, bandwidth, iops) in [
        (0, 20_000, 15e6, 30.0),
        (499, 19_002, 15e6, 30.0),
        // The helper counts 4 I/Os in an interval.
        (0, 19_500, 10e6, 8.0),
        (5_000, 1, 10e6, 8.0),
    ] {
        let phase = summarize(&[paused(at_ms, length_ms)]).phases.remove(0);
        assert!(phase.detail.left_out.is_empty());
        assert!((phase.bandwidth.mean - bandwidth).abs() < 1e-3, "{at_ms}");
        assert!((phase.iops.mean - iops).abs() < 1e-9, "{at_ms}");
    }
    let mut without = paused(0, 20_000);
    without.phases[0].host_pauses = None;
    assert_eq!(summarize(&[without]).phases[0].bandwidth.mean, 15e6);
}

fn as_imported(mut run: RunRecord, reported: Reported) -> RunRecord {
    run.origin = Origin::Imported {
        program: "fio-3.39".into(),
        source: "a.json".into(),
        reported: Box::new(reported),
    };
    run
}

/// Bytes and I/Os of a worker.
type Amounts = (u64, u64);

/// Bytes and I/Os per second.
type BothRates = (f64, f64);

#[test]
fn workers_count_if_only_their_bytes_or_their_ios_are_known() {
    let with = |amounts: &[Amounts]| {
        let mut run = write_run(0, 20e6, 20);
        let mut worker = run.phases[0].workers.remove(0);
        worker.runtime = Nanos::from_secs(20);
        worker.intervals.clear();
        for &(bytes, ios) in amounts {
            (worker.ops.write.bytes, worker.ops.write.ios) = (bytes, ios);
            run.phases[0].workers.push(worker.clone());
        }
        run
    };
    let cases: [(&[Amounts], Option<BothRates>); 6] = [
        (&[(200_000_000, 2_000)], Some((10e6, 100.0))),
        (&[(200_000_000, 0)], Some((10e6, 0.0))),
        (&[(0, 2_000)], Some((0.0, 100.0))),
        (&[(200_000_000, 0), (0, 2_000), (0, 0)], Some((10e6, 100.0))),
        (
            &[(200_000_000, 2_000), (100_000_000, 0)],
            Some((15e6, 100.0)),
        ),
        (&[(0, 0)], None),
    ];
    for (amounts, expected) in cases {
        let run = with(amounts);
        for run in [run.clone(), as_imported(run, Reported::default())] {
            let summary = summarize(&[run]);
            let phase = summary.phases.first();
            let rates = phase.map(|phase| (phase.bandwidth.mean, phase.iops.mean));
            assert_eq!(rates, expected, "{amounts:?}");
        }
    }
}

#[test]
fn workloads_leave_out_what_another_program_did_not_state() {
    let found = |phase: u32, job: u32, property: JobProperty| {
        let unstated = UnstatedJob {
            phase,
            job,
            properties: vec![property],
        };
        let reported = Reported {
            unstated: vec![unstated],
            ..Reported::default()
        };
        let run = as_imported(write_run(0, 20e6, 20), reported);
        let phase = summarize(&[run]).phases.remove(0);
        (phase.workload, phase.detail.shape.is_some())
    };
    let full = "sequential write, 1 MiB, queue depth 1";
    // Workloads are compared only if these four are known.
    for (property, workload, has_shape) in [
        (
            JobProperty::Operation,
            "sequential read or write, 1 MiB, queue depth 1",
            false,
        ),
        (JobProperty::Order, "write, 1 MiB, queue depth 1", false),
        (
            JobProperty::BlockSize,
            "sequential write, queue depth 1",
            false,
        ),
        (JobProperty::QueueDepth, "sequential write, 1 MiB", false),
        (JobProperty::Engine, full, true),
        (JobProperty::Direct, full, true),
    ] {
        assert_eq!(found(0, 0, property), (workload.to_owned(), has_shape));
        for (phase, job) in [(1, 0), (0, 1)] {
            assert_eq!(found(phase, job, property), (full.to_owned(), true));
        }
    }
}

/// The time of a worker before its measurement is the ramp time only if it has one, and only in our own records: other
/// programs count more in it.
#[test]
fn ramps_last_until_the_measurement_starts() {
    for (is_imported, ramp_s, before_s, expected_s) in [
        (false, 2, 0, 2),
        (false, 2, 1, 2),
        (false, 2, 5, 5),
        (false, 0, 5, 0),
        (true, 2, 0, 2),
        (true, 2, 5, 2),
        (true, 0, 5, 0),
    ] {
        let mut run = write_run(0, 20e6, 20);
        run.scenario.phases[0].jobs[0].timing.ramp_time = Nanos::from_secs(ramp_s);
        let worker = &mut run.phases[0].workers[0];
        worker.job_runtime = Nanos(worker.runtime.0 + Nanos::from_secs(before_s).0);
        if is_imported {
            run = as_imported(run, Reported::default());
        }
        let ramps = summarize(&[run]).phases.remove(0).detail.ramps;
        let times: Vec<Nanos> = ramps.iter().map(|ramp| ramp.time).collect();
        let expected = Some(Nanos::from_secs(expected_s)).filter(|time| time.0 > 0);
        let expected: Vec<Nanos> = expected.into_iter().collect();
        assert_eq!(times, expected, "{is_imported} {ramp_s} {before_s}");
    }
}

/// Returns a run of two jobs of one group, each with 100 writes of 1 MB in ten seconds after its ramp time.
fn pair(ramps_s: [u64; 2], delays_s: [u64; 2]) -> RunRecord {
    let mut run = write_run(0, 20e6, 20);
    let mut worker = run.phases[0].workers.remove(0);
    let job = run.scenario.phases[0].jobs.remove(0);
    worker.intervals.clear();
    (worker.ops.write.ios, worker.ops.write.bytes) = (100, 100_000_000);
    for (nth, (ramp_s, delay_s)) in (0..).zip(ramps_s.into_iter().zip(delays_s)) {
        let mut job = job.clone();
        job.timing.ramp_time = Nanos::from_secs(ramp_s);
        job.timing.startdelay = Nanos::from_secs(delay_s);
        run.scenario.phases[0].jobs.push(job);
        worker.job = nth;
        worker.runtime = Nanos::from_secs(10);
        worker.job_runtime = Nanos::from_secs(10 + ramp_s);
        run.phases[0].workers.push(worker.clone());
    }
    run
}

fn assert_mb_per_s(run: RunRecord, expected: f64, case: &str) {
    let phase = summarize(&[run]).phases.remove(0);
    let (bandwidth, iops) = (phase.bandwidth.mean / 1e6, phase.iops.mean);
    // Each I/O is 1 MB.
    assert!((bandwidth - expected).abs() < 1e-9, "{case}: {bandwidth}");
    assert!((iops - expected).abs() < 1e-9, "{case}: {iops}");
}

/// The longest time of a worker is the rule. Only workers that all left a ramp, one after another, add up over the time
/// from the first start to the last completion.
#[test]
fn workers_with_different_ramps_add_up_over_the_whole_time() {
    let longest = 200.0 / 10.0;
    // From 2 s to 14 s; the second worker started with a completion that it did not count.
    let whole = 201.0 / 12.0;
    for (ramps_s, delays_s, expected) in [
        ([2, 4], [0, 0], whole),
        ([4, 2], [0, 0], whole),
        ([2, 4], [7, 7], whole),
        ([2, 2], [0, 0], longest),
        ([0, 0], [0, 0], longest),
        ([0, 4], [0, 0], longest),
        ([4, 0], [0, 0], longest),
        ([2, 4], [0, 5], longest),
        ([2, 4], [5, 0], longest),
    ] {
        let case = format!("{ramps_s:?} {delays_s:?}");
        assert_mb_per_s(pair(ramps_s, delays_s), expected, &case);
        // Other programs divide by the longest time.
        let imported = as_imported(pair(ramps_s, delays_s), Reported::default());
        assert_mb_per_s(imported, longest, &format!("imported {case}"));
    }
}

/// Gives a worker intervals of one second with ten writes of 1 MB; the given one has none.
fn with_empty_interval(worker: &mut WorkerRecord, empty: u64) {
    let interval = |nth: u64| {
        let ios = if nth == empty { 0 } else { 10 };
        one_mb_each(Nanos::from_secs(nth), Nanos::from_secs(1), ios)
    };
    worker.intervals = (1..=10).map(interval).collect();
    (worker.ops.write.ios, worker.ops.write.bytes) = (90, 90_000_000);
}

#[test]
fn pauses_are_excluded_from_workers_with_different_ramps() {
    let mut run = pair([2, 4], [0, 0]);
    // The pause at 6.2 s is in the fifth second of one worker and the third of the other.
    let [first, second] = run.phases[0].workers.as_mut_slice() else {
        panic!("a pair of workers")
    };
    with_empty_interval(first, 5);
    with_empty_interval(second, 3);
    let pause = Pause {
        at: Nanos::from_millis(6_200),
        length: Nanos::from_millis(100),
        kind: PauseKind::Suspended,
    };
    run.phases[0].host_pauses = Some(HostPauses {
        pauses: vec![pause],
        ..HostPauses::default()
    });
    // Each worker did 90 MB in nine seconds.
    assert_mb_per_s(run, 20.0, "paused");
}

#[test]
fn rates_of_parallel_groups_add_up() {
    let mut run = pair([0, 0], [0, 0]);
    run.scenario.phases[0].jobs[1].group = 1;
    let second = &mut run.phases[0].workers[1];
    second.runtime = Nanos::from_secs(4);
    // 100 MB in 10 s and 100 MB in 4 s.
    assert_mb_per_s(run.clone(), 10.0 + 25.0, "two groups");
    let mut third = run.phases[0].workers[1].clone();
    third.job = 2;
    third.runtime = Nanos::from_secs(2);
    run.phases[0].workers.push(third);
    let mut job = run.scenario.phases[0].jobs[1].clone();
    job.group = 2;
    run.scenario.phases[0].jobs.push(job);
    assert_mb_per_s(run, 10.0 + 25.0 + 50.0, "three groups");
}
