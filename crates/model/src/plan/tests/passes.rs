//! Tests of passes: where they end and what starts them, as recorded from fio 3.33 with `write_iolog`.

use super::*;

/// A job on a file of `filesize` KiB that transfers `size` KiB in blocks of `block` KiB.
fn on_a_file(ioengine: IoEngine, block: u64, filesize: u64, size: u64) -> Job {
    let mut job = job(Op::Read).with_block(Bytes(block << 10));
    job.ioengine = ioengine;
    job.extent.filesize = Some(Bytes(filesize << 10));
    job.extent.size = Some(SizeSpec::Bytes(Bytes(size << 10)));
    job
}

/// Offsets of a job in KiB.
fn kib(job: Job) -> Vec<u64> {
    let drawn = offsets(job, &[facts("f", TargetKind::Absent, 0)]);
    drawn.into_iter().map(|(_, kib)| kib).collect()
}

#[test]
fn engines_with_a_queue_start_again_after_size_as_in_fio() {
    // `--rw=read --filesize=128k --size=64k --bs=8k`, with `--io_size=150k` and with `--loops=2`
    let whole = |ioengine| {
        let mut job = on_a_file(ioengine, 8, 128, 64);
        job.extent.io_size = Some(SizeSpec::Bytes(Bytes(150 << 10)));
        let mut looped = on_a_file(ioengine, 8, 128, 64);
        looped.extent.loops = 2;
        (kib(job), kib(looped))
    };
    let line = |blocks: u64| (0..blocks).map(|block| block * 8);
    let (moved, looped) = whole(IoEngine::Psync);
    assert_eq!(moved, line(16).chain(line(3)).collect::<Vec<_>>());
    assert_eq!(looped, line(16).collect::<Vec<_>>());
    for ioengine in [IoEngine::IoUring, IoEngine::Libaio, IoEngine::Vsync] {
        let (moved, looped) = whole(ioengine);
        assert_eq!(
            moved,
            line(8).chain(line(8)).chain(line(3)).collect::<Vec<_>>()
        );
        assert_eq!(looped, line(8).chain(line(8)).collect::<Vec<_>>());
    }
    // Trims of a queue are synchronous: `--rw=trim --filename=DEVICE --filesize=128k --size=64k --loops=2`. The null
    // engine queues them.
    for (ioengine, again) in [(IoEngine::IoUring, false), (IoEngine::Null, true)] {
        let mut job = on_a_file(ioengine, 8, 128, 64);
        job.access = Access::only(Op::Trim, false);
        job.queue.iodepth = 4;
        job.extent.loops = 2;
        let drawn = offsets(job, &[facts("f", TargetKind::BlockDevice, 128 << 10)]);
        let starts = drawn.iter().filter(|(_, offset)| *offset == 0).count();
        assert_eq!(starts, if again { 2 } else { 1 }, "{ioengine:?}");
    }
    // After the last loop, `io_size=100k` is reached: `--filesize=128k --size=64k --io_size=100k --loops=2`.
    let mut job = on_a_file(IoEngine::IoUring, 8, 128, 64);
    job.extent.io_size = Some(SizeSpec::Bytes(Bytes(100 << 10)));
    job.extent.loops = 2;
    assert_eq!(kib(job).len(), 16);
}

#[test]
fn random_passes_of_a_queue_repeat_their_offsets_as_in_fio() {
    // `--rw=randread --norandommap --filesize=128k --size=64k --bs=8k --loops=2`
    for (ioengine, repeats) in [(IoEngine::IoUring, true), (IoEngine::Psync, false)] {
        let mut job = on_a_file(ioengine, 8, 128, 64);
        job.extent.loops = 2;
        (job.access.random, job.access.every_block_once) = (true, false);
        let drawn = kib(job.clone());
        assert_eq!(drawn[..8] == drawn[8..], repeats, "{drawn:?}");
        // With `--randrepeat=0` or `--randseed=5`, no pass repeats another.
        job.extent.draws_anew = true;
        let drawn = kib(job);
        assert!(drawn.len() == 16 && drawn[..8] != drawn[8..], "{drawn:?}");
    }
}

#[test]
fn io_size_in_percent_starts_no_further_pass_as_in_fio() {
    // `--rw=read:8k --size=64k --bs=4k --io_size=100%`, without and with `--loops=2`
    let mut job = job(Op::Read).with_block(Bytes(4096));
    job.extent.size = Some(SizeSpec::Bytes(Bytes(64 << 10)));
    job.extent.io_size = Some(SizeSpec::Percent(100));
    job.access.stride = 8192;
    assert_eq!(kib(job.clone()), [0, 12, 24, 36, 48, 60]);
    job.extent.loops = 2;
    assert_eq!(kib(job).len(), 12);
}

