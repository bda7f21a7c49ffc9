//! Bandwidth, IOPS and latencies over time, in intervals.

use crate::histogram::{Histogram, index_of};
use crate::job::{Op, PerOp};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// Interval of a worker's run, for bandwidth and IOPS over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// End of the interval, relative to the start of the measurement.
    pub at: Nanos,
    /// Length of the interval.
    pub length: Nanos,
    /// Completed I/Os by operation.
    pub ops: PerOp<IntervalOp>,
}

/// Completed I/Os of one operation in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalOp {
    /// Number of I/Os.
    pub ios: u64,
    /// Transferred bytes.
    pub bytes: u64,
    /// Sum of completion latencies.
    pub clat_sum: Nanos,
}

impl Interval {
    /// Joins the next interval to this one.
    pub fn join(&mut self, next: &Interval) {
        self.at = next.at;
        self.length.0 = self.length.0.saturating_add(next.length.0);
        for op in Op::ALL {
            let (mine, theirs) = (&mut self.ops[op], &next.ops[op]);
            mine.ios = mine.ios.saturating_add(theirs.ios);
            mine.bytes = mine.bytes.saturating_add(theirs.bytes);
            mine.clat_sum.0 = mine.clat_sum.0.saturating_add(theirs.clat_sum.0);
        }
    }
}

/// Number of latency steps: four for each power of ten, from 100 ns to 1,000 s. The first also counts shorter
/// latencies, the last also longer ones.
pub const LATENCY_STEPS: usize = 40;

/// Maximum number of intervals with latencies. Beyond it, adjacent intervals are joined.
pub const MAX_LATENCY_INTERVALS: usize = 240;

/// Nominal start of the first step in nanoseconds. The step also counts shorter latencies, down to 0.
const FIRST_STEP_FROM: u64 = 100;

/// Smallest latency of each step in nanoseconds: 1, 1.78, 3.16 and 5.62 times each power of ten.
const STEP_EDGES: [u64; LATENCY_STEPS] = {
    let mut edges = [0; LATENCY_STEPS];
    let mut power = 1;
    let mut step = 0;
    while step < LATENCY_STEPS {
        edges[step] = FIRST_STEP_FROM * power;
        edges[step + 1] = 1778 * power / 10;
        edges[step + 2] = 3162 * power / 10;
        edges[step + 3] = 5623 * power / 10;
        power *= 10;
        step += 4;
    }
    edges[0] = 0;
    edges
};

/// Returns the smallest latency of a step; that of the first step is 0.
pub fn latency_step_start(step: usize) -> Nanos {
    let last = STEP_EDGES[LATENCY_STEPS - 1];
    Nanos(STEP_EDGES.get(step).copied().unwrap_or(last))
}

/// Returns the step of a latency.
pub fn latency_step(latency: Nanos) -> usize {
    STEP_EDGES
        .partition_point(|&edge| edge <= latency.0)
        .saturating_sub(1)
}

/// Returns the number of latencies of a histogram in each step. A value counts in the step that contains the start of
/// its bucket, so that a value up to 1/128 above the edge of a step may count in the step below.
pub fn latency_step_counts(histogram: &Histogram) -> [u64; LATENCY_STEPS] {
    let first = |step: usize| match STEP_EDGES.get(step) {
        // The first bucket that begins at or above the edge.
        Some(0) => 0,
        Some(&edge) => index_of(edge - 1) + 1,
        None => usize::MAX,
    };
    std::array::from_fn(|step| histogram.count_between(first(step), first(step + 1)))
}

/// Latencies that were counted in one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyInterval {
    /// End of the interval, relative to the start of the measurement.
    pub at: Nanos,
    /// Length of the interval.
    pub length: Nanos,
    /// Number of latencies in each step.
    pub counts: LatencyStepCounts,
}

impl LatencyInterval {
    /// Joins the next interval to this one.
    pub fn join(&mut self, next: &LatencyInterval) {
        self.at = next.at;
        self.length.0 = self.length.0.saturating_add(next.length.0);
        self.counts.add(&next.counts);
    }
}

/// Number of latencies in each step that has any, in ascending order of the steps.
///
/// Serializes as a flat list `[step, count, step, count, …]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyStepCounts(Vec<(u8, u64)>);

impl LatencyStepCounts {
    /// Returns the counts of steps, without those that are 0. Steps past the last count as the last.
    pub fn of(counts: impl IntoIterator<Item = (usize, u64)>) -> LatencyStepCounts {
        let mut all = LatencyStepCounts::default();
        for (step, count) in counts {
            all.add_one(step.min(LATENCY_STEPS - 1) as u8, count);
        }
        all
    }

