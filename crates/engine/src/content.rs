//! Content of write buffers: random bytes, patterns, and mixes of both with a given
//! compressibility.

use hakaru_model::job::{BufferContent, Buffers};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::rng::Rng;

/// Default interval in bytes at which the compressible part repeats.
const CHUNK: usize = 4096;

/// Minimum distance in bytes between two writes of the same random bytes, if memory allows. It
/// exceeds the window of most compressors and the amount file systems compress at once.
const UNLIKE: usize = 128 << 10;
/// Maximum bytes of these buffers per worker.
const UNLIKE_IN_ALL: usize = 2 << 20;
/// Minimum size of each buffer in bytes, whatever their number: more than the window of zlib (32
/// KiB).
const UNLIKE_AT_LEAST: usize = 36 << 10;

/// Bytes of random data that a worker needs in addition to its blocks, for each I/O in flight.
pub(crate) fn spare(plan: &WorkerPlan) -> usize {
    let marked = plan.buffers.scramble && !plan.buffers.refill && plan.verify.is_none();
    if !plan.writes
        || !marked
        || plan.buffers.fill != BufferContent::Random
        || plan.max_block as usize >= UNLIKE
    {
        return 0;
    }
    (UNLIKE_IN_ALL / plan.queue.iodepth.max(1) as usize).clamp(UNLIKE_AT_LEAST, UNLIKE)
}

/// Generator for the content of a worker's writes.
#[derive(Debug)]
pub(crate) struct Content {
    buffers: Buffers,
    seed: u64,
    rng: Rng,
    /// Number of distinct contents written so far.
    unique: u64,
    /// Number of contents, from the first, that are repeated; 0 repeats the last.
    working_set: u64,
    /// Number of contents in the shared working set; 0 if there is none.
    pool: u64,
}

/// Seed shared by all workers that use the same working set.
const POOL_SEED: u64 = 0x5e7;

impl Content {
    pub(crate) fn new(plan: &WorkerPlan) -> Content {
        let bytes: u64 = plan.stream.regions.iter().map(|region| region.len).sum();
        let blocks = bytes / u64::from(plan.max_block.max(1));
        let repeats = plan.buffers.repeats;
        let set = repeats
            .working_set_percent
            .map_or(0, |percent| (blocks * u64::from(percent) / 100).max(1));
        Content::with(plan.buffers.clone(), plan.seed, set)
    }

    fn with(buffers: Buffers, seed: u64, working_set: u64) -> Content {
        let pool = if buffers.repeats.shared {
            working_set * u64::from(buffers.repeats.sharers.max(1))
        } else {
            0
        };
        Content {
            buffers,
            seed,
            rng: Rng::fork(seed, 0xf1),
            unique: 0,
            working_set,
            pool,
        }
    }

    /// Fills all buffers before the first write.
    pub(crate) fn fill_all(&mut self, buffers: &mut [u8]) {
        fill(buffers, &self.buffers, &mut self.rng);
    }

    /// Refills the buffer of a write.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) {
        if self.buffers.repeats.percent == 0 {
            return fill(buffer, &self.buffers, &mut self.rng);
        }
        let (seed, number) = self.draw();
        fill(buffer, &self.buffers, &mut Rng::fork(seed ^ 0xdeed, number));
    }

    /// Draws the next content, previous or new, as seed and number. A separate working set is
    /// written first; a shared one is built up while it is repeated.
    fn draw(&mut self) -> (u64, u64) {
        let repeats = self.rng.below(100) < u64::from(self.buffers.repeats.percent);
        if repeats && self.pool > 0 {
            return (POOL_SEED, 1 + self.rng.below(self.pool));
        }
        if repeats && self.pool == 0 && self.unique >= self.working_set.max(1) {
            let number = if self.working_set == 0 {
                self.unique
            } else {
                1 + self.rng.below(self.working_set)
            };
            return (self.seed, number);
        }
        self.unique += 1;
        (self.seed, self.unique)
    }
}

/// Fills a buffer for writing.
pub(crate) fn fill(buffer: &mut [u8], buffers: &Buffers, rng: &mut Rng) {
    match &buffers.fill {
        BufferContent::Zero => buffer.fill(0),
        BufferContent::Random => fill_random(buffer, rng),
        BufferContent::Pattern(pattern) => repeat(buffer, pattern),
        BufferContent::Compressible(percent) => {
            let chunk = match buffers.compress_chunk {
                None => CHUNK,
                Some(bytes) if bytes.0 == 0 => buffer.len(),
                Some(bytes) => bytes.0 as usize,
            };
            // The tail of each chunk is constant, so that any compressor with a large enough window
            // finds it.
            for chunk in buffer.chunks_mut(chunk.max(1)) {
                let random = chunk.len() * (100 - (*percent).min(100) as usize) / 100;
                fill_random(&mut chunk[..random], rng);
                repeat(&mut chunk[random..], &buffers.fixed_part);
            }
        }
    }
}

/// Fills a piece that starts `start` bytes into a block of `whole` bytes. As in fio, the constant part of a compressible
/// block that is verified is at its end, whatever its pieces and chunks.
pub(crate) fn fill_part(
    piece: &mut [u8],
    buffers: &Buffers,
    (start, whole): (usize, usize),
    rng: &mut Rng,
) {
    let BufferContent::Compressible(percent) = buffers.fill else {
        return fill(piece, buffers, rng);
    };
    let random = whole * (100 - percent.min(100) as usize) / 100;
    let random = random.saturating_sub(start).min(piece.len());
    fill_random(&mut piece[..random], rng);
    repeat(&mut piece[random..], &buffers.fixed_part);
}

