//! Tests of the end of backward steps, zones, runs and skewed jobs, with requests recorded from fio 3.33 with
//! `write_iolog`.

use super::*;

#[test]
fn steps_back_end_at_the_end_of_the_file_as_in_fio() {
    let stepping = |stride: i64, block: u64, len: u64, limit: u64| {
        let mut access = Access::only(Op::Read, false);
        access.stride = stride;
        let mut p = plan(access, block, len, Some(limit));
        (p.regions[0].offset, p.pass_end) = (0, PassEnd::Stop);
        p
    };
    let offsets = |p: StreamPlan| p.requests().map(|r| r.offset).collect::<Vec<_>>();
    // Requests of `fio --rw=read:-8k` with `--size=100001 --bs=64k`, and with `--size=64k --bs=12k --io_size=200k`.
    assert_eq!(offsets(stepping(-8192, 65_536, 100_001, 200 << 10)), [0]);
    let mut p = stepping(-8192, 12_288, 65_536, 200 << 10);
    p.pass_end = PassEnd::MoveBytes(200 << 10);
    assert_eq!(offsets(p)[12..], [49_152, 53_248, 0, 4096, 8192]);
    // A gap larger than the file: `--rw=read:-100k --size=64k --bs=4k` reads one block.
    let p = stepping(-102_400, 4096, 65_536, 65_536);
    assert_eq!(p.requests().count(), 1);
    // `--rw=read:-8k --size=64k --bssplit=4k/50:8k/50`: an I/O of 8 KiB at 57344 is the last.
    let mut p = stepping(-8192, 4096, 65_536, 65_536);
    p.block.read = BlockSize::Split(vec![(Bytes(4096), 50), (Bytes(8192), 50)]);
    for seed in 0..20 {
        p.seed = seed;
        let drawn: Vec<u64> = p.requests().map(|r| r.offset + u64::from(r.len)).collect();
        let last = drawn.iter().position(|&behind| behind == 65_536);
        assert!(last.is_none_or(|last| last + 1 == drawn.len()), "{drawn:?}");
    }
}

/// Returns the requests of a job with `zonemode=strided` on several files, as file and block of 4 KiB.
fn in_zones(access: Access, files: u32, len: u64, zones: [u64; 3]) -> Vec<(u32, u64)> {
    let mut p = plan(access, 4096, len, Some(len * u64::from(files)));
    let region = |file| Region {
        file,
        offset: 0,
        len,
        file_len: len,
    };
    p.regions = (0..files).map(region).collect();
    p.pass_end = PassEnd::Stop;
    let [range, size, skip] = zones.map(Bytes);
    p.access.zones = Zones::Strided { range, size, skip };
    p.requests().map(|r| (r.region, r.offset / 4096)).collect()
}

#[test]
fn zones_count_the_bytes_of_all_files_as_in_fio() {
    // `--rw=read --nrfiles=2 --zonemode=strided --zonesize=16k --zonerange=64k`: the first file changes its zone, the
    // second stays.
    let read = Access::only(Op::Read, false);
    let drawn = in_zones(read, 2, 128 << 10, [64 << 10, 16 << 10, 0]);
    let wanted = [
        (0, 0),
        (1, 0),
        (0, 1),
        (1, 1),
        (0, 16),
        (1, 2),
        (0, 17),
        (1, 3),
        (0, 0),
    ];
    assert_eq!(drawn[..9], wanted);
}

#[test]
fn zones_smaller_than_their_bytes_begin_anew_as_in_fio() {
    // `--rw=read:8k --bs=4k --zonesize=32k --zonerange=64k --zoneskip=64k`
    let mut read = Access::only(Op::Read, false);
    read.stride = 8192;
    let drawn = in_zones(read, 1, 256 << 10, [64 << 10, 32 << 10, 64 << 10]);
    let blocks: Vec<u64> = drawn.iter().map(|(_, block)| *block).collect();
    assert_eq!(blocks[..9], [0, 3, 6, 9, 12, 15, 0, 3, 32]);
    // `--rw=randread --zonesize=64k --zonerange=16k`: each block of a zone once, four times over.
    let random = Access::only(Op::Read, true);
    let drawn = in_zones(random.clone(), 1, 128 << 10, [16 << 10, 64 << 10, 0]);
    for (round, four) in drawn.chunks(4).enumerate() {
        let seen: HashSet<u64> = four.iter().map(|(_, block)| *block).collect();
        let zone = round as u64 / 4 * 4;
        assert_eq!(seen, (zone..zone + 4).collect(), "round {round}");
    }
    // `--rw=randread --size=32k --zonerange=64k`: ends at the first offset past the end of the file.
    assert!(in_zones(random, 1, 32 << 10, [64 << 10, 16 << 10, 0]).len() < 8);
}

