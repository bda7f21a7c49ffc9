//! The points of a campaign as other processes see them: with their stored repeats, and whether they are done.

use super::journal::{CampaignProgress, PointKey};
use super::matrix::Point;
use super::spec::Campaign;
use hakaru_store::live::{LiveCampaign, LiveCell, LiveCellState};
use hakaru_store::{FindError, Store};

/// Returns the points of a campaign from its stored runs, without those that run now.
///
/// # Errors
/// [`FindError`] if the database cannot be read.
pub fn live_points(
    campaign: &Campaign,
    journal: &mut CampaignProgress,
    store: &Store,
) -> Result<LiveCampaign, FindError> {
    let mut cells = Vec::new();
    for card in campaign.wanted_cards() {
        for layer in campaign.layers_of(card) {
            for workload in campaign.wanted_workloads() {
                let place = (card, layer, workload);
                cells.push(live_cell(campaign, journal, store, place)?);
            }
        }
    }
    Ok(LiveCampaign {
        id: campaign.id.clone(),
        name: campaign.name.clone(),
        number: journal.done_of(campaign),
        of: campaign.count(),
        remaining_s: 0.0,
        cards: campaign
            .cards
            .iter()
            .map(|card| card.label.clone())
            .collect(),
        layers: campaign
            .layers
            .iter()
            .map(|layer| layer.name.clone())
            .collect(),
        workloads: campaign
            .workloads
            .iter()
            .map(|workload| workload.name.clone())
            .collect(),
        cells,
    })
}

/// Returns the point of a card, layer and workload from its stored runs.
pub(super) fn live_cell(
    campaign: &Campaign,
    journal: &mut CampaignProgress,
    store: &Store,
    (card, layer, workload): (usize, usize, usize),
) -> Result<LiveCell, FindError> {
    let most = campaign.repeats.most();
    let key = journal
        .key_of(&campaign.cards[card].label)
        .map(str::to_owned);
    let (mut done, mut is_open) = (0, true);
    if let Some(key) = key {
        done = journal.repeats(&PointKey::of(campaign, &key, layer, workload));
        // The repeat after the last one is open unless the mean is known precisely enough.
        let next = Point {
            card,
            layer,
            workload,
            repeat: most,
        };
        is_open = done < most && journal.is_open(campaign, &key, &next, store)?;
    }
    let index = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    Ok(LiveCell {
        card: index(card),
        layer: index(layer),
        workload: index(workload),
        state: match is_open {
            true => LiveCellState::Waiting,
            false => LiveCellState::Done,
        },
        done,
        of: most,
        because: None,
    })
}
