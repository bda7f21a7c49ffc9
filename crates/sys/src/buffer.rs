//! I/O buffers: page-aligned, separately mapped, unmapped when dropped.

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ptr::NonNull;

/// Configures glibc malloc to map blocks from 32 KiB separately, so that untouched pages of them
/// use no memory. A histogram has ten pages, of which a run uses one or two.
///
/// The heap must not contain free space for such a block, because it would be cleared: use a single
/// arena for all threads that grows slowly. Measuring threads allocate before the measurement.
///
/// Call this first: it is only safe with a single thread, and threads started earlier keep their
/// own arenas.
pub fn map_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (setting, value) in [
        (libc::M_ARENA_MAX, 1),
        (libc::M_TOP_PAD, 16 << 10),
        (libc::M_MMAP_THRESHOLD, 32 << 10),
    ] {
        // SAFETY: the call takes two numbers and changes an allocator setting; the caller ensures a single thread.
        let _ = unsafe { libc::mallopt(setting, value) };
    }
}

/// Zeroed memory aligned to a page (at least 4 KiB), as direct I/O requires.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: this value owns the mapping, which does not depend on the thread that created it.
unsafe impl Send for AlignedBuffer {}
// SAFETY: shared references only read.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Maps `len` bytes (at least one).
    ///
    /// # Errors
    /// The error of `mmap`; ENOMEM if there is not enough memory.
    pub fn new(len: usize) -> Result<AlignedBuffer, Errno> {
        let len = len.max(1);
        let flags = MapFlags::PRIVATE;
        // SAFETY: a null hint without MAP_FIXED cannot replace a mapping that is in use.
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

    /// Returns all bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the mapping is `len` bytes long, readable, initialized by the kernel, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Returns all bytes, mutable.
    #[inline]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and `&mut self` makes this the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    /// Address of its first byte, for structures that the kernel reads.
    pub(crate) fn address(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Leaks the memory: it stays mapped, and this value becomes empty.
    // Only rings need it, and they exist on 64-bit systems only.
    #[cfg(target_pointer_width = "64")]
    fn leak(&mut self) {
        self.len = 0;
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        // SAFETY: address and length are those of the mapping made in `new`, and nothing else unmaps it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// A buffer at its current position; see [`Slots::move_on`].
#[derive(Debug)]
pub struct MovedBuffer<'a> {
    /// Offset in the memory of the slot.
    pub start: usize,
    /// The buffer.
    pub bytes: &'a mut [u8],
}

/// Buffers of equal size, one per I/O in flight.
#[derive(Debug)]
pub struct Slots {
    memory: AlignedBuffer,
    size: usize,
    stride: usize,
    /// Largest length of a buffer: `size` in whole pages.
    whole: usize,
    /// The last offset in its memory where the buffer of a slot may start.
    last_start: usize,
    slots: Box<[Slot]>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Offset of its buffer in its memory.
    start: usize,
    /// A buffer must be shorter than this. 0 while the kernel uses the slot, so that one comparison checks both.
    limit: usize,
}

impl Slots {
    /// Allocates `count` page-aligned buffers of `size` bytes.
    ///
    /// # Errors
    /// The error of `mmap`; EOVERFLOW if the total size does not fit in the address space.
    pub fn new(count: usize, size: usize) -> Result<Slots, Errno> {
        Slots::with_spare(count, size, 0)
    }

    /// Like [`Slots::new`], with `spare` extra bytes per slot, in which [`Slots::move_on`] moves
    /// the buffer.
    ///
    /// # Errors
    /// See [`Slots::new`].
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
        let free = Slot {
            start: 0,
            limit: whole + 1,
        };
        let slots = vec![free; count.max(1)].into_boxed_slice();
        Ok(Slots {
            memory,
            size,
            stride,
            whole,
            last_start: stride - whole,
            slots,
        })
    }

    /// Number of slots.
    pub fn count(&self) -> usize {
        self.slots.len()
    }

    /// Moves the buffer of a slot by `len` bytes, or back to the start at the end of its memory,
    /// and returns its first `len` bytes with the position. Buffers of at least 4 KiB stay page-aligned, smaller ones
    /// aligned to 512 bytes.
    ///
    /// # Panics
    /// See [`Slots::get_mut`].
    // Inlined everywhere, so that a constant size reduces it to a few instructions.
    #[inline(always)]
    pub fn move_on(&mut self, slot: usize, len: usize) -> MovedBuffer<'_> {
        // A power of two: a division would cost more than the rest.
        let step = if len >= 4096 {
            4096
        } else {
            len.next_power_of_two().max(512)
        };
        let place = &mut self.slots[slot];
        if len >= place.limit {
            cannot_take(slot, len);
        }
        let next = (place.start + len + step - 1) & !(step - 1);
        let start = if next > self.last_start { 0 } else { next };
        place.start = start;
        // SAFETY: `slot` is one of the slots (indexed above), and `start + len <= last_start + whole = stride`. The kernel
        // is not using the slot: its limit would be 0.
        let bytes = unsafe { self.slice(slot * self.stride + start, len) };
        MovedBuffer { start, bytes }
    }

    /// Size of each slot in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the first `len` bytes of a slot.
    ///
    /// # Panics
    /// If the slot does not exist, `len` exceeds its size, or the kernel is using it: each is a bug
    /// of the caller.
    #[inline]
    pub fn get_mut(&mut self, slot: usize, len: usize) -> &mut [u8] {
        let Slot { start, limit } = self.slots[slot];
        assert!(limit > 0, "slot {slot} is in flight");
        assert!(
            len <= self.stride - start,
            "a slot of {} bytes cannot hold {len}",
            self.size
        );
        // SAFETY: `slot` is one of the slots (indexed above), and `start + len` is at most `stride`. The kernel is not
        // using the slot: its limit would be 0.
        unsafe { self.slice(slot * self.stride + start, len) }
    }

    /// Returns a part of the memory. The reference covers this part only, because the kernel may be writing to the
    /// others.
    ///
    /// # Safety
    /// The part must be within the memory of one slot that the kernel is not using.
    #[inline(always)]
    unsafe fn slice(&mut self, first: usize, len: usize) -> &mut [u8] {
        let start = self.memory.address().wrapping_add(first);
        // SAFETY: the caller ensures that these bytes are mapped, and that the kernel does not use them; they are
        // initialized by the kernel. `&mut self` makes this the only reference to them.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// Returns all memory, to fill it.
    ///
    /// # Panics
    /// If any slot is in flight: a bug of the caller.
    pub fn all_mut(&mut self) -> &mut [u8] {
        assert!(
            self.slots.iter().all(|slot| slot.limit > 0),
            "a slot is in flight"
        );
        self.memory.as_mut_slice()
    }

    /// Lends a slot to the kernel and returns its address. Checks that the slot is free and at
    /// least `len` bytes long.
    #[inline]
    pub(crate) fn lend(&mut self, slot: usize, len: usize) -> *mut u8 {
        let place = &mut self.slots[slot];
        if len >= place.limit {
            cannot_take(slot, len);
        }
        place.limit = 0;
        self.memory
            .address()
            .wrapping_add(slot * self.stride + place.start)
    }

    /// Leaks the memory of all slots, because the kernel may still write to it. No slot can be used afterwards.
    #[cfg(target_pointer_width = "64")]
    pub(crate) fn leak(&mut self) {
        self.slots = Box::default();
        self.memory.leak();
    }

    /// Returns a slot from the kernel.
    #[inline]
    pub(crate) fn give_back(&mut self, slot: usize) {
        self.slots[slot].limit = self.whole + 1;
    }

    /// Address of the buffer of a slot.
    pub(crate) fn address(&self, slot: usize) -> *mut u8 {
        self.memory
            .address()
            .wrapping_add(slot * self.stride + self.slots[slot].start)
    }

    /// Returns address and length of a slot, to register it with the kernel.
    #[cfg(any(test, target_pointer_width = "64"))]
    pub(crate) fn memory_of(&self, slot: usize) -> (*mut u8, usize) {
        assert!(slot < self.slots.len(), "no slot {slot}");
        (
            self.memory.address().wrapping_add(slot * self.stride),
            self.stride,
        )
    }
}

// Out of line: formatting the panic message would otherwise keep its values in memory.
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
            let start = slots.move_on(1, len).bytes.as_ptr().addr() - first.addr();
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
            fixed.move_on(0, 512).bytes.as_ptr(),
            fixed.address(0).cast_const()
        );
    }

    /// Miri reports a reference that covers the lent slot.
    #[test]
    fn slots_in_flight_cannot_be_accessed() {
        let mut slots = Slots::new(2, 4096).unwrap();
        let lent = slots.lend(0, 4096);
        slots.get_mut(1, 4096).fill(1);
        // SAFETY: the slot is lent, so no reference covers it; this is what the kernel does.
        unsafe { lent.write_bytes(2, 4096) };
        let accesses: [fn(&mut Slots); 4] = [
            |slots| slots.get_mut(0, 0).fill(3),
            |slots| slots.all_mut().fill(3),
            |slots| {
                slots.lend(0, 0);
            },
            |slots| {
                slots.move_on(0, 0);
            },
        ];
        for access in accesses {
            let attempt = std::panic::AssertUnwindSafe(|| access(&mut slots));
            assert!(std::panic::catch_unwind(attempt).is_err());
        }
        slots.give_back(0);
        assert_eq!(slots.get_mut(0, 4096), [2; 4096]);
    }

    #[test]
    fn too_much_is_an_error() {
        assert_eq!(Slots::new(usize::MAX, 4096).unwrap_err(), Errno::OVERFLOW);
        assert!(AlignedBuffer::new(usize::MAX / 2).is_err());
    }
}
