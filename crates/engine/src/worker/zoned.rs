//! A worker with zones (`zonemode=zbd`): each request gets its offset when it is about to be
//! issued.

use super::Worker;
use super::drive::Drive;
use super::in_flight::InflightIo;
use crate::clock::Clock;
use crate::zones::ZonePlacement;
use hakaru_model::job::Op;
use hakaru_model::record::StopReason;
use hakaru_model::stream::IoRequest;
use std::ops::ControlFlow::{Break, Continue};

/// Result of placing a request in a zone.
pub(super) enum ZonedIo {
    /// Issue this request.
    Go(IoRequest),
    /// Nothing to issue: a zone was reset, or the error was counted.
    Done,
    /// Writes of other workers block it.
    Later,
    /// No work remains.
    Nowhere,
}

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Returns the offset of a request; unchanged without zones. With `waits`, waits until it can
    /// be placed.
    #[inline]
    pub(super) fn find_place(
        &mut self,
        request: &IoRequest,
        at: u64,
        waits: bool,
    ) -> Result<ZonedIo, StopReason> {
        if self.source.zones.is_none() {
            Ok(ZonedIo::Go(*request))
        } else {
            self.find_zone(request, at, waits)
        }
    }

    #[cold]
    fn find_zone(
        &mut self,
        request: &IoRequest,
        at: u64,
        waits: bool,
    ) -> Result<ZonedIo, StopReason> {
        let mut request = *request;
        loop {
            let Some(zones) = &mut self.source.zones else {
                return Ok(ZonedIo::Go(request));
            };
            let issued = self.clock.now();
            match zones.place(&request) {
                ZonePlacement::Go(request) => return Ok(ZonedIo::Go(request)),
                // If there is nothing to read yet, a job that also writes continues with writes.
                ZonePlacement::Nothing
                    if request.op == Op::Read && self.plan.stream.access.does(Op::Write) =>
                {
                    request.op = Op::Write;
                }
                ZonePlacement::Nothing => return Ok(ZonedIo::Nowhere),
                ZonePlacement::Wait if waits => {
                    zones.wait(&request);
                    let now = self.clock.now();
                    if now >= self.time.next_look
                        && let Some(stop) = self.event(now)
                    {
                        return Err(stop);
                    }
                }
                ZonePlacement::Wait => return Ok(ZonedIo::Later),
                ZonePlacement::Emptied(request) => {
                    let done = self.clock.now();
                    let flight = InflightIo {
                        request,
                        created: at,
                        issued,
                    };
                    return match self.finish(&flight, Ok(request.len), done) {
                        Continue(()) => Ok(ZonedIo::Done),
                        Break(stop) => Err(stop),
                    };
                }
                ZonePlacement::Failed(request, errno) => {
                    return match self.refuse(&request, errno, issued) {
                        Continue(()) => Ok(ZonedIo::Done),
                        Break(stop) => Err(stop),
                    };
                }
            }
        }
    }
}
