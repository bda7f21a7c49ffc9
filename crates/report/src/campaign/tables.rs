//! The tables of a campaign as in published articles: one row for each card.

use super::view::{self, View, Work};
use super::words::percent;
use crate::compare::{ratio, verdict};
use crate::matrix::{Mark, MarkRow, MarkTable, Matrix, MatrixCell, MatrixColumn, MatrixRow, shade};
use crate::naming::distinct;
use crate::number::{self, MeanText};
use crate::table::{self, DataTable};
use crate::text::{self, CountedThing, Head};
use crate::{escape, findings};
use hakaru_model::advice::AdviceVerdict;
use hakaru_model::campaign::{CardSummary, Ranking};
use hakaru_model::finding::{
    Claim, ClaimCheck, ClaimVerdict, Comparison, LayerCost, PhaseSummary, Verdict,
};
use hakaru_model::job::Op;

/// Placeholder for a value that was not measured.
pub(super) const NONE: &str = "–";

/// Mean and deviation of one workload for each card and layer, and the performance relative to the reference layer.
pub(super) fn results(view: &View<'_>, work: &Work) -> DataTable {
    let held: Vec<&str> = view.held_layers();
    let reference = &view.of.reference_layer;
    let mut head = vec![text::card_column().to_owned()];
    for layer in &view.layers {
        let lead = match view.layers.len() {
            1 => String::new(),
            _ => format!("{} ", text::layer_in_brief(layer)),
        };
        head.extend([format!("{lead}MB/s"), format!("{lead}IOPS")]);
    }
    let costs = held.iter();
    head.extend(costs.map(|layer| {
        let (layer, reference) = (text::layer_in_brief(layer), text::layer_in_brief(reference));
        format!("{layer} : {reference} [95%]")
    }));
    head.push(Head::Runs.into());
    let row = |card: usize| {
        let layers = view.layers.iter();
        let cells: Vec<_> = layers.map(|layer| view.cell(card, layer, work)).collect();
        cells.iter().flatten().next()?;
        let costs = held.iter().map(|layer| {
            let cost = view.cost(card, layer, work);
            cost.map_or(NONE.to_owned(), |cost| ratio_and_verdict(&cost.comparison))
        });
        let cells_and_costs = cells.iter().flat_map(rates).chain(costs);
        Some(table::row(
            view.name(card),
            cells_and_costs.chain([runs(&cells)]),
        ))
    };
    DataTable::new(head, (0..view.names.len()).filter_map(row))
}

/// Bandwidth and IOPS of a phase.
fn rates(cell: &Option<&PhaseSummary>) -> [String; 2] {
    match cell {
        Some(phase) => [
            MeanText::megabytes(&phase.bandwidth).to_string(),
            MeanText::of(&phase.iops, 1.0).to_string(),
        ],
        None => [NONE; 2].map(str::to_owned),
    }
}

/// Formats a ratio with its verdict on a second line.
fn ratio_and_verdict(comparison: &Comparison) -> String {
    format!("{}\n{}", ratio(comparison), verdict(comparison))
}

/// Formats the numbers of runs: `10`, or `10, 9` if layers differ.
fn runs(cells: &[Option<&PhaseSummary>]) -> String {
    let mut all: Vec<String> = cells
        .iter()
        .flatten()
        .map(|phase| runs_of(phase).to_string())
        .collect();
    all.dedup();
    text::enumerated(&all)
}

/// Number of runs of a phase, from single values or as published.
pub(super) fn runs_of(phase: &PhaseSummary) -> u64 {
    let values = phase.bandwidth.values.len() as u64;
    if values > 0 {
        values
    } else {
        phase.detail.stated_runs.map_or(0, u64::from)
    }
}

