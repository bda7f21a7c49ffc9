//! Traces: recorded requests with file, operation and time.

use crate::job::{Op, PerOp};
use crate::request::IoRequest;
use crate::units::Nanos;
use std::path::PathBuf;

/// Trace to replay, in order of issue. All replay options are already applied: nothing is skipped, scaled or aligned
/// later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Files of the trace, without duplicates.
    pub files: Vec<PathBuf>,
    /// Steps, in order. The regions of requests are indexes into the files.
    pub steps: Vec<TraceStep>,
}

/// One step of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// Scheduled time relative to the start; 0: as soon as earlier steps allow.
    pub at: Nanos,
    /// Action of the step.
    pub action: TraceAction,
}

/// Action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceAction {
    /// An I/O.
    Io(IoRequest),
    /// `fsync` of a file.
    Sync(u32),
    /// `fdatasync` of a file.
    DataSync(u32),
}

impl Trace {
    /// Returns all I/Os, in order.
    pub fn requests(&self) -> impl Iterator<Item = &IoRequest> {
        self.steps.iter().filter_map(|step| match &step.action {
            TraceAction::Io(request) => Some(request),
            TraceAction::Sync(_) | TraceAction::DataSync(_) => None,
        })
    }

    /// Returns the end offset of the last I/O to a file.
    pub fn end_of(&self, file: u32) -> u64 {
        let ends = self
            .requests()
            .filter(|r| r.region == file)
            .map(|r| r.offset.saturating_add(r.len.into()));
        ends.max().unwrap_or(0)
    }

    /// Returns the smallest and largest I/O of each operation in bytes; `None` if it does not
    /// occur.
    pub fn sizes(&self) -> PerOp<Option<(u32, u32)>> {
        let mut sizes: PerOp<Option<(u32, u32)>> = PerOp::default();
        for request in self.requests() {
            let (min, max) = sizes[request.op].unwrap_or((request.len, request.len));
            sizes[request.op] = Some((min.min(request.len), max.max(request.len)));
        }
        sizes
    }

    /// Whether the trace contains flushes.
    pub fn syncs(&self) -> bool {
        self.steps
            .iter()
            .any(|step| !matches!(step.action, TraceAction::Io(_)))
    }

    /// Whether replaying it overwrites or discards data.
    pub fn destroys(&self) -> bool {
        self.requests().any(|request| request.op != Op::Read)
    }
}
