//! Waiting for the requests of a trace, and its flushes between them.

use super::Worker;
use super::drive::Drive;
use super::in_flight::InFlight;
use super::next_io::NextIo;
use crate::backend::SyncKind;
use crate::clock::Clock;
use hakaru_model::record::StopReason;
use hakaru_model::replay::TraceAction;
use hakaru_model::stream::IoRequest;

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Sleeps until the next request of a trace is due, and performs the flushes before it. Returns the request with
    /// its due time.
    pub(super) fn wait_for_traced(&mut self) -> Result<Option<(IoRequest, u64)>, StopReason> {
        while let Some((action, due)) = self.traced() {
            let now = self.clock.now();
            if now < due {
                self.clock.sleep_until(due.min(self.time.next_look));
                if let Some(stop) = self.look_up() {
                    return Err(stop);
                }
            } else if let Some(request) = self.take_traced(action) {
                return Ok(Some((request, now)));
            } else if let Some(stop) = self.look_up() {
                return Err(stop);
            }
        }
        Ok(None)
    }

    /// Like [`Worker::wait_for_traced`] for a queue, which continues with the I/Os in flight.
    pub(super) fn traced_turn(&mut self, q: &InFlight) -> NextIo {
        while let Some((action, due)) = self.traced() {
            let now = self.clock.now();
            if now >= due {
                match self.take_traced(action) {
                    Some(request) => return NextIo::Go(request, now),
                    None => continue,
                }
            }
            if q.count() > 0 {
                return NextIo::Later;
            }
            self.clock.sleep_until(due.min(self.time.next_look));
            if let Some(stop) = self.look_up() {
                return NextIo::End(Some(stop));
            }
        }
        NextIo::End(None)
    }

    fn traced(&self) -> Option<(TraceAction, u64)> {
        self.source.replay.as_ref()?.peek(&self.clock)
    }

    /// Takes the next step: returns a request, or performs a flush.
    fn take_traced(&mut self, action: TraceAction) -> Option<IoRequest> {
        if let Some(replay) = &mut self.source.replay {
            replay.advance();
        }
        let (file, kind) = match action {
            TraceAction::Io(request) => return Some(request),
            TraceAction::Sync(file) => (file, SyncKind::Full),
            TraceAction::DataSync(file) => (file, SyncKind::Data),
        };
        self.sync(file, kind);
        None
    }
}
