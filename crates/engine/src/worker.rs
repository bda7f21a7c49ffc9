//! The worker: issues one stream of requests and counts what comes back.
//!
//! There are two loops, one for backends that answer at once and one for queues. Each is compiled for every backend and
//! clock. Everything that is not needed at each I/O (ticks, the end of the time, a word from outside) waits behind one
//! comparison with the next moment at which something is due. What a job may be told beyond its workload is in `ruled`.

mod checked;
mod closing;
mod flush;
mod limits;
mod next_io;
mod queue;
mod ranges;
mod recreate;
mod replay;
mod ruled;
mod steps;
mod writes;
mod zoned;

pub(crate) use self::next_io::FlowCounters;

use self::limits::{WorkerLimits, command_failed};
use self::next_io::FlowMember;
use self::queue::InFlight;
use self::ranges::Ranges;
use self::recreate::FileRecreation;
use self::writes::MARKED;
use crate::backend::Backend;
use crate::clock::Clock;
use crate::content::Content;
use crate::files::FileRecreator;
use crate::iolog::{IoLog, LogChunk};
use crate::pace::{Due, Pacer};
use crate::recorder::Recorder;
use crate::shared::{Message, PhaseShared};
use crate::verify::Checker;
use crate::worker_stats::{CompletedIo, WorkerStats};
use hakaru_model::job::{BufferContent, Op, PerOp};
use hakaru_model::plan::WorkerPlan;
use hakaru_model::record::{
    DepthRecord, ErrorRecord, FailureKind, IoError, StopReason, WorkerRecord,
};
use hakaru_model::stream::{IoRequest, RequestStream, StreamPlan};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_sys::Errno;
use hakaru_sys::thread::Usage;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender};

/// How often a worker looks up from its I/O: to publish its progress and to hear whether it should stop.
const GLANCE: u64 = 20_000_000;

/// The same in virtual time, which passes at once.
const VIRTUAL_GLANCE: u64 = 1_000_000_000;

/// The same where the first worker to end ends the others: what they do until they hear of it was not done beside it.
const QUICK_GLANCE: u64 = 1_000_000;

/// One I/O that is on its way.
#[derive(Clone, Copy, Debug)]
struct InflightIo {
    request: IoRequest,
    created: u64,
    issued: u64,
}

/// Marking a write of more bytes than this takes longer than a look at the clock, which then keeps it out of the latency.
const WORTH_A_STAMP: u32 = 16 << 10;

/// What a worker needs from outside.
#[derive(Debug)]
pub(crate) struct WorkerContext<'a> {
    pub(crate) index: usize,
    pub(crate) plan: &'a WorkerPlan,
    /// Names of the files of its regions, for errors.
    pub(crate) files: &'a [String],
    pub(crate) shared: &'a PhaseShared,
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
    pub(crate) reopener: Option<FileRecreator<'a>>,
    /// Its place at the zones it keeps to, and its requests with whole zones.
    pub(crate) zones: Option<(crate::zones::ZoneCursor, StreamPlan)>,
    /// Whether its thread has a table of open files of its own.
    pub(crate) own_files: bool,
}

