//! A campaign prepared for rendering: escaped and unique names, workloads in a fixed order, and comparisons with the
//! reference.

use crate::path::cards::TracedCard;
use crate::workload::{self, WorkloadName};
use crate::{compare, naming, text};
use hakaru_model::advice::Advice;
use hakaru_model::campaign::{CampaignSummary, CardSummary, LayerSummary, Ranking};
use hakaru_model::finding::{Comparison, Estimate, LayerCost, PhaseSummary, Summary, Verdict};
use hakaru_model::job::Op;
use std::collections::HashMap;

/// One phase and operation, across all cards and layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) phase: String,
    pub(super) op: Op,
    /// Name in file names and narrow tables.
    pub(super) label: String,
    /// The workload in words, if it is one of hakaru's own.
    own: Option<String>,
    /// Plural noun for sentences: `random writes`.
    pub(super) noun: String,
    /// Description of the workload.
    pub(super) workload: String,
    /// Whether it is reported in IOPS instead of MB/s.
    pub(super) small: bool,
}

impl Work {
    /// The rate of a phase that the workload is reported in.
    pub(super) fn rate<'p>(&self, phase: &'p PhaseSummary) -> &'p Estimate {
        match self.small {
            true => &phase.iops,
            false => &phase.bandwidth,
        }
    }

    /// The noun as the beginning of a title.
    pub(super) fn title(&self) -> String {
        crate::text::capital(&self.noun)
    }

    /// The workload in words if it is one of hakaru's own, otherwise the name that the user gave.
    pub(super) fn name(&self) -> String {
        let own = self.own.as_deref();
        own.map_or_else(|| self.label.clone(), text::capital)
    }

    /// Display unit.
    pub(super) fn unit(&self) -> &'static str {
        if self.small { "IOPS" } else { "MB/s" }
    }
}

/// A campaign prepared for rendering.
pub(super) struct View<'a> {
    pub(super) of: &'a CampaignSummary,
    /// Display names of the cards.
    pub(super) names: Vec<String>,
    /// Layers through which any card was measured.
    pub(super) layers: Vec<String>,
    pub(super) works: Vec<Work>,
}

impl<'a> View<'a> {
    pub(super) fn of(of: &'a CampaignSummary) -> View<'a> {
        let names = naming::numbered(of.cards.iter().map(|card| card_name(of, card)).collect());
        let measured = of.cards.iter().flat_map(|card| &card.layers);
        let measured = naming::distinct(measured.map(|layer| layer.layer.clone()));
        let mut layers = naming::distinct(of.layers.iter().chain(&measured).cloned());
        layers.retain(|layer| measured.contains(layer));
        View {
            of,
            names,
            layers,
            works: works(of),
        }
    }

    /// Display name of a card.
    pub(super) fn name(&self, card: usize) -> &str {
        self.names.get(card).map_or("?", String::as_str)
    }

    /// Index of the reference card.
    pub(super) fn reference(&self) -> usize {
        self.of.reference as usize
    }

    /// Results of one card through one layer.
    pub(super) fn through(&self, card: usize, layer: &str) -> Option<&'a LayerSummary> {
        self.of
            .cards
            .get(card)?
            .layers
            .iter()
            .find(|known| known.layer == layer)
    }

