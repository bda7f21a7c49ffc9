//! Reading time: the processor's own counter, and the kernel's clock.
//!
//! Whether the counter may be trusted is for the caller to find out.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of `CLOCK_MONOTONIC_RAW`, which no time daemon bends. About 25 ns where the kernel maps it.
#[inline]
pub fn monotonic_raw() -> u64 {
    let t = clock_gettime(ClockId::MonotonicRaw);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
#[inline]
pub fn monotonic() -> u64 {
    let t = clock_gettime(ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Whether this architecture has a counter that user space can read.
pub const HAS_COUNTER: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The time-stamp counter. Its rate has to be measured. About 10 ns.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn counter() -> u64 {
    // SAFETY: every x86_64 processor has this instruction, and it has no effect on memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The generic timer. Its rate has to be measured.
#[cfg(target_arch = "aarch64")]
#[inline]
pub fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets user space read the virtual counter on every aarch64 processor; no effect on memory.
    unsafe { std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// There is no counter here: the kernel's clock stands in.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub fn counter() -> u64 {
    monotonic_raw()
}
