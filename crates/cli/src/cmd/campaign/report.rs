//! `hakaru campaign report`: what a campaign has found, from the store alone.

use super::load;
use crate::cmd::{print, width};
use crate::exit::Exit;
use crate::place;
use anyhow::{Context, Result, bail};
use hakaru_campaign::campaign::gather::gather;
use hakaru_model::campaign::CampaignSummary;
use std::path::{Path, PathBuf};

/// Width of a saved chart, in points: a column of a page.
const CHART_WIDTH: u32 = 760;

/// What to report, and how.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Its file, the id of one that was carried out before, or the name of a ready-made one
    #[arg(value_name = "FILE|NAME")]
    campaign: PathBuf,
    /// Form of the report [default: by the ending of the output, or a summary here and a page beside the database]
    #[arg(long, value_parser = ["terminal", "html", "markdown", "csv"])]
    format: Option<String>,
    /// Where to; `-` for standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Save each chart of the page as an SVG file in this folder
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

/// Tells it.
pub(super) fn main(args: &Args, db: Option<&Path>) -> Result<Exit> {
    let store = place::open(db)?;
    let campaign = match load::load(&args.campaign, &store)? {
        Ok(loaded) => loaded.campaign,
        Err(exit) => return Ok(exit),
    };
    let summary = gather(&campaign, &store, Vec::new())?;
    if summary.cards.is_empty() {
        let name = args.campaign.display();
        bail!("nothing was measured of {} yet: `hakaru campaign run {name}` begins", campaign.name);
    }
    if let Some(folder) = &args.charts {
        save_charts(&summary, folder)?;
    }
    if args.format.is_none() && args.output.is_none() {
        print(&hakaru_report::campaign_terminal(&summary, width()))?;
        let page = hakaru_report::campaign_html(&summary);
        let path = place::write_report(&store, None, &format!("campaign-{}", campaign.id), &page)?;
        print(&format!("\nReport: {}\n", path.display()))?;
        return Ok(Exit::Ok);
    }
    let charts = args.charts.as_ref().map(|folder| folder.display().to_string());
    let page = match args.format.as_deref().unwrap_or_else(|| by_ending(args.output.as_deref())) {
        "terminal" => hakaru_report::campaign_terminal(&summary, width()),
        "markdown" => hakaru_report::campaign_markdown(&summary, charts.as_deref()),
        "csv" => hakaru_report::campaign_csv(&summary),
        _ => hakaru_report::campaign_html(&summary),
    };
    match args.output.as_deref().filter(|path| *path != Path::new("-")) {
        None => print(&page)?,
        Some(path) => {
            let path = place::write_report(&store, Some(path), &campaign.id, &page)?;
            print(&format!("{}\n", path.display()))?;
        }
    }
    Ok(Exit::Ok)
}

/// The form that the name of a file asks for.
fn by_ending(output: Option<&Path>) -> &'static str {
    match output.and_then(Path::extension).and_then(|ending| ending.to_str()) {
        Some("md" | "markdown") => "markdown",
        Some("csv") => "csv",
        Some("txt") => "terminal",
        _ => "html",
    }
}

fn save_charts(summary: &CampaignSummary, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {} for charts", folder.display()))?;
    for chart in hakaru_report::campaign_charts(summary) {
        let path = folder.join(format!("{}.svg", chart.name));
        std::fs::write(&path, chart.svg(CHART_WIDTH))
            .with_context(|| format!("cannot write the chart {}", path.display()))?;
    }
    Ok(())
}
