//! The tables of a campaign as in published articles: one row for each card.

use super::view::{View, Work};
use super::words::percent;
use crate::compare::{ratio, verdict};
use crate::number::{self, MeanText};
use crate::table::DataTable;
use crate::{escape, findings, text};
use hakaru_model::campaign::Ranking;
use hakaru_model::finding::{Claim, ClaimCheck, ClaimVerdict, Comparison, PhaseSummary};
use hakaru_model::job::Op;

/// Placeholder for a value that was not measured.
pub(super) const NONE: &str = "–";

/// Mean and deviation of one workload for each card and layer, and the performance relative to the reference layer.
pub(super) fn results(view: &View<'_>, work: &Work) -> DataTable {
    let held: Vec<&str> = view.held_layers();
    let reference = &view.of.reference_layer;
    let mut head = vec!["Card".to_owned()];
    for layer in &view.layers {
        let lead = if view.layers.len() > 1 {
            format!("{layer} ")
        } else {
            String::new()
        };
        head.extend([format!("{lead}MB/s"), format!("{lead}IOPS")]);
    }
    head.extend(
        held.iter()
            .map(|layer| format!("{layer} : {reference} [95%]")),
    );
    head.push("Runs".to_owned());
    let row = |card: usize| {
        let cells: Vec<Option<&PhaseSummary>> = view
            .layers
            .iter()
            .map(|layer| view.cell(card, layer, work))
            .collect();
        if cells.iter().all(Option::is_none) {
            return None;
        }
        let mut row = vec![view.name(card).to_owned()];
        for cell in &cells {
            let text = |spread: fn(&PhaseSummary) -> MeanText| {
                cell.map_or(NONE.to_owned(), |p| spread(p).to_string())
            };
            row.extend([
                text(|p| MeanText::megabytes(&p.bandwidth)),
                text(|p| MeanText::of(&p.iops, 1.0)),
            ]);
        }
        let cost = |layer: &&str| {
            view.cost(card, layer, work)
                .map(|cost| ratio_and_verdict(&cost.comparison))
        };
        row.extend(
            held.iter()
                .map(|layer| cost(layer).unwrap_or(NONE.to_owned())),
        );
        row.push(runs(&cells));
        Some(row)
    };
    DataTable {
        head,
        rows: (0..view.names.len()).filter_map(row).collect(),
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
    all.join(", ")
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
    let rankings: Vec<(&String, &Ranking)> = view
        .layers
        .iter()
        .filter_map(|layer| Some((layer, view.ranking(layer, work)?)))
        .collect();
    let (_, leading) = rankings
        .iter()
        .find(|(layer, _)| **layer == view.of.reference_layer)
        .or(rankings.first())?;
    if rankings.iter().all(|(_, ranking)| ranking.pairs.is_empty()) {
        return None;
    }
    let reference = view.name(view.reference());
    let mut head = vec!["Card".to_owned()];
    for (layer, _) in &rankings {
        let lead = if rankings.len() > 1 {
            format!("{layer}: ")
        } else {
            String::new()
        };
        head.extend([
            capital(format!("{lead}place")),
            capital(format!("{lead}ratio to {reference} [95%]")),
            capital(format!("{lead}no difference shown from")),
        ]);
    }
    let mut order: Vec<usize> = leading
        .places
        .iter()
        .map(|place| place.card as usize)
        .collect();
    let rest = (0..view.names.len()).filter(|card| !order.contains(card));
    order.extend(rest.collect::<Vec<_>>());
    let row = |&card: &usize| {
        let cells: Vec<[String; 3]> = rankings
            .iter()
            .map(|(_, ranking)| place(view, ranking, card))
            .collect();
        let measured = cells.iter().any(|cells| cells[0] != NONE);
        measured.then(|| {
            std::iter::once(view.name(card).to_owned())
                .chain(cells.into_iter().flatten())
                .collect()
        })
    };
    Some(DataTable {
        head,
        rows: order.iter().filter_map(row).collect(),
    })
}

fn capital(text: String) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(chars).collect()
    })
}

/// Maximum number of names in a list; more are only counted.
const NAMES: usize = 6;

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
        0..=NAMES => like
            .into_iter()
            .map(|other| view.name(other))
            .collect::<Vec<_>>()
            .join(", "),
        n => format!("{n} cards"),
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
        let cells = columns
            .iter()
            .map(|column| cell(card, column).unwrap_or_default());
        std::iter::once(view.name(card).to_owned())
            .chain(cells)
            .collect()
    };
    let name = |(work, layer): &(&Work, &String)| match view.layers.len() {
        0 | 1 => work.label.clone(),
        _ => format!("{}, {layer}", work.label),
    };
    let head = std::iter::once("Card".to_owned())
        .chain(columns.iter().map(name))
        .collect();
    let table = DataTable {
        head,
        rows: (0..view.names.len()).map(row).collect(),
    }
    .without_empty_columns();
    (table.head.len() > 1).then_some(table)
}

