//! Horizontal bars with error bars: one group for each phase, one bar for each series.

use super::canvas::{Anchor, Canvas, fitted, px, width_of};
use super::legend::{self, LegendSymbol};
use super::scale::{Scale, without_overlaps};
use super::{Frame, style};
use crate::number;

/// Data of a bar chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bars {
    /// Unit of the axis.
    pub(crate) unit: String,
    /// Names of the series; a single series has no legend.
    pub(crate) series: Vec<String>,
    /// Groups, from the top.
    pub(crate) groups: Vec<BarGroup>,
}

/// A group of bars.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BarGroup {
    /// Label of the group.
    pub(crate) label: String,
    /// One bar for each series; `None` without a value.
    pub(crate) bars: Vec<Option<Bar>>,
}

/// A bar of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// Length in the unit of the axis.
    pub(crate) value: f64,
    /// Half the length of the error bar, if any.
    pub(crate) deviation: Option<f64>,
    /// The value as text, at the end of the row.
    pub(crate) text: String,
}

/// Layout of the chart.
struct BarGeometry {
    width: f64,
    /// Horizontal range of the bars, together with `right`.
    left: f64,
    /// Right end of the labels that are next to their bars.
    label_end: f64,
    right: f64,
    /// Whether labels are next to their bars instead of above them.
    beside: bool,
    /// Height of one bar including its gap.
    pitch: f64,
    scale: Scale,
}

/// Width of the column of markers, if there are several series.
const MARKERS: f64 = 14.0;
const THICK: f64 = 14.0;
const GAP: f64 = 12.0;
const LABEL: f64 = 18.0;

impl BarGeometry {
    fn at(&self, value: f64) -> f64 {
        self.left + self.scale.place(value) * (self.right - self.left)
    }

    fn ticks(&self) -> Vec<f64> {
        self.scale
            .ticks(((self.right - self.left) / 60.0).clamp(2.0, 8.0) as u32)
    }

    /// Vertical position of the first bar of a group, below its label if the label is above.
    fn first_bar(&self, top: f64) -> f64 {
        top + GAP / 2.0 + if self.beside { 0.0 } else { LABEL }
    }
}

/// Draws a bar chart.
pub(crate) fn bars(data: &Bars, frame: &Frame) -> String {
    let layout = layout(data, frame.room());
    let mut canvas = Canvas::new();
    let names: Vec<(usize, &str)> = data.series.iter().map(String::as_str).enumerate().collect();
    let top = legend::draw(&mut canvas, layout.width, &names, LegendSymbol::Marker);
    let bottom = top
        + data
            .groups
            .iter()
            .map(|group| group_height(group, &layout))
            .sum::<f64>();
    axis(&mut canvas, &layout, bottom, &data.unit);
    let mut y = top;
    for group in &data.groups {
        draw_group(&mut canvas, &layout, data, group, y);
        y += group_height(group, &layout);
    }
    canvas.finish(frame, bottom + 38.0)
}

fn layout(data: &Bars, width: f64) -> BarGeometry {
    let all = || data.groups.iter().flat_map(|group| &group.bars).flatten();
    let texts = all().map(|bar| width_of(&bar.text));
    let text = texts.fold(30.0, f64::max).min(width * 0.4);
    let labels = data.groups.iter().map(|group| width_of(&group.label));
    let label = labels.fold(0.0, f64::max);
    let beside = width >= 480.0;
    let label = if beside {
        label.min(width * 0.34) + 10.0
    } else {
        5.0
    };
    let ends = all().map(|bar| bar.value + bar.deviation.unwrap_or(0.0));
    let largest = ends.filter(|v| v.is_finite()).fold(0.0, f64::max);
    let (markers, gap) = match data.series.len() {
        0 | 1 => (0.0, 0.0),
        _ => (MARKERS, 3.0),
    };
    BarGeometry {
        width,
        left: markers + label,
        label_end: label - 8.0,
        right: width - text - 12.0,
        beside,
        pitch: THICK + gap,
        scale: Scale::from_zero(largest),
    }
}

