//! The finding of a workload, as the title of its chart.

use super::view::{View, Work};
use super::words;
use crate::chart::ChartTitle;
use crate::escape::plain;
use crate::naming::distinct;
use crate::{number, text};
use hakaru_model::campaign::RankedCard;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::{JobDescription, LayerCost, Verdict};

/// The finding of a workload: the host is the limit, a layer costs every card much, or which card is the fastest.
pub(super) fn speed_title(view: &View<'_>, work: &Work) -> ChartTitle {
    let label = work.title();
    let main = view.main_layer();
    if let Some(limit) = words::held_by_host(view, main, work) {
        return ChartTitle::HostBound {
            work: label,
            cards: limit.members.len(),
            value: format!("{} MB/s", number::quantity(limit.measured.0 / 1e6)),
        };
    }
    let reference = &view.of.reference_layer;
    if view.names.len() == 1 {
        return only_card_title(view, work, main);
    }
    if let Some(plateau) = plateau(view, main, work) {
        return plateau;
    }
    let held = view.held_layers().into_iter();
    let losses = held.filter_map(|layer| Some((layer, losses(view, layer, work)?)));
    let largest = losses.max_by(|a, b| a.1.0.total_cmp(&b.1.0));
    if let Some((layer, lost)) = largest.filter(|_| !reference.is_empty()) {
        return layer_costs(label, layer, lost);
    }
    let mixed = |layer: &str| layer_mixed(view, layer, work);
    if let Some(mixed) = view.held_layers().into_iter().find_map(mixed) {
        return mixed;
    }
    fastest_title(view, work, main)
}

/// Fewest cards of different models on a plateau.
const PLATEAU_CARDS: usize = 4;
/// Largest distance of the slowest card on a plateau from the fastest, as a share of the fastest.
const PLATEAU: f64 = 0.04;
/// Smallest such distance of the same cards in another workload: they are not alike.
const UNLIKE: f64 = 0.2;

/// The fastest cards all reach the same sequential speed on one host, but differ in another workload.
pub(super) fn plateau(view: &View<'_>, layer: &str, work: &Work) -> Option<ChartTitle> {
    if !is_sequential(view, layer, work) {
        return None;
    }
    let mut cards: Vec<(usize, f64)> = speeds(view, layer, work).collect();
    cards.sort_by(|a, b| b.1.total_cmp(&a.1));
    let fastest = cards.first()?.1;
    let held: Vec<(usize, f64)> = cards
        .iter()
        .copied()
        .take_while(|(_, mean)| *mean >= fastest * (1.0 - PLATEAU))
        .collect();
    let known: Option<Vec<(String, Option<&str>)>> = held
        .iter()
        .map(|&(card, _)| Some((model(view, layer, card)?, host(view, layer, card))))
        .collect();
    let known = known?;
    let one_host = known.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let models = distinct(known.into_iter().map(|(model, _)| model));
    let unlike = |other: &Work| {
        let means =
            speeds(view, layer, other).filter(|(card, _)| held.iter().any(|h| h.0 == *card));
        let means: Vec<f64> = means.map(|(_, mean)| mean).collect();
        let low = means.iter().copied().fold(f64::MAX, f64::min);
        let high = means.iter().copied().fold(0.0, f64::max);
        means.len() == held.len() && low < high * (1.0 - UNLIKE)
    };
    if models.len() < PLATEAU_CARDS || !one_host || !view.works.iter().any(unlike) {
        return None;
    }
    let speed = |mean: f64| number::quantity(mean / 1e6);
    // The bars of other layers in the chart may be outside of the range.
    let place = (view.layers.len() > 1).then(|| in_text(layer));
    let title: Vec<String> = [work.title()].into_iter().chain(place).collect();
    Some(ChartTitle::Plateau {
        work: text::enumerated(&title),
        cards: held.len(),
        of: cards.len(),
        low: speed(held.last()?.1),
        high: speed(fastest),
    })
}

