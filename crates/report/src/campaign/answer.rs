//! The answer of a campaign: the card that is proven to be the fastest, and what a layer costs.

use super::titles::losses;
use super::view::{View, Work};
use super::words::held_by_host;
use crate::answer;
use crate::document::{AnswerBlock, Aside, AsideContent, DocumentBlock};
use crate::escape::plain;
use crate::number;
use crate::text::{self, FastestCard};
use hakaru_model::advice::RunFindings;
use hakaru_model::campaign::{RankedCard, Ranking};
use hakaru_model::finding::{LayerCost, PhaseSummary, Verdict};

/// Maximum number of winners in the answer.
const WINS: usize = 2;

/// A ranking of several cards that the host does not limit.
struct RankedWorkload<'v> {
    work: &'v Work,
    ranking: &'v Ranking,
    first: &'v RankedCard,
    last: &'v RankedCard,
}

impl<'v> RankedWorkload<'v> {
    /// Ratio of the best to the worst mean.
    fn ratio(&self) -> f64 {
        self.first.mean / self.last.mean
    }

    /// Whether the first card is proven to be better than every other one, directly or through a card between them.
    fn is_won(&self, view: &View<'_>) -> bool {
        !self.ranking.pairs.is_empty() && view.leaders(self.ranking).len() == 1
    }

    /// Number of measured cards.
    fn cards(&self) -> usize {
        self.ranking.places.len()
    }

    fn has_proof(&self) -> bool {
        let mut pairs = self.ranking.pairs.iter();
        pairs.any(|pair| pair.comparison.verdict == Verdict::Different)
    }

    /// Cards that no other card is proven to be faster than.
    fn leaders(&self, view: &'v View<'_>) -> Vec<&'v str> {
        let leaders = view.leaders(self.ranking).into_iter();
        leaders.map(|card| view.name(card)).collect()
    }

    fn win(&self, view: &'v View<'_>) -> FastestCard<'v> {
        let ratio = self.ratio();
        FastestCard {
            card: view.name(self.first.card as usize),
            workload: &self.work.noun,
            value: value(self.work, self.first),
            times: ratio
                .is_finite()
                .then(|| number::significant_digits(ratio, 2)),
        }
    }
}

/// A mean with its unit: `1,489 IOPS`.
fn value(work: &Work, place: &RankedCard) -> String {
    let scale = if work.small { 1.0 } else { 1e6 };
    format!("{} {}", number::quantity(place.mean / scale), work.unit())
}

/// The rankings through a layer, the largest ratio first.
fn ranked_workloads<'v>(view: &'v View<'_>, layer: &str) -> Vec<RankedWorkload<'v>> {
    let works = view.works.iter();
    let open = works.filter(|work| held_by_host(view, layer, work).is_none());
    let ranked = |work: &'v Work| {
        let ranking = view.ranking(layer, work)?;
        let (first, last) = (ranking.places.first()?, ranking.places.last()?);
        (ranking.places.len() > 1).then_some(RankedWorkload {
            work,
            ranking,
            first,
            last,
        })
    };
    let mut all: Vec<RankedWorkload<'v>> = open.filter_map(ranked).collect();
    all.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
    all
}

/// The answer; `None` without figures.
pub(super) fn answer(view: &View<'_>) -> Option<AnswerBlock> {
    match (view.names.len(), view.layers.len()) {
        (1, 1) if !view.of.rounds.is_empty() => return super::rounds::answer(view),
        (1, 2..) => return of_layers(view),
        (1, _) => return of_one_card(view),
        _ => {}
    }
    let ranked_workloads = ranked_workloads(view, view.main_layer());
    let fastest = fastest(view, &ranked_workloads);
    let cost = layer_cost(view);
    let sentences: Vec<String> = fastest.into_iter().chain(cost).collect();
    (!sentences.is_empty()).then(|| AnswerBlock {
        text: text::paragraph(&sentences),
        proof: proof(view),
    })
}

/// A sentence about the main layer, which it names if there are others.
pub(super) fn on_layer(view: &View<'_>, sentence: String) -> String {
    match view.layers.len() {
        0 | 1 => sentence,
        _ => text::on_layer(&text::layer_in_text(&plain(view.main_layer())), &sentence),
    }
}

