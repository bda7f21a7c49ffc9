//! Is the claimed size real, and do writes survive? And how fast is the device from its beginning to its end?
//!
//! All of it is written once, and then all of it is read once: every block carries its own address, so that a block that
//! comes back with another address tells where the card really put it. That finds cards that claim more than they
//! have (their memory wraps around, or ends), dropped writes, and rot. It does not find a cache that lies about
//! having flushed, which takes a power cut. What was on the device is lost.
//!
//! The idea is that of f3 (Digirati, "Fight Flash Fraud"), whose documentation describes the kinds of false cards.

mod block;
mod findings;

pub use hakaru_model::integrity::{BlockState, Capacity, Span, Verdict};

use crate::blockdev::{BlockDev, OnProgress, Progress, SpeedMap, SpeedPoint};
use crate::prepare::FillError;
use block::{judge, stamp};
use findings::Findings;
use hakaru_model::units::{Bytes, Nanos};
use std::io;
use std::ops::Range;

/// As large as fills are written: the full speed of any card.
const CHUNK: u64 = 4 << 20;

/// Blocks of a chunk that may fail one after another before the rest of the chunk is given up: a card takes seconds for
/// each.
const PATIENCE: u32 = 64;

/// Why verifying could not be brought to an end. Errors of single blocks are findings, and not among these.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// No memory for the buffer.
    #[error(transparent)]
    Memory(#[from] FillError),
    /// The range does not fit the device.
    #[error("the range from {start} to {end} does not fit a device of {size} in blocks of {block} bytes")]
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
    /// Somebody ended it.
    #[error("verifying was ended while {doing} at {at}")]
    Interrupted {
        /// `writing` or `reading`.
        doing: &'static str,
        /// Where.
        at: Bytes,
    },
    /// What was written could not be flushed.
    #[error("the device refused to flush: {source}")]
    Flush {
        /// Its answer.
        source: io::Error,
    },
    /// It went away: so many errors one after another that the rest is not worth trying.
    #[error("the device answers with errors only, up to {at}: {source} (was it pulled, or is it worn out?)")]
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
pub fn verify(device: &mut dyn BlockDev, seed: u64, on_progress: &mut OnProgress<'_>) -> Result<Verdict, VerifyError> {
    let range = 0..device.size().0;
    verify_range(device, range, seed, on_progress)
}

/// Verifies a part of a device, in bytes; nothing outside of it is touched.
///
/// # Errors
/// A [`VerifyError`] when it cannot be brought to an end.
pub fn verify_range(
    device: &mut dyn BlockDev,
    range: Range<u64>,
    seed: u64,
    on_progress: &mut OnProgress<'_>,
) -> Result<Verdict, VerifyError> {
    let block = u64::from(device.block());
    let whole_blocks = range.start.is_multiple_of(block) && range.end.is_multiple_of(block);
    if range.start > range.end || range.end > device.size().0 || !whole_blocks {
        let (start, end) = (Bytes(range.start), Bytes(range.end));
        return Err(VerifyError::Range { start, end, size: device.size(), block: device.block() });
    }
    let mut walk = Walk { device, range, seed, found: Findings::default() };
    let write_speed = walk.all("writing", on_progress, Walk::write)?;
    walk.device.flush().map_err(|source| VerifyError::Flush { source })?;
    let read_speed = walk.all("reading", on_progress, Walk::read)?;
    let Walk { range, found, .. } = walk;
    let claimed = Bytes(range.end - range.start);
    let capacity = found.capacity(range.end);
    let Findings { good, bad, bad_bytes, .. } = found;
    Ok(Verdict { claimed, capacity, good: Bytes(good), bad, bad_bytes: Bytes(bad_bytes), write_speed, read_speed })
}

struct Walk<'a> {
    device: &'a mut dyn BlockDev,
    range: Range<u64>,
    seed: u64,
    found: Findings,
}

