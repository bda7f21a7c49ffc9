//! Measurements besides the I/Os: disk traffic, the intended start time of an open loop, and engine activity.

use crate::common::{
    MIB, engine_replaced, on_card, on_file, only, read_rand, run_job, scratch, write_seq,
};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::facts::DiskStats;
use hakaru_model::job::{Access, IoEngine, Job, Op, RateLimits};
use hakaru_model::record::{Latency, WorkerRecord};
use hakaru_model::units::{Bytes, Nanos, Quantile};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A loop device over a fully written file; detached when dropped.
struct Loop {
    node: PathBuf,
    /// Temporary directory of the file, removed when dropped.
    _home: tempfile::TempDir,
}

impl Loop {
    fn new(size: u64) -> Option<Loop> {
        let home = tempfile::tempdir().unwrap();
        let image = home.path().join("disk.img");
        std::fs::write(&image, vec![0x5a; size as usize]).unwrap();
        let made = Command::new("losetup")
            .args(["--find", "--show"])
            .arg(&image)
            .output();
        match made {
            Ok(out) if out.status.success() => Some(Loop {
                node: String::from_utf8(out.stdout).unwrap().trim().into(),
                _home: home,
            }),
            other => {
                eprintln!("SKIPPED: loop devices cannot be made here ({other:?})");
                None
            }
        }
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .arg("--detach")
            .arg(&self.node)
            .status();
    }
}

fn moved(worker: &WorkerRecord, op: Op) -> u64 {
    worker.ops[op].bytes
}

fn on_loop(node: &Path, engine: IoEngine, op: Op, ramp_ms: u64) -> Job {
    let mut job = on_file(node, engine, Access::only(op, true), 4096, 8 * MIB);
    job.files.direct = true;
    job.timing.time_based = true;
    (job.timing.ramp_time, job.timing.runtime) =
        (Nanos::from_millis(ramp_ms), Some(Nanos::from_millis(300)));
    job
}

/// Regression: the ramp was estimated from its duration, which gave 0.89 device bytes per
/// application byte.
#[test]
fn counters_of_the_disk_cover_the_measured_part_exactly() {
    let Some(disk) = Loop::new(8 * MIB) else {
        return;
    };
    let bytes = |op: Op, disk: &DiskStats| match op {
        Op::Read => disk.read_sectors * 512,
        _ => disk.write_sectors * 512,
    };
    for op in [Op::Write, Op::Read] {
        let report = run_job(on_loop(&disk.node, IoEngine::Psync, op, 200));
        let (phase, worker) = (&report.phases[0], only(&report));
        let traffic = phase.traffic.as_ref();
        let traffic = traffic.expect("one worker has one end of its ramp");
        let [counted] = &traffic.disks[..] else {
            panic!("{traffic:?}")
        };
        assert_eq!(bytes(op, counted), moved(worker, op), "{op:?}");
        let ramp = worker.ramp_bytes.as_ref().expect("there was a ramp")[op].0;
        assert!(ramp > 0);
        let (all, whole) = (ramp + moved(worker, op), bytes(op, &phase.disks[0]));
        // Opening a loop device may read its first sectors.
        let counted = (all..=all + MIB).contains(&whole);
        assert!(counted, "{whole} bytes of the disk for {all}");
    }
}

#[test]
fn a_queue_with_a_ramp_is_counted_to_what_is_in_flight() {
    let Some(disk) = Loop::new(8 * MIB) else {
        return;
    };
    let mut job = on_loop(&disk.node, IoEngine::Libaio, Op::Write, 200);
    job.queue.iodepth = 8;
    let report = run_job(job);
    let counted = report.phases[0].traffic.as_ref().unwrap().disks[0].write_sectors * 512;
    let moved = moved(only(&report), Op::Write);
    assert!(
        moved.abs_diff(counted) <= 8 * 4096,
        "{counted} of the device for {moved}"
    );
    let all = moved + only(&report).ramp_bytes.as_ref().unwrap().write.0;
    assert_eq!(report.phases[0].disks[0].write_sectors * 512, all);
}

#[test]
fn workers_that_ramp_on_their_own_count_whole_phases() {
    let Some(disk) = Loop::new(8 * MIB) else {
        return;
    };
    let mut job = on_loop(&disk.node, IoEngine::Psync, Op::Write, 100);
    job.numjobs = 3;
    let report = run_job(job);
    let phase = &report.phases[0];
    assert_eq!((report.error, &phase.traffic), (None, &None));
    let all: u64 = phase
        .workers
        .iter()
        .map(|w| moved(w, Op::Write) + w.ramp_bytes.as_ref().unwrap().write.0)
        .sum();
    assert_eq!(phase.disks[0].write_sectors * 512, all);
}

#[test]
fn laying_out_has_a_figure_of_its_own() {
    let (_dir, path) = scratch();
    let job = on_file(&path, IoEngine::Psync, read_rand(), 4096, 2 * MIB);
    let report = run_job(job.clone());
    let laid_out = report.phases[0]
        .laid_out
        .as_ref()
        .expect("there was no file");
    assert_eq!(laid_out.bytes, Bytes(2 * MIB));
    assert_eq!(only(&report).ops.write.bytes, 0);
    let again = run_job(job);
    assert_eq!(again.phases[0].laid_out, None, "it is there already");
}

