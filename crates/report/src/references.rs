//! Reference results as tables.

use crate::document::{Document, DocumentBlock, TableStyle, part};
use crate::number;
use crate::table::DataTable;
use crate::text::Head;
use hakaru_model::references::{Level, ReferenceEntry, ReferenceSet};

const HEAD: [Head; 7] = [
    Head::Thing,
    Head::Layer,
    Head::Workload,
    Head::MegabytesPerSecond,
    Head::Iops,
    Head::RunCount,
    Head::Host,
];

/// Renders reference results as an HTML page with this title, one part for each source.
pub fn references_html(references: &ReferenceSet, title: &str) -> String {
    let mut blocks = Vec::new();
    for source in &references.sources {
        let entries = references.entries.iter();
        let entries: Vec<&ReferenceEntry> =
            entries.filter(|entry| entry.source == source.id).collect();
        let mut of_source = vec![DocumentBlock::Table(TableStyle::Numbers, table(&entries))];
        if !source.note.is_empty() {
            of_source.insert(0, DocumentBlock::Quiet(source.note.clone()));
        }
        if !entries.is_empty() {
            blocks.extend(part(source.title.clone(), of_source));
        }
    }
    let document = Document {
        title: title.to_owned(),
        under: Vec::new(),
        blocks,
    };
    document.html()
}

fn table(entries: &[&ReferenceEntry]) -> DataTable {
    DataTable::new(HEAD.map(Head::text), entries.iter().map(|entry| row(entry)))
}

/// Renders entries as a table, one line each.
pub fn references_terminal(entries: &[&ReferenceEntry]) -> String {
    let table = table(entries);
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
