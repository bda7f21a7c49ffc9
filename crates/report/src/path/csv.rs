//! The figures of traced phases in CSV and Parquet.

use super::figures;
use crate::csv::{CsvStats, estimate};
use crate::{escape, ids, number};
use hakaru_model::finding::{Estimate, Summary, TracedPhase};
use hakaru_model::io_path::{
    ClassTraffic, IoPath, OperationDifference, OperationPath, PathDifference, PathFigure,
    TimeDifference, TimePart, TracedSeries,
};
use hakaru_model::job::Op;
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

    /// Whether the figure compares with another series or layer.
    pub(crate) fn is_difference(&self) -> bool {
        ["path_difference_", "path_ratio_"]
            .iter()
            .any(|prefix| self.figure.starts_with(prefix))
    }
}

/// All figures of the traced runs of a series, each with its phase: those of each run, those over all runs, and the
/// differences from the series compared with.
pub(crate) fn all_lines(summary: &Summary) -> Vec<(&str, PathCsvLine)> {
    let mut all = Vec::new();
    for traced in &summary.paths {
        let lines = lines(traced).into_iter();
        all.extend(lines.map(|line| (traced.phase.as_str(), line)));
    }
    for series in &summary.traced {
        let lines = figure_lines(series).into_iter();
        all.extend(lines.map(|line| (series.phase.as_str(), line)));
    }
    for of in &summary.path_differences {
        let lines = difference_lines(of).into_iter();
        all.extend(lines.map(|line| (of.phase.as_str(), line)));
    }
    all
}

/// All figures of a traced phase.
fn lines(traced: &TracedPhase) -> Vec<PathCsvLine> {
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

/// Kind of an operation in the name of a figure.
fn kind(op: Option<Op>, with_sync: bool) -> &'static str {
    match (op, with_sync) {
        (None, _) => "sync_time",
        (Some(_), true) => "synced_time",
        (Some(_), false) => "time",
    }
}

