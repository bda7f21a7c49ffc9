//! The charts of a campaign: bars by card and layer, latency, bandwidth over time, speed along the card,
//! amplification.

use super::view::{View, Work};
use crate::chart::{self, BarChart, Chart, Plot, Section, slug};
use crate::svg::{Bar, BarGroup, Timeline, TimelineLine};
use crate::table::{self, DataTable};
use crate::{number, path};
use hakaru_model::campaign::DeviceSegment;
use hakaru_model::finding::PhaseSummary;
use hakaru_model::job::Op;

/// Maximum number of cards in a line chart; of more cards, an evenly spaced selection is drawn.
const MOST_CARDS: usize = 12;

/// All charts of a campaign in display order.
pub(super) fn charts(view: &View<'_>) -> Vec<Chart> {
    let mut charts: Vec<Chart> = view
        .works
        .iter()
        .filter_map(|work| speed(view, work))
        .collect();
    charts.extend(
        view.works
            .iter()
            .filter(|work| work.op == Op::Write)
            .filter_map(|work| amplification(view, work)),
    );
    for work in &view.works {
        lines(view, work, &mut charts);
    }
    charts.extend(map(view));
    charts.extend(path::cards::charts(&view.traced_cards()));
    charts.sort_by_key(|chart| chart.section);
    chart::number_doubles(&mut charts);
    charts
}

/// Bars of a workload: one group for each card, one bar for each layer.
fn speed(view: &View<'_>, work: &Work) -> Option<Chart> {
    let (title, figure): (_, fn(&PhaseSummary) -> Bar) = match work.small {
        true => ("I/Os per second", |phase| chart::bar(&phase.iops, 1.0)),
        false => ("Bandwidth", |phase| chart::bar(&phase.bandwidth, 1e6)),
    };
    let about = BarChart {
        name: format!("speed-{}", slug(&work.label)),
        section: Section::Speed,
        title: format!("{title}, {}", work.label),
        unit: work.unit(),
        note: chart::SPREAD_NOTE,
        rows: "Card",
    };
    bars(view, work, about, &|phase| Some(figure(phase)))
}

fn amplification(view: &View<'_>, work: &Work) -> Option<Chart> {
    let about = BarChart {
        name: format!("amplification-{}", slug(&work.label)),
        section: Section::Amplification,
        title: format!("I/O amplification, {}", work.label),
        unit: "bytes written per byte",
        note: "Bytes the device wrote per byte of the application, from its counters.",
        rows: "Card",
    };
    bars(view, work, about, &|phase| {
        Some(chart::bar(phase.amplification.as_ref()?, 1.0))
    })
}

/// Bars of the cards and layers that have the figure.
fn bars(
    view: &View<'_>,
    work: &Work,
    about: BarChart,
    figure: &dyn Fn(&PhaseSummary) -> Option<Bar>,
) -> Option<Chart> {
    let cell = |card: usize, layer: &String| figure(view.cell(card, layer, work)?);
    let measured = |layer: &&String| (0..view.names.len()).any(|card| cell(card, layer).is_some());
    let layers: Vec<&String> = view.layers.iter().filter(measured).collect();
    let groups: Vec<BarGroup> = (0..view.names.len())
        .map(|card| BarGroup {
            label: view.name(card).to_owned(),
            bars: layers.iter().map(|layer| cell(card, layer)).collect(),
        })
        .filter(|group| group.bars.iter().any(Option::is_some))
        .collect();
    let series = layers.iter().map(|layer| crate::escape::plain(layer));
    (!groups.is_empty()).then(|| about.of(series.collect(), groups))
}

