//! The worker: issues one stream of requests and counts what comes back.
//!
//! There are two loops, one for backends that answer at once and one for queues. Each is compiled for every backend and
//! clock. Everything that is not needed at each I/O (ticks, the end of the time, a word from outside) waits behind one
//! comparison with the next moment at which something is due. What a job may be told beyond its workload is in `ruled`.

mod checked;
mod limits;
mod ranges;
mod renew;
mod replay;
mod ruled;
mod steps;
mod turn;
mod zoned;

pub(crate) use self::turn::Flows;

use self::limits::{Limits, command_failed};
use self::ranges::Ranges;
use self::renew::Renewal;
use self::steps::{count_batch, count_depth};
use self::turn::{FlowSeat, Turn};
use crate::backend::{Backend, SyncKind};
use crate::clock::Clock;
use crate::content::Content;
use crate::files::Reopener;
use crate::iolog::{IoLog, LogChunk};
use crate::pace::{Due, Pacer};
use crate::recorder::Recorder;
use crate::shared::{Message, Shared};
use crate::tally::{Finished, Tally};
use crate::verify::Checker;
use hakaru_model::job::{Fill, Op};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{CpuUsage, DepthRecord, ErrorRecord, IoError, StopReason, WorkerRecord};
use hakaru_model::stream::{Request, RequestStream, StreamPlan};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::Errno;
use hakaru_sys::thread::Usage;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::Duration;

/// How often a worker looks up from its I/O: to publish its progress and to hear whether it should stop.
const GLANCE: u64 = 20_000_000;

/// The same in virtual time, which passes at once.
const VIRTUAL_GLANCE: u64 = 1_000_000_000;

/// The same where the first worker to end ends the others: what they do until they hear of it was not done beside it.
const QUICK_GLANCE: u64 = 1_000_000;

/// One I/O that is on its way.
#[derive(Clone, Copy, Debug)]
struct Flight {
    request: Request,
    created: u64,
    issued: u64,
}

/// Marking a write of more bytes than this takes longer than a look at the clock, which then keeps it out of the latency.
const WORTH_A_STAMP: u32 = 16 << 10;

/// Bytes of a write that get a mark of their own.
const MARKED: u32 = 4096;

/// How long a paced queue waits for completions before it looks whether the next request is due.
const PATIENCE: Duration = Duration::from_micros(200);

/// The I/Os of a queue, by slot.
#[derive(Debug)]
struct InFlight {
    flights: Box<[Flight]>,
    /// How many of them may be in flight: all, unless the depth was lowered.
    usable: usize,
    free: Vec<u32>,
    /// How many are to be, once what is beyond has landed.
    wanted: usize,
    /// Slots beyond that.
    parked: Vec<u32>,
    /// Prepared and not yet handed over.
    fresh: Vec<u32>,
    /// Landed with an error.
    refused: Vec<(u32, Errno)>,
    /// I/Os that landed and may call for a flush or a check, with the bytes they moved.
    followed: Vec<(u32, u32)>,
    /// Whether requests are left.
    more: bool,
    /// Whether the queue is being filled, rather than emptied down to its low mark.
    filling: bool,
    stop: Option<StopReason>,
}

impl InFlight {
    fn new(depth: usize) -> InFlight {
        let nothing = Flight { request: Request { op: Op::Read, region: 0, offset: 0, len: 0 }, created: 0, issued: 0 };
        let room = || Vec::with_capacity(depth);
        InFlight {
            flights: vec![nothing; depth].into_boxed_slice(),
            usable: depth,
            wanted: depth,
            parked: Vec::new(),
            free: (0..depth as u32).rev().collect(),
            fresh: room(),
            refused: Vec::with_capacity(depth),
            followed: Vec::with_capacity(depth),
            more: true,
            filling: true,
            stop: None,
        }
    }

    /// I/Os prepared or in flight.
    fn count(&self) -> usize {
        self.usable - self.free.len()
    }
}

