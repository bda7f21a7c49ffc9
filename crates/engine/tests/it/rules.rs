//! Rates, pauses, limits and dependencies between jobs, mostly on a simulated card, whose virtual time makes them
//! exact.

use crate::common::{
    MIB, failure, go, go_on, on_card, on_file, only, plan, read_rand, run_job, scenario, scratch,
    write_rand, write_seq,
};
use hakaru_model::caveat::Caveat;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::rules::{ExitScope, FlowShare, LatencyTarget, SteadyLimit, SteadyStateRule};
use hakaru_model::job::{Access, IoEngine, Job, Op, PerOp, Phase, Scenario, SizeSpec};
use hakaru_model::record::{FailureKind, Outcome, StopReason, WorkerRecord};
use hakaru_model::units::{Bytes, Nanos};

fn card() -> DeviceModel {
    DeviceModel::plain("card", Bytes(1 << 30))
}

/// A job that runs for `seconds`.
fn timed(access: Access, seconds: u64) -> Job {
    let mut job = on_card(card(), access, 4096, 64 * MIB);
    job.timing.runtime = Some(Nanos::from_secs(seconds));
    job.timing.time_based = true;
    job
}

fn together(jobs: Vec<Job>) -> Scenario {
    Scenario {
        name: "test".into(),
        seed: 7,
        phases: vec![Phase {
            name: "test".into(),
            jobs,
        }],
    }
}

fn workers(scenario: &Scenario) -> Vec<WorkerRecord> {
    let report = go(scenario);
    assert_eq!(report.error, None);
    report
        .phases
        .into_iter()
        .flat_map(|phase| phase.workers)
        .collect()
}

fn near(got: u64, want: u64, by: u64) {
    assert!(got.abs_diff(want) <= by, "got {got}, want {want}");
}

#[test]
fn each_operation_keeps_to_its_own_rate() {
    let mut job = timed(Access::mixed(50, true), 10);
    job.rate.iops = PerOp {
        read: Some(100),
        write: Some(30),
        trim: None,
    };
    let ops = &workers(&scenario(vec![job]))[0].ops;
    near(ops.read.ios, 1000, 2);
    near(ops.write.ios, 300, 2);
}

#[test]
fn an_operation_without_a_rate_goes_on_meanwhile() {
    let mut job = timed(Access::mixed(50, true), 10);
    job.rate.bytes_per_s.read = Some(20 * 4096);
    let ops = &workers(&scenario(vec![job]))[0].ops;
    near(ops.read.ios, 200, 2);
    assert!(ops.write.ios > 2000, "{} writes", ops.write.ios);
}

#[test]
fn synchronous_engines_keep_to_rates_too() {
    let (_dir, path) = scratch();
    let mut job = on_file(&path, IoEngine::Psync, Access::mixed(50, true), 4096, MIB);
    job.extent.number_ios = Some(60);
    job.rate.iops = PerOp {
        read: Some(200),
        write: Some(100),
        trim: None,
    };
    // If the host delays the thread, both operations are due at once, and the last few I/Os come in the order they
    // are drawn.
    let mut reads: u64 = 0;
    for _ in 0..10 {
        let worker = &workers(&scenario(vec![job.clone()]))[0];
        assert!(
            worker.runtime >= Nanos::from_millis(190),
            "{:?}",
            worker.runtime
        );
        reads = worker.ops.read.ios;
        if reads.abs_diff(40) <= 2 {
            break;
        }
    }
    near(reads, 40, 2);
}

#[test]
fn pauses_take_their_time_and_a_rate_catches_up_after_them() {
    let mut job = timed(read_rand(), 10);
    job.rate.thinktime = Nanos::from_millis(100);
    job.rate.thinktime_blocks = 10;
    // Ten reads of 0.5 ms and a pause.
    near(
        workers(&scenario(vec![job.clone()]))[0].ops.read.ios,
        952,
        10,
    );
    job.rate.iops.read = Some(50);
    near(
        workers(&scenario(vec![job.clone()]))[0].ops.read.ios,
        500,
        10,
    );
    job.rate.ignore_thinktime = true;
    // Ten reads at 20 ms each, and a pause of 100 ms.
    near(workers(&scenario(vec![job]))[0].ops.read.ios, 340, 10);
}

#[test]
fn pauses_after_a_time() {
    let mut job = timed(read_rand(), 10);
    job.rate.thinktime = Nanos::from_secs(1);
    job.rate.thinktime_iotime = Nanos::from_secs(1);
    let half = 5 * 1_000_000 / 502;
    near(
        workers(&scenario(vec![job]))[0].ops.read.ios,
        half,
        half / 50,
    );
}

