//! Scans a device piece by piece, in a write pass and a read pass, and tolerates failing blocks.

use super::block::{judge, stamp};
use super::error::{VerifyError, gone, is_full, is_gone};
use super::findings::{Runs, ScanFindings};
use crate::blockdev::{BlockDev, OnProgress, ScanProgress};
use hakaru_model::integrity::{BlockState, Capacity, IntegrityVerdict, SpeedMap, SpeedPoint};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::buffer::AlignedBuffer;
use rustix::io::Errno;
use std::io;
use std::ops::Range;

/// Consecutive failing blocks of a piece before the rest of it is skipped: a card takes seconds for
/// each. Halved with each piece that fails completely.
const PATIENCE: u32 = 64;

/// Number of completely failed pieces after which the scan checks whether to continue.
const MOST_FAILURES: u32 = 16;

/// Time limit in ns for flushing caches if each piece must be written block by block.
const MOST_WAITED: u64 = 120_000_000_000;

/// A pass over the device.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pass {
    Write,
    Read,
}

impl Pass {
    pub(super) fn name(self, again: bool) -> &'static str {
        match (self, again) {
            (Pass::Write, false) => "writing",
            (Pass::Read, false) => "reading",
            (Pass::Write, true) => "writing again",
            (Pass::Read, true) => "reading again",
        }
    }
}

/// Result of a pass.
#[derive(Default)]
pub(super) struct PassResult {
    pub(super) map: SpeedMap,
    /// The offset at which the pass was stopped.
    pub(super) stopped_at: Option<Bytes>,
    /// The offset at which space ran out.
    pub(super) full_at: Option<Bytes>,
}

pub(super) struct SurfaceScan<'a, 'b> {
    device: &'a mut dyn BlockDev,
    /// Seed of the expected content.
    seed: u64,
    /// Seeds of all rounds so far.
    seeds: Vec<u64>,
    on_progress: &'a mut OnProgress<'b>,
    buffer: AlignedBuffer,
    pub(super) found: ScanFindings,
    /// Block states from this offset on are pending, because another round may change them.
    held: Option<(u64, Runs)>,
}

impl<'a, 'b> SurfaceScan<'a, 'b> {
    pub(super) fn new(
        device: &'a mut dyn BlockDev,
        seed: u64,
        chunk: u64,
        on_progress: &'a mut OnProgress<'b>,
    ) -> Result<SurfaceScan<'a, 'b>, VerifyError> {
        let buffer = crate::prepare::fill_buffer(chunk as usize)?;
        let found = ScanFindings::default();
        Ok(SurfaceScan {
            device,
            seed,
            seeds: vec![seed],
            on_progress,
            buffer,
            found,
            held: None,
        })
    }

    /// Starts another round with new content. Returns its seed.
    pub(super) fn renew_seed(&mut self) -> u64 {
        let next = Rng::fork(self.seeds[0], self.seeds.len() as u64).next_u64();
        self.seeds.push(next);
        self.seed = next;
        next
    }

    /// Expects the content of an earlier round.
    pub(super) fn expect(&mut self, seed: u64) {
        self.seed = seed;
    }

    /// Keeps block states from an offset on pending.
    pub(super) fn hold_from(&mut self, offset: u64) {
        self.held = Some((offset, Runs::default()));
    }

    /// Takes the pending states.
    pub(super) fn take_held(&mut self) -> Runs {
        self.held.take().map(|(_, runs)| runs).unwrap_or_default()
    }

    fn note(&mut self, offset: u64, len: u64, state: BlockState) {
        let state = self.found.state_of(offset, state);
        match &mut self.held {
            Some((from, runs)) if offset >= *from => runs.push(offset, len, state),
            _ => self.found.add(offset, len, state),
        }
    }

