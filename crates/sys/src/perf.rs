//! Kernel tracepoints through `perf_event_open`: counters and rings of samples.
//!
//! One [`Tracepoint`] counts an event on one CPU. Several of a CPU share one [`SampleRing`], which the kernel fills and
//! [`SampleRing::drain`] reads.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;
use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// `PERF_TYPE_TRACEPOINT`
const TYPE_TRACEPOINT: u32 = 2;
/// `PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW`
const SAMPLE_TYPE: u64 = 0x2 | 0x4 | 0x80 | 0x400;
/// `PERF_FORMAT_LOST`, since Linux 6.0.
const FORMAT_LOST: u64 = 1 << 4;
/// `PERF_FLAG_FD_CLOEXEC`
const OPEN_CLOEXEC: libc::c_ulong = 1 << 3;

const IOC_ENABLE: u32 = 0x2400;
const IOC_DISABLE: u32 = 0x2401;
const IOC_SET_OUTPUT: u32 = 0x2405;
/// `_IOW('$', 6, char *)`: the number contains the size of a pointer.
const IOC_SET_FILTER: rustix::ioctl::Opcode =
    rustix::ioctl::opcode::write::<*const libc::c_char>(b'$', 6);

/// Offsets of `data_head` and `data_tail` in the first page of a ring.
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// `struct perf_event_attr` up to the clock (`PERF_ATTR_SIZE_VER3`).
#[repr(C)]
#[derive(Default)]
struct EventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock: i32,
}

/// Returns a bit of the attributes' bit field, which is filled from the other end on big-endian machines.
const fn flag(bit: u32) -> u64 {
    if cfg!(target_endian = "big") {
        1 << (63 - bit)
    } else {
        1 << bit
    }
}

const FLAG_DISABLED: u64 = flag(0);
const FLAG_WATERMARK: u64 = flag(14);
const FLAG_USE_CLOCK: u64 = flag(25);

/// A tracepoint on one CPU, for all threads.
#[derive(Debug)]
pub struct Tracepoint {
    file: OwnedFd,
    counts_lost: bool,
}

/// Counter of a [`Tracepoint`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounter {
    /// Times that the event occurred while it was enabled and passed the filter.
    pub count: u64,
    /// Samples that the kernel could not write for lack of space; `None` before Linux 6.0.
    pub lost: Option<u64>,
}

impl Tracepoint {
    /// Opens a disabled tracepoint that writes a sample at each event, with times of `CLOCK_MONOTONIC_RAW`. Its ring
    /// becomes readable when `wakeup` bytes are in it.
    ///
    /// # Errors
    /// EACCES or EPERM without permission, ENOENT if there is no such tracepoint, ENODEV if the CPU is offline, EMFILE
    /// if too many files are open, ENOSYS on kernels without perf events.
    pub fn sampling(id: u64, cpu: u32, wakeup: u32) -> Result<Tracepoint, Errno> {
        Tracepoint::open(id, cpu, Some(wakeup))
    }

    /// Opens a disabled tracepoint that only counts.
    ///
    /// # Errors
    /// See [`Self::sampling`].
    pub fn counting(id: u64, cpu: u32) -> Result<Tracepoint, Errno> {
        Tracepoint::open(id, cpu, None)
    }

    fn open(id: u64, cpu: u32, wakeup: Option<u32>) -> Result<Tracepoint, Errno> {
        let mut attributes = EventAttributes {
            kind: TYPE_TRACEPOINT,
            size: size_of::<EventAttributes>() as u32,
            config: id,
            flags: FLAG_DISABLED,
            ..EventAttributes::default()
        };
        let Some(wakeup) = wakeup else {
            let file = open_event(&attributes, cpu)?;
            return Ok(Tracepoint {
                file,
                counts_lost: false,
            });
        };
        attributes.sample_period = 1;
        attributes.sample_type = SAMPLE_TYPE;
        attributes.read_format = FORMAT_LOST;
        attributes.flags |= FLAG_WATERMARK | FLAG_USE_CLOCK;
        attributes.wakeup_watermark = wakeup;
        attributes.clock = libc::CLOCK_MONOTONIC_RAW;
        match open_event(&attributes, cpu) {
            Err(Errno::INVAL) => {
                attributes.read_format = 0;
                let file = open_event(&attributes, cpu)?;
                Ok(Tracepoint {
                    file,
                    counts_lost: false,
                })
            }
            other => Ok(Tracepoint {
                file: other?,
                counts_lost: true,
            }),
        }
    }

