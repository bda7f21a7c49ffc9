//! `hakaru explain`: shows the path of the I/Os of a traced run.

use super::charts::{ChartArgs, ChartFormat, relinked};
use super::{json, print, width};
use crate::exit::{Exit, complain};
use crate::place;
use anyhow::Result;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{Summary, TracedPhase};
use hakaru_model::record::RunRecord;
use hakaru_store::Store;
use serde::Serialize;
use std::path::{Path, PathBuf};

const AFTER: &str = "Trace a run with `hakaru bench --trace`, `hakaru fio --hakaru-trace …`, or `[trace]` in a campaign \
file. Tracing needs root, or: sudo setcap cap_perfmon,cap_dac_read_search+ep \"$(command -v hakaru)\"";

/// Arguments of `hakaru explain`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct ExplainArgs {
    /// Label, run id or a unique prefix; `latest` for the newest run. Any run of a series leads to the traced one
    run: String,
    /// Write to FILE as HTML (.html), Markdown (.md) or JSON (.json); `-` for standard output
    #[arg(long, short, value_name = "FILE", value_parser = place::page_path())]
    output: Option<PathBuf>,
    /// Format of the saved charts
    #[arg(long, requires = "charts")]
    format: Option<ChartFormat>,
    #[command(flatten)]
    charts: ChartArgs,
    /// Print the traced paths as JSON
    #[arg(long, conflicts_with_all = ["output", "charts"])]
    json: bool,
}

/// Output of `hakaru explain --json`.
#[derive(Serialize)]
struct ExplainJson<'a> {
    series: json::SeriesHead<'a>,
    paths: &'a [TracedPhase],
}

/// Format of an explanation.
enum ExplainFormat {
    Terminal,
    Html,
    Markdown,
    Json,
}

impl ExplainFormat {
    fn of(output: Option<&Path>) -> ExplainFormat {
        let ending = output.and_then(|path| path.extension()?.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => ExplainFormat::Html,
            Some("md" | "markdown") => ExplainFormat::Markdown,
            Some("json") => ExplainFormat::Json,
            _ => ExplainFormat::Terminal,
        }
    }
}

/// Prints where the bytes and the time of a traced run went; without a trace, what the counters of the disk say, and why
/// there is no trace.
pub(crate) fn main(args: &ExplainArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read(db)?;
    let records = runs(&store, &args.run)?;
    let summary = super::summarize(&store, &records)?;
    let charts = hakaru_report::path_charts(&summary);
    let source = hakaru_report::chart_source(std::slice::from_ref(&summary));
    args.charts.save(&charts, args.format, source)?;
    let output = args.output.as_deref();
    let links = args.charts.linked(output);
    let text = match ExplainFormat::of(output) {
        ExplainFormat::Terminal if args.json => {
            let body = ExplainJson {
                series: json::SeriesHead::of(&summary),
                paths: &summary.paths,
            };
            json::text(json::EXPLAIN, &body)?
        }
        ExplainFormat::Terminal => {
            hakaru_report::path_terminal(&summary, width(), output.is_none())
        }
        ExplainFormat::Html => hakaru_report::path_html(&summary),
        ExplainFormat::Markdown => {
            let page = hakaru_report::path_markdown(&summary, links.as_deref());
            relinked(page, &charts, args.format)
        }
        ExplainFormat::Json => json::pretty(&summary.paths)?,
    };
    match output.filter(|_| !place::is_stdout(output)) {
        None => print(&text)?,
        Some(path) => place::write_page(path, text.as_bytes())?,
    }
    if summary.paths.is_empty() {
        complain(&not_traced(&args.run, &summary));
        return Ok(Exit::Failed);
    }
    Ok(Exit::Ok)
}

/// Returns the run with this ID; if it was not traced, with the traced runs of its series.
fn runs(store: &Store, name: &str) -> Result<Vec<RunRecord>> {
    let found = place::runs(store, name, false)?;
    if found.iter().any(RunRecord::is_traced) {
        return Ok(found);
    }
    let mut series = place::runs(store, name, true)?;
    let named = |run: &RunRecord| found.iter().any(|it| it.id == run.id);
    series.retain(|run| named(run) || run.is_traced());
    Ok(series)
}

/// Returns the error for a run without a trace.
fn not_traced(run: &str, summary: &Summary) -> anyhow::Error {
    let because = summary.caveats.iter().find_map(|caveat| {
        matches!(caveat, Caveat::NotTraced { .. } | Caveat::PathLost { .. })
            .then(|| hakaru_report::text::caveat(caveat))
    });
    match because {
        Some(because) => anyhow::anyhow!(both!(
            "run {run} has no trace: {because}",
            "測定{run}にトレースがありません（{because}）"
        )),
        None => anyhow::anyhow!(both!(
            "run {run} was not traced; help: measure again with `hakaru bench --trace` or `hakaru fio --hakaru-trace`",
            "測定{run}はトレースされていません; help: hakaru bench --traceまたはhakaru fio --hakaru-traceで測定し直してください"
        )),
    }
}
