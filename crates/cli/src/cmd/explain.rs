//! `hakaru explain`: shows the path of the I/Os of a traced run.

use super::charts::{ChartArgs, ChartFormat, relinked};
use super::unreadable::Unreadable;
use super::{json, print, width};
use crate::exit::{Exit, complain};
use crate::place;
use anyhow::{Result, anyhow};
use hakaru_results::explain::{ExplainJson, not_traced, traced_runs};
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
    let found = traced_runs(&store, &args.run)?;
    let mut unreadable = Unreadable::default();
    let records = unreadable.skip_some("run", found)?;
    let summary = super::summarize(&store, &records)?;
    let charts = hakaru_report::path_charts(&summary);
    let source = hakaru_report::chart_source(std::slice::from_ref(&summary));
    args.charts.save(&charts, args.format, source)?;
    let output = args.output.as_deref();
    let links = args.charts.linked(output);
    let text = match ExplainFormat::of(output) {
        ExplainFormat::Terminal if args.json => {
            json::text(json::EXPLAIN, &ExplainJson::of(&summary))?
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
        // The page gives the reason and the cure already.
        complain(&match output.is_none() && !args.json {
            true => {
                anyhow!(both!("run {} has no trace", "測定{}にトレースがありません"; args.run))
            }
            false => not_traced(&args.run, &summary),
        });
        return Ok(Exit::Failed);
    }
    Ok(Exit::Ok)
}
