//! The points of a campaign, and the order in which they are measured.

use super::file::{CardOrder, PointOrder};
use super::spec::Campaign;
use hakaru_model::rng::Rng;

/// One point and repeat, by places in the campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// Which card.
    pub card: usize,
    /// Which layer.
    pub layer: usize,
    /// Which workload.
    pub workload: usize,
    /// Number of the repeat, from 0; that of a recheck from [`RECHECK`].
    pub repeat: u32,
}

/// Repeats with this number and above measure a point again after all other cards. Far above the most repeats a campaign
/// can have.
pub const RECHECK: u32 = 1_000_000;

impl Point {
    /// Whether it measures the first card again.
    pub fn is_recheck(&self) -> bool {
        self.repeat >= RECHECK
    }
}

impl Campaign {
    /// All points of a card in the order of the campaign, with as many repeats as there can be at most.
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

    /// All points of all cards in the order of a campaign whose cards take turns.
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

    /// The card and layer that are measured again at the end: the first ones, where another card comes in between.
    pub fn rechecked(&self) -> Option<(usize, usize)> {
        let several = self.recheck && self.wanted_cards().nth(1).is_some();
        let card = self.wanted_cards().next().filter(|_| several)?;
        Some((card, self.layers_of(card).next()?))
    }

    /// The points of the recheck, with as many repeats as there can be at most.
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

    /// How many points there are at most, without a recheck.
    pub fn cells(&self) -> u64 {
        let workloads = self.wanted_workloads().count() as u64;
        let layers: u64 = self
            .wanted_cards()
            .map(|card| self.layers_of(card).count() as u64)
            .sum();
        (layers * workloads).saturating_mul(self.repeats.most().into())
    }

    /// How many runs there are at most, with a recheck.
    pub fn count(&self) -> u64 {
        let rechecks = self
            .rechecked()
            .map_or(0, |_| self.wanted_workloads().count() as u64);
        self.cells()
            .saturating_add(rechecks.saturating_mul(self.repeats.most().into()))
    }
}

/// Every order equally likely. Source: Fisher and Yates (1938), in the form of Durstenfeld (1964).
fn shuffle<T>(items: &mut [T], mut rng: Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

/// Cuts points into stretches that one preparation serves: neighbours through the same layer, or single ones where each
/// run wants a fresh file system.
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
