//! Tracing of the requests of one disk.

use super::cost::CostPlan;
use super::cost_run::CostRun;
use super::counters::{Counters, Reading, difference};
use super::threads::ThreadIds;
use crate::session::TraceExtent;
use hakaru_device::{DevNum, DiskBelow};
use hakaru_engine::{CounterReading, MeasuredPart, PhaseProgress};
use hakaru_model::io_path::{
    IoPath, LayoutGap, NoTraceCost, TraceCost, TracedOperation, TracerReport,
};
use hakaru_model::plan::PhasePlan;
use hakaru_trace::address_map::{AddressMap, FileRange};
use hakaru_trace::classify::OwnThreads;
use hakaru_trace::event::TraceEvent;
use hakaru_trace::layout::{
    DiskArea, LayoutSnapshot, TestFile, Volume, address_map, raw_address_map,
};
use hakaru_trace::recorder::{DiskNumber, EventRecorder, EventSet, RecorderOptions, TraceError};
use hakaru_trace::requests::MatchOptions;
use hakaru_trace::summary::{PathSummary, PathSummaryOptions, PhaseTrace};
use std::sync::Arc;

/// Records the requests of one disk, and summarizes them phase by phase.
pub(super) struct DiskTracer {
    below: DiskBelow,
    recorder: Arc<EventRecorder>,
    counters: Counters,
    summary: SegmentSummary,
    /// While the cost is measured: the summary of the last recorded segment, which takes the place of the other as soon as
    /// the next one begins. A phase may end before enough has happened in it.
    newest: Option<SegmentSummary>,
    /// The events that are recorded.
    events: EventSet,
    /// The current phase, if it uses this disk.
    phase: Option<TracedPart>,
}

/// Summary of the requests of one uninterrupted recording.
struct SegmentSummary {
    summary: PathSummary,
    /// Time from which events are summarized.
    since: u64,
}

/// The traced part of a phase.
struct TracedPart {
    before: Option<LayoutSnapshot>,
    /// Start of the traced part, unless the cost is measured first; `None` in the ramp time.
    start: Option<Reading>,
    cost: CostStage,
    /// Threads of this process.
    threads: ThreadIds,
}

/// How far the measurement of the cost is.
enum CostStage {
    /// Too little is known about the phase to begin.
    Undecided,
    /// It has begun, and may have ended.
    Begun(CostRun),
    /// It is not measured.
    Unknown(NoTraceCost),
}

impl TracedPart {
    /// Returns the measurement of the cost, if it has begun.
    fn cost_run(&self) -> Option<&CostRun> {
        match &self.cost {
            CostStage::Begun(run) => Some(run),
            CostStage::Undecided | CostStage::Unknown(_) => None,
        }
    }

    /// Ends the measurement of the cost, and returns it. The last operation ended at `end`.
    fn end_cost(&mut self, end: u64) -> Result<TraceCost, NoTraceCost> {
        match &mut self.cost {
            CostStage::Undecided => Err(NoTraceCost::FewIos),
            CostStage::Unknown(because) => Err(*because),
            CostStage::Begun(run) => {
                run.end_phase(end);
                run.cost()
            }
        }
    }

    /// Returns start and end of the traced part. `measured` is what the engine knows about the measured part.
    fn window(&self, measured: &MeasuredReadings, own_end: Reading) -> (Reading, Reading) {
        let end = measured.last.unwrap_or(own_end);
        let begin = measured.first.or(self.start).unwrap_or(measured.begin);
        match self.cost_run().filter(|run| run.interrupted()) {
            None => (begin, end),
            Some(run) => match (
                run.start().filter(|start| start.at < end.at),
                run.last_recorded(),
            ) {
                (Some(start), _) => (start, end),
                // It ended while the cost was being measured.
                (None, Some((first, last))) => (first, if last.at < end.at { last } else { end }),
                (None, None) => (begin, end),
            },
        }
    }
}

/// What the engine knows about the measured part of a phase.
struct MeasuredReadings {
    first: Option<Reading>,
    last: Option<Reading>,
    /// Start of the first worker.
    begin: Reading,
}

impl DiskTracer {
    /// Starts the recorder of a disk.
    pub(super) fn start(below: DiskBelow, events: EventSet) -> Result<DiskTracer, TraceError> {
        let number = |number: DevNum| DiskNumber {
            major: number.major,
            minor: number.minor,
        };
        let options = RecorderOptions {
            events,
            filesystem: below.filesystem.map(number),
            ..RecorderOptions::default()
        };
        let recorder = EventRecorder::start(number(below.number), &options)?;
        Ok(DiskTracer {
            summary: SegmentSummary {
                summary: new_summary(&below, events),
                since: 0,
            },
            newest: None,
            events,
            counters: Counters::new(below.counters.clone()),
            below,
            recorder: Arc::new(recorder),
            phase: None,
        })
    }

