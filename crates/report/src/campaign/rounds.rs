//! Charts of rounds that end in steady state: each watched workload with its measurement window, all block sizes over
//! the rounds, and the results of the window by block size and mix.
//!
//! Source: the plots of the SNIA Solid State Storage Performance Test Specification 2.0.1: steady state convergence,
//! steady state window, and one table and plot of each test.

use super::view::{View, Work};
use super::words::percent;
use crate::chart::{BarChart, Chart, Plot, Section, slug};
use crate::document::AnswerBlock;
use crate::naming::{PhaseName, distinct};
use crate::number;
use crate::svg::{Bar, BarGroup, SweepLine, SweepPlot, SweepPoint, WindowLines};
use crate::table::{self, DataTable};
use crate::text::{self, RoundFigure, RoundTitle};
use hakaru_model::finding::{RoundPoint, Rounds, SteadyWindow};
use hakaru_model::units::Bytes;

/// Largest deviation from the mean that the limit of the range allows, as a share of the mean.
const BAND: f64 = 0.10;
/// Largest ratio of values on a linear axis; a larger one needs a logarithmic one.
const LINEAR: f64 = 20.0;

/// All charts of the rounds of a campaign.
pub(super) fn charts(view: &View<'_>) -> Vec<Chart> {
    let all: Vec<CardRounds<'_>> = view
        .of
        .rounds
        .iter()
        .map(|of| rounds_of(view, of))
        .collect();
    let mut charts: Vec<Chart> = throughput(&all).into_iter().collect();
    for of in &all {
        charts.extend(of.tables());
    }
    for of in &all {
        let watched = of.rounds.points.iter().filter(|point| point.watched);
        charts.extend(watched.filter_map(|point| of.window(point)));
        charts.extend(of.convergence());
    }
    charts
}

/// The answer of the only card through its only layer: whether it is in steady state, and at which rates.
pub(super) fn answer(view: &View<'_>) -> Option<AnswerBlock> {
    let rounds = view.of.rounds.first()?;
    let figure = |point: &RoundPoint| {
        let value = format!("{} {}", number::quantity(mean_rate(point)), rate(point).0);
        (work(point), value)
    };
    let watched = rounds.points.iter().filter(|point| point.watched);
    let figures: Vec<(String, String)> = watched.map(figure).collect();
    let window = rounds.points.iter().find_map(|point| point.window.as_ref());
    Some(AnswerBlock {
        text: text::rounds_answer(rounds.steady, rounds.measured, rounds.at_most, &figures),
        proof: text::rounds_proof(window.map(ends)),
    })
}

/// The rounds of one card through one layer.
struct CardRounds<'a> {
    rounds: &'a Rounds,
    /// Card and layer, if the campaign has several.
    place: Vec<String>,
    /// Name of the card.
    card: String,
}

fn rounds_of<'a>(view: &View<'a>, rounds: &'a Rounds) -> CardRounds<'a> {
    let card = view.name(rounds.card as usize).to_owned();
    let mut place: Vec<String> = Vec::new();
    place.extend((view.names.len() > 1).then(|| card.clone()));
    if view.layers.len() > 1 {
        place.push(text::layer(&crate::escape::plain(&rounds.layer)));
    }
    CardRounds {
        rounds,
        place,
        card,
    }
}

/// Unit of a workload, and its rate in each round. Random I/Os are counted, sequential ones measured in bytes.
fn rate(point: &RoundPoint) -> (&'static str, Vec<f64>) {
    match point.random {
        true => ("IOPS", point.iops.clone()),
        false => ("MB/s", point.bandwidth.iter().map(|v| v / 1e6).collect()),
    }
}

/// The mean rate in the measurement window.
fn mean_rate(point: &RoundPoint) -> f64 {
    match point.random {
        true => point.means.iops,
        false => point.means.bandwidth / 1e6,
    }
}

fn work(point: &RoundPoint) -> String {
    text::round_work(point.random, point.read_percent, Some(point.block))
}

/// The first and last round of a window, from 1.
fn ends(window: &SteadyWindow) -> (u32, u32) {
    (
        window.first_round.saturating_add(1),
        window.first_round.saturating_add(window.rounds),
    )
}