/// One workload: cards from best to worst, each compared with the reference, and the cards without a significant
/// difference. `None` if nothing can be compared.
pub(super) fn differences(view: &View<'_>, work: &Work) -> Option<DataTable> {
    let layers = view.layers.iter();
    let rankings: Vec<(&String, &Ranking)> = layers
        .filter_map(|layer| Some((layer, view.ranking(layer, work)?)))
        .collect();
    let of_reference = |(layer, _): &&(&String, &Ranking)| **layer == view.of.reference_layer;
    let (_, leading) = rankings.iter().find(of_reference).or(rankings.first())?;
    if rankings.iter().all(|(_, ranking)| ranking.pairs.is_empty()) {
        return None;
    }
    let reference = view.name(view.reference());
    let columns = rankings.iter().flat_map(|(layer, _)| {
        let lead = match rankings.len() {
            1 => String::new(),
            _ => format!("{}: ", text::layer_in_brief(layer)),
        };
        text::difference_heads(reference).map(|name| text::capital(&format!("{lead}{name}")))
    });
    let ranked = leading.places.iter().map(|place| place.card as usize);
    let row = |card: usize| {
        let cells = rankings
            .iter()
            .map(|(_, ranking)| place(view, ranking, card));
        let cells: Vec<[String; 3]> = cells.collect();
        let measured = cells.iter().any(|cells| cells[0] != NONE);
        measured.then(|| table::row(view.name(card), cells.into_iter().flatten()))
    };
    let order = distinct(ranked.chain(0..view.names.len()));
    let rows = order.into_iter().filter_map(row);
    Some(DataTable::new(
        table::row(text::card_column(), columns),
        rows,
    ))
}

/// Maximum number of names in a list; more are only counted.
const NAMES: usize = 6;
/// Total length above which pairs are only counted.
const NAMES_LENGTH: usize = 240;

/// Rank, ratio, and cards without a significant difference.
fn place(view: &View<'_>, ranking: &Ranking, card: usize) -> [String; 3] {
    let Some(place) = ranking
        .places
        .iter()
        .find(|place| place.card as usize == card)
    else {
        return [NONE; 3].map(str::to_owned);
    };
    let ratio = match view.against(ranking, card) {
        Some(comparison) => ratio_and_verdict(&comparison),
        None if card == view.reference() => "1".to_owned(),
        None => NONE.to_owned(),
    };
    let like = view.like(ranking, card);
    let like = match like.len() {
        0..=NAMES => {
            let names = like.into_iter().map(|other| view.name(other));
            text::enumerated(&names.collect::<Vec<_>>())
        }
        n => text::things_counted(CountedThing::Cards, n as u64),
    };
    [format!("{} {}", place.rank, place.letters), ratio, like]
}

/// Bytes the device wrote per byte of the application. `None` without device counters.
pub(super) fn amplification(view: &View<'_>) -> Option<DataTable> {
    let columns: Vec<(&Work, &String)> = view
        .works
        .iter()
        .filter(|work| work.op == Op::Write)
        .flat_map(|w| view.layers.iter().map(move |l| (w, l)))
        .collect();
    let cell = |card: usize, (work, layer): &(&Work, &String)| {
        let estimate = view.cell(card, layer, work)?.amplification.as_ref()?;
        Some(MeanText::of(estimate, 1.0).to_string())
    };
    let row = |card: usize| {
        let cells = columns.iter().map(|column| cell(card, column));
        table::row(view.name(card), cells.map(Option::unwrap_or_default))
    };
    let columns = columns.iter();
    let names = columns.map(|(work, layer)| {
        let name = text::capital(&view.with_layer(&work.noun, layer));
        text::with_unit(&name, "B/B")
    });
    let rows = (0..view.names.len()).map(row);
    let table =
        DataTable::new(table::row(text::card_column(), names), rows).without_empty_columns();
    (table.head.len() > 1).then_some(table)
}

