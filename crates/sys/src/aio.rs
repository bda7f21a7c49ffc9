//! Linux AIO (`io_submit`) through raw system calls. The queue owns the buffers while they are in
//! flight.

use crate::buffer::{MovedBuffer, Slots};
use crate::file::last_errno;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;

/// `struct iocb` of the kernel's `aio_abi.h`, on little-endian machines.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Iocb {
    data: u64,
    key: u32,
    rw_flags: i32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    result_fd: u32,
}

/// `struct io_event` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

const READ: u16 = 0;
const WRITE: u16 = 1;
/// `RWF_NOWAIT`: an I/O that would wait fails with EAGAIN instead.
const NOWAIT: i32 = 8;

/// `struct aio_ring` of the kernel: the head of the completion ring in user memory. The events
/// follow.
#[repr(C)]
struct RingHead {
    id: u32,
    /// Number of events in the ring.
    nr: AtomicU32,
    /// Index of the next event to read; advanced here.
    head: AtomicU32,
    /// Index of the next event to write; advanced by the kernel.
    tail: AtomicU32,
    magic: u32,
    compat: u32,
    incompat: u32,
    header_length: u32,
}

const RING_MAGIC: u32 = 0xa10a_10a1;

/// The completion ring of a context, to read completions without a system call.
///
/// A context ID is the address of its ring: the kernel uses it so, and `io_getevents` of libaio and
/// fio rely on this since Linux 2.6. A ring with an unknown layout is not used.
#[derive(Clone, Copy, Debug)]
struct SharedRing {
    head: NonNull<RingHead>,
    events: *const Event,
    nr: u32,
}

impl SharedRing {
    /// Returns the ring of a context; `None` if its layout is unknown.
    fn find(context: libc::c_ulong) -> Option<SharedRing> {
        let address = context as usize;
        if address == 0 || !address.is_multiple_of(rustix::param::page_size()) {
            return None;
        }
        let start = std::ptr::with_exposed_provenance_mut::<RingHead>(address);
        // SAFETY: this only tests whether the page is mapped: it fails with ENOMEM if not, and writes nothing.
        unsafe { rustix::mm::msync(start.cast(), 1, rustix::mm::MsyncFlags::ASYNC) }.ok()?;
        let head = NonNull::new(start)?;
        // SAFETY: the page is mapped and aligned, and belongs to the kernel for the lifetime of the
        // context.
        let found = unsafe { head.as_ref() };
        let known = found.magic == RING_MAGIC
            && found.incompat == 0
            && found.header_length as usize == size_of::<RingHead>();
        let nr = found.nr.load(Relaxed);
        let events = start.wrapping_add(1).cast_const().cast();
        (known && nr > 0).then_some(SharedRing { head, events, nr })
    }

    /// Reads up to `max` available completions.
    #[inline(always)]
    fn take(self, max: usize, mut done: impl FnMut(Event)) -> usize {
        // SAFETY: the ring stays mapped until the context is destroyed, which the owner of this value does last.
        let shared = unsafe { self.head.as_ref() };
        let mut taken = TakenEvents {
            shared,
            head: shared.head.load(Relaxed),
            count: 0,
        };
        while taken.count < max && taken.head < self.nr && taken.head != shared.tail.load(Acquire) {
            // SAFETY: `head` is less than `nr`, and the kernel finished this event before it moved `tail` past it.
            let event = unsafe { self.events.wrapping_add(taken.head as usize).read() };
            taken.head = if taken.head + 1 == self.nr {
                0
            } else {
                taken.head + 1
            };
            taken.count += 1;
            done(event);
        }
        taken.count
    }
}

/// Events read from a ring. Dropping it returns them to the kernel, also if the function that receives them panics:
/// otherwise they would be read twice, and their slots be free while in flight.
struct TakenEvents<'a> {
    shared: &'a RingHead,
    head: u32,
    count: usize,
}

impl Drop for TakenEvents<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.count > 0 {
            self.shared.head.store(self.head, Release);
        }
    }
}

/// One finished I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot it was issued from.
    pub slot: u32,
    /// Bytes transferred, or the error.
    pub result: Result<u32, Errno>,
}

/// A queue of I/Os, each with its own buffer. Dropping it waits for all of them.
#[derive(Debug)]
pub struct AioQueue {
    context: libc::c_ulong,
    iocbs: Box<[Iocb]>,
    /// Addresses of the prepared control blocks that were not submitted yet.
    prepared: Vec<*const Iocb>,
    events: Box<[Event]>,
    slots: Slots,
    in_flight: usize,
    ring: Option<SharedRing>,
    rw_flags: i32,
}

