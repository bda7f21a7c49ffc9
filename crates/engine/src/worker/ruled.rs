//! A worker of a job with additional options, which inspects each I/O on completion.
//!
//! Jobs without such options use the plain loops of the parent module.

use super::Worker;
use super::drive::Drive;
use super::in_flight::{InFlight, InflightIo};
use super::limits::SearchStep;
use crate::clock::Clock;
use crate::iolog::{LogSample, Periods};
use crate::shared::Message;
use hakaru_model::job::Op;
use hakaru_model::record::{FailureKind, IoError, StopReason};
use hakaru_model::units::Nanos;
use hakaru_sys::Errno;
use std::time::Duration;

/// Time a worker waits for a free log chunk before it checks whether the receiver still exists.
const PATIENCE: Duration = Duration::from_secs(10);

impl<D: Drive, C: Clock> Worker<'_, D, C> {
    /// Inspects completed I/Os of a queue, and handles due events.
    #[cold]
    pub(super) fn event_of_queue(&mut self, q: &mut InFlight, now: u64) -> Option<StopReason> {
        let mut stop = None;
        if self.account.inspects_each {
            let landed = std::mem::take(&mut self.issue.last_batch).min(q.free.len());
            for at in q.free.len() - landed..q.free.len() {
                let flight = q.flights[q.free[at] as usize];
                if flight.request.len > 0 {
                    stop = stop.or(self.look_at(&flight, now));
                }
            }
            q.keep_depth();
            stop = stop.or_else(|| self.adapt_depth(q, now));
        }
        if now >= self.time.next_look {
            stop = stop.or(self.event(now));
        }
        stop
    }

    pub(super) fn look_at(&mut self, flight: &InflightIo, done: u64) -> Option<StopReason> {
        let InflightIo {
            request,
            created,
            issued,
        } = *flight;
        let since = |moment: u64| self.clock.nanos(done.saturating_sub(moment));
        let (clat, lat) = (since(issued), since(created));
        let at = Nanos(since(self.time.measuring_since));
        let stop = self.judge_latency(flight, Nanos(lat), done);
        self.record_operation(flight, done);
        let Some(log) = self.account.log.as_mut().filter(|_| !self.time.in_ramp) else {
            return stop;
        };
        let measure = &self.plan.measure;
        let latency = [
            measure.slat.then(|| lat.saturating_sub(clat)),
            measure.clat.then_some(clat),
            measure.lat.then_some(lat),
        ];
        let bytes_per_s =
            (u128::from(request.len) * 1_000_000_000 / u128::from(clat.max(1))) as u64;
        let (bytes_per_s, iops) = (Some(bytes_per_s), Some(1));
        let (op, len, offset) = (request.op, request.len, request.offset);
        let issued = Nanos(at.0.saturating_sub(clat));
        if log.take(LogSample {
            at,
            op,
            len,
            offset,
            bytes_per_s,
            iops,
            latency,
            longest: [None; 3],
            issued,
        }) {
            self.send_log();
        }
        stop
    }

    /// Whether this error means that the device is full, which ends a job with `fill_device`.
    pub(super) fn is_full(&self, op: Op, errno: Errno) -> bool {
        self.plan.files.fill_device
            && op == Op::Write
            && matches!(errno, Errno::NOSPC | Errno::DQUOT)
    }

    /// Checks the latency of one I/O against the maximum.
    pub(super) fn judge_latency(
        &mut self,
        flight: &InflightIo,
        lat: Nanos,
        done: u64,
    ) -> Option<StopReason> {
        let limits = self.account.limits.as_mut()?;
        let request = flight.request;
        if let Some(search) = &mut limits.search
            && !self.time.in_ramp
        {
            *(if lat <= search.target.target {
                &mut search.within
            } else {
                &mut search.beyond
            }) += 1;
        }
        let max = limits.max_latency[request.op].filter(|max| lat > *max)?;
        let kind = FailureKind::TooSlow { latency: lat, max };
        let error = self.error(
            request.op.name(),
            kind,
            request.region,
            request.offset,
            request.len,
            Errno::TIMEDOUT,
            done,
        );
        self.account.errors.push_last(IoError {
            op: Some(request.op),
            ..error
        });
        Some(StopReason::Error)
    }

    /// Evaluates the limits that are due.
    pub(super) fn check_limits(&mut self, now: u64) -> Option<StopReason> {
        let limits = self.account.limits.as_mut()?;
        if self.time.in_ramp {
            // Restarted after the ramp time.
            limits.due = u64::MAX;
            return None;
        }
        if now < limits.due {
            return None;
        }
        limits.due = u64::MAX;
        let mut missed = None;
        if let Some(least) = &mut limits.least {
            let cycle = self.clock.ticks(least.rate.cycle.0).max(1);
            let works = |op| !self.account.stats.rests(op);
            missed = least.missed(self.account.stats.totals(), now, cycle, works, |ticks| {
                self.clock.nanos(ticks)
            });
            limits.due = now
                + self
                    .clock
                    .ticks(self.time.glance.min(least.rate.cycle.0))
                    .max(1);
        }
        let mut found = None;
        if let Some(search) = &mut limits.search {
            // The window of a queue is evaluated in [`Worker::adapt_depth`], which has access to
            // the queue.
            if !D::QUEUED && now >= search.window_ends {
                found = search
                    .judge()
                    .filter(|found| *found == SearchStep::Depth(1) && !search.target.keep_running);
                search.restart(now);
            }
            limits.due = limits.due.min(search.window_ends.max(now + 1));
        }
        let Some((op, kind)) = missed else {
            return found.map(|_| StopReason::Done);
        };
        let error = self.error(op.name(), kind, 0, 0, 0, Errno::IO, now);
        self.account.errors.push_last(IoError {
            op: Some(op),
            ..error
        });
        Some(StopReason::Error)
    }

    /// Ends a window of the depth search, and sets the queue depth.
    pub(super) fn adapt_depth(&mut self, q: &mut InFlight, now: u64) -> Option<StopReason> {
        let search = self.account.limits.as_mut()?.search.as_mut()?;
        if self.time.in_ramp || now < search.window_ends {
            return None;
        }
        let found = search.judge();
        search.restart(now);
        let keep_running = search.target.keep_running;
        let depth = match found? {
            SearchStep::Depth(depth) if keep_running => {
                // Continues the search from the current depth.
                (search.low, search.high) = (0, self.plan.queue.iodepth);
                depth
            }
            SearchStep::Depth(depth) => {
                search.depth = depth;
                return Some(StopReason::Done);
            }
            SearchStep::Try(depth) => depth,
        };
        search.depth = depth;
        q.set_depth(depth as usize);
        None
    }

    /// Starts the log with the measurement.
    pub(super) fn begin_log(&mut self, now: u64) {
        let periods = self.log_periods();
        let (ramp, wall_clock) = (self.time.in_ramp, self.context.wall_clock);
        let Some(log) = &mut self.account.log else {
            return;
        };
        if !ramp {
            log.begin(now, wall_clock(), periods);
        }
    }

    /// Completes log windows that have ended; `last` completes all.
    pub(super) fn look_at_log(&mut self, now: u64, last: bool) {
        let periods = self.log_periods();
        let at = Nanos(
            self.clock
                .nanos(now.saturating_sub(self.time.measuring_since)),
        );
        let Some(log) = &mut self.account.log else {
            return;
        };
        if !self.time.in_ramp && log.look(now, at, periods, last, &mut self.account.stats) {
            self.send_log();
        }
    }

    fn log_periods(&self) -> Periods {
        let (window, histogram) = self
            .account
            .log
            .as_ref()
            .map_or((None, None), |log| log.lengths());
        let ticks = |length: Option<Nanos>| length.map(|length| self.clock.ticks(length.0).max(1));
        Periods {
            window: ticks(window),
            histogram: ticks(histogram),
        }
    }

    fn send_log(&mut self) {
        let Some(log) = &mut self.account.log else {
            return;
        };
        let chunks = &self.context.chunks;
        let full = log.exchange(|wait| match wait {
            false => chunks.try_recv().ok(),
            true => chunks.recv_timeout(PATIENCE).ok(),
        });
        // The receiver is gone only when the run is being torn down.
        let _ = self.context.messages.send(Message::Log {
            worker: self.context.index,
            chunk: full,
        });
    }
}