/// Rated speeds next to measured speeds. `None` without rated speeds.
pub(super) fn printed(view: &View<'_>) -> Option<DataTable> {
    let mut rows = Vec::new();
    for (card, name) in view.of.cards.iter().zip(&view.names) {
        let speeds = card
            .claims
            .iter()
            .filter(|c| matches!(c.claim, Claim::ReadSpeed(_) | Claim::WriteSpeed(_)));
        for check in speeds {
            rows.extend(check.parts.iter().map(|part| {
                let measured = part.measured.as_ref();
                vec![
                    name.clone(),
                    text::claim(check.claim),
                    measured.map_or(NONE.to_owned(), |m| measured_words(m.value, m.ci95)),
                    measured.map_or(NONE.to_owned(), |m| {
                        format!("{}%", percent(m.value / part.required))
                    }),
                    claim_verdict(check.verdict),
                ]
            }));
        }
    }
    let head = [
        "Card",
        "Printed",
        "Measured, MB/s [95%]",
        "Share",
        "Verdict",
    ]
    .map(str::to_owned)
    .to_vec();
    (!rows.is_empty()).then_some(DataTable { head, rows })
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
pub(super) fn classes(view: &View<'_>) -> Option<DataTable> {
    let is_class =
        |check: &&ClaimCheck| !matches!(check.claim, Claim::ReadSpeed(_) | Claim::WriteSpeed(_));
    let mut claims: Vec<Claim> = Vec::new();
    for check in view
        .of
        .cards
        .iter()
        .flat_map(|card| &card.claims)
        .filter(is_class)
    {
        if !claims.contains(&check.claim) {
            claims.push(check.claim);
        }
    }
    claims.sort_by_key(|claim| match claim {
        Claim::SpeedClass(n) => (0, *n),
        Claim::UhsGrade(n) => (1, *n),
        Claim::VideoClass(n) => (2, *n),
        Claim::AppClass(n) => (3, *n),
        Claim::ReadSpeed(_) | Claim::WriteSpeed(_) => (4, 0),
    });
    let cell = |checks: &[ClaimCheck], claim: &Claim| {
        let found = checks
            .iter()
            .find(|check| check.claim == *claim)
            .map(|c| claim_verdict(c.verdict));
        found.unwrap_or_else(|| NONE.to_owned())
    };
    let rows = view.of.cards.iter().zip(&view.names).map(|(card, name)| {
        std::iter::once(name.clone())
            .chain(claims.iter().map(|claim| cell(&card.claims, claim)))
            .collect()
    });
    let head = std::iter::once("Card".to_owned())
        .chain(claims.iter().copied().map(text::claim))
        .collect();
    (!claims.is_empty()).then(|| DataTable {
        head,
        rows: rows.collect(),
    })
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
pub(super) fn uses(view: &View<'_>, layer: &str) -> Option<DataTable> {
    let cards: Vec<usize> = (0..view.names.len())
        .filter(|&card| view.through(card, layer).is_some())
        .collect();
    let advice = |card: usize| view.through(card, layer).map_or(&[][..], |of| &of.advice);
    let mut uses: Vec<(&str, &str)> = Vec::new();
    for advice in cards.iter().flat_map(|&card| advice(card)) {
        if uses.iter().all(|(id, _)| *id != advice.id) {
            uses.push((&advice.id, &advice.title));
        }
    }
    if uses.is_empty() {
        return None;
    }
    let cell = |card: usize, id: &str| {
        let found = advice(card).iter().find(|advice| advice.id == id);
        found.map_or(NONE.to_owned(), |advice| {
            let verdict = advice.verdict();
            format!("{} {}", findings::sign(verdict), text::advice(verdict))
        })
    };
    let rows = uses.iter().map(|(id, title)| {
        std::iter::once(escape::plain(title))
            .chain(cards.iter().map(|&card| cell(card, id)))
            .collect()
    });
    let head = std::iter::once("Use".to_owned())
        .chain(cards.iter().map(|&card| view.name(card).to_owned()))
        .collect();
    Some(DataTable {
        head,
        rows: rows.collect(),
    })
}
