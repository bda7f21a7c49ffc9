//! Switches the recording of a disk off and on while a phase runs, to measure its cost.

use super::cost::{CostMeter, CostPlan};
use super::counters::{Counters, Reading};
use hakaru_model::io_path::{NoTraceCost, TraceCost, TracedOperation};
use hakaru_trace::recorder::EventRecorder;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The measurement of the cost in one phase.
///
/// A thread switches, because the segments are shorter than the time between two progress reports of the engine.
#[derive(Debug)]
pub(super) struct CostRun {
    shared: Arc<CostShared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct CostShared {
    state: Mutex<CostState>,
    stop: Condvar,
}

#[derive(Debug)]
struct CostState {
    meter: CostMeter,
    stopped: bool,
    failed: bool,
    /// Whether recording was off for any time: until then, everything is known from the start on.
    interrupted: bool,
    /// Time from which the events of the last recorded segment come.
    events_since: u64,
    /// Counters at the start and at the end of the last recorded segment.
    edges: (Option<Reading>, Option<Reading>),
    /// Start of the traced part, after the last segment.
    start: Option<Reading>,
}

impl CostRun {
    /// Begins with a recorded segment.
    pub(super) fn begin(
        recorder: &Arc<EventRecorder>,
        counters: &Counters,
        plan: CostPlan,
    ) -> CostRun {
        let shared = Arc::new(CostShared {
            state: Mutex::new(CostState {
                meter: CostMeter::new(plan),
                stopped: false,
                failed: false,
                interrupted: false,
                events_since: 0,
                edges: (None, None),
                start: None,
            }),
            stop: Condvar::new(),
        });
        let (of_thread, recorder) = (Arc::clone(&shared), Arc::clone(recorder));
        let (counters, segment) = (counters.clone(), Duration::from_nanos(plan.segment));
        let thread = std::thread::Builder::new()
            .name("hakaru-trace-cost".to_owned())
            .spawn(move || of_thread.switch_in_turn(&recorder, &counters, segment));
        if thread.is_err() {
            shared.lock().failed = true;
        }
        CostRun {
            shared,
            thread: thread.ok(),
        }
    }

    /// Returns the time from which events are of use: those of earlier segments are incomplete.
    pub(super) fn events_since(&self) -> u64 {
        self.shared.lock().events_since
    }

    /// Returns the start of the traced part, once the cost has been measured.
    pub(super) fn start(&self) -> Option<Reading> {
        self.shared.lock().start
    }

    /// Counts an operation for the cost. Returns whether it belongs to the traced part: to the time after all segments,
    /// or to the last recorded segment as long as that has not begun.
    pub(super) fn note(&self, operation: &TracedOperation) -> bool {
        let mut state = self.shared.lock();
        state.meter.note(operation);
        match state.start {
            _ if !state.interrupted => true,
            Some(start) => operation.begin >= start.at,
            None => {
                let last = state.meter.last_recorded();
                last.is_none_or(|last| last.contains(operation))
            }
        }
    }

    /// Ends the measurement, if it has not ended yet.
    pub(super) fn stop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.stop.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Whether recording was off for any time.
    pub(super) fn interrupted(&self) -> bool {
        self.shared.lock().interrupted
    }

    /// Returns the counters at the start and at the end of the last recorded segment.
    pub(super) fn last_recorded(&self) -> Option<(Reading, Reading)> {
        let (begin, end) = self.shared.lock().edges;
        begin.zip(end)
    }

    /// Returns the cost, or why it is unknown.
    pub(super) fn cost(&self) -> Result<TraceCost, NoTraceCost> {
        let state = self.shared.lock();
        state.meter.cost().ok_or(match (state.failed, state.start) {
            (true, _) => NoTraceCost::NotSwitched,
            (false, Some(start)) if state.meter.is_over_budget(start.at) => {
                NoTraceCost::SlowSwitching
            }
            (false, Some(_)) => NoTraceCost::FewIos,
            (false, None) => NoTraceCost::Ended,
        })
    }
}

impl Drop for CostRun {
    fn drop(&mut self) {
        self.stop();
    }
}

impl CostShared {
    fn lock(&self) -> MutexGuard<'_, CostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn switch_in_turn(&self, recorder: &EventRecorder, counters: &Counters, segment: Duration) {
        // Counters are read at the edges of all segments alike, outside of them.
        loop {
            // The lock must not be held in the body.
            let next = self.lock().meter.next(hakaru_trace::now());
            let Some(recorded) = next else { break };
            let switched = match recorded {
                true if !self.lock().interrupted => Ok(()),
                true => {
                    self.lock().events_since = hakaru_trace::now();
                    recorder.resume()
                }
                false => {
                    self.lock().interrupted = true;
                    recorder.pause()
                }
            };
            if switched.is_err() {
                self.lock().failed = true;
                let _ = recorder.resume();
                break;
            }
            let at_begin = counters.reading();
            let mut state = self.lock();
            state.meter.begin(recorded, hakaru_trace::now());
            if recorded {
                state.edges = (Some(at_begin), None);
            }
            let waited = self
                .stop
                .wait_timeout_while(state, segment, |state| !state.stopped);
            let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            state.meter.end(hakaru_trace::now());
            let stopped = state.stopped;
            drop(state);
            let at_end = counters.reading();
            if recorded {
                self.lock().edges.1 = Some(at_end);
            }
            if stopped {
                return;
            }
        }
        let start = counters.reading();
        self.lock().start = Some(start);
    }
}
