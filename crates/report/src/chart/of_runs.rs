//! The charts of a report on runs.

use super::latency::{latencies, latencies_of_one};
use super::over_time::over_time;
use super::{BarChart, Chart, SPREAD_NOTE, Section, bar, number_doubles};
use crate::svg::{Bar, BarGroup};
use crate::{naming, path};
use hakaru_model::finding::{PhaseSummary, Summary};

/// All charts of a report on these series, in display order.
pub fn charts(summaries: &[Summary]) -> Vec<Chart> {
    let names = naming::series(summaries);
    let phases = naming::phases(summaries);
    if phases.is_empty() {
        return Vec::new();
    }
    let mut charts = vec![
        speed(&names, &phases, "Bandwidth", "MB/s", |phase| {
            bar(&phase.bandwidth, 1e6)
        }),
        speed(&names, &phases, "I/Os per second", "IOPS", |phase| {
            bar(&phase.iops, 1.0)
        }),
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
    charts.extend(path::charts(&path::subjects(summaries)));
    charts.sort_by_key(|chart| chart.section);
    number_doubles(&mut charts);
    charts
}

type Phases<'a> = [(String, Vec<Option<&'a PhaseSummary>>)];

/// Bars of a rate: one group for each phase, one bar for each series.
fn speed(
    names: &[String],
    phases: &Phases<'_>,
    title: &str,
    unit: &'static str,
    figure: fn(&PhaseSummary) -> Bar,
) -> Chart {
    let group = |(label, cells): &(String, Vec<Option<&PhaseSummary>>)| BarGroup {
        label: label.clone(),
        bars: cells.iter().map(|cell| cell.map(figure)).collect(),
    };
    let groups: Vec<BarGroup> = phases.iter().map(group).collect();
    let mut bars = groups.iter().flat_map(|group| group.bars.iter().flatten());
    let spread = bars.any(|bar| bar.deviation.is_some());
    BarChart {
        name: if unit == "IOPS" { "iops" } else { "bandwidth" }.to_owned(),
        section: Section::Speed,
        title: title.to_owned(),
        unit,
        note: if spread { SPREAD_NOTE } else { "One run." },
        rows: "Phase",
    }
    .of(names.to_vec(), groups)
}
