//! Everything that is stored of a traced phase, in bounded memory.
//!
//! Events come as they happen; the measured window, the workers and the layout are known when the phase has ended.
//! Until then requests are kept in compact form. Those beyond the limit are added to the sums at once, with the layout
//! known so far.

mod kept;
mod layout;
mod sample;
#[cfg(test)]
mod tests;
mod timeline;
mod traffic;

pub(crate) use kept::{Kept, KeptBio, KeptRequest, ThreadNames};

use crate::address_map::{AddressMap, FileRange};
use crate::classify::{Classifier, OwnThreads};
use crate::event::{EventKind, TraceEvent};
use crate::request::TracedRequest;
use crate::requests::{MatchCounts, MatchOptions, RequestMatcher};
use crate::sweep::{Commit, Owners, ServedTime, Sweep, ThreadEvents, operation_paths};
use hakaru_model::io_path::{
    DiskTotals, EdgeRequests, IoClass, IoPath, LayoutGap, OperationPath, SampledRequest, SizeCount,
    TraceCost, TracedDisk, TracedOperation, TracerReport,
};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};
use sample::Reservoir;
use std::collections::{BTreeMap, HashMap};
use timeline::{DepthHistory, Union};
use traffic::Traffic;

/// How requests are restored, and how much is kept.
#[derive(Clone, Copy, Debug)]
pub struct PathSummaryOptions {
    /// Options of the matcher.
    pub matching: MatchOptions,
    /// Most requests, and most bios, that are kept until the end of the phase.
    pub max_requests: usize,
    /// Most operations whose critical paths are computed.
    pub max_operations: usize,
}

impl Default for PathSummaryOptions {
    fn default() -> PathSummaryOptions {
        PathSummaryOptions {
            matching: MatchOptions::default(),
            max_requests: 1_000_000,
            max_operations: 1_000_000,
        }
    }
}

/// What is known when a phase has ended.
#[derive(Clone, Debug)]
pub struct PhaseTrace<'a> {
    /// The disk.
    pub disk: TracedDisk,
    /// The measured part, in nanoseconds of `CLOCK_MONOTONIC_RAW`.
    pub window: (u64, u64),
    /// Threads of this program.
    pub threads: OwnThreads<'a>,
    /// What lies where.
    pub map: &'a AddressMap,
    /// What is not known about the layout.
    pub layout_gaps: Vec<LayoutGap>,
    /// Where the files under test are; a raw device is one range. If this is empty, operations find their requests by
    /// thread, time and size.
    pub files: &'a [FileRange],
    /// Report of the recorder.
    pub tracer: TracerReport,
    /// Difference of the disk's counters over the window.
    pub counters: Option<DiskTotals>,
    /// Cost of tracing.
    pub cost: Option<TraceCost>,
}

/// Collects the events and operations of one disk, phase by phase.
#[derive(Debug)]
pub struct PathSummary {
    options: PathSummaryOptions,
    matcher: RequestMatcher,
    /// Counts of the matcher at the end of the last phase.
    counts: MatchCounts,
    names: ThreadNames,
    kept: Kept,
    /// Requests that are beyond the limit, and not yet in `totals`.
    beyond: Kept,
    totals: PathTotals,
    layout: AddressMap,
    partition: Option<(u64, u64)>,
    events: ThreadEvents,
    /// Start of the running commit of each journal thread.
    commits: HashMap<u32, u64>,
    operations: Vec<TracedOperation>,
    operations_seen: u64,
    asked: BTreeMap<(Op, u64), u64>,
    last_event: u64,
}

/// Sums of one phase.
#[derive(Debug, Default)]
struct PathTotals {
    traffic: Traffic,
    busy: Union,
    busy_without_flush: Union,
    depth: Option<DepthHistory>,
    /// Nanoseconds in the queue and on the device, summed over requests.
    depth_time: u128,
    sample: Reservoir,
    edges: EdgeRequests,
    classified_early: u64,
}

impl PathSummary {
    /// Requests beyond the limit that are sorted and added together.
    const CHUNK: usize = 1 << 16;

    /// Creates an empty summary.
    pub fn new(options: PathSummaryOptions) -> PathSummary {
        PathSummary {
            matcher: RequestMatcher::new(options.matching),
            options,
            counts: MatchCounts::default(),
            names: ThreadNames::default(),
            kept: Kept::default(),
            beyond: Kept::default(),
            totals: PathTotals::default(),
            layout: AddressMap::default(),
            partition: None,
            events: ThreadEvents::default(),
            commits: HashMap::new(),
            operations: Vec::new(),
            operations_seen: 0,
            asked: BTreeMap::new(),
            last_event: 0,
        }
    }

    /// Sets the layout before the phase, for requests that cannot be kept until it has ended.
    pub fn layout_so_far(&mut self, map: AddressMap, partition: Option<(u64, u64)>) {
        self.layout = map;
        self.partition = partition;
    }

