//! The finding of a workload, as the title of its chart.

use super::view::{View, Work};
use super::words;
use crate::chart::ChartTitle;
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
    let costs = held.filter_map(|layer| Some((layer, least_loss(view, layer, work)?)));
    if let Some((layer, percent)) = costs
        .max_by_key(|cost| cost.1)
        .filter(|_| !reference.is_empty())
    {
        let layer = in_text(layer);
        return ChartTitle::LayerCosts {
            work: label,
            layer,
            percent,
        };
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
fn plateau(view: &View<'_>, layer: &str, work: &Work) -> Option<ChartTitle> {
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

/// The smallest loss of a layer over all cards, rounded down to tens of a percent so that it holds for each; `None` if
/// some card has no significant loss, or one under 10%.
pub(super) fn least_loss(view: &View<'_>, layer: &str, work: &Work) -> Option<u32> {
    let measured = (0..view.names.len()).filter(|&card| view.cell(card, layer, work).is_some());
    let measured: Vec<usize> = measured.collect();
    let costs = measured.iter().map(|&card| {
        let comparison = &view.cost(card, layer, work)?.comparison;
        let (_, highest) = comparison.ratio_ci95?;
        (comparison.verdict == Verdict::Different).then_some(highest)
    });
    let ratios: Vec<f64> = costs.collect::<Option<_>>()?;
    // The title says every card.
    if ratios.len() < view.names.len() {
        return None;
    }
    let worst = ratios.into_iter().reduce(f64::max)?;
    let percent = ((1.0 - worst) * 10.0 - 1e-9).floor() as u32 * 10;
    (percent >= 10).then_some(percent.min(90))
}

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
    text::layer_in_text(&crate::escape::plain(layer))
}
