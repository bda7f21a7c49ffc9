//! Tests of files, zones and blocks that a job comes to again, with requests recorded from fio 3.33 with `write_iolog`.

use super::*;
use crate::job::rules::FileOrder;

/// A job on files of `len` bytes that draws them in this order.
fn on_files(access: Access, order: FileOrder, files: u32, len: u64) -> StreamPlan {
    let mut p = plan(access, 4096, len, Some(len * u64::from(files)));
    let region = |file| Region {
        file,
        offset: 0,
        len,
        file_len: len,
    };
    p.regions = (0..files).map(region).collect();
    (p.turns.order, p.pass_end) = (order, PassEnd::Stop);
    p
}

#[test]
fn a_file_of_a_skewed_job_starts_again_as_in_fio() {
    // `--rw=write --size=128k --bs=4k --nrfiles=4 --file_service_type=pareto:0.2`: each file goes from its start to its
    // end, again and again, until all bytes are written.
    for random in [false, true] {
        let mut p = on_files(
            Access::only(Op::Write, random),
            FileOrder::Pareto(0.2),
            4,
            32 << 10,
        );
        let mut again = 0;
        for seed in 0..20 {
            p.seed = seed;
            let drawn: Vec<_> = p.requests().collect();
            assert_eq!(drawn.len(), 32);
            for file in 0..4 {
                let blocks = drawn.iter().filter(|r| r.region == file);
                let blocks: Vec<u64> = blocks.map(|r| r.offset / 4096).collect();
                for pass in blocks.chunks(8) {
                    let mut sorted = pass.to_vec();
                    sorted.sort_unstable();
                    sorted.dedup();
                    assert_eq!(sorted.len(), pass.len(), "{pass:?}");
                    assert!(random || sorted == (0..pass.len() as u64).collect::<Vec<_>>());
                }
                again += blocks.len().saturating_sub(8);
            }
        }
        assert!(again > 20 * 8, "{again}");
    }
}

#[test]
fn neighbours_of_the_most_frequent_file_come_next_as_in_fio() {
    // `--nrfiles=8 --io_size=1600k --file_service_type=...`: zipf:1.2 and pareto:0.2 draw the most frequent file, normal:20
    // prefers those in the middle.
    let counts = |order: FileOrder, seed| {
        let mut p = on_files(Access::only(Op::Read, false), order, 8, 64 << 10);
        (p.seed, p.limit_bytes) = (seed, Some(1600 << 10));
        let mut counts = [0; 8];
        p.requests().for_each(|r| counts[r.region as usize] += 1);
        counts
    };
    let (mut first, mut shares) = (HashSet::new(), Vec::new());
    for seed in 0..20 {
        let zipf = counts(FileOrder::Zipf(1.2), seed);
        let hottest = (0..8).max_by_key(|&file| zipf[file]).unwrap();
        let second = (0..8)
            .filter(|&file| file != hottest)
            .max_by_key(|&file| zipf[file]);
        assert_eq!(second, Some((hottest + 1) % 8), "{zipf:?}");
        first.insert(hottest);
        shares.push(zipf[hottest]);
        let normal = counts(FileOrder::Normal(20.0), seed);
        assert!(
            normal[3] + normal[4] > 260 && normal[0] + normal[7] < 8,
            "{normal:?}"
        );
    }
    assert!(first.len() > 3, "{first:?}");
    // fio gives it 297 to 352 of 400 I/Os, by seed.
    let mean = shares.iter().sum::<i32>() / 20;
    assert!((290..370).contains(&mean), "{shares:?}");
}

#[test]
fn gaps_past_the_end_go_on_at_twice_the_offset_as_in_fio() {
    // `--rw=write:12k --filesize=256k --size=512k --bs=20k --offset=4k`
    let mut access = Access::only(Op::Write, false);
    access.stride = 12 << 10;
    let mut p = plan(access, 20 << 10, 258_048, Some(258_048));
    (p.regions[0].file_len, p.pass_end) = (262_144, PassEnd::Stop);
    let drawn: Vec<u64> = p.requests().map(|r| r.offset).collect();
    assert_eq!(
        drawn,
        [
            4096, 36_864, 69_632, 102_400, 135_168, 167_936, 200_704, 233_472, 8192, 40_960,
            73_728, 106_496, 139_264
        ]
    );
}

