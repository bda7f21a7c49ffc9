//! The content of writes: what is changed in a buffer, or filled anew, before it goes out.

use super::issue::Issue;
use crate::backend::Files;
use crate::verify::Checker;
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;

/// Marking a write of more bytes than this takes longer than a look at the clock.
pub(super) const WORTH_A_STAMP: u32 = 16 << 10;

/// Bytes of a write that are marked without a call.
pub(super) const MARKED: u32 = 4096;
/// Bytes that get a mark of their own: the smallest unit that a device can tell from another.
const SECTOR: usize = 512;
/// What the mark of a sector is more than that of the one before.
const NEXT_MARK: u64 = 0xd1b5_4a32_d192_ed03;

impl<B: Files> Issue<B> {
    /// Makes the content of a write unlike the one before, so that no device can take it for the same. A checker that
    /// fills what it checks does so instead.
    // Most writes are of one page: a call would cost more than the marks.
    #[inline(always)]
    pub(super) fn fill_write(
        &mut self,
        check: &mut Option<Box<Checker>>,
        slot: u32,
        request: &IoRequest,
    ) {
        if self.fills_anew {
            self.fill_anew(check, slot, request);
        } else if self.scramble {
            self.stamp = self.stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mark = self.stamp ^ request.offset;
            let buffer = self.backend.next_buffer(slot, request.len as usize);
            if request.len <= MARKED {
                mark_sectors(buffer, mark)
            } else {
                mark_large(buffer, mark)
            }
        }
    }

    /// Fills the whole buffer.
    #[inline(never)]
    fn fill_anew(&mut self, check: &mut Option<Box<Checker>>, slot: u32, request: &IoRequest) {
        let buffer = self.backend.buffer(slot, request.len as usize);
        match check {
            Some(check) if check.fills() => check.fill(slot, request, buffer),
            _ => self.content.fill(buffer),
        }
    }

    /// Whether filling the buffer of this request takes longer than a look at the clock, which then keeps it out of the
    /// latency.
    #[inline(always)]
    pub(super) fn fills_slowly(&self, request: &IoRequest) -> bool {
        self.fills_anew || request.len > WORTH_A_STAMP && request.op == Op::Write
    }
}

/// Marks each sector of a buffer; one that is shorter than a mark gets the beginning of it.
#[inline(always)]
fn mark_sectors(buffer: &mut [u8], mark: u64) {
    // The usual size as an array: then the places are constants.
    if let Ok(page) = <&mut [u8; MARKED as usize]>::try_from(&mut *buffer) {
        for number in 0..MARKED as usize / SECTOR {
            let (at, word) = (
                number * (SECTOR + 64),
                mark.wrapping_add(NEXT_MARK.wrapping_mul(number as u64)),
            );
            page[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        return;
    }
    let (sectors, rest) = buffer.as_chunks_mut::<SECTOR>();
    let mut word = mark;
    for (number, sector) in sectors.iter_mut().enumerate() {
        // Another place in each sector: the same one in all of them would fall into few lines of the cache.
        let at = number % 8 * 64;
        sector[at..at + 8].copy_from_slice(&word.to_le_bytes());
        word = word.wrapping_add(NEXT_MARK);
    }
    if !rest.is_empty() {
        let len = rest.len().min(8);
        rest[..len].copy_from_slice(&word.to_le_bytes()[..len]);
    }
}

/// The same, where a call costs little beside the marks.
#[inline(never)]
fn mark_large(buffer: &mut [u8], mark: u64) {
    mark_sectors(buffer, mark);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_sector_of_each_write_is_marked_for_itself() {
        for len in [1, 7, 8, 511, 512, 513, 4096, 4100, 65536] {
            let mut seen = HashSet::new();
            for write in 0..3u64 {
                let mut buffer = vec![0; len];
                mark_sectors(
                    &mut buffer,
                    write.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1),
                );
                seen.extend(buffer.chunks(SECTOR).map(<[u8]>::to_vec));
            }
            assert_eq!(seen.len(), 3 * len.div_ceil(SECTOR), "{len} bytes");
        }
    }

    /// A thousand writes of one block: what the device sees at that place, one after another.
    #[test]
    fn a_block_that_is_rewritten_is_new_each_time() {
        let mut slots = hakaru_sys::buffer::Slots::with_spare(1, 4096, 128 << 10).unwrap();
        crate::content::fill_random(slots.all_mut(), &mut hakaru_model::rng::Rng::new(3));
        let (mut all, mut stamp) = (Vec::new(), 5u64);
        for _ in 0..1000 {
            stamp = stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let buffer = slots.move_on(0, 4096);
            mark_sectors(buffer, stamp ^ 8192);
            all.extend_from_slice(buffer);
        }
        assert_eq!(all.chunks(SECTOR).collect::<HashSet<_>>().len(), 8000);
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&all, 6).len();
        assert!(
            packed * 100 >= all.len() * 95,
            "{packed} of {} bytes",
            all.len()
        );
    }
}
