//! Whether the next I/O may go: rates, pauses, shares of a flow, I/Os that must not overlap.
//!
//! Only jobs that were asked for any of these come here.

use super::zoned::ZonedIo;
use super::{Due, InFlight, InflightIo, Worker, WorkerContext};
use crate::backend::Backend;
use crate::clock::Clock;
use crate::pace::ThinkPause;
use hakaru_model::job::rules::FlowShare;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::StopReason;
use hakaru_model::stream::IoRequest;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Whether the next request of a queue may go.
pub(super) enum NextIo {
    /// Now; its latency counts from this moment.
    Go(IoRequest, u64),
    /// Not yet.
    Later,
    /// There is none, or the run ends.
    End(Option<StopReason>),
}

/// I/Os of the workers of a phase, each divided by its weight, in thousandths: `None` for those in no flow.
#[derive(Debug, Default)]
pub(crate) struct FlowCounters(Vec<Option<(u32, Arc<AtomicU64>)>>);

/// A worker that is done holds nobody back.
const DONE: u64 = u64::MAX;

impl FlowCounters {
    pub(crate) fn new(workers: &[WorkerPlan]) -> FlowCounters {
        let counter = |share: FlowShare| (share.id, Arc::new(AtomicU64::new(0)));
        FlowCounters(
            workers
                .iter()
                .map(|worker| worker.rate.flow.map(counter))
                .collect(),
        )
    }

    /// A worker is done.
    pub(crate) fn leave(&self, worker: usize) {
        if let Some(Some((_, counter))) = self.0.get(worker) {
            counter.store(DONE, Relaxed);
        }
    }
}

/// The place of one worker in its flow.
#[derive(Debug)]
pub(super) struct FlowMember {
    share: FlowShare,
    mine: Arc<AtomicU64>,
    others: Vec<Arc<AtomicU64>>,
    /// I/Os issued.
    ios: u64,
}

impl FlowMember {
    pub(super) fn of(around: &WorkerContext<'_>, plan: &WorkerPlan) -> Option<FlowMember> {
        let share = plan.rate.flow?;
        let seats = &around.shared.flows.0;
        let mine = seats.get(around.index)?.as_ref()?.1.clone();
        let others = seats
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != around.index)
            .filter_map(|(_, seat)| seat.as_ref());
        let others = others
            .filter(|(id, _)| *id == share.id)
            .map(|(_, counter)| counter.clone())
            .collect();
        Some(FlowMember {
            share,
            mine,
            others,
            ios: 0,
        })
    }

    /// Whether another is behind its share by more than one I/O of this worker.
    fn is_ahead(&self) -> bool {
        let slowest = self
            .others
            .iter()
            .map(|counter| counter.load(Relaxed))
            .min()
            .unwrap_or(DONE);
        let step = 1000 / u64::from(self.share.weight);
        slowest != DONE && self.mine.load(Relaxed) > slowest.saturating_add(step)
    }

    fn count(&mut self) {
        self.ios += 1;
        self.mine
            .store(self.ios * 1000 / u64::from(self.share.weight), Relaxed);
    }
}

