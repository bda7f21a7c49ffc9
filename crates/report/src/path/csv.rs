//! The figures of traced phases in CSV and Parquet.

use super::figures;
use crate::csv::CsvStats;
use crate::{ids, number};
use hakaru_model::finding::TracedPhase;
use hakaru_model::io_path::{ClassTraffic, IoPath, OperationPath, TimePart};
use hakaru_model::record::Latency;
use hakaru_model::units::Quantile;

/// A line about a traced phase: figure, unit and statistics.
pub(crate) struct PathCsvLine {
    /// Name of the operation; empty if the figure has none.
    pub(crate) op: &'static str,
    pub(crate) figure: String,
    pub(crate) unit: &'static str,
    pub(crate) row: CsvStats,
}

impl PathCsvLine {
    fn new(figure: impl Into<String>, unit: &'static str, row: CsvStats) -> PathCsvLine {
        PathCsvLine {
            op: "",
            figure: figure.into(),
            unit,
            row,
        }
    }
}

/// All figures of a traced phase.
pub(crate) fn lines(traced: &TracedPhase) -> Vec<PathCsvLine> {
    let path = &traced.path;
    let value =
        |figure: &str, unit, value: String| PathCsvLine::new(figure, unit, CsvStats::single(value));
    let mut all = vec![
        value("path_window", "ns", path.window.0.to_string()),
        value("path_busy", "ns", path.busy.0.to_string()),
        value("path_depth", "1", number::exact(path.mean_depth, 6)),
        value(
            "path_events_lost",
            "1",
            number::exact(path.tracer.lost_share(), 9),
        ),
    ];
    if let Some(cost) = &path.cost {
        let exact = |share: f64| number::exact(share, 6);
        let row = CsvStats {
            n: Some(u64::from(cost.pairs)),
            ci95: (
                exact(cost.mean - cost.margin),
                exact(cost.mean + cost.margin),
            ),
            ..CsvStats::single(exact(cost.mean))
        };
        all.push(PathCsvLine::new("path_trace_cost", "1", row));
    }
    all.extend(path.classes.iter().flat_map(class));
    all.extend(amplification(path));
    all.extend(path.operations.iter().flat_map(times));
    all
}

/// Bytes at the device per byte of the application.
fn amplification(path: &IoPath) -> Vec<PathCsvLine> {
    let of_op = |op| {
        let asked = figures::asked_bytes(path, Some(op));
        let ratio = number::exact(path.bytes(op).0 as f64 / asked, 6);
        PathCsvLine {
            op: op.name(),
            ..PathCsvLine::new("path_amplification", "1", CsvStats::single(ratio))
        }
    };
    figures::asked_ops(path).into_iter().map(of_op).collect()
}

fn class(of: &ClassTraffic) -> Vec<PathCsvLine> {
    let id = ids::io_class(of.class);
    let count = |name: &str, unit, value: u64| {
        PathCsvLine::new(format!("path_{id}_{name}"), unit, CsvStats::single(value))
    };
    let mut all = vec![
        count("requests", "1", of.requests),
        count("bytes", "B", of.bytes.0),
        count("runs", "1", of.runs),
        count("bios", "1", of.bios),
        count("merges", "1", of.merges),
        count("splits", "1", of.splits),
    ];
    all.extend(of.commands.iter().flat_map(|commands| {
        [
            count("commands", "1", commands.commands),
            count("command_runs", "1", commands.runs),
            count("command_time", "ns", commands.busy.0),
        ]
    }));
    for (name, latency) in [("queue", &of.queue), ("device", &of.device)] {
        let row = distribution(latency);
        all.extend(row.map(|row| PathCsvLine::new(format!("path_{id}_{name}"), "ns", row)));
    }
    for line in &mut all {
        line.op = of.op.map_or("", |op| op.name());
    }
    all
}

/// The distribution of a latency; `None` without values.
fn distribution(latency: &Latency) -> Option<CsvStats> {
    let stat = &latency.stat;
    let mean = number::exact(stat.mean()?, 3);
    let median = latency
        .histogram
        .as_ref()
        .and_then(|h| h.value_at(Quantile::MEDIAN));
    Some(CsvStats {
        n: Some(stat.count),
        value: mean.clone(),
        mean,
        min: stat.min.to_string(),
        max: stat.max.to_string(),
        median: median.map(|value| value.0.to_string()).unwrap_or_default(),
        ..CsvStats::default()
    })
}

/// Mean time of each part, and those of the median and the P99 operation.
fn times(of: &OperationPath) -> Vec<PathCsvLine> {
    let kind = match (of.op, of.with_sync) {
        (None, _) => "sync_time",
        (Some(_), true) => "synced_time",
        (Some(_), false) => "time",
    };
    let op = of.op.map_or("", |op| op.name());
    let exact = |nanos: f64| number::exact(nanos, 3);
    let part = |part: TimePart| {
        let figure = format!("path_{kind}_{}", ids::time_part(part));
        let mean = exact(of.mean.of(part));
        let row = CsvStats {
            n: Some(of.count),
            value: mean.clone(),
            mean,
            median: of
                .median
                .map(|parts| exact(parts.of(part)))
                .unwrap_or_default(),
            ..CsvStats::default()
        };
        let p99 = of.p99.map(|parts| {
            let row = CsvStats::single(exact(parts.of(part)));
            PathCsvLine::new(format!("{figure}_p99"), "ns", row)
        });
        std::iter::once(PathCsvLine::new(figure, "ns", row)).chain(p99)
    };
    let mut all: Vec<PathCsvLine> = TimePart::ALL.into_iter().flat_map(part).collect();
    for line in &mut all {
        line.op = op;
    }
    all
}
