//! The one door to destruction: only here can an [`Erasable`] be had, and every destructive call wants one.
//!
//! [`passive`] looks at a named device and refuses one that is in use, or that the running system needs. It is not
//! enough for erasing: that takes a [`Confirmation`] that this very device is meant, and the device must open
//! exclusively, which the kernel refuses while anything else (a mount in another container, a mapping, a RAID) has it.
//! A program that merely has the device open without claiming it cannot be noticed this way.

mod ids;
mod losses;
mod magic;
mod refusal;
mod tables;
mod usage;

pub use losses::{Loss, LossKind, Partition, TableKind, what_would_be_lost};
pub use refusal::{Refusal, quoted};

use crate::chain::DeviceNode;
use crate::disk;
use crate::identify::recognise;
use crate::mounts;
use crate::roots::{self, Roots};
use hakaru_model::facts::Identity;
use hakaru_model::units::Bytes;
use ids::{ids_below, own_ids, says_nothing, with_aliases};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// How somebody tells that they mean this very device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// Its serial number, CID, world-wide name, or a name of it under `/dev/disk/by-id`: for scripts.
    Serial(String),
    /// Its name, typed after its identity was shown: `mmcblk0` or `/dev/mmcblk0`. Its identity will do as well.
    Typed(String),
}

/// A device that may be asked about: it passed the passive checks a moment ago.
#[derive(Clone, Debug)]
pub struct Candidate {
    path: PathBuf,
    node: DeviceNode,
    sequence: Option<u64>,
    size: Bytes,
    identity: Identity,
    /// What it answers to by itself.
    own: Vec<String>,
    /// The same, and its names under `/dev/disk/by-id`.
    ids: Vec<String>,
    /// What the disk answers to on which a mapping lies: whoever gives one of these means more than the mapping.
    below: Vec<String>,
}

impl Candidate {
    /// What the device is, to be shown before its name is asked for; without what it has counted of its own life.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Serial number, CID, world-wide name, and names under `/dev/disk/by-id`, any of which confirms it.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Those of them that are the device's own and stay with it. Names under `/dev/disk/by-id` come and go: udev makes
    /// them some time after the device is there, and some of them tell of its content.
    pub fn own_ids(&self) -> &[String] {
        &self.own
    }

    /// Number of this appearance of the disk (Linux 5.15 and later).
    pub fn sequence(&self) -> Option<u64> {
        self.sequence
    }

    /// Whether what it answers to is its own. The names of a card in a USB reader are those of the reader, which are the
    /// same for every card that is put into it; a mapping without a UUID has the name that somebody gave it.
    pub fn tells_itself(&self) -> bool {
        if self.mapping().is_some()
            && roots::text(&self.node.folder.join("dm/uuid")).is_none_or(|uuid| uuid.is_empty())
        {
            return false;
        }
        let card = self
            .identity
            .device
            .known()
            .and_then(|device| device.card.as_ref());
        card.is_none_or(|card| card.cid.known().is_some())
    }

    /// Bytes of this very disk, partition or mapping; the identity is that of the disk at the bottom.
    pub fn size(&self) -> Bytes {
        size_of(&self.node)
    }

    /// Its number, when it is a partition.
    pub fn partition(&self) -> Option<u32> {
        self.node.partition()
    }

    /// Its name as a mapping (device-mapper), when it is one.
    pub fn mapping(&self) -> Option<String> {
        roots::text(&self.node.folder.join("dm/name"))
    }

    /// The name that has to be typed.
    pub fn name(&self) -> &str {
        &self.node.kname
    }

    /// Takes the device for erasing, if it is the one that is meant, and still the one that was looked at.
    ///
    /// # Errors
    /// The [`Refusal`] that names the reason.
    pub fn confirm(self, confirmation: &Confirmation, roots: &Roots) -> Result<Erasable, Refusal> {
        self.is_meant(confirmation)?;
        let device = patiently(|| open_exclusively(&self.path))?;
        self.is_same(&device, roots)?;
        let twins = claim_twins(&self.node, roots)?;
        // Nothing can claim the device any more: what was true when it was looked at is asked once again.
        let again = passive(&self.path, roots)?;
        if again.node != self.node || again.own != self.own {
            return Err(self.stale("it has another identity"));
        }
        Ok(Erasable {
            device,
            found: self,
            _twins: twins,
        })
    }

