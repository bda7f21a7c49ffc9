//! Charts as SVG documents, each readable on its own, in light and dark themes, and by screen readers.
//!
//! A chart is laid out for a width in pixels instead of being scaled, so that its text keeps its size on a phone.
//! Colors are plain class rules with a `prefers-color-scheme` block, because programs other than browsers render
//! variables and `light-dark()` as black. Series differ by color and by dash pattern, marker or fill pattern.

mod anatomy;
mod area;
mod bars;
mod canvas;
mod card;
mod heat;
mod latency;
#[cfg(test)]
mod layout_tests;
mod legend;
mod paint;
mod path;
mod png;
mod ratios;
mod scale;
mod style;
mod sweep;
mod texts;
mod timeline;

pub(crate) use anatomy::{CardPicture, CardRow, CardShape, card_picture};
pub(crate) use bars::{Bar, BarGroup, Bars, MOST_DOTS, bars, between_extremes, number_drawn};
pub(crate) use card::rate_card;
pub(crate) use heat::heat;
pub(crate) use latency::{LatencyChart, LatencyLine, latency};
pub(crate) use paint::{PAINT_CSS, PATTERNS, Paint};
pub(crate) use path::*;
pub(crate) use png::{Raster, rgba_png};
pub(crate) use ratios::{RatioPlot, RatioRow, ratios};
pub(crate) use style::CSS;
pub(crate) use sweep::{SweepLine, SweepPlot, SweepPoint, WindowLines, sweep};
pub(crate) use texts::{TextElement, texts};
pub(crate) use timeline::{
    Band, LineWeight, SpeedLevel, Timeline, TimelineLine, TimelineMark, timeline,
};

/// Color theme of a standalone chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChartTheme {
    /// Dark text on white, for articles.
    #[default]
    Light,
    /// Light text on dark gray.
    Dark,
    /// The theme of the reader's system.
    Auto,
}

impl ChartTheme {
    /// The theme for a picture that has only one.
    pub(crate) fn fixed(self) -> ChartTheme {
        match self {
            ChartTheme::Light | ChartTheme::Auto => ChartTheme::Light,
            ChartTheme::Dark => ChartTheme::Dark,
        }
    }
}

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
    /// Text and theme of a standalone document, which has its own style rules, a visible title, and a margin. `None`
    /// for a chart of a page, which must contain [`CSS`] once.
    pub(crate) alone: Option<Caption>,
}

/// Text around the drawing of a standalone chart, and its theme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Caption {
    /// Quantity, unit, and what the marks mean; below the title.
    pub(crate) subtitle: String,
    /// Number of runs, conditions and origin; below the drawing.
    pub(crate) source: String,
    pub(crate) theme: ChartTheme,
}

/// Margin of a standalone document in pixels.
const MARGIN: f64 = 16.0;

impl Frame {
    /// Width available for the drawing.
    fn room(&self) -> f64 {
        let width = f64::from(self.width.clamp(280, 4000));
        match self.alone {
            Some(_) => width - 2.0 * MARGIN,
            None => width,
        }
    }
}
