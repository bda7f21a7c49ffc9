//! The section of one card: its facts, and for each layer its results, bottlenecks and environment.

use super::spread;
use super::view::View;
use crate::document::{DocumentBlock, Fold, Pair, TableStyle, folded};
use crate::findings::{ConclusionKind, ConclusionRow};
use crate::run::prepared;
use crate::table::DataTable;
use crate::text::{self, CardLabel, Head, LayerPart};
use crate::{compare, escape, facts, findings, results};
use hakaru_model::advice::RunFindings;
use hakaru_model::campaign::{CardSummary, LayerSummary};

/// The section of a card by index.
pub(super) fn section(view: &View<'_>, place: usize) -> Vec<DocumentBlock> {
    let Some(card) = view.of.cards.get(place) else {
        return Vec::new();
    };
    let mut blocks = vec![facts_of(card)];
    blocks.extend(card.layers.iter().flat_map(results));
    if !card.claims.is_empty() {
        let kind = ConclusionKind::Claims;
        let claims = findings::merged(findings::claims(&card.claims));
        blocks.extend([
            DocumentBlock::Title(text::conclusion_title(kind).to_owned()),
            DocumentBlock::Conclusions(text::conclusion_about(kind), claims),
        ]);
    }
    if !card.costs.is_empty() {
        let title = text::about_layer(LayerPart::Against, &view.of.reference_layer);
        blocks.extend([
            DocumentBlock::Title(title),
            DocumentBlock::Table(TableStyle::Compact, costs(card)),
        ]);
    }
    blocks.extend(uses(card));
    blocks.extend(card.layers.iter().flat_map(over_the_runs));
    blocks.extend(environment(&card.layers));
    vec![DocumentBlock::Fold(Fold {
        about: view.name(place).to_owned(),
        open: false,
        page: true,
        blocks,
    })]
}

/// The table of results through a layer, and sentences about long writes.
fn results(layer: &LayerSummary) -> [DocumentBlock; 3] {
    let summary = &layer.summary;
    let sustained = summary.phases.iter().filter_map(|phase| {
        let name = crate::naming::phase(summary, phase);
        Some((name, facts::sustained(phase)?))
    });
    [
        DocumentBlock::Title(text::about_layer(LayerPart::Results, &layer.layer)),
        DocumentBlock::Table(TableStyle::Compact, results::table_of_known(summary)),
        DocumentBlock::Facts(sustained.collect()),
    ]
}

fn facts_of(card: &CardSummary) -> DocumentBlock {
    let mut rows = vec![(CardLabel::AnswersTo.into(), card.key.clone())];
    if !card.host.is_empty() {
        rows.push((CardLabel::MeasuredOn.into(), card.host.clone()));
    }
    if !card.printed.is_empty() {
        let printed: Vec<String> = card.printed.iter().copied().map(text::claim).collect();
        rows.push((CardLabel::PrintedOnIt.into(), text::enumerated(&printed)));
    }
    rows.extend(
        card.facts
            .iter()
            .map(|(name, value)| (text::capital(&text::card_fact(name)), value.clone())),
    );
    DocumentBlock::Pairs(rows.into_iter().map(Pair::from).collect())
}

/// Performance of each workload relative to the reference layer, with interval, verdict and I/O amplification.
fn costs(card: &CardSummary) -> DataTable {
    let number = |value: Option<f64>| value.map_or_else(String::new, crate::number::significant);
    let rows = card.costs.iter().map(|cost| {
        vec![
            text::enumerated(&[
                text::layer_in_text(&escape::plain(&cost.layer)),
                crate::workload::compared_figure(&cost.comparison.quantity),
            ]),
            compare::ratio(&cost.comparison),
            compare::verdict(&cost.comparison),
            number(cost.amplification_raw),
            number(cost.amplification_layer),
        ]
    });
    let head = [
        Head::LayerAndFigure,
        Head::RatioInterval,
        Head::Verdict,
        Head::AmplificationBefore,
        Head::AmplificationThrough,
    ];
    DataTable::new(head.map(Head::text), rows).without_empty_columns()
}

/// Suitability through each layer; further layers list only what differs from the first one.
fn uses(card: &CardSummary) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    let mut first: Option<(&str, Vec<ConclusionRow>)> = None;
    for layer in &card.layers {
        let mut found = findings::uses(&RunFindings {
            advice: layer.advice.clone(),
            ..RunFindings::default()
        });
        if found.is_empty() {
            continue;
        }
        blocks.push(DocumentBlock::Title(text::about_layer(
            LayerPart::Uses,
            &layer.layer,
        )));
        let Some((name, known)) = &first else {
            first = Some((&layer.layer, found.clone()));
            blocks.push(DocumentBlock::Uses(found));
            continue;
        };
        let all = found.len();
        found.retain(|row| !known.contains(row));
        let same = all - found.len();
        if !found.is_empty() {
            blocks.push(DocumentBlock::Uses(found));
        }
        if same > 0 {
            let layer = text::layer_in_text(&escape::plain(name));
            blocks.push(DocumentBlock::Quiet(text::uses_as_through(same, &layer)));
        }
    }
    blocks
}

/// How the runs differ, with an explanation.
fn over_the_runs(layer: &LayerSummary) -> Option<DocumentBlock> {
    let table = spread::table(&layer.summary)?;
    let blocks = vec![
        DocumentBlock::Quiet(text::paragraph(&[text::spread_note(), text::intervals()])),
        DocumentBlock::Table(TableStyle::Numbers, table),
    ];
    Some(folded(
        text::about_layer(LayerPart::Spread, &layer.layer),
        blocks,
    ))
}

/// The environment of the measurements through all layers: what they have in common, then what differs.
fn environment(layers: &[LayerSummary]) -> Option<DocumentBlock> {
    let all: Vec<Vec<Pair>> = layers.iter().map(circumstances).collect();
    let (first, others) = all.split_first()?;
    let is_common = |pair: &Pair| others.iter().all(|other| other.contains(pair));
    let mut pairs: Vec<Pair> = first
        .iter()
        .filter(|pair| is_common(pair))
        .cloned()
        .collect();
    let common = pairs.clone();
    for (layer, of) in layers.iter().zip(&all) {
        let own = of.iter().filter(|pair| !common.contains(pair));
        pairs.extend(own.map(|pair| Pair {
            name: text::of_layer(&pair.name, &escape::plain(&layer.layer)),
            ..pair.clone()
        }));
    }
    Some(folded(
        text::environment(),
        vec![DocumentBlock::Pairs(pairs)],
    ))
}

fn circumstances(layer: &LayerSummary) -> Vec<Pair> {
    let lines = facts::circumstances(&layer.summary).into_iter();
    let done = |step| Pair::from((CardLabel::DoneBefore.into(), prepared(step)));
    lines
        .map(Pair::from)
        .chain(layer.prepared.iter().map(done))
        .collect()
}
