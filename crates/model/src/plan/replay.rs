//! Regions of the files that a replay needs.

use super::PlanError;
use super::files::{PlannedFiles, add_file, measurable};
use super::resolver::Resolver;
use crate::facts::TargetKind;
use crate::job::Job;
use crate::replay::Trace;
use crate::stream::Region;
use crate::units::Bytes;

impl Resolver {
    /// Returns a region for each file of a trace, up to the end of the last I/O to it.
    pub(super) fn replayed_regions(
        &self,
        job: &Job,
        trace: &Trace,
        files: &mut PlannedFiles,
    ) -> Result<Vec<Region>, PlanError> {
        let mut regions = Vec::new();
        for (index, path) in trace.files.iter().enumerate() {
            let facts = self.facts.get(path).ok_or_else(|| PlanError::NoFacts {
                job: job.name.clone(),
                path: path.clone(),
            })?;
            measurable(job, facts)?;
            let end = trace.end_of(index as u32).max(1);
            let device = matches!(facts.kind, TargetKind::BlockDevice | TargetKind::CharDevice)
                && facts.size.0 > 0;
            if device && end > facts.size.0 {
                let (job, path, size, wanted) =
                    (job.name.clone(), path.clone(), facts.size, Bytes(end));
                return Err(PlanError::PastEnd {
                    job,
                    path,
                    size,
                    offset: Bytes(0),
                    wanted,
                });
            }
            let file = add_file(job, facts, facts.size.0.max(end), files);
            regions.push(Region {
                file,
                offset: 0,
                len: end,
                file_len: end,
            });
        }
        Ok(regions)
    }
}
