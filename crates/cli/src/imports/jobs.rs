//! Compares jobs of runs.

use hakaru_model::job::{Job, Scenario};

/// Whether two scenarios are equal except for file names.
pub(crate) fn same_jobs(a: &Scenario, b: &Scenario) -> bool {
    let bare = |job: &Job| {
        let mut job = job.clone();
        job.target = hakaru_model::job::Target::Nothing;
        job.options.clear();
        job.seed = None;
        job
    };
    a.phases.len() == b.phases.len()
        && a.phases.iter().zip(&b.phases).all(|(a, b)| {
            a.name == b.name
                && a.jobs.len() == b.jobs.len()
                && a.jobs.iter().zip(&b.jobs).all(|(a, b)| bare(a) == bare(b))
        })
}
