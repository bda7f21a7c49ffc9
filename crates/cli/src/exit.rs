//! Exit codes. They are part of the interface: scripts rely on them.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All was done.
    Ok,
    /// The run failed, or the device answered with errors. What was measured is kept.
    Failed,
    /// The command line was not understood, or asks for what cannot be.
    Usage,
    /// Refused, because data would be lost.
    Refused,
    /// Verifying came to its end, and found that the storage is not what it claims.
    Defective,
    /// A command line of fio stopped by Ctrl-C or a signal: fio leaves with this code then. What was measured is shown.
    FioStopped,
    /// So many jobs of a fio command line failed: fio leaves with their number. What was measured is shown.
    FioJobs(u8),
    /// Stopped by Ctrl-C or a signal. What was measured is kept.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Ok => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Refused => 3,
            Exit::Defective => 4,
            Exit::FioStopped => 128,
            Exit::FioJobs(count) => count,
            Exit::Interrupted => 130,
        })
    }
}

/// Says what went wrong, with its causes, on standard error.
pub(crate) fn complain(error: &anyhow::Error) {
    anstream::eprintln!("\u{1b}[1;31merror\u{1b}[0m: {error}");
    let mut said = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Many errors end with their cause.
        if !said.contains(&cause) {
            anstream::eprintln!("  cause: {cause}");
        }
        said = cause;
    }
}
