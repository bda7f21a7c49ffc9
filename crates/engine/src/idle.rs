//! CPU idleness during a run: `--idle-prof`.
//!
//! A thread on each CPU runs in the scheduler's idle class; the share of time it could run is the
//! idle share. Its work is calibrated first, so that a slow CPU can be distinguished from a busy
//! one.

use hakaru_sys::thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Instant;

/// Loop iterations per unit of work.
const ROUNDS: u64 = 50_000;
/// Number of units timed during calibration.
const UNITS: u32 = 10;

/// Result of an idle profiler.
#[derive(Clone, Debug, PartialEq)]
pub struct Idleness {
    /// Idle share of all CPUs together, in percent.
    pub system: f64,
    /// Idle share of each CPU, in percent.
    pub per_cpu: Vec<(u32, f64)>,
    /// Mean time of a unit of work, in microseconds.
    pub unit_mean_us: f64,
    /// Standard deviation of that time, in microseconds.
    pub unit_deviation_us: f64,
}

/// Idle-class threads, one per CPU.
#[derive(Debug)]
pub struct IdleProfiler {
    stop: Arc<AtomicBool>,
    begun: Instant,
    threads: Vec<(u32, JoinHandle<Option<u64>>)>,
    unit: (f64, f64),
}

impl IdleProfiler {
    /// Measures the time of a unit of work: mean and deviation in microseconds.
    pub fn calibrate() -> (f64, f64) {
        let times: Vec<f64> = (0..UNITS)
            .map(|_| {
                let begun = Instant::now();
                work(ROUNDS);
                begun.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let scatter: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        (mean, (scatter / (times.len() - 1) as f64).sqrt())
    }

    /// Starts a thread on every CPU, including the CPUs excluded for this process.
    pub fn start() -> IdleProfiler {
        let unit = IdleProfiler::calibrate();
        let stop = Arc::new(AtomicBool::new(false));
        let threads = thread::online().into_iter().map(|cpu| {
            let stop = Arc::clone(&stop);
            let idle = std::thread::spawn(move || {
                // A thread that cannot be pinned or put in the idle class would take CPU time from the jobs.
                thread::pin(&[cpu])
                    .and_then(|()| thread::run_when_idle())
                    .ok()?;
                while !stop.load(Relaxed) {
                    work(ROUNDS / 16);
                }
                let used = thread::usage();
                Some(used.user_ns + used.system_ns)
            });
            (cpu, idle)
        });
        let threads = threads.collect();
        IdleProfiler {
            stop,
            begun: Instant::now(),
            threads,
            unit,
        }
    }

    /// Stops the threads. `None` if no CPU could be observed.
    pub fn finish(self) -> Option<Idleness> {
        let elapsed = self.begun.elapsed().as_nanos().max(1) as f64;
        self.stop.store(true, Relaxed);
        let worked = self
            .threads
            .into_iter()
            .map(|(cpu, thread)| Some((cpu, thread.join().ok().flatten()?)));
        // A CPU that could not be observed has no share.
        let share = |(cpu, ns): (u32, u64)| (cpu, (ns as f64 * 100.0 / elapsed).min(100.0));
        let per_cpu: Vec<(u32, f64)> = worked.flatten().map(share).collect();
        let system =
            per_cpu.iter().map(|(_, share)| share).sum::<f64>() / per_cpu.len().max(1) as f64;
        let (unit_mean_us, unit_deviation_us) = self.unit;
        (!per_cpu.is_empty()).then_some(Idleness {
            system,
            per_cpu,
            unit_mean_us,
            unit_deviation_us,
        })
    }
}

/// Does arithmetic that the compiler cannot remove.
fn work(rounds: u64) -> u64 {
    let mut value = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..rounds {
        value = std::hint::black_box(value ^ round)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9)
            .rotate_left(13);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_percentages() {
        let profiler = IdleProfiler::start();
        std::thread::sleep(std::time::Duration::from_millis(30));
        let idle = profiler.finish().unwrap();
        assert!(
            idle.per_cpu
                .iter()
                .map(|(_, share)| share)
                .chain([&idle.system])
                .all(|share| (0.0..=100.0).contains(share)),
            "{idle:?}"
        );
        assert!(idle.unit_mean_us > 0.0);
    }
}
