//! Events of all CPUs in order of time.

use crate::event::TraceEvent;

/// Most events kept between two calls that take them.
const LIMIT: usize = 2_000_000;

/// Events that were decoded but not taken yet.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    events: Vec<TraceEvent>,
    /// Events up to this moment are complete: no CPU still has an earlier one.
    safe: u64,
    /// Events dropped because nobody took them, by index of the event.
    dropped: Vec<u64>,
}

impl EventQueue {
    /// Adds an event. `index` identifies its kind in the counts.
    pub(super) fn push(&mut self, index: usize, event: TraceEvent) {
        if self.events.len() < LIMIT {
            self.events.push(event);
            return;
        }
        if self.dropped.len() <= index {
            self.dropped.resize(index + 1, 0);
        }
        self.dropped[index] += 1;
    }

    /// Declares that all events up to a moment have been added.
    pub(super) fn complete_until(&mut self, time: u64) {
        self.safe = self.safe.max(time);
    }

    /// Removes the events up to the safe moment, in order of time.
    pub(super) fn take(&mut self) -> Vec<TraceEvent> {
        self.sort();
        let later = self
            .events
            .split_off(self.events.partition_point(|event| event.time <= self.safe));
        std::mem::replace(&mut self.events, later)
    }

    /// Removes all events in order of time.
    pub(super) fn take_all(&mut self) -> Vec<TraceEvent> {
        self.sort();
        std::mem::take(&mut self.events)
    }

    /// Returns how many events of a kind were dropped since the start.
    pub(super) fn dropped(&self, index: usize) -> u64 {
        self.dropped.get(index).copied().unwrap_or(0)
    }

    /// Returns how many events of all kinds were dropped since the start.
    pub(super) fn dropped_in_total(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Sorts by time; the order within one CPU stays. Each CPU's events are nearly sorted, which the algorithm uses.
    fn sort(&mut self) {
        self.events.sort_by_key(|event| event.time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;

    fn at(time: u64, cpu: u32) -> TraceEvent {
        TraceEvent {
            time,
            cpu,
            tid: 1,
            kind: EventKind::SyncEnter,
        }
    }

    fn times(events: &[TraceEvent]) -> Vec<(u64, u32)> {
        events.iter().map(|event| (event.time, event.cpu)).collect()
    }

    #[test]
    fn merges_cpus_up_to_the_safe_moment() {
        let mut queue = EventQueue::default();
        for event in [at(10, 0), at(30, 0), at(50, 0), at(5, 1), at(30, 1)] {
            queue.push(0, event);
        }
        assert_eq!(queue.take(), []);
        queue.complete_until(30);
        assert_eq!(times(&queue.take()), [(5, 1), (10, 0), (30, 0), (30, 1)]);
        queue.push(0, at(40, 1));
        assert_eq!(queue.take(), []);
        assert_eq!(times(&queue.take_all()), [(40, 1), (50, 0)]);
        assert_eq!(queue.dropped(0), 0);
    }
}
