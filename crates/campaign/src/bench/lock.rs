//! Keeps others from measuring the target of a benchmark at the same time.

use super::{BenchError, BenchTarget};
use hakaru_device::{LockError, MeasurementLock, Roots};

/// Locks the target. Where locks are unavailable, it is measured without.
pub(super) fn lock(place: &BenchTarget) -> Result<Option<MeasurementLock>, BenchError> {
    let (BenchTarget::Folder(path) | BenchTarget::Device(path)) = place else {
        return Ok(None);
    };
    let Some(name) = hakaru_device::lock_name(path, &Roots::live()) else {
        return Ok(None);
    };
    match MeasurementLock::acquire(&name) {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::Held(holder)) => Err(BenchError::InUse {
            path: path.clone(),
            holder,
        }),
        Err(LockError::Failed(_)) => Ok(None),
    }
}
