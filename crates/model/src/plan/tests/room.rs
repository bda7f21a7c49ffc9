//! Tests of blocks and parts of files that do not fit, as observed of fio 3.33.

use super::*;

/// Resolves a job as fio's front end does.
fn resolve_fio(job: Job, known: &[TargetFacts]) -> Result<Plan, PlanError> {
    let facts = known.iter().map(|f| (f.path.clone(), f.clone())).collect();
    Plan::resolve_what_fits(&scenario(job), &facts)
}

/// A job of files `0`, `1` and so on that do not exist, with blocks and sizes in KiB.
fn on_files(count: usize, block: u64, size: u64) -> (Job, Vec<TargetFacts>) {
    let names: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    let mut job = job(Op::Read).with_block(Bytes(block << 10));
    job.target = Target::Paths(names.iter().map(Into::into).collect());
    job.extent.size = Some(SizeSpec::Bytes(Bytes(size << 10)));
    let known = names.iter().map(|name| facts(name, TargetKind::Absent, 0));
    (job, known.collect())
}

fn requests(plan: &Plan) -> Vec<u32> {
    let requests = plan.phases[0].workers[0].stream.requests();
    requests.map(|r| r.region).collect()
}

#[test]
fn a_job_whose_files_are_below_a_block_does_no_io_as_in_fio() {
    // `--rw=read --nrfiles=5 --size=64k --bs=16k`, also with gaps, with loops, and random: five files, no I/O, exit 0.
    for (random, stride, loops) in [(false, 0, 1), (false, -8192, 2), (true, 0, 1)] {
        let (mut job, known) = on_files(5, 16, 64);
        (job.access.random, job.access.stride) = (random, stride);
        job.extent.loops = loops;
        let plan = resolve_fio(job.clone(), &known).unwrap();
        assert!(requests(&plan).is_empty());
        assert!(
            plan.phases[0]
                .files
                .iter()
                .all(|file| file.size == Bytes(13_107))
        );
        assert_eq!(plan.phases[0].files.len(), 5);
        let native = resolve(job, &known);
        assert!(
            matches!(native, Err(PlanError::TooSmall { .. })),
            "{native:?}"
        );
    }
    // The second file exists with 100 KiB: `--nrfiles=2 --size=60k --bs=32k` reads 32 KiB of it.
    let (job, mut known) = on_files(2, 32, 120);
    (known[1].kind, known[1].size) = (TargetKind::File, Bytes(100 << 10));
    let mut uneven = job;
    uneven.extent.size = None;
    (known[0].kind, known[0].size) = (TargetKind::File, Bytes(30 << 10));
    let plan = resolve_fio(uneven, &known).unwrap();
    let drawn = plan.phases[0].workers[0].stream.requests();
    assert!(
        drawn
            .clone()
            .all(|r| plan.phases[0].workers[0].stream.regions[r.region as usize].file == 1)
    );
    assert_eq!(drawn.count(), 3);
}

#[test]
fn a_block_larger_than_all_files_together_leaves_the_job_out_as_in_fio() {
    // `--rw=read --filesize=100k --offset=50k --bs=64k`: `blocksize is larger than data set range`, a result without
    // I/O, exit 1, no file. With `--nrfiles=2`, there is no I/O and no error.
    for (files, refused) in [(1, true), (2, false)] {
        let (mut job, known) = on_files(files, 64, 200);
        job.extent.filesize = Some(Bytes(100 << 10));
        job.extent.offset = SizeSpec::Bytes(Bytes(50 << 10));
        let plan = resolve_fio(job, &known).unwrap();
        let wrong = plan.skipped.iter().map(|skipped| &skipped.error);
        let wrong = wrong.filter(|error| matches!(error, PlanError::BlockTooLarge { .. }));
        assert_eq!(wrong.count(), usize::from(refused));
        assert_eq!(plan.phases[0].files.is_empty(), refused);
    }
    // `--bs=64k --size=16k` is refused; with `--bs=64k,4k`, a job that reads does no I/O.
    let (mut job, known) = on_files(1, 64, 16);
    let refused = resolve_fio(job.clone(), &known);
    assert!(
        matches!(refused, Err(PlanError::TooSmall { .. })),
        "{refused:?}"
    );
    job.block.write = BlockSize::Fixed(Bytes(4096));
    assert!(requests(&resolve_fio(job, &known).unwrap()).is_empty());
}

#[test]
fn a_part_in_percent_of_a_file_that_is_appended_to_begins_at_its_end_as_in_fio() {
    // `--rw=write --file_append=1 --filesize=100k --size=50% --bs=4k`: twelve blocks, from the end of the file on.
    for (before, first, count, end) in [(0, 0, 12, 48), (10, 10, 12, 58), (60, 60, 10, 100)] {
        let mut job = job(Op::Write).with_block(Bytes(4096));
        job.files.append = true;
        job.extent.filesize = Some(Bytes(100 << 10));
        job.extent.size = Some(SizeSpec::Percent(50));
        let kind = if before > 0 {
            TargetKind::File
        } else {
            TargetKind::Absent
        };
        let file = [facts("f", kind, before << 10)];
        let size = resolve(job.clone(), &file).unwrap().phases[0].files[0].size;
        let drawn = offsets(job, &file);
        assert_eq!((drawn[0], drawn.len()), ((0, first), count));
        assert_eq!(size, Bytes(end << 10));
    }
}

/// fio finds the block that mmap cannot use only after it has laid out the file.
#[test]
fn a_block_that_mmap_cannot_use_is_refused_after_the_layout() {
    let (mut mapped, known) = on_files(1, 3, 64);
    mapped.engine.block_unit = 4096;
    let plan = resolve_fio(mapped, &known).unwrap();
    let [skipped] = &plan.skipped[..] else {
        panic!("one job is skipped: {:?}", plan.skipped);
    };
    assert!(matches!(skipped.error, PlanError::OddBlock { .. }));
    assert!(plan.phases[0].workers.is_empty());
    assert_eq!(plan.phases[0].files.len(), 1);
}
