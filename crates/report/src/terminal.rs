//! Plain text for a terminal of a given width: results first, then what limits their worth, then the circumstances.

use crate::escape::columns_of;
use crate::number::MeanText;
use crate::{facts, findings, naming, results, time};
use hakaru_model::advice::RunFindings;
use hakaru_model::finding::Summary;

/// Narrower terminals are treated as this wide.
pub(crate) const NARROWEST: usize = 40;

/// Renders one series for a terminal of `width` columns; `color` allows ANSI styles.
pub fn terminal(summary: &Summary, width: usize, color: bool) -> String {
    terminal_with(summary, &RunFindings::default(), width, color)
}

/// The same with what was concluded from it.
pub fn terminal_with(
    summary: &Summary,
    findings: &RunFindings,
    width: usize,
    color: bool,
) -> String {
    let width = width.max(NARROWEST);
    let ink = TerminalStyle { color };
    let mut out = String::new();
    out.push_str(&ink.bold(&hanging("", &facts::headline(summary), width)));
    let under = [
        facts::runs(summary),
        crate::escape::plain(&summary.origin),
        time::utc(summary.started_unix_ms),
    ];
    out.push_str(&format!(
        "\n{}\n\n",
        ink.dim(&hanging("", &under.join(" · "), width))
    ));
    out.push_str(&table(summary, width, ink));
    let spread = if summary.runs.len() == 1 {
        "of the one run"
    } else {
        "mean ± deviation over runs"
    };
    let open = summary.phases.iter().any(|phase| phase.detail.open_loop);
    let from = if open {
        " Latency of an open loop counts from the intended start of each I/O."
    } else {
        ""
    };
    let legend =
        format!("MB/s and IOPS: {spread}. Median to longest: latency, all runs together.{from}");
    out.push_str(&ink.dim(&hanging("", &legend, width)));
    out.push('\n');
    let mut said = String::new();
    for phase in &summary.phases {
        for words in [
            facts::sustained(phase),
            facts::notable_amplification(phase),
            facts::laid_out(phase),
        ]
        .into_iter()
        .flatten()
        {
            let name = format!("{}: ", naming::phase(summary, phase));
            said.push_str(&format!(
                "{}\n",
                hanging("  ", &format!("{name}{words}"), width).trim_start()
            ));
        }
    }
    let warned = facts::caveats(summary)
        .into_iter()
        .map(|text| format!("{}\n", ink.yellow(&hanging("! ", &text, width))));
    for part in [said, warned.collect(), conclusions(findings, width, ink)] {
        if !part.is_empty() {
            out.push('\n');
            out.push_str(&part);
        }
    }
    out.push('\n');
    for (name, values) in facts::brief(summary) {
        out.push_str(&format!(
            "{}\n",
            ink.dim(&hanging(&format!("{name:<15}"), &values, width))
        ));
    }
    out
}

/// What it is good for, which promises were kept, who sets the pace.
fn conclusions(findings: &RunFindings, width: usize, ink: TerminalStyle) -> String {
    let sections = findings::sections(findings);
    let all = sections.iter().flat_map(|(_, conclusions)| conclusions);
    let about = all.map(|c| columns_of(&c.about)).max().unwrap_or(0);
    let section = |(title, conclusions): &(&str, Vec<findings::ConclusionRow>)| {
        let lines = conclusions.iter().map(|c| {
            let gap = " ".repeat(about - columns_of(&c.about));
            let because = if c.because.is_empty() {
                String::new()
            } else {
                format!(": {}", c.because)
            };
            let text = format!("{}{because}", c.verdict);
            let lead = format!("  {} {}{gap}  ", c.sign, c.about);
            match columns_of(&lead) + BESIDE <= width {
                true => hanging(&lead, &text, width) + "\n",
                false => format!("{}\n{}\n", lead.trim_end(), hanging("      ", &text, width)),
            }
        });
        format!("{}\n{}", ink.bold(title), lines.collect::<String>())
    };
    sections.iter().map(section).collect::<Vec<_>>().join("\n")
}

/// Words stand beside what they are about where there are so many columns left for them, else below it.
const BESIDE: usize = 24;

/// ANSI styles, or nothing.
#[derive(Clone, Copy)]
pub(crate) struct TerminalStyle {
    pub(crate) color: bool,
}

impl TerminalStyle {
    fn paint(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }
}

/// A column of the table of results.
struct Column {
    head: &'static str,
    cells: Vec<String>,
    left: bool,
}

impl Column {
    fn width(&self) -> usize {
        self.cells
            .iter()
            .map(|cell| columns_of(cell))
            .chain([self.head.len()])
            .max()
            .unwrap_or(0)
    }
}

/// Gap between columns.
const GAP: usize = 2;

/// The columns everybody wants, and those for which there is room without breaking lines.
fn columns(summary: &Summary, width: usize) -> Vec<Column> {
    let rows = results::rows(summary);
    let column = |head, cell: fn(&results::ResultRow) -> &str| {
        let cells = rows.iter().map(|row| cell(row).to_owned()).collect();
        Column {
            head,
            cells,
            left: false,
        }
    };
    let mut columns = vec![
        Column {
            left: true,
            ..column("Phase", |row| &row.name)
        },
        Column {
            head: "MB/s",
            cells: aligned(rows.iter().map(|row| row.bandwidth.as_ref())),
            left: false,
        },
        Column {
            head: "IOPS",
            cells: aligned(rows.iter().map(|row| row.iops.as_ref())),
            left: false,
        },
        column("median", |row| &row.percentiles[0]),
        column("P99", |row| &row.percentiles[1]),
        column("P99.9", |row| &row.percentiles[2]),
    ];
    let workload = Column {
        left: true,
        ..column("Workload", |row| &row.workload)
    };
    for (place, optional) in [
        (columns.len(), column("longest", |row| &row.max)),
        (1, workload),
    ] {
        let taken: usize = columns.iter().map(|column| column.width() + GAP).sum();
        if taken + optional.width() <= width {
            columns.insert(place, optional);
        }
    }
    columns
}

