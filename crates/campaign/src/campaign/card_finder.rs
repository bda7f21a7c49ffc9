//! Finds cards by their identity, so that a card is recognized when it is inserted again, in any reader.

use super::journal::CampaignProgress;
use super::operator::CandidateDisk;
use super::spec::{Campaign, Card, CardLocation};
use crate::errors;
use hakaru_device::guard::{self, Candidate};
use hakaru_device::{Presence, Roots};
use hakaru_model::units::Bytes;
use hakaru_report::both;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Time until the kernel has noticed that a card was removed: the MMC core waits 0.2 s for the contacts to settle,
/// and then polls the card several times.
const NOTICED: Duration = Duration::from_secs(5);

/// A card that is present.
#[derive(Clone, Debug)]
pub(super) struct FoundCard {
    /// ID under which its runs are stored: its identity, or its label if it hides its identity.
    pub(super) key: String,
    /// The disk; `None` for cards that are not in a reader.
    pub(super) disk: Option<PresentDisk>,
}

/// A disk that is present, with the values that show whether it is still the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PresentDisk {
    pub(super) node: PathBuf,
    /// Its permanent IDs.
    ids: Vec<String>,
    presence: Presence,
}

impl PresentDisk {
    fn of(node: &Path, candidate: &Candidate) -> PresentDisk {
        PresentDisk {
            node: node.to_owned(),
            ids: candidate.own_ids().to_vec(),
            presence: Presence {
                size: candidate.size(),
                sequence: candidate.sequence(),
            },
        }
    }

    /// Size of the disk.
    pub(super) fn size(&self, roots: &Roots) -> Option<Bytes> {
        hakaru_device::presence(&self.node, roots).map(|presence| presence.size)
    }

    /// Whether the same disk is still present: neither removed nor replaced.
    pub(super) fn is_there(&self, roots: &Roots) -> bool {
        hakaru_device::presence(&self.node, roots) == Some(self.presence)
    }

    /// Whether the disk was removed or replaced. Meant for use after a failure: I/O fails before the kernel notices a
    /// removed card, so this waits.
    pub(super) fn is_gone(&self, roots: &Roots, stop: &AtomicBool) -> bool {
        let until = Instant::now() + NOTICED;
        while self.is_there(roots) {
            if stop.load(Relaxed) || Instant::now() >= until {
                return false;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        true
    }

    /// Checks the disk again before it is changed.
    pub(super) fn candidate(&self, roots: &Roots) -> Result<Candidate, String> {
        let candidate = guard::passive(&self.node, roots).map_err(|refusal| with_help(&refusal))?;
        let same = PresentDisk::of(&self.node, &candidate);
        if same.ids != self.ids || same.presence.sequence != self.presence.sequence {
            return Err(both!(
                "{} is a different disk than before",
                "{}は以前と別のディスクです";
                self.node.display()
            ));
        }
        Ok(candidate)
    }
}

/// A refusal of the guard with its advice.
pub(super) fn with_help(refusal: &guard::Refusal) -> String {
    both!("{} ({})", "{}（{}）"; errors::message(refusal), errors::cure(refusal))
}

/// Result of a search for a card.
pub(super) enum CardSearch {
    Found(FoundCard),
    /// The card was not found, with the reason.
    NotThere(String),
}

/// Searches for cards.
pub(super) struct CardFinder<'a> {
    pub(super) campaign: &'a Campaign,
    pub(super) journal: &'a CampaignProgress,
    pub(super) roots: &'a Roots,
}

impl CardFinder<'_> {
    /// Searches for a card without asking the user.
    pub(super) fn look(&self, card: &Card) -> CardSearch {
        match &card.location {
            CardLocation::Folder(folder) if !folder.is_dir() => CardSearch::NotThere(
                both!("{} is not a directory", "{}はディレクトリではありません"; folder.display()),
            ),
            CardLocation::Folder(_) => CardSearch::Found(FoundCard {
                key: keyed(card, &card.label),
                disk: None,
            }),
            // A model with an ID rehearses that card, which may have another label on each host.
            CardLocation::Sim(_) => CardSearch::Found(FoundCard {
                key: keyed(card, card.id.as_ref().unwrap_or(&card.label)),
                disk: None,
            }),
            CardLocation::Reader { node } => self.look_in_readers(card, node.as_ref()),
        }
    }

