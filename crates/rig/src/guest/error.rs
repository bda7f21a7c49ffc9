//! The output of a script in a guest, and the errors of guests.

use crate::card::Refused;
use crate::kit::{KitError, RigToolError};
use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

/// Errors of the machine. A failed script is not an error, but an [`Output`].
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// The kit is missing.
    #[error(transparent)]
    Kit(#[from] KitError),
    /// An operation of the host failed.
    #[error("{what}: {source}")]
    Host {
        /// The operation.
        what: String,
        /// The cause.
        source: io::Error,
    },
    /// QEMU itself failed.
    #[error("QEMU ended ({status}) {during}: {said}")]
    Qemu {
        /// Exit status.
        status: ExitStatus,
        /// The operation in progress.
        during: String,
        /// Its output.
        said: String,
    },
    /// The guest's kernel panicked.
    #[error("the guest's kernel panicked {during}; last console output:\n{console}")]
    Panicked {
        /// The operation in progress.
        during: String,
        /// The end of the console output.
        console: String,
    },
    /// The machine exceeded its time limit and was killed.
    #[error("the guest timed out {during} after {} s; last console output:\n{console}", after.as_secs())]
    TimedOut {
        /// The operation in progress.
        during: String,
        /// The time limit.
        after: Duration,
        /// The end of the console output.
        console: String,
    },
    /// The machine exited unexpectedly.
    #[error("the guest exited {during}; last console output:\n{console}")]
    Ended {
        /// The operation in progress.
        during: String,
        /// The end of the console output.
        console: String,
    },
    /// A script failed.
    #[error("the script ended with {}\n{}{}", output.code, output.stdout, output.stderr)]
    Script {
        /// Its output.
        output: Output,
    },
    /// A QEMU monitor command failed.
    #[error("QEMU answered `{command}` with: {answer}")]
    Monitor {
        /// The command.
        command: String,
        /// The reply.
        answer: String,
    },
    /// A card could not be restored after a power cut.
    #[error(transparent)]
    Card(#[from] Refused),
}

impl GuestError {
    pub(super) fn host(what: impl Into<String>) -> impl FnOnce(io::Error) -> GuestError {
        let what = what.into();
        move |source| GuestError::Host { what, source }
    }

    /// The reason why a machine exited early, from its console output and the log of QEMU.
    pub(super) fn after_exit(
        status: ExitStatus,
        during: &str,
        console: &str,
        qemu_log: &Path,
    ) -> GuestError {
        let (during, last) = (during.to_owned(), last_lines(console));
        if panicked(console) {
            return GuestError::Panicked {
                during,
                console: last,
            };
        }
        if status.success() {
            return GuestError::Ended {
                during,
                console: last,
            };
        }
        let said = std::fs::read_to_string(qemu_log).unwrap_or_default();
        GuestError::Qemu {
            status,
            during,
            said: said.trim().to_owned(),
        }
    }

    /// A machine that was killed at its time limit.
    pub(super) fn timed_out(during: &str, after: Duration, console: &str) -> GuestError {
        GuestError::TimedOut {
            during: during.to_owned(),
            after,
            console: last_lines(console),
        }
    }
}

/// Both guest types report kit errors in the same way.
impl From<RigToolError> for GuestError {
    fn from(error: RigToolError) -> GuestError {
        GuestError::Kit(KitError::Tool(error))
    }
}

/// Whether the console output shows a kernel panic.
pub(super) fn panicked(console: &str) -> bool {
    console.contains("Kernel panic")
}

fn last_lines(console: &str) -> String {
    let lines: Vec<&str> = console.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}

/// Result of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    /// Standard output, then standard error.
    pub fn both(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }

    /// Returns standard output if the script succeeded.
    ///
    /// # Errors
    /// [`GuestError::Script`] with all its output if the exit code is not 0.
    pub fn success(self) -> Result<String, GuestError> {
        if self.code == 0 {
            Ok(self.stdout)
        } else {
            Err(GuestError::Script { output: self })
        }
    }
}
