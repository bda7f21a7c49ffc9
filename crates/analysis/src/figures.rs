//! Finds the phase of a summary that measured a figure of claims and rules.

use crate::compare;
use crate::stats::SampleMoments;
use hakaru_model::finding::{
    Estimate, Figure, MeasuredFigure, PhaseSummary, Summary, TimelinePoint, WorkloadShape,
};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos, Quantile};

/// Maximum block size of random figures: pages of databases and file systems.
pub(crate) const SMALL_BLOCK: Bytes = Bytes(16 << 10);

/// Minimum length of the slowest segment in seconds: cameras buffer about one second.
pub(crate) const SEGMENT_S: f64 = 1.0;

const MB: f64 = 1e6;
const MS: f64 = 1e6;

/// Returns a figure from the phase that measured it best. `None` if no phase did.
///
/// Phases with a single operation take precedence over mixes, and lower queue depth over higher (as
/// one program sees it); the first of equals wins. A long write provides the sustained figures.
pub fn figure(summary: &Summary, figure: Figure) -> Option<MeasuredFigure> {
    match figure {
        Figure::SequentialRead => rate(sequential(summary, Op::Read)?, MB),
        Figure::SequentialWrite => rate(sequential(summary, Op::Write)?, MB),
        Figure::RandomRead => rate(random(summary, Op::Read)?, 0.0),
        Figure::RandomWrite => rate(random(summary, Op::Write)?, 0.0),
        Figure::RandomReadP99 => {
            let phase = random(summary, Op::Read)?;
            let quantiles = &phase.latency.as_ref()?.quantiles;
            percentile(
                phase,
                quantiles,
                &phase.detail.latency_by_run,
                Quantile::P99,
            )
        }
        Figure::SyncP99 => sync(summary, Quantile::P99),
        Figure::SyncP999 => sync(summary, Quantile::P999),
        Figure::SustainedWrite => sustained(summary),
        Figure::SlowestWrite => slowest(summary),
    }
}

/// Returns the phase of a figure.
pub(crate) fn phase_of(summary: &Summary, wanted: Figure) -> Option<&PhaseSummary> {
    match wanted {
        Figure::SequentialRead => sequential(summary, Op::Read),
        Figure::SequentialWrite => sequential(summary, Op::Write),
        Figure::RandomRead | Figure::RandomReadP99 => random(summary, Op::Read),
        Figure::RandomWrite => random(summary, Op::Write),
        Figure::SyncP99 | Figure::SyncP999 => synced(summary),
        Figure::SustainedWrite | Figure::SlowestWrite => long_write(summary),
    }
}

/// Whether a figure is that of one operation in a mix of reads and writes.
pub(crate) fn is_of_mix(summary: &Summary, figure: Figure) -> bool {
    let shape = phase_of(summary, figure).and_then(|phase| phase.detail.shape);
    shape.is_some_and(|shape| shape.is_mixed())
}

/// Whether a figure was measured for less time than flash needs to show its speed.
pub(crate) fn is_brief(summary: &Summary, figure: Figure) -> bool {
    let measured = phase_of(summary, figure).map(|phase| phase.detail.measured);
    measured.is_some_and(|measured| measured > Nanos(0) && measured < crate::summarize::SHORT)
}

/// Returns phases of an operation with a matching known workload.
fn fitting(
    summary: &Summary,
    op: Op,
    fits: impl Fn(&WorkloadShape) -> bool,
) -> impl Iterator<Item = (&PhaseSummary, WorkloadShape)> {
    let phases = summary.phases.iter().filter(move |p| p.op == op);
    phases
        .filter_map(|p| Some((p, p.detail.shape?)))
        .filter(move |(_, shape)| fits(shape))
}

fn in_flight(shape: &WorkloadShape) -> u64 {
    u64::from(shape.iodepth) * u64::from(shape.workers)
}

fn is_durable(shape: &WorkloadShape) -> bool {
    shape.sync_every > 0 || shape.sync_open
}

pub(crate) fn sequential(summary: &Summary, op: Op) -> Option<&PhaseSummary> {
    let phases = fitting(summary, op, |s| {
        !s.random && s.block >= WorkloadShape::LARGE_BLOCK && !is_durable(s)
    });
    phases
        .min_by_key(|(_, s)| (s.is_mixed(), in_flight(s)))
        .map(|(phase, _)| phase)
}

