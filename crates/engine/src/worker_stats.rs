//! Statistics of a worker: totals and histograms at every I/O, intervals at every tick.
//!
//! Counting an I/O neither allocates nor blocks.

use crate::latency_intervals::LatencyRecorder;
use hakaru_model::histogram::Histogram;
use hakaru_model::job::{Measure, Op, PerOp};
use hakaru_model::record::{
    Interval, IntervalOp, Latency, LatencyStepCounts, OpRecord, OtherSyncs, Samples,
};
use hakaru_model::units::Nanos;

/// Maximum number of intervals. Beyond it, adjacent intervals are merged to bound the memory.
pub(crate) const MAX_INTERVALS: usize = 8192;

/// One finished I/O.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompletedIo {
    pub(crate) op: Op,
    pub(crate) wanted: u32,
    pub(crate) moved: u32,
    /// Time from creation to submission, for engines with a queue.
    pub(crate) slat: Option<u64>,
    pub(crate) clat: u64,
    pub(crate) lat: u64,
}

/// Sums of one type of latency, updated in as few instructions as possible.
///
/// The count is the number of I/Os; both are combined in the record at the end.
#[derive(Clone, Copy, Debug)]
struct LatencySums {
    min: u64,
    max: u64,
    sum: u64,
    sum_sq: u128,
}

impl LatencySums {
    const NONE: LatencySums = LatencySums {
        min: u64::MAX,
        max: 0,
        sum: 0,
        sum_sq: 0,
    };

    #[inline(always)]
    fn record(&mut self, value: u64, times: u64) {
        // New extremes are rare, so predicted branches take less than writing both each time.
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        // Overflows only after 2^64 ns (584 years) of waiting.
        self.sum = self.sum.wrapping_add(value.wrapping_mul(times));
        let square = u128::from(value) * u128::from(value);
        self.sum_sq = self
            .sum_sq
            .wrapping_add(square.wrapping_mul(u128::from(times)));
    }

    fn samples(&self, count: u64) -> Samples {
        if count == 0 || self.min > self.max {
            return Samples::default();
        }
        Samples {
            count,
            min: self.min,
            max: self.max,
            sum: self.sum.into(),
            sum_sq: self.sum_sq,
        }
    }
}

/// Data that is updated at every I/O of one operation, kept together to use few cache lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct OpCounters {
    ios: u64,
    // Between the two sums: next to each other, the compiler adds them as a vector, in more instructions.
    clat_histogram: Option<Histogram>,
    bytes: u64,
    short: u64,
    clat: LatencySums,
    lat: LatencySums,
    slat: LatencySums,
    lat_histogram: Option<Histogram>,
    slat_histogram: Option<Histogram>,
}

impl OpCounters {
    /// Returns the record of the operation, without its samples.
    fn into_record(self) -> OpRecord {
        let latency = |sums: LatencySums, histogram| Latency {
            stat: sums.samples(self.ios),
            histogram,
            over_time: Vec::new(),
        };
        OpRecord {
            ios: self.ios,
            bytes: self.bytes,
            short: self.short,
            slat: latency(self.slat, self.slat_histogram),
            clat: latency(self.clat, self.clat_histogram),
            lat: latency(self.lat, self.lat_histogram),
            ..OpRecord::default()
        }
    }

    fn new(measure: &Measure, used: bool) -> OpCounters {
        let histogram = |wanted: bool| (wanted && used).then(Histogram::new);
        OpCounters {
            ios: 0,
            bytes: 0,
            short: 0,
            clat_histogram: histogram(measure.clat),
            clat: LatencySums::NONE,
            lat: LatencySums::NONE,
            slat: LatencySums::NONE,
            lat_histogram: histogram(measure.lat && measure.lat_histogram),
            slat_histogram: histogram(measure.slat && measure.slat_histogram),
        }
    }
}

/// Counts a value in a histogram, if there is one.
// Inlined: if `times` is known to be 1, only the increment remains.
#[inline(always)]
fn note(histogram: &mut Option<Histogram>, value: u64, times: u64) {
    match histogram {
        Some(histogram) if times == 1 => histogram.record(Nanos(value)),
        Some(histogram) => histogram.record_n(Nanos(value), times),
        None => {}
    }
}

