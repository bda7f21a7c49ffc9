//! Writes reports as an Excel workbook.

use anyhow::Context;
use hakaru_dialects::iozone::output::SpreadsheetReport;
use rust_xlsxwriter::{Workbook, Worksheet, XlsxError};
use std::path::Path;

/// Writes one sheet with all reports, one below the other. A file name ending in .xls selects BIFF2, any other .xlsx.
pub(super) fn write(path: &Path, reports: &[SpreadsheetReport]) -> anyhow::Result<()> {
    let old = path
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("xls"));
    let bytes = if old {
        biff(reports)
    } else {
        bytes_of(reports).context("cannot create the workbook")?
    };
    std::fs::write(path, bytes).with_context(|| {
        format!(
            "cannot write the workbook to {}; help: name another file with -b",
            path.display()
        )
    })
}

fn bytes_of(reports: &[SpreadsheetReport]) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.set_name("iozone")?;
    let mut row = 0;
    for report in reports {
        for title in &report.titles {
            sheet.write_string(row, 0, title)?;
            row += 1;
        }
        for (column, head) in (1..).zip(&report.heads) {
            write_cell(sheet, row, column, head)?;
        }
        row += 1;
        for (name, values) in &report.rows {
            write_cell(sheet, row, 0, name)?;
            for (column, value) in (1..).zip(values) {
                if let Some(value) = value {
                    sheet.write_number(row, column, *value)?;
                }
            }
            row += 1;
        }
        row += 1;
    }
    book.save_to_buffer()
}

/// Writes a number as such, and other text as text.
fn write_cell(sheet: &mut Worksheet, row: u32, column: u16, text: &str) -> Result<(), XlsxError> {
    match text.parse::<f64>() {
        Ok(number) => sheet.write_number(row, column, number)?,
        Err(_) => sheet.write_string(row, column, text)?,
    };
    Ok(())
}

/// Returns the sheet in the format of Excel 2.1 (BIFF2): a stream of records with type, length and content. Every .xls
/// reader supports it, and iozone writes it.
///
/// Source: OpenOffice.org's Documentation of the Microsoft Excel File Format (D. Rentz), 5.8 BOF, 5.63 LABEL, 5.71 NUMBER.
fn biff(reports: &[SpreadsheetReport]) -> Vec<u8> {
    let mut sheet = Biff(Vec::new());
    sheet.record(0x0009, &[0x02, 0x00, 0x10, 0x00]);
    let mut row = 0;
    for report in reports {
        for title in &report.titles {
            sheet.cell(row, 0, title);
            row += 1;
        }
        for (column, head) in (1..).zip(&report.heads) {
            sheet.cell(row, column, head);
        }
        row += 1;
        for (name, values) in &report.rows {
            sheet.cell(row, 0, name);
            for (column, value) in (1..).zip(values) {
                if let Some(value) = value {
                    sheet.number(row, column, *value);
                }
            }
            row += 1;
        }
        row += 1;
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

    /// Returns row, column, and three attribute bytes, all 0.
    fn place(row: u16, column: u16) -> Vec<u8> {
        [row.to_le_bytes(), column.to_le_bytes()]
            .concat()
            .into_iter()
            .chain([0; 3])
            .collect()
    }

    /// Writes a cell: a number if the text is one, otherwise text.
    fn cell(&mut self, row: u16, column: u16, text: &str) {
        if let Ok(number) = text.parse::<f64>() {
            return self.number(row, column, number);
        }
        // A text cell has at most 255 bytes; all texts here are short ASCII.
        let text: Vec<u8> = text.bytes().take(255).collect();
        let mut content = Biff::place(row, column);
        content.push(text.len() as u8);
        content.extend(text);
        self.record(0x0004, &content);
    }

    fn number(&mut self, row: u16, column: u16, value: f64) {
        let mut content = Biff::place(row, column);
        content.extend(value.to_le_bytes());
        self.record(0x0003, &content);
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
        let bytes = biff(reports);
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
