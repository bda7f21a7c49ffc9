//! Asking the end of a device again, so that no cache answers for memory that is not there.
//!
//! A counterfeit card may keep the newest writes beyond its true end in a cache. After one pass from the beginning to the
//! end, that is the very end. Another pass in the opposite order and with other content leaves the cache with the other
//! end of the same part: where this part is at least twice as long as the cache, each block is read at least once
//! without it. A block is good only if it was good in all rounds.
//!
//! Where a round finds losses that the one before did not, a cache is at work, and more rounds follow: what still seems
//! good is written first, and what is known to be lost after it, so that it takes the place of the rest in the cache.

use super::VerifyError;
use super::findings::Runs;
use super::surface_scan::{Pass, SurfaceScan};
use hakaru_model::integrity::BlockState;
use std::ops::Range;

/// Rounds at most; each shrinks what a cache can hide by what it could not hide before.
const MOST_ROUNDS: u32 = 32;

/// Writes and reads what is held back again until nothing new is found. `false` when somebody ended it before.
pub(super) fn ask_again(
    walk: &mut SurfaceScan<'_, '_>,
    chunk: u64,
    tail: &mut Runs,
) -> Result<bool, VerifyError> {
    for round in 0..MOST_ROUNDS {
        let good = tail.pieces(chunk, |state| state == BlockState::Good);
        if good.is_empty() {
            return Ok(true);
        }
        let order = match round {
            0 => tail
                .pieces(chunk, accepts_writes)
                .into_iter()
                .rev()
                .collect(),
            _ => {
                let lost = tail.pieces(chunk, |state| {
                    state != BlockState::Good && accepts_writes(state)
                });
                good.iter()
                    .cloned()
                    .chain(lost.into_iter().rev())
                    .collect::<Vec<_>>()
            }
        };
        walk.renew_seed();
        let written = match walk.leg(Pass::Write, &order) {
            Ok(written) => written,
            // Free space that is used up by now can be asked no more.
            Err(VerifyError::Full { .. }) => return Ok(true),
            Err(error) => return Err(error),
        };
        if written.stopped_at.is_some() {
            return Ok(false);
        }
        // From where there was no room, pieces hold what the round before wrote.
        let full = written.full_at.map(|at| {
            order
                .iter()
                .position(|piece| piece.start == at.0)
                .unwrap_or(0)
        });
        let rewritten: Vec<Range<u64>> = match full {
            None => good,
            Some(count) => good
                .into_iter()
                .filter(|piece| order[..count].contains(piece))
                .collect(),
        };
        walk.flush()?;
        walk.hold_from(0);
        let read = walk.leg(Pass::Read, &rewritten)?;
        let again = walk.take_held();
        if read.stopped_at.is_some() {
            return Ok(false);
        }
        let news = again
            .spans
            .iter()
            .any(|span| span.state != BlockState::Good);
        tail.replace(again);
        if !news || full.is_some() || tail.is_full() {
            return Ok(true);
        }
    }
    Ok(true)
}

/// Whether writing a block again is worth a try: a cache may take what the memory behind it does not.
fn accepts_writes(state: BlockState) -> bool {
    state != BlockState::Unwritable
}