/// Running totals of one worker.
#[derive(Clone, Debug)]
pub(crate) struct WorkerStats {
    hot: [OpCounters; 3],
    /// Copies of the switches in `measure`, next to the data they control.
    wants_clat: bool,
    wants_lat: bool,
    /// Every I/O is submitted when created, so one of the two latencies is counted and the other
    /// copied.
    lat_is_clat: bool,
    wants_slat: bool,
    samples: PerOp<(Samples, Samples)>,
    used: PerOp<bool>,
    /// Operations that are currently excluded from the samples over time.
    resting: PerOp<bool>,
    pub(crate) sync: Latency,
    pub(crate) other_syncs: OtherSyncs,
    pub(crate) intervals: Vec<Interval>,
    /// Latencies of the intervals. Ticks alone use them, so they are not beside the counters.
    latencies: Box<LatencyRecorders>,
    measure: Measure,
    /// Totals at the start of the current interval.
    base: PerOp<IntervalOp>,
    /// Start of the current interval, since the start of measurement.
    begun: Nanos,
    /// Number of ticks per interval.
    joined: u32,
    /// Ticks already in the last kept interval.
    partial: u32,
    /// Maximum latencies (slat, clat, lat) of log windows.
    maxima: [[u64; 3]; 3],
}

/// Latencies of the intervals: of each operation, and of `fsync`.
#[derive(Clone, Debug, Default)]
struct LatencyRecorders {
    clat: PerOp<LatencyRecorder>,
    lat: PerOp<LatencyRecorder>,
    sync: LatencyRecorder,
    /// Latencies of each operation in the last interval.
    last: PerOp<LatencyStepCounts>,
}

/// Sums of one operation since the start of measurement, for log windows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowSums {
    pub(crate) ios: u64,
    pub(crate) bytes: u64,
    /// Sums of slat, clat and lat; `None` if not measured.
    pub(crate) latency: [Option<u64>; 3],
}

impl WorkerStats {
    /// Creates empty statistics with room for everything to be counted. `expected` is the maximum number of ticks of
    /// the run.
    pub(crate) fn new(
        measure: &Measure,
        used: PerOp<bool>,
        syncs: bool,
        expected: usize,
    ) -> WorkerStats {
        WorkerStats {
            hot: Op::ALL.map(|op| OpCounters::new(measure, used[op])),
            wants_clat: measure.clat,
            wants_lat: measure.lat,
            lat_is_clat: false,
            wants_slat: measure.slat,
            samples: PerOp::default(),
            used,
            resting: PerOp::default(),
            sync: if syncs {
                Latency::with_histogram()
            } else {
                Latency::default()
            },
            other_syncs: OtherSyncs::default(),
            intervals: Vec::with_capacity(expected.clamp(64, MAX_INTERVALS)),
            latencies: Box::default(),
            measure: measure.clone(),
            base: PerOp::default(),
            begun: Nanos(0),
            joined: 1,
            partial: 0,
            maxima: [[0; 3]; 3],
        }
    }

    /// Moves out all statistics. Leaves them empty and without histograms.
    pub(crate) fn take(&mut self) -> WorkerStats {
        let empty = WorkerStats::new(&self.measure, PerOp::default(), false, 0);
        std::mem::replace(self, empty)
    }

    /// Resets everything at the end of the ramp time.
    pub(crate) fn restart(&mut self) {
        let syncs = self.sync.histogram.is_some();
        let lat_is_clat = self.lat_is_clat;
        *self = WorkerStats::new(&self.measure, self.used, syncs, self.intervals.capacity());
        if lat_is_clat {
            self.count_lat_as_clat();
        }
    }

    /// From now on, creation and submission of each I/O are the same time.
    pub(crate) fn count_lat_as_clat(&mut self) {
        if self.measure.clat && self.measure.lat && !self.measure.lat_histogram {
            (self.lat_is_clat, self.wants_lat) = (true, false);
        }
    }

    /// Excludes an operation from the samples over time during an intended pause.
    pub(crate) fn rest(&mut self, op: Op, rests: bool) {
        self.resting[op] = rests;
    }