/// Rated speeds next to measured speeds. `None` without rated speeds.
pub(super) fn printed(view: &View<'_>) -> Option<DataTable> {
    let mut rows = Vec::new();
    for (card, name) in view.of.cards.iter().zip(&view.names) {
        for check in card.claims.iter().filter(|check| is_speed(check.claim)) {
            rows.extend(check.parts.iter().map(|part| {
                let share = |value: f64| format!("{}%", percent(value / part.required));
                let measured = part.measured.as_ref();
                vec![
                    name.clone(),
                    text::claim(check.claim),
                    measured.map_or(NONE.to_owned(), |m| measured_words(m.value, m.ci95)),
                    measured.map_or(NONE.to_owned(), |m| share(m.value)),
                    claim_verdict(check.verdict),
                ]
            }));
        }
    }
    let head = [
        Head::Printed,
        Head::MeasuredRate,
        Head::Share,
        Head::Verdict,
    ];
    let head = table::row(text::card_column(), head.map(String::from));
    DataTable::new(head, rows).nonempty()
}

/// Whether a claim is a rated speed, and not a class.
fn is_speed(claim: Claim) -> bool {
    matches!(claim, Claim::ReadSpeed(_) | Claim::WriteSpeed(_))
}

fn measured_words(value: f64, ci95: Option<(f64, f64)>) -> String {
    let interval = ci95.map(|(low, high)| {
        format!(
            " [{}, {}]",
            number::significant(low),
            number::significant(high)
        )
    });
    format!(
        "{}{}",
        number::significant(value),
        interval.unwrap_or_default()
    )
}

/// Claimed classes and their verdicts. `None` if no card claims a class.
pub(super) fn classes(view: &View<'_>) -> Option<MarkTable> {
    let claims = view.of.cards.iter().flat_map(|card| &card.claims);
    let claims = claims.map(|check| check.claim);
    let mut claims = distinct(claims.filter(|claim| !is_speed(*claim)));
    claims.sort_by_key(|claim| match claim {
        Claim::SpeedClass(n) => (0, *n),
        Claim::UhsGrade(n) => (1, *n),
        Claim::VideoClass(n) => (2, *n),
        Claim::AppClass(n) => (3, *n),
        Claim::ReadSpeed(_) | Claim::WriteSpeed(_) => (4, 0),
    });
    let cell = |checks: &[ClaimCheck], claim: &Claim| {
        let found = checks.iter().find(|check| check.claim == *claim)?;
        Some(Mark {
            sign: findings::claim_sign(found.verdict),
            word: text::claim_verdict(found.verdict).to_owned(),
            figure: multiple(found).map_or_else(String::new, |times| {
                format!("{}×", number::significant_digits(times, 2))
            }),
        })
    };
    let rows = view.of.cards.iter().zip(&view.names).map(|(card, name)| {
        let cells = claims.iter().map(|claim| cell(&card.claims, claim));
        MarkRow {
            name: name.clone(),
            detail: product(card),
            cells: cells.collect(),
        }
    });
    (!claims.is_empty()).then(|| MarkTable {
        caption: text::claimed_classes().to_owned(),
        corner: text::card_column().to_owned(),
        columns: claims.iter().copied().map(text::claim).collect(),
        rows: rows.collect(),
    })
}

/// Facts whose values need no name, in the order in which they identify a product.
const IDENTIFYING: [&str; 4] = ["maker", "manufacturer", "model", "capacity"];

/// The facts of a card that identify the product; empty if none is known.
fn product(card: &CardSummary) -> String {
    let facts = card.facts.iter().filter(|(name, _)| *name != "price");
    let place = |name: &str| IDENTIFYING.iter().position(|known| *known == name);
    let mut facts: Vec<(Option<usize>, &(String, String))> =
        facts.map(|fact| (place(&fact.0), fact)).collect();
    facts.sort_by_key(|(place, _)| place.unwrap_or(IDENTIFYING.len()));
    let facts = facts.into_iter().map(|(place, (name, value))| match place {
        Some(_) => escape::plain(value),
        None => format!("{} {}", text::card_fact(name), escape::plain(value)),
    });
    text::enumerated(&facts.collect::<Vec<_>>())
}

