//! Detects when the speed of a job no longer changes: `steadystate`.
//!
//! Samples are the intervals of the workers, summed over the workers of a reporting group. A sample is complete when
//! every running worker of the group has passed its end.

use hakaru_model::job::Op;
use hakaru_model::job::rules::{SteadyLimit, SteadyStateRule};
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{Interval, SteadyRecord};
use std::collections::BTreeMap;

/// All groups of a phase that use `steadystate`.
#[derive(Debug, Default)]
pub(crate) struct SteadyWatch(Vec<SteadyGroup>);

#[derive(Debug)]
struct SteadyGroup {
    rule: SteadyStateRule,
    /// Workers with the end of their last interval; `None` once finished.
    members: Vec<(usize, Option<u64>)>,
    /// I/Os and bytes of incomplete samples, by sample number.
    open: BTreeMap<u64, (u64, u64)>,
    /// Number of the next sample to complete.
    next: u64,
    found: SteadyRecord,
}

impl SteadyWatch {
    pub(crate) fn new(phase: &PhasePlan) -> SteadyWatch {
        let mut groups: Vec<(Option<u32>, SteadyGroup)> = Vec::new();
        for (index, worker) in phase.workers.iter().enumerate() {
            let Some(rule) = worker.termination.steady else {
                continue;
            };
            let key = rule.together.then_some(worker.group);
            match groups
                .iter_mut()
                .find(|(other, _)| key.is_some() && *other == key)
            {
                Some((_, group)) => group.members.push((index, Some(0))),
                None => groups.push((key, SteadyGroup::new(rule, index))),
            }
        }
        SteadyWatch(groups.into_iter().map(|(_, group)| group).collect())
    }

    /// Adds an interval. Returns the workers to end because their speed has become steady.
    pub(crate) fn take(&mut self, worker: usize, interval: &Interval) -> Vec<usize> {
        let Some(group) = self.0.iter_mut().find(|group| group.has(worker)) else {
            return Vec::new();
        };
        group.take(worker, interval);
        group.judge()
    }

    /// Removes a finished worker, so that samples no longer wait for it. Returns the result for its
    /// record.
    pub(crate) fn leave(&mut self, worker: usize) -> Option<SteadyRecord> {
        let group = self.0.iter_mut().find(|group| group.has(worker))?;
        for member in group.members.iter_mut().filter(|member| member.0 == worker) {
            member.1 = None;
        }
        Some(group.found.clone())
    }
}

impl SteadyGroup {
    fn new(rule: SteadyStateRule, first: usize) -> SteadyGroup {
        let (open, found) = (BTreeMap::new(), SteadyRecord::default());
        SteadyGroup {
            rule,
            members: vec![(first, Some(0))],
            open,
            next: rule.ramp.0 / rule.interval.0.max(1),
            found,
        }
    }

    fn has(&self, worker: usize) -> bool {
        self.members.iter().any(|member| member.0 == worker)
    }

    fn take(&mut self, worker: usize, interval: &Interval) {
        let middle = interval.at.0.saturating_sub(interval.length.0 / 2);
        let sample = self
            .open
            .entry(middle / self.rule.interval.0.max(1))
            .or_default();
        for op in Op::ALL {
            sample.0 += interval.ops[op].ios;
            sample.1 += interval.ops[op].bytes;
        }
        for member in self.members.iter_mut().filter(|member| member.0 == worker) {
            member.1 = member.1.map(|_| interval.at.0);
        }
    }

    /// Completes samples and judges each window of them. Returns the members once the speed is
    /// steady.
    fn judge(&mut self) -> Vec<usize> {
        let length = self.rule.interval.0.max(1);
        let all_past = self
            .members
            .iter()
            .filter_map(|member| member.1)
            .min()
            .unwrap_or(0);
        while !self.found.attained && (self.next + 1) * length <= all_past {
            let (ios, bytes) = self.open.remove(&self.next).unwrap_or_default();
            self.next += 1;
            self.open = self.open.split_off(&self.next);
            self.add(ios, bytes);
        }
        let steady = self.found.attained;
        self.members
            .iter()
            .filter(|_| steady)
            .map(|member| member.0)
            .collect()
    }