/// Mean time of each part, and those of the median and the P99 operation.
fn times(of: &OperationPath) -> Vec<PathCsvLine> {
    let kind = kind(of.op, of.with_sync);
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

/// Figures over all traced runs of a phase, and what limits it.
fn figure_lines(series: &TracedSeries) -> Vec<PathCsvLine> {
    let line = |(figure, of): &(PathFigure, Estimate)| {
        let (op, name, unit) = match *figure {
            PathFigure::RequestsPerIo { op } => (Some(op), "requests_per_io".to_owned(), "1"),
            PathFigure::Amplification { op } => (Some(op), "amplification".to_owned(), "1"),
            PathFigure::FlushesPerIo => (None, "flushes_per_io".to_owned(), "1"),
            PathFigure::DeviceShare => (None, "device_share".to_owned(), "1"),
            PathFigure::Latency { op, with_sync } => (op, kind(op, with_sync).to_owned(), "ns"),
            PathFigure::Part {
                op,
                with_sync,
                part,
            } => {
                let kind = kind(op, with_sync);
                (op, format!("{kind}_{}", ids::time_part(part)), "ns")
            }
        };
        PathCsvLine {
            op: op.map_or("", Op::name),
            ..PathCsvLine::new(format!("path_runs_{name}"), unit, estimate(of, 1.0))
        }
    };
    let limit = CsvStats::single(ids::path_limit(series.limit));
    let limit = PathCsvLine::new("path_limit", "", limit);
    series.figures.iter().map(line).chain([limit]).collect()
}

/// Why a side takes longer than the one compared with; empty if they cannot be compared.
fn difference_lines(of: &PathDifference) -> Vec<PathCsvLine> {
    let Ok(comparison) = &of.outcome else {
        return Vec::new();
    };
    let runs = u64::from(of.runs.1);
    let operations = comparison.operations.iter();
    let mut all: Vec<PathCsvLine> = operations
        .flat_map(|of| operation_lines(of, runs))
        .collect();
    if let Some(identity) = &comparison.identity {
        let ratios = [
            ("time", identity.time),
            ("bytes", identity.bytes),
            ("time_per_byte", identity.time_per_byte),
            ("flush", identity.flush),
            ("waiting", identity.waiting),
        ];
        all.extend(ratios.map(|(name, ratio)| {
            let row = CsvStats::single(number::exact(ratio, 6));
            PathCsvLine::new(format!("path_ratio_{name}"), "1", row)
        }));
    }
    all
}

fn operation_lines(of: &OperationDifference, runs: u64) -> Vec<PathCsvLine> {
    let prefix = format!("path_difference_{}", kind(of.op, of.with_sync));
    let exact = |nanos: f64| number::exact(nanos, 3);
    let time = |name: String, time: &TimeDifference| {
        let (low, high) = time.ci95.unzip();
        let row = CsvStats {
            n: Some(runs),
            ci95: (
                low.map(exact).unwrap_or_default(),
                high.map(exact).unwrap_or_default(),
            ),
            ..CsvStats::single(exact(time.value))
        };
        PathCsvLine::new(name, "ns", row)
    };
    let mut all = vec![time(prefix.clone(), &of.total)];
    all.extend(of.parts.iter().map(|part| {
        let name = ids::difference_part(part.part);
        time(format!("{prefix}_{name}"), &part.time)
    }));
    if let Some(split) = &of.device {
        let prices = [
            ("more_requests", split.requests),
            ("more_bytes", split.bytes),
            ("jumps", split.jumps),
            ("unexplained", split.remainder),
        ];
        all.extend(prices.map(|(name, nanos)| {
            let row = CsvStats::single(exact(nanos));
            PathCsvLine::new(format!("{prefix}_price_{name}"), "ns", row)
        }));
    }
    if of.base > 0.0 {
        let row = CsvStats::single(number::exact(of.other / of.base, 6));
        all.push(PathCsvLine::new(format!("{prefix}_ratio"), "1", row));
    }
    for line in &mut all {
        line.op = of.op.map_or("", Op::name);
    }
    all
}

/// The parts of a difference in the columns of a comparison: their means on both sides, the ratio and the difference.
pub(crate) fn compared_lines(of: &PathDifference, names: (&str, &str)) -> Vec<String> {
    let comparison = of.outcome.as_ref().ok();
    let operations = comparison.map_or(&[][..], |it| &it.operations[..]);
    let exact = |nanos: f64| number::exact(nanos, 3);
    let line = |figure: String, (base, other): (f64, f64), time: &TimeDifference| {
        let ratio = (base > 0.0).then(|| number::exact(other / base, 6));
        let (low, high) = time.ci95.unzip();
        let cells = [
            escape::csv(&figure),
            "ns".to_owned(),
            escape::csv(names.0),
            of.runs.0.to_string(),
            exact(base),
            String::new(),
            escape::csv(names.1),
            of.runs.1.to_string(),
            exact(other),
            String::new(),
            ratio.unwrap_or_default(),
            ",".repeat(EMPTY - 1),
            exact(time.value),
            low.map(exact).unwrap_or_default(),
            high.map(exact).unwrap_or_default(),
        ];
        cells.join(",") + "\r\n"
    };
    let of_operation = |it: &OperationDifference| {
        let name = |part: &str| {
            let op = it.op.map_or(String::new(), |op| format!(" {}", op.name()));
            let kind = kind(it.op, it.with_sync);
            format!("{}{op} path_{kind}{part}", of.phase)
        };
        let total = line(name(""), (it.base, it.other), &it.total);
        let parts = it.parts.iter().map(|part| {
            let id = format!("_{}", ids::difference_part(part.part));
            line(name(&id), (part.base, part.other), &part.time)
        });
        std::iter::once(total).chain(parts).collect::<Vec<_>>()
    };
    operations.iter().flat_map(of_operation).collect()
}

/// Columns of a comparison between its ratio and the difference that concern statistical tests.
const EMPTY: usize = 14;
