//! The loop of backends that perform one I/O at a time.

use super::Worker;
use super::drive::OneAtATime;
use super::in_flight::InflightIo;
use super::writes::{MARKED, WORTH_A_STAMP};
use crate::backend::SyncBackend;
use crate::clock::Clock;
use hakaru_model::job::Op;
use hakaru_model::record::StopReason;
use hakaru_model::stream::IoRequest;
use std::ops::ControlFlow::Break;

impl<B: SyncBackend, C: Clock> Worker<'_, OneAtATime<B>, C> {
    /// Runs one I/O after another. The end of one I/O is the creation time of the next, and its
    /// submission time if nothing is in between. One clock reading serves both, so the latency
    /// includes a few nanoseconds of accounting.
    ///
    /// Compiled four times: `PLAIN` for a plain stream without follow-up, the same with `MARKS` if a page is marked for
    /// each I/O, `GATED` if each I/O waits for its turn or is inspected on completion, and once for everything in
    /// between.
    pub(super) fn drive_one_at_a_time<const PLAIN: bool, const GATED: bool, const MARKS: bool>(
        &mut self,
    ) -> StopReason {
        let writes = self.prepare_marks(GATED);
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
            } else if MARKS {
                self.draw_marked()
            } else if PLAIN {
                self.source.stream.as_plain().and_then(Iterator::next)
            } else {
                self.source.stream.next()
            };
            let Some(request) = next else {
                return StopReason::Done;
            };
            let mut issued = created;
            if writes && !MARKS {
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
    /// Returns the next request of a plain stream, and marks the page that it writes.
    ///
    /// Pages of reads are marked too: the order of a mix is random, and a mispredicted branch costs more than a mark.
    #[inline(always)]
    fn draw_marked(&mut self) -> Option<IoRequest> {
        // The page comes first, because the draw takes long: meanwhile, the CPU computes the address of the page.
        let page = self.issue.next_page(0);
        let request = self.source.stream.as_plain()?.next()?;
        if let Some(page) = page {
            page.mark(request.offset);
        }
        Some(request)
    }

    /// Whether a page is marked for each I/O of a plain stream, which is all that its writes need.
    pub(super) fn marks_pages(&mut self) -> bool {
        let block = self.source.stream.as_plain().map(|plain| plain.block());
        self.plan.stream.access.does(Op::Write)
            && self.issue.scramble
            && !self.issue.fills_anew
            && block == Some(MARKED)
    }

    /// Determines which latencies differ. Returns whether buffers must be filled at all.
    fn prepare_marks(&mut self, gated: bool) -> bool {
        let refills = self.issue.fills_anew;
        let writes =
            gated || self.plan.stream.access.does(Op::Write) && (self.issue.scramble || refills);
        if !gated && (!writes || !refills && self.plan.max_block <= WORTH_A_STAMP) {
            self.account.stats.count_lat_as_clat();
        }
        writes
    }
}