#[test]
fn drawn_sizes_use_up_the_blocks_of_a_zone_as_in_fio() {
    // `--rw=randread --size=1000000 --zonemode=strided --zonesize=32k`: with `--bsrange=4k-16k` all bytes are read, and
    // I/Os reach into the next zone. With `--bsrange=3k-10k`, a zone has only ten blocks of 3 KiB, and the job ends in
    // the first one whose I/Os do not reach far enough into the next.
    let mut access = Access::only(Op::Read, true);
    access.zones = Zones::Strided {
        range: Bytes(32 << 10),
        size: Bytes(32 << 10),
        skip: Bytes(0),
    };
    let bytes = |min: u64, max: u64, seed: u64| {
        let mut p = plan(access.clone(), min, 1_000_000, Some(1_000_000));
        (p.regions[0].offset, p.regions[0].file_len) = (0, 1_000_000);
        (p.pass_end, p.seed) = (PassEnd::Stop, seed);
        p.block.read = BlockSize::Range {
            min: Bytes(min),
            max: Bytes(max),
        };
        let drawn: Vec<_> = p.requests().collect();
        let next = |r: &&IoRequest| r.offset % 32_768 + u64::from(r.len) > 32_768;
        assert!(drawn.len() < 16 || drawn.iter().any(|r| next(&r)));
        drawn.iter().map(|r| u64::from(r.len)).sum::<u64>()
    };
    let short = (0..20).filter(|&seed| bytes(3072, 10_240, seed) < 500_000);
    assert!(short.count() > 15);
    assert!((0..20).all(|seed| bytes(4096, 16_384, seed) >= 1_000_000));
}

#[test]
fn zones_of_drawn_sizes_end_with_the_part_of_the_file_as_in_fio() {
    // `--rw=write --size=1000000 --zonemode=strided --zonesize=8k --zonerange=8k --zoneskip=56k` on a device of 2 MiB: with
    // `--bs=4k` it goes on past 1000000, with `--bssplit=4k/50:8k/50` it ends before.
    let mut access = Access::only(Op::Write, false);
    access.zones = Zones::Strided {
        range: Bytes(8 << 10),
        size: Bytes(8 << 10),
        skip: Bytes(56 << 10),
    };
    let ends = |block: &BlockSize, size: u64, file_len: u64| {
        let mut p = plan(access.clone(), 4096, size, Some(size));
        (p.regions[0].offset, p.regions[0].file_len) = (0, file_len);
        (p.pass_end, p.block.write) = (PassEnd::Stop, block.clone());
        let requests: Vec<_> = p.requests().collect();
        let bytes: u64 = requests.iter().map(|r| u64::from(r.len)).sum();
        let last = requests.iter().map(|r| r.offset).fold(0, u64::max);
        (last, bytes)
    };
    let (last, bytes) = ends(&BlockSize::Fixed(Bytes(4096)), 1_000_000, 2 << 20);
    assert!(last > 1_900_000 && bytes > 999_999);
    let drawn = BlockSize::Split(vec![(Bytes(4096), 50), (Bytes(8192), 50)]);
    let (last, bytes) = ends(&drawn, 1_000_000, 2 << 20);
    assert!(
        (983_040..1_000_000).contains(&last) && bytes < 200_000,
        "{bytes}"
    );
    // In a file of 1000000 bytes the zones start again, and in one of 985000 an I/O of the last zone does not fit.
    let (_, bytes) = ends(&drawn, 1_000_000, 1_000_000);
    assert!(bytes > 999_999, "{bytes}");
    let (_, bytes) = ends(&drawn, 985_000, 985_000);
    assert!(bytes < 200_000, "{bytes}");
}

