//! The worker: issues one stream of requests and counts the completions.
//!
//! A worker has three parts: `source` determines which I/O comes next and when, `issue` holds the backend and the
//! write content, and `account` counts, verifies and logs. One loop serves backends that perform one I/O at a time
//! (`sync`) and one serves queues (`queue`); each is compiled for the fastest backends, and once for all others
//! (`start/launch.rs`). Replays and verification
//! use the same loops with different requests. Everything that is not needed at each I/O (ticks, the end of the run
//! time, external stops) waits behind one comparison with the time of the next event.

mod account;
mod batch;
mod checked;
mod closing;
mod context;
mod drive;
mod flush;
mod flush_state;
mod in_flight;
mod issue;
mod lifecycle;
mod limits;
mod next_io;
mod operations;
mod own_files;
mod parts;
mod queue;
mod ranges;
mod recreate;
mod replay;
mod ruled;
mod settings;
mod source;
mod steps;
mod sync;
mod timeline;
mod traced;
mod writes;
mod zoned;

pub(crate) use self::context::{PhaseSetup, WorkerContext};
pub(crate) use self::drive::{Drive, OneAtATime, Queued};
pub(crate) use self::parts::WorkerParts;

use self::account::{Account, AccountKind};
use self::in_flight::InflightIo;
use self::issue::Issue;
use self::source::Source;
use self::timeline::WorkerTimes;
use crate::clock::Clock;
use crate::shared::Message;
use crate::worker_setup;
use crate::worker_stats::CompletedIo;
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{FailureKind, IoError, StopReason, WorkerRecord};
use hakaru_model::stream::IoRequest;
use hakaru_model::units::Nanos;
use hakaru_sys::Errno;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::Ordering::Relaxed;

/// Interval in ns at which a worker publishes its progress and checks for a stop request.
const GLANCE: u64 = 20_000_000;

/// The same interval in virtual time, which passes instantly.
const VIRTUAL_GLANCE: u64 = 1_000_000_000;

/// The same interval if the first worker to end also ends the others. It is short because I/Os they issue before they
/// notice ran without the ended worker.
const QUICK_GLANCE: u64 = 1_000_000;

/// A running worker: its request source, its backend and its accounting.
pub(crate) struct Worker<'a, D: Drive, C> {
    context: WorkerContext<'a>,
    plan: &'a WorkerPlan,
    clock: C,
    source: Source<'a>,
    issue: Issue<D::Backend>,
    account: Account,
    time: WorkerTimes,
    /// Whether its thread has its own table of open files.
    own_files: bool,
}

