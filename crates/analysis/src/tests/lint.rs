//! Limits of the checks of jobs, and of jobs that ended before their runtime.

use crate::summarize::{SHORT, SMALL_FILE};
use crate::testing::{sound, write_run};
use crate::{ended_early, lint};
use hakaru_model::job::{
    Access, BufferContent, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target,
};
use hakaru_model::lint::LintWarning;
use hakaru_model::record::RunRecord;
use hakaru_model::units::{Bytes, Nanos};

/// Returns a run whose worker "write" ended after `runtime`.
fn ended(runtime: Nanos, read: u64, written: u64) -> RunRecord {
    let mut run = write_run(0, 30e6, 1);
    let worker = &mut run.phases[0].workers[0];
    worker.runtime = runtime;
    (worker.ops.read.bytes, worker.ops.write.bytes) = (read, written);
    run
}

fn is_early(run: &RunRecord) -> bool {
    ended_early(run, "write", Nanos::from_secs(100), Bytes(10_000))
}

#[test]
fn a_job_ends_early_below_99_percent_of_time_with_99_of_size() {
    let s = Nanos::from_secs;
    let cases = [
        (s(50), 0, 10_000, true),
        (s(50), 5_000, 4_900, true),
        (s(50), 0, 9_899, false),
        (s(50), 0, 5_000, false),
        (s(50), 0, 0, false),
        (s(98), 10_000, 0, true),
        (Nanos(s(99).0 - 1), 0, 10_000, true),
        (s(99), 0, 10_000, false),
        (s(100), 0, 10_000, false),
        // A time of 0 is unknown.
        (s(0), 0, 10_000, false),
        (Nanos(1), 0, 10_000, true),
        (s(50), u64::MAX, u64::MAX, true),
    ];
    for (runtime, read, written, early) in cases {
        let run = ended(runtime, read, written);
        assert_eq!(is_early(&run), early, "{runtime:?} {read} {written}");
    }
}

#[test]
fn only_workers_of_the_job_show_that_it_ended_early() {
    let run = ended(Nanos::from_secs(50), 0, 10_000);
    let late = ended(Nanos::from_secs(100), 0, 10_000);
    assert!(!ended_early(
        &run,
        "other",
        Nanos::from_secs(100),
        Bytes(10_000)
    ));
    // One of several workers and phases is enough.
    let mut several = late.clone();
    let worker = run.phases[0].workers[0].clone();
    several.phases[0].workers.push(worker.clone());
    assert!(is_early(&several));
    several.phases[0].workers[1].name = "other".into();
    assert!(!is_early(&several));
    several.phases.push(run.phases[0].clone());
    assert!(is_early(&several));
}

fn warnings(jobs: &[Job]) -> Vec<LintWarning> {
    let phase = |job: &Job| Phase {
        name: job.name.clone(),
        jobs: vec![job.clone()],
    };
    let scenario = Scenario {
        name: "t".into(),
        seed: 0,
        phases: jobs.iter().map(phase).collect(),
    };
    let found = lint(&scenario, Some(Bytes(8 << 30)));
    found.into_iter().map(|found| found.slip).collect()
}

fn of_changed(op: Op, change: impl Fn(&mut Job)) -> Vec<LintWarning> {
    let mut job = sound(op);
    change(&mut job);
    warnings(&[job])
}

#[test]
fn files_below_one_gib_of_all_clones_are_small() {
    let apart = SizeSpec::Bytes(Bytes(SMALL_FILE.0));
    for (size, clones, expected) in [
        (SMALL_FILE.0 - 1, 1, Some(SMALL_FILE.0 - 1)),
        (SMALL_FILE.0, 1, None),
        (SMALL_FILE.0 + 1, 1, None),
        (SMALL_FILE.0 / 4 - 1, 4, Some(SMALL_FILE.0 - 4)),
        (SMALL_FILE.0 / 4, 4, None),
    ] {
        let change = |job: &mut Job| {
            job.extent.size = Some(SizeSpec::Bytes(Bytes(size)));
            (job.numjobs, job.extent.offset_increment) = (clones, apart);
        };
        let small = expected.map(|size| LintWarning::SmallFile { size: Bytes(size) });
        let expected: Vec<LintWarning> = small.into_iter().collect();
        assert_eq!(of_changed(Op::Write, change), expected, "{size}");
        assert_eq!(of_changed(Op::Read, change), [], "reads of {size}");
    }
}

#[test]
fn runtimes_below_the_minimum_are_short() {
    let cases = [(SHORT.0 - 1, true), (SHORT.0, false), (SHORT.0 + 1, false)];
    for (runtime, is_short) in cases {
        let runtime = Nanos(runtime);
        let found = of_changed(Op::Read, |job| job.timing.runtime = Some(runtime));
        let wanted = SHORT;
        let short = LintWarning::Short { runtime, wanted };
        assert_eq!(found.contains(&short), is_short, "{runtime:?}");
        assert_eq!(found.len(), usize::from(is_short));
    }
}

#[test]
fn data_that_compresses_by_nine_tenths_is_easy() {
    let cases = [
        (Op::Write, BufferContent::Zero, false, true),
        (Op::Write, BufferContent::Compressible(90), false, true),
        (Op::Write, BufferContent::Compressible(89), false, false),
        (Op::Write, BufferContent::Compressible(100), false, true),
        (Op::Write, BufferContent::Compressible(90), true, false),
        (Op::Write, BufferContent::Random, false, false),
        (Op::Read, BufferContent::Zero, false, false),
    ];
    for (op, fill, refill, is_easy) in cases {
        let found = of_changed(op, |job| {
            (job.buffers.fill, job.buffers.refill) = (fill.clone(), refill);
        });
        let easy = found.contains(&LintWarning::Compressible);
        assert_eq!(easy, is_easy, "{op:?} {fill:?} {refill}");
    }
}

