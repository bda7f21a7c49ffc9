//! A worker among the others: what it waits for, what ends it, and whom it ends.

use super::Worker;
use super::drive::Drive;
use crate::clock::Clock;
use crate::shared::Message;
use crate::worker_setup::{self, command_failed};
use hakaru_model::job::rules::ExitScope;
use hakaru_model::record::{IoError, StopReason};
use hakaru_sys::Errno;
use std::sync::atomic::Ordering::Relaxed;

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Returns the stop reason if the run or another worker ended this worker.
    pub(super) fn stop_requested(&self) -> Option<StopReason> {
        if self.context.shared.stop.load(Relaxed) {
            return Some(StopReason::Stopped);
        }
        self.context.shared.progress[self.context.index]
            .ended
            .load(Relaxed)
            .then_some(StopReason::Ended)
    }

    /// Ends the workers that must end with this one.
    pub(super) fn end_others(&self, stop: StopReason) {
        let exit = &self.plan.termination.exit;
        let scope = if stop == StopReason::Error && exit.on_error {
            Some(ExitScope::All)
        } else {
            exit.ends
        };
        match scope.filter(|_| stop != StopReason::Stopped) {
            None => {}
            Some(ExitScope::Group) => self.context.shared.end(Some(self.plan.group)),
            Some(ExitScope::Phase | ExitScope::All) => self.context.shared.end(None),
        }
    }

    /// Waits for the workers that must finish before this one starts.
    pub(super) fn wait_for_others(&self) {
        if self.context.waits_for.is_empty() {
            return;
        }
        self.clock.step_aside();
        let give_up = || self.stop_requested().is_some();
        self.context
            .shared
            .done
            .wait_for(&self.context.waits_for, give_up);
        self.clock.step_in();
    }

    /// Runs a command of the job. Returns whether it succeeded, because the job may depend on it.
    pub(super) fn run_command(&mut self, when: &str, command: Option<&str>) -> bool {
        let Some(command) = command else { return true };
        match worker_setup::run_command(&self.plan.name, when, command) {
            Ok(status) if status.success() => true,
            Ok(status) => {
                let name = &self.plan.name;
                let action =
                    format!("exec_{when} ({status}; what it printed is in {name}.{when}.txt)");
                let failed = command_failed(when, Errno::CANCELED);
                self.account.errors.push(IoError { action, ..failed });
                false
            }
            Err(errno) => {
                self.account.errors.push(command_failed(when, errno));
                false
            }
        }
    }

    /// Sends partial results if requested.
    pub(super) fn answer_if_asked(&self, now: u64) {
        if self.context.shared.progress[self.context.index]
            .asked
            .swap(false, Relaxed)
        {
            let (worker, record) = (self.context.index, Box::new(self.so_far(now)));
            // The receiver is gone only when the run is being torn down.
            let _ = self
                .context
                .messages
                .send(Message::SoFar { worker, record });
        }
    }
}
