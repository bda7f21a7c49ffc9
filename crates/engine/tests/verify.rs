//! Verification with every method and engine: intact data passes, and damage is found at its location.

mod common;

use common::{MIB, go, on_card, on_file, only, scenario, write_seq};
use hakaru_engine::EngineReport;
use hakaru_model::device_model::{DeviceModel, Fault, FaultKind};
use hakaru_model::job::rules::{PatternPart, Verify, VerifyMethod};
use hakaru_model::job::{
    Access, BlockSize, Distribution, IoEngine, Job, Op, PerOp, SizeSpec, Target,
};
use hakaru_model::mismatch::BlockDifference;
use hakaru_model::record::{StopReason, WorkerRecord};
use hakaru_model::units::Bytes;
use std::path::Path;

fn by(method: VerifyMethod) -> Verify {
    Verify {
        save_state: false,
        ..Verify::by(method)
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
    job(path, Access::only(Op::Read, false), verify)
}

/// Returns the first worker of a run that may have ended with an error.
fn worker(report: &EngineReport) -> &WorkerRecord {
    assert_eq!(report.error, None);
    &report.phases[0].workers[0]
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
        let report = go(&scenario(vec![job(
            &path,
            Access::only(Op::Write, true),
            by(method.clone()),
        )]));
        let ran = only(&report);
        assert_eq!(
            (ran.ops.write.ios, ran.ops.read.ios, ran.errors.total),
            (64, 64, 0),
            "{method:?}"
        );
        assert!(ran.ops.read.runtime.is_some() && ran.ops.write.runtime.is_some());
        assert_eq!(
            only(&go(&scenario(vec![reads(&path, by(method.clone()))])))
                .errors
                .total,
            0,
            "{method:?}"
        );
        damage(&path, 40_000);
        let report = go(&scenario(vec![reads(&path, by(method.clone()))]));
        if matches!(method, VerifyMethod::Header | VerifyMethod::Null) {
            assert_eq!(only(&report).errors.total, 0, "{method:?} looks at no data");
            continue;
        }
        let ran = worker(&report);
        assert_eq!(
            (ran.stop, ran.ops.read.ios, ran.errors.total),
            (StopReason::Error, 10, 1),
            "{method:?}"
        );
        let error = &ran.errors.first[0];
        assert_eq!(
            (error.action.as_str(), error.errno, error.offset),
            ("verify", 84, Bytes(36_864))
        );
        let data = matches!(
            error.mismatches[0].difference,
            BlockDifference::Checksum { .. } | BlockDifference::Pattern { at: 3136, .. }
        );
        assert!(data, "{method:?}: {:?}", error.mismatches);
    }
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
                Access::only(Op::Write, true),
                by(VerifyMethod::Xxhash),
            );
            job.ioengine = engine;
            job.queue.iodepth = 8;
            let rules = job.verify.as_mut().unwrap();
            (rules.backlog, rules.async_threads) = (backlog, threads);
            let report = go(&scenario(vec![job]));
            let ran = only(&report);
            let counts = (ran.ops.write.ios, ran.ops.read.ios, ran.errors.total);
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
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    go(&scenario(vec![job(
        &path,
        write_seq(),
        by(VerifyMethod::Crc32c),
    )]));
    let whole = std::fs::read(&path).unwrap();
    let found = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut content = whole.clone();
        change(&mut content);
        std::fs::write(&path, content).unwrap();
        let report = go(&scenario(vec![reads(&path, by(VerifyMethod::Crc32c))]));
        worker(&report).errors.first[0].mismatches[0].clone()
    };
    let moved = found(&|content| content.copy_within(3 * 4096..4 * 4096, 7 * 4096));
    assert_eq!((moved.offset, moved.len), (Bytes(7 * 4096), Bytes(4096)));
    assert_eq!(
        moved.difference,
        BlockDifference::Offset {
            found: 3 * 4096,
            wanted: 7 * 4096
        }
    );
    assert!(matches!(
        found(&|content| content[4096] = 0).difference,
        BlockDifference::Magic { .. }
    ));
    assert!(matches!(
        found(&|content| content[4096 + 24] ^= 1).difference,
        BlockDifference::Header { .. }
    ));
    let other = go(&scenario(vec![reads(&path, by(VerifyMethod::Md5))]));
    let mismatch = &worker(&other).errors.first[0].mismatches[0];
    assert_eq!(
        mismatch.difference,
        BlockDifference::Method {
            found: "crc32c".into(),
            wanted: "md5".into()
        }
    );
    std::fs::write(&path, &whole).unwrap();
    let large = go(&scenario(vec![
        reads(&path, by(VerifyMethod::Crc32c)).with_block(Bytes(8192)),
    ]));
    let mismatch = &worker(&large).errors.first[0].mismatches[0];
    assert_eq!(
        mismatch.difference,
        BlockDifference::Length {
            found: 4096,
            wanted: 8192
        }
    );
}

