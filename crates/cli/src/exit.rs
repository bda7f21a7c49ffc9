//! Exit codes, which are part of the interface: scripts rely on them.

use hakaru_campaign::errors;
use hakaru_report::text::{self, MessagePrefix};
use hakaru_results::NotThere;
pub(crate) use hakaru_results::{NamedPath, not_there};
use hakaru_store::{FindError, OpenError};
use std::process::ExitCode;

/// Exit status of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Ok,
    /// The run failed, or the device returned errors. Results so far are kept.
    Failed,
    /// Usage error: invalid command line, or a named file, device or run does not exist.
    Usage,
    /// Refused, because data would be lost.
    Refused,
    /// Verification finished and found defects.
    Defective,
    /// A fio command line stopped by Ctrl-C or SIGTERM, with the exit code that fio uses then. Results so far are
    /// printed.
    FioStopped,
    /// A fio command line stopped by SIGHUP, which kills fio. Results so far are printed.
    FioHungUp,
    /// Number of failed jobs of a fio command line, as the exit code of fio. Results are printed.
    FioJobs(u8),
    /// Stopped by Ctrl-C or a signal. Results so far are kept.
    Interrupted,
}

/// An end whose reason was already printed, as an error that carries its exit code.
#[derive(Debug, thiserror::Error)]
#[error("ended: {0:?}")]
pub(crate) struct Ended(pub(crate) Exit);

/// Prints a usage error, and returns the error that ends the program.
pub(crate) fn usage(message: impl std::fmt::Display) -> anyhow::Error {
    complain(&anyhow::anyhow!("{message}"));
    Ended(Exit::Usage).into()
}

impl Exit {
    /// Returns the exit code of an error: a missing named object is a usage error.
    pub(crate) fn of(error: &anyhow::Error) -> Exit {
        if let Some(Ended(exit)) = error.downcast_ref() {
            return *exit;
        }
        let absent = |cause: &(dyn std::error::Error + 'static)| {
            let run = cause.downcast_ref::<FindError>();
            cause.is::<NotThere>()
                || matches!(
                    cause.downcast_ref::<OpenError>(),
                    Some(OpenError::Absent { .. })
                )
                || matches!(
                    run,
                    Some(FindError::NotFound { .. } | FindError::Ambiguous { .. })
                )
        };
        if error.chain().any(absent) {
            Exit::Usage
        } else {
            Exit::Failed
        }
    }

    /// Combines an exit code with the result of printing and storing. An error there is printed,
    /// and changes the exit code only from success; a closed pipe is ignored.
    pub(crate) fn and(self, result: anyhow::Result<()>) -> Exit {
        match result {
            Err(error) if !is_closed_pipe(&error) => {
                complain(&error);
                if self == Exit::Ok { Exit::Failed } else { self }
            }
            Ok(()) | Err(_) => self,
        }
    }
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
            Exit::FioHungUp => 129,
            Exit::FioJobs(count) => count,
            Exit::Interrupted => 130,
        })
    }
}

/// Whether the error is a closed pipe, so that the output has no reader anymore.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Prints an error with its causes and help line on standard error, without control characters.
pub(crate) fn complain(error: &anyhow::Error) {
    if error.is::<Ended>() {
        return;
    }
    let prefix = text::prefix(MessagePrefix::Error);
    let red = format!("\u{1b}[1;31m{prefix}\u{1b}[0m:");
    for line in error_lines(error) {
        let line = match line
            .strip_prefix(prefix)
            .and_then(|rest| rest.strip_prefix(':'))
        {
            Some(rest) => format!("{red}{rest}"),
            None => line,
        };
        anstream::eprintln!("{line}");
    }
}

/// Formats the lines of an error: `error:`, then its causes, then the help line. Messages with advice end in `; help:
/// …`.
fn error_lines(error: &anyhow::Error) -> Vec<String> {
    let plain = |text: &str| {
        let lines: Vec<String> = text.split('\n').map(hakaru_report::plain).collect();
        lines.join("\n")
    };
    let mut lines = Vec::new();
    let mut cures = Vec::new();
    for (depth, message) in errors::messages(error.chain()).iter().enumerate() {
        let mut parts = message.split("; help: ");
        let what = plain(parts.next().unwrap_or_default());
        lines.push(match depth {
            0 => format!("{}: {what}", text::prefix(MessagePrefix::Error)),
            _ => format!("  {}: {what}", text::prefix(MessagePrefix::Cause)),
        });
        let help = text::prefix(MessagePrefix::Help);
        cures.extend(parts.map(|cure| format!("  {help}: {}", plain(cure))));
    }
    lines.extend(cures);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_what_is_not_there_from_what_cannot_be_done() {
        let read = |path: &str| std::fs::read(path).named(|| format!("cannot read {path}"));
        let (absent, directory) = (read("/no/such/file").unwrap_err(), read("/").unwrap_err());
        assert_eq!(
            (Exit::of(&absent), Exit::of(&directory)),
            (Exit::Usage, Exit::Failed)
        );
        assert_eq!(Exit::of(&absent.context("cannot compare")), Exit::Usage);
        assert_eq!(
            Exit::of(&OpenError::Absent { path: "x".into() }.into()),
            Exit::Usage
        );
        assert_eq!(Exit::of(&anyhow::anyhow!("no space left")), Exit::Failed);
    }

    #[test]
    fn prints_causes_before_the_help_line() {
        let source = anyhow::anyhow!("no space left\u{1b}[2J; help: free some space");
        let lines = |error: anyhow::Error| error_lines(&error).join("\n");
        assert_eq!(
            lines(source.context("cannot write x; help: name another file")),
            "error: cannot write x\n  cause: no space left\u{fffd}[2J\n  help: name another \
            file\n  help: free some space"
        );
        let twice = anyhow::anyhow!("busy").context("cannot open x: busy; help: wait");
        assert_eq!(lines(twice), "error: cannot open x: busy\n  help: wait");
    }

    #[test]
    fn what_cannot_be_shown_takes_nothing_from_what_was_found() {
        let full = || Err(anyhow::anyhow!("no space left"));
        let closed = || {
            Err(
                anyhow::Error::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe))
                    .context("shown"),
            )
        };
        for (exit, failed, unread) in [
            (Exit::Ok, Exit::Failed, Exit::Ok),
            (Exit::Defective, Exit::Defective, Exit::Defective),
        ] {
            assert_eq!(
                [exit.and(Ok(())), exit.and(full()), exit.and(closed())],
                [exit, failed, unread]
            );
        }
    }
}
