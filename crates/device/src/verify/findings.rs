//! Gathers what was found block by block, and what follows from it for the capacity.

use hakaru_model::integrity::{BlockState, Capacity, Span};
use hakaru_model::units::Bytes;
use std::ops::Range;

/// Stretches that are kept one by one; a card that fails everywhere must not fill the memory.
const MOST_SPANS: usize = 1024;

/// What was found until now.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) good: u64,
    pub(super) bad: Vec<Span>,
    pub(super) bad_bytes: u64,
    /// Blocks that could not be written; they are judged in the reading walk.
    unwritable: Vec<Range<u64>>,
    /// Smallest distance at which content was found: what the card really holds, when its memory wraps.
    nearest: Option<u64>,
    overwritten: u64,
    lost: u64,
    /// Where the blocks that are gone, all up to here, begin.
    gone_since: Option<u64>,
    /// Where the last good block ends.
    good_until: u64,
}

impl Findings {
    pub(super) fn unwritable(&mut self, offset: u64, len: u64) {
        let room = self.unwritable.len() < MOST_SPANS;
        match self.unwritable.last_mut() {
            Some(last) if last.end == offset => last.end += len,
            _ if room => self.unwritable.push(offset..offset + len),
            _ => {}
        }
    }

    /// Counts what could not be written as found, when nothing will be read back.
    pub(super) fn settle_unwritable(&mut self) {
        for range in std::mem::take(&mut self.unwritable) {
            self.add(range.start, range.end - range.start, BlockState::Unwritable);
        }
    }

    pub(super) fn add(&mut self, offset: u64, len: u64, state: BlockState) {
        let refused = state != BlockState::Good && self.unwritable.iter().any(|range| range.contains(&offset));
        let state = if refused { BlockState::Unwritable } else { state };
        match state {
            BlockState::Lost | BlockState::Unreadable | BlockState::Unwritable => {
                self.gone_since.get_or_insert(offset);
            }
            _ => self.gone_since = None,
        }
        if state == BlockState::Lost {
            self.lost += len;
        }
        if let BlockState::Overwritten { distance } = state {
            self.overwritten += len;
            self.nearest = Some(self.nearest.map_or(distance.0, |nearest| nearest.min(distance.0)));
        }
        if state == BlockState::Good {
            self.good += len;
            self.good_until = offset + len;
            return;
        }
        self.bad_bytes += len;
        let room = self.bad.len() < MOST_SPANS;
        match self.bad.last_mut() {
            Some(last) if last.state == state && last.offset.0 + last.len.0 == offset => last.len.0 += len,
            _ if room => self.bad.push(Span { offset: Bytes(offset), len: Bytes(len), state }),
            _ => {}
        }
    }

    /// What follows for the capacity. `end` is where the walk ended.
    pub(super) fn capacity(&self, end: u64) -> Capacity {
        // Memory that wraps at R keeps the last R bytes that were written, and everything before is overwritten
        // by blocks that are multiples of R away: the nearest of them is R away.
        if let Some(real) = self.nearest.filter(|_| self.overwritten > self.lost) {
            return Capacity::Wraps { real: Bytes(real) };
        }
        self.gone_since.map_or(Capacity::AsClaimed, |real| self.ends(real, end))
    }

    /// Dropped writes here and there are damage; those that reach the end of the device are its true end. Less than a
    /// thousandth may as well be a bad place that happens to lie there.
    pub(super) fn ends(&self, real: u64, end: u64) -> Capacity {
        let missing = end.saturating_sub(real);
        if missing >= (end / 1000).max(1 << 20) { Capacity::Ends { real: Bytes(real) } } else { Capacity::AsClaimed }
    }

    /// Smallest distance at which the content of another block was found.
    pub(super) fn nearest(&self) -> Option<u64> {
        self.nearest
    }

    /// Where the blocks begin that are gone, all up to the end; `None` when the last block is not.
    pub(super) fn gone_since(&self) -> Option<u64> {
        self.gone_since
    }

    /// Where the last good block ends.
    pub(super) fn good_until(&self) -> u64 {
        self.good_until
    }
}
