//! Charts of latency by percentile.

use super::{Chart, Plot, Section, by_iops, slug};
use crate::svg::{LatencyChart, LatencyLine};
use crate::table::DataTable;
use crate::{naming, number};
use hakaru_model::finding::{LatencySummary, PhaseSummary, Summary};
use hakaru_model::units::Quantile;

const LATENCY_NOTE: &str = "The latency that a share of the I/Os did not exceed, all runs together. Both axes are \
                            stretched, so that the rare long waits show as well as the many short ones.";

/// Charts of one series: compares its phases, with separate charts for small I/Os, large I/Os, and `fsync`.
pub(super) fn latencies_of_one(summary: &Summary) -> Vec<Chart> {
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

/// Charts of several series: compares them in one phase, with a separate chart for `fsync`.
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