impl Walk<'_> {
    /// Goes once over the range, chunk by chunk.
    fn all(
        &mut self,
        doing: &'static str,
        on_progress: &mut OnProgress<'_>,
        mut one: impl FnMut(&mut Self, u64, &mut [u8]) -> Result<Nanos, io::Error>,
    ) -> Result<SpeedMap, VerifyError> {
        let mut buffer = crate::prepare::fill_buffer(CHUNK as usize)?;
        let total = Bytes(self.range.end - self.range.start);
        let (mut map, begin, mut at, mut failures) = (SpeedMap::default(), self.device.now(), self.range.start, 0);
        while at < self.range.end {
            let len = CHUNK.min(self.range.end - at);
            match one(self, at, &mut buffer.as_mut_slice()[..len as usize]) {
                Ok(elapsed) => {
                    map.add(SpeedPoint { offset: Bytes(at), len: Bytes(len), elapsed }, total);
                    failures = 0;
                }
                // A bad stretch is a finding; a device that answers nothing any more is gone.
                Err(source) if failures >= 16 || is_gone(&source) => {
                    return Err(VerifyError::Gone { at: Bytes(at), source });
                }
                Err(_) => failures += 1,
            }
            at += len;
            let done = Bytes(at - self.range.start);
            let elapsed = Nanos(self.device.now().0.saturating_sub(begin.0));
            if on_progress(Progress { doing, done, total, elapsed }).is_break() {
                return Err(VerifyError::Interrupted { doing, at: Bytes(at) });
            }
        }
        Ok(map)
    }

    fn write(&mut self, at: u64, chunk: &mut [u8]) -> Result<Nanos, io::Error> {
        let block = self.device.block() as usize;
        for (offset, bytes) in (at..).step_by(block).zip(chunk.chunks_exact_mut(block)) {
            stamp(self.seed, offset, bytes);
        }
        let before = self.device.now();
        let answer = self.device.write_at(at, chunk);
        let elapsed = Nanos(self.device.now().0.saturating_sub(before.0));
        let Err(error) = answer else { return Ok(elapsed) };
        // One bad block must not condemn its whole chunk.
        let (mut any, mut patience) = (false, PATIENCE);
        for (offset, bytes) in (at..).step_by(block).zip(chunk.chunks_exact(block)) {
            let answer = if patience == 0 { Err(error.kind().into()) } else { self.device.write_at(offset, bytes) };
            match answer {
                Ok(()) => (any, patience) = (true, PATIENCE),
                Err(error) if is_gone(&error) => return Err(error),
                Err(_) => {
                    patience = patience.saturating_sub(1);
                    self.found.unwritable(offset, block as u64);
                }
            }
        }
        if any { Ok(elapsed) } else { Err(error) }
    }

    fn read(&mut self, at: u64, chunk: &mut [u8]) -> Result<Nanos, io::Error> {
        let block = self.device.block() as usize;
        let before = self.device.now();
        let answer = self.device.read_at(at, chunk);
        let elapsed = Nanos(self.device.now().0.saturating_sub(before.0));
        let (mut any, mut patience) = (answer.is_ok(), PATIENCE);
        for (offset, bytes) in (at..).step_by(block).zip(chunk.chunks_exact_mut(block)) {
            let read = match &answer {
                Ok(()) => Ok(()),
                Err(error) if patience == 0 => Err(error.kind().into()),
                Err(_) => self.device.read_at(offset, bytes),
            };
            let state = match read {
                Ok(()) => {
                    (any, patience) = (true, PATIENCE);
                    judge(self.seed, offset, bytes)
                }
                Err(error) if is_gone(&error) => return Err(error),
                Err(_) => {
                    patience = patience.saturating_sub(1);
                    BlockState::Unreadable
                }
            };
            self.found.add(offset, block as u64, state);
        }
        match answer {
            Err(error) if !any => Err(error),
            _ => Ok(elapsed),
        }
    }
}

/// Errors that mean that the device is no longer there.
fn is_gone(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::NODEV | Errno::NXIO | Errno::NOMEDIUM))
}

#[cfg(test)]
mod tests;
