//! Property tests of a worker's requests: offsets, transferred bytes, and order.

use crate::cases;
use crate::generate::{access, block, plan_of, shares_of_100};
use hakaru_model::job::rules::{BlockSizeRules, FileOrder, FileTurns, TraversalOrder, Zones};
use hakaru_model::job::{Access, BlockSize, Op, PerOp};
use hakaru_model::stream::{IoRequest, PassEnd, Region, RequestStream, StreamPlan};
use hakaru_model::units::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;

const UNIT: u64 = 512;

fn fixed(units: u64) -> PerOp<BlockSize> {
    PerOp::all(BlockSize::Fixed(Bytes(units * UNIT)))
}

/// Returns a plan for one file, from its start, with one block size.
fn line(access: Access, units: u64, len: u64, limit: u64) -> StreamPlan {
    plan_of(access, fixed(units), units * UNIT, &[len], Some(limit))
}

fn offsets(plan: &StreamPlan) -> Vec<u64> {
    plan.requests().map(|request| request.offset).collect()
}

fn moved(requests: &[IoRequest]) -> u64 {
    requests.iter().map(|request| u64::from(request.len)).sum()
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values
}

/// Returns the lengths of the runs of requests to the same file, in order.
fn turns(requests: &[IoRequest]) -> Vec<(u32, usize)> {
    let mut turns: Vec<(u32, usize)> = Vec::new();
    for request in requests {
        match turns.last_mut() {
            Some((file, times)) if *file == request.region => *times += 1,
            _ => turns.push((request.region, 1)),
        }
    }
    turns
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn requests_lie_in_their_files_and_have_a_size(
        access in access(), block in block(), files in prop::collection::vec(24u64..2000, 1..4), passes in 1u64..4, seed: u64,
    ) {
        let bytes: Vec<u64> = files.iter().map(|units| units * UNIT).collect();
        let limit = passes * bytes.iter().sum::<u64>();
        let mut plan = plan_of(access, PerOp::all(block.clone()), block.min().0, &bytes, Some(limit));
        plan.seed = seed;
        let mut count = 0;
        for request in plan.requests() {
            count += 1;
            let region = plan.regions[request.region as usize];
            let (begin, end) = (region.offset, region.offset + region.len);
            prop_assert!(request.len > 0 && u64::from(request.len) <= block.max().0, "{request:?}");
            prop_assert!(begin <= request.offset && request.offset + u64::from(request.len) <= end, "{request:?}");
            prop_assert!(plan.access.does(request.op), "{request:?}");
        }
        prop_assert!(count > 0);
    }

    #[test]
    fn a_limit_in_bytes_is_reached_and_hardly_passed(access in access(), block in block(), units in 24u64..1000, percent in 1u64..400, seed: u64) {
        let limit = (units * UNIT * percent / 100).max(1);
        let mut plan = plan_of(access, PerOp::all(block.clone()), block.min().0, &[units * UNIT], Some(limit));
        plan.seed = seed;
        let requests: Vec<IoRequest> = plan.requests().collect();
        let moved = moved(&requests);
        prop_assert!(moved >= limit && moved < limit + block.max().0, "{moved} of {limit}");
    }

    #[test]
    fn a_limit_in_ios_is_kept_to_the_io(access in access(), block in block(), units in 24u64..1000, ios in 1u64..500, seed: u64) {
        let mut plan = plan_of(access, PerOp::all(block.clone()), block.min().0, &[units * UNIT], None);
        (plan.limit_ios, plan.seed) = (Some(ios), seed);
        prop_assert_eq!(plan.requests().count() as u64, ios);
    }

    #[test]
    fn what_is_left_and_what_came_are_the_limit(access in access(), block in block(), units in 24u64..500, passes in 1u64..4, seed: u64) {
        let limit = passes * units * UNIT;
        let mut plan = plan_of(access, PerOp::all(block.clone()), block.min().0, &[units * UNIT], Some(limit));
        plan.seed = seed;
        let mut stream = plan.requests();
        let (mut came, whole) = (0, stream.bytes_left());
        prop_assert!(whole >= limit && whole < limit + block.max().0);
        while let Some(request) = stream.next() {
            came += u64::from(request.len);
            prop_assert_eq!(stream.bytes_left(), whole.saturating_sub(came));
            prop_assert_eq!(stream.is_over(), came >= limit);
        }
        prop_assert!(stream.next().is_none(), "what has ended stays ended");
        plan.limit_bytes = None;
        prop_assert_eq!(plan.requests().bytes_left(), u64::MAX);
    }

    #[test]
    fn one_seed_gives_one_order_and_another_another(access in access(), block in block(), units in 500u64..1000, seed: u64) {
        let mut plan = plan_of(access, PerOp::all(block.clone()), block.min().0, &[units * UNIT], Some(units * UNIT));
        plan.seed = seed;
        let requests: Vec<IoRequest> = plan.requests().collect();
        prop_assert_eq!(&requests, &plan.requests().collect::<Vec<_>>());
        prop_assert_eq!(&requests, &plan.clone().requests().collect::<Vec<_>>());
        plan.seed = seed ^ 1;
        if plan.access.random && requests.len() > 20 {
            prop_assert_ne!(&requests, &plan.requests().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_line_is_each_block_in_order(units in 1u64..20, blocks in 1u64..300, odd in 0u64..UNIT, passes in 1u64..4, write: bool) {
        let op = if write { Op::Write } else { Op::Read };
        let block = units * UNIT;
        let plan = line(Access::only(op, false), units, blocks * block + odd.min(block - 1), passes * blocks * block);
        let pass = (0..blocks).map(|number| number * block);
        let wanted: Vec<u64> = (0..passes).flat_map(|_| pass.clone()).collect();
        prop_assert_eq!(offsets(&plan), wanted);
    }

    #[test]
    fn a_line_backwards_is_the_line_turned_round(units in 1u64..20, blocks in 1u64..300) {
        let block = units * UNIT;
        let forward = line(Access::only(Op::Read, false), units, blocks * block, blocks * block);
        let mut backward = forward.clone();
        backward.access.order = TraversalOrder::Backward;
        let turned: Vec<u64> = offsets(&backward).into_iter().rev().collect();
        prop_assert_eq!(turned, offsets(&forward));
    }

    #[test]
    fn an_interleaved_line_has_the_blocks_of_the_line(units in 1u64..9, blocks in 1u64..200, step in 1u64..50) {
        let block = units * UNIT;
        let forward = line(Access::only(Op::Read, false), units, blocks * block, blocks * block);
        let mut interleaved = forward.clone();
        interleaved.access.order = TraversalOrder::Interleaved { step: Bytes(step * block) };
        let order = offsets(&interleaved);
        let jumps = order.windows(2).filter(|pair| pair[1] == pair[0] + step * block).count() as u64;
        prop_assert!(jumps >= blocks - blocks.min(step), "{jumps} of {blocks} by {step}");
        prop_assert_eq!(sorted(order), offsets(&forward));
    }

    #[test]
    fn a_random_pass_is_the_line_in_another_order(units in 1u64..20, blocks in 1u64..500, passes in 1u64..4, seed: u64) {
        let block = units * UNIT;
        let forward = line(Access::only(Op::Read, false), units, blocks * block, blocks * block);
        let mut random = line(Access::only(Op::Read, true), units, blocks * block, passes * blocks * block);
        random.seed = seed;
        let order = offsets(&random);
        for pass in order.chunks(blocks as usize) {
            prop_assert_eq!(sorted(pass.to_vec()), offsets(&forward));
        }
        prop_assert!(blocks < 12 || !order.is_sorted());
    }

    #[test]
    fn a_share_of_a_mix_is_its_percentage(percent in 1u32..100, random: bool, seed: u64) {
        let mut plan = line(Access::mixed(percent, random), 1, 10_000 * UNIT, 10_000 * UNIT);
        plan.seed = seed;
        let reads = plan.requests().filter(|request| request.op == Op::Read).count() as f64 / 10_000.0;
        prop_assert!((reads - f64::from(percent) / 100.0).abs() < 0.025, "{reads} of {percent}%");
    }

    #[test]
    fn three_operations_keep_their_shares(shares in shares_of_100(), random: bool, seed: u64) {
        let mut access = Access::only(Op::Read, random);
        access.mix = shares;
        let mut plan = line(access, 1, 10_000 * UNIT, 10_000 * UNIT);
        plan.seed = seed;
        let mut counts = PerOp::all(0u32);
        plan.requests().for_each(|request| counts[request.op] += 1);
        for op in Op::ALL {
            prop_assert!((f64::from(counts[op]) / 10_000.0 - f64::from(shares[op]) / 100.0).abs() < 0.025, "{counts:?} of {shares:?}");
        }
    }

    #[test]
    fn shares_of_sizes_are_those_asked_for(small in 1u64..8, large in 8u64..64, percent in 5u32..95, random: bool, map: bool, seed: u64) {
        let parts = vec![(Bytes(small * UNIT), percent), (Bytes(large * UNIT), 100 - percent)];
        let mut access = Access::only(Op::Write, random);
        access.every_block_once = map;
        let len = 6000 * large * UNIT;
        let mut plan = plan_of(access, PerOp::all(BlockSize::Split(parts)), UNIT, &[len], None);
        (plan.limit_ios, plan.seed) = (Some(4000), seed);
        let few = plan.requests().filter(|request| u64::from(request.len) == small * UNIT).count() as f64 / 4000.0;
        prop_assume!(small != large);
        prop_assert!((few - f64::from(percent) / 100.0).abs() < 0.04, "{few} of {percent}%");
    }

    #[test]
    fn sizes_of_a_range_are_multiples_or_the_largest(min in 1u64..9, times in 1u64..9, over in 0u64..9, random: bool, map: bool, seed: u64) {
        let (least, most) = (min * UNIT, min * times * UNIT + over * 64);
        let mut access = Access::only(Op::Write, random);
        access.every_block_once = map;
        let range = BlockSize::Range { min: Bytes(least), max: Bytes(most) };
        let mut plan = plan_of(access, PerOp::all(range), least, &[2000 * most], None);
        (plan.limit_ios, plan.seed) = (Some(300), seed);
        let mut seen = BTreeMap::new();
        for request in plan.requests() {
            let len = u64::from(request.len);
            let cut = request.offset + len == plan.regions[0].len;
            prop_assert!(len.is_multiple_of(least) || len == most || cut, "{len} of {least} to {most}");
            *seen.entry(len).or_insert(0u32) += 1;
        }
        prop_assert!(seen.contains_key(&least) && seen.len() as u64 >= times.min(3), "{seen:?}");
    }

    #[test]
    fn sizes_to_the_byte_cover_their_range(least in 2u64..600, more in 1u64..4000, seed: u64) {
        let range = BlockSize::Range { min: Bytes(least), max: Bytes(least + more) };
        let mut plan = plan_of(Access::only(Op::Read, false), PerOp::all(range), least, &[1 << 24], None);
        (plan.limit_ios, plan.seed) = (Some(400), seed);
        plan.sizes = BlockSizeRules { unaligned: true, in_line: None };
        let lens: Vec<u64> = plan.requests().map(|request| u64::from(request.len)).collect();
        prop_assert!(lens.iter().all(|len| (least..=least + more).contains(len)));
        prop_assert!(more < 100 || lens.iter().any(|len| len % least != 0 && *len != least + more));
    }

    #[test]
    fn runs_of_a_random_job_are_in_line(run in 2u32..9, units in 1u64..5, blocks in 100u64..1000, identical: bool, seed: u64) {
        let block = units * UNIT;
        let mut access = Access::only(Op::Read, true);
        (access.run_length, access.run_identical) = (run, identical);
        let mut plan = line(access, units, blocks * block, blocks * block / 2);
        plan.seed = seed;
        let end = blocks * block;
        for run in offsets(&plan).chunks(run as usize) {
            let step = if identical { 0 } else { block };
            // A run that reaches the end of the file continues at another offset.
            let ends = |offset: u64| !identical && offset + block == end;
            prop_assert!(run.windows(2).all(|pair| pair[1] == pair[0] + step || ends(pair[0])), "{run:?}");
        }
    }

    #[test]
    fn a_percentage_of_a_random_job_is_in_line(percent in 1u32..100, seed: u64) {
        let mut access = Access::only(Op::Read, true);
        access.percentage_random = Some(PerOp::all(percent));
        access.every_block_once = false;
        let mut plan = line(access, 1, 100_000 * UNIT, 8000 * UNIT);
        plan.seed = seed;
        let order = offsets(&plan);
        let follow = order.windows(2).filter(|pair| pair[1] == pair[0] + UNIT).count() as f64 / 8000.0;
        prop_assert!((follow - f64::from(100 - percent) / 100.0).abs() < 0.03, "{follow} of {}%", 100 - percent);
    }

    #[test]
    fn a_trim_goes_where_the_write_behind_it_does(random: bool, units in 1u64..9, blocks in 1u64..200, seed: u64) {
        let mut access = Access::only(Op::Write, random);
        access.trim_before_write = true;
        let mut plan = line(access, units, blocks * units * UNIT, blocks * units * UNIT);
        plan.seed = seed;
        let requests: Vec<IoRequest> = plan.requests().collect();
        prop_assert_eq!(requests.len() as u64, 2 * blocks);
        for pair in requests.chunks(2) {
            prop_assert_eq!((pair[0].op, pair[1].op), (Op::Trim, Op::Write));
            prop_assert_eq!(IoRequest { op: Op::Write, ..pair[0] }, pair[1]);
        }
    }

    #[test]
    fn files_in_turn_have_the_same_number_of_ios(files in 2usize..6, blocks in 2u64..60, run in 1u32..5, random: bool, seed: u64) {
        let sizes = vec![blocks * UNIT; files];
        let mut plan = plan_of(Access::only(Op::Read, random), fixed(1), UNIT, &sizes, Some(files as u64 * blocks * UNIT));
        plan.seed = seed;
        plan.turns = FileTurns { order: FileOrder::RoundRobin, run_length: run, open_files: None };
        let requests: Vec<IoRequest> = plan.requests().collect();
        let mut counts = vec![0u64; files];
        requests.iter().for_each(|request| counts[request.region as usize] += 1);
        prop_assert_eq!(counts, vec![blocks; files]);
        let whole = blocks - blocks % u64::from(run);
        let turns = turns(&requests);
        let even = turns.iter().take(whole as usize / run as usize * files);
        prop_assert!(even.clone().all(|(_, times)| *times == run as usize), "{turns:?}");
        prop_assert!(even.enumerate().all(|(turn, (file, _))| *file as usize == turn % files), "{turns:?}");
    }

    #[test]
    fn one_file_after_another_means_each_until_it_is_done(sizes in prop::collection::vec(1u64..50, 1..6), random: bool, seed: u64) {
        let bytes: Vec<u64> = sizes.iter().map(|blocks| blocks * UNIT).collect();
        let mut plan = plan_of(Access::only(Op::Read, random), fixed(1), UNIT, &bytes, Some(bytes.iter().sum()));
        plan.seed = seed;
        plan.turns = FileTurns { order: FileOrder::Sequential, run_length: 1, open_files: None };
        let requests: Vec<IoRequest> = plan.requests().collect();
        let wanted: Vec<(u32, usize)> = (0u32..).zip(&sizes).map(|(file, blocks)| (file, *blocks as usize)).collect();
        prop_assert_eq!(turns(&requests), wanted);
    }

    #[test]
    fn no_more_files_are_open_than_may_be(files in 2usize..8, open in 1u32..8, blocks in 2u64..30, random: bool, seed: u64) {
        let sizes = vec![blocks * UNIT; files];
        let mut plan = plan_of(Access::only(Op::Read, true), fixed(1), UNIT, &sizes, Some(files as u64 * blocks * UNIT));
        plan.seed = seed;
        let order = if random { FileOrder::Random } else { FileOrder::RoundRobin };
        plan.turns = FileTurns { order, run_length: 1, open_files: Some(open) };
        let mut left = vec![blocks; files];
        let mut begun = std::collections::BTreeSet::new();
        for request in plan.requests() {
            let file = request.region as usize;
            begun.insert(file);
            left[file] -= 1;
            if left[file] == 0 {
                begun.remove(&file);
            }
            prop_assert!(begun.len() <= open as usize, "{begun:?}");
        }
        prop_assert!(left.iter().all(|left| *left == 0), "{left:?}");
    }

    #[test]
    fn files_of_a_skewed_job_start_again_until_its_bytes_are_done(files in 2usize..8, open in 1u32..8, blocks in 2u64..30, seed: u64) {
        let sizes = vec![blocks * UNIT; files];
        let total = files as u64 * blocks;
        let mut plan = plan_of(Access::only(Op::Read, true), fixed(1), UNIT, &sizes, Some(total * UNIT));
        plan.seed = seed;
        plan.turns = FileTurns { order: FileOrder::Zipf(1.2), run_length: 1, open_files: Some(open) };
        let requests: Vec<IoRequest> = plan.requests().collect();
        prop_assert_eq!(requests.len() as u64, total);
        let used: std::collections::BTreeSet<u32> = requests.iter().map(|request| request.region).collect();
        prop_assert!(used.len() <= open as usize, "{used:?}");
    }

    #[test]
    fn holes_are_as_large_as_asked_for(units in 1u64..9, hole in 1u64..9, blocks in 2u64..200) {
        let (block, hole) = (units * UNIT, hole * UNIT);
        let mut access = Access::only(Op::Read, false);
        access.stride = hole as i64;
        let len = blocks * (block + hole);
        let mut plan = line(access, units, len, blocks * block);
        plan.pass_end = PassEnd::Stop;
        let order = offsets(&plan);
        prop_assert_eq!(order.len() as u64, blocks);
        prop_assert!(order.windows(2).all(|pair| pair[1] - pair[0] == block + hole));
    }

    #[test]
    fn zones_in_line_are_walked_with_their_gaps(units in 1u64..4, zone in 1u64..12, skip in 0u64..12, zones in 1u64..20) {
        let block = units * UNIT;
        let (range, gap) = (zone * block, skip * block);
        let mut access = Access::only(Op::Read, false);
        access.zones = Zones::Strided { range: Bytes(range), size: Bytes(range), skip: Bytes(gap) };
        let plan = line(access, units, zones * (range + gap), zones * range);
        let wanted: Vec<u64> = (0..zones)
            .flat_map(|number| (0..zone).map(move |at| number * (range + gap) + at * block))
            .collect();
        prop_assert_eq!(offsets(&plan), wanted);
    }

    #[test]
    fn loops_are_so_many_passes_and_no_more(units in 1u64..9, blocks in 1u64..100, loops in 1u32..5, random: bool, seed: u64) {
        let pass = blocks * units * UNIT;
        let mut plan = line(Access::only(Op::Write, random), units, pass, pass * u64::from(loops));
        (plan.loops, plan.pass_end, plan.seed) = (loops, PassEnd::Stop, seed);
        plan.pass_bytes = (loops > 1).then_some(pass);
        let order = offsets(&plan);
        prop_assert_eq!(order.len() as u64, blocks * u64::from(loops));
        for pass in order.chunks(blocks as usize) {
            prop_assert!(sorted(pass.to_vec()).into_iter().eq((0..blocks).map(|number| number * units * UNIT)));
        }
    }

    #[test]
    fn a_steered_mix_does_what_is_due(percent in 1u32..100, random: bool, reads: bool, seed: u64) {
        let mut plan = line(Access::mixed(percent, random), 1, 100 * UNIT, 50 * UNIT);
        plan.seed = seed;
        let due = if reads { Op::Read } else { Op::Write };
        let mut stream = plan.requests();
        while let Some(request) = stream.next_steered(|_| due) {
            prop_assert_eq!(request.op, due);
        }
    }

    #[test]
    fn what_is_put_in_front_comes_first_and_once(listed in prop::collection::vec((0u64..100, 1u32..9), 1..8), at in 0usize..10, seed: u64) {
        let mut plan = line(Access::only(Op::Write, true), 1, 100 * UNIT, 10 * UNIT);
        plan.seed = seed;
        let own: Vec<IoRequest> = plan.requests().collect();
        let front: Vec<IoRequest> = listed.iter().map(|&(offset, len)| IoRequest { op: Op::Read, region: 0, offset, len }).collect();
        let mut stream = plan.requests();
        let mut seen: Vec<IoRequest> = stream.by_ref().take(at).collect();
        stream.put_in_front(front.clone());
        prop_assert_eq!(stream.bytes_left(), moved(&front) + moved(&own[at..]));
        while let Some(request) = stream.next() {
            prop_assert_eq!(stream.gave_listed(), request.op == Op::Read);
            seen.push(request);
        }
        prop_assert!(stream.is_over());
        let wanted = [&own[..at], &front[..], &own[at..]].concat();
        prop_assert_eq!(seen, wanted);
        prop_assert_eq!(RequestStream::listed(front.clone()).collect::<Vec<_>>(), front);
    }

    #[test]
    fn the_plain_stream_gives_what_the_whole_one_does(units in 1u64..9, blocks in 1u64..200, percent in 0u32..101, random: bool, seed: u64) {
        let mut plan = line(Access::mixed(percent, random), units, blocks * units * UNIT, 2 * blocks * units * UNIT);
        plan.seed = seed;
        let whole: Vec<IoRequest> = plan.requests().collect();
        let mut stream = plan.requests();
        if let Some(plain) = stream.as_plain() {
            prop_assert_eq!(plain.collect::<Vec<_>>(), whole);
            prop_assert!(stream.is_over());
        } else {
            prop_assert!(!random && (1..100).contains(&percent));
        }
    }

    #[test]
    fn regions_with_offsets_are_the_same_further_on(access in access(), block in block(), units in 24u64..500, shift in 1u64..1000, seed: u64) {
        let mut plan = plan_of(access, PerOp::all(block.clone()), block.min().0, &[units * UNIT], Some(units * UNIT));
        plan.seed = seed;
        let near: Vec<IoRequest> = plan.requests().collect();
        let shift = shift * UNIT;
        plan.regions = vec![Region { offset: shift, file_len: plan.regions[0].file_len + shift, ..plan.regions[0] }];
        let far: Vec<IoRequest> = plan.requests().collect();
        let shifted = |request: &IoRequest| IoRequest { offset: request.offset + shift, ..*request };
        prop_assert_eq!(near.iter().map(shifted).collect::<Vec<_>>(), far);
    }
}
