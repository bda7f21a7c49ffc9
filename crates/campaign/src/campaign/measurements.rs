//! Results of the cards of a campaign, before conclusions.

use super::spec::Campaign;
use hakaru_model::campaign::PreparedStep;
use hakaru_model::finding::{Claim, RoundPoint, Summary};

/// Results of one card.
#[derive(Clone, Debug)]
pub struct CardMeasurements {
    /// Display name.
    pub name: String,
    /// ID of the card under which its runs are stored.
    pub key: String,
    /// Host that measured it.
    pub host: String,
    /// Rated speeds and classes.
    pub printed: Vec<Claim>,
    /// Other facts about the card.
    pub facts: Vec<(String, String)>,
    /// Results through each layer.
    pub layers: Vec<LayerMeasurements>,
}

/// Results of one card through one layer.
#[derive(Clone, Debug)]
pub struct LayerMeasurements {
    /// Name of the layer.
    pub layer: String,
    /// Summary of all workloads.
    pub summary: Summary,
    /// Preparation steps before the runs.
    pub prepared: Vec<PreparedStep>,
    /// Workloads with their rounds, if the rounds end in steady state.
    pub rounds: Vec<RoundPoint>,
}

impl CardMeasurements {
    /// Returns a card without results; its claims and facts are those of the card with this label in the campaign.
    pub(super) fn new(
        campaign: &Campaign,
        label: &str,
        name: String,
        key: &str,
        host: &str,
    ) -> CardMeasurements {
        let card = campaign.cards.iter().find(|card| card.label == label);
        CardMeasurements {
            name,
            key: key.to_owned(),
            host: host.to_owned(),
            printed: card.map(|card| card.printed.clone()).unwrap_or_default(),
            facts: card.map(|card| card.facts.clone()).unwrap_or_default(),
            layers: Vec::new(),
        }
    }

    /// Returns the number of its runs.
    pub(super) fn runs(&self) -> u64 {
        let runs = self.layers.iter().map(|layer| layer.summary.runs.len());
        runs.sum::<usize>() as u64
    }
}