    fn add(&mut self, ios: u64, bytes: u64) {
        let length = u128::from(self.rule.interval.0.max(1));
        let per_s = |n: u64| (u128::from(n) * 1_000_000_000 / length) as u64;
        let window = (self.rule.window.0 / self.rule.interval.0.max(1)).max(1) as usize;
        let found = &mut self.found;
        found.iops.push(per_s(ios));
        found.bytes_per_s.push(per_s(bytes));
        if found.iops.len() > window {
            found.iops.remove(0);
            found.bytes_per_s.remove(0);
        }
        if found.iops.len() < window {
            return;
        }
        let samples = match self.rule.iops {
            true => &found.iops,
            false => &found.bytes_per_s,
        };
        let Judgement {
            mean,
            distance,
            slope,
        } = judge(samples);
        let value = if self.rule.slope { slope } else { distance };
        let (value, limit) = match self.rule.limit {
            SteadyLimit::Percent(limit) if mean > 0.0 => (value * 100.0 / mean, limit),
            SteadyLimit::Percent(limit) => (0.0, limit),
            SteadyLimit::Absolute(limit) => (value, limit),
        };
        found.attained = value.abs() < limit && mean > 0.0;
        (found.criterion, found.max_deviation) = (value, distance);
        found.slope = if self.rule.slope { slope } else { 0.0 };
    }
}

/// Result for a window of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Judgement {
    mean: f64,
    /// Maximum deviation of a sample from the mean.
    distance: f64,
    /// Slope of the least-squares line, per sample.
    slope: f64,
}

fn judge(samples: &[u64]) -> Judgement {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<u64>() as f64 / n;
    let distance = samples
        .iter()
        .map(|&x| (x as f64 - mean).abs())
        .fold(0.0, f64::max);
    let middle = (n - 1.0) / 2.0;
    let (mut up, mut along) = (0.0, 0.0);
    for (i, &x) in samples.iter().enumerate() {
        let from_middle = i as f64 - middle;
        up += from_middle * (x as f64 - mean);
        along += from_middle * from_middle;
    }
    Judgement {
        mean,
        distance,
        slope: if along > 0.0 { up / along } else { 0.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Nanos;

    fn rule() -> SteadyStateRule {
        SteadyStateRule {
            iops: true,
            slope: false,
            limit: SteadyLimit::Percent(10.0),
            window: Nanos::from_secs(3),
            ramp: Nanos::from_secs(1),
            interval: Nanos::SECOND,
            together: true,
        }
    }

    fn interval(end_ms: u64, ios: u64) -> Interval {
        let mut interval = Interval {
            at: Nanos::from_millis(end_ms),
            length: Nanos::from_millis(500),
            ..Interval::default()
        };
        interval.ops.read.ios = ios;
        interval
    }

    #[test]
    fn lines_and_distances_are_those_of_the_textbook() {
        let Judgement {
            mean,
            distance,
            slope,
        } = judge(&[10, 12, 14, 16]);
        assert_eq!((mean, distance), (13.0, 3.0));
        assert!((slope - 2.0).abs() < 1e-12);
        assert_eq!(judge(&[5]).slope, 0.0);
    }

    #[test]
    fn a_job_is_steady_when_a_window_is() {
        let mut group = SteadyGroup::new(rule(), 0);
        let mut ended_at = None;
        for half in 1..=20u64 {
            // The speed grows for the first three seconds.
            let ios = if half <= 6 { half * 100 } else { 1000 };
            group.take(0, &interval(half * 500, ios));
            if !group.judge().is_empty() {
                ended_at.get_or_insert(half * 500);
            }
        }
        assert_eq!(
            ended_at,
            Some(6000),
            "the first window of three alike ends there"
        );
        assert_eq!(group.found.iops, [2000, 2000, 2000]);
    }

    #[test]
    fn members_of_a_group_count_together() {
        let mut group = SteadyGroup::new(rule(), 0);
        group.members.push((1, Some(0)));
        for half in 1..=8 {
            group.take(0, &interval(half * 500, 100 + half));
            assert!(group.judge().is_empty(), "the other has told nothing yet");
        }
        for half in 1..=8 {
            group.take(1, &interval(half * 500, 109 - half));
        }
        assert_eq!(group.judge(), [0, 1]);
        assert_eq!(group.found.iops, [418, 418, 418]);
    }
}
