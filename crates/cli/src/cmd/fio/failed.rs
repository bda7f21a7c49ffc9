//! Jobs that could not begin, beside others that ran: they are told, stand in the result with their error, and count.

use hakaru_dialects::fio::{Invocation, words_for_plan};
use hakaru_model::plan::{LeftOut, Plan, PlanError};
use hakaru_model::record::{ErrorRecord, IoError, PhaseRecord, StopReason, WorkerRecord};
use hakaru_model::units::{Bytes, Nanos};
use rustix::io::Errno;

/// Says why, first in the words of fio where they are known.
pub(super) fn tell(left_out: &[LeftOut]) {
    for LeftOut { error, .. } in left_out {
        if let Some(words) = words_for_plan(error) {
            anstream::eprintln!("{words}");
        }
        anstream::eprintln!("fio: {error}; the other jobs run all the same");
    }
}

/// Puts an empty record in the place of each phase none of whose jobs could begin.
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

/// Puts them into the record, each where it would stand had it run.
pub(super) fn add_workers(invocation: &Invocation, left_out: &[LeftOut], phases: &mut [PhaseRecord]) {
    for LeftOut { phase, job: index, error } in left_out {
        let job = invocation.scenario.phases.get(*phase).and_then(|phase| phase.jobs.get(*index as usize));
        let (Some(record), Some(job)) = (phases.get_mut(*phase), job) else { continue };
        let at = record.workers.iter().position(|worker| worker.job > *index).unwrap_or(record.workers.len());
        let failed = |clone| WorkerRecord {
            name: job.name.clone(),
            job: *index,
            clone,
            errors: ErrorRecord { total: 1, first: vec![io_error(error)] },
            stop: StopReason::Error,
            ..WorkerRecord::default()
        };
        record.workers.splice(at..at, (0..job.numjobs).map(failed));
    }
}

fn io_error(error: &PlanError) -> IoError {
    let (errno, path) = match error {
        PlanError::NotMeasurable { path, .. } => (Errno::ISDIR, Some(path)),
        PlanError::Missing { path, .. } => (Errno::NOENT, Some(path)),
        PlanError::ReadOnly { path, .. } => (Errno::ROFS, Some(path)),
        PlanError::NoSize { path, .. } => (Errno::INVAL, Some(path)),
        _ => (Errno::INVAL, None),
    };
    IoError {
        action: "open".to_owned(),
        file: path.map_or_else(String::new, |path| path.display().to_string()),
        offset: Bytes(0),
        len: Bytes(0),
        errno: errno.raw_os_error(),
        at: Nanos(0),
        mismatches: Vec::new(),
    }
}
