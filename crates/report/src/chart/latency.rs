//! Charts of latency by percentile.

use super::{Chart, Plot, Section, by_iops, slug};
use crate::svg::{LatencyChart, LatencyLine};
use crate::table::{self, DataTable};
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
    let chart = |name: &str, title: &str, of: fn(&PhaseSummary) -> Option<&LatencySummary>| {
        let cells = names.iter().zip(cells);
        let lines = cells.filter_map(|(name, cell)| line(name.clone(), of((*cell)?)?));
        let (name, title) = (
            format!("{name}-{}", slug(phase)),
            format!("{title}, {phase}"),
        );
        latency_chart(name, title, lines.collect())
    };
    let all = [
        chart("latency", "Latency", |p| p.latency.as_ref()),
        chart("fsync", "Latency of fsync", |p| p.sync.as_ref()),
    ];
    all.into_iter().flatten().collect()
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
    let marked = lines.iter().flat_map(|line| &line.marked);
    let mut quantiles: Vec<Quantile> = marked.map(|(q, _)| *q).collect();
    quantiles.sort_by(|a, b| a.share().total_cmp(&b.share()));
    quantiles.dedup();
    let percentiles = quantiles.iter().map(|&q| number::percentile(q));
    let head = ["", "I/Os"].map(str::to_owned);
    let rows = lines.iter().map(|line| {
        let value = |q: &Quantile| {
            let found = line.marked.iter().find(|m| m.0 == *q);
            found.map_or("–".to_owned(), |m| m.1.to_string())
        };
        let count = number::count(line.count);
        let cells = std::iter::once(count).chain(quantiles.iter().map(value));
        table::row(&line.name, cells)
    });
    let table = DataTable::new(head.into_iter().chain(percentiles), rows);
    let drawable = !table.rows.is_empty();
    drawable.then_some(Chart {
        name,
        section: Section::Latency,
        title,
        note: LATENCY_NOTE.to_owned(),
        plot: Plot::Latency(LatencyChart { lines }),
        table,
    })
}
