//! Aligned tables within the width of a terminal.

use super::wrap::{GAP, longest_word, wrap};
use crate::document::TableStyle;
use crate::escape::{columns_of, plain};
use crate::table::DataTable;

/// Minimum width of readable text next to figures.
const WORDS: usize = 18;
/// Minimum width of names next to wrapped text.
const NAMES: usize = 16;
/// Minimum width of names next to figures that have to fit.
const SHORT_NAMES: usize = 14;
/// Minimum width of a wrapped header.
const LEAST_HEAD: usize = 8;

/// Renders a table; `head` styles its header.
///
/// If it is too wide, the headers are wrapped; then text, and the names beside it; then the remaining columns continue
/// below, with the names repeated. The text column of [`TableStyle::Described`] is not wrapped: each of its cells is a
/// line below the table, after the name of its row. No column is omitted.
pub(super) fn lines(
    table: &DataTable,
    style: TableStyle,
    width: usize,
    head: impl Fn(&str) -> String,
) -> (String, Vec<(String, String)>) {
    let figures = !matches!(style, TableStyle::Words | TableStyle::Compact);
    let columns = (0..table.head.len()).map(|at| Column::of(table, at, figures));
    let mut columns: Vec<Column> = columns.collect();
    let mut below = Vec::new();
    let is_too_wide = |columns: &[Column]| total(with_narrow_heads(columns, width).iter()) > width;
    if let TableStyle::Described(at) = style
        && at > 0
        && at < columns.len()
        && is_too_wide(&columns)
    {
        let descriptions = columns.remove(at).cells.into_iter();
        let named = columns[0].cells.iter().cloned().zip(descriptions);
        below = named.filter(|(_, text)| !text.is_empty()).collect();
        // What is left are names and figures.
        let over = total(with_narrow_heads(&columns, width).iter()).saturating_sub(width);
        columns[0].shrink(over, SHORT_NAMES);
    }
    let parts: Vec<String> = side_by_side(columns, width)
        .iter()
        .map(|part| rows(part, &head))
        .collect();
    (parts.join("\n"), below)
}

/// A column as text; `width` is its display width.
#[derive(Clone)]
struct Column {
    head: String,
    cells: Vec<String>,
    right: bool,
    width: usize,
}

impl Column {
    fn of(table: &DataTable, at: usize, figures: bool) -> Column {
        let text = |row: &Vec<String>| plain(&row.get(at).map_or("", |c| c).replace('\n', " "));
        let right = figures && table.has_figures(at);
        let cells: Vec<String> = table.rows.iter().map(text).collect();
        let (head, cells) = (
            text(&table.head),
            if right { aligned(cells) } else { cells },
        );
        let widths = cells.iter().chain([&head]).map(|cell| columns_of(cell));
        Column {
            width: widths.max().unwrap_or(0),
            head,
            cells,
            right,
        }
    }

    /// Width without the header, except its longest word.
    fn least(&self) -> usize {
        let cells = self.cells.iter().map(|cell| columns_of(cell));
        let head = longest_word(&self.head).max(LEAST_HEAD);
        cells.max().unwrap_or(0).max(head).min(self.width)
    }

    /// Makes the column narrower by this amount, but no narrower than `least`.
    fn shrink(&mut self, by: usize, least: usize) {
        self.width = self.width.min(least.max(self.width.saturating_sub(by)));
    }
}

fn total<'a>(columns: impl Iterator<Item = &'a Column>) -> usize {
    columns
        .map(|column| column.width + GAP)
        .sum::<usize>()
        .saturating_sub(GAP)
}

/// Wraps the headers of figures if there is too little space, the widest first.
fn with_narrow_heads(columns: &[Column], width: usize) -> Vec<Column> {
    let mut columns = columns.to_vec();
    while total(columns.iter()) > width {
        let spare = |column: &&mut Column| column.right && column.width > column.least();
        let Some(widest) = columns.iter_mut().filter(spare).max_by_key(|c| c.width) else {
            break;
        };
        widest.width -= 1;
    }
    columns
}

/// Splits the columns into several tables below one another, each with the names.
fn side_by_side(columns: Vec<Column>, width: usize) -> Vec<Vec<Column>> {
    let columns = with_narrow_heads(&columns, width);
    let whole = wrapped(columns.clone(), width);
    if total(whole.iter()) <= width {
        return vec![whole];
    }
    let Some((names, others)) = columns.split_first() else {
        return Vec::new();
    };
    let mut parts: Vec<Vec<Column>> = Vec::new();
    for column in others {
        let with = |part: &Vec<Column>| total(part.iter()) + GAP + column.width <= width;
        match parts.last_mut().filter(|part| with(part)) {
            Some(part) => part.push(column.clone()),
            None => parts.push(vec![names.clone(), column.clone()]),
        }
    }
    let fitted = |part: Vec<Column>| {
        let mut part = wrapped(part, width);
        let over = total(part.iter()).saturating_sub(width);
        part[0].shrink(over, SHORT_NAMES);
        part
    };
    parts.into_iter().map(fitted).collect()
}

/// Narrows text columns if there is too little space, from the last one; then the names.
fn wrapped(mut columns: Vec<Column>, width: usize) -> Vec<Column> {
    let of_words = (1..columns.len()).rev().filter(|&at| !columns[at].right);
    let of_words: Vec<usize> = of_words.collect();
    let names = of_words.first().map(|_| (0, NAMES));
    for (at, least) in of_words.into_iter().map(|at| (at, WORDS)).chain(names) {
        let over = total(columns.iter()).saturating_sub(width);
        columns[at].shrink(over, least);
    }
    columns
}

