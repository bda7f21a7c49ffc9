//! Selects the charts of a set of series, with the data of each.

mod latency;
mod of_runs;
mod over_time;

pub(crate) use latency::latencies;
pub use of_runs::charts;
pub(crate) use over_time::over_time;

use crate::number::MeanText;
use crate::strips::AddressStrips;
use crate::svg::{
    self, AddressPlot, Bar, BarGroup, Bars, DepthPlot, Differences, FlowPicture, Frame,
    LatencyChart, Shares, SizeBars, Timeline,
};
use crate::table::{self, DataTable};
use hakaru_model::finding::{Estimate, HeadlineRate, PhaseSummary};

/// Generates the sections of a report, with titles and order, from one table.
macro_rules! sections {
    ($($(#[$doc:meta])* $section:ident $title:literal,)*) => {
        /// The section of a report to which a chart belongs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Section {
            $($(#[$doc])* $section,)*
        }

        impl Section {
            /// All sections in display order. Reports iterate over them and omit empty ones.
            pub const ALL: &'static [Section] = &[$(Section::$section),*];

            /// Heading of the section.
            pub fn title(self) -> &'static str {
                match self {
                    $(Section::$section => $title,)*
                }
            }
        }
    };
}

sections! {
    #[doc = "Bandwidth and IOPS."]
    Speed "Speed",
    #[doc = "Bytes of the device per byte of the application."]
    Amplification "I/O amplification",
    #[doc = "Latency by percentile."]
    Latency "Latency",
    #[doc = "Bandwidth over time of writes that are long enough to judge how steady they were."]
    Sustained "Sustained speed",
    #[doc = "Bandwidth over time of everything else."]
    OverTime "Speed over time",
    #[doc = "Speed along the device."]
    Map "Speed along the device",
    #[doc = "What the I/Os of traced runs became at the device."]
    Path "Path of an I/O",
}

/// A chart of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// File name without extension, unique in the report: letters, digits and `-`.
    pub name: String,
    /// Section of the chart.
    pub section: Section,
    /// Title.
    pub(crate) title: String,
    /// Explanation for the reader.
    pub(crate) note: String,
    /// The plot.
    pub(crate) plot: Plot,
    /// The data as a table.
    pub(crate) table: DataTable,
}

/// Kinds of plots.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plot {
    /// See [`svg::bars`].
    Bars(Bars),
    /// See [`svg::latency`].
    Latency(LatencyChart),
    /// See [`svg::timeline`].
    Timeline(Timeline),
    /// A timeline along the addresses of a device, and its form as strips of characters.
    Along(Timeline, AddressStrips),
    /// See [`svg::flow`].
    Flow(FlowPicture),
    /// See [`svg::shares`].
    Shares(Shares),
    /// See [`svg::addresses`].
    Addresses(AddressPlot),
    /// See [`svg::depth`].
    Depth(DepthPlot),
    /// See [`svg::sizes`].
    Sizes(SizeBars),
    /// See [`svg::differences`].
    Differences(Differences),
}

impl Chart {
    /// The chart as a standalone SVG document, `width` pixels wide, for saving or for an article.
    pub fn svg(&self, width: u32) -> String {
        self.draw(width, self.name.clone(), true)
    }

    /// The chart for a page that contains [`svg::CSS`] once; `variant` makes its IDs unique among several copies.
    pub(crate) fn inline(&self, width: u32, variant: &str) -> String {
        self.draw(width, format!("{}-{variant}", self.name), false)
    }

