//! The engine on real files: every backend transfers the same bytes, and errors are reported.

use crate::common::{
    self, MIB, assert_no_holes, go, on_file, read_seq, run_job, run_worker, scenario, scratch,
    write_seq,
};
use hakaru_engine::RunError;
use hakaru_model::caveat::Caveat;
use hakaru_model::job::rules::ExitScope;
use hakaru_model::job::{Access, Fallocate, IoEngine, Op};
use hakaru_model::record::{Outcome, StopReason};

const ENGINES: [IoEngine; 7] = [
    IoEngine::Sync,
    IoEngine::Psync,
    IoEngine::Pvsync,
    IoEngine::Pvsync2,
    IoEngine::Stdio,
    IoEngine::Libaio,
    IoEngine::IoUring,
];

#[test]
fn every_engine_reads_and_writes_every_block_once() {
    let dir = tempfile::tempdir().unwrap();
    for engine in ENGINES {
        for batch in [0, 1] {
            let path = dir.path().join(engine.name());
            for op in [Op::Write, Op::Read] {
                let mut job = on_file(&path, engine, Access::only(op, true), 4096, 2 * MIB);
                job.queue.iodepth = 8;
                job.queue.batch_submit = batch;
                let worker = run_worker(job);
                assert_eq!(
                    (worker.ops[op].ios, worker.ops[op].bytes),
                    (512, 2 * MIB),
                    "{engine:?} {op:?}"
                );
                assert_eq!(worker.ops[op].clat.stat.count, 512);
                assert_eq!(worker.depth.level.iter().sum::<u64>(), 512);
            }
            // A file written with random blocks in random order has no holes.
            assert_no_holes(&path, engine.name());
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[test]
fn files_that_are_not_to_stay_are_removed() {
    let (_dir, path) = scratch();
    let mut job = on_file(&path, IoEngine::Psync, write_seq(), 4096, MIB);
    job.files.unlink = true;
    assert_eq!(run_worker(job).ops.write.ios, 256);
    assert!(!path.exists());
}

#[test]
fn reports_a_missing_directory_or_permission_with_the_cure() {
    let job = on_file(
        "/proc/no/such/file".as_ref(),
        IoEngine::Psync,
        write_seq(),
        4096,
        MIB,
    );
    let report = run_job(job);
    assert!(report.phases.is_empty());
    assert!(
        matches!(
            report.error,
            Some(RunError::LayOut { .. } | RunError::Open { .. })
        ),
        "{:?}",
        report.error
    );
    assert!(matches!(report.outcome, Outcome::Failed { .. }));
}

#[test]
fn a_full_device_ends_the_job_and_keeps_what_was_measured() {
    let job = on_file(
        "/dev/full".as_ref(),
        IoEngine::Psync,
        write_seq(),
        4096,
        MIB,
    );
    let mut s = scenario(vec![job]);
    s.phases[0].jobs[0].files.invalidate = false;
    let mut facts = common::facts(&s);
    for f in facts.values_mut() {
        f.kind = hakaru_model::facts::TargetKind::CharDevice;
    }
    let plan = hakaru_model::plan::Plan::resolve(&s, &facts).unwrap();
    let report = common::go_on(&plan);
    let worker = &report.phases[0].workers[0];
    assert_eq!(
        (worker.stop, worker.errors.first[0].errno),
        (StopReason::Error, 28)
    );
    assert!(
        matches!(&report.outcome, Outcome::Failed { error } if error.contains("No space left"))
    );
}

#[test]
fn a_file_system_without_direct_io_gives_a_caveat_or_an_error() {
    // /proc files reject O_DIRECT; tmpfs has accepted it since Linux 6.6.
    let mut job = on_file(
        "/proc/self/status".as_ref(),
        IoEngine::Psync,
        read_seq(),
        512,
        512,
    );
    job.files.direct = true;
    job.files.allow_create = false;
    let s = scenario(vec![job]);
    let mut facts = common::facts(&s);
    for f in facts.values_mut() {
        f.size = hakaru_model::units::Bytes(4096);
    }
    let plan = hakaru_model::plan::Plan::resolve(&s, &facts).unwrap();
    let report = common::go_on(&plan);
    assert!(
        report
            .caveats
            .iter()
            .any(|c| matches!(c, Caveat::NotDirect { .. })),
        "{:?}",
        report.caveats
    );
    assert_eq!(report.phases[0].workers[0].ops.read.ios, 1);
}

/// Two workers with their own files; one does a thousandth of the work of the other.
fn unequal(dir: &std::path::Path, finish_writing: bool) -> hakaru_model::job::Scenario {
    let jobs = [("short", MIB / 16), ("long", 64 * MIB)].map(|(name, size)| {
        let mut job = on_file(&dir.join(name), IoEngine::Sync, write_seq(), 4096, size);
        job.files.fallocate = Fallocate::None;
        job.termination.exit.ends = Some(ExitScope::Phase);
        job.termination.exit.finish_writing = finish_writing;
        job
    });
    let mut s = scenario(Vec::new());
    s.phases = vec![hakaru_model::job::Phase {
        name: "w".into(),
        jobs: jobs.into(),
    }];
    s
}

#[test]
fn the_first_to_end_ends_the_others_who_may_complete_their_files() {
    for finish in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let report = go(&unequal(dir.path(), finish));
        let [short, long] = &report.phases[0].workers[..] else {
            panic!("two workers")
        };
        assert_eq!(
            (short.stop, short.ops.write.bytes),
            (StopReason::Done, MIB / 16)
        );
        let size = dir.path().join("long").metadata().unwrap().len();
        // The host may run the longer job first, to its end.
        if long.stop == StopReason::Ended {
            assert!(long.ops.write.bytes < 64 * MIB);
            assert_eq!(
                size,
                if finish {
                    64 * MIB
                } else {
                    long.ops.write.bytes
                }
            );
        }
        assert_eq!(report.outcome, Outcome::Completed);
    }
}
