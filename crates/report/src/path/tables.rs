//! Tables of the path: requests by class, and figures over the traced runs of all sides.

use super::{PathPhase, PathSide, figures};
use crate::naming::distinct;
use crate::number;
use crate::table::{self, DataTable};
use crate::text;
use hakaru_model::finding::Estimate;
use hakaru_model::io_path::{
    ClassTime, ClassTraffic, IoClass, IoPath, OperationPath, PathFigure, PathIdentity,
};
use hakaru_model::record::Latency;
use hakaru_model::units::{Nanos, Quantile};

/// Requests by class: traffic, sizes, latencies, time of an operation, and commands.
pub(super) fn class_table(path: &IoPath) -> DataTable {
    let all_bytes = figures::moved(path).max(1.0);
    let ops = distinct(path.classes.iter().filter_map(|class| class.op));
    let main = figures::main_operation(path);
    let row = |class: &ClassTraffic| {
        let title = text::io_class_title(class.class);
        let name = match class.op {
            Some(op) if ops.len() > 1 => text::class_of_op(&title, op),
            _ => title,
        };
        let flush = class.class == IoClass::Flush;
        let ios = class.op.map_or(0, |op| figures::asked_count(path, op));
        let per_io = match (flush, ios) {
            (false, 1..) => number::significant(class.requests as f64 / ios as f64),
            _ => String::new(),
        };
        let bytes = |text: String| if flush { String::new() } else { text };
        let commands = class.commands.as_ref().map(|c| number::grouped(c.commands));
        let merged = match class.merges | class.splits {
            0 => String::new(),
            _ => format!(
                "{} / {}",
                number::grouped(class.merges),
                number::grouped(class.splits)
            ),
        };
        let time = |times: fn(&OperationPath) -> &[ClassTime]| match (main, class.op) {
            (Some(of), op) if of.op.is_none() || op.is_none() || of.op == op => {
                time_of(times(of), class.class)
            }
            _ => String::new(),
        };
        let cells = [
            number::grouped(class.requests),
            per_io,
            bytes(class.bytes.to_string()),
            bytes(format!(
                "{}%",
                number::percent(class.bytes.0 as f64 / all_bytes)
            )),
            quantile(&class.queue, Quantile::MEDIAN),
            quantile(&class.device, Quantile::MEDIAN),
            quantile(&class.device, Quantile::P99),
            time(|of| &of.classes),
            time(|of| &of.behind),
            merged,
            commands.unwrap_or_default(),
        ];
        table::row(name, cells)
    };
    let operation = main.map_or_else(String::new, |of| {
        text::traced_operation(of.op, of.with_sync)
    });
    DataTable::new(
        text::class_table_heads(&operation),
        path.classes.iter().map(row),
    )
    .without_empty_columns()
}

/// The mean time of a class; empty if it is 0.
fn time_of(times: &[ClassTime], class: IoClass) -> String {
    let found = times.iter().find(|time| time.class == class);
    found.map_or_else(String::new, |time| number::nanos(time.nanos))
}

/// A percentile of a latency; the mean if only that is known; empty without values.
fn quantile(latency: &Latency, wanted: Quantile) -> String {
    if latency.stat.count == 0 {
        return String::new();
    }
    let found = latency
        .histogram
        .as_ref()
        .and_then(|histogram| histogram.value_at(wanted));
    found
        .map(|value: Nanos| value.to_string())
        .unwrap_or_default()
}

/// Figures over the traced runs, one column for each side; `None` without figures.
pub(super) fn figure_table(phase: &PathPhase<'_>) -> Option<DataTable> {
    let main = phase.sides.first().map(|side| side.path());
    let main = main.and_then(figures::main_operation);
    let kind = main.map(|of| (of.op, of.with_sync));
    let is_shown = |figure: &PathFigure| match *figure {
        PathFigure::Latency { op, with_sync } | PathFigure::Part { op, with_sync, .. } => {
            kind == Some((op, with_sync))
        }
        _ => true,
    };
    let all = phase.sides.iter().flat_map(|side| &side.series.figures);
    let figures = distinct(all.map(|(figure, _)| *figure).filter(is_shown));
    let journal = phase
        .sides
        .iter()
        .any(|side| figures::has_journal(side.path()));
    let row = |figure: PathFigure| {
        let cells = phase.sides.iter().map(|side| {
            let estimate = side.figure(figure);
            estimate.map_or_else(|| "–".to_owned(), |it| estimated(figure, it))
        });
        let cells: Vec<String> = cells.collect();
        let used = phase
            .sides
            .iter()
            .filter_map(|side| side.figure(figure))
            .any(|it| it.max != 0.0 || it.min != 0.0);
        used.then(|| table::row(text::path_figure(figure, journal), cells))
    };
    let of_sides = |name: String, of: fn(&PathSide<'_>) -> String| {
        table::row(name, phase.sides.iter().map(of))
    };
    let [figure_name, runs_name, limit_name, value_name] = text::figure_table_names();
    let rows: Vec<Vec<String>> = figures.into_iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let last = [
        of_sides(limit_name.to_owned(), |side| {
            text::path_limit_name(side.series.limit).to_owned()
        }),
        of_sides(runs_name.to_owned(), |side| {
            number::grouped(side.series.runs.len() as u64)
        }),
    ];
    let names = phase.sides.iter().map(|side| match side.name.is_empty() {
        true => value_name.to_owned(),
        false => side.name.clone(),
    });
    let head = table::row(figure_name, names);
    Some(DataTable::new(head, rows.into_iter().chain(last)))
}

/// The mean with its interval.
fn estimated(figure: PathFigure, of: &Estimate) -> String {
    let show = |value: f64| match figure {
        PathFigure::RequestsPerIo { .. }
        | PathFigure::Amplification { .. }
        | PathFigure::FlushesPerIo => number::significant(value),
        PathFigure::DeviceShare => format!("{}%", number::percent(value)),
        PathFigure::Latency { .. } | PathFigure::Part { .. } => number::nanos(value),
    };
    match of.ci95 {
        Some((low, high)) if of.values.len() > 1 => {
            format!("{} [{}, {}]", show(of.mean), show(low), show(high))
        }
        _ => show(of.mean),
    }
}

/// The ratio of times as a product of four ratios, one row for each side compared; `None` without any.
pub(super) fn identity_table(phase: &PathPhase<'_>) -> Option<DataTable> {
    let row = |name: String, of: &PathIdentity| {
        let ratios = [
            of.time,
            of.bytes,
            of.time_per_byte,
            of.flush,
            of.waiting,
            of.product(),
        ];
        table::row(
            name,
            ratios.map(|ratio| format!("{}x", number::significant(ratio))),
        )
    };
    let rows = phase.differences.iter().filter_map(|it| {
        let identity = it.comparison()?.identity.as_ref()?;
        Some(row(text::against(it.other(), it.base()), identity))
    });
    DataTable::new(text::identity_table_heads(), rows).nonempty()
}
