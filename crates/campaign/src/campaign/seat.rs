//! Finding a card: by its identity wherever it turns up, so that a card that comes back is the same card.

use super::hands::Seen;
use super::journal::Journal;
use super::spec::{Campaign, Card, Seat};
use hakaru_device::Roots;
use hakaru_device::guard::{self, Candidate};
use hakaru_model::units::Bytes;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// By then the kernel has noticed that a card was pulled: the MMC core waits a fifth of a second for the contacts to come
/// to rest, and then asks the card some times whether it is there.
const NOTICED: Duration = Duration::from_secs(5);

/// A card that is there.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Under which its runs are stored: its identity, or its label where it hides that.
    pub(super) key: String,
    /// The disk, for cards in a reader.
    pub(super) disk: Option<Disk>,
}

/// A disk that is there, and what tells whether it still is.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub(super) node: PathBuf,
    ids: Vec<String>,
    sequence: Option<u64>,
}

impl Disk {
    fn of(node: &Path, candidate: &Candidate) -> Disk {
        let sequence = candidate.identity().device.known().and_then(|device| device.disk_sequence.known().copied());
        Disk { node: node.to_owned(), ids: candidate.ids().to_vec(), sequence }
    }

    /// Its bytes.
    pub(super) fn size(&self, roots: &Roots) -> Option<Bytes> {
        hakaru_device::identify(&self.node, roots).device.known().map(|device| device.size)
    }

    /// Whether the very same disk is still there: not pulled, not exchanged.
    pub(super) fn is_there(&self, roots: &Roots) -> bool {
        let identity = hakaru_device::identify(&self.node, roots);
        let Some(device) = identity.device.known() else { return false };
        device.size.0 > 0 && device.disk_sequence.known().copied() == self.sequence
    }

    /// Whether it was pulled or exchanged, asked after a failure. I/Os fail before the kernel has noticed that a card is
    /// not there any more, so it is given time.
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

    /// Looks at it again before it is changed.
    pub(super) fn candidate(&self, roots: &Roots) -> Result<Candidate, String> {
        let candidate = guard::passive(&self.node, roots).map_err(|refusal| told(&refusal))?;
        let same = Disk::of(&self.node, &candidate);
        if (&same.ids, same.sequence) != (&self.ids, self.sequence) {
            return Err(format!("{} is another disk than before", self.node.display()));
        }
        Ok(candidate)
    }
}

fn told(refusal: &guard::Refusal) -> String {
    format!("{refusal} ({})", refusal.cure())
}

/// What a look for a card came to.
pub(super) enum Look {
    Found(Found),
    /// It is not there, and why one thinks so.
    NotThere(String),
}

/// Where cards are looked for.
pub(super) struct Bench<'a> {
    pub(super) campaign: &'a Campaign,
    pub(super) journal: &'a Journal,
    pub(super) roots: &'a Roots,
}

