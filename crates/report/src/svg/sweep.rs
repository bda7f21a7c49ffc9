//! A quantity over block size, queue depth, number of jobs, fill level or date: one line for each combination of the other
//! settings, with the intervals as whiskers.

use super::area::PlotArea;
use super::canvas::{Anchor, Canvas, px, width_of};
use super::legend::{self, LegendSymbol};
use super::scale::{Scale, labels_within};
use super::{Frame, style};
use crate::number;

/// Data of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SweepPlot {
    /// Unit of the vertical axis; empty for latencies in nanoseconds.
    pub(crate) unit: String,
    /// Label of the horizontal axis.
    pub(crate) axis: String,
    /// Whether the horizontal axis is logarithmic.
    pub(crate) log: bool,
    /// Whether the vertical axis of a rate is logarithmic; that of a latency always is.
    pub(crate) log_y: bool,
    /// Positions on the horizontal axis with their labels, ascending.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Lines; the index of a line determines its style.
    pub(crate) lines: Vec<SweepLine>,
    /// The measurement window of rounds.
    pub(crate) window: Option<WindowLines>,
}

/// A range of rounds with the mean of a quantity in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowLines {
    /// First and last round.
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) mean: f64,
    /// Distance of the lines above and below the mean, as a share of it.
    pub(crate) band: f64,
    /// The fitted line at the first and the last round.
    pub(crate) fit: (f64, f64),
    /// Label of the mean.
    pub(crate) name: String,
}

impl WindowLines {
    /// Values of the lines with their labels: above the mean, the mean, below it.
    fn levels(&self) -> [(f64, String); 3] {
        let percent = number::exact(self.band * 100.0, 1);
        [
            (self.mean * (1.0 + self.band), format!("+{percent}%")),
            (self.mean, self.name.clone()),
            (self.mean * (1.0 - self.band), format!("−{percent}%")),
        ]
    }

    /// Room for the labels to the right of the plot.
    fn room(&self) -> f64 {
        let widths = self.levels().map(|(_, label)| width_of(&label));
        widths.into_iter().fold(0.0, f64::max) + 4.0
    }
}

/// A line of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SweepLine {
    pub(crate) name: String,
    /// Points by ascending position.
    pub(crate) points: Vec<SweepPoint>,
}

/// A point of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SweepPoint {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// 95% interval of the mean, if known.
    pub(crate) interval: Option<(f64, f64)>,
}

impl SweepPlot {
    /// Whether the vertical axis is a latency on a logarithmic scale.
    fn is_latency(&self) -> bool {
        self.unit.is_empty()
    }

    fn points(&self) -> impl Iterator<Item = &SweepPoint> {
        self.lines.iter().flat_map(|line| &line.points)
    }

    /// The horizontal scale, with a little room before the first and after the last point.
    fn x_scale(&self) -> Scale {
        let xs = || self.ticks.iter().map(|tick| tick.0);
        let (low, high) = (xs().fold(f64::MAX, f64::min), xs().fold(0.0, f64::max));
        if self.log && low > 0.0 && high > low {
            let room = (high / low).powf(0.04);
            return Scale::Log {
                min: low / room,
                max: high * room,
            };
        }
        let room = ((high - low) * 0.04).max(1e-9);
        Scale::Linear {
            min: low - room,
            max: high + room,
        }
    }

    fn y_scale(&self) -> Scale {
        let ends = |point: &SweepPoint| {
            let (low, high) = point.interval.unwrap_or((point.y, point.y));
            [low, point.y, high]
        };
        let levels = self.window.iter().flat_map(WindowLines::levels);
        let levels: Vec<f64> = levels.map(|(value, _)| value).collect();
        let values = || {
            let all = self.points().flat_map(ends).chain(levels.iter().copied());
            all.filter(|v| v.is_finite())
        };
        if self.is_latency() || self.log_y {
            let low = values().filter(|v| *v > 0.0).fold(f64::MAX, f64::min);
            return Scale::log_around(low, values().fold(0.0, f64::max));
        }
        Scale::from_zero(values().fold(0.0, f64::max))
    }
}

