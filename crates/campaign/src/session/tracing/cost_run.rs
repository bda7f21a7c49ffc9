//! Switches the recording of a disk off and on while a phase runs, to measure its cost.

use super::cost::{CostMeter, CostPlan};
use super::counters::{Counters, Reading};
use hakaru_model::io_path::{NoTraceCost, TraceCost, TracedOperation};
use hakaru_trace::recorder::EventRecorder;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Fraction (1/N) of the planned length below which a segment is too short to be the traced part of a phase.
const SHORT_PART: u64 = 4;

/// The measurement of the cost in one phase.
///
/// A thread switches, because the segments are shorter than the time between two progress reports of the engine.
#[derive(Debug)]
pub(super) struct CostRun {
    shared: Arc<CostShared>,
    thread: Option<JoinHandle<()>>,
    /// Planned length of a segment in nanoseconds.
    segment: u64,
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
    recorded: RecordedSegments,
    /// Start of the traced part, after the last segment.
    start: Option<Reading>,
}

/// A segment in which events were recorded.
#[derive(Clone, Copy, Debug, Default)]
struct RecordedSegment {
    /// Time from which its events come.
    events_since: u64,
    /// Counters at its start and at its end.
    edges: (Option<Reading>, Option<Reading>),
}

/// The last two segments in which events were recorded.
#[derive(Clone, Copy, Debug, Default)]
struct RecordedSegments {
    last: RecordedSegment,
    previous: RecordedSegment,
}

impl RecordedSegments {
    /// Begins a segment whose events come from now on.
    fn begin(&mut self, events_since: u64) {
        self.previous = self.last;
        self.last = RecordedSegment {
            events_since,
            edges: (None, None),
        };
    }

    /// Takes the segment before the last one as the last one if that had only just begun when the last operation of the
    /// phase ended.
    fn end_phase(&mut self, last_operation: u64, segment: u64) {
        let is_short =
            |begin: Reading| last_operation <= begin.at.saturating_add(segment / SHORT_PART);
        if self.previous.edges.1.is_some() && self.last.edges.0.is_none_or(is_short) {
            self.last = self.previous;
        }
    }
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
                recorded: RecordedSegments::default(),
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
            segment: plan.segment,
        }
    }

    /// Returns the time from which events are of use: those of earlier segments are incomplete.
    pub(super) fn events_since(&self) -> u64 {
        self.shared.lock().recorded.last.events_since
    }

    /// Returns the start of the traced part, once the cost has been measured.
    pub(super) fn start(&self) -> Option<Reading> {
        self.shared.lock().start
    }

    /// Counts an operation for the cost. Returns the start of the part with recording to which it belongs: the time after
    /// all segments, or one of the last two recorded segments as long as that has not begun.
    pub(super) fn note(&self, operation: &TracedOperation) -> Option<u64> {
        let mut state = self.shared.lock();
        state.meter.note(operation);
        match state.start {
            _ if !state.interrupted => Some(0),
            Some(start) => (operation.begin >= start.at).then_some(start.at),
            None => {
                let mut recorded = state.meter.last_recorded();
                let segment = recorded.find(|segment| segment.contains(operation));
                segment.map(|segment| segment.begin)
            }
        }
    }

    /// Ends the measurement, if it has not ended yet, at the end of a phase, whose last operation ended at `end`. A
    /// recorded segment that had only just begun then has too few operations, so the one before it counts as the last.
    pub(super) fn end_phase(&mut self, end: u64) {
        self.stop();
        let segment = self.segment;
        self.shared.lock().recorded.end_phase(end, segment);
    }

    /// Ends the measurement, if it has not ended yet.
    fn stop(&mut self) {
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
        let (begin, end) = self.shared.lock().recorded.last.edges;
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
                    self.lock().recorded.begin(hakaru_trace::now());
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
                state.recorded.last.edges = (Some(at_begin), None);
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
                self.lock().recorded.last.edges.1 = Some(at_end);
            }
            if stopped {
                return;
            }
        }
        let start = counters.reading();
        self.lock().start = Some(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_after_the_last_operation_is_not_the_traced_part() {
        let reading = |at| Some(Reading { at, totals: None });
        let mut recorded = RecordedSegments::default();
        recorded.begin(100);
        recorded.last.edges = (reading(110), reading(150));
        recorded.begin(200);
        recorded.last.edges = (reading(210), reading(215));
        for (last_operation, traced) in [(300, 200), (221, 200), (220, 100), (210, 100), (160, 100)]
        {
            let mut recorded = recorded;
            recorded.end_phase(last_operation, 40);
            assert_eq!(recorded.last.events_since, traced, "{last_operation}");
        }
        // Nothing else was recorded.
        let mut only = RecordedSegments::default();
        only.begin(200);
        only.last.edges = (reading(210), None);
        only.end_phase(150, 40);
        assert_eq!(only.last.events_since, 200);
    }
}