impl CardRounds<'_> {
    /// A workload with the card and the layer before it.
    fn named(&self, work: String) -> String {
        text::enumerated(&[self.place.clone(), vec![work]].concat())
    }

    /// The same as the beginning of a title.
    fn placed(&self, work: String) -> String {
        match self.place.is_empty() {
            true => text::capital(&work),
            false => self.named(work),
        }
    }

    /// Name of a chart.
    fn name(&self, what: &str) -> String {
        let parts = [vec![what.to_owned()], self.place.clone()].concat();
        slug(&parts.join(" "))
    }

    /// A workload over the rounds, with its measurement window.
    fn window(&self, point: &RoundPoint) -> Option<Chart> {
        let (unit, values) = rate(point);
        let measured = self.rounds.measured;
        let work = self.placed(work(point));
        let (title, note, lines) = match &point.window {
            None => {
                let few = RoundTitle::Few {
                    work,
                    rounds: measured,
                };
                (few, text::rounds_note(unit), None)
            }
            Some(window) => {
                let mean = mean_rate(point);
                let title = match self.rounds.steady {
                    true => RoundTitle::Steady {
                        work,
                        rounds: ends(window),
                        value: format!("{} {unit}", number::quantity(mean)),
                    },
                    false => RoundTitle::Unsteady {
                        work,
                        rounds: measured,
                    },
                };
                let change = percent(window.slope.abs());
                let note = text::window_note(unit, &percent(window.excursion), &change);
                (title, note, Some(window_lines(window, mean)))
            }
        };
        let line = SweepLine {
            name: String::new(),
            points: round_points(&values),
        };
        let plot = over_rounds(unit, vec![line], lines);
        let head = [text::axis_round().to_owned(), unit.to_owned()];
        Some(Chart {
            name: self.name(&format!("rounds {}", point.phase)),
            section: Section::Speed,
            title: text::round_title(&title),
            note,
            table: rounds_table(head.to_vec(), &[values])?,
            plot: Plot::Sweep(plot),
        })
    }

    /// For the mix of each watched workload, all block sizes over the rounds.
    fn convergence(&self) -> Vec<Chart> {
        let points = &self.rounds.points;
        let watched = points.iter().filter(|point| point.watched);
        let mixes = distinct(watched.map(|point| (point.random, point.read_percent)));
        let chart = |(random, mix): (bool, u32)| {
            let of_mix: Vec<&RoundPoint> = points
                .iter()
                .filter(|point| (point.random, point.read_percent) == (random, mix))
                .collect();
            let unit = rate(of_mix.first()?).0;
            let values: Vec<Vec<f64>> = of_mix.iter().map(|point| rate(point).1).collect();
            if of_mix.len() < 2 {
                return None;
            }
            let names: Vec<String> = of_mix.iter().map(|point| size(point.block)).collect();
            let lines = names.iter().zip(&values).map(|(name, values)| SweepLine {
                name: name.clone(),
                points: round_points(values),
            });
            let head = names.iter().map(|name| format!("{name}, {unit}"));
            let title = RoundTitle::All {
                work: self.placed(text::round_work(random, mix, None)),
                rounds: self.rounds.measured,
            };
            Some(Chart {
                name: self.name(&format!("rounds-all-{mix}-reads")),
                section: Section::Speed,
                title: text::round_title(&title),
                note: text::rounds_note(unit),
                table: rounds_table(table::row(text::axis_round(), head), &values)?,
                plot: Plot::Sweep(over_rounds(unit, lines.collect(), None)),
            })
        };
        mixes.into_iter().filter_map(chart).collect()
    }

    /// Results by block size and mix: IOPS, or with one I/O in flight the latencies.
    fn tables(&self) -> Vec<Chart> {
        let points: Vec<&RoundPoint> = self.rounds.points.iter().collect();
        let random: Vec<&RoundPoint> = points.into_iter().filter(|point| point.random).collect();
        let timed = random.iter().all(|point| point.means.latency.is_some());
        let charts = match random.iter().all(|point| point.in_flight == 1) && timed {
            true => vec![
                self.table(&random, RoundFigure::MeanLatency),
                self.table(&random, RoundFigure::MaxLatency),
            ],
            false => vec![self.table(&random, RoundFigure::Iops)],
        };
        charts.into_iter().flatten().collect()
    }

    /// One line for each mix over the block sizes; `None` for fewer than two of either.
    fn table(&self, points: &[&RoundPoint], figure: RoundFigure) -> Option<Chart> {
        let mut blocks = distinct(points.iter().map(|point| point.block));
        blocks.sort();
        let mut mixes = distinct(points.iter().map(|point| point.read_percent));
        mixes.sort_by(|a, b| b.cmp(a));
        if blocks.len() < 2 || mixes.len() < 2 {
            return None;
        }
        let value = |point: &RoundPoint| window_value(point, figure);
        let find = |mix: u32, block: Bytes| {
            let is_it = |point: &&&RoundPoint| (point.read_percent, point.block) == (mix, block);
            points.iter().find(is_it).map(|point| value(point))
        };
        let line = |mix: &u32| SweepLine {
            name: text::mix(*mix),
            points: blocks
                .iter()
                .filter_map(|block| {
                    Some(SweepPoint {
                        x: block.0 as f64,
                        y: find(*mix, *block)?,
                        interval: None,
                    })
                })
                .collect(),
        };
        let shown = |value: f64| shown(figure, value);
        let rows = blocks.iter().map(|block| {
            let cells = mixes
                .iter()
                .map(|mix| find(*mix, *block).map_or("–".to_owned(), shown));
            table::row(size(*block), cells)
        });
        let head = table::row(
            text::sweep_axis(crate::chart::SweepAxis::BlockSize),
            mixes.iter().map(|mix| text::mix(*mix)),
        );
        let by_value = |a: &&&RoundPoint, b: &&&RoundPoint| value(a).total_cmp(&value(b));
        let end = |point: &RoundPoint| (shown(value(point)), work(point));
        let title = RoundTitle::Table {
            figure,
            steady: self.rounds.steady,
            low: end(points.iter().min_by(by_value)?),
            high: end(points.iter().max_by(by_value)?),
        };
        let lines: Vec<SweepLine> = mixes.iter().map(line).collect();
        let window = points.iter().find_map(|point| point.window.as_ref());
        Some(Chart {
            name: self.name(figure_name(figure)),
            section: match figure {
                RoundFigure::Iops | RoundFigure::Throughput => Section::Speed,
                RoundFigure::MeanLatency | RoundFigure::MaxLatency => Section::Latency,
            },
            title: self.placed(text::round_title(&title)),
            note: text::window_figure(figure, window.map(ends)),
            table: DataTable::new(head, rows),
            plot: Plot::Sweep(SweepPlot {
                unit: match figure {
                    RoundFigure::Iops => "IOPS".to_owned(),
                    _ => String::new(),
                },
                axis: text::sweep_axis(crate::chart::SweepAxis::BlockSize).to_owned(),
                log: true,
                log_y: needs_log(&lines),
                ticks: blocks.iter().map(|b| (b.0 as f64, size(*b))).collect(),
                lines,
                window: None,
            }),
        })
    }
}