/// Name of a card, without its host.
fn name_of<'v>(view: &'v View<'_>, place: &RankedCard) -> &'v str {
    &view.of.cards[place.card as usize].name
}

/// Fewest workloads of which "all" says more than their names.
const MANY_WORKLOADS: usize = 3;

/// Whether one card is proven to be the fastest in every workload. On several hosts, each must have measured every card and
/// rank this one first: otherwise the host may be what makes it the fastest.
fn is_first_in_all(view: &View<'_>, ranked_workloads: &[RankedWorkload<'_>]) -> bool {
    let Some(first) = ranked_workloads.first() else {
        return false;
    };
    let card = name_of(view, first.first);
    let of_card = |nth: usize| view.of.cards[nth].name == card;
    let cards = || view.of.cards.iter();
    let hosts = crate::naming::distinct(cards().map(|card| card.host.as_str()));
    let names = crate::naming::distinct(cards().map(|card| card.name.as_str()));
    let leads_on = |ranked: &RankedWorkload<'_>, host: &str| {
        let mut places = ranked.ranking.places.iter();
        let first = places.find(|place| view.of.cards[place.card as usize].host == host);
        first.is_some_and(|first| of_card(first.card as usize))
    };
    let is_crossed = view.of.cards.len() == hosts.len() * names.len();
    let leads = |ranked: &RankedWorkload<'_>| {
        let all = ranked.ranking.places.len() == view.names.len();
        let leaders = view.leaders(ranked.ranking);
        let on_each = hosts.iter().all(|host| leads_on(ranked, host));
        all && on_each && ranked.has_proof() && leaders.into_iter().all(of_card)
    };
    let is_every = ranked_workloads.len() == view.works.len();
    is_crossed
        && is_every
        && ranked_workloads.len() >= MANY_WORKLOADS
        && ranked_workloads.iter().all(leads)
}

fn fastest(view: &View<'_>, ranked_workloads: &[RankedWorkload<'_>]) -> Option<String> {
    let won: Vec<FastestCard<'_>> = ranked_workloads
        .iter()
        .filter(|ranked| ranked.is_won(view))
        .take(WINS)
        .map(|ranked| ranked.win(view))
        .collect();
    let largest = ranked_workloads.first()?;
    let cards = view.names.len();
    let runs = runs_of_places(view);
    // Not every card was measured in every workload.
    let of_won = ranked_workloads.iter().filter(|ranked| ranked.is_won(view));
    let of_won = of_won.take(WINS).map(RankedWorkload::cards).min();
    Some(match () {
        () if is_first_in_all(view, ranked_workloads) => {
            let win = largest.win(view);
            let card = plain(name_of(view, largest.first));
            let named = view.of.cards.iter().map(|card| card.name.as_str());
            let names = crate::naming::distinct(named);
            let of = (names.len(), ranked_workloads.len());
            on_layer(
                view,
                text::fastest_in_all(&FastestCard { card: &card, ..win }, of),
            )
        }
        () if !won.is_empty() => {
            let fastest = text::fastest_cards(of_won.unwrap_or(cards), &won);
            on_layer(view, fastest)
        }
        () if runs == Some(1) => text::highest_of_single_runs(&largest.win(view), largest.cards()),
        () if !ranked_workloads.iter().any(RankedWorkload::has_proof) => {
            text::no_card_differs(cards)
        }
        () => {
            let with_proof = ranked_workloads.iter().find(|ranked| ranked.has_proof());
            let ranked = with_proof.unwrap_or(largest);
            let leaders = ranked.leaders(view);
            text::no_fastest_card(&ranked.work.noun, &leaders, runs.unwrap_or(0))
        }
    })
}

/// Number of runs behind each figure; `None` if they differ.
pub(super) fn runs_of_places(view: &View<'_>) -> Option<u64> {
    let summaries = view.summaries();
    let phases = summaries.iter().flat_map(|(_, summary)| &summary.phases);
    let mut runs = phases.map(super::tables::runs_of);
    let first = runs.next()?;
    runs.all(|n| n == first).then_some(first)
}

