//! Workers whose files are locked for each I/O (`lockfile`).

use super::launch::run_sync;
use super::offload;
use crate::backend::locked::LockedBackend;
use crate::error::RunError;
use crate::files;
use crate::worker::{WorkerContext, WorkerParts};
use hakaru_model::caveat::Caveat;
use hakaru_model::record::WorkerRecord;

/// Runs a worker with file locks.
pub(super) fn run(
    parts: WorkerParts<'_>,
    caveats: &mut Vec<Caveat>,
) -> Result<Option<WorkerRecord>, RunError> {
    let WorkerContext {
        plan,
        shared,
        setup,
        ..
    } = parts.context;
    let files = setup.open(plan, caveats)?;
    // The first engine has already dropped the caches and read ahead.
    let opened = files::open_only(plan, setup.files, setup.direct_fallback, caveats)?;
    let engine = offload::submitter(plan, 0, opened)?;
    let locks = plan
        .stream
        .regions
        .iter()
        .filter_map(|region| shared.locks.get(region.file as usize))
        .collect();
    let backend = LockedBackend::new(engine, files, locks, plan.files.lock);
    Ok(run_sync(parts, backend))
}
