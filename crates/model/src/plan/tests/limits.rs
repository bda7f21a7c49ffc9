//! Tests of how much a job transfers: bytes of a pass, number of passes, and where later passes start.

use super::*;
use crate::job::Distribution;
use crate::job::rules::TraversalOrder;
use crate::stream::StreamPlan;

/// A job of blocks of 4 KiB that transfers `size` KiB.
fn of_kib(op: Op, random: bool, size: u64) -> Job {
    let mut job = job(op).with_block(Bytes(4096));
    job.access = Access::only(op, random);
    job.extent.size = Some(SizeSpec::Bytes(Bytes(size << 10)));
    job
}

/// Returns the requests of a job on a file of 1 MiB.
fn on_a_file(job: Job) -> StreamPlan {
    let plan = resolve(job, &[facts("f", TargetKind::File, 1 << 20)]).unwrap();
    plan.phases[0].workers[0].stream.clone()
}

/// Returns the requests of a job on a new file.
fn on_a_new_file(job: Job) -> StreamPlan {
    let plan = resolve(job, &[facts("f", TargetKind::Absent, 0)]).unwrap();
    plan.phases[0].workers[0].stream.clone()
}

/// Offsets in KiB, at most 1000.
fn kib(stream: &StreamPlan) -> Vec<u64> {
    let requests = stream.requests().take(1000);
    requests.map(|request| request.offset >> 10).collect()
}

fn time_based(job: &mut Job) {
    job.timing.runtime = Some(Nanos::SECOND);
    job.timing.time_based = true;
}

#[test]
fn blocks_at_a_larger_alignment_are_counted_once_each() {
    for (align, blocks) in [(4, 64), (16, 16), (32, 8)] {
        let mut job = of_kib(Op::Read, true, 256);
        job.block_align = Some(Bytes(align << 10));
        let stream = on_a_file(job.clone());
        let mut drawn = kib(&stream);
        drawn.sort_unstable();
        let each = (0..blocks).map(|block| block * align);
        assert_eq!(drawn, each.collect::<Vec<_>>());
        // Nothing more is expected of the job than these blocks.
        assert_eq!(stream.limit_bytes, Some(blocks * 4096));
        job.extent.loops = 3;
        assert_eq!(on_a_file(job.clone()).limit_bytes, Some(3 * blocks * 4096));
        // Runs of consecutive blocks cover the space between.
        (job.extent.loops, job.access.run_length) = (1, 4);
        assert_eq!(on_a_file(job).limit_bytes, Some(256 << 10));
    }
}

#[test]
fn orders_other_than_forward_access_whole_blocks_only() {
    let step = Bytes(32 << 10);
    for order in [
        TraversalOrder::Backward,
        TraversalOrder::Interleaved { step },
    ] {
        // Each file has a share of 50 KiB, which ends in its fourth block.
        let mut job = of_kib(Op::Read, false, 100).with_block(Bytes(16 << 10));
        job.target = Target::Paths(vec!["f".into(), "g".into()]);
        job.access.order = order;
        let known = ["f", "g"].map(|path| facts(path, TargetKind::File, 1 << 20));
        let mut drawn = offsets(job, &known);
        drawn.sort_unstable();
        let each = (0..2).flat_map(|file| [0, 16, 32, 48].map(|kib| (file, kib)));
        assert_eq!(drawn, each.collect::<Vec<_>>(), "{order:?}");
    }
}

#[test]
fn the_limit_of_a_pass_in_percent_is_what_it_transfers() {
    // `fio --rw=read --bs=8k --size=33%` on 300 KiB reads 12 blocks.
    for kind in [TargetKind::File, TargetKind::BlockDevice] {
        for (percent, block, blocks) in [(33, 8, 12), (33, 4, 24), (50, 6, 25), (8, 24, 1)] {
            let mut job = job(Op::Read).with_block(Bytes(block << 10));
            job.extent.size = Some(SizeSpec::Percent(percent));
            let plan = resolve(job, &[facts("f", kind, 300 << 10)]).unwrap();
            let stream = &plan.phases[0].workers[0].stream;
            assert_eq!(stream.requests().count() as u64, blocks, "{percent}%");
            assert_eq!(
                stream.limit_bytes,
                Some(blocks * (block << 10)),
                "{percent}%"
            );
        }
    }
}

