//! Latency histogram of fixed size: 128 buckets per octave, from 1 ns to over 9 hours.
//!
//! ```text
//! value      0 .. 255        256 .. 511      512 .. 1023    ...   2^44 .. 2^45-1
//! width      1               2               4              ...   2^37
//! index      0 .. 255        256 .. 383      384 .. 511     ...   4864 .. 4991   (values above fall into the last)
//! ```
//!
//! A bucket is at most 1/128 as wide as the values in it. Two adjacent buckets are exactly one bucket of a histogram
//! with 64 buckets per octave, which the fio dialect prints.

use crate::units::{Nanos, Quantile};
use serde::{Deserialize, Serialize};

const BITS: u32 = 7;
const PER_OCTAVE: usize = 1 << BITS;
/// Number of bits of the largest values with a bucket of their own octave: values below 2^45 ns (9.8 hours).
const MAX_BITS: u32 = 45;

/// Number of buckets of a histogram, 8 bytes each.
pub const BUCKETS: usize = (MAX_BITS - BITS + 1) as usize * PER_OCTAVE;

/// Number of buckets of the coarser histogram of the fio dialect (its documented maximum is 17.1 s).
pub const FOLDED_BUCKETS: usize = 1856;

/// Histogram of values, precise to 1/128 of the value.
#[derive(PartialEq, Eq)]
pub struct Histogram {
    counts: Box<[u64; BUCKETS]>,
}

/// Buckets that are copied or added together: about a page of memory.
const CHUNK: usize = 512;

/// Returns the index of the bucket that counts a value.
#[inline]
pub fn index_of(value: u64) -> usize {
    // The first two octaves are one linear segment. Values of one job are nearly always on one side of its end, so the
    // branch is predicted; computing the octave takes longer.
    if value < 2 * PER_OCTAVE as u64 {
        return value as usize;
    }
    let octave = 63 - value.leading_zeros();
    let shift = octave - BITS;
    let index = ((shift as usize) << BITS) + (value >> shift) as usize;
    index.min(BUCKETS - 1)
}

/// Returns the smallest value of a bucket.
pub fn lower_edge(index: usize) -> u64 {
    if index < 2 * PER_OCTAVE {
        return index as u64;
    }
    let shift = (index >> BITS) as u32 - 1;
    ((PER_OCTAVE + (index & (PER_OCTAVE - 1))) as u64) << shift
}

/// Returns the largest value of a bucket; the last bucket also counts all larger values.
pub fn upper_edge(index: usize) -> u64 {
    if index < 2 * PER_OCTAVE {
        index as u64
    } else {
        lower_edge(index + 1) - 1
    }
}

impl Clone for Histogram {
    // A copy of all bytes would use memory for all pages.
    fn clone(&self) -> Self {
        let mut copy = Histogram::new();
        copy.merge(self);
        copy
    }
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl Histogram {
    /// Creates an empty histogram. It reserves [`BUCKETS`] × 8 bytes, but untouched pages use no memory.
    pub fn new() -> Histogram {
        // A vector allocates zeroed memory; an array would be copied from the stack.
        let counts = vec![0; BUCKETS].into_boxed_slice();
        Histogram {
            counts: counts
                .try_into()
                .expect("the vector was made with the length of the array"),
        }
    }

    /// Counts one value. Takes a few nanoseconds and allocates nothing.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        self.counts[index_of(value.0)] += 1;
    }

    /// Counts one value `times` times.
    pub fn record_n(&mut self, value: Nanos, times: u64) {
        self.add_bucket(index_of(value.0), times);
    }

    /// Adds `times` values to the bucket at an index, for readers of stored buckets. Ignores indexes past the end.
    ///
    /// Counts saturate. No run counts that much, but a damaged record may.
    pub fn add_bucket(&mut self, index: usize, times: u64) {
        if let Some(count) = self.counts.get_mut(index) {
            *count = count.saturating_add(times);
        }
    }

