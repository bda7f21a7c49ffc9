//! Edge cases: between phases, before a job begins, after its last write, and with short queues.

use crate::common::{
    self, MIB, facts, go, on_card, on_file, plan, read_rand, read_seq, run_job, run_worker,
    scenario, scratch, write_seq,
};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::TargetKind;
use hakaru_model::job::rules::{Verify, VerifyMethod};
use hakaru_model::job::{Access, BlockSize, IoEngine, Op, PerOp, SizeSpec, Target};
use hakaru_model::plan::{Plan, PlanError};
use hakaru_model::record::StopReason;
use hakaru_model::replay::{Trace, TraceAction, TraceStep};
use hakaru_model::stream::IoRequest;
use hakaru_model::units::{Bytes, Nanos};
use std::sync::Arc;

/// A later phase reads what an earlier one created, even if that was created only on opening.
#[test]
fn what_a_phase_made_is_left_alone_by_the_next() {
    let (_dir, path) = scratch();
    let verify = Some(Verify {
        read_back: false,
        save_state: false,
        ..Verify::by(VerifyMethod::Crc32c)
    });
    let mut writes = on_file(&path, IoEngine::Psync, write_seq(), 4096, MIB);
    (writes.files.create_on_open, writes.verify) = (true, verify.clone());
    let mut reads = on_file(&path, IoEngine::Psync, read_seq(), 4096, MIB);
    reads.verify = verify;
    let report = go(&scenario(vec![writes, reads]));
    assert_eq!(report.error, None);
    let reader = &report.phases[1].workers[0];
    assert_eq!((reader.ops.read.ios, reader.errors.total), (256, 0));
}

#[test]
fn a_file_that_a_refused_job_would_remove_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keep");
    std::fs::write(&path, vec![1; 4096]).unwrap();
    let mut job = on_file(&path, IoEngine::Psync, read_seq(), 4096, 4096);
    job.access.zones = hakaru_model::job::rules::Zones::Device {
        size: None,
        capacity: None,
        skip: Bytes(0),
        max_open: 0,
        max_open_each: 0,
        read_beyond_write_pointer: false,
        ignore_limits: false,
        resets: None,
    };
    job.files.unlink = true;
    let report = run_job(job.clone());
    assert!(report.error.is_some(), "it has no zones");
    assert!(path.exists());
    job.access.zones = Default::default();
    run_worker(job);
    assert!(!path.exists());
}

/// `size` is divided among all files, even on devices too small to hold it alone.
#[test]
fn a_size_is_that_of_all_files_together() {
    let dir = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| dir.path().join(name)).to_vec();
    let mut job = on_file(&paths[0], IoEngine::Psync, read_rand(), 4096, 10 * MIB);
    job.target = Target::Paths(paths.clone());
    let scenario = scenario(vec![job.clone()]);
    let mut facts = facts(&scenario);
    for facts in facts.values_mut() {
        (facts.kind, facts.size) = (TargetKind::BlockDevice, Bytes(6 * MIB));
    }
    let plan = Plan::resolve(&scenario, &facts).expect("each holds its share");
    let regions = &plan.phases[0].workers[0].stream.regions;
    assert!(regions.iter().all(|region| region.len == 5 * MIB));
    job.extent.size = Some(SizeSpec::Bytes(Bytes(4096)));
    let small = Plan::resolve(&common::scenario(vec![job]), &facts);
    let half = Bytes(2048);
    assert!(matches!(small, Err(PlanError::TooSmall { room, .. }) if room == half));
}

#[test]
fn a_last_block_too_short_for_its_header_is_not_checked() {
    let (_dir, path) = scratch();
    let mut job = on_file(&path, IoEngine::Psync, write_seq(), 4096, 8192);
    job.extent.io_size = Some(SizeSpec::Bytes(Bytes(4098)));
    job.block = PerOp::all(BlockSize::Range {
        min: Bytes(4096),
        max: Bytes(4097),
    });
    job.block_rules.unaligned = true;
    job.verify = Some(Verify {
        save_state: false,
        ..Verify::by(VerifyMethod::Crc32c)
    });
    let report = run_job(job);
    assert_eq!(report.error, None);
    assert_eq!(report.phases[0].workers[0].errors.total, 0);
}

/// A trace is replayed completely even if the engine supports fewer I/Os in flight than the queue
/// depth.
#[test]
fn a_trace_is_replayed_however_few_ios_an_engine_holds() {
    let (_dir, path) = scratch();
    std::fs::write(&path, vec![1; 64 << 10]).unwrap();
    let step = |n: u64| {
        let request = IoRequest {
            op: Op::Read,
            region: 0,
            offset: n * 4096,
            len: 4096,
        };
        TraceStep {
            at: Nanos(0),
            action: TraceAction::Io(request),
        }
    };
    let files = vec![path.clone()];
    for engine in [IoEngine::Null, IoEngine::Libaio, IoEngine::Psync] {
        let mut job = on_file(&path, engine, read_seq(), 4096, 64 << 10);
        job.queue.iodepth = 4;
        job.replay.traces = vec![Arc::new(Trace {
            files: files.clone(),
            steps: (0..16).map(step).collect(),
        })];
        assert_eq!(run_worker(job).ops.read.ios, 16, "{engine:?}");
    }
}

