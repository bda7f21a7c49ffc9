//! Addresses of requests over time, with the layout of the file system beside them.

use super::super::Frame;
use super::super::area::PlotArea;
use super::super::canvas::{Anchor, Canvas, fitted, px, width_of};
use super::super::paint::Paint;
use super::super::png::Raster;
use super::super::scale::{Scale, labels_within};
use super::legend;
use crate::number;
use crate::text::{self, AxisLabel};

/// Data of the picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AddressPlot {
    /// Start and end of the time axis in seconds.
    pub(crate) seconds: (f64, f64),
    /// First and last address in bytes.
    pub(crate) range: (f64, f64),
    /// Requests in the order of time.
    pub(crate) marks: Vec<AddressMark>,
    /// What lies where, in ascending order.
    pub(crate) layout: Vec<LayoutArea>,
    /// Fills of the requests with their names; empty if another picture of the page names them.
    pub(crate) legend: Vec<(Paint, &'static str)>,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AddressMark {
    pub(crate) at_s: f64,
    /// Address in bytes.
    pub(crate) address: f64,
    pub(crate) paint: Paint,
}

/// An area of the disk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayoutArea {
    /// Bytes from the start of the disk.
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) paint: Paint,
    pub(crate) name: &'static str,
}

impl AddressPlot {
    /// Number of marks above which they are drawn as a picture of pixels.
    pub(crate) const MOST_SHAPES: usize = 5000;
}

/// Width of the column of the layout in pixels.
const COLUMN: f64 = 16.0;

/// Draws the picture.
pub(crate) fn addresses(data: &AddressPlot, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let top = legend(&mut canvas, width, &data.legend);
    let names = data.layout.iter().map(|area| width_of(area.name));
    let names = names.fold(0.0, f64::max).min(width * 0.26);
    let beside = match data.layout.is_empty() {
        true => 12.0,
        false => COLUMN + names + 20.0,
    };
    let (low, high) = data.range;
    let (unit, name) = unit_of(high - low, high);
    let y_scale = Scale::Linear {
        min: low / unit,
        max: (high / unit).max(low / unit + 1e-9),
    };
    let labels = round_ticks(low / unit, high / unit);
    let decimals = decimals_of(&labels);
    let labels = labels.into_iter().map(|v| (v, format!("{v:.decimals$}")));
    let area = PlotArea::new(
        (
            Scale::Linear {
                min: data.seconds.0,
                max: data.seconds.1.max(data.seconds.0 + 1e-9),
            },
            y_scale,
        ),
        labels.collect(),
        (width - beside, top + 24.0),
        (width * 0.55).clamp(220.0, 300.0),
    );
    let about = text::from_start_of_disk(name);
    canvas.text((0.0, top + 12.0), Anchor::Start, "hk-m", &about);
    area.grid(&mut canvas);
    time_axis(&mut canvas, &area, data.seconds, width);
    area.base_line(&mut canvas);
    match data.marks.len() > AddressPlot::MOST_SHAPES {
        true => pixels(&mut canvas, &area, data, unit),
        false => shapes(&mut canvas, &area, data, unit),
    }
    layout(&mut canvas, &area, data, unit, width);
    canvas.finish(frame, area.bottom + 38.0)
}

/// Unit of the axis: its bytes and its name. Close addresses far from zero need a unit that shows their difference.
fn unit_of(span: f64, high: f64) -> (f64, &'static str) {
    let units = [
        (1024f64.powi(3), "GiB"),
        (1024f64.powi(2), "MiB"),
        (1024.0, "KiB"),
    ];
    let enough = |&&(unit, _): &&(f64, &str)| span >= unit * 0.5 && high >= unit;
    units
        .iter()
        .find(enough)
        .copied()
        .unwrap_or((1024.0, "KiB"))
}

/// About five round values between two ends.
fn round_ticks(low: f64, high: f64) -> Vec<f64> {
    let ticks = Scale::Linear {
        min: 0.0,
        max: (high - low).max(1e-9),
    }
    .ticks(5);
    let step = ticks.get(1).copied().unwrap_or(1.0);
    let first = (low / step).ceil();
    let values = (0..12).map(|i| (first + f64::from(i)) * step);
    values
        .filter(|value| *value <= high * (1.0 + 1e-12))
        .collect()
}

/// Decimal places that tell the ticks apart.
fn decimals_of(ticks: &[f64]) -> usize {
    let exact = |places: &usize| {
        let shown = |v: &f64| format!("{v:.places$}").parse::<f64>().unwrap_or(*v);
        ticks.iter().all(|v| (shown(v) - v).abs() <= v.abs() * 1e-9)
    };
    (0..4).find(exact).unwrap_or(4)
}

/// Ticks and name of the time axis.
pub(super) fn time_axis(
    canvas: &mut Canvas,
    area: &PlotArea,
    (from_s, until_s): (f64, f64),
    width: f64,
) {
    let PlotArea { right, bottom, .. } = *area;
    let (unit, name) = match until_s - from_s {
        span if span < 2.0 => (1e-3, AxisLabel::Milliseconds.text()),
        _ => (1.0, AxisLabel::Seconds.text()),
    };
    let wanted = ((right - area.left) / 70.0).clamp(2.0, 8.0) as u32;
    let ticks = Scale::Linear {
        min: 0.0,
        max: (until_s / unit).max(1e-9),
    }
    .ticks(wanted);
    let ticks = match from_s > 0.0 {
        true => round_ticks(from_s / unit, until_s / unit),
        false => ticks,
    };
    let labels = ticks
        .into_iter()
        .map(|t| (area.x(t * unit), number::exact(t, 3)));
    for (x, text) in labels_within(labels.collect(), width) {
        canvas.line("hk-a", (x, bottom), (x, bottom + 4.0));
        canvas.centered((x, bottom + 17.0), width, "hk-m", &text);
    }
    canvas.text((right, bottom + 32.0), Anchor::End, "hk-m", name);
}

