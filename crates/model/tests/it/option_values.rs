//! Tests of the values of options: the limits of single values, and options that exclude each other.

use crate::plans::{all_of, bytes, job, new_file, workers};
use hakaru_model::facts::TargetKind;
use hakaru_model::job::rules::{FileLock, Logs, Replay, Verify, VerifyMethod, Zones};
use hakaru_model::job::{BlockSize, IoEngine, Job, Op, PerOp};
use hakaru_model::obstacle::ValueRule;
use hakaru_model::plan::PlanError;
use hakaru_model::replay::Trace;
use hakaru_model::units::{Bytes, Nanos};
use std::sync::Arc;

/// Engines of which each I/O is complete when its call returns, and that lock files.
const LOCKING: [IoEngine; 6] = [
    IoEngine::Sync,
    IoEngine::Psync,
    IoEngine::Pvsync,
    IoEngine::Pvsync2,
    IoEngine::Mmap,
    IoEngine::Splice,
];

/// Returns a job on a new file of 1 MiB.
fn on_new_file(op: Op) -> Job {
    let mut job = job(op, false, 1);
    job.extent.size = Some(bytes(1 << 20));
    job
}

/// Returns the option and the rule that a job breaks; `None` if it can run.
fn broken_rule(job: &Job) -> Option<(&'static str, ValueRule)> {
    match workers(job, new_file) {
        Ok(_) => None,
        Err(PlanError::BadValue { option, why, .. }) => Some((option, why)),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_largest_numbers_of_clones_and_ios_in_flight_can_run() {
    let clones = |numjobs| {
        let mut job = on_new_file(Op::Read);
        job.numjobs = numjobs;
        broken_rule(&job)
    };
    let depth = |iodepth| {
        let mut job = on_new_file(Op::Read);
        (job.ioengine, job.queue.iodepth) = (IoEngine::Libaio, iodepth);
        broken_rule(&job)
    };
    assert_eq!((clones(1), clones(4096)), (None, None));
    assert_eq!(clones(4097), Some(("numjobs", ValueRule::Clones)));
    assert_eq!((depth(1), depth(32_768)), (None, None));
    assert_eq!(depth(32_769), Some(("iodepth", ValueRule::Depth)));
}

#[test]
fn blocks_have_1_byte_to_1_gib_and_trims_32_bits() {
    let refused = |op: Op, block: BlockSize| {
        let mut job = job(op, false, 1);
        job.block = PerOp::all(block);
        let device = workers(&job, |scenario| {
            all_of(scenario, TargetKind::BlockDevice, 16 << 30)
        });
        matches!(device, Err(PlanError::BadBlock { .. }))
    };
    let fixed = |bytes| BlockSize::Fixed(Bytes(bytes));
    for op in [Op::Read, Op::Write] {
        for (block, wrong) in [
            (0, true),
            (1, false),
            (1 << 30, false),
            ((1 << 30) + 1, true),
        ] {
            assert_eq!(refused(op, fixed(block)), wrong, "{op:?} of {block}");
        }
    }
    for (block, wrong) in [(0, true), ((1 << 32) - 1, false), (1 << 32, true)] {
        assert_eq!(refused(Op::Trim, fixed(block)), wrong, "trim of {block}");
    }
    for (min, max, wrong) in [(512, 512, false), (512, 1024, false), (1024, 512, true)] {
        let (min, max) = (Bytes(min), Bytes(max));
        let range = BlockSize::Range { min, max };
        assert_eq!(refused(Op::Read, range), wrong, "{min:?} to {max:?}");
    }
}

#[test]
fn threads_submit_for_engines_that_permit_it() {
    use IoEngine::*;
    let offload = |ioengine, iodepth| {
        let mut job = on_new_file(Op::Read);
        (job.ioengine, job.queue.iodepth) = (ioengine, iodepth);
        job.queue.offload = true;
        broken_rule(&job)
    };
    for engine in [Sync, Psync, Pvsync, Pvsync2, Mmap, Libaio, IoUring] {
        for depth in [1, 8, 1023, 1024] {
            assert_eq!(offload(engine, depth), None, "{engine:?} {depth}");
        }
        // Each I/O in flight has a thread.
        for depth in [1025, 1026, 32_768] {
            let wrong = Some(("iodepth", ValueRule::OffloadDepth));
            assert_eq!(offload(engine, depth), wrong, "{engine:?} {depth}");
        }
    }
    for engine in [Vsync, Posixaio, Stdio] {
        let wrong = Some(("io_submit_mode", ValueRule::OffloadEngine));
        assert_eq!(offload(engine, 8), wrong, "{engine:?}");
    }
    for depth in [1025, 32_768] {
        let mut job = on_new_file(Op::Read);
        (job.ioengine, job.queue.iodepth) = (Libaio, depth);
        assert_eq!(broken_rule(&job), None, "{depth} without threads");
    }
}

#[test]
fn files_are_locked_for_engines_with_one_io_at_a_time() {
    use IoEngine::*;
    let locked = |ioengine, lock, offload, unlinks| {
        let mut job = on_new_file(Op::Read);
        (job.ioengine, job.files.lock) = (ioengine, lock);
        (job.queue.offload, job.files.unlink_each_loop) = (offload, unlinks);
        broken_rule(&job)
    };
    let wrong = Some(("lockfile", ValueRule::LockedFiles));
    for lock in [FileLock::Exclusive, FileLock::ReadWrite] {
        for engine in LOCKING {
            assert_eq!(locked(engine, lock, false, false), None, "{engine:?}");
            // Neither a thread nor the next file holds the lock.
            for (offload, unlinks) in [(true, false), (false, true), (true, true)] {
                let refused = locked(engine, lock, offload, unlinks);
                assert_eq!(refused, wrong, "{engine:?} {offload} {unlinks}");
            }
        }
        for engine in [Vsync, Libaio, IoUring, Posixaio, Stdio] {
            assert_eq!(locked(engine, lock, false, false), wrong, "{engine:?}");
        }
    }
    for engine in [Psync, Libaio, Stdio] {
        assert_eq!(locked(engine, FileLock::None, false, false), None);
    }
}

#[test]
fn a_refused_lock_is_reported_with_its_value() {
    for (lock, text) in [
        (FileLock::Exclusive, "exclusive"),
        (FileLock::ReadWrite, "readwrite"),
    ] {
        let mut job = on_new_file(Op::Read);
        (job.ioengine, job.files.lock) = (IoEngine::Libaio, lock);
        let refused = workers(&job, new_file).unwrap_err();
        let PlanError::BadValue { value, .. } = refused else {
            panic!("{refused}");
        };
        assert_eq!(value, text);
    }
}

#[test]
fn files_are_renewed_for_engines_that_permit_it() {
    use IoEngine::*;
    let renews = |op, ioengine, offload, unlinks| {
        let mut job = on_new_file(op);
        (job.ioengine, job.queue.offload) = (ioengine, offload);
        job.files.unlink_each_loop = unlinks;
        broken_rule(&job)
    };
    let wrong = Some(("unlink_each_loop", ValueRule::RenewedFiles));
    for engine in [Sync, Psync, Pvsync, Pvsync2, Libaio, IoUring, Posixaio] {
        assert_eq!(renews(Op::Write, engine, false, true), None, "{engine:?}");
    }
    for engine in [Stdio, Mmap, Falloc, Ftruncate] {
        assert_eq!(renews(Op::Write, engine, false, true), wrong, "{engine:?}");
        assert_eq!(renews(Op::Write, engine, false, false), None, "{engine:?}");
    }
    // A job that only reads ends with the first file that is gone, so it renews none.
    assert_eq!(renews(Op::Read, Mmap, false, true), None);
    for op in [Op::Read, Op::Write] {
        assert_eq!(renews(op, Psync, true, true), wrong, "{op:?} in threads");
        assert_eq!(renews(op, Psync, true, false), None, "{op:?} in threads");
    }
}

#[test]
fn zones_of_a_device_are_neither_verified_nor_replayed() {
    let zoned = |change: &dyn Fn(&mut Job)| {
        let mut job = job(Op::Write, false, 1);
        job.access.zones = Zones::Device {
            size: Some(Bytes(1 << 20)),
            capacity: None,
            skip: Bytes(0),
            max_open: 0,
            max_open_each: 0,
            read_beyond_write_pointer: false,
            ignore_limits: false,
            resets: None,
        };
        change(&mut job);
        let device = workers(&job, |scenario| {
            all_of(scenario, TargetKind::BlockDevice, 8 << 20)
        });
        match device {
            Ok(_) => None,
            Err(PlanError::BadValue { option, why, .. }) => Some((option, why)),
            Err(error) => panic!("{error}"),
        }
    };
    let verified = |job: &mut Job| job.verify = Some(Verify::by(VerifyMethod::Crc32c));
    let replayed = |job: &mut Job| job.replay.read = vec!["log".into()];
    let both = |job: &mut Job| {
        verified(job);
        replayed(job);
    };
    let wrong = Some(("zonemode", ValueRule::DeviceZones));
    assert_eq!(zoned(&|_| ()), None);
    assert_eq!(zoned(&verified), wrong);
    assert_eq!(zoned(&replayed), wrong);
    assert_eq!(zoned(&both), wrong);
}

#[test]
fn logs_are_written_of_samples_or_histograms() {
    let interval = Some(Nanos(1_000_000));
    for (samples, histogram, any) in [
        (false, None, false),
        (true, None, true),
        (false, interval, true),
        (true, interval, true),
    ] {
        let logs = Logs {
            samples,
            histogram,
            // A window alone logs nothing.
            window: interval,
            ..Logs::default()
        };
        assert_eq!(logs.any(), any, "{logs:?}");
    }
}

#[test]
fn a_replay_has_logs_or_parsed_traces() {
    let (log, trace) = ("log".into(), Arc::new(Trace::default()));
    for (read, traces, any) in [
        (vec![], vec![], false),
        (vec![log], vec![], true),
        (vec![], vec![Arc::clone(&trace)], true),
        (vec!["log".into()], vec![trace], true),
    ] {
        let replay = Replay {
            read,
            traces,
            // Recording is not replaying.
            write: Some("record".into()),
            ..Replay::default()
        };
        assert_eq!(replay.any(), any, "{replay:?}");
    }
}
