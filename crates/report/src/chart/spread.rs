//! Mean, deviation and range of the speed over time, of writes whose intervals are unknown because another program
//! printed only these.

use super::{BarChart, Chart, Section, slug};
use crate::naming::PhaseName;
use crate::number::{self, MeanText};
use crate::svg::{Bar, BarGroup};
use crate::table::DataTable;
use crate::text::{self, Head, SlowestInterval};
use hakaru_model::finding::{PhaseSummary, Sustained};

/// The chart of a phase; `None` if no series has these figures.
pub(crate) fn spread_over_time(
    phase: &PhaseName,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Option<Chart> {
    let known = |(name, cell): (&String, &Option<&PhaseSummary>)| {
        let cell = (*cell)?;
        Some((name.clone(), cell.bandwidth.mean, cell.sustained.clone()?))
    };
    let all: Vec<(String, f64, Sustained)> = names.iter().zip(cells).filter_map(known).collect();
    let slowest = |(name, mean, of): &(String, f64, Sustained)| SlowestInterval {
        series: name.clone(),
        speed: of.min.0,
        share: of.min.0 / mean,
    };
    let mut slowest: Vec<SlowestInterval> = all.iter().map(slowest).collect();
    slowest.retain(|of| of.share.is_finite());
    slowest.sort_by(|a, b| a.share.total_cmp(&b.share));
    let (worst, best) = (slowest.first()?, slowest.last()?);
    let groups = all.iter().map(|(name, mean, of)| BarGroup {
        label: name.clone(),
        bars: vec![Some(bar(*mean, of))],
    });
    let about = BarChart {
        name: format!("spread-over-time-{}", slug(&phase.id)),
        section: Section::Sustained,
        title: text::spread_title(&phase.label, worst, (slowest.len() > 1).then_some(best)),
        unit: "MB/s",
        quantity: String::new(),
        runs: String::new(),
        rows: Head::Series.text(),
    };
    let mut chart = about.of(vec![phase.label.to_owned()], groups.collect());
    chart.note = text::range_note(&lengths(&all));
    add_ranges(&mut chart.table, &all);
    Some(chart)
}

/// The different lengths of the intervals, as text.
fn lengths(all: &[(String, f64, Sustained)]) -> Vec<String> {
    let known = all.iter().filter_map(|(.., of)| of.interval);
    let mut lengths: Vec<String> = known.map(number::interval_length).collect();
    lengths.dedup();
    lengths
}

/// Adds the slowest and the fastest interval, which the chart draws as lines.
fn add_ranges(table: &mut DataTable, all: &[(String, f64, Sustained)]) {
    let heads = [Head::SlowestRate, Head::FastestRate];
    table.head.extend(heads.map(|head| head.text().to_owned()));
    for row in &mut table.rows {
        let of_row = all.iter().find(|(name, ..)| row.first() == Some(name));
        let ends = of_row.map(|(.., of)| [of.min, of.max]);
        row.extend(
            ends.into_iter()
                .flatten()
                .map(|speed| number::significant(speed.0 / 1e6)),
        );
    }
}

/// The bar ends at the bytes divided by the time, which every other chart and table shows as well: a mean of intervals,
/// as other programs print it, can differ by several percent.
fn bar(mean: f64, of: &Sustained) -> Bar {
    let text = MeanText::of_parts(mean, Some(of.deviation.0), 1e6);
    Bar {
        value: mean / 1e6,
        deviation: Some(of.deviation.0 / 1e6),
        mean: text.mean,
        spread: text.deviation.unwrap_or_default(),
        range: Some((of.min.0 / 1e6, of.max.0 / 1e6)),
        ..Bar::default()
    }
}
