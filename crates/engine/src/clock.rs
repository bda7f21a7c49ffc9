//! Clocks of a worker: the CPU's cycle counter if the kernel itself uses it, otherwise the kernel's clock.
//!
//! The simulated card has its own virtual clock.

mod agreement;

pub use agreement::{ClockReads, test_clocks};

use hakaru_model::obstacle::ClockObstacle;
use hakaru_sys::clock;
use std::sync::OnceLock;
use std::time::Duration;

/// A source of timestamps, in ticks since an arbitrary fixed start.
pub(crate) trait Clock {
    /// Whether this is virtual time, advanced only by the simulated card.
    const VIRTUAL: bool;

    /// Returns the current time in ticks.
    fn now(&self) -> u64;

    /// Converts a duration from ticks to nanoseconds.
    fn nanos(&self, ticks: u64) -> u64;

    /// Converts a duration from nanoseconds to ticks.
    fn ticks(&self, nanos: u64) -> u64;

    /// Waits until `moment`, in ticks.
    fn sleep_until(&self, moment: u64);

    /// Stops blocking other workers of a virtual clock while this worker waits for them to end.
    fn step_aside(&self) {}

    /// Ends [`Clock::step_aside`], at the latest time any other worker has reached.
    fn step_in(&self) {}
}

/// Period of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterRate {
    /// Nanoseconds per tick, times 2^32.
    nanos_per_tick_shifted: u64,
    /// The same times 2^64 for counters above 1 GHz, else 0. The nanoseconds are then the upper half of a product,
    /// without a shift over both halves, which takes six operations on AMD.
    nanos_per_tick_fraction: u64,
}

impl CounterRate {
    fn new(nanos_per_tick_shifted: u64) -> CounterRate {
        CounterRate {
            nanos_per_tick_shifted,
            nanos_per_tick_fraction: match u32::try_from(nanos_per_tick_shifted) {
                Ok(below_one) => u64::from(below_one) << 32,
                Err(_) => 0,
            },
        }
    }

    /// Converts ticks to nanoseconds, with a relative error below 10^-6, and without overflow for
    /// centuries.
    #[inline]
    pub fn nanos(self, ticks: u64) -> u64 {
        if self.nanos_per_tick_fraction > 0 {
            return ((u128::from(ticks) * u128::from(self.nanos_per_tick_fraction)) >> 64) as u64;
        }
        self.nanos_by_shift(ticks)
    }

    // Out of line on x86-64, where all counters are above 1 GHz: the compiler would merge both ways into one with a
    // variable shift.
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    #[cfg_attr(not(target_arch = "x86_64"), inline)]
    fn nanos_by_shift(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.nanos_per_tick_shifted)) >> 32) as u64
    }

    fn ticks(self, nanos: u64) -> u64 {
        ((u128::from(nanos) << 32) / u128::from(self.nanos_per_tick_shifted)) as u64
    }
}

/// Clock that times the I/Os, with the reason if the faster one is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockChoice {
    /// The CPU's counter, with its period.
    Counter(CounterRate),
    /// `CLOCK_MONOTONIC_RAW`.
    Kernel {
        /// Why the counter was not used; `None` if it was not requested.
        because: Option<ClockObstacle>,
    },
}

impl ClockChoice {
    /// Returns its name for the record.
    pub fn name(&self) -> &'static str {
        match self {
            ClockChoice::Counter(_) if cfg!(target_arch = "aarch64") => "generic timer",
            ClockChoice::Counter(_) => "time-stamp counter",
            ClockChoice::Kernel { .. } => "CLOCK_MONOTONIC_RAW",
        }
    }

    /// Returns the best clock of this host. Determined once, which takes about 10 ms.
    pub fn best() -> &'static ClockChoice {
        static BEST: OnceLock<ClockChoice> = OnceLock::new();
        BEST.get_or_init(|| {
            let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
            let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
            match distrust(source.trim(), &read("/proc/cpuinfo")) {
                Some(because) => ClockChoice::Kernel {
                    because: Some(because),
                },
                None => calibrate(Duration::from_millis(8)).map_or_else(
                    || ClockChoice::Kernel {
                        because: Some(ClockObstacle::NoRate),
                    },
                    ClockChoice::Counter,
                ),
            }
        })
    }

    /// Returns the drift of the counter against the kernel's clock since `start`, in ppm.
    pub fn drift_ppm(&self, start: &ClockMark) -> Option<f64> {
        let ClockChoice::Counter(rate) = self else {
            return None;
        };
        let end = ClockMark::take();
        let kernel = end.kernel.checked_sub(start.kernel)?;
        let counter = rate.nanos(end.counter.checked_sub(start.counter)?);
        // Below 100 ms, the error of reading the clocks exceeds the drift.
        (kernel > 100_000_000).then(|| (counter as f64 / kernel as f64 - 1.0) * 1e6)
    }
}

/// The counter and the kernel's clock, read at the same time.
#[derive(Clone, Copy, Debug)]
pub struct ClockMark {
    counter: u64,
    kernel: u64,
}

impl ClockMark {
    /// Reads both clocks several times and keeps the fastest try, because an interruption between the reads distorts
    /// the result.
    pub fn take() -> ClockMark {
        let read = || {
            let before = clock::counter();
            let kernel = clock::monotonic_raw();
            let after = clock::counter();
            (
                after.wrapping_sub(before),
                ClockMark {
                    counter: before + after.wrapping_sub(before) / 2,
                    kernel,
                },
            )
        };
        let tries: [(u64, ClockMark); 8] = std::array::from_fn(|_| read());
        tries
            .into_iter()
            .min_by_key(|t| t.0)
            .map_or_else(|| read().1, |t| t.1)
    }
}