    /// Restricts the tracepoint to events that match a filter of the kernel's language: `dev == 8388608`.
    ///
    /// # Errors
    /// EINVAL if the filter is not valid for this event.
    pub fn set_filter(&self, filter: &CStr) -> Result<(), Errno> {
        // SAFETY: the request reads a string that ends with 0 from the pointer, which outlives the call.
        answer(unsafe { libc::ioctl(self.file.as_raw_fd(), IOC_SET_FILTER as _, filter.as_ptr()) })
    }

    /// Writes the samples into the ring of another tracepoint of the same CPU.
    ///
    /// # Errors
    /// EINVAL if the two do not belong to one CPU and one clock.
    pub fn write_to_ring_of(&self, owner: &Tracepoint) -> Result<(), Errno> {
        // SAFETY: the request takes a descriptor as a number.
        answer(unsafe {
            libc::ioctl(
                self.file.as_raw_fd(),
                IOC_SET_OUTPUT as _,
                owner.file.as_raw_fd(),
            )
        })
    }

    /// Starts counting and sampling.
    ///
    /// # Errors
    /// The error of `ioctl`.
    pub fn enable(&self) -> Result<(), Errno> {
        self.switch(IOC_ENABLE)
    }

    /// Stops counting and sampling.
    ///
    /// # Errors
    /// The error of `ioctl`.
    pub fn disable(&self) -> Result<(), Errno> {
        self.switch(IOC_DISABLE)
    }

    fn switch(&self, request: u32) -> Result<(), Errno> {
        // SAFETY: the request takes a number: 0 for this event alone.
        answer(unsafe { libc::ioctl(self.file.as_raw_fd(), request as _, 0) })
    }

    /// Reads the counter, which is never reset.
    ///
    /// # Errors
    /// The error of `read`.
    pub fn counter(&self) -> Result<EventCounter, Errno> {
        let mut words = [0u8; 16];
        let read = rustix::io::read(&self.file, &mut words)?;
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| words[at + i]));
        if read < 8 {
            return Err(Errno::IO);
        }
        Ok(EventCounter {
            count: word(0),
            lost: (self.counts_lost && read == 16).then(|| word(8)),
        })
    }
}

impl AsFd for Tracepoint {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn open_event(attributes: &EventAttributes, cpu: u32) -> Result<OwnedFd, Errno> {
    let (all_threads, no_group): (libc::c_int, libc::c_int) = (-1, -1);
    let cpu = libc::c_int::try_from(cpu).map_err(|_| Errno::INVAL)?;
    // SAFETY: the pointer is to complete attributes of the length that they state, which outlive the call.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            std::ptr::from_ref(attributes),
            all_threads,
            cpu,
            no_group,
            OPEN_CLOEXEC,
        )
    };
    match libc::c_int::try_from(file) {
        // SAFETY: the call returned a new descriptor, which nothing else owns.
        Ok(file) if file >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(file) }),
        _ => Err(crate::file::last_errno()),
    }
}

fn answer(result: libc::c_int) -> Result<(), Errno> {
    if result < 0 {
        Err(crate::file::last_errno())
    } else {
        Ok(())
    }
}

