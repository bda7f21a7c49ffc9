//! Conditions that delay the next I/O: rates, pauses, flow shares, and overlapping I/Os.
//!
//! Only jobs with one of these options use this code.

use super::Worker;
use super::drive::Drive;
use super::in_flight::{InFlight, InflightIo};
use super::zoned::ZonedIo;
use crate::clock::Clock;
use crate::pace::ThinkPause;
use hakaru_model::record::{FailureKind, StopReason};
use hakaru_model::stream::IoRequest;

/// Decision about the next request of a queue.
pub(super) enum NextIo {
    /// Issue it now; its latency counts from this time.
    Go(IoRequest, u64),
    /// Cannot be issued yet.
    Later,
    /// No more I/Os, or the run ends.
    End(Option<StopReason>),
}

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Waits until the next request of a synchronous engine may be issued. Returns it with the start time of its
    /// latency.
    pub(super) fn wait_for_turn(&mut self) -> Result<Option<(IoRequest, u64)>, StopReason> {
        if self.source.replay.is_some() {
            return self.wait_for_traced();
        }
        loop {
            let Some((request, at)) = self.wait_for_request()? else {
                return Ok(None);
            };
            match self.find_place(&request, at, true)? {
                ZonedIo::Go(request) => return Ok(Some((request, at))),
                ZonedIo::Nowhere => return Ok(None),
                ZonedIo::Done | ZonedIo::Later => {}
            }
        }
    }

    fn wait_for_request(&mut self) -> Result<Option<(IoRequest, u64)>, StopReason> {
        if let Some(pause) = self.source.pause_due(&self.clock)
            && let Some(stop) = self.rest(pause)
        {
            return Err(stop);
        }
        self.wait_for_flow()?;
        if self.source.begins_loop() {
            self.renew_files()?;
        }
        let Some(request) = self.source.draw(&self.clock) else {
            return Ok(None);
        };
        let now = self.clock.now();
        let due = self.source.due(&request, now, &self.clock);
        if let Some(stop) = self.sleep_until(due.at) {
            return Err(stop);
        }
        let now = self.clock.now();
        Ok(Some((request, if due.open_loop { due.at } else { now })))
    }

    /// Like [`Worker::wait_for_turn`] for a queue, which continues with the I/Os in flight.
    pub(super) fn careful_turn(&mut self, q: &InFlight) -> NextIo {
        if self.source.replay.is_some() {
            return self.traced_turn(q);
        }
        let others_in_flight = q.count() > 0;
        if self.source.held.is_none() {
            match self.source.pause_due(&self.clock) {
                Some(pause) if pause.alone && others_in_flight => return NextIo::Later,
                Some(pause) => {
                    if let Some(stop) = self.rest(pause) {
                        return NextIo::End(Some(stop));
                    }
                }
                None => {}
            }
            if self.source.is_ahead() {
                if others_in_flight {
                    return NextIo::Later;
                }
                if let Err(stop) = self.wait_for_flow() {
                    return NextIo::End(Some(stop));
                }
            }
        }
        if self.source.held.is_none() && self.source.begins_loop() {
            if others_in_flight {
                return NextIo::Later;
            }
            if let Err(stop) = self.renew_files() {
                return NextIo::End(Some(stop));
            }
        }
        let now = self.clock.now();
        let (request, due) = match self.source.held.take() {
            Some(held) => held,
            None => {
                let Some(request) = self.source.draw(&self.clock) else {
                    return NextIo::End(None);
                };
                (request, self.source.due(&request, now, &self.clock))
            }
        };
        if now >= due.at && !(self.plan.queue.serialize_overlap && overlaps(q, &request)) {
            let at = if due.open_loop { due.at } else { now };
            match self.find_place(&request, at, !others_in_flight) {
                Ok(ZonedIo::Go(request)) => return NextIo::Go(request, at),
                Ok(ZonedIo::Done) => return NextIo::Later,
                Ok(ZonedIo::Nowhere) if !others_in_flight => return NextIo::End(None),
                // I/Os in flight may free a zone for it.
                Ok(ZonedIo::Nowhere | ZonedIo::Later) => {
                    self.source.held = Some((request, due));
                    return NextIo::Later;
                }
                Err(stop) => return NextIo::End(Some(stop)),
            }
        }
        self.source.held = Some((request, due));
        if others_in_flight {
            return NextIo::Later;
        }
        self.clock
            .sleep_until(due.at.min(now + self.clock.ticks(self.time.glance)));
        match self.look_up() {
            Some(stop) => NextIo::End(Some(stop)),
            None => NextIo::Later,
        }
    }

    /// Pauses, and checks meanwhile whether the run ends.
    fn rest(&mut self, pause: ThinkPause) -> Option<StopReason> {
        let begun = self.clock.now();
        let (busy, end) = (
            begun + self.clock.ticks(pause.spin),
            begun + self.clock.ticks(pause.whole),
        );
        while !C::VIRTUAL && self.clock.now() < busy {
            std::hint::spin_loop();
            if let Some(stop) = self.look_up() {
                return Some(stop);
            }
        }
        let stop = self.sleep_until(end);
        let now = self.clock.now();
        if let Some(pacer) = &mut self.source.pacer {
            pacer.paused(begun, now);
        }
        stop
    }

    /// Removes and recreates the files before a loop.
    #[cold]
    fn renew_files(&mut self) -> Result<(), StopReason> {
        let Some(recreation) = &mut self.source.recreation else {
            return Ok(());
        };
        let regions = self.plan.stream.regions.len() as u32;
        let Err((region, errno)) = recreation.renew(regions, &mut self.issue.backend) else {
            return Ok(());
        };
        let now = self.clock.now();
        self.note_error("open", FailureKind::File, region, errno, now);
        Err(StopReason::Error)
    }

    fn wait_for_flow(&mut self) -> Result<(), StopReason> {
        while let Some(flow) = self.source.flow.as_ref().filter(|flow| flow.is_ahead()) {
            let nap = self.clock.ticks(flow.nap());
            self.clock.sleep_until(self.clock.now() + nap);
            if let Some(stop) = self.look_up() {
                return Err(stop);
            }
        }
        Ok(())
    }

    fn sleep_until(&mut self, moment: u64) -> Option<StopReason> {
        loop {
            let now = self.clock.now();
            if now >= moment {
                return None;
            }
            self.clock
                .sleep_until(moment.min(now + self.clock.ticks(self.time.glance)));
            if let Some(stop) = self.look_up() {
                return Some(stop);
            }
        }
    }

    /// Handles due events.
    pub(super) fn look_up(&mut self) -> Option<StopReason> {
        let now = self.clock.now();
        if now >= self.time.next_look {
            self.event(now)
        } else {
            None
        }
    }
}

/// Whether any I/O in flight overlaps the bytes of this one.
fn overlaps(q: &InFlight, request: &IoRequest) -> bool {
    let IoRequest {
        region,
        offset,
        len,
        ..
    } = *request;
    let touches = |flight: &InflightIo| {
        let other = &flight.request;
        other.region == region
            && other.offset < offset + u64::from(len)
            && offset < other.offset + u64::from(other.len)
    };
    let busy =
        |slot: &usize| !q.free.contains(&(*slot as u32)) && !q.parked.contains(&(*slot as u32));
    (0..q.flights.len())
        .filter(busy)
        .any(|slot| touches(&q.flights[slot]))
}
