//! When a worker began, and when something besides I/O is due.

/// Moments of a worker, in ticks of its clock.
#[derive(Debug)]
pub(super) struct WorkerTimes {
    pub(super) begun: u64,
    pub(super) measuring_since: u64,
    pub(super) in_ramp: bool,
    /// Nanoseconds between looks up from I/O.
    pub(super) glance: u64,
    /// When the loop looks up: `next_look`, or at once where each I/O of a queue is looked at.
    pub(super) next_event: u64,
    pub(super) next_look: u64,
    pub(super) next_tick: u64,
    /// The end of the ramp time, then of the measured time.
    pub(super) end: u64,
}

impl WorkerTimes {
    /// Nothing has begun.
    pub(super) fn new(has_ramp: bool, glance: u64) -> WorkerTimes {
        WorkerTimes {
            begun: 0,
            measuring_since: 0,
            in_ramp: has_ramp,
            glance,
            next_event: 0,
            next_look: 0,
            next_tick: 0,
            end: u64::MAX,
        }
    }
}