    /// Takes the next event in order of time.
    pub fn push(&mut self, event: &TraceEvent) {
        self.last_event = event.time;
        match event.kind {
            EventKind::JournalCommitStart => {
                self.commits.insert(event.tid, event.time);
            }
            EventKind::JournalCommitEnd => {
                let start = self.commits.remove(&event.tid);
                if let Some(start) = start
                    && self.events.commits.len() < self.options.max_operations
                {
                    self.events.commits.push(Commit {
                        tid: event.tid,
                        start,
                        end: event.time,
                    });
                }
            }
            EventKind::SyncEnter | EventKind::SyncExit => {
                if self.events.syncs.len() / 2 < self.options.max_operations {
                    let enters = event.kind == EventKind::SyncEnter;
                    self.events.syncs.push((event.tid, event.time, enters));
                }
            }
            _ => {
                self.matcher.push(event);
                for request in self.matcher.take() {
                    self.keep(&request);
                }
            }
        }
    }

    /// Takes an operation of the application, in any order.
    pub fn push_operation(&mut self, operation: &TracedOperation) {
        self.operations_seen += 1;
        if let Some(op) = operation.op {
            *self.asked.entry((op, operation.len)).or_default() += 1;
        }
        if self.operations.len() < self.options.max_operations {
            self.operations.push(*operation);
        }
    }

    /// Ends a phase. Requests that are still in flight stay for the next one.
    ///
    /// A request belongs to the phase in whose window it completed, as in the disk's counters; without a completion, to
    /// the one in which it was issued.
    pub fn finish(&mut self, phase: &PhaseTrace<'_>) -> IoPath {
        self.matcher.settle(self.last_event);
        for request in self.matcher.take() {
            self.keep(&request);
        }
        self.keep_unissued(phase);
        self.add_beyond();
        let mut kept = std::mem::take(&mut self.kept);
        let mut totals = std::mem::take(&mut self.totals);
        let mut events = std::mem::take(&mut self.events);
        let operations = std::mem::take(&mut self.operations);
        let classifier = Classifier::new(phase.map, phase.disk.partition);
        kept.requests.sort_by_key(|request| request.issued);
        let classes = totals.add(&kept, &classifier, Some(phase.window));
        self.add_in_flight(&mut totals.edges, phase.window);
        events.syncs.sort_unstable();
        let paths = self.sweep(&kept, &classes, &events, &operations, phase);
        let path = self.path(totals, paths, phase);
        self.asked.clear();
        self.operations_seen = 0;
        path
    }

    fn path(
        &mut self,
        totals: PathTotals,
        operations: Vec<OperationPath>,
        phase: &PhaseTrace<'_>,
    ) -> IoPath {
        let window = phase.window;
        let length = window.1.saturating_sub(window.0);
        let counts = self.matcher.counts();
        let before = std::mem::replace(&mut self.counts, counts);
        let mut tracer = phase.tracer.clone();
        let unseen = counts.unseen_completions;
        tracer.unseen_completions = unseen.saturating_sub(before.unseen_completions);
        tracer.unmatched = counts.unmatched - before.unmatched;
        let busy = totals.busy.finish();
        let mut sample = totals.sample.finish();
        for request in &mut sample.requests {
            request.queued.0 = request.queued.0.saturating_sub(window.0);
        }
        let depth = totals.depth.map(|depth| depth.finish(window));
        let limit = self.options.max_operations as u64;
        IoPath {
            disk: phase.disk.clone(),
            tracer,
            window: Nanos(length),
            busy: Nanos(busy),
            flush_only: Nanos(busy.saturating_sub(totals.busy_without_flush.finish())),
            mean_depth: totals.depth_time as f64 / length.max(1) as f64,
            classes: totals.traffic.finish(&self.names, phase.threads),
            asked: asked(&self.asked),
            operations,
            operations_limit: (self.operations_seen > limit).then_some(limit),
            depth: depth.unwrap_or_default(),
            sample,
            layout: layout::reduced(phase.map),
            layout_gaps: phase.layout_gaps.clone(),
            counters: phase.counters,
            edges: totals.edges,
            classified_early: totals.classified_early,
            status_commands: counts.status_commands - before.status_commands,
            cost: phase.cost,
            cost_unknown: None,
        }
    }

    /// Keeps the requests that were in flight when recording began, as if they had been issued just before the window. If
    /// events were lost, a completion without an issue may be any other request, and does not count.
    fn keep_unissued(&mut self, phase: &PhaseTrace<'_>) {
        let (begin, end) = phase.window;
        let requests = self.matcher.take_unissued();
        if phase.tracer.lost_share() > 0.0 {
            return;
        }
        for request in requests {
            let before = begin.saturating_sub(1);
            if request.issued >= begin && request.issued <= end {
                self.keep(&TracedRequest {
                    queued: before,
                    issued: before,
                    ..request
                });
            }
        }
    }

