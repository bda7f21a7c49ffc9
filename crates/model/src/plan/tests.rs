//! Tests of resolving plans, and of the errors.

use super::*;
use crate::job::rules::{Verify, VerifyMethod, Zones};
use crate::job::{Access, BlockSize, IoEngine, Op, PerOp, Phase, SizeSpec};
use std::collections::BTreeSet;

mod limits;
mod parts;
mod passes;
mod room;
mod unopened;
mod workers;

fn facts(path: &str, kind: TargetKind, size: u64) -> TargetFacts {
    TargetFacts {
        path: path.into(),
        kind,
        size: Bytes(size),
        free: (kind != TargetKind::BlockDevice).then_some(Bytes(1 << 30)),
        logical_block: 512,
        direct_io: Some(true),
        writable: true,
    }
}

fn scenario(job: Job) -> Scenario {
    one_after_another(vec![job])
}

/// A scenario with a phase for each job.
fn one_after_another(jobs: Vec<Job>) -> Scenario {
    let phase = |job: Job| Phase {
        name: job.name.clone(),
        jobs: vec![job],
    };
    Scenario {
        name: "t".into(),
        seed: 1,
        phases: jobs.into_iter().map(phase).collect(),
    }
}

fn resolve(job: Job, known: &[TargetFacts]) -> Result<Plan, PlanError> {
    let facts = known.iter().map(|f| (f.path.clone(), f.clone())).collect();
    Plan::resolve(&scenario(job), &facts)
}

fn job(op: Op) -> Job {
    let mut job = Job::new(
        "j",
        Target::Paths(vec!["f".into()]),
        Access::only(op, false),
    );
    job.extent.size = Some(SizeSpec::Bytes(Bytes(1 << 20)));
    job
}

#[test]
fn a_read_of_a_missing_file_lays_it_out_and_a_write_reserves_it() {
    let absent = [facts("f", TargetKind::Absent, 0)];
    let read = resolve(job(Op::Read), &absent).unwrap();
    assert_eq!(
        read.phases[0].files[0].lay_out,
        LayOut::Write(Fallocate::Native)
    );
    let write = resolve(job(Op::Write), &absent).unwrap();
    assert_eq!(
        write.phases[0].files[0].lay_out,
        LayOut::Reserve(Fallocate::Native)
    );
    let present = resolve(job(Op::Read), &[facts("f", TargetKind::File, 1 << 20)]).unwrap();
    assert_eq!(present.phases[0].files[0].lay_out, LayOut::Ready);
}

#[test]
fn a_second_phase_finds_the_file_of_the_first() {
    let mut two = scenario(job(Op::Read));
    two.phases.push(two.phases[0].clone());
    let facts = BTreeMap::from([("f".into(), facts("f", TargetKind::Absent, 0))]);
    let plan = Plan::resolve(&two, &facts).unwrap();
    assert_eq!(plan.phases[1].files[0].lay_out, LayOut::Ready);
}

#[test]
fn direct_io_wants_multiples_of_the_logical_block() {
    let mut odd = job(Op::Read).with_block(Bytes(1000));
    odd.files.direct = true;
    let error = resolve(odd, &[facts("f", TargetKind::File, 1 << 20)]).unwrap_err();
    assert!(error.to_string().contains("use bs=1024"), "{error}");
}

#[test]
fn impossible_jobs_are_refused_with_the_cure() {
    let socket = facts("f", TargetKind::Other, 0);
    let mut read_only = facts("f", TargetKind::File, 9);
    read_only.writable = false;
    let mut full = facts("f", TargetKind::Absent, 0);
    full.free = Some(Bytes(10));
    let file = |size| facts("f", TargetKind::File, size);
    let device = facts("f", TargetKind::BlockDevice, 4096);
    let large_blocks = job(Op::Read).with_block(Bytes(2 << 20));
    for (job, facts, word) in [
        (job(Op::Read), socket, "socket"),
        (job(Op::Write), read_only, "read-only"),
        (job(Op::Write), full, "smaller size"),
        (job(Op::Trim), file(1 << 20), "block devices only"),
        (large_blocks, file(9), "less than one block"),
        (job(Op::Read), device, "past its end"),
    ] {
        let error = resolve(job, &[facts]).unwrap_err().to_string();
        assert!(error.contains(word), "{error} should say {word}");
    }
}

#[test]
fn what_a_job_removes_is_laid_out_anew_for_the_next_and_what_it_makes_is_not_laid_out() {
    let absent = BTreeMap::from([("f".into(), facts("f", TargetKind::Absent, 0))]);
    let plan_of = |engines: &[IoEngine]| {
        let jobs = engines.iter().map(|&ioengine| Job {
            ioengine,
            ..job(Op::Read)
        });
        let plan = Plan::resolve(&one_after_another(jobs.collect()), &absent).unwrap();
        let lay_out = plan.phases.iter().map(|phase| phase.files[0].lay_out);
        lay_out.collect::<Vec<_>>()
    };
    let written = LayOut::Write(Fallocate::Native);
    use IoEngine::{Filecreate, Filedelete, Filestat};
    assert_eq!(
        plan_of(&[Filedelete, Filestat, Filestat]),
        [written, written, LayOut::Ready]
    );
    assert_eq!(plan_of(&[Filecreate, Filestat]), [LayOut::Ready, written]);
}

