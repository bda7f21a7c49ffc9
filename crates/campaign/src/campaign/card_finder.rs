//! Finding a card: by its identity wherever it turns up, so that a card that comes back is the same card.

use super::journal::CampaignProgress;
use super::operator::CandidateDisk;
use super::spec::{Campaign, Card, CardLocation};
use hakaru_device::guard::{self, Candidate};
use hakaru_device::{Presence, Roots};
use hakaru_model::units::Bytes;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// By then the kernel has noticed that a card was pulled: the MMC core waits a fifth of a second for the contacts to come
/// to rest, and then asks the card some times whether it is there.
const NOTICED: Duration = Duration::from_secs(5);

/// A card that is there.
#[derive(Clone, Debug)]
pub(super) struct FoundCard {
    /// Under which its runs are stored: its identity, or its label where it hides that.
    pub(super) key: String,
    /// The disk, for cards in a reader.
    pub(super) disk: Option<PresentDisk>,
}

/// A disk that is there, and what tells whether it still is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PresentDisk {
    pub(super) node: PathBuf,
    /// Its own identities, without those that come and go.
    ids: Vec<String>,
    sequence: Option<u64>,
    presence: Presence,
}

impl PresentDisk {
    fn of(node: &Path, candidate: &Candidate) -> PresentDisk {
        let sequence = candidate.sequence();
        let presence = Presence {
            size: candidate.size(),
            sequence,
        };
        PresentDisk {
            node: node.to_owned(),
            ids: candidate.own_ids().to_vec(),
            sequence,
            presence,
        }
    }

    /// Its bytes.
    pub(super) fn size(&self, roots: &Roots) -> Option<Bytes> {
        hakaru_device::presence(&self.node, roots).map(|presence| presence.size)
    }

    /// Whether the very same disk is still there: not pulled, not exchanged.
    pub(super) fn is_there(&self, roots: &Roots) -> bool {
        hakaru_device::presence(&self.node, roots) == Some(self.presence)
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
        let same = PresentDisk::of(&self.node, &candidate);
        if (&same.ids, same.sequence) != (&self.ids, self.sequence) {
            return Err(format!(
                "{} is a different disk than before",
                self.node.display()
            ));
        }
        Ok(candidate)
    }
}

fn told(refusal: &guard::Refusal) -> String {
    format!("{refusal} ({})", refusal.cure())
}

/// What a look for a card came to.
pub(super) enum CardSearch {
    Found(FoundCard),
    /// It is not there, and why one thinks so.
    NotThere(String),
}

/// Where cards are looked for.
pub(super) struct CardFinder<'a> {
    pub(super) campaign: &'a Campaign,
    pub(super) journal: &'a CampaignProgress,
    pub(super) roots: &'a Roots,
}

