//! The terminal report of a campaign: ranking of the cards, cost of each layer, and results of the claims. The pages
//! add charts, percentiles and the environment.

use super::view::{self, View, Work};
use super::words::{self, paces};
use super::{answer, hosts, matrices, ranks, rated, tables};
use crate::compare;
use crate::document::{Document, DocumentBlock, TableStyle, part};
use crate::findings::{self, ConclusionKind};
use crate::naming::distinct;
use crate::number::{self, MeanText};
use crate::table::{DataTable, row};
use crate::text;
use crate::{merged, path};
use hakaru_model::campaign::Ranking;
use hakaru_model::finding::{ClaimCheck, ClaimPart, Comparison, Verdict};

/// Maximum number of caveats listed individually.
const CAVEATS: usize = 12;

pub(super) fn document(view: &View<'_>) -> Document {
    let short = words::in_short(view);
    let answer = answer::answer(view).map(DocumentBlock::Answer);
    let mut blocks: Vec<DocumentBlock> = answer.into_iter().collect();
    blocks.extend(part(
        text::PartLabel::InShort.text(),
        vec![DocumentBlock::Facts(short)],
    ));
    for layer in &view.layers {
        blocks.extend(part(text::layer(layer), standings(view, layer)));
    }
    blocks.push(DocumentBlock::Quiet(legend(view)));
    blocks.extend(costs(view));
    blocks.extend(hosts::in_brief(view));
    blocks.extend(path::cards::in_brief(&view.traced_cards()));
    blocks.extend(claims(view));
    let kind = ConclusionKind::Limits;
    let paces = view.layers.iter().flat_map(|layer| paces(view, layer));
    let paces = DocumentBlock::Conclusions(text::conclusion_about(kind), paces.collect());
    blocks.extend(part(text::conclusion_title(kind), vec![paces]));
    blocks.extend(uses(view));
    blocks.extend(ranks::money(view));
    blocks.push(DocumentBlock::Caveats(caveats(view)));
    let of = view.of;
    let runs = match (of.planned, super::published_runs(view)) {
        (_, Some(published)) if of.runs == 0 => published,
        (Some(planned), _) if planned != of.runs => text::runs_of_most(of.runs, planned),
        _ => text::runs(of.runs),
    };
    let stored = (!of.id.is_empty()).then(|| text::stored_as(&of.id));
    let parts: Vec<String> = std::iter::once(runs)
        .chain(super::counted_cards(view))
        .chain(stored)
        .collect();
    Document {
        title: super::title_of(of),
        under: words::under(of, parts.join(" · ")),
        blocks,
    }
}

fn legend(view: &View<'_>) -> String {
    let mut rankings = view.of.rankings.iter();
    text::campaign_legend(rankings.any(|ranking| ranking.places.len() > 1))
}

/// Ranks the cards through one layer, with one column for each workload.
fn standings(view: &View<'_>, layer: &str) -> Vec<DocumentBlock> {
    let ranked: Vec<(&Work, &Ranking)> = view
        .works
        .iter()
        .filter_map(|work| Some((work, view.ranking(layer, work)?)))
        .collect();
    let name =
        |(work, ranking): &(&Work, &Ranking)| text::with_unit(&work.name(), unit_of(ranking));
    let rows = view.cards_through(layer).into_iter().map(|card| {
        let cells = ranked.iter().map(|(work, ranking)| {
            let printed = matrices::told_apart(view, layer, work, card);
            standing(ranking, card, printed)
        });
        row(view.name(card), cells)
    });
    table(ranked.iter().map(name), rows)
}

/// Display unit of a ranking.
fn unit_of(ranking: &Ranking) -> &'static str {
    match ranking.unit.as_str() {
        "B/s" => "MB/s",
        _ => "IOPS",
    }
}

/// Mean and deviation of a card; with the letters of its place if several cards are ranked.
fn standing(ranking: &Ranking, card: usize, printed: Option<MeanText>) -> String {
    let mut places = ranking.places.iter();
    let place = places.find(|place| place.card as usize == card);
    let Some((place, spread)) = place.zip(printed) else {
        return tables::NONE.to_owned();
    };
    match ranking.places.len() {
        0 | 1 => spread.to_string(),
        _ => format!("{spread} ({})", place.letters),
    }
}

/// A table of cards; empty if it has no columns.
fn table(
    columns: impl Iterator<Item = String>,
    rows: impl Iterator<Item = Vec<String>>,
) -> Vec<DocumentBlock> {
    let table = DataTable::new(row("", columns), rows);
    match table.head.len() {
        1 => Vec::new(),
        _ => vec![DocumentBlock::Table(TableStyle::Numbers, table)],
    }
}

/// Performance of each layer relative to the reference layer.
fn costs(view: &View<'_>) -> Vec<DocumentBlock> {
    let than = &view.of.reference_layer;
    let mut blocks = Vec::new();
    for layer in view.held_layers() {
        let title = text::layer_leaves(layer, than);
        blocks.extend(part(title, shares_left(view, layer)));
    }
    if !blocks.is_empty() {
        blocks.push(DocumentBlock::Quiet(text::paragraph(&[
            text::layer_leaves_note(),
            text::intervals(),
        ])));
    }
    blocks
}

