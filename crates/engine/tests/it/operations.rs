//! Operations that a run records for tracing.

use crate::common::{MIB, on_file, plan, scenario, scratch, write_rand};
use hakaru_engine::{ClockChoice, EngineReport, MeasuredPart, Observer, RunOptions, run};
use hakaru_model::io_path::TracedOperation;
use hakaru_model::job::{IoEngine, Job, Op};
use hakaru_model::plan::PhasePlan;
use hakaru_model::units::Nanos;
use std::sync::atomic::AtomicBool;

/// Keeps all operations and the measured part.
#[derive(Default)]
struct Listener {
    starts: usize,
    operations: Vec<TracedOperation>,
    part: MeasuredPart,
    /// Whether the file existed after the last worker ended.
    file_exists: bool,
}

impl Observer for Listener {
    fn workers_start(&mut self, _phase: &PhasePlan) {
        self.starts += 1;
    }

    fn operations(&mut self, _worker: usize, operations: &[TracedOperation]) {
        self.operations.extend_from_slice(operations);
    }

    fn measured(&mut self, phase: &PhasePlan, part: &MeasuredPart) {
        self.part = part.clone();
        self.file_exists = phase.files.iter().all(|file| file.path.exists());
    }
}

fn recorded(job: Job, clock: &ClockChoice) -> (EngineReport, Listener) {
    let stop = AtomicBool::new(false);
    let options = RunOptions {
        clock,
        stop: &stop,
        direct_fallback: true,
        replace_engines: true,
        record_operations: true,
        wall_clock: || 0,
    };
    let mut listener = Listener::default();
    let report = run(&plan(&scenario(vec![job])), &options, &mut listener);
    assert_eq!(report.error, None);
    (report, listener)
}

const KERNEL: ClockChoice = ClockChoice::Kernel { because: None };

#[test]
fn each_io_and_flush_is_recorded_with_its_latency() {
    for (engine, depth) in [(IoEngine::Psync, 1), (IoEngine::Libaio, 8)] {
        let (_dir, path) = scratch();
        let mut job = on_file(&path, engine, write_rand(), 4096, MIB);
        job.queue.iodepth = depth;
        job.durability.fsync_every = 4;
        job.files.unlink = true;
        let (report, found) = recorded(job, &KERNEL);
        let worker = &report.phases[0].workers[0];
        assert_eq!((found.starts, found.file_exists), (1, true));
        let ios: Vec<_> = found.operations.iter().filter(|o| o.op.is_some()).collect();
        let flushes = || found.operations.iter().filter(|o| o.op.is_none());
        assert_eq!(ios.len(), 256, "{engine:?}");
        assert_eq!(flushes().count() as u64, worker.sync.stat.count);
        let offsets: std::collections::BTreeSet<u64> = ios.iter().map(|o| o.offset).collect();
        assert_eq!(offsets.len(), 256, "each block is written once");
        let stat = if depth == 1 {
            &worker.ops[Op::Write].clat.stat
        } else {
            &worker.ops[Op::Write].lat.stat
        };
        let longest = ios.iter().map(|o| o.end - o.begin).max();
        assert_eq!(longest, Some(stat.max), "{engine:?}");
        let part = found.part.workers[0];
        assert!(found.operations.iter().all(|o| o.tid == part.tid));
        assert!(
            found
                .operations
                .iter()
                .all(|o| part.begin <= o.begin && o.begin <= o.end && o.end <= part.end)
        );
    }
}

#[test]
fn operations_of_the_ramp_time_are_not_recorded() {
    let (_dir, path) = scratch();
    let mut job = on_file(&path, IoEngine::Psync, write_rand(), 4096, MIB);
    job.timing.ramp_time = Nanos::from_millis(100);
    job.timing.runtime = Some(Nanos::from_millis(100));
    job.timing.time_based = true;
    let (report, found) = recorded(job, &KERNEL);
    let measured = report.phases[0].workers[0].ops[Op::Write].ios;
    assert_eq!(found.operations.len() as u64, measured);
    let begin = found.part.workers[0].begin;
    assert!(found.operations.iter().all(|o| o.begin >= begin));
}

#[test]
fn nothing_is_recorded_with_another_clock() {
    if !matches!(ClockChoice::best(), ClockChoice::Counter(_)) {
        eprintln!("SKIPPED: this host has no trusted counter");
        return;
    }
    let (_dir, path) = scratch();
    let job = on_file(&path, IoEngine::Psync, write_rand(), 4096, MIB);
    let (_, found) = recorded(job, ClockChoice::best());
    assert_eq!(found.operations, []);
    assert_eq!(found.part, MeasuredPart::default());
}
