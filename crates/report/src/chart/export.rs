//! Charts as files: SVG in one theme or both, and their data as CSV.

use super::{Chart, Plot, heat};
use crate::escape;
use crate::number;
use crate::svg::{Bar, Bars, Caption, ChartTheme, Frame};
use crate::table::{self, DataTable};
use std::borrow::Cow;

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
        // Plots whose table has text in its cells, or fewer rows than there is data, have a table for programs.
        let table = match &self.plot {
            Plot::Bars(bars) => Cow::Owned(bars_table(bars)),
            Plot::Heat(map) => Cow::Owned(heat::cells(map)),
            _ => Cow::Borrowed(&self.table),
        };
        std::iter::once(&table.head)
            .chain(&table.rows)
            .map(line)
            .collect()
    }
}

/// Decimal places of figures for programs.
const PLACES: usize = 6;

/// One row for each bar, one column for each of its figures; unknown figures are empty. Rated speeds have a column if
/// there are any.
fn bars_table(bars: &Bars) -> DataTable {
    let number = |value: f64| number::exact(value, PLACES);
    let mut all = bars
        .groups
        .iter()
        .flat_map(|group| group.bars.iter().flatten());
    let has_rated = all.any(|bar| bar.rated.is_some());
    let figures = |series: &String, bar: &Bar| {
        let known = [
            series.clone(),
            bars.unit.clone(),
            number(bar.value),
            bar.deviation.map_or(String::new(), number),
            bar.n.map_or(String::new(), |n| n.to_string()),
            bar.letters.clone(),
        ];
        let rated = bar.rated.map_or(String::new(), number);
        known.into_iter().chain(has_rated.then_some(rated))
    };
    let rows = bars.groups.iter().flat_map(|group| {
        let measured = bars.series.iter().zip(&group.bars);
        let measured = measured.filter_map(|(series, bar)| Some((series, bar.as_ref()?)));
        measured.map(|(series, bar)| table::row(&group.label, figures(series, bar)))
    });
    let head = [
        "name",
        "series",
        "unit",
        "mean",
        "deviation",
        "n",
        "letters",
    ];
    DataTable::new(head.into_iter().chain(has_rated.then_some("rated")), rows)
}
