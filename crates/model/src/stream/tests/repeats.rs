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
    let mut first = HashSet::new();
    for seed in 0..20 {
        let zipf = counts(FileOrder::Zipf(1.2), seed);
        let hottest = (0..8).max_by_key(|&file| zipf[file]).unwrap();
        let second = (0..8)
            .filter(|&file| file != hottest)
            .max_by_key(|&file| zipf[file]);
        assert_eq!(second, Some((hottest + 1) % 8), "{zipf:?}");
        first.insert(hottest);
        let normal = counts(FileOrder::Normal(20.0), seed);
        assert!(
            normal[3] + normal[4] > 260 && normal[0] + normal[7] < 8,
            "{normal:?}"
        );
    }
    assert!(first.len() > 3, "{first:?}");
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
fn trims_of_larger_blocks_wait_for_the_writes_as_in_fio() {
    let requests = |write: u64, trim: u64| {
        let access = Access {
            trim_before_write: true,
            ..Access::only(Op::Write, false)
        };
        let mut p = plan(access, write, 65_536, Some(65_536));
        p.block.trim = BlockSize::Fixed(Bytes(trim));
        (p.regions[0].offset, p.pass_end) = (0, PassEnd::Stop);
        let name = |r: IoRequest| (r.op == Op::Trim, r.offset >> 10);
        p.requests().map(name).collect::<Vec<_>>()
    };
    // `--rw=trimwrite --size=64k --bs=4k,8k,16k`, with `bs=4k,16k,8k` and with `bs=4k,8k,32k`
    let (trim, write) = (|kib| (true, kib), |kib| (false, kib));
    let mut wanted = vec![trim(0), write(0), trim(16), write(8), write(16)];
    wanted.extend([
        trim(32),
        write(24),
        write(32),
        trim(48),
        write(40),
        write(48),
    ]);
    assert_eq!(requests(8192, 16_384), wanted);
    let wanted = [trim(0), write(0), trim(8), write(16), write(32), write(48)];
    assert_eq!(requests(16_384, 8192), wanted);
    let wanted = [
        trim(0),
        write(0),
        trim(32),
        write(8),
        write(16),
        write(24),
        write(32),
    ];
    assert_eq!(requests(8192, 32_768), wanted);
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
    let last = |block: BlockSize| {
        let mut p = plan(access.clone(), 4096, 1_000_000, Some(1_000_000));
        (p.regions[0].offset, p.regions[0].file_len) = (0, 2 << 20);
        (p.pass_end, p.block.write) = (PassEnd::Stop, block);
        p.requests().map(|r| r.offset).fold(0, u64::max)
    };
    assert!(last(BlockSize::Fixed(Bytes(4096))) > 1_900_000);
    let drawn = BlockSize::Split(vec![(Bytes(4096), 50), (Bytes(8192), 50)]);
    assert!((983_040..1_000_000).contains(&last(drawn)));
}
