//! Start of a worker, and the times of events other than I/O.

/// Times of a worker, in ticks of its clock.
#[derive(Debug)]
pub(super) struct WorkerTimes {
    pub(super) begun: u64,
    pub(super) measuring_since: u64,
    pub(super) in_ramp: bool,
    /// Nanoseconds between event checks.
    pub(super) glance: u64,
    /// Time of the next event check: `next_look`, or immediately if each I/O of a queue is
    /// inspected.
    pub(super) next_event: u64,
    pub(super) next_look: u64,
    pub(super) next_tick: u64,
    /// End of the ramp time, then of the measured time.
    pub(super) end: u64,
}

impl WorkerTimes {
    /// Creates the times of a worker that has not started.
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
