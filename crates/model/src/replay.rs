//! A recorded stream of requests: file, operation and time.

use crate::job::{Op, PerOp};
use crate::request::IoRequest;
use crate::units::Nanos;
use std::path::PathBuf;

/// Requests in the order of issue, after all replay options were applied: nothing is skipped,
/// scaled or aligned later.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Files that occur, each once.
    pub files: Vec<PathBuf>,
    /// What happens, in order. The regions of requests are indices into the files.
    pub steps: Vec<TraceStep>,
}

/// One step of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// When it is due, counted from the start; 0 for as soon as the steps before it allow.
    pub at: Nanos,
    /// What is due.
    pub action: TraceAction,
}

/// What a step does.
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
    /// All I/Os, in order.
    pub fn requests(&self) -> impl Iterator<Item = &IoRequest> {
        self.steps.iter().filter_map(|step| match &step.action {
            TraceAction::Io(request) => Some(request),
            TraceAction::Sync(_) | TraceAction::DataSync(_) => None,
        })
    }

    /// Where the last I/O to a file ends.
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

    /// Whether anything waits for others to be flushed.
    pub fn syncs(&self) -> bool {
        self.steps
            .iter()
            .any(|step| !matches!(step.action, TraceAction::Io(_)))
    }

    /// Whether data is lost by replaying it.
    pub fn destroys(&self) -> bool {
        self.requests().any(|request| request.op != Op::Read)
    }
}