impl CardFinder<'_> {
    /// Looks for a card without asking anybody.
    pub(super) fn look(&self, card: &Card) -> CardSearch {
        let node = match &card.seat {
            CardLocation::Folder(folder) => return folder_or_not(card, folder),
            CardLocation::Sim(_) => {
                return CardSearch::Found(FoundCard {
                    key: keyed(card, &card.label),
                    disk: None,
                });
            }
            CardLocation::Reader { node } => node,
        };
        let wanted = self.wanted(card);
        let nodes = node.as_ref().map_or_else(
            || hakaru_device::disks(self.roots),
            |node| vec![node.clone()],
        );
        let mut why = match &wanted {
            Some(id) => format!("no disk has the ID {id}"),
            None => "device ID not known yet".to_owned(),
        };
        let mut all: Vec<(PathBuf, Candidate)> = Vec::new();
        for path in nodes {
            let candidate = match guard::passive(&path, self.roots) {
                Ok(candidate) => candidate,
                Err(refusal) => {
                    if node.is_some() || wanted.as_ref().is_some_and(|id| self.is_in_use(&path, id))
                    {
                        why = told(&refusal);
                    }
                    continue;
                }
            };
            let is_it = match &wanted {
                Some(id) => answers(&candidate, id),
                // A named reader that only one card of the campaign is for needs no asking.
                None => node.is_some() && self.is_alone(card) && self.stranger(card, &candidate),
            };
            if is_it {
                all.push((path, candidate));
            }
        }
        match &all[..] {
            [] => CardSearch::NotThere(why),
            [(path, candidate)] => self.found(card, path, candidate),
            // Two slots of one reader share its serial number: which one is meant nobody said.
            several => CardSearch::NotThere(ambiguous(&wanted.unwrap_or_default(), several)),
        }
    }

    /// Whether a look finds a card by itself once it is there, without anybody being asked.
    pub(super) fn recognises(&self, card: &Card) -> bool {
        match &card.seat {
            CardLocation::Reader { node } => {
                self.wanted(card).is_some() || node.is_some() && self.is_alone(card)
            }
            CardLocation::Folder(_) | CardLocation::Sim(_) => true,
        }
    }

    /// Whether a disk that was refused is the card all the same, such as one that a desktop has mounted at once.
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

    /// Takes the disk that somebody pointed at. Where the campaign names the device, it is that one or none.
    pub(super) fn take(&self, card: &Card, node: &Path) -> CardSearch {
        if let CardLocation::Reader { node: Some(named) } = &card.seat
            && !self.is_same_device(named, node)
        {
            let (named, node) = (named.display(), node.display());
            return CardSearch::NotThere(format!(
                "the campaign names {named} for {}, but {node} is a different device",
                card.label
            ));
        }
        let candidate = match guard::passive(node, self.roots) {
            Ok(candidate) => candidate,
            Err(refusal) => return CardSearch::NotThere(told(&refusal)),
        };
        if let Some(id) = self.wanted(card).filter(|id| !answers(&candidate, id)) {
            let ids = candidate.ids().join(", ");
            return CardSearch::NotThere(format!(
                "{} has the ID {ids}, but the card is {id}",
                node.display()
            ));
        }
        if let Some(label) = self
            .label_of(&key(card, &candidate))
            .filter(|label| *label != card.label)
        {
            return CardSearch::NotThere(format!("{} is the card `{label}`", node.display()));
        }
        self.found(card, node, &candidate)
    }

    /// Disks that could be cards of the campaign.
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
        let nodes = match &card.seat {
            CardLocation::Reader { node: Some(named) } => vec![named.clone()],
            _ => hakaru_device::disks(self.roots),
        };
        nodes.into_iter().filter_map(look).collect()
    }

    /// Whether two paths lead to one device, which is there.
    fn is_same_device(&self, one: &Path, other: &Path) -> bool {
        one == other || hakaru_device::is_same_device(one, other, self.roots)
    }

    /// The card of this campaign that was measured under a key. What was measured under a label that it has no more is
    /// nobody's: the label was changed in the file.
    fn label_of(&self, key: &str) -> Option<&str> {
        let mut labels = self.campaign.cards.iter().map(|card| card.label.as_str());
        labels.find(|label| self.journal.key_of(label) == Some(key))
    }

    /// The identity a card has to have: from the file, or from when it was measured before.
    fn wanted(&self, card: &Card) -> Option<String> {
        let before = || {
            let key = self.journal.key_of(&card.label)?;
            let bare = card
                .variant
                .as_ref()
                .and_then(|variant| key.strip_suffix(&format!("#{variant}")));
            // A card that hides its identity was stored under its label.
            Some(bare.unwrap_or(key).to_owned()).filter(|key| *key != card.label)
        };
        card.id.clone().or_else(before)
    }

    /// Whether no other card is for its reader.
    fn is_alone(&self, card: &Card) -> bool {
        self.campaign
            .cards
            .iter()
            .filter(|other| other.seat == card.seat)
            .count()
            == 1
    }

    /// Whether a disk was not measured as another card.
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

fn folder_or_not(card: &Card, folder: &Path) -> CardSearch {
    match folder.is_dir() {
        true => CardSearch::Found(FoundCard {
            key: keyed(card, &card.label),
            disk: None,
        }),
        false => CardSearch::NotThere(format!("{} is not a directory", folder.display())),
    }
}

/// Several disks answer to what one card is known by.
fn ambiguous(id: &str, all: &[(PathBuf, Candidate)]) -> String {
    let nodes: Vec<String> = all
        .iter()
        .map(|(node, _)| node.display().to_string())
        .collect();
    let nodes = nodes.join(" and ");
    format!(
        "{nodes} have the same ID {id}; help: name the slot with device =, or use a \
        /dev/disk/by-id name as id ="
    )
}

fn answers(candidate: &Candidate, id: &str) -> bool {
    candidate
        .ids()
        .iter()
        .any(|known| known.eq_ignore_ascii_case(id))
}

/// Under which the runs of a disk are stored: its identity, or the label of the card where the disk hides it.
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
mod tests {
    use super::super::testing::parse;
    use super::*;

