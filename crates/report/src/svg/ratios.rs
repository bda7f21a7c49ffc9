//! Ratios with their intervals: one row for each figure, a line at 1, and a ring instead of a dot where no difference is
//! shown.

use super::Frame;
use super::canvas::{Anchor, BOLD, Canvas, LARGE, fitted, px, width_of};
use super::scale::{Scale, labels_within};
use crate::number;

/// Data of a ratio chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RatioPlot {
    /// Rows, from the top.
    pub(crate) rows: Vec<RatioRow>,
}

/// A ratio.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RatioRow {
    /// Compared figure.
    pub(crate) label: String,
    /// Ratio; 1 means no difference.
    pub(crate) ratio: f64,
    /// 95% interval of the ratio, if known.
    pub(crate) interval: Option<(f64, f64)>,
    /// Whether a difference is shown.
    pub(crate) differs: bool,
    /// The verdict in words, in the table of the chart.
    pub(crate) verdict: String,
    /// The ratio as text, at the end of the row.
    pub(crate) text: String,
}

/// Height of a row in pixels.
const PITCH: f64 = 26.0;
/// Ratios further apart than this have a logarithmic axis.
const LINEAR_SPAN: f64 = 8.0;

/// Draws a ratio chart.
pub(crate) fn ratios(data: &RatioPlot, frame: &Frame) -> String {
    let width = frame.room();
    let mut canvas = Canvas::new();
    let beside = width >= 480.0;
    let pitch = if beside { PITCH } else { PITCH + 17.0 };
    let widest = |of: &dyn Fn(&RatioRow) -> f64| data.rows.iter().map(of).fold(0.0, f64::max);
    let name = widest(&|row| width_of(&row.label) * LARGE * BOLD).min(width * 0.4);
    let text = widest(&|row| width_of(&row.text) * LARGE * BOLD).min(width * 0.4);
    let left = if beside { name + 16.0 } else { 8.0 };
    let right = (width - text - 16.0).max(left + 60.0);
    let scale = scale_of(&data.rows);
    let at = |ratio: f64| left + scale.place(ratio) * (right - left);
    let bottom = data.rows.len() as f64 * pitch + 6.0;
    let wanted = ((right - left) / 80.0).clamp(2.0, 5.0) as u32;
    let ticks: Vec<f64> = scale.ticks(wanted);
    let grid = |canvas: &mut Canvas, top: f64, bottom: f64| {
        for x in ticks.iter().map(|&tick| at(tick)) {
            canvas.line("hk-g", (x, top), (x, bottom));
        }
        canvas.line("hk-c", (at(1.0), top), (at(1.0), bottom));
    };
    if beside {
        grid(&mut canvas, 0.0, data.rows.len() as f64 * pitch);
    }
    for (nth, row) in data.rows.iter().enumerate() {
        let top = nth as f64 * pitch;
        let middle = top + pitch - PITCH / 2.0;
        if !beside {
            // The lines do not cross the labels.
            grid(&mut canvas, middle - PITCH / 2.0 + 4.0, top + pitch);
            let label = fitted(&row.label, width / LARGE / BOLD);
            canvas.text((0.0, middle - 12.0), Anchor::Start, "hk-t hk-name", &label);
        }
        if beside {
            let label = fitted(&row.label, name / LARGE / BOLD);
            let place = (left - 10.0, middle + 4.5);
            canvas.text(place, Anchor::End, "hk-t hk-name", &label);
        }
        draw_row(&mut canvas, row, (&at, middle));
        let shown = fitted(&row.text, (width - right - 10.0) / LARGE / BOLD);
        canvas.text(
            (width - 2.0, middle + 4.5),
            Anchor::End,
            "hk-t hk-name",
            &shown,
        );
    }
    let labels = ticks
        .iter()
        .map(|&t| (at(t), format!("{}×", number::exact(t, 3))));
    for (x, label) in labels_within(labels.collect(), width) {
        canvas.centered((x, bottom + 14.0), width, "hk-m", &label);
    }
    canvas.finish(frame, bottom + 22.0)
}

fn draw_row(canvas: &mut Canvas, row: &RatioRow, (at, y): (&dyn Fn(f64) -> f64, f64)) {
    if let Some((low, high)) = row.interval {
        let [low, high, middle] = [at(low), at(high), y].map(px);
        let d = format!("M{low} {middle}H{high}");
        canvas.path("hk-h", &d, "");
        canvas.path("hk-w", &d, "");
    }
    if row.ratio.is_finite() {
        let d = format!(
            "M{} {}a4.5 4.5 0 1 1 .01 0z",
            px(at(row.ratio)),
            px(y + 4.5)
        );
        let class = if row.differs { "hk-f0" } else { "hk-ring" };
        canvas.path(class, &d, &format!("{}: {}", row.label, row.text));
    }
}

/// A scale that contains all ratios, their intervals and 1.
fn scale_of(rows: &[RatioRow]) -> Scale {
    let ends = |row: &RatioRow| {
        let (low, high) = row.interval.unwrap_or((row.ratio, row.ratio));
        [low, high, row.ratio]
    };
    let values = rows
        .iter()
        .flat_map(ends)
        .filter(|v| (0.0..1e6).contains(v));
    let (low, high) = values.fold((1.0, 1.0), |(low, high): (f64, f64), v| {
        (low.min(v), high.max(v))
    });
    match high > LINEAR_SPAN && low > 0.0 {
        true => Scale::log_around(low, high),
        false => Scale::Linear {
            min: 0.0,
            max: high * 1.04,
        },
    }
}
