//! Where the time of each operation of the application went: its critical path.
//!
//! An operation lasts from submission to completion by the engine's clock. The edges of everything that it waited for
//! cut this time into pieces, and each piece belongs to the first part of [`TimePart::ALL`] that applies. The pieces are
//! a partition: they add up to the latency to the nanosecond. Only their labels can be wrong.
//!
//! An operation waits for its own requests: those of its thread in this time (with several operations in flight: those
//! at its addresses, or the next ones by size), and for a synchronous one also the journal commits that end before it
//! does, and the writeback and metadata of kernel threads that complete in it.

mod owners;
mod paths;
#[cfg(test)]
mod tests;

pub(crate) use owners::Owners;
pub(crate) use paths::operation_paths;

use crate::summary::{Kept, KeptRequest};
use hakaru_model::io_path::{IoClass, TimePart, TracedOperation};

/// Events of threads that work for operations.
#[derive(Debug, Default)]
pub(crate) struct ThreadEvents {
    /// Journal commits in order of their end.
    pub(crate) commits: Vec<Commit>,
    /// Times at which `fsync` entered or left the file system, by thread: (tid, time, whether it entered), in order.
    pub(crate) syncs: Vec<(u32, u64, bool)>,
}

/// A journal commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Commit {
    /// The journal's thread.
    pub(crate) tid: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// Everything that the sweep looks at.
pub(crate) struct Sweep<'a> {
    pub(crate) kept: &'a Kept,
    /// Class of the first sector of each request.
    pub(crate) classes: &'a [IoClass],
    pub(crate) owners: &'a Owners,
    pub(crate) events: &'a ThreadEvents,
    pub(crate) served: &'a ServedTime,
}

/// Which request the device served at any moment.
#[derive(Debug, Default)]
pub(crate) struct ServedTime {
    /// Disjoint spans in order: start, end, class of the request.
    spans: Vec<(u64, u64, IoClass)>,
}

impl ServedTime {
    /// Computes the spans of requests, given with their classes. Of several on the device, the one issued first counts:
    /// a device that serves one at a time begins with the next when it has completed the last.
    pub(crate) fn of(requests: &[KeptRequest], classes: &[IoClass]) -> ServedTime {
        let requests = requests.iter().zip(classes);
        let mut served: Vec<_> = requests
            .map(|(request, &class)| (request.served.0, request.served.1, class))
            .collect();
        served.sort_unstable();
        let mut spans: Vec<(u64, u64, IoClass)> = Vec::new();
        for (start, end, class) in served {
            let start = spans.last().map_or(start, |last| start.max(last.1));
            if start < end {
                spans.push((start, end, class));
            }
        }
        ServedTime { spans }
    }

    /// Returns the classes served between two moments, each with its nanoseconds.
    fn between(&self, start: u64, end: u64) -> impl Iterator<Item = (IoClass, u64)> {
        let first = self.spans.partition_point(|span| span.1 <= start);
        let spans = self.spans[first..].iter();
        spans
            .take_while(move |span| span.0 < end)
            .map(move |&(from, to, class)| (class, to.min(end) - from.max(start)))
    }
}

/// Nanoseconds in each part, and by class of requests: own ones on the device, and others that were waited behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) parts: [u64; 8],
    pub(crate) classes: [u64; IoClass::ALL.len()],
    pub(crate) behind: [u64; IoClass::ALL.len()],
}

impl Parts {
    fn add(&mut self, part: TimePart, nanos: u64) {
        self.parts[part as usize] += nanos;
    }
}

/// What can be active for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    Queued,
    Flush,
    Device(IoClass),
}

impl Activity {
    fn index(self) -> usize {
        match self {
            Activity::Queued => 0,
            Activity::Flush => 1,
            Activity::Device(class) => 2 + class as usize,
        }
    }
}

/// Buffers of the sweep, used for all operations.
#[derive(Debug, Default)]
pub(crate) struct SweepBuffers {
    requests: Vec<u32>,
    /// Time, change of the number active, what.
    edges: Vec<(u64, i32, Activity)>,
    commits: Vec<Commit>,
}

/// An operation, or an operation and the `fsync` that followed it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperationSpan<'a> {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) tid: u32,
    /// Indexes and values of the operations.
    pub(crate) operations: &'a [(u32, TracedOperation)],
}