#[test]
fn engines_that_work_on_names_leave_devices_alone() {
    let device = facts("f", TargetKind::BlockDevice, 1 << 20);
    for ioengine in IoEngine::ALL
        .iter()
        .copied()
        .filter(|e| e.works_on_names() && e.traits().always_changes)
    {
        let error = resolve(
            Job {
                ioengine,
                ..job(Op::Read)
            },
            std::slice::from_ref(&device),
        )
        .unwrap_err();
        assert!(error.to_string().contains("device file"), "{error}");
    }
    let folder = facts("f", TargetKind::Directory, 0);
    assert!(
        resolve(
            Job {
                ioengine: IoEngine::Dirstat,
                ..job(Op::Read)
            },
            &[folder]
        )
        .is_ok()
    );
}

#[test]
fn falloc_punches_holes_in_files_and_always_writes() {
    let file = [facts("f", TargetKind::File, 1 << 20)];
    for op in Op::ALL {
        let plan = resolve(
            Job {
                ioengine: IoEngine::Falloc,
                ..job(op)
            },
            &file,
        )
        .unwrap();
        assert!(plan.destroys());
    }
}

#[test]
fn clones_share_a_named_file_and_own_a_formatted_one() {
    let mut shared = job(Op::Write);
    shared.numjobs = 3;
    let plan = resolve(shared.clone(), &[facts("f", TargetKind::Absent, 0)]).unwrap();
    let PhasePlan { files, workers, .. } = &plan.phases[0];
    assert_eq!((files.len(), workers.len()), (1, 3));
    let seeds: BTreeSet<u64> = workers.iter().map(|w| w.stream.seed).collect();
    assert_eq!(seeds.len(), 3, "clones draw different offsets");
    shared.target = Target::Formatted {
        directories: vec!["d".into()],
        format: "$jobname.$jobnum.$filenum".into(),
        nrfiles: 2,
    };
    let paths = scenario(shared.clone()).paths();
    assert_eq!(paths.len(), 6);
    let known: Vec<TargetFacts> = paths
        .iter()
        .map(|p| facts(p.to_str().unwrap(), TargetKind::Absent, 0))
        .collect();
    let plan = resolve(shared, &known).unwrap();
    let regions = &plan.phases[0].workers[1].stream.regions;
    assert_eq!(regions.iter().map(|r| r.len).sum::<u64>(), 1 << 20);
}

#[test]
fn offsets_of_clones_are_dealt_from_the_last_as_in_fio() {
    // `fio --numjobs=4 --offset_increment=64k`: 0, 192k, 128k, 64k.
    let mut job = job(Op::Read);
    job.numjobs = 4;
    job.extent.size = Some(SizeSpec::Percent(25));
    job.extent.offset_increment = SizeSpec::Percent(25);
    let plan = resolve(job, &[facts("f", TargetKind::BlockDevice, 1 << 20)]).unwrap();
    let starts: Vec<u64> = plan.phases[0]
        .workers
        .iter()
        .map(|w| w.stream.regions[0].offset)
        .collect();
    assert_eq!(starts, [0, 3 << 18, 1 << 19, 1 << 18]);
}

#[test]
fn io_size_in_percent_is_of_the_files_and_at_most_the_size() {
    // `fio --rw=read --size=256k --filesize=1m --bs=4k --io_size=P%` issues 26 I/Os for 10, 52 for 20, 64 for 50 and 90.
    for (percent, ios) in [(10, 26), (20, 52), (50, 64), (90, 64)] {
        let mut job = job(Op::Read);
        job.block.read = BlockSize::Fixed(Bytes(4096));
        job.extent.size = Some(SizeSpec::Bytes(Bytes(256 << 10)));
        job.extent.io_size = Some(SizeSpec::Percent(percent));
        job.extent.filesize = Some(Bytes(1 << 20));
        let plan = resolve(job, &[facts("f", TargetKind::File, 1 << 20)]).unwrap();
        let requests = plan.phases[0].workers[0].stream.requests();
        assert_eq!(requests.count(), ios, "{percent}%");
    }
}

#[test]
fn a_write_waits_for_the_trim_before_it() {
    // With eight in flight, trims completed after the writes to their blocks, whose data was gone.
    for (trims_first, waits) in [(true, true), (false, false)] {
        let mut job = job(Op::Write);
        job.ioengine = IoEngine::Libaio;
        job.queue.iodepth = 8;
        job.access.trim_before_write = trims_first;
        let plan = resolve(job, &[facts("f", TargetKind::BlockDevice, 1 << 20)]).unwrap();
        assert_eq!(plan.phases[0].workers[0].queue.serialize_overlap, waits);
    }
}