/// Returns the median in nanoseconds; `None` without a histogram.
fn median(latency: &Latency) -> Option<f64> {
    let histogram = latency.histogram.as_ref()?;
    Some(histogram.value_at(Quantile::MEDIAN)?.0 as f64)
}

/// A card that needs 2 ms per I/O, at a requested rate of 1000 per second: the last of N I/Os is N ms late and the
/// middle one half of that, although each takes 2 ms once submitted.
#[test]
fn an_open_loop_counts_latency_from_the_intended_start() {
    let mut card = DeviceModel::plain("card", Bytes(1 << 30));
    card.write_overhead = Nanos::from_millis(2);
    (card.write_seek, card.flush) = (Nanos(0), Nanos(0));
    card.write_rate = u64::MAX;
    let n = 4000;
    let run = |change: &dyn Fn(&mut RateLimits)| {
        let mut job = on_card(card.clone(), write_seq(), 4096, n * 4096);
        job.rate.iops.write = Some(1000);
        change(&mut job.rate);
        let report = run_job(job);
        only(&report).ops.write.clone()
    };
    let open = run(&|rate| rate.poisson = true);
    let near = |got: f64, want: f64, share: f64| {
        assert!((got / want - 1.0).abs() < share, "{got} and not {want}")
    };
    near(median(&open.clat).unwrap(), 2e6, 0.01);
    let intended = median(&open.lat).expect("its percentiles are kept");
    near(intended, n as f64 / 2.0 * 1e6, 0.1);
    near(open.lat.stat.max as f64, n as f64 * 1e6, 0.1);
    let closed = run(&|_| {});
    near(closed.lat.stat.max as f64, 2e6, 0.01);
    assert_eq!(median(&closed.lat), None, "nobody asked for them");
}

/// Regression: reads without a rate counted their latency from the start of the run.
#[test]
fn what_has_no_rate_of_its_own_is_intended_for_no_moment() {
    let card = DeviceModel::plain("card", Bytes(1 << 30));
    let mut job = on_card(card, Access::mixed(50, true), 4096, 4 * MIB);
    job.rate.iops.write = Some(100);
    job.rate.poisson = true;
    let report = run_job(job);
    let read = &only(&report).ops.read;
    assert!(
        read.ios > 100 && read.lat.stat.max < 50_000_000,
        "{:?}",
        read.lat.stat
    );
}

#[test]
fn what_a_ring_does_unasked_is_in_the_record() {
    let (_dir, path) = scratch();
    let run = |engine, separate, fixed| {
        let mut job = on_file(&path, engine, read_rand(), 4096, MIB);
        job.queue.iodepth = 8;
        (job.queue.separate_submit, job.engine.fixedbufs) = (separate, fixed);
        let report = run_job(job);
        let used = only(&report).engine.expect("we know how we worked");
        (used, engine_replaced(&report))
    };
    let (psync, _) = run(IoEngine::Psync, false, false);
    let uses_ring = psync.registered_buffers || psync.submits_and_waits;
    assert!(psync.thread && !uses_ring, "{psync:?}");
    let (native, replaced) = run(IoEngine::IoUring, false, false);
    if replaced {
        return;
    }
    let fast = native.registered_files && native.submits_and_waits;
    assert!(fast, "{native:?}");
    let (plain, _) = run(IoEngine::IoUring, true, false);
    let registered = plain.registered_buffers || plain.registered_files;
    assert!(!registered && !plain.submits_and_waits, "{plain:?}");
    let (fixed, _) = run(IoEngine::IoUring, true, true);
    let buffers_only = fixed.registered_buffers && !fixed.registered_files;
    assert!(buffers_only, "{fixed:?}");
}

/// Regression: with one call to submit and wait, and the timestamp taken before it, clat had all of the time and slat
/// none.
#[test]
fn a_ring_that_submits_apart_has_its_reads_of_the_page_cache_in_slat() {
    let (_dir, path) = scratch();
    std::fs::write(&path, vec![1u8; MIB as usize]).unwrap();
    let medians = |separate| {
        let mut job = on_file(&path, IoEngine::IoUring, read_rand(), 65536, MIB);
        job.files.invalidate = false;
        job.extent.loops = 64;
        (job.queue.separate_submit, job.measure.slat_histogram) = (separate, true);
        let report = run_job(job);
        let read = &only(&report).ops.read;
        let median = |latency| median(latency).expect("a histogram is kept");
        (!engine_replaced(&report)).then(|| (median(&read.slat), median(&read.clat)))
    };
    let (Some(apart), Some(together)) = (medians(true), medians(false)) else {
        return;
    };
    // Copying 64 KiB happens in the submitting call.
    let (slat, clat) = apart;
    assert!(slat > clat, "separate calls: slat {slat}, clat {clat}");
    let (slat, clat) = together;
    assert!(slat < clat, "one call: slat {slat}, clat {clat}");
}