    /// Searches for a card at this node, or at all disks.
    fn look_in_readers(&self, card: &Card, node: Option<&PathBuf>) -> CardSearch {
        let wanted = self.wanted(card);
        let is_it = |candidate: &Candidate| match &wanted {
            Some(id) => answers(candidate, id),
            // If only one card of the campaign uses a named reader, the user is not asked.
            None => node.is_some() && self.is_alone(card) && self.stranger(card, candidate),
        };
        let is_expected =
            |path: &Path| node.is_some() || wanted.iter().any(|id| self.is_in_use(path, id));
        let mut why = not_found(wanted.as_deref());
        let mut all: Vec<(PathBuf, Candidate)> = Vec::new();
        for path in node.map_or_else(
            || hakaru_device::disks(self.roots),
            |node| vec![node.clone()],
        ) {
            match guard::passive(&path, self.roots) {
                Ok(candidate) if is_it(&candidate) => all.push((path, candidate)),
                Err(refusal) if is_expected(&path) => why = with_help(&refusal),
                Ok(_) | Err(_) => {}
            }
        }
        match &all[..] {
            [] => CardSearch::NotThere(why),
            [(path, candidate)] => self.found(card, path, candidate),
            // Two slots of one reader share its serial number, so the card is ambiguous.
            several => CardSearch::NotThere(ambiguous(&wanted.unwrap_or_default(), several)),
        }
    }

    /// Whether a search finds the card once it is present, without asking the user.
    pub(super) fn recognises(&self, card: &Card) -> bool {
        match &card.location {
            CardLocation::Reader { node } => {
                self.wanted(card).is_some() || node.is_some() && self.is_alone(card)
            }
            CardLocation::Folder(_) | CardLocation::Sim(_) => true,
        }
    }

    /// Whether a rejected disk is the card, for example because a desktop mounted it.
    fn is_in_use(&self, node: &Path, id: &str) -> bool {
        let identity = hakaru_device::recognise(node, self.roots);
        let Some(device) = identity.device.known() else {
            return false;
        };
        let cid = device.card.as_ref().and_then(|card| card.cid.known());
        let ids = device
            .serial
            .known()
            .into_iter()
            .chain(cid)
            .chain(&device.aliases);
        ids.into_iter().any(|known| known.eq_ignore_ascii_case(id))
    }

    /// Accepts the disk that the user named. If the campaign names a device, the disk must be that device.
    pub(super) fn take(&self, card: &Card, node: &Path) -> CardSearch {
        if let CardLocation::Reader { node: Some(named) } = &card.location
            && !self.is_same_device(named, node)
        {
            let (named, node) = (named.display(), node.display());
            return CardSearch::NotThere(both!(
                "the campaign names {named} for {}, but {node} is a different device",
                "キャンペーンでは{}のデバイスは{named}ですが、{node}は別のデバイスです";
                card.label
            ));
        }
        let candidate = match guard::passive(node, self.roots) {
            Ok(candidate) => candidate,
            Err(refusal) => return CardSearch::NotThere(with_help(&refusal)),
        };
        if let Some(id) = self.wanted(card).filter(|id| !answers(&candidate, id)) {
            let ids = candidate.ids().join(", ");
            return CardSearch::NotThere(both!(
                "{} has the ID {ids}, but the card is {id}",
                "{}のIDは{ids}で、カードのID {id}と一致しません";
                node.display()
            ));
        }
        if let Some(label) = self
            .label_of(&key(card, &candidate))
            .filter(|label| *label != card.label)
        {
            return CardSearch::NotThere(
                both!("{} is the card `{label}`", "{}はカード「{label}」です"; node.display()),
            );
        }
        self.found(card, node, &candidate)
    }

