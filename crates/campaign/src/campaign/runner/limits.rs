//! What a campaign may do to a card, and how long: asked before each run, and before what makes a card ready for it.

use super::super::estimate;
use super::super::matrix::Point;
use super::super::spec::LayerKind;
use super::{CardOutcome, Runner};
use hakaru_model::units::Bytes;
use std::sync::atomic::Ordering::Relaxed;

/// What a limit may forbid.
#[derive(Clone, Copy)]
pub(super) enum NextStep {
    /// Making the card ready; all of it, or for its layer alone.
    Preparation { whole: bool },
    /// A run; one whose files are not there yet writes them first, and one that reads all there is room for fills it.
    Run { lays_out: bool, fills: Bytes },
}

impl Runner<'_> {
    /// Whether a limit of the campaign forbids one more run, or its preparation.
    pub(super) fn limit(
        &mut self,
        point: &Point,
        key: &str,
        next: NextStep,
    ) -> Option<CardOutcome> {
        let limits = self.campaign.limits;
        if self.stop.load(Relaxed) {
            return Some(CardOutcome::Stopped);
        }
        let size = self.sizes.get(&point.card).copied();
        let (
            campaign,
            Point {
                card,
                layer,
                workload,
                ..
            },
        ) = (self.campaign, *point);
        let (seconds, fills, lays_out) = match next {
            NextStep::Preparation { whole } => (
                estimate::preparation_seconds(campaign, card, layer, whole, size),
                estimate::preparation_bytes(campaign, layer, whole, size).0,
                // A new file system is empty.
                matches!(campaign.layers[layer].through, LayerKind::Fs(_)),
            ),
            NextStep::Run { lays_out, fills } => (0.0, fills.0, lays_out || fills > Bytes(0)),
        };
        let expected = estimate::run_seconds(campaign, point, &self.journal) + seconds;
        if limits.time.is_some_and(|limit| {
            self.begun.elapsed().as_secs_f64() + expected > limit.0.as_secs_f64()
        }) {
            return Some(CardOutcome::TimeUp);
        }
        let limit = limits.written.map_or(u64::MAX, |limit| limit.0.0);
        let written = self.journal.written(key);
        let why = if (campaign.workloads[workload].writes() || lays_out) && written >= limit {
            "the write limit is reached"
        } else if fills > 0 && written.saturating_add(fills) > limit {
            "filling it would exceed the write limit"
        } else {
            return None;
        };
        self.skipped
            .push((campaign.cards[card].label.clone(), why.to_owned()));
        Some(CardOutcome::Done)
    }
}
