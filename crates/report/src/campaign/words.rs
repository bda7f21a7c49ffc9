//! What a hurried reader of a campaign wants to know, in sentences.

use super::view::{View, Work};
use crate::number::{self, MeanText};
use hakaru_model::campaign::{RankedCard, Ranking};
use hakaru_model::finding::{
    Bottleneck, BusLimit, Claim, ClaimVerdict, Figure, LayerCost, PhaseSummary, Verdict,
};
use hakaru_model::job::Op;

/// The whole campaign in a few sentences, each with what it is about.
pub(super) fn in_short(view: &View<'_>) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let first = main_layer(view);
    let several = view.layers.len() > 1;
    for work in &view.works {
        let through = crate::escape::plain(first);
        let lead = if several {
            format!("{}, {through}", work.label)
        } else {
            work.label.clone()
        };
        all.extend(order(view, first, work).map(|text| (lead, text)));
    }
    let reference = crate::escape::plain(&view.of.reference_layer);
    for layer in view.held_layers() {
        all.extend(cost(view, layer, &reference).map(|text| {
            (
                format!("{} against {reference}", crate::escape::plain(layer)),
                text,
            )
        }));
    }
    all.extend(promises(view).map(|text| ("Promised and measured".to_owned(), text)));
    all
}

/// The layer that the first sentences are about.
fn main_layer<'v>(view: &'v View<'_>) -> &'v str {
    let reference = view
        .layers
        .iter()
        .find(|layer| **layer == view.of.reference_layer);
    reference.or(view.layers.first()).map_or("", String::as_str)
}

/// Who is first, who is last, and how sure that is.
fn order(view: &View<'_>, layer: &str, work: &Work) -> Option<String> {
    let ranking = view.ranking(layer, work)?;
    let (first, last) = (ranking.places.first()?, ranking.places.last()?);
    let figure = |place: &RankedCard| {
        let cell = view.cell(place.card as usize, layer, work);
        cell.map_or_else(String::new, |phase| {
            format!("{} {}", spread(work, phase), work.unit())
        })
    };
    let name = |place: &RankedCard| view.name(place.card as usize);
    let value = |place: &RankedCard| {
        number::significant(if work.small {
            place.mean
        } else {
            place.mean / 1e6
        })
    };
    let between = || format!("{} and {} {}", value(last), value(first), work.unit());
    if ranking.places.len() < 2 {
        return Some(format!("{} reaches {}", name(first), figure(first)));
    }
    if held_by_host(view, layer, work).is_some() {
        let cards = ranking.places.len();
        let between = between();
        return Some(format!(
            "all {cards} cards lie between {between}: the bus of the host sets the pace, and this says nothing of the cards"
        ));
    }
    if !ranking.pairs.is_empty()
        && ranking
            .pairs
            .iter()
            .all(|p| p.comparison.verdict != Verdict::Different)
    {
        return Some(format!(
            "between {}; no card could be told from another",
            between()
        ));
    }
    let times = if last.mean > 0.0 {
        format!(
            "{} times what {} reaches at the end",
            number::significant(first.mean / last.mean),
            name(last)
        )
    } else {
        format!("and {} is at the end", name(last))
    };
    Some(format!(
        "{} is first with {}, {times} ({}); {}",
        name(first),
        figure(first),
        figure(last),
        told(view, ranking)
    ))
}

/// `33.6 ± 0.2` in the unit of the work.
pub(super) fn spread(work: &Work, phase: &PhaseSummary) -> MeanText {
    if work.small {
        MeanText::of(&phase.iops, 1.0)
    } else {
        MeanText::megabytes(&phase.bandwidth)
    }
}

/// The finding that the host sets the pace of a workload, if it does: of the one that the finding was drawn from.
fn held_by_host<'v>(view: &'v View<'_>, layer: &str, work: &Work) -> Option<&'v BusLimit> {
    let means: Vec<f64> = view
        .cells(layer, work)
        .into_iter()
        .flatten()
        .map(|phase| phase.bandwidth.mean)
        .collect();
    let mean = means.iter().sum::<f64>() / means.len().max(1) as f64;
    let drawn_from =
        |limit: &BusLimit| limit.op == work.op && (limit.measured.0 - mean).abs() <= mean * 1e-9;
    let limits = view
        .of
        .limits
        .iter()
        .filter(|(of, _)| of == layer)
        .map(|(_, limit)| limit);
    let of_all = |limit: &&BusLimit| limit.members.len() == means.len() && drawn_from(limit);
    limits
        .into_iter()
        .find(|limit| limit.limit == Bottleneck::Host && limit.cards > 1 && of_all(limit))
}

/// More pairs than these are only counted.
const NAMED_PAIRS: usize = 4;