#[test]
fn a_job_whose_first_command_fails_does_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = on_file(
        &dir.path().join("f"),
        IoEngine::Psync,
        write_seq(),
        4096,
        MIB,
    );
    job.name = dir.path().join("job").display().to_string();
    job.commands.before = Some("exit 3".to_owned());
    let worker = run_worker(job);
    assert_eq!((worker.stop, worker.ops.write.ios), (StopReason::Error, 0));
    assert!(
        worker.errors.first[0].action.contains("exit status: 3"),
        "{:?}",
        worker.errors.first
    );
}

/// The flush after the last write counts as write time, even if the data is read back afterwards.
#[test]
fn the_last_flush_is_in_the_time_of_writes_that_are_checked() {
    let mut card = DeviceModel::plain("card", Bytes(1 << 30));
    card.flush = Nanos::from_secs(5);
    let mut job = on_card(card, write_seq(), 1 << 20, 8 * MIB);
    job.durability.end_fsync = true;
    job.verify = Some(Verify {
        save_state: false,
        ..Verify::by(VerifyMethod::Crc32c)
    });
    let worker = run_worker(job);
    assert!(
        worker.ops.write.runtime.unwrap() > Nanos::from_secs(5),
        "{:?}",
        worker.ops.write.runtime
    );
    assert!(
        worker.ops.read.runtime.unwrap() < Nanos::from_secs(5),
        "{:?}",
        worker.ops.read.runtime
    );
}

#[test]
fn logs_of_requests_are_added_to() {
    let dir = tempfile::tempdir().unwrap();
    let (path, log) = (dir.path().join("f"), dir.path().join("log"));
    let mut job = on_file(&path, IoEngine::Psync, write_seq(), 4096, 8192);
    job.replay.write = Some(log.clone());
    let plan = plan(&scenario(vec![job]));
    for times in 1..=2 {
        assert_eq!(common::go_on(&plan).error, None);
        let text = std::fs::read_to_string(&log).unwrap();
        assert_eq!(text.matches("fio version 3 iolog").count(), times);
        assert_eq!(text.matches(" write ").count(), 2 * times);
    }
}

/// A full device stays full: as in fio, a job continues only after errors that the next I/O may avoid.
#[test]
fn a_full_device_ends_a_job_that_goes_on_after_errors() {
    let mut job = on_file(
        "/dev/full".as_ref(),
        IoEngine::Psync,
        write_seq(),
        4096,
        64 << 10,
    );
    job.files.create_on_open = true;
    job.errors.continue_on = PerOp::all(true);
    let scenario = scenario(vec![job]);
    let mut facts = facts(&scenario);
    facts
        .values_mut()
        .for_each(|facts| facts.kind = TargetKind::CharDevice);
    let report = common::go_on(&Plan::resolve(&scenario, &facts).unwrap());
    let worker = &report.phases[0].workers[0];
    assert_eq!(
        (
            worker.stop,
            worker.errors.total,
            worker.errors.first[0].errno
        ),
        (StopReason::Error, 1, 28)
    );
}

/// With `create_on_open`, a file to be read is created empty, and its end is an error of the first read, as in fio.
#[test]
fn a_file_that_is_made_as_it_is_opened_can_be_read_empty() {
    let (_dir, path) = scratch();
    let mut job = on_file(&path, IoEngine::Psync, read_seq(), 4096, MIB);
    job.files.create_on_open = true;
    let worker = run_worker(job);
    assert_eq!(
        (worker.stop, worker.errors.first[0].errno),
        (StopReason::Error, 5)
    );
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
}

/// A job that ends at the end of its file, before transferring all requested bytes, flushes its last write too, as in
/// fio.
#[test]
fn a_size_that_is_no_whole_number_of_blocks_flushes_each_write() {
    let dir = tempfile::tempdir().unwrap();
    for (random, size, flushes) in [
        (false, 30 << 10, 7),
        (true, 30 << 10, 7),
        (false, 32 << 10, 7),
        (true, 32 << 10, 7),
    ] {
        let path = dir.path().join(format!("{random}{size}"));
        let mut job = on_file(
            &path,
            IoEngine::Psync,
            Access::only(Op::Write, random),
            4096,
            size,
        );
        job.durability.fsync_every = 1;
        let worker = run_worker(job);
        assert_eq!(
            (worker.ops.write.ios, worker.sync.stat.count),
            (size / 4096, flushes),
            "{random} {size}"
        );
    }
}