    fn keep(&mut self, request: &TracedRequest) {
        if self.kept.len() < self.options.max_requests {
            self.kept.push(request, &mut self.names);
            return;
        }
        self.beyond.push(request, &mut self.names);
        if self.beyond.len() >= Self::CHUNK {
            self.add_beyond();
        }
    }

    /// Adds requests beyond the limit to the sums.
    fn add_beyond(&mut self) {
        if self.beyond.requests.is_empty() {
            return;
        }
        self.beyond.requests.sort_by_key(|request| request.issued);
        self.totals.classified_early += self.beyond.requests.len() as u64;
        let classifier = Classifier::new(&self.layout, self.partition);
        self.totals.add(&self.beyond, &classifier, None);
        self.beyond.clear();
    }

    fn add_in_flight(&self, edges: &mut EdgeRequests, window: (u64, u64)) {
        let in_flight = self.matcher.in_flight();
        let in_flight = in_flight.map(|it| (it.queued, it.range.sectors));
        for (queued, sectors) in in_flight.chain(self.matcher.pending()) {
            if queued <= window.1 {
                edges.at_end += 1;
                edges.at_end_bytes.0 += u64::from(sectors) * 512;
            }
        }
    }

    fn sweep(
        &self,
        kept: &Kept,
        classes: &[IoClass],
        events: &ThreadEvents,
        operations: &[TracedOperation],
        phase: &PhaseTrace<'_>,
    ) -> Vec<OperationPath> {
        let owners = Owners::find(
            operations,
            kept,
            classes,
            phase.files,
            &self.names,
            phase.threads,
        );
        let sweep = Sweep {
            kept,
            classes,
            owners: &owners,
            events,
            served: &ServedTime::of(&kept.requests, classes),
        };
        operation_paths(&sweep, operations)
    }
}

impl PathTotals {
    /// Adds requests in order of issue, and returns the class of each. Without a window, all of them count.
    fn add(
        &mut self,
        kept: &Kept,
        classifier: &Classifier<'_>,
        window: Option<(u64, u64)>,
    ) -> Vec<IoClass> {
        let mut classes = Vec::with_capacity(kept.requests.len());
        for request in &kept.requests {
            let ended = request.completed.unwrap_or(request.issued);
            let (begin, end) = window.unwrap_or((request.queued, u64::MAX));
            self.add_times(request, (begin, end));
            if !(begin..=end).contains(&ended) {
                classes.push(kept.first_class(request, classifier));
                if ended > end && request.queued <= end {
                    self.edges.at_end += 1;
                    self.edges.at_end_bytes.0 += u64::from(request.range.sectors) * 512;
                }
                continue;
            }
            let earlier = request.queued < begin;
            if earlier {
                self.edges.at_start += 1;
                self.edges.at_start_bytes.0 += u64::from(request.range.sectors) * 512;
            }
            let class = self.traffic.add(kept, request, classifier, earlier);
            self.sample.add(sampled(request, class));
            classes.push(class);
        }
        classes
    }

    /// Adds the times of a request inside a window.
    fn add_times(&mut self, request: &KeptRequest, window: (u64, u64)) {
        let clip =
            |from: u64, to: u64| (from.clamp(window.0, window.1), to.clamp(window.0, window.1));
        let Some(completed) = request.completed else {
            return;
        };
        let served = clip(request.served.0, request.served.1);
        self.busy.add(served.0, served.1);
        if !request.is_flush() {
            self.busy_without_flush.add(served.0, served.1);
        }
        let queued = clip(request.queued, request.issued);
        let issued = clip(request.issued, completed);
        self.depth_time += u128::from(queued.1 - queued.0) + u128::from(issued.1 - issued.0);
        let depth = self.depth.get_or_insert_with(|| match window.1 {
            u64::MAX => DepthHistory::open(request.queued),
            _ => DepthHistory::over(window),
        });
        depth.add(queued, issued);
    }
}

fn sampled(request: &KeptRequest, class: IoClass) -> SampledRequest {
    let completed = request.completed.unwrap_or(request.issued);
    SampledRequest {
        sector: request.range.start,
        sectors: request.range.sectors,
        op: request.op(),
        class,
        queued: Nanos(request.queued),
        waited: Nanos(request.issued.saturating_sub(request.queued)),
        served: Nanos(completed.saturating_sub(request.issued)),
        command: request
            .command
            .map(|_| Nanos(request.served.1 - request.served.0)),
    }
}

fn asked(sizes: &BTreeMap<(Op, u64), u64>) -> Vec<SizeCount> {
    let sizes = sizes.iter();
    sizes
        .map(|(&(op, size), &count)| SizeCount {
            op,
            size: Bytes(size),
            count,
        })
        .collect()
}
