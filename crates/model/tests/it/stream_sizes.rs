//! Tests of the sizes of a worker's requests, and of the offsets of jobs with several sizes or with runs.

use crate::generate::plan_of;
use hakaru_model::job::rules::Zones;
use hakaru_model::job::{Access, BlockSize, Distribution, Op, PerOp};
use hakaru_model::stream::{IoRequest, PassEnd, Region, StreamPlan};
use hakaru_model::units::Bytes;

const BLOCK: u64 = 4096;

fn fixed(bytes: u64) -> BlockSize {
    BlockSize::Fixed(Bytes(bytes))
}

/// Returns a list of sizes with their percentages.
fn split(parts: &[(u64, u32)]) -> BlockSize {
    let part = |&(bytes, percent): &(u64, u32)| (Bytes(bytes), percent);
    BlockSize::Split(parts.iter().map(part).collect())
}

/// Returns a plan without limits for one file of `len` bytes.
fn endless(access: Access, block: BlockSize, len: u64) -> StreamPlan {
    let align = block.min().0;
    plan_of(access, PerOp::all(block), align, &[len], None)
}

/// Returns a plan for the first `len` bytes of a file of 2 MiB that ends after one pass.
fn part_of_a_file(access: Access, block: u64, len: u64, seed: u64) -> StreamPlan {
    let mut plan = endless(access, fixed(block), len);
    plan.regions[0].file_len = 2 << 20;
    (plan.pass_end, plan.seed) = (PassEnd::Stop, seed);
    plan.limit_bytes = Some(len);
    plan
}

fn ends(request: &IoRequest) -> u64 {
    request.offset + u64::from(request.len)
}

fn read(random: bool, change: impl FnOnce(&mut Access)) -> Access {
    let mut access = Access::only(Op::Read, random);
    change(&mut access);
    access
}

/// Access patterns in which each I/O has one of the drawn sizes, because an accessed block may come again.
fn patterns_of_whole_ios() -> Vec<(&'static str, Access)> {
    let whole_file = Zones::Strided {
        range: Bytes(1 << 30),
        size: Bytes(1 << 30),
        skip: Bytes(0),
    };
    let again = |access: &mut Access| access.every_block_once = false;
    let zipf = |access: &mut Access| access.distribution = Distribution::Zipf(0.5);
    vec![
        ("sequential", read(false, |_| ())),
        ("zones", read(false, |access| access.zones = whole_file)),
        ("steps back", read(false, |access| access.stride = -8192)),
        ("runs", read(true, |access| access.run_length = 4)),
        (
            "identical runs",
            read(true, |access| {
                (access.run_length, access.run_identical) = (3, true);
            }),
        ),
        (
            "some sequential",
            read(true, |access| {
                access.percentage_random = Some(PerOp::all(70))
            }),
        ),
        ("no random map", read(true, again)),
        ("zipf", read(true, zipf)),
    ]
}

#[test]
fn a_size_that_does_not_fit_is_drawn_again() {
    for (name, access) in patterns_of_whole_ios() {
        for offset in [0, 3 * BLOCK] {
            let mut plan = endless(
                access.clone(),
                split(&[(4096, 50), (12_288, 50)]),
                10 * BLOCK,
            );
            let Region { len, .. } = plan.regions[0];
            (plan.regions[0].offset, plan.regions[0].file_len) = (offset, offset + len);
            let mut counts = [0; 2];
            for request in plan.requests().take(500) {
                assert!([4096, 12_288].contains(&request.len), "{name}: {request:?}");
                assert!(
                    request.offset >= offset && ends(&request) <= offset + len,
                    "{name}: {request:?}"
                );
                counts[usize::from(request.len > 4096)] += 1;
            }
            assert!(counts.iter().all(|&times| times > 40), "{name}: {counts:?}");
        }
    }
}