fn random(summary: &Summary, op: Op) -> Option<&PhaseSummary> {
    let phases = fitting(summary, op, |s| {
        s.random && s.block <= SMALL_BLOCK && !is_durable(s)
    });
    phases
        .min_by_key(|(_, s)| (s.is_mixed(), in_flight(s)))
        .map(|(phase, _)| phase)
}

/// Returns the phase with the most timed syncs.
fn synced(summary: &Summary) -> Option<&PhaseSummary> {
    let timed = summary.phases.iter().filter(|p| p.sync.is_some());
    let often = |p: &&PhaseSummary| {
        p.detail
            .shape
            .map_or(u32::MAX, |s| s.sync_every.wrapping_sub(1))
    };
    timed.min_by_key(often)
}

/// Returns the longest sequential write with a timeline.
fn long_write(summary: &Summary) -> Option<&PhaseSummary> {
    let phases = fitting(summary, Op::Write, |s| {
        !s.random && s.block >= WorkloadShape::LARGE_BLOCK && !s.is_mixed() && !is_durable(s)
    });
    phases
        .map(|(phase, _)| phase)
        .filter(|p| p.sustained.is_some())
        .max_by_key(|p| p.detail.measured)
}

/// Returns throughput in units of `bandwidth_unit`, or IOPS if that is 0.
fn rate(phase: &PhaseSummary, bandwidth_unit: f64) -> Option<MeasuredFigure> {
    let (estimate, unit) = if bandwidth_unit > 0.0 {
        (&phase.bandwidth, bandwidth_unit)
    } else {
        (&phase.iops, 1.0)
    };
    Some(MeasuredFigure {
        stalls: stalls(phase)
            .map(|slowest| slowest / unit)
            .filter(|_| bandwidth_unit > 0.0),
        ..measured(phase, estimate.mean / unit, Some(estimate), unit)
    })
}

/// Largest slowest interval of a write, as a share of its mean, that counts as a stall.
const STALLED: f64 = 0.25;

/// Returns the slowest interval in bytes per second, if a write stalls: its mean then hides how long a copy waits.
fn stalls(phase: &PhaseSummary) -> Option<f64> {
    let found = phase.sustained.as_ref()?;
    let is_stall = found.min.0 < STALLED * phase.bandwidth.mean;
    (is_stall && found.falls.is_empty()).then_some(found.min.0)
}

fn measured(
    phase: &PhaseSummary,
    value: f64,
    estimate: Option<&Estimate>,
    unit: f64,
) -> MeasuredFigure {
    MeasuredFigure {
        phase: phase.phase.clone(),
        value,
        ci95: estimate
            .and_then(|e| e.ci95)
            .map(|(low, high)| (low / unit, high / unit)),
        bounds: None,
        stalls: None,
        runs: match phase.bandwidth.values.len() {
            0 => phase.detail.stated_runs.unwrap_or(0),
            runs => runs.min(u32::MAX as usize) as u32,
        },
    }
}

fn sync(summary: &Summary, q: Quantile) -> Option<MeasuredFigure> {
    let phase = synced(summary)?;
    percentile(
        phase,
        &phase.sync.as_ref()?.quantiles,
        &phase.detail.sync_by_run,
        q,
    )
}

/// Returns the merged percentile with the interval of the mean over runs, in milliseconds.
fn percentile(
    phase: &PhaseSummary,
    merged: &[(Quantile, hakaru_model::units::Nanos)],
    by_run: &[(Quantile, Estimate)],
    q: Quantile,
) -> Option<MeasuredFigure> {
    let value = merged.iter().find(|(other, _)| *other == q)?.1;
    let runs = by_run
        .iter()
        .find(|(other, _)| *other == q)
        .map(|(_, estimate)| estimate);
    Some(measured(phase, value.0 as f64 / MS, runs, MS))
}

/// Values of a figure, one per run, in its unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FigureSample {
    /// One value per run; empty if only mean and deviation are known, or nothing.
    pub(crate) values: Vec<f64>,
    /// Published mean and deviation without values.
    pub(crate) stated: Option<SampleMoments>,
    /// Differences up to this fraction are rounding.
    pub(crate) resolution: f64,
}