    fn is_meant(&self, confirmation: &Confirmation) -> Result<(), Refusal> {
        match confirmation {
            Confirmation::Serial(given) => {
                let given = given.trim();
                if says_nothing(given) {
                    return Err(Refusal::Anonymous {
                        given: given.to_owned(),
                        ids: self.ids.clone(),
                    });
                }
                let among = |ids: &[String]| ids.iter().any(|id| id.eq_ignore_ascii_case(given));
                let (path, given, ids) = (self.path.clone(), given.to_owned(), self.ids.clone());
                match (among(&self.ids), among(&self.below)) {
                    (true, _) => Ok(()),
                    (false, true) => Err(Refusal::OnlyAbove { path, given, ids }),
                    (false, false) => Err(Refusal::Mismatch { path, given, ids }),
                }
            }
            Confirmation::Typed(typed) => {
                let typed = typed.trim();
                let names =
                    |name: &str| typed == name || Path::new(typed) == Path::new("/dev").join(name);
                let mapped = self
                    .mapping()
                    .is_some_and(|name| typed == name || names(&format!("mapper/{name}")));
                // What allows it in a script allows it here.
                let is_id = !says_nothing(typed)
                    && self.ids.iter().any(|id| id.eq_ignore_ascii_case(typed));
                let same = names(&self.node.kname) || mapped || is_id;
                let mistyped = || Refusal::Mistyped {
                    typed: typed.to_owned(),
                    wanted: self.node.kname.clone(),
                };
                same.then_some(()).ok_or_else(mistyped)
            }
        }
    }

    /// Whether an open device is the one that was looked at: names and even numbers are given to another card when
    /// one is pulled and one is plugged in.
    fn is_same(&self, device: &OwnedFd, roots: &Roots) -> Result<(), Refusal> {
        let stat = rustix::fs::fstat(device).map_err(|error| self.io(error))?;
        let number = roots::DevNum::from_raw(stat.st_rdev as _);
        if number != self.node.number {
            return Err(self.stale(&format!(
                "number {} instead of {}",
                number, self.node.number
            )));
        }
        let told = hakaru_sys::block::disk_sequence(device).ok();
        let told = told.or_else(|| disk::sequence(&self.node.disk()).known().copied());
        match (self.sequence, told) {
            (Some(before), Some(now)) if before != now => {
                Err(self.stale(&format!("disk sequence {now} instead of {before}")))
            }
            _ if DeviceNode::by_number(self.node.number, roots).as_ref() != Some(&self.node) => {
                Err(self.stale("it hangs on another port"))
            }
            _ => Ok(()),
        }
    }

    /// Whether what is held open as this device still is it, and as large. Asked of a new descriptor, because opening has
    /// the kernel look whether the medium was exchanged.
    fn is_unchanged(&self, held: BorrowedFd<'_>, roots: &Roots) -> Result<(), Refusal> {
        let device = open_itself(held, OFlags::RDONLY).map_err(|error| match error {
            Errno::NOMEDIUM | Errno::NXIO | Errno::NODEV => self.stale("it was pulled"),
            error => self.io(error),
        })?;
        self.is_same(&device, roots)?;
        let size = size_of(&self.node);
        if size != self.size {
            return Err(self.stale(&format!("{size} instead of {}", self.size)));
        }
        Ok(())
    }

    fn stale(&self, changed: &str) -> Refusal {
        Refusal::Stale {
            path: self.path.clone(),
            changed: changed.to_owned(),
        }
    }

    fn io(&self, error: Errno) -> Refusal {
        Refusal::Io {
            path: self.path.clone(),
            source: error.into(),
        }
    }
}

/// Leave to destroy what is on a device. It holds the device open exclusively, so that nothing can mount it meanwhile.
///
/// Only [`check`] and [`Candidate::confirm`] make one; dropping it gives the device back.
#[derive(Debug)]
pub struct Erasable {
    device: OwnedFd,
    found: Candidate,
    /// Other loop devices over the same file, held so that nothing can mount them meanwhile.
    _twins: Vec<OwnedFd>,
}

impl Erasable {
    /// The path by which it was named.
    pub fn path(&self) -> &Path {
        &self.found.path
    }

