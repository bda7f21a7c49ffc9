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

/// Nanoseconds of `CLOCK_BOOTTIME`, which also counts the time that the host sleeps.
pub fn boottime() -> u64 {
    let t = clock_gettime(ClockId::Boottime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Whether this architecture has a counter that user space can read.
pub const HAS_COUNTER: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The time-stamp counter. Its rate has to be measured. About 10 ns.
///
/// Not ordered against what stands before it in the program: the processor may read the counter while a load before it
/// still waits, so that compared with another thread's reading it can be some 100 ns too early.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn counter() -> u64 {
    // SAFETY: every x86_64 processor has this instruction, and it has no effect on memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The time-stamp counter, read after all that stands before it in the program: what another thread read before it
/// published something that this thread has seen is never larger. About 20 ns.
///
/// Source: "LFENCE" and "RDTSC" in the manuals of Intel and AMD; Linux sets AMD processors up so that `lfence` waits for
/// all instructions before it. `rdtscp` would do as well, but not every emulated processor has it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn ordered_counter() -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: every x86_64 processor has these instructions, and they have no effect on memory. Without `nomem` the compiler
    // moves no access to memory across them.
    unsafe {
        std::arch::asm!("lfence", "rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags))
    };
    high << 32 | low
}

/// The generic timer. Its rate has to be measured. Not ordered, as the time-stamp counter.
#[cfg(target_arch = "aarch64")]
#[inline]
pub fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets user space read the virtual counter on every aarch64 processor; no effect on memory.
    unsafe {
        std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags))
    };
    ticks
}

/// The generic timer, read after all that stands before it in the program.
///
/// Source: Arm Architecture Reference Manual, "Memory barriers" and `CNTVCT_EL0`: reads of it need an `ISB` to be in order.
#[cfg(target_arch = "aarch64")]
#[inline]
pub fn ordered_counter() -> u64 {
    let ticks: u64;
    // SAFETY: as for `counter`. Without `nomem` the compiler moves no access to memory across it; `dsb ld` waits for the
    // loads that the counter must not be read before.
    unsafe {
        std::arch::asm!("dsb ld", "isb", "mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags));
    };
    ticks
}

/// There is no counter here: the kernel's clock stands in.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub fn counter() -> u64 {
    monotonic_raw()
}

/// There is no counter here: the kernel's clock stands in.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline]
pub fn ordered_counter() -> u64 {
    monotonic_raw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// One thread publishes what it read; whoever has seen that reads no less, on whatever processors they run.
    #[test]
    fn an_ordered_counter_follows_what_another_thread_published() {
        const ROUNDS: u64 = 50_000;
        let (published, answered) = (AtomicU64::new(0), AtomicU64::new(0));
        let wait = |until: &dyn Fn() -> bool| {
            for spins in 1u32.. {
                if until() {
                    return;
                }
                // On one processor the other thread runs only when this one lets it.
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
                // Never the same twice, as a change is what the other waits for.
                last = ordered_counter().max(last + 1);
                published.store(last, Ordering::Release);
                wait(&|| answered.load(Ordering::Acquire) == last || other.is_finished());
            }
        });
    }
}