impl FigureSample {
    /// Multiplies all values by a factor.
    pub(crate) fn scaled(mut self, factor: f64) -> FigureSample {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self.stated = self.stated.and_then(|moments| {
            let scaled =
                SampleMoments::new(moments.n, moments.mean * factor, moments.deviation * factor)?;
            Some(scaled.rounded(moments.rounding * factor, 0.0))
        });
        self
    }

    /// Relates all values to a limit so that more is better.
    pub(crate) fn relative_to(self, limit: f64, figure: Figure) -> FigureSample {
        if figure.more_is_better() {
            return self.scaled(limit.recip());
        }
        FigureSample {
            values: self.values.iter().map(|value| limit / value).collect(),
            stated: None,
            ..self
        }
    }
}

/// Returns the values of a figure by run, from the phase that measured it best. Empty if no phase did.
pub(crate) fn figure_sample(summary: &Summary, wanted: Figure) -> FigureSample {
    let Some(phase) = phase_of(summary, wanted) else {
        return FigureSample::default();
    };
    let rate = |estimate: &Estimate, unit: f64| {
        FigureSample {
            values: estimate.values.clone(),
            stated: compare::stated(phase, estimate),
            resolution: compare::RESOLUTION,
        }
        .scaled(unit.recip())
    };
    let of_percentile = |by_run: &[(Quantile, Estimate)], q: Quantile| {
        let same = |(other, _): &&(Quantile, Estimate)| *other == q;
        let values = by_run.iter().find(same).map(|(_, e)| e.values.clone());
        FigureSample {
            values: values.unwrap_or_default(),
            stated: None,
            resolution: compare::QUANTILE_RESOLUTION,
        }
        .scaled(MS.recip())
    };
    let by_timeline = |of: &dyn Fn(&[TimelinePoint]) -> Option<f64>| {
        FigureSample {
            values: phase
                .timelines
                .iter()
                .filter_map(|points| of(points))
                .collect(),
            stated: None,
            resolution: compare::RESOLUTION,
        }
        .scaled(MB.recip())
    };
    match wanted {
        Figure::SequentialRead | Figure::SequentialWrite => rate(&phase.bandwidth, MB),
        Figure::RandomRead | Figure::RandomWrite => rate(&phase.iops, 1.0),
        Figure::RandomReadP99 => of_percentile(&phase.detail.latency_by_run, Quantile::P99),
        Figure::SyncP99 => of_percentile(&phase.detail.sync_by_run, Quantile::P99),
        Figure::SyncP999 => of_percentile(&phase.detail.sync_by_run, Quantile::P999),
        Figure::SlowestWrite => by_timeline(&slowest_segment),
        Figure::SustainedWrite => {
            let falls = phase.sustained.as_ref().map(|found| &found.falls);
            match falls.and_then(|falls| falls.iter().rfind(|fall| fall.proven)) {
                Some(last) => by_timeline(&|points| mean_after(points, last.after_time)),
                None => rate(&phase.bandwidth, MB),
            }
        }
    }
}

/// Mean throughput of the intervals that begin after a time.
fn mean_after(points: &[TimelinePoint], after: Nanos) -> Option<f64> {
    let after = after.0 as f64 / 1e9;
    let starts = std::iter::once(0.0).chain(points.iter().map(|point| point.at_s));
    let later = points
        .iter()
        .zip(starts)
        .filter(|(_, start)| *start >= after);
    let (time, bytes) = later.fold((0.0, 0.0), |(time, bytes), (point, start)| {
        let length = point.at_s - start;
        (time + length, bytes + length * point.bandwidth.0)
    });
    (time > 0.0)
        .then(|| bytes / time)
        .filter(|mean| mean.is_finite())
}

fn sustained(summary: &Summary) -> Option<MeasuredFigure> {
    let phase = long_write(summary)?;
    let found = phase.sustained.as_ref()?;
    match found.falls.iter().rfind(|fall| fall.proven) {
        Some(last) => Some(measured(phase, last.after.0 / MB, None, MB)),
        None => rate(phase, MB),
    }
}

fn slowest(summary: &Summary) -> Option<MeasuredFigure> {
    let phase = long_write(summary)?;
    let worst = phase
        .timelines
        .iter()
        .filter_map(|points| slowest_segment(points))
        .reduce(f64::min)?;
    Some(measured(phase, worst / MB, None, MB))
}