    /// Its own node, such as `/dev/mmcblk0`, whatever link it was named by.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.found.node.kname)
    }

    /// What it is.
    pub fn identity(&self) -> &Identity {
        &self.found.identity
    }

    /// Its serial number or another identity, where it has one: what a script would confirm it by.
    pub fn id(&self) -> Option<&str> {
        self.found.ids.first().map(String::as_str)
    }

    /// Bytes of the disk or partition.
    pub fn size(&self) -> Bytes {
        size_of(&self.found.node)
    }

    /// The open device, for reading and writing.
    pub fn device(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }

    /// Whether it is still the device that was taken: not pulled, not exchanged, and as large.
    ///
    /// # Errors
    /// A [`Refusal`] that tells what changed.
    pub fn check_unchanged(&self, roots: &Roots) -> Result<(), Refusal> {
        self.found.is_unchanged(self.device(), roots)
    }

    /// Opens it once more with other flags, such as O_DIRECT. The claim stays with this token.
    ///
    /// # Errors
    /// What the system says.
    pub fn open_again(&self, flags: OFlags) -> std::io::Result<OwnedFd> {
        Ok(open_itself(self.device(), flags)?)
    }

    /// Gives the claim up while a tool such as mkfs has the device, and takes it back.
    ///
    /// # Errors
    /// A [`Refusal`] when the device cannot be taken back; the leave is void then, and what the tool returned is lost.
    pub fn while_released<T>(
        self,
        work: impl FnOnce(&Path) -> T,
        roots: &Roots,
    ) -> Result<(Erasable, T), Refusal> {
        let released = self.release()?;
        let done = work(&released.node());
        Ok((released.retake(roots)?, done))
    }

    /// Gives the claim up for longer, such as while the device is mounted.
    ///
    /// # Errors
    /// What the system says.
    pub fn release(self) -> Result<Released, Refusal> {
        let keep = self
            .open_again(OFlags::RDONLY)
            .map_err(|source| self.io(source))?;
        let Erasable {
            device,
            found,
            _twins: twins,
        } = self;
        drop((device, twins));
        patiently(|| open_exclusively(&found.path)).map(drop)?;
        Ok(Released { keep, found })
    }

    /// The same leave for one partition of this disk, such as one that was just made.
    ///
    /// # Errors
    /// A [`Refusal`] when there is no such partition, or when it is in use.
    pub fn into_partition(self, number: u32, roots: &Roots) -> Result<Erasable, Refusal> {
        let path = self.found.path.clone();
        let node = self
            .found
            .node
            .partitions()
            .into_iter()
            .find(|node| node.partition() == Some(number));
        let Some(node) = node else {
            return Err(Refusal::Blind {
                path,
                because: format!("sysfs shows no partition {number} on it"),
            });
        };
        let sequence = self.found.sequence;
        drop(self);
        let part = passive(&Path::new("/dev").join(&node.kname), roots)?;
        if part.sequence != sequence || part.node != node {
            return Err(Refusal::Stale {
                path,
                changed: "its partition belongs to another disk".to_owned(),
            });
        }
        let name = Confirmation::Typed(part.name().to_owned());
        part.confirm(&name, roots)
    }

    fn io(&self, source: std::io::Error) -> Refusal {
        Refusal::Io {
            path: self.found.path.clone(),
            source,
        }
    }
}

/// A device that was taken, and lent to the kernel or to a tool.
///
/// It stays open without a claim, so that its name and number cannot go to another one.
#[derive(Debug)]
pub struct Released {
    keep: OwnedFd,
    found: Candidate,
}

impl Released {
    /// Its node.
    pub fn node(&self) -> PathBuf {
        Path::new("/dev").join(&self.found.node.kname)
    }

    /// Whether it is still the device that was taken: not pulled, not exchanged, and as large.
    ///
    /// # Errors
    /// A [`Refusal`] that tells what changed.
    pub fn check_unchanged(&self, roots: &Roots) -> Result<(), Refusal> {
        self.found.is_unchanged(self.keep.as_fd(), roots)
    }

    /// Takes it back.
    ///
    /// # Errors
    /// A [`Refusal`] when something else has it, or it is not the same device any more.
    pub fn retake(self, roots: &Roots) -> Result<Erasable, Refusal> {
        let device = patiently(|| open_exclusively(&self.found.path)).map_err(|refusal| {
            let is_pulled = hakaru_sys::block::is_empty(&self.keep);
            if is_pulled {
                self.found.stale("it was pulled")
            } else {
                refusal
            }
        })?;
        self.found.is_same(&device, roots)?;
        let twins = claim_twins(&self.found.node, roots)?;
        Ok(Erasable {
            device,
            found: self.found,
            _twins: twins,
        })
    }
}

/// Takes a device for erasing: all checks, one after another.
///
/// # Errors
/// The [`Refusal`] that names the reason; nothing was written then.
pub fn check(path: &Path, confirmation: &Confirmation, roots: &Roots) -> Result<Erasable, Refusal> {
    passive(path, roots)?.confirm(confirmation, roots)
}

