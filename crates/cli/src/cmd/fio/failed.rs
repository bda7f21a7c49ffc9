//! Jobs that could not start: their errors are printed, part of the result, and counted in the exit
//! code.

use hakaru_dialects::fio::{Invocation, words_for_plan};
use hakaru_engine::RunError;
use hakaru_model::job::Job;
use hakaru_model::plan::{Plan, PlanError, SkippedJob, WorkerPlan, clone_paths};
use hakaru_model::record::{
    ErrorRecord, FailureKind, IoError, PhaseRecord, StopReason, WorkerRecord,
};
use hakaru_model::units::{Bytes, Nanos};
use rustix::io::Errno;
use std::path::Path;

/// Says why, first in the words of fio where they are known.
pub(super) fn tell(left_out: &[SkippedJob], plan: &Plan) {
    let others = plan.phases.iter().any(|phase| !phase.workers.is_empty());
    let mut printed = None;
    for SkippedJob { error, .. } in left_out {
        if let Some(words) = words_for_plan(error) {
            anstream::eprintln!("{words}");
        }
        // Clones that share their files fail for one reason.
        if printed.replace(error) == Some(error) {
            continue;
        }
        anstream::eprintln!(
            "fio: {error}{}",
            if others {
                "; the other jobs run all the same"
            } else {
                ""
            }
        );
    }
}

/// Adds an empty record for each phase without a started job.
pub(super) fn add_phases(plan: &Plan, phases: &mut Vec<PhaseRecord>) {
    for (index, phase) in plan.phases.iter().enumerate() {
        if phase.workers.is_empty() && index <= phases.len() {
            let (elapsed, workers, disks) = (Nanos(0), Vec::new(), Vec::new());
            let empty = PhaseRecord {
                name: phase.name.clone(),
                started_unix_ms: 0,
                elapsed,
                workers,
                disks,
                ..PhaseRecord::default()
            };
            phases.insert(index, empty);
        }
    }
}

/// Adds an empty record for each worker of phases that did not start.
pub(super) fn add_unbegun(plan: &Plan, phases: &mut Vec<PhaseRecord>) {
    for phase in plan.phases.iter().skip(phases.len()) {
        let unbegun = |w: &WorkerPlan| WorkerRecord {
            name: w.name.clone(),
            job: w.job,
            clone: w.clone,
            ..WorkerRecord::default()
        };
        let workers = phase.workers.iter().map(unbegun).collect();
        let (name, elapsed, disks) = (phase.name.clone(), Nanos(0), Vec::new());
        phases.push(PhaseRecord {
            name,
            started_unix_ms: 0,
            elapsed,
            workers,
            disks,
            ..PhaseRecord::default()
        });
    }
}

/// Puts them into the record, each where it would stand had it run.
pub(super) fn add_workers(
    invocation: &Invocation,
    left_out: &[SkippedJob],
    phases: &mut [PhaseRecord],
) {
    for SkippedJob {
        phase,
        job: index,
        clone,
        error,
    } in left_out
    {
        let job = invocation
            .scenario
            .phases
            .get(*phase)
            .and_then(|phase| phase.jobs.get(*index as usize));
        let (Some(record), Some(job)) = (phases.get_mut(*phase), job) else {
            continue;
        };
        let at = record
            .workers
            .iter()
            .position(|worker| (worker.job, worker.clone) > (*index, *clone))
            .unwrap_or(record.workers.len());
        // fio reports a job without files as done.
        let fails = !matches!(error, PlanError::NoFiles { .. });
        let failed = WorkerRecord {
            name: job.name.clone(),
            job: *index,
            clone: *clone,
            errors: ErrorRecord {
                total: u64::from(fails),
                first: fails.then(|| io_error(error)).into_iter().collect(),
            },
            stop: if fails {
                StopReason::Error
            } else {
                StopReason::Done
            },
            ..WorkerRecord::default()
        };
        record.workers.insert(at, failed);
        begin_request_log(job, error);
    }
}

