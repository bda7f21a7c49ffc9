//! Facts of the calling thread: processor time, faults, switches; and the processors it may use.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_setaffinity};

/// What a thread has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Nanoseconds in user space.
    pub user_ns: u64,
    /// Nanoseconds in the kernel.
    pub system_ns: u64,
    /// Times it gave up or lost the processor.
    pub switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

/// What the calling thread has used so far.
pub fn usage() -> Usage {
    usage_of(libc::RUSAGE_THREAD)
}

/// What all threads of this process have used so far.
pub fn usage_of_process() -> Usage {
    usage_of(libc::RUSAGE_SELF)
}

fn usage_of(who: libc::c_int) -> Usage {
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory of the right size, which the kernel fills.
    if unsafe { libc::getrusage(who, raw.as_mut_ptr()) } != 0 {
        return Usage::default();
    }
    // SAFETY: it was zeroed, which is a valid value, and then filled.
    let raw = unsafe { raw.assume_init() };
    let ns = |t: libc::timeval| t.tv_sec as u64 * 1_000_000_000 + t.tv_usec as u64 * 1000;
    Usage {
        user_ns: ns(raw.ru_utime),
        system_ns: ns(raw.ru_stime),
        switches: (raw.ru_nvcsw + raw.ru_nivcsw) as u64,
        major_faults: raw.ru_majflt as u64,
        minor_faults: raw.ru_minflt as u64,
    }
}

/// Lets the calling thread run on these processors only.
///
/// # Errors
/// EINVAL when none of them exists.
pub fn pin(cpus: &[u32]) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu as usize >= CpuSet::MAX_CPU {
            return Err(Errno::INVAL);
        }
        set.set(cpu as usize);
    }
    sched_setaffinity(None, &set)
}

/// The number of the calling thread.
pub fn id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}
