//! Is the claimed size real, and do writes survive? And how fast is the device from its beginning to its end?
//!
//! All of it is written once, and then all of it is read once: every block carries its own address, so that a block that
//! comes back with another address tells where the card really put it. That finds cards that claim more than they
//! have (their memory wraps around, or ends), dropped writes, and rot. What was written last could come from a cache, so
//! the end is written and read again with other content and in another order (see `rounds`). It does not find a cache
//! that lies about having flushed, which takes a power cut. What was on the device is lost.
//!
//! The idea is that of f3 (Digirati, "Fight Flash Fraud"), whose documentation describes the kinds of false cards.

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

/// As large as fills are written.
const CHUNK: u64 = 4 << 20;

/// Why verifying could not be brought to an end. Errors of single blocks are findings, and not among these.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// No memory for the buffer.
    #[error(transparent)]
    Memory(#[from] FillError),
    /// The range does not fit the device.
    #[error(
        "the range from {start} to {end} does not fit a device of {size} in blocks of {block} bytes"
    )]
    Range {
        /// Its beginning.
        start: Bytes,
        /// Its end.
        end: Bytes,
        /// Size of the device.
        size: Bytes,
        /// Its block.
        block: u32,
    },
    /// Somebody ended it before anything was read back.
    #[error("verifying was ended while {doing} at {at}")]
    Interrupted {
        /// `writing` or `reading`.
        doing: &'static str,
        /// Where.
        at: Bytes,
    },
    /// What was written could not be flushed.
    #[error("the device refused to flush: {}", cause(source))]
    Flush {
        /// Its answer.
        source: io::Error,
    },
    /// There is no room behind it any more: a thinly provisioned device, or a file system that filled up at once.
    #[error(
        "there is no space left at {at}: what is below gives less room than it announced, because something else \
         used it up (free some, then try again)"
    )]
    Full {
        /// Where.
        at: Bytes,
    },
    /// What was there before could not be put back.
    #[error(
        "what was at {at} could not be put back: {} ({left} in all are not as they were)",
        cause(source)
    )]
    NotRestored {
        /// The first place.
        at: Bytes,
        /// Bytes that are not as they were.
        left: Bytes,
        /// The device's answer.
        source: io::Error,
    },
    /// It is not there any more.
    #[error("the device was pulled, or lost its connection, at {at}: {source}")]
    Pulled {
        /// Where.
        at: Bytes,
        /// Its last answer.
        source: io::Error,
    },
    /// It went away: so many errors one after another that the rest is not worth trying.
    #[error(
        "the device answers with errors only, up to {at}: {source} (was it pulled, or is it worn out?)"
    )]
    Gone {
        /// Where.
        at: Bytes,
        /// Its last answer.
        source: io::Error,
    },
}

/// Verifies all of a device. What was on it is lost.
///
/// # Errors
/// A [`VerifyError`] when it cannot be brought to an end.
pub fn verify(
    device: &mut dyn BlockDev,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<IntegrityVerdict, VerifyError> {
    let range = 0..device.size().0;
    verify_range(device, range, seed, on_progress)
}

/// Verifies a part of a device, in bytes; nothing outside of it is touched.
///
/// When it is stopped, the verdict is about the part that was read back: `checked` tells how much that is, and
/// is next to nothing when it was stopped while writing. Free space that others use up meanwhile is verified as far as
/// there was room.
///
/// # Errors
/// A [`VerifyError`] when it cannot be brought to an end.
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
        // What was good may have come from a cache: it was not looked at.
        walk.found.settle(tail, |state| state != BlockState::Good);
    }
    let capacity = walk.found.capacity(end);
    Ok(walk.verdict(claimed, capacity, written.map, read.map))
}

/// Byte counts that decide how a device is verified.
#[derive(Clone, Copy)]
struct ScanSizes {
    /// What is written and read at once: enough for the full speed of any card.
    chunk: u64,
    /// Smallest stretch at the beginning that samples are checked against.
    stretch: u64,
    /// More than twice what any plausible cache holds.
    cache: u64,
}

const SIZES: ScanSizes = ScanSizes {
    chunk: CHUNK,
    stretch: 64 << 20,
    cache: 1 << 30,
};

impl ScanSizes {
    /// The part at the end that is written and read more than once, because a cache may have answered for it: a share
    /// of the whole, within bounds.
    fn tail(self, len: u64) -> u64 {
        (len / 32).clamp(self.cache, 8 * self.cache).min(len)
    }

    /// Bytes that are written between samples and reading them back.
    fn emptying(self, size: u64) -> u64 {
        self.cache.min(size / 2)
    }
}

/// A range in pieces that are written and read at once.
fn chunks(range: Range<u64>, chunk: u64) -> Vec<Range<u64>> {
    let starts = range.clone().step_by(chunk as usize);
    starts
        .map(|start| start..range.end.min(start + chunk))
        .collect()
}

/// Errors that mean that there is no room for what is written.
fn is_full(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NOSPC | Errno::DQUOT))
}

/// What a device that answers no more is told by.
fn gone(at: Bytes, source: io::Error) -> VerifyError {
    if is_gone(&source) {
        VerifyError::Pulled { at, source }
    } else {
        VerifyError::Gone { at, source }
    }
}

/// What an error means, for a message.
fn cause(error: &io::Error) -> String {
    if is_gone(error) {
        format!("the device was pulled, or lost its connection: {error}")
    } else {
        error.to_string()
    }
}

/// Errors that mean that the device is no longer there.
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
