//! Tests of the blocks that jobs access, and how often, for generated combinations of options: sizes that do not
//! divide, lists of block sizes, gaps, zones, file sizes, several files, io_size, loops, norandommap.
//!
//! The rules are those of fio 3.33, determined by comparing the requests that both record with `write_iolog`.

use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::job::rules::Zones;
use hakaru_model::job::{Access, BlockSize, Job, Op, PerOp, Phase, Scenario, SizeSpec, Target};
use hakaru_model::plan::{Facts, Plan};
use hakaru_model::stream::{IoRequest, StreamPlan};
use hakaru_model::units::Bytes;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::path::PathBuf;

const UNIT: u64 = 512;

fn bytes(bytes: u64) -> Option<SizeSpec> {
    Some(SizeSpec::Bytes(Bytes(bytes)))
}

/// Returns a job on a number of files that do not exist yet.
fn job(access: Access, block: BlockSize, files: u32) -> Job {
    let target = Target::Paths(
        (0..files)
            .map(|file| PathBuf::from(format!("f{file}")))
            .collect(),
    );
    let mut job = Job::new("job", target, access);
    job.block = PerOp::all(block);
    job
}

/// Returns the request plan of its only worker, with existing files of `there` bytes.
fn stream(job: &Job, seed: u64, there: u64) -> StreamPlan {
    let phase = Phase {
        name: "phase".into(),
        jobs: vec![job.clone()],
    };
    let scenario = Scenario {
        name: "test".into(),
        seed,
        phases: vec![phase],
    };
    let facts = |path: PathBuf| TargetFacts {
        path,
        kind: match there {
            0 => TargetKind::Absent,
            _ => TargetKind::File,
        },
        size: Bytes(there),
        free: Some(Bytes(1 << 50)),
        logical_block: 512,
        direct_io: None,
        writable: true,
    };
    let paths = scenario.paths().into_iter();
    let facts: Facts = paths.map(|path| (path.clone(), facts(path))).collect();
    let plan = Plan::resolve(&scenario, &facts).expect("it fits");
    plan.phases[0].workers[0].stream.clone()
}

fn moved(requests: &[IoRequest]) -> u64 {
    requests.iter().map(|request| u64::from(request.len)).sum()
}

/// Returns the number of accesses to each unit of each region.
fn touched(stream: &StreamPlan, requests: &[IoRequest]) -> Vec<Vec<u32>> {
    let mut times: Vec<Vec<u32>> = stream
        .regions
        .iter()
        .map(|region| vec![0; (region.len / UNIT) as usize])
        .collect();
    for request in requests {
        let region = stream.regions[request.region as usize];
        assert!(
            request.len > 0 && request.offset >= region.offset,
            "{request:?}"
        );
        assert!(
            request.offset + u64::from(request.len) <= region.offset + region.len,
            "{request:?} of {region:?}"
        );
        let from = (request.offset - region.offset) / UNIT;
        let units = u64::from(request.len).div_ceil(UNIT);
        (from..from + units).for_each(|unit| times[request.region as usize][unit as usize] += 1);
    }
    times
}

fn least_and_most(times: &[Vec<u32>]) -> (u32, u32) {
    let all = || times.iter().flatten().copied();
    (all().min().unwrap_or(0), all().max().unwrap_or(0))
}

/// Generates block sizes in units.
fn block() -> impl Strategy<Value = BlockSize> {
    let bytes = |units: u64| Bytes(units * UNIT);
    prop_oneof![
        (1u64..20).prop_map(move |units| BlockSize::Fixed(bytes(units))),
        (1u64..8, 1u64..12).prop_map(move |(min, times)| BlockSize::Range {
            min: bytes(min),
            max: bytes(min * times)
        }),
        prop::collection::vec((1u64..24, 1u32..60), 1..5).prop_map(move |parts| BlockSize::Split(
            parts
                .iter()
                .map(|&(units, share)| (bytes(units), share))
                .collect()
        )),
    ]
}

fn access() -> impl Strategy<Value = Access> {
    (0u32..4, any::<bool>()).prop_map(|(kind, random)| match kind {
        0 => Access::only(Op::Read, random),
        1 => Access::only(Op::Write, random),
        percent => Access::mixed(20 * percent, random),
    })
}

