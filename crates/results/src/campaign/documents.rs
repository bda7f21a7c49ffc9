//! JSON documents on campaigns.

use crate::json;
use anyhow::Result;
use hakaru_campaign::campaign::journal::CampaignProgress;
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_campaign::campaign::status;
use hakaru_device::Roots;
use hakaru_model::campaign::CampaignSummary;
use hakaru_store::{FindError, Store};
use serde::Serialize;

/// Output of `hakaru campaign status --json`.
#[derive(Serialize)]
pub struct StatusJson {
    campaigns: Vec<CampaignStatusJson>,
}

#[derive(Serialize)]
struct CampaignStatusJson {
    campaign: String,
    stored: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    layers: Vec<LayerJson>,
}

#[derive(Serialize)]
struct LayerJson {
    card: String,
    layer: String,
    stored: u64,
    open: u64,
}

impl StatusJson {
    /// Returns the progress of one campaign.
    ///
    /// # Errors
    /// [`FindError`] if the database cannot be read.
    pub fn of(
        campaign: &Campaign,
        journal: &mut CampaignProgress,
        store: &Store,
    ) -> Result<StatusJson, FindError> {
        let layer = |of: status::LayerProgress| LayerJson {
            card: of.card,
            layer: of.layer,
            stored: of.stored,
            open: of.open,
        };
        let layers = status::progress(campaign, journal, store)?;
        Ok(StatusJson {
            campaigns: vec![CampaignStatusJson {
                stored: journal.done_of(campaign),
                layers: layers.into_iter().map(layer).collect(),
                name: Some(campaign.name.clone()),
                campaign: campaign.id.clone(),
            }],
        })
    }

    /// Returns the number of stored runs of all campaigns, given by ID.
    pub fn of_all(campaigns: Vec<(String, u64)>) -> StatusJson {
        let one = |(campaign, stored): (String, u64)| CampaignStatusJson {
            campaign,
            stored,
            name: None,
            layers: Vec::new(),
        };
        StatusJson {
            campaigns: campaigns.into_iter().map(one).collect(),
        }
    }
}

/// Output of `hakaru campaign report --json`: the rows are those of the CSV form.
#[derive(Serialize)]
pub struct CampaignReportJson<'a> {
    campaign: &'a str,
    name: &'a str,
    runs: u64,
    planned: Option<u64>,
    rows: Vec<serde_json::Map<String, serde_json::Value>>,
}

impl CampaignReportJson<'_> {
    /// Returns the figures and conclusions of a campaign.
    pub fn of(summary: &CampaignSummary) -> CampaignReportJson<'_> {
        CampaignReportJson {
            campaign: &summary.id,
            name: &summary.name,
            runs: summary.runs,
            planned: summary.planned,
            rows: json::rows(&hakaru_report::campaign_csv(summary)),
        }
    }
}

/// Returns the stored progress of a campaign on its hosts; on this host if it names none.
///
/// # Errors
/// If the database cannot be read.
pub fn journal(campaign: &Campaign, store: &Store) -> Result<CampaignProgress> {
    let roots = Roots::live();
    let clock = hakaru_engine::ClockChoice::best();
    let here = hakaru_device::environment(&roots, clock.name()).hostname;
    let mut hosts: Vec<&str> = campaign
        .hosts
        .iter()
        .map(|host| host.name.as_str())
        .collect();
    if hosts.is_empty() {
        hosts.push(&here);
    }
    Ok(CampaignProgress::read(campaign, store, &hosts)?)
}
