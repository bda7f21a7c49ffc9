//! Cards that lead in one workload and are far behind in another.

use super::answer::on_layer;
use super::view::{View, Work};
use crate::number;
use crate::text;

/// Largest share of the best rate at which a leading card counts as far behind.
const FAR_BEHIND: f64 = 0.6;

/// A sentence for each card that is proven to be the fastest in a workload, and far behind in others, on the main layer.
///
/// A card far behind is not among the leaders of the workload, so another one is proven to be faster.
pub(super) fn sentences(view: &View<'_>) -> Vec<String> {
    let layer = view.main_layer();
    let mut all = Vec::new();
    for card in 0..view.names.len() {
        let won: Vec<&str> = view
            .works
            .iter()
            .filter(|work| leaders(view, layer, work) == [card])
            .map(|work| work.noun.as_str())
            .collect();
        let behind: Vec<(&str, String)> = view
            .works
            .iter()
            .filter_map(|work| Some((work.noun.as_str(), far_behind(view, layer, work, card)?)))
            .collect();
        if !won.is_empty() && !behind.is_empty() {
            let sentence = text::fast_and_slow(&view.names[card], &won, &behind);
            all.push(on_layer(view, sentence));
        }
    }
    all
}

/// The cards that no card is proven to be faster than; empty without a comparison.
fn leaders(view: &View<'_>, layer: &str, work: &Work) -> Vec<usize> {
    let ranking = view.ranking(layer, work);
    let compared = ranking.filter(|ranking| ranking.places.len() > 1);
    compared.map_or_else(Vec::new, |ranking| view.leaders(ranking))
}

/// The share of the best rate in percent, if a card is proven to be slower and far behind.
fn far_behind(view: &View<'_>, layer: &str, work: &Work, card: usize) -> Option<String> {
    let rate = |phase| work.rate(phase).mean;
    let leaders = leaders(view, layer, work);
    let best = leaders
        .first()
        .and_then(|best| view.cell(*best, layer, work))
        .map(rate)?;
    let own = rate(view.cell(card, layer, work)?);
    let is_behind = !leaders.contains(&card) && own < FAR_BEHIND * best;
    is_behind.then(|| number::percent(own / best))
}
