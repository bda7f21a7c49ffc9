//! Streams of events for tests.

use crate::event::{EventKind, RequestFlags, SectorRange, ThreadName, TraceEvent};
use hakaru_model::io_path::TracedOperation;
use hakaru_model::job::Op;

/// Decodes `rwbs` as the kernel prints it.
pub(crate) fn flags(rwbs: &str) -> RequestFlags {
    crate::recorder::parse_flags(rwbs.as_bytes())
}

/// Returns a range of sectors.
pub(crate) fn range(start: u64, sectors: u32) -> SectorRange {
    SectorRange { start, sectors }
}

/// Returns the name of a thread.
pub(crate) fn thread(name: &str) -> ThreadName {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    ThreadName(bytes)
}

/// Events in any order, with times in microseconds.
#[derive(Default)]
pub(crate) struct EventStream(Vec<TraceEvent>);

impl EventStream {
    fn at(&mut self, micros: f64, tid: u32, kind: EventKind) -> &mut EventStream {
        self.0.push(TraceEvent {
            time: (micros * 1000.0).round() as u64,
            cpu: 0,
            tid,
            kind,
        });
        self
    }

    /// A thread queues a bio.
    pub(crate) fn bio(
        &mut self,
        micros: f64,
        by: (u32, &str),
        at: (u64, u32),
        rwbs: &str,
    ) -> &mut EventStream {
        let kind = EventKind::BioQueue {
            range: range(at.0, at.1),
            flags: flags(rwbs),
            comm: thread(by.1),
        };
        self.at(micros, by.0, kind)
    }

    /// A request is on the device between two moments.
    pub(crate) fn request(
        &mut self,
        micros: (f64, f64),
        at: (u64, u32),
        rwbs: &str,
    ) -> &mut EventStream {
        let (range, flags) = (range(at.0, at.1), flags(rwbs));
        let comm = thread("kworker/0:1H");
        self.at(micros.0, 0, EventKind::RequestIssue { range, flags, comm });
        let range = match at.1 {
            0 => self::range(u64::MAX, 0),
            _ => range,
        };
        let kind = EventKind::RequestComplete {
            range,
            flags,
            error: 0,
        };
        self.at(micros.1, 0, kind)
    }

    /// A bio that becomes a request of its own.
    pub(crate) fn served(
        &mut self,
        by: (u32, &str),
        micros: (f64, f64, f64),
        at: (u64, u32),
        rwbs: &str,
    ) -> &mut EventStream {
        self.bio(micros.0, by, at, rwbs);
        self.request((micros.1, micros.2), at, rwbs)
    }

    /// Any other event.
    pub(crate) fn event(&mut self, micros: f64, tid: u32, kind: EventKind) -> &mut EventStream {
        self.at(micros, tid, kind)
    }

    /// Returns the events in order of time.
    pub(crate) fn events(&self) -> Vec<TraceEvent> {
        let mut events = self.0.clone();
        events.sort_by_key(|event| event.time);
        events
    }
}

/// Returns an operation of thread `tid` on file 0; times in microseconds.
pub(crate) fn operation(
    op: Option<Op>,
    tid: u32,
    (offset, len): (u64, u64),
    micros: (f64, f64),
) -> TracedOperation {
    TracedOperation {
        op,
        tid,
        file: 0,
        offset,
        len,
        begin: (micros.0 * 1000.0).round() as u64,
        end: (micros.1 * 1000.0).round() as u64,
    }
}
