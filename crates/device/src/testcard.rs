//! Simulated cards in memory, with the faults that verification must find, for tests.

use crate::blockdev::BlockDev;
use hakaru_model::units::{Bytes, Nanos};
use std::collections::{BTreeMap, HashMap};
use std::io;

/// Result of writes beyond the real end of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PastEndWrites {
    /// They wrap around to the start of the memory.
    Wraps,
    /// They are dropped, and reads return zeros.
    Vanishes,
    /// They fail with an I/O error, and so do reads.
    Refuses,
}

/// A simulated card. Only I/O advances its clock: by 50 ns per byte written and 25 ns per byte read.
pub(crate) struct FakeCard {
    pub(crate) content: Vec<u8>,
    pub(crate) claimed: u64,
    pub(crate) beyond: PastEndWrites,
    /// Offset at which writes fail.
    pub(crate) write_error: Option<u64>,
    /// Offset at which reads fail.
    pub(crate) read_error: Option<u64>,
    /// Blocks that silently keep their old content.
    pub(crate) drops: std::ops::Range<u64>,
    /// Offset of a byte of which one bit is flipped on reads.
    pub(crate) rot: Option<u64>,
    pub(crate) flushes: u32,
    /// Number of read and write requests so far.
    pub(crate) requests: u64,
    /// Whether the card was removed, so that all I/O fails.
    pub(crate) pulled: bool,
    time: Nanos,
}

impl FakeCard {
    pub(crate) fn honest(size: u64) -> FakeCard {
        FakeCard::false_capacity(size, size, PastEndWrites::Wraps)
    }

    pub(crate) fn false_capacity(real: u64, claimed: u64, beyond: PastEndWrites) -> FakeCard {
        let content = vec![0; usize::try_from(real).unwrap()];
        FakeCard {
            content,
            claimed,
            beyond,
            write_error: None,
            read_error: None,
            drops: 0..0,
            rot: None,
            flushes: 0,
            requests: 0,
            pulled: false,
            time: Nanos(0),
        }
    }

    /// Returns the index of an offset in the real memory; `None` beyond its end.
    fn place(&self, offset: u64) -> Option<usize> {
        let real = self.content.len() as u64;
        match self.beyond {
            PastEndWrites::Wraps => Some((offset % real) as usize),
            PastEndWrites::Vanishes | PastEndWrites::Refuses => {
                (offset < real).then_some(offset as usize)
            }
        }
    }

    fn fails(&self, at: Option<u64>, offset: u64, len: usize) -> io::Result<()> {
        let end = offset + len as u64;
        let hit = at.is_some_and(|at| (offset..end).contains(&at));
        let hit = hit
            || self.pulled
            || self.beyond == PastEndWrites::Refuses && end > self.content.len() as u64;
        if hit {
            Err(io::Error::from_raw_os_error(5))
        } else {
            Ok(())
        }
    }
}

impl BlockDev for FakeCard {
    fn size(&self) -> Bytes {
        Bytes(self.claimed)
    }

    fn block(&self) -> u32 {
        512
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        assert!(
            offset.is_multiple_of(512)
                && data.len().is_multiple_of(512)
                && offset + data.len() as u64 <= self.claimed
        );
        self.requests += 1;
        self.fails(self.write_error, offset, data.len())?;
        self.time.0 += 50 * data.len() as u64;
        for (at, sector) in (offset..).step_by(512).zip(data.chunks_exact(512)) {
            if let Some(place) = self.place(at).filter(|_| !self.drops.contains(&at)) {
                self.content[place..place + 512].copy_from_slice(sector);
            }
        }
        Ok(())
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        assert!(
            offset.is_multiple_of(512)
                && buffer.len().is_multiple_of(512)
                && offset + buffer.len() as u64 <= self.claimed
        );
        self.requests += 1;
        self.fails(self.read_error, offset, buffer.len())?;
        self.time.0 += 25 * buffer.len() as u64;
        for (at, sector) in (offset..).step_by(512).zip(buffer.chunks_exact_mut(512)) {
            match self.place(at) {
                Some(place) => sector.copy_from_slice(&self.content[place..place + 512]),
                None => sector.fill(0),
            }
            if let Some(rot) = self.rot.filter(|rot| (at..at + 512).contains(rot)) {
                sector[(rot - at) as usize] ^= 4;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushes += 1;
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.time
    }
}

/// Eviction policy of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forgets {
    /// Evicts the data written first.
    Oldest,
    /// Evicts the least recently used data.
    LeastUsed,
}

/// Writes that go through a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serves {
    /// All writes.
    Everything,
    /// Only writes beyond the real end, as in a counterfeit card that hides its missing memory as long as possible.
    Beyond,
}

/// A cache in front of fake memory. It keeps the newest writes readable, even if the memory behind it lost them.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub(crate) bytes: u64,
    pub(crate) forgets: Forgets,
    pub(crate) serves: Serves,
    entries: HashMap<u64, (u64, TestBlock)>,
    order: BTreeMap<u64, u64>,
    clock: u64,
}

impl Cache {
    pub(crate) fn new(bytes: u64, forgets: Forgets, serves: Serves) -> Cache {
        Cache {
            bytes,
            forgets,
            serves,
            entries: HashMap::new(),
            order: BTreeMap::new(),
            clock: 0,
        }
    }

