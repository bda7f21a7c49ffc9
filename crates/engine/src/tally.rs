//! What a worker counts: totals and histograms at every I/O, intervals at every tick.
//!
//! Counting an I/O allocates nothing and calls nothing that could wait.

use hakaru_model::job::{Measure, Op, PerOp};
use hakaru_model::record::{Interval, IntervalOp, Latency, OpRecord};
use hakaru_model::units::Nanos;

/// Intervals kept at most; when there are more, neighbours are joined, so that memory stays bounded.
pub(crate) const MAX_INTERVALS: usize = 8192;

/// One finished I/O.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) op: Op,
    pub(crate) wanted: u32,
    pub(crate) moved: u32,
    /// Creation to submission, for engines that have a queue.
    pub(crate) slat: Option<u64>,
    pub(crate) clat: u64,
    pub(crate) lat: u64,
}

/// Running totals of one worker.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) ops: PerOp<OpRecord>,
    pub(crate) sync: Latency,
    pub(crate) intervals: Vec<Interval>,
    measure: Measure,
    /// Totals when the current interval began.
    base: PerOp<IntervalOp>,
    /// When the current interval began, since the start of measurement.
    begun: Nanos,
    /// How many ticks one kept interval stands for.
    joined: u32,
    /// Ticks already in the last kept interval.
    partial: u32,
}

fn empty(measure: &Measure, used: bool) -> OpRecord {
    let with = |wanted: bool| if wanted && used { Latency::with_histogram() } else { Latency::default() };
    OpRecord {
        clat: with(measure.clat),
        slat: with(measure.slat && measure.slat_histogram),
        lat: with(measure.lat && measure.lat_histogram),
        ..OpRecord::default()
    }
}

impl Tally {
    /// An empty tally with room for everything it will hold. `expected` is how many ticks the run may take.
    pub(crate) fn new(measure: &Measure, used: PerOp<bool>, syncs: bool, expected: usize) -> Tally {
        Tally {
            ops: used.map(|&used| empty(measure, used)),
            sync: if syncs { Latency::with_histogram() } else { Latency::default() },
            intervals: Vec::with_capacity(expected.clamp(64, MAX_INTERVALS)),
            measure: measure.clone(),
            base: PerOp::default(),
            begun: Nanos(0),
            joined: 1,
            partial: 0,
        }
    }

    /// Forgets everything, because the lead-in is over.
    pub(crate) fn restart(&mut self) {
        let used = self.ops.map(|op| op.clat.histogram.is_some() || op.ios > 0);
        let syncs = self.sync.histogram.is_some();
        *self = Tally::new(&self.measure, used, syncs, self.intervals.capacity());
    }

    /// Counts one I/O.
    // A call here would cost as much as the counting itself.
    #[inline(always)]
    pub(crate) fn count(&mut self, io: Finished) {
        let Finished { op, wanted, moved, slat, clat, lat } = io;
        let record = &mut self.ops[op];
        record.ios += 1;
        record.bytes += u64::from(moved);
        record.short += u64::from(moved < wanted);
        if self.measure.clat {
            record.clat.record(Nanos(clat));
        }
        if self.measure.lat {
            record.lat.record(Nanos(lat));
        }
        if let Some(slat) = slat
            && self.measure.slat
        {
            record.slat.record(Nanos(slat));
        }
    }

    /// Bytes and I/Os counted so far, all operations together.
    pub(crate) fn totals(&self) -> PerOp<(u64, u64)> {
        self.ops.map(|op| (op.ios, op.bytes))
    }

    fn now_totals(&self) -> PerOp<IntervalOp> {
        self.ops.map(|op| IntervalOp { ios: op.ios, bytes: op.bytes, clat_sum: Nanos(op.clat.stat.sum as u64) })
    }

    /// Ends the current interval at `at` (since the start of measurement). `whole` intervals also count as samples of
    /// bandwidth and IOPS; the rest at the end of a run is too short for that, unless it is all there is.
    pub(crate) fn close_interval(&mut self, at: Nanos, whole: bool) -> Option<Interval> {
        let length = Nanos(at.0.saturating_sub(self.begun.0));
        let totals = self.now_totals();
        let mut interval = Interval { at, length, ops: PerOp::default() };
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
        Some(interval)
    }

    fn sample(&mut self, interval: &Interval) {
        let length = u128::from(interval.length.0);
        for op in Op::ALL {
            let IntervalOp { ios, bytes, .. } = interval.ops[op];
            if self.ops[op].ios > 0 {
                let per_second = |n: u64, scale: u128| (u128::from(n) * 1_000_000_000 * scale / length) as u64;
                self.ops[op].bw_samples.record(per_second(bytes, 1));
                self.ops[op].iops_samples.record(per_second(ios, 1000));
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

    fn tally() -> Tally {
        Tally::new(&Measure::default(), PerOp { read: false, write: true, trim: false }, false, 10)
    }

    fn write(tally: &mut Tally, n: u64) {
        for _ in 0..n {
            tally.count(Finished { op: Op::Write, wanted: 4096, moved: 4096, slat: None, clat: 1000, lat: 1100 });
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
        assert_eq!(t.ops.write.iops_samples.count, 2);
        assert_eq!((t.ops.write.iops_samples.min, t.ops.write.iops_samples.max), (20_000, 40_000));
        assert_eq!(t.ops.read.iops_samples.count, 0);
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
        assert_eq!(t.intervals.iter().map(|i| i.length.0).sum::<u64>(), n * 1_000_000);
        assert!(t.intervals.windows(2).all(|w| w[0].at < w[1].at));
        assert_eq!(t.ops.write.bw_samples.count, n);
    }
}
