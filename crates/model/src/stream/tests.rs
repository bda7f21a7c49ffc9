//! Tests of `stream`.

use super::*;
use crate::units::Bytes;
use proptest::prelude::*;
use std::collections::HashSet;

mod choices;
mod ends;
mod repeats;

fn plan(access: Access, block: u64, len: u64, limit: Option<u64>) -> StreamPlan {
    StreamPlan {
        regions: vec![Region {
            file: 0,
            offset: 4096,
            len,
            file_len: 4096 + len,
        }],
        access,
        block: PerOp::all(BlockSize::Fixed(Bytes(block))),
        align: block,
        limit_bytes: limit,
        limit_ios: None,
        seed: 42,
        pass_bytes: None,
        loops: 1,
        pass_end: PassEnd::Repeat,
        turns: FileTurns::default(),
        sizes: BlockSizeRules::default(),
        later_starts: Vec::new(),
        restart_bytes: None,
        draws_anew: false,
    }
}

#[test]
fn sequential_goes_in_line_and_begins_again() {
    let stream = plan(
        Access::only(Op::Read, false),
        1024,
        3 * 1024 + 100,
        Some(5 * 1024),
    )
    .requests();
    let offsets: Vec<u64> = stream.map(|r| r.offset).collect();
    assert_eq!(offsets, [4096, 5120, 6144, 4096, 5120]);
}

#[test]
fn mixed_sequential_keeps_a_position_for_each_operation() {
    let requests: Vec<IoRequest> = plan(Access::mixed(50, false), 1024, 1 << 20, Some(1 << 20))
        .requests()
        .collect();
    for op in [Op::Read, Op::Write] {
        let offsets: Vec<u64> = requests
            .iter()
            .filter(|r| r.op == op)
            .map(|r| r.offset)
            .collect();
        assert!(
            (400..624).contains(&offsets.len()),
            "{} of {op:?}",
            offsets.len()
        );
        assert!(
            offsets
                .iter()
                .enumerate()
                .all(|(i, &o)| o == 4096 + 1024 * i as u64)
        );
    }
}

#[test]
fn negative_holes_step_back_as_in_fio() {
    // Requests of `fio --rw=read:-8k --bs=4k` on a file of 64 KiB, without and with an offset.
    let offsets = |offset: u64, ios: u64| {
        let mut access = Access::only(Op::Read, false);
        access.stride = -8192;
        let mut p = plan(access, 4096, 65_536, Some(ios * 4096));
        p.regions[0].offset = offset;
        p.pass_end = PassEnd::MoveBytes(ios * 4096);
        p.requests().map(|r| r.offset).collect::<Vec<_>>()
    };
    assert_eq!(offsets(0, 5), [0, 57_344, 53_248, 49_152, 45_056]);
    assert_eq!(offsets(0, 18)[14..], [4096, 0, 57_344, 53_248]);
    assert_eq!(offsets(16_384, 13)[..3], [57_344, 53_248, 49_152]);
    assert_eq!(offsets(16_384, 13)[9..], [20_480, 16_384, 73_728, 69_632]);
}

#[test]
fn a_backward_traversal_leaves_nothing_out() {
    let mut p = plan(
        Access::only(Op::Read, false),
        1024,
        3 * 1024,
        Some(4 * 1024),
    );
    p.access.order = TraversalOrder::Backward;
    let offsets: Vec<u64> = p.requests().map(|r| r.offset - 4096).collect();
    assert_eq!(offsets, [2048, 1024, 0, 2048]);
}

#[test]
fn an_interleaved_traversal_visits_each_block_once_a_pass() {
    for (blocks, step) in [(7, 3), (6, 3), (8, 17), (1, 2)] {
        let mut p = plan(
            Access::only(Op::Read, false),
            1024,
            blocks * 1024,
            Some(2 * blocks * 1024),
        );
        p.access.order = TraversalOrder::Interleaved {
            step: Bytes(step * 1024),
        };
        let order: Vec<u64> = p.requests().map(|r| r.offset / 1024 - 4).collect();
        for pass in order.chunks(blocks as usize) {
            assert_eq!(
                pass.iter().collect::<HashSet<_>>().len() as u64,
                blocks,
                "{blocks} by {step}: {order:?}"
            );
        }
        let ahead = order.windows(2).filter(|w| w[1] == w[0] + step).count() as u64;
        assert!(
            blocks <= step || ahead >= 2 * blocks - 2 * step,
            "{blocks} by {step}: {order:?}"
        );
    }
}