/// Aligned rows, beginning with the header.
fn rows(columns: &[Column], head: impl Fn(&str) -> String) -> String {
    let row = |cell: &dyn Fn(&Column) -> String| {
        let cells: Vec<Vec<String>> = columns
            .iter()
            .map(|column| wrap(&cell(column), column.width))
            .collect();
        let lines = (0..cells.iter().map(Vec::len).max().unwrap_or(0)).map(|nth| {
            let cells = columns.iter().zip(&cells).map(|(column, cell)| {
                let text = cell.get(nth).map_or("", String::as_str);
                let fill = " ".repeat(column.width.saturating_sub(columns_of(text)));
                match column.right {
                    true => format!("{fill}{text}"),
                    false => format!("{text}{fill}"),
                }
            });
            let line = cells.collect::<Vec<_>>().join(&" ".repeat(GAP));
            line.trim_end().to_owned() + "\n"
        });
        lines.collect::<String>()
    };
    let rows = columns.iter().map(|column| column.cells.len()).max();
    let body: String = (0..rows.unwrap_or(0))
        .map(|nth| row(&|column| column.cells.get(nth).cloned().unwrap_or_default()))
        .collect();
    head(&row(&|column| column.head.clone())) + &body
}

/// Aligns means and deviations at the signs between them.
fn aligned(cells: Vec<String>) -> Vec<String> {
    const SIGN: &str = " ± ";
    let spread = |cell: &String| cell.split_once(SIGN).map(|(_, spread)| columns_of(spread));
    let Some(widest) = cells.iter().filter_map(spread).max() else {
        return cells;
    };
    let padded = |cell: String| {
        let behind = spread(&cell).map_or(widest + columns_of(SIGN), |known| widest - known);
        format!("{cell}{}", " ".repeat(behind))
    };
    cells
        .into_iter()
        .map(|cell| if cell.is_empty() { cell } else { padded(cell) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(head: [&str; 3], rows: &[[&str; 3]]) -> DataTable {
        DataTable {
            head: head.map(str::to_owned).to_vec(),
            rows: rows
                .iter()
                .map(|row| row.map(str::to_owned).to_vec())
                .collect(),
        }
    }

    #[test]
    fn what_has_no_room_beside_continues_below() {
        let figures = table(
            ["Phase", "MB/s", "IOPS"],
            &[
                ["sustained (write)", "1533 ± 155", "1462 ± 148"],
                ["seq", "9.1 ± 0.1", "12"],
            ],
        );
        let shown = |width| lines(&figures, TableStyle::Numbers, width, str::to_owned).0;
        assert_eq!(shown(41), shown(200));
        // Names wrap only where nothing can go below.
        let lines = shown(26);
        assert!(
            lines.contains("sustained\n(write)") || lines.contains("sustained   "),
            "{lines}"
        );
        assert!(lines.lines().all(|line| columns_of(line) <= 26), "{lines}");
        insta::assert_snapshot!(shown(40), @r"
        Phase                    MB/s
        sustained (write)  1533 ± 155
        seq                 9.1 ± 0.1

        Phase                    IOPS
        sustained (write)  1462 ± 148
        seq                  12
        ");
    }

    #[test]
    fn words_wrap_beside_figures() {
        let undecided = "undecided at n = 3; n = 7 would decide";
        let judged = table(
            ["Figure", "Ratio", "Verdict"],
            &[
                ["seq-write bandwidth", "0.85x", undecided],
                ["seq-read bandwidth", "1.02x [0.97, 1.05]", "same within 5%"],
            ],
        );
        let shown = |width| lines(&judged, TableStyle::Numbers, width, str::to_owned).0;
        insta::assert_snapshot!(shown(70), @r"
        Figure                            Ratio  Verdict
        seq-write bandwidth               0.85x  undecided at n = 3; n = 7
                                                 would decide
        seq-read bandwidth   1.02x [0.97, 1.05]  same within 5%
        ");
        insta::assert_snapshot!(shown(56), @r"
        Figure                         Ratio  Verdict
        seq-write                      0.85x  undecided at n =
        bandwidth                             3; n = 7 would
                                              decide
        seq-read          1.02x [0.97, 1.05]  same within 5%
        bandwidth
        ");
        for width in [0, 20, 40, 80, usize::MAX] {
            assert!(shown(width).contains("0.85x"));
        }
    }

    #[test]
    fn descriptions_go_below_and_heads_wrap() {
        let results = DataTable {
            head: ["Phase", "Workload", "MB/s", "Device time of a write"]
                .map(str::to_owned)
                .to_vec(),
            rows: vec![
                ["Sequential writes", "1 MiB, queue depth 1", "9.1", "3.2 ms"]
                    .map(str::to_owned)
                    .to_vec(),
                ["└ fsync", "", "", "12 ms"].map(str::to_owned).to_vec(),
            ],
        };
        let shown = |width| lines(&results, TableStyle::Described(1), width, str::to_owned);
        let (wide, below) = shown(80);
        assert!(wide.contains("1 MiB, queue depth 1") && below.is_empty());
        let (narrow, below) = shown(40);
        insta::assert_snapshot!(narrow, @r"
        Phase              MB/s   Device time of
                                         a write
        Sequential writes   9.1           3.2 ms
        └ fsync                            12 ms
        ");
        let description = (
            "Sequential writes".to_owned(),
            "1 MiB, queue depth 1".to_owned(),
        );
        assert_eq!(below, [description]);
    }
}
