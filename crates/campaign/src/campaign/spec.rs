//! A campaign that is sound: what the runner, the plan and the report work from. Made by `resolve`.

use super::digest::{AuthoredEntry, PointDefinition};
use super::file::{
    CampaignLimits, CardOrder, PartitionTableEntry, PointOrder, PreparationSpec, RepeatRule,
};
use hakaru_device::prepare::FsType;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::finding::Claim;
use hakaru_model::job::Scenario;
use hakaru_model::units::{Bytes, Nanos};
use std::path::PathBuf;

/// A campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign {
    /// Its runs are stored under this id.
    pub id: String,
    /// What to call it.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// Where all offsets and the shuffled order come from.
    pub seed: u64,
    /// How often each point is measured.
    pub repeats: RepeatRule,
    /// In which order.
    pub order: PointOrder,
    /// In which order cards are measured.
    pub card_order: CardOrder,
    /// Whether the first layer of the first card is measured again at the end.
    pub recheck: bool,
    /// Pause before each run.
    pub cool_down: Nanos,
    /// The cards, at least one.
    pub cards: Vec<Card>,
    /// The layers; each card has at least one of them.
    pub layers: Vec<Layer>,
    /// What is done to the storage before.
    pub preparation: PreparationSpec,
    /// The workloads, at least one, each name once.
    pub workloads: Vec<CampaignWorkload>,
    /// When to stop.
    pub limits: CampaignLimits,
    /// The part of it that is wanted now.
    pub only: CampaignFilter,
}

/// A part of a campaign, by places; an empty list stands for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CampaignFilter {
    cards: Vec<usize>,
    layers: Vec<usize>,
    workloads: Vec<usize>,
}

/// One card, disk, folder or simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// What to call it; each card has another label.
    pub label: String,
    /// Its serial number, CID or by-id name, where it was given.
    pub id: Option<String>,
    /// Where it is found.
    pub seat: CardLocation,
    /// Tells one card in two settings apart.
    pub variant: Option<String>,
    /// What is printed on it.
    pub printed: Vec<Claim>,
    /// Price and whatever else is known of it.
    pub facts: Vec<(String, String)>,
}

/// Where a card is found.
#[derive(Clone, Debug, PartialEq)]
pub enum CardLocation {
    /// In a reader: at this node, or wherever its id turns up.
    Reader {
        /// The node.
        node: Option<PathBuf>,
    },
    /// It is a folder, and always there.
    Folder(PathBuf),
    /// It is simulated.
    Sim(Box<DeviceModel>),
}

/// One layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// What to call it; each layer has another name.
    pub name: String,
    /// What it is.
    pub through: LayerKind,
    /// At most so many bytes a file.
    pub size: Option<Bytes>,
    /// As its author wrote it, for the digest of the definition.
    pub authored: AuthoredEntry,
}

/// What lies between application and card.
#[derive(Clone, Debug, PartialEq)]
pub enum LayerKind {
    /// Nothing.
    Raw,
    /// Nothing, for simulated cards only: a card in a reader is not erased because a simulated one stands beside it.
    Simulated,
    /// Whatever is there already.
    AsIs,
    /// A file system that is made for the purpose.
    Fs(FsSpec),
}

/// A file system that is made for the purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct FsSpec {
    /// Which.
    pub fs: FsType,
    /// Further options of the mkfs tool.
    pub mkfs: Vec<String>,
    /// Mount options.
    pub mount: String,
    /// Lets mkfs discard first.
    pub discard: bool,
    /// Makes a partition table first.
    pub partition: Option<PartitionTableEntry>,
}

/// One workload.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignWorkload {
    /// What to call it.
    pub name: String,
    /// What is done; the targets of its jobs are stand-ins until it is aimed at a place.
    pub scenario: Scenario,
    /// As its author wrote it, for the digest of the definition.
    pub authored: AuthoredEntry,
}

impl CampaignWorkload {
    /// Whether it writes or trims.
    pub fn writes(&self) -> bool {
        self.scenario
            .phases
            .iter()
            .flat_map(|phase| &phase.jobs)
            .any(|job| job.access.destroys())
    }
}

