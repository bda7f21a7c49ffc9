//! Content of written blocks, and comparison with the blocks read back.
//!
//! A block is split into pieces (one without an interval), each with its own header. The other data
//! is random, or a pattern that starts with the block.

use super::digest::sum;
use super::header::BlockHeader;
use crate::content;
use hakaru_model::job::rules::{PatternPart, Verify, VerifyMethod};
use hakaru_model::mismatch::{BlockDifference, Mismatch};
use hakaru_model::plan::VerifyPlan;
use hakaru_model::rng::Rng;
use hakaru_model::units::Bytes;
use std::ops::Range;

/// The longest pattern, in bytes.
const LONGEST_PATTERN: usize = 512;

/// Rules for writing and verifying blocks.
#[derive(Clone, Debug)]
pub(crate) struct Scheme {
    pub(super) rules: Verify,
    seed: u64,
    /// Header size in bytes; 0 for methods without a header.
    header: usize,
    pattern: Vec<PatternPart>,
    buffers: hakaru_model::job::Buffers,
}

/// Known properties of the write that produced a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpectedBlock {
    pub(crate) sequence: Option<u64>,
    /// Whether the seed must be that of this job.
    pub(crate) own_seed: bool,
}

/// A pattern with the offset of its block filled in.
struct OffsetPattern {
    bytes: [u8; LONGEST_PATTERN],
    len: usize,
}

impl OffsetPattern {
    /// Returns the byte of a block at this position.
    fn at(&self, place: usize) -> u8 {
        self.bytes[place % self.len]
    }
}

impl Scheme {
    pub(crate) fn new(plan: &VerifyPlan, buffers: &hakaru_model::job::Buffers) -> Scheme {
        let rules = plan.rules.clone();
        let pattern = match &rules.method {
            VerifyMethod::Pattern(parts) | VerifyMethod::PatternHeader(parts) => parts.clone(),
            _ => rules.fill.clone(),
        };
        let mut buffers = buffers.clone();
        if !matches!(
            buffers.fill,
            hakaru_model::job::BufferContent::Compressible(_)
        ) {
            buffers.fill = hakaru_model::job::BufferContent::Random;
        }
        Scheme {
            header: rules.method.header_bytes(),
            seed: plan.seed,
            rules,
            pattern,
            buffers,
        }
    }

    fn motif(&self, block: u64) -> Option<OffsetPattern> {
        let mut motif = OffsetPattern {
            bytes: [0; LONGEST_PATTERN],
            len: 0,
        };
        for part in &self.pattern {
            let offset = block.to_le_bytes();
            let bytes = match part {
                PatternPart::Bytes(bytes) => bytes.as_slice(),
                PatternPart::Offset => &offset,
            };
            let room = &mut motif.bytes[motif.len..];
            let len = bytes.len().min(room.len());
            room[..len].copy_from_slice(&bytes[..len]);
            motif.len += len;
        }
        (motif.len > 0).then_some(motif)
    }

    /// Returns the pieces of a block. A remainder too short for a header belongs to the previous piece.
    fn pieces(&self, len: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let interval = self
            .rules
            .interval
            .map_or(len, |interval| (interval.0 as usize).clamp(1, len.max(1)));
        let least = (self.header + self.rules.offset as usize).max(1);
        let mut start = 0;
        std::iter::from_fn(move || {
            if start >= len {
                return None;
            }
            let end = (start + interval).min(len);
            let end = if len - end < least { len } else { end };
            let piece = start..end;
            start = end;
            Some(piece)
        })
    }

    /// Position of the header within a piece.
    fn header_in(&self, piece: usize) -> Range<usize> {
        let start = (self.rules.offset as usize).min(piece.saturating_sub(self.header));
        start..(start + self.header).min(piece)
    }

    /// Fills a block to be written at `at` as write number `sequence`.
    pub(crate) fn write(&self, block: &mut [u8], at: u64, sequence: u64) {
        for piece in self.pieces(block.len()) {
            let whole = block.len();
            self.write_piece(
                &mut block[piece.clone()],
                (at, whole),
                piece.start,
                (self.seed, sequence),
            );
        }
    }

    /// Fills one piece at `start` bytes in the block of `whole` bytes at `block`.
    fn write_piece(
        &self,
        piece: &mut [u8],
        (block, whole): (u64, usize),
        start: usize,
        (seed, sequence): (u64, u64),
    ) {
        let offset = block + start as u64;
        match self.motif(block) {
            Some(motif) => piece
                .iter_mut()
                .enumerate()
                .for_each(|(i, byte)| *byte = motif.at(start + i)),
            None => {
                let mut rng = Rng::fork(seed ^ offset.rotate_left(32), sequence);
                content::fill_part(piece, &self.buffers, (start, whole), &mut rng);
            }
        }
        if self.header == 0 || piece.len() < self.header {
            return;
        }
        let place = self.header_in(piece.len());
        let sum = sum(
            &self.rules.method,
            [&piece[..place.start], &piece[place.end..]],
        );
        let header = BlockHeader::new(
            &self.rules.method,
            piece.len() as u32,
            seed,
            offset,
            sequence,
            sum,
        );
        header.write(&mut piece[place]);
    }

