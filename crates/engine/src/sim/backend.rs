//! Workers on a simulated card. Each has its own virtual clock, and only the worker with the earliest clock may act.
//!
//! Ties are broken by worker number, so a run with many workers is deterministic.

use super::card::{Effect, SimCard};
use super::media::Media;
use crate::backend::{CompletionSink, Files, QueueBackend, SyncKind};
use crate::clock::Clock;
use hakaru_model::job::Op;
use hakaru_model::stream::IoRequest;
use hakaru_model::units::Nanos;
use hakaru_sys::Errno;
use hakaru_sys::buffer::Slots;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// A card and the clocks of the workers that use it.
#[derive(Debug)]
pub(crate) struct SimScheduler {
    state: Mutex<SimState>,
    /// Condition variables of the workers; worker N waits on number N modulo [`TURNS`].
    turns: Vec<Condvar>,
}

/// Number of condition variables. If there are more workers, some are woken without being next.
const TURNS: usize = 256;

#[derive(Debug)]
struct SimState {
    card: SimCard,
    /// Clock of each worker; `None` once it has finished.
    clocks: Vec<Option<u64>>,
    /// Latest time any worker has reached.
    latest: u64,
    /// Written content, if it is verified.
    media: Option<Media>,
}

impl SimScheduler {
    /// Creates a scheduler for a card that stores written data (`keeps_content`), or only counts
    /// it.
    pub(crate) fn new(card: SimCard, keeps_content: bool) -> SimScheduler {
        let media = keeps_content.then(Media::default);
        let turns = (0..TURNS).map(|_| Condvar::new()).collect();
        SimScheduler {
            state: Mutex::new(SimState {
                card,
                clocks: Vec::new(),
                latest: 0,
                media,
            }),
            turns,
        }
    }

    /// Adds the workers of a phase, all at the latest time reached so far. Returns that time.
    pub(crate) fn open(&self, workers: usize) -> u64 {
        let mut state = self.lock();
        let now = state.latest;
        state.clocks = vec![Some(now); workers];
        now
    }

    fn lock(&self) -> MutexGuard<'_, SimState> {
        // The thread of a worker that panicked reports the panic; the state behind the lock is
        // still consistent.
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Advances a worker's clock and waits until no other clock is behind it.
    fn advance(&self, worker: usize, to: u64) -> MutexGuard<'_, SimState> {
        let mut state = self.lock();
        let moved = state.clocks[worker].is_some_and(|at| at < to);
        if moved {
            state.clocks[worker] = Some(to);
            state.latest = state.latest.max(to);
            if state.clocks.len() > 1 {
                self.call_next(&state);
            }
        }
        while !state.may_act(worker) {
            state = self
                .turn(worker)
                .wait(state)
                .unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        state
    }

    fn leave(&self, worker: usize) {
        let mut state = self.lock();
        if let Some(clock) = state.clocks.get_mut(worker) {
            *clock = None;
        }
        self.call_next(&state);
    }

    /// Adds a worker again after it left, at the latest time reached so far. Returns that time.
    fn enter(&self, worker: usize) -> u64 {
        let mut state = self.lock();
        let now = state.latest;
        if let Some(clock) = state.clocks.get_mut(worker) {
            *clock = Some(now);
        }
        now
    }

    /// Wakes only the worker that may act next.
    fn call_next(&self, state: &SimState) {
        let clocks = state
            .clocks
            .iter()
            .enumerate()
            .filter_map(|(worker, at)| at.map(|at| (at, worker)));
        if let Some((_, worker)) = clocks.min() {
            self.turn(worker).notify_all();
        }
    }

    fn turn(&self, worker: usize) -> &Condvar {
        &self.turns[worker % self.turns.len()]
    }
}

impl SimState {
    fn may_act(&self, worker: usize) -> bool {
        let Some(mine) = self.clocks[worker] else {
            return true;
        };
        let others = self
            .clocks
            .iter()
            .enumerate()
            .filter_map(|(i, at)| at.map(|at| (at, i)));
        others.min().is_none_or(|first| first >= (mine, worker))
    }
}

