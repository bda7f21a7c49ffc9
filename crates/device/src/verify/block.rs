//! Content of test blocks, and the evaluation of blocks read back.

use hakaru_model::integrity::BlockState;
use hakaru_model::rng::Rng;
use hakaru_model::units::Bytes;

/// Magic number of every block: text, to recognize it in a hex dump.
const MAGIC: [u8; 8] = *b"hakaru\x01\n";

/// Length of the header in bytes: magic, seed, address, check value.
const HEAD: usize = 32;

/// Writes the header with the block's address, and fills the rest with bytes derived from it.
pub(crate) fn stamp(seed: u64, offset: u64, block: &mut [u8]) {
    let (head, filler) = block.split_at_mut(HEAD);
    head[..8].copy_from_slice(&MAGIC);
    head[8..16].copy_from_slice(&seed.to_le_bytes());
    head[16..24].copy_from_slice(&offset.to_le_bytes());
    head[24..].copy_from_slice(&check(seed, offset).to_le_bytes());
    crate::prepare::random_bytes(Rng::fork(seed, offset), filler);
}

/// Returns a check value over address and seed, which rejects damaged addresses and blocks of earlier runs.
fn check(seed: u64, offset: u64) -> u64 {
    Rng::fork(seed ^ u64::from_le_bytes(MAGIC), offset).next_u64()
}

/// Returns the seed and address in a block with a valid header.
pub(crate) fn label(block: &[u8]) -> Option<(u64, u64)> {
    let word = |at: usize| {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&block[at..at + 8]);
        u64::from_le_bytes(bytes)
    };
    let (seed, held) = (word(8), word(16));
    (block[..8] == MAGIC && word(24) == check(seed, held)).then_some((seed, held))
}

/// Returns the state of a block written with `seed`. `seeds` lists the seeds of all rounds: content of another round at
/// another address also shows where the device stored it.
pub(super) fn judge(seed: u64, seeds: &[u64], offset: u64, block: &[u8]) -> BlockState {
    match label(block) {
        Some((of, held)) if of == seed && held == offset => {
            match filler_is_right(seed, offset, &block[HEAD..]) {
                true => BlockState::Good,
                false => BlockState::Damaged,
            }
        }
        Some((of, held)) if held > offset && seeds.contains(&of) => BlockState::Overwritten {
            distance: Bytes(held - offset),
        },
        // Content of a lower address or of another round: the block was lost.
        Some((of, _)) if seeds.contains(&of) => BlockState::Lost,
        _ if mostly_right(seed, offset, block) => BlockState::Damaged,
        _ => BlockState::Lost,
    }
}

fn filler_is_right(seed: u64, offset: u64, filler: &[u8]) -> bool {
    let mut rng = Rng::fork(seed, offset);
    filler
        .chunks(8)
        .all(|part| rng.next_u64().to_le_bytes()[..part.len()] == *part)
}

/// Whether at least half of the words match, as in the expected block with damage.
fn mostly_right(seed: u64, offset: u64, block: &[u8]) -> bool {
    let mut rng = Rng::fork(seed, offset);
    let filler = &block[HEAD..];
    let right = filler
        .chunks_exact(8)
        .filter(|part| rng.next_u64().to_le_bytes() == **part)
        .count();
    right * 16 >= filler.len()
}