/// The smallest multiple of what a claim requires among its measured figures.
fn multiple(check: &ClaimCheck) -> Option<f64> {
    let times = check.parts.iter().filter_map(|part| {
        let measured = part.measured.as_ref()?.value;
        let times = match part.figure.more_is_better() {
            true => measured / part.required,
            false => part.required / measured,
        };
        Some(times).filter(|times| times.is_finite())
    });
    times.reduce(f64::min)
}

/// Formats a verdict with its symbol: `✓ met`.
fn claim_verdict(verdict: ClaimVerdict) -> String {
    format!(
        "{} {}",
        findings::claim_sign(verdict),
        text::claim_verdict(verdict)
    )
}

/// Suitability of each card through a layer. `None` if no card has a verdict.
pub(super) fn uses(view: &View<'_>, layer: &str) -> Option<MarkTable> {
    let cards = view.cards_through(layer);
    let advice = |card: usize| view.through(card, layer).map_or(&[][..], |of| &of.advice);
    let uses = view::uses(cards.iter().flat_map(|&card| advice(card)));
    let cell = |card: usize, id: &str| {
        let found = advice(card).iter().find(|advice| advice.id == id)?;
        let verdict = found.verdict();
        Some(Mark {
            sign: findings::sign(verdict),
            word: match verdict {
                AdviceVerdict::Inconclusive if !found.not_measured.is_empty() => {
                    text::incomplete().to_owned()
                }
                verdict => text::advice(verdict).to_owned(),
            },
            figure: String::new(),
        })
    };
    let rows = cards.iter().map(|&card| MarkRow {
        name: view.name(card).to_owned(),
        detail: String::new(),
        cells: uses.iter().map(|(id, _)| cell(card, id)).collect(),
    });
    (!uses.is_empty()).then(|| MarkTable {
        caption: text::layer(&escape::plain(layer)),
        corner: text::card_column().to_owned(),
        columns: uses.iter().map(|(_, title)| escape::plain(title)).collect(),
        rows: rows.collect(),
    })
}

/// Formats a share as percent; one near zero keeps two digits.
fn percent_of(ratio: f64) -> String {
    match ratio.abs() {
        0.0..0.001 => number::significant_digits(ratio * 100.0, 2),
        _ => percent(ratio),
    }
}

/// A cost with its interval; with one run each, there is neither interval nor verdict.
fn cost_cell(cost: &LayerCost) -> MatrixCell {
    let of = &cost.comparison;
    let interval = of.ratio_ci95.map(|(low, high)| {
        let (low, high) = (percent_of(low), percent_of(high));
        format!("[{low}, {high}]")
    });
    let sign = match of.verdict {
        Verdict::Equivalent => " =",
        Verdict::Undecided { .. } if interval.is_some() => " ?",
        Verdict::Different | Verdict::Undecided { .. } => "",
    };
    MatrixCell {
        figure: format!("{}%{sign}", percent_of(of.ratio)),
        note: interval,
        letters: String::new(),
        shade: shade(of.ratio, 1.0),
        best: false,
    }
}

/// The columns of the workloads that were compared with the reference layer.
fn cost_columns(works: &[&Work]) -> Vec<MatrixColumn> {
    let column = |work: &&Work| MatrixColumn {
        name: work.title(),
        unit: "%".to_owned(),
    };
    works.iter().map(column).collect()
}

/// Speed through a layer as a share of the reference layer: one row for each card. `None` if nothing was compared.
pub(super) fn layer_cost(view: &View<'_>, layer: &str) -> Option<Matrix> {
    let compared =
        |work: &&Work| (0..view.names.len()).any(|card| view.cost(card, layer, work).is_some());
    let works: Vec<&Work> = view.works.iter().filter(compared).collect();
    let cell = |card: usize, work: &Work| Some(cost_cell(view.cost(card, layer, work)?));
    let cards = (0..view.names.len())
        .filter(|&card| works.iter().any(|w| view.cost(card, layer, w).is_some()));
    let rows = cards.map(|card| MatrixRow {
        name: view.name(card).to_owned(),
        cells: works.iter().map(|work| cell(card, work)).collect(),
    });
    let (layer, reference) = (
        text::layer(&escape::plain(layer)),
        text::layer_in_text(&escape::plain(&view.of.reference_layer)),
    );
    (!works.is_empty()).then(|| Matrix {
        caption: text::layer_cost_caption(&layer, &reference),
        about: String::new(),
        corner: text::card_column().to_owned(),
        columns: cost_columns(&works),
        rows: rows.collect(),
        of_cards: true,
        framed: text::not_slower(),
    })
}