#[test]
fn runs_follow_a_drawn_offset() {
    let mut access = Access::only(Op::Read, true);
    access.run_length = 4;
    let offsets: Vec<u64> = plan(access, 1024, 1 << 20, Some(64 * 1024))
        .requests()
        .map(|r| r.offset)
        .collect();
    let breaks = offsets.windows(2).filter(|w| w[1] != w[0] + 1024).count();
    assert!(
        (14..=16).contains(&breaks),
        "{breaks} breaks in {offsets:?}"
    );
}

#[test]
fn a_part_of_a_random_job_goes_on_where_it_was() {
    let mut p = plan(Access::only(Op::Read, true), 1024, 1 << 24, Some(1 << 21));
    p.access.percentage_random = Some(PerOp::all(25));
    let offsets: Vec<u64> = p.requests().map(|r| r.offset).collect();
    let follows =
        offsets.windows(2).filter(|w| w[1] == w[0] + 1024).count() as f64 / offsets.len() as f64;
    assert!((follows - 0.75).abs() < 0.03, "{follows}");
}

#[test]
fn what_follows_has_a_size_of_its_own_where_that_is_asked_for() {
    let mut p = plan(Access::only(Op::Read, true), 1024, 1 << 24, Some(1 << 22));
    p.access.percentage_random = Some(PerOp::all(50));
    p.sizes.in_line = Some(BlockSize::Fixed(Bytes(4096)));
    let requests: Vec<IoRequest> = p.requests().collect();
    let behind = |pair: &[IoRequest]| pair[1].offset == pair[0].offset + u64::from(pair[0].len);
    let wrong = requests
        .windows(2)
        .filter(|pair| behind(pair) != (pair[1].len == 4096))
        .count();
    assert!(wrong < 4, "{wrong} of {}", requests.len());
    let long = requests.iter().filter(|r| r.len == 4096).count() as f64 / requests.len() as f64;
    assert!((long - 0.5).abs() < 0.05, "{long}");
}

#[test]
fn sizes_need_not_be_multiples_of_the_smallest() {
    let mut p = plan(Access::only(Op::Read, false), 1000, 1 << 20, Some(1 << 20));
    p.block.read = BlockSize::Range {
        min: Bytes(1000),
        max: Bytes(8000),
    };
    p.sizes.unaligned = true;
    p.pass_end = PassEnd::Stop;
    let lens: Vec<u32> = p.requests().map(|r| r.len).collect();
    let left = (1 << 20) - lens.iter().map(|&len| u64::from(len)).sum::<u64>();
    assert!(
        left < 1000,
        "{left} bytes at the end, where none of the smallest size fits"
    );
    assert!(lens.iter().all(|len| *len <= 8000), "{lens:?}");
    // As in fio, sizes above the largest become the largest: here one in eight.
    let odd = lens.iter().filter(|len| *len % 1000 != 0).count();
    assert!(odd * 100 > lens.len() * 80, "{odd} of {}", lens.len());
    let largest = lens.iter().filter(|len| **len == 8000).count() as f64 / lens.len() as f64;
    assert!((largest - 0.125).abs() < 0.08, "{largest}");
}

#[test]
fn sizes_of_a_range_are_multiples_of_the_smallest_or_the_largest_as_in_fio() {
    for random in [false, true] {
        let mut p = plan(Access::only(Op::Read, random), 3072, 4 << 20, Some(4 << 20));
        let (min, max) = (Bytes(3072), Bytes(10_240));
        p.block.read = BlockSize::Range { min, max };
        p.pass_end = PassEnd::Stop;
        let mut times = std::collections::BTreeMap::new();
        let requests: Vec<IoRequest> = p.requests().collect();
        for request in &requests {
            *times.entry(request.len).or_insert(0u32) += 1;
        }
        let ragged = times
            .iter()
            .filter(|&(len, &n)| ![3072, 6144, 9216, 10_240].contains(len) && n > 1);
        assert_eq!(ragged.count(), 0, "{times:?}");
        let share = |len: u32| f64::from(times[&len]) / requests.len() as f64;
        // Random I/Os are cut at accessed blocks: fio has 0.44 to 0.47, and 0.05 to 0.06.
        let (small, large) = if random { (0.455, 0.055) } else { (0.3, 0.1) };
        assert!(
            (share(3072) - small).abs() < 0.08 && (share(10_240) - large).abs() < 0.05,
            "{times:?}"
        );
        let aligned = requests.iter().all(|r| (r.offset - 4096) % 3072 == 0);
        assert!(!random || aligned, "offsets are multiples of the smallest");
    }
}

