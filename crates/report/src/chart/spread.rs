//! Mean, deviation and range of the speed over time, of writes whose intervals are unknown because another program
//! printed only these.

use super::{BarChart, Chart, Section, slug};
use crate::naming::PhaseName;
use crate::number::{self, MeanText};
use crate::svg::{Bar, BarGroup};
use crate::text;
use hakaru_model::finding::{PhaseSummary, Sustained};

/// The chart of a phase; `None` if no series has these figures.
pub(crate) fn spread_over_time(
    phase: &PhaseName,
    names: &[String],
    cells: &[Option<&PhaseSummary>],
) -> Option<Chart> {
    let known = |(name, cell): (&String, &Option<&PhaseSummary>)| {
        Some((name.clone(), (*cell)?.sustained.clone()?))
    };
    let all: Vec<(String, Sustained)> = names.iter().zip(cells).filter_map(known).collect();
    let share = |(name, of): &(String, Sustained)| (of.deviation.0 / of.mean.0, name.clone());
    let mut shares: Vec<(f64, String)> = all.iter().map(share).collect();
    shares.retain(|(share, _)| share.is_finite());
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    let end = |(share, name): &(f64, String)| (number::percent(*share), name.clone());
    let (low, high) = (end(shares.first()?), end(shares.last()?));
    let groups = all.iter().map(|(name, of)| BarGroup {
        label: name.clone(),
        bars: vec![Some(bar(of))],
    });
    let about = BarChart {
        name: format!("spread-over-time-{}", slug(&phase.id)),
        section: Section::Sustained,
        title: text::spread_title(&phase.label, &low, (shares.len() > 1).then_some(&high)),
        unit: "MB/s",
        quantity: String::new(),
        runs: String::new(),
        rows: text::Head::Series.text(),
    };
    let mut chart = about.of(vec![phase.label.to_owned()], groups.collect());
    text::range_note().clone_into(&mut chart.note);
    Some(chart)
}

fn bar(of: &Sustained) -> Bar {
    let text = MeanText::of_parts(of.mean.0, Some(of.deviation.0), 1e6);
    Bar {
        value: of.mean.0 / 1e6,
        deviation: Some(of.deviation.0 / 1e6),
        mean: text.mean,
        spread: text.deviation.unwrap_or_default(),
        range: Some((of.min.0 / 1e6, of.max.0 / 1e6)),
        ..Bar::default()
    }
}
