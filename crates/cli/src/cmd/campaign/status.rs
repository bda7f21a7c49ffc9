//! `hakaru campaign check` and `status`: the plan and the progress of a campaign.

use super::{CampaignArg, journal, load};
use crate::cmd::print;
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_campaign::campaign::{check, status};
use hakaru_device::Roots;
use std::path::Path;

/// Prints the plan of a campaign.
pub(super) fn check(named: &CampaignArg, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    let campaign = match named.load(&store)? {
        Ok(loaded) => loaded.campaign,
        Err(exit) => return Ok(exit),
    };
    let journal = journal(&campaign, &store)?;
    print(&check::plan(&campaign, &journal, &Roots::live()))?;
    Ok(Exit::Ok)
}

/// Prints the progress of one campaign or of all campaigns.
pub(super) fn main(name: Option<&Path>, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    let Some(name) = name else {
        let campaigns = store.campaigns()?;
        let widest = campaigns
            .iter()
            .map(|(id, _)| id.chars().count())
            .max()
            .unwrap_or(0);
        let line = |(id, runs): &(String, u64)| {
            format!(
                "{id:<widest$}  {runs} run{}\n",
                if *runs == 1 { "" } else { "s" }
            )
        };
        let lines: String = campaigns.iter().map(line).collect();
        print(if lines.is_empty() {
            "No campaigns are stored yet.\n"
        } else {
            &lines
        })?;
        return Ok(Exit::Ok);
    };
    let campaign = match load::load(name, &store)? {
        Ok(loaded) => loaded.campaign,
        Err(exit) => return Ok(exit),
    };
    let mut journal = journal(&campaign, &store)?;
    print(&status::status(&campaign, &mut journal, &store)?)?;
    Ok(Exit::Ok)
}
