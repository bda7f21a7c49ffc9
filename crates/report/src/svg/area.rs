//! The plot area of a line chart.

use super::canvas::{Anchor, Canvas, width_of};
use super::scale::Scale;

/// The area between the axes, with the scales of both.
pub(super) struct PlotArea {
    pub(super) x_scale: Scale,
    y_scale: Scale,
    /// Values on the vertical axis with their labels.
    labels: Vec<(f64, String)>,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl PlotArea {
    /// An area that ends at `right` and leaves room for the labels of the vertical axis on the left.
    pub(super) fn new(
        (x_scale, y_scale): (Scale, Scale),
        labels: Vec<(f64, String)>,
        (right, top): (f64, f64),
        height: f64,
    ) -> PlotArea {
        let widths = labels.iter().map(|(_, text)| width_of(text));
        PlotArea {
            x_scale,
            y_scale,
            left: widths.fold(0.0, f64::max) + 10.0,
            labels,
            right,
            top,
            bottom: top + height,
        }
    }

    pub(super) fn x(&self, value: f64) -> f64 {
        self.left + self.x_scale.place(value) * (self.right - self.left)
    }

    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom - self.y_scale.place(value) * (self.bottom - self.top)
    }

    /// Draws the horizontal lines with their labels.
    pub(super) fn grid(&self, canvas: &mut Canvas) {
        for y in self.labels.iter().map(|(value, _)| self.y(*value)) {
            canvas.line("hk-g", (self.left, y), (self.right, y));
        }
        for (value, text) in &self.labels {
            let y = self.y(*value);
            canvas.text((self.left - 6.0, y + 4.0), Anchor::End, "hk-m", text);
        }
    }

    /// Draws the horizontal axis.
    pub(super) fn base_line(&self, canvas: &mut Canvas) {
        let (left, right, bottom) = (self.left, self.right, self.bottom);
        canvas.line("hk-a", (left, bottom), (right, bottom));
    }
}
