//! Distributions in percent: latencies by bucket, queue depths, batch sizes.

use super::merge::ReportedJob;
use hakaru_model::histogram::Histogram;
use hakaru_model::job::Op;
use hakaru_model::record::DepthSteps;
use hakaru_model::units::Nanos;

/// Bucket names of the latency distribution within one unit; each is the exclusive upper bound of its bucket.
pub(super) const STEPS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Bucket names of the queue depth distribution.
pub(super) const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];

/// Bucket names of the batch size distribution.
pub(super) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// Percentages of completion latencies by bucket. Nonzero values are shown as at least 0.01.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LatencyShares {
    /// Below 1 µs, buckets in nanoseconds.
    pub(super) ns: [f64; 10],
    /// Below 1 ms, buckets in microseconds.
    pub(super) us: [f64; 10],
    /// From 1 ms, buckets in milliseconds; then 2000, and everything above.
    pub(super) ms: [f64; 12],
}

impl LatencyShares {
    pub(super) fn of(report: &ReportedJob<'_>) -> LatencyShares {
        // fio prints no distribution for file operations.
        let shown = !report.job.ioengine.works_on_names();
        let ops = Op::ALL.iter().filter(|_| shown);
        let histograms = ops.filter_map(|&op| report.ops[op].clat.histogram.as_ref());
        let histograms: Vec<&Histogram> = histograms.collect();
        let total: u64 = report.ops.iter().map(|(_, op)| op.ios).sum();
        let under = |limit: u64| {
            let histograms = histograms.iter();
            histograms.map(|h| h.count_up_to(Nanos(limit - 1))).sum()
        };
        let mut seen = 0;
        let mut step = |upto: u64| {
            let here = upto.saturating_sub(seen);
            seen = upto.max(seen);
            share(here, total, 0.01)
        };
        let mut fill = |shares: &mut [f64], unit_ns: u64| {
            for (share, limit) in shares.iter_mut().zip(STEPS.into_iter().chain([2000])) {
                *share = step(under(limit * unit_ns));
            }
        };
        let mut shares = LatencyShares::default();
        fill(&mut shares.ns, 1);
        fill(&mut shares.us, 1_000);
        fill(&mut shares.ms[..11], 1_000_000);
        shares.ms[11] = step(histograms.iter().map(|h| h.count()).sum());
        shares
    }

    /// Name and percentage of each bucket, in nanoseconds, microseconds and milliseconds.
    pub(super) fn by_unit(&self) -> [Vec<(String, f64)>; 3] {
        let names = STEPS.iter().map(u64::to_string);
        let names: Vec<String> = names.chain(["2000".into(), ">=2000".into()]).collect();
        let named = |shares: &[f64]| names.iter().cloned().zip(shares.iter().copied()).collect();
        [named(&self.ns), named(&self.us), named(&self.ms)]
    }

    /// The microsecond buckets, with all shorter latencies in the first one, as in the terse output.
    pub(super) fn us_with_ns(&self) -> [f64; 10] {
        let mut us = self.us;
        us[0] += self.ns.iter().sum::<f64>();
        us
    }
}

/// Percentages of a depth distribution of `total`. Nonzero values are shown as at least 0.1.
pub(super) fn depth_shares(steps: &DepthSteps, total: u64) -> [f64; 7] {
    steps.map(|count| share(count, total, 0.1))
}

fn share(count: u64, total: u64, least: f64) -> f64 {
    match (count, total) {
        (0, _) | (_, 0) => 0.0,
        _ => (count as f64 * 100.0 / total as f64).max(least),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::JobExtras;
    use crate::fio::output::merge::reports;
    use crate::fio::output::{RunView, WorkerView};
    use hakaru_model::job::{Access, Job, Target};
    use hakaru_model::record::{Latency, WorkerRecord};

    /// Passes the report of a single worker that reads at random.
    fn with_report<R>(
        ramp_time: Nanos,
        record: &WorkerRecord,
        see: impl Fn(&ReportedJob<'_>) -> R,
    ) -> R {
        let mut job = Job::new("a", Target::Nothing, Access::only(Op::Read, true));
        job.timing.ramp_time = ramp_time;
        let (extras, scenario) = (JobExtras::default(), crate::fio::testing::empty_scenario());
        let mut view = RunView::of("fio-3.39", &scenario, &[], &[]);
        view.workers = vec![WorkerView {
            job: &job,
            extras: &extras,
            record,
            started_unix_ms: 0,
        }];
        see(&reports(&view)[0])
    }

    fn shares(latencies: &[u64]) -> LatencyShares {
        let mut record = WorkerRecord::default();
        record.ops.read.ios = latencies.len() as u64;
        record.ops.read.clat = Latency::with_histogram();
        latencies
            .iter()
            .for_each(|&ns| record.ops.read.clat.record(Nanos(ns)));
        with_report(Nanos(0), &record, LatencyShares::of)
    }

    /// I/Os in flight at the end of the ramp time are measured, but were submitted before it ended.
    #[test]
    fn depths_of_a_job_with_a_ramp_add_up_to_the_whole() {
        let share_at_16 = |ramp: u64| {
            let mut record = WorkerRecord::default();
            record.ops.read.ios = 1000;
            record.depth.level[4] = 984;
            with_report(Nanos(ramp), &record, |report| {
                depth_shares(&report.depth.level, report.depth_total())[4]
            })
        };
        assert_eq!(share_at_16(1_000_000_000), 100.0);
        assert!((share_at_16(0) - 98.4).abs() < 1e-9);
    }

    #[test]
    fn each_step_ends_before_its_name() {
        // At a limit inside a histogram bin, such as 1 ms, the bin decides.
        let (below_2_s, max) = (1_999_999_999, u64::MAX);
        let micros = [1_000, 1_999, 2_000, 999_999, 1_010_000];
        let shares = shares(&[&[0, 1, 2, 7, 999][..], &micros, &[below_2_s, max]].concat());
        let twelfth = 100.0 / 12.0;
        assert_eq!(
            (shares.ns[0], shares.ns[1], shares.ns[2], shares.ns[9]),
            (2.0 * twelfth, twelfth, twelfth, twelfth)
        );
        assert_eq!(
            (shares.us[0], shares.us[1], shares.us[9]),
            (2.0 * twelfth, twelfth, twelfth)
        );
        assert_eq!(
            (shares.ms[0], shares.ms[10], shares.ms[11]),
            (twelfth, twelfth, twelfth)
        );
        assert!((shares.us_with_ns()[0] - 7.0 * twelfth).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_nothing_is_not_shown_as_nothing() {
        let mut latencies = vec![5_000; 100_000];
        latencies.push(3);
        let shares = shares(&latencies);
        assert_eq!(shares.ns[1], 0.01);
        assert_eq!(
            depth_shares(&[1, 9_999, 0, 0, 0, 0, 0], 10_000),
            [0.1, 99.99, 0.0, 0.0, 0.0, 0.0, 0.0]
        );
        assert_eq!(
            depth_shares(&[3; 7], 0),
            [0.0; 7],
            "nothing of nothing is no share"
        );
    }
}
