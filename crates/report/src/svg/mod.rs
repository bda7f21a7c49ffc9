//! Charts as SVG documents, each readable on its own, in light and dark themes, and by screen readers.
//!
//! A chart is laid out for a width in pixels instead of being scaled, so that its text keeps its size on a phone.
//! Colors are plain class rules with a `prefers-color-scheme` block, because programs other than browsers render
//! variables and `light-dark()` as black. Series differ by color, dash pattern and marker.

mod area;
mod bars;
mod canvas;
mod latency;
mod legend;
mod paint;
mod path;
mod png;
mod scale;
mod style;
mod timeline;

pub(crate) use bars::{Bar, BarGroup, Bars, bars};
pub(crate) use latency::{LatencyChart, LatencyLine, latency};
pub(crate) use paint::{PAINT_CSS, PATTERNS, Paint};
pub(crate) use path::*;
pub(crate) use style::CSS;
pub(crate) use timeline::{Band, Timeline, TimelineLine, TimelineMark, timeline};

/// Properties of a chart other than its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Prefix of the IDs in the document, unique on its page. Only letters, digits and `-` are used.
    pub(crate) id: String,
    /// Title of the chart.
    pub(crate) title: String,
    /// Text alternative for screen readers.
    pub(crate) description: String,
    /// Layout width in pixels; at least 280.
    pub(crate) width: u32,
    /// Whether the document is standalone, with its own style rules, a visible title, and a margin. Otherwise the
    /// page must contain [`CSS`] once.
    pub(crate) alone: bool,
}

/// Margin of a standalone document in pixels.
const MARGIN: f64 = 16.0;
/// Height of its title in pixels.
const TITLE: f64 = 26.0;

impl Frame {
    /// Width available for the drawing.
    fn room(&self) -> f64 {
        let width = f64::from(self.width.clamp(280, 4000));
        if self.alone {
            width - 2.0 * MARGIN
        } else {
            width
        }
    }
}
