//! Checks the limits of a campaign before each run and each preparation.

use super::super::estimate;
use super::super::matrix::Point;
use super::super::outcome::CampaignOutcome;
use super::super::spec::LayerKind;
use super::{CardOutcome, NextStep, Runner, STOPPED};
use hakaru_model::units::Bytes;
use hakaru_report::both;

/// Time and writes of a step.
struct StepCost {
    seconds: f64,
    /// Bytes that fills write.
    fills: u64,
    /// Whether files are written before the measurement.
    lays_out: bool,
}

impl Runner<'_> {
    /// Returns the outcome of the card if a limit forbids the next step.
    pub(super) fn limit(
        &mut self,
        point: &Point,
        key: &str,
        next: NextStep,
    ) -> Option<CardOutcome> {
        if self.is_stopped() {
            return Some(STOPPED);
        }
        let (campaign, limits) = (self.campaign, self.campaign.limits);
        let cost = self.cost(point, next);
        let expected = estimate::run_seconds(campaign, point, &self.journal) + cost.seconds;
        let end = self.begun.elapsed().as_secs_f64() + expected;
        if limits.time.is_some_and(|limit| end > limit.0.as_secs_f64()) {
            return Some(CardOutcome::Ends(CampaignOutcome::TimeUp));
        }
        let limit = limits.written.map_or(u64::MAX, |limit| limit.0.0);
        let written = self.journal.written(key);
        let writes = campaign.workloads[point.workload].writes() || cost.lays_out;
        let why = if writes && written >= limit {
            both!("the write limit is reached", "書き込み量の上限に達しました")
        } else if cost.fills > 0 && written.saturating_add(cost.fills) > limit {
            both!(
                "filling it would exceed the write limit",
                "全域に書き込むと書き込み量の上限を超えます"
            )
        } else {
            return None;
        };
        self.skip(point.card, why);
        Some(CardOutcome::Done)
    }

    /// Estimates the next step, without the run itself.
    fn cost(&self, point: &Point, next: NextStep) -> StepCost {
        let Point { card, layer, .. } = *point;
        let (campaign, size) = (self.campaign, self.cards[card].size);
        match next {
            NextStep::Preparation { whole } => StepCost {
                seconds: estimate::preparation_seconds(campaign, card, layer, whole, size),
                fills: estimate::preparation_bytes(campaign, layer, whole, size).0,
                // A new file system is empty.
                lays_out: matches!(campaign.layers[layer].through, LayerKind::Fs(_)),
            },
            NextStep::Run { lays_out, fills } => StepCost {
                seconds: 0.0,
                fills: fills.0,
                lays_out: lays_out || fills > Bytes(0),
            },
        }
    }
}