#[test]
fn trims_of_batches_have_nothing_in_flight_beside_them() {
    // `fio --rw=trimwrite --ioengine=libaio --iodepth=8`: eight trims come first, and writes complete beside later ones.
    // With `--iodepth_batch=4`, and with posixaio, each trim is followed by the end of its write.
    for (engine, batch, depth) in [
        (IoEngine::Libaio, 1, 8),
        (IoEngine::IoUring, 1, 8),
        (IoEngine::Libaio, 4, 1),
        (IoEngine::Posixaio, 1, 1),
    ] {
        let mut job = job(Op::Write);
        (job.ioengine, job.access.trim_before_write) = (engine, true);
        (job.queue.iodepth, job.queue.batch_submit) = (8, batch);
        let plan = resolve(job, &[facts("f", TargetKind::BlockDevice, 1 << 20)]).unwrap();
        let queue = &plan.phases[0].workers[0].queue;
        assert_eq!(queue.iodepth, depth, "{engine:?}, batches of {batch}");
    }
}

#[test]
fn a_job_that_only_trims_has_one_in_flight_as_in_fio() {
    // `fio --rw=trim --filename=DEVICE --offset=50001 --iodepth=8`: the first trim fails, and no other is issued.
    for (engine, depth) in [
        (IoEngine::Libaio, 1),
        (IoEngine::IoUring, 1),
        (IoEngine::Posixaio, 1),
        (IoEngine::Null, 8),
    ] {
        let mut job = job(Op::Trim);
        (job.ioengine, job.queue.iodepth) = (engine, 8);
        let plan = resolve(job, &[facts("f", TargetKind::BlockDevice, 1 << 20)]).unwrap();
        assert_eq!(plan.phases[0].workers[0].queue.iodepth, depth, "{engine:?}");
    }
}

#[test]
fn a_new_file_has_its_whole_size_from_100_percent_on_as_in_fio() {
    // `fio --rw=write --bs=12k --filesize=128k --size=N%`: the file has 110592 bytes for 90, 131072 for 100 and 110.
    for (percent, bytes) in [(90, 110_592), (100, 131_072), (110, 131_072)] {
        let mut job = job(Op::Write).with_block(Bytes(12 << 10));
        job.extent.filesize = Some(Bytes(128 << 10));
        job.extent.size = Some(SizeSpec::Percent(percent));
        let plan = resolve(job, &[facts("f", TargetKind::Absent, 0)]).unwrap();
        assert_eq!(plan.phases[0].files[0].size, Bytes(bytes), "{percent}%");
    }
}

#[test]
fn an_offset_in_percent_is_rounded_by_the_smallest_block_of_any_operation() {
    // `fio --rw=write --bs=4k,8k,16k --filesize=400k --offset=10% --offset_increment=33% --numjobs=3`: the last job begins
    // at 176128, and with --bs=8k at 180224.
    for (smallest, start) in [(4096, 176_128), (8192, 180_224)] {
        let mut job = job(Op::Write);
        job.numjobs = 3;
        job.extent.size = None;
        job.block.write = BlockSize::Fixed(Bytes(8192));
        job.block.read = BlockSize::Fixed(Bytes(smallest));
        job.block.trim = BlockSize::Fixed(Bytes(16384));
        job.extent.offset = SizeSpec::Percent(10);
        job.extent.offset_increment = SizeSpec::Percent(33);
        let plan = resolve(job, &[facts("f", TargetKind::BlockDevice, 400 << 10)]).unwrap();
        assert_eq!(plan.phases[0].workers[2].stream.regions[0].offset, start);
    }
}

#[test]
fn a_job_of_null_has_its_whole_size_behind_its_offset() {
    // `fio --ioengine=null --size=513k --offset=10%` reads 53248-577536.
    let mut job = job(Op::Read);
    job.target = Target::Nothing;
    job.extent.size = Some(SizeSpec::Bytes(Bytes(513 << 10)));
    job.extent.offset = SizeSpec::Percent(10);
    job.access.random = true;
    let plan = resolve(job, &[]).unwrap();
    let region = plan.phases[0].workers[0].stream.regions[0];
    assert_eq!((region.offset, region.len), (53_248, 524_288));
}

/// Returns the requests of a job in order, as file and offset in KiB.
fn offsets(job: Job, known: &[TargetFacts]) -> Vec<(u32, u64)> {
    let plan = resolve(job, known).unwrap();
    let requests = plan.phases[0].workers[0].stream.requests();
    requests.map(|r| (r.region, r.offset >> 10)).collect()
}

