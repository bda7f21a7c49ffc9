//! Which charts a set of series deserves, with the data behind each.

mod latency;
mod over_time;

pub(crate) use latency::latencies;
pub(crate) use over_time::over_time;

use crate::naming;
use crate::number::MeanText;
use crate::strips::AddressStrips;
use crate::svg::{self, Bar, BarGroup, Bars, Frame, LatencyChart, Timeline};
use crate::table::DataTable;
use hakaru_model::finding::{Estimate, HeadlineRate, PhaseSummary, Summary};

/// Makes the sections of a report, their titles and their order out of one table.
macro_rules! sections {
    ($($(#[$doc:meta])* $section:ident $title:literal,)*) => {
        /// Which part of a report a chart belongs to.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Section {
            $($(#[$doc])* $section,)*
        }

        impl Section {
            /// Every section, in the order of reading. Reports go through all of them and leave out those without charts.
            pub const ALL: &'static [Section] = &[$(Section::$section),*];

            /// Its heading.
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
}

/// One chart of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Unique within the report; letters, digits and `-`, fit for a file name.
    pub name: String,
    /// Where it belongs.
    pub section: Section,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// What is drawn.
    pub plot: Plot,
    /// The same as a table.
    pub table: DataTable,
}

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// See [`svg::bars`].
    Bars(Bars),
    /// See [`svg::latency`].
    Latency(LatencyChart),
    /// See [`svg::timeline`].
    Timeline(Timeline),
    /// A timeline along the addresses of a device, and the same as strips of characters.
    Along(Timeline, AddressStrips),
}

impl Chart {
    /// The chart as an SVG document of its own, `width` pixels wide, to be saved or put into an article.
    pub fn svg(&self, width: u32) -> String {
        self.draw(width, self.name.clone(), true)
    }

    /// The chart for a page that holds [`svg::CSS`] once; `variant` keeps its ids apart from those of its twins.
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
        }
    }

    /// The note, and of short tables their content.
    fn description(&self) -> String {
        let rows: Vec<String> = match self.table.rows.len() {
            0..=16 => self.table.rows.iter().map(|row| row.join(", ")).collect(),
            _ => Vec::new(),
        };
        [vec![self.note.clone()], rows].concat().join("; ")
    }
}

/// Whether a phase is quoted by its IOPS.
pub(crate) fn by_iops(phase: &PhaseSummary) -> bool {
    phase.detail.headline == HeadlineRate::Iops
}

/// All charts of a report on these series, in the order of reading.
pub fn charts(summaries: &[Summary]) -> Vec<Chart> {
    let names = naming::series(summaries);
    let phases = naming::phases(summaries);
    if phases.is_empty() {
        return Vec::new();
    }
    let mut charts = vec![
        bar_chart(
            "bandwidth",
            "Bandwidth",
            "MB/s",
            1e6,
            &names,
            &phases,
            |phase| &phase.bandwidth,
        ),
        bar_chart(
            "iops",
            "I/Os per second",
            "IOPS",
            1.0,
            &names,
            &phases,
            |phase| &phase.iops,
        ),
    ];
    charts.extend(match summaries {
        [single] => latency::latencies_of_one(single),
        _ => phases
            .iter()
            .flat_map(|(phase, cells)| latencies(phase, &names, cells))
            .collect(),
    });
    charts.extend(
        phases
            .iter()
            .filter_map(|(name, cells)| over_time(name, &names, cells)),
    );
    charts.sort_by_key(|chart| chart.section);
    number_doubles(&mut charts);
    charts
}

/// Gives each chart a name of its own: some differ only in what a file name cannot hold.
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

/// `Rand write (4k)` → `rand-write-4k`.
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

type Phases<'a> = [(String, Vec<Option<&'a PhaseSummary>>)];

fn bar_chart(
    name: &str,
    title: &str,
    unit: &str,
    scale: f64,
    names: &[String],
    phases: &Phases<'_>,
    figure: fn(&PhaseSummary) -> &Estimate,
) -> Chart {
    let bar = |estimate: &Estimate| Bar {
        value: estimate.mean / scale,
        deviation: estimate.deviation.map(|d| d / scale),
        text: MeanText::of(estimate, scale).to_string(),
    };
    let groups = phases.iter().map(|(label, cells)| BarGroup {
        label: label.clone(),
        bars: cells
            .iter()
            .map(|cell| cell.map(|phase| bar(figure(phase))))
            .collect(),
    });
    let head = if names.len() == 1 {
        vec![unit.to_owned()]
    } else {
        names.iter().map(|n| format!("{n}, {unit}")).collect()
    };
    let rows = phases.iter().map(|(label, cells)| {
        let values = cells.iter().map(|cell| {
            cell.map_or("–".to_owned(), |p| {
                MeanText::of(figure(p), scale).to_string()
            })
        });
        std::iter::once(label.clone()).chain(values).collect()
    });
    let spread = phases
        .iter()
        .flat_map(|(_, cells)| cells.iter().flatten())
        .any(|p| figure(p).deviation.is_some());
    let note = if spread {
        "Mean of the runs; the thin line spans one standard deviation either way."
    } else {
        "One run."
    };
    Chart {
        name: name.to_owned(),
        section: Section::Speed,
        title: title.to_owned(),
        note: note.to_owned(),
        table: DataTable {
            head: [vec!["Phase".to_owned()], head].concat(),
            rows: rows.collect(),
        },
        plot: Plot::Bars(Bars {
            unit: unit.to_owned(),
            series: names.to_vec(),
            groups: groups.collect(),
        }),
    }
}
