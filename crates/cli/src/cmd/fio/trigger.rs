//! `--trigger-file`, `--trigger-timeout` and `--trigger`: the end of all jobs before their time, and a command then.

use hakaru_dialects::fio::Trigger;
use std::process::Command;
use std::time::Duration;

/// Whether the jobs are to end now, so long after the run began.
pub(super) fn is_due(trigger: &Trigger, since_start: Duration) -> bool {
    let over = |time: hakaru_model::units::Nanos| since_start >= Duration::from_nanos(time.0);
    trigger.timeout.is_some_and(over) || trigger.file.as_ref().is_some_and(|file| file.exists())
}

/// Removes the file, so that it sets off nothing twice, and runs the command. The jobs have ended, and what they keep of
/// their state is in its files: the command may well cut the power.
pub(super) fn pull(trigger: &Trigger) {
    if let Some(file) = trigger.file.as_ref().filter(|file| file.exists())
        && let Err(error) = std::fs::remove_file(file)
    {
        anstream::eprintln!(
            "fio: cannot remove the trigger file {}: {error}",
            file.display()
        );
    }
    let Some(command) = &trigger.command else {
        return;
    };
    match Command::new("/bin/sh").arg("-c").arg(command).status() {
        Ok(status) if status.success() => {}
        Ok(status) => anstream::eprintln!("fio: the trigger `{command}` ended with {status}"),
        Err(error) => anstream::eprintln!("fio: the trigger `{command}` cannot be run: {error}"),
    }
}