#[test]
fn random_ios_of_several_sizes_are_cut_where_they_meet_as_in_fio() {
    // `fio --rw=randread --size=4m --bssplit=4k/60:64k/40`: 269 to 289 I/Os, 63 to 66% of 4 KiB, 7 to 9% of 64 KiB.
    let mut p = plan(Access::only(Op::Read, true), 4096, 4 << 20, Some(4 << 20));
    p.block.read = BlockSize::Split(vec![(Bytes(4096), 60), (Bytes(65_536), 40)]);
    p.pass_end = PassEnd::Stop;
    for seed in 0..20 {
        p.seed = seed;
        let lens: Vec<u32> = p.requests().map(|r| r.len).collect();
        let share = |len: u32| {
            lens.iter().filter(|&&other| other == len).count() as f64 / lens.len() as f64
        };
        assert!((220..350).contains(&lens.len()), "{}", lens.len());
        assert!((share(4096) - 0.645).abs() < 0.1 && (share(65_536) - 0.08).abs() < 0.06);
        assert_eq!(lens.iter().sum::<u32>(), 4 << 20);
    }
}

#[test]
fn steps_back_begin_each_pass_at_the_start_as_in_fio() {
    let mut access = Access::only(Op::Read, false);
    access.stride = -8192;
    let size = 513 << 10;
    let mut p = plan(access, 65_536, size, Some(2 * size));
    p.regions[0].offset = 0;
    (p.pass_end, p.loops, p.pass_bytes) = (PassEnd::Stop, 2, Some(size));
    let offsets: Vec<u64> = p.requests().map(|r| r.offset).collect();
    let pass = |ios: u64| (0..ios).map(|i| i * 57_344);
    assert_eq!(offsets, pass(9).chain(pass(8)).collect::<Vec<_>>());
}

#[test]
fn a_run_of_a_mix_follows_the_last_io_of_its_own_operation() {
    let mut access = Access::mixed(50, true);
    access.run_length = 3;
    let p = plan(access, 4096, 1 << 20, Some(1 << 20));
    let mut behind = PerOp::all(4096);
    for (i, request) in p.requests().enumerate() {
        let wrapped = behind[request.op] + 4096 > 4096 + (1 << 20);
        assert!(
            i % 3 == 0 || wrapped || request.offset == behind[request.op],
            "{i}: {request:?}"
        );
        behind[request.op] = request.offset + 4096;
    }
}

#[test]
fn a_run_goes_on_in_the_file_whose_turn_it_is() {
    let mut access = Access::only(Op::Write, true);
    access.run_length = 8;
    let mut p = plan(access, 4096, 1 << 20, Some(1 << 20));
    p.regions.push(Region {
        file: 1,
        ..p.regions[0]
    });
    let regions: Vec<u32> = p.requests().take(16).map(|r| r.region).collect();
    assert!(
        regions.windows(2).all(|pair| pair[0] != pair[1]),
        "{regions:?}"
    );
}

#[test]
fn writes_have_the_place_and_size_of_the_trim_before() {
    let mut access = Access::only(Op::Write, true);
    access.trim_before_write = true;
    let mut p = plan(access, 4096, 1 << 20, Some(1 << 20));
    p.block.trim = BlockSize::Fixed(Bytes(16_384));
    p.align = 16_384;
    (p.pass_end, p.loops) = (PassEnd::MoveBytes(3 << 20), 1);
    p.limit_bytes = Some(3 << 20);
    let requests: Vec<IoRequest> = p.requests().collect();
    assert!(requests.chunks(2).all(|pair| pair[0]
        == IoRequest {
            op: Op::Trim,
            ..pair[1]
        }
        && pair[1].len == 16_384));
    assert_eq!(
        requests.len(),
        2 * 2 * 64,
        "trims count where it is about another pass"
    );
}

/// A job with zones of 4 blocks of 1 KiB, of which it transfers `size` blocks and then skips `skip`.
fn with_zones(access: Access, limit: u64, size: u64, skip: u64) -> StreamPlan {
    let mut p = plan(access, 1024, 16 * 1024, Some(limit * 1024));
    p.access.zones = Zones::Strided {
        range: Bytes(4096),
        size: Bytes(size * 1024),
        skip: Bytes(skip * 1024),
    };
    p
}

/// Returns the requests of a plan as numbers of blocks of 1 KiB within the region.
fn blocks(plan: &StreamPlan) -> Vec<u64> {
    plan.requests().map(|r| r.offset / 1024 - 4).collect()
}

