//! What writes carry: random bytes, patterns, and mixes of both that compress by a given share.

use hakaru_model::job::{Buffers, Fill};
use hakaru_model::rng::Rng;

/// Without a chunk of its own, the part of a buffer that compresses comes again after so many bytes.
const CHUNK: usize = 4096;

/// Fills a buffer for writing.
pub(crate) fn fill(buffer: &mut [u8], buffers: &Buffers, rng: &mut Rng) {
    match &buffers.fill {
        Fill::Zero => buffer.fill(0),
        Fill::Random => fill_random(buffer, rng),
        Fill::Pattern(pattern) => repeat(buffer, pattern),
        Fill::Compressible(percent) => {
            let chunk = match buffers.compress_chunk {
                None => CHUNK,
                Some(bytes) if bytes.0 == 0 => buffer.len(),
                Some(bytes) => bytes.0 as usize,
            };
            // The tail of each chunk is always the same, so that any compressor that looks so far finds the share.
            for chunk in buffer.chunks_mut(chunk.max(1)) {
                let random = chunk.len() * (100 - (*percent).min(100) as usize) / 100;
                fill_random(&mut chunk[..random], rng);
                repeat(&mut chunk[random..], &buffers.fixed_part);
            }
        }
    }
}

/// A pattern over and over; zeroes where there is none.
fn repeat(buffer: &mut [u8], pattern: &[u8]) {
    if pattern.is_empty() {
        return buffer.fill(0);
    }
    buffer.iter_mut().zip(pattern.iter().cycle()).for_each(|(to, &from)| *to = from);
}

/// Random bytes.
pub(crate) fn fill_random(buffer: &mut [u8], rng: &mut Rng) {
    let mut words = buffer.chunks_exact_mut(8);
    for word in &mut words {
        word.copy_from_slice(&rng.next_u64().to_le_bytes());
    }
    let rest = words.into_remainder();
    let last = rng.next_u64().to_le_bytes();
    rest.copy_from_slice(&last[..rest.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Bytes;

    fn filled(len: usize, buffers: Buffers) -> Vec<u8> {
        let mut buffer = vec![1; len];
        fill(&mut buffer, &buffers, &mut Rng::new(1));
        buffer
    }

    fn of(fill: Fill) -> Buffers {
        Buffers { fill, ..Buffers::default() }
    }

    #[test]
    fn buffers_hold_what_was_asked() {
        assert_eq!(&filled(10_000, of(Fill::Pattern(b"abc".to_vec())))[9_996..], b"abca");
        let zeros = |buffer: Vec<u8>| buffer.iter().filter(|&&b| b == 0).count();
        assert!((4_900..5_200).contains(&zeros(filled(10_000, of(Fill::Compressible(50))))));
        assert!(zeros(filled(10_000, of(Fill::Random))) < 100);
        assert_eq!(zeros(filled(100, of(Fill::Zero))), 100);
    }

    /// The share that a real compressor takes away is the one that was asked for.
    #[test]
    fn a_real_compressor_finds_the_share() {
        for percent in [0, 10, 25, 50, 75, 90, 100] {
            for (chunk, fixed) in [(None, ""), (Some(512), ""), (Some(0), ""), (Some(4096), "hakaru")] {
                let buffers = Buffers {
                    compress_chunk: chunk.map(Bytes),
                    fixed_part: fixed.as_bytes().to_vec(),
                    ..of(Fill::Compressible(percent))
                };
                let buffer = filled(1 << 20, buffers);
                let packed = miniz_oxide::deflate::compress_to_vec(&buffer, 6).len();
                let saved = 100.0 * (1.0 - packed as f64 / buffer.len() as f64);
                assert!((saved - f64::from(percent)).abs() < 3.0, "{percent} % in {chunk:?}: {saved:.1} % saved");
            }
        }
    }
}
