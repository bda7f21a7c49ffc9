//! The kernel's facility behind a recorder, and its counts.

use super::PolledRings;
use super::decode::Decoder;
use super::error::TraceError;
use super::ftrace::FtraceSource;
use super::perf::PerfSource;
use super::queue::EventQueue;
use super::table::{EVENTS, EventShape, EventSpec};
use hakaru_model::io_path::{EventCount, IoPath, TraceMethod};
use hakaru_sys::perf::EventCounter;
use std::ffi::CString;

/// An event that is recorded.
#[derive(Clone, Debug)]
pub(super) struct EventSelection {
    /// Index into [`EVENTS`].
    pub event: usize,
    /// The kernel's number.
    pub id: u16,
    /// The kernel's filter; empty for none.
    pub filter: CString,
}

impl EventSelection {
    /// Returns the row of the table.
    pub(super) fn spec(&self) -> &'static EventSpec {
        &EVENTS[self.event]
    }
}

/// Counters since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// By event, in the order of the selection.
    pub events: Vec<EventCounter>,
    /// Lost events of which the kernel does not say which they were.
    pub lost_elsewhere: u64,
    /// Whether the events were not counted, so that only reported losses are known.
    pub uncounted: bool,
}

impl Counts {
    /// Returns the counts between two readings. `received` is how many events of each kind came in between.
    pub(super) fn since(
        &self,
        before: &Counts,
        events: &[EventSelection],
        received: &[u64],
    ) -> Vec<EventCount> {
        let mut elsewhere = self.lost_elsewhere.saturating_sub(before.lost_elsewhere);
        let all: u64 = received.iter().sum();
        let share = elsewhere as f64 / all.max(1) as f64;
        let earlier = |index: usize| before.events.get(index).copied().unwrap_or_default();
        let mut counts = Vec::with_capacity(events.len());
        for (index, event) in events.iter().enumerate() {
            let (now, then) = (self.events[index], earlier(index));
            let recorded = received.get(index).copied().unwrap_or(0);
            let known = now.lost.unwrap_or(0).saturating_sub(then.lost.unwrap_or(0));
            let counted = if self.uncounted {
                recorded + (recorded as f64 * share).round() as u64
            } else {
                now.count.saturating_sub(then.count)
            };
            // Losses without a name can only be among the events that did not come.
            let unnamed = counted.saturating_sub(recorded + known).min(elsewhere);
            elsewhere -= unnamed;
            let lost = known + unnamed;
            counts.push(EventCount {
                name: event.spec().name.to_owned(),
                counted,
                recorded,
                lost,
                missing: counted.saturating_sub(recorded + lost),
            });
        }
        counts
    }
}

/// Whether more completions are missing, neither received nor reported as lost, than the limit allows.
pub(super) fn lacks_completions(events: &[EventSelection], counts: &[EventCount]) -> bool {
    let (mut counted, mut missing) = (0, 0);
    for (event, count) in events.iter().zip(counts) {
        if matches!(
            event.spec().shape,
            EventShape::RequestComplete | EventShape::BioComplete
        ) {
            counted += count.counted;
            missing += count.missing;
        }
    }
    missing as f64 > counted as f64 * IoPath::LOSS_LIMIT
}

/// One of the kernel's facilities, opened.
#[derive(Debug)]
pub(super) enum EventSource {
    Perf(PerfSource),
    Ftrace(FtraceSource),
}

impl EventSource {
    pub(super) fn method(&self) -> TraceMethod {
        match self {
            EventSource::Perf(_) => TraceMethod::Perf,
            EventSource::Ftrace(_) => TraceMethod::Ftrace,
        }
    }

    pub(super) fn ring(&self) -> usize {
        match self {
            EventSource::Perf(perf) => perf.ring(),
            EventSource::Ftrace(ftrace) => ftrace.ring(),
        }
    }

    /// Prepares to record only some of the events. Recording is off.
    pub(super) fn choose(
        &self,
        events: &[EventSelection],
        chosen: &[bool],
    ) -> Result<(), TraceError> {
        match self {
            EventSource::Perf(_) => Ok(()),
            EventSource::Ftrace(ftrace) => ftrace.choose(events, chosen),
        }
    }