/// Fills a buffer with a repeated pattern, or zeros without one.
fn repeat(buffer: &mut [u8], pattern: &[u8]) {
    if pattern.is_empty() {
        return buffer.fill(0);
    }
    buffer
        .iter_mut()
        .zip(pattern.iter().cycle())
        .for_each(|(to, &from)| *to = from);
}

/// Fills a buffer with random bytes.
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

    fn of(fill: BufferContent) -> Buffers {
        Buffers {
            fill,
            ..Buffers::default()
        }
    }

    #[test]
    fn buffers_hold_what_was_asked() {
        assert_eq!(
            &filled(10_000, of(BufferContent::Pattern(b"abc".to_vec())))[9_996..],
            b"abca"
        );
        let zeros = |buffer: Vec<u8>| buffer.iter().filter(|&&b| b == 0).count();
        assert!(
            (4_900..5_200).contains(&zeros(filled(10_000, of(BufferContent::Compressible(50)))))
        );
        assert!(zeros(filled(10_000, of(BufferContent::Random))) < 100);
        assert_eq!(zeros(filled(100, of(BufferContent::Zero))), 100);
    }

    /// fio 3.33 with `--bs=12k --verify=crc32 --verify_interval=1k --buffer_compress_percentage=50`: 6 KiB of random
    /// bytes, then zeros between the headers.
    #[test]
    fn a_verified_block_is_compressible_at_its_end() {
        let buffers = Buffers {
            compress_chunk: Some(Bytes(512)),
            ..of(BufferContent::Compressible(50))
        };
        let zeros = |start: usize| {
            let mut piece = vec![1; 1024];
            fill_part(&mut piece, &buffers, (start, 12 << 10), &mut Rng::new(1));
            piece.iter().filter(|&&byte| byte == 0).count()
        };
        assert!(zeros(0) < 32 && zeros(5 << 10) < 32);
        assert_eq!((zeros(6 << 10), zeros(11 << 10)), (1024, 1024));
        assert!((512..544).contains(&zeros((5 << 10) + 512)));
    }

    /// Returns the number of distinct blocks among 2000.
    fn distinct(percent: u32, working_set: u64) -> usize {
        let repeats = hakaru_model::job::DedupeRule {
            percent,
            ..Default::default()
        };
        let mut content = Content::with(
            Buffers {
                repeats,
                ..of(BufferContent::Random)
            },
            7,
            working_set,
        );
        let mut seen = std::collections::HashSet::new();
        for _ in 0..2000 {
            let mut block = vec![0; 512];
            content.fill(&mut block);
            seen.insert(block);
        }
        seen.len()
    }

    #[test]
    fn so_many_blocks_repeat_earlier_ones() {
        for percent in [0, 10, 30, 50, 80] {
            let repeated = 100.0 - distinct(percent, 0) as f64 / 20.0;
            assert!(
                (repeated - f64::from(percent)).abs() < 4.0,
                "{percent} %: {repeated}"
            );
        }
        assert_eq!(distinct(100, 0), 1);
        assert_eq!(
            distinct(100, 50),
            50,
            "all come from the working set once it is there"
        );
        assert!(
            (1000..1120).contains(&distinct(50, 100)),
            "{}",
            distinct(50, 100)
        );
    }

    #[test]
    fn workers_repeat_the_set_they_share() {
        let repeats = hakaru_model::job::DedupeRule {
            percent: 50,
            shared: true,
            sharers: 2,
            ..Default::default()
        };
        let buffers = Buffers {
            repeats,
            ..of(BufferContent::Random)
        };
        let mut seen = std::collections::HashMap::new();
        for worker in 0..2 {
            let mut content = Content::with(buffers.clone(), worker, 50);
            for _ in 0..2000 {
                let mut block = vec![0; 512];
                content.fill(&mut block);
                *seen.entry(block).or_insert(0) |= 1 << worker;
            }
        }
        let both = seen.values().filter(|&&by| by == 3).count();
        assert!((95..=100).contains(&both), "{both} contents of both");
        let all = seen.len();
        assert!((2050..2150).contains(&all), "{all} contents in all");
    }

    /// A real compressor achieves the requested percentage.
    #[test]
    fn a_real_compressor_finds_the_share() {
        for percent in [0, 10, 25, 50, 75, 90, 100] {
            for (chunk, fixed) in [
                (None, ""),
                (Some(512), ""),
                (Some(0), ""),
                (Some(4096), "hakaru"),
            ] {
                let buffers = Buffers {
                    compress_chunk: chunk.map(Bytes),
                    fixed_part: fixed.as_bytes().to_vec(),
                    ..of(BufferContent::Compressible(percent))
                };
                let buffer = filled(1 << 20, buffers);
                let packed = miniz_oxide::deflate::compress_to_vec(&buffer, 6).len();
                let saved = 100.0 * (1.0 - packed as f64 / buffer.len() as f64);
                assert!(
                    (saved - f64::from(percent)).abs() < 3.0,
                    "{percent} % in {chunk:?}: {saved:.1} % saved"
                );
            }
        }
    }
}
