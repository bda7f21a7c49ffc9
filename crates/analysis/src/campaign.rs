//! Campaign results: joins the workloads of a card, and ranks the cards of a workload.

use crate::compare::{TestFamilies, has_rate, name_and_unit, rate_pair};
use crate::stats;
use hakaru_model::advice::UseRule;
use hakaru_model::campaign::{
    CampaignSummary, CardPair, Circumstance, LayerSummary, RankedCard, Ranking, Weakness,
};
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::{Environment, Identity};
use hakaru_model::finding::{
    BusLimit, Comparison, Estimate, HeadlineRate, PhaseSummary, Summary, Verdict,
};
use hakaru_model::job::Op;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Joins the summaries of the workloads of one card: all phases, runs and caveats, with the
/// environment of the first.
///
/// `None` if the list is empty.
pub fn join(parts: Vec<Summary>) -> Option<Summary> {
    let mut parts = parts.into_iter();
    let mut whole = parts.next()?;
    for part in parts {
        let Summary {
            runs,
            started_unix_ms,
            phases,
            caveats,
            paths,
            ..
        } = part;
        whole.runs.extend(runs);
        whole.started_unix_ms = whole.started_unix_ms.min(started_unix_ms);
        whole.phases.extend(phases);
        whole.paths.extend(paths);
        whole.traced = crate::io_path::traced_series(&whole.paths, &whole.target);
        for caveat in caveats {
            if !whole.caveats.contains(&caveat) {
                whole.caveats.push(caveat);
            }
        }
    }
    Some(whole)
}

/// A layer of a campaign: its name, and the cards measured through it with their indices in the
/// campaign.
pub type Layer<'a> = (String, Vec<(u32, &'a Summary)>);

/// Ranks the cards of each layer and phase, and compares all pairs as one family, so that large
/// campaigns raise no more false alarms.
pub fn rank(layers: &[Layer<'_>]) -> Vec<Ranking> {
    let groups: Vec<PhaseGroup<'_>> = layers.iter().flat_map(groups_of).collect();
    let pairs = groups.iter().flat_map(PhaseGroup::pairs);
    let families = TestFamilies::of(pairs.map(|(_, _, x, y)| rate_pair(x, y)));
    let ranking = |group: &PhaseGroup<'_>| {
        let mut shared = SharedEstimates::default();
        let pairs = group.pairs().filter_map(|(a, b, x, y)| {
            let mut comparison = families.compare(&rate_pair(x, y))?;
            shared.share(a, b, &mut comparison);
            Some(CardPair { a, b, comparison })
        });
        group.ranking(pairs.collect())
    };
    groups.iter().map(ranking).collect()
}

/// The texts and estimates that the comparisons of a group have in common.
#[derive(Default)]
struct SharedEstimates {
    texts: Option<(Arc<str>, Arc<str>)>,
    of_cards: BTreeMap<u32, Arc<Estimate>>,
}

impl SharedEstimates {
    /// Replaces equal parts of a comparison of two cards by those of an earlier one.
    fn share(&mut self, a: u32, b: u32, comparison: &mut Comparison) {
        let (quantity, unit) = self
            .texts
            .get_or_insert_with(|| (comparison.quantity.clone(), comparison.unit.clone()));
        share(&mut comparison.quantity, quantity);
        share(&mut comparison.unit, unit);
        for (card, estimate) in [(a, &mut comparison.a), (b, &mut comparison.b)] {
            let known = self.of_cards.entry(card);
            share(estimate, known.or_insert_with(|| estimate.clone()));
        }
    }
}

fn share<T: PartialEq + ?Sized>(value: &mut Arc<T>, known: &Arc<T>) {
    if **value == **known {
        *value = Arc::clone(known);
    }
}

/// A phase through a layer, on every card that has it.
struct PhaseGroup<'a> {
    layer: &'a str,
    phase: &'a str,
    op: Op,
    rate: HeadlineRate,
    cards: Vec<(u32, &'a PhaseSummary)>,
}