#[test]
fn a_rate_that_is_missed_is_an_error() {
    let mut job = timed(read_rand(), 10);
    job.termination.minimum_rate.iops.read = Some(1_000_000);
    let report = run_job(job);
    let worker = only(&report);
    assert_eq!(
        (worker.stop, worker.errors.first[0].errno),
        (StopReason::Error, 5)
    );
    let error = &worker.errors.first[0];
    assert_eq!(error.op, Some(Op::Read));
    assert!(
        matches!(error.kind, FailureKind::IopsMissed { wanted: 1_000_000, got } if got < 1_000_000),
        "{error:?}"
    );
    let of_rules = report.caveats.iter().filter_map(|caveat| match caveat {
        Caveat::RuleBroken { op, kind, .. } => Some((*op, *kind)),
        Caveat::DeviceErrors { .. } => panic!("{caveat:?}"),
        _ => None,
    });
    assert_eq!(of_rules.collect::<Vec<_>>(), [(Some(Op::Read), error.kind)]);
    assert_eq!(failure(&report), "rate_iops_min: read");
    // Evaluation begins after two seconds, and the first result comes one cycle later.
    near(worker.runtime.as_millis(), 3000, 10);
}

#[test]
fn an_io_that_takes_too_long_is_an_error() {
    for engine in [IoEngine::Psync, IoEngine::Libaio] {
        let (_dir, path) = scratch();
        let mut job = on_file(&path, engine, read_rand(), 4096, MIB);
        job.termination.max_latency = PerOp::all(Some(Nanos(1)));
        let report = run_job(job);
        let worker = only(&report);
        let seen = (worker.stop, worker.ops.read.ios);
        assert_eq!(seen, (StopReason::Error, 1), "{engine:?}");
        let error = &worker.errors.first[0];
        assert_eq!(error.op, Some(Op::Read));
        assert!(
            matches!(error.kind, FailureKind::TooSlow { latency, max: Nanos(1) } if latency.0 > 1),
            "{error:?}"
        );
        let broken =
            |c: &Caveat| matches!(c, Caveat::RuleBroken { kind, .. } if *kind == error.kind);
        let of_device = |c: &Caveat| matches!(c, Caveat::DeviceErrors { .. });
        let caveats = &report.caveats;
        assert!(caveats.iter().any(broken), "{caveats:?}");
        assert!(!caveats.iter().any(of_device), "{caveats:?}");
        assert_eq!(failure(&report), "max_latency: read");
    }
}

#[test]
fn the_end_of_one_job_ends_those_it_may_end() {
    for (scope, phases) in [
        (ExitScope::Group, 2),
        (ExitScope::Phase, 2),
        (ExitScope::All, 1),
    ] {
        let mut short = timed(read_rand(), 1);
        short.termination.exit.ends = Some(scope);
        let mut other = timed(read_rand(), 1_000_000);
        other.group = u32::from(scope != ExitScope::Group);
        let last = timed(read_rand(), 1);
        let mut both = together(vec![short, other]);
        both.phases.push(Phase {
            name: "last".into(),
            jobs: vec![last],
        });
        let report = go(&both);
        assert_eq!(
            (report.phases.len(), report.outcome.clone()),
            (phases, Outcome::Completed),
            "{scope:?}"
        );
        assert_eq!(report.phases[0].workers[1].stop, StopReason::Ended);
    }
}

#[test]
fn a_later_phase_runs_after_an_error_where_it_may() {
    for goes_on in [false, true] {
        let mut bad = timed(read_rand(), 1);
        bad.termination.max_latency = PerOp::all(Some(Nanos(1)));
        bad.termination.exit.phases_after_error = goes_on;
        let report = go(&scenario(vec![bad, timed(read_rand(), 1)]));
        assert_eq!(report.phases.len(), 1 + usize::from(goes_on));
    }
}

#[test]
fn a_job_waits_for_another() {
    let mut first = timed(read_rand(), 2);
    first.name = "first".to_owned();
    first.numjobs = 2;
    let mut second = timed(read_rand(), 1);
    second.timing.wait_for = Some("first".to_owned());
    let alone = workers(&scenario(vec![timed(read_rand(), 1)]))[0]
        .ops
        .read
        .ios;
    let workers = workers(&together(vec![first, second]));
    near(workers[2].ops.read.ios, alone, 2);
    assert!(
        workers[0].ops.read.ios < 2 * alone * 6 / 10,
        "two shared the card"
    );
}

#[test]
fn the_deepest_queue_within_a_latency_is_found() {
    let mut job = timed(read_rand(), 100);
    job.queue.iodepth = 32;
    // One read takes 0.5 ms, and reads are served one at a time.
    let (target, window) = (Nanos(5 * 503_000), Nanos::from_millis(500));
    job.rate.latency_target = Some(LatencyTarget {
        target,
        window,
        percentile: 95.0,
        keep_running: false,
    });
    let worker = &workers(&scenario(vec![job]))[0];
    assert_eq!(
        (worker.latency_depth, worker.stop),
        (Some(5), StopReason::Done)
    );
}

