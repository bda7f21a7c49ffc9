//! Runs as a Parquet dataset, for programs such as DuckDB: one row for each run, phase and operation, and the latency
//! histograms.

use crate::parquet::{ColumnValues, ParquetColumn, file};
use crate::time;
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::facts::Identity;
use hakaru_model::finding::{Estimate, LatencySummary, PhaseSummary, Summary, WorkloadShape};
use hakaru_model::histogram::{Histogram, upper_edge};
use hakaru_model::job::Op;
use hakaru_model::record::{Outcome, RunRecord};
use std::collections::BTreeMap;

/// Number of rows that are kept in memory before files are written; a row takes about 300 bytes.
const MOST_ROWS: usize = 50_000;

/// A file of a dataset.
pub struct DatasetFile {
    /// Path in the directory of the dataset: `runs/date=2026-11-27/device=SD32G/0001.parquet`.
    pub path: String,
    /// Content.
    pub content: Vec<u8>,
}

/// Collects runs, and returns files when there are enough of them. Memory does not grow with the number of runs.
#[derive(Default)]
pub struct Dataset {
    /// Rows by date and device.
    partitions: BTreeMap<(String, String), PartitionRows>,
    rows: usize,
    /// Number of times that files were returned.
    parts: u32,
}

/// Rows of one date and device.
#[derive(Default)]
struct PartitionRows {
    phases: TableRows,
    latencies: TableRows,
}

/// Values of a table, column by column.
#[derive(Default)]
struct TableRows {
    columns: Vec<ParquetColumn>,
}

impl TableRows {
    /// Appends a row. All rows have the same columns in the same order.
    fn push(&mut self, row: Vec<NamedCell>) {
        if self.columns.is_empty() {
            let empty = |(name, value): &NamedCell| ParquetColumn {
                name,
                values: match value {
                    CellValue::Text(_) => ColumnValues::Texts(Vec::new()),
                    CellValue::Count(_) => ColumnValues::Counts(Vec::new()),
                    CellValue::Number(_) => ColumnValues::Numbers(Vec::new()),
                },
            };
            self.columns = row.iter().map(empty).collect();
        }
        for (column, (_, value)) in self.columns.iter_mut().zip(row) {
            match (&mut column.values, value) {
                (ColumnValues::Texts(all), CellValue::Text(value)) => all.push(value),
                (ColumnValues::Counts(all), CellValue::Count(value)) => all.push(value),
                (ColumnValues::Numbers(all), CellValue::Number(value)) => all.push(value),
                _ => debug_assert!(false),
            }
        }
    }
}

/// Value of a cell; missing values are `None`.
enum CellValue {
    Text(Option<String>),
    Count(Option<i64>),
    Number(Option<f64>),
}

fn words(text: &str) -> CellValue {
    CellValue::Text((!text.is_empty()).then(|| text.to_owned()))
}

fn optional(text: Option<&String>) -> CellValue {
    CellValue::Text(text.cloned())
}

fn count(value: u64) -> CellValue {
    CellValue::Count(i64::try_from(value).ok())
}

impl Dataset {
    /// Adds a run with its summary, which must be of this run alone; returns the files to write now, if any.
    pub fn add(&mut self, run: &RunRecord, summary: &Summary) -> Vec<DatasetFile> {
        let partition = (
            time::day(run.started_common_ms()),
            partition_name(&device_name(&run.target)),
        );
        let rows = self.partitions.entry(partition).or_default();
        for phase in &summary.phases {
            let cells = [
                run_cells(run, summary),
                workload_cells(phase),
                result_cells(run, phase),
            ];
            rows.phases.push(cells.into_iter().flatten().collect());
            self.rows += 1;
        }
        for phase in &run.phases {
            for op in Op::ALL {
                let mut all = Histogram::new();
                let workers = phase.workers.iter();
                let latencies = workers.filter_map(|worker| worker.ops[op].clat.histogram.as_ref());
                latencies.for_each(|own| all.merge(own));
                for (bucket, ios) in all.buckets() {
                    rows.latencies.push(vec![
                        ("run", words(&run.id)),
                        ("phase", words(&phase.name)),
                        ("op", words(op.name())),
                        ("upper_ns", count(upper_edge(bucket))),
                        ("ios", count(ios)),
                    ]);
                    self.rows += 1;
                }
            }
        }
        match self.rows < MOST_ROWS {
            true => Vec::new(),
            false => self.take(),
        }
    }

    /// Returns the files of all rows that were not returned yet.
    pub fn take(&mut self) -> Vec<DatasetFile> {
        self.rows = 0;
        self.parts += 1;
        let part = self.parts;
        let mut files = Vec::new();
        for ((date, device), rows) in std::mem::take(&mut self.partitions) {
            for (table, rows) in [("runs", rows.phases), ("latencies", rows.latencies)] {
                if !rows.columns.is_empty() {
                    files.push(DatasetFile {
                        path: format!("{table}/date={date}/device={device}/{part:04}.parquet"),
                        content: file(table, &rows.columns),
                    });
                }
            }
        }
        files
    }
}