    /// Compares a block read from `at` with the written data, piece by piece. Returns only the first difference if
    /// the job ends with it.
    pub(crate) fn check(&self, block: &[u8], at: u64, wanted: ExpectedBlock) -> Vec<Mismatch> {
        let mut found = Vec::new();
        if self.rules.method == VerifyMethod::Null {
            return found;
        }
        for piece in self.pieces(block.len()) {
            if let Err(difference) =
                self.check_piece(&block[piece.clone()], at, piece.start, wanted)
            {
                let (offset, len) = (Bytes(at + piece.start as u64), Bytes(piece.len() as u64));
                found.push(Mismatch {
                    offset,
                    len,
                    difference,
                    saved: None,
                });
                if self.rules.fatal {
                    break;
                }
            }
        }
        found
    }

    fn check_piece(
        &self,
        piece: &[u8],
        block: u64,
        start: usize,
        wanted: ExpectedBlock,
    ) -> Result<(), BlockDifference> {
        if self.header == 0 {
            return self.check_pattern(piece, block, start, 0..0);
        }
        if piece.len() < self.header {
            // A block of arbitrary size may be too short for a header and cannot be verified.
            return Ok(());
        }
        let place = self.header_in(piece.len());
        let header = BlockHeader::read(&piece[place.start..])?;
        let method = &self.rules.method;
        if header.method() != method.name() {
            return Err(BlockDifference::Method {
                found: header.method(),
                wanted: method.name().to_owned(),
            });
        }
        let (offset, len) = (block + start as u64, piece.len() as u64);
        if u64::from(header.len) != len {
            return Err(BlockDifference::Length {
                found: header.len.into(),
                wanted: len,
            });
        }
        if header.offset != offset {
            return Err(BlockDifference::Offset {
                found: header.offset,
                wanted: offset,
            });
        }
        if wanted.own_seed && self.rules.header_seed && header.seed != self.seed {
            return Err(BlockDifference::Seed {
                found: header.seed,
                wanted: self.seed,
            });
        }
        // Each job numbers its writes separately: with another seed, the number has no meaning.
        let counts =
            self.rules.write_sequence && (self.rules.header_seed || header.seed == self.seed);
        if let Some(sequence) = wanted.sequence.filter(|&n| counts && n != header.sequence) {
            return Err(BlockDifference::Sequence {
                found: header.sequence,
                wanted: sequence,
            });
        }
        let computed = sum(method, [&piece[..place.start], &piece[place.end..]]);
        if computed != header.sum {
            let (written, computed) = (header.sum.text(), computed.text());
            return Err(BlockDifference::Checksum {
                method: method.name().to_owned(),
                written,
                computed,
            });
        }
        match method {
            VerifyMethod::PatternHeader(_) => self.check_pattern(piece, block, start, place),
            _ => Ok(()),
        }
    }

    /// Compares a piece with the pattern, except for its header.
    fn check_pattern(
        &self,
        piece: &[u8],
        block: u64,
        start: usize,
        header: Range<usize>,
    ) -> Result<(), BlockDifference> {
        let Some(motif) = self.motif(block) else {
            return Ok(());
        };
        let differs =
            |&(i, byte): &(usize, &u8)| !header.contains(&i) && *byte != motif.at(start + i);
        match piece.iter().enumerate().find(differs) {
            None => Ok(()),
            Some((i, &found)) => {
                let method = self.rules.method.name().to_owned();
                Err(BlockDifference::Pattern {
                    method,
                    at: i as u64,
                    found,
                    wanted: motif.at(start + i),
                })
            }
        }
    }

    /// Returns the expected content of a piece, if known. Without a valid header, the content is unknown to a job
    /// that did not write it.
    pub(super) fn expected(
        &self,
        mismatch: &Mismatch,
        block: &[u8],
        at: u64,
        wanted: ExpectedBlock,
    ) -> Option<Vec<u8>> {
        let start = usize::try_from(mismatch.offset.0.checked_sub(at)?).ok()?;
        let piece = block.get(start..start.checked_add(mismatch.len.0 as usize)?)?;
        let place = self.header_in(piece.len());
        let header = BlockHeader::read(&piece[place.start..])
            .ok()
            .filter(|_| self.header > 0);
        let told = header.filter(|header| header.offset == mismatch.offset.0);
        let random = self.pattern.is_empty();
        let (seed, sequence) = match (told, wanted.sequence) {
            (_, Some(sequence)) => (self.seed, sequence),
            (Some(header), None) => (header.seed, header.sequence),
            (None, None) if self.header == 0 && !random => (0, 0),
            (None, None) => return None,
        };
        let mut expected = vec![0; piece.len()];
        let whole = (at, block.len());
        self.write_piece(&mut expected, whole, start, (seed, sequence));
        Some(expected)
    }
}