    pub(super) fn number(&self) -> DevNum {
        self.below.number
    }

    /// Prepares a phase, whose workers start when this returns.
    pub(super) fn begin_phase(&mut self, phase: &PhasePlan, is_used: bool, extent: TraceExtent) {
        self.take_events();
        self.phase = None;
        if !is_used {
            return;
        }
        let events = super::event_set(&self.below, phase);
        // On failure, all events stay.
        if self.recorder.choose(events).is_ok() {
            self.events = events;
        }
        let before = self.snapshot(phase);
        self.take_events();
        (self.summary, self.newest) = (self.summary_since(0, before.as_ref()), None);
        let later = phase
            .workers
            .iter()
            .any(|worker| worker.ramp_time.0 > 0 || worker.startdelay.0 > 0);
        let start = (!later).then(|| self.restart());
        self.phase = Some(TracedPart {
            before,
            start,
            cost: match extent {
                TraceExtent::AfterCost => CostStage::Undecided,
                TraceExtent::Whole => CostStage::Unknown(NoTraceCost::Whole),
            },
            threads: ThreadIds::of_process(self.recorder.method()),
        });
    }

    /// Processes the events so far.
    pub(super) fn take_events(&mut self) {
        let events = self.recorder.take();
        self.summarize(&events);
    }

    /// Begins to measure the cost as soon as the speed of the phase is known.
    pub(super) fn progress(&mut self, progress: &PhaseProgress) {
        self.take_events();
        let Some(part) = self.phase.as_mut().filter(|_| progress.measuring) else {
            return;
        };
        if part.start.is_none() {
            part.start = Some(self.counters.reading());
        }
        let ios = progress.ios.iter().map(|(_, ios)| *ios).sum();
        // The first rate after a ramp time is 0, because the counts begin again.
        let iops = progress.iops.iter().map(|(_, iops)| *iops).sum();
        let is_known = iops > 0 && CostPlan::can_count(ios);
        if !is_known || !matches!(part.cost, CostStage::Undecided) {
            return;
        }
        let remaining = progress.remaining.map(|time| time.as_nanos() as u64);
        part.cost = match CostPlan::new(remaining, iops) {
            Ok(plan) => CostStage::Begun(CostRun::begin(&self.recorder, &self.counters, plan)),
            Err(because) => CostStage::Unknown(because),
        };
    }

    /// Takes an operation of a worker: for the traced part, or for its cost.
    pub(super) fn operation(&mut self, operation: &TracedOperation) {
        let Some(part) = &self.phase else { return };
        let begin = match part.cost_run() {
            None => Some(0),
            Some(run) => run.note(operation),
        };
        let Some(begin) = begin else { return };
        let newest = self.newest.as_mut().filter(|newest| begin >= newest.since);
        let segment = newest.unwrap_or(&mut self.summary);
        if begin >= segment.since {
            segment.summary.push_operation(&TracedOperation {
                tid: part.threads.in_events(operation.tid),
                ..*operation
            });
        }
    }

    /// Ends a phase, and returns its path.
    pub(super) fn end_phase(&mut self, phase: &PhasePlan, part: &MeasuredPart) -> Option<IoPath> {
        let readings = self.readings(part);
        let last = readings.as_ref().and_then(|readings| readings.last);
        let end = last.map_or(u64::MAX, |last| last.at);
        let cost = self.phase.as_mut().map(|traced| traced.end_cost(end));
        let own_end = self.counters.reading();
        let (events, tracer) = self.recorder.finish();
        self.summarize(&events);
        let traced = self.phase.take()?;
        let since = traced.cost_run().map_or(0, CostRun::events_since);
        if let Some(newest) = self.newest.take_if(|newest| newest.since <= since) {
            self.summary = newest;
        }
        let _ = self.recorder.resume();
        let after = self.snapshot(phase);
        let window = traced.window(&readings?, own_end);
        let workers = part.workers.iter().map(|worker| worker.tid);
        let workers: Vec<u32> = workers.map(|tid| traced.threads.in_events(tid)).collect();
        let map = self.map(traced.before.as_ref(), after.as_ref());
        let files = self.files(traced.before.as_ref(), after.as_ref());
        let path = self.summary.summary.finish(&PhaseTrace {
            disk: self.below.disk.clone(),
            window: (window.0.at, window.1.at),
            threads: OwnThreads {
                workers: &workers,
                others: &traced.threads.all(),
            },
            map: &map,
            layout_gaps: gaps(after.as_ref()),
            files: &files,
            tracer: TracerReport {
                foreign_threads: traced.threads.are_foreign,
                ..tracer
            },
            counters: (window.0.totals)
                .zip(window.1.totals)
                .and_then(|(before, after)| difference(before, after)),
            cost: cost.and_then(Result::ok),
        });
        Some(IoPath {
            cost_unknown: cost.and_then(Result::err),
            ..path
        })
    }