fn groups_of<'a>((layer, cards): &'a Layer<'a>) -> Vec<PhaseGroup<'a>> {
    let mut groups: Vec<PhaseGroup<'a>> = Vec::new();
    for (card, summary) in cards {
        for phase in summary.phases.iter().filter(|phase| has_rate(phase)) {
            match groups
                .iter_mut()
                .find(|g| g.phase == phase.phase && g.op == phase.op)
            {
                Some(group) => group.cards.push((*card, phase)),
                None => groups.push(PhaseGroup {
                    layer,
                    phase: &phase.phase,
                    op: phase.op,
                    rate: phase.detail.headline,
                    cards: vec![(*card, phase)],
                }),
            }
        }
    }
    groups
}

impl<'a> PhaseGroup<'a> {
    fn pairs(&self) -> impl Iterator<Item = (u32, u32, &'a PhaseSummary, &'a PhaseSummary)> {
        let cards = &self.cards;
        let places = (0..cards.len()).flat_map(|a| (a + 1..cards.len()).map(move |b| (a, b)));
        places.map(|(a, b)| (cards[a].0, cards[b].0, cards[a].1, cards[b].1))
    }

    fn ranking(&self, pairs: Vec<CardPair>) -> Ranking {
        let mut places: Vec<RankedCard> = self
            .cards
            .iter()
            .map(|&(card, phase)| {
                let estimate = self.rate.of(phase);
                RankedCard {
                    card,
                    rank: 0,
                    letters: String::new(),
                    mean: estimate.mean,
                    deviation: estimate.deviation,
                }
            })
            .collect();
        places.sort_by(|a, b| b.mean.total_cmp(&a.mean).then(a.card.cmp(&b.card)));
        give_ranks(&mut places, &pairs);
        let (layer, phase) = (self.layer.to_owned(), self.phase.to_owned());
        Ranking {
            layer,
            phase,
            op: self.op,
            unit: name_and_unit(self.rate).1.to_owned(),
            places,
            pairs,
        }
    }
}

/// Ranks are by mean; letters show which cards differ.
fn give_ranks(places: &mut [RankedCard], pairs: &[CardPair]) {
    let different = pairs
        .iter()
        .filter(|pair| pair.comparison.verdict == Verdict::Different);
    let different: HashSet<(u32, u32)> = different.map(|pair| (pair.a, pair.b)).collect();
    let differ = |x: u32, y: u32| different.contains(&(x, y)) || different.contains(&(y, x));
    let cards: Vec<u32> = places.iter().map(|place| place.card).collect();
    let letters = stats::letters(cards.len(), |i, j| differ(cards[i], cards[j]));
    for ((index, place), letters) in (1..).zip(places).zip(letters) {
        (place.rank, place.letters) = (index, letters);
    }
}

/// Compares every layer of every card with the reference layer, as one family, and their traced I/Os;
/// a card without that layer has no costs.
pub fn compare_layers(summary: &mut CampaignSummary, layer: &str) {
    let mut places = Vec::new();
    for (card, of) in summary.cards.iter().enumerate() {
        if let Some(reference) = of.layers.iter().position(|known| known.layer == layer) {
            let others = (0..of.layers.len()).filter(|&other| other != reference);
            places.extend(others.map(|other| (card, reference, other)));
        }
    }
    let layers = |&(card, reference, other): &(usize, usize, usize)| {
        let layers = &summary.cards[card].layers;
        (
            layers[other].layer.as_str(),
            &layers[reference].summary,
            &layers[other].summary,
        )
    };
    let costs = crate::layer_costs(&places.iter().map(layers).collect::<Vec<_>>());
    summary.cards.iter_mut().for_each(|card| card.costs.clear());
    for ((card, ..), costs) in places.into_iter().zip(costs) {
        summary.cards[card].costs.extend(costs);
    }
    for card in &mut summary.cards {
        let reference = card.layers.iter().position(|known| known.layer == layer);
        let mut layers: Vec<&mut Summary> =
            card.layers.iter_mut().map(|of| &mut of.summary).collect();
        layers
            .iter_mut()
            .for_each(|summary| summary.path_differences.clear());
        if let Some(reference) = reference {
            crate::io_path::compare_traced_with(&mut layers, reference);
        }
    }
    layer.clone_into(&mut summary.reference_layer);
}

