//! Property tests of plans for any scenario and target.

use crate::cases;
use crate::generate::{any_job, facts, plain_job, scenario_of};
use hakaru_model::facts::{TargetFacts, TargetKind};
use hakaru_model::job::rules::{Placement, Verify, VerifyMethod};
use hakaru_model::job::{
    Access, BlockSize, IoEngine, Job, Op, PerOp, Phase, Scenario, SizeSpec, Target,
};
use hakaru_model::plan::{Facts, LayOut, Plan, PlanError, WorkerPlan, clone_paths};
use hakaru_model::stream::IoRequest;
use hakaru_model::units::{Bytes, Nanos};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub(crate) const BLOCK: u64 = 4096;

/// Returns facts about a file or device of this size.
pub(crate) fn target(path: &Path, kind: TargetKind, size: u64) -> TargetFacts {
    TargetFacts {
        path: path.to_owned(),
        kind,
        size: Bytes(size),
        free: (kind != TargetKind::BlockDevice).then_some(Bytes(1 << 50)),
        logical_block: 512,
        direct_io: Some(true),
        writable: true,
    }
}

/// Returns facts about all paths of a scenario, each with this type and size.
pub(crate) fn all_of(scenario: &Scenario, kind: TargetKind, size: u64) -> Facts {
    let facts = |path: PathBuf| (path.clone(), target(&path, kind, size));
    scenario.paths().into_iter().map(facts).collect()
}

pub(crate) fn new_file(scenario: &Scenario) -> Facts {
    all_of(scenario, TargetKind::Absent, 0)
}

pub(crate) fn job(op: Op, random: bool, files: u32) -> Job {
    let paths = (0..files).map(|file| PathBuf::from(format!("f{file}")));
    Job::new(
        "job",
        Target::Paths(paths.collect()),
        Access::only(op, random),
    )
}

pub(crate) fn bytes(bytes: u64) -> SizeSpec {
    SizeSpec::Bytes(Bytes(bytes))
}

pub(crate) fn workers(
    job: &Job,
    facts: impl Fn(&Scenario) -> Facts,
) -> Result<Vec<WorkerPlan>, PlanError> {
    let scenario = scenario_of(vec![job.clone()], 1);
    let plan = Plan::resolve(&scenario, &facts(&scenario))?;
    Ok(plan
        .phases
        .into_iter()
        .flat_map(|phase| phase.workers)
        .collect())
}

