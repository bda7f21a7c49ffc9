//! Tests of the files of a plan: which paths an engine can use, what jobs that share a file need of it, and the jobs
//! that are skipped.

use crate::generate::scenario_of;
use crate::plans::{all_of, bytes, job, new_file, workers};
use hakaru_model::facts::TargetKind;
use hakaru_model::job::{Access, IoEngine, Job, Op, SizeSpec, Target};
use hakaru_model::plan::{FilePlan, LayOut, Plan, PlanError};
use std::path::PathBuf;

/// Returns a job that uses 1 MiB of a file with any engine.
fn with_engine(ioengine: IoEngine, op: Op) -> Job {
    let mut job = job(op, false, 1);
    job.ioengine = ioengine;
    job.extent.size = Some(bytes(1 << 20));
    job
}

/// Returns the result of planning a job whose path is of a type, as a short text.
fn outcome(job: &Job, kind: TargetKind) -> &'static str {
    let size = match kind {
        TargetKind::Absent | TargetKind::Directory | TargetKind::Other => 0,
        _ => 1 << 20,
    };
    match workers(job, |scenario| all_of(scenario, kind, size)) {
        Ok(_) => "planned",
        Err(PlanError::NotMeasurable { what, .. }) => what,
        Err(PlanError::MayNotCreate { .. }) => "may not create",
        Err(PlanError::Missing { .. }) => "missing",
        Err(error) => panic!("{error}"),
    }
}

/// Returns the only file of jobs that run at the same time.
fn shared_file(jobs: Vec<Job>, kind: TargetKind) -> FilePlan {
    let scenario = scenario_of(jobs, 1);
    let mut plan = Plan::resolve(&scenario, &all_of(&scenario, kind, 0)).unwrap();
    assert_eq!(plan.phases[0].files.len(), 1);
    plan.phases[0].files.remove(0)
}

#[test]
fn directories_are_for_engines_that_work_on_them() {
    use IoEngine::*;
    for engine in [Psync, Libaio, IoUring, Mmap, Filestat, Filecreate, Falloc] {
        let job = with_engine(engine, Op::Read);
        let planned = outcome(&job, TargetKind::Directory);
        assert_eq!(planned, "directory", "{engine:?}");
    }
    for engine in [Dircreate, Dirstat, Dirdelete] {
        let job = with_engine(engine, Op::Read);
        for kind in [TargetKind::Directory, TargetKind::Absent] {
            assert_eq!(outcome(&job, kind), "planned", "{engine:?} {kind:?}");
        }
    }
}

#[test]
fn a_missing_file_is_an_error_if_it_may_not_be_created() {
    for op in [Op::Read, Op::Write] {
        let mut job = with_engine(IoEngine::Psync, op);
        assert_eq!(outcome(&job, TargetKind::Absent), "planned", "{op:?}");
        job.files.allow_create = false;
        let refused = outcome(&job, TargetKind::Absent);
        assert_eq!(refused, "may not create", "{op:?}");
        assert_eq!(outcome(&job, TargetKind::File), "planned", "{op:?}");
    }
}

#[test]
fn a_job_that_refuses_writes_creates_no_file() {
    for engine in [IoEngine::Psync, IoEngine::Libaio, IoEngine::Filestat] {
        let mut job = with_engine(engine, Op::Read);
        job.files.read_only = true;
        assert_eq!(outcome(&job, TargetKind::Absent), "missing", "{engine:?}");
        assert_eq!(outcome(&job, TargetKind::File), "planned", "{engine:?}");
    }
}

#[test]
fn attributes_of_devices_are_queried_but_no_device_is_removed() {
    use IoEngine::*;
    for kind in [TargetKind::BlockDevice, TargetKind::CharDevice] {
        for (engine, planned) in [
            (Filestat, "planned"),
            (Psync, "planned"),
            (Filecreate, "device file"),
            (Filedelete, "device file"),
        ] {
            let job = with_engine(engine, Op::Read);
            assert_eq!(outcome(&job, kind), planned, "{engine:?} {kind:?}");
        }
    }
}

