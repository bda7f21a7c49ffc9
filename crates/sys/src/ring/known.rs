//! Registered ring descriptors, for the system call of each batch.

use rustix::fd::RawFd;
use rustix::io::Errno;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// `IORING_REGISTER_RING_FDS` and `IORING_UNREGISTER_RING_FDS`.
const REGISTER: libc::c_long = 20;
const UNREGISTER: libc::c_long = 21;
/// `IORING_ENTER_GETEVENTS` and `IORING_ENTER_REGISTERED_RING`.
const GETEVENTS: libc::c_long = 1;
const REGISTERED: libc::c_long = 1 << 4;

/// `struct io_uring_rsrc_update` of `linux/io_uring.h`.
#[repr(C)]
struct Update {
    number: u32,
    reserved: u32,
    ring: u64,
}

/// Returns a number that is unique to the calling thread.
fn this_thread() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(LAST.fetch_add(1, Relaxed) + 1);
        }
        number.get()
    })
}

/// A ring descriptor registered for one thread: the kernel then skips the file lookup and reference
/// count in each call.
#[derive(Debug)]
pub(super) struct RegisteredRing {
    ring: RawFd,
    number: u32,
    thread: u64,
}

impl RegisteredRing {
    /// Registers a ring. `None` if not supported (before 5.18), or if the thread has 16 already.
    pub(super) fn to_this_thread(ring: RawFd) -> Option<RegisteredRing> {
        let mut update = Update {
            number: u32::MAX,
            reserved: 0,
            ring: ring as u64,
        };
        let answer = register(ring, REGISTER, &mut update);
        (answer == 1).then(|| RegisteredRing {
            ring,
            number: update.number,
            thread: this_thread(),
        })
    }

    /// Whether the calling thread registered it: in others the index may be a different ring.
    #[inline]
    pub(super) fn is_ours(&self) -> bool {
        self.thread == this_thread()
    }

    /// Submits `entries` and waits for `wait_for` completions. Returns the number submitted.
    #[inline]
    pub(super) fn enter(&self, entries: usize, wait_for: usize) -> Result<usize, Errno> {
        let flags = if wait_for > 0 {
            REGISTERED | GETEVENTS
        } else {
            REGISTERED
        };
        let (number, entries, wait_for) = (
            self.number as libc::c_long,
            entries as libc::c_long,
            wait_for as libc::c_long,
        );
        let nothing = std::ptr::null::<libc::c_void>();
        // SAFETY: the call takes numbers and no argument. The memory of the entries belongs to their ring and
        // outlives the I/Os, as with the library's own call.
        let answer = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                number,
                entries,
                wait_for,
                flags,
                nothing,
                0 as libc::c_long,
            )
        };
        usize::try_from(answer).map_err(|_| crate::file::last_errno())
    }
}

impl Drop for RegisteredRing {
    fn drop(&mut self) {
        // Unregister, or the thread keeps the ring and its files until it ends (as it does after a
        // drop in another thread).
        if self.is_ours() {
            let mut update = Update {
                number: self.number,
                reserved: 0,
                ring: 0,
            };
            register(self.ring, UNREGISTER, &mut update);
        }
    }
}

fn register(ring: RawFd, what: libc::c_long, update: &mut Update) -> libc::c_long {
    // SAFETY: the pointer is to one update, which outlives the call and which the kernel reads and writes.
    unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            libc::c_long::from(ring),
            what,
            std::ptr::from_mut(update),
            1 as libc::c_long,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::IoUring;
    use rustix::fd::AsRawFd;

    #[test]
    fn a_number_is_of_one_thread_and_is_given_back() {
        // More rings than a thread can register.
        for round in 0..40 {
            let Ok(ring) = IoUring::new(2) else {
                println!("SKIPPED: there are no rings here");
                return;
            };
            let Some(known) = RegisteredRing::to_this_thread(ring.as_raw_fd()) else {
                assert_eq!(round, 0, "a number was not given back");
                println!("SKIPPED: this kernel gives rings no numbers");
                return;
            };
            assert!(known.is_ours());
            assert_eq!(known.enter(0, 0), Ok(0));
            let known = std::thread::spawn(move || (!known.is_ours()).then_some(known))
                .join()
                .unwrap();
            assert!(known.is_some());
        }
    }
}
