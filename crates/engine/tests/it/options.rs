//! Options that change how I/O is issued and what happens in between: submission threads, recreated files,
//! `sync_file_range`.

use crate::common::{
    MIB, assert_no_holes, on_file, only, read_seq, run_job, run_worker, scratch, write_rand,
    write_seq,
};
use hakaru_model::job::rules::{FileLock, Lifetime, RangeSync, Zones};
use hakaru_model::job::{Access, IoEngine, Job, Op};
use hakaru_model::record::StopReason;
use hakaru_model::units::Bytes;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

fn offloaded(path: &Path, engine: IoEngine, op: Op) -> Job {
    let mut job = on_file(path, engine, Access::only(op, true), 4096, MIB);
    job.queue.offload = true;
    job.queue.iodepth = 4;
    job.queue.batch_submit = 1;
    job
}

/// Engines that move data and have a trait.
fn movers_with(has_trait: fn(IoEngine) -> bool) -> impl Iterator<Item = IoEngine> {
    let moves_none = [IoEngine::Null, IoEngine::Falloc, IoEngine::Ftruncate];
    let engines = IoEngine::ALL.iter().copied();
    engines.filter(move |&engine| has_trait(engine) && !moves_none.contains(&engine))
}

#[test]
fn threads_submit_for_every_engine_that_moves_data_by_one_call() {
    let dir = tempfile::tempdir().unwrap();
    'engines: for engine in movers_with(|engine| engine.traits().can_offload) {
        let path = dir.path().join(engine.name());
        for op in [Op::Write, Op::Read] {
            let report = run_job(offloaded(&path, engine, op));
            if let Some(error) = &report.error {
                let may_lack = matches!(engine, IoEngine::Libaio | IoEngine::IoUring);
                assert!(may_lack, "{engine:?}: {error}");
                eprintln!("SKIPPED: {engine:?}: {error}");
                continue 'engines;
            }
            let worker = only(&report);
            let counts = (worker.ops[op].ios, worker.ops[op].bytes, worker.stop);
            assert_eq!(counts, (256, MIB, StopReason::Done), "{engine:?} {op:?}");
            // A queue of threads is as deep as requested, whatever the engine.
            assert_eq!(worker.depth.iodepth, 4);
        }
        assert_no_holes(&path, engine.name());
    }
}

/// I/Os that cannot keep up with their rate wait in the queue, which counts as latency: the last I/O was due long
/// before.
#[test]
fn latencies_of_offloaded_ios_count_from_their_intended_time() {
    let (_dir, path) = scratch();
    let mut job = offloaded(&path, IoEngine::Psync, Op::Write);
    job.queue.iodepth = 1;
    job.rate.iops.write = Some(100_000_000);
    let worker = run_worker(job);
    assert_eq!(worker.ops.write.ios, 256);
    let (longest, runtime) = (worker.ops.write.lat.stat.max, worker.runtime.0);
    assert!(longest > runtime / 2, "{longest} of {runtime} ns");
}

#[test]
fn workers_lock_the_file_they_share() {
    let dir = tempfile::tempdir().unwrap();
    let engines = IoEngine::ALL.iter().filter(|e| e.is_synchronous());
    for &engine in engines.filter(|engine| engine.traits().can_offload) {
        let mut job = on_file(
            &dir.path().join(engine.name()),
            engine,
            write_rand(),
            4096,
            MIB,
        );
        (job.numjobs, job.files.lock) = (2, FileLock::Exclusive);
        let report = run_job(job);
        let ios: Vec<u64> = report.phases[0]
            .workers
            .iter()
            .map(|worker| worker.ops.write.ios)
            .collect();
        assert_eq!((ios, report.error), (vec![256, 256], None), "{engine:?}");
    }
}

#[test]
fn files_are_made_anew_between_loops() {
    let dir = tempfile::tempdir().unwrap();
    for engine in movers_with(|engine| engine.traits().can_renew_files) {
        for registered in [false, true] {
            let (path, kept) = (dir.path().join(engine.name()), dir.path().join("kept"));
            std::fs::write(&path, vec![0; 64 << 10]).unwrap();
            std::fs::hard_link(&path, &kept).unwrap();
            let mut job = on_file(&path, engine, write_rand(), 4096, 64 << 10);
            job.files.unlink_each_loop = true;
            job.files.lifetime = Lifetime::Short;
            job.extent.loops = 3;
            (job.queue.iodepth, job.engine.registerfiles) = (8, registered);
            let worker = run_worker(job);
            let counts = (worker.ops.write.ios, worker.errors.total);
            assert_eq!(counts, (48, 0), "{engine:?}");
            let (old, new) = (kept.metadata().unwrap(), path.metadata().unwrap());
            assert_ne!(old.ino(), new.ino(), "{engine:?} wrote the old file again");
            assert_eq!(new.len(), 64 << 10);
            for file in [&path, &kept] {
                assert_no_holes(file, engine.name());
                std::fs::remove_file(file).unwrap();
            }
        }
    }
}

