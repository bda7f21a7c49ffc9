//! Several buffers in one call: `readv` and `writev` at the file's own offset.

use crate::buffer::{MovedBuffer, Slots};
use crate::file::last_errno;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;

/// Buffers that can be combined in one call, in any order.
#[derive(Debug)]
pub struct VectoredSlots {
    slots: Slots,
    vectors: Vec<libc::iovec>,
}

impl VectoredSlots {
    /// Maximum number of parts per call (`UIO_MAXIOV`).
    pub const MOST: usize = 1024;

    /// Allocates the vectors for calls with all of these buffers.
    pub fn new(slots: Slots) -> VectoredSlots {
        let vectors = Vec::with_capacity(slots.count().min(VectoredSlots::MOST));
        VectoredSlots { slots, vectors }
    }

    /// Returns the first `len` bytes of one buffer.
    #[inline]
    pub fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    /// Returns the first `len` bytes of one buffer, after [`Slots::move_on`].
    #[inline]
    pub fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.slots.move_on(slot as usize, len)
    }

    /// Returns all buffers, to fill them.
    pub fn buffers(&mut self) -> &mut [u8] {
        self.slots.all_mut()
    }

    /// Reads into the first bytes of these slots, one after another. Returns the bytes read.
    ///
    /// # Errors
    /// The error of `readv`; EINVAL for more than [`VectoredSlots::MOST`] parts.
    ///
    /// # Panics
    /// If a slot does not exist or is too small: a bug of the caller.
    pub fn read(
        &mut self,
        file: impl AsFd,
        parts: impl Iterator<Item = (u32, u32)>,
    ) -> Result<usize, Errno> {
        self.collect(parts);
        let count = self.vectors.len() as libc::c_int;
        // SAFETY: the vectors describe only memory of `self.slots`, to which no reference exists during the call.
        let moved = unsafe { libc::readv(file.as_fd().as_raw_fd(), self.vectors.as_ptr(), count) };
        usize::try_from(moved).map_err(|_| last_errno())
    }

    /// Writes the first bytes of these slots, one after another. Returns the bytes written.
    ///
    /// # Errors
    /// The error of `writev`; EINVAL for more than [`VectoredSlots::MOST`] parts.
    ///
    /// # Panics
    /// If a slot does not exist or is too small: a bug of the caller.
    pub fn write(
        &mut self,
        file: impl AsFd,
        parts: impl Iterator<Item = (u32, u32)>,
    ) -> Result<usize, Errno> {
        self.collect(parts);
        let count = self.vectors.len() as libc::c_int;
        // SAFETY: as in `read`; the memory is only read.
        let moved = unsafe { libc::writev(file.as_fd().as_raw_fd(), self.vectors.as_ptr(), count) };
        usize::try_from(moved).map_err(|_| last_errno())
    }

    fn collect(&mut self, parts: impl Iterator<Item = (u32, u32)>) {
        self.vectors.clear();
        for (slot, len) in parts {
            let (iov_base, iov_len) = (self.slots.address(slot as usize).cast(), len as usize);
            assert!(
                iov_len <= self.slots.size(),
                "a slot of {} bytes cannot hold {len}",
                self.slots.size()
            );
            self.vectors.push(libc::iovec { iov_base, iov_len });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_and_come_in_the_order_they_are_named() {
        let file = tempfile::tempfile().unwrap();
        let mut slots = VectoredSlots::new(Slots::new(3, 4096).unwrap());
        for slot in 0..3 {
            slots.buffer(slot, 4096).fill(slot as u8 + 1);
        }
        assert_eq!(
            slots.write(&file, [(2, 4), (0, 2), (1, 3)].into_iter()),
            Ok(9)
        );
        slots.buffers().fill(0);
        rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0)).unwrap();
        assert_eq!(slots.read(&file, [(1, 5), (2, 100)].into_iter()), Ok(9));
        assert_eq!(slots.buffer(1, 5), [3, 3, 3, 3, 1]);
        assert_eq!(slots.buffer(2, 5), [1, 2, 2, 2, 0]);
        assert_eq!(
            slots.read(&file, (0..2000).map(|_| (0, 1))),
            Err(Errno::INVAL)
        );
    }
}
