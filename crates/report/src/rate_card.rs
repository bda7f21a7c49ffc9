//! The rate card of a series: sequential, random, mixed, durable and sustained I/O in one row each, reads beside
//! writes.

mod export;

pub use export::{card_markdown, card_png, card_svg, card_text};

use crate::number::{self, MeanText};
use crate::table::{self, DataTable};
use crate::workload::{self, WorkloadKind};
use crate::{naming, results, run, text};
use hakaru_model::finding::{PhaseSummary, Summary, WorkloadShape};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Quantile};

/// The figures of one series in one row for each kind of workload.
#[derive(Clone, Debug)]
pub(crate) struct RateCard {
    /// The target.
    pub(crate) title: String,
    /// Layer, host and number of runs.
    pub(crate) about: String,
    pub(crate) rows: Vec<RateRow>,
}

/// A row of a rate card.
#[derive(Clone, Debug)]
pub(crate) struct RateRow {
    pub(crate) name: String,
    /// Block size, queue depth and number of workers.
    pub(crate) shape: String,
    pub(crate) read: Option<RateCell>,
    pub(crate) write: Option<RateCell>,
}

/// The figures of one operation.
#[derive(Clone, Debug)]
pub(crate) struct RateCell {
    /// Bandwidth in MB/s, or the levels before and after a lasting drop.
    pub(crate) figure: String,
    pub(crate) deviation: Option<String>,
    /// IOPS and latency, or where the drop is.
    pub(crate) notes: Vec<String>,
    /// Bandwidth in bytes per second that the bar shows: the lower level after a drop.
    bandwidth: f64,
    /// Bandwidth before a drop, otherwise the same.
    peak: f64,
    /// Length of the bar in percent of the faster operation of the row.
    pub(crate) percent: u8,
}

/// What makes two phases one row.
type RowKey = (Option<(WorkloadKind, u64, u32, u32)>, String);

/// The card of a series; `None` without phases.
pub(crate) fn rate_card(summary: &Summary) -> Option<RateCard> {
    let mut rows: Vec<(RowKey, RateRow)> = Vec::new();
    for phase in &summary.phases {
        let kind = workload::kind(summary, phase);
        let free = |row: &RateRow| match phase.op {
            Op::Read => row.read.is_none(),
            Op::Write | Op::Trim => row.write.is_none(),
        };
        let place = |rows: &[(RowKey, RateRow)], key: &RowKey| {
            let mut known = rows.iter();
            known.position(|(known, row)| known == key && free(row))
        };
        let (mut kind, mut key) = (kind, key(kind, phase));
        let is_taken = rows.iter().any(|(known, _)| *known == key);
        if is_taken && place(&rows, &key).is_none() {
            // The deep suite has a workload that the standard one has too.
            if workload::of_phase(phase).is_some() {
                continue;
            }
            (kind, key) = (None, (None, phase.phase.clone()));
        }
        let place = place(&rows, &key).unwrap_or_else(|| {
            rows.push((key, new_row(kind, summary, phase)));
            rows.len() - 1
        });
        let row = &mut rows[place].1;
        match phase.op {
            Op::Read => row.read = Some(cell(phase)),
            Op::Write | Op::Trim => row.write = Some(cell(phase)),
        }
    }
    // Established kinds first, in their order; others as they were measured.
    rows.sort_by_key(|((kind, _), _)| kind.map_or((1, None), |kind| (0, Some(kind.0))));
    let keys: Vec<RowKey> = rows.iter().map(|(key, _)| key.clone()).collect();
    let named = |(key, row): (RowKey, RateRow)| scaled(told_apart(&key, row, &keys));
    let rows: Vec<RateRow> = rows.into_iter().map(named).collect();
    (!rows.is_empty()).then(|| RateCard {
        title: naming::thing(summary),
        about: about(summary),
        rows,
    })
}

/// Adds block size, queue depth and number of workers to the name of a row, if others have the same without them.
fn told_apart(key: &RowKey, mut row: RateRow, all: &[RowKey]) -> RateRow {
    use WorkloadKind::*;
    let (Some((kind @ (Sequential | Random | Mixed | Repeated), block, depth, workers)), _) = *key
    else {
        return row;
    };
    let keys = || all.iter().filter_map(|(key, _)| key.as_ref());
    let of_kind = keys().filter(|other| other.0 == kind).count();
    let of_size = keys().filter(|other| (other.0, other.1) == (kind, block));
    let load = format!("Q{depth} T{workers}");
    if of_kind > 1 {
        let size = number::block_size(Bytes(block));
        (row.name, row.shape) = match of_size.count() {
            0 | 1 => (format!("{} {size}", row.name), load),
            _ => (format!("{} {size} {load}", row.name), String::new()),
        };
    }
    row
}