/// The cards with their mean rates through a layer.
fn speeds<'v>(
    view: &'v View<'_>,
    layer: &str,
    work: &'v Work,
) -> impl Iterator<Item = (usize, f64)> + use<'v> {
    let cells = view.cells(layer, work).into_iter().enumerate();
    cells.filter_map(|(card, phase)| Some((card, work.rate(phase?).mean)))
}

/// Model of a real card, or its name if the model is unknown.
fn model(view: &View<'_>, layer: &str, card: usize) -> Option<String> {
    let summary = &view.through(card, layer)?.summary;
    if summary.caveats.contains(&Caveat::Simulated) {
        return None;
    }
    let model = summary.target.device.known();
    let model = model.and_then(|device| device.model.known());
    Some(model.map_or_else(|| view.name(card).to_owned(), Clone::clone))
}

/// Name of the host in which a card was measured.
fn host<'v>(view: &'v View<'_>, layer: &str, card: usize) -> Option<&'v str> {
    let summary = &view.through(card, layer)?.summary;
    Some(&summary.environment.hostname)
}

/// Whether all jobs of a workload read or write sequentially, and do nothing else.
pub(super) fn is_sequential(view: &View<'_>, layer: &str, work: &Work) -> bool {
    let mut jobs = view
        .cells(layer, work)
        .into_iter()
        .flatten()
        .flat_map(|phase| &phase.detail.jobs)
        .peekable();
    let is_plain = |job: &JobDescription| {
        job.random == Some(false)
            && job.mix_percent.is_none()
            && job.sync_every == 0
            && !job.sync_open
    };
    !work.small && jobs.peek().is_some() && jobs.all(is_plain)
}