/// A worker at work.
pub(crate) struct Worker<'a, B, C> {
    around: WorkerContext<'a>,
    plan: &'a WorkerPlan,
    backend: B,
    clock: C,
    stream: RequestStream,
    pacer: Option<Pacer>,
    /// A paced request that is not due yet.
    held: Option<(IoRequest, Due)>,
    /// Whether what was written is flushed already, as far as the job asks for that at its end.
    flushed: bool,
    tally: WorkerStats,
    depth: DepthRecord,
    check: Option<Box<Checker>>,
    errors: ErrorRecord,
    /// Whether a mismatch ended the work of a job that goes on after others (`verify_fatal`).
    gave_up: bool,
    /// I/Os that were answered with an error, by operation.
    refused: [u64; 3],
    stamp: u64,
    scramble: bool,
    refill: bool,
    /// Whether buffers are marked before each I/O, whatever it does.
    marks_all: bool,
    content: Content,
    record: Option<Recorder>,
    /// Something was written since the job began or last read back.
    wrote: bool,
    writes_since_fsync: u32,
    writes_since_fdatasync: u32,
    ranges: Option<Box<Ranges>>,
    renewal: Option<Box<FileRecreation<'a>>>,
    zones: Option<Box<crate::zones::ZoneCursor>>,
    begun: u64,
    measuring_since: u64,
    in_ramp: bool,
    usage_at_start: Usage,
    /// Run-queue wait of its thread as measurement began.
    waited_at_start: Option<u64>,
    /// Bytes moved before that.
    ramp_bytes: Option<PerOp<Bytes>>,
    /// Nanoseconds between looks up from I/O.
    glance: u64,
    next_event: u64,
    next_tick: u64,
    end: u64,
    log: Option<Box<IoLog>>,
    limits: Option<Box<WorkerLimits>>,
    flow: Option<FlowMember>,
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
    pub(crate) fn new(mut around: WorkerContext<'a>, backend: B, clock: C) -> Worker<'a, B, C> {
        let plan = around.plan;
        let (used, syncs) = records(plan);
        let expected = plan
            .runtime
            .map_or(1024, |time| time.0 / plan.measure.tick.0 + 2);
        let mut check = around.check.take();
        check.iter_mut().for_each(|check| check.queued = B::QUEUED);
        let (seat, zoned) = around.zones.take().unzip();
        let fills = check.as_ref().is_some_and(|check| check.fills());
        let mut worker = Worker {
            check,
            plan,
            backend,
            clock,
            stream: zoned.as_ref().unwrap_or(&plan.stream).requests(),
            zones: seat.map(Box::new),
            pacer: Pacer::new(&plan.rate, &plan.stream.access, plan.seed)
                .map(|p| p.open_loop(plan.queue.offload)),
            held: None,
            flushed: false,
            tally: WorkerStats::new(&plan.measure, used, syncs, expected as usize),
            depth: DepthRecord {
                iodepth: plan.queue.iodepth,
                ..DepthRecord::default()
            },
            errors: ErrorRecord::default(),
            gave_up: false,
            refused: [0; 3],
            stamp: plan.seed,
            scramble: !fills
                && plan.buffers.scramble
                && matches!(
                    plan.buffers.fill,
                    BufferContent::Random | BufferContent::Compressible(_)
                ),
            refill: fills || plan.buffers.refill,
            marks_all: false,
            content: Content::new(plan),
            record: around.record.take(),
            wrote: false,
            writes_since_fsync: 0,
            writes_since_fdatasync: 0,
            ranges: Ranges::new(plan),
            renewal: FileRecreation::new(plan, around.reopener.take()),
            begun: 0,
            measuring_since: 0,
            in_ramp: plan.ramp_time.0 > 0,
            usage_at_start: Usage::default(),
            waited_at_start: None,
            ramp_bytes: None,
            glance: match plan.termination.exit.ends {
                Some(_) => QUICK_GLANCE,
                None if C::VIRTUAL => VIRTUAL_GLANCE,
                None => GLANCE,
            },
            next_event: 0,
            next_tick: 0,
            end: u64::MAX,
            flow: FlowMember::of(&around, plan),
            log: IoLog::new(&plan.measure.logs, plan, B::QUEUED),
            ruled: false,
            careful: false,
            limits: WorkerLimits::new(plan),
            next_look: 0,
            landed: 0,
            around,
        };
        worker.ruled = worker.looks_at_each();
        let asks = worker.pacer.is_some()
            || worker.flow.is_some()
            || worker.renewal.is_some()
            || worker.zones.is_some();
        worker.careful = plan.replay.is_some() || plan.queue.serialize_overlap || asks;
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
        let ready = self.run_command("prerun", self.plan.commands.before.as_deref());
        self.begin();
        let stop = match (self.told_to_stop(), ready) {
            (Some(stop), _) => stop,
            (None, false) => StopReason::Error,
            (None, true) => self.work(),
        };
        let last = self.clock.now();
        self.end_others(stop);
        let (job, after) = (self.plan.name.as_str(), self.plan.commands.after.as_deref());
        let mut record = self.close(last, stop);
        if let Some(Err(errno)) =
            after.map(|command| crate::worker_setup::run_command(job, "postrun", command))
        {
            record.errors.push(command_failed("postrun", errno));
        }
        record
    }

    /// Sleeps through `startdelay` in short naps, so that a stop is heard.
    fn wait_for_start(&mut self) {
        let until = self.clock.now() + self.clock.ticks(self.plan.startdelay.0);
        while self.clock.now() < until && self.told_to_stop().is_none() {
            self.clock
                .sleep_until(until.min(self.clock.now() + self.clock.ticks(GLANCE)));
        }
    }

    fn begin(&mut self) {
        if !self.in_ramp {
            self.around.shared.disks.open();
        }
        let now = self.clock.now();
        self.begun = now;
        self.around.shared.progress[self.around.index]
            .begun
            .store(true, Relaxed);
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
        self.waited_at_start = if C::VIRTUAL {
            None
        } else {
            crate::host::waited()
        };
        self.end = self
            .plan
            .runtime
            .map_or(u64::MAX, |time| now + self.clock.ticks(time.0));
        self.next_tick = now + self.clock.ticks(self.plan.measure.tick.0);
    }

    /// Sets the moment of the next look. A queue whose I/Os are looked at one by one looks whenever any landed.
    fn look_again(&mut self, now: u64) {
        self.next_look = self.due_next(now);
        self.next_event = if B::QUEUED && self.ruled {
            0
        } else {
            self.next_look
        };
    }

    fn due_next(&self, now: u64) -> u64 {
        let log = self.log.as_ref().map_or(u64::MAX, |log| log.due);
        let limits = self.limits.as_ref().map_or(u64::MAX, |limits| limits.due);
        self.end
            .min(self.next_tick)
            .min(log)
            .min(limits)
            .min(now + self.clock.ticks(self.glance))
    }

    /// One I/O after another. The end of one is the creation of the next, and its submission too when nothing lies in
    /// between: then one look at the clock does for both, and the few nanoseconds of our own counting are in the
    /// latency rather than hidden from it.
    ///
    /// Where the stream is `PLAIN`, and nothing follows an I/O, the loop is compiled for just that.
    fn drive_synchronous<const PLAIN: bool>(&mut self) -> StopReason {
        let writes = self.plan.stream.access.does(Op::Write) && (self.scramble || self.refill);
        let idle_between = !writes;
        let follows = !PLAIN && self.follows();
        if idle_between || !self.refill && self.plan.max_block <= WORTH_A_STAMP {
            self.tally.count_lat_as_clat();
        }
        // What a read will overwrite may be marked too: a mix has no pattern, and a branch not taken costs more than a mark.
        self.marks_all = PLAIN && !idle_between && !self.refill && self.plan.max_block <= MARKED;
        let mut last = self.clock.now();
        loop {
            let next = if PLAIN {
                self.stream.as_plain().and_then(Iterator::next)
            } else {
                self.stream.next()
            };
            let Some(request) = next else {
                return StopReason::Done;
            };
            let (mut created, mut issued) = (last, last);
            if !idle_between {
                (created, issued) = self.make_ready(&request, last);
            }
            let result = self.backend.transfer(&request);
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
            if follows {
                match self.follow_up(0, &flight, result, done, true) {
                    Ok(now) => last = now,
                    Err(stop) => return stop,
                }
            }
            if last >= self.next_event {
                if let Some(stop) = self.event(last) {
                    return stop;
                }
                // What was due took its time, which is none of the next I/O.
                last = self.clock.now();
            }
        }
    }

    /// Counts one I/O, or its error. Breaks when the job may not go on after it.
    // A call here would cost as much as the counting itself.
    #[inline(always)]
    fn finish(
        &mut self,
        flight: &InflightIo,
        result: Result<u32, Errno>,
        done: u64,
    ) -> ControlFlow<StopReason> {
        let InflightIo {
            request,
            created,
            issued,
        } = *flight;
        match result {
            Ok(moved) if moved > 0 => {
                let slat = B::QUEUED.then(|| self.clock.nanos(issued.saturating_sub(created)));
                let clat = self.clock.nanos(done.saturating_sub(issued));
                // Where nothing lies between creation and submission, one is the other.
                let lat = if created == issued {
                    clat
                } else {
                    self.clock.nanos(done.saturating_sub(created))
                };
                self.tally.count(CompletedIo {
                    op: request.op,
                    wanted: request.len,
                    moved,
                    slat,
                    clat,
                    lat,
                });
                Continue(())
            }
            Ok(_) => self.refuse(&request, Errno::IO, done),
            Err(errno) => self.refuse(&request, errno, done),
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
        self.refused[op as usize] += 1;
        // A device that cannot do one I/O may do the next. Whatever else is wrong stays so.
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
            Break(StopReason::Error) => self.errors.push_last(error),
            _ => self.errors.push(error),
        }
        answer
    }

    /// Whatever is due: progress, a tick, the end of the lead-in, the end of the time.
    #[cold]
    fn event(&mut self, mut now: u64) -> Option<StopReason> {
        self.publish();
        if let Some(stop) = self.told_to_stop() {
            return Some(stop);
        }
        if self.in_ramp && now >= self.end {
            self.in_ramp = false;
            self.end_ramp();
            // Reading the counters of the disks takes longer than an I/O may: measurement begins behind it.
            now = self.clock.now();
            self.refused = [0; 3];
            self.depth = DepthRecord {
                iodepth: self.depth.iodepth,
                ..DepthRecord::default()
            };
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

    /// Forgets what the ramp counted, but for its bytes, and reads the counters of the disks.
    fn end_ramp(&mut self) {
        let totals = self.tally.totals();
        let bytes = |op: Op| Bytes(totals[op].1);
        self.ramp_bytes = Some(PerOp {
            read: bytes(Op::Read),
            write: bytes(Op::Write),
            trim: bytes(Op::Trim),
        });
        self.tally.restart();
        self.around.shared.disks.open();
    }

    /// Ends an interval. Ticks keep to a grid, so that the intervals of all workers can be laid on one another.
    fn tick(&mut self, now: u64) {
        let tick = self.clock.ticks(self.plan.measure.tick.0).max(1);
        let at = Nanos(self.clock.nanos(now - self.measuring_since));
        if let Some(interval) = self.tally.close_interval(at, true) {
            let message = Message::Interval {
                worker: self.around.index,
                interval,
            };
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
            progress.permille.store(
                (u128::from(done) * 1000 / u128::from(limit)) as u32,
                Relaxed,
            );
        }
    }
}

/// The operations that a worker records, and whether it flushes between I/Os.
fn records(plan: &WorkerPlan) -> (PerOp<bool>, bool) {
    let access = &plan.stream.access;
    let read = access.does(Op::Read) || plan.verify.is_some();
    let used = PerOp {
        read,
        write: access.does(Op::Write),
        trim: access.does(Op::Trim),
    };
    let d = &plan.durability;
    (
        used,
        d.fsync_every > 0 || d.fdatasync_every > 0 || d.range_sync.is_some(),
    )
}