impl<B: Backend, C: Clock> Worker<'_, B, C> {
    /// The next request of an engine that answers at once, when it may go, with the moment its latency counts from.
    pub(super) fn wait_for_turn(&mut self) -> Result<Option<(IoRequest, u64)>, StopReason> {
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
        if let Some(pause) = self.pause_due()
            && let Some(stop) = self.rest(pause)
        {
            return Err(stop);
        }
        self.wait_for_flow()?;
        if self.begins_loop() {
            self.renew_files()?;
        }
        let Some(request) = self.draw() else {
            return Ok(None);
        };
        let now = self.clock.now();
        let due = self.due(&request, now);
        if let Some(stop) = self.sleep_until(due.at) {
            return Err(stop);
        }
        let now = self.clock.now();
        Ok(Some((request, if due.open_loop { due.at } else { now })))
    }

    /// The same for a queue, which goes on with what is in flight meanwhile.
    pub(super) fn careful_turn(&mut self, q: &InFlight) -> NextIo {
        let others_in_flight = q.count() > 0;
        if self.held.is_none() {
            match self.pause_due() {
                Some(pause) if pause.alone && others_in_flight => return NextIo::Later,
                Some(pause) => {
                    if let Some(stop) = self.rest(pause) {
                        return NextIo::End(Some(stop));
                    }
                }
                None => {}
            }
            if self.flow.as_ref().is_some_and(FlowMember::is_ahead) {
                if others_in_flight {
                    return NextIo::Later;
                }
                if let Err(stop) = self.wait_for_flow() {
                    return NextIo::End(Some(stop));
                }
            }
        }
        if self.held.is_none() && self.begins_loop() {
            if others_in_flight {
                return NextIo::Later;
            }
            if let Err(stop) = self.renew_files() {
                return NextIo::End(Some(stop));
            }
        }
        let now = self.clock.now();
        let (request, due) = match self.held.take() {
            Some(held) => held,
            None => {
                let Some(request) = self.draw() else {
                    return NextIo::End(None);
                };
                (request, self.due(&request, now))
            }
        };
        if now >= due.at && !(self.plan.queue.serialize_overlap && overlaps(q, &request)) {
            let at = if due.open_loop { due.at } else { now };
            match self.find_place(&request, at, !others_in_flight) {
                Ok(ZonedIo::Go(request)) => return NextIo::Go(request, at),
                Ok(ZonedIo::Done) => return NextIo::Later,
                Ok(ZonedIo::Nowhere) if !others_in_flight => return NextIo::End(None),
                // What is in flight may make a place for it.
                Ok(ZonedIo::Nowhere | ZonedIo::Later) => {
                    self.held = Some((request, due));
                    return NextIo::Later;
                }
                Err(stop) => return NextIo::End(Some(stop)),
            }
        }
        self.held = Some((request, due));
        if others_in_flight {
            return NextIo::Later;
        }
        self.clock
            .sleep_until(due.at.min(now + self.clock.ticks(self.glance)));
        match self.look_up() {
            Some(stop) => NextIo::End(Some(stop)),
            None => NextIo::Later,
        }
    }

    /// The next request: of several operations, one whose rate lets it go.
    fn draw(&mut self) -> Option<IoRequest> {
        if let Some(flow) = &mut self.flow {
            flow.count();
        }
        match &self.pacer {
            None => self.stream.next(),
            Some(pacer) => {
                let now = self.clock.now();
                self.stream.next_steered(|op| pacer.steer(op, now))
            }
        }
    }

    fn due(&mut self, request: &IoRequest, now: u64) -> Due {
        let Worker { pacer, clock, .. } = self;
        let free = Due {
            at: now,
            open_loop: false,
        };
        pacer
            .as_mut()
            .map_or(free, |pacer| pacer.due(request, |nanos| clock.ticks(nanos)))
    }

    fn pause_due(&self) -> Option<ThinkPause> {
        self.pacer
            .as_ref()?
            .pause(self.clock.now(), |nanos| self.clock.ticks(nanos))
    }

    /// Pauses, and hears meanwhile whether the run ends.
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
        if let Some(pacer) = &mut self.pacer {
            pacer.paused(begun, now);
        }
        stop
    }

    fn wait_for_flow(&mut self) -> Result<(), StopReason> {
        while let Some(flow) = self.flow.as_ref().filter(|flow| flow.is_ahead()) {
            let nap = self.clock.ticks(flow.share.sleep.0.max(20_000));
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
                .sleep_until(moment.min(now + self.clock.ticks(self.glance)));
            if let Some(stop) = self.look_up() {
                return Some(stop);
            }
        }
    }

    /// Does whatever is due now.
    fn look_up(&mut self) -> Option<StopReason> {
        let now = self.clock.now();
        if now >= self.next_look {
            self.event(now)
        } else {
            None
        }
    }
}

/// Whether any I/O in flight touches the bytes of this one.
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
