//! The charts of a campaign: bars by card and layer, sweeps, cost of the layers, latency, speed over time, amplification.

use super::rated;
use super::titles::{self, in_text, losses, only_card_title, speed_title};
use super::view::{View, Work, shared_hosts};
use crate::chart::{
    self, BarChart, Chart, ChartTitle, Plot, RatioChart, Section, SweepItem, slug, sweep_charts,
};
use crate::naming::{PhaseName, distinct};
use crate::svg::{Bar, BarGroup, Timeline, TimelineLine};
use crate::table::{self, DataTable};
use crate::text::{self, Head};
use crate::{number, path};
use hakaru_model::campaign::{CardSummary, DeviceSegment};
use hakaru_model::finding::{LatencyMap, LayerCost, PhaseSummary};
use hakaru_model::job::Op;

/// Maximum number of cards in a line chart; of more cards, an evenly spaced selection is drawn.
const MOST_CARDS: usize = 12;

/// All charts of a campaign in display order.
pub(super) fn charts(view: &View<'_>) -> Vec<Chart> {
    let mut charts = match view.of.rounds.is_empty() {
        true => of_points(view),
        false => of_rounds(view),
    };
    charts.extend(map(view));
    charts.extend(rated::rated(view));
    charts.extend(path::cards::charts(&view.traced_cards()));
    charts.sort_by_key(|chart| chart.section);
    chart::number_doubles(&mut charts);
    charts
}

/// Charts of rounds. Several cards are compared by the workloads that end the rounds.
fn of_rounds(view: &View<'_>) -> Vec<Chart> {
    let mut charts = super::rounds::charts(view);
    if view.names.len() > 1 {
        let compared = view.works.iter().filter(|work| view.ends_rounds(work));
        charts.extend(compared.filter_map(|work| speed(view, work)));
    }
    charts
}

fn of_points(view: &View<'_>) -> Vec<Chart> {
    let (mut charts, swept) = sweeps(view);
    let is_swept = |work: &&Work| {
        let cells = view.layers.iter().flat_map(|layer| view.cells(layer, work));
        let mut cells = cells.flatten().peekable();
        cells.peek().is_some()
            && cells.all(|phase| swept.iter().any(|other| std::ptr::eq(*other, phase)))
    };
    let shown: Vec<&Work> = view.works.iter().filter(|work| !is_swept(work)).collect();
    charts.extend(shown.iter().filter_map(|work| speed(view, work)));
    charts.extend(shown.iter().flat_map(|work| layer_costs(view, work)));
    let writes = view.works.iter().filter(|work| work.op == Op::Write);
    charts.extend(writes.filter_map(|work| amplification(view, work)));
    for work in &view.works {
        lines(view, work, &mut charts);
        charts.extend(super::rounds::saturations(view, work));
    }
    charts.extend(slowest_ios(view));
    charts
}

/// Sweeps of all cards and layers, and the phases that are their points.
fn sweeps<'a>(view: &View<'a>) -> (Vec<Chart>, Vec<&'a PhaseSummary>) {
    let all = view.summaries();
    let items = all
        .iter()
        .flat_map(|(name, summary)| SweepItem::of(summary, name));
    sweep_charts(&items.collect::<Vec<_>>())
}

/// Name of the speed chart of a workload.
pub(super) fn speed_name(work: &Work) -> String {
    format!("speed-{}", slug(&work.label))
}

/// Bars of a workload: one group for each card, one bar for each layer.
fn speed(view: &View<'_>, work: &Work) -> Option<Chart> {
    let (title, figure): (_, fn(&PhaseSummary) -> Bar) = match work.small {
        true => (text::iops_name(), |phase| {
            chart::bar(&phase.iops, 1.0, chart::runs_of(phase))
        }),
        false => (text::bandwidth_name(), |phase| {
            chart::bar(&phase.bandwidth, 1e6, chart::runs_of(phase))
        }),
    };
    let about = BarChart {
        name: speed_name(work),
        section: Section::Speed,
        title: text::chart_title(&speed_title(view, work)),
        unit: work.unit(),
        quantity: text::enumerated(&[text::with_unit(title, work.unit()), work.workload.clone()]),
        runs: runs(view, work),
        rows: text::card_column(),
    };
    bars(view, work, about, &|phase| Some(figure(phase)))
}

/// Number of runs behind the bars of a workload, as text.
fn runs(view: &View<'_>, work: &Work) -> String {
    let cells = view.layers.iter().flat_map(|layer| view.cells(layer, work));
    chart::runs_text(cells.flatten())
}

/// A layer as a label.
fn layer_label(layer: &str) -> String {
    text::layer(&crate::escape::plain(layer))
}

