//! The summary of a campaign.

use super::{claim_verdict, counted, span};
use crate::text::{LayerEffect, Ranked, capital};
use hakaru_model::finding::ClaimVerdict;
use hakaru_model::job::Op;

pub(in crate::text) fn method() -> &'static str {
    "MB/s are 10⁶ bytes per second. Means and standard deviations are taken over runs, those of speed over time over its \
     intervals; the deviation divides by n − 1. Latency runs from submission to completion, in an open loop from the \
     intended start of each I/O; percentiles cover all I/Os of all runs that can be merged, and are left out where there \
     were too few I/Os. Amplification: bytes between host and device per byte of the application, from the kernel's \
     counters; not that of the flash."
}

pub(in crate::text) fn only_card(card: &str, value: &str) -> String {
    format!("{card}: {value}")
}

pub(in crate::text) fn host_bound(cards: usize, low: &str, high: &str, unit: &str) -> String {
    let (range, things) = (span(low, high), super::answers::things());
    format!(
        "all {cards} {things} reach {range} {unit}: the host bus is the bottleneck, so this does not rank the {things}"
    )
}

pub(in crate::text) fn no_difference(low: &str, high: &str, unit: &str) -> String {
    format!(
        "{} {unit}; no significant difference between {}",
        span(low, high),
        super::answers::things()
    )
}

pub(in crate::text) fn fastest(
    first: &Ranked<'_>,
    last: &Ranked<'_>,
    times: Option<&str>,
    sure: &str,
) -> String {
    let (card, value, slowest) = (
        first.card,
        &first.value,
        format!("{}, {}", last.card, last.value),
    );
    match times {
        Some(times) => {
            format!("fastest: {card}, {value}, {times}× the slowest ({slowest}); {sure}")
        }
        None => format!("fastest: {card}, {value}; slowest: {slowest}; {sure}"),
    }
}

pub(in crate::text) fn pairs(of: usize, different: usize, same: Option<&[(&str, &str)]>) -> String {
    match (of, of - different, same) {
        (1, 0, _) => "they differ significantly".to_owned(),
        (1, _, _) => "no significant difference between them".to_owned(),
        (_, 0, _) => format!("all {of} pairs differ significantly"),
        (_, _, None) => format!("{different} of {of} pairs differ significantly"),
        (_, _, Some(same)) => {
            let names: Vec<String> = same.iter().map(|(a, b)| format!("{a} and {b}")).collect();
            format!(
                "{different} of {of} pairs differ significantly; no significant difference: {}",
                names.join("; ")
            )
        }
    }
}

pub(in crate::text) fn layer_cost(
    layer: &str,
    reference: &str,
    parts: &[(String, &str, LayerEffect)],
) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|(share, workload, effect)| {
            format!("{share} for {workload} ({})", layer_effect(effect))
        })
        .collect();
    format!("{layer} reaches, of {reference}: {}", parts.join("; "))
}

fn layer_effect(effect: &LayerEffect) -> String {
    let LayerEffect {
        lower,
        higher,
        same,
        undecided,
    } = effect;
    let all = [
        (*lower, "lower"),
        (*higher, "higher"),
        (*same, "same within 5%"),
        (*undecided, "inconclusive"),
    ];
    let cards: usize = all.iter().map(|(n, _)| n).sum();
    let said: Vec<(usize, &str)> = all.into_iter().filter(|(n, _)| *n > 0).collect();
    match said[..] {
        [(_, word)] if cards == 1 => word.to_owned(),
        [(n, word)] => format!("{word} on all {n} {}", super::answers::things()),
        _ => said
            .iter()
            .map(|(n, word)| format!("{word} on {n}"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

pub(in crate::text) fn claims_in_short(
    of: usize,
    counts: &[(ClaimVerdict, usize)],
    shares: &[(Op, String)],
) -> String {
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(verdict, n)| format!("{n} {}", claim_verdict(*verdict)))
        .collect();
    let mut parts = vec![format!(
        "{}: {}",
        counted(of as u64, "claim"),
        counts.join(", ")
    )];
    let shares = shares.iter().enumerate().map(|(at, (op, share))| {
        let reads = match op {
            Op::Read => "sequential reads",
            Op::Write => "sequential writes",
            Op::Trim => "trims",
        };
        match at {
            0 => format!("{reads} reach {share} of the rated speed"),
            _ => format!("{reads} {share}"),
        }
    });
    let shares: Vec<String> = shares.collect();
    parts.extend((!shares.is_empty()).then(|| capital(&shares.join("; "))));
    format!("{}.", parts.join(". "))
}
