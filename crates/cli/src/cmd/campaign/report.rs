//! `hakaru campaign report`: reports the results of a campaign from the store alone.

use super::load;
use crate::cmd::charts::{ChartArgs, relinked, saved};
use crate::cmd::report::{Form, ReportFormat};
use crate::cmd::unreadable::Unreadable;
use crate::cmd::{json, print, width};
use crate::exit::{Exit, NamedPath, not_there};
use crate::place;
use anyhow::{Context, Result, anyhow, bail};
use hakaru_analysis::campaign;
use hakaru_campaign::campaign::gather::gather;
use hakaru_campaign::campaign::published::{self, PublishedTable};
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_model::campaign::CampaignSummary;
use hakaru_report::text;
use hakaru_results::campaign::documents::CampaignReportJson;
use hakaru_store::Store;
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Arguments of `hakaru campaign report`.
#[derive(Debug, clap::Args)]
pub(super) struct CampaignReportArgs {
    /// Campaign file, id of a campaign in the database, or name of a template
    #[arg(value_name = "FILE|NAME")]
    campaign: PathBuf,
    /// Format of the report [default: by the ending of the output, or a summary here and a page beside the database], or of the saved charts (svg, png)
    #[arg(long, value_parser = ReportFormat::of_campaigns())]
    format: Option<ReportFormat>,
    /// Write to FILE; `-` for standard output
    #[arg(long, short, value_name = "FILE", value_parser = place::page_path())]
    output: Option<PathBuf>,
    /// Print the figures and conclusions as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    charts: ChartArgs,
    /// Compare the other cards with this one [default: the first]
    #[arg(long, value_name = "CARD")]
    reference: Option<String>,
    /// Compare the other layers with this one [default: raw, else the first]
    #[arg(long, value_name = "LAYER")]
    against: Option<String>,
    /// TOML file with rules for uses; a rule replaces the built-in one with the same id
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// CSV table of published means and deviations to compare this campaign with
    #[arg(long, value_name = "FILE")]
    published: Option<PathBuf>,
}

/// Writes the report of a campaign.
pub(super) fn main(args: &CampaignReportArgs, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    let campaign = load::load(&args.campaign, &store)?.campaign;
    let summary = summary(args, &campaign, &store)?;
    let mut unreadable = Unreadable::default();
    for run in &summary.unreadable {
        let because = anyhow!("{}", run.because).context(run.point.clone());
        unreadable.name("run", &run.run, because);
    }
    if summary.cards.is_empty() {
        bail!("{}", nothing_to_report(&summary, args));
    }
    let output = args.output.as_deref();
    if args.json {
        let body = CampaignReportJson::of(&summary);
        json::write(output, json::CAMPAIGN_REPORT, &body)?;
        return Ok(unreadable.exit());
    }
    let charts = hakaru_report::campaign_charts(&summary);
    let chart_format = args.format.and_then(ReportFormat::charts);
    let source = hakaru_report::campaign_chart_source(&summary);
    args.charts.save(&charts, chart_format, source)?;
    if let (Some(directory), Some(_), None) = (&args.charts.charts, chart_format, output) {
        print(&saved(&charts, directory))?;
        return Ok(unreadable.exit());
    }
    if args.format.is_none() && output.is_none() {
        print(&hakaru_report::campaign_terminal(&summary, width(), true))?;
        let page = hakaru_report::campaign_html(&summary);
        let path = place::write_report(&store, None, &format!("campaign-{}", campaign.id), &page)?;
        print(&format!(
            "\n{}\n",
            text::report_at(&path.display().to_string())
        ))?;
        return Ok(unreadable.exit());
    }
    let links = args.charts.linked(output);
    let file = output.filter(|path| !place::is_stdout(Some(path)));
    let page = match Form::of(args.format.and_then(ReportFormat::page), output) {
        Form::Parquet => return parquet(&summary, file).map(|()| unreadable.exit()),
        Form::Terminal => hakaru_report::campaign_terminal(&summary, width(), false),
        Form::Markdown => {
            let page = hakaru_report::campaign_markdown(&summary, links.as_deref());
            relinked(page, &charts, chart_format)
        }
        Form::Csv => hakaru_report::campaign_csv(&summary),
        Form::Html => hakaru_report::campaign_html(&summary),
    };
    match file {
        None => print(&page)?,
        Some(path) => {
            let path = place::write_report(&store, Some(path), &campaign.id, &page)?;
            print(&format!("{}\n", path.display()))?;
        }
    }
    Ok(unreadable.exit())
}

