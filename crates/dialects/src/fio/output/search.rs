//! Output of steady-state detection and the latency target search.

use super::merge::ReportedJob;
use hakaru_model::job::rules::{SteadyLimit, SteadyStateRule};
use hakaru_model::record::SteadyRecord;

/// Settings of the latency target, or their defaults.
pub(super) struct TargetNumbers {
    pub(super) depth: u32,
    pub(super) target_ns: u64,
    pub(super) window_us: u64,
    pub(super) percentile: f64,
}

impl TargetNumbers {
    pub(super) fn of(report: &ReportedJob<'_>) -> TargetNumbers {
        let depth = report.latency_depth.unwrap_or(report.depth.iodepth);
        match report.job.rate.latency_target {
            None => TargetNumbers {
                depth,
                target_ns: 0,
                window_us: 0,
                percentile: 100.0,
            },
            Some(target) => TargetNumbers {
                depth,
                target_ns: target.target.0,
                window_us: target.window.0 / 1000,
                percentile: target.percentile,
            },
        }
    }
}

/// Maximum number of samples printed; the rest of a window that was never filled is left out.
const LONGEST_WINDOW: usize = 1 << 20;

/// Result of steady-state detection, with its criteria.
pub(super) struct Steadiness<'a> {
    pub(super) rule: &'a SteadyStateRule,
    pub(super) record: &'a SteadyRecord,
    pub(super) limit: f64,
    pub(super) percent: bool,
}

impl<'a> Steadiness<'a> {
    pub(super) fn of(report: &ReportedJob<'a>) -> Option<Steadiness<'a>> {
        let (rule, record) = (report.job.termination.steady.as_ref()?, report.steady?);
        let (limit, percent) = match rule.limit {
            SteadyLimit::Percent(limit) => (limit, true),
            SteadyLimit::Absolute(limit) => (limit, false),
        };
        Some(Steadiness {
            rule,
            record,
            limit,
            percent,
        })
    }

    /// The criterion as named in the `steadystate` option.
    pub(super) fn word(&self) -> &'static str {
        match (self.rule.iops, self.rule.slope) {
            (true, false) => "iops",
            (true, true) => "iops_slope",
            (false, false) => "bw",
            (false, true) => "bw_slope",
        }
    }

    /// The samples of a window; missing samples are 0.
    pub(super) fn window(&self, samples: &[u64]) -> Vec<u64> {
        let missing = self.length().saturating_sub(samples.len());
        samples
            .iter()
            .copied()
            .chain(std::iter::repeat_n(0, missing))
            .collect()
    }

    /// Number of samples in a window, at least one.
    fn length(&self) -> usize {
        let SteadyStateRule {
            window, interval, ..
        } = self.rule;
        usize::try_from(window.0 / interval.0.max(1))
            .unwrap_or(usize::MAX)
            .clamp(1, LONGEST_WINDOW)
    }

    /// The mean over the window; missing samples count as 0.
    pub(super) fn mean(&self, samples: &[u64]) -> u64 {
        samples.iter().sum::<u64>() / self.length() as u64
    }

    /// Formats the line of the text output: `attained=yes, bw=800KiB/s (800kB/s), iops=199, bw slope=-0.099%`.
    ///
    /// Both bandwidths show the same number of KiB/s. Based on observed output.
    pub(super) fn line(&self) -> String {
        let SteadyRecord {
            attained,
            criterion,
            iops,
            bytes_per_s,
            ..
        } = self.record;
        let bw = self.mean(bytes_per_s) >> 10;
        let what = if self.rule.iops { "iops" } else { "bw" };
        let kind = if self.rule.slope { "slope" } else { "mean dev" };
        let known = self.percent && !iops.is_empty() && (*attained || *criterion != 0.0);
        format!(
            "attained={}, bw={bw}KiB/s ({bw}kB/s), iops={}, {what} {kind}={criterion:.3}{}",
            if *attained { "yes" } else { "no" },
            self.mean(iops),
            if known { "%" } else { "" }
        )
    }
}