/// The checks that need no confirmation: a block device with a medium, not write-protected, that neither the system nor
/// a mount, swap, mapping, RAID or loop device uses. Nothing is opened.
///
/// # Errors
/// The [`Refusal`] that names the reason.
pub fn passive(path: &Path, roots: &Roots) -> Result<Candidate, Refusal> {
    let node = usage::named_node(path, roots)?;
    let mounts = mounts::mounts_everywhere(roots);
    if mounts.is_empty() {
        let because = "the mount table in /proc/self/mountinfo is empty or unreadable".to_owned();
        return Err(Refusal::Blind {
            path: path.to_owned(),
            because,
        });
    }
    usage::not_of_the_system(path, &node, roots, &mounts)?;
    usage::not_in_use(path, &node, roots, &mounts)?;
    if size_of(&node).0 == 0 {
        return Err(Refusal::NoMedium {
            path: path.to_owned(),
        });
    }
    if disk::is_read_only(&node) || disk::is_read_only(&node.disk()) {
        return Err(Refusal::ReadOnly {
            path: path.to_owned(),
        });
    }
    let sequence = disk::sequence(&node.disk()).known().copied();
    let identity = recognise(path, roots);
    let own = own_ids(&node, &identity);
    let ids = with_aliases(&own, &node, roots);
    let below = ids_below(&node, &identity, roots);
    let size = size_of(&node);
    Ok(Candidate {
        path: path.to_owned(),
        node,
        sequence,
        size,
        identity,
        own,
        ids,
        below,
    })
}

/// The checks of [`passive`], and whether anything keeps the device for itself that no table shows: a mount that was
/// detached while in use, an external journal, a mapping of another host system. For writing to a device without erasing
/// it; the claim is given back at once, so that several may write to it.
///
/// # Errors
/// The [`Refusal`] that names the reason.
pub fn writable(path: &Path, roots: &Roots) -> Result<(), Refusal> {
    let candidate = passive(path, roots)?;
    if roots.is_live() {
        patiently(|| claim(path)).map(drop)?;
        claim_twins(&candidate.node, roots)?;
    }
    Ok(())
}

/// Claims a device without writing to it: closing a device that was open for writing has udev read it.
fn claim(path: &Path) -> Result<OwnedFd, Refusal> {
    let path = path.to_owned();
    let flags = OFlags::RDONLY | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| refused(error, path))
}

/// Whether a file may be overwritten: not while a loop device that shows it is mounted or otherwise in use.
///
/// # Errors
/// The [`Refusal`] that names the reason.
pub fn writable_file(path: &Path, roots: &Roots) -> Result<(), Refusal> {
    usage::file_not_in_use(path, roots, &mounts::mounts_everywhere(roots))
}

/// Claims the loop devices that show the same bytes of a file.
fn claim_twins(node: &DeviceNode, roots: &Roots) -> Result<Vec<OwnedFd>, Refusal> {
    let twins = if roots.is_live() {
        usage::twins(node, roots)
    } else {
        Vec::new()
    };
    // The claim of a partition is that of its disk, and the other partitions of that disk are other bytes.
    let whole = |twin: &DeviceNode| twin.partition().is_some() || twin.partitions().is_empty();
    let claim = |twin: &DeviceNode| patiently(|| claim(&roots.dev.join(&twin.kname)));
    twins.iter().filter(|twin| whole(twin)).map(claim).collect()
}

fn size_of(node: &DeviceNode) -> Bytes {
    Bytes(
        roots::number::<u64>(&node.folder.join("size"))
            .unwrap_or(0)
            .saturating_mul(512),
    )
}

/// By way of an open descriptor, so that it is this device whatever has its name by now.
fn open_itself(held: BorrowedFd<'_>, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(
        format!("/proc/self/fd/{}", held.as_raw_fd()),
        flags | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

/// Tries for a second while the device is busy: system services claim a device for moments after it was plugged in or
/// written, and so does a child that another thread is just starting, until it runs its own program.
fn patiently<T>(work: impl Fn() -> Result<T, Refusal>) -> Result<T, Refusal> {
    for _ in 0..20 {
        match work() {
            Err(Refusal::Busy { .. }) => std::thread::sleep(std::time::Duration::from_millis(50)),
            answer => return answer,
        }
    }
    work()
}

fn open_exclusively(path: &Path) -> Result<OwnedFd, Refusal> {
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    let path = path.to_owned();
    // Linux gives O_EXCL without O_CREAT a meaning of its own for block devices: nobody else may have claimed it.
    rustix::fs::open(&path, flags, Mode::empty()).map_err(|error| refused(error, path))
}

/// Why a device was not opened exclusively.
fn refused(error: Errno, path: PathBuf) -> Refusal {
    match error {
        Errno::BUSY => Refusal::Busy { path },
        Errno::ACCESS | Errno::PERM => Refusal::Denied { path },
        Errno::ROFS => Refusal::ReadOnly { path },
        Errno::NOMEDIUM | Errno::NXIO => Refusal::NoMedium { path },
        error => Refusal::Io {
            path,
            source: error.into(),
        },
    }
}

#[cfg(test)]
mod tests;
