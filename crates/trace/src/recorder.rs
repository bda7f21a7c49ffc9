//! Records events of the block layer, of the file system and of the bus below, for one disk.
//!
//! A thread empties the kernel's rings and decodes their records. The events of all CPUs are merged by time. At the end
//! of each phase the kernel's counters of events are compared with the events received. Nothing is left behind, even
//! after `kill -9`: perf events and a private tracefs end with their descriptors, and a second process removes an ftrace
//! instance. Where a program does not allow that process, the instance stays until the next start removes it.

mod cleaner;
mod decode;
mod disk;
mod error;
mod files;
mod format;
mod ftrace;
mod options;
mod page;
mod perf;
mod probe;
mod queue;
mod select;
mod source;
mod table;
mod tracefs;

pub use cleaner::{CLEANER_NAME, allow_cleaner, clean_up};
pub use disk::DiskFacts;
pub use error::{Capability, TraceError};
pub use options::{DiskNumber, EventSet, RecorderOptions};

#[cfg(test)]
pub(crate) use decode::parse_flags;

use crate::event::TraceEvent;
use decode::{Decoder, FilesystemPlace};
use ftrace::{EventCounting, FtraceSource};
use hakaru_model::io_path::{EventCount, TraceMethod, TracerReport};
use hakaru_model::units::Bytes;
use hakaru_sys::clock::monotonic_raw;
use perf::PerfSource;
use queue::EventQueue;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use select::select;
use source::{Counts, EventSelection, EventSource};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use table::EVENTS;
use tracefs::Tracefs;

/// Longest time between the time stamp of an event and its appearance in a ring, in nanoseconds. A virtual CPU may be
/// suspended in between.
const LATENESS: u64 = 5_000_000;

/// Records the events of one disk.
///
/// Dropping it ends the recording. That can take up to a second, because the kernel waits until no CPU uses the
/// tracepoints, so do it outside of measured time.
#[derive(Debug)]
pub struct EventRecorder {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    disk: DiskFacts,
}

/// What the recorder and its thread share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    stop: AtomicBool,
    /// Wakes the thread to stop.
    wake: OwnedFd,
    rings: Mutex<Arc<PolledRings>>,
}

/// What the thread waits for.
#[derive(Debug)]
struct PolledRings {
    /// Readable when a ring is partly filled.
    files: Vec<OwnedFd>,
    timeout_ms: i64,
}

#[derive(Debug)]
struct State {
    source: EventSource,
    selection: Vec<EventSelection>,
    /// Whether each of these events is recorded while recording is on.
    chosen: Vec<bool>,
    bio_based: bool,
    decoder: Decoder,
    queue: EventQueue,
    /// Whether events are being recorded.
    on: bool,
    /// Size of a ring that was asked for.
    ring: Option<usize>,
    /// Whether the facility follows from the events that are recorded.
    may_change_method: bool,
    /// Counters at the last [`EventRecorder::finish`].
    counts: Counts,
    received: Vec<u64>,
}

impl EventRecorder {
    /// Starts to record the events of a disk, or of the disk of a partition.
    ///
    /// # Errors
    /// The reason why nothing can be recorded.
    pub fn start(disk: DiskNumber, options: &RecorderOptions) -> Result<EventRecorder, TraceError> {
        let disk = DiskFacts::read(disk)?;
        let tracefs = Tracefs::find()?;
        tracefs.remove_stale_instances();
        let mut state = State::open(tracefs, &disk, options)?;
        let rings = state.source.polled_rings()?;
        let wake = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(perf::open_error)?;
        state.switch(true)?;
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            stop: AtomicBool::new(false),
            wake,
            rings: Mutex::new(Arc::new(rings)),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("hakaru-trace".to_owned())
            .spawn(move || of_thread.drain_until_stopped())
            .map_err(|error| TraceError::Failed {
                operation: "starting a thread",
                errno: Errno::from_io_error(&error).unwrap_or(Errno::AGAIN),
            })?;
        Ok(EventRecorder {
            shared,
            thread: Some(thread),
            disk,
        })
    }

    /// Returns the facts about the disk.
    pub fn disk(&self) -> &DiskFacts {
        &self.disk
    }

    /// Returns the facility that records.
    pub fn method(&self) -> TraceMethod {
        self.shared.lock().source.method()
    }