    fn put(&mut self, block: u64, content: TestBlock) {
        self.clock += 1;
        if let Some((before, _)) = self.entries.insert(block, (self.clock, content)) {
            self.order.remove(&before);
        }
        self.order.insert(self.clock, block);
        while self.order.len() as u64 * SparseCard::BLOCK > self.bytes {
            let (_, oldest) = self.order.pop_first().unwrap();
            self.entries.remove(&oldest);
        }
    }

    fn get(&mut self, block: u64) -> Option<TestBlock> {
        let content = self.entries.get(&block)?.1.clone();
        if self.forgets == Forgets::LeastUsed {
            self.put(block, content.clone());
        }
        Some(content)
    }
}

/// Content of a block. Blocks written by verification are stored as their seed and address only.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TestBlock {
    Stamp { seed: u64, offset: u64 },
    Bytes(Box<[u8]>),
}

/// A simulated card of any size with a cache; a block written by verification takes only a few bytes of memory.
pub(crate) struct SparseCard {
    real: u64,
    claimed: u64,
    beyond: PastEndWrites,
    content: HashMap<u64, TestBlock>,
    cache: Option<Cache>,
    /// Range of blocks that silently keep their old content when they are written.
    pub(crate) drops: std::ops::Range<u64>,
    /// Number of bytes written.
    pub(crate) written: u64,
    time: Nanos,
}

impl SparseCard {
    pub(crate) const BLOCK: u64 = 4096;

    pub(crate) fn new(
        real: u64,
        claimed: u64,
        beyond: PastEndWrites,
        cache: Option<Cache>,
    ) -> SparseCard {
        let cache = cache.filter(|cache| cache.bytes > 0);
        SparseCard {
            real,
            claimed,
            beyond,
            content: HashMap::new(),
            cache,
            drops: 0..0,
            written: 0,
            time: Nanos(0),
        }
    }

    /// Fills every `step`-th block of the real memory with unique content.
    pub(crate) fn fill(&mut self, step: u64) {
        for block in (0..self.real / Self::BLOCK).step_by(step as usize) {
            let mut bytes = vec![0x5a; Self::BLOCK as usize];
            bytes[..8].copy_from_slice(&block.to_le_bytes());
            self.content.insert(block, TestBlock::Bytes(bytes.into()));
        }
    }

    /// Whether the real memory contains exactly the content written by [`SparseCard::fill`].
    pub(crate) fn is_as_filled(&self, step: u64) -> bool {
        let mut fresh = SparseCard::new(self.real, self.claimed, self.beyond, None);
        fresh.fill(step);
        let zero = |content: &TestBlock| matches!(content, TestBlock::Bytes(bytes) if bytes.iter().all(|byte| *byte == 0));
        let kept = fresh
            .content
            .iter()
            .all(|(block, content)| self.content.get(block) == Some(content));
        kept && self
            .content
            .iter()
            .all(|(block, content)| zero(content) || fresh.content.contains_key(block))
    }

    fn place(&self, block: u64) -> Option<u64> {
        let real = self.real / Self::BLOCK;
        match self.beyond {
            PastEndWrites::Wraps => Some(block % real),
            PastEndWrites::Vanishes | PastEndWrites::Refuses => (block < real).then_some(block),
        }
    }

    fn is_served(&self, block: u64) -> bool {
        let is_beyond = block >= self.real / Self::BLOCK;
        self.cache
            .as_ref()
            .is_some_and(|cache| cache.serves == Serves::Everything || is_beyond)
    }
}

impl BlockDev for SparseCard {
    fn size(&self) -> Bytes {
        Bytes(self.claimed)
    }

    fn block(&self) -> u32 {
        Self::BLOCK as u32
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        assert!(offset.is_multiple_of(Self::BLOCK) && offset + data.len() as u64 <= self.claimed);
        self.time.0 += 50 * data.len() as u64;
        for (block, bytes) in (offset / Self::BLOCK..).zip(data.chunks_exact(Self::BLOCK as usize))
        {
            if self.drops.contains(&(block * Self::BLOCK)) {
                continue;
            }
            self.written += bytes.len() as u64;
            let content = crate::verify::stamped(bytes).map_or_else(
                || TestBlock::Bytes(bytes.into()),
                |(seed, offset)| TestBlock::Stamp { seed, offset },
            );
            let (place, served) = (self.place(block), self.is_served(block));
            if place.is_none() && !served && self.beyond == PastEndWrites::Refuses {
                return Err(io::Error::from_raw_os_error(5));
            }
            if let Some(place) = place {
                self.content.insert(place, content.clone());
            }
            if let Some(cache) = self.cache.as_mut().filter(|_| served) {
                cache.put(block, content);
            }
        }
        Ok(())
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        assert!(offset.is_multiple_of(Self::BLOCK) && offset + buffer.len() as u64 <= self.claimed);
        self.time.0 += 25 * buffer.len() as u64;
        for (block, bytes) in
            (offset / Self::BLOCK..).zip(buffer.chunks_exact_mut(Self::BLOCK as usize))
        {
            let cached = if self.is_served(block) {
                self.cache.as_mut().and_then(|cache| cache.get(block))
            } else {
                None
            };
            let place = self.place(block);
            if cached.is_none() && place.is_none() && self.beyond == PastEndWrites::Refuses {
                return Err(io::Error::from_raw_os_error(5));
            }
            match cached.or_else(|| self.content.get(&place?).cloned()) {
                None => bytes.fill(0),
                Some(TestBlock::Bytes(held)) => bytes.copy_from_slice(&held),
                Some(TestBlock::Stamp { seed, offset }) => {
                    crate::verify::stamp(seed, offset, bytes)
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.time
    }
}
