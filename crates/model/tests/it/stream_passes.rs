//! Tests of the passes and zones of a worker's requests. Expected requests are those that fio 3.33 recorded with
//! `write_iolog`, where a comment names its options.

use crate::generate::plan_of;
use hakaru_model::job::rules::Zones;
use hakaru_model::job::{Access, BlockSize, Op, PerOp};
use hakaru_model::stream::{IoRequest, PassEnd, Region, StreamPlan};
use hakaru_model::units::Bytes;

const BLOCK: u64 = 4096;

fn fixed(bytes: u64) -> PerOp<BlockSize> {
    PerOp::all(BlockSize::Fixed(Bytes(bytes)))
}

/// Returns zones of so many blocks each: their length, the blocks transferred in each, and the blocks between them.
fn strided(range: u64, size: u64, skip: u64) -> Zones {
    Zones::Strided {
        range: Bytes(range * BLOCK),
        size: Bytes(size * BLOCK),
        skip: Bytes(skip * BLOCK),
    }
}

/// Returns a plan for a file of `file` blocks without a limit, which ends after its passes.
fn once(access: Access, file: u64) -> StreamPlan {
    let mut plan = plan_of(access, fixed(BLOCK), BLOCK, &[file * BLOCK], None);
    plan.pass_end = PassEnd::Stop;
    plan
}

/// Returns the same with `loops` passes of `size` blocks each.
fn looped(access: Access, file: u64, size: u64, loops: u32) -> StreamPlan {
    let mut plan = once(access, file);
    plan.limit_bytes = Some(size * BLOCK * u64::from(loops));
    (plan.pass_bytes, plan.loops) = ((loops > 1).then_some(size * BLOCK), loops);
    plan
}

fn in_zones(op: Op, random: bool, zones: Zones) -> Access {
    let mut access = Access::only(op, random);
    access.zones = zones;
    access
}

/// Returns the number of the block where each request starts.
fn blocks(plan: &StreamPlan) -> Vec<u64> {
    let requests = plan.requests().take(1000);
    requests.map(|request| request.offset / BLOCK).collect()
}

/// `--rw=read --bs=4k --filesize=64k --size=SIZE --loops=LOOPS --zonemode=strided --zonesize=8k --zonerange=16k
/// --zoneskip=4k`: a loop continues where the previous one had transferred its bytes.
#[test]
fn loops_in_zones_transfer_their_size_as_in_fio() {
    let pass = [0, 1, 5, 6, 10, 11, 15];
    for (size, loops) in [(4, 2), (4, 3), (4, 4), (4, 5), (3, 4), (7, 2), (16, 1)] {
        let read = in_zones(Op::Read, false, strided(4, 2, 1));
        let ios = if loops == 1 {
            7
        } else {
            size as usize * loops as usize
        };
        let wanted: Vec<u64> = pass.into_iter().cycle().take(ios).collect();
        let drawn = blocks(&looped(read, 16, size, loops));
        assert_eq!(drawn, wanted, "{loops} loops of {size} blocks");
    }
}

#[test]
fn loops_without_a_size_traverse_the_file_each_time() {
    let mut gaps = Access::only(Op::Read, false);
    gaps.stride = BLOCK as i64;
    let zoned = in_zones(Op::Read, false, strided(4, 2, 1));
    let passes = [
        (gaps, vec![0, 2, 4, 6, 8, 10, 12, 14]),
        (zoned, vec![0, 1, 5, 6, 10, 11, 15]),
    ];
    for (access, pass) in passes {
        for loops in 1..5 {
            let mut plan = once(access.clone(), 16);
            plan.loops = loops;
            if access.stride > 0 {
                // Within a longer file, the end of the job's part ends a pass.
                plan.regions[0].file_len = 64 * BLOCK;
            }
            assert_eq!(blocks(&plan), pass.repeat(loops as usize));
        }
    }
}

/// Loops 1 and 2 of 23 blocks end within the first traversal of the file, which ends as soon as no read is left. Loop 3
/// has two I/Os of that traversal and continues at the start of the file; the others start there.
#[test]
fn a_loop_that_began_in_a_file_continues_at_its_start() {
    let mut access = in_zones(Op::Read, false, strided(64, 1 << 20, 0));
    (access.mix.read, access.mix.write, access.mix.trim) = (34, 33, 33);
    let mut stream = looped(access, 16, 23, 5).requests();
    // Each operation has its own position, so that three of them make the first traversal three times as long.
    let op = |number: usize| match number {
        0..48 => Op::ALL[number % 3],
        _ => Op::Read,
    };
    let mut drawn: Vec<IoRequest> = Vec::new();
    while let Some(request) = stream.next_steered(|_| op(drawn.len())) {
        drawn.push(request);
    }
    let starts = drawn[48..].iter().map(|request| request.offset / BLOCK);
    let three_passes: Vec<u64> = (0..16).chain(0..16).chain(0..16).collect();
    assert_eq!(starts.collect::<Vec<_>>(), three_passes);
}

