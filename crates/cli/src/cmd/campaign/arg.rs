//! The arguments that name a campaign.

use super::load::{self, Loaded};
use crate::exit::{Ended, Exit};
use crate::status_reporter::{ProgressFormat, ProgressMode};
use anyhow::Result;
use hakaru_campaign::campaign::file::RepeatRule;
use hakaru_report::text::{self, MessagePrefix};
use hakaru_store::Store;
use std::path::PathBuf;

/// What running a campaign prints.
#[derive(Debug, clap::Args)]
pub(crate) struct CampaignOutput {
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print progress for people, or as JSON lines, on standard error
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    progress: ProgressFormat,
    /// Print only warnings and errors
    #[arg(long, short)]
    quiet: bool,
}

impl CampaignOutput {
    /// How progress is printed.
    pub(crate) fn mode(&self) -> ProgressMode {
        self.progress.mode(self.quiet)
    }
}

/// The campaign with an optional selection of its points.
#[derive(Debug, clap::Args)]
pub(crate) struct CampaignArg {
    /// Campaign file, id of a campaign in the database, or name of a template
    #[arg(value_name = "FILE|NAME")]
    pub(crate) campaign: PathBuf,
    /// Run only these cards, layers and workloads (comma-separated names)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,
    /// Repeat each point N times, overriding the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: Option<u32>,
}

impl CampaignArg {
    /// Returns the number of repeats that overrides the file.
    #[cfg(feature = "fleet")]
    pub(crate) fn repeats(&self) -> Option<u32> {
        self.repeat
    }

    /// Loads the campaign and applies `--only` and `--repeat`.
    pub(crate) fn load(&self, store: &Store) -> Result<Loaded> {
        let mut loaded = load::load(&self.campaign, store)?;
        if let Err(why) = loaded.campaign.want_only(&self.only) {
            let error = text::prefix(MessagePrefix::Error);
            anstream::eprintln!("\u{1b}[1;31m{error}\u{1b}[0m: {why}");
            return Err(Ended(Exit::Usage).into());
        }
        if let Some(times) = self.repeat {
            loaded.campaign.repeats = RepeatRule::Times(times);
        }
        Ok(loaded)
    }
}