#[test]
fn the_last_blocks_of_a_random_file_have_a_size_that_fits() {
    let plan = endless(
        read(true, |_| ()),
        split(&[(4096, 50), (12_288, 50)]),
        16 * BLOCK,
    );
    let at = |blocks: u64| move |r: &&IoRequest| r.offset == (16 - blocks) * BLOCK;
    let drawn: Vec<IoRequest> = plan.requests().take(3000).collect();
    assert!(drawn.iter().filter(at(2)).all(|r| r.len == 4096));
    // Others are cut where they meet a block that was accessed.
    assert!(drawn.iter().filter(at(6)).any(|r| r.len == 8192));
}

#[test]
fn a_size_of_no_percent_is_never_drawn() {
    for (parts, wanted) in [
        ([(4096, 0), (8192, 100)], 8192),
        ([(4096, 100), (8192, 0)], 4096),
    ] {
        for random in [false, true] {
            let mut plan = endless(read(random, |_| ()), split(&parts), 64 * BLOCK);
            plan.access.every_block_once = false;
            plan.align = 8192;
            assert!(plan.requests().take(3000).all(|r| r.len == wanted));
        }
    }
}

/// `--rw=randread:4 --bs=8k --size=60k` on a file of 2 MiB: an I/O that begins in the first 60 KiB is whole.
#[test]
fn a_run_ends_with_an_io_across_the_end_of_its_part_as_in_fio() {
    let mut across = 0;
    for seed in 0..20 {
        for len in [60 << 10, 64 << 10] {
            let runs = read(true, |access| access.run_length = 4);
            for request in part_of_a_file(runs, 8192, len, seed).requests() {
                assert_eq!(request.len, 8192, "{request:?}");
                assert!(request.offset < len, "{request:?}");
                across += u32::from(ends(&request) > len);
            }
        }
    }
    assert!(across > 5, "{across}");
}

/// `--rw=randread:RUN --percentage_random=0 --bs=4k --size=64k`
#[test]
fn a_random_job_of_no_random_offsets_is_sequential_as_in_fio() {
    for run_length in 1..5 {
        let access = read(true, |access| {
            access.run_length = run_length;
            access.percentage_random = Some(PerOp::all(0));
        });
        let mut plan = endless(access, fixed(BLOCK), 16 * BLOCK);
        (plan.pass_end, plan.limit_bytes) = (PassEnd::Stop, Some(16 * BLOCK));
        let drawn: Vec<u64> = plan.requests().map(|r| r.offset / BLOCK).collect();
        assert_eq!(drawn, (0..16).collect::<Vec<_>>());
    }
}

#[test]
fn each_random_offset_has_all_ios_of_its_run() {
    for run_length in 2..6 {
        let access = read(true, |access| access.run_length = run_length);
        let plan = endless(access, fixed(BLOCK), 8 * BLOCK);
        let drawn: Vec<IoRequest> = plan.requests().take(400).collect();
        for (number, pair) in drawn.windows(2).enumerate() {
            let fresh = (number as u32 + 1).is_multiple_of(run_length);
            let at_end = ends(&pair[0]) == 8 * BLOCK;
            let follows = pair[1].offset == ends(&pair[0]);
            assert!(fresh || at_end || follows, "{number}: {pair:?}");
        }
    }
}

#[test]
fn sequential_ios_of_their_own_size_stay_in_the_file() {
    for seed in 0..10 {
        let some = |access: &mut Access| access.percentage_random = Some(PerOp::all(50));
        let mut plan = endless(read(true, some), fixed(BLOCK), 16 * BLOCK);
        (plan.regions[0].offset, plan.regions[0].file_len) = (BLOCK, 17 * BLOCK);
        (plan.sizes.in_line, plan.seed) = (Some(fixed(4 * BLOCK)), seed);
        for request in plan.requests().take(200) {
            assert!(
                request.offset >= BLOCK && ends(&request) <= 17 * BLOCK,
                "{request:?}"
            );
        }
    }
}

