//! A campaign as CSV (RFC 4180): one line for each figure of each point, for each single run, and for each comparison.
//!
//! Columns and units are a promise: new ones are added at the end. `run` is empty for figures of all runs together, and
//! `against`, `p_adjusted` and `verdict` for what is no comparison or verdict.

use super::view::View;
use crate::compare::verdict_word;
use crate::csv::{Row, cells, figures, snake};
use crate::text::csv as quoted;
use crate::{findings, number};
use hakaru_model::finding::{Comparison, Limit};

const HEAD: &str = "campaign,host,card,layer,phase,op,figure,unit,run,n,value,mean,stdev,min,max,median,ci95_low,\
                    ci95_high,against,p_adjusted,verdict";

pub(super) fn csv(view: &View<'_>) -> String {
    let mut out = format!("{HEAD}\r\n");
    for card in 0..view.names.len() {
        points(view, card, &mut out);
        costs(view, card, &mut out);
        verdicts(view, card, &mut out);
    }
    pairs(view, &mut out);
    for (layer, limit) in &view.of.limits {
        let who = match limit.limit {
            Limit::Host => "host",
            Limit::Card => "card",
            Limit::Unclear => "unclear",
        };
        let layer = quoted(layer);
        out.push_str(&format!("{},,,{layer},,{},limit,,,", quoted(&view.of.id), limit.op.name()));
        out.push_str(&format!("{},,,{who}\r\n", cells(Row::default())));
    }
    out
}

/// Campaign, host and card.
fn lead(view: &View<'_>, card: usize) -> String {
    let host = view.of.cards.get(card).map_or("", |card| card.host.as_str());
    format!("{},{},{}", quoted(&view.of.id), quoted(host), quoted(view.name(card)))
}

/// Every figure of every layer and phase, and the rates of each run.
fn points(view: &View<'_>, card: usize, out: &mut String) {
    let Some(of) = view.of.cards.get(card) else { return };
    for layer in &of.layers {
        let lead = format!("{},{}", lead(view, card), quoted(&layer.layer));
        for phase in &layer.summary.phases {
            let lead = format!("{lead},{},{}", quoted(&phase.phase), phase.op.name());
            for (figure, unit, row) in figures(phase) {
                out.push_str(&format!("{lead},{figure},{unit},,{},,,\r\n", cells(row)));
            }
            for (figure, unit, scale, values) in
                [("bandwidth", "MB/s", 1e6, &phase.bandwidth.values), ("iops", "1/s", 1.0, &phase.iops.values)]
            {
                for (run, value) in values.iter().enumerate() {
                    let row = Row { value: number::exact(value / scale, 6), ..Row::default() };
                    out.push_str(&format!("{lead},{figure},{unit},{},{},,,\r\n", run + 1, cells(row)));
                }
            }
        }
    }
}

fn costs(view: &View<'_>, card: usize, out: &mut String) {
    let against = quoted(&view.of.reference_layer);
    for cost in view.of.cards.get(card).iter().flat_map(|card| &card.costs) {
        let lead = format!("{},{},{}", lead(view, card), quoted(&cost.layer), quoted(&cost.phase));
        let lead = format!("{lead},{},ratio_to_layer,1,", cost.op.name());
        out.push_str(&format!("{lead},{}\r\n", comparison(&cost.comparison, &against)));
    }
}

/// Claims and advice, with the verdict in the last column.
fn verdicts(view: &View<'_>, card: usize, out: &mut String) {
    let Some(of) = view.of.cards.get(card) else { return };
    let none = || cells(Row::default());
    for check in &of.claims {
        let (name, verdict) = (snake(&check.claim.to_string()), snake(findings::claim_verdict(check.verdict).1));
        let lead = lead(view, card);
        out.push_str(&format!("{lead},,,,{},,,{},,,{verdict}\r\n", quoted(&format!("claim_{name}")), none()));
    }
    for layer in &of.layers {
        for advice in &layer.advice {
            let lead = format!("{},{},,", lead(view, card), quoted(&layer.layer));
            let (name, verdict) = (format!("advice_{}", advice.id), snake(findings::fitness(advice.fitness).1));
            out.push_str(&format!("{lead},{},,,{},,,{verdict}\r\n", quoted(&name), none()));
        }
    }
}

/// Every pair of cards of every ranking.
fn pairs(view: &View<'_>, out: &mut String) {
    for ranking in &view.of.rankings {
        let of = format!("{},{},{}", quoted(&ranking.layer), quoted(&ranking.phase), ranking.op.name());
        for pair in &ranking.pairs {
            let against = quoted(view.name(pair.a as usize));
            let lead = format!("{},{of},ratio_to_card,1,", lead(view, pair.b as usize));
            out.push_str(&format!("{lead},{}\r\n", comparison(&pair.comparison, &against)));
        }
    }
}

/// The columns of a comparison, from `n` on.
fn comparison(of: &Comparison, against: &str) -> String {
    let exact = |value: f64| number::exact(value, 6);
    let runs = of.a.values.len().min(of.b.values.len()) as u64;
    let row = Row {
        n: (runs > 0).then_some(runs),
        value: exact(of.ratio),
        ci95: of.ratio_ci95.map_or_else(Default::default, |(low, high)| (exact(low), exact(high))),
        ..Row::default()
    };
    let p = of.p_adjusted.map_or_else(String::new, |p| number::exact(p, 9));
    format!("{},{against},{p},{}", cells(row), verdict_word(of))
}