/// What a single card is good for.
fn of_one_card(view: &View<'_>) -> Option<AnswerBlock> {
    let layer = view.through(0, view.main_layer())?;
    let findings = RunFindings {
        advice: layer.advice.clone(),
        ..RunFindings::default()
    };
    let summaries = std::slice::from_ref(&layer.summary);
    answer::of_series(summaries, &[findings], &view.names)
}

/// A workload of a single card, with its fastest layer.
struct BestLayer<'v> {
    work: &'v Work,
    layer: &'v str,
    phase: &'v PhaseSummary,
    /// Ratio of the fastest to the slowest layer.
    ratio: f64,
}

/// The workload in which the layers of the only card differ most.
fn best_layer<'v>(view: &'v View<'_>) -> Option<BestLayer<'v>> {
    let of_work = |work: &'v Work| {
        let measured = view.layers.iter();
        let measured = measured.filter_map(|layer| Some((layer, view.cell(0, layer, work)?)));
        let mut measured: Vec<(&String, &PhaseSummary)> = measured.collect();
        let mean = |phase: &PhaseSummary| work.rate(phase).mean;
        measured.sort_by(|a, b| mean(b.1).total_cmp(&mean(a.1)));
        let ((layer, phase), (_, last)) = (*measured.first()?, *measured.last()?);
        (measured.len() > 1).then(|| BestLayer {
            work,
            layer,
            phase,
            ratio: mean(phase) / mean(last),
        })
    };
    let all = view.works.iter().filter_map(of_work);
    let all = all.filter(|best| best.ratio.is_finite());
    all.max_by(|a, b| a.ratio.total_cmp(&b.ratio))
}

/// Which layer is the fastest on a single card, and what a layer is proven to cost it.
fn of_layers(view: &View<'_>) -> Option<AnswerBlock> {
    let best = best_layer(view)?;
    let through = text::layer_in_text(&plain(best.layer));
    let scale = if best.work.small { 1.0 } else { 1e6 };
    let mean = number::quantity(best.work.rate(best.phase).mean / scale);
    let first = FastestCard {
        card: &through,
        workload: &best.work.noun,
        value: format!("{mean} {}", best.work.unit()),
        times: best
            .ratio
            .is_finite()
            .then(|| number::significant_digits(best.ratio, 2)),
    };
    let measured = view.layers.iter();
    let measured = measured.filter(|layer| view.cell(0, layer, best.work).is_some());
    let fastest = text::highest_of_layers(&first, measured.count(), view.name(0));
    let lost = view.held_layers().into_iter().flat_map(|layer| {
        let works = view.works.iter();
        works.filter_map(move |work| {
            let ratio = proven_loss(view.cost(0, layer, work)?)?;
            Some((layer, work, 1.0 - ratio))
        })
    });
    let largest = lost.max_by(|a, b| a.2.total_cmp(&b.2));
    let cost = largest.map(|(layer, work, loss)| {
        let percent = number::percent(loss);
        let layer = text::layer_in_text(&plain(layer));
        text::layer_costs_card(view.name(0), &layer, &work.noun, &percent)
    });
    let sentences: Vec<String> = std::iter::once(fastest).chain(cost).collect();
    let proof = match runs_of_places(view) {
        Some(1) => text::measured_once(),
        _ => text::layers_not_tested(),
    };
    Some(AnswerBlock {
        text: text::paragraph(&sentences),
        proof: proof.to_owned(),
    })
}

/// The ratio of a proven loss.
fn proven_loss(cost: &LayerCost) -> Option<f64> {
    let comparison = &cost.comparison;
    let lost = comparison.verdict == Verdict::Different && comparison.ratio < 1.0;
    // Proven up to the upper end of the ratio.
    comparison
        .ratio_ci95
        .filter(|_| lost)
        .map(|(_, highest)| highest)
}

