//! Detects whether the host is quiet enough for a comparison of speeds: on a busy host the result is meaningless.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

/// Interval of one load measurement.
const LOOK: Duration = Duration::from_millis(500);

/// Maximum time that one comparison waits for a quiet host.
const ONE_WAIT: Duration = Duration::from_secs(20);

/// Maximum total waiting time of all comparisons in a part of the rig.
const ALL_WAITS: Duration = Duration::from_secs(120);

/// Number of CPUs that a machine and the emulator of its card use.
const NEEDED: f64 = 3.0;

/// A comparison that was not judged, with the reason why the host counts as busy.
#[derive(Debug)]
pub(super) struct HostBusy(pub(super) String);

impl fmt::Display for HostBusy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not judged: the host was busy: {}", self.0)
    }
}

impl std::error::Error for HostBusy {}

/// CPU time since the start of the host, in ticks of `/proc`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ProcessorUsage {
    /// Total of all CPUs.
    total: u64,
    /// Used by any process or the kernel.
    busy: u64,
    /// Requested, but not provided by the hypervisor.
    steal: u64,
    /// Used by this process and its descendants.
    own: u64,
}

impl ProcessorUsage {
    fn now() -> Option<ProcessorUsage> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let mut usage = ProcessorUsage::of(&stat)?;
        let entries = std::fs::read_dir("/proc").ok()?.flatten();
        let processes = entries.filter_map(|entry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            Some((id, std::fs::read_to_string(entry.path().join("stat")).ok()?))
        });
        usage.own = family_ticks(std::process::id(), processes);
        Some(usage)
    }

    /// Source: proc(5), `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user.
    fn of(stat: &str) -> Option<ProcessorUsage> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line
            .split_whitespace()
            .map_while(|word| word.parse().ok())
            .take(8)
            .collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal] = ticks[..] else {
            return None;
        };
        let busy = user + nice + system + irq + softirq;
        Some(ProcessorUsage {
            total: busy + idle + iowait + steal,
            busy,
            steal,
            own: 0,
        })
    }

    /// Returns why the host was busy since `before`, given its number of CPUs.
    fn busy_since(&self, before: &ProcessorUsage, processors: f64) -> Option<String> {
        let passed = |of: fn(&ProcessorUsage) -> u64| of(self).saturating_sub(of(before)) as f64;
        let total = passed(|usage| usage.total);
        if total < 1.0 {
            return None;
        }
        let steal = passed(|usage| usage.steal);
        let wanted = passed(|usage| usage.busy) + steal;
        // Most processors are idle, so a share of their whole time would hide how long the emulator waited.
        if steal > 0.05 * wanted && steal > 0.005 * total {
            return Some(format!(
                "the hypervisor withheld {:.0}% of the processor time that programs wanted",
                steal / wanted * 100.0
            ));
        }
        let others = (passed(|usage| usage.busy) - passed(|usage| usage.own)).max(0.0) / total;
        let left = processors * (1.0 - others);
        (others > 0.25 && left < NEEDED).then(|| {
            format!(
                "other programs used {:.0}% of {processors} processors",
                others * 100.0
            )
        })
    }
}

/// Ticks of a process and all its descendants. Source: proc(5), `/proc/PID/stat`, fields 4, 14 and 15.
fn family_ticks(root: u32, processes: impl Iterator<Item = (u32, String)>) -> u64 {
    let parse = |stat: &str| -> Option<(u32, u64)> {
        // The process name is in parentheses and may contain spaces and parentheses.
        let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = words.get(11)?.parse::<u64>().ok()? + words.get(12)?.parse::<u64>().ok()?;
        Some((words.get(1)?.parse().ok()?, ticks))
    };
    let all: BTreeMap<u32, (u32, u64)> = processes
        .filter_map(|(id, stat)| Some((id, parse(&stat)?)))
        .collect();
    let descends = |id: u32| {
        let chain = std::iter::successors(Some(id), |id| all.get(id).map(|(parent, _)| *parent));
        chain.take(all.len() + 1).any(|id| id == root)
    };
    all.iter()
        .filter(|(id, _)| descends(**id))
        .map(|(_, (_, ticks))| ticks)
        .sum()
}

fn processors() -> f64 {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get) as f64
}

/// Watches the host for other load.
pub(super) struct HostWatch(Option<ProcessorUsage>);

impl HostWatch {
    pub(super) fn begin() -> HostWatch {
        HostWatch(ProcessorUsage::now())
    }

    /// Returns why the host was busy; `None` if it was not, or is unknown.
    pub(super) fn busy(&self) -> Option<String> {
        ProcessorUsage::now()?.busy_since(self.0.as_ref()?, processors())
    }
}

/// Remaining time to wait for a quiet host.
pub(super) struct Patience {
    left: Duration,
}

impl Patience {
    pub(super) fn new() -> Patience {
        Patience { left: ALL_WAITS }
    }

    /// Waits until the host is quiet, or the time limit is reached.
    pub(super) fn wait_for_quiet(&mut self) {
        let begun = Instant::now();
        let limit = self.left.min(ONE_WAIT);
        while begun.elapsed() < limit {
            let watch = HostWatch::begin();
            std::thread::sleep(LOOK);
            if watch.busy().is_none() {
                break;
            }
        }
        self.left = self.left.saturating_sub(begun.elapsed());
    }

    /// Whether the time limit is used up.
    pub(super) fn is_over(&self) -> bool {
        self.left < LOOK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_processor_times_of_the_kernel() {
        let usage = ProcessorUsage::of("cpu  10 1 20 300 40 5 6 7 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
        assert_eq!(
            usage,
            Some(ProcessorUsage {
                total: 389,
                busy: 42,
                steal: 7,
                own: 0
            })
        );
        assert_eq!(ProcessorUsage::of("cpu  10 1\n"), None);
    }

    #[test]
    fn counts_a_process_and_all_it_started() {
        let stat = |parent: u32, ticks: u64| {
            format!("1 (a b) c) S {parent} 1 1 0 -1 0 0 0 0 0 {ticks} 1 0 0 20 0")
        };
        let all = [
            (1, stat(0, 100)),
            (5, stat(1, 10)),
            (6, stat(5, 20)),
            (7, stat(6, 30)),
            (8, stat(1, 40)),
        ];
        assert_eq!(family_ticks(5, all.iter().cloned()), 63);
        assert_eq!(family_ticks(9, all.iter().cloned()), 0);
        assert_eq!(family_ticks(5, [(5, "no stat".to_owned())].into_iter()), 0);
    }

    #[test]
    fn a_host_is_busy_when_others_leave_too_few_processors() {
        let zero = ProcessorUsage::default();
        let busy = |busy, own, steal, processors| {
            ProcessorUsage {
                total: 1000,
                busy,
                own,
                steal,
            }
            .busy_since(&zero, processors)
            .is_some()
        };
        assert!(!busy(500, 480, 0, 4.0), "our own work does not count");
        assert!(busy(500, 100, 0, 4.0) && busy(600, 300, 0, 2.0));
        assert!(
            !busy(700, 100, 0, 64.0),
            "a large host has enough processors left"
        );
        assert!(!busy(240, 0, 0, 1.0) && busy(260, 0, 0, 1.0));
        assert!(
            busy(0, 0, 60, 64.0),
            "what the hypervisor withholds is missing everywhere"
        );
        assert!(
            busy(120, 120, 20, 4.0),
            "a seventh of what was wanted is much, even if most processors are idle"
        );
        assert!(!busy(600, 600, 20, 4.0) && !busy(10, 10, 3, 4.0));
        assert!(zero.busy_since(&zero, 4.0).is_none());
    }
}
