//! The matrices of the first screen: cards and workloads, one for each layer.

use super::answer::{main_work, runs_of_places};
use super::view::{View, Work};
use super::words::{finer_spread, spread};
use crate::document::DocumentBlock;
use crate::escape::plain;
use crate::matrix::{Matrix, MatrixCell, MatrixColumn, MatrixRow, shade};
use crate::number::MeanText;
use crate::text;
use hakaru_model::finding::Verdict;

/// The cards in the order of the workload of the answer; those without a figure are last.
fn order(view: &View<'_>) -> Vec<usize> {
    let layer = view.main_layer();
    let ranking = main_work(view).and_then(|work| view.ranking(layer, work));
    let ranked = ranking.into_iter().flat_map(|ranking| &ranking.places);
    let ranked = ranked.map(|place| place.card as usize);
    crate::naming::distinct(ranked.chain(0..view.names.len()))
}

/// One matrix for each layer, or one with all layers of a single card; empty without figures.
pub(super) fn matrices(view: &View<'_>) -> Vec<DocumentBlock> {
    if let (1, 2..) = (view.names.len(), view.layers.len()) {
        let key = text::matrix_key(false, None);
        return vec![DocumentBlock::Matrices(vec![matrix_of_layers(view)], key)];
    }
    // The charts of rounds have the results of the measurement window.
    if view.names.len() == 1 && !view.of.rounds.is_empty() {
        return Vec::new();
    }
    let order = order(view);
    let layers = view.layers.iter();
    let tables: Vec<Matrix> = layers.map(|layer| matrix(view, layer, &order)).collect();
    let tables: Vec<Matrix> = tables.into_iter().filter(|m| !m.rows.is_empty()).collect();
    if tables.is_empty() {
        return Vec::new();
    }
    let letters = tables.iter().any(Matrix::has_letters);
    let by = main_work(view).filter(|_| view.names.len() > 1);
    let by = by.map(|work| view.with_layer(&work.noun, &plain(view.main_layer())));
    let key = text::matrix_key(letters, by.as_deref());
    vec![DocumentBlock::Matrices(tables, key)]
}

/// Most columns that a phone shows. Of more, the one that orders the rows is the first.
const MOST_SEEN: usize = 4;

fn matrix(view: &View<'_>, layer: &str, order: &[usize]) -> Matrix {
    let measured = |work: &&Work| {
        view.ends_rounds(work) && view.cells(layer, work).iter().any(Option::is_some)
    };
    let mut works: Vec<&Work> = view.works.iter().filter(measured).collect();
    if works.len() > MOST_SEEN {
        let is_main = |work: &&Work| main_work(view).is_some_and(|main| std::ptr::eq(main, *work));
        works.sort_by_key(|work| !is_main(work));
    }
    let columns = works.iter().map(|work| MatrixColumn {
        name: work.title(),
        unit: work.unit().to_owned(),
    });
    let cards = order
        .iter()
        .filter(|card| view.through(**card, layer).is_some());
    let rows = cards.map(|&card| MatrixRow {
        name: view.name(card).to_owned(),
        cells: works
            .iter()
            .map(|work| cell(view, layer, work, card))
            .collect(),
    });
    Matrix {
        caption: text::layer(&plain(layer)),
        about: text::matrix_about(runs_of_places(view)),
        corner: text::card_column().to_owned(),
        columns: columns.collect(),
        rows: rows.collect(),
        of_cards: true,
        framed: text::not_slower(),
    }
}

/// The layers of the only card, one row each.
fn matrix_of_layers(view: &View<'_>) -> Matrix {
    let columns = view.works.iter().map(|work| MatrixColumn {
        name: work.title(),
        unit: work.unit().to_owned(),
    });
    let cell = |layer: &str, work: &Work| {
        let phase = view.cell(0, layer, work)?;
        let all = view
            .layers
            .iter()
            .filter_map(|layer| view.cell(0, layer, work));
        let best = all.map(|phase| work.rate(phase).mean).fold(0.0, f64::max);
        let shade = shade(work.rate(phase).mean, best);
        Some(MatrixCell::of(&spread(work, phase), shade))
    };
    let rows = view.layers.iter().map(|layer| MatrixRow {
        name: text::layer(&plain(layer)),
        cells: view.works.iter().map(|work| cell(layer, work)).collect(),
    });
    Matrix {
        caption: view.name(0).to_owned(),
        about: text::matrix_about(runs_of_places(view)),
        corner: text::layer_column().to_owned(),
        columns: columns.collect(),
        rows: rows.collect(),
        of_cards: false,
        framed: text::not_slower(),
    }
}

fn cell(view: &View<'_>, layer: &str, work: &Work, card: usize) -> Option<MatrixCell> {
    let phase = view.cell(card, layer, work)?;
    let mean = |phase| work.rate(phase).mean;
    let all = view.cells(layer, work);
    let best = all
        .iter()
        .flatten()
        .map(|phase| mean(phase))
        .fold(0.0, f64::max);
    let printed = told_apart(view, layer, work, card)?;
    let mut cell = MatrixCell::of(&printed, shade(mean(phase), best));
    let Some(ranking) = view.ranking(layer, work) else {
        return Some(cell);
    };
    // Without any proof, all cards would have the same letter and a frame.
    let different = |verdict: Verdict| verdict == Verdict::Different;
    if ranking
        .pairs
        .iter()
        .any(|pair| different(pair.comparison.verdict))
    {
        let mut places = ranking.places.iter();
        let place = places.find(|place| place.card as usize == card);
        cell.letters = place.map_or(String::new(), |place| place.letters.clone());
        cell.best = view.leaders(ranking).contains(&card);
    }
    Some(cell)
}

/// Mean and deviation of a card, with as many digits as tell it from the others; `None` if it was not measured.
pub(super) fn told_apart(
    view: &View<'_>,
    layer: &str,
    work: &Work,
    card: usize,
) -> Option<MeanText> {
    let phase = view.cell(card, layer, work)?;
    let more_places = usize::from(is_printed_like_another(view, layer, work, card));
    Some(finer_spread(work, phase, more_places))
}

/// Whether a figure has the digits of a card that is proven to differ, and one more digit tells them apart.
fn is_printed_like_another(view: &View<'_>, layer: &str, work: &Work, card: usize) -> bool {
    let Some(ranking) = view.ranking(layer, work) else {
        return false;
    };
    let printed = |card: u32, more| {
        let phase = view.cell(card as usize, layer, work)?;
        Some(finer_spread(work, phase, more).mean)
    };
    let mut proven = ranking
        .pairs
        .iter()
        .filter(|pair| pair.comparison.verdict == Verdict::Different);
    proven.any(|pair| {
        let is_of_card = [pair.a, pair.b].contains(&(card as u32));
        let is_same = |more| printed(pair.a, more) == printed(pair.b, more);
        is_of_card && is_same(0) && !is_same(1)
    })
}