impl<'a, D: Drive, C: Clock> Worker<'a, D, C> {
    /// Creates the worker and fills the buffers, so that nothing is allocated later.
    pub(crate) fn new(parts: WorkerParts<'a>, backend: D::Backend, clock: C) -> Worker<'a, D, C> {
        let WorkerParts {
            context,
            source,
            check,
            recorder,
            own_files,
        } = parts;
        let plan = context.plan;
        let checked = check.as_ref().is_some_and(|check| check.fills());
        let kind = AccountKind {
            queued: D::QUEUED,
            records_operations: context.setup.records_operations && !C::VIRTUAL,
        };
        let glance = match plan.termination.exit.ends {
            Some(_) => QUICK_GLANCE,
            None if C::VIRTUAL => VIRTUAL_GLANCE,
            None => GLANCE,
        };
        Worker {
            context,
            plan,
            clock,
            source,
            issue: Issue::new(plan, backend, checked),
            account: Account::new(plan, check, recorder, kind),
            time: WorkerTimes::new(plan.ramp_time.0 > 0, glance),
            own_files,
        }
    }

    /// Runs to the end and returns the measurements.
    pub(crate) fn run(mut self) -> WorkerRecord {
        self.wait_for_others();
        if self.plan.startdelay.0 > 0 {
            self.wait_for_start();
        }
        let ready = self.run_command("prerun", self.plan.commands.before.as_deref());
        self.begin();
        let stop = match (self.stop_requested(), ready) {
            (Some(stop), _) => stop,
            (None, false) => StopReason::Error,
            (None, true) => self.work(),
        };
        let last = self.clock.now();
        self.end_others(stop);
        let (job, after) = (self.plan.name.as_str(), self.plan.commands.after.as_deref());
        let mut record = self.close(last, stop);
        if let Some(Err(errno)) =
            after.map(|command| worker_setup::run_command(job, "postrun", command))
        {
            record
                .errors
                .push(worker_setup::command_failed("postrun", errno));
        }
        record
    }

    /// Sleeps through `startdelay` in short steps, so that it notices a stop request.
    fn wait_for_start(&mut self) {
        let until = self.clock.now() + self.clock.ticks(self.plan.startdelay.0);
        while self.clock.now() < until && self.stop_requested().is_none() {
            self.clock
                .sleep_until(until.min(self.clock.now() + self.clock.ticks(GLANCE)));
        }
    }

    fn begin(&mut self) {
        if !self.time.in_ramp {
            self.context.shared.disks.open();
        }
        let now = self.clock.now();
        self.time.begun = now;
        self.context.shared.progress[self.context.index]
            .begun
            .store(true, Relaxed);
        self.start_measuring(now);
        if self.time.in_ramp {
            self.time.end = now + self.clock.ticks(self.plan.ramp_time.0);
            self.time.next_tick = u64::MAX;
        }
        if let Some(pacer) = &mut self.source.pacer {
            pacer.begin(now);
        }
        self.look_again(now);
    }

    fn start_measuring(&mut self, now: u64) {
        self.begin_log(now);
        if let Some(limits) = &mut self.account.limits {
            limits.begin(now, |nanos| self.clock.ticks(nanos));
        }
        self.time.measuring_since = now;
        self.account.at_start.thread = hakaru_sys::thread::usage();
        self.account.at_start.waited = if C::VIRTUAL {
            None
        } else {
            crate::host::waited()
        };
        self.time.end = self
            .plan
            .runtime
            .map_or(u64::MAX, |time| now + self.clock.ticks(time.0));
        self.time.next_tick = now + self.clock.ticks(self.plan.measure.tick.0);
    }

    /// Sets the time of the next event check. A queue whose I/Os are inspected one by one checks after every
    /// completion.
    fn look_again(&mut self, now: u64) {
        self.time.next_look = self.due_next(now);
        self.time.next_event = if D::QUEUED && self.account.inspects_each {
            0
        } else {
            self.time.next_look
        };
    }

    fn due_next(&self, now: u64) -> u64 {
        let log = self.account.log.as_ref().map_or(u64::MAX, |log| log.due);
        let limits = self
            .account
            .limits
            .as_ref()
            .map_or(u64::MAX, |limits| limits.due);
        self.time
            .end
            .min(self.time.next_tick)
            .min(log)
            .min(limits)
            .min(now + self.clock.ticks(self.time.glance))
    }

    /// Counts one I/O, or its error. Breaks if the job must not continue after it.
    // A function call here would cost as much as the counting.
    #[inline(always)]
    fn finish(
        &mut self,
        flight: &InflightIo,
        result: Result<u32, Errno>,
        done: u64,
    ) -> ControlFlow<StopReason> {
        // Taken apart, so that the I/O stays in registers: only an error needs it in memory.
        let InflightIo {
            request:
                IoRequest {
                    op,
                    region,
                    offset,
                    len,
                },
            created,
            issued,
        } = *flight;
        let request = || IoRequest {
            op,
            region,
            offset,
            len,
        };
        match result {
            Ok(moved) if moved > 0 => {
                let slat = D::QUEUED.then(|| self.clock.nanos(issued.saturating_sub(created)));
                let clat = self.clock.nanos(done.saturating_sub(issued));
                // If creation and submission are the same time, total and completion latency are
                // equal.
                let lat = if created == issued {
                    clat
                } else {
                    self.clock.nanos(done.saturating_sub(created))
                };
                self.account.stats.count(CompletedIo {
                    op,
                    wanted: len,
                    moved,
                    slat,
                    clat,
                    lat,
                });
                Continue(())
            }
            Ok(_) => self.refuse(&request(), Errno::IO, done),
            Err(errno) => self.refuse(&request(), errno, done),
        }
    }

    #[cold]
    fn refuse(&mut self, request: &IoRequest, errno: Errno, done: u64) -> ControlFlow<StopReason> {
        let IoRequest {
            op,
            region,
            offset,
            len,
        } = *request;
        let errno = self.unless_pulled(region, errno);
        let error = self.error(op.name(), FailureKind::Io, region, offset, len, errno, done);
        let error = IoError {
            op: Some(op),
            ..error
        };
        self.account.refused[op as usize] += 1;
        // The next I/O may succeed after a failed one; other errors are permanent.
        let tolerated =
            self.plan.errors.continue_on[op] && matches!(errno, Errno::IO | Errno::ILSEQ);
        let answer = match (
            self.is_full(op, errno),
            tolerated || self.ignores(op, errno),
        ) {
            (true, _) => Break(StopReason::Done),
            (false, true) => Continue(()),
            (false, false) => Break(StopReason::Error),
        };
        match answer {
            Break(StopReason::Error) => self.account.errors.push_last(error),
            _ => self.account.errors.push(error),
        }
        answer
    }

    /// Handles due events: progress, ticks, the end of the ramp time, the end of the run time.
    #[cold]
    fn event(&mut self, mut now: u64) -> Option<StopReason> {
        self.publish();
        if let Some(stop) = self.stop_requested() {
            return Some(stop);
        }
        if self.time.in_ramp && now >= self.time.end {
            self.time.in_ramp = false;
            self.account.end_ramp();
            self.context.shared.disks.open();
            // Reading disk counters takes longer than an I/O: measurement starts after it.
            now = self.clock.now();
            self.account.forget_refusals();
            self.start_measuring(now);
        } else if now >= self.time.end {
            // I/Os in flight may take longer than an interval: when they complete is seen in the intervals too.
            let drains = now - self.time.end >= self.clock.ticks(self.plan.measure.tick.0);
            if drains && now >= self.time.next_tick {
                self.tick(now);
            }
            return Some(StopReason::Time);
        }
        if now >= self.time.next_tick {
            self.tick(now);
        }
        self.answer_if_asked(now);
        self.look_at_log(now, false);
        let stop = self.check_limits(now);
        self.look_again(now);
        stop
    }

    /// Ends an interval. Ticks are on a fixed grid, so that intervals of all workers align.
    fn tick(&mut self, now: u64) {
        let tick = self.clock.ticks(self.plan.measure.tick.0).max(1);
        let at = Nanos(self.clock.nanos(now - self.time.measuring_since));
        if let Some(interval) = self.account.stats.close_interval(at, true) {
            let message = Message::Interval {
                worker: self.context.index,
                interval,
                latencies: self.account.stats.take_latencies(),
            };
            // The receiver is gone only when the run is being torn down.
            let _ = self.context.messages.send(message);
        }
        let passed = (now - self.time.measuring_since) / tick;
        self.time.next_tick = self.time.measuring_since + (passed + 1) * tick;
    }

    fn publish(&self) {
        let progress = &self.context.shared.progress[self.context.index];
        let totals = self.account.stats.totals();
        for (op, &(ios, bytes)) in totals.iter() {
            progress.ios[op as usize].store(ios, Relaxed);
            progress.bytes[op as usize].store(bytes, Relaxed);
        }
        progress.measuring.store(!self.time.in_ramp, Relaxed);
        if let Some(limit) = self.plan.stream.limit_bytes.filter(|&limit| limit > 0) {
            let done = limit - self.source.stream.bytes_left().min(limit);
            progress.permille.store(
                (u128::from(done) * 1000 / u128::from(limit)) as u32,
                Relaxed,
            );
        }
    }
}