    /// Whether an operation is currently excluded by [`WorkerStats::rest`].
    pub(crate) fn rests(&self, op: Op) -> bool {
        self.resting[op]
    }

    /// Counts an I/O of an earlier run.
    pub(crate) fn count_rehearsed(&mut self, op: Op, len: u32) {
        let hot = &mut self.hot[op as usize];
        hot.ios += 1;
        hot.bytes += u64::from(len);
    }

    /// Counts one I/O.
    // A function call here would cost as much as the counting.
    #[inline(always)]
    pub(crate) fn count(&mut self, io: CompletedIo) {
        self.count_alike(io, 1);
    }

    /// Counts I/Os with equal properties: submitted to a queue at one time and completed at one time.
    #[inline(always)]
    pub(crate) fn count_alike(&mut self, io: CompletedIo, times: u64) {
        let CompletedIo {
            op,
            wanted,
            moved,
            slat,
            clat,
            lat,
        } = io;
        let hot = &mut self.hot[op as usize];
        hot.ios += times;
        hot.bytes += u64::from(moved) * times;
        if moved < wanted {
            hot.short += times;
        }
        if self.wants_clat {
            hot.clat.record(clat, times);
            note(&mut hot.clat_histogram, clat, times);
        }
        if self.wants_lat {
            hot.lat.record(lat, times);
            note(&mut hot.lat_histogram, lat, times);
        }
        if let Some(slat) = slat
            && self.wants_slat
        {
            hot.slat.record(slat, times);
            note(&mut hot.slat_histogram, slat, times);
        }
    }

    /// Returns the statistics by operation; `refused` I/Os count as issued too.
    pub(crate) fn into_records(
        self,
        refused: [u64; 3],
    ) -> (PerOp<OpRecord>, Latency, Vec<Interval>) {
        let WorkerStats {
            hot,
            lat_is_clat,
            samples,
            mut sync,
            intervals,
            latencies,
            maxima,
            ..
        } = self;
        let LatencyRecorders {
            mut clat,
            mut lat,
            sync: sync_latencies,
            ..
        } = *latencies;
        sync.over_time = sync_latencies.into_intervals();
        let mut ops: PerOp<OpRecord> = PerOp::default();
        for (op, mut hot) in Op::ALL.into_iter().zip(hot) {
            for (sums, max) in [&mut hot.slat, &mut hot.clat, &mut hot.lat]
                .into_iter()
                .zip(maxima[op as usize])
            {
                sums.max = sums.max.max(max);
            }
            if lat_is_clat {
                hot.lat = hot.clat;
            }
            let (bw, iops) = samples[op];
            ops[op] = OpRecord {
                issued: hot.ios + refused[op as usize],
                bw_samples: bw,
                iops_samples: iops,
                ..hot.into_record()
            };
            ops[op].clat.over_time = std::mem::take(&mut clat[op]).into_intervals();
            ops[op].lat.over_time = std::mem::take(&mut lat[op]).into_intervals();
        }
        (ops, sync, intervals)
    }

    /// Returns the number of bytes and I/Os counted so far, by operation.
    pub(crate) fn totals(&self) -> PerOp<(u64, u64)> {
        let of = |op: Op| (self.hot[op as usize].ios, self.hot[op as usize].bytes);
        PerOp {
            read: of(Op::Read),
            write: of(Op::Write),
            trim: of(Op::Trim),
        }
    }

    /// Sums of one operation since the start of measurement, for log windows.
    pub(crate) fn sums(&self, op: Op) -> WindowSums {
        let hot = &self.hot[op as usize];
        let lat = if self.lat_is_clat {
            hot.clat.sum
        } else {
            hot.lat.sum
        };
        let kept = |wanted: bool, sum: u64| wanted.then_some(sum);
        let latency = [
            kept(
                self.wants_slat && hot.slat.min <= hot.slat.max.max(self.maxima[op as usize][0]),
                hot.slat.sum,
            ),
            kept(self.wants_clat, hot.clat.sum),
            kept(self.wants_lat || self.lat_is_clat, lat),
        ];
        WindowSums {
            ios: hot.ios,
            bytes: hot.bytes,
            latency,
        }
    }