/// The workload that loses most on every card: that each loses is proven, how much is measured.
fn layer_cost(view: &View<'_>) -> Option<String> {
    let all = view.held_layers().into_iter().flat_map(|layer| {
        let works = view.works.iter();
        works.filter_map(move |work| {
            let (least, most) = losses(view, layer, work)?;
            Some((least, most, layer, work))
        })
    });
    let (least, most, layer, work) = all.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let [least, most] = [least, most].map(number::percent);
    Some(text::layer_costs_all(
        &text::layer_in_text(&plain(layer)),
        &work.noun,
        (&least, &most),
    ))
}

fn proof(view: &View<'_>) -> String {
    let rankings = &view.of.rankings;
    let pairs = || rankings.iter().flat_map(|ranking| &ranking.pairs);
    let different = |verdict: Verdict| verdict == Verdict::Different;
    let proven = pairs()
        .filter(|pair| different(pair.comparison.verdict))
        .count();
    let family = pairs().map(|pair| pair.comparison.family).max();
    let mut said: Vec<String> = super::hosts::in_a_sentence(view).into_iter().collect();
    said.extend(super::hosts::cards_on_other_hosts(view));
    match (runs_of_places(view), family.unwrap_or(0)) {
        (Some(1), _) => said.push(text::measured_once().to_owned()),
        (_, 0) => {}
        (_, family) => said.push(text::pairs_proven(proven, pairs().count(), family)),
    }
    let reached = super::rated::reached_by_operation(view);
    said.extend((!reached.is_empty()).then(|| text::rated_reached(&reached)));
    said.extend(host_limits(view));
    text::paragraph(&said)
}

/// The workloads that the host limits on all cards.
pub(super) fn host_limits(view: &View<'_>) -> Option<String> {
    let layer = view.main_layer();
    let mut works = view.works.iter();
    works.find_map(|work| {
        let limit = held_by_host(view, layer, work)?;
        let value = format!("{} MB/s", number::quantity(limit.measured.0 / 1e6));
        Some(text::host_limits(&work.noun, &value, limit.members.len()))
    })
}

/// The workload of the answer: the largest proven ratio, otherwise the largest ratio; of a single card, between layers.
pub(super) fn main_work<'v>(view: &'v View<'_>) -> Option<&'v Work> {
    if let (1, Some(best)) = (view.names.len(), best_layer(view)) {
        return Some(best.work);
    }
    let ranked_workloads = ranked_workloads(view, view.main_layer());
    let won = ranked_workloads.iter().find(|ranked| ranked.is_won(view));
    let found = won.or(ranked_workloads.first()).map(|ranked| ranked.work);
    found.or(view.works.first())
}

/// The fastest card of each workload, as a box; `None` for a single card.
pub(super) fn fastest_for(view: &View<'_>) -> Option<DocumentBlock> {
    let layer = view.main_layer();
    let row = |work: &Work| {
        let ranking = view.ranking(layer, work)?;
        let (first, last) = (ranking.places.first()?, ranking.places.last()?);
        if ranking.places.len() < 2 {
            return None;
        }
        let ranked = RankedWorkload {
            work,
            ranking,
            first,
            last,
        };
        let name = work.title();
        if held_by_host(view, layer, work).is_some() {
            return Some((name, text::limited_by_host().to_owned(), value(work, first)));
        }
        if super::titles::plateau(view, layer, work).is_some() {
            return Some((
                name,
                text::perhaps_limited_by_host().to_owned(),
                String::new(),
            ));
        }
        Some(match ranked.is_won(view) {
            true => {
                let card = view.name(first.card as usize).to_owned();
                (name, card, value(work, first))
            }
            false => {
                let leaders = ranked.leaders(view);
                let leaders = match leaders.len() {
                    n if n == ranking.places.len() => String::new(),
                    _ => text::enumerated(&leaders),
                };
                (name, text::undecided().to_owned(), leaders)
            }
        })
    };
    let rows: Vec<(String, String, String)> = view.works.iter().filter_map(row).collect();
    let named = (view.layers.len() > 1).then(|| text::layer(&plain(layer)));
    (!rows.is_empty()).then(|| {
        DocumentBlock::Aside(Aside {
            title: text::fastest_for(named.as_deref()),
            content: AsideContent::Names(rows),
        })
    })
}