    /// Results of one workload on one card through one layer.
    pub(super) fn cell(&self, card: usize, layer: &str, work: &Work) -> Option<&'a PhaseSummary> {
        phase_of(&self.through(card, layer)?.summary, work)
    }

    /// Results of a workload on all cards through one layer, in the order of the cards.
    pub(super) fn cells(&self, layer: &str, work: &Work) -> Vec<Option<&'a PhaseSummary>> {
        (0..self.names.len())
            .map(|card| self.cell(card, layer, work))
            .collect()
    }

    /// Whether the rounds of the campaign end with this workload; true without rounds.
    pub(super) fn ends_rounds(&self, work: &Work) -> bool {
        let mut points = self.of.rounds.iter().flat_map(|rounds| &rounds.points);
        self.of.rounds.is_empty() || points.any(|of| of.watched && of.phase == work.phase)
    }

    /// The layer of the first sentences: the reference, otherwise the first.
    pub(super) fn main_layer(&self) -> &str {
        let reference = |layer: &&String| **layer == self.of.reference_layer;
        let reference = self.layers.iter().find(reference);
        reference.or(self.layers.first()).map_or("", String::as_str)
    }

    /// Ranking of a workload through a layer.
    pub(super) fn ranking(&self, layer: &str, work: &Work) -> Option<&'a Ranking> {
        self.of
            .rankings
            .iter()
            .find(|r| r.layer == layer && r.phase == work.phase && r.op == work.op)
    }

    /// Comparison of a card with the reference, which is the first side.
    pub(super) fn against(&self, ranking: &Ranking, card: usize) -> Option<Comparison> {
        let (reference, card) = (self.of.reference, u32::try_from(card).ok()?);
        ranking
            .pairs
            .iter()
            .find_map(|pair| match (pair.a, pair.b) {
                (a, b) if (a, b) == (reference, card) => Some(pair.comparison.clone()),
                (a, b) if (a, b) == (card, reference) => Some(compare::turned(&pair.comparison)),
                _ => None,
            })
    }

    /// Indexes of the cards without a significant difference from a card.
    pub(super) fn like(&self, ranking: &Ranking, card: usize) -> Vec<usize> {
        let pairs = ranking
            .pairs
            .iter()
            .filter(|pair| pair.comparison.verdict != Verdict::Different);
        let others = pairs.filter_map(|pair| match (pair.a as usize, pair.b as usize) {
            (a, b) if a == card => Some(b),
            (a, b) if b == card => Some(a),
            _ => None,
        });
        others.collect()
    }

    /// The cards that no card is proven to be faster than, the highest mean first. None of them is proven to differ from
    /// another: the slower one of such a pair would not be among them.
    pub(super) fn leaders(&self, ranking: &Ranking) -> Vec<usize> {
        // One pass over the pairs: a hundred cards have thousands of them, and each cell of a matrix asks.
        let places = ranking.places.iter().enumerate();
        let rank: HashMap<u32, usize> = places.map(|(rank, place)| (place.card, rank)).collect();
        let mut is_slower = vec![false; ranking.places.len()];
        for pair in &ranking.pairs {
            if pair.comparison.verdict == Verdict::Different
                && let (Some(&a), Some(&b)) = (rank.get(&pair.a), rank.get(&pair.b))
            {
                is_slower[a.max(b)] = true;
            }
        }
        let places = ranking.places.iter().zip(is_slower);
        let leading = places.filter(|(_, is_slower)| !is_slower);
        leading.map(|(place, _)| place.card as usize).collect()
    }

    /// Cost of a layer for a card and workload.
    pub(super) fn cost(&self, card: usize, layer: &str, work: &Work) -> Option<&'a LayerCost> {
        let costs = &self.of.cards.get(card)?.costs;
        costs
            .iter()
            .find(|cost| cost.layer == layer && cost.phase == work.phase && cost.op == work.op)
    }

    /// Layers that were compared with the reference layer.
    pub(super) fn held_layers(&self) -> Vec<&str> {
        let held = |layer: &&String| {
            self.of
                .cards
                .iter()
                .any(|card| card.costs.iter().any(|c| c.layer == **layer))
        };
        self.layers
            .iter()
            .filter(held)
            .map(String::as_str)
            .collect()
    }

    /// A name, followed by the layer if the campaign has several.
    pub(super) fn with_layer(&self, name: &str, layer: &str) -> String {
        match self.layers.len() {
            0 | 1 => name.to_owned(),
            _ => crate::text::of_layer(name, &crate::escape::plain(layer)),
        }
    }

    /// The cards that were measured through a layer.
    pub(super) fn cards_through(&self, layer: &str) -> Vec<usize> {
        let all = 0..self.names.len();
        all.filter(|&card| self.through(card, layer).is_some())
            .collect()
    }

    /// All cards and layers, each with a display name.
    pub(super) fn everything(&self) -> Vec<(String, &'a LayerSummary)> {
        let all = self.everything_by_card().into_iter();
        all.map(|(name, _, layer)| (name, layer)).collect()
    }

    /// All cards and layers, each with a display name and the index of the card.
    pub(super) fn everything_by_card(&self) -> Vec<(String, usize, &'a LayerSummary)> {
        let of_card = |(index, (card, name)): (usize, (&'a CardSummary, &String))| {
            let named = card.layers.iter().map(|layer| {
                let through = crate::escape::plain(&layer.layer);
                (self.with_layer(name, &through), index, layer)
            });
            named.collect::<Vec<_>>()
        };
        let cards = self.of.cards.iter().zip(&self.names).enumerate();
        cards.flat_map(of_card).collect()
    }

    /// The cards with traced runs and their traced layers; the reference card is first.
    pub(super) fn traced_cards(&self) -> Vec<TracedCard<'a>> {
        let reference = self.reference();
        let others = (0..self.names.len()).filter(|&card| card != reference);
        let card = |card: usize| {
            let layers = self.of.cards.get(card)?.layers.iter();
            let traced = layers.filter(|layer| !layer.summary.paths.is_empty());
            let layers = traced.map(|layer| {
                let name = crate::escape::plain(&layer.layer);
                (name, &layer.summary)
            });
            let layers: Vec<_> = layers.collect();
            let name = self.name(card).to_owned();
            (!layers.is_empty()).then_some(TracedCard { name, layers })
        };
        let all = std::iter::once(reference).chain(others);
        all.filter_map(card).collect()
    }

    /// The summaries of all cards and layers, each with a display name.
    pub(super) fn summaries(&self) -> Vec<(String, &'a Summary)> {
        let all = self.everything().into_iter();
        all.map(|(name, layer)| (name, &layer.summary)).collect()
    }
}