/// Per-worker backend of the card: I/Os in flight and buffers.
#[derive(Debug)]
pub(crate) struct SimBackend {
    scheduler: Arc<SimScheduler>,
    worker: usize,
    now: Rc<Cell<u64>>,
    in_flight: BinaryHeap<Reverse<(u64, u32)>>,
    outcome: Vec<Result<u32, Errno>>,
    prepared: usize,
    slots: Slots,
}

/// Virtual clock of a worker.
#[derive(Clone, Debug)]
pub(crate) struct VirtualClock {
    scheduler: Arc<SimScheduler>,
    worker: usize,
    now: Rc<Cell<u64>>,
}

impl SimBackend {
    pub(crate) fn new(
        scheduler: Arc<SimScheduler>,
        worker: usize,
        start: u64,
        slots: Slots,
    ) -> (SimBackend, VirtualClock) {
        let now = Rc::new(Cell::new(start));
        let depth = slots.count();
        let clock = VirtualClock {
            scheduler: Arc::clone(&scheduler),
            worker,
            now: Rc::clone(&now),
        };
        let in_flight = BinaryHeap::with_capacity(depth);
        (
            SimBackend {
                scheduler,
                worker,
                now,
                in_flight,
                outcome: vec![Ok(0); depth],
                prepared: 0,
                slots,
            },
            clock,
        )
    }
}

impl Drop for SimBackend {
    fn drop(&mut self) {
        self.scheduler.leave(self.worker);
    }
}

impl Clock for VirtualClock {
    const VIRTUAL: bool = true;

    fn now(&self) -> u64 {
        self.now.get()
    }

    fn nanos(&self, ticks: u64) -> u64 {
        ticks
    }

    fn ticks(&self, nanos: u64) -> u64 {
        nanos
    }

    fn sleep_until(&self, moment: u64) {
        if moment > self.now.get() {
            drop(self.scheduler.advance(self.worker, moment));
            self.now.set(moment);
        }
    }

    fn step_aside(&self) {
        self.scheduler.leave(self.worker);
    }

    fn step_in(&self) {
        self.now.set(self.scheduler.enter(self.worker));
    }
}

impl Files for SimBackend {
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.slots.get_mut(slot as usize, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.slots.all_mut()
    }

    fn sync(&mut self, _: u32, _: SyncKind) -> Result<(), Errno> {
        let mut state = self.scheduler.advance(self.worker, self.now.get());
        let done = state.card.flush(Nanos(self.now.get())).done_at.0;
        drop(state);
        drop(self.scheduler.advance(self.worker, done));
        self.now.set(done);
        Ok(())
    }
}

impl QueueBackend for SimBackend {
    fn prepare(&mut self, slot: u32, request: &IoRequest) {
        let IoRequest {
            op, offset, len, ..
        } = *request;
        let mut state = self.scheduler.advance(self.worker, self.now.get());
        let service = state
            .card
            .serve(Nanos(self.now.get()), op, offset, u64::from(len));
        let SimState { card, media, .. } = &mut *state;
        if let Some(media) = media {
            let block = self.slots.get_mut(slot as usize, len as usize);
            match (service.effect, op) {
                (Effect::Done, Op::Write) => media.write(card, offset, block),
                (Effect::Done | Effect::Dropped, Op::Read) => media.read(card, offset, block),
                _ => {}
            }
        }
        drop(state);
        self.outcome[slot as usize] = match (service.effect, op) {
            (Effect::Failed, _) => Err(Errno::IO),
            (Effect::Done | Effect::Dropped, Op::Read | Op::Write | Op::Trim) => Ok(len),
        };
        self.in_flight.push(Reverse((service.done_at.0, slot)));
        self.prepared += 1;
    }

    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        // Each I/O was submitted when it was prepared.
        Ok(std::mem::take(&mut self.prepared))
    }

    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> Result<usize, Errno> {
        let until = timeout.map(|t| self.now.get() + t.as_nanos() as u64);
        let mut count = 0;
        while let Some(&Reverse((at, slot))) = self.in_flight.peek() {
            let due = at <= self.now.get();
            if count >= max || !due && count >= min {
                break;
            }
            if !due {
                let to = until.map_or(at, |until| at.min(until));
                drop(self.scheduler.advance(self.worker, to));
                self.now.set(to);
                if to < at {
                    break;
                }
            }
            self.in_flight.pop();
            done.landed(slot, self.outcome[slot as usize]);
            count += 1;
        }
        Ok(count)
    }
}
