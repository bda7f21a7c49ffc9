//! Writes reports as an Excel workbook.

use super::xlsx::xlsx;
use anyhow::Context;
use hakaru_dialects::iozone::output::SpreadsheetReport;
use std::path::Path;

/// Content of a cell.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Number(f64),
    Text(&'a str),
}

impl Cell<'_> {
    /// A number if the text is one, otherwise text.
    fn of(text: &str) -> Cell<'_> {
        text.parse().map_or(Cell::Text(text), Cell::Number)
    }
}

/// A cell of a sheet. Rows and columns are counted from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct SheetCell<'a> {
    pub(super) row: u16,
    pub(super) column: u16,
    pub(super) content: Cell<'a>,
}

/// Writes one sheet with all reports, one below the other. A file name ending in .xls selects BIFF2, any other .xlsx.
pub(super) fn write(path: &Path, reports: &[SpreadsheetReport]) -> anyhow::Result<()> {
    let old = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("xls"));
    let cells = cells(reports);
    let bytes = if old { biff(&cells) } else { xlsx(&cells) };
    std::fs::write(path, bytes).with_context(|| {
        format!(
            "cannot write the workbook to {}; help: name another file with -b",
            path.display()
        )
    })
}

/// Returns all cells, row by row.
fn cells(reports: &[SpreadsheetReport]) -> Vec<SheetCell<'_>> {
    let mut all = Vec::new();
    let mut row = 0;
    for report in reports {
        let mut place = |row, column, content| {
            all.push(SheetCell {
                row,
                column,
                content,
            });
        };
        for title in &report.titles {
            place(row, 0, Cell::Text(title));
            row += 1;
        }
        for (column, head) in (1..).zip(&report.heads) {
            place(row, column, Cell::of(head));
        }
        row += 1;
        for (name, values) in &report.rows {
            place(row, 0, Cell::of(name));
            for (column, value) in (1..).zip(values) {
                if let Some(value) = value {
                    place(row, column, Cell::Number(*value));
                }
            }
            row += 1;
        }
        row += 1;
    }
    all
}

/// Returns the sheet in the format of Excel 2.1 (BIFF2): a stream of records with type, length and content. Every .xls
/// reader supports it, and iozone writes it.
///
/// Source: OpenOffice.org's Documentation of the Microsoft Excel File Format (D. Rentz), 5.8 BOF, 5.63 LABEL, 5.71 NUMBER.
fn biff(cells: &[SheetCell<'_>]) -> Vec<u8> {
    let mut sheet = Biff(Vec::new());
    sheet.record(0x0009, &[0x02, 0x00, 0x10, 0x00]);
    for cell in cells {
        sheet.cell(cell);
    }
    sheet.record(0x000A, &[]);
    sheet.0
}

struct Biff(Vec<u8>);

impl Biff {
    fn record(&mut self, kind: u16, content: &[u8]) {
        self.0.extend(kind.to_le_bytes());
        self.0.extend((content.len() as u16).to_le_bytes());
        self.0.extend(content);
    }

    fn cell(&mut self, cell: &SheetCell<'_>) {
        // Row, column, and three attribute bytes, all 0.
        let mut content = [cell.row.to_le_bytes(), cell.column.to_le_bytes()].concat();
        content.extend([0; 3]);
        match cell.content {
            Cell::Number(value) => {
                content.extend(value.to_le_bytes());
                self.record(0x0003, &content);
            }
            Cell::Text(text) => {
                // A text cell has at most 255 bytes; all texts here are short ASCII.
                let text: Vec<u8> = text.bytes().take(255).collect();
                content.push(text.len() as u8);
                content.extend(text);
                self.record(0x0004, &content);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_workbook_has_the_form_of_its_name() {
        let report = SpreadsheetReport {
            titles: vec!["Writer report".to_owned()],
            heads: vec!["4".to_owned()],
            rows: vec![("64".to_owned(), vec![Some(173_944.0), None])],
        };
        let reports = std::slice::from_ref(&report);
        let bytes = biff(&cells(reports));
        let mut kinds = Vec::new();
        let mut rest = &bytes[..];
        while let [a, b, c, d, content @ ..] = rest {
            kinds.push(u16::from_le_bytes([*a, *b]));
            rest = &content[usize::from(u16::from_le_bytes([*c, *d]))..];
        }
        assert_eq!(kinds, [0x09, 0x04, 0x03, 0x03, 0x03, 0x0A]);
        let value = 173_944f64.to_le_bytes();
        assert!(bytes.windows(8).any(|bytes| bytes == value));
        let directory = tempfile::tempdir().unwrap();
        let (old, new) = (&bytes[..4], &b"PK\x03\x04"[..]);
        for (name, magic) in [("a.xls", old), ("a.XLS", old), ("a.xlsx", new), ("a", new)] {
            let path = directory.path().join(name);
            write(&path, reports).unwrap();
            assert!(std::fs::read(path).unwrap().starts_with(magic), "{name}");
        }
    }
}