#[test]
fn pieces_have_headers_of_their_own_at_any_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    for (interval, offset) in [(512, 0), (1000, 0), (512, 300), (4096, 4052), (100, 40)] {
        let rules = Verify {
            interval: Some(Bytes(interval)),
            offset,
            ..by(VerifyMethod::Crc32c)
        };
        let report = go(&scenario(vec![job(&path, write_seq(), rules.clone())]));
        assert_eq!(only(&report).errors.total, 0, "{interval} {offset}");
        // Two pieces of one block, and one piece of another.
        let (first, second, third) = (2 * 4096 + 40, 2 * 4096 + 3000, 5 * 4096 + 45);
        [first, second, third]
            .into_iter()
            .for_each(|at| damage(&path, at));
        let mut goes_on = reads(&path, rules.clone());
        goes_on.errors.continue_on_mismatch = true;
        let report = go(&scenario(vec![goes_on]));
        let ran = only(&report);
        assert_eq!(
            (ran.stop, ran.ops.read.ios, ran.errors.total),
            (StopReason::Done, 64, 2)
        );
        let pieces = if interval == 4096 { 1 } else { 2 };
        assert_eq!(
            ran.errors.first[0].mismatches.len(),
            pieces,
            "{interval} {offset}: {:?}",
            ran.errors.first
        );
        let piece = &ran.errors.first[0].mismatches[0];
        let around = piece.offset.0..piece.offset.0 + piece.len.0;
        assert!(around.contains(&(first as u64)), "{interval}: {piece:?}");
        let fatal = go(&scenario(vec![reads(
            &path,
            Verify {
                fatal: true,
                ..rules
            },
        )]));
        assert_eq!(
            worker(&fatal).errors.first[0].mismatches.len(),
            1,
            "the first mismatch ends the job"
        );
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn only_the_last_write_to_a_place_is_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    for (backlog, batch) in [(0, 0), (16, 4), (16, 32), (1, 0)] {
        let mut anew = job(
            &path,
            Access::only(Op::Write, true),
            Verify {
                backlog,
                backlog_batch: batch,
                ..by(VerifyMethod::Md5)
            },
        );
        anew.access.every_block_once = false;
        let report = go(&scenario(vec![anew]));
        let ran = only(&report);
        assert_eq!((ran.ops.write.ios, ran.errors.total), (64, 0));
        assert!(
            backlog > 0 || ran.ops.read.ios < 64,
            "some blocks are drawn twice: {}",
            ran.ops.read.ios
        );
        let mut sizes = job(
            &path,
            Access::only(Op::Write, true),
            Verify {
                backlog,
                backlog_batch: batch,
                ..by(VerifyMethod::Crc32c)
            },
        );
        sizes.block = PerOp::all(BlockSize::Range {
            min: Bytes(1024),
            max: Bytes(8192),
        });
        sizes.ioengine = IoEngine::Libaio;
        sizes.queue.iodepth = 1;
        let report = go(&scenario(vec![sizes]));
        assert_eq!(
            only(&report).errors.total,
            0,
            "{backlog}: {:?}",
            only(&report).errors.first
        );
        assert!(only(&report).ops.read.ios > 0);
    }
}

#[test]
fn loops_and_mixes_are_checked_as_they_go() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let mut thrice = job(
        &path,
        Access::only(Op::Write, true),
        by(VerifyMethod::Crc32c),
    );
    thrice.extent.loops = 3;
    let report = go(&scenario(vec![thrice]));
    assert_eq!(
        (
            only(&report).ops.write.ios,
            only(&report).ops.read.ios,
            only(&report).errors.total
        ),
        (192, 192, 0)
    );
    let report = go(&scenario(vec![job(
        &path,
        Access::mixed(50, true),
        by(VerifyMethod::Crc32c),
    )]));
    let ran = only(&report);
    let work = ran.ops.read.ios - ran.ops.write.ios;
    assert_eq!(
        (work + ran.ops.write.ios, ran.errors.total),
        (64, 0),
        "what is written is read back too"
    );
}

