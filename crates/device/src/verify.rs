//! Is the claimed size real, and do writes survive? And how fast is the device from its beginning to its end?
//!
//! All of it is written once, and then all of it is read once: every block carries its own address, so that a block that
//! comes back with another address tells where the card really put it. That finds cards that claim more than they
//! have (their memory wraps around, or ends), dropped writes, and rot. It does not find a cache that lies about
//! having flushed, which takes a power cut. What was on the device is lost.
//!
//! The idea is that of f3 (Digirati, "Fight Flash Fraud"), whose documentation describes the kinds of false cards.

use crate::blockdev::{BlockDev, OnProgress, Progress, SpeedMap, SpeedPoint};
use crate::prepare::FillError;
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;

/// As large as fills are written: the full speed of any card.
const CHUNK: u64 = 4 << 20;

/// Stretches that are kept one by one; a card that fails everywhere must not fill the memory.
const MOST_SPANS: usize = 1024;

/// Blocks of a chunk that may fail one after another before the rest of the chunk is given up: a card takes seconds for
/// each.
const PATIENCE: u32 = 64;

/// Begins every block: text, so that it is recognised in a hex dump.
const MAGIC: [u8; 8] = *b"hakaru\x01\n";

/// The part of a block that is not filler: magic, seed, address, check.
const HEAD: usize = 32;

/// What was found in one stretch of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum BlockState {
    /// As it was written.
    Good,
    /// It holds what was written further on, always this many bytes away.
    Overwritten {
        /// Distance to the block whose content it holds.
        distance: Bytes,
    },
    /// It holds nothing of what was written: the write was dropped.
    Lost,
    /// It is the right block, with wrong bytes in it.
    Damaged,
    /// It could not be read.
    Unreadable,
    /// It could not be written.
    Unwritable,
}

/// A stretch of blocks in the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Where it begins.
    pub offset: Bytes,
    /// How long it is.
    pub len: Bytes,
    /// What was found.
    #[serde(flatten)]
    pub state: BlockState,
}

/// What a device claims to hold against what it does hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "capacity")]
pub enum Capacity {
    /// What it claims.
    AsClaimed,
    /// Its memory begins anew after this.
    Wraps {
        /// What it really holds.
        real: Bytes,
    },
    /// Its memory ends after this; what is written beyond is dropped.
    Ends {
        /// What it really holds.
        real: Bytes,
    },
}

/// What verifying found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Size as it claims it.
    pub claimed: Bytes,
    /// Size as it was found.
    pub capacity: Capacity,
    /// Bytes that came back as written.
    pub good: Bytes,
    /// Stretches that did not, in order; at most some thousand.
    pub bad: Vec<Span>,
    /// Bytes that did not, those included for which no stretch was kept.
    pub bad_bytes: Bytes,
    /// Speed of writing along the device.
    pub write_speed: SpeedMap,
    /// Speed of reading along the device.
    pub read_speed: SpeedMap,
}

impl Verdict {
    /// Whether all of it came back as written.
    pub fn is_good(&self) -> bool {
        self.bad_bytes.0 == 0
    }
}

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

/// Writes a block's own address into it, and fills the rest with bytes that follow from it.
fn stamp(seed: u64, offset: u64, block: &mut [u8]) {
    let (head, filler) = block.split_at_mut(HEAD);
    head[..8].copy_from_slice(&MAGIC);
    head[8..16].copy_from_slice(&seed.to_le_bytes());
    head[16..24].copy_from_slice(&offset.to_le_bytes());
    head[24..].copy_from_slice(&check(seed, offset).to_le_bytes());
    crate::prepare::random_bytes(Rng::fork(seed, offset), filler);
}

/// Ties the address to the seed, so that damaged addresses and those of an earlier run are not believed.
fn check(seed: u64, offset: u64) -> u64 {
    Rng::fork(seed ^ u64::from_le_bytes(MAGIC), offset).next_u64()
}

