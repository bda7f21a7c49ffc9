//! The Parquet table of a campaign, read back, has the same content as the CSV.

use crate::support::campaign::campaign;
use hakaru_report::{campaign_csv, campaign_parquet};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::io::Write;

/// Formats a cell as in the CSV.
fn cell(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => panic!("{other:?} is in no column"),
    }
}

#[test]
fn rows_and_columns_are_those_of_the_csv() {
    let table = campaign_parquet(&campaign());
    let again = campaign_parquet(&campaign());
    assert_eq!(table, again, "the same findings are the same bytes");
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&table).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let csv = campaign_csv(&campaign());
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let schema = reader.metadata().file_metadata().schema();
    let columns = schema.get_fields().iter().map(|f| f.name().to_owned());
    assert_eq!(columns.collect::<Vec<_>>(), head);
    let mut rows = 0;
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let cells = row.get_column_iter().map(|(_, field)| cell(field));
        let cells: Vec<String> = cells.collect();
        let line: Vec<&str> = lines.next().unwrap().split(',').collect();
        for (name, (cell, text)) in head.iter().zip(cells.iter().zip(&line)) {
            let same = cell == text || is_same_number(cell, text);
            assert!(same, "{name}: {cell} and {text} of {line:?}");
        }
        rows += 1;
    }
    assert!(lines.next().is_none() && rows > 500, "{rows} rows");
}

fn is_same_number(a: &str, b: &str) -> bool {
    let numbers = (a.parse::<f64>(), b.parse::<f64>());
    matches!(numbers, (Ok(a), Ok(b)) if a == b)
}
