//! Tests the end of a device again, so that no cache hides missing memory.
//!
//! A fake card may keep the newest writes beyond its true end in a cache. After one pass from start
//! to end, that is the end of the device. Another pass in the opposite order and with other content
//! leaves the other end of the tested part in the cache: if the part is at least twice as long as
//! the cache, each block is read at least once from memory. A block is good only if it was good in
//! all rounds.
//!
//! If a round finds losses that the previous round did not, a cache is present, and more rounds follow. Blocks that
//! still seem good are written first and known losses last, so that the lost blocks replace the good blocks in the
//! cache.

use super::error::VerifyError;
use super::findings::Runs;
use super::surface_scan::{Pass, SurfaceScan};
use hakaru_model::integrity::{BlockState, Span};
use std::ops::Range;

/// Maximum number of rounds; each round reduces the amount of missing memory that a cache can hide.
const MOST_ROUNDS: u32 = 32;

/// Writes and reads pending blocks again until nothing new is found. Returns `false` if stopped.
pub(super) fn test_again(
    scan: &mut SurfaceScan<'_, '_>,
    chunk: u64,
    tail: &mut Runs,
) -> Result<bool, VerifyError> {
    for round in 0..MOST_ROUNDS {
        let good = tail.pieces(chunk, |state| state == BlockState::Good);
        if good.is_empty() {
            return Ok(true);
        }
        let order = write_order(round, chunk, tail, &good);
        let (again, full) = match one_round(scan, &order, good) {
            Ok(Some(tested)) => tested,
            Ok(None) => return Ok(false),
            // Free space that was used up meanwhile cannot be tested.
            Err(VerifyError::Full { .. }) => return Ok(true),
            Err(error) => return Err(error),
        };
        let is_bad = |span: &Span| span.state != BlockState::Good;
        let news = again.spans.iter().any(is_bad);
        tail.replace(again);
        if !news || full || tail.is_full() {
            return Ok(true);
        }
    }
    Ok(true)
}

/// The order in which a round writes the pending pieces: backwards first, then the good ones before the lost ones.
fn write_order(round: u32, chunk: u64, tail: &Runs, good: &[Range<u64>]) -> Vec<Range<u64>> {
    if round == 0 {
        let all = tail.pieces(chunk, accepts_writes);
        return all.into_iter().rev().collect();
    }
    let lost = tail.pieces(chunk, |state| {
        state != BlockState::Good && accepts_writes(state)
    });
    good.iter().cloned().chain(lost.into_iter().rev()).collect()
}

/// Writes the pieces in this order with new content, and reads the good ones. Returns their states, and whether space
/// ran out; `None` if stopped.
fn one_round(
    scan: &mut SurfaceScan<'_, '_>,
    order: &[Range<u64>],
    mut good: Vec<Range<u64>>,
) -> Result<Option<(Runs, bool)>, VerifyError> {
    scan.renew_seed();
    let written = scan.pass(Pass::Write, order)?;
    if written.stopped_at.is_some() {
        return Ok(None);
    }
    if let Some(full_at) = written.full_at {
        // Beyond the point where space ran out, pieces contain the data of the previous round.
        let count = order.iter().position(|piece| piece.start == full_at.0);
        let rewritten = &order[..count.unwrap_or(0)];
        good.retain(|piece| rewritten.contains(piece));
    }
    scan.flush()?;
    scan.hold_from(0);
    let read = scan.pass(Pass::Read, &good)?;
    let again = scan.take_held();
    let stopped = read.stopped_at.is_some();
    Ok((!stopped).then_some((again, written.full_at.is_some())))
}

/// Whether writing a block again is useful: a cache may accept a write that the memory behind it rejects.
fn accepts_writes(state: BlockState) -> bool {
    state != BlockState::Unwritable
}
