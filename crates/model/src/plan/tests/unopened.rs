//! Tests of files that a job with `ioengine=null` never opens, and of parts that are too small for a block, as observed of
//! fio 3.33.

use super::*;
use crate::replay::{Trace, TraceAction, TraceStep};
use crate::request::IoRequest;
use std::sync::Arc;

/// Resolves a job as fio's front end does.
fn resolve_fio(job: Job, known: &[TargetFacts]) -> Result<Plan, PlanError> {
    let facts = known.iter().map(|f| (f.path.clone(), f.clone())).collect();
    Plan::resolve_what_fits(&scenario(job), &facts)
}

/// A sequential job without files, with blocks and sizes in KiB.
fn unopened(block: u64, filesize: Option<u64>, size: Option<u64>) -> Job {
    let mut job = job(Op::Read).with_block(Bytes(block << 10));
    (job.target, job.ioengine) = (Target::Nothing, IoEngine::Null);
    job.extent.filesize = filesize.map(|kib| Bytes(kib << 10));
    job.extent.size = size.map(|kib| SizeSpec::Bytes(Bytes(kib << 10)));
    job
}

/// A job that reads whole files in blocks of this size in KiB, and files of these sizes in KiB.
fn whole_files(block: u64, sizes: &[u64]) -> (Job, Vec<TargetFacts>) {
    let mut job = job(Op::Read).with_block(Bytes(block << 10));
    job.extent.size = None;
    let names = || (0..sizes.len()).map(|number| number.to_string());
    job.target = Target::Paths(names().map(Into::into).collect());
    let file = |(name, size): (String, &u64)| facts(&name, TargetKind::File, size << 10);
    (job, names().zip(sizes).map(file).collect())
}

/// Whether a plan has a worker that does no I/O.
fn does_nothing(plan: &Plan) -> bool {
    let [worker] = &plan.phases[0].workers[..] else {
        return false;
    };
    let limits = (worker.stream.limit_bytes, worker.stream.limit_ios);
    limits == (Some(0), Some(0)) && worker.ramp_time == Nanos(0)
}

fn skips_too_large_a_block(plan: &Plan) -> bool {
    let error = plan.skipped.first().map(|skipped| &skipped.error);
    matches!(error, Some(PlanError::BlockTooLarge { .. })) && plan.phases[0].workers.is_empty()
}

#[test]
fn null_ends_with_the_last_block_of_a_device_as_in_fio() {
    // `fio --ioengine=null --filename=/dev/loop0 --rw=read --bs=16k --filesize=FILESIZE --size=SIZE`
    for (filesize, size, ios) in [
        (100, 100, 6),
        (100, 256, 7),
        (100, 300, 7),
        (1024, 100, 6),
        (1024, 256, 16),
        (1024, 300, 18),
    ] {
        let mut job = unopened(16, Some(filesize), Some(size));
        job.files.unopened = vec!["/dev/loop0".into()];
        let device = facts("/dev/loop0", TargetKind::BlockDevice, 1 << 20);
        let line: Vec<_> = (0..ios).map(|block| (0, 16 * block)).collect();
        assert_eq!(offsets(job, &[device]), line, "{filesize} {size}");
    }
}

#[test]
fn a_share_in_percent_of_null_has_all_its_blocks_as_in_fio() {
    // `fio --ioengine=null --rw=read --bs=4k --filesize=400k --size=50%`
    let mut half = unopened(4, Some(400), None);
    half.extent.size = Some(SizeSpec::Percent(50));
    let line: Vec<_> = (0..50).map(|block| (0, 4 * block)).collect();
    assert_eq!(offsets(half, &[]), line);
}