/// Draws a sweep.
pub(crate) fn sweep(data: &SweepPlot, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let names = data.lines.iter().map(|line| line.name.as_str());
    let names: Vec<(usize, &str)> = names.enumerate().collect();
    let unit_room = if data.is_latency() { 8.0 } else { 26.0 };
    let top = legend::draw(&mut canvas, width, &names, LegendSymbol::MarkedLine) + unit_room;
    let y_scale = data.y_scale();
    let label = |v: f64| match data.is_latency() {
        true => number::nanos(v),
        false => number::in_groups(&number::exact(v, 6)),
    };
    let ticks = y_scale.ticks(5).into_iter();
    let area = PlotArea::new(
        (data.x_scale(), y_scale),
        ticks.map(|v| (v, label(v))).collect(),
        (
            width - 12.0 - data.window.as_ref().map_or(0.0, WindowLines::room),
            top,
        ),
        (width * 0.5).clamp(190.0, 300.0),
    );
    area.grid(&mut canvas);
    let PlotArea { right, bottom, .. } = area;
    for (x, _) in &data.ticks {
        let x = area.x(*x);
        canvas.line("hk-a", (x, bottom), (x, bottom + 4.0));
    }
    let labels = data
        .ticks
        .iter()
        .map(|(x, text)| (area.x(*x), text.clone()));
    for (x, text) in labels_within(labels.collect(), width) {
        canvas.centered((x, bottom + 17.0), width, "hk-m", &text);
    }
    canvas.text((right, bottom + 33.0), Anchor::End, "hk-m", &data.axis);
    canvas.text((0.0, top - 12.0), Anchor::Start, "hk-m", &data.unit);
    area.base_line(&mut canvas);
    if let Some(window) = &data.window {
        draw_window(&mut canvas, &area, window);
    }
    for (series, line) in data.lines.iter().enumerate() {
        draw_line(&mut canvas, &area, series, (line, &label));
    }
    if let Some(WindowLines { from, to, fit, .. }) = data.window {
        let ends = [(from, fit.0), (to, fit.1)];
        canvas.polyline("hk-l hk-s3", &ends.map(|(x, y)| (area.x(x), area.y(y))));
    }
    canvas.finish(frame, bottom + 40.0)
}

fn draw_line(
    canvas: &mut Canvas,
    area: &PlotArea,
    series: usize,
    (line, label): (&SweepLine, &dyn Fn(f64) -> String),
) {
    let place = |point: &SweepPoint| (area.x(point.x), area.y(point.y));
    let points: Vec<(f64, f64)> = line.points.iter().map(place).collect();
    canvas.polyline(&style::line(series), &points);
    for point in &line.points {
        let (x, y) = place(point);
        if let Some((low, high)) = point.interval {
            let [x, low, high] = [x, area.y(low), area.y(high)].map(px);
            canvas.path("hk-w", &format!("M{x} {low}V{high}"), "");
        }
        let hover = format!("{}: {}", line.name, label(point.y));
        canvas.path(
            &style::fill(series),
            &style::marker(series, x, y),
            hover.trim_start_matches(": "),
        );
    }
}

/// Height of a label and the distance to the next.
const LABEL: f64 = 11.5;

/// The measurement window: shaded, with the lines at and around the mean. Labels of lines that are too close to the mean
/// are omitted.
fn draw_window(canvas: &mut Canvas, area: &PlotArea, window: &WindowLines) {
    let (from, to) = (area.x(window.from), area.x(window.to));
    let edges = [from - 6.0, to + 6.0, area.top, area.bottom].map(px);
    let [left, right, top, bottom] = &edges;
    canvas.shade(
        "hk-f0",
        0.09,
        &format!("M{left} {top}H{right}V{bottom}H{left}z"),
    );
    let mean = area.y(window.mean);
    for (nth, (value, label)) in window.levels().into_iter().enumerate() {
        let y = area.y(value);
        let is_mean = nth == 1;
        let class = if is_mean { "hk-c" } else { "hk-leader" };
        canvas.line(class, (from - 6.0, y), (to + 6.0, y));
        if is_mean || (y - mean).abs() >= LABEL {
            canvas.text((to + 10.0, y + 4.0), Anchor::Start, "hk-m", &label);
        }
    }
}
