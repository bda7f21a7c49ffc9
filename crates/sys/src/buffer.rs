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
    for (setting, value) in [
        (libc::M_ARENA_MAX, 1),
        (libc::M_TOP_PAD, 16 << 10),
        (libc::M_MMAP_THRESHOLD, 32 << 10),
    ] {
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
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
            )
        }?;
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
    /// The last byte of its memory at which the buffer of a slot may begin.
    last_start: usize,
    slots: Box<[Slot]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Whether the kernel has it now: then it is not lent out.
    busy: bool,
    /// Where in its memory its buffer begins.
    start: usize,
}

impl Slots {
    /// `count` buffers of `size` bytes, each aligned to a page.
    ///
    /// # Errors
    /// What `mmap` answered; EOVERFLOW when the product does not fit in memory addresses.
    pub fn new(count: usize, size: usize) -> Result<Slots, Errno> {
        Slots::with_spare(count, size, 0)
    }

    /// As [`Slots::new`], each with `spare` bytes more, through which [`Slots::move_on`] moves its buffer.
    ///
    /// # Errors
    /// As [`Slots::new`].
    pub fn with_spare(count: usize, size: usize, spare: usize) -> Result<Slots, Errno> {
        let whole = size
            .max(1)
            .checked_next_multiple_of(4096)
            .ok_or(Errno::OVERFLOW)?;
        let stride = spare
            .checked_next_multiple_of(4096)
            .and_then(|spare| whole.checked_add(spare));
        let stride = stride.ok_or(Errno::OVERFLOW)?;
        let memory = AlignedBuffer::new(stride.checked_mul(count.max(1)).ok_or(Errno::OVERFLOW)?)?;
        let slots = vec![Slot::default(); count.max(1)].into_boxed_slice();
        Ok(Slots {
            memory,
            size,
            stride,
            last_start: stride - whole,
            slots,
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Moves the buffer of a slot behind the first `len` bytes of where it is, or to the beginning where its memory
    /// ends, and returns the first `len` bytes there. A buffer of 4 KiB or more begins at a page, a smaller one at a
    /// multiple of 512 bytes.
    ///
    /// # Panics
    /// As [`Slots::get_mut`].
    // Inlined everywhere, so that a size that is known beforehand leaves a few instructions.
    #[inline(always)]
    pub fn move_on(&mut self, slot: usize, len: usize) -> &mut [u8] {
        // A power of two: a division would cost more than the rest.
        let step = if len >= 4096 {
            4096
        } else {
            len.next_power_of_two().max(512)
        };
        let place = &mut self.slots[slot];
        let next = (place.start + len + step - 1) & !(step - 1);
        let start = if next > self.last_start { 0 } else { next };
        place.start = start;
        if place.busy || len > self.stride - start {
            cannot_take(slot, len);
        }
        let first = slot * self.stride + start;
        // SAFETY: the memory has `stride` bytes for each slot, `slot` is one of them (indexed above), and
        // `start + len <= stride`. `&mut self` makes this the only reference, and the kernel does not have the slot.
        unsafe {
            self.memory
                .as_mut_slice()
                .get_unchecked_mut(first..first + len)
        }
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
        let Slot { busy, start } = self.slots[slot];
        assert!(!busy, "slot {slot} is in flight");
        assert!(
            len <= self.stride - start,
            "a slot of {} bytes cannot hold {len}",
            self.size
        );
        let start = slot * self.stride + start;
        &mut self.memory.as_mut_slice()[start..start + len]
    }

    /// All of it, to fill.
    ///
    /// # Panics
    /// When any of it is in flight: a bug of the caller.
    pub fn all_mut(&mut self) -> &mut [u8] {
        assert!(
            self.slots.iter().all(|slot| !slot.busy),
            "a slot is in flight"
        );
        self.memory.as_mut_slice()
    }

    /// Lends a slot to the kernel: its address, after checking that it is free and can hold `len` bytes.
    #[inline]
    pub(crate) fn lend(&mut self, slot: usize, len: usize) -> *mut u8 {
        let Slot { busy, start } = self.slots[slot];
        if busy || len > self.stride - start {
            cannot_take(slot, len);
        }
        self.slots[slot].busy = true;
        self.memory
            .address()
            .wrapping_add(slot * self.stride + start)
    }

    /// Takes a slot back.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: usize) {
        self.slots[slot].busy = false;
    }

    /// Address of the buffer of a slot.
    pub(crate) fn address(&self, slot: usize) -> *mut u8 {
        self.memory
            .address()
            .wrapping_add(slot * self.stride + self.slots[slot].start)
    }

    /// Address and bytes of the memory of a slot, to describe it to the kernel before any transfer.
    pub(crate) fn memory_of(&self, slot: usize) -> (*mut u8, usize) {
        assert!(slot < self.slots.len(), "no slot {slot}");
        (
            self.memory.address().wrapping_add(slot * self.stride),
            self.stride,
        )
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
    fn buffers_move_through_spare_memory() {
        let mut slots = Slots::with_spare(2, 4096, 8192).unwrap();
        slots.all_mut().fill(7);
        let (first, stride) = slots.memory_of(1);
        let mut starts = |len| {
            let start = slots.move_on(1, len).as_ptr().addr() - first.addr();
            assert!(start + 4096 <= stride, "a buffer of full size fits too");
            start
        };
        assert_eq!(
            [4096, 4096, 4096, 4096].map(&mut starts),
            [4096, 8192, 0, 4096]
        );
        assert_eq!(
            [512, 512, 1000, 3000].map(&mut starts),
            [4608, 5120, 6144, 0]
        );
        assert_eq!(slots.memory_of(0).0, slots.address(0));
        assert!(Slots::with_spare(1, 4096, usize::MAX).is_err());
        let mut fixed = Slots::new(1, 4096).unwrap();
        assert_eq!(
            fixed.move_on(0, 512).as_ptr(),
            fixed.address(0).cast_const()
        );
    }

    #[test]
    fn too_much_is_an_error() {
        assert_eq!(Slots::new(usize::MAX, 4096).unwrap_err(), Errno::OVERFLOW);
        assert!(AlignedBuffer::new(usize::MAX / 2).is_err());
    }
}