/// Derives the conclusions from the results of the cards: costs of the layers, weaknesses, bottlenecks, rankings, and
/// the order of the cards for each use and by price.
pub fn conclude(summary: &mut CampaignSummary, rules: &[UseRule]) {
    advise_cards(summary, rules);
    if let Some(layer) = reference_layer(summary) {
        compare_layers(summary, &layer);
    }
    summary.weaknesses = weaknesses(summary);
    let by_layer = by_layer(summary);
    let mut limits: Vec<(String, BusLimit)> = Vec::new();
    for (layer, cards) in &by_layer {
        let summaries: Vec<&Summary> = cards.iter().map(|(_, summary)| *summary).collect();
        for mut limit in crate::bus_limit(&summaries) {
            // Some cards may not have been measured through this layer.
            for member in &mut limit.members {
                *member = cards[*member as usize].0;
            }
            limits.push((layer.clone(), limit));
        }
    }
    let rankings = rank(&by_layer);
    summary.hosts = crate::compare_hosts(&summary.cards, &by_layer);
    (summary.limits, summary.rankings) = (limits, rankings);
    summary.values = crate::rank_values(&summary.cards, &summary.layers);
    rank_for_uses(summary, rules);
}

/// Returns the raw device if any card was measured through it, else the first layer; `None` if there is only one
/// layer.
fn reference_layer(summary: &CampaignSummary) -> Option<String> {
    let layers = || summary.cards.iter().flat_map(|card| &card.layers);
    let first = layers().next()?;
    layers().find(|of| of.layer != first.layer)?;
    let raw = layers().find(|of| of.summary.target.filesystem.is_none());
    Some(raw.unwrap_or(first).layer.clone())
}

/// Returns the cards of each layer, with their indexes.
fn by_layer(summary: &CampaignSummary) -> Vec<Layer<'_>> {
    let of_layer = |layer: &String| {
        let cards = (0..).zip(&summary.cards).filter_map(|(place, card)| {
            let found = card.layers.iter().find(|of| of.layer == *layer)?;
            Some((place, &found.summary))
        });
        (layer.clone(), cards.collect::<Vec<_>>())
    };
    summary
        .layers
        .iter()
        .map(of_layer)
        .filter(|(_, cards)| !cards.is_empty())
        .collect()
}

/// Evaluates every card and layer by these rules, and orders the cards for each use.
pub fn advise_all(summary: &mut CampaignSummary, rules: &[UseRule]) {
    advise_cards(summary, rules);
    rank_for_uses(summary, rules);
}

fn advise_cards(summary: &mut CampaignSummary, rules: &[UseRule]) {
    for layer in summary.cards.iter_mut().flat_map(|card| &mut card.layers) {
        layer.advice = crate::advise_layer(layer, rules);
    }
}

/// Orders the cards for each use, after they were ranked by workload.
fn rank_for_uses(summary: &mut CampaignSummary, rules: &[UseRule]) {
    let pairs = summary.rankings.iter().flat_map(|ranking| &ranking.pairs);
    let family = pairs.map(|pair| pair.comparison.family as usize).max();
    summary.uses = crate::rank_uses(
        &summary.cards,
        &summary.layers,
        rules,
        family.unwrap_or_default(),
    );
}

/// Minimum runs of a point for a known variation.
pub(crate) const ENOUGH_RUNS: u32 = 5;

/// Returns weaknesses of the design that the results show. Those that only the plan shows are added
/// by the caller; changes between runs are in their [`Circumstances`].
pub fn weaknesses(summary: &CampaignSummary) -> Vec<Weakness> {
    let mut found = Vec::new();
    let layers = || summary.cards.iter().flat_map(|card| &card.layers);
    let phases: Vec<&PhaseSummary> = layers().flat_map(|layer| &layer.summary.phases).collect();
    let of = phases.len() as u64;
    let points = |wanted: &dyn Fn(&PhaseSummary) -> bool| {
        phases.iter().filter(|phase| wanted(phase)).count() as u64
    };
    let few = points(&|phase| runs_of(phase) < ENOUGH_RUNS);
    if few > 0 {
        found.push(Weakness::FewRepeats {
            points: few,
            of,
            wanted: ENOUGH_RUNS,
        });
    }
    let means_only = points(&|phase| phase.detail.stated_runs.is_some());
    if means_only > 0 {
        found.push(Weakness::MeansOnly {
            points: means_only,
            of,
        });
    }
    found.extend(of_real_cards(summary));
    found
}