    /// A machine of plain files: two slots of one USB reader, which share its serial number.
    fn reader(folder: &Path) -> Roots {
        let write = |path: &str, text: &str| {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let link = |target: &str, path: &str| {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(folder.join(target), path).unwrap();
        };
        write("proc/self/mountinfo", "20 1 0:20 / / rw - tmpfs tmpfs rw\n");
        let usb = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1";
        for (file, text) in [
            ("idVendor", "14cd"),
            ("speed", "480"),
            ("serial", "000000001536"),
            ("product", "reader"),
        ] {
            write(&format!("{usb}/{file}"), text);
        }
        for (slot, name) in ["sdb", "sdc"].into_iter().enumerate() {
            let block = format!("{usb}/2-1:1.0/host6/target6:0:0/6:0:0:{slot}/block/{name}");
            let number = format!("8:{}", 16 * (slot + 1));
            for (file, text) in [
                ("dev", number.as_str()),
                ("size", "62333952"),
                ("diskseq", "9"),
            ] {
                write(&format!("{block}/{file}"), text);
            }
            link(&block, &format!("sys/dev/block/{number}"));
            link(&block, &format!("sys/class/block/{name}"));
            write(&format!("dev/{name}"), "");
            link(
                &format!("dev/{name}"),
                &format!("dev/disk/by-id/usb-Reader_000000001536-0:{slot}"),
            );
        }
        Roots::beneath(folder)
    }

    fn look(roots: &Roots, card: &str) -> Result<PathBuf, String> {
        let campaign = parse(&format!(
            "name = \"x\"\n[[card]]\n{card}\n[[workload]]\nsuite = [\"rand-read\"]\n"
        ))
        .unwrap();
        let journal = CampaignProgress::default();
        let bench = CardFinder {
            campaign: &campaign,
            journal: &journal,
            roots,
        };
        match bench.look(&campaign.cards[0]) {
            CardSearch::Found(found) => Ok(found.disk.unwrap().node),
            CardSearch::NotThere(why) => Err(why),
        }
    }

    /// The device that the file names was not there, and the one that `--erase` named was taken in its place.
    #[test]
    fn a_named_device_binds() {
        let folder = tempfile::tempdir().unwrap();
        let roots = reader(folder.path());
        let (sdb, absent) = (folder.path().join("dev/sdb"), folder.path().join("dev/sdq"));
        for device in [&absent, &folder.path().join("dev/sdc")] {
            let campaign = super::super::testing::campaign(&format!(
                "[[card]]\nlabel = \"x\"\ndevice = \"{}\"",
                device.display()
            ));
            let (journal, card) = (CampaignProgress::default(), &campaign.cards[0]);
            let bench = CardFinder {
                campaign: &campaign,
                journal: &journal,
                roots: &roots,
            };
            let CardSearch::NotThere(why) = bench.take(card, &sdb) else {
                panic!("another device was taken")
            };
            assert!(
                why.contains("names") && why.contains("is a different device"),
                "{why}"
            );
            assert!(
                bench.seen(card).iter().all(|seen| seen.node == *device),
                "{:?}",
                bench.seen(card)
            );
        }
        let link = folder
            .path()
            .join("dev/disk/by-id/usb-Reader_000000001536-0:0");
        let campaign = super::super::testing::campaign(&format!(
            "[[card]]\nlabel = \"x\"\ndevice = \"{}\"",
            link.display()
        ));
        let journal = CampaignProgress::default();
        let bench = CardFinder {
            campaign: &campaign,
            journal: &journal,
            roots: &roots,
        };
        assert!(
            matches!(bench.take(&campaign.cards[0], &sdb), CardSearch::Found(_)),
            "another path to the same device"
        );
    }

    /// The first of them was taken, and erased.
    #[test]
    fn two_slots_with_one_serial_number_are_no_identity() {
        let folder = tempfile::tempdir().unwrap();
        let roots = reader(folder.path());
        let told = look(&roots, "id = \"000000001536\"").unwrap_err();
        let told = told.replace(&folder.path().display().to_string(), "");
        insta::assert_snapshot!(told, @"/dev/sdb and /dev/sdc have the same ID 000000001536; help: name the slot with device =, or use a /dev/disk/by-id name as id =");
        let (sdb, sdc) = (folder.path().join("dev/sdb"), folder.path().join("dev/sdc"));
        let named = format!("id = \"000000001536\"\ndevice = \"{}\"", sdc.display());
        assert_eq!(look(&roots, &named), Ok(sdc));
        assert_eq!(
            look(&roots, "id = \"usb-Reader_000000001536-0:0\""),
            Ok(sdb)
        );
    }

    /// Somebody changed the label of a card in the file: it was refused for being the card of the old one.
    #[test]
    fn a_label_that_is_in_the_file_no_more_is_nobodys() {
        let campaign = super::super::testing::campaign("[[card]]\nlabel = \"new\"");
        let folder = tempfile::tempdir().unwrap();
        let roots = reader(folder.path());
        let mut journal = CampaignProgress::default();
        journal.note_key("old", "0x1234");
        let bench = CardFinder {
            campaign: &campaign,
            journal: &journal,
            roots: &roots,
        };
        assert_eq!(bench.label_of("0x1234"), None);
        journal.note_key("new", "0x1234");
        let bench = CardFinder {
            campaign: &campaign,
            journal: &journal,
            roots: &roots,
        };
        assert_eq!(bench.label_of("0x1234"), Some("new"));
    }

    #[test]
    fn another_card_in_the_same_slot_is_not_the_one_that_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let roots = reader(folder.path());
        let node = folder.path().join("dev/sdb");
        let disk = PresentDisk::of(&node, &guard::passive(&node, &roots).unwrap());
        assert!(disk.is_there(&roots) && disk.candidate(&roots).is_ok());
        // udev gets to making one more name of it.
        std::os::unix::fs::symlink(&node, folder.path().join("dev/disk/by-id/lvm-pv-uuid-x"))
            .unwrap();
        assert!(disk.is_there(&roots) && disk.candidate(&roots).is_ok());
        let real = folder
            .path()
            .join("sys/class/block/sdb")
            .canonicalize()
            .unwrap();
        std::fs::write(real.join("diskseq"), "10").unwrap();
        assert!(!disk.is_there(&roots));
        assert!(
            disk.candidate(&roots)
                .unwrap_err()
                .contains("a different disk than before")
        );
    }
}
