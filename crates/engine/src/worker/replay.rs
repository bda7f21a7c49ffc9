//! Replays a recorded stream of requests: each is due at its timestamp, independent of earlier
//! ones.

use crate::clock::Clock;
use hakaru_model::replay::{Trace, TraceAction, TraceStep};

/// Remaining steps of a trace.
#[derive(Debug)]
pub(super) struct ReplayCursor<'a> {
    steps: std::slice::Iter<'a, TraceStep>,
    /// Start time of the trace.
    begun: u64,
}

impl<'a> ReplayCursor<'a> {
    pub(super) fn new(trace: &'a Trace) -> ReplayCursor<'a> {
        ReplayCursor {
            steps: trace.steps.iter(),
            begun: 0,
        }
    }

    /// Sets the start time of the trace.
    pub(super) fn begin(&mut self, now: u64) {
        self.begun = now;
    }

    /// Returns the next step, and when it is due.
    pub(super) fn peek(&self, clock: &impl Clock) -> Option<(TraceAction, u64)> {
        let step = self.steps.as_slice().first()?;
        Some((
            step.action,
            self.begun.saturating_add(clock.ticks(step.at.0)),
        ))
    }

    /// Marks the next step as done.
    pub(super) fn advance(&mut self) {
        self.steps.next();
    }
}
