//! A campaign as an Apache Parquet table: the rows and columns of the CSV, with typed numbers and nulls.

use super::csv_rows::{CampaignCsvRow, lines};
use super::view::View;
use crate::escape::plain;
use crate::parquet::{ColumnValues, ParquetColumn, file};

/// Type of a column.
#[derive(Clone, Copy)]
enum ColumnType {
    Text,
    Count,
    Number,
}

use ColumnType::{Count, Number, Text};

/// The columns are stable, like those of the CSV.
const COLUMNS: [(&str, ColumnType); 23] = [
    ("campaign", Text),
    ("host", Text),
    ("card", Text),
    ("layer", Text),
    ("phase", Text),
    ("op", Text),
    ("figure", Text),
    ("unit", Text),
    ("run", Count),
    ("n", Count),
    ("value", Number),
    ("mean", Number),
    ("stdev", Number),
    ("min", Number),
    ("max", Number),
    ("median", Number),
    ("ci95_low", Number),
    ("ci95_high", Number),
    ("against", Text),
    ("p_adjusted", Number),
    ("verdict", Text),
    ("interval_caveats", Text),
    ("letters", Text),
];

pub(super) fn parquet(view: &View<'_>) -> Vec<u8> {
    let rows = lines(view);
    let columns = COLUMNS.map(|(name, of)| ParquetColumn {
        name,
        values: values(&rows, name, of),
    });
    file("campaign", &columns)
}

/// The values of a column; an empty text is missing.
fn values(rows: &[CampaignCsvRow], name: &str, of: ColumnType) -> ColumnValues {
    let rows = rows.iter();
    match of {
        Text => ColumnValues::Texts(
            rows.map(|row| text(row, name))
                .map(|text| (!text.is_empty()).then(|| plain(text)))
                .collect(),
        ),
        Count => ColumnValues::Counts(
            rows.map(|row| if name == "run" { row.run } else { row.row.n })
                .map(|count| count.and_then(|n| i64::try_from(n).ok()))
                .collect(),
        ),
        Number => ColumnValues::Numbers(
            rows.map(|row| number(row, name).parse::<f64>().ok())
                .collect(),
        ),
    }
}

fn text<'l>(line: &'l CampaignCsvRow, column: &str) -> &'l str {
    match column {
        "campaign" => &line.campaign,
        "host" => &line.host,
        "card" => &line.card,
        "layer" => &line.layer,
        "phase" => &line.phase,
        "op" => line.op,
        "figure" => &line.figure,
        "unit" => line.unit,
        "against" => &line.against,
        "interval_caveats" => &line.row.caveats,
        "letters" => &line.letters,
        _ => &line.verdict,
    }
}

fn number<'l>(line: &'l CampaignCsvRow, column: &str) -> &'l str {
    let row = &line.row;
    match column {
        "value" => &row.value,
        "mean" => &row.mean,
        "stdev" => &row.stdev,
        "min" => &row.min,
        "max" => &row.max,
        "median" => &row.median,
        "ci95_low" => &row.ci95.0,
        "ci95_high" => &row.ci95.1,
        _ => &line.p_adjusted,
    }
}
