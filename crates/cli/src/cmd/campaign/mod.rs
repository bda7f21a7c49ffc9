//! `hakaru campaign`: benchmarks many cards through many layers, as described by a file, and resumes where it stopped.

mod arg;
mod init;
mod line_reader;
mod load;
mod operator;
mod prompts;
mod report;
mod run;
mod status;

use crate::exit::Exit;
use anyhow::Result;
pub(crate) use arg::CampaignArg;
#[cfg(feature = "fleet")]
pub(crate) use arg::CampaignOutput;
use clap::Subcommand;
use hakaru_campaign::campaign::file::CampaignFile;
use hakaru_model::price::Price;
use hakaru_store::Store;
#[cfg(feature = "fleet")]
pub(crate) use load::Loaded;
use std::path::{Path, PathBuf};

/// Arguments of `hakaru campaign`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A campaign is a file that lists cards, layers, workloads and repeats (docs/CAMPAIGNS.md explains each key). Progress is kept in the database: a campaign can be stopped at any time and resumes where it stopped."
)]
pub(crate) struct CampaignArgs {
    #[command(subcommand)]
    action: CampaignAction,
}

#[derive(Debug, Subcommand)]
enum CampaignAction {
    /// Write a campaign file from a template or interactively
    Init(init::CampaignInitArgs),
    /// Show what a campaign will do, how long it takes, what it erases, and what it cannot prove
    Check(CampaignCheckArgs),
    /// Run or resume a campaign
    Run(run::CampaignRunArgs),
    /// Show the progress of a campaign, or of all campaigns
    Status(OptionalCampaign),
    /// Report the results of a campaign
    Report(report::CampaignReportArgs),
}

/// Arguments of `hakaru campaign check`.
#[derive(Debug, clap::Args)]
struct CampaignCheckArgs {
    #[command(flatten)]
    named: CampaignArg,
    /// Print the plan as JSON
    #[arg(long)]
    json: bool,
}

/// An optional campaign.
#[derive(Debug, clap::Args)]
struct OptionalCampaign {
    /// Print the progress as JSON
    #[arg(long)]
    json: bool,
    /// Campaign file, id of a campaign in the database, or name of a template
    #[arg(value_name = "FILE|NAME")]
    campaign: Option<PathBuf>,
}

/// Runs the subcommand.
pub(crate) fn main(args: &CampaignArgs, db: Option<&Path>) -> Result<Exit> {
    match &args.action {
        CampaignAction::Init(args) => init::main(args),
        CampaignAction::Check(args) => status::check(&args.named, args.json, db),
        CampaignAction::Run(args) => run::main(args, db),
        CampaignAction::Status(optional) => {
            status::main(optional.campaign.as_deref(), optional.json, db)
        }
        CampaignAction::Report(args) => report::main(args, db),
    }
}

/// Returns the prices in the stored file of a campaign, with the labels of their cards.
pub(crate) fn prices(campaign: &str, store: &Store) -> Result<Vec<(String, Price)>> {
    let asked = store.kept_campaign(campaign)?;
    let asked = asked.and_then(|asked| serde_json::from_str::<serde_json::Value>(&asked).ok());
    let text = asked.as_ref().and_then(|asked| asked.get("text")?.as_str());
    let file = text.and_then(|text| toml::from_str::<CampaignFile>(text).ok());
    let cards = file.map(|file| file.card).unwrap_or_default();
    let priced = cards.into_iter().filter_map(|card| {
        let price = card.price?.parse().ok()?;
        Some((card.label?.into_inner(), price))
    });
    Ok(priced.collect())
}
