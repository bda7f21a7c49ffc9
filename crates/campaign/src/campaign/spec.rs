//! A valid campaign, as used by the runner, the plan and the report. Created by `resolve`.

use super::digest::{AuthoredEntry, PointDefinition};
use super::file::{
    CampaignLimits, CardOrder, PartitionTableEntry, PointOrder, PreparationSpec, RepeatRule,
};
use crate::session::TraceExtent;
use hakaru_device::prepare::FsType;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::finding::Claim;
use hakaru_model::job::{Job, Scenario};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_report::both;
use std::path::PathBuf;

/// A valid campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Campaign {
    /// ID under which its runs are stored.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Purpose of the campaign.
    pub about: String,
    /// Seed of all offsets and of the shuffled order.
    pub seed: u64,
    /// Number of repeats of each point.
    pub repeats: RepeatRule,
    /// Indexes of the workloads that must be steady before the rounds end; empty if each point ends alone.
    pub steady: Vec<usize>,
    /// Order of the points of a card.
    pub order: PointOrder,
    /// Order of the cards.
    pub card_order: CardOrder,
    /// Whether the first layer of the first card is measured again at the end.
    pub recheck: bool,
    /// How much of one more run of each point is traced; `None` without tracing.
    pub trace: Option<TraceExtent>,
    /// Pause before each run.
    pub cool_down: Nanos,
    /// The hosts of a fleet that measure; empty if the host that runs the campaign does.
    pub hosts: Vec<FleetHost>,
    /// The cards, at least one.
    pub cards: Vec<Card>,
    /// The layers; each card has at least one.
    pub layers: Vec<Layer>,
    /// Preparation of the storage before the measurement.
    pub preparation: PreparationSpec,
    /// The workloads, at least one, with unique names.
    pub workloads: Vec<CampaignWorkload>,
    /// Limits that end the campaign.
    pub limits: CampaignLimits,
    /// The selected part of the campaign.
    pub only: CampaignFilter,
}

/// A part of a campaign, by indexes; an empty list selects all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CampaignFilter {
    cards: Vec<usize>,
    layers: Vec<usize>,
    workloads: Vec<usize>,
}

/// A host of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetHost {
    /// Its name in the fleet; unique.
    pub name: String,
    /// Maximum number of cards that it measures at the same time.
    pub parallel: u32,
}

/// A card, disk, directory or simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// Display name; unique among the cards.
    pub label: String,
    /// Its serial number, CID or by-id name, if the file gives one.
    pub id: Option<String>,
    /// Its location.
    pub location: CardLocation,
    /// The host of a fleet that measures it; `None` for the host that has it.
    pub host: Option<String>,
    /// Distinguishes two settings of one card.
    pub variant: Option<String>,
    /// Rated speeds and classes.
    pub printed: Vec<Claim>,
    /// Price and other facts.
    pub facts: Vec<(String, String)>,
}

/// Location of a card.
#[derive(Clone, Debug, PartialEq)]
pub enum CardLocation {
    /// In a reader: at this node, or wherever its ID is found.
    Reader {
        /// The device node.
        node: Option<PathBuf>,
    },
    /// A directory, which is always present.
    Folder(PathBuf),
    /// A simulated card.
    Sim(Box<DeviceModel>),
}

/// A layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// Display name; unique among the layers.
    pub name: String,
    /// Kind of layer.
    pub through: LayerKind,
    /// Maximum size of a file.
    pub size: Option<Bytes>,
    /// The entry as written in the file, for the digest of the definition.
    pub authored: AuthoredEntry,
}

/// Kinds of layers between the application and the card.
#[derive(Clone, Debug, PartialEq)]
pub enum LayerKind {
    /// The raw device.
    Raw,
    /// The raw device of simulated cards only: a card in a reader is not erased because the file also has a simulated
    /// one.
    Simulated,
    /// The existing content.
    AsIs,
    /// A file system created by the campaign.
    Fs(FsSpec),
}

/// Parameters of a new file system.
#[derive(Clone, Debug, PartialEq)]
pub struct FsSpec {
    /// Its type.
    pub fs: FsType,
    /// Additional options of the mkfs tool.
    pub mkfs: Vec<String>,
    /// Mount options.
    pub mount: String,
    /// Allows mkfs to discard the device first.
    pub discard: bool,
    /// Creates a partition table first.
    pub partition: Option<PartitionTableEntry>,
}

/// A workload.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignWorkload {
    /// Display name.
    pub name: String,
    /// Its scenario; the targets of its jobs are placeholders until it is retargeted.
    pub scenario: Scenario,
    /// The entry as written in the file, for the digest of the definition.
    pub authored: AuthoredEntry,
}

impl CampaignWorkload {
    /// Returns the jobs of all phases.
    pub(super) fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.scenario.phases.iter().flat_map(|phase| &phase.jobs)
    }

    /// Whether it writes or trims.
    pub(super) fn writes(&self) -> bool {
        self.jobs().any(|job| job.access.destroys())
    }
}