#[test]
fn a_runtime_alone_does_not_repeat_a_job() {
    let mut job = of_kib(Op::Read, false, 64);
    job.timing.runtime = Some(Nanos::SECOND);
    let once = on_a_file(job.clone());
    assert_eq!((kib(&once).len(), once.limit_bytes), (16, Some(64 << 10)));
    // `fio --rw=read --size=64k --filesize=128k --loops=2 --ioengine=libaio --runtime=60`: the first 64 KiB twice.
    (job.ioengine, job.extent.loops) = (IoEngine::Libaio, 2);
    job.extent.filesize = Some(Bytes(128 << 10));
    let line = |blocks: u64| (0..blocks).map(|block| 4 * block);
    let twice = kib(&on_a_new_file(job.clone()));
    assert_eq!(twice, line(16).chain(line(16)).collect::<Vec<_>>());
    time_based(&mut job);
    let endless = on_a_new_file(job);
    assert_eq!((kib(&endless).len(), endless.limit_bytes), (1000, None));
}

#[test]
fn only_passes_that_are_counted_have_bytes_of_their_own() {
    for (loops, endless, wanted) in [
        (1, false, None),
        (2, false, Some(64 << 10)),
        (3, false, Some(64 << 10)),
        (2, true, None),
    ] {
        let mut job = of_kib(Op::Read, false, 64);
        job.extent.loops = loops;
        if endless {
            time_based(&mut job);
        }
        assert_eq!(on_a_file(job).pass_bytes, wanted, "{loops} loops");
    }
}

#[test]
fn a_single_pass_of_a_queue_is_not_repeated_from_its_start() {
    for random in [false, true] {
        let mut job = of_kib(Op::Read, random, 64);
        job.ioengine = IoEngine::Libaio;
        job.access.every_block_once = false;
        job.extent.filesize = Some(Bytes(128 << 10));
        let once = on_a_file(job.clone());
        assert!(!once.closes_regions(64 << 10), "random: {random}");
        assert_eq!(once.restart_bytes, None);
        // Passes of several loops start again after `size`, in the middle of the file.
        job.extent.loops = 2;
        assert!(on_a_file(job).closes_regions(64 << 10));
    }
}

#[test]
fn null_starts_again_after_size_only_with_a_queue_as_in_fio() {
    // `fio --ioengine=null --iodepth=DEPTH --rw=read --bs=8k --size=64k --filesize=128k --loops=2`
    let drawn = |depth| {
        let mut job = of_kib(Op::Read, false, 64).with_block(Bytes(8 << 10));
        (job.target, job.ioengine) = (Target::Nothing, IoEngine::Null);
        (job.queue.iodepth, job.extent.loops) = (depth, 2);
        job.extent.filesize = Some(Bytes(128 << 10));
        let plan = resolve(job, &[]).unwrap();
        kib(&plan.phases[0].workers[0].stream)
    };
    let line = |blocks: u64| (0..blocks).map(|block| 8 * block);
    assert_eq!(drawn(1), line(16).collect::<Vec<_>>());
    assert_eq!(drawn(4), line(8).chain(line(8)).collect::<Vec<_>>());
}

/// fio 3.33: `--rw=rw --verify=crc32c --loops=3` transfers three times `size`, as do reads with `--percentage_random=50`
/// or `--zonemode=strided` in two loops.
#[test]
fn verified_jobs_that_write_or_skip_blocks_repeat_their_passes() {
    let limit = |loops: u32, change: &dyn Fn(&mut Access)| {
        let mut job = of_kib(Op::Read, false, 64);
        job.verify = Some(Verify::by(VerifyMethod::Null));
        job.extent.loops = loops;
        change(&mut job.access);
        on_a_file(job).limit_bytes.map(|bytes| bytes >> 10)
    };
    assert_eq!(limit(3, &|_| ()), Some(64));
    assert_eq!(
        limit(3, &|access| *access = Access::mixed(50, false)),
        Some(192)
    );
    let partly_random = |access: &mut Access| {
        *access = Access::only(Op::Read, true);
        access.percentage_random = Some(PerOp::all(50));
    };
    assert_eq!(limit(2, &partly_random), Some(128));
    let zones = Zones::Strided {
        range: Bytes(16 << 10),
        size: Bytes(8 << 10),
        skip: Bytes(16 << 10),
    };
    assert_eq!(limit(2, &|access| access.zones = zones.clone()), Some(128));
}