/// How much a layer changes each workload, from the card that loses most to the one that loses least; `None` if nothing
/// was compared.
pub(super) fn layer_changes(view: &View<'_>, layer: &str) -> Option<String> {
    let change = |work: &Work| {
        let cards = 0..view.names.len();
        let ratios = cards.filter_map(|card| Some(view.cost(card, layer, work)?.comparison.ratio));
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
        let least = ratios.iter().copied().reduce(f64::min)?;
        let most = ratios.iter().copied().reduce(f64::max)?;
        let [least, most] = [least, most].map(|ratio| number::change(ratio - 1.0));
        Some(match least == most {
            true => format!("{} {least}", work.title()),
            false => format!("{} {}", work.title(), text::span(&least, &most)),
        })
    };
    let changes: Vec<String> = view.works.iter().filter_map(change).collect();
    let caption = text::layer_cost_caption(
        &text::layer(&escape::plain(layer)),
        &text::layer_in_text(&escape::plain(&view.of.reference_layer)),
    );
    (!changes.is_empty()).then(|| text::layer_changes(&caption, &changes))
}

/// Speed of a single card through each layer as a share of the reference layer: one row for each layer. `None` if
/// nothing was compared.
pub(super) fn layer_costs_of_card(view: &View<'_>) -> Option<Matrix> {
    let layers = view.held_layers();
    let compared = |work: &&Work| {
        layers
            .iter()
            .any(|layer| view.cost(0, layer, work).is_some())
    };
    let works: Vec<&Work> = view.works.iter().filter(compared).collect();
    let rows = layers.iter().map(|layer| MatrixRow {
        name: text::layer(&escape::plain(layer)),
        cells: works
            .iter()
            .map(|work| Some(cost_cell(view.cost(0, layer, work)?)))
            .collect(),
    });
    (!works.is_empty()).then(|| Matrix {
        caption: view.name(0).to_owned(),
        about: String::new(),
        corner: text::layer_column().to_owned(),
        columns: cost_columns(&works),
        rows: rows.collect(),
        of_cards: false,
        framed: text::not_slower(),
    })
}

/// How many pairs of cards differ in each workload and layer, and which do not. `None` if nothing was compared.
pub(super) fn pairs(view: &View<'_>) -> Option<DataTable> {
    let all = view
        .layers
        .iter()
        .flat_map(|layer| view.works.iter().map(move |work| (layer, work)));
    let row = |(layer, work): (&String, &Work)| {
        let ranking = view.ranking(layer, work)?;
        let of = ranking.pairs.len();
        let same = ranking.pairs.iter();
        let same = same.filter(|pair| pair.comparison.verdict != Verdict::Different);
        let same: Vec<String> = same
            .map(|pair| {
                format!(
                    "{}–{}",
                    view.name(pair.a as usize),
                    view.name(pair.b as usize)
                )
            })
            .collect();
        let listed = match same.len() {
            0 => text::all_pairs_proven().to_owned(),
            n if n == of && of > 1 => text::no_pair_proven().to_owned(),
            1..=NAMES if same.iter().map(String::len).sum::<usize>() <= NAMES_LENGTH => {
                text::enumerated(&same)
            }
            n => text::pairs_counted(n),
        };
        let name = text::capital(&view.with_layer(&work.noun, &escape::plain(layer)));
        let proven = text::proven_of(of - same.len(), of);
        (of > 0).then(|| vec![name, proven, listed])
    };
    DataTable::new(text::pairs_head(), all.filter_map(row)).nonempty()
}
