//! Sessions: their order, the content of their records, and who may change a run.

use hakaru_campaign::{RunRequest, Session, SessionError, SessionPolicy};
use hakaru_engine::{ClockChoice, Flow, Observer, RunError};
use hakaru_model::job::{Access, IoEngine, Job, Op, Phase, Scenario, SizeSpec, Target};
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{Outcome, PhaseRecord};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_store::Store;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

fn write(path: PathBuf) -> Job {
    let mut job = Job::new(
        "w",
        Target::Paths(vec![path]),
        Access::only(Op::Write, false),
    );
    job.ioengine = IoEngine::Psync;
    job.extent.size = Some(SizeSpec::Bytes(Bytes(64 << 10)));
    job
}

fn scenario(jobs: Vec<Job>) -> Scenario {
    let phase = |job: Job| Phase {
        name: job.name.clone(),
        jobs: vec![job],
    };
    Scenario {
        name: "session".into(),
        seed: 1,
        phases: jobs.into_iter().map(phase).collect(),
    }
}

/// Reads the first line of the spool at the start of a phase, and ends the run after a number of phases.
struct Looker {
    spools: PathBuf,
    begun: Option<serde_json::Value>,
    phases: usize,
}

impl Observer for Looker {
    fn phase_begins(&mut self, _: usize, _: &PhasePlan) {
        let mut spools = std::fs::read_dir(&self.spools).unwrap();
        let text = std::fs::read_to_string(spools.next().unwrap().unwrap().path()).unwrap();
        self.begun = serde_json::from_str(text.lines().next().unwrap()).ok();
    }

    fn phase_ends(&mut self, _: &PhaseRecord) -> Flow {
        self.phases -= 1;
        match self.phases {
            0 => Flow::Stop,
            _ => Flow::Continue,
        }
    }
}

fn looker(store: &Store, phases: usize) -> Looker {
    Looker {
        spools: store.spool_folder(),
        begun: None,
        phases,
    }
}

fn run(
    scenario: &Scenario,
    policy: SessionPolicy,
    store: &mut Store,
    observer: &mut Looker,
) -> Result<hakaru_campaign::RunResult, SessionError> {
    let stop = AtomicBool::new(false);
    let session = Session::inspect(scenario)?.plan(policy)?;
    let request = RunRequest::single(ClockChoice::best(), &stop);
    session.run(request, Some(store), observer)
}

fn store(folder: &Path) -> Store {
    Store::open(folder.join("x.db")).unwrap()
}

#[test]
fn circumstances_are_taken_and_spooled_before_anything_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    let scenario = scenario(vec![write(dir.path().join("x"))]);
    for policy in [
        SessionPolicy::BENCH,
        SessionPolicy::IOZONE,
        SessionPolicy::FIO,
    ] {
        let mut observer = looker(&store, 9);
        let ran = run(&scenario, policy, &mut store, &mut observer).unwrap();
        let begun = observer
            .begun
            .expect("there is a spool as the phase begins");
        let record = store.run(&ran.record.id).unwrap();
        assert_eq!(record.outcome, Outcome::Completed);
        for (part, value) in [
            ("environment", serde_json::to_value(&record.environment)),
            ("target", serde_json::to_value(&record.target)),
            (
                "started_unix_ms",
                serde_json::to_value(record.started_unix_ms),
            ),
        ] {
            assert_eq!(begun[part], value.unwrap(), "{part}");
        }
        assert!(
            record
                .target
                .path
                .starts_with(dir.path().canonicalize().unwrap())
        );
    }
}

#[test]
fn an_observer_ends_a_run_between_phases() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    let scenario = scenario(vec![write(dir.path().join("x")); 3]);
    let mut observer = looker(&store, 2);
    let ran = run(&scenario, SessionPolicy::BENCH, &mut store, &mut observer).unwrap();
    assert_eq!(ran.record.phases.len(), 2);
    assert_eq!(ran.record.outcome, Outcome::Interrupted);
}

#[test]
fn a_stop_ends_the_pause_between_phases() {
    let dir = tempfile::tempdir().unwrap();
    let mut second = write(dir.path().join("x"));
    second.timing.pause_before = Nanos::from_secs(3600);
    let scenario = scenario(vec![write(dir.path().join("x")), second]);
    let stop = AtomicBool::new(false);
    struct Stopper<'a>(&'a AtomicBool);
    impl Observer for Stopper<'_> {
        fn phase_ends(&mut self, _: &PhaseRecord) -> Flow {
            self.0.store(true, std::sync::atomic::Ordering::Relaxed);
            Flow::Continue
        }
    }
    let session = Session::inspect(&scenario).unwrap();
    let session = session.plan(SessionPolicy::IOZONE).unwrap();
    let request = RunRequest::single(ClockChoice::best(), &stop);
    let ran = session.run(request, None, &mut Stopper(&stop)).unwrap();
    assert_eq!(ran.record.phases.len(), 1);
    assert_eq!(ran.record.outcome, Outcome::Interrupted);
}

#[test]
fn files_are_emptied_by_the_plan_and_not_by_the_observer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    std::fs::write(&path, vec![7; 1 << 20]).unwrap();
    let mut anew = write(path.clone());
    anew.files.empty_first = true;
    anew.files.fallocate = hakaru_model::job::Fallocate::None;
    let scenario = scenario(vec![anew]);
    let mut store = store(dir.path());
    let mut observer = looker(&store, 9);
    run(&scenario, SessionPolicy::IOZONE, &mut store, &mut observer).unwrap();
    assert_eq!(path.metadata().unwrap().len(), 64 << 10);
}

#[test]
fn jobs_that_cannot_run_are_an_error_or_in_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    let mut gone = write(dir.path().join("none"));
    gone.files.allow_create = false;
    let scenario = scenario(vec![gone, write(dir.path().join("x"))]);
    for policy in [SessionPolicy::BENCH, SessionPolicy::IOZONE] {
        let mut observer = looker(&store, 9);
        let error = run(&scenario, policy, &mut store, &mut observer).unwrap_err();
        assert!(matches!(error, SessionError::Plan(_)), "{error}");
    }
    let mut observer = looker(&store, 9);
    let ran = run(&scenario, SessionPolicy::FIO, &mut store, &mut observer).unwrap();
    let names: Vec<(usize, u64)> = ran
        .record
        .phases
        .iter()
        .map(|phase| {
            let errors = phase.workers.iter().map(|worker| worker.errors.total).sum();
            (phase.workers.len(), errors)
        })
        .collect();
    assert_eq!(names, [(1, 1), (1, 0)]);
}

#[test]
fn nothing_is_stored_where_nothing_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = store(dir.path());
    let scenario = scenario(vec![write(dir.path().join("x"))]);
    for policy in [SessionPolicy::BENCH, SessionPolicy::FIO] {
        let session = Session::inspect(&scenario).unwrap().plan(policy).unwrap();
        let stop = AtomicBool::new(true);
        let request = RunRequest::single(ClockChoice::best(), &stop);
        let ran = session.run(request, Some(&mut store), &mut hakaru_engine::NoObserver);
        match policy.skips_jobs {
            true => assert_eq!(ran.unwrap().record.outcome, Outcome::Interrupted),
            false => assert!(matches!(
                ran,
                Err(SessionError::Run(RunError::StoppedEarly))
            )),
        }
    }
    assert_eq!(store.count().unwrap(), 0);
    assert_eq!(std::fs::read_dir(store.spool_folder()).unwrap().count(), 0);
}