    /// Switches the recording of the chosen events.
    pub(super) fn enable(&self, on: bool, chosen: &[bool]) -> Result<(), TraceError> {
        match self {
            EventSource::Perf(perf) => perf.enable(on, chosen),
            EventSource::Ftrace(ftrace) => ftrace.enable(on, chosen),
        }
    }

    pub(super) fn drain(&mut self, decoder: &mut Decoder, queue: &mut EventQueue) {
        match self {
            EventSource::Perf(perf) => perf.drain(decoder, queue),
            EventSource::Ftrace(ftrace) => ftrace.drain(decoder, queue),
        }
    }

    pub(super) fn counts(&self, events: usize) -> Counts {
        match self {
            EventSource::Perf(perf) => perf.counts(events),
            EventSource::Ftrace(ftrace) => ftrace.counts(events),
        }
    }

    /// Returns descriptors that become readable when a ring is partly filled, and the longest time in milliseconds
    /// between two calls of [`Self::drain`].
    pub(super) fn polled_rings(&self) -> Result<PolledRings, TraceError> {
        let (files, timeout_ms) = match self {
            EventSource::Perf(perf) => (perf.poll_files()?, 100),
            // Kernels before 6.1 would wake a poller of these buffers at each event.
            EventSource::Ftrace(ftrace) => (Vec::new(), ftrace.longest_wait()),
        };
        Ok(PolledRings { files, timeout_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(count: usize) -> Vec<EventSelection> {
        (0..count)
            .map(|event| EventSelection {
                event,
                id: event as u16,
                filter: CString::default(),
            })
            .collect()
    }

    fn counter(count: u64, lost: Option<u64>) -> EventCounter {
        EventCounter { count, lost }
    }

    #[test]
    fn separates_lost_from_missing_events() {
        let before = Counts {
            events: vec![counter(100, Some(1)), counter(50, Some(0))],
            ..Counts::default()
        };
        let after = Counts {
            events: vec![counter(200, Some(6)), counter(150, Some(0))],
            ..Counts::default()
        };
        let counts = after.since(&before, &selection(2), &[95, 93]);
        let figures =
            |count: &EventCount| (count.counted, count.recorded, count.lost, count.missing);
        assert_eq!(figures(&counts[0]), (100, 95, 5, 0));
        assert_eq!(figures(&counts[1]), (100, 93, 0, 7));
        assert_eq!(counts[0].name, EVENTS[0].name);
    }

    #[test]
    fn distributes_losses_of_older_kernels_over_what_did_not_come() {
        let after = Counts {
            events: vec![counter(100, None), counter(100, None)],
            lost_elsewhere: 7,
            ..Counts::default()
        };
        let counts = after.since(&Counts::default(), &selection(2), &[95, 93]);
        assert_eq!((counts[0].lost, counts[0].missing), (5, 0));
        assert_eq!((counts[1].lost, counts[1].missing), (2, 5));
    }

    #[test]
    fn estimates_by_reported_losses_where_nothing_counts() {
        let after = Counts {
            events: vec![EventCounter::default(); 2],
            lost_elsewhere: 10,
            uncounted: true,
        };
        let counts = after.since(&Counts::default(), &selection(2), &[300, 100]);
        let figures: Vec<_> = counts.iter().map(|c| (c.counted, c.lost)).collect();
        assert_eq!(figures, [(308, 8), (103, 2)]);
    }

    #[test]
    fn one_missing_completion_of_a_hundred_fails_the_probe() {
        let events = selection(EVENTS.len());
        let counts = |name: &str, missing: u64| -> Vec<EventCount> {
            let count = |event: &EventSelection| EventCount {
                name: event.spec().name.to_owned(),
                counted: 100,
                missing: if event.spec().name == name {
                    missing
                } else {
                    0
                },
                ..EventCount::default()
            };
            events.iter().map(count).collect()
        };
        assert!(lacks_completions(&events, &counts("block_rq_complete", 1)));
        assert!(!lacks_completions(&events, &counts("block_rq_complete", 0)));
        // Others explain, but do not decide.
        assert!(!lacks_completions(&events, &counts("block_plug", 50)));
        assert!(!lacks_completions(&[], &[]));
    }
}