/// Name of the chart of a figure.
fn figure_name(figure: RoundFigure) -> &'static str {
    match figure {
        RoundFigure::Iops => "steady-iops",
        RoundFigure::Throughput => "steady-throughput",
        RoundFigure::MeanLatency => "steady-mean-latency",
        RoundFigure::MaxLatency => "steady-maximum-latency",
    }
}

/// A figure of the measurement window; latencies in nanoseconds.
fn window_value(point: &RoundPoint, figure: RoundFigure) -> f64 {
    let latency = point.means.latency.unwrap_or_default();
    match figure {
        RoundFigure::Iops => point.means.iops,
        RoundFigure::Throughput => point.means.bandwidth / 1e6,
        RoundFigure::MeanLatency => latency.mean_ns,
        RoundFigure::MaxLatency => latency.max.0 as f64,
    }
}

fn shown(figure: RoundFigure, value: f64) -> String {
    match figure {
        RoundFigure::Iops | RoundFigure::Throughput => number::quantity(value),
        RoundFigure::MeanLatency | RoundFigure::MaxLatency => number::nanos(value),
    }
}

fn size(block: Bytes) -> String {
    number::block_size(block)
}

/// Sequential workloads in their measurement windows: one group of bars for each card.
fn throughput(all: &[CardRounds<'_>]) -> Option<Chart> {
    let sequential = |of: &CardRounds<'_>| -> Vec<RoundPoint> {
        let points = of.rounds.points.iter().filter(|point| !point.random);
        points.cloned().collect()
    };
    let names = all.iter().flat_map(sequential);
    let works = distinct(names.map(|point| text::capital(&work(&point))));
    let group = |of: &CardRounds<'_>| {
        let points = sequential(of);
        let bar = |name: &String| {
            let point = points
                .iter()
                .find(|point| text::capital(&work(point)) == *name)?;
            let window = point.window.as_ref();
            let from = window.map_or(0, |window| window.first_round as usize);
            let count = window.map_or(usize::MAX, |window| window.rounds as usize);
            let runs = rate(point).1.into_iter().skip(from).take(count);
            let mean = mean_rate(point);
            Some(Bar {
                value: mean,
                mean: number::significant(mean),
                runs: runs.collect(),
                n: window.map(|window| u64::from(window.rounds)),
                ..Bar::default()
            })
        };
        BarGroup {
            label: match of.place.is_empty() {
                true => of.card.clone(),
                false => text::enumerated(&of.place),
            },
            bars: works.iter().map(bar).collect(),
        }
    };
    let ends_of = |of: &CardRounds<'_>| {
        let of_points = sequential(of).into_iter();
        let end = |point: RoundPoint| (mean_rate(&point), of.named(work(&point)));
        of_points.map(end).collect::<Vec<_>>()
    };
    let mut values: Vec<(f64, String)> = all.iter().flat_map(ends_of).collect();
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let end = |(value, work): &(f64, String)| {
        (
            format!("{} MB/s", number::significant(*value)),
            work.clone(),
        )
    };
    let figure = RoundFigure::Throughput;
    let title = RoundTitle::Table {
        figure,
        steady: all.iter().all(|of| of.rounds.steady),
        low: end(values.first()?),
        high: end(values.last()?),
    };
    let windows = all.iter().flat_map(|of| &of.rounds.points);
    let windows = distinct(windows.filter_map(|point| point.window.as_ref().map(ends)));
    let only = <[(u32, u32); 1]>::try_from(windows).ok().map(|[only]| only);
    let quantity = text::window_figure(figure, only);
    let about = BarChart {
        name: slug(figure_name(figure)),
        section: Section::Speed,
        title: text::round_title(&title),
        unit: "MB/s",
        quantity: quantity.trim_end_matches('.').to_owned(),
        runs: text::runs_between(5, 5),
        rows: text::card_column(),
    };
    Some(about.of(works.clone(), all.iter().map(group).collect()))
}