#[test]
fn a_job_of_null_has_files_as_in_fio() {
    let unopened = |size: u64, filesize: Option<u64>, files: usize| {
        let mut job = job(Op::Read).with_block(Bytes(12 << 10));
        job.target = Target::Nothing;
        job.extent.size = Some(SizeSpec::Bytes(Bytes(size << 10)));
        job.extent.filesize = filesize.map(|kib| Bytes(kib << 10));
        job.files.unopened = (0..files).map(|n| format!("j.$jobnum.{n}")).collect();
        offsets(job, &[])
    };
    // `fio --ioengine=null --rw=read --bs=12k --size=50k --nrfiles=2`
    assert_eq!(unopened(50, None, 2), [(0, 0), (1, 0), (0, 12), (1, 12)]);
    // `filesize` is the end of a file, but the last block may extend past it, unless `filesize` equals `size`.
    let one = |size, filesize| unopened(size, Some(filesize), 0).len();
    assert_eq!((one(128, 50), one(50, 128), one(50, 50)), (5, 5, 4));
    assert_eq!(unopened(100, Some(25), 2).len(), 5);
    assert_eq!(unopened(50, Some(25), 2).len(), 4);
}

#[test]
fn a_file_of_null_ends_with_its_share_in_percent_as_in_fio() {
    // `fio --ioengine=null --rw=randread:4 --filesize=300k --size=33% --bs=4k`: nothing after 98304.
    let mut job = job(Op::Read).with_block(Bytes(4096));
    job.target = Target::Nothing;
    job.extent.filesize = Some(Bytes(300 << 10));
    job.extent.size = Some(SizeSpec::Percent(33));
    (job.access.random, job.access.run_length) = (true, 4);
    for seed in 0..20 {
        job.seed = Some(seed);
        assert!(offsets(job.clone(), &[]).iter().all(|(_, kib)| *kib < 96));
    }
}

#[test]
fn null_keeps_to_the_size_on_a_device_as_in_fio() {
    // `fio --ioengine=null --filename=/dev/loop0 --rw=read --bs=16k`
    let blocks = |size: u64, filesize: Option<u64>, offset: u64| {
        let mut job = job(Op::Read).with_block(Bytes(16 << 10));
        job.target = Target::Nothing;
        job.files.unopened = vec!["/dev/loop0".into()];
        job.extent.size = Some(SizeSpec::Bytes(Bytes(size << 10)));
        job.extent.filesize = filesize.map(|kib| Bytes(kib << 10));
        job.extent.offset = SizeSpec::Bytes(Bytes(offset << 10));
        job.access.random = true;
        let device = facts("/dev/loop0", TargetKind::BlockDevice, 2 << 20);
        let drawn = offsets(job, &[device]);
        (drawn.len(), drawn.iter().map(|(_, offset)| *offset).max())
    };
    assert_eq!(blocks(256, Some(1024), 0), (16, Some(240)));
    assert_eq!(blocks(100, None, 16), (5, Some(80)));
    assert_eq!(blocks(4096, None, 0), (256, Some(4080)));
}

#[test]
fn an_offset_in_percent_is_taken_anew_in_each_pass_as_in_fio() {
    // `fio --rw=read --size=128k --offset=10% --loops=2 --bs=12k` without an existing file: 0-110592, then
    // 24576-110592.
    let mut job = job(Op::Read).with_block(Bytes(12 << 10));
    job.extent.size = Some(SizeSpec::Bytes(Bytes(128 << 10)));
    job.extent.offset = SizeSpec::Percent(10);
    job.extent.loops = 2;
    let drawn = offsets(job.clone(), &[facts("f", TargetKind::Absent, 0)]);
    let wanted = (0..10).chain(2..10).map(|block| (0, 12 * block));
    assert_eq!(drawn, wanted.collect::<Vec<_>>());
    // On a device, both passes are the same.
    let drawn = offsets(job, &[facts("f", TargetKind::BlockDevice, 1 << 20)]);
    assert_eq!(drawn[..11], drawn[11..]);
}

#[test]
fn drawn_sizes_end_where_the_smallest_does_not_fit_as_in_fio() {
    // `fio --rw=read --size=55k --bsrange=8k-16k` and with `--bs=8k`, on a file of 1 MiB.
    let file = [facts("f", TargetKind::File, 1 << 20)];
    let end = |block: BlockSize| {
        let mut job = job(Op::Read);
        job.block = PerOp::all(block);
        job.extent.size = Some(SizeSpec::Bytes(Bytes(50 << 10)));
        let plan = resolve(job, &file).unwrap();
        let requests = plan.phases[0].workers[0].stream.requests();
        requests.map(|r| r.offset + u64::from(r.len)).max()
    };
    let (min, max) = (Bytes(8 << 10), Bytes(16 << 10));
    assert_eq!(end(BlockSize::Range { min, max }), Some(48 << 10));
    assert_eq!(
        end(BlockSize::Split(vec![(min, 50), (max, 50)])),
        Some(48 << 10)
    );
    assert_eq!(end(BlockSize::Fixed(min)), Some(56 << 10));
}

