//! The section in the report of a campaign: the layers of one card with charts, the other cards in sentences.

use super::PathSubject;
use super::section::{self, Depth};
use crate::chart::{Chart, Section};
use crate::document::{DocumentBlock, folded, part};

/// The traced layers of a card.
pub(crate) struct TracedCard<'a> {
    pub(crate) name: String,
    pub(crate) layers: Vec<PathSubject<'a>>,
}

/// The section of a campaign; the first card has the charts. Empty without traced runs.
pub(crate) fn blocks(cards: &[TracedCard<'_>]) -> Vec<DocumentBlock> {
    let Some((first, others)) = cards.split_first() else {
        return Vec::new();
    };
    let mut blocks = Vec::new();
    if !others.is_empty() {
        let about = format!(
            "One traced run of each layer. Charts: {}; the other cards are below, in sentences.",
            first.name
        );
        blocks.push(DocumentBlock::Quiet(about));
    }
    blocks.extend(section::of_phases(&first.layers, Depth::Whole));
    for card in others {
        let about = format!("Path of an I/O, {}", card.name);
        blocks.push(folded(
            about,
            section::of_phases(&card.layers, Depth::Words),
        ));
    }
    part(Section::Path.title(), blocks)
}

/// The charts of the section.
pub(crate) fn charts(cards: &[TracedCard<'_>]) -> Vec<Chart> {
    let first = cards.first();
    first
        .map(|card| section::charts(&card.layers))
        .unwrap_or_default()
}
