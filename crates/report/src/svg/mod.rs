//! Charts as SVG documents: each one readable by itself, in light and in dark, by people and by screen readers.
//!
//! A chart is laid out for a width in pixels and not merely scaled to it, so that its letters keep their size on a
//! phone. Colours come from plain class rules with a `prefers-color-scheme` block: variables and `light-dark()` turn
//! black in other programs than browsers. Series differ by colour, dashes and markers alike.

mod bars;
mod canvas;
mod latency;
mod legend;
mod scale;
mod style;
mod timeline;

pub use bars::{Bar, BarGroup, Bars, bars};
pub use latency::{LatencyChart, LatencyLine, latency};
pub use style::CSS;
pub use timeline::{Band, Timeline, TimelineLine, TimelineMark, timeline};

/// What every chart has around its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Unique on its page; ids in the document begin with it. Only letters, digits and `-` are kept of it.
    pub id: String,
    /// What the chart shows, in a few words.
    pub title: String,
    /// The same in sentences, for those who do not see it.
    pub description: String,
    /// Width in pixels it is laid out for; 280 at least.
    pub width: u32,
    /// Whether the document stands alone: with its own style rules, its title in sight, and a margin. Otherwise the
    /// page around it has to hold [`CSS`] once.
    pub alone: bool,
}

/// Around a document that stands alone.
const MARGIN: f64 = 16.0;
/// Height of its title.
const TITLE: f64 = 26.0;

impl Frame {
    /// The width that the drawing has.
    fn room(&self) -> f64 {
        let width = f64::from(self.width.clamp(280, 4000));
        if self.alone {
            width - 2.0 * MARGIN
        } else {
            width
        }
    }
}
