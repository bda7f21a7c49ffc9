//! Selects the charts of a set of series, with the data of each.

mod export;
mod heat;
mod latency;
mod of_runs;
mod over_time;
mod saturation;
mod source;
mod spread;
mod sweep;
mod time_axis;
mod title;

pub use export::ChartStyle;
pub(crate) use heat::heat_map;
pub(crate) use latency::latencies;
pub use of_runs::{charts, comparison_charts};
pub(crate) use over_time::{over_time, over_time_name};
pub(crate) use saturation::saturation;
pub use source::chart_source;
pub(crate) use source::source_of;
pub(crate) use sweep::{SweepItem, charts as sweep_charts};
pub(crate) use title::{BarMarks, ChartTitle, SweepAxis};

use crate::number::{self, MeanText};
use crate::strips::AddressStrips;
use crate::svg::{
    self, AddressPlot, Bar, BarGroup, Bars, CardPicture, DepthPlot, Differences, FlowPicture,
    Frame, LatencyChart, MOST_DOTS, RatioPlot, RatioRow, Shares, SizeBars, SweepPlot, Timeline,
    between_extremes, number_drawn,
};
use crate::table::{self, DataTable};
use crate::text;
use hakaru_model::finding::{
    Comparison, Estimate, HeadlineRate, LatencyMap, PhaseSummary, Verdict,
};

/// Generates the sections of a report, with titles and order, from one table.
macro_rules! sections {
    ($($(#[$doc:meta])* $section:ident,)*) => {
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
                    $(Section::$section => text::SectionLabel::$section.text(),)*
                }
            }
        }
    };
}

sections! {
    #[doc = "Bandwidth and IOPS."]
    Speed,
    #[doc = "What a layer leaves of the speed of another."]
    LayerCost,
    #[doc = "Bytes of the device per byte of the application."]
    Amplification,
    #[doc = "Latency by percentile."]
    Latency,
    #[doc = "Bandwidth over time of writes that are long enough to judge how steady they were."]
    Sustained,
    #[doc = "Bandwidth over time of everything else."]
    OverTime,
    #[doc = "Speed along the device."]
    Map,
    #[doc = "Rated speeds; pages have them among the claims."]
    Claims,
    #[doc = "What the I/Os of traced runs became at the device."]
    Path,
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
    /// See [`svg::heat`].
    Heat(LatencyMap),
    /// See [`svg::sweep`].
    Sweep(SweepPlot),
    /// See [`svg::ratios`].
    Ratios(RatioPlot),
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
    /// See [`svg::card_picture`].
    Card(CardPicture),
}

impl Chart {
    /// The chart for a page that contains [`svg::CSS`] once, and the note as the caption of the figure.
    pub(crate) fn inline(&self, width: u32) -> String {
        self.drawn(width, self.values().join("; "))
    }

    /// The chart beside its table, which has the values for screen readers.
    pub(crate) fn inline_without_values(&self, width: u32) -> String {
        self.drawn(width, String::new())
    }

    fn drawn(&self, width: u32, description: String) -> String {
        self.draw(&Frame {
            id: self.name.clone(),
            title: self.title.clone(),
            description,
            width,
            alone: None,
        })
    }

    fn draw(&self, frame: &Frame) -> String {
        match &self.plot {
            Plot::Bars(bars) => svg::bars(bars, frame),
            Plot::Latency(latencies) => svg::latency(latencies, frame),
            Plot::Heat(data) => svg::heat(data, frame),
            Plot::Sweep(data) => svg::sweep(data, frame),
            Plot::Ratios(data) => svg::ratios(data, frame),
            Plot::Timeline(timeline) | Plot::Along(timeline, _) => svg::timeline(timeline, frame),
            Plot::Flow(data) => svg::flow(data, frame),
            Plot::Shares(data) => svg::shares(data, frame),
            Plot::Addresses(data) => svg::addresses(data, frame),
            Plot::Depth(data) => svg::depth(data, frame),
            Plot::Sizes(data) => svg::sizes(data, frame),
            Plot::Differences(data) => svg::differences(data, frame),
            Plot::Card(data) => svg::card_picture(data, frame),
        }
    }