#[test]
fn a_part_of_a_null_file_with_gaps_is_passed_once_as_in_fio() {
    // `--ioengine=null --rw=read:8k --filesize=300k --size=33% --bs=4k`
    let mut job = job(Op::Read).with_block(Bytes(4096));
    job.target = Target::Nothing;
    job.extent.filesize = Some(Bytes(300 << 10));
    job.extent.size = Some(SizeSpec::Percent(33));
    job.access.stride = 8192;
    assert_eq!(kib(job), [0, 12, 24, 36, 48, 60, 72, 84]);
}

#[test]
fn sizes_of_null_files_are_not_drawn_as_in_fio() {
    // `--ioengine=null --rw=randread --size=64k --bs=3k --nrfiles=3 --filesize=16k-64k`: seven blocks of each file.
    for seed in 0..20 {
        let mut job = job(Op::Read).with_block(Bytes(3 << 10));
        job.target = Target::Nothing;
        job.extent.size = Some(SizeSpec::Bytes(Bytes(64 << 10)));
        job.extent.filesize = Some(Bytes(16 << 10));
        job.extent.filesize_max = Some(Bytes(64 << 10));
        job.files.unopened = (0..3).map(|n| format!("j.$jobnum.{n}")).collect();
        (job.access.random, job.seed) = (true, Some(seed));
        let drawn = offsets(job, &[]);
        assert_eq!(drawn.len(), 21);
        assert!(drawn.iter().all(|(_, kib)| *kib < 21), "{drawn:?}");
    }
}

/// fio 3.33 with `--rw=write --verify=crc32c` and strided zones: each pass ends where a zone has no room, and is read
/// back; another follows while reads and writes make less than `size` without the largest block.
#[test]
fn verified_passes_in_zones_go_on_until_writes_and_reads_make_size() {
    let until = |change: &dyn Fn(&mut Job)| {
        let mut job = job(Op::Write);
        job.extent.size = Some(SizeSpec::Bytes(Bytes(513 << 10)));
        job.access.zones = Zones::Strided {
            range: Bytes(64 << 10),
            size: Bytes(32 << 10),
            skip: Bytes(64 << 10),
        };
        job.verify = Some(Verify::by(VerifyMethod::Crc32c));
        change(&mut job);
        let plan = resolve(job, &[facts("f", TargetKind::Absent, 0)]).unwrap();
        let worker = &plan.phases[0].workers[0];
        worker.verify.as_ref().unwrap().repeats_until
    };
    assert_eq!(until(&|_| ()), Some((513 << 10) - 4096));
    let io_size = |job: &mut Job| job.extent.io_size = Some(SizeSpec::Bytes(Bytes(1 << 20)));
    assert_eq!(until(&io_size), Some((1 << 20) - 4096));
    assert_eq!(until(&|job| job.access.zones = Zones::None), None);
    let unread = |job: &mut Job| job.verify.as_mut().unwrap().read_back = false;
    assert_eq!(until(&unread), None, "--do_verify=0");
}

#[test]
fn a_random_pass_at_an_offset_in_percent_ends_at_the_first_block_past_the_end_as_in_fio() {
    // `--rw=randread --size=64k --bs=4k --offset=33% --loops=2` without an existing file: 16 I/Os and 0 to 5 more, all
    // after 24k. With `--norandommap`, an engine without a queue does not start again: 32 I/Os.
    let mut random = job(Op::Read).with_block(Bytes(4096));
    random.extent.size = Some(SizeSpec::Bytes(Bytes(64 << 10)));
    (random.extent.offset, random.extent.loops) = (SizeSpec::Percent(33), 2);
    random.access.random = true;
    let mut later = 0;
    for seed in 0..20 {
        let mut job = random.clone();
        job.seed = Some(seed);
        let drawn = kib(job.clone());
        let mut first = drawn[..16].to_vec();
        first.sort_unstable();
        assert_eq!(first, (0..16).map(|block| block * 4).collect::<Vec<_>>());
        assert!(
            drawn.len() < 27 && drawn[16..].iter().all(|&kib| kib >= 24),
            "{drawn:?}"
        );
        later += drawn.len() - 16;
        job.block.read = BlockSize::Range {
            min: Bytes(4096),
            max: Bytes(16 << 10),
        };
        assert!(kib(job.clone()).len() < 32);
        job.block.read = BlockSize::Fixed(Bytes(4096));
        job.access.every_block_once = false;
        assert_eq!(kib(job).len(), 32);
        // The same with `--blockalign=8k`, which turns the map of blocks off; an engine with a queue starts again.
        let mut aligned = random.clone();
        (aligned.seed, aligned.block_align) = (Some(seed), Some(Bytes(8192)));
        aligned.access.every_block_once = false;
        assert_eq!(kib(aligned.clone()).len(), 32);
        aligned.ioengine = IoEngine::Libaio;
        assert!(kib(aligned).len() < 32);
    }
    assert!((5..80).contains(&later), "{later}");
}

