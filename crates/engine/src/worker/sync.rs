//! The loop of backends that perform one I/O at a time.

use super::Worker;
use super::drive::OneAtATime;
use super::in_flight::InflightIo;
use super::writes::{MARKED, WORTH_A_STAMP};
use crate::backend::SyncBackend;
use crate::clock::Clock;
use hakaru_model::job::Op;
use hakaru_model::record::StopReason;
use std::ops::ControlFlow::Break;

impl<B: SyncBackend, C: Clock> Worker<'_, OneAtATime<B>, C> {
    /// Runs one I/O after another. The end of one I/O is the creation time of the next, and its
    /// submission time if nothing is in between. One clock reading serves both, so the latency
    /// includes a few nanoseconds of accounting.
    ///
    /// Compiled three times: `PLAIN` for a plain stream without follow-up, `GATED` if each I/O
    /// waits for its turn or is inspected on completion, and once for everything in between.
    pub(super) fn drive_one_at_a_time<const PLAIN: bool, const GATED: bool>(
        &mut self,
    ) -> StopReason {
        let writes = self.prepare_marks::<PLAIN, GATED>();
        let marks_all = PLAIN && self.issue.marks_all;
        let follows = !PLAIN && self.follows();
        let mut last = self.clock.now();
        loop {
            let mut created = last;
            // Returning the request in a tuple would copy it at each I/O.
            let next = if GATED {
                match self.wait_for_turn() {
                    Ok(turn) => turn.map(|(request, at)| {
                        created = at;
                        request
                    }),
                    Err(stop) => return stop,
                }
            } else if PLAIN {
                self.source.stream.as_plain().and_then(Iterator::next)
            } else {
                self.source.stream.next()
            };
            let Some(request) = next else {
                return StopReason::Done;
            };
            let mut issued = created;
            if writes && marks_all {
                self.issue.mark_write(0, &request);
            } else if writes {
                if request.op == Op::Write {
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
                if !PLAIN && self.account.recorder.is_some() {
                    self.note_issue(&flight.request, flight.issued);
                }
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
                // The time of due events must not count for the next I/O.
                last = self.clock.now();
            }
        }
    }
    /// Determines how writes are marked and which latencies differ. Returns whether buffers must be filled at all.
    fn prepare_marks<const PLAIN: bool, const GATED: bool>(&mut self) -> bool {
        let refills = self.issue.fills_anew;
        let writes =
            GATED || self.plan.stream.access.does(Op::Write) && (self.issue.scramble || refills);
        if !GATED && (!writes || !refills && self.plan.max_block <= WORTH_A_STAMP) {
            self.account.stats.count_lat_as_clat();
        }
        // Buffers of reads may be marked too: the order of a mix is random, and a mispredicted branch costs more than
        // a mark.
        self.issue.marks_all = PLAIN && writes && !refills && self.plan.max_block <= MARKED;
        writes
    }
}
