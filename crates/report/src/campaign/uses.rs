//! Suitability of the cards for uses.

use super::view::View;
use super::{ranks, tables};
use crate::document::{DocumentBlock, folded, part};
use crate::findings::{self, ConclusionKind};
use crate::text;
use hakaru_model::advice::Advice;
use hakaru_model::rank::UseRanking;

/// The layer of the rating that counts: the main one, or the first file system if the main one is the raw device, because
/// no program that keeps its data in files has the speed of a raw device.
fn first_layer<'v>(view: &'v View<'_>) -> &'v str {
    let main = view.main_layer();
    let is_judged = |layer: &str| {
        let table = tables::uses(view, layer);
        table.is_some_and(|table| table.signs().any(findings::is_judged))
    };
    let mut others = view.layers.iter().map(String::as_str);
    let of_files = others.find(|layer| *layer != main && is_judged(layer));
    of_files.filter(|_| main == RAW).unwrap_or(main)
}

/// The best card for each use under its title; empty without sentences.
fn best_cards(best: Vec<(String, String)>) -> Vec<DocumentBlock> {
    match best.is_empty() {
        true => Vec::new(),
        false => vec![
            DocumentBlock::Title(text::best_title()),
            DocumentBlock::Facts(best),
        ],
    }
}

/// Whether the file system of a layer cannot serve a use.
fn is_impossible(view: &View<'_>, layer: &str, id: &str) -> bool {
    let layers = view.of.cards.iter().flat_map(|card| &card.layers);
    let advice = layers
        .filter(|of| of.layer == layer)
        .flat_map(|of| &of.advice);
    advice
        .filter(|advice| advice.id == id)
        .any(|advice| advice.impossible_on.is_some())
}

/// Name of the raw device as a layer.
const RAW: &str = "raw";

/// Suitability of each card, layer by layer; the layers after the first are collapsed.
pub(super) fn advice(view: &View<'_>) -> Vec<DocumentBlock> {
    let first = first_layer(view);
    let others = view
        .layers
        .iter()
        .map(String::as_str)
        .filter(|layer| *layer != first);
    let layers = std::iter::once(first).chain(others);
    let above_raw = (first != RAW && view.main_layer() == RAW).then_some(first);
    // Uses that the first layer cannot serve are rated by the raw device, on which another file system can be made.
    let is_moved = |of: &UseRanking| {
        let is_impossible = above_raw.is_some_and(|layer| is_impossible(view, layer, &of.id));
        is_impossible && ranks::has_suitable(of)
    };
    let of_layer = |layer: &str| {
        let best = ranks::best_where(view, layer, |of| layer != RAW || !is_moved(of));
        Some((best, tables::uses(view, layer)?))
    };
    let mut layers = layers.filter_map(of_layer);
    let Some((all_best, first)) = layers.next() else {
        return Vec::new();
    };
    // With a second rating below, only uses that have a suitable card are listed above it.
    let (best, without_card) = match above_raw {
        Some(layer) => (
            [
                ranks::best_where(view, layer, ranks::has_suitable),
                ranks::best_where(view, RAW, is_moved),
            ]
            .concat(),
            ranks::best_where(view, layer, |of| !ranks::has_suitable(of)),
        ),
        None => (all_best, Vec::new()),
    };
    let mut blocks = best_cards(best);
    let impossible = first.signs().any(|sign| sign == findings::IMPOSSIBLE);
    if !first.signs().any(findings::is_judged) {
        let layers = view.of.cards.iter().flat_map(|card| &card.layers);
        let crossed = layers
            .flat_map(|layer| &layer.advice)
            .any(Advice::is_crossed);
        let text = text::no_use_judged(crossed).to_owned();
        blocks = vec![DocumentBlock::Text(text)];
    } else {
        // A rating above that of the raw device explains it below.
        let unexplained = impossible && above_raw.is_none();
        blocks.push(DocumentBlock::Marks(first));
        blocks.push(DocumentBlock::Quiet(text::fitness_legend(unexplained)));
    }
    let others = layers
        .filter(|(_, table)| table.signs().any(findings::is_judged))
        .flat_map(|(best, table)| [DocumentBlock::Facts(best), DocumentBlock::Marks(table)]);
    let mut others: Vec<DocumentBlock> = others.collect();
    if !without_card.is_empty() {
        others.insert(0, DocumentBlock::Facts(without_card));
    }
    if let Some(layer) = above_raw {
        let layer = text::layer_in_text(layer);
        blocks.push(DocumentBlock::Quiet(text::rated_through(
            &layer, impossible,
        )));
    }
    if !others.is_empty() {
        blocks.push(folded(text::other_layers(), others));
    }
    part(text::conclusion_title(ConclusionKind::Uses), blocks)
}
