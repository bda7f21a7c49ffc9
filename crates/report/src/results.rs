//! The table of results: one row for each phase and one for its `fsync`, the same in every output format.

use crate::naming;
use crate::number::{MeanText, nanos};
use crate::table::DataTable;
use crate::text::{self, Head};
use crate::workload;
use hakaru_model::finding::{LatencySummary, PhaseSummary, Summary};
use hakaru_model::units::{Nanos, Quantile};

/// The percentiles that have a column in every output format.
pub(crate) const PERCENTILES: [Quantile; 3] = [Quantile::MEDIAN, Quantile::P99, Quantile::P999];

/// A row of the table of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultRow {
    /// Phase name, or `… fsync` for the row below it.
    pub(crate) name: String,
    /// Description of the workload; empty for `fsync`.
    pub(crate) workload: String,
    /// Bandwidth in MB/s; `None` for `fsync`.
    pub(crate) bandwidth: Option<MeanText>,
    /// IOPS; `None` for `fsync`.
    pub(crate) iops: Option<MeanText>,
    /// Values of [`PERCENTILES`]; empty if there are too few samples.
    pub(crate) percentiles: [String; 3],
    /// Maximum latency.
    pub(crate) max: String,
    /// Bytes of the device per byte of the application, if device counters are available.
    pub(crate) amplification: Option<MeanText>,
}

/// The table for scrolling pages: means with their intervals, names with their workloads.
pub(crate) fn table(summary: &Summary) -> DataTable {
    table_of(rows(summary))
}

/// The same without the descriptions of workloads that their names describe, for pages with many of these tables.
pub(crate) fn table_of_known(summary: &Summary) -> DataTable {
    let own: Vec<String> = summary
        .phases
        .iter()
        .filter(|phase| workload::of_phase(phase).is_some())
        .map(|phase| naming::phase(summary, phase))
        .collect();
    let mut rows = rows(summary);
    for row in rows.iter_mut().filter(|row| own.contains(&row.name)) {
        row.workload.clear();
    }
    let caveat = common_caveat(&mut rows);
    let mut table = table_of(rows);
    if let Some(caveat) = caveat {
        let about = format!("95%{}", text::after_interval(&caveat));
        let rates = [Head::MegabytesPerSecond, Head::Iops].map(Head::text);
        let heads = table.head.iter_mut();
        for head in heads.filter(|head| rates.contains(&head.as_str())) {
            *head = text::enumerated(&[head.clone(), about.clone()]);
        }
    }
    table
}

/// Removes the caveat that all intervals share, and returns it.
fn common_caveat(rows: &mut [ResultRow]) -> Option<String> {
    let rates = |row: &ResultRow| [row.bandwidth.clone(), row.iops.clone()];
    let intervals = rows.iter().flat_map(rates).flatten();
    let caveats = intervals.filter(|mean| mean.ci95.is_some());
    let mut caveats = caveats.map(|mean| mean.caveats);
    let first = caveats.next().filter(|caveat| !caveat.is_empty())?;
    if caveats.any(|caveat| caveat != first) {
        return None;
    }
    for row in rows {
        for mean in [&mut row.bandwidth, &mut row.iops].into_iter().flatten() {
            mean.caveats.clear();
        }
    }
    Some(first)
}

fn table_of(rows: Vec<ResultRow>) -> DataTable {
    let cells = |row: ResultRow| {
        let interval = |s: Option<MeanText>| s.map(|s| with_interval(&s)).unwrap_or_default();
        let name = match row.workload.is_empty() {
            true => row.name,
            false => format!("{}\n{}", row.name, row.workload),
        };
        let [median, p99, p999] = row.percentiles;
        let amplification = row.amplification.map(|a| a.to_string());
        vec![
            name,
            interval(row.bandwidth),
            interval(row.iops),
            median,
            p99,
            p999,
            row.max,
            amplification.unwrap_or_default(),
        ]
    };
    let rows = rows.into_iter().map(cells);
    DataTable::new(HEAD.map(Head::text), rows).without_empty_columns()
}

const HEAD: [Head; 8] = [
    Head::Phase,
    Head::MegabytesPerSecond,
    Head::Iops,
    Head::Median,
    Head::P99,
    Head::P999,
    Head::Longest,
    Head::Amplification,
];

/// Index of the workload in [`columns`].
pub(crate) const WORKLOAD: usize = 1;

/// The table for output of limited width: one column for each value.
pub(crate) fn columns(summary: &Summary) -> DataTable {
    let cells = |row: ResultRow| {
        let optional = |s: Option<MeanText>| s.map_or_else(String::new, |s| s.to_string());
        let [median, p99, p999] = row.percentiles;
        vec![
            row.name,
            row.workload,
            optional(row.bandwidth),
            optional(row.iops),
            median,
            p99,
            p999,
            row.max,
        ]
    };
    let head = [
        Head::Phase,
        Head::Workload,
        Head::MegabytesPerSecond,
        Head::Iops,
        Head::MedianColumn,
        Head::P99,
        Head::P999,
        Head::LongestColumn,
    ];
    DataTable::new(head.map(Head::text), rows(summary).into_iter().map(cells))
}

/// Formats a mean with the confidence interval below it: `33.6 ± 0.2`.
fn with_interval(spread: &MeanText) -> String {
    match &spread.ci95 {
        Some((low, high)) => {
            let behind = match spread.caveats.as_str() {
                "" => String::new(),
                caveats => text::after_interval(caveats),
            };
            format!("{spread}\n95%: {}{behind}", text::span(low, high))
        }
        None => spread.to_string(),
    }
}

/// Rows of a series, in the order of its phases.
pub(crate) fn rows(summary: &Summary) -> Vec<ResultRow> {
    summary
        .phases
        .iter()
        .flat_map(|phase| phase_rows(summary, phase))
        .collect()
}

fn phase_rows(summary: &Summary, phase: &PhaseSummary) -> Vec<ResultRow> {
    let name = naming::phase(summary, phase);
    let (percentiles, max) = latency(phase.latency.as_ref());
    let mut rows = vec![ResultRow {
        name,
        workload: crate::escape::plain(&text::described(phase)),
        bandwidth: Some(MeanText::megabytes(&phase.bandwidth)),
        // Programs that do not count I/Os report 0.
        iops: (phase.iops.mean > 0.0).then(|| MeanText::of(&phase.iops, 1.0)),
        percentiles,
        max,
        amplification: phase.amplification.as_ref().map(|a| MeanText::of(a, 1.0)),
    }];
    if let Some(sync) = phase.sync.as_ref().filter(|sync| sync.count > 0) {
        let (percentiles, max) = latency(Some(sync));
        let name = "└ fsync".to_owned();
        let workload = text::calls(sync.count);
        rows.push(ResultRow {
            name,
            workload,
            bandwidth: None,
            iops: None,
            percentiles,
            max,
            amplification: None,
        });
    }
    rows
}

/// A percentile of a latency, if it has enough samples.
pub(crate) fn quantile(latency: &LatencySummary, wanted: Quantile) -> Option<Nanos> {
    let mut known = latency.quantiles.iter();
    known.find(|(q, _)| *q == wanted).map(|(_, value)| *value)
}

fn latency(latency: Option<&LatencySummary>) -> ([String; 3], String) {
    let Some(latency) = latency.filter(|l| l.count > 0) else {
        return Default::default();
    };
    let text = |value: Nanos| value.to_string();
    let percentiles = PERCENTILES.map(|q| quantile(latency, q).map(text).unwrap_or_default());
    (percentiles, nanos(latency.max.0 as f64))
}
