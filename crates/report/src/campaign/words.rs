//! The summary of a campaign in sentences.

use super::view::{View, Work};
use crate::escape::plain;
use crate::findings::{self, ConclusionKind, ConclusionRow};
use crate::number::{self, MeanText};
use crate::text;
use hakaru_model::campaign::{CampaignSummary, RankedCard};
use hakaru_model::finding::{
    Bottleneck, BusLimit, Claim, ClaimVerdict, Figure, LayerCost, PhaseSummary, Verdict,
};
use hakaru_model::job::Op;

/// Lines below the title: the subject of the campaign, if it is described, and `figures`.
pub(super) fn under(of: &CampaignSummary, figures: String) -> Vec<(String, String)> {
    let about = std::iter::once(of.about.clone()).filter(|about| !about.is_empty());
    let lines = about.chain([figures]);
    lines.map(|line| (String::new(), line)).collect()
}

/// Limits of the design, and notes of the campaign.
pub(super) fn design_caveats(view: &View<'_>) -> Vec<String> {
    let weaknesses = view.of.weaknesses.iter().map(text::weakness);
    weaknesses.chain(view.of.notes.iter().cloned()).collect()
}

/// Bottlenecks through one layer; the layer is named if there are several.
pub(super) fn paces(view: &View<'_>, layer: &str) -> Vec<ConclusionRow> {
    let of_layer = view.of.limits.iter().filter(|(of, _)| of == layer);
    let of_layer: Vec<BusLimit> = of_layer.map(|(_, limit)| limit.clone()).collect();
    let lead = match view.layers.len() {
        0 | 1 => String::new(),
        _ => format!("{}, ", plain(layer)),
    };
    let mut found = findings::limits_of(&of_layer, &view.names);
    for row in &mut found {
        row.about = format!("{lead}{}", row.about);
    }
    found
}

/// Summarizes the campaign in a few sentences, each with its subject.
pub(super) fn in_short(view: &View<'_>) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let first = view.main_layer();
    for work in &view.works {
        let lead = text::capital(&view.with_layer(&work.noun, first));
        all.extend(order(view, first, work).map(|text| (lead, text)));
    }
    let reference = plain(&view.of.reference_layer);
    for layer in view.held_layers() {
        all.extend(
            cost(view, layer, &reference)
                .map(|said| (text::against(&plain(layer), &reference), said)),
        );
    }
    all.extend(promises(view).map(|said| {
        (
            text::conclusion_title(ConclusionKind::Claims).to_owned(),
            said,
        )
    }));
    all
}

/// The fastest and the slowest card, and the significance of the order.
fn order(view: &View<'_>, layer: &str, work: &Work) -> Option<String> {
    let ranking = view.ranking(layer, work)?;
    let (first, last) = (ranking.places.first()?, ranking.places.last()?);
    let ranked = |place: &RankedCard| text::Ranked {
        card: view.name(place.card as usize),
        value: with_unit(view, layer, work, place),
    };
    if ranking.places.len() < 2 {
        let only = ranked(first);
        return Some(text::only_card(only.card, &only.value));
    }
    let scale = if work.small { 1.0 } else { 1e6 };
    let [low, high] = [last, first].map(|place| number::significant(place.mean / scale));
    if held_by_host(view, layer, work).is_some() {
        let cards = ranking.places.len();
        return Some(text::host_bound(cards, &low, &high, work.unit()));
    }
    let pairs = ranking.pairs.iter();
    let same: Vec<(&str, &str)> = pairs
        .filter(|pair| pair.comparison.verdict != Verdict::Different)
        .map(|pair| (view.name(pair.a as usize), view.name(pair.b as usize)))
        .collect();
    let of = ranking.pairs.len();
    if of > 0 && same.len() == of {
        return Some(text::no_difference(&low, &high, work.unit()));
    }
    let times = (last.mean > 0.0).then(|| number::significant(first.mean / last.mean));
    let named = (same.len() <= NAMED_PAIRS).then_some(&same[..]);
    let sure = text::pairs(of, of - same.len(), named);
    let (first, last) = (ranked(first), ranked(last));
    Some(text::fastest(&first, &last, times.as_deref(), &sure))
}

/// Mean and deviation of a ranked card with their unit; empty if it was not measured.
fn with_unit(view: &View<'_>, layer: &str, work: &Work, place: &RankedCard) -> String {
    let cell = view.cell(place.card as usize, layer, work);
    cell.map(|phase| format!("{} {}", spread(work, phase), work.unit()))
        .unwrap_or_default()
}