/// The memory into which the kernel writes the samples of a CPU.
#[derive(Debug)]
pub struct SampleRing {
    /// One page of positions, then the data.
    start: NonNull<u8>,
    page: usize,
    data_len: usize,
    /// Position up to which the data was read. Positions count bytes and never restart, except that 32-bit machines
    /// see only their lower half, which suffices for the distance between two.
    tail: usize,
}

// SAFETY: this value owns the mapping, which does not depend on the thread that created it.
unsafe impl Send for SampleRing {}

impl Drop for SampleRing {
    fn drop(&mut self) {
        // SAFETY: address and length are those of the mapping made in `map`, and nothing else unmaps it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.page + self.data_len) };
    }
}

impl SampleRing {
    /// Maps the ring of a tracepoint: `len` bytes, rounded up to a power of two of pages.
    ///
    /// # Errors
    /// EPERM or ENOMEM if the memory exceeds what this user may lock.
    pub fn map(owner: &Tracepoint, len: usize) -> Result<SampleRing, Errno> {
        let page = page_size();
        let data_len = len
            .div_ceil(page)
            .max(1)
            .checked_next_power_of_two()
            .and_then(|pages| pages.checked_mul(page))
            .ok_or(Errno::NOMEM)?;
        // SAFETY: a null hint without MAP_FIXED cannot replace a mapping that is in use.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                page.checked_add(data_len).ok_or(Errno::NOMEM)?,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &owner.file,
                0,
            )
        }?;
        Ok(SampleRing {
            start: NonNull::new(start.cast()).ok_or(Errno::NOMEM)?,
            page,
            data_len,
            tail: 0,
        })
    }

    /// Size of the data in bytes.
    pub fn len(&self) -> usize {
        self.data_len
    }

    /// Whether the ring has no space for data; never the case.
    pub fn is_empty(&self) -> bool {
        self.data_len == 0
    }

    /// Moves all complete records to the end of `records`, so that the kernel can use their space again. Each record
    /// begins with a `perf_event_header`.
    pub fn drain(&mut self, records: &mut Vec<u8>) {
        let head = self.position(DATA_HEAD).load(Ordering::Acquire);
        let len = head.wrapping_sub(self.tail).min(self.data_len);
        let from = self.tail & (self.data_len - 1);
        let until_end = len.min(self.data_len - from);
        records.extend_from_slice(self.data(from, until_end));
        records.extend_from_slice(self.data(0, len - until_end));
        self.tail = head;
        self.position(DATA_TAIL).store(head, Ordering::Release);
    }

    /// Returns the lower half, or on 64-bit machines all, of a position in the first page.
    fn position(&self, offset: usize) -> &AtomicUsize {
        let upper_half_first = cfg!(target_endian = "big") && size_of::<usize>() == 4;
        let offset = offset + if upper_half_first { 4 } else { 0 };
        // SAFETY: the address is in the first mapped page and aligned for a word; the kernel accesses it with single
        // loads and stores, too.
        unsafe { AtomicUsize::from_ptr(self.start.as_ptr().wrapping_add(offset).cast()) }
    }

    /// Returns data that the kernel has completed and does not change before the tail moves past it.
    fn data(&self, from: usize, len: usize) -> &[u8] {
        assert!(from <= self.data_len && len <= self.data_len - from);
        // SAFETY: the range lies in the mapping. It is between tail and head, where the kernel does not write.
        unsafe {
            std::slice::from_raw_parts(self.start.as_ptr().wrapping_add(self.page + from), len)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_have_the_kernels_size() {
        assert_eq!(size_of::<EventAttributes>(), 96);
        assert_eq!(std::mem::offset_of!(EventAttributes, clock), 92);
        assert_eq!(std::mem::offset_of!(EventAttributes, wakeup_watermark), 48);
    }

    #[test]
    fn an_unknown_tracepoint_is_an_error() {
        assert!(Tracepoint::sampling(u64::from(u32::MAX), 0, 4096).is_err());
        assert!(Tracepoint::counting(0, u32::MAX).is_err());
    }
}
