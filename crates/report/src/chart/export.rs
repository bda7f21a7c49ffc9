//! Charts as files: SVG in one theme or both, and their data as CSV.

use super::Chart;
use crate::escape;
use crate::svg::{Caption, ChartTheme, Frame};

/// Appearance of an exported chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartStyle {
    /// Width in pixels; at least 280.
    pub width: u32,
    /// Color theme.
    pub theme: ChartTheme,
    /// Title in place of the finding, which then begins the subtitle.
    pub title: Option<String>,
    /// Source line: number of runs, conditions and origin. See [`chart_source`](crate::chart_source).
    pub source: String,
}

impl Default for ChartStyle {
    fn default() -> ChartStyle {
        ChartStyle {
            width: 720,
            theme: ChartTheme::Light,
            title: None,
            source: String::new(),
        }
    }
}

impl Chart {
    /// The chart as a standalone SVG document in the light theme, `width` pixels wide.
    pub fn svg(&self, width: u32) -> String {
        self.svg_with(&ChartStyle {
            width,
            ..ChartStyle::default()
        })
    }

    /// The chart as a standalone SVG document.
    pub fn svg_with(&self, style: &ChartStyle) -> String {
        let (title, subtitle) = match &style.title {
            Some(title) => (
                escape::plain(title),
                format!("{}. {}", self.title, self.note),
            ),
            None => (self.title.clone(), self.note.clone()),
        };
        self.draw(&Frame {
            id: self.name.clone(),
            title,
            description: self.description(),
            width: style.width,
            alone: Some(Caption {
                subtitle,
                source: style.source.clone(),
                theme: style.theme,
            }),
        })
    }

    /// The data of the chart as CSV with a header line.
    pub fn csv(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| escape::csv(cell)).collect();
            cells.join(",") + "\n"
        };
        std::iter::once(&self.table.head)
            .chain(&self.table.rows)
            .map(line)
            .collect()
    }
}
