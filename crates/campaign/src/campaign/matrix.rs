//! The points of a campaign and their order.

use super::file::{CardOrder, PointOrder};
use super::spec::Campaign;
use hakaru_model::campaign::CampaignPoint;
use hakaru_model::rng::Rng;

/// One repeat of a point, by indexes into the campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Index of the card.
    pub card: usize,
    /// Index of the layer.
    pub layer: usize,
    /// Index of the workload.
    pub workload: usize,
    /// Repeat number from 0; 1,000,000 and above for a recheck, and [`CampaignPoint::TRACED`] for the traced run.
    pub repeat: u32,
}

/// First repeat number of a recheck, which measures a point again after all other cards. Far above the maximum number
/// of repeats.
pub(super) const RECHECK: u32 = 1_000_000;

impl Point {
    /// Whether the point belongs to the recheck of the first card.
    pub(super) fn is_recheck(&self) -> bool {
        is_recheck(self.repeat)
    }

    /// Whether the run of the point is traced, and does not count as a repeat.
    pub fn is_traced(&self) -> bool {
        self.repeat >= CampaignPoint::TRACED
    }
}

/// Whether a repeat number belongs to a recheck.
pub(super) fn is_recheck(repeat: u32) -> bool {
    (RECHECK..CampaignPoint::TRACED).contains(&repeat)
}

impl Campaign {
    /// Returns all points of a card in the order of the campaign, with the maximum number of repeats.
    pub(super) fn points_of(&self, card: usize) -> Vec<Point> {
        let repeats = self.repeats_in_order(self.layers_of(card), card as u64);
        let point = |(layer, workload, repeat)| Point {
            card,
            layer,
            workload,
            repeat,
        };
        repeats.into_iter().map(point).collect()
    }

    /// Returns layer, workload and number of each repeat in the order of the campaign; `stream` selects the random
    /// numbers of a shuffled order. The traced runs of a layer follow its last repeat.
    fn repeats_in_order(
        &self,
        layers: impl Iterator<Item = usize>,
        stream: u64,
    ) -> Vec<(usize, usize, u32)> {
        let workloads = self.wanted_workloads();
        let repeats = 0..self.repeats.most();
        let (mut all, mut traced) = (Vec::new(), Vec::new());
        for layer in layers {
            if self.order == PointOrder::Interleaved {
                for repeat in repeats.clone() {
                    all.extend(workloads.clone().map(|workload| (layer, workload, repeat)));
                }
            } else {
                for workload in workloads.clone() {
                    all.extend(repeats.clone().map(|repeat| (layer, workload, repeat)));
                }
            }
            let traces = workloads.clone().filter(|_| self.trace.is_some());
            let traces = traces.map(|workload| (layer, workload, CampaignPoint::TRACED));
            match self.order {
                PointOrder::Shuffled => traced.extend(traces),
                PointOrder::Blocked | PointOrder::Interleaved => all.extend(traces),
            }
        }
        if self.order == PointOrder::Shuffled {
            shuffle(&mut all, Rng::fork(self.seed, stream));
        }
        all.append(&mut traced);
        all
    }

    /// Returns all points of all cards for a campaign whose cards alternate.
    ///
    /// One layer, workload and repeat is measured on every card before the next.
    pub(super) fn points_in_turns(&self) -> Vec<Point> {
        let repeats = self.repeats_in_order(self.wanted_layers(), 0);
        let mut points = Vec::new();
        for (turn, (layer, workload, repeat)) in (1..).zip(repeats) {
            let mut cards: Vec<usize> = self
                .wanted_cards()
                .filter(|&card| self.layers_of(card).any(|of| of == layer))
                .collect();
            match self.card_order {
                CardOrder::Abba if repeat % 2 == 1 => cards.reverse(),
                CardOrder::Shuffled => shuffle(&mut cards, Rng::fork(self.seed, turn)),
                CardOrder::Sequential | CardOrder::Interleaved | CardOrder::Abba => {}
            }
            points.extend(cards.into_iter().map(|card| Point {
                card,
                layer,
                workload,
                repeat,
            }));
        }
        points
    }

    /// Returns the card and layer that are measured again at the end: the first ones, if another card is measured in
    /// between.
    pub(super) fn rechecked(&self) -> Option<(usize, usize)> {
        let several = self.recheck && self.wanted_cards().nth(1).is_some();
        let card = self.wanted_cards().next().filter(|_| several)?;
        Some((card, self.layers_of(card).next()?))
    }

    /// Returns the points of the recheck, with the maximum number of repeats.
    pub(super) fn recheck_points(&self) -> Vec<Point> {
        let Some((card, layer)) = self.rechecked() else {
            return Vec::new();
        };
        let points = self.points_of(card).into_iter();
        points
            .filter(|point| point.layer == layer && !point.is_traced())
            .map(|point| Point {
                repeat: RECHECK + point.repeat,
                ..point
            })
            .collect()
    }