/// A cell with the name of its column.
type NamedCell = (&'static str, CellValue);

/// Where and when a run was measured. The columns of the table are stable; new ones are added at the end.
fn run_cells(run: &RunRecord, summary: &Summary) -> Vec<NamedCell> {
    let environment = &run.environment;
    let point = run.campaign.as_ref();
    let of_point = |value: fn(&CampaignPoint) -> &String| optional(point.map(value));
    let id = run.target.ids().first().map(|id| (*id).to_owned());
    let outcome = match &run.outcome {
        Outcome::Completed => "completed",
        Outcome::Interrupted => "interrupted",
        Outcome::Failed { .. } => "failed",
    };
    let started = CellValue::Count(Some(run.started_common_ms()));
    vec![
        ("run", words(&run.id)),
        ("series", words(&run.series)),
        ("repeat", count(u64::from(run.repeat))),
        ("started_unix_ms", started),
        ("origin", words(&crate::ids::origin_id(&summary.origin))),
        ("outcome", words(outcome)),
        ("host", words(&environment.hostname)),
        ("board", optional(environment.board.known())),
        ("kernel", words(&environment.kernel)),
        ("governor", optional(environment.governor.known())),
        ("label", optional(run.target.label.as_ref())),
        ("card", words(&device_name(&run.target))),
        ("card_id", CellValue::Text(id)),
        ("layer", words(run.target.layer().unwrap_or_default())),
        ("campaign", of_point(|point| &point.campaign)),
        ("campaign_layer", of_point(|point| &point.layer)),
        ("campaign_workload", of_point(|point| &point.workload)),
        ("scenario", words(&run.scenario.name)),
    ]
}

/// What a phase did.
fn workload_cells(phase: &PhaseSummary) -> Vec<NamedCell> {
    let shape = phase.detail.shape.as_ref();
    let of_shape = |value: fn(&WorkloadShape) -> u64| {
        CellValue::Count(shape.and_then(|shape| i64::try_from(value(shape)).ok()))
    };
    let access = shape.map_or("", |shape| match shape.random {
        true => "random",
        false => "sequential",
    });
    vec![
        ("phase", words(&phase.phase)),
        ("op", words(phase.op.name())),
        ("access", words(access)),
        ("block_bytes", of_shape(|shape| shape.block.0)),
        ("read_percent", of_shape(|shape| shape.read_percent.into())),
        ("iodepth", of_shape(|shape| shape.iodepth.into())),
        ("workers", of_shape(|shape| shape.workers.into())),
        ("sync_every", of_shape(|shape| shape.sync_every.into())),
        ("direct", of_shape(|shape| shape.direct.into())),
    ]
}

/// What was measured.
fn result_cells(run: &RunRecord, phase: &PhaseSummary) -> Vec<NamedCell> {
    let workers = run.phases.iter().filter(|of| of.name == phase.phase);
    let ops = workers
        .flat_map(|of| &of.workers)
        .map(|worker| &worker.ops[phase.op]);
    let (ios, bytes) = ops.fold((0u64, 0u64), |(ios, bytes), op| {
        (ios.saturating_add(op.ios), bytes.saturating_add(op.bytes))
    });
    let first = |estimate: Option<&Estimate>| {
        CellValue::Number(estimate.and_then(|of| of.values.first().copied()))
    };
    let latency =
        |value: fn(&LatencySummary) -> f64| CellValue::Number(phase.latency.as_ref().map(value));
    let sync =
        |value: fn(&LatencySummary) -> f64| CellValue::Number(phase.sync.as_ref().map(value));
    vec![
        ("ios", count(ios)),
        ("bytes", count(bytes)),
        ("bandwidth_bytes_per_s", first(Some(&phase.bandwidth))),
        ("iops", first(Some(&phase.iops))),
        ("latency_mean_ns", latency(|of| of.mean_ns)),
        ("latency_min_ns", latency(|of| of.min.0 as f64)),
        ("latency_max_ns", latency(|of| of.max.0 as f64)),
        ("sync_mean_ns", sync(|of| of.mean_ns)),
        ("sync_max_ns", sync(|of| of.max.0 as f64)),
        ("amplification", first(phase.amplification.as_ref())),
        ("errors", count(phase.errors)),
    ]
}

/// Returns the name of a device, whatever label its runs have.
fn device_name(target: &Identity) -> String {
    Identity {
        label: None,
        ..target.clone()
    }
    .display_name()
}

/// Returns a name that needs no escaping in a path of any system: other characters become `_`.
fn partition_name(name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || "-.".contains(c) {
        true => c,
        false => '_',
    };
    let name: String = name.chars().take(60).map(plain).collect();
    match name.trim_matches(['.', '_']) {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_partitions_are_plain() {
        assert_eq!(partition_name("SD32G (0x12)"), "SD32G__0x12");
        assert_eq!(partition_name("../../x"), "x");
        assert_eq!(partition_name("カード"), "unknown");
        assert_eq!(partition_name("/dev/sda"), "dev_sda");
    }
}
