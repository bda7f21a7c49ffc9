//! Charts of an anatomy: the drawing of the card, and the measurements behind its findings.

use super::values::bytes;
use crate::chart::{Chart, Plot, Section};
use crate::number;
use crate::svg::{CardPicture, CardRow, CardShape, SweepLine, SweepPlot, SweepPoint};
use crate::table::{self, DataTable};
use crate::text::{self, AnatomyLabel as Label};
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty as P, Evidence, Experiment};

/// Fewest points that make a chart.
const FEWEST: usize = 3;

/// Latencies below this part of the highest are drawn at it; the table has their values.
const RANGE: f64 = 1000.0;

/// Most ticks of the horizontal axis.
const TICKS: usize = 6;

/// The drawing of the card.
pub(super) fn picture(anatomy: &Anatomy) -> Chart {
    let rows = vec![
        unit_row(anatomy),
        open_row(anatomy),
        share_row(anatomy, Label::Cache, cache_size(anatomy)),
        share_row(anatomy, Label::Reach, reach(anatomy)),
    ];
    let cells = rows
        .iter()
        .map(|row| table::row(&row.label, [row.text.clone()]));
    let head = [Label::Property, Label::Value].map(text::anatomy_label);
    Chart {
        name: "card".to_owned(),
        section: Section::Map,
        title: text::anatomy_of(&anatomy.name),
        note: legend(anatomy),
        table: DataTable::new(head, cells),
        plot: Plot::Card(CardPicture { rows }),
    }
}

/// What the boxes of the open units mean; empty if their number is unknown or has no limit.
fn legend(anatomy: &Anatomy) -> String {
    let Some(units) = anatomy.size(P::OpenUnits) else {
        return String::new();
    };
    let random = anatomy.size(P::RandomUnits).map(|random| random.min(units));
    let fat = anatomy.size(P::FatUnits).unwrap_or(0);
    text::open_units_legend(fat, random.unwrap_or(0), units - random.unwrap_or(0))
}

fn unit_row(anatomy: &Anatomy) -> CardRow {
    let (unit, page) = (anatomy.size(P::Unit), anatomy.size(P::Page));
    let shown = |size: Option<u64>| match size {
        Some(size) => bytes(size as f64),
        None => text::anatomy_label(Label::NotKnown).to_owned(),
    };
    let label = text::anatomy_label(Label::Page);
    CardRow {
        label: text::anatomy_label(Label::Unit).to_owned(),
        text: format!("{} · {label} {}", shown(unit), shown(page)),
        shape: match unit {
            Some(unit) => CardShape::Pages(page.map(|page| unit / page.max(1))),
            None => CardShape::Unknown,
        },
    }
}

fn open_row(anatomy: &Anatomy) -> CardRow {
    let label = text::anatomy_label(Label::OpenUnits).to_owned();
    let (text, shape) = match anatomy.finding(P::OpenUnits) {
        CardFinding::Known(units) => {
            let units = units.value as u64;
            let random = anatomy.size(P::RandomUnits).unwrap_or(0).min(units);
            let shape = CardShape::Units {
                fat: anatomy.size(P::FatUnits).unwrap_or(0),
                random,
                linear: units - random,
            };
            (number::grouped(units), shape)
        }
        CardFinding::Absent { .. } => {
            let unlimited = text::anatomy_label(Label::Unlimited).to_owned();
            (unlimited, CardShape::Share(1.0))
        }
        CardFinding::Unknown(_) => {
            let unknown = text::anatomy_label(Label::NotKnown).to_owned();
            (unknown, CardShape::Unknown)
        }
    };
    CardRow { label, text, shape }
}

/// Bytes of the cache; 0 if there is none.
fn cache_size(anatomy: &Anatomy) -> Option<f64> {
    match anatomy.finding(P::CacheSize) {
        CardFinding::Known(size) => Some(size.value),
        CardFinding::Absent { .. } => Some(0.0),
        CardFinding::Unknown(_) => None,
    }
}

