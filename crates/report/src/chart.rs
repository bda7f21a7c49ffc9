//! Which charts a set of series deserves, with the data behind each.

use crate::number::{self, MeanText};
use crate::strips::AddressStrips;
use crate::svg::{
    self, Bar, BarGroup, Bars, Frame, LatencyChart, LatencyLine, Timeline, TimelineLine,
    TimelineMark,
};
use crate::table::DataTable;
use crate::{facts, naming};
use hakaru_model::finding::{Estimate, HeadlineRate, LatencySummary, PhaseSummary, Summary};
use hakaru_model::units::{BytesPerSec, Quantile};

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
        [single] => latencies_of_one(single),
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

const LATENCY_NOTE: &str = "The latency that a share of the I/Os did not exceed, all runs together. Both axes are \
                            stretched, so that the rare long waits show as well as the many short ones.";

/// One series: the phases are compared, small I/Os and large ones apart, and `fsync` by itself.
fn latencies_of_one(summary: &Summary) -> Vec<Chart> {
    let lines = |wanted: fn(&PhaseSummary) -> bool,
                 of: fn(&PhaseSummary) -> Option<&LatencySummary>| {
        let wanted = summary.phases.iter().filter(|phase| wanted(phase));
        wanted
            .filter_map(|phase| line(naming::phase(summary, phase), of(phase)?))
            .collect::<Vec<_>>()
    };
    [
        (
            "latency-small",
            "Latency of small I/Os",
            lines(by_iops, |p| p.latency.as_ref()),
        ),
        (
            "latency-large",
            "Latency of large I/Os",
            lines(|p| !by_iops(p), |p| p.latency.as_ref()),
        ),
        (
            "latency-fsync",
            "Latency of fsync",
            lines(|_| true, |p| p.sync.as_ref()),
        ),
    ]
    .into_iter()
    .filter_map(|(name, title, lines)| latency_chart(name.to_owned(), title.to_owned(), lines))
    .collect()
}

