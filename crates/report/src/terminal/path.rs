//! The charts of the path of an I/O as bars of characters.

use crate::escape::{columns_of, plain};
use crate::number;
use crate::svg::{Differences, FlowPicture, Shares, SizeBars, SizeRow};
use crate::text;

/// Maximum width of a bar in columns.
const WIDEST: usize = 40;

/// A bar of eighths of a column; at least an eighth for a value above zero.
fn bar(value: f64, largest: f64, columns: usize) -> String {
    const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
    if value.is_nan() || value <= 0.0 || largest <= 0.0 {
        return String::new();
    }
    let eighths = ((value / largest * columns as f64 * 8.0).round() as usize).clamp(1, columns * 8);
    let (full, rest) = (eighths / 8, eighths % 8);
    let last = rest.checked_sub(1).map(|rest| EIGHTHS[rest]);
    "█".repeat(full) + &last.map(String::from).unwrap_or_default()
}

/// A row: name, bar, figures.
struct Row {
    name: String,
    value: f64,
    text: String,
}

/// Rows with aligned bars, at most `width` columns wide; figures follow the bars directly.
fn rows(rows: &[Row], largest: f64, width: usize) -> String {
    let names = rows
        .iter()
        .map(|row| columns_of(&row.name))
        .max()
        .unwrap_or(0);
    let texts = rows
        .iter()
        .map(|row| columns_of(&row.text))
        .max()
        .unwrap_or(0);
    let room = width.saturating_sub(names + texts + 6).clamp(4, WIDEST);
    let line = |row: &Row| {
        let gap = " ".repeat(names - columns_of(&row.name) + 2);
        let bar = bar(row.value, largest, room);
        let between = if bar.is_empty() { "" } else { " " };
        let line = format!("  {}{gap}{bar}{between}{}", row.name, row.text);
        line.chars().take(width).collect::<String>() + "\n"
    };
    rows.iter().map(line).collect()
}

/// The bytes of the application, and below them what they became at the device.
pub(super) fn flow(data: &FlowPicture, width: usize) -> String {
    let application = data.stages.first();
    let mut all = vec![Row {
        name: application.map_or_else(String::new, |stage| stage.name.clone()),
        value: 1.0,
        text: application.map_or_else(String::new, |stage| plain(&stage.notes.join(", "))),
    }];
    all.extend(data.bands.iter().map(|band| Row {
        name: band.name.clone(),
        value: band.width,
        text: match band.changed.is_empty() {
            true => band.label.clone(),
            false => text::enumerated(&[band.label.clone(), band.changed.clone()]),
        },
    }));
    all.extend(data.flushes.iter().map(|(name, text)| Row {
        name: name.clone(),
        value: 0.0,
        text: text.clone(),
    }));
    rows(&all, data.full.max(1.0), width)
}

/// The parts of each bar as lines.
pub(super) fn shares(data: &Shares, width: usize) -> String {
    let of_bar = |bar: &crate::svg::ShareBar| {
        let total: f64 = bar.parts.iter().map(|part| part.nanos).sum();
        let row = |part: &crate::svg::SharePart| Row {
            name: part.name.to_owned(),
            value: part.nanos,
            text: format!(
                "{}%, {}",
                number::percent(part.nanos / total),
                number::nanos(part.nanos)
            ),
        };
        let all: Vec<Row> = bar.parts.iter().map(row).collect();
        format!("{}\n{}", plain(&bar.label), rows(&all, total, width))
    };
    data.bars.iter().map(of_bar).collect()
}

/// Requests at the device by size, with the number that the application asked for.
pub(super) fn sizes(data: &SizeBars, width: usize) -> String {
    let most = data.rows.iter().map(|row| row.reached).max().unwrap_or(0);
    let row = |row: &SizeRow| Row {
        name: row.label.clone(),
        value: row.reached as f64,
        text: text::reached_and_asked(row.reached, row.asked),
    };
    let all: Vec<Row> = data.rows.iter().map(row).collect();
    rows(&all, most as f64, width)
}

/// The parts of a difference as lines with their signs.
pub(super) fn differences(data: &Differences, width: usize) -> String {
    let largest = data.rows.iter().map(|row| row.2.abs()).fold(0.0, f64::max);
    let row = |(_, name, value, text): &(crate::svg::Paint, String, f64, String)| Row {
        name: plain(name),
        value: value.abs(),
        text: text.clone(),
    };
    let all: Vec<Row> = data.rows.iter().map(row).collect();
    rows(&all, largest, width)
}