#[test]
fn a_job_that_only_verifies_writes_nothing_and_knows_what_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    let write = |rules| job(&path, Access::only(Op::Write, true), rules);
    go(&scenario(vec![write(by(VerifyMethod::Sha1))]));
    let before = std::fs::read(&path).unwrap();
    let only_verify = || Verify {
        only: true,
        ..by(VerifyMethod::Sha1)
    };
    let report = go(&scenario(vec![write(only_verify())]));
    let ran = only(&report);
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
    go(&scenario(vec![again]));
    assert_eq!(
        only(&go(&scenario(vec![write(only_verify())])))
            .errors
            .total,
        0
    );
    damage(&path, 5000);
    assert_eq!(
        worker(&go(&scenario(vec![write(only_verify())])))
            .errors
            .total,
        1
    );
}

/// As in fio, `loops` and a larger `io_size` verify nothing twice, and `do_verify=0` affects only reading back after
/// writes.
#[test]
fn a_job_that_reads_checks_each_block_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    go(&scenario(vec![job(
        &path,
        write_seq(),
        by(VerifyMethod::Md5),
    )]));
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
            let report = go(&scenario(vec![checks]));
            assert_eq!(
                (only(&report).ops.read.ios, only(&report).errors.total),
                (reads, 0),
                "{random} {loops} {io_size:?}"
            );
        }
    }
}

/// The card reports success for writes that it dropped; only reading back detects this.
#[test]
fn a_card_that_drops_writes_is_found_out() {
    let mut prices = DeviceModel::plain("liar", Bytes(64 * MIB));
    prices.faults = vec![Fault {
        offset: Bytes(5 * 65_536),
        len: Bytes(512),
        kind: FaultKind::DropsWrites,
    }];
    let card = |prices: &DeviceModel, method| {
        let mut job = on_card(
            prices.clone(),
            Access::only(Op::Write, true),
            65_536,
            4 * MIB,
        );
        job.queue.iodepth = 4;
        job.verify = Some(by(method));
        job.errors.continue_on_mismatch = true;
        go(&scenario(vec![job]))
    };
    let report = card(&prices, VerifyMethod::Crc32c);
    let ran = only(&report);
    assert_eq!(
        (ran.ops.write.ios, ran.ops.read.ios, ran.errors.total),
        (64, 64, 1)
    );
    assert_eq!(ran.errors.first[0].offset, Bytes(5 * 65_536));
    assert!(matches!(
        ran.errors.first[0].mismatches[0].difference,
        BlockDifference::Magic { found: 0, .. }
    ));
    let unread = card(&prices, VerifyMethod::Null);
    assert_eq!(only(&unread).errors.total, 0);
    // A card with less capacity than it claims wraps to its start.
    let mut fake = DeviceModel::plain("fake", Bytes(3 * MIB));
    fake.claimed_capacity = Some(Bytes(4 * MIB));
    let report = card(&fake, VerifyMethod::Crc32c);
    let ran = only(&report);
    assert_eq!(ran.errors.total, 16, "one MiB of four was written over");
    let wrong = |error: &hakaru_model::record::IoError| match error.mismatches[0].difference {
        BlockDifference::Offset { found, wanted } => found.abs_diff(wanted) == 3 * MIB,
        _ => false,
    };
    assert!(ran.errors.first.iter().all(wrong), "{:?}", ran.errors.first);
}

#[test]
fn a_mismatch_ends_the_job_unless_it_may_go_on() {
    let mut prices = DeviceModel::plain("liar", Bytes(64 * MIB));
    prices.faults = vec![Fault {
        offset: Bytes(0),
        len: Bytes(4 * MIB),
        kind: FaultKind::DropsWrites,
    }];
    for (goes_on, threads) in [(false, 0), (true, 0), (false, 2), (true, 2)] {
        let mut job = on_card(prices.clone(), write_seq(), 65_536, 4 * MIB);
        job.verify = Some(Verify {
            async_threads: threads,
            ..by(VerifyMethod::Crc32c)
        });
        job.errors.continue_on_mismatch = goes_on;
        let report = go(&scenario(vec![job]));
        let ran = worker(&report);
        assert_eq!(ran.stop == StopReason::Error, !goes_on);
        match (goes_on, threads) {
            (true, _) => assert_eq!(ran.errors.total, 64),
            (false, 0) => assert_eq!((ran.errors.total, ran.ops.read.ios), (1, 1)),
            (false, _) => assert!(ran.errors.total >= 1),
        }
    }
}

