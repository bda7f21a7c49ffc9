//! Verifies capacity and data integrity of a device, and maps its speed by position.
//!
//! The device is written completely, then read completely. Every block contains its address, so
//! that a misplaced block shows where the card stored it. This finds cards with less memory than
//! claimed (it wraps or ends), lost writes, and corruption. The data written last could come from a
//! cache, so the end is written and read again with other content and in another order (see
//! `rounds`). A cache that ignores flushes is not detected; that needs a power cut. The content of
//! the device is lost.
//!
//! The method follows f3 (Digirati, "Fight Flash Fraud"), whose documentation describes the types
//! of fake cards.

mod block;
mod content_keeper;
mod error;
mod findings;
mod probe;
mod rounds;
mod surface_scan;

pub use hakaru_model::integrity::{BlockState, Capacity, IntegrityVerdict, Span, SpeedMap};

pub use content_keeper::keeps;
pub(crate) use content_keeper::probe_and_restore;
pub use error::VerifyError;
pub use probe::{is_sampled, probe};

use crate::blockdev::{BlockDev, OnProgress};
use hakaru_model::units::Bytes;
use std::ops::Range;
use surface_scan::{Pass, SurfaceScan};

/// Write and read size in bytes; same as for fill.
const CHUNK: u64 = 4 << 20;

/// Verifies a whole device. Its content is lost.
///
/// # Errors
/// A [`VerifyError`] if there is no verdict.
pub fn verify(
    device: &mut dyn BlockDev,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<IntegrityVerdict, VerifyError> {
    let range = 0..device.size().0;
    verify_range(device, range, seed, on_progress)
}

/// Verifies a range of a device, in bytes; nothing outside is touched.
///
/// If stopped, the verdict covers the part that was read back (`checked`), which is almost nothing
/// if stopped while writing. Free space that others use up meanwhile is verified as far as
/// possible.
///
/// # Errors
/// A [`VerifyError`] if there is no verdict.
pub(crate) fn verify_range(
    device: &mut dyn BlockDev,
    range: Range<u64>,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<IntegrityVerdict, VerifyError> {
    verify_sized(SIZES, device, range, seed, on_progress)
}

fn verify_sized(
    sizes: ScanSizes,
    device: &mut dyn BlockDev,
    range: Range<u64>,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<IntegrityVerdict, VerifyError> {
    check_range(device, &range)?;
    let mut pieces = chunks(range.clone(), sizes.chunk);
    let mut scan = SurfaceScan::new(device, seed, sizes.chunk, on_progress)?;
    let written = scan.pass(Pass::Write, &pieces)?;
    let range = range.start..written.full_at.map_or(range.end, |at| at.0);
    let claimed = Bytes(range.end - range.start);
    if written.stopped_at.is_some() {
        scan.found.settle_unwritable();
        let unread = SpeedMap::default();
        return Ok(scan.verdict(claimed, Capacity::AsClaimed, written.map, unread));
    }
    pieces.retain(|piece| piece.start < range.end);
    scan.flush()?;
    scan.hold_from(range.end - sizes.tail(claimed.0));
    let read = scan.pass(Pass::Read, &pieces)?;
    let mut tail = scan.take_held();
    let end = read.stopped_at.map_or(range.end, |at| at.0);
    let settled = read.stopped_at.is_some() || tail.is_full() || scan.found.shows_wrapping(&tail);
    // Otherwise good blocks at the end may have been read from a cache, so they count as not tested.
    let tested = settled || rounds::test_again(&mut scan, sizes.chunk, &mut tail)?;
    scan.found
        .settle(tail, |state| tested || state != BlockState::Good);
    let capacity = scan.found.capacity(end);
    Ok(scan.verdict(claimed, capacity, written.map, read.map))
}

/// Checks that a range is inside the device, and consists of whole blocks.
fn check_range(device: &dyn BlockDev, range: &Range<u64>) -> Result<(), VerifyError> {
    let Range { start, end } = *range;
    let block = u64::from(device.block());
    let whole_blocks = start.is_multiple_of(block) && end.is_multiple_of(block);
    if start <= end && end <= device.size().0 && whole_blocks {
        return Ok(());
    }
    Err(VerifyError::Range {
        start: Bytes(start),
        end: Bytes(end),
        size: device.size(),
        block: device.block(),
    })
}

/// Sizes that control the verification.
#[derive(Clone, Copy)]
struct ScanSizes {
    /// Write and read size: enough for the full speed of any card.
    chunk: u64,
    /// Minimum size of the range at the start that samples are checked against.
    segment: u64,
    /// Size in bytes that is more than twice any plausible cache.
    cache: u64,
}

const SIZES: ScanSizes = ScanSizes {
    chunk: CHUNK,
    segment: 64 << 20,
    cache: 1 << 30,
};

impl ScanSizes {
    /// Returns the size of the part at the end that is tested repeatedly, because it may be in a
    /// cache: a bounded fraction of the device.
    fn tail(self, len: u64) -> u64 {
        (len / 32).clamp(self.cache, 8 * self.cache).min(len)
    }

    /// Bytes to write between writing samples and reading them back.
    fn emptying(self, size: u64) -> u64 {
        self.cache.min(size / 2)
    }
}

/// Splits a range into pieces of the write size.
fn chunks(range: Range<u64>, chunk: u64) -> Vec<Range<u64>> {
    let starts = range.clone().step_by(chunk as usize);
    starts
        .map(|start| start..range.end.min(start + chunk))
        .collect()
}

#[cfg(test)]
pub(crate) use block::{label as stamped, stamp};

#[cfg(test)]
mod cached;
#[cfg(test)]
mod tests;
