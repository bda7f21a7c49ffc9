//! Tests of the parts of files that jobs use: where they end, and how large files become.

use super::*;
use crate::job::Distribution;
use crate::stream::Region;

/// Returns the region of a job on a file or device of this size in KiB, and the planned size of the file.
fn part(job: Job, kind: TargetKind, size: u64) -> (Region, u64) {
    let plan = resolve(job, &[facts("f", kind, size << 10)]).unwrap();
    let phase = &plan.phases[0];
    (phase.workers[0].stream.regions[0], phase.files[0].size.0)
}

/// Offsets of a job on an existing file of this size, in KiB.
fn kib(job: Job, size: u64) -> Vec<u64> {
    let drawn = offsets(job, &[facts("f", TargetKind::File, size << 10)]);
    drawn.into_iter().map(|(_, kib)| kib).collect()
}

fn sized(op: Op, size: Option<SizeSpec>) -> Job {
    let mut job = job(op).with_block(Bytes(4096));
    job.extent.size = size;
    job
}

fn in_kib(kib: u64) -> Option<SizeSpec> {
    Some(SizeSpec::Bytes(Bytes(kib << 10)))
}

#[test]
fn an_offset_in_percent_refers_to_a_file_of_an_earlier_job() {
    // `fio --filename=f --size=256k --rw=write --name=k --filename=f --size=64k --offset=50% --rw=read` reads from 128k.
    let mut reader = sized(Op::Read, in_kib(64));
    reader.extent.offset = SizeSpec::Percent(50);
    let mut both = scenario(sized(Op::Write, in_kib(256)));
    both.phases[0].jobs.push(reader);
    let absent = BTreeMap::from([("f".into(), facts("f", TargetKind::Absent, 0))]);
    let plan = Plan::resolve(&both, &absent).unwrap();
    let region = plan.phases[0].workers[1].stream.regions[0];
    assert_eq!((region.offset, region.len), (128 << 10, 64 << 10));
}

#[test]
fn a_file_that_is_used_in_part_keeps_its_size() {
    for kind in [TargetKind::File, TargetKind::BlockDevice] {
        let quarter = sized(Op::Write, Some(SizeSpec::Percent(25)));
        let (region, size) = part(quarter, kind, 1024);
        assert_eq!((region.len, size), (256 << 10, 1 << 20), "{kind:?}");
    }
}

