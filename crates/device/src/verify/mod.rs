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
mod findings;
mod probe;
mod rounds;
mod surface_scan;

pub use hakaru_model::integrity::{BlockState, Capacity, IntegrityVerdict, Span, SpeedMap};

pub use content_keeper::{keeps, probe_and_restore};
pub use probe::{is_sampled, probe};

use crate::blockdev::{BlockDev, OnProgress};
use crate::prepare::FillError;
use hakaru_model::units::Bytes;
use std::io;
use std::ops::Range;
use surface_scan::{Pass, SurfaceScan};

/// Write and read size in bytes; same as for fill.
const CHUNK: u64 = 4 << 20;

/// Errors that prevent a verdict. Errors of single blocks are findings instead.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The buffer cannot be allocated.
    #[error(transparent)]
    Memory(#[from] FillError),
    /// The range is outside the device or not aligned.
    #[error(
        "the range {start} to {end} is outside the {size} device or not aligned to its \
        {block}-byte blocks"
    )]
    Range {
        /// Start of the range.
        start: Bytes,
        /// End of the range.
        end: Bytes,
        /// Size of the device.
        size: Bytes,
        /// Its block size.
        block: u32,
    },
    /// Stopped before anything was read back.
    #[error("verification was stopped while {doing} at {at}")]
    Interrupted {
        /// `writing` or `reading`.
        doing: &'static str,
        /// The offset.
        at: Bytes,
    },
    /// The flush failed.
    #[error("cannot flush the device: {}", cause(source))]
    Flush {
        /// The I/O error.
        source: io::Error,
    },
    /// The storage below is full: a thinly provisioned device, or a file system.
    #[error(
        "no space left at {at}: another program used the free space; help: free some space, then \
        try again"
    )]
    Full {
        /// The offset.
        at: Bytes,
    },
    /// The original content could not be restored.
    #[error(
        "cannot restore the content at {at}: {} ({left} in total not restored)",
        cause(source)
    )]
    NotRestored {
        /// The first offset.
        at: Bytes,
        /// Bytes not restored.
        left: Bytes,
        /// The I/O error.
        source: io::Error,
    },
    /// The device was removed.
    #[error("the device was removed or disconnected at {at}: {source}")]
    Pulled {
        /// The offset.
        at: Bytes,
        /// The last I/O error.
        source: io::Error,
    },
    /// Too many consecutive errors to continue.
    #[error(
        "every I/O up to {at} failed: {source}; help: check that the device is connected, or \
        replace it if it is worn out"
    )]
    Gone {
        /// The offset.
        at: Bytes,
        /// The last I/O error.
        source: io::Error,
    },
}

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
pub fn verify_range(
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
    let block = u64::from(device.block());
    let whole_blocks = range.start.is_multiple_of(block) && range.end.is_multiple_of(block);
    if range.start > range.end || range.end > device.size().0 || !whole_blocks {
        let (start, end) = (Bytes(range.start), Bytes(range.end));
        return Err(VerifyError::Range {
            start,
            end,
            size: device.size(),
            block: device.block(),
        });
    }
    let mut pieces = chunks(range.clone(), sizes.chunk);
    let mut walk = SurfaceScan::new(device, seed, sizes.chunk, on_progress)?;
    let written = walk.leg(Pass::Write, &pieces)?;
    let range = range.start..written.full_at.map_or(range.end, |at| at.0);
    let claimed = Bytes(range.end - range.start);
    if written.stopped_at.is_some() {
        walk.found.settle_unwritable();
        return Ok(walk.verdict(
            claimed,
            Capacity::AsClaimed,
            written.map,
            SpeedMap::default(),
        ));
    }
    pieces.retain(|piece| piece.start < range.end);
    walk.flush()?;
    walk.hold_from(range.end - sizes.tail(claimed.0));
    let read = walk.leg(Pass::Read, &pieces)?;
    let mut tail = walk.take_held();
    let end = read.stopped_at.map_or(range.end, |at| at.0);
    let settled = read.stopped_at.is_some() || tail.is_full() || walk.found.shows_wrapping(&tail);
    if settled || rounds::ask_again(&mut walk, sizes.chunk, &mut tail)? {
        walk.found.settle(tail, |_| true);
    } else {
        // Good blocks at the end may have been read from a cache, so they count as not tested.
        walk.found.settle(tail, |state| state != BlockState::Good);
    }
    let capacity = walk.found.capacity(end);
    Ok(walk.verdict(claimed, capacity, written.map, read.map))
}

/// Sizes that control the verification.
#[derive(Clone, Copy)]
struct ScanSizes {
    /// Write and read size: enough for the full speed of any card.
    chunk: u64,
    /// Minimum size of the range at the start that samples are checked against.
    stretch: u64,
    /// Size in bytes that is more than twice any plausible cache.
    cache: u64,
}

const SIZES: ScanSizes = ScanSizes {
    chunk: CHUNK,
    stretch: 64 << 20,
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

/// Whether an error means that the storage is full.
fn is_full(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOSPC | Errno::DQUOT))
}

/// Returns the error for a device that no longer responds.
fn gone(at: Bytes, source: io::Error) -> VerifyError {
    if is_gone(&source) {
        VerifyError::Pulled { at, source }
    } else {
        VerifyError::Gone { at, source }
    }
}

/// Describes an error for a message.
fn cause(error: &io::Error) -> String {
    if is_gone(error) {
        format!("the device was removed or disconnected: {error}")
    } else {
        error.to_string()
    }
}

/// Whether an error means that the device was removed.
fn is_gone(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NODEV | Errno::NXIO | Errno::NOMEDIUM))
}

#[cfg(test)]
pub(crate) use block::{label as stamped, stamp};

#[cfg(test)]
mod cached;
#[cfg(test)]
mod tests;
