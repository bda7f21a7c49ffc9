//! Tracing of the requests of one disk.

use super::cost::CostMeter;
use hakaru_device::{DevNum, DiskBelow};
use hakaru_engine::{CounterReading, MeasuredPart};
use hakaru_model::io_path::{DiskTotals, IoPath, LayoutGap, TracedOperation};
use hakaru_model::plan::PhasePlan;
use hakaru_model::units::Bytes;
use hakaru_trace::address_map::{AddressMap, FileRange};
use hakaru_trace::classify::OwnThreads;
use hakaru_trace::layout::{
    DiskArea, LayoutSnapshot, TestFile, Volume, address_map, raw_address_map,
};
use hakaru_trace::recorder::{DiskNumber, EventRecorder, EventSet, RecorderOptions, TraceError};
use hakaru_trace::requests::MatchOptions;
use hakaru_trace::summary::{PathSummary, PathSummaryOptions, PhaseTrace};

/// Records the requests of one disk, and summarizes them phase by phase.
pub(super) struct DiskTracer {
    below: DiskBelow,
    recorder: EventRecorder,
    summary: PathSummary,
    /// The current phase, if it uses this disk.
    phase: Option<TracedPart>,
}

/// The traced part of a phase.
struct TracedPart {
    before: Option<LayoutSnapshot>,
    /// Start of the traced part, in nanoseconds of `CLOCK_MONOTONIC_RAW`, and the counters then; `None` while the cost
    /// is being measured.
    start: Option<(u64, Option<DiskTotals>)>,
    cost: Option<CostMeter>,
    /// Whether the part begins later than the measured part, because the cost was measured first.
    is_later: bool,
    /// Threads of this process other than workers.
    threads: Vec<u32>,
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
            summary: new_summary(&below),
            below,
            recorder,
            phase: None,
        })
    }

    pub(super) fn number(&self) -> DevNum {
        self.below.number
    }

    /// Prepares a phase, whose workers start when this returns.
    pub(super) fn begin_phase(&mut self, phase: &PhasePlan, is_used: bool) {
        self.take_events();
        self.phase = None;
        if !is_used {
            return;
        }
        let before = self.snapshot(phase);
        self.clear(before.as_ref());
        let runtimes = phase.workers.iter().map(|worker| worker.runtime);
        let shortest = runtimes.min().flatten();
        let later = phase
            .workers
            .iter()
            .any(|worker| worker.ramp_time.0 > 0 || worker.startdelay.0 > 0);
        let cost = shortest.and_then(|time| CostMeter::new(time.0));
        let start = match (&cost, later) {
            (None, false) => Some(self.restart()),
            _ => None,
        };
        self.phase = Some(TracedPart {
            before,
            start,
            cost,
            is_later: false,
            threads: own_threads(),
        });
    }

    /// Processes the events so far, and goes on with measuring the cost.
    pub(super) fn progress(&mut self, measuring: bool) {
        self.take_events();
        let Some(part) = self.phase.as_mut().filter(|part| part.start.is_none()) else {
            return;
        };
        if !measuring {
            return;
        }
        let now = hakaru_trace::now();
        let Some(recorded) = part.cost.as_mut().and_then(|cost| cost.next(now)) else {
            part.is_later = part.cost.is_some();
            // The last segment was recorded. Switching once more would leave gaps.
            let _ = self.recorder.resume();
            let start = self.reading();
            if let Some(part) = &mut self.phase {
                part.start = Some(start);
            }
            return;
        };
        // Requests that were in flight while nothing was recorded are unknown.
        let before = part.before.take();
        let switched = match recorded {
            true => {
                self.clear(before.as_ref());
                self.recorder.resume()
            }
            false => self.recorder.pause(),
        };
        let Some(part) = &mut self.phase else { return };
        part.before = before;
        match (&mut part.cost, switched) {
            (Some(cost), Ok(())) => cost.begin(recorded, hakaru_trace::now()),
            // Without switching there is nothing to compare.
            (cost, _) => *cost = None,
        }
    }

    /// Takes an operation of a worker: for the traced part, or for its cost.
    pub(super) fn operation(&mut self, operation: &TracedOperation) {
        let Some(part) = &mut self.phase else { return };
        let start = part.start.filter(|_| part.is_later);
        match &mut part.cost {
            Some(cost) if part.start.is_none() || start.is_some_and(|s| operation.begin < s.0) => {
                cost.note(operation);
            }
            _ => self.summary.push_operation(operation),
        }
    }

    /// Ends a phase, and returns its path.
    pub(super) fn end_phase(&mut self, phase: &PhasePlan, part: &MeasuredPart) -> Option<IoPath> {
        let own_end = self.reading();
        let (events, tracer) = self.recorder.finish();
        events.iter().for_each(|event| self.summary.push(event));
        let traced = self.phase.take()?;
        let _ = self.recorder.resume();
        let after = self.snapshot(phase);
        let name = &self.below.disk.name;
        let of_engine = |reading: &CounterReading| {
            let disk = reading.disks.iter().find(|(disk, _)| disk == name)?;
            Some((reading.at, Some(disk.1)))
        };
        let engine = part.counters.as_ref();
        let (first, last) = match engine {
            Some((first, last)) => (of_engine(first), of_engine(last)),
            None => (None, None),
        };
        let begin = match (first.filter(|_| !traced.is_later), traced.start) {
            // It ended while its cost was being measured.
            (_, None) if traced.cost.is_some() => return None,
            (Some(first), _) => first,
            (None, Some(start)) => start,
            (None, None) => (part.workers.iter().map(|worker| worker.begin).min()?, None),
        };
        let end = last.unwrap_or(own_end);
        let workers: Vec<u32> = part.workers.iter().map(|worker| worker.tid).collect();
        let map = self.map(traced.before.as_ref(), after.as_ref());
        let files = self.files(traced.before.as_ref(), after.as_ref());
        Some(self.summary.finish(&PhaseTrace {
            disk: self.below.disk.clone(),
            window: (begin.0, end.0),
            threads: OwnThreads {
                workers: &workers,
                others: &traced.threads,
            },
            map: &map,
            layout_gaps: gaps(after.as_ref()),
            files: &files,
            tracer,
            counters: begin.1.zip(end.1).and_then(|(a, b)| difference(a, b)),
            cost: traced.cost.as_ref().and_then(CostMeter::cost),
        }))
    }

    /// Begins the traced part now, before the workers start.
    fn restart(&mut self) -> (u64, Option<DiskTotals>) {
        let _ = self.recorder.resume();
        let (events, _) = self.recorder.finish();
        events.iter().for_each(|event| self.summary.push(event));
        self.reading()
    }

    /// Forgets all events so far.
    fn clear(&mut self, before: Option<&LayoutSnapshot>) {
        self.take_events();
        self.summary = new_summary(&self.below);
        let map = self.map(None, before);
        self.summary.layout_so_far(map, self.below.disk.partition);
    }

    fn take_events(&mut self) {
        let events = self.recorder.take();
        events.iter().for_each(|event| self.summary.push(event));
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

    /// Reads the counters of the disk, and returns a moment at which they had these values: between two equal readings,
    /// no request completes. On a device that always completes some in between, the last of 100 attempts counts.
    fn reading(&self) -> (u64, Option<DiskTotals>) {
        let mut before = self.totals();
        for _ in 0..100 {
            let now = hakaru_trace::now();
            let after = self.totals();
            if after == before {
                return (now, after);
            }
            before = after;
        }
        (hakaru_trace::now(), before)
    }

    /// Reads the counters of the disk.
    fn totals(&self) -> Option<DiskTotals> {
        let text = std::fs::read_to_string(&self.below.counters).ok()?;
        parse_totals(&text)
    }
}