impl Layer {
    /// Whether a card can be measured through it: folders as they are, simulations raw, cards in a reader raw or
    /// through a file system.
    pub fn suits(&self, card: &Card) -> bool {
        match (&self.through, &card.seat) {
            (LayerKind::AsIs, seat) => matches!(seat, CardLocation::Folder(_)),
            (LayerKind::Raw, seat) => !matches!(seat, CardLocation::Folder(_)),
            (LayerKind::Simulated, seat) => matches!(seat, CardLocation::Sim(_)),
            (LayerKind::Fs(_), seat) => matches!(seat, CardLocation::Reader { .. }),
        }
    }
}

impl Campaign {
    /// The layers a card is measured through, by their places.
    pub fn layers_of(&self, card: usize) -> impl Iterator<Item = usize> + '_ {
        let suits = move |layer: &usize| self.layers[*layer].suits(&self.cards[card]);
        (0..self.layers.len())
            .filter(suits)
            .filter(|layer| wanted(&self.only.layers, *layer))
    }

    /// The cards that are wanted and have a layer that is, by their places.
    pub fn wanted_cards(&self) -> impl Iterator<Item = usize> + '_ {
        let cards = (0..self.cards.len()).filter(|card| wanted(&self.only.cards, *card));
        cards.filter(|&card| self.layers_of(card).next().is_some())
    }

    /// The layers that a card which is wanted is measured through, by their places.
    pub fn wanted_layers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.layers.len()).filter(|&layer| {
            self.wanted_cards()
                .any(|card| self.layers_of(card).any(|of| of == layer))
        })
    }

    /// The workloads that are wanted, by their places.
    pub fn wanted_workloads(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.workloads.len()).filter(|workload| wanted(&self.only.workloads, *workload))
    }

    /// Wants only what has one of these names: labels of cards, names of layers and workloads. Of each of the three,
    /// all are wanted of which none is named.
    ///
    /// # Errors
    /// In words, when nothing has one of the names.
    pub fn want_only(&mut self, names: &[String]) -> Result<(), String> {
        let mut only = CampaignFilter::default();
        for name in names {
            let card = self.cards.iter().position(|card| card.label == *name);
            let layer = self.layers.iter().position(|layer| layer.name == *name);
            let workload = self
                .workloads
                .iter()
                .position(|workload| workload.name == *name);
            if card.or(layer).or(workload).is_none() {
                let known = self
                    .cards
                    .iter()
                    .map(|card| &card.label)
                    .chain(self.layers.iter().map(|l| &l.name));
                let known: Vec<&str> = known
                    .chain(self.workloads.iter().map(|w| &w.name))
                    .map(String::as_str)
                    .collect();
                let known = known.join(", ");
                return Err(format!(
                    "campaign {} has no card, layer or workload `{name}`: expected one of {known}",
                    self.name
                ));
            }
            only.cards.extend(card);
            only.layers.extend(layer);
            only.workloads.extend(workload);
        }
        self.only = only;
        Ok(())
    }

    /// Whether measuring a card destroys what is on it.
    pub fn erases(&self, card: usize) -> bool {
        let reader = matches!(self.cards[card].seat, CardLocation::Reader { .. });
        let whole = self.preparation.fill.is_some() || self.preparation.discard.is_some();
        let through = |layer: usize| match self.layers[layer].through {
            LayerKind::Fs(_) => true,
            LayerKind::Raw => self
                .wanted_workloads()
                .any(|workload| self.workloads[workload].writes()),
            LayerKind::AsIs | LayerKind::Simulated => false,
        };
        reader && (whole || self.layers_of(card).any(through))
    }

    /// The definition of the points of one layer and one workload, by their indexes.
    pub fn definition(&self, layer: usize, workload: usize) -> PointDefinition<'_> {
        PointDefinition {
            workload: &self.workloads[workload].authored,
            layer: &self.layers[layer].authored,
            preparation: &self.preparation,
        }
    }
}

fn wanted(named: &[usize], place: usize) -> bool {
    named.is_empty() || named.contains(&place)
}