#[test]
fn random_blocks_of_a_zone_follow_one_another_as_often_as_in_fio() {
    // `--rw=randwrite --size=1m --bs=1k --zonemode=strided --zonesize=16k --zoneskip=16k`: 150 to 190 of 1024.
    let mut access = Access::only(Op::Write, true);
    access.zones = Zones::Strided {
        range: Bytes(16 << 10),
        size: Bytes(16 << 10),
        skip: Bytes(16 << 10),
    };
    let mut p = plan(access, 1024, 1 << 20, Some(1 << 20));
    (p.regions[0].offset, p.regions[0].file_len) = (0, 1 << 20);
    // `--rw=randwrite:4 --bs=3k` in zones of 40k: all I/Os are whole, though blocks come twice.
    let mut runs = p.clone();
    (runs.access.run_length, runs.align) = (4, 3072);
    runs.block = PerOp::all(BlockSize::Fixed(Bytes(3072)));
    assert!(runs.requests().all(|r| r.len == 3072));
    let requests: Vec<_> = p.requests().collect();
    let follow = |pair: &&[IoRequest]| pair[1].offset == pair[0].offset + 1024;
    let follows = requests.windows(2).filter(follow).count();
    assert!((120..230).contains(&follows), "{follows}");
    for zone in requests.chunks(16) {
        let blocks: HashSet<u64> = zone.iter().map(|r| r.offset).collect();
        assert_eq!(blocks.len(), zone.len(), "each block comes once");
    }
}

#[test]
fn blocks_that_come_again_have_the_size_of_their_operation_as_in_fio() {
    let mut p = plan(Access::mixed(50, true), 4096, 300_001, Some(300_001));
    (p.regions[0].offset, p.regions[0].file_len) = (0, 300_001);
    p.pass_end = PassEnd::Stop;
    p.block.write = BlockSize::Fixed(Bytes(8192));
    // `--rw=randrw --size=300001 --bs=4k,8k --random_distribution=zipf:0.8` ends after 0 to 2 writes: the next is past the end.
    p.access.distribution = Distribution::Zipf(0.8);
    let counts = |p: &StreamPlan, seed| {
        let requests: Vec<_> = StreamPlan { seed, ..p.clone() }.requests().collect();
        let odd = |r: &&IoRequest| r.op == Op::Write && !r.offset.is_multiple_of(8192);
        assert!(!requests.iter().any(|r| odd(&r)));
        requests.len()
    };
    let ios: usize = (0..20).map(|seed| counts(&p, seed)).sum();
    assert!(ios < 20 * 20, "{ios}");
    // `--norandommap`: writes are multiples of 8 KiB, too, and come to the end.
    (p.access.distribution, p.access.every_block_once) = (Distribution::Uniform, false);
    assert!((0..20).all(|seed| counts(&p, seed) > 37));
    // `--rw=randwrite --filesize=100001 --bsrange=512-8k --blockalign=4k`: 24 offsets.
    let mut p = plan(Access::only(Op::Write, true), 4096, 100_001, Some(1 << 20));
    (p.regions[0].offset, p.access.every_block_once) = (0, false);
    p.block = PerOp::all(BlockSize::Range {
        min: Bytes(512),
        max: Bytes(8192),
    });
    assert_eq!(p.requests().map(|r| r.offset).max(), Some(23 * 4096));
}

#[test]
fn another_pass_starts_while_the_largest_block_of_any_operation_is_missing_as_in_fio() {
    // `--rw=read --size=64k --bs=4k,32k --io_size=150k`: two passes.
    let mut p = plan(Access::only(Op::Read, false), 4096, 65_536, Some(150 << 10));
    p.pass_end = PassEnd::MoveBytes(150 << 10);
    assert_eq!(p.requests().count(), 38);
    p.block.write = BlockSize::Fixed(Bytes(32 << 10));
    assert_eq!(p.requests().count(), 32);
}
