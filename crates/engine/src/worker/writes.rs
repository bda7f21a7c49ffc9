//! The content of writes: what is changed in a buffer, or filled anew, before it goes out.

use super::{WORTH_A_STAMP, Worker};
use crate::backend::Backend;
use crate::clock::Clock;
use hakaru_model::job::Op;
use hakaru_model::stream::Request;

/// Bytes of a write that get a mark of their own.
pub(super) const MARKED: u32 = 4096;

impl<B: Backend, C: Clock> Worker<'_, B, C> {
    /// Fills the buffer of a write. Returns the moments of creation and submission.
    #[inline(always)]
    pub(super) fn make_ready(&mut self, request: &Request, last: u64) -> (u64, u64) {
        if self.marks_all || request.op == Op::Write {
            self.fill_write(0, request);
        }
        let takes_time = self.refill || request.len > WORTH_A_STAMP && request.op == Op::Write;
        (last, if takes_time { self.clock.now() } else { last })
    }

    /// Makes the content of a write unlike the one before, so that no device can take it for the same.
    // Most writes are of one page: a call would cost more than the mark.
    #[inline(always)]
    pub(super) fn fill_write(&mut self, slot: u32, request: &Request) {
        if self.refill {
            self.fill_anew(slot, request);
        } else if self.scramble {
            self.stamp = self.stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mark = self.stamp ^ request.offset;
            match self.backend.buffer(slot, request.len as usize).first_chunk_mut::<8>() {
                Some(first) if request.len <= MARKED => *first = mark.to_le_bytes(),
                _ => self.mark_pages(slot, request),
            }
        }
    }

    /// Fills the whole buffer.
    #[inline(never)]
    fn fill_anew(&mut self, slot: u32, request: &Request) {
        let buffer = self.backend.buffer(slot, request.len as usize);
        match &mut self.check {
            Some(check) if check.fills() => check.fill(slot, request, buffer),
            _ => self.content.fill(buffer),
        }
    }

    /// Marks each page of a buffer; one that is shorter than a mark gets the beginning of it.
    #[inline(never)]
    fn mark_pages(&mut self, slot: u32, request: &Request) {
        let mark = self.stamp;
        let buffer = self.backend.buffer(slot, request.len as usize);
        for (page, place) in buffer.chunks_mut(MARKED as usize).enumerate() {
            let word = (mark ^ request.offset.wrapping_add(page as u64)).to_le_bytes();
            // Another place in each page: the same one in all of them would fall into few lines of the cache.
            let at = (page * 64) % MARKED as usize;
            let place = if at + 8 <= place.len() { &mut place[at..] } else { place };
            match place.first_chunk_mut::<8>() {
                Some(first) => *first = word,
                None => place.copy_from_slice(&word[..place.len()]),
            }
        }
    }
}
