//! Latency by percentile: the percentile axis is stretched towards 100 and the latency axis is logarithmic, so that
//! rare long latencies get as much space as frequent short ones.

use super::area::PlotArea;
use super::canvas::{Anchor, Canvas, fitted, px, width_of};
use super::legend::{self, LegendSymbol};
use super::scale::{Scale, without_overlaps};
use super::{Frame, style};
use crate::{number, text};
use hakaru_model::units::{Nanos, Quantile};

/// Data of a latency chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LatencyChart {
    /// Lines; the index of a line determines its style.
    pub(crate) lines: Vec<LatencyLine>,
}

/// The latency distribution of one line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LatencyLine {
    /// Name of the distribution.
    pub(crate) name: String,
    /// Number of I/Os; 0 if unknown.
    pub(crate) count: u64,
    /// Points of `(share of I/Os up to value, value)`, ascending.
    pub(crate) curve: Vec<(f64, Nanos)>,
    /// Percentiles by name; frequently quoted ones get a marker.
    pub(crate) marked: Vec<(Quantile, Nanos)>,
}

impl LatencyLine {
    /// The curve up to the last percentile for which there are enough samples; all of it if none is known.
    fn decided(&self) -> Vec<(f64, Nanos)> {
        let Some((last, value)) = self
            .marked
            .iter()
            .max_by(|a, b| a.0.share().total_cmp(&b.0.share()))
        else {
            return self.curve.clone();
        };
        if self.curve.is_empty() {
            // Only percentiles are known.
            let mut points: Vec<(f64, Nanos)> =
                self.marked.iter().map(|(q, v)| (q.share(), *v)).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            return points;
        }
        let mut points = self.curve.clone();
        points.retain(|(q, _)| *q < last.share());
        points.push((last.share(), *value));
        points
    }
}

/// Maximum number of nines on the percentile axis; runs rarely have enough samples beyond it.
const MOST_DECADES: f64 = 6.0;

/// Position of a point on the axis. Share 1 has no finite position, so the maximum of `count` samples is drawn at 1 -
/// 1/`count`; an unknown number of samples (0) limits nothing.
fn share(share: f64, count: u64) -> f64 {
    let count = match count {
        0 => 1_000_000_000,
        count => count.max(2),
    };
    share.min(1.0 - 1.0 / count as f64)
}

/// Draws a latency chart.
pub(crate) fn latency(data: &LatencyChart, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let names = data.lines.iter().map(|line| line.name.as_str());
    let names: Vec<(usize, &str)> = names.enumerate().collect();
    let labels = LineLabels::of(data, width);
    let top = match &labels {
        Some(_) => 14.0,
        None => legend::draw(&mut canvas, width, &names, LegendSymbol::MarkedLine) + 8.0,
    };
    let decades = decades(data);
    let y_scale = vertical(data);
    let ticks = y_scale.ticks(0).into_iter();
    let area = PlotArea::new(
        (
            Scale::Tail {
                from: first_decade(data),
                decades,
            },
            y_scale,
        ),
        ticks.map(|v| (v, number::nanos(v))).collect(),
        (
            width - labels.as_ref().map_or(12.0, |labels| labels.room),
            top,
        ),
        (width * 0.42).clamp(190.0, 300.0),
    );
    area.grid(&mut canvas);
    let PlotArea { right, bottom, .. } = area;
    let ticks = area.x_scale.ticks(0).into_iter();
    let ticks = ticks.map(|q| (area.x(q), format!("P{}", number::exact(q * 100.0, 5))));
    let ticks = without_overlaps(ticks.collect());
    for (at, _) in &ticks {
        canvas.line("hk-g", (*at, top), (*at, bottom));
    }
    for (at, text) in ticks {
        canvas.centered((at, bottom + 16.0), width, "hk-m", &text);
    }
    let axis = text::axis_percentile();
    canvas.text((right, bottom + 32.0), Anchor::End, "hk-m", axis);
    area.base_line(&mut canvas);
    for (series, line) in data.lines.iter().enumerate() {
        draw_line(&mut canvas, &area, series, line);
    }
    if let [first, second] = &data.lines[..]
        && width >= LABELED
    {
        draw_values(&mut canvas, &area, [first, second]);
    }
    if let Some(labels) = labels {
        labels.draw(&mut canvas, &area, data);
    }
    canvas.finish(frame, bottom + 40.0)
}

/// Names at the ends of the lines, in place of a legend.
struct LineLabels {
    /// Width to the right of the plot.
    room: f64,
}

/// Maximum number of lines with names at their ends; more would be too close.
const MOST_LABELS: usize = 5;
/// Minimum width of a chart with such names.
const LABELED: f64 = 480.0;
/// Space between the plot and a name, with the marker of the line.
const MARKER_ROOM: f64 = 22.0;
/// Height of a name.
const LABEL_HEIGHT: f64 = 16.0;

impl LineLabels {
    /// `None` if the chart is too narrow or has too many lines; a single line needs no name.
    fn of(data: &LatencyChart, width: f64) -> Option<LineLabels> {
        if width < LABELED || !(2..=MOST_LABELS).contains(&data.lines.len()) {
            return None;
        }
        let names = data.lines.iter().map(|line| width_of(&line.name));
        let room = names.fold(0.0, f64::max).min(width * 0.3) + MARKER_ROOM;
        Some(LineLabels { room })
    }