/// Several series: they are compared in one phase, its `fsync` by itself.
pub(crate) fn latencies(
    phase: &str,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Vec<Chart> {
    let lines = |of: fn(&PhaseSummary) -> Option<&LatencySummary>| {
        let known = names
            .iter()
            .zip(cells)
            .filter_map(|(name, cell)| line(name.clone(), of((*cell)?)?));
        known.collect::<Vec<_>>()
    };
    let all = [
        (
            format!("latency-{}", slug(phase)),
            format!("Latency, {phase}"),
            lines(|p| p.latency.as_ref()),
        ),
        (
            format!("fsync-{}", slug(phase)),
            format!("Latency of fsync, {phase}"),
            lines(|p| p.sync.as_ref()),
        ),
    ];
    all.into_iter()
        .filter_map(|(name, title, lines)| latency_chart(name, title, lines))
        .collect()
}

fn line(name: String, latency: &LatencySummary) -> Option<LatencyLine> {
    let drawable = latency.count > 0 && (latency.curve.len() > 1 || !latency.quantiles.is_empty());
    drawable.then(|| LatencyLine {
        name,
        count: latency.count,
        curve: latency.curve.clone(),
        marked: latency.quantiles.clone(),
    })
}

fn latency_chart(name: String, title: String, lines: Vec<LatencyLine>) -> Option<Chart> {
    let mut quantiles: Vec<Quantile> = lines
        .iter()
        .flat_map(|line| line.marked.iter().map(|m| m.0))
        .collect();
    quantiles.sort_by(|a, b| a.share().total_cmp(&b.share()));
    quantiles.dedup();
    let head = ["", "I/Os"]
        .map(str::to_owned)
        .into_iter()
        .chain(quantiles.iter().map(|&q| number::percentile(q)));
    let rows = lines.iter().map(|line| {
        let value = |q: &Quantile| {
            line.marked
                .iter()
                .find(|m| m.0 == *q)
                .map_or("–".to_owned(), |m| m.1.to_string())
        };
        [line.name.clone(), number::count(line.count)]
            .into_iter()
            .chain(quantiles.iter().map(value))
            .collect()
    });
    let table = DataTable {
        head: head.collect(),
        rows: rows.collect(),
    };
    let plot = Plot::Latency(LatencyChart { lines });
    let drawable = !table.rows.is_empty();
    drawable.then_some(Chart {
        name,
        section: Section::Latency,
        title,
        note: LATENCY_NOTE.to_owned(),
        plot,
        table,
    })
}

/// Fewer points than this are no line.
const FEWEST_POINTS: usize = 4;
/// More lines than this are a thicket.
const MOST_LINES: usize = 24;
/// A table of more rows than this shows every so-manieth.
const MOST_ROWS: usize = 120;

/// Bandwidth over time of one phase, where there are points enough for a line.
pub(crate) fn over_time(
    phase: &str,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Option<Chart> {
    let (runs, lines): (Vec<(usize, usize)>, Vec<Points>) = chosen_runs(cells).into_iter().unzip();
    let single = names.len() == 1;
    // One series: each run is a line of its own look, as long as there are few enough to tell apart.
    let by_run = single && lines.len() <= 6;
    let label = |&(series, run): &(usize, usize)| match (
        single,
        cells[series].map_or(0, |c| c.timelines.len()),
    ) {
        (true, _) => format!("run {}", run + 1),
        (false, 0 | 1) => names[series].clone(),
        (false, _) => format!("{}, run {}", names[series], run + 1),
    };
    let labels: Vec<String> = runs.iter().map(label).collect();
    let table = time_table(&labels, &lines)?;
    let sustained = cells.iter().flatten().any(|cell| cell.sustained.is_some());
    let style = |index: usize, series: usize| if by_run { index } else { series };
    let lines = lines.into_iter().zip(&runs).enumerate();
    let timeline = Timeline {
        unit: "MB/s".to_owned(),
        axis: "seconds".to_owned(),
        series: if by_run { labels } else { names.to_vec() },
        lines: lines
            .map(|(i, (points, &(series, _)))| TimelineLine {
                series: style(i, series),
                points,
            })
            .collect(),
        marks: if single {
            cells
                .iter()
                .flatten()
                .filter_map(|cell| mark(cell))
                .collect()
        } else {
            Vec::new()
        },
        until: None,
        bands: Vec::new(),
    };
    Some(Chart {
        name: format!("over-time-{}", slug(phase)),
        section: if sustained {
            Section::Sustained
        } else {
            Section::OverTime
        },
        title: format!("Bandwidth over time, {phase}"),
        note: time_note(single, cells, runs.len()),
        plot: Plot::Timeline(timeline),
        table,
    })
}

/// Seconds and values.
type Points = Vec<(f64, f64)>;

/// The runs that are drawn, as `(series, run)` with their points: all of them, or so many of each series that the
/// chart stays readable, from the first to the last.
fn chosen_runs(cells: &[Option<&PhaseSummary>]) -> Vec<((usize, usize), Points)> {
    let room = (MOST_LINES / cells.len().max(1)).max(1);
    let mut chosen = Vec::new();
    for (series, cell) in cells.iter().enumerate() {
        let Some(cell) = cell else { continue };
        let long: Vec<usize> = (0..cell.timelines.len())
            .filter(|&i| cell.timelines[i].len() >= FEWEST_POINTS)
            .collect();
        let drawn = long.len().min(room);
        for nth in 0..drawn {
            let run = long[nth * (long.len() - 1) / (drawn - 1).max(1)];
            let points = cell.timelines[run]
                .iter()
                .map(|p| (p.at_s, p.bandwidth.0 / 1e6))
                .collect();
            chosen.push(((series, run), points));
        }
    }
    chosen
}

fn mark(phase: &PhaseSummary) -> Option<TimelineMark> {
    let cliff = phase.sustained.as_ref()?.cliff.as_ref()?;
    let BytesPerSec(before) = cliff.before;
    let text = format!(
        "from {} to {} MB/s after {}",
        number::significant(before / 1e6),
        number::significant(cliff.after.0 / 1e6),
        cliff.at
    );
    Some(TimelineMark {
        at_s: cliff.after_time.as_secs_f64(),
        text,
    })
}

fn time_note(single: bool, cells: &[Option<&PhaseSummary>], drawn: usize) -> String {
    let all: usize = cells
        .iter()
        .flatten()
        .map(|cell| cell.timelines.len())
        .sum();
    let mut note = if single {
        "One line a run.".to_owned()
    } else {
        "One line a run, in the style of its series.".to_owned()
    };
    if drawn < all {
        note.push_str(&format!(
            " {drawn} of {} runs are drawn.",
            number::count(all as u64)
        ));
    }
    let fact = cells
        .iter()
        .flatten()
        .find_map(|cell| facts::sustained(cell));
    if let Some(fact) = fact.filter(|_| single) {
        note.push_str(&format!(" Speed: {fact}."));
    }
    note
}

/// A row an interval of the longest line; where there are too many, every so-manieth. Each line gives its interval in
/// which the middle of that one lies, because intervals of different runs may be of different lengths.
fn time_table(labels: &[String], lines: &[Points]) -> Option<DataTable> {
    let longest = lines.iter().max_by_key(|line| line.len())?;
    let step = longest.len().div_ceil(MOST_ROWS).max(1);
    let head = std::iter::once("Seconds".to_owned())
        .chain(labels.iter().map(|l| format!("{l}, MB/s")))
        .collect();
    let rows = (step - 1..longest.len()).step_by(step).map(|i| {
        let middle =
            (longest[i].0 + i.checked_sub(1).map_or(0.0, |before| longest[before].0)) / 2.0;
        // A point tells when its interval ended.
        let at = |line: &Points| {
            line.get(line.partition_point(|point| point.0 < middle))
                .copied()
        };
        let value =
            |line: &Points| at(line).map_or("–".to_owned(), |point| number::significant(point.1));
        std::iter::once(number::exact(longest[i].0, 2))
            .chain(lines.iter().map(value))
            .collect()
    });
    Some(DataTable {
        head,
        rows: rows.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows were matched by their number: half a minute of one run stood beside half an hour of another.
    #[test]
    fn the_table_over_time_holds_the_speeds_of_the_same_seconds() {
        let line = |step: f64, speeds: &[f64]| -> Points {
            (1..)
                .map(|i| f64::from(i) * step)
                .zip(speeds.iter().copied())
                .collect()
        };
        let lines = [
            line(0.5, &[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]),
            line(1.0, &[20.0, 21.0]),
            line(0.501, &[30.0, 31.0]),
        ];
        let table = time_table(&["a", "b", "c"].map(str::to_owned), &lines).unwrap();
        let rows: Vec<String> = table.rows.iter().map(|row| row.join(" ")).collect();
        let wanted = [
            "0.5 10.0 20.0 30.0",
            "1 11.0 20.0 31.0",
            "1.5 12.0 21.0 –",
            "2 13.0 21.0 –",
            "2.5 14.0 – –",
            "3 15.0 – –",
        ];
        assert_eq!(rows, wanted);
    }
}