    /// Returns the name of an [`Other`](crate::event::EventKind::Other) event.
    pub fn event_name(event: u16) -> Option<&'static str> {
        EVENTS.get(usize::from(event)).map(|spec| spec.name)
    }

    /// Takes the events up to a moment shortly before the thread last emptied the rings, in order of time. Call it
    /// about ten times a second.
    pub fn take(&self) -> Vec<TraceEvent> {
        self.shared.lock().queue.take()
    }

    /// Takes all events at the end of a phase, and returns the counts since the start or the last call. Recording goes
    /// on afterwards, unless it is paused.
    ///
    /// `unseen_completions` and `unmatched` of the report are left to whoever restores the requests.
    pub fn finish(&self) -> (Vec<TraceEvent>, TracerReport) {
        let mut state = self.shared.lock();
        let on = state.on;
        // Counters and samples are compared at a moment at which neither changes.
        let stopped = state.switch(false).is_ok();
        state.drain();
        let events = state.queue.take_all();
        let mut counts = state.count();
        // What was not recorded is no row with zeros.
        let mut chosen = state.chosen.iter();
        counts.retain(|count| *chosen.next().unwrap_or(&true) || count.counted > 0);
        if on && stopped {
            // It worked before; events that are not recorded any more show as a loss at the next call.
            let _ = state.switch(true);
        }
        let report = TracerReport {
            method: state.source.method(),
            events: counts,
            ring: Bytes(state.source.ring() as u64),
            unseen_completions: 0,
            unmatched: 0,
            foreign_threads: false,
            uncounted: state.counts.uncounted,
        };
        (events, report)
    }

    /// Chooses the events to record from now on, among those of the set with which the recorder was started.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn choose(&self, set: EventSet) -> Result<(), TraceError> {
        let mut state = self.shared.lock();
        if state.choose(set)? {
            let rings = state.source.polled_rings()?;
            drop(state);
            *self.shared.rings() = Arc::new(rings);
            let _ = rustix::io::write(&self.shared.wake, &1u64.to_ne_bytes());
        }
        Ok(())
    }

    /// Stops recording for a while. Events are neither recorded nor counted.
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn pause(&self) -> Result<(), TraceError> {
        self.shared.lock().switch(false)
    }

    /// Continues after [`Self::pause`].
    ///
    /// # Errors
    /// The error of the kernel.
    pub fn resume(&self) -> Result<(), TraceError> {
        self.shared.lock().switch(true)
    }
}

impl Drop for EventRecorder {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        let _ = rustix::io::write(&self.shared.wake, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        // At once for all; closing takes longer.
        let _ = self.shared.lock().switch(false);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rings(&self) -> MutexGuard<'_, Arc<PolledRings>> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drain_until_stopped(&self) {
        // A full ring loses events, so this short work comes before that of others. Only root may ask for that.
        let _ = hakaru_sys::thread::run_in_real_time();
        while !self.stop.load(Ordering::Acquire) {
            let rings = Arc::clone(&self.rings());
            self.drain_while(&rings);
        }
    }

    /// Empties the rings until they are replaced, or the recording stops.
    fn drain_while(&self, rings: &Arc<PolledRings>) {
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: (rings.timeout_ms * 1_000_000) as _,
        };
        let mut files: Vec<_> = std::iter::once(&self.wake).chain(&rings.files).collect();
        while !self.stop.load(Ordering::Acquire) && Arc::ptr_eq(rings, &self.rings()) {
            let mut polled: Vec<_> = files
                .iter()
                .map(|file| PollFd::new(*file, PollFlags::IN))
                .collect();
            // An error such as EINTR is only a wait that ended early.
            let _ = rustix::event::poll(&mut polled, Some(&timeout));
            // It does not block: without this, the next wait would end at once.
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
            // The ring of a CPU that was taken offline would end each wait at once.
            let gone: Vec<_> = polled
                .iter()
                .map(|file| {
                    let flags = file.revents();
                    flags.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
                })
                .collect();
            let mut gone = gone.iter();
            files.retain(|_| !gone.next().unwrap_or(&false));
            self.lock().drain();
        }
    }
}

impl State {
    fn open(
        tracefs: Tracefs,
        disk: &DiskFacts,
        options: &RecorderOptions,
    ) -> Result<State, TraceError> {
        let filesystem = options.filesystem.map(|number| {
            let below = DiskFacts::read(number).ok();
            let partition = below.as_ref().and_then(|below| below.partition);
            FilesystemPlace {
                number,
                disk: below.map_or(number, |below| below.number),
                start: partition.map_or(0, |(start, _)| start),
            }
        });
        let mut decoder = Decoder::new(filesystem);
        let selection = select(&tracefs, disk, options, &mut decoder)?;
        let may_change_method = options.method.is_none() && cleaner::is_allowed();
        let source = match may_change_method && options.events != EventSet::Full {
            true => open_cleaned_ftrace(&selection, options.ring),
            false => None,
        };
        let source = match source {
            Some(source) => source,
            None => open_source(tracefs, &selection, options)?,
        };
        let mut state = State {
            source,
            ring: options.ring,
            may_change_method,
            received: vec![0; selection.len()],
            chosen: vec![true; selection.len()],
            bio_based: disk.bio_based,
            selection,
            decoder,
            queue: EventQueue::default(),
            on: false,
            counts: Counts::default(),
        };
        let probe = options.probe && state.source.method() == TraceMethod::Perf;
        if probe && options.method.is_none() && !state.delivers_completions(disk)? {
            // Where it is not allowed, perf's gaps are counted and reported.
            let ftrace = FtraceSource::open(
                Tracefs::find()?,
                &state.selection,
                options.ring,
                EventCounting::Perf,
            );
            if let Ok(ftrace) = ftrace {
                state.may_change_method = false;
                state.source = EventSource::Ftrace(ftrace);
                state.counts = Counts::default();
            }
        }
        Ok(state)
    }