/// What other layers leave of the speed: a chart for each, or one for a single card. Single runs have no interval.
fn layer_costs(view: &View<'_>, work: &Work) -> Vec<Chart> {
    let reference = in_text(&view.of.reference_layer);
    let tested = |cost: &&LayerCost| cost.comparison.ratio_ci95.is_some();
    if view.names.len() == 1 {
        let layers = view.held_layers().into_iter();
        let rows = layers.filter_map(|layer| {
            let cost = view.cost(0, layer, work).filter(tested)?;
            Some(chart::ratio_row(&layer_label(layer), &cost.comparison))
        });
        let about = RatioChart {
            name: format!("cost-{}", slug(&work.label)),
            section: Section::LayerCost,
            title: text::chart_title(&only_card_title(view, work, view.main_layer())),
            note: text::layer_cost_note(text::each_layer(), &reference),
            rows: text::layer_column(),
        };
        return about.of(rows.collect()).into_iter().collect();
    }
    let chart = |layer: &str| {
        let rows = (0..view.names.len()).filter_map(|card| {
            let cost = view.cost(card, layer, work).filter(tested)?;
            Some(chart::ratio_row(view.name(card), &cost.comparison))
        });
        let shown = in_text(layer);
        let title = match losses(view, layer, work) {
            Some(lost) => titles::layer_costs(work.title(), layer, lost),
            None => titles::layer_ratios(view, layer, work),
        };
        let about = RatioChart {
            name: format!("cost-{}-{}", slug(layer), slug(&work.label)),
            section: Section::LayerCost,
            title: text::chart_title(&title),
            note: text::layer_cost_note(&shown, &reference),
            rows: text::card_column(),
        };
        about.of(rows.collect())
    };
    view.held_layers().into_iter().filter_map(chart).collect()
}

fn amplification(view: &View<'_>, work: &Work) -> Option<Chart> {
    let cells = view
        .layers
        .iter()
        .flat_map(|layer| view.cells(layer, work))
        .flatten();
    let means: Vec<f64> = cells
        .filter_map(|phase| Some(phase.amplification.as_ref()?.mean))
        .collect();
    let (low, high) = (
        means.iter().copied().reduce(f64::min)?,
        means.iter().copied().reduce(f64::max)?,
    );
    let about = BarChart {
        name: format!("amplification-{}", slug(&work.label)),
        section: Section::Amplification,
        title: text::chart_title(&ChartTitle::Amplification {
            work: work.title(),
            low: number::quantity(low),
            high: number::quantity(high),
        }),
        unit: text::AxisLabel::BytesPerByte.text(),
        quantity: text::amplification_quantity(&work.workload),
        runs: runs(view, work),
        rows: text::card_column(),
    };
    bars(view, work, about, &|phase| {
        let found = phase.amplification.as_ref()?;
        Some(chart::bar(found, 1.0, found.values.len() as u64))
    })
}

/// Bars of the cards and layers that have the figure. Those of the ranked rate have the letters of the ranking.
fn bars(
    view: &View<'_>,
    work: &Work,
    about: BarChart,
    figure: &dyn Fn(&PhaseSummary) -> Option<Bar>,
) -> Option<Chart> {
    let ranked = about.section == Section::Speed;
    let cell = |card: usize, layer: &String| {
        let mut bar = figure(view.cell(card, layer, work)?)?;
        let places = view
            .ranking(layer, work)
            .filter(|_| ranked && tested(view, layer, work));
        let mut places = places.iter().flat_map(|ranking| &ranking.places);
        let place = places.find(|place| place.card as usize == card);
        bar.letters = place.map(|place| place.letters.clone()).unwrap_or_default();
        Some(bar)
    };
    let measured = |layer: &&String| (0..view.names.len()).any(|card| cell(card, layer).is_some());
    let layers: Vec<&String> = view.layers.iter().filter(measured).collect();
    if let (Some(hosts), [layer]) = (shared_hosts(view.of), &layers[..]) {
        let groups = by_host(view, &hosts, &|card| cell(card, layer));
        let series = hosts.iter().map(|host| crate::escape::plain(host));
        return (!groups.is_empty()).then(|| about.of(series.collect(), groups));
    }
    let groups: Vec<BarGroup> = (0..view.names.len())
        .map(|card| BarGroup {
            label: view.name(card).to_owned(),
            bars: layers.iter().map(|layer| cell(card, layer)).collect(),
        })
        .filter(|group| group.bars.iter().any(Option::is_some))
        .collect();
    let series = layers.iter().map(|layer| layer_label(layer));
    (!groups.is_empty()).then(|| about.of(series.collect(), groups))
}

/// One group for each card, with one bar for each host.
fn by_host(view: &View<'_>, hosts: &[&str], bar: &dyn Fn(usize) -> Option<Bar>) -> Vec<BarGroup> {
    let names = distinct(view.of.cards.iter().map(|card| &card.name));
    let of_name = |name: &String| {
        let of_host = |host: &&str| {
            let is_it = |card: &CardSummary| card.name == *name && card.host == *host;
            bar(view.of.cards.iter().position(is_it)?)
        };
        BarGroup {
            label: crate::escape::plain(name),
            bars: hosts.iter().map(of_host).collect(),
        }
    };
    let groups = names.into_iter().map(of_name);
    groups
        .filter(|group| group.bars.iter().any(Option::is_some))
        .collect()
}