/// Name of a card, with its host if another host measured it too.
fn card_name(of: &CampaignSummary, card: &CardSummary) -> String {
    let name = crate::escape::plain(&card.name);
    let elsewhere = |other: &CardSummary| other.name == card.name && other.host != card.host;
    match of.cards.iter().any(elsewhere) && !card.host.is_empty() {
        true => format!("{name} ({})", crate::escape::plain(&card.host)),
        false => name,
    }
}

/// Returns the matching phase of a summary.
pub(super) fn phase_of<'a>(summary: &'a Summary, work: &Work) -> Option<&'a PhaseSummary> {
    summary
        .phases
        .iter()
        .find(|phase| phase.phase == work.phase && phase.op == work.op)
}

/// All phases and operations, in order of first appearance.
fn works(of: &CampaignSummary) -> Vec<Work> {
    let mut works: Vec<Work> = Vec::new();
    let mut names: Vec<WorkloadName> = Vec::new();
    let layers = of.cards.iter().flat_map(|card| &card.layers);
    for summary in layers.map(|layer| &layer.summary) {
        for phase in &summary.phases {
            let is_it = |work: &Work| work.phase == phase.phase && work.op == phase.op;
            if !works.iter().any(is_it) {
                names.push(WorkloadName::of(summary, phase));
                works.push(Work {
                    phase: phase.phase.clone(),
                    op: phase.op,
                    label: naming::phase_id(summary, phase),
                    own: workload::of_phase(phase),
                    noun: String::new(),
                    workload: crate::escape::plain(&text::described(phase)),
                    small: crate::chart::by_iops(phase),
                });
            }
        }
    }
    let labels = naming::numbered(works.iter().map(|work| work.label.clone()).collect());
    for (work, label) in works.iter_mut().zip(labels) {
        work.label = label;
    }
    for (work, noun) in works.iter_mut().zip(workload::nouns(&names)) {
        work.noun = noun;
    }
    works
}

/// ID and title of each use with advice, once each.
pub(super) fn uses<'a>(advice: impl IntoIterator<Item = &'a Advice>) -> Vec<(&'a str, String)> {
    let mut uses: Vec<(&str, String)> = Vec::new();
    for advice in advice {
        if uses.iter().all(|(id, _)| *id != advice.id) {
            let title = crate::text::use_title(&advice.id, &advice.title);
            uses.push((&advice.id, title));
        }
    }
    uses
}

/// The hosts of a campaign, if some card was measured on several of them.
pub(super) fn shared_hosts(of: &CampaignSummary) -> Option<Vec<&str>> {
    let hosts = naming::distinct(of.cards.iter().map(|card| card.host.as_str()));
    let names = naming::distinct(of.cards.iter().map(|card| &card.name));
    (hosts.len() > 1 && names.len() < of.cards.len()).then_some(hosts)
}