    /// Adds the counts of another histogram. The result is exact and does not depend on the order. Pages without counts
    /// in the other histogram are not written, so that they use no memory.
    pub fn merge(&mut self, other: &Histogram) {
        let chunks = self
            .counts
            .chunks_mut(CHUNK)
            .zip(other.counts.chunks(CHUNK));
        for (mine, theirs) in chunks.filter(|(_, theirs)| theirs.iter().any(|&n| n > 0)) {
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine = mine.saturating_add(*theirs);
            }
        }
    }

    /// Resets all counts and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        sum(&self.counts[..])
    }

    /// Returns the buckets that are not empty as `(index, count)`, smallest value first.
    pub fn buckets(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.counts
            .iter()
            .copied()
            .enumerate()
            .filter(|&(_, n)| n > 0)
    }

    /// Returns the value that at least a fraction `q` of the samples does not exceed.
    ///
    /// The result is the upper edge of a bucket: never below the true value and at most 1/128 above it. `None` if
    /// empty. Source: Hyndman and Fan (1996), type 1. Takes one pass over the buckets.
    pub fn value_at(&self, q: Quantile) -> Option<Nanos> {
        let total = self.count();
        let rank = ((total as f64 * q.share()).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0u64;
        self.buckets().find_map(|(index, n)| {
            seen = seen.saturating_add(n);
            (seen >= rank).then(|| Nanos(upper_edge(index)))
        })
    }

    /// Returns the number of values up to `limit`, to the precision of a bucket.
    pub fn count_up_to(&self, limit: Nanos) -> u64 {
        sum(&self.counts[..=index_of(limit.0)])
    }

    /// Returns the number of values in the buckets from index `first` up to and without `end`.
    pub fn count_between(&self, first: usize, end: usize) -> u64 {
        let end = end.min(BUCKETS);
        sum(&self.counts[first.min(end)..end])
    }

    /// Returns the counts in buckets of 64 per octave, as the fio dialect prints them. The conversion is exact, because
    /// each such bucket is two of ours. Its last bucket also counts all larger values.
    pub fn fold(&self) -> Box<[u64; FOLDED_BUCKETS]> {
        let mut folded = Box::new([0u64; FOLDED_BUCKETS]);
        for (index, n) in self.buckets() {
            let bucket = &mut folded[folded_index(lower_edge(index))];
            *bucket = bucket.saturating_add(n);
        }
        folded
    }
}

/// Returns the saturating sum of counts.
fn sum(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, &n| sum.saturating_add(n))
}

/// Returns the index of a value's bucket with 64 buckets per octave.
pub fn folded_index(value: u64) -> usize {
    let octave = 63 - (value | 127).leading_zeros();
    let shift = octave - 6;
    (((shift as usize) << 6) + (value >> shift) as usize).min(FOLDED_BUCKETS - 1)
}

/// Returns the value that the fio dialect prints for a bucket of 64 per octave: its middle.
pub fn folded_middle(index: usize) -> u64 {
    if index < 128 {
        return index as u64;
    }
    let shift = (index >> 6) as u32 - 1;
    let base = ((64 + (index & 63)) as u64) << shift;
    base + (1 << (shift - 1))
}

/// `Histogram { count: 12, buckets: [(130, 7), (131, 5)] }`
impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let buckets: Vec<_> = self.buckets().collect();
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("buckets", &buckets)
            .finish()
    }
}

