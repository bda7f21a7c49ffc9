//! Plain text for a terminal of a given width: results first, then what limits their worth, then the circumstances.

use crate::number::Spread;
use crate::{facts, naming, results, time};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use hakaru_model::finding::Summary;

/// Narrower terminals are treated as this wide.
const NARROWEST: usize = 60;
/// From this width on there is room for more than the essential columns.
const ROOMY: usize = 110;

/// Renders one series for a terminal of `width` columns; `color` allows ANSI styles.
pub fn terminal(summary: &Summary, width: usize, color: bool) -> String {
    let width = width.max(NARROWEST);
    let ink = Ink { color };
    let mut out = String::new();
    out.push_str(&ink.bold(&facts::headline(summary)));
    let under = [facts::runs(summary), crate::text::plain(&summary.origin), time::utc(summary.started_unix_ms)];
    out.push_str(&format!("\n{}\n\n", ink.dim(&under.join(" · "))));
    out.push_str(&table(summary, width, ink));
    for phase in &summary.phases {
        if let Some(sustained) = facts::sustained(phase) {
            let text = format!("{}: {sustained}", naming::phase(summary, phase));
            out.push_str(&format!("\n{}\n", hanging("", &text, width)));
        }
    }
    if !summary.caveats.is_empty() {
        out.push('\n');
        for caveat in &summary.caveats {
            let text = hanging("! ", &crate::text::plain(&caveat.to_string()), width);
            out.push_str(&format!("{}\n", ink.yellow(&text)));
        }
    }
    out.push('\n');
    for line in facts::circumstances(summary).iter().filter(|line| line.known) {
        let name = format!("{:<18}", line.name);
        out.push_str(&format!("{}\n", ink.dim(&hanging(&name, &line.value, width))));
    }
    out
}

/// ANSI styles, or nothing.
#[derive(Clone, Copy)]
struct Ink {
    color: bool,
}

impl Ink {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }
}

fn table(summary: &Summary, width: usize, ink: Ink) -> String {
    let rows = results::rows(summary);
    let bandwidth = aligned(rows.iter().map(|row| row.bandwidth.as_ref()));
    let iops = aligned(rows.iter().map(|row| row.iops.as_ref()));
    let roomy = width >= ROOMY;
    let mut head = vec!["Phase", "MB/s", "IOPS", "median", "P99", "P99.9"];
    if roomy {
        head.insert(1, "Workload");
        head.push("longest");
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(u16::try_from(width).unwrap_or(u16::MAX)).set_header(&head);
    for ((row, bandwidth), iops) in rows.into_iter().zip(bandwidth).zip(iops) {
        let [median, p99, p999] = row.percentiles;
        let mut cells = vec![row.name, bandwidth, iops, median, p99, p999];
        if roomy {
            cells.insert(1, row.workload);
            cells.push(row.max);
        }
        table.add_row(cells);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let words = index == 0 || roomy && index == 1;
        column.set_cell_alignment(if words { CellAlignment::Left } else { CellAlignment::Right });
        column.set_padding((0, 2));
    }
    let text = table.trim_fmt();
    let (head, body) = text.split_once('\n').unwrap_or((text.as_str(), ""));
    format!("{}\n{body}\n", ink.bold(head))
}

/// Means right-aligned among themselves, and spreads too.
fn aligned<'a>(spreads: impl Iterator<Item = Option<&'a Spread>> + Clone) -> Vec<String> {
    let longest = |part: fn(&Spread) -> usize| spreads.clone().flatten().map(part).max().unwrap_or(0);
    let deviations = longest(|s| s.deviation.as_ref().map_or(0, |d| d.chars().count()));
    let text = |s: &Spread| match &s.deviation {
        Some(deviation) => format!("{} ± {deviation:>deviations$}", s.mean),
        None if deviations > 0 => format!("{}   {:deviations$}", s.mean, ""),
        None => s.mean.clone(),
    };
    spreads.clone().map(|s| s.map_or_else(String::new, text)).collect()
}

/// Wraps words at `width`; lines after the first are indented by the length of `lead`.
fn hanging(lead: &str, text: &str, width: usize) -> String {
    let indent = lead.chars().count();
    let room = width.saturating_sub(indent).max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    format!("{lead}{}", lines.join(&format!("\n{:indent$}", "")))
}
