//! A process that removes an ftrace instance after the program was killed.
//!
//! An instance outlives the process that created it, even with `kill -9`. The cleaner waits for the end of a pipe, which
//! the kernel closes however the program ends, and removes the instance then.

use super::tracefs::{self, Tracefs};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Name under which a program that calls [`allow_cleaner`] starts itself (`argv[0]`), with the name of an instance as
/// argument. It has to call [`clean_up`] then, and nothing else.
pub const CLEANER_NAME: &str = "hakaru-trace-cleaner";

/// Longest time in which the descriptors of a killed process are closed.
const CLOSING: Duration = Duration::from_secs(10);

/// Whether this program runs [`clean_up`] when it is called by [`CLEANER_NAME`].
static IS_ALLOWED: AtomicBool = AtomicBool::new(false);

/// Declares that this program runs [`clean_up`] when it is called by [`CLEANER_NAME`]. The recorder prefers ftrace then
/// where few events are recorded, because it takes a third of the time of perf.
pub fn allow_cleaner() {
    IS_ALLOWED.store(true, Ordering::Relaxed);
}

/// Whether [`allow_cleaner`] was called.
pub(super) fn is_allowed() -> bool {
    IS_ALLOWED.load(Ordering::Relaxed)
}

/// Removes an instance of this program after the end of standard input.
///
/// # Errors
/// The error of the kernel, or `EINVAL` if this is no instance of this program. An instance that is gone is no error.
pub fn clean_up(instance: &OsStr) -> Result<(), Errno> {
    let instance = instance.to_str().ok_or(Errno::INVAL)?;
    tracefs::owner(instance).ok_or(Errno::INVAL)?;
    // Opened first, because a private tracefs needs permission that may be gone later.
    let tracefs = Tracefs::find().map_err(|_| Errno::NODEV)?;
    let mut end = [0];
    while std::io::stdin()
        .read(&mut end)
        .is_ok_and(|length| length > 0)
    {}
    let begin = Instant::now();
    loop {
        match tracefs.remove_instance(&format!("instances/{instance}")) {
            Err(Errno::BUSY) if begin.elapsed() < CLOSING => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(Errno::NOENT) => return Ok(()),
            result => return result,
        }
    }
}

/// A running cleaner. Dropping it ends the process, which removes the instance if it still exists.
#[derive(Debug)]
pub(super) struct InstanceCleaner {
    process: Child,
}

impl InstanceCleaner {
    /// Starts the cleaner of an instance. Returns `None` where the program cannot start itself.
    pub(super) fn start(instance: &str) -> Option<InstanceCleaner> {
        if !is_allowed() {
            return None;
        }
        let process = Command::new("/proc/self/exe")
            .arg0(CLEANER_NAME)
            .arg(instance)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C on the terminal is not for it.
            .process_group(0)
            .current_dir("/")
            .spawn()
            .ok()?;
        Some(InstanceCleaner { process })
    }
}

impl Drop for InstanceCleaner {
    fn drop(&mut self) {
        // Waiting closes its standard input first.
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_only_instances_of_this_program() {
        for name in ["", "..", "somebody-1-0", "hakaru-x-0", "hakaru-1-0/../../x"] {
            assert_eq!(clean_up(OsStr::new(name)), Err(Errno::INVAL), "{name}");
        }
    }

    #[test]
    fn no_cleaner_starts_in_programs_that_are_none() {
        assert!(InstanceCleaner::start("hakaru-1-0").is_none());
    }
}