/// Serializes as one flat list `[gap, count, gap, count, …]`. A gap is the distance from the previous index; the first
/// is from 0.
impl Serialize for Histogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        let flat: Vec<u64> = self
            .buckets()
            .flat_map(|(index, n)| {
                let gap = index - last;
                last = index;
                [gap as u64, n]
            })
            .collect();
        flat.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let flat = Vec::<u64>::deserialize(deserializer)?;
        if flat.len() % 2 != 0 {
            return Err(D::Error::custom(
                "a histogram is a list of pairs, but this list has an odd length",
            ));
        }
        let mut histogram = Histogram::new();
        let mut index = 0u64;
        for pair in flat.chunks_exact(2) {
            index = index.saturating_add(pair[0]);
            if index >= BUCKETS as u64 {
                return Err(D::Error::custom(format!(
                    "histogram bucket {index} is beyond the last bucket, {}",
                    BUCKETS - 1
                )));
            }
            histogram.add_bucket(index as usize, pair[1]);
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn edges_meet_without_gap_or_overlap() {
        for index in 0..BUCKETS - 1 {
            assert_eq!(
                upper_edge(index) + 1,
                lower_edge(index + 1),
                "bucket {index}"
            );
            assert_eq!(index_of(lower_edge(index)), index);
            assert_eq!(index_of(upper_edge(index)), index);
        }
    }

    #[test]
    fn a_copy_has_the_counts_of_all_buckets() {
        for step in [1, CHUNK - 1, CHUNK, BUCKETS - 1] {
            let mut histogram = Histogram::new();
            for index in (0..BUCKETS).step_by(step) {
                histogram.add_bucket(index, 1 + index as u64);
            }
            assert!(histogram.clone() == histogram, "every {step}");
            let mut sum = histogram.clone();
            sum.merge(&histogram);
            let doubled = histogram.buckets().map(|(index, n)| (index, 2 * n));
            assert!(sum.buckets().eq(doubled), "every {step}");
        }
    }

    #[test]
    fn range_is_a_nanosecond_to_over_an_hour() {
        assert_eq!(index_of(1), 1);
        assert!(index_of(3_600_000_000_000) < BUCKETS - 1);
        // Up to 2^45 ns, each octave has 128 buckets of its own.
        assert_eq!(index_of((1 << 45) - 1), BUCKETS - 1);
        assert_eq!(index_of(1 << 44), BUCKETS - 128);
        assert_eq!(index_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn counts_of_damaged_records_stop_at_the_largest_number() {
        let mut h: Histogram = serde_json::from_str(&format!("[7,{0},1,{0}]", u64::MAX)).unwrap();
        h.merge(&h.clone());
        h.record_n(Nanos(7), 5);
        assert_eq!((h.count(), h.count_up_to(Nanos(8))), (u64::MAX, u64::MAX));
        assert_eq!(h.value_at(Quantile::MEDIAN), Some(Nanos(7)));
        assert!(h.fold().iter().all(|&n| n == 0 || n == u64::MAX));
    }

    #[test]
    fn values_are_counted_up_to_and_with_a_limit() {
        let mut histogram = Histogram::new();
        for ns in [7, 8, 8, 1_000_000] {
            histogram.record_n(Nanos(ns), 1);
        }
        let counts = [0, 6, 7, 8, 999_999_999].map(|limit| histogram.count_up_to(Nanos(limit)));
        assert_eq!(counts, [0, 0, 1, 3, 4]);
        assert_eq!(histogram.count_up_to(Nanos(u64::MAX)), 4);
    }

    #[test]
    fn an_empty_histogram_has_no_quantile() {
        assert_eq!(Histogram::new().value_at(Quantile::MEDIAN), None);
    }

    #[test]
    fn folding_splits_no_bucket() {
        for index in 0..BUCKETS {
            let (low, high) = (
                folded_index(lower_edge(index)),
                folded_index(upper_edge(index)),
            );
            assert!(
                low == high || low == FOLDED_BUCKETS - 1,
                "bucket {index} would be split"
            );
        }
        for index in 0..FOLDED_BUCKETS {
            assert_eq!(folded_index(folded_middle(index)), index);
        }
    }

    fn exact_quantile(values: &[u64], q: f64) -> u64 {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let rank = ((sorted.len() as f64 * q).ceil() as usize).clamp(1, sorted.len());
        sorted[rank - 1]
    }

    fn latencies() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(
            (0u32..42, any::<u64>()).prop_map(|(bits, raw)| raw & ((1 << bits) - 1)),
            1..300,
        )
    }

    proptest! {
        #[test]
        fn quantiles_are_never_under_and_at_most_1_in_128_over(values in latencies(), q in 0.0f64..=1.0) {
            let mut h = Histogram::new();
            values.iter().for_each(|&v| h.record(Nanos(v)));
            let truth = exact_quantile(&values, q);
            let got = h.value_at(Quantile::new(q).unwrap()).unwrap().0;
            prop_assert!(got >= truth && got - truth <= truth / 128, "truth {truth}, got {got}");
        }

        #[test]
        fn merging_is_counting_everything_in_one(a in latencies(), b in latencies()) {
            let fill = |values: &[u64]| { let mut h = Histogram::new(); values.iter().for_each(|&v| h.record(Nanos(v))); h };
            let (mut ab, mut ba) = (fill(&a), fill(&b));
            ab.merge(&fill(&b));
            ba.merge(&fill(&a));
            let all: Vec<u64> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(&ab, &ba);
            prop_assert_eq!(ab, fill(&all));
        }

        #[test]
        fn stored_histograms_come_back(values in latencies()) {
            let mut h = Histogram::new();
            values.iter().for_each(|&v| h.record(Nanos(v)));
            let text = serde_json::to_string(&h).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), h);
        }

        #[test]
        fn folding_keeps_every_count(values in latencies()) {
            let mut h = Histogram::new();
            values.iter().for_each(|&v| h.record(Nanos(v)));
            let folded = h.fold();
            prop_assert_eq!(folded.iter().sum::<u64>(), values.len() as u64);
            for &v in &values {
                prop_assert!(folded[folded_index(v)] > 0);
            }
        }

        #[test]
        fn any_list_is_a_histogram_or_an_error(flat in prop::collection::vec(any::<u64>(), 0..20)) {
            let text = serde_json::to_string(&flat).unwrap();
            let _ = serde_json::from_str::<Histogram>(&text);
        }
    }
}