#[test]
fn steps_back_in_zones_go_on_from_the_end_as_in_fio() {
    // `--rw=read:-8k --bs=4k --size=256k --zonesize=32k --zonerange=64k --zoneskip=64k`
    let mut read = Access::only(Op::Read, false);
    read.stride = -8192;
    let drawn = in_zones(read, 1, 256 << 10, [64 << 10, 32 << 10, 64 << 10]);
    let blocks: Vec<u64> = drawn.iter().map(|(_, block)| *block).collect();
    assert_eq!(blocks[..10], [0, 62, 0, 62, 0, 62, 0, 62, 62, 62]);
}

#[test]
fn runs_and_favourites_end_where_no_block_fits_as_in_fio() {
    // `--rw=randread:4 --size=130k --bs=12k`: a run that reaches the last 10 KiB ends the job.
    let ends = |access: Access, len: u64| {
        let mut p = plan(access, 12_288, len, Some(len));
        (p.regions[0].offset, p.regions[0].file_len) = (0, len);
        p.pass_end = PassEnd::Stop;
        let ios = (0..40).map(|seed| {
            p.seed = seed;
            p.requests().count() as u64
        });
        let ios: Vec<u64> = ios.collect();
        (ios.iter().copied().min(), ios.iter().copied().max())
    };
    let mut runs = Access::only(Op::Read, true);
    runs.run_length = 4;
    let (least, most) = ends(runs.clone(), 130 << 10);
    assert!(least < Some(10) && most == Some(11), "{least:?} {most:?}");
    assert_eq!(ends(runs, 120 << 10), (Some(10), Some(10)));
    let mut skewed = Access::only(Op::Read, true);
    skewed.distribution = Distribution::Zipf(1.2);
    let (least, most) = ends(skewed.clone(), 130 << 10);
    assert!(least < Some(10) && most == Some(11), "{least:?} {most:?}");
    assert_eq!(ends(skewed, 120 << 10), (Some(10), Some(10)));
}

#[test]
fn a_run_that_ends_a_pass_does_not_end_the_job() {
    // `--rw=randread:4 --size=130k --bs=12k --io_size=600k`, and the same with `percentage_random=30`.
    let mut runs = Access::only(Op::Read, true);
    runs.run_length = 4;
    let mut follows = Access::only(Op::Read, true);
    follows.percentage_random = Some(PerOp::all(30));
    for access in [runs, follows] {
        let mut p = plan(access, 12_288, 130 << 10, Some(600 << 10));
        (p.regions[0].offset, p.regions[0].file_len) = (0, 130 << 10);
        p.pass_end = PassEnd::MoveBytes(600 << 10);
        for seed in 0..40 {
            p.seed = seed;
            assert_eq!(p.requests().count(), 50, "seed {seed}");
        }
    }
}

#[test]
fn a_pass_of_a_mix_ends_where_its_first_operation_does_as_in_fio() {
    // `--rw=rw --size=16k --bs=4k --io_size=200k`: both operations restart when one reaches the end.
    let mut p = plan(Access::mixed(50, false), 4096, 16 << 10, Some(200 << 10));
    p.pass_end = PassEnd::MoveBytes(200 << 10);
    for seed in 0..40 {
        p.seed = seed;
        let mut next = PerOp::all(4096);
        for (number, request) in p.requests().enumerate() {
            if request.offset != next[request.op] {
                assert!(Op::ALL.into_iter().any(|op| next[op] == 4096 + (16 << 10)));
                assert_eq!(request.offset, 4096, "seed {seed}, number {number}");
                next = PerOp::all(4096);
            }
            next[request.op] += 4096;
        }
        assert_eq!(p.requests().count(), 50);
    }
}