#[test]
fn each_operation_of_a_random_mix_keeps_its_size() {
    for seed in 0..6 {
        let mut plan = endless(Access::mixed(50, true), fixed(BLOCK), 1001 * BLOCK);
        plan.block.write = fixed(3 * BLOCK);
        (plan.pass_end, plan.seed) = (PassEnd::Stop, seed);
        plan.limit_bytes = Some(1001 * BLOCK);
        let drawn: Vec<IoRequest> = plan.requests().collect();
        let wrong = |r: &&IoRequest| u64::from(r.len) != plan.block[r.op].min().0;
        // Only the last piece of the file is cut.
        assert!(drawn.iter().filter(wrong).all(|r| ends(r) == 1001 * BLOCK));
        let bytes: u64 = drawn.iter().map(|r| u64::from(r.len)).sum();
        assert_eq!(bytes, 1001 * BLOCK);
    }
}

/// `--rw=randrw --norandommap --bs=4k,8k --size=300001`
#[test]
fn blocks_that_may_come_again_are_whole_as_in_fio() {
    for seed in 0..10 {
        let mut access = Access::mixed(50, true);
        access.every_block_once = false;
        let mut plan = endless(access.clone(), fixed(BLOCK), 300_001);
        plan.block.write = fixed(2 * BLOCK);
        plan.seed = seed;
        for request in plan.requests().take(2000) {
            let size = plan.block[request.op].min().0;
            assert_eq!(u64::from(request.len), size, "{request:?}");
            assert!(request.offset.is_multiple_of(size) && ends(&request) <= 300_001);
        }
        // A file in which only the smaller of both fits.
        let mut plan = endless(access, fixed(BLOCK), BLOCK);
        (plan.regions[0].offset, plan.regions[0].file_len) = (2 * BLOCK, 3 * BLOCK);
        (plan.block.write, plan.seed) = (fixed(2 * BLOCK), seed);
        for request in plan.requests().take(50) {
            assert!(
                request.offset >= 2 * BLOCK && ends(&request) <= 3 * BLOCK,
                "{request:?}"
            );
        }
    }
}

#[test]
fn the_size_of_trims_does_not_matter_to_jobs_without_trims() {
    for random in [false, true] {
        let plan = endless(Access::mixed(50, random), fixed(BLOCK), 64 * BLOCK);
        let mut other = plan.clone();
        other.block.trim = fixed(4 * BLOCK);
        let drawn = |plan: &StreamPlan| plan.requests().take(300).collect::<Vec<_>>();
        assert_eq!(drawn(&other), drawn(&plan));
        assert!(drawn(&other).iter().all(|r| r.op != Op::Trim));
    }
}

/// Returns the pieces of one pass through a file that is aligned to less than the smallest size, in their order in the
/// file.
fn pieces(block: BlockSize, len: u64, seed: u64) -> Vec<u32> {
    let mut plan = endless(read(true, |_| ()), block, len);
    (plan.pass_end, plan.align, plan.seed) = (PassEnd::Stop, 512, seed);
    plan.limit_bytes = Some(len);
    let mut drawn: Vec<IoRequest> = plan.requests().collect();
    drawn.sort_by_key(|r| r.offset);
    let follow = drawn
        .windows(2)
        .all(|pair| ends(&pair[0]) == pair[1].offset);
    assert!(follow && drawn.iter().map(|r| u64::from(r.len)).sum::<u64>() == len);
    drawn.iter().map(|r| r.len).collect()
}

#[test]
fn sizes_of_a_large_random_file_have_no_period() {
    for seed in 0..3 {
        let lens = pieces(split(&[(1024, 50), (1536, 50)]), 8 << 20, seed);
        for period in [256, 512, 1024, 2048] {
            let again = lens.iter().zip(&lens[period..]).filter(|(a, b)| a == b);
            assert!(
                again.count() < (lens.len() - period) * 9 / 10,
                "period {period}"
            );
        }
    }
}

#[test]
fn sizes_of_a_range_are_equally_frequent_in_a_large_random_file() {
    let (min, max) = (Bytes(1024), Bytes(8192));
    let lens = pieces(BlockSize::Range { min, max }, 24 << 20, 1);
    for size in (1024..=8192).step_by(1024) {
        let times = lens.iter().filter(|&&len| len == size).count();
        let share = times as f64 / lens.len() as f64;
        assert!((share - 0.125).abs() < 0.02, "{size}: {share}");
    }
}