fn only_worker(job: &Job, facts: impl Fn(&Scenario) -> Facts) -> WorkerPlan {
    workers(job, facts).expect("it fits").remove(0)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn regions_lie_in_files_that_are_large_enough(job in plain_job(), facts in facts(), seed: u64) {
        let Ok(plan) = Plan::resolve(&scenario_of(vec![job.clone()], seed), &facts) else { return Ok(()) };
        let phase = &plan.phases[0];
        for worker in &phase.workers {
            prop_assert!(!worker.stream.regions.is_empty());
            for region in &worker.stream.regions {
                let file = &phase.files[region.file as usize];
                let there = facts[&file.path].size.0;
                prop_assert!(region.len > 0);
                prop_assert!(region.offset + region.len <= file.size.0.max(there), "{region:?} of {file:?}");
                if file.kind == TargetKind::BlockDevice {
                    prop_assert!(region.offset + region.len <= there, "{region:?} of {there}");
                }
            }
        }
    }

    #[test]
    fn requests_of_a_plan_lie_in_its_regions(job in plain_job(), facts in facts(), seed: u64) {
        let Ok(plan) = Plan::resolve(&scenario_of(vec![job], seed), &facts) else { return Ok(()) };
        for worker in &plan.phases[0].workers {
            let mut moved = 0u64;
            for request in worker.stream.requests().take(2000) {
                let region = worker.stream.regions[request.region as usize];
                let end = (region.offset + region.len).max(region.file_len);
                prop_assert!(request.offset >= region.offset && request.offset + u64::from(request.len) <= end, "{request:?}");
                prop_assert!(request.len > 0 && (request.len <= worker.max_block || request.op == Op::Trim));
                moved += u64::from(request.len);
            }
            let largest = u64::from(worker.max_block.max(24 * 512));
            prop_assert!(worker.stream.limit_bytes.is_none_or(|limit| moved < limit.saturating_add(largest)));
        }
    }

    #[test]
    fn each_clone_is_a_worker_with_a_number_of_its_own(jobs in prop::collection::vec(plain_job(), 1..4), facts in facts(), seed: u64) {
        let scenario = scenario_of(jobs.clone(), seed);
        let Ok(plan) = Plan::resolve(&scenario, &facts) else { return Ok(()) };
        let workers = &plan.phases[0].workers;
        let clones = jobs.iter().zip(0u32..).flat_map(|(job, index)| (0..job.numjobs).map(move |clone| (index, clone)));
        prop_assert!(workers.iter().map(|worker| (worker.job, worker.clone)).eq(clones));
        prop_assert!(workers.iter().map(|worker| worker.number).eq(0..workers.len() as u32));
        let seeds: BTreeSet<u64> = workers.iter().flat_map(|worker| [worker.seed, worker.stream.seed]).collect();
        let own_seeds = jobs.iter().filter(|job| job.seed.is_some()).count();
        prop_assert!(own_seeds > 1 || seeds.len() == 2 * workers.len(), "workers draw what others draw");
    }

    #[test]
    fn files_of_a_phase_are_planned_once(jobs in prop::collection::vec(plain_job(), 1..4), facts in facts(), seed: u64) {
        let Ok(plan) = Plan::resolve(&scenario_of(jobs, seed), &facts) else { return Ok(()) };
        let phase = &plan.phases[0];
        let paths: BTreeSet<&PathBuf> = phase.files.iter().map(|file| &file.path).collect();
        prop_assert_eq!(paths.len(), phase.files.len());
        let used: BTreeSet<u32> = phase.workers.iter().flat_map(|worker| worker.stream.regions.iter().map(|region| region.file)).collect();
        prop_assert!(used.into_iter().eq(0..phase.files.len() as u32), "files that nobody uses");
        for file in &phase.files {
            let laid_out = !matches!(file.lay_out, LayOut::Ready);
            prop_assert!(!laid_out || matches!(file.kind, TargetKind::File | TargetKind::Absent), "{file:?}");
        }
    }

    #[test]
    fn any_job_is_a_plan_or_an_error_that_names_it(job in any_job(), facts in facts(), seed: u64) {
        let scenario = scenario_of(vec![job.clone()], seed);
        match Plan::resolve(&scenario, &facts) {
            Ok(plan) => {
                prop_assert_eq!(plan.phases.len(), 1);
                for worker in &plan.phases[0].workers {
                    // No stream panics.
                    prop_assert!(worker.stream.requests().take(300).count() <= 300);
                }
            }
            Err(error) => prop_assert!(error.to_string().contains(&format!("job `{}`", job.name)), "{error}"),
        }
    }

    #[test]
    fn a_plan_comes_back_from_its_printed_form(job in plain_job(), facts in facts(), seed: u64) {
        let Ok(plan) = Plan::resolve(&scenario_of(vec![job], seed), &facts) else { return Ok(()) };
        let text = serde_json::to_string(&plan).unwrap();
        let read: Plan = hakaru_model::json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &plan);
        let requests = |plan: &Plan| -> Vec<IoRequest> { plan.phases[0].workers[0].stream.requests().take(500).collect() };
        prop_assert_eq!(requests(&read), requests(&plan));
    }

    #[test]
    fn leaving_out_what_does_not_fit_changes_nothing_that_fits(jobs in prop::collection::vec(plain_job(), 1..4), facts in facts(), seed: u64) {
        let scenario = scenario_of(jobs.clone(), seed);
        let clones: u32 = jobs.iter().map(|job| job.numjobs).sum();
        match (Plan::resolve(&scenario, &facts), Plan::resolve_what_fits(&scenario, &facts)) {
            (Ok(whole), Ok(fits)) => {
                prop_assert!(fits.skipped.is_empty());
                prop_assert_eq!(whole, fits);
            }
            (Err(_), Ok(fits)) => {
                prop_assert_eq!(fits.phases[0].workers.len() + fits.skipped.len(), clones as usize);
                prop_assert!(fits.skipped.iter().all(|job| job.error.is_of_one_job()));
            }
            (Err(error), Err(same)) => prop_assert!(error == same || error.is_of_one_job(), "{error}; {same}"),
            (Ok(_), Err(error)) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn the_longest_block_sets_the_buffer(job in plain_job(), facts in facts()) {
        let Ok(plan) = Plan::resolve(&scenario_of(vec![job.clone()], 1), &facts) else { return Ok(()) };
        let reads_or_writes = [Op::Read, Op::Write].into_iter().filter(|&op| job.access.does(op));
        let most = reads_or_writes.map(|op| job.block[op].max().0).max();
        // Of most engines, a trim is complete when its call returns, and a write waits for the trim before it.
        let may_wait = most.is_none() || job.access.trim_before_write;
        for worker in &plan.phases[0].workers {
            prop_assert!(most.is_none_or(|most| u64::from(worker.max_block) >= most));
            let depth = worker.queue.iodepth;
            prop_assert!(depth == job.effective_depth() || may_wait && depth == 1, "{depth}");
            prop_assert!(worker.writes || !job.access.destroys());
        }
        let always = job.ioengine.traits().always_changes;
        prop_assert_eq!(plan.destroys(), job.access.destroys() || always);
    }

    #[test]
    fn sizes_of_any_number_make_a_plan_or_an_error(n in prop::array::uniform6(any::<u64>()), percent in prop::array::uniform2(any::<u32>()), which in 0u8..8, device: bool) {
        let mut job = job(Op::Write, which & 1 > 0, 2);
        let spec = |bytes: u64, relative: bool, percent: u32| if relative { SizeSpec::Percent(percent) } else { SizeSpec::Bytes(Bytes(bytes)) };
        job.extent.size = Some(spec(n[0], which & 2 > 0, percent[0]));
        job.extent.io_size = Some(bytes(n[1]));
        job.extent.offset = spec(n[2], which & 4 > 0, percent[1]);
        job.extent.offset_increment = bytes(n[3]);
        (job.extent.number_ios, job.extent.loops) = (Some(n[4]), percent[0].max(1));
        job.numjobs = 3;
        let kind = if device { TargetKind::BlockDevice } else { TargetKind::File };
        let _ = workers(&job, |scenario| all_of(scenario, kind, n[5] >> 1));
        job.extent.filesize = Some(Bytes(n[5]));
        job.files.append = which & 1 > 0;
        let _ = workers(&job, |scenario| all_of(scenario, kind, n[4] >> 1));
        job.files.fill_device = which & 2 > 0;
        let _ = workers(&job, |scenario| all_of(scenario, TargetKind::File, n[3] >> 1));
        (job.ioengine, job.target) = (IoEngine::Null, Target::Nothing);
        let _ = workers(&job, |_| Facts::new());
    }

    #[test]
    fn times_of_any_number_make_a_bound_or_none(n in prop::array::uniform5(any::<u64>()), phases in 1usize..4, bounded: bool) {
        let mut job = job(Op::Read, false, 1);
        job.extent.size = Some(bytes(1 << 20));
        (job.timing.startdelay, job.timing.ramp_time) = (Nanos(n[0]), Nanos(n[1]));
        job.timing.startdelay_max = Nanos(n[2]);
        job.timing.runtime = bounded.then_some(Nanos(n[3]));
        job.timing.pause_before = Nanos(n[4]);
        let mut scenario = scenario_of(vec![job], 1);
        scenario.phases = vec![scenario.phases[0].clone(); phases];
        let plan = Plan::resolve(&scenario, &new_file(&scenario)).unwrap();
        let one = |plan: &Plan, phase: usize| {
            let worker = &plan.phases[phase].workers[0];
            prop_assert!(worker.startdelay.0 >= n[0] && worker.startdelay.0 <= n[0].max(n[2]));
            Ok(u128::from(worker.startdelay.0) + u128::from(n[1]) + u128::from(n[3]))
        };
        // There is a pause between two phases, but none before the first.
        let mut exact = u128::from(n[4]) * (phases as u128 - 1);
        for phase in 0..phases {
            exact += one(&plan, phase)?;
        }
        let bound = u64::try_from(exact).unwrap_or(u64::MAX);
        prop_assert_eq!(plan.time_bound(), bounded.then_some(Nanos(bound)));
    }

    #[test]
    fn a_start_delay_is_drawn_from_its_range(least in 0u64..1000, more in 0u64..1000, seed: u64) {
        let mut job = job(Op::Read, false, 1);
        job.extent.size = Some(bytes(1 << 20));
        (job.timing.startdelay, job.timing.startdelay_max) = (Nanos(least), Nanos(least + more));
        job.numjobs = 8;
        let scenario = scenario_of(vec![job], seed);
        let plan = Plan::resolve(&scenario, &new_file(&scenario)).unwrap();
        let delays: BTreeSet<u64> = plan.phases[0].workers.iter().map(|worker| worker.startdelay.0).collect();
        prop_assert!(delays.iter().all(|delay| (least..=least + more).contains(delay)));
        prop_assert!(more < 100 || delays.len() > 1, "all clones wait as long");
    }

    #[test]
    fn io_size_and_loops_make_the_limit(blocks in 1u64..200, io_blocks in 1u64..900, loops in 1u32..5, random: bool) {
        let mut job = job(Op::Write, random, 1);
        job.extent.size = Some(bytes(blocks * BLOCK));
        job.extent.loops = loops;
        prop_assert_eq!(only_worker(&job, new_file).stream.limit_bytes, Some(blocks * BLOCK * u64::from(loops)));
        job.extent.io_size = Some(bytes(io_blocks * BLOCK));
        prop_assert_eq!(only_worker(&job, new_file).stream.limit_bytes, Some(io_blocks * BLOCK * u64::from(loops)));
    }

    #[test]
    fn size_is_dealt_out_to_the_files(blocks in 1u64..100, files in 1u32..6, random: bool) {
        let mut job = job(Op::Read, random, files);
        job.extent.size = Some(bytes(blocks * BLOCK * u64::from(files)));
        let worker = only_worker(&job, new_file);
        prop_assert!(worker.stream.regions.iter().all(|region| (region.offset, region.len) == (0, blocks * BLOCK)));
        prop_assert_eq!(worker.stream.regions.len(), files as usize);
        prop_assert_eq!(worker.stream.limit_bytes, Some(blocks * BLOCK * u64::from(files)));
    }

    #[test]
    fn clones_with_increments_do_not_overlap(blocks in 1u64..100, gap in 0u64..50, clones in 1u32..8) {
        let mut job = job(Op::Write, false, 1);
        job.numjobs = clones;
        job.extent.size = Some(bytes(blocks * BLOCK));
        job.extent.offset_increment = bytes((blocks + gap) * BLOCK);
        let workers = workers(&job, new_file).unwrap();
        let mut parts: Vec<(u64, u64)> = workers.iter().map(|worker| (worker.stream.regions[0].offset, worker.stream.regions[0].len)).collect();
        parts.sort_unstable();
        prop_assert!(parts.windows(2).all(|pair| pair[0].0 + pair[0].1 + gap * BLOCK == pair[1].0), "{parts:?}");
        prop_assert!(parts.iter().all(|part| part.1 == blocks * BLOCK) && parts[0].0 == 0);
    }

    #[test]
    fn offsets_in_percent_are_rounded_up_to_blocks(percent in 0u32..90, size in (1u64 << 20)..1 << 30, align in prop::option::of(1u64..1 << 16)) {
        let mut job = job(Op::Read, false, 1);
        job.extent.offset = SizeSpec::Percent(percent);
        job.extent.offset_align = align.unwrap_or(0);
        let file = |scenario: &Scenario| all_of(scenario, TargetKind::BlockDevice, size);
        let offset = only_worker(&job, file).stream.regions[0].offset;
        let (exact, unit) = (size * u64::from(percent) / 100, align.unwrap_or(BLOCK));
        prop_assert!(offset >= exact && offset < exact + unit && offset.is_multiple_of(unit), "{offset} for {exact}");
    }

    #[test]
    fn a_part_in_percent_is_that_part_of_a_device(percent in 1u32..=100, blocks in 200u64..100_000) {
        let mut job = job(Op::Read, true, 1);
        job.extent.size = Some(SizeSpec::Percent(percent));
        let device = |scenario: &Scenario| all_of(scenario, TargetKind::BlockDevice, blocks * BLOCK);
        let region = only_worker(&job, device).stream.regions[0];
        let exact = blocks * BLOCK * u64::from(percent) / 100;
        prop_assert_eq!((region.offset, region.len), (0, exact / BLOCK * BLOCK));
    }

    #[test]
    fn sizes_of_files_are_drawn_from_their_range(least in 1u64..50, more in 0u64..100, files in 1u32..20, size in prop::option::of(1u64..2000), seed: u64) {
        let mut job = job(Op::Read, true, files);
        job.extent.filesize = Some(Bytes(least * BLOCK));
        job.extent.filesize_max = Some(Bytes((least + more) * BLOCK));
        job.extent.size = size.map(|blocks| bytes(blocks * BLOCK));
        let scenario = scenario_of(vec![job], seed);
        let plan = Plan::resolve(&scenario, &new_file(&scenario)).unwrap();
        let sizes: Vec<u64> = plan.phases[0].files.iter().map(|file| file.size.0 / BLOCK).collect();
        let (last, all_but_last) = sizes.split_last().unwrap();
        prop_assert!(all_but_last.iter().all(|drawn| (least..=least + more).contains(drawn)), "{sizes:?}");
        prop_assert!(*last <= least + more && sizes.iter().sum::<u64>() <= size.unwrap_or(u64::MAX));
        prop_assert!(size.is_some() || sizes.len() == files as usize);
    }

    #[test]
    fn a_file_system_that_is_too_small_is_an_error(blocks in 1u64..1000, free in 0u64..1000, files in 1u32..4) {
        let mut job = job(Op::Write, false, files);
        job.extent.size = Some(bytes(blocks * BLOCK * u64::from(files)));
        let tight = |scenario: &Scenario| -> Facts {
            let facts = new_file(scenario).into_iter();
            facts.map(|(path, facts)| (path, TargetFacts { free: Some(Bytes(free * BLOCK)), ..facts })).collect()
        };
        let fits = blocks * u64::from(files) <= free;
        match workers(&job, tight) {
            Ok(_) => prop_assert!(fits),
            Err(error) => prop_assert!(!fits && matches!(error, PlanError::NoSpace { .. }), "{error}"),
        }
    }

    #[test]
    fn only_what_is_missing_is_laid_out(blocks in 1u64..1000, there in 0u64..1000, write: bool) {
        let mut job = job(if write { Op::Write } else { Op::Read }, false, 1);
        job.extent.size = Some(bytes(blocks * BLOCK));
        let kind = if there > 0 { TargetKind::File } else { TargetKind::Absent };
        let scenario = scenario_of(vec![job], 1);
        let plan = Plan::resolve(&scenario, &all_of(&scenario, kind, there * BLOCK)).unwrap();
        let file = &plan.phases[0].files[0];
        prop_assert_eq!(file.size.0, blocks.max(there) * BLOCK);
        let wanted = match (there < blocks, write) {
            (false, _) => LayOut::Ready,
            (true, true) => LayOut::Reserve(Default::default()),
            (true, false) => LayOut::Write(Default::default()),
        };
        prop_assert_eq!(file.lay_out, wanted);
    }

    #[test]
    fn direct_io_takes_multiples_of_the_logical_block(block in 1u64..20_000, offset in 0u64..20_000, power in 9u32..13) {
        let logical = 1u64 << power;
        let mut job = job(Op::Read, false, 1);
        job.files.direct = true;
        job.block = PerOp::all(BlockSize::Fixed(Bytes(block)));
        job.extent.offset = bytes(offset);
        let device = |scenario: &Scenario| -> Facts {
            let facts = all_of(scenario, TargetKind::BlockDevice, 1 << 30).into_iter();
            facts.map(|(path, facts)| (path, TargetFacts { logical_block: logical as u32, ..facts })).collect()
        };
        let fits = block.is_multiple_of(logical) && offset.is_multiple_of(logical);
        match workers(&job, device) {
            Ok(_) => prop_assert!(fits),
            Err(PlanError::Misaligned { better, .. }) => {
                prop_assert!(!fits && better.is_multiple_of(logical) && better >= block);
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
        job.files.direct = false;
        prop_assert!(workers(&job, device).is_ok());
    }

    #[test]
    fn a_device_never_grows(blocks in 1u64..1000, wanted in 1u64..2000, offset in 0u64..2000) {
        let mut job = job(Op::Read, false, 1);
        job.extent.size = Some(bytes(wanted * BLOCK));
        job.extent.offset = bytes(offset * BLOCK);
        let device = |scenario: &Scenario| all_of(scenario, TargetKind::BlockDevice, blocks * BLOCK);
        match workers(&job, device) {
            Ok(workers) => {
                let region = workers[0].stream.regions[0];
                prop_assert_eq!((region.offset, region.len), (offset * BLOCK, wanted * BLOCK));
                prop_assert!(offset + wanted <= blocks);
            }
            Err(PlanError::PastEnd { .. }) => prop_assert!(offset < blocks && offset + wanted > blocks),
            Err(PlanError::OffsetPastEnd { .. }) => prop_assert!(offset >= blocks),
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn split_processors_are_dealt_out_in_turn(cpus in prop::collection::vec(0u32..64, 0..6), clones in 1u32..10, split: bool) {
        let mut job = job(Op::Read, false, 1);
        job.extent.size = Some(bytes(1 << 20));
        job.numjobs = clones;
        job.placement = Placement { cpus_allowed: cpus.clone(), split_cpus: split, ..Placement::default() };
        for (number, worker) in workers(&job, new_file).unwrap().iter().enumerate() {
            let wanted = if split && !cpus.is_empty() { vec![cpus[number % cpus.len()]] } else { cpus.clone() };
            prop_assert_eq!(&worker.placement.cpus_allowed, &wanted);
        }
    }

    #[test]
    fn a_job_that_only_verifies_reads_what_the_writer_wrote(blocks in 1u64..200, seed: u64, random: bool) {
        let mut writer = job(Op::Write, random, 1);
        writer.extent.size = Some(bytes(blocks * BLOCK));
        let mut verify = Verify::by(VerifyMethod::Crc32c);
        verify.read_back = false;
        writer.verify = Some(verify.clone());
        let mut checker = writer.clone();
        verify.only = true;
        checker.verify = Some(verify);
        let phase = |job: Job| Phase { name: "p".to_owned(), jobs: vec![job] };
        let scenario = Scenario { name: "s".to_owned(), seed, phases: vec![phase(writer), phase(checker)] };
        let plan = Plan::resolve(&scenario, &new_file(&scenario)).unwrap();
        let [wrote, checks] = [0, 1].map(|phase| &plan.phases[phase].workers[0]);
        prop_assert!(wrote.stream.requests().eq(checks.stream.requests()));
        let seed_of = |worker: &WorkerPlan| worker.verify.as_ref().map(|verify| verify.seed);
        prop_assert_eq!(seed_of(wrote), seed_of(checks));
    }

    #[test]
    fn paths_are_those_of_all_clones_sorted_and_once(directories in 0usize..3, files in 0u32..4, clones in 0u32..4, by_clone: bool) {
        let format = if by_clone { "$jobname.$jobnum.$filenum" } else { "$jobname.$filenum" };
        let mut job = job(Op::Read, false, 1);
        job.numjobs = clones;
        job.target = Target::Formatted {
            directories: (0..directories).map(|number| PathBuf::from(format!("d{number}"))).collect(),
            format: format.to_owned(),
            nrfiles: files,
        };
        let scenario = scenario_of(vec![job.clone()], 1);
        let paths = scenario.paths();
        prop_assert!(paths.windows(2).all(|pair| pair[0] < pair[1]));
        let each: BTreeSet<PathBuf> = (0..clones).flat_map(|clone| clone_paths(&job, clone)).collect();
        prop_assert!(paths.iter().eq(&each));
        prop_assert!(!by_clone || paths.len() as u32 == files * clones);
        prop_assert!(paths.iter().all(|path| !path.display().to_string().contains('$')));
    }

    #[test]
    fn phases_see_the_files_of_those_before(blocks in 1u64..100, more in 0u64..100) {
        let mut first = job(Op::Write, false, 1);
        first.extent.size = Some(bytes(blocks * BLOCK));
        let mut second = job(Op::Read, false, 1);
        second.extent.size = Some(bytes((blocks + more) * BLOCK));
        let phase = |job: Job| Phase { name: "p".to_owned(), jobs: vec![job] };
        let scenario = Scenario { name: "s".to_owned(), seed: 1, phases: vec![phase(first), phase(second)] };
        let plan = Plan::resolve(&scenario, &new_file(&scenario)).unwrap();
        let file = &plan.phases[1].files[0];
        prop_assert_eq!(file.lay_out == LayOut::Ready, more == 0);
        prop_assert_eq!(file.size.0, (blocks + more) * BLOCK);
    }
}