#[test]
fn places_and_sizes_are_whole_blocks_as_in_fio() {
    let region = |change: &dyn Fn(&mut Job)| {
        let mut job = job(Op::Read).with_block(Bytes(65_536));
        change(&mut job);
        let plan = resolve(job, &[facts("f", TargetKind::File, 4 << 20)]).unwrap();
        let stream = &plan.phases[0].workers[0].stream;
        (
            stream.regions[0].offset,
            stream.regions[0].len >> 16,
            stream.requests().count(),
        )
    };
    let size = |spec| move |job: &mut Job| job.extent.size = Some(spec);
    let odd = SizeSpec::Bytes(Bytes(1000 << 10));
    assert_eq!(region(&size(SizeSpec::Percent(33))), (0, 21, 21));
    assert_eq!(region(&size(odd)), (0, 16, 16));
    let random = |job: &mut Job| (job.extent.size, job.access.random) = (Some(odd), true);
    assert_eq!(region(&random), (0, 15, 15));
    let offset = |job: &mut Job| {
        (job.extent.size, job.extent.offset) = (None, SizeSpec::Percent(33));
    };
    assert_eq!(region(&offset), (22 << 16, 42, 42));
    let own_size = |job: &mut Job| {
        (job.extent.size, job.extent.filesize) =
            (Some(SizeSpec::Bytes(Bytes(1 << 20))), Some(Bytes(2 << 20)));
    };
    assert_eq!(region(&own_size), (0, 32, 16));
}

#[test]
fn article_a_uses_filesize_without_size_on_a_device() {
    let mut job = job(Op::Write).with_block(Bytes(1 << 20));
    job.extent.size = None;
    job.extent.filesize = Some(Bytes(16 << 30));
    let plan = resolve(job, &[facts("f", TargetKind::BlockDevice, 32 << 30)]).unwrap();
    assert_eq!(plan.phases[0].workers[0].stream.regions[0].len, 16 << 30);
}

#[test]
fn a_depth_that_has_no_effect_is_a_caveat() {
    let mut deep = job(Op::Read);
    deep.queue.iodepth = 2;
    let plan = resolve(deep, &[facts("f", TargetKind::File, 1 << 20)]).unwrap();
    assert!(plan.caveats.contains(&Caveat::DepthCapped {
        ioengine: "psync".into(),
        asked: 2
    }));
    assert_eq!(plan.phases[0].workers[0].queue.iodepth, 1);
}

proptest::proptest! {
    #[test]
    fn a_plan_is_a_function_of_its_inputs(seed: u64, clones in 1u32..5, random: bool, block in 9u32..20) {
        let mut j = Job::new("j", Target::Paths(vec!["f".into()]), Access::mixed(50, random));
        j.numjobs = clones;
        j.block = PerOp::all(BlockSize::Fixed(Bytes(1 << block)));
        j.extent.size = Some(SizeSpec::Bytes(Bytes(1 << 20)));
        let mut s = scenario(j);
        s.seed = seed;
        let facts = BTreeMap::from([("f".into(), facts("f", TargetKind::Absent, 0))]);
        proptest::prop_assert_eq!(Plan::resolve(&s, &facts), Plan::resolve(&s, &facts));
    }
}

#[test]
fn sizes_of_files_are_drawn_from_their_range() {
    let mut drawn = job(Op::Write);
    let names = || (0..40).map(|i| format!("f{i}"));
    drawn.target = Target::Paths(names().map(PathBuf::from).collect());
    (drawn.extent.filesize, drawn.extent.filesize_max) = (Some(Bytes(5000)), Some(Bytes(1 << 20)));
    drawn.extent.size = None;
    let absent = |name: String| facts(&name, TargetKind::Absent, 0);
    let known: Vec<TargetFacts> = names().map(absent).collect();
    let sizes = |job: &Job| {
        let plan = resolve(job.clone(), &known).unwrap();
        let files = plan.phases[0].files.iter();
        files.map(|file| file.size.0).collect::<Vec<_>>()
    };
    let free = sizes(&drawn);
    let fits = |size: &u64| (4096..=1 << 20).contains(size) && size.is_multiple_of(4096);
    assert!(free.iter().all(fits), "{free:?}");
    let different: BTreeSet<_> = free.iter().collect();
    assert!(different.len() > 30, "{free:?}");
    assert_eq!(free, sizes(&drawn), "the same plan each time");
    drawn.extent.size = Some(SizeSpec::Bytes(Bytes(3 << 20)));
    let bound = sizes(&drawn);
    assert_eq!(bound.iter().sum::<u64>(), 3 << 20);
    assert!(bound.len() < 40);
}

#[test]
fn an_offset_in_percent_is_rounded_up_to_its_alignment() {
    let known = [facts("f", TargetKind::File, 10 << 20)];
    let begins = |align| {
        let mut job = job(Op::Read);
        (job.extent.offset, job.extent.offset_align) = (SizeSpec::Percent(33), align);
        resolve(job, &known).unwrap().phases[0].workers[0]
            .stream
            .regions[0]
            .offset
    };
    let exact = (10 << 20) * 33 / 100;
    assert_eq!(begins(0), 4096 * (exact as u64).div_ceil(4096));
    assert_eq!(begins(1 << 20), 4 << 20);
}

/// As in fio, only the device decides whether it supports such sizes.
#[test]
fn bytes_of_any_number_go_with_direct_io() {
    let mut odd = job(Op::Read);
    odd.block_rules.unaligned = true;
    odd.files.direct = true;
    assert!(resolve(odd, &[facts("f", TargetKind::File, 1 << 20)]).is_ok());
}