#[test]
fn only_a_file_that_is_too_short_must_not_be_extended() {
    for (kind, there, allowed) in [
        (TargetKind::File, 512, false),
        (TargetKind::File, 1020, false),
        (TargetKind::File, 1024, true),
        (TargetKind::File, 2048, true),
        (TargetKind::BlockDevice, 1024, true),
        // A stream such as /dev/zero.
        (TargetKind::CharDevice, 0, true),
    ] {
        let mut job = sized(Op::Read, in_kib(1024));
        job.extent.filesize = Some(Bytes(1 << 20));
        job.files.allow_create = false;
        match resolve(job, &[facts("f", kind, there << 10)]) {
            Ok(_) => assert!(allowed, "{kind:?} of {there} KiB"),
            Err(PlanError::MayNotCreate { .. }) => assert!(!allowed, "{kind:?} of {there} KiB"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_device_is_not_extended_to_filesize() {
    for (wanted, fits) in [(1 << 19, true), (1 << 20, true), ((1 << 20) + 1, false)] {
        let mut job = sized(Op::Write, None);
        job.extent.filesize = Some(Bytes(wanted));
        let plan = resolve(job, &[facts("f", TargetKind::BlockDevice, 1 << 20)]);
        let refused = matches!(
            plan,
            Err(PlanError::PastEnd { wanted: bytes, size: Bytes(0x10_0000), .. }) if bytes.0 == wanted
        );
        assert_eq!((plan.is_ok(), refused), (fits, !fits), "{wanted}");
    }
}

#[test]
fn a_job_uses_filesize_of_a_device_as_in_fio() {
    let device = |job: Job| {
        let drawn = offsets(job, &[facts("f", TargetKind::BlockDevice, 1 << 20)]);
        drawn.into_iter().map(|(_, kib)| kib).collect::<Vec<u64>>()
    };
    // `fio --rw=read:8k --bs=8k --filesize=64k` on a device of 1 MiB ends with the first pass.
    let mut gaps = sized(Op::Read, None).with_block(Bytes(8192));
    (gaps.access.stride, gaps.extent.filesize) = (8192, Some(Bytes(64 << 10)));
    assert_eq!(device(gaps), [0, 16, 32, 48]);
    // `fio --rw=write --bs=64k --fill_device=1 --filesize=512k` on it.
    let mut fill = sized(Op::Write, None).with_block(Bytes(64 << 10));
    fill.files.fill_device = true;
    assert_eq!(device(fill.clone()).len(), 16);
    fill.extent.filesize = Some(Bytes(512 << 10));
    assert_eq!(device(fill), [0, 64, 128, 192, 256, 320, 384, 448]);
}

#[test]
fn the_share_of_each_device_must_fit_into_it() {
    let mut job = sized(Op::Read, in_kib(4096));
    job.target = Target::Paths(vec!["f".into(), "g".into()]);
    let known = ["f", "g"].map(|path| facts(path, TargetKind::BlockDevice, 1 << 20));
    let Err(PlanError::PastEnd { wanted, size, .. }) = resolve(job.clone(), &known) else {
        panic!("2 MiB of a device of 1 MiB");
    };
    assert_eq!((wanted, size), (Bytes(2 << 20), Bytes(1 << 20)));
    job.extent.size = in_kib(2048);
    assert!(resolve(job, &known).is_ok());
}

#[test]
fn data_is_appended_behind_the_end_of_each_file_as_in_fio() {
    // `fio --rw=write --bs=4k --file_append=1 --size=32k` on a file of 64 KiB, and on two of 64 KiB and 8 KiB.
    let mut job = sized(Op::Write, in_kib(32));
    job.files.append = true;
    let line: Vec<u64> = (0..8).map(|block| 64 + 4 * block).collect();
    assert_eq!(kib(job.clone(), 64), line);
    assert_eq!(part(job.clone(), TargetKind::File, 64).1, 96 << 10);
    job.target = Target::Paths(vec!["f".into(), "g".into()]);
    let file = |path, size: u64| facts(path, TargetKind::File, size << 10);
    let known = [file("f", 64), file("g", 8)];
    let turns = (0..4).flat_map(|block| [(0, 64 + 4 * block), (1, 8 + 4 * block)]);
    assert_eq!(offsets(job.clone(), &known), turns.collect::<Vec<_>>());
    let plan = resolve(job, &known).unwrap();
    let sizes = plan.phases[0].files.iter().map(|file| file.size.0 >> 10);
    assert!(sizes.eq([80, 24]));
}

#[test]
fn a_size_of_0_is_less_than_a_block() {
    let refused = resolve(
        sized(Op::Read, in_kib(0)),
        &[facts("f", TargetKind::Absent, 0)],
    );
    assert!(
        matches!(
            refused,
            Err(PlanError::TooSmall {
                room: Bytes(0),
                offset: Bytes(0),
                ..
            })
        ),
        "{refused:?}"
    );
}

#[test]
fn no_file_is_larger_than_the_kernel_allows() {
    let largest = i64::MAX as u64;
    for (size, fits) in [
        (largest - 1, true),
        (largest, true),
        (largest + 1, false),
        (largest + 2, false),
        (u64::MAX, false),
    ] {
        let mut job = sized(Op::Write, None);
        job.extent.filesize = Some(Bytes(size));
        let mut unknown = facts("f", TargetKind::Absent, 0);
        unknown.free = None;
        match resolve(job, &[unknown]) {
            Ok(plan) => assert!(fits && plan.phases[0].files[0].size == Bytes(size)),
            Err(PlanError::BadValue { option, value, .. }) => {
                assert!(!fits && option == "size" && value == size.to_string());
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_file_that_fills_its_file_system_is_larger_than_all_its_space() {
    let largest = i64::MAX as u64;
    for (there, free) in [
        (0, Some(0)),
        (1 << 20, Some(1 << 30)),
        (5 << 30, Some(7 << 40)),
        (0, Some(largest - (4 << 30))),
        (1 << 20, Some(u64::MAX)),
        // Where the free space is unknown, at least a large card may fit.
        (1 << 20, None),
    ] {
        let mut job = sized(Op::Write, None);
        job.files.fill_device = true;
        let mut known = facts("f", TargetKind::File, there);
        known.free = free.map(Bytes);
        let plan = resolve(job, &[known]).unwrap();
        let size = plan.phases[0].files[0].size.0;
        let space = there.saturating_add(free.unwrap_or(512 << 30));
        assert!(size > space.min(largest - (4 << 30)), "{size} of {space}");
        assert!(size <= largest, "{size}");
        assert_eq!(plan.phases[0].workers[0].stream.regions[0].len, size);
    }
}

/// Sizes that leave the smallest block where a pass ends, with the length of a share of 50 KiB: to the byte if some size
/// is not a multiple of the smallest, otherwise in whole blocks.
fn drawn_sizes() -> [(BlockSize, bool, u64); 6] {
    let kib = |kib: u64| Bytes(kib << 10);
    let range = |min, max| BlockSize::Range {
        min: kib(min),
        max: kib(max),
    };
    let split = |first, second| BlockSize::Split(vec![(kib(first), 50), (kib(second), 50)]);
    [
        (split(4, 6), false, 50),
        (range(4, 6), false, 50),
        (range(4, 16), true, 50),
        (split(4, 8), false, 48),
        (range(4, 8), false, 48),
        (range(4, 16), false, 48),
    ]
}

#[test]
fn a_pass_of_drawn_sizes_ends_where_the_smallest_does_not_fit() {
    let file = [facts("f", TargetKind::File, 1 << 20)];
    for (block, unaligned, len) in drawn_sizes() {
        for seed in 0..20 {
            let mut job = sized(Op::Read, in_kib(50));
            job.block = PerOp::all(block.clone());
            (job.block_rules.unaligned, job.seed) = (unaligned, Some(seed));
            let plan = resolve(job, &file).unwrap();
            let stream = &plan.phases[0].workers[0].stream;
            assert_eq!(stream.regions[0].len, len << 10, "{block:?}");
            let ends = stream.requests().map(|r| r.offset + u64::from(r.len));
            let left = (50 << 10) - ends.max().unwrap();
            assert!(left < 4096, "{left} bytes are left, {block:?}");
        }
    }
}

#[test]
fn random_jobs_that_do_not_draw_each_block_use_a_part_to_the_byte() {
    type Change = fn(&mut Access);
    let cases: [(Change, u64); 4] = [
        (|_| (), 48),
        (|access| access.run_length = 4, 50),
        (|access| access.percentage_random = Some(PerOp::all(50)), 50),
        (
            |access| {
                access.distribution = Distribution::Zipf(1.2);
                access.every_block_once = false;
            },
            50,
        ),
    ];
    for (number, (change, len)) in cases.into_iter().enumerate() {
        let mut job = sized(Op::Read, None);
        job.access.random = true;
        change(&mut job.access);
        let (region, _) = part(job, TargetKind::File, 50);
        assert_eq!(region.len, len << 10, "case {number}");
    }
}

#[test]
fn steps_back_begin_at_the_exact_end_of_a_file_as_in_fio() {
    // `fio --rw=read:-32k --bs=16k` on 100 KiB, and with `--size=33%` on 300 KiB: a share is rounded to whole blocks.
    let mut back = sized(Op::Read, None).with_block(Bytes(16 << 10));
    back.access.stride = -(32 << 10);
    assert_eq!(kib(back.clone(), 100), [0, 68, 52, 36, 20, 4, 68]);
    back.extent.size = Some(SizeSpec::Percent(33));
    assert_eq!(kib(back, 300), [0, 64, 48, 32, 16, 0]);
}