impl Bench<'_> {
    /// Looks for a card without asking anybody.
    pub(super) fn look(&self, card: &Card) -> Look {
        let node = match &card.seat {
            Seat::Folder(folder) => return folder_or_not(card, folder),
            Seat::Sim(_) => return Look::Found(Found { key: keyed(card, &card.label), disk: None }),
            Seat::Reader { node } => node,
        };
        let wanted = self.wanted(card);
        let nodes = node.as_ref().map_or_else(|| hakaru_device::disks(self.roots), |node| vec![node.clone()]);
        let mut why = match &wanted {
            Some(id) => format!("no disk answers to {id}"),
            None => "its identity is not known yet".to_owned(),
        };
        for path in nodes {
            let candidate = match guard::passive(&path, self.roots) {
                Ok(candidate) => candidate,
                Err(refusal) => {
                    if node.is_some() || wanted.as_ref().is_some_and(|id| self.is_in_use(&path, id)) {
                        why = told(&refusal);
                    }
                    continue;
                }
            };
            match &wanted {
                Some(id) if answers(&candidate, id) => return self.found(card, &path, &candidate),
                // A named reader that only one card of the campaign is for needs no asking.
                None if node.is_some() && self.is_alone(card) && self.stranger(card, &candidate) => {
                    return self.found(card, &path, &candidate);
                }
                _ => {}
            }
        }
        Look::NotThere(why)
    }

    /// Whether a disk that was refused is the card all the same, such as one that a desktop has mounted at once.
    fn is_in_use(&self, node: &Path, id: &str) -> bool {
        let identity = hakaru_device::identify(node, self.roots);
        let Some(device) = identity.device.known() else { return false };
        let cid = device.card.as_ref().and_then(|card| card.cid.known());
        let ids = device.serial.known().into_iter().chain(cid).chain(&device.aliases);
        ids.into_iter().any(|known| known.eq_ignore_ascii_case(id))
    }

    /// Takes the disk that somebody pointed at.
    pub(super) fn take(&self, card: &Card, node: &Path) -> Look {
        let candidate = match guard::passive(node, self.roots) {
            Ok(candidate) => candidate,
            Err(refusal) => return Look::NotThere(told(&refusal)),
        };
        if let Some(id) = self.wanted(card).filter(|id| !answers(&candidate, id)) {
            let ids = candidate.ids().join(", ");
            return Look::NotThere(format!("{} answers to {ids}, and the card is {id}", node.display()));
        }
        if let Some(label) = self.journal.label_of(&key(card, &candidate)).filter(|label| *label != card.label) {
            return Look::NotThere(format!("{} is the card `{label}`", node.display()));
        }
        self.found(card, node, &candidate)
    }

    /// Disks that could be cards of the campaign.
    pub(super) fn seen(&self, card: &Card) -> Vec<Seen> {
        let look = |node: PathBuf| {
            let candidate = guard::passive(&node, self.roots).ok()?;
            let tells = candidate.tells_itself();
            let label = self.journal.label_of(&key(card, &candidate)).filter(|_| tells).map(str::to_owned);
            Some(Seen { node, name: candidate.identity().display_name(), ids: candidate.ids().to_vec(), label })
        };
        hakaru_device::disks(self.roots).into_iter().filter_map(look).collect()
    }

    /// The identity a card has to have: from the file, or from when it was measured before.
    fn wanted(&self, card: &Card) -> Option<String> {
        let before = || {
            let key = self.journal.key_of(&card.label)?;
            let bare = card.variant.as_ref().and_then(|variant| key.strip_suffix(&format!("#{variant}")));
            // A card that hides its identity was stored under its label.
            Some(bare.unwrap_or(key).to_owned()).filter(|key| *key != card.label)
        };
        card.id.clone().or_else(before)
    }

    fn is_alone(&self, card: &Card) -> bool {
        self.campaign.cards.iter().filter(|other| other.seat == card.seat).count() == 1
    }

    /// Whether a disk was not measured as another card.
    fn stranger(&self, card: &Card, candidate: &Candidate) -> bool {
        self.journal.label_of(&key(card, candidate)).is_none_or(|label| label == card.label)
    }

    fn found(&self, card: &Card, node: &Path, candidate: &Candidate) -> Look {
        Look::Found(Found { key: key(card, candidate), disk: Some(Disk::of(node, candidate)) })
    }
}

fn folder_or_not(card: &Card, folder: &Path) -> Look {
    match folder.is_dir() {
        true => Look::Found(Found { key: keyed(card, &card.label), disk: None }),
        false => Look::NotThere(format!("{} is not a folder", folder.display())),
    }
}

fn answers(candidate: &Candidate, id: &str) -> bool {
    candidate.ids().iter().any(|known| known.eq_ignore_ascii_case(id))
}

/// Under which the runs of a disk are stored: its identity, or the label of the card where the disk hides it.
fn key(card: &Card, candidate: &Candidate) -> String {
    keyed(card, candidate.ids().first().filter(|_| candidate.tells_itself()).unwrap_or(&card.label))
}

fn keyed(card: &Card, id: &str) -> String {
    card.variant.as_ref().map_or_else(|| id.to_owned(), |variant| format!("{id}#{variant}"))
}
