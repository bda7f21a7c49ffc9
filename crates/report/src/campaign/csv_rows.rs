//! A campaign as machine-readable rows: one for each figure of each point, for each single run, and for each
//! comparison. CSV and Parquet contain the same rows.

use super::spread;
use super::view::View;
use crate::csv::{CsvStats, figures};
use crate::{ids, number, path};
use hakaru_model::finding::Comparison;

/// A row. Texts are untrusted and not escaped; missing values are empty.
#[derive(Default)]
pub(super) struct CampaignCsvRow {
    pub(super) campaign: String,
    pub(super) host: String,
    pub(super) card: String,
    pub(super) layer: String,
    pub(super) phase: String,
    pub(super) op: &'static str,
    pub(super) figure: String,
    pub(super) unit: &'static str,
    /// Run number from 1; `None` for figures of all runs together.
    pub(super) run: Option<u64>,
    pub(super) row: CsvStats,
    pub(super) against: String,
    pub(super) p_adjusted: String,
    pub(super) verdict: String,
    /// Letters of a card in its ranking.
    pub(super) letters: String,
}

/// All rows, card by card.
pub(super) fn lines(view: &View<'_>) -> Vec<CampaignCsvRow> {
    let mut all = Vec::new();
    for card in 0..view.names.len() {
        points(view, card, &mut all);
        costs(view, card, &mut all);
        verdicts(view, card, &mut all);
    }
    pairs(view, &mut all);
    for (layer, limit) in &view.of.limits {
        let figure = |card: u32| {
            let (figure, verdict) = ("limit".to_owned(), ids::bottleneck(limit.limit).to_owned());
            CampaignCsvRow {
                op: limit.op.name(),
                figure,
                verdict,
                ..lead(view, card as usize, layer)
            }
        };
        all.extend(limit.members.iter().map(|&card| figure(card)));
    }
    all
}

/// A row with campaign, host, card and layer set.
fn lead(view: &View<'_>, card: usize, layer: &str) -> CampaignCsvRow {
    let host = view
        .of
        .cards
        .get(card)
        .map_or("", |card| card.host.as_str());
    CampaignCsvRow {
        campaign: view.of.id.clone(),
        host: host.to_owned(),
        card: view.name(card).to_owned(),
        layer: layer.to_owned(),
        ..CampaignCsvRow::default()
    }
}

/// Adds all figures of all layers and phases, and the rates of each run.
fn points(view: &View<'_>, card: usize, all: &mut Vec<CampaignCsvRow>) {
    for layer in view.of.cards.get(card).iter().flat_map(|card| &card.layers) {
        for phase in &layer.summary.phases {
            let line = |figure: String, unit, run, row| CampaignCsvRow {
                phase: phase.phase.clone(),
                op: phase.op.name(),
                figure,
                unit,
                run,
                row,
                ..lead(view, card, &layer.layer)
            };
            let of_all = figures(phase).into_iter().chain(spread::figures(phase));
            all.extend(of_all.map(|(figure, unit, row)| line(figure, unit, None, row)));
            for (figure, unit, scale, values) in [
                ("bandwidth", "MB/s", 1e6, &phase.bandwidth.values),
                ("iops", "1/s", 1.0, &phase.iops.values),
            ] {
                all.extend((1..).zip(values).map(|(run, value)| {
                    let row = CsvStats::single(number::exact(value / scale, 6));
                    line(figure.to_owned(), unit, Some(run), row)
                }));
            }
        }
        for (phase, line) in path::csv::all_lines(&layer.summary) {
            let against = match line.is_difference() {
                true => view.of.reference_layer.clone(),
                false => String::new(),
            };
            all.push(CampaignCsvRow {
                phase: phase.to_owned(),
                op: line.op,
                figure: line.figure,
                unit: line.unit,
                row: line.row,
                against,
                ..lead(view, card, &layer.layer)
            });
        }
    }
}

fn costs(view: &View<'_>, card: usize, all: &mut Vec<CampaignCsvRow>) {
    for cost in view.of.cards.get(card).iter().flat_map(|card| &card.costs) {
        let against = view.of.reference_layer.clone();
        let line = CampaignCsvRow {
            phase: cost.phase.clone(),
            op: cost.op.name(),
            ..lead(view, card, &cost.layer)
        };
        all.push(compared(line, "ratio_to_layer", &cost.comparison, against));
    }
}

/// Adds claims and advice, with the verdict in the last column.
fn verdicts(view: &View<'_>, card: usize, all: &mut Vec<CampaignCsvRow>) {
    let Some(of) = view.of.cards.get(card) else {
        return;
    };
    all.extend(of.claims.iter().map(|check| {
        let figure = format!("claim_{}", ids::claim(check.claim));
        let verdict = ids::claim_verdict(check.verdict).to_owned();
        CampaignCsvRow {
            figure,
            verdict,
            ..lead(view, card, "")
        }
    }));
    for layer in &of.layers {
        all.extend(layer.advice.iter().map(|advice| {
            let (figure, verdict) = (
                format!("advice_{}", advice.id),
                ids::advice(advice.verdict()).to_owned(),
            );
            CampaignCsvRow {
                figure,
                verdict,
                ..lead(view, card, &layer.layer)
            }
        }));
    }
}

/// Adds all pairs of cards of all rankings.
fn pairs(view: &View<'_>, all: &mut Vec<CampaignCsvRow>) {
    for ranking in &view.of.rankings {
        let line = |card: u32| CampaignCsvRow {
            phase: ranking.phase.clone(),
            op: ranking.op.name(),
            ..lead(view, card as usize, &ranking.layer)
        };
        let several = ranking.places.len() > 1;
        let places = ranking.places.iter().filter(|_| several);
        all.extend(places.map(|place| CampaignCsvRow {
            figure: "place".to_owned(),
            unit: "1",
            row: CsvStats::single(place.rank),
            letters: place.letters.clone(),
            ..line(place.card)
        }));
        all.extend(ranking.pairs.iter().map(|pair| {
            let against = view.name(pair.a as usize).to_owned();
            compared(line(pair.b), "ratio_to_card", &pair.comparison, against)
        }));
    }
}

/// A row with the result of a comparison.
fn compared(
    line: CampaignCsvRow,
    figure: &str,
    of: &Comparison,
    against: String,
) -> CampaignCsvRow {
    let exact = |value: f64| number::exact(value, 6);
    let runs = of.a.values.len().min(of.b.values.len()) as u64;
    let interval = of.ratio_ci95.map(|(low, high)| CsvStats {
        ci95: (exact(low), exact(high)),
        caveats: crate::csv::caveat_words(&of.interval_caveats),
        ..CsvStats::default()
    });
    CampaignCsvRow {
        figure: figure.to_owned(),
        unit: "1",
        row: CsvStats {
            n: (runs > 0).then_some(runs),
            value: exact(of.ratio),
            ..interval.unwrap_or_default()
        },
        against,
        p_adjusted: crate::csv::optional(of.p_adjusted),
        verdict: ids::comparison(of).to_owned(),
        ..line
    }
}
