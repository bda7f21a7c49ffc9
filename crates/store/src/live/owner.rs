//! Identity of the process that owns a live state.

use std::fmt;
use std::str::FromStr;

/// A process, identified by its ID and its start time.
///
/// Displayed and parsed as `PID-START`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LiveOwner {
    /// Process ID.
    pub pid: u32,
    /// Start time in clock ticks since boot (`/proc/PID/stat`, field 22).
    pub started: u64,
}

impl LiveOwner {
    /// Returns the calling process; `None` without `/proc`.
    pub fn current() -> Option<LiveOwner> {
        LiveOwner::of(std::process::id())
    }

    /// Returns the running process with this ID. A zombie does not run.
    fn of(pid: u32) -> Option<LiveOwner> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        Some(LiveOwner {
            pid,
            started: start_time(&text)?,
        })
    }

    /// Whether the process still runs.
    pub fn is_alive(self) -> bool {
        LiveOwner::of(self.pid) == Some(self)
    }
}

/// Returns the start time of a running process from the content of its `stat` file; `None` for a zombie.
///
/// Source of the fields: `proc_pid_stat(5)`. The name of the command may contain spaces and parentheses.
fn start_time(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    let runs = !matches!(state, "Z" | "X" | "x");
    // The state is field 3.
    fields.nth(18)?.parse().ok().filter(|_| runs)
}

impl fmt::Display for LiveOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pid, self.started)
    }
}

/// Error of parsing a [`LiveOwner`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the ID of a running measurement (PID-START)")]
pub struct LiveOwnerError;

impl FromStr for LiveOwner {
    type Err = LiveOwnerError;

    fn from_str(text: &str) -> Result<LiveOwner, LiveOwnerError> {
        let (pid, started) = text.split_once('-').ok_or(LiveOwnerError)?;
        let pid = pid.parse().map_err(|_| LiveOwnerError)?;
        let started = started.parse().map_err(|_| LiveOwnerError)?;
        let owner = LiveOwner { pid, started };
        // Only the canonical form is a file name: no sign, no leading zeros.
        (owner.to_string() == text)
            .then_some(owner)
            .ok_or(LiveOwnerError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_time_follows_a_name_with_parentheses() {
        let fields: Vec<String> = (4..=52).map(|n| n.to_string()).collect();
        let stat = |state: &str| format!("7 (a) b) (c) {state} {}", fields.join(" "));
        assert_eq!(start_time(&stat("S")), Some(22));
        assert_eq!(start_time(&stat("Z")), None);
        assert_eq!(start_time("7 (a"), None);
    }

    #[test]
    fn a_process_is_alive_until_it_ends() {
        let this = LiveOwner::current().unwrap();
        assert!(this.is_alive() && this.pid == std::process::id());
        let other = LiveOwner {
            started: this.started + 1,
            ..this
        };
        assert!(!other.is_alive());
    }

    #[test]
    fn an_id_has_one_form() {
        let owner = LiveOwner {
            pid: 12,
            started: 345,
        };
        assert_eq!("12-345".parse(), Ok(owner));
        assert_eq!(owner.to_string(), "12-345");
        for text in [
            "",
            "12",
            "12-",
            "-345",
            "+12-345",
            "012-345",
            "12-345-6",
            "../12-345",
        ] {
            assert_eq!(text.parse::<LiveOwner>(), Err(LiveOwnerError), "{text}");
        }
    }
}
