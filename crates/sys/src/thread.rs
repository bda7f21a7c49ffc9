//! Resource usage, CPU affinity and scheduling of the calling thread.

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Resource usage of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// User CPU time in ns.
    pub user_ns: u64,
    /// System CPU time in ns.
    pub system_ns: u64,
    /// Number of context switches.
    pub switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
}

/// Returns the resource usage of the calling thread.
pub fn usage() -> Usage {
    let mut raw = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to memory of the right size, which the kernel fills.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, raw.as_mut_ptr()) } != 0 {
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

/// Restricts the calling thread to these CPUs.
///
/// # Errors
/// EINVAL if none of them exists.
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

/// Returns the CPUs that the calling thread may use, in order. Empty if unknown.
pub fn allowed() -> Vec<u32> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    (0..CpuSet::MAX_CPU)
        .filter(|&cpu| set.is_set(cpu))
        .map(|cpu| cpu as u32)
        .collect()
}

/// Returns the online CPUs of the host, in order; the allowed ones if unknown.
pub fn online() -> Vec<u32> {
    let listed = std::fs::read_to_string("/sys/devices/system/cpu/online")
        .ok()
        .and_then(|text| processors(&text));
    listed
        .filter(|cpus| !cpus.is_empty())
        .unwrap_or_else(allowed)
}

/// Parses a list of CPUs such as `0-3,8`.
fn processors(text: &str) -> Option<Vec<u32>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        (last < CpuSet::MAX_CPU as u32).then_some(first..=last)
    };
    let ranges: Option<Vec<_>> = text.trim().split(',').map(range).collect();
    Some(ranges?.into_iter().flatten().collect())
}

/// Returns the ID of the calling thread.
pub fn id() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Sets the niceness of the calling thread, -20 to 19.
///
/// # Errors
/// EACCES or EPERM without permission.
pub fn set_nice(nice: i32) -> Result<(), Errno> {
    // SAFETY: the call takes three numbers; on Linux process 0 is the calling thread.
    answer(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) }.into())
}

/// Sets class (1 real time, 2 best effort, 3 idle) and level (0 highest to 7) of the calling thread's I/O.
///
/// # Errors
/// EPERM without permission, EINVAL for an unknown class or level.
pub fn set_io_priority(class: u32, level: u32) -> Result<(), Errno> {
    const WHO_THREAD: libc::c_long = 1;
    // Class and level fill 16 bits, which any `long` holds.
    let value = (class << 13 | level) as libc::c_long;
    // SAFETY: the call takes three numbers; thread 0 is the calling one.
    answer(unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_THREAD, 0 as libc::c_long, value) })
}

/// Sets the NUMA memory policy of the calling thread: 0 default, 1 preferred, 2 bind, 3 interleave,
/// 4 local (`MPOL_*`).
///
/// # Errors
/// EINVAL for unknown nodes, ENOSYS without NUMA support.
pub fn set_memory_policy(mode: u32, nodes: &[u32]) -> Result<(), Errno> {
    const BITS: usize = libc::c_ulong::BITS as usize;
    let mut mask = [0 as libc::c_ulong; 1024 / BITS];
    for &node in nodes {
        let word = mask.get_mut(node as usize / BITS).ok_or(Errno::INVAL)?;
        *word |= 1 << (node as usize % BITS);
    }
    // The kernel uses one bit less than the given number.
    let bits = if nodes.is_empty() { 0 } else { 1024 + 1 };
    let (mode, bits) = (mode as libc::c_long, bits as libc::c_long);
    // SAFETY: the kernel reads at most 1024 bits from the mask, which is as long and outlives the call.
    answer(unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), bits) })
}

/// Gives the calling thread its own file descriptor table with only 0, 1 and 2. The kernel then
/// need not count users of a file in each call (`fdget`), as for shared tables.
///
/// Files opened afterwards belong to this thread and the threads it starts; files opened before stay open for the other
/// threads.
///
/// # Errors
/// ENOSYS before Linux 5.9: the table stays shared.
///
/// # Safety
/// A descriptor number has another meaning in this thread than in the others, and no type shows that. The caller must
/// ensure that this thread shares its table with a thread that outlives it, that it neither uses nor closes a file that
/// was opened before, and that no file that it opens afterwards reaches a thread that it did not start.
pub unsafe fn keep_own_files() -> Result<(), Errno> {
    const FIRST: libc::c_long = 3;
    const LAST: libc::c_long = libc::c_int::MAX as libc::c_long;
    // SAFETY: the call takes three numbers, and closes no files of other threads; the caller ensures that this thread
    // uses none of them.
    answer(unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST,
            LAST,
            libc::CLOSE_RANGE_UNSHARE as libc::c_long,
        )
    })
}

/// Lets the calling thread run only while its CPU is otherwise idle (`SCHED_IDLE`).
///
/// # Errors
/// The error of `sched_setscheduler`.
pub fn run_when_idle() -> Result<(), Errno> {
    set_policy(libc::SCHED_IDLE, 0)
}

/// Lets the calling thread preempt all threads without real-time priority (`SCHED_RR` at its lowest priority).
///
/// # Errors
/// EPERM without `CAP_SYS_NICE` or `RLIMIT_RTPRIO`.
pub fn run_in_real_time() -> Result<(), Errno> {
    set_policy(libc::SCHED_RR, 1)
}

fn set_policy(policy: libc::c_int, priority: libc::c_int) -> Result<(), Errno> {
    // The kernel's parameter is one number. The struct of musl is larger, and its function of that name is not
    // implemented.
    let (thread, policy) = (0 as libc::c_long, libc::c_long::from(policy));
    // SAFETY: the pointer is to a number that outlives the call; process 0 is the calling thread.
    answer(unsafe {
        libc::syscall(
            libc::SYS_sched_setscheduler,
            thread,
            policy,
            &raw const priority,
        )
    })
}

fn answer(result: libc::c_long) -> Result<(), Errno> {
    if result == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsRawFd;

    #[test]
    fn processors_are_listed_by_ranges() {
        assert_eq!(processors("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(processors("5\n"), Some(vec![5]));
        assert_eq!(
            [
                processors("0-"),
                processors("x"),
                processors("0-4000000000")
            ],
            [None, None, None]
        );
        let online = online();
        assert!(
            allowed().iter().all(|cpu| online.contains(cpu)),
            "{online:?}"
        );
    }

    #[test]
    fn a_thread_may_keep_its_files_to_itself() {
        let ours = tempfile::tempfile().unwrap();
        let theirs = std::thread::spawn(|| {
            // SAFETY: the thread opens one file, and closes it itself.
            if let Err(errno) = unsafe { keep_own_files() } {
                println!("SKIPPED: close_range: {errno}");
                return;
            }
            // Nothing is open yet, so the lowest descriptor is free.
            let file = tempfile::tempfile().unwrap();
            assert_eq!(file.as_raw_fd(), 3);
        });
        theirs.join().unwrap();
        // The files of other threads stay open.
        assert_eq!(rustix::io::pwrite(&ours, b"x", 0), Ok(1));
    }
}
