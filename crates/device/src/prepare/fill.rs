//! Overwriting a whole device, and discarding it.

use crate::blockdev::{BlockDev, OnProgress, ScanProgress, SpeedMap, SpeedPoint};
use crate::guard::Erasable;
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::Errno;
use hakaru_sys::buffer::AlignedBuffer;
use serde::{Deserialize, Serialize};
use std::io;

/// Write size in bytes: enough for the full speed of any card, and a multiple of most allocation units.
pub(crate) const CHUNK: usize = 4 << 20;

/// Content that a device is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "pattern")]
pub enum FillPattern {
    /// 0xff, the content of erased flash.
    Ones,
    /// 0x00.
    Zeroes,
    /// Random bytes: incompressible and without duplicates.
    Random {
        /// Seed of the random bytes.
        seed: u64,
    },
}

/// Errors of filling a device.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The buffer cannot be allocated.
    #[error("cannot allocate a buffer of {size}: {source}")]
    Memory {
        /// Requested size.
        size: Bytes,
        /// The I/O error.
        source: io::Error,
    },
    /// A write or flush failed.
    #[error("cannot write to the device at {offset}: {source}; help: check the kernel log (dmesg)")]
    Write {
        /// The offset.
        offset: Bytes,
        /// The I/O error.
        source: io::Error,
    },
    /// The device was removed.
    #[error("the device was removed while writing at {offset}")]
    Pulled {
        /// The offset.
        offset: Bytes,
    },
    /// Stopped by the user.
    #[error("filling was stopped after {done}")]
    Interrupted {
        /// Bytes written before that.
        done: Bytes,
    },
}

/// Overwrites a whole device and flushes it.
///
/// # Errors
/// A [`FillError`] with the offset.
pub fn fill(
    device: &mut dyn BlockDev,
    pattern: FillPattern,
    on_progress: &mut OnProgress<'_>,
) -> Result<SpeedMap, FillError> {
    let mut buffer = buffer(CHUNK)?;
    if pattern == FillPattern::Ones {
        buffer.as_mut_slice().fill(0xff);
    }
    let (total, begin) = (device.size(), device.now());
    let mut map = SpeedMap::default();
    let mut offset = 0;
    while offset < total.0 {
        let len = (total.0 - offset).min(CHUNK as u64) as usize;
        let chunk = &mut buffer.as_mut_slice()[..len];
        if let FillPattern::Random { seed } = pattern {
            random_bytes(Rng::fork(seed, offset), chunk);
        }
        let before = device.now();
        if let Err(source) = device.write_at(offset, chunk) {
            return Err(failed(device, Bytes(offset), source));
        }
        let elapsed = since(device, before);
        map.add(point(offset, len, elapsed), total);
        offset += len as u64;
        let (done, elapsed) = (Bytes(offset), since(device, begin));
        if on_progress(progress("writing", done, total, elapsed)).is_break() {
            return Err(FillError::Interrupted { done });
        }
    }
    if let Err(source) = device.flush() {
        return Err(failed(device, total, source));
    }
    Ok(map)
}

/// One chunk of a speed map.
pub(super) fn point(offset: u64, len: usize, elapsed: Nanos) -> SpeedPoint {
    SpeedPoint {
        offset: Bytes(offset),
        len: Bytes(len as u64),
        elapsed,
    }
}

/// The progress of a step.
pub(super) fn progress(
    doing: &'static str,
    done: Bytes,
    total: Bytes,
    elapsed: Nanos,
) -> ScanProgress {
    ScanProgress {
        doing,
        done,
        total,
        elapsed,
    }
}

fn failed(device: &dyn BlockDev, offset: Bytes, source: io::Error) -> FillError {
    match device.turns_out_pulled() {
        true => FillError::Pulled { offset },
        false => FillError::Write { offset, source },
    }
}

pub(crate) fn buffer(size: usize) -> Result<AlignedBuffer, FillError> {
    AlignedBuffer::new(size).map_err(|error| FillError::Memory {
        size: Bytes(size as u64),
        source: error.into(),
    })
}

fn since(device: &dyn BlockDev, before: Nanos) -> Nanos {
    Nanos(device.now().0.saturating_sub(before.0))
}

/// Generates random bytes, 8 at a time.
pub(crate) fn random_bytes(mut rng: Rng, bytes: &mut [u8]) {
    for part in bytes.chunks_mut(8) {
        let word = rng.next_u64().to_le_bytes();
        part.copy_from_slice(&word[..part.len()]);
    }
}

/// Type of discard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscardKind {
    /// The device may drop the data.
    Plain,
    /// The device must erase the data and all its copies.
    Secure,
}