#[test]
fn bytes_missing_in_a_short_loop_are_not_made_up() {
    // The first loop has only 4 of its 8 blocks until the end of the file. The next starts at 0.
    let mut plan = looped(Access::only(Op::Read, false), 16, 8, 2);
    let whole = plan.regions[0];
    plan.regions[0] = Region {
        offset: 12 * BLOCK,
        len: 4 * BLOCK,
        ..whole
    };
    plan.later_starts = vec![0];
    assert_eq!(blocks(&plan), (12..16).chain(0..8).collect::<Vec<_>>());
}

/// `--rw=read:STRIDE --bs=4k --size=256k --zonemode=strided --zonesize=32k --zonerange=64k --zoneskip=SKIP`: the job
/// ends in the second zone, with the first I/O that does not fit into the file.
#[test]
fn steps_back_from_the_start_of_a_zone_are_those_of_fio() {
    for (stride, skip, zone, then) in [
        (-120, 64, [0, 34], vec![34]),
        (-128, 64, [0, 32], vec![32]),
        (-100, 128, [0, 39], vec![]),
        (-64, 128, [0, 48], vec![48]),
        (-32, 128, [0, 56], vec![56, 49]),
    ] {
        let mut read = in_zones(Op::Read, false, strided(16, 8, skip / 4));
        read.stride = stride << 10;
        let wanted = [zone.repeat(4), then].concat();
        assert_eq!(blocks(&looped(read, 64, 64, 1)), wanted, "{stride} KiB");
    }
}

/// `--rw=read --bs=4k --filesize=64k --size=32k --io_size=48k --zonemode=strided --zonesize=48k --zonerange=48k`
#[test]
fn a_zone_longer_than_size_is_walked_to_its_end_as_in_fio() {
    let mut plan = once(in_zones(Op::Read, false, strided(12, 12, 0)), 16);
    plan.regions[0].len = 8 * BLOCK;
    plan.limit_bytes = Some(12 * BLOCK);
    plan.pass_end = PassEnd::MoveBytes(12 * BLOCK);
    assert_eq!(blocks(&plan), (0..12).collect::<Vec<_>>());
}

/// `--rw=trimwrite --bs=4k --size=256k --zonemode=strided --zonesize=32k --zonerange=128k`: trims count too.
#[test]
fn trims_and_writes_fill_a_zone_together_as_in_fio() {
    let mut access = in_zones(Op::Write, false, strided(32, 8, 0));
    access.trim_before_write = true;
    let drawn = blocks(&looped(access, 64, 64, 1));
    let pass = [0, 1, 2, 3, 32, 33, 34, 35]
        .map(|block| [block; 2])
        .concat();
    assert_eq!(drawn, pass.repeat(8));
}

#[test]
fn a_limit_in_ios_ends_trims_with_their_writes() {
    for random in [false, true] {
        let mut access = Access::only(Op::Write, random);
        access.trim_before_write = true;
        let mut plan = plan_of(access, fixed(BLOCK), BLOCK, &[64 * BLOCK], None);
        plan.limit_ios = Some(6);
        let ops: Vec<Op> = plan
            .requests()
            .take(100)
            .map(|request| request.op)
            .collect();
        assert!((6..=12).contains(&ops.len()), "{ops:?}");
        assert!(ops.chunks(2).all(|pair| pair == [Op::Trim, Op::Write]));
    }
}

/// `--rw=randread --norandommap --bs=4k --size=16k --zonemode=strided --zonerange=64k --zonesize=64k --time_based`:
/// three of four offsets are past the end of the file.
#[test]
fn a_time_limited_job_draws_again_where_no_block_is() {
    let mut access = in_zones(Op::Read, true, strided(16, 16, 0));
    access.every_block_once = false;
    for seed in 0..8 {
        let mut plan = plan_of(access.clone(), fixed(BLOCK), BLOCK, &[4 * BLOCK], None);
        plan.seed = seed;
        let drawn: Vec<u64> = plan.requests().take(60).map(|r| r.offset / BLOCK).collect();
        assert_eq!(drawn.len(), 60, "seed {seed}");
        assert!((0..4).all(|block| drawn.contains(&block)), "{drawn:?}");
    }
}

