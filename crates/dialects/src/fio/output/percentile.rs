//! Percentiles as fio computes and prints them.
//!
//! A percentile is the midpoint of the histogram bin (64 per octave) where the cumulative share reaches it. It is not
//! clipped, so it may be slightly above the maximum.

use hakaru_model::histogram::{Histogram, folded_middle};
use hakaru_model::job::Job;

/// Default percentiles, without `percentile_list`.
const USUAL: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// The percentiles that a job reports.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PercentileSelection {
    /// Percentages in ascending order.
    pub(super) list: Vec<f64>,
    /// Number of decimals in their names in the text.
    pub(super) decimals: usize,
}

impl PercentileSelection {
    pub(super) fn of(job: &Job) -> PercentileSelection {
        if job.measure.percentiles.is_empty() {
            return PercentileSelection {
                list: USUAL.to_vec(),
                decimals: 2,
            };
        }
        // The share is the typed number divided by 100; this recovers the typed number.
        let mut list: Vec<f64> = job
            .measure
            .percentiles
            .iter()
            .map(|q| (q.share() * 1e9).round() / 1e7)
            .collect();
        list.sort_by(f64::total_cmp);
        let decimals = list.iter().map(|&p| decimals_of(p)).max().unwrap_or(0);
        PercentileSelection { list, decimals }
    }

    /// Percentile values in nanoseconds, in the order of the list.
    pub(super) fn values(&self, histogram: &Histogram) -> Vec<u64> {
        let folded = histogram.fold();
        let total: u64 = folded.iter().sum();
        let mut seen = 0;
        let mut wanted = self.list.iter().peekable();
        let mut values = Vec::with_capacity(self.list.len());
        for (index, count) in folded.iter().enumerate() {
            seen += count;
            while wanted
                .next_if(|&&percent| reaches(seen, percent, total))
                .is_some()
            {
                values.push(folded_middle(index));
            }
        }
        values
    }
}

fn decimals_of(percent: f64) -> usize {
    (0..7)
        .find(|&d| (percent * 10f64.powi(d) - (percent * 10f64.powi(d)).round()).abs() < 1e-6)
        .unwrap_or(7) as usize
}

/// Whether `seen` of `total` reaches `percent`, without rounding the product: the double nearest to 99.9 is above 99.9,
/// so 999 of 1000 do not reach it.
fn reaches(seen: u64, percent: f64, total: u64) -> bool {
    let bits = percent.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1075;
    let mantissa = u128::from(bits & ((1 << 52) - 1) | 1 << 52);
    let (left, right) = (u128::from(seen) * 100, mantissa * u128::from(total));
    match u32::try_from(-exponent) {
        Ok(shift) if shift < left.leading_zeros() => left << shift >= right,
        _ => seen as f64 * 100.0 >= percent * total as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::{Access, Op, Target};
    use hakaru_model::units::{Nanos, Quantile};

    fn wanted(percents: &[f64]) -> PercentileSelection {
        let mut job = Job::new("a", Target::Nothing, Access::only(Op::Read, true));
        job.measure.percentiles = percents
            .iter()
            .map(|p| Quantile::new(p / 100.0).unwrap())
            .collect();
        PercentileSelection::of(&job)
    }

    #[test]
    fn names_have_as_many_decimals_as_the_longest_needs() {
        assert_eq!(wanted(&[]).decimals, 2);
        assert_eq!(
            wanted(&[99.0, 50.0]),
            PercentileSelection {
                list: vec![50.0, 99.0],
                decimals: 0
            }
        );
        assert_eq!(
            wanted(&[95.0, 99.0, 99.9]),
            PercentileSelection {
                list: vec![95.0, 99.0, 99.9],
                decimals: 1
            }
        );
        assert_eq!(wanted(&[1.0, 99.999]).decimals, 3);
        assert_eq!(wanted(&[30.1234567]).decimals, 7);
    }

    #[test]
    fn shares_are_compared_without_rounding() {
        assert!(reaches(28, 28.0, 100) && !reaches(27, 28.0, 100));
        assert!(
            !reaches(999, 99.9, 1000),
            "the double of 99.9 is a little more"
        );
        assert!(
            reaches(9999, 99.99, 10_000),
            "the double of 99.99 is a little less"
        );
        assert!(reaches(u64::MAX, 100.0, u64::MAX));
        assert!(
            reaches(0, 0.0, 0)
                && reaches(1, 1e-9, u64::MAX / 4) == (1e-9 * (u64::MAX / 4) as f64 <= 100.0)
        );
    }

    /// Bins and percentiles of one run of fio 3.33.
    #[test]
    fn a_percentile_is_the_middle_of_its_bucket() {
        let mut histogram = Histogram::new();
        for (ns, times) in [(18, 5), (20, 4), (22, 6), (5530, 1)] {
            histogram.record_n(Nanos(ns), times);
        }
        assert_eq!(
            wanted(&[5.0, 31.25, 50.0, 90.0, 99.0]).values(&histogram),
            [18, 18, 20, 22, 5536]
        );
        assert_eq!(wanted(&[1.0, 100.0]).values(&Histogram::new()), [0, 0]);
    }
}