#[test]
fn sequential_clones_of_one_file_access_the_same_blocks() {
    type Change = fn(&mut Job);
    let cases: [(Change, bool); 6] = [
        (|_| {}, true),
        (|job| job.numjobs = 1, false),
        (|job| job.access.random = true, false),
        (
            |job| job.extent.offset_increment = SizeSpec::Bytes(Bytes(1)),
            false,
        ),
        (
            |job| job.target = Target::Paths(vec!["f".into(), "g".into()]),
            false,
        ),
        (|job| job.ioengine = IoEngine::Null, false),
    ];
    for (nth, (change, same)) in cases.iter().enumerate() {
        let found = of_changed(Op::Read, |job| {
            (job.numjobs, job.access.random) = (2, false);
            change(job);
        });
        let expected = LintWarning::SameBlocks { clones: 2 };
        assert_eq!(found.contains(&expected), *same, "case {nth}");
    }
}

#[test]
fn only_cached_data_of_an_earlier_job_is_read_back() {
    type Change = fn(&mut Job, &mut Job);
    let cases: [(Change, bool); 9] = [
        (|_, _| {}, true),
        (|_, reader| reader.files.direct = true, false),
        (|writer, _| writer.files.direct = true, false),
        (|_, reader| reader.ioengine = IoEngine::Null, false),
        (
            |_, reader| reader.access = Access::only(Op::Write, true),
            false,
        ),
        (|writer, _| writer.durability.end_fsync = true, false),
        (
            |writer, reader| {
                (writer.durability.end_fsync, reader.files.invalidate) = (true, false);
            },
            true,
        ),
        (|_, reader| reader.files.invalidate = false, true),
        (
            |writer, _| writer.target = Target::Paths(vec!["g".into()]),
            false,
        ),
    ];
    for (nth, (change, read_back)) in cases.iter().enumerate() {
        let (mut writer, mut reader) = (sound(Op::Write), sound(Op::Read));
        writer.name = "w".into();
        (writer.files.direct, reader.files.direct) = (false, false);
        change(&mut writer, &mut reader);
        let expected = LintWarning::ReadsBack { writer: "w".into() };
        let found = warnings(&[writer, reader]);
        assert_eq!(found.contains(&expected), *read_back, "case {nth}");
    }
}

#[test]
fn the_last_writer_of_the_data_is_named() {
    let named = |name: &str, file: &str| {
        let mut job = sound(Op::Write);
        job.name = name.into();
        job.files.direct = false;
        job.target = Target::Paths(vec![file.into()]);
        job
    };
    let mut reader = sound(Op::Read);
    reader.files.direct = false;
    let jobs = [
        named("first", "f"),
        named("second", "f"),
        named("elsewhere", "g"),
        reader,
    ];
    let writers: Vec<String> = warnings(&jobs)
        .into_iter()
        .filter_map(|warning| match warning {
            LintWarning::ReadsBack { writer } => Some(writer),
            _ => None,
        })
        .collect();
    assert_eq!(writers, ["second"]);
}

#[test]
fn a_single_clone_shares_its_blocks_with_none() {
    let alone = |job: &mut Job| (job.numjobs, job.access.random) = (1, false);
    assert_eq!(of_changed(Op::Read, alone), []);
    assert_eq!(of_changed(Op::Write, alone), []);
}

/// Linux native I/O through the cache completes in the call, so a queue depth above 1 has no effect.
#[test]
fn only_buffered_libaio_loses_its_queue_depth() {
    let file = Target::Paths(vec!["f".into()]);
    let cases = [
        (IoEngine::Libaio, false, 1, file.clone(), false),
        (IoEngine::Libaio, false, 2, file.clone(), true),
        (IoEngine::Libaio, false, 64, file.clone(), true),
        (IoEngine::Libaio, true, 1, file.clone(), false),
        (IoEngine::Libaio, true, 64, file.clone(), false),
        (IoEngine::Libaio, false, 64, Target::Nothing, false),
        (IoEngine::IoUring, false, 64, file.clone(), false),
        (IoEngine::IoUring, true, 64, file, false),
    ];
    for (engine, direct, asked, target, is_lost) in cases {
        let found = of_changed(Op::Read, |job| {
            (job.ioengine, job.files.direct, job.queue.iodepth) = (engine, direct, asked);
            job.target = target.clone();
        });
        let lost = found.iter().filter(|of| {
            matches!(
                of,
                LintWarning::DepthBuffered { .. } | LintWarning::DepthIgnored { .. }
            )
        });
        let lost: Vec<&LintWarning> = lost.collect();
        let expected = LintWarning::DepthBuffered { asked };
        let expected: Vec<&LintWarning> = is_lost.then_some(&expected).into_iter().collect();
        assert_eq!(lost, expected, "{engine:?} {direct} {asked}");
    }
}

/// The host of these checks has 8 GiB.
#[test]
fn a_file_fits_in_memory_if_it_is_smaller() {
    let memory = Bytes(8 << 30);
    for (size, fits) in [
        (memory.0 - 1, true),
        (memory.0, false),
        (memory.0 + 1, false),
    ] {
        let size = Bytes(size);
        let found = of_changed(Op::Read, |job| {
            job.files.direct = false;
            job.extent.size = Some(SizeSpec::Bytes(size));
        });
        let odd_block = None;
        let expected = match fits {
            true => LintWarning::FitsInMemory {
                size,
                memory,
                odd_block,
            },
            false => LintWarning::Buffered { odd_block },
        };
        assert_eq!(found, [expected]);
    }
}