/// Whether at least two cards were measured more than once: single runs show no difference and no likeness.
fn tested(view: &View<'_>, layer: &str, work: &Work) -> bool {
    let cells = view.cells(layer, work).into_iter().flatten();
    cells.filter(|phase| chart::runs_of(phase) > 1).count() > 1
}

/// Latency and bandwidth over time of a workload: one line for each card or, with a single card, for each layer.
fn lines(view: &View<'_>, work: &Work, charts: &mut Vec<Chart>) {
    if view.names.len() == 1 {
        let layers = view.layers.iter();
        let cells: Vec<_> = layers.map(|layer| view.cell(0, layer, work)).collect();
        let layers = view.layers.iter().map(|layer| layer_label(layer));
        let title = work.title();
        let phase = PhaseName {
            id: work.label.clone(),
            label: title,
        };
        return sides(&layers.collect::<Vec<_>>(), &cells, &phase, charts);
    }
    for layer in &view.layers {
        let cells = view.cells(layer, work);
        let all = 0..cells.len();
        let measured: Vec<usize> = all.filter(|&card| cells[card].is_some()).collect();
        let drawn = evenly(&measured, MOST_CARDS);
        let names: Vec<String> = drawn.iter().map(|&card| view.names[card].clone()).collect();
        let cells: Vec<_> = drawn.iter().map(|&card| cells[card]).collect();
        let before = charts.len();
        let title = view.with_layer(&work.title(), layer);
        let label = match view.layers.len() {
            0 | 1 => work.label.clone(),
            _ => format!("{} {layer}", work.label),
        };
        let phase = PhaseName {
            id: label,
            label: title,
        };
        sides(&names, &cells, &phase, charts);
        let note = drawn_of(drawn.len(), measured.len());
        for chart in &mut charts[before..] {
            chart.note.push_str(&note);
        }
    }
}

/// For each card with slow I/Os, latency over time of the workload with the most of them, through the main layer.
fn slowest_ios(view: &View<'_>) -> Vec<Chart> {
    let layer = view.main_layer();
    let of_card = |card: usize| {
        let all = view.works.iter().filter_map(|work| {
            let detail = &view.cell(card, layer, work)?.detail;
            let of_ios = detail.latency_map.as_ref().map(|map| (false, map));
            let of_flushes = detail.sync_map.as_ref().map(|map| (true, map));
            Some([of_ios, of_flushes].map(|map| Some((work, map?))))
        });
        let slow = |(_, (_, map)): &(&Work, (bool, &LatencyMap))| map.slow.map_or(0, |s| s.count);
        let slowest = all.flatten().flatten().filter(|map| slow(map) > 0);
        let (work, (sync, map)) = slowest.max_by_key(slow)?;
        let name = PhaseName {
            id: format!("{}, {}", view.name(card), work.label),
            label: text::enumerated(&[view.name(card).to_owned(), work.noun.clone()]),
        };
        Some(chart::heat_map(&name, sync, map))
    };
    (0..view.names.len()).filter_map(of_card).collect()
}

/// A note that only some cards are drawn; empty if all are.
fn drawn_of(drawn: usize, all: usize) -> String {
    match drawn < all {
        true => text::cards_drawn(drawn, all),
        false => String::new(),
    }
}

fn sides(
    names: &[String],
    cells: &[Option<&PhaseSummary>],
    work: &PhaseName,
    charts: &mut Vec<Chart>,
) {
    charts.extend(chart::latencies(work, names, cells));
    charts.extend(chart::over_time(work, names, cells));
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
        let steps = layers.flat_map(|layer| &layer.prepared);
        // The last pass wrote a full card.
        let step = steps.rev().find(|step| step.speed.len() > 1)?;
        Some((view.name(card).to_owned(), points(&step.speed)))
    };
    let cards = 0..view.names.len();
    let all: Vec<usize> = cards.filter(|&card| segments(card).is_some()).collect();
    let drawn = evenly(&all, MOST_CARDS).into_iter().filter_map(segments);
    let (names, lines): (Vec<String>, Vec<_>) = drawn.unzip();
    if names.is_empty() {
        return None;
    }
    let table = along_table(&names, &lines);
    let note = text::map_note().to_owned() + &drawn_of(names.len(), all.len());
    let timeline = Timeline {
        unit: "MB/s".to_owned(),
        axis: text::AxisLabel::GibFromStart.into(),
        series: names,
        lines: TimelineLine::each(lines),
        ..Timeline::default()
    };
    let title = text::SectionLabel::Map.into();
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
    let head = [Head::SlowestRate, Head::MeanRate, Head::FastestRate];
    let head = table::row(text::card_column(), head.map(String::from));
    DataTable::new(head, rows)
}