#[test]
fn random_offsets_reach_each_block_of_their_zone() {
    // Blocks of 4 KiB that may come again, and blocks of 512 bytes whose offsets are multiples of 4 KiB.
    for (len, map) in [(BLOCK, false), (512, true)] {
        let mut access = in_zones(Op::Read, true, strided(4, 4, 0));
        access.every_block_once = map;
        if let Zones::Strided { size, .. } = &mut access.zones {
            *size = Bytes(4 * len);
        }
        let plan = plan_of(access, fixed(len), BLOCK, &[16 * BLOCK], Some(400 * len));
        let mut seen = [0; 16];
        for (number, request) in plan.requests().enumerate() {
            assert!(request.offset.is_multiple_of(BLOCK), "{request:?}");
            let block = request.offset / BLOCK;
            assert_eq!(block / 4, number as u64 / 4 % 4, "{number}: {request:?}");
            seen[block as usize] += 1;
        }
        assert!(seen.iter().all(|&times| times > 5), "{seen:?}");
    }
}

#[test]
fn io_size_starts_passes_while_a_block_is_missing() {
    for file in 1..9 {
        for asked in 1..40 {
            for odd in [0, 1, 100, BLOCK - 1] {
                let bytes = asked * BLOCK + odd;
                let mut plan = once(Access::only(Op::Read, false), file);
                (plan.limit_bytes, plan.pass_end) = (Some(bytes), PassEnd::MoveBytes(bytes));
                let mut wanted = Vec::new();
                let moved = |wanted: &Vec<u64>| wanted.len() as u64 * BLOCK;
                while wanted.is_empty() || moved(&wanted) + BLOCK <= bytes {
                    for block in 0..file {
                        wanted.extend((moved(&wanted) < bytes).then_some(block));
                    }
                }
                assert_eq!(blocks(&plan), wanted, "{bytes} of {file} blocks");
            }
        }
    }
}

#[test]
fn whole_passes_of_one_size_use_the_fast_path() {
    let block_of = |plan: &StreamPlan| plan.requests().as_plain().map(|plain| plain.block());
    for random in [false, true] {
        for bytes in [512, BLOCK, 1 << 20] {
            let mut plan = plan_of(
                Access::only(Op::Read, random),
                fixed(bytes),
                bytes,
                &[8 * bytes],
                None,
            );
            (plan.pass_end, plan.loops) = (PassEnd::Stop, 3);
            let asked = Some(bytes as u32);
            assert_eq!(block_of(&plan), asked);
            plan.pass_bytes = Some(8 * bytes);
            assert_eq!(block_of(&plan), asked, "each pass ends with the file");
            plan.pass_bytes = Some(7 * bytes);
            assert_eq!(block_of(&plan), None, "passes of another size");
        }
    }
}

#[test]
fn a_limit_in_ios_is_no_limit_in_bytes() {
    for random in [false, true] {
        let mut plan = plan_of(
            Access::only(Op::Read, random),
            fixed(BLOCK),
            BLOCK,
            &[8 * BLOCK],
            None,
        );
        for ios in [1, 10] {
            plan.limit_ios = Some(ios);
            let mut stream = plan.requests();
            assert_eq!(stream.bytes_left(), u64::MAX);
            assert_eq!(stream.by_ref().count() as u64, ios);
        }
    }
}

/// Such a stream ends, instead of searching for a block forever.
#[test]
fn no_request_leaves_a_file_smaller_than_its_block() {
    for random in [false, true] {
        for pass_end in [PassEnd::Repeat, PassEnd::Stop, PassEnd::MoveBytes(1 << 20)] {
            let access = Access::only(Op::Read, random);
            let mut plan = plan_of(access, fixed(BLOCK), BLOCK, &[1024], Some(1 << 20));
            plan.pass_end = pass_end;
            let past = |r: &IoRequest| r.offset + u64::from(r.len) > 1024;
            assert!(!plan.requests().take(10).any(|r| past(&r)), "{pass_end:?}");
        }
    }
}

#[test]
fn gaps_need_no_size_of_the_file() {
    let mut access = Access::only(Op::Read, false);
    access.stride = 2 * BLOCK as i64;
    let mut plan = once(access, 30);
    plan.regions[0].offset = BLOCK;
    plan.regions[0].file_len = 0;
    let wanted: Vec<u64> = (1..31).step_by(3).collect();
    assert_eq!(blocks(&plan), wanted);
}

#[test]
fn injected_requests_count_until_they_are_drawn() {
    let request = |number: u32| IoRequest {
        op: Op::Read,
        region: 0,
        offset: 0,
        len: 512 * number,
    };
    let mut plan = once(Access::only(Op::Write, false), 3);
    plan.limit_bytes = Some(3 * BLOCK);
    for own in 0..4 {
        let mut stream = plan.requests();
        assert_eq!(stream.by_ref().take(own).count(), own);
        stream.put_in_front((1..4).map(request).collect());
        let rest = (3 - own as u64) * BLOCK;
        for queued in [5 * 512, 3 * 512, 0] {
            assert!(!stream.is_over());
            assert!(stream.next().is_some_and(|drawn| drawn.op == Op::Read));
            assert_eq!(stream.bytes_left(), queued + rest, "after {own}");
        }
        assert_eq!(stream.is_over(), own == 3);
    }
}
