//! Verification with every method and engine: intact data passes, and damage is found at its location.

use crate::common::{
    MIB, go, on_card, on_file, only, read_seq, run_job, run_worker, scenario, scratch, write_rand,
    write_seq,
};
use hakaru_model::device_model::{DeviceModel, Fault, FaultKind};
use hakaru_model::job::rules::{PatternPart, Verify, VerifyMethod, Zones};
use hakaru_model::job::{
    Access, BlockSize, Distribution, IoEngine, Job, Op, PerOp, SizeSpec, Target,
};
use hakaru_model::mismatch::{BlockDifference, Mismatch};
use hakaru_model::record::{StopReason, WorkerRecord};
use hakaru_model::units::Bytes;
use std::path::Path;

fn by(method: VerifyMethod) -> Verify {
    Verify {
        save_state: false,
        ..Verify::by(method)
    }
}

fn with_backlog(method: VerifyMethod, backlog: u64, batch: u64) -> Verify {
    Verify {
        backlog,
        backlog_batch: batch,
        ..by(method)
    }
}

fn methods() -> Vec<VerifyMethod> {
    use VerifyMethod::*;
    let pattern = || {
        vec![
            PatternPart::Bytes(b"\xff\x01hakaru".to_vec()),
            PatternPart::Offset,
        ]
    };
    vec![
        Header,
        Crc32c,
        Crc32,
        Crc64,
        Crc16,
        Crc7,
        Md5,
        Sha1,
        Sha256,
        Sha512,
        Sha3_224,
        Sha3_256,
        Sha3_384,
        Sha3_512,
        Xxhash,
        Pattern(pattern()),
        PatternHeader(pattern()),
        Null,
    ]
}

/// A job on a file of 256 KiB in blocks of 4 KiB.
fn job(path: &Path, access: Access, verify: Verify) -> Job {
    let mut job = on_file(path, IoEngine::Psync, access, 4096, 256 << 10);
    job.verify = Some(verify);
    job
}

fn reads(path: &Path, verify: Verify) -> Job {
    job(path, read_seq(), verify)
}

/// Returns the numbers of writes, reads and errors.
fn counts(worker: &WorkerRecord) -> (u64, u64, u64) {
    (
        worker.ops.write.ios,
        worker.ops.read.ios,
        worker.errors.total,
    )
}

/// Reads a file that is known to be damaged, and returns the first mismatch.
fn first_mismatch(job: Job) -> Mismatch {
    run_worker(job).errors.first[0].mismatches[0].clone()
}

fn damage(path: &Path, at: usize) {
    let mut content = std::fs::read(path).unwrap();
    content[at] ^= 0x10;
    std::fs::write(path, content).unwrap();
}

#[test]
fn each_method_passes_what_is_whole_and_finds_a_flipped_bit() {
    let dir = tempfile::tempdir().unwrap();
    for method in methods() {
        let path = dir.path().join(method.name());
        let ran = run_worker(job(&path, write_rand(), by(method.clone())));
        assert_eq!(counts(&ran), (64, 64, 0), "{method:?}");
        assert!(ran.ops.read.runtime.is_some() && ran.ops.write.runtime.is_some());
        let intact = run_worker(reads(&path, by(method.clone())));
        assert_eq!(intact.errors.total, 0, "{method:?}");
        damage(&path, 40_000);
        let damaged = run_worker(reads(&path, by(method.clone())));
        if matches!(method, VerifyMethod::Header | VerifyMethod::Null) {
            assert_eq!(damaged.errors.total, 0, "{method:?} looks at no data");
        } else {
            assert_bit_found(&damaged, &method);
        }
    }
}

/// Asserts that the only mismatch is in the data of the tenth block, at byte 40,000 of the file.
fn assert_bit_found(ran: &WorkerRecord, method: &VerifyMethod) {
    let seen = (ran.stop, ran.ops.read.ios, ran.errors.total);
    assert_eq!(seen, (StopReason::Error, 10, 1), "{method:?}");
    let error = &ran.errors.first[0];
    let place = (error.action.as_str(), error.errno, error.offset);
    assert_eq!(place, ("verify", 84, Bytes(36_864)));
    let data = matches!(
        error.mismatches[0].difference,
        BlockDifference::Checksum { .. } | BlockDifference::Pattern { at: 3136, .. }
    );
    assert!(data, "{method:?}: {:?}", error.mismatches);
}

