//! Reasons why nothing can be recorded.

use rustix::io::Errno;
use std::fmt;

/// Why block layer events cannot be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// This user may not record events.
    #[error("no permission to record kernel events{}", list(": missing ", .missing))]
    NoPermission {
        /// `kernel.perf_event_paranoid`, if it can be read.
        paranoid: Option<i32>,
        /// Capabilities that would help; empty if a security policy (lockdown, seccomp) refuses.
        missing: Vec<Capability>,
    },
    /// The process is in a user namespace (a rootless container), where the kernel ignores capabilities for tracing.
    #[error("kernel events cannot be recorded inside a user namespace")]
    UserNamespace,
    /// tracefs is not mounted, and this user may not mount it.
    #[error("tracefs is not mounted")]
    TracefsNotMounted,
    /// The kernel has no tracefs.
    #[error("the kernel is built without tracefs")]
    NoTracefs,
    /// The kernel has no perf events.
    #[error("the kernel is built without perf events")]
    NoPerfEvents,
    /// The kernel does not have the events, or not with the fields that are needed.
    #[error("the kernel does not have the events {}", .names.join(", "))]
    MissingEvents {
        /// Names of the events.
        names: Vec<String>,
    },
    /// The kernel refused the memory of the rings.
    #[error("the kernel refused {bytes} bytes of locked memory for the ring of one CPU")]
    RingMemory {
        /// Size of the smallest ring that was tried.
        bytes: u64,
        /// `RLIMIT_MEMLOCK` in bytes; `None` if unlimited.
        limit: Option<u64>,
    },
    /// The limit of open files is too low.
    #[error("recording needs {needed} open files, and the limit is {limit}")]
    Descriptors {
        /// Descriptors needed in addition to the open ones.
        needed: u64,
        /// `RLIMIT_NOFILE`.
        limit: u64,
    },
    /// There is no block device below the target (tmpfs, overlay, network file systems).
    #[error("no block device below the target")]
    NoBlockDevice,
    /// A call failed.
    #[error("{operation}: {errno}")]
    Failed {
        /// What was done.
        operation: &'static str,
        /// Its error.
        errno: Errno,
    },
}

/// Capability that recording may need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// `CAP_PERFMON`: open perf events of all threads.
    Perfmon,
    /// `CAP_DAC_READ_SEARCH`: read the numbers and formats of the events in tracefs.
    DacReadSearch,
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Capability::Perfmon => "CAP_PERFMON",
            Capability::DacReadSearch => "CAP_DAC_READ_SEARCH",
        })
    }
}

fn list(before: &str, missing: &[Capability]) -> String {
    let names: Vec<_> = missing.iter().map(Capability::to_string).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("{before}{}", names.join(", ")),
    }
}

/// What decides whether this process may record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Privileges {
    /// `CapEff` of `/proc/self/status`.
    pub effective: u64,
    /// Whether the process is in the initial user namespace.
    pub initial_user_namespace: bool,
    /// `kernel.perf_event_paranoid`.
    pub paranoid: Option<i32>,
}

const DAC_OVERRIDE: u32 = 1;
const DAC_READ_SEARCH: u32 = 2;
const IPC_LOCK: u32 = 14;
const SYS_ADMIN: u32 = 21;
const PERFMON: u32 = 38;

impl Privileges {
    /// Reads the privileges of this process.
    pub(super) fn of_process() -> Privileges {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        Privileges::parse(
            &read("/proc/self/status"),
            &read("/proc/self/uid_map"),
            &read("/proc/sys/kernel/perf_event_paranoid"),
        )
    }

    fn parse(status: &str, uid_map: &str, paranoid: &str) -> Privileges {
        let effective = status
            .lines()
            .find_map(|line| line.strip_prefix("CapEff:"))
            .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
        let all_users = |map: &str| {
            let numbers: Vec<_> = map.split_whitespace().collect();
            numbers.is_empty() || numbers == ["0", "0", "4294967295"]
        };
        Privileges {
            effective: effective.unwrap_or(0),
            initial_user_namespace: all_users(uid_map),
            paranoid: paranoid.trim().parse().ok(),
        }
    }

    /// Whether the memory of rings is not limited.
    pub(super) fn may_lock_memory(&self) -> bool {
        self.initial_user_namespace && self.has(IPC_LOCK)
    }

    fn has(&self, capability: u32) -> bool {
        self.effective & (1 << capability) != 0
    }

    /// Explains EPERM or EACCES. `reading` is whether files of tracefs were refused, too.
    pub(super) fn refusal(&self, reading: bool) -> TraceError {
        if !self.initial_user_namespace {
            return TraceError::UserNamespace;
        }
        let mut missing = Vec::new();
        let may_open = self.has(PERFMON)
            || self.has(SYS_ADMIN)
            || self.paranoid.is_some_and(|level| level < 0);
        if !may_open {
            missing.push(Capability::Perfmon);
        }
        if reading && !self.has(DAC_READ_SEARCH) && !self.has(DAC_OVERRIDE) {
            missing.push(Capability::DacReadSearch);
        }
        TraceError::NoPermission {
            paranoid: self.paranoid,
            missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INITIAL: &str = "         0          0 4294967295\n";

    #[test]
    fn names_the_missing_capabilities() {
        let nobody = Privileges::parse("Name:\tx\nCapEff:\t0000000000000000\n", INITIAL, "2\n");
        assert_eq!(
            nobody.refusal(true),
            TraceError::NoPermission {
                paranoid: Some(2),
                missing: vec![Capability::Perfmon, Capability::DacReadSearch],
            }
        );
        assert_eq!(
            nobody.refusal(true).to_string(),
            "no permission to record kernel events: missing CAP_PERFMON, CAP_DAC_READ_SEARCH"
        );
        // CAP_PERFMON alone does not open the files of tracefs.
        let perfmon = Privileges::parse("CapEff:\t0000004000000000\n", INITIAL, "3\n");
        assert_eq!(
            perfmon.refusal(true),
            TraceError::NoPermission {
                paranoid: Some(3),
                missing: vec![Capability::DacReadSearch],
            }
        );
        let level = Privileges::parse("CapEff:\t0000000000000000\n", INITIAL, "-1\n");
        assert_eq!(
            level.refusal(true),
            TraceError::NoPermission {
                paranoid: Some(-1),
                missing: vec![Capability::DacReadSearch],
            }
        );
    }

    #[test]
    fn root_of_a_user_namespace_is_recognized() {
        let container = Privileges::parse("CapEff:\t000001ffffffffff\n", "0 1000 1\n", "2\n");
        assert_eq!(container.refusal(false), TraceError::UserNamespace);
        // A policy refuses although nothing is missing.
        let lockdown = Privileges::parse("CapEff:\t000001ffffffffff\n", INITIAL, "2\n");
        assert_eq!(
            lockdown.refusal(true),
            TraceError::NoPermission {
                paranoid: Some(2),
                missing: vec![],
            }
        );
    }
}
