//! Host effects on a run: run-queue wait, steal time, stops and suspends.
//!
//! Source of the fields: the kernel's `Documentation/scheduler/sched-stats.rst` and
//! `Documentation/filesystems/proc.rst`.

use hakaru_model::measured::{HostPauses, Pause, PauseKind};
use hakaru_model::units::Nanos;
use hakaru_sys::clock;
use std::time::{Duration, Instant};

/// A wait that exceeds its timeout by this much means that the process was stopped.
const STOPPED: Duration = Duration::from_millis(500);

/// Minimum suspend time that counts as a pause. Shorter differences occur because the two clocks
/// are not read at the same time.
const SUSPENDED: Duration = Duration::from_millis(10);

/// Maximum number of recorded pauses.
const MOST_PAUSES: usize = 1000;

/// Returns the run-queue wait time of the calling thread in ns. `None` if the kernel does not count
/// it.
pub(crate) fn waited() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

/// Returns bytes read from and written to storage by this process. `None` if the kernel does not
/// count them.
pub(crate) fn own_io() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
    };
    Some((field("read_bytes:")?, field("write_bytes:")?))
}

/// Returns the steal time of all CPUs since the host booted, in ns.
fn stolen() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: u64 = text
        .lines()
        .next()?
        .split_whitespace()
        .nth(8)?
        .parse()
        .ok()?;
    Some(ticks.saturating_mul(1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)))
}

/// Returns the suspend time in ns: CLOCK_BOOTTIME minus CLOCK_MONOTONIC.
fn asleep() -> u64 {
    clock::boottime().saturating_sub(clock::monotonic())
}

/// Detects pauses in the thread that waits for the workers: if it wakes far too late, the workers were stopped too.
#[derive(Debug)]
pub(crate) struct PauseWatch {
    begun: Instant,
    pauses: Vec<Pause>,
    asleep: u64,
    waited: Option<u64>,
    stolen: Option<u64>,
}

impl PauseWatch {
    /// Starts watching, together with the workers.
    pub(crate) fn begin() -> PauseWatch {
        let (asleep, waited, stolen) = (asleep(), waited(), stolen());
        PauseWatch {
            begun: Instant::now(),
            pauses: Vec::new(),
            asleep,
            waited,
            stolen,
        }
    }

    /// Checks for a pause after a wait of at most `asked` that began at `since`.
    pub(crate) fn waited_for(&mut self, asked: Duration, since: Instant) {
        let late = since.elapsed().saturating_sub(asked);
        if late >= STOPPED {
            // On a busy host, a thread may wait for a CPU. That is not a stop, and the workers measure their own
            // waits.
            let now = waited();
            let queued = now
                .zip(self.waited)
                .map_or(0, |(now, before)| now.saturating_sub(before));
            self.waited = now;
            let stopped = late.saturating_sub(Duration::from_nanos(queued));
            if stopped >= STOPPED {
                self.note(stopped, PauseKind::Stopped);
            }
        }
    }

    /// Reads the clocks; called a few times per second.
    pub(crate) fn look(&mut self) {
        self.waited = waited();
        let asleep = asleep();
        let slept = Duration::from_nanos(asleep.saturating_sub(self.asleep));
        if slept >= SUSPENDED {
            // The clock used for timestamps did not advance during the suspend.
            self.note(slept, PauseKind::Suspended);
        }
        self.asleep = asleep;
    }

    /// Records a pause that has just ended.
    fn note(&mut self, length: Duration, kind: PauseKind) {
        if self.pauses.len() < MOST_PAUSES {
            let nanos = |time: Duration| Nanos(time.as_nanos() as u64);
            let since = match kind {
                PauseKind::Stopped => self.begun.elapsed().saturating_sub(length),
                PauseKind::Suspended => self.begun.elapsed(),
            };
            self.pauses.push(Pause {
                at: nanos(since),
                length: nanos(length),
                kind,
            });
        }
    }

    /// Returns the result. `None` if the workers lost no time.
    pub(crate) fn end(mut self) -> Option<HostPauses> {
        self.look();
        let stolen = stolen()
            .zip(self.stolen)
            .map_or(0, |(now, before)| now.saturating_sub(before));
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let found = HostPauses {
            pauses: self.pauses,
            stolen: Nanos(stolen),
            processors,
        };
        (!found.pauses.is_empty() || stolen > 0).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_kernel_only_grow() {
        for count in [waited, stolen] {
            if let Some(first) = count() {
                assert!(count().is_some_and(|second| second >= first));
            }
        }
        if let Some((read, written)) = own_io() {
            assert!(own_io().is_some_and(|(r, w)| r >= read && w >= written));
        }
    }

    #[test]
    fn a_late_wait_is_a_stop_and_a_punctual_one_is_none() {
        let mut watch = PauseWatch::begin();
        let now = Instant::now();
        watch.waited_for(Duration::from_secs(3600), now);
        assert_eq!(watch.pauses, []);
        // A wait explained by the run queue is not a stop; this thread has not waited that long for a CPU.
        let long_ago = now.checked_sub(Duration::from_secs(3)).unwrap_or(now);
        watch.waited_for(Duration::ZERO, long_ago);
        let [pause] = watch.pauses[..] else {
            panic!("{:?}", watch.pauses)
        };
        assert!(
            pause.kind == PauseKind::Stopped && pause.length > Nanos::from_millis(500),
            "{pause:?}"
        );
    }
}
