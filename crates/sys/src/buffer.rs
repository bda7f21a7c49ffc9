//! Memory for I/O: page-aligned, mapped for itself, given back when dropped.

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ptr::NonNull;

/// Has the allocator of the C library take every block from 32 KiB on from the kernel by itself, where it can be told so:
/// pages of it that are never touched then cost no memory. A histogram has ten pages, of which a run uses one or two.
///
/// For that it must have no room for such a block at hand, as it would clear that: so there is one heap for all threads,
/// which grows by little. Whoever measures asks for memory before, and hardly ever meanwhile.
///
/// To be called first of all: the library allows it while there is one thread, and threads that came before keep heaps of
/// their own.
pub fn map_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (setting, value) in [(libc::M_ARENA_MAX, 1), (libc::M_TOP_PAD, 16 << 10), (libc::M_MMAP_THRESHOLD, 32 << 10)] {
        // SAFETY: the call takes two numbers and changes a setting of the allocator; whoever calls has one thread only.
        let _ = unsafe { libc::mallopt(setting, value) };
    }
}

/// A block of zeroed memory whose start is aligned to a page (4 KiB at least), as direct I/O wants it.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone, and nothing in it depends on the thread that made it.
unsafe impl Send for AlignedBuffer {}
// SAFETY: shared references only read.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Maps `len` bytes (at least one).
    ///
    /// # Errors
    /// What `mmap` answered; ENOMEM when there is not enough memory.
    pub fn new(len: usize) -> Result<AlignedBuffer, Errno> {
        let len = len.max(1);
        let flags = MapFlags::PRIVATE;
        // SAFETY: a null hint without MAP_FIXED cannot replace a mapping that somebody uses.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, flags) }?;
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(AlignedBuffer { start, len })
    }

    /// Its bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the mapping is `len` bytes long, readable, initialised by the kernel, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Its bytes, to write.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Address of its first byte, for structures that the kernel reads.
    pub(crate) fn address(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: address and length are those of the mapping made in `new`, which nobody else unmaps.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Equal buffers, one for each I/O that may be in flight.
#[derive(Debug)]
pub struct Slots {
    memory: AlignedBuffer,
    size: usize,
    stride: usize,
    /// Which of them the kernel has now: those are not lent out.
    busy: Box<[bool]>,
}

impl Slots {
    /// `count` buffers of `size` bytes, each aligned to a page.
    ///
    /// # Errors
    /// What `mmap` answered; EOVERFLOW when the product does not fit in memory addresses.
    pub fn new(count: usize, size: usize) -> Result<Slots, Errno> {
        let stride = size.max(1).checked_next_multiple_of(4096).ok_or(Errno::OVERFLOW)?;
        let memory = AlignedBuffer::new(stride.checked_mul(count.max(1)).ok_or(Errno::OVERFLOW)?)?;
        Ok(Slots { memory, size, stride, busy: vec![false; count.max(1)].into_boxed_slice() })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.busy.len()
    }

    /// Bytes of each.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The first `len` bytes of one.
    ///
    /// # Panics
    /// When there is no such slot, `len` is more than its size, or the kernel has it: each would be a bug of the caller.
    #[inline]
    pub fn get_mut(&mut self, slot: usize, len: usize) -> &mut [u8] {
        assert!(!self.busy[slot], "slot {slot} is in flight");
        assert!(len <= self.stride, "a slot of {} bytes cannot hold {len}", self.stride);
        let start = slot * self.stride;
        &mut self.memory.as_mut_slice()[start..start + len]
    }

    /// All of it, to fill.
    ///
    /// # Panics
    /// When any of it is in flight: a bug of the caller.
    pub fn all_mut(&mut self) -> &mut [u8] {
        assert!(!self.busy.contains(&true), "a slot is in flight");
        self.memory.as_mut_slice()
    }

    /// Lends a slot to the kernel: its address, after checking that it is free and can hold `len` bytes.
    #[inline]
    pub(crate) fn lend(&mut self, slot: usize, len: usize) -> *mut u8 {
        if self.busy[slot] || len > self.stride {
            cannot_take(slot, len);
        }
        self.busy[slot] = true;
        self.memory.address().wrapping_add(slot * self.stride)
    }

    /// Takes a slot back.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: usize) {
        self.busy[slot] = false;
    }

    /// Address of a slot, to describe it to the kernel before any transfer.
    pub(crate) fn address(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.busy.len(), "no slot {slot}");
        self.memory.address().wrapping_add(slot * self.stride)
    }
}

// Apart, because a message that may be made of them keeps its values in memory.
#[cold]
#[inline(never)]
fn cannot_take(slot: usize, len: usize) -> ! {
    panic!("slot {slot} cannot take {len} bytes now");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_aligned_and_apart() {
        let mut slots = Slots::new(3, 5000).unwrap();
        for i in 0..3 {
            let slot = slots.get_mut(i, 5000);
            assert_eq!(slot.as_ptr().addr() % 4096, 0);
            slot.fill(i as u8 + 1);
        }
        assert!((0..3).all(|i| slots.get_mut(i, 5000).iter().all(|&b| b == i as u8 + 1)));
    }

    #[test]
    fn too_much_is_an_error() {
        assert_eq!(Slots::new(usize::MAX, 4096).unwrap_err(), Errno::OVERFLOW);
        assert!(AlignedBuffer::new(usize::MAX / 2).is_err());
    }
}