    fn doing(&self, pass: Pass) -> &'static str {
        pass.name(self.seeds.len() > 1)
    }

    pub(super) fn flush(&mut self) -> Result<(), VerifyError> {
        self.device
            .flush()
            .map_err(|source| VerifyError::Flush { source })
    }

    pub(super) fn verdict(
        self,
        claimed: Bytes,
        capacity: Capacity,
        write: SpeedMap,
        read: SpeedMap,
    ) -> IntegrityVerdict {
        let ScanFindings {
            good,
            bad,
            bad_bytes,
            ..
        } = self.found;
        let (good, bad_bytes) = (Bytes(good), Bytes(bad_bytes));
        IntegrityVerdict {
            claimed,
            capacity,
            good,
            bad,
            bad_bytes,
            write_speed: write,
            read_speed: read,
        }
    }

    /// Runs a pass over the pieces, none of which is larger than a chunk.
    pub(super) fn pass(
        &mut self,
        pass: Pass,
        pieces: &[Range<u64>],
    ) -> Result<PassResult, VerifyError> {
        let total = Bytes(pieces.iter().map(|piece| piece.end - piece.start).sum());
        let (begin, mut done, mut failures) = (self.device.now(), 0, 0);
        let mut result = PassResult::default();
        for (index, piece) in pieces.iter().enumerate() {
            let offset = Bytes(piece.start);
            match self.piece(pass, piece, PATIENCE >> failures.min(6)) {
                Ok(elapsed) => {
                    result.map.add(point(piece, elapsed), total);
                    failures = 0;
                }
                Err(source) if is_full(&source) && self.device.may_shrink() && index > 0 => {
                    result.full_at = Some(offset);
                    break;
                }
                Err(source) => {
                    failures += 1;
                    let rest = &pieces[index + 1..];
                    if !self.goes_on(pass, failures, rest, offset, source)? {
                        break;
                    }
                }
            }
            done += piece.end - piece.start;
            if self.report(self.doing(pass), done, total, begin) {
                let ended = index + 1 < pieces.len() || pass == Pass::Write;
                result.stopped_at = ended.then_some(Bytes(piece.end));
                break;
            }
        }
        Ok(result)
    }

    /// Reports progress; returns whether to stop.
    fn report(&mut self, doing: &'static str, done: u64, total: Bytes, begin: Nanos) -> bool {
        let progress = ScanProgress {
            doing,
            done: Bytes(done),
            total,
            elapsed: self.since(begin),
        };
        (self.on_progress)(progress).is_break()
    }

    /// Writes or reads one piece of at most a chunk, and records the findings.
    pub(super) fn piece(
        &mut self,
        pass: Pass,
        piece: &Range<u64>,
        patience: u32,
    ) -> io::Result<Nanos> {
        let len = (piece.end - piece.start) as usize;
        match pass {
            Pass::Write => self.write(piece.start, len, patience),
            Pass::Read => self.read(piece.start, len, patience),
        }
    }

    /// Rewrites existing content until `amount` bytes have passed through every cache. Unreadable
    /// pieces are overwritten. Failures are not findings.
    pub(super) fn empty_caches(
        &mut self,
        amount: u64,
        pieces: &[Range<u64>],
    ) -> Result<(), VerifyError> {
        let (begin, mut done, mut failures, mut slow) = (self.device.now(), 0, 0, 0);
        for piece in pieces {
            if done >= amount || failures >= MOST_FAILURES || slow >= MOST_WAITED {
                break;
            }
            match self.rewrite(piece, &mut slow) {
                Ok(()) => (done, failures) = (done + piece.end - piece.start, 0),
                Err(source) if is_gone(&source) => return Err(gone(Bytes(piece.start), source)),
                Err(_) => failures += 1,
            }
            let doing = "emptying caches";
            if self.report(doing, done, Bytes(amount.max(done)), begin) {
                let at = Bytes(piece.start);
                return Err(VerifyError::Interrupted { doing, at });
            }
        }
        self.flush()
    }

    /// Rewrites existing content, or overwrites it if it cannot be read; the time of that is added to `slow`.
    fn rewrite(&mut self, piece: &Range<u64>, slow: &mut u64) -> io::Result<()> {
        let len = (piece.end - piece.start) as usize;
        let before = self.device.now();
        let content = &mut self.buffer.as_mut_slice()[..len];
        let answer = self.device.rewrite_at(piece.start, content);
        answer.or_else(|error| {
            if is_gone(&error) || is_full(&error) {
                return Err(error);
            }
            let unwritable = self.found.take_unwritable();
            let written = self.write(piece.start, len, 1).map(drop);
            self.found.put_unwritable(unwritable);
            *slow += self.since(before).0;
            written
        })
    }

    /// Handles the failure of a piece, the `failures`-th in a row; returns whether to continue with the rest.
    ///
    /// After many failures: a device that never responds is gone; if only the rest fails, that is a finding and is not
    /// tried block by block.
    fn goes_on(
        &mut self,
        pass: Pass,
        failures: u32,
        rest: &[Range<u64>],
        at: Bytes,
        source: io::Error,
    ) -> Result<bool, VerifyError> {
        if is_gone(&source) {
            return Err(gone(at, source));
        }
        if is_full(&source) {
            return Err(VerifyError::Full { at });
        }
        if !failures.is_multiple_of(MOST_FAILURES) {
            return Ok(true);
        }
        if !self.responds() {
            let pulled = self.device.turns_out_pulled();
            let source = if pulled { Errno::NODEV.into() } else { source };
            return Err(gone(at, source));
        }
        let block = u64::from(self.device.block());
        let last = rest.last().map(|piece| piece.end - block);
        if last.is_none_or(|last| self.try_block(pass, last).is_ok()) {
            return Ok(true);
        }
        for piece in rest {
            self.give_up(pass, piece.start, piece.end - piece.start);
        }
        Ok(false)
    }

    /// Records blocks that are not tried because all before them failed.
    fn give_up(&mut self, pass: Pass, offset: u64, len: u64) {
        match pass {
            Pass::Write => self.found.unwritable(offset, len),
            Pass::Read => self.note(offset, len, BlockState::Unreadable),
        }
    }

    /// Whether the first, the middle or the last block can be read.
    fn responds(&mut self) -> bool {
        let block = u64::from(self.device.block());
        let last = self.device.size().0.saturating_sub(block);
        [0, last / 2 / block * block, last]
            .into_iter()
            .any(|offset| self.try_block(Pass::Read, offset).is_ok())
    }

    /// Writes or reads one block without recording a finding.
    pub(super) fn try_block(&mut self, pass: Pass, offset: u64) -> io::Result<BlockState> {
        let block = self.device.block() as usize;
        let bytes = &mut self.buffer.as_mut_slice()[..block];
        match pass {
            Pass::Write => {
                stamp(self.seed, offset, bytes);
                self.device.write_at(offset, bytes)?;
                Ok(BlockState::Good)
            }
            Pass::Read => {
                self.device.read_at(offset, bytes)?;
                Ok(judge(self.seed, &self.seeds, offset, bytes))
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
        let elapsed = self.since(before);
        let Err(error) = answer else {
            return Ok(elapsed);
        };
        if is_full(&error) {
            return Err(error);
        }
        // Includes the time of the single blocks, because the failed write may have taken no time at all.
        if self.write_blocks(at, len, most, &error)? {
            Ok(self.since(before))
        } else {
            Err(error)
        }
    }

    /// Writes the stamped blocks of a piece one by one after this error, because one bad block must not make its whole
    /// piece bad. Returns whether any was written.
    fn write_blocks(
        &mut self,
        at: u64,
        len: usize,
        most: u32,
        error: &io::Error,
    ) -> io::Result<bool> {
        let block = self.device.block() as usize;
        let chunk = &self.buffer.as_mut_slice()[..len];
        let (mut any, mut patience) = (false, most);
        for (offset, bytes) in (at..).step_by(block).zip(chunk.chunks_exact(block)) {
            let answer = if patience == 0 {
                Err(error.kind().into())
            } else {
                self.device.write_at(offset, bytes)
            };
            match answer {
                Ok(()) => (any, patience) = (true, most),
                Err(error) if is_gone(&error) || is_full(&error) => return Err(error),
                Err(_) => {
                    patience = patience.saturating_sub(1);
                    self.found.unwritable(offset, block as u64);
                }
            }
        }
        Ok(any)
    }

    fn read(&mut self, at: u64, len: usize, most: u32) -> io::Result<Nanos> {
        let block = self.device.block() as usize;
        let before = self.device.now();
        let chunk = &mut self.buffer.as_mut_slice()[..len];
        let answer = self.device.read_at(at, chunk);
        let elapsed = self.since(before);
        let (mut any, mut patience) = (answer.is_ok(), most);
        for start in (0..len).step_by(block) {
            let offset = at + start as u64;
            let bytes = &mut self.buffer.as_mut_slice()[start..start + block];
            let read = match &answer {
                Ok(()) => Ok(()),
                Err(error) if patience == 0 => Err(error.kind().into()),
                Err(_) => self.device.read_at(offset, bytes),
            };
            let state = match read {
                Ok(()) => {
                    (any, patience) = (true, most);
                    judge(self.seed, &self.seeds, offset, bytes)
                }
                Err(error) if is_gone(&error) => return Err(error),
                Err(_) => {
                    patience = patience.saturating_sub(1);
                    BlockState::Unreadable
                }
            };
            self.note(offset, block as u64, state);
        }
        match answer {
            Err(error) if !any => Err(error),
            _ => Ok(elapsed),
        }
    }
}

fn point(piece: &Range<u64>, elapsed: Nanos) -> SpeedPoint {
    SpeedPoint {
        offset: Bytes(piece.start),
        len: Bytes(piece.end - piece.start),
        elapsed,
    }
}