// SAFETY: the context with its ring and all memory belong to this value; the raw pointers point into its own heap block
// and that ring.
unsafe impl Send for AioQueue {}

impl AioQueue {
    /// Creates a queue for one I/O per slot.
    ///
    /// # Errors
    /// EAGAIN at the `fs.aio-max-nr` limit, ENOSYS if the kernel does not support AIO.
    pub fn new(slots: Slots) -> Result<AioQueue, Errno> {
        let depth = slots.count();
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one word to the pointer, which outlives the call.
        let answer =
            unsafe { libc::syscall(libc::SYS_io_setup, depth as libc::c_long, &raw mut context) };
        if answer != 0 {
            return Err(last_errno());
        }
        Ok(AioQueue {
            context,
            iocbs: vec![Iocb::default(); depth].into_boxed_slice(),
            prepared: Vec::with_capacity(depth),
            events: vec![Event::default(); depth].into_boxed_slice(),
            slots,
            in_flight: 0,
            ring: SharedRing::find(context),
            rw_flags: 0,
        })
    }

    /// Makes I/Os that would block fail with EAGAIN.
    pub fn nowait(mut self, nowait: bool) -> AioQueue {
        self.rw_flags = if nowait { NOWAIT } else { 0 };
        self
    }

    /// Returns the buffer of a slot that is not in flight.
    #[inline]
    pub fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    /// Returns the buffer of a slot that is not in flight, after [`Slots::move_on`].
    #[inline]
    pub fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
        self.slots.move_on(slot as usize, len)
    }

    /// Returns all buffers, to fill them before the first I/O.
    pub fn buffers(&mut self) -> &mut [u8] {
        self.slots.all_mut()
    }

    /// Prepares an I/O of the first `len` bytes of a slot, for the next [`AioQueue::submit`].
    ///
    /// # Panics
    /// If the slot does not exist or too many I/Os are prepared: a bug of the caller.
    #[inline(always)]
    pub fn prepare(&mut self, slot: u32, file: impl AsFd, write: bool, offset: u64, len: u32) {
        assert!(
            self.prepared.len() < self.iocbs.len(),
            "more I/Os prepared than the queue has slots"
        );
        let buffer = self.slots.lend(slot as usize, len as usize) as u64;
        let iocb = &mut self.iocbs[slot as usize];
        *iocb = Iocb {
            data: u64::from(slot),
            opcode: if write { WRITE } else { READ },
            fd: file.as_fd().as_raw_fd() as u32,
            buffer,
            bytes: u64::from(len),
            rw_flags: self.rw_flags,
            offset: offset as i64,
            ..Iocb::default()
        };
        self.prepared.push(&raw const *iocb);
    }

    /// Submits up to `at_most` prepared I/Os. Returns the number accepted; the others stay
    /// prepared.
    ///
    /// # Errors
    /// EAGAIN if the kernel has no resources now; EINVAL or EBADF for an invalid I/O, which stays
    /// prepared.
    #[inline]
    pub fn submit(&mut self, at_most: usize) -> Result<usize, Errno> {
        let count = self.prepared.len().min(at_most);
        if count == 0 {
            return Ok(0);
        }
        // SAFETY: the pointers are to control blocks in `self.iocbs`, which is never moved or resized; their buffers
        // are in `self.slots`, which outlives every I/O because dropping the queue waits for them.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_io_submit,
                self.context,
                count as libc::c_long,
                self.prepared.as_mut_ptr(),
            )
        };
        if answer < 0 {
            return Err(last_errno());
        }
        let taken = answer as usize;
        self.prepared.drain(..taken);
        self.in_flight += taken;
        Ok(taken)
    }

    /// Withdraws the first prepared I/O, which could not be submitted. Returns its slot.
    pub fn withdraw(&mut self) -> Option<u32> {
        if self.prepared.is_empty() {
            return None;
        }
        let iocb = self.prepared.remove(0);
        let first = self.iocbs.as_ptr();
        // Both addresses are in one array, so their distance is the index.
        let slot = (iocb.addr() - first.addr()) / size_of::<Iocb>();
        self.slots.give_back(slot);
        Some(slot as u32)
    }

    /// Waits for at least `min` completions or the timeout, and passes each to `done`. Returns
    /// their number.
    ///
    /// # Errors
    /// EINTR if interrupted by a signal.
    #[inline(always)]
    pub fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        mut done: impl FnMut(Completion),
    ) -> Result<usize, Errno> {
        let max = max.clamp(1, self.events.len());
        let min = min.min(self.in_flight).min(max);
        let mut early = 0;
        if let Some(ring) = self.ring {
            let AioQueue { slots, .. } = self;
            early = ring.take(max, |event| land(slots, &event, &mut done));
            self.in_flight -= early;
            if early >= min {
                return Ok(early);
            }
        }
        match self.wait(min - early, max - early, timeout, done) {
            Ok(count) => Ok(early + count),
            Err(_) if early > 0 => Ok(early),
            error => error,
        }
    }

    /// Fetches completions by a system call.
    #[inline]
    fn wait(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        mut done: impl FnMut(Completion),
    ) -> Result<usize, Errno> {
        let limit = timeout.map(|t| libc::timespec {
            tv_sec: t.as_secs() as _,
            tv_nsec: t.subsec_nanos() as _,
        });
        let limit = limit.as_ref().map_or(std::ptr::null(), |t| &raw const *t);
        // SAFETY: the kernel writes at most `max` events, and `self.events` has room for them; the time lives until
        // the call returns.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                min as libc::c_long,
                max as libc::c_long,
                self.events.as_mut_ptr(),
                limit,
            )
        };
        if answer < 0 {
            return Err(last_errno());
        }
        let count = answer as usize;
        self.in_flight -= count;
        for event in &self.events[..count] {
            land(&mut self.slots, event, &mut done);
        }
        Ok(count)
    }

    /// Number of submitted I/Os whose completions have not been reaped.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }
}