/// What a block that was read tells.
fn judge(seed: u64, offset: u64, block: &[u8]) -> BlockState {
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&block[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    let held = word(16);
    let ours = block[..8] == MAGIC && word(8) == seed && word(24) == check(seed, held);
    match ours {
        true if held == offset && filler_is_right(seed, offset, &block[HEAD..]) => BlockState::Good,
        true if held > offset => BlockState::Overwritten { distance: Bytes(held - offset) },
        // Content of an earlier address: what belonged here was written over the end of something smaller.
        true if held < offset => BlockState::Lost,
        true => BlockState::Damaged,
        false if mostly_right(seed, offset, block) => BlockState::Damaged,
        false => BlockState::Lost,
    }
}

fn filler_is_right(seed: u64, offset: u64, filler: &[u8]) -> bool {
    let mut rng = Rng::fork(seed, offset);
    filler.chunks(8).all(|part| rng.next_u64().to_le_bytes()[..part.len()] == *part)
}

/// Whether at least half of the words are those that were written: then it is the block, with damage.
fn mostly_right(seed: u64, offset: u64, block: &[u8]) -> bool {
    let mut rng = Rng::fork(seed, offset);
    let filler = &block[HEAD..];
    let right = filler.chunks_exact(8).filter(|part| rng.next_u64().to_le_bytes() == **part).count();
    right * 16 >= filler.len()
}

#[derive(Default)]
struct Findings {
    good: u64,
    bad: Vec<Span>,
    bad_bytes: u64,
    /// Blocks that could not be written; they are judged in the reading walk.
    unwritable: Vec<Range<u64>>,
    /// Smallest distance at which content was found: what the card really holds, when its memory wraps.
    nearest: Option<u64>,
    overwritten: u64,
    lost: u64,
    /// Where the lost blocks that reach up to here begin.
    lost_since: Option<u64>,
}

impl Findings {
    fn unwritable(&mut self, offset: u64, len: u64) {
        let room = self.unwritable.len() < MOST_SPANS;
        match self.unwritable.last_mut() {
            Some(last) if last.end == offset => last.end += len,
            _ if room => self.unwritable.push(offset..offset + len),
            _ => {}
        }
    }

    fn add(&mut self, offset: u64, len: u64, state: BlockState) {
        let refused = state != BlockState::Good && self.unwritable.iter().any(|range| range.contains(&offset));
        let state = if refused { BlockState::Unwritable } else { state };
        match state {
            BlockState::Lost => {
                self.lost += len;
                self.lost_since.get_or_insert(offset);
            }
            _ => self.lost_since = None,
        }
        if let BlockState::Overwritten { distance } = state {
            self.overwritten += len;
            self.nearest = Some(self.nearest.map_or(distance.0, |nearest| nearest.min(distance.0)));
        }
        if state == BlockState::Good {
            self.good += len;
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
    fn capacity(&self, end: u64) -> Capacity {
        // Memory that wraps at R keeps the last R bytes that were written, and everything before is overwritten
        // by blocks that are multiples of R away: the nearest of them is R away.
        if let Some(real) = self.nearest.filter(|_| self.overwritten > self.lost) {
            return Capacity::Wraps { real: Bytes(real) };
        }
        // Dropped writes here and there are damage; those that reach the end of the device are its true end. Less
        // than a thousandth may as well be a bad place that happens to lie there.
        match self.lost_since {
            Some(real) if (end - real) >= (end / 1000).max(1 << 20) => Capacity::Ends { real: Bytes(real) },
            _ => Capacity::AsClaimed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcard::{Beyond, Card};
    use proptest::prelude::*;
    use std::ops::ControlFlow;

    fn run(card: &mut Card) -> Verdict {
        verify(card, 7, &mut |_| ControlFlow::Continue(())).unwrap()
    }

    fn span(offset: u64, len: u64, state: BlockState) -> Span {
        Span { offset: Bytes(offset), len: Bytes(len), state }
    }

    #[test]
    fn an_honest_card_passes_with_its_speed() {
        let mut card = Card::honest(10 << 20);
        let verdict = run(&mut card);
        assert!(verdict.is_good() && verdict.bad.is_empty());
        assert_eq!((verdict.capacity, verdict.good), (Capacity::AsClaimed, Bytes(10 << 20)));
        // 50 ns a byte written, 25 ns a byte read.
        assert_eq!(verdict.write_speed.whole().rate().unwrap().0, 20e6);
        assert_eq!(verdict.read_speed.whole().rate().unwrap().0, 40e6);
        assert_eq!(card.flushes, 1);
    }

    #[test]
    fn memory_that_wraps_is_found_out_with_its_true_size() {
        for (real, claimed) in [(4 << 20, 16 << 20), (5 << 20, 16 << 20), (7 << 20, 10 << 20), (3_000_832, 20_000_768)]
        {
            let verdict = run(&mut Card::false_capacity(real, claimed, Beyond::Wraps));
            assert_eq!(verdict.capacity, Capacity::Wraps { real: Bytes(real) }, "{real} of {claimed}");
            assert_eq!((verdict.good, verdict.bad_bytes), (Bytes(real), Bytes(claimed - real)));
        }
    }

    #[test]
    fn memory_that_ends_is_found_out_with_its_true_size() {
        let verdict = run(&mut Card::false_capacity(6 << 20, 16 << 20, Beyond::Vanishes));
        assert_eq!(verdict.capacity, Capacity::Ends { real: Bytes(6 << 20) });
        assert_eq!(verdict.bad, [span(6 << 20, 10 << 20, BlockState::Lost)]);
    }

    #[test]
    fn dropped_writes_and_rot_are_found_where_they_are() {
        let mut card = Card::honest(8 << 20);
        card.content.fill(0xee);
        card.drops = 1_048_576..1_050_624;
        card.rot = Some(5_000_000);
        let verdict = run(&mut card);
        let rotten = 5_000_000 / 512 * 512;
        let expected = [span(1_048_576, 2048, BlockState::Lost), span(rotten, 512, BlockState::Damaged)];
        assert_eq!((verdict.bad.as_slice(), verdict.capacity), (&expected[..], Capacity::AsClaimed));
    }

    #[test]
    fn rot_in_the_address_is_damage_and_not_another_block() {
        let mut card = Card::honest(1 << 20);
        card.rot = Some(512 * 9 + 17);
        assert_eq!(run(&mut card).bad, [span(512 * 9, 512, BlockState::Damaged)]);
    }

    #[test]
    fn blocks_that_fail_are_findings_and_the_rest_goes_on() {
        let mut card = Card::honest(8 << 20);
        card.write_error = Some(1 << 20);
        card.read_error = Some(5 << 20);
        let verdict = run(&mut card);
        let expected = [span(1 << 20, 512, BlockState::Unwritable), span(5 << 20, 512, BlockState::Unreadable)];
        assert_eq!(verdict.bad, expected);
        assert_eq!(verdict.good, Bytes((8 << 20) - 1024));
    }

    #[test]
    fn only_the_range_is_touched() {
        let mut card = Card::honest(8 << 20);
        card.content.fill(0x5a);
        let range = 1 << 20..3 << 20;
        let verdict = verify_range(&mut card, range.clone(), 7, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(verdict.is_good() && verdict.claimed == Bytes(2 << 20));
        let outside = |at: usize| !(range.start as usize..range.end as usize).contains(&at);
        assert!(card.content.iter().enumerate().filter(|(at, _)| outside(*at)).all(|(_, byte)| *byte == 0x5a));
        let backwards = Range { start: 512, end: 0 };
        for bad in [1..512, backwards, 0..(8 << 20) + 512] {
            let refused = verify_range(&mut card, bad, 7, &mut |_| ControlFlow::Continue(()));
            assert!(matches!(refused, Err(VerifyError::Range { .. })));
        }
    }

    #[test]
    fn an_old_run_is_not_taken_for_this_one() {
        let mut card = Card::honest(4 << 20);
        run(&mut card);
        card.drops = 0..4 << 20;
        let verdict = verify(&mut card, 8, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(verdict.bad, [span(0, 4 << 20, BlockState::Lost)]);
    }

    #[test]
    fn a_stop_is_obeyed() {
        let stopped = verify(&mut Card::honest(16 << 20), 7, &mut |progress| {
            if progress.doing == "reading" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(stopped, Err(VerifyError::Interrupted { doing: "reading", at: Bytes(at) }) if at == 4 << 20));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_false_capacity_is_found(real in 64u64..4096, more in 2200u64..8192, wraps: bool) {
            let (real, claimed) = (real * 512, (real + more) * 512);
            let beyond = if wraps { Beyond::Wraps } else { Beyond::Vanishes };
            let verdict = run(&mut Card::false_capacity(real, claimed, beyond));
            let real = Bytes(real);
            prop_assert_eq!(verdict.capacity, if wraps { Capacity::Wraps { real } } else { Capacity::Ends { real } });
            prop_assert_eq!(verdict.good, real);
        }
    }
}
