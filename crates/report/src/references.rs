//! Published figures as a table for a terminal.

use crate::escape::{columns_of, plain};
use crate::number;
use hakaru_model::references::{Level, ReferenceEntry};

const HEAD: [&str; 7] = ["Thing", "Layer", "Workload", "MB/s", "IOPS", "n", "Host"];

/// Entries line by line, columns lined up.
pub fn shelf_terminal(entries: &[&ReferenceEntry]) -> String {
    let mut rows = vec![HEAD.map(str::to_owned)];
    rows.extend(entries.iter().map(|entry| row(entry)));
    let widths: [usize; 7] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| columns_of(&row[column]))
            .max()
            .unwrap_or(0)
    });
    let line = |row: &[String; 7]| {
        let cells = row
            .iter()
            .zip(widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                let gap = " ".repeat(width - columns_of(cell));
                if (3..6).contains(&column) {
                    format!("{gap}{cell}")
                } else {
                    format!("{cell}{gap}")
                }
            });
        format!("  {}", cells.collect::<Vec<_>>().join("  "))
            .trim_end()
            .to_owned()
            + "\n"
    };
    rows.iter().map(line).collect()
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
        plain(card),
        plain(layer),
        plain(workload),
        level(bandwidth, 1e6),
        level(iops, 1.0),
        runs.to_string(),
        plain(host),
    ]
}