#[test]
fn zones_are_walked_one_after_another() {
    let mut p = with_zones(Access::only(Op::Read, false), 9, 2, 1);
    // The requested bytes are transferred, wherever the zones end.
    assert_eq!(blocks(&p), [0, 1, 5, 6, 10, 11, 15, 0, 1]);
    // All bytes of the file: the job ends with the last zone, whole or not.
    (p.limit_bytes, p.pass_end) = (Some(16 * 1024), PassEnd::Stop);
    let pass = [0, 1, 5, 6, 10, 11, 15];
    assert_eq!(blocks(&p), pass);
    (p.limit_bytes, p.pass_bytes, p.loops) = (Some(32 * 1024), Some(16 * 1024), 2);
    assert_eq!(blocks(&p), [pass, pass].concat(), "two loops");
    // No zone begins where the file ends.
    p.regions[0].file_len = 4096 + 15 * 1024;
    (p.regions[0].len, p.limit_bytes, p.pass_bytes, p.loops) = (15 * 1024, Some(9 * 1024), None, 1);
    assert_eq!(blocks(&p), [0, 1, 5, 6, 10, 11, 0, 1, 5]);
}

#[test]
fn random_ios_stay_in_their_zone_until_it_is_done() {
    let mut p = with_zones(Access::only(Op::Read, true), 16, 4, 4);
    p.pass_end = PassEnd::Stop;
    for (zone, drawn) in blocks(&p).chunks(4).enumerate() {
        let seen: HashSet<u64> = drawn.iter().copied().collect();
        let start = zone as u64 % 2 * 8;
        assert_eq!(seen, (start..start + 4).collect(), "zone {zone}");
    }
}

#[test]
fn a_steered_stream_does_what_is_due() {
    let mut stream = plan(Access::mixed(50, true), 1024, 1 << 20, None).requests();
    let ops: Vec<Op> = (0..20)
        .filter_map(|_| stream.next_steered(|_| Op::Write))
        .map(|r| r.op)
        .collect();
    assert_eq!(ops, [Op::Write; 20]);
}

#[test]
fn what_is_put_in_front_comes_first() {
    let mut stream = plan(
        Access::only(Op::Write, false),
        1024,
        1 << 20,
        Some(3 * 1024),
    )
    .requests();
    let read = |offset| IoRequest {
        op: Op::Read,
        region: 0,
        offset,
        len: 1024,
    };
    assert_eq!(stream.next().map(|r| r.offset), Some(4096));
    stream.put_in_front(vec![read(1), read(2)]);
    assert_eq!(stream.bytes_left(), 4 * 1024);
    assert_eq!(stream.next(), Some(read(1)));
    stream.put_in_front(vec![read(3)]);
    let rest: Vec<(Op, u64)> = stream.map(|r| (r.op, r.offset)).collect();
    let reads = [(Op::Read, 2), (Op::Read, 3)];
    let writes = [(Op::Write, 5120), (Op::Write, 6144)];
    assert_eq!(rest, [reads, writes].concat());
    let mut listed = RequestStream::listed(vec![read(7)]);
    assert_eq!((listed.next(), listed.next()), (Some(read(7)), None));
}

#[test]
fn trim_comes_before_its_write() {
    let mut access = Access::only(Op::Write, false);
    access.trim_before_write = true;
    let ops: Vec<(Op, u64)> = plan(access, 1024, 1 << 20, Some(2048))
        .requests()
        .map(|r| (r.op, r.offset))
        .collect();
    assert_eq!(
        ops,
        [
            (Op::Trim, 4096),
            (Op::Write, 4096),
            (Op::Trim, 5120),
            (Op::Write, 5120)
        ]
    );
}

#[test]
fn trims_of_another_size_go_on_by_themselves_as_in_fio() {
    // `fio --rw=trimwrite --filename=DEVICE --size=SIZE --bs=4k,WRITE,TRIM`, as operation and offset in units of 4 KiB.
    let listed = |size: u64, write: u64, trim: u64| -> String {
        let mut access = Access::only(Op::Write, false);
        access.trim_before_write = true;
        let mut p = plan(access, 4096, size, Some(size));
        p.regions[0].file_len = 2 << 20;
        p.block.write = BlockSize::Fixed(Bytes(write));
        p.block.trim = BlockSize::Fixed(Bytes(trim));
        p.pass_end = PassEnd::Stop;
        let word = |r: IoRequest| format!("{}{}", &r.op.name()[..1], r.offset / 4096 - 1);
        p.requests().map(word).collect::<Vec<_>>().join(" ")
    };
    let larger_trims = "t0 w0 t4 w2 w4 t8 w6 w8 t12 w10 w12";
    assert_eq!(listed(64 << 10, 8192, 16_384), larger_trims);
    let one_more = format!("{larger_trims} t16 w14 w16");
    assert_eq!(listed(72 << 10, 8192, 16_384), one_more);
    assert_eq!(listed(64 << 10, 16_384, 8192), "t0 w0 t2 w4 w8 w12");
    assert_eq!(listed(72 << 10, 16_384, 8192), "t0 w0 t2 w4 w8 w12 w16");
}

