//! Sizes of the application's I/Os and of the requests that reached the device, one above the other.

use super::super::Frame;
use super::super::canvas::{Anchor, Canvas, fitted, px, width_of};
use super::super::paint::Paint;
use super::super::scale::{Scale, labels_within};
use crate::number;

/// Data of the chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SizeBars {
    /// Sizes, smallest first.
    pub(crate) rows: Vec<SizeRow>,
}

/// Counts of one size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SizeRow {
    /// `4 KiB`
    pub(crate) label: String,
    /// I/Os of the application.
    pub(crate) asked: u64,
    /// Requests at the device.
    pub(crate) reached: u64,
}

/// Height of a row in pixels.
const PITCH: f64 = 36.0;
/// Height of a bar in pixels.
const THICK: f64 = 12.0;

/// Draws the chart.
pub(crate) fn sizes(data: &SizeBars, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    // The labels are bold, and therefore wider.
    let labels = data.rows.iter().map(|row| width_of(&row.label) * 1.15);
    let left = labels.fold(0.0, f64::max).min(width * 0.4) + 10.0;
    let counts = || data.rows.iter().flat_map(|row| [row.asked, row.reached]);
    let most = counts().max().unwrap_or(0);
    let room = width - left - width_of(&number::grouped(most)) - 10.0;
    let scale = Scale::from_zero(most as f64);
    let bottom = data.rows.len() as f64 * PITCH;
    let ticks = scale.ticks((room / 80.0).clamp(2.0, 6.0) as u32);
    for &tick in &ticks {
        let x = left + scale.place(tick) * room;
        canvas.line("hk-g", (x, 0.0), (x, bottom));
    }
    canvas.line("hk-a", (left, 0.0), (left, bottom));
    let axis = |&tick: &f64| {
        let text = number::grouped(tick as u64);
        (left + scale.place(tick) * room, text)
    };
    for (x, text) in labels_within(ticks.iter().map(axis).collect(), width) {
        canvas.centered((x, bottom + 15.0), width, "hk-m", &text);
    }
    for (i, row) in data.rows.iter().enumerate() {
        let y = i as f64 * PITCH + 4.0;
        let label = fitted(&row.label, left - 8.0);
        canvas.text((left - 8.0, y + 17.0), Anchor::End, "hk-t hk-b", &label);
        let end = |count: u64| left + scale.place(count as f64) * room;
        let outline = format!(
            "M{} {}H{}v{THICK}H{}z",
            px(left),
            px(y),
            px(end(row.asked)),
            px(left)
        );
        canvas.path("hk-e", &outline, "");
        let place = (left, y + THICK + 2.0);
        let size = (end(row.reached) - left, THICK);
        canvas.rect(Paint::Solid, place, size, false);
        for (count, y) in [(row.asked, y), (row.reached, y + THICK + 2.0)] {
            let place = (end(count) + 5.0, y + 10.5);
            canvas.text(place, Anchor::Start, "hk-t", &number::grouped(count));
        }
    }
    canvas.finish(frame, bottom + 22.0)
}
