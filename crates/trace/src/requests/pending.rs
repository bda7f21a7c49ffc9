//! Bios that were queued and are not yet part of an issued request.

use super::inflight::InFlightRequest;
use crate::event::{BlockOp, SectorRange};
use crate::request::BioPiece;
use std::collections::{BTreeMap, VecDeque};

/// Pending bios by operation and first sector.
#[derive(Debug, Default)]
pub(super) struct PendingBios {
    by_start: BTreeMap<(BlockOp, u64), VecDeque<BioPiece>>,
    count: usize,
}

impl PendingBios {
    /// More bios than any host keeps pending: those beyond were left over by lost events.
    const MAX: usize = 1 << 18;
    /// Starts to look back for a bio that begins before a sector and contains it.
    const LOOK_BACK: usize = 16;

    /// Adds a bio.
    pub(super) fn push(&mut self, piece: BioPiece) {
        if self.count >= Self::MAX {
            self.drop_older_half();
        }
        let queue = self.queue(piece.flags.op, piece.range.start);
        queue.push_back(piece);
        self.count += 1;
    }

    /// Returns the pending bios.
    pub(super) fn bios(&self) -> impl Iterator<Item = &BioPiece> {
        self.by_start.values().flatten()
    }

    /// Splits the newest bio that begins at `sector` and contains `rest`: its second part may be issued first.
    pub(super) fn split(&mut self, sector: u64, rest: u64) {
        for op in [
            BlockOp::Write,
            BlockOp::Read,
            BlockOp::Discard,
            BlockOp::Other,
        ] {
            let Some(queue) = self.by_start.get_mut(&(op, sector)) else {
                continue;
            };
            let contains = |bio: &BioPiece| bio.range.end() > rest && rest > sector;
            let Some(bio) = queue.iter_mut().rev().find(|bio| contains(bio)) else {
                continue;
            };
            let (head, tail) = cut(*bio, rest);
            *bio = head;
            self.queue(op, rest).push_back(tail);
            self.count += 1;
            return;
        }
    }

    /// Puts the bios of a requeued request back, before others at the same sectors. Only the sectors that have not
    /// completed are put back.
    pub(super) fn put_back(&mut self, back: InFlightRequest) {
        let from = back.start();
        for piece in back.request.bios.into_iter().rev() {
            let piece = match piece.range.start < from && piece.range.end() > from {
                true => cut(piece, from).1,
                false => piece,
            };
            if piece.range.start >= from {
                self.push_front(piece);
            }
        }
    }

    /// Takes the bios at the sectors of a request. Parts that reach beyond it stay.
    pub(super) fn take(&mut self, op: BlockOp, range: SectorRange) -> Vec<BioPiece> {
        let mut taken = Vec::with_capacity(1);
        let end = range.end();
        let mut at = range.start;
        while at < end {
            let Some(mut piece) = self
                .take_at(op, at, end)
                .or_else(|| self.take_around(op, at))
            else {
                match self.by_start.range((op, at)..(op, end)).next() {
                    Some((&(_, next), _)) => at = next,
                    None => break,
                }
                continue;
            };
            if piece.range.end() > end {
                let (head, tail) = cut(piece, end);
                self.push_front(tail);
                piece = head;
            }
            at = piece.range.end();
            taken.push(piece);
        }
        if op == BlockOp::Discard {
            self.take_joined(range, &mut taken);
        }
        taken
    }

    /// Takes the oldest bio at a sector, preferring one that ends where the request ends.
    fn take_at(&mut self, op: BlockOp, at: u64, end: u64) -> Option<BioPiece> {
        let queue = self.by_start.get_mut(&(op, at))?;
        let fits = |bio: &BioPiece| bio.range.end() == end;
        let index = queue.iter().position(fits).unwrap_or(0);
        let bio = queue.remove(index)?;
        if queue.is_empty() {
            self.by_start.remove(&(op, at));
        }
        self.count -= 1;
        Some(bio)
    }

    /// Takes a bio that begins before a sector and contains it, from that sector on.
    fn take_around(&mut self, op: BlockOp, at: u64) -> Option<BioPiece> {
        let before = self.by_start.range((op, 0)..(op, at)).rev();
        let contains =
            |queue: &VecDeque<BioPiece>| queue.iter().position(|bio| bio.range.end() > at);
        let (&key, index) = before
            .take(Self::LOOK_BACK)
            .find_map(|(key, queue)| Some((key, contains(queue)?)))?;
        let queue = self.by_start.get_mut(&key)?;
        let bio = queue.get_mut(index)?;
        let (head, tail) = cut(*bio, at);
        *bio = head;
        Some(tail)
    }

    /// Takes the oldest discards until they make up the length of a discard that joins several ranges.
    fn take_joined(&mut self, range: SectorRange, taken: &mut Vec<BioPiece>) {
        let sum = |taken: &[BioPiece]| taken.iter().map(|bio| u64::from(bio.range.sectors)).sum();
        let mut missing = u64::from(range.sectors).saturating_sub(sum(taken));
        if missing == 0 {
            return;
        }
        let discards = (BlockOp::Discard, 0)..=(BlockOp::Discard, u64::MAX);
        let mut others: Vec<_> = self
            .by_start
            .range(discards)
            .flat_map(|(_, queue)| queue.iter().copied())
            .collect();
        others.sort_by_key(|piece| piece.queued);
        for piece in others {
            let sectors = u64::from(piece.range.sectors);
            if sectors > missing {
                continue;
            }
            taken.extend(self.take_at(piece.flags.op, piece.range.start, piece.range.end()));
            missing -= sectors;
        }
    }

    fn push_front(&mut self, piece: BioPiece) {
        let queue = self.queue(piece.flags.op, piece.range.start);
        queue.push_front(piece);
        self.count += 1;
    }

    fn queue(&mut self, op: BlockOp, start: u64) -> &mut VecDeque<BioPiece> {
        self.by_start.entry((op, start)).or_default()
    }

    fn drop_older_half(&mut self) {
        let mut times: Vec<_> = self.bios().map(|bio| bio.queued).collect();
        let middle = times.len() / 2;
        let (_, &mut limit, _) = times.select_nth_unstable(middle);
        self.by_start.retain(|_, queue| {
            queue.retain(|bio| bio.queued > limit);
            !queue.is_empty()
        });
        self.count = self.by_start.values().map(VecDeque::len).sum();
    }
}

/// Cuts a bio at a sector inside it.
fn cut(piece: BioPiece, at: u64) -> (BioPiece, BioPiece) {
    let head = u32::try_from(at - piece.range.start).unwrap_or(u32::MAX);
    let part = |start, sectors| BioPiece {
        range: SectorRange { start, sectors },
        part: true,
        ..piece
    };
    (
        part(piece.range.start, head),
        part(at, piece.range.sectors.saturating_sub(head)),
    )
}