    /// Whether it is a heat map of latency over time.
    pub(crate) fn is_heat_map(&self) -> bool {
        matches!(self.plot, Plot::Heat(_))
    }

    /// Whether it is a heat map with I/Os that took much longer than the others.
    pub(crate) fn shows_slow_ios(&self) -> bool {
        matches!(&self.plot, Plot::Heat(map) if map.slow.is_some())
    }

    /// Whether the plot has fills that need [`svg::PATTERNS`].
    pub(crate) fn is_painted(&self) -> bool {
        match self.plot {
            Plot::Latency(_)
            | Plot::Heat(_)
            | Plot::Sweep(_)
            | Plot::Ratios(_)
            | Plot::Timeline(_)
            | Plot::Along(..) => false,
            Plot::Bars(_)
            | Plot::Flow(_)
            | Plot::Shares(_)
            | Plot::Addresses(_)
            | Plot::Depth(_)
            | Plot::Sizes(_)
            | Plot::Differences(_)
            | Plot::Card(_) => true,
        }
    }

    /// The note and, for short tables, their content.
    fn description(&self) -> String {
        [vec![self.note.clone()], self.values()].concat().join("; ")
    }

    /// The rows of the table, if it is short enough for a screen reader.
    fn values(&self) -> Vec<String> {
        let rows = &self.table.rows;
        match rows.iter().map(Vec::len).sum() {
            0..=MOST_SPOKEN => rows.iter().map(|row| row.join(", ")).collect(),
            _ => Vec::new(),
        }
    }
}

/// Maximum number of cells in the description of a chart.
const MOST_SPOKEN: usize = 48;

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

/// A bar of a mean of `n` runs (0 if unknown) with its deviation and its single runs.
pub(crate) fn bar(estimate: &Estimate, scale: f64, n: u64) -> Bar {
    let text = MeanText::of(estimate, scale);
    let runs = estimate.values.iter().map(|value| value / scale);
    Bar {
        value: estimate.mean / scale,
        deviation: estimate.deviation.map(|d| d / scale),
        runs: runs.filter(|_| estimate.values.len() > 1).collect(),
        n: (n > 0).then_some(n),
        mean: text.mean,
        spread: text.deviation.unwrap_or_default(),
        rated: None,
        range: None,
        letters: String::new(),
    }
}

/// Number of runs behind a phase.
pub(crate) fn runs_of(phase: &PhaseSummary) -> u64 {
    match phase.bandwidth.values.len() {
        0 => phase.detail.stated_runs.map_or(0, u64::from),
        n => n as u64,
    }
}

/// Fewest and most runs of several phases, as text.
pub(crate) fn runs_text<'a>(phases: impl Iterator<Item = &'a PhaseSummary>) -> String {
    let runs: Vec<u64> = phases.map(runs_of).filter(|runs| *runs > 0).collect();
    let (least, most) = (runs.iter().min(), runs.iter().max());
    text::runs_between(*least.unwrap_or(&0), *most.unwrap_or(&0))
}

/// Parameters of a bar chart.
pub(crate) struct BarChart {
    pub(crate) name: String,
    pub(crate) section: Section,
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    /// Quantity and conditions; the subtitle begins with it.
    pub(crate) quantity: String,
    /// Number of runs behind each bar, as text.
    pub(crate) runs: String,
    /// Table heading of the groups.
    pub(crate) rows: &'static str,
}