/// What a worker needs from outside.
#[derive(Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) index: usize,
    pub(crate) plan: &'a WorkerPlan,
    /// Names of the files of its regions, for errors.
    pub(crate) files: &'a [String],
    pub(crate) shared: &'a Shared,
    pub(crate) messages: &'a SyncSender<Message>,
    /// What it checks by, if it does.
    pub(crate) check: Option<Box<Checker>>,
    /// Chunks of its log that come back to be filled again.
    pub(crate) chunks: Receiver<Box<LogChunk>>,
    /// Milliseconds since 1970 UTC.
    pub(crate) wall_clock: fn() -> i64,
    /// Workers that have to be done before it begins.
    pub(crate) waits_for: Vec<usize>,
    /// Where it writes its requests to.
    pub(crate) record: Option<Recorder>,
    /// How it opens its files anew.
    pub(crate) reopener: Option<Reopener<'a>>,
    /// Its place at the zones it keeps to, and its requests with whole zones.
    pub(crate) zones: Option<(crate::zones::Seat, StreamPlan)>,
}

/// A worker at work.
pub(crate) struct Worker<'a, B, C> {
    around: Surroundings<'a>,
    plan: &'a WorkerPlan,
    backend: B,
    clock: C,
    stream: RequestStream,
    pacer: Option<Pacer>,
    /// A paced request that is not due yet.
    held: Option<(Request, Due)>,
    tally: Tally,
    depth: DepthRecord,
    check: Option<Box<Checker>>,
    errors: ErrorRecord,
    /// I/Os that were answered with an error, by operation.
    refused: [u64; 3],
    stamp: u64,
    scramble: bool,
    refill: bool,
    content: Content,
    record: Option<Recorder>,
    writes_since_fsync: u32,
    writes_since_fdatasync: u32,
    ranges: Option<Box<Ranges>>,
    renewal: Option<Box<Renewal<'a>>>,
    zones: Option<Box<crate::zones::Seat>>,
    begun: u64,
    measuring_since: u64,
    in_ramp: bool,
    usage_at_start: Usage,
    /// Nanoseconds between looks up from I/O.
    glance: u64,
    next_event: u64,
    next_tick: u64,
    end: u64,
    log: Option<Box<IoLog>>,
    limits: Option<Box<Limits>>,
    flow: Option<FlowSeat>,
    /// Whether something is asked before each I/O.
    careful: bool,
    /// Whether each I/O is looked at when it is done.
    ruled: bool,
    /// When anything besides that is due.
    next_look: u64,
    /// I/Os of a queue that landed last.
    landed: usize,
}