/// The only card: what a layer leaves of its speed, or its speed.
pub(super) fn only_card_title(view: &View<'_>, work: &Work, main: &str) -> ChartTitle {
    let label = work.title();
    let held = view.held_layers();
    let costs = held
        .iter()
        .filter_map(|layer| Some((layer, view.cost(0, layer, work)?)));
    // The largest effect in either direction; one that is shown before one that is not.
    let effect = |(_, cost): &(&&str, &LayerCost)| {
        let size = cost.comparison.ratio.max(1e-9).ln().abs();
        (cost.comparison.verdict == Verdict::Different, size)
    };
    let cost = costs.max_by(|a, b| {
        let (a, b) = (effect(a), effect(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    if let Some((layer, cost)) = cost {
        return ChartTitle::LayerLeaves {
            work: label,
            layer: in_text(layer),
            reference: in_text(&view.of.reference_layer),
            share: cost.comparison.ratio,
        };
    }
    let cell = view.cell(0, main, work);
    let value = cell.map(|phase| format!("{} {}", words::spread(work, phase), work.unit()));
    ChartTitle::OnlyCard {
        work: label,
        value: value.unwrap_or_default(),
    }
}

/// Smallest loss through a layer that answers and titles mention.
const NOTABLE_LOSS: f64 = 0.1;

/// The smallest and the largest measured loss of a layer over all cards, as shares. `None` if some card has no figure, no
/// proven loss, or one under 10%.
pub(super) fn losses(view: &View<'_>, layer: &str, work: &Work) -> Option<(f64, f64)> {
    let of_card = |card| {
        let comparison = &view.cost(card, layer, work)?.comparison;
        let is_lost = comparison.verdict == Verdict::Different && comparison.ratio < 1.0;
        (is_lost && comparison.ratio_ci95.is_some()).then_some(1.0 - comparison.ratio)
    };
    let losses: Vec<f64> = (0..view.names.len()).map(of_card).collect::<Option<_>>()?;
    let least = losses.iter().copied().reduce(f64::min)?;
    let most = losses.iter().copied().reduce(f64::max)?;
    (least >= NOTABLE_LOSS).then_some((least, most))
}

/// Title with what a layer costs every card.
pub(super) fn layer_costs(work: String, layer: &str, (low, high): (f64, f64)) -> ChartTitle {
    ChartTitle::LayerCosts {
        work,
        layer: in_text(layer),
        low: number::percent(low),
        high: number::percent(high),
    }
}

/// What a layer does to the speed where it does not cost every card much.
pub(super) fn layer_ratios(view: &View<'_>, layer: &str, work: &Work) -> ChartTitle {
    let verdict = |card| Some(view.cost(card, layer, work)?.comparison.verdict);
    let verdicts: Option<Vec<Verdict>> = (0..view.names.len()).map(verdict).collect();
    let is_same = |verdicts: &Vec<Verdict>| verdicts.iter().all(|v| *v == Verdict::Equivalent);
    if verdicts.as_ref().is_some_and(is_same) {
        return ChartTitle::LayerFree {
            work: work.title(),
            layer: in_text(layer),
            cards: view.names.len(),
        };
    }
    layer_mixed(view, layer, work).unwrap_or_else(|| ChartTitle::LayerRatios {
        work: work.title(),
        layer: in_text(layer),
    })
}

/// A layer through which some cards are proven faster by at least 10%, and others slower. `None` if it is not so, or the
/// cards that are faster are more than a title can name.
fn layer_mixed(view: &View<'_>, layer: &str, work: &Work) -> Option<ChartTitle> {
    let effect = |card| {
        let comparison = &view.cost(card, layer, work)?.comparison;
        let is_proven = comparison.verdict == Verdict::Different;
        is_proven.then_some((card, comparison.ratio))
    };
    let effects: Vec<(usize, f64)> = (0..view.names.len()).filter_map(effect).collect();
    let mut gains: Vec<_> = effects.iter().filter(|(_, ratio)| *ratio > 1.0).collect();
    gains.sort_by(|a, b| b.1.total_cmp(&a.1));
    let losses = || {
        effects
            .iter()
            .map(|(_, ratio)| 1.0 - ratio)
            .filter(|l| *l > 0.0)
    };
    let largest = losses().reduce(f64::max)?;
    let least = losses().reduce(f64::min)?;
    let is_notable = gains.first()?.1 >= 1.0 + NOTABLE_LOSS && largest >= NOTABLE_LOSS;
    let gained = |&&(card, ratio): &&(usize, f64)| {
        let name = view.name(card).to_owned();
        (name, number::percent(ratio - 1.0))
    };
    (is_notable && gains.len() <= NAMED_GAINS).then(|| ChartTitle::LayerMixed {
        work: work.title(),
        layer: in_text(layer),
        gains: gains.iter().map(gained).collect(),
        losing: losses().count(),
        of: view.names.len(),
        low: number::percent(least),
        high: number::percent(largest),
    })
}

/// Most cards that a title names one by one.
const NAMED_GAINS: usize = 3;

/// Which card is the fastest through a layer, if that is shown.
fn fastest_title(view: &View<'_>, work: &Work, layer: &str) -> ChartTitle {
    let label = view.with_layer(&work.title(), layer);
    let Some(ranking) = view.ranking(layer, work) else {
        return ChartTitle::NoDifference {
            work: label,
            cards: view.names.len(),
        };
    };
    let proven = ranking
        .pairs
        .iter()
        .any(|pair| pair.comparison.verdict == Verdict::Different);
    let (first, second) = match &ranking.places[..] {
        [first, second, ..] if proven => (first, second),
        places => {
            return ChartTitle::NoDifference {
                work: label,
                cards: places.len(),
            };
        }
    };
    // Of a card that several hosts have, the next one is another card.
    let name_of = |place: &RankedCard| &view.of.cards[place.card as usize].name;
    let mut others = ranking.places[1..].iter();
    let second = others
        .find(|place| name_of(place) != name_of(first))
        .unwrap_or(second);
    let leaders = view.leaders(ranking);
    match leaders.len() == 1 && second.mean > 0.0 {
        true => ChartTitle::Fastest {
            work: label,
            card: view.name(first.card as usize).to_owned(),
            next: plain(name_of(second)),
            lead: first.mean / second.mean,
        },
        false => {
            let cards = leaders.into_iter().map(|card| view.name(card).to_owned());
            ChartTitle::FastestTie {
                work: label,
                cards: cards.collect(),
            }
        }
    }
}

/// A layer as part of a sentence.
pub(super) fn in_text(layer: &str) -> String {
    text::layer_in_text(&plain(layer))
}