    /// Returns the steps that have latencies with their counts, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.0
            .iter()
            .map(|&(step, count)| (usize::from(step), count))
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of latencies.
    pub fn count(&self) -> u64 {
        self.count_from(0)
    }

    /// Returns the number of latencies in this step and those above.
    pub fn count_from(&self, step: usize) -> u64 {
        let counts = self.iter().filter(|&(at, _)| at >= step);
        counts.fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Returns the latency that this share of the latencies does not exceed, such as 0.99 for P99; `None` if nothing was
    /// counted.
    ///
    /// Within a step, latencies are taken as evenly spread over its logarithm. The error is that of a step: at most a
    /// factor of 1.78. Two steps are exceptions. The first one is taken to begin at 100 ns, so shorter latencies are
    /// overstated. The last one has no end, so its start, 562 s, is returned as a lower bound.
    pub fn percentile(&self, share: f64) -> Option<Nanos> {
        let rank = share.clamp(0.0, 1.0) * self.count() as f64;
        let mut below = 0.0;
        for (step, count) in self.iter() {
            let count = count as f64;
            if below + count >= rank {
                let start = latency_step_start(step).0.max(FIRST_STEP_FROM) as f64;
                let end = latency_step_start(step + 1).0 as f64;
                let part = ((rank - below) / count).clamp(0.0, 1.0);
                return Some(Nanos((start * (end / start).powf(part)).round() as u64));
            }
            below += count;
        }
        None
    }

    /// Adds the counts of another interval.
    pub fn add(&mut self, other: &LatencyStepCounts) {
        for &(step, count) in &other.0 {
            self.add_one(step, count);
        }
    }

    fn add_one(&mut self, step: u8, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.binary_search_by_key(&step, |&(step, _)| step) {
            Ok(at) => self.0[at].1 = self.0[at].1.saturating_add(count),
            Err(at) => self.0.insert(at, (step, count)),
        }
    }
}

impl Serialize for LatencyStepCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let flat = self
            .0
            .iter()
            .flat_map(|&(step, count)| [u64::from(step), count]);
        serializer.collect_seq(flat)
    }
}

impl<'de> Deserialize<'de> for LatencyStepCounts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let flat = Vec::<u64>::deserialize(deserializer)?;
        if flat.len() % 2 != 0 {
            return Err(D::Error::custom(
                "latency steps are a list of pairs, but this list has an odd length",
            ));
        }
        let mut counts = LatencyStepCounts::default();
        for pair in flat.chunks_exact(2) {
            if pair[0] >= LATENCY_STEPS as u64 {
                return Err(D::Error::custom(format!(
                    "latency step {} is beyond the last step, {}",
                    pair[0],
                    LATENCY_STEPS - 1
                )));
            }
            counts.add_one(pair[0] as u8, pair[1]);
        }
        Ok(counts)
    }
}

/// Appends the latencies of an interval, and keeps the number of intervals bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyIntervals {
    kept: Vec<LatencyInterval>,
    /// Number of intervals in each kept one.
    joined: u32,
    /// Number of intervals already in the last kept one.
    partial: u32,
}

impl Default for LatencyIntervals {
    fn default() -> Self {
        LatencyIntervals {
            kept: Vec::new(),
            joined: 1,
            partial: 0,
        }
    }
}

impl LatencyIntervals {
    /// Appends an interval. Above [`MAX_LATENCY_INTERVALS`], all are joined in pairs first.
    pub fn push(&mut self, interval: LatencyInterval) {
        match self.kept.last_mut() {
            Some(last) if (1..self.joined).contains(&self.partial) => {
                last.join(&interval);
                self.partial += 1;
            }
            _ => {
                if self.kept.len() >= MAX_LATENCY_INTERVALS {
                    self.join_pairs();
                }
                self.kept.push(interval);
                self.partial = 1;
            }
        }
    }

    fn join_pairs(&mut self) {
        let pairs = self.kept.chunks(2).map(|pair| {
            let mut first = pair[0].clone();
            pair[1..].iter().for_each(|next| first.join(next));
            first
        });
        self.kept = pairs.collect();
        self.joined = self.joined.saturating_mul(2);
    }