/// If jobs that do not fit are skipped, as in the fio front end, a file that does not fit is still started.
#[test]
fn a_file_system_too_full_is_an_error_unless_jobs_are_left_out() {
    let mut job = job(Op::Write);
    job.extent.size = Some(SizeSpec::Bytes(Bytes(2 << 20)));
    let mut known = facts("f", TargetKind::Absent, 0);
    known.free = Some(Bytes(1 << 20));
    let refused = resolve(job.clone(), std::slice::from_ref(&known)).unwrap_err();
    assert!(matches!(refused, PlanError::NoSpace { .. }), "{refused}");
    let plan = Plan::resolve_what_fits(&scenario(job), &[("f".into(), known)].into()).unwrap();
    assert_eq!((plan.phases[0].workers.len(), plan.skipped.len()), (1, 0));
}

/// The largest I/O of a trace may be a trim of gigabytes, which needs no buffer of that size.
#[test]
fn trims_need_no_buffers_of_their_size() {
    let mut job = job(Op::Trim);
    job.block.trim = BlockSize::Fixed(Bytes(3 << 30));
    job.extent.size = None;
    let plan = resolve(job, &[facts("f", TargetKind::BlockDevice, 16 << 30)]).unwrap();
    assert_eq!(plan.phases[0].workers[0].max_block, 1 << 20);
}

#[test]
fn what_fits_is_planned_without_what_does_not() {
    let mut sizeless = job(Op::Read);
    sizeless.extent.size = None;
    let known = BTreeMap::from([("f".into(), facts("f", TargetKind::Absent, 0))]);
    let mut both = scenario(sizeless.clone());
    both.phases[0].jobs.push(job(Op::Read));
    let whole = Plan::resolve(&both, &known);
    assert!(matches!(whole, Err(PlanError::NoSize { .. })));
    let plan = Plan::resolve_what_fits(&both, &known).unwrap();
    let planned: Vec<_> = plan.phases[0].workers.iter().map(|w| w.job).collect();
    assert_eq!(planned, [1]);
    let skipped: Vec<_> = plan.skipped.iter().map(|s| (s.phase, s.job)).collect();
    assert_eq!(skipped, [(0, 0)]);
    let plan = Plan::resolve_what_fits(&scenario(sizeless), &known).unwrap();
    assert!(plan.phases[0].workers.is_empty());
    let error = &plan.skipped[0].error;
    assert!(matches!(error, PlanError::NoSize { .. }), "{error}");
}

#[test]
fn a_reader_that_fills_its_file_system_has_its_file_laid_out_so() {
    let mut reader = job(Op::Read);
    reader.extent.size = None;
    reader.files.fill_device = true;
    let plan = resolve(reader.clone(), &[facts("f", TargetKind::Absent, 0)]).unwrap();
    assert_eq!(plan.phases[0].files[0].lay_out, LayOut::Fill);
    assert!(
        plan.phases[0].files[0].size > Bytes(1 << 30),
        "more than is free"
    );
    let device = resolve(reader, &[facts("f", TargetKind::BlockDevice, 1 << 20)]).unwrap();
    assert_eq!(
        (
            device.phases[0].files[0].lay_out,
            device.phases[0].files[0].size
        ),
        (LayOut::Ready, Bytes(1 << 20))
    );
}

#[test]
fn the_effective_depth_is_iodepth_where_there_is_a_queue() {
    let mut deep = job(Op::Read);
    (deep.ioengine, deep.queue.iodepth) = (IoEngine::Psync, 8);
    assert_eq!(deep.effective_depth(), 1);
    deep.queue.offload = true;
    assert_eq!(deep.effective_depth(), 8, "threads submit for it");
    (deep.ioengine, deep.queue.offload) = (IoEngine::IoUring, false);
    assert_eq!(deep.effective_depth(), 8);
}

#[test]
fn percents_are_those_of_the_file_before_the_job_as_in_fio() {
    let region = |size: u64, change: &dyn Fn(&mut Job)| {
        let mut job = job(Op::Read);
        job.extent.filesize = Some(Bytes(512 << 10));
        change(&mut job);
        let kind = match size {
            0 => TargetKind::Absent,
            _ => TargetKind::File,
        };
        let plan = resolve(job, &[facts("f", kind, size)]).unwrap();
        let PhasePlan { files, workers, .. } = &plan.phases[0];
        (workers[0].stream.regions[0].offset, files[0].size.0)
    };
    let half = |job: &mut Job| {
        job.extent.size = Some(SizeSpec::Bytes(Bytes(40 << 10)));
        job.extent.offset = SizeSpec::Percent(50);
    };
    // A new file has no bytes to take 50% of; 50% of 100 KiB are rounded to whole blocks.
    assert_eq!(region(0, &half), (0, 512 << 10));
    assert_eq!(region(100 << 10, &half), (53_248, 512 << 10));
    // 33% of 512 KiB are 42 blocks and a part.
    let third = |job: &mut Job| job.extent.size = Some(SizeSpec::Percent(33));
    assert_eq!(region(0, &third).1, 172_032);
}

