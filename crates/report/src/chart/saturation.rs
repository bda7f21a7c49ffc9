//! IOPS over time of random writes that went over the whole device, as in the write saturation test of the SNIA Solid
//! State Storage Performance Test Specification. The chart of bandwidth has the same over bytes written.

use super::{Chart, Plot, Section, slug};
use crate::naming::PhaseName;
use crate::number;
use crate::svg::{Timeline, TimelineLine};
use crate::table::DataTable;
use crate::text::{self, RoundTitle};
use hakaru_model::finding::{PhaseSummary, TimelinePoint};
use hakaru_model::job::Op;

/// Number of points of the line.
const POINTS: f64 = 120.0;
/// Fewest points of a line.
const FEWEST_POINTS: usize = 20;

/// The chart of the first run; `None` unless it wrote the capacity of the device at least once.
pub(crate) fn saturation(work: &PhaseName, phase: &PhaseSummary, capacity: u64) -> Option<Chart> {
    let moved = phase.detail.moved.0;
    let is_random = phase.detail.shape.is_some_and(|shape| shape.random);
    if phase.op != Op::Write || !is_random || capacity == 0 || moved < capacity {
        return None;
    }
    let run = phase.timelines.first()?;
    let every = (run.last()?.at_s / POINTS).ceil().max(1.0);
    let points = averaged(run, every);
    if points.len() < FEWEST_POINTS {
        return None;
    }
    let mut written = 0.0;
    let rows = points.iter().map(|point| {
        written += point.bandwidth.0 * point.length;
        vec![
            number::exact(point.at, 0),
            number::quantity(point.iops),
            number::exact(written / 1e9, 3),
        ]
    });
    let head = [
        text::axis_seconds().to_owned(),
        "IOPS".to_owned(),
        text::axis_written("GB"),
    ];
    let table = DataTable::new(head, rows.collect::<Vec<_>>());
    let tenth = points.len().div_ceil(10);
    let mean = |points: &[AveragedPoint]| {
        let sum: f64 = points.iter().map(|point| point.iops * point.length).sum();
        let length: f64 = points.iter().map(|point| point.length).sum();
        number::quantity(sum / length)
    };
    let title = RoundTitle::Saturation {
        work: work.label.to_owned(),
        first: mean(&points[..tenth]),
        last: mean(&points[points.len() - tenth..]),
    };
    let times = number::significant(moved as f64 / capacity as f64);
    let line = points.iter().map(|point| (point.at, point.iops)).collect();
    Some(Chart {
        name: format!("saturation-{}", slug(&work.id)),
        section: Section::Sustained,
        title: text::round_title(&title),
        note: text::saturation_note(&times, &number::exact(every, 0)),
        plot: Plot::Timeline(Timeline {
            unit: "IOPS".to_owned(),
            axis: text::axis_seconds().to_owned(),
            series: vec![work.label.to_owned()],
            lines: TimelineLine::each([line]),
            ..Timeline::default()
        }),
        table,
    })
}

/// Mean value of an interval of the chart.
struct AveragedPoint {
    /// End, in seconds since the phase began.
    at: f64,
    /// Seconds that were measured.
    length: f64,
    iops: f64,
    bandwidth: hakaru_model::units::BytesPerSec,
}

/// The means of equally long parts of a run.
fn averaged(run: &[TimelinePoint], every: f64) -> Vec<AveragedPoint> {
    let mut parts: Vec<AveragedPoint> = Vec::new();
    let mut before = 0.0;
    let mut part = -1.0;
    for point in run {
        let length = (point.at_s - before).max(0.0);
        before = point.at_s;
        let nth = ((point.at_s - length / 2.0) / every).floor();
        match parts.last_mut().filter(|_| nth == part) {
            Some(open) => {
                let whole = open.length + length;
                let share = if whole > 0.0 { length / whole } else { 0.0 };
                open.iops += (point.iops - open.iops) * share;
                open.bandwidth.0 += (point.bandwidth.0 - open.bandwidth.0) * share;
                (open.at, open.length) = (point.at_s, whole);
            }
            None => parts.push(AveragedPoint {
                at: point.at_s,
                length,
                iops: point.iops,
                bandwidth: point.bandwidth,
            }),
        }
        part = nth;
    }
    parts
}
