//! A campaign as an Apache Parquet table: the rows and columns of the CSV, with typed numbers and nulls.
//!
//! Source: Apache Parquet format, data page version 1. Uncompressed, because dictionaries already keep most columns
//! small.

use super::csv_rows::{CampaignCsvRow, lines};
use super::view::View;
use crate::escape::plain;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::sync::Arc;

/// The columns are stable, like those of the CSV.
const SCHEMA: &str = "message campaign {
    optional binary campaign (UTF8); optional binary host (UTF8); optional binary card (UTF8);
    optional binary layer (UTF8); optional binary phase (UTF8); optional binary op (UTF8);
    optional binary figure (UTF8); optional binary unit (UTF8); optional int64 run; optional int64 n;
    optional double value; optional double mean; optional double stdev; optional double min; optional double max;
    optional double median; optional double ci95_low; optional double ci95_high;
    optional binary against (UTF8); optional double p_adjusted; optional binary verdict (UTF8);
    optional binary interval_caveats (UTF8); optional binary letters (UTF8);
}";

pub(super) fn parquet(view: &View<'_>) -> Vec<u8> {
    table(&lines(view)).expect("the schema is ours, and memory takes whatever is written to it")
}

fn table(lines: &[CampaignCsvRow]) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(SCHEMA)?);
    let properties = WriterProperties::builder()
        .set_created_by("hakaru".to_owned())
        .build();
    let mut writer =
        SerializedFileWriter::new(Vec::new(), Arc::clone(&schema), Arc::new(properties))?;
    let mut rows = writer.next_row_group()?;
    let names: Vec<&str> = schema
        .get_fields()
        .iter()
        .map(|field| field.name())
        .collect();
    for name in names {
        let Some(mut column) = rows.next_column()? else {
            break;
        };
        write(column.untyped(), name, lines)?;
        column.close()?;
    }
    rows.close()?;
    writer.into_inner()
}

/// Writes a column; missing values are omitted and have definition level 0.
fn write(
    column: &mut ColumnWriter<'_>,
    name: &str,
    lines: &[CampaignCsvRow],
) -> Result<(), ParquetError> {
    match column {
        ColumnWriter::ByteArrayColumnWriter(texts) => {
            let (values, levels) = present(lines, |line| {
                let text = text(line, name);
                (!text.is_empty()).then(|| ByteArray::from(plain(text).into_bytes()))
            });
            texts.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::Int64ColumnWriter(counts) => {
            let (values, levels) = present(lines, |line| {
                let count = if name == "run" { line.run } else { line.row.n };
                count.and_then(|n| i64::try_from(n).ok())
            });
            counts.write_batch(&values, Some(&levels), None)?;
        }
        ColumnWriter::DoubleColumnWriter(numbers) => {
            let (values, levels) = present(lines, |line| number(line, name).parse::<f64>().ok());
            numbers.write_batch(&values, Some(&levels), None)?;
        }
        _ => {
            return Err(ParquetError::General(format!(
                "column {name}: unknown kind"
            )));
        }
    }
    Ok(())
}

/// Returns the existing values, and the definition level of each row.
fn present<T>(
    lines: &[CampaignCsvRow],
    value: impl Fn(&CampaignCsvRow) -> Option<T>,
) -> (Vec<T>, Vec<i16>) {
    let all: Vec<Option<T>> = lines.iter().map(value).collect();
    let levels = all.iter().map(|value| i16::from(value.is_some())).collect();
    (all.into_iter().flatten().collect(), levels)
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