/// Returns the reason not to use the counter; `None` if the kernel uses it and the CPU guarantees a
/// constant rate.
fn distrust(clocksource: &str, cpuinfo: &str) -> Option<ClockObstacle> {
    if !clock::HAS_COUNTER {
        return Some(ClockObstacle::NoCounter);
    }
    let not = |counter: &str| ClockObstacle::OtherSource {
        source_name: clocksource.to_owned(),
        counter: counter.to_owned(),
    };
    if cfg!(target_arch = "aarch64") {
        let counter = "arch_sys_counter";
        return (clocksource != counter).then(|| not(counter));
    }
    if !matches!(
        clocksource,
        "tsc" | "kvm-clock" | "hyperv_clocksource_tsc_page"
    ) {
        return Some(not("tsc"));
    }
    let flags = cpuinfo
        .lines()
        .find(|line| line.starts_with("flags"))
        .unwrap_or_default();
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    let missing = ["constant_tsc", "nonstop_tsc"]
        .into_iter()
        .find(|flag| !has(flag))?;
    Some(ClockObstacle::Variant {
        flag: missing.to_owned(),
    })
}

fn calibrate(span: Duration) -> Option<CounterRate> {
    let start = ClockMark::take();
    std::thread::sleep(span);
    let end = ClockMark::take();
    let ticks = end
        .counter
        .checked_sub(start.counter)
        .filter(|&t| t > 1000)?;
    let nanos = end.kernel.checked_sub(start.kernel)?;
    let shifted = (u128::from(nanos) << 32) / u128::from(ticks);
    let rate = CounterRate::new(u64::try_from(shifted).ok()?);
    (rate.nanos_per_tick_shifted > 0).then_some(rate)
}

/// The CPU's counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CounterClock(pub(crate) CounterRate);

impl Clock for CounterClock {
    const VIRTUAL: bool = false;

    #[inline]
    fn now(&self) -> u64 {
        clock::counter()
    }

    #[inline]
    fn nanos(&self, ticks: u64) -> u64 {
        self.0.nanos(ticks)
    }

    fn ticks(&self, nanos: u64) -> u64 {
        self.0.ticks(nanos)
    }

    fn sleep_until(&self, moment: u64) {
        sleep(self.nanos(moment.saturating_sub(self.now())));
    }
}

/// The clock of a run on this host, for workers that are not compiled for one of the two.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostClock {
    Counter(CounterClock),
    /// The kernel's clock; a tick is a nanosecond.
    Kernel,
}

impl Clock for HostClock {
    const VIRTUAL: bool = false;

    #[inline]
    fn now(&self) -> u64 {
        match self {
            HostClock::Counter(clock) => clock.now(),
            HostClock::Kernel => clock::monotonic_raw(),
        }
    }

    #[inline]
    fn nanos(&self, ticks: u64) -> u64 {
        match self {
            HostClock::Counter(clock) => clock.nanos(ticks),
            HostClock::Kernel => ticks,
        }
    }

    fn ticks(&self, nanos: u64) -> u64 {
        match self {
            HostClock::Counter(clock) => clock.ticks(nanos),
            HostClock::Kernel => nanos,
        }
    }

    fn sleep_until(&self, moment: u64) {
        sleep(self.nanos(moment.saturating_sub(self.now())));
    }
}

/// Sleeps for most of the duration and spins for the rest, because a timer wakes about 60 µs late.
fn sleep(nanos: u64) {
    const SPIN: u64 = 60_000;
    let end = clock::monotonic_raw() + nanos;
    if nanos > SPIN {
        std::thread::sleep(Duration::from_nanos(nanos - SPIN));
    }
    while clock::monotonic_raw() < end {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_is_used_only_where_the_kernel_trusts_it() {
        let flags = "flags\t\t: fpu tsc constant_tsc nonstop_tsc";
        if cfg!(target_arch = "x86_64") {
            assert_eq!(distrust("tsc", flags), None);
            assert!(
                distrust("hpet", flags)
                    .unwrap()
                    .to_string()
                    .contains("hpet")
            );
            assert!(
                distrust("tsc", "flags : fpu tsc constant_tsc")
                    .unwrap()
                    .to_string()
                    .contains("nonstop_tsc")
            );
            assert!(distrust("tsc", "").is_some());
        }
    }

    #[test]
    fn spans_convert_there_and_back() {
        let rate = CounterRate::new((1u64 << 32) / 3);
        for nanos in [1_000u64, 1_000_000, 3_600_000_000_000] {
            assert!(rate.nanos(rate.ticks(nanos)).abs_diff(nanos) <= 1);
        }
    }

    /// Counters above and below 1 GHz convert by different multiplications.
    #[test]
    fn ticks_convert_exactly_whatever_the_rate() {
        for shifted in [1u64, (1 << 32) / 3, (1 << 32) - 1, 1 << 32, 40 << 32] {
            let rate = CounterRate::new(shifted);
            for ticks in [0u64, 1, 7, 1_000_003, 1 << 40] {
                let exact = (u128::from(ticks) * u128::from(shifted)) >> 32;
                assert_eq!(u128::from(rate.nanos(ticks)), exact, "{shifted} {ticks}");
            }
        }
    }

    #[test]
    fn the_chosen_clock_agrees_with_the_kernel() {
        let start = ClockMark::take();
        std::thread::sleep(Duration::from_millis(120));
        if let Some(ppm) = ClockChoice::best().drift_ppm(&start) {
            assert!(ppm.abs() < 2_000.0, "{ppm} ppm");
        }
    }
}