impl<'a, B: Backend, C: Clock> Worker<'a, B, C> {
    /// Fills the buffers and makes everything ready, so that nothing has to be made later.
    pub(crate) fn new(mut around: Surroundings<'a>, backend: B, clock: C) -> Worker<'a, B, C> {
        let plan = around.plan;
        let used = hakaru_model::job::PerOp {
            read: plan.stream.access.does(Op::Read) || plan.verify.is_some(),
            write: plan.stream.access.does(Op::Write),
            trim: plan.stream.access.does(Op::Trim),
        };
        let d = &plan.durability;
        let syncs = d.fsync_every > 0 || d.fdatasync_every > 0 || d.range_sync.is_some();
        let expected = plan.runtime.map_or(1024, |time| time.0 / plan.measure.tick.0 + 2);
        let check = around.check.take();
        let (seat, zoned) = around.zones.take().unzip();
        let fills = check.as_ref().is_some_and(|check| check.fills());
        let mut worker = Worker {
            check,
            plan,
            backend,
            clock,
            stream: zoned.as_ref().unwrap_or(&plan.stream).requests(),
            zones: seat.map(Box::new),
            pacer: Pacer::new(&plan.rate, &plan.stream.access, plan.seed).map(|p| p.open_loop(plan.rules.offload)),
            held: None,
            tally: Tally::new(&plan.measure, used, syncs, expected as usize),
            depth: DepthRecord { iodepth: plan.queue.iodepth, ..DepthRecord::default() },
            errors: ErrorRecord::default(),
            refused: [0; 3],
            stamp: plan.seed,
            scramble: !fills
                && plan.buffers.scramble
                && matches!(plan.buffers.fill, Fill::Random | Fill::Compressible(_)),
            refill: fills || plan.buffers.refill,
            content: Content::new(plan),
            record: around.record.take(),
            writes_since_fsync: 0,
            writes_since_fdatasync: 0,
            ranges: Ranges::new(plan),
            renewal: Renewal::new(plan, around.reopener.take()),
            begun: 0,
            measuring_since: 0,
            in_ramp: plan.ramp_time.0 > 0,
            usage_at_start: Usage::default(),
            glance: match plan.exit.ends {
                Some(_) => QUICK_GLANCE,
                None if C::VIRTUAL => VIRTUAL_GLANCE,
                None => GLANCE,
            },
            next_event: 0,
            next_tick: 0,
            end: u64::MAX,
            flow: FlowSeat::of(&around, plan),
            log: IoLog::new(&plan.rules.logs, plan, B::QUEUED),
            ruled: false,
            careful: false,
            limits: Limits::new(plan),
            next_look: 0,
            landed: 0,
            around,
        };
        worker.ruled = worker.looks_at_each();
        let asks =
            worker.pacer.is_some() || worker.flow.is_some() || worker.renewal.is_some() || worker.zones.is_some();
        worker.careful = plan.replay.is_some() || plan.rules.serialize_overlap || asks;
        if plan.writes {
            worker.content.fill_all(worker.backend.buffers());
        }
        worker
    }

    /// Runs to the end and returns what was measured.
    pub(crate) fn run(mut self) -> WorkerRecord {
        self.wait_for_others();
        if self.plan.startdelay.0 > 0 {
            self.wait_for_start();
        }
        let ready = self.run_command("prerun", self.plan.rules.commands.before.as_deref());
        self.begin();
        let stop = match (self.told_to_stop(), ready) {
            (Some(stop), _) => stop,
            (None, false) => StopReason::Error,
            (None, true) => self.work(),
        };
        let last = self.clock.now();
        self.end_others(stop);
        let (job, after) = (self.plan.name.as_str(), self.plan.rules.commands.after.as_deref());
        let mut record = self.close(last, stop);
        if let Some(Err(errno)) = after.map(|command| crate::beside::run_command(job, "postrun", command)) {
            record.errors.push(command_failed("postrun", errno));
        }
        record
    }

    /// Sleeps through `startdelay` in short naps, so that a stop is heard.
    fn wait_for_start(&mut self) {
        let until = self.clock.now() + self.clock.ticks(self.plan.startdelay.0);
        while self.clock.now() < until && self.told_to_stop().is_none() {
            self.clock.sleep_until(until.min(self.clock.now() + self.clock.ticks(GLANCE)));
        }
    }

    fn begin(&mut self) {
        let now = self.clock.now();
        self.begun = now;
        self.around.shared.progress[self.around.index].begun.store(true, Relaxed);
        self.start_measuring(now);
        if self.in_ramp {
            self.end = now + self.clock.ticks(self.plan.ramp_time.0);
            self.next_tick = u64::MAX;
        }
        if let Some(pacer) = &mut self.pacer {
            pacer.begin(now);
        }
        self.look_again(now);
    }

    fn start_measuring(&mut self, now: u64) {
        self.begin_log(now);
        if let Some(limits) = &mut self.limits {
            limits.begin(now, |nanos| self.clock.ticks(nanos));
        }
        self.measuring_since = now;
        self.usage_at_start = hakaru_sys::thread::usage();
        self.end = self.plan.runtime.map_or(u64::MAX, |time| now + self.clock.ticks(time.0));
        self.next_tick = now + self.clock.ticks(self.plan.measure.tick.0);
    }

    /// Sets the moment of the next look. A queue whose I/Os are looked at one by one looks whenever any landed.
    fn look_again(&mut self, now: u64) {
        self.next_look = self.due_next(now);
        self.next_event = if B::QUEUED && self.ruled { 0 } else { self.next_look };
    }

    fn due_next(&self, now: u64) -> u64 {
        let log = self.log.as_ref().map_or(u64::MAX, |log| log.due);
        let limits = self.limits.as_ref().map_or(u64::MAX, |limits| limits.due);
        self.end.min(self.next_tick).min(log).min(limits).min(now + self.clock.ticks(self.glance))
    }

    /// One I/O after another. The end of one is the creation of the next, and its submission too when nothing lies in
    /// between: then one look at the clock does for both, and the few nanoseconds of our own counting are in the
    /// latency rather than hidden from it.
    fn drive_synchronous(&mut self) -> StopReason {
        let writes = self.plan.stream.access.does(Op::Write) && (self.scramble || self.refill);
        let idle_between = !writes;
        let follows = self.follows();
        if idle_between || !self.refill && self.plan.max_block <= WORTH_A_STAMP {
            self.tally.count_lat_as_clat();
        }
        let mut last = self.clock.now();
        while let Some(request) = self.stream.next() {
            let (mut created, mut issued) = (last, last);
            if !idle_between {
                (created, issued) = self.make_ready(&request, last);
            }
            let result = self.backend.transfer(&request);
            let done = self.clock.now();
            let flight = Flight { request, created, issued };
            if let Break(stop) = self.finish(&flight, result, done) {
                return stop;
            }
            last = done;
            if follows {
                match self.follow_up(0, &flight, result, done, true) {
                    Ok(now) => last = now,
                    Err(stop) => return stop,
                }
            }
            if last >= self.next_event
                && let Some(stop) = self.event(last)
            {
                return stop;
            }
        }
        StopReason::Done
    }

    /// Fills the buffer of a write. Returns the moments of creation and submission.
    #[inline(always)]
    fn make_ready(&mut self, request: &Request, last: u64) -> (u64, u64) {
        if request.op == Op::Write {
            self.fill_write(0, request);
        }
        let takes_time = self.refill || request.op == Op::Write && request.len > WORTH_A_STAMP;
        (last, if takes_time { self.clock.now() } else { last })
    }

    /// Keeps the queue as full as the plan says.
    fn drive_queue(&mut self) -> StopReason {
        let mut q = InFlight::new((self.plan.queue.iodepth as usize).min(B::MOST_IN_FLIGHT));
        let mut now = self.clock.now();
        loop {
            self.refill(&mut q, now);
            if q.count() == 0 && (q.stop.is_some() || !q.more) {
                return q.stop.unwrap_or(StopReason::Done);
            }
            let wait_for = self.how_many_to_wait_for(&q);
            self.hand_over(&mut q, wait_for);
            now = match self.collect(&mut q, wait_for) {
                Ok(now) => now,
                Err(stop) => return stop,
            };
            if now >= self.next_event
                && let Some(reason) = self.event_of_queue(&mut q, now)
            {
                q.stop.get_or_insert(reason);
            }
        }
    }

    /// Prepares the next batch, if there is room for one.
    #[inline(always)]
    fn refill(&mut self, q: &mut InFlight, now: u64) {
        let (low, batch) = (self.plan.queue.low_mark as usize, self.plan.queue.batch_submit as usize);
        q.filling |= q.count() <= low;
        if let Some(pass) = self.plan.stream.pass_bytes
            && self.stream.bytes_left().is_multiple_of(pass.max(1))
        {
            // The next pass begins with an empty queue.
            q.filling = q.count() == 0;
        }
        if !q.filling || !q.more || q.stop.is_some() {
            return;
        }
        let room = if batch == 0 { q.free.len() } else { batch.min(q.free.len()) };
        for _ in 0..room {
            let (request, created) = if self.careful {
                match self.careful_turn(q) {
                    Turn::Go(request, at) => (request, at),
                    Turn::Later => return,
                    Turn::End(reason) => {
                        q.more = false;
                        q.stop = q.stop.or(reason);
                        return;
                    }
                }
            } else {
                let Some(request) = self.stream.next() else {
                    q.more = false;
                    return;
                };
                (request, now)
            };
            let Some(slot) = q.free.pop() else { return };
            if request.op == Op::Write {
                self.fill_write(slot, &request);
            }
            self.backend.prepare(slot, &request);
            q.flights[slot as usize] = Flight { request, created, issued: created };
            q.fresh.push(slot);
        }
        // Full: from here on it is emptied down to its low mark, if it has one.
        q.filling &= low == 0 || !q.free.is_empty();
    }

    /// While the queue has room and requests are left, nobody waits: the next batch goes first.
    fn how_many_to_wait_for(&self, q: &InFlight) -> usize {
        let goes_on = q.more && q.stop.is_none();
        if goes_on && (self.careful || q.filling && !q.free.is_empty()) {
            return 0;
        }
        (self.plan.queue.batch_complete_min.max(1) as usize).min(q.count())
    }

    /// Fetches what is done, and counts it. Returns the moment it was done.
    #[inline(always)]
    fn collect(&mut self, q: &mut InFlight, wait_for: usize) -> Result<u64, StopReason> {
        let paced = self.careful;
        if wait_for == 0 && !paced {
            return Ok(self.clock.now());
        }
        let max = match self.plan.queue.batch_complete_max as usize {
            0 => q.flights.len(),
            max => max.max(wait_for),
        };
        let (min, patience) = if paced { (q.count().min(1), Some(PATIENCE)) } else { (wait_for, None) };
        let (follows, checks) = (self.follows(), self.check.is_some());
        let Worker { backend, tally, clock, .. } = self;
        let InFlight { flights, free, refused, followed, .. } = q;
        let (mut now, mut count) = (0, 0);
        let answer = backend.reap(min, max, patience, |slot, result| {
            if count == 0 {
                now = clock.now();
            }
            count += 1;
            free.push(slot);
            let Flight { request, created, issued } = flights[slot as usize];
            match result {
                Ok(moved) if moved > 0 => {
                    let nanos = |from: u64, to: u64| clock.nanos(to.saturating_sub(from));
                    let (slat, clat) = (Some(nanos(created, issued)), nanos(issued, now));
                    let lat = nanos(created, now);
                    tally.count(Finished { op: request.op, wanted: request.len, moved, slat, clat, lat });
                    if follows && (checks || request.op == Op::Write) {
                        followed.push((slot, moved));
                    }
                }
                Ok(_) => refused.push((slot, Errno::IO)),
                Err(errno) => refused.push((slot, errno)),
            }
        });
        if answer.is_err_and(|errno| errno != Errno::INTR) && count == 0 {
            return Err(StopReason::Error);
        }
        if count == 0 {
            return Ok(self.clock.now());
        }
        count_batch(&mut self.depth.complete, count);
        self.depth.complete_calls += 1;
        self.landed = count;
        self.settle(q, now);
        Ok(now)
    }

    /// What is left to do for I/Os that landed and are not just counted: errors, and flushes that are due.
    fn settle(&mut self, q: &mut InFlight, now: u64) {
        while let Some((slot, errno)) = q.refused.pop() {
            let request = q.flights[slot as usize].request;
            self.zone_landed(&request, false);
            // What failed is not looked at as something done.
            q.flights[slot as usize].request.len = 0;
            if let Break(stop) = self.refuse(&request, errno, now) {
                q.stop.get_or_insert(stop);
            }
            if self.check.is_some() && self.examine(slot, &request, Err(errno), now).is_err() {
                q.stop = Some(StopReason::Error);
            }
        }
        while let Some((slot, moved)) = q.followed.pop() {
            let flight = q.flights[slot as usize];
            let last = q.followed.is_empty() && q.count() == 0;
            match self.follow_up(slot, &flight, Ok(moved), now, last) {
                Ok(_) => q.more |= self.check.is_some() && self.stream.bytes_left() > 0,
                Err(stop) => q.stop = Some(stop),
            }
        }
    }

    /// Gives what is prepared to the backend, and stamps it as issued.
    #[inline(always)]
    fn hand_over(&mut self, q: &mut InFlight, wait_for: usize) {
        let combined = B::SUBMIT_WAITS && wait_for > 0;
        if q.fresh.is_empty() && !combined {
            return;
        }
        // A call that also waits returns when I/Os are done: then they were issued as it began.
        let before = if combined { self.clock.now() } else { 0 };
        self.submit_all(q, if combined { wait_for } else { 0 });
        let issued = if combined { before } else { self.clock.now() };
        // What is handed over together has the same depth: that of the queue with all of it.
        count_depth(&mut self.depth.level, q.count(), q.fresh.len() as u64);
        if self.record.is_some() {
            q.fresh.iter().for_each(|&slot| self.note_issue(&q.flights[slot as usize].request, issued));
        }
        for slot in q.fresh.drain(..) {
            q.flights[slot as usize].issued = issued;
        }
    }

    /// Submits until everything prepared is gone. What the backend cannot take at all lands with its error.
    fn submit_all(&mut self, q: &mut InFlight, wait_for: usize) {
        loop {
            match self.backend.submit(wait_for) {
                Ok(0) => return,
                Ok(taken) => {
                    count_batch(&mut self.depth.submit, taken);
                    self.depth.submit_calls += 1;
                    if B::SUBMIT_WAITS {
                        return;
                    }
                }
                Err(Errno::INTR) => {}
                // The kernel has no room: what is in flight has to land first, in the usual way.
                Err(Errno::AGAIN | Errno::BUSY) if q.count() > q.fresh.len() => return,
                Err(Errno::AGAIN | Errno::BUSY) => std::thread::sleep(Duration::from_micros(100)),
                Err(errno) => match self.backend.withdraw() {
                    Some(slot) => {
                        q.free.push(slot);
                        q.refused.push((slot, errno));
                        let now = self.clock.now();
                        self.settle(q, now);
                    }
                    None => return,
                },
            }
        }
    }

    /// Counts one I/O, or its error. Breaks when the job may not go on after it.
    // A call here would cost as much as the counting itself.
    #[inline(always)]
    fn finish(&mut self, flight: &Flight, result: Result<u32, Errno>, done: u64) -> ControlFlow<StopReason> {
        let Flight { request, created, issued } = *flight;
        match result {
            Ok(moved) if moved > 0 => {
                let slat = B::QUEUED.then(|| self.clock.nanos(issued.saturating_sub(created)));
                let clat = self.clock.nanos(done.saturating_sub(issued));
                // Where nothing lies between creation and submission, one is the other.
                let lat = if created == issued { clat } else { self.clock.nanos(done.saturating_sub(created)) };
                self.tally.count(Finished { op: request.op, wanted: request.len, moved, slat, clat, lat });
                Continue(())
            }
            Ok(_) => self.refuse(&request, Errno::IO, done),
            Err(errno) => self.refuse(&request, errno, done),
        }
    }

    #[cold]
    fn refuse(&mut self, request: &Request, errno: Errno, done: u64) -> ControlFlow<StopReason> {
        let Request { op, region, offset, len } = *request;
        self.note_error(op.name(), region, offset, len, errno, done);
        self.refused[op as usize] += 1;
        match (self.is_full(op, errno), self.plan.errors.continue_on[op] || self.ignores(op, errno)) {
            (true, _) => Break(StopReason::Done),
            (false, true) => Continue(()),
            (false, false) => Break(StopReason::Error),
        }
    }

    fn note_error(&mut self, action: &str, region: u32, offset: u64, len: u32, errno: Errno, now: u64) {
        let error = self.error(action, region, offset, len, errno, now);
        self.errors.push(error);
    }

    fn error(&self, action: &str, region: u32, offset: u64, len: u32, errno: Errno, now: u64) -> IoError {
        IoError {
            action: action.to_owned(),
            file: self.around.files.get(region as usize).cloned().unwrap_or_default(),
            offset: Bytes(offset),
            len: Bytes(u64::from(len)),
            errno: errno.raw_os_error(),
            at: Nanos(self.clock.nanos(now.saturating_sub(self.measuring_since))),
            mismatches: Vec::new(),
        }
    }

    /// Makes the content of a write unlike the one before, so that no device can take it for the same.
    // Most writes are of one page: a call would cost more than the mark.
    #[inline(always)]
    fn fill_write(&mut self, slot: u32, request: &Request) {
        if self.refill {
            self.fill_anew(slot, request);
        } else if self.scramble {
            self.stamp = self.stamp.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mark = self.stamp ^ request.offset;
            match self.backend.buffer(slot, request.len as usize).first_chunk_mut::<8>() {
                Some(first) if request.len <= MARKED => *first = mark.to_le_bytes(),
                _ => self.mark_pages(slot, request),
            }
        }
    }

    /// Fills the whole buffer.
    #[inline(never)]
    fn fill_anew(&mut self, slot: u32, request: &Request) {
        let buffer = self.backend.buffer(slot, request.len as usize);
        match &mut self.check {
            Some(check) if check.fills() => check.fill(slot, request, buffer),
            _ => self.content.fill(buffer),
        }
    }

    /// Marks each page of a buffer; one that is shorter than a mark gets the beginning of it.
    #[inline(never)]
    fn mark_pages(&mut self, slot: u32, request: &Request) {
        let mark = self.stamp;
        let buffer = self.backend.buffer(slot, request.len as usize);
        for (page, place) in buffer.chunks_mut(MARKED as usize).enumerate() {
            let word = (mark ^ request.offset.wrapping_add(page as u64)).to_le_bytes();
            match place.first_chunk_mut::<8>() {
                Some(first) => *first = word,
                None => place.copy_from_slice(&word[..place.len()]),
            }
        }
    }

    /// Flushes between every so many writes and the next; a `last` one that has no next is not followed by a flush, as in
    /// fio. Returns the moment it is then.
    #[inline]
    fn sync_if_due(&mut self, request: &Request, now: u64, last: bool) -> u64 {
        let d = &self.plan.durability;
        if request.op != Op::Write || d.fsync_every == 0 && d.fdatasync_every == 0 {
            return now;
        }
        self.writes_since_fsync += 1;
        self.writes_since_fdatasync += 1;
        let kind = if d.fsync_every > 0 && self.writes_since_fsync >= d.fsync_every {
            self.writes_since_fsync = 0;
            SyncKind::Full
        } else if d.fdatasync_every > 0 && self.writes_since_fdatasync >= d.fdatasync_every {
            self.writes_since_fdatasync = 0;
            SyncKind::Data
        } else {
            return now;
        };
        if last && self.stream.is_over() { now } else { self.sync(request.region, kind) }
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> u64 {
        let (before, errors) = (self.clock.now(), self.errors.total);
        let done = self.flush(region, kind);
        if self.errors.total == errors {
            self.tally.sync.record(Nanos(self.clock.nanos(done - before)));
        }
        done
    }

    /// Flushes one file, and notes the error if that fails. Returns the moment it is then.
    fn flush(&mut self, region: u32, kind: SyncKind) -> u64 {
        let before = self.clock.now();
        self.note_sync(region, kind, before);
        let result = self.backend.sync(region, kind);
        let done = self.clock.now();
        if let Err(errno) = result {
            self.note_error("fsync", region, 0, 0, errno, done);
        }
        done
    }

    /// Whatever is due: progress, a tick, the end of the lead-in, the end of the time.
    #[cold]
    fn event(&mut self, now: u64) -> Option<StopReason> {
        self.publish();
        if let Some(stop) = self.told_to_stop() {
            return Some(stop);
        }
        if self.in_ramp && now >= self.end {
            self.in_ramp = false;
            self.tally.restart();
            self.refused = [0; 3];
            self.depth = DepthRecord { iodepth: self.depth.iodepth, ..DepthRecord::default() };
            self.start_measuring(now);
        } else if now >= self.end {
            return Some(StopReason::Time);
        }
        if now >= self.next_tick {
            self.tick(now);
        }
        self.answer_if_asked(now);
        self.look_at_log(now, false);
        let stop = self.check_limits(now);
        self.look_again(now);
        stop
    }

    /// Ends an interval. Ticks keep to a grid, so that the intervals of all workers can be laid on one another.
    fn tick(&mut self, now: u64) {
        let tick = self.clock.ticks(self.plan.measure.tick.0).max(1);
        let at = Nanos(self.clock.nanos(now - self.measuring_since));
        if let Some(interval) = self.tally.close_interval(at, true) {
            let message = Message::Interval { worker: self.around.index, interval };
            // Nobody listens any more only when the run is being torn down.
            let _ = self.around.messages.send(message);
        }
        let passed = (now - self.measuring_since) / tick;
        self.next_tick = self.measuring_since + (passed + 1) * tick;
    }

    fn publish(&self) {
        let progress = &self.around.shared.progress[self.around.index];
        let totals = self.tally.totals();
        for (op, &(ios, bytes)) in totals.iter() {
            progress.ios[op as usize].store(ios, Relaxed);
            progress.bytes[op as usize].store(bytes, Relaxed);
        }
        progress.measuring.store(!self.in_ramp, Relaxed);
        if let Some(limit) = self.plan.stream.limit_bytes.filter(|&limit| limit > 0) {
            let done = limit - self.stream.bytes_left().min(limit);
            progress.permille.store((u128::from(done) * 1000 / u128::from(limit)) as u32, Relaxed);
        }
    }

    /// Flushes what has to be flushed at the end, and adds everything up.
    fn close(mut self, last: u64, stop: StopReason) -> WorkerRecord {
        if self.in_ramp {
            // Stopped before measurement began: what came in the lead-in is no result.
            self.tally.restart();
            self.measuring_since = last;
        }
        self.save_state(last);
        self.end_record(last);
        // A write is not over before it is flushed, so the last flush belongs to the measured time.
        let synced = self.final_syncs(last, stop);
        let used = hakaru_sys::thread::usage();
        let (end, stop) = self.finish_files(synced, stop);
        let measured = Nanos(self.clock.nanos(end - self.measuring_since));
        // A piece of an interval is kept, but is no sample, even where it is all there is: fio counts none either.
        self.tally.close_interval(measured, false);
        self.look_at_log(end, true);
        self.publish();
        let whole = Nanos(self.clock.nanos(end - self.begun));
        self.record(measured, whole, stop, used)
    }

    /// Closes the files, with all in them that has to be. Returns the end of the measured time, and why it ended.
    fn finish_files(&mut self, last: u64, stop: StopReason) -> (u64, StopReason) {
        let goes_on = stop == StopReason::Ended && self.plan.exit.finish_writing;
        let written = if goes_on { self.write_the_rest() } else { Ok(()) };
        let before = if self.plan.time_close { self.clock.now() } else { 0 };
        let answer = written.and(self.backend.close());
        let end = if self.plan.time_close { last + (self.clock.now() - before) } else { last };
        match answer {
            Ok(()) => (end, stop),
            Err(errno) => {
                self.note_error("close", 0, 0, 0, errno, end);
                (end, StopReason::Error)
            }
        }
    }

    /// Does what is left of the stream, unmeasured and one I/O at a time.
    fn write_the_rest(&mut self) -> Result<(), Errno> {
        while !self.around.shared.stop.load(Relaxed) {
            let Some(request) = self.stream.next() else { break };
            self.fill_write(0, &request);
            if B::QUEUED {
                self.backend.prepare(0, &request);
                self.backend.submit(0)?;
                let mut landed = Ok(0);
                self.backend.reap(1, 1, None, |_, result| landed = result)?;
                landed?;
            } else {
                self.backend.transfer(&request)?;
            }
        }
        Ok(())
    }

    /// What was measured so far.
    fn so_far(&self, now: u64) -> WorkerRecord {
        let nanos = |since: u64| Nanos(self.clock.nanos(now.saturating_sub(since)));
        let measured = if self.in_ramp { Nanos(0) } else { nanos(self.measuring_since) };
        self.record(measured, nanos(self.begun), StopReason::Done, hakaru_sys::thread::usage())
    }

    fn final_syncs(&mut self, last: u64, stop: StopReason) -> u64 {
        let d = &self.plan.durability;
        let wrote = self.plan.stream.access.does(Op::Write) && stop != StopReason::Error;
        if !wrote || !d.end_fsync && !d.fsync_on_close {
            return last;
        }
        let regions = 0..self.plan.stream.regions.len() as u32;
        // It is no flush between I/Os, and is not counted among them; its time is in the measured time.
        regions.fold(last, |_, region| self.flush(region, SyncKind::Full))
    }

    fn record(&self, runtime: Nanos, job_runtime: Nanos, stop: StopReason, used: Usage) -> WorkerRecord {
        let Worker { plan, tally, depth, errors, refused, usage_at_start, around, limits, check, .. } = self;
        let (mut depth, errors) = (depth.clone(), errors.clone());
        let (mut ops, sync, intervals) = tally.clone().into_records(*refused);
        if let Some(check) = check {
            Op::ALL.into_iter().for_each(|op| ops[op].runtime = check.spent[op].map(Nanos));
        }
        if let Some(zones) = &self.zones {
            Op::ALL.into_iter().for_each(|op| ops[op].zone_resets = zones.emptied(op));
        }
        if !B::QUEUED {
            // One in flight, one a call, each time: there was nothing to count on the way.
            let ios = ops.iter().map(|(_, op)| op.issued).sum();
            depth.level[0] = ios;
            (depth.submit[1], depth.complete[1]) = (ios, ios);
            (depth.submit_calls, depth.complete_calls) = (ios, ios);
        }
        depth.level[0] += sync.stat.count;
        let since = |now: u64, start: u64| now.saturating_sub(start);
        let cpu = CpuUsage {
            user: Nanos(since(used.user_ns, usage_at_start.user_ns)),
            system: Nanos(since(used.system_ns, usage_at_start.system_ns)),
            ctx: since(used.switches, usage_at_start.switches),
            majf: since(used.major_faults, usage_at_start.major_faults),
            minf: since(used.minor_faults, usage_at_start.minor_faults),
        };
        WorkerRecord {
            name: plan.name.clone(),
            job: plan.job,
            clone: plan.clone,
            // In virtual time nothing may depend on the host, or two runs would differ.
            pid: if C::VIRTUAL { around.index as u32 + 1 } else { hakaru_sys::thread::id() },
            runtime,
            job_runtime,
            ops,
            sync,
            depth,
            cpu: if C::VIRTUAL { CpuUsage::default() } else { cpu },
            intervals,
            errors,
            stop,
            steady: None,
            latency_depth: limits.as_ref().and_then(|limits| limits.depth()),
        }
    }
}