    /// Returns the maximum slat, clat and lat since the last call. The overall maximum is kept
    /// separately.
    pub(crate) fn take_maxima(&mut self, op: Op) -> [u64; 3] {
        let hot = &mut self.hot[op as usize];
        let taken = [&mut hot.slat, &mut hot.clat, &mut hot.lat]
            .map(|moments| std::mem::take(&mut moments.max));
        for (kept, new) in self.maxima[op as usize].iter_mut().zip(taken) {
            *kept = new.max(*kept);
        }
        if self.lat_is_clat {
            [taken[0], taken[1], taken[1]]
        } else {
            taken
        }
    }

    /// Returns the completion latencies of one operation so far.
    pub(crate) fn clat_histogram(&self, op: Op) -> Option<&Histogram> {
        self.hot[op as usize].clat_histogram.as_ref()
    }

    fn now_totals(&self) -> PerOp<IntervalOp> {
        let of = |op: Op| {
            let hot = &self.hot[op as usize];
            IntervalOp {
                ios: hot.ios,
                bytes: hot.bytes,
                clat_sum: Nanos(hot.clat.sum),
            }
        };
        PerOp {
            read: of(Op::Read),
            write: of(Op::Write),
            trim: of(Op::Trim),
        }
    }

    /// Ends the current interval at `at` (since the start of measurement). `whole` intervals also count as samples of
    /// bandwidth and IOPS; the remainder at the end of a run is too short for that.
    pub(crate) fn close_interval(&mut self, at: Nanos, whole: bool) -> Option<Interval> {
        let length = Nanos(at.0.saturating_sub(self.begun.0));
        let totals = self.now_totals();
        let mut interval = Interval {
            at,
            length,
            ops: PerOp::default(),
        };
        for op in Op::ALL {
            let (now, base) = (&totals[op], &self.base[op]);
            interval.ops[op] = IntervalOp {
                ios: now.ios - base.ios,
                bytes: now.bytes - base.bytes,
                clat_sum: Nanos(now.clat_sum.0 - base.clat_sum.0),
            };
        }
        (self.base, self.begun) = (totals, at);
        if length.0 == 0 {
            return None;
        }
        if whole {
            self.sample(&interval);
        }
        self.keep(interval);
        self.keep_latencies(at, length);
        Some(interval)
    }

    /// Adds the latencies of an interval, from what the histograms counted since the last one.
    fn keep_latencies(&mut self, at: Nanos, length: Nanos) {
        if !self.measure.intervals {
            return;
        }
        let LatencyRecorders {
            clat,
            lat,
            sync,
            last,
        } = &mut *self.latencies;
        for (op, hot) in Op::ALL.into_iter().zip(&self.hot) {
            let completion = clat[op].close(at, length, hot.clat_histogram.as_ref());
            let total = lat[op].close(at, length, hot.lat_histogram.as_ref());
            last[op] = completion.or(total).unwrap_or_default();
        }
        sync.close(at, length, self.sync.histogram.as_ref());
    }

    /// Takes the latencies of the last interval: completion latencies if they are measured, otherwise total latencies.
    pub(crate) fn take_latencies(&mut self) -> PerOp<LatencyStepCounts> {
        std::mem::take(&mut self.latencies.last)
    }

    fn sample(&mut self, interval: &Interval) {
        let length = u128::from(interval.length.0);
        for op in Op::ALL {
            let IntervalOp { ios, bytes, .. } = interval.ops[op];
            if self.hot[op as usize].ios > 0 && !self.resting[op] {
                let per_second =
                    |n: u64, scale: u128| (u128::from(n) * 1_000_000_000 * scale / length) as u64;
                self.samples[op].0.record(per_second(bytes, 1));
                self.samples[op].1.record(per_second(ios, 1000));
            }
        }
    }

    fn keep(&mut self, interval: Interval) {
        if !self.measure.intervals {
            return;
        }
        match self.intervals.last_mut() {
            Some(last) if self.partial < self.joined && self.partial > 0 => {
                last.join(&interval);
                self.partial += 1;
            }
            _ => {
                if self.intervals.len() >= MAX_INTERVALS {
                    self.join_pairs();
                }
                self.intervals.push(interval);
                self.partial = 1;
            }
        }
    }