impl BarChart {
    /// Builds the chart of these groups, each with one bar for each series; the largest group is first.
    pub(crate) fn of(self, series: Vec<String>, mut groups: Vec<BarGroup>) -> Chart {
        let first = |group: &BarGroup| {
            let found = group.bars.iter().flatten().next();
            found.map_or(f64::NEG_INFINITY, |bar| bar.value)
        };
        groups.sort_by(|a, b| first(b).total_cmp(&first(a)));
        let text = |bar: &Option<Bar>| bar.as_ref().map_or("–".to_owned(), Bar::text);
        let rows = groups
            .iter()
            .map(|group| table::row(&group.label, group.bars.iter().map(text)));
        let column = |name: &String| match series.len() {
            1 => self.unit.to_owned(),
            _ => text::enumerated(&[name.clone(), self.unit.to_owned()]),
        };
        let head = table::row(self.rows, series.iter().map(column));
        let table = DataTable::new(head, rows);
        let bars = || groups.iter().flat_map(|group| &group.bars).flatten();
        let marks = BarMarks {
            spread: bars().any(|bar| bar.deviation.is_some()),
            runs: bars().any(|bar| (2..=MOST_DOTS).contains(&bar.runs.len())),
            boxes: bars().any(|bar| bar.runs.len() > MOST_DOTS),
            letters: bars().any(|bar| !bar.letters.is_empty()),
            letters_by_color: series.len() > 1,
            rated: bars().any(|bar| bar.rated.is_some()),
        };
        let mut note = text::bars_note(&self.quantity, &self.runs, marks);
        if let Some(drawn) = number_drawn(&groups) {
            note += &text::extremes_drawn(drawn, groups.len());
        }
        Chart {
            name: self.name,
            section: self.section,
            title: self.title,
            note,
            plot: Plot::Bars(Bars {
                unit: self.unit.to_owned(),
                series,
                groups,
                missing: match marks.rated {
                    true => text::no_rated_speed(),
                    false => text::no_bar(),
                },
            }),
            table,
        }
    }
}

/// Parameters of a chart of ratios.
pub(crate) struct RatioChart {
    pub(crate) name: String,
    pub(crate) section: Section,
    pub(crate) title: String,
    pub(crate) note: String,
    /// Table heading of the rows.
    pub(crate) rows: &'static str,
}

impl RatioChart {
    /// Builds the chart; the largest ratio is first, and what has no ratio is last. `None` without rows.
    pub(crate) fn of(self, mut rows: Vec<RatioRow>) -> Option<Chart> {
        let rank = |row: &RatioRow| match row.ratio.is_nan() {
            true => f64::NEG_INFINITY,
            false => row.ratio,
        };
        rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        let cells = |row: &RatioRow| {
            let ends = row.interval.map(crate::compare::ratio_ends);
            let interval = ends.map_or("–".to_owned(), |(low, high)| text::span(&low, &high));
            let cells = [row.text.clone(), interval, row.verdict.clone()];
            table::row(&row.label, cells)
        };
        let head = [
            self.rows,
            text::Head::Ratio.text(),
            text::Head::Interval.text(),
            text::Head::Verdict.text(),
        ];
        let table = DataTable::new(head, rows.iter().map(cells)).nonempty()?;
        let mut note = self.note;
        if let Some(between) = between_extremes(rows.len()) {
            note += &text::extremes_drawn(rows.len() - between.len(), rows.len());
            let more = RatioRow {
                label: text::groups_between(between.len()),
                ratio: f64::NAN,
                ..RatioRow::default()
            };
            rows.splice(between, [more]);
        }
        Some(Chart {
            name: self.name,
            section: self.section,
            title: self.title,
            note,
            plot: Plot::Ratios(RatioPlot { rows }),
            table,
        })
    }
}

/// A row of a comparison.
pub(crate) fn ratio_row(label: &str, comparison: &Comparison) -> RatioRow {
    RatioRow {
        label: label.to_owned(),
        ratio: comparison.ratio,
        interval: comparison.ratio_ci95,
        differs: comparison.verdict == Verdict::Different,
        verdict: crate::compare::verdict(comparison),
        text: format!("{}×", number::significant(comparison.ratio)),
    }
}
