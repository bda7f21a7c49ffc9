//! Tests whether the counters of all CPUs agree: `--cpuclock-test`.

use super::ClockChoice;
use hakaru_sys::{clock, thread};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

/// Number of counter reads per CPU.
const READS: u64 = 100_000;

/// Counter readings of one CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReads {
    /// CPU number.
    pub cpu: u32,
    /// Number of counter reads.
    pub reads: u64,
    /// First value read.
    pub first: u64,
    /// Number of reads that returned less than the previous read on this or another CPU.
    pub backwards: u64,
}

/// Reads the counters of all CPUs this process may use, one read at a time in any order: each read must return at
/// least the value of the one before.
///
/// # Errors
/// The reason why the counter is not used on this host, or why a thread could not be started for each CPU.
pub fn test_clocks() -> Result<Vec<ClockReads>, String> {
    if let ClockChoice::Kernel { because } = ClockChoice::best() {
        return Err(because
            .as_ref()
            .map_or_else(String::new, ToString::to_string));
    }
    let (last, go) = (Mutex::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let read = |cpu| {
            let (last, go) = (&last, &go);
            std::thread::Builder::new().spawn_scoped(scope, move || {
                // A thread that cannot be pinned reads the counter of the CPU it runs on.
                let _ = thread::pin(&[cpu]);
                while !go.load(Relaxed) {
                    std::thread::yield_now();
                }
                reads(cpu, last)
            })
        };
        let threads: Vec<_> = thread::allowed().into_iter().map(read).collect();
        // Threads that did start must run even if another could not start.
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
        // The counter must be read after the lock is acquired: only then does the lock order the
        // readings.
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
        // If the counter is not used on this host, there is nothing to test.
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