    fn draw(&self, canvas: &mut Canvas, area: &PlotArea, data: &LatencyChart) {
        let end = |(series, line): (usize, &LatencyLine)| {
            let (q, value) = *line.decided().last()?;
            let place = (area.x(share(q, line.count)), area.y(value.0 as f64));
            Some((series, place))
        };
        let mut ends: Vec<_> = data.lines.iter().enumerate().filter_map(end).collect();
        ends.sort_by(|a, b| a.1.1.total_cmp(&b.1.1));
        let mut free = f64::NEG_INFINITY;
        for (nth, &(series, (x, y))) in ends.iter().enumerate() {
            // Room for the names below, then below the name above.
            let below = (ends.len() - 1 - nth) as f64 * LABEL_HEIGHT;
            let label = y.min(area.bottom - 4.0 - below).max(free).max(area.top);
            free = label + LABEL_HEIGHT;
            let from = area.right + 6.0;
            let [x, y, from_px, label_px] = [x, y, from, label].map(px);
            canvas.path("hk-leader", &format!("M{x} {y}L{from_px} {label_px}"), "");
            let marker = style::marker(series, from + 5.0, label);
            canvas.path(&style::fill(series), &marker, "");
            let name = fitted(&data.lines[series].name, self.room - MARKER_ROOM);
            let place = (area.right + MARKER_ROOM - 4.0, label + 4.0);
            canvas.text(place, Anchor::Start, "hk-t", &name);
        }
    }
}

fn draw_line(canvas: &mut Canvas, area: &PlotArea, series: usize, line: &LatencyLine) {
    let place = |q: f64, value: Nanos| {
        let share = share(q, line.count);
        (area.x(share), area.y(value.0 as f64))
    };
    let curve = line.decided().into_iter().map(|(q, value)| place(q, value));
    canvas.polyline(&style::line(series), &curve.collect::<Vec<_>>());
    for &(q, value) in line.marked.iter().filter(|(q, _)| worth_a_marker(*q)) {
        let hover = format!("{}, {}: {value}", line.name, number::percentile(q));
        let (x, y) = place(q.share(), value);
        let marker = style::marker(series, x, y);
        canvas.path(&style::fill(series), &marker, &hover);
    }
}

/// The percentiles that are quoted most, far enough apart for their values.
const QUOTED: [Quantile; 4] = [
    Quantile::MEDIAN,
    Quantile::P95,
    Quantile::P99,
    Quantile::P999,
];

/// The values of two lines at the quoted percentiles: above the upper line, and below the lower one.
fn draw_values(canvas: &mut Canvas, area: &PlotArea, lines: [&LatencyLine; 2]) {
    for q in QUOTED {
        let value = |line: &LatencyLine| {
            let found = line.marked.iter().find(|mark| mark.0 == q);
            found.map(|mark| mark.1)
        };
        let [Some(a), Some(b)] = lines.map(value) else {
            continue;
        };
        let x = area.x(q.share());
        for (value, distance) in [(a.max(b), -9.0), (a.min(b), 18.0)] {
            let y = area.y(value.0 as f64) + distance;
            let text = value.to_string();
            // Within the plot: above the axis, and left of its right end.
            let half = width_of(&text) / 2.0;
            let x = x.min(area.right - half);
            if y < area.bottom - 2.0 {
                canvas.text((x, y.max(10.0)), Anchor::Middle, "hk-m", &text);
            }
        }
    }
}

/// Whether a percentile gets a marker. Only frequently quoted ones do, because more markers would hide the lines.
fn worth_a_marker(q: Quantile) -> bool {
    [0.5, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999].contains(&q.share())
}

fn decades(data: &LatencyChart) -> f64 {
    let ends = data.lines.iter().map(|line| {
        let last = line
            .decided()
            .last()
            .map_or(0.0, |point| share(point.0, line.count));
        -(1.0 - last).log10()
    });
    // The tick of a percentile at the end of the axis needs a little room.
    (ends.fold(1.0, f64::max) + 0.05).min(MOST_DECADES)
}

/// Where the axis begins: a result that states only the percentiles from P95 on leaves no empty half before them.
fn first_decade(data: &LatencyChart) -> f64 {
    let first = |line: &LatencyLine| line.decided().first().map(|point| point.0);
    let first = data.lines.iter().filter_map(first).fold(1.0, f64::min);
    match first {
        // Just before the first percentile, so that its marker is whole.
        0.9..1.0 => (-(1.0 - first).log10() - 0.05).min(decades(data) - 0.5),
        _ => 0.0,
    }
}

fn vertical(data: &LatencyChart) -> Scale {
    let values = || {
        data.lines.iter().flat_map(|l| {
            l.curve
                .iter()
                .map(|p| p.1)
                .chain(l.marked.iter().map(|m| m.1))
        })
    };
    let smallest = values().min().map_or(1.0, |v| v.0.max(1) as f64);
    let largest = values().max().map_or(1.0, |v| v.0.max(1) as f64);
    Scale::log_around(smallest, largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: without a number of I/Os, all percentiles stood above the median.
    #[test]
    fn an_unknown_number_of_ios_moves_no_percentile() {
        assert_eq!(
            [0.5, 0.99, 0.999].map(|of| share(of, 0)),
            [0.5, 0.99, 0.999]
        );
        assert_eq!(share(0.9999, 100), 0.99);
        assert!(share(1.0, 0) < 1.0);
    }
}
