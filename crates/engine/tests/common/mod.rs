//! Scenarios for tests, and a function to run them.

#![allow(dead_code)] // Each test binary uses a part.

use hakaru_engine::{ClockChoice, EngineReport, NoObserver, RunOptions, run};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target};
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::units::Bytes;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Bytes per MiB.
pub(crate) const MIB: u64 = 1 << 20;

/// A job on a simulated card.
pub(crate) fn on_card(prices: DeviceModel, access: Access, block: u64, bytes: u64) -> Job {
    let mut job = Job::new("job", Target::Sim(Box::new(prices)), access).with_block(Bytes(block));
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
    let stop = AtomicBool::new(false);
    let options = RunOptions {
        clock: ClockChoice::best(),
        stop: &stop,
        direct_fallback: true,
        replace_engines: true,
        wall_clock: || 0,
    };
    run(plan, &options, &mut NoObserver)
}

/// Returns the record of the only worker.
pub(crate) fn only(report: &EngineReport) -> &hakaru_model::record::WorkerRecord {
    assert_eq!(report.error, None);
    &report.phases[0].workers[0]
}

pub(crate) fn write_seq() -> Access {
    Access::only(Op::Write, false)
}
