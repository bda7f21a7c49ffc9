//! `hakaru campaign check` and `status`: the plan and the progress of a campaign.

use super::arg::{CampaignArg, journal};
use super::load;
use crate::cmd::{counted, print};
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_campaign::campaign::{check, status};
use hakaru_device::Roots;
use std::path::Path;

/// Prints the plan of a campaign.
pub(super) fn check(named: &CampaignArg, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    let campaign = named.load(&store)?.campaign;
    let journal = journal(&campaign, &store)?;
    print(&check::plan(&campaign, &journal, &Roots::live()))?;
    Ok(Exit::Ok)
}

/// Prints the progress of one campaign or of all campaigns.
pub(super) fn main(name: Option<&Path>, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    let Some(name) = name else {
        let campaigns = store.campaigns()?;
        let widths = campaigns.iter().map(|(id, _)| id.chars().count());
        let widest = widths.max().unwrap_or(0);
        let line = |(id, runs): &(String, u64)| {
            format!("{id:<widest$}  {}\n", counted(*runs as usize, "run"))
        };
        print(&match campaigns.is_empty() {
            true => "No campaigns are stored yet.\n".to_owned(),
            false => campaigns.iter().map(line).collect(),
        })?;
        return Ok(Exit::Ok);
    };
    let campaign = load::load(name, &store)?.campaign;
    let mut journal = journal(&campaign, &store)?;
    print(&status::status(&campaign, &mut journal, &store)?)?;
    Ok(Exit::Ok)
}
