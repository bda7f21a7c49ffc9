//! Clocks: the CPU counter and the kernel clocks.
//!
//! The caller must check whether the counter is reliable.

use rustix::time::{ClockId, clock_gettime};

/// Returns `CLOCK_MONOTONIC_RAW` in ns, which is not adjusted by NTP. About 25 ns with vDSO.
#[inline]
pub fn monotonic_raw() -> u64 {
    let t = clock_gettime(ClockId::MonotonicRaw);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Returns `CLOCK_MONOTONIC` in ns.
#[inline]
pub fn monotonic() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Returns `CLOCK_BOOTTIME` in ns, which includes suspend time.
pub fn boottime() -> u64 {
    let t = clock_gettime(ClockId::Boottime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Whether this architecture has a counter that user space can read.
pub const HAS_COUNTER: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Reads the time-stamp counter. Its rate must be measured. About 10 ns.
///
/// Not ordered with preceding instructions: compared with another thread's reading it can be some
/// 100 ns too early.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn counter() -> u64 {
    // SAFETY: every x86_64 CPU has this instruction, and it has no effect on memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// Reads the time-stamp counter after all preceding instructions: never less than a value that another thread read
/// before it published something this thread has seen. About 20 ns.
///
/// Source: "LFENCE" and "RDTSC" in the manuals of Intel and AMD; Linux configures AMD CPUs so that `lfence` waits for
/// all instructions before it. `rdtscp` is an alternative, but not every emulated CPU has it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn ordered_counter() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: every x86_64 CPU has these instructions, and they have no effect on memory. Without `nomem` the
    // compiler does not move memory accesses across them.
    unsafe {
        std::arch::asm!("lfence", "rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags))
    };
    high << 32 | low
}

/// Reads the generic timer. Its rate must be measured. Not ordered, like the time-stamp counter.
#[cfg(target_arch = "aarch64")]
#[inline]
pub fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: Linux allows user space to read the virtual counter on every aarch64 CPU; no effect on memory.
    unsafe {
        std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags))
    };
    ticks
}

/// Reads the generic timer after all preceding instructions.
///
/// Source: Arm Architecture Reference Manual, "Memory barriers" and `CNTVCT_EL0`: ordered reads need an `ISB`.
#[cfg(target_arch = "aarch64")]
#[inline]
pub fn ordered_counter() -> u64 {
    let ticks: u64;
    // SAFETY: as for `counter`. Without `nomem` the compiler does not move memory accesses across it; `dsb ld` waits
    // for the loads that must precede the counter read.
    unsafe {
        std::arch::asm!("dsb ld", "isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags));
    };
    ticks
}

/// No counter on this architecture: uses the kernel clock.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub fn counter() -> u64 {
    monotonic_raw()
}

/// No counter on this architecture: uses the kernel clock.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub fn ordered_counter() -> u64 {
    monotonic_raw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A thread that sees a reading published by another thread must not read less, on any CPU.
    #[test]
    fn an_ordered_counter_follows_what_another_thread_published() {
        const ROUNDS: u64 = 50_000;
        let (published, answered) = (AtomicU64::new(0), AtomicU64::new(0));
        let wait = |until: &dyn Fn() -> bool| {
            for spins in 1u32.. {
                if until() {
                    return;
                }
                // On a single CPU the other thread runs only when this one yields.
                if spins % 64 == 0 {
                    std::thread::yield_now();
                }
            }
        };
        let answer = || {
            let mut last = 0;
            for _ in 0..ROUNDS {
                wait(&|| published.load(Ordering::Acquire) != last);
                last = published.load(Ordering::Acquire);
                let now = ordered_counter();
                assert!(now >= last, "{} ticks back", last - now);
                answered.store(last, Ordering::Release);
            }
        };
        std::thread::scope(|scope| {
            let other = scope.spawn(answer);
            let mut last = 0;
            for _ in 0..ROUNDS {
                // Values must differ, because the other thread waits for a change.
                last = ordered_counter().max(last + 1);
                published.store(last, Ordering::Release);
                wait(&|| answered.load(Ordering::Acquire) == last || other.is_finished());
            }
        });
    }
}
