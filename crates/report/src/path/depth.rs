//! Queue depth over time: requests in the block queue and on the device.

use super::pictures::{chart_name, of_side};
use super::{PathPhase, PathSide};
use crate::chart::{Chart, Plot, Section};
use crate::number;
use crate::svg::{DepthPlot, DepthPoint};
use crate::table::{self, DataTable};
use crate::text;

/// Most steps of the picture: more would be narrower than a line.
const STEPS: usize = 150;
/// Rows of the table: each joins steps of the picture.
const ROWS: usize = 12;

/// The chart of a side; `None` without samples.
pub(super) fn depth(phase: &PathPhase<'_>, side: &PathSide<'_>) -> Option<Chart> {
    let path = side.path();
    let points: Vec<DepthPoint> = path
        .depth
        .iter()
        .map(|sample| DepthPoint {
            at_s: sample.at.as_secs_f64(),
            device: f64::from(sample.issued).max(0.0),
            queue: f64::from(sample.queued).max(0.0),
        })
        .filter(|point| point.device.is_finite() && point.queue.is_finite())
        .collect();
    let points = joined(&points, STEPS);
    let until_s = path.window.as_secs_f64();
    let deepest = points.iter().map(|point| point.device + point.queue);
    let deepest = deepest.fold(0.0, f64::max);
    (points.len() > 1 && deepest > 0.0).then(|| Chart {
        name: chart_name("depth", phase, &side.name),
        section: Section::Path,
        title: text::depth_title(&of_side(side), path.mean_depth),
        note: text::depth_note(points.len()),
        table: depth_table(&points, until_s),
        plot: Plot::Depth(DepthPlot {
            until_s,
            device_name: text::on_the_device(),
            queue_name: text::in_the_queue(),
            points,
        }),
    })
}

/// Joins neighboring steps to at most so many; a joined step has their mean.
fn joined(points: &[DepthPoint], most: usize) -> Vec<DepthPoint> {
    let each = points.len().div_ceil(most).max(1);
    let mean = |steps: &[DepthPoint]| {
        let mean =
            |of: fn(&DepthPoint) -> f64| steps.iter().map(of).sum::<f64>() / steps.len() as f64;
        DepthPoint {
            at_s: steps[0].at_s,
            device: mean(|point| point.device),
            queue: mean(|point| point.queue),
        }
    };
    points.chunks(each).map(mean).collect()
}

fn depth_table(points: &[DepthPoint], until_s: f64) -> DataTable {
    let steps = joined(points, ROWS);
    let ends = steps.iter().skip(1).map(|step| step.at_s);
    let ends = ends.chain([until_s]);
    let row = |(step, end): (&DepthPoint, f64)| {
        let (begin, end) = (number::exact(step.at_s, 3), number::exact(end, 3));
        let means = [step.queue, step.device].map(number::significant);
        table::row(text::seconds_range(&begin, &end), means)
    };
    let rows = steps.iter().zip(ends).map(row);
    DataTable::new(text::depth_table_heads(), rows)
}
