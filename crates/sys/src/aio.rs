//! Kernel asynchronous I/O (`io_submit`), by raw system calls, with buffers that belong to the queue while in flight.

use crate::buffer::Slots;
use crate::file::last_errno;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
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

/// One finished I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The slot it was issued from.
    pub slot: u32,
    /// Bytes moved, or the error.
    pub result: Result<u32, Errno>,
}

/// A queue of I/Os, each with a buffer of its own. Dropping it waits for all of them.
#[derive(Debug)]
pub struct AioQueue {
    context: libc::c_ulong,
    iocbs: Box<[Iocb]>,
    /// Addresses of the prepared control blocks that were not submitted yet.
    prepared: Vec<*const Iocb>,
    events: Box<[Event]>,
    slots: Slots,
    in_flight: usize,
}

// SAFETY: the context and all memory belong to this value; the raw pointers point into its own heap block.
unsafe impl Send for AioQueue {}

impl AioQueue {
    /// A queue for as many I/Os as there are slots.
    ///
    /// # Errors
    /// EAGAIN when `fs.aio-max-nr` is used up, ENOSYS where the kernel has no such calls.
    pub fn new(slots: Slots) -> Result<AioQueue, Errno> {
        let depth = slots.count();
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one word to the pointer, which outlives the call.
        let answer = unsafe { libc::syscall(libc::SYS_io_setup, depth as libc::c_long, &raw mut context) };
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
        })
    }

    /// The buffer of a slot that is not in flight.
    #[inline]
    pub fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    /// All buffers, to fill them before the first I/O.
    pub fn buffers(&mut self) -> &mut [u8] {
        self.slots.all_mut()
    }

    /// Prepares an I/O of the first `len` bytes of a slot; it is handed over by the next [`AioQueue::submit`].
    ///
    /// # Panics
    /// When there is no such slot or more I/Os are prepared than there are slots: a bug of the caller.
    #[inline(always)]
    pub fn prepare(&mut self, slot: u32, file: impl AsFd, write: bool, offset: u64, len: u32) {
        assert!(self.prepared.len() < self.iocbs.len(), "more I/Os prepared than the queue has slots");
        let buffer = self.slots.lend(slot as usize, len as usize) as u64;
        let iocb = &mut self.iocbs[slot as usize];
        *iocb = Iocb {
            data: u64::from(slot),
            opcode: if write { WRITE } else { READ },
            fd: file.as_fd().as_raw_fd() as u32,
            buffer,
            bytes: u64::from(len),
            offset: offset as i64,
            ..Iocb::default()
        };
        self.prepared.push(&raw const *iocb);
    }

    /// Hands over what was prepared, at most `at_most` I/Os. Returns how many the kernel took; the others stay prepared.
    ///
    /// # Errors
    /// EAGAIN when the kernel has no room now; EINVAL and EBADF for an I/O it cannot do at all, which stays prepared.
    #[inline]
    pub fn submit(&mut self, at_most: usize) -> Result<usize, Errno> {
        let count = self.prepared.len().min(at_most);
        if count == 0 {
            return Ok(0);
        }
        // SAFETY: the pointers are to control blocks in `self.iocbs`, which is never moved or resized; their buffers
        // lie in `self.slots`, which outlives every I/O because dropping the queue waits for them.
        let answer = unsafe {
            libc::syscall(libc::SYS_io_submit, self.context, count as libc::c_long, self.prepared.as_mut_ptr())
        };
        if answer < 0 {
            return Err(last_errno());
        }
        let taken = answer as usize;
        self.prepared.drain(..taken);
        self.in_flight += taken;
        Ok(taken)
    }

    /// Takes back the I/O that was prepared first and could not be submitted. Returns its slot.
    pub fn withdraw(&mut self) -> Option<u32> {
        if self.prepared.is_empty() {
            return None;
        }
        let iocb = self.prepared.remove(0);
        let first = self.iocbs.as_ptr();
        // Both addresses lie in one array, so their distance is the index.
        let slot = (iocb.addr() - first.addr()) / size_of::<Iocb>();
        self.slots.give_back(slot);
        Some(slot as u32)
    }

    /// Waits until at least `min` I/Os are done, or the time is over, and gives each to `done`. Returns how many.
    ///
    /// # Errors
    /// EINTR when a signal came first.
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
        let limit = timeout.map(|t| libc::timespec { tv_sec: t.as_secs() as _, tv_nsec: t.subsec_nanos() as _ });
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
            self.slots.give_back(event.data as usize);
            done(Completion { slot: event.data as u32, result: outcome(event.result) });
        }
        Ok(count)
    }

    /// I/Os handed over and not reaped.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }
}

/// A negative result is an error number.
#[inline]
pub(crate) fn outcome(result: i64) -> Result<u32, Errno> {
    if result < 0 { Err(Errno::from_raw_os_error(-result as i32)) } else { Ok(result as u32) }
}

impl Drop for AioQueue {
    fn drop(&mut self) {
        // SAFETY: the context is ours. The kernel cancels or waits for every I/O in it before this returns, so that no
        // buffer is freed under a transfer.
        let _ = unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn reads_come_back_in_their_slots() {
        let mut file = tempfile::tempfile().unwrap();
        for i in 0..4u8 {
            file.write_all(&[i; 4096]).unwrap();
        }
        let mut queue = match AioQueue::new(Slots::new(4, 4096).unwrap()) {
            Ok(queue) => queue,
            Err(errno) => return eprintln!("SKIPPED: this kernel has no asynchronous I/O ({errno})"),
        };
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
    }
}