/// Latency and bandwidth over time of a workload: one line for each card or, with a single card, for each layer.
fn lines(view: &View<'_>, work: &Work, charts: &mut Vec<Chart>) {
    if view.names.len() == 1 {
        let layers = view.layers.iter();
        let cells: Vec<_> = layers.map(|layer| view.cell(0, layer, work)).collect();
        let layers = view.layers.iter().map(|layer| crate::escape::plain(layer));
        return sides(&layers.collect::<Vec<_>>(), &cells, &work.label, charts);
    }
    for layer in &view.layers {
        let cells = view.cells(layer, work);
        let all = 0..cells.len();
        let measured: Vec<usize> = all.filter(|&card| cells[card].is_some()).collect();
        let drawn = evenly(&measured, MOST_CARDS);
        let names: Vec<String> = drawn.iter().map(|&card| view.names[card].clone()).collect();
        let cells: Vec<_> = drawn.iter().map(|&card| cells[card]).collect();
        let before = charts.len();
        let label = view.with_layer(&work.label, layer);
        sides(&names, &cells, &label, charts);
        let note = drawn_of(drawn.len(), measured.len());
        for chart in &mut charts[before..] {
            chart.note.push_str(&note);
        }
    }
}

/// A note that only some cards are drawn; empty if all are.
fn drawn_of(drawn: usize, all: usize) -> String {
    match drawn < all {
        true => format!(" {drawn} of {all} cards are drawn."),
        false => String::new(),
    }
}

fn sides(names: &[String], cells: &[Option<&PhaseSummary>], label: &str, charts: &mut Vec<Chart>) {
    charts.extend(chart::latencies(label, names, cells));
    charts.extend(chart::over_time(label, names, cells));
}

/// Selects at most `most` evenly spaced elements, including the first and the last.
fn evenly(all: &[usize], most: usize) -> Vec<usize> {
    let wanted = all.len().min(most);
    (0..wanted)
        .map(|nth| all[nth * (all.len() - 1) / (wanted - 1).max(1)])
        .collect()
}

/// Speed along each card that was completely overwritten.
fn map(view: &View<'_>) -> Option<Chart> {
    let segments = |card: usize| {
        let layers = view.of.cards.get(card)?.layers.iter();
        let mut steps = layers.flat_map(|layer| &layer.prepared);
        let step = steps.find(|step| step.speed.len() > 1)?;
        Some((view.name(card).to_owned(), points(&step.speed)))
    };
    let all = (0..view.names.len()).filter(|&card| segments(card).is_some());
    let all: Vec<usize> = all.collect();
    let drawn = evenly(&all, MOST_CARDS).into_iter().filter_map(segments);
    let (names, lines): (Vec<String>, Vec<_>) = drawn.unzip();
    if names.is_empty() {
        return None;
    }
    let table = along_table(&names, &lines);
    let note = "Speed while the whole device was written before the runs, by place.";
    let note = format!("{note}{}", drawn_of(names.len(), all.len()));
    let timeline = Timeline {
        unit: "MB/s".to_owned(),
        axis: "GiB from the start of the device".to_owned(),
        series: names,
        lines: TimelineLine::each(lines),
        ..Timeline::default()
    };
    let title = "Speed along the device".to_owned();
    Some(Chart {
        name: "speed-map".to_owned(),
        section: Section::Map,
        title,
        note,
        plot: Plot::Timeline(timeline),
        table,
    })
}

/// Center of each segment in GiB, with its speed in MB/s.
fn points(speed: &[DeviceSegment]) -> Vec<(f64, f64)> {
    let place = |segment: &DeviceSegment| {
        (segment.offset.0 as f64 + segment.len.0 as f64 / 2.0) / (1u64 << 30) as f64
    };
    speed
        .iter()
        .filter_map(|segment| Some((place(segment), segment.rate()?.0 / 1e6)))
        .collect()
}

fn along_table(names: &[String], lines: &[Vec<(f64, f64)>]) -> DataTable {
    let rows = names.iter().zip(lines).map(|(name, points)| {
        let speeds = || points.iter().map(|point| point.1);
        let figure = |found: Option<f64>| found.map_or("–".to_owned(), number::significant);
        let mean = (!points.is_empty()).then(|| speeds().sum::<f64>() / points.len() as f64);
        let extremes = [speeds().reduce(f64::min), mean, speeds().reduce(f64::max)];
        table::row(name, extremes.map(figure))
    });
    let head = [
        "Card",
        "Slowest, MB/s",
        "Mean of the places, MB/s",
        "Fastest, MB/s",
    ];
    DataTable::new(head, rows)
}
