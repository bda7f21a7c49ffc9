//! Queue depth over time: requests in the block queue and on the device.

use super::pictures::{chart_name, of_side};
use super::{PathPhase, PathSide};
use crate::chart::{Chart, Plot, Section};
use crate::number;
use crate::svg::{DepthPlot, DepthPoint};
use crate::table::{self, DataTable};
use crate::text;

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

fn depth_table(points: &[DepthPoint], until_s: f64) -> DataTable {
    let each = points.len().div_ceil(ROWS).max(1);
    let rows = points.chunks(each).enumerate().map(|(i, steps)| {
        let mean = |of: fn(&DepthPoint) -> f64| {
            number::significant(steps.iter().map(of).sum::<f64>() / steps.len() as f64)
        };
        let next = points.get((i + 1) * each);
        let end = next.map_or(until_s, |point| point.at_s);
        let time = format!(
            "{}–{} s",
            number::exact(steps[0].at_s, 3),
            number::exact(end, 3)
        );
        table::row(
            time,
            [mean(|point| point.queue), mean(|point| point.device)],
        )
    });
    DataTable::new(text::depth_table_heads(), rows)
}
