//! Collects block states and derives the capacity from them.

use hakaru_model::integrity::{BlockState, Capacity, Span};
use hakaru_model::units::Bytes;
use std::ops::Range;

/// Maximum number of bad ranges kept; a card that fails everywhere must not exhaust memory.
const MOST_SPANS: usize = 1024;

/// Largest factor for which distances count as multiples of one size.
const MOST_MULTIPLES: u64 = 64;

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Maximum number of pending runs of equal block states; a device with more bad ranges is bad
/// without another round.
const MOST_RUNS: usize = 1 << 16;

/// Block states of a part of the device that are not final, in order.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) spans: Vec<Span>,
}

impl Runs {
    pub(super) fn push(&mut self, offset: u64, len: u64, state: BlockState) {
        match self.spans.last_mut() {
            Some(last) if last.state == state && last.offset.0 + last.len.0 == offset => {
                last.len.0 += len
            }
            _ => self.spans.push(Span {
                offset: Bytes(offset),
                len: Bytes(len),
                state,
            }),
        }
    }

    /// Whether the limit is reached.
    pub(super) fn is_full(&self) -> bool {
        self.spans.len() > MOST_RUNS
    }

    /// Returns the bytes in matching states.
    pub(super) fn bytes(&self, fits: impl Fn(BlockState) -> bool) -> u64 {
        self.spans
            .iter()
            .filter(|span| fits(span.state))
            .map(|span| span.len.0)
            .sum()
    }

    /// Returns the ranges in matching states, in pieces of whole multiples of `chunk`.
    pub(super) fn pieces(&self, chunk: u64, fits: impl Fn(BlockState) -> bool) -> Vec<Range<u64>> {
        let mut pieces = Vec::new();
        for span in self.spans.iter().filter(|span| fits(span.state)) {
            let (mut at, end) = (span.offset.0, span.offset.0 + span.len.0);
            while at < end {
                let next = ((at / chunk + 1) * chunk).min(end);
                pieces.push(at..next);
                at = next;
            }
        }
        pieces
    }

    /// Replaces the states of blocks that were read again.
    pub(super) fn replace(&mut self, again: Runs) {
        let mut all = Runs::default();
        let mut again = again.spans.into_iter().peekable();
        for span in std::mem::take(&mut self.spans) {
            let (mut at, end) = (span.offset.0, span.offset.0 + span.len.0);
            while let Some(new) = again.next_if(|new| new.offset.0 < end) {
                // The range read again is inside one of the old spans.
                let until = (new.offset.0 + new.len.0).min(end);
                if at < new.offset.0 {
                    all.push(at, new.offset.0 - at, span.state);
                }
                all.push(new.offset.0, until - new.offset.0, new.state);
                at = until;
            }
            if at < end {
                all.push(at, end - at, span.state);
            }
        }
        *self = all;
    }
}

/// Findings so far.
#[derive(Default)]
pub(super) struct ScanFindings {
    pub(super) good: u64,
    pub(super) bad: Vec<Span>,
    pub(super) bad_bytes: u64,
    /// Blocks that could not be written; evaluated in the read pass.
    unwritable: Vec<Range<u64>>,
    /// Smallest distance between a block's address and the address where its content was found.
    nearest: Option<u64>,
    /// Greatest common divisor of these distances: if memory wraps, all are multiples of the real
    /// capacity.
    common: u64,
    overwritten: u64,
    lost: u64,
    /// Start of the run of lost, unreadable or unwritable blocks that extends to the current offset; `None` after other
    /// blocks.
    gone_since: Option<u64>,
    /// End of the last good block.
    good_until: u64,
}

impl ScanFindings {
    pub(super) fn unwritable(&mut self, offset: u64, len: u64) {
        let room = self.unwritable.len() < MOST_SPANS;
        match self.unwritable.last_mut() {
            Some(last) if last.end == offset => last.end += len,
            _ if room => self.unwritable.push(offset..offset + len),
            _ => {}
        }
    }

    /// Counts unwritable blocks as findings, if nothing is read back.
    pub(super) fn settle_unwritable(&mut self) {
        for range in std::mem::take(&mut self.unwritable) {
            self.add(range.start, range.end - range.start, BlockState::Unwritable);
        }
    }