#[test]
fn each_engine_reads_back_what_it_wrote() {
    let dir = tempfile::tempdir().unwrap();
    use IoEngine::*;
    for engine in [
        Sync, Psync, Pvsync, Pvsync2, Vsync, Libaio, IoUring, Posixaio, Mmap, Splice,
    ] {
        for (backlog, threads) in [(0, 0), (16, 0), (0, 2), (5, 3)] {
            let mut job = job(
                &dir.path().join(engine.name()),
                write_rand(),
                by(VerifyMethod::Xxhash),
            );
            job.ioengine = engine;
            job.queue.iodepth = 8;
            let rules = job.verify.as_mut().unwrap();
            (rules.backlog, rules.async_threads) = (backlog, threads);
            let ran = run_worker(job);
            let counts = counts(&ran);
            assert_eq!(
                counts,
                (64, 64, 0),
                "{engine:?} {backlog} {threads}: {:?}",
                ran.errors.first
            );
        }
    }
}

#[test]
fn what_is_not_where_it_was_written_is_found() {
    let (_dir, path) = scratch();
    run_job(job(&path, write_seq(), by(VerifyMethod::Crc32c)));
    let whole = std::fs::read(&path).unwrap();
    let found = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut content = whole.clone();
        change(&mut content);
        std::fs::write(&path, content).unwrap();
        first_mismatch(reads(&path, by(VerifyMethod::Crc32c)))
    };
    let moved = found(&|content| content.copy_within(3 * 4096..4 * 4096, 7 * 4096));
    assert_eq!((moved.offset, moved.len), (Bytes(7 * 4096), Bytes(4096)));
    let (from, to) = (3 * 4096, 7 * 4096);
    assert!(
        matches!(moved.difference, BlockDifference::Offset { found, wanted } if (found, wanted) == (from, to))
    );
    let magic = found(&|content| content[4096] = 0).difference;
    assert!(matches!(magic, BlockDifference::Magic { .. }));
    let header = found(&|content| content[4096 + 24] ^= 1).difference;
    assert!(matches!(header, BlockDifference::Header { .. }));
}

#[test]
fn blocks_of_another_method_or_size_are_found() {
    let (_dir, path) = scratch();
    run_job(job(&path, write_seq(), by(VerifyMethod::Crc32c)));
    let other = first_mismatch(reads(&path, by(VerifyMethod::Md5))).difference;
    let (found, wanted) = ("crc32c".into(), "md5".into());
    assert_eq!(other, BlockDifference::Method { found, wanted });
    let large = reads(&path, by(VerifyMethod::Crc32c)).with_block(Bytes(8192));
    let (found, wanted) = (4096, 8192);
    assert_eq!(
        first_mismatch(large).difference,
        BlockDifference::Length { found, wanted }
    );
}