#[test]
fn null_without_a_size_has_no_offset_in_percent_as_in_fio() {
    // `fio --ioengine=null --offset=10% --number_ios=4` fails, also with `--offset_increment=10%`.
    let ten = SizeSpec::Percent(10);
    let none = SizeSpec::Percent(0);
    for (offset, increment, refused) in [
        (ten, none, true),
        (none, ten, true),
        (ten, ten, true),
        (none, none, false),
    ] {
        let mut job = unopened(4, None, None);
        job.extent.number_ios = Some(4);
        (job.extent.offset, job.extent.offset_increment) = (offset, increment);
        match resolve(job, &[]) {
            Ok(plan) => {
                assert!(!refused, "{offset:?} {increment:?}");
                assert_eq!(plan.phases[0].workers[0].stream.requests().count(), 4);
            }
            Err(error) => {
                assert!(
                    refused && matches!(error, PlanError::OffsetPastEnd { .. }),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn null_files_below_a_block_are_refused_except_as_in_fio() {
    // `fio --ioengine=null --rw=read --bs=16k --nrfiles=5 --size=64k`: no I/O, exit 0.
    let mut job = unopened(16, None, Some(64));
    job.files.unopened = (0..5).map(|n| format!("j.$jobnum.{n}")).collect();
    let plan = resolve_fio(job.clone(), &[]).unwrap();
    assert!(does_nothing(&plan) && plan.skipped.is_empty());
    let native = resolve(job, &[]);
    assert!(
        matches!(native, Err(PlanError::TooSmall { .. })),
        "{native:?}"
    );
}

#[test]
fn a_job_whose_files_are_all_below_a_block_takes_no_time() {
    let (mut job, known) = whole_files(16, &[12, 13, 15]);
    job.timing.runtime = Some(Nanos::SECOND);
    (job.timing.time_based, job.timing.ramp_time) = (true, Nanos(9));
    let plan = resolve_fio(job, &known).unwrap();
    assert!(does_nothing(&plan), "{:?}", plan.phases[0].workers);
    assert_eq!(plan.phases[0].workers[0].stream.requests().count(), 0);
}

#[test]
fn only_files_with_room_for_a_block_are_used() {
    let (job, known) = whole_files(32, &[30, 100, 20, 64]);
    let plan = resolve_fio(job, &known).unwrap();
    let stream = &plan.phases[0].workers[0].stream;
    let used = stream.regions.iter().map(|region| region.file);
    assert_eq!(used.collect::<Vec<_>>(), [1, 3]);
    assert_eq!(stream.requests().count(), 5);
}

#[test]
fn a_block_may_be_as_large_as_all_files_together_as_in_fio() {
    // `fio --rw=read --bs=64k` on two files: 30k and 34k make no I/O and no error, 30k and 33k are refused.
    let (job, known) = whole_files(64, &[30, 34]);
    let plan = resolve_fio(job, &known).unwrap();
    assert!(does_nothing(&plan) && plan.skipped.is_empty());
    let (job, known) = whole_files(64, &[30, 33]);
    assert!(skips_too_large_a_block(&resolve_fio(job, &known).unwrap()));
}

#[test]
fn a_part_is_too_small_even_where_its_last_block_would_fit() {
    // `fio --rw=read --bs=64k --filesize=100k --offset=50k` on a file of 1 MiB: `blocksize is larger than data set range`.
    let (mut job, known) = whole_files(64, &[1024]);
    job.extent.filesize = Some(Bytes(100 << 10));
    job.extent.offset = SizeSpec::Bytes(Bytes(50 << 10));
    assert!(skips_too_large_a_block(&resolve_fio(job, &known).unwrap()));
}

#[test]
fn a_replay_does_its_io_whatever_the_block_size() {
    let (mut job, known) = whole_files(64, &[0]);
    let request = IoRequest {
        op: Op::Read,
        region: 0,
        offset: 0,
        len: 512,
    };
    let step = TraceStep {
        at: Nanos(0),
        action: TraceAction::Io(request),
    };
    job.replay.traces = vec![Arc::new(Trace {
        files: vec!["0".into()],
        steps: vec![step],
    })];
    let plan = resolve_fio(job, &known).unwrap();
    assert!(plan.skipped.is_empty(), "{:?}", plan.skipped);
    let stream = &plan.phases[0].workers[0].stream;
    assert_eq!((stream.regions.len(), stream.regions[0].len), (1, 512));
    assert_ne!(stream.limit_bytes, Some(0));
}
