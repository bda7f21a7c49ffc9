//! Reports on stored runs.

use crate::json;
use hakaru_model::advice::RunFindings;
use hakaru_model::finding::Summary;
use serde::Serialize;

/// Output of `hakaru report --json`: the rows are those of the CSV form.
#[derive(Serialize)]
pub struct ReportJson<'a> {
    series: Vec<json::SeriesHead<'a>>,
    rows: Vec<serde_json::Map<String, serde_json::Value>>,
}

impl ReportJson<'_> {
    /// Returns the figures and conclusions of these summaries.
    pub fn of<'a>(summaries: &'a [Summary], findings: &[RunFindings]) -> ReportJson<'a> {
        ReportJson {
            series: summaries.iter().map(json::SeriesHead::of).collect(),
            rows: json::rows(&hakaru_report::csv_with(summaries, findings)),
        }
    }
}
