//! The paths of the I/Os of traced runs.

use crate::{json, lookup};
use anyhow::{Result, anyhow};
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Summary, TracedPhase};
use hakaru_model::record::RunRecord;
use hakaru_store::{Readable, Store};
use serde::Serialize;

/// Output of `hakaru explain --json`.
#[derive(Serialize)]
pub struct ExplainJson<'a> {
    series: json::SeriesHead<'a>,
    paths: &'a [TracedPhase],
}

impl ExplainJson<'_> {
    /// Returns the paths of a summary.
    pub fn of(summary: &Summary) -> ExplainJson<'_> {
        ExplainJson {
            series: json::SeriesHead::of(summary),
            paths: &summary.paths,
        }
    }
}

/// Returns the run with this ID; if it was not traced, with the traced runs of its series. Unreadable records are listed
/// separately.
///
/// # Errors
/// If no run has the name, or the database cannot be read.
pub fn traced_runs(store: &Store, name: &str) -> Result<Readable<RunRecord>> {
    let found = lookup::readable_runs(store, name, false)?;
    if found.records.is_empty() || found.records.iter().any(RunRecord::is_traced) {
        return Ok(found);
    }
    let mut series = lookup::readable_runs(store, name, true)?;
    let named = |run: &RunRecord| found.records.iter().any(|it| it.id == run.id);
    series.records.retain(|run| named(run) || run.is_traced());
    Ok(series)
}

/// Returns the error for a run without a trace.
pub fn not_traced(run: &str, summary: &Summary) -> anyhow::Error {
    let because = summary.caveats.iter().find_map(|caveat| {
        matches!(caveat, Caveat::NotTraced { .. } | Caveat::PathLost { .. })
            .then(|| hakaru_report::caveat_of(summary, caveat))
    });
    match because {
        Some(because) => anyhow!(both!("run {run}: {because}", "測定{run}: {because}")),
        None => anyhow!(both!(
            "run {run} was not traced; help: measure again with `hakaru bench --trace` or `hakaru fio --hakaru-trace`",
            "測定{run}はトレースされていません; help: hakaru bench --traceまたはhakaru fio --hakaru-traceで測定し直してください"
        )),
    }
}