    /// Returns the state of a block after reading. An unwritable block is reported as such, not as lost.
    pub(super) fn state_of(&self, offset: u64, read: BlockState) -> BlockState {
        let refused =
            read != BlockState::Good && self.unwritable.iter().any(|range| range.contains(&offset));
        if refused {
            BlockState::Unwritable
        } else {
            read
        }
    }

    /// Takes the list of unwritable blocks, so that writes outside of the test leave no trace.
    pub(super) fn take_unwritable(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.unwritable)
    }

    pub(super) fn put_unwritable(&mut self, unwritable: Vec<Range<u64>>) {
        self.unwritable = unwritable;
    }

    pub(super) fn add(&mut self, offset: u64, len: u64, state: BlockState) {
        let state = self.state_of(offset, state);
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
            let nearest = self.nearest.unwrap_or(distance.0);
            self.nearest = Some(nearest.min(distance.0));
            self.common = gcd(self.common, distance.0);
        }
        if state == BlockState::Good {
            self.good += len;
            self.good_until = offset + len;
            return;
        }
        self.bad_bytes += len;
        let room = self.bad.len() < MOST_SPANS;
        let (offset, len) = (Bytes(offset), Bytes(len));
        match self.bad.last_mut() {
            Some(last) if last.state == state && last.offset.0 + last.len.0 == offset.0 => {
                last.len.0 += len.0
            }
            _ if room => self.bad.push(Span { offset, len, state }),
            _ => {}
        }
    }

    /// Returns the capacity verdict. `end` is the end of the pass.
    pub(super) fn capacity(&self, end: u64) -> Capacity {
        // Memory that wraps at R keeps the last R bytes written; everything before is overwritten
        // by blocks that are multiples of R away, at least R.
        if let Some(real) = self.wraps_after().filter(|_| self.overwritten > self.lost) {
            return Capacity::Wraps { real: Bytes(real) };
        }
        self.gone_since
            .map_or(Capacity::AsClaimed, |real| self.ends(real, end))
    }

    /// Returns the capacity of memory that ends. Single lost writes are damage. Losses up to the end of the device mark
    /// its real end, unless they are less than 0.1% of the device, which can be a bad range.
    pub(super) fn ends(&self, real: u64, end: u64) -> Capacity {
        let missing = end.saturating_sub(real);
        if missing >= (end / 1000).max(1 << 20) {
            Capacity::Ends { real: Bytes(real) }
        } else {
            Capacity::AsClaimed
        }
    }

    /// Returns the real capacity of wrapping memory, from the distances at which content was found.
    ///
    /// The nearest block may be in a cache, which leaves only multiples: their common divisor is
    /// the capacity. A much smaller divisor comes from a few misplaced blocks; then the smallest
    /// distance is used.
    pub(super) fn wraps_after(&self) -> Option<u64> {
        let nearest = self.nearest?;
        Some(if nearest / self.common.max(1) <= MOST_MULTIPLES {
            self.common
        } else {
            nearest
        })
    }

    /// Whether no defect was found.
    pub(super) fn is_clean(&self) -> bool {
        self.bad_bytes == 0
    }

    /// Adds the good blocks of another round.
    pub(super) fn join(&mut self, other: ScanFindings) {
        self.good += other.good;
    }

    /// Adds the pending states that match.
    pub(super) fn settle(&mut self, runs: Runs, fits: impl Fn(BlockState) -> bool) {
        for Span { offset, len, state } in runs.spans.into_iter().filter(|span| fits(span.state)) {
            self.add(offset.0, len.0, state);
        }
    }

    /// Whether more blocks were found at wrong addresses than were lost, including pending states.
    pub(super) fn shows_wrapping(&self, runs: &Runs) -> bool {
        let overwritten =
            self.overwritten + runs.bytes(|state| matches!(state, BlockState::Overwritten { .. }));
        overwritten > self.lost + runs.bytes(|state| state == BlockState::Lost)
    }

    /// Returns the start of the lost blocks at the end; `None` if the last block is not lost.
    pub(super) fn gone_since(&self) -> Option<u64> {
        self.gone_since
    }

    /// End of the last good block.
    pub(super) fn good_until(&self) -> u64 {
        self.good_until
    }
}