/// Returns what the slowest and the fastest interval of a long write say about its slowest second, if its timeline is
/// unknown.
///
/// fio prints the extremes of intervals of half a second: the slowest second is no slower than the slowest interval, and
/// no faster than that interval beside the fastest one.
pub(crate) fn slowest_by_extremes(summary: &Summary) -> Option<MeasuredFigure> {
    let phase = long_write(summary)?;
    let found = phase.sustained.as_ref()?;
    let (min, max) = (found.min.0 / MB, found.max.0 / MB);
    (min.is_finite() && max.is_finite()).then(|| MeasuredFigure {
        // The slowest second is no faster than the mean of all either.
        bounds: Some((min, f64::midpoint(min, max).min(phase.bandwidth.mean / MB))),
        ..measured(phase, min, None, MB)
    })
}

/// Returns the mean throughput of the slowest segment of whole intervals of at least [`SEGMENT_S`].
pub(crate) fn slowest_segment(points: &[TimelinePoint]) -> Option<f64> {
    let starts = std::iter::once(0.0).chain(points.iter().map(|p| p.at_s));
    let steps: Vec<(f64, f64)> = points
        .iter()
        .zip(starts)
        .map(|(p, start)| (p.at_s - start, p.bandwidth.0))
        .filter(|s| s.0 > 0.0)
        .collect();
    let (mut first, mut time, mut bytes) = (0, 0.0, 0.0);
    let mut slowest: Option<f64> = None;
    for &(length, speed) in &steps {
        time += length;
        bytes += length * speed;
        // Drop what is not needed to fill a segment; slightly less because of rounding.
        while first < steps.len() && time - steps[first].0 >= SEGMENT_S - 1e-6 {
            time -= steps[first].0;
            bytes -= steps[first].0 * steps[first].1;
            first += 1;
        }
        if time >= SEGMENT_S - 1e-6 {
            let speed = (bytes / time).max(0.0);
            slowest = Some(slowest.map_or(speed, |s| s.min(speed)));
        }
    }
    slowest.filter(|s| s.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize;
    use crate::testing::{records, suite};
    use hakaru_model::units::BytesPerSec;

    fn points(speeds: &[f64]) -> Vec<TimelinePoint> {
        let at = |(i, &v): (usize, &f64)| TimelinePoint {
            at_s: (i + 1) as f64 * 0.5,
            bandwidth: BytesPerSec(v),
            iops: 0.0,
        };
        speeds.iter().enumerate().map(at).collect()
    }

    #[test]
    fn the_slowest_second_is_two_intervals_of_half_a_second() {
        assert_eq!(
            slowest_segment(&points(&[40.0, 40.0, 10.0, 40.0, 20.0, 20.0, 40.0])),
            Some(20.0)
        );
        assert_eq!(
            slowest_segment(&points(&[40.0, 40.0, 0.0, 30.0, 40.0])),
            Some(15.0)
        );
        assert_eq!(slowest_segment(&points(&[40.0])), None);
        assert_eq!(slowest_segment(&[]), None);
    }

    #[test]
    fn figures_come_from_the_phase_that_measured_them() {
        let summary = suite(4);
        let of = |wanted| figure(&summary, wanted).map(|m| (m.phase, m.value.round()));
        assert_eq!(of(Figure::SequentialRead), Some(("seq-read".into(), 40.0)));
        assert_eq!(
            of(Figure::SequentialWrite),
            Some(("seq-write".into(), 30.0))
        );
        assert_eq!(of(Figure::RandomRead), Some(("rand-read".into(), 2000.0)));
        assert_eq!(of(Figure::RandomWrite), Some(("rand-write".into(), 600.0)));
        assert_eq!(of(Figure::SyncP99), Some(("durable".into(), 8.0)));
        assert_eq!(of(Figure::SustainedWrite).unwrap().0, "sustained");
    }

    #[test]
    fn what_was_not_measured_is_not_found() {
        let summary = summarize(&records(&[30e6]));
        assert_eq!(figure(&summary, Figure::RandomRead), None);
        assert_eq!(figure(&summary, Figure::SyncP999), None);
        assert_eq!(figure(&summarize(&[]), Figure::SequentialRead), None);
    }
}