/// Explains why there is nothing to report, with advice.
fn nothing_to_report(summary: &CampaignSummary, args: &CampaignReportArgs) -> String {
    let CampaignSummary {
        name,
        failed,
        other_definition,
        ..
    } = summary;
    let run = both!("`hakaru campaign run {}`", "hakaru campaign run {}"; args.campaign.display());
    match (&failed[..], other_definition) {
        ([], 0) => both!(
            "no stored runs of {name}; help: start it with {run}",
            "{name}の測定はまだ保存されていません; help: {run}で始めてください"
        ),
        ([], others) => both!(
            "no stored runs of {name} with its current settings ({others} runs were measured with \
            different settings); help: start it with {run}",
            "現在の測定条件による{name}の測定はまだありません（異なる条件の測定{others}回）; help: {run}で始めてください"
        ),
        ([first, ..], _) => {
            both!("no run of {name} finished: {} failed, the first was {} ({}); help: try again with \
            {run}", "{name}の測定は1回も完了していません（失敗{}件、最初は{}: {}）; help: {run}で再試行してください"; failed.len(),
            first.point,
            first.because)
        }
    }
}

/// Writes the table of all figures as Parquet, a binary format that is never written to a terminal.
fn parquet(summary: &CampaignSummary, file: Option<&Path>) -> Result<()> {
    let table = hakaru_report::campaign_parquet(summary);
    match file {
        Some(path) => {
            place::write_page(path, &table)?;
            print(&format!("{}\n", path.display()))?;
        }
        None if std::io::stdout().is_terminal() => {
            bail!(both!(
                "refusing to write a Parquet file to the terminal; help: name a file with \
                --output, or redirect the output",
                "Parquetファイルは端末に出力できません; help: --outputでファイルを指定するか、出力をリダイレクトしてください"
            ));
        }
        None => std::io::stdout().lock().write_all(&table).context(both!(
            "cannot write the table to standard output",
            "表を標準出力に書き出せません"
        ))?,
    }
    Ok(())
}

/// Summarizes the campaign with the requested baselines, rules and published figures.
fn summary(
    args: &CampaignReportArgs,
    campaign: &Campaign,
    store: &Store,
) -> Result<CampaignSummary> {
    let mut published = PublishedTable::default();
    if let Some(path) = &args.published {
        let failed = || both!("cannot use the table {}", "表{}を使えません"; path.display());
        let text = std::fs::read_to_string(path).named(failed)?;
        let source = path.file_name().unwrap_or_default().to_string_lossy();
        published = published::table(&text, &source, campaign).with_context(failed)?;
    }
    let mut summary = gather(campaign, store, published.cards)?;
    summary.notes.extend(published.notes);
    if args.rules.is_some() {
        campaign::advise_all(&mut summary, &crate::rules::load(args.rules.as_deref())?);
    }
    if let Some(wanted) = &args.reference {
        let names = summary.cards.iter().map(|card| card.name.as_str());
        summary.reference =
            named(campaign, &both!("card", "カード"), wanted, names.collect())?.0 as u32;
    }
    if let Some(wanted) = &args.against {
        let layers = summary.cards.iter().flat_map(|card| &card.layers);
        let layers: BTreeSet<&str> = layers.map(|of| of.layer.as_str()).collect();
        let (_, layer) = named(
            campaign,
            &both!("layer", "レイヤ"),
            wanted,
            layers.into_iter().collect(),
        )?;
        let layer = layer.to_owned();
        campaign::compare_layers(&mut summary, &layer);
    }
    Ok(summary)
}

/// Finds the card or layer with a name, in any case.
fn named<'a>(
    campaign: &Campaign,
    what: &str,
    wanted: &str,
    names: Vec<&'a str>,
) -> Result<(usize, &'a str)> {
    let mut all = names.iter().copied().enumerate();
    let found = all.find(|(_, name)| name.eq_ignore_ascii_case(wanted));
    found.ok_or_else(|| {
        let (campaign, names) = (&campaign.name, names.join(", "));
        not_there(both!(
            "campaign {campaign} has no {what} {wanted}: expected one of {names}",
            "キャンペーン{campaign}に{what}「{wanted}」はありません（指定できる名前: {names}）"
        ))
    })
}