/// Returns the weaknesses of the choice and the preparation of real cards.
fn of_real_cards(summary: &CampaignSummary) -> Vec<Weakness> {
    let mut found = Vec::new();
    let layers = summary.cards.iter().flat_map(|card| &card.layers);
    let simulated = |layer: &LayerSummary| layer.summary.caveats.contains(&Caveat::Simulated);
    let real: Vec<&LayerSummary> = layers.filter(|layer| !simulated(layer)).collect();
    if summary.cards.len() > 1 && !real.is_empty() && !has_specimens(&real) {
        found.push(Weakness::OneSpecimen);
    }
    let mut phases = real.iter().flat_map(|layer| &layer.summary.phases);
    let writes = phases.any(|phase| phase.op != Op::Read);
    if writes && real.iter().all(|layer| layer.prepared.is_empty()) {
        found.push(Weakness::Unprepared);
    }
    found
}

/// Whether two specimens of one model were measured.
fn has_specimens(layers: &[&LayerSummary]) -> bool {
    let targets: Vec<&Identity> = layers.iter().map(|layer| &layer.summary.target).collect();
    let mut each = targets.iter();
    each.any(|target| crate::limits::specimens_of(&targets, target).is_some())
}

/// Number of runs of a phase, with known or only stated values.
pub fn runs_of(phase: &PhaseSummary) -> u32 {
    let values = phase.bandwidth.values.len().min(u32::MAX as usize) as u32;
    phase
        .detail
        .stated_runs
        .filter(|_| values == 0)
        .unwrap_or(values)
}

/// A circumstance that must be equal for all points, with its accessor.
type HostCircumstance = (Circumstance, fn(&Environment) -> Option<String>);

const CIRCUMSTANCES: &[HostCircumstance] = &[
    (Circumstance::Host, |e| Some(e.hostname.clone())),
    (Circumstance::Board, |e| e.board.known().cloned()),
    (Circumstance::Kernel, |e| Some(e.kernel.clone())),
    (Circumstance::Governor, |e| e.governor.known().cloned()),
];

/// Circumstances that must be equal for all runs of a campaign: a host may be updated between two
/// runs, and another card may be mounted at the same directory.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    values: [Vec<String>; CIRCUMSTANCES.len()],
    /// Devices measured as each card.
    devices: BTreeMap<String, Vec<String>>,
    versions: Vec<String>,
}

impl Circumstances {
    /// Records the circumstances of one run, and its card.
    pub fn note(&mut self, card: &str, target: &Identity, environment: &Environment) {
        for ((_, read), values) in CIRCUMSTANCES.iter().zip(&mut self.values) {
            note_once(values, read(environment));
        }
        let device = target.device.known();
        // Devices with an ID are identified by it; a node name identifies the slot, not the card.
        let named = device.and_then(|device| {
            let serial = device.serial.known()?;
            Some(
                device
                    .model
                    .known()
                    .map_or_else(|| serial.clone(), |model| format!("{model} ({serial})")),
            )
        });
        note_once(self.devices.entry(card.to_owned()).or_default(), named);
    }

    /// Records the version of hakaru that measured a run.
    pub fn note_version(&mut self, version: &str) {
        note_once(&mut self.versions, Some(version.to_owned()));
    }

    /// Returns the circumstances that changed.
    pub fn changes(self) -> Vec<Weakness> {
        let hosts = CIRCUMSTANCES
            .iter()
            .zip(self.values)
            .map(|((what, _), values)| (what.clone(), values));
        let devices = self
            .devices
            .into_iter()
            .map(|(card, devices)| (Circumstance::Device { card }, devices));
        let versions = std::iter::once((Circumstance::Version, self.versions));
        let changed = hosts
            .chain(versions)
            .chain(devices)
            .filter(|(_, values)| values.len() > 1);
        changed
            .map(|(what, values)| Weakness::Changed { what, values })
            .collect()
    }
}

fn note_once(values: &mut Vec<String>, value: Option<String>) {
    values.extend(value.filter(|value| !value.is_empty() && !values.contains(value)));
}

#[cfg(test)]
mod tests;