/// Formats mean and deviation in the unit of the workload: `33.6 ± 0.2`.
pub(super) fn spread(work: &Work, phase: &PhaseSummary) -> MeanText {
    finer_spread(work, phase, 0)
}

/// The same with this many more decimal places.
pub(super) fn finer_spread(work: &Work, phase: &PhaseSummary, more: usize) -> MeanText {
    let (estimate, unit) = match work.small {
        true => (&phase.iops, 1.0),
        false => (&phase.bandwidth, 1e6),
    };
    MeanText::with_more_places(estimate, unit, more)
}

/// The finding that the host limits the throughput of a workload, if that finding is based on this workload.
pub(super) fn held_by_host<'v>(
    view: &'v View<'_>,
    layer: &str,
    work: &Work,
) -> Option<&'v BusLimit> {
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

/// Maximum number of pairs listed individually; more are only counted.
const NAMED_PAIRS: usize = 4;

/// Performance through a layer relative to the reference layer, workload by workload.
fn cost(view: &View<'_>, layer: &str, reference: &str) -> Option<String> {
    let parts: Vec<(String, &str, text::LayerEffect)> = view
        .works
        .iter()
        .filter_map(|work| {
            let costs: Vec<&LayerCost> = (0..view.names.len())
                .filter_map(|card| view.cost(card, layer, work))
                .collect();
            let shares = range(costs.iter().map(|cost| cost.comparison.ratio))?;
            Some((shares, work.noun.as_str(), effect(&costs)))
        })
        .collect();
    (!parts.is_empty()).then(|| text::layer_cost(&plain(layer), reference, &parts))
}

/// Number of cards that a layer made slower or faster.
fn effect(costs: &[&LayerCost]) -> text::LayerEffect {
    let count = |wanted: &dyn Fn(&Verdict, f64) -> bool| {
        let wanted = |cost: &&&LayerCost| wanted(&cost.comparison.verdict, cost.comparison.ratio);
        costs.iter().filter(wanted).count()
    };
    text::LayerEffect {
        lower: count(&|verdict, ratio| *verdict == Verdict::Different && ratio < 1.0),
        higher: count(&|verdict, ratio| *verdict == Verdict::Different && ratio > 1.0),
        same: count(&|verdict, _| *verdict == Verdict::Equivalent),
        undecided: count(&|verdict, _| matches!(verdict, Verdict::Undecided { .. })),
    }
}

/// Formats a range: `70 to 86%`.
fn range(shares: impl Iterator<Item = f64>) -> Option<String> {
    let shares: Vec<f64> = shares.filter(|share| share.is_finite()).collect();
    let low = shares.iter().copied().reduce(f64::min)?;
    let high = shares.iter().copied().reduce(f64::max)?;
    Some(text::percent_range(&percent(low), &percent(high)))
}

/// Formats a share as percent with two digits.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    number::exact(value, if value.abs() < 9.95 { 1 } else { 0 })
}

/// Results of the claims and rated speeds of the cards.
pub(super) fn promises(view: &View<'_>) -> Option<String> {
    let checks = || view.of.cards.iter().flat_map(|card| &card.claims);
    let of = checks().count();
    if of == 0 {
        return None;
    }
    let counted = |verdict| checks().filter(|check| check.verdict == verdict).count();
    let counts = [
        ClaimVerdict::Kept,
        ClaimVerdict::Missed,
        ClaimVerdict::NotShown,
        ClaimVerdict::Unclear,
        ClaimVerdict::NotMeasured,
    ]
    .map(|verdict| (verdict, counted(verdict)));
    let share = |(op, figure)| {
        let rated = checks().filter(|check| printed(check.claim, op));
        let parts = rated.flat_map(|check| &check.parts);
        let parts = parts.filter(|part| part.figure == figure && part.required > 0.0);
        let shares = parts.filter_map(|part| Some(part.measured.as_ref()?.value / part.required));
        Some((op, range(shares)?))
    };
    let rates = [
        (Op::Read, Figure::SequentialRead),
        (Op::Write, Figure::SequentialWrite),
    ];
    let shares: Vec<(Op, String)> = rates.into_iter().filter_map(share).collect();
    Some(text::claims_in_short(of, &counts, &shares))
}

/// Whether a claim is the rated speed of an operation.
pub(super) fn printed(claim: Claim, op: Op) -> bool {
    matches!(
        (claim, op),
        (Claim::ReadSpeed(_), Op::Read) | (Claim::WriteSpeed(_), Op::Write)
    )
}
