//! Replays a recorded stream of requests: each is due at its moment, whatever became of those before it.

use super::{InFlight, InflightIo, Worker};
use crate::backend::{Backend, SyncKind};
use crate::clock::Clock;
use hakaru_model::job::Op;
use hakaru_model::record::StopReason;
use hakaru_model::replay::{Trace, TraceAction, TraceStep};
use hakaru_model::stream::IoRequest;
use std::ops::ControlFlow;

impl<B: Backend, C: Clock> Worker<'_, B, C> {
    /// Does what a trace says. Ends early when time is over, somebody stops it, or an error forbids to go on.
    pub(super) fn replay(&mut self, trace: &Trace) -> StopReason {
        let begun = self.clock.now();
        if B::QUEUED {
            return self.replay_in_queue(trace, begun);
        }
        for step in &trace.steps {
            let done = match self.wait_for_step(step, begun) {
                Ok(now) => self.replay_one(step, now),
                Err(stop) => return stop,
            };
            let stop = match done {
                Ok(now) if now >= self.time.next_look => self.event(now),
                Ok(_) => None,
                Err(stop) => Some(stop),
            };
            if let Some(stop) = stop {
                return stop;
            }
        }
        StopReason::Done
    }

    /// Sleeps until a step is due. Returns the moment it may go.
    fn wait_for_step(&mut self, step: &TraceStep, begun: u64) -> Result<u64, StopReason> {
        let due = begun.saturating_add(self.clock.ticks(step.at.0));
        loop {
            let now = self.clock.now();
            if now >= due {
                return Ok(now);
            }
            self.clock.sleep_until(due.min(self.time.next_look));
            let now = self.clock.now();
            if now >= self.time.next_look
                && let Some(stop) = self.event(now)
            {
                return Err(stop);
            }
        }
    }

    /// One step of an engine that answers at once. Returns the moment it is done.
    fn replay_one(&mut self, step: &TraceStep, created: u64) -> Result<u64, StopReason> {
        let request = match step.action {
            TraceAction::Io(request) => request,
            TraceAction::Sync(file) => return Ok(self.sync(file, SyncKind::Full)),
            TraceAction::DataSync(file) => return Ok(self.sync(file, SyncKind::Data)),
        };
        if request.op == Op::Write {
            self.issue.fill_write(&mut self.account.check, 0, &request);
        }
        let flight = InflightIo {
            request,
            created,
            issued: self.clock.now(),
        };
        let result = self.issue.backend.transfer(&request);
        let done = self.clock.now();
        if let ControlFlow::Break(stop) = self.finish(&flight, result, done) {
            return Err(stop);
        }
        if self.account.inspects_each
            && result.is_ok_and(|moved| moved > 0)
            && let Some(stop) = self.look_at(&flight, done)
        {
            return Err(stop);
        }
        if self.follows() {
            self.follow_up(0, &flight, result, done, true)
        } else {
            Ok(done)
        }
    }

    /// The same for engines with a queue: a step waits for those before it only when the queue is full.
    fn replay_in_queue(&mut self, trace: &Trace, begun: u64) -> StopReason {
        let mut q = self.queue();
        for step in &trace.steps {
            let due = begun.saturating_add(self.clock.ticks(step.at.0));
            if let Some(stop) = self.wait_in_queue(&mut q, due) {
                return self.land_all(&mut q, stop);
            }
            match step.action {
                TraceAction::Io(request) => self.send(&mut q, &request),
                TraceAction::Sync(file) => _ = self.sync(file, SyncKind::Full),
                TraceAction::DataSync(file) => _ = self.sync(file, SyncKind::Data),
            }
        }
        self.land_all(&mut q, StopReason::Done)
    }

    /// Lets I/Os land until the next is due and has room. Returns why there will be no next.
    fn wait_in_queue(&mut self, q: &mut InFlight, due: u64) -> Option<StopReason> {
        loop {
            let now = self.clock.now();
            let event = if now >= self.time.next_event {
                self.event_of_queue(q, now)
            } else {
                None
            };
            if let Some(stop) = q.stop.or(event) {
                return Some(stop);
            }
            if now >= due && !q.free.is_empty() {
                return None;
            }
            self.hand_over(q, 0);
            if q.count() == 0 {
                self.clock.sleep_until(due.min(self.time.next_look));
                continue;
            }
            if let Err(stop) = self.collect(q, 1) {
                return Some(stop);
            }
        }
    }

    fn send(&mut self, q: &mut InFlight, request: &IoRequest) {
        let Some(slot) = q.free.pop() else { return };
        let now = self.clock.now();
        self.ready_slot(slot, request);
        self.issue.backend.prepare(slot, request);
        q.flights[slot as usize] = InflightIo {
            request: *request,
            created: now,
            issued: now,
        };
        q.fresh.push(slot);
        self.hand_over(q, 0);
    }

    /// Waits for what is in flight.
    fn land_all(&mut self, q: &mut InFlight, stop: StopReason) -> StopReason {
        while q.count() > 0 {
            self.hand_over(q, 0);
            match self.collect(q, 1) {
                Ok(now) if self.account.inspects_each => {
                    q.stop = q.stop.or(self.event_of_queue(q, now))
                }
                Ok(_) => {}
                Err(stop) => return stop,
            }
        }
        q.stop.unwrap_or(stop)
    }
}