#[test]
fn offsets_in_percent_of_null_refer_to_its_size_as_in_fio() {
    // `--ioengine=null --rw=write:12k --filesize=256k --size=128k --bs=1k --offset=10% --io_size=40k`
    let mut job = job(Op::Write).with_block(Bytes(1024));
    job.target = Target::Nothing;
    job.extent.filesize = Some(Bytes(256 << 10));
    job.extent.size = Some(SizeSpec::Bytes(Bytes(128 << 10)));
    job.extent.io_size = Some(SizeSpec::Bytes(Bytes(40 << 10)));
    (job.extent.offset, job.access.stride) = (SizeSpec::Percent(10), 12 << 10);
    let line = |from: u64, count: u64| (0..count).map(move |step| from + 13 * step);
    let passes = line(13, 19).chain(line(26, 18)).chain(line(26, 3));
    assert_eq!(kib(job.clone()), passes.collect::<Vec<_>>());
    // `--loops=3` without `filesize` and `io_size`
    let mut looped = job.clone();
    (looped.extent.filesize, looped.extent.io_size) = (None, None);
    looped.extent.loops = 3;
    let passes = line(13, 10).chain(line(15, 10)).chain(line(15, 10));
    assert_eq!(kib(looped), passes.collect::<Vec<_>>());
    // With a size in percent, or none, `you need to specify valid offset=`.
    for size in [None, Some(SizeSpec::Percent(50))] {
        job.extent.size = size;
        let refused = resolve(job.clone(), &[]);
        assert!(
            matches!(refused, Err(PlanError::OffsetPastEnd { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn gaps_of_null_start_again_only_past_size_as_in_fio() {
    // `--ioengine=null --rw=read:GAP --filesize=256k --size=SIZE --bs=8k`
    for (gap, size, count, last) in [
        (8, 256, 32, 240),
        (8, 260, 16, 240),
        (8, 512, 16, 240),
        (4, 256, 21, 240),
        (4, 300, 22, 252),
    ] {
        let mut job = on_a_file(IoEngine::Null, 8, 256, size);
        job.target = Target::Nothing;
        job.access.stride = gap << 10;
        let drawn = kib(job);
        assert_eq!(
            (drawn.len(), drawn.last()),
            (count, Some(&last)),
            "{gap} {size}"
        );
    }
    // `--rw=read:12k --filesize=100k --size=200k --bssplit=4k/50:8k/50`: one pass.
    let mut job = on_a_file(IoEngine::Null, 4, 100, 200);
    job.target = Target::Nothing;
    job.access.stride = 12 << 10;
    let parts = vec![(Bytes(4096), 50), (Bytes(8192), 50)];
    job.block.read = BlockSize::Split(parts);
    let drawn = kib(job);
    assert!(drawn.len() < 8 && drawn.is_sorted(), "{drawn:?}");
}

#[test]
fn verified_reads_with_gaps_repeat_their_passes_as_in_fio() {
    // `--rw=read:8k --size=64k --bs=8k --verify=null --loops=2`, and with other orders
    let mut once = job(Op::Read).with_block(Bytes(8 << 10));
    once.extent.size = Some(SizeSpec::Bytes(Bytes(64 << 10)));
    once.extent.loops = 2;
    once.verify = Some(Verify::by(VerifyMethod::Null));
    let mut gaps = once.clone();
    gaps.access.stride = 8 << 10;
    let mut runs = once.clone();
    (runs.access.random, runs.access.run_length) = (true, 4);
    assert_eq!(
        (kib(once).len(), kib(gaps).len(), kib(runs).len()),
        (8, 16, 16)
    );
}
