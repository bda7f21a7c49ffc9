//! The points of a campaign and their order.

use super::file::{CardOrder, PointOrder};
use super::spec::Campaign;
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
    /// Repeat number from 0; [`RECHECK`] and above for a recheck.
    pub repeat: u32,
}

/// First repeat number of a recheck, which measures a point again after all other cards. Far above the maximum number
/// of repeats.
pub const RECHECK: u32 = 1_000_000;

impl Point {
    /// Whether the point belongs to the recheck of the first card.
    pub fn is_recheck(&self) -> bool {
        self.repeat >= RECHECK
    }
}

impl Campaign {
    /// Returns all points of a card in the order of the campaign, with the maximum number of repeats.
    pub fn points_of(&self, card: usize) -> Vec<Point> {
        let layers: Vec<usize> = self.layers_of(card).collect();
        let workloads = self.wanted_workloads();
        let repeats = 0..self.repeats.most();
        let mut points = Vec::new();
        for &layer in &layers {
            match self.order {
                PointOrder::Blocked | PointOrder::Shuffled => {
                    let cells = workloads
                        .clone()
                        .flat_map(|workload| repeats.clone().map(move |r| (workload, r)));
                    points.extend(cells.map(|(workload, repeat)| Point {
                        card,
                        layer,
                        workload,
                        repeat,
                    }));
                }
                PointOrder::Interleaved => {
                    let cells = repeats
                        .clone()
                        .flat_map(|repeat| workloads.clone().map(move |w| (w, repeat)));
                    points.extend(cells.map(|(workload, repeat)| Point {
                        card,
                        layer,
                        workload,
                        repeat,
                    }));
                }
            }
        }
        if self.order == PointOrder::Shuffled {
            shuffle(&mut points, Rng::fork(self.seed, card as u64));
        }
        points
    }

    /// Returns all points of all cards for a campaign whose cards alternate.
    ///
    /// One layer, workload and repeat is measured on every card before the next.
    pub fn points_in_turns(&self) -> Vec<Point> {
        let workloads = self.wanted_workloads();
        let repeats = 0..self.repeats.most();
        let mut cells: Vec<(usize, usize, u32)> = Vec::new();
        for layer in self.wanted_layers() {
            match self.order {
                PointOrder::Blocked | PointOrder::Shuffled => {
                    cells.extend(
                        workloads
                            .clone()
                            .flat_map(|w| repeats.clone().map(move |r| (layer, w, r))),
                    );
                }
                PointOrder::Interleaved => {
                    cells.extend(
                        repeats
                            .clone()
                            .flat_map(|r| workloads.clone().map(move |w| (layer, w, r))),
                    );
                }
            }
        }
        if self.order == PointOrder::Shuffled {
            shuffle(&mut cells, Rng::fork(self.seed, 0));
        }
        let mut points = Vec::new();
        for (turn, (layer, workload, repeat)) in (1..).zip(cells) {
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
    pub fn rechecked(&self) -> Option<(usize, usize)> {
        let several = self.recheck && self.wanted_cards().nth(1).is_some();
        let card = self.wanted_cards().next().filter(|_| several)?;
        Some((card, self.layers_of(card).next()?))
    }

    /// Returns the points of the recheck, with the maximum number of repeats.
    pub fn recheck_points(&self) -> Vec<Point> {
        let Some((card, layer)) = self.rechecked() else {
            return Vec::new();
        };
        let mut points = self.points_of(card);
        points.retain(|point| point.layer == layer);
        points
            .into_iter()
            .map(|point| Point {
                repeat: RECHECK + point.repeat,
                ..point
            })
            .collect()
    }

    /// Returns the maximum number of points, without the recheck.
    pub fn cells(&self) -> u64 {
        let workloads = self.wanted_workloads().count() as u64;
        let layers: u64 = self
            .wanted_cards()
            .map(|card| self.layers_of(card).count() as u64)
            .sum();
        (layers * workloads).saturating_mul(self.repeats.most().into())
    }

    /// Returns the maximum number of runs, with the recheck.
    pub fn count(&self) -> u64 {
        let rechecks = self
            .rechecked()
            .map_or(0, |_| self.wanted_workloads().count() as u64);
        self.cells()
            .saturating_add(rechecks.saturating_mul(self.repeats.most().into()))
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
pub fn stretches(points: &[Point], fresh: bool) -> impl Iterator<Item = &[Point]> {
    points.chunk_by(move |a, b| !fresh && (a.card, a.layer) == (b.card, b.layer))
}

#[cfg(test)]
mod tests {
    use super::super::testing::campaign;
    use super::*;
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
        assert_eq!(stretches(&points, false).count(), 2);
        assert_eq!(stretches(&points, true).count(), points.len());
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
