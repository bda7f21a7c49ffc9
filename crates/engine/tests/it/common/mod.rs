//! Scenarios for tests, and a function to run them.

#![allow(dead_code)] // Each test binary uses a part.

use hakaru_engine::{ClockChoice, EngineReport, NoObserver, Observer, RunOptions, run};
use hakaru_model::caveat::Caveat;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target};
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::record::{Outcome, WorkerRecord};
use hakaru_model::units::Bytes;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Bytes per MiB.
pub(crate) const MIB: u64 = 1 << 20;

/// A job on a simulated card.
pub(crate) fn on_card(card: DeviceModel, access: Access, block: u64, bytes: u64) -> Job {
    let mut job = Job::new("job", Target::Sim(Box::new(card)), access).with_block(Bytes(block));
    job.ioengine = IoEngine::Sim;
    job.files.direct = true;
    job.extent.size = Some(SizeSpec::Bytes(Bytes(bytes)));
    job
}

/// A job on a file.
pub(crate) fn on_file(
    path: &Path,
    engine: IoEngine,
    access: Access,
    block: u64,
    bytes: u64,
) -> Job {
    let mut job =
        Job::new("job", Target::Paths(vec![path.to_owned()]), access).with_block(Bytes(block));
    job.ioengine = engine;
    job.extent.size = Some(SizeSpec::Bytes(Bytes(bytes)));
    job
}

pub(crate) fn scenario(jobs: Vec<Job>) -> Scenario {
    let phases = jobs
        .into_iter()
        .map(|job| Phase {
            name: job.name.clone(),
            jobs: vec![job],
        })
        .collect();
    Scenario {
        name: "test".into(),
        seed: 7,
        phases,
    }
}

/// Facts as a device probe would report them.
pub(crate) fn facts(scenario: &Scenario) -> Facts {
    let look = |path: std::path::PathBuf| {
        let meta = std::fs::metadata(&path).ok();
        let facts = TargetFacts {
            kind: if meta.is_some() {
                TargetKind::File
            } else {
                TargetKind::Absent
            },
            size: Bytes(meta.map_or(0, |m| m.len())),
            free: Some(Bytes(1 << 40)),
            logical_block: 512,
            direct_io: None,
            writable: true,
            path: path.clone(),
        };
        (path, facts)
    };
    scenario.paths().into_iter().map(look).collect()
}

pub(crate) fn plan(scenario: &Scenario) -> Plan {
    Plan::resolve(scenario, &facts(scenario)).expect("the scenario fits its target")
}

pub(crate) fn go(scenario: &Scenario) -> EngineReport {
    go_on(&plan(scenario))
}

pub(crate) fn go_on(plan: &Plan) -> EngineReport {
    go_observed(plan, &mut NoObserver)
}

/// Time at which runs start, in milliseconds since the Unix epoch.
pub(crate) const STARTED_UNIX_MS: i64 = 5_000;

pub(crate) fn go_observed(plan: &Plan, observer: &mut dyn Observer) -> EngineReport {
    let stop = AtomicBool::new(false);
    let options = RunOptions {
        clock: ClockChoice::best(),
        stop: &stop,
        direct_fallback: true,
        replace_engines: true,
        record_operations: false,
        wall_clock: || STARTED_UNIX_MS,
    };
    run(plan, &options, observer)
}

/// Runs a scenario of one job.
pub(crate) fn run_job(job: Job) -> EngineReport {
    go(&scenario(vec![job]))
}

/// Runs a scenario of one job with one worker, and returns its record.
pub(crate) fn run_worker(job: Job) -> WorkerRecord {
    only(&run_job(job)).clone()
}

/// Returns the record of the only worker.
pub(crate) fn only(report: &EngineReport) -> &WorkerRecord {
    assert_eq!(report.error, None);
    &report.phases[0].workers[0]
}

pub(crate) fn read_seq() -> Access {
    Access::only(Op::Read, false)
}

pub(crate) fn read_rand() -> Access {
    Access::only(Op::Read, true)
}

pub(crate) fn write_seq() -> Access {
    Access::only(Op::Write, false)
}

pub(crate) fn write_rand() -> Access {
    Access::only(Op::Write, true)
}

/// Returns a temporary directory, removed when dropped, and the path of a missing file in it.
pub(crate) fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("f");
    (dir, path)
}

/// Returns whether another engine ran than was requested; prints why.
pub(crate) fn engine_replaced(report: &EngineReport) -> bool {
    let mut caveats = report.caveats.iter();
    let because = caveats.find(|caveat| matches!(caveat, Caveat::EngineReplaced { .. }));
    if let Some(because) = because {
        eprintln!("SKIPPED: {because:?}");
    }
    because.is_some()
}

/// Returns the error of a failed run.
pub(crate) fn failure(report: &EngineReport) -> &str {
    match &report.outcome {
        Outcome::Failed { error } => error,
        other => panic!("{other:?}"),
    }
}

/// Asserts that each block of 4 KiB of a file has a byte other than zero.
pub(crate) fn assert_no_holes(path: &Path, case: &str) {
    let content = std::fs::read(path).expect("the file can be read");
    let written = |block: &[u8]| block.iter().any(|&byte| byte != 0);
    assert!(content.chunks(4096).all(written), "{case} left a hole");
}