impl Layer {
    /// Whether a card can be measured through it: directories as they are, simulations raw, cards in a reader raw or
    /// through a file system.
    pub(super) fn suits(&self, card: &Card) -> bool {
        match (&self.through, &card.location) {
            (LayerKind::AsIs, location) => matches!(location, CardLocation::Folder(_)),
            (LayerKind::Raw, location) => !matches!(location, CardLocation::Folder(_)),
            (LayerKind::Simulated, location) => matches!(location, CardLocation::Sim(_)),
            (LayerKind::Fs(_), location) => matches!(location, CardLocation::Reader { .. }),
        }
    }
}

impl Campaign {
    /// Returns the indexes of the layers through which a card is measured.
    pub fn layers_of(&self, card: usize) -> impl Iterator<Item = usize> + '_ {
        let suits = move |layer: &usize| self.layers[*layer].suits(&self.cards[card]);
        (0..self.layers.len())
            .filter(suits)
            .filter(|layer| wanted(&self.only.layers, *layer))
    }

    /// Returns the indexes of the selected cards that have a selected layer.
    pub fn wanted_cards(&self) -> impl Iterator<Item = usize> + '_ {
        let cards = (0..self.cards.len()).filter(|card| wanted(&self.only.cards, *card));
        cards.filter(|&card| self.layers_of(card).next().is_some())
    }

    /// Returns the indexes of the layers through which a selected card is measured.
    pub fn wanted_layers(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.layers.len()).filter(|&layer| {
            self.wanted_cards()
                .any(|card| self.layers_of(card).any(|of| of == layer))
        })
    }

    /// Returns the indexes of the selected workloads.
    pub fn wanted_workloads(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.workloads.len()).filter(|workload| wanted(&self.only.workloads, *workload))
    }

    /// Selects entries by name: labels of cards, and names of layers and workloads. If no name matches one of these
    /// three kinds, all of that kind are selected.
    ///
    /// # Errors
    /// A message if a name matches nothing.
    pub fn want_only(&mut self, names: &[String]) -> Result<(), String> {
        let mut only = CampaignFilter::default();
        let cards: Vec<&str> = self.cards.iter().map(|card| card.label.as_str()).collect();
        let layers: Vec<&str> = self.layers.iter().map(|l| l.name.as_str()).collect();
        let workloads: Vec<&str> = self.workloads.iter().map(|w| w.name.as_str()).collect();
        for name in names {
            let place = |known: &[&str]| known.iter().position(|known| known == name);
            let (card, layer, workload) = (place(&cards), place(&layers), place(&workloads));
            if card.or(layer).or(workload).is_none() {
                let known = [cards, layers, workloads].concat().join(", ");
                return Err(both!(
                    "campaign {} has no card, layer or workload `{name}`: expected one of {known}",
                    "キャンペーン{}にカード、レイヤ、ワークロード「{name}」はありません（{known}）";
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

    /// Selects cards, layers and workloads by name, each kind alone; an empty list selects all of its kind.
    ///
    /// # Errors
    /// The first name that the campaign does not have.
    pub fn select(
        &mut self,
        cards: &[String],
        layers: &[String],
        workloads: &[String],
    ) -> Result<(), String> {
        let places = |names: &[String], known: &[&str]| {
            let place = |name: &String| {
                let found = known.iter().position(|known| known == name);
                found.ok_or_else(|| name.clone())
            };
            names
                .iter()
                .map(place)
                .collect::<Result<Vec<usize>, String>>()
        };
        let known: Vec<&str> = self.cards.iter().map(|card| card.label.as_str()).collect();
        let cards = places(cards, &known)?;
        let known: Vec<&str> = self
            .layers
            .iter()
            .map(|layer| layer.name.as_str())
            .collect();
        let layers = places(layers, &known)?;
        let known: Vec<&str> = self.workloads.iter().map(|w| w.name.as_str()).collect();
        let workloads = places(workloads, &known)?;
        self.only = CampaignFilter {
            cards,
            layers,
            workloads,
        };
        Ok(())
    }

    /// Returns the names of the selected layers and workloads; empty lists if all are selected.
    pub fn selected(&self) -> (Vec<String>, Vec<String>) {
        let layers = self
            .only
            .layers
            .iter()
            .map(|&at| self.layers[at].name.clone());
        let workloads = self.only.workloads.iter();
        let workloads = workloads.map(|&at| self.workloads[at].name.clone());
        (layers.collect(), workloads.collect())
    }

    /// Whether measuring a card erases its content.
    pub fn erases(&self, card: usize) -> bool {
        let reader = matches!(self.cards[card].location, CardLocation::Reader { .. });
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

    /// Returns the definition of the points of one layer and one workload, by indexes.
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
