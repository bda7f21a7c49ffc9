//! Where the time of operations went: one bar for each kind of operation and percentile, divided into parts.

use super::super::Frame;
use super::super::canvas::{Anchor, Canvas, fitted, width_of};
use super::super::paint::Paint;
use super::super::scale::{Scale, labels_within};
use super::legend;
use crate::number;

/// Data of a chart of parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    pub(crate) bars: Vec<ShareBar>,
    /// Whether each bar has the full width, because their times differ too much for one axis.
    pub(crate) full: bool,
}

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ShareBar {
    /// Operation, percentile and time.
    pub(crate) label: String,
    /// Parts without zeros, in order.
    pub(crate) parts: Vec<SharePart>,
}

/// A part of a bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SharePart {
    pub(crate) paint: Paint,
    pub(crate) name: &'static str,
    pub(crate) nanos: f64,
}

impl ShareBar {
    fn total(&self) -> f64 {
        self.parts.iter().map(|part| part.nanos).sum()
    }
}

/// Height of a bar in pixels.
const THICK: f64 = 24.0;
/// Height of its label in pixels.
const LABEL: f64 = 19.0;
/// Height of a bar with its label and gap.
const PITCH: f64 = LABEL + THICK + 10.0;

/// Draws the chart.
pub(crate) fn shares(data: &Shares, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let mut names: Vec<(Paint, &str)> = Vec::new();
    for part in data.bars.iter().flat_map(|bar| &bar.parts) {
        if !names.contains(&(part.paint, part.name)) {
            names.push((part.paint, part.name));
        }
    }
    let top = legend(&mut canvas, width, &names);
    let longest = data.bars.iter().map(ShareBar::total).fold(0.0, f64::max);
    let scale = Scale::from_zero(longest);
    let room = width - 14.0;
    let bottom = top + data.bars.len() as f64 * PITCH;
    if !data.full {
        axis(&mut canvas, &scale, (room, width), (top, bottom), longest);
    }
    for (i, bar) in data.bars.iter().enumerate() {
        let y = top + i as f64 * PITCH;
        canvas.text(
            (0.0, y + 13.0),
            Anchor::Start,
            "hk-o",
            &fitted(&bar.label, width),
        );
        let per_nano = match data.full {
            true => room / bar.total().max(1e-9),
            false => scale.place(bar.total()) * room / bar.total().max(1e-9),
        };
        draw(&mut canvas, bar, per_nano, y + LABEL);
    }
    canvas.finish(frame, bottom + if data.full { 0.0 } else { 20.0 })
}

fn axis(
    canvas: &mut Canvas,
    scale: &Scale,
    (room, width): (f64, f64),
    (top, bottom): (f64, f64),
    longest: f64,
) {
    let (unit, name) = match longest {
        longest if longest < 1e6 => (1e3, "µs"),
        longest if longest < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let ticks = scale.ticks((room / 90.0).clamp(2.0, 6.0) as u32);
    for &tick in &ticks {
        let x = scale.place(tick) * room;
        canvas.line("hk-g", (x, top + LABEL - 3.0), (x, bottom - 4.0));
    }
    let label = |&tick: &f64| {
        let text = format!("{} {name}", number::exact(tick / unit, 3));
        (scale.place(tick) * room, text)
    };
    for (x, text) in labels_within(ticks.iter().map(label).collect(), width) {
        canvas.centered((x, bottom + 11.0), width, "hk-m", &text);
    }
}

fn draw(canvas: &mut Canvas, bar: &ShareBar, per_nano: f64, y: f64) {
    let total = bar.total();
    let mut x = 0.0;
    for part in &bar.parts {
        let wide = part.nanos * per_nano;
        canvas.rect(part.paint, (x, y), (wide.max(0.4), THICK), false);
        let share = format!("{}%", number::percent(part.nanos / total));
        let named = format!("{} {share}", part.name);
        let middle = (x + wide / 2.0, y + THICK / 2.0 + 4.0);
        let text = [named, share]
            .into_iter()
            .find(|text| width_of(text) * 1.1 + 6.0 < wide);
        if let Some(text) = text {
            canvas.text(middle, Anchor::Middle, "hk-o", &text);
        }
        x += wide;
    }
}
