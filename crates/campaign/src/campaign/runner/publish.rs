//! Publishes the points of a campaign and their states for other processes.

use super::super::live_points::{live_cell, live_points};
use super::super::operator::CampaignStatus;
use super::{CampaignError, Point, Runner};
use hakaru_store::live::{LiveCell, LiveCellState};

impl Runner<'_> {
    /// Publishes all points with their stored repeats.
    pub(super) fn publish_points(&mut self) -> Result<(), CampaignError> {
        if let Some(live) = self.operator.live() {
            let points = live_points(self.campaign, &mut self.journal, self.store)?;
            live.update(|state| state.campaign = Some(points));
        }
        Ok(())
    }

    /// Publishes that a run of a point begins.
    pub(super) fn publish_begin(&self, status: &CampaignStatus) {
        let Some(live) = self.operator.live() else {
            return;
        };
        live.update(|state| {
            let Some(campaign) = &mut state.campaign else {
                return;
            };
            (campaign.number, campaign.of) = (status.number, status.of);
            campaign.remaining_s = status.left.as_secs_f64();
            if let Some(cell) = place(&status.point, &mut campaign.cells) {
                (cell.state, cell.because) = (LiveCellState::Running, None);
            }
        });
    }

    /// Publishes that a run of a point is stored, with the run's series.
    pub(super) fn publish_stored(&mut self, point: &Point, series: &str) {
        let Some(live) = self.operator.live() else {
            return;
        };
        let place_of = (point.card, point.layer, point.workload);
        // A database that cannot be read now is reported when the next point is chosen.
        let stored = live_cell(self.campaign, &mut self.journal, self.store, place_of).ok();
        let number = self.journal.done_of(self.campaign);
        live.update(|state| {
            state.stored = Some(series.to_owned());
            let Some(campaign) = &mut state.campaign else {
                return;
            };
            campaign.number = number;
            if let (Some(cell), Some(stored)) = (place(point, &mut campaign.cells), stored) {
                *cell = stored;
            }
        });
    }

    /// Publishes that a run of a point failed.
    pub(super) fn publish_failure(&self, point: &Point, why: &str) {
        let Some(live) = self.operator.live() else {
            return;
        };
        live.update(|state| {
            let campaign = state.campaign.as_mut();
            if let Some(cell) = campaign.and_then(|all| place(point, &mut all.cells)) {
                (cell.state, cell.because) = (LiveCellState::Failed, Some(why.to_owned()));
            }
        });
    }

    /// Publishes that the remaining points of a card are skipped.
    pub(super) fn publish_skip(&self, label: &str, why: &str) {
        let Some(live) = self.operator.live() else {
            return;
        };
        let card = self
            .campaign
            .cards
            .iter()
            .position(|card| card.label == label);
        live.update(|state| {
            let cells = state.campaign.iter_mut().flat_map(|all| &mut all.cells);
            for cell in cells.filter(|cell| Some(cell.card as usize) == card) {
                if matches!(cell.state, LiveCellState::Waiting | LiveCellState::Running) {
                    (cell.state, cell.because) = (LiveCellState::Skipped, Some(why.to_owned()));
                }
            }
        });
    }
}

/// Returns the published point.
fn place<'c>(point: &Point, cells: &'c mut [LiveCell]) -> Option<&'c mut LiveCell> {
    let wanted = (point.card, point.layer, point.workload);
    let of = |cell: &LiveCell| {
        (
            cell.card as usize,
            cell.layer as usize,
            cell.workload as usize,
        )
    };
    cells.iter_mut().find(|cell| of(cell) == wanted)
}
