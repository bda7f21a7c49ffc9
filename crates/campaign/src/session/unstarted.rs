//! Records of work that did not begin: skipped jobs, workers that failed to start, and remaining phases.

use hakaru_engine::RunError;
use hakaru_model::job::{Job, Scenario};
use hakaru_model::plan::{PhasePlan, Plan, PlanError, SkippedJob, WorkerPlan};
use hakaru_model::record::{
    ErrorRecord, FailureKind, IoError, PhaseRecord, StopReason, WorkerRecord,
};
use hakaru_model::units::{Bytes, Nanos};
use rustix::io::Errno;
use std::path::Path;

/// Adds the work that failed to begin: phases without runnable jobs, workers that `error` prevented, and skipped
/// jobs.
pub(super) fn add_failed(
    scenario: &Scenario,
    plan: &Plan,
    error: Option<&RunError>,
    phases: &mut Vec<PhaseRecord>,
) {
    for (index, phase) in plan.phases.iter().enumerate() {
        if phase.workers.is_empty() && index <= phases.len() {
            phases.insert(index, unbegun(phase));
        }
    }
    add_unstarted(plan, error, phases);
    add_skipped(scenario, plan, phases);
}

/// Adds the remaining phases, each worker with an empty record.
pub(super) fn add_unbegun(plan: &Plan, phases: &mut Vec<PhaseRecord>) {
    phases.extend(plan.phases.iter().skip(phases.len()).map(unbegun));
}

fn unbegun(phase: &PhasePlan) -> PhaseRecord {
    PhaseRecord {
        name: phase.name.clone(),
        workers: phase.workers.iter().map(of_worker).collect(),
        ..PhaseRecord::default()
    }
}

/// Returns the empty record of a worker.
fn of_worker(worker: &WorkerPlan) -> WorkerRecord {
    WorkerRecord {
        name: worker.name.clone(),
        job: worker.job,
        clone: worker.clone,
        ..WorkerRecord::default()
    }
}

/// Adds the skipped jobs of existing phases at their positions, each once.
pub(super) fn add_skipped(scenario: &Scenario, plan: &Plan, phases: &mut [PhaseRecord]) {
    for skipped in &plan.skipped {
        let job = skipped.job_in(scenario);
        let (Some(record), Some(job)) = (phases.get_mut(skipped.phase), job) else {
            continue;
        };
        let place = |worker: &WorkerRecord| (worker.job, worker.clone);
        let own = (skipped.job, skipped.clone);
        let workers = &mut record.workers;
        let at = workers.partition_point(|worker| place(worker) < own);
        if workers.get(at).map(place) != Some(own) {
            workers.insert(at, skipped_worker(skipped, job));
        }
    }
}

/// Returns the record of a skipped job. In fio, a job without files counts as done.
fn skipped_worker(skipped: &SkippedJob, job: &Job) -> WorkerRecord {
    let fails = !matches!(skipped.error, PlanError::NoFiles { .. });
    let first = fails.then(|| io_error(&skipped.error));
    WorkerRecord {
        name: job.name.clone(),
        job: skipped.job,
        clone: skipped.clone,
        errors: ErrorRecord {
            total: u64::from(fails),
            first: first.into_iter().collect(),
        },
        stop: match fails {
            true => StopReason::Error,
            false => StopReason::Done,
        },
        ..WorkerRecord::default()
    }
}

/// Adds the workers of a phase that could not be started because of `error`, if any: affected workers get its error
/// number, the others are canceled.
fn add_unstarted(plan: &Plan, error: Option<&RunError>, phases: &mut Vec<PhaseRecord>) {
    let error = error.filter(|error| !matches!(error, RunError::StoppedEarly));
    let (Some(error), Some(phase)) = (error, plan.phases.get(phases.len())) else {
        return;
    };
    // An error that matches no worker applies to all.
    let any = phase.workers.iter().any(|w| concerns(error, w, phase));
    let path = error.path().map(|path| path.display().to_string());
    let path = path.unwrap_or_default();
    let failed = |w: &WorkerPlan| {
        let errno = match concerns(error, w, phase) || !any {
            true => error.errno(),
            false => Errno::CANCELED,
        };
        WorkerRecord {
            errors: ErrorRecord {
                total: 1,
                first: vec![not_started(errno, path.clone())],
            },
            stop: StopReason::Error,
            ..of_worker(w)
        }
    };
    phases.push(PhaseRecord {
        name: phase.name.clone(),
        workers: phase.workers.iter().map(failed).collect(),
        ..PhaseRecord::default()
    });
}

/// Whether an error is about this worker or a file that it uses.
fn concerns(error: &RunError, worker: &WorkerPlan, phase: &PhasePlan) -> bool {
    let uses = |path: &Path| {
        let regions = worker.stream.regions.iter();
        let mut files = regions.filter_map(|region| phase.files.get(region.file as usize));
        files.any(|file| file.path == path)
    };
    error.job().is_none_or(|job| job == worker.name) && error.path().is_none_or(uses)
}

fn io_error(error: &PlanError) -> IoError {
    let (errno, path) = match error {
        PlanError::NotMeasurable { path, .. } => (Errno::ISDIR, Some(path)),
        PlanError::Missing { path, .. } => (Errno::NOENT, Some(path)),
        PlanError::TrimOnFile { path, .. } => (Errno::NOTTY, Some(path)),
        PlanError::ReadOnly { path, .. } => (Errno::ROFS, Some(path)),
        PlanError::Misaligned { path, .. }
        | PlanError::NoSize { path, .. }
        | PlanError::BlockTooLarge { path, .. }
        | PlanError::OffsetPastEnd { path, .. } => (Errno::INVAL, Some(path)),
        PlanError::MayNotCreate { path, .. } => (Errno::NOENT, Some(path)),
        PlanError::OddBlock { .. } => (Errno::PERM, None),
        _ => (Errno::INVAL, None),
    };
    let failed = not_started(
        errno,
        path.map_or_else(String::new, |path| path.display().to_string()),
    );
    match error {
        // fio counts the job as failed, but without an error number.
        PlanError::OffsetPastEnd { .. }
        | PlanError::BlockTooLarge { .. }
        | PlanError::MayNotCreate { .. } => IoError { errno: 0, ..failed },
        _ => failed,
    }
}

fn not_started(errno: Errno, file: String) -> IoError {
    IoError {
        action: "open".to_owned(),
        op: None,
        kind: FailureKind::NotStarted,
        file,
        offset: Bytes(0),
        len: Bytes(0),
        errno: errno.raw_os_error(),
        at: Nanos(0),
        mismatches: Vec::new(),
    }
}
