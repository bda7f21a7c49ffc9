//! Going over a device piece by piece, once to write and once to read, and bearing with blocks that fail.

use super::block::{judge, stamp};
use super::findings::Findings;
use super::{CHUNK, VerifyError, is_full, is_gone};
use crate::blockdev::{BlockDev, OnProgress, Progress};
use hakaru_model::integrity::{BlockState, Capacity, SpeedMap, SpeedPoint, Verdict};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::buffer::AlignedBuffer;
use std::io;
use std::ops::Range;

/// Blocks of a piece that may fail one after another before the rest of it is given up: a card takes seconds for each.
/// It is halved with each piece that fails as a whole.
const PATIENCE: u32 = 64;

/// After so many pieces that failed as a whole, it is asked whether it is worth going on.
const MOST_FAILURES: u32 = 16;

/// What is done on one way over the device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leg {
    Write,
    Read,
}

impl Leg {
    pub(super) fn name(self) -> &'static str {
        match self {
            Leg::Write => "writing",
            Leg::Read => "reading",
        }
    }
}

/// What came of one way over the device.
pub(super) struct Gone {
    pub(super) map: SpeedMap,
    /// Where somebody ended it.
    pub(super) stopped_at: Option<Bytes>,
    /// Where there was no room any more.
    pub(super) full_at: Option<Bytes>,
}

pub(super) struct Walk<'a, 'b> {
    device: &'a mut dyn BlockDev,
    seed: u64,
    on_progress: &'a mut OnProgress<'b>,
    buffer: AlignedBuffer,
    pub(super) found: Findings,
}

impl<'a, 'b> Walk<'a, 'b> {
    pub(super) fn new(
        device: &'a mut dyn BlockDev,
        seed: u64,
        on_progress: &'a mut OnProgress<'b>,
    ) -> Result<Walk<'a, 'b>, VerifyError> {
        let buffer = crate::prepare::fill_buffer(CHUNK as usize)?;
        Ok(Walk { device, seed, on_progress, buffer, found: Findings::default() })
    }

    pub(super) fn flush(&mut self) -> Result<(), VerifyError> {
        self.device.flush().map_err(|source| VerifyError::Flush { source })
    }

    pub(super) fn verdict(self, claimed: Bytes, capacity: Capacity, write: SpeedMap, read: SpeedMap) -> Verdict {
        let Findings { good, bad, bad_bytes, .. } = self.found;
        let (good, bad_bytes) = (Bytes(good), Bytes(bad_bytes));
        Verdict { claimed, capacity, good, bad, bad_bytes, write_speed: write, read_speed: read }
    }

    /// Goes once over the pieces, none of which is larger than a chunk.
    pub(super) fn leg(&mut self, leg: Leg, pieces: &[Range<u64>]) -> Result<Gone, VerifyError> {
        let total = Bytes(pieces.iter().map(|piece| piece.end - piece.start).sum());
        let (mut map, begin, mut done, mut failures) = (SpeedMap::default(), self.device.now(), 0, 0);
        for (index, piece) in pieces.iter().enumerate() {
            let (offset, len) = (Bytes(piece.start), Bytes(piece.end - piece.start));
            match self.piece(leg, piece, PATIENCE >> failures.min(6)) {
                Ok(elapsed) => {
                    map.add(SpeedPoint { offset, len, elapsed }, total);
                    failures = 0;
                }
                Err(source) if is_gone(&source) => return Err(VerifyError::Gone { at: offset, source }),
                Err(source) if is_full(&source) && self.device.may_shrink() && index > 0 => {
                    return Ok(Gone { map, stopped_at: None, full_at: Some(offset) });
                }
                Err(source) if is_full(&source) => return Err(VerifyError::Full { at: offset }),
                Err(source) => {
                    failures += 1;
                    let rest = &pieces[index + 1..];
                    if failures % MOST_FAILURES == 0 && !self.goes_on(leg, rest, offset, source)? {
                        return Ok(Gone { map, stopped_at: None, full_at: None });
                    }
                }
            }
            done += len.0;
            let elapsed = self.since(begin);
            let progress = Progress { doing: leg.name(), done: Bytes(done), total, elapsed };
            if (self.on_progress)(progress).is_break() {
                let ended = index + 1 < pieces.len() || leg == Leg::Write;
                return Ok(Gone { map, stopped_at: ended.then_some(Bytes(piece.end)), full_at: None });
            }
        }
        Ok(Gone { map, stopped_at: None, full_at: None })
    }

