//! Derives the conclusions of a campaign: claims, advice, costs of layers, rankings, weaknesses.

use super::super::file::{PointOrder, PreparationSpec, PrepareScope, RepeatRule};
use super::super::measurements::{CardMeasurements, LayerMeasurements};
use super::super::spec::{Campaign, Layer};
use hakaru_analysis::claims::{ClaimContext, check_claims, claims_of};
use hakaru_analysis::rounds::{RoundRule, rounds};
use hakaru_analysis::stats::{StoppingRule, stopping_coverage};
use hakaru_model::campaign::{
    CampaignSummary, CardSummary, LayerSummary, PreparedStep, StepKind, Weakness,
};
use hakaru_model::finding::{Claim, ClaimCheck, Rounds};
use hakaru_model::job::SizeSpec;
use hakaru_model::units::Bytes;

/// Derives all conclusions from the results.
pub(super) fn conclude(
    campaign: &Campaign,
    summary: &mut CampaignSummary,
    cards: Vec<CardMeasurements>,
) {
    let rules = hakaru_analysis::default_rules();
    summary.rounds = rounds_of(campaign, &cards);
    let of_card = |card| card_summary(campaign, card);
    summary.cards.extend(cards.into_iter().map(of_card));
    hakaru_analysis::campaign::conclude(summary, &rules);
}

/// Returns the rounds of each card and layer, if they end in steady state.
fn rounds_of(campaign: &Campaign, cards: &[CardMeasurements]) -> Vec<Rounds> {
    let RepeatRule::Steady { at_most } = campaign.repeats else {
        return Vec::new();
    };
    let names = campaign.steady.iter();
    let names = names.map(|&workload| campaign.workloads[workload].name.clone());
    let watched: Vec<String> = names.collect();
    let rule = RoundRule {
        watched: &watched,
        at_most,
    };
    let of_card = |(index, card): (u32, &CardMeasurements)| {
        let layers = card.layers.iter();
        let of_layer =
            layers.filter_map(|layer| rounds(index, &layer.layer, layer.rounds.clone(), rule));
        of_layer.collect::<Vec<_>>()
    };
    (0..).zip(cards).flat_map(of_card).collect()
}

fn card_summary(campaign: &Campaign, card: CardMeasurements) -> CardSummary {
    let CardMeasurements {
        name,
        key,
        host,
        printed,
        facts,
        layers,
    } = card;
    let claims = claims_of_card(campaign, &printed, &layers);
    let layers = layers.into_iter().map(layer_summary);
    CardSummary {
        name,
        key,
        host,
        printed,
        facts,
        layers: layers.collect(),
        claims,
        costs: Vec::new(),
    }
}

/// Checks the claims of a card, printed or in its registers, on the raw device, or else on its first layer.
fn claims_of_card(
    campaign: &Campaign,
    printed: &[Claim],
    layers: &[LayerMeasurements],
) -> Vec<ClaimCheck> {
    let is_raw = |layer: &&LayerMeasurements| layer.summary.target.filesystem.is_none();
    let Some(raw) = layers.iter().find(is_raw).or(layers.first()) else {
        return Vec::new();
    };
    let context = ClaimContext {
        erased: each_run_was_erased(campaign, &raw.prepared),
    };
    let registers = claims_of(&raw.summary.target);
    let others = printed.iter().filter(|claim| !registers.contains(claim));
    let all: Vec<Claim> = registers.iter().chain(others).copied().collect();
    check_claims(&raw.summary, &all, context)
}

fn layer_summary(layer: LayerMeasurements) -> LayerSummary {
    let LayerMeasurements {
        layer,
        mut summary,
        prepared,
        rounds: _,
    } = layer;
    for phase in &mut summary.phases {
        phase.detail.repeated = hakaru_analysis::repeated(phase);
    }
    LayerSummary {
        layer,
        summary,
        prepared,
        advice: Vec::new(),
    }
}

/// Returns the effect of optional stopping on the confidence intervals of these runs.
pub(super) fn optional_stopping(
    campaign: &Campaign,
    cards: &[CardMeasurements],
) -> Option<Weakness> {
    let RepeatRule::Until(until) = campaign.repeats else {
        return None;
    };
    let rule = StoppingRule {
        at_least: until.at_least as usize,
        at_most: until.at_most as usize,
        within: until.until.0,
    };
    let samples: Vec<&[f64]> = cards
        .iter()
        .flat_map(|card| &card.layers)
        .flat_map(|layer| &layer.summary.phases)
        .map(|phase| phase.bandwidth.values.as_slice())
        .collect();
    Some(Weakness::OptionalStopping {
        coverage: stopping_coverage(&samples, rule).map(|share| (share * 100.0).round() as u32),
    })
}

/// Whether each run began on a card that was completely discarded and not written to since.
///
/// A fill does not count, whatever its bytes, because the firmware of the card must keep the data.
fn each_run_was_erased(campaign: &Campaign, prepared: &[PreparedStep]) -> bool {
    let PreparationSpec {
        each,
        fill,
        fill_level,
        ..
    } = &campaign.preparation;
    // If discards depend on the support of the card, the recorded steps show whether they happened.
    let discarded = prepared
        .iter()
        .any(|step| matches!(step.step, StepKind::Discarded { .. }));
    *each == PrepareScope::Run && fill.is_none() && fill_level.is_none() && discarded
}

/// Returns the weaknesses of the design that only the plan shows.
pub(super) fn weaknesses_of_plan(campaign: &Campaign, runs: u64, planned: u64) -> Vec<Weakness> {
    let mut found = Vec::new();
    // If repeats end at a precision of the mean, there is no planned number of runs.
    if matches!(campaign.repeats, RepeatRule::Times(_)) && runs < planned {
        found.push(Weakness::Unfinished { runs, planned });
    }
    let several = campaign.repeats.most() > 1 && campaign.workloads.len() > 1;
    if campaign.order == PointOrder::Blocked && several && runs > 0 {
        found.push(Weakness::Blocked);
    }
    found
}

/// The ranges of random I/O through each layer, if files of some layers are smaller than the range of the workload.
pub(super) fn spans(campaign: &Campaign) -> Option<Weakness> {
    let jobs = campaign
        .workloads
        .iter()
        .flat_map(|workload| &workload.scenario.phases)
        .flat_map(|phase| &phase.jobs);
    let random = jobs.filter(|job| job.access.random);
    let wanted = random.filter_map(|job| match job.extent.size {
        Some(SizeSpec::Bytes(size)) => Some(size),
        _ => None,
    });
    let wanted = wanted.max()?;
    let span = |layer: &Layer| {
        let most = layer.size.unwrap_or(wanted);
        (layer.name.clone(), wanted.min(most))
    };
    let layers: Vec<(String, Bytes)> = campaign.layers.iter().map(span).collect();
    let differ = layers.windows(2).any(|pair| pair[0].1 != pair[1].1);
    differ.then_some(Weakness::Spans { layers })
}
