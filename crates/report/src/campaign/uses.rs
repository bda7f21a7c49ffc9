//! Suitability of the cards for uses.

use super::view::View;
use super::{ranks, tables};
use crate::document::{DocumentBlock, folded, part};
use crate::findings::{self, ConclusionKind};
use crate::text;
use hakaru_model::advice::Advice;

/// Suitability of each card, layer by layer; the layers after the first are collapsed.
pub(super) fn advice(view: &View<'_>) -> Vec<DocumentBlock> {
    let main = view.main_layer();
    let others = view
        .layers
        .iter()
        .map(String::as_str)
        .filter(|layer| *layer != main);
    let layers = std::iter::once(main).chain(others);
    let of_layer = |layer: &str| Some((ranks::best(view, layer), tables::uses(view, layer)?));
    let mut layers = layers.filter_map(of_layer);
    let Some((best, first)) = layers.next() else {
        return Vec::new();
    };
    let mut blocks = match best.is_empty() {
        true => Vec::new(),
        false => vec![
            DocumentBlock::Title(text::best_title()),
            DocumentBlock::Facts(best),
        ],
    };
    if first.signs().all(|sign| sign == findings::OPEN) {
        let layers = view.of.cards.iter().flat_map(|card| &card.layers);
        let crossed = layers
            .flat_map(|layer| &layer.advice)
            .any(Advice::is_crossed);
        let text = text::no_use_judged(crossed).to_owned();
        blocks = vec![DocumentBlock::Text(text)];
    } else {
        blocks.push(DocumentBlock::Marks(first));
        blocks.push(DocumentBlock::Quiet(text::fitness_legend().to_owned()));
    }
    let others = layers
        .filter(|(_, table)| table.signs().any(|sign| sign != findings::OPEN))
        .flat_map(|(best, table)| [DocumentBlock::Facts(best), DocumentBlock::Marks(table)]);
    let others: Vec<DocumentBlock> = others.collect();
    // The rating of a raw device is that of no program that keeps its data in files.
    let is_raw_first = main == "raw" && !others.is_empty();
    if is_raw_first {
        blocks.push(DocumentBlock::Quiet(text::uses_need_files().to_owned()));
    }
    if !others.is_empty() {
        blocks.push(folded(text::other_layers(), others));
    }
    part(text::conclusion_title(ConclusionKind::Uses), blocks)
}