    /// Writes or reads one piece, no larger than a chunk, and keeps what is found.
    pub(super) fn piece(&mut self, leg: Leg, piece: &Range<u64>, patience: u32) -> io::Result<Nanos> {
        let len = (piece.end - piece.start) as usize;
        match leg {
            Leg::Write => self.write(piece.start, len, patience),
            Leg::Read => self.read(piece.start, len, patience),
        }
    }

    /// After many failures: a device that answers nowhere is gone; if merely all the rest of it fails, that is a
    /// finding, and need not be tried block by block. Tells whether it is worth going on.
    fn goes_on(&mut self, leg: Leg, rest: &[Range<u64>], at: Bytes, source: io::Error) -> Result<bool, VerifyError> {
        let block = u64::from(self.device.block());
        let last = self.device.size().0.saturating_sub(block);
        let middle = last / 2 / block * block;
        if ![0, middle, last].into_iter().any(|offset| self.try_block(Leg::Read, offset).is_ok()) {
            return Err(VerifyError::Gone { at, source });
        }
        let Some(end) = rest.last().map(|piece| piece.end) else { return Ok(true) };
        if self.try_block(leg, end - block).is_ok() {
            return Ok(true);
        }
        for piece in rest {
            match leg {
                Leg::Write => self.found.unwritable(piece.start, piece.end - piece.start),
                Leg::Read => self.found.add(piece.start, piece.end - piece.start, BlockState::Unreadable),
            }
        }
        Ok(false)
    }

    /// Writes or reads one block, without a finding.
    pub(super) fn try_block(&mut self, leg: Leg, offset: u64) -> io::Result<BlockState> {
        let block = self.device.block() as usize;
        let bytes = &mut self.buffer.as_mut_slice()[..block];
        match leg {
            Leg::Write => {
                stamp(self.seed, offset, bytes);
                self.device.write_at(offset, bytes)?;
                Ok(BlockState::Good)
            }
            Leg::Read => {
                self.device.read_at(offset, bytes)?;
                Ok(judge(self.seed, offset, bytes))
            }
        }
    }

    fn since(&self, before: Nanos) -> Nanos {
        Nanos(self.device.now().0.saturating_sub(before.0))
    }

    fn write(&mut self, at: u64, len: usize, most: u32) -> io::Result<Nanos> {
        let block = self.device.block() as usize;
        let chunk = &mut self.buffer.as_mut_slice()[..len];
        for (offset, bytes) in (at..).step_by(block).zip(chunk.chunks_exact_mut(block)) {
            stamp(self.seed, offset, bytes);
        }
        let before = self.device.now();
        let answer = self.device.write_at(at, chunk);
        let elapsed = Nanos(self.device.now().0.saturating_sub(before.0));
        let Err(error) = answer else { return Ok(elapsed) };
        if is_full(&error) {
            return Err(error);
        }
        // One bad block must not condemn its whole piece.
        let (mut any, mut patience) = (false, most);
        for (offset, bytes) in (at..).step_by(block).zip(chunk.chunks_exact(block)) {
            let answer = if patience == 0 { Err(error.kind().into()) } else { self.device.write_at(offset, bytes) };
            match answer {
                Ok(()) => (any, patience) = (true, most),
                Err(error) if is_gone(&error) || is_full(&error) => return Err(error),
                Err(_) => {
                    patience = patience.saturating_sub(1);
                    self.found.unwritable(offset, block as u64);
                }
            }
        }
        // What the blocks took one by one belongs to it: the write that failed may have taken no time at all.
        if any { Ok(self.since(before)) } else { Err(error) }
    }

    fn read(&mut self, at: u64, len: usize, most: u32) -> io::Result<Nanos> {
        let block = self.device.block() as usize;
        let chunk = &mut self.buffer.as_mut_slice()[..len];
        let before = self.device.now();
        let answer = self.device.read_at(at, chunk);
        let elapsed = Nanos(self.device.now().0.saturating_sub(before.0));
        let (mut any, mut patience) = (answer.is_ok(), most);
        for (offset, bytes) in (at..).step_by(block).zip(chunk.chunks_exact_mut(block)) {
            let read = match &answer {
                Ok(()) => Ok(()),
                Err(error) if patience == 0 => Err(error.kind().into()),
                Err(_) => self.device.read_at(offset, bytes),
            };
            let state = match read {
                Ok(()) => {
                    (any, patience) = (true, most);
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
