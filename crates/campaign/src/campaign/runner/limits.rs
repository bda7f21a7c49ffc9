//! Checks the limits of a campaign before each run and each preparation.

use super::super::estimate;
use super::super::matrix::Point;
use super::super::spec::LayerKind;
use super::{CardOutcome, Runner};
use hakaru_model::units::Bytes;
use std::sync::atomic::Ordering::Relaxed;

/// A step that a limit may forbid.
#[derive(Clone, Copy)]
pub(super) enum NextStep {
    /// A preparation of the whole card, or only of its layer.
    Preparation { whole: bool },
    /// A run; if its files do not exist yet, it writes them first. `fills` is the size of a fill of the file system.
    Run { lays_out: bool, fills: Bytes },
}

impl Runner<'_> {
    /// Returns the outcome of the card if a limit forbids the next step.
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
