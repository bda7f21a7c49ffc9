//! Reports as a workbook.

use anyhow::Context;
use hakaru_dialects::iozone::output::Report;
use rust_xlsxwriter::{Workbook, XlsxError};
use std::path::Path;

/// Writes one sheet with all reports, one below the other.
pub(super) fn write(path: &Path, reports: &[Report]) -> anyhow::Result<()> {
    let bytes = bytes_of(reports).context("cannot make the workbook")?;
    std::fs::write(path, bytes)
        .with_context(|| format!("cannot write the workbook to {}; name another file with -b", path.display()))
}

fn bytes_of(reports: &[Report]) -> Result<Vec<u8>, XlsxError> {
    let mut book = Workbook::new();
    let sheet = book.add_worksheet();
    sheet.set_name("iozone")?;
    let mut row = 0;
    for Report { titles, heads, rows } in reports {
        for title in titles {
            sheet.write_string(row, 0, title)?;
            row += 1;
        }
        for (column, head) in (1..).zip(heads) {
            match head.parse::<f64>() {
                Ok(number) => sheet.write_number(row, column, number)?,
                Err(_) => sheet.write_string(row, column, head)?,
            };
        }
        row += 1;
        for (name, values) in rows {
            match name.parse::<f64>() {
                Ok(number) => sheet.write_number(row, 0, number)?,
                Err(_) => sheet.write_string(row, 0, name)?,
            };
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