/// Performance of one layer: one row for each card, one column for each figure.
fn shares_left(view: &View<'_>, layer: &str) -> Vec<DocumentBlock> {
    let of_card = |card: usize| {
        let costs = view.of.cards[card].costs.iter();
        let costs = costs.filter(|cost| cost.layer == layer);
        costs.map(|cost| &cost.comparison).collect::<Vec<_>>()
    };
    let cards: Vec<(usize, Vec<&Comparison>)> = (0..view.names.len())
        .map(|card| (card, of_card(card)))
        .filter(|(_, costs)| !costs.is_empty())
        .collect();
    let costs = cards.iter().flat_map(|(_, costs)| costs);
    let quantities = distinct(costs.map(|cost| &*cost.quantity));
    let rows = cards.iter().map(|(card, costs)| {
        let cell = |quantity: &&str| {
            let cost = costs.iter().find(|cost| *cost.quantity == **quantity);
            cost.map_or_else(|| tables::NONE.to_owned(), |cost| share_left(cost))
        };
        row(view.name(*card), quantities.iter().map(cell))
    });
    table(quantities.iter().map(|q| text::compared_quantity(q)), rows)
}

/// Formats a ratio: `0.85× [0.84, 0.86]`, with a symbol if the difference is not significant.
fn share_left(cost: &Comparison) -> String {
    let sign = match cost.verdict {
        Verdict::Different => "",
        Verdict::Equivalent => " =",
        Verdict::Undecided { .. } => " ?",
    };
    format!("{}{sign}", compare::ratio(cost))
}

/// Results of the claims, card by card.
fn claims(view: &View<'_>) -> Vec<DocumentBlock> {
    let judged = view.of.cards.iter().zip(&view.names);
    let judged = judged.filter(|(card, _)| !card.claims.is_empty());
    let items = judged.map(|(card, name)| {
        let claims: Vec<String> = card.claims.iter().map(claim).collect();
        (name.clone(), text::enumerated(&claims))
    });
    let items: Vec<(String, String)> = items.collect();
    if items.is_empty() {
        return Vec::new();
    }
    let blocks = vec![
        DocumentBlock::Facts(items),
        DocumentBlock::Quiet(text::claim_legend(rated::has_unmeasured(view))),
    ];
    part(text::conclusion_title(ConclusionKind::Claims), blocks)
}

/// Formats the result of a claim: `✓ A1 (1667 IOPS)`, with the measured value if the claim has only one figure.
fn claim(check: &ClaimCheck) -> String {
    let sign = findings::claim_sign(check.verdict);
    let figure = match &check.parts[..] {
        [
            ClaimPart {
                figure,
                measured: Some(measured),
                ..
            },
        ] => {
            let value = number::significant(measured.value);
            format!(" ({value} {})", figure.unit())
        }
        _ => String::new(),
    };
    format!("{sign} {}{figure}", text::claim(check.claim))
}

/// Suitability of each card for each use and layer, as symbols.
pub(super) fn uses(view: &View<'_>) -> Vec<DocumentBlock> {
    let everything = view.everything_by_card();
    let uses = view::uses(everything.iter().flat_map(|(.., layer)| &layer.advice));
    let judged = everything
        .iter()
        .filter(|(.., layer)| !layer.advice.is_empty());
    let rows = judged.map(|(name, card, layer)| {
        let cell = |(id, _): &(&str, String)| {
            let advice = layer.advice.iter().find(|advice| advice.id == *id);
            let sign = advice.map_or("?", |advice| findings::sign(advice.verdict()));
            match ranks::rank_of(view, &layer.layer, *card, id) {
                Some(rank) => format!("{sign} {rank}"),
                None => sign.to_owned(),
            }
        };
        row(name, uses.iter().map(cell))
    });
    let mut blocks = table(uses.iter().map(|(_, title)| title.clone()), rows);
    if !blocks.is_empty() {
        let layers = everything.iter().flat_map(|(.., layer)| &layer.advice);
        let impossible = layers
            .into_iter()
            .any(|advice| advice.impossible_on.is_some());
        let mut legend = text::fitness_legend(impossible);
        if view.names.len() > 1 {
            legend = text::two_sentences(&legend, &text::use_ranks_legend());
        }
        blocks.push(DocumentBlock::Quiet(legend));
    }
    part(text::conclusion_title(ConclusionKind::Uses), blocks)
}

/// Limits of the design, runs that do not count, and other caveats.
pub(super) fn caveats(view: &View<'_>) -> Vec<(String, String)> {
    let of = view.of;
    let mut items = words::design_caveats(view);
    if let Some(first) = of.failed.first() {
        let failed = of.failed.len() as u64;
        items.push(text::failed_not_counted(
            failed,
            &first.point,
            &first.because,
        ));
    }
    if of.other_definition > 0 {
        items.push(text::others_not_counted(of.other_definition));
    }
    let unlabeled = |text: String| (String::new(), text);
    let mut all: Vec<(String, String)> = items.into_iter().map(unlabeled).collect();
    let found = merged::findings(&view.summaries());
    let more = found.len().saturating_sub(CAVEATS);
    all.extend(found.into_iter().take(CAVEATS));
    if more > 0 {
        all.push(unlabeled(text::caveats_in_report(more as u64)));
    }
    all
}