    fn draw(&self, width: u32, id: String, alone: bool) -> String {
        let frame = Frame {
            id,
            title: self.title.clone(),
            description: self.description(),
            width,
            alone,
        };
        match &self.plot {
            Plot::Bars(bars) => svg::bars(bars, &frame),
            Plot::Latency(latencies) => svg::latency(latencies, &frame),
            Plot::Timeline(timeline) | Plot::Along(timeline, _) => svg::timeline(timeline, &frame),
            Plot::Flow(data) => svg::flow(data, &frame),
            Plot::Shares(data) => svg::shares(data, &frame),
            Plot::Addresses(data) => svg::addresses(data, &frame),
            Plot::Depth(data) => svg::depth(data, &frame),
            Plot::Sizes(data) => svg::sizes(data, &frame),
            Plot::Differences(data) => svg::differences(data, &frame),
        }
    }

    /// Whether the plot has fills that need [`svg::PATTERNS`].
    pub(crate) fn is_painted(&self) -> bool {
        match self.plot {
            Plot::Bars(_) | Plot::Latency(_) | Plot::Timeline(_) | Plot::Along(..) => false,
            Plot::Flow(_)
            | Plot::Shares(_)
            | Plot::Addresses(_)
            | Plot::Depth(_)
            | Plot::Sizes(_)
            | Plot::Differences(_) => true,
        }
    }

    /// The note and, for short tables, their content.
    fn description(&self) -> String {
        let rows: Vec<String> = match self.table.rows.len() {
            0..=16 => self.table.rows.iter().map(|row| row.join(", ")).collect(),
            _ => Vec::new(),
        };
        [vec![self.note.clone()], rows].concat().join("; ")
    }
}

/// Whether the main figure of a phase is its IOPS.
pub(crate) fn by_iops(phase: &PhaseSummary) -> bool {
    phase.detail.headline == HeadlineRate::Iops
}

/// Makes chart names unique: some differ only in characters that file names cannot contain.
pub(crate) fn number_doubles(charts: &mut [Chart]) {
    for i in 0..charts.len() {
        let base = charts[i].name.clone();
        let mut nth = 1;
        while charts[..i].iter().any(|other| other.name == charts[i].name) {
            nth += 1;
            charts[i].name = format!("{base}-{nth}");
        }
    }
}

/// Converts a title to a file name: `Rand write (4k)` → `rand-write-4k`.
pub(crate) fn slug(text: &str) -> String {
    let dashed: String = text
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .collect();
    let parts: Vec<&str> = dashed
        .split('-')
        .filter(|part| !part.is_empty())
        .take(12)
        .collect();
    parts.join("-").chars().take(60).collect()
}

/// Explanation of bars with error bars.
pub(crate) const SPREAD_NOTE: &str =
    "Mean of the runs; the thin line spans one standard deviation either way.";

/// A bar of a mean with its deviation.
pub(crate) fn bar(estimate: &Estimate, scale: f64) -> Bar {
    Bar {
        value: estimate.mean / scale,
        deviation: estimate.deviation.map(|d| d / scale),
        text: MeanText::of(estimate, scale).to_string(),
    }
}

/// Parameters of a bar chart.
pub(crate) struct BarChart {
    pub(crate) name: String,
    pub(crate) section: Section,
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    pub(crate) note: &'static str,
    /// Table heading of the groups.
    pub(crate) rows: &'static str,
}

impl BarChart {
    /// Builds the chart of these groups, each with one bar for each series.
    pub(crate) fn of(self, series: Vec<String>, groups: Vec<BarGroup>) -> Chart {
        let text =
            |bar: &Option<Bar>| bar.as_ref().map_or("–".to_owned(), |bar| bar.text.clone());
        let rows = groups
            .iter()
            .map(|group| table::row(&group.label, group.bars.iter().map(text)));
        let column = |name: &String| match series.len() {
            1 => self.unit.to_owned(),
            _ => format!("{name}, {}", self.unit),
        };
        let head = table::row(self.rows, series.iter().map(column));
        let table = DataTable::new(head, rows);
        Chart {
            name: self.name,
            section: self.section,
            title: self.title,
            note: self.note.to_owned(),
            plot: Plot::Bars(Bars {
                unit: self.unit.to_owned(),
                series,
                groups,
            }),
            table,
        }
    }
}