#[test]
fn pieces_have_headers_of_their_own_at_any_place() {
    let (_dir, path) = scratch();
    for (interval, offset) in [(512, 0), (1000, 0), (512, 300), (4096, 4052), (100, 40)] {
        let mut rules = by(VerifyMethod::Crc32c);
        (rules.interval, rules.offset) = (Some(Bytes(interval)), offset);
        let written = run_worker(job(&path, write_seq(), rules.clone()));
        assert_eq!(written.errors.total, 0, "{interval} {offset}");
        // Two pieces of one block, and one piece of another.
        let first = 2 * 4096 + 40;
        for at in [first, 2 * 4096 + 3000, 5 * 4096 + 45] {
            damage(&path, at);
        }
        let mut goes_on = reads(&path, rules.clone());
        goes_on.errors.continue_on_mismatch = true;
        let ran = run_worker(goes_on);
        let seen = (ran.stop, ran.ops.read.ios, ran.errors.total);
        assert_eq!(seen, (StopReason::Done, 64, 2));
        let pieces = &ran.errors.first[0].mismatches;
        let count = if interval == 4096 { 1 } else { 2 };
        assert_eq!(pieces.len(), count, "{interval} {offset}: {pieces:?}");
        let around = pieces[0].offset.0..pieces[0].offset.0 + pieces[0].len.0;
        assert!(around.contains(&(first as u64)), "{interval}: {pieces:?}");
        rules.fatal = true;
        let fatal = run_worker(reads(&path, rules));
        let found = fatal.errors.first[0].mismatches.len();
        assert_eq!(found, 1, "the first mismatch ends the job");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn only_the_last_write_to_a_place_is_read_back() {
    let (_dir, path) = scratch();
    for (backlog, batch) in [(0, 0), (16, 4), (16, 32), (1, 0)] {
        let rules = with_backlog(VerifyMethod::Md5, backlog, batch);
        let mut anew = job(&path, write_rand(), rules);
        anew.access.every_block_once = false;
        let ran = run_worker(anew);
        assert_eq!((ran.ops.write.ios, ran.errors.total), (64, 0));
        let reads = ran.ops.read.ios;
        assert!(backlog > 0 || reads < 64, "some are drawn twice: {reads}");
        let rules = with_backlog(VerifyMethod::Crc32c, backlog, batch);
        let mut sizes = job(&path, write_rand(), rules);
        let (min, max) = (Bytes(1024), Bytes(8192));
        sizes.block = PerOp::all(BlockSize::Range { min, max });
        (sizes.ioengine, sizes.queue.iodepth) = (IoEngine::Libaio, 1);
        let ran = run_worker(sizes);
        assert_eq!(ran.errors.total, 0, "{backlog}: {:?}", ran.errors.first);
        assert!(ran.ops.read.ios > 0);
    }
}

/// fio 3.33 with `--rw=randwrite:4 --verify=pattern`: as many reads as writes, though some blocks are written twice.
#[test]
fn repeated_writes_of_a_job_with_a_map_are_all_read_back() {
    let (_dir, path) = scratch();
    for backlog in [0, 16] {
        let rules = with_backlog(VerifyMethod::Md5, backlog, 0);
        let mut runs = job(&path, write_rand(), rules);
        runs.access.run_length = 4;
        assert_eq!(counts(&run_worker(runs)), (64, 64, 0), "{backlog}");
    }
}

/// fio 3.33 with `--rw=write --size=257k --bs=4k --verify=pattern` and these zones: 2 passes of 16 writes and 16 reads.
#[test]
fn passes_in_zones_are_repeated_until_writes_and_reads_make_size() {
    let (_dir, path) = scratch();
    let mut zoned = job(&path, write_rand(), by(VerifyMethod::Md5));
    zoned.access.random = false;
    zoned.extent.size = Some(SizeSpec::Bytes(Bytes(257 << 10)));
    zoned.access.zones = Zones::Strided {
        range: Bytes(16 << 10),
        size: Bytes(8 << 10),
        skip: Bytes(16 << 10),
    };
    assert_eq!(counts(&run_worker(zoned)), (32, 32, 0));
}

#[test]
fn loops_and_mixes_are_checked_as_they_go() {
    let (_dir, path) = scratch();
    let mut thrice = job(&path, write_rand(), by(VerifyMethod::Crc32c));
    thrice.extent.loops = 3;
    assert_eq!(counts(&run_worker(thrice)), (192, 192, 0));
    let ran = run_worker(job(
        &path,
        Access::mixed(50, true),
        by(VerifyMethod::Crc32c),
    ));
    let work = ran.ops.read.ios - ran.ops.write.ios;
    assert_eq!(
        (work + ran.ops.write.ios, ran.errors.total),
        (64, 0),
        "what is written is read back too"
    );
}

#[test]
fn a_job_that_only_verifies_writes_nothing_and_knows_what_was_written() {
    let (_dir, path) = scratch();
    let write = |rules| job(&path, write_rand(), rules);
    run_job(write(by(VerifyMethod::Sha1)));
    let before = std::fs::read(&path).unwrap();
    let only_verify = || Verify {
        only: true,
        ..by(VerifyMethod::Sha1)
    };
    let ran = run_worker(write(only_verify()));
    assert_eq!(
        (ran.ops.write.issued, ran.ops.read.ios, ran.errors.total),
        (64, 64, 0),
        "{:?}",
        ran.errors.first
    );
    assert_eq!(ran.ops.write.runtime.unwrap().0, 0);
    assert!(
        std::fs::read(&path).unwrap() == before,
        "nothing was written"
    );
    // Another run wrote some blocks last, in another order: as in fio, they are valid all the same.
    let mut again = write(by(VerifyMethod::Sha1));
    (again.access.random, again.extent.number_ios) = (false, Some(3));
    run_job(again);
    assert_eq!(run_worker(write(only_verify())).errors.total, 0);
    damage(&path, 5000);
    assert_eq!(run_worker(write(only_verify())).errors.total, 1);
}

/// As in fio, `loops` and a larger `io_size` verify nothing twice, and `do_verify=0` affects only reading back after
/// writes.
#[test]
fn a_job_that_reads_checks_each_block_once() {
    let (_dir, path) = scratch();
    run_job(job(&path, write_seq(), by(VerifyMethod::Md5)));
    for random in [false, true] {
        for (loops, io_size, once, reads) in [
            (1, None, true, 64),
            (3, None, true, 64),
            (1, Some(800 << 10), true, 64),
            (3, Some(64 << 10), true, 48),
            (3, None, !random, if random { 192 } else { 64 }),
        ] {
            let mut checks = job(&path, Access::only(Op::Read, random), by(VerifyMethod::Md5));
            (checks.extent.loops, checks.extent.io_size) =
                (loops, io_size.map(|bytes| SizeSpec::Bytes(Bytes(bytes))));
            checks.access.every_block_once = once;
            let report = run_job(checks);
            assert_eq!(
                (only(&report).ops.read.ios, only(&report).errors.total),
                (reads, 0),
                "{random} {loops} {io_size:?}"
            );
        }
    }
}

/// A card of 64 MiB that reports success for writes to a range, and drops them.
fn dropping_writes(offset: u64, len: u64) -> DeviceModel {
    let mut model = DeviceModel::plain("liar", Bytes(64 * MIB));
    model.faults = vec![Fault {
        offset: Bytes(offset),
        len: Bytes(len),
        kind: FaultKind::DropsWrites,
    }];
    model
}

/// Writes 4 MiB of a card, and reads them back.
fn written_and_verified(card: &DeviceModel, method: VerifyMethod) -> WorkerRecord {
    let mut job = on_card(card.clone(), write_rand(), 65_536, 4 * MIB);
    job.queue.iodepth = 4;
    job.verify = Some(by(method));
    job.errors.continue_on_mismatch = true;
    run_worker(job)
}

/// The card reports success for writes that it dropped; only reading back detects this.
#[test]
fn a_card_that_drops_writes_is_found_out() {
    let model = dropping_writes(5 * 65_536, 512);
    let ran = written_and_verified(&model, VerifyMethod::Crc32c);
    assert_eq!(counts(&ran), (64, 64, 1));
    assert_eq!(ran.errors.first[0].offset, Bytes(5 * 65_536));
    assert!(matches!(
        ran.errors.first[0].mismatches[0].difference,
        BlockDifference::Magic { found: 0, .. }
    ));
    let unread = written_and_verified(&model, VerifyMethod::Null);
    assert_eq!(unread.errors.total, 0);
}

#[test]
fn a_card_with_less_capacity_than_it_claims_wraps_to_its_start() {
    let mut fake = DeviceModel::plain("fake", Bytes(3 * MIB));
    fake.claimed_capacity = Some(Bytes(4 * MIB));
    let ran = written_and_verified(&fake, VerifyMethod::Crc32c);
    assert_eq!(ran.errors.total, 16, "one MiB of four was written over");
    let wrong = |error: &hakaru_model::record::IoError| match error.mismatches[0].difference {
        BlockDifference::Offset { found, wanted } => found.abs_diff(wanted) == 3 * MIB,
        _ => false,
    };
    assert!(ran.errors.first.iter().all(wrong), "{:?}", ran.errors.first);
}

#[test]
fn a_mismatch_ends_the_job_unless_it_may_go_on() {
    let model = dropping_writes(0, 4 * MIB);
    for (goes_on, threads) in [(false, 0), (true, 0), (false, 2), (true, 2)] {
        let mut job = on_card(model.clone(), write_seq(), 65_536, 4 * MIB);
        job.verify = Some(Verify {
            async_threads: threads,
            ..by(VerifyMethod::Crc32c)
        });
        job.errors.continue_on_mismatch = goes_on;
        let ran = run_worker(job);
        assert_eq!(ran.stop == StopReason::Error, !goes_on);
        match (goes_on, threads) {
            (true, _) => assert_eq!(ran.errors.total, 64),
            (false, 0) => assert_eq!((ran.errors.total, ran.ops.read.ios), (1, 1)),
            (false, _) => assert!(ran.errors.total >= 1),
        }
    }
}

/// Changes a random write so that it writes to some blocks again in a way of its own.
fn rewrite_blocks(job: &mut Job, kind: &str) {
    let (min, max) = (Bytes(4096), Bytes(16_384));
    match kind {
        "anew" => job.access.every_block_once = false,
        "zipf" => job.access.distribution = Distribution::Zipf(1.2),
        "range" => job.block = PerOp::all(BlockSize::Range { min, max }),
        "split" => job.block = PerOp::all(BlockSize::Split(vec![(min, 60), (max, 40)])),
        "mixed" => job.access = Access::mixed(40, true),
        _ => {}
    }
}

/// Regression: a block written again while its first write waited in the backlog was checked against the old number,
/// and a job with intact data ended with `bad header numberio`.
#[test]
fn blocks_rewritten_during_a_backlog_are_no_corruption() {
    let (_dir, path) = scratch();
    let kinds = ["passes", "anew", "zipf", "range", "split", "mixed"];
    for (engine, kind, (backlog, batch)) in [IoEngine::Libaio, IoEngine::IoUring, IoEngine::Vsync]
        .into_iter()
        .flat_map(|engine| kinds.map(|kind| (engine, kind)))
        .flat_map(|(engine, kind)| [(8, 0), (40, 7), (1, 0)].map(|backlog| (engine, kind, backlog)))
    {
        let rules = with_backlog(VerifyMethod::Crc32c, backlog, batch);
        let mut job = job(&path, write_rand(), rules);
        (job.ioengine, job.queue.iodepth) = (engine, 8);
        job.extent.io_size = Some(SizeSpec::Bytes(Bytes(8 * MIB)));
        rewrite_blocks(&mut job, kind);
        let ran = run_worker(job);
        let (case, errors) = (format!("{engine:?} {kind} {backlog}"), &ran.errors);
        assert_eq!(errors.total, 0, "{case}: {:?}", errors.first);
        let enough = ran.ops.read.ios * 2 > ran.ops.write.ios;
        assert!(kind != "passes" || enough, "{case} checks what it wrote");
    }
}

/// Rules of a job that only verifies, or of one that only writes.
fn rules(only: bool) -> Verify {
    Verify {
        read_back: only,
        only,
        ..by(VerifyMethod::Crc32c)
    }
}

/// Regression: a job that only verifies after the writing job found the seed of another job, and reported intact data
/// as corrupt.
#[test]
fn a_job_that_only_verifies_may_follow_the_one_that_wrote() {
    let (dir, path) = scratch();
    for access in [write_seq(), write_rand(), Access::mixed(30, true)] {
        let mut other = job(&dir.path().join("other"), access.clone(), rules(false));
        let mut wrote = job(&path, access.clone(), rules(false));
        let mut anew = wrote.clone();
        anew.access.every_block_once = false;
        let mut checks = job(&path, access.clone(), rules(true));
        for seeds in [[None; 2], [Some(4), Some(9)]] {
            (wrote.seed, other.seed, checks.seed) = (seeds[0], seeds[1], seeds[1]);
            let jobs = [&other, &anew, &wrote, &checks].map(Job::clone);
            let report = go(&scenario(jobs.to_vec()));
            assert_eq!(report.error, None);
            let ran = &report.phases[3].workers[0];
            assert_eq!(ran.errors.total, 0, "{access:?}: {:?}", ran.errors.first);
            assert!(ran.ops.read.ios > 30);
        }
        // Written by another run with other seeds, and damaged since: only the damage is reported, not the seed.
        if access.mix.write == 100 {
            checks.seed = Some(77);
            assert_eq!(run_worker(checks.clone()).errors.total, 0);
            damage(&path, 40_000);
            assert_eq!(run_worker(checks).errors.total, 1);
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_fatal_mismatch_ends_a_job_that_would_go_on() {
    let (_dir, path) = scratch();
    run_job(job(&path, write_seq(), by(VerifyMethod::Crc32c)));
    [10_000, 50_000, 51_000]
        .into_iter()
        .for_each(|at| damage(&path, at));
    for (goes_on, fatal, found, stop) in [
        (true, false, (2, 64), StopReason::Done),
        (true, true, (1, 3), StopReason::Done),
        (false, true, (1, 3), StopReason::Error),
    ] {
        let mut checks = reads(
            &path,
            Verify {
                fatal,
                ..by(VerifyMethod::Crc32c)
            },
        );
        checks.errors.continue_on_mismatch = goes_on;
        let ran = run_worker(checks);
        assert_eq!(
            ((ran.errors.total, ran.ops.read.ios), ran.stop),
            (found, stop)
        );
    }
}

#[test]
fn nothing_is_compared_where_nothing_is_kept() {
    for access in [write_seq(), Access::mixed(50, true), read_seq()] {
        let mut job = Job::new("job", Target::Nothing, access);
        (job.ioengine, job.verify) = (IoEngine::Null, Some(by(VerifyMethod::Crc32c)));
        job.extent.size = Some(SizeSpec::Bytes(Bytes(MIB)));
        let report = run_job(job);
        assert_eq!(
            (only(&report).stop, only(&report).errors.total),
            (StopReason::Done, 0)
        );
        assert!(only(&report).ops.read.ios > 50);
    }
}
