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
        let drawn = kib(job);
        assert_eq!(drawn[..8] == drawn[8..], repeats, "{drawn:?}");
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
