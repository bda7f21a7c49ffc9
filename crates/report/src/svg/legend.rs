//! The legend: a sample of each series.

use super::canvas::{Anchor, Canvas, fitted, width_of};
use super::paint::Paint;
use super::style;

/// Height of a row in pixels.
const ROW: f64 = 20.0;
/// Width of the sample before a name in pixels.
const SAMPLE: f64 = 34.0;

/// Symbol of a series in the legend.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LegendSymbol {
    /// A segment of its line with a marker.
    MarkedLine,
    /// A segment of its line, for charts whose lines have no markers.
    Line,
    /// A rectangle with its fill.
    Fill,
}

/// Draws the names from the top, with as many in a row as fit, and returns the height used. A single name has no
/// legend.
pub(super) fn draw(
    canvas: &mut Canvas,
    width: f64,
    names: &[(usize, &str)],
    sample: LegendSymbol,
) -> f64 {
    if names.len() < 2 {
        return 0.0;
    }
    let lead = match sample {
        LegendSymbol::MarkedLine | LegendSymbol::Line => SAMPLE,
        LegendSymbol::Fill => 30.0,
    };
    let (mut x, mut row) = (0.0, 0.0);
    for &(series, name) in names {
        let name = fitted(name, width - lead - 4.0);
        let wide = lead + width_of(&name) + 14.0;
        if x > 0.0 && x + wide - 14.0 > width {
            x = 0.0;
            row += 1.0;
        }
        let y = row * ROW + 10.0;
        if sample == LegendSymbol::Fill {
            let paint = Paint::of_series(series);
            canvas.bar(paint, (x + 1.0, y - 5.0), (22.0, 10.0), "");
        } else {
            canvas.polyline(&style::line(series), &[(x + 1.0, y), (x + 27.0, y)]);
        }
        if sample == LegendSymbol::MarkedLine {
            let marker = style::marker(series, x + 14.0, y);
            canvas.path(&style::fill(series), &marker, "");
        }
        canvas.text((x + lead, y + 4.0), Anchor::Start, "hk-t", &name);
        x += wide;
    }
    (row + 1.0) * ROW + 6.0
}
