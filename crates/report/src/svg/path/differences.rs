//! A difference of times as the sum of its parts, from one line at zero.

use super::super::Frame;
use super::super::canvas::{Anchor, Canvas, fitted, px, width_of};
use super::super::paint::Paint;

/// Data of the chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Differences {
    /// Parts with their fill, nanoseconds and label; the last one is the sum.
    pub(crate) rows: Vec<(Paint, String, f64, String)>,
}

/// Height of a row in pixels.
const PITCH: f64 = 26.0;

/// Draws the chart.
pub(crate) fn differences(data: &Differences, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let beside = width >= 460.0;
    let names = data.rows.iter().map(|row| width_of(&row.1));
    let names = match beside {
        true => names.fold(0.0, f64::max).min(width * 0.46) + 10.0,
        false => 2.0,
    };
    let figures = data.rows.iter().map(|row| width_of(&row.3));
    let figures = figures.fold(0.0, f64::max) + 8.0;
    let values = || data.rows.iter().map(|row| row.2);
    let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    let span = (high - low).max(1e-9);
    let room = width - names - figures;
    let x = |value: f64| names + (value - low) / span * room;
    let pitch = if beside { PITCH } else { PITCH + 18.0 };
    let count = data.rows.len();
    let bottom = count as f64 * pitch + 6.0;
    for (i, (paint, name, value, text)) in data.rows.iter().enumerate() {
        let sum = i + 1 == count;
        let mut y = i as f64 * pitch + if sum { 6.0 } else { 0.0 };
        if sum {
            canvas.line("hk-a", (0.0, y - 1.0), (width, y - 1.0));
        }
        let weight = if sum { "hk-t hk-b" } else { "hk-t" };
        match beside {
            true => canvas.text(
                (names - 10.0, y + 17.0),
                Anchor::End,
                weight,
                &fitted(name, names - 10.0),
            ),
            false => {
                canvas.text((0.0, y + 14.0), Anchor::Start, weight, &fitted(name, width));
                y += 17.0;
            }
        }
        let (from, to) = (x(value.min(0.0)), x(value.max(0.0)));
        match sum {
            true => {
                let (low, high) = (px(y + 5.0), px(y + 20.0));
                let d = format!("M{} {low}H{}V{high}H{}z", px(from), px(to), px(from));
                canvas.path("hk-e", &d, "");
            }
            false => canvas.rect(*paint, (from, y + 5.0), ((to - from).max(0.5), 15.0), false),
        }
        canvas.text((width, y + 17.0), Anchor::End, weight, text);
    }
    canvas.line("hk-a", (x(0.0), 0.0), (x(0.0), bottom));
    canvas.finish(frame, bottom + 4.0)
}
