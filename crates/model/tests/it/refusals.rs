//! Tests of scenarios that cannot be planned, and of the errors.

use crate::cases;
use crate::generate::scenario_of;
use crate::plans::{BLOCK, all_of, bytes, job, job as job_of, new_file, workers};
use hakaru_model::facts::TargetKind;
use hakaru_model::job::rules::FileLock;
use hakaru_model::job::{BlockSize, IoEngine, Job, Op, PerOp, Scenario};
use hakaru_model::plan::{Facts, Plan, PlanError};
use hakaru_model::units::Bytes;
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn a_number_that_cannot_be_is_an_error_with_its_option(which in 0usize..5, large: bool) {
        let mut job = job(Op::Read, false, 1);
        job.extent.size = Some(bytes(1 << 20));
        let option = match which {
            0 => { job.numjobs = if large { 4097 } else { 0 }; "numjobs" }
            1 => { job.queue.iodepth = if large { 32_769 } else { 0 }; "iodepth" }
            2 => { job.extent.loops = 0; "loops" }
            3 => { job.access.run_length = 0; "rw" }
            _ => { job.access.mix.write = if large { 100 } else { 1 }; "rwmixread" }
        };
        match workers(&job, new_file) {
            Err(PlanError::BadValue { option: named, .. }) => prop_assert_eq!(named, option),
            other => prop_assert!(false, "{other:?}"),
        }
        for size in [0, (1 << 30) + 1] {
            job = Job { block: PerOp::all(BlockSize::Fixed(Bytes(size))), ..job_of(Op::Read, false, 1) };
            let refused = workers(&job, new_file);
            prop_assert!(matches!(refused, Err(PlanError::BadBlock { .. })), "{refused:?}");
        }
    }
}

#[test]
fn a_scenario_without_jobs_is_an_error() {
    for phases in [0, 2] {
        let mut scenario = scenario_of(Vec::new(), 1);
        scenario.phases = vec![scenario.phases[0].clone(); phases];
        let refused = Plan::resolve(&scenario, &Facts::new());
        assert!(
            matches!(refused, Err(PlanError::NoJobs { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn a_file_that_is_full_cannot_be_appended_to() {
    // `--filesize=4k --file_append=1` on a file of 8 KiB: fio 3.33 reports an invalid offset.
    let mut job = job(Op::Write, false, 1);
    job.files.append = true;
    for (filesize, there, fits) in [(1, 2, false), (2, 2, false), (4, 2, true)] {
        job.extent.filesize = Some(Bytes(filesize * BLOCK));
        let file = |scenario: &Scenario| all_of(scenario, TargetKind::File, there * BLOCK);
        match workers(&job, file) {
            Ok(workers) => {
                let region = workers[0].stream.regions[0];
                let rest = (filesize - there) * BLOCK;
                assert_eq!((region.offset, region.len), (there * BLOCK, rest));
                assert!(fits);
            }
            Err(PlanError::OffsetPastEnd { .. }) => assert!(!fits),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_path_that_nobody_looked_at_is_an_error() {
    let refused = workers(&job(Op::Read, false, 1), |_| Facts::new());
    assert!(
        matches!(refused, Err(PlanError::NoFacts { .. })),
        "{refused:?}"
    );
}

/// Checks that the message about engines that a job cannot use names those that it can use.
fn assert_names_the_accepted_engines(option: &str, set: impl Fn(&mut Job)) {
    let mut accepted = Vec::new();
    let mut messages = Vec::new();
    for &engine in IoEngine::ALL {
        let mut job = job(Op::Write, false, 1);
        job.ioengine = engine;
        set(&mut job);
        match workers(&job, new_file) {
            Err(PlanError::BadValue {
                option: named, why, ..
            }) if named == option => messages.push(why.to_string()),
            // These engines are refused for another reason.
            _ if engine.works_on_names() => (),
            _ => accepted.push(engine.name()),
        }
    }
    assert!(!messages.is_empty(), "{option}");
    for message in messages {
        let words: Vec<&str> = message
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .collect();
        for engine in IoEngine::ALL {
            let is_named = words.contains(&engine.name());
            let is_accepted = accepted.contains(&engine.name());
            assert_eq!(is_named, is_accepted, "{option}, {engine:?}: {message}");
        }
    }
}

#[test]
fn a_message_about_engines_names_those_that_are_accepted() {
    assert_names_the_accepted_engines("io_submit_mode", |job| job.queue.offload = true);
    assert_names_the_accepted_engines("lockfile", |job| job.files.lock = FileLock::Exclusive);
    assert_names_the_accepted_engines("unlink_each_loop", |job| job.files.unlink_each_loop = true);
}