    /// Returns the intervals in which something was counted.
    pub fn into_intervals(mut self) -> Vec<LatencyInterval> {
        self.kept.retain(|interval| !interval.counts.is_empty());
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(at: u64, counts: &[(usize, u64)]) -> LatencyInterval {
        LatencyInterval {
            at: Nanos(at),
            length: Nanos(1),
            counts: LatencyStepCounts::of(counts.iter().copied()),
        }
    }

    #[test]
    fn every_fourth_step_begins_at_a_power_of_ten() {
        for (step, start) in [(0, 0), (4, 1_000), (16, 1_000_000), (28, 1_000_000_000)] {
            assert_eq!(latency_step_start(step), Nanos(start));
        }
        assert_eq!(latency_step_start(29), Nanos(1_778_000_000));
        assert!(STEP_EDGES.is_sorted_by(|a, b| a < b));
        let steps = [0, 999, 1_000, u64::MAX].map(|value| latency_step(Nanos(value)));
        assert_eq!(steps, [0, 3, 4, LATENCY_STEPS - 1]);
    }

    #[test]
    fn latencies_count_in_the_step_that_contains_them() {
        let mut histogram = Histogram::new();
        for value in [0, 150, 900, 2_000, 990_000_000, 1_010_000_000, u64::MAX] {
            histogram.record(Nanos(value));
        }
        let counts = latency_step_counts(&histogram);
        let found: Vec<_> = counts.iter().enumerate().filter(|(_, n)| **n > 0).collect();
        let wanted = [(0, &2), (3, &1), (5, &1), (27, &1), (28, &1), (39, &1)];
        assert_eq!(found, wanted);
        assert_eq!(counts.iter().sum::<u64>(), histogram.count());
    }

    #[test]
    fn percentiles_are_within_the_step_that_contains_them() {
        let none = LatencyStepCounts::default();
        assert_eq!(none.percentile(0.5), None);
        // 98 latencies from 100 to 178 us, and 2 from 10 to 17.8 ms.
        let counts = LatencyStepCounts::of([(12, 98), (20, 2)]);
        let at = |share| counts.percentile(share).unwrap();
        assert_eq!(at(0.0), Nanos(100_000));
        assert!(
            (Nanos(130_000)..Nanos(136_000)).contains(&at(0.5)),
            "{:?}",
            at(0.5)
        );
        assert_eq!(at(0.98), Nanos(177_800));
        assert!((Nanos(13_000_000)..Nanos(13_700_000)).contains(&at(0.99)));
        assert_eq!(at(1.0), Nanos(17_780_000));
        let last = LatencyStepCounts::of([(LATENCY_STEPS - 1, 1)]);
        assert_eq!(
            last.percentile(0.99),
            Some(latency_step_start(LATENCY_STEPS - 1))
        );
    }

    #[test]
    fn percentiles_of_the_first_step_are_at_least_100_ns() {
        let first = LatencyStepCounts::of([(latency_step(Nanos(150)), 10)]);
        let found = [0.0, 0.5, 1.0].map(|share| first.percentile(share).unwrap().0);
        assert_eq!(found, [100, 133, 177]);
    }

    #[test]
    fn the_number_of_intervals_is_bounded_and_nothing_is_lost() {
        let mut intervals = LatencyIntervals::default();
        let n = MAX_LATENCY_INTERVALS as u64 * 5 + 3;
        for at in 1..=n {
            intervals.push(interval(at, &[(20, 2), ((at % 7) as usize, 1)]));
        }
        let kept = intervals.into_intervals();
        assert!(kept.len() <= MAX_LATENCY_INTERVALS);
        assert_eq!(kept.iter().map(|i| i.counts.count()).sum::<u64>(), 3 * n);
        assert_eq!(kept.iter().map(|i| i.length.0).sum::<u64>(), n);
        assert_eq!(kept.last().unwrap().at, Nanos(n));
        assert!(kept.windows(2).all(|pair| pair[0].at < pair[1].at));
    }

    #[test]
    fn intervals_without_latencies_are_left_out() {
        let mut intervals = LatencyIntervals::default();
        for (at, counts) in [(1, &[(5, 1)][..]), (2, &[]), (3, &[(6, 1)])] {
            intervals.push(interval(at, counts));
        }
        let kept = intervals.into_intervals();
        assert_eq!(kept.iter().map(|i| i.at.0).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn stored_steps_come_back_or_are_refused() {
        let counts = LatencyStepCounts::of([(3, 7), (28, u64::MAX), (28, 1), (99, 2)]);
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(text, format!("[3,7,28,{},39,2]", u64::MAX));
        assert_eq!(
            serde_json::from_str::<LatencyStepCounts>(&text).unwrap(),
            counts
        );
        assert_eq!(counts.count(), u64::MAX);
        assert_eq!(counts.count_from(39), 2);
        for wrong in ["[1]", "[40,1]", "[-1,1]", "{}"] {
            assert!(
                serde_json::from_str::<LatencyStepCounts>(wrong).is_err(),
                "{wrong}"
            );
        }
    }
}
