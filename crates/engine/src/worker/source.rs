//! The source of a worker's I/Os: which request comes next, and when it may be issued.

use super::context::WorkerContext;
use super::recreate::FileRecreation;
use super::replay::ReplayCursor;
use crate::clock::Clock;
use crate::files::FileRecreator;
use crate::flow::FlowMember;
use crate::pace::{Due, Pacer, ThinkPause};
use crate::zones::ZoneCursor;
use hakaru_model::stream::{IoRequest, RequestStream, StreamPlan};

/// The requests of a worker, and the options that may delay them.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) stream: RequestStream,
    /// The trace to replay instead of a stream.
    pub(super) replay: Option<ReplayCursor<'a>>,
    pub(super) pacer: Option<Pacer>,
    /// A paced request that is not due yet.
    pub(super) held: Option<(IoRequest, Due)>,
    pub(super) flow: Option<FlowMember>,
    pub(super) zones: Option<Box<ZoneCursor>>,
    pub(super) recreation: Option<Box<FileRecreation<'a>>>,
    /// Whether each I/O must pass a check before it is issued.
    pub(super) gated: bool,
}

impl<'a> Source<'a> {
    /// Creates the source of a plan. With `zones`, the stream uses whole zones.
    pub(super) fn new(
        context: &WorkerContext<'a>,
        zones: Option<(ZoneCursor, StreamPlan)>,
        recreator: Option<FileRecreator<'a>>,
    ) -> Source<'a> {
        let plan = context.plan;
        let (zones, zoned) = zones.unzip();
        let pacer = Pacer::new(&plan.rate, &plan.stream.access, plan.seed)
            .map(|pacer| pacer.open_loop(plan.queue.offload));
        let flow = FlowMember::new(&context.shared.flows, context.index, plan.rate.flow);
        let recreation = FileRecreation::new(plan, recreator);
        let replay = plan.replay.as_deref().map(ReplayCursor::new);
        let gated = replay.is_some()
            || plan.queue.serialize_overlap
            || pacer.is_some()
            || flow.is_some()
            || recreation.is_some()
            || zones.is_some();
        Source {
            stream: zoned.as_ref().unwrap_or(&plan.stream).requests(),
            replay,
            pacer,
            held: None,
            flow,
            zones: zones.map(Box::new),
            recreation,
            gated,
        }
    }

    /// Returns the next request; with several operations, one whose rate allows it.
    pub(super) fn draw(&mut self, clock: &impl Clock) -> Option<IoRequest> {
        if let Some(flow) = &mut self.flow {
            flow.count();
        }
        match &self.pacer {
            None => self.stream.next(),
            Some(pacer) => {
                let now = clock.now();
                self.stream.next_steered(|op| pacer.steer(op, now))
            }
        }
    }

    /// Returns when a request is due: now, unless it has a rate limit.
    pub(super) fn due(&mut self, request: &IoRequest, now: u64, clock: &impl Clock) -> Due {
        let at_once = Due {
            at: now,
            open_loop: false,
        };
        self.pacer.as_mut().map_or(at_once, |pacer| {
            pacer.due(request, |nanos| clock.ticks(nanos))
        })
    }

    pub(super) fn pause_due(&self, clock: &impl Clock) -> Option<ThinkPause> {
        self.pacer
            .as_ref()?
            .pause(clock.now(), |nanos| clock.ticks(nanos))
    }

    /// Returns when the delayed request is due.
    pub(super) fn next_due(&self, clock: &impl Clock) -> Option<u64> {
        let traced = || self.replay.as_ref()?.peek(clock).map(|(_, due)| due);
        self.held.as_ref().map(|(_, due)| due.at).or_else(traced)
    }

    /// Whether another worker of the flow is behind its share.
    pub(super) fn is_ahead(&self) -> bool {
        self.flow.as_ref().is_some_and(FlowMember::is_ahead)
    }

    /// Whether a loop has ended and another follows. Nothing may be in flight then.
    pub(super) fn begins_loop(&self) -> bool {
        let left = self.stream.bytes_left();
        self.recreation
            .as_ref()
            .is_some_and(|recreation| recreation.begins_loop(left))
    }

    /// Releases the zone of a completed request.
    #[inline]
    pub(super) fn release_zone(&self, request: &IoRequest, done: bool) {
        if let Some(zones) = &self.zones {
            zones.landed(request, done);
        }
    }
}