#[test]
fn all_random_is_the_same_as_100_percent_random() {
    let worker = |percent: Option<u32>| {
        let mut job = of_kib(Op::Read, true, 64);
        job.access.percentage_random = percent.map(PerOp::all);
        let plan = resolve(job, &[facts("f", TargetKind::File, 1 << 20)]).unwrap();
        plan.phases[0].workers[0].clone()
    };
    assert_eq!(worker(Some(100)), worker(None));
    // `fio --rw=randread --percentage_random=0` reads one block after another.
    let line: Vec<u64> = (0..16).map(|block| 4 * block).collect();
    assert_eq!(kib(&worker(Some(0)).stream), line);
    assert_ne!(kib(&worker(Some(50)).stream), line);
}

/// fio 3.33 with `--size=64k --offset=25%` on a new file: the first pass starts at 0, later ones at 16k if they start
/// again at all.
#[test]
fn later_passes_with_a_start_begin_at_the_offset_in_percent() {
    let later = |loops: u32, change: &dyn Fn(&mut Job)| {
        let mut job = of_kib(Op::Read, true, 64);
        (job.extent.offset, job.extent.loops) = (SizeSpec::Percent(25), loops);
        change(&mut job);
        on_a_new_file(job).later_starts
    };
    let again = vec![16 << 10];
    let line = |job: &mut Job| job.access = Access::only(Op::Read, false);
    let unmapped = |job: &mut Job| job.access.every_block_once = false;
    assert_eq!(later(2, &|_| ()), again);
    assert_eq!(later(2, &line), again);
    let unmapped_line = |job: &mut Job| {
        line(job);
        unmapped(job);
    };
    assert_eq!(later(2, &unmapped_line), again, "--norandommap");
    let unmapped_queue = |job: &mut Job| {
        unmapped(job);
        job.ioengine = IoEngine::Libaio;
    };
    assert_eq!(later(2, &unmapped_queue), again, "libaio");
    // There is no later pass.
    assert!(later(1, &|_| ()).is_empty());
    assert!(later(1, &line).is_empty());
    // Blocks come again, and the job continues without an end of its passes.
    assert!(later(2, &unmapped).is_empty());
    let run = |job: &mut Job| job.access.run_length = 4;
    assert!(later(2, &run).is_empty(), "randread:4");
    let partly = |job: &mut Job| job.access.percentage_random = Some(PerOp::all(50));
    assert!(later(2, &partly).is_empty());
    let skewed = |job: &mut Job| job.access.distribution = Distribution::Zipf(1.2);
    assert!(later(2, &skewed).is_empty());
    let aligned = |job: &mut Job| job.block_align = Some(Bytes(8 << 10));
    assert!(later(2, &aligned).is_empty());
}

#[test]
fn an_offset_of_0_percent_is_an_offset_of_0() {
    for append in [false, true] {
        for op in [Op::Read, Op::Write] {
            let plan = |offset: SizeSpec| {
                let mut job = of_kib(op, false, 64);
                (job.extent.offset, job.extent.loops) = (offset, 2);
                job.files.append = append && op == Op::Write;
                resolve(job, &[facts("f", TargetKind::File, 32 << 10)])
            };
            let bytes = plan(SizeSpec::Bytes(Bytes(0)));
            assert_eq!(plan(SizeSpec::Percent(0)), bytes, "append: {append}");
            assert!(bytes.is_ok());
        }
    }
}
