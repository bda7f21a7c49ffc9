//! Jobs that could not start while others ran: prints the reason, and creates their request logs as fio does.

use hakaru_dialects::fio::words_for_plan;
use hakaru_model::job::Scenario;
use hakaru_model::plan::{Plan, PlanError, SkippedJob, clone_paths};
use std::io::Write as _;

/// Prints the reasons, first with the message of fio if it is known.
pub(super) fn explain(plan: &Plan) {
    let others = plan.phases.iter().any(|phase| !phase.workers.is_empty());
    let mut printed = None;
    for SkippedJob { error, .. } in &plan.skipped {
        if let Some(words) = words_for_plan(error) {
            anstream::eprintln!("{words}");
        }
        // Clones that share their files fail for the same reason: print it once.
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

/// Creates empty request logs for jobs that fail after their files are set up, as fio does.
pub(super) fn begin_request_logs(plan: &Plan, scenario: &Scenario) {
    let head = "fio version 3 iolog\n";
    for skipped in &plan.skipped {
        let Some(job) = skipped.job_in(scenario).filter(|job| job.numjobs == 1) else {
            continue;
        };
        let text = match (&skipped.error, clone_paths(job, 0).first()) {
            (PlanError::NoFiles { .. }, _) => head.to_owned(),
            (PlanError::Missing { .. } | PlanError::OddBlock { .. }, Some(file)) => {
                format!("{head}0 {} add\n", file.display())
            }
            _ => continue,
        };
        let Some(path) = &job.replay.write else {
            continue;
        };
        let mut options = std::fs::File::options();
        let log = options.append(true).create(true).open(path);
        if let Err(error) = log.and_then(|mut log| log.write_all(text.as_bytes())) {
            anstream::eprintln!("fio: {}: {error}", path.display());
        }
    }
}
