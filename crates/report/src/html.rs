//! One self-contained HTML page.

use crate::text::markup;
use crate::{facts, naming, results};
use hakaru_model::finding::Summary;

/// Renders series as one HTML page without network, scripts or fonts of its own.
pub fn html(summaries: &[Summary]) -> String {
    let mut body = String::new();
    for (summary, name) in summaries.iter().zip(naming::series(summaries)) {
        body.push_str(&format!("<h2>{}: {}</h2>\n<table>\n", markup(&summary.scenario), markup(&name)));
        for row in results::rows(summary) {
            let bandwidth = row.bandwidth.map_or_else(String::new, |b| format!("{b} MB/s"));
            body.push_str(&format!("<tr><th>{}</th><td>{bandwidth}</td></tr>\n", markup(&row.name)));
        }
        body.push_str(&format!("</table>\n<p>{}</p>\n", facts::runs(summary)));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>hakaru</title></head><body>\n{body}</body></html>\n"
    )
}
