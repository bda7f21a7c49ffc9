//! `hakaru campaign check` and `status`: the plan and the progress of a campaign.

use super::arg::CampaignArg;
use super::load;
use crate::cmd::{CountedNoun, counted, json, print, width};
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_campaign::campaign::{check, status};
use hakaru_device::Roots;
use hakaru_report::{columns_of, padded};
use hakaru_results::campaign::documents::{StatusJson, journal};
use hakaru_store::Store;
use serde::Serialize;
use std::path::Path;

/// Output of `hakaru campaign check --json`.
#[derive(Serialize)]
struct CheckJson<'a> {
    campaign: &'a str,
    name: &'a str,
    cards: Vec<&'a str>,
    layers: Vec<&'a str>,
    workloads: Vec<&'a str>,
    runs: u64,
    stored: u64,
    seconds_left: f64,
    plan: Vec<String>,
}

/// Prints the plan of a campaign.
pub(super) fn check(named: &CampaignArg, json: bool, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    let campaign = named.load(&store)?.campaign;
    let journal = journal(&campaign, &store)?;
    // Programs get each sentence as one line.
    let width = if json { usize::MAX } else { width() };
    let plan = check::plan(&campaign, &journal, &Roots::live(), width);
    if !json {
        print(&plan)?;
        return Ok(Exit::Ok);
    }
    let card = |card: usize| campaign.cards[card].label.as_str();
    let layer = |layer: usize| campaign.layers[layer].name.as_str();
    let workload = |workload: usize| campaign.workloads[workload].name.as_str();
    let body = CheckJson {
        campaign: &campaign.id,
        name: &campaign.name,
        cards: campaign.wanted_cards().map(card).collect(),
        layers: campaign.wanted_layers().map(layer).collect(),
        workloads: campaign.wanted_workloads().map(workload).collect(),
        runs: campaign.count(),
        stored: journal.done_of(&campaign),
        seconds_left: check::seconds_left(&campaign, &journal, &Roots::live()),
        plan: plan.lines().map(str::to_owned).collect(),
    };
    json::print(json::CAMPAIGN_CHECK, &body)?;
    Ok(Exit::Ok)
}

/// Prints the progress of one campaign or of all campaigns.
pub(super) fn main(name: Option<&Path>, json: bool, db: Option<&Path>) -> Result<Exit> {
    let store = place::read_or_empty(db)?;
    let Some(name) = name else {
        return all(&store, json);
    };
    let campaign = load::load(name, &store)?.campaign;
    let mut journal = journal(&campaign, &store)?;
    if !json {
        print(&status::status(&campaign, &mut journal, &store)?)?;
        return Ok(Exit::Ok);
    }
    let body = StatusJson::of(&campaign, &mut journal, &store)?;
    json::print(json::CAMPAIGN_STATUS, &body)?;
    Ok(Exit::Ok)
}

/// Prints the number of runs of all campaigns.
fn all(store: &Store, json: bool) -> Result<Exit> {
    let campaigns = store.campaigns()?;
    if json {
        json::print(json::CAMPAIGN_STATUS, &StatusJson::of_all(campaigns))?;
        return Ok(Exit::Ok);
    }
    let widths = campaigns.iter().map(|(id, _)| columns_of(id));
    let widest = widths.max().unwrap_or(0);
    let line = |(id, runs): &(String, u64)| {
        format!(
            "{}  {}\n",
            padded(id, widest),
            counted(*runs as usize, CountedNoun::Run)
        )
    };
    print(&match campaigns.is_empty() {
        true => both!(
            "No campaigns are stored yet.\n",
            "キャンペーンはまだ保存されていません。\n"
        ),
        false => campaigns.iter().map(line).collect(),
    })?;
    Ok(Exit::Ok)
}