#[test]
fn a_queue_that_looks_for_overlaps_is_filled_to_its_depth() {
    // With I/Os submitted one by one, each was waited for before the next: `fio --iodepth=16 --serialize_overlap=1` had
    // 1 to 8 in flight, and with `--rate_iops=20000` 2 to 4.
    let (_dir, path) = scratch();
    let reads = Access::only(Op::Read, true);
    let mut job = on_file(&path, IoEngine::Posixaio, reads, 4096, MIB);
    (job.queue.iodepth, job.queue.batch_submit) = (8, 1);
    job.queue.batch_complete_max = 1;
    job.queue.serialize_overlap = true;
    let worker = run_worker(job);
    let [one, two, four, eight, ..] = worker.depth.level;
    assert_eq!((one, two, four), (1, 2, 4));
    assert_eq!(eight, worker.ops.read.ios - 7);
}

#[test]
fn a_reader_finds_nothing_where_files_are_removed_between_loops() {
    let (_dir, path) = scratch();
    let mut job = on_file(&path, IoEngine::Psync, read_seq(), 4096, 64 << 10);
    job.files.unlink_each_loop = true;
    job.extent.loops = 2;
    let worker = run_worker(job);
    assert_eq!((worker.ops.read.ios, worker.stop), (16, StopReason::Error));
    assert_eq!(worker.errors.first[0].errno, 2);
}

#[test]
fn ranges_are_handed_over_every_so_many_writes() {
    let (_dir, path) = scratch();
    for engine in [IoEngine::Psync, IoEngine::Libaio] {
        let mut job = on_file(&path, engine, write_seq(), 4096, 64 << 10);
        job.durability.range_sync = Some(RangeSync {
            every: 4,
            wait_before: true,
            write: true,
            wait_after: true,
        });
        let worker = run_worker(job);
        assert_eq!(
            (worker.ops.write.ios, worker.sync.stat.count),
            (16, 3),
            "{engine:?}"
        );
    }
}

fn zones(size: u64, max_open: u32) -> Zones {
    Zones::Device {
        size: Some(Bytes(size)),
        capacity: None,
        skip: Bytes(0),
        max_open,
        max_open_each: 0,
        read_beyond_write_pointer: false,
        ignore_limits: false,
        resets: None,
    }
}

#[test]
fn workers_share_the_zones_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    for engine in [IoEngine::Psync, IoEngine::Libaio, IoEngine::IoUring] {
        for access in [write_rand(), write_seq(), Access::mixed(50, true)] {
            let path = dir.path().join("zoned");
            // A job that goes through the zones in order ends after the last, and others may have filled some before
            // it.
            let most_only = !access.random;
            let mut job = on_file(&path, engine, access, 4096, MIB);
            job.access.zones = zones(64 << 10, 3);
            (job.numjobs, job.queue.iodepth, job.queue.batch_submit) = (3, 4, 1);
            let report = run_job(job);
            assert_eq!(report.error, None);
            for worker in &report.phases[0].workers {
                let ios = worker.ops.read.ios + worker.ops.write.ios;
                assert_eq!(
                    (worker.errors.total, worker.stop),
                    (0, StopReason::Done),
                    "{engine:?}"
                );
                assert!(
                    ios == 256 || most_only && (1..256).contains(&ios),
                    "{engine:?}: {ios}"
                );
            }
        }
    }
}

#[test]
fn zones_that_cannot_be_kept_to_are_refused_with_the_cure() {
    let (_dir, path) = scratch();
    let refused = |zones: Zones| {
        let mut job = on_file(&path, IoEngine::Psync, write_seq(), 4096, MIB);
        job.access.zones = zones;
        run_job(job).error.expect("it is refused").to_string()
    };
    let mut unsized_zones = zones(0, 0);
    if let Zones::Device { size, .. } = &mut unsized_zones {
        *size = None;
    }
    assert!(refused(unsized_zones).contains("set zonesize="));
    assert!(refused(zones(2 * MIB, 0)).contains("no whole zone"));
}