#[test]
fn skewed_jobs_prefer_few_blocks() {
    for (distribution, most) in [
        (Distribution::Zipf(1.2), 0.4),
        (Distribution::Pareto(0.2), 0.5),
        (Distribution::Uniform, 1.0),
    ] {
        let mut access = Access::only(Op::Read, true);
        access.every_block_once = false;
        access.distribution = distribution.clone();
        let n = 20_000;
        let seen: HashSet<u64> = plan(access, 4096, 4096 * n, Some(4096 * n))
            .requests()
            .map(|r| r.offset)
            .collect();
        let share = seen.len() as f64 / n as f64;
        assert!(
            share < most,
            "{distribution:?} touched {share} of the blocks"
        );
    }
}

proptest! {
    #[test]
    fn the_short_way_of_a_mix_gives_the_requests_of_the_long_one(
        blocks in 1u64..500, read in 0u32..101, passes in 1u64..3, seed: u64,
    ) {
        let mut p = plan(Access::mixed(read, true), 512, 512 * blocks, Some(passes * 512 * blocks));
        p.seed = seed;
        let long = GeneralStream::new(&p, None, None);
        let long: Vec<IoRequest> = std::iter::successors(Some((long, None)), |(stream, _)| {
            let mut stream = stream.clone();
            let next = stream.next()?;
            Some((stream, Some(next)))
        }).filter_map(|(_, request)| request).collect();
        prop_assert!(matches!(p.requests().0, StreamKind::Plain(_)) || !(1..100).contains(&read));
        prop_assert_eq!(p.requests().collect::<Vec<_>>(), long);
    }

    #[test]
    fn a_random_pass_covers_each_block_once(blocks in 1u64..3000, seed: u64) {
        let mut p = plan(Access::only(Op::Write, true), 512, 512 * blocks, Some(2 * 512 * blocks));
        p.seed = seed;
        let offsets: Vec<u64> = p.requests().map(|r| r.offset).collect();
        for pass in offsets.chunks(blocks as usize) {
            let seen: HashSet<u64> = pass.iter().copied().collect();
            prop_assert_eq!(seen.len() as u64, blocks);
            prop_assert!(seen.iter().all(|o| (4096..4096 + 512 * blocks).contains(o)));
        }
    }

    #[test]
    fn requests_stay_inside_their_region(
        len in 16_384u64..1 << 22, stride in -9000i64..9000, random: bool, once: bool, run in 1u32..5, seed: u64,
        percent in 0u32..101, zoned: bool, course in 0u64..40,
    ) {
        let mut access = Access::mixed(30, random);
        access.stride = if random { 0 } else { stride };
        access.every_block_once = once;
        access.run_length = run;
        let mut p = plan(access, 512, len, Some(1 << 20));
        p.block.write = BlockSize::Range { min: Bytes(512), max: Bytes(16_384) };
        p.align = 512;
        p.seed = seed;
        p.access.percentage_random = Some(PerOp::all(percent)).filter(|_| random);
        p.access.order = match course {
            0..20 => TraversalOrder::Forward,
            20..30 => TraversalOrder::Backward,
            steps => TraversalOrder::Interleaved { step: Bytes(512 * (steps - 29)) },
        };
        if zoned {
            p.access.zones = Zones::Strided { range: Bytes(20_000), size: Bytes(8192), skip: Bytes(512) };
        }
        for r in p.requests() {
            prop_assert!(r.offset >= 4096 && r.offset + u64::from(r.len) <= 4096 + len && r.len > 0, "{:?}", r);
        }
    }

    #[test]
    fn one_seed_one_stream(seed: u64) {
        let mut p = plan(Access::mixed(50, true), 512, 1 << 16, Some(1 << 16));
        p.seed = seed;
        prop_assert_eq!(p.requests().collect::<Vec<_>>(), p.requests().collect::<Vec<_>>());
    }
}
