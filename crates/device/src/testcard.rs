//! A card in memory, with the faults that verifying has to find: for tests.

use crate::blockdev::BlockDev;
use hakaru_model::units::{Bytes, Nanos};
use std::io;

/// What becomes of writes beyond the real end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    /// They land at the beginning again.
    Wraps,
    /// They are dropped, and reads give zeroes.
    Vanishes,
    /// They fail, and so do reads.
    Refuses,
}

/// The card. Time passes only by reading and writing: 50 ns a written byte, 25 ns a read one.
pub(crate) struct Card {
    pub(crate) content: Vec<u8>,
    pub(crate) claimed: u64,
    pub(crate) beyond: Beyond,
    /// Offset at which writes fail.
    pub(crate) write_error: Option<u64>,
    /// Offset at which reads fail.
    pub(crate) read_error: Option<u64>,
    /// Blocks that silently keep their old content.
    pub(crate) drops: std::ops::Range<u64>,
    /// A bit of this byte is flipped when it is read.
    pub(crate) rot: Option<u64>,
    pub(crate) flushes: u32,
    /// Requests until now.
    pub(crate) requests: u64,
    /// Whether nothing answers any more.
    pub(crate) pulled: bool,
    time: Nanos,
}

impl Card {
    pub(crate) fn honest(size: u64) -> Card {
        Card::false_capacity(size, size, Beyond::Wraps)
    }

    pub(crate) fn false_capacity(real: u64, claimed: u64, beyond: Beyond) -> Card {
        let content = vec![0; usize::try_from(real).unwrap()];
        Card {
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

    /// Where a byte really lies.
    fn place(&self, offset: u64) -> Option<usize> {
        let real = self.content.len() as u64;
        match self.beyond {
            Beyond::Wraps => Some((offset % real) as usize),
            Beyond::Vanishes | Beyond::Refuses => (offset < real).then_some(offset as usize),
        }
    }

    fn fails(&self, at: Option<u64>, offset: u64, len: usize) -> io::Result<()> {
        let end = offset + len as u64;
        let hit = at.is_some_and(|at| (offset..end).contains(&at));
        let hit = hit || self.pulled || self.beyond == Beyond::Refuses && end > self.content.len() as u64;
        if hit { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    }
}

impl BlockDev for Card {
    fn size(&self) -> Bytes {
        Bytes(self.claimed)
    }

    fn block(&self) -> u32 {
        512
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        assert!(
            offset.is_multiple_of(512) && data.len().is_multiple_of(512) && offset + data.len() as u64 <= self.claimed
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