    /// Returns the maximum number of repeats, without the recheck and the traced runs.
    pub fn cells(&self) -> u64 {
        self.points().saturating_mul(self.repeats.most().into())
    }

    /// Returns the maximum number of repeats of the cards with a label.
    pub(super) fn cells_of(&self, label: &str) -> u64 {
        let is_it = |card: &usize| self.cards[*card].label == label;
        let cards = self.wanted_cards().filter(is_it);
        let layers: u64 = cards.map(|card| self.layers_of(card).count() as u64).sum();
        let points = layers * self.wanted_workloads().count() as u64;
        points.saturating_mul(self.repeats.most().into())
    }

    /// Returns the number of points.
    fn points(&self) -> u64 {
        let workloads = self.wanted_workloads().count() as u64;
        let layers: u64 = self
            .wanted_cards()
            .map(|card| self.layers_of(card).count() as u64)
            .sum();
        layers * workloads
    }

    /// Returns the number of traced runs.
    pub(super) fn traced(&self) -> u64 {
        if self.trace.is_some() {
            self.points()
        } else {
            0
        }
    }

    /// Returns the maximum number of runs, with the recheck and the traced runs.
    pub fn count(&self) -> u64 {
        let rechecks = self
            .rechecked()
            .map_or(0, |_| self.wanted_workloads().count() as u64);
        self.cells()
            .saturating_add(rechecks.saturating_mul(self.repeats.most().into()))
            .saturating_add(self.traced())
    }
}

/// Shuffles uniformly. Source: Fisher and Yates (1938), as modified by Durstenfeld (1964).
fn shuffle<T>(items: &mut [T], mut rng: Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

/// Splits points into groups that share one preparation: consecutive points through the same layer, or single points
/// if each run needs a new file system.
pub(super) fn groups_of_points(points: &[Point], fresh: bool) -> impl Iterator<Item = &[Point]> {
    points.chunk_by(move |a, b| !fresh && (a.card, a.layer) == (b.card, b.layer))
}

#[cfg(test)]
mod tests {
    use super::super::testing::campaign;
    use super::*;
    use crate::session::TraceExtent;
    use std::collections::BTreeSet;

    fn places(points: &[Point]) -> Vec<(usize, usize, u32)> {
        points
            .iter()
            .map(|p| (p.layer, p.workload, p.repeat))
            .collect()
    }

    #[test]
    fn blocked_points_need_the_fewest_preparations() {
        let campaign = campaign("repeats = 2\norder = \"blocked\"");
        let points = campaign.points_of(0);
        assert_eq!(
            places(&points)[..5],
            [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0)]
        );
        assert_eq!(groups_of_points(&points, false).count(), 2);
        assert_eq!(groups_of_points(&points, true).count(), points.len());
    }

    #[test]
    fn the_traced_run_of_each_point_follows_the_repeats_of_its_layer() {
        for order in ["blocked", "interleaved", "shuffled"] {
            let plain = campaign(&format!("repeats = 2\norder = \"{order}\""));
            let traces = Campaign {
                trace: Some(TraceExtent::AfterCost),
                ..plain.clone()
            };
            let points = traces.points_of(0);
            let traced: Vec<usize> = (0..points.len())
                .filter(|&at| points[at].is_traced())
                .collect();
            let layers = traces.layers_of(0).count();
            assert_eq!(traced.len(), layers * traces.wanted_workloads().count());
            for at in traced {
                let later = points[at..].iter();
                let repeats = later.filter(|p| p.layer == points[at].layer && !p.is_traced());
                assert_eq!(repeats.count(), 0, "{order}");
            }
            let repeats: Vec<Point> = points.into_iter().filter(|p| !p.is_traced()).collect();
            assert_eq!(repeats, plain.points_of(0));
            assert_eq!(plain.cells(), traces.cells());
            let recheck = traces.recheck_points();
            assert!(recheck.iter().all(|p| p.is_recheck() && !p.is_traced()));
        }
    }

    #[test]
    fn interleaved_points_take_turns() {
        let points = campaign("repeats = 2\norder = \"interleaved\"").points_of(0);
        assert_eq!(
            places(&points)[..4],
            [(0, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1)]
        );
    }

    #[test]
    fn shuffled_points_are_the_same_points_and_one_seed_one_order() {
        let order = |seed: u32| {
            campaign(&format!("repeats = 5\norder = \"shuffled\"\nseed = {seed}")).points_of(0)
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let set = |points: Vec<Point>| points.into_iter().collect::<BTreeSet<_>>();
        assert_eq!(set(order(1)), set(campaign("repeats = 5").points_of(0)));
    }
}