#[test]
fn only_jobs_that_do_not_write_have_the_file_system_filled() {
    let fills = |access: Access| {
        let mut job = with_engine(IoEngine::Psync, Op::Read);
        job.access = access;
        job.extent.size = None;
        job.files.fill_device = true;
        shared_file(vec![job], TargetKind::Absent).lay_out
    };
    assert_eq!(fills(Access::only(Op::Read, false)), LayOut::Fill);
    for access in [Access::only(Op::Write, false), Access::mixed(50, false)] {
        assert_eq!(fills(access), LayOut::Ready, "the job fills it itself");
    }
}

#[test]
fn a_shared_file_is_removed_or_emptied_if_any_job_wants_it() {
    let either = [(false, false), (false, true), (true, false), (true, true)];
    for (first, second) in either {
        let jobs = [first, second].map(|wants| {
            let mut job = with_engine(IoEngine::Psync, Op::Write);
            job.files.unlink = wants;
            job
        });
        let file = shared_file(jobs.to_vec(), TargetKind::Absent);
        assert_eq!(file.unlink, first || second, "{first} {second}");
        let jobs = [first, second].map(|wants| {
            let mut job = with_engine(IoEngine::Psync, Op::Write);
            job.files.empty_first = wants;
            job
        });
        let file = shared_file(jobs.to_vec(), TargetKind::File);
        assert_eq!(file.empty_first, first || second, "{first} {second}");
    }
}

#[test]
fn an_offset_in_percent_is_of_the_file_of_an_earlier_job() {
    let writer = with_engine(IoEngine::Psync, Op::Write);
    let mut reader = job(Op::Read, false, 1);
    reader.extent.size = Some(bytes(128 << 10));
    reader.extent.offset = SizeSpec::Percent(25);
    let scenario = scenario_of(vec![writer, reader.clone()], 1);
    let plan = Plan::resolve(&scenario, &new_file(&scenario)).unwrap();
    let start = |worker: usize| plan.phases[0].workers[worker].stream.regions[0].offset;
    assert_eq!([start(0), start(1)], [0, 256 << 10]);
    // Without the other job, the file is new, and 25% of it are nothing.
    let alone = workers(&reader, new_file).unwrap();
    assert_eq!(alone[0].stream.regions[0].offset, 0);
}

#[test]
fn a_skipped_clone_leads_to_its_job() {
    let named = |name: &str, size: Option<SizeSpec>| {
        let mut job = job(Op::Read, false, 1);
        name.clone_into(&mut job.name);
        job.target = Target::Paths(vec![name.into()]);
        (job.extent.size, job.numjobs) = (size, 2);
        job
    };
    let fits = Some(bytes(1 << 20));
    let mut scenario = scenario_of(vec![named("a", fits), named("b", None)], 1);
    let second = scenario_of(vec![named("c", None), named("d", fits)], 1);
    scenario.phases.extend(second.phases);
    let plan = Plan::resolve_what_fits(&scenario, &new_file(&scenario)).unwrap();
    let skipped = plan.skipped.iter().map(|skipped| {
        let job = skipped.job_in(&scenario).unwrap();
        (skipped.phase, job.name.as_str(), skipped.clone)
    });
    let skipped: Vec<_> = skipped.collect();
    assert_eq!(
        skipped,
        [(0, "b", 0), (0, "b", 1), (1, "c", 0), (1, "c", 1)]
    );
    // Another scenario has no such job.
    let shorter = scenario_of(vec![named("a", fits)], 1);
    assert!(
        plan.skipped
            .iter()
            .all(|skipped| skipped.job_in(&shorter).is_none())
    );
}

#[test]
fn unopened_paths_are_the_absolute_names_of_all_jobs() {
    let names = |names: &[&str]| {
        let mut job = with_engine(IoEngine::Null, Op::Read);
        job.target = Target::Nothing;
        job.files.unopened = names.iter().map(|&name| name.to_owned()).collect();
        job
    };
    let first = vec![names(&["/dev/sdx", "j.$jobnum.0"]), names(&[])];
    let mut scenario = scenario_of(first, 1);
    let second = scenario_of(vec![names(&["data", "/mnt/data"])], 1);
    scenario.phases.extend(second.phases);
    let absolute = ["/dev/sdx", "/mnt/data"].map(PathBuf::from);
    assert_eq!(scenario.unopened_paths(), absolute);
    assert!(scenario.paths().is_empty(), "none is opened");
}