/// Puts the workers of a phase into the record that could not be started because of `error`, if any: those it concerns
/// with its number, the others as canceled.
pub(super) fn add_unstarted(plan: &Plan, error: Option<&RunError>, phases: &mut Vec<PhaseRecord>) {
    let (Some(error), Some(phase)) = (error, plan.phases.get(phases.len())) else {
        return;
    };
    if matches!(error, RunError::StoppedEarly) {
        return;
    }
    let concerned = |w: &WorkerPlan| {
        let uses = |path: &Path| {
            let files = w
                .stream
                .regions
                .iter()
                .filter_map(|region| phase.files.get(region.file as usize));
            files.into_iter().any(|file| file.path == path)
        };
        error.job().is_none_or(|job| job == w.name) && error.path().is_none_or(uses)
    };
    // An error that names nothing known is that of all.
    let any = phase.workers.iter().any(concerned);
    let failed = |w: &WorkerPlan| {
        let errno = if concerned(w) || !any {
            error.errno()
        } else {
            Errno::CANCELED
        };
        let path = error
            .path()
            .map_or_else(String::new, |path| path.display().to_string());
        WorkerRecord {
            name: w.name.clone(),
            job: w.job,
            clone: w.clone,
            errors: ErrorRecord {
                total: 1,
                first: vec![not_started(errno, path)],
            },
            stop: StopReason::Error,
            ..WorkerRecord::default()
        }
    };
    let workers = phase.workers.iter().map(failed).collect();
    let (name, elapsed, disks) = (phase.name.clone(), Nanos(0), Vec::new());
    phases.push(PhaseRecord {
        name,
        started_unix_ms: 0,
        elapsed,
        workers,
        disks,
        ..PhaseRecord::default()
    });
}

/// Creates the empty I/O log of a job that fails after file setup, as fio does.
fn begin_request_log(job: &Job, error: &PlanError) {
    use std::io::Write as _;
    let head = "fio version 3 iolog\n";
    let text = match (error, clone_paths(job, 0).first()) {
        (PlanError::NoFiles { .. }, _) => head.to_owned(),
        (PlanError::Missing { .. } | PlanError::OddBlock { .. }, Some(file)) => {
            format!("{head}0 {} add\n", file.display())
        }
        _ => return,
    };
    let Some(path) = job.replay.write.as_ref().filter(|_| job.numjobs == 1) else {
        return;
    };
    let mut options = std::fs::File::options();
    let log = options.append(true).create(true).open(path);
    if let Err(error) = log.and_then(|mut log| log.write_all(text.as_bytes())) {
        anstream::eprintln!("fio: {}: {error}", path.display());
    }
}

fn io_error(error: &PlanError) -> IoError {
    let (errno, path) = match error {
        PlanError::NotMeasurable { path, .. } => (Errno::ISDIR, Some(path)),
        PlanError::Missing { path, .. } => (Errno::NOENT, Some(path)),
        PlanError::TrimOnFile { path, .. } => (Errno::NOTTY, Some(path)),
        PlanError::Misaligned { path, .. } => (Errno::INVAL, Some(path)),
        PlanError::ReadOnly { path, .. } => (Errno::ROFS, Some(path)),
        PlanError::NoSize { path, .. } => (Errno::INVAL, Some(path)),
        PlanError::OffsetPastEnd { path, .. } => (Errno::INVAL, Some(path)),
        PlanError::MayNotCreate { path, .. } => (Errno::NOENT, Some(path)),
        PlanError::OddBlock { .. } => (Errno::PERM, None),
        _ => (Errno::INVAL, None),
    };
    let failed = not_started(
        errno,
        path.map_or_else(String::new, |path| path.display().to_string()),
    );
    match error {
        // fio counts the job as failed, and has no number for the error.
        PlanError::OffsetPastEnd { .. } | PlanError::MayNotCreate { .. } => {
            IoError { errno: 0, ..failed }
        }
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