impl Sweep<'_> {
    /// Divides an interval. The parts add up to its length.
    pub(crate) fn divide(&self, interval: &OperationSpan<'_>, scratch: &mut SweepBuffers) -> Parts {
        self.collect(interval, scratch);
        scratch.edges.sort_unstable_by_key(|edge| edge.0);
        let mut parts = Parts::default();
        let mut active = [0_i32; 2 + IoClass::ALL.len()];
        let (mut at, mut completed) = (interval.begin, false);
        let mut edges = scratch.edges.iter().peekable();
        loop {
            while let Some(&&(_, change, span)) = edges.peek().filter(|edge| edge.0 <= at) {
                active[span.index()] += change;
                completed |= change < 0;
                edges.next();
            }
            if at >= interval.end {
                return parts;
            }
            let next = edges.peek().map_or(interval.end, |edge| edge.0);
            let next = next.min(interval.end);
            self.label(
                interval,
                scratch,
                &active,
                completed,
                (at, next),
                &mut parts,
            );
            at = next;
        }
    }

    /// Adds a piece of time in which nothing changes to the part that it belongs to.
    fn label(
        &self,
        interval: &OperationSpan<'_>,
        scratch: &SweepBuffers,
        active: &[i32],
        completed: bool,
        (start, end): (u64, u64),
        parts: &mut Parts,
    ) {
        let is_active = |span: Activity| active[span.index()] > 0;
        let on_device = |data: bool| {
            let mut classes = IoClass::ALL.iter().copied();
            classes.find(|&class| is_data(class) == data && is_active(Activity::Device(class)))
        };
        let length = end - start;
        if is_active(Activity::Flush) {
            parts.add(TimePart::Flush, length);
        } else if let Some(class) = on_device(true) {
            parts.add(TimePart::Data, length);
            parts.classes[class as usize] += length;
        } else if let Some(class) = on_device(false) {
            parts.add(TimePart::Metadata, length);
            parts.classes[class as usize] += length;
        } else if is_active(Activity::Queued) {
            parts.add(TimePart::BlockQueue, length);
            for (class, behind) in self.served.between(start, end) {
                parts.parts[TimePart::BlockQueue as usize] -= behind;
                parts.add(TimePart::WaitingBehind, behind);
                parts.behind[class as usize] += behind;
            }
        } else {
            let awake = match completed {
                true => self.next_event(interval, scratch, start).min(end),
                false => start,
            };
            let journal = covered(&scratch.commits, awake, end);
            let woken = self.wake_up_by_commit(interval, scratch, (awake, end));
            parts.add(TimePart::WakeUp, awake - start + woken);
            parts.add(TimePart::JournalCommit, journal);
            parts.add(TimePart::FileSystem, end - awake - journal - woken);
        }
    }

    /// Returns the time from the end of the last commit in a span to the next event of the thread that waits for it,
    /// without the time of a commit that begins before that event.
    fn wake_up_by_commit(
        &self,
        interval: &OperationSpan<'_>,
        scratch: &SweepBuffers,
        (start, end): (u64, u64),
    ) -> u64 {
        let ends = scratch.commits.iter().map(|commit| commit.end);
        let last = ends.filter(|time| (start..end).contains(time)).max();
        let woken = last.and_then(|last| Some((last, self.next_sync(interval.tid, last)?)));
        woken.map_or(0, |(last, next)| {
            let next = next.min(end);
            next - last - covered(&scratch.commits, last, next)
        })
    }

    /// Returns the next moment at which a thread entered or left the file system's `fsync`.
    fn next_sync(&self, tid: u32, from: u64) -> Option<u64> {
        let syncs = &self.events.syncs;
        let index = syncs.partition_point(|&(thread, time, _)| (thread, time) < (tid, from));
        let sync = syncs.get(index).filter(|event| event.0 == tid);
        sync.map(|event| event.1)
    }

    /// Returns the next moment at which a waiting thread did something.
    fn next_event(&self, interval: &OperationSpan<'_>, scratch: &SweepBuffers, from: u64) -> u64 {
        let sync = self.next_sync(interval.tid, from);
        let commits = scratch.commits.iter();
        let commit = commits
            .flat_map(|commit| [commit.start, commit.end])
            .filter(|&time| time >= from)
            .min();
        sync.into_iter().chain(commit).min().unwrap_or(u64::MAX)
    }

    /// Collects the edges of everything that the operations of an interval wait for.
    fn collect(&self, interval: &OperationSpan<'_>, scratch: &mut SweepBuffers) {
        let SweepBuffers {
            requests,
            edges,
            commits,
        } = scratch;
        requests.clear();
        edges.clear();
        commits.clear();
        let mut flushes = false;
        for (index, operation) in interval.operations {
            requests.extend_from_slice(self.owners.requests_of(*index));
            if operation.op.is_none() || self.entered_sync(operation) {
                flushes = true;
                self.owners.add_shared(
                    operation,
                    self.kept,
                    self.classes,
                    self.events,
                    requests,
                    commits,
                );
            }
        }
        requests.sort_unstable();
        requests.dedup();
        for &request in requests.iter() {
            let kept = &self.kept.requests[request as usize];
            flushes |= self.kept.bios_of(kept).iter().any(|bio| bio.flush);
            let mut span = |from: u64, to: u64, span| {
                let (from, to) = (from.max(interval.begin), to.min(interval.end));
                if from < to {
                    edges.extend([(from, 1, span), (to, -1, span)]);
                }
            };
            if !kept.is_flush() {
                span(kept.queued, kept.served.0, Activity::Queued);
                let class = self.classes[request as usize];
                span(kept.served.0, kept.served.1, Activity::Device(class));
            }
        }
        if flushes {
            for (from, to) in self.owners.flushes(interval.begin, interval.end) {
                let (from, to) = (from.max(interval.begin), to.min(interval.end));
                edges.extend([(from, 1, Activity::Flush), (to, -1, Activity::Flush)]);
            }
        }
    }

    /// Whether an operation that is not an `fsync` made the file system sync: a write with `O_SYNC`.
    fn entered_sync(&self, operation: &TracedOperation) -> bool {
        let syncs = &self.events.syncs;
        let key = (operation.tid, operation.begin);
        let from = syncs.partition_point(|&(tid, time, _)| (tid, time) < key);
        syncs[from..]
            .iter()
            .take_while(|&&(tid, time, _)| tid == operation.tid && time <= operation.end)
            .any(|&(_, _, enters)| enters)
    }
}

/// Whether requests of a class carry data of the application. What is not attributed and has no flag for metadata is
/// taken for data.
fn is_data(class: IoClass) -> bool {
    matches!(
        class,
        IoClass::Data | IoClass::AllocatedSince | IoClass::Unknown
    )
}

/// Returns how much of a span the commits cover.
fn covered(commits: &[Commit], start: u64, end: u64) -> u64 {
    let (mut at, mut sum) = (start, 0);
    for commit in commits {
        let (from, to) = (commit.start.max(at), commit.end.min(end));
        if from < to {
            sum += to - from;
            at = to;
        }
    }
    sum
}
