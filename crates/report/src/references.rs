//! Published figures as a terminal table.

use crate::document::{Document, DocumentBlock, TableStyle};
use crate::number;
use crate::table::DataTable;
use crate::text::Head;
use hakaru_model::references::{Level, ReferenceEntry};

const HEAD: [Head; 7] = [
    Head::Thing,
    Head::Layer,
    Head::Workload,
    Head::MegabytesPerSecond,
    Head::Iops,
    Head::RunCount,
    Head::Host,
];

/// Renders entries as a table, one line each.
pub fn references_terminal(entries: &[&ReferenceEntry]) -> String {
    let table = DataTable::new(HEAD.map(Head::text), entries.iter().map(|entry| row(entry)));
    let document = Document {
        blocks: vec![DocumentBlock::Table(TableStyle::Numbers, table)],
        ..Document::default()
    };
    document.terminal(usize::MAX, false)
}

fn row(entry: &ReferenceEntry) -> Vec<String> {
    let level = |level: &Level, unit: f64| {
        let mean = number::significant(level.mean / unit);
        match level.deviation {
            Some(deviation) if deviation > 0.0 => {
                format!("{mean} ± {}", number::significant(deviation / unit))
            }
            _ => mean,
        }
    };
    vec![
        entry.card.clone(),
        entry.layer.clone(),
        crate::naming::workload_words(&entry.workload),
        level(&entry.bandwidth, 1e6),
        level(&entry.iops, 1.0),
        entry.runs.to_string(),
        entry.host.clone(),
    ]
}