#[test]
fn favourites_may_go_past_their_part_of_a_longer_file_as_in_fio() {
    // `--rw=randread --random_distribution=zipf:1.2 --size=130k --bs=12k` on a file of 1 MiB: always 11 I/Os.
    let mut access = Access::only(Op::Read, true);
    access.distribution = Distribution::Zipf(1.2);
    let mut p = plan(access, 12_288, 130 << 10, Some(130 << 10));
    (p.regions[0].offset, p.regions[0].file_len) = (0, 1 << 20);
    p.pass_end = PassEnd::Stop;
    let mut last = 0;
    for seed in 0..40 {
        p.seed = seed;
        assert_eq!(p.requests().count(), 11);
        assert!(p.requests().all(|r| r.len == 12_288));
        last = p.requests().map(|r| r.offset).fold(last, u64::max);
    }
    assert_eq!(last, 122_880);
}

#[test]
fn favourites_in_zones_are_drawn_by_the_smallest_size_as_in_fio() {
    // `--rw=randwrite --size=1000000 --bs=512 --blockalign=4k --random_distribution=zipf:1.2 --zonesize=20k`: nearly
    // all drawn offsets are past the end of the file, so the job ends at once.
    let mut access = Access::only(Op::Write, true);
    access.distribution = Distribution::Zipf(1.2);
    access.zones = Zones::Strided {
        range: Bytes(40 << 10),
        size: Bytes(20 << 10),
        skip: Bytes(10 << 10),
    };
    let mut p = plan(access, 512, 1_000_000, Some(1_000_000));
    (p.regions[0].offset, p.regions[0].file_len) = (0, 1_000_000);
    (p.align, p.pass_end) = (4096, PassEnd::Stop);
    let ios: usize = (0..40)
        .map(|seed| StreamPlan { seed, ..p.clone() }.requests().count())
        .sum();
    assert!(ios < 40 * 8, "{ios}");
}

#[test]
fn only_files_that_a_loop_comes_to_the_end_of_are_closed_as_in_fio() {
    // `--rw=write --size=128k --bs=8k --loops=2 --unlink_each_loop=1` leaves its file, the others do not.
    let closes = |change: &dyn Fn(&mut StreamPlan)| {
        let mut p = plan(Access::only(Op::Write, true), 8192, 128 << 10, None);
        change(&mut p);
        p.closes_regions(128 << 10)
    };
    assert!(closes(&|_| ()));
    assert!(closes(&|p| p.access.random = false));
    assert!(
        !closes(&|p| p.regions[0].len = 256 << 10),
        "--filesize=256k"
    );
    assert!(
        !closes(&|p| p.access.every_block_once = false),
        "--norandommap"
    );
    assert!(!closes(&|p| p.access.run_length = 4), "--rw=randwrite:4");
    assert!(!closes(&|p| p.turns.order = FileOrder::Pareto(0.2)));
    let queued = |p: &mut StreamPlan| {
        p.regions[0].len = 256 << 10;
        p.restart_bytes = Some(128 << 10);
    };
    assert!(
        closes(&queued),
        "--filesize=256k --ioengine=libaio --iodepth=4"
    );
}

#[test]
fn sequential_ios_of_a_random_job_end_with_its_part_of_a_device_as_in_fio() {
    // `--rw=randread:4 --size=64k --bs=8k` on a device of 2 MiB: a run that comes to 64 KiB ends the job (1 to 8 I/Os). In a
    // file of 64 KiB the next offset is drawn, and all 8 come.
    let ios = |block: BlockSize, file_len: u64, seed: u64| -> Vec<IoRequest> {
        let mut p = plan(Access::only(Op::Read, true), 8192, 65_536, Some(65_536));
        (p.regions[0].offset, p.regions[0].file_len) = (0, file_len);
        (p.access.run_length, p.pass_end) = (4, PassEnd::Stop);
        (p.align, p.block.read, p.seed) = (block.min().0, block, seed);
        p.requests().collect()
    };
    let fixed = BlockSize::Fixed(Bytes(8192));
    for seed in 0..20 {
        let all = ios(fixed.clone(), 65_536, seed);
        assert_eq!(all.len(), 8);
        let part = ios(fixed.clone(), 2 << 20, seed);
        let came = part.last().unwrap();
        assert!(part.len() == 8 || came.offset + 8192 >= 65_536, "{part:?}");
    }
    assert!((0..20).any(|seed| ios(fixed.clone(), 2 << 20, seed).len() < 8));
    // With `--bsrange=4k-16k` no I/O goes past 64 KiB.
    let drawn = BlockSize::Range {
        min: Bytes(4096),
        max: Bytes(16 << 10),
    };
    let past = |r: IoRequest| r.offset + u64::from(r.len) > 65_536;
    assert!(!(0..20).any(|seed| ios(drawn.clone(), 2 << 20, seed).into_iter().any(past)));
}