    fn join_pairs(&mut self) {
        let mut kept = 0;
        for i in (0..self.intervals.len()).step_by(2) {
            let mut pair = self.intervals[i];
            if let Some(second) = self.intervals.get(i + 1) {
                pair.join(second);
            }
            self.intervals[kept] = pair;
            kept += 1;
        }
        self.intervals.truncate(kept);
        self.joined *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> WorkerStats {
        WorkerStats::new(
            &Measure::default(),
            PerOp {
                read: false,
                write: true,
                trim: false,
            },
            false,
            10,
        )
    }

    fn write(tally: &mut WorkerStats, n: u64) {
        for _ in 0..n {
            tally.count(CompletedIo {
                op: Op::Write,
                wanted: 4096,
                moved: 4096,
                slat: None,
                clat: 1000,
                lat: 1100,
            });
        }
    }

    #[test]
    fn intervals_hold_what_came_in_them() {
        let mut t = tally();
        write(&mut t, 10);
        t.close_interval(Nanos::from_millis(500), true);
        write(&mut t, 20);
        t.close_interval(Nanos::from_millis(1000), true);
        write(&mut t, 1);
        t.close_interval(Nanos::from_millis(1001), false);
        let ios: Vec<u64> = t.intervals.iter().map(|i| i.ops.write.ios).collect();
        assert_eq!(ios, [10, 20, 1]);
        assert_eq!(t.samples.write.1.count, 2);
        assert_eq!(
            (t.samples.write.1.min, t.samples.write.1.max),
            (20_000, 40_000)
        );
        assert_eq!(t.samples.read.1.count, 0);
    }

    #[test]
    fn latencies_over_time_hold_what_came_in_each_interval() {
        let mut t = tally();
        t.sync = Latency::with_histogram();
        write(&mut t, 10);
        t.close_interval(Nanos::from_millis(500), true);
        t.close_interval(Nanos::from_millis(1000), true);
        write(&mut t, 20);
        t.sync.record(Nanos::from_millis(3));
        t.close_interval(Nanos::from_millis(1500), true);
        let (ops, sync, _) = t.into_records([0; 3]);
        let found = |latency: &Latency| -> Vec<(u64, u64)> {
            let intervals = latency.over_time.iter();
            intervals
                .map(|i| (i.at.0 / 1_000_000, i.counts.count()))
                .collect()
        };
        assert_eq!(found(&ops.write.clat), [(500, 10), (1500, 20)]);
        assert_eq!(found(&sync), [(1500, 1)]);
        assert_eq!(found(&ops.write.lat), []);
        let steps: Vec<_> = ops.write.clat.over_time[1].counts.iter().collect();
        assert_eq!(steps, [(4, 20)], "1 µs begins step 4");
    }

    #[test]
    fn ios_that_are_alike_count_as_if_they_came_one_by_one() {
        let io = CompletedIo {
            op: Op::Write,
            wanted: 4096,
            moved: 512,
            slat: Some(7),
            clat: 900,
            lat: 907,
        };
        let (mut together, mut single) = (tally(), tally());
        together.count_alike(io, 5);
        (0..5).for_each(|_| single.count(io));
        assert_eq!(
            together.into_records([0; 3]).0,
            single.into_records([0; 3]).0
        );
    }

    #[test]
    fn memory_stays_bounded_and_nothing_is_lost() {
        let mut t = tally();
        let n = MAX_INTERVALS as u64 * 5 + 3;
        for i in 0..n {
            write(&mut t, 1);
            t.close_interval(Nanos::from_millis(i + 1), true);
        }
        assert!(t.intervals.len() <= MAX_INTERVALS);
        assert_eq!(t.intervals.iter().map(|i| i.ops.write.ios).sum::<u64>(), n);
        assert_eq!(
            t.intervals.iter().map(|i| i.length.0).sum::<u64>(),
            n * 1_000_000
        );
        assert!(t.intervals.windows(2).all(|w| w[0].at < w[1].at));
        assert_eq!(t.samples.write.0.count, n);
    }
}
