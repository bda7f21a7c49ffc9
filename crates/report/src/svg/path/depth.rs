//! Queue depth over time, as two areas one above the other.

use super::super::Frame;
use super::super::area::PlotArea;
use super::super::canvas::{Canvas, px};
use super::super::paint::Paint;
use super::super::scale::Scale;
use super::addresses::time_axis;
use super::legend;
use crate::number;

/// Data of the chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DepthPlot {
    /// Length of the time axis in seconds.
    pub(crate) until_s: f64,
    /// Name of the lower area.
    pub(crate) device_name: &'static str,
    /// Name of the upper area.
    pub(crate) queue_name: &'static str,
    /// Steps in order of time; each lasts until the next.
    pub(crate) points: Vec<DepthPoint>,
}

/// Mean number of requests over one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DepthPoint {
    /// Start of the step in seconds.
    pub(crate) at_s: f64,
    /// On the device.
    pub(crate) device: f64,
    /// In the block queue.
    pub(crate) queue: f64,
}

/// Draws the chart.
pub(crate) fn depth(data: &DepthPlot, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let names = [
        (Paint::Solid, data.device_name),
        (Paint::Vertical, data.queue_name),
    ];
    let top = legend(&mut canvas, width, &names);
    let both = |point: &DepthPoint| point.device + point.queue;
    let most = data.points.iter().map(both).fold(0.0, f64::max);
    let y_scale = Scale::from_zero(most);
    let ticks = y_scale.ticks(4).into_iter();
    let area = PlotArea::new(
        (
            Scale::Linear {
                min: 0.0,
                max: data.until_s.max(1e-9),
            },
            y_scale,
        ),
        ticks.map(|tick| (tick, number::exact(tick, 2))).collect(),
        (width - 12.0, top + 8.0),
        (width * 0.28).clamp(110.0, 170.0),
    );
    area.grid(&mut canvas);
    let zero = |_: &DepthPoint| 0.0;
    let device = |point: &DepthPoint| point.device;
    for (paint, lower, upper) in [
        (
            Paint::Solid,
            &zero as &dyn Fn(&DepthPoint) -> f64,
            &device as _,
        ),
        (
            Paint::Vertical,
            &device as _,
            &both as &dyn Fn(&DepthPoint) -> f64,
        ),
    ] {
        canvas.area(paint, &outline(&area, data, lower, upper));
    }
    time_axis(&mut canvas, &area, (0.0, data.until_s), width);
    area.base_line(&mut canvas);
    canvas.finish(frame, area.bottom + 38.0)
}

/// The area between two heights: to the right along the upper one, and back along the lower one.
fn outline(
    area: &PlotArea,
    data: &DepthPlot,
    lower: &dyn Fn(&DepthPoint) -> f64,
    upper: &dyn Fn(&DepthPoint) -> f64,
) -> String {
    let ends = data.points.iter().skip(1).map(|point| point.at_s);
    let ends = ends.chain([data.until_s]);
    let steps: Vec<(f64, f64, &DepthPoint)> = data
        .points
        .iter()
        .zip(ends)
        .map(|(point, end)| (area.x(point.at_s), area.x(end), point))
        .collect();
    let Some((left, ..)) = steps.first() else {
        return String::new();
    };
    let height = |of: &dyn Fn(&DepthPoint) -> f64, point: &DepthPoint| px(area.y(of(point)));
    let there = steps
        .iter()
        .map(|(_, end, point)| format!("V{}H{}", height(upper, point), px(*end)));
    let back = steps
        .iter()
        .rev()
        .map(|(start, _, point)| format!("V{}H{}", height(lower, point), px(*start)));
    let first = steps.first().map(|(.., point)| height(lower, point));
    let first = first.unwrap_or_default();
    let path: String = there.chain(back).collect();
    format!("M{} {first}{path}z", px(*left))
}