/// Processes one completion.
#[inline(always)]
fn land(slots: &mut Slots, event: &Event, done: &mut impl FnMut(Completion)) {
    slots.give_back(event.data as usize);
    done(Completion {
        slot: event.data as u32,
        result: outcome(event.result),
    });
}

/// Converts a kernel result: a negative value is an error number.
#[inline(always)]
pub(crate) fn outcome(result: i64) -> Result<u32, Errno> {
    if result < 0 {
        Err(failure(result))
    } else {
        Ok(result as u32)
    }
}

// Out of line, because most I/Os need no flags.
#[cold]
#[inline(never)]
fn failure(result: i64) -> Errno {
    Errno::from_raw_os_error(-result as i32)
}

impl Drop for AioQueue {
    fn drop(&mut self) {
        // SAFETY: the context is ours. The kernel cancels or waits for every I/O in it before this returns, so no
        // buffer is freed during a transfer.
        let _ = unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file() -> std::fs::File {
        let mut file = tempfile::tempfile().unwrap();
        for i in 0..4u8 {
            file.write_all(&[i; 4096]).unwrap();
        }
        file
    }

    fn queue() -> Option<AioQueue> {
        match AioQueue::new(Slots::new(4, 4096).unwrap()) {
            Ok(queue) => Some(queue),
            Err(errno) => {
                eprintln!("SKIPPED: this kernel has no asynchronous I/O ({errno})");
                None
            }
        }
    }

    #[test]
    fn reads_come_back_in_their_slots() {
        let file = file();
        for by_call in [false, true] {
            let Some(mut queue) = queue() else { return };
            if by_call {
                queue.ring = None;
            } else if queue.ring.is_none() {
                eprintln!("SKIPPED: the ring of this kernel is not one we know");
            }
            for slot in 0..4 {
                queue.prepare(slot, &file, false, u64::from(slot) * 4096, 4096);
            }
            assert_eq!(queue.submit(usize::MAX), Ok(4));
            let mut seen = Vec::new();
            while seen.len() < 4 {
                queue.reap(1, 4, None, |c| seen.push(c)).unwrap();
            }
            seen.sort_by_key(|c| c.slot);
            assert!(seen.iter().all(|c| c.result == Ok(4096)));
            assert!((0..4).all(|s| queue.buffer(s, 4096).iter().all(|&b| b == s as u8)));
            assert_eq!(queue.in_flight(), 0);
        }
    }

    #[test]
    fn the_ring_goes_round_and_takes_no_more_than_asked() {
        let (file, Some(mut queue)) = (file(), queue()) else {
            return;
        };
        for round in 0..5_000u64 {
            for slot in 0..4 {
                queue.prepare(
                    slot,
                    &file,
                    false,
                    (round + u64::from(slot)) % 4 * 4096,
                    4096,
                );
            }
            assert_eq!(queue.submit(usize::MAX), Ok(4));
            let mut seen = [false; 4];
            for want in [1, 3] {
                let mut count = 0;
                let answer = queue.reap(want, want, None, |c| {
                    assert_eq!(c.result, Ok(4096));
                    assert!(!std::mem::replace(&mut seen[c.slot as usize], true));
                    count += 1;
                });
                assert_eq!((answer, count), (Ok(want), want));
            }
        }
    }
}