fn table(summary: &Summary, width: usize, ink: TerminalStyle) -> String {
    let columns = columns(summary, width);
    let Some((names, figures)) = columns.split_first() else {
        return String::new();
    };
    let tables: Vec<String> = side_by_side(names, figures, width)
        .iter()
        .map(|part| lines(names, part, ink))
        .collect();
    tables.join("\n")
}

/// Columns beside that of the names, as many as there is room for; the others continue below, names repeated.
fn side_by_side<'a>(names: &Column, figures: &'a [Column], width: usize) -> Vec<Vec<&'a Column>> {
    let mut parts: Vec<Vec<&Column>> = Vec::new();
    let mut used = 0;
    for column in figures {
        let wide = GAP + column.width();
        match parts.last_mut() {
            Some(part) if used + wide <= width => part.push(column),
            _ => {
                parts.push(vec![column]);
                used = names.width();
            }
        }
        used += wide;
    }
    parts
}

/// Cells that line up, the head first.
fn lines(names: &Column, figures: &[&Column], ink: TerminalStyle) -> String {
    let line = |cell: &dyn Fn(&Column) -> String| {
        let mut line = String::new();
        for (at, column) in std::iter::once(names)
            .chain(figures.iter().copied())
            .enumerate()
        {
            let text = cell(column);
            let fill = " ".repeat(column.width().saturating_sub(columns_of(&text)));
            let gap = " ".repeat(if at == 0 { 0 } else { GAP });
            line += &if column.left {
                format!("{gap}{text}{fill}")
            } else {
                format!("{gap}{fill}{text}")
            };
        }
        line.trim_end().to_owned()
    };
    let mut out = ink.bold(&line(&|column| column.head.to_owned())) + "\n";
    for row in 0..names.cells.len() {
        out += &(line(&|column| column.cells[row].clone()) + "\n");
    }
    out
}

/// Means and spreads so that the signs between them stand in one line.
fn aligned<'a>(spreads: impl Iterator<Item = Option<&'a MeanText>> + Clone) -> Vec<String> {
    let longest =
        |part: fn(&MeanText) -> usize| spreads.clone().flatten().map(part).max().unwrap_or(0);
    let deviations = longest(|s| s.deviation.as_ref().map_or(0, |d| d.chars().count()));
    let text = |s: &MeanText| match &s.deviation {
        Some(deviation) => format!("{} ± {deviation:<deviations$}", s.mean),
        None if deviations > 0 => format!("{}   {:deviations$}", s.mean, ""),
        None => s.mean.clone(),
    };
    spreads
        .clone()
        .map(|s| s.map_or_else(String::new, text))
        .collect()
}

/// Wraps words at `width`; lines after the first are indented by the length of `lead`.
pub fn hanging(lead: &str, text: &str, width: usize) -> String {
    let indent = columns_of(lead);
    let room = width.saturating_sub(indent).max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        for (at, piece) in pieces(word, room).into_iter().enumerate() {
            let gap = usize::from(at == 0);
            match lines.last_mut() {
                Some(line) if columns_of(line) + gap + columns_of(piece) <= room => {
                    line.push_str(&" "[..gap]);
                    line.push_str(piece);
                }
                _ => lines.push(piece.to_owned()),
            }
        }
    }
    format!("{lead}{}", lines.join(&format!("\n{:indent$}", "")))
}

/// A word, or of one for which a line has no room (a path, options of a mount) what stands between its commas and slashes.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    if columns_of(word) <= room {
        vec![word]
    } else {
        word.split_inclusive([',', '/', ';', '-']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(head: &'static str, cells: [&str; 2]) -> Column {
        Column {
            head,
            cells: cells.map(str::to_owned).to_vec(),
            left: false,
        }
    }

    #[test]
    fn what_has_no_room_beside_continues_below() {
        let names = Column {
            left: true,
            ..column("Phase", ["sustained (write)", "seq"])
        };
        let figures = [
            column("MB/s", ["1533 ± 155", "9.1 ± 0.1"]),
            column("IOPS", ["1462 ± 148", "12"]),
        ];
        let shown = |width| {
            let parts = side_by_side(&names, &figures, width);
            parts
                .iter()
                .map(|part| lines(&names, part, TerminalStyle { color: false }))
                .collect::<Vec<_>>()
                .join("\n")
        };
        assert_eq!(shown(41), shown(200));
        insta::assert_snapshot!(shown(40), @r"
        Phase                    MB/s
        sustained (write)  1533 ± 155
        seq                 9.1 ± 0.1

        Phase                    IOPS
        sustained (write)  1462 ± 148
        seq                        12
        ");
    }

    #[test]
    fn long_words_break_where_they_are_put_together() {
        let told = hanging(
            "Options  ",
            "rw,relatime,discard,resv_strict,resuid=65534 and more",
            29,
        );
        assert_eq!(
            told,
            "Options  rw,relatime,discard,\n         resv_strict,\n         resuid=65534 and\n         more"
        );
    }
}
