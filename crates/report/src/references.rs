//! Published figures as a terminal table.

use crate::document::{Document, DocumentBlock, TableStyle};
use crate::number;
use crate::table::DataTable;
use hakaru_model::references::{Level, ReferenceEntry};

const HEAD: [&str; 7] = ["Thing", "Layer", "Workload", "MB/s", "IOPS", "n", "Host"];

/// Renders entries as a table, one line each.
pub fn shelf_terminal(entries: &[&ReferenceEntry]) -> String {
    let table = DataTable {
        head: HEAD.map(str::to_owned).to_vec(),
        rows: entries.iter().map(|entry| row(entry).to_vec()).collect(),
    };
    let document = Document {
        blocks: vec![DocumentBlock::Table(TableStyle::Numbers, table)],
        ..Document::default()
    };
    document.terminal(usize::MAX, false)
}

fn row(entry: &ReferenceEntry) -> [String; 7] {
    let ReferenceEntry {
        source: _,
        host,
        card,
        layer,
        workload,
        op: _,
        shape: _,
        runs,
        bandwidth,
        iops,
    } = entry;
    let level = |level: &Level, unit: f64| {
        let mean = number::significant(level.mean / unit);
        match level.deviation {
            Some(deviation) if deviation > 0.0 => {
                format!("{mean} ± {}", number::significant(deviation / unit))
            }
            _ => mean,
        }
    };
    [
        card.clone(),
        layer.clone(),
        workload.clone(),
        level(bandwidth, 1e6),
        level(iops, 1.0),
        runs.to_string(),
        host.clone(),
    ]
}
