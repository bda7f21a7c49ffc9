//! `hakaru campaign`: benchmarks many cards through many layers, as described by a file, and resumes where it stopped.

mod init;
mod line_reader;
mod load;
mod operator;
mod report;
mod run;
mod status;

use crate::exit::Exit;
use anyhow::Result;
use clap::Subcommand;
use hakaru_campaign::campaign::journal::CampaignProgress;
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_device::Roots;
use hakaru_store::Store;
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
    Check(CampaignArg),
    /// Run or resume a campaign
    Run(run::CampaignRunArgs),
    /// Show the progress of a campaign, or of all campaigns
    Status(OptionalCampaign),
    /// Report the results of a campaign
    Report(report::CampaignReportArgs),
}

/// The campaign with an optional selection of its points.
#[derive(Debug, clap::Args)]
struct CampaignArg {
    /// Campaign file, id of a campaign in the database, or name of a template
    #[arg(value_name = "FILE|NAME")]
    campaign: PathBuf,
    /// Run only these cards, layers and workloads (comma-separated names)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// Repeat each point N times, overriding the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: Option<u32>,
}

/// An optional campaign.
#[derive(Debug, clap::Args)]
struct OptionalCampaign {
    /// Campaign file, id of a campaign in the database, or name of a template
    #[arg(value_name = "FILE|NAME")]
    campaign: Option<PathBuf>,
}

/// Runs the subcommand.
pub(crate) fn main(args: &CampaignArgs, db: Option<&Path>) -> Result<Exit> {
    match &args.action {
        CampaignAction::Init(args) => init::main(args),
        CampaignAction::Check(named) => status::check(named, db),
        CampaignAction::Run(args) => run::main(args, db),
        CampaignAction::Status(perhaps) => status::main(perhaps.campaign.as_deref(), db),
        CampaignAction::Report(args) => report::main(args, db),
    }
}

impl CampaignArg {
    /// Loads the campaign and applies `--only` and `--repeat`.
    fn load(&self, store: &Store) -> Result<Result<load::Loaded, Exit>> {
        let mut loaded = match load::load(&self.campaign, store)? {
            Ok(loaded) => loaded,
            Err(exit) => return Ok(Err(exit)),
        };
        if let Err(why) = loaded.campaign.want_only(&self.only) {
            anstream::eprintln!("\u{1b}[1;31merror\u{1b}[0m: {why}");
            return Ok(Err(Exit::Usage));
        }
        if let Some(times) = self.repeat {
            loaded.campaign.repeats = hakaru_campaign::campaign::file::RepeatRule::Times(times);
        }
        Ok(Ok(loaded))
    }
}

/// Returns the stored progress of a campaign on this host.
fn journal(campaign: &Campaign, store: &Store) -> Result<CampaignProgress> {
    let roots = Roots::live();
    let clock = hakaru_engine::ClockChoice::best();
    let host = hakaru_device::environment(&roots, clock.name()).hostname;
    Ok(CampaignProgress::read(campaign, store, &host)?)
}
