//! Compares jobs of runs.

use hakaru_model::hash::fnv1a;
use hakaru_model::job::{Job, Scenario, Target};

/// A job without file names, and without who lays out the files.
fn bare(job: &Job) -> Job {
    let mut job = job.clone();
    job.files.overwrite |= has_content(&job.target);
    job.target = Target::Nothing;
    job.options.clear();
    job.seed = None;
    job
}

/// Returns a hash that is equal for the scenarios that [`same_jobs`] calls equal.
pub fn job_hash(scenario: &Scenario) -> u64 {
    let phases = scenario.phases.iter().map(|phase| {
        let jobs: Vec<Job> = phase.jobs.iter().map(bare).collect();
        (&phase.name, jobs)
    });
    let phases: Vec<(&String, Vec<Job>)> = phases.collect();
    // A path that is not text has no JSON form.
    let text = serde_json::to_string(&phases).unwrap_or_else(|_| format!("{phases:?}"));
    fnv1a(text.as_bytes())
}

/// Whether two scenarios are equal except for file names, and except for who lays out the files.
pub fn same_jobs(a: &Scenario, b: &Scenario) -> bool {
    a.phases.len() == b.phases.len()
        && a.phases.iter().zip(&b.phases).all(|(a, b)| {
            a.name == b.name
                && a.jobs.len() == b.jobs.len()
                && a.jobs.iter().zip(&b.jobs).all(|(a, b)| bare(a) == bare(b))
        })
}

/// Whether all of the target exists before the job: a device, or the unnamed file that `bench` lays out.
fn has_content(target: &Target) -> bool {
    match target {
        Target::Paths(paths) => paths.iter().all(|path| {
            // /dev/shm is a file system in memory.
            let is_device = path.starts_with("/dev") && !path.starts_with("/dev/shm");
            is_device || path.starts_with("/proc")
        }),
        Target::Sim(_) => true,
        Target::Formatted { .. } | Target::Nothing => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::{Access, Op, Phase};

    fn scenario(path: &str, overwrite: bool) -> Scenario {
        let mut job = Job::new(
            "a",
            Target::Paths(vec![path.into()]),
            Access::only(Op::Read, false),
        );
        job.files.overwrite = overwrite;
        Scenario {
            name: String::new(),
            seed: 0,
            phases: vec![Phase {
                name: "a".to_owned(),
                jobs: vec![job],
            }],
        }
    }

    #[test]
    fn files_in_shared_memory_are_laid_out_by_the_job() {
        let of = |path: &str| has_content(&Target::Paths(vec![path.into()]));
        assert!(of("/dev/sda1") && of("/proc/self/fd/3"));
        assert!(!of("/dev/shm/file") && !of("/mnt/file"));
    }

    #[test]
    fn a_file_that_bench_lays_out_is_like_one_that_a_job_lays_out() {
        let of_campaign = scenario("card/suite.data", true);
        for (path, expected) in [
            ("/proc/7/fd/8", true),
            ("/dev/sda", true),
            ("card/other", false),
        ] {
            let other = scenario(path, false);
            assert_eq!(same_jobs(&of_campaign, &other), expected, "{path}");
            let same_hash = job_hash(&of_campaign) == job_hash(&other);
            assert_eq!(same_hash, expected, "{path}");
        }
    }
}
