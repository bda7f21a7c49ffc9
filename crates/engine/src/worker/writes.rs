//! Content of writes: what is changed or refilled in a buffer before it is written.

use super::issue::Issue;
use crate::backend::Files;
use crate::verify::Checker;
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;

/// Size in bytes above which marking a write takes longer than reading the clock.
pub(super) const WORTH_A_STAMP: u32 = 16 << 10;

/// Write size in bytes for which marking is compiled into the loop.
pub(super) const MARKED: u32 = 4096;
/// Bytes per mark: the smallest unit that a device can distinguish.
const SECTOR: usize = 512;
/// Cache line size in bytes on all known CPUs.
const LINE: usize = 64;
/// Difference between the marks of adjacent sectors. Up to 8 sectors of a page, multiples of it are constants within an
/// instruction.
const NEXT_MARK: u64 = 0x0d1b_54a3;

/// The buffer of the next write, if it has one page.
pub(super) struct UnmarkedPage<'a> {
    /// Number among the pages of all buffers.
    number: usize,
    bytes: &'a mut [u8; MARKED as usize],
    stamp: u64,
}

impl UnmarkedPage<'_> {
    /// Marks each sector for a write at an offset.
    #[inline(always)]
    pub(super) fn mark(self, offset: u64) {
        mark_page(self.bytes, self.number, self.stamp ^ offset);
    }
}

impl<B: Files> Issue<B> {
    /// Makes the content of each write unique, so that no device can deduplicate it. A checker
    /// fills its own blocks instead.
    // Inlined: most writes have one page, and a call would cost more than the marks.
    #[inline(always)]
    pub(super) fn fill_write(
        &mut self,
        check: &mut Option<Box<Checker>>,
        slot: u32,
        request: &IoRequest,
    ) {
        if self.fills_anew {
            let IoRequest {
                op,
                region,
                offset,
                len,
            } = *request;
            // A new value: a pointer to the request itself would keep the request of every I/O in memory.
            let request = IoRequest {
                op,
                region,
                offset,
                len,
            };
            self.fill_anew(check, slot, &request);
        } else if self.scramble {
            self.mark_write(slot, request);
        }
    }

    /// Marks each sector of the next buffer of a slot.
    #[inline(always)]
    fn mark_write(&mut self, slot: u32, request: &IoRequest) {
        // The usual size is an array, so that the distances between the marks are constants.
        if request.len == MARKED {
            if let Some(page) = self.next_page(slot) {
                page.mark(request.offset);
            }
        } else {
            let mark = self.next_stamp() ^ request.offset;
            let buffer = self.backend.next_buffer(slot, request.len as usize);
            mark_sectors(buffer.bytes, mark);
        }
    }

    /// Returns the next page of a slot, if its buffer has one.
    #[inline(always)]
    pub(super) fn next_page(&mut self, slot: u32) -> Option<UnmarkedPage<'_>> {
        let stamp = self.next_stamp();
        let buffer = self.backend.next_buffer(slot, MARKED as usize);
        Some(UnmarkedPage {
            number: buffer.start / MARKED as usize + slot as usize,
            bytes: buffer.bytes.try_into().ok()?,
            stamp,
        })
    }

    #[inline(always)]
    fn next_stamp(&mut self) -> u64 {
        self.stamp = self.stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.stamp
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

    /// Whether filling the buffer of this request takes longer than reading the clock. If so, the time is excluded
    /// from the latency.
    #[inline(always)]
    pub(super) fn fills_slowly(&self, request: &IoRequest) -> bool {
        self.fills_anew || request.len > WORTH_A_STAMP && request.op == Op::Write
    }
}

/// Marks each sector of a page. The number of the page chooses the cache line of each sector that is written: equal
/// lines of all pages would share a few sets of the cache, and evict each other.
#[inline(always)]
fn mark_page(page: &mut [u8; MARKED as usize], page_number: usize, mark: u64) {
    let column = page_number % (SECTOR / LINE) * LINE;
    for number in 0..MARKED as usize / SECTOR {
        let word = mark.wrapping_add(number as u64 * NEXT_MARK);
        let at = number * SECTOR + column;
        page[at..at + 8].copy_from_slice(&word.to_le_bytes());
    }
}

/// Marks each sector of a buffer. A buffer shorter than a mark gets the start of the mark.
#[inline(never)]
fn mark_sectors(buffer: &mut [u8], mark: u64) {
    let (sectors, rest) = buffer.as_chunks_mut::<SECTOR>();
    let mut word = mark;
    for (number, sector) in sectors.iter_mut().enumerate() {
        // A different position in each sector: equal positions would share a few cache lines.
        let at = number % 8 * LINE;
        sector[at..at + 8].copy_from_slice(&word.to_le_bytes());
        word = word.wrapping_add(NEXT_MARK);
    }
    if !rest.is_empty() {
        let len = rest.len().min(8);
        rest[..len].copy_from_slice(&word.to_le_bytes()[..len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Marks a buffer with the method for its size.
    fn mark_any(buffer: &mut [u8], page_number: usize, mark: u64) {
        match <&mut [u8; MARKED as usize]>::try_from(&mut *buffer) {
            Ok(page) => mark_page(page, page_number, mark),
            Err(_) => mark_sectors(buffer, mark),
        }
    }

    #[test]
    fn each_sector_of_each_write_is_marked_for_itself() {
        for len in [1, 7, 8, 511, 512, 513, 4096, 4100, 65536] {
            let mut seen = HashSet::new();
            for write in 0..3u64 {
                let mut buffer = vec![0; len];
                mark_any(
                    &mut buffer,
                    write as usize,
                    write.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1),
                );
                seen.extend(buffer.chunks(SECTOR).map(<[u8]>::to_vec));
            }
            assert_eq!(seen.len(), 3 * len.div_ceil(SECTOR), "{len} bytes");
        }
    }

    /// Simulates a thousand writes of one block, as the device receives them.
    #[test]
    fn a_block_that_is_rewritten_is_new_each_time() {
        let mut slots = hakaru_sys::buffer::Slots::with_spare(1, 4096, 128 << 10).unwrap();
        crate::content::fill_random(slots.all_mut(), &mut hakaru_model::rng::Rng::new(3));
        let (mut all, mut stamp) = (Vec::new(), 5u64);
        for _ in 0..1000 {
            stamp = stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let buffer = slots.move_on(0, 4096);
            mark_any(buffer.bytes, buffer.start / 4096, stamp ^ 8192);
            all.extend_from_slice(buffer.bytes);
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