/// Errors of discarding a device.
#[derive(Debug, thiserror::Error)]
pub enum DiscardError {
    /// Discard of this kind is not supported.
    #[error(
        "{node} does not support {kind} discard; help: fill it with 0xff instead, which has a \
        similar effect on a card"
    )]
    NotOffered {
        /// The device.
        node: String,
        /// `plain` or `secure`.
        kind: &'static str,
    },
    /// The discard failed.
    #[error("cannot discard at {offset}: {source}")]
    Refused {
        /// The offset.
        offset: Bytes,
        /// The I/O error.
        source: io::Error,
    },
    /// The device was removed.
    #[error("the device was removed during discard at {offset}")]
    Pulled {
        /// The offset.
        offset: Bytes,
    },
    /// Stopped by the user.
    #[error("discarding was stopped after {done}")]
    Interrupted {
        /// Bytes processed before that.
        done: Bytes,
    },
}

/// Discards a whole device, in steps of 1 GiB so that it can be interrupted.
///
/// # Errors
/// A [`DiscardError`] with the offset.
pub fn discard(
    device: &Erasable,
    kind: DiscardKind,
    on_progress: &mut OnProgress<'_>,
) -> Result<(), DiscardError> {
    let begin = hakaru_sys::clock::monotonic();
    let total = device.size();
    let mut offset = 0;
    while offset < total.0 {
        let len = (total.0 - offset).min(1 << 30);
        let file = device.device();
        let answer = match kind {
            DiscardKind::Plain => hakaru_sys::file::discard(file, offset, len),
            DiscardKind::Secure => hakaru_sys::block::secure_discard(file, offset, len),
        };
        answer.map_err(|error| not_discarded(device, kind, offset, error))?;
        offset += len;
        let elapsed = Nanos(hakaru_sys::clock::monotonic().saturating_sub(begin));
        let done = Bytes(offset);
        if on_progress(progress("discarding", done, total, elapsed)).is_break() {
            return Err(DiscardError::Interrupted { done });
        }
    }
    Ok(())
}

fn not_discarded(device: &Erasable, kind: DiscardKind, offset: u64, error: Errno) -> DiscardError {
    if error == Errno::OPNOTSUPP && offset == 0 {
        return DiscardError::NotOffered {
            node: device.node().display().to_string(),
            kind: match kind {
                DiscardKind::Plain => "plain",
                DiscardKind::Secure => "secure",
            },
        };
    }
    let (offset, source) = (Bytes(offset), error.into());
    match hakaru_sys::block::is_empty(device.device()) {
        true => DiscardError::Pulled { offset },
        false => DiscardError::Refused { offset, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcard::FakeCard;
    use std::ops::ControlFlow;

    #[test]
    fn every_byte_is_overwritten_and_the_speed_returned() {
        for (pattern, byte) in [(FillPattern::Ones, 0xff), (FillPattern::Zeroes, 0)] {
            let mut card = FakeCard::honest(10 << 20);
            card.content.fill(0x55);
            let map = fill(&mut card, pattern, &mut |_| ControlFlow::Continue(())).unwrap();
            assert!(card.content.iter().all(|b| *b == byte));
            assert_eq!((map.whole().len, card.flushes), (Bytes(10 << 20), 1));
            // The simulated card writes one byte in 50 ns.
            assert_eq!(map.whole().elapsed, Nanos((10 << 20) * 50));
        }
    }

    #[test]
    fn random_fill_does_not_repeat() {
        let mut card = FakeCard::honest(8 << 20);
        fill(&mut card, FillPattern::Random { seed: 1 }, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        let (first, second) = card.content.split_at(4 << 20);
        assert_ne!(first, second);
        let zeroes = card.content.iter().filter(|byte| **byte == 0).count();
        assert!((30_000..36_000).contains(&zeroes), "{zeroes}");
    }

    #[test]
    fn an_error_names_the_place_and_a_stop_is_obeyed() {
        let mut card = FakeCard::honest(16 << 20);
        card.write_error = Some(9 << 20);
        let error = fill(&mut card, FillPattern::Ones, &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap_err();
        assert!(
            matches!(error, FillError::Write { offset: Bytes(o), .. } if o == 8 << 20),
            "{error}"
        );
        let mut card = FakeCard::honest(16 << 20);
        let error = fill(
            &mut card,
            FillPattern::Ones,
            &mut |_| ControlFlow::Break(()),
        )
        .unwrap_err();
        assert!(
            matches!(error, FillError::Interrupted { done: Bytes(d) } if d == 4 << 20),
            "{error}"
        );
    }
}
