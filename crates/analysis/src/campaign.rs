//! Campaigns: the workloads of one card put together, and the cards of one workload put in order.

use crate::compare::{Rate, compare_family, has_rate, rate, rate_pair};
use hakaru_model::campaign::{Pair, Place, Ranking};
use hakaru_model::finding::{PhaseSummary, Summary, Verdict};
use hakaru_model::job::Op;

/// Puts the summaries of one thing's workloads together: all phases, runs and caveats, the circumstances of the first.
///
/// `None` when there are none.
pub fn join(parts: Vec<Summary>) -> Option<Summary> {
    let mut parts = parts.into_iter();
    let mut whole = parts.next()?;
    for part in parts {
        let Summary { runs, started_unix_ms, phases, caveats, .. } = part;
        whole.runs.extend(runs);
        whole.started_unix_ms = whole.started_unix_ms.min(started_unix_ms);
        whole.phases.extend(phases);
        for caveat in caveats {
            if !whole.caveats.contains(&caveat) {
                whole.caveats.push(caveat);
            }
        }
    }
    Some(whole)
}

/// One layer of a campaign: its name, and the cards that were measured through it with their places in the campaign.
pub type Layer<'a> = (String, Vec<(u32, &'a Summary)>);

/// Puts the cards of each layer and phase in order, and compares each with each: all of it as one family, so that the
/// size of a campaign makes no false alarms.
pub fn rank(layers: &[Layer<'_>]) -> Vec<Ranking> {
    let groups: Vec<Group<'_>> = layers.iter().flat_map(groups_of).collect();
    let pairs: Vec<_> = groups.iter().flat_map(|g| g.pairs().map(|(_, _, x, y)| rate_pair(x, y))).collect();
    let mut compared = compare_family(&pairs).into_iter();
    let ranking = |group: &Group<'_>| {
        let places = group.pairs().map(|(a, b, ..)| (a, b));
        let pairs = places.zip(compared.by_ref()).map(|((a, b), comparison)| Pair { a, b, comparison }).collect();
        group.ranking(pairs)
    };
    groups.iter().map(ranking).collect()
}

/// One phase through one layer, on every card that has it.
struct Group<'a> {
    layer: &'a str,
    phase: &'a str,
    op: Op,
    rate: Rate,
    cards: Vec<(u32, &'a PhaseSummary)>,
}

fn groups_of<'a>((layer, cards): &'a Layer<'a>) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (card, summary) in cards {
        for phase in summary.phases.iter().filter(|phase| has_rate(phase)) {
            match groups.iter_mut().find(|g| g.phase == phase.phase && g.op == phase.op) {
                Some(group) => group.cards.push((*card, phase)),
                None => groups.push(Group {
                    layer,
                    phase: &phase.phase,
                    op: phase.op,
                    rate: rate(phase, phase),
                    cards: vec![(*card, phase)],
                }),
            }
        }
    }
    groups
}

impl<'a> Group<'a> {
    fn pairs(&self) -> impl Iterator<Item = (u32, u32, &'a PhaseSummary, &'a PhaseSummary)> {
        let cards = &self.cards;
        let places = (0..cards.len()).flat_map(|a| (a + 1..cards.len()).map(move |b| (a, b)));
        places.map(|(a, b)| (cards[a].0, cards[b].0, cards[a].1, cards[b].1))
    }

    fn ranking(&self, pairs: Vec<Pair>) -> Ranking {
        let mut places: Vec<Place> = self
            .cards
            .iter()
            .map(|&(card, phase)| {
                let estimate = self.rate.of(phase);
                Place { card, rank: 0, mean: estimate.mean, deviation: estimate.deviation }
            })
            .collect();
        places.sort_by(|a, b| b.mean.total_cmp(&a.mean).then(a.card.cmp(&b.card)));
        give_ranks(&mut places, &pairs);
        let (layer, phase) = (self.layer.to_owned(), self.phase.to_owned());
        Ranking { layer, phase, op: self.op, unit: self.rate.unit().to_owned(), places, pairs }
    }
}

/// A card shares the rank of the best before it from which it cannot be told apart; ranks count cards, so that two
/// seconds are followed by a fourth.
fn give_ranks(places: &mut [Place], pairs: &[Pair]) {
    let told_apart = |x: u32, y: u32| {
        let pair = pairs.iter().find(|p| (p.a, p.b) == (x, y) || (p.a, p.b) == (y, x));
        pair.is_some_and(|p| p.comparison.verdict == Verdict::Different)
    };
    let mut best = 0;
    for index in 0..places.len() {
        if index > 0 && told_apart(places[best].card, places[index].card) {
            best = index;
        }
        places[index].rank = best as u32 + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_series, suite};

    #[test]
    fn workloads_of_a_card_are_put_together() {
        let whole = suite(5);
        let part = |name: &str| {
            let phases = whole.phases.iter().filter(|p| p.phase == name).cloned().collect();
            Summary { phases, ..whole.clone() }
        };
        let joined = join(vec![part("seq-write"), part("rand-read")]).unwrap();
        let names: Vec<&str> = joined.phases.iter().map(|p| p.phase.as_str()).collect();
        assert_eq!((names, joined.runs.len()), (vec!["seq-write", "rand-read"], 10));
        assert_eq!(joined.caveats, whole.caveats);
        assert_eq!(join(Vec::new()), None);
    }

    #[test]
    fn cards_are_ranked_and_equals_share_a_rank() {
        let cards = [(0, 30e6), (1, 40.02e6), (2, 40e6), (3, 20e6)];
        let summaries: Vec<Summary> = cards.iter().map(|&(i, mb)| read_series(i, mb, 0.005)).collect();
        let layer = ("raw".to_owned(), (0..).zip(&summaries).collect());
        let [ref ranking] = rank(&[layer])[..] else { panic!() };
        let ranks: Vec<(u32, u32)> = ranking.places.iter().map(|p| (p.card, p.rank)).collect();
        assert_eq!((ranks[0].1, ranks[1].1), (1, 1), "{ranks:?}");
        assert_eq!(ranks[2..], [(0, 3), (3, 4)]);
        assert_eq!((ranking.pairs.len(), ranking.unit.as_str(), ranking.layer.as_str()), (6, "B/s", "raw"));
    }

    #[test]
    fn published_figures_are_ranked_by_their_means_and_deviations() {
        // Sequential writes of three cards of a published table, ten runs each, MB/s.
        let table = [(22.2, 0.1), (18.6, 0.6), (26.3, 3.2)];
        let card = |(i, (mean, deviation)): (u64, (f64, f64))| {
            let mut summary = read_series(i, mean * 1e6, 0.01);
            let moments = crate::stats::Moments::new(10, mean * 1e6, deviation * 1e6).unwrap();
            summary.phases[0].bandwidth = crate::estimate::published(&moments);
            summary.phases[0].iops = crate::estimate::published(&moments);
            summary.phases[0].detail.stated_runs = Some(10);
            summary
        };
        let summaries: Vec<Summary> = (0..).zip(table).map(card).collect();
        let layer = ("raw".to_owned(), (0..).zip(&summaries).collect());
        let [ref ranking] = rank(&[layer])[..] else { panic!() };
        assert_eq!(ranking.places.iter().map(|p| p.card).collect::<Vec<_>>(), [2, 0, 1]);
        assert!(ranking.pairs.iter().all(|p| p.comparison.p_value.is_some()));
    }
}