fn new_summary(below: &DiskBelow) -> PathSummary {
    PathSummary::new(PathSummaryOptions {
        matching: MatchOptions {
            bio_based: below.disk.bio_based,
            ..MatchOptions::default()
        },
        ..PathSummaryOptions::default()
    })
}

/// Parses the counters of a disk. Source: the kernel's `Documentation/block/stat.rst`.
fn parse_totals(text: &str) -> Option<DiskTotals> {
    let fields: Vec<u64> = text
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let sectors = |field: usize| fields.get(field).map(|count| Bytes(count * 512));
    Some(DiskTotals {
        read: sectors(2)?,
        written: sectors(6)?,
        discarded: sectors(13).unwrap_or_default(),
        flushes: fields.get(15).copied(),
    })
}

/// Returns what was moved between two readings; `None` if the disk was replaced in between.
fn difference(before: DiskTotals, after: DiskTotals) -> Option<DiskTotals> {
    let bytes = |before: Bytes, after: Bytes| after.0.checked_sub(before.0).map(Bytes);
    Some(DiskTotals {
        read: bytes(before.read, after.read)?,
        written: bytes(before.written, after.written)?,
        discarded: bytes(before.discarded, after.discarded)?,
        flushes: before
            .flushes
            .zip(after.flushes)
            .and_then(|(before, after)| after.checked_sub(before)),
    })
}

fn gaps(snapshot: Option<&LayoutSnapshot>) -> Vec<LayoutGap> {
    let of = |snapshot: &LayoutSnapshot| {
        let all = snapshot.layout.gaps.iter().chain(&snapshot.files.gaps);
        all.cloned().collect()
    };
    snapshot.map(of).unwrap_or_default()
}

/// Returns the IDs of the threads of this process.
fn own_threads() -> Vec<u32> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    threads
        .filter_map(|thread| thread.ok()?.file_name().to_str()?.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_old_kernels_have_no_flushes() {
        let old = parse_totals("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((old.read, old.written), (Bytes(1536), Bytes(3584)));
        assert_eq!((old.discarded, old.flushes), (Bytes(0), None));
        let new = parse_totals("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n").unwrap();
        assert_eq!((new.discarded, new.flushes), (Bytes(14 * 512), Some(16)));
        assert_eq!(parse_totals("1 2"), None);
    }

    #[test]
    fn a_replaced_disk_has_no_difference() {
        let totals = |read| DiskTotals {
            read: Bytes(read),
            ..DiskTotals::default()
        };
        assert_eq!(difference(totals(5), totals(7)), Some(totals(2)));
        assert_eq!(difference(totals(5), totals(4)), None);
    }
}