fn key(kind: Option<WorkloadKind>, phase: &PhaseSummary) -> RowKey {
    match (kind, &phase.detail.shape) {
        (Some(kind), Some(shape)) => {
            let key = (kind, shape.block.0, shape.iodepth, shape.workers);
            (Some(key), String::new())
        }
        _ => (None, phase.phase.clone()),
    }
}

fn new_row(kind: Option<WorkloadKind>, summary: &Summary, phase: &PhaseSummary) -> RateRow {
    let several = summary.phases.iter().filter(|of| of.phase == phase.phase);
    let name = match kind {
        Some(kind) => text::row_kind(kind).to_owned(),
        None if several.count() > 1 => crate::escape::plain(&phase.phase),
        None => naming::phase(summary, phase),
    };
    let shape = phase.detail.shape.as_ref();
    let shape = match (kind, shape) {
        (Some(kind), Some(shape)) => row_shape(kind, shape, phase),
        _ => String::new(),
    };
    RateRow {
        name,
        shape,
        read: None,
        write: None,
    }
}

fn row_shape(kind: WorkloadKind, shape: &WorkloadShape, phase: &PhaseSummary) -> String {
    let block = number::block_size(shape.block);
    match kind {
        WorkloadKind::Durable => text::durable_shape(&block),
        WorkloadKind::Sustained => text::sustained_shape(&block, phase.detail.measured),
        WorkloadKind::Sequential
        | WorkloadKind::Random
        | WorkloadKind::Mixed
        | WorkloadKind::Repeated => {
            format!("{block}, Q{} T{}", shape.iodepth, shape.workers)
        }
    }
}

fn cell(phase: &PhaseSummary) -> RateCell {
    if let Some((levels, after)) = run::levels(phase) {
        let cliff = phase.sustained.as_ref().and_then(|s| s.cliff.as_ref());
        return RateCell {
            figure: levels,
            deviation: None,
            notes: vec![after],
            bandwidth: cliff.map_or(0.0, |cliff| cliff.after.0),
            peak: cliff.map_or(0.0, |cliff| cliff.before.0),
            percent: 0,
        };
    }
    let spread = MeanText::megabytes(&phase.bandwidth);
    let iops = (phase.iops.mean > 0.0).then(|| {
        let iops = number::in_groups(&MeanText::of(&phase.iops, 1.0).mean);
        format!("{iops} IOPS")
    });
    let synced = phase.sync.as_ref().filter(|sync| sync.count > 0);
    let p99 = match (synced, phase.latency.as_ref()) {
        (Some(sync), _) => results::quantile(sync, Quantile::P99).map(text::fsync_p99),
        (None, Some(latency)) => results::quantile(latency, Quantile::P99).map(text::p99),
        (None, None) => None,
    };
    RateCell {
        figure: number::in_groups(&spread.mean),
        deviation: spread.deviation,
        notes: iops.into_iter().chain(p99).collect(),
        bandwidth: phase.bandwidth.mean,
        peak: phase.bandwidth.mean,
        percent: 0,
    }
}

/// Sets the bars of a row to the share of its faster operation.
fn scaled(mut row: RateRow) -> RateRow {
    let cells = row.read.iter().chain(&row.write);
    let best = cells.map(|cell| cell.peak).fold(0.0, f64::max);
    for cell in [&mut row.read, &mut row.write].into_iter().flatten() {
        cell.percent = (cell.bandwidth / best * 100.0).clamp(0.0, 100.0) as u8;
    }
    row
}

fn about(summary: &Summary) -> String {
    let layer = naming::layer(summary);
    let environment = &summary.environment;
    let host = match environment.board.known() {
        Some(board) => crate::escape::plain(board),
        None => crate::escape::plain(&environment.hostname),
    };
    let parts = [layer, host, text::card_runs(summary.runs.len())];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

impl RateCard {
    /// The card as a table of text.
    pub(crate) fn table(&self) -> DataTable {
        let cell = |cell: &Option<RateCell>| {
            let Some(cell) = cell else {
                return "–".to_owned();
            };
            let deviation = cell.deviation.as_ref();
            let deviation = deviation.map_or(String::new(), |d| format!(" ± {d}"));
            let notes = text::enumerated(&cell.notes);
            match notes.is_empty() {
                true => format!("{}{deviation}", cell.figure),
                false => format!("{}{deviation}\n{notes}", cell.figure),
            }
        };
        let rows = self.rows.iter().map(|row| {
            let name = match row.shape.is_empty() {
                true => row.name.clone(),
                false => format!("{}\n{}", row.name, row.shape),
            };
            table::row(name, [cell(&row.read), cell(&row.write)])
        });
        DataTable::new(text::rate_card_head(), rows)
    }
}