#[test]
fn a_job_that_begins_behind_the_end_of_its_file_is_left_out() {
    let mut late = job(Op::Write);
    (late.extent.filesize, late.extent.offset) =
        (Some(Bytes(1 << 20)), SizeSpec::Bytes(Bytes(2 << 20)));
    let known = BTreeMap::from([("f".into(), facts("f", TargetKind::Absent, 0))]);
    let plan = Plan::resolve_what_fits(&scenario(late), &known).unwrap();
    assert!(plan.phases[0].workers.is_empty());
    assert!(
        matches!(plan.skipped[0].error, PlanError::OffsetPastEnd { .. }),
        "{:?}",
        plan.skipped
    );
}

#[test]
fn holes_in_a_share_end_with_the_file_that_the_job_makes_as_in_fio() {
    // `fio --rw=read:8k --filesize=512k --size=50% --bs=20k`: 8 I/Os of a file of 245760 bytes, 9 of a longer one.
    let ios = |kind: TargetKind, size: u64| {
        let mut part = job(Op::Read).with_block(Bytes(20 << 10));
        part.extent.filesize = Some(Bytes(512 << 10));
        part.extent.size = Some(SizeSpec::Percent(50));
        part.access.stride = 8192;
        offsets(part, &[facts("f", kind, size)]).len()
    };
    assert_eq!(ios(TargetKind::Absent, 0), 8);
    assert_eq!(ios(TargetKind::File, 1 << 20), 9);
}

#[test]
fn a_part_in_percent_is_one_of_whole_blocks() {
    let mut part = job(Op::Read);
    part.block = PerOp::all(BlockSize::Fixed(Bytes(8192)));
    part.extent.filesize = Some(Bytes(300 << 10));
    part.extent.size = Some(SizeSpec::Percent(33));
    part.access.stride = 8192;
    let plan = resolve(part, &[facts("f", TargetKind::Absent, 0)]).unwrap();
    let stream = &plan.phases[0].workers[0].stream;
    assert_eq!(stream.limit_bytes, Some(98_304));
    assert_eq!(
        stream.regions[0].file_len, 98_304,
        "holes begin again behind the end of the file as it is made"
    );
}

#[test]
fn the_largest_block_need_not_fit() {
    let mut split = job(Op::Write);
    split.block = PerOp::all(BlockSize::Split(vec![
        (Bytes(4096), 50),
        (Bytes(65_536), 50),
    ]));
    split.extent.size = Some(SizeSpec::Bytes(Bytes(40 << 10)));
    let plan = resolve(split, &[facts("f", TargetKind::Absent, 0)]).unwrap();
    let bytes: u64 = plan.phases[0].workers[0]
        .stream
        .requests()
        .map(|r| u64::from(r.len))
        .sum();
    assert_eq!(bytes, 40 << 10);
}

/// fio does not flush reserved space before the measured time; on vfat that is the whole file in zeros.
#[test]
fn reserved_space_is_flushed_unless_a_job_says_otherwise() {
    let flushes = |job: Job| {
        resolve(job, &[facts("f", TargetKind::Absent, 0)])
            .unwrap()
            .phases[0]
            .files[0]
            .flush_reserved
    };
    assert!(flushes(job(Op::Write)));
    let mut as_fio = job(Op::Write);
    as_fio.files.reserve_unflushed = true;
    assert!(!flushes(as_fio));
}

#[test]
fn a_file_of_a_job_that_writes_zeros_is_laid_out_with_zeros() {
    let mut zeros = job(Op::Read);
    zeros.buffers.fill = crate::job::BufferContent::Zero;
    let plan = resolve(zeros, &[facts("f", TargetKind::Absent, 0)]).unwrap();
    assert!(plan.phases[0].files[0].zeros);
}

#[test]
fn the_last_block_of_a_part_is_whole_where_the_file_is_longer() {
    let ios = |kind, size: u64, random: bool| {
        let mut job = job(Op::Read);
        job.access.random = random;
        job.extent.filesize = Some(Bytes(100_001));
        job.extent.size = Some(SizeSpec::Bytes(Bytes(200_001)));
        let plan = resolve(job, &[facts("f", kind, size)]).unwrap();
        plan.phases[0].workers[0].stream.requests().count()
    };
    assert_eq!(ios(TargetKind::BlockDevice, 2 << 20, false), 25);
    assert_eq!(ios(TargetKind::File, 2 << 20, false), 25);
    assert_eq!(ios(TargetKind::Absent, 0, false), 24);
    assert_eq!(ios(TargetKind::BlockDevice, 2 << 20, true), 24);
}