#[test]
fn a_steady_job_ends_and_says_so() {
    let mut job = timed(read_rand(), 1_000);
    job.termination.steady = Some(SteadyStateRule {
        iops: true,
        slope: true,
        limit: SteadyLimit::Percent(1.0),
        window: Nanos::from_secs(5),
        ramp: Nanos::from_secs(2),
        interval: Nanos::SECOND,
        together: false,
    });
    let worker = &workers(&scenario(vec![job]))[0];
    let steady = worker.steady.as_ref().unwrap();
    assert!(steady.attained && steady.iops.len() == 5, "{steady:?}");
    assert!(
        steady.iops.iter().all(|iops| (1900..2100).contains(iops)),
        "{steady:?}"
    );
    assert_eq!(worker.stop, StopReason::Ended);
}

#[test]
fn jobs_of_a_flow_keep_their_proportion() {
    let (_dir, path) = scratch();
    let job = |name: &str, weight: u32| {
        let mut job = on_file(&path, IoEngine::Psync, read_rand(), 4096, MIB);
        (job.name, job.timing.runtime, job.timing.time_based) =
            (name.to_owned(), Some(Nanos::from_secs(600)), true);
        job.rate.flow = Some(FlowShare {
            id: 1,
            weight,
            sleep: Nanos(0),
        });
        job
    };
    // Tested by I/Os and not by time: on a busy host threads start and end late. The bounded worker ends the other,
    // which may continue until it notices, and cannot have done less than its share.
    for (bounded, ios, other, share) in [(0, 3000, 1, 999), (1, 1000, 0, 2997)] {
        let mut jobs = vec![job("heavy", 3), job("light", 1)];
        jobs[bounded].timing = Default::default();
        jobs[bounded].extent.io_size = Some(SizeSpec::Bytes(Bytes(ios * 4096)));
        jobs[bounded].termination.exit.ends = Some(ExitScope::Phase);
        let workers = workers(&together(jobs));
        assert_eq!(workers[bounded].ops.read.ios, ios);
        let done = workers[other].ops.read.ios;
        assert!(done >= share - 10, "{done} of {share}");
    }
}

#[test]
fn overlapping_ios_take_turns() {
    let mut job = on_card(card(), write_rand(), 4096, 16 * 4096);
    job.access.every_block_once = false;
    job.queue.iodepth = 8;
    job.extent.io_size = Some(hakaru_model::job::SizeSpec::Bytes(Bytes(MIB)));
    let free = workers(&scenario(vec![job.clone()]))[0].clone();
    job.queue.serialize_overlap = true;
    let serial = workers(&scenario(vec![job]))[0].clone();
    assert_eq!(free.ops.write.ios, serial.ops.write.ios);
    assert!(
        serial.depth.level[3] < free.depth.level[3],
        "{:?} {:?}",
        serial.depth,
        free.depth
    );
}

#[test]
fn a_full_file_system_ends_a_job_that_was_to_fill_it() {
    let dir = tempfile::tempdir().unwrap();
    let mount = dir.path().join("small");
    std::fs::create_dir(&mount).unwrap();
    let tmpfs = |args: &[&str]| {
        std::process::Command::new(args[0])
            .args(&args[1..])
            .status()
            .is_ok_and(|s| s.success())
    };
    let path = mount.display().to_string();
    if !tmpfs(&["mount", "-t", "tmpfs", "-o", "size=2m", "none", &path]) {
        return eprintln!("SKIPPED: a tmpfs cannot be mounted here (not root)");
    }
    let mut job = on_file(&mount.join("f"), IoEngine::Psync, write_seq(), 65_536, MIB);
    (job.extent.size, job.files.fill_device) = (None, true);
    let report = go_on(&plan(&scenario(vec![job])));
    let worker = only(&report).clone();
    assert!(tmpfs(&["umount", &path]));
    assert_eq!(
        (worker.stop, worker.ops.write.bytes),
        (StopReason::Done, 2 * MIB)
    );
    assert_eq!(
        (report.outcome, worker.errors.total),
        (Outcome::Completed, 1)
    );
}

#[test]
fn commands_run_before_and_after() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("f");
    let (before, after) = (dir.path().join("before"), dir.path().join("after"));
    let mut job = on_file(&file, IoEngine::Psync, write_seq(), 4096, MIB);
    job.name = dir.path().join("job").display().to_string();
    job.commands.before = Some(format!("echo started; echo x > {}", before.display()));
    job.commands.after = Some(format!(
        "test -s {} && cp {} {}",
        file.display(),
        before.display(),
        after.display()
    ));
    let report = run_job(job);
    assert_eq!(only(&report).errors.total, 0);
    assert!(after.exists());
    assert_eq!(
        std::fs::read_to_string(dir.path().join("job.prerun.txt")).unwrap(),
        "started\n"
    );
}