    /// Reads some blocks of the disk. Returns whether all their completions were received.
    fn delivers_completions(&mut self, disk: &DiskFacts) -> Result<bool, TraceError> {
        self.switch(true)?;
        let read = probe::read_blocks(disk);
        self.switch(false)?;
        self.drain();
        self.queue.take_all();
        let counts = self.count();
        Ok(read == 0 || !source::lacks_completions(&self.selection, &counts))
    }

    /// Returns whether the facility has changed.
    fn choose(&mut self, set: EventSet) -> Result<bool, TraceError> {
        let is_in = |event: &EventSelection| event.spec().is_in(set, self.bio_based);
        let chosen: Vec<bool> = self.selection.iter().map(is_in).collect();
        let replacement = self
            .replacement_for(set)
            .filter(|source| source.choose(&self.selection, &chosen).is_ok());
        let is_replaced = replacement.is_some();
        if chosen == self.chosen && !is_replaced {
            return Ok(false);
        }
        let on = self.on;
        self.switch(false)?;
        let selected = match replacement {
            Some(source) => {
                self.drain();
                self.source = source;
                self.counts = Counts::default();
                self.received = self.received_so_far();
                Ok(())
            }
            None => self.source.choose(&self.selection, &chosen),
        };
        if selected.is_ok() {
            self.chosen = chosen;
        }
        // On failure, recording goes on with the events of before.
        self.switch(on)?;
        selected.map(|()| is_replaced)
    }

    /// Opens the facility that suits a set of events, if it is another than the present one. An event takes a third of
    /// the time in ftrace, but perf follows higher rates in less memory.
    fn replacement_for(&self, set: EventSet) -> Option<EventSource> {
        if !self.may_change_method {
            return None;
        }
        match (set, self.source.method()) {
            (EventSet::Full, TraceMethod::Ftrace) => {
                let perf = PerfSource::open(&self.selection, self.ring).ok()?;
                Some(EventSource::Perf(perf))
            }
            (EventSet::Minimal | EventSet::Lean, TraceMethod::Perf) => {
                open_cleaned_ftrace(&self.selection, self.ring)
            }
            _ => None,
        }
    }

    fn switch(&mut self, on: bool) -> Result<(), TraceError> {
        if self.on != on {
            self.source.enable(on, &self.chosen)?;
            self.on = on;
        }
        Ok(())
    }

    /// Moves the events of all rings to the queue.
    fn drain(&mut self) {
        let begin = monotonic_raw();
        self.source.drain(&mut self.decoder, &mut self.queue);
        self.queue.complete_until(begin.saturating_sub(LATENESS));
    }

    /// Returns how many events of each kind came since the start and were not dropped.
    fn received_so_far(&self) -> Vec<u64> {
        let received = self.decoder.received().enumerate();
        received
            .map(|(index, received)| received.saturating_sub(self.queue.dropped(index)))
            .collect()
    }

    /// Returns the counts since the last call.
    fn count(&mut self) -> Vec<EventCount> {
        let mut counts = self.source.counts(self.selection.len());
        // Events that nobody took in time are as lost as those for which a ring had no space.
        counts.lost_elsewhere += self.queue.dropped_in_total();
        let received = self.received_so_far();
        let new: Vec<u64> = received
            .iter()
            .zip(&self.received)
            .map(|(now, before)| now.saturating_sub(*before))
            .collect();
        let result = counts.since(&self.counts, &self.selection, &new);
        (self.counts, self.received) = (counts, received);
        result
    }
}

/// Opens ftrace if its instance is removed whatever ends this process.
fn open_cleaned_ftrace(selection: &[EventSelection], ring: Option<usize>) -> Option<EventSource> {
    let ftrace = FtraceSource::open(
        Tracefs::find().ok()?,
        selection,
        ring,
        EventCounting::Buffer,
    );
    let ftrace = ftrace.ok()?;
    ftrace.has_cleaner().then_some(EventSource::Ftrace(ftrace))
}

/// Opens the facility that was asked for. By default that is perf, or ftrace where perf events are not available.
fn open_source(
    tracefs: Tracefs,
    selection: &[EventSelection],
    options: &RecorderOptions,
) -> Result<EventSource, TraceError> {
    let ftrace = |tracefs| {
        FtraceSource::open(tracefs, selection, options.ring, EventCounting::Perf)
            .map(EventSource::Ftrace)
    };
    if options.method == Some(TraceMethod::Ftrace) {
        return ftrace(tracefs);
    }
    match PerfSource::open(selection, options.ring) {
        Ok(perf) => Ok(EventSource::Perf(perf)),
        Err(refused @ (TraceError::NoPerfEvents | TraceError::NoPermission { .. }))
            if options.method.is_none() =>
        {
            ftrace(tracefs).map_err(|_| refused)
        }
        Err(refused) => Err(refused),
    }
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests;