/// Which pairs of cards could be told apart.
fn told(view: &View<'_>, ranking: &Ranking) -> String {
    let of = ranking.pairs.len();
    let alike: Vec<String> = ranking
        .pairs
        .iter()
        .filter(|pair| pair.comparison.verdict != Verdict::Different)
        .map(|pair| {
            format!(
                "{} and {}",
                view.name(pair.a as usize),
                view.name(pair.b as usize)
            )
        })
        .collect();
    match (of, alike.len()) {
        (1, 0) => "the two differ".to_owned(),
        (1, _) => "the two could not be told apart".to_owned(),
        (_, 0) => format!("all {of} pairs of cards differ"),
        (_, n) if n <= NAMED_PAIRS => {
            format!(
                "{} of {of} pairs of cards differ, not told apart are {}",
                of - n,
                alike.join("; ")
            )
        }
        (_, n) => format!(
            "{} of {of} pairs of cards differ, {n} could not be told apart",
            of - n
        ),
    }
}

/// What is left through a layer, workload by workload.
fn cost(view: &View<'_>, layer: &str, reference: &str) -> Option<String> {
    let parts: Vec<String> = view
        .works
        .iter()
        .filter_map(|work| {
            let costs: Vec<&LayerCost> = (0..view.names.len())
                .filter_map(|card| view.cost(card, layer, work))
                .collect();
            let shares = range(costs.iter().map(|cost| cost.comparison.ratio))?;
            Some(format!("{shares} of {} ({})", work.label, verdicts(&costs)))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("of {reference}, it leaves {}", parts.join("; ")))
}

/// `lower on 6 cards`, `lower on 4 cards, higher on 2`.
fn verdicts(costs: &[&LayerCost]) -> String {
    let count = |wanted: fn(&LayerCost) -> bool| costs.iter().filter(|cost| wanted(cost)).count();
    let different = |cost: &LayerCost| cost.comparison.verdict == Verdict::Different;
    let lower = costs
        .iter()
        .filter(|cost| different(cost) && cost.comparison.ratio < 1.0)
        .count();
    let higher = costs
        .iter()
        .filter(|cost| different(cost) && cost.comparison.ratio > 1.0)
        .count();
    let same = count(|cost| cost.comparison.verdict == Verdict::Equivalent);
    let open = count(|cost| matches!(cost.comparison.verdict, Verdict::Undecided { .. }));
    let all = [
        ("lower", lower),
        ("higher", higher),
        ("same within 5%", same),
        ("undecided", open),
    ];
    let said: Vec<(&str, usize)> = all.into_iter().filter(|(_, n)| *n > 0).collect();
    match &said[..] {
        [(word, _)] if costs.len() == 1 => (*word).to_owned(),
        [(word, n)] => format!("{word} on all {n} cards"),
        many => many
            .iter()
            .map(|(word, n)| format!("{word} on {n}"))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// `70 to 86 %`.
fn range(shares: impl Iterator<Item = f64>) -> Option<String> {
    let shares: Vec<f64> = shares.filter(|share| share.is_finite()).collect();
    let low = shares.iter().copied().reduce(f64::min)?;
    let high = shares.iter().copied().reduce(f64::max)?;
    let (low, high) = (percent(low), percent(high));
    Some(if low == high {
        format!("{low} %")
    } else {
        format!("{low} to {high} %")
    })
}

/// Hundredths as readers want them.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    number::exact(value, if value.abs() < 9.95 { 1 } else { 0 })
}

/// What became of what is printed on the cards.
fn promises(view: &View<'_>) -> Option<String> {
    let checks = || view.of.cards.iter().flat_map(|card| &card.claims);
    let of = checks().count();
    if of == 0 {
        return None;
    }
    let count = |verdict: ClaimVerdict| checks().filter(|check| check.verdict == verdict).count();
    let verdicts = [
        ("kept", count(ClaimVerdict::Kept)),
        ("missed", count(ClaimVerdict::Missed)),
        (
            "not shown under these conditions",
            count(ClaimVerdict::NotShown),
        ),
        ("unclear", count(ClaimVerdict::Unclear)),
        ("not measured", count(ClaimVerdict::NotMeasured)),
    ];
    let said: Vec<String> = verdicts
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(word, n)| format!("{n} {word}"))
        .collect();
    let promises = if of == 1 {
        "one promise".to_owned()
    } else {
        format!("{of} promises")
    };
    let mut parts = vec![format!("{promises}: {}", said.join(", "))];
    for (op, figure) in [
        (Op::Read, Figure::SequentialRead),
        (Op::Write, Figure::SequentialWrite),
    ] {
        let shares = checks()
            .filter(|check| printed(check.claim, op))
            .flat_map(|check| &check.parts);
        let shares = shares.filter(|part| part.figure == figure && part.required > 0.0);
        let shares = shares.filter_map(|part| Some(part.measured.as_ref()?.value / part.required));
        parts.extend(
            range(shares).map(|share| format!("{} reach {share} of the printed speed", plural(op))),
        );
    }
    Some(parts.join("; "))
}

fn printed(claim: Claim, op: Op) -> bool {
    matches!(
        (claim, op),
        (Claim::ReadSpeed(_), Op::Read) | (Claim::WriteSpeed(_), Op::Write)
    )
}

fn plural(op: Op) -> &'static str {
    match op {
        Op::Read => "sequential reads",
        Op::Write => "sequential writes",
        Op::Trim => "trims",
    }
}