/// Regression: a block written again while its first write waited in the backlog was checked against the old number,
/// and a job with intact data ended with `bad header numberio`.
#[test]
fn blocks_rewritten_during_a_backlog_are_no_corruption() {
    let dir = tempfile::tempdir().unwrap();
    let kinds = ["passes", "anew", "zipf", "range", "split", "mixed"];
    for (engine, kind, (backlog, batch)) in [IoEngine::Libaio, IoEngine::IoUring, IoEngine::Vsync]
        .into_iter()
        .flat_map(|engine| kinds.map(|kind| (engine, kind)))
        .flat_map(|(engine, kind)| [(8, 0), (40, 7), (1, 0)].map(|backlog| (engine, kind, backlog)))
    {
        let rules = Verify {
            backlog,
            backlog_batch: batch,
            ..by(VerifyMethod::Crc32c)
        };
        let mut job = job(&dir.path().join("f"), Access::only(Op::Write, true), rules);
        job.ioengine = engine;
        job.queue.iodepth = 8;
        job.extent.io_size = Some(SizeSpec::Bytes(Bytes(8 * MIB)));
        match kind {
            "anew" => job.access.every_block_once = false,
            "zipf" => job.access.distribution = Distribution::Zipf(1.2),
            "range" => {
                job.block = PerOp::all(BlockSize::Range {
                    min: Bytes(4096),
                    max: Bytes(16_384),
                })
            }
            "split" => {
                job.block = PerOp::all(BlockSize::Split(vec![
                    (Bytes(4096), 60),
                    (Bytes(16_384), 40),
                ]))
            }
            "mixed" => job.access = Access::mixed(40, true),
            _ => {}
        }
        let report = go(&scenario(vec![job]));
        let ran = only(&report);
        assert_eq!(
            ran.errors.total, 0,
            "{engine:?} {kind} {backlog}: {:?}",
            ran.errors.first
        );
        assert!(
            kind != "passes" || ran.ops.read.ios * 2 > ran.ops.write.ios,
            "{engine:?} checks what it wrote"
        );
    }
}

/// Regression: a job that only verifies after the writing job found the seed of another job, and reported intact data
/// as corrupt.
#[test]
fn a_job_that_only_verifies_may_follow_the_one_that_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    for access in [
        Access::only(Op::Write, false),
        Access::only(Op::Write, true),
        Access::mixed(30, true),
    ] {
        let rules = |only| Verify {
            read_back: only,
            only,
            ..by(VerifyMethod::Crc32c)
        };
        let mut anew = job(&path, access.clone(), rules(false));
        anew.access.every_block_once = false;
        let other = job(&dir.path().join("other"), access.clone(), rules(false));
        let wrote = job(&path, access.clone(), rules(false));
        let mut checks = job(&path, access.clone(), rules(true));
        for seeds in [[None; 2], [Some(4), Some(9)]] {
            let (mut wrote, mut other) = (wrote.clone(), other.clone());
            (wrote.seed, other.seed, checks.seed) = (seeds[0], seeds[1], seeds[1]);
            let report = go(&scenario(vec![other, anew.clone(), wrote, checks.clone()]));
            assert_eq!(report.error, None);
            let ran = &report.phases[3].workers[0];
            assert_eq!(ran.errors.total, 0, "{access:?}: {:?}", ran.errors.first);
            assert!(ran.ops.read.ios > 30);
        }
        // Written by another run with other seeds, and damaged since: only the damage is reported, not the seed.
        if access.mix.write == 100 {
            checks.seed = Some(77);
            assert_eq!(only(&go(&scenario(vec![checks.clone()]))).errors.total, 0);
            damage(&path, 40_000);
            assert_eq!(worker(&go(&scenario(vec![checks]))).errors.total, 1);
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn a_fatal_mismatch_ends_a_job_that_would_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    go(&scenario(vec![job(
        &path,
        write_seq(),
        by(VerifyMethod::Crc32c),
    )]));
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
        let report = go(&scenario(vec![checks]));
        let ran = worker(&report);
        assert_eq!(
            ((ran.errors.total, ran.ops.read.ios), ran.stop),
            (found, stop)
        );
    }
}

#[test]
fn nothing_is_compared_where_nothing_is_kept() {
    for access in [
        write_seq(),
        Access::mixed(50, true),
        Access::only(Op::Read, false),
    ] {
        let mut job = Job::new("job", Target::Nothing, access);
        (job.ioengine, job.verify) = (IoEngine::Null, Some(by(VerifyMethod::Crc32c)));
        job.extent.size = Some(SizeSpec::Bytes(Bytes(MIB)));
        let report = go(&scenario(vec![job]));
        assert_eq!(
            (only(&report).stop, only(&report).errors.total),
            (StopReason::Done, 0)
        );
        assert!(only(&report).ops.read.ios > 50);
    }
}