/// A truncated file is laid out again, and its space is free again.
#[test]
fn files_emptied_before_their_phase_are_planned_as_empty() {
    let mut write = job(Op::Write);
    write.extent.size = Some(SizeSpec::Bytes(Bytes(2 << 20)));
    write.files.empty_first = true;
    write.timing.pause_before = Nanos(7);
    let mut known = facts("f", TargetKind::File, 2 << 20);
    known.free = Some(Bytes(0));
    let plan = Plan::resolve(&scenario(write), &[("f".into(), known)].into()).unwrap();
    let [phase] = &plan.phases[..] else { panic!() };
    assert!(phase.files[0].empty_first && phase.files[0].lay_out != LayOut::Ready);
    assert_eq!(phase.pause, Nanos(7));
}

/// fio 3.33 with `--rw=write --size=64k --offset=16k` on a file of 32 KiB: the first 16 KiB are zeros afterwards. With
/// `--overwrite=1`, `--file_append=1`, `--rw=randrw`, `--create_on_open=1` or `--size=16k` they keep their data.
#[test]
fn a_file_that_is_extended_and_not_read_is_emptied_as_in_fio() {
    let empties = |change: &dyn Fn(&mut Job)| {
        let mut job = job(Op::Write);
        job.extent.size = Some(SizeSpec::Bytes(Bytes(64 << 10)));
        job.extent.offset = SizeSpec::Bytes(Bytes(16 << 10));
        job.files.empties_reserved = true;
        change(&mut job);
        let plan = resolve(job, &[facts("f", TargetKind::File, 32 << 10)]).unwrap();
        plan.phases[0].files[0].empty_first
    };
    assert!(empties(&|_| ()));
    assert!(!empties(&|job| job.files.empties_reserved = false));
    assert!(!empties(&|job| job.files.overwrite = true));
    assert!(!empties(&|job| job.files.append = true));
    assert!(!empties(&|job| job.files.create_on_open = true));
    assert!(!empties(&|job| job.access = Access::mixed(50, true)));
    assert!(!empties(
        &|job| job.extent.size = Some(SizeSpec::Bytes(Bytes(16 << 10)))
    ));
}

/// fio 3.33: `--rw=write --size=16k --filesize=256k --bs=64k` fails with `size too small`, and `--bs=64k,64k,16k` does not.
#[test]
fn a_size_below_the_smallest_block_of_any_operation_is_refused_as_in_fio() {
    for (trim, refused) in [(64 << 10, true), (16 << 10, false)] {
        let mut job = job(Op::Write).with_block(Bytes(64 << 10));
        job.block.trim = BlockSize::Fixed(Bytes(trim));
        job.extent.filesize = Some(Bytes(256 << 10));
        job.extent.size = Some(SizeSpec::Bytes(Bytes(16 << 10)));
        let plan = resolve(job, &[facts("f", TargetKind::Absent, 0)]);
        let too_small = matches!(
            plan,
            Err(PlanError::TooSmall {
                room: Bytes(16384),
                ..
            })
        );
        assert_eq!(too_small, refused, "{trim}");
    }
}

#[test]
fn create_only_lays_files_out_and_issues_nothing() {
    let mut read = job(Op::Read);
    read.extent.size = Some(SizeSpec::Bytes(Bytes(2 << 20)));
    read.timing.ramp_time = Nanos(9);
    read.files.create_only = true;
    let known = facts("f", TargetKind::Absent, 0);
    let plan = Plan::resolve(&scenario(read), &[("f".into(), known)].into()).unwrap();
    let worker = &plan.phases[0].workers[0];
    let limits = (worker.stream.limit_bytes, worker.stream.limit_ios);
    assert_eq!((limits, worker.ramp_time), ((Some(0), Some(0)), Nanos(0)));
    assert!(matches!(plan.phases[0].files[0].lay_out, LayOut::Write(_)));
}

/// Returns a function that measures how long planning a job of `count` files takes.
fn planning_time(count: u32) -> impl Fn() -> std::time::Duration {
    let known: Vec<TargetFacts> = (0..count)
        .map(|file| facts(&format!("dir/f.{file}"), TargetKind::File, 4096))
        .collect();
    let mut job = job(Op::Read);
    job.target = Target::Paths(known.iter().map(|facts| facts.path.clone()).collect());
    job.extent.size = None;
    job.extent.filesize = Some(Bytes(4096));
    job = job.with_block(Bytes(4096));
    move || {
        let begun = std::time::Instant::now();
        let plan = resolve(job.clone(), &known).unwrap();
        assert_eq!(plan.phases[0].files.len(), count as usize);
        begun.elapsed()
    }
}

#[test]
fn planning_time_grows_in_proportion_to_the_files() {
    // Neither fits into the caches of a CPU, which other programs may use.
    let (few, many) = (planning_time(4_000), planning_time(32_000));
    // A busy host delays most rounds; in enough of them, one of each kind is not delayed.
    let mut least = [std::time::Duration::MAX; 2];
    for _ in 0..50 {
        least = [least[0].min(few()), least[1].min(many())];
        // 8 times the files take 8 times as long, and 64 times with a search through all files for each.
        if least[1] < least[0] * 32 {
            return;
        }
    }
    panic!("{:?} and {:?}", least[0], least[1]);
}