    /// Returns what the engine knows about the measured part; `None` if no worker measured anything.
    fn readings(&self, part: &MeasuredPart) -> Option<MeasuredReadings> {
        let name = &self.below.disk.name;
        let of_engine = |reading: &CounterReading| {
            let disk = reading.disks.iter().find(|(disk, _)| disk == name)?;
            Some(Reading {
                at: reading.at,
                totals: Some(disk.1),
            })
        };
        let (first, last) = match &part.counters {
            Some((first, last)) => (of_engine(first), of_engine(last)),
            None => (None, None),
        };
        let begin = part.workers.iter().map(|worker| worker.begin).min()?;
        Some(MeasuredReadings {
            first,
            last,
            begin: Reading {
                at: begin,
                totals: None,
            },
        })
    }

    /// Begins the traced part now, before the workers start.
    fn restart(&mut self) -> Reading {
        let _ = self.recorder.resume();
        let (events, _) = self.recorder.finish();
        self.summarize(&events);
        self.counters.reading()
    }

    /// Adds events to the summaries. While the cost is measured, each has those of one recorded segment: requests that
    /// were in flight while nothing was recorded are unknown.
    fn summarize(&mut self, events: &[TraceEvent]) {
        let run = self.phase.as_ref().and_then(TracedPart::cost_run);
        let since = run.map_or(0, CostRun::events_since);
        let known = self.newest.as_ref().unwrap_or(&self.summary).since;
        if since > known {
            let before = self.phase.as_ref().and_then(|part| part.before.as_ref());
            let newest = self.summary_since(since, before);
            if let Some(complete) = self.newest.replace(newest) {
                self.summary = complete;
            }
        }
        for event in events {
            let newest = self.newest.as_mut().filter(|it| event.time >= it.since);
            let segment = newest.unwrap_or(&mut self.summary);
            if event.time >= segment.since {
                segment.summary.push(event);
            }
        }
    }

    /// Creates an empty summary of the events from a time on.
    fn summary_since(&self, since: u64, before: Option<&LayoutSnapshot>) -> SegmentSummary {
        let mut summary = new_summary(&self.below, self.events);
        let map = self.map(None, before);
        summary.layout_so_far(map, self.below.disk.partition);
        SegmentSummary { summary, since }
    }

    fn area(&self) -> DiskArea {
        let (start, sectors) = self
            .below
            .disk
            .partition
            .unwrap_or((0, self.below.disk.size.0 / 512));
        DiskArea { start, sectors }
    }

    /// Reads the layout of the file system; `None` without one.
    fn snapshot(&self, phase: &PhasePlan) -> Option<LayoutSnapshot> {
        let filesystem = self.below.disk.filesystem.as_deref()?;
        let mount_point = self.below.mount_point.as_deref()?;
        let volume = Volume {
            device: &self.below.volume,
            area: self.area(),
            mounted: Some((mount_point, filesystem)),
        };
        let files: Vec<TestFile<'_>> = phase
            .files
            .iter()
            .map(|file| TestFile::Path(&file.path))
            .collect();
        Some(LayoutSnapshot::take(&volume, &files))
    }

    fn map(&self, before: Option<&LayoutSnapshot>, after: Option<&LayoutSnapshot>) -> AddressMap {
        let sectors = self.below.disk.size.0 / 512;
        match after {
            Some(after) => address_map(sectors, before, after),
            None => raw_address_map(sectors, self.area()),
        }
    }

    /// Returns where the files under test are; their last places come first.
    fn files(
        &self,
        before: Option<&LayoutSnapshot>,
        after: Option<&LayoutSnapshot>,
    ) -> Vec<FileRange> {
        let Some(after) = after else {
            let DiskArea { start, sectors } = self.area();
            return vec![FileRange {
                file: 0,
                offset: 0,
                sector: start,
                sectors,
            }];
        };
        let mut files = after.files.content.clone();
        for earlier in before.iter().flat_map(|before| &before.files.content) {
            if !files.contains(earlier) {
                files.push(*earlier);
            }
        }
        files
    }
}

fn new_summary(below: &DiskBelow, events: EventSet) -> PathSummary {
    PathSummary::new(PathSummaryOptions {
        matching: MatchOptions {
            bio_based: below.disk.bio_based,
            bios_recorded: events != EventSet::Minimal || below.disk.bio_based,
        },
        ..PathSummaryOptions::default()
    })
}

fn gaps(snapshot: Option<&LayoutSnapshot>) -> Vec<LayoutGap> {
    let of = |snapshot: &LayoutSnapshot| {
        let all = snapshot.layout.gaps.iter().chain(&snapshot.files.gaps);
        all.cloned().collect()
    };
    snapshot.map(of).unwrap_or_default()
}
