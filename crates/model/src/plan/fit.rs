//! Resolves a scenario to a plan, phase by phase.

use super::resolver::Resolver;
use super::{Facts, Plan, PlanError};
use crate::job::Scenario;
use crate::rng::Rng;

impl Plan {
    /// Resolves a scenario for its target. This is a pure function: the same scenario and facts give the same plan.
    ///
    /// # Errors
    /// A [`PlanError`] that names the job, the path and the solution.
    pub fn resolve(scenario: &Scenario, facts: &Facts) -> Result<Plan, PlanError> {
        Plan::fit(scenario, facts, false)
    }

    /// Resolves a scenario as [`Plan::resolve`] does, but skips jobs whose target does not fit, even if no job is left.
    ///
    /// # Errors
    /// A [`PlanError`] that affects more than one job.
    pub fn resolve_what_fits(scenario: &Scenario, facts: &Facts) -> Result<Plan, PlanError> {
        Plan::fit(scenario, facts, true)
    }

    fn fit(scenario: &Scenario, facts: &Facts, skips: bool) -> Result<Plan, PlanError> {
        let Scenario { name, seed, phases } = scenario;
        if phases.iter().all(|phase| phase.jobs.is_empty()) {
            return Err(PlanError::NoJobs {
                scenario: name.clone(),
            });
        }
        let (facts, seeds, caveats) = (facts.clone(), Rng::fork(*seed, 0x51), Vec::new());
        let mut resolver = Resolver {
            facts,
            caveats,
            seeds,
            workers: 0,
            writers: Vec::new(),
            skips,
            skipped: Vec::new(),
        };
        let phases = phases
            .iter()
            .enumerate()
            .map(|(index, phase)| resolver.phase(index, phase));
        let phases = phases.collect::<Result<Vec<_>, _>>()?;
        Ok(Plan {
            name: name.clone(),
            phases,
            caveats: resolver.caveats,
            skipped: resolver.skipped,
        })
    }
}