/// Bytes that the mapping cache covers; the whole card without a limit.
fn reach(anatomy: &Anatomy) -> Option<f64> {
    match anatomy.finding(P::MappingSlots) {
        CardFinding::Known(slots) => Some(slots.value * anatomy.value(P::MappingChunk)?),
        CardFinding::Absent { .. } => Some(anatomy.capacity.0 as f64),
        CardFinding::Unknown(_) => None,
    }
}

/// A row of bytes as a share of the card.
fn share_row(anatomy: &Anatomy, label: Label, size: Option<f64>) -> CardRow {
    let all = anatomy.capacity.0 as f64;
    let (text, shape) = match size {
        None => {
            let unknown = text::anatomy_label(Label::NotKnown).to_owned();
            (unknown, CardShape::Unknown)
        }
        Some(size) => {
            let text = format!("{} / {}", bytes(size), bytes(all));
            (text, CardShape::Share(size / all.max(1.0)))
        }
    };
    CardRow {
        label: text::anatomy_label(label).to_owned(),
        text,
        shape,
    }
}

/// One chart for each experiment with enough points.
pub(super) fn charts(anatomy: &Anatomy) -> Vec<Chart> {
    anatomy.evidence.iter().filter_map(chart).collect()
}

/// Position of a point as text.
fn position(experiment: Experiment, x: f64) -> String {
    match experiment {
        Experiment::ReadSizes
        | Experiment::WriteSizes
        | Experiment::Boundaries
        | Experiment::LongWrite => bytes(x),
        Experiment::Heat | Experiment::Recovery => number::significant(x / 1e9),
        _ => number::limit(x),
    }
}

fn chart(evidence: &Evidence) -> Option<Chart> {
    let experiment = evidence.experiment;
    let mut points = evidence.points.clone();
    // After idle times, the points are bytes; else latencies.
    let is_latency = experiment != Experiment::Recovery;
    points.retain(|(x, y)| x.is_finite() && y.is_finite());
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let varies = points.first().map(|first| first.0) != points.last().map(|last| last.0);
    let highest = points.iter().map(|point| point.1).fold(0.0, f64::max);
    if points.len() < FEWEST || !varies || highest <= 0.0 {
        return None;
    }
    // A difference can be negative by chance, which a logarithmic axis cannot show.
    let lowest = if is_latency { highest / RANGE } else { 0.0 };
    let axis = text::anatomy_axis(experiment);
    let shown = |y: f64| match is_latency {
        true if y < 0.0 => format!("−{}", number::nanos(-y)),
        true => number::nanos(y),
        false => bytes(y),
    };
    let rows = points
        .iter()
        .map(|(x, y)| table::row(position(experiment, *x), [shown(*y)]));
    let quantity = text::anatomy_label(match is_latency {
        true => Label::Latency,
        false => Label::Written,
    });
    let table = DataTable::new([axis, quantity], rows);
    let step = points.len().div_ceil(TICKS).max(1);
    let ticks = points.iter().step_by(step);
    let ticks = ticks.map(|(x, _)| (*x, position(experiment, *x))).collect();
    let point = |(x, y): &(f64, f64)| SweepPoint {
        x: *x,
        y: match is_latency {
            true => y.max(lowest),
            false => *y / 1e6,
        },
        interval: None,
    };
    let log = points.first().is_some_and(|first| first.0 > 0.0)
        && !matches!(experiment, Experiment::Heat | Experiment::Recovery);
    Some(Chart {
        name: format!(
            "evidence-{}",
            crate::chart::slug(&format!("{experiment:?}"))
        ),
        section: Section::Map,
        title: text::anatomy_experiment(experiment).to_owned(),
        note: String::new(),
        plot: Plot::Sweep(SweepPlot {
            unit: if is_latency { "" } else { "MB" }.to_owned(),
            axis: axis.to_owned(),
            log,
            log_y: false,
            ticks,
            lines: vec![SweepLine {
                name: quantity.to_owned(),
                points: points.iter().map(point).collect(),
            }],
            window: None,
        }),
        table,
    })
}
