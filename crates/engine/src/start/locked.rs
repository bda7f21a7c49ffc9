//! Workers whose files are locked for each I/O (`lockfile`).

use super::{WorkerParts, offload, timed};
use crate::backend::locked::LockedBackend;
use crate::error::RunError;
use crate::files;
use crate::worker::WorkerContext;
use hakaru_model::caveat::Caveat;
use hakaru_model::record::WorkerRecord;

/// Runs such a worker.
pub(super) fn run(
    around: WorkerContext<'_>,
    starter: &WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let (plan, shared) = (around.plan, around.shared);
    let files = files::open_all(plan, starter.files, starter.direct_fallback, caveats)?;
    // The first dropped the caches and read what was to be read.
    let opened = files::open_only(plan, starter.files, starter.direct_fallback, caveats)?;
    let engine = offload::submitter(plan, 0, opened)?;
    let locks = plan
        .stream
        .regions
        .iter()
        .filter_map(|region| shared.locks.get(region.file as usize))
        .collect();
    let backend = LockedBackend::new(engine, files, locks, plan.files.lock);
    Ok(timed(around, backend, starter.clock))
}
