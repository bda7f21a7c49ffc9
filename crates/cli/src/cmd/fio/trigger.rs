//! `--trigger-file`, `--trigger-timeout` and `--trigger`: end all jobs early, then run a command.

use hakaru_dialects::fio::Trigger;
use std::process::Command;
use std::time::Duration;

/// Whether the trigger file exists or its timeout has passed. `since_start` is the time since the start of the run.
pub(super) fn is_due(trigger: &Trigger, since_start: Duration) -> bool {
    let over = |time: hakaru_model::units::Nanos| since_start >= Duration::from_nanos(time.0);
    trigger.timeout.is_some_and(over) || trigger.file.as_ref().is_some_and(|file| file.exists())
}

/// Removes the trigger file, so that it triggers only once, and runs the command. The jobs have ended and their verify
/// state is saved, because the command may cut the power.
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
