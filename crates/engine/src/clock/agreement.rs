//! Whether the counters of all CPUs agree: `--cpuclock-test`.

use super::ClockChoice;
use hakaru_sys::{clock, thread};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

/// How often each CPU reads its counter.
const READS: u64 = 100_000;

/// What one CPU saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReads {
    /// Which.
    pub cpu: u32,
    /// How often it read its counter.
    pub reads: u64,
    /// First reading.
    pub first: u64,
    /// How often that was less than what another CPU, or itself, had read before.
    pub backwards: u64,
}

/// Reads the counters of all CPUs this process may use, in any order but one at a time, so that each reading has to
/// be no less than the one before.
///
/// # Errors
/// Why the counter is not used here at all, or that there cannot be a thread for each CPU.
pub fn test_clocks() -> Result<Vec<ClockReads>, String> {
    if let ClockChoice::Kernel { because } = ClockChoice::best() {
        return Err(because.clone().unwrap_or_default());
    }
    let (last, go) = (Mutex::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let read = |cpu| {
            let (last, go) = (&last, &go);
            std::thread::Builder::new().spawn_scoped(scope, move || {
                // One that may not be pinned reads the counter of wherever it is.
                let _ = thread::pin(&[cpu]);
                while !go.load(Relaxed) {
                    std::thread::yield_now();
                }
                reads(cpu, last)
            })
        };
        let threads: Vec<_> = thread::allowed().into_iter().map(read).collect();
        // Those that could be started go, also where another could not.
        go.store(true, Relaxed);
        let seen = |thread: std::io::Result<ScopedJoinHandle<'_, ClockReads>>| {
            let thread =
                thread.map_err(|error| format!("cannot start a thread on each CPU: {error}"))?;
            thread
                .join()
                .map_err(|_| "a thread that read the counter has panicked".to_owned())
        };
        threads.into_iter().map(seen).collect()
    })
}

fn reads(cpu: u32, last: &Mutex<u64>) -> ClockReads {
    let mut seen = ClockReads {
        cpu,
        reads: 0,
        first: 0,
        backwards: 0,
    };
    for _ in 0..READS {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock puts the readings in order only if the counter is not read before the lock is had.
        let now = clock::ordered_counter();
        if seen.reads == 0 {
            seen.first = now;
        }
        seen.reads += 1;
        seen.backwards += u64::from(now < *last);
        *last = now;
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_is_used_never_goes_back() {
        // Where it is not used there is nothing to hold it to.
        let Ok(seen) = test_clocks() else { return };
        assert!(
            seen.iter()
                .all(|cpu| cpu.reads == READS && cpu.backwards == 0),
            "{seen:?}"
        );
    }

    #[test]
    fn a_step_back_is_counted() {
        let ahead = Mutex::new(u64::MAX);
        assert_eq!(reads(0, &ahead).backwards, 1);
    }
}