    /// Returns disks that could be cards of the campaign.
    pub(super) fn seen(&self, card: &Card) -> Vec<CandidateDisk> {
        let look = |node: PathBuf| {
            let candidate = guard::passive(&node, self.roots).ok()?;
            let tells = candidate.tells_itself();
            let label = self
                .label_of(&key(card, &candidate))
                .filter(|_| tells)
                .map(str::to_owned);
            Some(CandidateDisk {
                node,
                name: candidate.identity().display_name(),
                ids: candidate.ids().to_vec(),
                label,
            })
        };
        let nodes = match &card.location {
            CardLocation::Reader { node: Some(named) } => vec![named.clone()],
            _ => hakaru_device::disks(self.roots),
        };
        nodes.into_iter().filter_map(look).collect()
    }

    /// Whether two paths name the same existing device.
    fn is_same_device(&self, one: &Path, other: &Path) -> bool {
        one == other || hakaru_device::is_same_device(one, other, self.roots)
    }

    /// Returns the label of the card that was measured under a key. If the label was changed in the file, the key
    /// belongs to no card.
    fn label_of(&self, key: &str) -> Option<&str> {
        let mut labels = self.campaign.cards.iter().map(|card| card.label.as_str());
        labels.find(|label| self.journal.key_of(label) == Some(key))
    }

    /// Returns the ID that the card must have: from the file, or from earlier runs.
    fn wanted(&self, card: &Card) -> Option<String> {
        let before = || {
            let key = self.journal.key_of(&card.label)?;
            let bare = card
                .variant
                .as_ref()
                .and_then(|variant| key.strip_suffix(&format!("#{variant}")));
            // The runs of a card that hides its identity are stored under its label.
            Some(bare.unwrap_or(key).to_owned()).filter(|key| *key != card.label)
        };
        card.id.clone().or_else(before)
    }

    /// Whether no other card uses the same reader.
    fn is_alone(&self, card: &Card) -> bool {
        self.campaign
            .cards
            .iter()
            .filter(|other| other.location == card.location)
            .count()
            == 1
    }

    /// Whether the disk was not measured as another card.
    fn stranger(&self, card: &Card, candidate: &Candidate) -> bool {
        self.label_of(&key(card, candidate))
            .is_none_or(|label| label == card.label)
    }

    fn found(&self, card: &Card, node: &Path, candidate: &Candidate) -> CardSearch {
        CardSearch::Found(FoundCard {
            key: key(card, candidate),
            disk: Some(PresentDisk::of(node, candidate)),
        })
    }
}

/// Returns the message if no disk is the card.
fn not_found(id: Option<&str>) -> String {
    match id {
        Some(id) => both!("no disk has the ID {id}", "ID {id}のディスクがありません"),
        None => both!("device ID not known yet", "デバイスIDが未登録です"),
    }
}

/// Returns the message for several disks that match the ID of one card.
fn ambiguous(id: &str, all: &[(PathBuf, Candidate)]) -> String {
    let nodes: Vec<String> = all
        .iter()
        .map(|(node, _)| node.display().to_string())
        .collect();
    let nodes = nodes.join(&both!(" and ", "と"));
    both!(
        "{nodes} have the same ID {id}; help: name the slot with device =, or use a \
        /dev/disk/by-id name as id =",
        "{nodes}のIDがどちらも{id}です; help: device =でスロットを指定するか、id =に/dev/disk/by-idの\
        名前を指定してください"
    )
}

fn answers(candidate: &Candidate, id: &str) -> bool {
    candidate
        .ids()
        .iter()
        .any(|known| known.eq_ignore_ascii_case(id))
}

/// Returns the ID under which the runs of a disk are stored: its identity, or the label of the card if the disk hides
/// it.
fn key(card: &Card, candidate: &Candidate) -> String {
    keyed(
        card,
        candidate
            .own_ids()
            .first()
            .filter(|_| candidate.tells_itself())
            .unwrap_or(&card.label),
    )
}

fn keyed(card: &Card, id: &str) -> String {
    card.variant
        .as_ref()
        .map_or_else(|| id.to_owned(), |variant| format!("{id}#{variant}"))
}

#[cfg(test)]
mod tests;