/// One path for each fill; marks on the same pixel are drawn once.
fn shapes(canvas: &mut Canvas, area: &PlotArea, data: &AddressPlot, unit: f64) {
    let mut paints: Vec<Paint> = data.marks.iter().map(|mark| mark.paint).collect();
    paints.sort();
    paints.dedup();
    for paint in paints {
        let of_paint = data.marks.iter().filter(|mark| mark.paint == paint);
        let place = |mark: &AddressMark| {
            let (x, y) = (area.x(mark.at_s), area.y(mark.address / unit));
            (x.round() as i64, y.round() as i64)
        };
        let mut places: Vec<(i64, i64)> = of_paint.map(place).collect();
        places.sort_unstable();
        places.dedup();
        let (class, shape) = match paint {
            Paint::Diagonal => ("", (-2, 0, "h4")),
            Paint::Dots => ("", (-2, 2, "l2-4 2 4z")),
            Paint::Cross => ("", (-2, -2, "l4 4m0-4l-4 4")),
            Paint::Vertical => ("", (0, -2, "v4")),
            _ => (" hk-dot", (0, 0, "h0")),
        };
        let (dx, dy, stroke) = shape;
        let marks = places
            .iter()
            .map(|(x, y)| format!("M{} {}{stroke}", x + dx, y + dy));
        canvas.strokes(paint, class, &marks.collect::<String>());
    }
}

/// All marks as a picture of two pixels a unit.
fn pixels(canvas: &mut Canvas, area: &PlotArea, data: &AddressPlot, unit: f64) {
    let (width, height) = (area.right - area.left, area.bottom - area.top);
    let mut raster = Raster::new((width * 2.0) as usize, (height * 2.0) as usize);
    let mut palette: Vec<Paint> = data.marks.iter().map(|mark| mark.paint).collect();
    palette.sort();
    palette.dedup();
    for mark in &data.marks {
        let color = palette.iter().position(|paint| *paint == mark.paint);
        let color = color.and_then(|i| u8::try_from(i + 1).ok()).unwrap_or(1);
        let x = ((area.x(mark.at_s) - area.left) * 2.0) as i64;
        let y = ((area.y(mark.address / unit) - area.top) * 2.0) as i64;
        // Rare classes are larger, so that they stay visible.
        let (wide, high) = match mark.paint {
            Paint::Solid => (2, 2),
            Paint::Diagonal | Paint::Dots => (4, 2),
            _ => (2, 4),
        };
        for (dx, dy) in (0..wide).flat_map(|dx| (0..high).map(move |dy| (dx, dy))) {
            raster.set(x + dx - 1, y + dy - 1, color);
        }
    }
    let color = |paint: &Paint| {
        let [red, green, blue] = paint.rgb();
        [red, green, blue, u8::MAX]
    };
    let colors: Vec<[u8; 4]> = palette.iter().map(color).collect();
    let place = (area.left, area.top);
    canvas.picture(place, (width, height), &raster.png(&colors));
}

/// The column of areas, with one name for the largest area of each kind.
fn layout(canvas: &mut Canvas, area: &PlotArea, data: &AddressPlot, unit: f64, width: f64) {
    if data.layout.is_empty() {
        return;
    }
    let left = area.right + 8.0;
    let (top, bottom) = (px(area.top), px(area.bottom));
    let (from, to) = (px(left), px(left + COLUMN));
    canvas.path(
        "hk-area",
        &format!("M{from} {top}H{to}V{bottom}H{from}z"),
        "",
    );
    let y = |address: f64| area.y(address / unit);
    let mut names: Vec<(f64, f64, &'static str)> = Vec::new();
    let mut drawn: Vec<(i64, i64, Paint)> = Vec::new();
    for part in &data.layout {
        let (low, high) = (y(part.from), y(part.to));
        let height = (low - high).max(LEAST_AREA);
        let pixels = (high as i64, height as i64, part.paint);
        if !drawn.contains(&pixels) {
            canvas.rect(
                part.paint,
                (left, high.min(area.bottom - height)),
                (COLUMN, height),
                false,
            );
            drawn.push(pixels);
        }
        let (size, middle) = (part.to - part.from, (low + high) / 2.0);
        match names.iter_mut().find(|(.., name)| *name == part.name) {
            Some(known) if known.1 < size => *known = (middle, size, part.name),
            Some(_) => {}
            None => names.push((middle, size, part.name)),
        }
    }
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let room = width - left - COLUMN - 6.0;
    let height = 15.0;
    // Names move apart downwards, then back up from the lower end.
    let mut places: Vec<f64> = Vec::new();
    for (middle, ..) in &names {
        let free = places.last().map_or(area.top, |last| last + height);
        places.push(middle.max(free));
    }
    let mut limit = area.bottom + 4.0;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - height;
    }
    for ((.., name), place) in names.iter().zip(places) {
        let x = left + COLUMN + 6.0;
        canvas.text((x, place + 4.0), Anchor::Start, "hk-t", &fitted(name, room));
    }
}

/// Minimum height of an area in pixels.
const LEAST_AREA: f64 = 1.5;