fn group_height(group: &BarGroup, layout: &BarGeometry) -> f64 {
    let label = if layout.beside { 0.0 } else { LABEL };
    label + group.bars.len().max(1) as f64 * layout.pitch + GAP
}

fn axis(canvas: &mut Canvas, layout: &BarGeometry, bottom: f64, unit: &str) {
    let labels = layout
        .ticks()
        .into_iter()
        .map(|t| (layout.at(t), number::exact(t, 6)))
        .collect();
    for (x, text) in without_overlaps(labels) {
        canvas.centered((x, bottom + 16.0), layout.width, "hk-m", &text);
    }
    canvas.text((layout.right, bottom + 32.0), Anchor::End, "hk-m", unit);
}

fn draw_group(canvas: &mut Canvas, layout: &BarGeometry, data: &Bars, group: &BarGroup, top: f64) {
    let first = layout.first_bar(top);
    let grid_top = if layout.beside { top } else { first - 2.0 };
    grid(canvas, layout, grid_top, top + group_height(group, layout));
    if layout.beside {
        let middle = first + group.bars.len() as f64 * layout.pitch / 2.0;
        let (end, label) = (layout.label_end, fitted(&group.label, layout.label_end));
        canvas.text((end, middle + 4.0), Anchor::End, "hk-t", &label);
    } else {
        let label = fitted(&group.label, layout.width);
        canvas.text((0.0, first - 6.0), Anchor::Start, "hk-t", &label);
    }
    let several = data.series.len() > 1;
    for (series, bar) in group.bars.iter().enumerate() {
        let y = first + series as f64 * layout.pitch;
        if several {
            let marker = style::marker(series, layout.left - 8.0, y + THICK / 2.0);
            canvas.path(&style::fill(series), &marker, "");
        }
        let Some(bar) = bar else {
            let place = (layout.left + 6.0, y + 11.0);
            canvas.text(place, Anchor::Start, "hk-m", "not measured");
            continue;
        };
        let name = data.series.get(series).filter(|_| several);
        let name = name.map(|name| format!(", {name}")).unwrap_or_default();
        let hover = format!("{}{name}: {} {}", group.label, bar.text, data.unit);
        draw_bar(canvas, layout, bar, (&style::fill(series), &hover), y);
    }
}

/// Grid lines behind the bars of one group; they do not cross labels.
fn grid(canvas: &mut Canvas, layout: &BarGeometry, top: f64, bottom: f64) {
    for tick in layout.ticks() {
        canvas.line("hk-g", (layout.at(tick), top), (layout.at(tick), bottom));
    }
    canvas.line("hk-a", (layout.left, top), (layout.left, bottom));
}

fn draw_bar(
    canvas: &mut Canvas,
    layout: &BarGeometry,
    bar: &Bar,
    (class, hover): (&str, &str),
    y: f64,
) {
    let (left, end) = (px(layout.left), px(layout.at(bar.value)));
    let d = format!("M{left} {}H{end}V{}H{left}z", px(y), px(y + THICK));
    canvas.path(class, &d, hover);
    if let Some(deviation) = bar.deviation.filter(|d| d.is_finite() && *d > 0.0) {
        let ends = [bar.value - deviation, bar.value + deviation];
        let [low, high] = ends.map(|end| px(layout.at(end)));
        let middle = y + THICK / 2.0;
        let (cap_top, cap_bottom) = (px(middle - 4.0), px(middle + 4.0));
        let cap = |x: &str| format!("M{x} {cap_top}V{cap_bottom}");
        let (caps, middle) = (cap(&low) + &cap(&high), px(middle));
        let d = format!("M{low} {middle}H{high}{caps}");
        canvas.path("hk-h", &d, "");
        canvas.path("hk-w", &d, "");
    }
    let text = fitted(&bar.text, layout.width - layout.right - 6.0);
    let place = (layout.width - 2.0, y + 11.5);
    canvas.text(place, Anchor::End, "hk-t", &text);
}