/// Returns the offsets of a sequential job that skips `hole` bytes after each block, by the rules of fio.
fn with_holes(block: u64, hole: u64, part: u64, file: u64, limit: u64, again: bool) -> Vec<u64> {
    let (mut offsets, mut last) = (Vec::new(), 0);
    while (offsets.len() as u64) * block < limit {
        let mut at = last;
        if at > 0 && at < part {
            at += hole;
            at = if at >= file { 0 } else { at };
        }
        if last >= part || at + block > part {
            if !again {
                break;
            }
            at = 0;
        }
        offsets.push(at);
        last = at + block;
    }
    offsets
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(14), ..ProptestConfig::default() })]

    /// Without gaps, a sequential or random job of any block sizes accesses each block of its files once per pass.
    #[test]
    fn each_block_comes_once_a_pass(
        access in access(), block in block(), files in 1u32..4, units in 30u64..3000, odd in 0u64..UNIT, loops in 1u32..4,
        seed: u64,
    ) {
        let mut job = job(access, block.clone(), files);
        job.extent.size = bytes(u64::from(files) * units * UNIT + odd);
        job.extent.loops = if job.access.random || files == 1 { loops } else { 1 };
        let loops = job.extent.loops;
        let plan = stream(&job, seed, 0);
        let requests: Vec<IoRequest> = plan.requests().collect();
        let times = touched(&plan, &requests);
        let mixed_in_line = !job.access.random && !job.access.mix.read.is_multiple_of(100);
        if mixed_in_line {
            // Each operation traverses the files separately; together they transfer the requested bytes.
            let room: u64 = plan.regions.iter().map(|region| region.len).sum();
            let slack = block.max().0 * u64::from(files) * 2;
            prop_assert!(moved(&requests) + slack >= room * u64::from(loops), "{} of {room}", moved(&requests));
        } else {
            // Different sizes end with a remainder only if a sequential job has blocks that are not multiples of the
            // smallest.
            let ragged = !job.access.random && matches!(block, BlockSize::Split(_));
            let (least, most) = least_and_most(&times);
            prop_assert!(most <= loops, "{most} times in {loops} passes");
            let rest = times.iter().flatten().filter(|&&times| times < loops).count() as u64 * UNIT;
            prop_assert!(least == loops || ragged && rest < block.min().0 * u64::from(files * loops), "{least} of {loops}, {rest}");
        }
    }

    /// A job with an `io_size` different from the size of its files transfers that amount, and treats all blocks alike.
    #[test]
    fn io_size_is_moved_and_no_more(
        access in access(), block in block(), files in 1u32..4, units in 60u64..2000, percent in 10u64..350, map: bool,
        seed: u64,
    ) {
        let mut job = job(access, block.clone(), files);
        job.access.every_block_once = map;
        let size = u64::from(files) * units * UNIT;
        let wanted = size * percent / 100;
        (job.extent.size, job.extent.io_size) = (bytes(size), bytes(wanted));
        let plan = stream(&job, seed, 0);
        let requests: Vec<IoRequest> = plan.requests().collect();
        let (moved, largest) = (moved(&requests), block.max().0);
        // A pass does not start for less than the largest block, and the last I/O is not cut.
        prop_assert!(moved + largest > wanted && moved < wanted + largest, "{moved} of {wanted}");
        let (least, most) = least_and_most(&touched(&plan, &requests));
        if files == 1 && job.access.random && map {
            prop_assert!(most - least <= 1, "{least} to {most}");
        }
    }

    /// A file smaller than `size` ends the job; a larger one is used only in part.
    #[test]
    fn the_smaller_of_size_and_filesize_counts(
        access in access(), units in 1u64..9, files in 1u32..4, filesize in 20u64..500, size in 20u64..2000, offset in 0u64..10,
        map: bool, seed: u64,
    ) {
        let block = units * UNIT;
        let mut job = job(access, BlockSize::Fixed(Bytes(block)), files);
        job.access.every_block_once = map;
        job.extent.filesize = Some(Bytes(filesize * UNIT));
        job.extent.size = bytes(size * UNIT);
        job.extent.offset = SizeSpec::Bytes(Bytes(offset * UNIT));
        prop_assume!(filesize - offset >= units);
        let plan = stream(&job, seed, 0);
        let requests: Vec<IoRequest> = plan.requests().collect();
        let exact = (filesize - offset) * UNIT * u64::from(files);
        let whole: u64 = plan.regions.iter().map(|region| region.len).sum();
        let asked = (size * UNIT).min(exact);
        let ends = (map && job.access.random) || (!job.access.random && job.access.mix.read.is_multiple_of(100));
        let ios = if ends { asked.div_ceil(block).min(whole / block) } else { asked.div_ceil(block) };
        // Reads and writes of a sequential job traverse a file separately. As in fio, the first of them that reaches the
        // end of a file ends it.
        let is_mixed_in_line = !job.access.random && !ends;
        let least = if is_mixed_in_line { ios.min(plan.regions.iter().map(|region| region.len / block).sum()) } else { ios };
        prop_assert!((least..=ios).contains(&(requests.len() as u64)), "{} of {least} to {ios}", requests.len());
        let (_, most) = least_and_most(&touched(&plan, &requests));
        prop_assert!(!ends || most <= 1, "{} times", most);
    }

    /// A job with gaps ends at the end of its region, unless it jumps past the end of the file.
    #[test]
    fn holes_are_left_out_as_fio_does(
        units in 1u64..20, hole in 1u64..40, part in 20u64..2000, beyond in 0u64..100, loops in 1u32..3, io_percent in 0u64..300,
        write: bool, seed: u64,
    ) {
        let (block, hole) = (units * UNIT, hole * UNIT);
        prop_assume!(part >= units);
        let op = if write { Op::Write } else { Op::Read };
        let mut job = job(Access::only(op, false), BlockSize::Fixed(Bytes(block)), 1);
        job.access.stride = hole as i64;
        let (size, file) = (part * UNIT, (part + beyond) * UNIT);
        let io_size = size * io_percent / 100;
        job.extent.size = bytes(size);
        (job.extent.io_size, job.extent.loops) = (bytes(io_size).filter(|_| io_percent > 0), if io_percent > 0 { 1 } else { loops });
        let plan = stream(&job, seed, file);
        let offsets: Vec<u64> = plan.requests().map(|request| request.offset).collect();
        // If the file is long enough, a job continues to the end of its last block.
        let room = size.next_multiple_of(block).min(file);
        let limit = if io_percent > 0 { io_size } else { size };
        let mut wanted = with_holes(block, hole, room, file, limit, io_percent > 0);
        if loops == 1 || io_percent > 0 {
            if io_percent > 0 && wanted.len() > offsets.len() {
                // The last pass does not start for less than a block.
                prop_assert!(io_size - (offsets.len() as u64) * block < block);
                wanted.truncate(offsets.len());
            }
            prop_assert_eq!(offsets, wanted);
        } else {
            prop_assert_eq!(&offsets[..wanted.len()], &wanted[..]);
        }
    }

    /// A random job with zones transfers all requested bytes.
    #[test]
    fn random_zones_come_again_until_all_is_moved(
        units in 1u64..4, zone in 1u64..10, size in 1u64..20, skip in 0u64..60, parts in 3u64..40, map: bool, seed: u64,
    ) {
        let block = units * UNIT;
        let mut job = job(Access::only(Op::Read, true), BlockSize::Fixed(Bytes(block)), 1);
        job.access.every_block_once = map;
        let (zone, size, skip) = (zone * block, size * block, skip * block);
        let room = parts * (zone + skip);
        job.extent.size = bytes(room);
        job.access.zones = Zones::Strided { range: Bytes(zone), size: Bytes(size), skip: Bytes(skip) };
        let plan = stream(&job, seed, 0);
        let requests: Vec<IoRequest> = plan.requests().collect();
        prop_assert_eq!(moved(&requests), room);
        for request in &requests {
            prop_assert!(request.offset % (zone + skip) + u64::from(request.len) <= zone, "{request:?}");
        }
    }
}