/// Rounds on the horizontal axis, from 1.
fn round_points(values: &[f64]) -> Vec<SweepPoint> {
    let point = |(nth, y): (usize, &f64)| SweepPoint {
        x: (nth + 1) as f64,
        y: *y,
        interval: None,
    };
    values.iter().enumerate().map(point).collect()
}

fn over_rounds(unit: &str, lines: Vec<SweepLine>, window: Option<WindowLines>) -> SweepPlot {
    let rounds = lines
        .iter()
        .map(|line| line.points.len())
        .max()
        .unwrap_or(0);
    SweepPlot {
        unit: unit.to_owned(),
        axis: text::axis_round().to_owned(),
        log: false,
        log_y: needs_log(&lines),
        ticks: (1..=rounds).map(|n| (n as f64, n.to_string())).collect(),
        lines,
        window,
    }
}

/// Whether the values differ too much for a linear axis.
fn needs_log(lines: &[SweepLine]) -> bool {
    let values = || {
        lines
            .iter()
            .flat_map(|line| &line.points)
            .map(|point| point.y)
    };
    let (low, high) = (
        values().fold(f64::MAX, f64::min),
        values().fold(0.0, f64::max),
    );
    low > 0.0 && lines.len() > 1 && high > low * LINEAR
}

/// The measurement window around its mean, and the fitted line, which goes through the mean in the middle.
fn window_lines(window: &SteadyWindow, mean: f64) -> WindowLines {
    let (first, last) = ends(window);
    let half = window.slope / 2.0;
    WindowLines {
        from: f64::from(first),
        to: f64::from(last),
        mean,
        band: BAND,
        fit: (mean * (1.0 - half), mean * (1.0 + half)),
        name: text::window_mean().to_owned(),
    }
}

/// One row for each round.
fn rounds_table(head: Vec<String>, columns: &[Vec<f64>]) -> Option<DataTable> {
    let rounds = columns.iter().map(Vec::len).max()?;
    let row = |nth: usize| {
        let cell = |values: &Vec<f64>| {
            let value = values.get(nth);
            value.map_or("–".to_owned(), |value| number::quantity(*value))
        };
        table::row((nth + 1).to_string(), columns.iter().map(cell))
    };
    DataTable::new(head, (0..rounds).map(row)).nonempty()
}

/// Random writes over the whole device, card by card.
pub(super) fn saturations(view: &View<'_>, work: &Work) -> Vec<Chart> {
    let chart = |(card, layer): (usize, &String)| {
        let device = view.through(card, layer)?.summary.target.device.known()?;
        let title = view.with_layer(&work.title(), layer);
        let title = match view.names.len() {
            1 => title,
            _ => text::enumerated(&[view.name(card).to_owned(), title]),
        };
        let phase = PhaseName {
            id: work.label.clone(),
            label: title,
        };
        crate::chart::saturation(&phase, view.cell(card, layer, work)?, device.size.0)
    };
    let all = view.layers.iter();
    let cells = all.flat_map(|layer| (0..view.names.len()).map(move |card| (card, layer)));
    cells.filter_map(chart).collect()
}
