//! Inserts spooling, tracing and live states between a run and its observer.

use hakaru_engine::{Flow, LayoutProgress, LogChunk, MeasuredPart, Observer, PhaseProgress};
use hakaru_model::io_path::TracedOperation;
use hakaru_model::job::PerOp;
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{Interval, LatencyStepCounts, PhaseRecord};
use std::borrow::Cow;

/// Callbacks of spooling, tracing or live states, called before those of the observer, except where noted. They cannot stop a run.
pub(super) trait ObserverHook: Sized {
    /// Inserts it between a run and its observer.
    fn before<'a>(&'a mut self, observer: &'a mut dyn Observer) -> ForwardingObserver<'a, Self> {
        ForwardingObserver {
            hook: self,
            observer,
        }
    }
    fn phase_begins(&mut self, _index: usize, _phase: &PhasePlan) {}
    fn laying_out(&mut self, _layout: &LayoutProgress<'_>) {}
    /// Called after the observer, so that nothing comes between this and the start of the workers.
    fn workers_start(&mut self, _phase: &PhasePlan) {}
    fn operations(&mut self, _operations: &[TracedOperation]) {}
    fn measured(&mut self, _phase: &PhasePlan, _part: &MeasuredPart) {}
    fn progress(&mut self, _phase: &PhasePlan, _progress: &PhaseProgress) {}
    fn latencies(&mut self, _worker: usize, _latencies: &PerOp<LatencyStepCounts>) {}
    fn interval(&mut self, _worker: usize, _interval: &Interval) {}
    /// Returns the record that the observer receives.
    fn phase_ends<'r>(&mut self, record: &'r PhaseRecord) -> Cow<'r, PhaseRecord> {
        Cow::Borrowed(record)
    }
}

/// A hook that is not needed does nothing.
impl<H: ObserverHook> ObserverHook for Option<H> {
    fn phase_begins(&mut self, index: usize, phase: &PhasePlan) {
        self.iter_mut()
            .for_each(|hook| hook.phase_begins(index, phase));
    }

    fn laying_out(&mut self, layout: &LayoutProgress<'_>) {
        self.iter_mut().for_each(|hook| hook.laying_out(layout));
    }

    fn workers_start(&mut self, phase: &PhasePlan) {
        self.iter_mut().for_each(|hook| hook.workers_start(phase));
    }

    fn operations(&mut self, operations: &[TracedOperation]) {
        self.iter_mut().for_each(|hook| hook.operations(operations));
    }

    fn measured(&mut self, phase: &PhasePlan, part: &MeasuredPart) {
        self.iter_mut().for_each(|hook| hook.measured(phase, part));
    }

    fn progress(&mut self, phase: &PhasePlan, progress: &PhaseProgress) {
        self.iter_mut()
            .for_each(|hook| hook.progress(phase, progress));
    }

    fn latencies(&mut self, worker: usize, latencies: &PerOp<LatencyStepCounts>) {
        self.iter_mut()
            .for_each(|hook| hook.latencies(worker, latencies));
    }

    fn interval(&mut self, worker: usize, interval: &Interval) {
        self.iter_mut()
            .for_each(|hook| hook.interval(worker, interval));
    }

    fn phase_ends<'r>(&mut self, record: &'r PhaseRecord) -> Cow<'r, PhaseRecord> {
        match self {
            Some(hook) => hook.phase_ends(record),
            None => Cow::Borrowed(record),
        }
    }
}

/// An observer that calls a hook and passes all calls on to another observer.
pub(super) struct ForwardingObserver<'a, H> {
    hook: &'a mut H,
    observer: &'a mut dyn Observer,
}

impl<H: ObserverHook> Observer for ForwardingObserver<'_, H> {
    fn phase_begins(&mut self, index: usize, phase: &PhasePlan) {
        self.hook.phase_begins(index, phase);
        self.observer.phase_begins(index, phase);
    }

    fn laying_out(&mut self, layout: &LayoutProgress<'_>) -> Flow {
        self.hook.laying_out(layout);
        self.observer.laying_out(layout)
    }

    fn workers_start(&mut self, phase: &PhasePlan) {
        self.observer.workers_start(phase);
        self.hook.workers_start(phase);
    }

    fn operations(&mut self, worker: usize, operations: &[TracedOperation]) {
        self.hook.operations(operations);
        self.observer.operations(worker, operations);
    }

    fn measured(&mut self, phase: &PhasePlan, part: &MeasuredPart) {
        self.hook.measured(phase, part);
        self.observer.measured(phase, part);
    }

    fn progress(&mut self, phase: &PhasePlan, progress: &PhaseProgress) -> Flow {
        self.hook.progress(phase, progress);
        self.observer.progress(phase, progress)
    }

    fn latencies(&mut self, worker: usize, latencies: &PerOp<LatencyStepCounts>) {
        self.hook.latencies(worker, latencies);
        self.observer.latencies(worker, latencies);
    }

    fn interval(&mut self, worker: usize, interval: &Interval) {
        self.hook.interval(worker, interval);
        self.observer.interval(worker, interval);
    }

    fn log(&mut self, worker: usize, chunk: &LogChunk) {
        self.observer.log(worker, chunk);
    }

    fn wants_so_far(&mut self) -> bool {
        self.observer.wants_so_far()
    }

    fn so_far(&mut self, index: usize, record: &PhaseRecord) {
        self.observer.so_far(index, record);
    }

    fn phase_ends(&mut self, record: &PhaseRecord) -> Flow {
        let record = self.hook.phase_ends(record);
        self.observer.phase_ends(&record)
    }
}
