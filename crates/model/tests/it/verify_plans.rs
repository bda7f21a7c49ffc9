//! Tests of verification plans: headers and their sizes, passes that are read back, and the writer of verified data.

use crate::generate::scenario_of;
use crate::plans::{BLOCK, bytes, job, new_file, workers};
use hakaru_model::job::rules::{PatternPart, Verify, VerifyMethod, Zones};
use hakaru_model::job::{Access, BlockSize, IoEngine, Job, Op, PerOp, Phase, SizeSpec, Target};
use hakaru_model::obstacle::ValueRule;
use hakaru_model::plan::{Facts, Plan, PlanError, VerifyPlan, WorkerPlan};
use hakaru_model::units::{Bytes, Nanos};

const KIB: u64 = 1 << 10;

/// Bytes of the header with a CRC-32C.
const HEADER: u64 = 44;

/// Methods with their names in the `verify` option, and the bytes of their checksums.
fn methods() -> [(VerifyMethod, &'static str, usize); 18] {
    use VerifyMethod::*;
    let pattern = || vec![PatternPart::Bytes(vec![0xab]), PatternPart::Offset];
    [
        (Header, "meta", 0),
        (Crc32c, "crc32c", 32 / 8),
        (Crc32, "crc32", 32 / 8),
        (Crc64, "crc64", 64 / 8),
        (Crc16, "crc16", 16 / 8),
        (Crc7, "crc7", 1),
        (Md5, "md5", 128 / 8),
        (Sha1, "sha1", 160 / 8),
        (Sha256, "sha256", 256 / 8),
        (Sha512, "sha512", 512 / 8),
        (Sha3_224, "sha3-224", 224 / 8),
        (Sha3_256, "sha3-256", 256 / 8),
        (Sha3_384, "sha3-384", 384 / 8),
        (Sha3_512, "sha3-512", 512 / 8),
        (Xxhash, "xxhash", 32 / 8),
        (Pattern(pattern()), "pattern", 0),
        (PatternHeader(pattern()), "pattern_hdr", 0),
        (Null, "null", 0),
    ]
}

/// Returns a job with a method on a new file of 64 KiB.
fn verified(access: Access, method: VerifyMethod) -> Job {
    let mut job = job(Op::Write, false, 1);
    job.access = access;
    job.extent.size = Some(bytes(64 * KIB));
    job.verify = Some(Verify::by(method));
    job
}

fn writer() -> Job {
    verified(Access::only(Op::Write, false), VerifyMethod::Crc32c)
}

/// Returns the settings of a verified job.
fn settings(job: &mut Job) -> &mut Verify {
    job.verify.as_mut().expect("the job verifies")
}

/// Returns the verification plan of a job.
fn plan_of(job: &Job) -> VerifyPlan {
    let worker = workers(job, new_file).expect("it fits").remove(0);
    *worker.verify.expect("the job verifies")
}

/// Returns the number of passes of a job, and whether the last write of each is followed by a flush.
fn passes(change: impl Fn(&mut Job)) -> (u32, bool) {
    let mut job = writer();
    change(&mut job);
    let plan = plan_of(&job);
    (plan.loops, plan.flushes_last_write)
}

/// Returns the option, the value and the rule that a job breaks; `None` if it can run.
fn broken_rule(job: &Job) -> Option<(&'static str, String, ValueRule)> {
    match workers(job, new_file) {
        Ok(_) => None,
        Err(PlanError::BadValue {
            option, value, why, ..
        }) => Some((option, value, why)),
        Err(error) => panic!("{error}"),
    }
}

fn io_size(size: u64) -> impl Fn(&mut Job) {
    move |job| job.extent.io_size = Some(bytes(size))
}

#[test]
fn methods_have_names_and_headers_as_long_as_their_checksums() {
    for (method, name, checksum) in methods() {
        assert_eq!(method.name(), name);
        assert_eq!(method.checksum_bytes(), checksum, "{name}");
        let header = match method {
            VerifyMethod::Pattern(_) | VerifyMethod::Null => 0,
            _ => 40 + checksum,
        };
        assert_eq!(method.header_bytes(), header, "{name}");
    }
}

#[test]
fn a_block_holds_its_header() {
    for (method, name, _) in methods() {
        let header = method.header_bytes() as u64;
        let of_blocks = |block: u64| {
            let job = verified(Access::only(Op::Write, false), method.clone());
            broken_rule(&job.with_block(Bytes(block)))
        };
        assert_eq!(of_blocks(header.max(1)), None, "{name}");
        assert_eq!(of_blocks(header + 1), None, "{name}");
        for block in [1, header.saturating_sub(1)] {
            let wrong = ("bs", block.to_string(), ValueRule::HeaderInBlock);
            let wrong = (header > 0).then_some(wrong);
            let found = if block > 0 { of_blocks(block) } else { None };
            assert_eq!(found, wrong, "{name} {block}");
        }
    }
}

#[test]
fn a_header_fits_into_its_interval_and_behind_its_offset() {
    for (interval, offset, wrong) in [
        (None, 0, None),
        (Some(HEADER), 0, None),
        (
            Some(HEADER - 1),
            0,
            Some(("verify_interval", 43, ValueRule::HeaderInInterval)),
        ),
        // The interval is at most a block.
        (Some(1 << 20), 0, None),
        (None, BLOCK - HEADER, None),
        (
            None,
            BLOCK - HEADER + 1,
            Some(("verify_offset", 4053, ValueRule::HeaderOffset)),
        ),
        (Some(512), 512 - HEADER, None),
        (
            Some(512),
            512 - HEADER + 1,
            Some(("verify_offset", 469, ValueRule::HeaderOffset)),
        ),
    ] {
        let mut job = writer();
        settings(&mut job).interval = interval.map(Bytes);
        settings(&mut job).offset = offset as u32;
        let wrong = wrong.map(|(option, value, why)| (option, value.to_string(), why));
        assert_eq!(broken_rule(&job), wrong, "{interval:?} {offset}");
    }
}

/// Blocks of different sizes may end with any multiple of their common divisor. fio 3.33 with
/// `--bssplit=4096/50:4100/50 --verify=crc32c` fails with `Blocksize too small`.
#[test]
fn the_last_block_of_several_sizes_holds_its_header() {
    let split = |sizes: &[u64]| {
        let part = |&size: &u64| (Bytes(size), 100 / sizes.len() as u32);
        BlockSize::Split(sizes.iter().map(part).collect())
    };
    let range = |min, max| BlockSize::Range {
        min: Bytes(min),
        max: Bytes(max),
    };
    let fixed = BlockSize::Fixed(Bytes(BLOCK));
    for (block, align, offset, rest) in [
        (split(&[4096, 8192]), None, 0, None),
        (split(&[4096, 6144]), None, 0, None),
        (split(&[4096, 4100]), None, 0, Some(4)),
        (split(&[4100, 4096, 8192, 16_384]), None, 0, Some(4)),
        // A rest of 44 bytes is just enough.
        (split(&[4400, 4444]), None, 0, None),
        (split(&[4300, 4343]), None, 0, Some(43)),
        (split(&[4096, 4160]), None, 20, None),
        (split(&[4096, 4160]), None, 21, Some(64)),
        (range(512, 4096), None, 0, None),
        (range(4096, 65_536), Some(512), 0, None),
        (range(4096, 65_536), Some(16), 0, Some(16)),
        (range(4096, 65_536), Some(36), 0, Some(4)),
        // Blocks of one size are whole.
        (fixed, Some(16), 0, None),
    ] {
        let mut job = writer();
        (job.block, job.block_align) = (PerOp::all(block), align.map(Bytes));
        settings(&mut job).offset = offset;
        let wrong = |rest: u64| ("blockalign", rest.to_string(), ValueRule::LastBlock);
        assert_eq!(broken_rule(&job), rest.map(wrong), "{:?}", job.block.write);
        // As in fio, a block that is too short for its header is not verified.
        job.block_rules.unaligned = true;
        assert_eq!(broken_rule(&job), None, "{:?}", job.block.write);
        // A pattern has no header.
        job.block_rules.unaligned = false;
        let pattern = vec![PatternPart::Bytes(vec![7])];
        settings(&mut job).method = VerifyMethod::Pattern(pattern);
        settings(&mut job).offset = 100;
        assert_eq!(broken_rule(&job), None, "{:?}", job.block.write);
    }
}

#[test]
fn engines_that_move_no_data_have_nothing_to_verify() {
    use IoEngine::*;
    let refused = |ioengine, op| {
        let mut job = verified(Access::only(op, false), VerifyMethod::Md5);
        job.ioengine = ioengine;
        broken_rule(&job)
    };
    let wrong = || Some(("verify", "md5".to_owned(), ValueRule::NoDataToVerify));
    for engine in [Falloc, Ftruncate] {
        assert_eq!(refused(engine, Op::Write), wrong(), "{engine:?}");
    }
    for engine in [
        Filecreate, Filestat, Filedelete, Dircreate, Dirstat, Dirdelete,
    ] {
        assert_eq!(refused(engine, Op::Read), wrong(), "{engine:?}");
    }
    for engine in [Psync, Vsync, Stdio, Mmap, Splice, Libaio, IoUring] {
        for op in [Op::Read, Op::Write] {
            assert_eq!(refused(engine, op), None, "{engine:?}");
        }
    }
}

#[test]
fn the_null_engine_compares_nothing() {
    for (method, name, _) in methods() {
        let mut job = verified(Access::only(Op::Write, false), method.clone());
        assert_eq!(plan_of(&job).rules.method, method, "{name}");
        (job.ioengine, job.target) = (IoEngine::Null, Target::Nothing);
        assert_eq!(plan_of(&job).rules.method, VerifyMethod::Null, "{name}");
    }
}

#[test]
fn the_smallest_piece_with_a_header_is_an_interval_or_a_block() {
    for (interval, block, piece) in [
        (None, 4096, 4096),
        (None, 512, 512),
        (Some(512), 4096, 512),
        (Some(512), 512, 512),
        (Some(4096), 512, 512),
    ] {
        let mut job = writer();
        settings(&mut job).interval = interval.map(Bytes);
        let plan = plan_of(&job);
        assert_eq!(plan.piece(block), piece, "{interval:?} {block}");
    }
}

/// fio 3.33 with `--rw=write --size=64k --bs=4k --verify=md5`: 16 writes and as many reads with `--io_size=131k`, and
/// twice as many with `--io_size=132k`.
#[test]
fn another_pass_follows_while_a_block_fits_in_io_size() {
    // A pass writes 64 KiB and reads them back.
    let pass = 128 * KIB;
    for before in 1..5u64 {
        let next = before * pass + BLOCK;
        let made = before as u32;
        assert_eq!(passes(io_size(next - 1)), (made, true), "{next}");
        assert_eq!(passes(io_size(next)), (made + 1, true), "{next}");
    }
    assert_eq!(passes(io_size(64 * KIB - 1)), (1, false));
}

/// fio 3.33 with `--rw=write --size=64k --bs=4k --verify=md5 --fsync=16`: one flush with `--io_size=68k`, and none with
/// `--io_size=64k` or without it.
#[test]
fn an_io_size_of_one_pass_adds_no_flush() {
    assert_eq!(passes(|_| ()), (1, false));
    assert_eq!(passes(io_size(64 * KIB)), (1, false));
    assert_eq!(passes(io_size(68 * KIB)), (1, true));
    let unread = |size: u64| {
        passes(move |job| {
            job.extent.io_size = Some(bytes(size));
            settings(job).read_back = false;
        })
    };
    assert_eq!(unread(64 * KIB), (1, false));
    assert_eq!(unread(68 * KIB), (1, true));
}

/// fio 3.33 with `--size=64k --io_size=256k --verify=md5`: 32 writes and reads also with `--runtime=20` or
/// `--norandommap=1`; `--rw=randwrite --norandommap=1` issues 64 writes and 16 reads, and `--rw=read` 16 reads.
#[test]
fn only_writes_of_each_block_are_made_in_passes() {
    let (twice, once) = ((2, true), (1, false));
    let with = |change: fn(&mut Job)| {
        passes(move |job| {
            job.extent.io_size = Some(bytes(256 * KIB));
            change(job);
        })
    };
    assert_eq!(with(|_| ()), twice);
    assert_eq!(with(|job| job.timing.runtime = Some(Nanos::SECOND)), twice);
    let endless = with(|job| {
        (job.timing.runtime, job.timing.time_based) = (Some(Nanos::SECOND), true);
    });
    assert_eq!(endless, once);
    assert_eq!(with(|job| job.access.every_block_once = false), twice);
    assert_eq!(with(|job| job.access.random = true), twice);
    let redrawn = with(|job| (job.access.random, job.access.every_block_once) = (true, false));
    assert_eq!(redrawn, once);
    for random in [false, true] {
        let mut reads = verified(Access::only(Op::Read, random), VerifyMethod::Crc32c);
        reads.extent.io_size = Some(bytes(256 * KIB));
        let plan = plan_of(&reads);
        assert_eq!((plan.loops, plan.flushes_last_write), once, "{random}");
    }
}

/// fio 3.33 with `--rw=write:12k --size=513k --bs=4k --verify=md5 --fsync=33`: 64 writes and reads, and a flush; with
/// `--do_verify=0` 32 writes and no flush, and with `--do_verify=0 --loops=2` 64 writes.
#[test]
fn only_passes_with_gaps_that_are_read_back_go_on_to_size() {
    let gaps = |change: fn(&mut Job)| {
        passes(move |job| {
            job.extent.size = Some(bytes(513 * KIB));
            job.access.stride = 12 << 10;
            change(job);
        })
    };
    assert_eq!(gaps(|_| ()), (2, true));
    assert_eq!(gaps(|job| settings(job).read_back = false), (1, false));
    assert_eq!(gaps(|job| settings(job).only = true), (1, false));
    let unread = gaps(|job| {
        settings(job).read_back = false;
        job.extent.loops = 2;
    });
    assert_eq!(unread, (2, false));
    let reads = gaps(|job| job.access.mix = Access::only(Op::Read, false).mix);
    assert_eq!(reads, (1, false));
}

#[test]
fn zones_are_written_and_read_back_until_size_is_reached() {
    let until = |change: fn(&mut Job)| {
        let mut job = writer();
        job.extent.size = Some(bytes(513 * KIB));
        job.access.zones = Zones::Strided {
            range: Bytes(64 * KIB),
            size: Bytes(32 * KIB),
            skip: Bytes(64 * KIB),
        };
        change(&mut job);
        plan_of(&job).repeats_until
    };
    let end = Some(513 * KIB - BLOCK);
    assert_eq!(until(|_| ()), end);
    assert_eq!(until(|job| job.timing.runtime = Some(Nanos::SECOND)), end);
    let endless = until(|job| {
        (job.timing.runtime, job.timing.time_based) = (Some(Nanos::SECOND), true);
    });
    assert_eq!(endless, None);
    let reads = until(|job| job.access.mix = Access::only(Op::Read, false).mix);
    assert_eq!(reads, None);
    assert_eq!(until(|job| settings(job).only = true), None);
    let percent = until(|job| job.extent.io_size = Some(SizeSpec::Percent(100)));
    assert_eq!(percent, None);
}

/// Returns a job that writes a file, or only verifies it.
fn on_file(path: &str, only: bool) -> Job {
    let mut job = verified(Access::only(Op::Write, true), VerifyMethod::Crc32c);
    job.target = Target::Paths(vec![path.into()]);
    settings(&mut job).only = only;
    job
}

/// Returns the workers of jobs that run one after another.
fn one_after_another(jobs: Vec<Job>) -> Vec<WorkerPlan> {
    let mut scenario = scenario_of(Vec::new(), 1);
    let phase = |job: Job| Phase {
        name: "p".to_owned(),
        jobs: vec![job],
    };
    scenario.phases = jobs.into_iter().map(phase).collect();
    let facts: Facts = new_file(&scenario);
    let plan = Plan::resolve(&scenario, &facts).expect("it fits");
    let workers = plan.phases.into_iter().flat_map(|phase| phase.workers);
    workers.collect()
}

/// Returns the seeds of a worker's offsets and headers.
fn seeds(worker: &WorkerPlan) -> (u64, u64) {
    let verify = worker.verify.as_ref().expect("the job verifies");
    (worker.stream.seed, verify.seed)
}

#[test]
fn data_is_verified_as_its_own_writer_wrote_it() {
    let files = ["a", "b", "c"];
    let writers = files.map(|path| on_file(path, false));
    let checkers = files.map(|path| on_file(path, true));
    let workers = one_after_another([writers, checkers].concat());
    let (wrote, checks) = workers.split_at(files.len());
    for (wrote, checks) in wrote.iter().zip(checks) {
        assert_eq!(seeds(wrote), seeds(checks));
        assert!(checks.verify.as_ref().unwrap().rules.header_seed);
    }
    assert!(seeds(&wrote[0]) != seeds(&wrote[1]) && seeds(&wrote[1]) != seeds(&wrote[2]));
}

#[test]
fn data_is_verified_as_it_was_written_last() {
    let jobs = [false, false, true].map(|only| on_file("a", only));
    let workers = one_after_another(jobs.to_vec());
    assert_ne!(seeds(&workers[0]), seeds(&workers[1]));
    assert_eq!(seeds(&workers[1]), seeds(&workers[2]));
}

#[test]
fn data_of_another_run_may_have_other_seeds() {
    let jobs = vec![on_file("a", false), on_file("b", true)];
    let workers = one_after_another(jobs);
    let seed_counts = workers.iter().map(|worker| {
        let verify = worker.verify.as_ref().unwrap();
        verify.rules.header_seed
    });
    assert_eq!(seed_counts.collect::<Vec<_>>(), [true, false]);
    assert_ne!(seeds(&workers[0]), seeds(&workers[1]));
}
