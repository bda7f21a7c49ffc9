//! A worker that keeps to zones (`zonemode=zbd`): each request is given its place when its turn has come.

use super::{Flight, Worker};
use crate::backend::Backend;
use crate::clock::Clock;
use crate::zones::Placed;
use hakaru_model::job::Op;
use hakaru_model::record::StopReason;
use hakaru_model::stream::Request;
use std::ops::ControlFlow::{Break, Continue};

/// What becomes of a request whose turn has come.
pub(super) enum Spot {
    /// It goes there.
    Go(Request),
    /// It is done: a zone was emptied, or the error is counted.
    Done,
    /// Writes of others are in its way.
    Later,
    /// There is nothing left to do.
    Nowhere,
}

impl<B: Backend, C: Clock> Worker<'_, B, C> {
    /// The place of a request, which is where it says unless zones are kept to. With `waits` it is waited for.
    #[inline]
    pub(super) fn find_place(&mut self, request: &Request, at: u64, waits: bool) -> Result<Spot, StopReason> {
        if self.zones.is_none() { Ok(Spot::Go(*request)) } else { self.find_zone(request, at, waits) }
    }

    #[cold]
    fn find_zone(&mut self, request: &Request, at: u64, waits: bool) -> Result<Spot, StopReason> {
        let mut request = *request;
        loop {
            let Some(zones) = &mut self.zones else { return Ok(Spot::Go(request)) };
            let issued = self.clock.now();
            match zones.place(&request) {
                Placed::Go(request) => return Ok(Spot::Go(request)),
                // What cannot be read yet is written first, where the job does both.
                Placed::Nothing if request.op == Op::Read && self.plan.stream.access.does(Op::Write) => {
                    request.op = Op::Write;
                }
                Placed::Nothing => return Ok(Spot::Nowhere),
                Placed::Wait if waits => {
                    zones.wait(&request);
                    let now = self.clock.now();
                    if now >= self.next_look
                        && let Some(stop) = self.event(now)
                    {
                        return Err(stop);
                    }
                }
                Placed::Wait => return Ok(Spot::Later),
                Placed::Emptied(request) => {
                    let done = self.clock.now();
                    let flight = Flight { request, created: at, issued };
                    return match self.finish(&flight, Ok(request.len), done) {
                        Continue(()) => Ok(Spot::Done),
                        Break(stop) => Err(stop),
                    };
                }
                Placed::Failed(request, errno) => {
                    return match self.refuse(&request, errno, issued) {
                        Continue(()) => Ok(Spot::Done),
                        Break(stop) => Err(stop),
                    };
                }
            }
        }
    }

    /// A request has landed.
    #[inline]
    pub(super) fn zone_landed(&self, request: &Request, done: bool) {
        if let Some(zones) = &self.zones {
            zones.landed(request, done);
        }
    }
}
