//! The loop of backends that do one I/O after another.

use super::drive::OneAtATime;
use super::writes::{MARKED, WORTH_A_STAMP};
use super::{InflightIo, Worker};
use crate::backend::SyncBackend;
use crate::clock::Clock;
use hakaru_model::job::Op;
use hakaru_model::record::StopReason;
use hakaru_model::stream::IoRequest;
use std::ops::ControlFlow::Break;

impl<B: SyncBackend, C: Clock> Worker<'_, OneAtATime<B>, C> {
    /// One I/O after another. The end of one is the creation of the next, and its submission too when nothing lies in
    /// between: then one look at the clock does for both, and the few nanoseconds of our own counting are in the
    /// latency rather than hidden from it.
    ///
    /// Compiled three times: `PLAIN` for a plain stream where nothing follows an I/O, `GATED` where each I/O waits for its
    /// turn or is looked at when it is done, and for whatever lies between.
    pub(super) fn drive_one_at_a_time<const PLAIN: bool, const GATED: bool>(
        &mut self,
    ) -> StopReason {
        let refills = self.issue.fills_anew;
        let writes =
            GATED || self.plan.stream.access.does(Op::Write) && (self.issue.scramble || refills);
        let follows = !PLAIN && self.follows();
        if !GATED && (!writes || !refills && self.plan.max_block <= WORTH_A_STAMP) {
            self.account.stats.count_lat_as_clat();
        }
        // What a read will overwrite may be marked too: a mix has no pattern, and a branch not taken costs more than a mark.
        self.issue.marks_all = PLAIN && writes && !refills && self.plan.max_block <= MARKED;
        let mut last = self.clock.now();
        loop {
            let (request, created) = match self.next_request::<PLAIN, GATED>(last) {
                Ok(Some(next)) => next,
                Ok(None) => return StopReason::Done,
                Err(stop) => return stop,
            };
            let mut issued = created;
            if writes {
                if self.issue.marks_all || request.op == Op::Write {
                    self.issue.fill_write(&mut self.account.check, 0, &request);
                }
                if GATED || self.issue.fills_slowly(&request) {
                    issued = self.clock.now();
                }
            }
            let result = self.issue.backend.transfer(&request);
            let done = self.clock.now();
            let flight = InflightIo {
                request,
                created,
                issued,
            };
            if let Break(stop) = self.finish(&flight, result, done) {
                return stop;
            }
            last = done;
            if GATED
                && result.is_ok_and(|moved| moved > 0)
                && let Some(stop) = self.look_at(&flight, done)
            {
                return stop;
            }
            if follows {
                match self.follow_up(0, &flight, result, done, true) {
                    Ok(now) => last = now,
                    Err(stop) => return stop,
                }
            }
            if GATED {
                last = self.clock.now();
            }
            if last >= self.time.next_event {
                if let Some(stop) = self.event(last) {
                    return stop;
                }
                // What was due took its time, which is none of the next I/O.
                last = self.clock.now();
            }
        }
    }
    /// The next request, with the moment its latency counts from: `last`, unless it had to wait.
    #[inline(always)]
    fn next_request<const PLAIN: bool, const GATED: bool>(
        &mut self,
        last: u64,
    ) -> Result<Option<(IoRequest, u64)>, StopReason> {
        if GATED {
            return self.wait_for_turn();
        }
        let request = if PLAIN {
            self.source.stream.as_plain().and_then(Iterator::next)
        } else {
            self.source.stream.next()
        };
        Ok(request.map(|request| (request, last)))
    }
}
