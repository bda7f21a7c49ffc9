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

use super::VerifyError;
use super::findings::Runs;
use super::surface_scan::{Pass, SurfaceScan};
use hakaru_model::integrity::BlockState;
use std::ops::Range;

/// Maximum number of rounds; each round reduces the amount of missing memory that a cache can hide.
const MOST_ROUNDS: u32 = 32;

/// Writes and reads pending blocks again until nothing new is found. Returns `false` if stopped.
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
            // Free space that was used up meanwhile cannot be tested.
            Err(VerifyError::Full { .. }) => return Ok(true),
            Err(error) => return Err(error),
        };
        if written.stopped_at.is_some() {
            return Ok(false);
        }
        // Beyond the point where space ran out, pieces contain the data of the previous round.
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

/// Whether writing a block again is useful: a cache may accept a write that the memory behind it rejects.
fn accepts_writes(state: BlockState) -> bool {
    state != BlockState::Unwritable
}
